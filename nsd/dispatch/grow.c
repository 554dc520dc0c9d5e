/* SPDX-License-Identifier: MPL-2.0
 * grow.c --
 *
 *      Decides when a pool gets one more thread, and what happens if the system
 *      makes none.
 *
 *      A request that has waited longer than its pool's queuepatience, while
 *      the pool may grow, gets a thread made for it.  One thread watches all
 *      pools.  It sleeps without a limit while nothing waits.  A submitter
 *      wakes it only if it would sleep longer than the new request's patience
 *      lasts: it publishes when it will wake (wakeStamp), NEVER while it looks
 *      through the pools.  It looks at a pool with wqueue locked, so a
 *      submitter that comes later sees NEVER, and wakes it.
 *
 *      The same thread refuses requests that have waited for queuetimeout, and
 *      ends those that have run for maxruntime.  Nobody wakes it for the
 *      latter: while a pool has such a limit it looks once a second, or more
 *      often if the limit is shorter.
 *
 *      When the system makes no thread, or the thread cannot get what it needs
 *      to serve, the pool continues with those it has, and tries again after a
 *      pause that grows with each failure.  A pool that is left without any
 *      refuses what waits [hopeless], and what comes until it may try again.
 */

#include "dispatch/grow.h"

#include "ns.h"
#include "dispatch/connthread_int.h"
#include "dispatch/pool_check.h"

#define NEVER INT64_MAX

#define FIRST_PAUSE (NS_STAMP_SECOND / 4)
#define LAST_PAUSE  (NS_STAMP_SECOND * 4)

static struct {
    NsPool **pools; /* Constant after configuration. */
    int      nPools;

    _Atomic NsStamp wakeStamp; /* Written by the thread. */

    Ns_Mutex  lock; /* Guards the rest. */
    Ns_Cond   wakeup;
    bool      isPoked;
    bool      mustEnd;
    int       nUsers; /* Servers that run. */
    Ns_Thread thread;
} watch;

static NsLateProc   *takeLateProc; /* Constant, both. */
static NsPlacesProc *fillPlacesProc;

/*
 * A work that has been told to end for this long hangs.
 */
#define STUCK (5 * NS_STAMP_SECOND)

static Ns_ThreadProc WatchPools;
static void          SetStuck(NsPool *poolPtr, int nStuck);
static NsStamp       RefuseLate(NsPool *poolPtr);
static NsStamp       ExpireRunning(NsPool *poolPtr, NsStamp now);
static NsStamp       LeaveRunning(NsPool *poolPtr, NsStamp now);
static NsStamp       LookAtPool(NsPool *poolPtr, NsStamp now);
static void          SleepUntil(NsStamp wakeStamp);
static NsStamp       MakeThreads(NsPool *poolPtr, int nLate);
static NsConnThread *ReserveLocked(NsPool *poolPtr);
static void          SuccessorFailed(NsPool *poolPtr);
static void          BarLocked(NsPool *poolPtr);
static int           CountAway(NsWorkQueue *queuePtr, NsWork **listPtrPtr);

void
NsGrowInit(NsLateProc *lateProc, NsPlacesProc *placesProc)
{
    takeLateProc = lateProc;
    fillPlacesProc = placesProc;
    NsMutexSetup(&watch.lock, NS_RANK_PATIENCE, "nsd", "patience");
    Ns_CondInit(&watch.wakeup);
    atomic_init(&watch.wakeStamp, 0);
    Ns_RegisterProcInfo((void *) WatchPools, "ns:patience", NULL);
}

void
NsGrowAddPool(NsPool *poolPtr)
{
    size_t bytes = (size_t) (watch.nPools + 1) * sizeof(NsPool *);

    NsAssert(watch.nUsers == 0);
    watch.pools = ns_realloc(watch.pools, bytes);
    watch.pools[watch.nPools++] = poolPtr;
}

void
NsGrowBegin(void)
{
    Ns_MutexLock(&watch.lock);
    if (watch.nUsers++ == 0 && watch.nPools > 0) {
        watch.mustEnd = false;
        Ns_ThreadCreate(WatchPools, NULL, 0, &watch.thread);
    }
    Ns_MutexUnlock(&watch.lock);
}

