/* SPDX-License-Identifier: MPL-2.0
 * bound.c --
 *
 *      How far a sink may fall behind.
 *
 *      A sink keeps the segments behind its cursors from being used again.
 *      When it keeps more than it may, or all sinks together leave little
 *      memory, its oldest records move into its spill file.  Where that is not
 *      possible, they are dropped and counted if their stream's rule allows it,
 *      and a line in the log reports them once the sink writes again.
 *
 *      A sink at its bound is often stuck in a write.  So a separate thread,
 *      the keeper, does the work.  It is woken when as many segments have been
 *      taken as the sink nearest to its bound may still keep.  The sink lends
 *      its places during each write: until it takes them back it reads nothing,
 *      and the keeper may move its cursors past the records that are being
 *      written.  Those records first go into the spill file, marked as read,
 *      for a process that takes over.  Without a spill file they are then only
 *      in the sink's buffer.
 *
 *      While there are writes, the keeper checks once a second whether one of
 *      them is stuck.
 */

#include "log/sink/bound.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "log/ring/segment.h"
#include "log/sink/relieve.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinktable.h"
#include "log/sink/sinkwake.h"
#include "log/stream/system.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"

/* Between two messages about the same sink. */
#define REPORT_NANOS (60 * NS_STAMP_SECOND)
/* Pause after a round of the keeper that achieved nothing. */
#define PAUSE_USEC 20000

static Ns_Mutex    lock; /* Guards what follows, except the atomics. */
static Ns_Cond     wakeup;
static bool        isStarted; /* There may be a keeper. */
static bool        hasKeeper;
static bool        mustStop;
static Ns_Thread   keeper;
static atomic_bool isAsked;    /* Set without the lock. */
static atomic_bool isWatching; /* The keeper looks once a second. */
static int64_t     waitsTold;  /* For the keeper only: the episode of waiting
                                * that was reported. */

static void     StartKeeper(void);
static bool     IsBeyond(Ns_LogSink sink, size_t most);
static void     Keep(void *arg);
static bool     RelieveAll(void);
static size_t   ShareOf(int nBehind);
static size_t   LimitOf(Ns_LogSink sink, size_t share);
static uint64_t Check(Ns_LogSink sink, size_t share, bool *isRelievedPtr);
static bool     MayLock(Ns_LogSink sink);
static bool     MayDrop(Ns_LogSink sink, bool isShort);
static void     TellWaits(void);
static void     Watch(void);
static void     LookAt(Ns_LogSink sink, int64_t busy);
static void     Report(Ns_LogSink sink);
static void Tell(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt, ...)
    NS_GNUC_PRINTF(3, 4);

void
NsBoundInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LOG_WAKE, "ns:log", "keeper");
}

void
NsBoundStart(void)
{
    Ns_MutexLock(&lock);
    isStarted = true;
    mustStop = false;
    Ns_MutexUnlock(&lock);
    NsBoundCheck();
}

void
NsBoundStop(void)
{
    bool hadKeeper;

    Ns_MutexLock(&lock);
    isStarted = false;
    mustStop = true;
    hadKeeper = hasKeeper;
    Ns_CondSignal(&wakeup);
    Ns_MutexUnlock(&lock);
    if (hadKeeper) {
        Ns_ThreadJoin(&keeper, NULL);
        hasKeeper = false;
    }
}

void
NsBoundCheck(void)
{
    bool isNew = false;

    Ns_MutexLock(&lock);
    if (isStarted && !hasKeeper && NsSinkRing() != NULL) {
        isNew = hasKeeper = true;
    }
    Ns_MutexUnlock(&lock);
    if (isNew) {
        Ns_RegisterProcInfo((void *) Keep, "ns:logkeeper", NULL);
        StartKeeper();
    }
    NsBoundAsk();
}

void
NsBoundAsk(void)
{
    if (!atomic_load(&isAsked) && !atomic_exchange(&isAsked, true)) {
        Ns_MutexLock(&lock);
        Ns_CondSignal(&wakeup);
        Ns_MutexUnlock(&lock);
    }
}

bool
NsBoundIsNear(Ns_LogSink sink)
{
    return IsBeyond(sink, LimitOf(sink, SIZE_MAX) / 2);
}

