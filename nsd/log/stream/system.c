/* SPDX-License-Identifier: MPL-2.0
 * system.c --
 *
 *      The stream of the system log: entries as records, and as lines.
 *
 *      Where there are no lanes (before the configuration, and in a child
 *      process without a program of its own), entries go to standard error.  So
 *      do last words, and what has to be reported about the log itself: all of
 *      these use WriteLine, which bypasses everything that may wait.
 */

#include "log/stream/system.h"

#include "base/assert.h"
#include "base/writeall.h"
#include "log/stream/entry.h"
#include "log/stream/json.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "nsthread.h"

#define NPIECES     4
#define SHORT_BYTES 4096 /* Of a line that needs no memory. */

/*
 * An entry as a record: this head, then the names of thread and severity, each
 * with its null byte, then the message.
 */
typedef struct SystemRecord {
    uint64_t thread;
    int32_t  pid;
    uint16_t threadNameBytes;
    uint16_t severityNameBytes;
} SystemRecord;

static bool       formatsJson;              /* Its address says so. */
static atomic_int stderrFd = STDERR_FILENO; /* As the process got it; or -1. */

static void         TakeApart(const NsLogEntry *entryPtr, SystemRecord *headPtr,
                              struct iovec *pieces);
static struct iovec NamePiece(const char *name);
static void         WriteLine(int fd, const NsLogEntry *entryPtr);
static Ns_LogFormatProc FormatEntry;
static void             PutJson(NsLogOut *outPtr, const NsLogEntry *entryPtr);

void
NsSystemLogInit(void)
{
    (void) Ns_LogStreamCreate("system", FormatEntry, NULL);
    (void) Ns_LogStreamAddFormat(nsSystemStream, "json", FormatEntry,
                                 &formatsJson);
}

void
NsSystemLogWrite(const NsLogEntry *entryPtr)
{
    SystemRecord head;
    struct iovec pieces[NPIECES];

    if (unlikely(!NsStreamHasLanes())) {
        WriteLine(STDERR_FILENO, entryPtr);
        return;
    }
    TakeApart(entryPtr, &head, pieces);
    (void) NsStreamPut(nsSystemStream, entryPtr->severity, entryPtr->time,
                       pieces, NPIECES);
}

char *
NsSystemLogEncode(const NsLogEntry *entryPtr, Ns_LogRecord *recordPtr)
{
    SystemRecord head;
    struct iovec pieces[NPIECES];
    char        *bytes;
    size_t       n = 0;

    TakeApart(entryPtr, &head, pieces);
    bytes = ns_malloc(sizeof(head) + head.threadNameBytes
                      + head.severityNameBytes + entryPtr->messageLength);
    for (int i = 0; i < NPIECES; i++) {
        memcpy(bytes + n, pieces[i].iov_base, pieces[i].iov_len);
        n += pieces[i].iov_len;
    }
    NsAssert(n
             == sizeof(head) + head.threadNameBytes + head.severityNameBytes
                 + entryPtr->messageLength);
    *recordPtr = (Ns_LogRecord){
        .stream = NsStreamName(nsSystemStream),
        .severity = entryPtr->severity,
        .time = entryPtr->time,
        .bytes = bytes,
        .length = n};
    return bytes;
}

static void
TakeApart(const NsLogEntry *entryPtr, SystemRecord *headPtr,
          struct iovec *pieces)
{
    *headPtr = (SystemRecord){.thread = entryPtr->thread, .pid = entryPtr->pid};
    pieces[0] = (struct iovec){headPtr, sizeof(*headPtr)};
    pieces[1] = NamePiece(entryPtr->threadName);
    pieces[2] = NamePiece(entryPtr->severityName);
    headPtr->threadNameBytes = (uint16_t) pieces[1].iov_len;
    headPtr->severityNameBytes = (uint16_t) pieces[2].iov_len;
    pieces[3] = (struct iovec){
        (void *) entryPtr->message, entryPtr->messageLength};
}

/*
 * A name with its null byte; only its end, if its length does not fit into the
 * head.
 */
static struct iovec
NamePiece(const char *name)
{
    size_t n = strlen(name) + 1, cut = n > UINT16_MAX ? n - UINT16_MAX : 0;

    return (struct iovec){(void *) (name + cut), n - cut};
}

