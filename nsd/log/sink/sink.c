/*
 * sink.c --
 *
 *      The table of sinks; their beginning and end.
 */

#include "log/sink/sink_int.h"

#include "base/assert.h"
#include "log/ring/bell.h"
#include "log/sink/bound.h"
#include "log/sink/leftover.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define STOP_SECONDS  5  /* For all sinks together. */
#define SPARE_STREAMS 32 /* And sinks: to be made at run time. */
#define LEAST_READERS 16
#define TABLE         "table" /* Option that the mapping notes. */
/* Between attempts to have a file for the mapping. */
#define HOME_NANOS INT64_C(10000000000)

/*
 * Written with nsSinksLock held.
 */
static _Atomic(Ns_LogSink) sinks[NS_RING_MAX_SINKS];
static atomic_int          nSinks;
static bool                isStarted;     /* Log threads may run. */
static Ns_LogSink          firstUnlinked; /* In the table no more. */
static atomic_bool         isFreeDue; /* There are such, or lists of streams. */

static _Atomic(NsRing *) ring;
static const NsRingKey  *ringKeyPtr;
static atomic_bool       isRoomNew; /* Where mappings are. */

/* Of the sink that this thread could not make. */
static _Thread_local char complaint[sizeof(((Ns_LogSink) NULL)->complaint)];

bool       nsSinkIsAsync;
Ns_Mutex   nsSinksLock;
atomic_int nsSinkUsers;

static Ns_LogSink    Create(const NsSinkSpec *specPtr);
static void          PutIntoTableLocked(Ns_LogSink sink);
static Ns_ReturnCode Remove(Ns_LogSink sink);
static NsRing       *MakeRingLocked(const NsRingKey  *keyPtr,
                                    const char       *spillDirectory,
                                    const NsRingNeed *needPtr,
                                    const char      **reasonPtr);
static void          DeleteRing(void);
static bool          IsFailing(Ns_LogSink sink);
static bool          IsFull(void);
static int           FreeIndexLocked(void);
static void          SetValues(Ns_LogSink sink, const NsSinkSpec *specPtr);
static void          FreeValues(Ns_LogSink sink);
static const char   *TableOf(Ns_LogSink sink);
static void          FreeWork(Ns_LogSink sink);
static void          DetachLocked(Ns_LogSink sink);
static bool          AttachLocked(Ns_LogSink sink);
static void          AttachAllLocked(void);
static int           LimitLocked(void);
static uint32_t      CountStreams(void);

void
NsSinkInit(void)
{
    NsMutexSetup(&nsSinksLock, NS_RANK_LOG_SINKS, "ns:log", "sinks");
    NsLeftoverInit();
    NsBoundInit();
    NsSinkServeInit();
    NsBellHang(&(NsBell){.recordProc = NsSinkWake,
                         .nudgeProc = NsSinkNudge,
                         .streamProc = NsSinkJoinStream,
                         .shortageProc = NsSinkWakeAll,
                         .roomProc = NsSinkMakeRoom,
                         .takenProc = NsBoundAsk});
}

Ns_LogSink
NsSinkCreate(const NsSinkSpec *specPtr)
{
    Ns_LogSink sink;

    NsSinkEnter();
    sink = Create(specPtr);
    NsSinkLeave();
    NsSinkFreeRemoved();
    return sink;
}

