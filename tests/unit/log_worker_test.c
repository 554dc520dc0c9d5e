/* SPDX-License-Identifier: MPL-2.0
 * log_worker_test.c --
 *
 *      The threads that serve the sinks: chores that hang, that are slow, and
 *      that have nothing to do.
 */

#include "unit.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/lock.h"
#include "log/sink/worker.h"
#include "ns.h"

#define NCHORES 200
#define NWAKERS 4

typedef enum {
    WOKEN,   /* Due when it is woken only. */
    REGULAR, /* Due again after a millisecond. */
    SLOW,    /* Takes three. */
    BUSY,    /* Due again at once. */
    LONG,    /* And takes five. */
    HANGING  /* Until the gate is open. */
} Kind;

typedef struct Chore {
    NsChore     chore; /* First. */
    char        name[24];
    Kind        kind;
    atomic_int  nInside;
    atomic_bool isAsked; /* Set before it is woken. */
    atomic_bool mustGo;
    atomic_bool isGone;
    atomic_int  nServed;
} Chore;

static Chore      chores[1000];
static atomic_int nTwice;
static Ns_Mutex   gateLock;
static Ns_Cond    gateOpened;
static bool       isGateOpen;

static void
Nap(int milliseconds)
{
    usleep((useconds_t) milliseconds * 1000);
}

static void
SetGate(bool isOpen)
{
    Ns_MutexLock(&gateLock);
    isGateOpen = isOpen;
    Ns_CondBroadcast(&gateOpened);
    Ns_MutexUnlock(&gateLock);
}

static NsStamp
Serve(NsChore *chorePtr)
{
    Chore  *c = (Chore *) chorePtr;
    NsStamp next = NS_CHORE_NEVER;

    atomic_fetch_add(&nTwice, atomic_fetch_add(&c->nInside, 1) > 0);
    atomic_store(&c->isAsked, false);
    switch (c->kind) {
    case WOKEN:
        break;
    case REGULAR:
        next = NsClockNow() + NS_STAMP_SECOND / 1000;
        break;
    case SLOW:
        Nap(3);
        break;
    case BUSY:
        next = NS_CHORE_NOW;
        break;
    case LONG:
        Nap(5);
        next = NS_CHORE_NOW;
        break;
    case HANGING:
        Ns_MutexLock(&gateLock);
        while (!isGateOpen) {
            Ns_CondWait(&gateOpened, &gateLock);
        }
        Ns_MutexUnlock(&gateLock);
        break;
    }
    atomic_fetch_add(&c->nServed, 1);
    atomic_fetch_sub(&c->nInside, 1);
    if (atomic_load(&c->mustGo)) {
        atomic_store(&c->isGone, true);
        next = NS_CHORE_GONE;
    }
    return next;
}

/*
 * Chores of these kinds, in turn.
 */
static void
Start(int nChores, int nKinds, const Kind *kinds)
{
    static bool isReady;

    if (!isReady) {
        isReady = true;
        NsWorkersInit(Serve, NS_STAMP_SECOND / 10);
    }
    NsWorkersOpen();
    for (int i = 0; i < nChores; i++) {
        Chore *c = &chores[i];

        memset(c, 0, sizeof(*c));
        snprintf(c->name, sizeof(c->name), "chore%d", i);
        c->chore.name = c->name;
        c->kind = kinds[i % nKinds];
        assert_true(NsWorkersAdd(&c->chore));
    }
    assert_true(NsWorkersNeed(false));
}

/*
 * False: it has not happened in a long time.
 */
#define HAPPENS(condition)                                       \
    ({                                                           \
        NsStamp deadline_ = NsClockNow() + 60 * NS_STAMP_SECOND; \
        while (!(condition) && NsClockNow() < deadline_) {       \
            Nap(2);                                              \
        }                                                        \
        (condition);                                             \
    })

static bool
AreServed(int nChores, int nTimes, Kind butKind)
{
    for (int i = 0; i < nChores; i++) {
        if (chores[i].kind != butKind
            && atomic_load(&chores[i].nServed) < nTimes) {
            return false;
        }
    }
    return true;
}

static bool
AreGone(int nChores)
{
    for (int i = 0; i < nChores; i++) {
        if (!atomic_load(&chores[i].isGone)) {
            return false;
        }
    }
    return true;
}

static void
Stop(int nChores)
{
    NsWorkersClose();
    for (int i = 0; i < nChores; i++) {
        atomic_store(&chores[i].mustGo, true);
    }
    for (int i = 0; i < nChores; i++) {
        if (!atomic_load(&chores[i].isGone)) {
            NsWorkersWake(&chores[i].chore);
        }
    }
    assert_true(HAPPENS(AreGone(nChores)));
    NsWorkersStop(0);
}

/*
 * The workers, and how often they have gone to sleep.
 */
static int
CountWorkers(long *nSleepsPtr)
{
    DIR           *dir = opendir("/proc/self/task");
    struct dirent *entryPtr;
    int            nWorkers = 0;

    *nSleepsPtr = 0;
    while ((entryPtr = readdir(dir)) != NULL) {
        char  path[300], line[200];
        bool  isWorker = false;
        FILE *fp;

        snprintf(path, sizeof(path), "/proc/self/task/%s/status",
                 entryPtr->d_name);
        fp = fopen(path, "r");
        while (fp != NULL && fgets(line, sizeof(line), fp) != NULL) {
            long n;

            isWorker |= strncmp(line, "Name:\t-asynclogw", 16) == 0;
            if (isWorker
                && sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1) {
                *nSleepsPtr += n;
                nWorkers++;
            }
        }
        if (fp != NULL) {
            fclose(fp);
        }
    }
    closedir(dir);
    return nWorkers;
}

