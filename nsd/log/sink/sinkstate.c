/* SPDX-License-Identifier: MPL-2.0
 * sinkstate.c --
 *
 *      The settings of a sink, and its statistics.
 */

#include "log/sink/sinkstate.h"

#include "base/calendar.h"
#include "base/clock.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/stream/audit.h"
#include "log/stream/severity.h"
#include "log/stream/system.h"
#include "log/stream/unit.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define STALL_NANOS NS_STAMP_SECOND /* A longer write is a stall. */

const NsSinkSettings nsSinkDefaults = {
    .minSeverity = -1,
    .sample = 1,
    .maxSpill = (size_t) 1 << 30,
    .bufferBytes = 65536,
    .bufferNanos = 100000000,
    .batchRows = 50,
    .rollHour = -1,
    .maxBackup = 10,
    .mode = NS_SINK_MODE};

/*
 * Those that the settings own.
 */
static const size_t textOffsets[] = {
    offsetof(NsSinkSettings, template), offsetof(NsSinkSettings, mask),
    offsetof(NsSinkSettings, fields),   offsetof(NsSinkSettings, conditions),
    offsetof(NsSinkSettings, ignore),   offsetof(NsSinkSettings, rollFormat),
    offsetof(NsSinkSettings, owner)};

static void   DupTexts(NsSinkSettings *settingsPtr);
static char **TextAt(NsSinkSettings *settingsPtr, int i);
static void   ApplyForm(Ns_LogSink sink);
static void   NoteMask(NsRingSink *slotPtr, const char *mask);
static bool   IsLeftOut(Ns_LogSink sink, Ns_LogStream stream,
                        const Ns_LogRecord *recordPtr);
static bool   IsTooMany(Ns_LogSink sink, const Ns_LogRecord *recordPtr);
static bool   IsIgnored(const NsKinds *kindsPtr, Ns_LogStream stream,
                        const Ns_LogRecord *recordPtr);
static void   GetTrouble(Ns_LogSink sink, NsSinkStats *statsPtr);

void
NsSinkGetSettings(Ns_LogSink sink, NsSinkSettings *settingsPtr)
{
    /* The sink's own lock may be held for as long as a write takes. */
    Ns_MutexLock(&sink->sleep.lock);
    *settingsPtr = sink->settings;
    DupTexts(settingsPtr);
    Ns_MutexUnlock(&sink->sleep.lock);
}

void
NsSinkFreeSettings(NsSinkSettings *settingsPtr)
{
    for (int i = 0; i < Ns_NrElements(textOffsets); i++) {
        char **textPtr = TextAt(settingsPtr, i);

        ns_free(*textPtr);
        *textPtr = NULL;
    }
}

/*
 * Copies in place of the texts that the settings have.
 */
static void
DupTexts(NsSinkSettings *settingsPtr)
{
    for (int i = 0; i < Ns_NrElements(textOffsets); i++) {
        char **textPtr = TextAt(settingsPtr, i);

        *textPtr = ns_strcopy(*textPtr);
    }
}

static char **
TextAt(NsSinkSettings *settingsPtr, int i)
{
    return (char **) (void *) ((char *) settingsPtr + textOffsets[i]);
}

void
NsSinkApplySettings(Ns_LogSink sink, const NsSinkSettings *settingsPtr)
{
    NsSinkSettings old = sink->settings;

    Ns_MutexLock(&sink->sleep.lock);
    sink->settings = *settingsPtr;
    sink->settings.version = old.version + 1;
    DupTexts(&sink->settings);
    Ns_MutexUnlock(&sink->sleep.lock);
    NsSinkFreeSettings(&old);
    NsKindsFree(&sink->ignored);
    (void) NsKindsInit(&sink->ignored, settingsPtr->ignore);
    ApplyForm(sink);
    sink->target->nextRoll = sink->typePtr->filePtr == NULL
        ? 0
        : NsSinkNextRoll(settingsPtr, time(NULL));
    atomic_store(&sink->limits.wakeBytes, settingsPtr->bufferBytes);
    atomic_store(&sink->limits.turnLines, settingsPtr->bufferLines);
    atomic_store(&sink->limits.maxMemory, settingsPtr->maxMemory);
    atomic_store(&sink->limits.maxSpill, settingsPtr->maxSpill);
    NsSinkNoteSettings(sink);
}

/*
 * Who sets the texts has checked them.
 */
static void
ApplyForm(Ns_LogSink sink)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    NsFormSpec            spec = {.format = settingsPtr->format,
                                  .template = settingsPtr->template,
                                  .mask = settingsPtr->mask,
                                  .fields = settingsPtr->fields};
    Ns_DString            error;

    Ns_DStringInit(&error);
    NsFormDestroy(&sink->form);
    sink->form = NsFormCreate(&spec, &error);
    NsAssert(sink->form != NULL);
    NsConditionsDestroy(&sink->conditions);
    if (settingsPtr->conditions != NULL) {
        sink->conditions = NsConditionsCreate(settingsPtr->conditions, &error);
        NsAssert(sink->conditions != NULL);
    }
    Ns_DStringFree(&error);
}

