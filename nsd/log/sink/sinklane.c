/* SPDX-License-Identifier: MPL-2.0
 * sinklane.c --
 *
 *      Where a sink reads: its streams, and the lanes of each.
 *
 *      A sink knows only its own streams and their lanes, so its cost does not
 *      depend on how many others the server has.  It meets a lane when it looks
 *      at the stream for the first time after the lane was made.
 */

#include "log/sink/sinklane.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinktable.h"
#include "nsthread.h"

static bool JoinLanes(Ns_LogSink sink, NsSinkStream *streamPtr);
static void AddLanes(Ns_LogSink sink, Ns_LogStream stream, uint32_t newest,
                     uint32_t before, int rank);
static NsSinkLane *AddLane(Ns_LogSink sink, Ns_LogStream stream, uint32_t lane,
                           int rank);
static uint64_t    HeldOf(const NsSinkStream *streamPtr);

bool
NsSinkJoin(Ns_LogSink sink, Ns_LogStream stream)
{
    NsSinkStream *streamPtr = ns_calloc(1u, sizeof(*streamPtr));
    NsStreamDrops drops;

    NsAssertLocked(&nsSinksLock);
    NsStreamGetDrops(stream, &drops);
    streamPtr->index = NsStreamIndex(stream);
    streamPtr->seenDrops = streamPtr->baseDrops = drops.n;
    streamPtr->baseIgnored = NsStreamIgnored(stream);
    streamPtr->newestLane = NS_RING_NONE;
    atomic_store(&streamPtr->rank, -1);
    if (sink->reader->slotPtr != NULL && !JoinLanes(sink, streamPtr)) {
        ns_free(streamPtr);
        return false;
    }
    if (sink->lastStream == NULL) {
        atomic_store(&sink->firstStream, streamPtr);
    } else {
        atomic_store(&sink->lastStream->nextPtr, streamPtr);
    }
    sink->lastStream = streamPtr;
    return true;
}

bool
NsSinkJoinLanes(Ns_LogSink sink)
{
    NsSinkStream *streamPtr;

    NsAssertLocked(&nsSinksLock);
    for (streamPtr = sink->firstStream; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        if (NsRingRank(sink->reader->ringPtr, (uint32_t) streamPtr->index, NULL)
            < 0) {
            return false;
        }
    }
    for (streamPtr = sink->firstStream; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        (void) JoinLanes(sink, streamPtr);
    }
    return true;
}

/*
 * Read the stream's lanes from their present ends.
 */
static bool
JoinLanes(Ns_LogSink sink, NsSinkStream *streamPtr)
{
    NsRing  *ringPtr = sink->reader->ringPtr;
    uint32_t index = (uint32_t) streamPtr->index, lane;
    int      rank = NsRingRank(ringPtr, index, NULL);

    NsAssert(atomic_load(&streamPtr->rank) == -1);
    if (rank < 0) {
        return false;
    }
    for (lane = NsRingNewestLane(ringPtr, index); lane != NS_RING_NONE;
         lane = NsRingOlderLane(ringPtr, lane)) {
        NsRingCursor *cursorPtr = NsRingCursorAt(ringPtr, lane, rank);

        atomic_store(&cursorPtr->done, 0);
        atomic_store(&cursorPtr->ahead, 0);
        atomic_store(&cursorPtr->begin, NS_PLACE_UNKNOWN);
    }
    /*
     * From now on no thread frees segments of this stream, so the ends found
     * below stay valid.
     */
    atomic_store(&NsRingStreamAt(ringPtr, index)->readers[rank],
                 (unsigned short) (sink->reader->slotPtr - ringPtr->sinks + 1));
    streamPtr->newestLane = NsRingNewestLane(ringPtr, index);
    AddLanes(sink, NsStreamAt(streamPtr->index), streamPtr->newestLane,
             NS_RING_NONE, rank);
    NsLaneLockChains();
    for (lane = streamPtr->newestLane; lane != NS_RING_NONE;
         lane = NsRingOlderLane(ringPtr, lane)) {
        NsSinkLane *lanePtr = NsSinkLaneAt(sink, lane);
        uint64_t    begin = 0;

        if (NsPlaceOpenEnd(ringPtr, &lanePtr->place, &begin)) {
            uint64_t position = NsPlacePosition(&lanePtr->place);

            atomic_store(&lanePtr->cursorPtr->done, position);
            atomic_store(&lanePtr->cursorPtr->ahead, position);
        }
        atomic_store(&lanePtr->cursorPtr->begin, begin);
    }
    NsLaneUnlockChains();
    atomic_store(&streamPtr->rank, rank);
    return true;
}

