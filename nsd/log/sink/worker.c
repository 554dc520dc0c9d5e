/* SPDX-License-Identifier: MPL-2.0
 * worker.c --
 *
 *      Threads for the work of sinks; see worker.h.
 *
 *      Waiting threads form a stack.  Only the top one has a timer.  It takes
 *      the first chore that is due, provided another thread is left to watch.
 *      If it is the last one, it takes a chore only when the others cannot.  A
 *      thread that changes what is due first, or which thread is on top, wakes
 *      the top one if that would sleep too long.  So no thread wakes when there
 *      is nothing to do.
 */

#include "log/sink/worker.h"

#include "base/assert.h"
#include "base/lock.h"
#include "base/thread.h"
#include "log/ring/lane.h"
#include "nslog.h"
#include "nsprocess.h"

/*
 * A chore that takes this long hangs; one that is due for this long has waited
 * too long.
 */
#define HUNG_NANOS (NS_STAMP_SECOND / 10)
/* While one chore hangs, others are detected sooner. */
#define BESIDE_NANOS (NS_STAMP_SECOND / 100)
/* Between attempts to start another thread. */
#define RETRY_NANOS NS_STAMP_SECOND
/* One serves, one watches. */
#define LEAST_WORKERS 2

typedef struct Worker {
    struct Worker *nextPtr;  /* In the list of all; later of those that have
                              * ended. */
    struct Worker *belowPtr; /* In the stack of those that wait. */
    int            number;
    Ns_Thread      thread;
    Ns_Cond        wakeup;
    NsStamp        wakeAt;   /* While it waits. */
    NsStamp        since;    /* When it took its chore; 0: it has none. */
    char           name[64]; /* Of the chore. */
} Worker;

static NsChoreProc *serveProc; /* This and the next two: constant after Init. */
static NsStamp      surplusNanos;
static long         nProcessors;
static Ns_Mutex     lock; /* Guards what follows. */
static Ns_Cond      ended;
static bool         isOpen;
static bool         mustEnd;
static NsChore    **heap; /* By due; from index 1. */
static int          nDue;
static int          nChores; /* In the heap and elsewhere. */
static int          heapRoom;
static Worker      *firstPtr;
static Worker      *endedPtr; /* To be joined. */
static Worker      *topPtr;
static int          nWorkers;
static int          nStarting;
static int          nWaiting;
static int          nServing;
static NsStamp      lastTaken;   /* When a chore was last taken. */
static NsStamp      lastNeeded;  /* When the last watcher was last needed. */
static NsStamp      lastFailure; /* When starting a thread failed; 0: the last
                                  * attempt succeeded. */

static Worker    *NewWorkerLocked(void);
static bool       StartWorker(Worker *workerPtr, bool must);
static void       UnlinkLocked(Worker *workerPtr);
static bool       IsAnyFreeLocked(void);
static void       JoinEnded(void);
static void       RunWorker(void *arg);
static Ns_ArgProc DescribeWorker;
static NsChore   *AwaitLocked(Worker *me);
static NsStamp    TopDueLocked(NsStamp now);
static NsStamp    LastDueLocked(NsStamp now);
static NsChore   *TakeLocked(Worker *me, NsStamp now);
static Worker    *SuccessorLocked(NsStamp now);
static void       GiveBackLocked(Worker *me, NsChore *chorePtr, NsStamp next);
static void       WaitLocked(Worker *me, NsStamp until);
static void       LeaveStackLocked(Worker *me);
static void       CallTopLocked(NsStamp now);
static void       InsertLocked(NsChore *chorePtr, NsStamp due);
static void       RemoveLocked(NsChore *chorePtr);
static void       SiftLocked(NsChore *chorePtr, int place);
static void       CheckLocked(void);

void
NsWorkersInit(NsChoreProc *proc, NsStamp surplus)
{
    serveProc = proc;
    surplusNanos = surplus;
    nProcessors = sysconf(_SC_NPROCESSORS_ONLN);
    NsMutexSetup(&lock, NS_RANK_LOG_WORKERS, "ns:log", "workers");
    Ns_RegisterProcInfo((void *) RunWorker, "ns:logworker", DescribeWorker);
}

void
NsWorkersOpen(void)
{
    Ns_MutexLock(&lock);
    isOpen = true;
    mustEnd = false;
    Ns_MutexUnlock(&lock);
}

void
NsWorkersClose(void)
{
    Ns_MutexLock(&lock);
    isOpen = false;
    Ns_MutexUnlock(&lock);
}

