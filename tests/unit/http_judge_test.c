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

static const NsHttpHead *
Parse(const char *text)
{
    static const NsParseLimits limits = {
        .maxLineBytes = 64, .maxHeadBytes = 1024, .maxFields = 10};
    NsHttpParser parser;

    NsHttpParserInit(&parser, &head, &arena, &limits);
    snprintf(buffer, sizeof(buffer), "%s", text);
    assert_int_equal(NsHttpParse(&parser, buffer, strlen(buffer)),
                     NS_PARSE_DONE);
    return &head;
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123"

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
        {"GET / HTTP/2.0\n\n", 400},
        {"GET / HTTP/1.0\n\n", 0},
        {"GET / HTTP/1.0\nHost: a\nHost: b\n\n", 400},
        {"GET / HTTP/0.9\n\n", 0},
        {"GET /\n", 0},
        {"GET / HTTP/1.1\nHost: a\nExpect: 100-Continue\n\n", 0},
        {"GET / HTTP/1.1\nHost: a\nExpect:\n\n", 0},
        {"GET / HTTP/1.1\nHost: a\nExpect: tea\n\n", 417},
        {"GET / HTTP/1.1\nHost: a\nExpect: 100-continue, tea\n\n", 417},
        {"GET / HTTP/1.0\nExpect: tea\n\n", 0},
        {"GET / HTTP/1.1\nHost: a b\nExpect: tea\n\n", 400},
        {"GET /" LONG " HTTP/1.1\nHost: a\n\n", 414},
        {"GET / HTTP/1.1\nHost: a\nX: " LONG "\n\n", 431},
        {"GET /" LONG " HTTP/1.1\nX: " LONG "\n\n", 431},
        {"GET /" LONG " HTTP/1.1\n\n", 414}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_int_equal(NsHttpJudge(Parse(cases[i].text)), cases[i].status);
    }
}

static void
keep_alive_follows_version_and_field(void **state)
{
    assert_true(NsHttpAsksKeep(Parse("GET / HTTP/1.1\n\n")));
    assert_true(NsHttpAsksKeep(Parse("GET / HTTP/1.1\n"
                                     "Connection: keep-alive\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET / HTTP/1.1\n"
                                      "Connection: close\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET / HTTP/1.0\n\n")));
    assert_true(NsHttpAsksKeep(Parse("GET / HTTP/1.0\n"
                                     "Connection: keep-alive\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET / HTTP/1.0\n"
                                      "Connection: keep-alive, close\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET / HTTP/0.9\n"
                                      "Connection: keep-alive\n\n")));
    assert_false(NsHttpAsksKeep(Parse("GET /\n")));
}

static void
only_http_1_1_waits_for_100(void **state)
{
    assert_true(NsHttpAsksContinue(Parse("POST / HTTP/1.1\n"
                                         "Expect: 100-Continue\n\n")));
    assert_false(NsHttpAsksContinue(Parse("POST / HTTP/1.1\n\n")));
    assert_false(NsHttpAsksContinue(Parse("POST / HTTP/1.1\n"
                                          "Expect: something\n\n")));
    assert_false(NsHttpAsksContinue(Parse("POST / HTTP/1.0\n"
                                          "Expect: 100-continue\n\n")));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_refused_for_what_is_wrong_with_it),
        cmocka_unit_test(keep_alive_follows_version_and_field),
        cmocka_unit_test(only_http_1_1_waits_for_100)};
    int result;

    NsArenaInit(&arena, 4096);
    result = cmocka_run_group_tests(tests, NULL, NULL);
    NsArenaFree(&arena);
    return result;
}
