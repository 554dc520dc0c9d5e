/* SPDX-License-Identifier: MPL-2.0
 * lane.c --
 *
 *      The writing side of the mapping: lanes of threads.
 *
 *      A record is complete when the segment's `committed` covers it: that
 *      store releases all bytes before it.  A new segment is filled in before
 *      its predecessor's `next` releases it.  A record of several pieces is put
 *      into new segments only, which are linked when all of it is there, so it
 *      becomes visible as a whole.
 *
 *      A prepared record is stored at the end of the segment, away from
 *      `committed`, and the segment's `prepared` is its offset.  It counts for
 *      a later process as long as `committed` does not change and no segment
 *      follows.  The store that makes its replacement visible changes one of
 *      the two, so exactly one of the two records counts at any moment.
 */

#include "log/ring/lane.h"

#include "base/assert.h"
#include "base/lock.h"
#include "log/ring/bell.h"
#include "log/ring/lanecheck.h"
#include "log/ring/reader.h"
#include "log/ring/segment.h"

#define MAX_RECORD   ((size_t) 16 << 20)
#define RECORD_BYTES sizeof(NsRingRecord)
#define PAGE_STREAMS 32

/*
 * The lanes of a thread by stream, in pages, since a thread uses only a few of
 * many streams.
 */
typedef struct Page {
    NsLane  *lanes[PAGE_STREAMS]; /* NULL before first use. */
    uint32_t marks;
} Page;

typedef struct ThreadLanes {
    int    n;
    Page **pages; /* NULL: nothing there. */
} ThreadLanes;

/*
 * The result of a put.
 */
typedef enum {
    LOST,
    PUT,
    PUT_MUCH /* Enough to call the readers. */
} Outcome;

/*
 * Segments that the caller has taken, see NsSegmentsTake.
 */
typedef struct Supply {
    uint32_t n;
    uint32_t first; /* NS_RING_NONE: none, whatever the number. */
} Supply;

static NsRing *ring; /* Constant after NsLaneInit. */
size_t         nsLaneMaxRecord;

static Ns_Mutex lock; /* Guards what follows. */
static NsLane  *freeLanes[NS_RING_MAX_STREAMS];
static NsLane  *laneAt[NS_RING_MAX_LANES]; /* Below the header's nLanes. */

static Ns_Mutex commonLock; /* Guards what follows, and those lanes. */
static NsLane  *commonLanes[NS_RING_MAX_STREAMS];

static Ns_Mutex chainLock; /* Guards lanes' first segments. */

static Ns_Tls laneTls; /* For the cleanup; the next is faster. */
static _Thread_local ThreadLanes *threadLanes;

static inline NsLane *OwnLane(int stream);
static Page          *PageOf(int stream);
static inline NsLane *ThreadLane(int stream, const NsLaneRecord *recordPtr);
static NsLane        *FirstThreadLane(int stream, const NsLaneRecord *recordPtr)
    __attribute__((noinline));
static void    FreeThreadLanes(void *arg);
static NsLane *TakeLane(int stream, const NsLaneRecord *recordPtr);
static NsLane *NewLaneLocked(int stream, uint32_t segment);
static Outcome PutCommon(int stream, const NsLaneRecord *recordPtr)
    __attribute__((noinline));
static bool     AppendCommonLocked(int stream, const NsLaneRecord *recordPtr,
                                   Supply *supplyPtr, Outcome *outcomePtr);
static uint32_t OwnLanes(void);
static inline uint32_t SegmentsFor(const NsLane       *lanePtr,
                                   const NsLaneRecord *recordPtr);
static inline size_t   MaxPiece(void);
static inline Outcome  Append(NsLane *lanePtr, const NsLaneRecord *recordPtr);
static Outcome     AppendHere(NsLane *lanePtr, const NsLaneRecord *recordPtr);
static Outcome     AppendInNew(NsLane *lanePtr, const NsLaneRecord *recordPtr,
                               uint32_t segments) __attribute__((noinline));
static Outcome     AppendPieces(NsLane *lanePtr, const NsLaneRecord *recordPtr,
                                uint32_t segments);
