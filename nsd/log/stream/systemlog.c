/*
 * systemlog.c --
 *
 *      The system log: a stream of entries, and the sink that is its file.
 *
 *      The sink begins as standard error, gets its file with the configuration,
 *      and a log thread with the start, if asynclogwriter is on.
 */

#include "log/stream/systemlog.h"

#include <pthread.h>

#include "base/fatal.h"
#include "log/init.h"
#include "log/ring/segment.h"
#include "log/sink/sink.h"
#include "log/stream/audit.h"
#include "log/stream/entry.h"
#include "log/stream/filter.h"
#include "log/stream/json.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "log/stream/unit.h"
#include "log/target/openfiles.h"
#include "nsstring.h"
#include "nsthread.h"

#define SYSTEM_SINK    "system"
#define RING_DIRECTORY "/dev/shm"
#define NPIECES        4
/* How long a thread may wait for memory once the server stops. */
#define STOP_WAIT_NANOS INT64_C(1000000000)

/*
 * An entry as a record: this, then thread name, severity name, each with its
 * null byte, and the message.
 */
typedef struct SystemRecord {
    uint64_t thread;
    int32_t  pid;
    uint16_t threadNameBytes;
    uint16_t severityNameBytes;
} SystemRecord;

static bool       formatsJson; /* Its address says so. */
static atomic_int pid;          /* Set by NsLogInit and after a fork. */
static NsLogStyle style = {.sanitize = 2};  /* Constant after NsLogConfigure, */
static char      *file;                     /* like the rest. */
static bool       isAsync;
static int        maxBackup = 10;
static char      *rollFormat;
static Ns_LogSink systemSink;   /* Constant after NsLogInit. */
static atomic_bool isFileOpen;  /* Not on standard error any more. */
static bool       isDetached;   /* Standard error is nobody's. */
static atomic_int stderrFd = STDERR_FILENO; /* As the process got it; or -1. */
static NsRingKey  ringKey;
static char      *spillDirectory;   /* Or NULL. */
static NsRingNeed ringNeed;

static Ns_ReturnCode OpenFile(void);
static const char *TailOf(const char *path);
static void   TakeApart(const NsLogEntry *entryPtr, SystemRecord *headPtr,
                        struct iovec *pieces);
static void   NoteFork(void);
static void   KeepStderr(void);
static void   LastWords(const char *message);
static void   WriteLine(int fd, Ns_LogSeverity severity, const char *message);
static void   Panic(const char *fmt, ...)
    NS_GNUC_PRINTF(1, 2) NS_GNUC_NORETURN;
static size_t FormatEntry(char *buffer, size_t room,
                          const Ns_LogRecord *recordPtr, void *arg);
static void   PutJson(NsLogOut *outPtr, const NsLogEntry *entryPtr);
static int    Rename(const char *path, void *arg);


void
NsLogInit(void)
{
    static bool isDone;
    static const char *const streams[] = {"system"};

    if (isDone) {
        return;
    }
    isDone = true;
    NoteFork();
    pthread_atfork(NULL, NULL, NoteFork);
    NsRingInit();
    NsOpenFilesInit();
    NsSinkInit();
    NsStreamInit();
    NsSeverityInit();
    NsFilterInit();
    NsEntryInit();
    (void) Ns_LogStreamCreate("system", FormatEntry, NULL);
    (void) Ns_LogStreamAddFormat(nsSystemStream, "json", FormatEntry,
                                 &formatsJson);
    NsUnitInit();
    NsAuditInit();
    systemSink = NsSinkCreate(&(NsSinkSpec){
        .name = SYSTEM_SINK, .type = "file", .streams = streams, .nStreams = 1,
        .isDirect = true, .isStandardOutput = true, .settings = nsSinkDefaults
    });
    Tcl_SetPanicProc(Panic);
    NsFatalSetProc(LastWords);
}

