/* SPDX-License-Identifier: MPL-2.0
 * relieve.c --
 *
 *      How a sink gives log memory back: its oldest records move into its spill
 *      file, or are dropped.
 */

#include "log/sink/relieve.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/ring/lane.h"
#include "log/ring/segment.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkspill.h"
#include "log/sink/sinkstate.h"
#include "log/sink/sinktable.h"
#include "log/sink/spill.h"
#include "nsthread.h"

/*
 * A walk over the records to be moved or dropped.
 */
typedef struct Walk {
    Ns_LogSink sink;
    bool       isSpilling; /* False: they are dropped. */
    NsPlace   *places;     /* In the order of the sink's list of lanes. */
    uint32_t   nLanes;
    NsMerge    merge;
    uint64_t   nSegments; /* Kept by the records that it has not passed. */
    char      *scratch;
    size_t     scratchBytes;
    uint64_t   nIgnored; /* This and the next two: since the last Commit. */
    uint64_t   nDamaged;
    NsGap      gap;
} Walk;

static bool        SpillBuffer(Ns_LogSink sink);
static bool        HasLaneRecords(Ns_LogSink sink);
static bool        Pass(Ns_LogSink sink, size_t most, bool isSpilling);
static uint64_t    SegmentsFrom(uint32_t lane, uint64_t number);
static void        BeginWalk(Walk *walkPtr, Ns_LogSink sink, bool isSpilling);
static bool        MayPass(const NsSinkLane *lanePtr, bool isSpilling);
static void        AddPlace(Walk *walkPtr, uint32_t i);
static NsSinkLane *LaneOf(const Walk *walkPtr, const NsPlace *placePtr);
static void        PassFirst(Walk *walkPtr);
static void        Spill(Walk *walkPtr, const NsPlace *placePtr, uint64_t start,
                         const NsRingRecord *headPtr, const void *bytes,
                         bool isJudged);
static bool        Commit(Walk *walkPtr);
static void        EndWalk(Walk *walkPtr);

uint64_t
NsRelieve(Ns_LogSink sink, size_t most, bool mayDrop)
{
    size_t held = NsSinkHeld(sink), left;
    bool   hasRoom;

    NsSinkAssertMine(sink);
    /*
     * What has come during the pass can go to disk with the next one, so it is
     * no reason to drop anything, unless others would lose records.
     */
    hasRoom = NsSinkBeginSpill(sink) && SpillBuffer(sink)
        && Pass(sink, most, true);
    if (mayDrop && (!hasRoom || NsSegmentsAreShort())
        && NsSinkHeld(sink) > most) {
        (void) Pass(sink, most, false);
    }
    left = NsSinkHeld(sink);
    return held > left ? held - left : 0;
}

void
NsRelieveUseFloors(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    NsAssert(!sink->loan->isLent);
    if (!sink->loan->hasFloors) {
        return;
    }
    sink->loan->hasFloors = false;
    sink->reader->hasSkipped = true;
    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        NsSinkLane *lanePtr = sink->reader->lanes[i];
        uint64_t    position = NsPlacePosition(&lanePtr->place);

        if (lanePtr->floor > position) {
            uint64_t upTo = lanePtr->upTo != 0
                ? lanePtr->upTo
                : MAX(position, 1);

            NsLaneLockChains();
            (void) NsPlaceOpen(sink->reader->ringPtr, &lanePtr->place,
                               lanePtr->floor);
            NsLaneUnlockChains();
            NsCheck(NsPlacePosition(&lanePtr->place) >= lanePtr->floor);
            NsSinkSetUpTo(sink, lanePtr, upTo);
        }
    }
}

/*
 * Put records that are in the sink's buffer and not on disk yet into the spill
 * file, marked as read.
 */
