/*
 * deliver.c --
 *
 *      A record's way into a sink: from the lanes, merged by time, into the
 *      buffer.  flush.c has the way from there to the target.
 */

#include "base/clock.h"
#include "log/sink/sink_int.h"

#include "base/assert.h"
#include "log/sink/bound.h"
#include "log/stream/audit.h"
#include "log/stream/entry.h"
#include "log/stream/severity.h"
#include "log/stream/system.h"
#include "log/stream/unit.h"
#include "nslog.h"
#include "nsthread.h"

/* How often a database's sink looks whether a batch is complete. */
#define LOOK_NANOS INT64_C(100000000)
/* After a rotation by size that failed. */
#define ROLL_NANOS INT64_C(60000000000)
#ifdef NS_DEBUG
#define CHECKS_RECORDS true
#else
#define CHECKS_RECORDS false
#endif
#define MIN_ROOM ((size_t) 16384)
/* Of a buffer that is counted in lines. */
#define LINES_MAX_BYTES ((size_t) 8 << 20)

static void    Gather(Ns_LogSink sink, bool isReading, int64_t cutoff);
static bool    FlushFirst(Ns_LogSink sink) __attribute__((noinline));
static bool    IsGone(Ns_LogSink sink);
static void    GatherHeads(Ns_LogSink sink, int64_t cutoff);
static bool    IsLater(const NsPlace *placePtr, int64_t cutoff);
static int64_t RunUntil(Ns_LogSink sink, const NsSinkOp *opPtr, int64_t cutoff);
static bool    DeliverRun(Ns_LogSink sink, NsPlace *placePtr, int64_t until);
static void    RunOp(Ns_LogSink sink, NsSinkOp *opPtr, NsSinkOp **goalsPtr);
static void    ReachGoals(Ns_LogSink sink, NsSinkOp *goals);
static bool    IsIgnored(const NsKinds *kindsPtr, Ns_LogStream stream,
                         const Ns_LogRecord *recordPtr) __attribute__((noinline));
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
static bool          FormatWithMoreRoom(Ns_LogSink sink, Ns_LogStream stream,
                                        const Ns_LogRecord *recordPtr,
                                        size_t             *lengthPtr);
static void Grow(Ns_LogSink sink, size_t room) __attribute__((noinline));
static void NoteDrops(Ns_LogSink sink);

void
NsDeliverPass(Ns_LogSink sink, int64_t time)
{
    uint64_t  nComers = atomic_load(&sink->nComers);
    int64_t   cutoff = MAX(NsLogClock(), time);
    NsSinkOp *opPtr = NsSinkTakeOps(sink, cutoff), *goals = NULL;
    NsPlace  *placePtr = NULL;
    bool      isReading = (sink->failure == 0 && sink->claims == NULL)
        || NsDeliverFlush(sink);

    if (sink->typePtr->filePtr != NULL) {
        sink->typePtr->filePtr->tendProc(sink);
    }
    Gather(sink, isReading, cutoff);
    for (;;) {
        if (sink->hasSkipped) {
            Gather(sink, sink->failure == 0 && sink->claims == NULL, cutoff);
        }
        placePtr = NsMergeFirst(&sink->merge);
        if (opPtr != NULL
            && (placePtr == NULL || opPtr->time < placePtr->headPtr->time)) {
            NsSinkOp *nextPtr = opPtr->nextPtr;

            RunOp(sink, opPtr, &goals);
            opPtr = nextPtr;
        } else if (placePtr == NULL) {
            break;
        } else if (!DeliverRun(sink, placePtr, RunUntil(sink, opPtr, cutoff))) {
            sink->merge.n = 0;
        } else if (placePtr->headPtr != NULL && !IsLater(placePtr, cutoff)) {
            NsMergeFirstMoved(&sink->merge);
        } else {
            NsMergeFirstEnded(&sink->merge);
        }
    }

    NoteDrops(sink);
    sink->servedUntil = cutoff;
    atomic_store(&sink->nKept, sink->nLines);
    atomic_store(&sink->nServed, nComers);
    ReachGoals(sink, goals);
    if (sink->failure != 0 && sink->slotPtr != NULL && NsLaneIsFull()) {
        /* Others need the memory more. */
        NsBoundRelieve(sink);
    }
}

