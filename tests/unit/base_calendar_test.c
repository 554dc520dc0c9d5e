/* SPDX-License-Identifier: MPL-2.0
 * base_calendar_test.c --
 *
 *      Times of the local clock.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/calendar.h"

#define HOUR 3600

static void
SetZone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

/*
 * Of UTC.
 */
static time_t
Utc(int year, int month, int day, int hour, int minute)
{
    struct tm when = {.tm_year = year - 1900,
                      .tm_mon = month - 1,
                      .tm_mday = day,
                      .tm_hour = hour,
                      .tm_min = minute};

    return timegm(&when);
}

/*
 * Summer time that is the normal one, changes at midnight, of half an hour, and
 * by laws of the moment.
 */
static const char *const zones[] = {
    "UTC",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/London",
    "Africa/Casablanca",
    "Africa/El_Aaiun",
    "Africa/Cairo",
    "America/New_York",
    "America/Havana",
    "America/Santiago",
    "America/Nuuk",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Auckland"};

static void
NextIsADayLaterInEveryZone(void **state)
{
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        SetZone(zones[i]);
        for (int hour = 0; hour < 24; hour++) {
            time_t now = Utc(2026, 1, 10, 12, 34);
            time_t last = NsCalendarNext(now, NS_CALENDAR_ANY_DAY, hour * HOUR);

            assert_true(last > now && last - now <= 24 * HOUR);
            for (int day = 0; day < 400; day++) {
                time_t    next = NsCalendarNext(last, NS_CALENDAR_ANY_DAY,
                                                hour * HOUR);
                struct tm tm;

                if (next - last < 23 * HOUR || next - last > 25 * HOUR) {
                    print_error("%s %d: %ld after %ld\n", zones[i], hour,
                                (long) next, (long) last);
                    fail();
                }
                /* From in between, it is the same. */
                assert_int_equal(NsCalendarNext(next - 1, NS_CALENDAR_ANY_DAY,
                                                hour * HOUR),
                                 next);
                assert_int_equal(NsCalendarNext(last + HOUR / 2,
                                                NS_CALENDAR_ANY_DAY,
                                                hour * HOUR),
                                 next);
                localtime_r(&next, &tm);
                if (tm.tm_hour != hour || tm.tm_min != 0) {
                    /* This hour does not exist on this day. */
                    time_t    before = next - HOUR;
                    struct tm old;

                    localtime_r(&before, &old);
                    assert_true(tm.tm_gmtoff > old.tm_gmtoff);
                }
                last = next;
            }
        }
    }
}

/*
 * The periods of a year in one zone.
 */
static void
CheckMultiples(const char *zone, int period)
{
    time_t last = NsCalendarNextMultiple(Utc(2026, 1, 10, 12, 34), period);

    SetZone(zone);
    for (int i = 0; i < 366 * NS_CALENDAR_DAY / period; i++) {
        time_t    next = NsCalendarNextMultiple(last, period);
        time_t    early = next - HOUR;
        struct tm tm, old;
        int       shown;

        assert_int_equal(NsCalendarNextMultiple(next - 1, period), next);
        localtime_r(&next, &tm);
        localtime_r(&early, &old);
        shown = tm.tm_hour * HOUR + tm.tm_min * 60 + tm.tm_sec;
        if (next - last > period + HOUR
            || (next - last != period && next - last < period - HOUR)
            || (shown % period != 0 && tm.tm_gmtoff <= old.tm_gmtoff)) {
            print_error("%s %d: %ld after %ld\n", zone, period, (long) next,
                        (long) last);
            fail();
        }
        last = next;
    }
}

static void
EachPeriodOfADayEndsOnceInEveryZone(void **state)
{
    static const int periods[] = {
        HOUR / 4, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR};

    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        for (size_t j = 0; j < sizeof(periods) / sizeof(periods[0]); j++) {
            SetZone(zones[i]);
            CheckMultiples(zones[i], periods[j]);
        }
    }
}

