/* SPDX-License-Identifier: MPL-2.0
 * http_parse_test.c --
 *
 *      The incremental request parser.
 *
 *      1  the request line      4  limits
 *      2  header fields         5  arrival in pieces, moving buffers
 *      3  body length           6  what follows the head
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/parse.h"
#include "nsstring.h"

static const NsParseLimits usualLimits = {
    .maxLineBytes = 8192, .maxHeadBytes = 1 << 20, .maxFields = 128};

typedef struct {
    char         *buffer;
    NsArena       arena;
    NsHttpHead    head;
    NsHttpParser  parser;
    NsParseStatus status;
} Parsed;

static void
ParseBytes(Parsed *parsedPtr, const char *text, size_t length,
           const NsParseLimits *limitsPtr)
{
    NsArenaInit(&parsedPtr->arena, 1024);
    parsedPtr->buffer = malloc(length + 1);
    memcpy(parsedPtr->buffer, text, length);
    NsHttpParserInit(&parsedPtr->parser, &parsedPtr->head, &parsedPtr->arena,
                     limitsPtr);
    parsedPtr->status = NsHttpParse(&parsedPtr->parser, parsedPtr->buffer,
                                    length);
}

static void
Parse(Parsed *parsedPtr, const char *text)
{
    ParseBytes(parsedPtr, text, strlen(text), &usualLimits);
}

static void
Done(Parsed *parsedPtr)
{
    free(parsedPtr->buffer);
    NsArenaFree(&parsedPtr->arena);
}

static void
AssertPart(const char *part, size_t length, const char *expected)
{
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(part, expected, length);
}

/*
 * 1. The request line.
 */

static void
RequestLineIsSplit(void **state)
{
    static const struct {
        const char   *line, *method, *target;
        double        sentVersion;
        NsHttpVersion version;
    } cases[] = {
        {"GET / HTTP/1.1", "GET", "/", 1.1, NS_HTTP_1_1},
        {"GET /a?b=c/d HTTP/1.0", "GET", "/a?b=c/d", 1.0, NS_HTTP_1_0},
        {"a!#$%&'*+-.^_`|~9 // HTTP/1.9", "a!#$%&'*+-.^_`|~9", "//", 1.9,
         NS_HTTP_1_1},
        {"GET /\"<>[\\]^`{|} HTTP/1.1", "GET", "/\"<>[\\]^`{|}", 1.1,
         NS_HTTP_1_1},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 / HTTP/1.1",
         "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", "/", 1.1, NS_HTTP_1_1},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        for (int crs = 0; crs < 2; crs++) {
            Parsed p;
            char   text[200];

            snprintf(text, sizeof(text), "%s%s\n", cases[i].line,
                     crs == 0 ? "" : "\r");
            Parse(&p, text);
            assert_int_equal(p.status, NS_PARSE_MORE);
            assert_string_equal(p.head.line, cases[i].line);
            assert_int_equal(p.head.lineLength, strlen(cases[i].line));
            AssertPart(p.head.method, p.head.methodLength, cases[i].method);
            AssertPart(p.head.target, p.head.targetLength, cases[i].target);
            assert_true(p.head.sentVersion == cases[i].sentVersion);
            assert_int_equal(p.head.version, cases[i].version);
            Done(&p);
        }
    }
}

static void
AssertRefused(const Parsed *p, int status, const char *reason)
{
    assert_int_equal(p->status, NS_PARSE_REFUSED);
    assert_string_equal(p->head.reason, reason);
    assert_int_equal(p->head.status, status);
}

