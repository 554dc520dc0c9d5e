/* SPDX-License-Identifier: MPL-2.0
 * deliver.c --
 *
 *      How a record gets into the buffer of a sink: which ones are left out,
 *      the line, and when the lines are written. flush.c brings the buffer to
 *      the target.
 */

#include "log/sink/deliver.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/sink/bound.h"
#include "log/sink/flush.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkstate.h"
#include "log/sink/sinktable.h"
#include "log/stream/entry.h"
#include "log/stream/journal.h"
#include "log/stream/severity.h"
#include "log/stream/system.h"
#include "log/stream/unit.h"
#include "nslog.h"
#include "nsthread.h"

/* How often a database's sink checks whether a batch is complete. */
#define LOOK_NANOS INT64_C(100000000)
/* Pause after a roll by size that failed. */
#define ROLL_NANOS INT64_C(60000000000)
#define MIN_ROOM   ((size_t) 16384)
/* Repetitions are told after so long at the latest. */
#define REPEAT_NANOS INT64_C(30000000000)
/* For a buffer that is limited by lines. */
#define LINES_MAX_BYTES ((size_t) 8 << 20)

static void        NoteSuccess(Ns_LogSink sink);
static int64_t     Earlier(int64_t next, time_t seconds);
static bool        IsRepeat(Ns_LogSink sink, const Ns_LogRecord *recordPtr);
static void        NoteEntry(Ns_LogSink sink, const Ns_LogRecord *recordPtr);
static inline bool FormatRecord(Ns_LogSink sink, Ns_LogStream stream,
                                const Ns_LogRecord *recordPtr,
                                size_t             *lengthPtr);
static inline void CountLine(Ns_LogSink sink, const Ns_LogRecord *recordPtr,
                             size_t length);
static inline bool IsRollDue(Ns_LogSink sink, size_t length);
static bool        RollBySize(Ns_LogSink sink, size_t length)
    __attribute__((noinline));
static inline bool   IsFlushDue(Ns_LogSink sink, NsFlushOccasion occasion,
                                int64_t now);
static inline size_t Format(Ns_LogSink sink, Ns_LogStream stream,
                            const Ns_LogRecord *recordPtr);
static bool          IsOnJournal(Ns_LogSink sink);
static bool          FormatWithMoreRoom(Ns_LogSink sink, Ns_LogStream stream,
                                        const Ns_LogRecord *recordPtr,
                                        size_t             *lengthPtr);
static void Grow(Ns_LogSink sink, size_t room) __attribute__((noinline));
static bool FlushFirst(Ns_LogSink sink) __attribute__((noinline));
static bool IsGone(Ns_LogSink sink);

bool
NsDeliverRecord(Ns_LogSink sink, Ns_LogStream stream,
                const Ns_LogRecord *recordPtr)
{
    Ns_LogRecord reduced;
    size_t       length;

    if (sink->target->isClosed) {
        atomic_fetch_add(&sink->counts.nFailed, 1);
        return true;
    }
    if (likely(!sink->reader->isJudged)
        && !NsSinkWantsRecord(sink, stream, recordPtr)) {
        atomic_fetch_add(&sink->counts.nIgnored, 1);
        return true;
    }
    if (unlikely(sink->rate.nLeft > 0 && sink->rate.last < sink->rate.begin)
        && !NsDeliverLeftOut(sink)) {
        return false;
    }
    if (stream == nsOperationStream && sink->ignored.n > 0) {
        reduced = NsUnitWithout(recordPtr, &sink->ignored,
                                &sink->buffer->reduced,
                                &sink->buffer->reducedBytes);
        recordPtr = &reduced;
    }
    if (unlikely(nsLogStyle.countsRepeats) && stream == nsSystemStream
        && sink->typePtr->formatProc == NULL) {
        if (IsRepeat(sink, recordPtr)) {
            atomic_fetch_add(&sink->counts.nIgnored, 1);
            return true;
        }
        if (!NsDeliverRepeats(sink)) {
            return false;
        }
    }
    if (!FormatRecord(sink, stream, recordPtr, &length)) {
        return false;
    }
    if (length == 0) {
        atomic_fetch_add(&sink->counts.nIgnored, 1);
        return true;
    }
    if (unlikely(IsRollDue(sink, length))) {
        /*
         * The roll, or the flush before it, may put a note where the line is
         * now, so the line is formatted again after them.
         */
        if (!RollBySize(sink, length)
            || !FormatRecord(sink, stream, recordPtr, &length)) {
            return false;
        }
    }
    CountLine(sink, recordPtr, length);
    if (stream == nsSystemStream) {
        NoteEntry(sink, recordPtr);
    }
    sink->buffer->nRecords++;
    sink->buffer->isUrgent |= NsSeverityWeight(recordPtr->severity)
        >= NsSeverityWeight(Error);
    return true;
}

