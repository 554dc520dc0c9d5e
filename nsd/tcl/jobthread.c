/* SPDX-License-Identifier: MPL-2.0
 * jobthread.c --
 *
 *      The threads that run jobs, shared by all queues.
 */

#include "tcl/jobthread.h"
#include "tcl/job_int.h"

#include "base/thread.h"

static void   RunJobsLocked(int thread);
static NsJob *WaitForJobLocked(void);
static NsJob *NextJobLocked(void);
static void   RunJob(NsJob *jobPtr, int thread);
static void   LogIfLong(const NsJob *jobPtr, NsStamp logMin);
static void   KeepResult(Tcl_Interp *interp, int code, NsJobResult *resultPtr);

int
NsJobGrowLocked(void)
{
    int nStartable = 0;

    NsAssertLocked(&nsJobs.lock);

    for (NsJobQueue *queuePtr = nsJobs.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        int nFree = queuePtr->maxThreads - queuePtr->nRunning;

        for (NsJob *jobPtr = queuePtr->firstPtr;
             jobPtr != NULL && nFree > 0 && nStartable <= nsJobs.nIdle;
             jobPtr = jobPtr->nextPtr) {
            nFree--;
            nStartable++;
        }
    }
    if (nStartable <= nsJobs.nIdle || nsJobs.nThreads >= nsJobs.maxThreads
        || nsJobs.isStopping) {
        return 0;
    }
    nsJobs.nThreads++;
    return ++nsJobs.nStarted;
}

int
NsJobStartThread(int thread)
{
    Ns_Thread handle;
    int       error = 0;

    if (thread > 0) {
        error = NsThreadTry(NsJobRunThread, INT2PTR(thread), 0, &handle);
    }
    if (error != 0) {
        Ns_MutexLock(&nsJobs.lock);
        nsJobs.nThreads--;
        Ns_CondBroadcast(&nsJobs.done);
        Ns_MutexUnlock(&nsJobs.lock);
    }
    return error;
}

/*
 * It joins the one that ended before it, so that only the last is left to be
 * joined at the end.
 */
void
NsJobRunThread(void *arg)
{
    int       thread = PTR2INT(arg), successor;
    Ns_Thread predecessor;
    bool      hasPredecessor;

    Ns_ThreadSetName("-ns_job_%x-", (unsigned) thread);
    Ns_WaitForStartup();

    do {
        Ns_MutexLock(&nsJobs.lock);
        RunJobsLocked(thread);
        nsJobs.nThreads--;
        successor = NsJobGrowLocked();
        nsJobs.nThreads++;
        Ns_MutexUnlock(&nsJobs.lock);
        /* If none can be started, this thread continues in its place. */
    } while (NsJobStartThread(successor) != 0);
    Ns_Log(Notice, "tcljobs: exiting");

    Ns_MutexLock(&nsJobs.lock);
    nsJobs.nThreads--;
    hasPredecessor = nsJobs.hasEnded;
    predecessor = nsJobs.endedThread;
    nsJobs.hasEnded = true;
    Ns_ThreadSelf(&nsJobs.endedThread);
    Ns_CondBroadcast(&nsJobs.done);
    Ns_MutexUnlock(&nsJobs.lock);

    if (hasPredecessor) {
        Ns_ThreadJoin(&predecessor, NULL);
    }
}

/*
 * The jobs that a thread may run, or until none comes for too long.
 */
static void
RunJobsLocked(int thread)
{
    NsJob *jobPtr;
    int    nRun = 0;

    NsAssertLocked(&nsJobs.lock);

    while ((nsJobs.jobsPerThread == 0 || nRun < nsJobs.jobsPerThread)
           && (jobPtr = WaitForJobLocked()) != NULL) {
        Ns_MutexUnlock(&nsJobs.lock);
        RunJob(jobPtr, thread);
        nRun++;
        Ns_MutexLock(&nsJobs.lock);
        NsJobFinishLocked(jobPtr);
    }
}

/*
 * A job, which counts as running from now on.  NULL: the thread was idle too
 * long, or the process ends.
 */
static NsJob *
WaitForJobLocked(void)
{
    NsJob  *jobPtr = NULL;
    NsStamp deadline;
    int     status = NS_OK;

    NsAssertLocked(&nsJobs.lock);

    deadline = nsJobs.timeout > 0 ? NsClockNow() + nsJobs.timeout : INT64_MAX;
    while (!nsJobs.isStopping && (jobPtr = NextJobLocked()) == NULL
           && status == NS_OK) {
        nsJobs.nIdle++;
        status = NsCondWaitUntil(&nsJobs.work, &nsJobs.lock, deadline);
        nsJobs.nIdle--;
    }
    if (nsJobs.isStopping || jobPtr == NULL) {
        return NULL;
    }
    NsJobRemovePendingLocked(jobPtr);
    jobPtr->queuePtr->nRunning++;
    jobPtr->state = NS_JOB_RUNNING;
    jobPtr->threadId = Ns_ThreadId();
    Ns_GetTime(&jobPtr->started);
    jobPtr->startStamp = NsClockNow();
    return jobPtr;
}

