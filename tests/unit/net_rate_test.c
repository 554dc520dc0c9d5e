/* SPDX-License-Identifier: MPL-2.0
 * net_rate_test.c --
 *
 *      Limits of throughput.
 */

#include "unit.h"
#include "net/rate.h"

#define SECOND NS_STAMP_SECOND

/*
 * Bytes that go through in a time, when each pause is late by some more.
 */
static size_t
Sent(NsRate *ratePtr, NsStamp span, NsStamp late)
{
    NsStamp start = 1000 * SECOND, now = start;
    size_t  sent = 0;

    while (now < start + span) {
        NsStamp when = NsRateWhen(ratePtr, now);
        size_t  bytes;

        if (when > now) {
            now = when + late;
            continue;
        }
        bytes = NsRatePortion(ratePtr, 1000000);
        NsRateCount(ratePtr, bytes, now);
        sent += bytes;
        now += 1000;
    }
    return sent;
}

static void
zeros_are_no_limit(void **state)
{
    NsRate rate = {0};

    assert_int_equal(NsRatePortion(&rate, 1000000), 1000000);
    NsRateCount(&rate, 1000000000, 5);
    assert_int_equal(NsRateWhen(&rate, 7), 7);
}

static void
a_limit_is_kept_to_ten_percent_over_ten_seconds(void **state)
{
    NsRate rate = {0};
    size_t sent;

    atomic_store(&rate.bytesPerSecond, 100000);
    sent = Sent(&rate, 10 * SECOND, 0);
    assert_in_range(sent, 950000, 1050000);
}

static void
pauses_that_are_late_are_made_up_for(void **state)
{
    NsRate rate = {0};
    size_t sent;

    atomic_store(&rate.bytesPerSecond, 100000);
    sent = Sent(&rate, 10 * SECOND, SECOND / 30);
    assert_in_range(sent, 950000, 1050000);
}

static void
idle_time_is_not_saved_up(void **state)
{
    NsRate rate = {0};

    atomic_store(&rate.bytesPerSecond, 100000);
    NsRateCount(&rate, 100000, SECOND);
    /* An hour later the next second's worth still takes nine tenths of it. */
    NsRateCount(&rate, 100000, 3600 * SECOND);
    assert_true(NsRateWhen(&rate, 3600 * SECOND)
                >= 3600 * SECOND + SECOND * 9 / 10 - 1000);
}

static void
small_limits_send_portions_of_some_size(void **state)
{
    NsRate rate = {0};

    atomic_store(&rate.bytesPerSecond, 10);
    assert_int_equal(NsRatePortion(&rate, 1000000), 1024);
    assert_int_equal(NsRatePortion(&rate, 7), 7);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_no_limit),
        cmocka_unit_test(a_limit_is_kept_to_ten_percent_over_ten_seconds),
        cmocka_unit_test(pauses_that_are_late_are_made_up_for),
        cmocka_unit_test(idle_time_is_not_saved_up),
        cmocka_unit_test(small_limits_send_portions_of_some_size)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
