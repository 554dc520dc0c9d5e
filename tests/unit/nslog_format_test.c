/* SPDX-License-Identifier: MPL-2.0
 * nslog_format_test.c --
 *
 *      The access line and its JSON form.
 *
 *      The layouts, every byte in every field, damaged records.
 */

#include "unit.h"

#include "log/init.h"
#include "log/stream/stream.h"
#include "log/stream/template.h"
#include "nsaccessline.h"
#include "nslog.h"

enum { PEER, USER, REQUEST, REFERER, AGENT, HEADER, NFIELDS };

typedef struct Fields {
    const char *bytes[NFIELDS];
    size_t      lengths[NFIELDS];
} Fields;

static const uint32_t commonFlags = NS_ACCESS_FMTTIME;
static const uint32_t combinedFlags = NS_ACCESS_FMTTIME | NS_ACCESS_COMBINED;

static const char *FormatRecord(Ns_LogFormatProc      *proc,
                                const Ns_AccessRecord *r, size_t length,
                                const uint32_t *arg);

static Fields
Plain(void)
{
    static const char *const texts[NFIELDS] = {
        "127.0.0.1",
        "ann",
        "GET /hello.tcl?q=1&r=2 HTTP/1.1",
        "http://example.org/start",
        "curl/7.88.1",
        "abc"};
    Fields fields;

    for (int i = 0; i < NFIELDS; i++) {
        fields.bytes[i] = texts[i];
        fields.lengths[i] = strlen(texts[i]);
    }
    return fields;
}

static size_t
Append(char *buffer, size_t n, const void *bytes, size_t length)
{
    memcpy(buffer + n, bytes, length);
    return n + length;
}

/*
 * A record as the module makes it, with one extended header.
 */
static size_t
Encode(char *buffer, const Fields *fieldsPtr, uint32_t flags)
{
    uint32_t        nName = 7, nValue = (uint32_t) fieldsPtr->lengths[HEADER];
    Ns_AccessRecord r = {
        .flags = flags,
        .status = 200,
        .bytesSent = 195,
        .start = INT64_C(1795219621704179),
        .acceptSpan = 645,
        .queueSpan = 176,
        .filterSpan = 23,
        .runSpan = 1000147,
        .peerLength = (uint32_t) fieldsPtr->lengths[PEER],
        .userLength = (uint32_t) fieldsPtr->lengths[USER],
        .requestLength = (uint32_t) fieldsPtr->lengths[REQUEST],
        .refererLength = (uint32_t) fieldsPtr->lengths[REFERER],
        .agentLength = (uint32_t) fieldsPtr->lengths[AGENT],
        .nHeaders = 1};
    size_t n = Append(buffer, 0, &r, sizeof(r));

    for (int i = 0; i < HEADER; i++) {
        n = Append(buffer, n, fieldsPtr->bytes[i], fieldsPtr->lengths[i]);
    }
    n = Append(buffer, n, &nName, sizeof(nName));
    n = Append(buffer, n, "X-Trace", nName);
    n = Append(buffer, n, &nValue, sizeof(nValue));
    return Append(buffer, n, fieldsPtr->bytes[HEADER], nValue);
}

static const char *
Format(Ns_LogFormatProc *proc, const Fields *fieldsPtr, uint32_t flags,
       const uint32_t *arg)
{
    _Alignas(8) char bytes[1000];
    size_t           length = Encode(bytes, fieldsPtr, flags);

    return FormatRecord(proc, (const Ns_AccessRecord *) (void *) bytes, length,
                        arg);
}

/*
 * Record and buffer are on the heap and as long as they have to be, so that a
 * sanitizer sees who reads or writes beyond.
 */
static const char *
FormatRecord(Ns_LogFormatProc *proc, const Ns_AccessRecord *r, size_t length,
             const uint32_t *arg)
{
    static char  line[10000];
    void        *copy = malloc(length);
    Ns_LogRecord record = {
        .time = INT64_C(1795219621704535999), .bytes = copy, .length = length};
    size_t room, n;
    char  *buffer;

    memcpy(copy, r, length);
    room = proc(NULL, 0, &record, (void *) arg);
    assert_in_range(room, 1, sizeof(line) - 1);
    buffer = malloc(room);
    n = proc(buffer, room, &record, (void *) arg);
    assert_in_range(n, 1, room);
    memcpy(line, buffer, n);
    line[n] = '\0';
    assert_int_equal(strlen(line), n);
    free(buffer);
    free(copy);
    return line;
}

