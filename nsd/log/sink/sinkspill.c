/* SPDX-License-Identifier: MPL-2.0
 * sinkspill.c --
 *
 *      What a sink has on disk: how its spill file begins and ends. bound.c
 *      decides what goes there.
 */

#include "log/sink/sinkspill.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/spill.h"
#include "log/sink/spillhead.h"
#include "log/stream/knownstream.h"
#include "nslog.h"
#include "nsthread.h"

static bool            KeepOthers(Ns_LogSink sink);
static NsSpillKeepProc IsKept;

bool
NsSinkBeginSpill(Ns_LogSink sink)
{
    NsSinkAssertMine(sink);
    if (atomic_load(&sink->limits.maxSpill) == 0) {
        return false;
    }
    if (sink->loan->spillPtr == NULL) {
        sink->loan->spillPtr = NsSpillCreate(sink->reader->ringPtr,
                                             sink->reader->slotPtr);
        if (sink->loan->spillPtr == NULL) {
            atomic_store(&sink->counts.spillFailure, errno);
            return false;
        }
        atomic_store(&sink->counts.spillSince, NsLogClock());
    }
    return true;
}

bool
NsSinkHasSpilled(Ns_LogSink sink)
{
    return sink->loan->spillPtr != NULL
        && sink->loan->spillPtr->read != sink->loan->spillPtr->end;
}

void
NsSinkSpillNoteSlot(Ns_LogSink sink)
{
    if (unlikely(sink->loan->spillPtr != NULL)) {
        NsSpillHeadNoteSlot(sink->loan->spillPtr->fd, sink->reader->ringPtr,
                            sink->reader->slotPtr);
    }
}

void
NsSinkSpillWritten(Ns_LogSink sink)
{
    if (unlikely(sink->loan->spillPtr != NULL)) {
        NsSpillNoteDone(sink->loan->spillPtr);
        NsSinkNoteSpill(sink);
    }
}

void
NsSinkEndSpill(Ns_LogSink sink)
{
    int64_t since = atomic_load(&sink->counts.spillSince);

    NsAssertLocked(&sink->lock);
    if (likely(sink->loan->spillPtr == NULL)
        || !NsSpillIsDone(sink->loan->spillPtr)) {
        return;
    }
    NsSpillDelete(&sink->loan->spillPtr);
    NsSinkNoteSpill(sink);
    if (since != 0) {
        Ns_Log(
            Notice,
            "log[%s]: the sink has caught up after %.3f seconds: the records "
            "on disk have been written to '%s'",
            sink->name, (double) (NsLogClock() - since) / 1e9,
            NsSinkFile(sink));
    }
}

void
NsSinkDropSpill(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    if (sink->loan->spillPtr != NULL) {
        NsSpillDelete(&sink->loan->spillPtr);
        NsSinkNoteSpill(sink);
    }
}

bool
NsSinkTakeSpill(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    NsAssertLocked(&sink->lock);
    NsAssert(sink->loan->spillPtr == NULL);
    if (atomic_load(&slotPtr->hasSpill) == 0) {
        return true;
    }
    if (atomic_load(&slotPtr->spillEnd) == 0) {
        NsSpillDeleteOf(ringPtr, slotPtr);
        return true;
    }
    sink->loan->spillPtr = NsSpillOpen(ringPtr, slotPtr);
    if (sink->loan->spillPtr != NULL) {
        return KeepOthers(sink);
    }
    if (errno == ENOENT) {
        Ns_Log(Error,
               "log[%s]: the records that process %d left on disk for it have "
               "disappeared from '%s'",
               sink->name, (int) ringPtr->headerPtr->pid,
               ringPtr->headerPtr->spillDirectory);
        NsSpillDeleteOf(ringPtr, slotPtr);
        return true;
    }
    return false;
}

/*
 * Records of streams that no module has made cannot be formatted.  They must
 * not hold up those that can.
 */
static bool
KeepOthers(Ns_LogSink sink)
{
    bool hasOthers,
        isOk = NsSpillKeep(sink->loan->spillPtr, IsKept, &hasOthers);

    if (!isOk || !hasOthers) {
        int reason = errno;

        NsSpillClose(&sink->loan->spillPtr);
        errno = reason;
    }
    return isOk;
}

static bool
IsKept(const NsRing *ringPtr, uint32_t lane)
{
    return NsStreamOfLeftover(NsRingStreamOf(ringPtr, lane)) == NULL;
}

void
NsSinkNoteSpill(Ns_LogSink sink)
{
    const NsSpill *spillPtr = sink->loan->spillPtr;

    if (spillPtr == NULL) {
        atomic_store(&sink->counts.nSpilled, 0);
        atomic_store(&sink->counts.spilledBytes, 0);
        atomic_store(&sink->counts.spillSince, 0);
        atomic_store(&sink->counts.spillFailure, 0);
    } else {
        atomic_store(&sink->counts.nSpilled, NsSpillUnread(spillPtr));
        atomic_store(&sink->counts.spilledBytes,
                     NsSpillBytesLeft(spillPtr->slotPtr));
    }
}
