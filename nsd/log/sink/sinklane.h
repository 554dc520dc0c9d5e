/* SPDX-License-Identifier: MPL-2.0
 * sinklane.h --
 *
 *      Where a sink reads: its streams, and the lanes of each.
 *
 *      Call with the sink locked, or, while its places are lent, with the lock
 *      of the loan held.  Join and Leave need the lock of the table of sinks
 *      instead.
 */

#ifndef NSD_LOG_SINKLANE_H
#define NSD_LOG_SINKLANE_H

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkreader.h"

/*
 * Add a stream to the sink.  If there are lanes, the sink reads them from now
 * on.  False: the stream has as many readers as it can have.
 */
bool NsSinkJoin(Ns_LogSink sink, Ns_LogStream stream);

/*
 * Start reading the lanes of all streams of a sink that has a slot.  False: one
 * of the streams has as many readers as it can have.
 */
bool NsSinkJoinLanes(Ns_LogSink sink);

/*
 * Take the sink off all its streams; it holds no lane afterwards.
 */
void NsSinkLeaveAll(Ns_LogSink sink);

/*
 * Add the lanes that were made since the last call.
 */
void NsSinkMeetLanes(Ns_LogSink sink);

/*
 * Add all lanes that the slot of an earlier process's sink reads.
 */
void NsSinkMeetLeftover(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * The lane with that number; NULL: the sink does not read it.
 */
NsSinkLane *NsSinkLaneAt(Ns_LogSink sink, uint32_t lane);

void NsSinkFreeLanes(Ns_LogSink sink);

/*
 * Free what no sink needs in a lane of the present mapping.
 */
void NsSinkFreeLane(const NsRing *ringPtr, uint32_t lane);

/*
 * Bytes of log memory that the sink keeps in use.  No lock needed.
 */
size_t NsSinkHeld(Ns_LogSink sink);

/*
 * The head is read or discarded, so it is known now where the sink began.
 */
static inline void
NsSinkNoteBegin(const NsSinkLane *lanePtr, const NsRingRecord *headPtr)
{
    atomic_uint_fast64_t *beginPtr = &lanePtr->cursorPtr->begin;

    if (unlikely(atomic_load_explicit(beginPtr, memory_order_relaxed)
                 == NS_PLACE_UNKNOWN)) {
        atomic_store(beginPtr, headPtr->sequence);
    }
}

/*
 * The lane that contains a place.
 */
static inline NsSinkLane *
NsSinkLaneOf(NsPlace *placePtr)
{
    return (NsSinkLane *) (void *) placePtr;
}

/*
 * List the lane as read, or about to be, since the last write.
 */
static inline void
NsSinkNoteMoved(Ns_LogSink sink, NsSinkLane *lanePtr)
{
    if (!lanePtr->place.isMoved) {
        lanePtr->place.isMoved = true;
        lanePtr->nextMovedPtr = sink->reader->firstMoved;
        sink->reader->firstMoved = lanePtr;
    }
}

/*
 * The position in the lane up to which its records are in the buffer.
 */
static inline uint64_t
NsSinkPosition(const NsSinkLane *lanePtr)
{
    return unlikely(lanePtr->upTo != 0)
        ? lanePtr->upTo
        : NsPlacePosition(&lanePtr->place);
}

/*
 * From here on the lanes' places give the positions.
 */
static inline void
NsSinkForgetUpTo(Ns_LogSink sink)
{
    if (unlikely(sink->reader->hasUpTo)) {
        sink->reader->hasUpTo = false;
        for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
            sink->reader->lanes[i]->upTo = 0;
        }
    }
}

static inline void
NsSinkSetUpTo(Ns_LogSink sink, NsSinkLane *lanePtr, uint64_t position)
{
    NsAssert(position > 0);
    sink->reader->hasUpTo = true;
    lanePtr->upTo = position;
    NsSinkNoteMoved(sink, lanePtr);
}

#endif
