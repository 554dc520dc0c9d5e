/* SPDX-License-Identifier: MPL-2.0
 * log_line_test.c --
 *
 *      How an entry of the system log looks.
 *
 *      Sanitizing, the line, buffers that are too small.
 */

#include "unit.h"

#include "log/stream/line.h"
#include "nslog.h"

static const char *
Sanitized(const char *text, size_t length, int level)
{
    static char buffer[512];
    NsLogOut    out = {buffer, sizeof(buffer) - 1, 0};

    NsLogSanitize(&out, text, length, level);
    buffer[out.length] = '\0';
    return buffer;
}

static void
NewlineAndControlsAreVisible(void **state)
{
    static const char text[] = "multi\nline\ttab \x1b[31m";

    assert_string_equal(Sanitized(text, sizeof(text) - 1, 2),
                        "multi\n:    line\\x09tab \\x1b[31m");
    assert_string_equal(Sanitized(text, sizeof(text) - 1, 1),
                        "multi\\x0aline\\x09tab \\x1b[31m");
    assert_string_equal(Sanitized(text, sizeof(text) - 1, 3),
                        "multi\n:    line    tab \\x1b[31m");
    assert_string_equal(Sanitized(text, sizeof(text) - 1, 0), text);
}

static void
ValidUtf8StaysAndTheRestIsHex(void **state)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xe2\x82\xac", "\xe2\x82\xac"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xc2\x85", "\\xc2\\x85"}, /* U+0085 */
        {"\xc2\xa0", "\xc2\xa0"},   /* U+00A0 */
        {"\xc0\x80", "\\xc0\\x80"}, /* overlong */
        {"\xe0\x80\x80", "\\xe0\\x80\\x80"},
        {"\xed\xa0\x80x", "\\xed\\xa0\\x80x"}, /* lone surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"a\xff", "a\\xff"},
        {"cut\xe2\x82", "cut\\xe2\\x82"},
        {"a\xe2\x80\xae|\xe2\x80\xaf", "a\\xe2\\x80\\xae|\xe2\x80\xaf"},
        {"\xe2\x81\xa5\xe2\x81\xa6", "\xe2\x81\xa5\\xe2\\x81\\xa6"},
        {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},
        {"\xf3\xa0\x81\xbf", "\\xf3\\xa0\\x81\\xbf"},
        {"\xed\xad\x80\xed\xb0\x81", "\\xed\\xad\\x80\\xed\\xb0\\x81"},
        {"\xed\xa0\xbd\xed\xb8\x80", "\xf0\x9f\x98\x80"}, /* as Tcl has it */
        {"", ""}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_string_equal(Sanitized(cases[i].in, strlen(cases[i].in), 2),
                            cases[i].out);
    }
}

/*
 * Plain bytes are taken many at a time.
 */
static void
OneOddByteIsFoundWhereverItStands(void **state)
{
    static const char odd[] = "\x01\x1f\x7f\xff\x80";
    char              text[40], wanted[64];

    for (size_t length = 1; length <= sizeof(text); length++) {
        for (size_t at = 0; at < length; at++) {
            for (size_t i = 0; i < sizeof(odd) - 1; i++) {
                memset(text, '~', length);
                text[at] = odd[i];
                snprintf(wanted, sizeof(wanted), "%.*s\\x%02x%.*s", (int) at,
                         text, (unsigned char) odd[i], (int) (length - at - 1),
                         text + at + 1);
                assert_string_equal(Sanitized(text, length, 2), wanted);
            }
        }
    }
}

static void
TheLineHasTimeProcessThreadAndSeverity(void **state)
{
    NsLogEntry entry = {
        .time = INT64_C(1795219775) * 1000000000 + 640164999,
        .severityName = "Notice",
        .pid = 17542,
        .thread = 0x7ff10366d6c0,
        .threadName = "-conn:s1:0",
        .message = "held",
        .messageLength = 4};
    char     buffer[256];
    NsLogOut out = {buffer, sizeof(buffer), 0};

    setenv("TZ", "UTC", 1);
    tzset();
    NsLogLine(&out, &entry, &(NsLogStyle){.usec = false, .sanitize = 2});
    buffer[out.length] = '\0';
    assert_string_equal(buffer,
                        "[21/Nov/2026:00:09:35][17542.7ff10366d6c0]"
                        "[-conn:s1:0] Notice: held\n");
    out.length = 0;
    NsLogLine(&out, &entry, &(NsLogStyle){.usec = true, .isExpanded = true});
    buffer[out.length] = '\0';
    assert_string_equal(buffer,
                        "[21/Nov/2026:00:09:35.640164]"
                        "[17542.7ff10366d6c0][-conn:s1:0] Notice: \n"
                        "    held\n\n");
}