void
NsGrowEnd(void)
{
    bool isLast;

    Ns_MutexLock(&watch.lock);
    NsAssert(watch.nUsers > 0);
    isLast = --watch.nUsers == 0 && watch.nPools > 0;
    watch.mustEnd = isLast;
    Ns_MutexUnlock(&watch.lock);

    if (isLast) {
        Ns_CondSignal(&watch.wakeup);
        Ns_ThreadJoin(&watch.thread, NULL);
    }
}

/*
 * All are counted before the first one runs, which would make the others.
 */
void
NsGrowOpen(NsPool *poolPtr)
{
    NsConnThread *firstPtr = NULL, *nextPtr, **linkPtr = &firstPtr;

    Ns_MutexLock(&poolPtr->tqueue);
    NsAssert(poolPtr->minThreads >= 1
             && poolPtr->minThreads <= poolPtr->maxThreads);
    poolPtr->isOpen = true;
    while (poolPtr->nCurrent < poolPtr->minThreads) {
        *linkPtr = ReserveLocked(poolPtr);
        linkPtr = &(*linkPtr)->nextFreePtr;
    }
    *linkPtr = NULL;
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);

    for (; firstPtr != NULL; firstPtr = nextPtr) {
        nextPtr = firstPtr->nextFreePtr;
        if (NsConnThreadStart(firstPtr) != NS_OK) {
            Ns_Fatal(
                "pool: cannot start the threads of server '%s': the system "
                "creates no more; raise its limit on processes or memory, or "
                "lower minthreads",
                poolPtr->serverPtr->name);
        }
    }
}

void
NsGrowReserveLocked(NsPool *poolPtr, int nLate, NsGrowth *growthPtr)
{
    int  nWaiting = poolPtr->nWaiting;
    bool isAllowed, isWanted;

    NsAssertLocked(&poolPtr->tqueue);

    if (!poolPtr->isOpen || NsGrowIsBarredLocked(poolPtr)) {
        return;
    }
    isAllowed = poolPtr->nCreating == 0 || nWaiting > poolPtr->highWater;
    /* Not more than there is work for: the others are on their way. */
    isWanted = poolPtr->nCurrent < poolPtr->minThreads
        || nWaiting > MAX(poolPtr->lowWater, poolPtr->nCreating);
    if (poolPtr->nCreating < nLate || (isAllowed && isWanted)) {
        growthPtr->nWaiting = nWaiting;
        growthPtr->nIdle = poolPtr->nIdle;
        growthPtr->nCurrent = poolPtr->nCurrent;
        growthPtr->threadPtr = ReserveLocked(poolPtr);
    }
}

static NsConnThread *
ReserveLocked(NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);

    poolPtr->nCurrent++;
    poolPtr->nCreating++;
    /* So an idle thread means a free place: no request is held beside it. */
    NsAssert(poolPtr->nCurrent <= NsPoolMaxThreadsLocked(poolPtr)
             && poolPtr->nCurrent <= poolPtr->placeLimit);
    poolPtr->nThreadsMade++;
    return NsConnThreadReserve(poolPtr);
}

Ns_ReturnCode
NsGrowStart(const NsGrowth *growthPtr, bool isSuccessor)
{
    NsConnThread *threadPtr = growthPtr->threadPtr;

    if (NsConnThreadStart(threadPtr) != NS_OK) {
        if (isSuccessor) {
            SuccessorFailed(threadPtr->poolPtr);
        } else {
            NsGrowFailed(threadPtr);
        }
        NsConnThreadCancel(threadPtr);
        return NS_ERROR;
    }
    /* Spelled as log scanners expect it, the counts included. */
    Ns_Log(Notice, "%s wantCreate 1 waiting %d idle %d current %d",
           growthPtr->isSubmission ? "NsQueueConn"
                                   : "NsEnsureRunningConnectionThreads",
           growthPtr->nWaiting, growthPtr->nIdle,
           growthPtr->nCurrent + (growthPtr->isSubmission ? 0 : 1));
    return NS_OK;
}

