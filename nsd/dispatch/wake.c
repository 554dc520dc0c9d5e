/* SPDX-License-Identifier: MPL-2.0
 * wake.c --
 *
 *      Threads that have been given work, until they begin with it.
 *
 *          idle --give--> waking ----------begin--> running
 *                  |        ^                          ^
 *                  |       call                        |
 *                  |        |                          |
 *                  +----> pending ---------begin-------+
 *                           |
 *                           +------relieve--> idle
 *
 *      A pending thread means that another one is waking, whose NsWakeBegin
 *      calls it.  It may begin before that, if it was awake for another reason.
 */

#include "dispatch/wake.h"

#include "dispatch/connthread_int.h"
#include "dispatch/pool_check.h"
#include "dispatch/share.h"

/*
 * A thread that has been called is soon awake.  When one is not after this
 * long, the processors are busy with something else, and the others should not
 * have to wait for it: they are called at once.
 */
#define MAX_WAKING (NS_STAMP_SECOND / 1000)

static void          AddPendingLocked(NsConnThread *threadPtr);
static void          RemovePendingLocked(NsConnThread *threadPtr);
static NsConnThread *CallNextLocked(NsPool *poolPtr);
static NsConnThread *CallNext(NsPool *poolPtr);

bool
NsWakeGiveLocked(NsConnThread *threadPtr, NsWork *workPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(threadPtr->workPtr == NULL && !threadPtr->mustEnd
             && !threadPtr->isIdle);
    NsShareBegin(workPtr);
    threadPtr->workPtr = workPtr;
    if (poolPtr->nWaking > 0
        && workPtr->queueStamp - poolPtr->wakeStamp < MAX_WAKING) {
        AddPendingLocked(threadPtr);
        return false;
    }
    poolPtr->nWaking++;
    poolPtr->wakeStamp = workPtr->queueStamp;
    return true;
}

static void
AddPendingLocked(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(threadPtr->workPtr != NULL && !threadPtr->isPending);

    threadPtr->isPending = true;
    threadPtr->nextPendingPtr = NULL;
    if (poolPtr->lastPendingPtr != NULL) {
        poolPtr->lastPendingPtr->nextPendingPtr = threadPtr;
    } else {
        poolPtr->firstPendingPtr = threadPtr;
    }
    poolPtr->lastPendingPtr = threadPtr;
}

NsConnThread *
NsWakeRelieveLocked(NsPool *poolPtr, NsWork *nextPtr, NsWork **workPtrPtr)
{
    NsConnThread *threadPtr = poolPtr->firstPendingPtr;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(threadPtr != NULL && threadPtr->workPtr != NULL);
    RemovePendingLocked(threadPtr);
    *workPtrPtr = threadPtr->workPtr;
    threadPtr->workPtr = nextPtr;
    if (nextPtr != NULL) {
        NsShareBegin(nextPtr);
        AddPendingLocked(threadPtr);
    }
    return threadPtr;
}

/*
 * It is the first one, unless it has begun by itself.
 */
static void
RemovePendingLocked(NsConnThread *threadPtr)
{
    NsPool        *poolPtr = threadPtr->poolPtr;
    NsConnThread **linkPtr = &poolPtr->firstPendingPtr, *lastPtr = NULL;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(threadPtr->isPending);

    while (*linkPtr != threadPtr) {
        lastPtr = *linkPtr;
        linkPtr = &lastPtr->nextPendingPtr;
    }
    *linkPtr = threadPtr->nextPendingPtr;
    if (poolPtr->lastPendingPtr == threadPtr) {
        poolPtr->lastPendingPtr = lastPtr;
    }
    threadPtr->isPending = false;
}

NsWork *
NsWakeBegin(NsConnThread *threadPtr)
{
    NsPool       *poolPtr = threadPtr->poolPtr;
    NsConnThread *nextPtr = NULL;
    NsWork       *workPtr;
    bool          wasLate = false;

    Ns_MutexLock(&poolPtr->tqueue);
    workPtr = threadPtr->workPtr;
    if (workPtr != NULL) {
        threadPtr->workPtr = NULL;
        if (threadPtr->isPending) {
            RemovePendingLocked(threadPtr);
        } else {
            NsAssert(poolPtr->nWaking > 0);
            poolPtr->nWaking--;
            nextPtr = CallNextLocked(poolPtr);
            wasLate = nextPtr != NULL
                && poolPtr->wakeStamp - workPtr->queueStamp >= MAX_WAKING;
        }
    }
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);

    while (nextPtr != NULL) {
        NsConnThreadWake(nextPtr);
        nextPtr = wasLate ? CallNext(poolPtr) : NULL;
    }
    return workPtr;
}

/*
 * The pending thread whose turn it is, for the caller to wake; NULL if there is
 * none [call].
 */
static NsConnThread *
CallNextLocked(NsPool *poolPtr)
{
    NsConnThread *threadPtr = poolPtr->firstPendingPtr;

    NsAssertLocked(&poolPtr->tqueue);
    if (threadPtr != NULL) {
        RemovePendingLocked(threadPtr);
        poolPtr->nWaking++;
        poolPtr->wakeStamp = NsClockNow();
    }
    return threadPtr;
}

static NsConnThread *
CallNext(NsPool *poolPtr)
{
    NsConnThread *threadPtr;

    Ns_MutexLock(&poolPtr->tqueue);
    threadPtr = CallNextLocked(poolPtr);
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);
    return threadPtr;
}