static const char *
Line(const Fields *fieldsPtr, uint32_t flags)
{
    return Format(Ns_LogAccessLine, fieldsPtr, flags, NULL);
}

static void
TheLineFollowsItsFlags(void **state)
{
    static const struct {
        uint32_t    flags;
        const char *line;
    } cases[] = {
        {0,
         "127.0.0.1 - ann [1795219621] "
         "\"GET /hello.tcl?q=1&r=2 HTTP/1.1\" 200 195 \"abc\"\n"},
        {NS_ACCESS_FMTTIME,
         "127.0.0.1 - ann [21/Nov/2026:00:07:01 +0000] "
         "\"GET /hello.tcl?q=1&r=2 HTTP/1.1\" 200 195 \"abc\"\n"},
        {NS_ACCESS_COMBINED,
         "127.0.0.1 - ann [1795219621] "
         "\"GET /hello.tcl?q=1&r=2 HTTP/1.1\" 200 195 "
         "\"http://example.org/start\" \"curl/7.88.1\" \"abc\"\n"},
        {NS_ACCESS_FMTTIME | NS_ACCESS_REQTIME,
         "127.0.0.1 - ann [21/Nov/2026:00:07:01 +0000] "
         "\"GET /hello.tcl?q=1&r=2 HTTP/1.1\" 200 195 1.000346 \"abc\"\n"},
        {NS_ACCESS_FMTTIME | NS_ACCESS_COMBINED | NS_ACCESS_REQTIME
             | NS_ACCESS_PARTIALTIMES,
         "127.0.0.1 - ann [21/Nov/2026:00:07:01 +0000] "
         "\"GET /hello.tcl?q=1&r=2 HTTP/1.1\" 200 195 "
         "\"http://example.org/start\" \"curl/7.88.1\" 1.000346 "
         "\"1795219621.704179 0.000645 0.000176 0.000023 1.000147\" "
         "\"abc\"\n"}};
    Fields fields = Plain();

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_string_equal(Line(&fields, cases[i].flags), cases[i].line);
    }
}

static void
CommonAndCombinedAreTheSameWhateverTheFlags(void **state)
{
    Fields fields = Plain();

    assert_string_equal(Format(Ns_LogAccessLine, &fields, NS_ACCESS_REQTIME,
                               &commonFlags),
                        "127.0.0.1 - ann [21/Nov/2026:00:07:01 +0000] "
                        "\"GET /hello.tcl?q=1&r=2 HTTP/1.1\" 200 195\n");
    assert_string_equal(Format(Ns_LogAccessLine, &fields,
                               NS_ACCESS_PARTIALTIMES, &combinedFlags),
                        "127.0.0.1 - ann [21/Nov/2026:00:07:01 +0000] "
                        "\"GET /hello.tcl?q=1&r=2 HTTP/1.1\" 200 195 "
                        "\"http://example.org/start\" \"curl/7.88.1\"\n");
}

static void
WhatIsNotThereIsADashOrEmptyQuotes(void **state)
{
    Fields fields = Plain();

    for (int i = USER; i < NFIELDS; i++) {
        fields.lengths[i] = 0;
    }
    assert_string_equal(Line(&fields, NS_ACCESS_COMBINED),
                        "127.0.0.1 - - [1795219621] \"\" 200 195 "
                        "\"\" \"\" \"\"\n");
}

/*
 * How a byte of a client's has to look.
 */
static const char *
Escaped(unsigned char c)
{
    static char text[8];

    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\r':
        return "\\r";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    default:
        snprintf(text, sizeof(text), c < 0x20 || c >= 0x7f ? "\\x%02x" : "%c",
                 c);
        return text;
    }
}

