/* SPDX-License-Identifier: MPL-2.0
 * flush.c --
 *
 *      How a sink's buffer gets to its target.
 *
 *      A write changes three things: the file, the cursors in the mapping, and
 *      the counters.  In case the process dies in between, the mapping says
 *      before each write where it goes, how long it is, and where the cursors
 *      will be afterwards; settle.c uses that.
 *
 *      When writing fails, the buffer stays as it is and the write is retried.
 *      Nothing is read from the lanes meanwhile: the records wait there until
 *      the sink is over its bound; see bound.c.
 */

#include "log/sink/flush.h"

#include "base/assert.h"
#include "log/sink/bound.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkfd.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkspill.h"
#include "log/sink/sinktable.h"
#include "log/stream/system.h"
#include "nslog.h"

/* Between retries: at first, and for a database after many. */
#define RETRY_NANOS     INT64_C(250000000)
#define MAX_RETRY_NANOS INT64_C(2000000000)
#define REPORT_NANOS    INT64_C(60000000000)

static bool        MayTry(Ns_LogSink sink);
static bool        WriteOut(Ns_LogSink sink);
static void        NoteReturn(Ns_LogSink sink, bool isOk);
static bool        WriteAll(Ns_LogSink sink, int64_t start);
static void        NoteIntent(Ns_LogSink sink);
static void        CommitCursors(Ns_LogSink sink);
static void        NoteUnsafe(Ns_LogSink sink, int reason);
static void        TellReason(Ns_LogSink sink, int reason, const char *what);
static bool        IsOtherReason(Ns_LogSink sink, int reason);
static const char *ReasonText(Ns_LogSink sink, int reason);
static void        CountDelivered(Ns_LogSink sink);

bool
NsFlushOut(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    if (sink->claims != NULL) {
        /* What an earlier process left is written first. */
        errno = sink->failing->reason != 0 ? sink->failing->reason : EAGAIN;
        return false;
    }
    if (!MayTry(sink)) {
        errno = sink->failing->reason;
        return false;
    }
    if (sink->buffer->nBuffered > 0) {
        if (sink->buffer->nWritten == 0) {
            if (sink->typePtr->filePtr != NULL) {
                sink->typePtr->filePtr->lookProc(sink);
            }
            NoteIntent(sink);
        }
        if (!WriteOut(sink)) {
            return false;
        }
    } else {
        sink->buffer->lastFlush = NsLogClock();
    }
    NsAssert(sink->buffer->nWritten == sink->buffer->nBuffered);
    CommitCursors(sink);
    NsAssert(sink->reader->firstMoved == NULL);
    CountDelivered(sink);
    sink->buffer->nBuffered = sink->buffer->nWritten = 0;
    sink->buffer->previousWritten = sink->buffer->previous;
    sink->buffer->uncounted = NULL;
    sink->buffer->nLines = 0;
    atomic_store(&sink->turns.nKept, 0);
    sink->buffer->nRecords = 0;
    sink->buffer->oldest = 0;
    atomic_store(&sink->counts.bufferedSince, 0);
    sink->buffer->isUrgent = false;
    NsSinkFdReopenIfDue(sink);
    return true;
}

/*
 * A shutdown does not wait for a remote server again and again.
 */
static bool
MayTry(Ns_LogSink sink)
{
    return sink->failing->reason == 0
        || (NsSinkIsDue(sink->failing->retryAt, sink->failing->retryNanos)
            && !(sink->typePtr->isRemote
                 && atomic_load(&sink->sleep.mustStop)));
}

