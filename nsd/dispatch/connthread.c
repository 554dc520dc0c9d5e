/* SPDX-License-Identifier: MPL-2.0
 * connthread.c --
 *
 *      The life of a connection thread, and its slot.
 *
 *          reserved -> starting -> waiting <-> running -> ended
 *
 *      NsConnThreadReserve makes or reuses a slot, NsConnThreadStart starts
 *      the thread, RunConnThread is all of its life.  A thread that ends joins
 *      the one that ended before it, so that only the last of a pool is left
 *      to be joined and none is still in its clean-up when the pool is
 *      reported as gone.
 */

#include "dispatch/connthread.h"
#include "dispatch/connthread_int.h"

#include "ns.h"
#include "base/assert.h"
#include "base/thread.h"
#include "net/handover.h"

#include <sched.h>

NsPoolProcs nsPoolProcs; /* Constant once a pool has started. */
static const NsConnThreadProcs *procsPtr; /* Constant after the start. */

/*
 * The slot of the calling thread; NULL outside of connection threads.
 */
static _Thread_local NsConnThread *selfPtr;

static Ns_ThreadProc RunConnThread;
static void          FreeSlotLocked(NsConnThread *threadPtr);
static void          RunWork(NsConnThread *threadPtr, NsWork *workPtr);
static void          Wake(void *arg);
static bool          HasNews(NsConnThread *threadPtr);
static Ns_ReturnCode Sleep(NsConnThread *threadPtr, NsStamp deadline);
static void          LogEnd(NsEndReason reason);
static void          Leave(NsConnThread *threadPtr);
static void          LogJob(const NsWork *workPtr);
static double        Seconds(NsStamp from, NsStamp to);
static Ns_ArgProc    DescribeThread;

void
NsConnThreadInit(const NsConnThreadProcs *aProcsPtr)
{
    procsPtr = aProcsPtr;
    Ns_RegisterProcInfo((void *) RunConnThread, "ns:connthread",
                        DescribeThread);
}

void
NsPoolSetProcs(const NsPoolProcs *poolProcsPtr)
{
    NsAssert(poolProcsPtr->runProc != NULL && poolProcsPtr->refuseProc != NULL
             && poolProcsPtr->describeProc != NULL);
    nsPoolProcs = *poolProcsPtr;
}

NsConnThread *
NsConnThreadReserve(NsPool *poolPtr)
{
    NsConnThread *threadPtr;

    Ns_MutexLock(&poolPtr->threads);
    threadPtr = poolPtr->freeSlotPtr;
    if (threadPtr != NULL) {
        poolPtr->freeSlotPtr = threadPtr->nextFreePtr;
    } else {
        char name[32];

        threadPtr = ns_calloc(1, sizeof(*threadPtr));
        threadPtr->poolPtr = poolPtr;
        threadPtr->index = poolPtr->nSlots++;
        threadPtr->nextSlotPtr = poolPtr->firstSlotPtr;
        poolPtr->firstSlotPtr = threadPtr;
        snprintf(name, sizeof(name), "connthread:%d", threadPtr->index);
        NsMutexSetup(&threadPtr->lock, NS_RANK_POOL_THREAD, poolPtr->lockArea,
                     name);
        NsMust(sem_init(&threadPtr->wakeup, 0, 0));
    }
    NsAssert(!threadPtr->isIdle && threadPtr->workPtr == NULL
             && threadPtr->runningPtr == NULL && !threadPtr->holdsPlace);
    threadPtr->threadId = poolPtr->nextThreadId++;
    threadPtr->nServed = 0;
    threadPtr->tookWaiting = false;
    threadPtr->isNew = true;
    threadPtr->mustEnd = false;
    threadPtr->isUnfit = false;
    poolPtr->nAlive++;
    Ns_MutexUnlock(&poolPtr->threads);
    return threadPtr;
}

NsConnThread *
NsConnThreadFirst(NsPool *poolPtr)
{
    NsConnThread *threadPtr;

    Ns_MutexLock(&poolPtr->threads);
    threadPtr = poolPtr->firstSlotPtr;
    Ns_MutexUnlock(&poolPtr->threads);
    return threadPtr;
}

Ns_ReturnCode
NsConnThreadStart(NsConnThread *threadPtr)
{
    Ns_Thread thread;

    return NsThreadTry(RunConnThread, threadPtr, 0, &thread) == 0
        ? NS_OK
        : NS_ERROR;
}

