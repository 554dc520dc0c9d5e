/* SPDX-License-Identifier: MPL-2.0
 * log_entry_test.c --
 *
 *      The way of an entry through the thread that logs it.
 */

#include "unit.h"

#include "log/ring/ring.h"
#include "log/stream/entry.h"
#include "log/stream/filter.h"
#include "log/stream/severity.h"

static int     nWritten;
static int64_t times[4];
static char    texts[4][16];

static void
Note(Ns_LogSeverity severity, const char *message, size_t length)
{
}

static void
Write(const NsLogEntry *entryPtr)
{
    times[nWritten] = entryPtr->time;
    snprintf(texts[nWritten++], sizeof(texts[0]), "%.*s",
             (int) entryPtr->messageLength, entryPtr->message);
}

static void
Drain(void)
{
}

static int
SetUp(void **state)
{
    NsSeverityInit();
    NsFilterInit();
    NsEntryInit(&(NsEntryProcs){
        .noteProc = Note, .writeProc = Write, .drainProc = Drain});
    return 0;
}

/*
 * A time at which nothing has happened yet.
 */
static int64_t
Later(void)
{
    int64_t now = NsLogClock();

    while (NsLogClock() == now) {
        /* The clock is fine. */
    }
    return NsLogClock();
}

static void
DeferredEntriesHaveTheTimesOfTheirEvents(void **state)
{
    int64_t start = Later(), between, end;

    nWritten = 0;
    NsEntryDefer();
    Ns_Log(Notice, "first");
    between = Later();
    NsEntryDefer();
    Ns_Log(Error, "second");
    end = Later();
    NsEntrySendDeferred();
    assert_int_equal(nWritten, 0);
    NsEntrySendDeferred();

    assert_int_equal(nWritten, 2);
    assert_string_equal(texts[0], "first");
    assert_string_equal(texts[1], "second");
    assert_true(start <= times[0] && times[0] < between);
    assert_true(between <= times[1] && times[1] < end);
}

static void
EntriesThatAreHeldAfterwardsKeepThem(void **state)
{
    int64_t start = Later(), end;

    nWritten = 0;
    NsEntryDefer();
    Ns_Log(Notice, "early");
    end = Later();
    NsEntryHold();
    NsEntrySendDeferred();
    assert_int_equal(NsEntryCount(), 1);
    NsEntryRelease();

    assert_int_equal(nWritten, 1);
    assert_true(start <= times[0] && times[0] < end);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(DeferredEntriesHaveTheTimesOfTheirEvents),
        cmocka_unit_test(EntriesThatAreHeldAfterwardsKeepThem)};

    return cmocka_run_group_tests(tests, SetUp, NULL);
}
