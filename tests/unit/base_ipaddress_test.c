/* SPDX-License-Identifier: MPL-2.0
 * base_ipaddress_test.c --
 *
 *      1. ranges    2. public addresses
 */

#include "unit.h"
#include "base/ipaddress.h"

static bool
IsIn(const char *rangeText, const char *addressText)
{
    NsIpRange   range;
    NsIpAddress address;

    assert_true(NsIpRangeParse(rangeText, &range));
    assert_true(NsIpParse(addressText, &address));
    return NsIpRangeHas(&range, &address);
}

static void
a_range_has_the_addresses_that_agree_in_its_bits(void **state)
{
    assert_true(IsIn("10.0.0.0/8", "10.255.0.1"));
    assert_false(IsIn("10.0.0.0/8", "11.0.0.0"));
    assert_true(IsIn("192.168.16.0/20", "192.168.31.255"));
    assert_false(IsIn("192.168.16.0/20", "192.168.32.0"));
    assert_true(IsIn("0.0.0.0/0", "255.1.2.3"));
    assert_true(IsIn("192.0.2.1/32", "192.0.2.1"));
    assert_false(IsIn("192.0.2.1/32", "192.0.2.0"));
    assert_true(IsIn("2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(IsIn("2001:db8::/33", "2001:db8:8000::1"));
    assert_true(IsIn("::/0", "::1"));
    assert_false(IsIn("::/0", "127.0.0.1"));
}

static void
a_range_of_ipv4_has_no_other_ipv6_addresses(void **state)
{
    assert_false(IsIn("0.0.0.0/0", "2001:db8::1"));
    assert_true(IsIn("127.0.0.0/8", "::ffff:127.0.0.1"));
}

static void
an_address_alone_is_a_range_of_one(void **state)
{
    assert_true(IsIn("127.0.0.1", "127.0.0.1"));
    assert_false(IsIn("127.0.0.1", "127.0.0.2"));
    assert_true(IsIn("::1", "::1"));
}

static void
what_is_no_range_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "/",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/ 8",
        "10.0.0.0/8x",
        "10.0.0/8",
        "::/129",
        "example.com",
        "10.0.0.0/8/8",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb"};
    NsIpRange range;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(NsIpRangeParse(texts[i], &range));
    }
}

static void
public_addresses_are_those_of_nobody_in_particular(void **state)
{
    static const struct {
        const char *text;
        bool        isPublic;
    } cases[] = {
        {"8.8.8.8", true},
        {"10.1.1.1", false},
        {"127.0.0.1", false},
        {"172.15.0.1", true},
        {"172.16.0.1", false},
        {"172.31.255.255", false},
        {"172.32.0.1", true},
        {"192.168.0.1", false},
        {"169.254.1.1", false},
        {"100.64.0.1", false},
        {"224.0.0.1", false},
        {"255.255.255.255", false},
        {"0.0.0.0", false},
        {"::1", false},
        {"::", false},
        {"fe80::1", false},
        {"fd00::1", false},
        {"2a00:1450::1", true},
        {"::ffff:10.0.0.1", false},
        {"ff02::1", false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        NsIpAddress address;

        assert_true(NsIpParse(cases[i].text, &address));
        assert_int_equal(NsIpIsPublic(&address), cases[i].isPublic);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_has_the_addresses_that_agree_in_its_bits),
        cmocka_unit_test(a_range_of_ipv4_has_no_other_ipv6_addresses),
        cmocka_unit_test(an_address_alone_is_a_range_of_one),
        cmocka_unit_test(what_is_no_range_is_refused),
        cmocka_unit_test(public_addresses_are_those_of_nobody_in_particular)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