void
NsLogConfigure(const NsLogSettings *settingsPtr)
{
    style = (NsLogStyle){
        .usec = settingsPtr->usec,
        .isExpanded = settingsPtr->isExpanded,
        .sanitize = settingsPtr->sanitize
    };
    file = ns_strcopy(settingsPtr->file);
    maxBackup = settingsPtr->maxBackup;
    rollFormat = ns_strcopy(settingsPtr->rollFormat);
    isAsync = settingsPtr->isAsync;
    isDetached = settingsPtr->isDetached;
    ringNeed = (NsRingNeed){
        .bytes = settingsPtr->memoryBytes > 0
            ? settingsPtr->memoryBytes : NS_LOG_MEMORY_DEFAULT,
        .nStreams = (uint32_t) settingsPtr->maxLogs,
        .nSinks = (uint32_t) settingsPtr->maxLogs,
        .nReaders = (uint32_t) settingsPtr->nReaders,
        .nLanes = (uint32_t) settingsPtr->nThreads
    };
    spillDirectory = ns_strcopy(settingsPtr->spillDirectory);
    ringKey = (NsRingKey){
        .directory = ns_strdup(settingsPtr->ringDirectory != NULL
                               ? settingsPtr->ringDirectory : RING_DIRECTORY),
        .home = ns_strdup(settingsPtr->home != NULL ? settingsPtr->home : ""),
        .configFile = ns_strcopy(TailOf(settingsPtr->configFile))
    };
    NsSeverityEnable(Notice, settingsPtr->notice);
    NsSeverityEnable(Debug, settingsPtr->debug);
    NsSeverityEnable(Dev, settingsPtr->dev);

    if (!settingsPtr->stayOnStderr && OpenFile() != NS_OK) {
        Ns_Fatal("log: failed to open server log '%s': '%s'", file,
                 strerror(errno));
    }
    NsSinkFindLeftovers(&ringKey, spillDirectory);
    NsSinkRecoverByName(SYSTEM_SINK, isAsync);
    if (isAsync) {
        const char *reason = NsLogUseMemory();

        if (reason != NULL) {
            Ns_Fatal("log: no memory for logmemory %" PRId64 ": %s",
                     ringNeed.bytes, reason);
        }
    }
}

const char *
NsLogUseMemory(void)
{
    return NsSinkUseRing(&ringKey, spillDirectory, &ringNeed);
}

bool
NsLogIsAsync(void)
{
    return isAsync;
}

void
NsLogStart(void)
{
    NsSinkEndRecovery();
    if (isAsync) {
        NsSinkUseLanes(systemSink);
    }
    NsSinkStart();
}

void
NsLogNoteStop(void)
{
    NsLogNeverWait();
    NsSegmentsEndWaits(NsLogClock() + STOP_WAIT_NANOS);
}

void
NsLogNeverWait(void)
{
    NsLaneSetDrainer(true);
}

void
NsLogStop(void)
{
    NsSinkStop();
}

void
NsLogFinish(void)
{
    NsSinkFinish();
}

const NsLogStyle *
NsSystemLogStyle(void)
{
    return &style;
}

const NsRingKey *
NsSystemLogRingKey(void)
{
    return &ringKey;
}

void
NsSystemLogDescribe(NsLogEntry *entryPtr, Ns_LogSeverity severity,
                    const char *message, size_t length)
{
    *entryPtr = (NsLogEntry){
        .time = NsLogClock(),
        .severity = (int) severity,
        .severityName = Ns_LogSeverityName(severity),
        .pid = atomic_load_explicit(&pid, memory_order_relaxed),
        .thread = Ns_ThreadId(),
        .threadName = Ns_ThreadGetName(),
        .message = message,
        .messageLength = length
    };
}

void
NsSystemLogWrite(const NsLogEntry *entryPtr)
{
    SystemRecord head;
    struct iovec pieces[NPIECES];

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
    *recordPtr = (Ns_LogRecord){
        .stream = NsStreamName(nsSystemStream),
        .severity = entryPtr->severity,
        .time = entryPtr->time,
        .bytes = bytes,
        .length = n
    };
    return bytes;
}