static int
NWorkers(void)
{
    long nSleeps;

    return CountWorkers(&nSleeps);
}

static void
Waker(void *arg)
{
    unsigned seed = (unsigned) PTR2INT(arg);

    for (int i = 0; i < 5000; i++) {
        Chore *c = &chores[(unsigned) rand_r(&seed) % NCHORES];

        atomic_store(&c->isAsked, true);
        NsWorkersWake(&c->chore);
    }
}

static bool
IsAnyAsked(void)
{
    for (int i = 0; i < NCHORES; i++) {
        if (atomic_load(&chores[i].isAsked)) {
            return true;
        }
    }
    return false;
}

static void
WhatIsWokenIsServedAndByOneThreadAtATime(void **state)
{
    Kind      kinds[] = {WOKEN, REGULAR, SLOW, WOKEN, BUSY, WOKEN};
    Ns_Thread threads[NWAKERS];

    Start(NCHORES, Ns_NrElements(kinds), kinds);
    for (int i = 0; i < NWAKERS; i++) {
        Ns_ThreadCreate(Waker, INT2PTR(i + 1), 0, &threads[i]);
    }
    for (int i = 0; i < NWAKERS; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    assert_true(HAPPENS(!IsAnyAsked()));
    assert_true(HAPPENS(AreServed(NCHORES, 1, HANGING)));
    Stop(NCHORES);
    assert_int_equal(atomic_load(&nTwice), 0);
    assert_true(HAPPENS(NWorkers() == 0));
}

static void
ChoresThatHangHoldAThreadEachAndOthersGoOn(void **state)
{
    Kind kinds[] = {HANGING, REGULAR, WOKEN, REGULAR, REGULAR};

    SetGate(false);
    Start(100, Ns_NrElements(kinds), kinds);
    /* 20 that hang; one that serves, one that looks on. */
    assert_true(HAPPENS(NWorkers() >= 22));
    assert_true(HAPPENS(AreServed(100, 1, HANGING)));
    for (int i = 0; i < 100; i++) {
        atomic_store(&chores[i].nServed, 0);
        atomic_store(&chores[i].isAsked, true);
        NsWorkersWake(&chores[i].chore);
    }
    assert_true(HAPPENS(AreServed(100, 1, HANGING)));
    for (int i = 0; i < 100; i += 5) {
        assert_int_equal(atomic_load(&chores[i].nServed), 0);
    }
    SetGate(true);
    assert_true(HAPPENS(AreServed(100, 1, REGULAR)));
    Stop(100);
    assert_int_equal(atomic_load(&nTwice), 0);
}

static void
ThreadsThatAreNotNeededAnyMoreEnd(void **state)
{
    Kind kinds[] = {HANGING, WOKEN};

    SetGate(false);
    Start(10, Ns_NrElements(kinds), kinds);
    assert_true(HAPPENS(NWorkers() >= 7));
    SetGate(true);
    assert_true(HAPPENS(NWorkers() == 2));
    Stop(10);
}

static void
AStopDoesNotWaitForAChoreThatHangs(void **state)
{
    Kind kinds[] = {HANGING, WOKEN, REGULAR};

    SetGate(false);
    Start(3, Ns_NrElements(kinds), kinds);
    assert_true(HAPPENS(AreServed(3, 1, HANGING)));
    NsWorkersClose();
    for (int i = 0; i < 3; i++) {
        atomic_store(&chores[i].mustGo, true);
        NsWorkersWake(&chores[i].chore);
    }
    assert_true(HAPPENS(atomic_load(&chores[1].isGone)
                        && atomic_load(&chores[2].isGone)));
    NsWorkersStop(1);
    assert_true(HAPPENS(NWorkers() == 1));
    SetGate(true);
    assert_true(HAPPENS(NWorkers() == 0));
    NsWorkersStop(0);
}

static void
MoreThanOneThreadCanDoIsSharedByTwo(void **state)
{
    Kind kinds[] = {LONG};

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        skip();
    }
    Start(50, 1, kinds);
    /* The third looks on. */
    assert_true(HAPPENS(NWorkers() >= 3));
    Stop(50);
}

/*
 * Fewer sleeps than chores, at least: nothing looks at all of them.
 */
static void
WithNothingToDoNobodyWakes(void **state)
{
    Kind kinds[] = {WOKEN};
    long before, after = -1;
    int  nTries = 0;

    Start(1000, 1, kinds);
    assert_true(HAPPENS(AreServed(1000, 1, HANGING)));
    do {
        assert_true(nTries++ < 20);
        (void) CountWorkers(&before);
        Nap(1000);
        (void) CountWorkers(&after);
    } while (after != before);
    assert_true(HAPPENS(NWorkers() == 2));
    Stop(1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsWokenIsServedAndByOneThreadAtATime),
        cmocka_unit_test(ChoresThatHangHoldAThreadEachAndOthersGoOn),
        cmocka_unit_test(ThreadsThatAreNotNeededAnyMoreEnd),
        cmocka_unit_test(AStopDoesNotWaitForAChoreThatHangs),
        cmocka_unit_test(MoreThanOneThreadCanDoIsSharedByTwo),
        cmocka_unit_test(WithNothingToDoNobodyWakes)};

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
