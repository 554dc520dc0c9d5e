/* SPDX-License-Identifier: MPL-2.0
 * connthread.h --
 *
 *      What connection threads run, and what it may ask of them.
 */

#ifndef NSD_DISPATCH_CONNTHREAD_H
#define NSD_DISPATCH_CONNTHREAD_H

#include "dispatch/pool.h"

/*
 * The procedures of the rooms to the right.  Set once, before any pool starts.
 * All are called with no lock held.
 */
typedef struct NsPoolProcs {
    /* A connection thread starts, before it serves anything, and ends.
     * NS_ERROR: it cannot serve; it ends at once. */
    Ns_ReturnCode (*startProc)(NsServer *serverPtr);
    void (*stopProc)(NsServer *serverPtr);
    /*
     * Serve; the work and its memory are gone when this returns.  Before it
     * gives up the memory it calls NsPoolRelease.
     */
    void (*runProc)(NsWork *workPtr);
    /*
     * The pool has no thread, and gets none now: answer 503.  Called by any
     * thread; the work and its memory are gone when this returns.
     */
    void (*refuseProc)(NsWork *workPtr);
    /*
     * Append {cnsN PEER running|queued METHOD URL ELAPSED BYTES ?ID?} as one
     * list element, or by NS_POOL_LIST_LONG a dict that has more; with
     * NS_POOL_LIST_FORWARDED, PEER is what a proxy says it is.  Called by any
     * thread, while the work is kept from ending but may be running.
     */
    void (*describeProc)(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
                         unsigned flags);
    /*
     * The work has run for longer than the limit: tell it to end.  Called again
     * and again by another thread while that is so, the work kept from being
     * released.  NULL: nothing can end it.
     */
    void (*expireProc)(NsWork *workPtr, NsStamp limit);
    /*
     * Whoever runs the work is to end it if its client has left.  Likewise.
     */
    void (*leaveProc)(NsWork *workPtr);
    /*
     * The queue is full: say why, in the log.  Called by any thread, once per
     * second at most, with no lock held.  NULL: nothing is said.
     */
    void (*overrunProc)(NsPool *poolPtr);
} NsPoolProcs;

void NsPoolSetProcs(const NsPoolProcs *procsPtr);

/*
 * The work that the calling thread runs; NULL if none.
 */
NsWork *NsPoolCurrentWork(void);

/*
 * The calling connection thread has lost what it needs to serve: when its work
 * is done it ends, and another one takes its place.
 */
void NsPoolThreadUnfit(void);

/*
 * The calling thread is about to release the work it runs: take it out of the
 * lists, and wait for those who are just describing it.
 */
void NsPoolWithdraw(NsWork *workPtr);

#endif
