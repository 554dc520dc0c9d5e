/*
 * process_prebind_test.c --
 *
 *      Sockets bound early, and the helper that binds them.
 *
 *      1  the table     2  the helper
 */

#include "unit.h"
#include "port.h"
#include "log/init.h"
#include "process/prebind.h"

static int
SetUpGroup(void **state)
{
    NsLogInit();
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
WhatNobodyTookIsClosed(void **state)
{
    NsPrebindSpec spec = {NS_PREBIND_TCP, "127.0.0.1", FreePort()};
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

static void
TheHelperHandsOverABoundSocket(void **state)
{
    int port = FreePort(), fd;

    NsBinderStart();
    fd = NsBinderBind(NS_PREBIND_TCP, "127.0.0.1", port);
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
    fd = NsBinderBind(NS_PREBIND_TCP, "192.0.2.1", 1);
    assert_int_equal(fd, -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
    fd = NsBinderBind(NS_PREBIND_TCP, "127.0.0.1", 0);
    assert_true(fd >= 0);
    close(fd);
    NsBinderStop();
}

static void
WithoutHelperThereIsNoSocket(void **state)
{
    assert_int_equal(NsBinderBind(NS_PREBIND_TCP, "127.0.0.1", 0), -1);
    assert_int_equal(errno, ENOTCONN);
    NsBinderStop();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASocketIsTakenOnceAndOnlyForItsAddress),
        cmocka_unit_test(BadAndDoubleElementsAreLeftOut),
        cmocka_unit_test(WhatNobodyTookIsClosed),
        cmocka_unit_test(TheHelperHandsOverABoundSocket),
        cmocka_unit_test(TheHelperReportsWhatItCannotBind),
        cmocka_unit_test(WithoutHelperThereIsNoSocket)
    };

    return cmocka_run_group_tests(tests, SetUpGroup, NULL);
}
