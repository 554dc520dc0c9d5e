/* SPDX-License-Identifier: MPL-2.0
 * pool.c --
 *
 *      Requests enter a pool, wait in it, and are taken by its threads.
 *
 *      This is the hand-over protocol, but for the slot of a thread, which is
 *      in connthread.c, and the growth of the pool in grow.c.
 *      tests/model proves it: words in brackets are the names of its steps.
 *
 *      A submitter decides with tqueue locked: the pool stops, or is full, or
 *      has an idle thread, which is popped off the stack [assign].  Only if the
 *      request has to wait are both locks taken and the decision made again
 *      [enqueue], because a thread may have become idle in between.
 *
 *      A thread that wants work locks tqueue, and if nothing waits pushes
 *      itself on the stack [idle].  Else it locks both and takes the head of
 *      the wait queue [take].  A request is added to an empty queue, and a
 *      thread to an empty stack, only with tqueue locked.  So there is never a
 *      waiting request and an idle thread at the same time.
 *
 *      Who takes a thread off the stack, be it to assign work [assign], to end
 *      it [stop], or the thread itself because it was idle too long [timeout],
 *      is the only one to do so, and nobody else will give it work.
 */

#include "dispatch/pool.h"
#include "ns.h"
#include "dispatch/connthread.h"
#include "dispatch/connthread_int.h"
#include "dispatch/grow.h"
#include "dispatch/pool_check.h"
#include "dispatch/pool_stats.h"
#include "net/handover.h"

typedef enum {
    FATE_ASSIGN, /* An idle thread gets it. */
    FATE_QUEUE,  /* It waits for a thread. */
    FATE_HOLD,   /* It waits for a place in the pool. */
    FATE_REJECT, /* The pool is full. */
    FATE_REFUSE, /* It has no thread, and can make none now. */
    FATE_STOPPING
} Fate;

/*
 * The rest of a submission: what to log and do when its locks are released.
 */
typedef struct Submission {
    Fate          fate;
    NsConnThread *threadPtr; /* FATE_ASSIGN: the thread. */
    NsGrowth      growth;
    NsStamp       queueStamp; /* FATE_QUEUE. */
    bool          mayGrow;
    bool          isNewOverrun;
    int           nWaiting;
    int           nIdle;
    int           nCurrent;
} Submission;

static Fate DecideLocked(const NsPool *poolPtr);
static void AssignLocked(NsPool *poolPtr, NsWork *workPtr, Submission *subPtr);
static void EnqueueLocked(NsPool *poolPtr, NsWork *workPtr, Submission *subPtr);
static void AcceptLocked(NsPool *poolPtr, NsWork *workPtr);
static void OverrunLocked(NsPool *poolPtr, Submission *subPtr);
static void LogOverrun(const NsPool *poolPtr, const Submission *subPtr);
static void LogSubmission(const Submission *subPtr, const NsWork *workPtr);
static NsWork     *Take(NsConnThread *threadPtr, NsEndReason *reasonPtr);
static NsWork     *TakeHeadLocked(NsPool *poolPtr);
static bool        FillPlacesLocked(NsPool *poolPtr);
static NsEndReason ShouldEndLocked(const NsConnThread *threadPtr);
static NsWork     *WaitForWork(NsConnThread *threadPtr, NsEndReason *reasonPtr);
static bool        LeaveIdle(NsConnThread *threadPtr, bool *isChosenPtr);
static void        PushIdleLocked(NsConnThread *threadPtr);
static void        RemoveIdleLocked(NsConnThread *threadPtr);
static void        Append(NsWorkQueue *queuePtr, NsWork *workPtr);
static NsWork     *RemoveFirst(NsWorkQueue *queuePtr);

static inline bool
NothingWaits(NsPool *poolPtr)
{
    return atomic_load_explicit(&poolPtr->nWaiting, memory_order_relaxed) == 0
        && atomic_load_explicit(&poolPtr->nHeld, memory_order_relaxed) == 0;
}

void
NsPoolInit(void)
{
    static const NsConnThreadProcs procs = {
        .takeProc = Take, .failedProc = NsGrowFailed};

    NsConnThreadInit(&procs);
}

