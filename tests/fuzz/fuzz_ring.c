/* SPDX-License-Identifier: MPL-2.0
 * fuzz_ring.c --
 *
 *      The log memory of a dead server, damaged: what reads it and what
 *      recovers from it takes as much as is sound, and shows no terminal an
 *      escape.
 *
 *      An input is a byte of flags and a list of edits, EDIT_BYTES each: where,
 *      and the bytes to put there.  They are applied to the memory of a real
 *      run.
 */

#include "fuzz.h"

#include <sys/wait.h>

#include "nsaccessline.h"
#include "log/init.h"
#include "log/print.h"
#include "log/ring/reader.h"
#include "log/ring/ring_int.h"
#include "log/sink/sink.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "log/stream/unit.h"
#include "ns.h"

#define MEMORY_BYTES 65536
#define EDIT_BYTES   12

#define FLAG_SUMS    1 /* Make the checksums right again. */
#define FLAG_SHORTER 2 /* Cut it off where the first edit is. */
#define FLAG_SLOW    4 /* Print with a threshold. */

static char   directory[64], path[512], logFile[128], output[128];
static char  *image, *damaged;
static size_t imageBytes;

static void   Prepare(void);
static void   LogAndDie(void);
static void   Load(void);
static size_t Damage(const uint8_t *data, size_t length);
static size_t Place(uint32_t number);
static void   RestoreFiles(void);
static void   MakeSums(void);
static void   Save(size_t bytes);
static void   CheckPrinting(bool isSlow);
static void   RemoveAll(void);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    uint8_t   flags = length > 0 ? data[0] : 0;
    NsRingKey key = {directory, directory, NULL};
    size_t    bytes;

    if (image == NULL) {
        Prepare();
    }
    bytes = Damage(data, length);
    Save(bytes);
    CheckPrinting((flags & FLAG_SLOW) != 0);
    NsSinkFindLeftovers(&key, NULL);
    NsSinkEndRecovery();
    unlink(path);
    unlink(logFile);
    return 0;
}

static void
Prepare(void)
{
    int status;

    strcpy(directory, "/tmp/fuzz_ring.XXXXXX");
    FuzzAssert(mkdtemp(directory) != NULL);
    snprintf(logFile, sizeof(logFile), "%s/nsd.log", directory);
    snprintf(output, sizeof(output), "%s/output", directory);
    if (fork() == 0) {
        LogAndDie();
    }
    wait(&status);
    atexit(RemoveAll);
    Load();
    FuzzAssert(freopen(output, "w+", stdout) != NULL);

    NsLogInit();
    (void) Ns_LogStreamCreate("access/s/m", Ns_LogAccessLine, NULL);
    for (int i = Notice; i <= Dev; i++) {
        NsSeverityEnable((Ns_LogSeverity) i, false);
    }
}

/*
 * One record of each kind, one that needs several segments, and a write under
 * way.
 */
static void
LogAndDie(void)
{
    char            text[6000], audit[] = "thread\0kind\0key\0value";
    Ns_AccessRecord access = {
        .flags = NS_ACCESS_COMBINED | NS_ACCESS_FMTTIME | NS_ACCESS_REQTIME
            | NS_ACCESS_PARTIALTIMES,
        .status = 200,
        .start = 1,
        .peerLength = 3,
        .userLength = 4,
        .requestLength = 14,
        .refererLength = 2,
        .agentLength = 2,
        .nHeaders = 1};
    uint32_t     n = 3;
    struct iovec pieces[] = {{&access, sizeof(access)},
                             {"::1u serGET / HTTP/1.1rrab", 25},
                             {&n, sizeof(n)},
                             {"ext", 3}};

    NsLogInit();
    NsLogConfigure(&(NsLogSettings){
        .file = logFile,
        .notice = true,
        .sanitize = 2,
        .isAsync = true,
        .memoryBytes = MEMORY_BYTES,
        .ringDirectory = directory,
        .home = directory});
    (void) Ns_LogStreamCreate("access/s/m", Ns_LogAccessLine, NULL);
    (void) NsSinkCreate(&(NsSinkSpec){
        .name = "all",
        .type = "file",
        .file = logFile,
        .nStreams = 4,
        .streams = (const char *[]){"system", "access", "audit", "operation"},
        .settings = nsSinkDefaults});
    Ns_Log(Notice, "one");
    Ns_Log(Warning, "two\nlines");
    (void) Ns_LogStreamPut(NsStreamFind("access/s/m"), Notice, pieces, 4);
    (void) Ns_LogStreamPut(NsStreamFind("audit"), Notice,
                           &(struct iovec){audit, sizeof(audit)}, 1);
    NsUnitBegin();
    NsUnitEvent("log", "inside", 6);
    NsUnitEnd(&(Ns_Access){.server = "s",
                           .driver = "d",
                           .peer = "::1",
                           .line = "GET /",
                           .lineLength = 5,
                           .status = 200});
    memset(text, 'x', sizeof(text));
    (void) Ns_LogStreamPut(NsStreamFind("audit"), Error,
                           &(struct iovec){text, sizeof(text)}, 1);
    _exit(0);
}

