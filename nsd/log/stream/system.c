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
#include "log/stream/field.h"
#include "log/stream/journal.h"
#include "log/stream/json.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "nsthread.h"

#define NPIECES      7
#define SHORT_BYTES  4096 /* Of a line that needs no memory. */
#define MAX_ID_BYTES 128
/* With ids behind it. */
#define MAX_SEVERITY_BYTES (UINT16_MAX - 3 * MAX_ID_BYTES)

/*
 * An entry as a record: this head, then the name of the thread, with its null
 * byte; then the name of the severity and, if there are any, the ids of
 * request, trace and span, likewise; then the message.  severityNameBytes
 * counts the ids.
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
static struct iovec NamePiece(const char *name, size_t maxBytes);
static struct iovec IdPiece(const char *id);
static const char  *NextId(const char **nextPtr, const char *end);
static void         WriteLine(int fd, const NsLogEntry *entryPtr);
static Ns_LogFormatProc FormatEntry;
static void             PutJson(NsLogOut *outPtr, const NsLogEntry *entryPtr);
static void PutId(NsLogOut *outPtr, const char *name, const char *id);
static bool ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr);

static const NsFieldProcs fieldProcs = {.readProc = ReadFields};

void
NsSystemLogInit(void)
{
    (void) Ns_LogStreamCreate("system", FormatEntry, NULL);
    (void) Ns_LogStreamAddFormat(nsSystemStream, "json", FormatEntry,
                                 &formatsJson);
    NsStreamSetFields(nsSystemStream, &fieldProcs);
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
        if (pieces[i].iov_len > 0) {
            memcpy(bytes + n, pieces[i].iov_base, pieces[i].iov_len);
            n += pieces[i].iov_len;
        }
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
    pieces[1] = NamePiece(entryPtr->threadName, UINT16_MAX);
    pieces[2] = NamePiece(entryPtr->severityName, UINT16_MAX);
    headPtr->threadNameBytes = (uint16_t) pieces[1].iov_len;
    pieces[3] = pieces[4] = pieces[5] = (struct iovec){NULL, 0};
    if (unlikely(entryPtr->requestId != NULL || entryPtr->traceId != NULL)) {
        pieces[2] = NamePiece(entryPtr->severityName, MAX_SEVERITY_BYTES);
        pieces[3] = IdPiece(entryPtr->requestId);
        pieces[4] = IdPiece(entryPtr->traceId);
        pieces[5] = IdPiece(entryPtr->spanId);
    }
    headPtr->severityNameBytes =
        (uint16_t) (pieces[2].iov_len + pieces[3].iov_len + pieces[4].iov_len
                    + pieces[5].iov_len);
    pieces[6] = (struct iovec){
        (void *) entryPtr->message, entryPtr->messageLength};
}

/*
 * A name with its null byte; only its end, if it is longer.
 */
static struct iovec
NamePiece(const char *name, size_t maxBytes)
{
    size_t n = strlen(name) + 1, cut = n > maxBytes ? n - maxBytes : 0;

    return (struct iovec){(void *) (name + cut), n - cut};
}

static struct iovec
IdPiece(const char *id)
{
    return NamePiece(id == NULL ? "" : id, MAX_ID_BYTES);
}

bool
NsSystemLogDecode(const Ns_LogRecord *recordPtr, Ns_LogStream stream,
                  NsLogEntry *entryPtr)
{
    SystemRecord head;
    const char  *names = (const char *) recordPtr->bytes + sizeof(head);
    const char  *next;
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
    next = entryPtr->severityName + strlen(entryPtr->severityName) + 1;
    entryPtr->requestId = NextId(&next, names + nNames);
    entryPtr->traceId = NextId(&next, names + nNames);
    entryPtr->spanId = NextId(&next, names + nNames);
    return true;
}

/*
 * The last byte before the end is a null byte.
 */
static const char *
NextId(const char **nextPtr, const char *end)
{
    const char *id = *nextPtr;

    if (id >= end) {
        return NULL;
    }
    *nextPtr = id + strlen(id) + 1;
    return *id == '\0' ? NULL : id;
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

    nsLogContext = (NsLogContext){nsLogStyle.start, 0, NsJournalIs(fd)};
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
    PutId(outPtr, "request_id", entryPtr->requestId);
    PutId(outPtr, "trace_id", entryPtr->traceId);
    PutId(outPtr, "span_id", entryPtr->spanId);
    NsJsonName(outPtr, "message", false);
    NsJsonString(outPtr, entryPtr->message, entryPtr->messageLength);
    NsLogPut(outPtr, "}\n", 2);
}

static void
PutId(NsLogOut *outPtr, const char *name, const char *id)
{
    if (id != NULL) {
        NsJsonName(outPtr, name, false);
        NsJsonString(outPtr, id, strlen(id));
    }
}

static bool
ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr)
{
    NsLogEntry entry;

    if (!NsSystemLogDecode(recordPtr, nsSystemStream, &entry)) {
        return false;
    }
    fieldsPtr->texts[NS_FIELD_SEVERITY] = (NsFieldText){
        entry.severityName, strlen(entry.severityName)};
    fieldsPtr->texts[NS_FIELD_THREAD] = (NsFieldText){
        entry.threadName, strlen(entry.threadName)};
    fieldsPtr->texts[NS_FIELD_MESSAGE] = (NsFieldText){
        entry.message, entry.messageLength};
    if (entry.requestId != NULL) {
        fieldsPtr->texts[NS_FIELD_REQUEST_ID] = (NsFieldText){
            entry.requestId, strlen(entry.requestId)};
    }
    if (entry.traceId != NULL) {
        fieldsPtr->texts[NS_FIELD_TRACE_ID] = (NsFieldText){
            entry.traceId, strlen(entry.traceId)};
    }
    if (entry.spanId != NULL) {
        fieldsPtr->texts[NS_FIELD_SPAN_ID] = (NsFieldText){
            entry.spanId, strlen(entry.spanId)};
    }
    NsFieldSetNumber(fieldsPtr, NS_FIELD_PID, entry.pid);
    return true;
}