static inline void FillRecord(NsRingRecord *toPtr, NsLane *lanePtr,
                              const NsLaneRecord *recordPtr, uint32_t kind,
                              uint32_t length);
static inline void Copy(char *to, const NsLaneRecord *recordPtr);
static void        Gather(char *to, const NsLaneRecord *recordPtr, size_t from,
                          size_t length);
static void        NextSegment(NsLane *lanePtr, uint32_t segment);
static NsRingSegment *FillSegment(const NsLane *lanePtr, uint32_t segment,
                                  uint64_t number);
static void EnterSegment(NsLane *lanePtr, uint32_t segment, uint64_t number,
                         uint32_t offset);
static void Forget(NsLane *lanePtr);
static inline void Unprepare(NsRingSegment *segmentPtr);

void
NsLaneInit(NsRing *ringPtr)
{
    uint32_t n = ringPtr->headerPtr->nSegments;

    ring = ringPtr;
    nsLaneMaxRecord = MIN((size_t) (n / 4) * ringPtr->headerPtr->segmentBytes,
                          MAX_RECORD);
    NsMutexSetup(&lock, NS_RANK_LOG_SEGMENTS, "ns:log", "lanes");
    NsMutexSetup(&commonLock, NS_RANK_LOG_COMMON, "ns:log", "common");
    NsMutexSetup(&chainLock, NS_RANK_LOG_CHAINS, "ns:log", "chains");
    Ns_TlsAlloc(&laneTls, FreeThreadLanes);
    NsSegmentsInit(n);
}

bool
NsLanePut(int stream, const NsLaneRecord *recordPtr)
{
    Outcome outcome;
    NsLane *lanePtr;

    if (recordPtr->overflow == NS_OVERFLOW_SAMPLE
        && NsSegmentIsSampledOut(recordPtr)) {
        NsLaneForget(stream);
        return false;
    }
    lanePtr = ThreadLane(stream, recordPtr);
    outcome = likely(lanePtr != NULL)
        ? Append(lanePtr, recordPtr)
        : PutCommon(stream, recordPtr);
    if (unlikely(outcome == PUT_MUCH)) {
        nsBell.nudgeProc(stream);
    }
    return outcome != LOST;
}

bool
NsLanePrepare(int stream, const NsLaneRecord *recordPtr)
{
    const uint32_t segmentBytes = ring->headerPtr->segmentBytes;
    size_t         need = RECORD_BYTES + NS_RING_ALIGN(recordPtr->length);
    NsLane        *lanePtr = ThreadLane(stream, recordPtr);
    NsRingSegment *segmentPtr;
    NsRingRecord  *toPtr;

    if (lanePtr == NULL || 2 * need > segmentBytes - sizeof(NsRingSegment)) {
        return false;
    }
    Forget(lanePtr);
    if (2 * need > lanePtr->room) {
        uint32_t segment = NsSegmentsTake(recordPtr, 1);

        if (segment == NS_RING_NONE) {
            return false;
        }
        NextSegment(lanePtr, segment);
    }
    segmentPtr = lanePtr->segmentPtr;
    Unprepare(segmentPtr);
    toPtr = NsRingRecordAt(segmentPtr, segmentBytes - (uint32_t) need);
    Copy((char *) (toPtr + 1), recordPtr);
    FillRecord(toPtr, lanePtr, recordPtr, NS_RING_WHOLE,
               (uint32_t) recordPtr->length);
    lanePtr->reserved = (uint32_t) need;
    lanePtr->room -= lanePtr->reserved;
    segmentPtr->preparedFor = lanePtr->offset;
    atomic_store_explicit(&segmentPtr->prepared,
                          segmentBytes - lanePtr->reserved,
                          memory_order_release);
    NsLaneCheck(ring, lanePtr);
    return true;
}

const void *
NsLanePrepared(int stream, size_t *lengthPtr)
{
    const NsLane       *lanePtr = OwnLane(stream);
    const NsRingRecord *recordPtr;

    if (lanePtr == NULL || lanePtr->reserved == 0) {
        return NULL;
    }
    recordPtr = NsRingRecordAt(lanePtr->segmentPtr,
                               ring->headerPtr->segmentBytes
                                   - lanePtr->reserved);
    *lengthPtr = recordPtr->length;
    return recordPtr + 1;
}

