/* SPDX-License-Identifier: MPL-2.0
 * request_check_test.c --
 *
 *      What replies and connections assert: each step out of turn, and each
 *      member that is wrong, ends the process.
 *
 *      1. replies    2. connections    3. times
 */

#include "unit.h"
#include "aborts.h"
#include "nsset.h"
#include "base/set.h"
#include "request/conn_int.h"
#include "request/reply.h"
#include "request/replyhead.h"
#include "request/reqserver.h"

static NsMessage       message;
static NsSockSettings  settings;
static NsRequestServer requestServer;
static NsServer        server;
static NsConn          conn;

static void
MakeConn(void)
{
    NsReplySetServer("");
    message = (NsMessage){.head.version = NS_HTTP_1_1, .serverPtr = &server};
    NsArenaInit(&message.arena, 4096);
    server = (NsServer){.requestPtr = &requestServer};
    conn = (NsConn){.messagePtr = &message,
                    .settingsPtr = &settings,
                    .serverPtr = &server,
                    .status = 200,
                    .keep = -1,
                    .responseLength = -1};
    conn.pub = (Ns_Conn){
        .request = NsConnRequest(&conn),
        .headers = NsSetCreateInArena(&message.arena, NULL, 4),
        .outputheaders = NsSetCreateInArena(&message.arena, NULL, 4)};
}

#define STEPS(name, steps) \
    static void name(void) \
    {                      \
        size_t length;     \
                           \
        MakeConn();        \
        (void) length;     \
        steps;             \
    }

STEPS(InOrder, NsReplyDecide(&conn, 5); NsReplyRender(&conn, 0, &length))
STEPS(DecidedTwice, NsReplyDecide(&conn, 5); NsReplyDecide(&conn, 5))
STEPS(DecidedAfterHead, NsReplyDecide(&conn, 5);
      NsReplyRender(&conn, 0, &length); NsReplyDecide(&conn, 5))
STEPS(HeadWithoutDecision, NsReplyRender(&conn, 0, &length))
STEPS(FinishedTwice, conn.replyState = NS_REPLY_ACCOUNTED; NsReplyFinish(&conn))
STEPS(LostSocket, NsReplyFinish(&conn))
STEPS(SocketAfterTheEnd, conn.replyState = NS_REPLY_ACCOUNTED;
      conn.sockPtr = (NsSock *) &conn; NsReplyFinish(&conn))
STEPS(HalfAHead, NsReplyDecide(&conn, 5); conn.sockPtr = (NsSock *) &conn;
      NsReplyFinish(&conn))

static void
a_reply_in_order_passes(void **state)
{
    assert_false(Aborts(InOrder));
    assert_false(Aborts(FinishedTwice));
}

static void
a_stage_of_a_reply_out_of_turn_ends_the_process(void **state)
{
    assert_true(Aborts(DecidedTwice));
    assert_true(Aborts(DecidedAfterHead));
    assert_true(Aborts(HeadWithoutDecision));
    assert_true(Aborts(LostSocket));
    assert_true(Aborts(SocketAfterTheEnd));
    assert_true(Aborts(HalfAHead));
}

#define FAULT(name, change) STEPS(name, change; NsConnCheck(&conn))

#define sock ((NsSock *) &message)

FAULT(Whole, conn.sockPtr = sock)
FAULT(Finished, conn.replyState = NS_REPLY_ACCOUNTED)
FAULT(WithoutMessage, conn.sockPtr = sock; conn.messagePtr = NULL)
FAULT(OfAnotherServer, conn.sockPtr = sock; message.serverPtr = NULL)
FAULT(OpenWithoutSocket, (void) 0)
FAULT(EndedWithSocket, conn.sockPtr = sock;
      conn.replyState = NS_REPLY_ACCOUNTED)
FAULT(ReadBeyondTheBody, conn.sockPtr = sock; conn.nRead = 1)
FAULT(LevelBeyond9, conn.sockPtr = sock; conn.compressLevel = 10)
FAULT(TextLeftOpen, conn.replyState = NS_REPLY_ACCOUNTED;
      conn.coderPtr = (void *) &message)

static void
a_whole_connection_passes(void **state)
{
    assert_false(Aborts(Whole));
    assert_false(Aborts(Finished));
}

static void
a_wrong_member_of_a_connection_ends_the_process(void **state)
{
    assert_true(Aborts(WithoutMessage));
    assert_true(Aborts(OfAnotherServer));
    assert_true(Aborts(OpenWithoutSocket));
    assert_true(Aborts(EndedWithSocket));
    assert_true(Aborts(ReadBeyondTheBody));
    assert_true(Aborts(LevelBeyond9));
    assert_true(Aborts(TextLeftOpen));
}

#define TIMES(name, change)                \
    static void name(void)                 \
    {                                      \
        NsWork work = {.acceptStamp = 10,  \
                       .queueStamp = 20,   \
                       .dequeueStamp = 30, \
                       .filterStamp = 40,  \
                       .endStamp = 50,     \
                       .traceStamp = 60};  \
                                           \
        change;                            \
        NsWorkCheck(&work);                \
    }

TIMES(OneAfterTheOther, (void) 0)
TIMES(StillRunning, work.endStamp = work.traceStamp = 0)
TIMES(QueuedBeforeAccepted, work.queueStamp = 9)
TIMES(DequeuedBeforeQueued, work.dequeueStamp = 19)
TIMES(FilteredBeforeDequeued, work.filterStamp = 29)
TIMES(EndedBeforeFiltered, work.endStamp = 39)
TIMES(TracedBeforeEnded, work.traceStamp = 49)

static void
times_follow_each_other(void **state)
{
    assert_false(Aborts(OneAfterTheOther));
    assert_false(Aborts(StillRunning));
#ifdef NS_DEBUG
    assert_true(Aborts(QueuedBeforeAccepted));
    assert_true(Aborts(DequeuedBeforeQueued));
    assert_true(Aborts(FilteredBeforeDequeued));
    assert_true(Aborts(EndedBeforeFiltered));
    assert_true(Aborts(TracedBeforeEnded));
#else
    (void) QueuedBeforeAccepted, (void) DequeuedBeforeQueued;
    (void) FilteredBeforeDequeued, (void) EndedBeforeFiltered;
    (void) TracedBeforeEnded;
#endif
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_in_order_passes),
        cmocka_unit_test(a_stage_of_a_reply_out_of_turn_ends_the_process),
        cmocka_unit_test(a_whole_connection_passes),
        cmocka_unit_test(a_wrong_member_of_a_connection_ends_the_process),
        cmocka_unit_test(times_follow_each_other)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