void
NsWorkersStop(int nHanging)
{
    Ns_MutexLock(&lock);
    mustEnd = !isOpen;
    for (Worker *workerPtr = topPtr; workerPtr != NULL;
         workerPtr = workerPtr->belowPtr) {
        Ns_CondSignal(&workerPtr->wakeup);
    }
    /* A thread whose chore is gone is about to return from it. */
    while (mustEnd && (nWorkers > nHanging || IsAnyFreeLocked())) {
        Ns_CondWait(&ended, &lock);
    }
    Ns_MutexUnlock(&lock);
    JoinEnded();
}

bool
NsWorkersNeed(bool must)
{
    Worker *workers[LEAST_WORKERS];
    int     n = 0;
    bool    isThere;

    Ns_MutexLock(&lock);
    while (isOpen && nWorkers < LEAST_WORKERS) {
        workers[n++] = NewWorkerLocked();
    }
    isThere = !isOpen || nWorkers > n;
    Ns_MutexUnlock(&lock);
    for (int i = 0; i < n; i++) {
        isThere |= StartWorker(workers[i], must && !isThere);
    }
    return isThere;
}

bool
NsWorkersAdd(NsChore *chorePtr)
{
    bool isAdded;

    Ns_MutexLock(&lock);
    isAdded = isOpen;
    if (isAdded) {
        if (++nChores >= heapRoom) {
            heapRoom = MAX(2 * heapRoom, 16);
            heap = ns_realloc(heap, (size_t) heapRoom * sizeof(*heap));
        }
        chorePtr->place = 0;
        chorePtr->isServed = chorePtr->isDueAgain = false;
        InsertLocked(chorePtr, NsClockNow());
        CallTopLocked(chorePtr->due);
    }
    Ns_MutexUnlock(&lock);
    return isAdded;
}

void
NsWorkersWake(NsChore *chorePtr)
{
    NsStamp now = NsClockNow();

    Ns_MutexLock(&lock);
    if (chorePtr->isServed) {
        chorePtr->isDueAgain = true;
    } else if (chorePtr->place == 0 || chorePtr->due > now) {
        RemoveLocked(chorePtr);
        InsertLocked(chorePtr, now);
        CallTopLocked(now);
    }
    Ns_MutexUnlock(&lock);
}

/*
 * Counted from now on, so that only one is started.
 */
static Worker *
NewWorkerLocked(void)
{
    Worker *workerPtr = ns_calloc(1u, sizeof(*workerPtr));
    bool    isTaken = true;

    NsAssertLocked(&lock);
    while (isTaken) {
        isTaken = false;
        for (Worker *otherPtr = firstPtr; otherPtr != NULL && !isTaken;
             otherPtr = otherPtr->nextPtr) {
            isTaken = otherPtr->number == workerPtr->number;
        }
        workerPtr->number += isTaken;
    }
    workerPtr->nextPtr = firstPtr;
    firstPtr = workerPtr;
    nWorkers++;
    nStarting++;
    return workerPtr;
}

/*
 * A lack of threads is reported elsewhere; see NsThreadSetLimitProc.
 */
static bool
StartWorker(Worker *workerPtr, bool must)
{
    int error = 0;

    JoinEnded();
    if (must) {
        Ns_ThreadCreate(RunWorker, workerPtr, 0, &workerPtr->thread);
    } else {
        error = NsThreadTry(RunWorker, workerPtr, 0, &workerPtr->thread);
    }
    Ns_MutexLock(&lock);
    lastFailure = error != 0 ? NsClockNow() : 0;
    if (error != 0) {
        UnlinkLocked(workerPtr);
        nStarting--;
        CallTopLocked(lastFailure);
        Ns_CondBroadcast(&ended);
    }
    Ns_MutexUnlock(&lock);
    if (error != 0) {
        ns_free(workerPtr);
    }
    return error == 0;
}

