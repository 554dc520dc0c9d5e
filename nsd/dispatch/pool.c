/* SPDX-License-Identifier: MPL-2.0
 * pool.c --
 *
 *      Requests enter a pool, wait in it, and are taken by its threads.
 *
 *      This is the hand-over protocol, but for the slot of a thread
 *      (connthread.c), the order in which threads are woken (wake.c), and the
 *      growth of the pool (grow.c).  tests/model proves it: words in brackets
 *      are the names of its steps.
 *
 *      A submitter decides with tqueue locked: the pool stops, or is full, or
 *      has an idle thread, which is popped off the stack [assign].  Only if the
 *      request has to wait are both locks taken and the decision made again
 *      [enqueue], because a thread may have become idle in between.
 *
 *      A thread that wants work locks tqueue.  It takes the work of a thread
 *      that has not been woken for it yet [relieve].  Else, if nothing waits,
 * it pushes itself on the stack [idle].  Else it locks both and takes the head
 *      of the wait queue [take].  A request is added to an empty queue, and a
 *      thread to an empty stack, only with tqueue locked.  So there is never a
 *      waiting request and an idle thread at the same time.
 *
 *      Who takes a thread off the stack, be it to assign work [assign], to end
 *      it [stop], or the thread itself because it was idle too long [timeout],
 *      is the only one to do so, and nobody else will give it work.
 */

#include "dispatch/pool.h"
#include "ns.h"
#include "base/episode.h"
#include "dispatch/connthread.h"
#include "dispatch/connthread_int.h"
#include "dispatch/gate.h"
#include "dispatch/grow.h"
#include "dispatch/pool_check.h"
#include "dispatch/pool_stats.h"
#include "dispatch/share.h"
#include "dispatch/wake.h"
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
    NsConnThread *threadPtr; /* FATE_ASSIGN: the thread, ... */
    bool          mustWake;  /* ... and whether it has to be woken now. */
    NsGrowth      growth;
    NsStamp       queueStamp; /* FATE_QUEUE, FATE_HOLD: it waits since then. */
    bool          mayGrow;
    bool          isNewOverrun;
    int           nWaiting;
    int           nIdle;
    int           nCurrent;
} Submission;

static Ns_ReturnCode SubmitLimited(NsWork *workPtr);
static Ns_ReturnCode PassGate(NsWork *workPtr);
static void          NoteTimeLimit(NsPool *poolPtr, NsStamp limit);
static Ns_ReturnCode Submit(NsPool *poolPtr, NsWork *workPtr);
static Fate          DecideLocked(const NsPool *poolPtr);
static void AssignLocked(NsPool *poolPtr, NsWork *workPtr, Submission *subPtr);
static void EnqueueLocked(NsPool *poolPtr, NsWork *workPtr, Submission *subPtr);
static void AcceptLocked(NsPool *poolPtr, NsWork *workPtr);
static void OverrunLocked(NsPool *poolPtr, Submission *subPtr);
static void LogOverrun(const NsPool *poolPtr, const Submission *subPtr);
static void LogSubmission(const Submission *subPtr, const NsWork *workPtr);
static NsWork    *Take(NsConnThread *threadPtr, NsEndReason *reasonPtr);
static NsWork    *RelieveLocked(NsPool *poolPtr);
static NsLateProc TakeLate;
static NsStamp    WaitsSince(const NsWork *workPtr);
static void       LogLate(NsPool *poolPtr, int nWaiting, int nCurrent);
static void       AppendBusiest(NsPool *poolPtr, Ns_DString *dsPtr);
static void    CountRunning(NsConnThread *threadPtr, Tcl_HashTable *countsPtr);
static NsWork *TakeHeadLocked(NsPool *poolPtr);
static bool    FillPlacesLocked(NsPool *poolPtr);
static NsEndReason ShouldEndLocked(const NsConnThread *threadPtr);
static NsWork     *WaitForWork(NsConnThread *threadPtr, NsEndReason *reasonPtr);
static void        WarnOfLostSignal(const NsWork *workPtr);
static bool        LeaveIdle(NsConnThread *threadPtr);
static void        PushIdleLocked(NsConnThread *threadPtr);
static void        RemoveIdleLocked(NsConnThread *threadPtr);

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
    NsGrowInit(TakeLate, NsPoolFillPlaces);
}

