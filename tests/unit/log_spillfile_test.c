/* SPDX-License-Identifier: MPL-2.0
 * log_spillfile_test.c --
 *
 *      A spill file gives back what went there, in order, each record once,
 *      whoever opens it and however it was written; what is damaged is counted.
 */

#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/init.h"
#include "log/sink/spill.h"
#include "nsthread.h"

static char        directory[64];
static NsRing     *ringPtr;
static NsRingSink *slotPtr;
static NsSpill    *spillPtr;
static unsigned    nWritten; /* Records are numbered. */
static unsigned    nSeen;

static int
SetUp(void **state)
{
    NsRingKey   key = {directory, directory, NULL};
    const char *reason;

    strcpy(directory, "/tmp/log_spillfile.XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    NsSpillHeadInit(&key);
    ringPtr = NsRingCreate(&key,
                           &(NsRingNeed){.bytes = 65536,
                                         .nStreams = 1,
                                         .nSinks = 1,
                                         .nReaders = 1,
                                         .nLanes = 4},
                           &reason);
    if (ringPtr == NULL) {
        return -1;
    }
    snprintf(ringPtr->headerPtr->spillDirectory, NS_RING_PATH, "%s/spill",
             directory);
    slotPtr = NsRingSinkAt(ringPtr, 0);
    strcpy(slotPtr->name, "sink");
    nWritten = nSeen = 0;
    return 0;
}

static int
TearDown(void **state)
{
    char command[256];

    if (spillPtr != NULL) {
        NsSpillClose(&spillPtr);
    }
    NsRingClose(&ringPtr, true);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) == 0 ? 0 : -1;
}

/*
 * As earlier versions wrote.
 */
static int
SetUpPlain(void **state)
{
    int result = SetUp(state);

    if (result == 0) {
        ringPtr->headerPtr->version = NS_RING_VERSION_PLAIN;
    }
    return result;
}

/*
 * One addition of n records and a note.
 */
static void
Write(unsigned n)
{
    NsSpillAdd(spillPtr,
               &(NsSpillFrame){.record = {.kind = NS_SPILL_NOTE, .length = 4}},
               "note");
    for (unsigned i = 0; i < n; i++, nWritten++) {
        char         text[64];
        NsSpillFrame frame = {.start = 64 + nWritten * 64,
                              .next = 128 + nWritten * 64};

        frame.record.length = (uint32_t) snprintf(text, sizeof(text),
                                                  "record %u", nWritten);
        frame.record.total = frame.record.length;
        NsSpillAdd(spillPtr, &frame, text);
    }
    assert_true(NsSpillWrite(spillPtr, false));
}

/*
 * At most n records, which are the next ones.  How many.
 */
static unsigned
Read(unsigned n)
{
    const NsSpillFrame *framePtr;
    unsigned            nRead = 0;

    while (nRead < n && (framePtr = NsSpillHead(spillPtr)) != NULL) {
        char text[64];

        if (framePtr->record.kind == NS_SPILL_NOTE) {
            assert_memory_equal(framePtr + 1, "note", 4);
        } else {
            snprintf(text, sizeof(text), "record %u", nSeen);
            assert_int_equal(framePtr->record.length, strlen(text));
            assert_memory_equal(framePtr + 1, text, strlen(text));
            assert_int_equal(framePtr->start, 64 + nSeen * 64);
            nSeen++;
            nRead++;
        }
        NsSpillAdvance(spillPtr, framePtr);
    }
    return nRead;
}

/*
 * As a process that takes over.
 */
static void
OpenAgain(void)
{
    NsSpillClose(&spillPtr);
    spillPtr = NsSpillOpen(ringPtr, slotPtr);
    assert_non_null(spillPtr);
    NsSpillCheck(spillPtr);
}

static void
Change(uint64_t offset)
{
    unsigned char byte;
    off_t         at = spillPtr->base + (off_t) offset;

    assert_int_equal(pread(spillPtr->fd, &byte, 1, at), 1);
    byte ^= 255;
    assert_int_equal(pwrite(spillPtr->fd, &byte, 1, at), 1);
}

