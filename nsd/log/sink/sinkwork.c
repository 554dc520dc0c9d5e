/*
 * sinkwork.c --
 *
 *      Work for a sink, which one thread at a time does: a log thread, or for
 *      direct sinks, and while there are no log threads, those that log.
 */

#include "base/clock.h"
#include "log/sink/sink_int.h"

#include "log/sink/bound.h"
#include "log/stream/entry.h"
#include "nslog.h"

#define DRAIN_SECONDS 2

static void FlushIfPumped(Ns_LogSink sink);


void
NsSinkLock(Ns_LogSink sink)
{
    NsEntryDefer();
    Ns_MutexLock(&sink->lock);
}

bool
NsSinkTryLock(Ns_LogSink sink)
{
    NsEntryDefer();
    if (Ns_MutexTryLock(&sink->lock) == NS_OK) {
        return true;
    }
    NsEntrySendDeferred();
    return false;
}

void
NsSinkUnlock(Ns_LogSink sink)
{
    int reason = errno;

    Ns_MutexUnlock(&sink->lock);
    NsEntrySendDeferred();
    errno = reason;
}

void
NsSinkPutDirect(Ns_LogSink sink, Ns_LogStream stream,
                const NsLaneRecord *recordPtr)
{
    Ns_LogRecord record;
    char        *gathered = NsSinkGather(stream, recordPtr, &record);

    NsSinkLock(sink);
    atomic_fetch_add(&sink->nDirect, 1);
    if (sink->typePtr->filePtr != NULL) {
        sink->typePtr->filePtr->tendProc(sink);
    }
    if (sink->failure != 0) {
        (void) NsDeliverFlush(sink);
    }
    NsBoundTellGap(sink);
    if (!NsDeliverRecord(sink, stream, &record)) {
        NsBoundNoteLost(sink, record.time);
    } else if (sink->settings.bufferLines == 0
               || sink->nLines > sink->settings.bufferLines) {
        (void) NsDeliverFlush(sink);
    }
    NsSinkUnlock(sink);
    ns_free(gathered);
}

void
NsSinkPump(Ns_LogStream stream)
{
    const NsStreamSinks *sinksPtr;

    NsSinkEnter();
    sinksPtr = NsStreamGetSinks(NsStreamIndex(stream));
    for (int i = sinksPtr->nDirect; !NsEntryIsDeferring() && i < sinksPtr->n; i++) {
        FlushIfPumped(sinksPtr->sinks[i]);
    }
    NsSinkLeave();
}

bool
NsSinkPumpAll(void)
{
    Ns_LogSink sink;

    if (!NsSinkIsPumping() || NsEntryIsDeferring()) {
        return false;
    }
    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (atomic_load(&sink->isOnLanes)) {
            FlushIfPumped(sink);
        }
    }
    NsSinkLeave();
    return true;
}

void
NsSinkDrain(Ns_LogSink sink)
{
    Ns_Time pause = {0, 10000};

    if (NsEntryIsDeferring()) {
        return;
    }
    for (int i = 0; i < DRAIN_SECONDS * 100; i++) {
        if (NsSinkTryLock(sink)) {
            NsDeliverPass(sink);
            (void) NsDeliverFlush(sink);
            NsSinkUnlock(sink);
            return;
        }
        select(0, NULL, NULL, NULL,
               &(struct timeval){pause.sec, pause.usec});
    }
}

char *
NsSinkGather(Ns_LogStream stream, const NsLaneRecord *recordPtr,
             Ns_LogRecord *outPtr)
{
    char  *bytes = NULL;
    size_t n = 0;

    if (recordPtr->nPieces > 1) {
        bytes = ns_malloc(recordPtr->length);
        for (int i = 0; i < recordPtr->nPieces; i++) {
            if (recordPtr->pieces[i].iov_len > 0) {
                memcpy(bytes + n, recordPtr->pieces[i].iov_base,
                       recordPtr->pieces[i].iov_len);
            }
            n += recordPtr->pieces[i].iov_len;
        }
    }
    *outPtr = (Ns_LogRecord) {
        .stream = NsStreamName(stream),
        .severity = recordPtr->severity,
        .time = recordPtr->time,
        .bytes = bytes != NULL ? bytes : recordPtr->pieces[0].iov_base,
        .length = recordPtr->length
    };
    return bytes;
}

bool
NsSinkNoteGap(Ns_LogSink sink, Ns_LogStream stream, const NsGap *gapPtr)
{
    char from[NS_LOG_ZONED_TIME_LENGTH + 1], to[NS_LOG_ZONED_TIME_LENGTH + 1];

    strcpy(from, NsLogZonedTimeText((time_t) (gapPtr->first
                                              / NS_STAMP_SECOND)));
    strcpy(to, NsLogZonedTimeText((time_t) (gapPtr->last / NS_STAMP_SECOND)));
    if (stream != NULL) {
        return NsDeliverNote(sink, Warning, "log: %" PRIu64 " records of "
                             "stream '%s' are missing here, from %s to %s: log "
                             "memory was full", gapPtr->n,
                             NsStreamName(stream), from, to);
    }
    return NsDeliverNote(sink, Warning, "log: %" PRIu64 " records are missing "
                         "here, from %s to %s: they could not be written in "
                         "time, and %s", gapPtr->n, from, to,
                         sink->settings.maxMemory > 0
                         ? "their sink was more than maxmemory behind"
                         : "memory was full");
}

/*
 * Nobody waits for another thread that is at it, maybe in a write that does not
 * end: the other looks once more, and a log thread's last pass is followed by
 * NsSinkStop's.
 */
static void
FlushIfPumped(Ns_LogSink sink)
{
    if (atomic_load(&sink->isStuck)) {
        return;
    }
    (void) atomic_exchange(&sink->isPumpDue, true);
    while (atomic_load(&sink->isPumpDue) && NsSinkTryLock(sink)) {
        (void) atomic_exchange(&sink->isPumpDue, false);
        NsDeliverPass(sink);
        /* A database need not be there; its rows wait for NsSinkFinish. */
        if (!sink->typePtr->isDatabase
                && (sink->settings.bufferLines == 0
                    || sink->nLines > sink->settings.bufferLines)) {
            (void) NsDeliverFlush(sink);
        }
        NsSinkUnlock(sink);
    }
}