/*
 * Begin to read: what is on disk, then what the lanes have.
 */
static void
Gather(Ns_LogSink sink, bool isReading, int64_t cutoff)
{
    sink->hasSkipped = false;
    sink->merge.n = 0;
    isReading = isReading && NsSinkUnspill(sink);
    if (isReading && !sink->hasSkipped) {
        NsBoundTellGap(sink);
    }
    if (isReading && !sink->hasSkipped) {
        NsSinkForgetUpTo(sink);
        GatherHeads(sink, cutoff);
    }
}

bool
NsDeliverHasWork(Ns_LogSink sink)
{
    int64_t cutoff = NsLogClock();

    if (atomic_load(&sink->isReopenAsked)) {
        return true;
    }
    if (sink->ringPtr == NULL) {
        return false;
    }
    if (NsSinkHasSpilled(sink)) {
        return true;
    }
    sink->merge.n = 0;
    GatherHeads(sink, cutoff);
    return sink->merge.n > 0;
}

bool
NsDeliverRecord(Ns_LogSink sink, Ns_LogStream stream,
                const Ns_LogRecord *recordPtr)
{
    Ns_LogRecord reduced;
    size_t       length;

    if (sink->isClosed) {
        atomic_fetch_add(&sink->nFailed, 1);
        return true;
    }
    if (likely(!sink->isJudged) && !NsDeliverWants(sink, stream, recordPtr)) {
        atomic_fetch_add(&sink->nIgnored, 1);
        return true;
    }
    if (stream == nsOperationStream && sink->ignored.n > 0) {
        reduced = NsUnitWithout(recordPtr, &sink->ignored, &sink->reduced,
                                &sink->reducedBytes);
        recordPtr = &reduced;
    }
    if (!FormatRecord(sink, stream, recordPtr, &length)) {
        return false;
    }
    if (length == 0) {
        atomic_fetch_add(&sink->nIgnored, 1);
        return true;
    }
    if (unlikely(IsRollDue(sink, length))) {
        /* The roll may leave a note, or the flush before it, where the line
         * stands now: it is made again after them. */
        if (!RollBySize(sink, length)
            || !FormatRecord(sink, stream, recordPtr, &length)) {
            return false;
        }
    }
    CountLine(sink, recordPtr, length);
    sink->nRecords++;
    sink->isUrgent |= NsSeverityWeight(recordPtr->severity)
        >= NsSeverityWeight(Error);
    return true;
}

int64_t
NsDeliverDue(Ns_LogSink sink, NsFlushOccasion occasion)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    int64_t               now = NsLogClock(), next = 0;

    if (IsFlushDue(sink, occasion, now)) {
        (void) NsDeliverFlush(sink);
    } else if (sink->failure == 0 && sink->nBuffered > 0
               && settingsPtr->bufferLines == 0) {
        next = sink->oldest + settingsPtr->bufferNanos;
        if (sink->typePtr->isDatabase) {
            next = MIN(next, now + LOOK_NANOS);
        }
    }
    if (sink->syncDue != 0
        && NsSinkIsDue(sink->syncDue, settingsPtr->syncNanos)) {
        (void) NsDeliverSync(sink);
    }
    if (sink->failure != 0) {
        /* At once, if it has another file since. */
        next = MAX(MIN(sink->retryAt, now + sink->retryNanos), 1);
    }
    if (sink->syncDue != 0 && (next == 0 || sink->syncDue < next)) {
        next = MIN(sink->syncDue, now + settingsPtr->syncNanos);
    }
    if (sink->nextRoll != 0) {
        int64_t roll = (int64_t) sink->nextRoll * NS_STAMP_SECOND;

        next = next == 0 || roll < next ? roll : next;
    }
    return next;
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
        /* Its buffer is no text. */
        return true;
    }
    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    NsEntryDescribe(&entry, severity, text,
                    MIN((size_t) MAX(n, 0), sizeof(text) - 1));
    bytes = NsSystemLogEncode(&entry, &record);
    hasRoom = FormatRecord(sink, nsSystemStream, &record, &length);
    if (hasRoom) {
        CountLine(sink, &record, length);
    }
    ns_free(bytes);
    return hasRoom;
}

