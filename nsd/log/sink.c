/*
 * sink.c --
 *
 *      The table of sinks, and the routes of streams to them.
 */

#include "log/sink_int.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "base/assert.h"
#include "base/config.h"
#include "log/compress.h"
#include "log/init.h"
#include "log/severity.h"
#include "log/systemlog.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define DRAIN_SECONDS 2
#define STOP_SECONDS  5    /* For all sinks together. */
/* Kept by a direct sink while it cannot write. */
#define FAILED_MAX_BYTES ((size_t) 1 << 20)

const NsSinkSettings nsSinkDefaults = {
    .minSeverity = -1,
    .sample = 1,
    .bufferBytes = 65536,
    .bufferNanos = 100000000,
    .batchRows = 50,
    .rollHour = -1,
    .maxBackup = 10
};

static const NsSinkType *const types[] = {
    &nsFileSinkType, &nsStdoutSinkType, &nsStderrSinkType, &nsFdSinkType,
    &nsSyslogSinkType, &nsSqliteSinkType,
#ifdef HAVE_LIBPQ
    &nsPostgresqlSinkType
#endif
};

static Ns_Mutex   lock;         /* Guards routes, and growth of the table. */
static _Atomic(Ns_LogSink) sinks[NS_RING_SINKS];
static atomic_int nSinks;
static bool       isStarted;    /* Guarded by lock: log threads may run. */

static _Atomic(NsRing *) ring;

atomic_bool nsSinkIsPumping;
bool        nsSinkNeedsFence;
atomic_uint nsSinkFence;

/* What this thread logged while it worked for a sink. */
typedef struct Deferred {
    struct Deferred *nextPtr;
    Ns_LogSeverity   severity;
    size_t           length;
    char             message[];
} Deferred;

static _Thread_local int       nWorking;
static _Thread_local Deferred *firstDeferred;
static _Thread_local Deferred **lastDeferredPtr;

static bool IsFailing(Ns_LogSink sink);
static bool IsFull(void);
static int  FreeIndexLocked(void);
static const NsSinkType *FindType(const char *name);
static bool IsMatch(Ns_LogSink sink, Ns_LogStream stream);
static void RouteLocked(Ns_LogStream stream);
static void Widen(NsStreamFilter *filterPtr, Ns_LogSink sink,
                  Ns_LogStream stream, bool isFirst);
static void RouteAll(Ns_LogSink sink);
static void AttachLocked(Ns_LogSink sink);
static void StartAt(Ns_LogSink sink, NsRing *ringPtr);
static void NoteSettings(Ns_LogSink sink);
static void FlushIfPumped(Ns_LogSink sink);
static bool TryLock(Ns_LogSink sink);


void
NsSinkInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LOG_SINKS, "ns:log", "sinks");
    NsCompressInit();
}

Ns_LogSink
NsSinkCreate(const NsSinkSpec *specPtr)
{
    Ns_LogSink sink;

    if (strlen(specPtr->name) >= NS_RING_NAME
            || NsSinkFind(specPtr->name) != NULL) {
        errno = EEXIST;
        return NULL;
    }
    if (IsFull()) {
        errno = NS_SINK_TOO_MANY;
        return NULL;
    }
    sink = NsSinkMake(specPtr);
    if (sink == NULL) {
        return NULL;
    }
    NsRecoverSink(sink);

    Ns_MutexLock(&lock);
    sink->index = FreeIndexLocked();
    if (sink->index < 0) {
        Ns_MutexUnlock(&lock);
        NsRecoverDropClaims(sink);
        sink->typePtr->closeProc(sink);
        NsSinkUnmake(&sink);
        errno = NS_SINK_TOO_MANY;
        return NULL;
    }
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        NsStreamDrops drops;

        NsStreamGetDrops(NsStreamAt(i), &drops);
        sink->seenDrops[i] = sink->baseDrops[i] = drops.n;
        sink->baseIgnored[i] = NsStreamIgnored(NsStreamAt(i));
        if (IsMatch(sink, NsStreamAt(i))) {
            atomic_store(&sink->wants[i], 1);
        }
    }
    if (!specPtr->isDirect) {
        AttachLocked(sink);
    }
    sink->olderPtr = atomic_load(&sinks[sink->index]);
    atomic_store(&sinks[sink->index], sink);
    if (sink->index == atomic_load(&nSinks)) {
        atomic_store(&nSinks, sink->index + 1);
    }
    RouteAll(sink);
    if (isStarted && atomic_load(&sink->isOnLanes)) {
        NsSinkThreadStart(sink);
    }
    Ns_MutexUnlock(&lock);

    NsSinkLock(sink);
    NsFileFinishBackups(sink);
    NsSinkUnlock(sink);
    return sink;
}

