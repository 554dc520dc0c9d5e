/* SPDX-License-Identifier: MPL-2.0
 * segment.c --
 *
 *      Free segments of the mapping, and what happens when few are left.
 *
 *      They form a stack without a lock.  Its head carries a counter against a
 *      segment that is taken and comes back while another thread is about to
 *      take it.
 */

#include "log/ring/segment.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "log/ring/bell.h"
#include "nsthread.h"

#define SAMPLE_ONE_IN    16
#define WAIT_USEC        100000
#define EPISODE_NANOS    NS_STAMP_SECOND
#define DRAINER_SEGMENTS 2

/*
 * Where a segment is.  Only whoever has it changes that.
 */
typedef enum {
    FREE,
    TAKEN, /* In the hands of a thread. */
    USED   /* In the chain of a lane. */
} State;

static atomic_uint_fast64_t freeHead; /* Counter << 32 | segment. */
static atomic_uint         *nextFree; /* By segment; or the next taken. */
static atomic_uchar        *states;   /* By segment. */
static atomic_int           nFree;
static atomic_int           leastFree;
static atomic_uint_fast64_t nTakenEver;
static atomic_uint_fast64_t watchAt = UINT64_MAX; /* Of that. */
/* By class; constant.  The last ones are for what log threads report: they
 * cannot wait for themselves. */
static int reserve[3];
static int batch;     /* Worth waking a thread; constant. */
static int nSegments; /* Constant. */

static Ns_Mutex   waitLock; /* Guards what follows. */
static Ns_Cond    freed;
static Ns_Cond    collected;   /* isCollected is false again. */
static bool       isCollected; /* See BeginCollecting. */
static atomic_int nWaiting;    /* Read without the lock to skip signals, */
static atomic_int wakeAt;      /* like this number of free ones, which is
                                * worth it. */

/* When the present episode of waits began (0: there is none); the last wait. */
static atomic_int_fast64_t waitsSince;
static atomic_int_fast64_t lastWait;
static atomic_int_fast64_t waitUntil; /* Nobody waits after it; 0: no end. */

static _Thread_local bool     isDrainerThread;
static _Thread_local unsigned nTaken; /* When memory was short. */

static inline uint32_t TakeOne(int allowed);
static bool            BeginCollecting(void);
static void            EndCollecting(void);
static bool            IsTimeUp(void);
static void            CountTaken(void);
static void            WaitForSegment(int allowed);
static uint32_t        Pop(void);
static void            Push(uint32_t segment, State from);
static void            SetState(uint32_t segment, State from, State to);

void
NsSegmentsInit(uint32_t n)
{
    NsMutexSetup(&waitLock, NS_RANK_LOG_WAKE, "ns:log", "memory");
    nSegments = (int) n;
    reserve[NS_LANE_DETAIL] = nSegments / 4;
    reserve[NS_LANE_NORMAL] = nSegments / 16;
    reserve[NS_LANE_CRITICAL] = MIN(reserve[NS_LANE_NORMAL], DRAINER_SEGMENTS);
    batch = MAX(nSegments / 64, 1);
    NsAssert(reserve[NS_LANE_DETAIL] >= reserve[NS_LANE_NORMAL]
             && reserve[NS_LANE_NORMAL] >= reserve[NS_LANE_CRITICAL]);
    nextFree = ns_calloc(n, sizeof(*nextFree));
    states = ns_calloc(n, sizeof(*states));
    atomic_store(&freeHead, NS_RING_NONE);
    for (uint32_t i = n; i > 0; i--) {
        Push(i - 1, FREE);
    }
    NsAssert(atomic_load(&nFree) == nSegments);
    atomic_store(&leastFree, nSegments);
}

