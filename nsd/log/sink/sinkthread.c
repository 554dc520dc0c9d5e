/*
 * sinkthread.c --
 *
 *      What a worker does for a sink: when the sink sleeps, and who wakes it.
 *
 *          RUNNING --nothing buffered, nothing came--> IDLE
 *              reads the lanes                           any record wakes it
 *          RUNNING --lines buffered, or just written--> BATCHING
 *              until the buffer time is over; a nudge wakes it, or keeps it
 *              awake: many bytes, or an error
 *          RUNNING --a pass right after a pass, or writing fails--> RESTING
 *              only requests and a shortage of memory wake it
 *
 *      While it sleeps no thread waits for it alone: the workers know when it is
 *      due.  The worker that serves it alone puts it to sleep; whoever changes the
 *      state back to RUNNING wakes it, so it is woken at most once per sleep.
 *      Before it sleeps in IDLE it is counted in its streams, the worker makes
 *      every thread of the process pass a barrier, and looks at the lanes once
 *      more.  That spares those who log a barrier of their own with each record.
 */

#include "base/clock.h"
#include "log/sink/sink_int.h"

#include "base/assert.h"
#include "log/ring/bell.h"
#include "nslog.h"
#include "nsthread.h"

/*
 * Between the beginnings of two passes under load.  A wakeup takes a core from
 * those who log, so few are better; a line may be late by 10 ms.
 */
#define REST_NANOS    INT64_C(8000000)
/* Threads that have not been needed for so long end. */
#define SURPLUS_NANOS (30 * NS_STAMP_SECOND)

/*
 * How the sink goes on: RUNNING at once, or sleep until a time, 0 for ever.
 */
typedef struct Plan {
    NsSinkState state;
    int64_t     until;
} Plan;

static NsChoreProc ServeSink;
static bool Begin(Ns_LogSink sink);
static NsStamp End(Ns_LogSink sink);
static Plan WorkOnce(Ns_LogSink sink, bool isTimeUp);
static uint64_t NRecords(Ns_LogSink sink);
static NsStamp Sleep(Ns_LogSink sink, Plan plan);
static bool WakeFrom(Ns_LogSink sink, NsSinkState state);
static void WakeLocked(Ns_LogSink sink);
static void EnterLocked(Ns_LogSink sink, NsSinkState state);
static void LeaveLocked(Ns_LogSink sink);
static Ns_ReturnCode RunHere(Ns_LogSink sink, NsSinkOp *opPtr);

static _Thread_local Ns_LogSink mySink;


void
NsSinkServeInit(void)
{
    NsWorkersInit(ServeSink, SURPLUS_NANOS);
}

void
NsSinkServe(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->wakeLock);
    NsAssert(!sink->isServed);
    sink->mustStop = false;
    sink->chore.name = sink->name;
    sink->isServed = NsWorkersAdd(&sink->chore);
    Ns_MutexUnlock(&sink->wakeLock);
}

