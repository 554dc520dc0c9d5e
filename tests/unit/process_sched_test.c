/* SPDX-License-Identifier: MPL-2.0
 * process_sched_test.c --
 *
 *      Scheduled procedures.
 *
 *      1  clock times     2  running     3  removing and pausing     4  the end
 *
 *      The scheduler is one per process: the last group stops it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "log/init.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/info.h"
#include "process/sched.h"

static Ns_Mutex lock;
static Ns_Cond  changed;
static char     trace[256]; /* Guarded by the lock, like the rest. */
static int      nRuns;
static int      nCleanups;
static int      nRunning;
static int      maxRunning;

static int
SetUpGroup(void **state)
{
    char *const argv[] = {(char *) "nsd", NULL};

    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    NsLogInit();
    NsConfigInit();
    NsInfoInit(1, argv);
    NsInfoInitLife();
    NsSchedInit();
    NsInfoSetLife(NS_LIFE_RUNNING);
    NsSchedStart();
    return 0;
}

static int
SetUp(void **state)
{
    Ns_MutexLock(&lock);
    *trace = '\0';
    nRuns = nCleanups = nRunning = maxRunning = 0;
    Ns_MutexUnlock(&lock);
    return 0;
}

static time_t
Local(int year, int month, int day, int hour, int minute, int second)
{
    struct tm when = {
        .tm_year = year - 1900,
        .tm_mon = month - 1,
        .tm_mday = day,
        .tm_hour = hour,
        .tm_min = minute,
        .tm_sec = second,
        .tm_isdst = -1};

    return mktime(&when);
}

static void
AddToTrace(const char *text)
{
    Ns_MutexLock(&lock);
    strncat(trace, text, sizeof(trace) - strlen(trace) - 1);
    nRuns++;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

/*
 * Wait until a counter has reached n, two minutes at most.
 */
static void
WaitFor(const int *counterPtr, int n)
{
    Ns_Time deadline;

    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 120, 0);
    Ns_MutexLock(&lock);
    while (*counterPtr < n) {
        assert_int_equal(Ns_CondTimedWait(&changed, &lock, &deadline), NS_OK);
    }
    Ns_MutexUnlock(&lock);
}

static void
Note(void *arg, int id)
{
    AddToTrace(arg);
}

static void
Work(void *arg, int id)
{
    Ns_MutexLock(&lock);
    nRunning++;
    maxRunning = MAX(maxRunning, nRunning);
    Ns_MutexUnlock(&lock);
    usleep(50000);
    Ns_MutexLock(&lock);
    nRunning--;
    Ns_MutexUnlock(&lock);
    AddToTrace("w");
}

/*
 * Ends when another one runs, too.
 */
static void
Meet(void *arg, int id)
{
    Ns_MutexLock(&lock);
    nRunning++;
    maxRunning = MAX(maxRunning, nRunning);
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
    WaitFor(&maxRunning, 2);
}

