/* SPDX-License-Identifier: MPL-2.0
 * sched.c --
 *
 *      Scheduled procedures.
 *
 *      Events wait in a heap, ordered by the monotonic time at which they are
 *      due; clock times are converted when they are entered, and checked again
 *      when they seem to be due, for the clock may have been set.
 *
 *      An event is waiting (in the heap), queued (for -sched-, or for a pooled
 *      thread), running, or paused.  Whoever runs it frees it when it was
 *      removed meanwhile.
 *
 *      -schedtimer- only takes due events and queues them: whatever runs in
 *      -sched-, threaded events start in time.  Events due within COALESCE of
 *      each other run as one batch, the one registered last first: scripts rely
 *      on that order.
 */

#include "process/sched.h"

#include "base/assert.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/heap.h"
#include "process/parameters.h"

#define COALESCE (NS_STAMP_SECOND / 100)
#define LATE     NS_STAMP_SECOND
#define RETRY    NS_STAMP_SECOND
#define N_KEPT   5 /* Runs that are remembered of each. */

/*
 * A run that has ended.
 */
typedef struct Run {
    time_t  start;
    NsStamp span;
    bool    hasFailed;
} Run;

typedef struct Event {
    NsHeapEntry   entry;   /* Among the waiting; first member. */
    struct Event *nextPtr; /* In a batch or queue. */
    NsSchedSpec   spec;    /* Constant but for the flags. */
    int           id;      /* Constant. */
    bool          isQueued;
    bool          isRemoved; /* Free it when it ends. */
    time_t        nextTime;  /* Wall clock: for listings and clock times. */
    time_t        lastQueue;
    time_t        lastStart;
    time_t        lastEnd;
    NsStamp       startStamp;   /* Of the present run. */
    bool          hasFailed;    /* It has. */
    int64_t       nRuns;        /* That have ended; */
    int64_t       nErrors;      /* and failed. */
    char         *lastError;    /* NULL: none. */
    time_t        errorTime;    /* When it began. */
    Run           runs[N_KEPT]; /* The n-th is at n % N_KEPT. */
    NsStamp       runTime;      /* Of all of them together. */
} Event;

typedef struct Queue {
    Event *firstPtr;
    Event *lastPtr;
} Queue;

static struct {
    Ns_Mutex lock;          /* Guards the rest, and all events. */
    Ns_Cond  wakeup;        /* For -schedtimer-: the heap changed, a pooled
                             * thread is missing, or the end. */
    Ns_Cond       turn;     /* For -sched-: an event, or the end. */
    Ns_Cond       work;     /* For pooled threads: likewise. */
    Ns_Cond       gone;     /* A thread has ended. */
    Tcl_HashTable events;   /* Id -> Event, while it can run again. */
    NsHeap        waiting;  /* By the time they are due. */
    Queue         plain;    /* For -sched-. */
    Queue         threaded; /* For pooled threads. */
    int           nextId;
    int           nQueued;    /* In threaded. */
    NsStamp       retryStamp; /* When to try again to make a thread. */
    int           nThreads;   /* Pooled threads. */
    int           nStarting;  /* Those of them that have not looked yet. */
    int           nWaiting;   /* Those of them that wait for work. */
    int           nRunning;
    int64_t       nRuns;
    int64_t       nLate;
    NsStamp       delay;       /* From due to begun, of all runs together. */
    int           nextThread;  /* Number for a name. */
    int           nOwnThreads; /* -sched- and -schedtimer-. */
    bool          hasRunner;   /* The first exists; the second. */
    bool          hasTimer;
    bool          isStarted;
    bool          isStopping;
} sched;

typedef struct Limits {
    int     perThread;
    NsStamp maxElapsed; /* The older name of the next. */
    NsStamp logMinDuration;
} Limits;

static Limits limits; /* Constant after start. */

static NsParameterAdjustProc AdjustLogMinDuration;