/*
 * A sink with its target open, which is in no table yet.
 */
Ns_LogSink
NsSinkMake(const NsSinkSpec *specPtr)
{
    Ns_LogSink sink;

    sink = ns_calloc(1u, sizeof(*sink));
    sink->name = ns_strdup(specPtr->name);
    sink->typePtr = FindType(specPtr->type);
    sink->isStandardOutput = specPtr->isStandardOutput;
    sink->isModules = specPtr->isModules;
    sink->file = ns_strcopy(specPtr->file);
    sink->connection = ns_strcopy(specPtr->connection);
    sink->table = ns_strcopy(specPtr->table);
    sink->fd = -1;
    sink->nPatterns = specPtr->nStreams;
    sink->patterns = ns_calloc((size_t) specPtr->nStreams, sizeof(char *));
    for (int i = 0; i < specPtr->nStreams; i++) {
        sink->patterns[i] = ns_strdup(specPtr->streams[i]);
    }
    NsMutexSetup(&sink->lock, NS_RANK_LOG_FILE, "ns:log", sink->name);
    NsMutexSetup(&sink->wakeLock, NS_RANK_LOG_WAKE, "ns:logwake", sink->name);
    NsSinkApplySettings(sink, &specPtr->settings);
    if (!sink->typePtr->openProc(sink)) {
        int reason = errno;

        NsSinkUnmake(&sink);
        errno = reason;
        return NULL;
    }
    return sink;
}

void
NsSinkUnmake(Ns_LogSink *sinkPtr)
{
    Ns_LogSink sink = *sinkPtr;

    *sinkPtr = NULL;
    for (int i = 0; i < sink->nPatterns; i++) {
        ns_free(sink->patterns[i]);
    }
    ns_free(sink->patterns);
    ns_free(sink->buffer);
    ns_free(sink->scratch);
    ns_free(sink->reduced);
    NsSinkFreeSettings(&sink->settings);
    NsKindsFree(&sink->ignored);
    Ns_MutexDestroy(&sink->lock);
    Ns_MutexDestroy(&sink->wakeLock);
    ns_free(sink->connection);
    ns_free(sink->table);
    ns_free(sink->file);
    ns_free(sink->name);
    ns_free(sink);
}

Ns_LogSink
Ns_LogSinkOpen(const Ns_LogSinkSpec *specPtr)
{
    const char *stream = NsStreamName(specPtr->stream);
    NsSinkSpec  spec = {
        .name = specPtr->name,
        .type = "file",
        .streams = &stream,
        .nStreams = 1,
        .file = specPtr->file,
        .isDirect = !NsLogIsAsync(),
        .settings = nsSinkDefaults
    };
    Ns_LogSink  sink;

    spec.isModules = true;
    spec.settings.bufferBytes = specPtr->bufferBytes;
    spec.settings.bufferLines = specPtr->bufferLines;
    sink = NsSinkCreate(&spec);
    if (sink == NULL && errno == NS_SINK_TOO_MANY) {
        Ns_Log(Error, "log: cannot make sink '%s': %s", spec.name,
               NsSinkReason(errno));
        errno = NS_SINK_TOO_MANY;
    }
    return sink;
}

const char *
NsSinkReason(int reason)
{
    return reason == NS_SINK_TOO_MANY
        ? "there are " STRINGIFY(NS_RING_SINKS) " sinks, and can be no more"
        : strerror(reason);
}

