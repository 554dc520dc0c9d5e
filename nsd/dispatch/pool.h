/* SPDX-License-Identifier: MPL-2.0
 * pool.h --
 *
 *      Pools of connection threads.
 *
 *      A request that finds an idle thread is put into that thread's own slot,
 *      and that thread alone is woken; the idle threads are a LIFO.  Only when
 *      none is idle does the request enter the wait queue.
 *
 *      A pool holds at most maxconnections requests, running or waiting.  What
 *      comes on top is refused (rejectoverrun), or held outside of the count,
 *      in order, until a request ends.
 */

#ifndef NSD_DISPATCH_POOL_H
#define NSD_DISPATCH_POOL_H

#include <stdatomic.h>

#include "base/clock.h"
#include "process/server.h"

typedef struct NsPool NsPool;
typedef struct NsGate NsGate;

/*
 * The unit of dispatch; embedded in the request and zeroed with it.
 */
typedef struct NsWork {
    struct NsWork *nextPtr;   /* Queues; guarded by the pool's wqueue lock. */
    NsPool        *poolPtr;   /* Set by NsPoolSubmit, NsPoolCountDirect. */
    uint64_t       id;        /* Per server, from 0; set with poolPtr. */
    bool           fromQueue; /* Went through the wait queue. */
    bool           isCounted; /* Its spans are in the sums. */
    atomic_int    *heldPtr;   /* Counts it while the full pool does not queue
                               * it; NULL: nobody counts. */
    atomic_int nPins;         /* Threads that describe the work just now. */

    _Atomic NsStamp timeLimit; /* Of its own; 0: the pool's. */

    bool        isLimited; /* It has a peer or a gate; set with these. */
    const char *peer;      /* The client, for NsPoolSubmit alone; NULL: the pool
                            * does not ask, see NsPoolAsksPeer. */
    NsGate               *gatePtr;   /* See gate.h; NULL: none. */
    bool                  hasPassed; /* It; guarded by its lock until then. */
    struct NsShareClient *clientPtr; /* Counts it; NULL: nobody does. */
    bool                  isShareRunning; /* Owned by whoever has the work. */

    /* Accept: the submitter.  Queue, dequeue: the pool.  Filter, end: the
     * thread that runs the work. */
    NsStamp acceptStamp;
    NsStamp heldStamp; /* It found the pool full then; else 0. */
    NsStamp queueStamp;
    NsStamp dequeueStamp;
    NsStamp filterStamp;
    NsStamp endStamp;   /* Reply finished or handed to a writer. */
    NsStamp traceStamp; /* Traces done. */
} NsWork;

/*
 * Hand over work; acceptStamp must be set.
 *
 * NS_OK: the pool owns it.  NS_TIMEOUT: the pool is full and rejects, or has no
 * thread, or too many wait for the gate (a 503 is due, with
 * NsPoolRetryAfter).  NS_FORBIDDEN: its client has
 * too many requests in the pool (429, likewise).  NS_ERROR: the server is
 * stopping.  In all these cases the work is still the caller's.
 */
Ns_ReturnCode NsPoolSubmit(NsPool *poolPtr, NsWork *workPtr);

/*
 * Whether the pool wants to know the clients of its works.
 */
bool NsPoolAsksPeer(const NsPool *poolPtr);

/*
 * The work's memory is about to be released, by the thread that runs it or that
 * refused it.  It leaves the lists, and others may enter the pool for it.
 */
void NsPoolRelease(NsWork *workPtr);

/*
 * How long the work may run, its traces included; 0: without limit.  The
 * default is the pool's.  The limit is set by the thread that runs it.
 */
void    NsWorkSetTimeLimit(NsWork *workPtr, NsStamp limit);
NsStamp NsWorkTimeLimit(const NsWork *workPtr);

/*
 * Whether work that a thread has just taken has waited so long that its client
 * may have left (skipabandoned); it was not run, because the client had.
 */
bool NsPoolIsStale(const NsWork *workPtr);
void NsPoolCountAbandoned(NsPool *poolPtr);

/*
 * For how long the pool has had no thread for what has come; 0: it has, or had
 * one since it was full.
 */
NsStamp NsPoolFullFor(NsPool *poolPtr);

/*
 * A request that ran was told to end, and why.
 */
typedef enum {
    NS_CANCEL_COMMAND, /* Somebody has asked for it. */
    NS_CANCEL_TIME,    /* It has run for too long. */
    NS_CANCEL_CLIENT,  /* Its client has left. */
    NS_CANCEL_CAUSES
} NsCancelCause;

void NsPoolCountCancelled(const NsWork *workPtr, NsCancelCause cause);

/*
 * Works that a gate lets into their pools (see NsGateSetLimits).  With no lock
 * held.
 */
void NsPoolAdmit(NsWork *listPtr);

/*
 * For this room: maxconnections has changed; with wqueue and tqueue locked.
 */
void NsPoolFillPlaces(NsPool *poolPtr);

/*
 * For this room: a limit for each client has changed; with no lock held.
 */
void NsPoolFillShares(NsPool *poolPtr);

/*
 * For this room: when it starts; take no more requests, and let the pool's
 * threads end when the queue is empty.
 */
void NsPoolInit(void);
void NsPoolStop(NsPool *poolPtr);

#endif
