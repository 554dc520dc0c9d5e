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
        const char *line, *trimmed, *method, *target;
        double      version;
        bool        hasVersion;
    } cases[] = {
        {"GET / HTTP/1.1\r\n", "GET / HTTP/1.1", "GET", "/", 1.1, true},
        {"GET / HTTP/1.0\n", "GET / HTTP/1.0", "GET", "/", 1.0, true},
        {" \tGET  /a \t HTTP/1.1 \r\n", "GET  /a \t HTTP/1.1", "GET", "/a", 1.1,
         true},
        {"GET /a b HTTP/1.0\r\n", "GET /a b HTTP/1.0", "GET", "/a b", 1.0,
         true},
        {"GET /?q=a HTTP/1.1 HTTP/1.1\n", "GET /?q=a HTTP/1.1 HTTP/1.1", "GET",
         "/?q=a HTTP/1.1", 1.1, true},
        {"get dump\r\n", "get dump", "get", "dump", 0.0, false},
        {"GET /a http/1.1\r\n", "GET /a http/1.1", "GET", "/a http/1.1", 0.0,
         false},
        {"GET /a HTTP/1.1x\r\n", "GET /a HTTP/1.1x", "GET", "/a HTTP/1.1x", 0.0,
         false},
        {"GET /a HTTP/\r\n", "GET /a HTTP/", "GET", "/a", 0.0, false},
        {"GET /a HTTP/.\r\n", "GET /a HTTP/.", "GET", "/a", 0.0, false},
        {"GET /aHTTP/1.1\r\n", "GET /aHTTP/1.1", "GET", "/aHTTP/1.1", 0.0,
         false},
        {"GET /a HTTP/1\r\n", "GET /a HTTP/1", "GET", "/a", 1.0, true},
        {"GET /a HTTP/0.8\r\n", "GET /a HTTP/0.8", "GET", "/a", 0.8, true},
        {"GET /a HTTP/2.0\r\n", "GET /a HTTP/2.0", "GET", "/a", 2.0, true},
        {"GET /a HTTP/11\r\n", "GET /a HTTP/11", "GET", "/a", 11.0, true},
        {"M\303\204X /\303\244 HTTP/1.1\r\n", "M\303\204X /\303\244 HTTP/1.1",
         "M\303\204X", "/\303\244", 1.1, true},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;

        Parse(&p, cases[i].line);
        assert_int_equal(p.status,
                         cases[i].hasVersion ? NS_PARSE_MORE : NS_PARSE_DONE);
        assert_string_equal(p.head.line, cases[i].trimmed);
        assert_int_equal(p.head.lineLength, strlen(cases[i].trimmed));
        AssertPart(p.head.method, p.head.methodLength, cases[i].method);
        AssertPart(p.head.target, p.head.targetLength, cases[i].target);
        assert_true(p.head.sentVersion == cases[i].version);
        assert_int_equal(p.head.version,
                         cases[i].version < 1.0        ? NS_HTTP_0_9
                             : cases[i].version == 1.0 ? NS_HTTP_1_0
                                                       : NS_HTTP_1_1);
        Done(&p);
    }
}

static void
RequestLineWithoutUrlIsRefused(void **state)
{
    static const char *const lines[] = {
        "GET\r\n",          "bogus\n",
        "GET HTTP/1.1\r\n", "GET \t HTTP/1.1\r\n",
        "HTTP/1.1\r\n",     "GET HTTP/\r\n"};

    for (int i = 0; i < Ns_NrElements(lines); i++) {
        Parsed      p;
        size_t      length;
        const char *reply;

        Parse(&p, lines[i]);
        assert_int_equal(p.status, NS_PARSE_NO_URL);
        reply = NsParseBareReply(p.status, &length);
        assert_string_equal(reply, "HTTP/1.0 400 Bad Request\r\n\r\n");
        assert_int_equal(length, strlen(reply));
        Done(&p);
    }
}

