/*
 * sinkturns.h --
 *
 *      The turns of those who log: a part of a sink.  Its code is in
 *      sinkwork.c.
 */

#ifndef NSD_LOG_SINKTURNS_H
#define NSD_LOG_SINKTURNS_H

#include "log/sink/sink.h"

/*
 * Records whose callers have come for a turn, and of which these have been
 * read, up to that time.  Written with the sink's lock held, but the first.
 */
typedef struct NsSinkTurns {
    atomic_uint_fast64_t nComers;
    atomic_uint_fast64_t nServed;
    int64_t              servedUntil;
    atomic_int           nKept; /* Lines, after the last pass. */
} NsSinkTurns;

#endif
