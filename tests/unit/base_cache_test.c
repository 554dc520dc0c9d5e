/* SPDX-License-Identifier: MPL-2.0
 * base_cache_test.c --
 *
 *      1. entries    2. size    3. expiry    4. statistics
 *      5. flush and visit    6. filling by several threads
 *      7. transactions
 */

#include "unit.h"
#include "base/cache.h"
#include "nsstring.h"
#include "nsthread.h"

static int nFreed;

static void
CountFree(void *value)
{
    nFreed++;
    ns_free(value);
}

static int
Setup(void **state)
{
    nFreed = 0;
    *state = Ns_CacheCreateEx("test", TCL_STRING_KEYS, 0, 0, CountFree);
    Ns_CacheLock(*state);
    return 0;
}

static int
Teardown(void **state)
{
    Ns_CacheUnlock(*state);
    Ns_CacheDestroy(*state);
    return 0;
}

static Ns_Entry *
Put(Ns_Cache *cache, const char *key, const char *value, Ns_Time *expiresPtr,
    int cost)
{
    int       isNew;
    Ns_Entry *entry = Ns_CacheCreateEntry(cache, key, &isNew);

    Ns_CacheSetValueExpires(entry, ns_strdup(value), strlen(value), expiresPtr,
                            cost);
    return entry;
}

static const char *
Get(Ns_Cache *cache, const char *key)
{
    Ns_Entry *entry = Ns_CacheFindEntry(cache, key);

    return entry != NULL ? Ns_CacheGetValue(entry) : "none";
}

static void
AssertStats(Ns_Cache *cache, const char *expected)
{
    Ns_DString ds;

    Tcl_DStringInit(&ds);
    assert_string_equal(Ns_CacheStats(cache, &ds), expected);
    Tcl_DStringFree(&ds);
}

static void
a_new_entry_has_no_value_and_is_not_found(void **state)
{
    int       isNew;
    Ns_Entry *entry;

    assert_null(Ns_CacheFindEntry(*state, "k"));
    entry = Ns_CacheCreateEntry(*state, "k", &isNew);
    assert_int_equal(isNew, 1);
    assert_null(Ns_CacheGetValue(entry));
    assert_string_equal(Ns_CacheKey(entry), "k");
    assert_null(Ns_CacheFindEntry(*state, "k"));

    assert_ptr_equal(Ns_CacheCreateEntry(*state, "k", &isNew), entry);
    assert_int_equal(isNew, 0);
    Ns_CacheSetValueSz(entry, ns_strdup("v"), 7);
    assert_int_equal(Ns_CacheGetSize(entry), 7);
    assert_int_equal(Ns_CacheGetExpirey(entry)->sec, 0);
    assert_string_equal(Get(*state, "k"), "v");
}

static void
values_are_freed_when_replaced_unset_or_deleted(void **state)
{
    Ns_Entry *entry = Put(*state, "k", "1", NULL, 0);
    int       isNew;

    Ns_CacheSetValue(entry, Ns_CacheGetValue(entry));
    assert_int_equal(nFreed, 0);
    Ns_CacheSetValue(entry, ns_strdup("2"));
    assert_int_equal(nFreed, 1);
    Ns_CacheUnsetValue(entry);
    assert_int_equal(nFreed, 2);
    Ns_CacheUnsetValue(entry);
    assert_int_equal(nFreed, 2);
    (void) Ns_CacheCreateEntry(*state, "k", &isNew);
    assert_int_equal(isNew, 0);
    Ns_CacheSetValue(entry, NULL);
    Ns_CacheSetValue(entry, ns_strdup("3"));
    Ns_CacheDeleteEntry(entry);
    assert_int_equal(nFreed, 3);
    assert_null(Ns_CacheFindEntry(*state, "k"));
}

static void
keys_can_be_words_instead_of_strings(void **state)
{
    Ns_Cache *cache = Ns_CacheCreate("words", TCL_ONE_WORD_KEYS, 0, NULL);
    int       isNew, value;

    Ns_CacheLock(cache);
    Ns_CacheSetValue(Ns_CacheCreateEntry(cache, INT2PTR(5), &isNew), &value);
    assert_ptr_equal(Ns_CacheGetValue(Ns_CacheFindEntry(cache, INT2PTR(5))),
                     &value);
    assert_null(Ns_CacheFindEntry(cache, INT2PTR(6)));
    Ns_CacheUnlock(cache);
    Ns_CacheDestroy(cache);
}

