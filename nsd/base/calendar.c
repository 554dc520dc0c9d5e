/* SPDX-License-Identifier: MPL-2.0
 * calendar.c --
 *
 *      Times of the local clock.
 *
 *      mktime is not asked: what it answers for a time that does not exist, or
 *      exists twice, depends on the zone and on what it was asked before.  In
 *      Europe/Dublin it is a time before the gap, so in the past.
 */

#include "base/calendar.h"

#include "base/assert.h"

static time_t FromLocal(struct tm *wallPtr);
static long   Offset(time_t when);

time_t
NsCalendarNext(time_t now, int weekday, int seconds)
{
    struct tm today, wall;
    int       days = 0, step = 1;
    time_t    next;

    NsAssert(seconds >= 0 && seconds <= NS_CALENDAR_DAY);
    NsAssert(weekday >= NS_CALENDAR_ANY_DAY && weekday < 7);
    (void) localtime_r(&now, &today);
    if (weekday != NS_CALENDAR_ANY_DAY) {
        days = weekday - today.tm_wday;
        step = 7;
    }
    do {
        wall = (struct tm){.tm_year = today.tm_year,
                           .tm_mon = today.tm_mon,
                           .tm_mday = today.tm_mday + days,
                           .tm_hour = seconds / 3600,
                           .tm_min = seconds % 3600 / 60,
                           .tm_sec = seconds % 60};
        next = FromLocal(&wall);
        days += step;
    } while (next <= now);
    return next;
}

/*
 * The clock is changed once within two days, if at all: the offset of the day
 * before or of the day after gives the time.
 */
static time_t
FromLocal(struct tm *wallPtr)
{
    time_t asUtc = timegm(wallPtr);
    long   before = Offset(asUtc - NS_CALENDAR_DAY);
    long   after = Offset(asUtc + NS_CALENDAR_DAY);

    return Offset(asUtc - before) != before && Offset(asUtc - after) == after
        ? asUtc - after
        : asUtc - before;
}

/*
 * Seconds east of Greenwich.
 */
static long
Offset(time_t when)
{
    struct tm tm;

    (void) localtime_r(&when, &tm);
    return tm.tm_gmtoff;
}
