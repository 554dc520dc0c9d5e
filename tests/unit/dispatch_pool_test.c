/*
 * dispatch_pool_test.c --
 *
 *      Pools of connection threads.
 *
 *      1  assignment     2  waiting     3  a full pool     4  more threads
 *      5  fewer threads  6  the stop    7  figures
 *
 *      Works run until the test lets them end.
 */

#include "unit.h"

#include "base/clock.h"
#include "base/lock.h"
#include "dispatch/init.h"
#include "dispatch/pool.h"
#include "log/init.h"
#include "log/severity.h"
#include "ns.h"
#include "process/config.h"
#include "process/info.h"

#define MAX_WORKS 64

typedef struct TestWork {
    NsWork     work;            /* First. */
    bool       mayEnd;          /* These are guarded by lock. */
    bool       hasBegun;
    bool       hasEnded;
    int        order;           /* In which it began. */
    uintptr_t  threadId;
} TestWork;

static Ns_Mutex  lock;
static Ns_Cond   changed;
static int       nBegun;        /* These are guarded by lock. */
static int       nEnded;
static bool      areFree;       /* Works need no permission to end. */
static bool      isStartHeld;   /* New threads have to wait. */
static int       nStarted;      /* Threads that began; that ended. */
static int       nStopped;

/*
 * Those of the test that runs.
 */
static TestWork  works[MAX_WORKS];
static NsServer *serverPtr;
static NsPool   *poolPtr;

static void
StartThread(NsServer *aServerPtr)
{
    Ns_MutexLock(&lock);
    nStarted++;
    Ns_CondBroadcast(&changed);
    while (isStartHeld) {
        Ns_CondWait(&changed, &lock);
    }
    Ns_MutexUnlock(&lock);
}

static void
StopThread(NsServer *aServerPtr)
{
    Ns_MutexLock(&lock);
    nStopped++;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

static void
RunWork(NsWork *workPtr)
{
    TestWork *testPtr = (TestWork *) workPtr;

    Ns_MutexLock(&lock);
    testPtr->hasBegun = true;
    testPtr->order = nBegun++;
    testPtr->threadId = Ns_ThreadId();
    Ns_CondBroadcast(&changed);
    while (!testPtr->mayEnd && !areFree) {
        Ns_CondWait(&changed, &lock);
    }
    Ns_MutexUnlock(&lock);

    workPtr->filterStamp = workPtr->dequeueStamp;
    workPtr->endStamp = NsClockNow();
    NsPoolCountSpans(workPtr);
    NsPoolWithdraw(workPtr);

    Ns_MutexLock(&lock);
    testPtr->hasEnded = true;
    nEnded++;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

static void
DescribeWork(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
             bool isForwarded)
{
    char text[40];

    snprintf(text, sizeof(text), "cns%" PRIu64 " %s%s", workPtr->id, state,
             isForwarded ? " forwarded" : "");
    Ns_DStringAppendElement(dsPtr, text);
}

static int
SetUpGroup(void **state)
{
    static const NsPoolProcs procs = {
        StartThread, StopThread, RunWork, DescribeWork
    };
    char *const argv[] = {(char *) "nsd", NULL};

    NsLogInit();
    NsInfoInit(1, argv);
    NsConfigInit();
    NsDispatchInit();
    (void) NsSeverityEnable(Notice, false);
    NsPoolSetProcs(&procs);
    return 0;
}

/*
 * A server of its own for each test, with the default pool configured as the
 * list of keys and values says.
 */
static void
Start(const char *parameters)
{
    static int    number;
    char          name[20], section[40];
    NsSection    *sectionPtr;
    int           argc;
    const char  **argv;

    memset(works, 0, sizeof(works));
    nBegun = nEnded = nStarted = nStopped = 0;
    areFree = false;

    snprintf(name, sizeof(name), "s%d", ++number);
    snprintf(section, sizeof(section), "ns/server/%s", name);
    sectionPtr = NsConfigOpen(section, (NsConfigPlace) {NULL, 0});
    assert_int_equal(Tcl_SplitList(NULL, parameters, &argc, &argv), TCL_OK);
    for (int i = 0; i < argc; i += 2) {
        NsConfigAppend(sectionPtr, argv[i], argv[i + 1],
                       (NsConfigPlace) {NULL, 0});
    }
    Tcl_Free((char *) argv);
    serverPtr = NsServerCreate(name);
    NsPoolsInit(serverPtr);
    poolPtr = NsPoolFind(serverPtr, "");
    NsPoolsStart(serverPtr);
}

static void
Finish(void)
{
    Ns_Time deadline;

    NsPoolsStop(serverPtr);
    Ns_MutexLock(&lock);
    areFree = true;
    isStartHeld = false;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 20, 0);
    assert_int_equal(NsPoolsWait(serverPtr, &deadline), NS_OK);
    assert_int_equal(nStarted, nStopped);
}

static int
Submit(int i)
{
    works[i].work.acceptStamp = NsClockNow();
    return NsPoolSubmit(poolPtr, &works[i].work);
}

/*
 * Wait until *numberPtr, guarded by lock, has the value.
 */
static void
Await(const int *numberPtr, int value)
{
    Ns_Time deadline;
    int     status = NS_OK;

    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 20, 0);
    Ns_MutexLock(&lock);
    while (*numberPtr != value && status == NS_OK) {
        status = Ns_CondTimedWait(&changed, &lock, &deadline);
    }
    assert_int_equal(*numberPtr, value);
    Ns_MutexUnlock(&lock);
}

