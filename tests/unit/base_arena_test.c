/* SPDX-License-Identifier: MPL-2.0
 * base_arena_test.c --
 *
 *      1. pieces    2. reset    3. large pieces
 */

#include "unit.h"
#include "base/arena.h"

#include <stdalign.h>

#define FIRST 1024

static int
Setup(void **state)
{
    static NsArena arena;

    NsArenaInit(&arena, FIRST);
    *state = &arena;
    return 0;
}

static int
Teardown(void **state)
{
    NsArenaFree(*state);
    return 0;
}

static void
an_unused_arena_owns_no_memory(void **state)
{
    NsArena *arenaPtr = *state;

    assert_null(arenaPtr->blockPtr);
    NsArenaReset(arenaPtr);
    assert_null(arenaPtr->blockPtr);
}

static void
pieces_are_aligned_and_do_not_overlap(void **state)
{
    char *pieces[300];

    for (size_t i = 0; i < 300; i++) {
        pieces[i] = NsArenaAlloc(*state, i);
        assert_int_equal((uintptr_t) pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int) (i & 0xff), i);
    }
    for (size_t i = 0; i < 300; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_int_equal((unsigned char) pieces[i][j], i & 0xff);
        }
    }
}

static void
zalloc_clears_reused_memory(void **state)
{
    memset(NsArenaAlloc(*state, 500), 0xff, 500);
    NsArenaReset(*state);

    const char *piece = NsArenaZalloc(*state, 500);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(piece[i], 0);
    }
}

static void
dup_ends_the_copy_with_a_null_byte(void **state)
{
    assert_string_equal(NsArenaDup(*state, "hello world", 5), "hello");
    assert_string_equal(NsArenaDup(*state, "", 0), "");
}

static void
a_reset_reuses_the_first_block(void **state)
{
    char *first = NsArenaAlloc(*state, 100);

    for (int i = 0; i < 100; i++) {
        (void) NsArenaAlloc(*state, 1000);
    }
    NsArenaReset(*state);
    assert_ptr_equal(NsArenaAlloc(*state, 100), first);
}

static void
a_large_first_piece_is_not_kept_by_a_reset(void **state)
{
    NsArena *arenaPtr = *state;

    memset(NsArenaAlloc(arenaPtr, 100000), 1, 100000);
    NsArenaReset(arenaPtr);
    assert_true((size_t) (arenaPtr->end - arenaPtr->next) < 2 * FIRST);
}

static void
a_piece_just_as_large_as_the_rest_of_a_block_is_whole(void **state)
{
    NsArena *arenaPtr = *state;

    (void) NsArenaAlloc(arenaPtr, 1);
    for (int delta = -32; delta <= 32; delta++) {
        size_t room = (size_t) (arenaPtr->end - arenaPtr->next);
        size_t bytes = (size_t) ((int) room + delta);

        memset(NsArenaAlloc(arenaPtr, bytes), 1, bytes);
        assert_true(arenaPtr->next <= arenaPtr->end);
        NsArenaReset(arenaPtr);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_unused_arena_owns_no_memory, Setup,
                                        Teardown),
        cmocka_unit_test_setup_teardown(pieces_are_aligned_and_do_not_overlap,
                                        Setup, Teardown),
        cmocka_unit_test_setup_teardown(zalloc_clears_reused_memory, Setup,
                                        Teardown),
        cmocka_unit_test_setup_teardown(dup_ends_the_copy_with_a_null_byte,
                                        Setup, Teardown),
        cmocka_unit_test_setup_teardown(a_reset_reuses_the_first_block, Setup,
                                        Teardown),
        cmocka_unit_test_setup_teardown(
            a_large_first_piece_is_not_kept_by_a_reset, Setup, Teardown),
        cmocka_unit_test_setup_teardown(
            a_piece_just_as_large_as_the_rest_of_a_block_is_whole, Setup,
            Teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
