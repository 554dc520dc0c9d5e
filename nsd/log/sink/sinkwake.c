/* SPDX-License-Identifier: MPL-2.0
 * sinkwake.c --
 *
 *      Which thread may work for a sink: its lock, what it waits for while no
 *      thread works for it, what wakes it (see sinkthread.c), and requests to
 *      it.
 */

#include "log/sink/sinkwake.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkcheck.h"
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
    NsSinkCheckLocked(sink);
}

bool
NsSinkTryLock(Ns_LogSink sink)
{
    NsEntryDefer();
    if (Ns_MutexTryLock(&sink->lock) == NS_OK) {
        NsSinkCheckLocked(sink);
        return true;
    }
    NsEntrySendDeferred();
    return false;
}

void
NsSinkUnlock(Ns_LogSink sink)
{
    int reason = errno;

    NsSinkCheckLocked(sink);
    Ns_MutexUnlock(&sink->lock);
    NsEntrySendDeferred();
    errno = reason;
}

void
NsSinkAskStop(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->sleep.lock);
    atomic_store(&sink->sleep.mustStop, true);
    NsSinkWakeLocked(sink);
    Ns_MutexUnlock(&sink->sleep.lock);
}

bool
NsSinkAwaitStop(Ns_LogSink sink, Ns_Time *limitPtr)
{
    bool isTimeUp = false, isServed;

    NsSinkAskStop(sink);
    Ns_MutexLock(&sink->sleep.lock);
    while (sink->sleep.isServed && !isTimeUp) {
        isTimeUp = Ns_CondTimedWait(&sink->sleep.opDone, &sink->sleep.lock,
                                    limitPtr)
            != NS_OK;
    }
    isServed = sink->sleep.isServed;
    Ns_MutexUnlock(&sink->sleep.lock);
    return !isServed;
}

bool
NsSinkIsServed(Ns_LogSink sink)
{
    bool isServed;

    Ns_MutexLock(&sink->sleep.lock);
    isServed = sink->sleep.isServed;
    Ns_MutexUnlock(&sink->sleep.lock);
    return isServed;
}

void
NsSinkLeaveToCallers(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->sleep.lock);
    if (!sink->sleep.isServed) {
        NsSinkEnterLocked(sink, NS_SINK_CALLERS);
    }
    Ns_MutexUnlock(&sink->sleep.lock);
}

void
NsSinkLeaveToNobody(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->sleep.lock);
    NsAssert(!sink->sleep.isServed);
    NsSinkLeaveLocked(sink);
    Ns_MutexUnlock(&sink->sleep.lock);
}

/*
 * An idle sink must run once to look at its new stream.
 */
void
NsSinkNoteJoined(Ns_LogSink sink)
{
    NsAssertLocked(&nsSinksLock);
    if (atomic_load(&sink->sleep.state) == NS_SINK_CALLERS) {
        NsSinkLeaveToCallers(sink);
    } else {
        NsSinkKick(sink);
    }
}

void
NsSinkKick(Ns_LogSink sink)
{
    atomic_store(&sink->sleep.isNudged, true);
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
        atomic_store(&sinksPtr->sinks[i]->sleep.isNudged, true);
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
        /*
         * An idle sink has read everything and holds only what is in its
         * buffer.
         */
        if (atomic_load(&sink->turns.nKept) > 0) {
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
    NsAssertLocked(&sink->sleep.lock);

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
    atomic_store(&sink->sleep.state, (int) state);
    NsSinkCheckSleepLocked(sink);
}

void
NsSinkLeaveLocked(Ns_LogSink sink)
{
    NsAssertLocked(&sink->sleep.lock);

    if (CountsRecords(atomic_load(&sink->sleep.state))) {
        NsSinkStream *streamPtr = atomic_load(&sink->firstStream);

        for (; streamPtr != NULL;
             streamPtr = atomic_load(&streamPtr->nextPtr)) {
            if (streamPtr->isIdle) {
                streamPtr->isIdle = false;
                NsStreamCountIdle(streamPtr->index, -1);
            }
        }
    }
    atomic_store(&sink->sleep.state, NS_SINK_RUNNING);
    NsSinkCheckSleepLocked(sink);
}

/*
 * The next record of a stream wakes the sink, so idle sinks are counted there.
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

    if (atomic_load(&sink->sleep.state) != (int) state) {
        return false;
    }
    Ns_MutexLock(&sink->sleep.lock);
    isMine = atomic_load(&sink->sleep.state) == (int) state;
    if (isMine) {
        NsSinkWakeLocked(sink);
        atomic_fetch_add(&sink->counts.nWakeups, 1);
    }
    Ns_MutexUnlock(&sink->sleep.lock);
    return isMine;
}

/*
 * Wakes the sink from any state.  A sink that is about to sleep looks first.
 */
void
NsSinkWakeLocked(Ns_LogSink sink)
{
    NsAssertLocked(&sink->sleep.lock);

    if (sink->sleep.isServed
        && atomic_load(&sink->sleep.state) != NS_SINK_RUNNING) {
        NsSinkLeaveLocked(sink);
        NsWorkersWake(&sink->sleep.chore);
    }
}

NsSinkOp *
NsSinkTakeOps(Ns_LogSink sink, int64_t until)
{
    NsSinkOp *firstPtr, *lastPtr = NULL;

    Ns_MutexLock(&sink->sleep.lock);
    firstPtr = sink->sleep.firstOp;
    while (sink->sleep.firstOp != NULL
           && (sink->sleep.firstOp->time <= until
               || sink->sleep.firstOp->time - until > NS_STAMP_SECOND)) {
        lastPtr = sink->sleep.firstOp;
        sink->sleep.firstOp = lastPtr->nextPtr;
    }
    if (lastPtr == NULL) {
        firstPtr = NULL;
    } else {
        lastPtr->nextPtr = NULL;
    }
    NsSinkCheckSleepLocked(sink);
    Ns_MutexUnlock(&sink->sleep.lock);
    return firstPtr;
}

/*
 * The request belongs to its caller again.
 */
void
NsSinkOpDone(Ns_LogSink sink, NsSinkOp *opPtr)
{
    Ns_MutexLock(&sink->sleep.lock);
    NsAssert(!opPtr->isDone);
    opPtr->isDone = true;
    Ns_CondBroadcast(&sink->sleep.opDone);
    Ns_MutexUnlock(&sink->sleep.lock);
}
