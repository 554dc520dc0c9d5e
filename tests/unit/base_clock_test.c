/* SPDX-License-Identifier: MPL-2.0
 * base_clock_test.c --
 *
 *      1. stamps    2. their wall clock time    3. arithmetic on Ns_Time
 */

#include "unit.h"
#include "base/clock.h"
#include "base/ticks.h"
#include "nsthread.h"

static void
stamps_never_go_back(void **state)
{
    NsStamp last = NsClockNow();

    for (int i = 0; i < 100000; i++) {
        NsStamp now = NsClockNow();

        assert_true(now >= last);
        last = now;
    }
}

static void
the_recent_time_is_hardly_behind_and_never_ahead(void **state)
{
    int nBehind = 0;

    for (int i = 0; i < 1000; i++) {
        NsStamp before = NsClockNow();
        NsStamp recent = NsClockRecent();

        nBehind += recent <= before - NS_STAMP_SECOND / 10;
        assert_true(recent <= NsClockNow());
    }
    /* A machine that was stopped itself has yet to notice. */
    assert_true(nBehind < 500);
}

static void
a_stamp_converts_to_the_wall_clock_time_of_its_moment(void **state)
{
    for (int i = 0; i < 100; i++) {
        Ns_Time before, after, wall;

        Ns_GetTime(&before);
        wall = NsClockWall(NsClockNow());
        Ns_GetTime(&after);
        /* The clocks are read one after the other: allow 50 us. */
        Ns_IncrTime(&before, 0, -50);
        Ns_IncrTime(&after, 0, 50);
        assert_true(Ns_DiffTime(&wall, &before, NULL) >= 0);
        assert_true(Ns_DiffTime(&after, &wall, NULL) >= 0);
    }
}

static void
stamps_convert_in_their_order(void **state)
{
    NsStamp start = NsClockNow();
    Ns_Time last = NsClockWall(start);

    /* Far beyond the interval after which the clocks are compared again. */
    for (int i = 1; i < 20000; i++) {
        Ns_Time wall = NsClockWall(start + i * (NS_STAMP_SECOND / 1000));

        assert_int_equal(Ns_DiffTime(&wall, &last, NULL), 1);
        last = wall;
    }
}

static void
a_span_is_never_negative(void **state)
{
    Ns_Time span = NsClockSpan(5 * NS_STAMP_SECOND, 4 * NS_STAMP_SECOND);

    assert_int_equal(span.sec, 0);
    assert_int_equal(span.usec, 0);

    span = NsClockSpan(1, 1 + 3 * NS_STAMP_SECOND + 7999);
    assert_int_equal(span.sec, 3);
    assert_int_equal(span.usec, 7);
}

static void
a_duration_too_long_for_a_stamp_becomes_the_longest(void **state)
{
    assert_int_equal(NsClockFromTime(&(Ns_Time){2, 500000}),
                     2500 * (NS_STAMP_SECOND / 1000));
    assert_int_equal(NsClockFromTime(&(Ns_Time){LONG_MAX, 999999}), INT64_MAX);
    assert_int_equal(NsClockFromTime(&(Ns_Time){LONG_MIN, 0}), INT64_MIN);
    assert_int_equal(NsClockFromTime(&(Ns_Time){0, LONG_MAX / 1000}),
                     LONG_MAX / 1000 * 1000);
}

static void
ticks_convert_to_the_time_they_took(void **state)
{
    NsStamp first = NsClockNow();
    NsTicks startTicks = NsTicksNow();
    NsStamp start = NsClockNow();
    NsStamp byClock, byTicks;

    do {
        byClock = NsClockNow() - start;
    } while (byClock < NS_STAMP_SECOND / 50);
    byTicks = NsTicksToStamp(NsTicksSpan(startTicks, NsTicksNow()));

    /* This thread may have been interrupted between two readings. */
    assert_true(byTicks > byClock - byClock / 20);
    byClock = NsClockNow() - first;
    assert_true(byTicks < byClock + byClock / 20);
    assert_int_equal(NsTicksSpan(5, 3), 0);
}

static void
adjust_brings_microseconds_into_their_range(void **state)
{
    static const struct {
        Ns_Time in, out;
    } cases[] = {
        {{0, 0}, {0, 0}},         {{1, 999999}, {1, 999999}},
        {{1, 1000000}, {2, 0}},   {{1, 3500000}, {4, 500000}},
        {{1, -1}, {0, 999999}},   {{0, -1}, {-1, 999999}},
        {{0, -1000000}, {-1, 0}}, {{LONG_MAX, 1000000}, {LONG_MAX, 0}},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_Time time = cases[i].in;

        Ns_AdjTime(&time);
        assert_int_equal(time.sec, cases[i].out.sec);
        assert_int_equal(time.usec, cases[i].out.usec);
    }
}

static void
diff_tells_the_order_and_the_difference(void **state)
{
    Ns_Time a = {10, 100}, b = {9, 999900}, diff;

    assert_int_equal(Ns_DiffTime(&a, &b, &diff), 1);
    assert_int_equal(diff.sec, 0);
    assert_int_equal(diff.usec, 200);

    assert_int_equal(Ns_DiffTime(&b, &a, &diff), -1);
    assert_int_equal(diff.sec, -1);
    assert_int_equal(diff.usec, 999800);

    assert_int_equal(Ns_DiffTime(&a, &a, NULL), 0);
}

static void
incr_accepts_negative_steps_and_stops_at_the_largest_time(void **state)
{
    Ns_Time time = {10, 0};

    Ns_IncrTime(&time, -1, -1);
    assert_int_equal(time.sec, 8);
    assert_int_equal(time.usec, 999999);

    Ns_IncrTime(&time, LONG_MAX, 999999);
    assert_int_equal(time.sec, LONG_MAX);
}

static void
absolute_takes_small_times_as_counted_from_now(void **state)
{
    Ns_Time result, now, relative = {5, 0}, absolute = {1000000000, 7}, diff;

    assert_null(Ns_AbsoluteTime(&result, NULL));
    assert_ptr_equal(Ns_AbsoluteTime(&result, &absolute), &absolute);

    Ns_GetTime(&now);
    assert_ptr_equal(Ns_AbsoluteTime(&result, &relative), &result);
    Ns_DiffTime(&result, &now, &diff);
    assert_in_range(diff.sec, 5, 60);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_never_go_back),
        cmocka_unit_test(the_recent_time_is_hardly_behind_and_never_ahead),
        cmocka_unit_test(a_stamp_converts_to_the_wall_clock_time_of_its_moment),
        cmocka_unit_test(stamps_convert_in_their_order),
        cmocka_unit_test(a_span_is_never_negative),
        cmocka_unit_test(a_duration_too_long_for_a_stamp_becomes_the_longest),
        cmocka_unit_test(ticks_convert_to_the_time_they_took),
        cmocka_unit_test(adjust_brings_microseconds_into_their_range),
        cmocka_unit_test(diff_tells_the_order_and_the_difference),
        cmocka_unit_test(
            incr_accepts_negative_steps_and_stops_at_the_largest_time),
        cmocka_unit_test(absolute_takes_small_times_as_counted_from_now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
