/* SPDX-License-Identifier: MPL-2.0
 * http_forwarded_test.c --
 *
 *      Clients as proxies name them.
 */

#include "unit.h"

#include "http/forwarded.h"
#include "http/parse.h"

static char junk[200]; /* Found by the latest call; empty: none. */

static const char *
ClientOf(const char *peer, const char *fields, bool skipsNonPublic)
{
    static char                buffer[NS_FORWARDED_BYTES];
    static const NsParseLimits limits = {
        .maxLineBytes = 8192, .maxHeadBytes = 65536, .maxFields = 128};
    NsIpRange    ranges[3];
    NsProxies    proxies = {ranges, 3, skipsNonPublic, NULL};
    NsHttpParser parser;
    NsHttpHead   head;
    NsArena      arena;
    char         text[1000];
    size_t       length;
    const char  *client, *found;

    assert_true(NsIpRangeParse("10.0.0.0/8", &ranges[0]));
    assert_true(NsIpRangeParse("192.0.2.1", &ranges[1]));
    assert_true(NsIpRangeParse("2001:db8::/32", &ranges[2]));
    snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n", fields);
    NsArenaInit(&arena, 4096);
    NsHttpParserInit(&parser, &head, &arena, &limits);
    assert_int_equal(NsHttpParse(&parser, text, strlen(text)), NS_PARSE_DONE);
    client = NsForwardedPeer(&head, peer, &proxies, buffer);
    if (client != buffer) {
        snprintf(buffer, sizeof(buffer), "%s", client);
    }
    found = NsForwardedJunk(&head, peer, &proxies, &length);
    snprintf(junk, sizeof(junk), "%.*s", (int) (found == NULL ? 0 : length),
             found == NULL ? "" : found);
    NsArenaFree(&arena);
    return buffer;
}

static const char *
Client(const char *peer, const char *fields)
{
    return ClientOf(peer, fields, false);
}