void
NsConnThreadCancel(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;

    Ns_MutexLock(&poolPtr->threads);
    FreeSlotLocked(threadPtr);
    Ns_MutexUnlock(&poolPtr->threads);
}

static void
FreeSlotLocked(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;

    NsAssertLocked(&poolPtr->threads);
    NsAssert(poolPtr->nAlive > 0 && threadPtr->workPtr == NULL);
    threadPtr->nextFreePtr = poolPtr->freeSlotPtr;
    poolPtr->freeSlotPtr = threadPtr;
    poolPtr->nAlive--;
    Ns_CondBroadcast(&poolPtr->changed);
}

static void
RunConnThread(void *arg)
{
    NsConnThread *threadPtr = arg;
    NsServer     *serverPtr = threadPtr->poolPtr->serverPtr;
    NsStamp       startStamp = NsClockNow();
    NsEndReason   reason = NS_END_UNFIT;
    NsWork       *workPtr;
    Ns_Time       spent;
    char          name[128];

    NsAssert(threadPtr->isNew && selfPtr == NULL);
    selfPtr = threadPtr;
    NsConnThreadName(threadPtr, name, sizeof(name));
    Ns_ThreadSetName("%s", name);
    if (nsPoolProcs.startProc == NULL
        || nsPoolProcs.startProc(serverPtr) == NS_OK) {
        spent = NsClockSpan(startStamp, NsClockNow());
        Ns_Log(Notice, "thread initialized (%ld.%06ld secs)", spent.sec,
               spent.usec);
        while ((workPtr = procsPtr->takeProc(threadPtr, &reason)) != NULL) {
            RunWork(threadPtr, workPtr);
        }
    } else {
        procsPtr->failedProc(threadPtr);
    }

    LogEnd(reason);
    if (nsPoolProcs.stopProc != NULL) {
        nsPoolProcs.stopProc(serverPtr);
    }
    selfPtr = NULL;
    Leave(threadPtr);
}

void
NsConnThreadName(const NsConnThread *threadPtr, char *name, size_t size)
{
    const NsPool *poolPtr = threadPtr->poolPtr;
    bool          hasName = *poolPtr->name != '\0';

    snprintf(name, size, "-conn:%s:%s%s%d", poolPtr->serverPtr->name,
             poolPtr->name, hasName ? ":" : "", threadPtr->threadId);
}

static void
RunWork(NsConnThread *threadPtr, NsWork *workPtr)
{
    NsAssertNoneLocked();
    nsPoolProcs.runProc(workPtr);

    NsAssertNoneLocked();
    NsAssert(threadPtr->runningPtr == NULL);
    threadPtr->holdsPlace = true;
    threadPtr->nServed++;
}

static void
LogEnd(NsEndReason reason)
{
    static const char *const reasons[] = {
        [NS_END_IDLE] = "idle thread terminates",
        [NS_END_LIMIT] = "exceeded max connections per thread",
        [NS_END_UNFIT] = "cannot serve",
        [NS_END_SHUTDOWN] = "shutdown pending"};

    NsAssert(reason > NS_END_NONE && reason <= NS_END_SHUTDOWN);
    Ns_Log(Notice, "exiting: %s", reasons[reason]);
}

/*
 * The last that a thread does.  The slot may serve another one at once.
 */
static void
Leave(NsConnThread *threadPtr)
{
    NsPool   *poolPtr = threadPtr->poolPtr;
    Ns_Thread predecessor = NULL;
    bool      hasPredecessor;

    Ns_MutexLock(&poolPtr->threads);
    hasPredecessor = poolPtr->hasEnded;
    predecessor = poolPtr->endedThread;
    poolPtr->hasEnded = true;
    Ns_ThreadSelf(&poolPtr->endedThread);
    FreeSlotLocked(threadPtr);
    Ns_MutexUnlock(&poolPtr->threads);

    if (hasPredecessor) {
        Ns_ThreadJoin(&predecessor, NULL);
    }
}

/*
 * Wait until all threads of the pool are gone: NS_TIMEOUT when the deadline
 * passes first.
 */
