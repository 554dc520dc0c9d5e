/* SPDX-License-Identifier: MPL-2.0
 * net_driver_test.c --
 *
 *      A driver as a client sees it: requests in pieces and in a row, bodies of
 *      all sizes, slow readers, idle connections.
 */

#include "net_echo.h"

#include <sys/wait.h>

static void
Exchange(const char *request, const char *expected)
{
    int fd = EchoConnect();

    EchoWrite(fd, request);
    assert_string_equal(EchoReadReply(fd), expected);
    close(fd);
}

static void
one_request_gets_one_reply(void **state)
{
    Exchange("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a 0 0 ");
}

static void
a_connection_serves_many_requests(void **state)
{
    int fd = EchoConnect();

    for (int i = 0; i < 200; i++) {
        EchoWrite(fd, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_string_equal(EchoReadReply(fd), "GET /a 0 0 ");
    }
    close(fd);
}

static void
requests_in_one_packet_are_answered_in_order(void **state)
{
    int fd = EchoConnect();

    EchoWrite(
        fd,
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
        "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nde\r\n1;x=y\r\nf\r\n0\r\n\r\n"
        "GET /4 HTTP/1.1\r\nHost: x\r\n\r\nGET /5 HTTP/1.1\r\nHo");
    assert_string_equal(EchoReadReply(fd), "GET /1 0 0 ");
    assert_string_equal(EchoReadReply(fd), "POST /2 3 0 abc");
    assert_string_equal(EchoReadReply(fd), "POST /3 3 0 def");
    assert_string_equal(EchoReadReply(fd), "GET /4 0 0 ");
    EchoWrite(fd, "st: x\r\n\r\n");
    assert_string_equal(EchoReadReply(fd), "GET /5 0 0 ");
    close(fd);
}

static void
many_requests_in_one_packet_are_all_answered(void **state)
{
    int   fd = EchoConnect();
    char *all = ns_calloc(1, 100 * 64);

    for (int i = 0; i < 100; i++) {
        sprintf(all + strlen(all), "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
    }
    EchoWrite(fd, all);
    for (int i = 0; i < 100; i++) {
        char expected[32];

        sprintf(expected, "GET /%d 0 0 ", i);
        assert_string_equal(EchoReadReply(fd), expected);
    }
    ns_free(all);
    close(fd);
}

static void
a_request_may_come_byte_by_byte(void **state)
{
    const char *request = "POST /slow HTTP/1.1\r\nHost: x\r\n"
                          "Content-Length: 5\r\n\r\nhello";
    int         fd = EchoConnect();

    for (const char *p = request; *p != '\0'; p++) {
        assert_int_equal(write(fd, p, 1), 1);
        usleep(500);
    }
    assert_string_equal(EchoReadReply(fd), "POST /slow 5 0 hello");
    close(fd);
}

static void
bodies_of_every_size_arrive(void **state)
{
    static const int sizes[] = {
        1, 16000, 16383, 16384, 16385, 65535, 65536, 65537, 300000, 1048576};

    for (int i = 0; i < Ns_NrElements(sizes); i++) {
        for (int isChunked = 0; isChunked < 2; isChunked++) {
            int   fd = EchoConnect();
            char *body = ns_malloc((size_t) sizes[i] + 256);
            char  expected[256];
            int   n = isChunked
                  ? sprintf(body,
                            "POST /b HTTP/1.1\r\nHost: x\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n%x\r\n",
                            sizes[i])
                  : sprintf(body,
                            "POST /b HTTP/1.1\r\nHost: x\r\n"
                              "Content-Length: %d\r\n\r\n",
                            sizes[i]);

            memset(body + n, 'y', (size_t) sizes[i]);
            n += sizes[i];
            if (isChunked) {
                n += sprintf(body + n, "\r\n0\r\n\r\n");
            }
            for (int done = 0; done < n;) {
                ssize_t got = write(fd, body + done, (size_t) (n - done));

                assert_true(got > 0);
                done += (int) got;
            }
            sprintf(expected, "POST /b %d 0 %.*s", sizes[i], MIN(sizes[i], 100),
                    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
            assert_string_equal(EchoReadReply(fd), expected);
            EchoWrite(fd, "GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
            assert_string_equal(EchoReadReply(fd), "GET /next 0 0 ");
            ns_free(body);
            close(fd);
        }
    }
}

static void
a_body_that_is_too_large_is_refused(void **state)
{
    int    fd = EchoConnect();
    char  *body = ns_calloc(1, 2000000);
    size_t done = 0;

    EchoWrite(fd,
              "POST /b HTTP/1.1\r\nHost: x\r\n"
              "Content-Length: 2000000\r\n\r\n");
    while (done < 2000000) {
        ssize_t n = write(fd, body + done, 2000000 - done);

        assert_true(n > 0);
        done += (size_t) n;
    }
    assert_string_equal(EchoReadReply(fd), "POST /b 0 413 ");
    assert_null(EchoReadReply(fd));
    close(fd);
    ns_free(body);
    Exchange(
        "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n",
        "POST /b 0 413 ");
}

static void
malformed_requests_are_handed_over_with_their_refusal(void **state)
{
    static const struct {
        const char *request, *reply;
    } cases[] = {
        {"GET\r\n\r\n", "BAD / 0 400 "},
        {"GET /a HTTP/1.1\r\nno colon\r\n\r\n", "GET /a 0 400 "},
        {"GET /a HTTP/1.1\r\n continued\r\n\r\n", "GET /a 0 400 "},
        {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
         "POST /a 0 400 "},
        {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx",
         "POST /a 0 400 "},
        {"GET /a HTTP/1.1\r\n\r\n", "GET /a 0 400 "},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        int fd = EchoConnect();

        EchoWrite(fd, cases[i].request);
        assert_string_equal(EchoReadReply(fd), cases[i].reply);
        close(fd);
    }
}

static void
a_client_that_half_closes_gets_its_answer(void **state)
{
    int fd = EchoConnect();

    EchoWrite(fd, "GET /half HTTP/1.1\r\nHost: x\r\n\r\n");
    shutdown(fd, SHUT_WR);
    assert_string_equal(EchoReadReply(fd), "GET /half 0 0 ");
    assert_null(EchoReadReply(fd));
    close(fd);
}

static void
close_ends_the_connection_after_the_reply(void **state)
{
    int fd = EchoConnect();

    EchoWrite(fd, "GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_string_equal(EchoReadReply(fd), "GET /c 0 0 ");
    assert_null(EchoReadReply(fd));
    close(fd);
}

static void
a_slow_reader_gets_all_and_delays_nobody(void **state)
{
    int   slow[8];
    char *reply;

    bigBytes = 8000000;
    for (int i = 0; i < 8; i++) {
        slow[i] = EchoConnect();
        EchoWrite(slow[i], "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for (int i = 0; i < 20; i++) {
        Exchange("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a 0 0 ");
    }
    for (int i = 0; i < 8; i++) {
        reply = EchoReadReply(slow[i]);
        assert_non_null(reply);
        assert_int_equal(strlen(reply), 8000000 + strlen("GET /big 0 0 "));
        EchoWrite(slow[i], "GET /after HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_string_equal(EchoReadReply(slow[i]), "GET /after 0 0 ");
        close(slow[i]);
    }
}

/*
 * For how many milliseconds a connection lives after this request, if any.  A
 * busy machine makes it longer, so there are some tries.
 */
static int64_t
ShortestLife(const char *request, int64_t enough)
{
    int64_t shortest = INT64_MAX;

    for (int i = 0; i < 10 && shortest > enough; i++) {
        NsStamp start = NsClockNow();
        int     fd = EchoConnect();

        if (*request != '\0') {
            EchoWrite(fd, request);
            assert_non_null(EchoReadReply(fd));
        }
        assert_null(EchoReadReply(fd));
        shortest = MIN(shortest, (NsClockNow() - start) / 1000000);
        close(fd);
    }
    return shortest;
}

static void
an_idle_connection_is_closed_after_keepwait(void **state)
{
    assert_in_range(ShortestLife("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", 4900),
                    3900, 4900);
}

static void
a_silent_connection_is_closed_after_recvwait(void **state)
{
    assert_in_range(ShortestLife("", 3000), 1900, 3000);
}

static void
leave_to_send_is_given(void **state)
{
    int fd = EchoConnect();

    EchoWrite(fd,
              "POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
              "Content-Length: 2\r\n\r\n");
    assert_string_equal(EchoReadReply(fd), "HTTP/1.1 100 Continue\r\n\r\n");
    EchoWrite(fd, "ok");
    assert_string_equal(EchoReadReply(fd), "POST /e 2 0 ok");
    close(fd);
}

/*
 * Until it runs its program, a child has all descriptors.  A reset arrives for
 * a connection that is closed in the server alone.
 */
static void
a_child_that_has_a_closed_connection_does_no_harm(void **state)
{
    struct linger reset = {.l_onoff = 1};
    pid_t         child;
    int           fd, pair[2];
    char          byte = 'x';

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    while (atomic_load(&nEchoOpen) > 0) {
        usleep(1000);
    }
    fd = EchoConnect();
    EchoWrite(fd, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(EchoReadReply(fd), "GET /a 0 0 ");
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        /* The end of the client is the parent's alone; wait for its end. */
        close(fd);
        close(pair[0]);
        (void) !write(pair[1], &byte, 1);
        _exit((int) read(pair[1], &byte, 1));
    }
    close(pair[1]);
    assert_int_equal(read(pair[0], &byte, 1), 1);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    while (atomic_load(&nEchoOpen) > 0) {
        usleep(1000);
    }
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset,
                                sizeof(reset)),
                     0);
    close(fd);
    one_request_gets_one_reply(state);
    close(pair[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void
what_requests_put_off_is_done_after_them_and_once(void **state)
{
    enum { N = 20 };

    int holder = EchoConnect(), fds[N], nBefore = atomic_load(&nToDo);

    for (int i = 0; i < N; i++) {
        fds[i] = EchoConnect();
        EchoWrite(fds[i], "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_string_equal(EchoReadReply(fds[i]), "GET /a 0 0 ");
    }
    EchoWrite(holder, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    while (!atomic_load(&isHeld)) {
        usleep(1000);
    }
    for (int i = 0; i < N; i++) {
        EchoWrite(fds[i], "GET /defer HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    atomic_store(&isHeld, false);
    for (int i = 0; i < N; i++) {
        assert_string_equal(EchoReadReply(fds[i]), "GET /defer 0 0 ");
        close(fds[i]);
    }
    /* One that was busy elsewhere does it by itself. */
    assert_true(atomic_load(&nToDo) - nBefore > 0);
    while (atomic_load(&nDone) < atomic_load(&nToDo)) {
        usleep(1000);
    }
    assert_int_equal(atomic_load(&nDone), atomic_load(&nToDo));
    assert_int_equal(atomic_load(&nDoneEarly), 0);
    assert_string_equal(EchoReadReply(holder), "GET /hold 0 0 ");
    close(holder);
}

static void
nothing_is_put_off_outside_of_driver_threads(void **state)
{
    assert_false(NsDriverDefer(EchoDo, &nToDo));
}

static int
AnswerDirectly(void **state)
{
    answersDirectly = true;
    return 0;
}

static void
stopping_ends_all_threads_and_resets_nobody(void **state)
{
    int     fd = EchoConnect(), nBefore = atomic_load(&nEchoed);
    NsStamp start;
    Ns_Time deadline;

    EchoWrite(fd, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(EchoReadReply(fd), "GET /a 0 0 ");
    /* Its thread gives the socket back just after we have the reply.  If it had
     * not yet, the server would wait for us to close, which we do not. */
    while (atomic_load(&nEchoed) == nBefore) {
        usleep(1000);
    }
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 120, 0);
    start = NsClockNow();
    NsDriversStop();
    NsDriversWait(&deadline);
    /* Well below keepwait, also on a busy machine. */
    assert_in_range((NsClockNow() - start) / 1000000, 0, 3500);
    /* The end of data does not set it. */
    errno = 0;
    assert_null(EchoReadReply(fd));
    assert_int_equal(errno, 0);
    close(fd);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_request_gets_one_reply),
    cmocka_unit_test(a_connection_serves_many_requests),
    cmocka_unit_test(requests_in_one_packet_are_answered_in_order),
    cmocka_unit_test(many_requests_in_one_packet_are_all_answered),
    cmocka_unit_test(a_request_may_come_byte_by_byte),
    cmocka_unit_test(bodies_of_every_size_arrive),
    cmocka_unit_test(a_body_that_is_too_large_is_refused),
    cmocka_unit_test(malformed_requests_are_handed_over_with_their_refusal),
    cmocka_unit_test(a_client_that_half_closes_gets_its_answer),
    cmocka_unit_test(close_ends_the_connection_after_the_reply),
    cmocka_unit_test(a_slow_reader_gets_all_and_delays_nobody),
    cmocka_unit_test(an_idle_connection_is_closed_after_keepwait),
    cmocka_unit_test(a_silent_connection_is_closed_after_recvwait),
    cmocka_unit_test(leave_to_send_is_given),
    cmocka_unit_test(a_child_that_has_a_closed_connection_does_no_harm),
    cmocka_unit_test(what_requests_put_off_is_done_after_them_and_once),
    cmocka_unit_test(nothing_is_put_off_outside_of_driver_threads),
};

static const struct CMUnitTest stopTests[] = {
    cmocka_unit_test(stopping_ends_all_threads_and_resets_nobody),
};

int
main(void)
{
    int failed;

    signal(SIGPIPE, SIG_IGN);
    EchoStart("keepwait", "4", "recvwait", "2", "readahead", "65536", NULL);
    failed = cmocka_run_group_tests_name("in a thread", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("directly", tests, AnswerDirectly,
                                          NULL);
    failed += cmocka_run_group_tests_name("stop", stopTests, NULL, NULL);
    return failed;
}
