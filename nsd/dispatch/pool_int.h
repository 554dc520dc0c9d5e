/* SPDX-License-Identifier: MPL-2.0
 * pool_int.h --
 *
 *      The insides of a pool, shared by the files of this room:
 *
 *      connthread.c    the life of a connection thread, and its slot
 *      grow.c          when threads are made, and what if none is to be had
 *      share.c         how much of the pool each client may have
 *      gate.c          how many requests of a kind may be in pools
 *      wake.c          threads that have work, until they begin with it
 *      pool.c          requests enter, wait, and leave; the protocol's core
 *      pool_stats.c    figures and lists
 *      pool_config.c   pools from the configuration, run-time settings
 *      pool_life.c     start and stop of a server's pools
 *      pool_check.c    what must hold of all this
 *
 *      Each uses those above it alone, and all of them the last.
 *
 *      Locks are taken in the order wqueue, tqueue, threads; a slot's lock is
 *      taken alone.
 */

#ifndef NSD_DISPATCH_POOL_INT_H
#define NSD_DISPATCH_POOL_INT_H

#include <semaphore.h>

#include "base/assert.h"
#include "base/histogram.h"
#include "base/lock.h"
#include "dispatch/pool.h"
#include "net/replygroup.h"

/*
 * The place where a thread is given work; outlives the thread and serves the
 * next one.  Never freed.
 */
typedef struct NsConnThread {
    NsPool              *poolPtr;     /* Constant. */
    int                  index;       /* Constant: place in the pool. */
    struct NsConnThread *nextSlotPtr; /* Constant: all slots of the pool. */

    struct NsConnThread *nextFreePtr; /* Free: guarded by threads; reserved:
                                       * by whoever starts the thread. */

    struct NsConnThread *upPtr; /* Guarded by tqueue: idle stack. */
    struct NsConnThread *downPtr;
    bool                 isIdle; /* On the stack. */

    struct NsConnThread *nextPendingPtr; /* Guarded by tqueue: see below. */
    bool                 isPending;

    /*
     * The hand-over.  Who took the thread off the stack sets workPtr or
     * mustEnd, then clears isAsleep, and posts if it was set; the thread sets
     * isAsleep, then looks once more.  The order matters on both sides, so all
     * of these are sequentially consistent.
     */
    _Atomic(NsWork *) workPtr; /* Assigned, not begun; written with tqueue
                                * locked. */
    atomic_bool mustEnd;
    atomic_bool isAsleep; /* The thread that clears it posts,
                           * unless it is the thread itself. */
    sem_t wakeup;

    /*
     * Others pin what runs: with the lock they set isLookedAt, look, pin, and
     * clear isLookedAt.  The thread clears runningPtr, then looks at
     * isLookedAt, and waits for the lock only if that is set.  Hence the order
     * matters.
     */
    _Atomic(NsWork *) runningPtr; /* The work that the thread runs; set by
                                   * it. */
    atomic_bool isLookedAt;
    Ns_Mutex    lock;

    /* Owned by the thread; set by its starter before that. */
    int  threadId;    /* N of its name. */
    int  nServed;     /* Requests; see connsPerThread. */
    bool tookWaiting; /* Its last work had waited, in the queue or with
                       * a pending thread. */
    bool isNew;       /* Counts as being created. */
    bool holdsPlace;  /* Its last work is still counted. */
    bool isUnfit;     /* Must not serve. */
} NsConnThread;

typedef struct NsWorkQueue {
    NsWork *firstPtr;
    NsWork *lastPtr;
} NsWorkQueue;

typedef enum {
    NS_SPAN_ACCEPT,
    NS_SPAN_QUEUE,
    NS_SPAN_FILTER,
    NS_SPAN_RUN,
    NS_SPAN_TRACE,
    NS_SPAN_COUNT
} NsSpan;

/*
 * Bytes of a body or reply: bucket i is of less than 64 * 4^i, the last one of
 * all that are larger.
 */
