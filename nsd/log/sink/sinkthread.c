/* SPDX-License-Identifier: MPL-2.0
 * sinkthread.c --
 *
 *      What a worker does for a sink: when the sink sleeps, and what wakes it.
 *
 *          RUNNING --nothing buffered, nothing came--> IDLE
 *              reads the lanes                           any record wakes it
 *          RUNNING --lines buffered, or just written--> BATCHING
 *              until the buffer time is over; a nudge wakes it, or keeps it
 *              awake: many bytes, or an error
 *          RUNNING --many records came, or writing fails--> RESTING
 *              only requests and a shortage of memory wake it
 *          RUNNING --no worker serves it any more, or yet--> CALLERS
 *              each record brings its caller to take a turn; see sinkwork.c
 *
 *      No thread is tied to a sleeping sink: the workers know when it is due.
 *      Only the worker that serves it puts it to sleep.  The thread that
 *      changes the state back to RUNNING wakes it, so it is woken at most once
 *      per sleep.  Before it sleeps in IDLE, the sink is counted in its
 *      streams, and the worker makes every thread of the process pass a barrier
 *      and looks at the lanes once more.  This saves a barrier for each record
 *      that is logged.
 */

#include "log/sink/sinkthread.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/ring/bell.h"
#include "log/sink/deliver.h"
#include "log/sink/recover.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkcheck.h"
#include "log/sink/sinkpass.h"
#include "log/sink/sinkwake.h"
#include "log/sink/sinkwork.h"
#include "log/sink/worker.h"
#include "nslog.h"
#include "nsthread.h"

/*
 * Between the starts of two passes under load.  A wakeup takes a core from the
 * threads that log, so there should be few; a line may be late by 10 ms.
 */
#define REST_NANOS INT64_C(8000000)
/*
 * A pass that reads fewer records than this is followed by one when it is time
 * to write: many sinks with a few records each would keep a thread awake.
 */
#define MANY_RECORDS 64
/* Sinks that wait for their time are due together, at multiples of this. */
#define TOGETHER_NANOS INT64_C(4000000)
/* Threads that were not needed for this long end. */
#define SURPLUS_NANOS (30 * NS_STAMP_SECOND)

/*
 * What the sink does next: run at once, or sleep until a time; 0: until it is
 * woken.
 */
typedef struct Plan {
    NsSinkState state;
    int64_t     until;
} Plan;

static _Thread_local Ns_LogSink mySink;

static bool        IsMine(Ns_LogSink sink);
static NsChoreProc ServeSink;
static bool        Begin(Ns_LogSink sink);
static NsStamp     End(Ns_LogSink sink);
static Plan        WorkOnce(Ns_LogSink sink, bool isTimeUp);
static uint64_t    NRecords(Ns_LogSink sink);
static NsStamp     Sleep(Ns_LogSink sink, Plan plan);
static void        RunHere(Ns_LogSink sink, NsSinkOp *opPtr);

void
NsSinkServeInit(void)
{
    NsWorkersInit(ServeSink, SURPLUS_NANOS);
}

void
NsSinkServe(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->sleep.lock);
    NsAssert(!sink->sleep.isServed);
    NsSinkLeaveLocked(sink);
    atomic_store(&sink->sleep.mustStop, false);
    sink->sleep.chore.name = sink->name;
    sink->sleep.isServed = NsWorkersAdd(&sink->sleep.chore);
    Ns_MutexUnlock(&sink->sleep.lock);
}

static bool
IsMine(Ns_LogSink sink)
{
    return mySink == sink;
}

