/* SPDX-License-Identifier: MPL-2.0
 * sinkloan.h --
 *
 *      What a sink lends and owes: its places, lent during a write, its spill
 *      file, and the records it has lost.  A part of a sink.  The code is in
 *      bound.c and relieve.c.
 */

#ifndef NSD_LOG_SINKLOAN_H
#define NSD_LOG_SINKLOAN_H

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/spill.h"

/*
 * Records missing from a log, and the times of the first and last.
 */
typedef struct NsGap {
    uint64_t n;
    int64_t  first;
    int64_t  last;
} NsGap;

/*
 * Guarded by the sink's lock; while the places are lent, by the lock in here.
 */
typedef struct NsSinkLoan {
    Ns_Mutex lock;
    bool     isLent;
    bool     hasFloors; /* The lanes' floors are not applied yet. */
    NsGap    gap;       /* Discarded, and not reported yet. */
    uint64_t nToldLost; /* Reported by notes in the buffer. */
    uint64_t nAtRisk;   /* In the buffer, and nowhere else. */
    NsSpill *spillPtr;  /* NULL: nothing is on disk. */
} NsSinkLoan;

/*
 * What the keeper has reported about the sink.  Only the keeper uses it, except
 * for the first field.
 */
typedef struct NsSinkKeeper {
    atomic_uint_fast64_t nUntoldLost; /* The log thread adds to it, too. */
    int64_t              lostTold;    /* When losses were last reported; 0:
                                       * never. */
    int64_t  stallWarned;             /* Likewise a stall. */
    int64_t  spillTold;               /* The spill episode that was reported, */
    int      failureTold;             /* and the errno. */
    uint64_t nWritesSeen;
} NsSinkKeeper;

/*
 * The caller works for the sink, or its places are lent and the caller holds
 * the lock of the loan.
 */
static inline void
NsSinkAssertMine(Ns_LogSink sink)
{
    NsAssert(NsMutexIsMine(&sink->lock)
             || (NsMutexIsMine(&sink->loan->lock) && sink->loan->isLent));
}

#endif
