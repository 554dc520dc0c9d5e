/* SPDX-License-Identifier: MPL-2.0
 * job_int.h --
 *
 *      Queues, jobs, and the threads that run them: what their sources share.
 */

#ifndef NSD_TCL_JOB_INT_H
#define NSD_TCL_JOB_INT_H

#include "ns.h"
#include "base/clock.h"
#include "base/lock.h"
#include "tcl/job.h"

typedef enum { NS_JOB_SCHEDULED, NS_JOB_RUNNING, NS_JOB_DONE } NsJobState;

typedef struct NsJobQueue NsJobQueue;

typedef struct NsJob {
    NsJobQueue *queuePtr; /* These are constant. */
    const char *id;
    char       *server;
    char       *script;
    bool        isDetached;

    struct NsJob *nextPtr; /* Pending jobs of the queue. */
    NsJobState    state;
    bool          isWaited;
    bool          isCancelled;
    Tcl_Interp   *interp;   /* While running. */
    uintptr_t     threadId; /* The same. */
    Ns_Time       started;  /* Until it runs: when it was submitted. */
    NsStamp       startStamp;
    Ns_Time       ended;
    NsStamp       endStamp;
    NsJobResult   result;
} NsJob;

struct NsJobQueue {
    const char *name; /* These are constant. */
    char       *description;
    int         maxThreads;

    NsJobQueue   *nextPtr;  /* All queues, in order of creation. */
    Tcl_HashTable jobs;     /* By id. */
    NsJob        *firstPtr; /* Pending. */
    NsJob       **lastPtrPtr;
    int           nRunning;
    int           nPending;
    int64_t       nDone; /* Since it was made. */
    unsigned      nextId;
    bool          isDeleted;
};

/*
 * All of this, and all queues and jobs, are guarded by the lock.
 */
typedef struct NsJobPool {
    Ns_Mutex      lock;
    Ns_Cond       work;   /* For threads: a job may run, or stop. */
    Ns_Cond       done;   /* For waiters: a job is done or gone. */
    Tcl_HashTable queues; /* By name. */
    NsJobQueue   *firstPtr;
    NsJobQueue  **lastPtrPtr;
    int           maxThreads; /* Sum over all queues. */
    int           nThreads;
    int           nIdle;
    int           nStarted; /* N of thread names. */
    unsigned      nGenerated;
    int           jobsPerThread;
    NsStamp       timeout;     /* 0: never. */
    NsStamp       logMin;      /* Jobs that take longer are logged. */
    Ns_Thread     endedThread; /* Ended last, to be joined. */
    bool          hasEnded;    /* endedThread is set. */
    bool          isConfigured;
    bool          isStopping;
} NsJobPool;

extern NsJobPool nsJobs;

/*
 * NULL, if there is none of that name.
 */
NsJobQueue *NsJobFindQueueLocked(const char *name);

/*
 * The job will not run, or runs no longer.
 */
void NsJobRemovePendingLocked(NsJob *jobPtr);
void NsJobFinishLocked(NsJob *jobPtr);
void NsJobSetCancelled(NsJobResult *resultPtr);

#endif
