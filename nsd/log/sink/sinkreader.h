/* SPDX-License-Identifier: MPL-2.0
 * sinkreader.h --
 *
 *      Where a sink reads: a part of it.  The code is in sinklane.c.
 *
 *      Guarded by the sink's lock; while the places are lent (sinkloan.h), by
 *      the lock of the loan.
 */

#ifndef NSD_LOG_SINKREADER_H
#define NSD_LOG_SINKREADER_H

#include "log/ring/reader.h"
#include "log/sink/sink.h"

/*
 * A lane that a sink reads.
 */
typedef struct NsSinkLane {
    NsPlace       place; /* Must come first; see NsSinkLaneOf. */
    NsRingCursor *cursorPtr;
    Ns_LogStream  stream;       /* NULL: a stream of an earlier process that is
                                 * unknown here. */
    uint64_t           upTo;    /* Where the buffer ends; 0: at the place. */
    uint64_t           floor;   /* Where to continue after a loan. */
    uint64_t           settled; /* The target has everything before it. */
    uint64_t           nextSequence; /* Of the next record, in recovery. */
    struct NsSinkLane *nextMovedPtr;
} NsSinkLane;

typedef struct NsSinkReader {
    /*
     * NULL before NsSinkUseRing.  During recovery, ringPtr is an old mapping.
     */
    NsRing       *ringPtr;
    NsRingSink   *slotPtr;
    NsSinkLane  **lanes; /* Those that it has met. */
    uint32_t      nLanes;
    uint32_t      roomLanes;
    Tcl_HashTable laneTable; /* The same by number; unset if nLanes is 0. */
    NsMerge       merge;
    NsSinkLane   *firstMoved; /* Read since the last write. */
    bool          isInLane;   /* The current record is in a lane. */
    bool          hasSkipped; /* The places have moved; see bound.c. */
    bool          isJudged;   /* The current record has passed the settings. */
    bool          hasUpTo;    /* Some lane has upTo set. */
    bool          hasSettled; /* All lanes have settled set. */
    uint64_t      nTaken;     /* From an earlier process's file. */
} NsSinkReader;

#endif