static void
AMultipleThatIsShownTwiceCountsOnce(void **state)
{
    SetZone("America/Havana"); /* On November 1 at 1:00 it is 0:00. */
    assert_int_equal(NsCalendarNextMultiple(Utc(2026, 11, 1, 3, 0), 12 * HOUR),
                     Utc(2026, 11, 1, 4, 0));
    assert_int_equal(NsCalendarNextMultiple(Utc(2026, 11, 1, 4, 0), 12 * HOUR),
                     Utc(2026, 11, 1, 17, 0));
    assert_int_equal(NsCalendarNextMultiple(Utc(2026, 11, 1, 4, 0), HOUR),
                     Utc(2026, 11, 1, 5, 0));
    /* On March 8 at 0:00 it is 1:00. */
    assert_int_equal(NsCalendarNextMultiple(Utc(2026, 3, 8, 4, 30), 12 * HOUR),
                     Utc(2026, 3, 8, 5, 0));
}

static void
AnHourThatIsLeftOutComesAfterTheGap(void **state)
{
    SetZone("Europe/Dublin");
    assert_int_equal(NsCalendarNext(Utc(2026, 3, 29, 0, 20),
                                    NS_CALENDAR_ANY_DAY, HOUR),
                     Utc(2026, 3, 29, 1, 0));
    assert_int_equal(NsCalendarNext(Utc(2026, 3, 29, 1, 0), NS_CALENDAR_ANY_DAY,
                                    HOUR),
                     Utc(2026, 3, 30, 0, 0));
    SetZone("Europe/Berlin");
    assert_int_equal(NsCalendarNext(Utc(2026, 3, 29, 0, 20),
                                    NS_CALENDAR_ANY_DAY, 2 * HOUR + HOUR / 2),
                     Utc(2026, 3, 29, 1, 30));
}

static void
AnHourThatComesTwiceCountsOnce(void **state)
{
    SetZone("Europe/Berlin");
    assert_int_equal(NsCalendarNext(Utc(2026, 10, 24, 12, 0),
                                    NS_CALENDAR_ANY_DAY, 2 * HOUR),
                     Utc(2026, 10, 25, 0, 0));
    assert_int_equal(NsCalendarNext(Utc(2026, 10, 25, 0, 0),
                                    NS_CALENDAR_ANY_DAY, 2 * HOUR),
                     Utc(2026, 10, 26, 1, 0));
    assert_int_equal(NsCalendarNext(Utc(2026, 10, 25, 0, 30),
                                    NS_CALENDAR_ANY_DAY, 2 * HOUR),
                     Utc(2026, 10, 26, 1, 0));
}

static void
AWeekdayIsThatDayAlone(void **state)
{
    SetZone("UTC");
    /* 21 November 2026 is a Saturday. */
    assert_int_equal(NsCalendarNext(Utc(2026, 11, 21, 12, 0), 1, 9 * HOUR),
                     Utc(2026, 11, 23, 9, 0));
    assert_int_equal(NsCalendarNext(Utc(2026, 11, 23, 9, 0), 1, 9 * HOUR),
                     Utc(2026, 11, 30, 9, 0));
    assert_int_equal(NsCalendarNext(Utc(2026, 11, 21, 12, 0), 6, 12 * HOUR),
                     Utc(2026, 11, 28, 12, 0));
    /* The end of a day is the beginning of the next. */
    assert_int_equal(NsCalendarNext(Utc(2026, 11, 21, 12, 0), 6,
                                    NS_CALENDAR_DAY),
                     Utc(2026, 11, 22, 0, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NextIsADayLaterInEveryZone),
        cmocka_unit_test(EachPeriodOfADayEndsOnceInEveryZone),
        cmocka_unit_test(AMultipleThatIsShownTwiceCountsOnce),
        cmocka_unit_test(AnHourThatIsLeftOutComesAfterTheGap),
        cmocka_unit_test(AnHourThatComesTwiceCountsOnce),
        cmocka_unit_test(AWeekdayIsThatDayAlone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
