/* SPDX-License-Identifier: MPL-2.0
 * lanecheck.c --
 *
 *      What must hold of a lane and of its segments.
 */

#include "log/ring/lanecheck.h"

#include "base/assert.h"
#include "log/ring/reader.h"

static void CheckPrepared(const NsRing *ringPtr, const NsLane *lanePtr);

void
NsLaneCheck(const NsRing *ringPtr, const NsLane *lanePtr)
{
    const NsRingHeader  *headerPtr = ringPtr->headerPtr;
    const NsRingSegment *segmentPtr = lanePtr->segmentPtr;

    NsAssert(lanePtr->index < atomic_load(&headerPtr->nLanes));
    NsAssert(ringPtr->lanes[lanePtr->index].stream
             == (uint32_t) lanePtr->stream);
    NsAssert(lanePtr->offset % 8 == 0
             && lanePtr->offset >= sizeof(NsRingSegment));
    NsAssert(lanePtr->room % 8 == 0 && lanePtr->reserved % 8 == 0);
    NsAssert((uint64_t) lanePtr->offset + lanePtr->room + lanePtr->reserved
             == headerPtr->segmentBytes);
    NsAssert(segmentPtr->lane == lanePtr->index);
    NsAssert(segmentPtr->epoch == headerPtr->epoch);
    NsAssert(segmentPtr->number == lanePtr->number && lanePtr->number > 0);
    NsAssert(atomic_load_explicit(&segmentPtr->next, memory_order_relaxed)
             == NS_RING_NONE);
    NsAssert(atomic_load_explicit(&segmentPtr->committed, memory_order_relaxed)
             == lanePtr->offset);
    CheckPrepared(ringPtr, lanePtr);
}

/*
 * Of the prepared record and the one that replaces it, one counts.
 */
static void
CheckPrepared(const NsRing *ringPtr, const NsLane *lanePtr)
{
    NsRingSegment      *segmentPtr = lanePtr->segmentPtr;
    uint32_t            prepared = atomic_load_explicit(&segmentPtr->prepared,
                                                        memory_order_relaxed);
    const NsRingRecord *recordPtr;

    if (lanePtr->reserved == 0) {
        NsAssert(prepared == 0 || segmentPtr->preparedFor != lanePtr->offset);
        return;
    }
    NsAssert(prepared == ringPtr->headerPtr->segmentBytes - lanePtr->reserved);
    NsAssert(segmentPtr->preparedFor == lanePtr->offset);
    /* Its replacement fits in front of it. */
    NsAssert(lanePtr->reserved <= lanePtr->room);
    recordPtr = NsRingRecordAt(segmentPtr, prepared);
    NsAssert(recordPtr->lane == (uint16_t) lanePtr->index
             && recordPtr->sequence == lanePtr->sequence);
    NsAssert(sizeof(*recordPtr) + NS_RING_ALIGN((size_t) recordPtr->length)
             == lanePtr->reserved);
    NsCheck(NsRingIsIntact(recordPtr));
}

void
NsLinkCheck(const NsRing *ringPtr, uint32_t lane, NsRingSegment *segmentPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    uint32_t            committed = atomic_load_explicit(&segmentPtr->committed,
                                                         memory_order_acquire);
    uint32_t            next = atomic_load_explicit(&segmentPtr->next,
                                                    memory_order_acquire);

    NsAssert(segmentPtr->lane == lane);
    NsAssert(segmentPtr->epoch == headerPtr->epoch);
    NsAssert(committed >= sizeof(NsRingSegment)
             && committed <= headerPtr->segmentBytes && committed % 8 == 0);
    if (next != NS_RING_NONE) {
        const NsRingSegment *nextPtr;

        NsAssert(next < headerPtr->nSegments);
        nextPtr = NsRingSegmentAt(ringPtr, next);
        NsAssert(nextPtr->lane == lane);
        NsAssert(nextPtr->number == segmentPtr->number + 1);
    }
}

void
NsRecordsCheck(const NsRing *ringPtr, NsRingSegment *segmentPtr)
{
#ifdef NS_DEBUG
    uint32_t end = atomic_load(&segmentPtr->committed);
    uint32_t offset = sizeof(NsRingSegment);
    uint64_t expected = UINT64_MAX;

    while (offset < end) {
        const NsRingRecord *recordPtr = NsRingRecordAt(segmentPtr, offset);

        NsCheck(end - offset >= sizeof(*recordPtr));
        NsCheck(NS_RING_ALIGN((size_t) recordPtr->length)
                <= end - offset - sizeof(*recordPtr));
        NsCheck(recordPtr->lane == (uint16_t) segmentPtr->lane);
        NsCheck(recordPtr->epoch == (uint32_t) ringPtr->headerPtr->epoch);
        NsCheck(expected == UINT64_MAX || recordPtr->sequence == expected);
        NsCheck(recordPtr->kind == NS_RING_WHOLE
                    ? recordPtr->total == recordPtr->length
                    : recordPtr->kind == NS_RING_PART
                        && recordPtr->total >= recordPtr->length);
        expected = recordPtr->sequence + 1;
        offset += (uint32_t) (sizeof(*recordPtr)
                              + NS_RING_ALIGN(recordPtr->length));
    }
    NsCheck(offset == end);
#endif
}

void
NsCursorsCheck(const NsRing *ringPtr, uint32_t lane)
{
#ifdef NS_DEBUG
    const NsRingLane   *lanePtr = &ringPtr->lanes[lane];
    const NsRingStream *streamPtr = NsRingStreamAt(ringPtr, lanePtr->stream);
    uint64_t            first =
        NsRingSegmentAt(ringPtr, atomic_load(&lanePtr->first))->number;

    for (uint32_t i = 0; i < ringPtr->headerPtr->maxReaders; i++) {
        NsRingCursor *cursorPtr = NsRingCursorAt(ringPtr, lane, (int) i);
        uint64_t      done = atomic_load(&cursorPtr->done);

        if (atomic_load(&streamPtr->readers[i]) == 0
            || (done == 0 && atomic_load(&cursorPtr->begin) != 0)) {
            /* None, or it is about to join. */
            continue;
        }
        NsCheck(first <= MAX(NsRingNumberOf(done), 1));
    }
#endif
}
