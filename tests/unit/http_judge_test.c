/* SPDX-License-Identifier: MPL-2.0
 * http_judge_test.c --
 *
 *      1. refusals    2. keep-alive    3. 100-continue
 */

#include "unit.h"
#include "http/judge.h"
#include "http/parse.h"

static char       buffer[1024];
static NsArena    arena;
static NsHttpHead head;

static NsHttpHead *
ParseFor(const char *text, NsParseStatus status)
{
    static const NsParseLimits limits = {
        .maxLineBytes = 64, .maxHeadBytes = 1024, .maxFields = 10};
    NsHttpParser parser;

    NsHttpParserInit(&parser, &head, &arena, &limits);
    snprintf(buffer, sizeof(buffer), "%s", text);
    assert_int_equal(NsHttpParse(&parser, buffer, strlen(buffer)), status);
    return &head;
}

static const NsHttpHead *
Parse(const char *text)
{
    return ParseFor(text, NS_PARSE_DONE);
}

static void
a_head_is_refused_for_what_is_wrong_with_it(void **state)
{
    static const struct {
        const char *text;
        int         status;
    } cases[] = {
        {"GET / HTTP/1.1\nHost: a\n\n", 0},
        {"GET / HTTP/1.1\n\n", 400},
        {"GET / HTTP/1.1\nHost:\n\n", 400},
        {"GET / HTTP/1.1\nHost: A_b.c.:80\n\n", 0},
        {"GET / HTTP/1.1\nHost: [::1]:80\n\n", 0},
        {"GET / HTTP/1.1\nHost: [::ffff:192.0.2.1]\n\n", 0},
        {"GET / HTTP/1.1\nHost: []\n\n", 400},
        {"GET / HTTP/1.1\nHost: [.]\n\n", 400},
        {"GET / HTTP/1.1\nHost: [::::]\n\n", 400},
        {"GET / HTTP/1.1\nHost: [1:2:3:4:5:6:7:8:9]\n\n", 400},
        {"GET / HTTP/1.1\nHost: [192.0.2.1]\n\n", 400},
        {"GET / HTTP/1.1\nHost: [::1%25eth0]\n\n", 400},
        {"GET / HTTP/1.1\nHost: [0000:0000:0000:0000:0000:0000:0000:0000:"
         "0000:0000:0000]\n\n",
         400},
        {"GET / HTTP/1.1\nHost: a b\n\n", 400},
        {"GET / HTTP/1.1\nHost: a/b\n\n", 400},
        {"GET / HTTP/1.1\nHost: u@h\n\n", 400},
        {"GET / HTTP/1.1\nHost: a, b\n\n", 400},
        {"GET / HTTP/1.1\nHost: a..b\n\n", 400},
        {"GET / HTTP/1.1\nHost: .a\n\n", 400},
        {"GET / HTTP/1.1\nHost: -a\n\n", 400},
        {"GET / HTTP/1.1\nHost: a:\n\n", 400},
        {"GET / HTTP/1.1\nHost: :80\n\n", 400},
        {"GET / HTTP/1.1\nHost: a:65536\n\n", 400},
        {"GET / HTTP/1.1\nHost: ::1\n\n", 400},
        {"GET / HTTP/1.1\nHost: []\n\n", 400},
        {"GET / HTTP/1.1\nHost: \xc3\xa4\n\n", 400},
        {"GET / HTTP/1.0\nHost: a b\n\n", 400},
        {"GET / HTTP/1.1\nHost: a\nHost: a\n\n", 400},
        {"GET / HTTP/1.2\n\n", 400},
        {"GET / HTTP/1.0\n\n", 0},
        {"GET / HTTP/1.0\nHost: a\nHost: b\n\n", 400},
        {"OPTIONS * HTTP/1.1\nHost: a\n\n", 0},
        {"GET * HTTP/1.1\nHost: a\n\n", 400},
        {"OPTIONS ** HTTP/1.1\nHost: a\n\n", 400},
        {"GET a HTTP/1.1\nHost: a\n\n", 400},
        {"GET a:80 HTTP/1.1\nHost: a\n\n", 400},
        {"GET ?a HTTP/1.1\nHost: a\n\n", 400},
        {"GET x:/a HTTP/1.1\nHost: a\n\n", 400},
        {"GET http:a HTTP/1.1\nHost: a\n\n", 400},
        {"GET http:///a HTTP/1.1\nHost: a\n\n", 400},
        {"GET 1http://b/ HTTP/1.1\nHost: a\n\n", 400},
        {"GET http://u@b/ HTTP/1.1\nHost: a\n\n", 400},
        {"GET http://b/ HTTP/1.1\n\n", 400},
        {"CONNECT b:80 HTTP/1.1\nHost: a\n\n", 0},
        {"CONNECT [::1]:80 HTTP/1.1\nHost: a\n\n", 0},
        {"CONNECT b:80 HTTP/1.1\nHost: a\nContent-Length: 0\n\n", 0},
        {"CONNECT b:80 HTTP/1.1\nHost: a\nContent-Length: 1\n\n", 400},
        {"CONNECT b:80 HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n", 400},
        {"CONNECT b HTTP/1.1\nHost: a\n\n", 400},
        {"CONNECT [::1] HTTP/1.1\nHost: a\n\n", 400},
        {"CONNECT / HTTP/1.1\nHost: a\n\n", 400},
        {"CONNECT http://b:80/ HTTP/1.1\nHost: a\n\n", 400},
        {"GET / HTTP/1.1\nHost: a\nExpect: 100-Continue\n\n", 0},
        {"GET / HTTP/1.1\nHost: a\nExpect:\n\n", 0},
        {"GET / HTTP/1.1\nHost: a\nExpect: tea\n\n", 417},
        {"GET / HTTP/1.1\nHost: a\nExpect:\nExpect: tea\n\n", 417},
        {"GET / HTTP/1.1\nHost: a\nExpect: 100-continue, tea\n\n", 417},
        {"GET / HTTP/1.0\nExpect: tea\n\n", 0},
        {"GET / HTTP/1.1\nHost: a b\nExpect: tea\n\n", 400},
        {"GET / HTTP/1.1\nHost: a\nExpect: 100-continue\nExpect: tea\n\n",
         417}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_int_equal(ParseFor(cases[i].text,
                                  cases[i].status == 0 ? NS_PARSE_DONE
                                                       : NS_PARSE_REFUSED)
                             ->status,
                         cases[i].status);
    }
}

