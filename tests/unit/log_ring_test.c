/* SPDX-License-Identifier: MPL-2.0
 * log_ring_test.c --
 *
 *      A damaged log memory is refused, or read as far as it is sound.
 *
 *      A child logs and dies.  Then one byte after the other of what it left is
 *      damaged, and the rest must stay readable, printable and recoverable.
 */

#include "unit.h"
#include "log_settings.h"

#include <sys/wait.h>

#include "log/init.h"
#include "log/print.h"
#include "log/ring/reader.h"
#include "log/ring/ring.h"
#include "log/sink/sink.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "ns.h"

#define MEMORY_BYTES 65536
#define NRECORDS     5

static char   directory[64], path[512], logFile[128];
static char  *image;
static size_t imageBytes;

typedef void DamageProc(char *bytes, size_t at);

static void
LogAndDie(void)
{
    static const char *const streams[] = {"system", "audit"};
    char                     audit[] = "thread\0kind\0key\0value";

    NsLogInit();
    ConfigureLog(directory, logFile, true, MEMORY_BYTES);
    (void) NsSinkCreate(&(NsSinkSpec){
        .name = "all",
        .type = "file",
        .file = logFile,
        .nStreams = 2,
        .streams = streams,
        .settings = nsSinkDefaults});
    for (int i = 0; i < NRECORDS; i++) {
        (void) Ns_LogStreamPut(NsStreamFind("audit"), Notice,
                               &(struct iovec){audit, sizeof(audit)}, 1);
    }
    _exit(0);
}

static int
SetUp(void **state)
{
    NsRingKey key = {directory, directory, NULL};
    char    **paths;
    int       status;
    FILE     *fp;

    strcpy(directory, "/tmp/log_ring.XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    snprintf(logFile, sizeof(logFile), "%s/nsd.log", directory);
    if (fork() == 0) {
        LogAndDie();
    }
    wait(&status);
    if (NsRingList(&key, &paths) != 1) {
        return -1;
    }
    strcpy(path, paths[0]);
    ns_free(paths[0]);
    ns_free(paths);
    fp = fopen(path, "r");
    fseek(fp, 0, SEEK_END);
    imageBytes = (size_t) ftell(fp);
    rewind(fp);
    image = malloc(imageBytes);
    if (fread(image, 1, imageBytes, fp) != imageBytes) {
        return -1;
    }
    fclose(fp);

    NsLogInit();
    for (int i = Notice; i <= Dev; i++) {
        NsSeverityEnable((Ns_LogSeverity) i, false);
    }
    return 0;
}

static int
TearDown(void **state)
{
    char command[128];

    free(image);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) == 0 ? 0 : -1;
}

static void
Save(const char *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

/*
 * Change the few bytes from there on, in a file that is otherwise whole.
 */
static void
Patch(const char *bytes, size_t at)
{
    size_t n = MIN(8, imageBytes - at);
    int    fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes + at, n, (off_t) at), n);
    close(fd);
}

/*
 * How many records can be read; -1: the memory is refused.
 */
static int
CountReadable(void)
{
    const char *reason;
    NsRing     *ringPtr = NsRingOpen(path, false, &reason);
    char       *scratch = NULL;
    size_t      scratchBytes = 0;
    int         n = 0;

    if (ringPtr == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < atomic_load(&ringPtr->headerPtr->nLanes); i++) {
        NsPlace place = {.lane = i};

        if (NsPlaceOpen(ringPtr, &place, 0)) {
            (void) NsPlaceHead(ringPtr, &place);
        }
        for (; place.headPtr != NULL; NsPlaceAdvance(ringPtr, &place)) {
            n += NsPlaceBytes(ringPtr, &place, true, &scratch, &scratchBytes)
                != NULL;
        }
    }
    ns_free(scratch);
    NsRingClose(&ringPtr, false);
    return n;
}

static int
CountPrinted(void)
{
    char  line[8192], output[128];
    char *words[] = {path};
    int   n = 0, old = dup(STDOUT_FILENO);
    FILE *fp;

    snprintf(output, sizeof(output), "%s/output", directory);
    fp = fopen(output, "w+");
    fflush(stdout);
    dup2(fileno(fp), STDOUT_FILENO);
    (void) NsLogPrintMain(1, words);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    rewind(fp);
    while (fgets(line, sizeof(line), fp) != NULL) {
        for (char *p = line; *p != '\0' && *p != '\n'; p++) {
            assert_true(UCHAR(*p) >= 0x20 && *p != 0x7f);
        }
        n++;
    }
    fclose(fp);
    return n;
}

