/*
 * shortage.c --
 *
 *      A thread that was wanted and did not come: the system made none, or it
 *      could not get what it needs to serve.
 *
 *      The pool goes on with the threads it has, and tries again after a pause
 *      that grows as long as it is in vain.  A pool that is left without any
 *      refuses what waits [hopeless], and what comes until it may try again.
 */

#include "ns.h"
#include "dispatch/pool_int.h"

#define FIRST_PAUSE (NS_STAMP_SECOND / 4)
#define LAST_PAUSE  (NS_STAMP_SECOND * 4)

static void BarLocked(NsPool *poolPtr);
static int CountAway(NsWorkQueue *queuePtr, NsWork **listPtrPtr);

bool
NsPoolIsBarredLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);

    return unlikely(poolPtr->growStamp != 0)
        && NsClockNow() < poolPtr->growStamp;
}

void
NsPoolThreadFailed(NsConnThread *threadPtr)
{
    NsPool *poolPtr = threadPtr->poolPtr;
    NsWork *hopelessPtr;
    bool    mustWatch;

    NsAssert(threadPtr->isNew && !threadPtr->isIdle);
    Ns_MutexLock(&poolPtr->wqueue);
    Ns_MutexLock(&poolPtr->tqueue);
    BarLocked(poolPtr);
    poolPtr->nCurrent--;
    hopelessPtr = NsPoolTakeHopelessLocked(poolPtr);
    mustWatch = poolPtr->nWaiting > 0;
    NsPoolCheckBothLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);
    Ns_MutexUnlock(&poolPtr->wqueue);

    NsPoolRefuse(hopelessPtr);
    if (mustWatch) {
        NsPatienceWatch(poolPtr, 0);
    }
}

void
NsPoolSuccessorFailed(NsConnThread *successorPtr)
{
    NsPool *poolPtr = successorPtr->poolPtr;

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
    poolPtr->growPause = poolPtr->growStamp == 0 ? FIRST_PAUSE
        : MIN(poolPtr->growPause * 2, LAST_PAUSE);
    poolPtr->growStamp = NsClockNow() + poolPtr->growPause;
}

NsWork *
NsPoolTakeHopelessLocked(NsPool *poolPtr)
{
    NsWork *listPtr = NULL;
    int     nWaiting, nHeld;

    NsAssertLocked(&poolPtr->wqueue);
    NsAssertLocked(&poolPtr->tqueue);

    if (poolPtr->nCurrent > 0) {
        return NULL;
    }
    nHeld = CountAway(&poolPtr->held, &listPtr);
    nWaiting = CountAway(&poolPtr->waiting, &listPtr);
    NsAssert(nHeld == poolPtr->nHeld && nWaiting == poolPtr->nWaiting);
    poolPtr->nHeld = 0;
    poolPtr->nWaiting = 0;
    poolPtr->nPlaces -= nWaiting;
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
        *queuePtr = (NsWorkQueue) {NULL, NULL};
    }
    return n;
}

void
NsPoolRefuse(NsWork *listPtr)
{
    while (listPtr != NULL) {
        NsWork *workPtr = listPtr;

        listPtr = workPtr->nextPtr;
        NsPoolAwaitUnpinned(workPtr);
        nsPoolProcs.refuseProc(workPtr);
    }
}
