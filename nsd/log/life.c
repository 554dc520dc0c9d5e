/* SPDX-License-Identifier: MPL-2.0
 * life.c --
 *
 *      The life of the log, and of the sink that writes the system log's file.
 *
 *      The sink gets its file when the log is configured.  If asynclogwriter is
 *      on, log threads serve it from NsLogStart on.
 */

#include "base/clock.h"
#include "log/init.h"

#include "base/fatal.h"
#include "log/ring/segment.h"
#include "log/sink/sink.h"
#include "log/stream/audit.h"
#include "log/stream/entry.h"
#include "log/stream/filter.h"
#include "log/stream/journal.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "log/stream/system.h"
#include "log/stream/unit.h"
#include "log/target/compress.h"
#include "log/target/linefile.h"
#include "log/target/openfiles.h"
#include "log/target/journaldsink.h"
#include "log/target/otlpsink.h"
#include "log/target/target.h"
#include "nsstring.h"
#include "nsthread.h"

#define SYSTEM_SINK "system"
/* How long a thread may wait for memory once the server stops. */
#define STOP_WAIT_NANOS NS_STAMP_SECOND

static char       *file;           /* Constant after NsLogConfigure. */
static int64_t     start;          /* Of the process. */
static Ns_LogSink  systemSink;     /* Constant after NsLogInit. */
static atomic_bool isFileOpen;     /* It no longer writes to standard error. */
static bool        isDetached;     /* Nobody reads standard error. */
static char       *spillDirectory; /* Or NULL. */
static NsRingNeed  ringNeed;

static Ns_ReturnCode OpenFile(void);
static const char   *TailOf(const char *path);
static void          LastWords(const char *message);
static void Panic(const char *fmt, ...) NS_GNUC_PRINTF(1, 2) NS_GNUC_NORETURN;
static int  Rename(const char *path, void *arg);

void
NsLogInit(void)
{
    static bool                    isDone;
    static const char *const       streams[] = {"system"};
    static const NsSinkType *const types[] = {
        &nsFileSinkType,   &nsStdoutSinkType,   &nsStderrSinkType,
        &nsSyslogSinkType, &nsJournaldSinkType, &nsOtlpSinkType,
        &nsFdSinkType};

    if (isDone) {
        return;
    }
    isDone = true;
    start = NsLogClock();
    NsJournalInit();
    NsRingInit();
    NsOpenFilesInit();
    NsSinkInit();
    NsCompressInit();
    NsLineFileInit();
    for (int i = 0; i < Ns_NrElements(types); i++) {
        (void) NsSinkTypeAdd(types[i]);
    }
    NsStreamInit();
    NsSeverityInit();
    NsFilterInit();
    NsEntryInit(&(NsEntryProcs){.noteProc = NsUnitNoteEntry,
                                .writeProc = NsSystemLogWrite,
                                .drainProc = NsLogDrain});
    NsSystemLogInit();
    NsUnitInit();
    NsAuditInit();
    systemSink = NsSinkCreate(&(NsSinkSpec){
        .name = SYSTEM_SINK,
        .type = "file",
        .streams = streams,
        .nStreams = 1,
        .isAwaited = true,
        .isStandardOutput = true,
        .settings = nsSinkDefaults});
    Tcl_SetPanicProc(Panic);
    NsFatalSetProc(LastWords);
}