static int
CountRecovered(void)
{
    NsRingKey key = {directory, directory, NULL};
    FILE     *fp;
    int       c, n = 0;

    unlink(logFile);
    NsSinkFindLeftovers(&key, NULL);
    NsSinkEndRecovery();
    fp = fopen(logFile, "r");
    while (fp != NULL && (c = getc(fp)) != EOF) {
        n += c == '\n';
    }
    if (fp != NULL) {
        fclose(fp);
    }
    return n;
}

static void
AnIntactMemoryIsReadWhole(void **state)
{
    Save(image, imageBytes);
    assert_int_equal(CountReadable(), NRECORDS);
    assert_int_equal(CountPrinted(), NRECORDS);
    assert_int_equal(CountRecovered(), NRECORDS);
    assert_int_equal(access(path, F_OK), -1);
}

static void
Invert(char *bytes, size_t at)
{
    bytes[at] = (char) ~bytes[at];
}

static void
Fill(char *bytes, size_t at)
{
    memset(bytes + at, 0xff, MIN(8, imageBytes - at));
}

static void
ClearHighBit(char *bytes, size_t at)
{
    bytes[at] ^= (char) 0x80;
}

/*
 * Damage each byte from `start`, as long as they are part of something, and
 * see what is left.
 */
static void
Walk(size_t start, size_t end, size_t step)
{
    static const struct {
        DamageProc *proc;
        size_t      every;
    } ways[] = {{Invert, 1}, {Fill, 4}, {ClearHighBit, 8}};
    char *bytes = malloc(imageBytes);

    memcpy(bytes, image, imageBytes);
    Save(image, imageBytes);
    for (size_t at = start; at < end; at += step) {
        for (int i = 0; i < Ns_NrElements(ways); i++) {
            if ((at + 1) % ways[i].every != 0) {
                continue;
            }
            ways[i].proc(bytes, at);
            Patch(bytes, at);
            assert_in_range(CountReadable() + 1, 0, NRECORDS + 1);
            if (at % 8 == 7) {
                assert_in_range(CountPrinted(), 0, NRECORDS);
                /* The name of the file is the test's own.  There may be a line
                 * about records that are missing. */
                assert_in_range(CountRecovered(), 0, NRECORDS + 1);
                Save(image, imageBytes);
            }
            memcpy(bytes + at, image + at, MIN(8, imageBytes - at));
            Patch(bytes, at);
        }
    }
    unlink(path);
    free(bytes);
}

static void
DamageInTheHeaderDoesNoHarm(void **state)
{
    Walk(0, sizeof(NsRingHeader), 1);
}

/*
 * Where the parts of the image begin that a mapping consists of.
 */
static void
GetParts(size_t *streams, size_t *lanes, size_t *cursors)
{
    const char *reason, *base;
    NsRing     *ringPtr;

    Save(image, imageBytes);
    ringPtr = NsRingOpen(path, true, &reason);
    assert_non_null(ringPtr);
    base = (const char *) ringPtr->headerPtr;
    *streams = (size_t) (ringPtr->streams - base);
    *lanes = (size_t) ((const char *) ringPtr->lanes - base);
    *cursors = (size_t) ((const char *) ringPtr->cursors - base);
    NsRingClose(&ringPtr, false);
}

static void
DamageInStreamsDoesNoHarm(void **state)
{
    const NsRingHeader *headerPtr = (const void *) image;
    size_t              start, lanes, cursors;

    GetParts(&start, &lanes, &cursors);
    Walk(start,
         start
             + 3
                 * (sizeof(NsRingStream)
                    + headerPtr->maxReaders * sizeof(uint16_t)),
         3);
}