static const NsParameter rows[] = {
    NS_INT(Limits, perThread, "schedsperthread", "0", 0, NS_PARAM_NO_LIMIT,
           "Scheduled procedures that one thread runs before it ends; 0 = no "
           "limit."),
    NS_TIME(Limits, maxElapsed, "schedmaxelapsed", "2", 0, NS_PARAM_NO_LIMIT,
            "Older name of schedlogminduration."),
    NS_TIME(Limits, logMinDuration, "schedlogminduration", "2", 0,
            NS_PARAM_NO_LIMIT,
            "Warn when a scheduled procedure without a thread of its own ran "
            "longer.",
            .adjustProc = AdjustLogMinDuration),
    NS_PARAM_END};

static Ns_ThreadProc RunTimer;
static Ns_ThreadProc RunScheduler;
static Ns_ThreadProc RunPooled;
static bool          HasOwn(bool *isTherePtr, Ns_ThreadProc *proc);
static bool          QueueDueLocked(NsStamp now);
static void          SleepLocked(void);
static void          RunPlain(Event *eventPtr);
static void          Append(Queue *queuePtr, Event *eventPtr);
static Event        *RemoveFirst(Queue *queuePtr);
static bool          IsPooledMissingLocked(void);
static void          StartPooledLocked(void);
static void          EndOwnLocked(void);
static void          RunEvent(Event *eventPtr);
static void          CountRunLocked(Event *eventPtr);
static void          EndEvent(Event *eventPtr);
static void          EnterLocked(Event *eventPtr);
static void          SetDue(Event *eventPtr);
static Event        *FindLocked(int id);
static void          ForgetLocked(Event *eventPtr);
static void          FreeEvent(Event *eventPtr);
static bool          Remove(int id);
static bool          SetPaused(int id, bool isPaused);
static bool          BatchesBefore(const Event *aPtr, const Event *bPtr);
static void          ListEventLocked(Ns_DString *dsPtr, const Event *eventPtr);
static void          NoteRunLocked(Event *eventPtr);
static void          ListRunsLocked(Ns_DString *dsPtr, const Event *eventPtr);
static void          AppendProc(Ns_DString *dsPtr, const NsSchedSpec *specPtr);

void
NsSchedInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Limits));
    NsMutexSetup(&sched.lock, NS_RANK_SCHED, "ns:sched", NULL);
    Tcl_InitHashTable(&sched.events, TCL_ONE_WORD_KEYS);
    Ns_RegisterProcInfo((void *) RunTimer, "ns:schedtimer", NULL);
    Ns_RegisterProcInfo((void *) RunScheduler, "ns:scheduler", NULL);
    Ns_RegisterProcInfo((void *) RunPooled, "ns:schedthread", NULL);
}

int
NsSchedAdd(const NsSchedSpec *specPtr)
{
    Event         *eventPtr;
    Tcl_HashEntry *entryPtr;
    int            id, isNew;

    if (specPtr->interval.sec < 0 || specPtr->interval.usec < 0
        || ((specPtr->flags & NS_SCHED_DAILY) != 0
            && specPtr->interval.sec >= NS_CALENDAR_DAY)
        || ((specPtr->flags & NS_SCHED_WEEKLY) != 0
            && specPtr->interval.sec >= 7 * NS_CALENDAR_DAY)
        || !HasOwn(&sched.hasRunner, RunScheduler)
        || !HasOwn(&sched.hasTimer, RunTimer)) {
        return NS_ERROR;
    }
    eventPtr = ns_calloc(1, sizeof(Event));
    eventPtr->spec = *specPtr;
    eventPtr->spec.flags &= NS_SCHED_THREAD | NS_SCHED_ONCE | NS_SCHED_DAILY
        | NS_SCHED_WEEKLY;
    NsHeapEntryInit(&eventPtr->entry);
    eventPtr->lastQueue = eventPtr->lastStart = eventPtr->lastEnd = -1;

    Ns_MutexLock(&sched.lock);
    if (sched.isStopping) {
        Ns_MutexUnlock(&sched.lock);
        ns_free(eventPtr);
        return NS_ERROR;
    }
    do {
        id = sched.nextId;
        sched.nextId = sched.nextId == INT_MAX ? 0 : sched.nextId + 1;
        entryPtr = Tcl_CreateHashEntry(&sched.events, INT2PTR(id), &isNew);
    } while (!isNew);
    eventPtr->id = id;
    Tcl_SetHashValue(entryPtr, eventPtr);
    EnterLocked(eventPtr);
    Ns_MutexUnlock(&sched.lock);
    return id;
}

