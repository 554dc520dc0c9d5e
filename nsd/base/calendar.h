/* SPDX-License-Identifier: MPL-2.0
 * calendar.h --
 *
 *      Times of the local clock.
 */

#ifndef NSD_BASE_CALENDAR_H
#define NSD_BASE_CALENDAR_H

#include <time.h>

#define NS_CALENDAR_DAY     86400 /* Seconds. */
#define NS_CALENDAR_ANY_DAY -1

/*
 * The first time after `now` at which the local clock has been running for that
 * many seconds of a day (0 to NS_CALENDAR_DAY): as the clock shows them, so
 * 7200 is 2 o'clock on every day.  With a weekday, 0 for Sunday, only on that
 * one.
 *
 * Where a change to summer time leaves that time out, it comes as much later as
 * the clock is put forward.  Where a change back has it twice, the first
 * counts.  So the results for one time of day are never less than a day apart,
 * but for what the clock is put forward by, and never more, but for what it is
 * put back.
 */
time_t NsCalendarNext(time_t now, int weekday, int seconds);

/*
 * The first time after `now` at which the local clock has been running for a
 * multiple of that many seconds, of which a day has a whole number.  One that a
 * change leaves out comes as much later; of one that the clock shows twice the
 * first counts, unless the change is as long as the multiple.
 */
time_t NsCalendarNextMultiple(time_t now, int seconds);

#endif