static Ns_LogSink
Create(const NsSinkSpec *specPtr)
{
    Ns_LogSink sink;
    bool       isAttached;

    if (strlen(specPtr->name) >= NS_RING_NAME
        || NsSinkFind(specPtr->name) != NULL) {
        errno = EEXIST;
        return NULL;
    }
    if (IsFull()) {
        errno = NS_SINK_TOO_MANY;
        return NULL;
    }
    if (!specPtr->isAwaited && !NsWorkersNeed(false)) {
        errno = NS_SINK_NO_THREAD;
        return NULL;
    }
    sink = NsSinkMake(specPtr);
    if (sink == NULL) {
        return NULL;
    }
    NsRecoverClaim(sink);
    if (specPtr->isAwaited) {
        NsRecoverHere(sink, false);
    }

    Ns_MutexLock(&nsSinksLock);
    sink->index = FreeIndexLocked();
    if (sink->index < 0 || NsSinkFind(sink->name) != NULL) {
        int reason = sink->index < 0 ? NS_SINK_TOO_MANY : EEXIST;

        Ns_MutexUnlock(&nsSinksLock);
        NsRecoverDropClaims(sink);
        sink->typePtr->closeProc(sink);
        NsSinkUnmake(&sink);
        errno = reason;
        return NULL;
    }
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        if (NsSinkMatches(sink, NsStreamAt(i))) {
            (void) NsSinkJoin(sink, NsStreamAt(i));
        }
    }
    NsSinkLock(sink);
    isAttached = AttachLocked(sink);
    NsSinkUnlock(sink);
    if (!isAttached) {
        Ns_MutexUnlock(&nsSinksLock);
        NsRecoverDropClaims(sink);
        sink->typePtr->closeProc(sink);
        NsSinkUnmake(&sink);
        errno = NS_SINK_TOO_MANY_READERS;
        return NULL;
    }
    PutIntoTableLocked(sink);
    if (specPtr->isAwaited) {
        NsSinkLeaveToCallers(sink);
    }
    NsSinkRouteAllLocked(sink);
    if (!specPtr->isAwaited) {
        NsSinkServe(sink);
    }
    Ns_MutexUnlock(&nsSinksLock);

    NsSinkLock(sink);
    if (sink->typePtr->filePtr != NULL) {
        sink->typePtr->filePtr->startProc(sink);
    }
    NsSinkUnlock(sink);
    NsBoundCheck();
    return sink;
}

static void
PutIntoTableLocked(Ns_LogSink sink)
{
    Ns_LogSink old = atomic_exchange(&sinks[sink->index], sink);

    if (old != NULL) {
        old->nextPtr = firstUnlinked;
        firstUnlinked = old;
        NsSinkFreeLater();
    }
    if (sink->index == atomic_load(&nSinks)) {
        atomic_store(&nSinks, sink->index + 1);
    }
}

void
NsSinkFreeLater(void)
{
    NsAssertLocked(&nsSinksLock);
    atomic_store(&isFreeDue, true);
}

/*
 * What is not to be found any more when there are no users, none can have.
 */
void
NsSinkFreeRemoved(void)
{
    int        reason = errno;
    Ns_LogSink sink = NULL;

    if (!atomic_load(&isFreeDue)) {
        return;
    }
    Ns_MutexLock(&nsSinksLock);
    if (atomic_load(&nsSinkUsers) == 0) {
        atomic_store(&isFreeDue, false);
        sink = firstUnlinked;
        firstUnlinked = NULL;
        NsStreamFreeListsLocked();
    }
    Ns_MutexUnlock(&nsSinksLock);
    while (sink != NULL) {
        Ns_LogSink next = sink->nextPtr;

        NsSinkUnmake(&sink);
        sink = next;
    }
    errno = reason;
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
    sink->typePtr = NsSinkTypeFind(specPtr->type);
    sink->isStandardOutput = specPtr->isStandardOutput;
    sink->isModules = specPtr->isModules;
    atomic_store(&sink->isAwaited, specPtr->isAwaited);
    sink->file = ns_strcopy(specPtr->file);
    SetValues(sink, specPtr);
    sink->fd = -1;
    sink->nPatterns = specPtr->nStreams;
    sink->patterns = ns_calloc((size_t) specPtr->nStreams, sizeof(char *));
    for (int i = 0; i < specPtr->nStreams; i++) {
        sink->patterns[i] = ns_strdup(specPtr->streams[i]);
    }
    NsMutexSetup(&sink->lock, NS_RANK_LOG_FILE, "ns:log", sink->name);
    NsMutexSetup(&sink->wakeLock, NS_RANK_LOG_WAKE, "ns:logwake", sink->name);
    NsMutexSetup(&sink->lendLock, NS_RANK_LOG_LENT, "ns:loglent", sink->name);
    NsSinkApplySettings(sink, &specPtr->settings);
    if (!sink->typePtr->openProc(sink) && !specPtr->mayOpenLater) {
        int reason = errno;

        snprintf(complaint, sizeof(complaint), "%s", sink->complaint);
        NsSinkUnmake(&sink);
        errno = complaint[0] != '\0' ? NS_SINK_COMPLAINS : reason;
        return NULL;
    }
    return sink;
}