/*
 * A thread of our own, with the first procedure.  False: it is not there, and
 * cannot be made.  Who comes while another thread starts it need not wait.
 */
static bool
HasOwn(bool *isTherePtr, Ns_ThreadProc *proc)
{
    bool mustStart, isThere = true;

    Ns_MutexLock(&sched.lock);
    mustStart = !*isTherePtr && !sched.isStopping;
    if (mustStart) {
        *isTherePtr = true;
        sched.nOwnThreads++;
    }
    Ns_MutexUnlock(&sched.lock);
    if (mustStart && NsThreadTry(proc, NULL, 0, NULL) != 0) {
        isThere = false;
        Ns_MutexLock(&sched.lock);
        *isTherePtr = false;
        EndOwnLocked();
        Ns_MutexUnlock(&sched.lock);
    }
    return isThere;
}

static void
EndOwnLocked(void)
{
    NsAssertLocked(&sched.lock);
    NsAssert(sched.nOwnThreads > 0);

    sched.nOwnThreads--;
    Ns_CondBroadcast(&sched.gone);
}

time_t
NsSchedNextClock(int flags, time_t interval, time_t now)
{
    if ((flags & NS_SCHED_WEEKLY) == 0) {
        return NsCalendarNext(now, NS_CALENDAR_ANY_DAY, (int) interval);
    }
    return NsCalendarNext(now, (int) (interval / NS_CALENDAR_DAY),
                          (int) (interval % NS_CALENDAR_DAY));
}

void
NsSchedStart(void)
{
    NsParametersFill(rows, "ns/parameters", &limits);
    Ns_MutexLock(&sched.lock);
    sched.isStarted = true;
    Ns_CondSignal(&sched.wakeup);
    Ns_MutexUnlock(&sched.lock);
}

void
NsSchedStop(void)
{
    Ns_MutexLock(&sched.lock);
    sched.isStopping = true;
    Ns_CondSignal(&sched.wakeup);
    Ns_CondBroadcast(&sched.turn);
    Ns_CondBroadcast(&sched.work);
    Ns_MutexUnlock(&sched.lock);
}

Ns_ReturnCode
NsSchedWait(const Ns_Time *deadlinePtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_Time       deadline = *deadlinePtr;

    Ns_MutexLock(&sched.lock);
    while (sched.nOwnThreads + sched.nThreads > 0 && result == NS_OK) {
        result = Ns_CondTimedWait(&sched.gone, &sched.lock, &deadline);
    }
    if (sched.nOwnThreads + sched.nThreads == 0) {
        result = NS_OK;
    }
    Ns_MutexUnlock(&sched.lock);
    if (result != NS_OK) {
        Ns_Log(Warning, "sched: timeout waiting for sched exit");
    }
    return result;
}

void
NsSchedList(Ns_DString *dsPtr)
{
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    Ns_MutexLock(&sched.lock);
    entryPtr = Tcl_FirstHashEntry(&sched.events, &search);
    for (; entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        ListEventLocked(dsPtr, Tcl_GetHashValue(entryPtr));
    }
    Ns_MutexUnlock(&sched.lock);
}

void
NsSchedListRuns(Ns_DString *dsPtr)
{
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    Ns_MutexLock(&sched.lock);
    entryPtr = Tcl_FirstHashEntry(&sched.events, &search);
    for (; entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        ListRunsLocked(dsPtr, Tcl_GetHashValue(entryPtr));
    }
    Ns_MutexUnlock(&sched.lock);
}

