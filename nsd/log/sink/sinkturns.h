/* SPDX-License-Identifier: MPL-2.0
 * sinkturns.h --
 *
 *      The turns of threads that log: a part of a sink.  The code is in
 *      sinkwork.c.
 */

#ifndef NSD_LOG_SINKTURNS_H
#define NSD_LOG_SINKTURNS_H

#include "log/sink/sink.h"

/*
 * Records whose callers have come for a turn; how many of those have been read,
 * and up to what time.  Written with the sink's lock held, except nComers.
 */
typedef struct NsSinkTurns {
    atomic_uint_fast64_t nComers;
    atomic_uint_fast64_t nServed;
    int64_t              servedUntil;
    atomic_int           nKept; /* Lines that the last pass left in the
                                 * buffer. */
} NsSinkTurns;

#endif
