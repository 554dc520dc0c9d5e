/*
 * bound.c --
 *
 *      How far a sink may fall behind.
 *
 *      A sink keeps the segments behind its cursors from being used again.  One
 *      that has a bound, maxmemory, gives up its oldest records when it keeps
 *      more than that; a sink without gives up all that it has not read when it
 *      cannot write and the log memory is full.  What is given up is counted,
 *      and a line in the log tells of it once the sink writes again.
 *
 *      A sink that is at the bound is often inside a write that does not come
 *      back.  So the work is done by a thread of its own, the keeper, which is
 *      woken when as many segments have been taken as the sink nearest to its
 *      bound may still keep.  Around each write the sink lends its places:
 *      until it takes them back it reads nothing, and the keeper may move its
 *      cursors on, behind the records that are being written.  Those are in the
 *      sink's buffer, and only there from then on.
 */

#include "log/bound.h"

#include "log/segment.h"
#include "log/sink_int.h"
#include "nslog.h"
#include "nsthread.h"

#define SECOND_NANOS INT64_C(1000000000)
/* Between two messages about the same sink. */
#define REPORT_NANOS (60 * SECOND_NANOS)

/*
 * Records that a sink is to give up.
 */
typedef struct Walk {
    Ns_LogSink sink;
    NsPlace   *places;          /* By lane. */
    uint32_t   nLanes;
    NsMerge    merge;
    uint64_t   nSegments;       /* Kept by what the walk has not passed. */
    char      *scratch;
    size_t     scratchBytes;
    uint64_t   nGivenUp;
} Walk;

static Ns_Mutex  lock;          /* Guards what follows. */
static Ns_Cond   wakeup;
static bool      isStarted;     /* There may be a keeper. */
static bool      hasKeeper;
static bool      isAsked;
static bool      mustStop;
static Ns_Thread keeper;

static bool     IsBeyond(Ns_LogSink sink);
static void     Keep(void *arg);
static uint64_t Check(Ns_LogSink sink);
static void     Report(Ns_LogSink sink, uint64_t nGivenUp);
static uint64_t GiveUp(Ns_LogSink sink, size_t most);
static void     BeginWalk(Walk *walkPtr, Ns_LogSink sink);
static void     PassFirst(Walk *walkPtr);
static void     EndWalk(Walk *walkPtr);
static void     UseFloors(Ns_LogSink sink);


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
    Ns_LogSink sink;
    bool       isNeeded = false, isNew = false;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        isNeeded |= atomic_load(&sink->maxMemory) > 0;
    }
    Ns_MutexLock(&lock);
    if (isNeeded && isStarted && !hasKeeper) {
        isNew = hasKeeper = true;
    }
    Ns_MutexUnlock(&lock);
    if (isNew) {
        Ns_ThreadCreate(Keep, NULL, 0, &keeper);
    }
    if (isNeeded) {
        NsBoundAsk();
    }
}

void
NsBoundAsk(void)
{
    Ns_MutexLock(&lock);
    isAsked = true;
    Ns_CondSignal(&wakeup);
    Ns_MutexUnlock(&lock);
}

size_t
NsBoundHeld(Ns_LogSink sink)
{
    const NsRing *ringPtr = NsSinkRing();
    uint64_t      nSegments = 0;
    uint32_t      n;

    if (!atomic_load(&sink->isOnLanes)) {
        return 0;
    }
    n = atomic_load_explicit(&ringPtr->headerPtr->nLanes, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        if (NsSinkWants(sink, (int) ringPtr->lanes[i].stream)) {
            uint64_t done = NsRingNumberOf(
                atomic_load(&sink->slotPtr->cursors[i].done));
            uint64_t end = NsLaneEnd(i);

            /* Numbers begin with 1; a new lane's cursor is at 0. */
            done = MAX(done, 1);
            nSegments += end > done ? end - done : 0;
        }
    }
    return nSegments * ringPtr->headerPtr->segmentBytes;
}

bool
NsBoundIsNear(Ns_LogSink sink)
{
    size_t most = atomic_load(&sink->maxMemory);

    return most > 0 && NsBoundHeld(sink) > most / 2;
}

void
NsBoundLend(Ns_LogSink sink)
{
    /* Without a bound, too: it may get one while it waits. */
    if (!atomic_load(&sink->isOnLanes) || sink->ringPtr != NsSinkRing()) {
        return;
    }
    Ns_MutexLock(&sink->lendLock);
    sink->isLent = true;
    Ns_MutexUnlock(&sink->lendLock);
    if (IsBeyond(sink)) {
        /* The keeper may have come while we were reading. */
        NsBoundAsk();
    }
}

void
NsBoundTakeBack(Ns_LogSink sink)
{
    if (!sink->isLent) {
        return;
    }
    Ns_MutexLock(&sink->lendLock);
    sink->isLent = false;
    Ns_MutexUnlock(&sink->lendLock);
    UseFloors(sink);
}

