/* SPDX-License-Identifier: MPL-2.0
 * base_sockaddr_test.c --
 *
 *      1. text and ports    2. masks    3. what addresses are
 */

#include "unit.h"
#include "nssockaddr.h"

typedef union Address {
    struct sockaddr         any;
    struct sockaddr_storage storage;
} Address;

static Address
AddressOf(const char *text)
{
    Address address;

    memset(&address, 0, sizeof(address));
    assert_int_equal(ns_inet_pton(&address.any, text), 1);
    return address;
}

static const char *
TextOf(const Address *addressPtr)
{
    static char text[NS_IPADDR_SIZE];

    return ns_inet_ntop(&addressPtr->any, text, sizeof(text));
}

/*
 * What does not parse is in no network.
 */
static bool
IsIn(const char *networkText, const char *text)
{
    Address address = AddressOf(text), network, mask;

    return Ns_SockaddrParseIPMask(NULL, networkText, &network.any, &mask.any,
                                  NULL)
        == NS_OK
        && Ns_SockaddrMaskedMatch(&address.any, &mask.any, &network.any);
}

static void
an_address_is_read_and_written_in_its_family(void **state)
{
    static const char *const texts[] = {
        "0.0.0.0", "255.255.255.255", "::", "2001:db8::1", "::ffff:10.0.0.1"};
    Address address = AddressOf("10.1.2.3");
    char    small[8];

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        Address found = AddressOf(texts[i]);

        assert_string_equal(TextOf(&found), texts[i]);
        assert_int_equal(Ns_SockaddrGetSockLen(&found.any),
                         strchr(texts[i], ':') == NULL
                             ? sizeof(struct sockaddr_in)
                             : sizeof(struct sockaddr_in6));
    }
    assert_null(ns_inet_ntop(&address.any, small, sizeof(small)));
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(ns_inet_pton(&address.any, ""), 0);
    assert_int_equal(ns_inet_pton(&address.any, "10.1.2"), 0);
    assert_int_equal(ns_inet_pton(&address.any, "host"), 0);
    assert_int_equal(ns_inet_pton(&address.any, "1:2"), 0);
    assert_string_equal(TextOf(&address), "10.1.2.3");
}

static void
a_port_is_kept_beside_the_address(void **state)
{
    Address address = AddressOf("::1"), none = {.any.sa_family = AF_UNIX};

    assert_int_equal(Ns_SockaddrGetPort(&address.any), 0);
    Ns_SockaddrSetPort(&address.any, 65535);
    assert_int_equal(Ns_SockaddrGetPort(&address.any), 65535);
    assert_int_equal(ns_inet_pton(&address.any, "10.0.0.1"), 1);
    assert_int_equal(Ns_SockaddrGetPort(&address.any), 65535);
    Ns_SockaddrSetPort(&none.any, 80);
    assert_int_equal(Ns_SockaddrGetPort(&none.any), 0);
    assert_int_equal(Ns_SockaddrGetSockLen(&none.any), 0);
    errno = 0;
    assert_null(TextOf(&none));
    assert_int_equal(errno, EAFNOSUPPORT);
}

static void
mask_bits_are_leading_ones(void **state)
{
    Address mask = AddressOf("1.2.3.4"), six = AddressOf("::1");
    Address none = {.any.sa_family = AF_UNIX};

    assert_true(Ns_SockaddrMaskBits(&mask.any, 0));
    assert_string_equal(TextOf(&mask), "0.0.0.0");
    assert_true(Ns_SockaddrMaskBits(&mask.any, 20));
    assert_string_equal(TextOf(&mask), "255.255.240.0");
    assert_true(Ns_SockaddrMaskBits(&mask.any, 32));
    assert_false(Ns_SockaddrMaskBits(&mask.any, 33));
    assert_string_equal(TextOf(&mask), "255.255.255.255");
    assert_true(Ns_SockaddrMaskBits(&six.any, 33));
    assert_string_equal(TextOf(&six), "ffff:ffff:8000::");
    assert_true(Ns_SockaddrMaskBits(&six.any, 128));
    assert_false(Ns_SockaddrMaskBits(&six.any, UINT_MAX));
    assert_false(Ns_SockaddrMaskBits(&none.any, 0));
}

static void
a_mask_keeps_bits_and_port_of_an_address_of_its_family(void **state)
{
    Address address = AddressOf("10.1.2.3"), mask = AddressOf("255.0.255.0");
    Address six = AddressOf("ffff::"), masked = AddressOf("::1");

    Ns_SockaddrSetPort(&address.any, 8000);
    assert_true(Ns_SockaddrMask(&address.any, &mask.any, &masked.any));
    assert_string_equal(TextOf(&masked), "10.0.2.0");
    assert_int_equal(Ns_SockaddrGetPort(&masked.any), 8000);
    assert_false(Ns_SockaddrMask(&address.any, &six.any, &masked.any));
    assert_string_equal(TextOf(&masked), "10.0.2.0");
    assert_true(Ns_SockaddrMask(&address.any, &mask.any, &address.any));
    assert_string_equal(TextOf(&address), "10.0.2.0");
}