#define NS_SIZE_BUCKETS 14

typedef struct NsSizes {
    _Atomic uint64_t buckets[NS_SIZE_BUCKETS];
    _Atomic int64_t  sum;
} NsSizes;

/*
 * The first is of requests without a reply, the others of 100 to 599.
 */
#define NS_STATUS_FIRST 100
#define NS_STATUS_SLOTS 501

struct NsPool {
    /* Constant after creation. */
    const char *name;
    const char *section;  /* Of its parameters. */
    const char *lockArea; /* `nsd:NAME`, for its locks. */
    NsServer   *serverPtr;

    /* Settings: written with wqueue and tqueue locked, read by any thread; who
     * needs one twice reads it once. */
    _Atomic int     maxConnections;
    _Atomic int     connsPerThread; /* 0: no limit. */
    _Atomic NsStamp threadTimeout;
    _Atomic NsStamp patience;      /* 0: off. */
    _Atomic NsStamp queueTimeout;  /* 0: off. */
    _Atomic NsStamp skipAbandoned; /* 0: off. */
    _Atomic NsStamp maxRuntime;    /* 0: off. */
    _Atomic bool    cancelAbandoned;
    _Atomic bool    rejectOverrun;
    _Atomic NsStamp retryAfter;
    _Atomic int     maxStuck;
    _Atomic int     maxRunPerPeer;  /* 0: off. */
    _Atomic int     maxWaitPerPeer; /* 0: off. */

    _Atomic NsStamp shortestLimit; /* That some work has had of its own;
                                    * 0: none has. */
    atomic_bool isDraining;        /* It stops: nobody is kept outside. */

    struct NsShare *sharePtr; /* Constant. */

    Ns_Mutex    wqueue; /* Guards the two queues. */
    NsWorkQueue waiting;
    NsWorkQueue held; /* Found the pool full. */

    /*
     * Written with wqueue locked; risen above 0 only with tqueue locked as
     * well.  So whoever holds tqueue and reads 0 knows it stays 0.
     */
    atomic_int nWaiting;
    atomic_int nHeld;

    Ns_Mutex      tqueue; /* Guards the idle stack and: */
    NsConnThread *topPtr;
    int           nIdle;
    NsConnThread *firstPendingPtr; /* Threads that have work and are not woken
                                    * yet, oldest first. */
    NsConnThread *lastPendingPtr;
    int           nWaking; /* Threads that have work, are being woken, and
                            * have not begun. */
    NsStamp wakeStamp;     /* When the last of them was called. */
    int     nPlaces;       /* Requests running or waiting. */
    int     placeLimit;    /* Of nPlaces: maxConnections or, as long as
                            * there are more since it was lowered, so
                            * many. */
    int nCurrent;          /* Threads, those in creation
                            * included. */
    int     nCreating;
    NsStamp growStamp;  /* No thread is made before it; 0:
                         * the last one came. */
    NsStamp growPause;  /* From the last failure to it. */
    int     minThreads; /* These six are settings, too. */
    int     maxThreads;
    int     lowPercent;
    int     highPercent;
    int     rateKb;           /* kB/s; 0: no limit. */
    int     connectionRateKb; /* Likewise. */
    int     lowWater;         /* Requests; INT_MAX: rule off. */
    int     highWater;
    int     nStuck;          /* Threads that hang, at most maxStuck: these do
                              * not count against the limits.  Written by the
                              * watching thread alone. */
    bool    isOpen;          /* Between start and stop. */
    bool    isOverrun;       /* An episode has begun. */
    bool    isLate;          /* Likewise, of requests that wait too long. */
    NsStamp overrunStamp;    /* Since when, if isOverrun. */
    NsStamp overrunLogStamp; /* When one was last logged. */

