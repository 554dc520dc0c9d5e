/* SPDX-License-Identifier: MPL-2.0
 * http_reply_test.c --
 *
 *      The head of a reply to a request of ours, and that of one of our own as
 *      HTTP/2 takes it apart.
 *
 *      1. where it ends    2. what it says    3. taken apart
 */

#include "unit.h"

#include "http/reply.h"
#include "http/replyfields.h"
#include "nshttp.h"
#include "nsstring.h"

#include <string.h>

static void
a_head_ends_at_the_first_empty_line_however_it_comes(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nA: 1\r\n\r\nbody\r\n\r\n",
        "HTTP/1.1 200 OK\nA: 1\n\nbody", "HTTP/1.1 200 OK\r\nA: 1\n\r\nbody"};

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        size_t end = (size_t) (strstr(texts[i], "body") - texts[i]);

        for (size_t n = 0u; n <= strlen(texts[i]); n++) {
            assert_int_equal(NsReplyHeadBytes(texts[i], n, 0u),
                             n < end ? 0u : end);
            /* Byte by byte, from where the last look ended. */
            if (n > 0u && n <= end) {
                assert_int_equal(NsReplyHeadBytes(texts[i], n, n - 1u),
                                 n < end ? 0u : end);
            }
        }
    }
}

static void
each_begin_of_a_reply_may_be_one(void **state)
{
    static const char text[] = "HTTP/1.1 200 OK";

    for (size_t n = 0u; n < sizeof(text); n++) {
        assert_true(NsReplyMayBegin(text, n));
    }
    assert_false(NsReplyMayBegin("G", 1u));
    assert_false(NsReplyMayBegin("HTTP/1.1 2x", 11u));
    assert_false(NsReplyMayBegin("HTTP/11", 7u));
}

static void
framing_and_persistence_follow_the_header(void **state)
{
    static const struct {
        const char    *text;
        NsReplyFraming framing;
        bool           isPersistent;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\n\r\n", NS_REPLY_TO_CLOSE, false},
        {"HTTP/1.1 200\r\nContent-Length: 3\r\n\r\n", NS_REPLY_LENGTH, true},
        {"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n", NS_REPLY_LENGTH,
         false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n"
         "Connection: x, Keep-Alive\r\n\r\n",
         NS_REPLY_LENGTH, true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: a ,CLOSE\r\n\r\n",
         NS_REPLY_LENGTH, false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
         NS_REPLY_LENGTH, true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n",
         NS_REPLY_CHUNKED, true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
         "Content-Length: 3\r\n\r\n",
         NS_REPLY_CHUNKED, false},
        {"HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n", NS_REPLY_NO_BODY,
         true},
        {"HTTP/1.1 304 No\r\n\r\n", NS_REPLY_NO_BODY, true},
        {"HTTP/1.1 101 Other\r\nConnection: upgrade\r\n\r\n", NS_REPLY_NO_BODY,
         false}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_Set     *fields = Ns_SetCreate(NULL);
        NsReplyHead head;

        assert_null(NsReplyParse(cases[i].text, strlen(cases[i].text), true,
                                 &head, fields));
        assert_int_equal(head.framing, cases[i].framing);
        assert_int_equal(head.isPersistent, cases[i].isPersistent);
        assert_null(NsReplyParse(cases[i].text, strlen(cases[i].text), false,
                                 &head, fields));
        assert_int_equal(head.framing, NS_REPLY_NO_BODY);
        Ns_SetFree(fields);
    }
}

static void
what_is_wrong_is_named(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 099 X\r\n\r\n",
        "HTTP/1.1 2000\r\n\r\n",
        "\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"};

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        Ns_Set     *fields = Ns_SetCreate(NULL);
        NsReplyHead head;

        assert_non_null(NsReplyParse(texts[i], strlen(texts[i]), true, &head,
                                     fields));
        Ns_SetFree(fields);
    }
}