void
NsLaneForget(int stream)
{
    NsLane *lanePtr = OwnLane(stream);

    if (lanePtr != NULL) {
        Forget(lanePtr);
    }
}

void
NsLaneFree(uint32_t lane, uint64_t number)
{
    NsRingLane *ringLanePtr = &ring->lanes[lane];

    NsAssert(lane < atomic_load(&ring->headerPtr->nLanes));
    Ns_MutexLock(&chainLock);
    for (;;) {
        uint32_t       first = atomic_load(&ringLanePtr->first);
        NsRingSegment *segmentPtr = NsRingSegmentAt(ring, first);
        uint32_t       next = atomic_load_explicit(&segmentPtr->next,
                                                   memory_order_acquire);

        NsLinkCheck(ring, lane, segmentPtr);
        if (segmentPtr->number >= number || next == NS_RING_NONE) {
            break;
        }
        NsRecordsCheck(ring, segmentPtr);
        atomic_store_explicit(&ringLanePtr->first, next, memory_order_release);
        NsSegmentFree(first);
    }
    NsCursorsCheck(ring, lane);
    Ns_MutexUnlock(&chainLock);

    NsSegmentsFreed();
}

uint64_t
NsLaneEnd(uint32_t lane)
{
    return atomic_load_explicit(&laneAt[lane]->number, memory_order_relaxed);
}

uint64_t
NsLaneSequence(uint32_t lane)
{
    return atomic_load_explicit(&laneAt[lane]->sequence, memory_order_relaxed);
}

uint64_t
NsLaneRecords(int stream, int rank)
{
    uint64_t sum = 0;

    for (uint32_t lane = NsRingNewestLane(ring, (uint32_t) stream);
         lane != NS_RING_NONE; lane = NsRingOlderLane(ring, lane)) {
        uint64_t begin = atomic_load(&NsRingCursorAt(ring, lane, rank)->begin);

        if (begin != NS_PLACE_UNKNOWN) {
            sum += NsLaneSequence(lane) - begin;
        }
    }
    return sum;
}

bool
NsLaneMark(int stream, bool isMarked)
{
    Page    *pagePtr = PageOf(stream);
    uint32_t bit = UINT32_C(1) << stream % PAGE_STREAMS;
    bool     wasMarked = (pagePtr->marks & bit) != 0;

    pagePtr->marks = isMarked ? pagePtr->marks | bit : pagePtr->marks & ~bit;
    return wasMarked;
}

void
NsLaneGetUsage(NsLaneUsage *usagePtr)
{
    NsRingHeader *headerPtr = ring == NULL ? NULL : ring->headerPtr;
    uint32_t      all;

    *usagePtr = (NsLaneUsage){0};
    if (headerPtr != NULL) {
        all = headerPtr->nSegments;
        *usagePtr = (NsLaneUsage){
            .nLanes = atomic_load(&headerPtr->nLanes),
            .segmentBytes = headerPtr->segmentBytes,
            .nSegments = all,
            .nUsed = all - NsSegmentsLeft(false),
            .mostUsed = all - NsSegmentsLeft(true)};
    }
}

void
NsLaneLockChains(void)
{
    Ns_MutexLock(&chainLock);
}

void
NsLaneUnlockChains(void)
{
    Ns_MutexUnlock(&chainLock);
}

/*
 * The calling thread's lane, or NULL if it has none.
 */
static inline NsLane *
OwnLane(int stream)
{
    const ThreadLanes *mine = threadLanes;
    const Page        *pagePtr = mine != NULL && stream / PAGE_STREAMS < mine->n
               ? mine->pages[stream / PAGE_STREAMS]
               : NULL;

    return likely(pagePtr != NULL) ? pagePtr->lanes[stream % PAGE_STREAMS]
                                   : NULL;
}

/*
 * The same, after giving it one if it has none.  NULL: it has to share.
 */