static bool
WriteOut(Ns_LogSink sink)
{
    int64_t start = NsLogClock(), span;
    bool    isWritten;

    NsAssert(sink->buffer->nBuffered > 0 && !sink->loan->isLent);
    NsBoundLend(sink);
    isWritten = WriteAll(sink, start);
    NsBoundTakeBack(sink);
    NoteReturn(sink, isWritten);
    if (!isWritten) {
        NsDeliverFailed(sink, errno);
        return false;
    }
    atomic_fetch_add(&sink->counts.nWrites, 1);
    sink->buffer->lastFlush = NsLogClock();
    span = sink->buffer->lastFlush - start;
    atomic_fetch_add(&sink->counts.writeNanos, MAX(span, 0));
    if (span > atomic_load(&sink->counts.longestWrite)) {
        atomic_store(&sink->counts.longestWrite, span);
    }
    if (sink->settings.sync == NS_SYNC_BATCH) {
        (void) NsDeliverSync(sink);
    } else if (sink->settings.sync == NS_SYNC_TIME
               && sink->buffer->syncDue == 0) {
        sink->buffer->syncDue = start + sink->settings.syncNanos;
    }
    return true;
}

/*
 * Report the end of a stall that was reported, unless it ended with a failure.
 */
static void
NoteReturn(Ns_LogSink sink, bool isOk)
{
    int     reason = errno;
    int64_t told;

    atomic_store(&sink->counts.busySince, 0);
    told = atomic_exchange(&sink->counts.stallTold, 0);
    if (unlikely(told != 0) && isOk) {
        Ns_Log(Notice,
               "log[%s]: '%s' takes lines again, after %.3f "
               "seconds",
               sink->name, NsSinkFile(sink),
               (double) (NsLogClock() - told) / 1e9);
    }
    errno = reason;
}

/*
 * A target that accepts something now and then is not stalled.  False: errno
 * says why.
 */
static bool
WriteAll(Ns_LogSink sink, int64_t start)
{
    while (sink->buffer->nWritten < sink->buffer->nBuffered) {
        ssize_t n;

        atomic_store(&sink->counts.busySince,
                     start != 0 ? start : NsLogClock());
        start = 0;
        n = sink->typePtr
                ->writeProc(sink, sink->buffer->bytes + sink->buffer->nWritten,
                            sink->buffer->nBuffered - sink->buffer->nWritten);

        NsAssert(n <= (ssize_t) (sink->buffer->nBuffered
                                 - sink->buffer->nWritten));
        if (n > 0) {
            sink->buffer->nWritten += (size_t) n;
            sink->target->fileBytes += (uint64_t) n;
            atomic_fetch_add(&sink->counts.nBytes, (uint64_t) n);
        } else if (n == 0 || errno != EINTR) {
            errno = n == 0 ? EIO : errno;
            return false;
        }
    }
    return sink->typePtr->confirmProc == NULL
        || sink->typePtr->confirmProc(sink);
}

static void
NoteIntent(Ns_LogSink sink)
{
    NsRingSink *slotPtr = sink->reader->slotPtr;
    uint64_t    offset, inode;

    NsAssert(sink->buffer->nWritten == 0);
    if (slotPtr == NULL || sink->typePtr->whereProc == NULL
        || !sink->typePtr->whereProc(sink, &offset, &inode)) {
        return;
    }
    if (atomic_load(&slotPtr->intent) == NS_RING_WRITING
        && slotPtr->inode == inode) {
        /* An earlier process began this write; see settle.c. */
        offset = MIN(offset, slotPtr->offset);
    }
    slotPtr->offset = offset;
    slotPtr->inode = inode;
    slotPtr->previous = sink->buffer->previousWritten;
    for (const NsSinkLane *lanePtr = sink->reader->firstMoved; lanePtr != NULL;
         lanePtr = lanePtr->nextMovedPtr) {
        atomic_store_explicit(&lanePtr->cursorPtr->ahead,
                              NsPlacePosition(&lanePtr->place),
                              memory_order_relaxed);
    }
    slotPtr->spillAhead = sink->loan->spillPtr == NULL
        ? 0
        : sink->loan->spillPtr->read;
    slotPtr->length = sink->buffer->nBuffered;
    slotPtr->checksum = (uint32_t)
        NsRingSumOfEnds(sink->buffer->bytes,
                        sink->buffer->bytes + sink->buffer->nBuffered
                            - MIN(sink->buffer->nBuffered, NS_RING_END),
                        sink->buffer->nBuffered);
    atomic_store_explicit(&slotPtr->intent, NS_RING_WRITING,
                          memory_order_release);
    NsSinkSpillNoteSlot(sink);
}

