/* SPDX-License-Identifier: MPL-2.0
 * base_treewatch_test.c --
 *
 *      Changes below a directory are found, and nothing else.
 */

#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/treewatch.h"

static char root[] = "/tmp/nsd-tree-XXXXXX";

static bool
IsPage(const char *name)
{
    const char *end = strrchr(name, '.');

    return end != NULL && strcmp(end, ".html") == 0;
}

static void
Run(const char *script)
{
    char command[512];

    snprintf(command, sizeof(command), "cd %s && %s", root, script);
    assert_int_equal(system(command), 0);
}

static int
Setup(void **statePtr)
{
    char path[64];

    Run("rm -rf * && mkdir -p top/a/b other && echo 1 >top/a/b/1.html"
        " && echo 2 >top/2.html");
    snprintf(path, sizeof(path), "%s/top", root);
    *statePtr = NsTreeWatchCreate(IsPage);
    NsTreeWatchAdd(*statePtr, path);
    return 0;
}

static int
Teardown(void **statePtr)
{
    NsTreeWatchDestroy((NsTreeWatch **) statePtr);
    assert_null(*statePtr);
    return 0;
}

/*
 * Wait until the last of these files was found: all that were found since.  The
 * machine may stop us for so long that a change is found in two parts.
 */
static void
Find(NsTreeWatch *treePtr, const char *expected)
{
    Ns_DString  files;
    const char *last = strrchr(expected, ' ');

    Ns_DStringInit(&files);
    last = last == NULL ? expected : last + 1;
    do {
        assert_true(NsTreeWatchWait(treePtr, &files));
    } while (strstr(files.string, last) == NULL);
    /* Without the root. */
    for (char *p = files.string; (p = strstr(p, root)) != NULL;) {
        size_t length = strlen(root) + 1;

        memmove(p, p + length, strlen(p + length) + 1);
    }
    assert_string_equal(files.string, expected);
    Ns_DStringFree(&files);
}

static void
new_changed_replaced_and_deleted_files_are_found(void **statePtr)
{
    static const char *const changes[][2] = {
        {"echo 11 >top/a/b/1.html", "top/a/b/1.html"},
        {"echo 3 >top/a/3.html", "top/a/3.html"},
        {"echo 4 >other/4.html && mv other/4.html top/2.html", "top/2.html"},
        {"touch -d 2001-01-01 top/2.html", "top/2.html"},
        {"rm top/2.html", "top/2.html"},
        {"mkdir -p top/new/deep && echo 5 >top/new/deep/5.html",
         "top/new/deep/5.html"},
        {"echo 6 >top/new/deep/5.html", "top/new/deep/5.html"},
        {"rm -r top/new", "top/new/deep/5.html"},
        {"mv top/a/b other/b", "top/a/b/1.html"},
        {"ln -s ../other/b top/link", "top/link/1.html"},
        {"echo 7 >other/b/1.html", "top/link/1.html"}};

    for (int i = 0; i < Ns_NrElements(changes); i++) {
        Run(changes[i][0]);
        Find(*statePtr, changes[i][1]);
    }
    assert_int_equal(NsTreeWatchBlindness(*statePtr), 0);
}

static void
other_names_and_directories_are_left_out(void **statePtr)
{
    Run("echo x >top/x.txt; echo x >top/.x.html; mkdir top/.git"
        " top/node_modules && echo x >top/.git/x.html && echo x >top/node_modules/x.html"
        " && echo x >other/x.html && echo x >top/last.html");
    Find(*statePtr, "top/last.html");
}

static void
a_directory_that_contains_itself_is_seen_once(void **statePtr)
{
    Run("ln -s .. top/a/up; echo x >top/a/x.html");
    Find(*statePtr, "top/a/x.html");
}

static void
a_directory_that_is_made_later_is_watched(void **statePtr)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/later/deep", root);
    NsTreeWatchAdd(*statePtr, path);
    Run("mkdir -p later/deep && echo x >later/deep/x.html");
    Find(*statePtr, "later/deep/x.html");
    Run("rm -r later");
    Find(*statePtr, "later/deep/x.html");
    Run("mkdir -p later/deep && echo x >later/deep/y.html");
    Find(*statePtr, "later/deep/y.html");
}

static void *
StopIt(void *arg)
{
    NsTreeWatchStop(arg);
    return NULL;
}

static void
another_thread_ends_the_wait_and_those_to_come(void **statePtr)
{
    Ns_DString files;
    pthread_t  thread;

    Ns_DStringInit(&files);
    assert_int_equal(pthread_create(&thread, NULL, StopIt, *statePtr), 0);
    assert_false(NsTreeWatchWait(*statePtr, &files));
    assert_int_equal(pthread_join(thread, NULL), 0);
    Run("echo x >top/x.html");
    assert_false(NsTreeWatchWait(*statePtr, &files));
    assert_int_equal(Ns_DStringLength(&files), 0);
    Ns_DStringFree(&files);
}

static int
Begin(void **statePtr)
{
    return mkdtemp(root) == NULL;
}

static int
End(void **statePtr)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, Setup, Teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(new_changed_replaced_and_deleted_files_are_found),
        IN_TREE(other_names_and_directories_are_left_out),
        IN_TREE(a_directory_that_contains_itself_is_seen_once),
        IN_TREE(a_directory_that_is_made_later_is_watched),
        IN_TREE(another_thread_ends_the_wait_and_those_to_come)};

    return cmocka_run_group_tests(tests, Begin, End);
}
