/*
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
#include "net/rate.h"
#include "process/server.h"

typedef struct NsPool NsPool;

/*
 * The unit of dispatch; embedded in the request and zeroed with it.
 */
typedef struct NsWork {
    struct NsWork *nextPtr;     /* Queues; guarded by the pool's wqueue lock. */
    NsPool        *poolPtr;     /* Set by NsPoolSubmit, NsPoolCountDirect. */
    uint64_t       id;          /* Per server, from 0; set with poolPtr. */
    bool           fromQueue;   /* Went through the wait queue. */
    bool           isCounted;   /* Its spans are in the sums. */
    atomic_int     nPins;       /* Threads that describe the work just now. */

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
     * gives up the memory it calls NsPoolWithdraw.
     */
    void (*runProc)(NsWork *workPtr);
    /*
     * The pool has no thread, and gets none now: answer 503.  Called by any
     * thread; the work and its memory are gone when this returns.
     */
    void (*refuseProc)(NsWork *workPtr);
    /*
     * Append {cnsN PEER running|queued METHOD URL ELAPSED BYTES} as one list
     * element; isForwarded: PEER is what a proxy says it is.  Called by any
     * thread, while the work is kept from ending but may be running.
     */
    void (*describeProc)(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
                         bool isForwarded);
} NsPoolProcs;

void NsPoolSetProcs(const NsPoolProcs *procsPtr);

/*
 * Read the pools of a server from the configuration.
 */
void NsPoolsInit(NsServer *serverPtr);

/*
 * The pool of that name, "" being the default one; NULL if there is none.  The
 * i-th pool of a server in order of definition, the default pool being the
 * first; NULL behind the last.
 */
NsPool *NsPoolFind(NsServer *serverPtr, const char *name);
NsPool *NsPoolAt(NsServer *serverPtr, int i);
const char *NsPoolName(const NsPool *poolPtr);

/*
 * Hand over work; acceptStamp must be set.
 *
 * NS_OK: the pool owns it.  NS_TIMEOUT: the pool is full and rejects, or has no
 * thread (a 503 is due, with NsPoolRetryAfter).  NS_ERROR: the server is stopping.  In both
 * cases the work is still the caller's.
 */
Ns_ReturnCode NsPoolSubmit(NsPool *poolPtr, NsWork *workPtr);

/*
 * Seconds for the Retry-After field of a rejection.
 */
int NsPoolRetryAfter(const NsPool *poolPtr);

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

/*
 * A request that a driver thread answers itself: gets poolPtr, id, queueStamp
 * and dequeueStamp, and counts as accepted without waiting.  Its spans are
 * counted by NsPoolCountSpans as those of others.
 */
void NsPoolCountDirect(NsPool *poolPtr, NsWork *workPtr);

/*
 * Add the spans of workPtr, whose endStamp is set, to sums and histograms; once
 * per request, later calls do nothing.  The trace time is added when traceStamp
 * is set.
 */
void NsPoolCountSpans(NsWork *workPtr);
void NsPoolCountTrace(NsWork *workPtr);

/*
 * A reply of this pool was handed to a writer thread; bytes were sent.
 */
void NsPoolCountSpool(NsPool *poolPtr);
void NsPoolCountSent(NsPool *poolPtr, int64_t bytes);

/*
 * Start minthreads threads in each pool of the server; begin to stop; wait
 * until all are gone (NS_OK) or the deadline, an absolute time, has passed
 * (NS_TIMEOUT).  Stop and Wait log what they do.
 */
void NsPoolsStart(NsServer *serverPtr);
void NsPoolsStop(NsServer *serverPtr);
Ns_ReturnCode NsPoolsWait(NsServer *serverPtr, const Ns_Time *deadlinePtr);

/*
 * The limits of throughput for writers: of all replies of the pool, and bytes
 * per second of each.
 */
NsRate *NsPoolRate(NsPool *poolPtr);
int64_t NsPoolConnectionRate(const NsPool *poolPtr);

/*
 * Settings that can change while the pool runs.  NsPoolSet returns NS_ERROR for
 * a value out of range; nothing changes then.
 */
typedef enum {
    NS_POOL_MINTHREADS,         /* 1 .. maxthreads */
    NS_POOL_MAXTHREADS,         /* minthreads .. maxconnections */
    NS_POOL_LOWWATERMARK,       /* 0 .. 100, percent */
    NS_POOL_HIGHWATERMARK,      /* Likewise. */
    NS_POOL_RATELIMIT,          /* kB/s of all replies together; 0: none. */
    NS_POOL_CONNECTIONRATELIMIT /* kB/s of each; 0: none. */
} NsPoolSetting;

int NsPoolGet(NsPool *poolPtr, NsPoolSetting setting);
Ns_ReturnCode NsPoolSet(NsPool *poolPtr, NsPoolSetting setting, int value);

/*
 * What NsPoolList lists.
 */
#define NS_POOL_LIST_RUNNING   0x01u
#define NS_POOL_LIST_WAITING   0x02u
#define NS_POOL_LIST_FORWARDED 0x04u    /* Clients as proxies name them. */

/*
 * Facts, appended as Tcl lists.  NsPoolList: what runs, then what waits.
 * NsPoolStats: the eight keys, or the long form.  NsPoolHistogram: one dict per
 * span, of the pool, or of all pools of the server when poolPtr is NULL.
 * NsPoolBuckets: likewise, but the count and sum of each span, and for each of
 * some fixed bounds how many did not exceed it (to 3 %).
 */
void NsPoolNames(Ns_DString *dsPtr, NsServer *serverPtr);
void NsPoolList(Ns_DString *dsPtr, NsPool *poolPtr, unsigned flags);
void NsPoolStats(Ns_DString *dsPtr, NsPool *poolPtr, bool isLong);
void NsPoolThreads(Ns_DString *dsPtr, NsPool *poolPtr);
void NsPoolHistogram(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr);
void NsPoolBuckets(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr);

/*
 * Requests accepted so far; length of the wait queue (held requests are not in
 * it).
 */
uint64_t NsPoolRequests(const NsPool *poolPtr);
int NsPoolWaiting(const NsPool *poolPtr);

/*
 * For this room: when it starts; take no more requests, and let the pool's
 * threads end when the queue is empty.
 */
void NsPoolInit(void);
void NsPoolStop(NsPool *poolPtr);

#endif
