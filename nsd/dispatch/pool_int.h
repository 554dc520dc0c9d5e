/*
 * pool_int.h --
 *
 *      The insides of a pool, shared by the files of this room.
 *
 *      pool.c          requests enter, wait, and leave; the protocol's core
 *      pool_config.c   pools from the configuration, run-time settings
 *      shortage.c      threads that could not be made
 *      pool_life.c     start and stop of a server's pools
 *      connthread.c    the life of a connection thread
 *      patience.c      the thread that watches waiting requests
 *      pool_stats.c    figures and lists
 *      pool_check.c    what must hold of all this
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

/*
 * The place where a thread is given work; outlives the thread and serves the
 * next one.  Never freed.
 */
typedef struct NsConnThread {
    NsPool              *poolPtr;       /* Constant. */
    int                  index;         /* Constant: place in the pool. */
    struct NsConnThread *nextSlotPtr;   /* Constant: all slots of the pool. */

    struct NsConnThread *nextFreePtr;   /* Guarded by threads. */

    struct NsConnThread *upPtr;         /* Guarded by tqueue: idle stack. */
    struct NsConnThread *downPtr;
    bool                 isIdle;        /* On the stack. */

    /*
     * The hand-over.  Who took the thread off the stack sets workPtr or
     * mustEnd, then clears isAsleep, and posts if it was set; the thread sets
     * isAsleep, then looks once more.  The order matters on both sides, so all
     * of these are sequentially consistent.
     */
    _Atomic(NsWork *)    workPtr;       /* Assigned, not yet taken. */
    atomic_bool          mustEnd;
    atomic_bool          isAsleep;      /* Whoever clears it, if it is not the
                                         * thread, posts. */
    sem_t                wakeup;

    /*
     * Others pin what runs: with the lock they set isLookedAt, look, pin, and
     * clear isLookedAt.  The thread clears runningPtr, then looks at isLookedAt,
     * and waits for the lock only if that is set.  Hence the order matters.
     */
    _Atomic(NsWork *)    runningPtr;    /* What the thread runs; set by it. */
    atomic_bool          isLookedAt;
    Ns_Mutex             lock;

    /* Owned by the thread; set by its starter before that. */
    int                  threadId;      /* N of its name. */
    int                  nLeft;         /* Requests until it is replaced. */
    bool                 tookWaiting;   /* Its last work was in the queue. */
    bool                 isNew;         /* Counts as being created. */
    bool                 holdsPlace;    /* Its last work is still counted. */
    bool                 isUnfit;       /* Must not serve any more. */
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

struct NsPool {
    /* Constant after creation. */
    const char          *name;
    NsServer            *serverPtr;
    int                  maxConnections;
    int                  connsPerThread;    /* 0: no limit. */
    NsStamp              threadTimeout;
    NsStamp              patience;          /* 0: off. */
    bool                 rejectOverrun;
    NsStamp              retryAfter;

    Ns_Mutex             wqueue;            /* Guards the two queues. */
    NsWorkQueue          waiting;
    NsWorkQueue          held;              /* Found the pool full. */

    /*
     * Written with wqueue locked; risen above 0 only with tqueue locked as
     * well.  So whoever holds tqueue and reads 0 knows it stays 0.
     */
    atomic_int           nWaiting;
    atomic_int           nHeld;

    Ns_Mutex             tqueue;            /* Guards the idle stack and: */
    NsConnThread        *topPtr;
    int                  nIdle;
    int                  nPlaces;           /* Requests running or waiting. */
    int                  nCurrent;          /* Threads, those in creation
                                             * included. */
    int                  nCreating;
    NsStamp              growStamp;         /* No thread is made before it; 0:
                                             * the last one came. */
    NsStamp              growPause;         /* From the last failure to it. */
    int                  minThreads;
    int                  maxThreads;
    int                  lowPercent;
    int                  highPercent;
    int                  rateKb;            /* kB/s; 0: no limit. */
    int                  connectionRateKb;  /* Likewise. */
    int                  lowWater;          /* Requests; INT_MAX: rule off. */
    int                  highWater;
    bool                 isOpen;            /* Between start and stop. */
    bool                 isOverrun;         /* An episode has begun. */
    NsStamp              overrunLogStamp;   /* When one was last logged. */

    Ns_Mutex             threads;           /* Guards: */
    Ns_Cond              changed;           /* nAlive or a pin went down. */
    NsConnThread        *firstSlotPtr;      /* All; the list only grows. */
    NsConnThread        *freeSlotPtr;
    int                  nSlots;
    int                  nAlive;            /* Threads that have not ended. */
    int                  nextThreadId;
    Ns_Thread            endedThread;       /* Ended last, to be joined. */
    bool                 hasEnded;          /* endedThread is set. */

    /* Counters: any thread, relaxed; nobody draws conclusions from two. */
    _Atomic uint64_t     nRequests;
    _Atomic uint64_t     nQueued;
    _Atomic uint64_t     nOverruns;         /* Held or rejected. */
    _Atomic uint64_t     nDropped;
    _Atomic uint64_t     nSpools;
    _Atomic uint64_t     nThreadsMade;
    _Atomic int64_t      nBytesSent;
    NsHistogram         *histograms[NS_SPAN_COUNT];

    /* What writers obey of the rates above; relaxed. */
    NsRate               rate;
    _Atomic int64_t      connectionRate;    /* Bytes per second. */
};

/*
 * The pools of one server.
 */
struct NsPoolServer {
    NsPool          **pools;                /* Constant; default pool first. */
    int               nPools;
    bool              isStarted;            /* Main thread. */
    _Atomic uint64_t  nextId;
};

/*
 * A decision to make one more thread, with the figures it was made on.
 */
typedef struct NsGrowth {
    NsConnThread *threadPtr;    /* NULL: no. */
    int           nWaiting;
    int           nIdle;
    int           nCurrent;     /* Without the new one. */
} NsGrowth;

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

/*
 * pool.c
 */

/* The next work of the calling thread; waits for it.  NULL: the thread has to
 * end and is no longer counted, *reasonPtr says why. */
NsWork *NsPoolTake(NsConnThread *threadPtr, NsEndReason *reasonPtr);

/* Make threads outside of a submission: below minthreads, after a thread has
 * ended or a setting has changed, and for nLate late requests.  Any thread, with
 * no lock held.  When to try again, if there was none to be had; else 0. */
NsStamp NsPoolCheckSize(NsPool *poolPtr, int nLate);

/* Open the pool, with minthreads threads from the beginning; take no more
 * requests, and let the threads end when nothing waits any more. */
void NsPoolStart(NsPool *poolPtr);
void NsPoolStop(NsPool *poolPtr);

/*
 * shortage.c
 */

/* A thread that was reserved does not come to serve; it is no longer counted.
 * With no lock held. */
void NsPoolThreadFailed(NsConnThread *threadPtr);

/* Likewise; the thread that it was to replace keeps the place. */
void NsPoolSuccessorFailed(NsConnThread *successorPtr);

/* No thread is to be made at present. */
bool NsPoolIsBarredLocked(const NsPool *poolPtr);

/* If the pool has no thread: all that waits for one, off its queues, to be
 * refused when the locks are released. */
NsWork *NsPoolTakeHopelessLocked(NsPool *poolPtr);
void    NsPoolRefuse(NsWork *listPtr);

/*
 * pool_config.c
 */
extern NsPoolProcs nsPoolProcs;         /* Constant after the start. */
void NsPoolLockSetup(const NsPool *poolPtr, Ns_Mutex *lockPtr, NsLockRank rank,
                     const char *name);

/*
 * pool_stats.c
 */

/* The work may be gone when this returns, its pool never. */
void NsPoolUnpin(NsPool *poolPtr, NsWork *workPtr);

/*
 * pool_check.c: walks, for NsCheck.
 */
bool NsPoolIdleIsSoundLocked(const NsPool *poolPtr);
bool NsPoolQueuesAreSoundLocked(const NsPool *poolPtr);

/*
 * At the end of each section that changed the pool: with tqueue locked, with
 * wqueue locked, with both.
 */
static inline void
NsPoolCheckLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->tqueue);
    if (poolPtr->nIdle > 0) {
        NsAssert(poolPtr->topPtr != NULL && poolPtr->isOpen);
        NsAssert(poolPtr->nWaiting == 0 && poolPtr->nHeld == 0);
    } else {
        NsAssert(poolPtr->nIdle == 0 && poolPtr->topPtr == NULL);
    }
    NsAssert(poolPtr->nCreating >= 0
             && poolPtr->nIdle + poolPtr->nCreating <= poolPtr->nCurrent);
    NsAssert(poolPtr->nWaiting <= poolPtr->nPlaces
             && poolPtr->nPlaces <= poolPtr->maxConnections);
    NsCheck(NsPoolIdleIsSoundLocked(poolPtr));
}