/*
 * Of a module's type.  A sink that is made for what another one left has the
 * defaults, and what the mapping says: its file and its table.
 */
static void
SetValues(Ns_LogSink sink, const NsSinkSpec *specPtr)
{
    const NsSinkType *typePtr = sink->typePtr;
    int               n = NsSinkTypeCountOptions(typePtr);

    if (typePtr->defaults == NULL) {
        return;
    }
    sink->values = ns_calloc((size_t) n, sizeof(*sink->values));
    for (int i = 0; i < n; i++) {
        Ns_LogSinkValue value = typePtr->defaults[i];

        if (specPtr->values != NULL && specPtr->values[i].text != NULL
            && *specPtr->values[i].text != '\0') {
            value = specPtr->values[i];
        }
        if (i == 0 && typePtr->outlivesSink) {
            value.text = specPtr->file;
        } else if (specPtr->values == NULL && specPtr->table != NULL
                   && *specPtr->table != '\0'
                   && STREQ(typePtr->options[i].name, TABLE)) {
            value.text = specPtr->table;
        }
        value.text = ns_strdup(value.text != NULL ? value.text : "");
        sink->values[i] = value;
    }
}

static void
FreeValues(Ns_LogSink sink)
{
    int n = sink->values == NULL ? 0 : NsSinkTypeCountOptions(sink->typePtr);

    for (int i = 0; i < n; i++) {
        ns_free((char *) sink->values[i].text);
    }
    ns_free(sink->values);
}

static const char *
TableOf(Ns_LogSink sink)
{
    int n = sink->values == NULL ? 0 : NsSinkTypeCountOptions(sink->typePtr);

    for (int i = 0; i < n; i++) {
        if (STREQ(sink->typePtr->options[i].name, TABLE)) {
            return sink->values[i].text;
        }
    }
    return "";
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
    FreeWork(sink);
    while (sink->firstStream != NULL) {
        NsSinkStream *streamPtr = sink->firstStream;

        sink->firstStream = streamPtr->nextPtr;
        ns_free(streamPtr);
    }
    if (sink->typePtr->filePtr != NULL) {
        sink->typePtr->filePtr->endProc(sink);
    }
    NsSinkFreeSettings(&sink->settings);
    NsKindsFree(&sink->ignored);
    Ns_MutexDestroy(&sink->lock);
    Ns_MutexDestroy(&sink->wakeLock);
    Ns_MutexDestroy(&sink->lendLock);
    Ns_CondDestroy(&sink->opDone);
    FreeValues(sink);
    ns_free(sink->file);
    ns_free(sink->name);
    ns_free(sink);
}

/*
 * What it needs for its work, beside the target.
 */
static void
FreeWork(Ns_LogSink sink)
{
    ns_free(sink->buffer);
    ns_free(sink->scratch);
    ns_free(sink->reduced);
    NsSinkFreeLanes(sink);
    NsMergeFree(&sink->merge);
    sink->buffer = sink->scratch = sink->reduced = NULL;
    sink->room = sink->nBuffered = sink->nWritten = 0;
    sink->scratchBytes = sink->reducedBytes = 0;
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
         .isAwaited = !nsSinkIsAsync,
         .settings = nsSinkDefaults};
    Ns_LogSink sink;

    spec.isModules = true;
    spec.mayOpenLater = specPtr->mayOpenLater;
    spec.settings.bufferBytes = specPtr->bufferBytes;
    spec.settings.bufferLines = specPtr->bufferLines;
    sink = NsSinkCreate(&spec);
    if (sink == NULL
        && (errno == NS_SINK_TOO_MANY || errno == NS_SINK_NO_THREAD
            || errno == NS_SINK_TOO_MANY_READERS)) {
        int reason = errno == NS_SINK_NO_THREAD ? EAGAIN : errno;

        Ns_Log(Error, "log: cannot make sink '%s': %s", spec.name,
               NsSinkReason(errno));
        errno = reason;
    }
    return sink;
}