bool
NsPoolAsksPeer(const NsPool *poolPtr)
{
    return NsShareIsOn(poolPtr);
}

Ns_ReturnCode
NsPoolSubmit(NsPool *poolPtr, NsWork *workPtr)
{
    NsAssert(workPtr->acceptStamp > 0 && workPtr->heldStamp == 0);
    NsAssert(workPtr->clientPtr == NULL);
    workPtr->poolPtr = poolPtr;
    return unlikely(workPtr->isLimited)
        ? SubmitLimited(workPtr)
        : Submit(poolPtr, workPtr);
}

/*
 * First the share of its client, then its gate.
 */
static Ns_ReturnCode
SubmitLimited(NsWork *workPtr)
{
    NsPool *poolPtr = workPtr->poolPtr;
    NsStamp now = NsClockNow();

    if (workPtr->peer != NULL) {
        switch (NsShareEnter(poolPtr, workPtr)) {
        case NS_SHARE_ENTER:
            break;
        case NS_SHARE_PARK:
            NsGrowWatch(poolPtr, now, false);
            return NS_OK;
        case NS_SHARE_REFUSE:
            return NS_FORBIDDEN;
        }
    }
    return PassGate(workPtr);
}

/*
 * To the pool, unless the gate keeps it; it may have let it pass already.
 */
static Ns_ReturnCode
PassGate(NsWork *workPtr)
{
    NsPool *poolPtr = workPtr->poolPtr;
    NsStamp now = NsClockNow(), limit;

    if (workPtr->gatePtr != NULL && !workPtr->hasPassed) {
        switch (NsGateEnter(workPtr)) {
        case NS_GATE_PASS:
            break;
        case NS_GATE_WAIT:
            NsGrowWatch(poolPtr, now, false);
            return NS_OK;
        case NS_GATE_REFUSE:
            poolPtr->nDropped++;
            return NS_TIMEOUT;
        }
    }
    limit = workPtr->timeLimit;
    if (limit > 0) {
        NoteTimeLimit(poolPtr, limit);
    }
    return Submit(poolPtr, workPtr);
}

/*
 * Have the running requests looked at as often as a work with the limit needs.
 */
static void
NoteTimeLimit(NsPool *poolPtr, NsStamp limit)
{
    NsStamp shortest = poolPtr->shortestLimit;

    while (shortest == 0 || limit < shortest) {
        if (atomic_compare_exchange_weak(&poolPtr->shortestLimit, &shortest,
                                         limit)) {
            NsGrowLook();
            break;
        }
    }
}

void
NsPoolRelease(NsWork *workPtr)
{
    NsPoolWithdraw(workPtr);
    if (likely(!workPtr->isLimited)) {
        return;
    }
    if (workPtr->clientPtr != NULL) {
        NsPoolAdmit(NsShareLeave(workPtr));
    }
    if (workPtr->hasPassed) {
        NsPoolAdmit(NsGateLeave(workPtr));
    }
}

void
NsPoolFillShares(NsPool *poolPtr)
{
    NsPoolAdmit(NsShareFill(poolPtr, false));
}

/*
 * One that its pool does not take is refused, and in doing so lets the next one
 * enter: that is left to the call that is under way.
 */