bool
NsSinkHasType(const char *type)
{
    return FindType(type) != NULL;
}

Ns_LogSink
NsSinkFind(const char *name)
{
    Ns_LogSink sink;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isRemoved) && STREQ(sink->name, name)) {
            return sink;
        }
    }
    return NULL;
}

Ns_LogSink
NsSinkAt(int index)
{
    return index < atomic_load_explicit(&nSinks, memory_order_acquire)
        ? atomic_load_explicit(&sinks[index], memory_order_acquire) : NULL;
}

const char *
NsSinkName(Ns_LogSink sink)
{
    return sink->name;
}

const char *
NsSinkTypeName(Ns_LogSink sink)
{
    return sink->typePtr->name;
}

const char *
NsSinkFile(Ns_LogSink sink)
{
    return sink->file != NULL ? sink->file : sink->typePtr->name;
}

const char *
NsSinkTable(Ns_LogSink sink)
{
    return sink->table != NULL ? sink->table : "";
}

const char *
NsSinkPattern(Ns_LogSink sink, int index)
{
    return index < sink->nPatterns ? sink->patterns[index] : NULL;
}

bool
NsSinkIsDirect(Ns_LogSink sink)
{
    return !atomic_load(&sink->isOnLanes);
}

bool
NsSinkWants(Ns_LogSink sink, int stream)
{
    return atomic_load(&sink->wants[stream]) != 0;
}

void
NsSinkRecoverByName(const char *name)
{
    NsRecoverSink(NsSinkFind(name));
}

void
NsSinkGetSettings(Ns_LogSink sink, NsSinkSettings *settingsPtr)
{
    /* The sink's own lock may be held for as long as a write takes. */
    Ns_MutexLock(&sink->wakeLock);
    *settingsPtr = sink->settings;
    settingsPtr->rollFormat = ns_strcopy(sink->settings.rollFormat);
    settingsPtr->ignore = ns_strcopy(sink->settings.ignore);
    Ns_MutexUnlock(&sink->wakeLock);
}

void
NsSinkFreeSettings(NsSinkSettings *settingsPtr)
{
    ns_free(settingsPtr->rollFormat);
    ns_free(settingsPtr->ignore);
    settingsPtr->rollFormat = settingsPtr->ignore = NULL;
}

Ns_ReturnCode
NsSinkRemove(Ns_LogSink sink)
{
    Ns_ReturnCode status = Ns_LogSinkFlush(sink);

    Ns_MutexLock(&lock);
    atomic_store(&sink->isRemoved, true);
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        if (atomic_exchange(&sink->wants[i], 0) != 0) {
            RouteLocked(NsStreamAt(i));
        }
    }
    Ns_MutexUnlock(&lock);

    if (!NsSinkThreadStop(sink, NULL)) {
        return NS_ERROR;
    }
    NsSinkLock(sink);
    (void) NsDeliverFlush(sink);
    sink->typePtr->closeProc(sink);
    sink->isClosed = true;
    NsRecoverDropClaims(sink);
    NsSinkUnlock(sink);
    Ns_MutexLock(&lock);
    atomic_store(&sink->isOnLanes, false);
    if (sink->slotPtr != NULL) {
        sink->slotPtr->name[0] = '\0';
    }
    Ns_MutexUnlock(&lock);
    return status;
}

bool
NsSinkIsRemoved(Ns_LogSink sink)
{
    return atomic_load(&sink->isRemoved);
}

bool
NsSinkMayRemove(Ns_LogSink sink)
{
    return !sink->isStandardOutput && !sink->isModules;
}

