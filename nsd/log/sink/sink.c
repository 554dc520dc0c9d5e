/* SPDX-License-Identifier: MPL-2.0
 * sink.c --
 *
 *      How sinks start and end, and the memory that they read.
 */

#include "log/sink/sink.h"

#include "base/assert.h"
#include "log/ring/bell.h"
#include "log/sink/bound.h"
#include "log/sink/deliver.h"
#include "log/sink/flush.h"
#include "log/sink/leftover.h"
#include "log/sink/recover.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkmake.h"
#include "log/sink/sinkpass.h"
#include "log/sink/sinkroute.h"
#include "log/sink/sinkspill.h"
#include "log/sink/sinkstate.h"
#include "log/sink/sinktable.h"
#include "log/sink/sinkthread.h"
#include "log/sink/sinkwake.h"
#include "log/sink/sinkwork.h"
#include "log/sink/worker.h"
#include "nslog.h"
#include "nsthread.h"

#define STOP_SECONDS  5  /* For all sinks together. */
#define SPARE_STREAMS 32 /* Streams and sinks that can be made at run time. */
#define LEAST_READERS 16
/* Between attempts to get a file for the mapping. */
#define HOME_NANOS INT64_C(10000000000)

static NsSinkMadeProc *madeProc; /* Constant after the start. */

static bool             isStarted; /* Log threads may run; nsSinksLock. */
static const NsRingKey *ringKeyPtr;

bool nsSinkIsAsync;
bool nsSinkKeepsOutput;

static Ns_LogSink    Create(const NsSinkSpec *specPtr);
static bool          JoinAllLocked(Ns_LogSink sink);
static Ns_LogSink    Discard(Ns_LogSink sink, int reason);
static Ns_ReturnCode Remove(Ns_LogSink sink);
static void          DetachLocked(Ns_LogSink sink);
static NsRing       *MakeRingLocked(const NsRingKey  *keyPtr,
                                    const char       *spillDirectory,
                                    const NsRingNeed *needPtr,
                                    const char      **reasonPtr);
static void          AttachAllLocked(void);
static void          DeleteRing(void);
static bool          IsFailing(Ns_LogSink sink);
static bool          IsFull(void);
static int           FreeIndexLocked(void);
static int           LimitLocked(void);
static uint32_t      CountStreams(void);
static bool          AttachLocked(Ns_LogSink sink);

void
NsSinkInit(void)
{
    NsSinkTableInit();
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
        return Discard(sink, reason);
    }
    if (!JoinAllLocked(sink)) {
        Ns_MutexUnlock(&nsSinksLock);
        return Discard(sink, NS_SINK_TOO_MANY_READERS);
    }
    NsSinkPutIntoTableLocked(sink);
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

/*
 * Join the existing streams.  False: one of them has as many readers as it can
 * have.
 */
static bool
JoinAllLocked(Ns_LogSink sink)
{
    bool isAttached;

    NsAssertLocked(&nsSinksLock);
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        if (NsSinkMatches(sink, NsStreamAt(i))) {
            (void) NsSinkJoin(sink, NsStreamAt(i));
        }
    }
    NsSinkLock(sink);
    isAttached = AttachLocked(sink);
    NsSinkUnlock(sink);
    return isAttached;
}

/*
 * Free a sink that gets no place in the table.  Returns NULL, for its creator.
 */
static Ns_LogSink
Discard(Ns_LogSink sink, int reason)
{
    NsRecoverDropClaims(sink);
    sink->typePtr->closeProc(sink);
    NsSinkUnmake(&sink);
    errno = reason;
    return NULL;
}

void
NsSinkFreeRemoved(void)
{
    int        reason = errno;
    Ns_LogSink sink = NsSinkTakeUnlinked();

    while (sink != NULL) {
        Ns_LogSink next = sink->nextPtr;

        NsSinkUnmake(&sink);
        sink = next;
    }
    errno = reason;
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
    if (specPtr->rollFormat != NULL && *specPtr->rollFormat != '\0') {
        spec.settings.rollFormat = (char *) specPtr->rollFormat;
    }
    if (specPtr->maxBackup > 0) {
        spec.settings.maxBackup = specPtr->maxBackup;
    }
    sink = NsSinkCreate(&spec);
    if (sink == NULL
        && (errno == NS_SINK_TOO_MANY || errno == NS_SINK_NO_THREAD
            || errno == NS_SINK_TOO_MANY_READERS)) {
        int reason = errno == NS_SINK_NO_THREAD ? EAGAIN : errno;

        Ns_Log(Error, "log[%s]: cannot create the sink: %s", spec.name,
               NsSinkReason(errno));
        errno = reason;
    }
    if (sink != NULL && madeProc != NULL) {
        madeProc(sink);
    }
    return sink;
}

void
NsSinkSetMadeProc(NsSinkMadeProc *proc)
{
    madeProc = proc;
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
               "log[%s]: the sink is removed with %" PRIu64 " records "
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

    /* While workers serve the sink, its records must be kept for it. */
    (void) NsSinkAwaitStop(sink, NULL);
    NsSinkLock(sink);
    (void) NsDeliverRepeats(sink);
    (void) NsDeliverLeftOut(sink);
    (void) NsDeliverFlush(sink);
    sink->typePtr->closeProc(sink);
    sink->target->isClosed = true;
    NsRecoverDropClaims(sink);
    NsSinkUnlock(sink);
    Ns_MutexLock(&nsSinksLock);
    DetachLocked(sink);
    Ns_MutexUnlock(&nsSinksLock);
    return status;
}

