/* SPDX-License-Identifier: MPL-2.0
 * log_row_test.c --
 *
 *      Records as rows of a database, in a sink's buffer.
 */

#include "unit.h"

#include "log/init.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/target/row.h"
#include "ns.h"

static Ns_LogStream       stream;
static NsSinkBuffer       sinkBuffer;
static struct Ns_LogSink_ sink = {.buffer = &sinkBuffer};

/*
 * The bytes, and a newline; nothing for no bytes.
 */
static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    if (recordPtr->length == 0) {
        return 0;
    }
    if (recordPtr->length < room) {
        memcpy(buffer, recordPtr->bytes, recordPtr->length);
        buffer[recordPtr->length] = '\n';
    }
    return recordPtr->length + 1;
}

static int
SetUp(void **state)
{
    NsLogInit();
    stream = Ns_LogStreamCreate("rows", Format, NULL);
    sink.form = NsFormCreate(&(NsFormSpec){.format = NS_LOG_NATIVE}, NULL);
    return 0;
}

static size_t
Put(const char *bytes, size_t length, char *buffer, size_t room)
{
    Ns_LogRecord record = {.stream = "rows",
                           .severity = Warning,
                           .time = INT64_C(1795219627123456789),
                           .bytes = bytes,
                           .length = length};

    return NsRowFormat(&sink, stream, &record, buffer, room);
}

static void
CheckText(Ns_LogText text, const char *expected, size_t length)
{
    assert_int_equal(text.length, length);
    assert_memory_equal(text.bytes, expected, length);
}

static void
RowsComeOutAsTheyWentIn(void **state)
{
    static const char bytes[] = "any\0thing\n";
    char              buffer[512];
    Ns_LogRow         row;
    size_t first = Put(bytes, sizeof(bytes) - 1, buffer, sizeof(buffer));
    size_t second = Put("x", 1, buffer + first, sizeof(buffer) - first);

    assert_int_equal(NsRowParse(buffer, &row), first);
    assert_int_equal(row.nanos, INT64_C(1795219627123456789));
    assert_string_equal(row.time, "2026-11-21T00:07:07.123456Z");
    CheckText(row.stream, "rows", 4);
    CheckText(row.severity, "Warning", 7);
    CheckText(row.record, bytes, sizeof(bytes) - 1);
    assert_int_equal(NsRowParse(buffer + first, &row), second);
    CheckText(row.record, "x", 1);
}

static void
ARecordWithoutALineMakesNoRow(void **state)
{
    char buffer[512];

    assert_int_equal(Put("", 0, buffer, sizeof(buffer)), 0);
}

/*
 * A row that has less room than it needs says so, and fits into what it says.
 */
static void
NoRoomIsTooSmall(void **state)
{
    char      buffer[512], *small;
    Ns_LogRow row;
    size_t    length = Put("record", 6, buffer, sizeof(buffer));

    for (size_t room = 0; room <= length; room++) {
        size_t said;

        small = malloc(room + 1);
        said = Put("record", 6, small, room);
        if (said <= room) {
            assert_int_equal(NsRowParse(small, &row), length);
            CheckText(row.record, "record", 6);
        } else {
            char *enough = malloc(said);

            assert_true(Put("record", 6, enough, said) <= said);
            assert_int_equal(NsRowParse(enough, &row), length);
            free(enough);
        }
        free(small);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(RowsComeOutAsTheyWentIn),
        cmocka_unit_test(ARecordWithoutALineMakesNoRow),
        cmocka_unit_test(NoRoomIsTooSmall)};

    return cmocka_run_group_tests(tests, SetUp, NULL);
}