static void
ListRunsLocked(Ns_DString *dsPtr, const Event *eventPtr)
{
    int64_t first = MAX(0, eventPtr->nRuns - N_KEPT);

    NsAssertLocked(&sched.lock);
    Ns_DStringPrintf(dsPtr, "%s%d", dsPtr->length > 0 ? " " : "", eventPtr->id);
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringPrintf(dsPtr,
                     "runs %" PRId64 " errors %" PRId64 " errortime %" PRId64
                     " lasterror",
                     eventPtr->nRuns, eventPtr->nErrors,
                     (int64_t) eventPtr->errorTime);
    Tcl_DStringAppendElement(dsPtr,
                             eventPtr->lastError == NULL ? ""
                                                         : eventPtr->lastError);
    Tcl_DStringAppendElement(dsPtr, "history");
    Tcl_DStringStartSublist(dsPtr);
    for (int64_t n = eventPtr->nRuns - 1; n >= first; n--) {
        const Run *runPtr = &eventPtr->runs[n % N_KEPT];

        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringPrintf(dsPtr, "%" PRId64 " %.6f %d", (int64_t) runPtr->start,
                         (double) runPtr->span / NS_STAMP_SECOND,
                         runPtr->hasFailed);
        Tcl_DStringEndSublist(dsPtr);
    }
    Tcl_DStringEndSublist(dsPtr);
    Tcl_DStringEndSublist(dsPtr);
}

void
NsSchedNoteError(int id, const char *message)
{
    Event *eventPtr;

    Ns_MutexLock(&sched.lock);
    eventPtr = FindLocked(id);
    /* One that runs once has left the table. */
    if (eventPtr != NULL && (eventPtr->spec.flags & NS_SCHED_RUNNING) != 0) {
        ns_free(eventPtr->lastError);
        eventPtr->lastError = ns_strdup(message);
        eventPtr->errorTime = eventPtr->lastStart;
        eventPtr->hasFailed = true;
    }
    Ns_MutexUnlock(&sched.lock);
}

void
NsSchedTimes(Ns_DString *dsPtr)
{
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    Ns_MutexLock(&sched.lock);
    entryPtr = Tcl_FirstHashEntry(&sched.events, &search);
    for (; entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        const Event *eventPtr = Tcl_GetHashValue(entryPtr);

        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringPrintf(dsPtr, "%d %.6f", eventPtr->id,
                         (double) eventPtr->runTime / NS_STAMP_SECOND);
        AppendProc(dsPtr, &eventPtr->spec);
        Tcl_DStringEndSublist(dsPtr);
    }
    Ns_MutexUnlock(&sched.lock);
}

void
NsSchedGetStats(NsSchedStats *statsPtr)
{
    Ns_MutexLock(&sched.lock);
    *statsPtr = (NsSchedStats){
        .nProcs = sched.events.numEntries,
        .nRunning = sched.nRunning,
        .nQueued = sched.nQueued,
        .nRuns = sched.nRuns,
        .nLate = sched.nLate,
        .delay = sched.delay};
    Ns_MutexUnlock(&sched.lock);
}

int
Ns_Cancel(int id)
{
    return Remove(id) ? 1 : 0;
}

void
Ns_UnscheduleProc(int id)
{
    (void) Remove(id);
}

int
Ns_Pause(int id)
{
    return SetPaused(id, true) ? 1 : 0;
}

int
Ns_Resume(int id)
{
    return SetPaused(id, false) ? 1 : 0;
}

/*
 * True: it was not so before.  One that is running, or on its way, looks at its
 * flags itself.
 */
