/* SPDX-License-Identifier: MPL-2.0
 * base_set_test.c --
 *
 *      Each test runs on a set from the heap and on one in an arena.
 *
 *      1. append and find    2. change and remove    3. whole sets    4. arena
 */

#include "unit.h"
#include "base/set.h"
#include "nsthread.h"

static NsArena arena;

static int
SetupHeap(void **state)
{
    *state = Ns_SetCreate("s");
    return 0;
}

static int
SetupArena(void **state)
{
    NsArenaInit(&arena, 300);
    *state = NsSetCreateInArena(&arena, "s", 2);
    return 0;
}

static int
Teardown(void **state)
{
    Ns_SetFree(*state);
    NsArenaFree(&arena);
    return 0;
}

/*
 * The set as `key=value key=value`.
 */
static const char *
Text(const Ns_Set *setPtr)
{
    static char text[1000];

    text[0] = '\0';
    for (int i = 0; i < Ns_SetSize(setPtr); i++) {
        const char *key = Ns_SetKey(setPtr, i), *value = Ns_SetValue(setPtr, i);

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s=%s",
                 i > 0 ? " " : "", key != NULL ? key : "NULL",
                 value != NULL ? value : "NULL");
    }
    return text;
}

static void
Fill(Ns_Set *setPtr)
{
    Ns_SetPut(setPtr, "a", "1");
    Ns_SetPut(setPtr, "B", "2");
    Ns_SetPut(setPtr, "b", "3");
    Ns_SetPut(setPtr, "a", "");
}

static void
put_appends_copies_and_tells_the_index(void **state)
{
    Ns_Set *setPtr = *state;
    char    key[] = "key", value[] = "value";

    assert_string_equal(Ns_SetName(setPtr), "s");
    assert_int_equal(Ns_SetLast(setPtr), -1);
    assert_int_equal(Ns_SetPut(setPtr, key, value), 0);
    assert_int_equal(Ns_SetPutSz(setPtr, key, value, 3), 1);
    assert_int_equal(Ns_SetPutSz(setPtr, key, value, 0), 2);
    assert_int_equal(Ns_SetPut(setPtr, key, NULL), 3);
    memset(key, 'x', 3);
    memset(value, 'x', 5);
    assert_string_equal(Text(setPtr), "key=value key=val key=value key=NULL");
}

static void
lengths_are_bytes_all_or_none(void **state)
{
    Ns_Set *setPtr = *state;

    assert_int_equal(Ns_SetPutSz_33(setPtr, "keys", 3, "values", 5), 0);
    assert_int_equal(Ns_SetPutSz_33(setPtr, "keys", -1, "values", -1), 1);
    assert_int_equal(Ns_SetPutSz_33(setPtr, "keys", 0, "values", 0), 2);
    assert_int_equal(Ns_SetPutSz_33(setPtr, NULL, 4, NULL, 4), 3);
    assert_string_equal(Text(setPtr), "key=value keys=values = NULL=NULL");
    assert_int_equal(Ns_SetUpdateSz(setPtr, "keys", 3, "new", 2), 0);
    assert_int_equal(Ns_SetUpdateSz(setPtr, "KEYS", 4, "upper", -1), 4);
    assert_int_equal(Ns_SetIUpdateSz(setPtr, "KEYSX", 4, "other", 0), 1);
    assert_int_equal(Ns_SetIUpdateSz(setPtr, NULL, -1, "none", -1), 3);
    assert_int_equal(Ns_SetIUpdateSz(setPtr, "", 0, NULL, -1), 2);
    assert_string_equal(Text(setPtr),
                        "key=ne keys= =NULL NULL=none KEYS=upper");
}

static void
a_set_grows_without_losing_fields(void **state)
{
    char number[20];

    for (int i = 0; i < 1000; i++) {
        snprintf(number, sizeof(number), "%d", i);
        assert_int_equal(Ns_SetPut(*state, number, number), i);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(number, sizeof(number), "%d", i);
        assert_int_equal(Ns_SetFind(*state, number), i);
        assert_string_equal(Ns_SetGet(*state, number), number);
    }
}

static int
CompareLength(const char *s1, const char *s2)
{
    return (int) strlen(s1) - (int) strlen(s2);
}