static void
Let(int i)
{
    Ns_MutexLock(&lock);
    works[i].mayEnd = true;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

/*
 * A figure of `ns_server threads`.
 */
static int
Figure(const char *key)
{
    Ns_DString  ds;
    const char *found;
    int         value = -1;

    Ns_DStringInit(&ds);
    NsPoolThreads(&ds, poolPtr);
    found = strstr(ds.string, key);
    assert_non_null(found);
    value = atoi(found + strlen(key) + 1);
    Ns_DStringFree(&ds);
    return value;
}

static void
AwaitFigure(const char *key, int value)
{
    NsStamp deadline = NsClockNow() + 20 * NS_STAMP_SECOND;

    while (Figure(key) != value && NsClockNow() < deadline) {
        Ns_ThreadYield();
    }
    assert_int_equal(Figure(key), value);
}

/*
 * Let new threads wait, or not any more.
 */
static void
HoldStart(bool isHeld)
{
    Ns_MutexLock(&lock);
    isStartHeld = isHeld;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

/*
 * Whether so many threads have ended, or do so in that time.
 */
static bool
HasEnded(int nThreads, NsStamp time)
{
    NsStamp deadline = NsClockNow() + time;
    bool    hasEnded;

    Ns_MutexLock(&lock);
    while (nStopped < nThreads && NsClockNow() < deadline) {
        NsCondWaitUntil(&changed, &lock, deadline);
    }
    hasEnded = nStopped >= nThreads;
    Ns_MutexUnlock(&lock);
    return hasEnded;
}

static void
AThreadServesTheNextRequestWhenItIsOnTop(void **state)
{
    Start("minthreads 3 maxthreads 3");
    AwaitFigure("idle", 3);
    for (int i = 0; i < 6; i++) {
        Let(i);
        assert_int_equal(Submit(i), NS_OK);
        Await(&nEnded, i + 1);
        AwaitFigure("idle", 3);
        assert_int_equal(works[i].threadId, works[0].threadId);
        assert_false(works[i].work.fromQueue);
    }
    Finish();
}

static void
IdleThreadsAreTakenFromTheTop(void **state)
{
    Start("minthreads 2 maxthreads 2");
    AwaitFigure("idle", 2);
    Submit(0);
    Submit(1);
    Await(&nBegun, 2);
    Let(0);
    AwaitFigure("idle", 1);
    Let(1);
    AwaitFigure("idle", 2);
    Submit(2);
    Submit(3);
    Await(&nBegun, 4);
    assert_int_equal(works[2].threadId, works[1].threadId);
    assert_int_equal(works[3].threadId, works[0].threadId);
    Finish();
}

static void
IdsCountFromZero(void **state)
{
    Start("minthreads 1");
    for (int i = 0; i < 3; i++) {
        Let(i);
        Submit(i);
        Await(&nEnded, i + 1);
        assert_int_equal(works[i].work.id, i);
    }
    Finish();
}

static void
RequestsWaitInOrder(void **state)
{
    Start("minthreads 1 maxthreads 1");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(Submit(i), NS_OK);
    }
    assert_int_equal(NsPoolWaiting(poolPtr), 4);
    for (int i = 0; i < 5; i++) {
        Let(i);
    }
    Await(&nEnded, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(works[i].order, i);
        assert_int_equal(works[i].work.fromQueue, i > 0);
    }
    Finish();
}

static void
RequestsThatComeBeforeTheThreadIsReadyWait(void **state)
{
    isStartHeld = true;
    Start("minthreads 1 maxthreads 1");
    Submit(0);
    assert_int_equal(NsPoolWaiting(poolPtr), 1);
    Let(0);
    HoldStart(false);
    Await(&nEnded, 1);
    Finish();
}

static void
AFullPoolHoldsRequestsInOrder(void **state)
{
    Start("minthreads 1 maxthreads 1 maxconnections 2");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(Submit(i), NS_OK);
    }
    assert_int_equal(NsPoolWaiting(poolPtr), 1);
    assert_int_equal(NsPoolRequests(poolPtr), 2);
    for (int i = 0; i < 5; i++) {
        Let(i);
    }
    Await(&nEnded, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(works[i].order, i);
        assert_int_equal(works[i].work.id, i);
    }
    Finish();
}