Ns_ReturnCode
NsConnThreadsWait(NsPool *poolPtr, const Ns_Time *deadlinePtr)
{
    Ns_Time       deadline = *deadlinePtr;
    Ns_Thread     thread = NULL;
    bool          hasEnded = false;
    Ns_ReturnCode status = NS_OK;

    Ns_MutexLock(&poolPtr->threads);
    while (poolPtr->nAlive > 0 && status == NS_OK) {
        status = Ns_CondTimedWait(&poolPtr->changed, &poolPtr->threads,
                                  &deadline);
    }
    if (poolPtr->nAlive == 0) {
        status = NS_OK;
        hasEnded = poolPtr->hasEnded;
        thread = poolPtr->endedThread;
        poolPtr->hasEnded = false;
    }
    Ns_MutexUnlock(&poolPtr->threads);

    if (hasEnded) {
        Ns_ThreadJoin(&thread, NULL);
    }
    return status;
}

/*
 * Slots are never freed, so it does not matter that the thread may run before
 * it is woken, nor that it may have done so and sleep again.
 */
void
NsConnThreadWake(NsConnThread *threadPtr)
{
    if (!NsDriverDefer(Wake, threadPtr)) {
        Wake(threadPtr);
    }
}

/*
 * Tell a thread that was taken off the idle stack to end.
 */
void
NsConnThreadEnd(NsConnThread *threadPtr)
{
    NsAssert(threadPtr->workPtr == NULL);
    threadPtr->mustEnd = true;
    Wake(threadPtr);
}

/*
 * Post, if the thread says that it is asleep [wake].
 */
static void
Wake(void *arg)
{
    NsConnThread *threadPtr = arg;

    if (atomic_exchange(&threadPtr->isAsleep, false)) {
        NsMust(sem_post(&threadPtr->wakeup));
    }
}

/*
 * The thread's own wait [look].
 */
Ns_ReturnCode
NsConnThreadWait(NsConnThread *threadPtr, NsStamp timeout)
{
    NsStamp       deadline;
    Ns_ReturnCode status = NS_OK;

    NsAssertNoneLocked();
    if (__builtin_add_overflow(NsClockNow(), timeout, &deadline)) {
        deadline = INT64_MAX;
    }
    if (threadPtr->tookWaiting) {
        /* It has taken all that waited.  More may be on its way, held up by
         * this thread itself: then neither has to sleep nor to be woken. */
        threadPtr->tookWaiting = false;
        if (!HasNews(threadPtr)) {
            sched_yield();
        }
    }
    while (!HasNews(threadPtr) && status == NS_OK) {
        status = Sleep(threadPtr, deadline);
    }
    return status;
}

static bool
HasNews(NsConnThread *threadPtr)
{
    return threadPtr->workPtr != NULL || threadPtr->mustEnd;
}

/*
 * Sleep until woken, or the deadline [sleep].  Each time that another thread
 * has cleared isAsleep it posts, and that post is waited for [awake]: none is
 * left for the next sleep.
 */
static Ns_ReturnCode
Sleep(NsConnThread *threadPtr, NsStamp deadline)
{
    struct timespec until = {.tv_sec = deadline / NS_STAMP_SECOND,
                             .tv_nsec = deadline % NS_STAMP_SECOND};
    bool            isWoken = false, isLate = false;

    threadPtr->isAsleep = true;
    if (!HasNews(threadPtr)) {
        do {
            isWoken = sem_clockwait(&threadPtr->wakeup, CLOCK_MONOTONIC, &until)
                == 0;
            isLate = !isWoken && errno == ETIMEDOUT;
            NsAssert(isWoken || isLate || errno == EINTR);
        } while (!isWoken && !isLate);
    }
    if (!isWoken && !atomic_exchange(&threadPtr->isAsleep, false)) {
        while (sem_wait(&threadPtr->wakeup) != 0) {
            NsAssert(errno == EINTR);
        }
    }
    return isLate ? NS_TIMEOUT : NS_OK;
}

void
NsConnThreadSetRunning(NsConnThread *threadPtr, NsWork *workPtr)
{
    NsAssert(workPtr->poolPtr == threadPtr->poolPtr);
    workPtr->dequeueStamp = NsClockNow();
    atomic_store_explicit(&threadPtr->runningPtr, workPtr,
                          memory_order_release);
}

NsWork *
NsPoolCurrentWork(void)
{
    /* Only the thread itself writes it. */
    return selfPtr == NULL
        ? NULL
        : atomic_load_explicit(&selfPtr->runningPtr, memory_order_relaxed);
}

void
NsPoolThreadUnfit(void)
{
    if (selfPtr != NULL) {
        selfPtr->isUnfit = true;
    }
}