void
NsPoolAdmit(NsWork *listPtr)
{
    static __thread NsWorkQueue queue;
    static __thread bool        isUnderWay;
    NsWork                     *workPtr, *nextPtr;

    NsAssertNoneLocked();
    for (workPtr = listPtr; workPtr != NULL; workPtr = nextPtr) {
        nextPtr = workPtr->nextPtr;
        NsWorkAppend(&queue, workPtr);
    }
    if (isUnderWay) {
        return;
    }
    isUnderWay = true;
    while (queue.firstPtr != NULL) {
        workPtr = NsWorkRemoveFirst(&queue);
        if (PassGate(workPtr) != NS_OK) {
            nsPoolProcs.refuseProc(workPtr);
        }
    }
    isUnderWay = false;
}

static Ns_ReturnCode
Submit(NsPool *poolPtr, NsWork *workPtr)
{
    Submission sub = {.fate = FATE_ASSIGN, .growth.isSubmission = true};

    NsAssert(workPtr->poolPtr == poolPtr);
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

    /* From here on workPtr may be gone. */
    if (sub.mustWake) {
        NsConnThreadWake(sub.threadPtr);
    }
    if (Ns_LogSeverityEnabled(Debug)) {
        LogSubmission(&sub, workPtr);
    }
    switch (sub.fate) {
    case FATE_ASSIGN:
        break;
    case FATE_QUEUE:
        NsDriverYield();
        NsGrowWatch(poolPtr, sub.queueStamp, sub.mayGrow);
        break;
    case FATE_HOLD:
        NsGrowWatch(poolPtr, sub.queueStamp, false);
        /* Fall through. */
    case FATE_REJECT:
        if (sub.isNewOverrun) {
            LogOverrun(poolPtr, &sub);
            if (nsPoolProcs.overrunProc != NULL) {
                nsPoolProcs.overrunProc(poolPtr);
            }
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
    if (poolPtr->nPlaces >= poolPtr->placeLimit) {
        return poolPtr->rejectOverrun ? FATE_REJECT : FATE_HOLD;
    }
    if (poolPtr->nCurrent == 0 && NsGrowIsBarredLocked(poolPtr)) {
        return FATE_REFUSE;
    }
    return poolPtr->topPtr != NULL ? FATE_ASSIGN : FATE_QUEUE;
}

/*
 * Take the thread that became idle last off the stack, and give it the work
 * [assign].
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
    subPtr->mustWake = NsWakeGiveLocked(subPtr->threadPtr, workPtr);
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
        NsWorkAppend(&poolPtr->waiting, workPtr);
        poolPtr->nWaiting++;
        poolPtr->nQueued++;
        NsGrowDecideLocked(poolPtr, 0, &subPtr->growth);
        subPtr->mayGrow = poolPtr->nCurrent < NsPoolMaxThreadsLocked(poolPtr);
    } else if (subPtr->fate == FATE_HOLD) {
        OverrunLocked(poolPtr, subPtr);
        if (workPtr->heldStamp == 0) {
            workPtr->heldStamp = NsClockNow();
        }
        subPtr->queueStamp = workPtr->heldStamp;
        NsWorkAppend(&poolPtr->held, workPtr);
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
    NsAssert(poolPtr->nPlaces < poolPtr->placeLimit);

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
        poolPtr->overrunStamp = now;
        if (NsLineIsDue(&poolPtr->overrunLogStamp, now, NS_STAMP_SECOND)) {
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
        NsPoolFreePlacesLocked(poolPtr, 1);
    }
    if (hasBoth) {
        isNews = FillPlacesLocked(poolPtr);
    }
    *reasonPtr = ShouldEndLocked(threadPtr);
    if (*reasonPtr != NS_END_NONE) {
        poolPtr->nCurrent--;
        isNews = true;
    } else if (poolPtr->firstPendingPtr != NULL && poolPtr->isOpen) {
        workPtr = RelieveLocked(poolPtr);
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
        && poolPtr->nCurrent < NsPoolMaxThreadsLocked(poolPtr);

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
        NsGrowWatch(poolPtr, 0, true);
    }
    if (workPtr != NULL) {
        threadPtr->tookWaiting = true;
    } else if (*reasonPtr == NS_END_NONE) {
        workPtr = WaitForWork(threadPtr, reasonPtr);
    }
    if (workPtr != NULL) {
        NsShareBegin(workPtr);
        NsConnThreadSetRunning(threadPtr, workPtr);
    }
    return workPtr;
}

/*
 * Take the work of a thread that has not been woken for it yet.  That one
 * sleeps on: it is idle again, or gets the work that has waited longest.
 */
static NsWork *
RelieveLocked(NsPool *poolPtr)
{
    NsWork       *waitingPtr = NULL, *workPtr;
    NsConnThread *threadPtr;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(poolPtr->isOpen);
    if (poolPtr->nWaiting > 0) {
        waitingPtr = TakeHeadLocked(poolPtr);
    }
    threadPtr = NsWakeRelieveLocked(poolPtr, waitingPtr, &workPtr);
    if (waitingPtr == NULL) {
        PushIdleLocked(threadPtr);
    }
    return workPtr;
}

void
NsPoolFillPlaces(NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->wqueue);
    NsAssertLocked(&poolPtr->tqueue);

    NsPoolFreePlacesLocked(poolPtr, 0);
    (void) FillPlacesLocked(poolPtr);
    NsPoolCheckBothLocked(poolPtr);
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

    while (poolPtr->nHeld > 0 && poolPtr->nPlaces < poolPtr->placeLimit) {
        NsWork *workPtr = NsWorkRemoveFirst(&poolPtr->held);

        poolPtr->nHeld--;
        NsWorkCountHeld(workPtr, -1);
        workPtr->fromQueue = true;
        AcceptLocked(poolPtr, workPtr);
        NsWorkAppend(&poolPtr->waiting, workPtr);
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
    return NsWorkRemoveFirst(&poolPtr->waiting);
}

/*
 * Who waits longest is the first of the wait queue, or of the held requests if
 * that is empty [late].
 */
static NsWork *
TakeLate(NsPool *poolPtr, NsStamp *nextStampPtr)
{
    NsStamp timeout = poolPtr->queueTimeout;
    NsStamp limit = NsClockNow() - timeout, oldest = INT64_MAX;
    NsWork *listPtr = NULL, **linkPtr = &listPtr, *workPtr;
    bool    isNew = false;
    int     nWaiting, nCurrent;

    if (timeout == 0) {
        return NULL;
    }
    listPtr = NsShareTakeLate(poolPtr, limit, &oldest);
    while (*linkPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    Ns_MutexLock(&poolPtr->wqueue);
    Ns_MutexLock(&poolPtr->tqueue);
    nWaiting = poolPtr->nWaiting;
    nCurrent = poolPtr->nCurrent;
    for (;;) {
        bool isHeld = poolPtr->waiting.firstPtr == NULL;

        workPtr = isHeld ? poolPtr->held.firstPtr : poolPtr->waiting.firstPtr;
        if (workPtr == NULL || WaitsSince(workPtr) > limit) {
            break;
        }
        if (isHeld) {
            (void) NsWorkRemoveFirst(&poolPtr->held);
            poolPtr->nHeld--;
            poolPtr->nDropped++;
            NsWorkCountHeld(workPtr, -1);
        } else {
            (void) TakeHeadLocked(poolPtr);
            NsPoolFreePlacesLocked(poolPtr, 1);
            (void) FillPlacesLocked(poolPtr);
        }
        poolPtr->nTimeouts++;
        workPtr->nextPtr = NULL;
        *linkPtr = workPtr;
        linkPtr = &workPtr->nextPtr;
    }
    if (workPtr != NULL) {
        oldest = MIN(oldest, WaitsSince(workPtr));
    }
    if (listPtr != NULL && !poolPtr->isLate) {
        isNew = poolPtr->isLate = true;
    }
    NsPoolCheckBothLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);
    Ns_MutexUnlock(&poolPtr->wqueue);

    *linkPtr = NsGateTakeLate(poolPtr, limit, &oldest);
    if (oldest != INT64_MAX) {
        *nextStampPtr = oldest + timeout;
    }

    if (isNew) {
        LogLate(poolPtr, nWaiting, nCurrent);
    }
    return listPtr;
}

static NsStamp
WaitsSince(const NsWork *workPtr)
{
    return workPtr->heldStamp != 0 ? workPtr->heldStamp : workPtr->queueStamp;
}

/*
 * Until a thread is idle again, this is said once.
 */
static void
LogLate(NsPool *poolPtr, int nWaiting, int nCurrent)
{
    Ns_DString busiest;

    Ns_DStringInit(&busiest);
    AppendBusiest(poolPtr, &busiest);
    Ns_Log(Warning,
           "pool[%s%s%s]: requests that have waited for %ld s get 503:"
           " %d wait for %d threads, all of them busy%s; see ns_server active,"
           " and raise maxthreads or queuetimeout",
           poolPtr->serverPtr->name, *poolPtr->name != '\0' ? " " : "",
           poolPtr->name, (long) (poolPtr->queueTimeout / NS_STAMP_SECOND),
           nWaiting, nCurrent, Ns_DStringValue(&busiest));
    Ns_DStringFree(&busiest);
}

/*
 * What most of the threads run, and how many; nothing if none does any more.
 */
static void
AppendBusiest(NsPool *poolPtr, Ns_DString *dsPtr)
{
    Tcl_HashTable  counts;
    Tcl_HashEntry *hashPtr, *busiestPtr = NULL;
    Tcl_HashSearch search;
    NsConnThread  *threadPtr;

    Tcl_InitHashTable(&counts, TCL_STRING_KEYS);
    for (threadPtr = NsConnThreadFirst(poolPtr); threadPtr != NULL;
         threadPtr = threadPtr->nextSlotPtr) {
        CountRunning(threadPtr, &counts);
    }
    for (hashPtr = Tcl_FirstHashEntry(&counts, &search); hashPtr != NULL;
         hashPtr = Tcl_NextHashEntry(&search)) {
        if (busiestPtr == NULL
            || PTR2INT(Tcl_GetHashValue(hashPtr))
                > PTR2INT(Tcl_GetHashValue(busiestPtr))) {
            busiestPtr = hashPtr;
        }
    }
    if (busiestPtr != NULL) {
        Ns_DStringPrintf(dsPtr, ", %d with %s",
                         PTR2INT(Tcl_GetHashValue(busiestPtr)),
                         (const char *) Tcl_GetHashKey(&counts, busiestPtr));
    }
    Tcl_DeleteHashTable(&counts);
}

/*
 * By method and URL.  The description is a list of one list: see describeProc.
 */
static void
CountRunning(NsConnThread *threadPtr, Tcl_HashTable *countsPtr)
{
    NsPool        *poolPtr = threadPtr->poolPtr;
    NsWork        *workPtr = NsConnThreadPin(threadPtr);
    const char   **works = NULL, **words = NULL;
    int            nWorks = 0, nWords = 0, isNew;
    Tcl_HashEntry *hashPtr;
    Ns_DString     ds;

    if (workPtr == NULL) {
        return;
    }
    Ns_DStringInit(&ds);
    nsPoolProcs.describeProc(&ds, workPtr, "running", 0);
    NsPoolUnpin(poolPtr, workPtr);
    if (Tcl_SplitList(NULL, Ns_DStringValue(&ds), &nWorks, &works) == TCL_OK
        && nWorks == 1
        && Tcl_SplitList(NULL, works[0], &nWords, &words) == TCL_OK
        && nWords > 4) {
        Ns_DStringTrunc(&ds, 0);
        Ns_DStringVarAppend(&ds, words[3], " ", words[4], (char *) NULL);
        hashPtr = Tcl_CreateHashEntry(countsPtr, Ns_DStringValue(&ds), &isNew);
        Tcl_SetHashValue(hashPtr,
                         INT2PTR(isNew
                                     ? 1
                                     : PTR2INT(Tcl_GetHashValue(hashPtr)) + 1));
    }
    if (words != NULL) {
        Tcl_Free((char *) words);
    }
    if (works != NULL) {
        Tcl_Free((char *) works);
    }
    Ns_DStringFree(&ds);
}

void
NsWorkSetTimeLimit(NsWork *workPtr, NsStamp limit)
{
    NsAssert(limit >= 0);
    atomic_store_explicit(&workPtr->timeLimit, limit == 0 ? INT64_MAX : limit,
                          memory_order_relaxed);
    NoteTimeLimit(workPtr->poolPtr, NS_STAMP_SECOND);
    NsGrowLook();
}

NsStamp
NsWorkTimeLimit(const NsWork *workPtr)
{
    NsStamp limit = workPtr->timeLimit;

    if (limit == 0) {
        return workPtr->poolPtr->maxRuntime;
    }
    return limit == INT64_MAX ? 0 : limit;
}

bool
NsPoolIsStale(const NsWork *workPtr)
{
    NsStamp limit = workPtr->poolPtr->skipAbandoned;

    return unlikely(workPtr->fromQueue || workPtr->heldStamp != 0) && limit > 0
        && workPtr->dequeueStamp - WaitsSince(workPtr) > limit;
}

NsStamp
NsPoolFullFor(NsPool *poolPtr)
{
    NsStamp since = 0;

    Ns_MutexLock(&poolPtr->tqueue);
    if (poolPtr->isOverrun) {
        since = poolPtr->overrunStamp;
    }
    Ns_MutexUnlock(&poolPtr->tqueue);
    return since == 0 ? 0 : MAX(NsClockNow() - since, 1);
}

void
NsPoolCountCancelled(const NsWork *workPtr, NsCancelCause cause)
{
    atomic_fetch_add_explicit(&workPtr->poolPtr->nCancelled[cause], 1,
                              memory_order_relaxed);
    if (cause == NS_CANCEL_TIME && workPtr->hasPassed) {
        NsGateCountTimeout(workPtr->gatePtr);
    }
}

void
NsPoolCountAbandoned(NsPool *poolPtr)
{
    atomic_fetch_add_explicit(&poolPtr->nAbandoned, 1, memory_order_relaxed);
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
    if (poolPtr->connsPerThread > 0
        && threadPtr->nServed >= poolPtr->connsPerThread
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
        Ns_ReturnCode status = NsConnThreadWait(threadPtr, timeout);
        NsWork       *workPtr = NsWakeBegin(threadPtr);

        if (workPtr != NULL) {
            if (status == NS_TIMEOUT) {
                WarnOfLostSignal(workPtr);
            }
            return workPtr;
        }
        if (threadPtr->mustEnd) {
            *reasonPtr = NS_END_SHUTDOWN;
            return NULL;
        }
        if (status == NS_TIMEOUT) {
            if (LeaveIdle(threadPtr)) {
                *reasonPtr = NS_END_IDLE;
                return NULL;
            }
            timeout = MAX(timeout, NS_STAMP_SECOND); /* No spinning. */
        }
    }
}

/*
 * The thread had slept on when it was given the work.
 */
static void
WarnOfLostSignal(const NsWork *workPtr)
{
    if (NsClockNow() - workPtr->queueStamp > NS_STAMP_SECOND) {
        Ns_Log(Warning, "signal lost, resuming after timeout");
    }
}

/*
 * The thread was idle too long: off the stack, if the pool can do without it
 * [timeout].  It may have been chosen in this moment; then it stays.
 */
static bool
LeaveIdle(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;
    bool    isLeaving = false;

    NsAssertNoneLocked();
    Ns_MutexLock(&poolPtr->tqueue);
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

    poolPtr->isDraining = true;
    NsPoolAdmit(NsShareFill(poolPtr, true));
    NsPoolAdmit(NsGateDrain(poolPtr));
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
    poolPtr->isLate = false;
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
