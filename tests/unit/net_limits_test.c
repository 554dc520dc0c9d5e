/* SPDX-License-Identifier: MPL-2.0
 * net_limits_test.c --
 *
 *      A driver under stress: spooled uploads, clients that are too slow or too
 *      many, descriptors that run out, and a stop in the middle of it all.
 */

#include "net_echo.h"

#include <sys/resource.h>

#define BODY_BYTES 700000

static void
SendAll(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);

        assert_true(n > 0);
        bytes += n;
        length -= (size_t) n;
    }
}

/*
 * True when the other side closes within the time.
 */
static bool
IsClosedWithin(int fd, int ms)
{
    struct pollfd pollFd = {.fd = fd, .events = POLLIN};
    char          byte;

    return poll(&pollFd, 1, ms) == 1 && read(fd, &byte, 1) <= 0;
}

static int64_t
Stat(const char *key)
{
    Ns_DString  ds;
    const char *at;
    int64_t     value;

    Ns_DStringInit(&ds);
    NsDriverStats(&ds, NULL);
    at = strstr(Ns_DStringValue(&ds), key);
    assert_non_null(at);
    value = strtoll(at + strlen(key), NULL, 10);
    Ns_DStringFree(&ds);
    return value;
}

static void
a_spooled_upload_arrives_and_the_connection_goes_on(void **state)
{
    char   *body = ns_malloc(BODY_BYTES);
    int64_t nSpooled = Stat("spooled ");
    int     fds[6];

    memset(body, 'z', BODY_BYTES);
    for (int i = 0; i < 6; i++) {
        fds[i] = EchoConnect();
        EchoWrite(fds[i],
                  "POST /up HTTP/1.1\r\nHost: x\r\n"
                  "Content-Length: 700000\r\n\r\n");
        SendAll(fds[i], body, BODY_BYTES / 2);
    }
    for (int i = 0; i < 6; i++) {
        SendAll(fds[i], body, BODY_BYTES / 2);
        assert_memory_equal(EchoReadReply(fds[i]), "POST /up 700000 0 zzz", 21);
        EchoWrite(fds[i], "GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_string_equal(EchoReadReply(fds[i]), "GET /next 0 0 ");
        close(fds[i]);
    }
    assert_true(Stat("spooled ") >= nSpooled + 6);
    ns_free(body);
}

static void
a_spooled_upload_that_breaks_off_is_forgotten(void **state)
{
    int fd = EchoConnect();

    EchoWrite(fd,
              "POST /up HTTP/1.1\r\nHost: x\r\n"
              "Content-Length: 700000\r\n\r\nzzzz");
    close(fd);
    fd = EchoConnect();
    EchoWrite(fd,
              "POST /up HTTP/1.1\r\nHost: x\r\n"
              "Content-Length: 700000\r\n\r\nzzzz");
    /* Without recvwait it were 30 seconds. */
    assert_true(IsClosedWithin(fd, 20000));
    close(fd);
}

/*
 * Of 12 connections with unfinished requests, how many are closed when no more
 * are for a while.
 */
static int
CountRefused(void)
{
    int fds[12], nClosed, nBefore, nLooks = 0;

    for (int i = 0; i < 12; i++) {
        fds[i] = EchoConnect();
        EchoWrite(fds[i], "GET /partial HTTP/1.1\r\nHo");
    }
    for (nBefore = -1, nClosed = 0; nClosed != nBefore && ++nLooks < 100;) {
        usleep(200000);
        nBefore = nClosed == 0 ? -1 : nClosed;
        nClosed = 0;
        for (int i = 0; i < 12; i++) {
            nClosed += IsClosedWithin(fds[i], 0);
        }
    }
    for (int i = 0; i < 12; i++) {
        close(fds[i]);
    }
    return nClosed;
}

static void
one_peer_may_not_hold_many_unfinished_requests(void **state)
{
    int nRefused = 0;

    /* On a busy machine, recvwait may have passed for all of them. */
    for (int i = 0; i < 20 && nRefused != 12 - 8; i++) {
        nRefused = CountRefused();
    }
    assert_int_equal(nRefused, 12 - 8);
}

static void
a_client_that_drips_loses_its_connection(void **state)
{
    int     fd = EchoConnect();
    NsStamp start = NsClockNow();
    bool    isClosed = false;

    EchoWrite(fd, "GET /drip HTTP/1.1\r\nX: ");
    while (!isClosed && NsClockNow() - start < 120 * NS_STAMP_SECOND) {
        (void) !send(fd, "x", 1, MSG_NOSIGNAL);
        isClosed = IsClosedWithin(fd, 100);
    }
    assert_true(isClosed);
    assert_true(NsClockNow() - start > 500 * INT64_C(1000000));
    close(fd);
}

/*
 * A body whose first part comes with the head, six times the minimum rate of
 * the time until the rest drips.
 */
static bool
IsKeptWhileItDrips(void)
{
    char text[6100];
    int  fd = EchoConnect();
    bool isClosed = false;

    snprintf(text, sizeof(text),
             "POST /first HTTP/1.1\r\n"
             "Content-Length: 10000\r\n\r\n%06000d",
             0);
    EchoWrite(fd, text);
    for (int i = 0; i < 7 && !isClosed; i++) {
        isClosed = IsClosedWithin(fd, 200);
        (void) !send(fd, "x", 1, MSG_NOSIGNAL);
    }
    close(fd);
    return !isClosed;
}

static void
what_comes_first_counts_for_the_minimum_rate(void **state)
{
    bool isKept = false;

    /* A busy machine may make some of them too slow indeed. */
    for (int i = 0; i < 10 && !isKept; i++) {
        isKept = IsKeptWhileItDrips();
    }
    assert_true(isKept);
}

static void
without_descriptors_clients_are_refused_until_there_are_some(void **state)
{
    struct rlimit      old, limit;
    struct sockaddr_in sa;
    int                fds[64], clients[8], n = 0;
    char               reply[64] = "";
    bool               isRefused = false;

    /* Made first: what runs out are the descriptors of both sides. */
    assert_int_equal(Ns_GetSockAddr(&sa, "127.0.0.1", echoPort), NS_OK);
    for (int i = 0; i < Ns_NrElements(clients); i++) {
        clients[i] = socket(AF_INET, SOCK_STREAM, 0);
    }
    getrlimit(RLIMIT_NOFILE, &old);
    for (int i = 0; i < 32; i++) {
        fds[n] = fcntl(0, F_DUPFD, 3);
        if (fds[n] >= 0) {
            n++;
        }
    }
    limit = old;
    limit.rlim_cur = (rlim_t) fds[n - 1] + 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (n < 64 && (fds[n] = fcntl(0, F_DUPFD, 3)) >= 0) {
        n++;
    }
    /* Connections of the tests before may end only now; the first clients then
     * take the descriptors that become free. */
    for (int i = 0; i < Ns_NrElements(clients) && !isRefused; i++) {
        struct pollfd poller = {.fd = clients[i], .events = POLLIN};

        assert_int_equal(connect(clients[i], (struct sockaddr *) &sa,
                                 sizeof(sa)),
                         0);
        if (poll(&poller, 1, i < Ns_NrElements(clients) - 1 ? 500 : 60000)
            == 1) {
            isRefused = recv(clients[i], reply, sizeof(reply) - 1, 0) > 0
                && strstr(reply, "503") != NULL;
        }
    }
    while (n > 0) {
        close(fds[--n]);
    }
    setrlimit(RLIMIT_NOFILE, &old);
    for (int i = 0; i < Ns_NrElements(clients); i++) {
        close(clients[i]);
    }
    assert_true(isRefused);

    for (int i = 0; i < 2400; i++) {
        const char *answer;
        int         fd = EchoConnect();

        EchoWrite(fd, "GET /again HTTP/1.1\r\nHost: x\r\n\r\n");
        answer = EchoReadReply(fd);
        isRefused = answer == NULL || strcmp(answer, "GET /again 0 0 ") != 0;
        close(fd);
        if (!isRefused) {
            break;
        }
        usleep(50000);
    }
    assert_false(isRefused);
}

static void
a_client_that_takes_nothing_is_given_up(void **state)
{
    int        fd = EchoConnect();
    Ns_DString ds;

    bigBytes = 30000000;
    EchoWrite(fd, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
    Ns_DStringInit(&ds);
    for (int i = 0; i < 12000 && Ns_DStringLength(&ds) == 0; i++) {
        usleep(10000);
        NsWriterList(&ds, "s1", false);
    }
    assert_non_null(strstr(Ns_DStringValue(&ds), " echo 127.0.0.1 "));
    for (int i = 0; i < 1200 && Ns_DStringLength(&ds) > 0; i++) {
        usleep(100000);
        Ns_DStringTrunc(&ds, 0);
        NsWriterList(&ds, NULL, false);
    }
    assert_int_equal(Ns_DStringLength(&ds), 0);
    Ns_DStringFree(&ds);
    close(fd);
}

static void
requests_in_flight_are_answered_when_the_server_stops(void **state)
{
    int     busy = EchoConnect(), half = EchoConnect(), idle = EchoConnect();
    int     last;
    Ns_Time deadline;

    bigBytes = 5000000;
    EchoWrite(busy, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
    EchoWrite(half, "GET /half HTTP/1.1\r\nHo");
    /* When a later one is answered, the others have been accepted and read. */
    last = EchoConnect();
    EchoWrite(last,
              "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_string_equal(EchoReadReply(last), "GET /last 0 0 ");
    close(last);
    NsDriversStop();
    EchoWrite(half, "st: x\r\n\r\n");
    assert_string_equal(EchoReadReply(half), "GET /half 0 0 ");
    assert_null(EchoReadReply(half));
    assert_int_equal(strlen(EchoReadReply(busy)),
                     5000000 + strlen("GET /big 0 0 "));
    assert_null(EchoReadReply(busy));
    assert_null(EchoReadReply(idle));
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 120, 0);
    NsDriversWait(&deadline);
    close(busy);
    close(half);
    close(idle);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spooled_upload_arrives_and_the_connection_goes_on),
        cmocka_unit_test(a_spooled_upload_that_breaks_off_is_forgotten),
        cmocka_unit_test(one_peer_may_not_hold_many_unfinished_requests),
        cmocka_unit_test(a_client_that_drips_loses_its_connection),
        cmocka_unit_test(what_comes_first_counts_for_the_minimum_rate),
        cmocka_unit_test(
            without_descriptors_clients_are_refused_until_there_are_some),
        cmocka_unit_test(a_client_that_takes_nothing_is_given_up),
        cmocka_unit_test(requests_in_flight_are_answered_when_the_server_stops),
    };

    signal(SIGPIPE, SIG_IGN);
    EchoStart("keepwait", "2", "recvwait", "1", "sendwait", "1",
              "spoolerthreads", "2", "maxpartialperpeer", "8", "minrecvrate",
              "1000", NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