static bool
SetPaused(int id, bool isPaused)
{
    Event *eventPtr;
    bool   hasChanged;

    Ns_MutexLock(&sched.lock);
    eventPtr = FindLocked(id);
    hasChanged = eventPtr != NULL
        && ((eventPtr->spec.flags & NS_SCHED_PAUSED) != 0) != isPaused;
    if (hasChanged) {
        eventPtr->spec.flags ^= NS_SCHED_PAUSED;
        if (isPaused && NsHeapContains(&eventPtr->entry)) {
            NsHeapRemove(&sched.waiting, &eventPtr->entry);
        } else if (!isPaused && !eventPtr->isQueued
                   && (eventPtr->spec.flags & NS_SCHED_RUNNING) == 0) {
            EnterLocked(eventPtr);
        }
    }
    Ns_MutexUnlock(&sched.lock);
    return hasChanged;
}

/*
 * The thread -schedtimer-: queues what is due.
 */
static void
RunTimer(void *arg)
{
    Ns_ThreadSetName("-schedtimer-");
    (void) Ns_WaitForStartup();
    Ns_MutexLock(&sched.lock);
    while (!sched.isStopping) {
        if (!sched.isStarted) {
            Ns_CondWait(&sched.wakeup, &sched.lock);
        } else if (IsPooledMissingLocked()
                   && NsClockNow() >= sched.retryStamp) {
            StartPooledLocked();
        } else if (!QueueDueLocked(NsClockNow())) {
            SleepLocked();
        }
    }
    EndOwnLocked();
    Ns_MutexUnlock(&sched.lock);
}

/*
 * Until an event is due, or a thread that could not be made is tried again.
 */
static void
SleepLocked(void)
{
    const NsHeapEntry *firstPtr = NsHeapFirst(&sched.waiting);
    NsStamp            until = INT64_MAX;

    NsAssertLocked(&sched.lock);

    if (firstPtr != NULL) {
        until = firstPtr->due + COALESCE / 2;
    }
    if (IsPooledMissingLocked()) {
        until = MIN(until, sched.retryStamp);
    }
    if (until == INT64_MAX) {
        Ns_CondWait(&sched.wakeup, &sched.lock);
    } else {
        (void) NsCondWaitUntil(&sched.wakeup, &sched.lock, until);
    }
}

/*
 * The batch whose first event is due: all that are due by half of COALESCE
 * after it.  False before that moment.
 */
static bool
QueueDueLocked(NsStamp now)
{
    NsHeapEntry *firstPtr = NsHeapFirst(&sched.waiting);
    Event       *batchPtr = NULL;
    NsStamp      limit;

    NsAssertLocked(&sched.lock);
    if (firstPtr == NULL || firstPtr->due + COALESCE / 2 > now) {
        return false;
    }
    limit = firstPtr->due + COALESCE / 2;
    while ((firstPtr = NsHeapFirst(&sched.waiting)) != NULL
           && firstPtr->due <= limit) {
        Event  *eventPtr = (Event *) firstPtr;
        Event **linkPtr = &batchPtr;

        NsHeapRemove(&sched.waiting, &eventPtr->entry);
        if ((eventPtr->spec.flags & (NS_SCHED_DAILY | NS_SCHED_WEEKLY)) != 0
            && time(NULL) < eventPtr->nextTime) {
            EnterLocked(eventPtr); /* The clock was set back. */
            continue;
        }
        eventPtr->lastQueue = time(NULL);
        eventPtr->isQueued = true;
        while (*linkPtr != NULL && BatchesBefore(*linkPtr, eventPtr)) {
            linkPtr = &(*linkPtr)->nextPtr;
        }
        eventPtr->nextPtr = *linkPtr;
        *linkPtr = eventPtr;
    }
    while (batchPtr != NULL) {
        Event *eventPtr = batchPtr;

        batchPtr = eventPtr->nextPtr;
        if ((eventPtr->spec.flags & NS_SCHED_THREAD) != 0) {
            Append(&sched.threaded, eventPtr);
            sched.nQueued++;
            Ns_CondSignal(&sched.work);
        } else {
            Append(&sched.plain, eventPtr);
            Ns_CondSignal(&sched.turn);
        }
    }
    return true;
}

