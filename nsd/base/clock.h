/* SPDX-License-Identifier: MPL-2.0
 * clock.h --
 *
 *      Time stamps for durations.
 *
 *      A stamp is nanoseconds of the monotonic clock: it never jumps.  Wall
 *      clock time is derived from it where people or logs see it.
 */

#ifndef NSD_BASE_CLOCK_H
#define NSD_BASE_CLOCK_H

#include "nstypes.h"

typedef int64_t NsStamp; /* Nanoseconds; 0 means "not taken". */

#define NS_STAMP_SECOND INT64_C(1000000000)

/*
 * Now.
 */
NsStamp NsClockNow(void);

/*
 * Some milliseconds ago at most, for a fraction of the cost: for deadlines of
 * seconds.
 */
NsStamp NsClockRecent(void);

/*
 * The wall clock time at which the stamp was taken, to the microsecond.  Two
 * stamps convert in their order, unless the wall clock was set back meanwhile.
 * When it was set, conversions follow within a second.
 */
Ns_Time NsClockWall(NsStamp stamp);

/*
 * A difference of stamps as an Ns_Time; negative ones become 0.
 */
Ns_Time NsClockSpan(NsStamp from, NsStamp to);

/*
 * A duration as nanoseconds, without overflow: the longest is about 292 years.
 */
NsStamp NsClockFromTime(const Ns_Time *timePtr);

/*
 * When a time comes that is absolute, or if it is small, counted from now.
 * What the clock is set to afterwards does not matter.
 */
NsStamp NsClockDue(const Ns_Time *timePtr);

#endif