static void
TheTimeInWhichARequestIsHeldCountsAsAcceptTime(void **state)
{
    NsStamp before;

    Start("minthreads 1 maxthreads 1 maxconnections 1");
    AwaitFigure("idle", 1);
    Submit(0);
    Submit(1);
    Await(&nBegun, 1);
    before = NsClockNow();
    Let(0);
    Let(1);
    Await(&nEnded, 2);
    assert_true(works[1].work.queueStamp >= before);
    Finish();
}

static void
AFullPoolRejectsIfToldTo(void **state)
{
    Ns_DString ds;

    Start("minthreads 1 maxthreads 1 maxconnections 2 rejectoverrun true"
          " retryafter 1.5s");
    AwaitFigure("idle", 1);
    assert_int_equal(Submit(0), NS_OK);
    assert_int_equal(Submit(1), NS_OK);
    assert_int_equal(Submit(2), NS_TIMEOUT);
    assert_int_equal(Submit(3), NS_TIMEOUT);
    assert_int_equal(NsPoolRetryAfter(poolPtr), 2);
    Ns_DStringInit(&ds);
    NsPoolStats(&ds, poolPtr, true);
    assert_non_null(strstr(ds.string, "dropped 2 "));
    Ns_DStringFree(&ds);

    Let(0);
    Await(&nEnded, 1);
    Await(&nBegun, 2);
    assert_int_equal(Submit(4), NS_OK);
    Finish();
}

static void
TheQueueGrowsToTheLowWatermarkBeforeAThreadIsMade(void **state)
{
    /* Length 98, so low water 9. */
    Start("minthreads 1 maxthreads 2 queuepatience 0");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 10; i++) {
        Submit(i);
    }
    assert_int_equal(NsPoolWaiting(poolPtr), 9);
    assert_int_equal(Figure("current"), 1);
    Submit(10);
    assert_int_equal(Figure("current"), 2);
    Finish();
}

static void
LowWatermarkZeroMakesAThreadForEachWaitingRequest(void **state)
{
    Start("minthreads 1 maxthreads 5 lowwatermark 0 highwatermark 0"
          " queuepatience 0");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 4; i++) {
        Submit(i);
    }
    Await(&nBegun, 4);
    assert_int_equal(Figure("current"), 4);
    Finish();
}

