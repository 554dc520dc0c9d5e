/* SPDX-License-Identifier: MPL-2.0
 * job.c --
 *
 *      Scripts that run outside of any request, in queues.
 *
 *      A job is scheduled, in its queue's list of pending ones; then running,
 *      in a thread; then done, and gone when it is detached or was waited
 *      for.  A queue that is to be deleted goes with its last job.
 *
 *      One lock guards all, and is never held while a script runs.
 */

#include "tcl/job.h"

#include "nsstring.h"
#include "base/lock.h"
#include "tcl/job_int.h"
#include "process/parameters.h"
#include "tcl/jobthread.h"

static void   ConfigureLocked(void);
static bool   WithdrawHopeless(const char *queue, const char *id);
static void   AddPendingLocked(NsJob *jobPtr, bool isHead);
static void   FreeJobLocked(NsJob *jobPtr);
static void   FreeQueueLocked(NsJobQueue *queuePtr);
static NsJob *FindJobLocked(const char *queue, const char *id,
                            NsJobStatus *statusPtr);
static bool   HasDoneLocked(NsJobQueue *queuePtr);

NsJobPool nsJobs;

static const NsParameter rows[] = {
    NS_INT(NsJobPool, jobsPerThread, "jobsperthread", "0", 0, NS_PARAM_NO_LIMIT,
           "Jobs that one job thread runs before it ends; 0 = no limit."),
    NS_TIME(NsJobPool, timeout, "jobtimeout", "300", 0, NS_PARAM_NO_LIMIT,
            "An idle job thread ends after this time; 0 = never."),
    NS_TIME(NsJobPool, logMin, "joblogminduration", "1", 0, NS_PARAM_NO_LIMIT,
            "Log jobs that take longer."),
    NS_PARAM_END};

void
NsJobInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(NsJobPool));
    NsMutexSetup(&nsJobs.lock, NS_RANK_TCL_JOBS, "tcljob", "pool");
    Ns_CondInit(&nsJobs.work);
    Ns_CondInit(&nsJobs.done);
    Tcl_InitHashTable(&nsJobs.queues, TCL_STRING_KEYS);
    nsJobs.lastPtrPtr = &nsJobs.firstPtr;
    Ns_RegisterProcInfo((void *) NsJobRunThread, "ns:jobthread", NULL);
    Ns_RegisterProcInfo((void *) NsJobStopThreads, "ns:jobstop", NULL);
}

NsJobStatus
NsJobQueueCreate(const char *queue, const char *description, int maxThreads)
{
    Tcl_HashEntry *hPtr;
    NsJobQueue    *queuePtr;
    int            isNew;
    bool           isFirst;

    Ns_MutexLock(&nsJobs.lock);
    isFirst = !nsJobs.isConfigured;
    ConfigureLocked();
    hPtr = Tcl_CreateHashEntry(&nsJobs.queues, queue, &isNew);
    if (isNew) {
        queuePtr = ns_calloc(1, sizeof(*queuePtr));
        queuePtr->name = Tcl_GetHashKey(&nsJobs.queues, hPtr);
        queuePtr->description = ns_strdup(description);
        queuePtr->maxThreads = maxThreads;
        queuePtr->lastPtrPtr = &queuePtr->firstPtr;
        Tcl_InitHashTable(&queuePtr->jobs, TCL_STRING_KEYS);
        Tcl_SetHashValue(hPtr, queuePtr);
        *nsJobs.lastPtrPtr = queuePtr;
        nsJobs.lastPtrPtr = &queuePtr->nextPtr;
        nsJobs.maxThreads += maxThreads;
    }
    Ns_MutexUnlock(&nsJobs.lock);

    if (isFirst) {
        Ns_RegisterAtShutdown(NsJobStopThreads, NULL);
    }
    return isNew ? NS_JOB_OK : NS_JOB_QUEUE_EXISTS;
}

static void
ConfigureLocked(void)
{
    NsAssertLocked(&nsJobs.lock);
    if (!nsJobs.isConfigured) {
        nsJobs.isConfigured = true;
        NsParametersFill(rows, "ns/parameters", &nsJobs);
    }
}

NsJobStatus
NsJobQueueDelete(const char *queue)
{
    NsJobQueue *queuePtr;

    Ns_MutexLock(&nsJobs.lock);
    queuePtr = NsJobFindQueueLocked(queue);
    if (queuePtr != NULL) {
        queuePtr->isDeleted = true;
        FreeQueueLocked(queuePtr);
    }
    Ns_MutexUnlock(&nsJobs.lock);
    return queuePtr != NULL ? NS_JOB_OK : NS_JOB_NO_QUEUE;
}

