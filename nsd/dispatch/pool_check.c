/* SPDX-License-Identifier: MPL-2.0
 * pool_check.c --
 *
 *      What must hold of a pool whenever nobody is just changing it.
 */

#include "dispatch/pool_check.h"

static bool IsQueueSound(const NsWorkQueue *queuePtr, int n);

/*
 * The idle stack: as long as is counted, linked both ways, of threads that have
 * nothing to do.
 */
bool
NsPoolIdleIsSoundLocked(const NsPool *poolPtr)
{
    const NsConnThread *upPtr = NULL;
    int                 n = 0;

    NsAssertLocked(&poolPtr->tqueue);
    for (NsConnThread *threadPtr = poolPtr->topPtr; threadPtr != NULL;
         threadPtr = threadPtr->downPtr) {
        if (n++ == poolPtr->nIdle || threadPtr->upPtr != upPtr
            || threadPtr->poolPtr != poolPtr || !threadPtr->isIdle
            || threadPtr->isPending || threadPtr->workPtr != NULL
            || threadPtr->mustEnd || threadPtr->runningPtr != NULL) {
            return false;
        }
        upPtr = threadPtr;
    }
    return n == poolPtr->nIdle;
}

/*
 * Threads that are not woken yet: off the stack, with work, and not more than
 * there are.
 */
bool
NsPoolPendingIsSoundLocked(const NsPool *poolPtr)
{
    const NsConnThread *lastPtr = NULL;
    int                 n = 0;

    NsAssertLocked(&poolPtr->tqueue);
    for (const NsConnThread *threadPtr = poolPtr->firstPendingPtr;
         threadPtr != NULL; threadPtr = threadPtr->nextPendingPtr) {
        if (n++ == poolPtr->nCurrent || threadPtr->poolPtr != poolPtr
            || !threadPtr->isPending || threadPtr->isIdle
            || threadPtr->workPtr == NULL || threadPtr->mustEnd) {
            return false;
        }
        lastPtr = threadPtr;
    }
    return lastPtr == poolPtr->lastPendingPtr;
}

bool
NsPoolQueuesAreSoundLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->wqueue);
    return IsQueueSound(&poolPtr->waiting, poolPtr->nWaiting)
        && IsQueueSound(&poolPtr->held, poolPtr->nHeld);
}

static bool
IsQueueSound(const NsWorkQueue *queuePtr, int n)
{
    const NsWork *lastPtr = NULL;

    for (const NsWork *workPtr = queuePtr->firstPtr; workPtr != NULL && n >= 0;
         workPtr = workPtr->nextPtr) {
        n--;
        lastPtr = workPtr;
    }
    return n == 0 && lastPtr == queuePtr->lastPtr;
}