void
NsSinkGetStats(Ns_LogSink sink, NsSinkStats *statsPtr)
{
    Ns_LogStream stream;

    memset(statsPtr, 0, sizeof(*statsPtr));
    statsPtr->delivered = atomic_load(&sink->nDelivered);
    statsPtr->ignored = atomic_load(&sink->nIgnored);
    statsPtr->droppedFailed = atomic_load(&sink->nFailed);
    statsPtr->droppedDamaged = atomic_load(&sink->nDamaged);
    statsPtr->droppedRejected = atomic_load(&sink->nRejected);
    statsPtr->bytes = atomic_load(&sink->nBytes);
    statsPtr->writes = atomic_load(&sink->nWrites);
    statsPtr->syncs = atomic_load(&sink->nSyncs);
    statsPtr->errors = atomic_load(&sink->nErrors);
    statsPtr->wakeups = atomic_load(&sink->nWakeups);
    statsPtr->longestWrite = atomic_load(&sink->longestWrite);
    statsPtr->writeNanos = atomic_load(&sink->writeNanos);
    statsPtr->accepted = atomic_load(&sink->nDirect);
    for (int i = 0; (stream = NsStreamAt(i)) != NULL; i++) {
        NsStreamDrops drops;

        if (NsSinkWants(sink, i)) {
            uint64_t n = NsStreamIgnored(stream) - sink->baseIgnored[i];

            statsPtr->ignored += n;
            statsPtr->accepted += n;
        }
        if (NsSinkWants(sink, i) && atomic_load(&sink->isOnLanes)) {
            NsStreamGetDrops(stream, &drops);
            statsPtr->droppedMemory += drops.n - sink->baseDrops[i];
            statsPtr->accepted += NsLaneRecords(i) - sink->baseRecords[i];
        }
    }
    statsPtr->pending = statsPtr->accepted - statsPtr->delivered
        - statsPtr->ignored - statsPtr->droppedFailed
        - statsPtr->droppedDamaged - statsPtr->droppedRejected;
    statsPtr->accepted += statsPtr->droppedMemory;
    if (statsPtr->pending > atomic_load(&sink->deepest)) {
        atomic_store(&sink->deepest, statsPtr->pending);
    }
    statsPtr->deepest = atomic_load(&sink->deepest);
}

void
NsSinkUseLanes(Ns_LogSink sink)
{
    Ns_MutexLock(&lock);
    if (!atomic_load(&sink->isOnLanes)) {
        NsSinkLock(sink);
        (void) NsDeliverFlush(sink);
        AttachLocked(sink);
        NsSinkUnlock(sink);
        RouteAll(sink);
        if (isStarted && atomic_load(&sink->isOnLanes)) {
            NsSinkThreadStart(sink);
        }
    }
    Ns_MutexUnlock(&lock);
}

void
NsSinkUseRing(const NsRingKey *keyPtr, int64_t bytes)
{
    const char *reason;
    NsRing     *ringPtr;

    if (atomic_load(&ring) != NULL) {
        return;
    }
    nsSinkNeedsFence = syscall(SYS_membarrier,
                               MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)
        != 0;
    ringPtr = NsRingCreate(keyPtr, bytes, &reason);
    if (reason != NULL) {
        Ns_Log(Warning, "log: no log memory in '%s': '%s'; what is logged last "
               "is lost when the process is killed", keyPtr->directory, reason);
    } else if ((int64_t) ringPtr->headerPtr->bytes < bytes / 2 + bytes / 4) {
        Ns_Log(Warning, "log: logmemory is only %" PRIu64 " bytes, for want of "
               "room in '%s'", ringPtr->headerPtr->bytes, keyPtr->directory);
    }
    NsLaneInit(ringPtr);
    NsStreamUseRing(ringPtr);
    atomic_store(&ring, ringPtr);
}

NsRing *
NsSinkRing(void)
{
    return atomic_load_explicit(&ring, memory_order_acquire);
}

const char *
NsSinkRingPath(void)
{
    NsRing *ringPtr = NsSinkRing();

    return ringPtr != NULL && ringPtr->path != NULL ? ringPtr->path : "";
}

void
NsSinkStart(void)
{
    Ns_LogSink sink;

    Ns_MutexLock(&lock);
    atomic_store(&nsSinkIsPumping, false);
    isStarted = true;
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (atomic_load(&sink->isOnLanes) && !atomic_load(&sink->isRemoved)
                && !sink->hasThread && !atomic_load(&sink->isStuck)) {
            NsSinkThreadStart(sink);
        }
    }
    Ns_MutexUnlock(&lock);
    NsCompressStart();
}

