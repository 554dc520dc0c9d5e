/* SPDX-License-Identifier: MPL-2.0
 * log_syslogaddress_test.c --
 *
 *      Addresses of syslog daemons.
 */

#include "unit.h"

#include "log/target/syslogaddress.h"

static void
EachKindIsTakenApart(void **state)
{
    NsSyslogAddress address;

    assert_true(NsSyslogParseAddress("unix:/dev/log", &address));
    assert_int_equal(address.kind, NS_SYSLOG_UNIX);
    assert_string_equal(address.path, "/dev/log");

    assert_true(NsSyslogParseAddress("udp:logs.example.com:5140", &address));
    assert_int_equal(address.kind, NS_SYSLOG_UDP);
    assert_string_equal(address.host, "logs.example.com");
    assert_string_equal(address.port, "5140");

    assert_true(NsSyslogParseAddress("tcp:[2001:db8::1]:601", &address));
    assert_int_equal(address.kind, NS_SYSLOG_TCP);
    assert_string_equal(address.host, "2001:db8::1");
    assert_string_equal(address.port, "601");

    assert_true(NsSyslogParseAddress("tls:logs.example.com:6515", &address));
    assert_int_equal(address.kind, NS_SYSLOG_TLS);
    assert_string_equal(address.host, "logs.example.com");
    assert_string_equal(address.port, "6515");
}

static void
WithoutAPortItIsThatOfTheKind(void **state)
{
    NsSyslogAddress address;

    assert_true(NsSyslogParseAddress("tcp:logs", &address));
    assert_string_equal(address.port, "514");
    assert_true(NsSyslogParseAddress("udp:[::1]", &address));
    assert_string_equal(address.host, "::1");
    assert_string_equal(address.port, "514");
    assert_true(NsSyslogParseAddress("tls:logs", &address));
    assert_string_equal(address.port, "6514");
}

static void
WhatIsNoneIsRefused(void **state)
{
    static const char *const texts[] = {
        "",          "unix:",          "tcp:",       "udp::514",
        "tcp:host:", "tcp:[::1",       "tcp:[]:514", "tcp:[::1]514",
        "tls:",      "tls:host:",      "/dev/log",   "TCP:host",
        "host:514",  "udp:host:99999", "tcp:host:0", "tcp:host:-514"};
    NsSyslogAddress address;

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        assert_false(NsSyslogParseAddress(texts[i], &address));
    }
}

/*
 * The longest path is what a socket address takes with its null byte.
 */
static void
LengthsAreLimited(void **state)
{
    NsSyslogAddress address;
    char            text[600] = "unix:";

    memset(text + 5, 'x', 107);
    assert_true(NsSyslogParseAddress(text, &address));
    text[5 + 107] = 'x';
    assert_false(NsSyslogParseAddress(text, &address));

    memcpy(text, "tcp:", 4);
    memset(text + 4, 'h', 256);
    text[260] = '\0';
    assert_false(NsSyslogParseAddress(text, &address));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EachKindIsTakenApart),
        cmocka_unit_test(WithoutAPortItIsThatOfTheKind),
        cmocka_unit_test(WhatIsNoneIsRefused),
        cmocka_unit_test(LengthsAreLimited)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