/*
 * Look at all lanes of the sink's streams.  Records later than the cutoff wait
 * for the next pass: an earlier one of another lane may have become visible
 * after we looked there.
 */
static void
GatherHeads(Ns_LogSink sink, int64_t cutoff)
{
    NsRing *ringPtr = sink->ringPtr;

    if (ringPtr == NULL) {
        return;
    }
    NsSinkMeetLanes(sink);
    for (uint32_t i = 0; i < sink->nLanes; i++) {
        NsPlace *placePtr = &sink->lanes[i]->place;

        if (unlikely(placePtr->segment == NS_RING_NONE)) {
            NsLaneLockChains();
            NsPlaceOpen(ringPtr, placePtr,
                        atomic_load(&sink->lanes[i]->cursorPtr->done));
            NsLaneUnlockChains();
        }
        if (NsPlaceHead(ringPtr, placePtr) != NULL
            && !IsLater(placePtr, cutoff)) {
            NsMergeAdd(&sink->merge, placePtr);
        }
    }
}

/*
 * A time far ahead means that the clock was set back; such records do not wait.
 */
static bool
IsLater(const NsPlace *placePtr, int64_t cutoff)
{
    int64_t ahead = placePtr->headPtr->time - cutoff;

    return ahead > 0 && ahead < NS_STAMP_SECOND;
}

/*
 * Up to which time the records of the first place precede all other places and
 * the next request.
 */
static int64_t
RunUntil(Ns_LogSink sink, const NsSinkOp *opPtr, int64_t cutoff)
{
    int64_t until = MIN(cutoff, NsMergeSecondTime(&sink->merge) - 1);

    return opPtr == NULL ? until : MIN(until, opPtr->time);
}

/*
 * Deliver the head of the place, and what follows it up to that time.  False:
 * there is no room, and the head has not been delivered.
 */
