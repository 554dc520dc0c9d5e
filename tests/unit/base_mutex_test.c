/* SPDX-License-Identifier: MPL-2.0
 * base_mutex_test.c --
 *
 *      1. statistics    2. names and list    3. first use    4. conditions
 *      5. other locks   6. order and holders    7. contracts
 */

#include "unit.h"
#include "aborts.h"
#include "base/assert.h"
#include "base/lock.h"
#include "nsstring.h"

typedef struct Stats {
    char   name[100];
    int    id;
    long   nLocks, nBusy;
    double waited, longestWait, held;
} Stats;

/*
 * The statistics of the mutex with that name; false if it is not in the list.
 */
static bool
GetStats(const char *name, Stats *statsPtr)
{
    Ns_DString   ds;
    int          n, nElements;
    const char **mutexes, **elements;
    bool         isFound = false;

    Tcl_DStringInit(&ds);
    Ns_MutexList(&ds);
    assert_int_equal(Tcl_SplitList(NULL, ds.string, &n, &mutexes), TCL_OK);
    for (int i = 0; i < n && !isFound; i++) {
        assert_int_equal(Tcl_SplitList(NULL, mutexes[i], &nElements, &elements),
                         TCL_OK);
        assert_int_equal(nElements, 8);
        if (strcmp(elements[0], name) == 0) {
            isFound = true;
            assert_string_equal(elements[1], "");
            snprintf(statsPtr->name, sizeof(statsPtr->name), "%s", elements[0]);
            statsPtr->id = atoi(elements[2]);
            statsPtr->nLocks = atol(elements[3]);
            statsPtr->nBusy = atol(elements[4]);
            statsPtr->waited = atof(elements[5]);
            statsPtr->longestWait = atof(elements[6]);
            statsPtr->held = atof(elements[7]);
        }
        Tcl_Free((char *) elements);
    }
    Tcl_Free((char *) mutexes);
    Tcl_DStringFree(&ds);
    return isFound;
}

static void
Sleep(int ms)
{
    poll(NULL, 0, ms);
}

static void
each_acquisition_counts_and_the_time_held_adds_up(void **state)
{
    Ns_Mutex mutex = NULL;
    Stats    stats;

    Ns_MutexSetName(&mutex, "counted");
    for (int i = 0; i < 3; i++) {
        Ns_MutexLock(&mutex);
        Sleep(10);
        Ns_MutexUnlock(&mutex);
        Sleep(10);
    }
    assert_true(GetStats("counted", &stats));
    assert_int_equal(stats.nLocks, 3);
    assert_int_equal(stats.nBusy, 0);
    assert_true(stats.waited == 0 && stats.longestWait == 0);
    assert_true(stats.held > 0.0290);
    Ns_MutexDestroy(&mutex);
}

static Ns_Mutex contended;

static void
LockOnce(void *arg)
{
    Ns_SemaPost(arg, 1);
    Ns_MutexLock(&contended);
    Ns_MutexUnlock(&contended);
}

static void
who_waits_counts_as_busy_with_the_time_waited(void **state)
{
    Ns_Sema isStarted = NULL;
    Stats   stats = {.nBusy = 0};

    /* On a busy machine the thread may come too late to wait long, or at
     * all. */
    for (int i = 0; i < 20 && stats.waited < 0.01; i++) {
        Ns_Thread thread;

        Ns_MutexDestroy(&contended);
        Ns_MutexSetName2(&contended, "test", "contended");
        Ns_MutexLock(&contended);
        Ns_ThreadCreate(LockOnce, &isStarted, 0, &thread);
        Ns_SemaWait(&isStarted);
        Sleep(50);
        Ns_MutexUnlock(&contended);
        Ns_ThreadJoin(&thread, NULL);
        assert_true(GetStats("test:contended", &stats));
        assert_int_equal(stats.nLocks, 2);
    }
    assert_int_equal(stats.nBusy, 1);
    assert_true(stats.waited > 0.01);
    /* Each is converted to seconds at its own moment. */
    assert_true(stats.longestWait > stats.waited * 0.99
                && stats.longestWait < stats.waited * 1.01);
    Ns_SemaDestroy(&isStarted);
    Ns_MutexDestroy(&contended);
}

