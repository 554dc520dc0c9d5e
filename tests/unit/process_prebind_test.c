/* SPDX-License-Identifier: MPL-2.0
 * process_prebind_test.c --
 *
 *      Sockets bound early, and the helper that binds them.
 *
 *      1  the table     2  who gets a port     3  the helper
 */

#include "unit.h"
#include "port.h"
#include "log/init.h"
#include "process/binder.h"
#include "process/prebind.h"

static int
SetUpGroup(void **state)
{
    NsLogInit();
    NsPrebindInit();
    NsBinderInit();
    return 0;
}

/*
 * The port of a bound socket.
 */
static int
PortOf(int fd)
{
    struct sockaddr_in address;
    socklen_t          length = sizeof(address);

    assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &length), 0);
    return ntohs(address.sin_port);
}

static void
ASocketIsTakenOnceAndOnlyForItsAddress(void **state)
{
    char list[64];
    int  port = FreePort(), fd;

    snprintf(list, sizeof(list), "127.0.0.1:%d", port);
    NsPrebindList(list);
    assert_int_equal(NsPrebindTake(NS_PREBIND_TCP, "127.0.0.2", port), -1);
    assert_int_equal(NsPrebindTake(NS_PREBIND_UDP, "127.0.0.1", port), -1);
    assert_int_equal(NsPrebindTake(NS_PREBIND_TCP, NULL, port), -1);
    fd = NsPrebindTake(NS_PREBIND_TCP, "127.0.0.1", port);
    assert_true(fd >= 0);
    assert_int_equal(PortOf(fd), port);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(NsPrebindTake(NS_PREBIND_TCP, "127.0.0.1", port), -1);
    close(fd);
    NsPrebindClose();
}

static void
BadAndDoubleElementsAreLeftOut(void **state)
{
    char list[128];
    int  port = FreePort(), fd;

    snprintf(list, sizeof(list), "nonsense,127.0.0.1:%d/udp,127.0.0.1:%d/udp",
             port, port);
    NsPrebindList(list);
    fd = NsPrebindTake(NS_PREBIND_UDP, "127.0.0.1", port);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(NsPrebindTake(NS_PREBIND_UDP, "127.0.0.1", port), -1);
    NsPrebindClose();
}

static void
WhatIsKeptIsTakenOnce(void **state)
{
    int port = FreePort(), fd = open("/dev/null", O_RDONLY);

    NsPrebindKeep("127.0.0.1", port, fd);
    assert_int_equal(NsPrebindTake(NS_PREBIND_TCP, "127.0.0.1", port), fd);
    assert_int_equal(NsPrebindTake(NS_PREBIND_TCP, "127.0.0.1", port), -1);
    close(fd);
    NsPrebindClose();
}

static int
Bind(int port, NsBindMode mode)
{
    NsPrebindSpec spec = {NS_PREBIND_TCP, "127.0.0.1", port, mode};

    return NsPrebindBind(&spec);
}

static void
APortThatIsBoundAloneIsNobodyElses(void **state)
{
    int port = FreePort(), alone = Bind(port, NS_BIND_ALONE);

    assert_true(alone >= 0);
    for (NsBindMode mode = NS_BIND_USUAL; mode <= NS_BIND_SHARED; mode++) {
        assert_int_equal(Bind(port, mode), -1);
        assert_int_equal(errno, EADDRINUSE);
    }
    close(alone);
}

static void
APortThatIsSharedCannotBeHadAlone(void **state)
{
    int port = FreePort(), first = Bind(port, NS_BIND_SHARED), second;

    assert_true(first >= 0);
    assert_int_equal(listen(first, 1), 0);
    assert_int_equal(Bind(port, NS_BIND_ALONE), -1);
    assert_int_equal(errno, EADDRINUSE);
    second = Bind(port, NS_BIND_SHARED);
    assert_true(second >= 0);
    close(first);
    close(second);
}

/*
 * The connection that the first one has closed stays for a minute.
 */
