/*
 * sinkreader.h --
 *
 *      Where a sink reads: a part of it.  Its code is in sinklane.c.
 *
 *      Guarded by the sink's lock.  While the places are lent (sinkloan.h), by
 *      the lock of the loan.
 */

#ifndef NSD_LOG_SINKREADER_H
#define NSD_LOG_SINKREADER_H

#include "log/ring/reader.h"
#include "log/sink/sink.h"

/*
 * A stream that a sink takes.
 */
typedef struct NsSinkStream {
    struct NsSinkStream *_Atomic nextPtr; /* Set with the table of sinks
                                           * locked, like the next. */
    atomic_int rank;  /* Among its readers in the mapping; or -1. */
    int        index; /* Constant, like the numbers that there were
                       * before the sink: */
    uint64_t baseDrops;
    uint64_t baseIgnored;
    uint64_t seenDrops; /* The sink is locked; these were told. */
    int64_t  seenDropTime;
    uint32_t newestLane; /* The sink is locked, or its places are lent.
                          * It and all older ones the sink has met. */
    bool isIdle;         /* Guarded by wakeLock: counted there. */
} NsSinkStream;

/*
 * A lane that a sink reads.
 */
typedef struct NsSinkLane {
    NsPlace       place; /* The first member; see NsSinkLaneOf. */
    NsRingCursor *cursorPtr;
    Ns_LogStream  stream;       /* NULL: an earlier process's that is not known
                                 * here. */
    uint64_t           upTo;    /* The buffer ends there; 0: at the place. */
    uint64_t           floor;   /* To go on from there. */
    uint64_t           settled; /* The target has what is before it. */
    uint64_t           nextSequence; /* Of the record expected, in recovery. */
    struct NsSinkLane *nextMovedPtr;
} NsSinkLane;

typedef struct NsSinkReader {
    /* NULL before NsSinkUseRing; ringPtr is an old mapping during recovery. */
    NsRing       *ringPtr;
    NsRingSink   *slotPtr;
    NsSinkLane  **lanes; /* Those that it has met. */
    uint32_t      nLanes;
    uint32_t      roomLanes;
    Tcl_HashTable laneTable; /* The same by number; if there are. */
    NsMerge       merge;
    NsSinkLane   *firstMoved; /* Read since the last write. */
    bool          isInLane;   /* The record at hand stands there. */
    bool          hasSkipped; /* Places are new; see bound.c. */
    bool          isJudged;   /* The record at hand passed before. */
    bool          hasUpTo;    /* Some lane has it. */
    bool          hasSettled; /* All lanes have it. */
    uint64_t      nTaken;     /* From an earlier process's file. */
} NsSinkReader;

#endif