static void
the_least_recently_used_entries_are_pruned(void **state)
{
    NsCacheSetMaxSize(*state, 3);
    Put(*state, "a", "1", NULL, 0);
    Put(*state, "b", "1", NULL, 0);
    Put(*state, "c", "1", NULL, 0);
    assert_string_equal(Get(*state, "a"), "1");
    Put(*state, "d", "1", NULL, 0);
    assert_string_equal(Get(*state, "b"), "none");
    assert_string_equal(Get(*state, "a"), "1");
    assert_string_equal(Get(*state, "c"), "1");

    /* Larger than all: the others go, it stays. */
    Put(*state, "e", "12345", NULL, 0);
    assert_string_equal(Get(*state, "a"), "none");
    assert_string_equal(Get(*state, "e"), "12345");

    NsCacheSetMaxSize(*state, 4);
    assert_string_equal(Get(*state, "e"), "none");
    assert_int_equal(NsCacheGetMaxSize(*state), 4);
}

static void
six_of_1030_bytes_are_pruned_from_1024(void **state)
{
    Ns_Cache *cache = Ns_CacheCreateSz("sized", TCL_STRING_KEYS, 1024, ns_free);
    char      key[20];

    Ns_CacheLock(cache);
    for (int i = 0; i < 1030; i++) {
        snprintf(key, sizeof(key), "%d", i);
        Put(cache, key, "x", NULL, 0);
    }
    AssertStats(cache,
                "maxsize 1024 size 1024 entries 1024 flushed 0 hits 0"
                " missed 1030 hitrate 0.00 expired 0 pruned 6 saved 0.000000");
    Ns_CacheUnlock(cache);
    Ns_CacheDestroy(cache);
}

static void
an_expired_entry_is_missing_and_counts_as_new(void **state)
{
    Ns_Time   past = {1000000000, 0}, later = {60, 0}, now, *expiresPtr;
    int       isNew;
    Ns_Entry *entry;

    Put(*state, "old", "1", &past, 0);
    assert_string_equal(Get(*state, "old"), "none");

    Put(*state, "old", "1", &past, 0);
    entry = Ns_CacheCreateEntry(*state, "old", &isNew);
    assert_int_equal(isNew, 1);
    assert_null(Ns_CacheGetValue(entry));
    Ns_CacheDeleteEntry(entry);

    Ns_GetTime(&now);
    expiresPtr = Ns_CacheGetExpirey(Put(*state, "new", "1", &later, 0));
    assert_in_range(expiresPtr->sec, now.sec + 60, now.sec + 99);
    assert_string_equal(Get(*state, "new"), "1");
}

static void
values_expire_after_the_caches_own_time(void **state)
{
    Ns_Cache *cache = Ns_CacheCreate("ttl", TCL_STRING_KEYS, 100, ns_free);
    Ns_Time   now, *expiresPtr;

    Ns_CacheLock(cache);
    Ns_GetTime(&now);
    expiresPtr = Ns_CacheGetExpirey(Put(cache, "k", "1", NULL, 0));
    assert_in_range(expiresPtr->sec, now.sec + 100, now.sec + 160);
    Ns_CacheUnlock(cache);
    Ns_CacheDestroy(cache);
}