static inline NsLane *
ThreadLane(int stream, const NsLaneRecord *recordPtr)
{
    NsLane *lanePtr = OwnLane(stream);

    return likely(lanePtr != NULL) ? lanePtr
                                   : FirstThreadLane(stream, recordPtr);
}

static NsLane *
FirstThreadLane(int stream, const NsLaneRecord *recordPtr)
{
    Page *pagePtr = PageOf(stream);

    return pagePtr->lanes[stream % PAGE_STREAMS] = TakeLane(stream, recordPtr);
}

/*
 * The calling thread's page for the stream.
 */
static Page *
PageOf(int stream)
{
    ThreadLanes *mine = threadLanes;
    int          page = stream / PAGE_STREAMS;

    NsAssert(stream >= 0 && stream < NS_RING_MAX_STREAMS);
    if (mine == NULL) {
        mine = threadLanes = ns_calloc(1u, sizeof(*mine));
        Ns_TlsSet(&laneTls, mine);
    }
    if (page >= mine->n) {
        mine->pages = ns_realloc(mine->pages,
                                 (size_t) (page + 1) * sizeof(Page *));
        while (mine->n <= page) {
            mine->pages[mine->n++] = NULL;
        }
    }
    if (mine->pages[page] == NULL) {
        mine->pages[page] = ns_calloc(1u, sizeof(Page));
    }
    return mine->pages[page];
}

static void
FreeThreadLanes(void *arg)
{
    ThreadLanes *mine = arg;

    threadLanes = NULL;
    Ns_MutexLock(&lock);
    for (int i = 0; i < mine->n * PAGE_STREAMS; i++) {
        Page   *pagePtr = mine->pages[i / PAGE_STREAMS];
        NsLane *lanePtr = pagePtr == NULL
            ? NULL
            : pagePtr->lanes[i % PAGE_STREAMS];

        if (lanePtr != NULL) {
            NsAssert(lanePtr->stream == i);
            Forget(lanePtr);
            NsLaneCheck(ring, lanePtr);
            lanePtr->nextFreePtr = freeLanes[i];
            freeLanes[i] = lanePtr;
        }
    }
    Ns_MutexUnlock(&lock);
    for (int i = 0; i < mine->n; i++) {
        ns_free(mine->pages[i]);
    }
    ns_free(mine->pages);
    ns_free(mine);
}

/*
 * A lane given back by a thread that ended, or a new one.  The segment of a new
 * lane is taken first, with no lock held: when memory is short the overflow
 * rule holds for a thread's first record as for any other.
 */
static NsLane *
TakeLane(int stream, const NsLaneRecord *recordPtr)
{
    NsLane  *lanePtr;
    uint32_t segment;
    bool     mayMake;

    Ns_MutexLock(&lock);
    lanePtr = freeLanes[stream];
    if (lanePtr != NULL) {
        NsAssert(lanePtr->stream == stream && lanePtr->reserved == 0);
        freeLanes[stream] = lanePtr->nextFreePtr;
    }
    mayMake = atomic_load(&ring->headerPtr->nLanes) < OwnLanes();
    Ns_MutexUnlock(&lock);
    if (lanePtr != NULL || !mayMake) {
        return lanePtr;
    }

    segment = NsSegmentsTake(recordPtr, 1);
    if (segment == NS_RING_NONE) {
        return NULL;
    }
    Ns_MutexLock(&lock);
    if (atomic_load(&ring->headerPtr->nLanes) < OwnLanes()) {
        lanePtr = NewLaneLocked(stream, segment);
    }
    Ns_MutexUnlock(&lock);
    if (lanePtr == NULL) {
        NsSegmentsGiveBack(segment);
    }
    return lanePtr;
}

/*
 * How many lanes may belong to threads: each stream can have a common one.
 */
static uint32_t
OwnLanes(void)
{
    const NsRingHeader *headerPtr = ring->headerPtr;

    NsAssert(headerPtr->maxLanes > headerPtr->maxStreams);
    return headerPtr->maxLanes - headerPtr->maxStreams;
}

/*
 * Put a record into the stream's common lane.  New segments are taken while
 * nothing is locked: this rings the bell, and may wait.
 */