static void
TwoBlankLinesAreSkippedAThirdIsNot(void **state)
{
    Parsed p;
    size_t length;

    Parse(&p, "\r\n\nGET / HTTP/1.1\r\n\r\n");
    assert_int_equal(p.status, NS_PARSE_DONE);
    AssertPart(p.head.target, p.head.targetLength, "/");
    Done(&p);

    Parse(&p, "\r\n \t\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    assert_int_equal(p.status, NS_PARSE_BLANK_LINES);
    assert_string_equal(NsParseBareReply(p.status, &length), "");
    assert_int_equal(length, 0);
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
WithoutVersionNothingMoreIsRead(void **state)
{
    Parsed p;

    Parse(&p, "GET /a\r\nHost: x\r\n\r\n");
    assert_int_equal(p.status, NS_PARSE_DONE);
    assert_int_equal(p.head.nFields, 0);
    assert_int_equal(p.head.headBytes, 8);
    Done(&p);
}

/*
 * 2. Header fields.
 */

static void
FieldsKeepOrderCaseAndDuplicates(void **state)
{
    Parsed p;

    Parse(&p,
          "GET / HTTP/1.1\r\nHost: a\r\nX-a:1\r\nx-A: \t2 \r\n: empty\r\n"
          "Odd Name : v\r\nNone:\r\n\r\n");
    assert_int_equal(p.status, NS_PARSE_DONE);
    assert_int_equal(p.head.nFields, 6);
    assert_string_equal(p.head.fields[1].name, "X-a");
    assert_string_equal(p.head.fields[1].value, "1");
    assert_string_equal(p.head.fields[2].name, "x-A");
    assert_string_equal(p.head.fields[2].value, "2 ");
    assert_int_equal(p.head.fields[2].valueLength, 2);
    assert_string_equal(p.head.fields[3].name, "");
    assert_string_equal(p.head.fields[4].name, "Odd Name ");
    assert_string_equal(p.head.fields[5].value, "");
    assert_string_equal(NsHttpFind(&p.head, "X-A"), "1");
    assert_null(NsHttpFind(&p.head, "X-B"));
    Done(&p);
}

static void
ContinuationJoinsWithOneBlank(void **state)
{
    Parsed p;

    Parse(&p,
          "GET / HTTP/1.1\r\nA: one\r\n \t two\r\n  \r\n\tthree\r\n"
          "B: x\n y\n\n");
    assert_int_equal(p.status, NS_PARSE_DONE);
    assert_int_equal(p.head.nFields, 2);
    assert_string_equal(p.head.fields[0].value, "one two three");
    assert_int_equal(p.head.fields[0].valueLength, 13);
    assert_string_equal(p.head.fields[1].value, "x y");
    Done(&p);
}

static void
LineWithoutColonIsRefused(void **state)
{
    Parsed p;

    Parse(&p, "GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n");
    assert_int_equal(p.status, NS_PARSE_BAD_FIELD);
    assert_int_equal(NsParseReplyStatus(p.status), 400);
    Done(&p);
    Parse(&p, "GET / HTTP/1.1\r\n Host: a\r\n\r\n");
    assert_int_equal(p.status, NS_PARSE_BAD_FIELD);
    Done(&p);
}

static void
KnownFieldsAreFoundInAnyCase(void **state)
{
    static const struct {
        const char      *name;
        NsHttpKnownField known;
    } cases[] = {
        {"hOst", NS_FIELD_HOST},
        {"CONNECTION", NS_FIELD_CONNECTION},
        {"Content-Type", NS_FIELD_CONTENT_TYPE},
        {"X-Expected-Entity-Length", NS_FIELD_EXPECTED_ENTITY_LENGTH},
        {"Expect", NS_FIELD_EXPECT},
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
                 "GET / HTTP/1.1\r\nA: b\r\n%s: first\r\n%s: second\r\n\r\n",
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

#define REFUSED NS_PARSE_BAD_LENGTH, -1, false, false
#define UNKNOWN NS_PARSE_BAD_CODING, -1, false, false

static void
BodyLengthIsJudged(void **state)
{
    static const struct {
        const char   *fields;
        NsParseStatus status;
        int64_t       contentLength;
        bool          isChunked, isUnclear;
    } cases[] = {
        {"", NS_PARSE_DONE, -1, false, false},
        {"Content-Length: 0\r\n", NS_PARSE_DONE, 0, false, false},
        {"Content-Length: 5 \r\n", NS_PARSE_DONE, 5, false, false},
        {"Content-Length: 9223372036854775807\r\n", NS_PARSE_DONE, INT64_MAX,
         false, false},
        {"Content-Length: 9223372036854775808\r\n", REFUSED},
        {"Content-Length: 99999999999999999999999\r\n", REFUSED},
        {"Content-Length: -1\r\n", REFUSED},
        {"Content-Length: +4\r\n", REFUSED},
        {"Content-Length: 0x4\r\n", REFUSED},
        {"Content-Length:\r\n", REFUSED},
        {"Content-Length: 4x\r\n", REFUSED},
        {"Content-Length: 4\r\n 2\r\n", REFUSED},
        {"Content-Length: 4\r\nX: y\r\ncontent-length: 4\r\n", NS_PARSE_DONE, 4,
         false, false},
        {"Content-Length: 4\r\nContent-Length: 5\r\n", REFUSED},
        {"Content-Length: 4\r\nContent-Length: x\r\n", REFUSED},
        {"Content-Length : 4\r\n", NS_PARSE_DONE, -1, false, true},
        {"Transfer-Encoding: chunked\r\n", NS_PARSE_DONE, -1, true, false},
        {"Transfer-Encoding: Chunked\r\n", NS_PARSE_DONE, -1, true, false},
        {"Transfer-Encoding: CHUNKED \r\n", NS_PARSE_DONE, -1, true, false},
        {"Transfer-Encoding: gzip, chunked\r\n", UNKNOWN},
        {"Transfer-Encoding: chunked, chunked\r\n", UNKNOWN},
        {"Transfer-Encoding: identity\r\n", UNKNOWN},
        {"Transfer-Encoding:\r\n", UNKNOWN},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", UNKNOWN},
        {"Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", UNKNOWN},
        {"Transfer-Encoding: gzip\r\nContent-Length: 4\r\n", REFUSED},
        {"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", REFUSED},
        {"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", REFUSED},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;
        char   text[400];

        snprintf(text, sizeof(text), "POST / HTTP/1.1\r\nHost: a\r\n%s\r\n",
                 cases[i].fields);
        Parse(&p, text);
        assert_int_equal(p.status, cases[i].status);
        if (p.status == NS_PARSE_DONE) {
            assert_true(p.head.contentLength == cases[i].contentLength);
            assert_int_equal(p.head.isChunked, cases[i].isChunked);
            assert_int_equal(p.head.isLengthUnclear, cases[i].isUnclear);
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

static void
LongLinesAreFlaggedNotRefused(void **state)
{
    static const NsParseLimits limits = {
        .maxLineBytes = 16, .maxHeadBytes = 1000, .maxFields = 8};
    static const struct {
        const char *text;
        bool        isLineTooLong, isFieldTooLong;
    } cases[] = {
        {"GET /5 HTTP/1.1\r\n\r\n", false, false},
        {"GET /56 HTTP/1.1\n\n", false, false},
        {"GET /56 HTTP/1.1\r\n\r\n", true, false},
        {"GET /5 HTTP/1.1\r\nA: 345678901234\r\n\r\n", false, false},
        {"GET /5 HTTP/1.1\r\nA: 3456789012345\r\n\r\n", false, true},
        {"GET /5 HTTP/1.1\r\nA: 3\r\n 234567890123456\r\n\r\n", false, true},
        {"GET /567 HTTP/1.1\r\nA: 3456789012345\r\n\r\n", true, true},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Parsed p;

        ParseBytes(&p, cases[i].text, strlen(cases[i].text), &limits);
        assert_int_equal(p.status, NS_PARSE_DONE);
        assert_int_equal(p.head.isLineTooLong, cases[i].isLineTooLong);
        assert_int_equal(p.head.isFieldTooLong, cases[i].isFieldTooLong);
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
    assert_int_equal(p.status, NS_PARSE_HEAD_TOO_LARGE);
    Done(&p);
    ParseBytes(&p, "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 36, &limits);
    assert_int_equal(p.status, NS_PARSE_HEAD_TOO_LARGE);
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
        Ns_DStringAppend(&text, "GET / HTTP/1.1\r\n");
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
            size_t length;

            assert_int_equal(p.status, NS_PARSE_TOO_MANY_FIELDS);
            assert_string_equal(NsParseBareReply(p.status, &length),
                                "HTTP/1.0 414 URI Too Long\r\n\r\n");
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
    "X-Folded: one\r\n"
    "   two\r\n"
    "\t\r\n"
    "\tthree\r\n"
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
    assert_string_equal(NsHttpFind(&p->head, "x-folded"), "one two three");
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
        cmocka_unit_test(RequestLineWithoutUrlIsRefused),
        cmocka_unit_test(TwoBlankLinesAreSkippedAThirdIsNot),
        cmocka_unit_test(BlankLinesDoNotBeginARequest),
        cmocka_unit_test(WithoutVersionNothingMoreIsRead),
        cmocka_unit_test(FieldsKeepOrderCaseAndDuplicates),
        cmocka_unit_test(ContinuationJoinsWithOneBlank),
        cmocka_unit_test(LineWithoutColonIsRefused),
        cmocka_unit_test(KnownFieldsAreFoundInAnyCase),
        cmocka_unit_test(BodyLengthIsJudged),
        cmocka_unit_test(ConnectionIsAListOfOptions),
        cmocka_unit_test(LongLinesAreFlaggedNotRefused),
        cmocka_unit_test(HeadMayFillItsLimitButNotMore),
        cmocka_unit_test(FieldsUpToTheLimitAreKept),
        cmocka_unit_test(PiecesGiveTheSameAsTheWhole),
        cmocka_unit_test(PipelinedRequestStaysInTheBuffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