void
NsSinkStop(void)
{
    Ns_LogSink sink;
    Ns_Time    limit;
    bool       wasStarted;

    Ns_GetTime(&limit);
    Ns_IncrTime(&limit, STOP_SECONDS, 0);
    Ns_MutexLock(&lock);
    wasStarted = isStarted;
    isStarted = false;
    atomic_store(&nsSinkIsPumping, NsSinkRing() != NULL);
    Ns_MutexUnlock(&lock);

    for (int i = 0; wasStarted && (sink = NsSinkAt(i)) != NULL; i++) {
        NsSinkThreadAskStop(sink);
    }
    for (int i = 0; wasStarted && (sink = NsSinkAt(i)) != NULL; i++) {
        if (!NsSinkThreadStop(sink, &limit)) {
            atomic_store(&sink->isStuck, true);
            Ns_Log(Warning, "log: sink '%s' does not come back from writing to "
                   "'%s'; the next start writes what is left", sink->name,
                   NsSinkFile(sink));
        } else if (IsFailing(sink)) {
            NsSinkStats stats;

            NsSinkGetStats(sink, &stats);
            Ns_Log(Warning, "log: sink '%s': %" PRIu64 " records are not "
                   "written; the next start writes them", sink->name,
                   stats.pending);
        }
    }
    (void) NsSinkPumpAll();
}

void
NsSinkFinish(void)
{
    Ns_LogSink sink;
    bool       isAllWritten = true;

    NsCompressStop();
    NsSinkStop();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        NsSinkStats stats;

        if (atomic_load(&sink->isRemoved)) {
            continue;
        }
        if (!atomic_load(&sink->isStuck)) {
            NsSinkLock(sink);
            NsDeliverPass(sink);
            (void) NsDeliverFlush(sink);
            if (sink->syncDue != 0) {
                (void) NsDeliverSync(sink);
            }
            NsSinkUnlock(sink);
        }
        NsSinkGetStats(sink, &stats);
        isAllWritten &= stats.pending == 0 || !atomic_load(&sink->isOnLanes);
    }
    /* The memory stays mapped: a thread that is left may still log. */
    if (isAllWritten && NsSinkRing() != NULL && NsSinkRing()->path != NULL) {
        unlink(NsSinkRing()->path);
    }
}

void
NsSinkDrain(Ns_LogSink sink)
{
    Ns_Time pause = {0, 10000};

    if (nWorking > 0) {
        return;
    }
    for (int i = 0; i < DRAIN_SECONDS * 100; i++) {
        if (Ns_MutexTryLock(&sink->lock) == NS_OK) {
            nWorking++;
            NsDeliverPass(sink);
            (void) NsDeliverFlush(sink);
            Ns_MutexUnlock(&sink->lock);
            nWorking--;
            return;
        }
        select(0, NULL, NULL, NULL,
               &(struct timeval){pause.sec, pause.usec});
    }
}

void
NsSinkStreamCreated(Ns_LogStream stream)
{
    Ns_LogSink sink;
    int        index = NsStreamIndex(stream);
    bool       isWanted = false;

    Ns_MutexLock(&lock);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isRemoved) && IsMatch(sink, stream)) {
            atomic_store(&sink->wants[index], 1);
            if (sink->slotPtr != NULL) {
                atomic_store(&sink->slotPtr->wants[index], 1);
            }
            isWanted = true;
            /* An idle sink must come back for its new stream. */
            NsSinkKick(sink);
        }
    }
    if (isWanted) {
        RouteLocked(stream);
    }
    Ns_MutexUnlock(&lock);
}