static uint64_t
EndOffset(void)
{
    return NsSpillOffset(spillPtr->form, spillPtr->end);
}

static void
records_come_in_order_while_more_are_added(void **state)
{
    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    assert_null(NsSpillHead(spillPtr));
    Write(1);
    Write(5);
    assert_int_equal(Read(3), 3);
    Write(2);
    assert_int_equal(NsSpillUnread(spillPtr), 5);
    assert_int_equal(Read(100), 5);
    assert_false(NsSpillIsDamaged(spillPtr));
    assert_null(NsSpillHead(spillPtr));
    Write(1);
    assert_int_equal(Read(100), 1);
    NsSpillNoteDone(spillPtr);
    assert_true(NsSpillIsDone(spillPtr));
    assert_int_equal(NsSpillBytesLeft(slotPtr), 0);
    NsSpillDelete(&spillPtr);
}

/*
 * Wherever the one before stopped, in the middle of a block or between two.
 */
static void
another_process_goes_on_behind_what_was_written(void **state)
{
    for (unsigned nDone = 0; nDone <= 12; nDone++) {
        nWritten = nSeen = 0;
        spillPtr = NsSpillCreate(ringPtr, slotPtr);
        Write(4);
        Write(4);
        Write(4);
        assert_int_equal(Read(nDone), nDone);
        NsSpillNoteDone(spillPtr);
        /* Read, but not written. */
        (void) Read(3);
        nSeen = nDone;
        OpenAgain();
        assert_int_equal(NsSpillUnread(spillPtr), 12 - nDone);
        assert_int_equal(Read(100), 12 - nDone);
        assert_false(NsSpillIsDamaged(spillPtr));
        NsSpillNoteDone(spillPtr);
        assert_true(NsSpillIsDone(spillPtr));
        NsSpillDelete(&spillPtr);
    }
}

/*
 * A process was killed while it wrote.
 */
static void
what_does_not_count_is_overwritten(void **state)
{
    char garbage[5000];

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    Write(3);
    memset(garbage, 'x', sizeof(garbage));
    assert_int_equal(pwrite(spillPtr->fd, garbage, sizeof(garbage),
                            spillPtr->base + (off_t) EndOffset()),
                     sizeof(garbage));
    OpenAgain();
    Write(3);
    OpenAgain();
    assert_int_equal(Read(100), 6);
    assert_false(NsSpillIsDamaged(spillPtr));
}

static void
of_a_damaged_block_the_records_are_counted_and_others_are_read(void **state)
{
    uint64_t ends[3];

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    for (int i = 0; i < 3; i++) {
        Write(5);
        ends[i] = EndOffset();
    }
    Change(ends[1] - 9);
    OpenAgain();
    assert_int_equal(Read(100), 5);
    assert_true(NsSpillIsDamaged(spillPtr));
    assert_int_equal(NsSpillSkipDamaged(spillPtr), 5);
    nSeen += 5;
    assert_int_equal(NsSpillUnread(spillPtr), 5);
    assert_int_equal(Read(100), 5);
    assert_false(NsSpillIsDamaged(spillPtr));
    assert_int_equal(NsSpillUnread(spillPtr), 0);
}

/*
 * Where the block behind it begins is not known then.
 */
static void
of_a_damaged_head_all_that_follows_is_counted(void **state)
{
    uint64_t end;

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    Write(5);
    end = EndOffset();
    Write(5);
    Write(5);
    for (uint64_t at = 0; at < sizeof(NsSpillBlock); at++) {
        nSeen = 0;
        Change(end + at);
        OpenAgain();
        assert_int_equal(Read(100), 5);
        assert_true(NsSpillIsDamaged(spillPtr));
        assert_int_equal(NsSpillSkipDamaged(spillPtr), 10);
        assert_false(NsSpillIsDamaged(spillPtr));
        assert_int_equal(NsSpillUnread(spillPtr), 0);
        Change(end + at);
    }
}

/*
 * Cut off at any byte, as after a loss of power.
 */