/*
 * Whether the entry is the one before, again.
 */
static bool
IsRepeat(Ns_LogSink sink, const Ns_LogRecord *recordPtr)
{
    NsSinkRepeats *repeatsPtr = sink->repeats;
    NsLogEntry     entry;

    if (repeatsPtr->message == NULL
        || repeatsPtr->severity != recordPtr->severity
        || !NsSystemLogDecode(recordPtr, nsSystemStream, &entry)
        || entry.messageLength != repeatsPtr->length
        || memcmp(entry.message, repeatsPtr->message, entry.messageLength)
            != 0) {
        return false;
    }
    if (repeatsPtr->n++ == 0) {
        repeatsPtr->since = NsLogClock();
    }
    sink->buffer->previous = recordPtr->time;
    return true;
}

/*
 * Remember an entry that became a line.
 */
static void
NoteEntry(Ns_LogSink sink, const Ns_LogRecord *recordPtr)
{
    NsSinkRepeats *repeatsPtr = sink->repeats;
    NsLogEntry     entry;

    sink->buffer->previous = recordPtr->time;
    if (unlikely(nsLogStyle.countsRepeats)
        && NsSystemLogDecode(recordPtr, nsSystemStream, &entry)) {
        NsAssert(repeatsPtr->n == 0);
        repeatsPtr->message = ns_realloc(repeatsPtr->message,
                                         entry.messageLength + 1);
        memcpy(repeatsPtr->message, entry.message, entry.messageLength);
        repeatsPtr->length = entry.messageLength;
        repeatsPtr->severity = recordPtr->severity;
    }
}

bool
NsDeliverRepeats(Ns_LogSink sink)
{
    NsSinkRepeats *repeatsPtr = sink->repeats;

    if (repeatsPtr->n > 0) {
        if (!NsDeliverNote(sink, repeatsPtr->severity,
                           "message repeated %" PRIu64 " time%s", repeatsPtr->n,
                           repeatsPtr->n == 1 ? "" : "s")) {
            return false;
        }
        repeatsPtr->n = 0;
    }
    return true;
}

bool
NsDeliverLeftOut(Ns_LogSink sink)
{
    NsSinkRate *ratePtr = &sink->rate;
    char from[NS_LOG_ZONED_TIME_LENGTH + 1], to[NS_LOG_ZONED_TIME_LENGTH + 1];

    if (ratePtr->nLeft == 0) {
        return true;
    }
    strcpy(from,
           NsLogZonedTimeText((time_t) (ratePtr->first / NS_STAMP_SECOND)));
    strcpy(to, NsLogZonedTimeText((time_t) (ratePtr->last / NS_STAMP_SECOND)));
    if (!NsDeliverNote(sink, Notice,
                       "log: %" PRIu64 " records are left out here, from %s to "
                       "%s: more came than maxrate allows",
                       ratePtr->nLeft, from, to)) {
        return false;
    }
    ratePtr->nLeft = 0;
    return true;
}

bool
NsDeliverFlush(Ns_LogSink sink)
{
    if (!NsFlushOut(sink)) {
        return false;
    }
    if (sink->failing->reason != 0) {
        NoteSuccess(sink);
    }
    return true;
}

