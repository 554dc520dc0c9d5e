/* SPDX-License-Identifier: MPL-2.0
 * net_setup_test.c --
 *
 *      Drivers whose connections begin with something expensive, as a TLS
 *      handshake: it delays nobody whose connection is established.
 */

#include "net_echo.h"

#define N_NEW 60
#define LATE  20 /* New ones served when the other asks again. */

static int old;                /* Connection that had a request before. */
static int nSeen, nNewSeen;    /* The driver thread. */
static int oldSeen, againSeen; /* How many new ones were before it. */

static int
IsSettingUp(const Ns_Sock *sock)
{
    return false;
}

static void
Note(const NsMessage *messagePtr)
{
    if (EchoIs(messagePtr, "/new")) {
        if (++nNewSeen == LATE) {
            EchoWrite(old, "GET /again HTTP/1.1\r\nHost: x\r\n\r\n");
        }
    } else if (EchoIs(messagePtr, "/old")) {
        oldSeen = nNewSeen;
    } else if (EchoIs(messagePtr, "/again")) {
        againSeen = nNewSeen;
    }
    nSeen++;
}

static void
Await(atomic_int *numberPtr, int number)
{
    while (atomic_load(numberPtr) < number) {
        usleep(1000);
    }
}

static void
a_flood_of_new_connections_is_served_between_requests_on_old_ones(void **state)
{
    int fds[N_NEW], holder;

    holder = EchoConnect();
    old = EchoConnect();
    EchoWrite(old, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(EchoReadReply(old), "GET /first 0 0 ");
    for (int i = 0; i < N_NEW; i++) {
        fds[i] = EchoConnect();
    }
    Await(&nEchoOpen, N_NEW + 2);
    EchoWrite(holder, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    while (!atomic_load(&isHeld)) {
        usleep(1000);
    }
    /* All of them, and then the old one, in one turn of the driver thread. */
    for (int i = 0; i < N_NEW; i++) {
        EchoWrite(fds[i], "GET /new HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    EchoWrite(old, "GET /old HTTP/1.1\r\nHost: x\r\n\r\n");
    atomic_store(&isHeld, false);
    assert_string_equal(EchoReadReply(old), "GET /old 0 0 ");
    assert_string_equal(EchoReadReply(old), "GET /again 0 0 ");
    for (int i = 0; i < N_NEW; i++) {
        assert_string_equal(EchoReadReply(fds[i]), "GET /new 0 0 ");
        close(fds[i]);
    }
    close(old);
    close(holder);
    assert_in_range(oldSeen, 0, 4);
    assert_in_range(againSeen, LATE, LATE + 8);
}

static int
Start(void **state)
{
    answersDirectly = true;
    echoSeenProc = Note;
    echoSetupProc = IsSettingUp;
    EchoStart("keepwait", "60", "acceptsize", "128", NULL);
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(
        a_flood_of_new_connections_is_served_between_requests_on_old_ones)};

    return cmocka_run_group_tests(tests, Start, NULL);
}
