/* SPDX-License-Identifier: MPL-2.0
 * net_wheel_test.c --
 *
 *      1. order    2. far limits    3. cancel    4. long sleep
 */

#include "unit.h"
#include "net/wheel.h"

#define MS INT64_C(1000000)

static NsWheel       wheel;
static int           nDue;
static NsWheelEntry *lastDue;

static void
Count(NsWheelEntry *entryPtr, void *arg)
{
    nDue++;
    lastDue = entryPtr;
}

static int
Setup(void **state)
{
    NsWheelInit(&wheel, 5000 * MS);
    nDue = 0;
    lastDue = NULL;
    return 0;
}

static void
an_empty_wheel_has_no_next_entry(void **state)
{
    assert_int_equal(NsWheelNext(&wheel), 0);
    NsWheelAdvance(&wheel, 9000000 * MS, Count, NULL);
    assert_int_equal(nDue, 0);
}

static void
an_entry_never_comes_before_it_is_due_and_soon_after(void **state)
{
    for (int ms = 0; ms < 3000; ms += 7) {
        NsWheelEntry entry = {0};
        NsStamp      due = (5000 + ms) * MS;

        Setup(NULL);
        NsWheelSet(&wheel, &entry, due);
        NsWheelAdvance(&wheel, due - 1, Count, NULL);
        assert_int_equal(nDue, 0);
        assert_in_range(NsWheelNext(&wheel), due, due + 32 * MS);
        NsWheelAdvance(&wheel, due + 32 * MS, Count, NULL);
        assert_int_equal(nDue, 1);
        assert_null(entry.nextPtr);
        assert_int_equal(NsWheelNext(&wheel), 0);
    }
}

static void
entries_come_in_order_of_their_slots(void **state)
{
    NsWheelEntry a = {0}, b = {0};

    NsWheelSet(&wheel, &a, 9000 * MS);
    NsWheelSet(&wheel, &b, 6000 * MS);
    NsWheelAdvance(&wheel, 7000 * MS, Count, NULL);
    assert_int_equal(nDue, 1);
    assert_ptr_equal(lastDue, &b);
    NsWheelAdvance(&wheel, 9100 * MS, Count, NULL);
    assert_ptr_equal(lastDue, &a);
}

static void
an_entry_beyond_the_horizon_comes_when_it_is_due(void **state)
{
    NsWheelEntry entry = {0};
    NsStamp      due = 5000 * MS + 120 * NS_STAMP_SECOND, next = 0;

    NsWheelSet(&wheel, &entry, due);
    for (int i = 0; i < 8 && nDue == 0; i++) {
        next = NsWheelNext(&wheel);
        NsWheelAdvance(&wheel, next, Count, NULL);
    }
    assert_int_equal(nDue, 1);
    assert_in_range(next, due, due + 32 * MS);
}

static void
an_entry_set_after_long_silence_does_not_come_before_it_is_due(void **state)
{
    for (int s = 1; s < 200; s++) {
        NsWheelEntry entry = {0};
        NsStamp      now = 5000 * MS + s * NS_STAMP_SECOND;
        NsStamp      due = now + 30 * NS_STAMP_SECOND;

        Setup(NULL);
        NsWheelSet(&wheel, &entry, due);
        NsWheelAdvance(&wheel, now, Count, NULL);
        NsWheelAdvance(&wheel, due - 1, Count, NULL);
        assert_int_equal(nDue, 0);
        assert_in_range(NsWheelNext(&wheel), due, due + 32 * MS);
        NsWheelAdvance(&wheel, due + 32 * MS, Count, NULL);
        assert_int_equal(nDue, 1);
    }
}

static void
a_cancelled_entry_does_not_come(void **state)
{
    NsWheelEntry a = {0}, b = {0};

    NsWheelSet(&wheel, &a, 6000 * MS);
    NsWheelSet(&wheel, &b, 6000 * MS);
    NsWheelCancel(&wheel, &a);
    NsWheelCancel(&wheel, &a);
    NsWheelAdvance(&wheel, 6100 * MS, Count, NULL);
    assert_int_equal(nDue, 1);
    assert_ptr_equal(lastDue, &b);
}

static void
set_before_keeps_the_earlier_time(void **state)
{
    NsWheelEntry entry = {0};
    NsStamp      due;

    NsWheelSet(&wheel, &entry, 6000 * MS);
    due = entry.due;
    NsWheelSetBefore(&wheel, &entry, 8000 * MS);
    assert_int_equal(entry.due, due);
    NsWheelSetBefore(&wheel, &entry, 5500 * MS);
    assert_true(entry.due < due);
}

static void
after_a_long_sleep_every_entry_comes_once(void **state)
{
    static NsWheelEntry entries[2000];

    memset(entries, 0, sizeof(entries));
    for (int i = 0; i < 2000; i++) {
        NsWheelSet(&wheel, &entries[i], (5000 + i * 11) * MS);
    }
    NsWheelAdvance(&wheel, 5000000 * MS, Count, NULL);
    assert_int_equal(nDue, 2000);
    assert_int_equal(NsWheelNext(&wheel), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_empty_wheel_has_no_next_entry, Setup),
        cmocka_unit_test_setup(
            an_entry_never_comes_before_it_is_due_and_soon_after, Setup),
        cmocka_unit_test_setup(entries_come_in_order_of_their_slots, Setup),
        cmocka_unit_test_setup(an_entry_beyond_the_horizon_comes_when_it_is_due,
                               Setup),
        cmocka_unit_test_setup(
            an_entry_set_after_long_silence_does_not_come_before_it_is_due,
            Setup),
        cmocka_unit_test_setup(a_cancelled_entry_does_not_come, Setup),
        cmocka_unit_test_setup(set_before_keeps_the_earlier_time, Setup),
        cmocka_unit_test_setup(after_a_long_sleep_every_entry_comes_once,
                               Setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
