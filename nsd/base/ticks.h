/* SPDX-License-Identifier: MPL-2.0
 * ticks.h --
 *
 *      The cheapest clock, for measuring how long locks are held.
 *
 *      On x86-64 the processor's cycle counter where the kernel itself trusts
 *      it as its clock, at less than half the price of NsClockNow; elsewhere
 *      the monotonic clock.  Ticks of two processors can differ a little: treat
 *      a negative difference as none.
 */

#ifndef NSD_BASE_TICKS_H
#define NSD_BASE_TICKS_H

#include "base/clock.h"

typedef uint64_t NsTicks;

extern bool nsTicksAreCycles; /* Set before main, constant then. */

/*
 * A number of ticks as nanoseconds.
 */
NsStamp NsTicksToStamp(NsTicks ticks);

static inline NsTicks
NsTicksNow(void)
{
#if defined(__x86_64__)
    if (likely(nsTicksAreCycles)) {
        return __builtin_ia32_rdtsc();
    }
#endif
    return (NsTicks) NsClockNow();
}

static inline NsTicks
NsTicksSpan(NsTicks from, NsTicks to)
{
    return to > from ? to - from : 0;
}

#endif