static Outcome
PutCommon(int stream, const NsLaneRecord *recordPtr)
{
    Supply  supply = {0, NS_RING_NONE};
    Outcome outcome = LOST;
    bool    isDone;

    for (;;) {
        Ns_MutexLock(&commonLock);
        isDone = AppendCommonLocked(stream, recordPtr, &supply, &outcome);
        Ns_MutexUnlock(&commonLock);
        NsSegmentsGiveBack(supply.first);
        if (isDone) {
            return outcome;
        }
        supply.first = NsSegmentsTake(recordPtr, supply.n);
        if (supply.first == NS_RING_NONE) {
            return LOST;
        }
    }
}

/*
 * The lane is made when its first segment is there.  False: another number of
 * segments is needed, which is in the supply now.  Segments that are still
 * there were not used.
 */
static bool
AppendCommonLocked(int stream, const NsLaneRecord *recordPtr, Supply *supplyPtr,
                   Outcome *outcomePtr)
{
    NsLane  *lanePtr = commonLanes[stream];
    uint32_t n;

    NsAssertLocked(&commonLock);
    if (lanePtr == NULL && supplyPtr->first != NS_RING_NONE) {
        NsAssert(supplyPtr->n == 1);
        Ns_MutexLock(&lock);
        lanePtr = NewLaneLocked(stream, supplyPtr->first);
        Ns_MutexUnlock(&lock);
        commonLanes[stream] = lanePtr;
        *supplyPtr = (Supply){0, NS_RING_NONE};
    }
    n = lanePtr == NULL ? 1 : SegmentsFor(lanePtr, recordPtr);
    if (lanePtr == NULL || (n > 0 && n != supplyPtr->n)) {
        supplyPtr->n = n;
        return false;
    }
    if (n == 0) {
        *outcomePtr = AppendHere(lanePtr, recordPtr);
    } else {
        *outcomePtr = AppendInNew(lanePtr, recordPtr, supplyPtr->first);
        supplyPtr->first = NS_RING_NONE;
    }
    return true;
}

/*
 * A lane always has a segment, so that its chain is never empty.
 */
static NsLane *
NewLaneLocked(int stream, uint32_t segment)
{
    uint32_t index = atomic_load(&ring->headerPtr->nLanes);
    NsLane  *lanePtr = ns_calloc(1u, sizeof(*lanePtr));

    NsAssertLocked(&lock);
    NsAssert(index < ring->headerPtr->maxLanes && laneAt[index] == NULL);
    lanePtr->index = index;
    lanePtr->stream = stream;
    laneAt[index] = lanePtr;
    ring->lanes[index].stream = (uint32_t) stream;
    *NsRingSegmentAt(ring, segment) = (NsRingSegment){
        .committed = sizeof(NsRingSegment),
        .next = NS_RING_NONE,
        .lane = index,
        .number = 1,
        .epoch = ring->headerPtr->epoch};
    NsSegmentsUse(segment);
    EnterSegment(lanePtr, segment, 1, sizeof(NsRingSegment));
    atomic_store(&ring->lanes[index].first, segment);
    atomic_store_explicit(&ring->headerPtr->nLanes, index + 1,
                          memory_order_release);
    NsRingAddLane(ring, index);
    NsLaneCheck(ring, lanePtr);
    return lanePtr;
}

static inline Outcome
Append(NsLane *lanePtr, const NsLaneRecord *recordPtr)
{
    uint32_t n = SegmentsFor(lanePtr, recordPtr), segments;

    if (likely(n == 0)) {
        return AppendHere(lanePtr, recordPtr);
    }
    segments = NsSegmentsTake(recordPtr, n);
    if (segments == NS_RING_NONE) {
        Forget(lanePtr);
        return LOST;
    }
    return AppendInNew(lanePtr, recordPtr, segments);
}

/*
 * How many new segments a record takes; 0: there is room behind the last one.
 */
static inline uint32_t
SegmentsFor(const NsLane *lanePtr, const NsLaneRecord *recordPtr)
{
    const size_t most = MaxPiece();

    return likely(RECORD_BYTES + NS_RING_ALIGN(recordPtr->length)
                  <= lanePtr->room)
        ? 0
        : MAX((uint32_t) ((recordPtr->length + most - 1) / most), 1);
}

