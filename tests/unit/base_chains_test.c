/* SPDX-License-Identifier: MPL-2.0
 * base_chains_test.c --
 *
 *      1. adding and removing    2. length of the chains
 */

#include "unit.h"
#include "base/chains.h"

#define N_ITEMS 20000u

typedef struct Item {
    NsChainLink link;
    uint32_t    number;
} Item;

static Item items[N_ITEMS];

static int
Setup(void **state)
{
    static NsChains chains;

    NsChainsInit(&chains);
    for (uint32_t i = 0; i < N_ITEMS; i++) {
        items[i] = (Item){.link.hash = i * 2654435761u, .number = i};
    }
    *state = &chains;
    return 0;
}

static int
Teardown(void **state)
{
    NsChainsFree(*state);
    return 0;
}

static bool
IsThere(const NsChains *chainsPtr, const Item *itemPtr)
{
    const NsChainLink *linkPtr = *NsChainsHead(chainsPtr, itemPtr->link.hash);

    while (linkPtr != NULL && linkPtr != &itemPtr->link) {
        linkPtr = linkPtr->nextPtr;
    }
    return linkPtr != NULL;
}

static size_t
Length(const NsChainLink *linkPtr)
{
    size_t n = 0;

    for (; linkPtr != NULL; linkPtr = linkPtr->nextPtr) {
        n++;
    }
    return n;
}

static void
items_are_there_from_add_to_remove_however_many_come_between(void **state)
{
    NsChains *chainsPtr = *state;

    for (uint32_t i = 0; i < N_ITEMS; i++) {
        NsChainsAdd(chainsPtr, &items[i].link);
        if (i % 3u == 2u) {
            NsChainsRemove(chainsPtr, &items[i / 2u].link);
            NsChainsAdd(chainsPtr, &items[i / 2u].link);
        }
        if ((i & (i + 1u)) == 0u || i % 1000u == 0u) {
            for (uint32_t j = 0; j <= i; j++) {
                assert_true(IsThere(chainsPtr, &items[j]));
            }
        }
    }
    for (uint32_t i = 0; i < N_ITEMS; i++) {
        assert_true(IsThere(chainsPtr, &items[i]));
        NsChainsRemove(chainsPtr, &items[i].link);
        assert_false(IsThere(chainsPtr, &items[i]));
    }
    assert_int_equal(chainsPtr->nItems, 0);
}

static void
items_of_one_hash_can_be_told_apart(void **state)
{
    NsChains *chainsPtr = *state;

    for (uint32_t i = 0; i < 3u; i++) {
        items[i].link.hash = 5u;
        NsChainsAdd(chainsPtr, &items[i].link);
    }
    NsChainsRemove(chainsPtr, &items[1].link);
    assert_true(IsThere(chainsPtr, &items[0]));
    assert_false(IsThere(chainsPtr, &items[1]));
    assert_true(IsThere(chainsPtr, &items[2]));
}

static void
chains_stay_short_when_the_table_grows(void **state)
{
    NsChains *chainsPtr = *state;
    size_t    sum = 0, longest = 0;

    for (uint32_t i = 0; i < N_ITEMS; i++) {
        NsChainsAdd(chainsPtr, &items[i].link);
    }
    for (uint32_t i = 0; i < chainsPtr->nHeads; i++) {
        size_t n = Length(chainsPtr->heads[i]);

        sum += n;
        longest = n > longest ? n : longest;
    }
    assert_int_equal(sum, N_ITEMS);
    assert_true(longest <= 8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            items_are_there_from_add_to_remove_however_many_come_between, Setup,
            Teardown),
        cmocka_unit_test_setup_teardown(items_of_one_hash_can_be_told_apart,
                                        Setup, Teardown),
        cmocka_unit_test_setup_teardown(chains_stay_short_when_the_table_grows,
                                        Setup, Teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