Ns_ReturnCode
NsPoolSubmit(NsPool *poolPtr, NsWork *workPtr)
{
    Submission sub = {.fate = FATE_ASSIGN, .growth.isSubmission = true};

    NsAssert(workPtr->acceptStamp > 0);
    workPtr->poolPtr = poolPtr;
    workPtr->nextPtr = NULL;
    workPtr->fromQueue = false;

    Ns_MutexLock(&poolPtr->tqueue);
    sub.fate = DecideLocked(poolPtr);
    if (sub.fate == FATE_ASSIGN) {
        AssignLocked(poolPtr, workPtr, &sub);
    }
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);

    if (sub.fate != FATE_ASSIGN && sub.fate != FATE_STOPPING) {
        Ns_MutexLock(&poolPtr->wqueue);
        Ns_MutexLock(&poolPtr->tqueue);
        sub.fate = DecideLocked(poolPtr);
        if (sub.fate == FATE_ASSIGN) {
            AssignLocked(poolPtr, workPtr, &sub);
        } else {
            EnqueueLocked(poolPtr, workPtr, &sub);
        }
        NsPoolCheckBothLocked(poolPtr);
        Ns_MutexUnlock(&poolPtr->tqueue);
        Ns_MutexUnlock(&poolPtr->wqueue);
    }

    if (sub.fate == FATE_ASSIGN) {
        NsConnThreadGive(sub.threadPtr, workPtr);
    }

    /* From here on workPtr may be gone. */
    if (Ns_LogSeverityEnabled(Debug)) {
        LogSubmission(&sub, workPtr);
    }
    switch (sub.fate) {
    case FATE_ASSIGN:
        break;
    case FATE_QUEUE:
        NsDriverYield();
        if (sub.mayGrow) {
            NsGrowWatch(poolPtr, sub.queueStamp);
        }
        break;
    case FATE_HOLD:
    case FATE_REJECT:
        if (sub.isNewOverrun) {
            LogOverrun(poolPtr, &sub);
        }
        return sub.fate == FATE_REJECT ? NS_TIMEOUT : NS_OK;
    case FATE_REFUSE:
        return NS_TIMEOUT;
    case FATE_STOPPING:
        return NS_ERROR;
    }
    if (sub.growth.threadPtr != NULL) {
        (void) NsGrowStart(&sub.growth, false);
    }
    return NS_OK;
}

static Fate
DecideLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);

    if (!poolPtr->isOpen) {
        return FATE_STOPPING;
    }
    if (poolPtr->nPlaces >= poolPtr->maxConnections) {
        return poolPtr->rejectOverrun ? FATE_REJECT : FATE_HOLD;
    }
    if (poolPtr->nCurrent == 0 && NsGrowIsBarredLocked(poolPtr)) {
        return FATE_REFUSE;
    }
    return poolPtr->topPtr != NULL ? FATE_ASSIGN : FATE_QUEUE;
}

/*
 * Take the thread that became idle last off the stack [assign].  It learns of
 * its work when the locks are released.
 */
static void
AssignLocked(NsPool *poolPtr, NsWork *workPtr, Submission *subPtr)
{
    NsAssertLocked(&poolPtr->tqueue);

    subPtr->threadPtr = poolPtr->topPtr;
    RemoveIdleLocked(subPtr->threadPtr);
    subPtr->nIdle = poolPtr->nIdle;
    NsGrowDecideLocked(poolPtr, 0, &subPtr->growth);
    AcceptLocked(poolPtr, workPtr);
}

/*
 * Queue, hold, or reject the request [enqueue].
 */
static void
EnqueueLocked(NsPool *poolPtr, NsWork *workPtr, Submission *subPtr)
{
    NsAssertLocked(&poolPtr->wqueue);
    NsAssertLocked(&poolPtr->tqueue);

    if (subPtr->fate == FATE_QUEUE) {
        workPtr->fromQueue = true;
        AcceptLocked(poolPtr, workPtr);
        subPtr->queueStamp = workPtr->queueStamp;
        Append(&poolPtr->waiting, workPtr);
        poolPtr->nWaiting++;
        poolPtr->nQueued++;
        NsGrowDecideLocked(poolPtr, 0, &subPtr->growth);
        subPtr->mayGrow = poolPtr->nCurrent < poolPtr->maxThreads;
    } else if (subPtr->fate == FATE_HOLD) {
        OverrunLocked(poolPtr, subPtr);
        Append(&poolPtr->held, workPtr);
        poolPtr->nHeld++;
        NsWorkCountHeld(workPtr, 1);
    } else if (subPtr->fate == FATE_REJECT) {
        OverrunLocked(poolPtr, subPtr);
        poolPtr->nDropped++;
    } else if (subPtr->fate == FATE_REFUSE) {
        poolPtr->nDropped++;
    }
    subPtr->nWaiting = poolPtr->nWaiting;
}