static void
NoteSuccess(Ns_LogSink sink)
{
    double seconds =
        (double) (NsLogClock() - atomic_load(&sink->failing->since)) / 1e9;
    int reason = sink->failing->reason;

    NsAssert(reason != 0);
    sink->failing->reason = 0;
    atomic_store(&sink->failing->since, 0);
    sink->failing->retryAt = 0;
    sink->failing->complaint[0] = '\0';
    NsDeliverTell(sink, Notice,
                  "log[%s]: writing to '%s' works again, "
                  "after %.3f seconds",
                  sink->name, NsSinkFile(sink), seconds);
    if (!NsSinkIsHeard(sink)) {
        (void) NsDeliverNote(sink, Error,
                             "log: writing to '%s' failed for "
                             "%.3f seconds: '%s'",
                             NsSinkFile(sink), seconds, strerror(reason));
    }
}

int64_t
NsDeliverDue(Ns_LogSink sink, NsFlushOccasion occasion)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    int64_t               now = NsLogClock(), next = 0;

    NsAssertLocked(&sink->lock);
    if (unlikely(sink->repeats->n > 0)
        && now - sink->repeats->since >= REPEAT_NANOS) {
        (void) NsDeliverRepeats(sink);
    }
    if (unlikely(sink->rate.nLeft > 0)
        && NsSinkIsDue(sink->rate.begin + sink->settings.rateNanos,
                       sink->settings.rateNanos)) {
        (void) NsDeliverLeftOut(sink);
    }
    if (IsFlushDue(sink, occasion, now)) {
        (void) NsDeliverFlush(sink);
    } else if (sink->failing->reason == 0 && sink->buffer->nBuffered > 0
               && settingsPtr->bufferLines == 0) {
        next = sink->buffer->oldest + settingsPtr->bufferNanos;
        if (sink->typePtr->isDatabase) {
            next = MIN(next, now + LOOK_NANOS);
        }
    }
    if (sink->buffer->syncDue != 0
        && NsSinkIsDue(sink->buffer->syncDue, settingsPtr->syncNanos)) {
        (void) NsDeliverSync(sink);
    }
    if (sink->failing->reason != 0) {
        /* Retry at once if the sink has another file now. */
        next = MAX(MIN(sink->failing->retryAt, now + sink->failing->retryNanos),
                   1);
    }
    if (sink->buffer->syncDue != 0
        && (next == 0 || sink->buffer->syncDue < next)) {
        next = MIN(sink->buffer->syncDue, now + settingsPtr->syncNanos);
    }
    if (unlikely(sink->repeats->n > 0)) {
        int64_t tell = sink->repeats->since + REPEAT_NANOS;

        next = next == 0 || tell < next ? tell : next;
    }
    if (unlikely(sink->rate.nLeft > 0)) {
        int64_t tell = MAX(sink->rate.begin + sink->settings.rateNanos,
                           now + 1);

        next = next == 0 || tell < next ? tell : next;
    }
    next = Earlier(next, sink->target->nextRoll);
    return Earlier(next, sink->target->retainDue);
}

/*
 * Of two times, each of which may be none, 0.
 */
static int64_t
Earlier(int64_t next, time_t seconds)
{
    int64_t when = (int64_t) seconds * NS_STAMP_SECOND;

    return when != 0 && (next == 0 || when < next) ? when : next;
}

bool
NsDeliverNote(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt, ...)
{
    char         text[1024];
    va_list      ap;
    NsLogEntry   entry;
    Ns_LogRecord record;
    char        *bytes;
    size_t       length;
    bool         hasRoom;
    int          n;

    if (sink->typePtr->isPassing) {
        /* Its buffer does not hold text. */
        return true;
    }
    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    NsEntryDescribe(&entry, severity, text,
                    MIN((size_t) MAX(n, 0), sizeof(text) - 1));
    bytes = NsSystemLogEncode(&entry, &record);
    sink->buffer->isNote = true;
    hasRoom = FormatRecord(sink, nsSystemStream, &record, &length);
    sink->buffer->isNote = false;
    if (hasRoom) {
        CountLine(sink, &record, length);
    }
    ns_free(bytes);
    return hasRoom;
}

