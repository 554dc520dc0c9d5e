/* SPDX-License-Identifier: MPL-2.0
 * request_urltree_test.c --
 *
 *      Which of several URL patterns wins.
 *
 *      Groups: what a pattern matches; noinherit; choice; change.
 */

#include "unit.h"
#include "nsthread.h"
#include "request/urltree.h"

static int nFreed;

/*
 * Trees live as long as the process; keep them in sight of leak checkers.
 */
static NsUrlTree *
CreateTree(void)
{
    static NsUrlTree *trees[256];
    static int        nTrees;

    trees[nTrees] = NsUrlTreeCreate();
    return trees[nTrees++];
}

static void
CountFree(void *data)
{
    nFreed++;
}

static void
FreeDropped(NsUrlDropped *droppedPtr)
{
    while (droppedPtr != NULL) {
        NsUrlDropped *nextPtr = droppedPtr->nextPtr;

        (*droppedPtr->freeProc)(droppedPtr->data);
        ns_free(droppedPtr);
        droppedPtr = nextPtr;
    }
}

static void
Put(NsUrlTree *treePtr, const char *url, int flags)
{
    NsUrlDropped *droppedPtr = NULL;

    NsUrlTreePut(treePtr, "GET", url, (void *) url, flags, CountFree,
                 &droppedPtr);
    FreeDropped(droppedPtr);
}

static const char *
Find(NsUrlTree *treePtr, const char *url)
{
    const char *found = NsUrlTreeFind(treePtr, "GET", url, false, NULL, NULL);

    return found == NULL ? "none" : found;
}

/*
 * What a lone pattern says to a URL.
 */
static bool
Matches(const char *pattern, int flags, const char *url)
{
    NsUrlTree *treePtr = CreateTree();

    Put(treePtr, pattern, flags);
    return NsUrlTreeFind(treePtr, "GET", url, false, NULL, NULL) != NULL;
}

static void
pattern_takes_everything_below(void **state)
{
    assert_true(Matches("/a", 0, "/a"));
    assert_true(Matches("/a", 0, "/a/"));
    assert_true(Matches("/a", 0, "/a/b/c"));
    assert_false(Matches("/a", 0, "/ab"));
    assert_false(Matches("/a", 0, "/"));
    assert_true(Matches("/", 0, "/"));
    assert_true(Matches("", 0, "/x/y"));
}

static void
slashes_of_a_pattern_do_not_matter(void **state)
{
    static const char *const spellings[] = {"/a", "/a/", "a", "//a", "/a/*"};
    int                      i;

    for (i = 0; i < Ns_NrElements(spellings); i++) {
        assert_true(Matches(spellings[i], 0, "/a/b"));
        assert_false(Matches(spellings[i], 0, "/b"));
    }
}

static void
filter_looks_at_the_last_segment(void **state)
{
    assert_true(Matches("/a/*.html", 0, "/a/x.html"));
    assert_true(Matches("/a/*.html", 0, "/a/b/c/x.html"));
    assert_false(Matches("/a/*.html", 0, "/x.html"));
    assert_false(Matches("/a/*.html", 0, "/a/x.html/y"));
    assert_true(Matches("/foo*", 0, "/foobar"));
    assert_true(Matches("/foo*", 0, "/x/foobar"));
    assert_true(Matches("/a/?[xy]*", 0, "/a/1x2"));
    assert_false(Matches("/a/?[xy]*", 0, "/a/1z2"));
    assert_true(Matches("/*.adp", 0, "/d/index.adp"));
    assert_true(Matches("/*.adp", 0, "/.adp"));
    assert_false(Matches("/*.adp", 0, "/adp"));
    assert_false(Matches("/*.adp", 0, "/index.adpx"));
    assert_true(Matches("/*.ad?", 0, "/index.adx"));
    assert_false(Matches("/*.ad?", 0, "/index.ad"));
    assert_true(Matches("/*.adp", 0, "/d/index.adp/"));
}

static void
wildcards_elsewhere_are_literal(void **state)
{
    assert_false(Matches("/a*/b", 0, "/ax/b"));
    assert_true(Matches("/a*/b", 0, "/a*/b"));
    assert_true(Matches("/[a]", 0, "/[a]"));
    assert_false(Matches("/[a]", 0, "/a"));
}