static void
TryBusy(void *arg)
{
    Ns_ThreadExit((void *) (intptr_t) Ns_MutexTryLock(arg));
}

static void
a_trylock_that_fails_changes_no_statistics(void **state)
{
    Ns_Mutex  mutex = NULL;
    Ns_Thread thread;
    Stats     stats;
    void     *result;

    Ns_MutexSetName(&mutex, "tried");
    assert_int_equal(Ns_MutexTryLock(&mutex), NS_OK);
    Ns_ThreadCreate(TryBusy, &mutex, 0, &thread);
    Ns_ThreadJoin(&thread, &result);
    assert_int_equal((intptr_t) result, NS_TIMEOUT);
    Ns_MutexUnlock(&mutex);

    assert_true(GetStats("tried", &stats));
    assert_int_equal(stats.nLocks, 1);
    assert_int_equal(stats.nBusy, 0);
    assert_true(stats.held < 10);
    Ns_MutexDestroy(&mutex);
}

static void
time_spent_waiting_for_a_condition_does_not_count_as_held(void **state)
{
    Ns_Mutex mutex = NULL;
    Ns_Cond  cond = NULL;
    Stats    stats = {.held = 1};

    /* A busy machine may stop this thread while it holds the lock. */
    for (int i = 0; i < 20 && stats.held >= 0.045; i++) {
        Ns_Time until;

        Ns_MutexDestroy(&mutex);
        Ns_MutexSetName(&mutex, "conditional");
        Ns_MutexLock(&mutex);
        Ns_GetTime(&until);
        Ns_IncrTime(&until, 0, 50000);
        while (Ns_CondTimedWait(&cond, &mutex, &until) == NS_OK) {
            /* Woken for no reason. */
        }
        Ns_MutexUnlock(&mutex);
        assert_true(GetStats("conditional", &stats));
    }
    assert_true(stats.held < 0.045);
    Ns_MutexDestroy(&mutex);
    Ns_CondDestroy(&cond);
}

static void
an_unnamed_mutex_is_called_mu_and_its_id(void **state)
{
    Ns_Mutex   mutex;
    Ns_DString ds;
    char       expected[20];
    int        id;

    memset(&mutex, 0xff, sizeof(mutex)); /* Unknown content. */
    Ns_MutexInit(&mutex);
    Tcl_DStringInit(&ds);
    Ns_MutexList(&ds);
    assert_int_equal(sscanf(ds.string, "{mu%*d {} %d 0 0 0.000000", &id), 1);
    snprintf(expected, sizeof(expected), "{mu%d {}", id);
    assert_memory_equal(ds.string, expected, strlen(expected));
    Tcl_DStringFree(&ds);
    Ns_MutexDestroy(&mutex);
}

static void
the_list_begins_with_the_newest_and_ends_with_destruction(void **state)
{
    Ns_Mutex   older = NULL, newer = NULL;
    Ns_DString ds;
    Stats      stats;

    Ns_MutexSetName(&older, "older");
    Ns_MutexSetName(&newer, "newer");
    Tcl_DStringInit(&ds);
    Ns_MutexList(&ds);
    assert_true(strstr(ds.string, "newer") < strstr(ds.string, "older"));
    Tcl_DStringFree(&ds);

    Ns_MutexDestroy(&newer);
    assert_null(newer);
    assert_false(GetStats("newer", &stats));
    assert_true(GetStats("older", &stats));
    Ns_MutexDestroy(&older);
    Ns_MutexDestroy(&older);
}

static void
names_end_after_sixty_four_bytes_and_stay_one_list_element(void **state)
{
    Ns_Mutex mutex = NULL;
    char     name[101] = "", expected[65];
    Stats    stats;

    memset(name, 'x', 100);
    snprintf(expected, sizeof(expected), "a b:%.60s", name);
    Ns_MutexSetName2(&mutex, "a b", name);
    assert_true(GetStats(expected, &stats));
    Ns_MutexDestroy(&mutex);
}

#define N_THREADS 4