/*
 * The request occupies a place from now on.
 */
static void
AcceptLocked(NsPool *poolPtr, NsWork *workPtr)
{
    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(poolPtr->nPlaces < poolPtr->maxConnections);

    poolPtr->nPlaces++;
    workPtr->id = poolPtr->serverPtr->poolsPtr->nextId++;
    poolPtr->nRequests++;
    workPtr->queueStamp = NsClockNow();
}

/*
 * Count a request that found the pool full.  An episode lasts until a thread is
 * idle again; the first request of each is logged, but not more often than once
 * per second.
 */
static void
OverrunLocked(NsPool *poolPtr, Submission *subPtr)
{
    NsAssertLocked(&poolPtr->tqueue);

    poolPtr->nOverruns++;
    if (!poolPtr->isOverrun) {
        NsStamp now = NsClockNow();

        poolPtr->isOverrun = true;
        if (poolPtr->overrunLogStamp == 0
            || now - poolPtr->overrunLogStamp >= NS_STAMP_SECOND) {
            poolPtr->overrunLogStamp = now;
            subPtr->isNewOverrun = true;
            subPtr->nIdle = poolPtr->nIdle;
            subPtr->nCurrent = poolPtr->nCurrent;
        }
    }
}

static void
LogOverrun(const NsPool *poolPtr, const Submission *subPtr)
{
    const char *server = poolPtr->serverPtr->name;

    if (subPtr->fate == FATE_REJECT) {
        Ns_Log(Notice,
               "[%s pool %s] All available connections are used,"
               " waiting %d idle %d current %d",
               server, poolPtr->name, subPtr->nWaiting, subPtr->nIdle,
               subPtr->nCurrent);
    } else {
        /* Spelled as log scanners expect it. */
        Ns_Log(Notice,
               "[%s] All avaliable connections are used,"
               " waiting %d idle %d current %d",
               server, subPtr->nWaiting, subPtr->nIdle, subPtr->nCurrent);
    }
}

/*
 * The work is only named by its address.
 */
static void
LogSubmission(const Submission *subPtr, const NsWork *workPtr)
{
    int create = subPtr->growth.threadPtr != NULL;

    if (subPtr->fate == FATE_ASSIGN) {
        Ns_Log(Debug,
               "[%d] dequeue thread connPtr %p idle %d state 1"
               " create %d",
               subPtr->threadPtr->index, (const void *) workPtr, subPtr->nIdle,
               create);
    } else if (subPtr->fate == FATE_QUEUE) {
        Ns_Log(Debug, "[-1] add waiting connPtr %p => waiting %d create %d",
               (const void *) workPtr, subPtr->nWaiting, create);
    }
}

/*
 * The next work of the calling thread: see NsConnThreadProcs.
 */