static void
OneThreadIsMadeAtATimeBelowTheHighWatermark(void **state)
{
    Start("minthreads 1 maxthreads 5 lowwatermark 0 highwatermark 100"
          " queuepatience 0");
    AwaitFigure("idle", 1);
    HoldStart(true);
    for (int i = 0; i < 20; i++) {
        Submit(i);
    }
    assert_int_equal(Figure("current"), 2);
    HoldStart(false);
    AwaitFigure("current", 5);
    Finish();
}

static void
HighWatermarkZeroMakesSeveralThreadsAtATimeAboveTheLowWatermark(void **state)
{
    /* Length 20, so low water 2. */
    Start("minthreads 1 maxthreads 10 maxconnections 30 highwatermark 0"
          " queuepatience 0");
    AwaitFigure("idle", 1);
    HoldStart(true);
    for (int i = 0; i < 3; i++) {
        Submit(i);
    }
    assert_int_equal(NsPoolWaiting(poolPtr), 2);
    assert_int_equal(Figure("current"), 1);
    for (int i = 3; i < 7; i++) {
        Submit(i);
        assert_int_equal(Figure("current"), i - 1);
    }
    Finish();
}

static void
ALowerLowWatermarkIsObeyedByWhatWaits(void **state)
{
    Start("minthreads 1 maxthreads 5 lowwatermark 100 queuepatience 0");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 4; i++) {
        Submit(i);
    }
    assert_int_equal(NsPoolWaiting(poolPtr), 3);
    assert_int_equal(Figure("current"), 1);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_LOWWATERMARK, 0), NS_OK);
    Await(&nBegun, 4);
    assert_int_equal(Figure("current"), 4);
    Finish();
}

static void
ALowerHighWatermarkIsObeyedByWhatWaits(void **state)
{
    Start("minthreads 1 maxthreads 5 lowwatermark 0 highwatermark 100"
          " queuepatience 0");
    AwaitFigure("idle", 1);
    HoldStart(true);
    for (int i = 0; i < 4; i++) {
        Submit(i);
    }
    assert_int_equal(NsPoolWaiting(poolPtr), 3);
    assert_int_equal(Figure("current"), 2);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_HIGHWATERMARK, 0), NS_OK);
    assert_int_equal(Figure("current"), 4);
    Finish();
}

static void
LowWatermarkHundredMakesNoThreads(void **state)
{
    Start("minthreads 1 maxthreads 5 maxconnections 10 lowwatermark 100"
          " queuepatience 0");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 10; i++) {
        Submit(i);
    }
    assert_int_equal(NsPoolWaiting(poolPtr), 9);
    assert_int_equal(Figure("current"), 1);
    Finish();
}

static void
ARequestThatWaitsTooLongGetsAThread(void **state)
{
    NsStamp waited;

    Start("minthreads 2 maxthreads 3 lowwatermark 100 queuepatience 0.05");
    AwaitFigure("idle", 2);
    for (int i = 0; i < 3; i++) {
        Submit(i);
    }
    Await(&nBegun, 3);
    assert_int_equal(Figure("current"), 3);
    waited = works[2].work.dequeueStamp - works[2].work.queueStamp;
    assert_true(waited >= NS_STAMP_SECOND / 20);
    Finish();
}

static void
EachLateRequestGetsAThreadOfItsOwn(void **state)
{
    Start("minthreads 1 maxthreads 4 lowwatermark 100 queuepatience 0.02");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 6; i++) {
        Submit(i);
    }
    Await(&nBegun, 4);
    assert_int_equal(Figure("current"), 4);
    assert_int_equal(NsPoolWaiting(poolPtr), 2);
    Finish();
}

static void
APoolThatMayGrowAgainLooksAtWhatWaits(void **state)
{
    Start("minthreads 1 maxthreads 1 lowwatermark 100 queuepatience 0.02");
    AwaitFigure("idle", 1);
    Submit(0);
    Submit(1);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_MAXTHREADS, 2), NS_OK);
    Await(&nBegun, 2);
    Finish();
}