static Ns_Mutex  lazyMutex;
static Ns_RWLock startLine;
static int       counter;

static void
UseAtOnce(void *arg)
{
    Ns_RWLockRdLock(&startLine);
    Ns_MutexLock(&lazyMutex);
    counter++;
    Ns_MutexUnlock(&lazyMutex);
    Ns_RWLockUnlock(&startLine);
}

static void
threads_that_meet_at_first_use_share_one_mutex(void **state)
{
    Ns_Thread threads[N_THREADS];

    for (int round = 0; round < 200; round++) {
        counter = 0;
        Ns_RWLockWrLock(&startLine);
        for (int i = 0; i < N_THREADS; i++) {
            Ns_ThreadCreate(UseAtOnce, NULL, 0, &threads[i]);
        }
        Ns_RWLockUnlock(&startLine);
        for (int i = 0; i < N_THREADS; i++) {
            Ns_ThreadJoin(&threads[i], NULL);
        }
        assert_int_equal(counter, N_THREADS);
        Ns_MutexDestroy(&lazyMutex);
    }
    Ns_RWLockDestroy(&startLine);
}

static void
a_timed_wait_ends_at_its_time_and_not_before(void **state)
{
    Ns_Mutex mutex = NULL;
    Ns_Cond  cond = NULL;
    Ns_Time  until, past = {1, 0}, after;
    NsStamp  start;

    Ns_MutexLock(&mutex);
    assert_int_equal(Ns_CondTimedWait(&cond, &mutex, &past), NS_TIMEOUT);

    Ns_GetTime(&until);
    Ns_IncrTime(&until, 0, 30000);
    while (Ns_CondTimedWait(&cond, &mutex, &until) == NS_OK) {
        /* Woken for no reason. */
    }
    Ns_GetTime(&after);
    assert_true(Ns_DiffTime(&after, &until, NULL) >= 0);

    start = NsClockNow();
    while (NsCondWaitUntil(&cond, &mutex, start + NS_STAMP_SECOND / 50)
           == NS_OK) {
        /* Woken for no reason. */
    }
    assert_true(NsClockNow() - start >= NS_STAMP_SECOND / 50);
    Ns_MutexUnlock(&mutex);
    Ns_CondDestroy(&cond);
    Ns_MutexDestroy(&mutex);
}

typedef struct Signal {
    Ns_Mutex mutex;
    Ns_Cond  cond;
    bool     isSet;
} Signal;

static void
SetSignal(void *arg)
{
    Signal *signalPtr = arg;

    Ns_MutexLock(&signalPtr->mutex);
    signalPtr->isSet = true;
    Ns_CondSignal(&signalPtr->cond);
    Ns_MutexUnlock(&signalPtr->mutex);
}

static void
a_wait_without_limit_ends_when_signalled(void **state)
{
    Signal    signal = {0};
    Ns_Thread thread;
    int       status = NS_OK;

    Ns_MutexLock(&signal.mutex);
    Ns_ThreadCreate(SetSignal, &signal, 0, &thread);
    while (!signal.isSet && status == NS_OK) {
        status = Ns_CondTimedWait(&signal.cond, &signal.mutex, NULL);
    }
    Ns_MutexUnlock(&signal.mutex);
    Ns_ThreadJoin(&thread, NULL);
    assert_int_equal(status, NS_OK);
    Ns_CondDestroy(&signal.cond);
    Ns_MutexDestroy(&signal.mutex);
}

static Ns_Cs critical;

static void
EnterNested(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        Ns_CsEnter(&critical);
        Ns_CsEnter(&critical);
        counter++;
        Ns_CsLeave(&critical);
        Ns_CsLeave(&critical);
    }
}

static void
a_critical_section_is_recursive_and_excludes_others(void **state)
{
    Ns_Thread thread;

    counter = 0;
    Ns_ThreadCreate(EnterNested, NULL, 0, &thread);
    EnterNested(NULL);
    Ns_ThreadJoin(&thread, NULL);
    assert_int_equal(counter, 2000);
    Ns_CsDestroy(&critical);
}