static void
Append(Queue *queuePtr, Event *eventPtr)
{
    NsAssertLocked(&sched.lock);

    eventPtr->nextPtr = NULL;
    if (queuePtr->firstPtr == NULL) {
        queuePtr->firstPtr = eventPtr;
    } else {
        queuePtr->lastPtr->nextPtr = eventPtr;
    }
    queuePtr->lastPtr = eventPtr;
}

/*
 * NULL: it is empty.
 */
static Event *
RemoveFirst(Queue *queuePtr)
{
    Event *eventPtr = queuePtr->firstPtr;

    NsAssertLocked(&sched.lock);

    if (eventPtr != NULL) {
        queuePtr->firstPtr = eventPtr->nextPtr;
    }
    return eventPtr;
}

/*
 * The thread -sched-: runs events without a thread of their own, one after the
 * other.
 */
static void
RunScheduler(void *arg)
{
    Ns_ThreadSetName("-sched-");
    (void) Ns_WaitForStartup();
    Ns_Log(Notice, "sched: starting");
    Ns_MutexLock(&sched.lock);
    while (!sched.isStopping) {
        Event *eventPtr = RemoveFirst(&sched.plain);

        if (eventPtr == NULL) {
            Ns_CondWait(&sched.turn, &sched.lock);
        } else {
            Ns_MutexUnlock(&sched.lock);
            RunPlain(eventPtr);
            Ns_MutexLock(&sched.lock);
        }
    }
    EndOwnLocked();
    Ns_MutexUnlock(&sched.lock);
}

static void
AdjustLogMinDuration(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const Limits *valuePtr = valuesPtr;

    snprintf(limitsPtr->buffer, sizeof(limitsPtr->buffer), "%g",
             (double) valuePtr->maxElapsed / NS_STAMP_SECOND);
    limitsPtr->defaultText = limitsPtr->buffer;
}

static void
RunPlain(Event *eventPtr)
{
    int     id = eventPtr->id;
    NsStamp start = NsClockNow(), span;

    RunEvent(eventPtr);
    span = NsClockNow() - start;
    if (span > limits.logMinDuration) {
        Ns_Log(Warning,
               "sched: excessive time taken by proc %d "
               "(%.3g seconds)",
               id, (double) span / NS_STAMP_SECOND);
    }
}

/*
 * More events than threads without one.
 */
static bool
IsPooledMissingLocked(void)
{
    NsAssertLocked(&sched.lock);

    return sched.nQueued > sched.nWaiting + sched.nStarting
        && !sched.isStopping;
}

/*
 * Make one more.  If there is none to be had, its event waits for another one,
 * or for the next try.  Releases the lock meanwhile.
 */
static void
StartPooledLocked(void)
{
    int number = sched.nextThread++, error;

    NsAssertLocked(&sched.lock);

    sched.nThreads++;
    sched.nStarting++;
    Ns_MutexUnlock(&sched.lock);
    error = NsThreadTry(RunPooled, INT2PTR(number), 0, NULL);
    Ns_MutexLock(&sched.lock);
    if (error != 0) {
        sched.nThreads--;
        sched.nStarting--;
        sched.retryStamp = NsClockNow() + RETRY;
        Ns_CondBroadcast(&sched.gone);
    }
}

/*
 * A pooled thread: named after what it runs.
 */
static void
RunPooled(void *arg)
{
    int number = PTR2INT(arg);
    int nRuns = 0;

    Ns_ThreadSetName("-sched:idle%d-", number);
    Ns_MutexLock(&sched.lock);
    sched.nStarting--;
    while (limits.perThread == 0 || nRuns < limits.perThread) {
        Event *eventPtr;

        if (sched.isStopping) {
            break;
        }
        eventPtr = RemoveFirst(&sched.threaded);
        if (eventPtr == NULL) {
            sched.nWaiting++;
            Ns_CondWait(&sched.work, &sched.lock);
            sched.nWaiting--;
            continue;
        }
        sched.nQueued--;
        Ns_MutexUnlock(&sched.lock);

        Ns_ThreadSetName("-sched:%d-", eventPtr->id);
        RunEvent(eventPtr);
        Ns_ThreadSetName("-sched:idle%d-", number);
        nRuns++;

        Ns_MutexLock(&sched.lock);
    }
    if (IsPooledMissingLocked()) {
        /* This thread has done its share; another one must continue. */
        Ns_CondSignal(&sched.wakeup);
    }
    sched.nThreads--;
    Ns_CondBroadcast(&sched.gone);
    Ns_MutexUnlock(&sched.lock);
}

