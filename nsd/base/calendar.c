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

static time_t FirstByNewClock(time_t now, time_t next, int seconds, long back);
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

time_t
NsCalendarNextMultiple(time_t now, int seconds)
{
    long   before = Offset(now), after;
    time_t next;

    NsAssert(seconds > 0 && NS_CALENDAR_DAY % seconds == 0);
    next = now + seconds - (now + before) % seconds;
    after = Offset(next);
    if (after != before && Offset(next - (after - before)) != before) {
        /* It is not in the gap: the clock shows others by then. */
        next = FirstByNewClock(now, next, seconds, before - after);
    }
    NsAssert(next > now);
    return next;
}

/*
 * The clock is changed in between, and put back by so much.
 */
static time_t
FirstByNewClock(time_t now, time_t next, int seconds, long back)
{
    long after = Offset(next);

    next -= (next + after) % seconds;
    if (next <= now || Offset(next) != after) {
        next += seconds;
    }
    if (back > 0 && back < seconds && Offset(next - back) != after) {
        next += seconds; /* It has shown that before. */
    }
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