uint32_t
NsSegmentsTake(const NsLaneRecord *recordPtr, uint32_t n)
{
    int  allowed = isDrainerThread && recordPtr->class != NS_LANE_DETAIL
         ? 0
         : reserve[recordPtr->class];
    bool mayWait = !isDrainerThread && recordPtr->overflow == NS_OVERFLOW_BLOCK;
    bool isCollecting = mayWait && n > 1;
    uint32_t first = NS_RING_NONE, got = 0;

    NsAssert(n > 0 && n <= (uint32_t) nSegments);
    if (isCollecting && !BeginCollecting()) {
        return NS_RING_NONE;
    }
    for (;;) {
        while (got < n) {
            uint32_t segment = TakeOne(allowed);

            if (unlikely(segment == NS_RING_NONE)) {
                break;
            }
            atomic_store_explicit(&nextFree[segment], first,
                                  memory_order_relaxed);
            first = segment;
            got++;
        }
        if (likely(got == n)) {
            break;
        }
        nsBell.shortageProc();
        nsBell.takenProc();
        if (!mayWait || IsTimeUp()) {
            NsSegmentsGiveBack(first);
            first = NS_RING_NONE;
            break;
        }
        WaitForSegment(allowed);
    }
    if (isCollecting) {
        EndCollecting();
    }
    return first;
}

uint32_t
NsSegmentAfter(uint32_t segment)
{
    return atomic_load_explicit(&nextFree[segment], memory_order_relaxed);
}

void
NsSegmentsGiveBack(uint32_t first)
{
    bool isAny = first != NS_RING_NONE;

    while (first != NS_RING_NONE) {
        uint32_t next = NsSegmentAfter(first);

        Push(first, TAKEN);
        first = next;
    }
    if (isAny) {
        NsSegmentsFreed();
    }
}

/*
 * A free segment, if more than the allowed number are left; else NS_RING_NONE.
 */
static inline uint32_t
TakeOne(int allowed)
{
    int      left = atomic_load_explicit(&nFree, memory_order_relaxed);
    uint32_t segment = likely(left > allowed) ? Pop() : NS_RING_NONE;

    if (unlikely(segment == NS_RING_NONE)) {
        return NS_RING_NONE;
    }
    /*
     * Sleeping sinks hold segments that they have not looked at.  `left` would
     * be no measure of how often to wake them: it stays about the same as long
     * as memory is short.
     */
    if (left < nSegments / 2 && ++nTaken % 16 == 0) {
        nsBell.shortageProc();
    }
    CountTaken();
    return segment;
}

/*
 * Records that need several segments and may wait for them collect these one
 * record at a time; otherwise each could hold what another one waits for.
 * False: the time for waits is up.
 */
static bool
BeginCollecting(void)
{
    bool isMine = false;

    while (!isMine && !IsTimeUp()) {
        Ns_MutexLock(&waitLock);
        if (isCollected) {
            Ns_Time until;

            Ns_GetTime(&until);
            Ns_IncrTime(&until, 0, WAIT_USEC);
            (void) Ns_CondTimedWait(&collected, &waitLock, &until);
        }
        if (!isCollected) {
            isCollected = isMine = true;
        }
        Ns_MutexUnlock(&waitLock);
    }
    return isMine;
}

static void
EndCollecting(void)
{
    Ns_MutexLock(&waitLock);
    NsAssert(isCollected);
    isCollected = false;
    Ns_CondBroadcast(&collected);
    Ns_MutexUnlock(&waitLock);
}

void
NsSegmentsUse(uint32_t first)
{
    for (; first != NS_RING_NONE; first = NsSegmentAfter(first)) {
        SetState(first, TAKEN, USED);
    }
}

void
NsSegmentFree(uint32_t segment)
{
    Push(segment, USED);
}

void
NsSegmentsFreed(void)
{
    if (atomic_load(&nWaiting) > 0
        && atomic_load(&nFree) >= atomic_load(&wakeAt)) {
        Ns_MutexLock(&waitLock);
        Ns_CondBroadcast(&freed);
        Ns_MutexUnlock(&waitLock);
    }
}

uint32_t
NsSegmentsLeft(bool isLeast)
{
    return (uint32_t) MAX(atomic_load(isLeast ? &leastFree : &nFree), 0);
}

bool
NsSegmentsAreShort(void)
{
    return atomic_load(&nFree) < nSegments / 8 * 3;
}

uint64_t
NsSegmentsUntilShort(void)
{
    int left = atomic_load(&nFree) - nSegments / 8 * 3;

    return (uint64_t) (left > 0 ? left : nSegments / 16) + 1;
}

void
NsSegmentsWatch(uint64_t n)
{
    uint64_t now = atomic_load(&nTakenEver);

    atomic_store(&watchAt, n < UINT64_MAX - now ? now + n : UINT64_MAX);
}

