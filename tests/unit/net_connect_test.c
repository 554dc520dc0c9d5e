/* SPDX-License-Identifier: MPL-2.0
 * net_connect_test.c --
 *
 *      Connecting to names with several addresses, and asking for ports that
 *      need rights.
 *
 *      Names that end in ".test" are resolved here: "A+B.test" has the
 *      addresses A and B, in this order.
 */

#include "unit.h"
#include "port.h"
#include "log/init.h"
#include "net/connect.h"
#include "net/httpclient.h"
#include "net/init.h"
#include "process/callbacks.h"
#include "process/init.h"
#include "nslog.h"
#include "nssocket.h"
#include "nsstring.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>

#define ANSWERED 0 /* What Outcome returns, besides errnos. */

static int port; /* On 127.0.0.1 somebody answers, on 127.0.0.2
                  * nobody listens, 127.0.0.3 is silent. */
static int server;
static int fillers[3];

#include "../lib/resolve_test.c"

static atomic_int wallSeconds; /* The clock is set by so much. */

int
clock_gettime(clockid_t clock, struct timespec *timePtr)
{
    int (*real)(clockid_t,
                struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, timePtr);

    if (clock == CLOCK_REALTIME) {
        timePtr->tv_sec += wallSeconds;
    }
    return result;
}

