/*
 * pool.h --
 *
 *      Pools of connection threads.
 *
 *      A request that finds an idle thread is put into that thread's own slot,
 *      and that thread alone is woken; the idle threads are a LIFO.  Only when
 *      none is idle does the request enter the wait queue.
 */

#ifndef NSD_DISPATCH_POOL_H
#define NSD_DISPATCH_POOL_H

#include "base/clock.h"
#include "process/server.h"

typedef struct NsPool NsPool;

/*
 * What is dispatched; embedded in the request.
 */
typedef struct NsWork {
    struct NsWork *nextPtr;     /* Queues; guarded by the pool's wqueue lock. */
    NsPool        *poolPtr;     /* Set by NsPoolSubmit. */
    uint64_t       id;          /* Per server, from 0; set by NsPoolSubmit. */
    bool           fromQueue;   /* Went through the wait queue. */

    /* Accept: the submitter.  Queue, dequeue: the pool.  Filter, end: the
     * thread that runs the work. */
    NsStamp        acceptStamp;
    NsStamp        queueStamp;
    NsStamp        dequeueStamp;
    NsStamp        filterStamp;
    NsStamp        endStamp;    /* Reply finished or handed to a writer. */
    NsStamp        traceStamp;  /* Traces done. */
} NsWork;

/*
 * What the rooms to the right do with work.  Set once, before any pool starts.
 */
typedef struct NsPoolProcs {
    /* A connection thread starts, before it serves anything, and ends. */
    void (*startProc)(NsServer *serverPtr);
    void (*stopProc)(NsServer *serverPtr);
    /* Serve; the work and its memory are gone when this returns. */
    void (*runProc)(NsWork *workPtr);
    /* Append {cnsN PEER running|queued METHOD URL ELAPSED BYTES}.  Called with
     * the work kept from ending. */
    void (*describeProc)(Ns_DString *dsPtr, NsWork *workPtr, const char *state);
} NsPoolProcs;

void NsPoolSetProcs(const NsPoolProcs *procsPtr);

/*
 * Read the pools of a server from the configuration.
 */
void NsPoolsInit(NsServer *serverPtr);

/*
 * The pool of that name, "" being the default one; NULL if there is none.
 */
NsPool *NsPoolFind(NsServer *serverPtr, const char *name);
const char *NsPoolName(const NsPool *poolPtr);

/*
 * Hand over work; acceptStamp must be set.
 *
 * NS_OK: the pool owns it.  NS_TIMEOUT: the pool is full and rejects (a 503 is
 * due).  NS_ERROR: the server is stopping.  In both cases the work is still the
 * caller's.
 */
Ns_ReturnCode NsPoolSubmit(NsPool *poolPtr, NsWork *workPtr);

/*
 * Work that a driver thread did itself: counted in the pool's figures as served
 * without waiting.
 */
void NsPoolCountDirect(NsPool *poolPtr, const NsWork *workPtr);

/*
 * Add the spans of workPtr, whose endStamp is set, to sums and histograms; once
 * per request.  The trace time is added when traceStamp is set later.
 */
void NsPoolCountSpans(NsWork *workPtr);
void NsPoolCountTrace(NsWork *workPtr);

/*
 * A reply of this pool was handed to a writer thread; bytes were sent.
 */
void NsPoolCountSpool(NsPool *poolPtr);
void NsPoolCountSent(NsPool *poolPtr, int64_t bytes);

/*
 * Start minthreads threads in each pool of the server; begin to stop; wait until
 * all are gone (NS_OK) or the deadline, an absolute time, has passed
 * (NS_TIMEOUT).
 */
void NsPoolsStart(NsServer *serverPtr);
void NsPoolsStop(NsServer *serverPtr);
Ns_ReturnCode NsPoolsWait(NsServer *serverPtr, const Ns_Time *deadlinePtr);

/*
 * The work that the calling thread runs; NULL if none.
 */
NsWork *NsPoolCurrentWork(void);

#endif