static void
MalformedRequestLineIsRefusedForAReason(void **state)
{
    static const struct {
        const char *line;
        int         status;
        const char *reason;
    } cases[] = {
        {"GET", 400, "request line: no URL in \"GET\""},
        {"GET HTTP/1.1", 400, "request line: no URL in \"GET HTTP/1.1\""},
        {"GET ", 400, "URL: empty"},
        {"GET  / HTTP/1.1", 400, "URL: byte 0x20 in \" / HTTP/1.1\""},
        {" GET / HTTP/1.1", 400, "method: byte 0x20 in \" GET / HTTP/1.1\""},
        {" ", 400, "method: byte 0x20 in \" \""},
        {"GET\t/ HTTP/1.1", 400, "method: byte 0x09 in \"GET\t/ HTTP/1.1\""},
        {"G(T / HTTP/1.1", 400, "method: byte 0x28 in \"G(T / HTTP/1.1\""},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456 / HTTP/1.1", 501,
         "method: longer than 32 bytes"},
        {"GET /a\tb HTTP/1.1", 400, "URL: byte 0x09 in \"/a\tb HTTP/1.1\""},
        {"GET /#a HTTP/1.1", 400, "URL: byte 0x23 in \"/#a HTTP/1.1\""},
        {"GET /\303\244 HTTP/1.1", 400,
         "URL: byte 0xc3 in \"/\303\244 HTTP/1.1\""},
        {"GET /\x7f HTTP/1.1", 400, "URL: byte 0x7f in \"/\x7f HTTP/1.1\""},
        {"GET /a b HTTP/1.1", 400, "version: malformed: \"b HTTP/1.1\""},
        {"GET / HTTP/1.1 ", 400, "version: malformed: \"HTTP/1.1 \""},
        {"GET /  HTTP/1.1", 400, "version: malformed: \" HTTP/1.1\""},
        {"GET / ", 400, "version: malformed: \"\""},
        {"GET / HTTP/1.1\r", 400, "version: malformed: \"HTTP/1.1\r\""},
        {"GET / HTTP/1", 400, "version: malformed: \"HTTP/1\""},
        {"GET / HTTP/01.1", 400, "version: malformed: \"HTTP/01.1\""},
        {"GET / HTTP/1.1x", 400, "version: malformed: \"HTTP/1.1x\""},
        {"GET / http/1.1", 400, "version: malformed: \"http/1.1\""},
        {"GET / HTTP/1,1", 400, "version: malformed: \"HTTP/1,1\""},
        {"GET / HTTP/0.9", 505, "version: not supported: \"HTTP/0.9\""},
        {"PRI * HTTP/2.0", 505, "version: not supported: \"HTTP/2.0\""},
        {"GET /", 400, "request line: no version in \"GET /\""},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;
        char   text[200];

        snprintf(text, sizeof(text), "%s\r\n", cases[i].line);
        Parse(&p, text);
        AssertRefused(&p, cases[i].status, cases[i].reason);
        assert_string_equal(p.head.line, cases[i].line);
        AssertPart(p.head.method, p.head.methodLength, "BAD");
        AssertPart(p.head.target, p.head.targetLength, "/");
        assert_int_equal(p.head.version, NS_HTTP_1_1);
        Done(&p);
    }
}

static void
EightBlankLinesAreSkippedANinthIsNot(void **state)
{
    static const char text[] =
        "\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.0\r\n\r\n";
    Parsed p;

    Parse(&p, text + 1);
    assert_int_equal(p.status, NS_PARSE_DONE);
    AssertPart(p.head.target, p.head.targetLength, "/");
    Done(&p);

    Parse(&p, text);
    AssertRefused(&p, 400, "request line: more than 8 empty lines before it");
    Done(&p);
}

static void
BlankLinesDoNotBeginARequest(void **state)
{
    Parsed p;

    Parse(&p, "\r\n");
    assert_int_equal(p.status, NS_PARSE_MORE);
    assert_false(NsHttpParserHasBegun(&p.parser, 2));
    Done(&p);
    Parse(&p, "\r\nG");
    assert_true(NsHttpParserHasBegun(&p.parser, 3));
    Done(&p);
    Parse(&p, "GET / HTTP/1.1\n");
    assert_true(NsHttpParserHasBegun(&p.parser, 15));
    Done(&p);
}

