/* SPDX-License-Identifier: MPL-2.0
 * log_lane_test.c --
 *
 *      Lanes and their segments: what they assert of themselves, and what
 *      happens when memory is short.
 *
 *      1. checks    2. prepared records    3. memory that is short
 */

#include "unit.h"
#include "aborts.h"
#include "child.h"

#include "log/ring/bell.h"
#include "log/ring/lane.h"
#include "log/ring/lanecheck.h"
#include "log/ring/segment.h"
#include "nsthread.h"

#define SECOND (sizeof(NsRingSegment) + RECORD) /* Its second record. */
#define RECORD (sizeof(NsRingRecord) + 8)

static NsRing        *ring;
static NsRingSegment *segmentPtr, *nextPtr;
static NsLane         lane;

static NsRing *
MakeRing(void)
{
    const NsRingKey  key = {"/nonexistent", "/nonexistent", NULL};
    const NsRingNeed need = {
        .bytes = 1 << 20,
        .nStreams = 1,
        .nSinks = 1,
        .nReaders = 1,
        .nLanes = 1};
    const char *reason;

    NsRingInit();
    return NsRingCreate(&key, &need, &reason);
}

static void
PutRecord(NsRingSegment *toPtr, uint32_t offset, uint64_t sequence)
{
    NsRingRecord *recordPtr = NsRingRecordAt(toPtr, offset);

    *recordPtr = (NsRingRecord){.length = 8,
                                .total = 8,
                                .sequence = sequence,
                                .epoch = (uint32_t) ring->headerPtr->epoch};
    memset(recordPtr + 1, 'x', 8);
    recordPtr->checksum = NsRingChecksum(recordPtr,
                                         NsRingSum(0, recordPtr + 1, 8));
}

/*
 * A lane with one record in its first segment, and an empty second one that
 * does not follow yet.
 */
static void
MakeLane(void)
{
    segmentPtr = NsRingSegmentAt(ring, 0);
    nextPtr = NsRingSegmentAt(ring, 1);
    *segmentPtr = (NsRingSegment){.committed = sizeof(NsRingSegment) + RECORD,
                                  .next = NS_RING_NONE,
                                  .number = 1,
                                  .epoch = ring->headerPtr->epoch};
    *nextPtr = *segmentPtr;
    atomic_store(&nextPtr->committed, sizeof(NsRingSegment));
    nextPtr->number = 2;
    PutRecord(segmentPtr, sizeof(NsRingSegment), 0);
    lane = (NsLane){.segmentPtr = segmentPtr,
                    .offset = sizeof(NsRingSegment) + RECORD,
                    .room = ring->headerPtr->segmentBytes
                        - (uint32_t) (sizeof(NsRingSegment) + RECORD),
                    .number = 1,
                    .sequence = 1};
    ring->lanes[0].stream = 0;
    atomic_store(&ring->lanes[0].first, 0);
    atomic_store(&ring->headerPtr->nLanes, 1);
}

static void
Prepare(uint64_t sequence)
{
    uint32_t prepared = ring->headerPtr->segmentBytes - (uint32_t) RECORD;

    MakeLane();
    PutRecord(segmentPtr, prepared, sequence);
    atomic_store(&segmentPtr->prepared, prepared);
    segmentPtr->preparedFor = lane.offset;
    lane.reserved = RECORD;
    lane.room -= (uint32_t) RECORD;
}

static int
SetUp(void **state)
{
    ring = MakeRing();
    return ring == NULL;
}

/*
 * What a change of a sound structure leads to.
 */
#define FAULT(name, make, change, check) \
    static void name(void)               \
    {                                    \
        make;                            \
        change;                          \
        check;                           \
    }
#define LANE_FAULT(name, change) \
    FAULT(name, MakeLane(), change, NsLaneCheck(ring, &lane))
#define PREPARED_FAULT(name, change) \
    FAULT(name, Prepare(1), change, NsLaneCheck(ring, &lane))
#define LINK_FAULT(name, change)                                         \
    FAULT(name, MakeLane(); atomic_store(&segmentPtr->next, 1u), change, \
                            NsLinkCheck(ring, 0, segmentPtr))
#define RECORDS_FAULT(name, change)                                           \
    FAULT(name, MakeLane(); PutRecord(segmentPtr, SECOND, 1);                 \
          atomic_store(&segmentPtr->committed, (unsigned) (SECOND + RECORD)), \
          change, NsRecordsCheck(ring, segmentPtr))