static bool
SpillBuffer(Ns_LogSink sink)
{
    NsPlace *placePtr;
    Walk     walk;
    bool     isOk;

    if (!HasLaneRecords(sink)) {
        return true;
    }
    walk = (Walk){
        .sink = sink, .isSpilling = true, .nLanes = sink->reader->nLanes};
    walk.places = ns_calloc(walk.nLanes, sizeof(NsPlace));
    for (uint32_t i = 0; i < walk.nLanes; i++) {
        if (sink->reader->lanes[i]->place.isMoved) {
            AddPlace(&walk, i);
        }
    }
    while ((placePtr = NsMergeFirst(&walk.merge)) != NULL) {
        NsRingRecord head = *placePtr->headPtr;
        uint64_t     start = NsPlacePosition(placePtr);
        const void *bytes = NsPlaceBytes(sink->reader->ringPtr, placePtr, false,
                                         &walk.scratch, &walk.scratchBytes);

        if (start >= NsPlacePosition(&LaneOf(&walk, placePtr)->place)) {
            NsMergeFirstEnded(&walk.merge);
            continue;
        }
        NsPlaceAdvance(sink->reader->ringPtr, placePtr);
        Spill(&walk, placePtr, start, &head, bytes, false);
        if (placePtr->headPtr != NULL) {
            NsMergeFirstMoved(&walk.merge);
        } else {
            NsMergeFirstEnded(&walk.merge);
        }
    }
    isOk = NsSpillWrite(sink->loan->spillPtr, true);
    if (isOk) {
        for (const NsSinkLane *lanePtr = sink->reader->firstMoved;
             lanePtr != NULL; lanePtr = lanePtr->nextMovedPtr) {
            uint64_t position = NsPlacePosition(&lanePtr->place);

            if (position > atomic_load(&lanePtr->cursorPtr->done)) {
                atomic_store(&lanePtr->cursorPtr->done, position);
                NsSinkFreeLane(sink->reader->ringPtr, lanePtr->place.lane);
            }
        }
    }
    atomic_store(&sink->counts.spillFailure, isOk ? 0 : errno);
    NsSinkNoteSpill(sink);
    EndWalk(&walk);
    return isOk;
}

static bool
HasLaneRecords(Ns_LogSink sink)
{
    for (const NsSinkLane *lanePtr = sink->reader->firstMoved; lanePtr != NULL;
         lanePtr = lanePtr->nextMovedPtr) {
        if (NsPlacePosition(&lanePtr->place)
            > atomic_load(&lanePtr->cursorPtr->done)) {
            return true;
        }
    }
    return false;
}

/*
 * Put what the sink has not read into the spill file, or drop it.  False: the
 * file may not take more, or could not.
 */
static bool
Pass(Ns_LogSink sink, size_t most, bool isSpilling)
{
    size_t   segmentBytes = NsSinkRing()->headerPtr->segmentBytes;
    int64_t  cutoff = NsLogClock();
    bool     isOk = true, hasRoom = true;
    Walk     walk;
    NsPlace *placePtr;

    BeginWalk(&walk, sink, isSpilling);
    while (isOk && walk.nSegments * segmentBytes > most
           && (placePtr = NsMergeFirst(&walk.merge)) != NULL) {
        int64_t ahead = placePtr->headPtr->time - cutoff;

        if (ahead > 0 && ahead < NS_STAMP_SECOND) {
            break;
        }
        if (isSpilling) {
            NsSpillRoom room =
                NsSpillRoomFor(sink->loan->spillPtr, placePtr->headPtr->total,
                               atomic_load(&sink->limits.maxSpill));

            hasRoom = room != NS_SPILL_FULL;
            if (!hasRoom) {
                break;
            }
            if (room == NS_SPILL_WRITE_FIRST) {
                isOk = Commit(&walk);
                continue;
            }
        }
        PassFirst(&walk);
        if (isSpilling && sink->loan->spillPtr->nOut >= NS_SPILL_BLOCK_BYTES) {
            isOk = Commit(&walk);
        }
    }
    isOk = isOk && Commit(&walk);
    EndWalk(&walk);
    return isOk && hasRoom;
}

/*
 * Start where the sink has stopped reading.
 */