void
NsBoundGiveUpAll(Ns_LogSink sink)
{
    (void) GiveUp(sink, 0);
    UseFloors(sink);
}

void
NsBoundNoteLost(Ns_LogSink sink, int64_t time)
{
    NsGap *gapPtr = &sink->gap;

    atomic_fetch_add(&sink->nFailed, 1);
    if (gapPtr->n++ == 0) {
        gapPtr->first = time;
    }
    gapPtr->last = time;
}

void
NsBoundTellGap(Ns_LogSink sink)
{
    NsGap gap = sink->gap;

    if (gap.n == 0 || sink->failure != 0 || sink->claims != NULL) {
        return;
    }
    /* While the note is written, another gap may begin. */
    sink->gap = (NsGap){0};
    if (NsSinkNoteGap(sink, NULL, &gap)) {
        sink->nToldLost += gap.n;
    } else {
        gap.n += sink->gap.n;
        gap.last = MAX(gap.last, sink->gap.last);
        sink->gap = gap;
    }
}

static bool
IsBeyond(Ns_LogSink sink)
{
    size_t most = atomic_load(&sink->maxMemory);

    return most > 0 && NsBoundHeld(sink) > most;
}

static void
Keep(void *arg)
{
    Ns_ThreadSetName("-logkeeper-");
    NsLaneSetDrainer(true);
    Ns_MutexLock(&lock);
    while (!mustStop) {
        Ns_LogSink sink;
        uint64_t   nearest = UINT64_MAX;

        if (!isAsked) {
            Ns_CondWait(&wakeup, &lock);
            continue;
        }
        isAsked = false;
        Ns_MutexUnlock(&lock);
        for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
            if (atomic_load(&sink->maxMemory) > 0
                    && atomic_load(&sink->isOnLanes)) {
                nearest = MIN(nearest, Check(sink));
            }
        }
        NsSegmentsWatch(nearest);
        Ns_MutexLock(&lock);
    }
    Ns_MutexUnlock(&lock);
    NsLaneSetDrainer(false);
}

/*
 * See to it that the sink keeps no more than it may.  How many segments can be
 * taken before this has to be looked at again.
 */
static uint64_t
Check(Ns_LogSink sink)
{
    size_t   most = atomic_load(&sink->maxMemory), held, limit = most;
    uint64_t nGivenUp = 0;

    if (IsBeyond(sink)) {
        bool isLent;

        Ns_MutexLock(&sink->lendLock);
        isLent = sink->isLent;
        if (isLent) {
            nGivenUp = GiveUp(sink, most - most / 8);
        }
        Ns_MutexUnlock(&sink->lendLock);
        if (!isLent && !NsSinkIsPumping() && NsSinkTryLock(sink)) {
            if (sink->failure != 0 || sink->claims != NULL) {
                nGivenUp = GiveUp(sink, most - most / 8);
                UseFloors(sink);
            }
            NsSinkUnlock(sink);
        }
        Report(sink, nGivenUp);
    }
    held = NsBoundHeld(sink);
    if (held > most / 2) {
        /* It may be asleep with much to read. */
        NsSinkKick(sink);
    } else {
        limit = most / 2;
    }
    return held < limit
        ? MAX((limit - held) / NsSinkRing()->headerPtr->segmentBytes, 1) : 1;
}

static void
Report(Ns_LogSink sink, uint64_t nGivenUp)
{
    int64_t now = NsLogClock();

    sink->nUntoldLost += nGivenUp;
    if (sink->nUntoldLost > 0
            && (sink->lostTold == 0 || now - sink->lostTold >= REPORT_NANOS)) {
        Ns_Log(Warning, "log: sink '%s' is more than maxmemory, %zu bytes, "
               "behind: its oldest records are dropped, %" PRIu64 " so far",
               sink->name, (size_t) atomic_load(&sink->maxMemory),
               sink->nUntoldLost);
        sink->lostTold = now;
        sink->nUntoldLost = 0;
    }
}

/*
 * Move the sink's cursors on, by time, until what is left keeps at most so many
 * bytes; 0: until there is nothing left.  The sink is locked, or has lent its
 * places and its lendLock is held.
 */
static uint64_t
GiveUp(Ns_LogSink sink, size_t most)
{
    size_t   segmentBytes = NsSinkRing()->headerPtr->segmentBytes;
    int64_t  cutoff = NsLogClock();
    Walk     walk;
    NsPlace *placePtr;

    BeginWalk(&walk, sink);
    while ((most == 0 || walk.nSegments * segmentBytes > most)
           && (placePtr = NsMergeFirst(&walk.merge)) != NULL) {
        int64_t ahead = placePtr->headPtr->time - cutoff;

        if (ahead > 0 && ahead < SECOND_NANOS) {
            break;
        }
        PassFirst(&walk);
    }
    EndWalk(&walk);
    return walk.nGivenUp;
}