void
NsSinkLeaveAll(Ns_LogSink sink)
{
    NsRing       *ringPtr = sink->reader->ringPtr;
    NsSinkStream *streamPtr = sink->firstStream;

    NsAssertLocked(&nsSinksLock);
    atomic_store(&sink->isDetached, true);
    for (; streamPtr != NULL; streamPtr = streamPtr->nextPtr) {
        uint32_t index = (uint32_t) streamPtr->index;
        int      rank = atomic_exchange(&streamPtr->rank, -1);

        if (rank >= 0) {
            atomic_store(&NsRingStreamAt(ringPtr, index)->readers[rank], 0);
            for (uint32_t lane = NsRingNewestLane(ringPtr, index);
                 lane != NS_RING_NONE; lane = NsRingOlderLane(ringPtr, lane)) {
                NsSinkFreeLane(ringPtr, lane);
            }
        }
    }
}

void
NsSinkMeetLanes(Ns_LogSink sink)
{
    NsSinkStream *streamPtr = sink->firstStream;

    NsSinkAssertMine(sink);
    for (; streamPtr != NULL; streamPtr = streamPtr->nextPtr) {
        uint32_t newest = NsRingNewestLane(sink->reader->ringPtr,
                                           (uint32_t) streamPtr->index);
        int      rank = atomic_load(&streamPtr->rank);

        if (unlikely(newest != streamPtr->newestLane) && rank >= 0) {
            AddLanes(sink, NsStreamAt(streamPtr->index), newest,
                     streamPtr->newestLane, rank);
            streamPtr->newestLane = newest;
        }
    }
}

void
NsSinkMeetLeftover(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    uint32_t nStreams = atomic_load(&ringPtr->headerPtr->nStreams);

    NsAssertLocked(&sink->lock);
    NsAssert(ringPtr != NsSinkRing());
    NsSinkFreeLanes(sink);
    sink->reader->ringPtr = ringPtr;
    for (uint32_t i = 0; i < nStreams; i++) {
        int      rank = NsRingRank(ringPtr, i, slotPtr);
        uint32_t newest = NsRingNewestLane(ringPtr, i);

        if (rank >= 0 && newest != NS_RING_NONE) {
            Ns_LogStream stream =
                NsStreamFind(NsRingStreamAt(ringPtr, i)->name);

            AddLanes(sink,
                     stream != NULL && NsStreamHasFormat(stream) ? stream
                                                                 : NULL,
                     newest, NS_RING_NONE, rank);
        }
    }
    sink->reader->ringPtr = NULL;
}

/*
 * Add the newest lane of a stream and the older ones, down to but without
 * `before`.
 */
static void
AddLanes(Ns_LogSink sink, Ns_LogStream stream, uint32_t newest, uint32_t before,
         int rank)
{
    for (; newest != before;
         newest = NsRingOlderLane(sink->reader->ringPtr, newest)) {
        NsAssert(newest != NS_RING_NONE);
        (void) AddLane(sink, stream, newest, rank);
    }
}