/*
 * Weeks begin on Monday.
 */
time_t
NsSinkNextRoll(const NsSinkSettings *settingsPtr, time_t now)
{
    int period = settingsPtr->rollSeconds, hour = settingsPtr->rollHour;

    if (period == 0 && hour < 0) {
        return 0;
    }
    if (period > 0 && period < NS_CALENDAR_DAY) {
        return NsCalendarNextMultiple(now, period);
    }
    return NsCalendarNext(now,
                          period > NS_CALENDAR_DAY ? 1 : NS_CALENDAR_ANY_DAY,
                          MAX(hour, 0) * 3600);
}

void
NsSinkNoteSettings(Ns_LogSink sink)
{
    const NsSinkSettings *settingsPtr = &sink->settings;

    if (sink->reader->slotPtr != NULL) {
        sink->reader->slotPtr->slowNanos = settingsPtr->slowNanos;
        sink->reader->slotPtr->minSeverity = settingsPtr->minSeverity;
        sink->reader->slotPtr->format = NsFormNumber(sink->form);
        if (sink->reader->slotPtr->start == 0) {
            sink->reader->slotPtr->start = nsLogStyle.start;
        }
        sink->reader->slotPtr->onlyErrors = settingsPtr->onlyErrors;
        NoteMask(sink->reader->slotPtr, settingsPtr->mask);
        sink->reader->slotPtr->maxSpillKiB = (uint32_t)
            MIN(settingsPtr->maxSpill / 1024
                    + (settingsPtr->maxSpill % 1024 > 0),
                UINT32_MAX);
    }
}

/*
 * For whoever prints the memory.  One that is too long hides all.
 */
static void
NoteMask(NsRingSink *slotPtr, const char *mask)
{
    const char *text = mask == NULL ? ""
        : strlen(mask) < sizeof(slotPtr->mask)
        ? mask
        : "too long";

    strcpy(slotPtr->mask, text);
}

bool
NsSinkWantsRecord(Ns_LogSink sink, Ns_LogStream stream,
                  const Ns_LogRecord *recordPtr)
{
    const NsSinkSettings *settingsPtr = &sink->settings;

    if (stream == nsOperationStream) {
        if (NsUnitNanos(recordPtr) < settingsPtr->slowNanos
            || (settingsPtr->onlyErrors && !NsUnitHasError(recordPtr))) {
            return false;
        }
    } else if ((settingsPtr->minSeverity >= 0
                && NsSeverityWeight(recordPtr->severity)
                    < NsSeverityWeight(settingsPtr->minSeverity))
               || (sink->ignored.n > 0
                   && IsIgnored(&sink->ignored, stream, recordPtr))) {
        return false;
    }
    return likely(sink->conditions == NULL && settingsPtr->sample <= 1
                  && settingsPtr->maxRate == 0)
        || !IsLeftOut(sink, stream, recordPtr);
}

/*
 * By a condition, by sampling, or since there are too many: audit records never
 * are, and errors are not sampled.
 */
static __attribute__((noinline)) bool
IsLeftOut(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr)
{
    bool isError = stream == nsOperationStream
        ? NsUnitHasError(recordPtr)
        : NsSeverityWeight(recordPtr->severity) >= NsSeverityWeight(Error);

    if (stream == nsAuditStream) {
        return false;
    }
    if (sink->conditions != NULL
        && !NsConditionsHold(sink->conditions, NsStreamFields(stream),
                             recordPtr)) {
        return true;
    }
    if (sink->settings.sample > 1 && !isError
        && sink->nSampled++ % (unsigned) sink->settings.sample != 0) {
        return true;
    }
    return sink->settings.maxRate > 0 && IsTooMany(sink, recordPtr);
}

/*
 * Lanes are merged by time, but not exactly: a record may be a little older
 * than the period that has begun.
 */
static bool
IsTooMany(Ns_LogSink sink, const Ns_LogRecord *recordPtr)
{
    NsSinkRate *ratePtr = &sink->rate;
    int64_t     span = sink->settings.rateNanos;

    NsAssert(span > 0);
    if (ratePtr->begin == 0 || recordPtr->time - ratePtr->begin >= span
        || ratePtr->begin - recordPtr->time >= span) {
        ratePtr->begin = recordPtr->time;
        ratePtr->n = 0;
    }
    if (ratePtr->n < sink->settings.maxRate) {
        ratePtr->n++;
        return false;
    }
    if (ratePtr->nLeft++ == 0) {
        ratePtr->first = recordPtr->time;
    }
    ratePtr->last = recordPtr->time;
    return true;
}