/*
 * From where the sink has read to.
 */
static void
BeginWalk(Walk *walkPtr, Ns_LogSink sink)
{
    NsRing *ringPtr = sink->ringPtr;
    NsPlace *places;

    *walkPtr = (Walk){.sink = sink};
    walkPtr->nLanes = atomic_load_explicit(&ringPtr->headerPtr->nLanes,
                                           memory_order_acquire);
    places = ns_calloc(walkPtr->nLanes, sizeof(NsPlace));
    walkPtr->places = places;
    for (uint32_t i = 0; i < walkPtr->nLanes; i++) {
        if (!NsSinkWants(sink, (int) ringPtr->lanes[i].stream)) {
            continue;
        }
        places[i] = sink->places[i];
        if (places[i].segment == NS_RING_NONE
                || sink->floors[i] > NsPlacePosition(&places[i])) {
            places[i].lane = i;
            NsLaneLockChains();
            (void) NsPlaceOpen(ringPtr, &places[i], atomic_load(
                                   &sink->slotPtr->cursors[i].done));
            NsLaneUnlockChains();
        }
        if (NsPlaceHead(ringPtr, &places[i]) != NULL) {
            NsMergeAdd(&walkPtr->merge, &places[i]);
        }
        walkPtr->nSegments += NsLaneEnd(i) - places[i].number;
    }
}

/*
 * Pass the earliest record.
 */
static void
PassFirst(Walk *walkPtr)
{
    Ns_LogSink sink = walkPtr->sink;
    NsPlace   *placePtr = NsMergeFirst(&walkPtr->merge);
    const NsRingRecord *headPtr = placePtr->headPtr;
    uint64_t     number = placePtr->number;
    Ns_LogStream stream = NsStreamAt(
        (int) sink->ringPtr->lanes[placePtr->lane].stream);
    Ns_LogRecord record = {
        .stream = NsStreamName(stream),
        .severity = headPtr->severity,
        .time = headPtr->time,
        .length = headPtr->total,
        .bytes = NsPlaceBytes(sink->ringPtr, placePtr, false,
                              &walkPtr->scratch, &walkPtr->scratchBytes)
    };

    NsDeliverNoteBegin(sink, placePtr);
    if (record.bytes == NULL) {
        atomic_fetch_add(&sink->nDamaged, 1);
    } else if (NsDeliverWants(sink, stream, &record)) {
        NsBoundNoteLost(sink, record.time);
        walkPtr->nGivenUp++;
    } else {
        atomic_fetch_add(&sink->nIgnored, 1);
    }
    NsPlaceAdvance(sink->ringPtr, placePtr);
    walkPtr->nSegments -= placePtr->number - number;
    if (placePtr->headPtr != NULL) {
        NsMergeFirstMoved(&walkPtr->merge);
    } else {
        NsMergeFirstEnded(&walkPtr->merge);
    }
}

/*
 * The sink needs nothing before the places of the walk.  Should the process be
 * killed now, the next says how much is missing: with what is in the buffer.
 */
static void
EndWalk(Walk *walkPtr)
{
    Ns_LogSink  sink = walkPtr->sink;
    NsRingSink *slotPtr = sink->slotPtr;

    NsRingSetMissing(slotPtr, sink->gap.n + sink->nToldLost + sink->nRecords);
    for (uint32_t i = 0; i < walkPtr->nLanes; i++) {
        const NsPlace *placePtr = &walkPtr->places[i];
        uint64_t       position = NsPlacePosition(placePtr);

        if (placePtr->segment != NS_RING_NONE
                && position > atomic_load(&slotPtr->cursors[i].done)) {
            sink->floors[i] = position;
            sink->hasFloors = true;
            atomic_store(&slotPtr->cursors[i].done, position);
            NsDeliverFreeLane(sink->ringPtr, i);
        }
    }
    ns_free(walkPtr->places);
    ns_free(walkPtr->scratch);
    NsMergeFree(&walkPtr->merge);
}

/*
 * Go on reading behind what was given up.
 */
static void
UseFloors(Ns_LogSink sink)
{
    uint32_t n = atomic_load(&sink->ringPtr->headerPtr->nLanes);

    if (!sink->hasFloors) {
        return;
    }
    sink->hasFloors = false;
    sink->hasSkipped = true;
    for (uint32_t i = 0; i < n; i++) {
        NsPlace *placePtr = &sink->places[i];

        if (sink->floors[i] > NsPlacePosition(placePtr)) {
            bool isMoved = placePtr->isMoved;

            placePtr->lane = i;
            NsLaneLockChains();
            (void) NsPlaceOpen(sink->ringPtr, placePtr, sink->floors[i]);
            NsLaneUnlockChains();
            placePtr->isMoved = true;
            if (!isMoved) {
                sink->moved[sink->nMoved++] = i;
            }
        }
    }
}