static void
DamageInLanesDoesNoHarm(void **state)
{
    const NsRingHeader *headerPtr = (const void *) image;
    size_t              streams, start, cursors;

    GetParts(&streams, &start, &cursors);
    Walk(start, start + 2 * sizeof(NsRingLane), 1);
    Walk(cursors, cursors + 2 * sizeof(NsRingCursor), 1);
    cursors += headerPtr->maxReaders * sizeof(NsRingCursor);
    Walk(cursors, cursors + 2 * sizeof(NsRingCursor), 1);
}

static void
DamageInSinksDoesNoHarm(void **state)
{
    const char *reason;
    NsRing     *ringPtr;
    size_t      start;

    Save(image, imageBytes);
    ringPtr = NsRingOpen(path, true, &reason);
    assert_non_null(ringPtr);
    start = (size_t) ((char *) ringPtr->sinks - (char *) ringPtr->headerPtr);
    for (int i = 0; NsRingSinkAt(ringPtr, i)->name[0] == '\0'; i++) {
        start += sizeof(NsRingSink);
    }
    NsRingClose(&ringPtr, false);
    Walk(start, start + offsetof(NsRingSink, file), 3);
    Walk(start + offsetof(NsRingSink, table), start + sizeof(NsRingSink), 1);
}

static void
DamageInSegmentsDoesNoHarm(void **state)
{
    const NsRingHeader *headerPtr = (const void *) image;
    size_t              segments = imageBytes
        - (size_t) headerPtr->nSegments * headerPtr->segmentBytes;

    for (uint32_t i = 0; i < headerPtr->nSegments; i++) {
        size_t               start = segments + i * headerPtr->segmentBytes;
        const NsRingSegment *segmentPtr = (const void *) (image + start);

        if (segmentPtr->number != 0) {
            Walk(start, start + atomic_load(&segmentPtr->committed), 1);
        }
    }
}

/*
 * One damaged record costs that record, not those behind it.
 */
static void
OtherRecordsSurviveADamagedOne(void **state)
{
    char *bytes = malloc(imageBytes), *p;

    memcpy(bytes, image, imageBytes);
    p = memmem(bytes, imageBytes, "value", 5);
    assert_non_null(p);
    *p = 'V';
    Save(bytes, imageBytes);
    assert_int_equal(CountReadable(), NRECORDS - 1);
    assert_int_equal(CountRecovered(), NRECORDS - 1);
    free(bytes);
}

/*
 * Bits that the checksum does not cover: the length would lead out of the
 * mapping.
 */
static void
ALengthBeyondTheRecordIsNotFollowed(void **state)
{
    char         *bytes = malloc(imageBytes), *p;
    NsRingRecord *recordPtr;

    memcpy(bytes, image, imageBytes);
    p = memmem(bytes, imageBytes, "thread\0kind", 11);
    assert_non_null(p);
    recordPtr = (NsRingRecord *) (void *) p - 1;
    recordPtr->total |= UINT64_C(1) << 47;
    Save(bytes, imageBytes);
    assert_int_equal(CountReadable(), NRECORDS - 1);
    assert_int_equal(CountRecovered(), NRECORDS - 1);
    free(bytes);
}

/*
 * A write that seems to be under way, at a place that nobody noted: the file is
 * not cut off there.
 */
static void
ALogIsNotCutOffAtADamagedPlace(void **state)
{
    char       *bytes = malloc(imageBytes);
    const char *reason;
    NsRing     *ringPtr;
    struct stat st;
    FILE       *fp;

    memcpy(bytes, image, imageBytes);
    Save(bytes, imageBytes);
    fp = fopen(logFile, "w");
    fputs("an old line\n", fp);
    fclose(fp);
    assert_int_equal(stat(logFile, &st), 0);
    ringPtr = NsRingOpen(path, false, &reason);
    assert_non_null(ringPtr);
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (STREQ(slotPtr->name, "all")) {
            slotPtr->inode = (uint64_t) st.st_ino;
            slotPtr->offset = 12;
            slotPtr->length = 100;
            slotPtr->offset = 3;
            atomic_store(&slotPtr->intent, NS_RING_WRITING);
        }
    }
    NsRingClose(&ringPtr, false);
    NsSinkFindLeftovers(&(NsRingKey){directory, directory, NULL}, NULL);
    NsSinkEndRecovery();
    fp = fopen(logFile, "r");
    assert_non_null(fgets(bytes, 100, fp));
    assert_string_equal(bytes, "an old line\n");
    fclose(fp);
    free(bytes);
}

