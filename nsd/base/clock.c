/* SPDX-License-Identifier: MPL-2.0
 * clock.c --
 *
 *      Time stamps and their wall clock time.
 *
 *      The kernel slews the monotonic clock together with the wall clock, so
 *      their distance changes only when the wall clock is set.  It is kept, and
 *      looked at again once per second.  Differences that come from reading two
 *      clocks one after the other are ignored: they would let two stamps
 *      convert in the wrong order.
 */

#include "base/clock.h"

#include "nsthread.h"

#include <stdatomic.h>

#define CHECK_INTERVAL NS_STAMP_SECOND
#define REAL_STEP      (NS_STAMP_SECOND / 1000)
#define PROMPT         INT64_C(1000) /* Read this close: as if at once. */
#define MAX_TRIES      10

/*
 * Written by the thread that moved nextCheck; readers need no more than some
 * recent value.
 */
static _Atomic int64_t wallOffset;
static _Atomic NsStamp nextCheck;

static void    CheckOffset(void);
static NsStamp ReadClock(clockid_t clock);
static int64_t MeasureOffset(void);

NsStamp
NsClockNow(void)
{
    return ReadClock(CLOCK_MONOTONIC);
}

NsStamp
NsClockRecent(void)
{
    return ReadClock(CLOCK_MONOTONIC_COARSE);
}

Ns_Time
NsClockWall(NsStamp stamp)
{
    int64_t wall;

    if (unlikely(stamp
                 >= atomic_load_explicit(&nextCheck, memory_order_acquire))) {
        CheckOffset();
    }
    wall = stamp + atomic_load_explicit(&wallOffset, memory_order_relaxed);

    return (Ns_Time){.sec = (long) (wall / NS_STAMP_SECOND),
                     .usec = (long) (wall % NS_STAMP_SECOND / 1000)};
}

Ns_Time
NsClockSpan(NsStamp from, NsStamp to)
{
    NsStamp span = to > from ? to - from : 0;

    return (Ns_Time){.sec = (long) (span / NS_STAMP_SECOND),
                     .usec = (long) (span % NS_STAMP_SECOND / 1000)};
}

NsStamp
NsClockFromTime(const Ns_Time *timePtr)
{
    NsStamp seconds, stamp;

    if (__builtin_mul_overflow((int64_t) timePtr->sec, NS_STAMP_SECOND,
                               &seconds)
        || __builtin_add_overflow(seconds, (int64_t) timePtr->usec * 1000,
                                  &stamp)) {
        return timePtr->sec < 0 ? INT64_MIN : INT64_MAX;
    }
    return stamp;
}

NsStamp
NsClockDue(const Ns_Time *timePtr)
{
    Ns_Time space, now, left;

    Ns_GetTime(&now);
    if (Ns_DiffTime(Ns_AbsoluteTime(&space, (Ns_Time *) timePtr), &now, &left)
        <= 0) {
        left = (Ns_Time){0, 0};
    }
    return NsClockNow() + NsClockFromTime(&left);
}

/*
 * The first call always comes here and measures before any other thread can
 * convert: two threads that start together may both measure, with results
 * closer to each other than REAL_STEP; the first one published stays.
 */
static void
CheckOffset(void)
{
    static _Atomic bool isMeasured;
    int64_t             measured = MeasureOffset();
    int64_t             offset = atomic_load(&wallOffset);

    if (!atomic_load(&isMeasured)) {
        int64_t none = 0;

        atomic_compare_exchange_strong(&wallOffset, &none, measured);
        atomic_store(&isMeasured, true);
    } else if (measured - offset > REAL_STEP || offset - measured > REAL_STEP) {
        atomic_store(&wallOffset, measured);
    }
    atomic_store_explicit(&nextCheck, NsClockNow() + CHECK_INTERVAL,
                          memory_order_release);
}

/*
 * Wall clock minus monotonic clock, taken in a moment when this thread was not
 * interrupted between reading the two; the best of some tries if there is none.
 */
static int64_t
MeasureOffset(void)
{
    int64_t best = 0;
    NsStamp bestSpan = INT64_MAX;

    for (int i = 0; i < MAX_TRIES && bestSpan > PROMPT; i++) {
        NsStamp before = ReadClock(CLOCK_MONOTONIC);
        NsStamp wall = ReadClock(CLOCK_REALTIME);
        NsStamp span = ReadClock(CLOCK_MONOTONIC) - before;

        if (span < bestSpan) {
            bestSpan = span;
            best = wall - before - span / 2;
        }
    }
    return best;
}

static NsStamp
ReadClock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (NsStamp) now.tv_sec * NS_STAMP_SECOND + now.tv_nsec;
}