static void
NoByteOfAnyFieldEndsTheFieldOrTheLine(void **state)
{
    for (int field = 0; field < NFIELDS; field++) {
        for (int c = 0; c < 256; c++) {
            Fields      fields = Plain();
            char        value[] = {'a', (char) c, 'b'};
            char        shown[NFIELDS][40], wanted[400];
            const char *quote = field == USER && isspace(c) ? "\"" : "";

            fields.bytes[field] = value;
            fields.lengths[field] = sizeof(value);
            for (int i = 0; i < NFIELDS; i++) {
                snprintf(shown[i], sizeof(shown[i]), "%.*s",
                         (int) fields.lengths[i], fields.bytes[i]);
            }
            snprintf(shown[field], sizeof(shown[field]), "a%sb",
                     Escaped((unsigned char) c));
            snprintf(wanted, sizeof(wanted),
                     "%s - %s%s%s [1795219621] "
                     "\"%s\" 200 195 \"%s\" \"%s\" \"%s\"\n",
                     shown[PEER], quote, shown[USER], quote, shown[REQUEST],
                     shown[REFERER], shown[AGENT], shown[HEADER]);
            assert_string_equal(Line(&fields, NS_ACCESS_COMBINED), wanted);
        }
    }
}

/*
 * Bytes are looked at sixteen at a time, the last of them twice.
 */
static void
AByteIsEscapedWhereverItStands(void **state)
{
    static const char specials[] = "\x1f\"\\\x7f\x80\xff";
    static const int  last[] = {REQUEST, AGENT, HEADER};
    char              value[40], wanted[100];

    for (size_t i = 0; i < sizeof(value) * sizeof(value) * 18; i++) {
        Fields fields = Plain();
        size_t length = i % sizeof(value) + 1;
        size_t at = i / sizeof(value) % sizeof(value);
        int    field = last[i / sizeof(value) / sizeof(value) / 6];
        char   c = specials[i / sizeof(value) / sizeof(value) % 6];

        if (at < length) {
            memset(value, '~', sizeof(value));
            value[at] = c;
            fields.bytes[field] = value;
            fields.lengths[field] = length;
            snprintf(wanted, sizeof(wanted), " \"%.*s%s%.*s\"", (int) at, value,
                     Escaped((unsigned char) c), (int) (length - at - 1),
                     value + at + 1);
            assert_non_null(strstr(Line(&fields, NS_ACCESS_COMBINED), wanted));
        }
    }
}

static void
NumbersMayBeAsLargeAsTheyGet(void **state)
{
    static const struct {
        int64_t     number;
        const char *text;
    } cases[] = {{0, "0"},
                 {9, "9"},
                 {10, "10"},
                 {99, "99"},
                 {100, "100"},
                 {-1, "-1"},
                 {INT64_MAX, "9223372036854775807"},
                 {INT64_MIN, "-9223372036854775808"}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_AccessRecord r = {.status = INT32_MIN, .bytesSent = cases[i].number};
        char            wanted[100];

        snprintf(wanted, sizeof(wanted),
                 " - - [1795219621] \"\" -2147483648 "
                 "%s\n",
                 cases[i].text);
        assert_string_equal(FormatRecord(Ns_LogAccessLine, &r, sizeof(r), NULL),
                            wanted);
    }
}

static void
TheLongestLineFits(void **state)
{
    Ns_LogFormatProc *const procs[] = {Ns_LogAccessLine, Ns_LogAccessJson};
    struct {
        Ns_AccessRecord r;
        char            strings[400];
    } record = {.r = {.flags = NS_ACCESS_FMTTIME | NS_ACCESS_COMBINED
                          | NS_ACCESS_REQTIME | NS_ACCESS_PARTIALTIMES,
                      .status = INT32_MIN,
                      .bytesSent = INT64_MIN,
                      .start = INT64_MAX,
                      .acceptSpan = INT64_MAX,
                      .queueSpan = INT64_MAX,
                      .filterSpan = INT64_MAX,
                      .runSpan = INT64_MAX}};

    for (int i = 0; i < Ns_NrElements(procs); i++) {
        /* Nothing but empty headers; then a request of control characters. */
        memset(record.strings, 0, sizeof(record.strings));
        record.r.requestLength = 0;
        record.r.nHeaders = sizeof(record.strings) / 8;
        FormatRecord(procs[i], &record.r, sizeof(record), NULL);
        memset(record.strings, 1, sizeof(record.strings));
        record.r.requestLength = sizeof(record.strings);
        record.r.nHeaders = 0;
        FormatRecord(procs[i], &record.r, sizeof(record), NULL);
    }
}

