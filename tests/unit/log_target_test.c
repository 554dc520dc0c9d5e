/* SPDX-License-Identifier: MPL-2.0
 * log_target_test.c --
 *
 *      What types of sinks assert when they get bytes to write.
 */

#include "unit.h"
#include "aborts.h"

#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/target/targetcheck.h"
#include "nsthread.h"

static NsSinkBuffer       buffer;
static struct Ns_LogSink_ sink = {.buffer = &buffer};
static char               bytes[32];

/*
 * A sink with 16 bytes in its buffer, of which 6 have been written.
 */
static void
MakeSink(void)
{
    NsMutexSetup(&sink.lock, NS_RANK_LOG_FILE, "ns:log", "test");
    buffer.bytes = bytes;
    buffer.room = sizeof(bytes);
    buffer.nBuffered = 16;
    buffer.nWritten = 6;
    Ns_MutexLock(&sink.lock);
}

/*
 * What a change of a sound sink leads to.
 */
#define FAULT(name, change, check) \
    static void name(void)         \
    {                              \
        MakeSink();                \
        change;                    \
        check;                     \
    }
#define WRITE_FAULT(name, change) \
    FAULT(name, change, NsTargetCheckWrite(&sink, bytes + 6, 10))

WRITE_FAULT(Sound, (void) 0)
WRITE_FAULT(NotLocked, Ns_MutexUnlock(&sink.lock))
WRITE_FAULT(AllIsWritten, buffer.nWritten = 16)
WRITE_FAULT(WrittenTwice, buffer.nWritten = 4)
WRITE_FAULT(LeftOut, buffer.nWritten = 8)
WRITE_FAULT(NotAllOfIt, buffer.nBuffered = 20)
WRITE_FAULT(BeyondTheBuffer, buffer.room = 12)
FAULT(Confirmed, buffer.nWritten = 16, NsTargetCheckWritten(&sink))
FAULT(ConfirmedUnwritten, (void) 0, NsTargetCheckWritten(&sink))
FAULT(ConfirmedUnlocked, buffer.nWritten = 16;
      Ns_MutexUnlock(&sink.lock), NsTargetCheckWritten(&sink))

static void
a_type_writes_just_what_has_not_been_written_of_a_locked_sink(void **state)
{
    static void (*const faults[])(void) = {
        NotLocked,  AllIsWritten,    WrittenTwice,       LeftOut,
        NotAllOfIt, BeyondTheBuffer, ConfirmedUnwritten, ConfirmedUnlocked};

    assert_false(Aborts(Sound));
    assert_false(Aborts(Confirmed));
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (!Aborts(faults[i])) {
            fail_msg("fault %zu went by", i);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_type_writes_just_what_has_not_been_written_of_a_locked_sink),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