static bool
DeliverRun(Ns_LogSink sink, NsPlace *placePtr, int64_t until)
{
    const NsRing *ringPtr = sink->ringPtr;
    NsSinkLane   *lanePtr = NsSinkLaneOf(placePtr);
    Ns_LogStream  stream = lanePtr->stream;
    Ns_LogRecord  record = {.stream = NsStreamName(stream)};

    NsDeliverNoteBegin(lanePtr, placePtr->headPtr);
    do {
        const NsRingRecord *headPtr = placePtr->headPtr;

        record.severity = headPtr->severity;
        record.time = headPtr->time;
        record.length = headPtr->total;
        record.bytes = NsPlaceBytes(ringPtr, placePtr, CHECKS_RECORDS,
                                    &sink->scratch, &sink->scratchBytes);
        if (unlikely(record.bytes == NULL)) {
            atomic_fetch_add(&sink->nDamaged, 1);
        } else {
            bool isDelivered;

            sink->isInLane = true;
            isDelivered = NsDeliverRecord(sink, stream, &record);
            sink->isInLane = false;
            if (!isDelivered) {
                return false;
            }
        }
        /* After the record: a flush in between leaves no lane moved. */
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
        /* Since its caller found it. */
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
 * One write and one sync serve all who wait.
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
            sink->lookDue = 0; /* Not into a file that is gone. */
        }
    }
    isWritten = NsDeliverFlush(sink);
    if (!isWritten) {
        reason = sink->failure;
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

bool
NsDeliverWants(Ns_LogSink sink, Ns_LogStream stream,
               const Ns_LogRecord *recordPtr)
{
    const NsSinkSettings *settingsPtr = &sink->settings;

    if (stream == nsOperationStream) {
        if (NsUnitNanos(recordPtr) < settingsPtr->slowNanos
            || (settingsPtr->onlyErrors && !NsUnitHasError(recordPtr))) {
            return false;
        }
        return settingsPtr->sample <= 1
            || sink->nSampled++ % (unsigned) settingsPtr->sample == 0;
    }
    return (settingsPtr->minSeverity < 0
            || NsSeverityWeight(recordPtr->severity)
                >= NsSeverityWeight(settingsPtr->minSeverity))
        && (sink->ignored.n == 0
            || !IsIgnored(&sink->ignored, stream, recordPtr));
}

/*
 * By its kind, which records of two streams have.
 */
static bool
IsIgnored(const NsKinds *kindsPtr, Ns_LogStream stream,
          const Ns_LogRecord *recordPtr)
{
    const char *kind = stream == nsAuditStream ? NsAuditKind(recordPtr)
        : stream != nsSystemStream
        ? NULL
        : Ns_LogSeverityName((Ns_LogSeverity) recordPtr->severity);

    return kind != NULL && NsKindsHave(kindsPtr, kind, strlen(kind));
}

/*
 * Put the record's line behind the buffered bytes, without counting it yet.
 */
static inline bool
FormatRecord(Ns_LogSink sink, Ns_LogStream stream,
             const Ns_LogRecord *recordPtr, size_t *lengthPtr)
{
    if (unlikely(IsFlushDue(sink, NS_FLUSH_FOR_ROOM, 0) || sink->failure != 0)
        && !FlushFirst(sink)) {
        return false;
    }
    if (unlikely(sink->room < sink->nBuffered + MIN_ROOM / 4)) {
        Grow(sink, sink->nBuffered + MIN_ROOM);
    }
    *lengthPtr = Format(sink, stream, recordPtr);
    return likely(*lengthPtr <= sink->room - sink->nBuffered)
        || FormatWithMoreRoom(sink, stream, recordPtr, lengthPtr);
}

/*
 * The line behind the buffered bytes is one of them from now on.  Nothing may
 * have been formatted or written since it was put there.
 */
static inline void
CountLine(Ns_LogSink sink, const Ns_LogRecord *recordPtr, size_t length)
{
    NsAssert(sink->uncounted == recordPtr);
    NsAssert(length <= sink->room - sink->nBuffered);
    sink->uncounted = NULL;
    sink->nBuffered += length;
    sink->nLines++;
    if (sink->oldest == 0) {
        sink->oldest = recordPtr->time;
    }
}

/*
 * With a line of that length the file would get larger than it may.
 */
static inline bool
IsRollDue(Ns_LogSink sink, size_t length)
{
    uint64_t bytes = sink->fileBytes + sink->nBuffered;

    return sink->settings.rotateBytes > 0 && bytes > 0
        && bytes + length > sink->settings.rotateBytes
        && sink->typePtr->filePtr != NULL
        && NsSinkIsDue(sink->rotateAfter, ROLL_NANOS);
}

/*
 * False: the record at hand cannot be taken now, or was given up meanwhile.
 */
static bool
RollBySize(Ns_LogSink sink, size_t length)
{
    if (!FlushFirst(sink)) {
        return false;
    }
    /* Others may have cut the file since, or written to it. */
    sink->typePtr->filePtr->measureProc(sink);
    if (IsRollDue(sink, length)
        && sink->typePtr->filePtr->rollProc(sink, NULL, NULL) != NS_OK) {
        sink->rotateAfter = NsLogClock() + ROLL_NANOS;
    }
    return !IsGone(sink);
}

/*
 * When the buffer is written, whoever works for the sink.  A database need not
 * be there, so nobody who logs waits for one.
 */
static inline bool
IsFlushDue(Ns_LogSink sink, NsFlushOccasion occasion, int64_t now)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    bool                  isFull = settingsPtr->bufferLines > 0
                         ? sink->nLines > settingsPtr->bufferLines
                         : sink->nBuffered >= settingsPtr->bufferBytes;

    if (occasion == NS_FLUSH_FOR_ROOM) {
        return isFull && sink->nBuffered > 0;
    }
    if (sink->failure != 0 || (sink->nBuffered == 0 && sink->firstMoved == NULL)
        || (occasion == NS_FLUSH_BY_CALLER && sink->typePtr->isDatabase)) {
        return false;
    }
    if (isFull || sink->isUrgent || sink->nBuffered == 0 || NsLaneIsTight()
        || NsBoundIsNear(sink)) {
        return true;
    }
    if (settingsPtr->bufferLines > 0 || occasion == NS_FLUSH_BY_CALLER) {
        return settingsPtr->bufferLines == 0;
    }
    if (sink->typePtr->isDatabase) {
        return sink->nLines >= settingsPtr->batchRows
            || now - sink->oldest >= settingsPtr->bufferNanos
            || now < sink->oldest;
    }
    return occasion == NS_FLUSH_IN_TIME
        || now - sink->oldest >= settingsPtr->bufferNanos
        || now - sink->lastFlush >= settingsPtr->bufferNanos
        || now < sink->lastFlush;
}