static void
folded_lines_count_as_fields(void **state)
{
    Ns_Set     *fields = Ns_SetCreate(NULL);
    Ns_DString  ds;
    NsReplyHead head;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, "HTTP/1.1 200 OK\r\nA: b\r\n");
    for (int i = 1; i < NS_REPLY_MAX_FIELDS; i++) {
        Ns_DStringAppend(&ds, " c\r\n");
    }
    Ns_DStringAppend(&ds, "\r\n");
    assert_null(NsReplyParse(ds.string, (size_t) ds.length, true, &head,
                             fields));
    Ns_DStringSetLength(&ds, ds.length - 2);
    Ns_DStringAppend(&ds, " c\r\n\r\n");
    Ns_SetTrunc(fields, 0);
    assert_string_equal(NsReplyParse(ds.string, (size_t) ds.length, true, &head,
                                     fields),
                        "too many fields in the reply");
    Ns_DStringFree(&ds);
    Ns_SetFree(fields);
}

static void
an_empty_value_is_empty(void **state)
{
    static const char text[] = "HTTP/1.1 200 OK\r\na:\r\nb: \r\nc: d\r\n\r\n";
    Ns_Set           *fields = Ns_SetCreate(NULL);
    NsReplyHead       head;

    assert_null(NsReplyParse(text, sizeof(text) - 1, true, &head, fields));
    assert_string_equal(Ns_SetGet(fields, "a"), "");
    assert_string_equal(Ns_SetGet(fields, "b"), "");
    assert_string_equal(Ns_SetGet(fields, "c"), "d");
    Ns_SetFree(fields);
}

static void
a_message_is_a_line_fields_and_a_payload(void **state)
{
    char    text[] = "MAIL 1\r\nSubject: a\r\n b\r\nX:\r\n\r\nbody\n\nmore";
    char    bare[] = "one line\n\n", none[] = "one line\nA: b\n";
    char    bad[] = "line\nA: b\nno field\n\n";
    Ns_Set *fields = Ns_SetCreate(NULL);
    char   *payload = NULL;
    size_t  lineBytes = 99;

    assert_int_equal(Ns_HttpMessageParse(text, sizeof(text) - 1, &lineBytes,
                                         fields, &payload),
                     NS_OK);
    assert_int_equal(lineBytes, 6);
    assert_string_equal(payload, "body\n\nmore");
    assert_string_equal(Ns_SetGet(fields, "subject"), "a b");
    assert_string_equal(Ns_SetGet(fields, "x"), "");
    assert_int_equal(Ns_SetSize(fields), 2);

    assert_int_equal(Ns_HttpMessageParse(bare, sizeof(bare) - 1, &lineBytes,
                                         fields, &payload),
                     NS_OK);
    assert_int_equal(lineBytes, 8);
    assert_ptr_equal(payload, bare + sizeof(bare) - 1);
    assert_int_equal(Ns_HttpMessageParse(none, sizeof(none) - 1, &lineBytes,
                                         fields, &payload),
                     NS_ERROR);
    assert_int_equal(Ns_HttpMessageParse(none, 0, &lineBytes, fields, &payload),
                     NS_ERROR);
    assert_int_equal(Ns_HttpMessageParse(bad, sizeof(bad) - 1, &lineBytes,
                                         fields, &payload),
                     NS_ERROR);
    Ns_SetFree(fields);
}

