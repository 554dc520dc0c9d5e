/* SPDX-License-Identifier: MPL-2.0
 * log_json_test.c --
 *
 *      JSON in logs.
 *
 *      1  strings: each byte, what is no UTF-8, too little room
 *      2  members, times and durations
 */

#include "unit.h"

#include "log/stream/json.h"
#include "nslog.h"
#include "nsthread.h"

#define ROOM 512

static void
AssertString(const char *bytes, size_t length, const char *wanted)
{
    char   buffer[ROOM], quoted[ROOM];
    size_t n = Ns_LogJsonString(buffer, sizeof(buffer), bytes, length);

    assert_true(n < sizeof(buffer));
    buffer[n] = '\0';
    snprintf(quoted, sizeof(quoted), "\"%s\"", wanted);
    assert_string_equal(buffer, quoted);
}

/*
 * By itself, so that from 0x80 on it is no character.
 */
static void
WhatBecomesOf(int byte, char *wanted, size_t room)
{
    if (byte == '"' || byte == '\\') {
        snprintf(wanted, room, "\\%c", byte);
    } else if (byte == '\n' || byte == '\r' || byte == '\t') {
        snprintf(wanted, room, "\\%c",
                 byte == '\n'       ? 'n'
                     : byte == '\r' ? 'r'
                                    : 't');
    } else if (byte < 0x20 || byte == 0x7f) {
        snprintf(wanted, room, "\\u%04x", byte);
    } else if (byte < 0x80) {
        snprintf(wanted, room, "%c", byte);
    } else {
        snprintf(wanted, room, "\\ufffd");
    }
}

static void
EachByteStandsThereOrIsEscaped(void **state)
{
    for (int byte = 0; byte < 256; byte++) {
        char text[3] = {'a', (char) byte, 'z'}, escape[8], wanted[16];

        WhatBecomesOf(byte, escape, sizeof(escape));
        AssertString(text + 1, 1, escape);
        snprintf(wanted, sizeof(wanted), "a%sz", escape);
        AssertString(text, 3, wanted);
    }
}

static void
AllBytesInOneStringAreAsEachAlone(void **state)
{
    char   all[256], wanted[2048] = "\"", buffer[2048];
    size_t length = 1;

    for (int byte = 0; byte < 256; byte++) {
        all[byte] = (char) byte;
        WhatBecomesOf(byte, wanted + length, sizeof(wanted) - length);
        length += strlen(wanted + length);
    }
    wanted[length++] = '"';
    assert_int_equal(Ns_LogJsonString(buffer, sizeof(buffer), all, 256),
                     length);
    assert_memory_equal(buffer, wanted, length);
}

static void
CharactersStayAndWhatIsNoneIsReplacedByteByByte(void **state)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"", ""},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xe2\x82\xac", "\xe2\x82\xac"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"}, /* U+10FFFF */
        {"\xc2\x85|", "\\u0085|"},                /* Controls. */
        {"\xc2\x9f|", "\\u009f|"},
        {"\xc2\xa0|", "\xc2\xa0|"},
        {"\xe2\x80\xa8|", "\\u2028|"}, /* End lines. */
        {"\xe2\x80\xa9|", "\\u2029|"},
        {"\xe2\x80\xaa|", "\\u202a|"}, /* Reorder. */
        {"\xe2\x80\xae|", "\\u202e|"},
        {"\xe2\x80\xaf|", "\xe2\x80\xaf|"},
        {"\xe2\x81\xa6|\xe2\x81\xa9|", "\\u2066|\\u2069|"},
        {"\xe2\x81\xaa|", "\xe2\x81\xaa|"},
        {"\xef\xbb\xbf|", "\\ufeff|"}, /* Not seen. */
        {"\xf3\xa0\x80\x81|", "\\udb40\\udc01|"},
        {"\xc0\x80|", "\\u0000|"},        /* Tcl's null. */
        {"\xc0\x81|", "\\ufffd\\ufffd|"}, /* Overlong. */
        {"\xc1\xbf|", "\\ufffd\\ufffd|"},
        {"\xe0\x9f\xbf|", "\\ufffd\\ufffd\\ufffd|"},
        {"\xf0\x8f\xbf\xbf|", "\\ufffd\\ufffd\\ufffd\\ufffd|"},
        {"\xf4\x90\x80\x80|", "\\ufffd\\ufffd\\ufffd\\ufffd|"},
        {"\xf5\x80\x80\x80|", "\\ufffd\\ufffd\\ufffd\\ufffd|"},
        {"\x80\xbf|", "\\ufffd\\ufffd|"}, /* Out of place. */
        {"\xc3(", "\\ufffd("},
        {"\xe2\x82(", "\\ufffd\\ufffd("},
        {"\xf0\x9f\x98(", "\\ufffd\\ufffd\\ufffd("},
        {"\xc3\"", "\\ufffd\\\""},
        {"\xc3", "\\ufffd"}, /* Cut off. */
        {"\xe2\x82", "\\ufffd\\ufffd"},
        {"\xf0\x9f\x98", "\\ufffd\\ufffd\\ufffd"},
        {"\xc0", "\\ufffd"},
        {"\xed\xa0\xbd\xed\xb8\x80", "\\ud83d\\ude00"}, /* As Tcl has it. */
        {"\xed\xa0\xbd|", "\\ufffd\\ufffd\\ufffd|"},    /* One of a pair. */
        {"\xed\xb8\x80|", "\\ufffd\\ufffd\\ufffd|"},
        {"\xed\xa0\xbd\xed\xb8", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        /* A copy of that size, so that a sanitizer sees each byte beyond. */
        size_t length = strlen(cases[i].in);
        char  *copy = ns_malloc(MAX(length, 1u));

        memcpy(copy, cases[i].in, length);
        AssertString(copy, length, cases[i].out);
        ns_free(copy);
    }
}