static void
BeginWalk(Walk *walkPtr, Ns_LogSink sink, bool isSpilling)
{
    NsRing *ringPtr = sink->reader->ringPtr;

    NsSinkMeetLanes(sink);
    *walkPtr = (Walk){
        .sink = sink, .isSpilling = isSpilling, .nLanes = sink->reader->nLanes};
    walkPtr->places = ns_calloc(walkPtr->nLanes, sizeof(NsPlace));
    if (isSpilling && sink->loan->gap.n > 0) {
        const NsSpillFrame frame = {
            .record = {.kind = NS_SPILL_NOTE,
                       .length = sizeof(sink->loan->gap),
                       .time = sink->loan->gap.last}};

        /* The note comes before the records that follow. */
        NsSpillAdd(sink->loan->spillPtr, &frame, &sink->loan->gap);
    }
    for (uint32_t i = 0; i < walkPtr->nLanes; i++) {
        NsPlace          *placePtr = &walkPtr->places[i];
        const NsSinkLane *lanePtr = sink->reader->lanes[i];
        uint32_t          lane = lanePtr->place.lane;
        uint64_t          done = atomic_load(&lanePtr->cursorPtr->done);

        placePtr->segment = NS_RING_NONE;
        if (!MayPass(lanePtr, isSpilling)) {
            uint64_t number = MAX(NsRingNumberOf(done), 1);

            walkPtr->nSegments += SegmentsFrom(lane, number);
            continue;
        }
        *placePtr = lanePtr->place;
        if (placePtr->segment == NS_RING_NONE
            || lanePtr->floor > NsPlacePosition(placePtr)) {
            AddPlace(walkPtr, i);
        } else if (NsPlaceHead(ringPtr, placePtr) != NULL) {
            NsMergeAdd(&walkPtr->merge, placePtr);
        }
        walkPtr->nSegments += SegmentsFrom(lane, placePtr->number);
    }
}

/*
 * A lane tells its last segment after the segment can be read.
 */
static uint64_t
SegmentsFrom(uint32_t lane, uint64_t number)
{
    uint64_t end = NsLaneEnd(lane);

    return end > number ? end - number : 0;
}

/*
 * A stream's rule may forbid dropping.
 */
static bool
MayPass(const NsSinkLane *lanePtr, bool isSpilling)
{
    return isSpilling || NsStreamOverflow(lanePtr->stream) != NS_OVERFLOW_BLOCK;
}

/*
 * Open the place at the sink's cursor.
 */
static void
AddPlace(Walk *walkPtr, uint32_t i)
{
    Ns_LogSink        sink = walkPtr->sink;
    NsPlace          *placePtr = &walkPtr->places[i];
    const NsSinkLane *lanePtr = sink->reader->lanes[i];

    placePtr->lane = lanePtr->place.lane;
    NsLaneLockChains();
    (void) NsPlaceOpen(sink->reader->ringPtr, placePtr,
                       atomic_load(&lanePtr->cursorPtr->done));
    NsLaneUnlockChains();
    if (NsPlaceHead(sink->reader->ringPtr, placePtr) != NULL) {
        NsMergeAdd(&walkPtr->merge, placePtr);
    }
}

static NsSinkLane *
LaneOf(const Walk *walkPtr, const NsPlace *placePtr)
{
    return walkPtr->sink->reader->lanes[placePtr - walkPtr->places];
}

/*
 * Pass the earliest record.
 */
static void
PassFirst(Walk *walkPtr)
{
    Ns_LogSink   sink = walkPtr->sink;
    NsPlace     *placePtr = NsMergeFirst(&walkPtr->merge);
    NsRingRecord head = *placePtr->headPtr;
    uint64_t     number = placePtr->number;
    uint64_t     start = NsPlacePosition(placePtr);
    NsSinkLane  *lanePtr = LaneOf(walkPtr, placePtr);
    Ns_LogStream stream = lanePtr->stream;
    Ns_LogRecord record = {
        .stream = NsStreamName(stream),
        .severity = head.severity,
        .time = head.time,
        .length = head.total,
        .bytes = NsPlaceBytes(sink->reader->ringPtr, placePtr, false,
                              &walkPtr->scratch, &walkPtr->scratchBytes)};

    NsSinkNoteBegin(lanePtr, &head);
    NsPlaceAdvance(sink->reader->ringPtr, placePtr);
    if (record.bytes == NULL) {
        walkPtr->nDamaged++;
    } else if (!NsSinkWantsRecord(sink, stream, &record)) {
        walkPtr->nIgnored++;
    } else if (walkPtr->isSpilling) {
        Spill(walkPtr, placePtr, start, &head, record.bytes, true);
    } else {
        if (walkPtr->gap.n++ == 0) {
            walkPtr->gap.first = head.time;
        }
        walkPtr->gap.last = head.time;
    }
    /* The lane may have grown since its segments were counted. */
    NsAssert(placePtr->number >= number);
    walkPtr->nSegments -= MIN(walkPtr->nSegments, placePtr->number - number);
    if (placePtr->headPtr != NULL) {
        NsMergeFirstMoved(&walkPtr->merge);
    } else {
        NsMergeFirstEnded(&walkPtr->merge);
    }
}

