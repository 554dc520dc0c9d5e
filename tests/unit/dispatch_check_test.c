/* SPDX-License-Identifier: MPL-2.0
 * dispatch_check_test.c --
 *
 *      What a pool asserts of itself: each member that is wrong ends the
 *      process.
 *
 *      1. idle stack    2. queues    3. works
 */

#include "unit.h"
#include "aborts.h"
#include "dispatch/connthread_int.h"
#include "dispatch/pool.h"
#include "dispatch/pool_check.h"
#include "dispatch/pool_stats.h"
#include "dispatch/wake.h"

#include <string.h>

/*
 * Two idle threads; or two works, one of them held, in a full pool.
 */
static NsPool       pool;
static NsServer     server;
static NsConnThread top, bottom;
static NsWork       waiting, held;

static void
LockBoth(void)
{
    Ns_MutexLock(&pool.wqueue);
    Ns_MutexLock(&pool.tqueue);
}

static void
Reset(void)
{
    pool.name = "";
    pool.serverPtr = &server;
    pool.maxConnections = pool.placeLimit = 4;
    pool.minThreads = 1;
    pool.maxThreads = 3;
    pool.isOpen = true;
    pool.nCurrent = 2;
}

static void
MakeIdle(void)
{
    Reset();
    pool.nIdle = 2;
    pool.topPtr = &top;
    top = (NsConnThread){.poolPtr = &pool, .isIdle = true, .downPtr = &bottom};
    bottom = (NsConnThread){.poolPtr = &pool, .isIdle = true, .upPtr = &top};
    LockBoth();
}

static void
MakeBusy(void)
{
    Reset();
    pool.nPlaces = 4;
    pool.nWaiting = pool.nHeld = 1;
    pool.waiting = (NsWorkQueue){&waiting, &waiting};
    pool.held = (NsWorkQueue){&held, &held};
    LockBoth();
}

/*
 * Two threads with work: one is being woken, the other is pending.
 */
static void
MakePending(void)
{
    Reset();
    pool.nPlaces = 2;
    pool.nWaking = 1;
    pool.firstPendingPtr = pool.lastPendingPtr = &bottom;
    top = (NsConnThread){.poolPtr = &pool, .workPtr = &held};
    bottom = (NsConnThread){
        .poolPtr = &pool, .workPtr = &waiting, .isPending = true};
    LockBoth();
}

static void
Idle(void)
{
    MakeIdle();
    NsPoolCheckBothLocked(&pool);
}
static void
Busy(void)
{
    MakeBusy();
    NsPoolCheckBothLocked(&pool);
}
static void
Pending(void)
{
    MakePending();
    NsPoolCheckBothLocked(&pool);
}

#define FAULT(name, make, change)     \
    static void name(void)            \
    {                                 \
        make();                       \
        change;                       \
        NsPoolCheckBothLocked(&pool); \
    }

FAULT(NoTop, MakeIdle, pool.topPtr = NULL)
FAULT(TopOfNone, MakeIdle, pool.nIdle = 0)
FAULT(NegativeIdle, MakeBusy, pool.nIdle = -1)
FAULT(IdleWhenClosed, MakeIdle, pool.isOpen = false)
FAULT(IdleWhileOneWaits, MakeIdle, pool.nWaiting = pool.nPlaces = 1;
      pool.waiting.firstPtr = pool.waiting.lastPtr = &waiting)
FAULT(IdleWhileOneIsHeld, MakeIdle, pool.nHeld = 1; pool.nPlaces = 4;
      pool.held.firstPtr = pool.held.lastPtr = &held)
FAULT(MoreIdleThanThere, MakeIdle, pool.nCurrent = 1)
FAULT(CreatedButNotCounted, MakeBusy, pool.nCreating = 3)
FAULT(NegativeCreating, MakeBusy, pool.nCreating = -1)
FAULT(MorePlacesThanThereAre, MakeBusy, pool.nPlaces = 5)
FAULT(WaitsWithoutPlace, MakeBusy, pool.nPlaces = 0)
FAULT(HeldBesideAPlace, MakeBusy, pool.nPlaces = 3)
FAULT(CountedButNotQueued, MakeBusy, pool.waiting.firstPtr = NULL)
FAULT(QueuedButNotCounted, MakeBusy, pool.nWaiting = 0)
FAULT(CountedButNotHeld, MakeBusy, pool.held.firstPtr = NULL)
FAULT(NobodyCallsPending, MakePending, pool.nWaking = 0)
FAULT(NegativeWaking, MakeBusy, pool.nWaking = -1)
FAULT(MoreWakingThanThere, MakeBusy, pool.nWaking = 3)
FAULT(Unlocked, MakeIdle, Ns_MutexUnlock(&pool.tqueue))
FAULT(QueueUnlocked, MakeIdle, Ns_MutexUnlock(&pool.wqueue))

