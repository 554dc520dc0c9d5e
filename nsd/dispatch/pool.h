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

    /* Accept: the submitter.  Queue, dequeue: the pool.  Filter, end: the
     * thread that runs the work. */
    NsStamp acceptStamp;
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
 * thread (a 503 is due, with NsPoolRetryAfter).  NS_ERROR: the server is
 * stopping.  In both cases the work is still the caller's.
 */
Ns_ReturnCode NsPoolSubmit(NsPool *poolPtr, NsWork *workPtr);

/*
 * For this room: when it starts; take no more requests, and let the pool's
 * threads end when the queue is empty.
 */
void NsPoolInit(void);
void NsPoolStop(NsPool *poolPtr);

#endif