NsJobQueue *
NsJobFindQueueLocked(const char *name)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&nsJobs.queues, name);

    NsAssertLocked(&nsJobs.lock);
    return hPtr != NULL ? Tcl_GetHashValue(hPtr) : NULL;
}

NsJobStatus
NsJobSubmit(const NsJobSpec *specPtr, Ns_DString *idPtr)
{
    NsJobQueue    *queuePtr;
    Tcl_HashEntry *hPtr;
    NsJob         *jobPtr;
    NsJobStatus    status = NS_JOB_OK;
    char           made[32];
    int            isNew = 0, thread = 0;

    Ns_MutexLock(&nsJobs.lock);
    queuePtr = NsJobFindQueueLocked(specPtr->queue);
    if (queuePtr == NULL) {
        status = NS_JOB_NO_QUEUE;
        goto done;
    }
    if (queuePtr->isDeleted || nsJobs.isStopping) {
        status = NS_JOB_STOPPING;
        goto done;
    }
    if (specPtr->id != NULL) {
        Ns_DStringAppend(idPtr, specPtr->id);
        hPtr = Tcl_CreateHashEntry(&queuePtr->jobs, specPtr->id, &isNew);
    } else {
        do {
            snprintf(made, sizeof(made), "job%u", queuePtr->nextId++);
            hPtr = Tcl_CreateHashEntry(&queuePtr->jobs, made, &isNew);
        } while (!isNew);
        Ns_DStringAppend(idPtr, made);
    }
    if (!isNew) {
        status = NS_JOB_JOB_EXISTS;
        goto done;
    }
    jobPtr = ns_calloc(1, sizeof(*jobPtr));
    jobPtr->queuePtr = queuePtr;
    jobPtr->id = Tcl_GetHashKey(&queuePtr->jobs, hPtr);
    jobPtr->server = ns_strcopy(specPtr->server);
    jobPtr->script = ns_strdup(specPtr->script);
    jobPtr->isDetached = specPtr->isDetached;
    Ns_GetTime(&jobPtr->started);
    jobPtr->startStamp = NsClockNow();
    Tcl_SetHashValue(hPtr, jobPtr);
    AddPendingLocked(jobPtr, specPtr->isHead);
    thread = NsJobGrowLocked();
    if (thread == 0) {
        Ns_CondSignal(&nsJobs.work);
    }
done:
    Ns_MutexUnlock(&nsJobs.lock);
    if (NsJobStartThread(thread) != 0
        && WithdrawHopeless(specPtr->queue, Ns_DStringValue(idPtr))) {
        status = NS_JOB_NO_THREAD;
    }
    return status;
}

/*
 * True: no thread is left that could run the job, and it is gone.
 */
static bool
WithdrawHopeless(const char *queue, const char *id)
{
    NsJobStatus status;
    NsJob      *jobPtr;
    bool        isHopeless;

    Ns_MutexLock(&nsJobs.lock);
    jobPtr = FindJobLocked(queue, id, &status);
    isHopeless = nsJobs.nThreads == 0 && jobPtr != NULL
        && jobPtr->state == NS_JOB_SCHEDULED && !jobPtr->isWaited;
    if (isHopeless) {
        NsJobRemovePendingLocked(jobPtr);
        FreeJobLocked(jobPtr);
    }
    Ns_MutexUnlock(&nsJobs.lock);
    return isHopeless;
}

static void
AddPendingLocked(NsJob *jobPtr, bool isHead)
{
    NsJobQueue *queuePtr = jobPtr->queuePtr;

    NsAssertLocked(&nsJobs.lock);
    queuePtr->nPending++;
    if (isHead) {
        jobPtr->nextPtr = queuePtr->firstPtr;
        queuePtr->firstPtr = jobPtr;
        if (jobPtr->nextPtr == NULL) {
            queuePtr->lastPtrPtr = &jobPtr->nextPtr;
        }
    } else {
        *queuePtr->lastPtrPtr = jobPtr;
        queuePtr->lastPtrPtr = &jobPtr->nextPtr;
    }
}

void
NsJobRemovePendingLocked(NsJob *jobPtr)
{
    NsJobQueue *queuePtr = jobPtr->queuePtr;
    NsJob     **linkPtr = &queuePtr->firstPtr;

    NsAssertLocked(&nsJobs.lock);
    while (*linkPtr != jobPtr) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = jobPtr->nextPtr;
    if (jobPtr->nextPtr == NULL) {
        queuePtr->lastPtrPtr = linkPtr;
    }
    jobPtr->nextPtr = NULL;
    queuePtr->nPending--;
}

