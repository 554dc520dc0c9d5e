/* SPDX-License-Identifier: MPL-2.0
 * http_url_test.c --
 *
 *      URLs: coding, paths, requests, absolute and relative ones.
 *
 *      1  percent coding        3  Ns_Request
 *      2  paths                 4  URLs taken apart and resolved
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nsconn.h"
#include "nshttp.h"
#include "nsstring.h"
#include "nsthread.h"

#include "http/location.h"
#include "http/parse.h"
#include "http/request_line.h"
#include "http/url.h"
#include "http/urlpath.h"

/*
 * 1. Percent coding.
 */

static void
TextIsCodedByPart(void **state)
{
    static const struct {
        const char *text, *path, *query;
    } cases[] = {
        {"", "", ""},
        {"aZ09", "aZ09", "aZ09"},
        {"!'()*-._~", "!'()*-._~", "!'()*-._~"},
        {"$&+,:@", "$&+,:@", "%24%26%2b%2c%3a%40"},
        {"a b", "a%20b", "a+b"},
        {"/?#%=;", "%2f%3f%23%25%3d%3b", "%2f%3f%23%25%3d%3b"},
        {"\303\244\342\202\254", "%c3%a4%e2%82%ac", "%c3%a4%e2%82%ac"},
        {"\r\n\177", "%0d%0a%7f", "%0d%0a%7f"},
        {"a\300\200b", "a%00b", "a%00b"},
    };
    Ns_DString ds;

    Ns_DStringInit(&ds);
    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_DStringSetLength(&ds, 0);
        assert_string_equal(Ns_UrlPathEncode(&ds, cases[i].text, NULL),
                            cases[i].path);
        Ns_DStringSetLength(&ds, 0);
        assert_string_equal(Ns_UrlPathDecode(&ds, cases[i].path, NULL),
                            cases[i].text);
        Ns_DStringSetLength(&ds, 0);
        assert_string_equal(Ns_UrlQueryEncode(&ds, cases[i].text, NULL),
                            cases[i].query);
        Ns_DStringSetLength(&ds, 0);
        assert_string_equal(Ns_UrlQueryDecode(&ds, cases[i].query, NULL),
                            cases[i].text);
    }
    Ns_DStringFree(&ds);
}

static void
OddEscapesAreKept(void **state)
{
    static const struct {
        const char *coded, *path, *query;
    } cases[] = {
        {"a+b", "a+b", "a b"},
        {"%C3%A4", "\303\244", "\303\244"},
        {"%", "%", "%"},
        {"%4", "%4", "%4"},
        {"%4g", "%4g", "%4g"},
        {"%%41", "%A", "%A"},
        {"%g1%41", "%g1A", "%g1A"},
        /* Not UTF-8: Latin-1. */
        {"%e4", "\303\244", "\303\244"},
        {"%80%ff", "\302\200\303\277", "\302\200\303\277"},
        /* Overlong forms never become ASCII. */
        {"%c0%ae", "\303\200\302\256", "\303\200\302\256"},
        {"%e0%80%af", "\303\240\302\200\302\257", "\303\240\302\200\302\257"},
        /* Surrogates are not characters. */
        {"%ed%a0%80", "\303\255\302\240\302\200", "\303\255\302\240\302\200"},
        {"%f0%9f%98%80", "\360\237\230\200", "\360\237\230\200"},
    };
    Ns_DString ds;

    Ns_DStringInit(&ds);
    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_DStringSetLength(&ds, 0);
        Ns_DStringAppend(&ds, "before:");
        Ns_UrlPathDecode(&ds, cases[i].coded, NULL);
        assert_string_equal(Ns_DStringValue(&ds) + 7, cases[i].path);
        Ns_DStringSetLength(&ds, 0);
        assert_string_equal(Ns_UrlQueryDecode(&ds, cases[i].coded, NULL),
                            cases[i].query);
    }
    Ns_DStringFree(&ds);
}

static void
OtherCharsetsAreConverted(void **state)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_EncodeUrlCharset(&ds, "\303\244 b", "iso-8859-1");
    assert_string_equal(Ns_DStringValue(&ds), "%e4+b");
    Ns_DStringSetLength(&ds, 0);
    Ns_DecodeUrlCharset(&ds, "%e4+b", "iso-8859-1");
    assert_string_equal(Ns_DStringValue(&ds), "\303\244 b");
    Ns_DStringFree(&ds);
}