/*
 * As much of a record as there is room for in one segment.
 */
static inline size_t
MaxPiece(void)
{
    return (ring->headerPtr->segmentBytes - sizeof(NsRingSegment)
            - RECORD_BYTES)
        & ~(size_t) 7;
}

static Outcome
AppendHere(NsLane *lanePtr, const NsLaneRecord *recordPtr)
{
    size_t        need = RECORD_BYTES + NS_RING_ALIGN(recordPtr->length);
    NsRingRecord *toPtr = NsRingRecordAt(lanePtr->segmentPtr, lanePtr->offset);

    NsAssert(need <= lanePtr->room);
    Copy((char *) (toPtr + 1), recordPtr);
    FillRecord(toPtr, lanePtr, recordPtr, NS_RING_WHOLE,
               (uint32_t) recordPtr->length);
    atomic_store_explicit(&lanePtr->sequence, toPtr->sequence + 1,
                          memory_order_relaxed);
    lanePtr->offset += (uint32_t) need;
    lanePtr->room += lanePtr->reserved - (uint32_t) need;
    lanePtr->reserved = 0;
    atomic_store_explicit(&lanePtr->segmentPtr->committed, lanePtr->offset,
                          memory_order_release);

    lanePtr->nudgeBytes += need;
    if (likely(lanePtr->nudgeBytes < recordPtr->nudgeBytes)) {
        return PUT;
    }
    lanePtr->nudgeBytes = 0;
    return PUT_MUCH;
}

/*
 * With segments that the caller has taken, as many as SegmentsFor says.
 */
static Outcome
AppendInNew(NsLane *lanePtr, const NsLaneRecord *recordPtr, uint32_t segments)
{
    if (lanePtr->reserved > 0 || recordPtr->length > MaxPiece()) {
        return AppendPieces(lanePtr, recordPtr, segments);
    }
    NextSegment(lanePtr, segments);
    return AppendHere(lanePtr, recordPtr);
}

/*
 * Fill the segments with the pieces, then link the first of them.  The store
 * that does so also replaces a prepared record.
 */
static Outcome
AppendPieces(NsLane *lanePtr, const NsLaneRecord *recordPtr, uint32_t segments)
{
    uint32_t segment = segments, last = NS_RING_NONE;
    uint64_t number = lanePtr->number;
    size_t   done = 0;

    do {
        NsRingSegment *segmentPtr = FillSegment(lanePtr, segment, ++number);
        NsRingRecord *toPtr = NsRingRecordAt(segmentPtr, sizeof(NsRingSegment));
        size_t        length = MIN(MaxPiece(), recordPtr->length - done);

        Gather((char *) (toPtr + 1), recordPtr, done, length);
        FillRecord(toPtr, lanePtr, recordPtr, NS_RING_PART, (uint32_t) length);
        atomic_store(&segmentPtr->committed,
                     (uint32_t) (sizeof(NsRingSegment) + RECORD_BYTES
                                 + NS_RING_ALIGN(length)));
        if (last != NS_RING_NONE) {
            atomic_store(&NsRingSegmentAt(ring, last)->next, segment);
        }
        last = segment;
        segment = NsSegmentAfter(segment);
        done += length;
    } while (segment != NS_RING_NONE);
    NsAssert(done == recordPtr->length);

    NsSegmentsUse(segments);
    atomic_fetch_add(&lanePtr->sequence, 1);
    atomic_store_explicit(&lanePtr->segmentPtr->next, segments,
                          memory_order_release);
    EnterSegment(lanePtr, last, number,
                 atomic_load(&NsRingSegmentAt(ring, last)->committed));
    NsLaneCheck(ring, lanePtr);
    return PUT_MUCH;
}

