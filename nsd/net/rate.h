/* SPDX-License-Identifier: MPL-2.0
 * rate.h --
 *
 *      Limits of throughput, which several threads may share.
 *
 *      Whoever sends asks how long to wait, sends a portion, and counts it.  A
 *      pause that took longer than it should is made up for, up to a tenth of
 *      a second.
 */

#ifndef NSD_NET_RATE_H
#define NSD_NET_RATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/clock.h"

/*
 * How long a client may be slower than a minimum rate.
 */
#define NS_RATE_GRACE (5 * NS_STAMP_SECOND)

/*
 * Zeros mean no limit.  Any thread may set bytesPerSecond.
 */
typedef struct NsRate {
    _Atomic int64_t bytesPerSecond; /* 0: no limit. */
    _Atomic NsStamp freeStamp;      /* When all that was sent is paid. */
} NsRate;

/*
 * When the next portion may be sent: now, or later.
 */
NsStamp NsRateWhen(NsRate *ratePtr, NsStamp now);

/*
 * How many of the given bytes may be sent at once; at least one.
 */
size_t NsRatePortion(const NsRate *ratePtr, size_t bytes);

void NsRateCount(NsRate *ratePtr, size_t bytes, NsStamp now);

/*
 * The bytes of a span at the given rate per second.
 */
int64_t NsRateBytes(int64_t bytesPerSecond, NsStamp span);

/*
 * Those of `all`, some of which may be NULL, that limit something; how many.
 */
int NsRatesInForce(NsRate *const *all, int n, NsRate **rates);

#endif
