/* SPDX-License-Identifier: MPL-2.0
 * log_check_test.c --
 *
 *      What a sink asserts of itself when its lock is taken or given back: each
 *      member that is wrong ends the process.
 *
 *      Each fault has a child of its own, with a log whose sink has read some
 *      records and not written them.
 */

#include "unit.h"
#include "log_settings.h"
#include "aborts.h"
#include "log_child.h"

#include "log/init.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkcheck.h"
#include "log/sink/sinkpass.h"
#include "log/sink/sinkwake.h"
#include "log/stream/stream.h"

#define NRECORDS 3

static Ns_LogSink sink;

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    return CopyRecord(buffer, room, recordPtr);
}

static void
Start(void)
{
    char         systemLog[96], file[96];
    Ns_LogStream stream;
    char         text[] = "record\n";
    struct iovec piece = {text, sizeof(text) - 1};

    snprintf(systemLog, sizeof(systemLog), "%s/nsd.log", directory);
    snprintf(file, sizeof(file), "%s/test.log", directory);
    NsLogInit();
    ConfigureLog(directory, systemLog, false, NS_LOG_MEMORY_MIN);
    stream = Ns_LogStreamCreate("test", Format, NULL);
    sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "test",
        .stream = stream,
        .file = file,
        .bufferBytes = 65536,
        .bufferLines = 10 * NRECORDS});
    MUST(sink != NULL, 2);
    for (int i = 0; i < NRECORDS; i++) {
        Ns_LogStreamPut(stream, Notice, &piece, 1);
    }
    NsSinkLock(sink);
    NsSinkPass(sink, 0);
    MUST(sink->buffer->nRecords == NRECORDS, 3);
}

static void
InOrder(void)
{
    Start();
    NsSinkUnlock(sink);
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 4);
    NsSinkLock(sink);
    MUST(sink->buffer->nRecords == 0, 5);
    NsSinkUnlock(sink);
    NsLogStop();
    NsLogFinish();
}

#define FAULT(name, change) \
    static void name(void)  \
    {                       \
        Start();            \
        change;             \
        NsSinkUnlock(sink); \
    }

FAULT(WrittenBeyondTheBuffer,
      sink->buffer->nWritten = sink->buffer->nBuffered + 1)
FAULT(ShortWriteOfNoFailure, sink->buffer->nWritten = 1)
FAULT(LinesBeyondTheRoom, sink->buffer->room = sink->buffer->nBuffered - 1)
FAULT(RoomWithoutBytes, sink->buffer->bytes = NULL)
FAULT(AgeWithoutLines, sink->buffer->nLines = 0;
      sink->buffer->nRecords = sink->buffer->nBuffered = 0)
FAULT(MoreRecordsThanLines, sink->buffer->nRecords = NRECORDS + 1)
FAULT(BytesWithoutLines, sink->buffer->oldest = 0; sink->buffer->nLines = 0;
      sink->buffer->nRecords = 0)
FAULT(FailureWithoutBegin, sink->failing->reason = EIO)
FAULT(BeginWithoutFailure, atomic_store(&sink->failing->since, 1))
FAULT(RetryOfNothing, sink->failing->retryAt = 1)
FAULT(ServedBeforeTheyCame,
      atomic_store(&sink->turns.nServed, atomic_load(&sink->turns.nComers) + 1))
FAULT(MoreKeptThanLines, atomic_store(&sink->turns.nKept, NRECORDS + 1))
FAULT(MappingWithoutSlot, sink->reader->slotPtr = NULL)
FAULT(SlotOfAnotherSink, sink->reader->slotPtr++)
FAULT(MoreLanesThanRoom, sink->reader->nLanes = sink->reader->roomLanes + 1)
FAULT(RecordStillAtHand, sink->reader->isInLane = true)
FAULT(PlacesNotTakenBack, sink->loan->isLent = true)
FAULT(FloorsNotUsed, sink->loan->hasFloors = true)
FAULT(MoreAtRiskThanRead, sink->loan->nAtRisk = NRECORDS + 1)
FAULT(NoDescriptor, sink->target->fd = -2)
FAULT(OldLimits, atomic_store(&sink->limits.wakeBytes, 1))
FAULT(StillInAWrite, atomic_store(&sink->counts.busySince, 1))
FAULT(SpilledWithoutFile, atomic_store(&sink->counts.nSpilled, 1))
FAULT(NotLocked, Ns_MutexUnlock(&sink->lock))

