/* SPDX-License-Identifier: MPL-2.0
 * net_peers_test.c --
 *
 *      Half-received requests, counted by peer.
 */

#include "unit.h"
#include "net/peers.h"

/* As one of a thread, they are never freed. */
static NsPeerTable *tables[3];

static void
addresses_of_one_ipv6_network_of_64_bits_are_one_peer(void **state)
{
    NsPeerTable *tablePtr = tables[0] = NsPeerTableCreate();

    assert_int_equal(NsPeerTableAdd(tablePtr, "2001:db8:0:1::1"), 1);
    assert_int_equal(NsPeerTableAdd(tablePtr, "2001:db8:0:1:ffff::2"), 2);
    assert_int_equal(NsPeerTableAdd(tablePtr, "2001:db8:0:2::1"), 1);
    NsPeerTableRemove(tablePtr, "2001:db8:0:1::3");
    assert_int_equal(NsPeerTableAdd(tablePtr, "2001:db8:0:1::4"), 2);
}

static void
addresses_of_ipv4_are_peers_of_their_own(void **state)
{
    NsPeerTable *tablePtr = tables[1] = NsPeerTableCreate();

    assert_int_equal(NsPeerTableAdd(tablePtr, "192.0.2.1"), 1);
    assert_int_equal(NsPeerTableAdd(tablePtr, "192.0.2.2"), 1);
    assert_int_equal(NsPeerTableAdd(tablePtr, "192.0.2.1"), 2);
}

static void
a_peer_without_requests_is_forgotten(void **state)
{
    NsPeerTable *tablePtr = tables[2] = NsPeerTableCreate();

    NsPeerTableRemove(tablePtr, "192.0.2.1");
    assert_int_equal(NsPeerTableAdd(tablePtr, "192.0.2.1"), 1);
    NsPeerTableRemove(tablePtr, "192.0.2.1");
    NsPeerTableRemove(tablePtr, "192.0.2.1");
    assert_int_equal(NsPeerTableAdd(tablePtr, "192.0.2.1"), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_one_ipv6_network_of_64_bits_are_one_peer),
        cmocka_unit_test(addresses_of_ipv4_are_peers_of_their_own),
        cmocka_unit_test(a_peer_without_requests_is_forgotten)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
