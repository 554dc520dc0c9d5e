/* SPDX-License-Identifier: MPL-2.0
 * spillmove.c --
 *
 *      Moves dead processes' records from memory to disk; see spillmove.h.
 *
 *      A process that is killed during this leaves a spill file and cursors in
 *      the same state as one that was killed while logging.
 */

#include "log/sink/spillmove.h"

#include "log/ring/reader.h"
#include "log/sink/spill.h"
#include "nslog.h"
#include "nsthread.h"

/* A sink that may have less than that on disk has nothing there; one that has
 * less left is at its limit. */
#define LEAST_BYTES ((size_t) 256 << 10)

/*
 * The records of one mapping that one sink has not read.
 */
typedef struct Walk {
    NsRing     *ringPtr;
    NsRingSink *slotPtr;
    NsPlace    *places; /* By lane. */
    NsMerge     merge;
    char       *scratch;
    size_t      scratchBytes;
} Walk;

static void     MoveSlot(NsRing *const *rings, int n, NsRing *ringPtr,
                         NsRingSink *slotPtr);
static uint64_t BytesOnDisk(NsRing *const *rings, int n, const char *sink);
static void     BeginWalk(Walk *walkPtr, NsRing *ringPtr, NsRingSink *slotPtr);
static void     EndWalk(Walk *walkPtr);
static uint64_t ToDisk(Walk *walkPtr, uint64_t most);
static bool     AddFirst(Walk *walkPtr, NsSpill *spillPtr);
static bool     Commit(Walk *walkPtr, NsSpill *spillPtr);
static uint64_t GiveUp(Walk *walkPtr);
static bool     IsBlocking(const NsRing *ringPtr, uint32_t lane);
static void     SetCursor(const Walk *walkPtr, const NsPlace *placePtr);

void
NsSpillMove(NsRing *const *rings, int n)
{
    size_t most = 0, needed = 0;

    for (int i = 0; i < n; i++) {
        const NsRingHeader *headerPtr = rings[i]->headerPtr;

        most = MAX(most,
                   (size_t) headerPtr->nSegments * headerPtr->segmentBytes);
        needed += NsRingNeededBytes(rings[i]);
    }
    for (int i = 0; i < n && needed > most; i++) {
        needed -= NsRingNeededBytes(rings[i]);
        for (int j = 0; j < (int) rings[i]->headerPtr->maxSinks; j++) {
            NsRingSink *slotPtr = NsRingSinkAt(rings[i], j);

            if (NsRingSinkIsUsed(slotPtr)) {
                MoveSlot(rings, n, rings[i], slotPtr);
            }
        }
        needed += NsRingNeededBytes(rings[i]);
    }
}

/*
 * A slot with an interrupted write stays as it is, because settling needs its
 * cursors.  Until then the sink starts no other write, in later processes
 * either, so there is at most one such mapping.
 */
static void
MoveSlot(NsRing *const *rings, int n, NsRing *ringPtr, NsRingSink *slotPtr)
{
    uint64_t used = BytesOnDisk(rings, n, slotPtr->name), nMoved, nLost = 0;
    uint64_t most = ringPtr->headerPtr->spillDirectory[0] == '\0'
        ? 0
        : (uint64_t) slotPtr->maxSpillKiB * 1024;
    Walk     walk;

    if (atomic_load(&slotPtr->intent) != NS_RING_IDLE) {
        return;
    }
    BeginWalk(&walk, ringPtr, slotPtr);
    nMoved = ToDisk(&walk, most - MIN(most, used));
    if (nMoved > 0) {
        Ns_Log(Notice,
               "log[%s]: %" PRIu64 " records that process %d left move from "
               "memory to disk, into '%s'",
               slotPtr->name, nMoved, (int) ringPtr->headerPtr->pid,
               ringPtr->headerPtr->spillDirectory);
    }
    if (NsMergeFirst(&walk.merge) != NULL
        && BytesOnDisk(rings, n, slotPtr->name) + LEAST_BYTES >= most) {
        nLost = GiveUp(&walk);
    }
    if (nLost > 0) {
        Ns_Log(Error,
               "log[%s]: %" PRIu64 " records of process %d are "
               "dropped: earlier processes left more for it than fits into "
               "log memory and into maxspill, %" PRIu64
               " bytes; find out why its target accepts nothing",
               slotPtr->name, nLost, (int) ringPtr->headerPtr->pid, most);
    }
    EndWalk(&walk);
}

static uint64_t
BytesOnDisk(NsRing *const *rings, int n, const char *sink)
{
    uint64_t bytes = 0;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < (int) rings[i]->headerPtr->maxSinks; j++) {
            const NsRingSink *slotPtr = NsRingSinkAt(rings[i], j);

            if (NsRingSinkHasName(slotPtr, sink)) {
                bytes += NsSpillBytesLeft(slotPtr);
            }
        }
    }
    return bytes;
}

static void
BeginWalk(Walk *walkPtr, NsRing *ringPtr, NsRingSink *slotPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);

    *walkPtr = (Walk){.ringPtr = ringPtr, .slotPtr = slotPtr};
    walkPtr->places = ns_calloc(MAX(n, 1), sizeof(NsPlace));
    for (uint32_t i = 0; i < n; i++) {
        NsPlace            *placePtr = &walkPtr->places[i];
        const NsRingCursor *cursorPtr = NsRingCursorOf(ringPtr, i, slotPtr);

        placePtr->lane = i;
        placePtr->segment = NS_RING_NONE;
        if (cursorPtr != NULL
            && NsPlaceOpen(ringPtr, placePtr, atomic_load(&cursorPtr->done))
            && NsPlaceHead(ringPtr, placePtr) != NULL) {
            NsMergeAdd(&walkPtr->merge, placePtr);
        }
    }
}