/*
 * The first pending job of a queue that may run one more.
 */
static NsJob *
NextJobLocked(void)
{
    NsAssertLocked(&nsJobs.lock);
    for (NsJobQueue *queuePtr = nsJobs.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        if (queuePtr->firstPtr != NULL
            && queuePtr->nRunning < queuePtr->maxThreads) {
            return queuePtr->firstPtr;
        }
    }
    return NULL;
}

static void
RunJob(NsJob *jobPtr, int thread)
{
    Tcl_Interp *interp = Ns_TclAllocateInterp(jobPtr->server);
    int         code = TCL_OK;
    bool        isCancelled;
    NsStamp     logMin;

    if (interp == NULL) {
        jobPtr->result.code = TCL_ERROR;
        jobPtr->result.text = ns_strdup("no interpreter for the job");
        return;
    }
    Ns_ThreadSetName("-%s:%x", jobPtr->queuePtr->name, (unsigned) thread);
    Ns_MutexLock(&nsJobs.lock);
    jobPtr->interp = interp;
    isCancelled = jobPtr->isCancelled;
    Ns_MutexUnlock(&nsJobs.lock);

    if (!isCancelled) {
        code = Tcl_EvalEx(interp, jobPtr->script, -1, 0);
    }
    Ns_MutexLock(&nsJobs.lock);
    jobPtr->interp = NULL;
    isCancelled = jobPtr->isCancelled;
    logMin = nsJobs.logMin;
    Ns_MutexUnlock(&nsJobs.lock);

    LogIfLong(jobPtr, logMin);
    if (isCancelled) {
        /* The cancellation may still be on its way to the interpreter. */
        Ns_TclMarkForDelete(interp);
        NsJobSetCancelled(&jobPtr->result);
    } else {
        if (code == TCL_ERROR && jobPtr->isDetached) {
            Ns_TclLogErrorInfo(interp, NULL);
        }
        KeepResult(interp, code, &jobPtr->result);
    }
    Ns_TclDeAllocateInterp(interp);
    Ns_ThreadSetName("-ns_job_%x-", (unsigned) thread);
}

static void
LogIfLong(const NsJob *jobPtr, NsStamp logMin)
{
    NsStamp taken = NsClockNow() - jobPtr->startStamp;

    if (taken > logMin) {
        Ns_Log(Notice, "tcljobs[%s]: took %.6f seconds: %s",
               jobPtr->queuePtr->name, (double) taken / NS_STAMP_SECOND,
               jobPtr->script);
    }
}

static void
KeepResult(Tcl_Interp *interp, int code, NsJobResult *resultPtr)
{
    resultPtr->code = code;
    resultPtr->text = ns_strdup(Tcl_GetStringResult(interp));
    if (code == TCL_ERROR) {
        const char *text = Tcl_GetVar(interp, "errorCode", TCL_GLOBAL_ONLY);

        resultPtr->errorCode = ns_strcopy(text);
        text = Tcl_GetVar(interp, "errorInfo", TCL_GLOBAL_ONLY);
        resultPtr->errorInfo = ns_strcopy(text);
    }
}

void
NsJobStopThreads(Ns_Time *deadlinePtr, void *arg)
{
    Ns_Thread thread = NULL;
    bool      hasEnded = false;
    int       status = NS_OK;

    Ns_MutexLock(&nsJobs.lock);
    if (deadlinePtr == NULL) {
        nsJobs.isStopping = true;
        Ns_CondBroadcast(&nsJobs.work);
        Ns_CondBroadcast(&nsJobs.done);
    } else {
        Ns_Time deadline = *deadlinePtr;

        while (nsJobs.nThreads > 0 && status == NS_OK) {
            status = Ns_CondTimedWait(&nsJobs.done, &nsJobs.lock, &deadline);
        }
        hasEnded = nsJobs.nThreads == 0 && nsJobs.hasEnded;
        thread = nsJobs.endedThread;
        nsJobs.hasEnded = false;
    }
    Ns_MutexUnlock(&nsJobs.lock);
    if (hasEnded) {
        Ns_ThreadJoin(&thread, NULL);
    }
    if (status != NS_OK) {
        Ns_Log(Warning, "tcljobs: timeout waiting for exit");
    }
}