/*
 * 2. Paths.
 */

static void
PathsAreNormalized(void **state)
{
    static const struct {
        const char *url, *path, *query;
    } cases[] = {
        {"/", "/", NULL},
        {"", "/", NULL},
        {"//", "/", NULL},
        {"///", "/", NULL},
        {"/a/b", "/a/b", NULL},
        {"a", "/a", NULL},
        {"*", "/*", NULL},
        {"/a/", "/a/", NULL},
        {"/a//", "/a/", NULL},
        {"//a//b//", "/a/b/", NULL},
        {"/a/./b", "/a/b", NULL},
        {"/a/.", "/a", NULL},
        {"/a/./", "/a/", NULL},
        {"/a/../b", "/b", NULL},
        {"/..", "/", NULL},
        {"/../", "/", NULL},
        {"/../../etc/passwd", "/etc/passwd", NULL},
        {"/a/b/../../..", "/", NULL},
        {"/a/b/..", "/a", NULL},
        {"/a/b/../", "/a/", NULL},
        {"/a/%2e%2e/b", "/b", NULL},
        {"/a%2fb", "/a/b", NULL},
        {"/a%2f", "/a", NULL},
        {"/%2e%2e%2f%2e%2e/x", "/x", NULL},
        {"/a\\..\\b", "/a\\..\\b", NULL},
        {"/a%5cb", "/a\\b", NULL},
        {"/...", "/...", NULL},
        {"/.a/..b", "/.a/..b", NULL},
        {"/%252e%252e/x", "/%2e%2e/x", NULL},
        {"/%c0%ae%c0%ae/x", "/\303\200\302\256\303\200\302\256/x", NULL},
        {"/a%00b", "/a\300\200b", NULL},
        {"/\303\244", "/\303\244", NULL},
        {"/\344", "/\303\244", NULL},
        {"/a b", "/a b", NULL},
        {"/a+b%20c", "/a+b c", NULL},
        {"/a#b", "/a#b", NULL},
        {"/?", "/", ""},
        {"/a?b?c", "/a", "b?c"},
        {"?x", "/", "x"},
        {"/%41?%41/../", "/A", "%41/../"},
        {"/a/?x/", "/a/", "x/"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        NsArena   arena;
        NsUrlPath path;
        size_t    length = strlen(cases[i].url);
        char     *url = malloc(length + 1); /* No null byte to rely on. */

        memcpy(url, cases[i].url, length);
        NsArenaInit(&arena, 256);
        NsUrlDecodePath(&arena, url, length, &path);
        assert_string_equal(path.path, cases[i].path);
        assert_int_equal(path.pathLength, strlen(cases[i].path));
        if (cases[i].query == NULL) {
            assert_null(path.query);
        } else {
            assert_string_equal(path.query, cases[i].query);
            assert_int_equal(path.queryLength, strlen(cases[i].query));
        }
        NsArenaFree(&arena);
        free(url);
    }
}

/*
 * 3. Ns_Request.
 */

typedef struct {
    const char    *line, *method, *protocol, *host;
    unsigned short port;
    const char    *url, *query;
    int            urlc;
    const char    *last; /* Last element of urlv. */
    double         version;
} RequestCase;

static const RequestCase requestCases[] = {
    {"GET / HTTP/1.1", "GET", NULL, NULL, 0, "/", NULL, 1, "", 1.1},
    {"GET /a/b%20c/?x=%20 HTTP/1.0", "GET", NULL, NULL, 0, "/a/b c/", "x=%20",
     2, "b c", 1.0},
    {"GET dump", "GET", NULL, NULL, 0, "/dump", NULL, 1, "dump", 0.0},
    {"OPTIONS * HTTP/1.1", "OPTIONS", NULL, NULL, 0, "/*", NULL, 1, "*", 1.1},
    {"POST http://h:99/x HTTP/1.1", "POST", "http", "h", 99, "/x", NULL, 1, "x",
     1.1},
    {"GET http://www.x.y HTTP/1.1", "GET", "http", "www.x.y", 0, "/", NULL, 1,
     "", 1.1},
    {"GET http://h?q HTTP/1.1", "GET", "http", "h", 0, "/", "q", 1, "", 1.1},
    {"GET http://[::1]:8080/a HTTP/1.1", "GET", "http", "[::1]", 8080, "/a",
     NULL, 1, "a", 1.1},
    {"GET http://h:70000/a HTTP/1.1", "GET", "http", "h", 0, "/a", NULL, 1, "a",
     1.1},
    {"GET file:a/b HTTP/1.1", "GET", "file", NULL, 0, "/a/b", NULL, 2, "b",
     1.1},
    {"GET http:///a HTTP/1.1", "GET", "http", NULL, 0, "/a", NULL, 1, "a", 1.1},
    {"GET //h/a HTTP/1.1", "GET", NULL, NULL, 0, "/h/a", NULL, 2, "a", 1.1},
    {"CONNECT h:99 HTTP/1.1", "CONNECT", "https", "h", 99, "/", NULL, 1, "",
     1.1},
    {"GET a/b:c HTTP/1.1", "GET", NULL, NULL, 0, "/a/b:c", NULL, 2, "b:c", 1.1},
};

static void
AssertOptional(const char *actual, const char *expected)
{
    if (expected == NULL) {
        assert_null(actual);
    } else {
        assert_non_null(actual);
        assert_string_equal(actual, expected);
    }
}

static void
AssertRequest(const Ns_Request *requestPtr, const RequestCase *casePtr)
{
    assert_string_equal(requestPtr->line, casePtr->line);
    assert_string_equal(requestPtr->method, casePtr->method);
    AssertOptional(requestPtr->protocol, casePtr->protocol);
    AssertOptional(requestPtr->host, casePtr->host);
    assert_int_equal(requestPtr->port, casePtr->port);
    assert_string_equal(requestPtr->url, casePtr->url);
    AssertOptional(requestPtr->query, casePtr->query);
    assert_int_equal(requestPtr->urlc, casePtr->urlc);
    assert_string_equal(requestPtr->urlv[casePtr->urlc - 1], casePtr->last);
    assert_null(requestPtr->urlv[casePtr->urlc]);
    assert_true(requestPtr->version == casePtr->version);
}

static void
LinesBecomeRequestsOnTheHeap(void **state)
{
    for (int i = 0; i < Ns_NrElements(requestCases); i++) {
        Ns_Request *requestPtr = ns_malloc(sizeof(*requestPtr));

        assert_int_equal(Ns_ParseRequest(requestPtr, requestCases[i].line),
                         NS_OK);
        AssertRequest(requestPtr, &requestCases[i]);
        Ns_FreeRequest(requestPtr);
    }
}

static void
HeadsBecomeRequestsInTheArena(void **state)
{
    for (int i = 0; i < Ns_NrElements(requestCases); i++) {
        NsArena    arena;
        Ns_Request request;
        NsHttpHead head = {0};
        char      *line = strdup(requestCases[i].line);

        NsArenaInit(&arena, 256);
        assert_true(NsHttpSplitLine(&head, line, strlen(line)));
        NsRequestFromHead(&arena, &head, &request);
        AssertRequest(&request, &requestCases[i]);

        Ns_SetRequestUrl(&request, "/new/url?q");
        assert_string_equal(request.url, "/new/url");
        assert_string_equal(request.query, "q");
        assert_int_equal(request.urlc, 2);
        Ns_ResetRequest(&request);
        NsArenaFree(&arena);
        free(line);
    }
}

/*
 * As later sources see the elements.
 */
static void
AssertList(const char *line, Ns_RequestType type, const char *list)
{
    Ns_Request request;

    assert_int_equal(Ns_ParseRequest(&request, line), NS_OK);
    assert_string_equal(request.later_urlv, list);
    assert_int_equal(request.urlv_len, strlen(list));
    assert_int_equal(request.url_len, strlen(request.url));
    assert_int_equal(request.requestType, type);
    assert_int_equal(request.isProxyRequest, type == NS_REQUEST_TYPE_PROXY);
    Ns_SetRequestUrl(&request, "/x/y");
    assert_string_equal(request.later_urlv, "x y");
    Ns_ResetRequest(&request);
}

static void
ElementsAreAListAsWell(void **state)
{
    AssertList("GET /a/b%20c/%7b?x HTTP/1.0", NS_REQUEST_TYPE_PLAIN,
               "a {b c} \\{");
    AssertList("GET http://h/a HTTP/1.1", NS_REQUEST_TYPE_PROXY, "a");
    AssertList("OPTIONS * HTTP/1.1", NS_REQUEST_TYPE_ASTERISK, "*");
    AssertList("CONNECT h:80 HTTP/1.1", NS_REQUEST_TYPE_CONNECT, "{}");
}

/*
 * Requests of clients have it when a module wants it.
 */
static void
ListsAreMadeWhenAModuleWantsThem(void **state)
{
    for (int i = 0; i < 2; i++) {
        NsArena    arena;
        Ns_Request request;
        NsHttpHead head = {0};
        char       line[] = "GET /a/b HTTP/1.1";

        NsArenaInit(&arena, 256);
        assert_true(NsHttpSplitLine(&head, line, strlen(line)));
        NsRequestFromHead(&arena, &head, &request);
        AssertOptional(request.later_urlv, i == 0 ? NULL : "a b");
        NsArenaFree(&arena);
        NsRequestMakeLists();
    }
}

static void
BadLineLeavesNothingBehind(void **state)
{
    Ns_Request request;

    assert_int_equal(Ns_ParseRequest(&request, "GET HTTP/1.1"), NS_ERROR);
    assert_null(request.line);
    assert_int_equal(Ns_ParseRequest(&request, ""), NS_ERROR);
    assert_int_equal(Ns_ParseRequest(&request, " \r\n"), NS_ERROR);
    Ns_ResetRequest(&request);
}

static void
UrlMayBeReplacedByAPartOfItself(void **state)
{
    Ns_Request request;

    assert_int_equal(Ns_ParseRequest(&request, "GET /a/b/c?x HTTP/1.0"), NS_OK);
    Ns_SetRequestUrl(&request, Ns_SkipUrl(&request, 1));
    assert_string_equal(request.url, "/b/c");
    assert_null(request.query);
    assert_string_equal(request.urlv[0], "b");
    Ns_ResetRequest(&request);
}

static void
SkipUrlCountsElements(void **state)
{
    Ns_Request request;

    Ns_ParseRequest(&request, "GET /a/b HTTP/1.0");
    assert_string_equal(Ns_SkipUrl(&request, 0), "/a/b");
    assert_string_equal(Ns_SkipUrl(&request, 1), "/b");
    assert_string_equal(Ns_SkipUrl(&request, 2), "");
    assert_null(Ns_SkipUrl(&request, 3));
    Ns_ResetRequest(&request);
}

/*
 * 4. URLs taken apart and resolved.
 */

/*
 * As later sources call it.
 */
static void
UrlsAreTakenApartIntoAStructure(void **state)
{
    static const struct {
        const char *url;
        Ns_URL      parts;
    } cases[] = {
        {"https://u:p@h:80/a/b/c?q#f",
         {"https", "u:p", "h", "80", "a/b", "c", "q", "f"}},
        {"http://[::1]/c", {"http", NULL, "::1", NULL, "", "c", NULL, NULL}},
        {"http://h?", {"http", NULL, "h", NULL, NULL, NULL, "", NULL}},
        {"/a/b", {NULL, NULL, NULL, NULL, "a", "b", NULL, NULL}},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char       *url = strdup(cases[i].url);
        const char *error;
        Ns_URL      parts;

        assert_int_equal(Ns_ParseUrl_33(url, true, &parts, &error), NS_OK);
        assert_null(error);
        AssertOptional(parts.protocol, cases[i].parts.protocol);
        AssertOptional(parts.userinfo, cases[i].parts.userinfo);
        AssertOptional(parts.host, cases[i].parts.host);
        AssertOptional(parts.port, cases[i].parts.port);
        if (cases[i].parts.path != NULL) {
            AssertOptional(parts.path, cases[i].parts.path);
            AssertOptional(parts.tail, cases[i].parts.tail);
        }
        AssertOptional(parts.query, cases[i].parts.query);
        AssertOptional(parts.fragment, cases[i].parts.fragment);
        free(url);
    }
}

static void
BadUrlsAreExplained(void **state)
{
    char        url[] = "http://h:1:2/";
    const char *error;
    Ns_URL      parts;

    assert_int_equal(Ns_ParseUrl_33(url, false, &parts, &error), NS_ERROR);
    assert_non_null(error);
    assert_null(parts.protocol);
    assert_int_equal(Ns_ParseUrl_33(url, false, &parts, NULL), NS_ERROR);
}

static void
UrlsAreTakenApart(void **state)
{
    static const struct {
        const char *url, *protocol, *host, *port, *path, *tail;
    } cases[] = {
        {"http://h:80/a/b/c", "http", "h", "80", "a/b", "c"},
        {"http://h/c", "http", "h", NULL, "", "c"},
        {"http://h/", "http", "h", NULL, "", ""},
        {"http://h", "http", "h", NULL, "", ""},
        {"http://h:/x", "http", "h", NULL, "", "x"},
        {"http://[::1]:80/x", "http", "::1", "80", "", "x"},
        {"http://h?q=/x", "http", "h", NULL, "", "?q=/x"},
        {"//h/a/b", NULL, "h", NULL, "a", "b"},
        {"/a/b/", NULL, NULL, NULL, "a/b", ""},
        {"/a?b/c", NULL, NULL, NULL, "", "a?b/c"},
        {"a/b", NULL, NULL, NULL, NULL, "a/b"},
        {"mailto:x", "mailto", NULL, NULL, NULL, "x"},
        {"", NULL, NULL, NULL, NULL, ""},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char *url = strdup(cases[i].url);
        char *protocol, *host, *port, *path, *tail;

        assert_int_equal(Ns_ParseUrl(url, &protocol, &host, &port, &path,
                                     &tail),
                         NS_OK);
        AssertOptional(protocol, cases[i].protocol);
        AssertOptional(host, cases[i].host);
        AssertOptional(port, cases[i].port);
        AssertOptional(path, cases[i].path);
        AssertOptional(tail, cases[i].tail);
        free(url);
    }
}

static void
MalformedHostsAreErrors(void **state)
{
    static const char *const urls[] = {
        "http://h:x/", "http://[::1/", "http://[::1]x/", "http://:80/"};

    for (int i = 0; i < Ns_NrElements(urls); i++) {
        char *url = strdup(urls[i]);
        char *part[5];

        assert_int_equal(Ns_ParseUrl(url, &part[0], &part[1], &part[2],
                                     &part[3], &part[4]),
                         NS_ERROR);
        free(url);
    }
}

/*
 * The examples of RFC 3986, section 5.4.
 */
static void
ReferencesAreResolved(void **state)
{
    static const struct {
        const char *url, *absolute;
    } cases[] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {";x", "http://a/b/c/;x"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"./../g", "http://a/b/g"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        assert_int_equal(Ns_AbsoluteUrl(&ds, cases[i].url,
                                        "http://a/b/c/d;p?q"),
                         NS_OK);
        assert_string_equal(Ns_DStringValue(&ds), cases[i].absolute);
        Ns_DStringFree(&ds);
    }
}

static void
BaseMustBeAbsolute(void **state)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    assert_int_equal(Ns_AbsoluteUrl(&ds, "a", "/b"), NS_ERROR);
    assert_int_equal(Ns_AbsoluteUrl(&ds, "a", "http:b"), NS_ERROR);
    assert_int_equal(Ns_DStringLength(&ds), 0);
    assert_int_equal(Ns_AbsoluteUrl(&ds, "a", "http://h"), NS_OK);
    assert_string_equal(Ns_DStringValue(&ds), "http://h/a");
    Ns_DStringFree(&ds);
}

