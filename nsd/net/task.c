/*
 * task.c --
 *
 *      Socket tasks: state machines driven by what happens on a socket, many of
 *      them in one thread.
 *
 *      A task belongs to the thread that runs it, except for the few fields
 *      that the creator may look at or set, guarded by one lock for all tasks.
 */

#include "nslog.h"
#include "nssocket.h"
#include "nsthread.h"
#include "net/tasks.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"

#include <sys/eventfd.h>

typedef struct Task {
    NS_SOCKET     sock;             /* Constant. */
    Ns_TaskProc  *proc;             /* Constant. */
    void         *arg;              /* Constant. */

    /* Guarded by the lock. */
    struct Task  *nextPtr;          /* Signals of a queue. */
    struct Queue *queuePtr;         /* NULL: none, or run by the caller. */
    bool          isSignalled;      /* In the list of signals. */
    bool          mustInit;
    bool          mustCancel;
    bool          isCompleted;

    /* The thread that runs it. */
    struct Task  *nextRunPtr;
    int           when;             /* Conditions to wait for. */
    NsStamp       due;              /* The timeout; 0: none. */
    bool          isDone;           /* The task has said so. */
} Task;

typedef struct Queue {
    struct Queue *nextQueuePtr;     /* Guarded by the lock. */
    char         *name;             /* Constant. */
    Ns_Thread     thread;           /* Constant. */
    int           wakeFd;           /* Constant. */

    /* Guarded by the lock. */
    Task         *firstPtr;         /* Signalled tasks. */
    Task         *lastPtr;
    bool          isStopping;
    bool          hasEnded;

    Task         *runPtr;           /* The thread: its tasks. */
} Queue;

#define TASK(task)   ((Task *) (task))
#define QUEUE(queue) ((Queue *) (queue))

static Ns_Mutex lock;
static Ns_Cond  changed;            /* A task completed; a queue ended. */
static Queue   *firstQueuePtr;
static bool     isStopping;

static Ns_ReturnCode SignalLocked(Task *taskPtr);
static void Wake(const Queue *queuePtr);
static void QueueThread(void *arg);
static Ns_ArgProc DescribeQueue;
static void TakeSignals(Queue *queuePtr);
static void RunOnce(Queue *queuePtr, struct pollfd **fdsPtr, int *sizePtr);
static void CancelAll(Queue *queuePtr);
static void Unlist(Queue *queuePtr);
static void FreeQueue(Queue *queuePtr);
static void Step(Task *taskPtr, bool mustInit, bool mustCancel);
static void Deliver(Task *taskPtr, short got);
static void Call(Task *taskPtr, int why);
static bool FinishIfDone(Task *taskPtr);
static short EventsOf(const Task *taskPtr);
static int  MsUntil(NsStamp due, int ms);
static Ns_ShutdownProc Shutdown;

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
    queuePtr->wakeFd = eventfd(0u, EFD_NONBLOCK | EFD_CLOEXEC);
    if (queuePtr->wakeFd < 0) {
        Ns_Log(Error, "task[%s]: cannot create an eventfd: %s", name,
               strerror(errno));
        FreeQueue(queuePtr);
        return NULL;
    }
    Ns_MutexLock(&lock);
    queuePtr->nextQueuePtr = firstQueuePtr;
    firstQueuePtr = queuePtr;
    queuePtr->isStopping = isStopping;
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
    Wake(queuePtr);
    Ns_ThreadJoin(&queuePtr->thread, NULL);
    FreeQueue(queuePtr);
}

static void
Unlist(Queue *queuePtr)
{
    Queue **linkPtrPtr = &firstQueuePtr;

    Ns_MutexLock(&lock);
    queuePtr->isStopping = true;
    while (*linkPtrPtr != queuePtr) {
        linkPtrPtr = &(*linkPtrPtr)->nextQueuePtr;
    }
    *linkPtrPtr = queuePtr->nextQueuePtr;
    Ns_MutexUnlock(&lock);
}

