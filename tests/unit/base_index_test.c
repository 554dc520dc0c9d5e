/* SPDX-License-Identifier: MPL-2.0
 * base_index_test.c --
 *
 *      1. indexes    2. lists
 */

#include "unit.h"
#include "nsindex.h"
#include "nsthread.h"

static const char *
El(Ns_Index *indexPtr, int i)
{
    return Ns_IndexEl(indexPtr, i);
}

static void
an_index_of_strings_is_sorted_and_holds_copies(void **state)
{
    Ns_Index index;
    char     word[] = "pear";

    Ns_IndexStringInit(&index, 2);
    assert_null(Ns_IndexFind(&index, word));
    Ns_IndexAdd(&index, word);
    strcpy(word, "plum");
    Ns_IndexAdd(&index, word);
    strcpy(word, "fig");
    Ns_IndexAdd(&index, word);
    strcpy(word, "????");

    assert_int_equal(Ns_IndexCount(&index), 3);
    assert_string_equal(El(&index, 0), "fig");
    assert_string_equal(El(&index, 1), "pear");
    assert_string_equal(El(&index, 2), "plum");
    assert_string_equal(Ns_IndexFind(&index, (char *) "pear"), "pear");
    assert_null(Ns_IndexFind(&index, (char *) "peach"));
    assert_string_equal(Ns_IndexFindInf(&index, (char *) "peach"), "pear");
    assert_null(Ns_IndexFindInf(&index, (char *) "quince"));
    Ns_IndexStringDestroy(&index);
    assert_int_equal(Ns_IndexCount(&index), 0);
}

static void
all_matches_are_found_in_the_order_they_came(void **state)
{
    Ns_Index index;
    void   **matches;

    Ns_IndexStringInit(&index, 1);
    Ns_IndexAdd(&index, (char *) "b");
    Ns_IndexAdd(&index, (char *) "a");
    Ns_IndexAdd(&index, (char *) "b");
    Ns_IndexAdd(&index, (char *) "c");

    matches = Ns_IndexFindMultiple(&index, (char *) "b");
    assert_ptr_equal(matches[0], El(&index, 1));
    assert_ptr_equal(matches[1], El(&index, 2));
    assert_null(matches[2]);
    ns_free(matches);
    assert_null(Ns_IndexFindMultiple(&index, (char *) "x"));
    Ns_IndexStringDestroy(&index);
}

static void
an_index_of_ints_compares_numbers(void **state)
{
    Ns_Index index;
    int      key = 10;

    Ns_IndexIntInit(&index, 5);
    Ns_IndexAdd(&index, INT2PTR(10));
    Ns_IndexAdd(&index, INT2PTR(9));
    Ns_IndexAdd(&index, INT2PTR(-100));
    Ns_IndexAdd(&index, INT2PTR(INT_MAX));
    assert_int_equal(PTR2INT(Ns_IndexEl(&index, 0)), -100);
    assert_int_equal(PTR2INT(Ns_IndexEl(&index, 3)), INT_MAX);
    assert_int_equal(PTR2INT(Ns_IndexFind(&index, &key)), 10);
    key = 11;
    assert_int_equal(PTR2INT(Ns_IndexFindInf(&index, &key)), INT_MAX);
    Ns_IndexDel(&index, INT2PTR(9));
    Ns_IndexDel(&index, INT2PTR(9));
    assert_int_equal(Ns_IndexCount(&index), 3);
    Ns_IndexDestroy(&index);
}

static void
copies_of_an_index_are_independent(void **state)
{
    Ns_Index index, *copyPtr;

    Ns_IndexStringInit(&index, 1);
    Ns_IndexAdd(&index, (char *) "b");
    Ns_IndexAdd(&index, (char *) "d");
    copyPtr = Ns_IndexStringDup(&index);
    Ns_IndexDel(&index, (char *) "b");
    Ns_IndexAdd(&index, (char *) "a");

    Ns_IndexStringAppend(copyPtr, &index);
    Ns_IndexStringTrunc(&index);
    assert_int_equal(Ns_IndexCount(&index), 0);
    assert_int_equal(Ns_IndexCount(copyPtr), 4);
    assert_string_equal(El(copyPtr, 0), "a");
    assert_string_equal(El(copyPtr, 1), "b");
    assert_string_equal(El(copyPtr, 2), "d");
    assert_string_equal(El(copyPtr, 3), "d");
    Ns_IndexStringDestroy(&index);
    Ns_IndexStringDestroy(copyPtr);
    ns_free(copyPtr);
}

/*
 * A list of the string's characters, weighing their position modulo 3.
 */
static Ns_List *
MakeList(const char *string)
{
    Ns_List *listPtr = NULL;

    for (int i = (int) strlen(string) - 1; i >= 0; i--) {
        Ns_ListPush(INT2PTR(string[i]), listPtr);
        listPtr->weight = (float) (i % 3);
    }
    return listPtr;
}

