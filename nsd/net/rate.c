/* SPDX-License-Identifier: MPL-2.0
 * rate.c --
 *
 *      Limits of throughput.
 */

#include "net/rate.h"
#include "nsstring.h"

#define BURST               ((NsStamp) 100000000) /* Nanoseconds that may be caught up. */
#define PORTIONS_PER_SECOND 16
#define MIN_PORTION         1024

NsStamp
NsRateWhen(NsRate *ratePtr, NsStamp now)
{
    if (atomic_load_explicit(&ratePtr->bytesPerSecond, memory_order_relaxed)
        == 0) {
        return now;
    }
    return MAX(now,
               atomic_load_explicit(&ratePtr->freeStamp, memory_order_relaxed));
}

size_t
NsRatePortion(const NsRate *ratePtr, size_t bytes)
{
    int64_t limit = atomic_load_explicit(&ratePtr->bytesPerSecond,
                                         memory_order_relaxed);

    if (limit == 0) {
        return bytes;
    }
    return MIN(bytes, (size_t) MAX(limit / PORTIONS_PER_SECOND, MIN_PORTION));
}

/*
 * Relaxed: nothing else depends on the stamp.
 */
void
NsRateCount(NsRate *ratePtr, size_t bytes, NsStamp now)
{
    int64_t limit = atomic_load_explicit(&ratePtr->bytesPerSecond,
                                         memory_order_relaxed);
    NsStamp span, old;

    if (limit == 0) {
        return;
    }
    span = (NsStamp) ((double) bytes / (double) limit
                      * (double) NS_STAMP_SECOND);
    old = atomic_load_explicit(&ratePtr->freeStamp, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&ratePtr->freeStamp, &old,
                                                  MAX(old, now - BURST) + span,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed)) {
        continue;
    }
}

int64_t
NsRateBytes(int64_t bytesPerSecond, NsStamp span)
{
    return (int64_t) ((double) bytesPerSecond * (double) span
                      / NS_STAMP_SECOND);
}

int
NsRatesInForce(NsRate *const *all, int n, NsRate **rates)
{
    int nInForce = 0;

    for (int i = 0; i < n; i++) {
        if (all[i] != NULL
            && atomic_load_explicit(&all[i]->bytesPerSecond,
                                    memory_order_relaxed)
                > 0) {
            rates[nInForce++] = all[i];
        }
    }
    return nInForce;
}