void
NsSinkPutDirect(Ns_LogSink sink, Ns_LogStream stream,
                const NsLaneRecord *recordPtr)
{
    char        *gathered = NsSinkGathered(recordPtr);
    Ns_LogRecord record = {
        .stream = NsStreamName(stream),
        .severity = recordPtr->severity,
        .time = recordPtr->time,
        .bytes = gathered != NULL ? gathered : recordPtr->pieces[0].iov_base,
        .length = recordPtr->length
    };

    NsSinkLock(sink);
    atomic_fetch_add(&sink->nDirect, 1);
    NsFileRollIfDue(sink);
    if (sink->failure != 0 && !NsDeliverFlush(sink)
            && sink->nBuffered > FAILED_MAX_BYTES) {
        atomic_fetch_add(&sink->nFailed, 1);
    } else if (!NsDeliverRecord(sink, stream, &record)) {
        atomic_fetch_add(&sink->nFailed, 1);
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
    Ns_LogSink sink;

    for (int i = 0; nWorking == 0 && (sink = NsSinkAt(i)) != NULL; i++) {
        if (NsSinkWants(sink, NsStreamIndex(stream))
                && atomic_load(&sink->isOnLanes)) {
            FlushIfPumped(sink);
        }
    }
}

bool
NsSinkPumpAll(void)
{
    Ns_LogSink sink;

    if (!NsSinkIsPumping() || nWorking > 0) {
        return false;
    }
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (atomic_load(&sink->isOnLanes)) {
            FlushIfPumped(sink);
        }
    }
    return true;
}

void
NsSinkLock(Ns_LogSink sink)
{
    nWorking++;
    Ns_MutexLock(&sink->lock);
}

void
NsSinkUnlock(Ns_LogSink sink)
{
    int reason = errno;

    Ns_MutexUnlock(&sink->lock);
    nWorking--;
    while (nWorking == 0 && firstDeferred != NULL) {
        Deferred *deferredPtr = firstDeferred;

        firstDeferred = deferredPtr->nextPtr;
        Ns_Log(deferredPtr->severity, "%.*s", (int) deferredPtr->length,
               deferredPtr->message);
        ns_free(deferredPtr);
    }
    errno = reason;
}

bool
NsSinkDefer(Ns_LogSeverity severity, const char *message, size_t length)
{
    Deferred *deferredPtr;

    if (likely(nWorking == 0)) {
        return false;
    }
    deferredPtr = ns_malloc(sizeof(*deferredPtr) + length);
    deferredPtr->nextPtr = NULL;
    deferredPtr->severity = severity;
    deferredPtr->length = length;
    memcpy(deferredPtr->message, message, length);
    if (firstDeferred == NULL) {
        firstDeferred = deferredPtr;
    } else {
        *lastDeferredPtr = deferredPtr;
    }
    lastDeferredPtr = &deferredPtr->nextPtr;
    return true;
}

void
NsSinkNoteGap(Ns_LogSink sink, Ns_LogStream stream, uint64_t n, int64_t first,
              int64_t last)
{
    char from[NS_LOG_ZONED_TIME_LENGTH + 1], to[NS_LOG_ZONED_TIME_LENGTH + 1];

    strcpy(from, NsLogZonedTimeText((time_t) (first / 1000000000)));
    strcpy(to, NsLogZonedTimeText((time_t) (last / 1000000000)));
    NsDeliverNote(sink, Warning, "log: %" PRIu64 " records of stream '%s' are "
                  "missing here, from %s to %s: log memory was full", n,
                  NsStreamName(stream), from, to);
}

/*
 * False also while another thread works for the sink.
 */
static bool
IsFailing(Ns_LogSink sink)
{
    bool isFailing = false;

    if (TryLock(sink)) {
        isFailing = sink->failure != 0;
        NsSinkUnlock(sink);
    }
    return isFailing;
}

static bool
IsFull(void)
{
    bool isFull;

    Ns_MutexLock(&lock);
    isFull = FreeIndexLocked() < 0;
    Ns_MutexUnlock(&lock);
    return isFull;
}

/*
 * The place of a sink that was removed, or a new one; -1: there is none.
 */
