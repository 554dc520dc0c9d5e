/* SPDX-License-Identifier: MPL-2.0
 * reader.c --
 *
 *      Reading the lanes of a mapping.
 */

#include "log/ring/reader.h"

#include "nsthread.h"

static inline void          Step(const NsRing *ringPtr, NsPlace *placePtr);
static NsRingRecord        *LookAgain(const NsRing *ringPtr, NsPlace *placePtr);
static inline NsRingRecord *RecordAt(const NsRing  *ringPtr,
                                     const NsPlace *placePtr);
static bool NextSegment(const NsRing *ringPtr, NsPlace *placePtr);
static bool Before(const NsPlace *left, const NsPlace *right);
static void SiftDown(NsMerge *mergePtr);

bool
NsPlaceOpen(const NsRing *ringPtr, NsPlace *placePtr, uint64_t position)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    uint64_t            number = NsRingNumberOf(position);
    uint32_t            segment =
        atomic_load_explicit(&ringPtr->lanes[placePtr->lane].first,
                             memory_order_acquire);

    placePtr->segment = NS_RING_NONE;
    placePtr->headPtr = NULL;
    placePtr->end = 0;
    for (uint32_t n = 0;
         segment < headerPtr->nSegments && n < headerPtr->nSegments; n++) {
        NsRingSegment *segmentPtr = NsRingSegmentAt(ringPtr, segment);

        if (segmentPtr->number >= number) {
            placePtr->segment = segment;
            placePtr->number = segmentPtr->number;
            placePtr->offset = segmentPtr->number == number
                ? (uint32_t) (position & UINT16_MAX)
                : (uint32_t) sizeof(NsRingSegment);
            return true;
        }
        segment = atomic_load_explicit(&segmentPtr->next, memory_order_acquire);
    }
    return false;
}

bool
NsPlaceOpenEnd(const NsRing *ringPtr, NsPlace *placePtr, uint64_t *sequencePtr)
{
    const NsRingSegment *segmentPtr;
    const NsRingRecord  *recordPtr;
    uint32_t             next;

    if (!NsPlaceOpen(ringPtr, placePtr, 0)) {
        return false;
    }
    *sequencePtr = placePtr->number == 1 ? 0 : NS_PLACE_UNKNOWN;
    for (;;) {
        segmentPtr = NsRingSegmentAt(ringPtr, placePtr->segment);
        placePtr->end = atomic_load_explicit(&segmentPtr->committed,
                                             memory_order_acquire);
        next = atomic_load_explicit(&segmentPtr->next, memory_order_acquire);
        if (next >= ringPtr->headerPtr->nSegments) {
            break;
        }
        *sequencePtr = NS_PLACE_UNKNOWN;
        placePtr->segment = next;
        placePtr->number++;
    }
    placePtr->offset = sizeof(NsRingSegment);
    while ((recordPtr = RecordAt(ringPtr, placePtr)) != NULL) {
        *sequencePtr = recordPtr->sequence + 1;
        placePtr->offset += (uint32_t) (sizeof(*recordPtr)
                                        + NS_RING_ALIGN(recordPtr->length));
    }
    return true;
}

NsRingRecord *
NsPlaceHead(const NsRing *ringPtr, NsPlace *placePtr)
{
    if (placePtr->segment == NS_RING_NONE) {
        placePtr->headPtr = NULL;
    } else {
        do {
            placePtr->headPtr = LookAgain(ringPtr, placePtr);
        } while (placePtr->headPtr == NULL && NextSegment(ringPtr, placePtr));
    }
    return placePtr->headPtr;
}

const void *
NsPlaceGather(const NsRing *ringPtr, const NsPlace *placePtr, bool withChecksum,
              char **scratchPtr, size_t *scratchBytesPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    NsRingRecord       *recordPtr = placePtr->headPtr;
    NsPlace             piece = *placePtr;
    uint64_t total = recordPtr->total, sequence = recordPtr->sequence;
    size_t   got = 0;

    if (recordPtr->kind == NS_RING_WHOLE) {
        return total == recordPtr->length
                && (!withChecksum || NsRingIsIntact(recordPtr))
            ? recordPtr + 1
            : NULL;
    }
    if (total > (uint64_t) headerPtr->nSegments * headerPtr->segmentBytes) {
        return NULL;
    }
    if (total > *scratchBytesPtr) {
        *scratchBytesPtr = total;
        *scratchPtr = ns_realloc(*scratchPtr, total);
    }
    while (got < total) {
        recordPtr = NsPlaceHead(ringPtr, &piece);
        if (recordPtr == NULL || recordPtr->kind != NS_RING_PART
            || recordPtr->sequence != sequence || recordPtr->length == 0
            || recordPtr->length > total - got
            || (withChecksum && !NsRingIsIntact(recordPtr))) {
            return NULL;
        }
        memcpy(*scratchPtr + got, recordPtr + 1, recordPtr->length);
        got += recordPtr->length;
        piece.offset += (uint32_t) (sizeof(*recordPtr)
                                    + NS_RING_ALIGN(recordPtr->length));
    }
    return *scratchPtr;
}