bool
NsSystemLogDecode(const Ns_LogRecord *recordPtr, Ns_LogStream stream,
                  NsLogEntry *entryPtr)
{
    SystemRecord head;
    const char  *names = (const char *) recordPtr->bytes + sizeof(head);
    size_t       nNames;

    if (stream != nsSystemStream || recordPtr->length < sizeof(head)) {
        return false;
    }
    memcpy(&head, recordPtr->bytes, sizeof(head));
    nNames = (size_t) head.threadNameBytes + head.severityNameBytes;
    if (recordPtr->length - sizeof(head) < nNames || head.threadNameBytes == 0
        || head.severityNameBytes == 0
        || names[head.threadNameBytes - 1] != '\0'
        || names[nNames - 1] != '\0') {
        return false;
    }
    *entryPtr = (NsLogEntry){
        .time = recordPtr->time,
        .severity = recordPtr->severity,
        .severityName = names + head.threadNameBytes,
        .pid = head.pid,
        .thread = (uintptr_t) head.thread,
        .threadName = names,
        .message = names + nNames,
        .messageLength = recordPtr->length - sizeof(head) - nNames};
    return true;
}

void
NsSystemLogKeepStderr(bool isDetached)
{
    if (atomic_load(&stderrFd) == STDERR_FILENO) {
        atomic_store(&stderrFd,
                     isDetached ? -1
                                : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC,
                                        STDERR_FILENO + 1));
    }
}

void
NsSystemLogToStderr(Ns_LogSeverity severity, const char *message)
{
    struct pollfd poller = {.fd = atomic_load(&stderrFd), .events = POLLOUT};
    NsLogEntry    entry;

    if (poller.fd >= 0 && poll(&poller, 1, 0) == 1
        && (poller.revents & POLLOUT) != 0) {
        NsEntryDescribe(&entry, severity, message, strlen(message));
        WriteLine(poller.fd, &entry);
    }
}

/*
 * The file of the system log is also standard error.
 */
void
NsLogWriteNow(Ns_LogSeverity severity, const char *message)
{
    NsLogEntry entry;

    NsEntryDescribe(&entry, severity, message, strlen(message));
    WriteLine(STDERR_FILENO, &entry);
}

/*
 * Memory is allocated for a long message only; last words are short.
 */
static void
WriteLine(int fd, const NsLogEntry *entryPtr)
{
    char     line[SHORT_BYTES], *longLine = NULL;
    NsLogOut out = {line, sizeof(line), 0};

    NsLogLine(&out, entryPtr, &nsLogStyle);
    if (out.length > sizeof(line)) {
        longLine = ns_malloc(out.length);
        out = (NsLogOut){longLine, out.length, 0};
        NsLogLine(&out, entryPtr, &nsLogStyle);
        NsAssert(out.length <= out.room);
    }
    (void) NsWriteAll(fd, out.buffer, out.length);
    ns_free(longLine);
}

static size_t
FormatEntry(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    NsLogOut   out = {buffer, room, 0};
    NsLogEntry entry;

    if (!NsSystemLogDecode(recordPtr, nsSystemStream, &entry)) {
        return 0;
    }
    if (arg == &formatsJson) {
        PutJson(&out, &entry);
    } else {
        NsLogLine(&out, &entry, &nsLogStyle);
    }
    return out.length;
}

static void
PutJson(NsLogOut *outPtr, const NsLogEntry *entryPtr)
{
    char number[32];
    int  n;

    NsLogPut(outPtr, "{", 1);
    NsJsonName(outPtr, "time", true);
    NsJsonTime(outPtr, entryPtr->time);
    NsJsonName(outPtr, "severity", false);
    NsJsonString(outPtr, entryPtr->severityName,
                 strlen(entryPtr->severityName));
    n = snprintf(number, sizeof(number), ",\"pid\":%d", entryPtr->pid);
    NsLogPut(outPtr, number, (size_t) n);
    NsJsonName(outPtr, "thread", false);
    NsJsonString(outPtr, entryPtr->threadName, strlen(entryPtr->threadName));
    NsJsonName(outPtr, "message", false);
    NsJsonString(outPtr, entryPtr->message, entryPtr->messageLength);
    NsLogPut(outPtr, "}\n", 2);
}