void
NsBoundLend(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    NsAssert(!sink->loan->isLent && !sink->loan->hasFloors);
    if (sink->reader->ringPtr == NULL
        || sink->reader->ringPtr != NsSinkRing()) {
        return;
    }
    Ns_MutexLock(&sink->loan->lock);
    sink->loan->isLent = true;
    Ns_MutexUnlock(&sink->loan->lock);
    if (IsBeyond(sink, LimitOf(sink, SIZE_MAX))) {
        /*
         * The keeper may have looked while we were reading, when it could do
         * nothing.
         */
        NsBoundAsk();
    }
    if (!atomic_load(&isWatching) && !atomic_exchange(&isWatching, true)) {
        Ns_MutexLock(&lock);
        Ns_CondSignal(&wakeup);
        Ns_MutexUnlock(&lock);
    }
}

void
NsBoundTakeBack(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    if (!sink->loan->isLent) {
        return;
    }
    Ns_MutexLock(&sink->loan->lock);
    sink->loan->isLent = false;
    Ns_MutexUnlock(&sink->loan->lock);
    NsRelieveUseFloors(sink);
}

void
NsBoundRelieve(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    (void) NsRelieve(sink, ShareOf(1) / 2, true);
    NsRelieveUseFloors(sink);
    /* The keeper has to report the outcome. */
    NsBoundAsk();
}

/*
 * If no thread can be started, sinks keep what they have; the next check tries
 * again.
 */
static void
StartKeeper(void)
{
    if (NsThreadTry(Keep, NULL, 0, &keeper) != 0) {
        Ns_MutexLock(&lock);
        hasKeeper = false;
        Ns_MutexUnlock(&lock);
    }
}

/*
 * The memory in use is checked first, because it is cheap: no sink keeps more
 * than that.
 */
static bool
IsBeyond(Ns_LogSink sink, size_t most)
{
    const NsRingHeader *headerPtr = NsSinkRing()->headerPtr;
    size_t used = (size_t) (headerPtr->nSegments - NsSegmentsLeft(false))
        * headerPtr->segmentBytes;

    return used > most && NsSinkHeld(sink) > most;
}

static void
Keep(void *arg)
{
    int64_t looked = NsLogClock();

    Ns_ThreadSetName("-logkeeper-");
    NsLaneSetDrainer(true);
    Ns_MutexLock(&lock);
    while (!mustStop) {
        Ns_Time limit;

        if (!atomic_load(&isAsked)) {
            Ns_GetTime(&limit);
            Ns_IncrTime(&limit, 1, 0);
            (void) Ns_CondTimedWait(&wakeup, &lock,
                                    atomic_load(&isWatching) || waitsTold != 0
                                        ? &limit
                                        : NULL);
        }
        Ns_MutexUnlock(&lock);
        if (atomic_exchange(&isAsked, false) && !RelieveAll()) {
            select(0, NULL, NULL, NULL, &(struct timeval){0, PAUSE_USEC});
        }
        TellWaits();
        if (NsSinkIsDue(looked + NS_STAMP_SECOND, NS_STAMP_SECOND)) {
            looked = NsLogClock();
            Watch();
        }
        Ns_MutexLock(&lock);
    }
    Ns_MutexUnlock(&lock);
    NsLaneSetDrainer(false);
}

/*
 * False: memory is as short as before.
 */
static bool
RelieveAll(void)
{
    Ns_LogSink sink;
    uint64_t   nearest = UINT64_MAX;
    bool       isRelieved = false;
    size_t     share;
    int        nBehind = 0;

    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        nBehind += NsSinkHeld(sink) > 0;
    }
    share = ShareOf(nBehind);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isDetached)) {
            nearest = MIN(nearest, Check(sink, share, &isRelieved));
        }
    }
    NsSinkLeave();
    NsSegmentsWatch(MIN(nearest, NsSegmentsUntilShort()));
    return isRelieved || !NsSegmentsAreShort();
}

/*
 * How much each sink may keep when memory is short; SIZE_MAX: it is not short.
 */
static size_t
ShareOf(int nBehind)
{
    const NsRingHeader *headerPtr = NsSinkRing()->headerPtr;

    return !NsSegmentsAreShort() ? SIZE_MAX
                                 : (size_t) headerPtr->nSegments / 2
            / (size_t) MAX(nBehind, 1) * headerPtr->segmentBytes;
}