/*
 * All that was read is written: move the cursors, and free what no other sink
 * needs.
 */
static void
CommitCursors(Ns_LogSink sink)
{
    NsRingSink *slotPtr = sink->reader->slotPtr;

    if (slotPtr == NULL) {
        return;
    }
    if (atomic_load(&slotPtr->intent) == NS_RING_WRITING) {
        atomic_store_explicit(&slotPtr->intent, NS_RING_WRITTEN,
                              memory_order_release);
    }
    for (NsSinkLane *lanePtr = sink->reader->firstMoved; lanePtr != NULL;
         lanePtr = lanePtr->nextMovedPtr) {
        NsRingCursor *cursorPtr = lanePtr->cursorPtr;
        uint64_t      old = atomic_load(&cursorPtr->done);
        uint64_t new = NsPlacePosition(&lanePtr->place);

        NsAssert(lanePtr->place.isMoved);
        new = MAX(new, old);
        lanePtr->place.isMoved = false;
        atomic_store(&cursorPtr->done, new);
        atomic_store(&cursorPtr->ahead, new);
        if (NsRingNumberOf(old) != NsRingNumberOf(new)
            && sink->reader->ringPtr == NsSinkRing()) {
            NsSinkFreeLane(sink->reader->ringPtr, lanePtr->place.lane);
        }
    }
    NsSinkSpillWritten(sink);
    atomic_store_explicit(&slotPtr->intent, NS_RING_IDLE, memory_order_release);
    NsSinkForgetUpTo(sink);
    NsSinkEndSpill(sink);
    NsRingSetMissing(slotPtr, sink->loan->gap.n);
    sink->reader->firstMoved = NULL;
    sink->loan->nToldLost = 0;
    sink->loan->nAtRisk = 0;
}

bool
NsDeliverSync(Ns_LogSink sink)
{
    bool isOk;
    int  reason;

    NsAssertLocked(&sink->lock);
    sink->buffer->syncDue = 0;
    if (sink->target->isClosed) {
        errno = EBADF;
        return false;
    }
    if (sink->typePtr->syncProc == NULL) {
        /* For a database, what is written is committed. */
        errno = ENOTSUP;
        return sink->typePtr->isDatabase;
    }
    atomic_fetch_add(&sink->counts.nSyncs, 1);
    atomic_store(&sink->counts.busySince, NsLogClock());
    NsBoundLend(sink);
    isOk = sink->typePtr->syncProc(sink);
    reason = errno;
    NsBoundTakeBack(sink);
    NoteReturn(sink, isOk);
    if (!isOk) {
        NoteUnsafe(sink, reason);
    }
    sink->target->isSyncFailing = !isOk;
    errno = reason;
    return isOk;
}

/*
 * Report a failing sync once, when it begins.
 */
static void
NoteUnsafe(Ns_LogSink sink, int reason)
{
    atomic_fetch_add(&sink->counts.nErrors, 1);
    if (!sink->target->isSyncFailing) {
        Ns_Log(Error,
               "log[%s]: sync of '%s' failed: '%s'; what was "
               "written may be lost when the machine loses power",
               sink->name, NsSinkFile(sink), strerror(reason));
    }
}

void
NsDeliverComplain(Ns_LogSink sink, const char *complaint)
{
    int reason = errno;

    /* While a sink is made nobody else knows it, and it is not locked. */
    snprintf(sink->failing->complaint, sizeof(sink->failing->complaint), "%s",
             complaint);
    errno = reason;
}

/*
 * Report when the episode begins, and when it goes on for another reason.
 */