static void
a_response_has_version_and_status(void **state)
{
    char    text[] = "HTTP/1.0 404 Not Found\nServer: x\n\nbody";
    char    request[] = "GET / HTTP/1.0\n\n";
    char    twice[] = "HTTP/1.1 200 OK\nContent-Length: 1\n"
                      "Content-Length: 2\n\n";
    Ns_Set *fields = Ns_SetCreate(NULL);
    char   *payload = NULL;
    int     major = 0, minor = 9, status = 0;

    assert_int_equal(Ns_HttpResponseMessageParse(text, sizeof(text) - 1, fields,
                                                 &major, &minor, &status,
                                                 &payload),
                     NS_OK);
    assert_int_equal(major, 1);
    assert_int_equal(minor, 0);
    assert_int_equal(status, 404);
    assert_string_equal(payload, "body");
    assert_string_equal(Ns_SetGet(fields, "server"), "x");
    for (int i = 0; i < 3; i++) {
        char  *bad = i == 0 ? request : i == 1 ? twice : text;
        size_t size = i == 0 ? sizeof(request) - 1
            : i == 1         ? sizeof(twice) - 1
                             : 20;

        assert_int_equal(Ns_HttpResponseMessageParse(bad, size, fields, &major,
                                                     &minor, &status, &payload),
                         NS_ERROR);
    }
    Ns_SetFree(fields);
}

static void
fields_are_taken_apart_without_those_of_the_connection(void **state)
{
    static const struct {
        const char *line; /* "": none. */
        const char *name;
        const char *value;
    } cases[] = {
        {"Content-Type: text/html", "content-type", "text/html"},
        {"X-Own:a b \t", "x-own", "a b"},
        {"Empty:", "empty", ""},
        {"Connection: close", NULL, NULL},
        {"KEEP-ALIVE: timeout=5", NULL, NULL},
        {"Upgrade: x", NULL, NULL},
        {"Proxy-Connection: close", NULL, NULL},
        {"Transfer-Encoding: chunked", NULL, NULL},
        /* Of the same lengths. */
        {"Expires: 0", "expires", "0"},
        {"Set-Cookie: A=B", "set-cookie", "A=B"},
        {"Content-Security: x", "content-security", "x"},
        {"No Name: x", NULL, NULL},
        {"(No): x", NULL, NULL},
        {"Under_Score^~: x", "under_score^~", "x"},
        {": x", NULL, NULL},
        {"nothing", NULL, NULL},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char         text[200];
        int          length = snprintf(text, sizeof(text),
                                       "HTTP/1.1 404 Not Found\r\n%s\r\nz: 1\r\n\r\n",
                                       cases[i].line);
        NsReplyField fields[3];
        int          status = 0;
        int n = NsReplyFieldsParse(text, (size_t) length, &status, fields, 3);

        assert_int_equal(status, 404);
        assert_int_equal(n, cases[i].name == NULL ? 1 : 2);
        assert_int_equal(*fields[n - 1].name, 'z');
        if (cases[i].name != NULL) {
            assert_int_equal(fields[0].nameLength, strlen(cases[i].name));
            assert_memory_equal(fields[0].name, cases[i].name,
                                fields[0].nameLength);
            assert_int_equal(fields[0].valueLength, strlen(cases[i].value));
            assert_memory_equal(fields[0].value, cases[i].value,
                                fields[0].valueLength);
        }
    }
}

static void
more_fields_than_room_or_no_status_is_no_head(void **state)
{
    char         many[] = "HTTP/1.1 200 OK\r\na: 1\r\nb: 2\r\n\r\n";
    char         none[] = "HTTP/1.1 OK\r\n\r\n";
    NsReplyField fields[2];
    int          status;

    assert_int_equal(NsReplyFieldsParse(many, strlen(many), &status, fields, 1),
                     -1);
    assert_int_equal(NsReplyFieldsParse(many, strlen(many), &status, fields, 2),
                     2);
    assert_int_equal(NsReplyFieldsParse(none, strlen(none), &status, fields, 2),
                     -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_ends_at_the_first_empty_line_however_it_comes),
        cmocka_unit_test(each_begin_of_a_reply_may_be_one),
        cmocka_unit_test(framing_and_persistence_follow_the_header),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(folded_lines_count_as_fields),
        cmocka_unit_test(an_empty_value_is_empty),
        cmocka_unit_test(a_message_is_a_line_fields_and_a_payload),
        cmocka_unit_test(a_response_has_version_and_status),
        cmocka_unit_test(
            fields_are_taken_apart_without_those_of_the_connection),
        cmocka_unit_test(more_fields_than_room_or_no_status_is_no_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