static void
noinherit_matches_its_directory_alone(void **state)
{
    assert_true(Matches("/a", NS_OP_NOINHERIT, "/a"));
    assert_true(Matches("/a", NS_OP_NOINHERIT, "/a/"));
    assert_false(Matches("/a", NS_OP_NOINHERIT, "/a/b"));
    assert_true(Matches("/", NS_OP_NOINHERIT, "/"));
    assert_false(Matches("/", NS_OP_NOINHERIT, "/a"));
    assert_false(Matches("/a/*.html", NS_OP_NOINHERIT, "/a/x.html"));
    assert_false(Matches("/a/*.html", NS_OP_NOINHERIT, "/a"));
}

static void
noinherit_beats_inherit_on_the_same_path(void **state)
{
    NsUrlTree *treePtr = CreateTree();

    Put(treePtr, "/a", 0);
    Put(treePtr, "/a/", NS_OP_NOINHERIT);
    assert_string_equal(Find(treePtr, "/a"), "/a/");
    assert_string_equal(Find(treePtr, "/a/b"), "/a");
}

static void
deepest_directory_wins(void **state)
{
    NsUrlTree *treePtr = CreateTree();

    Put(treePtr, "/*.adp", 0);
    Put(treePtr, "/a/*.html", 0);
    Put(treePtr, "/a/b", 0);
    Put(treePtr, "/a/b/c*", 0);
    Put(treePtr, "/a/x.html", 0);
    assert_string_equal(Find(treePtr, "/a/b/x.html"), "/a/b");
    assert_string_equal(Find(treePtr, "/a/b/cx"), "/a/b/c*");
    assert_string_equal(Find(treePtr, "/a/x.html"), "/a/x.html");
    assert_string_equal(Find(treePtr, "/a/y.html"), "/a/*.html");
    assert_string_equal(Find(treePtr, "/a/b/x.adp"), "/a/b");
    assert_string_equal(Find(treePtr, "/a/x.adp"), "/*.adp");
    assert_string_equal(Find(treePtr, "/a/x.gif"), "none");
}

static void
more_restrictive_filter_wins_in_any_order(void **state)
{
    static const char *const patterns[] = {
        "/*", "/*.html", "/x*.html", "/xy.*ml"};
    int first;

    for (first = 0; first < Ns_NrElements(patterns); first++) {
        NsUrlTree *treePtr = CreateTree();
        int        i;

        for (i = 0; i < Ns_NrElements(patterns); i++) {
            Put(treePtr, patterns[(first + i) % Ns_NrElements(patterns)], 0);
        }
        assert_string_equal(Find(treePtr, "/x1.html"), "/x*.html");
        assert_string_equal(Find(treePtr, "/1.html"), "/*.html");
        assert_string_equal(Find(treePtr, "/1.gif"), "/*");
    }
}

static void
method_is_exact(void **state)
{
    NsUrlTree *treePtr = CreateTree();

    Put(treePtr, "/a", 0);
    assert_null(NsUrlTreeFind(treePtr, "HEAD", "/a", false, NULL, NULL));
    assert_null(NsUrlTreeFind(treePtr, "get", "/a", false, NULL, NULL));
    assert_null(NsUrlTreeFind(treePtr, "*", "/a", false, NULL, NULL));
}

static void
fast_search_ignores_filters(void **state)
{
    NsUrlTree *treePtr = CreateTree();

    Put(treePtr, "/a/*.html", 0);
    Put(treePtr, "/", 0);
    assert_string_equal(NsUrlTreeFind(treePtr, "GET", "/a/x.html", true, NULL,
                                      NULL),
                        "/");
}

static bool
RefuseFirst(void *data, void *arg)
{
    return (*(int *) arg)++ > 0;
}

static void
refused_match_uncovers_the_next(void **state)
{
    NsUrlTree *treePtr = CreateTree();
    int        nAsked = 0;

    Put(treePtr, "/", 0);
    Put(treePtr, "/a/b", 0);
    assert_string_equal(NsUrlTreeFind(treePtr, "GET", "/a/b", false,
                                      RefuseFirst, &nAsked),
                        "/");
    assert_int_equal(nAsked, 2);
}

static void
same_pattern_replaces_and_frees(void **state)
{
    NsUrlTree *treePtr = CreateTree();

    nFreed = 0;
    Put(treePtr, "/a", 0);
    Put(treePtr, "/a/", 0);
    assert_int_equal(nFreed, 1);
    assert_string_equal(Find(treePtr, "/a"), "/a/");
    Put(treePtr, "a", NS_OP_NODELETE);
    assert_int_equal(nFreed, 1);
}