static size_t
LimitOf(Ns_LogSink sink, size_t share)
{
    const NsRingHeader *headerPtr = NsSinkRing()->headerPtr;
    size_t              most = atomic_load(&sink->limits.maxMemory);

    if (most == 0) {
        most = (size_t) headerPtr->nSegments / 2 * headerPtr->segmentBytes;
    }
    return MIN(most, share);
}

/*
 * Ensure that the sink keeps no more than it may.  Returns how many segments
 * can be taken before it must be checked again.
 */
static uint64_t
Check(Ns_LogSink sink, size_t share, bool *isRelievedPtr)
{
    size_t most = LimitOf(sink, share), held = NsSinkHeld(sink), limit = most;

    if (held > most) {
        bool isLent, mayDrop = MayDrop(sink, share != SIZE_MAX);

        Ns_MutexLock(&sink->loan->lock);
        isLent = sink->loan->isLent;
        if (isLent) {
            *isRelievedPtr |= NsRelieve(sink, most - most / 8, mayDrop) > 0;
        }
        Ns_MutexUnlock(&sink->loan->lock);
        if (!isLent && MayLock(sink) && NsSinkTryLock(sink)) {
            if (sink->failing->reason != 0 || sink->claims != NULL) {
                *isRelievedPtr |= NsRelieve(sink, most - most / 8, mayDrop) > 0;
                NsRelieveUseFloors(sink);
            }
            NsSinkUnlock(sink);
        }
        Report(sink);
        held = NsSinkHeld(sink);
    } else if (atomic_load(&sink->counts.spillFailure)
               != sink->keeper->failureTold) {
        /* Its own thread found no room and freed some. */
        Report(sink);
    }
    if (held > most / 2) {
        /* It may be asleep with much to read. */
        NsSinkKick(sink);
    } else {
        limit = most / 2;
    }
    return held < limit
        ? MAX((limit - held) / NsSinkRing()->headerPtr->segmentBytes, 1)
        : 1;
}

/*
 * Callers of a sink that is not awaited do not wait for its lock: they rely on
 * a caller that has it locked to look again, and the keeper does not.
 */
static bool
MayLock(Ns_LogSink sink)
{
    return atomic_load(&sink->isAwaited)
        || atomic_load(&sink->sleep.state) != NS_SINK_CALLERS;
}

/*
 * Whether records that cannot go to disk may be dropped: beyond the sink's own
 * bound, or when memory is short and the sink makes no progress.
 */
static bool
MayDrop(Ns_LogSink sink, bool isShort)
{
    int64_t busy = atomic_load(&sink->counts.busySince);

    return atomic_load(&sink->limits.maxMemory) > 0
        || (isShort
            && (atomic_load(&sink->failing->since) != 0
                || (busy != 0 && NsLogClock() - busy > NS_STAMP_SECOND)));
}

/*
 * Threads wait for memory because of their stream's rule: report once when that
 * begins and once when it ends.
 */
static void
TellWaits(void)
{
    const size_t all = NsSinkRing()->headerPtr->bytes;
    int64_t      since = NsSegmentsWaitedSince();
    Ns_LogSink   sink, first = NULL;

    if ((since != 0) == (waitsTold != 0)) {
        return;
    }
    if (since == 0) {
        Ns_Log(Notice,
               "log: no thread waits for log memory any more, after "
               "%.3f seconds",
               (double) (NsLogClock() - waitsTold) / 1e9);
    }
    NsSinkEnter();
    for (int i = 0; since != 0 && (sink = NsSinkAt(i)) != NULL; i++) {
        if (first == NULL || NsSinkHeld(sink) > NsSinkHeld(first)) {
            first = sink;
        }
    }
    if (first != NULL) {
        Tell(first, Warning,
             "log: threads wait for log memory, by the "
             "overflow rule 'block': all of logmemory, %zu bytes, is in "
             "use, %zu of it by sink '%s'; see why '%s' takes nothing, or too "
             "little, raise its maxspill, or choose another rule",
             all, NsSinkHeld(first), first->name, NsSinkFile(first));
    }
    waitsTold = since;
    NsSinkLeave();
}