static void
TakeApart(const NsLogEntry *entryPtr, SystemRecord *headPtr,
          struct iovec *pieces)
{
    *headPtr = (SystemRecord){
        .thread = entryPtr->thread,
        .pid = entryPtr->pid,
        .threadNameBytes = (uint16_t) (strlen(entryPtr->threadName) + 1),
        .severityNameBytes = (uint16_t) (strlen(entryPtr->severityName) + 1)
    };
    pieces[0] = (struct iovec){headPtr, sizeof(*headPtr)};
    pieces[1] = (struct iovec){(void *) entryPtr->threadName,
                               headPtr->threadNameBytes};
    pieces[2] = (struct iovec){(void *) entryPtr->severityName,
                               headPtr->severityNameBytes};
    pieces[3] = (struct iovec){(void *) entryPtr->message,
                               entryPtr->messageLength};
}

void
NsSystemLogDrain(void)
{
    NsSinkDrain(systemSink);
    NsSinkAbandon();
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
        .messageLength = recordPtr->length - sizeof(head) - nNames
    };
    return true;
}

int
Ns_LogRoll(void)
{
    if (file == NULL) {
        return NS_OK;
    }
    if (atomic_load(&isFileOpen)) {
        return Ns_LogSinkRoll(systemSink, Rename, NULL);
    }
    if (OpenFile() != NS_OK) {
        Ns_Log(Error, "log: failed to re-open log file '%s': '%s'", file,
               strerror(errno));
        return NS_ERROR;
    }
    return NS_OK;
}

void
NsAsyncWriterQueueDisable(int isShutdown)
{
    NsSinkStop();
}

void
NsAsyncWriterQueueEnable(void)
{
    if (isAsync) {
        NsSinkStart();
    }
}

/*
 * Leave standard error for the file.  NS_ERROR: errno tells why not, and the
 * log goes on where it was.
 */
static Ns_ReturnCode
OpenFile(void)
{
    int reason;

    KeepStderr();
    if (Ns_LogSinkReopen(systemSink, file) == NS_OK) {
        atomic_store(&isFileOpen, true);
        return NS_OK;
    }
    reason = errno;
    (void) Ns_LogSinkReopen(systemSink, "");
    errno = reason;
    return NS_ERROR;
}

/*
 * Before it becomes the log file.
 */
static void
KeepStderr(void)
{
    if (atomic_load(&stderrFd) == STDERR_FILENO) {
        atomic_store(&stderrFd, isDetached ? -1
                     : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC,
                             STDERR_FILENO + 1));
    }
}

void
NsSystemLogToStderr(Ns_LogSeverity severity, const char *message)
{
    struct pollfd poller = {
        .fd = atomic_load(&stderrFd), .events = POLLOUT
    };

    if (poller.fd >= 0 && poll(&poller, 1, 0) == 1
            && (poller.revents & POLLOUT) != 0) {
        WriteLine(poller.fd, severity, message);
    }
}

/*
 * The same file may be given by an absolute and by a relative path.
 */
static const char *
TailOf(const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static void
NoteFork(void)
{
    atomic_store(&pid, getpid());
}

/*
 * Base ends the process, maybe for want of memory: no allocation here.
 */
static void
LastWords(const char *message)
{
    NsEntryTellFatal(message, strlen(message));
    NsLogWriteNow(Fatal, message);
}

/*
 * The file of the system log is standard error, too.
 */
void
NsLogWriteNow(Ns_LogSeverity severity, const char *message)
{
    WriteLine(STDERR_FILENO, severity, message);
}

static void
WriteLine(int fd, Ns_LogSeverity severity, const char *message)
{
    char     line[1500];
    NsLogOut out = {line, sizeof(line), 0};
    NsLogEntry entry;

    NsSystemLogDescribe(&entry, severity, message, strlen(message));
    NsLogLine(&out, &entry, &style);
    if (write(fd, line, MIN(out.length, sizeof(line))) < 0) {
        return;
    }
}

static void
Panic(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    Ns_VALog(Fatal, fmt, &ap);
    va_end(ap);
    NsSystemLogDrain();
    NsFatalAbort();
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
        NsLogLine(&out, &entry, &style);
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

/*
 * A rename that fails has been logged; the file is opened again all the same.
 */
static int
Rename(const char *path, void *arg)
{
    if (access(path, F_OK) == 0) {
        (void) Ns_RollFileByFormat(path, rollFormat, MAX(maxBackup, 1));
    }
    return NS_OK;
}
