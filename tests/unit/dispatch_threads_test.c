/* SPDX-License-Identifier: MPL-2.0
 * dispatch_threads_test.c --
 *
 *      How many threads a pool has.
 *
 *      1  more by watermarks  2  more by patience  3  settings  4  fewer
 *      5  none to be had
 */

#include "dispatch_works.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_stats.h"

static Ns_ReturnCode
Set(const NsPool *aPoolPtr, const char *key, const char *value)
{
    Ns_DString    ds;
    Ns_ReturnCode result;

    Ns_DStringInit(&ds);
    result = NsSettingSet(NsPoolSection(aPoolPtr), key, value,
                          NS_SETTING_SCRIPT, &ds);
    Ns_DStringFree(&ds);
    return result;
}

static int
Get(const NsPool *aPoolPtr, const char *key)
{
    Ns_DString ds;
    int        value;

    Ns_DStringInit(&ds);
    assert_int_equal(NsSettingGet(NsPoolSection(aPoolPtr), key, &ds), NS_OK);
    value = atoi(ds.string);
    Ns_DStringFree(&ds);
    return value;
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

/*
 * Let new threads be unable to serve, or not any more.
 */
static void
FailStart(bool isFailing)
{
    Ns_MutexLock(&lock);
    isStartFailing = isFailing;
    Ns_MutexUnlock(&lock);
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
    assert_int_equal(Set(poolPtr, "lowwatermark", "0"), NS_OK);
    Await(&nBegun, 4);
    assert_int_equal(Figure("current"), 4);
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
    assert_int_equal(Set(poolPtr, "highwatermark", "0"), NS_OK);
    assert_int_equal(Figure("current"), 4);
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
}

static void
APoolThatMayGrowAgainLooksAtWhatWaits(void **state)
{
    Start("minthreads 1 maxthreads 1 lowwatermark 100 queuepatience 0.02");
    AwaitFigure("idle", 1);
    Submit(0);
    Submit(1);
    assert_int_equal(Set(poolPtr, "maxthreads", "2"), NS_OK);
    Await(&nBegun, 2);
}

static void
RaisedMinthreadsAreMadeAtOnce(void **state)
{
    Start("minthreads 1 maxthreads 5");
    assert_int_equal(Set(poolPtr, "minthreads", "4"), NS_OK);
    AwaitFigure("idle", 4);
    assert_int_equal(Figure("current"), 4);
}

static void
SettingsKeepTheirRanges(void **state)
{
    Start("minthreads 2 maxthreads 5 maxconnections 9");
    assert_int_equal(Set(poolPtr, "minthreads", "0"), NS_ERROR);
    assert_int_equal(Set(poolPtr, "minthreads", "6"), NS_ERROR);
    assert_int_equal(Set(poolPtr, "maxthreads", "1"), NS_ERROR);
    assert_int_equal(Set(poolPtr, "maxthreads", "10"), NS_ERROR);
    assert_int_equal(Set(poolPtr, "lowwatermark", "101"), NS_ERROR);
    assert_int_equal(Set(poolPtr, "lowwatermark", "-1"), NS_ERROR);
    assert_int_equal(Get(poolPtr, "minthreads"), 2);
    assert_int_equal(Get(poolPtr, "maxthreads"), 5);
    assert_int_equal(Set(poolPtr, "maxthreads", "9"), NS_OK);
    assert_int_equal(Get(poolPtr, "maxthreads"), 9);
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
    AwaitFigure("current", 1);
    Let(3);
    assert_int_equal(Submit(3), NS_OK);
    Await(&nEnded, 4);
}

/*
 * Ten threads, and then one request at a time until nine have ended.  1 if one
 * thread served them all, 0 if not; -1 if that tells nothing, since the machine
 * kept it idle for so long that it might have ended.
 */
static int
IsServedByOne(void)
{
    int       i;
    bool      isOne = true;
    NsStamp   last;
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
    Await(&nEnded, 10);

    last = NsClockNow();
    for (i = 0; !HasEnded(9, NS_STAMP_SECOND / 50); i++) {
        TestWork *testPtr = &works[10];

        memset(testPtr, 0, sizeof(*testPtr));
        Let(10);
        /* The one that served is on top again. */
        while (Figure("idle") != Figure("current")) {
            Ns_ThreadYield();
        }
        assert_int_equal(Submit(10), NS_OK);
        Await(&nEnded, 11 + i);
        if (NsClockNow() - last > NS_STAMP_SECOND / 2) {
            return -1;
        }
        last = NsClockNow();
        isOne = isOne && (i == 0 || testPtr->threadId == threadId);
        threadId = testPtr->threadId;
    }
    AwaitFigure("current", 1);
    return i > 1 && isOne;
}

static void
TheThreadOnTopGoesOnWhileThoseBelowEnd(void **state)
{
    int result = IsServedByOne();

    for (int i = 0; i < 20 && result < 0; i++) {
        Finish(NULL);
        result = IsServedByOne();
    }
    assert_int_equal(result, 1);
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
    AwaitFigure("current", 1);
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
    assert_int_equal(Count(&nStopped), 0);
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
    assert_int_equal(Count(&nStopped), 0);
}

static void
APoolThatGetsNoThreadGoesOnWithWhatItHasAndGrowsLater(void **state)
{
    Start("minthreads 1 maxthreads 2 lowwatermark 0 queuepatience 0.01");
    AwaitFigure("idle", 1);
    LetThreadsBeMade(false);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(Submit(i), NS_OK);
    }
    Await(&nBegun, 1);
    assert_int_equal(Figure("current"), 1);
    Let(0);
    Await(&nBegun, 2);
    assert_int_equal(works[1].threadId, works[0].threadId);

    /* Nobody comes or goes, and yet the last one gets its thread. */
    LetThreadsBeMade(true);
    Await(&nBegun, 3);
    assert_int_equal(Figure("current"), 2);
    assert_int_equal(Count(&nRefused), 0);
}