/*
 * Release all that the sink needed.  The structure stays until another sink
 * takes its place in the table and no thread looks at it.
 */
static void
DetachLocked(Ns_LogSink sink)
{
    NsAssertLocked(&nsSinksLock);
    NsAssert(atomic_load(&sink->isRemoved) && sink->target->isClosed);
    NsSinkLeaveToNobody(sink);
    if (sink->reader->slotPtr != NULL) {
        NsSinkLock(sink);
        NsSinkDropSpill(sink);
        NsSinkUnlock(sink);
        NsRingSinkUnname(sink->reader->slotPtr);
    }
    NsSinkLeaveAll(sink);
    NsSinkLock(sink);
    NsSinkFreeWork(sink);
    NsSinkUnlock(sink);
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
    NsAssert(NsSinkRing() == NULL);
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

    NsAssertLocked(&nsSinksLock);
    NsBellBarrierInit();
    ringKeyPtr = keyPtr;
    /* Some that needPtr does not count may exist already. */
    need.nStreams = MAX(need.nStreams, CountStreams() + SPARE_STREAMS);
    need.nSinks = MAX(need.nSinks, (uint32_t) NsSinkCount() + SPARE_STREAMS);
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
    NsSinkSetRing(ringPtr);
    AttachAllLocked();
    NsStreamUseLanes();
    return ringPtr;
}

/*
 * Attach the sinks that were made before the mapping.
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
    static bool    isTold; /* Reported that there is no file. */
    static int64_t lastTry;
    NsRing        *ringPtr = NsSinkRing();
    const char    *old, *reason;
    bool           isNew;

    NsRecoverLate();
    if (ringPtr == NULL || !NsRingIsHomeless(ringPtr)) {
        return;
    }
    /* If there was no file at the start, that has been reported. */
    isNew = atomic_load(&ringPtr->path) != NULL && !isTold;
    if (!isNew && !NsRecoverMadeRoom()
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
                   "log[%s]: the sink is stuck writing to '%s'; the next "
                   "start writes the rest",
                   sink->name, NsSinkFile(sink));
        } else if (IsFailing(sink)) {
            NsSinkStats stats;

            NsSinkGetStats(sink, &stats);
            if (stats.pending > 0) {
                NsDeliverTell(sink, Warning,
                              "log[%s]: %" PRIu64
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
    /*
     * Write records that came after the last pass and whose callers have not
     * come for a turn yet.
     */
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
            sink->failing->retryAt = 0;
            NsSinkPass(sink, 0);
            (void) NsDeliverRepeats(sink);
            (void) NsDeliverLeftOut(sink);
            if (NsDeliverFlush(sink) && sink->buffer->nBuffered > 0) {
                /* This writes the note that writing works again. */
                (void) NsDeliverFlush(sink);
            }
            if (sink->buffer->syncDue != 0) {
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
            NsSinkPass(sink, 0);
            (void) NsDeliverFlush(sink);
            NsSinkUnlock(sink);
        }
    }
    NsSinkLeave();
    DeleteRing();
}

/*
 * Delete the mapping's file if everything is written.  The memory stays mapped:
 * a remaining thread may still log.
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
 * Also false while another thread works for the sink.
 */
static bool
IsFailing(Ns_LogSink sink)
{
    bool isFailing = false;

    if (NsSinkTryLock(sink)) {
        isFailing = sink->failing->reason != 0;
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
 * The place of a removed sink, or a new one; -1: the table is full.
 */
static int
FreeIndexLocked(void)
{
    int n = NsSinkCount();

    NsAssertLocked(&nsSinksLock);
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
 * If there are lanes, have the sink read them from their present ends.  False:
 * one of its streams has as many readers as it can have.
 */
static bool
AttachLocked(Ns_LogSink sink)
{
    NsRing     *ringPtr = NsSinkRing();
    NsRingSink *slotPtr;

    NsAssertLocked(&nsSinksLock);
    NsAssertLocked(&sink->lock);
    if (ringPtr == NULL) {
        return true;
    }
    NsAssert(sink->reader->ringPtr == NULL);
    NsAssert(sink->index < (int) ringPtr->headerPtr->maxSinks);
    slotPtr = NsRingSinkAt(ringPtr, sink->index);
    NsRingSetMissing(slotPtr, 0);
    atomic_store(&slotPtr->intent, NS_RING_IDLE);
    snprintf(slotPtr->file, sizeof(slotPtr->file), "%s",
             sink->target->file != NULL ? sink->target->file : "");
    snprintf(slotPtr->type, sizeof(slotPtr->type), "%s", sink->typePtr->name);
    snprintf(slotPtr->table, sizeof(slotPtr->table), "%s", NsSinkTableOf(sink));
    sink->reader->ringPtr = ringPtr;
    sink->reader->slotPtr = slotPtr;
    NsSinkNoteSettings(sink);
    if (!NsSinkJoinLanes(sink)) {
        sink->reader->ringPtr = NULL;
        sink->reader->slotPtr = NULL;
        return false;
    }
    if (!sink->typePtr->isPassing) {
        snprintf(slotPtr->name, sizeof(slotPtr->name), "%s", sink->name);
    }
    return true;
}
