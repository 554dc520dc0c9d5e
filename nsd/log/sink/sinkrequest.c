/* SPDX-License-Identifier: MPL-2.0
 * sinkrequest.c --
 *
 *      Requests to sinks: flush, roll, reopen, new settings.
 *
 *      The thread that works for the sink carries out a request between two
 *      records, and the caller waits for it.
 */

#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"

#include "log/sink/bound.h"
#include "log/sink/deliver.h"
#include "log/sink/sinkfd.h"
#include "log/sink/sinkroute.h"
#include "log/sink/sinkstate.h"
#include "log/sink/sinkthread.h"
#include "log/sink/sinkwake.h"
#include "log/sink/sinkwork.h"
#include "nslog.h"
#include "nsthread.h"

/*
 * How to roll; rename NULL: by the settings.
 */
typedef struct RollRequest {
    Ns_LogRenameProc *rename;
    void             *arg;
} RollRequest;

static Ns_ReturnCode Run(Ns_LogSink sink, NsSinkOpProc *proc, void *arg,
                         NsSinkOpGoal goal);
static NsSinkOpProc  DoReopen;
static NsSinkOpProc  DoRoll;
static NsSinkOpProc  DoSetLines;
static NsSinkOpProc  DoClose;
static NsSinkOpProc  DoConfigure;

Ns_ReturnCode
NsSinkConfigure(Ns_LogSink sink, const NsSinkSettings *settingsPtr)
{
    Ns_ReturnCode status;
    bool          isChanged;
    int           reason;

    Ns_MutexLock(&sink->sleep.lock);
    isChanged = settingsPtr->maxMemory != sink->settings.maxMemory
        || settingsPtr->maxSpill != sink->settings.maxSpill;
    Ns_MutexUnlock(&sink->sleep.lock);
    if (isChanged) {
        /*
         * Set them now: the sink may be over its bounds because its target is
         * away.
         */
        atomic_store(&sink->limits.maxMemory, settingsPtr->maxMemory);
        atomic_store(&sink->limits.maxSpill, settingsPtr->maxSpill);
        NsBoundCheck();
    }
    status = Run(sink, DoConfigure, (void *) settingsPtr, NS_OP_PLAIN);
    reason = errno;
    NsSinkRouteAgain(sink);
    errno = reason;
    return status;
}

int
Ns_LogSinkFlush(Ns_LogSink sink)
{
    return Run(sink, NULL, NULL, NS_OP_FLUSH);
}

Ns_ReturnCode
NsSinkSync(Ns_LogSink sink)
{
    return Run(sink, NULL, NULL, NS_OP_SYNC);
}

Ns_ReturnCode
NsSinkSyncStream(Ns_LogStream stream, Ns_LogSink *failedPtr)
{
    Ns_LogSink sink;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (NsSinkWants(sink, NsStreamIndex(stream))
            && NsSinkSync(sink) != NS_OK) {
            *failedPtr = sink;
            return NS_ERROR;
        }
    }
    return NS_OK;
}

int
Ns_LogSinkReopen(Ns_LogSink sink, const char *file)
{
    return Run(sink, DoReopen, (void *) file, NS_OP_PLAIN);
}

int
Ns_LogSinkRoll(Ns_LogSink sink, Ns_LogRenameProc *rename, void *arg)
{
    RollRequest request = {rename, arg};

    return Run(sink, DoRoll, &request, NS_OP_PLAIN);
}

Ns_ReturnCode
NsSinkRollNow(Ns_LogSink sink)
{
    return Run(sink, DoRoll, &(RollRequest){NULL, NULL}, NS_OP_PLAIN);
}

int
Ns_LogSinkSetLines(Ns_LogSink sink, int bufferLines)
{
    return Run(sink, DoSetLines, &bufferLines, NS_OP_PLAIN);
}

int
Ns_LogSinkSetBackups(Ns_LogSink sink, const char *rollFormat, int maxBackup)
{
    Ns_ReturnCode status;

    NsAssert(maxBackup > 0);
    do {
        NsSinkSettings settings;

        NsSinkGetSettings(sink, &settings);
        ns_free(settings.rollFormat);
        settings.rollFormat = rollFormat == NULL || *rollFormat == '\0'
            ? NULL
            : ns_strdup(rollFormat);
        settings.maxBackup = maxBackup;
        status = NsSinkConfigure(sink, &settings);
        NsSinkFreeSettings(&settings);
    } while (status != NS_OK && errno == EAGAIN);
    return status;
}

