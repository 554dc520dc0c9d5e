/* SPDX-License-Identifier: MPL-2.0
 * wake.h --
 *
 *      Threads that have been given work, until they begin with it.
 *
 *      They are woken one after the other: the one that begins calls the next.
 *      Until then the others are pending, asleep with their work, and a thread
 *      that has finished takes that work first.  So a burst of short requests
 *      wakes as few threads as can keep up with it, and one of long requests
 *      wakes all of them, each as soon as the one before is awake.
 *
 *      All but NsWakeBegin are called with tqueue locked.
 */

#ifndef NSD_DISPATCH_WAKE_H
#define NSD_DISPATCH_WAKE_H

#include "dispatch/pool_int.h"

/*
 * Put work into the slot of a thread that was taken off the idle stack.  True:
 * the caller has to wake it (NsConnThreadWake) when the lock is released.
 */
bool NsWakeGiveLocked(NsConnThread *threadPtr, NsWork *workPtr);

/*
 * Take the work of the pending thread whose turn would be next; there must be
 * one.  With nextPtr it stays pending, and has that to do.  Without, it has
 * nothing: it is returned, for the idle stack.
 */
NsConnThread *NsWakeRelieveLocked(NsPool *poolPtr, NsWork *nextPtr,
                                  NsWork **workPtrPtr);

/*
 * The thread itself, with no lock held: the work in its slot, which it has to
 * run; NULL if there is none, or no longer.
 */
NsWork *NsWakeBegin(NsConnThread *threadPtr);

#endif