static void
statistics_count_what_happened(void **state)
{
    Ns_Time past = {1000000000, 0};

    AssertStats(*state,
                "maxsize 0 size 0 entries 0 flushed 0 hits 0 missed 0"
                " hitrate 0.00 expired 0 pruned 0 saved 0.000000");

    Put(*state, "a", "123", NULL, 500000);
    Put(*state, "b", "12", NULL, 1);
    Get(*state, "a");
    Get(*state, "a");
    Get(*state, "b");
    Get(*state, "x");
    assert_int_equal(NsCacheGetUses(Ns_CacheFindEntry(*state, "a")), 3);
    AssertStats(*state,
                "maxsize 0 size 5 entries 2 flushed 0 hits 4 missed 3"
                " hitrate 57.14 expired 0 pruned 0 saved 1.500001");

    Put(*state, "c", "1", &past, 0);
    Get(*state, "c");
    Ns_CacheFlushEntry(Ns_CacheFindEntry(*state, "a"));
    AssertStats(*state,
                "maxsize 0 size 2 entries 1 flushed 1 hits 5 missed 5"
                " hitrate 50.00 expired 1 pruned 0 saved 0.000001");

    Ns_CacheResetStats(*state);
    AssertStats(*state,
                "maxsize 0 size 2 entries 1 flushed 0 hits 0 missed 0"
                " hitrate 0.00 expired 0 pruned 0 saved 0.000000");
}

static void
a_flush_counts_valid_entries_and_spares_those_being_filled(void **state)
{
    Ns_Time   past = {1000000000, 0};
    Ns_Entry *filling;
    int       isNew;

    Put(*state, "a", "1", NULL, 0);
    Put(*state, "b", "1", NULL, 0);
    Put(*state, "expired", "1", &past, 0);
    filling = Ns_CacheCreateEntry(*state, "filling", &isNew);

    assert_int_equal(Ns_CacheFlush(*state), 2);
    AssertStats(*state,
                "maxsize 0 size 0 entries 0 flushed 2 hits 0 missed 4"
                " hitrate 0.00 expired 1 pruned 0 saved 0.000000");
    Ns_CacheSetValueSz(filling, ns_strdup("x"), 1);
    assert_string_equal(Get(*state, "filling"), "x");
    assert_int_equal(Ns_CacheFlush(*state), 1);
    assert_int_equal(Ns_CacheFlush(*state), 0);
}

static void
a_visit_shows_valid_entries_and_allows_to_delete_them(void **state)
{
    Ns_Time        past = {1000000000, 0};
    Ns_CacheSearch search;
    int            isNew, n = 0;
    char           key[20];

    Put(*state, "expired", "1", &past, 0);
    (void) Ns_CacheCreateEntry(*state, "filling", &isNew);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%d", i);
        Put(*state, key, key, NULL, 0);
    }
    for (Ns_Entry *entry = Ns_CacheFirstEntry(*state, &search); entry != NULL;
         entry = Ns_CacheNextEntry(&search)) {
        assert_string_equal(Ns_CacheKey(entry), Ns_CacheGetValue(entry));
        if (n++ % 2 == 0) {
            Ns_CacheDeleteEntry(entry);
        }
    }
    assert_int_equal(n, 100);
    assert_int_equal(Ns_CacheFlush(*state), 50);
}

/*
 * Threads that ask for the same entry at the same time.
 */
typedef struct Race {
    Ns_Cache *cache;
    Ns_Sema   isAsking;
    int       nFilled; /* Guarded by the cache's lock. */
    int       nServed;
    bool      isFirstToFail;
} Race;

static void
AskForEntry(void *arg)
{
    Race     *racePtr = arg;
    int       isNew;
    Ns_Entry *entry;
    bool      isFailing;

    Ns_CacheLock(racePtr->cache);
    Ns_SemaPost(&racePtr->isAsking, 1);
    entry = Ns_CacheWaitCreateEntry(racePtr->cache, "k", &isNew, NULL);
    if (isNew) {
        isFailing = racePtr->isFirstToFail;
        racePtr->isFirstToFail = false;
        Ns_CacheUnlock(racePtr->cache);
        poll(NULL, 0, 20); /* The work that others wait for. */
        Ns_CacheLock(racePtr->cache);
        if (isFailing) {
            Ns_CacheDeleteEntry(entry);
            entry = NULL;
        } else {
            racePtr->nFilled++;
            Ns_CacheSetValueSz(entry, ns_strdup("value"), 5);
        }
    }
    if (entry != NULL && STREQ((char *) Ns_CacheGetValue(entry), "value")) {
        racePtr->nServed++;
    }
    Ns_CacheUnlock(racePtr->cache);
}

