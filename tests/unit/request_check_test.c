/*
 * request_check_test.c --
 *
 *      What replies assert: each step out of turn ends the process.
 *
 *      1. replies
 */

#include "unit.h"
#include "aborts.h"
#include "nsset.h"
#include "base/set.h"
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
    message = (NsMessage) {.head.version = 1.1};
    NsArenaInit(&message.arena, 4096);
    server = (NsServer) {.requestPtr = &requestServer};
    conn = (NsConn) {
        .messagePtr = &message, .settingsPtr = &settings,
        .serverPtr = &server, .request.version = 1.1, .status = 200,
        .keep = -1, .responseLength = -1
    };
    conn.pub = (Ns_Conn) {
        .request = &conn.request,
        .headers = NsSetCreateInArena(&message.arena, NULL, 4),
        .outputheaders = NsSetCreateInArena(&message.arena, NULL, 4)
    };
}

#define STEPS(name, steps) \
    static void \
    name(void) \
    { \
        size_t length; \
        \
        MakeConn(); \
        (void) length; \
        steps; \
    }

STEPS(InOrder, NsReplyDecide(&conn, 5); NsReplyRender(&conn, 0, &length))
STEPS(DecidedTwice, NsReplyDecide(&conn, 5); NsReplyDecide(&conn, 5))
STEPS(DecidedAfterHead, NsReplyDecide(&conn, 5);
      NsReplyRender(&conn, 0, &length); NsReplyDecide(&conn, 5))
STEPS(HeadWithoutDecision, NsReplyRender(&conn, 0, &length))
STEPS(FinishedTwice, conn.replyState = NS_REPLY_ACCOUNTED;
      NsReplyFinish(&conn))
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_in_order_passes),
        cmocka_unit_test(a_stage_of_a_reply_out_of_turn_ends_the_process)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