void
NsDeliverFailed(Ns_LogSink sink, int reason)
{
    NsAssertLocked(&sink->lock);
    NsAssert(reason != 0);
    atomic_fetch_add(&sink->counts.nErrors, 1);
    if (sink->failing->reason == 0) {
        atomic_store(&sink->failing->since, NsLogClock());
        sink->failing->retryNanos = RETRY_NANOS;
        TellReason(sink, reason, "failed");
    } else {
        if (sink->typePtr->isDatabase) {
            sink->failing->retryNanos = MIN(2 * sink->failing->retryNanos,
                                            MAX_RETRY_NANOS);
        }
        if (IsOtherReason(sink, reason)) {
            TellReason(sink, reason, "fails for another reason now");
        }
    }
    if (sink->failing->askedNanos > 0) {
        sink->failing->retryNanos = sink->failing->askedNanos;
        sink->failing->askedNanos = 0;
    } else if (!sink->typePtr->isDatabase) {
        sink->failing->retryNanos = RETRY_NANOS;
    }
    sink->failing->retryAt = NsLogClock() + sink->failing->retryNanos;
    sink->failing->reason = reason;
    errno = reason;
}

static void
TellReason(Ns_LogSink sink, int reason, const char *what)
{
    NsSinkFailing *failingPtr = sink->failing;

    snprintf(failingPtr->told, sizeof(failingPtr->told), "%s",
             ReasonText(sink, reason));
    failingPtr->toldAt = NsLogClock();
    NsDeliverTell(sink, Error,
                  "log[%s]: writing to '%s' %s: '%s'; trying again", sink->name,
                  NsSinkFile(sink), what, failingPtr->told);
}

/*
 * A certificate that is over, say, while what was told is that nobody listened.
 * Reasons that come in turn are told of less and less often.
 */
static bool
IsOtherReason(Ns_LogSink sink, int reason)
{
    const NsSinkFailing *failingPtr = sink->failing;
    int64_t told = failingPtr->toldAt - atomic_load(&failingPtr->since);
    char    text[sizeof(failingPtr->told)];

    if (NsLogClock() - failingPtr->toldAt < MAX(REPORT_NANOS, told)) {
        return false;
    }
    snprintf(text, sizeof(text), "%s", ReasonText(sink, reason));
    return !STREQ(text, failingPtr->told);
}

static const char *
ReasonText(Ns_LogSink sink, int reason)
{
    return sink->failing->complaint[0] != '\0'
        ? sink->failing->complaint
        : strerror(reason);
}

void
NsDeliverRefused(Ns_LogSink sink, const char *reason)
{
    NsAssertLocked(&sink->lock);
    if (sink->refusals->nRefused++ == 0) {
        snprintf(sink->refusals->text, sizeof(sink->refusals->text), "%s",
                 reason);
    }
}

/*
 * Refused rows are reported once in a while, not one by one.
 */
static void
CountDelivered(Ns_LogSink sink)
{
    uint64_t nRefused = MIN(sink->refusals->nRefused, sink->buffer->nRecords);
    int64_t  now;

    atomic_fetch_add(&sink->counts.nRejected, nRefused);
    atomic_fetch_add(&sink->counts.nDelivered,
                     sink->buffer->nRecords - nRefused);
    sink->refusals->nUnreported += nRefused;
    sink->refusals->nRefused = 0;
    if (likely(sink->refusals->nUnreported == 0) || !NsSinkIsInTable(sink)) {
        return;
    }
    now = NsLogClock();
    if (sink->refusals->reported == 0
        || now - sink->refusals->reported >= REPORT_NANOS) {
        NsDeliverTell(sink, Error,
                      "log[%s]: '%s' refused %" PRIu64
                      " rows, which are dropped: '%s'",
                      sink->name, NsSinkFile(sink), sink->refusals->nUnreported,
                      sink->refusals->text);
        sink->refusals->nUnreported = 0;
        sink->refusals->reported = now;
    }
}

void
NsDeliverTell(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt, ...)
{
    char    text[1024];
    va_list ap;

    if (!NsSinkIsInTable(sink)) {
        return; /* It works for another sink, which reports. */
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (NsSinkIsHeard(sink)) {
        Ns_Log(severity, "%s", text);
    } else {
        NsSystemLogToStderr(severity, text);
    }
}
