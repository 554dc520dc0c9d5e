/* SPDX-License-Identifier: MPL-2.0
 * lanecheck.h --
 *
 *      A thread's lane as lane.c has it, and what must hold of it and of its
 *      segments in the mapping.  Whatever does not ends the process.
 */

#ifndef NSD_LOG_LANECHECK_H
#define NSD_LOG_LANECHECK_H

#include "log/ring/ring.h"

/*
 * Owned by one thread, or by the free list, or guarded by the lock of common
 * lanes.
 */
typedef struct NsLane {
    NsRingSegment *segmentPtr;   /* The newest: */
    uint32_t       offset;       /* records end here, */
    uint32_t       room;         /* this many bytes are free behind them, */
    uint32_t       reserved;     /* and the last ones hold a prepared record. */
    uint64_t       nudgeBytes;   /* Put since the bell was rung. */
    atomic_uint_fast64_t number; /* Of the segment in the lane; this and */
    atomic_uint_fast64_t sequence; /* that the owner writes, others read. */
    uint32_t             index;    /* Constant, as what follows. */
    int                  stream;
    struct NsLane       *nextFreePtr; /* Guarded by the lock of lanes. */
} NsLane;

/*
 * The lane and its newest segment agree; called by the lane's owner.  Of
 * constant cost.
 */
void NsLaneCheck(const NsRing *ringPtr, const NsLane *lanePtr);

/*
 * The segment is one of that lane; if another one follows, the two are
 * neighbours.  Of constant cost.  The chain is locked.
 */
void NsLinkCheck(const NsRing *ringPtr, uint32_t lane,
                 NsRingSegment *segmentPtr);

/*
 * Records fill a segment that has a successor up to where it is committed, in
 * the order of their sequences.  Walks, so in debug builds alone.
 */
void NsRecordsCheck(const NsRing *ringPtr, NsRingSegment *segmentPtr);

/*
 * The lane begins before all of its readers.  The chain is locked; debug builds
 * alone.
 */
void NsCursorsCheck(const NsRing *ringPtr, uint32_t lane);

#endif
