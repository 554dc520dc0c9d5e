/* SPDX-License-Identifier: MPL-2.0
 * grow.h --
 *
 *      When a pool gets one more thread, and what if none is to be had.
 */

#ifndef NSD_DISPATCH_GROW_H
#define NSD_DISPATCH_GROW_H

#include "dispatch/connthread.h"
#include "dispatch/pool_int.h"

/*
 * Take the requests off the pool that have waited too long for a thread, as a
 * list, and say when the next one will have; INT64_MAX: none.
 */
typedef NsWork *(NsLateProc) (NsPool *poolPtr, NsStamp *nextStampPtr);

/*
 * A decision to make one more thread, with the figures it was made on.
 */
typedef struct NsGrowth {
    bool          isSubmission; /* Set by the caller: it hands work over. */
    NsConnThread *threadPtr;    /* NULL: no. */
    int           nWaiting;
    int           nIdle;
    int           nCurrent; /* Without the new one. */
} NsGrowth;

/*
 * The other procedure lets requests in for which there are places now, with
 * wqueue and tqueue locked.
 */
typedef void(NsPlacesProc)(NsPool *poolPtr);

void NsGrowInit(NsLateProc *lateProc, NsPlacesProc *placesProc);
void NsGrowAddPool(NsPool *poolPtr); /* During configuration. */

/*
 * A server begins to need the thread that watches waiting requests; ends to.
 */
void NsGrowBegin(void);
void NsGrowEnd(void);

/*
 * Open the pool, with minthreads threads from the beginning.
 */
void NsGrowOpen(NsPool *poolPtr);

/*
 * Decide whether the pool gets one more thread.  nLate is the number of waiting
 * requests whose patience is over: each has a thread made for it [grow].
 */
void NsGrowReserveLocked(NsPool *poolPtr, int nLate, NsGrowth *growthPtr);

static inline void
NsGrowDecideLocked(NsPool *poolPtr, int nLate, NsGrowth *growthPtr)
{
    growthPtr->threadPtr = NULL;
    if (poolPtr->nCurrent < NsPoolMaxThreadsLocked(poolPtr)) {
        NsGrowReserveLocked(poolPtr, nLate, growthPtr);
    }
}

/*
 * With the locks released: start the thread that was decided on.  NS_ERROR: the
 * system makes none.  It is no longer counted then; a successor leaves its
 * place to the calling thread, which it was to replace.
 */
Ns_ReturnCode NsGrowStart(const NsGrowth *growthPtr, bool isSuccessor);

/*
 * Make threads outside of a submission: below minthreads, or after a setting
 * has changed.  Any thread, with no lock held.
 */
void NsGrowCheckSize(NsPool *poolPtr);

/*
 * A request waits since that time: the watching thread looks in time, or is
 * woken [watch].  Stamp 0: the pool may grow again, look what waits [poke].
 * mayGrow: the pool has fewer threads than it may have.
 */
void NsGrowWatch(NsPool *poolPtr, NsStamp queueStamp, bool mayGrow);

/*
 * A setting has changed: look at all pools.
 */
void NsGrowLook(void);

/*
 * A thread that was reserved does not come to serve; it is no longer counted.
 * With no lock held.
 */
void NsGrowFailed(NsConnThread *threadPtr);

/*
 * No thread is to be made at present.
 */
bool NsGrowIsBarredLocked(const NsPool *poolPtr);

/*
 * If the pool has no thread: all that waits for one, off its queues, to be
 * refused when the locks are released.
 */
NsWork *NsGrowTakeHopelessLocked(NsPool *poolPtr);
void    NsGrowRefuse(NsWork *listPtr);

#endif