FAULT(DeliveredTwice, atomic_fetch_add(&sink->counts.nDelivered, 1))
FAULT(RecordsForgotten, sink->buffer->nRecords = 0)
FAULT(LaneNotInTheList, sink->reader->firstMoved = NULL)
FAULT(LaneNotMarked, sink->reader->firstMoved->place.isMoved = false)

#define SLEEP_FAULT(name, change)        \
    static void name(void)               \
    {                                    \
        Start();                         \
        NsSinkUnlock(sink);              \
        Ns_MutexLock(&sink->sleep.lock); \
        change;                          \
        NsSinkCheckSleepLocked(sink);    \
    }

static NsSinkOp op, later;

SLEEP_FAULT(Awake, (void) 0)
SLEEP_FAULT(SleepsForNobody, atomic_store(&sink->sleep.state, NS_SINK_IDLE))
SLEEP_FAULT(ServedTwice, sink->sleep.isServed = true)
SLEEP_FAULT(NoSuchState, atomic_store(&sink->sleep.state, NS_SINK_CALLERS + 1))
SLEEP_FAULT(RequestsWithoutEnd, sink->sleep.firstOp = &op;
            sink->sleep.lastOp = NULL)
SLEEP_FAULT(RequestsBeyondTheLast, op.nextPtr = &later;
            sink->sleep.firstOp = sink->sleep.lastOp = &op)
SLEEP_FAULT(SleepUnlocked, Ns_MutexUnlock(&sink->sleep.lock))

static bool
AbortsInDirectory(void (*proc)(void))
{
    char command[128];
    bool aborts;

    strcpy(directory, "/tmp/log_check.XXXXXX");
    assert_non_null(mkdtemp(directory));
    aborts = Aborts(proc);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    return aborts;
}

static void
ExpectAborts(void (*const *faults)(void), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!AbortsInDirectory(faults[i])) {
            fail_msg("fault %zu went by", i);
        }
    }
}

static void
a_sink_that_is_in_order_goes_by(void **state)
{
    RunInChild(InOrder);
    assert_false(AbortsInDirectory(Awake));
}

static void
a_wrong_part_ends_the_process_in_every_build(void **state)
{
    static void (*const faults[])(void) = {
        WrittenBeyondTheBuffer, ShortWriteOfNoFailure, LinesBeyondTheRoom,
        RoomWithoutBytes,       AgeWithoutLines,       MoreRecordsThanLines,
        BytesWithoutLines,      FailureWithoutBegin,   BeginWithoutFailure,
        RetryOfNothing,         ServedBeforeTheyCame,  MoreKeptThanLines,
        MappingWithoutSlot,     SlotOfAnotherSink,     MoreLanesThanRoom,
        RecordStillAtHand,      PlacesNotTakenBack,    FloorsNotUsed,
        MoreAtRiskThanRead,     NoDescriptor,          OldLimits,
        StillInAWrite,          SpilledWithoutFile,    NotLocked};

    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

static void
a_wrong_sleep_ends_the_process_in_every_build(void **state)
{
    static void (*const faults[])(void) = {
        SleepsForNobody,    ServedTwice,           NoSuchState,
        RequestsWithoutEnd, RequestsBeyondTheLast, SleepUnlocked};

    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

static void
a_ledger_that_does_not_balance_ends_the_process_in_a_debug_build(void **state)
{
    static void (*const faults[])(void) = {
        DeliveredTwice, RecordsForgotten, LaneNotInTheList, LaneNotMarked};

#ifndef NS_DEBUG
    skip();
#endif
    ExpectAborts(faults, sizeof(faults) / sizeof(faults[0]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sink_that_is_in_order_goes_by),
        cmocka_unit_test(a_wrong_part_ends_the_process_in_every_build),
        cmocka_unit_test(a_wrong_sleep_ends_the_process_in_every_build),
        cmocka_unit_test(
            a_ledger_that_does_not_balance_ends_the_process_in_a_debug_build)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