/*
 * Report writes that are stuck.  Stop watching if there were no writes since
 * the last check.
 */
static void
Watch(void)
{
    Ns_LogSink sink;
    bool       isBusy = false;

    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        int64_t  busy = atomic_load(&sink->counts.busySince);
        uint64_t nWrites = atomic_load(&sink->counts.nWrites);

        LookAt(sink, busy);
        isBusy |= busy != 0 || nWrites != sink->keeper->nWritesSeen;
        sink->keeper->nWritesSeen = nWrites;
    }
    if (!isBusy) {
        atomic_store(&isWatching, false);
        for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
            if (atomic_load(&sink->counts.busySince) != 0) {
                atomic_store(&isWatching, true);
            }
        }
    }
    NsSinkLeave();
}

/*
 * Each attempt to reach a machine that is off takes long: that is no news while
 * the sink is known to fail.  Nor is it at each write to a target that is slow.
 */
static void
LookAt(Ns_LogSink sink, int64_t busy)
{
    int64_t now = NsLogClock(), warned = sink->keeper->stallWarned;

    if (busy == 0 || atomic_load(&sink->counts.stallTold) != 0
        || atomic_load(&sink->failing->since) != 0
        || now - busy <= NS_STAMP_SECOND
        || (warned != 0 && now - warned < REPORT_NANOS)) {
        return;
    }
    atomic_store(&sink->counts.stallTold, busy);
    if (atomic_load(&sink->counts.busySince) != busy
        && atomic_exchange(&sink->counts.stallTold, 0) != 0) {
        return;
    }
    sink->keeper->stallWarned = now;
    Tell(sink, Warning,
         "log[%s]: a write to '%s' has taken more than a "
         "second so far; its records wait in memory, then on disk: see why it "
         "takes nothing",
         sink->name, NsSinkFile(sink));
}

/*
 * Report once per episode that records went to disk or could not; now and then,
 * that they are dropped.
 */
static void
Report(Ns_LogSink sink)
{
    int     failure = atomic_load(&sink->counts.spillFailure);
    int64_t now = NsLogClock();

    if (atomic_load(&sink->counts.spilledBytes) > 0
        && sink->keeper->spillTold != atomic_load(&sink->counts.spillSince)) {
        sink->keeper->spillTold = atomic_load(&sink->counts.spillSince);
        Tell(sink, Warning,
             "log[%s]: the sink has fallen behind: its oldest "
             "records wait on disk in '%s', %zu bytes at most; see why "
             "'%s' takes nothing, or too little",
             sink->name, NsSinkRing()->headerPtr->spillDirectory,
             (size_t) atomic_load(&sink->limits.maxSpill), NsSinkFile(sink));
    }
    if (failure != sink->keeper->failureTold) {
        sink->keeper->failureTold = failure;
        if (failure != 0) {
            Tell(sink, Error,
                 "log[%s]: the sink is behind, and its records "
                 "cannot wait on disk in '%s': '%s'; see logspilldir",
                 sink->name, NsSinkRing()->headerPtr->spillDirectory,
                 strerror(failure));
        }
    }
    if (atomic_load(&sink->keeper->nUntoldLost) > 0
        && (sink->keeper->lostTold == 0
            || now - sink->keeper->lostTold >= REPORT_NANOS)) {
        Tell(sink, Error,
             "log[%s]: the sink is behind by more than "
             "maxmemory, %zu bytes, and maxspill, %zu bytes: its oldest "
             "records in memory are dropped, %" PRIu64 " so far; see why "
             "'%s' takes nothing, or too little",
             sink->name, LimitOf(sink, SIZE_MAX),
             (size_t) atomic_load(&sink->limits.maxSpill),
             (uint64_t) atomic_exchange(&sink->keeper->nUntoldLost, 0),
             NsSinkFile(sink));
        sink->keeper->lostTold = now;
    }
}

/*
 * Report a sink in trouble.  The keeper may log although memory is short.  If
 * nobody would hear of it through the system log, say it on standard error,
 * too.
 */
static void
Tell(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt, ...)
{
    char    text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (!NsSinkIsHeard(sink)) {
        NsSystemLogToStderr(severity, text);
    }
    Ns_Log(severity, "%s", text);
}
