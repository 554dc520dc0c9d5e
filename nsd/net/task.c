/* SPDX-License-Identifier: MPL-2.0
 * task.c --
 *
 *      Socket tasks: state machines driven by what happens on a socket, many of
 *      them in one thread.
 *
 *      A task belongs to the thread that runs it, except for the few fields
 *      that the creator may look at or set, guarded by one lock for all tasks.
 *      One that waits costs the thread nothing while others work.
 */

#include "net/task.h"
#include "nslog.h"
#include "nssocket.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "net/watch.h"

typedef struct Task {
    NsWatch      watch; /* Must be first.  The thread. */
    NsInboxNode  node;  /* In the inbox if isSignalled. */
    NS_SOCKET    sock;  /* Constant. */
    Ns_TaskProc *proc;  /* Constant. */
    void        *arg;   /* Constant. */
    bool         isOwn; /* Constant: freed by its queue. */

    /* Guarded by the lock. */
    struct Queue *queuePtr; /* NULL: none, or run by the caller. */
    bool          isSignalled;
    bool          mustInit;
    bool          mustCancel;
    bool          isEnding; /* Takes no signals any longer. */
    bool          isCompleted;

    /* The thread that runs it. */
    int     when;   /* Conditions to wait for. */
    NsStamp due;    /* The timeout; 0: none. */
    bool    isDone; /* The task has said so. */
} Task;

typedef struct Queue {
    struct Queue *nextQueuePtr; /* Guarded by the lock. */
    char         *name;         /* Constant. */
    Ns_Thread     thread;       /* Constant. */
    NsWatcher     watcher;      /* The thread; stopped under the lock. */
    bool          hasEnded;     /* Guarded by the lock, like this one. */
    bool          isJoined;
} Queue;

#define TASK(task)   ((Task *) (task))
#define QUEUE(queue) ((Queue *) (queue))

static Ns_Mutex lock;
static Ns_Cond  changed; /* A task completed; a queue ended. */
static Queue   *firstQueuePtr;
static bool     isStopping;

typedef int WaitProc(Ns_Cond *condPtr, Ns_Mutex *mutexPtr,
                     Ns_Time *deadlinePtr);

static Ns_ReturnCode   Wait(Task *taskPtr, Ns_Time *timeoutPtr,
                            WaitProc *waitProc);
static Ns_ReturnCode   SignalLocked(Task *taskPtr);
static void            QueueThread(void *arg);
static Ns_ArgProc      DescribeQueue;
static void            TakeSignal(NsInboxNode *nodePtr, void *arg);
static void            CancelAll(Queue *queuePtr);
static void            Unlist(Queue *queuePtr);
static void            FreeQueue(Queue *queuePtr);
static NsWatchProc     Happened;
static void            GoOn(Queue *queuePtr, Task *taskPtr);
static void            Deliver(Task *taskPtr, int what);
static void            Call(Task *taskPtr, int why);
static bool            BeginEnd(Task *taskPtr);
static void            Finish(Task *taskPtr);
static Ns_ShutdownProc Shutdown;
static void            JoinEndedLocked(void);

static const NsWatchProcs watchProcs = {
    .watchProc = Happened, .nodeProc = TakeSignal};

void
NsTasksInit(void)
{
    NsMutexSetup(&lock, NS_RANK_TASK, "ns:task", NULL);
    Ns_CondInit(&changed);
    (void) Ns_RegisterAtShutdown(Shutdown, NULL);
    Ns_RegisterProcInfo((void *) QueueThread, "ns:taskqueue", DescribeQueue);
    Ns_RegisterProcInfo((void *) Shutdown, "ns:taskshutdown", NULL);
}

Ns_TaskQueue *
Ns_CreateTaskQueue(const char *name)
{
    Queue *queuePtr = ns_calloc(1u, sizeof(Queue));

    queuePtr->name = ns_strdup(name);
    if (NsWatcherInit(&queuePtr->watcher, &watchProcs, queuePtr) != NS_OK) {
        Ns_Log(Error, "task[%s]: cannot create a queue: %s", name,
               strerror(errno));
        ns_free(queuePtr->name);
        ns_free(queuePtr);
        return NULL;
    }
    Ns_MutexLock(&lock);
    queuePtr->nextQueuePtr = firstQueuePtr;
    firstQueuePtr = queuePtr;
    if (isStopping) {
        NsLoopStop(&queuePtr->watcher.loop);
    }
    Ns_MutexUnlock(&lock);
    if (NsThreadTry(QueueThread, queuePtr, 0, &queuePtr->thread) != 0) {
        Unlist(queuePtr);
        FreeQueue(queuePtr);
        return NULL;
    }
    return (Ns_TaskQueue *) queuePtr;
}