/*
 * Ignored by its kind; only records of two streams have kinds.
 */
static __attribute__((noinline)) bool
IsIgnored(const NsKinds *kindsPtr, Ns_LogStream stream,
          const Ns_LogRecord *recordPtr)
{
    const char *kind = stream == nsAuditStream ? NsAuditKind(recordPtr)
        : stream != nsSystemStream
        ? NULL
        : Ns_LogSeverityName((Ns_LogSeverity) recordPtr->severity);

    return kind != NULL && NsKindsHave(kindsPtr, kind, strlen(kind));
}

void
NsSinkGetStats(Ns_LogSink sink, NsSinkStats *statsPtr)
{
    const NsSinkStream *streamPtr;

    memset(statsPtr, 0, sizeof(*statsPtr));
    statsPtr->delivered = atomic_load(&sink->counts.nDelivered);
    statsPtr->ignored = atomic_load(&sink->counts.nIgnored);
    statsPtr->droppedFailed = atomic_load(&sink->counts.nFailed);
    statsPtr->droppedDamaged = atomic_load(&sink->counts.nDamaged);
    statsPtr->droppedRejected = atomic_load(&sink->counts.nRejected);
    statsPtr->bytes = atomic_load(&sink->counts.nBytes);
    statsPtr->writes = atomic_load(&sink->counts.nWrites);
    statsPtr->syncs = atomic_load(&sink->counts.nSyncs);
    statsPtr->errors = atomic_load(&sink->counts.nErrors);
    statsPtr->wakeups = atomic_load(&sink->counts.nWakeups);
    statsPtr->longestWrite = atomic_load(&sink->counts.longestWrite);
    statsPtr->writeNanos = atomic_load(&sink->counts.writeNanos);
    GetTrouble(sink, statsPtr);
    statsPtr->accepted = atomic_load(&sink->counts.nRecovered)
        + atomic_load(&sink->counts.nClaimed);
    for (streamPtr = atomic_load(&sink->firstStream);
         streamPtr != NULL && !atomic_load(&sink->isDetached);
         streamPtr = atomic_load(&streamPtr->nextPtr)) {
        Ns_LogStream  stream = NsStreamAt(streamPtr->index);
        uint64_t      n = NsStreamIgnored(stream) - streamPtr->baseIgnored;
        int           rank = atomic_load(&streamPtr->rank);
        NsStreamDrops drops;

        statsPtr->ignored += n;
        statsPtr->accepted += n;
        if (rank >= 0) {
            NsStreamGetDrops(stream, &drops);
            statsPtr->droppedMemory += drops.n - streamPtr->baseDrops;
            statsPtr->accepted += NsLaneRecords(streamPtr->index, rank);
        }
    }
    statsPtr->pending = statsPtr->accepted - statsPtr->delivered
        - statsPtr->ignored - statsPtr->droppedFailed - statsPtr->droppedDamaged
        - statsPtr->droppedRejected;
    statsPtr->accepted += statsPtr->droppedMemory;
    statsPtr->leftover = atomic_load(&sink->counts.nClaimed);
    statsPtr->leftoverBytes = atomic_load(&sink->counts.claimedBytes);
    statsPtr->spilled = MIN(atomic_load(&sink->counts.nSpilled),
                            statsPtr->pending);
    statsPtr->spilledBytes = atomic_load(&sink->counts.spilledBytes);
    statsPtr->behind = NsSinkHeld(sink);
    if (statsPtr->pending > atomic_load(&sink->counts.deepest)) {
        atomic_store(&sink->counts.deepest, statsPtr->pending);
    }
    statsPtr->deepest = atomic_load(&sink->counts.deepest);
}

Ns_LogSink
NsSinkRequiredInTrouble(Ns_LogStream stream)
{
    Ns_LogSink sink;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        NsSinkStats stats = {0};

        if (sink->isRequired && !NsSinkIsRemoved(sink)
            && (stream == NULL || NsSinkWants(sink, NsStreamIndex(stream)))) {
            GetTrouble(sink, &stats);
            if (stats.trouble != NS_TROUBLE_NONE) {
                return sink;
            }
        }
    }
    return NULL;
}

/*
 * Takes no lock: the thread that works for the sink may hold it for long.
 */
static void
GetTrouble(Ns_LogSink sink, NsSinkStats *statsPtr)
{
    int64_t failed = atomic_load(&sink->failing->since);
    int64_t busy = atomic_load(&sink->counts.busySince);

    if (failed != 0) {
        statsPtr->trouble = NS_TROUBLE_FAILING;
        statsPtr->troubleSince = failed;
    } else if (busy != 0 && NsLogClock() - busy > STALL_NANOS) {
        statsPtr->trouble = NS_TROUBLE_STALLED;
        statsPtr->troubleSince = busy;
    }
}
