/* SPDX-License-Identifier: MPL-2.0
 * base_filewatch_test.c --
 *
 *      What the kernel reports of a file is known to whoever asks.
 */

#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/filewatch.h"

#define N_EDITS 300

static char root[] = "/tmp/nsd-watch-XXXXXX";

static const NsLook NOW = {0};

static const char *
At(const char *name)
{
    static char paths[4][256];
    static int  next;
    char       *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
    return path;
}

static void
Write(const char *name, const char *text)
{
    FILE *file = fopen(At(name), "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/*
 * Other programs may change the directory above, which is on the way to all our
 * files: has one done so since the last call?
 */
static int aboveFd = -1;

static bool
OthersDid(void)
{
    _Alignas(struct inotify_event) char events[4096];
    const struct inotify_event         *eventPtr;
    ssize_t                             n;
    bool                                isAbove = false;

    while ((n = read(aboveFd, events, sizeof(events))) > 0) {
        for (ssize_t at = 0; at < n;
             at += (ssize_t) (sizeof(*eventPtr) + eventPtr->len)) {
            eventPtr = (const void *) (events + at);
            /* With a name it is about something in it. */
            isAbove |= eventPtr->len == 0;
        }
    }
    return isAbove;
}

static NsFileWatch *
Watch(const char *name)
{
    struct stat  status;
    NsFileState  state;
    NsFileWatch *watchPtr;
    bool         isShort;

    for (;;) {
        (void) OthersDid();
        assert_int_equal(stat(At(name), &status), 0);
        NsFileStateSet(&state, &status);
        watchPtr = NsFileWatchCreate(At(name), &state, &isShort);
        assert_false(isShort);
        assert_non_null(watchPtr);
        if (NsFileWatchIsSame(watchPtr)) {
            return watchPtr;
        }
        assert_true(OthersDid());
        NsFileWatchFree(watchPtr);
    }
}

static bool
IsSame(NsFileWatch *watchPtr)
{
    assert_true(NsFileWatchKnows(NOW));
    return NsFileWatchIsSame(watchPtr);
}

/*
 * A directory a/b with a file, a link to the directory, one to the file, and
 * another name of the file.
 */
static int
Setup(void **statePtr)
{
    char command[512];

    snprintf(command, sizeof(command),
             "cd %s && rm -rf * && mkdir -p a/b && echo text >a/b/file"
             " && ln -s a/b dir && ln -s ../a/b/file a/link"
             " && ln a/b/file other && ln -s %s/dir/file far",
             root, root);
    return system(command);
}

static void
Run(const char *format)
{
    char command[512];

    snprintf(command, sizeof(command), "cd %s && %s", root, format);
    assert_int_equal(system(command), 0);
}

static void
each_change_of_a_file_is_known_when_it_has_been_made(void **statePtr)
{
    static const char *const changes[] = {
        "echo more >>a/b/file",
        "printf TEXT | dd of=a/b/file conv=notrunc status=none",
        ": >a/b/file",
        "echo new >a/b/new && mv a/b/new a/b/file",
        "rm a/b/file",
        "chmod 600 a/b/file",
        "touch -d 2001-01-01 a/b/file",
        "echo more >>other",
        "mv a/b/file a/b/away",
        "mv a/b a/c",
        "mv a z",
        "chmod 711 a"};

    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        NsFileWatch *watchPtr;

        assert_int_equal(Setup(statePtr), 0);
        watchPtr = Watch("a/b/file");
        assert_true(IsSame(watchPtr) || OthersDid());
        Run(changes[i]);
        assert_false(IsSame(watchPtr));
        NsFileWatchFree(watchPtr);
    }
}

static void
each_link_on_the_way_is_watched(void **statePtr)
{
    static const struct {
        const char *name;
        const char *change;
    } cases[] = {{"dir/file", "ln -s a new && mv -T new dir"},
                 {"dir/file", "rm dir"},
                 {"dir/file", "mv a z"},
                 {"dir/file", "echo more >>a/b/file"},
                 {"a/link", "ln -s ../other a/new && mv a/new a/link"},
                 {"a/link", "echo more >>a/b/file"},
                 {"far", "rm dir"},
                 {"far", "mv a/b/file a/b/away"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        NsFileWatch *watchPtr;

        assert_int_equal(Setup(statePtr), 0);
        watchPtr = Watch(cases[i].name);
        assert_true(IsSame(watchPtr) || OthersDid());
        Run(cases[i].change);
        assert_false(IsSame(watchPtr));
        NsFileWatchFree(watchPtr);
    }
}

static void
what_happens_beside_a_file_does_not_concern_it(void **statePtr)
{
    NsFileWatch *watchPtr = Watch("dir/file");

    Run("echo x >a/b/beside && mkdir a/b/c && rm a/b/beside && cat a/b/file"
        " >/dev/null && ls -l a >/dev/null && touch a/d && chmod 600 a/d");
    assert_true(IsSame(watchPtr) || OthersDid());
    NsFileWatchFree(watchPtr);
}

static void
all_who_watch_a_file_hear_of_it_and_can_watch_again(void **statePtr)
{
    NsFileWatch *aPtr = Watch("a/b/file"), *bPtr = Watch("other"), *cPtr;

    NsFileWatchFree(Watch("a/b/file"));
    Write("other", "more");
    assert_false(IsSame(aPtr));
    assert_false(IsSame(bPtr));
    cPtr = Watch("a/b/file");
    NsFileWatchFree(aPtr);
    assert_true(IsSame(cPtr) || OthersDid());
    Write("other", "again");
    assert_false(IsSame(cPtr));
    NsFileWatchFree(bPtr);
    NsFileWatchFree(cPtr);
}

static void
when_mounts_change_every_file_may_have_changed(void **statePtr)
{
    NsFileWatch *watchPtr = Watch("other");

    NsFileWatchTakeAll();
    assert_false(IsSame(watchPtr));
    NsFileWatchFree(watchPtr);
}

/*
 * With a path that is good until its last step, nothing stays watched.
 */
static void
what_cannot_be_watched_is_refused(void **statePtr)
{
    struct stat status;
    NsFileState state, later;
    bool        isShort;

    assert_int_equal(stat(At("other"), &status), 0);
    NsFileStateSet(&state, &status);
    later = state;
    later.changed.tv_nsec ^= 1;
    assert_null(NsFileWatchCreate(At("other"), &later, &isShort));
    assert_null(NsFileWatchCreate("other", &state, &isShort));
    assert_null(NsFileWatchCreate(At("a/b/none"), &state, &isShort));
    assert_null(NsFileWatchCreate(At("a/b/file/none"), &state, &isShort));
    Run("ln -s loop loop");
    assert_null(NsFileWatchCreate(At("loop"), &state, &isShort));
    assert_int_equal(stat("/proc/self/status", &status), 0);
    NsFileStateSet(&state, &status);
    assert_null(NsFileWatchCreate("/proc/self/status", &state, &isShort));
    NsFileWatchFree(NULL);
    assert_false(NsFileWatchIsSame(NULL));
}

static void
an_informed_request_need_not_ask(void **statePtr)
{
    NsFileWatch *watchPtr = Watch("other");

    Write("other", "more");
    assert_true(NsFileWatchKnows((NsLook){.stamp = 1, .isInformed = true}));
    assert_true(NsFileWatchIsSame(watchPtr));
    assert_true(NsFileWatchKnows((NsLook){.stamp = 1}));
    assert_false(NsFileWatchIsSame(watchPtr));
    NsFileWatchFree(watchPtr);
}

/*
 * Two threads take the queue while a third edits and asks at once.
 */
static atomic_bool isOver;

static void *
TakeAlways(void *arg)
{
    while (!atomic_load(&isOver)) {
        NsFileWatchTake();
        usleep(1);
    }
    return NULL;
}

static void
a_change_is_known_while_other_threads_take_the_reports(void **statePtr)
{
    pthread_t threads[2];
    int       nUnknown = 0, nUnsure = 0;

    atomic_store(&isOver, false);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, TakeAlways, NULL);
    }
    for (int i = 0; i < N_EDITS; i++) {
        NsFileWatch *watchPtr = Watch("other");
        int          fd = open(At("other"), O_WRONLY);

        assert_int_equal(pwrite(fd, i % 2 == 0 ? "a" : "b", 1, 0), 1);
        if (!NsFileWatchKnows(NOW)) {
            nUnsure++;
        } else if (NsFileWatchIsSame(watchPtr)) {
            nUnknown++;
        }
        close(fd);
        NsFileWatchFree(watchPtr);
    }
    atomic_store(&isOver, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(nUnknown, 0);
    assert_true(nUnsure < N_EDITS);
}

static int
Begin(void **statePtr)
{
    aboveFd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return mkdtemp(root) != NULL
            && inotify_add_watch(aboveFd, "/tmp",
                                 IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
                >= 0
            && NsFileWatchInit() == NS_OK
        ? 0
        : 1;
}

static int
End(void **statePtr)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_of_a_file_is_known_when_it_has_been_made),
        cmocka_unit_test(each_link_on_the_way_is_watched),
        cmocka_unit_test_setup(what_happens_beside_a_file_does_not_concern_it,
                               Setup),
        cmocka_unit_test_setup(
            all_who_watch_a_file_hear_of_it_and_can_watch_again, Setup),
        cmocka_unit_test_setup(when_mounts_change_every_file_may_have_changed,
                               Setup),
        cmocka_unit_test_setup(what_cannot_be_watched_is_refused, Setup),
        cmocka_unit_test_setup(an_informed_request_need_not_ask, Setup),
        cmocka_unit_test_setup(
            a_change_is_known_while_other_threads_take_the_reports, Setup)};

    return cmocka_run_group_tests(tests, Begin, End);
}