static void
AShortMemoryIsRefused(void **state)
{
    const size_t lengths[] = {
        0,
        1,
        sizeof(NsRingHeader) - 1,
        sizeof(NsRingHeader),
        imageBytes / 2,
        imageBytes - 4096,
        imageBytes - 1};

    for (int i = 0; i < Ns_NrElements(lengths); i++) {
        Save(image, lengths[i]);
        assert_int_equal(CountReadable(), -1);
        assert_int_equal(CountPrinted(), 0);
        assert_int_equal(CountRecovered(), 0);
    }
}

static void
AnotherVersionIsRefused(void **state)
{
    char       *bytes = malloc(imageBytes);
    const char *reason;

    memcpy(bytes, image, imageBytes);
    ((NsRingHeader *) (void *) bytes)->version++;
    Save(bytes, imageBytes);
    assert_null(NsRingOpen(path, false, &reason));
    assert_string_equal(reason, "made by another version");
    assert_null(NsRingOpen(path, true, &reason));
    free(bytes);
}

/*
 * Nobody can plant what a server then writes into its logs.
 */
static void
AnotherUsersMemoryIsRefused(void **state)
{
    const char *reason;

    if (geteuid() != 0) {
        skip();
    }
    Save(image, imageBytes);
    assert_int_equal(chown(path, 65534, (gid_t) -1), 0);
    assert_null(NsRingOpen(path, false, &reason));
    assert_string_equal(reason, "it belongs to another user");
    assert_int_equal(CountRecovered(), 0);
    assert_int_equal(unlink(path), 0);
}

/*
 * Another process, which knows nothing of what this one opens later: for each
 * byte it tells with one whether it could have the mapping.
 */
static void
TryWhenAsked(int fd)
{
    const char *reason;
    NsRing     *ringPtr;
    char        answer;

    while (read(fd, &answer, 1) == 1) {
        ringPtr = NsRingOpen(path, false, &reason);
        answer = ringPtr != NULL ? 'y' : STREQ(reason, "in use") ? 'n' : '?';
        if (ringPtr != NULL) {
            NsRingClose(&ringPtr, false);
        }
        if (write(fd, &answer, 1) != 1) {
            break;
        }
    }
    _exit(0);
}

static int
Ask(int fd)
{
    char answer = 'q';

    assert_int_equal(write(fd, &answer, 1), 1);
    assert_int_equal(read(fd, &answer, 1), 1);
    return answer;
}

static void
WhatAProcessHoldsNobodyElseGets(void **state)
{
    const char *reason;
    NsRing     *ringPtr;
    int         fds[2];

    Save(image, imageBytes);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    if (fork() == 0) {
        close(fds[0]);
        TryWhenAsked(fds[1]);
    }
    close(fds[1]);
    ringPtr = NsRingOpen(path, false, &reason);
    assert_non_null(ringPtr);
    assert_int_equal(Ask(fds[0]), 'n');
    assert_null(NsRingOpen(path, false, &reason));
    assert_string_equal(reason, "in use");
    assert_int_equal(Ask(fds[0]), 'n');
    NsRingClose(&ringPtr, false);
    assert_int_equal(Ask(fds[0]), 'y');
    close(fds[0]);
    wait(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnIntactMemoryIsReadWhole),
        cmocka_unit_test(DamageInTheHeaderDoesNoHarm),
        cmocka_unit_test(DamageInStreamsDoesNoHarm),
        cmocka_unit_test(DamageInLanesDoesNoHarm),
        cmocka_unit_test(DamageInSinksDoesNoHarm),
        cmocka_unit_test(DamageInSegmentsDoesNoHarm),
        cmocka_unit_test(OtherRecordsSurviveADamagedOne),
        cmocka_unit_test(ALengthBeyondTheRecordIsNotFollowed),
        cmocka_unit_test(ALogIsNotCutOffAtADamagedPlace),
        cmocka_unit_test(AShortMemoryIsRefused),
        cmocka_unit_test(AnotherVersionIsRefused),
        cmocka_unit_test(AnotherUsersMemoryIsRefused),
        cmocka_unit_test(WhatAProcessHoldsNobodyElseGets)};

    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