static void
RunEvent(Event *eventPtr)
{
    const NsSchedSpec *specPtr = &eventPtr->spec;
    bool               mayRun;

    Ns_MutexLock(&sched.lock);
    eventPtr->isQueued = false;
    mayRun = !eventPtr->isRemoved && !sched.isStopping
        && (specPtr->flags & NS_SCHED_PAUSED) == 0;
    if (mayRun) {
        eventPtr->spec.flags |= NS_SCHED_RUNNING;
        eventPtr->lastStart = time(NULL);
        eventPtr->startStamp = NsClockNow();
        eventPtr->hasFailed = false;
        CountRunLocked(eventPtr);
        if ((specPtr->flags & NS_SCHED_ONCE) != 0) {
            ForgetLocked(eventPtr);
            eventPtr->isRemoved = true;
        }
    }
    Ns_MutexUnlock(&sched.lock);

    if (mayRun && specPtr->proc != NULL) {
        specPtr->proc(specPtr->arg, eventPtr->id);
    } else if (mayRun) {
        specPtr->callback(specPtr->arg);
    }
    EndEvent(eventPtr);
}

static void
CountRunLocked(Event *eventPtr)
{
    NsStamp now = NsClockNow();
    NsStamp delay = now - eventPtr->entry.due;

    NsAssertLocked(&sched.lock);
    eventPtr->startStamp = now;
    sched.nRunning++;
    sched.nRuns++;
    if (delay > LATE) {
        sched.nLate++;
    }
    if (delay > 0) {
        sched.delay += delay; /* Else before its time, with others. */
    }
}

/*
 * Schedule the next run, unless it was the last one.
 */
static void
EndEvent(Event *eventPtr)
{
    bool isRemoved;

    Ns_MutexLock(&sched.lock);
    if ((eventPtr->spec.flags & NS_SCHED_RUNNING) != 0) {
        eventPtr->spec.flags &= ~NS_SCHED_RUNNING;
        sched.nRunning--;
        eventPtr->lastEnd = time(NULL);
        NoteRunLocked(eventPtr);
        eventPtr->runTime += NsClockNow() - eventPtr->startStamp;
    }
    isRemoved = eventPtr->isRemoved;
    if (!isRemoved && (eventPtr->spec.flags & NS_SCHED_PAUSED) == 0) {
        EnterLocked(eventPtr);
    }
    Ns_MutexUnlock(&sched.lock);
    if (isRemoved) {
        FreeEvent(eventPtr);
    }
}

static void
NoteRunLocked(Event *eventPtr)
{
    NsAssertLocked(&sched.lock);
    NsAssert(eventPtr->nErrors <= eventPtr->nRuns);
    eventPtr->runs[eventPtr->nRuns % N_KEPT] = (Run){
        .start = eventPtr->lastStart,
        .span = NsClockNow() - eventPtr->startStamp,
        .hasFailed = eventPtr->hasFailed};
    eventPtr->nRuns++;
    eventPtr->nErrors += eventPtr->hasFailed;
}

static void
EnterLocked(Event *eventPtr)
{
    NsAssertLocked(&sched.lock);
    SetDue(eventPtr);
    NsHeapInsert(&sched.waiting, &eventPtr->entry);
    if (NsHeapFirst(&sched.waiting) == &eventPtr->entry) {
        Ns_CondSignal(&sched.wakeup);
    }
}

