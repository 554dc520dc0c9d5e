/* SPDX-License-Identifier: MPL-2.0
 * http_field_test.c --
 *
 *      Values of header fields.
 *
 *      1  dates                 4  cookies
 *      2  ranges                5  authorization
 *      3  negotiation           6  lines and parameters
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nsconn.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"

#include "http/auth.h"
#include "http/cookie.h"
#include "http/date.h"
#include "http/header.h"
#include "http/negotiate.h"
#include "http/precondition.h"
#include "http/range.h"
#include "http/status.h"
#include "http/token.h"

/*
 * 1. Dates.
 */

static void
DatesAreWrittenForEverySecond(void **state)
{
    static const struct {
        int64_t     seconds;
        const char *text;
    } cases[] = {
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
        {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
        {4102444799, "Thu, 31 Dec 2099 23:59:59 GMT"},
        {4107542400, "Mon, 01 Mar 2100 00:00:00 GMT"},
        {2147483648, "Tue, 19 Jan 2038 03:14:08 GMT"},
        {253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {-2208988800, "Mon, 01 Jan 1900 00:00:00 GMT"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char       text[NS_HTTP_DATE_LENGTH + 1];
        time_t     seconds = (time_t) cases[i].seconds, parsed = -1;
        Ns_DString ds;

        NsHttpDate(text, seconds);
        assert_string_equal(text, cases[i].text);
        Ns_DStringInit(&ds);
        assert_string_equal(Ns_HttpTime(&ds, &seconds), cases[i].text);
        Ns_DStringFree(&ds);
        assert_int_equal(NsHttpDateParse(text, &parsed), seconds >= 0);
        if (seconds >= 0) {
            assert_true(parsed == seconds);
        }
    }
}

static void
DatesAgreeWithTheLibrary(void **state)
{
    for (int64_t s = -5000000000; s < 20000000000; s += 86400 * 37 + 12345) {
        time_t    seconds = (time_t) s;
        struct tm tm;
        char      expected[64], text[NS_HTTP_DATE_LENGTH + 1];

        gmtime_r(&seconds, &tm);
        strftime(expected, sizeof(expected), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        NsHttpDate(text, seconds);
        assert_string_equal(text, expected);
    }
}

static void
ThreeFormsAreRead(void **state)
{
    static const struct {
        const char *text;
        int64_t     seconds; /* -1: refused. */
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Sun Nov  6 08:49:37 1994 GMT", 784111777},
        {"Sun Nov 06 08:49:37 1994", 784111777},
        {"Anyday, 06 nOV 1994 08:49:37 CET", 784111777},
        {" Sun, 6 Nov 1994 08:49:37", 784111777},
        {"Sun, 06 Nov 1994 08:49:37 GMT; length=10", 784111777},
        {"Thursday, 01-Jan-70 00:00:01 GMT", 1},
        {"x, 01-Jan-69 00:00:00 GMT", 3124224000},
        {"x, 01-Jan-1999 00:00:00 GMT", 915148800},
        {"x, 31 Feb 2021 00:00:00 GMT", 1614729600},
        {"x, 01 Jan 2030 00:00:00 GMT", 1893456000},
        {"", -1},
        {"x", -1},
        {"\"etag\"", -1},
        {"12345", -1},
        {"x, 06 Foo 1994 08:49:37 GMT", -1},
        {"x, 00 Nov 1994 08:49:37 GMT", -1},
        {"x, 32 Nov 1994 08:49:37 GMT", -1},
        {"x, 06 Nov 1994 24:49:37 GMT", -1},
        {"x, 06 Nov 1994 08:60:37 GMT", -1},
        {"x, 06 Nov 1994 08:49:60 GMT", -1},
        {"x, 06 Nov 1969 08:49:37 GMT", -1},
        {"x, 06 Nov 94 08:49:37 GMT", -1},
        {"x, 06-Nov-194 08:49:37 GMT", -1},
        {"x, 06 Nov 1994 08:49", -1},
        {"Sun Nov 6 08:49:37 19945", -1},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        time_t seconds = -1;
        bool   isDate = NsHttpDateParse(cases[i].text, &seconds);

        assert_int_equal(isDate, cases[i].seconds >= 0);
        assert_true(seconds == (time_t) cases[i].seconds);
        assert_true(Ns_ParseHttpTime(cases[i].text)
                    == (time_t) MAX(cases[i].seconds, 0));
    }
}

static void
NowIsWrittenOncePerSecond(void **state)
{
    time_t before = time(NULL) - 1, now;

    assert_true(NsHttpDateParse(NsHttpDateNow(), &now));
    assert_true(now >= before && now <= time(NULL));
    assert_ptr_equal(NsHttpDateNow(), NsHttpDateNow());
}

/*
 * 2. Ranges.
 */

static void
RangesAreCutAndNeighboursMerged(void **state)
{
    static const struct {
        const char *value;
        uint64_t    length;
        const char *expected; /* "200", "416", or the ranges. */
    } cases[] = {
        {"bytes=0-0", 10, "0-0"},
        {"bytes=0-9", 10, "0-9"},
        {"bytes=3-", 10, "3-9"},
        {"bytes=-3", 10, "7-9"},
        {"bytes=0-10", 10, "0-9"},
        {"bytes=-10", 10, "0-9"},
        {"bytes=-11", 10, "0-9"},
        {"bytes=9-9", 10, "9-9"},
        {"bytes=0-99999999999999999999999999", 10, "0-9"},
        {"bytes=-99999999999999999999999999", 10, "0-9"},
        {"bytes=0-2,", 10, "0-2"},
        {"xbytes=0-2", 10, "200"},
        {"bytes=0-2,3-6", 10, "0-6"},
        {"bytes=0-2,4-6", 10, "0-2 4-6"},
        {"bytes=2-8,1-6,4-9", 10, "200"},
        {"bytes=0-2,2-4", 10, "200"},
        {"bytes=3-4,0-1,2-2", 10, "3-4 0-2"},
        {"bytes=5-6,0-1", 10, "5-6 0-1"},
        {"bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,"
         "24-24,26-26,28-28,30-30",
         100,
         "0-0 2-2 4-4 6-6 8-8 10-10 12-12 14-14 16-16 18-18 20-20 22-22 24-24 "
         "26-26 28-28 30-30"},
        {"bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,"
         "24-24,26-26,28-28,30-30,32-32",
         100, "200"},
        {"bytes=10-", 10, "416"},
        {"bytes=10-11", 10, "416"},
        {"bytes=11-10", 10, "200"},
        {"bytes=-0", 10, "416"},
        {"bytes=0-", 0, "416"},
        {"bytes=-1", 0, "416"},
        {"bytes=0-1,10-", 10, "0-1"},
        {"bytes=99-,-0,3-4", 10, "3-4"},
        {"bytes=10-,11-12,-0", 10, "416"},
        {"bytes=99999999999999999999999999-", 10, "416"},
        {"bytes=3-2", 10, "200"},
        {"bytes=", 10, "200"},
        {"bytes=,0-1", 10, "200"},
        {"bytes=0-1,,2-3", 10, "200"},
        {"bytes=0 -1", 10, "200"},
        {"bytes=0-1 ,\t3-4", 10, "0-1 3-4"},
        {"bytes= 0-1", 10, "200"},
        {"bytes=a-b", 10, "200"},
        {"bytes=5", 10, "200"},
        {"bytes=--5", 10, "200"},
        {"bytes=-", 10, "200"},
        {"bytes=0-1x", 10, "200"},
        {"Bytes=0-1", 10, "0-1"},
        {"lines=0-1", 10, "200"},
        {"", 10, "200"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        NsRange       ranges[NS_MAX_RANGES];
        int           n;
        NsRangeStatus status;
        Ns_DString    ds;

        Ns_DStringInit(&ds);
        status = NsRangeParse(cases[i].value, cases[i].length, ranges, &n);
        if (status != NS_RANGE_SOME) {
            assert_int_equal(n, 0);
            Ns_DStringAppend(&ds, status == NS_RANGE_NONE ? "200" : "416");
        }
        for (int j = 0; j < n; j++) {
            Ns_DStringPrintf(&ds, "%s%" PRIu64 "-%" PRIu64, j > 0 ? " " : "",
                             ranges[j].first, ranges[j].last);
        }
        assert_string_equal(Ns_DStringValue(&ds), cases[i].expected);
        Ns_DStringFree(&ds);
    }
}

static void
MultipartRangesHaveTheLengthAnnounced(void **state)
{
    NsRange    ranges[NS_MAX_RANGES];
    int        n;
    Ns_DString ds;
    char       head[200], field[NS_CONTENT_RANGE_BYTES];

    assert_int_equal(NsRangeParse("bytes=0-2,7-9", 10, ranges, &n),
                     NS_RANGE_SOME);

    Ns_DStringInit(&ds);
    for (int i = 0; i < n; i++) {
        NsRangePartHead(head, sizeof(head), "*/*", &ranges[i], 10);
        Ns_DStringAppend(&ds, head);
        Ns_DStringNAppend(&ds, &"0123456789"[ranges[i].first],
                          (int) (ranges[i].last - ranges[i].first + 1));
        Ns_DStringAppend(&ds, NS_RANGE_PART_END);
    }
    Ns_DStringAppend(&ds, NS_RANGE_TAIL);
    assert_string_equal(
        Ns_DStringValue(&ds),
        "--NaviServerNaviServerNaviServer\r\nContent-type: */*\r\n"
        "Content-range: bytes 0-2/10\r\n\r\n012\r\n"
        "--NaviServerNaviServerNaviServer\r\nContent-type: */*\r\n"
        "Content-range: bytes 7-9/10\r\n\r\n789\r\n"
        "--NaviServerNaviServerNaviServer--\r\n");
    Ns_DStringFree(&ds);

    assert_int_equal(NsRangeContentRange(field, &ranges[1], 10), 12);
    assert_string_equal(field, "bytes 7-9/10");
}

/*
 * Conditions.
 */

#define OLD  "Sun, 06 Nov 1994 08:49:36 GMT"
#define SAME "Sun, 06 Nov 1994 08:49:37 GMT"
#define NEW  "Sun, 06 Nov 1994 08:49:38 GMT"

static const NsValidators validators = {"\"tag\"", 784111777};

static void
IfRangeWantsTheTagOrTheDateOfTheFile(void **state)
{
    assert_true(NsJudgeIfRange(NULL, &validators));
    assert_true(NsJudgeIfRange(SAME, &validators));
    assert_false(NsJudgeIfRange(NEW, &validators));
    assert_false(NsJudgeIfRange(OLD, &validators));
    assert_true(NsJudgeIfRange("\"tag\"", &validators));
    assert_false(NsJudgeIfRange("W/\"tag\"", &validators));
    assert_false(NsJudgeIfRange("\"other\"", &validators));
    assert_false(NsJudgeIfRange("\"other\", \"tag\"", &validators));
    assert_false(NsJudgeIfRange("*", &validators));
    assert_false(NsJudgeIfRange("", &validators));
    assert_false(NsJudgeIfRange(SAME, &(NsValidators){NULL, 0}));
    assert_false(NsJudgeIfRange("\"tag\"", &(NsValidators){NULL, 784111777}));
}

static void
ConditionsAreJudgedInOrder(void **state)
{
    static const struct {
        const char *match, *noneMatch, *since, *unmodified;
        int         get, put;
    } cases[] = {
        {NULL, NULL, NULL, NULL, 0, 0},
        {"\"tag\"", NULL, NULL, NULL, 0, 0},
        {"*", NULL, NULL, NULL, 0, 0},
        {"\"a\" , \"tag\"", NULL, NULL, NULL, 0, 0},
        {"\"zz\"", NULL, NULL, NULL, 412, 412},
        {"W/\"tag\"", NULL, NULL, NULL, 412, 412},
        {"tag", NULL, NULL, NULL, 412, 412},
        {"\"tag", NULL, NULL, NULL, 412, 412},
        {"", NULL, NULL, NULL, 412, 412},
        {"\"tag\"", NULL, NULL, OLD, 0, 0},
        {NULL, NULL, NULL, OLD, 412, 412},
        {NULL, NULL, NULL, SAME, 0, 0},
        {NULL, NULL, NULL, "nonsense", 0, 0},
        {NULL, "\"tag\"", NULL, NULL, 304, 412},
        {NULL, "W/\"tag\"", NULL, NULL, 304, 412},
        {NULL, "\"a\", W/\"b\",\"tag\"", NULL, NULL, 304, 412},
        {NULL, "*", NULL, NULL, 304, 412},
        {NULL, "\"zz\"", NULL, NULL, 0, 0},
        {NULL, "\"zz\"", NEW, NULL, 0, 0},
        {NULL, "\"tag\"", OLD, NULL, 304, 412},
        {NULL, NULL, SAME, NULL, 304, 0},
        {NULL, NULL, NEW, NULL, 304, 0},
        {NULL, NULL, OLD, NULL, 0, 0},
        {NULL, NULL, "nonsense", NULL, 0, 0},
        {"\"zz\"", "\"tag\"", NULL, NULL, 412, 412},
        {"\"tag\"", "\"tag\"", NULL, NULL, 304, 412},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        NsConditions conditions = {cases[i].match, cases[i].noneMatch,
                                   cases[i].since, cases[i].unmodified};

        assert_int_equal(NsJudgeConditions(&conditions, &validators, true),
                         cases[i].get);
        assert_int_equal(NsJudgeConditions(&conditions, &validators, false),
                         cases[i].put);
    }
}

/*
 * 3. Negotiation.
 */

static void
GzipIsAcceptedByQuality(void **state)
{
    static const struct {
        const char *value;
        bool        isAccepted;
    } cases[] = {
        {NULL, false},
        {"", false},
        {"gzip", true},
        {"deflate, gzip", true},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"gzip;q=0.0000", false},
        {"gzip;q=0.001", true},
        {"gzip ; q = 0.5", true},
        {"gzip;a=b;q=0", false},
        {"gzip;a=\"b;q=1\";q=0", false},
        {"gzip;q=0;a=b", false},
        {"gzip;a;b=1", true},
        {"gzip;q=x", true},
        {"gzip;q=0.5x", true},
        {"gzip;q=1.0, identity;q=1", true},
        {"gzip;q=0.5, identity", false},
        {"gzip;q=0.5, identity;q=0.5", true},
        {"gzip;q=0.5, identity;q=0.6", false},
        {"gzip;q=0.5, *", false},
        {"gzip;q=0.5, *;q=0.5", true},
        {"gzip;q=0.5, identity;q=0.4, *;q=1", true},
        {"*", true},
        {"*;q=0", false},
        {"*;q=0.5, identity", false},
        {"*;q=0.5, identity;q=0.5", true},
        {"identity", false},
        {"GZIP", true},
        {"Gzip;Q=0", false},
        {"x-gzip", false},
        {"gzipx", false},
        {"br;q=1, gzip;q=0.8", true},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_int_equal(NsAcceptsGzip(cases[i].value), cases[i].isAccepted);
    }
    assert_true(NsAcceptsCoding("gzip, br", "br"));
    assert_false(NsAcceptsCoding("gzip, br;q=0", "br"));
    assert_false(NsAcceptsCoding("*", "br"));
    assert_false(NsAcceptsCoding(NULL, "br"));

    assert_true(NsAcceptsBrotli("gzip, BR;q=0.1"));
    assert_true(NsAcceptsBrotli("br;q=0.5, identity;q=0.5"));
    assert_false(NsAcceptsBrotli("br;q=0.4, identity;q=0.5"));
    assert_false(NsAcceptsBrotli("br;q=0, gzip"));
    assert_false(NsAcceptsBrotli("*"));
    assert_false(NsAcceptsBrotli(""));
    assert_false(NsAcceptsBrotli(NULL));
    assert_true(NsPrefersBrotli("gzip, deflate, br"));
    assert_true(NsPrefersBrotli("gzip;q=0.5, br;q=0.5"));
    assert_false(NsPrefersBrotli("gzip;q=0.5, br;q=0.4"));
    assert_false(NsPrefersBrotli("br;q=0.5, *"));
    assert_false(NsPrefersBrotli("gzip"));

    assert_true(NsListHas("Cookie, accept", "Accept"));
    assert_false(NsListHas("Accept-Encoding", "Accept"));
    assert_false(NsListHas("", "Accept"));
}

/*
 * 4. Cookies.
 */

static void
CookiesAreFoundByWholeName(void **state)
{
    static const struct {
        const char *header, *value; /* Of cookie x; NULL: none. */
    } cases[] = {
        {"x=1", "1"},
        {"ax=1; x=2", "2"},
        {"x=\"a b\"", "a b"},
        {"xy=1; x=2; x=3", "2"},
        {"x", NULL},
        {"x; x=1", "1"},
        {"", NULL},
        {"y=x=1", NULL},
        {"y=1;x=2", "2"},
        {"x=", ""},
        {" x = 1 ; y=2", "1 "},
        {"X=1", NULL},
        {"y=\"; x=1\"; x=2", "2"},
        {"y=\"; x=1", "1"},
        {"x=%c3%a4%20b+c%3b", "\303\244 b+c;"},
        {"x=\"\"", ""},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        const char *value;
        size_t      length;
        bool isFound = NsCookieFind(cases[i].header, "x", &value, &length);

        assert_int_equal(isFound, cases[i].value != NULL);
        if (isFound) {
            Ns_DString ds;

            Ns_DStringInit(&ds);
            NsCookieDecode(&ds, value, length);
            assert_string_equal(Ns_DStringValue(&ds), cases[i].value);
            Ns_DStringFree(&ds);
        }
    }
}

static void
AssertCookie(const NsCookie *cookiePtr, const char *expected)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsCookieAppend(&ds, cookiePtr);
    assert_string_equal(Ns_DStringValue(&ds), expected);
    Ns_DStringFree(&ds);
}

static void
AttributesOfCookiesComeInOrder(void **state)
{
    AssertCookie(&(NsCookie){.name = "a"}, "a=\"\"; HttpOnly; SameSite=Lax");
    AssertCookie(&(NsCookie){.name = "a",
                             .data = "b c=+;,\"\\%\r\n\303\244~",
                             .isScriptable = true},
                 "a=\"b%20c=+%3b%2c%22%5c%25%0d%0a%c3%a4~\"; SameSite=Lax");
    AssertCookie(
        &(NsCookie){.name = "a",
                    .data = "b",
                    .domain = "d",
                    .path = "/p",
                    .life = NS_COOKIE_MAX_AGE,
                    .maxAge = 60,
                    .isSecure = true,
                    .isDiscarded = true,
                    .sameSite = "None"},
        "a=\"b\"; Max-Age=60; Domain=d; Path=/p; Secure; Discard; HttpOnly;"
        " SameSite=None");
    AssertCookie(&(NsCookie){.name = "a", .life = NS_COOKIE_NEVER_ENDS},
                 "a=\"\"; Expires=Fri, 01-Jan-2035 01:00:00 GMT; HttpOnly;"
                 " SameSite=Lax");
    AssertCookie(&(NsCookie){.name = "a", .life = NS_COOKIE_DELETED},
                 "a=\"\"; Expires=Fri, 01-Jan-1980 01:00:00 GMT; HttpOnly;"
                 " SameSite=Lax");
}

static void
ACookieIsReplacedByOneOfTheSameNameDomainAndPath(void **state)
{
    static const struct {
        const char *field;
        NsCookie    cookie;
        bool        isSame;
    } cases[] = {
        {"a=\"b\"; HttpOnly", {.name = "a"}, true},
        {"a=b", {.name = "a", .domain = "", .path = ""}, true},
        {"ab=\"b\"", {.name = "a"}, false},
        {"A=\"b\"", {.name = "a"}, false},
        {"a=\"b\"; Path=/", {.name = "a"}, false},
        {"a=\"b\"; path=/x; Domain=D",
         {.name = "a", .domain = "d", .path = "/x"},
         true},
        {"a=\"b\"; Path=/x", {.name = "a", .path = "/X"}, false},
        {"a=\"b\"; Path=/x", {.name = "a", .path = "/"}, false},
        {"a=\"; Path=/x\"", {.name = "a"}, true},
        {"a=\"b\"; Domain=d", {.name = "a", .path = "/"}, false},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_int_equal(NsCookieIsSame(cases[i].field, &cases[i].cookie),
                         cases[i].isSame);
    }
}

/*
 * 5. Authorization.
 */

static void
AssertAuth(const char *value, const char *expected)
{
    Ns_Set    *setPtr = Ns_SetCreate(NULL);
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsAuthParse(value, setPtr);
    for (int i = 0; i < Ns_SetSize(setPtr); i++) {
        Ns_DStringPrintf(&ds, "%s%s=%s", i > 0 ? "|" : "", Ns_SetKey(setPtr, i),
                         Ns_SetValue(setPtr, i));
    }
    assert_string_equal(Ns_DStringValue(&ds), expected);
    Ns_DStringFree(&ds);
    Ns_SetFree(setPtr);
}

static void
CredentialsAreTakenApart(void **state)
{
    /* user:pa:ss, user, and nothing */
    AssertAuth("Basic dXNlcjpwYTpzcw==",
               "AuthMethod=Basic|Password=pa:ss|Username=user");
    AssertAuth("basic  dXNlcg==", "AuthMethod=Basic|Username=user");
    /* The same name as UTF-8 and as Latin-1. */
    AssertAuth("Basic w6Q6eA==",
               "AuthMethod=Basic|Password=x|Username=\303\244");
    AssertAuth("Basic 5Dp4", "AuthMethod=Basic|Password=x|Username=\303\244");
    AssertAuth("Basic ", "AuthMethod=Basic|Username=");
    AssertAuth("Basic", "");
    AssertAuth("Bearer abc", "");
    AssertAuth("", "");
    AssertAuth(
        "Digest username=\"a \\\"b\\\"\", realm=r,nc=00000001 , uri=\"/x,y\"",
        "AuthMethod=Digest|username=a \"b\"|realm=r|nc=00000001|uri=/x,y");
    AssertAuth("Digest broken, a=\"open", "AuthMethod=Digest|a=open");
}

/*
 * 6. Lines and parameters.
 */

static void
HeaderLinesFillASet(void **state)
{
    Ns_Set *setPtr = Ns_SetCreate(NULL);

    assert_int_equal(Ns_ParseHeader(setPtr, " x", Preserve), NS_ERROR);
    assert_int_equal(Ns_ParseHeader(setPtr, "none", Preserve), NS_ERROR);
    assert_int_equal(Ns_ParseHeader(setPtr, "Ab-C:  v ", Preserve), NS_OK);
    assert_int_equal(Ns_ParseHeader(setPtr, "\t w", Preserve), NS_OK);
    assert_int_equal(Ns_ParseHeader(setPtr, "  ", Preserve), NS_OK);
    assert_int_equal(Ns_ParseHeader(setPtr, "Ab-C:", ToLower), NS_OK);
    assert_int_equal(Ns_ParseHeader(setPtr, "Ab-C:x:y", ToUpper), NS_OK);
    assert_string_equal(Ns_SetKey(setPtr, 0), "Ab-C");
    assert_string_equal(Ns_SetValue(setPtr, 0), "v  w");
    assert_string_equal(Ns_SetKey(setPtr, 1), "ab-c");
    assert_string_equal(Ns_SetValue(setPtr, 1), "");
    assert_string_equal(Ns_SetKey(setPtr, 2), "AB-C");
    assert_string_equal(Ns_SetValue(setPtr, 2), "x:y");
    Ns_SetFree(setPtr);
}

static void
NoValueEndsItsLine(void **state)
{
    static const char        expected[] = "Location: /a  Set-Cookie: x  \tb\r\n"
                                          "Name: \303\244\r\n"
                                          "Nul: a  b\r\n";
    static const char *const names[] = {
        "",
        "Content-Length ",
        "Content-Length\t",
        "X: y",
        "X:",
        "X Y",
        "\303\204",
        "(x)"};
    char fields[sizeof(expected)], *end;
    bool isClean = true;

    end = NsHeaderWrite(fields, "Location", 8, "/a\r\nSet-Cookie: x\n\177\tb",
                        21, &isClean);
    assert_false(isClean);
    isClean = true;
    assert_ptr_equal(NsHeaderWrite(end, "N\r\name", 6, "x", 1, &isClean), end);
    assert_false(isClean);
    for (int i = 0; i < Ns_NrElements(names); i++) {
        isClean = true;
        assert_ptr_equal(NsHeaderWrite(end, names[i], strlen(names[i]), "x", 1,
                                       &isClean),
                         end);
        assert_false(isClean);
    }
    isClean = true;
    end = NsHeaderWrite(end, "Name", 4, "\303\244", 2, &isClean);
    assert_true(isClean);
    end = NsHeaderWrite(end, "Nul", 3, "a\300\200b", 4, &isClean);
    assert_false(isClean);
    assert_int_equal(end - fields, sizeof(expected) - 1);
    assert_memory_equal(fields, expected, sizeof(expected) - 1);
}

/*
 * So are names, most of which are letters and hyphens.
 */
static void
EachByteOfANameIsLookedAt(void **state)
{
    for (size_t length = 1; length < 30; length++) {
        for (size_t at = 0; at < length; at++) {
            for (int c = 0; c < 256; c++) {
                char name[30], field[40], *end;
                bool isClean = true;

                memset(name, at % 2 == 0 ? 'Z' : '-', length);
                name[at] = (char) c;
                end = NsHeaderWrite(field, name, length, "x", 1, &isClean);
                assert_int_equal(isClean, NsIsTokenChar((char) c));
                assert_int_equal(end - field, isClean ? length + 5 : 0);
                if (isClean) {
                    assert_memory_equal(field, name, length);
                }
            }
        }
    }
}

/*
 * Values are copied eight bytes at a time.
 */
static void
EachByteOfAValueIsLookedAt(void **state)
{
    for (size_t length = 1; length < 30; length++) {
        for (size_t at = 0; at < length; at++) {
            for (int c = 0; c < 256; c++) {
                char from[30], to[31], expected[30];
                bool isControl = (c < ' ' && c != '\t') || c == 0x7F;

                memset(from, 'x', length);
                from[at] = (char) c;
                memcpy(expected, from, length);
                if (isControl) {
                    expected[at] = ' ';
                }
                to[length] = '!';
                assert_int_equal(NsHeaderCopyValue(to, from, length),
                                 !isControl);
                assert_memory_equal(to, expected, length);
                assert_int_equal(to[length], '!');
            }
        }
    }
}

static void
ParametersAreFound(void **state)
{
    static const struct {
        const char *value, *charset; /* NULL: none. */
    } cases[] = {
        {"text/html; charset=utf-8", "utf-8"},
        {"text/html;Charset = utf-8 ; x=y", "utf-8"},
        {"text/html; charset=\"a b\"; x", "a b"},
        {"text/html; x=\"; charset=no\"; charset=yes", "yes"},
        {"text/html; charset=\"open", "open"},
        {"text/html; charset=", ""},
        {"text/html", NULL},
        {"text/html; charsets=x", NULL},
        {"", NULL},
        {"text/html; charset", NULL},
        {"text/html; x=charset=y", NULL},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        const char *start;
        size_t      length;
        bool isFound = NsFieldParameter(cases[i].value, "charset", &start,
                                        &length);

        assert_int_equal(isFound, cases[i].charset != NULL);
        if (isFound) {
            assert_int_equal(length, strlen(cases[i].charset));
            assert_memory_equal(start, cases[i].charset, length);
        }
    }
}

static void
EveryStatusHasAReason(void **state)
{
    assert_string_equal(NsStatusReason(200), "OK");
    assert_string_equal(NsStatusReason(100), "Continue");
    assert_string_equal(NsStatusReason(301), "Moved Permanently");
    assert_string_equal(NsStatusReason(431), "Request Header Fields Too Large");
    assert_string_equal(NsStatusReason(511), "Network Authentication Required");
    assert_string_equal(NsStatusReason(299), "Unknown Reason");
    assert_string_equal(NsStatusReason(99), "Unknown Reason");
    assert_string_equal(NsStatusReason(512), "Unknown Reason");
    assert_string_equal(NsStatusReason(-1), "Unknown Reason");
}

int
main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(DatesAreWrittenForEverySecond),
        cmocka_unit_test(DatesAgreeWithTheLibrary),
        cmocka_unit_test(ThreeFormsAreRead),
        cmocka_unit_test(NowIsWrittenOncePerSecond),
        cmocka_unit_test(RangesAreCutAndNeighboursMerged),
        cmocka_unit_test(MultipartRangesHaveTheLengthAnnounced),
        cmocka_unit_test(IfRangeWantsTheTagOrTheDateOfTheFile),
        cmocka_unit_test(ConditionsAreJudgedInOrder),
        cmocka_unit_test(GzipIsAcceptedByQuality),
        cmocka_unit_test(CookiesAreFoundByWholeName),
        cmocka_unit_test(AttributesOfCookiesComeInOrder),
        cmocka_unit_test(ACookieIsReplacedByOneOfTheSameNameDomainAndPath),
        cmocka_unit_test(CredentialsAreTakenApart),
        cmocka_unit_test(HeaderLinesFillASet),
        cmocka_unit_test(NoValueEndsItsLine),
        cmocka_unit_test(EachByteOfAValueIsLookedAt),
        cmocka_unit_test(EachByteOfANameIsLookedAt),
        cmocka_unit_test(ParametersAreFound),
        cmocka_unit_test(EveryStatusHasAReason),
    };

    Tcl_FindExecutable(argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
