/*
 * patience.c --
 *
 *      A request that has waited longer than its pool's queuepatience, while
 *      the pool may grow, gets a thread made for it.
 *
 *      One thread watches all pools.  It sleeps without a limit while nothing
 *      waits.  A submitter wakes it only if it would sleep longer than the new
 *      request's patience lasts: it publishes when it will wake (wakeStamp),
 *      NEVER while it looks through the pools.  It looks at a pool with wqueue
 *      locked, so a submitter that comes later sees NEVER, and wakes it.
 */

#include "ns.h"
#include "dispatch/pool_int.h"

#define NEVER INT64_MAX

static struct {
    NsPool         **pools;         /* Constant after configuration. */
    int              nPools;

    _Atomic NsStamp  wakeStamp;     /* Written by the thread. */

    Ns_Mutex         lock;          /* Guards the rest. */
    Ns_Cond          wakeup;
    bool             isPoked;
    bool             mustEnd;
    int              nUsers;        /* Servers that run. */
    Ns_Thread        thread;
} watch;

static Ns_ThreadProc WatchPools;
static NsStamp LookAtPool(NsPool *poolPtr, NsStamp now);
static void SleepUntil(NsStamp wakeStamp);

void
NsPatienceInit(void)
{
    NsMutexSetup(&watch.lock, NS_RANK_PATIENCE, "nsd", "patience");
    Ns_CondInit(&watch.wakeup);
    atomic_init(&watch.wakeStamp, 0);
    Ns_RegisterProcInfo((void *) WatchPools, "ns:patience", NULL);
}

void
NsPatienceAdd(NsPool *poolPtr)
{
    NsAssert(watch.nUsers == 0);
    if (poolPtr->patience > 0) {
        size_t bytes = (size_t) (watch.nPools + 1) * sizeof(NsPool *);

        watch.pools = ns_realloc(watch.pools, bytes);
        watch.pools[watch.nPools++] = poolPtr;
    }
}

void
NsPatienceStart(void)
{
    Ns_MutexLock(&watch.lock);
    if (watch.nUsers++ == 0 && watch.nPools > 0) {
        watch.mustEnd = false;
        Ns_ThreadCreate(WatchPools, NULL, 0, &watch.thread);
    }
    Ns_MutexUnlock(&watch.lock);
}

void
NsPatienceStop(void)
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
 * A request has begun to wait at queueStamp in a pool that may grow.  Stamp 0:
 * the pool may grow again, look what waits [poke].
 */
void
NsPatienceWatch(NsPool *poolPtr, NsStamp queueStamp)
{
    if (poolPtr->patience > 0
            && queueStamp + poolPtr->patience
               < atomic_load(&watch.wakeStamp)) {
        Ns_MutexLock(&watch.lock);
        watch.isPoked = true;
        Ns_MutexUnlock(&watch.lock);
        Ns_CondSignal(&watch.wakeup);
    }
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
            wakeStamp = MIN(wakeStamp, LookAtPool(watch.pools[i], now));
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
 * Make threads for the requests that have waited too long.  When the next one
 * will have.  A pool that cannot grow needs no watch: when a thread of it ends,
 * or its limit rises, we are woken.
 */
static NsStamp
LookAtPool(NsPool *poolPtr, NsStamp now)
{
    NsWork  *workPtr;
    NsStamp  wakeStamp = NEVER, retryStamp;
    int      nLate = 0, nMayGrow;

    Ns_MutexLock(&poolPtr->wqueue);
    Ns_MutexLock(&poolPtr->tqueue);
    nMayGrow = poolPtr->maxThreads - poolPtr->nCurrent + poolPtr->nCreating;
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
        retryStamp = NsPoolCheckSize(poolPtr, nLate);
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