static void
Load(void)
{
    NsRingKey key = {directory, directory, NULL};
    char    **paths;
    FILE     *fp;

    FuzzAssert(NsRingList(&key, &paths) == 1);
    strcpy(path, paths[0]);
    ns_free(paths[0]);
    ns_free(paths);
    fp = fopen(path, "r");
    FuzzAssert(fp != NULL && fseek(fp, 0, SEEK_END) == 0);
    imageBytes = (size_t) ftell(fp);
    rewind(fp);
    image = malloc(imageBytes);
    damaged = malloc(imageBytes);
    FuzzAssert(fread(image, 1, imageBytes, fp) == imageBytes);
    fclose(fp);
}

/*
 * How many bytes are left of it.
 */
static size_t
Damage(const uint8_t *data, size_t length)
{
    size_t bytes = imageBytes;

    memcpy(damaged, image, imageBytes);
    for (size_t i = 1; i + EDIT_BYTES <= length; i += EDIT_BYTES) {
        uint32_t number;
        size_t   at, n = 1 + data[i + 3] % 8;

        memcpy(&number, data + i, sizeof(number));
        at = Place(number & 0xffffff);
        if (i == 1 && (data[0] & FLAG_SHORTER) != 0) {
            bytes = at;
        }
        n = MIN(n, imageBytes - at);
        memcpy(damaged + at, data + i + 4, n);
    }
    RestoreFiles();
    if ((data != NULL && length > 0) && (data[0] & FLAG_SUMS) != 0) {
        MakeSums();
    }
    return bytes;
}

/*
 * Most of the memory is empty.  These are the parts with something in them: the
 * counts, the names, the lanes, the sinks, and the beginnings of segments.
 */
static size_t
Place(uint32_t number)
{
    const NsRingHeader *headerPtr = (const void *) image;
    NsRingLayout        layout = NsRingLayoutOf(headerPtr);
    size_t              nSegments = headerPtr->nSegments;
    size_t              segments = layout.segments;
    uint32_t            n = number >> 3;

    switch (number % 8) {
    case 0:
        return n % sizeof(*headerPtr);
    case 1:
        return layout.streams + n % (5 * layout.streamBytes);
    case 2:
        return layout.lanes + n % (8 * sizeof(NsRingLane));
    case 3:
        return layout.sinks + n % (3 * sizeof(NsRingSink));
    case 4:
        return layout.cursors
            + n % (8 * headerPtr->maxReaders * sizeof(NsRingCursor));
    case 5:
        return n % imageBytes;
    default:
        return segments + n % nSegments * headerPtr->segmentBytes
            + (n / nSegments) % 512;
    }
}

/*
 * Recovery writes to and cuts off the files that the memory names: only ours
 * may stand there.
 */
static void
RestoreFiles(void)
{
    const NsRingHeader *headerPtr = (const void *) image;
    NsRingSink *slots = (void *) (damaged + NsRingLayoutOf(headerPtr).sinks);

    for (uint32_t i = 0; i < headerPtr->maxSinks; i++) {
        NsRingSink *slotPtr = &slots[i];

        if (memchr(slotPtr->file, '\0', sizeof(slotPtr->file)) != NULL) {
            strcpy(slotPtr->file, slotPtr->file[0] == '\0' ? "" : logFile);
        }
    }
}

/*
 * So that what is damaged inside of records gets to those who take them apart.
 */
static void
MakeSums(void)
{
    const NsRingHeader *headerPtr = (const void *) image;
    size_t              segmentBytes = headerPtr->segmentBytes;
    size_t segments = imageBytes - headerPtr->nSegments * segmentBytes;

    for (uint32_t i = 0; i < headerPtr->nSegments; i++) {
        char  *base = damaged + segments + i * segmentBytes;
        size_t at = sizeof(NsRingSegment);

        while (at + sizeof(NsRingRecord) <= segmentBytes) {
            NsRingRecord *recordPtr = (void *) (base + at);

            if (recordPtr->length > segmentBytes - at - sizeof(*recordPtr)
                || recordPtr->total == 0) {
                break;
            }
            recordPtr->checksum =
                NsRingChecksum(recordPtr,
                               NsRingSum(0, recordPtr + 1, recordPtr->length));
            at += sizeof(*recordPtr) + NS_RING_ALIGN(recordPtr->length);
        }
    }
}

static void
Save(size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    FuzzAssert(fd >= 0 && write(fd, damaged, bytes) == (ssize_t) bytes);
    close(fd);
}

/*
 * What is printed is printable, however the memory looks.
 */
static void
CheckPrinting(bool isSlow)
{
    char *words[] = {path, "--slow", "0.5"};
    int   c;

    rewind(stdout);
    FuzzAssert(ftruncate(fileno(stdout), 0) == 0);
    (void) NsLogPrintMain(isSlow ? 3 : 1, words);
    rewind(stdout);
    while ((c = getchar()) != EOF) {
        FuzzAssert(c == '\n' || (c >= 0x20 && c != 0x7f));
    }
}

static void
RemoveAll(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", directory);
    if (system(command) != 0) {
        perror(directory);
    }
}