bool
NsDeliverNoteGap(Ns_LogSink sink, Ns_LogStream stream, const NsGap *gapPtr)
{
    char from[NS_LOG_ZONED_TIME_LENGTH + 1], to[NS_LOG_ZONED_TIME_LENGTH + 1];

    NsAssert(gapPtr->n > 0);
    strcpy(from,
           NsLogZonedTimeText((time_t) (gapPtr->first / NS_STAMP_SECOND)));
    strcpy(to, NsLogZonedTimeText((time_t) (gapPtr->last / NS_STAMP_SECOND)));
    if (stream != NULL) {
        return NsDeliverNote(sink, Warning,
                             "log: %" PRIu64 " records of "
                             "stream '%s' are missing here, from %s to %s: log "
                             "memory was full",
                             gapPtr->n, NsStreamName(stream), from, to);
    }
    return NsDeliverNote(sink, Warning,
                         "log: %" PRIu64 " records are missing "
                         "here, from %s to %s: they could not be written in "
                         "time, and %s",
                         gapPtr->n, from, to,
                         sink->settings.maxMemory > 0
                             ? "their sink was more than maxmemory behind"
                             : "memory was full");
}

/*
 * Format the record's line behind the buffered bytes, without counting it yet.
 */
static inline bool
FormatRecord(Ns_LogSink sink, Ns_LogStream stream,
             const Ns_LogRecord *recordPtr, size_t *lengthPtr)
{
    if (unlikely(IsFlushDue(sink, NS_FLUSH_FOR_ROOM, 0)
                 || sink->failing->reason != 0)
        && !FlushFirst(sink)) {
        return false;
    }
    if (unlikely(sink->buffer->room < sink->buffer->nBuffered + MIN_ROOM / 4)) {
        Grow(sink, sink->buffer->nBuffered + MIN_ROOM);
    }
    *lengthPtr = Format(sink, stream, recordPtr);
    return likely(*lengthPtr <= sink->buffer->room - sink->buffer->nBuffered)
        || FormatWithMoreRoom(sink, stream, recordPtr, lengthPtr);
}

/*
 * Count the line behind the buffered bytes.  Nothing may have been formatted or
 * written since it was put there.
 */
static inline void
CountLine(Ns_LogSink sink, const Ns_LogRecord *recordPtr, size_t length)
{
    NsAssert(sink->buffer->uncounted == recordPtr);
    NsAssert(length <= sink->buffer->room - sink->buffer->nBuffered);
    sink->buffer->uncounted = NULL;
    sink->buffer->nBuffered += length;
    sink->buffer->nLines++;
    if (sink->buffer->oldest == 0) {
        sink->buffer->oldest = recordPtr->time;
        atomic_store(&sink->counts.bufferedSince, recordPtr->time);
    }
}

/*
 * A line of that length would make the file larger than it may be.
 */
static inline bool
IsRollDue(Ns_LogSink sink, size_t length)
{
    uint64_t bytes = sink->target->fileBytes + sink->buffer->nBuffered;

    return sink->settings.rotateBytes > 0 && bytes > 0
        && bytes + length > sink->settings.rotateBytes
        && sink->typePtr->filePtr != NULL
        && NsSinkIsDue(sink->target->rotateAfter, ROLL_NANOS);
}

/*
 * False: the current record cannot be taken now, or was discarded meanwhile.
 */
static bool
RollBySize(Ns_LogSink sink, size_t length)
{
    NsAssert(sink->typePtr->filePtr != NULL && length > 0);
    if (!FlushFirst(sink)) {
        return false;
    }
    /* Others may have truncated the file or written to it. */
    sink->typePtr->filePtr->measureProc(sink);
    if (IsRollDue(sink, length)
        && sink->typePtr->filePtr->rollProc(sink, NULL, NULL) != NS_OK) {
        sink->target->rotateAfter = NsLogClock() + ROLL_NANOS;
    }
    return !IsGone(sink);
}

/*
 * The one rule for when the buffer is written, no matter which thread works for
 * the sink.  A database may be away, so no thread that logs waits for one.
 */
