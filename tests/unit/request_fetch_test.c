/* SPDX-License-Identifier: MPL-2.0
 * request_fetch_test.c --
 *
 *      1. replies    2. requests    3. failures
 */

#include "unit.h"
#include "port.h"
#include "log/init.h"
#include "net/init.h"
#include "process/callbacks.h"
#include "process/init.h"
#include "nsrequest.h"
#include "nsset.h"
#include "nssocket.h"
#include "nsstring.h"

/*
 * A server that says `reply` to each request, and keeps that.  Set before the
 * request, read after the reply.
 */
static const char *reply;
static char        request[1024];
static int         serverPort;

static int
AnswerProc(NS_SOCKET sock, void *arg, int why)
{
    size_t n = 0u;

    if (why == NS_SOCK_READ) {
        while (n < 4u || memcmp(request + n - 4u, "\r\n\r\n", 4u) != 0) {
            assert_int_equal(recv(sock, request + n, 1u, 0), 1);
            n++;
        }
        request[n] = '\0';
        assert_int_equal(send(sock, reply, strlen(reply), MSG_NOSIGNAL),
                         strlen(reply));
        close(sock);
    }
    return NS_TRUE;
}

static int
Fetch(const char *text, const char *path, Ns_DString *bodyPtr, Ns_Set *headers)
{
    Ns_DString url;
    int        result;

    reply = text;
    Ns_DStringInit(&url);
    Ns_DStringPrintf(&url, "http://127.0.0.1:%d%s", serverPort, path);
    result = Ns_FetchURL(bodyPtr, Ns_DStringValue(&url), headers);
    Ns_DStringFree(&url);
    return result;
}

static void
the_body_is_appended_and_the_fields_are_put(void **state)
{
    Ns_Set    *headers = Ns_SetCreate(NULL);
    Ns_DString body;

    Ns_DStringInit(&body);
    Ns_DStringAppend(&body, "<");
    assert_int_equal(Fetch("HTTP/1.0 404 No\r\nX-One: 1\r\nTwo: a\r\n b\r\n\r\n"
                           "bo\r\n\r\ndy",
                           "/", &body, headers),
                     NS_OK);
    assert_string_equal(Ns_DStringValue(&body), "<bo\r\n\r\ndy");
    assert_int_equal(Ns_SetSize(headers), 2);
    assert_string_equal(Ns_SetGet(headers, "x-one"), "1");
    assert_string_equal(Ns_SetGet(headers, "two"), "a b");
    assert_int_equal(Fetch("HTTP/1.0 200 OK\n\n", "/", &body, NULL), NS_OK);
    assert_string_equal(Ns_DStringValue(&body), "<bo\r\n\r\ndy");
    Ns_DStringFree(&body);
    Ns_SetFree(headers);
}

static void
a_reply_that_says_to_go_on_is_not_the_last(void **state)
{
    Ns_Set    *headers = Ns_SetCreate(NULL);
    Ns_DString body;

    Ns_DStringInit(&body);
    assert_int_equal(Fetch("HTTP/1.1 100 Continue\r\nA: 0\r\n\r\n"
                           "HTTP/1.1 103 Early Hints\r\n\r\n"
                           "HTTP/1.1 200 OK\r\nB: 1\r\n\r\nbody",
                           "/", &body, headers),
                     NS_OK);
    assert_string_equal(Ns_DStringValue(&body), "body");
    assert_int_equal(Ns_SetSize(headers), 1);
    assert_string_equal(Ns_SetGet(headers, "b"), "1");
    assert_int_equal(Fetch("HTTP/1.1 100 Continue\r\n\r\n", "/", &body, NULL),
                     NS_ERROR);
    Ns_DStringFree(&body);
    Ns_SetFree(headers);
}

static void
the_request_names_path_and_query_and_not_the_fragment(void **state)
{
    Ns_DString body;

    Ns_DStringInit(&body);
    assert_int_equal(Fetch("HTTP/1.0 200 OK\r\n\r\n", "/a/b?c=d#e", &body,
                           NULL),
                     NS_OK);
    assert_int_equal(strncmp(request, "GET /a/b?c=d HTTP/1.1\r\n", 23u), 0);
    assert_non_null(strstr(request, "\r\nHost: 127.0.0.1:"));
    Ns_DStringFree(&body);
}

static void
what_is_no_reply_is_an_error_and_appends_nothing(void **state)
{
    Ns_Set    *headers = Ns_SetCreate(NULL);
    Ns_DString body;

    Ns_DStringInit(&body);
    assert_int_equal(Fetch("", "/", &body, headers), NS_ERROR);
    assert_int_equal(Fetch("no header", "/", &body, headers), NS_ERROR);
    assert_int_equal(Fetch("no\nstatus\n\nbody", "/", &body, NULL), NS_ERROR);
    assert_int_equal(Ns_FetchURL(&body, "ftp://127.0.0.1/", headers), NS_ERROR);
    assert_int_equal(Ns_FetchURL(&body, "http://", headers), NS_ERROR);
    assert_int_equal(Ns_DStringLength(&body), 0);
    assert_int_equal(Ns_SetSize(headers), 0);
    Ns_DStringFree(&body);
    Ns_SetFree(headers);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body_is_appended_and_the_fields_are_put),
        cmocka_unit_test(a_reply_that_says_to_go_on_is_not_the_last),
        cmocka_unit_test(the_request_names_path_and_query_and_not_the_fragment),
        cmocka_unit_test(what_is_no_reply_is_an_error_and_appends_nothing),
    };

    NsLogInit();
    NsProcessInit();
    NsNetInit();
    NsCallbacksRun(NS_AT_READY);
    serverPort = FreePort();
    if (Ns_SockListenCallback("127.0.0.1", serverPort, AnswerProc, NULL)
        != NS_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