static void
find_returns_the_first_match_or_nothing(void **state)
{
    Fill(*state);
    assert_int_equal(Ns_SetFind(*state, "b"), 2);
    assert_int_equal(Ns_SetIFind(*state, "b"), 1);
    assert_int_equal(Ns_SetFind(*state, "c"), -1);
    assert_int_equal(Ns_SetFind(*state, NULL), -1);
    assert_int_equal(Ns_SetFindCmp(*state, "x", CompareLength), 0);
    assert_string_equal(Ns_SetGet(*state, "b"), "3");
    assert_string_equal(Ns_SetIGet(*state, "b"), "2");
    assert_null(Ns_SetGet(*state, "c"));

    Ns_SetPut(*state, NULL, "null");
    assert_int_equal(Ns_SetFind(*state, NULL), 4);
    assert_string_equal(Ns_SetGet(*state, NULL), "null");
}

static void
an_absent_or_empty_value_gives_the_default(void **state)
{
    Ns_SetPut(*state, "empty", "");
    Ns_SetPut(*state, "Full", "x");
    assert_string_equal(Ns_SetGetValue(*state, "empty", "d"), "d");
    assert_string_equal(Ns_SetGetValue(*state, "absent", "d"), "d");
    assert_string_equal(Ns_SetGetValue(*state, "full", "d"), "d");
    assert_string_equal(Ns_SetIGetValue(*state, "full", "d"), "x");
}

static void
unique_means_at_most_one(void **state)
{
    Fill(*state);
    assert_true(Ns_SetUnique(*state, "absent"));
    assert_true(Ns_SetUnique(*state, "b"));
    assert_false(Ns_SetIUnique(*state, "b"));
    assert_false(Ns_SetUnique(*state, "a"));
    assert_false(Ns_SetUniqueCmp(*state, "?", CompareLength));
}

static void
update_changes_the_first_match_in_place(void **state)
{
    Fill(*state);
    Ns_SetUpdate(*state, "a", "new");
    assert_string_equal(Text(*state), "a=new B=2 b=3 a=");
    Ns_SetIUpdate(*state, "b", "new");
    assert_string_equal(Text(*state), "a=new B=new b=3 a=");
    Ns_SetUpdate(*state, "c", "4");
    assert_string_equal(Text(*state), "a=new B=new b=3 a= c=4");
}

static void
a_value_of_the_set_itself_can_be_stored_again(void **state)
{
    Ns_SetPut(*state, "a", "some text");
    Ns_SetUpdate(*state, Ns_SetKey((Ns_Set *) *state, 0),
                 Ns_SetGet(*state, "a"));
    assert_string_equal(Text(*state), "a=some text");
    Ns_SetPutValue(*state, 0, Ns_SetGet(*state, "a") + 5);
    assert_string_equal(Text(*state), "a=text");
}

static void
values_are_replaced_by_index(void **state)
{
    Fill(*state);
    Ns_SetPutValue(*state, 0, "new");
    Ns_SetPutValue(*state, -1, "ignored");
    Ns_SetPutValue(*state, 4, "ignored");
    Ns_SetPutValueSz(*state, 1, "abcdef", 3);
    Ns_SetPutValueSz(*state, 2, "abcdef", 0);
    assert_string_equal(Text(*state), "a=new B=abc b= a=");
    Ns_SetClearValues(*state);
    assert_string_equal(Text(*state), "a= B= b= a=");
    Ns_SetPutValue(*state, 3, "new");
    Ns_SetClearValues(*state, 8192);
    assert_string_equal(Text(*state), "a= B= b= a=");
}

static void
fields_are_deleted_by_index_or_first_match(void **state)
{
    Fill(*state);
    Ns_SetDelete(*state, -1);
    Ns_SetDelete(*state, 4);
    Ns_SetDelete(*state, 3);
    assert_string_equal(Text(*state), "a=1 B=2 b=3");
    Ns_SetIDeleteKey(*state, "b");
    assert_string_equal(Text(*state), "a=1 b=3");
    Ns_SetDeleteKey(*state, "a");
    Ns_SetDeleteKey(*state, "a");
    assert_string_equal(Text(*state), "b=3");
}

static void
trunc_keeps_the_first_fields(void **state)
{
    Fill(*state);
    Ns_SetTrunc(*state, 9);
    assert_int_equal(Ns_SetSize((Ns_Set *) *state), 4);
    Ns_SetTrunc(*state, 2);
    assert_string_equal(Text(*state), "a=1 B=2");
    Ns_SetTrunc(*state, -1);
    assert_string_equal(Text(*state), "");
}