static void
ConnectionsOfThePredecessorDoNotKeepAPort(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int port = FreePort(), client = socket(AF_INET, SOCK_STREAM, 0);
    int server = Bind(port, NS_BIND_USUAL), fd;

    address.sin_port = htons((uint16_t) port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(listen(server, 1), 0);
    assert_int_equal(connect(client, (struct sockaddr *) &address,
                             sizeof(address)),
                     0);
    fd = accept(server, NULL, NULL);
    assert_true(fd >= 0);
    close(fd);
    close(client);
    close(server);
    fd = Bind(port, NS_BIND_ALONE);
    assert_true(fd >= 0);
    close(fd);
}

static void
ASocketInTheFileSystemStaysWithItsListener(void **state)
{
    char path[64];
    int  first, second;

    snprintf(path, sizeof(path), "/tmp/nsd-prebind-%d", (int) getpid());
    first = NsBindUnix(path, SOCK_STREAM, 0600);
    assert_true(first >= 0);
    assert_int_equal(listen(first, 1), 0);
    assert_int_equal(NsBindUnix(path, SOCK_STREAM, 0), -1);
    assert_int_equal(errno, EADDRINUSE);
    close(first);
    second = NsBindUnix(path, SOCK_STREAM, 0);
    assert_true(second >= 0);
    close(second);
    unlink(path);
}

static void
WhatNobodyTookIsClosed(void **state)
{
    NsPrebindSpec spec = {NS_PREBIND_TCP, "127.0.0.1", FreePort(),
                          NS_BIND_USUAL};
    char          list[64];
    int           fd;

    snprintf(list, sizeof(list), "127.0.0.1:%d", spec.port);
    NsPrebindList(list);
    NsPrebindClose();
    assert_int_equal(NsPrebindTake(NS_PREBIND_TCP, "127.0.0.1", spec.port), -1);
    fd = NsPrebindBind(&spec);
    assert_true(fd >= 0);
    close(fd);
}

/*
 * What the helper binds.
 */
static int
Ask(const char *address, int port)
{
    NsPrebindSpec spec = {NS_PREBIND_TCP, "", port, NS_BIND_USUAL};

    strcpy(spec.address, address);
    return NsBinderBind(&spec);
}

static void
TheHelperHandsOverABoundSocket(void **state)
{
    int port = FreePort(), fd;

    NsBinderStart();
    fd = Ask("127.0.0.1", port);
    assert_true(fd >= 0);
    assert_int_equal(PortOf(fd), port);
    close(fd);
    NsBinderStop();
}

static void
TheHelperReportsWhatItCannotBind(void **state)
{
    int fd;

    NsBinderStart();
    fd = Ask("192.0.2.1", 1);
    assert_int_equal(fd, -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
    fd = Ask("127.0.0.1", 0);
    assert_true(fd >= 0);
    close(fd);
    NsBinderStop();
}

static void
WithoutHelperThereIsNoSocket(void **state)
{
    assert_int_equal(Ask("127.0.0.1", 0), -1);
    assert_int_equal(errno, ENOTCONN);
    NsBinderStop();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASocketIsTakenOnceAndOnlyForItsAddress),
        cmocka_unit_test(BadAndDoubleElementsAreLeftOut),
        cmocka_unit_test(WhatIsKeptIsTakenOnce),
        cmocka_unit_test(APortThatIsBoundAloneIsNobodyElses),
        cmocka_unit_test(APortThatIsSharedCannotBeHadAlone),
        cmocka_unit_test(ConnectionsOfThePredecessorDoNotKeepAPort),
        cmocka_unit_test(ASocketInTheFileSystemStaysWithItsListener),
        cmocka_unit_test(WhatNobodyTookIsClosed),
        cmocka_unit_test(TheHelperHandsOverABoundSocket),
        cmocka_unit_test(TheHelperReportsWhatItCannotBind),
        cmocka_unit_test(WithoutHelperThereIsNoSocket)};

    return cmocka_run_group_tests(tests, SetUpGroup, NULL);
}
