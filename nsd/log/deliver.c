/*
 * deliver.c --
 *
 *      A record's way through a sink: from the lanes, merged by time, into the
 *      buffer, from there to the target.
 *
 *      A write moves three things: the bytes, the cursors in the mapping, and
 *      the counters.  For the case that the process dies in between, the
 *      mapping says before a write where it goes, how much it is, and where the
 *      cursors will be after it; see recover.c for what is made of that.
 *
 *      When writing fails, the buffer stays as it is and is tried
 *      again.  Nothing is read from the lanes meanwhile: the records wait
 *      there, until there are more of them than there may be; see bound.c.
 */

#include "log/sink_int.h"

#include "base/assert.h"
#include "log/bound.h"
#include "log/severity.h"
#include "log/systemlog.h"
#include "log/unit.h"
#include "nslog.h"
#include "nsthread.h"

/* Between attempts at what fails: at first, and a database after many. */
#define RETRY_NANOS      INT64_C(250000000)
#define MAX_RETRY_NANOS  INT64_C(2000000000)
/* How often a database's sink looks whether a batch is complete. */
#define LOOK_NANOS       INT64_C(100000000)
#define REPORT_NANOS     INT64_C(60000000000)
#define SECOND_NANOS     INT64_C(1000000000)
#ifdef NS_DEBUG
#define CHECKS_RECORDS   true
#else
#define CHECKS_RECORDS   false
#endif
#define MIN_ROOM         ((size_t) 16384)
/* Of a buffer that is counted in lines. */
#define LINES_MAX_BYTES  ((size_t) 8 << 20)

static void Gather(Ns_LogSink sink, bool isReading, int64_t cutoff);
static bool FlushFirst(Ns_LogSink sink) __attribute__((noinline));
static bool IsGone(Ns_LogSink sink);
static void GatherHeads(Ns_LogSink sink, int64_t cutoff);
static bool IsLater(const NsPlace *placePtr, int64_t cutoff);
static int64_t RunUntil(Ns_LogSink sink, const NsSinkOp *opPtr, int64_t cutoff);
static bool DeliverRun(Ns_LogSink sink, NsPlace *placePtr, int64_t until);
static void RunOp(Ns_LogSink sink, NsSinkOp *opPtr, NsSinkOp **goalsPtr);
static void ReachGoals(Ns_LogSink sink, NsSinkOp *goals);
static inline bool FormatRecord(Ns_LogSink sink, Ns_LogStream stream,
                                const Ns_LogRecord *recordPtr,
                                size_t *lengthPtr);
static inline bool IsBufferFull(Ns_LogSink sink);
static inline size_t Format(Ns_LogSink sink, Ns_LogStream stream,
                            const Ns_LogRecord *recordPtr);
static bool FormatWithMoreRoom(Ns_LogSink sink, Ns_LogStream stream,
                               const Ns_LogRecord *recordPtr,
                               size_t *lengthPtr);
static void Grow(Ns_LogSink sink, size_t room) __attribute__((noinline));
static bool WriteOut(Ns_LogSink sink);
static bool WriteAll(Ns_LogSink sink);
static void NoteIntent(Ns_LogSink sink);
static void CommitCursors(Ns_LogSink sink);
static uint64_t NeededFrom(uint32_t lane, int stream);
static void CountDelivered(Ns_LogSink sink);
static void NoteSuccess(Ns_LogSink sink);
static bool MayReport(Ns_LogSink sink);
static void NoteDrops(Ns_LogSink sink);