static int
FreeIndexLocked(void)
{
    int n = atomic_load(&nSinks);

    for (int i = 0; i < n; i++) {
        Ns_LogSink sink = NsSinkAt(i);

        if (atomic_load(&sink->isRemoved) && !atomic_load(&sink->isOnLanes)
                && !sink->hasThread) {
            return i;
        }
    }
    return n < NS_RING_SINKS ? n : -1;
}

static const NsSinkType *
FindType(const char *name)
{
    for (int i = 0; i < Ns_NrElements(types); i++) {
        if (STREQ(types[i]->name, name)) {
            return types[i];
        }
    }
    return NULL;
}

static bool
IsMatch(Ns_LogSink sink, Ns_LogStream stream)
{
    for (int i = 0; i < sink->nPatterns; i++) {
        if (NsStreamMatches(stream, sink->patterns[i])) {
            return true;
        }
    }
    return false;
}

/*
 * The sink's settings have changed.
 */
void
NsSinkRouteAgain(Ns_LogSink sink)
{
    Ns_MutexLock(&lock);
    RouteAll(sink);
    Ns_MutexUnlock(&lock);
}

/*
 * Tell the stream which sinks want it now.
 */
static void
RouteLocked(Ns_LogStream stream)
{
    Ns_LogSink direct[NS_RING_SINKS], sink;
    int        nDirect = 0, index = NsStreamIndex(stream);
    bool       hasLane = false;
    size_t     nudgeBytes = SIZE_MAX;
    NsStreamFilter filter = {0, NULL};

    NsAssertLocked(&lock);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!NsSinkWants(sink, index)) {
            continue;
        }
        Widen(&filter, sink, stream, !hasLane && nDirect == 0);
        if (atomic_load(&sink->isOnLanes)) {
            size_t most = MAX(atomic_load(&sink->wakeBytes), 4096);

            hasLane = true;
            nudgeBytes = MIN(nudgeBytes, most);
        } else {
            direct[nDirect++] = sink;
        }
    }
    NsStreamSetRoute(stream, &(NsStreamRoute){
        .hasLane = hasLane, .nDirect = nDirect, .direct = direct,
        .nudgeBytes = nudgeBytes, .filter = filter
    });
    ns_free(filter.ignore);
}

/*
 * Let what the sink takes of the stream pass the filter.
 */
static void
Widen(NsStreamFilter *filterPtr, Ns_LogSink sink, Ns_LogStream stream,
      bool isFirst)
{
    NsSinkSettings settings;
    char          *common;
    int            weight;

    NsSinkGetSettings(sink, &settings);
    weight = settings.minSeverity < 0 || stream == nsOperationStream
        ? 0 : NsSeverityWeight(settings.minSeverity);
    common = isFirst ? ns_strcopy(settings.ignore)
        : NsKindsCommon(filterPtr->ignore, settings.ignore);
    ns_free(filterPtr->ignore);
    filterPtr->ignore = common;
    filterPtr->minWeight = isFirst ? weight
        : MIN(filterPtr->minWeight, weight);
    NsSinkFreeSettings(&settings);
}

static void
RouteAll(Ns_LogSink sink)
{
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        if (NsSinkWants(sink, i)) {
            RouteLocked(NsStreamAt(i));
        }
    }
}

/*
 * Let the sink read the lanes from where they are now.  Without a mapping it
 * stays direct.
 */
static void
AttachLocked(Ns_LogSink sink)
{
    NsRing     *ringPtr = NsSinkRing();
    NsRingSink *slotPtr;

    NsAssertLocked(&lock);
    if (ringPtr == NULL) {
        return;
    }
    slotPtr = NsRingSinkAt(ringPtr, sink->index);
    snprintf(slotPtr->file, sizeof(slotPtr->file), "%s",
             sink->file != NULL ? sink->file : "");
    snprintf(slotPtr->type, sizeof(slotPtr->type), "%s", sink->typePtr->name);
    snprintf(slotPtr->table, sizeof(slotPtr->table), "%s",
             sink->table != NULL ? sink->table : "");
    for (int i = 0; i < NS_RING_STREAMS; i++) {
        atomic_store(&slotPtr->wants[i], atomic_load(&sink->wants[i]));
    }
    sink->ringPtr = ringPtr;
    sink->slotPtr = slotPtr;
    NoteSettings(sink);
    StartAt(sink, ringPtr);
    /* Descriptors mean nothing to a later process. */
    if (sink->typePtr != &nsFdSinkType) {
        snprintf(slotPtr->name, sizeof(slotPtr->name), "%s", sink->name);
    }
    atomic_store(&sink->isOnLanes, true);
}

