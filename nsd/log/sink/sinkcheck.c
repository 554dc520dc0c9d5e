/* SPDX-License-Identifier: MPL-2.0
 * sinkcheck.c --
 *
 *      What holds for a sink whenever no thread works for it; see sinkcheck.h.
 *
 *      One function checks each part, then CheckMember what connects them.
 *      Conditions of constant cost are checked in every build; walks and the
 *      ledger only in debug and sanitizer builds.
 */

#include "log/sink/sinkcheck.h"

#include "base/assert.h"
#include "log/ring/lane.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinktable.h"
#include "log/sink/spill.h"

#ifdef NS_DEBUG
#define WALKS true
#else
#define WALKS false
#endif

static void     CheckBuffer(const NsSinkBuffer *bufferPtr);
static void     CheckFailing(const NsSinkFailing *failingPtr);
static void     CheckTurns(const NsSinkTurns *turnsPtr);
static void     CheckReader(const NsSinkReader *readerPtr);
static void     CheckLoan(const NsSinkLoan *loanPtr);
static void     CheckTarget(const NsSinkTarget *targetPtr);
static void     CheckLimits(const NsSinkLimits   *limitsPtr,
                            const NsSinkSettings *settingsPtr);
static void     CheckMember(Ns_LogSink sink);
static void     CheckMoved(const NsSinkReader *readerPtr);
static void     CheckLedger(Ns_LogSink sink);
static uint64_t CountUnread(Ns_LogSink sink, uint64_t *nHiddenPtr);
static uint64_t CountInLane(Ns_LogSink sink, uint32_t lane, int rank,
                            uint64_t *nHiddenPtr);

void
NsSinkCheckLocked(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    CheckBuffer(sink->buffer);
    CheckFailing(sink->failing);
    CheckTurns(&sink->turns);
    CheckReader(sink->reader);
    CheckLoan(sink->loan);
    CheckTarget(sink->target);
    CheckLimits(&sink->limits, &sink->settings);
    NsAssert(atomic_load(&sink->counts.busySince) == 0);
    /* A short write counts as a failure, and its rest is written first. */
    NsAssert(sink->buffer->nWritten == 0 || sink->failing->reason != 0);
    NsAssert(!sink->target->isReopenDue || sink->typePtr->filePtr != NULL);
    if (NsSinkIsInTable(sink) && !atomic_load(&sink->isRemoved)) {
        CheckMember(sink);
    }
}

/*
 * The bytes in the buffer belong to its lines.
 */
static void
CheckBuffer(const NsSinkBuffer *bufferPtr)
{
    NsAssert(bufferPtr->nWritten <= bufferPtr->nBuffered);
    NsAssert(bufferPtr->nBuffered <= bufferPtr->room);
    NsAssert((bufferPtr->bytes == NULL) == (bufferPtr->room == 0));
    NsAssert(bufferPtr->nLines >= 0);
    NsAssert(bufferPtr->oldest == 0 || bufferPtr->nLines > 0);
    NsAssert((bufferPtr->scratch == NULL) == (bufferPtr->scratchBytes == 0));
    NsAssert((bufferPtr->reduced == NULL) == (bufferPtr->reducedBytes == 0));
}

/*
 * A retry is scheduled only while writing fails.
 */
static void
CheckFailing(const NsSinkFailing *failingPtr)
{
    NsAssert((failingPtr->reason == 0)
             == (atomic_load(&failingPtr->since) == 0));
    NsAssert(failingPtr->reason != 0 || failingPtr->retryAt == 0);
    NsAssert(failingPtr->reason == 0 || failingPtr->retryNanos > 0);
}

/*
 * No more turns are served than were asked for.
 */
static void
CheckTurns(const NsSinkTurns *turnsPtr)
{
    uint64_t nServed = atomic_load(&turnsPtr->nServed);

    NsAssert(nServed <= atomic_load(&turnsPtr->nComers));
    NsAssert(atomic_load(&turnsPtr->nKept) >= 0);
}