void
NsDeliverPass(Ns_LogSink sink)
{
    int64_t   cutoff = NsLogClock();
    NsSinkOp *opPtr = NsSinkTakeOps(sink, cutoff), *goals = NULL;
    NsPlace  *placePtr = NULL;
    bool      isReading = (sink->failure == 0 && sink->claims == NULL)
        || NsDeliverFlush(sink);

    NsFileRollIfDue(sink);
    Gather(sink, isReading, cutoff);
    for (;;) {
        if (sink->hasSkipped) {
            Gather(sink, sink->failure == 0 && sink->claims == NULL, cutoff);
        }
        placePtr = NsMergeFirst(&sink->merge);
        if (opPtr != NULL && (placePtr == NULL
                              || opPtr->time < placePtr->headPtr->time)) {
            NsSinkOp *nextPtr = opPtr->nextPtr;

            RunOp(sink, opPtr, &goals);
            opPtr = nextPtr;
        } else if (placePtr == NULL) {
            break;
        } else if (!DeliverRun(sink, placePtr,
                               RunUntil(sink, opPtr, cutoff))) {
            sink->merge.n = 0;
        } else if (placePtr->headPtr != NULL && !IsLater(placePtr, cutoff)) {
            NsMergeFirstMoved(&sink->merge);
        } else {
            NsMergeFirstEnded(&sink->merge);
        }
    }

    NoteDrops(sink);
    ReachGoals(sink, goals);
    if (sink->failure != 0 && sink->slotPtr != NULL && NsLaneIsFull()) {
        /* Others need the memory more. */
        NsBoundGiveUpAll(sink);
    }
}

/*
 * Begin to read what the lanes have.
 */
static void
Gather(Ns_LogSink sink, bool isReading, int64_t cutoff)
{
    sink->hasSkipped = false;
    sink->merge.n = 0;
    if (isReading) {
        NsBoundTellGap(sink);
    }
    if (isReading && !sink->hasSkipped) {
        GatherHeads(sink, cutoff);
    }
}

bool
NsDeliverHasWork(Ns_LogSink sink)
{
    int64_t cutoff = NsLogClock();

    if (sink->ringPtr == NULL) {
        return false;
    }
    sink->merge.n = 0;
    GatherHeads(sink, cutoff);
    return sink->merge.n > 0;
}

bool
NsDeliverRecord(Ns_LogSink sink, Ns_LogStream stream,
                const Ns_LogRecord *recordPtr)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    Ns_LogRecord reduced;
    size_t       length;

    if (sink->isClosed) {
        atomic_fetch_add(&sink->nFailed, 1);
        return true;
    }
    if (!NsDeliverWants(sink, stream, recordPtr)) {
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
    if (settingsPtr->rotateBytes > 0 && sink->typePtr->isFile
            && sink->fileBytes + sink->nBuffered > 0
            && sink->fileBytes + sink->nBuffered + length
               > (uint64_t) settingsPtr->rotateBytes
            && NsLogClock() >= sink->rotateAfter) {
        size_t start = sink->nBuffered;

        if (!FlushFirst(sink)) {
            return false;
        }
        if (NsFileRollBySettings(sink) != NS_OK) {
            sink->rotateAfter = NsLogClock() + REPORT_NANOS;
        }
        if (IsGone(sink)) {
            return false;
        }
        memmove(sink->buffer + sink->nBuffered, sink->buffer + start, length);
    }
    sink->nBuffered += length;
    sink->nLines++;
    sink->nRecords++;
    if (sink->oldest == 0) {
        sink->oldest = recordPtr->time;
    }
    sink->isUrgent |= NsSeverityWeight(recordPtr->severity)
        >= NsSeverityWeight(Error);
    return true;
}

bool
NsDeliverFlush(Ns_LogSink sink)
{
    if (sink->claims != NULL) {
        /* What an earlier process left goes first. */
        errno = sink->failure != 0 ? sink->failure : EAGAIN;
        return false;
    }
    if (sink->failure != 0
            && (NsLogClock() < sink->retryAt
                || (sink->typePtr->isRemote && NsSinkIsPumping()))) {
        /* A shutdown does not wait for a server again and again. */
        errno = sink->failure;
        return false;
    }
    if (sink->nBuffered > 0) {
        if (sink->nWritten == 0) {
            NoteIntent(sink);
        }
        if (!WriteOut(sink)) {
            return false;
        }
    }
    CommitCursors(sink);
    CountDelivered(sink);
    sink->nBuffered = sink->nWritten = 0;
    sink->nLines = 0;
    sink->nRecords = 0;
    sink->oldest = 0;
    sink->isUrgent = false;
    sink->lastFlush = NsLogClock();
    if (sink->failure != 0) {
        NoteSuccess(sink);
    }
    return true;
}

