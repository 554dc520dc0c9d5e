/* SPDX-License-Identifier: MPL-2.0
 * pool_stress.c --
 *
 *      Requests through a pool whose threads come and go all the time.
 *
 *      Drivers submit works, more than the pool has places; runs are short, and
 *      some yield.  Threads end after few requests or no time of idleness, some
 *      do not come, and some cannot go on; the settings change, and lists are
 *      taken.  The pool is stopped in the middle of it, and started again.  In
 *      the end each work that was accepted has run once, and the counters
 *      agree.  Under ThreadSanitizer, a race is a failure.
 *
 *      pool_stress ?N?: about that many dispatches.
 */

#include "base/clock.h"
#include "dispatch/connthread.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool.h"
#include "dispatch/pool_life.h"
#include "dispatch/pool_stats.h"
#include "log/init.h"
#include "log/stream/severity.h"
#include "ns.h"
#include "process/config.h"
#include "process/info.h"
#include "process/setting.h"

#define N_DRIVERS 3
#define N_WORKS   100 /* Of a driver, in turn. */
#define N_ROUNDS  4   /* Starts and stops. */

typedef enum { FREE, SUBMITTED, REFUSED } State;

/*
 * A work is its driver's until it is submitted, then the pool's until it has
 * run.
 */
typedef struct TestWork {
    NsWork     work; /* First. */
    atomic_int state;
    atomic_int nRuns;
    char       text[16]; /* For the one who describes it. */
} TestWork;

typedef struct TestDriver {
    NsPool  *poolPtr;
    int      nToSubmit;
    unsigned random;
    long     nAccepted;
    long     nRefused;
    TestWork works[N_WORKS];
} TestDriver;

static TestDriver  drivers[N_DRIVERS];
static atomic_long nSubmitted, nRan, nHopeless, nTwice, nDescribed, nTextsWrong;
static atomic_bool isOver;

static void Configure(void);
static void Round(NsServer *serverPtr, int nToSubmit);
static void Drive(void *arg);
static void Meddle(void *arg);
static void Set(const NsPool *poolPtr, const char *key, unsigned value);
static Ns_ReturnCode StartThread(NsServer *serverPtr);
static void          RunWork(NsWork *workPtr);
static void          RefuseWork(NsWork *workPtr);
static void DescribeWork(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
                         unsigned flags);
static long ThreadsMade(NsPool *poolPtr);
static unsigned Random(unsigned *seedPtr);

int
main(int argc, char **argv)
{
    static const NsPoolProcs procs = {
        .startProc = StartThread,
        .runProc = RunWork,
        .refuseProc = RefuseWork,
        .describeProc = DescribeWork};
    long      nWanted = argc > 1 ? atol(argv[1]) : 40000;
    long      nAccepted = 0, nRefused = 0;
    NsStamp   start = NsClockNow();
    Ns_Time   span;
    NsServer *serverPtr;
    bool      isRight;

    Configure();
    NsPoolSetProcs(&procs);
    serverPtr = NsServerCreate("stress");
    NsPoolsInit(serverPtr);

    for (int i = 0; i < N_ROUNDS; i++) {
        Round(serverPtr, (int) (nWanted / N_ROUNDS / N_DRIVERS));
    }
    for (int i = 0; i < N_DRIVERS; i++) {
        nAccepted += drivers[i].nAccepted;
        nRefused += drivers[i].nRefused;
    }

    span = NsClockSpan(start, NsClockNow());
    isRight = atomic_load(&nRan) + atomic_load(&nHopeless) == nAccepted
        && atomic_load(&nTwice) == 0 && atomic_load(&nTextsWrong) == 0
        && NsPoolRequests(drivers[0].poolPtr) <= (uint64_t) nAccepted
        && NsPoolWaiting(drivers[0].poolPtr) == 0;
    printf(
        "pool_stress: %ld ran, %ld refused, %ld hopeless, %ld described, %ld "
        "threads made in %ld.%03ld s\n",
        atomic_load(&nRan), nRefused, atomic_load(&nHopeless),
        atomic_load(&nDescribed), ThreadsMade(drivers[0].poolPtr), span.sec,
        span.usec / 1000);
    printf("%d passed, %d failed\n", isRight, !isRight);
    return isRight ? 0 : 1;
}