void
Ns_DestroyTaskQueue(Ns_TaskQueue *queue)
{
    Queue *queuePtr = QUEUE(queue);

    Unlist(queuePtr);
    Ns_ThreadJoin(&queuePtr->thread, NULL);
    FreeQueue(queuePtr);
}

static void
Unlist(Queue *queuePtr)
{
    Queue **linkPtrPtr = &firstQueuePtr;

    Ns_MutexLock(&lock);
    NsLoopStop(&queuePtr->watcher.loop);
    while (*linkPtrPtr != queuePtr) {
        linkPtrPtr = &(*linkPtrPtr)->nextQueuePtr;
    }
    *linkPtrPtr = queuePtr->nextQueuePtr;
    Ns_MutexUnlock(&lock);
}

static void
FreeQueue(Queue *queuePtr)
{
    NsWatcherFree(&queuePtr->watcher);
    ns_free(queuePtr->name);
    ns_free(queuePtr);
}

Ns_Task *
Ns_TaskCreate(NS_SOCKET sock, Ns_TaskProc *proc, void *arg)
{
    Task *taskPtr = ns_calloc(1u, sizeof(Task));

    taskPtr->sock = sock;
    taskPtr->proc = proc;
    taskPtr->arg = arg;
    return (Ns_Task *) taskPtr;
}

int
Ns_TaskEnqueue(Ns_Task *task, Ns_TaskQueue *queue)
{
    Task         *taskPtr = TASK(task);
    Ns_ReturnCode result;

    Ns_MutexLock(&lock);
    taskPtr->queuePtr = QUEUE(queue);
    taskPtr->mustInit = true;
    result = SignalLocked(taskPtr);
    if (result != NS_OK) {
        taskPtr->queuePtr = NULL;
    }
    Ns_MutexUnlock(&lock);
    return result;
}

Ns_Task *
NsTaskStart(NS_SOCKET sock, Ns_TaskProc *proc, void *arg, Ns_TaskQueue *queue)
{
    Task *taskPtr = (Task *) Ns_TaskCreate(sock, proc, arg);

    taskPtr->isOwn = true;
    if (Ns_TaskEnqueue((Ns_Task *) taskPtr, queue) != NS_OK) {
        ns_free(taskPtr);
        return NULL;
    }
    return (Ns_Task *) taskPtr;
}

void
Ns_TaskRun(Ns_Task *task)
{
    Task *taskPtr = TASK(task);

    Call(taskPtr, NS_SOCK_INIT);
    while (!taskPtr->isDone) {
        Deliver(taskPtr,
                NsWatchAlone(taskPtr->sock, taskPtr->when, taskPtr->due));
    }
    Finish(taskPtr);
}

void
Ns_TaskCallback(Ns_Task *task, int when, Ns_Time *timeoutPtr)
{
    Task *taskPtr = TASK(task);

    taskPtr->when = when;
    taskPtr->due = timeoutPtr == NULL ? 0 : NsClockDue(timeoutPtr);
}

void
Ns_TaskDone(Ns_Task *task)
{
    TASK(task)->isDone = true;
}

int
Ns_TaskCompleted(Ns_Task *task)
{
    bool isCompleted;

    Ns_MutexLock(&lock);
    isCompleted = TASK(task)->isCompleted;
    Ns_MutexUnlock(&lock);
    return isCompleted;
}

int
Ns_TaskWait(Ns_Task *task, Ns_Time *timeoutPtr)
{
    return Wait(TASK(task), timeoutPtr, Ns_CondTimedWait);
}

Ns_ReturnCode
NsTaskWaitEndable(Ns_Task *task, Ns_Time *timeoutPtr)
{
    return Wait(TASK(task), timeoutPtr, NsCondWaitEndable);
}

