/* SPDX-License-Identifier: MPL-2.0
 * dispatch_pool_test.c --
 *
 *      Which thread of a pool serves which request, and when.
 *
 *      1  assignment  2  waiting  3  a full pool  4  the stop  5  figures
 */

#include "dispatch_works.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_life.h"
#include "dispatch/pool_stats.h"

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
}

static void
RequestsThatComeBeforeTheThreadIsReadyWait(void **state)
{
    HoldStart(true);
    Start("minthreads 1 maxthreads 1");
    Submit(0);
    assert_int_equal(NsPoolWaiting(poolPtr), 1);
    Let(0);
    HoldStart(false);
    Await(&nEnded, 1);
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
}

static void
StatsHaveTheEightKeysInOrder(void **state)
{
    Ns_DString               ds;
    int                      argc;
    const char             **argv;
    static const char *const keys[] = {
        "requests",   "spools",    "queued",     "connthreads",
        "accepttime", "queuetime", "filtertime", "runtime"};

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
}

static void
TheSpansOfARequestAreCountedOnce(void **state)
{
    NsWork     work = {.poolPtr = NULL};
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
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(AThreadServesTheNextRequestWhenItIsOnTop),
        TEST(IdleThreadsAreTakenFromTheTop),
        TEST(IdsCountFromZero),
        TEST(RequestsWaitInOrder),
        TEST(RequestsThatComeBeforeTheThreadIsReadyWait),
        TEST(AFullPoolHoldsRequestsInOrder),
        TEST(TheTimeInWhichARequestIsHeldCountsAsAcceptTime),
        TEST(AFullPoolRejectsIfToldTo),
        TEST(AfterTheStopWaitingRequestsAreServedAndNewOnesAreNot),
        TEST(StatsHaveTheEightKeysInOrder),
        TEST(WhatRunsAndWhatWaitsIsListed),
        TEST(TheSpansOfARequestAreCountedOnce)};

    return cmocka_run_group_tests(tests, SetUpGroup, NULL);
}