static void
CheckReader(const NsSinkReader *readerPtr)
{
    NsAssert((readerPtr->ringPtr == NULL) == (readerPtr->slotPtr == NULL));
    NsAssert(readerPtr->nLanes <= readerPtr->roomLanes);
    NsAssert((readerPtr->lanes == NULL) == (readerPtr->roomLanes == 0));
    NsAssert(readerPtr->firstMoved == NULL || readerPtr->nLanes > 0);
    NsAssert(readerPtr->merge.n >= 0
             && readerPtr->merge.n <= readerPtr->merge.max);
    /* No record is being delivered. */
    NsAssert(!readerPtr->isInLane && !readerPtr->isJudged);
    if (WALKS) {
        CheckMoved(readerPtr);
    }
}

/*
 * The places are taken back, and the keeper's changes are applied.
 */
static void
CheckLoan(const NsSinkLoan *loanPtr)
{
    NsAssert(!loanPtr->isLent && !loanPtr->hasFloors);
    if (loanPtr->spillPtr != NULL) {
        NsSpillCheck(loanPtr->spillPtr);
    }
}

static void
CheckTarget(const NsSinkTarget *targetPtr)
{
    NsAssert(targetPtr->fd >= -1);
    NsAssert(targetPtr->leftReason >= 0);
    NsAssert(targetPtr->rotateAfter >= 0);
    NsAssert(targetPtr->nextRoll >= 0 && targetPtr->retainDue >= 0);
}

/*
 * The copies match the settings. maxMemory and maxSpill are not compared: they
 * are set before the request to change them is carried out.
 */
static void
CheckLimits(const NsSinkLimits *limitsPtr, const NsSinkSettings *settingsPtr)
{
    NsAssert(atomic_load(&limitsPtr->turnLines) == settingsPtr->bufferLines);
    NsAssert(atomic_load(&limitsPtr->wakeBytes) == settingsPtr->bufferBytes);
    NsAssert(settingsPtr->version > 0);
    NsAssert(settingsPtr->bufferLines >= 0 && settingsPtr->bufferNanos >= 0);
    NsAssert(settingsPtr->rollHour >= -1 && settingsPtr->rollHour < 24);
    NsAssert(settingsPtr->rollSeconds >= 0 && settingsPtr->maxAge >= 0);
}

/*
 * For a sink in the table, which reads the present mapping.  A sink that works
 * for another one may also hold records that the file already has; see
 * settle.c.
 */
static void
CheckMember(Ns_LogSink sink)
{
    const NsSinkBuffer *bufferPtr = sink->buffer;
    const NsRing       *ringPtr = NsSinkRing();

    NsAssert(sink->reader->ringPtr == NULL || sink->reader->ringPtr == ringPtr);
    NsAssert(sink->reader->slotPtr == NULL
             || sink->reader->slotPtr
                 == &sink->reader->ringPtr->sinks[sink->index]);
    NsAssert(bufferPtr->nRecords <= (uint64_t) bufferPtr->nLines);
    NsAssert(bufferPtr->nBuffered == 0 || bufferPtr->nLines > 0);
    NsAssert(sink->loan->nAtRisk <= bufferPtr->nRecords);
    NsAssert(atomic_load(&sink->turns.nKept) <= bufferPtr->nLines);
    NsAssert(sink->loan->spillPtr != NULL
             || (atomic_load(&sink->counts.nSpilled) == 0
                 && atomic_load(&sink->counts.spilledBytes) == 0));
    if (WALKS) {
        CheckLedger(sink);
    }
}

/*
 * Each lane that was read since the last write is listed exactly once.
 */
static void
CheckMoved(const NsSinkReader *readerPtr)
{
    uint32_t n = 0;

    for (const NsSinkLane *lanePtr = readerPtr->firstMoved; lanePtr != NULL;
         lanePtr = lanePtr->nextMovedPtr) {
        NsCheck(lanePtr->place.isMoved);
        NsCheck(n < readerPtr->nLanes);
        n++;
    }
    for (uint32_t i = 0; i < readerPtr->nLanes; i++) {
        n -= readerPtr->lanes[i]->place.isMoved;
        NsCheck(NsSinkLaneOf(&readerPtr->lanes[i]->place)
                == readerPtr->lanes[i]);
    }
    NsCheck(n == 0);
}

