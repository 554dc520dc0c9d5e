/*
 * sinklane.h --
 *
 *      Where a sink reads: its streams, and in each of them the lanes.
 *
 *      With the sink locked, or its places lent and lendLock held, but for
 *      Join and Leave: with the table of sinks locked.
 */

#ifndef NSD_LOG_SINKLANE_H
#define NSD_LOG_SINKLANE_H

#include "base/assert.h"
#include "log/sink/sink_int.h"

/*
 * The sink takes the stream; on lanes it reads it from now on.  False: it does
 * not, since the stream has as many readers as it can have.
 */
bool NsSinkJoin(Ns_LogSink sink, Ns_LogStream stream);

/*
 * A sink with a slot reads its streams from now on.  False: it does not, since
 * one has as many readers as it can have.
 */
bool NsSinkJoinLanes(Ns_LogSink sink);

/*
 * It takes no stream any more, and keeps no lane.
 */
void NsSinkLeaveAll(Ns_LogSink sink);

/*
 * See what lanes there are since the last time.
 */
void NsSinkMeetLanes(Ns_LogSink sink);

/*
 * All lanes that the slot of an earlier process's sink reads.
 */
void NsSinkMeetLeftover(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * The lane of that number; NULL: the sink does not read it.
 */
NsSinkLane *NsSinkLaneAt(Ns_LogSink sink, uint32_t lane);

void NsSinkFreeLanes(Ns_LogSink sink);

/*
 * Free what no sink needs of a lane of the present mapping.
 */
void NsSinkFreeLane(const NsRing *ringPtr, uint32_t lane);

/*
 * Bytes of log memory that are in use because the sink needs them.  No lock.
 */
size_t NsSinkHeld(Ns_LogSink sink);

/*
 * The head is read or given up: now it is known where the sink began.
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
 * The lane of a place of the sink's.
 */
static inline NsSinkLane *
NsSinkLaneOf(NsPlace *placePtr)
{
    return (NsSinkLane *) (void *) placePtr;
}

/*
 * The lane has been read, or is to be, since the last write.
 */
static inline void
NsSinkNoteMoved(Ns_LogSink sink, NsSinkLane *lanePtr)
{
    if (!lanePtr->place.isMoved) {
        lanePtr->place.isMoved = true;
        lanePtr->nextMovedPtr = sink->reader.firstMoved;
        sink->reader.firstMoved = lanePtr;
    }
}

/*
 * Up to where in the lane the sink has read what is in its buffer.
 */
static inline uint64_t
NsSinkPosition(const NsSinkLane *lanePtr)
{
    return unlikely(lanePtr->upTo != 0)
        ? lanePtr->upTo
        : NsPlacePosition(&lanePtr->place);
}

/*
 * From here on the lanes' places say it.
 */
static inline void
NsSinkForgetUpTo(Ns_LogSink sink)
{
    if (unlikely(sink->reader.hasUpTo)) {
        sink->reader.hasUpTo = false;
        for (uint32_t i = 0; i < sink->reader.nLanes; i++) {
            sink->reader.lanes[i]->upTo = 0;
        }
    }
}

static inline void
NsSinkSetUpTo(Ns_LogSink sink, NsSinkLane *lanePtr, uint64_t position)
{
    NsAssert(position > 0);
    sink->reader.hasUpTo = true;
    lanePtr->upTo = position;
    NsSinkNoteMoved(sink, lanePtr);
}

#endif