static void
RaisedMinthreadsAreMadeAtOnce(void **state)
{
    Start("minthreads 1 maxthreads 5");
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_MINTHREADS, 4), NS_OK);
    AwaitFigure("idle", 4);
    assert_int_equal(Figure("current"), 4);
    Finish();
}

static void
SettingsKeepTheirRanges(void **state)
{
    Start("minthreads 2 maxthreads 5 maxconnections 9");
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_MINTHREADS, 0), NS_ERROR);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_MINTHREADS, 6), NS_ERROR);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_MAXTHREADS, 1), NS_ERROR);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_MAXTHREADS, 10), NS_ERROR);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_LOWWATERMARK, 101), NS_ERROR);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_LOWWATERMARK, -1), NS_ERROR);
    assert_int_equal(NsPoolGet(poolPtr, NS_POOL_MINTHREADS), 2);
    assert_int_equal(NsPoolGet(poolPtr, NS_POOL_MAXTHREADS), 5);
    assert_int_equal(NsPoolSet(poolPtr, NS_POOL_MAXTHREADS, 9), NS_OK);
    assert_int_equal(NsPoolGet(poolPtr, NS_POOL_MAXTHREADS), 9);
    Finish();
}

static void
SurplusThreadsEndWhenIdle(void **state)
{
    Start("minthreads 1 maxthreads 3 lowwatermark 0 highwatermark 0"
          " threadtimeout 0.02");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 3; i++) {
        Submit(i);
    }
    Await(&nBegun, 3);
    for (int i = 0; i < 3; i++) {
        Let(i);
    }
    Await(&nStopped, 2);
    assert_int_equal(Figure("current"), 1);
    Let(3);
    assert_int_equal(Submit(3), NS_OK);
    Await(&nEnded, 4);
    Finish();
}

/*
 * Ten threads, and then one request at a time.
 */
static void
TheThreadOnTopGoesOnWhileThoseBelowEnd(void **state)
{
    int       i;
    bool      isOne = true;
    NsStamp   deadline = NsClockNow() + 20 * NS_STAMP_SECOND;
    uintptr_t threadId = 0;

    Start("minthreads 1 maxthreads 10 lowwatermark 0 highwatermark 0"
          " threadtimeout 1");
    for (i = 0; i < 10; i++) {
        Submit(i);
    }
    Await(&nBegun, 10);
    for (i = 0; i < 10; i++) {
        Let(i);
    }
    AwaitFigure("idle", 10);

    for (i = 0; !HasEnded(9, NS_STAMP_SECOND / 50); i++) {
        TestWork *testPtr = &works[10];

        assert_true(NsClockNow() < deadline);
        memset(testPtr, 0, sizeof(*testPtr));
        Let(10);
        assert_int_equal(Submit(10), NS_OK);
        Await(&nEnded, 11 + i);
        isOne = isOne && (i == 0 || testPtr->threadId == threadId);
        threadId = testPtr->threadId;
    }
    assert_true(i > 1 && isOne);
    assert_int_equal(Figure("current"), 1);
    Finish();
}

static void
AThreadThatHasServedItsNumberIsReplaced(void **state)
{
    Start("minthreads 1 maxthreads 1 connsperthread 2");
    for (int i = 0; i < 4; i++) {
        AwaitFigure("idle", 1);
        Let(i);
        Submit(i);
        Await(&nEnded, i + 1);
    }
    Await(&nStopped, 2);
    AwaitFigure("idle", 1);
    assert_int_equal(Figure("current"), 1);
    Finish();
}

static void
TheThreadOnTopReachesItsNumberAlone(void **state)
{
    Start("minthreads 5 maxthreads 5 connsperthread 4");
    for (int i = 0; i < 20; i++) {
        AwaitFigure("idle", 5);
        Let(i);
        Submit(i);
        Await(&nEnded, i + 1);
        Await(&nStopped, (i + 1) / 4);
    }
    Finish();
}