static void
WaitForSema(void *arg)
{
    Ns_SemaWait(arg);
}

static void
a_post_lets_as_many_through_as_it_adds(void **state)
{
    Ns_Sema   sema = NULL;
    Ns_Thread threads[3];

    Ns_SemaInit(&sema, 1);
    for (int i = 0; i < 3; i++) {
        Ns_ThreadCreate(WaitForSema, &sema, 0, &threads[i]);
    }
    Ns_SemaPost(&sema, 2);
    for (int i = 0; i < 3; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    Ns_SemaDestroy(&sema);
}

static void
the_master_lock_is_recursive(void **state)
{
    Ns_MasterLock();
    Ns_MasterLock();
    Ns_MasterUnlock();
    Ns_MasterUnlock();
}

static Ns_Mutex  left, right;
static Ns_RWLock shared;
static Ns_Sema   sema;

static void
LockInOrder(void)
{
    Ns_MutexLock(&left);
    Ns_RWLockRdLock(&shared);
    Ns_MutexLock(&right);
    NsAssertLocked(&left);
    Ns_MutexUnlock(&left);
    Ns_RWLockUnlock(&shared);
    Ns_MutexUnlock(&right);
    NsAssertNoneLocked();
    Ns_RWLockWrLock(&shared);
    NsAssertWriteLocked(&shared);
    Ns_RWLockUnlock(&shared);
    Ns_MutexLock(&left);
}

static void
LockReversed(void)
{
    Ns_MutexLock(&right);
    Ns_MutexLock(&left);
}

static void
ReadReversed(void)
{
    Ns_MutexLock(&right);
    Ns_RWLockRdLock(&shared);
}

static void
EnterReversed(void)
{
    NsCsSetup(&critical, NS_RANK_SCHED, "test", "critical");
    Ns_MutexLock(&right);
    Ns_CsEnter(&critical);
}

static void
LockUnderWhatWasTried(void)
{
    Ns_MutexLock(&right);
    assert_int_equal(Ns_MutexTryLock(&left), NS_OK);
    Ns_RWLockWrLock(&shared);
}

static void
LockTwice(void)
{
    Ns_MutexLock(&left);
    Ns_MutexLock(&left);
}

static void
ReadTwice(void)
{
    Ns_RWLockRdLock(&shared);
    Ns_RWLockRdLock(&shared);
}

static void
ReadWhatIsWritten(void)
{
    Ns_RWLockWrLock(&shared);
    Ns_RWLockRdLock(&shared);
}

static void
AssertUnlocked(void)
{
    Ns_MutexLock(&left);
    Ns_MutexUnlock(&left);
    NsAssertLocked(&left);
}

static void
AssertWriterOfRead(void)
{
    Ns_RWLockRdLock(&shared);
    NsAssertWriteLocked(&shared);
}

static void
UnlockWhatIsFree(void)
{
    Ns_MutexUnlock(&left);
}

static void
UnlockRWLockThatIsFree(void)
{
    Ns_RWLock unranked = NULL;

    Ns_RWLockUnlock(&unranked);
}

static void
UnlockRankedRWLockThatIsFree(void)
{
    Ns_RWLockUnlock(&shared);
}

static void
LeaveWhatIsFree(void)
{
    Ns_CsLeave(&critical);
}

static void
WaitWithoutTheLock(void)
{
    Ns_Cond cond = NULL;
    Ns_Time past = {1, 0};

    Ns_CondTimedWait(&cond, &left, &past);
}

static void
WaitForSemaWithALock(void)
{
    Ns_SemaInit(&sema, 1);
    Ns_MutexLock(&left);
    Ns_SemaWait(&sema);
}

static void
DestroyWhatIsHeld(void)
{
    Ns_MutexLock(&left);
    Ns_MutexDestroy(&left);
}

static void
what_breaks_the_order_or_the_holding_of_locks_ends_the_process(void **state)
{
    static void (*const faults[])(void) = {
        LockReversed,
        ReadReversed,
        EnterReversed,
        LockUnderWhatWasTried,
        LockTwice,
        ReadTwice,
        ReadWhatIsWritten,
        AssertUnlocked,
        AssertWriterOfRead,
        UnlockWhatIsFree,
        UnlockRWLockThatIsFree,
        UnlockRankedRWLockThatIsFree,
        LeaveWhatIsFree,
        WaitWithoutTheLock,
        WaitForSemaWithALock,
        DestroyWhatIsHeld};

    NsMutexSetup(&left, NS_RANK_SCHED, "test", "left");
    NsRWLockSetup(&shared, NS_RANK_CONFIG, "test", "shared");
    NsMutexSetup(&right, NS_RANK_LEAF, "test", "right");
    assert_false(Aborts(LockInOrder));
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (!Aborts(faults[i])) {
            fail_msg("fault %zu went by", i);
        }
    }
    Ns_MutexDestroy(&left);
    Ns_RWLockDestroy(&shared);
    Ns_MutexDestroy(&right);
}