void
NsGrowCheckSize(NsPool *poolPtr)
{
    (void) MakeThreads(poolPtr, 0);
}

void
NsGrowWatch(NsPool *poolPtr, NsStamp queueStamp, bool mayGrow)
{
    NsStamp delay = NEVER;

    if (mayGrow && poolPtr->patience > 0) {
        delay = poolPtr->patience;
    }
    if (poolPtr->queueTimeout > 0) {
        delay = MIN(delay, poolPtr->queueTimeout);
    }
    if (delay != NEVER && queueStamp + delay < atomic_load(&watch.wakeStamp)) {
        NsGrowLook();
    }
}

void
NsGrowLook(void)
{
    Ns_MutexLock(&watch.lock);
    watch.isPoked = true;
    Ns_MutexUnlock(&watch.lock);
    Ns_CondSignal(&watch.wakeup);
}

static void
WatchPools(void *arg)
{
    bool mustEnd = false;

    Ns_ThreadSetName("-patience-");
    while (!mustEnd) {
        NsStamp wakeStamp = NEVER, now;

        atomic_store(&watch.wakeStamp, NEVER);
        now = NsClockNow();
        for (int i = 0; i < watch.nPools; i++) {
            NsPool *poolPtr = watch.pools[i];

            if (poolPtr->queueTimeout > 0) {
                wakeStamp = MIN(wakeStamp, RefuseLate(poolPtr));
            }
            if (poolPtr->patience > 0) {
                wakeStamp = MIN(wakeStamp, LookAtPool(poolPtr, now));
            }
            if (poolPtr->maxRuntime > 0 || poolPtr->shortestLimit > 0
                || poolPtr->nStuck > 0) {
                wakeStamp = MIN(wakeStamp, ExpireRunning(poolPtr, now));
            }
            if (poolPtr->cancelAbandoned) {
                wakeStamp = MIN(wakeStamp, LeaveRunning(poolPtr, now));
            }
        }

        atomic_store(&watch.wakeStamp, wakeStamp);
        Ns_MutexLock(&watch.lock);
        if (!watch.isPoked && !watch.mustEnd) {
            SleepUntil(wakeStamp);
        }
        watch.isPoked = false;
        mustEnd = watch.mustEnd;
        Ns_MutexUnlock(&watch.lock);
    }
}

/*
 * When the next one will have waited too long.
 */
static NsStamp
RefuseLate(NsPool *poolPtr)
{
    NsStamp nextStamp = NEVER;

    NsGrowRefuse(takeLateProc(poolPtr, &nextStamp));
    return nextStamp;
}

/*
 * When to look again: when the next one will have run too long, and before any
 * that begins in the meantime can have.
 */
static NsStamp
ExpireRunning(NsPool *poolPtr, NsStamp now)
{
    NsStamp       usual = poolPtr->maxRuntime;
    NsStamp       shortest = poolPtr->shortestLimit;
    NsStamp       wakeStamp = now + NS_STAMP_SECOND;
    NsConnThread *threadPtr;
    int           nStuck = 0;

    if (usual > 0) {
        wakeStamp = MIN(wakeStamp, now + usual);
    }
    if (shortest > 0) {
        wakeStamp = MIN(wakeStamp, now + shortest);
    }
    for (threadPtr = NsConnThreadFirst(poolPtr); threadPtr != NULL;
         threadPtr = threadPtr->nextSlotPtr) {
        NsWork *workPtr = NsConnThreadPin(threadPtr);
        NsStamp ran, limit;

        if (workPtr == NULL) {
            continue;
        }
        ran = now - workPtr->dequeueStamp;
        limit = atomic_load_explicit(&workPtr->timeLimit, memory_order_relaxed);
        if (limit == 0) {
            limit = usual == 0 ? NEVER : usual;
        }
        if (ran < limit) {
            wakeStamp = MIN(wakeStamp,
                            limit == NEVER ? NEVER : now + limit - ran);
        } else if (nsPoolProcs.expireProc != NULL) {
            nsPoolProcs.expireProc(workPtr, limit);
            nStuck += ran - limit > STUCK;
        }
        NsPoolUnpin(poolPtr, workPtr);
    }
    SetStuck(poolPtr, nStuck);
    return wakeStamp;
}