static void
a_copy_is_independent(void **state)
{
    Ns_Set *copyPtr;

    Fill(*state);
    copyPtr = Ns_SetCopy(*state);
    Ns_SetTrunc(*state, 0);
    assert_string_equal(Ns_SetName(copyPtr), "s");
    assert_string_equal(Text(copyPtr), "a=1 B=2 b=3 a=");
    Ns_SetFree(copyPtr);
    assert_null(Ns_SetCopy(NULL));
    Ns_SetFree(NULL);
}

static void
merge_adds_only_missing_keys(void **state)
{
    Ns_Set *lowPtr = Ns_SetCreate(NULL);

    Ns_SetPut(*state, "a", "high");
    Fill(lowPtr);
    Ns_SetMerge(*state, lowPtr);
    assert_string_equal(Text(*state), "a=high B=2 b=3");
    Ns_SetFree(lowPtr);
}

static void
move_appends_all_and_empties_the_source(void **state)
{
    Ns_Set *heapPtr = Ns_SetCreate(NULL);

    Fill(heapPtr);
    Ns_SetPut(*state, "x", "y");
    Ns_SetMove(*state, heapPtr);
    assert_string_equal(Text(*state), "x=y a=1 B=2 b=3 a=");
    assert_string_equal(Text(heapPtr), "");
    Ns_SetMove(heapPtr, *state);
    assert_string_equal(Text(*state), "");
    assert_string_equal(Text(heapPtr), "x=y a=1 B=2 b=3 a=");
    Ns_SetMove(heapPtr, heapPtr);
    assert_int_equal(Ns_SetSize(heapPtr), 5);
    Ns_SetFree(heapPtr);
}

static void
split_makes_a_set_for_each_prefix(void **state)
{
    Ns_Set **sets;

    Ns_SetPut(*state, "a.x", "1");
    Ns_SetPut(*state, "b.y.z", "2");
    Ns_SetPut(*state, "a.y", "3");
    Ns_SetPut(*state, "plain", "4");
    sets = Ns_SetSplit(*state, '.');
    assert_string_equal(Text(Ns_SetListFind(sets, "a")), "x=1 y=3");
    assert_string_equal(Text(Ns_SetListFind(sets, "b")), "y.z=2");
    assert_string_equal(Text(Ns_SetListFind(sets, NULL)), "plain=4");
    assert_null(Ns_SetListFind(sets, "c"));
    assert_null(sets[3]);
    Ns_SetListFree(sets);
}

static void
a_set_in_an_arena_can_borrow_strings(void **state)
{
    char name[] = "name", value[] = "value";

    assert_int_equal(NsSetPutBorrowed(*state, name, value), 0);
    assert_ptr_equal(Ns_SetGet(*state, "name"), value);
    Ns_SetUpdate(*state, "name", "other");
    assert_string_equal(Text(*state), "name=other");
    assert_string_equal(value, "value");
}

#define ON_BOTH(test)                                           \
    cmocka_unit_test_setup_teardown(test, SetupHeap, Teardown), \
    {                                                           \
#test " (arena)", test, SetupArena, Teardown, NULL      \
    }

int
main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(put_appends_copies_and_tells_the_index),
        ON_BOTH(lengths_are_bytes_all_or_none),
        ON_BOTH(a_set_grows_without_losing_fields),
        ON_BOTH(find_returns_the_first_match_or_nothing),
        ON_BOTH(an_absent_or_empty_value_gives_the_default),
        ON_BOTH(unique_means_at_most_one),
        ON_BOTH(update_changes_the_first_match_in_place),
        ON_BOTH(a_value_of_the_set_itself_can_be_stored_again),
        ON_BOTH(values_are_replaced_by_index),
        ON_BOTH(fields_are_deleted_by_index_or_first_match),
        ON_BOTH(trunc_keeps_the_first_fields),
        ON_BOTH(a_copy_is_independent),
        ON_BOTH(merge_adds_only_missing_keys),
        ON_BOTH(move_appends_all_and_empties_the_source),
        ON_BOTH(split_makes_a_set_for_each_prefix),
        cmocka_unit_test_setup_teardown(a_set_in_an_arena_can_borrow_strings,
                                        SetupArena, Teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