static void
UnlockForeign(void *arg)
{
    Ns_MutexUnlock(&left);
}

static void
UnlockInAnotherThread(void)
{
    Ns_Thread thread;

    Ns_MutexLock(&left);
    Ns_ThreadCreate(UnlockForeign, NULL, 0, &thread);
    Ns_ThreadJoin(&thread, NULL);
}

static void
a_lock_is_released_by_its_holder_alone(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* No threads after fork. */
#endif
    assert_true(Aborts(UnlockInAnotherThread));
}

static void
a_read_write_lock_is_in_the_list_with_its_counts(void **state)
{
    Ns_RWLock lock = NULL;
    Stats     stats;

    NsRWLockSetup(&lock, NS_RANK_CONFIG, "test", "rwlock");
    Ns_RWLockRdLock(&lock);
    Ns_RWLockUnlock(&lock);
    Ns_RWLockWrLock(&lock);
    Sleep(10);
    Ns_RWLockUnlock(&lock);
    assert_true(GetStats("test:rwlock", &stats));
    assert_int_equal(stats.nLocks, 2);
    assert_int_equal(stats.nBusy, 0);
    assert_true(stats.held > 0.0090);
    Ns_RWLockDestroy(&lock);
    assert_false(GetStats("test:rwlock", &stats));
}

static void
BreakAssert(void)
{
    int one = 1;

    NsAssert(one == 2);
}

static void
BreakMust(void)
{
    NsMust(EINVAL);
}

static void
CloseTwice(void)
{
    int fd = dup(0);

    NsClose(fd);
    NsClose(fd);
}

static void
a_broken_contract_ends_the_process_in_every_build(void **state)
{
    assert_true(Aborts(BreakAssert));
    assert_true(Aborts(BreakMust));
    assert_true(Aborts(CloseTwice));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_acquisition_counts_and_the_time_held_adds_up),
        cmocka_unit_test(who_waits_counts_as_busy_with_the_time_waited),
        cmocka_unit_test(a_trylock_that_fails_changes_no_statistics),
        cmocka_unit_test(
            time_spent_waiting_for_a_condition_does_not_count_as_held),
        cmocka_unit_test(an_unnamed_mutex_is_called_mu_and_its_id),
        cmocka_unit_test(
            the_list_begins_with_the_newest_and_ends_with_destruction),
        cmocka_unit_test(
            names_end_after_sixty_four_bytes_and_stay_one_list_element),
        cmocka_unit_test(threads_that_meet_at_first_use_share_one_mutex),
        cmocka_unit_test(a_timed_wait_ends_at_its_time_and_not_before),
        cmocka_unit_test(a_wait_without_limit_ends_when_signalled),
        cmocka_unit_test(a_critical_section_is_recursive_and_excludes_others),
        cmocka_unit_test(a_post_lets_as_many_through_as_it_adds),
        cmocka_unit_test(the_master_lock_is_recursive),
        cmocka_unit_test(
            what_breaks_the_order_or_the_holding_of_locks_ends_the_process),
        cmocka_unit_test(a_lock_is_released_by_its_holder_alone),
        cmocka_unit_test(a_read_write_lock_is_in_the_list_with_its_counts),
        cmocka_unit_test(a_broken_contract_ends_the_process_in_every_build),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
