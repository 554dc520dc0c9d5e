/* SPDX-License-Identifier: MPL-2.0
 * connthread_int.h --
 *
 *      The slot of a connection thread, for the files of this room.
 */

#ifndef NSD_DISPATCH_CONNTHREAD_INT_H
#define NSD_DISPATCH_CONNTHREAD_INT_H

#include "dispatch/connthread.h"
#include "dispatch/pool_int.h"

/*
 * Why a connection thread ends.
 */
typedef enum {
    NS_END_NONE,
    NS_END_IDLE,
    NS_END_LIMIT,
    NS_END_UNFIT,
    NS_END_SHUTDOWN
} NsEndReason;

/* The calls of a thread into its pool. */
typedef struct NsConnThreadProcs {
    /* Its next work; waits for it.  NULL: the thread has to end and is no
     * longer counted, *reasonPtr says why. */
    NsWork *(*takeProc)(NsConnThread *threadPtr, NsEndReason *reasonPtr);
    /* It cannot serve; it is no longer counted. */
    void (*failedProc)(NsConnThread *threadPtr);
} NsConnThreadProcs;

void NsConnThreadInit(const NsConnThreadProcs *procsPtr);

/* The procedures of the rooms to the right; constant after the start. */
extern NsPoolProcs nsPoolProcs;

/* A slot for a new thread, which is started when the locks are released. */
NsConnThread *NsConnThreadReserve(NsPool *poolPtr);
Ns_ReturnCode NsConnThreadStart(NsConnThread *threadPtr);

/* The thread was not made: its slot is free again. */
void NsConnThreadCancel(NsConnThread *threadPtr);

/* The thread has been given work: wake it, a moment later if the calling thread
 * has more to do. */
void NsConnThreadWake(NsConnThread *threadPtr);

/* For the thread that took this one off the idle stack: ask it to end. */
void NsConnThreadEnd(NsConnThread *threadPtr);

/* The thread itself: sleep until it is given work or has to end (NS_OK), or
 * until the timeout has passed (NS_TIMEOUT).  Either may be over by the time
 * that it locks tqueue: it may have been given work, or relieved of it. */
Ns_ReturnCode NsConnThreadWait(NsConnThread *threadPtr, NsStamp timeout);

/* Any thread: the first slot of the pool, others by nextSlotPtr; the list only
 * grows, at this end.  A slot may have no thread. */
NsConnThread *NsConnThreadFirst(NsPool *poolPtr);

/* Any thread: what the thread runs, kept from ending until NsPoolUnpin; NULL if
 * nothing. */
NsWork *NsConnThreadPin(NsConnThread *threadPtr);

/* The work may be gone when this returns, its pool never. */
void NsPoolUnpin(NsPool *poolPtr, NsWork *workPtr);

/* The name of the thread: by itself, or while what it runs is pinned. */
void NsConnThreadName(const NsConnThread *threadPtr, char *name, size_t size);

/* The work is in no list now: wait for threads that are just describing it. */
void NsPoolAwaitUnpinned(NsWork *workPtr);

/* The thread itself: workPtr runs from now on. */
void NsConnThreadSetRunning(NsConnThread *threadPtr, NsWork *workPtr);

/* Wait until all threads of a stopped pool have ended.  NS_TIMEOUT: the
 * deadline has passed first. */
Ns_ReturnCode NsConnThreadsWait(NsPool *poolPtr, const Ns_Time *deadlinePtr);

#endif