const char *
NsSinkReason(int reason)
{
    static _Thread_local char text[128];
    const NsRing             *ringPtr = NsSinkRing();

    if (reason == NS_SINK_TOO_MANY) {
        snprintf(text, sizeof(text),
                 "the limit is %u sinks; raise maxlogs in "
                 "ns/parameters",
                 ringPtr == NULL ? NS_RING_MAX_SINKS
                                 : ringPtr->headerPtr->maxSinks);
        return text;
    }
    if (reason == NS_SINK_TOO_MANY_READERS) {
        snprintf(text, sizeof(text),
                 "the limit is %u sinks of one stream; "
                 "raise logmemory in ns/parameters",
                 ringPtr->headerPtr->maxReaders);
        return text;
    }
    return reason == NS_SINK_NO_THREAD
        ? "no thread can be started for it; see the limits on processes "
          "(ulimit -u) and memory (ulimit -v)"
        : reason == NS_SINK_COMPLAINS && complaint[0] != '\0'
        ? complaint
        : strerror(reason);
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
        ? atomic_load(&sinks[index])
        : NULL;
}

const char *
NsSinkName(Ns_LogSink sink)
{
    return sink->name;
}

const NsSinkType *
NsSinkTypeOf(Ns_LogSink sink)
{
    return sink->typePtr;
}

const char *
NsSinkFile(Ns_LogSink sink)
{
    if (sink->file != NULL) {
        return sink->file;
    }
    /* See filesink.c. */
    return sink->typePtr->filePtr != NULL ? "stderr" : sink->typePtr->name;
}

const char *
NsSinkOption(Ns_LogSink sink, int index)
{
    return index == 0 ? NsSinkFile(sink) : sink->values[index].text;
}

const char *
NsSinkPattern(Ns_LogSink sink, int index)
{
    return index < sink->nPatterns ? sink->patterns[index] : NULL;
}

bool
NsSinkWants(Ns_LogSink sink, int stream)
{
    const NsSinkStream *streamPtr = atomic_load(&sink->isDetached)
        ? NULL
        : atomic_load(&sink->firstStream);

    while (streamPtr != NULL && streamPtr->index != stream) {
        streamPtr = atomic_load(&streamPtr->nextPtr);
    }
    return streamPtr != NULL;
}

void
NsSinkRecoverByName(const char *name, bool getsThread)
{
    Ns_LogSink sink = NsSinkFind(name);

    NsRecoverClaim(sink);
    NsRecoverHere(sink, getsThread);
}

Ns_ReturnCode
NsSinkRemove(Ns_LogSink sink)
{
    Ns_ReturnCode status;

    NsSinkEnter();
    status = Remove(sink);
    NsSinkLeave();
    NsSinkFreeRemoved();
    return status;
}

static Ns_ReturnCode
Remove(Ns_LogSink sink)
{
    Ns_ReturnCode status = Ns_LogSinkFlush(sink);
    NsSinkStats   stats;

    NsSinkGetStats(sink, &stats);
    if (status != NS_OK && stats.pending > 0) {
        Ns_Log(Warning,
               "log: sink '%s' is removed with %" PRIu64 " records "
               "that could not be written to '%s', which are dropped",
               sink->name, stats.pending, NsSinkFile(sink));
    }
    Ns_MutexLock(&nsSinksLock);
    if (atomic_exchange(&sink->isRemoved, true)) {
        /* Another thread was faster. */
        Ns_MutexUnlock(&nsSinksLock);
        return NS_OK;
    }
    NsSinkRouteAllLocked(sink);
    Ns_MutexUnlock(&nsSinksLock);

    /* As long as it is served, what the sink wants is kept for it. */
    (void) NsSinkAwaitStop(sink, NULL);
    NsSinkLock(sink);
    (void) NsDeliverFlush(sink);
    sink->typePtr->closeProc(sink);
    sink->isClosed = true;
    NsRecoverDropClaims(sink);
    NsSinkUnlock(sink);
    Ns_MutexLock(&nsSinksLock);
    DetachLocked(sink);
    Ns_MutexUnlock(&nsSinksLock);
    return status;
}

