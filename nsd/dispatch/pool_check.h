/* SPDX-License-Identifier: MPL-2.0
 * pool_check.h --
 *
 *      What must hold of a pool whenever nobody is just changing it.
 */

#ifndef NSD_DISPATCH_POOL_CHECK_H
#define NSD_DISPATCH_POOL_CHECK_H

#include "base/assert.h"
#include "base/lock.h"
#include "dispatch/pool_int.h"

/*
 * Walks, for NsCheck.
 */
bool NsPoolIdleIsSoundLocked(const NsPool *poolPtr);
bool NsPoolPendingIsSoundLocked(const NsPool *poolPtr);
bool NsPoolQueuesAreSoundLocked(const NsPool *poolPtr);

/*
 * At the end of each section that changed the pool: with tqueue locked, with
 * wqueue locked, with both.
 */
static inline void
NsPoolCheckLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);
    if (poolPtr->nIdle > 0) {
        NsAssert(poolPtr->topPtr != NULL && poolPtr->isOpen);
        NsAssert(poolPtr->nWaiting == 0 && poolPtr->nHeld == 0);
    } else {
        NsAssert(poolPtr->nIdle == 0 && poolPtr->topPtr == NULL);
    }
    NsAssert(poolPtr->nCreating >= 0
             && poolPtr->nIdle + poolPtr->nCreating <= poolPtr->nCurrent);
    NsAssert(poolPtr->nWaking >= 0 && poolPtr->nWaking <= poolPtr->nCurrent);
    NsAssert(poolPtr->firstPendingPtr == NULL || poolPtr->nWaking > 0);
    NsAssert(poolPtr->nWaiting <= poolPtr->nPlaces
             && poolPtr->nPlaces <= poolPtr->placeLimit);
    NsCheck(NsPoolIdleIsSoundLocked(poolPtr));
    NsCheck(NsPoolPendingIsSoundLocked(poolPtr));
}

static inline void
NsPoolCheckQueuesLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->wqueue);
    NsAssert((poolPtr->nWaiting == 0) == (poolPtr->waiting.firstPtr == NULL));
    NsAssert((poolPtr->nHeld == 0) == (poolPtr->held.firstPtr == NULL));
    NsCheck(NsPoolQueuesAreSoundLocked(poolPtr));
}

static inline void
NsPoolCheckBothLocked(const NsPool *poolPtr)
{
    NsPoolCheckQueuesLocked(poolPtr);
    NsAssert(poolPtr->nHeld == 0 || poolPtr->nPlaces == poolPtr->placeLimit);
    NsPoolCheckLocked(poolPtr);
}

#endif