/*
 * Have those that have run for a second look whether somebody still wants their
 * replies; and when to do so again.
 */
static NsStamp
LeaveRunning(NsPool *poolPtr, NsStamp now)
{
    NsConnThread *threadPtr;

    for (threadPtr = NsConnThreadFirst(poolPtr); threadPtr != NULL;
         threadPtr = threadPtr->nextSlotPtr) {
        NsWork *workPtr = NsConnThreadPin(threadPtr);

        if (workPtr == NULL) {
            continue;
        }
        if (now - workPtr->dequeueStamp >= NS_STAMP_SECOND
            && nsPoolProcs.leaveProc != NULL) {
            nsPoolProcs.leaveProc(workPtr);
        }
        NsPoolUnpin(poolPtr, workPtr);
    }
    return now + NS_STAMP_SECOND;
}

/*
 * Others may do the work of threads that hang.
 */
static void
SetStuck(NsPool *poolPtr, int nStuck)
{
    int nMore, nWaiting;

    nStuck = MIN(nStuck, poolPtr->maxStuck);
    nMore = nStuck - poolPtr->nStuck; /* Nobody else writes it. */
    if (nMore == 0) {
        return;
    }
    Ns_MutexLock(&poolPtr->wqueue);
    Ns_MutexLock(&poolPtr->tqueue);
    poolPtr->nStuck = nStuck;
    fillPlacesProc(poolPtr);
    nWaiting = poolPtr->nWaiting;
    Ns_MutexUnlock(&poolPtr->tqueue);
    Ns_MutexUnlock(&poolPtr->wqueue);
    if (nMore > 0) {
        (void) MakeThreads(poolPtr, MIN(nMore, nWaiting));
    }
}

/*
 * Make threads for the requests that have waited too long.  When the next one
 * will have.  A pool that cannot grow needs no watch: when a thread of it ends,
 * or its limit rises, we are woken.
 */
static NsStamp
LookAtPool(NsPool *poolPtr, NsStamp now)
{
    NsWork *workPtr;
    NsStamp wakeStamp = NEVER, retryStamp;
    int     nLate = 0, nMayGrow;

    Ns_MutexLock(&poolPtr->wqueue);
    Ns_MutexLock(&poolPtr->tqueue);
    nMayGrow = NsPoolMaxThreadsLocked(poolPtr) - poolPtr->nCurrent
        + poolPtr->nCreating;
    Ns_MutexUnlock(&poolPtr->tqueue);

    workPtr = poolPtr->waiting.firstPtr;
    while (nLate < nMayGrow && workPtr != NULL
           && workPtr->queueStamp + poolPtr->patience <= now) {
        nLate++;
        workPtr = workPtr->nextPtr;
    }
    if (nLate < nMayGrow && workPtr != NULL) {
        wakeStamp = workPtr->queueStamp + poolPtr->patience;
    }
    NsPoolCheckQueuesLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->wqueue);

    NsAssert(nLate == 0 || nLate <= nMayGrow);
    if (nLate > 0) {
        retryStamp = MakeThreads(poolPtr, nLate);
        if (retryStamp > 0) {
            wakeStamp = MIN(wakeStamp, retryStamp);
        }
    }
    return wakeStamp;
}

/*
 * With the lock held: until then, or a wakeup.
 */
static void
SleepUntil(NsStamp wakeStamp)
{
    NsAssertLocked(&watch.lock);

    if (wakeStamp == NEVER) {
        Ns_CondWait(&watch.wakeup, &watch.lock);
    } else {
        NsCondWaitUntil(&watch.wakeup, &watch.lock, wakeStamp);
    }
}

/*
 * Make the threads that are wanted.  When to try again, if there was none to be
 * had; else 0.
 */
