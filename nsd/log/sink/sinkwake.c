/*
 * sinkwake.c --
 *
 *      Who may work for a sink: its lock, what it waits for while nobody does,
 *      and who wakes it; see sinkthread.c.  Requests that wait for it.
 */

#include "log/sink/sinkwake.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktable.h"
#include "log/sink/worker.h"
#include "log/stream/entry.h"
#include "nsthread.h"

static inline bool CountsRecords(int state);

void
NsSinkLock(Ns_LogSink sink)
{
    NsEntryDefer();
    Ns_MutexLock(&sink->lock);
}

bool
NsSinkTryLock(Ns_LogSink sink)
{
    NsEntryDefer();
    if (Ns_MutexTryLock(&sink->lock) == NS_OK) {
        return true;
    }
    NsEntrySendDeferred();
    return false;
}

void
NsSinkUnlock(Ns_LogSink sink)
{
    int reason = errno;

    Ns_MutexUnlock(&sink->lock);
    NsEntrySendDeferred();
    errno = reason;
}

void
NsSinkAskStop(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->wakeLock);
    atomic_store(&sink->mustStop, true);
    NsSinkWakeLocked(sink);
    Ns_MutexUnlock(&sink->wakeLock);
}

bool
NsSinkAwaitStop(Ns_LogSink sink, Ns_Time *limitPtr)
{
    bool isTimeUp = false, isServed;

    NsSinkAskStop(sink);
    Ns_MutexLock(&sink->wakeLock);
    while (sink->isServed && !isTimeUp) {
        isTimeUp = Ns_CondTimedWait(&sink->opDone, &sink->wakeLock, limitPtr)
            != NS_OK;
    }
    isServed = sink->isServed;
    Ns_MutexUnlock(&sink->wakeLock);
    return !isServed;
}

bool
NsSinkIsServed(Ns_LogSink sink)
{
    bool isServed;

    Ns_MutexLock(&sink->wakeLock);
    isServed = sink->isServed;
    Ns_MutexUnlock(&sink->wakeLock);
    return isServed;
}

void
NsSinkLeaveToCallers(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->wakeLock);
    if (!sink->isServed) {
        NsSinkEnterLocked(sink, NS_SINK_CALLERS);
    }
    Ns_MutexUnlock(&sink->wakeLock);
}

void
NsSinkLeaveToNobody(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->wakeLock);
    NsAssert(!sink->isServed);
    NsSinkLeaveLocked(sink);
    Ns_MutexUnlock(&sink->wakeLock);
}

/*
 * An idle sink must come back for its new stream.
 */
void
NsSinkNoteJoined(Ns_LogSink sink)
{
    NsAssertLocked(&nsSinksLock);
    if (atomic_load(&sink->state) == NS_SINK_CALLERS) {
        NsSinkLeaveToCallers(sink);
    } else {
        NsSinkKick(sink);
    }
}

void
NsSinkKick(Ns_LogSink sink)
{
    atomic_store(&sink->isNudged, true);
    (void) (NsSinkWakeFrom(sink, NS_SINK_IDLE)
            || NsSinkWakeFrom(sink, NS_SINK_BATCHING)
            || NsSinkWakeFrom(sink, NS_SINK_RESTING));
}

void
NsSinkNudge(int stream)
{
    const NsStreamSinks *sinksPtr;

    NsSinkEnter();
    sinksPtr = NsStreamGetSinks(stream);
    for (int i = 0; i < sinksPtr->n; i++) {
        atomic_store(&sinksPtr->sinks[i]->isNudged, true);
        (void) NsSinkWakeFrom(sinksPtr->sinks[i], NS_SINK_BATCHING);
    }
    NsSinkLeave();
}

void
NsSinkWakeAll(void)
{
    Ns_LogSink sink;

    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        /* An idle one has read all, and holds only what its buffer has. */
        if (atomic_load(&sink->nKept) > 0) {
            NsSinkKick(sink);
        } else {
            (void) (NsSinkWakeFrom(sink, NS_SINK_BATCHING)
                    || NsSinkWakeFrom(sink, NS_SINK_RESTING));
        }
    }
    NsSinkLeave();
}

void
NsSinkEnterLocked(Ns_LogSink sink, NsSinkState state)
{
    NsAssertLocked(&sink->wakeLock);

    if (CountsRecords((int) state)) {
        NsSinkStream *streamPtr = atomic_load(&sink->firstStream);

        for (; streamPtr != NULL;
             streamPtr = atomic_load(&streamPtr->nextPtr)) {
            if (!streamPtr->isIdle) {
                streamPtr->isIdle = true;
                NsStreamCountIdle(streamPtr->index, 1);
            }
        }
    }
    atomic_store(&sink->state, (int) state);
}

void
NsSinkLeaveLocked(Ns_LogSink sink)
{
    NsAssertLocked(&sink->wakeLock);

    if (CountsRecords(atomic_load(&sink->state))) {
        NsSinkStream *streamPtr = atomic_load(&sink->firstStream);

        for (; streamPtr != NULL;
             streamPtr = atomic_load(&streamPtr->nextPtr)) {
            if (streamPtr->isIdle) {
                streamPtr->isIdle = false;
                NsStreamCountIdle(streamPtr->index, -1);
            }
        }
    }
    atomic_store(&sink->state, NS_SINK_RUNNING);
}

/*
 * The streams' next records are what brings the sink on.
 */
static inline bool
CountsRecords(int state)
{
    return state == NS_SINK_IDLE || state == NS_SINK_CALLERS;
}

bool
NsSinkWakeFrom(Ns_LogSink sink, NsSinkState state)
{
    bool isMine;

    if (atomic_load(&sink->state) != (int) state) {
        return false;
    }
    Ns_MutexLock(&sink->wakeLock);
    isMine = atomic_load(&sink->state) == (int) state;
    if (isMine) {
        NsSinkWakeLocked(sink);
        atomic_fetch_add(&sink->nWakeups, 1);
    }
    Ns_MutexUnlock(&sink->wakeLock);
    return isMine;
}

/*
 * Whatever it waits for.  One that does not wait looks before it does.
 */
void
NsSinkWakeLocked(Ns_LogSink sink)
{
    NsAssertLocked(&sink->wakeLock);

    if (sink->isServed && atomic_load(&sink->state) != NS_SINK_RUNNING) {
        NsSinkLeaveLocked(sink);
        NsWorkersWake(&sink->chore);
    }
}

NsSinkOp *
NsSinkTakeOps(Ns_LogSink sink, int64_t until)
{
    NsSinkOp *firstPtr, *lastPtr = NULL;

    Ns_MutexLock(&sink->wakeLock);
    firstPtr = sink->firstOp;
    while (sink->firstOp != NULL
           && (sink->firstOp->time <= until
               || sink->firstOp->time - until > NS_STAMP_SECOND)) {
        lastPtr = sink->firstOp;
        sink->firstOp = lastPtr->nextPtr;
    }
    if (lastPtr == NULL) {
        firstPtr = NULL;
    } else {
        lastPtr->nextPtr = NULL;
    }
    Ns_MutexUnlock(&sink->wakeLock);
    return firstPtr;
}

/*
 * The request is its caller's again.
 */
void
NsSinkOpDone(Ns_LogSink sink, NsSinkOp *opPtr)
{
    Ns_MutexLock(&sink->wakeLock);
    opPtr->isDone = true;
    Ns_CondBroadcast(&sink->opDone);
    Ns_MutexUnlock(&sink->wakeLock);
}
