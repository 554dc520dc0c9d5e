/* SPDX-License-Identifier: MPL-2.0
 * request_replyhead_test.c --
 *
 *      1. bytes of a header    2. framing    3. keep-alive
 */

#include "unit.h"
#include "nsreturn.h"
#include "nsset.h"
#include "base/set.h"
#include "request/replyhead.h"
#include "request/reqserver.h"

/*
 * A connection with what the header depends on, and nothing else.
 */
typedef struct Fixture {
    NsMessage       message;
    NsSockSettings  settings;
    NsRequestServer requestServer;
    NsServer        server;
    NsConn          conn;
} Fixture;

static int
Setup(void **state)
{
    static Fixture f;
    NsArena       *arenaPtr = &f.message.arena;

    NsReplySetServer("nsd/0.1.0");
    memset(&f, 0, sizeof(f));
    NsArenaInit(arenaPtr, 4096);
    f.settings.keepWait = 5 * NS_STAMP_SECOND;
    f.conn.messagePtr = &f.message;
    f.conn.settingsPtr = &f.settings;
    f.server.requestPtr = &f.requestServer;
    f.conn.serverPtr = &f.server;
    f.message.head.version = NS_HTTP_1_1;
    f.conn.pub.request = NsConnRequest(&f.conn);
    f.conn.pub.headers = NsSetCreateInArena(arenaPtr, NULL, 4);
    f.conn.pub.outputheaders = NsSetCreateInArena(arenaPtr, NULL, 4);
    f.conn.status = 200;
    f.conn.keep = -1;
    f.conn.responseLength = -1;
    *state = &f;
    return 0;
}

static int
Teardown(void **state)
{
    Fixture *f = *state;

    NsArenaFree(&f->message.arena);
    return 0;
}

/*
 * The header with the date cut out.
 */
static const char *
Render(Fixture *f)
{
    static char text[2048];
    size_t      length;
    const char *head, *date, *rest;

    f->conn.replyState = NS_REPLY_DECIDED;
    head = NsReplyRender(&f->conn, 0, &length);
    date = memmem(head, length, "Date: ", 6);

    assert_non_null(date);
    rest = date + 6 + 29;
    snprintf(text, sizeof(text), "%.*s*%.*s", (int) (date + 6 - head), head,
             (int) (head + length - rest), rest);
    return text;
}

static const char *
Field(Fixture *f, const char *name)
{
    const char *value = Ns_SetIGet(f->conn.pub.outputheaders, name);

    return value == NULL ? "(none)" : value;
}

static void
a_whole_reply_has_its_fields_in_this_order(void **state)
{
    Fixture *f = *state;

    Ns_ConnSetHeaders(&f->conn.pub, "X-Mine", "1");
    Ns_ConnSetTypeHeader(&f->conn.pub, "text/plain; charset=utf-8");
    f->message.head.asksClose = true;
    NsReplyDecide(&f->conn, 5);
    assert_string_equal(Render(f),
                        "HTTP/1.1 200 OK\r\n"
                        "Server: nsd/0.1.0\r\n"
                        "Date: *\r\n"
                        "X-Mine: 1\r\n"
                        "Content-Type: text/plain; charset=utf-8\r\n"
                        "Content-Length: 5\r\n"
                        "Connection: close\r\n"
                        "\r\n");
}

static void
the_status_line_follows_version_and_status(void **state)
{
    Fixture *f = *state;

    f->message.head.version = NS_HTTP_1_0;
    f->conn.status = 404;
    assert_memory_equal(Render(f), "HTTP/1.0 404 Not Found\r\n", 24);
    f->message.head.version = NS_HTTP_1_1;
    f->conn.status = 299;
    assert_memory_equal(Render(f), "HTTP/1.1 299 Unknown Reason\r\n", 29);
}

static void
a_value_cannot_end_its_line(void **state)
{
    Fixture *f = *state;

    Ns_ConnSetHeaders(&f->conn.pub, "Location", "/a\r\nX-Evil: 1\r\n\r\nbody");
    assert_non_null(strstr(Render(f), "Location: /a  X-Evil: 1    body\r\n"));
}

static void
fields_without_value_are_left_out(void **state)
{
    Fixture *f = *state;

    Ns_ConnSetHeaders(&f->conn.pub, "X-None", NULL);
    Ns_ConnSetHeaders(&f->conn.pub, "X-Empty", "");
    assert_null(strstr(Render(f), "X-None"));
    assert_non_null(strstr(Render(f), "\r\nX-Empty: \r\n"));
}

static void
a_long_header_is_not_cut(void **state)
{
    Fixture *f = *state;
    char     value[20001];
    size_t   length;
    char    *head;

    memset(value, 'x', 20000);
    value[20000] = '\0';
    Ns_ConnSetHeaders(&f->conn.pub, "X-Long", value);
    f->conn.replyState = NS_REPLY_DECIDED;
    head = NsReplyRender(&f->conn, 0, &length);
    assert_true(length > 20000);
    assert_memory_equal(head + length - 4, "\r\n\r\n", 4);
    assert_non_null(memmem(head, length, value, 20000));
}

static void
content_length_replaces_an_earlier_one(void **state)
{
    Fixture *f = *state;

    Ns_ConnSetHeaders(&f->conn.pub, "Content-Length", "17");
    NsReplyDecide(&f->conn, 5);
    assert_string_equal(Field(f, "Content-Length"), "5");
    assert_true(Ns_SetIUnique(f->conn.pub.outputheaders, "Content-Length"));
}

static void
a_stream_is_chunked_for_http_1_1_even_when_it_closes(void **state)
{
    Fixture *f = *state;

    f->message.head.asksClose = true;
    NsReplyDecide(&f->conn, NS_LENGTH_UNKNOWN);
    assert_string_equal(Field(f, "Transfer-Encoding"), "chunked");
    assert_string_equal(Field(f, "Content-Length"), "(none)");
    assert_string_equal(Field(f, "Connection"), "close");
}

