/* SPDX-License-Identifier: MPL-2.0
 * dispatch_works.h --
 *
 *      A pool of connection threads whose works run until the test lets them
 *      end.
 */

#ifndef DISPATCH_WORKS_H
#define DISPATCH_WORKS_H

#include "unit.h"

#include "base/clock.h"
#include "base/lock.h"
#include "dispatch/connthread.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool.h"
#include "dispatch/pool_life.h"
#include "dispatch/pool_stats.h"
#include "log/init.h"
#include "log/stream/severity.h"
#include "ns.h"
#include "process/setting.h"
#include "process/config.h"
#include "process/info.h"

#define MAX_WORKS 64

typedef struct TestWork {
    NsWork    work;   /* First. */
    bool      mayEnd; /* These are guarded by lock. */
    bool      hasBegun;
    bool      hasEnded;
    bool      breaksThread; /* Its thread is unfit afterwards. */
    int       order;        /* In which it began. */
    uintptr_t threadId;
} TestWork;

static Ns_Mutex lock;
static Ns_Cond  changed;
static int      nBegun; /* These are guarded by lock. */
static int      nEnded;
static bool     areFree;        /* Works need no permission to end. */
static bool     isStartHeld;    /* New threads have to wait. */
static bool     isStartFailing; /* They cannot serve. */
static int      nRefused;       /* By the pool, after it had accepted them. */
static int      nStarted;       /* Threads that began; that ended. */
static int      nStopped;

/*
 * Those of the test that runs.
 */
static TestWork  works[MAX_WORKS];
static NsServer *serverPtr;
static NsPool   *poolPtr;

static Ns_ReturnCode
StartThread(NsServer *aServerPtr)
{
    bool isFailing;

    Ns_MutexLock(&lock);
    nStarted++;
    Ns_CondBroadcast(&changed);
    while (isStartHeld) {
        Ns_CondWait(&changed, &lock);
    }
    isFailing = isStartFailing;
    Ns_MutexUnlock(&lock);
    return isFailing ? NS_ERROR : NS_OK;
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
RefuseWork(NsWork *workPtr)
{
    Ns_MutexLock(&lock);
    nRefused++;
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
    if (testPtr->breaksThread) {
        NsPoolThreadUnfit();
    }
    Ns_MutexUnlock(&lock);

    workPtr->filterStamp = workPtr->dequeueStamp;
    workPtr->endStamp = NsClockNow();
    NsPoolCountSpans(workPtr);
    NsPoolRelease(workPtr);

    Ns_MutexLock(&lock);
    testPtr->hasEnded = true;
    nEnded++;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

static void
DescribeWork(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
             unsigned flags)
{
    char text[40];

    snprintf(text, sizeof(text), "cns%" PRIu64 " %s%s", workPtr->id, state,
             (flags & NS_POOL_LIST_FORWARDED) != 0 ? " forwarded" : "");
    Ns_DStringAppendElement(dsPtr, text);
}

static int
SetUpGroup(void **state)
{
    static const NsPoolProcs procs = {
        .startProc = StartThread,
        .stopProc = StopThread,
        .runProc = RunWork,
        .refuseProc = RefuseWork,
        .describeProc = DescribeWork};
    char *const argv[] = {(char *) "nsd", NULL};

    NsLogInit();
    NsInfoInit(1, argv);
    NsConfigInit();
    NsSettingInit();
    NsDispatchInit();
    (void) NsSeverityEnable(Notice, false);
    NsPoolSetProcs(&procs);
    return 0;
}

/*
 * No system has room for such a stack.
 */
static void
LetThreadsBeMade(bool areMade)
{
    (void) Ns_ThreadStackSize(areMade ? 1L << 20 : 1L << 50);
}

/*
 * A server of its own for each test, with the default pool configured as the
 * list of keys and values says.
 */
static void
Start(const char *parameters)
{
    static int   number;
    char         name[20], section[40];
    NsSection   *sectionPtr;
    int          argc;
    const char **argv;

    memset(works, 0, sizeof(works));
    nBegun = nEnded = nStarted = nStopped = nRefused = 0;
    areFree = isStartFailing = false;

    snprintf(name, sizeof(name), "s%d", ++number);
    snprintf(section, sizeof(section), "ns/server/%s", name);
    sectionPtr = NsConfigOpen(section, (NsConfigPlace){NULL, 0});
    assert_int_equal(Tcl_SplitList(NULL, parameters, &argc, &argv), TCL_OK);
    for (int i = 0; i < argc; i += 2) {
        NsConfigAppend(sectionPtr, argv[i], argv[i + 1],
                       (NsConfigPlace){NULL, 0});
    }
    Tcl_Free((char *) argv);
    serverPtr = NsServerCreate(name);
    NsPoolsInit(serverPtr);
    poolPtr = NsPoolFind(serverPtr, "");
    NsPoolsStart(serverPtr);
}

/*
 * After each test, also one that has failed.
 */
static int
Finish(void **state)
{
    Ns_Time deadline;

    NsPoolsStop(serverPtr);
    Ns_MutexLock(&lock);
    areFree = true;
    isStartHeld = isStartFailing = false;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
    LetThreadsBeMade(true);
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 120, 0);
    assert_int_equal(NsPoolsWait(serverPtr, &deadline), NS_OK);
    assert_int_equal(nStarted, nStopped);
    return 0;
}

static int
Submit(int i)
{
    works[i].work.acceptStamp = NsClockNow();
    return NsPoolSubmit(poolPtr, &works[i].work);
}

/*
 * *numberPtr, guarded by lock.
 */
static inline int
Count(const int *numberPtr)
{
    int count;

    Ns_MutexLock(&lock);
    count = *numberPtr;
    Ns_MutexUnlock(&lock);
    return count;
}

/*
 * Wait until *numberPtr, guarded by lock, has the value.
 */
static void
Await(const int *numberPtr, int value)
{
    Ns_Time deadline;
    int     found, status = NS_OK;

    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 120, 0);
    Ns_MutexLock(&lock);
    while (*numberPtr != value && status == NS_OK) {
        status = Ns_CondTimedWait(&changed, &lock, &deadline);
    }
    found = *numberPtr;
    Ns_MutexUnlock(&lock);
    assert_int_equal(found, value);
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
    NsStamp deadline = NsClockNow() + 120 * NS_STAMP_SECOND;

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

#define TEST(name) cmocka_unit_test_teardown(name, Finish)

#endif