static void
a_network_is_read_with_bits_or_a_mask_and_has_what_agrees(void **state)
{
    Address network, mask;
    bool    isSingle;

    assert_int_equal(Ns_SockaddrParseIPMask(NULL, "10.1.2.3/8", &network.any,
                                            &mask.any, &isSingle),
                     NS_OK);
    assert_string_equal(TextOf(&network), "10.0.0.0");
    assert_false(isSingle);
    assert_int_equal(Ns_SockaddrParseIPMask(NULL, "::1", &network.any,
                                            &mask.any, &isSingle),
                     NS_OK);
    assert_true(isSingle);

    assert_true(IsIn("10.1.2.3/8", "10.255.0.1"));
    assert_true(IsIn("10.0.0.0/255.0.0.0", "10.255.0.1"));
    assert_true(IsIn("10.0.0.0/8", "::ffff:10.255.0.1"));
    assert_false(IsIn("10.0.0.0/8", "11.0.0.0"));
    assert_false(IsIn("10.0.0.0/8", "2001:db8::ffff:10.0.0.1"));
    assert_true(IsIn("0.0.0.0/0", "255.1.1.1"));
    assert_false(IsIn("0.0.0.0/0", "::1"));
    assert_false(IsIn("::/0", "127.0.0.1"));
    assert_true(IsIn("::/0", "::1"));
    assert_true(IsIn("2001:db8::/ffff:ffff::", "2001:db8:1::"));
    assert_true(IsIn("127.0.0.1", "127.0.0.1"));
    assert_false(IsIn("127.0.0.1", "127.0.0.2"));
}

static void
what_is_not_a_network_is_an_error_with_a_message(void **state)
{
    static const char *const texts[] = {
        "",
        "/",
        "10.0.0.0/",
        "10.0.0.0/33",
        "::/129",
        "10.0.0.0/-1",
        "10.0.0/8",
        "10.0.0.0/8x",
        "10.0.0.0/::",
        "::/255.0.0.0",
        "host/8",
        "10.0.0.0/99999999999",
        "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/8"};
    Tcl_Interp *interp = Tcl_CreateInterp();
    Address     network, mask;

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        Ns_DString expected;

        assert_int_equal(Ns_SockaddrParseIPMask(interp, texts[i], &network.any,
                                                &mask.any, NULL),
                         NS_ERROR);
        Tcl_DStringInit(&expected);
        Tcl_DStringAppend(&expected, "'", 1);
        Tcl_DStringAppend(&expected, texts[i], -1);
        Tcl_DStringAppend(&expected,
                          "' is neither an address nor a network "
                          "(ADDRESS/BITS)",
                          -1);
        assert_string_equal(Tcl_GetStringResult(interp),
                            Tcl_DStringValue(&expected));
        Tcl_DStringFree(&expected);
    }
    Tcl_DeleteInterp(interp);
}

static void
two_spellings_and_two_ports_are_the_same_ip(void **state)
{
    Address a = AddressOf("10.0.0.1"), b = AddressOf("::ffff:10.0.0.1");
    Address c = AddressOf("10.0.0.2"), none = {.any.sa_family = AF_UNIX};

    Ns_SockaddrSetPort(&b.any, 80);
    assert_true(Ns_SockaddrSameIP(&a.any, &b.any));
    assert_false(Ns_SockaddrSameIP(&a.any, &c.any));
    assert_false(Ns_SockaddrSameIP(&none.any, &none.any));
}

static void
public_is_what_everybody_can_reach(void **state)
{
    Address none = {.any.sa_family = AF_UNIX};

    for (int i = 0; i < 2; i++) {
        static const char *const texts[2][4] = {
            {"127.0.0.1", "192.168.1.1", "fe80::1", "::ffff:10.0.0.1"},
            {"8.8.8.8", "193.99.144.80", "2a02:2e0::1", "::ffff:8.8.8.8"}};

        for (int j = 0; j < 4; j++) {
            Address address = AddressOf(texts[i][j]);

            assert_int_equal(Ns_SockaddrPublicIpAddress(&address.any), i);
        }
    }
    assert_false(Ns_SockaddrPublicIpAddress(&none.any));
}

static void
nobody_is_trusted_without_configuration(void **state)
{
    Address address = AddressOf("127.0.0.1");

    assert_false(Ns_SockaddrTrustedReverseProxy(&address.any));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_read_and_written_in_its_family),
        cmocka_unit_test(a_port_is_kept_beside_the_address),
        cmocka_unit_test(mask_bits_are_leading_ones),
        cmocka_unit_test(
            a_mask_keeps_bits_and_port_of_an_address_of_its_family),
        cmocka_unit_test(
            a_network_is_read_with_bits_or_a_mask_and_has_what_agrees),
        cmocka_unit_test(what_is_not_a_network_is_an_error_with_a_message),
        cmocka_unit_test(two_spellings_and_two_ports_are_the_same_ip),
        cmocka_unit_test(public_is_what_everybody_can_reach),
        cmocka_unit_test(nobody_is_trusted_without_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