FAULT(ShortStack, MakeIdle, top.downPtr = NULL)
FAULT(LongStack, MakeIdle, pool.nIdle = 1)
FAULT(BadUpLink, MakeIdle, bottom.upPtr = NULL)
FAULT(CircularStack, MakeIdle, bottom.downPtr = &top)
FAULT(NotIdleOnTheStack, MakeIdle, bottom.isIdle = false)
FAULT(IdleWithWork, MakeIdle, bottom.workPtr = &waiting)
FAULT(IdleAndEnding, MakeIdle, top.mustEnd = true)
FAULT(IdleAndRunning, MakeIdle, top.runningPtr = &waiting)
FAULT(ThreadOfAnotherPool, MakeIdle, top.poolPtr = NULL)
FAULT(WrongLast, MakeBusy, pool.waiting.lastPtr = &held)
FAULT(MoreWaitThanAreCounted, MakeBusy, waiting.nextPtr = &held)
FAULT(CircularQueue, MakeBusy, held.nextPtr = &held)
FAULT(PendingWithoutWork, MakePending, bottom.workPtr = NULL)
FAULT(PendingAndNotMarked, MakePending, bottom.isPending = false)
FAULT(PendingAndIdle, MakePending, bottom.isIdle = true)
FAULT(PendingAndEnding, MakePending, bottom.mustEnd = true)
FAULT(WrongLastPending, MakePending, pool.lastPendingPtr = &top)
FAULT(CircularPending, MakePending, bottom.nextPendingPtr = &bottom)
FAULT(IdleAndPending, MakeIdle, bottom.isPending = true)

static void
ExpectAborts(void (*const *faults)(void), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!Aborts(faults[i])) {
            fail_msg("fault %zu went by", i);
        }
    }
}

static void
a_pool_that_is_in_order_goes_by(void **state)
{
    assert_false(Aborts(Idle));
    assert_false(Aborts(Busy));
    assert_false(Aborts(Pending));
}

static void
a_wrong_count_ends_the_process_in_every_build(void **state)
{
    static void (*const faults[])(void) = {
        NoTop,
        TopOfNone,
        NegativeIdle,
        IdleWhenClosed,
        IdleWhileOneWaits,
        IdleWhileOneIsHeld,
        MoreIdleThanThere,
        CreatedButNotCounted,
        NegativeCreating,
        MorePlacesThanThereAre,
        WaitsWithoutPlace,
        HeldBesideAPlace,
        CountedButNotQueued,
        QueuedButNotCounted,
        CountedButNotHeld,
        NobodyCallsPending,
        NegativeWaking,
        MoreWakingThanThere,
        Unlocked,
        QueueUnlocked};

    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

static void
a_wrong_list_ends_the_process_in_a_debug_build(void **state)
{
    static void (*const faults[])(void) = {
        ShortStack,         LongStack,           BadUpLink,
        CircularStack,      NotIdleOnTheStack,   IdleWithWork,
        IdleAndEnding,      IdleAndRunning,      ThreadOfAnotherPool,
        PendingWithoutWork, PendingAndNotMarked, PendingAndIdle,
        PendingAndEnding,   WrongLastPending,    CircularPending,
        IdleAndPending,     WrongLast,           MoreWaitThanAreCounted,
        CircularQueue};

#ifndef NS_DEBUG
    skip();
#endif
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

static void
SubmitWithoutAcceptTime(void)
{
    NsWork work = {.nextPtr = NULL};

    Reset();
    (void) NsPoolSubmit(&pool, &work);
}

static void
CountSpansOfWhatHasNoPool(void)
{
    NsWork work = {.endStamp = 1};

    NsPoolCountSpans(&work);
}

static void
GiveWorkToABusyThread(void)
{
    NsConnThread thread = {.poolPtr = &pool, .workPtr = &held};

    LockBoth();
    (void) NsWakeGiveLocked(&thread, &waiting);
}

static void
UnpinWhatIsNotPinned(void)
{
    NsPoolUnpin(&pool, &waiting);
}

static void
work_in_a_wrong_state_ends_the_process(void **state)
{
    static void (*const faults[])(void) = {
        SubmitWithoutAcceptTime, CountSpansOfWhatHasNoPool,
        GiveWorkToABusyThread, UnpinWhatIsNotPinned};

    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

static int
Setup(void **state)
{
    NsMutexSetup(&pool.wqueue, NS_RANK_POOL_WQUEUE, "test", "wqueue");
    NsMutexSetup(&pool.tqueue, NS_RANK_POOL_TQUEUE, "test", "tqueue");
    NsMutexSetup(&pool.threads, NS_RANK_POOL_THREADS, "test", "threads");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_that_is_in_order_goes_by),
        cmocka_unit_test(a_wrong_count_ends_the_process_in_every_build),
        cmocka_unit_test(a_wrong_list_ends_the_process_in_a_debug_build),
        cmocka_unit_test(work_in_a_wrong_state_ends_the_process),
    };

    return cmocka_run_group_tests(tests, Setup, NULL);
}