static void
StartAt(Ns_LogSink sink, NsRing *ringPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    uint32_t n = atomic_load(&headerPtr->nLanes);

    sink->places = ns_calloc(headerPtr->maxLanes, sizeof(NsPlace));
    sink->moved = ns_calloc(headerPtr->maxLanes, sizeof(uint32_t));
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        sink->baseRecords[i] = NsLaneRecords(i);
    }
    NsLaneLockChains();
    for (uint32_t i = 0; i < headerPtr->maxLanes; i++) {
        NsPlace *placePtr = &sink->places[i];
        uint64_t position = 0;

        placePtr->lane = i;
        placePtr->segment = NS_RING_NONE;
        if (i < n && NsPlaceOpen(ringPtr, placePtr, 0)) {
            while (NsPlaceHead(ringPtr, placePtr) != NULL) {
                NsPlaceAdvance(ringPtr, placePtr);
            }
            position = NsPlacePosition(placePtr);
        }
        atomic_store(&sink->slotPtr->cursors[i].done, position);
        atomic_store(&sink->slotPtr->cursors[i].ahead, position);
    }
    NsLaneUnlockChains();
}

void
NsSinkApplySettings(Ns_LogSink sink, const NsSinkSettings *settingsPtr)
{
    NsSinkSettings old = sink->settings;

    Ns_MutexLock(&sink->wakeLock);
    sink->settings = *settingsPtr;
    sink->settings.rollFormat = ns_strcopy(settingsPtr->rollFormat);
    sink->settings.ignore = ns_strcopy(settingsPtr->ignore);
    Ns_MutexUnlock(&sink->wakeLock);
    NsSinkFreeSettings(&old);
    NsKindsFree(&sink->ignored);
    (void) NsKindsInit(&sink->ignored, settingsPtr->ignore);
    sink->nextRoll = NsFileNextRoll(settingsPtr->rollHour);
    atomic_store(&sink->wakeBytes, settingsPtr->bufferBytes);
    NoteSettings(sink);
}

/*
 * For a later process that finds the mapping but does not have the sink.
 */
static void
NoteSettings(Ns_LogSink sink)
{
    const NsSinkSettings *settingsPtr = &sink->settings;

    if (sink->slotPtr != NULL) {
        sink->slotPtr->slowNanos = settingsPtr->slowNanos;
        sink->slotPtr->minSeverity = settingsPtr->minSeverity;
        sink->slotPtr->format = settingsPtr->format;
        sink->slotPtr->onlyErrors = settingsPtr->onlyErrors;
    }
}

/*
 * The record in one piece on the heap; NULL if it is in one piece already.
 */
char *
NsSinkGathered(const NsLaneRecord *recordPtr)
{
    char  *bytes;
    size_t n = 0;

    if (recordPtr->nPieces == 1) {
        return NULL;
    }
    bytes = ns_malloc(recordPtr->length);
    for (int i = 0; i < recordPtr->nPieces; i++) {
        if (recordPtr->pieces[i].iov_len > 0) {
            memcpy(bytes + n, recordPtr->pieces[i].iov_base,
                   recordPtr->pieces[i].iov_len);
        }
        n += recordPtr->pieces[i].iov_len;
    }
    return bytes;
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
    while (atomic_load(&sink->isPumpDue) && TryLock(sink)) {
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

static bool
TryLock(Ns_LogSink sink)
{
    nWorking++;
    if (Ns_MutexTryLock(&sink->lock) == NS_OK) {
        return true;
    }
    nWorking--;
    return false;
}