static void
TextBeyondAsciiStaysInAnyField(void **state)
{
    static const char text[] = "gr\xc3\xbc\xc3\x9f\xe2\x82\xac";

    for (int field = 0; field < NFIELDS; field++) {
        Fields fields = Plain();

        fields.bytes[field] = text;
        fields.lengths[field] = sizeof(text) - 1;
        assert_non_null(strstr(Line(&fields, NS_ACCESS_COMBINED), text));
        assert_non_null(strstr(Format(Ns_LogAccessJson, &fields, 0, NULL),
                               text));
    }
}

/*
 * The members of strings, in the order of the fields.
 */
static const char *
WantedJson(const Fields *fieldsPtr)
{
    static const char *const keys[NFIELDS] = {
        "peer", "user", "request", "referer", "agent", "X-Trace"};
    static char wanted[1000];
    char        members[NFIELDS][100];

    for (int i = 0; i < NFIELDS; i++) {
        size_t n = (size_t) snprintf(members[i], sizeof(members[i]),
                                     "\"%s\":", keys[i]);

        for (size_t k = 0; k <= fieldsPtr->lengths[i] + 1; k++) {
            unsigned char c = k == 0 || k > fieldsPtr->lengths[i]
                ? '\0'
                : (unsigned char) fieldsPtr->bytes[i][k - 1];
            char         *end = members[i] + n;
            size_t        room = sizeof(members[i]) - n;

            if (k == 0 || k > fieldsPtr->lengths[i]) {
                n += (size_t) snprintf(end, room, "\"");
            } else if (c == '"' || c == '\\' || c == '\r' || c == '\n'
                       || c == '\t' || (c >= 0x20 && c < 0x7f)) {
                n += (size_t) snprintf(end, room, "%s", Escaped(c));
            } else {
                n += (size_t) snprintf(end, room, "\\u%04x",
                                       c < 0x80 ? c : 0xfffd);
            }
        }
    }
    snprintf(wanted, sizeof(wanted),
             "{\"time\":\"2026-11-21T00:07:01.704535Z\""
             ",%s,%s,%s,\"status\":200,\"bytes\":195,%s,%s,\"start\":"
             "\"2026-11-21T00:07:01.704179Z\",\"duration\":1.000346,"
             "\"accept\":0.000645,\"queue\":0.000176,\"filter\":0.000023,"
             "\"run\":1.000147,\"headers\":{%s}}\n",
             members[PEER], members[USER], members[REQUEST], members[REFERER],
             members[AGENT], members[HEADER]);
    return wanted;
}

static void
NoByteOfAnyFieldEndsTheStringOrTheObject(void **state)
{
    Fields plain = Plain();

    assert_string_equal(Format(Ns_LogAccessJson, &plain, 0, NULL),
                        WantedJson(&plain));
    for (int field = 0; field < NFIELDS; field++) {
        for (int c = 0; c < 256; c++) {
            Fields fields = Plain();
            char   value[] = {'a', (char) c, 'b'};

            fields.bytes[field] = value;
            fields.lengths[field] = sizeof(value);
            assert_string_equal(Format(Ns_LogAccessJson, &fields, 0, NULL),
                                WantedJson(&fields));
        }
    }
}

/*
 * Records come from the memory of a process that crashed.
 */
static void
ARecordThatIsCutMakesNoLineOrAShorterOne(void **state)
{
    _Alignas(8) char bytes[1000];
    char             line[10000];
    Fields           fields = Plain();
    size_t           length = Encode(bytes, &fields, NS_ACCESS_COMBINED);

    for (size_t n = 0; n < length; n++) {
        /* On the heap, so that a sanitizer sees who reads beyond. */
        void        *copy = malloc(n == 0 ? 1 : n);
        Ns_LogRecord record = {.time = 0, .bytes = copy, .length = n};
        size_t       nLine, nJson;

        memcpy(copy, bytes, n);
        nLine = Ns_LogAccessLine(line, sizeof(line), &record, NULL);
        nJson = Ns_LogAccessJson(line, sizeof(line), &record, NULL);
        assert_true(nLine == 0 || nLine > 1);
        assert_int_equal(nLine == 0, nJson == 0);
        assert_int_equal(nLine == 0,
                         n < length - fields.lengths[HEADER] - sizeof(uint32_t)
                                 - 7 - sizeof(uint32_t));
        free(copy);
    }
}

/*
 * The line of a template, with that much room more than it needs, by its stream
 * or piece by piece.
 */
