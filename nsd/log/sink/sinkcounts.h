/* SPDX-License-Identifier: MPL-2.0
 * sinkcounts.h --
 *
 *      The counters of a sink: a part of it.  Written with the sink's lock
 *      held, or, while its places are lent, with the lock of the loan.  Read
 *      without a lock.
 */

#ifndef NSD_LOG_SINKCOUNTS_H
#define NSD_LOG_SINKCOUNTS_H

#include "log/sink/sink.h"

typedef struct NsSinkCounts {
    atomic_uint_fast64_t nClaimed;      /* Left by earlier processes; */
    atomic_uint_fast64_t claimedBytes;  /* their bytes, */
    atomic_int_fast64_t  claimedSince;  /* the first one's time, 0: none; */
    atomic_uint_fast64_t nRecovered;    /* and how many are dealt with. */
    atomic_int_fast64_t  bufferedSince; /* Time of the first record in the
                                         * buffer; 0: it is empty. */
    atomic_int_fast64_t oldest;    /* When somebody last looked: the time of
                                    * the first pending record, 0: none, */
    atomic_uint_fast64_t oldestAt; /* and how many no longer waited then. */
    atomic_uint_fast64_t nDelivered;
    atomic_uint_fast64_t nIgnored;
    atomic_uint_fast64_t nFailed;
    atomic_uint_fast64_t nDamaged;
    atomic_uint_fast64_t nRejected;
    atomic_uint_fast64_t nBytes;
    atomic_uint_fast64_t nWrites;
    atomic_uint_fast64_t nSyncs;
    atomic_uint_fast64_t nErrors;
    atomic_uint_fast64_t nWakeups;
    atomic_uint_fast64_t nPasses;      /* By workers. */
    atomic_uint_fast64_t nSpilled;     /* Records on disk, */
    atomic_uint_fast64_t spilledBytes; /* and their bytes. */
    atomic_int_fast64_t  spillSince;   /* 0: no spill file. */
    atomic_int           spillFailure; /* errno; 0: spilling works. */
    atomic_uint_fast64_t deepest;
    atomic_int_fast64_t  busySince; /* In a write or sync; 0: in neither. */
    atomic_int_fast64_t  stallTold; /* The same time, once reported; else 0. */
    atomic_int_fast64_t  longestWrite;
    atomic_int_fast64_t  writeNanos;
} NsSinkCounts;

#endif