static Ns_ReturnCode
Wait(Task *taskPtr, Ns_Time *timeoutPtr, WaitProc *waitProc)
{
    Ns_Time       space;
    Ns_Time      *deadlinePtr = Ns_AbsoluteTime(&space, timeoutPtr);
    Ns_ReturnCode result = NS_OK;

    Ns_MutexLock(&lock);
    while (!taskPtr->isCompleted && result == NS_OK) {
        result = waitProc(&changed, &lock, deadlinePtr);
    }
    if (taskPtr->isCompleted) {
        result = NS_OK;
    }
    Ns_MutexUnlock(&lock);
    return result;
}

int
Ns_TaskCancel(Ns_Task *task)
{
    Task         *taskPtr = TASK(task);
    Ns_ReturnCode result = NS_ERROR;

    Ns_MutexLock(&lock);
    if (taskPtr->queuePtr != NULL && !taskPtr->isEnding) {
        taskPtr->mustCancel = true;
        result = SignalLocked(taskPtr);
    }
    Ns_MutexUnlock(&lock);
    return result;
}

NS_SOCKET
Ns_TaskFree(Ns_Task *task)
{
    NS_SOCKET sock = TASK(task)->sock;

    ns_free(task);
    return sock;
}

/*
 * Put the task into its queue's list of signals.  NS_ERROR: the queue stops.
 */
static Ns_ReturnCode
SignalLocked(Task *taskPtr)
{
    Queue *queuePtr = taskPtr->queuePtr;

    NsAssertLocked(&lock);
    if (NsLoopIsStopping(&queuePtr->watcher.loop)) {
        return NS_ERROR;
    }
    if (!taskPtr->isSignalled) {
        taskPtr->isSignalled = true;
        NsInboxPut(&queuePtr->watcher.loop.inbox, &taskPtr->node);
    }
    return NS_OK;
}

