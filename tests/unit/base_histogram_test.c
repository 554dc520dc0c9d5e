/* SPDX-License-Identifier: MPL-2.0
 * base_histogram_test.c --
 *
 *      1. empty    2. precision    3. edges    4. threads
 */

#include "unit.h"
#include "base/histogram.h"
#include "nsthread.h"

#define MICRO INT64_C(1000)
#define HOUR  (3600 * NS_STAMP_SECOND)

static int
Setup(void **state)
{
    *state = NsHistogramCreate();
    return 0;
}

static int
Teardown(void **state)
{
    NsHistogramDestroy((NsHistogram **) state);
    return *state != NULL;
}

static void
an_empty_histogram_answers_zero(void **state)
{
    assert_int_equal(NsHistogramCount(*state), 0);
    assert_int_equal(NsHistogramMean(*state), 0);
    assert_int_equal(NsHistogramMax(*state), 0);
    assert_int_equal(NsHistogramPercentile(*state, 50), 0);
}

static void
every_duration_is_reported_within_three_percent(void **state)
{
    for (NsStamp duration = MICRO; duration <= HOUR;
         duration += MAX(duration / 97, MICRO)) {
        NsHistogram *hPtr = NsHistogramCreate();
        NsStamp      reported;

        NsHistogramRecord(hPtr, duration);
        NsHistogramRecord(hPtr, 2 * HOUR); /* The maximum hides nothing. */
        reported = NsHistogramPercentile(hPtr, 50);

        /* Short durations are rounded to the unit, one microsecond. */
        assert_true(reported >= duration);
        assert_true(reported - duration <= MAX(duration * 3 / 100, MICRO));
        NsHistogramDestroy(&hPtr);
    }
}

static void
percentiles_of_a_uniform_distribution_are_right(void **state)
{
    for (int i = 1; i <= 10000; i++) {
        NsHistogramRecord(*state, i * 100 * MICRO);
    }
    for (int percent = 1; percent <= 100; percent++) {
        NsStamp exact = percent * 10000 * MICRO;
        NsStamp reported = NsHistogramPercentile(*state, percent);

        assert_true(reported >= exact - exact * 3 / 100);
        assert_true(reported <= exact + exact * 3 / 100);
    }
    assert_int_equal(NsHistogramCount(*state), 10000);
    assert_int_equal(NsHistogramMean(*state), 500050 * MICRO);
    assert_int_equal(NsHistogramMax(*state), 1000000 * MICRO);
    assert_true(NsHistogramPercentile(*state, 0) <= 104 * MICRO);
}

static void
durations_out_of_range_count_at_the_edges(void **state)
{
    NsHistogramRecord(*state, -5);
    NsHistogramRecord(*state, 0);
    NsHistogramRecord(*state, 10 * HOUR);
    NsHistogramRecord(*state, INT64_MAX / 2);

    assert_int_equal(NsHistogramCount(*state), 4);
    assert_true(NsHistogramPercentile(*state, 50) <= MICRO);
    assert_int_equal(NsHistogramPercentile(*state, 100), INT64_MAX / 2);
}

typedef struct Seen {
    int      nBuckets;
    NsStamp  lastUpper;
    uint64_t count;
} Seen;

static void
Visit(NsStamp upper, uint64_t count, void *arg)
{
    Seen *seenPtr = arg;

    assert_true(upper > seenPtr->lastUpper);
    assert_true(count > 0);
    seenPtr->nBuckets++;
    seenPtr->lastUpper = upper;
    seenPtr->count += count;
}

static void
a_visit_shows_non_empty_buckets_in_order(void **state)
{
    Seen seen = {0};

    for (int i = 0; i < 3; i++) {
        NsHistogramRecord(*state, 5 * MICRO);
        NsHistogramRecord(*state, NS_STAMP_SECOND);
    }
    NsHistogramVisit(*state, Visit, &seen);
    assert_int_equal(seen.nBuckets, 2);
    assert_int_equal(seen.count, 6);
}

static void
adding_counts_everything_again(void **state)
{
    NsHistogram *otherPtr = NsHistogramCreate();

    NsHistogramRecord(*state, 10 * MICRO);
    NsHistogramRecord(otherPtr, 30 * MICRO);
    NsHistogramRecord(otherPtr, 2 * HOUR);
    NsHistogramAdd(*state, otherPtr);
    NsHistogramDestroy(&otherPtr);

    assert_int_equal(NsHistogramCount(*state), 3);
    assert_int_equal(NsHistogramMax(*state), 2 * HOUR);
    assert_int_equal(NsHistogramMean(*state), (40 * MICRO + 2 * HOUR) / 3);
    assert_int_equal(NsHistogramSum(*state), 40 * MICRO + 2 * HOUR);
    assert_in_range(NsHistogramPercentile(*state, 50), 30 * MICRO, 31 * MICRO);
}

static void
RecordMany(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        NsHistogramRecord(arg, i * MICRO);
    }
}

static void
nothing_is_lost_when_threads_record_at_the_same_time(void **state)
{
    Ns_Thread threads[4];
    Seen      seen = {0};

    for (int i = 0; i < 4; i++) {
        Ns_ThreadCreate(RecordMany, *state, 0, &threads[i]);
    }
    for (int i = 0; i < 4; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    NsHistogramVisit(*state, Visit, &seen);
    assert_int_equal(seen.count, 80000);
    assert_int_equal(NsHistogramCount(*state), 80000);
    assert_int_equal(NsHistogramMax(*state), 19999 * MICRO);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_histogram_answers_zero, Setup,
                                        Teardown),
        cmocka_unit_test(every_duration_is_reported_within_three_percent),
        cmocka_unit_test_setup_teardown(
            percentiles_of_a_uniform_distribution_are_right, Setup, Teardown),
        cmocka_unit_test_setup_teardown(
            durations_out_of_range_count_at_the_edges, Setup, Teardown),
        cmocka_unit_test_setup_teardown(
            a_visit_shows_non_empty_buckets_in_order, Setup, Teardown),
        cmocka_unit_test_setup_teardown(adding_counts_everything_again, Setup,
                                        Teardown),
        cmocka_unit_test_setup_teardown(
            nothing_is_lost_when_threads_record_at_the_same_time, Setup,
            Teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
