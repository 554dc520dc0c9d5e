/* SPDX-License-Identifier: MPL-2.0
 * job.h --
 *
 *      Scripts that run outside of any request, in queues.
 *
 *      Queues belong to the process.  Each starts its jobs in order, at most
 *      maxThreads at a time; the threads are shared by all queues.  A job runs
 *      in an interpreter of the server that submitted it.  A detached job is
 *      gone when it has run; others stay until somebody waits for them.
 */

#ifndef NSD_TCL_JOB_H
#define NSD_TCL_JOB_H

#include "nstypes.h"
#include "base/clock.h"

typedef enum {
    NS_JOB_OK,
    NS_JOB_NO_QUEUE, /* No such queue. */
    NS_JOB_NO_JOB,   /* No such job. */
    NS_JOB_QUEUE_EXISTS,
    NS_JOB_JOB_EXISTS,
    NS_JOB_NO_THREAD,   /* None can be started to run it. */
    NS_JOB_STOPPING,    /* The queue is deleted, or the process ends. */
    NS_JOB_IS_DETACHED, /* Nobody can wait for it. */
    NS_JOB_IS_WAITED,   /* Somebody else waits for it. */
    NS_JOB_TIMEOUT
} NsJobStatus;

void NsJobInit(void);

NsJobStatus NsJobQueueCreate(const char *queue, const char *description,
                             int maxThreads);

/*
 * The queue takes no new jobs, and is deleted when those it has are gone.
 */
NsJobStatus NsJobQueueDelete(const char *queue);

/*
 * Hand over a script; strings are copied.  Appends the job's id, which is made
 * up unless given.
 */
typedef struct NsJobSpec {
    const char *queue;
    const char *server;
    const char *script;
    const char *id;     /* NULL: make one up. */
    bool        isHead; /* Before all others. */
    bool        isDetached;
} NsJobSpec;

NsJobStatus NsJobSubmit(const NsJobSpec *specPtr, Ns_DString *idPtr);

/*
 * Wait until the job is done, at most until the deadline (NULL: no limit), and
 * take its result, which NsJobResultFree frees.  After a timeout the job stays.
 */
typedef struct NsJobResult {
    int   code; /* TCL_OK ... */
    char *text;
    char *errorCode; /* These two are NULL without an error. */
    char *errorInfo;
} NsJobResult;

NsJobStatus NsJobWait(const char *queue, const char *id, Ns_Time *deadlinePtr,
                      NsJobResult *resultPtr);
void        NsJobResultFree(NsJobResult *resultPtr);

/*
 * Wait until some job of the queue is done or it has none.
 */
NsJobStatus NsJobWaitAny(const char *queue, Ns_Time *deadlinePtr);

/*
 * Make the job fail: at once if it does not run yet, else at its next command.
 */
NsJobStatus NsJobCancel(const char *queue, const char *id, bool *wasRunningPtr);

NsJobStatus NsJobExists(const char *queue, const char *id, bool *existsPtr);

/*
 * Append an id that no job has had.
 */
void NsJobGenId(Ns_DString *dsPtr);

/*
 * Change what is not negative; get what is in force.
 */
typedef struct NsJobLimits {
    int     jobsPerThread; /* Jobs after which a thread ends; 0: never. */
    NsStamp timeout;       /* Idle time after which it ends; 0: never. */
    NsStamp logMin;        /* Jobs that take longer are logged. */
} NsJobLimits;

void NsJobConfigure(NsJobLimits *limitsPtr);

#endif
