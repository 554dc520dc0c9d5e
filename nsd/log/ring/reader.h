/* SPDX-License-Identifier: MPL-2.0
 * reader.h --
 *
 *      Reading the lanes of a mapping: a place in each, and all of them merged
 *      by time.
 *
 *      Nothing in the mapping is trusted: lengths, links and numbers are
 *      checked before use, so a damaged or foreign mapping yields fewer
 *      records, never a fault.
 */

#ifndef NSD_LOG_READER_H
#define NSD_LOG_READER_H

#include "log/ring/ring.h"

/*
 * A reader's place in one lane.
 */
typedef struct NsPlace {
    uint32_t      lane;
    uint32_t      segment; /* NS_RING_NONE: not opened yet. */
    uint32_t      offset;  /* Of the next record. */
    uint32_t      end;     /* Of the records that we know of. */
    uint64_t      number;  /* Of the segment in the lane. */
    NsRingRecord *headPtr; /* The next record; NULL if there is none. */
    bool          isMoved; /* The reader's own. */
} NsPlace;

/*
 * Begin at position; 0 is the start of the lane.  False: the lane has nothing.
 * The segment at the position must not be freed meanwhile.
 */
bool NsPlaceOpen(const NsRing *ringPtr, NsPlace *placePtr, uint64_t position);

/*
 * Go behind the last record of a lane of which nothing is freed meanwhile.
 * *sequencePtr: that of the next record; NS_PLACE_UNKNOWN: only that record
 * will show it.
 */
#define NS_PLACE_UNKNOWN UINT64_MAX
bool NsPlaceOpenEnd(const NsRing *ringPtr, NsPlace *placePtr,
                    uint64_t *sequencePtr);

/*
 * Look at the next record, crossing into the next segment as needed.
 */
NsRingRecord *NsPlaceHead(const NsRing *ringPtr, NsPlace *placePtr);

/*
 * The bytes of the record at the head, in one piece: in the mapping, or
 * gathered in *scratchPtr, which is enlarged with ns_realloc.  NULL: the record
 * is damaged.
 */
const void *NsPlaceGather(const NsRing *ringPtr, const NsPlace *placePtr,
                          bool withChecksum, char **scratchPtr,
                          size_t *scratchBytesPtr);

static inline const void *
NsPlaceBytes(const NsRing *ringPtr, const NsPlace *placePtr, bool withChecksum,
             char **scratchPtr, size_t *scratchBytesPtr)
{
    const NsRingRecord *headPtr = placePtr->headPtr;

    return likely(headPtr->kind == NS_RING_WHOLE && !withChecksum
                  && headPtr->total == headPtr->length)
        ? headPtr + 1
        : NsPlaceGather(ringPtr, placePtr, withChecksum, scratchPtr,
                        scratchBytesPtr);
}

/*
 * Go behind the record at the head.
 */
void NsPlaceAdvance(const NsRing *ringPtr, NsPlace *placePtr);

/*
 * The position to hand to NsPlaceOpen later.
 */
static inline uint64_t
NsPlacePosition(const NsPlace *placePtr)
{
    return NsRingPosition(placePtr->number, placePtr->offset);
}

/*
 * Places ordered by the time of their heads, the lower lane first if equal.
 */
typedef struct NsMerge {
    NsPlace **heap;
    int       n;
    int       max;
} NsMerge;

void NsMergeFree(NsMerge *mergePtr);
void NsMergeAdd(NsMerge *mergePtr, NsPlace *placePtr);

/*
 * The place with the earliest head; NULL if there is none.
 */
static inline NsPlace *
NsMergeFirst(const NsMerge *mergePtr)
{
    return mergePtr->n > 0 ? mergePtr->heap[0] : NULL;
}

/*
 * The time of the head that comes after the first place's; INT64_MAX if there
 * is none.
 */
static inline int64_t
NsMergeSecondTime(const NsMerge *mergePtr)
{
    int64_t time = INT64_MAX;

    for (int i = 1; i < mergePtr->n && i < 3; i++) {
        time = MIN(time, mergePtr->heap[i]->headPtr->time);
    }
    return time;
}

/*
 * The head of the first place has changed, or there is none left.
 */
void NsMergeFirstMoved(NsMerge *mergePtr);
void NsMergeFirstEnded(NsMerge *mergePtr);

#endif