void
NsSinkAskStop(Ns_LogSink sink)
{
    Ns_MutexLock(&sink->wakeLock);
    sink->mustStop = true;
    WakeLocked(sink);
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
NsSinkKick(Ns_LogSink sink)
{
    atomic_store(&sink->isNudged, true);
    (void) (WakeFrom(sink, NS_SINK_IDLE) || WakeFrom(sink, NS_SINK_BATCHING)
            || WakeFrom(sink, NS_SINK_RESTING));
}

bool
NsSinkIsMine(Ns_LogSink sink)
{
    return mySink == sink;
}

Ns_ReturnCode
NsSinkRun(Ns_LogSink sink, NsSinkOp *opPtr)
{
    NsAssert(!NsSinkIsMine(sink));

    opPtr->isDone = false;
    opPtr->nextPtr = NULL;
    Ns_MutexLock(&sink->wakeLock);
    if (!sink->isServed) {
        Ns_MutexUnlock(&sink->wakeLock);
        return RunHere(sink, opPtr);
    }
    opPtr->time = NsLogClock();
    if (sink->firstOp == NULL) {
        sink->firstOp = opPtr;
    } else {
        sink->lastOp->nextPtr = opPtr;
    }
    sink->lastOp = opPtr;
    WakeLocked(sink);
    while (!opPtr->isDone) {
        Ns_CondWait(&sink->opDone, &sink->wakeLock);
    }
    Ns_MutexUnlock(&sink->wakeLock);
    errno = opPtr->reason;
    return opPtr->status;
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

void
NsSinkWake(int stream)
{
    const NsStreamSinks *sinksPtr;

    NsSinkEnter();
    sinksPtr = NsStreamGetSinks(stream);
    for (int i = sinksPtr->nDirect; i < sinksPtr->n; i++) {
        (void) WakeFrom(sinksPtr->sinks[i], NS_SINK_IDLE);
    }
    NsSinkLeave();
}

void
NsSinkNudge(int stream)
{
    const NsStreamSinks *sinksPtr;

    NsSinkEnter();
    sinksPtr = NsStreamGetSinks(stream);
    for (int i = sinksPtr->nDirect; i < sinksPtr->n; i++) {
        atomic_store(&sinksPtr->sinks[i]->isNudged, true);
        (void) WakeFrom(sinksPtr->sinks[i], NS_SINK_BATCHING);
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
        if (atomic_load(&sink->hasLines)) {
            NsSinkKick(sink);
        } else {
            (void) (WakeFrom(sink, NS_SINK_BATCHING)
                    || WakeFrom(sink, NS_SINK_RESTING));
        }
    }
    NsSinkLeave();
}

static NsStamp
ServeSink(NsChore *chorePtr)
{
    Ns_LogSink sink = (Ns_LogSink) ((char *) chorePtr
                                    - offsetof(struct Ns_LogSink_, chore));
    Plan       plan;
    NsStamp    next;
    bool       mustStop;

    mySink = sink;
    plan = WorkOnce(sink, Begin(sink));
    Ns_MutexLock(&sink->wakeLock);
    mustStop = sink->mustStop;
    Ns_MutexUnlock(&sink->wakeLock);
    next = mustStop ? End(sink) : Sleep(sink, plan);
    mySink = NULL;
    return next;
}

/*
 * True: nobody has woken the sink, its time is up.
 */
static bool
Begin(Ns_LogSink sink)
{
    bool isTimeUp;

    Ns_MutexLock(&sink->wakeLock);
    isTimeUp = atomic_load(&sink->state) == NS_SINK_BATCHING;
    LeaveLocked(sink);
    Ns_MutexUnlock(&sink->wakeLock);
    return isTimeUp;
}

/*
 * Those who log empty the lanes by now; requests may still come to us.
 */
static NsStamp
End(Ns_LogSink sink)
{
    bool isServed;

    do {
        (void) WorkOnce(sink, true);
        Ns_MutexLock(&sink->wakeLock);
        isServed = sink->firstOp != NULL;
        if (!isServed) {
            /* Not ours any more, once it is unlocked. */
            sink->isServed = false;
            Ns_CondBroadcast(&sink->opDone);
        }
        Ns_MutexUnlock(&sink->wakeLock);
    } while (isServed);
    return NS_CHORE_GONE;
}

/*
 * One pass, and what to do after it.
 */
static Plan
WorkOnce(Ns_LogSink sink, bool isTimeUp)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    int64_t  start = NsLogClock();
    uint64_t before;
    Plan     plan;

    (void) NsRecoverClaims(sink);
    NsSinkLock(sink);
    before = NRecords(sink);
    /* What a nudge is about is in the lanes by then, and not in the future. */
    (void) atomic_exchange(&sink->isNudged, false);
    NsDeliverPass(sink);
    plan.until = NsDeliverDue(sink, isTimeUp);
    if (sink->failure != 0) {
        plan.state = NS_SINK_RESTING;
    } else if (settingsPtr->bufferLines > 0 || settingsPtr->bufferBytes == 0) {
        plan.state = NRecords(sink) != before ? NS_SINK_RUNNING : NS_SINK_IDLE;
    } else if (NRecords(sink) != before) {
        plan.state = NS_SINK_RUNNING;
        if (NsLogClock() - start < REST_NANOS) {
            int64_t until = start + REST_NANOS;

            plan.state = NS_SINK_RESTING;
            plan.until = plan.until == 0 ? until : MIN(plan.until, until);
        }
    } else if (sink->nBuffered > 0) {
        plan.state = NS_SINK_BATCHING;
    } else if (!sink->typePtr->isDatabase
               && start - sink->lastFlush < settingsPtr->bufferNanos
               && start > sink->lastFlush) {
        plan.state = NS_SINK_BATCHING;
        plan.until = sink->lastFlush + settingsPtr->bufferNanos;
    } else {
        plan.state = NS_SINK_IDLE;
    }
    atomic_store(&sink->hasLines, sink->nBuffered > 0);
    NsSinkUnlock(sink);
    return plan;
}

/*
 * Records that the sink has dealt with in some way.
 */
static uint64_t
NRecords(Ns_LogSink sink)
{
    return sink->nRecords + atomic_load(&sink->nDelivered)
        + atomic_load(&sink->nIgnored) + atomic_load(&sink->nFailed)
        + atomic_load(&sink->nDamaged);
}

/*
 * Let the sink sleep until it is woken, or until a time.  When it is due again.
 */
static NsStamp
Sleep(Ns_LogSink sink, Plan plan)
{
    bool    hasWork = false;
    NsStamp next = NS_CHORE_NEVER;

    if (plan.state == NS_SINK_RUNNING) {
        return NS_CHORE_NOW;
    }
    if (plan.until != 0) {
        next = NsClockNow() + MAX(plan.until - NsLogClock(), 0);
    }
    Ns_MutexLock(&sink->wakeLock);
    EnterLocked(sink, plan.state);
    Ns_MutexUnlock(&sink->wakeLock);
    if (plan.state == NS_SINK_IDLE) {
        NsBellBarrierInAllThreads();
        NsSinkLock(sink);
        hasWork = NsDeliverHasWork(sink);
        NsSinkUnlock(sink);
    } else if (plan.state == NS_SINK_BATCHING) {
        /* The nudge may have come when all that was to be read was. */
        hasWork = atomic_load(&sink->isNudged);
    }
    Ns_MutexLock(&sink->wakeLock);
    if (hasWork || sink->firstOp != NULL || sink->mustStop
            || atomic_load(&sink->state) == NS_SINK_RUNNING) {
        LeaveLocked(sink);
        next = NS_CHORE_NOW;
    }
    Ns_MutexUnlock(&sink->wakeLock);
    return next;
}

static void
EnterLocked(Ns_LogSink sink, NsSinkState state)
{
    NsAssertLocked(&sink->wakeLock);

    if (state == NS_SINK_IDLE) {
        NsSinkStream *streamPtr = atomic_load(&sink->firstStream);

        for (; streamPtr != NULL; streamPtr = atomic_load(
                 &streamPtr->nextPtr)) {
            streamPtr->isIdle = true;
            NsStreamCountIdle(streamPtr->index, 1);
        }
    }
    atomic_store(&sink->state, (int) state);
}

/*
 * The sleeper is to run: by whoever comes first, the one who wakes it or
 * itself.
 */
static void
LeaveLocked(Ns_LogSink sink)
{
    NsAssertLocked(&sink->wakeLock);

    if (atomic_load(&sink->state) == NS_SINK_IDLE) {
        NsSinkStream *streamPtr = atomic_load(&sink->firstStream);

        for (; streamPtr != NULL; streamPtr = atomic_load(
                 &streamPtr->nextPtr)) {
            if (streamPtr->isIdle) {
                streamPtr->isIdle = false;
                NsStreamCountIdle(streamPtr->index, -1);
            }
        }
    }
    atomic_store(&sink->state, NS_SINK_RUNNING);
}

/*
 * Wake the sink if it is in that state.  Looking is free of the lock, so only
 * those who find it asleep meet there; it does not precede a nudge's mark.
 */
static bool
WakeFrom(Ns_LogSink sink, NsSinkState state)
{
    bool isMine;

    if (atomic_load(&sink->state) != (int) state) {
        return false;
    }
    Ns_MutexLock(&sink->wakeLock);
    isMine = atomic_load(&sink->state) == (int) state;
    if (isMine) {
        WakeLocked(sink);
        atomic_fetch_add(&sink->nWakeups, 1);
    }
    Ns_MutexUnlock(&sink->wakeLock);
    return isMine;
}

/*
 * Whatever it waits for.  One that does not wait looks before it does.
 */
static void
WakeLocked(Ns_LogSink sink)
{
    NsAssertLocked(&sink->wakeLock);

    if (atomic_load(&sink->state) != NS_SINK_RUNNING) {
        LeaveLocked(sink);
        NsWorkersWake(&sink->chore);
    }
}

static Ns_ReturnCode
RunHere(Ns_LogSink sink, NsSinkOp *opPtr)
{
    Ns_ReturnCode status = NS_OK;

    NsSinkLock(sink);
    if (atomic_load(&sink->isRemoved)) {
        /* Since its caller found it. */
        NsSinkUnlock(sink);
        opPtr->status = NS_ERROR;
        opPtr->reason = errno = ENOENT;
        return NS_ERROR;
    }
    NsDeliverPass(sink);
    errno = 0;
    if (opPtr->proc != NULL) {
        status = opPtr->proc(sink, opPtr->arg);
    }
    if (opPtr->goal == NS_OP_SYNC) {
        sink->lookDue = 0;
    }
    if (status == NS_OK && opPtr->goal != NS_OP_PLAIN
            && (!NsDeliverFlush(sink)
                || (opPtr->goal == NS_OP_SYNC && !NsDeliverSync(sink)))) {
        status = NS_ERROR;
    }
    opPtr->status = status;
    opPtr->reason = errno;
    NsSinkUnlock(sink);
    errno = opPtr->reason;
    return status;
}