/*
 * Records counted where they wait must match `pending` in the ledger.  Threads
 * keep logging meanwhile, so the ledger is read before and after the count.  A
 * record also has its number a moment before it can be seen.
 */
static void
CheckLedger(Ns_LogSink sink)
{
    NsSinkStats before, after;
    uint64_t    n, nHidden = 0;

    NsSinkGetStats(sink, &before);
    n = sink->buffer->nRecords + atomic_load(&sink->counts.nClaimed)
        + CountUnread(sink, &nHidden);
    if (sink->loan->spillPtr != NULL) {
        n += NsSpillUnread(sink->loan->spillPtr);
    }
    NsSinkGetStats(sink, &after);
    NsCheck(before.accepted
            == before.delivered + before.ignored + before.droppedMemory
                + before.droppedFailed + before.droppedDamaged
                + before.droppedRejected + before.pending);
    NsCheck(n + nHidden >= before.pending);
    NsCheck(n <= after.pending);
}

/*
 * Records that the sink has not passed in the lanes of the present mapping.
 */
static uint64_t
CountUnread(Ns_LogSink sink, uint64_t *nHiddenPtr)
{
    const NsRing       *ringPtr = sink->reader->ringPtr;
    const NsSinkStream *streamPtr = atomic_load(&sink->firstStream);
    uint64_t            n = 0;

    for (; streamPtr != NULL && ringPtr != NULL;
         streamPtr = atomic_load(&streamPtr->nextPtr)) {
        int      rank = atomic_load(&streamPtr->rank);
        uint32_t lane = rank < 0
            ? NS_RING_NONE
            : NsRingNewestLane(ringPtr, (uint32_t) streamPtr->index);

        for (; lane != NS_RING_NONE; lane = NsRingOlderLane(ringPtr, lane)) {
            n += CountInLane(sink, lane, rank, nHiddenPtr);
        }
    }
    return n;
}

/*
 * Count from the record at the sink's place; in a lane that it has not read,
 * from where it began.
 */
static uint64_t
CountInLane(Ns_LogSink sink, uint32_t lane, int rank, uint64_t *nHiddenPtr)
{
    const NsRing     *ringPtr = sink->reader->ringPtr;
    const NsSinkLane *lanePtr = NsSinkLaneAt(sink, lane);
    uint64_t begin = atomic_load(&NsRingCursorAt(ringPtr, lane, rank)->begin);
    NsPlace  place;

    if (begin == NS_PLACE_UNKNOWN) {
        return 0;
    }
    if (lanePtr == NULL || lanePtr->place.segment == NS_RING_NONE) {
        return NsLaneSequence(lane) - begin;
    }
    place = lanePtr->place;
    if (NsPlaceHead(ringPtr, &place) == NULL) {
        (*nHiddenPtr)++;
        return 0;
    }
    return NsLaneSequence(lane) - place.headPtr->sequence;
}

void
NsSinkCheckSleepLocked(Ns_LogSink sink)
{
    const NsSinkSleep *sleepPtr = &sink->sleep;
    int                state = atomic_load(&sleepPtr->state);

    NsAssertLocked(&sleepPtr->lock);
    NsAssert(state >= NS_SINK_RUNNING && state <= NS_SINK_CALLERS);
    /*
     * A worker wakes a sleeping sink; if none serves it, the threads that log
     * do.
     */
    NsAssert(state == NS_SINK_RUNNING
             || (state == NS_SINK_CALLERS) == !sleepPtr->isServed);
    NsAssert(sleepPtr->firstOp == NULL
             || (sleepPtr->lastOp != NULL && sleepPtr->lastOp->nextPtr == NULL
                 && sleepPtr->firstOp->time <= sleepPtr->lastOp->time));
}