static void
UnlinkLocked(Worker *workerPtr)
{
    Worker **linkPtr = &firstPtr;

    NsAssertLocked(&lock);
    while (*linkPtr != workerPtr) {
        NsAssert(*linkPtr != NULL);
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = workerPtr->nextPtr;
    nWorkers--;
}

/*
 * Some thread has no chore.
 */
static bool
IsAnyFreeLocked(void)
{
    bool isFree = false;

    NsAssertLocked(&lock);
    for (Worker *workerPtr = firstPtr; workerPtr != NULL;
         workerPtr = workerPtr->nextPtr) {
        isFree |= workerPtr->since == 0;
    }
    return isFree;
}

static void
JoinEnded(void)
{
    Worker *workerPtr, *nextPtr;

    Ns_MutexLock(&lock);
    workerPtr = endedPtr;
    endedPtr = NULL;
    Ns_MutexUnlock(&lock);
    for (; workerPtr != NULL; workerPtr = nextPtr) {
        nextPtr = workerPtr->nextPtr;
        Ns_ThreadJoin(&workerPtr->thread, NULL);
        Ns_CondDestroy(&workerPtr->wakeup);
        ns_free(workerPtr);
    }
}

static void
RunWorker(void *arg)
{
    Worker  *me = arg;
    NsChore *chorePtr;
    bool     isTold;

    Ns_ThreadSetName("-asynclogwriter%d-", me->number);
    NsLaneSetDrainer(true);
    Ns_MutexLock(&lock);
    nStarting--;
    while ((chorePtr = AwaitLocked(me)) != NULL) {
        Worker *successorPtr = SuccessorLocked(me->since);
        NsStamp next;

        Ns_MutexUnlock(&lock);
        if (successorPtr != NULL) {
            (void) StartWorker(successorPtr, false);
        }
        next = serveProc(chorePtr);
        Ns_MutexLock(&lock);
        GiveBackLocked(me, chorePtr, next);
    }
    isTold = mustEnd;
    Ns_MutexUnlock(&lock);
    NsLaneSetDrainer(false);
    if (isTold) {
        Ns_Log(Notice, "log: exiting");
    }
    NsThreadForgetArg();
    JoinEnded();
    Ns_MutexLock(&lock);
    UnlinkLocked(me);
    me->nextPtr = endedPtr;
    endedPtr = me;
    Ns_CondBroadcast(&ended);
    Ns_MutexUnlock(&lock);
}

/*
 * Show the thread's chore in lists of threads.
 */
static void
DescribeWorker(Ns_DString *dsPtr, void *arg)
{
    Worker *workerPtr = arg;

    if (workerPtr == NULL) {
        Tcl_DStringAppendElement(dsPtr, "");
        return;
    }
    Ns_MutexLock(&lock);
    Tcl_DStringAppendElement(dsPtr, workerPtr->name);
    Ns_MutexUnlock(&lock);
}

/*
 * The next chore; NULL: the thread ends.
 */
static NsChore *
AwaitLocked(Worker *me)
{
    NsChore *chorePtr = NULL;
    NsStamp  now;
    bool     isSurplus = false;

    NsAssertLocked(&lock);
    NsAssert(me->since == 0);
    me->belowPtr = topPtr;
    topPtr = me;
    nWaiting++;
    for (;;) {
        NsStamp until = NS_CHORE_NEVER;

        CheckLocked();
        now = NsClockNow();
        me->wakeAt = me == topPtr ? TopDueLocked(now) : NS_CHORE_NEVER;
        if (nWaiting > LEAST_WORKERS) {
            until = lastNeeded + surplusNanos;
            isSurplus = until <= now;
        }
        if (mustEnd || me->wakeAt <= now || isSurplus) {
            break;
        }
        WaitLocked(me, MIN(until, me->wakeAt));
    }
    LeaveStackLocked(me);
    if (!mustEnd && me->wakeAt <= now) {
        chorePtr = TakeLocked(me, now);
    }
    CallTopLocked(now);
    return chorePtr;
}

/*
 * When the top thread is to take a chore.
 */
static NsStamp
TopDueLocked(NsStamp now)
{
    NsAssertLocked(&lock);
    if (nDue == 0) {
        return NS_CHORE_NEVER;
    }
    if (nWaiting - 1 + nStarting > 0 || nServing == 0 || lastFailure != 0) {
        return heap[1]->due;
    }
    return LastDueLocked(now);
}

/*
 * When the last thread is to take a chore: no chore makes progress, or there is
 * more to do than the others manage and a processor is free.
 */
static NsStamp
LastDueLocked(NsStamp now)
{
    NsStamp due = heap[1]->due, hungDue;
    int     nHung = 0;

    NsAssertLocked(&lock);
    for (Worker *workerPtr = firstPtr; workerPtr != NULL;
         workerPtr = workerPtr->nextPtr) {
        nHung += workerPtr->since != 0 && now - workerPtr->since >= HUNG_NANOS;
    }
    hungDue = MAX(due, lastTaken) + (nHung > 0 ? BESIDE_NANOS : HUNG_NANOS);
    return nServing - nHung < nProcessors
        ? MIN(hungDue, due + HUNG_NANOS)
        : hungDue;
}

static NsChore *
TakeLocked(Worker *me, NsStamp now)
{
    NsChore *chorePtr = heap[1];

    NsAssertLocked(&lock);
    NsAssert(me->since == 0 && nDue > 0);
    NsAssert(!chorePtr->isServed);
    RemoveLocked(chorePtr);
    chorePtr->isServed = true;
    snprintf(me->name, sizeof(me->name), "%s", chorePtr->name);
    me->since = lastTaken = now;
    nServing++;
    return chorePtr;
}

/*
 * A new thread to watch, if none is left.
 */
static Worker *
SuccessorLocked(NsStamp now)
{
    NsAssertLocked(&lock);
    if (nWaiting + nStarting > 0) {
        return NULL;
    }
    lastNeeded = now;
    return lastFailure != 0 && now - lastFailure < RETRY_NANOS
        ? NULL
        : NewWorkerLocked();
}

static void
GiveBackLocked(Worker *me, NsChore *chorePtr, NsStamp next)
{
    NsAssertLocked(&lock);
    NsAssert(me->since != 0 && nServing > 0);
    NsAssert(next >= 0 || next == NS_CHORE_GONE);
    me->since = 0;
    me->name[0] = '\0';
    nServing--;
    if (next == NS_CHORE_GONE) {
        nChores--;
        return;
    }
    NsAssert(chorePtr->isServed && chorePtr->place == 0);
    if (chorePtr->isDueAgain || next == NS_CHORE_NOW) {
        next = NsClockNow();
    }
    chorePtr->isServed = chorePtr->isDueAgain = false;
    if (next != NS_CHORE_NEVER) {
        InsertLocked(chorePtr, next);
    }
}

static void
WaitLocked(Worker *me, NsStamp until)
{
    NsAssertLocked(&lock);
    NsAssert(me->since == 0 && nWaiting > 0);
    if (until == NS_CHORE_NEVER) {
        Ns_CondWait(&me->wakeup, &lock);
    } else {
        (void) NsCondWaitUntil(&me->wakeup, &lock, until);
    }
}

static void
LeaveStackLocked(Worker *me)
{
    Worker **linkPtr = &topPtr;

    NsAssertLocked(&lock);
    while (*linkPtr != me) {
        NsAssert(*linkPtr != NULL);
        linkPtr = &(*linkPtr)->belowPtr;
    }
    *linkPtr = me->belowPtr;
    nWaiting--;
}

static void
CallTopLocked(NsStamp now)
{
    NsStamp due;

    NsAssertLocked(&lock);
    if (topPtr == NULL) {
        return;
    }
    due = TopDueLocked(now);
    if (due < topPtr->wakeAt) {
        topPtr->wakeAt = due;
        Ns_CondSignal(&topPtr->wakeup);
    }
}

static void
InsertLocked(NsChore *chorePtr, NsStamp due)
{
    NsAssertLocked(&lock);
    NsAssert(chorePtr->place == 0 && nDue < nChores);
    chorePtr->due = due;
    SiftLocked(chorePtr, ++nDue);
}

/*
 * Does nothing if it is not there.
 */
static void
RemoveLocked(NsChore *chorePtr)
{
    int place = chorePtr->place;

    NsAssertLocked(&lock);
    if (place != 0) {
        NsChore *lastPtr = heap[nDue--];

        NsAssert(heap[place] == chorePtr);
        chorePtr->place = 0;
        if (lastPtr != chorePtr) {
            SiftLocked(lastPtr, place);
        }
    }
}

/*
 * Put the chore where it belongs, starting at a place that is free.
 */
static void
SiftLocked(NsChore *chorePtr, int place)
{
    int child;

    NsAssertLocked(&lock);
    NsAssert(place >= 1 && place <= nDue);
    for (; place > 1 && heap[place / 2]->due > chorePtr->due; place /= 2) {
        heap[place] = heap[place / 2];
        heap[place]->place = place;
    }
    for (; (child = 2 * place) <= nDue; place = child) {
        child += child < nDue && heap[child + 1]->due < heap[child]->due;
        if (heap[child]->due >= chorePtr->due) {
            break;
        }
        heap[place] = heap[child];
        heap[place]->place = place;
    }
    heap[place] = chorePtr;
    chorePtr->place = place;
}

/*
 * Assert what holds whenever the lock is free.
 */
static void
CheckLocked(void)
{
    NsAssertLocked(&lock);
    NsAssert(nDue <= nChores && nChores < MAX(heapRoom, 1));
    NsAssert(nDue == 0 || (heap[1]->place == 1 && !heap[1]->isServed));
    NsAssert(nWaiting + nStarting + nServing <= nWorkers);
    NsAssert((nWaiting == 0) == (topPtr == NULL));
    NsAssert(nStarting >= 0 && nServing >= 0);
    /*
     * A chore that is being served is in the heap only after it is given back.
     */
    NsAssert(nDue + nServing <= nChores);
    for (int i = 1; i <= nDue; i++) {
        NsCheck(heap[i]->place == i
                && heap[i / 2 > 0 ? i / 2 : 1]->due <= heap[i]->due);
    }
}