static NsWork *
Take(NsConnThread *threadPtr, NsEndReason *reasonPtr)
{
    NsPool  *poolPtr = threadPtr->poolPtr;
    NsWork  *workPtr = NULL, *hopelessPtr = NULL;
    NsGrowth growth = {.isSubmission = false};
    bool     isNews = false, isReplacing;
    bool     hasBoth = !NothingWaits(poolPtr);

    NsAssert(!threadPtr->isIdle);
    if (hasBoth) {
        Ns_MutexLock(&poolPtr->wqueue);
    }
    Ns_MutexLock(&poolPtr->tqueue);
    if (!hasBoth && !NothingWaits(poolPtr)) {
        hasBoth = true;
        Ns_MutexUnlock(&poolPtr->tqueue);
        Ns_MutexLock(&poolPtr->wqueue);
        Ns_MutexLock(&poolPtr->tqueue);
    }

    if (threadPtr->isNew) {
        threadPtr->isNew = false;
        poolPtr->nCreating--;
        poolPtr->growStamp = 0;
    }
    if (threadPtr->holdsPlace) {
        NsAssert(poolPtr->nPlaces > 0);
        threadPtr->holdsPlace = false;
        poolPtr->nPlaces--;
    }
    if (hasBoth) {
        isNews = FillPlacesLocked(poolPtr);
    }
    *reasonPtr = ShouldEndLocked(threadPtr);
    if (*reasonPtr != NS_END_NONE) {
        poolPtr->nCurrent--;
        isNews = true;
    } else if (poolPtr->nWaiting > 0) {
        workPtr = TakeHeadLocked(poolPtr);
    } else {
        PushIdleLocked(threadPtr);
    }
    NsGrowDecideLocked(poolPtr, 0, &growth);
    if (hasBoth) {
        hopelessPtr = NsGrowTakeHopelessLocked(poolPtr);
    }
    isNews = isNews && poolPtr->nWaiting > 0
        && poolPtr->nCurrent < poolPtr->maxThreads;

    if (hasBoth) {
        NsPoolCheckBothLocked(poolPtr);
    } else {
        NsPoolCheckLocked(poolPtr);
    }
    Ns_MutexUnlock(&poolPtr->tqueue);
    if (hasBoth) {
        Ns_MutexUnlock(&poolPtr->wqueue);
    }

    NsGrowRefuse(hopelessPtr);
    isReplacing = *reasonPtr == NS_END_LIMIT;
    if (growth.threadPtr != NULL && NsGrowStart(&growth, isReplacing) != NS_OK
        && isReplacing) {
        /* Go on in the place of the one that should have replaced us. */
        return Take(threadPtr, reasonPtr);
    }
    if (isNews) {
        NsGrowWatch(poolPtr, 0);
    }
    if (workPtr != NULL) {
        threadPtr->tookWaiting = true;
        NsConnThreadSetRunning(threadPtr, workPtr);
    } else if (*reasonPtr == NS_END_NONE) {
        workPtr = WaitForWork(threadPtr, reasonPtr);
    }
    return workPtr;
}

/*
 * Move held requests to the wait queue as long as there are places.  Whether
 * there was one.
 */
static bool
FillPlacesLocked(NsPool *poolPtr)
{
    bool hasMoved = false;

    NsAssertLocked(&poolPtr->wqueue);
    NsAssertLocked(&poolPtr->tqueue);

    while (poolPtr->nHeld > 0 && poolPtr->nPlaces < poolPtr->maxConnections) {
        NsWork *workPtr = RemoveFirst(&poolPtr->held);

        poolPtr->nHeld--;
        NsWorkCountHeld(workPtr, -1);
        workPtr->fromQueue = true;
        AcceptLocked(poolPtr, workPtr);
        Append(&poolPtr->waiting, workPtr);
        poolPtr->nWaiting++;
        poolPtr->nQueued++;
        hasMoved = true;
    }
    return hasMoved;
}

/*
 * Take the request that has waited longest [take].
 */
static NsWork *
TakeHeadLocked(NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->wqueue);

    poolPtr->nWaiting--;
    return RemoveFirst(&poolPtr->waiting);
}

/*
 * A thread that has served its number of requests ends, unless it would be
 * missed: it continues when the queue is long, when no other thread is left to
 * serve it [limit], or when no other could take its place.
 */
static NsEndReason
ShouldEndLocked(const NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;
    int     nWaiting = poolPtr->nWaiting;

    NsAssertLocked(&poolPtr->tqueue);

    if (threadPtr->isUnfit) {
        return NS_END_UNFIT;
    }
    if (poolPtr->connsPerThread > 0 && threadPtr->nLeft <= 0
        && (nWaiting == 0
            || (nWaiting <= poolPtr->lowWater && poolPtr->nCurrent > 1))
        && (poolPtr->nCurrent > poolPtr->minThreads
            || !NsGrowIsBarredLocked(poolPtr))) {
        return NS_END_LIMIT;
    }
    if (!poolPtr->isOpen && nWaiting == 0) {
        return NS_END_SHUTDOWN;
    }
    return NS_END_NONE;
}

/*
 * The thread is on the idle stack: sleep until it gets work or has to end.
 */