static void
EndWalk(Walk *walkPtr)
{
    ns_free(walkPtr->places);
    ns_free(walkPtr->scratch);
    NsMergeFree(&walkPtr->merge);
}

/*
 * Earliest first, up to the given number of bytes.  A damaged record and those
 * behind it stay: the reader will report it.  Returns the number of records.
 */
static uint64_t
ToDisk(Walk *walkPtr, uint64_t most)
{
    NsRing     *ringPtr = walkPtr->ringPtr;
    NsRingSink *slotPtr = walkPtr->slotPtr;
    bool        hasFile = atomic_load(&slotPtr->hasSpill) != 0
        && atomic_load(&slotPtr->spillEnd) > 0;
    NsSpill *spillPtr;
    NsPlace *placePtr;
    bool     isOk = true;
    uint64_t n = 0;

    if (NsMergeFirst(&walkPtr->merge) == NULL || most < LEAST_BYTES) {
        return 0;
    }
    spillPtr = hasFile ? NsSpillOpen(ringPtr, slotPtr)
                       : NsSpillCreate(ringPtr, slotPtr);
    if (spillPtr == NULL) {
        return 0;
    }
    if (hasFile) {
        /* Opening it may have moved the cursors. */
        EndWalk(walkPtr);
        BeginWalk(walkPtr, ringPtr, slotPtr);
    }
    most += NsSpillBytes(spillPtr);
    while (isOk && (placePtr = NsMergeFirst(&walkPtr->merge)) != NULL) {
        NsSpillRoom room = NsSpillRoomFor(spillPtr, placePtr->headPtr->total,
                                          most);

        if (room == NS_SPILL_WRITE_FIRST) {
            isOk = Commit(walkPtr, spillPtr);
        } else if (room == NS_SPILL_FULL || !AddFirst(walkPtr, spillPtr)) {
            break;
        } else {
            n++;
            isOk = spillPtr->nOut < NS_SPILL_BLOCK_BYTES
                || Commit(walkPtr, spillPtr);
        }
    }
    isOk = isOk && Commit(walkPtr, spillPtr);
    if (!isOk) {
        walkPtr->merge.n = 0;
    }
    if (NsSpillIsDone(spillPtr)) {
        NsSpillDelete(&spillPtr);
    } else {
        NsSpillClose(&spillPtr);
    }
    return isOk ? n : 0;
}

/*
 * The earliest record; false: it is damaged.
 */
static bool
AddFirst(Walk *walkPtr, NsSpill *spillPtr)
{
    NsRing      *ringPtr = walkPtr->ringPtr;
    NsPlace     *placePtr = NsMergeFirst(&walkPtr->merge);
    NsSpillFrame frame = {.start = NsPlacePosition(placePtr),
                          .record = *placePtr->headPtr};
    const void  *record = NsPlaceBytes(ringPtr, placePtr, true,
                                       &walkPtr->scratch,
                                       &walkPtr->scratchBytes);

    if (record == NULL) {
        return false;
    }
    NsPlaceAdvance(ringPtr, placePtr);
    frame.next = NsPlacePosition(placePtr);
    frame.record.kind = NS_RING_WHOLE;
    frame.record.length = (uint32_t) frame.record.total;
    frame.record.pad = 0;
    NsSpillAdd(spillPtr, &frame, record);
    if (placePtr->headPtr != NULL) {
        NsMergeFirstMoved(&walkPtr->merge);
    } else {
        NsMergeFirstEnded(&walkPtr->merge);
    }
    return true;
}

/*
 * False: the disk does not accept it; the records not written stay in memory.
 */
static bool
Commit(Walk *walkPtr, NsSpill *spillPtr)
{
    uint32_t n = atomic_load(&walkPtr->ringPtr->headerPtr->nLanes);

    if (!NsSpillWrite(spillPtr, false)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        SetCursor(walkPtr, &walkPtr->places[i]);
    }
    return true;
}

/*
 * Discard only records whose streams allow it.  Returns their number.
 */
static uint64_t
GiveUp(Walk *walkPtr)
{
    NsRing  *ringPtr = walkPtr->ringPtr;
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);
    uint64_t n = 0;

    for (uint32_t i = 0; i < nLanes; i++) {
        NsPlace *placePtr = &walkPtr->places[i];

        for (; placePtr->headPtr != NULL && !IsBlocking(ringPtr, i); n++) {
            NsPlaceAdvance(ringPtr, placePtr);
        }
    }
    /* If we are killed here, the next process reports too many. */
    NsRingSetMissing(walkPtr->slotPtr, NsRingMissing(walkPtr->slotPtr) + n);
    for (uint32_t i = 0; i < nLanes; i++) {
        SetCursor(walkPtr, &walkPtr->places[i]);
    }
    return n;
}

static bool
IsBlocking(const NsRing *ringPtr, uint32_t lane)
{
    return atomic_load(&NsRingStreamAt(ringPtr, ringPtr->lanes[lane].stream)
                            ->isBlocking)
        != 0;
}

static void
SetCursor(const Walk *walkPtr, const NsPlace *placePtr)
{
    NsRingCursor *cursorPtr = NsRingCursorOf(walkPtr->ringPtr, placePtr->lane,
                                             walkPtr->slotPtr);
    uint64_t      position = NsPlacePosition(placePtr);

    if (cursorPtr != NULL && placePtr->segment != NS_RING_NONE
        && position > atomic_load(&cursorPtr->done)) {
        atomic_store(&cursorPtr->done, position);
        atomic_store(&cursorPtr->ahead, position);
    }
}
