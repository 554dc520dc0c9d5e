/* SPDX-License-Identifier: MPL-2.0
 * loop.h --
 *
 *      The loop of a thread that waits: for descriptors, for what other threads
 *      hand over, for times, and for its end.
 */

#ifndef NSD_NET_LOOP_H
#define NSD_NET_LOOP_H

#include "net/inbox.h"
#include "net/wheel.h"

/*
 * Called by a turn, in this order, with the loop's argument.
 */
typedef struct NsLoopProcs {
    void (*eventProc)(const NsPollEvent *eventPtr, void *arg);
    void (*nodeProc)(NsInboxNode *nodePtr, void *arg);
    void (*readyProc)(void *arg); /* When these are done; or NULL. */
    NsWheelProc *timeProc;
} NsLoopProcs;

/*
 * Of one thread, which uses pollerPtr and wheel as it likes.  Other threads put
 * into the inbox, and stop.
 */
typedef struct NsLoop {
    NsPoller          *pollerPtr; /* Constant. */
    const NsLoopProcs *procsPtr;  /* Constant. */
    void              *arg;       /* Constant. */
    NsInbox            inbox;
    atomic_bool        isStopping;
    atomic_bool        isAsked; /* Whether it turns; a turn clears it. */
    NsWheel            wheel;
    NsStamp            stamp; /* The last wait was over. */
} NsLoop;

/*
 * NS_ERROR: errno says why.
 */
Ns_ReturnCode NsLoopInit(NsLoop *loopPtr, NsPollerKind kind,
                         const NsLoopProcs *procsPtr, void *arg);
void          NsLoopFree(NsLoop *loopPtr);

/*
 * Wait until something happens, at the latest until then (0: no limit), and
 * call the procedures for all of it.
 */
void NsLoopTurn(NsLoop *loopPtr, NsStamp latest);

/*
 * Call nodeProc for what is in the inbox.
 */
void NsLoopTakeInbox(NsLoop *loopPtr);

/*
 * End the wait, or the next one; Stop: and ask the thread to end.  Nodes put
 * before Stop are there when the thread sees it.  Any thread.
 */
void NsLoopWake(NsLoop *loopPtr);
void NsLoopStop(NsLoop *loopPtr);

/*
 * Whether it has turned since it was asked last, and ask again.
 */
bool NsLoopAsk(NsLoop *loopPtr);

static inline bool
NsLoopIsStopping(const NsLoop *loopPtr)
{
    return atomic_load_explicit(&loopPtr->isStopping, memory_order_acquire);
}

#endif