/*
 * The sink needs nothing any more.  The structure itself stays until another
 * sink has its place in the table, and nobody looks at it.
 */
static void
DetachLocked(Ns_LogSink sink)
{
    NsAssertLocked(&nsSinksLock);
    NsSinkLeaveToNobody(sink);
    if (sink->slotPtr != NULL) {
        NsSinkLock(sink);
        NsSinkDropSpill(sink);
        NsSinkUnlock(sink);
        NsRingSinkUnname(sink->slotPtr);
    }
    NsSinkLeaveAll(sink);
    NsSinkLock(sink);
    FreeWork(sink);
    NsSinkUnlock(sink);
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
NsSinkAwaitNoMore(Ns_LogSink sink)
{
    atomic_store(&sink->isAwaited, false);
}

const char *
NsSinkUseRing(const NsRingKey *keyPtr, const char *spillDirectory,
              const NsRingNeed *needPtr)
{
    const char *reason = NULL;
    NsRing     *ringPtr;
    int64_t     bytes = needPtr->bytes;

    Ns_MutexLock(&nsSinksLock);
    NsAssert(atomic_load(&ring) == NULL);
    ringPtr = MakeRingLocked(keyPtr, spillDirectory, needPtr, &reason);
    Ns_MutexUnlock(&nsSinksLock);
    if (ringPtr == NULL) {
        return reason;
    }
    if (reason != NULL) {
        Ns_Log(Warning,
               "log: no log memory in '%s': '%s'; a crash loses the "
               "latest entries: make room there (df, old files nsd-*), lower "
               "logmemory, or set logringdir",
               keyPtr->directory, reason);
    } else if ((int64_t) ringPtr->headerPtr->bytes < bytes / 2 + bytes / 4) {
        Ns_Log(Warning,
               "log: logmemory is only %" PRIu64 " bytes for lack of "
               "room in '%s': make room there (df, old files nsd-*), lower "
               "logmemory, or set logringdir",
               ringPtr->headerPtr->bytes, keyPtr->directory);
    }
    return NULL;
}

static NsRing *
MakeRingLocked(const NsRingKey *keyPtr, const char *spillDirectory,
               const NsRingNeed *needPtr, const char **reasonPtr)
{
    NsRingNeed need = *needPtr;
    NsRing    *ringPtr;

    NsBellBarrierInit();
    ringKeyPtr = keyPtr;
    /* There may be some already that nobody knew of. */
    need.nStreams = MAX(need.nStreams, CountStreams() + SPARE_STREAMS);
    need.nSinks = MAX(need.nSinks,
                      (uint32_t) atomic_load(&nSinks) + SPARE_STREAMS);
    need.nReaders = MAX(need.nReaders, LEAST_READERS);
    ringPtr = NsRingCreate(keyPtr, &need, reasonPtr);
    if (ringPtr == NULL) {
        return NULL;
    }
    if (spillDirectory != NULL && strlen(spillDirectory) < NS_RING_PATH) {
        strcpy(ringPtr->headerPtr->spillDirectory, spillDirectory);
    }
    NsLaneInit(ringPtr);
    NsStreamUseRing(ringPtr);
    atomic_store(&ring, ringPtr);
    AttachAllLocked();
    NsStreamUseLanes();
    return ringPtr;
}

/*
 * The sinks that were made before.
 */
static void
AttachAllLocked(void)
{
    Ns_LogSink sink;

    NsAssertLocked(&nsSinksLock);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        NsSinkLock(sink);
        (void) AttachLocked(sink);
        NsSinkUnlock(sink);
    }
}