void
NsPoolWithdraw(NsWork *workPtr)
{
    if (selfPtr == NULL || NsPoolCurrentWork() != workPtr) {
        return;
    }
    if (Ns_LogSeverityEnabled(Debug)) {
        LogJob(workPtr);
    }
    atomic_store(&selfPtr->runningPtr, NULL);
    if (atomic_load(&selfPtr->isLookedAt)) {
        Ns_MutexLock(&selfPtr->lock);
        Ns_MutexUnlock(&selfPtr->lock);
    }

    /* Nobody can find it now.  Those who found it before finish first. */
    NsPoolAwaitUnpinned(workPtr);
}

void
NsPoolAwaitUnpinned(NsWork *workPtr)
{
    NsPool *poolPtr = workPtr->poolPtr;

    NsAssert(workPtr->nPins >= 0);
    if (atomic_load(&workPtr->nPins) > 0) {
        Ns_MutexLock(&poolPtr->threads);
        while (atomic_load(&workPtr->nPins) > 0) {
            Ns_CondWait(&poolPtr->changed, &poolPtr->threads);
        }
        Ns_MutexUnlock(&poolPtr->threads);
    }
}

static void
LogJob(const NsWork *workPtr)
{
    NsPool *poolPtr = workPtr->poolPtr;
    NsStamp endStamp = workPtr->endStamp;
    Ns_Time accept = NsClockWall(workPtr->acceptStamp);
    Ns_Time queue = NsClockWall(workPtr->queueStamp);
    int     nIdle, nCurrent;

    if (endStamp == 0) {
        endStamp = NsClockNow();
    }
    Ns_MutexLock(&poolPtr->tqueue);
    nIdle = poolPtr->nIdle;
    nCurrent = poolPtr->nCurrent;
    Ns_MutexUnlock(&poolPtr->tqueue);

    Ns_Log(Debug,
           "[%d] end of job, waiting %d current %d idle %d ncons %d"
           " fromQueue %d start %ld.%06ld %ld.%06ld accept %.6f queue %.6f"
           " filter %.6f run %.6f netrun %.6f total %.6f",
           selfPtr->index, atomic_load(&poolPtr->nWaiting), nCurrent, nIdle,
           selfPtr->poolPtr->connsPerThread - selfPtr->nServed - 1,
           workPtr->fromQueue, accept.sec, accept.usec, queue.sec, queue.usec,
           Seconds(workPtr->acceptStamp, workPtr->queueStamp),
           Seconds(workPtr->queueStamp, workPtr->dequeueStamp),
           Seconds(workPtr->dequeueStamp, workPtr->filterStamp),
           Seconds(workPtr->dequeueStamp, endStamp),
           Seconds(workPtr->filterStamp, endStamp),
           Seconds(workPtr->queueStamp, endStamp));
}

static double
Seconds(NsStamp from, NsStamp to)
{
    return to > from ? (double) (to - from) / NS_STAMP_SECOND : 0.0;
}

NsWork *
NsConnThreadPin(NsConnThread *threadPtr)
{
    NsWork *workPtr;

    Ns_MutexLock(&threadPtr->lock);
    atomic_store(&threadPtr->isLookedAt, true);
    workPtr = atomic_load(&threadPtr->runningPtr);
    if (workPtr != NULL) {
        NsAssert(workPtr->poolPtr == threadPtr->poolPtr);
        atomic_fetch_add(&workPtr->nPins, 1);
    }
    atomic_store(&threadPtr->isLookedAt, false);
    Ns_MutexUnlock(&threadPtr->lock);
    return workPtr;
}

void
NsPoolUnpin(NsPool *poolPtr, NsWork *workPtr)
{
    NsAssert(workPtr->nPins > 0);
    Ns_MutexLock(&poolPtr->threads);
    if (atomic_fetch_sub(&workPtr->nPins, 1) == 1) {
        Ns_CondBroadcast(&poolPtr->changed);
    }
    Ns_MutexUnlock(&poolPtr->threads);
}

/*
 * For `ns_info threads`: what the thread runs.
 */
static void
DescribeThread(Ns_DString *dsPtr, void *arg)
{
    NsConnThread *threadPtr = arg;
    NsWork       *workPtr = NsConnThreadPin(threadPtr);

    if (workPtr != NULL) {
        nsPoolProcs.describeProc(dsPtr, workPtr, "running", 0);
        NsPoolUnpin(threadPtr->poolPtr, workPtr);
    } else {
        Ns_DStringAppendElement(dsPtr, "");
    }
}