static void
AssertList(Ns_List *listPtr, const char *expected)
{
    for (const char *s = expected; *s != '\0'; s++) {
        assert_non_null(listPtr);
        assert_int_equal(PTR2INT(Ns_ListFirst(listPtr)), *s);
        listPtr = Ns_ListRest(listPtr);
    }
    assert_null(listPtr);
}

static int
CompareElems(void *left, void *right)
{
    return PTR2INT(left) - PTR2INT(right);
}

static int
CompareNothing(void *left, void *right)
{
    return 0;
}

static int
AreEqual(void *left, void *right)
{
    return left == right;
}

static int
IsUpper(void *elem)
{
    return PTR2INT(elem) >= 'A' && PTR2INT(elem) <= 'Z';
}

static void *
Next(void *elem)
{
    return INT2PTR(PTR2INT(elem) + 1);
}

static int nFreed;

static void
CountFree(void *elem)
{
    nFreed++;
}

static void
lists_are_built_joined_reversed_and_copied(void **state)
{
    Ns_List *listPtr, *copyPtr;

    assert_null(Ns_ListCopy(NULL));
    assert_null(Ns_ListNreverse(NULL));
    assert_null(Ns_ListLast(NULL));
    assert_int_equal(Ns_ListLength(NULL), 0);

    listPtr = Ns_ListNconc(MakeList("abc"), MakeList("de"));
    listPtr = Ns_ListNconc(NULL, Ns_ListNconc(listPtr, NULL));
    AssertList(listPtr, "abcde");
    assert_int_equal(PTR2INT(Ns_ListLast(listPtr)->first), 'e');
    copyPtr = Ns_ListCopy(listPtr);
    listPtr = Ns_ListNreverse(listPtr);
    AssertList(listPtr, "edcba");
    AssertList(copyPtr, "abcde");
    assert_int_equal(Ns_ListLength(copyPtr), 5);

    Ns_ListFree(listPtr, CountFree);
    assert_int_equal(nFreed, 5);
    Ns_ListFree(copyPtr, NULL);
}

static void
sorting_keeps_equal_elements_in_order(void **state)
{
    static const char *const cases[][3] = {
        /* list, sorted, by descending weight (position modulo 3) */
        {"", "", ""},
        {"a", "a", "a"},
        {"ba", "ab", "ab"},
        {"hello", "ehllo", "leohl"},
        {"zyxwvutsrq", "qrstuvwxyz", "xuryvszwtq"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_List *listPtr = Ns_ListSort(MakeList(cases[i][0]), CompareElems);

        AssertList(listPtr, cases[i][1]);
        Ns_ListFree(listPtr, NULL);
        listPtr = Ns_ListWeightSort(MakeList(cases[i][0]));
        AssertList(listPtr, cases[i][2]);
        Ns_ListFree(listPtr, NULL);
        listPtr = Ns_ListSort(MakeList(cases[i][0]), CompareNothing);
        AssertList(listPtr, cases[i][0]);
        Ns_ListFree(listPtr, NULL);
    }
}

static void
elements_are_deleted_by_test_value_repetition_and_weight(void **state)
{
    Ns_List *listPtr = Ns_ListDeleteIf(MakeList("AbCCdE"), IsUpper);

    AssertList(listPtr, "bd");
    Ns_ListFree(listPtr, NULL);
    assert_null(Ns_ListDeleteIf(MakeList("AB"), IsUpper));

    listPtr = Ns_ListDeleteWithTest(INT2PTR('a'), MakeList("abaca"), AreEqual);
    AssertList(listPtr, "bc");
    Ns_ListFree(listPtr, NULL);

    listPtr = Ns_ListDeleteDuplicates(MakeList("abacabd"), AreEqual);
    AssertList(listPtr, "abcd");
    Ns_ListFree(listPtr, NULL);

    listPtr = Ns_ListDeleteLowElements(MakeList("abcdef"), 1.0F);
    AssertList(listPtr, "bcef");
    Ns_ListFree(listPtr, NULL);
}

static void
mapping_makes_a_new_list_or_changes_the_old(void **state)
{
    Ns_List *listPtr = MakeList("abc");
    Ns_List *newPtr = Ns_ListMapcar(listPtr, Next);

    AssertList(listPtr, "abc");
    AssertList(newPtr, "bcd");
    assert_ptr_equal(Ns_ListNmapcar(listPtr, Next), listPtr);
    AssertList(listPtr, "bcd");
    Ns_ListFree(listPtr, NULL);
    Ns_ListFree(newPtr, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_of_strings_is_sorted_and_holds_copies),
        cmocka_unit_test(all_matches_are_found_in_the_order_they_came),
        cmocka_unit_test(an_index_of_ints_compares_numbers),
        cmocka_unit_test(copies_of_an_index_are_independent),
        cmocka_unit_test(lists_are_built_joined_reversed_and_copied),
        cmocka_unit_test(sorting_keeps_equal_elements_in_order),
        cmocka_unit_test(
            elements_are_deleted_by_test_value_repetition_and_weight),
        cmocka_unit_test(mapping_makes_a_new_list_or_changes_the_old),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