    Ns_Mutex      threads;      /* Guards: */
    Ns_Cond       changed;      /* nAlive or a pin went down. */
    NsConnThread *firstSlotPtr; /* All; the list only grows. */
    NsConnThread *freeSlotPtr;
    int           nSlots;
    int           nAlive; /* Threads that have not ended. */
    int           nextThreadId;
    Ns_Thread     endedThread; /* Ended last, to be joined. */
    bool          hasEnded;    /* endedThread is set. */

    /* Counters: any thread, relaxed; nobody draws conclusions from two. */
    _Atomic uint64_t nRequests;
    _Atomic uint64_t nQueued;
    _Atomic uint64_t nOverruns; /* Held or rejected. */
    _Atomic uint64_t nDropped;
    _Atomic uint64_t nTimeouts; /* Waited too long: queuetimeout. */
    _Atomic uint64_t nAbandoned;
    _Atomic uint64_t nCancelled[NS_CANCEL_CAUSES];
    _Atomic uint64_t nUnfair; /* Of clients with too many: maxwaitperpeer. */
    _Atomic uint64_t nSpools;
    _Atomic uint64_t nThreadsMade;
    NsSizes          bodies;  /* Of requests that have one. */
    NsSizes          replies; /* As sent, with their heads. */
    NsHistogram     *histograms[NS_SPAN_COUNT];
    _Atomic uint64_t statuses[NS_STATUS_SLOTS]; /* By slot. */

    /* The rates above, as writers read them, relaxed; and what they count. */
    NsReplyGroup    replyGroup;
    _Atomic int64_t connectionRate; /* Bytes per second. */
};

/*
 * The pools of one server.
 */
struct NsPoolServer {
    NsPool         **pools; /* Constant; default pool first. */
    int              nPools;
    bool             isStarted; /* Main thread. */
    _Atomic uint64_t nextId;
};

/*
 * The queues.
 */
static inline void
NsWorkAppend(NsWorkQueue *queuePtr, NsWork *workPtr)
{
    workPtr->nextPtr = NULL;
    if (queuePtr->lastPtr != NULL) {
        NsAssert(queuePtr->lastPtr->nextPtr == NULL);
        queuePtr->lastPtr->nextPtr = workPtr;
    } else {
        queuePtr->firstPtr = workPtr;
    }
    queuePtr->lastPtr = workPtr;
}

static inline NsWork *
NsWorkRemoveFirst(NsWorkQueue *queuePtr)
{
    NsWork *workPtr = queuePtr->firstPtr;

    NsAssert(workPtr != NULL);
    queuePtr->firstPtr = workPtr->nextPtr;
    if (queuePtr->firstPtr == NULL) {
        NsAssert(queuePtr->lastPtr == workPtr);
        queuePtr->lastPtr = NULL;
    }
    return workPtr;
}

/*
 * Requests leave, or maxConnections has changed.  The limit is never below the
 * number of threads: an idle one means a free place.
 */
static inline void
NsPoolFreePlacesLocked(NsPool *poolPtr, int n)
{
    int max = poolPtr->maxConnections + poolPtr->nStuck;

    NsAssertLocked(&poolPtr->tqueue);
    NsAssert(n >= 0 && n <= poolPtr->nPlaces);

    poolPtr->nPlaces -= n;
    if (unlikely(poolPtr->placeLimit != max)) {
        poolPtr->placeLimit = MAX(max,
                                  MAX(poolPtr->nPlaces, poolPtr->nCurrent));
    }
}

/*
 * Threads that the pool may have.
 */
static inline int
NsPoolMaxThreadsLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);
    return poolPtr->maxThreads + poolPtr->nStuck;
}

/*
 * The full pool does not queue the work yet (1), or no longer leaves it (-1).
 */
static inline void
NsWorkCountHeld(const NsWork *workPtr, int change)
{
    if (workPtr->heldPtr != NULL) {
        atomic_fetch_add_explicit(workPtr->heldPtr, change,
                                  memory_order_relaxed);
    }
}

#endif
