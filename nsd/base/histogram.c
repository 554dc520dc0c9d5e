/* SPDX-License-Identifier: MPL-2.0
 * histogram.c --
 *
 *      How often durations of each length occurred.
 *
 *      Microseconds below 64 have a bucket each.  From there every power of two
 *      is cut into 64 buckets of equal width: a bucket is never wider than 1/64
 *      of its lower bound, so its upper bound, which percentiles report, is at
 *      most 1.6 % off.  The last bucket takes whatever is longer than an hour.
 */

#include "base/histogram.h"
#include "nsthread.h"

#include <stdatomic.h>

#define UNIT      INT64_C(1000) /* 1 us. */
#define SUB_BITS  6
#define N_SUB     (1 << SUB_BITS)
#define MAX_VALUE UINT64_C(3600000000) /* 1 h in units. */
#define N_POWERS  (32 - SUB_BITS)      /* MAX_VALUE < 2^32. */
#define N_BUCKETS (N_SUB + N_POWERS * N_SUB)

/*
 * All are written by any thread; each is exact, together they may be a few
 * records apart.
 */
struct NsHistogram {
    _Atomic uint64_t sum; /* Nanoseconds. */
    _Atomic NsStamp  max;
    _Atomic uint64_t buckets[N_BUCKETS];
};

static void    RaiseMax(NsHistogram *histogramPtr, NsStamp duration);
static int     BucketIndex(NsStamp duration);
static NsStamp BucketUpper(int index);

NsHistogram *
NsHistogramCreate(void)
{
    return ns_calloc(1, sizeof(NsHistogram));
}

void
NsHistogramDestroy(NsHistogram **histogramPtrPtr)
{
    ns_free(*histogramPtrPtr);
    *histogramPtrPtr = NULL;
}

void
NsHistogramRecord(NsHistogram *histogramPtr, NsStamp duration)
{
    duration = MAX(duration, 0);
    atomic_fetch_add_explicit(&histogramPtr->buckets[BucketIndex(duration)], 1,
                              memory_order_relaxed);
    if (duration == 0) {
        return;
    }
    atomic_fetch_add_explicit(&histogramPtr->sum, (uint64_t) duration,
                              memory_order_relaxed);
    RaiseMax(histogramPtr, duration);
}

static void
RaiseMax(NsHistogram *histogramPtr, NsStamp duration)
{
    NsStamp max = atomic_load_explicit(&histogramPtr->max,
                                       memory_order_relaxed);

    while (duration > max
           && !atomic_compare_exchange_weak_explicit(&histogramPtr->max, &max,
                                                     duration,
                                                     memory_order_relaxed,
                                                     memory_order_relaxed)) {
        /* max is the current one now. */
    }
}

void
NsHistogramAdd(NsHistogram *toPtr, const NsHistogram *fromPtr)
{
    for (int i = 0; i < N_BUCKETS; i++) {
        uint64_t count = atomic_load_explicit(&fromPtr->buckets[i],
                                              memory_order_relaxed);

        atomic_fetch_add_explicit(&toPtr->buckets[i], count,
                                  memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&toPtr->sum, (uint64_t) NsHistogramSum(fromPtr),
                              memory_order_relaxed);
    RaiseMax(toPtr, NsHistogramMax(fromPtr));
}

uint64_t
NsHistogramCount(const NsHistogram *histogramPtr)
{
    uint64_t count = 0;

    for (int i = 0; i < N_BUCKETS; i++) {
        count += atomic_load_explicit(&histogramPtr->buckets[i],
                                      memory_order_relaxed);
    }
    return count;
}

NsStamp
NsHistogramSum(const NsHistogram *histogramPtr)
{
    return (NsStamp) atomic_load_explicit(&histogramPtr->sum,
                                          memory_order_relaxed);
}

NsStamp
NsHistogramMean(const NsHistogram *histogramPtr)
{
    uint64_t count = NsHistogramCount(histogramPtr);

    return count == 0
        ? 0
        : (NsStamp) ((uint64_t) NsHistogramSum(histogramPtr) / count);
}

NsStamp
NsHistogramMax(const NsHistogram *histogramPtr)
{
    return atomic_load_explicit(&histogramPtr->max, memory_order_relaxed);
}

NsStamp
NsHistogramPercentile(const NsHistogram *histogramPtr, double percent)
{
    uint64_t total = NsHistogramCount(histogramPtr), wanted, seen = 0;
    NsStamp  max = NsHistogramMax(histogramPtr);

    if (total == 0) {
        return 0;
    }
    percent = MIN(MAX(percent, 0.0), 100.0);
    wanted = (uint64_t) ((double) total * percent / 100.0 + 0.999999);
    wanted = MIN(MAX(wanted, 1), total);

    for (int i = 0; i < N_BUCKETS - 1; i++) {
        seen += atomic_load_explicit(&histogramPtr->buckets[i],
                                     memory_order_relaxed);
        if (seen >= wanted) {
            return MIN(BucketUpper(i), max);
        }
    }
    return max;
}

void
NsHistogramVisit(const NsHistogram *histogramPtr, NsHistogramVisitProc *proc,
                 void *arg)
{
    for (int i = 0; i < N_BUCKETS; i++) {
        uint64_t count = atomic_load_explicit(&histogramPtr->buckets[i],
                                              memory_order_relaxed);

        if (count > 0) {
            proc(BucketUpper(i), count, arg);
        }
    }
}

static int
BucketIndex(NsStamp duration)
{
    uint64_t value = (uint64_t) duration / UNIT;
    int      power;

    if (value < N_SUB) {
        return (int) value;
    }
    if (value > MAX_VALUE) {
        return N_BUCKETS - 1;
    }
    /* value = (N_SUB + sub) << power, with some bits shifted out. */
    power = 63 - __builtin_clzll(value) - SUB_BITS;
    return N_SUB + power * N_SUB + (int) (value >> power) - N_SUB;
}

/*
 * The first duration that belongs to the next bucket.
 */
static NsStamp
BucketUpper(int index)
{
    int next = index + 1, power = next / N_SUB - 1;

    if (next < N_SUB) {
        return next * UNIT;
    }
    return ((NsStamp) (N_SUB + next % N_SUB) << power) * UNIT;
}
