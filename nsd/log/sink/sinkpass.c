/* SPDX-License-Identifier: MPL-2.0
 * sinkpass.c --
 *
 *      A pass: records from the sink's lanes, merged by time, go into its
 *      buffer, and requests are carried out between records.
 */

#include "log/sink/sinkpass.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/ring/lane.h"
#include "log/sink/bound.h"
#include "log/sink/deliver.h"
#include "log/sink/flush.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkspill.h"
#include "log/sink/sinkwake.h"
#include "log/sink/unspill.h"

#ifdef NS_DEBUG
#define CHECKS_RECORDS true
#else
#define CHECKS_RECORDS false
#endif

static void    Gather(Ns_LogSink sink, bool isReading, int64_t cutoff);
static void    TellGap(Ns_LogSink sink);
static void    GatherHeads(Ns_LogSink sink, int64_t cutoff);
static bool    IsLater(const NsPlace *placePtr, int64_t cutoff);
static int64_t RunUntil(Ns_LogSink sink, const NsSinkOp *opPtr, int64_t cutoff);
static bool    DeliverRun(Ns_LogSink sink, NsPlace *placePtr, int64_t until);
static void    RunOp(Ns_LogSink sink, NsSinkOp *opPtr, NsSinkOp **goalsPtr);
static void    ReachGoals(Ns_LogSink sink, NsSinkOp *goals);
static void    NoteDrops(Ns_LogSink sink);

void
NsSinkPass(Ns_LogSink sink, int64_t time)
{
    uint64_t  nComers = atomic_load(&sink->turns.nComers);
    int64_t   now = NsLogClock(), cutoff = MAX(now, time);
    NsSinkOp *opPtr = NsSinkTakeOps(sink, cutoff), *goals = NULL;
    NsPlace  *placePtr = NULL;
    bool      isReading;

    NsAssertLocked(&sink->lock);
    NsAssert(nComers >= atomic_load(&sink->turns.nServed));
    if (sink->typePtr->filePtr != NULL) {
        sink->typePtr->filePtr->tendProc(sink);
    }
    isReading = (sink->failing->reason == 0 && sink->claims == NULL)
        || NsDeliverFlush(sink);
    Gather(sink, isReading, cutoff);
    for (;;) {
        if (sink->reader->hasSkipped) {
            Gather(sink, sink->failing->reason == 0 && sink->claims == NULL,
                   cutoff);
        }
        placePtr = NsMergeFirst(&sink->reader->merge);
        if (opPtr != NULL
            && (placePtr == NULL || opPtr->time < placePtr->headPtr->time)) {
            NsSinkOp *nextPtr = opPtr->nextPtr;

            RunOp(sink, opPtr, &goals);
            opPtr = nextPtr;
        } else if (placePtr == NULL) {
            break;
        } else if (!DeliverRun(sink, placePtr, RunUntil(sink, opPtr, cutoff))) {
            sink->reader->merge.n = 0;
        } else if (placePtr->headPtr != NULL && !IsLater(placePtr, cutoff)) {
            NsMergeFirstMoved(&sink->reader->merge);
        } else {
            NsMergeFirstEnded(&sink->reader->merge);
        }
    }

    NoteDrops(sink);
    sink->turns.servedUntil = cutoff;
    atomic_store(&sink->turns.nKept, sink->buffer->nLines);
    atomic_store(&sink->turns.nServed, nComers);
    ReachGoals(sink, goals);
    if (sink->failing->reason != 0 && sink->reader->slotPtr != NULL
        && NsLaneIsFull()) {
        /* Other sinks need the memory more. */
        NsBoundRelieve(sink);
    }
}

/*
 * Start reading: first what is on disk, then the lanes.
 */
static void
Gather(Ns_LogSink sink, bool isReading, int64_t cutoff)
{
    NsAssert(!sink->reader->isInLane && !sink->reader->isJudged);
    sink->reader->hasSkipped = false;
    sink->reader->merge.n = 0;
    isReading = isReading && NsSinkUnspill(sink);
    if (isReading && !sink->reader->hasSkipped) {
        TellGap(sink);
    }
    if (isReading && !sink->reader->hasSkipped) {
        NsSinkForgetUpTo(sink);
        GatherHeads(sink, cutoff);
    }
}

/*
 * If the sink can write, note in the log how many records were discarded since
 * the last note.
 */
