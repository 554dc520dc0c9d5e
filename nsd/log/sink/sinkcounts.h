/*
 * sinkcounts.h --
 *
 *      The counters of a sink: a part of it.  Written with its lock held, or
 *      its places lent and the lock of the loan; read without.
 */

#ifndef NSD_LOG_SINKCOUNTS_H
#define NSD_LOG_SINKCOUNTS_H

#include "log/sink/sink.h"

typedef struct NsSinkCounts {
    atomic_uint_fast64_t nClaimed;   /* Left by earlier processes; */
    atomic_uint_fast64_t nRecovered; /* of these, dealt with by now. */
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
    atomic_uint_fast64_t nSpilled;     /* Records on disk, */
    atomic_uint_fast64_t spilledBytes; /* and their bytes. */
    atomic_int_fast64_t  spillSince;   /* 0: there is no spill file. */
    atomic_int           spillFailure; /* errno; 0: it works. */
    atomic_uint_fast64_t deepest;
    atomic_int_fast64_t  busySince; /* In a write or sync; 0: in none. */
    atomic_int_fast64_t  stallTold; /* Likewise, if it was told. */
    atomic_int_fast64_t  longestWrite;
    atomic_int_fast64_t  writeNanos;
} NsSinkCounts;

#endif