static void
OldestVersionIsServedWhereItIsAllowed(void **state)
{
    static const char text[] = "GET /a\r\nHost: x\r\n\r\n";
    NsParseLimits     limits = usualLimits;
    Parsed            p;

    limits.allowsHttp09 = true;
    ParseBytes(&p, text, sizeof(text) - 1, &limits);
    assert_int_equal(p.status, NS_PARSE_DONE);
    assert_int_equal(p.head.version, NS_HTTP_0_9);
    assert_int_equal(p.head.nFields, 0);
    assert_int_equal(p.head.headBytes, 8);
    Done(&p);
    ParseBytes(&p, "HEAD /a\r\n", 9, &limits);
    AssertRefused(&p, 400, "request line: no version in \"HEAD /a\"");
    Done(&p);
}

static void
LinesEndWithCrLfWhereOneIsStrict(void **state)
{
    static const char *const texts[] = {
        "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\n\r\n",
        "GET / HTTP/1.0\r\nA: b\n\r\n", "GET / HTTP/1.0\r\n\n",
        "\nGET / HTTP/1.0\r\n\r\n"};
    static const char *const reasons[] = {
        NULL, "line 1: ends with LF alone", "line 2: ends with LF alone",
        "line 2: ends with LF alone", "line 1: ends with LF alone"};
    NsParseLimits limits = usualLimits;

    limits.isLfStrict = true;
    for (int i = 0; i < Ns_NrElements(texts); i++) {
        Parsed p;

        ParseBytes(&p, texts[i], strlen(texts[i]), &limits);
        if (reasons[i] == NULL) {
            assert_int_equal(p.status, NS_PARSE_DONE);
        } else {
            AssertRefused(&p, 400, reasons[i]);
        }
        Done(&p);
    }
}

/*
 * 2. Header fields.
 */

static void
FieldsKeepOrderCaseAndDuplicates(void **state)
{
    Parsed p;

    Parse(&p,
          "GET / HTTP/1.1\r\nHost: a\r\nX-a:1\r\nx-A: \t2 \t \r\n"
          "!#$%&'*+-.^_`|~9: a\tb\303\244\n"
          "None:\r\n\r\n");
    assert_int_equal(p.status, NS_PARSE_DONE);
    assert_int_equal(p.head.nFields, 5);
    assert_string_equal(p.head.fields[1].name, "X-a");
    assert_string_equal(p.head.fields[1].value, "1");
    assert_string_equal(p.head.fields[2].name, "x-A");
    assert_string_equal(p.head.fields[2].value, "2");
    assert_int_equal(p.head.fields[2].valueLength, 1);
    assert_string_equal(p.head.fields[3].name, "!#$%&'*+-.^_`|~9");
    assert_string_equal(p.head.fields[3].value, "a\tb\303\244");
    assert_string_equal(p.head.fields[4].value, "");
    assert_string_equal(NsHttpFind(&p.head, "X-A"), "1");
    assert_null(NsHttpFind(&p.head, "X-B"));
    Done(&p);
}

static void
MalformedFieldIsRefusedForAReason(void **state)
{
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"broken", "header: no colon in \"broken\""},
        {": a", "header name: byte 0x3a in \": a\""},
        {"Foo Bar: a", "header name: byte 0x20 in \"Foo Bar: a\""},
        {"Foo : a", "header name: byte 0x20 in \"Foo : a\""},
        {"Foo\t: a", "header name: byte 0x09 in \"Foo\t: a\""},
        {"F(: a", "header name: byte 0x28 in \"F(: a\""},
        {"\303\244: a", "header name: byte 0xc3 in \"\303\244: a\""},
        {" folded", "header line 2: begins with a blank (folded line)"},
        {"\tb: c", "header line 2: begins with a blank (folded line)"},
        {"\rA: b", "header name: byte 0x0d in \"\rA: b\""},
        {"A: b\rc", "header value: byte 0x0d in A"},
        {"A: b\r", "header value: byte 0x0d in A"},
        {"A: 123456\001", "header value: byte 0x01 in A"},
        {"A: 12345678901234567890\x7f\t\177", "header value: byte 0x7f in A"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;
        char   text[200];

        snprintf(text, sizeof(text),
                 "HEAD /a HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", cases[i].line);
        Parse(&p, text);
        AssertRefused(&p, 400, cases[i].reason);
        AssertPart(p.head.method, p.head.methodLength, "HEAD");
        Done(&p);
    }
}