static void
of_a_file_that_is_too_short_the_rest_is_counted(void **state)
{
    uint64_t ends[2];

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    Write(5);
    ends[0] = EndOffset();
    Write(5);
    ends[1] = EndOffset();
    for (uint64_t at = ends[1] - 8; at > ends[0]; at--) {
        nSeen = 0;
        assert_int_equal(ftruncate(spillPtr->fd, spillPtr->base + (off_t) at),
                         0);
        OpenAgain();
        assert_int_equal(Read(100), 5);
        assert_true(NsSpillIsDamaged(spillPtr));
        assert_int_equal(NsSpillSkipDamaged(spillPtr), 5);
        assert_false(NsSpillIsDamaged(spillPtr));
    }
}

/*
 * The slot is in memory that others can have damaged.
 */
static void
a_position_that_cannot_be_is_damage(void **state)
{
    static const uint64_t wrong[] = {1, 6, 100, 65535, 3 << 16, 8 << 16};

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    Write(5);
    for (int i = 0; i < Ns_NrElements(wrong); i++) {
        nSeen = 0;
        slotPtr->spillDone = wrong[i];
        OpenAgain();
        if (wrong[i] < 6) {
            /* The note is the first frame. */
            assert_non_null(NsSpillHead(spillPtr));
            continue;
        }
        assert_null(NsSpillHead(spillPtr));
        assert_true(NsSpillIsDamaged(spillPtr));
        (void) NsSpillSkipDamaged(spillPtr);
        assert_false(NsSpillIsDamaged(spillPtr));
    }
    slotPtr->spillDone = 0;
    slotPtr->spillEnd = spillPtr->end + 3;
    OpenAgain();
    nSeen = 0;
    assert_int_equal(Read(100), 5);
    assert_false(NsSpillIsDamaged(spillPtr));
}

static void
a_plain_file_is_read_and_added_to(void **state)
{
    struct stat st;

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    assert_int_equal(atomic_load(&slotPtr->hasSpill), 1);
    Write(3);
    /* Frames follow each other, and nothing else is there. */
    assert_int_equal(fstat(spillPtr->fd, &st), 0);
    assert_int_equal(st.st_size - spillPtr->base, 4 * (64 + 8));
    assert_int_equal(slotPtr->spillEnd, 4 * (64 + 8));
    assert_int_equal(Read(1), 1);
    NsSpillNoteDone(spillPtr);
    OpenAgain();
    Write(2);
    OpenAgain();
    assert_int_equal(NsSpillUnread(spillPtr), 4);
    assert_int_equal(Read(100), 4);
    assert_false(NsSpillIsDamaged(spillPtr));
}

/*
 * This version makes the mapping, and so does not go back to that form.
 */
static void
a_new_file_is_in_blocks(void **state)
{
    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    assert_int_equal(atomic_load(&slotPtr->hasSpill),
                     NsSpillCompresses() ? NS_SPILL_COMPRESSED
                                         : NS_SPILL_BLOCKS);
}

static void
blocks_that_are_not_compressed_can_be_read_and_added_to(void **state)
{
    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    slotPtr->hasSpill = NS_SPILL_BLOCKS;
    OpenAgain();
    Write(300);
    OpenAgain();
    Write(300);
    assert_int_equal(Read(1000), 600);
    assert_false(NsSpillIsDamaged(spillPtr));
}

static void
a_compressed_file_that_this_build_cannot_read_stays(void **state)
{
    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    Write(300);
    NsSpillClose(&spillPtr);
    slotPtr->hasSpill = NS_SPILL_COMPRESSED;
    spillPtr = NsSpillOpen(ringPtr, slotPtr);
    if (NsSpillCompresses()) {
        assert_int_equal(Read(1000), 300);
    } else {
        assert_null(spillPtr);
        assert_int_equal(errno, ENOTSUP);
        slotPtr->hasSpill = NS_SPILL_BLOCKS;
        spillPtr = NsSpillOpen(ringPtr, slotPtr);
        assert_int_equal(Read(1000), 300);
    }
}

/*
 * Someone looks while the sink goes on.
 */
