/* SPDX-License-Identifier: MPL-2.0
 * episode.h --
 *
 *      One line in the log for trouble that comes with every request while it
 *      lasts.
 */

#ifndef NSD_BASE_EPISODE_H
#define NSD_BASE_EPISODE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"

#define NS_EPISODE_REST (10 * NS_STAMP_SECOND)

/*
 * Zeros: there was none.  Any thread; relaxed, since nothing else depends on
 * the stamp.
 */
typedef struct NsEpisode {
    _Atomic NsStamp lastStamp; /* Of the trouble. */
} NsEpisode;

/*
 * The trouble is here.  True when it was not for NS_EPISODE_REST: for one of
 * the threads that meet it at the same time.
 */
static inline bool
NsEpisodeBegins(NsEpisode *episodePtr)
{
    NsStamp now = NsClockNow();
    NsStamp last = atomic_exchange_explicit(&episodePtr->lastStamp, now,
                                            memory_order_relaxed);

    return last == 0 || now - last >= NS_EPISODE_REST;
}

/*
 * Between lines about one client, or one limit, that is exceeded.
 */
#define NS_LINE_REST (60 * NS_STAMP_SECOND)

/*
 * Whether a line is due: the last one, of which the caller guards the stamp (0:
 * there was none), is at least that long ago.  Then this one is the last.
 */
static inline bool
NsLineIsDue(NsStamp *lastPtr, NsStamp now, NsStamp rest)
{
    if (*lastPtr != 0 && now - *lastPtr < rest) {
        return false;
    }
    *lastPtr = now;
    return true;
}

#endif