static void
NullByteIsRefusedWhereverItStands(void **state)
{
    static const char text[] = "GET /a HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n";

    for (size_t i = 0; i < sizeof(text) - 3; i++) {
        Parsed p;
        char   copy[sizeof(text)];

        memcpy(copy, text, sizeof(text));
        copy[i] = '\0';
        ParseBytes(&p, copy, sizeof(text) - 1, &usualLimits);
        assert_int_equal(p.status, NS_PARSE_REFUSED);
        assert_int_equal(p.head.status, 400);
        Done(&p);
    }
}

static void
KnownFieldsAreFoundInAnyCase(void **state)
{
    static const struct {
        const char      *name;
        NsHttpKnownField known;
    } cases[] = {
        {"CONNECTION", NS_FIELD_CONNECTION},
        {"Content-Type", NS_FIELD_CONTENT_TYPE},
        {"Authorization", NS_FIELD_AUTHORIZATION},
        {"Accept-Encoding", NS_FIELD_ACCEPT_ENCODING},
        {"Range", NS_FIELD_RANGE},
        {"If-Range", NS_FIELD_IF_RANGE},
        {"If-Modified-Since", NS_FIELD_IF_MODIFIED_SINCE},
        {"If-Unmodified-Since", NS_FIELD_IF_UNMODIFIED_SINCE},
        {"cookie", NS_FIELD_COOKIE},
        {"Referer", NS_FIELD_REFERER},
        {"User-Agent", NS_FIELD_USER_AGENT},
        {"X-Forwarded-For", NS_FIELD_X_FORWARDED_FOR},
        {"Hose", NS_FIELD_COUNT},
        {"Xeferer", NS_FIELD_COUNT}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;
        char   text[200];

        snprintf(text, sizeof(text),
                 "GET / HTTP/1.0\r\nA: b\r\n%s: first\r\n%s: second\r\n\r\n",
                 cases[i].name, cases[i].name);
        Parse(&p, text);
        assert_int_equal(p.status, NS_PARSE_DONE);
        for (int known = 0; known < NS_FIELD_COUNT; known++) {
            const char *value = NsHttpKnown(&p.head, (NsHttpKnownField) known);

            if (known == (int) cases[i].known) {
                assert_string_equal(value, "first");
            } else {
                assert_null(value);
            }
        }
        Done(&p);
    }
}

/*
 * 3. Body length.
 */