void
NsPlaceAdvance(const NsRing *ringPtr, NsPlace *placePtr)
{
    uint64_t sequence = placePtr->headPtr->sequence;
    bool     isPart = placePtr->headPtr->kind == NS_RING_PART;

    Step(ringPtr, placePtr);
    while (unlikely(isPart) && placePtr->headPtr != NULL
           && placePtr->headPtr->sequence == sequence) {
        Step(ringPtr, placePtr);
    }
}

/*
 * Go behind the piece at the head.
 */
static inline void
Step(const NsRing *ringPtr, NsPlace *placePtr)
{
    placePtr->offset += (uint32_t) (sizeof(NsRingRecord)
                                    + NS_RING_ALIGN(placePtr->headPtr->length));
    placePtr->headPtr = RecordAt(ringPtr, placePtr);
    if (unlikely(placePtr->headPtr == NULL)) {
        (void) NsPlaceHead(ringPtr, placePtr);
    }
}

void
NsMergeFree(NsMerge *mergePtr)
{
    ns_free(mergePtr->heap);
    *mergePtr = (NsMerge){NULL, 0, 0};
}

void
NsMergeAdd(NsMerge *mergePtr, NsPlace *placePtr)
{
    int i;

    if (mergePtr->n == mergePtr->max) {
        mergePtr->max = MAX(16, 2 * mergePtr->max);
        mergePtr->heap = ns_realloc(mergePtr->heap,
                                    (size_t) mergePtr->max
                                        * sizeof(*mergePtr->heap));
    }
    i = mergePtr->n++;
    while (i > 0 && Before(placePtr, mergePtr->heap[(i - 1) / 2])) {
        mergePtr->heap[i] = mergePtr->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    mergePtr->heap[i] = placePtr;
}

void
NsMergeFirstMoved(NsMerge *mergePtr)
{
    SiftDown(mergePtr);
}

void
NsMergeFirstEnded(NsMerge *mergePtr)
{
    mergePtr->heap[0] = mergePtr->heap[--mergePtr->n];
    SiftDown(mergePtr);
}

/*
 * The record at the place, however much has been added since the last look.
 */
static NsRingRecord *
LookAgain(const NsRing *ringPtr, NsPlace *placePtr)
{
    NsRingSegment *segmentPtr = NsRingSegmentAt(ringPtr, placePtr->segment);
    uint32_t       end = atomic_load_explicit(&segmentPtr->committed,
                                              memory_order_acquire);

    placePtr->end = end > ringPtr->headerPtr->segmentBytes ? 0 : end;
    return RecordAt(ringPtr, placePtr);
}

/*
 * The record at the place, if it is complete and stays within its segment.
 */
static inline NsRingRecord *
RecordAt(const NsRing *ringPtr, const NsPlace *placePtr)
{
    uint32_t      end = placePtr->end, offset = placePtr->offset;
    NsRingRecord *recordPtr;

    if (offset >= end || end - offset < sizeof(*recordPtr) || offset % 8 != 0) {
        return NULL;
    }
    recordPtr = NsRingRecordAt(NsRingSegmentAt(ringPtr, placePtr->segment),
                               offset);
    if (recordPtr->length > end - offset - sizeof(*recordPtr)
        || recordPtr->lane != placePtr->lane || recordPtr->time < 0
        || recordPtr->epoch != (uint32_t) ringPtr->headerPtr->epoch) {
        return NULL;
    }
    return recordPtr;
}

/*
 * A segment with a successor is final, but what was added before the link was
 * made may have come after we looked: look once more before moving on.
 */
static bool
NextSegment(const NsRing *ringPtr, NsPlace *placePtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    NsRingSegment *segmentPtr = NsRingSegmentAt(ringPtr, placePtr->segment);
    uint32_t       next = atomic_load_explicit(&segmentPtr->next,
                                               memory_order_acquire);
    const NsRingSegment *nextPtr;

    if (next >= headerPtr->nSegments || LookAgain(ringPtr, placePtr) != NULL) {
        return next < headerPtr->nSegments;
    }
    nextPtr = NsRingSegmentAt(ringPtr, next);
    if (nextPtr->lane != placePtr->lane
        || nextPtr->number != placePtr->number + 1) {
        return false;
    }
    placePtr->segment = next;
    placePtr->number++;
    placePtr->offset = (uint32_t) sizeof(NsRingSegment);
    placePtr->end = 0;
    return true;
}

static bool
Before(const NsPlace *left, const NsPlace *right)
{
    if (left->headPtr->time != right->headPtr->time) {
        return left->headPtr->time < right->headPtr->time;
    }
    return left->lane < right->lane;
}

static void
SiftDown(NsMerge *mergePtr)
{
    NsPlace *movedPtr;
    int      i = 0, child;

    if (mergePtr->n == 0) {
        return;
    }
    movedPtr = mergePtr->heap[0];
    while ((child = 2 * i + 1) < mergePtr->n) {
        if (child + 1 < mergePtr->n
            && Before(mergePtr->heap[child + 1], mergePtr->heap[child])) {
            child++;
        }
        if (!Before(mergePtr->heap[child], movedPtr)) {
            break;
        }
        mergePtr->heap[i] = mergePtr->heap[child];
        i = child;
    }
    mergePtr->heap[i] = movedPtr;
}