static NsStamp
MakeThreads(NsPool *poolPtr, int nLate)
{
    NsGrowth growth = {.isSubmission = false};
    NsStamp  retryStamp;

    do {
        Ns_MutexLock(&poolPtr->tqueue);
        NsGrowDecideLocked(poolPtr, nLate, &growth);
        retryStamp = NsGrowIsBarredLocked(poolPtr) ? poolPtr->growStamp : 0;
        NsPoolCheckLocked(poolPtr);
        Ns_MutexUnlock(&poolPtr->tqueue);

        if (growth.threadPtr != NULL) {
            (void) NsGrowStart(&growth, false);
        }
    } while (growth.threadPtr != NULL);
    return retryStamp;
}

bool
NsGrowIsBarredLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);

    return unlikely(poolPtr->growStamp != 0)
        && NsClockNow() < poolPtr->growStamp;
}

void
NsGrowFailed(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;
    NsWork *hopelessPtr;
    bool    mustWatch;

    NsAssert(threadPtr->isNew && !threadPtr->isIdle);
    Ns_MutexLock(&poolPtr->wqueue);
    Ns_MutexLock(&poolPtr->tqueue);
    BarLocked(poolPtr);
    poolPtr->nCurrent--;
    hopelessPtr = NsGrowTakeHopelessLocked(poolPtr);
    mustWatch = poolPtr->nWaiting > 0;
    NsPoolCheckBothLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);
    Ns_MutexUnlock(&poolPtr->wqueue);

    NsGrowRefuse(hopelessPtr);
    if (mustWatch) {
        NsGrowWatch(poolPtr, 0, true);
    }
}

static void
SuccessorFailed(NsPool *poolPtr)
{
    Ns_MutexLock(&poolPtr->tqueue);
    BarLocked(poolPtr);
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);
}

static void
BarLocked(NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(poolPtr->nCreating > 0 && poolPtr->nCurrent > 0);

    poolPtr->nCreating--;
    poolPtr->nThreadsMade--;
    poolPtr->growPause = poolPtr->growStamp == 0
        ? FIRST_PAUSE
        : MIN(poolPtr->growPause * 2, LAST_PAUSE);
    poolPtr->growStamp = NsClockNow() + poolPtr->growPause;
}

NsWork *
NsGrowTakeHopelessLocked(NsPool *poolPtr)
{
    NsWork *listPtr = NULL;
    int     nWaiting, nHeld;

    NsAssertLocked(&poolPtr->wqueue);
    NsAssertLocked(&poolPtr->tqueue);

    if (poolPtr->nCurrent > 0) {
        return NULL;
    }
    nHeld = CountAway(&poolPtr->held, &listPtr);
    for (NsWork *workPtr = listPtr; workPtr != NULL;
         workPtr = workPtr->nextPtr) {
        NsWorkCountHeld(workPtr, -1);
    }
    nWaiting = CountAway(&poolPtr->waiting, &listPtr);
    NsAssert(nHeld == poolPtr->nHeld && nWaiting == poolPtr->nWaiting);
    poolPtr->nHeld = 0;
    poolPtr->nWaiting = 0;
    NsPoolFreePlacesLocked(poolPtr, nWaiting);
    poolPtr->nDropped += (uint64_t) (nWaiting + nHeld);
    return listPtr;
}

/*
 * Empty the queue in front of the list.
 */
static int
CountAway(NsWorkQueue *queuePtr, NsWork **listPtrPtr)
{
    int n = 0;

    for (NsWork *workPtr = queuePtr->firstPtr; workPtr != NULL;
         workPtr = workPtr->nextPtr) {
        n++;
    }
    if (n > 0) {
        queuePtr->lastPtr->nextPtr = *listPtrPtr;
        *listPtrPtr = queuePtr->firstPtr;
        *queuePtr = (NsWorkQueue){NULL, NULL};
    }
    return n;
}

void
NsGrowRefuse(NsWork *listPtr)
{
    while (listPtr != NULL) {
        NsWork *workPtr = listPtr;

        listPtr = workPtr->nextPtr;
        NsPoolAwaitUnpinned(workPtr);
        nsPoolProcs.refuseProc(workPtr);
    }
}
