/* SPDX-License-Identifier: MPL-2.0
 * lock.h --
 *
 *      The one table of locks: rank, and what each guards.
 *
 *      A thread takes locks in rising rank only, so no two threads can wait for
 *      each other.  Mutexes, read/write locks and critical sections share the
 *      table; a semaphore is waited for with no ranked lock held.  Every build
 *      stops at a reversed order, at a lock taken twice, and at one that is
 *      released by a thread that does not hold it.
 *
 *      Rooms further to the right have lower ranks: they call to the left while
 *      holding a lock of their own.  Locks of one rank are never held
 *      together.  Locks of modules and scripts have no rank, so their order is
 *      not checked.
 */

#ifndef NSD_BASE_LOCK_H
#define NSD_BASE_LOCK_H

#include <stdatomic.h>

#include "nsthread.h"
#include "base/clock.h"
#include "base/lazy.h"

typedef enum {
    NS_RANK_NONE = 0,

    NS_RANK_TCL_INIT = 50, /* An interpreter is made; scripts run. */

    /* adp */
    NS_RANK_ADP_PAGES = 100, /* Parsed pages of a server. */
    NS_RANK_ADP_TAGS = 110,  /* Registered tags of a server. */

    /* tcl */
    NS_RANK_TCL_BLUEPRINT = 200, /* Init script, epoch, traces. */
    NS_RANK_TCL_OBJECTS = 210,   /* Locks of scripts, by name. */
    NS_RANK_TCL_CACHES = 220,    /* The table of script caches. */
    NS_RANK_TCL_JOBS = 230,      /* Job queues and jobs. */
    NS_RANK_TCL_NSV = 240,       /* One bucket of shared arrays. */
    NS_RANK_TCL_RUNONCE = 250,   /* Scripts already run. */
    NS_RANK_TCL_MISC = 260,      /* Small tables of single commands. */
    NS_RANK_TCL_PERSERVER = 270, /* Data of a server are made. */

    /* request */
    NS_RANK_FILTERS = 300,      /* Filters and traces of a server. */
    NS_RANK_URLSPACE = 310,     /* URL trees of a server. */
    NS_RANK_FASTPATH = 320,     /* Files in memory. */
    NS_RANK_LIMITS = 330,       /* Limits of connections. */
    NS_RANK_SLOWEST = 335,      /* Slow requests, and those that failed. */
    NS_RANK_ROUTES = 337,       /* Routes of a server. */
    NS_RANK_CONN_PROFILE = 340, /* Counts of a profiling build. */

    /* dispatch */
    NS_RANK_PATIENCE = 400,     /* Pools whose requests are watched. */
    NS_RANK_POOL_SHARE = 405,   /* Clients of a pool. */
    NS_RANK_GATE = 407,         /* Requests under a limit. */
    NS_RANK_POOL_WQUEUE = 410,  /* Wait queue of a pool. */
    NS_RANK_POOL_TQUEUE = 420,  /* Idle threads of a pool. */
    NS_RANK_POOL_THREADS = 430, /* Counters of a pool. */
    NS_RANK_POOL_THREAD = 440,  /* The work that a thread runs. */

    /* net */
    NS_RANK_DRIVERS = 500,      /* Driver threads that may hand over. */
    NS_RANK_HTTP_QUEUE = 510,   /* The queues of ns_http are made. */
    NS_RANK_HTTP_KEPT = 515,    /* Kept for ns_http. */
    NS_RANK_WRITER = 520,       /* Jobs of a writer thread. */
    NS_RANK_STREAMS = 525,      /* News of the streams of HTTP/2. */
    NS_RANK_SOCKCALLBACK = 540, /* Sockets with callbacks. */
    NS_RANK_TASK = 550,         /* Task queues. */
    NS_RANK_PROGRESS = 570,     /* How far uploads are. */

    /* process */
    NS_RANK_SCHED = 600,        /* Scheduled procedures. */
    NS_RANK_CALLBACKS = 610,    /* At-startup ... at-exit callbacks. */
    NS_RANK_CONFIG = 620,       /* Configuration store. */
    NS_RANK_PROCESS_MISC = 630, /* Small tables of single files. */

    /* log */
    NS_RANK_LOG_LINEFILES = 695,  /* Log files of scripts' own. */
    NS_RANK_LOG_SINKS = 700,      /* Table of streams and sinks. */
    NS_RANK_LOG_FILTERS = 710,    /* Log filters. */
    NS_RANK_LOG_FILE = 720,       /* A sink, for whose turn it is. */
    NS_RANK_LOG_STREAMS = 721,    /* Growth of the table of streams. */
    NS_RANK_LOG_COMMON = 722,     /* Lanes that threads share. */
    NS_RANK_LOG_BACKUPS = 723,    /* Backups are being renamed. */
    NS_RANK_LOG_SEGMENTS = 730,   /* Lanes: who has them, which are free. */
    NS_RANK_LOG_LENT = 732,       /* A sink's places are lent. */
    NS_RANK_LOG_LEFTOVERS = 734,  /* Records of earlier processes. */
    NS_RANK_LOG_CHAINS = 735,     /* First segments of lanes. */
    NS_RANK_LOG_MAPPINGS = 736,   /* Which mappings are open. */
    NS_RANK_LOG_WAKE = 740,       /* A sink's requests; waiting for memory;
                                   * the bound; backups to be compressed. */
    NS_RANK_LOG_WORKERS = 745,    /* Which sinks are due, and who waits. */
    NS_RANK_LOG_SEVERITIES = 750, /* Growth of the table of severities. */

    /* base */
    NS_RANK_PROCINFO = 800,   /* Descriptions of threads and callbacks. */
    NS_RANK_CACHE = 810,      /* An Ns_Cache; locked by its user. */
    NS_RANK_THREADS = 820,    /* List of threads. */
    NS_RANK_FILE_WATCH = 830, /* Inodes that the kernel watches. */
    NS_RANK_LEAF = 900        /* Held for a few instructions. */
} NsLockRank;