static void
TheRightmostAddressThatIsNoProxyIsTheClient(void **state)
{
    static const struct {
        const char *peer, *fields, *client;
    } cases[] = {
        {"1.1.1.1", "", "1.1.1.1"},
        {"1.1.1.1", "X-Forwarded-For: 3.3.3.3\r\n", "1.1.1.1"},
        {"10.0.0.1", "", "10.0.0.1"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3\r\n", "3.3.3.3"},
        {"10.0.0.1", "x-forwarded-for:4.4.4.4 ,3.3.3.3 \r\n", "3.3.3.3"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3, 10.1.1.1,192.0.2.1\r\n",
         "3.3.3.3"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3, 192.0.2.2\r\n", "192.0.2.2"},
        {"10.0.0.1", "X-Forwarded-For: 10.0.0.3, 10.0.0.2\r\n", "10.0.0.3"},
        {"10.0.0.1",
         "X-Forwarded-For: 3.3.3.3\r\nA: b\r\n"
         "X-Forwarded-For: 10.0.0.2\r\n",
         "3.3.3.3"},
        {"::ffff:10.0.0.1", "X-Forwarded-For: 3.3.3.3\r\n", "3.3.3.3"},
        {"2001:db8::1", "X-Forwarded-For: 2001:db9::2\r\n", "2001:db9::2"},

        /* Ports. */
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3:99\r\n", "3.3.3.3"},
        {"10.0.0.1", "X-Forwarded-For: [2001:db9::2]:99\r\n", "2001:db9::2"},
        {"10.0.0.1", "X-Forwarded-For: [2001:db9::2]\r\n", "2001:db9::2"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3, 10.0.0.2:99\r\n", "3.3.3.3"},

        /* No address at the place that counts. */
        {"10.0.0.1", "X-Forwarded-For:\r\n", "10.0.0.1"},
        {"10.0.0.1", "X-Forwarded-For: unknown\r\n", "10.0.0.1"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3,\r\n", "10.0.0.1"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3, x, 10.0.0.2\r\n", "10.0.0.1"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3\r\n", "10.0.0.1"},
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3 - admin [\r\n", "10.0.0.1"},
        {"10.0.0.1", "X-Forwarded-For: [2001:db9::2\r\n", "10.0.0.1"},
        {"10.0.0.1",
         "X-Forwarded-For: 1111111111111111111111111111111111"
         "11111111111111111111111111111111111111111111\r\n",
         "10.0.0.1"},

        /* RFC 7239; the other field wins, since proxies write that. */
        {"10.0.0.1", "Forwarded: for=3.3.3.3\r\n", "3.3.3.3"},
        {"10.0.0.1", "Forwarded: proto=https; For=\"3.3.3.3:99\";by=x\r\n",
         "3.3.3.3"},
        {"10.0.0.1",
         "Forwarded: for=4.4.4.4, for=\"[2001:db9::2]:1\", "
         "for=10.0.0.2\r\n",
         "2001:db9::2"},
        {"10.0.0.1", "Forwarded: for=3.3.3.3, for=_hidden\r\n", "10.0.0.1"},
        {"10.0.0.1", "Forwarded: for=3.3.3.3, proto=http\r\n", "10.0.0.1"},
        {"10.0.0.1", "Forwarded: for=3.3.3.3\r\nX-Forwarded-For: 5.5.5.5\r\n",
         "5.5.5.5"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_string_equal(Client(cases[i].peer, cases[i].fields),
                            cases[i].client);
    }
}

static void
AddressesThatAreNotPublicAreSkippedOnDemand(void **state)
{
    static const struct {
        const char *fields, *client;
    } cases[] = {
        {"X-Forwarded-For: 3.3.3.3, 192.168.1.1\r\n", "3.3.3.3"},
        {"X-Forwarded-For: 192.168.1.1, 3.3.3.3\r\n", "3.3.3.3"},
        {"X-Forwarded-For: 3.3.3.3, 127.0.0.1, 172.16.0.1, 10.0.0.3\r\n",
         "3.3.3.3"},
        {"X-Forwarded-For: 3.3.3.3\r\nX-Forwarded-For: 192.168.1.1\r\n",
         "3.3.3.3"},
        {"X-Forwarded-For: 192.168.1.1, 10.0.0.3\r\n", "10.0.0.1"},
        {"X-Forwarded-For: fd00::1\r\n", "10.0.0.1"},
        {"X-Forwarded-For: junk, 192.168.1.1\r\n", "10.0.0.1"},
        {"X-Forwarded-For: 4.4.4.4, 3.3.3.3, ::1\r\n", "3.3.3.3"},
        {"", "10.0.0.1"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_string_equal(ClientOf("10.0.0.1", cases[i].fields, true),
                            cases[i].client);
    }
    assert_string_equal(ClientOf("1.1.1.1", "X-Forwarded-For: 3.3.3.3\r\n",
                                 true),
                        "1.1.1.1");
}

static void
WhatIsNoAddressWhereOneIsNeededIsReported(void **state)
{
    static const struct {
        const char *peer, *fields, *junk;
    } cases[] = {
        {"10.0.0.1", "X-Forwarded-For: 3.3.3.3, bad one \r\n", "bad one"},
        {"10.0.0.1", "X-Forwarded-For: evil, 10.0.0.2\r\n", "evil"},
        {"10.0.0.1", "X-Forwarded-For: evil, 3.3.3.3\r\n", ""},
        {"10.0.0.1", "X-Forwarded-For: Unknown\r\n", ""},
        {"10.0.0.1", "X-Forwarded-For: unknown2\r\n", "unknown2"},
        {"10.0.0.1", "X-Forwarded-For:\r\n", ""},
        {"10.0.0.1", "Forwarded: for=_hidden\r\n", ""},
        {"1.1.1.1", "X-Forwarded-For: evil\r\n", ""},
        {"10.0.0.1", "", ""},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        (void) Client(cases[i].peer, cases[i].fields);
        assert_string_equal(junk, cases[i].junk);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheRightmostAddressThatIsNoProxyIsTheClient),
        cmocka_unit_test(AddressesThatAreNotPublicAreSkippedOnDemand),
        cmocka_unit_test(WhatIsNoAddressWhereOneIsNeededIsReported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