static void
FreeQueue(Queue *queuePtr)
{
    if (queuePtr->wakeFd >= 0) {
        close(queuePtr->wakeFd);
    }
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
    Task          *taskPtr = TASK(task);
    Ns_ReturnCode  result;

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

void
Ns_TaskRun(Ns_Task *task)
{
    Task *taskPtr = TASK(task);

    Call(taskPtr, NS_SOCK_INIT);
    while (!FinishIfDone(taskPtr)) {
        struct pollfd pollFd = {
            .fd = taskPtr->sock, .events = EventsOf(taskPtr)
        };

        if (poll(&pollFd, 1u, MsUntil(taskPtr->due, -1)) >= 0) {
            Deliver(taskPtr, pollFd.revents);
        }
    }
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
    Task         *taskPtr = TASK(task);
    Ns_Time       space;
    Ns_Time      *deadlinePtr = Ns_AbsoluteTime(&space, timeoutPtr);
    Ns_ReturnCode result = NS_OK;

    Ns_MutexLock(&lock);
    while (!taskPtr->isCompleted && result == NS_OK) {
        result = Ns_CondTimedWait(&changed, &lock, deadlinePtr);
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
    if (taskPtr->queuePtr != NULL && !taskPtr->isCompleted) {
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
    if (queuePtr->isStopping) {
        return NS_ERROR;
    }
    if (!taskPtr->isSignalled) {
        taskPtr->isSignalled = true;
        taskPtr->nextPtr = NULL;
        if (queuePtr->lastPtr != NULL) {
            queuePtr->lastPtr->nextPtr = taskPtr;
        } else {
            queuePtr->firstPtr = taskPtr;
        }
        queuePtr->lastPtr = taskPtr;
    }
    Wake(queuePtr);
    return NS_OK;
}

static void
Wake(const Queue *queuePtr)
{
    uint64_t one = 1u;
    ssize_t  n = write(queuePtr->wakeFd, &one, sizeof(one));

    (void) n;
}

static void
QueueThread(void *arg)
{
    Queue         *queuePtr = arg;
    struct pollfd *fds = NULL;
    int            size = 0;
    bool           mustStop = false;

    Ns_ThreadSetName("task:%s", queuePtr->name);
    while (!mustStop) {
        TakeSignals(queuePtr);
        Ns_MutexLock(&lock);
        mustStop = queuePtr->isStopping;
        Ns_MutexUnlock(&lock);
        if (!mustStop) {
            RunOnce(queuePtr, &fds, &size);
        }
    }
    CancelAll(queuePtr);
    ns_free(fds);
    Ns_MutexLock(&lock);
    queuePtr->hasEnded = true;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

/*
 * New tasks begin, others are cancelled.
 */
static void
TakeSignals(Queue *queuePtr)
{
    for (;;) {
        Task *taskPtr;
        bool  mustInit, mustCancel;

        Ns_MutexLock(&lock);
        taskPtr = queuePtr->firstPtr;
        if (taskPtr == NULL) {
            Ns_MutexUnlock(&lock);
            return;
        }
        queuePtr->firstPtr = taskPtr->nextPtr;
        if (queuePtr->firstPtr == NULL) {
            queuePtr->lastPtr = NULL;
        }
        mustInit = taskPtr->mustInit;
        mustCancel = taskPtr->mustCancel;
        taskPtr->isSignalled = false;
        taskPtr->mustInit = false;
        taskPtr->mustCancel = false;
        Ns_MutexUnlock(&lock);
        if (mustInit) {
            taskPtr->nextRunPtr = queuePtr->runPtr;
            queuePtr->runPtr = taskPtr;
        }
        Step(taskPtr, mustInit, mustCancel);
    }
}

/*
 * Wait for one of the tasks, and call those to which something happened.
 */
static void
RunOnce(Queue *queuePtr, struct pollfd **fdsPtr, int *sizePtr)
{
    Task  **linkPtrPtr = &queuePtr->runPtr;
    int     n = 1, ms = -1;

    while (*linkPtrPtr != NULL) {
        Task *taskPtr = *linkPtrPtr;

        /* Out of the list first: when completed, it may be freed. */
        if (taskPtr->isDone) {
            *linkPtrPtr = taskPtr->nextRunPtr;
            (void) FinishIfDone(taskPtr);
            continue;
        }
        if (n + 1 >= *sizePtr) {
            *sizePtr = *sizePtr * 2 + 16;
            *fdsPtr = ns_realloc(*fdsPtr,
                                 (size_t) *sizePtr * sizeof(struct pollfd));
        }
        (*fdsPtr)[n++] = (struct pollfd) {
            .fd = taskPtr->sock, .events = EventsOf(taskPtr)
        };
        ms = MsUntil(taskPtr->due, ms);
        linkPtrPtr = &taskPtr->nextRunPtr;
    }
    if (*sizePtr == 0) {
        *sizePtr = 16;
        *fdsPtr = ns_realloc(*fdsPtr, 16u * sizeof(struct pollfd));
    }
    (*fdsPtr)[0] = (struct pollfd) {.fd = queuePtr->wakeFd, .events = POLLIN};
    if (poll(*fdsPtr, (nfds_t) n, ms) < 0) {
        return;
    }
    if ((*fdsPtr)[0].revents != 0) {
        uint64_t count;
        ssize_t  nRead = read(queuePtr->wakeFd, &count, sizeof(count));

        (void) nRead;
    }
    n = 1;
    for (Task *taskPtr = queuePtr->runPtr; taskPtr != NULL;
         taskPtr = taskPtr->nextRunPtr) {
        Deliver(taskPtr, (*fdsPtr)[n++].revents);
    }
}

static void
CancelAll(Queue *queuePtr)
{
    TakeSignals(queuePtr);
    while (queuePtr->runPtr != NULL) {
        Task *taskPtr = queuePtr->runPtr;

        queuePtr->runPtr = taskPtr->nextRunPtr;
        if (!taskPtr->isDone) {
            Step(taskPtr, false, true);
        }
        (void) FinishIfDone(taskPtr);
    }
}

static void
Step(Task *taskPtr, bool mustInit, bool mustCancel)
{
    if (mustInit) {
        Call(taskPtr, NS_SOCK_INIT);
    }
    if (mustCancel && !taskPtr->isDone) {
        Call(taskPtr, NS_SOCK_CANCEL);
        taskPtr->isDone = true;
    }
}

/*
 * Call the task with each condition that it waits for and that holds; or with
 * the timeout.
 */
static void
Deliver(Task *taskPtr, short got)
{
    int when = taskPtr->when;

    if (got == 0) {
        if (taskPtr->due != 0 && !taskPtr->isDone
                && taskPtr->due <= NsClockNow()) {
            taskPtr->due = 0;
            Call(taskPtr, NS_SOCK_TIMEOUT);
        }
        return;
    }
    /* After a hang-up the task finds out by trying. */
    if ((got & (POLLHUP | POLLERR)) != 0) {
        got = POLLIN | POLLOUT;
    }
    if ((got & POLLPRI) != 0 && (when & NS_SOCK_EXCEPTION) != 0
            && !taskPtr->isDone) {
        Call(taskPtr, NS_SOCK_EXCEPTION);
    }
    if ((got & POLLOUT) != 0 && (when & NS_SOCK_WRITE) != 0
            && !taskPtr->isDone) {
        Call(taskPtr, NS_SOCK_WRITE);
    }
    if ((got & POLLIN) != 0 && (when & NS_SOCK_READ) != 0 && !taskPtr->isDone) {
        Call(taskPtr, NS_SOCK_READ);
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
static bool
FinishIfDone(Task *taskPtr)
{
    if (!taskPtr->isDone) {
        return false;
    }
    Call(taskPtr, NS_SOCK_DONE);
    Ns_MutexLock(&lock);
    taskPtr->isCompleted = true;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
    return true;
}

static short
EventsOf(const Task *taskPtr)
{
    int events = 0;

    if ((taskPtr->when & NS_SOCK_READ) != 0) {
        events |= POLLIN;
    }
    if ((taskPtr->when & NS_SOCK_WRITE) != 0) {
        events |= POLLOUT;
    }
    if ((taskPtr->when & NS_SOCK_EXCEPTION) != 0) {
        events |= POLLPRI;
    }
    return (short) events;
}

/*
 * The smaller of ms (-1: none) and the time left until due (0: never).
 */
static int
MsUntil(NsStamp due, int ms)
{
    NsStamp left = due - NsClockNow();
    int     leftMs;

    if (due == 0) {
        return ms;
    }
    leftMs = left <= 0 ? 0 : (int) MIN((left + 999999) / 1000000, INT_MAX);
    return ms < 0 ? leftMs : MIN(ms, leftMs);
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
        queuePtr->isStopping = true;
        Wake(queuePtr);
    }
    for (Queue *queuePtr = firstQueuePtr;
         deadlinePtr != NULL && queuePtr != NULL && result == NS_OK;
         queuePtr = queuePtr->nextQueuePtr) {
        Ns_Time deadline = *deadlinePtr;

        while (!queuePtr->hasEnded && result == NS_OK) {
            result = Ns_CondTimedWait(&changed, &lock, &deadline);
        }
    }
    Ns_MutexUnlock(&lock);
    if (result != NS_OK) {
        Ns_Log(Warning, "task: timeout waiting for task queues to end");
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