#define CURSOR_FAULT(name, change)                               \
    FAULT(name, MakeLane();                                      \
          atomic_store(&NsRingStreamAt(ring, 0)->readers[0], 1); \
          atomic_store(&NsRingCursorAt(ring, 0, 0)->done,        \
                       NsRingPosition(1, 64)),                   \
          change, NsCursorsCheck(ring, 0))

static void
ExpectAborts(void (*const *faults)(void), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!Aborts(faults[i])) {
            fail_msg("fault %zu went by", i);
        }
    }
}

LANE_FAULT(Sound, (void) 0)
LANE_FAULT(WithoutLane, atomic_store(&ring->headerPtr->nLanes, 0))
LANE_FAULT(OfAnotherStream, ring->lanes[0].stream = 1)
LANE_FAULT(CrookedOffset, lane.offset += 4; lane.room -= 4;
           atomic_store(&segmentPtr->committed, lane.offset))
LANE_FAULT(OffsetInTheHead, lane.offset = 8;
           lane.room = ring->headerPtr->segmentBytes - 8;
           atomic_store(&segmentPtr->committed, 8))
LANE_FAULT(CrookedRoom, lane.room -= 4; lane.reserved = 4)
LANE_FAULT(TooMuchRoom, lane.room += 8)
LANE_FAULT(TooLittleRoom, lane.room -= 8)
LANE_FAULT(ForeignSegment, segmentPtr->lane = 1)
LANE_FAULT(OldSegment, segmentPtr->epoch--)
LANE_FAULT(WrongNumber, lane.number = 2)
LANE_FAULT(NotTheLast, atomic_store(&segmentPtr->next, 1u))
LANE_FAULT(CommittedBefore, atomic_store(&segmentPtr->committed, 64))
LANE_FAULT(CommittedBehind,
           atomic_store(&segmentPtr->committed, lane.offset + 8))
LANE_FAULT(StillPrepared, atomic_store(&segmentPtr->prepared, 1024);
           segmentPtr->preparedFor = lane.offset)
LANE_FAULT(WasPrepared, atomic_store(&segmentPtr->prepared, 1024);
           segmentPtr->preparedFor = 64)