static void
AnyPartOfTheLinesBeginningCanBeLeftOut(void **state)
{
    NsLogEntry entry = {
        .time = INT64_C(1795219775) * 1000000000 + 640164999,
        .severityName = "Notice",
        .pid = 1,
        .thread = 2,
        .threadName = "t",
        .message = "m",
        .messageLength = 1};
    static const struct {
        NsLogStyle  style;
        const char *line;
    } cases[] = {
        {{.hidesTime = true}, "[1.2][t] Notice: m\n"},
        {{.hidesThread = true}, "[21/Nov/2026:00:09:35] Notice: m\n"},
        {{.hidesTime = true, .hidesThread = true, .showsSpan = true},
         "Notice: m\n"},
        {{.isRelative = true}, "[12][1.2][t] Notice: m\n"},
        {{.isRelative = true, .usec = true, .hidesThread = true},
         "[12.640164] Notice: m\n"},
        {{.showsSpan = true, .hidesThread = true},
         "[21/Nov/2026:00:09:35+1.140164] Notice: m\n"},
        {{.isRelative = true, .usec = true, .showsSpan = true},
         "[12.640164+1.140164][1.2][t] Notice: m\n"}};

    setenv("TZ", "UTC", 1);
    tzset();
    nsLogContext = (NsLogContext){.start = entry.time - INT64_C(12640164000),
                                  .previous = entry.time - INT64_C(1140164000)};
    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char     buffer[256];
        NsLogOut out = {buffer, sizeof(buffer), 0};

        NsLogLine(&out, &entry, &cases[i].style);
        buffer[out.length] = '\0';
        assert_string_equal(buffer, cases[i].line);
    }
    /* Of an entry before which nothing is known. */
    nsLogContext = (NsLogContext){0};
    {
        char     buffer[256];
        NsLogOut out = {buffer, sizeof(buffer), 0};

        NsLogLine(&out, &entry, &cases[6].style);
        buffer[out.length] = '\0';
        assert_string_equal(buffer,
                            "[21/Nov/2026:00:09:35.640164][1.2][t] "
                            "Notice: m\n");
    }
}

static void
EachLineForTheJournalHasAPriorityAndNoTime(void **state)
{
    static const struct {
        int         severity;
        NsLogStyle  style;
        const char *line;
    } cases[] = {
        {Error, {.sanitize = 2}, "<3>[1.2][t] E: a\n<3>:    \n<3>:    b\n"},
        {Fatal, {.sanitize = 1}, "<2>[1.2][t] E: a\\x0a\\x0ab\n"},
        {Notice,
         {.usec = true, .isExpanded = true, .hidesThread = true},
         "<5>E: a\n<5>\n<5>b\n"}};

    nsLogContext = (NsLogContext){.isForJournal = true};
    for (int i = 0; i < Ns_NrElements(cases); i++) {
        NsLogEntry entry = {
            .severity = cases[i].severity,
            .severityName = "E",
            .pid = 1,
            .thread = 2,
            .threadName = "t",
            .message = "a\n\nb",
            .messageLength = 4};
        char     buffer[256];
        NsLogOut out = {buffer, sizeof(buffer), 0};

        NsLogLine(&out, &entry, &cases[i].style);
        buffer[out.length] = '\0';
        assert_string_equal(buffer, cases[i].line);
    }
    nsLogContext = (NsLogContext){0};
}

static void
ABufferTooSmallTellsWhatIsNeeded(void **state)
{
    NsLogEntry entry = {.time = 0,
                        .severityName = "Error",
                        .threadName = "t",
                        .message = "a\nb",
                        .messageLength = 3};
    char       buffer[256];
    NsLogOut   none = {NULL, 0, 0}, all = {buffer, sizeof(buffer), 0};

    NsLogLine(&none, &entry, &(NsLogStyle){.sanitize = 2});
    NsLogLine(&all, &entry, &(NsLogStyle){.sanitize = 2});
    assert_int_equal(none.length, all.length);
    assert_int_equal(buffer[all.length - 1], '\n');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NewlineAndControlsAreVisible),
        cmocka_unit_test(ValidUtf8StaysAndTheRestIsHex),
        cmocka_unit_test(OneOddByteIsFoundWhereverItStands),
        cmocka_unit_test(TheLineHasTimeProcessThreadAndSeverity),
        cmocka_unit_test(AnyPartOfTheLinesBeginningCanBeLeftOut),
        cmocka_unit_test(EachLineForTheJournalHasAPriorityAndNoTime),
        cmocka_unit_test(ABufferTooSmallTellsWhatIsNeeded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