int64_t
NsDeliverDue(Ns_LogSink sink, bool isTimeUp)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    int64_t now = NsLogClock(), next = 0;

    if (sink->failure == 0 && (sink->nBuffered > 0 || sink->nMoved > 0)) {
        bool isDue = sink->isUrgent || sink->nBuffered == 0
            || (sink->slotPtr != NULL && NsLaneIsTight())
            || NsBoundIsNear(sink);

        if (settingsPtr->bufferLines > 0) {
            isDue |= sink->nLines > settingsPtr->bufferLines;
        } else if (sink->typePtr->isDatabase) {
            isDue |= sink->nLines >= settingsPtr->batchRows
                || sink->nBuffered >= settingsPtr->bufferBytes
                || now - sink->oldest >= settingsPtr->bufferNanos
                || now < sink->oldest;
        } else {
            isDue |= isTimeUp || sink->nBuffered >= settingsPtr->bufferBytes
                || now - sink->oldest >= settingsPtr->bufferNanos
                || now - sink->lastFlush >= settingsPtr->bufferNanos
                || now < sink->lastFlush;
        }
        if (isDue) {
            (void) NsDeliverFlush(sink);
        } else if (settingsPtr->bufferLines == 0) {
            next = sink->oldest + settingsPtr->bufferNanos;
            if (sink->typePtr->isDatabase) {
                next = MIN(next, now + LOOK_NANOS);
            }
        }
    }
    if (sink->syncDue != 0 && now >= sink->syncDue) {
        (void) NsDeliverSync(sink);
    }
    if (sink->failure != 0) {
        next = sink->retryAt;
    }
    if (sink->syncDue != 0 && (next == 0 || sink->syncDue < next)) {
        next = sink->syncDue;
    }
    if (sink->nextRoll != 0) {
        int64_t roll = (int64_t) sink->nextRoll * SECOND_NANOS;

        next = next == 0 || roll < next ? roll : next;
    }
    return next;
}