static void
TooLittleRoomIsNeverLeftAndTheLengthIsToldAllTheSame(void **state)
{
    static const char text[] = "a\"b\n\x01\xc3\xbc\xff\xf0\x9f\x98\x80\\";
    static const char wanted[] =
        "\"a\\\"b\\n\\u0001\xc3\xbc\\ufffd\xf0\x9f\x98\x80\\\\\"";
    const size_t length = sizeof(wanted) - 1;
    char         buffer[64];

    for (size_t room = 0; room <= length + 1; room++) {
        memset(buffer, '#', sizeof(buffer));
        assert_int_equal(Ns_LogJsonString(buffer, room, text, sizeof(text) - 1),
                         length);
        for (size_t i = room; i < sizeof(buffer); i++) {
            assert_int_equal(buffer[i], '#');
        }
        if (room >= length) {
            assert_memory_equal(buffer, wanted, length);
        }
    }
    assert_int_equal(Ns_LogJsonString(NULL, 0, text, sizeof(text) - 1), length);
}

static void
MembersAreSeparatedByCommas(void **state)
{
    char     buffer[ROOM];
    NsLogOut out = {buffer, sizeof(buffer) - 1, 0};

    NsJsonName(&out, "first", true);
    NsJsonSeconds(&out, 0);
    NsJsonName(&out, "a \"name\"", false);
    NsJsonSeconds(&out, 12000034);
    NsJsonName(&out, "", false);
    NsJsonSeconds(&out, 999999);
    buffer[out.length] = '\0';
    assert_string_equal(buffer,
                        "\"first\":0.000000,"
                        "\"a \\\"name\\\"\":12.000034,\"\":0.999999");
}

static void
TimesAreOfUtcWithMicroseconds(void **state)
{
    static const struct {
        int64_t     nanos;
        const char *text;
    } cases[] = {{0, "\"1970-01-01T00:00:00.000000Z\""},
                 {-1000, "\"1969-12-31T23:59:59.999999Z\""},
                 {-1000000000, "\"1969-12-31T23:59:59.000000Z\""},
                 {999, "\"1970-01-01T00:00:00.000000Z\""},
                 {1709210096123456789, "\"2024-02-29T12:34:56.123456Z\""},
                 {4102444799999999999, "\"2099-12-31T23:59:59.999999Z\""}};

    setenv("TZ", "America/New_York", 1);
    tzset();
    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char     buffer[ROOM];
        NsLogOut out = {buffer, sizeof(buffer) - 1, 0};

        NsJsonTime(&out, cases[i].nanos);
        buffer[out.length] = '\0';
        assert_string_equal(buffer, cases[i].text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EachByteStandsThereOrIsEscaped),
        cmocka_unit_test(AllBytesInOneStringAreAsEachAlone),
        cmocka_unit_test(CharactersStayAndWhatIsNoneIsReplacedByteByByte),
        cmocka_unit_test(TooLittleRoomIsNeverLeftAndTheLengthIsToldAllTheSame),
        cmocka_unit_test(MembersAreSeparatedByCommas),
        cmocka_unit_test(TimesAreOfUtcWithMicroseconds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