static inline bool
IsFlushDue(Ns_LogSink sink, NsFlushOccasion occasion, int64_t now)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    bool                  isFull = settingsPtr->bufferLines > 0
                         ? sink->buffer->nLines > settingsPtr->bufferLines
                         : sink->buffer->nBuffered >= settingsPtr->bufferBytes;

    if (occasion == NS_FLUSH_FOR_ROOM) {
        return isFull && sink->buffer->nBuffered > 0;
    }
    if (sink->failing->reason != 0
        || (sink->buffer->nBuffered == 0 && sink->reader->firstMoved == NULL)
        || (occasion == NS_FLUSH_BY_CALLER && sink->typePtr->isDatabase)) {
        return false;
    }
    if (isFull || sink->buffer->isUrgent || sink->buffer->nBuffered == 0
        || NsLaneIsTight() || NsBoundIsNear(sink)) {
        return true;
    }
    if (settingsPtr->bufferLines > 0 || occasion == NS_FLUSH_BY_CALLER) {
        return settingsPtr->bufferLines == 0;
    }
    if (sink->typePtr->isDatabase) {
        return sink->buffer->nLines >= settingsPtr->batchRows
            || now - sink->buffer->oldest >= settingsPtr->bufferNanos
            || now < sink->buffer->oldest;
    }
    return occasion == NS_FLUSH_IN_TIME
        || now - sink->buffer->oldest >= settingsPtr->bufferNanos
        || now - sink->buffer->lastFlush >= settingsPtr->bufferNanos
        || now < sink->buffer->lastFlush;
}

static inline size_t
Format(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr)
{
    char  *to = sink->buffer->bytes + sink->buffer->nBuffered;
    size_t room = sink->buffer->room - sink->buffer->nBuffered;

    sink->buffer->uncounted = recordPtr;
    if (unlikely(NsLogNeedsContext())) {
        const NsRingSink *slotPtr = sink->reader->slotPtr;

        nsLogContext = (NsLogContext){
            slotPtr != NULL ? slotPtr->start : nsLogStyle.start,
            sink->buffer->previous, IsOnJournal(sink)};
    }
    return unlikely(sink->typePtr->formatProc != NULL)
        ? sink->typePtr->formatProc(sink, stream, recordPtr, to, room)
        : NsFormLine(sink->form, stream, recordPtr, sink->buffer->isNote, to,
                     room);
}

/*
 * Files have other descriptors.
 */
static bool
IsOnJournal(Ns_LogSink sink)
{
    int fd = sink->target->fd;

    return (fd == STDOUT_FILENO || fd == STDERR_FILENO) && NsJournalIs(fd);
}

static bool
FormatWithMoreRoom(Ns_LogSink sink, Ns_LogStream stream,
                   const Ns_LogRecord *recordPtr, size_t *lengthPtr)
{
    size_t most = sink->settings.bufferLines > 0
        ? LINES_MAX_BYTES
        : sink->settings.bufferBytes;

    do {
        if (sink->buffer->nBuffered > 0
            && sink->buffer->nBuffered + *lengthPtr > most
            && !FlushFirst(sink)) {
            return false;
        }
        Grow(sink, sink->buffer->nBuffered + *lengthPtr);
        *lengthPtr = Format(sink, stream, recordPtr);
    } while (*lengthPtr > sink->buffer->room - sink->buffer->nBuffered);
    return true;
}

/*
 * Kept out of line because it is rare: the code for every record stays small.
 */
static void
Grow(Ns_LogSink sink, size_t room)
{
    if (room > sink->buffer->room) {
        sink->buffer->room = MAX(room,
                                 MIN(2 * sink->buffer->room, LINES_MAX_BYTES));
        sink->buffer->bytes = ns_realloc(sink->buffer->bytes,
                                         sink->buffer->room);
    }
    NsAssert(sink->buffer->room >= room);
}

/*
 * Write what comes before the current record.  False: that failed, or the
 * record was discarded meanwhile and must not be accessed.
 */
static bool
FlushFirst(Ns_LogSink sink)
{
    return NsDeliverFlush(sink) && !IsGone(sink);
}

static bool
IsGone(Ns_LogSink sink)
{
    return sink->reader->isInLane && sink->reader->hasSkipped;
}