static NsSinkLane *
AddLane(Ns_LogSink sink, Ns_LogStream stream, uint32_t lane, int rank)
{
    NsSinkLane    *lanePtr = ns_calloc(1u, sizeof(*lanePtr));
    Tcl_HashEntry *entryPtr;
    int            isNew;

    lanePtr->place.lane = lane;
    lanePtr->place.segment = NS_RING_NONE;
    lanePtr->cursorPtr = NsRingCursorAt(sink->reader->ringPtr, lane, rank);
    lanePtr->stream = stream;
    lanePtr->nextSequence = NS_PLACE_UNKNOWN;
    if (sink->reader->nLanes == sink->reader->roomLanes) {
        sink->reader->roomLanes = MAX(2 * sink->reader->roomLanes, 4);
        sink->reader->lanes = ns_realloc(sink->reader->lanes,
                                         sink->reader->roomLanes
                                             * sizeof(*sink->reader->lanes));
    }
    if (sink->reader->nLanes == 0) {
        Tcl_InitHashTable(&sink->reader->laneTable, TCL_ONE_WORD_KEYS);
    }
    sink->reader->lanes[sink->reader->nLanes++] = lanePtr;
    entryPtr = Tcl_CreateHashEntry(&sink->reader->laneTable,
                                   (char *) (uintptr_t) lane, &isNew);
    NsAssert(isNew);
    Tcl_SetHashValue(entryPtr, lanePtr);
    return lanePtr;
}

NsSinkLane *
NsSinkLaneAt(Ns_LogSink sink, uint32_t lane)
{
    Tcl_HashEntry *entryPtr = sink->reader->nLanes == 0
        ? NULL
        : Tcl_FindHashEntry(&sink->reader->laneTable,
                            (char *) (uintptr_t) lane);

    return entryPtr == NULL ? NULL : Tcl_GetHashValue(entryPtr);
}

void
NsSinkFreeLanes(Ns_LogSink sink)
{
    if (sink->reader->nLanes > 0) {
        Tcl_DeleteHashTable(&sink->reader->laneTable);
    }
    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        ns_free(sink->reader->lanes[i]);
    }
    ns_free(sink->reader->lanes);
    sink->reader->lanes = NULL;
    sink->reader->nLanes = sink->reader->roomLanes = 0;
    sink->reader->firstMoved = NULL;
    sink->reader->hasUpTo = sink->loan->hasFloors = sink->reader->hasSettled =
        false;
}

void
NsSinkFreeLane(const NsRing *ringPtr, uint32_t lane)
{
    NsAssert(ringPtr == NsSinkRing());
    NsLaneFree(lane, NsRingNeededFrom(ringPtr, lane));
}

size_t
NsSinkHeld(Ns_LogSink sink)
{
    const NsSinkStream *streamPtr = atomic_load(&sink->firstStream);
    uint64_t            nSegments = 0;

    if (NsSinkRing() == NULL) {
        return 0;
    }
    for (; streamPtr != NULL; streamPtr = atomic_load(&streamPtr->nextPtr)) {
        nSegments += HeldOf(streamPtr);
    }
    return nSegments * NsSinkRing()->headerPtr->segmentBytes;
}

/*
 * Segments that the sink keeps in one stream.
 */
static uint64_t
HeldOf(const NsSinkStream *streamPtr)
{
    const NsRing *ringPtr = NsSinkRing();
    int           rank = atomic_load(&streamPtr->rank);
    uint64_t      nSegments = 0;
    uint32_t      lane = rank < 0
             ? NS_RING_NONE
             : NsRingNewestLane(ringPtr, (uint32_t) streamPtr->index);

    for (; lane != NS_RING_NONE; lane = NsRingOlderLane(ringPtr, lane)) {
        uint64_t done = NsRingNumberOf(
            atomic_load(&NsRingCursorAt(ringPtr, lane, rank)->done));
        uint64_t end = NsLaneEnd(lane);

        /* Segment numbers start at 1, but a new lane's cursor is 0. */
        done = MAX(done, 1);
        nSegments += end > done ? end - done : 0;
    }
    return nSegments;
}