static void
ThreadsThatReachTheirNumberTogetherGoOnWhileManyWait(void **state)
{
    /* Length 30, so low water 3. */
    Start("minthreads 10 maxthreads 10 maxconnections 40 connsperthread 1");
    AwaitFigure("idle", 10);
    HoldStart(true);
    for (int i = 0; i < 30; i++) {
        Submit(i);
    }
    for (int i = 0; i < 10; i++) {
        Let(i);
    }
    Await(&nBegun, 20);
    assert_int_equal(NsPoolWaiting(poolPtr), 10);
    assert_int_equal(Figure("current"), 10);
    assert_int_equal(nStopped, 0);
    Finish();
}

static void
TheOnlyThreadGoesOnWhileSomethingWaits(void **state)
{
    Start("minthreads 1 maxthreads 1 connsperthread 1");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 3; i++) {
        Submit(i);
    }
    for (int i = 0; i < 3; i++) {
        Let(i);
    }
    Await(&nEnded, 3);
    assert_int_equal(works[2].threadId, works[0].threadId);
    Await(&nStopped, 1);
    AwaitFigure("idle", 1);
    Finish();
}

static void
ConnsPerThreadZeroIsNoLimit(void **state)
{
    Start("minthreads 1 maxthreads 1 connsperthread 0");
    for (int i = 0; i < 20; i++) {
        Let(i);
        Submit(i);
        Await(&nEnded, i + 1);
    }
    assert_int_equal(nStopped, 0);
    Finish();
}

static void
AfterTheStopWaitingRequestsAreServedAndNewOnesAreNot(void **state)
{
    Ns_Time deadline;

    Start("minthreads 1 maxthreads 1 maxconnections 2");
    AwaitFigure("idle", 1);
    for (int i = 0; i < 4; i++) {
        Submit(i);
    }
    Await(&nBegun, 1);
    NsPoolsStop(serverPtr);
    assert_int_equal(Submit(4), NS_ERROR);
    Ns_GetTime(&deadline);
    assert_int_equal(NsPoolsWait(serverPtr, &deadline), NS_TIMEOUT);
    for (int i = 0; i < 4; i++) {
        Let(i);
    }
    Await(&nEnded, 4);
    Finish();
}

static void
StatsHaveTheEightKeysInOrder(void **state)
{
    Ns_DString   ds;
    int          argc;
    const char **argv;
    static const char *const keys[] = {
        "requests", "spools", "queued", "connthreads", "accepttime",
        "queuetime", "filtertime", "runtime"
    };

    Start("minthreads 1");
    Ns_DStringInit(&ds);
    NsPoolStats(&ds, poolPtr, false);
    assert_int_equal(Tcl_SplitList(NULL, ds.string, &argc, &argv), TCL_OK);
    assert_int_equal(argc, 16);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(argv[2 * i], keys[i]);
    }
    assert_string_equal(argv[15], "0.000000");
    Tcl_Free((char *) argv);
    Ns_DStringFree(&ds);
    Finish();
}

static void
WhatRunsAndWhatWaitsIsListed(void **state)
{
    Ns_DString ds;

    Start("minthreads 1 maxthreads 1");
    AwaitFigure("idle", 1);
    Submit(0);
    Submit(1);
    Submit(2);
    Await(&nBegun, 1);
    Ns_DStringInit(&ds);
    NsPoolList(&ds, poolPtr, NS_POOL_LIST_RUNNING | NS_POOL_LIST_WAITING);
    assert_string_equal(ds.string,
                        "{cns0 running} {cns1 queued} {cns2 queued}");
    Ns_DStringSetLength(&ds, 0);
    NsPoolList(&ds, poolPtr, NS_POOL_LIST_RUNNING);
    assert_string_equal(ds.string, "{cns0 running}");
    Ns_DStringSetLength(&ds, 0);
    NsPoolList(&ds, poolPtr, NS_POOL_LIST_WAITING);
    assert_string_equal(ds.string, "{cns1 queued} {cns2 queued}");
    Ns_DStringFree(&ds);
    Finish();
}

