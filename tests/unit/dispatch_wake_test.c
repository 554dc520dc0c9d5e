/* SPDX-License-Identifier: MPL-2.0
 * dispatch_wake_test.c --
 *
 *      Threads that have been given work are woken one after the other.
 *
 *      1. give    2. begin    3. relieve    4. late
 */

#include "unit.h"
#include "dispatch/connthread_int.h"
#include "dispatch/pool_check.h"
#include "dispatch/wake.h"

#define N_THREADS 4
#define LATE      (2 * NS_STAMP_SECOND / 1000)

static NsServer     server;
static NsPool       pool;
static NsConnThread threads[N_THREADS];
static NsWork       works[N_THREADS + 1];
static NsStamp      stamp; /* However slow the machine, it is not late. */

/*
 * A pool of threads that are all busy with nothing.
 */
static int
Setup(void **state)
{
    pool.name = "";
    pool.serverPtr = &server;
    pool.maxConnections = pool.placeLimit = 10;
    pool.minThreads = 1;
    pool.maxThreads = pool.nCurrent = N_THREADS;
    pool.isOpen = true;
    pool.nWaking = 0;
    pool.firstPendingPtr = pool.lastPendingPtr = NULL;
    stamp = NsClockNow() + 1000 * NS_STAMP_SECOND;
    for (int i = 0; i < N_THREADS; i++) {
        threads[i].workPtr = NULL;
        threads[i].isPending = false;
        threads[i].poolPtr = &pool;
    }
    for (int i = 0; i <= N_THREADS; i++) {
        works[i] = (NsWork){.poolPtr = &pool, .queueStamp = stamp};
    }
    return 0;
}

static int
SetupLocks(void **state)
{
    NsMutexSetup(&pool.wqueue, NS_RANK_POOL_WQUEUE, "test", "wqueue");
    NsMutexSetup(&pool.tqueue, NS_RANK_POOL_TQUEUE, "test", "tqueue");
    NsMutexSetup(&pool.threads, NS_RANK_POOL_THREADS, "test", "threads");
    for (int i = 0; i < N_THREADS; i++) {
        NsMust(sem_init(&threads[i].wakeup, 0, 0));
    }
    return 0;
}

static bool
Give(int thread, int work)
{
    bool mustWake;

    Ns_MutexLock(&pool.tqueue);
    mustWake = NsWakeGiveLocked(&threads[thread], &works[work]);
    NsPoolCheckLocked(&pool);
    Ns_MutexUnlock(&pool.tqueue);
    return mustWake;
}

/*
 * The thread whose work it was; *workPtrPtr, the work.
 */
static NsConnThread *
Relieve(NsWork *nextPtr, NsWork **workPtrPtr)
{
    NsConnThread *threadPtr;

    Ns_MutexLock(&pool.tqueue);
    threadPtr = NsWakeRelieveLocked(&pool, nextPtr, workPtrPtr);
    NsPoolCheckLocked(&pool);
    Ns_MutexUnlock(&pool.tqueue);
    return threadPtr;
}

/*
 * Whether the thread, which says that it is asleep, has been woken since.
 */
static bool
IsWoken(int thread)
{
    return sem_trywait(&threads[thread].wakeup) == 0;
}

static void
FallAsleep(void)
{
    for (int i = 0; i < N_THREADS; i++) {
        threads[i].isAsleep = true;
    }
}

static void
OfABurstOneIsWokenAndTheOthersArePending(void **state)
{
    assert_true(Give(0, 0));
    assert_false(Give(1, 1));
    assert_false(Give(2, 2));
    assert_int_equal(pool.nWaking, 1);
    assert_ptr_equal(pool.firstPendingPtr, &threads[1]);
    assert_ptr_equal(pool.lastPendingPtr, &threads[2]);
}