static void
QueueThread(void *arg)
{
    Queue  *queuePtr = arg;
    NsLoop *loopPtr = &queuePtr->watcher.loop;

    Ns_ThreadSetName("task:%s", queuePtr->name);
    while (!NsLoopIsStopping(loopPtr)) {
        NsLoopTurn(loopPtr, 0);
    }
    NsLoopTakeInbox(loopPtr);
    CancelAll(queuePtr);
    Ns_MutexLock(&lock);
    queuePtr->hasEnded = true;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

/*
 * A new task begins, or one is cancelled, or both.
 */
static void
TakeSignal(NsInboxNode *nodePtr, void *arg)
{
    Queue *queuePtr = arg;
    Task  *taskPtr = (Task *) ((char *) nodePtr - offsetof(Task, node));
    bool   mustInit, mustCancel;

    Ns_MutexLock(&lock);
    NsAssert(taskPtr->isSignalled && taskPtr->queuePtr == queuePtr);
    mustInit = taskPtr->mustInit;
    mustCancel = taskPtr->mustCancel;
    taskPtr->isSignalled = false;
    taskPtr->mustInit = false;
    taskPtr->mustCancel = false;
    Ns_MutexUnlock(&lock);
    if (mustInit) {
        NsWatchBegin(&queuePtr->watcher, &taskPtr->watch, taskPtr->sock);
        Call(taskPtr, NS_SOCK_INIT);
    }
    if (mustCancel && !taskPtr->isDone) {
        Call(taskPtr, NS_SOCK_CANCEL);
        taskPtr->isDone = true;
    }
    GoOn(queuePtr, taskPtr);
}

static void
CancelAll(Queue *queuePtr)
{
    NsWatch *watchPtr;

    while ((watchPtr = NsWatcherFirst(&queuePtr->watcher)) != NULL) {
        Task *taskPtr = (Task *) watchPtr;

        Call(taskPtr, NS_SOCK_CANCEL);
        taskPtr->isDone = true;
        GoOn(queuePtr, taskPtr);
    }
}

static void
Happened(NsWatch *watchPtr, int what, void *arg)
{
    Task *taskPtr = (Task *) watchPtr;

    Deliver(taskPtr, what);
    GoOn(arg, taskPtr);
}

/*
 * Wait for what the task asked for last, or end it.
 */
static void
GoOn(Queue *queuePtr, Task *taskPtr)
{
    if (!taskPtr->isDone) {
        NsWatchSet(&queuePtr->watcher, &taskPtr->watch, taskPtr->when,
                   taskPtr->due);
    } else if (BeginEnd(taskPtr)) {
        NsWatchEnd(&queuePtr->watcher, &taskPtr->watch);
        Finish(taskPtr);
    } else {
        NsWatchSet(&queuePtr->watcher, &taskPtr->watch, 0, 0);
    }
}

/*
 * False: a signal is on its way, and the task ends when it is there.
 */
static bool
BeginEnd(Task *taskPtr)
{
    Ns_MutexLock(&lock);
    NsAssert(!taskPtr->isEnding);
    taskPtr->isEnding = !taskPtr->isSignalled;
    Ns_MutexUnlock(&lock);
    return taskPtr->isEnding;
}

/*
 * Call the task with each condition that it waits for and that holds; or with
 * the timeout.
 */
static void
Deliver(Task *taskPtr, int what)
{
    static const int order[] = {NS_SOCK_EXCEPTION, NS_SOCK_WRITE, NS_SOCK_READ};

    if (what == NS_SOCK_TIMEOUT) {
        taskPtr->due = 0;
        Call(taskPtr, NS_SOCK_TIMEOUT);
        return;
    }
    what &= taskPtr->when;
    for (int i = 0; i < Ns_NrElements(order) && !taskPtr->isDone; i++) {
        if ((what & order[i]) != 0) {
            Call(taskPtr, order[i]);
        }
    }
}

static void
Call(Task *taskPtr, int why)
{
    taskPtr->proc((Ns_Task *) taskPtr, taskPtr->sock, taskPtr->arg, why);
}

/*
 * A task that is done gets a last call; then its creator may free it.
 */
static void
Finish(Task *taskPtr)
{
    NsAssert(taskPtr->isDone && !taskPtr->isCompleted);
    Call(taskPtr, NS_SOCK_DONE);
    if (taskPtr->isOwn) {
        ns_free(taskPtr);
        return;
    }
    Ns_MutexLock(&lock);
    taskPtr->isCompleted = true;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

/*
 * All queues end; whoever owns one may still destroy it.
 */
static void
Shutdown(Ns_Time *deadlinePtr, void *arg)
{
    Ns_ReturnCode result = NS_OK;

    Ns_MutexLock(&lock);
    isStopping = true;
    for (Queue *queuePtr = firstQueuePtr; queuePtr != NULL;
         queuePtr = queuePtr->nextQueuePtr) {
        NsLoopStop(&queuePtr->watcher.loop);
    }
    for (Queue *queuePtr = firstQueuePtr;
         deadlinePtr != NULL && queuePtr != NULL && result == NS_OK;
         queuePtr = queuePtr->nextQueuePtr) {
        Ns_Time deadline = *deadlinePtr;

        while (!queuePtr->hasEnded && result == NS_OK) {
            result = Ns_CondTimedWait(&changed, &lock, &deadline);
        }
    }
    if (deadlinePtr != NULL && result == NS_OK) {
        JoinEndedLocked();
    }
    Ns_MutexUnlock(&lock);
    if (result != NS_OK) {
        Ns_Log(Warning, "task: timeout waiting for task queues to end");
    }
}

/*
 * A thread that has ended may still delete its interpreters, and what libraries
 * keep for it: the process waits for that.
 */
static void
JoinEndedLocked(void)
{
    Queue *queuePtr = firstQueuePtr;

    NsAssertLocked(&lock);
    while (queuePtr != NULL) {
        Ns_Thread thread = queuePtr->thread;

        if (!queuePtr->hasEnded || queuePtr->isJoined) {
            queuePtr = queuePtr->nextQueuePtr;
            continue;
        }
        queuePtr->isJoined = true;
        Ns_MutexUnlock(&lock);
        Ns_ThreadJoin(&thread, NULL);
        Ns_MutexLock(&lock);
        /* Its owner may have destroyed it meanwhile. */
        queuePtr = firstQueuePtr;
    }
}

/*
 * The argument of QueueThread, for lists of threads.
 */
static void
DescribeQueue(Ns_DString *dsPtr, void *arg)
{
    Tcl_DStringAppendElement(dsPtr, ((Queue *) arg)->name);
}
