/*
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

#include "ns.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "tcl/job.h"

typedef enum {
    JOB_SCHEDULED,
    JOB_RUNNING,
    JOB_DONE
} JobState;

typedef struct Queue Queue;

typedef struct Job {
    Queue      *queuePtr;       /* These are constant. */
    const char *id;
    char       *server;
    char       *script;
    bool        isDetached;

    struct Job *nextPtr;        /* Pending jobs of the queue. */
    JobState    state;
    bool        isWaited;
    bool        isCancelled;
    Tcl_Interp *interp;         /* While running. */
    uintptr_t   threadId;       /* Likewise. */
    Ns_Time     started;        /* Until it runs: when it was submitted. */
    NsStamp     startStamp;
    Ns_Time     ended;
    NsStamp     endStamp;
    NsJobResult result;
} Job;

struct Queue {
    const char    *name;        /* These are constant. */
    char          *description;
    int            maxThreads;

    Queue         *nextPtr;     /* All queues, in order of creation. */
    Tcl_HashTable  jobs;        /* By id. */
    Job           *firstPtr;    /* Pending. */
    Job          **lastPtrPtr;
    int            nRunning;
    int            nPending;
    int64_t        nDone;       /* Since it was made. */
    unsigned       nextId;
    bool           isDeleted;
};

/*
 * All of this, and all queues and jobs, are guarded by the lock.
 */
static struct {
    Ns_Mutex      lock;
    Ns_Cond       work;         /* For threads: a job may run, or stop. */
    Ns_Cond       done;         /* For waiters: a job is done or gone. */
    Tcl_HashTable queues;       /* By name. */
    Queue        *firstPtr;
    Queue       **lastPtrPtr;
    int           maxThreads;   /* Sum over all queues. */
    int           nThreads;
    int           nIdle;
    int           nStarted;     /* N of thread names. */
    unsigned      nGenerated;
    int           jobsPerThread;
    int           timeout;      /* Seconds; 0: never. */
    Ns_Thread     endedThread;  /* Ended last, to be joined. */
    bool          hasEnded;     /* endedThread is set. */
    bool          isConfigured;
    bool          isStopping;
} pool;

static void ConfigureLocked(void);
static Queue *FindQueueLocked(const char *name);
static Job *FindJobLocked(const char *queue, const char *id,
                          NsJobStatus *statusPtr);
static void AddPendingLocked(Job *jobPtr, bool isHead);
static void RemovePendingLocked(Job *jobPtr);
static int GrowLocked(void);
static void StartThread(int thread);
static Ns_ThreadProc RunJobs;
static Job *NextJobLocked(void);
static Job *WaitForJobLocked(void);
static void RunJob(Job *jobPtr, int thread);
static void SetCancelled(NsJobResult *resultPtr);
static void KeepResult(Tcl_Interp *interp, int code, NsJobResult *resultPtr);
static void FinishLocked(Job *jobPtr);
static void FreeJobLocked(Job *jobPtr);
static void FreeQueueLocked(Queue *queuePtr);
static bool HasDoneLocked(Queue *queuePtr);
static void AppendJob(Ns_DString *dsPtr, const Job *jobPtr);
static Ns_ShutdownProc Stop;

void
NsJobInit(void)
{
    NsMutexSetup(&pool.lock, NS_RANK_TCL_JOBS, "tcljob", "pool");
    Ns_CondInit(&pool.work);
    Ns_CondInit(&pool.done);
    Tcl_InitHashTable(&pool.queues, TCL_STRING_KEYS);
    pool.lastPtrPtr = &pool.firstPtr;
    Ns_RegisterProcInfo((void *) RunJobs, "ns:jobthread", NULL);
    Ns_RegisterProcInfo((void *) Stop, "ns:jobstop", NULL);
}