/*
 * The place is already behind the record.  A damaged record is not worth the
 * space.
 */
static void
Spill(Walk *walkPtr, const NsPlace *placePtr, uint64_t start,
      const NsRingRecord *headPtr, const void *bytes, bool isJudged)
{
    NsSpillFrame frame = {
        .start = start, .next = NsPlacePosition(placePtr), .record = *headPtr};

    if (bytes != NULL) {
        frame.record.kind = NS_RING_WHOLE;
        frame.record.length = (uint32_t) headPtr->total;
        frame.record.pad = isJudged ? NS_SPILL_JUDGED : 0;
        NsSpillAdd(walkPtr->sink->loan->spillPtr, &frame, bytes);
    }
}

/*
 * Release all that is before the places of the walk.  The slot also gets the
 * number of missing records, for the next process if this one is killed now;
 * that includes records that are only in the buffer.  False: the cursors stay
 * where they are.
 */
static bool
Commit(Walk *walkPtr)
{
    Ns_LogSink  sink = walkPtr->sink;
    NsRingSink *slotPtr = sink->reader->slotPtr;
    NsGap      *gapPtr = &sink->loan->gap;

    if (walkPtr->isSpilling) {
        if (!NsSpillWrite(sink->loan->spillPtr, false)) {
            atomic_store(&sink->counts.spillFailure, errno);
            return false;
        }
        atomic_store(&sink->counts.spillFailure, 0);
        *gapPtr = (NsGap){0};
        NsSinkNoteSpill(sink);
    } else if (walkPtr->gap.n > 0) {
        gapPtr->first = gapPtr->n == 0 ? walkPtr->gap.first : gapPtr->first;
        gapPtr->last = walkPtr->gap.last;
        gapPtr->n += walkPtr->gap.n;
        atomic_fetch_add(&sink->counts.nFailed, walkPtr->gap.n);
        atomic_fetch_add(&sink->keeper->nUntoldLost, walkPtr->gap.n);
    }
    atomic_fetch_add(&sink->counts.nIgnored, walkPtr->nIgnored);
    atomic_fetch_add(&sink->counts.nDamaged, walkPtr->nDamaged);
    walkPtr->nIgnored = walkPtr->nDamaged = 0;
    walkPtr->gap = (NsGap){0};

    if (HasLaneRecords(sink)) {
        /* These records are only in the buffer now. */
        sink->loan->nAtRisk = sink->buffer->nRecords;
    }
    NsRingSetMissing(slotPtr,
                     gapPtr->n + sink->loan->nToldLost + sink->loan->nAtRisk);
    for (uint32_t i = 0; i < walkPtr->nLanes; i++) {
        const NsPlace *placePtr = &walkPtr->places[i];
        NsSinkLane    *lanePtr = sink->reader->lanes[i];
        uint64_t       position = NsPlacePosition(placePtr);

        if (placePtr->segment != NS_RING_NONE
            && position > atomic_load(&lanePtr->cursorPtr->done)) {
            lanePtr->floor = position;
            sink->loan->hasFloors = true;
            atomic_store(&lanePtr->cursorPtr->done, position);
            NsSinkFreeLane(sink->reader->ringPtr, lanePtr->place.lane);
        }
    }
    return true;
}

static void
EndWalk(Walk *walkPtr)
{
    ns_free(walkPtr->places);
    ns_free(walkPtr->scratch);
    NsMergeFree(&walkPtr->merge);
}