Ns_ReturnCode
NsSinkRun(Ns_LogSink sink, NsSinkOp *opPtr)
{
    bool isDone;

    NsAssert(!IsMine(sink));

    opPtr->isDone = false;
    opPtr->nextPtr = NULL;
    Ns_MutexLock(&sink->sleep.lock);
    opPtr->time = NsLogClock();
    if (sink->sleep.firstOp == NULL) {
        sink->sleep.firstOp = opPtr;
    } else {
        /*
         * Even if the clock was set back, it must not overtake other requests.
         */
        opPtr->time = MAX(opPtr->time, sink->sleep.lastOp->time);
        sink->sleep.lastOp->nextPtr = opPtr;
    }
    sink->sleep.lastOp = opPtr;
    NsSinkCheckSleepLocked(sink);
    NsSinkWakeLocked(sink);
    while (sink->sleep.isServed && !opPtr->isDone) {
        Ns_CondWait(&sink->sleep.opDone, &sink->sleep.lock);
    }
    isDone = opPtr->isDone;
    Ns_MutexUnlock(&sink->sleep.lock);
    if (!isDone) {
        RunHere(sink, opPtr);
    }
    errno = opPtr->reason;
    return opPtr->status;
}

void
NsSinkWake(int stream, int64_t time)
{
    const NsStreamSinks *sinksPtr;

    NsSinkEnter();
    sinksPtr = NsStreamGetSinks(stream);
    for (int i = 0; i < sinksPtr->n; i++) {
        Ns_LogSink sink = sinksPtr->sinks[i];

        if (atomic_load(&sink->sleep.state) == NS_SINK_CALLERS) {
            NsSinkTakeTurn(sink, time);
        } else {
            (void) NsSinkWakeFrom(sink, NS_SINK_IDLE);
        }
    }
    NsSinkLeave();
}

static NsStamp
ServeSink(NsChore *chorePtr)
{
    Ns_LogSink sink = (Ns_LogSink) ((char *) chorePtr
                                    - offsetof(struct Ns_LogSink_,
                                               sleep.chore));
    Plan       plan;
    NsStamp    next;

    NsAssert(mySink == NULL);
    mySink = sink;
    plan = WorkOnce(sink, Begin(sink));
    next = atomic_load(&sink->sleep.mustStop) ? End(sink) : Sleep(sink, plan);
    mySink = NULL;
    return next;
}

/*
 * True: the sink's time was up; nothing woke it.
 */
static bool
Begin(Ns_LogSink sink)
{
    bool isTimeUp;

    Ns_MutexLock(&sink->sleep.lock);
    NsAssert(sink->sleep.isServed);
    isTimeUp = atomic_load(&sink->sleep.state) == NS_SINK_BATCHING;
    NsSinkLeaveLocked(sink);
    Ns_MutexUnlock(&sink->sleep.lock);
    return isTimeUp;
}

/*
 * Leave the sink to the threads that log; they empty the lanes from now on.
 */
static NsStamp
End(Ns_LogSink sink)
{
    bool isServed;

    do {
        (void) WorkOnce(sink, true);
        Ns_MutexLock(&sink->sleep.lock);
        isServed = sink->sleep.firstOp != NULL;
        if (!isServed) {
            /* Once unlocked, it is no longer ours. */
            sink->sleep.isServed = false;
            NsSinkEnterLocked(sink, NS_SINK_CALLERS);
            Ns_CondBroadcast(&sink->sleep.opDone);
        }
        Ns_MutexUnlock(&sink->sleep.lock);
    } while (isServed);
    return NS_CHORE_GONE;
}

/*
 * Do one pass and plan the next step.
 */