static void
Configure(void)
{
    static const struct {
        const char *key;
        const char *value;
    } parameters[] = {{"maxconnections", "40"},   {"maxthreads", "8"},
                      {"minthreads", "1"},        {"connsperthread", "200"},
                      {"threadtimeout", "0"},     {"lowwatermark", "10"},
                      {"queuepatience", "0.0005"}};
    char *const argv[] = {(char *) "nsd", NULL};
    NsSection  *sectionPtr;

    NsLogInit();
    NsInfoInit(1, argv);
    NsConfigInit();
    NsSettingInit();
    NsDispatchInit();
    (void) NsSeverityEnable(Notice, false);

    sectionPtr = NsConfigOpen("ns/server/stress", (NsConfigPlace){NULL, 0});
    for (int i = 0; i < Ns_NrElements(parameters); i++) {
        NsConfigAppend(sectionPtr, parameters[i].key, parameters[i].value,
                       (NsConfigPlace){NULL, 0});
    }
}

/*
 * Half of the rounds stop the pool while it is used.
 */
static void
Round(NsServer *serverPtr, int nToSubmit)
{
    static int round;
    Ns_Thread  threads[N_DRIVERS], meddler;
    Ns_Time    deadline;
    bool       isEarly = round++ % 2 == 1;
    long       nBefore = atomic_load(&nSubmitted);
    NsPool    *poolPtr = NsPoolFind(serverPtr, "");

    NsPoolsStart(serverPtr);
    atomic_store(&isOver, false);
    Ns_ThreadCreate(Meddle, poolPtr, 0, &meddler);
    for (int i = 0; i < N_DRIVERS; i++) {
        drivers[i].poolPtr = poolPtr;
        drivers[i].nToSubmit = nToSubmit;
        drivers[i].random += (unsigned) i + 1;
        Ns_ThreadCreate(Drive, &drivers[i], 0, &threads[i]);
    }
    while (isEarly
           && atomic_load(&nSubmitted) - nBefore
               < (long) nToSubmit * N_DRIVERS / 2) {
        Ns_ThreadYield();
    }
    if (isEarly) {
        NsPoolsStop(serverPtr);
    }
    for (int i = 0; i < N_DRIVERS; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    atomic_store(&isOver, true);
    Ns_ThreadJoin(&meddler, NULL);
    if (!isEarly) {
        NsPoolsStop(serverPtr);
    }
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 300, 0);
    if (NsPoolsWait(serverPtr, &deadline) != NS_OK) {
        printf("the threads do not end\n0 passed, 1 failed\n");
        abort();
    }
}

/*
 * Submit works in turn; one that has not run yet is waited for.
 */
static void
Drive(void *arg)
{
    TestDriver *driverPtr = arg;

    Ns_ThreadSetName("-driver-");
    for (int i = 0; i < driverPtr->nToSubmit; i++) {
        TestWork *workPtr = &driverPtr->works[i % N_WORKS];

        while (atomic_load(&workPtr->state) == SUBMITTED) {
            Ns_ThreadYield();
        }
        memset(&workPtr->work, 0, sizeof(workPtr->work));
        atomic_store(&workPtr->nRuns, 0);
        strcpy(workPtr->text, "alive");
        workPtr->work.acceptStamp = NsClockNow();
        atomic_store(&workPtr->state, SUBMITTED);
        atomic_fetch_add(&nSubmitted, 1);
        if (NsPoolSubmit(driverPtr->poolPtr, &workPtr->work) == NS_OK) {
            driverPtr->nAccepted++;
        } else {
            atomic_store(&workPtr->state, REFUSED);
            driverPtr->nRefused++;
        }
        if (Random(&driverPtr->random) % 64 == 0) {
            Ns_ThreadYield();
        }
    }
}

/*
 * Some are out of the range that the others allow, and refused.
 */