void
NsJobSetCancelled(NsJobResult *resultPtr)
{
    resultPtr->code = TCL_ERROR;
    resultPtr->text = ns_strdup("Job cancelled.");
    resultPtr->errorCode = ns_strdup("ECANCEL");
    resultPtr->errorInfo = ns_strdup("Job cancelled.");
}

/*
 * A job has run.
 */
void
NsJobFinishLocked(NsJob *jobPtr)
{
    NsAssertLocked(&nsJobs.lock);

    jobPtr->queuePtr->nRunning--;
    jobPtr->queuePtr->nDone++;
    jobPtr->state = NS_JOB_DONE;
    jobPtr->threadId = 0;
    Ns_GetTime(&jobPtr->ended);
    jobPtr->endStamp = NsClockNow();
    if (jobPtr->isDetached) {
        FreeJobLocked(jobPtr);
    }
    Ns_CondBroadcast(&nsJobs.done);
    Ns_CondSignal(&nsJobs.work); /* The queue may have held one back. */
}

static void
FreeJobLocked(NsJob *jobPtr)
{
    NsJobQueue *queuePtr = jobPtr->queuePtr;

    NsAssertLocked(&nsJobs.lock);
    Tcl_DeleteHashEntry(Tcl_FindHashEntry(&queuePtr->jobs, jobPtr->id));
    NsJobResultFree(&jobPtr->result);
    ns_free(jobPtr->server);
    ns_free(jobPtr->script);
    ns_free(jobPtr);
    FreeQueueLocked(queuePtr);
}

/*
 * If it is to be deleted, and has no job left.
 */
static void
FreeQueueLocked(NsJobQueue *queuePtr)
{
    NsJobQueue **linkPtr = &nsJobs.firstPtr;

    NsAssertLocked(&nsJobs.lock);
    if (!queuePtr->isDeleted || queuePtr->jobs.numEntries > 0) {
        return;
    }
    while (*linkPtr != queuePtr) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = queuePtr->nextPtr;
    if (queuePtr->nextPtr == NULL) {
        nsJobs.lastPtrPtr = linkPtr;
    }
    nsJobs.maxThreads -= queuePtr->maxThreads;
    Tcl_DeleteHashTable(&queuePtr->jobs);
    Tcl_DeleteHashEntry(Tcl_FindHashEntry(&nsJobs.queues, queuePtr->name));
    ns_free(queuePtr->description);
    ns_free(queuePtr);
    Ns_CondBroadcast(&nsJobs.done);
}

NsJobStatus
NsJobWait(const char *queue, const char *id, Ns_Time *deadlinePtr,
          NsJobResult *resultPtr)
{
    NsJobStatus status;
    NsJob      *jobPtr;
    int         wait = NS_OK;

    Ns_MutexLock(&nsJobs.lock);
    jobPtr = FindJobLocked(queue, id, &status);
    if (jobPtr != NULL && jobPtr->isDetached) {
        status = NS_JOB_IS_DETACHED;
    } else if (jobPtr != NULL && jobPtr->isWaited) {
        status = NS_JOB_IS_WAITED;
    } else if (jobPtr != NULL) {
        jobPtr->isWaited = true;
        while (jobPtr->state != NS_JOB_DONE && wait == NS_OK
               && !(nsJobs.isStopping && jobPtr->state == NS_JOB_SCHEDULED)) {
            wait = NsCondWaitEndable(&nsJobs.done, &nsJobs.lock, deadlinePtr);
        }
        jobPtr->isWaited = false;
        if (jobPtr->state == NS_JOB_DONE) {
            *resultPtr = jobPtr->result;
            jobPtr->result = (NsJobResult){0};
            FreeJobLocked(jobPtr);
        } else {
            status = wait != NS_OK ? NS_JOB_TIMEOUT : NS_JOB_STOPPING;
        }
    }
    Ns_MutexUnlock(&nsJobs.lock);
    return status;
}

static NsJob *
FindJobLocked(const char *queue, const char *id, NsJobStatus *statusPtr)
{
    NsJobQueue    *queuePtr = NsJobFindQueueLocked(queue);
    Tcl_HashEntry *hPtr;

    NsAssertLocked(&nsJobs.lock);
    if (queuePtr == NULL) {
        *statusPtr = NS_JOB_NO_QUEUE;
        return NULL;
    }
    hPtr = Tcl_FindHashEntry(&queuePtr->jobs, id);
    *statusPtr = hPtr != NULL ? NS_JOB_OK : NS_JOB_NO_JOB;
    return hPtr != NULL ? Tcl_GetHashValue(hPtr) : NULL;
}

