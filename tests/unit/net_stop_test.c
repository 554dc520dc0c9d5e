/* SPDX-License-Identifier: MPL-2.0
 * net_stop_test.c --
 *
 *      A driver thread that is late while its driver stops.
 */

#include "net_echo.h"

#define LONGER_THAN_GRACE_US 60000

static Ns_Mutex gateLock;
static Ns_Cond  gateChanged;
static int      nHeld; /* These are guarded by gateLock. */
static int      nReleased;

/*
 * Answers in the driver thread; a request for /hold keeps that thread until it
 * is released.
 */
static void
HoldOrAnswer(NsMessage *messagePtr)
{
    const NsHttpHead *headPtr = &messagePtr->head;

    if (headPtr->targetLength == 5
        && strncmp(headPtr->target, "/hold", 5) == 0) {
        Ns_MutexLock(&gateLock);
        nHeld++;
        Ns_CondBroadcast(&gateChanged);
        while (nReleased < nHeld) {
            Ns_CondWait(&gateChanged, &gateLock);
        }
        Ns_MutexUnlock(&gateLock);
    }
    EchoAnswer(messagePtr);
}

static void
AwaitHeld(int number)
{
    Ns_MutexLock(&gateLock);
    while (nHeld < number) {
        Ns_CondWait(&gateChanged, &gateLock);
    }
    Ns_MutexUnlock(&gateLock);
}

static void
Release(void)
{
    Ns_MutexLock(&gateLock);
    nReleased++;
    Ns_CondBroadcast(&gateChanged);
    Ns_MutexUnlock(&gateLock);
}

static void
ExpectReply(int fd, const char *expected)
{
    const char *reply = EchoReadReply(fd);

    assert_non_null(reply);
    assert_string_equal(reply, expected);
}

/*
 * The thread is held a first time so that the stop and the second request come
 * in one go, and a second time while the last moment of idle clients passes.
 */
static void
a_request_that_came_in_time_is_answered_late(void **state)
{
    int     kept = EchoConnect(), fresh = EchoConnect();
    int     half = EchoConnect(), first = EchoConnect();
    Ns_Time deadline;

    EchoWrite(kept, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    ExpectReply(kept, "GET /1 0 0 ");
    EchoWrite(half, "GET /hold HTTP/1.1\r\n");
    EchoWrite(first, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    AwaitHeld(1);
    NsDriversStop();
    EchoWrite(half, "Host: x\r\n\r\n");
    Release();

    AwaitHeld(2);
    EchoWrite(kept, "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    EchoWrite(fresh, "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
    usleep(LONGER_THAN_GRACE_US);
    Release();
    ExpectReply(first, "GET /hold 0 0 ");
    ExpectReply(half, "GET /hold 0 0 ");
    ExpectReply(kept, "GET /2 0 0 ");
    ExpectReply(fresh, "GET /3 0 0 ");

    close(kept);
    close(fresh);
    close(half);
    close(first);
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, 120, 0);
    NsDriversWait(&deadline);
    assert_int_equal(NsFirstDriver->threads[0]->nSockets, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_came_in_time_is_answered_late)};

    signal(SIGPIPE, SIG_IGN);
    EchoStart("keepwait", "20", "recvwait", "20", NULL);
    NsDriverSetReadyProc(HoldOrAnswer);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