static void
BodyLengthIsJudged(void **state)
{
    static const struct {
        const char *fields;
        int         status;
        int64_t     contentLength;
        bool        isChunked;
    } cases[] = {
        {"", 0, -1, false},
        {"Content-Length: 0\r\n", 0, 0, false},
        {"Content-Length: 5 \r\n", 0, 5, false},
        {"Content-Length: 9223372036854775807\r\n", 0, INT64_MAX, false},
        {"Content-Length: 9223372036854775808\r\n", 400, -1, false},
        {"Content-Length: 99999999999999999999999\r\n", 400, -1, false},
        {"Content-Length: -1\r\n", 400, -1, false},
        {"Content-Length: +4\r\n", 400, -1, false},
        {"Content-Length: 0x4\r\n", 400, -1, false},
        {"Content-Length:\r\n", 400, -1, false},
        {"Content-Length: 4x\r\n", 400, -1, false},
        {"Content-Length: 4 2\r\n", 400, -1, false},
        {"Content-Length: 4, 4\r\n", 0, 4, false},
        {"Content-Length: 4 ,\t04,4\r\n", 0, 4, false},
        {"Content-Length: 4,\r\n", 400, -1, false},
        {"Content-Length: ,4\r\n", 400, -1, false},
        {"Content-Length: 4, 5\r\n", 400, -1, false},
        {"Content-Length: 4\r\nX: y\r\ncontent-length: 4\r\n", 0, 4, false},
        {"Content-Length: 4\r\nContent-Length: 5\r\n", 400, -1, false},
        {"Content-Length: 4\r\nContent-Length: x\r\n", 400, -1, false},
        {"Content-Length: 4\r\nContent-Length: 4, 5\r\n", 400, -1, false},
        {"Transfer-Encoding: chunked\r\n", 0, -1, true},
        {"Transfer-Encoding: Chunked\r\n", 0, -1, true},
        {"Transfer-Encoding:\t CHUNKED \r\n", 0, -1, true},
        {"Transfer-Encoding: gzip, chunked\r\n", 501, -1, false},
        {"Transfer-Encoding: chunked, chunked\r\n", 501, -1, false},
        {"Transfer-Encoding: chunked,\r\n", 501, -1, false},
        {"Transfer-Encoding: identity\r\n", 501, -1, false},
        {"Transfer-Encoding:\r\n", 501, -1, false},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", 501, -1,
         false},
        {"Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", 501, -1,
         false},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 501,
         -1, false},
        {"Transfer-Encoding: gzip\r\nContent-Length: 4\r\n", 400, -1, false},
        {"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", 400, -1, false},
        {"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", 400, -1, false},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;
        char   text[400];

        snprintf(text, sizeof(text), "POST / HTTP/1.1\r\nHost: a\r\n%s\r\n",
                 cases[i].fields);
        Parse(&p, text);
        assert_int_equal(p.head.status, cases[i].status);
        assert_int_equal(p.status,
                         cases[i].status == 0 ? NS_PARSE_DONE
                                              : NS_PARSE_REFUSED);
        if (p.status == NS_PARSE_DONE) {
            assert_true(p.head.contentLength == cases[i].contentLength);
            assert_int_equal(p.head.isChunked, cases[i].isChunked);
        }
        Done(&p);
    }
}

static void
ConnectionIsAListOfOptions(void **state)
{
    static const struct {
        const char *fields;
        bool        asksClose, asksKeepAlive;
    } cases[] = {
        {"", false, false},
        {"Connection: close\r\n", true, false},
        {"Connection: Keep-Alive\r\n", false, true},
        {"Connection: TE, close\r\n", true, false},
        {"Connection: TE,CLOSE ,\tx\r\n", true, false},
        {"Connection: keep-alive, close\r\n", true, true},
        {"Connection: TE\r\nA: b\r\nconnection: close\r\n", true, false},
        {"Connection: closed, xclose, close;x\r\n", false, false},
        {"Connection: x close, close x\r\n", false, false},
        {"Connection: keep-alive\tclose,\tTE\r\n", false, false},
        {"Connection: x \t,\tclose \t\r\n", true, false},
        {"Connection:\r\n", false, false},
        {"Connection: ,,\r\n", false, false},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;
        char   text[400];

        snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n",
                 cases[i].fields);
        Parse(&p, text);
        assert_int_equal(p.status, NS_PARSE_DONE);
        assert_int_equal(p.head.asksClose, cases[i].asksClose);
        assert_int_equal(p.head.asksKeepAlive, cases[i].asksKeepAlive);
        Done(&p);
    }
}

/*
 * 4. Limits.
 */

/*
 * The CR counts, the LF does not; a line that is too long is refused before it
 * has ended.
 */