static void
the_authority_of_the_url_comes_before_the_host_field(void **state)
{
    static const char *const texts[] = {
        "GET http://b.c:80/d?http://e HTTP/1.1\nX: y\nHost: a\n\n",
        "GET HTTPS+x-.1://b.c:80 HTTP/1.1\nHost: a\n\n",
        "GET http://b.c:80?d HTTP/1.0\nX: y\n\n"};

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        const NsHttpHead *headPtr = Parse(texts[i]);

        assert_string_equal(NsHttpKnown(headPtr, NS_FIELD_HOST), "b.c:80");
        assert_string_equal(NsHttpFind(headPtr, "hOst"), "b.c:80");
    }
    assert_int_equal(head.nFields, 2);
    assert_string_equal(NsHttpFind(&head, "X"), "y");
}

static void
keep_alive_follows_version_and_field(void **state)
{
    assert_true(NsHttpAsksKeep(Parse("GET / HTTP/1.1\nHost: a\n\n")));
    assert_true(NsHttpAsksKeep(Parse("GET / HTTP/1.1\nHost: a\n"
                                     "Connection: keep-alive\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET / HTTP/1.1\nHost: a\n"
                                      "Connection: close\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET / HTTP/1.0\n\n")));
    assert_true(NsHttpAsksKeep(Parse("GET / HTTP/1.0\n"
                                     "Connection: keep-alive\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET / HTTP/1.0\n"
                                      "Connection: keep-alive, close\n\n")));
}

static void
only_http_1_1_waits_for_100(void **state)
{
    assert_true(NsHttpAsksContinue(Parse("POST / HTTP/1.1\nHost: a\n"
                                         "Expect: 100-Continue\n\n")));
    assert_false(NsHttpAsksContinue(Parse("POST / HTTP/1.1\nHost: a\n\n")));
    assert_false(NsHttpAsksContinue(Parse("POST / HTTP/1.0\n"
                                          "Expect: 100-continue\n\n")));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_refused_for_what_is_wrong_with_it),
        cmocka_unit_test(the_authority_of_the_url_comes_before_the_host_field),
        cmocka_unit_test(keep_alive_follows_version_and_field),
        cmocka_unit_test(only_http_1_1_waits_for_100)};
    int result;

    NsArenaInit(&arena, 4096);
    result = cmocka_run_group_tests(tests, NULL, NULL);
    NsArenaFree(&arena);
    return result;
}