bool
NsSegmentIsSampledOut(const NsLaneRecord *recordPtr)
{
    static atomic_uint nSampled;

    return recordPtr->class != NS_LANE_CRITICAL && NsLaneIsTight()
        && atomic_fetch_add(&nSampled, 1) % SAMPLE_ONE_IN != 0;
}

bool
NsLaneIsTight(void)
{
    return atomic_load_explicit(&nFree, memory_order_relaxed)
        <= reserve[NS_LANE_DETAIL];
}

bool
NsLaneIsFull(void)
{
    return atomic_load_explicit(&nFree, memory_order_relaxed)
        <= reserve[NS_LANE_NORMAL];
}

void
NsLaneSetDrainer(bool isDrainer)
{
    isDrainerThread = isDrainer;
}

void
NsSegmentsEndWaits(int64_t time)
{
    atomic_store(&waitUntil, time);
}

static bool
IsTimeUp(void)
{
    int64_t until = atomic_load(&waitUntil);

    return until != 0 && NsLogClock() >= until;
}

static void
CountTaken(void)
{
    uint64_t n = atomic_fetch_add_explicit(&nTakenEver, 1, memory_order_relaxed)
        + 1;

    if (unlikely(n >= atomic_load_explicit(&watchAt, memory_order_relaxed))
        && n >= atomic_exchange(&watchAt, UINT64_MAX)) {
        nsBell.takenProc();
    }
}

/*
 * Called only by the keeper, which reports it.
 */
int64_t
NsSegmentsWaitedSince(void)
{
    int64_t since = atomic_load(&waitsSince);

    if (since != 0 && atomic_load(&nWaiting) == 0
        && NsLogClock() - atomic_load(&lastWait) > EPISODE_NANOS) {
        atomic_store(&waitsSince, 0);
        since = 0;
    }
    return since;
}

static void
WaitForSegment(int allowed)
{
    int64_t begin = 0;
    Ns_Time until;

    atomic_store(&lastWait, NsLogClock());
    (void) atomic_compare_exchange_strong(&waitsSince, &begin,
                                          atomic_load(&lastWait));

    Ns_MutexLock(&waitLock);
    if (atomic_load(&nWaiting) == 0 || atomic_load(&wakeAt) > allowed + batch) {
        atomic_store(&wakeAt, allowed + batch);
    }
    atomic_fetch_add(&nWaiting, 1);
    if (atomic_load(&nFree) <= allowed) {
        /* The time limit only guards against a sink that never ran. */
        Ns_GetTime(&until);
        Ns_IncrTime(&until, 0, WAIT_USEC);
        (void) Ns_CondTimedWait(&freed, &waitLock, &until);
    }
    atomic_fetch_sub(&nWaiting, 1);
    Ns_MutexUnlock(&waitLock);
}

static uint32_t
Pop(void)
{
    uint64_t head = atomic_load_explicit(&freeHead, memory_order_acquire);
    uint32_t segment;
    int      left;

    do {
        segment = (uint32_t) head;
        if (segment == NS_RING_NONE) {
            return NS_RING_NONE;
        }
    } while (!atomic_compare_exchange_weak(
        &freeHead, &head,
        ((head >> 32) + 1) << 32
            | atomic_load_explicit(&nextFree[segment], memory_order_relaxed)));
    SetState(segment, FREE, TAKEN);
    left = atomic_fetch_sub(&nFree, 1) - 1;
    if (left < atomic_load_explicit(&leastFree, memory_order_relaxed)) {
        atomic_store_explicit(&leastFree, left, memory_order_relaxed);
    }
    return segment;
}

static void
Push(uint32_t segment, State from)
{
    uint64_t head = atomic_load_explicit(&freeHead, memory_order_relaxed);
    int      left;

    SetState(segment, from, FREE);
    do {
        atomic_store_explicit(&nextFree[segment], (uint32_t) head,
                              memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&freeHead, &head,
                                           ((head >> 32) + 1) << 32 | segment));
    left = atomic_fetch_add(&nFree, 1) + 1;
    NsAssert(left <= nSegments);
}

static void
SetState(uint32_t segment, State from, State to)
{
    NsAssert(segment < (uint32_t) nSegments);
    NsAssert(atomic_load_explicit(&states[segment], memory_order_relaxed)
             == from);
    atomic_store_explicit(&states[segment], (unsigned char) to,
                          memory_order_relaxed);
}