static void
TellGap(Ns_LogSink sink)
{
    NsGap gap = sink->loan->gap;

    NsAssertLocked(&sink->lock);
    if (gap.n == 0 || sink->failing->reason != 0 || sink->claims != NULL
        || NsSinkHasSpilled(sink)) {
        return;
    }
    /* Another gap may begin while the note is written. */
    sink->loan->gap = (NsGap){0};
    if (NsDeliverNoteGap(sink, NULL, &gap)) {
        sink->loan->nToldLost += gap.n;
    } else {
        gap.n += sink->loan->gap.n;
        gap.last = MAX(gap.last, sink->loan->gap.last);
        sink->loan->gap = gap;
    }
}

bool
NsSinkHasWork(Ns_LogSink sink)
{
    int64_t cutoff = NsLogClock();

    NsAssertLocked(&sink->lock);
    if (atomic_load(&sink->target->asked) != NS_ASK_NOTHING) {
        return true;
    }
    if (sink->reader->ringPtr == NULL) {
        return false;
    }
    if (NsSinkHasSpilled(sink)) {
        return true;
    }
    sink->reader->merge.n = 0;
    GatherHeads(sink, cutoff);
    return sink->reader->merge.n > 0;
}

int64_t
NsSinkFirstTime(Ns_LogSink sink)
{
    const NsSpillFrame *framePtr = NULL;
    const NsPlace      *placePtr;

    NsAssertLocked(&sink->lock);
    if (sink->buffer->oldest != 0) {
        return sink->buffer->oldest;
    }
    if (sink->reader->ringPtr == NULL || sink->target->isClosed) {
        return 0;
    }
    if (sink->loan->spillPtr != NULL) {
        framePtr = NsSpillHead(sink->loan->spillPtr);
    }
    if (framePtr != NULL) {
        return framePtr->record.time;
    }
    sink->reader->merge.n = 0;
    GatherHeads(sink, INT64_MAX - NS_STAMP_SECOND);
    placePtr = NsMergeFirst(&sink->reader->merge);
    return placePtr == NULL ? 0 : placePtr->headPtr->time;
}

/*
 * Look at all lanes of the sink's streams.  Records later than the cutoff wait
 * for the next pass: an earlier record may have appeared in another lane after
 * we looked there.
 */
static void
GatherHeads(Ns_LogSink sink, int64_t cutoff)
{
    NsRing *ringPtr = sink->reader->ringPtr;

    if (ringPtr == NULL) {
        return;
    }
    NsSinkMeetLanes(sink);
    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        NsPlace *placePtr = &sink->reader->lanes[i]->place;

        if (unlikely(placePtr->segment == NS_RING_NONE)) {
            NsLaneLockChains();
            NsPlaceOpen(ringPtr, placePtr,
                        atomic_load(&sink->reader->lanes[i]->cursorPtr->done));
            NsLaneUnlockChains();
        }
        if (NsPlaceHead(ringPtr, placePtr) != NULL
            && !IsLater(placePtr, cutoff)) {
            NsMergeAdd(&sink->reader->merge, placePtr);
        }
    }
}

/*
 * A time far ahead means that the clock was set back.  Such records are not
 * made to wait.
 */
static bool
IsLater(const NsPlace *placePtr, int64_t cutoff)
{
    int64_t ahead = placePtr->headPtr->time - cutoff;

    return ahead > 0 && ahead < NS_STAMP_SECOND;
}

/*
 * The time up to which records of the first place precede all other places and
 * the next request.
 */
static int64_t
RunUntil(Ns_LogSink sink, const NsSinkOp *opPtr, int64_t cutoff)
{
    int64_t until = MIN(cutoff, NsMergeSecondTime(&sink->reader->merge) - 1);

    return opPtr == NULL ? until : MIN(until, opPtr->time);
}

/*
 * Deliver the record at the place and those after it, up to the given time.
 * False: there is no room, and the record at the place is not delivered.
 */