static inline void
NsPoolCheckQueuesLocked(const NsPool *poolPtr)
{
    NsAssertLocked(&poolPtr->wqueue);
    NsAssert((poolPtr->nWaiting == 0) == (poolPtr->waiting.firstPtr == NULL));
    NsAssert((poolPtr->nHeld == 0) == (poolPtr->held.firstPtr == NULL));
    NsCheck(NsPoolQueuesAreSoundLocked(poolPtr));
}

static inline void
NsPoolCheckBothLocked(const NsPool *poolPtr)
{
    NsPoolCheckQueuesLocked(poolPtr);
    NsAssert(poolPtr->nHeld == 0
             || poolPtr->nPlaces == poolPtr->maxConnections);
    NsPoolCheckLocked(poolPtr);
}

/*
 * connthread.c
 */
#define NS_NO_TIMEOUT INT64_MAX
void NsConnThreadInit(void);

/* A slot for a new thread, which is started when the locks are released. */
NsConnThread *NsConnThreadReserve(NsPool *poolPtr);
Ns_ReturnCode NsConnThreadStart(NsConnThread *threadPtr);

/* The thread was not made: its slot is free again. */
void NsConnThreadCancel(NsConnThread *threadPtr);

/* For whoever took the thread off the idle stack: give it work, or tell it to
 * end. */