static void
EachThatBeginsWakesTheNextOneAlone(void **state)
{
    FallAsleep();
    for (int i = 0; i < 3; i++) {
        (void) Give(i, i);
    }
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(NsWakeBegin(&threads[i]), &works[i]);
        assert_int_equal(IsWoken(i + 1), i < 2);
        assert_false(i < 2 && IsWoken(i + 2));
    }
    assert_int_equal(pool.nWaking, 0);
    assert_true(Give(3, 3));
}

static void
AThreadThatIsAwakeBeginsBeforeItIsCalled(void **state)
{
    (void) Give(0, 0);
    (void) Give(1, 1);
    (void) Give(2, 2);
    assert_ptr_equal(NsWakeBegin(&threads[2]), &works[2]);
    assert_ptr_equal(pool.lastPendingPtr, &threads[1]);
    assert_int_equal(pool.nWaking, 1);
    assert_ptr_equal(NsWakeBegin(&threads[0]), &works[0]);
    assert_ptr_equal(NsWakeBegin(&threads[1]), &works[1]);
    assert_int_equal(pool.nWaking, 0);
}

static void
TheWorkOfTheOneThatIsCalledNextIsTakenAndItHasNoneToBegin(void **state)
{
    NsWork *workPtr;

    FallAsleep();
    (void) Give(0, 0);
    (void) Give(1, 1);
    (void) Give(2, 2);
    assert_ptr_equal(Relieve(NULL, &workPtr), &threads[1]);
    assert_ptr_equal(workPtr, &works[1]);
    assert_null(NsWakeBegin(&threads[1]));
    assert_ptr_equal(NsWakeBegin(&threads[0]), &works[0]);
    assert_false(IsWoken(1));
    assert_true(IsWoken(2));
}

static void
ForTheWorkThatIsTakenAWaitingOneComesInBehindTheOthers(void **state)
{
    NsWork *workPtr;

    (void) Give(0, 0);
    (void) Give(1, 1);
    (void) Give(2, 2);
    (void) Relieve(&works[4], &workPtr);
    assert_ptr_equal(workPtr, &works[1]);
    (void) Relieve(NULL, &workPtr);
    assert_ptr_equal(workPtr, &works[2]);
    (void) Relieve(NULL, &workPtr);
    assert_ptr_equal(workPtr, &works[4]);
    assert_null(pool.firstPendingPtr);
}

static void
ThoseWhoseFirstWasLateAreAllWoken(void **state)
{
    FallAsleep();
    for (int i = 0; i < N_THREADS; i++) {
        works[i].queueStamp = NsClockNow() - LATE;
        (void) Give(i, i);
    }
    assert_ptr_equal(NsWakeBegin(&threads[0]), &works[0]);
    for (int i = 1; i < N_THREADS; i++) {
        assert_true(IsWoken(i));
    }
    assert_null(pool.firstPendingPtr);
}

static void
WhileOneIsLateNewWorkWakesItsOwnThread(void **state)
{
    assert_true(Give(0, 0));
    works[1].queueStamp = stamp + LATE;
    assert_true(Give(1, 1));
    assert_int_equal(pool.nWaking, 2);
    works[2].queueStamp = stamp + LATE;
    assert_false(Give(2, 2));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(OfABurstOneIsWokenAndTheOthersArePending, Setup),
        cmocka_unit_test_setup(EachThatBeginsWakesTheNextOneAlone, Setup),
        cmocka_unit_test_setup(AThreadThatIsAwakeBeginsBeforeItIsCalled, Setup),
        cmocka_unit_test_setup(
            TheWorkOfTheOneThatIsCalledNextIsTakenAndItHasNoneToBegin, Setup),
        cmocka_unit_test_setup(
            ForTheWorkThatIsTakenAWaitingOneComesInBehindTheOthers, Setup),
        cmocka_unit_test_setup(ThoseWhoseFirstWasLateAreAllWoken, Setup),
        cmocka_unit_test_setup(WhileOneIsLateNewWorkWakesItsOwnThread, Setup)};

    return cmocka_run_group_tests(tests, SetupLocks, NULL);
}