int
Ns_LogSinkClose(Ns_LogSink sink)
{
    return Run(sink, DoClose, NULL, NS_OP_PLAIN);
}

/*
 * A stalled sink does not delay the caller: the reopening is left to a worker,
 * or to the thread that has the sink locked.
 */
void
NsSinkReopenAll(bool isSignal)
{
    Ns_LogSink sink;

    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (sink->typePtr->filePtr == NULL) {
            continue;
        }
        if (isSignal) {
            atomic_store(&sink->target->asked, NS_ASK_SIGNAL);
        } else {
            int nothing = NS_ASK_NOTHING;

            (void) atomic_compare_exchange_strong(&sink->target->asked,
                                                  &nothing, NS_ASK_REOPEN);
        }
        if (NsSinkIsServed(sink)) {
            NsSinkKick(sink);
        } else if (NsSinkTryLock(sink)) {
            NsSinkServeHere(sink, 0);
            NsSinkUnlock(sink);
        }
    }
    NsSinkLeave();
}

void
NsSinkTendAll(void)
{
    Ns_LogSink sink;

    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (sink->typePtr->filePtr != NULL && !NsSinkIsServed(sink)
            && NsSinkTryLock(sink)) {
            sink->typePtr->filePtr->tendProc(sink);
            NsSinkUnlock(sink);
        }
    }
    NsSinkLeave();
}

static Ns_ReturnCode
Run(Ns_LogSink sink, NsSinkOpProc *proc, void *arg, NsSinkOpGoal goal)
{
    NsSinkOp op = {.proc = proc, .arg = arg, .goal = goal};

    return NsSinkRun(sink, &op);
}

/*
 * An empty path, for the system log: back to standard error.
 */
static Ns_ReturnCode
DoReopen(Ns_LogSink sink, void *arg)
{
    const char *file = arg;
    int         reason;

    NsAssertLocked(&sink->lock);
    (void) NsDeliverFlush(sink);
    if (file != NULL) {
        ns_free(sink->target->file);
        sink->target->file = *file == '\0' ? NULL : ns_strdup(file);
        if (sink->reader->slotPtr != NULL) {
            snprintf(sink->reader->slotPtr->file,
                     sizeof(sink->reader->slotPtr->file), "%s", file);
        }
    }
    sink->target->isClosed = false;
    if (NsSinkFdReopen(sink)) {
        /* What the old file has not taken is for the new one. */
        (void) NsDeliverFlush(sink);
        return NS_OK;
    }
    reason = errno;
    if (file != NULL && !sink->isStandardOutput) {
        sink->typePtr->closeProc(sink);
        sink->target->isClosed = true;
    }
    errno = reason;
    return NS_ERROR;
}

static Ns_ReturnCode
DoRoll(Ns_LogSink sink, void *arg)
{
    const RollRequest     *requestPtr = arg;
    const NsSinkFileProcs *filePtr = sink->typePtr->filePtr;

    NsAssertLocked(&sink->lock);
    return filePtr == NULL
        ? NS_OK
        : filePtr->rollProc(sink, requestPtr->rename, requestPtr->arg);
}

static Ns_ReturnCode
DoSetLines(Ns_LogSink sink, void *arg)
{
    NsAssertLocked(&sink->lock);
    Ns_MutexLock(&sink->sleep.lock);
    sink->settings.bufferLines = *(const int *) arg;
    sink->settings.version++;
    Ns_MutexUnlock(&sink->sleep.lock);
    atomic_store(&sink->limits.turnLines, sink->settings.bufferLines);
    return NS_OK;
}

/*
 * While writing fails, the target stays open for what waits.
 */
static Ns_ReturnCode
DoClose(Ns_LogSink sink, void *arg)
{
    NsAssertLocked(&sink->lock);
    if (!NsDeliverFlush(sink)) {
        return NS_ERROR;
    }
    sink->typePtr->closeProc(sink);
    sink->target->isClosed = true;
    return NS_OK;
}

static Ns_ReturnCode
DoConfigure(Ns_LogSink sink, void *arg)
{
    const NsSinkSettings *settingsPtr = arg;

    NsAssertLocked(&sink->lock);
    if (settingsPtr->version != sink->settings.version) {
        errno = EAGAIN;
        return NS_ERROR;
    }
    NsSinkApplySettings(sink, settingsPtr);
    if (sink->typePtr->filePtr != NULL) {
        sink->typePtr->filePtr->startProc(sink);
    }
    return NS_OK;
}