static void
OwnLocationIsStripped(void **state)
{
    static const char location[] = "http://h:80";

    assert_string_equal(Ns_RelativeUrl("http://h:80/a", location), "/a");
    assert_string_equal(Ns_RelativeUrl("HTTP://H:80//a", location), "/a");
    assert_string_equal(Ns_RelativeUrl("http://h:8080/a", location),
                        "http://h:8080/a");
    assert_string_equal(Ns_RelativeUrl("/a", location), "/a");
    assert_string_equal(Ns_RelativeUrl("/a", NULL), "/a");
}

static void
HostsHaveFewCharacters(void **state)
{
    static const char *const good[] = {
        "a", "www.example.com", "a-b_c:80", "[::1]:80", "1.2.3.4", "a."};
    static const char *const bad[] = {
        "a..b", "a/b", "a b", "a\\b", "a@b", "..", "a%2f"};

    for (int i = 0; i < Ns_NrElements(good); i++) {
        assert_true(Ns_StrIsHost(good[i]));
    }
    for (int i = 0; i < Ns_NrElements(bad); i++) {
        assert_false(Ns_StrIsHost(bad[i]));
    }
}

static void
HostsAreSplitInPlace(void **state)
{
    static const struct {
        const char *text;
        bool        isStrict;
        const char *host; /* NULL: refused. */
        const char *port;
    } cases[] = {
        {"host", true, "host", NULL},
        {"host:80", true, "host", "80"},
        {"[::1]", true, "::1", NULL},
        {"[2001:db8::1]:65535", true, "2001:db8::1", "65535"},
        {"a_b!c:1", false, "a_b!c", "1"},
        {"a!b", true, NULL, NULL},
        {"", true, NULL, NULL},
        {"", false, NULL, NULL},
        {":80", false, NULL, NULL},
        {"host:", false, NULL, NULL},
        {"host:65536", false, NULL, NULL},
        {"host:8x", false, NULL, NULL},
        {"[::1", false, NULL, NULL},
        {"[::1]80", false, NULL, NULL},
        {"a/b", false, NULL, NULL},
        {"a/b", true, NULL, NULL},
        {"u@h", false, NULL, NULL},
        {"u@h", true, NULL, NULL},
        {"a b", false, NULL, NULL},
        {"a\177", false, NULL, NULL},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char        text[40];
        const char *host = NULL, *port = NULL;
        char       *end = NULL;
        size_t      length = strlen(cases[i].text);
        bool        isHost;

        memcpy(text, cases[i].text, length + 1);
        isHost = Ns_HttpParseHost2(text, cases[i].isStrict, &host, &port, &end);
        assert_int_equal(isHost, cases[i].host != NULL);
        if (!isHost) {
            assert_string_equal(text, cases[i].text);
            continue;
        }
        assert_string_equal(host, cases[i].host);
        assert_ptr_equal(end, text + length);
        if (cases[i].port == NULL) {
            assert_null(port);
        } else {
            assert_string_equal(port, cases[i].port);
        }
    }
}