static NsWork *
WaitForWork(NsConnThread *threadPtr, NsEndReason *reasonPtr)
{
    NsStamp timeout = threadPtr->poolPtr->threadTimeout;

    for (;;) {
        bool    mustEnd, isChosen;
        NsWork *workPtr = NsConnThreadWait(threadPtr, timeout, &mustEnd);

        if (workPtr != NULL) {
            return workPtr;
        }
        if (mustEnd) {
            *reasonPtr = NS_END_SHUTDOWN;
            return NULL;
        }
        if (LeaveIdle(threadPtr, &isChosen)) {
            *reasonPtr = NS_END_IDLE;
            return NULL;
        }
        if (isChosen) {
            timeout = NS_NO_TIMEOUT; /* Its work is on the way. */
        } else {
            timeout = MAX(timeout, NS_STAMP_SECOND); /* No spinning. */
        }
    }
}

/*
 * The thread was idle too long: off the stack, if the pool can do without it
 * [timeout].  It may have been chosen in this moment; then it stays.
 */
static bool
LeaveIdle(NsConnThread *threadPtr, bool *isChosenPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;
    bool    isLeaving = false;

    NsAssertNoneLocked();
    Ns_MutexLock(&poolPtr->tqueue);
    *isChosenPtr = !threadPtr->isIdle;
    if (threadPtr->isIdle && poolPtr->nCurrent > poolPtr->minThreads) {
        RemoveIdleLocked(threadPtr);
        poolPtr->nCurrent--;
        isLeaving = true;
    }
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);
    return isLeaving;
}

/*
 * No more requests: idle threads end at once [stop], the others when the queue
 * is empty.
 */
void
NsPoolStop(NsPool *poolPtr)
{
    NsConnThread *threadPtr, *nextPtr;

    Ns_MutexLock(&poolPtr->tqueue);
    poolPtr->isOpen = false;
    threadPtr = poolPtr->topPtr;
    while (poolPtr->topPtr != NULL) {
        poolPtr->topPtr->isIdle = false;
        poolPtr->topPtr = poolPtr->topPtr->downPtr;
    }
    poolPtr->nCurrent -= poolPtr->nIdle;
    poolPtr->nIdle = 0;
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);

    /* They left the stack together, still linked; each is ours until woken. */
    for (; threadPtr != NULL; threadPtr = nextPtr) {
        nextPtr = threadPtr->downPtr;
        NsConnThreadEnd(threadPtr);
    }
}

static void
PushIdleLocked(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(!threadPtr->isIdle && NothingWaits(poolPtr));

    threadPtr->upPtr = NULL;
    threadPtr->downPtr = poolPtr->topPtr;
    if (poolPtr->topPtr != NULL) {
        NsAssert(poolPtr->topPtr->upPtr == NULL);
        poolPtr->topPtr->upPtr = threadPtr;
    }
    poolPtr->topPtr = threadPtr;
    threadPtr->isIdle = true;
    poolPtr->nIdle++;
    poolPtr->isOverrun = false;
}

static void
RemoveIdleLocked(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(threadPtr->isIdle);

    if (threadPtr->upPtr != NULL) {
        threadPtr->upPtr->downPtr = threadPtr->downPtr;
    } else {
        NsAssert(poolPtr->topPtr == threadPtr);
        poolPtr->topPtr = threadPtr->downPtr;
    }
    if (threadPtr->downPtr != NULL) {
        threadPtr->downPtr->upPtr = threadPtr->upPtr;
    }
    threadPtr->isIdle = false;
    poolPtr->nIdle--;
}

static void
Append(NsWorkQueue *queuePtr, NsWork *workPtr)
{
    workPtr->nextPtr = NULL;
    if (queuePtr->lastPtr != NULL) {
        NsAssert(queuePtr->lastPtr->nextPtr == NULL);
        queuePtr->lastPtr->nextPtr = workPtr;
    } else {
        queuePtr->firstPtr = workPtr;
    }
    queuePtr->lastPtr = workPtr;
}

static NsWork *
RemoveFirst(NsWorkQueue *queuePtr)
{
    NsWork *workPtr = queuePtr->firstPtr;

    NsAssert(workPtr != NULL);
    queuePtr->firstPtr = workPtr->nextPtr;
    if (queuePtr->firstPtr == NULL) {
        NsAssert(queuePtr->lastPtr == workPtr);
        queuePtr->lastPtr = NULL;
    }
    return workPtr;
}