static void
Set(const NsPool *poolPtr, const char *key, unsigned value)
{
    Ns_DString problem;
    char       text[16];

    snprintf(text, sizeof(text), "%u", value);
    Ns_DStringInit(&problem);
    (void) NsSettingSet(NsPoolSection(poolPtr), key, text, NS_SETTING_SCRIPT,
                        &problem);
    Ns_DStringFree(&problem);
}

/*
 * Change settings and ask for everything, all the time.
 */
static void
Meddle(void *arg)
{
    NsPool  *poolPtr = arg;
    unsigned random = 1;

    while (!atomic_load(&isOver)) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        Set(poolPtr, "minthreads", Random(&random) % 4);
        Set(poolPtr, "maxthreads", Random(&random) % 9);
        Set(poolPtr, "maxconnections", 1 + Random(&random) % 60);
        Set(poolPtr, "highwatermark", Random(&random) % 100);
        NsPoolList(&ds, poolPtr, NS_POOL_LIST_RUNNING | NS_POOL_LIST_WAITING);
        NsPoolThreads(&ds, poolPtr);
        NsPoolStats(&ds, poolPtr, true);
        Ns_DStringFree(&ds);
        Ns_ThreadYield();
    }
    /* As it was, for the next round. */
    Set(poolPtr, "minthreads", 1);
    Set(poolPtr, "maxthreads", 8);
    Set(poolPtr, "maxconnections", 40);
}

/*
 * A thread needs time to begin, and some do not come to serve.
 */
static Ns_ReturnCode
StartThread(NsServer *serverPtr)
{
    static atomic_long nStarts;

    for (int i = 0; i < 10; i++) {
        Ns_ThreadYield();
    }
    return atomic_fetch_add(&nStarts, 1) % 8 == 5 ? NS_ERROR : NS_OK;
}

static void
RefuseWork(NsWork *workPtr)
{
    TestWork *testPtr = (TestWork *) workPtr;

    if (atomic_fetch_add(&testPtr->nRuns, 1) != 0) {
        atomic_fetch_add(&nTwice, 1);
    }
    atomic_fetch_add(&nHopeless, 1);
    strcpy(testPtr->text, "dead");
    atomic_store(&testPtr->state, FREE);
}

static void
RunWork(NsWork *workPtr)
{
    TestWork *testPtr = (TestWork *) workPtr;

    if (atomic_fetch_add(&testPtr->nRuns, 1) != 0
        || NsPoolCurrentWork() != workPtr) {
        atomic_fetch_add(&nTwice, 1);
    }
    atomic_fetch_add(&nRan, 1);
    if (workPtr->id % 16 == 0) {
        Ns_ThreadYield();
    }
    if (workPtr->id % 128 == 0) {
        NsPoolThreadUnfit();
    }
    workPtr->filterStamp = workPtr->endStamp = NsClockNow();
    NsPoolCountSpans(workPtr);
    NsPoolRelease(workPtr);
    strcpy(testPtr->text, "dead");
    atomic_store(&testPtr->state, FREE);
}

static void
DescribeWork(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
             unsigned flags)
{
    TestWork *testPtr = (TestWork *) workPtr;

    if (strcmp(testPtr->text, "alive") != 0) {
        atomic_fetch_add(&nTextsWrong, 1);
    }
    atomic_fetch_add(&nDescribed, 1);
    Ns_DStringAppendElement(dsPtr, state);
}

static long
ThreadsMade(NsPool *poolPtr)
{
    Ns_DString  ds;
    const char *found;
    long        nMade = 0;

    Ns_DStringInit(&ds);
    NsPoolStats(&ds, poolPtr, false);
    found = strstr(ds.string, "connthreads ");
    if (found != NULL) {
        nMade = atol(found + strlen("connthreads "));
    }
    Ns_DStringFree(&ds);
    return nMade;
}

static unsigned
Random(unsigned *seedPtr)
{
    *seedPtr = *seedPtr * 1103515245 + 12345;
    return *seedPtr >> 16;
}