static void
a_stream_ends_with_the_connection_for_http_1_0(void **state)
{
    Fixture *f = *state;

    f->message.head.version = NS_HTTP_1_0;
    f->message.head.asksKeepAlive = true;
    NsReplyDecide(&f->conn, NS_LENGTH_UNKNOWN);
    assert_string_equal(Field(f, "Transfer-Encoding"), "(none)");
    assert_string_equal(Field(f, "Connection"), "close");
}

static void
a_forced_close_turns_chunks_off(void **state)
{
    Fixture *f = *state;

    f->conn.keep = 0;
    NsReplyDecide(&f->conn, NS_LENGTH_UNKNOWN);
    assert_string_equal(Field(f, "Transfer-Encoding"), "(none)");
    assert_string_equal(Field(f, "Connection"), "close");
}

static void
a_declared_length_makes_a_stream_plain(void **state)
{
    Fixture *f = *state;

    f->conn.responseLength = 12;
    NsReplyDecide(&f->conn, NS_LENGTH_UNKNOWN);
    assert_string_equal(Field(f, "Content-Length"), "12");
    assert_string_equal(Field(f, "Transfer-Encoding"), "(none)");
    assert_string_equal(Field(f, "Connection"), "keep-alive");
}

static void
byte_ranges_are_never_chunked(void **state)
{
    Fixture *f = *state;

    Ns_ConnSetTypeHeader(&f->conn.pub, "multipart/byteranges; boundary=x");
    NsReplyDecide(&f->conn, NS_LENGTH_UNKNOWN);
    assert_string_equal(Field(f, "Transfer-Encoding"), "(none)");
    assert_string_equal(Field(f, "Connection"), "keep-alive");
}

/*
 * Another reply of the same connection.
 */
static void
StartReply(Fixture *f)
{
    Ns_SetTrunc(f->conn.pub.outputheaders, 0);
    f->conn.keep = -1;
    f->conn.replyState = NS_REPLY_OPEN;
}

/*
 * The Connection field of a reply with a length, for what a request asks for.
 */
static const char *
Decide(Fixture *f, NsHttpVersion version, bool asksClose, bool asksKeepAlive)
{
    StartReply(f);
    f->message.head.version = version;
    f->message.head.asksClose = asksClose;
    f->message.head.asksKeepAlive = asksKeepAlive;
    NsReplyDecide(&f->conn, 5);
    return Field(f, "Connection");
}

static void
keep_alive_follows_version_and_wish(void **state)
{
    Fixture *f = *state;

    assert_string_equal(Decide(f, NS_HTTP_1_0, false, false), "close");
    assert_string_equal(Decide(f, NS_HTTP_1_0, false, true), "keep-alive");
    assert_string_equal(Decide(f, NS_HTTP_1_0, true, true), "close");
    assert_string_equal(Decide(f, NS_HTTP_1_1, false, false), "keep-alive");
    assert_string_equal(Decide(f, NS_HTTP_1_1, true, false), "close");
    assert_string_equal(Decide(f, NS_HTTP_1_1, true, true), "close");
}

static void
keepwait_0_ends_every_connection(void **state)
{
    Fixture *f = *state;

    f->settings.keepWait = 0;
    assert_string_equal(Decide(f, NS_HTTP_1_1, false, false), "close");
    StartReply(f);
    f->conn.keep = 1;
    NsReplyDecide(&f->conn, 5);
    assert_string_equal(Field(f, "Connection"), "close");
}

static void
large_downloads_can_be_denied_keep_alive(void **state)
{
    Fixture *f = *state;

    f->settings.keepaliveMaxDownloadSize = 5;
    assert_string_equal(Decide(f, NS_HTTP_1_1, false, false), "keep-alive");
    f->settings.keepaliveMaxDownloadSize = 4;
    assert_string_equal(Decide(f, NS_HTTP_1_1, false, false), "close");
}

static void
a_body_without_length_ends_the_connection(void **state)
{
    Fixture *f = *state;

    f->message.contentLength = 3;
    NsReplyDecide(&f->conn, 5);
    assert_string_equal(Field(f, "Connection"), "close");
    StartReply(f);
    (void) Ns_SetPut(f->conn.pub.headers, "Content-Length", "3");
    NsReplyDecide(&f->conn, 5);
    assert_string_equal(Field(f, "Connection"), "keep-alive");
}

static void
a_refused_request_ends_the_connection(void **state)
{
    Fixture *f = *state;

    f->message.mustClose = true;
    f->conn.keep = 1;
    NsReplyDecide(&f->conn, 5);
    assert_string_equal(Field(f, "Connection"), "close");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, Setup, Teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_reply_has_its_fields_in_this_order),
        TEST(the_status_line_follows_version_and_status),
        TEST(a_value_cannot_end_its_line),
        TEST(fields_without_value_are_left_out),
        TEST(a_long_header_is_not_cut),
        TEST(content_length_replaces_an_earlier_one),
        TEST(a_stream_is_chunked_for_http_1_1_even_when_it_closes),
        TEST(a_stream_ends_with_the_connection_for_http_1_0),
        TEST(a_forced_close_turns_chunks_off),
        TEST(a_declared_length_makes_a_stream_plain),
        TEST(byte_ranges_are_never_chunked),
        TEST(keep_alive_follows_version_and_wish),
        TEST(keepwait_0_ends_every_connection),
        TEST(large_downloads_can_be_denied_keep_alive),
        TEST(a_body_without_length_ends_the_connection),
        TEST(a_refused_request_ends_the_connection)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
