/* SPDX-License-Identifier: MPL-2.0
 * unspill.c --
 *
 *      Brings what a sink has on disk into its buffer.
 */

#include "log/sink/unspill.h"

#include "base/assert.h"
#include "log/sink/deliver.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinktable.h"
#include "log/sink/spill.h"
#include "nslog.h"

static bool Deliver(Ns_LogSink sink, const NsSpillFrame *framePtr);
static bool DeliverNote(Ns_LogSink sink, const NsSpillFrame *framePtr);
static void SkipDamaged(Ns_LogSink sink);

bool
NsSinkUnspill(Ns_LogSink sink)
{
    const NsSpillFrame *framePtr;

    NsAssertLocked(&sink->lock);
    if (likely(sink->loan->spillPtr == NULL)) {
        return true;
    }
    for (;;) {
        framePtr = NsSpillHead(sink->loan->spillPtr);
        if (framePtr == NULL) {
            if (!NsSpillIsDamaged(sink->loan->spillPtr)) {
                return true;
            }
            SkipDamaged(sink);
        } else if (!(framePtr->record.kind == NS_SPILL_NOTE
                         ? DeliverNote(sink, framePtr)
                         : Deliver(sink, framePtr))) {
            return false;
        }
    }
}

/*
 * The lane's position goes along with the record, for targets that store it.
 * `settled` says which records such a target already has.
 */
static bool
Deliver(Ns_LogSink sink, const NsSpillFrame *framePtr)
{
    const NsRingRecord *recordPtr = &framePtr->record;
    NsSinkLane         *lanePtr = NsSinkLaneAt(sink, recordPtr->lane);
    Ns_LogStream        stream = lanePtr == NULL ? NULL : lanePtr->stream;
    Ns_LogRecord record = {.stream = stream == NULL ? "" : NsStreamName(stream),
                           .severity = recordPtr->severity,
                           .time = recordPtr->time,
                           .bytes = framePtr + 1,
                           .length = recordPtr->length};
    bool         isDelivered;
    bool         isOurs = sink->reader->ringPtr == NsSinkRing();

    NsAssert(!isOurs || lanePtr != NULL);
    if (sink->reader->hasSettled && lanePtr != NULL
        && framePtr->start < lanePtr->settled) {
        NsSpillAdvance(sink->loan->spillPtr, framePtr);
        return true;
    }
    if (NsSpillIsKept(sink->loan->spillPtr, framePtr)) {
        NsSpillAdvance(sink->loan->spillPtr, framePtr);
        return true;
    }
    sink->reader->isJudged = recordPtr->pad == NS_SPILL_JUDGED;
    isDelivered = NsDeliverRecord(sink, stream, &record);
    sink->reader->isJudged = false;
    if (isDelivered) {
        if (!isOurs) {
            atomic_fetch_add(&sink->counts.nRecovered, 1);
            sink->reader->nTaken++;
        }
        if (lanePtr != NULL) {
            NsSinkSetUpTo(sink, lanePtr, framePtr->start + 1);
        }
        NsSpillAdvance(sink->loan->spillPtr, framePtr);
    }
    return isDelivered;
}

static bool
DeliverNote(Ns_LogSink sink, const NsSpillFrame *framePtr)
{
    NsGap gap;

    if (framePtr->record.length == sizeof(gap)) {
        memcpy(&gap, framePtr + 1, sizeof(gap));
        if (!NsDeliverNoteGap(sink, NULL, &gap)) {
            return false;
        }
    }
    NsSpillAdvance(sink->loan->spillPtr, framePtr);
    return true;
}

/*
 * The file was changed, or the disk is faulty.
 */
static void
SkipDamaged(Ns_LogSink sink)
{
    uint64_t n = NsSpillSkipDamaged(sink->loan->spillPtr);

    atomic_fetch_add(&sink->counts.nDamaged, n);
    Ns_Log(Error,
           "log[%s]: '%s' is damaged: %" PRIu64 " records are "
           "lost",
           sink->name, sink->loan->spillPtr->path, n);
}