static void
TheFirstBadBytesAreShown(void **state)
{
    static const struct {
        const char *bytes;
        size_t      length;
        const char *place; /* NULL: valid. */
    } cases[] = {
        {"", 0, NULL},
        {"abc\303\244", 5, NULL},
        {"a\0b", 3, NULL},
        {"abc\303", 4, "abc|\\xc3|"},
        {"ab\377cd", 5, "ab|\\xff|..."},
        {"\303(", 2, "|\\xc3(|"},
        {"\355\240\200", 3, "|\\xed\\xa0\\x80|"},
        {"\360\237\230", 3, "|\\xf0\\x9f\\x98|"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        const unsigned char *bytes = (const unsigned char *) cases[i].bytes;
        Ns_DString           ds;
        bool                 isValid;

        Ns_DStringInit(&ds);
        Ns_DStringAppend(&ds, "at ");
        isValid = Ns_Valid_UTF8(bytes, cases[i].length, &ds);
        assert_int_equal(isValid, cases[i].place == NULL);
        assert_int_equal(Ns_Valid_UTF8(bytes, cases[i].length, NULL), isValid);
        assert_string_equal(Ns_DStringValue(&ds) + 3,
                            isValid ? "" : cases[i].place);
        Ns_DStringFree(&ds);
    }
}

int
main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TextIsCodedByPart),
        cmocka_unit_test(OddEscapesAreKept),
        cmocka_unit_test(OtherCharsetsAreConverted),
        cmocka_unit_test(PathsAreNormalized),
        cmocka_unit_test(LinesBecomeRequestsOnTheHeap),
        cmocka_unit_test(HeadsBecomeRequestsInTheArena),
        cmocka_unit_test(ElementsAreAListAsWell),
        cmocka_unit_test(ListsAreMadeWhenAModuleWantsThem),
        cmocka_unit_test(BadLineLeavesNothingBehind),
        cmocka_unit_test(UrlMayBeReplacedByAPartOfItself),
        cmocka_unit_test(SkipUrlCountsElements),
        cmocka_unit_test(UrlsAreTakenApartIntoAStructure),
        cmocka_unit_test(BadUrlsAreExplained),
        cmocka_unit_test(UrlsAreTakenApart),
        cmocka_unit_test(MalformedHostsAreErrors),
        cmocka_unit_test(ReferencesAreResolved),
        cmocka_unit_test(BaseMustBeAbsolute),
        cmocka_unit_test(OwnLocationIsStripped),
        cmocka_unit_test(HostsHaveFewCharacters),
        cmocka_unit_test(HostsAreSplitInPlace),
        cmocka_unit_test(TheFirstBadBytesAreShown),
    };

    Tcl_FindExecutable(argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