void NsConnThreadGive(NsConnThread *threadPtr, NsWork *workPtr);
void NsConnThreadEnd(NsConnThread *threadPtr);

/* The thread itself: wait for work, which runs from now on; NULL: it has to end,
 * or so much time has passed. */
NsWork *NsConnThreadWait(NsConnThread *threadPtr, NsStamp timeout,
                         bool *mustEndPtr);

/* Any thread: what the thread runs, kept from ending until NsPoolUnpin; NULL if
 * nothing. */
NsWork *NsConnThreadPin(NsConnThread *threadPtr);

/* The name of the thread: by itself, or while what it runs is pinned. */
void NsConnThreadName(const NsConnThread *threadPtr, char *name, size_t size);

/* The work is in no list any more: wait for those who are just describing it. */
void NsPoolAwaitUnpinned(NsWork *workPtr);

/* The thread itself: workPtr runs from now on. */
void NsConnThreadSetRunning(NsConnThread *threadPtr, NsWork *workPtr);

/* Wait until all threads of a stopped pool have ended.  NS_TIMEOUT: the deadline
 * has passed first. */
Ns_ReturnCode NsConnThreadsWait(NsPool *poolPtr, const Ns_Time *deadlinePtr);

/*
 * patience.c
 */
void NsPatienceInit(void);
void NsPatienceAdd(NsPool *poolPtr);    /* During configuration. */

/* A server begins, ends to need the thread. */
void NsPatienceStart(void);
void NsPatienceStop(void);

/* A request waits since that time: the thread looks in time, or is told to. */
void NsPatienceWatch(NsPool *poolPtr, NsStamp queueStamp);

#endif