int
gettimeofday(struct timeval *timePtr, void *zonePtr)
{
    struct timespec now;
    int             result = clock_gettime(CLOCK_REALTIME, &now);

    *timePtr = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

static int
ListenAt(const char *address, int backlog)
{
    int sock = Ns_SockListenEx(address, port, backlog);

    assert_true(sock >= 0);
    return sock;
}

/*
 * Connections beyond the backlog are not answered.
 */
static int
Setup(void **state)
{
    int silent;

    port = FreePort();
    server = ListenAt("127.0.0.1", 100);
    silent = ListenAt("127.0.0.3", 0);
    for (int i = 0; i < 3; i++) {
        fillers[i] = Ns_SockAsyncConnect("127.0.0.3", port);
        (void) Ns_SockWait(fillers[i], NS_SOCK_WRITE, i == 0 ? 60 : 0);
    }
    return silent < 0;
}

/*
 * Whether somebody answers on the socket, or else why not.
 */
static int
Outcome(NS_SOCKET sock)
{
    int       reason = errno, accepted;
    socklen_t length = sizeof(reason);

    if (sock == NS_INVALID_SOCKET) {
        return reason;
    }
    assert_int_equal(Ns_SockWait(sock, NS_SOCK_WRITE, 60), NS_OK);
    assert_int_equal(getsockopt(sock, SOL_SOCKET, SO_ERROR, &reason, &length),
                     0);
    close(sock);
    if (reason == 0) {
        accepted = Ns_SockAccept(server, NULL, NULL);
        assert_true(accepted >= 0);
        close(accepted);
    }
    return reason;
}

static bool
IsBlocking(NS_SOCKET sock)
{
    return (fcntl(sock, F_GETFL) & O_NONBLOCK) == 0;
}

static void
the_address_that_answers_is_found_behind_one_that_refuses(void **state)
{
    static const char *const names[] = {
        "127.0.0.2+127.0.0.1.test", "::1+127.0.0.1.test",
        "127.0.0.1+127.0.0.2.test", "127.0.0.2+127.0.0.4+127.0.0.1.test"};
    Ns_Time limit = {60, 0};

    for (int i = 0; i < Ns_NrElements(names); i++) {
        NS_SOCKET socks[] = {Ns_SockConnect(names[i], port),
                             Ns_SockTimedConnect(names[i], port, &limit),
                             Ns_SockAsyncConnect(names[i], port)};

        assert_true(IsBlocking(socks[0]));
        assert_true(IsBlocking(socks[1]));
        assert_false(IsBlocking(socks[2]));
        for (int j = 0; j < Ns_NrElements(socks); j++) {
            assert_int_equal(Outcome(socks[j]), ANSWERED);
        }
    }
}

static void
a_silent_address_delays_the_next_one_by_a_moment(void **state)
{
    NsStamp best = INT64_MAX;

    for (int i = 0; i < 20 && best > 5 * NS_STAMP_SECOND; i++) {
        NsStamp start = NsClockNow();
        Ns_Time limit = {60, 0};

        assert_int_equal(Outcome(Ns_SockTimedConnect("127.0.0.3+127.0.0.1.test",
                                                     port, &limit)),
                         ANSWERED);
        assert_int_equal(Outcome(Ns_SockAsyncConnect("127.0.0.3+127.0.0.1.test",
                                                     port)),
                         ANSWERED);
        assert_true(NsClockNow() - start >= 2 * NS_CONNECT_DELAY);
        best = MIN(best, NsClockNow() - start);
    }
    assert_true(best <= 5 * NS_STAMP_SECOND);
}

static void
all_addresses_share_one_time_limit(void **state)
{
    NsStamp   start = NsClockNow();
    Ns_Time   limit = {0, 400000};
    NS_SOCKET sock = Ns_SockTimedConnect("127.0.0.3+127.0.0.3.test", port,
                                         &limit);

    assert_int_equal(sock, NS_INVALID_SOCKET);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(NsClockNow() - start >= 400 * INT64_C(1000000));
}

static void
when_all_addresses_refuse_the_reason_is_that(void **state)
{
    Ns_Time limit = {60, 0};

    assert_int_equal(Outcome(Ns_SockConnect("127.0.0.2+127.0.0.4.test", port)),
                     ECONNREFUSED);
    assert_int_equal(Outcome(Ns_SockTimedConnect("127.0.0.2+127.0.0.4.test",
                                                 port, &limit)),
                     ECONNREFUSED);
    assert_int_equal(Outcome(Ns_SockAsyncConnect("127.0.0.2+127.0.0.4.test",
                                                 port)),
                     ECONNREFUSED);
    assert_int_equal(Outcome(Ns_SockConnect("no.such.host.invalid", port)), 0);
}

static void
a_local_address_is_used_for_each_address_of_its_family(void **state)
{
    int localPort = FreePort();

    assert_int_equal(Outcome(Ns_SockConnect2("::1+127.0.0.2+127.0.0.1.test",
                                             port, "127.0.0.5", 0)),
                     ANSWERED);
    assert_int_equal(Outcome(Ns_SockConnect2("127.0.0.2+127.0.0.1.test", port,
                                             NULL, localPort)),
                     ANSWERED);
}

/*
 * What becomes of a request; the server's part is done here.
 */
static char *
Ask(const char *url, NsStamp silence, bool isQueued, bool hasServer)
{
    static char      text[300];
    NsHttpClientSpec spec = {
        .url = url, .silence = silence, .reply = {.maxInMemory = -1}};
    NsHttpClient *clientPtr;
    Ns_DString    error;

    Ns_DStringInit(&error);
    clientPtr = NsHttpClientCreate(&spec, &error);
    assert_non_null(clientPtr);
    if (isQueued) {
        assert_int_equal(NsHttpClientQueue(clientPtr), NS_OK);
        if (hasServer) {
            static const char answer[] = "HTTP/1.0 200 OK\r\n\r\nhello";
            int               sock = Ns_SockAccept(server, NULL, NULL);

            assert_int_equal(write(sock, answer, sizeof(answer) - 1u),
                             sizeof(answer) - 1u);
            shutdown(sock, SHUT_WR);
            assert_true(read(sock, text, sizeof(text)) > 0);
            close(sock);
        }
        assert_int_equal(NsHttpClientWait(clientPtr, NULL), NS_OK);
    } else {
        NsHttpClientRun(clientPtr);
    }
    if (NsHttpClientError(clientPtr) != NULL) {
        snprintf(text, sizeof(text), "%s", NsHttpClientError(clientPtr));
    } else {
        size_t      length;
        const char *body = NsReplyBodyBytes(NsHttpClientBody(clientPtr),
                                            &length);

        snprintf(text, sizeof(text), "%d %.*s",
                 NsHttpClientHead(clientPtr)->status, (int) length, body);
    }
    NsHttpClientDestroy(&clientPtr);
    Ns_DStringFree(&error);
    return text;
}

static const char *
Url(const char *host)
{
    static char url[200];

    snprintf(url, sizeof(url), "http://%s:%d/", host, port);
    return url;
}

static void
a_request_reaches_the_address_that_answers(void **state)
{
    NsStamp limit = 60 * NS_STAMP_SECOND;

    assert_string_equal(Ask(Url("127.0.0.2+127.0.0.1.test"), limit, true, true),
                        "200 hello");
    assert_string_equal(Ask(Url("127.0.0.3+127.0.0.1.test"), limit, true, true),
                        "200 hello");
    assert_string_equal(Ask(Url("127.0.0.1"), limit, true, true), "200 hello");
}

static void
a_request_that_reaches_nobody_says_whom_and_why(void **state)
{
    NsStamp limit = 60 * NS_STAMP_SECOND, moment = NS_STAMP_SECOND * 2 / 5;
    char    expected[200];

    for (int isQueued = 0; isQueued < 2; isQueued++) {
        snprintf(expected, sizeof(expected),
                 "can't connect to 127.0.0.2 port %d: connection refused",
                 port);
        assert_string_equal(Ask(Url("127.0.0.2"), limit, isQueued, false),
                            expected);
        snprintf(expected, sizeof(expected),
                 "can't connect to 127.0.0.2+127.0.0.4.test port %d:"
                 " connection refused",
                 port);
        assert_string_equal(Ask(Url("127.0.0.2+127.0.0.4.test"), limit,
                                isQueued, false),
                            expected);
        assert_string_equal(Ask(Url("127.0.0.3+127.0.0.3.test"), moment,
                                isQueued, false),
                            "timeout waiting for writable socket");
    }
}

static void
a_request_that_is_given_up_while_it_connects_leaves_nothing_open(void **state)
{
    Ns_DString       error;
    NsHttpClientSpec spec = {.url = Url("127.0.0.3+127.0.0.3.test"),
                             .silence = 60 * NS_STAMP_SECOND};
    int              before = dup(0);

    close(before);
    Ns_DStringInit(&error);
    for (int i = 0; i < 2; i++) {
        NsHttpClient *clientPtr = NsHttpClientCreate(&spec, &error);

        assert_non_null(clientPtr);
        if (i == 1) {
            assert_int_equal(NsHttpClientQueue(clientPtr), NS_OK);
            usleep(300000); /* Both addresses have been tried. */
        }
        NsHttpClientDestroy(&clientPtr);
    }
    assert_int_equal(dup(0), before);
    close(before);
    Ns_DStringFree(&error);
}

static void
a_request_takes_the_time_it_takes_whatever_the_clock_is_set_to(void **state)
{
    NsHttpClientSpec spec = {
        .url = Url("127.0.0.3"), .silence = NS_STAMP_SECOND};
    Ns_DString error;

    Ns_DStringInit(&error);
    for (int step = -3600; step <= 3600; step += 7200) {
        NsHttpClient *clientPtr = NsHttpClientCreate(&spec, &error);
        NsStamp       start = NsClockNow();
        Ns_Time       elapsed;

        assert_int_equal(NsHttpClientQueue(clientPtr), NS_OK);
        usleep(100000);
        wallSeconds = step;
        while (!NsHttpClientIsDone(clientPtr)) {
            assert_true(NsClockNow() - start < 60 * NS_STAMP_SECOND);
            usleep(10000);
        }
        wallSeconds = 0;
        assert_string_equal(NsHttpClientError(clientPtr),
                            "timeout waiting for writable socket");
        assert_true(NsClockNow() - start >= NS_STAMP_SECOND * 9 / 10);
        elapsed = NsHttpClientElapsed(clientPtr);
        assert_in_range(elapsed.sec, 1, 60);
        NsHttpClientDestroy(&clientPtr);
    }
    Ns_DStringFree(&error);
}

static void
a_port_that_needs_rights_is_refused_for_lack_of_them(void **state)
{
    NS_SOCKET sock;
    int       reason;

    if (geteuid() == 0) {
        assert_int_equal(seteuid(65534), 0);
    }
    sock = Ns_SockListenEx("127.0.0.1", 81, 10);
    reason = errno;
    if (getuid() == 0) {
        assert_int_equal(seteuid(0), 0);
    }
    if (sock != NS_INVALID_SOCKET) {
        /* Nothing needs rights on this machine. */
        close(sock);
        skip();
    }
    assert_int_equal(reason, EACCES);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_address_that_answers_is_found_behind_one_that_refuses),
        cmocka_unit_test(a_silent_address_delays_the_next_one_by_a_moment),
        cmocka_unit_test(all_addresses_share_one_time_limit),
        cmocka_unit_test(when_all_addresses_refuse_the_reason_is_that),
        cmocka_unit_test(
            a_local_address_is_used_for_each_address_of_its_family),
        cmocka_unit_test(a_request_reaches_the_address_that_answers),
        cmocka_unit_test(a_request_that_reaches_nobody_says_whom_and_why),
        cmocka_unit_test(
            a_request_that_is_given_up_while_it_connects_leaves_nothing_open),
        cmocka_unit_test(
            a_request_takes_the_time_it_takes_whatever_the_clock_is_set_to),
        cmocka_unit_test(a_port_that_needs_rights_is_refused_for_lack_of_them),
    };

    NsLogInit();
    NsProcessInit();
    NsNetInit();
    NsCallbacksRun(NS_AT_READY);
    return cmocka_run_group_tests(tests, Setup, NULL);
}