static bool
DeliverRun(Ns_LogSink sink, NsPlace *placePtr, int64_t until)
{
    const NsRing *ringPtr = sink->reader->ringPtr;
    NsSinkLane   *lanePtr = NsSinkLaneOf(placePtr);
    Ns_LogStream  stream = lanePtr->stream;
    Ns_LogRecord  record = {.stream = NsStreamName(stream)};

    NsAssert(placePtr->headPtr != NULL && stream != NULL);
    NsSinkNoteBegin(lanePtr, placePtr->headPtr);
    do {
        const NsRingRecord *headPtr = placePtr->headPtr;

        record.severity = headPtr->severity;
        record.time = headPtr->time;
        record.length = headPtr->total;
        record.bytes = NsPlaceBytes(ringPtr, placePtr, CHECKS_RECORDS,
                                    &sink->buffer->scratch,
                                    &sink->buffer->scratchBytes);
        if (unlikely(record.bytes == NULL)) {
            atomic_fetch_add(&sink->counts.nDamaged, 1);
        } else {
            bool isDelivered;

            sink->reader->isInLane = true;
            isDelivered = NsDeliverRecord(sink, stream, &record);
            sink->reader->isInLane = false;
            if (!isDelivered) {
                return false;
            }
        }
        /*
         * Only now: if the record caused a flush, that has cleared the list of
         * moved lanes.
         */
        NsSinkNoteMoved(sink, lanePtr);
        NsPlaceAdvance(ringPtr, placePtr);
    } while (placePtr->headPtr != NULL && placePtr->headPtr->time <= until);
    return true;
}

static void
RunOp(Ns_LogSink sink, NsSinkOp *opPtr, NsSinkOp **goalsPtr)
{
    opPtr->status = NS_OK;
    if (atomic_load(&sink->isRemoved)) {
        /* It was removed after its caller found it. */
        opPtr->status = NS_ERROR;
        opPtr->reason = ENOENT;
    } else if (opPtr->proc != NULL) {
        errno = 0;
        opPtr->status = opPtr->proc(sink, opPtr->arg);
        opPtr->reason = errno;
    }
    if (opPtr->goal == NS_OP_PLAIN || opPtr->status != NS_OK) {
        NsSinkOpDone(sink, opPtr);
    } else {
        opPtr->nextPtr = *goalsPtr;
        *goalsPtr = opPtr;
    }
}

/*
 * One write and one sync serve all waiting requests.
 */
static void
ReachGoals(Ns_LogSink sink, NsSinkOp *goals)
{
    bool isWritten, isSynced = true;
    int  reason = 0;

    if (goals == NULL) {
        return;
    }
    for (NsSinkOp *opPtr = goals; opPtr != NULL; opPtr = opPtr->nextPtr) {
        if (opPtr->goal == NS_OP_SYNC) {
            sink->target->lookDue = 0; /* Check the file's name first, so as not
                                        * to sync a file that is gone. */
        }
    }
    isWritten = NsDeliverFlush(sink);
    if (!isWritten) {
        reason = sink->failing->reason;
    }
    for (NsSinkOp *opPtr = goals; opPtr != NULL; opPtr = opPtr->nextPtr) {
        if (isWritten && opPtr->goal == NS_OP_SYNC) {
            isSynced = NsDeliverSync(sink);
            reason = isSynced ? 0 : errno;
            break;
        }
    }
    while (goals != NULL) {
        NsSinkOp *opPtr = goals;

        goals = opPtr->nextPtr;
        if (!isWritten || (opPtr->goal == NS_OP_SYNC && !isSynced)) {
            opPtr->status = NS_ERROR;
            opPtr->reason = reason;
        }
        NsSinkOpDone(sink, opPtr);
    }
}

/*
 * Note in the log how many records of each stream are missing.
 */
static void
NoteDrops(Ns_LogSink sink)
{
    NsSinkStream *streamPtr = atomic_load(&sink->firstStream);

    for (; streamPtr != NULL; streamPtr = atomic_load(&streamPtr->nextPtr)) {
        Ns_LogStream  stream = NsStreamAt(streamPtr->index);
        NsStreamDrops drops;
        uint64_t      n;

        NsStreamGetDrops(stream, &drops);
        NsAssert(drops.n >= streamPtr->seenDrops);
        n = drops.n - streamPtr->seenDrops;
        if (n == 0 || sink->failing->reason != 0 || NsSinkHasSpilled(sink)
            || (NsLaneIsFull()
                && drops.last - streamPtr->seenDropTime < NS_STAMP_SECOND)) {
            continue;
        }
        (void) NsDeliverNoteGap(sink, stream,
                                &(NsGap){.n = n,
                                         .first = MAX(drops.first,
                                                      streamPtr->seenDropTime),
                                         .last = drops.last});
        streamPtr->seenDrops = drops.n;
        streamPtr->seenDropTime = drops.last;
    }
}