static void
a_lane_that_does_not_agree_with_its_segment_is_found(void **state)
{
    static void (*const faults[])(void) = {
        WithoutLane,     OfAnotherStream, CrookedOffset, OffsetInTheHead,
        CrookedRoom,     TooMuchRoom,     TooLittleRoom, ForeignSegment,
        OldSegment,      WrongNumber,     NotTheLast,    CommittedBefore,
        CommittedBehind, StillPrepared};

    assert_false(Aborts(Sound));
    assert_false(Aborts(WasPrepared));
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

PREPARED_FAULT(Prepared, (void) 0)
PREPARED_FAULT(PreparedNowhere, atomic_store(&segmentPtr->prepared, 0))
PREPARED_FAULT(PreparedForAnother, segmentPtr->preparedFor -= 8)
PREPARED_FAULT(PreparedAgain, lane.sequence = 2)
PREPARED_FAULT(PreparedElsewhere,
               NsRingRecordAt(segmentPtr, atomic_load(&segmentPtr->prepared))
                   ->lane = 1)
PREPARED_FAULT(PreparedLonger,
               NsRingRecordAt(segmentPtr, atomic_load(&segmentPtr->prepared))
                   ->length = 9)

static void
a_prepared_record_that_would_not_count_is_found(void **state)
{
    static void (*const faults[])(void) = {
        PreparedNowhere, PreparedForAnother, PreparedAgain, PreparedElsewhere,
        PreparedLonger};

    assert_false(Aborts(Prepared));
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

LINK_FAULT(Linked, (void) 0)
LINK_FAULT(LinkedInAnotherLane, segmentPtr->lane = 1)
LINK_FAULT(LinkedOld, segmentPtr->epoch--)
LINK_FAULT(LinkedEmpty, atomic_store(&segmentPtr->committed, 0))
LINK_FAULT(LinkedTooFull,
           atomic_store(&segmentPtr->committed,
                        ring->headerPtr->segmentBytes + 8))
LINK_FAULT(LinkedNowhere,
           atomic_store(&segmentPtr->next, ring->headerPtr->nSegments))
LINK_FAULT(LinkedToAnotherLane, nextPtr->lane = 1)
LINK_FAULT(LinkedTooFar, nextPtr->number = 3)
LINK_FAULT(LinkedBack, atomic_store(&segmentPtr->next, 0))

static void
a_chain_that_leads_astray_is_found(void **state)
{
    static void (*const faults[])(void) = {
        LinkedInAnotherLane, LinkedOld,           LinkedEmpty,  LinkedTooFull,
        LinkedNowhere,       LinkedToAnotherLane, LinkedTooFar, LinkedBack};

    assert_false(Aborts(Linked));
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

RECORDS_FAULT(Records, (void) 0)
RECORDS_FAULT(RecordsWithAGap, NsRingRecordAt(segmentPtr, SECOND)->sequence = 2)
RECORDS_FAULT(RecordsBeyondTheEnd,
              NsRingRecordAt(segmentPtr, SECOND)->length = 16)
RECORDS_FAULT(RecordsOfAnotherLane,
              NsRingRecordAt(segmentPtr, SECOND)->lane = 1)
RECORDS_FAULT(RecordsOfAnotherTime,
              NsRingRecordAt(segmentPtr, SECOND)->epoch ^= 1)
RECORDS_FAULT(RecordsInPieces, NsRingRecordAt(segmentPtr, SECOND)->total = 9)
CURSOR_FAULT(ReadFromTheFirst, (void) 0)
CURSOR_FAULT(ReadBeforeTheFirst, atomic_store(&ring->lanes[0].first, 1))

static void
records_and_cursors_out_of_order_are_found_by_debug_builds(void **state)
{
    static void (*const faults[])(void) = {
        RecordsWithAGap,      RecordsBeyondTheEnd, RecordsOfAnotherLane,
        RecordsOfAnotherTime, RecordsInPieces,     ReadBeforeTheFirst};

    assert_false(Aborts(Records));
    assert_false(Aborts(ReadFromTheFirst));
#ifdef NS_DEBUG
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
#else
    (void) faults;
    (void) ExpectAborts;
    skip();
#endif
}

static void
FreeTwice(void)
{
    uint32_t segment;

    NsLaneInit(ring);
    segment = NsSegmentsTake(&(NsLaneRecord){.class = NS_LANE_NORMAL}, 1);
    NsSegmentsUse(segment);
    NsSegmentFree(segment);
    NsSegmentFree(segment);
}

static void
GiveBackWhatIsUsed(void)
{
    uint32_t segment;

    NsLaneInit(ring);
    segment = NsSegmentsTake(&(NsLaneRecord){.class = NS_LANE_NORMAL}, 2);
    NsSegmentsUse(segment);
    NsSegmentsGiveBack(segment);
}

static void
a_segment_is_freed_once_and_given_back_unused(void **state)
{
    assert_true(Aborts(FreeTwice));
    assert_true(Aborts(GiveBackWhatIsUsed));
}

/*
 * Where the lane's records end when what was prepared is there, too.
 */
static uint32_t
CommittedAfterDeath(uint64_t sequence)
{
    Prepare(sequence);
    NsRingCommitPrepared(ring);
    assert_int_equal(atomic_load(&segmentPtr->prepared), 0);
    return atomic_load(&segmentPtr->committed);
}

static void
a_prepared_record_counts_after_death_unless_it_was_replaced(void **state)
{
    const uint32_t end = sizeof(NsRingSegment) + RECORD;

    assert_int_equal(CommittedAfterDeath(1), end + RECORD);
    /* The offset is one of earlier, and the process died before the next. */
    assert_int_equal(CommittedAfterDeath(0), end);
}

/*
 * In a child: one lane for the main thread, a common one for the others.
 */
#define SMALL 64

static char       bytes[1 << 18];
static atomic_int nPut, nLost;

static const NsLaneRecord *
Record(size_t length, NsOverflow overflow)
{
    static _Thread_local struct iovec piece;
    static _Thread_local NsLaneRecord mine;

    piece = (struct iovec){bytes, length};
    mine = (NsLaneRecord){
        .class = NS_LANE_NORMAL,
        .overflow = overflow,
        .nudgeBytes = SIZE_MAX,
        .pieces = &piece,
        .nPieces = 1,
        .length = length};
    return &mine;
}

static bool
PutIt(size_t length, NsOverflow overflow)
{
    bool isPut = NsLanePut(0, Record(length, overflow));

    atomic_fetch_add(isPut ? &nPut : &nLost, 1);
    return isPut;
}

static void
Start(uint32_t nOwn)
{
    alarm(120);
    ring = MakeRing();
    ring->headerPtr->maxLanes = ring->headerPtr->maxStreams + nOwn;
    NsLaneInit(ring);
}

static void
RunThread(Ns_ThreadProc *proc)
{
    Ns_Thread thread;

    Ns_ThreadCreate(proc, NULL, 0, &thread);
    Ns_ThreadJoin(&thread, NULL);
}

static void
PutOne(void *arg)
{
    (void) PutIt(SMALL, NS_OVERFLOW_DROPNEWEST);
}

/*
 * The main thread has its lane, others the common one, and then memory is
 * short.
 */
static void
StartShort(void)
{
    Start(1);
    PutOne(NULL);
    RunThread(PutOne);
    while (PutIt(sizeof(bytes), NS_OVERFLOW_DROPNEWEST)
           || PutIt(4 * SMALL, NS_OVERFLOW_DROPNEWEST)) {
    }
    atomic_store(&nPut, 0);
    atomic_store(&nLost, 0);
}

static void
PutUntilLost(void *arg)
{
    while (PutIt(SMALL, NS_OVERFLOW_DROPNEWEST)) {
    }
}

static void
OfStream(int stream)
{
}

static void
OfRecord(int stream, int64_t time)
{
}

static bool
OfRoom(void)
{
    return false;
}

static atomic_int nRings;

/*
 * Whoever hears the bell logs.
 */
static void
LogAtBell(void)
{
    static _Thread_local bool isLogging;

    if (!isLogging) {
        isLogging = true;
        PutOne(NULL);
        atomic_fetch_add(&nRings, 1);
        isLogging = false;
    }
}

static void
RingInCommonLane(void)
{
    StartShort();
    NsBellHang(&(NsBell){OfRecord, OfStream, OfStream, LogAtBell, OfRoom,
                         LogAtBell});
    RunThread(PutUntilLost);
    _exit(atomic_load(&nRings) > 0 && atomic_load(&nPut) > 0 ? 0 : 3);
}

static void
the_bell_rings_with_no_lane_locked(void **state)
{
    assert_int_equal(InChild(RingInCommonLane), 0);
}

static void
PutAndWait(void *arg)
{
    while (PutIt(SMALL, NS_OVERFLOW_BLOCK)) {
    }
}

static void
WaitInCommonLane(void)
{
    Ns_Thread thread;

    StartShort();
    Ns_ThreadCreate(PutAndWait, NULL, 0, &thread);
    while (NsSegmentsWaitedSince() == 0) {
        usleep(1000);
    }
    RunThread(PutUntilLost);
    if (atomic_load(&nLost) != 1) {
        _exit(3);
    }
    NsSegmentsEndWaits(1);
    Ns_ThreadJoin(&thread, NULL);
    _exit(atomic_load(&nLost) == 2 ? 0 : 4);
}

static void
a_record_that_waits_for_memory_does_not_hold_up_others(void **state)
{
    assert_int_equal(InChild(WaitInCommonLane), 0);
}

#define WRITERS 4
#define RECORDS 8

static void
PutLarge(void *arg)
{
    for (int i = 0; i < RECORDS; i++) {
        (void) PutIt(sizeof(bytes) - (size_t) i, NS_OVERFLOW_BLOCK);
    }
}

/*
 * All of them together want as much as there is, and several times over.
 */
static void
CollectTogether(void)
{
    Ns_Thread threads[WRITERS];

    Start(WRITERS / 2);
    for (int i = 0; i < WRITERS; i++) {
        Ns_ThreadCreate(PutLarge, NULL, 0, &threads[i]);
    }
    while (atomic_load(&nPut) < WRITERS * RECORDS) {
        uint32_t n = atomic_load(&ring->headerPtr->nLanes);

        for (uint32_t i = 0; i < n; i++) {
            NsLaneFree(i, NsLaneEnd(i));
        }
        usleep(100);
    }
    for (int i = 0; i < WRITERS; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    _exit(atomic_load(&nLost));
}

static void
records_of_many_segments_do_not_wait_for_each_other_for_ever(void **state)
{
    assert_int_equal(InChild(CollectTogether), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_that_does_not_agree_with_its_segment_is_found),
        cmocka_unit_test(a_prepared_record_that_would_not_count_is_found),
        cmocka_unit_test(a_chain_that_leads_astray_is_found),
        cmocka_unit_test(
            records_and_cursors_out_of_order_are_found_by_debug_builds),
        cmocka_unit_test(a_segment_is_freed_once_and_given_back_unused),
        cmocka_unit_test(
            a_prepared_record_counts_after_death_unless_it_was_replaced),
        cmocka_unit_test(the_bell_rings_with_no_lane_locked),
        cmocka_unit_test(
            a_record_that_waits_for_memory_does_not_hold_up_others),
        cmocka_unit_test(
            records_of_many_segments_do_not_wait_for_each_other_for_ever),
    };

    return cmocka_run_group_tests(tests, SetUp, NULL);
}