static void
a_view_follows_what_is_added_and_what_is_done(void **state)
{
    NsSpill *writerPtr;

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    Write(5);
    writerPtr = spillPtr;
    spillPtr = NsSpillOpenToLook(ringPtr, slotPtr, NULL);
    assert_int_equal(Read(2), 2);
    /* The sink writes four of them. */
    nSeen = 0;
    NsSpillClose(&spillPtr);
    spillPtr = writerPtr;
    assert_int_equal(Read(4), 4);
    NsSpillNoteDone(spillPtr);
    Write(1);
    spillPtr = NsSpillOpenToLook(ringPtr, slotPtr, NULL);
    nSeen = 4;
    assert_int_equal(Read(100), 2);
    NsSpillClose(&spillPtr);
    spillPtr = writerPtr;
}

static void
a_view_that_is_behind_skips_what_is_done(void **state)
{
    NsSpill *writerPtr, *viewPtr;

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    Write(5);
    writerPtr = spillPtr;
    viewPtr = spillPtr = NsSpillOpenToLook(ringPtr, slotPtr, NULL);
    assert_int_equal(Read(1), 1);
    assert_non_null(NsSpillHead(viewPtr));
    spillPtr = writerPtr;
    nSeen = 0;
    assert_int_equal(Read(4), 4);
    NsSpillNoteDone(spillPtr);
    /* In the block that the view has. */
    NsSpillRefresh(viewPtr);
    spillPtr = viewPtr;
    assert_int_equal(Read(100), 1);
    NsSpillClose(&viewPtr);
    spillPtr = writerPtr;
}

/*
 * The records that fit are counted by what they take, not by their lengths.
 */
static void
room_is_measured_on_disk(void **state)
{
    const uint64_t most = 20000;
    uint64_t       nFit = 0;
    NsSpillRoom    room;

    spillPtr = NsSpillCreate(ringPtr, slotPtr);
    while ((room = NsSpillRoomFor(spillPtr, 200, most)) != NS_SPILL_FULL) {
        char         text[200];
        NsSpillFrame frame = {
            .record = {.length = sizeof(text), .total = sizeof(text)}};

        if (room == NS_SPILL_WRITE_FIRST) {
            assert_true(NsSpillWrite(spillPtr, false));
            continue;
        }
        memset(text, 'a' + (int) (nFit % 26), sizeof(text));
        NsSpillAdd(spillPtr, &frame, text);
        nFit++;
    }
    assert_true(NsSpillWrite(spillPtr, false));
    assert_true(NsSpillBytes(spillPtr) <= most);
    assert_true(NsSpillBytes(spillPtr) > most - 6000);
    assert_int_equal(NsSpillBytesLeft(slotPtr), EndOffset());
    if (NsSpillCompresses()) {
        assert_true(nFit > 10 * most / 264);
    }
}

#define WITH(setUp, proc) cmocka_unit_test_setup_teardown(proc, setUp, TearDown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(SetUp, records_come_in_order_while_more_are_added),
        WITH(SetUpPlain, records_come_in_order_while_more_are_added),
        WITH(SetUp, another_process_goes_on_behind_what_was_written),
        WITH(SetUpPlain, another_process_goes_on_behind_what_was_written),
        WITH(SetUp, what_does_not_count_is_overwritten),
        WITH(SetUpPlain, what_does_not_count_is_overwritten),
        WITH(SetUp,
             of_a_damaged_block_the_records_are_counted_and_others_are_read),
        WITH(SetUp, of_a_damaged_head_all_that_follows_is_counted),
        WITH(SetUp, of_a_file_that_is_too_short_the_rest_is_counted),
        WITH(SetUp, a_position_that_cannot_be_is_damage),
        WITH(SetUpPlain, a_plain_file_is_read_and_added_to),
        WITH(SetUp, a_new_file_is_in_blocks),
        WITH(SetUp, blocks_that_are_not_compressed_can_be_read_and_added_to),
        WITH(SetUp, a_compressed_file_that_this_build_cannot_read_stays),
        WITH(SetUp, a_view_follows_what_is_added_and_what_is_done),
        WITH(SetUp, a_view_that_is_behind_skips_what_is_done),
        WITH(SetUpPlain, a_view_that_is_behind_skips_what_is_done),
        WITH(SetUp, room_is_measured_on_disk)};

    NsLogInit();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