static void
RunRace(Race *racePtr, int nThreads)
{
    Ns_Thread threads[8];

    for (int i = 0; i < nThreads; i++) {
        Ns_ThreadCreate(AskForEntry, racePtr, 0, &threads[i]);
    }
    for (int i = 0; i < nThreads; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    Ns_SemaDestroy(&racePtr->isAsking);
}

static void
one_thread_fills_an_entry_and_the_others_wait_for_it(void **state)
{
    Race race = {.cache = *state};

    Ns_CacheUnlock(*state);
    RunRace(&race, 8);
    Ns_CacheLock(*state);
    assert_int_equal(race.nFilled, 1);
    assert_int_equal(race.nServed, 8);
    AssertStats(*state,
                "maxsize 0 size 5 entries 1 flushed 0 hits 7 missed 1"
                " hitrate 87.50 expired 0 pruned 0 saved 0.000000");
}

static void
when_the_filler_gives_up_a_waiting_thread_takes_over(void **state)
{
    Race race = {.cache = *state, .isFirstToFail = true};

    Ns_CacheUnlock(*state);
    RunRace(&race, 5);
    Ns_CacheLock(*state);
    assert_int_equal(race.nFilled, 1);
    assert_int_equal(race.nServed, 4);
}

static void
a_wait_ends_with_nothing_when_its_time_has_passed(void **state)
{
    Ns_Time limit, relative = {0, 20000}, after;
    int     isNew;

    (void) Ns_CacheCreateEntry(*state, "k", &isNew);
    Ns_GetTime(&limit);
    Ns_IncrTime(&limit, 0, 20000);
    assert_null(Ns_CacheWaitCreateEntry(*state, "k", &isNew, &limit));
    Ns_GetTime(&after);
    assert_true(Ns_DiffTime(&after, &limit, NULL) >= 0);
    assert_null(Ns_CacheWaitCreateEntry(*state, "k", &isNew, &relative));
    assert_non_null(Ns_CacheWaitCreateEntry(*state, "other", &isNew, &limit));
    assert_int_equal(isNew, 1);
}

/*
 * 7. Transactions.
 */

static const Ns_CacheTransactionStack inner = {{7, 8}, 2}, outer = {{7}, 1};
static const Ns_CacheTransactionStack other = {{9}, 1};

static void
Hold(Ns_Cache *cache, const char *key, const char *value, uintptr_t epoch)
{
    int       isNew;
    Ns_Entry *entry = Ns_CacheCreateEntryT(cache, key, &isNew, NULL);

    Ns_CacheSetValueExpires_33(entry, ns_strdup(value), strlen(value), NULL, 0,
                               0, epoch);
}

static const char *
GetT(Ns_Cache *cache, const char *key, const Ns_CacheTransactionStack *stackPtr)
{
    Ns_Entry *entry = Ns_CacheFindEntryT(cache, key, stackPtr);

    return entry != NULL ? Ns_CacheGetValueT(entry, stackPtr) : "none";
}

static void
a_value_of_a_transaction_is_its_own_until_it_is_committed(void **state)
{
    Ns_Cache      *cache = *state;
    Ns_CacheSearch search;
    Ns_Entry      *entry;
    Ns_Time        soon = {0, 1000};
    int            isNew, nSeen = 0;

    Put(cache, "a", "old", NULL, 0);
    Hold(cache, "a", "new", 8);
    Hold(cache, "b", "made", 8);
    assert_string_equal(GetT(cache, "a", &inner), "new");
    assert_string_equal(GetT(cache, "b", &inner), "made");
    assert_string_equal(GetT(cache, "a", &outer), "old");
    assert_string_equal(GetT(cache, "a", NULL), "old");
    assert_string_equal(Get(cache, "b"), "none");
    assert_string_equal(GetT(cache, "b", &other), "none");
    assert_int_equal(Ns_CacheGetNrUncommittedEntries(cache), 2);

    for (entry = Ns_CacheFirstEntryT(cache, &search, &inner); entry != NULL;
         entry = Ns_CacheNextEntryT(&search, &inner)) {
        nSeen++;
    }
    assert_int_equal(nSeen, 2);
    assert_non_null(Ns_CacheFirstEntryT(cache, &search, NULL));
    assert_null(Ns_CacheNextEntryT(&search, NULL));

    /* For others the entry is one that somebody is filling. */
    entry = Ns_CacheWaitCreateEntryT(cache, "b", &isNew, &soon, &inner);
    assert_string_equal(Ns_CacheGetValueT(entry, &inner), "made");
    assert_int_equal(isNew, 0);
    assert_null(Ns_CacheWaitCreateEntryT(cache, "b", &isNew, &soon, &other));
    assert_null(Ns_CacheWaitCreateEntry(cache, "b", &isNew, &soon));

    assert_int_equal(Ns_CacheCommitEntries(cache, 9), 0);
    assert_int_equal(Ns_CacheCommitEntries(cache, 8), 2);
    assert_int_equal(Ns_CacheCommitEntries(cache, 8), 0);
    assert_string_equal(Get(cache, "a"), "new");
    assert_string_equal(Get(cache, "b"), "made");
    assert_int_equal(nFreed, 1);
    assert_int_equal(Ns_CacheGetNrUncommittedEntries(cache), 0);
}

static void
what_is_rolled_back_was_never_there(void **state)
{
    Ns_Cache *cache = *state;
    Ns_Entry *entry;
    int       isNew;

    Put(cache, "a", "old", NULL, 0);
    Hold(cache, "a", "one", 7);
    Hold(cache, "a", "two", 7);
    Hold(cache, "b", "made", 7);
    assert_int_equal(nFreed, 1);
    assert_int_equal(Ns_CacheRollbackEntries(cache, 7), 2);
    assert_int_equal(nFreed, 3);
    assert_string_equal(GetT(cache, "a", &outer), "old");
    assert_string_equal(GetT(cache, "b", &outer), "none");
    entry = Ns_CacheCreateEntryT(cache, "b", &isNew, &outer);
    assert_int_equal(isNew, 1);
    Ns_CacheDeleteEntry(entry);
}

static void
pruning_and_expiry_leave_what_a_transaction_holds(void **state)
{
    Ns_Cache *cache = *state;
    Ns_Time   past = {1000000001, 0};
    Ns_Entry *entry;
    int       isNew;

    Put(cache, "a", "0123456789", NULL, 0);
    Hold(cache, "a", "held", 7);
    entry = Ns_CacheCreateEntry(cache, "b", &isNew);
    Ns_CacheSetValueExpires_33(entry, ns_strdup("0123456789"), 10, NULL, 0, 15,
                               0);
    assert_string_equal(Get(cache, "a"), "none");
    assert_string_equal(GetT(cache, "a", &outer), "held");
    assert_int_equal(Ns_CacheCommitEntries(cache, 7), 1);
    assert_string_equal(Get(cache, "a"), "held");

    Put(cache, "c", "late", &past, 0);
    Hold(cache, "c", "kept", 7);
    assert_string_equal(Get(cache, "c"), "none");
    assert_string_equal(GetT(cache, "c", &outer), "kept");
    Ns_CacheDeleteEntry(Ns_CacheFindEntryT(cache, "c", &outer));
    assert_string_equal(GetT(cache, "c", &outer), "none");
    Hold(cache, "d", "never ended", 9);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, Setup, Teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_entry_has_no_value_and_is_not_found),
        TEST(values_are_freed_when_replaced_unset_or_deleted),
        cmocka_unit_test(keys_can_be_words_instead_of_strings),
        TEST(the_least_recently_used_entries_are_pruned),
        cmocka_unit_test(six_of_1030_bytes_are_pruned_from_1024),
        TEST(an_expired_entry_is_missing_and_counts_as_new),
        cmocka_unit_test(values_expire_after_the_caches_own_time),
        TEST(statistics_count_what_happened),
        TEST(a_flush_counts_valid_entries_and_spares_those_being_filled),
        TEST(a_visit_shows_valid_entries_and_allows_to_delete_them),
        TEST(one_thread_fills_an_entry_and_the_others_wait_for_it),
        TEST(when_the_filler_gives_up_a_waiting_thread_takes_over),
        TEST(a_wait_ends_with_nothing_when_its_time_has_passed),
        TEST(a_value_of_a_transaction_is_its_own_until_it_is_committed),
        TEST(what_is_rolled_back_was_never_there),
        TEST(pruning_and_expiry_leave_what_a_transaction_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