NsJobStatus
NsJobQueueCreate(const char *queue, const char *description, int maxThreads)
{
    Tcl_HashEntry *hPtr;
    Queue         *queuePtr;
    int            isNew;
    bool           isFirst;

    Ns_MutexLock(&pool.lock);
    isFirst = !pool.isConfigured;
    ConfigureLocked();
    hPtr = Tcl_CreateHashEntry(&pool.queues, queue, &isNew);
    if (isNew) {
        queuePtr = ns_calloc(1, sizeof(*queuePtr));
        queuePtr->name = Tcl_GetHashKey(&pool.queues, hPtr);
        queuePtr->description = ns_strdup(description);
        queuePtr->maxThreads = maxThreads;
        queuePtr->lastPtrPtr = &queuePtr->firstPtr;
        Tcl_InitHashTable(&queuePtr->jobs, TCL_STRING_KEYS);
        Tcl_SetHashValue(hPtr, queuePtr);
        *pool.lastPtrPtr = queuePtr;
        pool.lastPtrPtr = &queuePtr->nextPtr;
        pool.maxThreads += maxThreads;
    }
    Ns_MutexUnlock(&pool.lock);

    if (isFirst) {
        Ns_RegisterAtShutdown(Stop, NULL);
    }
    return isNew ? NS_JOB_OK : NS_JOB_QUEUE_EXISTS;
}

static void
ConfigureLocked(void)
{
    if (!pool.isConfigured) {
        pool.isConfigured = true;
        pool.jobsPerThread = Ns_ConfigIntRange("ns/parameters", "jobsperthread",
                                               0, 0, INT_MAX);
        pool.timeout = Ns_ConfigIntRange("ns/parameters", "jobtimeout", 300, 0,
                                         INT_MAX);
    }
}

NsJobStatus
NsJobQueueDelete(const char *queue)
{
    Queue *queuePtr;

    Ns_MutexLock(&pool.lock);
    queuePtr = FindQueueLocked(queue);
    if (queuePtr != NULL) {
        queuePtr->isDeleted = true;
        FreeQueueLocked(queuePtr);
    }
    Ns_MutexUnlock(&pool.lock);
    return queuePtr != NULL ? NS_JOB_OK : NS_JOB_NO_QUEUE;
}

static Queue *
FindQueueLocked(const char *name)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&pool.queues, name);

    NsAssertLocked(&pool.lock);
    return hPtr != NULL ? Tcl_GetHashValue(hPtr) : NULL;
}