static void
AThreadWhoseSuccessorCannotBeMadeGoesOn(void **state)
{
    Start("minthreads 1 maxthreads 1 connsperthread 1");
    AwaitFigure("idle", 1);
    LetThreadsBeMade(false);
    for (int i = 0; i < 3; i++) {
        Let(i);
        assert_int_equal(Submit(i), NS_OK);
        Await(&nEnded, i + 1);
        assert_int_equal(works[i].threadId, works[0].threadId);
    }
    AwaitFigure("idle", 1);
    assert_int_equal(Count(&nStopped), 0);

    LetThreadsBeMade(true);
    for (int i = 3; Count(&nStopped) == 0; i++) {
        TestWork *workPtr = &works[i % MAX_WORKS];

        *workPtr = (TestWork){.mayEnd = true};
        assert_int_equal(Submit(i % MAX_WORKS), NS_OK);
        Await(&nEnded, i + 1);
    }
    AwaitFigure("idle", 1);
}

static void
APoolWithoutAnyThreadRefusesWhatWaitsAndWhatComesUntilItHasOne(void **state)
{
    int nLate;

    Start("minthreads 1 maxthreads 1 connsperthread 1 maxconnections 2");
    AwaitFigure("idle", 1);
    HoldStart(true);
    Let(0);
    assert_int_equal(Submit(0), NS_OK);
    Await(&nStopped, 1);
    Await(&nStarted, 2);
    /* Two wait, the third is held. */
    for (int i = 1; i < 4; i++) {
        assert_int_equal(Submit(i), NS_OK);
    }
    FailStart(true);
    HoldStart(false);
    Await(&nRefused, 3);
    Await(&nStopped, 2);
    assert_int_equal(Figure("current"), 0);
    /* On a busy machine the pause may be over, and another thread fails. */
    for (nLate = 0; Submit(4) != NS_TIMEOUT; nLate++) {
        Await(&nRefused, 4 + nLate);
    }

    FailStart(false);
    Let(5);
    while (Submit(5) != NS_OK) {
        Ns_ThreadYield();
    }
    Await(&nEnded, 2);
    assert_int_equal(Count(&nRefused), 3 + nLate);
}

static void
AThreadThatBecameUnfitIsReplacedAndServesNothingMore(void **state)
{
    Start("minthreads 1 maxthreads 1 connsperthread 0");
    AwaitFigure("idle", 1);
    works[0].breaksThread = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(Submit(i), NS_OK);
    }
    Await(&nBegun, 1);
    for (int i = 0; i < 3; i++) {
        Let(i);
    }
    Await(&nEnded, 3);
    Await(&nStopped, 1);
    assert_int_not_equal(works[1].threadId, works[0].threadId);
    assert_int_equal(works[2].threadId, works[1].threadId);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(TheQueueGrowsToTheLowWatermarkBeforeAThreadIsMade),
        TEST(LowWatermarkZeroMakesAThreadForEachWaitingRequest),
        TEST(OneThreadIsMadeAtATimeBelowTheHighWatermark),
        TEST(HighWatermarkZeroMakesSeveralThreadsAtATimeAboveTheLowWatermark),
        TEST(ALowerLowWatermarkIsObeyedByWhatWaits),
        TEST(ALowerHighWatermarkIsObeyedByWhatWaits),
        TEST(LowWatermarkHundredMakesNoThreads),
        TEST(ARequestThatWaitsTooLongGetsAThread),
        TEST(EachLateRequestGetsAThreadOfItsOwn),
        TEST(APoolThatMayGrowAgainLooksAtWhatWaits),
        TEST(RaisedMinthreadsAreMadeAtOnce),
        TEST(SettingsKeepTheirRanges),
        TEST(SurplusThreadsEndWhenIdle),
        TEST(TheThreadOnTopGoesOnWhileThoseBelowEnd),
        TEST(AThreadThatHasServedItsNumberIsReplaced),
        TEST(TheThreadOnTopReachesItsNumberAlone),
        TEST(ThreadsThatReachTheirNumberTogetherGoOnWhileManyWait),
        TEST(TheOnlyThreadGoesOnWhileSomethingWaits),
        TEST(ConnsPerThreadZeroIsNoLimit),
        TEST(APoolThatGetsNoThreadGoesOnWithWhatItHasAndGrowsLater),
        TEST(AThreadWhoseSuccessorCannotBeMadeGoesOn),
        TEST(APoolWithoutAnyThreadRefusesWhatWaitsAndWhatComesUntilItHasOne),
        TEST(AThreadThatBecameUnfitIsReplacedAndServesNothingMore)};

    return cmocka_run_group_tests(tests, SetUpGroup, NULL);
}