static inline void
FillRecord(NsRingRecord *toPtr, NsLane *lanePtr, const NsLaneRecord *recordPtr,
           uint32_t kind, uint32_t length)
{
    toPtr->length = length;
    toPtr->sequence = atomic_load_explicit(&lanePtr->sequence,
                                           memory_order_relaxed);
    toPtr->time = recordPtr->time;
    toPtr->total = recordPtr->length;
    toPtr->epoch = (uint32_t) ring->headerPtr->epoch;
    toPtr->lane = (uint16_t) lanePtr->index;
    toPtr->severity = (uint16_t) recordPtr->severity;
    toPtr->kind = kind;
    toPtr->pad = 0;
    toPtr->checksum = NsRingChecksum(toPtr, NsRingSum(0, toPtr + 1, length));
}

/*
 * Copy all pieces.
 */
static inline void
Copy(char *to, const NsLaneRecord *recordPtr)
{
    for (int i = 0; i < recordPtr->nPieces; i++) {
        const struct iovec *piecePtr = &recordPtr->pieces[i];

        if (piecePtr->iov_len > 0) {
            memcpy(to, piecePtr->iov_base, piecePtr->iov_len);
            to += piecePtr->iov_len;
        }
    }
}

/*
 * Copy length bytes, starting at byte `from` of all pieces.
 */
static void
Gather(char *to, const NsLaneRecord *recordPtr, size_t from, size_t length)
{
    for (int i = 0; i < recordPtr->nPieces && length > 0; i++) {
        const struct iovec *piecePtr = &recordPtr->pieces[i];
        size_t              n;

        if (from >= piecePtr->iov_len) {
            from -= piecePtr->iov_len;
            continue;
        }
        n = MIN(piecePtr->iov_len - from, length);
        memcpy(to, (const char *) piecePtr->iov_base + from, n);
        to += n;
        length -= n;
        from = 0;
    }
}

/*
 * Continue in a segment that the caller has taken.
 */
static void
NextSegment(NsLane *lanePtr, uint32_t segment)
{
    (void) FillSegment(lanePtr, segment, lanePtr->number + 1);
    NsSegmentsUse(segment);
    atomic_store_explicit(&lanePtr->segmentPtr->next, segment,
                          memory_order_release);
    EnterSegment(lanePtr, segment, lanePtr->number + 1, sizeof(NsRingSegment));
    NsLaneCheck(ring, lanePtr);
}

/*
 * An empty segment of the lane, not linked yet.
 */
static NsRingSegment *
FillSegment(const NsLane *lanePtr, uint32_t segment, uint64_t number)
{
    NsRingSegment *segmentPtr = NsRingSegmentAt(ring, segment);

    atomic_store_explicit(&segmentPtr->committed, sizeof(NsRingSegment),
                          memory_order_relaxed);
    atomic_store_explicit(&segmentPtr->next, NS_RING_NONE,
                          memory_order_relaxed);
    atomic_store_explicit(&segmentPtr->prepared, 0, memory_order_relaxed);
    segmentPtr->lane = lanePtr->index;
    atomic_store_explicit(&segmentPtr->number, number, memory_order_relaxed);
    segmentPtr->epoch = ring->headerPtr->epoch;
    return segmentPtr;
}

static void
EnterSegment(NsLane *lanePtr, uint32_t segment, uint64_t number,
             uint32_t offset)
{
    NsAssert(number > lanePtr->number);
    lanePtr->segmentPtr = NsRingSegmentAt(ring, segment);
    atomic_store_explicit(&lanePtr->number, number, memory_order_relaxed);
    lanePtr->offset = offset;
    lanePtr->room = ring->headerPtr->segmentBytes - offset;
    lanePtr->reserved = 0;
}

/*
 * Withdraw the prepared record, if there is one.
 */
static void
Forget(NsLane *lanePtr)
{
    if (lanePtr->reserved > 0) {
        Unprepare(lanePtr->segmentPtr);
        lanePtr->room += lanePtr->reserved;
        lanePtr->reserved = 0;
    }
}

/*
 * Before anything else is stored: should the process die, an old offset must
 * not go with a new preparedFor.  The fence makes the compiler keep this order.
 */
static inline void
Unprepare(NsRingSegment *segmentPtr)
{
    atomic_store_explicit(&segmentPtr->prepared, 0, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}