NsJobStatus
NsJobSubmit(const NsJobSpec *specPtr, Ns_DString *idPtr)
{
    Queue         *queuePtr;
    Tcl_HashEntry *hPtr;
    Job           *jobPtr;
    NsJobStatus    status = NS_JOB_OK;
    char           made[32];
    int            isNew = 0, thread = 0;

    Ns_MutexLock(&pool.lock);
    queuePtr = FindQueueLocked(specPtr->queue);
    if (queuePtr == NULL) {
        status = NS_JOB_NO_QUEUE;
        goto done;
    }
    if (queuePtr->isDeleted || pool.isStopping) {
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
    thread = GrowLocked();
    if (thread == 0) {
        Ns_CondSignal(&pool.work);
    }
done:
    Ns_MutexUnlock(&pool.lock);
    StartThread(thread);
    return status;
}

static void
AddPendingLocked(Job *jobPtr, bool isHead)
{
    Queue *queuePtr = jobPtr->queuePtr;

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

static void
RemovePendingLocked(Job *jobPtr)
{
    Queue  *queuePtr = jobPtr->queuePtr;
    Job   **linkPtr = &queuePtr->firstPtr;

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

/*
 * Whether more jobs could run now than there are threads without one: then the
 * number of a new thread, else 0.
 */
static int
GrowLocked(void)
{
    int nStartable = 0;

    NsAssertLocked(&pool.lock);

    for (Queue *queuePtr = pool.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        int nFree = queuePtr->maxThreads - queuePtr->nRunning;

        for (Job *jobPtr = queuePtr->firstPtr;
             jobPtr != NULL && nFree > 0 && nStartable <= pool.nIdle;
             jobPtr = jobPtr->nextPtr) {
            nFree--;
            nStartable++;
        }
    }
    if (nStartable <= pool.nIdle || pool.nThreads >= pool.maxThreads
            || pool.isStopping) {
        return 0;
    }
    pool.nThreads++;
    return ++pool.nStarted;
}

static void
StartThread(int thread)
{
    Ns_Thread handle;

    if (thread > 0) {
        Ns_ThreadCreate(RunJobs, INT2PTR(thread), 0, &handle);
    }
}

/*
 * The life of a job thread.  It joins the one that ended before it, so that
 * only the last is left to be joined at the end.
 */
static void
RunJobs(void *arg)
{
    int        thread = PTR2INT(arg), nRun = 0, successor;
    Job       *jobPtr;
    Ns_Thread  predecessor;
    bool       hasPredecessor;

    Ns_ThreadSetName("-ns_job_%x-", (unsigned) thread);
    Ns_WaitForStartup();

    Ns_MutexLock(&pool.lock);
    while ((pool.jobsPerThread == 0 || nRun < pool.jobsPerThread)
            && (jobPtr = WaitForJobLocked()) != NULL) {
        Ns_MutexUnlock(&pool.lock);
        RunJob(jobPtr, thread);
        nRun++;
        Ns_MutexLock(&pool.lock);
        FinishLocked(jobPtr);
    }
    Ns_MutexUnlock(&pool.lock);
    Ns_Log(Notice, "exiting");

    Ns_MutexLock(&pool.lock);
    pool.nThreads--;
    successor = GrowLocked();
    hasPredecessor = pool.hasEnded;
    predecessor = pool.endedThread;
    pool.hasEnded = true;
    Ns_ThreadSelf(&pool.endedThread);
    Ns_CondBroadcast(&pool.done);
    Ns_MutexUnlock(&pool.lock);

    StartThread(successor);
    if (hasPredecessor) {
        Ns_ThreadJoin(&predecessor, NULL);
    }
}

/*
 * A job, which counts as running from now on.  NULL: the thread was idle too
 * long, or the process ends.
 */
static Job *
WaitForJobLocked(void)
{
    Job     *jobPtr;
    NsStamp  deadline;
    int      status = NS_OK;

    NsAssertLocked(&pool.lock);

    deadline = pool.timeout > 0
        ? NsClockNow() + pool.timeout * NS_STAMP_SECOND : INT64_MAX;
    while (!pool.isStopping && (jobPtr = NextJobLocked()) == NULL
            && status == NS_OK) {
        pool.nIdle++;
        status = NsCondWaitUntil(&pool.work, &pool.lock, deadline);
        pool.nIdle--;
    }
    if (pool.isStopping || jobPtr == NULL) {
        return NULL;
    }
    RemovePendingLocked(jobPtr);
    jobPtr->queuePtr->nRunning++;
    jobPtr->state = JOB_RUNNING;
    jobPtr->threadId = Ns_ThreadId();
    Ns_GetTime(&jobPtr->started);
    jobPtr->startStamp = NsClockNow();
    return jobPtr;
}

/*
 * The first pending job of a queue that may run one more.
 */
static Job *
NextJobLocked(void)
{
    for (Queue *queuePtr = pool.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        if (queuePtr->firstPtr != NULL
                && queuePtr->nRunning < queuePtr->maxThreads) {
            return queuePtr->firstPtr;
        }
    }
    return NULL;
}

static void
RunJob(Job *jobPtr, int thread)
{
    Tcl_Interp *interp = Ns_TclAllocateInterp(jobPtr->server);
    int         code = TCL_OK;
    bool        isCancelled;

    if (interp == NULL) {
        jobPtr->result.code = TCL_ERROR;
        jobPtr->result.text = ns_strdup("no interpreter for the job");
        return;
    }
    Ns_ThreadSetName("-%s:%x", jobPtr->queuePtr->name, (unsigned) thread);
    Ns_MutexLock(&pool.lock);
    jobPtr->interp = interp;
    isCancelled = jobPtr->isCancelled;
    Ns_MutexUnlock(&pool.lock);

    if (!isCancelled) {
        code = Tcl_EvalEx(interp, jobPtr->script, -1, 0);
    }
    Ns_MutexLock(&pool.lock);
    jobPtr->interp = NULL;
    isCancelled = jobPtr->isCancelled;
    Ns_MutexUnlock(&pool.lock);

    if (isCancelled) {
        /* The cancellation may still be on its way to the interpreter. */
        Ns_TclMarkForDelete(interp);
        SetCancelled(&jobPtr->result);
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
SetCancelled(NsJobResult *resultPtr)
{
    resultPtr->code = TCL_ERROR;
    resultPtr->text = ns_strdup("Job cancelled.");
    resultPtr->errorCode = ns_strdup("ECANCEL");
    resultPtr->errorInfo = ns_strdup("Job cancelled.");
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

/*
 * A job has run.
 */
static void
FinishLocked(Job *jobPtr)
{
    NsAssertLocked(&pool.lock);

    jobPtr->queuePtr->nRunning--;
    jobPtr->queuePtr->nDone++;
    jobPtr->state = JOB_DONE;
    jobPtr->threadId = 0;
    Ns_GetTime(&jobPtr->ended);
    jobPtr->endStamp = NsClockNow();
    if (jobPtr->isDetached) {
        FreeJobLocked(jobPtr);
    }
    Ns_CondBroadcast(&pool.done);
    Ns_CondSignal(&pool.work);      /* The queue may have held one back. */
}

static void
FreeJobLocked(Job *jobPtr)
{
    Queue *queuePtr = jobPtr->queuePtr;

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
FreeQueueLocked(Queue *queuePtr)
{
    Queue **linkPtr = &pool.firstPtr;

    NsAssertLocked(&pool.lock);
    if (!queuePtr->isDeleted || queuePtr->jobs.numEntries > 0) {
        return;
    }
    while (*linkPtr != queuePtr) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = queuePtr->nextPtr;
    if (queuePtr->nextPtr == NULL) {
        pool.lastPtrPtr = linkPtr;
    }
    pool.maxThreads -= queuePtr->maxThreads;
    Tcl_DeleteHashTable(&queuePtr->jobs);
    Tcl_DeleteHashEntry(Tcl_FindHashEntry(&pool.queues, queuePtr->name));
    ns_free(queuePtr->description);
    ns_free(queuePtr);
    Ns_CondBroadcast(&pool.done);
}

NsJobStatus
NsJobWait(const char *queue, const char *id, Ns_Time *deadlinePtr,
          NsJobResult *resultPtr)
{
    NsJobStatus  status;
    Job         *jobPtr;
    int          wait = NS_OK;

    Ns_MutexLock(&pool.lock);
    jobPtr = FindJobLocked(queue, id, &status);
    if (jobPtr != NULL && jobPtr->isDetached) {
        status = NS_JOB_IS_DETACHED;
    } else if (jobPtr != NULL && jobPtr->isWaited) {
        status = NS_JOB_IS_WAITED;
    } else if (jobPtr != NULL) {
        jobPtr->isWaited = true;
        while (jobPtr->state != JOB_DONE && wait == NS_OK
                && !(pool.isStopping && jobPtr->state == JOB_SCHEDULED)) {
            wait = Ns_CondTimedWait(&pool.done, &pool.lock, deadlinePtr);
        }
        jobPtr->isWaited = false;
        if (jobPtr->state == JOB_DONE) {
            *resultPtr = jobPtr->result;
            jobPtr->result = (NsJobResult) {0};
            FreeJobLocked(jobPtr);
        } else {
            status = wait != NS_OK ? NS_JOB_TIMEOUT : NS_JOB_STOPPING;
        }
    }
    Ns_MutexUnlock(&pool.lock);
    return status;
}

static Job *
FindJobLocked(const char *queue, const char *id, NsJobStatus *statusPtr)
{
    Queue         *queuePtr = FindQueueLocked(queue);
    Tcl_HashEntry *hPtr;

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
    Queue *queuePtr;
    int    wait = NS_OK;
    bool   isDone = false, hasQueue = false;

    /* The queue may vanish while we wait: then it has no job. */
    Ns_MutexLock(&pool.lock);
    while ((queuePtr = FindQueueLocked(queue)) != NULL && !isDone
            && wait == NS_OK) {
        hasQueue = true;
        isDone = queuePtr->jobs.numEntries == 0 || HasDoneLocked(queuePtr)
            || pool.isStopping;
        if (!isDone) {
            wait = Ns_CondTimedWait(&pool.done, &pool.lock, deadlinePtr);
        }
    }
    Ns_MutexUnlock(&pool.lock);

    if (!hasQueue) {
        return NS_JOB_NO_QUEUE;
    }
    return wait != NS_OK ? NS_JOB_TIMEOUT : NS_JOB_OK;
}

static bool
HasDoneLocked(Queue *queuePtr)
{
    Tcl_HashSearch  search;
    Tcl_HashEntry  *hPtr;

    for (hPtr = Tcl_FirstHashEntry(&queuePtr->jobs, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        if (((Job *) Tcl_GetHashValue(hPtr))->state == JOB_DONE) {
            return true;
        }
    }
    return false;
}

NsJobStatus
NsJobCancel(const char *queue, const char *id, bool *wasRunningPtr)
{
    NsJobStatus  status;
    Job         *jobPtr;

    *wasRunningPtr = false;
    Ns_MutexLock(&pool.lock);
    jobPtr = FindJobLocked(queue, id, &status);
    if (jobPtr != NULL && jobPtr->isWaited) {
        status = NS_JOB_IS_WAITED;
    } else if (jobPtr != NULL && jobPtr->state == JOB_RUNNING) {
        *wasRunningPtr = true;
        jobPtr->isCancelled = true;
        if (jobPtr->interp != NULL) {
            (void) Tcl_CancelEval(jobPtr->interp, NULL, NULL,
                                  TCL_CANCEL_UNWIND);
        }
    } else if (jobPtr != NULL && jobPtr->state == JOB_SCHEDULED) {
        RemovePendingLocked(jobPtr);
        jobPtr->isCancelled = true;
        SetCancelled(&jobPtr->result);
        jobPtr->queuePtr->nRunning++;       /* FinishLocked takes it back. */
        FinishLocked(jobPtr);
    }
    Ns_MutexUnlock(&pool.lock);
    return status;
}

NsJobStatus
NsJobExists(const char *queue, const char *id, bool *existsPtr)
{
    NsJobStatus status;

    Ns_MutexLock(&pool.lock);
    *existsPtr = FindJobLocked(queue, id, &status) != NULL;
    Ns_MutexUnlock(&pool.lock);
    return status == NS_JOB_NO_JOB ? NS_JOB_OK : status;
}

NsJobStatus
NsJobIds(const char *queue, Ns_DString *dsPtr)
{
    Queue          *queuePtr;
    Tcl_HashSearch  search;
    Tcl_HashEntry  *hPtr;

    Ns_MutexLock(&pool.lock);
    queuePtr = FindQueueLocked(queue);
    if (queuePtr != NULL) {
        for (hPtr = Tcl_FirstHashEntry(&queuePtr->jobs, &search); hPtr != NULL;
             hPtr = Tcl_NextHashEntry(&search)) {
            Ns_DStringAppendElement(dsPtr,
                                    Tcl_GetHashKey(&queuePtr->jobs, hPtr));
        }
    }
    Ns_MutexUnlock(&pool.lock);
    return queuePtr != NULL ? NS_JOB_OK : NS_JOB_NO_QUEUE;
}

NsJobStatus
NsJobList(const char *queue, Ns_DString *dsPtr)
{
    Queue          *queuePtr;
    Tcl_HashSearch  search;
    Tcl_HashEntry  *hPtr;

    Ns_MutexLock(&pool.lock);
    queuePtr = FindQueueLocked(queue);
    if (queuePtr != NULL) {
        for (hPtr = Tcl_FirstHashEntry(&queuePtr->jobs, &search); hPtr != NULL;
             hPtr = Tcl_NextHashEntry(&search)) {
            Tcl_DStringStartSublist(dsPtr);
            AppendJob(dsPtr, Tcl_GetHashValue(hPtr));
            Tcl_DStringEndSublist(dsPtr);
        }
    }
    Ns_MutexUnlock(&pool.lock);
    return queuePtr != NULL ? NS_JOB_OK : NS_JOB_NO_QUEUE;
}

static void
AppendJob(Ns_DString *dsPtr, const Job *jobPtr)
{
    static const char *const states[] = {
        [JOB_SCHEDULED] = "scheduled",
        [JOB_RUNNING]   = "running",
        [JOB_DONE]      = "done"
    };
    static const char *const codes[] = {
        [TCL_OK]       = "TCL_OK",
        [TCL_ERROR]    = "TCL_ERROR",
        [TCL_RETURN]   = "TCL_RETURN",
        [TCL_BREAK]    = "TCL_BREAK",
        [TCL_CONTINUE] = "TCL_CONTINUE"
    };
    bool    isDone = jobPtr->state == JOB_DONE;
    int     code = isDone ? jobPtr->result.code : TCL_OK;
    NsStamp endStamp = isDone ? jobPtr->endStamp : NsClockNow();

    Ns_DStringAppendElement(dsPtr, "id");
    Ns_DStringAppendElement(dsPtr, jobPtr->id);
    Ns_DStringAppendElement(dsPtr, "state");
    Ns_DStringAppendElement(dsPtr, states[jobPtr->state]);
    Ns_DStringAppendElement(dsPtr, "results");
    Ns_DStringAppendElement(dsPtr, isDone && jobPtr->result.text != NULL
                            ? jobPtr->result.text : "");
    Ns_DStringAppendElement(dsPtr, "script");
    Ns_DStringAppendElement(dsPtr, jobPtr->script);
    Ns_DStringAppendElement(dsPtr, "code");
    Ns_DStringAppendElement(dsPtr, code >= 0 && code < Ns_NrElements(codes)
                            ? codes[code] : "TCL_OK");
    Ns_DStringPrintf(dsPtr, " type %s req %s thread %" PRIxPTR " time %.3f"
                     " starttime %ld endtime %ld",
                     jobPtr->isDetached ? "detached" : "nondetached",
                     jobPtr->isWaited ? "wait" : "none", jobPtr->threadId,
                     (double) (endStamp - jobPtr->startStamp) / 1e6,
                     jobPtr->started.sec, jobPtr->ended.sec);
}

void
NsJobQueues(Ns_DString *dsPtr)
{
    Ns_MutexLock(&pool.lock);
    for (Queue *queuePtr = pool.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        Ns_DStringAppendElement(dsPtr, queuePtr->name);
    }
    Ns_MutexUnlock(&pool.lock);
}

void
NsJobQueueList(Ns_DString *dsPtr)
{
    Ns_MutexLock(&pool.lock);
    for (Queue *queuePtr = pool.firstPtr; queuePtr != NULL;
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
    Ns_MutexUnlock(&pool.lock);
}

void
NsJobStats(Ns_DString *dsPtr)
{
    Ns_MutexLock(&pool.lock);
    for (const Queue *queuePtr = pool.firstPtr; queuePtr != NULL;
         queuePtr = queuePtr->nextPtr) {
        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringAppendElement(dsPtr, "queue");
        Ns_DStringAppendElement(dsPtr, queuePtr->name);
        Ns_DStringPrintf(dsPtr, " running %d queued %d done %" PRId64,
                         queuePtr->nRunning, queuePtr->nPending,
                         queuePtr->nDone);
        Tcl_DStringEndSublist(dsPtr);
    }
    Ns_MutexUnlock(&pool.lock);
}

void
NsJobThreadList(Ns_DString *dsPtr)
{
    Ns_MutexLock(&pool.lock);
    Ns_DStringPrintf(dsPtr, "maxthreads %d numthreads %d numidle %d req %s",
                     pool.maxThreads, pool.nThreads, pool.nIdle,
                     pool.isStopping ? "stop" : "none");
    Ns_MutexUnlock(&pool.lock);
}

void
NsJobGenId(Ns_DString *dsPtr)
{
    Ns_Time  now;
    unsigned number;

    Ns_GetTime(&now);
    Ns_MutexLock(&pool.lock);
    number = pool.nGenerated++;
    Ns_MutexUnlock(&pool.lock);
    Ns_DStringPrintf(dsPtr, "queue_id_%x_%lx", number, now.sec);
}

void
NsJobConfigure(int *jobsPerThreadPtr, int *timeoutPtr)
{
    Ns_MutexLock(&pool.lock);
    ConfigureLocked();
    if (*jobsPerThreadPtr >= 0) {
        pool.jobsPerThread = *jobsPerThreadPtr;
    }
    if (*timeoutPtr >= 0) {
        pool.timeout = *timeoutPtr;
    }
    *jobsPerThreadPtr = pool.jobsPerThread;
    *timeoutPtr = pool.timeout;
    Ns_MutexUnlock(&pool.lock);
}

/*
 * The process ends: pending jobs are dropped, running ones may finish until the
 * deadline.
 */
static void
Stop(const Ns_Time *deadlinePtr, void *arg)
{
    Ns_Thread thread = NULL;
    bool      hasEnded = false;
    int       status = NS_OK;

    Ns_MutexLock(&pool.lock);
    if (deadlinePtr == NULL) {
        pool.isStopping = true;
        Ns_CondBroadcast(&pool.work);
        Ns_CondBroadcast(&pool.done);
    } else {
        Ns_Time deadline = *deadlinePtr;

        while (pool.nThreads > 0 && status == NS_OK) {
            status = Ns_CondTimedWait(&pool.done, &pool.lock, &deadline);
        }
        hasEnded = pool.nThreads == 0 && pool.hasEnded;
        thread = pool.endedThread;
        pool.hasEnded = false;
    }
    Ns_MutexUnlock(&pool.lock);
    if (hasEnded) {
        Ns_ThreadJoin(&thread, NULL);
    }
    if (status != NS_OK) {
        Ns_Log(Warning, "tcljobs: timeout waiting for exit");
    }
}
