/*
 * sinkloan.h --
 *
 *      What a sink owes: the places that it lends around a write, what is in
 *      its spill file, and what is missing.  A part of it; its code is in
 *      bound.c and relieve.c.
 */

#ifndef NSD_LOG_SINKLOAN_H
#define NSD_LOG_SINKLOAN_H

#include "log/sink/sink.h"
#include "log/sink/spill.h"

/*
 * Records that are missing in a log, and when they were.
 */
typedef struct NsGap {
    uint64_t n;
    int64_t  first;
    int64_t  last;
} NsGap;

/*
 * Guarded by the sink's lock; while the places are lent, by this one.
 */
typedef struct NsSinkLoan {
    Ns_Mutex lock;
    bool     isLent;
    bool     hasFloors; /* Not in use yet. */
    NsGap    gap;       /* Given up, and not told yet. */
    uint64_t nToldLost; /* By notes in the buffer. */
    uint64_t nAtRisk;   /* In the buffer, and nowhere else. */
    NsSpill *spillPtr;  /* NULL: all is in memory. */
} NsSinkLoan;

/*
 * What the keeper has reported of the sink.  The keeper's, but the first.
 */
typedef struct NsSinkKeeper {
    atomic_uint_fast64_t nUntoldLost; /* Added to by the log thread, too. */
    int64_t              lostTold;    /* When; 0: never. */
    int64_t              spillTold;   /* The episode that it told of, */
    int                  failureTold; /* the errno. */
    uint64_t             nWritesSeen;
} NsSinkKeeper;

#endif