void
NsLogConfigure(const NsLogSettings *settingsPtr)
{
    const char *reason;

    nsLogStyle = (NsLogStyle){
        .usec = settingsPtr->usec,
        .isExpanded = settingsPtr->isExpanded,
        .hidesTime = !settingsPtr->showsTime,
        .hidesThread = !settingsPtr->showsThread,
        .showsSpan = settingsPtr->showsSpan,
        .isRelative = settingsPtr->isRelative,
        .countsRepeats = settingsPtr->countsRepeats,
        .start = start,
        .sanitize = settingsPtr->sanitize};
    NsEntryHideAddresses(settingsPtr->hidesAddresses);
    file = ns_strcopy(settingsPtr->file);
    (void) Ns_LogSinkSetBackups(systemSink, settingsPtr->rollFormat,
                                MAX(settingsPtr->maxBackup, 1));
    nsSinkIsAsync = settingsPtr->isAsync;
    nsSinkKeepsOutput = settingsPtr->keepsOutput;
    isDetached = settingsPtr->isDetached;
    ringNeed = (NsRingNeed){
        .bytes = settingsPtr->memoryBytes > 0 ? settingsPtr->memoryBytes
                                              : NS_LOG_MEMORY_DEFAULT,
        .nStreams = (uint32_t) settingsPtr->maxLogs,
        .nSinks = (uint32_t) settingsPtr->maxLogs,
        .nReaders = (uint32_t) settingsPtr->nReaders,
        .nLanes = (uint32_t) settingsPtr->nThreads};
    spillDirectory = ns_strcopy(settingsPtr->spillDirectory);
    nsRingKey = (NsRingKey){
        .directory = ns_strdup(settingsPtr->ringDirectory != NULL
                                   ? settingsPtr->ringDirectory
                                   : NS_LOG_DIRECTORY),
        .home = ns_strdup(settingsPtr->home != NULL ? settingsPtr->home : ""),
        .configFile = ns_strcopy(TailOf(settingsPtr->configFile))};
    NsSeverityEnable(Notice, settingsPtr->notice);
    NsSeverityEnable(Debug, settingsPtr->debug);
    NsSeverityEnable(Dev, settingsPtr->dev);

    if (!settingsPtr->stayOnStderr && OpenFile() != NS_OK) {
        Ns_Fatal("log: failed to open server log '%s': '%s'", file,
                 strerror(errno));
    }
    NsSinkFindLeftovers(&nsRingKey, spillDirectory);
    reason = NsSinkUseRing(&nsRingKey, spillDirectory, &ringNeed);
    if (reason != NULL) {
        Ns_Fatal("log: no memory for logmemory %" PRId64 ": %s", ringNeed.bytes,
                 reason);
    }
    NsSinkRecoverByName(SYSTEM_SINK, nsSinkIsAsync);
}

bool
NsLogIsAsync(void)
{
    return nsSinkIsAsync;
}

void
NsLogStart(void)
{
    NsSinkEndRecovery();
    if (nsSinkIsAsync) {
        NsSinkAwaitNoMore(systemSink);
    }
    NsSinkStart();
    NsCompressStart();
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
    NsCompressStop();
    NsSinkFinish();
}

void
NsLogDrain(void)
{
    NsSinkDrain(systemSink);
    NsSinkAbandon();
}

int
Ns_LogRoll(void)
{
    if (file == NULL) {
        return NS_OK;
    }
    if (atomic_load(&isFileOpen)) {
        NsSinkSettings settings;
        int            status;

        NsSinkGetSettings(systemSink, &settings);
        status = Ns_LogSinkRoll(systemSink, Rename, &settings);
        NsSinkFreeSettings(&settings);
        return status;
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
    if (nsSinkIsAsync) {
        NsSinkStart();
    }
}

/*
 * Leave standard error for the file.  NS_ERROR: errno says why not, and the log
 * stays where it was.
 */
static Ns_ReturnCode
OpenFile(void)
{
    int reason;

    NsSystemLogKeepStderr(isDetached);
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
 * Use only the file name: the path may be given as absolute or relative.
 */
static const char *
TailOf(const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/*
 * Base ends the process, maybe for lack of memory: do not allocate here.
 */
static void
LastWords(const char *message)
{
    NsEntryTellFatal(message, strlen(message));
    NsLogWriteNow(Fatal, message);
}

static void
Panic(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    Ns_VALog(Fatal, fmt, &ap);
    va_end(ap);
    NsLogDrain();
    NsFatalAbort();
}

/*
 * A failed rename is already logged; the file is reopened anyway.
 */
static int
Rename(const char *path, void *arg)
{
    const NsSinkSettings *settingsPtr = arg;

    if (access(path, F_OK) == 0) {
        (void) Ns_RollFileByFormat(path, settingsPtr->rollFormat,
                                   settingsPtr->maxBackup);
    }
    return NS_OK;
}