static inline size_t
Format(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr)
{
    char  *to = sink->buffer + sink->nBuffered;
    size_t room = sink->room - sink->nBuffered;

    sink->uncounted = recordPtr;
    return unlikely(sink->typePtr->formatProc != NULL)
        ? sink->typePtr->formatProc(sink, stream, recordPtr, to, room)
        : NsStreamFormat(stream, sink->settings.format, recordPtr, to, room);
}

static bool
FormatWithMoreRoom(Ns_LogSink sink, Ns_LogStream stream,
                   const Ns_LogRecord *recordPtr, size_t *lengthPtr)
{
    size_t most = sink->settings.bufferLines > 0
        ? LINES_MAX_BYTES
        : sink->settings.bufferBytes;

    do {
        if (sink->nBuffered > 0 && sink->nBuffered + *lengthPtr > most
            && !FlushFirst(sink)) {
            return false;
        }
        Grow(sink, sink->nBuffered + *lengthPtr);
        *lengthPtr = Format(sink, stream, recordPtr);
    } while (*lengthPtr > sink->room - sink->nBuffered);
    return true;
}

/*
 * Rare, and kept apart so that what every record passes through stays small.
 */
static void
Grow(Ns_LogSink sink, size_t room)
{
    if (room > sink->room) {
        sink->room = MAX(room, MIN(2 * sink->room, LINES_MAX_BYTES));
        sink->buffer = ns_realloc(sink->buffer, sink->room);
    }
}

/*
 * Write what comes before the record at hand.  False: it failed, or the record
 * was given up meanwhile and must not be looked at.
 */
static bool
FlushFirst(Ns_LogSink sink)
{
    return NsDeliverFlush(sink) && !IsGone(sink);
}

static bool
IsGone(Ns_LogSink sink)
{
    return sink->isInLane && sink->hasSkipped;
}

/*
 * Write into the log what is missing from it.
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
        n = drops.n - streamPtr->seenDrops;
        if (n == 0 || sink->failure != 0 || NsSinkHasSpilled(sink)
            || (NsLaneIsFull()
                && drops.last - streamPtr->seenDropTime < NS_STAMP_SECOND)) {
            continue;
        }
        (void) NsSinkNoteGap(sink, stream,
                             &(NsGap){.n = n,
                                      .first = MAX(drops.first,
                                                   streamPtr->seenDropTime),
                                      .last = drops.last});
        streamPtr->seenDrops = drops.n;
        streamPtr->seenDropTime = drops.last;
    }
}
