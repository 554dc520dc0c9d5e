/*
 * lock.h --
 *
 *      The one table of locks: rank, and what each guards.
 *
 *      A thread takes locks in rising rank only, so no two threads can wait for
 *      each other.  Debug builds (--enable-debug) stop on a reversed order.
 *      Rooms further to the right have lower ranks: they call to the left while
 *      holding a lock of their own.  Ns_Mutex objects of modules and scripts
 *      have no rank and are not checked.
 */

#ifndef NSD_BASE_LOCK_H
#define NSD_BASE_LOCK_H

#include "nsthread.h"
#include "base/clock.h"

typedef enum {
    NS_RANK_NONE = 0,

    /* adp */
    NS_RANK_ADP_PAGES       = 100,  /* Parsed pages of a server. */
    NS_RANK_ADP_TAGS        = 110,  /* Registered tags of a server. */

    /* tcl */
    NS_RANK_TCL_BLUEPRINT   = 200,  /* Init script, epoch, traces. */
    NS_RANK_TCL_OBJECTS     = 210,  /* Locks of scripts, by name. */
    NS_RANK_TCL_CACHES      = 220,  /* The table of script caches. */
    NS_RANK_TCL_JOBS        = 230,  /* Job queues and jobs. */
    NS_RANK_TCL_NSV         = 240,  /* One bucket of shared arrays. */
    NS_RANK_TCL_RUNONCE     = 250,  /* Scripts already run. */
    NS_RANK_TCL_MISC        = 260,  /* Small tables of single commands. */

    /* request */
    NS_RANK_FILTERS         = 300,  /* Filters and traces of a server. */
    NS_RANK_URLSPACE        = 310,  /* URL tree of a server. */
    NS_RANK_FASTPATH        = 320,  /* Files in memory. */
    NS_RANK_REQUEST_MISC    = 330,

    /* dispatch */
    NS_RANK_POOL_SERVERS    = 400,  /* Table of pools. */
    NS_RANK_POOL_WQUEUE     = 410,  /* Wait queue of a pool. */
    NS_RANK_POOL_TQUEUE     = 420,  /* Idle threads of a pool. */
    NS_RANK_POOL_THREADS    = 430,  /* Counters of a pool. */
    NS_RANK_POOL_THREAD     = 440,  /* What one thread runs. */

    /* net */
    NS_RANK_DRIVERS         = 500,  /* Driver threads that may hand over. */
    NS_RANK_WRITER          = 520,  /* Jobs of a writer thread. */
    NS_RANK_SPOOLER         = 530,
    NS_RANK_SOCKCALLBACK    = 540,
    NS_RANK_TASK            = 550,
    NS_RANK_DNS             = 560,
    NS_RANK_MESSAGES        = 570,  /* Free messages. */

    /* process */
    NS_RANK_SCHED           = 600,  /* Scheduled procedures. */
    NS_RANK_CALLBACKS       = 610,  /* At-startup ... at-exit callbacks. */
    NS_RANK_CONFIG          = 620,  /* Configuration store. */
    NS_RANK_PROCESS_MISC    = 630,

    /* log */
    NS_RANK_LOG_SINKS       = 700,  /* Table of streams and sinks. */
    NS_RANK_LOG_FILTERS     = 710,  /* Log filters. */
    NS_RANK_LOG_FILE        = 720,  /* One log file written directly. */
    NS_RANK_LOG_STREAMS     = 721,  /* Growth of the table of streams. */
    NS_RANK_LOG_COMMON      = 722,  /* Lanes that threads share. */
    NS_RANK_LOG_BACKUPS     = 723,  /* Backups are being renamed. */
    NS_RANK_LOG_LARGE       = 724,  /* Records of many segments. */
    NS_RANK_LOG_SEGMENTS    = 730,  /* Lanes: who has them, which are free. */
    NS_RANK_LOG_LENT        = 732,  /* A sink's places are lent. */
    NS_RANK_LOG_LEFTOVERS   = 734,  /* What earlier processes left. */
    NS_RANK_LOG_CHAINS      = 735,  /* First segments of lanes. */
    NS_RANK_LOG_MAPPINGS    = 736,  /* Which mappings are open. */
    NS_RANK_LOG_WAKE        = 740,  /* A sink's requests; waiting for memory. */
    NS_RANK_LOG_WORKERS     = 745,  /* Which sinks are due, and who waits. */
    NS_RANK_LOG_SEVERITIES  = 750,  /* Growth of the table of severities. */

    /* base */
    NS_RANK_PROCINFO        = 800,
    NS_RANK_CACHE           = 810,  /* An Ns_Cache; locked by its user. */
    NS_RANK_THREADS         = 820,  /* List of threads. */
    NS_RANK_MASTER          = 830,
    NS_RANK_LEAF            = 900   /* Held for a few instructions. */
} NsLockRank;

/*
 * Name a lock `a:b` for statistics (b may be NULL) and give it its rank.
 */
void NsMutexSetup(Ns_Mutex *mutexPtr, NsLockRank rank, const char *a,
                  const char *b);

/*
 * Ns_CondTimedWait with a deadline on the monotonic clock.  NS_OK: woken, maybe
 * for no reason; NS_TIMEOUT: the deadline has passed.
 */
int NsCondWaitUntil(Ns_Cond *condPtr, Ns_Mutex *mutexPtr, NsStamp deadline);

/*
 * Debug builds: stop unless the calling thread holds the lock.
 */
#ifdef NS_DEBUG
void NsMutexAssertHeld(Ns_Mutex *mutexPtr, const char *file, int line);
# define NsAssertLocked(mutexPtr) \
    NsMutexAssertHeld((mutexPtr), __FILE__, __LINE__)
#else
# define NsAssertLocked(mutexPtr) ((void) 0)
#endif

#endif