static void
CleanUp(void *arg, int id)
{
    Ns_MutexLock(&lock);
    nCleanups++;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

static int
Add(Ns_SchedProc *proc, const char *arg, int flags, long sec, long usec)
{
    return NsSchedAdd(&(NsSchedSpec){
        .proc = proc,
        .cleanupProc = CleanUp,
        .arg = (void *) arg,
        .flags = flags,
        .interval = {sec, usec}});
}

static void
DailyIsTodayOrTomorrow(void **state)
{
    const time_t seven = 7 * 3600;

    assert_int_equal(NsSchedNextClock(NS_SCHED_DAILY, seven,
                                      Local(2026, 11, 21, 6, 0, 0)),
                     Local(2026, 11, 21, 7, 0, 0));
    assert_int_equal(NsSchedNextClock(NS_SCHED_DAILY, seven,
                                      Local(2026, 11, 21, 7, 0, 0)),
                     Local(2026, 11, 22, 7, 0, 0));
    assert_int_equal(NsSchedNextClock(NS_SCHED_DAILY, seven,
                                      Local(2026, 12, 31, 8, 0, 0)),
                     Local(2027, 1, 1, 7, 0, 0));
}

static void
DailyKeepsItsClockTimeOverSummerTime(void **state)
{
    const time_t four = 4 * 3600;

    assert_int_equal(NsSchedNextClock(NS_SCHED_DAILY, four,
                                      Local(2026, 3, 28, 4, 0, 0)),
                     Local(2026, 3, 29, 4, 0, 0));
    assert_int_equal(Local(2026, 3, 29, 4, 0, 0) - Local(2026, 3, 28, 4, 0, 0),
                     23 * 3600);
    assert_int_equal(NsSchedNextClock(NS_SCHED_DAILY, four,
                                      Local(2026, 10, 24, 4, 0, 0)),
                     Local(2026, 10, 25, 4, 0, 0));
}

static void
WeeklyCountsFromSunday(void **state)
{
    const time_t mondayNine = 86400 + 9 * 3600;

    /* 21 November 2026 is a Saturday. */
    assert_int_equal(NsSchedNextClock(NS_SCHED_WEEKLY, mondayNine,
                                      Local(2026, 11, 21, 12, 0, 0)),
                     Local(2026, 11, 23, 9, 0, 0));
    assert_int_equal(NsSchedNextClock(NS_SCHED_WEEKLY, mondayNine,
                                      Local(2026, 11, 23, 9, 0, 0)),
                     Local(2026, 11, 30, 9, 0, 0));
    assert_int_equal(NsSchedNextClock(NS_SCHED_WEEKLY, 0,
                                      Local(2026, 11, 21, 23, 59, 59)),
                     Local(2026, 11, 22, 0, 0, 0));
}

static void
BadTimesAreRefused(void **state)
{
    assert_int_equal(Ns_ScheduleProcEx(Note, NULL, 0, -1, NULL), NS_ERROR);
    assert_int_equal(Ns_ScheduleDaily(Note, NULL, 0, 24, 0, NULL), NS_ERROR);
    assert_int_equal(Ns_ScheduleDaily(Note, NULL, 0, 0, 60, NULL), NS_ERROR);
    assert_int_equal(Ns_ScheduleWeekly(Note, NULL, 0, 7, 0, 0, NULL), NS_ERROR);
}

static void
AnIntervalMayBeAFractionAndRepeats(void **state)
{
    NsStamp span = 2 * NS_STAMP_SECOND;

    /* A busy machine delays some tries. */
    for (int i = 0; i < 20 && span >= 2 * NS_STAMP_SECOND; i++) {
        NsStamp start = NsClockNow();
        int     id;

        SetUp(NULL);
        id = Add(Note, "x", 0, 0, 100000);
        WaitFor(&nRuns, 3);
        span = NsClockNow() - start;
        assert_true(span >= 3 * NS_STAMP_SECOND / 10);
        (void) Ns_Cancel(id);
        WaitFor(&nCleanups, 1);
    }
    assert_true(span < 2 * NS_STAMP_SECOND);
}

static void
OfTwoDueTogetherTheLaterOneRunsFirst(void **state)
{
    NsStamp between;

    /* Unless this thread was stopped between the two. */
    do {
        NsStamp start = NsClockNow();

        SetUp(NULL);
        (void) Add(Note, "a", NS_SCHED_ONCE, 0, 50000);
        (void) Add(Note, "b", NS_SCHED_ONCE, 0, 50000);
        between = NsClockNow() - start;
        WaitFor(&nCleanups, 2);
    } while (between > NS_STAMP_SECOND / 1000);
    assert_string_equal(trace, "ba");
}

static void
AnEarlierOneOvertakes(void **state)
{
    (void) Add(Note, "late", NS_SCHED_ONCE, 3, 0);
    (void) Add(Note, "early", NS_SCHED_ONCE, 0, 50000);
    WaitFor(&nCleanups, 2);
    assert_string_equal(trace, "earlylate");
}

static void
ThreadedOnesRunSideBySideTheOthersDoNot(void **state)
{
    for (int i = 0; i < 4; i++) {
        (void) Add(Meet, NULL, NS_SCHED_ONCE | NS_SCHED_THREAD, 0, 1000);
    }
    WaitFor(&nCleanups, 4);
    assert_true(maxRunning > 1);

    SetUp(NULL);
    for (int i = 0; i < 3; i++) {
        (void) Add(Work, NULL, NS_SCHED_ONCE, 0, 1000);
    }
    WaitFor(&nCleanups, 3);
    assert_int_equal(maxRunning, 1);
}

static void
ARepeatedThreadedOneNeverOverlapsItself(void **state)
{
    int id = Add(Work, NULL, NS_SCHED_THREAD, 0, 0);

    WaitFor(&nRuns, 4);
    (void) Ns_Cancel(id);
    WaitFor(&nCleanups, 1);
    assert_int_equal(maxRunning, 1);
}

static void
WhatIsCancelledDoesNotRun(void **state)
{
    int id = Add(Note, "x", 0, 3, 0);

    assert_int_equal(Ns_Cancel(id), 1);
    assert_int_equal(nCleanups, 1);
    assert_int_equal(Ns_Cancel(id), 0);
    (void) Add(Note, "y", NS_SCHED_ONCE, 3, 200000);
    WaitFor(&nRuns, 1);
    assert_string_equal(trace, "y");
    WaitFor(&nCleanups, 2);
}

static void
WhatIsPausedWaitsUntilItIsResumed(void **state)
{
    int id = Add(Note, "p", 0, 2, 0);

    assert_int_equal(Ns_Pause(id), 1);
    assert_int_equal(Ns_Pause(id), 0);
    (void) Add(Note, "y", NS_SCHED_ONCE, 2, 200000);
    WaitFor(&nRuns, 1);
    assert_string_equal(trace, "y");
    assert_int_equal(Ns_Resume(id), 1);
    assert_int_equal(Ns_Resume(id), 0);
    WaitFor(&nRuns, 2);
    /* It may run at this very moment. */
    (void) Ns_Cancel(id);
    WaitFor(&nCleanups, 2);
}

static void
UnknownIdsAreNoError(void **state)
{
    assert_int_equal(Ns_Cancel(99999), 0);
    assert_int_equal(Ns_Pause(99999), 0);
    assert_int_equal(Ns_Resume(-1), 0);
}

static void
TheListShowsFlagsAndTimes(void **state)
{
    Ns_DString ds;
    char       start[32];
    int        id = Ns_ScheduleDaily(Note, NULL, NS_SCHED_THREAD, 1, 2, NULL);

    Tcl_DStringInit(&ds);
    NsSchedList(&ds);
    snprintf(start, sizeof(start), "{%d 5 3720 ", id);
    assert_non_null(strstr(ds.string, start));
    assert_non_null(strstr(ds.string, " -1 -1 -1 "));
    Tcl_DStringFree(&ds);
    (void) Ns_Cancel(id);
}

static void
AfterTheStopNothingRunsOrIsAccepted(void **state)
{
    Ns_Time deadline;

    (void) Add(Note, "x", 0, 0, 0);
    WaitFor(&nRuns, 1);
    NsSchedStop();
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 120, 0);
    assert_int_equal(NsSchedWait(&deadline), NS_OK);
    assert_int_equal(Add(Note, "x", 0, 0, 0), NS_ERROR);
}

#define TEST(name) cmocka_unit_test_setup(name, SetUp)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(DailyIsTodayOrTomorrow),
        TEST(DailyKeepsItsClockTimeOverSummerTime),
        TEST(WeeklyCountsFromSunday),
        TEST(BadTimesAreRefused),
        TEST(AnIntervalMayBeAFractionAndRepeats),
        TEST(OfTwoDueTogetherTheLaterOneRunsFirst),
        TEST(AnEarlierOneOvertakes),
        TEST(ThreadedOnesRunSideBySideTheOthersDoNot),
        TEST(ARepeatedThreadedOneNeverOverlapsItself),
        TEST(WhatIsCancelledDoesNotRun),
        TEST(WhatIsPausedWaitsUntilItIsResumed),
        TEST(UnknownIdsAreNoError),
        TEST(TheListShowsFlagsAndTimes),
        TEST(AfterTheStopNothingRunsOrIsAccepted)};

    return cmocka_run_group_tests(tests, SetUpGroup, NULL);
}
