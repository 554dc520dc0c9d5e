/*
 * sched.c --
 *
 *      Scheduled procedures.
 *
 *      Events wait in a heap, ordered by the monotonic time at which they are
 *      due; clock times are converted when they are entered, and checked again
 *      when they seem to be due, for the clock may have been set.
 *
 *      An event is waiting (in the heap), queued (in a batch, or for a pooled
 *      thread), running, or paused.  Whoever runs it frees it when it was
 *      removed meanwhile.
 *
 *      Events due within COALESCE of each other run as one batch, the one
 *      registered last first: scripts rely on that order.
 */

#include "process/sched.h"

#include "base/calendar.h"
#include "base/clock.h"
#include "base/lock.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/heap.h"
#include "process/parameter_value.h"

#define COALESCE    (NS_STAMP_SECOND / 100)
#define LATE        NS_STAMP_SECOND

typedef struct Event {
    NsHeapEntry   entry;        /* Among the waiting; first member. */
    struct Event *nextPtr;      /* In a batch or queue. */
    NsSchedSpec   spec;         /* Constant but for the flags. */
    int           id;           /* Constant. */
    bool          isQueued;
    bool          isRemoved;    /* Free it when it ends. */
    time_t        nextTime;     /* Wall clock: for listings and clock times. */
    time_t        lastQueue;
    time_t        lastStart;
    time_t        lastEnd;
} Event;

static struct {
    Ns_Mutex      lock;         /* Guards the rest, and all events. */
    Ns_Cond       wakeup;       /* For -sched-: the heap changed, or the end. */
    Ns_Cond       work;         /* For pooled threads: an event, or the end. */
    Ns_Cond       gone;         /* A thread has ended. */
    Tcl_HashTable events;       /* Id -> Event, while it can run again. */
    NsHeap        waiting;      /* By the time they are due. */
    Event        *firstQueuedPtr;
    Event        *lastQueuedPtr;
    int           nextId;
    int           nQueued;
    int           nThreads;     /* Pooled threads. */
    int           nStarting;    /* Those of them that have not looked yet. */
    int           nWaiting;     /* Those of them that wait for work. */
    int           nRunning;
    int64_t       nRuns;
    int64_t       nLate;
    NsStamp       delay;        /* From due to begun, of all runs together. */
    int           nextThread;   /* Number for a name. */
    bool          hasThread;    /* -sched- exists. */
    bool          isStarted;
    bool          isStopping;
    int           perThread;    /* schedsperthread; constant after start. */
    NsStamp       maxElapsed;   /* schedmaxelapsed; likewise. */
} sched;

static Ns_ThreadProc RunScheduler;
static Ns_ThreadProc RunPooled;
static Event *TakeDueLocked(NsStamp now);
static void RunBatch(Event *batchPtr);
static void QueueLocked(Event *eventPtr);
static void StartPooledLocked(void);
static void RunEvent(Event *eventPtr);
static void CountRunLocked(const Event *eventPtr);
static void EndEvent(Event *eventPtr);
static void EnterLocked(Event *eventPtr);
static void SetDue(Event *eventPtr);
static Event *FindLocked(int id);
static void ForgetLocked(Event *eventPtr);
static void FreeEvent(Event *eventPtr);
static bool Remove(int id);
static bool SetPaused(int id, bool isPaused);
static bool BatchesBefore(const Event *aPtr, const Event *bPtr);
static void ListEventLocked(Ns_DString *dsPtr, const Event *eventPtr);


void
NsSchedInit(void)
{
    NsMutexSetup(&sched.lock, NS_RANK_SCHED, "ns:sched", NULL);
    Tcl_InitHashTable(&sched.events, TCL_ONE_WORD_KEYS);
    Ns_RegisterProcInfo((void *) RunScheduler, "ns:scheduler", NULL);
    Ns_RegisterProcInfo((void *) RunPooled, "ns:schedthread", NULL);
}