bool
NsDeliverSync(Ns_LogSink sink)
{
    bool isOk;
    int  reason;

    sink->syncDue = 0;
    if (sink->typePtr->syncProc == NULL || sink->fd < 0) {
        return true;
    }
    atomic_fetch_add(&sink->nSyncs, 1);
    atomic_store(&sink->busySince, NsLogClock());
    NsBoundLend(sink);
    isOk = sink->typePtr->syncProc(sink);
    reason = errno;
    NsBoundTakeBack(sink);
    atomic_store(&sink->busySince, 0);
    if (!isOk) {
        atomic_fetch_add(&sink->nErrors, 1);
        Ns_Log(Error, "log: sink '%s': sync failed: '%s'", sink->name,
               strerror(reason));
        errno = reason;
        return false;
    }
    return true;
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

    if (sink->typePtr == &nsFdSinkType) {
        /* Its buffer is no text. */
        return true;
    }
    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    NsSystemLogDescribe(&entry, severity, text,
                        MIN((size_t) MAX(n, 0), sizeof(text) - 1));
    bytes = NsSystemLogEncode(&entry, &record);
    hasRoom = FormatRecord(sink, nsSystemStream, &record, &length);
    if (hasRoom) {
        sink->nBuffered += length;
        sink->nLines++;
        if (sink->oldest == 0) {
            sink->oldest = entry.time;
        }
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
    NsRing  *ringPtr = sink->ringPtr;
    uint32_t n;

    if (ringPtr == NULL) {
        return;
    }
    n = atomic_load_explicit(&ringPtr->headerPtr->nLanes, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        NsPlace *placePtr = &sink->places[i];

        if (!atomic_load_explicit(&sink->wants[ringPtr->lanes[i].stream],
                                  memory_order_relaxed)) {
            continue;
        }
        if (unlikely(placePtr->segment == NS_RING_NONE)) {
            placePtr->lane = i;
            NsLaneLockChains();
            NsPlaceOpen(ringPtr, placePtr,
                        atomic_load(&sink->slotPtr->cursors[i].done));
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

    return ahead > 0 && ahead < SECOND_NANOS;
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
    Ns_LogStream  stream = NsStreamAt(
        (int) ringPtr->lanes[placePtr->lane].stream);
    Ns_LogRecord  record = {.stream = NsStreamName(stream)};

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
        if (!placePtr->isMoved) {
            placePtr->isMoved = true;
            sink->moved[sink->nMoved++] = placePtr->lane;
        }
        NsPlaceAdvance(ringPtr, placePtr);
    } while (placePtr->headPtr != NULL && placePtr->headPtr->time <= until);
    return true;
}

static void
RunOp(Ns_LogSink sink, NsSinkOp *opPtr, NsSinkOp **goalsPtr)
{
    opPtr->status = NS_OK;
    if (opPtr->proc != NULL) {
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
            || !NsKindsHaveRecord(&sink->ignored, stream, recordPtr));
}

/*
 * Put the record's line behind the buffered bytes, without counting it yet.
 */
static inline bool
FormatRecord(Ns_LogSink sink, Ns_LogStream stream,
             const Ns_LogRecord *recordPtr, size_t *lengthPtr)
{
    if (IsBufferFull(sink) && !FlushFirst(sink)) {
        return false;
    }
    if (unlikely(sink->room < sink->nBuffered + MIN_ROOM / 4)) {
        Grow(sink, sink->nBuffered + MIN_ROOM);
    }
    *lengthPtr = Format(sink, stream, recordPtr);
    return likely(*lengthPtr <= sink->room - sink->nBuffered)
        || FormatWithMoreRoom(sink, stream, recordPtr, lengthPtr);
}

static inline bool
IsBufferFull(Ns_LogSink sink)
{
    const NsSinkSettings *settingsPtr = &sink->settings;

    return sink->nBuffered > 0
        && (settingsPtr->bufferLines > 0
            ? sink->nLines > settingsPtr->bufferLines
            : sink->nBuffered >= settingsPtr->bufferBytes);
}

static inline size_t
Format(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr)
{
    char  *to = sink->buffer + sink->nBuffered;
    size_t room = sink->room - sink->nBuffered;

    return unlikely(sink->typePtr->formatProc != NULL)
        ? sink->typePtr->formatProc(sink, stream, recordPtr, to, room)
        : NsStreamFormat(stream, sink->settings.format, recordPtr, to, room);
}

static bool
FormatWithMoreRoom(Ns_LogSink sink, Ns_LogStream stream,
                   const Ns_LogRecord *recordPtr, size_t *lengthPtr)
{
    size_t most = sink->settings.bufferLines > 0
        ? LINES_MAX_BYTES : sink->settings.bufferBytes;

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

static bool
WriteOut(Ns_LogSink sink)
{
    int64_t start = NsLogClock(), span;
    bool    isWritten;

    NsBoundLend(sink);
    isWritten = WriteAll(sink);
    NsBoundTakeBack(sink);
    atomic_store(&sink->busySince, 0);
    if (!isWritten) {
        NsDeliverFailed(sink, errno);
        return false;
    }
    atomic_fetch_add(&sink->nWrites, 1);
    span = NsLogClock() - start;
    atomic_fetch_add(&sink->writeNanos, MAX(span, 0));
    if (span > atomic_load(&sink->longestWrite)) {
        atomic_store(&sink->longestWrite, span);
    }
    if (sink->settings.sync == NS_SYNC_BATCH) {
        (void) NsDeliverSync(sink);
    } else if (sink->settings.sync == NS_SYNC_TIME && sink->syncDue == 0) {
        sink->syncDue = start + sink->settings.syncNanos;
    }
    return true;
}

/*
 * As long as something is taken now and then, the target does not stall.
 * False: errno tells why.
 */
static bool
WriteAll(Ns_LogSink sink)
{
    while (sink->nWritten < sink->nBuffered) {
        ssize_t n;

        atomic_store(&sink->busySince, NsLogClock());
        n = sink->typePtr->writeProc(
            sink, sink->buffer + sink->nWritten,
            sink->nBuffered - sink->nWritten);

        if (n > 0) {
            sink->nWritten += (size_t) n;
            sink->fileBytes += (uint64_t) n;
            atomic_fetch_add(&sink->nBytes, (uint64_t) n);
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
    NsRingSink *slotPtr = sink->slotPtr;

    if (slotPtr == NULL || sink->typePtr->whereProc == NULL
            || !sink->typePtr->whereProc(sink, &slotPtr->offset,
                                         &slotPtr->inode)) {
        return;
    }
    for (uint32_t i = 0; i < sink->nMoved; i++) {
        uint32_t lane = sink->moved[i];

        atomic_store_explicit(&slotPtr->cursors[lane].ahead,
                              NsPlacePosition(&sink->places[lane]),
                              memory_order_relaxed);
    }
    slotPtr->length = sink->nBuffered;
    slotPtr->checksum = (uint32_t) NsRingSumOfEnds(
        sink->buffer, sink->buffer + sink->nBuffered - MIN(sink->nBuffered,
                                                           NS_RING_END),
        sink->nBuffered);
    slotPtr->intentSum = NsRingIntentSum(slotPtr);
    atomic_store_explicit(&slotPtr->intent, NS_RING_WRITING,
                          memory_order_release);
}

/*
 * All that was read is written: move the cursors, and free what no other sink
 * needs either.
 */
static void
CommitCursors(Ns_LogSink sink)
{
    NsRingSink *slotPtr = sink->slotPtr;

    if (slotPtr == NULL) {
        return;
    }
    if (atomic_load(&slotPtr->intent) == NS_RING_WRITING) {
        atomic_store_explicit(&slotPtr->intent, NS_RING_WRITTEN,
                              memory_order_release);
    }
    for (uint32_t i = 0; i < sink->nMoved; i++) {
        uint32_t      lane = sink->moved[i];
        NsRingCursor *cursorPtr = &slotPtr->cursors[lane];
        uint64_t      old = atomic_load(&cursorPtr->done);
        uint64_t      new = NsPlacePosition(&sink->places[lane]);

        sink->places[lane].isMoved = false;
        atomic_store(&cursorPtr->done, new);
        atomic_store(&cursorPtr->ahead, new);
        if (NsRingNumberOf(old) != NsRingNumberOf(new)
                && sink->ringPtr == NsSinkRing()) {
            NsDeliverFreeLane(sink->ringPtr, lane);
        }
    }
    atomic_store_explicit(&slotPtr->intent, NS_RING_IDLE, memory_order_release);
    NsRingSetMissing(slotPtr, sink->gap.n);
    sink->nMoved = 0;
    sink->nToldLost = 0;
}

void
NsDeliverFreeLane(const NsRing *ringPtr, uint32_t lane)
{
    NsLaneFree(lane, NeededFrom(lane, (int) ringPtr->lanes[lane].stream));
}

/*
 * The number of the first segment of a lane that some sink has not passed.
 */
static uint64_t
NeededFrom(uint32_t lane, int stream)
{
    uint64_t   least = UINT64_MAX;
    Ns_LogSink sink;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (atomic_load(&sink->isOnLanes) && NsSinkWants(sink, stream)) {
            uint64_t done = atomic_load(&sink->slotPtr->cursors[lane].done);

            least = MIN(least, NsRingNumberOf(done));
        }
    }
    return least;
}

/*
 * An episode begins: say so once.
 */
void
NsDeliverFailed(Ns_LogSink sink, int reason)
{
    atomic_fetch_add(&sink->nErrors, 1);
    if (sink->failure == 0) {
        atomic_store(&sink->failedSince, NsLogClock());
        sink->retryNanos = RETRY_NANOS;
        if (MayReport(sink)) {
            Ns_Log(Error, "log: sink '%s': writing to '%s' failed: '%s'; "
                   "trying again", sink->name, NsSinkFile(sink),
                   sink->complaint[0] != '\0' ? sink->complaint
                   : strerror(reason));
        }
    } else if (sink->typePtr->isDatabase) {
        sink->retryNanos = MIN(2 * sink->retryNanos, MAX_RETRY_NANOS);
    }
    sink->retryAt = NsLogClock() + sink->retryNanos;
    sink->failure = reason;
    errno = reason;
}

void
NsDeliverRefused(Ns_LogSink sink, const char *reason)
{
    if (sink->nRefused++ == 0) {
        snprintf(sink->refusal, sizeof(sink->refusal), "%s", reason);
    }
}

/*
 * Rows that were refused are reported once in a while, not one by one.
 */
static void
CountDelivered(Ns_LogSink sink)
{
    uint64_t nRefused = MIN(sink->nRefused, sink->nRecords);
    int64_t  now = NsLogClock();

    atomic_fetch_add(&sink->nRejected, nRefused);
    atomic_fetch_add(&sink->nDelivered, sink->nRecords - nRefused);
    sink->nUnreported += nRefused;
    sink->nRefused = 0;
    if (sink->nUnreported > 0 && MayReport(sink)
            && (sink->refusalReported == 0
                || now - sink->refusalReported >= REPORT_NANOS)) {
        Ns_Log(Error, "log: sink '%s': '%s' refused %" PRIu64 " rows, which "
               "are dropped: '%s'", sink->name, NsSinkFile(sink),
               sink->nUnreported, sink->refusal);
        sink->nUnreported = 0;
        sink->refusalReported = now;
    }
}

/*
 * A log cannot tell of itself, unless another one hears of it, too.  A sink in
 * no table works for another one, which does the talking.
 */
static bool
MayReport(Ns_LogSink sink)
{
    int        index = NsStreamIndex(nsSystemStream);
    Ns_LogSink other;

    if (NsSinkAt(sink->index) != sink) {
        return false;
    }
    if (!NsSinkWants(sink, index)) {
        return true;
    }
    for (int i = 0; (other = NsSinkAt(i)) != NULL; i++) {
        if (other != sink && NsSinkWants(other, index)) {
            return true;
        }
    }
    return false;
}

static void
NoteSuccess(Ns_LogSink sink)
{
    double seconds = (double) (NsLogClock()
                               - atomic_load(&sink->failedSince)) / 1e9;
    int    reason = sink->failure;

    sink->failure = 0;
    atomic_store(&sink->failedSince, 0);
    sink->retryAt = 0;
    sink->complaint[0] = '\0';
    if (MayReport(sink)) {
        Ns_Log(Notice, "log: sink '%s': writing to '%s' works again, after "
               "%.3f seconds", sink->name, NsSinkFile(sink), seconds);
    } else {
        (void) NsDeliverNote(sink, Error, "log: writing to '%s' failed for "
                             "%.3f seconds: '%s'", NsSinkFile(sink), seconds,
                             strerror(reason));
    }
}

/*
 * Write into the log what is missing from it.
 */
static void
NoteDrops(Ns_LogSink sink)
{
    Ns_LogStream stream;

    for (int i = 0; (stream = NsStreamAt(i)) != NULL; i++) {
        NsStreamDrops drops;
        uint64_t      n;

        if (!NsSinkWants(sink, i)) {
            continue;
        }
        NsStreamGetDrops(stream, &drops);
        n = drops.n - sink->seenDrops[i];
        if (n == 0 || sink->failure != 0
                || (NsLaneIsFull()
                    && drops.last - sink->seenDropTime[i] < SECOND_NANOS)) {
            continue;
        }
        (void) NsSinkNoteGap(sink, stream, &(NsGap){
            .n = n, .first = MAX(drops.first, sink->seenDropTime[i]),
            .last = drops.last
        });
        sink->seenDrops[i] = drops.n;
        sink->seenDropTime[i] = drops.last;
    }
}