void
NsSinkWatchRing(void)
{
    static bool    isTold; /* That there is no file. */
    static int64_t lastTry;
    NsRing        *ringPtr = NsSinkRing();
    const char    *old, *reason;
    bool           isNew;

    NsRecoverLate();
    if (ringPtr == NULL || !NsRingIsHomeless(ringPtr)) {
        return;
    }
    /* At the start it has been said. */
    isNew = atomic_load(&ringPtr->path) != NULL && !isTold;
    if (!isNew && !atomic_exchange(&isRoomNew, false)
        && !NsSinkIsDue(lastTry + HOME_NANOS, HOME_NANOS)) {
        return;
    }
    lastTry = NsLogClock();
    old = NsSinkRingPath();
    reason = NsRingMove(ringPtr, ringKeyPtr);
    isTold = reason != NULL;
    if (isNew) {
        Ns_Log(Warning,
               "log: the log memory, '%s', was deleted by someone "
               "else; %s%s",
               old,
               reason == NULL
                   ? "from now on it is "
                   : "until there can be a new file, a crash loses the latest "
                     "entries: ",
               reason == NULL ? NsSinkRingPath() : reason);
    } else if (reason == NULL) {
        Ns_Log(Notice,
               "log: log memory is in '%s' now, and outlives the "
               "process again",
               NsSinkRingPath());
    }
}

void
NsSinkNoteRoom(void)
{
    atomic_store(&isRoomNew, true);
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

    const char *path = ringPtr == NULL ? NULL : atomic_load(&ringPtr->path);

    return path != NULL ? path : "";
}

void
NsSinkStart(void)
{
    Ns_LogSink sink;
    bool       isAnyServed = false;

    Ns_MutexLock(&nsSinksLock);
    isStarted = true;
    NsWorkersOpen();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isAwaited) && !atomic_load(&sink->isRemoved)
            && !NsSinkIsServed(sink) && !atomic_load(&sink->isStuck)) {
            NsSinkServe(sink);
            isAnyServed = true;
        }
    }
    Ns_MutexUnlock(&nsSinksLock);
    if (isAnyServed) {
        (void) NsWorkersNeed(true);
    }
    NsBoundStart();
}

void
NsSinkStop(void)
{
    Ns_LogSink sink;
    Ns_Time    limit;
    bool       wasStarted;
    int        nHanging = 0;

    Ns_GetTime(&limit);
    Ns_IncrTime(&limit, STOP_SECONDS, 0);
    Ns_MutexLock(&nsSinksLock);
    wasStarted = isStarted;
    isStarted = false;
    NsWorkersClose();
    Ns_MutexUnlock(&nsSinksLock);

    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        NsSinkAskStop(sink);
    }
    for (int i = 0; wasStarted && (sink = NsSinkAt(i)) != NULL; i++) {
        if (!NsSinkAwaitStop(sink, &limit)) {
            atomic_store(&sink->isStuck, true);
            Ns_Log(Warning,
                   "log: sink '%s' is stuck writing to '%s'; the next "
                   "start writes the rest",
                   sink->name, NsSinkFile(sink));
        } else if (IsFailing(sink)) {
            NsSinkStats stats;

            NsSinkGetStats(sink, &stats);
            if (stats.pending > 0) {
                NsDeliverTell(sink, Warning,
                              "log: sink '%s': %" PRIu64
                              " records are not written; the next start writes "
                              "them",
                              sink->name, stats.pending);
            }
        }
    }
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isRemoved)) {
            NsSinkLeaveToCallers(sink);
        }
        nHanging += NsSinkIsServed(sink);
    }
    NsWorkersStop(nHanging);
    /* What came after a last pass, and did not bring its caller yet. */
    NsBellBarrierInAllThreads();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!NsSinkIsServed(sink)) {
            NsSinkTakeTurn(sink, 0);
        }
    }
    NsSinkLeave();
}