/*
 * Name a lock `a:b` for statistics (b may be NULL) and give it its rank.
 */
void NsMutexSetup(Ns_Mutex *mutexPtr, NsLockRank rank, const char *a,
                  const char *b);
void NsRWLockSetup(Ns_RWLock *rwPtr, NsLockRank rank, const char *a,
                   const char *b);
void NsCsSetup(Ns_Cs *csPtr, NsLockRank rank, const char *a, const char *b);

/*
 * Enter, or lock, if that needs no wait: NS_OK, or NS_TIMEOUT.
 */
Ns_ReturnCode NsCsTry(Ns_Cs *csPtr);
Ns_ReturnCode NsRWLockTry(Ns_RWLock *rwPtr, bool isWrite);

/*
 * Ns_CondTimedWait with a deadline on the monotonic clock.  NS_OK: woken, maybe
 * for no reason; NS_TIMEOUT: the deadline has passed.
 */
int NsCondWaitUntil(Ns_Cond *condPtr, Ns_Mutex *mutexPtr, NsStamp deadline);

/*
 * Ns_CondTimedWait, NsCondWaitUntil and Ns_SemaWait that other threads can end,
 * or call from (interrupt.h): NS_TIMEOUT; NS_OK, for no reason.  All that wait
 * for the condition may wake then.  The mutex is released while the thread
 * is called.
 */
int NsCondWaitEndable(Ns_Cond *condPtr, Ns_Mutex *mutexPtr, Ns_Time *timePtr);
int NsCondWaitUntilEndable(Ns_Cond *condPtr, Ns_Mutex *mutexPtr,
                           NsStamp deadline);
Ns_ReturnCode NsSemaWaitEndable(Ns_Sema *semaPtr);

/*
 * Every lock begins with it: the thread that holds it alone, or NULL.  Written
 * by the holder; no other thread writes the address of the thread that asks, so
 * relaxed order is enough.
 */
typedef struct NsLockHolder {
    const void *_Atomic threadPtr;
} NsLockHolder;

static inline bool
NsLockHolderIsMe(const NsLockHolder *holderPtr)
{
    return atomic_load_explicit(&holderPtr->threadPtr, memory_order_relaxed)
        == __builtin_thread_pointer();
}

/*
 * Whether the calling thread holds the mutex.
 */
static inline bool
NsMutexIsMine(const Ns_Mutex *mutexPtr)
{
    const NsLockHolder *holderPtr = NsLazyPeek(mutexPtr);

    return likely(holderPtr != NULL) && NsLockHolderIsMe(holderPtr);
}

void NsMutexNotHeld(const Ns_Mutex *mutexPtr, const char *file,
                    int line) NS_GNUC_NORETURN __attribute__((cold));

static inline void
NsMutexAssertHeld(const Ns_Mutex *mutexPtr, const char *file, int line)
{
    if (unlikely(!NsMutexIsMine(mutexPtr))) {
        NsMutexNotHeld(mutexPtr, file, line);
    }
}

void NsRWLockAssertWriter(Ns_RWLock *rwPtr, const char *file, int line);
void NsLocksAssertNone(const char *file, int line);

/*
 * Stop unless the calling thread holds the lock; unless it holds it for
 * writing; unless it holds no ranked lock.
 */
#define NsAssertLocked(mutexPtr) \
    NsMutexAssertHeld((mutexPtr), __FILE__, __LINE__)
#define NsAssertWriteLocked(rwPtr) \
    NsRWLockAssertWriter((rwPtr), __FILE__, __LINE__)
#define NsAssertNoneLocked() NsLocksAssertNone(__FILE__, __LINE__)

#endif