void
NsJobResultFree(NsJobResult *resultPtr)
{
    ns_free(resultPtr->text);
    ns_free(resultPtr->errorCode);
    ns_free(resultPtr->errorInfo);
}

NsJobStatus
NsJobWaitAny(const char *queue, Ns_Time *deadlinePtr)
{
    NsJobQueue *queuePtr;
    int         wait = NS_OK;
    bool        isDone = false, hasQueue = false;

    /* The queue may vanish while we wait: then it has no job. */
    Ns_MutexLock(&nsJobs.lock);
    while ((queuePtr = NsJobFindQueueLocked(queue)) != NULL && !isDone
           && wait == NS_OK) {
        hasQueue = true;
        isDone = queuePtr->jobs.numEntries == 0 || HasDoneLocked(queuePtr)
            || nsJobs.isStopping;
        if (!isDone) {
            wait = NsCondWaitEndable(&nsJobs.done, &nsJobs.lock, deadlinePtr);
        }
    }
    Ns_MutexUnlock(&nsJobs.lock);

    if (!hasQueue) {
        return NS_JOB_NO_QUEUE;
    }
    return wait != NS_OK ? NS_JOB_TIMEOUT : NS_JOB_OK;
}

static bool
HasDoneLocked(NsJobQueue *queuePtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    NsAssertLocked(&nsJobs.lock);
    for (hPtr = Tcl_FirstHashEntry(&queuePtr->jobs, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        if (((NsJob *) Tcl_GetHashValue(hPtr))->state == NS_JOB_DONE) {
            return true;
        }
    }
    return false;
}

NsJobStatus
NsJobCancel(const char *queue, const char *id, bool *wasRunningPtr)
{
    NsJobStatus status;
    NsJob      *jobPtr;

    *wasRunningPtr = false;
    Ns_MutexLock(&nsJobs.lock);
    jobPtr = FindJobLocked(queue, id, &status);
    if (jobPtr != NULL && jobPtr->isWaited) {
        status = NS_JOB_IS_WAITED;
    } else if (jobPtr != NULL && jobPtr->state == NS_JOB_RUNNING) {
        *wasRunningPtr = true;
        jobPtr->isCancelled = true;
        if (jobPtr->interp != NULL) {
            (void) Tcl_CancelEval(jobPtr->interp, NULL, NULL,
                                  TCL_CANCEL_UNWIND);
        }
    } else if (jobPtr != NULL && jobPtr->state == NS_JOB_SCHEDULED) {
        NsJobRemovePendingLocked(jobPtr);
        jobPtr->isCancelled = true;
        NsJobSetCancelled(&jobPtr->result);
        jobPtr->queuePtr->nRunning++; /* FinishLocked takes it back. */
        NsJobFinishLocked(jobPtr);
    }
    Ns_MutexUnlock(&nsJobs.lock);
    return status;
}

NsJobStatus
NsJobExists(const char *queue, const char *id, bool *existsPtr)
{
    NsJobStatus status;

    Ns_MutexLock(&nsJobs.lock);
    *existsPtr = FindJobLocked(queue, id, &status) != NULL;
    Ns_MutexUnlock(&nsJobs.lock);
    return status == NS_JOB_NO_JOB ? NS_JOB_OK : status;
}

void
NsJobGenId(Ns_DString *dsPtr)
{
    Ns_Time  now;
    unsigned number;

    Ns_GetTime(&now);
    Ns_MutexLock(&nsJobs.lock);
    number = nsJobs.nGenerated++;
    Ns_MutexUnlock(&nsJobs.lock);
    Ns_DStringPrintf(dsPtr, "queue_id_%x_%lx", number, now.sec);
}

void
NsJobConfigure(NsJobLimits *limitsPtr)
{
    Ns_MutexLock(&nsJobs.lock);
    ConfigureLocked();
    if (limitsPtr->jobsPerThread >= 0) {
        nsJobs.jobsPerThread = limitsPtr->jobsPerThread;
    }
    if (limitsPtr->timeout >= 0) {
        nsJobs.timeout = limitsPtr->timeout;
    }
    if (limitsPtr->logMin >= 0) {
        nsJobs.logMin = limitsPtr->logMin;
    }
    *limitsPtr = (NsJobLimits){.jobsPerThread = nsJobs.jobsPerThread,
                               .timeout = nsJobs.timeout,
                               .logMin = nsJobs.logMin};
    Ns_MutexUnlock(&nsJobs.lock);
}