static Plan
WorkOnce(Ns_LogSink sink, bool isTimeUp)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    int64_t               start = NsLogClock(), now;
    uint64_t              before, nNew;
    Plan                  plan;

    NsAssert(IsMine(sink));
    (void) NsRecoverClaims(sink);
    NsSinkLock(sink);
    before = NRecords(sink);
    /*
     * The records that a nudge is about are in the lanes by now, with times
     * that are not in the future.
     */
    (void) atomic_exchange(&sink->sleep.isNudged, false);
    atomic_fetch_add(&sink->counts.nPasses, 1);
    NsSinkPass(sink, 0);
    plan.until =
        NsDeliverDue(sink, isTimeUp ? NS_FLUSH_IN_TIME : NS_FLUSH_AFTER_PASS);
    nNew = NRecords(sink) - before;
    now = NsLogClock();
    if (sink->failing->reason != 0) {
        plan.state = NS_SINK_RESTING;
    } else if (settingsPtr->bufferLines > 0 || settingsPtr->bufferBytes == 0) {
        plan.state = nNew > 0 ? NS_SINK_RUNNING : NS_SINK_IDLE;
    } else if (nNew >= MANY_RECORDS
               || (nNew > 0 && sink->typePtr->isDatabase)) {
        plan.state = NS_SINK_RUNNING;
        if (now - start < REST_NANOS) {
            int64_t until = start + REST_NANOS;

            plan.state = NS_SINK_RESTING;
            plan.until = plan.until == 0 ? until : MIN(plan.until, until);
        }
    } else if (sink->buffer->nBuffered > 0) {
        plan.state = NS_SINK_BATCHING;
    } else if (!sink->typePtr->isDatabase
               && now - sink->buffer->lastFlush < settingsPtr->bufferNanos
               && now >= sink->buffer->lastFlush) {
        plan.state = NS_SINK_BATCHING;
        plan.until = sink->buffer->lastFlush + settingsPtr->bufferNanos;
    } else {
        plan.state = NS_SINK_IDLE;
    }
    NsSinkUnlock(sink);
    return plan;
}

/*
 * Records that the sink has dealt with in any way.
 */
static uint64_t
NRecords(Ns_LogSink sink)
{
    return sink->buffer->nRecords + atomic_load(&sink->counts.nDelivered)
        + atomic_load(&sink->counts.nIgnored)
        + atomic_load(&sink->counts.nFailed)
        + atomic_load(&sink->counts.nDamaged);
}

/*
 * Let the sink sleep until it is woken or its time has come.  Returns when it
 * is due again.
 */
static NsStamp
Sleep(Ns_LogSink sink, Plan plan)
{
    bool    hasWork = false;
    NsStamp next = NS_CHORE_NEVER;

    NsAssert(plan.state != NS_SINK_CALLERS);
    if (plan.state == NS_SINK_RUNNING) {
        return NS_CHORE_NOW;
    }
    if (plan.until != 0) {
        /* Asked once: it may be set between two questions. */
        int64_t span = plan.until - NsLogClock();

        next = NsClockNow() + MAX(span, 0);
        if (plan.state == NS_SINK_BATCHING) {
            next = (next / TOGETHER_NANOS + 1) * TOGETHER_NANOS;
        }
    }
    Ns_MutexLock(&sink->sleep.lock);
    NsSinkEnterLocked(sink, plan.state);
    Ns_MutexUnlock(&sink->sleep.lock);
    if (plan.state == NS_SINK_IDLE) {
        NsBellBarrierInAllThreads();
        NsSinkLock(sink);
        hasWork = NsSinkHasWork(sink);
        NsSinkUnlock(sink);
    } else if (plan.state == NS_SINK_BATCHING) {
        /* The nudge may have come after the pass read its last record. */
        hasWork = atomic_load(&sink->sleep.isNudged);
    }
    Ns_MutexLock(&sink->sleep.lock);
    if (hasWork || sink->sleep.firstOp != NULL
        || atomic_load(&sink->sleep.mustStop)
        || atomic_load(&sink->sleep.state) == NS_SINK_RUNNING) {
        NsSinkLeaveLocked(sink);
        next = NS_CHORE_NOW;
    }
    Ns_MutexUnlock(&sink->sleep.lock);
    return next;
}

/*
 * Another thread may be carrying out the request in its turn just now.
 */
static void
RunHere(Ns_LogSink sink, NsSinkOp *opPtr)
{
    bool isDone;

    NsSinkLock(sink);
    Ns_MutexLock(&sink->sleep.lock);
    isDone = opPtr->isDone;
    Ns_MutexUnlock(&sink->sleep.lock);
    if (!isDone) {
        NsSinkServeHere(sink, opPtr->time);
    }
    NsSinkUnlock(sink);
    NsAssert(opPtr->isDone);
}