int
NsSchedAdd(const NsSchedSpec *specPtr)
{
    Event         *eventPtr;
    Tcl_HashEntry *entryPtr;
    bool           startThread;
    int            id, isNew;

    if (specPtr->interval.sec < 0 || specPtr->interval.usec < 0
            || ((specPtr->flags & NS_SCHED_DAILY) != 0
                && specPtr->interval.sec >= NS_CALENDAR_DAY)
            || ((specPtr->flags & NS_SCHED_WEEKLY) != 0
                && specPtr->interval.sec >= 7 * NS_CALENDAR_DAY)) {
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
    startThread = !sched.hasThread;
    sched.hasThread = true;
    Ns_MutexUnlock(&sched.lock);
    if (startThread) {
        Ns_ThreadCreate(RunScheduler, NULL, 0, NULL);
    }
    return id;
}

void
NsSchedStart(void)
{
    NsParameters from = {"ns/parameters", "ns/parameters"};
    int          perThread = NsParameterInt(from, "schedsperthread");
    NsStamp      maxElapsed = NsParameterSpan(from, "schedmaxelapsed");

    Ns_MutexLock(&sched.lock);
    sched.perThread = perThread;
    sched.maxElapsed = maxElapsed;
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
    Ns_CondBroadcast(&sched.work);
    Ns_MutexUnlock(&sched.lock);
}

Ns_ReturnCode
NsSchedWait(const Ns_Time *deadlinePtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_Time       deadline = *deadlinePtr;

    Ns_MutexLock(&sched.lock);
    while ((sched.hasThread || sched.nThreads > 0) && result == NS_OK) {
        result = Ns_CondTimedWait(&sched.gone, &sched.lock, &deadline);
    }
    if (!sched.hasThread && sched.nThreads == 0) {
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
NsSchedGetStats(NsSchedStats *statsPtr)
{
    Ns_MutexLock(&sched.lock);
    *statsPtr = (NsSchedStats) {
        .nProcs = sched.events.numEntries,
        .nRunning = sched.nRunning,
        .nQueued = sched.nQueued,
        .nRuns = sched.nRuns,
        .nLate = sched.nLate,
        .delay = sched.delay
    };
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
 * The thread -sched-.
 */
static void
RunScheduler(void *arg)
{
    Ns_ThreadSetName("-sched-");
    (void) Ns_WaitForStartup();
    Ns_Log(Notice, "sched: starting");
    Ns_MutexLock(&sched.lock);
    while (!sched.isStopping) {
        Event *batchPtr = NULL;

        if (sched.isStarted) {
            batchPtr = TakeDueLocked(NsClockNow());
        }
        if (batchPtr != NULL) {
            Ns_MutexUnlock(&sched.lock);
            RunBatch(batchPtr);
            Ns_MutexLock(&sched.lock);
        } else if (!sched.isStarted || NsHeapFirst(&sched.waiting) == NULL) {
            Ns_CondWait(&sched.wakeup, &sched.lock);
        } else {
            Ns_Time until, rest;

            Ns_GetTime(&until);
            rest = NsClockSpan(NsClockNow(),
                NsHeapFirst(&sched.waiting)->due + COALESCE / 2);
            Ns_IncrTime(&until, rest.sec, rest.usec);
            (void) Ns_CondTimedWait(&sched.wakeup, &sched.lock, &until);
        }
    }
    sched.hasThread = false;
    Ns_CondBroadcast(&sched.gone);
    Ns_MutexUnlock(&sched.lock);
}

/*
 * The batch whose first event is due: all that are due by half of COALESCE
 * after it; NULL before that moment.  Threaded ones go to their queue.
 */
static Event *
TakeDueLocked(NsStamp now)
{
    NsHeapEntry *firstPtr = NsHeapFirst(&sched.waiting);
    Event       *batchPtr = NULL;
    NsStamp      limit;

    NsAssertLocked(&sched.lock);
    if (firstPtr == NULL || firstPtr->due + COALESCE / 2 > now) {
        return NULL;
    }
    limit = firstPtr->due + COALESCE / 2;
    while ((firstPtr = NsHeapFirst(&sched.waiting)) != NULL
            && firstPtr->due <= limit) {
        Event  *eventPtr = (Event *) firstPtr;
        Event **linkPtr = &batchPtr;

        NsHeapRemove(&sched.waiting, &eventPtr->entry);
        if ((eventPtr->spec.flags & (NS_SCHED_DAILY | NS_SCHED_WEEKLY)) != 0
                && time(NULL) < eventPtr->nextTime) {
            EnterLocked(eventPtr);      /* The clock was set back. */
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
    return batchPtr;
}

static void
RunBatch(Event *batchPtr)
{
    while (batchPtr != NULL) {
        Event  *eventPtr = batchPtr;
        int     id = eventPtr->id;
        NsStamp start;
        NsStamp span;

        batchPtr = eventPtr->nextPtr;
        if ((eventPtr->spec.flags & NS_SCHED_THREAD) != 0) {
            Ns_MutexLock(&sched.lock);
            QueueLocked(eventPtr);
            Ns_MutexUnlock(&sched.lock);
            continue;
        }
        start = NsClockNow();
        RunEvent(eventPtr);
        span = NsClockNow() - start;
        if (span > sched.maxElapsed) {
            Ns_Log(Warning, "sched: excessive time taken by proc %d "
                   "(%.3g seconds)", id, (double) span / NS_STAMP_SECOND);
        }
    }
}

/*
 * Hand an event to the pooled threads, making one more when there are more
 * events than threads without one.
 */
static void
QueueLocked(Event *eventPtr)
{
    NsAssertLocked(&sched.lock);
    eventPtr->nextPtr = NULL;
    if (sched.firstQueuedPtr == NULL) {
        sched.firstQueuedPtr = eventPtr;
    } else {
        sched.lastQueuedPtr->nextPtr = eventPtr;
    }
    sched.lastQueuedPtr = eventPtr;
    sched.nQueued++;
    if (sched.nQueued > sched.nWaiting + sched.nStarting) {
        StartPooledLocked();
    } else {
        Ns_CondSignal(&sched.work);
    }
}

static void
StartPooledLocked(void)
{
    NsAssertLocked(&sched.lock);
    sched.nThreads++;
    sched.nStarting++;
    Ns_ThreadCreate(RunPooled, INT2PTR(sched.nextThread++), 0, NULL);
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
    while (sched.perThread == 0 || nRuns < sched.perThread) {
        Event *eventPtr = sched.firstQueuedPtr;

        if (sched.isStopping) {
            break;
        }
        if (eventPtr == NULL) {
            sched.nWaiting++;
            Ns_CondWait(&sched.work, &sched.lock);
            sched.nWaiting--;
            continue;
        }
        sched.firstQueuedPtr = eventPtr->nextPtr;
        sched.nQueued--;
        Ns_MutexUnlock(&sched.lock);

        Ns_ThreadSetName("-sched:%d-", eventPtr->id);
        RunEvent(eventPtr);
        Ns_ThreadSetName("-sched:idle%d-", number);
        nRuns++;

        Ns_MutexLock(&sched.lock);
    }
    if (sched.nQueued > 0 && sched.nWaiting + sched.nStarting == 0
            && !sched.isStopping) {
        /* This thread has done its share; another one must go on. */
        StartPooledLocked();
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
CountRunLocked(const Event *eventPtr)
{
    NsStamp delay = NsClockNow() - eventPtr->entry.due;

    NsAssertLocked(&sched.lock);
    sched.nRunning++;
    sched.nRuns++;
    if (delay > LATE) {
        sched.nLate++;
    }
    if (delay > 0) {
        sched.delay += delay;   /* Else before its time, with others. */
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
    Tcl_HashEntry *entryPtr = Tcl_FindHashEntry(&sched.events, INT2PTR(id));

    return entryPtr == NULL ? NULL : Tcl_GetHashValue(entryPtr);
}

static void
ForgetLocked(Event *eventPtr)
{
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
    Ns_GetProcInfo(dsPtr, specPtr->proc != NULL
                   ? (void *) specPtr->proc : (void *) specPtr->callback,
                   specPtr->arg);
    Tcl_DStringEndSublist(dsPtr);
}