static void
LongLinesAreRefused(void **state)
{
    static const NsParseLimits limits = {
        .maxLineBytes = 16, .maxHeadBytes = 1000, .maxFields = 8};
    static const struct {
        const char *text;
        int         status;
    } cases[] = {
        {"GET /5 HTTP/1.0\r\n\r\n", 0},
        {"GET /56 HTTP/1.0\n\n", 0},
        {"GET /56 HTTP/1.0\r\n\r\n", 414},
        {"GET /567 HTTP/1.0", 414},
        {"GET /5 HTTP/1.0\r\nA: 345678901234\r\n\r\n", 0},
        {"GET /5 HTTP/1.0\r\nA: 3456789012345\r\n\r\n", 431},
        {"GET /5 HTTP/1.0\r\nA: 34567890123456", 431},
        {"GET /567 HTTP/1.0\r\nA: 3456789012345\r\n\r\n", 414},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;

        ParseBytes(&p, cases[i].text, strlen(cases[i].text), &limits);
        assert_int_equal(p.head.status, cases[i].status);
        assert_int_equal(p.status,
                         cases[i].status == 0 ? NS_PARSE_DONE
                                              : NS_PARSE_REFUSED);
        Done(&p);
    }
}

static void
HeadMayFillItsLimitButNotMore(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    NsParseLimits     limits = usualLimits;
    Parsed            p;

    limits.maxHeadBytes = sizeof(text) - 1;
    ParseBytes(&p, text, sizeof(text) - 1, &limits);
    assert_int_equal(p.status, NS_PARSE_DONE);
    Done(&p);
    limits.maxHeadBytes--;
    ParseBytes(&p, text, sizeof(text) - 1, &limits);
    AssertRefused(&p, 431,
                  "header line 2: more than maxline (8192 bytes), or the head "
                  "than maxhead (26)");
    Done(&p);
    ParseBytes(&p, "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 36, &limits);
    assert_int_equal(p.head.status, 414);
    Done(&p);
}

static void
FieldsUpToTheLimitAreKept(void **state)
{
    NsParseLimits limits = usualLimits;
    Ns_DString    text;
    Parsed        p;

    for (int extra = 0; extra <= 1; extra++) {
        limits.maxFields = 100;
        Ns_DStringInit(&text);
        Ns_DStringAppend(&text, "GET / HTTP/1.0\r\n");
        for (int i = 0; i < limits.maxFields + extra; i++) {
            Ns_DStringPrintf(&text, "Field-%d: value %d\r\n", i, i);
        }
        Ns_DStringAppend(&text, "\r\n");
        ParseBytes(&p, Ns_DStringValue(&text), (size_t) Ns_DStringLength(&text),
                   &limits);
        if (extra == 0) {
            assert_int_equal(p.status, NS_PARSE_DONE);
            assert_int_equal(p.head.nFields, 100);
            assert_string_equal(p.head.fields[0].value, "value 0");
            assert_string_equal(p.head.fields[99].name, "Field-99");
        } else {
            AssertRefused(&p, 431, "header: more fields than maxheaders (100)");
        }
        Done(&p);
        Ns_DStringFree(&text);
    }
}

/*
 * 5. Arrival in pieces.
 */

static const char browserRequest[] =
    "\r\nPOST /a/b.adp?x=1&y=%202 HTTP/1.1\r\n"
    "Host: www.example.com:8080\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Language: en-US,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate, br\r\n"
    "X-Spaced:   one two three \t\r\n"
    "Content-Length: 11\r\n"
    "Cookie: session=\"abc\"; theme=dark\r\n"
    "Connection: keep-alive\r\n"
    "\r\n"
    "hello world";

static void
AssertBrowserRequest(const Parsed *p)
{
    assert_int_equal(p->status, NS_PARSE_DONE);
    assert_string_equal(p->head.line, "POST /a/b.adp?x=1&y=%202 HTTP/1.1");
    AssertPart(p->head.method, p->head.methodLength, "POST");
    AssertPart(p->head.target, p->head.targetLength, "/a/b.adp?x=1&y=%202");
    assert_int_equal(p->head.nFields, 9);
    assert_string_equal(NsHttpKnown(&p->head, NS_FIELD_HOST),
                        "www.example.com:8080");
    assert_string_equal(NsHttpFind(&p->head, "x-spaced"), "one two three");
    assert_int_equal(p->head.contentLength, 11);
    assert_string_equal(NsHttpKnown(&p->head, NS_FIELD_CONNECTION),
                        "keep-alive");
    assert_int_equal(p->head.headBytes,
                     sizeof(browserRequest) - 1 - strlen("hello world"));
    assert_memory_equal(p->buffer + p->head.headBytes, "hello world", 11);
}

/*
 * Every call gets a new buffer, so that a pointer kept too long is found.
 */
static void
PiecesGiveTheSameAsTheWhole(void **state)
{
    const size_t total = sizeof(browserRequest) - 1;

    for (size_t step = 1; step <= total;
         step = step < 8 ? step + 1 : step * 2) {
        Parsed p;
        size_t length = 0;

        ParseBytes(&p, "", 0, &usualLimits);
        assert_int_equal(p.status, NS_PARSE_MORE);
        while (length < total) {
            size_t next = MIN(length + step, total);
            char  *grown = malloc(next);

            memcpy(grown, p.buffer, length);
            memcpy(grown + length, browserRequest + length, next - length);
            memset(p.buffer, 'x', length);
            free(p.buffer);
            p.buffer = grown;
            length = next;
            if (p.status == NS_PARSE_MORE) {
                p.status = NsHttpParse(&p.parser, p.buffer, length);
                if (p.status != NS_PARSE_MORE) {
                    assert_true(length >= p.head.headBytes);
                    assert_true(length - p.head.headBytes < step);
                }
            } else {
                NsHttpHeadMove(&p.head, p.parser.buffer, p.buffer);
                p.parser.buffer = p.buffer;
            }
        }
        AssertBrowserRequest(&p);
        Done(&p);
    }
}

/*
 * 6. What follows.
 */

static void
PipelinedRequestStaysInTheBuffer(void **state)
{
    static const char one[] = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char two[] = "GET /2 HTTP/1.1\r\nHost: b\r\n\r\n";
    char              both[sizeof(one) + sizeof(two)];
    Parsed            p;

    snprintf(both, sizeof(both), "%s%s", one, two);
    Parse(&p, both);
    assert_int_equal(p.status, NS_PARSE_DONE);
    assert_int_equal(p.head.headBytes, sizeof(one) - 1);
    assert_memory_equal(p.buffer + p.head.headBytes, two, sizeof(two) - 1);
    Done(&p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(RequestLineIsSplit),
        cmocka_unit_test(MalformedRequestLineIsRefusedForAReason),
        cmocka_unit_test(EightBlankLinesAreSkippedANinthIsNot),
        cmocka_unit_test(BlankLinesDoNotBeginARequest),
        cmocka_unit_test(OldestVersionIsServedWhereItIsAllowed),
        cmocka_unit_test(LinesEndWithCrLfWhereOneIsStrict),
        cmocka_unit_test(FieldsKeepOrderCaseAndDuplicates),
        cmocka_unit_test(MalformedFieldIsRefusedForAReason),
        cmocka_unit_test(NullByteIsRefusedWhereverItStands),
        cmocka_unit_test(KnownFieldsAreFoundInAnyCase),
        cmocka_unit_test(BodyLengthIsJudged),
        cmocka_unit_test(ConnectionIsAListOfOptions),
        cmocka_unit_test(LongLinesAreRefused),
        cmocka_unit_test(HeadMayFillItsLimitButNotMore),
        cmocka_unit_test(FieldsUpToTheLimitAreKept),
        cmocka_unit_test(PiecesGiveTheSameAsTheWhole),
        cmocka_unit_test(PipelinedRequestStaysInTheBuffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