static void
removal_uncovers_the_next(void **state)
{
    NsUrlTree    *treePtr = CreateTree();
    NsUrlDropped *droppedPtr = NULL;

    nFreed = 0;
    Put(treePtr, "/", 0);
    Put(treePtr, "/a/b/*.html", 0);
    Put(treePtr, "/a/b", 0);
    assert_string_equal(Find(treePtr, "/a/b/x.html"), "/a/b/*.html");
    assert_string_equal(NsUrlTreeRemove(treePtr, "GET", "/a/b/*.html", 0,
                                        &droppedPtr),
                        "/a/b/*.html");
    assert_string_equal(Find(treePtr, "/a/b/x.html"), "/a/b");
    assert_null(NsUrlTreeRemove(treePtr, "GET", "/a/b", NS_OP_NOINHERIT,
                                &droppedPtr));
    assert_null(NsUrlTreeRemove(treePtr, "GET", "/a", NS_OP_RECURSE,
                                &droppedPtr));
    assert_string_equal(Find(treePtr, "/a/b/x.html"), "/");
    FreeDropped(droppedPtr);
    assert_int_equal(nFreed, 2);
}

static void
unknown_entries_are_ignored(void **state)
{
    NsUrlTree    *treePtr = CreateTree();
    NsUrlDropped *droppedPtr = NULL;

    assert_null(NsUrlTreeRemove(treePtr, "GET", "/a", 0, &droppedPtr));
    Put(treePtr, "/a/*.x", 0);
    assert_null(NsUrlTreeRemove(treePtr, "GET", "/a/*.y", 0, &droppedPtr));
    assert_null(droppedPtr);
}

static void
deep_paths_have_no_limit(void **state)
{
    NsUrlTree *treePtr = CreateTree();
    char       url[2001];
    int        i;

    for (i = 0; i < 1000; i++) {
        memcpy(url + 2 * i, "/d", 2);
    }
    url[2000] = '\0';
    Put(treePtr, "/d", 0);
    Put(treePtr, url, NS_OP_NOINHERIT);
    assert_string_equal(Find(treePtr, url), url);
    url[1998] = '\0';
    assert_string_equal(Find(treePtr, url), "/d");
}

static void
AppendEntry(const NsUrlEntry *entryPtr, void *arg)
{
    Tcl_DString *dsPtr = arg;

    NsUrlEntryStart(dsPtr, entryPtr);
    Tcl_DStringEndSublist(dsPtr);
}

static void
listing_shows_restrictive_filters_first(void **state)
{
    NsUrlTree  *treePtr = CreateTree();
    Tcl_DString ds;

    Put(treePtr, "/", 0);
    Put(treePtr, "/a", NS_OP_NOINHERIT);
    Put(treePtr, "/a/*.html", 0);
    Put(treePtr, "/a", 0);
    Put(treePtr, "/a/x*.html", 0);
    Tcl_DStringInit(&ds);
    NsUrlTreeVisit(treePtr, AppendEntry, &ds);
    assert_string_equal(
        Tcl_DStringValue(&ds),
        "{GET /a x*.html inherit} {GET /a *.html inherit} {GET /a * inherit} "
        "{GET /a * noinherit} {GET / * inherit}");
    Tcl_DStringFree(&ds);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pattern_takes_everything_below),
        cmocka_unit_test(slashes_of_a_pattern_do_not_matter),
        cmocka_unit_test(filter_looks_at_the_last_segment),
        cmocka_unit_test(wildcards_elsewhere_are_literal),
        cmocka_unit_test(noinherit_matches_its_directory_alone),
        cmocka_unit_test(noinherit_beats_inherit_on_the_same_path),
        cmocka_unit_test(deepest_directory_wins),
        cmocka_unit_test(more_restrictive_filter_wins_in_any_order),
        cmocka_unit_test(method_is_exact),
        cmocka_unit_test(fast_search_ignores_filters),
        cmocka_unit_test(refused_match_uncovers_the_next),
        cmocka_unit_test(same_pattern_replaces_and_frees),
        cmocka_unit_test(removal_uncovers_the_next),
        cmocka_unit_test(unknown_entries_are_ignored),
        cmocka_unit_test(deep_paths_have_no_limit),
        cmocka_unit_test(listing_shows_restrictive_filters_first)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