static void
SetDue(Event *eventPtr)
{
    const NsSchedSpec *specPtr = &eventPtr->spec;
    Ns_Time            now, span = specPtr->interval;

    Ns_GetTime(&now);
    if ((specPtr->flags & (NS_SCHED_DAILY | NS_SCHED_WEEKLY)) != 0) {
        Ns_Time next = {0, 0};

        next.sec = NsSchedNextClock(specPtr->flags, specPtr->interval.sec,
                                    now.sec);
        (void) Ns_DiffTime(&next, &now, &span);
    }
    eventPtr->entry.due = NsClockNow() + NsClockFromTime(&span);
    Ns_IncrTime(&now, span.sec, span.usec);
    eventPtr->nextTime = now.sec;
}

static Event *
FindLocked(int id)
{
    Tcl_HashEntry *entryPtr;

    NsAssertLocked(&sched.lock);
    entryPtr = Tcl_FindHashEntry(&sched.events, INT2PTR(id));
    return entryPtr == NULL ? NULL : Tcl_GetHashValue(entryPtr);
}

static void
ForgetLocked(Event *eventPtr)
{
    NsAssertLocked(&sched.lock);
    Tcl_DeleteHashEntry(Tcl_FindHashEntry(&sched.events,
                                          INT2PTR(eventPtr->id)));
}

static void
FreeEvent(Event *eventPtr)
{
    const NsSchedSpec *specPtr = &eventPtr->spec;

    if (specPtr->cleanupProc != NULL) {
        specPtr->cleanupProc(specPtr->arg, eventPtr->id);
    } else if (specPtr->cleanupCallback != NULL) {
        specPtr->cleanupCallback(specPtr->arg);
    }
    ns_free(eventPtr->lastError);
    ns_free(eventPtr);
}

/*
 * True: it was not running, and will not.  Otherwise, and when it is queued,
 * the thread that has it frees it.
 */
static bool
Remove(int id)
{
    Event *eventPtr;
    bool   isOurs = false, isRunning = true;

    Ns_MutexLock(&sched.lock);
    eventPtr = FindLocked(id);
    if (eventPtr != NULL) {
        ForgetLocked(eventPtr);
        eventPtr->isRemoved = true;
        isRunning = (eventPtr->spec.flags & NS_SCHED_RUNNING) != 0;
        isOurs = !isRunning && !eventPtr->isQueued;
        if (NsHeapContains(&eventPtr->entry)) {
            NsHeapRemove(&sched.waiting, &eventPtr->entry);
        }
    }
    Ns_MutexUnlock(&sched.lock);
    if (isOurs) {
        FreeEvent(eventPtr);
    }
    return !isRunning;
}

static bool
BatchesBefore(const Event *aPtr, const Event *bPtr)
{
    return aPtr->id > bPtr->id;
}

static void
ListEventLocked(Ns_DString *dsPtr, const Event *eventPtr)
{
    const NsSchedSpec *specPtr = &eventPtr->spec;

    NsAssertLocked(&sched.lock);
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringPrintf(dsPtr, "%d %d %ld", eventPtr->id, specPtr->flags,
                     specPtr->interval.sec);
    if (specPtr->interval.usec != 0) {
        Ns_DStringPrintf(dsPtr, ".%06ld", specPtr->interval.usec);
    }
    Ns_DStringPrintf(dsPtr, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
                     (int64_t) eventPtr->nextTime,
                     (int64_t) eventPtr->lastQueue,
                     (int64_t) eventPtr->lastStart,
                     (int64_t) eventPtr->lastEnd);
    AppendProc(dsPtr, specPtr);
    Tcl_DStringEndSublist(dsPtr);
}

static void
AppendProc(Ns_DString *dsPtr, const NsSchedSpec *specPtr)
{
    Ns_GetProcInfo(dsPtr,
                   specPtr->proc != NULL ? (void *) specPtr->proc
                                         : (void *) specPtr->callback,
                   specPtr->arg);
}