static const char *
TemplateLine(const char *text, const Fields *fieldsPtr, bool isByPieces,
             size_t more)
{
    static char      lines[2][20000];
    char            *line = lines[isByPieces];
    _Alignas(8) char bytes[6000];
    NsFieldProcs     procs = *NsStreamFields(Ns_LogAccessStream("access/s/m"));
    size_t           length = Encode(bytes, fieldsPtr, 0), n;
    void            *copy = malloc(length);
    Ns_LogRecord     record = {.stream = "access/s/m",
                               .severity = Notice,
                               .time = INT64_C(1795219621704535999),
                               .bytes = copy,
                               .length = length};
    Ns_DString       error;
    NsTemplate      *templatePtr;
    char            *buffer;

    memcpy(copy, bytes, length);
    Ns_DStringInit(&error);
    templatePtr = NsTemplateCreate(text, &error);
    assert_non_null(templatePtr);
    if (isByPieces) {
        procs.piecesProc = NULL;
    }
    n = NsTemplateLine(templatePtr, &procs, &record, line, 0);
    assert_in_range(n, 1, sizeof(lines[0]) - 1);
    buffer = malloc(n + more);
    n = NsTemplateLine(templatePtr, &procs, &record, buffer, n + more);
    assert_in_range(n, 1, sizeof(lines[0]) - 1);
    memcpy(line, buffer, n);
    line[n] = '\0';
    free(buffer);
    free(copy);
    NsTemplateDestroy(&templatePtr);
    Ns_DStringFree(&error);
    return line;
}

#define COMBINED                                                           \
    "$peer - $user [$localtime] \"$request\" $status $bytes \"$referer\" " \
    "\"$agent\""

static void
ATemplateMakesTheSameLineOfPlainRecordsAndOfOthers(void **state)
{
    static const char *const templates[] = {
        COMBINED " $duration",
        "$method $url $path $query $protocol$$",
        "${peer}$epoch$accept$queue$filter$run",
        "a text without any variable, longer than what is copied at once",
        "$agent",
        "$time $start $server $thread $header(X-Trace) $severity $stream"};
    static const char *const requests[] = {
        "GET /hello.tcl?q=1 HTTP/1.1", "GET /x", "/only/a/path", "", "a \"b\"",
        "GET /\x01 HTTP/1.0"};
    char   longText[3000];
    Fields fields = Plain();

    NsLogInit();
    memset(longText, 'x', sizeof(longText));
    for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++) {
        for (size_t j = 0; j < sizeof(requests) / sizeof(requests[0]); j++) {
            for (size_t nAgent = 0; nAgent < sizeof(longText);
                 nAgent = nAgent < 70 ? nAgent + 1 : nAgent * 5) {
                fields.bytes[REQUEST] = requests[j];
                fields.lengths[REQUEST] = strlen(requests[j]);
                fields.bytes[AGENT] = longText;
                fields.lengths[AGENT] = nAgent;
                for (size_t more = 0; more < 40000; more += 39999) {
                    assert_string_equal(TemplateLine(templates[i], &fields,
                                                     false, more),
                                        TemplateLine(templates[i], &fields,
                                                     true, more));
                }
            }
        }
    }
}

static int
SetUp(void **state)
{
    setenv("TZ", "UTC", 1);
    tzset();
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheLineFollowsItsFlags),
        cmocka_unit_test(CommonAndCombinedAreTheSameWhateverTheFlags),
        cmocka_unit_test(WhatIsNotThereIsADashOrEmptyQuotes),
        cmocka_unit_test(NoByteOfAnyFieldEndsTheFieldOrTheLine),
        cmocka_unit_test(AByteIsEscapedWhereverItStands),
        cmocka_unit_test(NumbersMayBeAsLargeAsTheyGet),
        cmocka_unit_test(TheLongestLineFits),
        cmocka_unit_test(TextBeyondAsciiStaysInAnyField),
        cmocka_unit_test(NoByteOfAnyFieldEndsTheStringOrTheObject),
        cmocka_unit_test(ARecordThatIsCutMakesNoLineOrAShorterOne),
        cmocka_unit_test(ATemplateMakesTheSameLineOfPlainRecordsAndOfOthers)};

    return cmocka_run_group_tests(tests, SetUp, NULL);
}
