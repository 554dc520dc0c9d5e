/* SPDX-License-Identifier: MPL-2.0
 * joblist.c --
 *
 *      Lists of queues, jobs and their threads.
 */

#include "tcl/joblist.h"
#include "nsstring.h"
#include "tcl/job_int.h"

typedef void AppendProc(Ns_DString *dsPtr, const NsJob *jobPtr);

static AppendProc AppendId;
static AppendProc AppendJob;

static NsJobStatus AppendJobs(const char *name, Ns_DString *dsPtr,
                              AppendProc *append);

NsJobStatus
NsJobIds(const char *queue, Ns_DString *dsPtr)
{
    return AppendJobs(queue, dsPtr, AppendId);
}

NsJobStatus
NsJobList(const char *queue, Ns_DString *dsPtr)
{
    return AppendJobs(queue, dsPtr, AppendJob);
}

static NsJobStatus
AppendJobs(const char *name, Ns_DString *dsPtr, AppendProc *append)
{
    NsJobQueue    *queuePtr;
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    Ns_MutexLock(&nsJobs.lock);
    queuePtr = NsJobFindQueueLocked(name);
    if (queuePtr != NULL) {
        for (hPtr = Tcl_FirstHashEntry(&queuePtr->jobs, &search); hPtr != NULL;
             hPtr = Tcl_NextHashEntry(&search)) {
            append(dsPtr, Tcl_GetHashValue(hPtr));
        }
    }
    Ns_MutexUnlock(&nsJobs.lock);
    return queuePtr != NULL ? NS_JOB_OK : NS_JOB_NO_QUEUE;
}

static void
AppendId(Ns_DString *dsPtr, const NsJob *jobPtr)
{
    Ns_DStringAppendElement(dsPtr, jobPtr->id);
}

static void
AppendJob(Ns_DString *dsPtr, const NsJob *jobPtr)
{
    static const char *const states[] = {[NS_JOB_SCHEDULED] = "scheduled",
                                         [NS_JOB_RUNNING] = "running",
                                         [NS_JOB_DONE] = "done"};
    static const char *const codes[] = {
        [TCL_OK] = "TCL_OK",
        [TCL_ERROR] = "TCL_ERROR",
        [TCL_RETURN] = "TCL_RETURN",
        [TCL_BREAK] = "TCL_BREAK",
        [TCL_CONTINUE] = "TCL_CONTINUE"};
    bool    isDone = jobPtr->state == NS_JOB_DONE;
    int     code = isDone ? jobPtr->result.code : TCL_OK;
    NsStamp endStamp = isDone ? jobPtr->endStamp : NsClockNow();

    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringAppendElement(dsPtr, "id");
    Ns_DStringAppendElement(dsPtr, jobPtr->id);
    Ns_DStringAppendElement(dsPtr, "state");
    Ns_DStringAppendElement(dsPtr, states[jobPtr->state]);
    Ns_DStringAppendElement(dsPtr, "results");
    Ns_DStringAppendElement(dsPtr,
                            isDone && jobPtr->result.text != NULL
                                ? jobPtr->result.text
                                : "");
    Ns_DStringAppendElement(dsPtr, "script");
    Ns_DStringAppendElement(dsPtr, jobPtr->script);
    Ns_DStringAppendElement(dsPtr, "code");
    Ns_DStringAppendElement(dsPtr,
                            code >= 0 && code < Ns_NrElements(codes)
                                ? codes[code]
                                : "TCL_OK");
    Ns_DStringPrintf(dsPtr,
                     " type %s req %s thread %" PRIxPTR " time %.3f"
                     " starttime %ld endtime %ld",
                     jobPtr->isDetached ? "detached" : "nondetached",
                     jobPtr->isWaited ? "wait" : "none", jobPtr->threadId,
                     (double) (endStamp - jobPtr->startStamp) / 1e6,
                     jobPtr->started.sec, jobPtr->ended.sec);
    Tcl_DStringEndSublist(dsPtr);
}

void
NsJobQueues(Ns_DString *dsPtr)
{
    Ns_MutexLock(&nsJobs.lock);
    for (NsJobQueue *queuePtr = nsJobs.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        Ns_DStringAppendElement(dsPtr, queuePtr->name);
    }
    Ns_MutexUnlock(&nsJobs.lock);
}

void
NsJobQueueList(Ns_DString *dsPtr)
{
    Ns_MutexLock(&nsJobs.lock);
    for (NsJobQueue *queuePtr = nsJobs.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringAppendElement(dsPtr, "name");
        Ns_DStringAppendElement(dsPtr, queuePtr->name);
        Ns_DStringAppendElement(dsPtr, "desc");
        Ns_DStringAppendElement(dsPtr, queuePtr->description);
        Ns_DStringPrintf(dsPtr, " maxthreads %d numrunning %d req %s",
                         queuePtr->maxThreads, queuePtr->nRunning,
                         queuePtr->isDeleted ? "delete" : "none");
        Tcl_DStringEndSublist(dsPtr);
    }
    Ns_MutexUnlock(&nsJobs.lock);
}

void
NsJobStats(Ns_DString *dsPtr)
{
    Ns_MutexLock(&nsJobs.lock);
    for (const NsJobQueue *queuePtr = nsJobs.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringAppendElement(dsPtr, "queue");
        Ns_DStringAppendElement(dsPtr, queuePtr->name);
        Ns_DStringPrintf(dsPtr, " running %d queued %d done %" PRId64,
                         queuePtr->nRunning, queuePtr->nPending,
                         queuePtr->nDone);
        Tcl_DStringEndSublist(dsPtr);
    }
    Ns_MutexUnlock(&nsJobs.lock);
}

void
NsJobThreadList(Ns_DString *dsPtr)
{
    Ns_MutexLock(&nsJobs.lock);
    Ns_DStringPrintf(dsPtr, "maxthreads %d numthreads %d numidle %d req %s",
                     nsJobs.maxThreads, nsJobs.nThreads, nsJobs.nIdle,
                     nsJobs.isStopping ? "stop" : "none");
    Ns_MutexUnlock(&nsJobs.lock);
}