static void
TheSpansOfARequestAreCountedOnce(void **state)
{
    NsWork work = {.poolPtr = NULL};
    Ns_DString ds;

    Start("minthreads 1");
    work.acceptStamp = NsClockNow() - NS_STAMP_SECOND;
    NsPoolCountDirect(poolPtr, &work);
    work.filterStamp = work.dequeueStamp + NS_STAMP_SECOND / 4;
    work.endStamp = work.filterStamp + NS_STAMP_SECOND / 2;
    NsPoolCountSpans(&work);
    NsPoolCountSpans(&work);
    Ns_DStringInit(&ds);
    NsPoolStats(&ds, poolPtr, false);
    assert_non_null(strstr(ds.string, "requests 1 "));
    assert_non_null(strstr(ds.string, "accepttime 1.0"));
    assert_non_null(strstr(ds.string, "queuetime 0.000000"));
    assert_non_null(strstr(ds.string, "filtertime 0.250000"));
    assert_non_null(strstr(ds.string, "runtime 0.500000"));
    Ns_DStringSetLength(&ds, 0);
    NsPoolHistogram(&ds, serverPtr, NULL);
    assert_non_null(strstr(ds.string, "run {count 1 mean 0.500000 p50 0.50"));
    Ns_DStringFree(&ds);
    Finish();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AThreadServesTheNextRequestWhenItIsOnTop),
        cmocka_unit_test(IdleThreadsAreTakenFromTheTop),
        cmocka_unit_test(IdsCountFromZero),
        cmocka_unit_test(RequestsWaitInOrder),
        cmocka_unit_test(RequestsThatComeBeforeTheThreadIsReadyWait),
        cmocka_unit_test(AFullPoolHoldsRequestsInOrder),
        cmocka_unit_test(TheTimeInWhichARequestIsHeldCountsAsAcceptTime),
        cmocka_unit_test(AFullPoolRejectsIfToldTo),
        cmocka_unit_test(TheQueueGrowsToTheLowWatermarkBeforeAThreadIsMade),
        cmocka_unit_test(LowWatermarkZeroMakesAThreadForEachWaitingRequest),
        cmocka_unit_test(OneThreadIsMadeAtATimeBelowTheHighWatermark),
        cmocka_unit_test(HighWatermarkZeroMakesSeveralThreadsAtATimeAboveTheLowWatermark),
        cmocka_unit_test(ALowerLowWatermarkIsObeyedByWhatWaits),
        cmocka_unit_test(ALowerHighWatermarkIsObeyedByWhatWaits),
        cmocka_unit_test(LowWatermarkHundredMakesNoThreads),
        cmocka_unit_test(ARequestThatWaitsTooLongGetsAThread),
        cmocka_unit_test(EachLateRequestGetsAThreadOfItsOwn),
        cmocka_unit_test(APoolThatMayGrowAgainLooksAtWhatWaits),
        cmocka_unit_test(RaisedMinthreadsAreMadeAtOnce),
        cmocka_unit_test(SettingsKeepTheirRanges),
        cmocka_unit_test(SurplusThreadsEndWhenIdle),
        cmocka_unit_test(TheThreadOnTopGoesOnWhileThoseBelowEnd),
        cmocka_unit_test(AThreadThatHasServedItsNumberIsReplaced),
        cmocka_unit_test(TheThreadOnTopReachesItsNumberAlone),
        cmocka_unit_test(ThreadsThatReachTheirNumberTogetherGoOnWhileManyWait),
        cmocka_unit_test(TheOnlyThreadGoesOnWhileSomethingWaits),
        cmocka_unit_test(ConnsPerThreadZeroIsNoLimit),
        cmocka_unit_test(AfterTheStopWaitingRequestsAreServedAndNewOnesAreNot),
        cmocka_unit_test(StatsHaveTheEightKeysInOrder),
        cmocka_unit_test(WhatRunsAndWhatWaitsIsListed),
        cmocka_unit_test(TheSpansOfARequestAreCountedOnce)
    };

    return cmocka_run_group_tests(tests, SetUpGroup, NULL);
}