void
NsSinkFinish(void)
{
    Ns_LogSink sink;

    NsBoundStop();
    NsSinkStop();
    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isRemoved) && !atomic_load(&sink->isStuck)) {
            NsSinkLock(sink);
            sink->retryAt = 0;
            NsDeliverPass(sink, 0);
            if (NsDeliverFlush(sink) && sink->nBuffered > 0) {
                /* A note that writing works again. */
                (void) NsDeliverFlush(sink);
            }
            if (sink->syncDue != 0) {
                (void) NsDeliverSync(sink);
            }
            NsSinkUnlock(sink);
        }
    }
    NsSinkLeave();
    DeleteRing();
}

void
NsSinkAbandon(void)
{
    Ns_LogSink sink;

    if (isStarted || NsSinkRing() == NULL) {
        return;
    }
    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isRemoved) && !sink->typePtr->isRemote
            && NsSinkTryLock(sink)) {
            NsDeliverPass(sink, 0);
            (void) NsDeliverFlush(sink);
            NsSinkUnlock(sink);
        }
    }
    NsSinkLeave();
    DeleteRing();
}

/*
 * If all is written.  The memory stays mapped: a thread that is left may still
 * log.
 */
static void
DeleteRing(void)
{
    const NsRing *ringPtr = NsSinkRing();

    if (ringPtr != NULL && ringPtr->path != NULL && !NsRingIsNeeded(ringPtr)) {
        unlink(ringPtr->path);
    }
}

/*
 * False also while another thread works for the sink.
 */
static bool
IsFailing(Ns_LogSink sink)
{
    bool isFailing = false;

    if (NsSinkTryLock(sink)) {
        isFailing = sink->failure != 0;
        NsSinkUnlock(sink);
    }
    return isFailing;
}

static bool
IsFull(void)
{
    bool isFull;

    Ns_MutexLock(&nsSinksLock);
    isFull = FreeIndexLocked() < 0;
    Ns_MutexUnlock(&nsSinksLock);
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

        if (atomic_load(&sink->isDetached) && !NsSinkIsServed(sink)) {
            return i;
        }
    }
    return n < LimitLocked() ? n : -1;
}

static int
LimitLocked(void)
{
    const NsRing *ringPtr = NsSinkRing();

    NsAssertLocked(&nsSinksLock);
    return ringPtr == NULL ? NS_RING_MAX_SINKS
                           : (int) ringPtr->headerPtr->maxSinks;
}

static uint32_t
CountStreams(void)
{
    uint32_t n = 0;

    while (NsStreamAt((int) n) != NULL) {
        n++;
    }
    return n;
}

/*
 * Let the sink read the lanes from where they are now, if there are lanes.
 * False: one of its streams has as many readers as it can have.
 */
static bool
AttachLocked(Ns_LogSink sink)
{
    NsRing     *ringPtr = NsSinkRing();
    NsRingSink *slotPtr;

    NsAssertLocked(&nsSinksLock);
    if (ringPtr == NULL) {
        return true;
    }
    NsAssert(sink->index < (int) ringPtr->headerPtr->maxSinks);
    slotPtr = NsRingSinkAt(ringPtr, sink->index);
    NsRingSetMissing(slotPtr, 0);
    atomic_store(&slotPtr->intent, NS_RING_IDLE);
    snprintf(slotPtr->file, sizeof(slotPtr->file), "%s",
             sink->file != NULL ? sink->file : "");
    snprintf(slotPtr->type, sizeof(slotPtr->type), "%s", sink->typePtr->name);
    snprintf(slotPtr->table, sizeof(slotPtr->table), "%s", TableOf(sink));
    sink->ringPtr = ringPtr;
    sink->slotPtr = slotPtr;
    NsSinkNoteSettings(sink);
    if (!NsSinkJoinLanes(sink)) {
        sink->ringPtr = NULL;
        sink->slotPtr = NULL;
        return false;
    }
    if (!sink->typePtr->isPassing) {
        snprintf(slotPtr->name, sizeof(slotPtr->name), "%s", sink->name);
    }
    return true;
}
