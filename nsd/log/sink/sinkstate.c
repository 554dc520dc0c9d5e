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

#define STALL_NANOS NS_STAMP_SECOND /* A longer write is a stall. */

const NsSinkSettings nsSinkDefaults = {
    .minSeverity = -1,
    .sample = 1,
    .maxSpill = (size_t) 1 << 30,
    .bufferBytes = 65536,
    .bufferNanos = 100000000,
    .batchRows = 50,
    .rollHour = -1,
    .maxBackup = 10};

static bool IsIgnored(const NsKinds *kindsPtr, Ns_LogStream stream,
                      const Ns_LogRecord *recordPtr) __attribute__((noinline));
static void GetTrouble(Ns_LogSink sink, NsSinkStats *statsPtr);

void
NsSinkGetSettings(Ns_LogSink sink, NsSinkSettings *settingsPtr)
{
    /* The sink's own lock may be held for as long as a write takes. */
    Ns_MutexLock(&sink->sleep.lock);
    *settingsPtr = sink->settings;
    settingsPtr->rollFormat = ns_strcopy(sink->settings.rollFormat);
    settingsPtr->ignore = ns_strcopy(sink->settings.ignore);
    Ns_MutexUnlock(&sink->sleep.lock);
}

void
NsSinkFreeSettings(NsSinkSettings *settingsPtr)
{
    ns_free(settingsPtr->rollFormat);
    ns_free(settingsPtr->ignore);
    settingsPtr->rollFormat = settingsPtr->ignore = NULL;
}

void
NsSinkApplySettings(Ns_LogSink sink, const NsSinkSettings *settingsPtr)
{
    NsSinkSettings old = sink->settings;

    Ns_MutexLock(&sink->sleep.lock);
    sink->settings = *settingsPtr;
    sink->settings.version = old.version + 1;
    sink->settings.rollFormat = ns_strcopy(settingsPtr->rollFormat);
    sink->settings.ignore = ns_strcopy(settingsPtr->ignore);
    Ns_MutexUnlock(&sink->sleep.lock);
    NsSinkFreeSettings(&old);
    NsKindsFree(&sink->ignored);
    (void) NsKindsInit(&sink->ignored, settingsPtr->ignore);
    sink->target->nextRoll = sink->typePtr->filePtr == NULL
        ? 0
        : NsSinkNextRoll(settingsPtr->rollHour, time(NULL));
    atomic_store(&sink->limits.wakeBytes, settingsPtr->bufferBytes);
    atomic_store(&sink->limits.turnLines, settingsPtr->bufferLines);
    atomic_store(&sink->limits.maxMemory, settingsPtr->maxMemory);
    atomic_store(&sink->limits.maxSpill, settingsPtr->maxSpill);
    NsSinkNoteSettings(sink);
}

time_t
NsSinkNextRoll(int hour, time_t now)
{
    return hour < 0 ? 0 : NsCalendarNext(now, NS_CALENDAR_ANY_DAY, hour * 3600);
}

void
NsSinkNoteSettings(Ns_LogSink sink)
{
    const NsSinkSettings *settingsPtr = &sink->settings;

    if (sink->reader->slotPtr != NULL) {
        sink->reader->slotPtr->slowNanos = settingsPtr->slowNanos;
        sink->reader->slotPtr->minSeverity = settingsPtr->minSeverity;
        sink->reader->slotPtr->format = settingsPtr->format;
        sink->reader->slotPtr->onlyErrors = settingsPtr->onlyErrors;
        sink->reader->slotPtr->maxSpillKiB = (uint32_t)
            MIN(settingsPtr->maxSpill / 1024
                    + (settingsPtr->maxSpill % 1024 > 0),
                UINT32_MAX);
    }
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
 * Ignored by its kind; only records of two streams have kinds.
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
    statsPtr->spilled = MIN(atomic_load(&sink->counts.nSpilled),
                            statsPtr->pending);
    statsPtr->spilledBytes = atomic_load(&sink->counts.spilledBytes);
    statsPtr->behind = NsSinkHeld(sink);
    if (statsPtr->pending > atomic_load(&sink->counts.deepest)) {
        atomic_store(&sink->counts.deepest, statsPtr->pending);
    }
    statsPtr->deepest = atomic_load(&sink->counts.deepest);
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
