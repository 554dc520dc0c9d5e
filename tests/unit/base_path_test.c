/* SPDX-License-Identifier: MPL-2.0
 * base_path_test.c --
 *
 *      1. paths    2. descriptors    3. child processes    4. environment
 *      5. users
 */

#include "unit.h"
#include "base/environ.h"
#include "nsfile.h"
#include "nsset.h"
#include "nsstring.h"

#include <pwd.h>

static int
Setup(void **state)
{
    static Ns_DString ds;

    Tcl_DStringInit(&ds);
    *state = &ds;
    return 0;
}

static int
Teardown(void **state)
{
    Tcl_DStringFree(*state);
    return 0;
}

static void
paths_are_absolute_from_their_first_slash(void **state)
{
    assert_true(Ns_PathIsAbsolute("/"));
    assert_true(Ns_PathIsAbsolute("/a"));
    assert_false(Ns_PathIsAbsolute(""));
    assert_false(Ns_PathIsAbsolute("a/b"));
}

static void
normal_paths_have_no_dots_and_no_empty_segments(void **state)
{
    static const char *const cases[][2] = {
        {"", "/"},
        {"/", "/"},
        {"/..", "/"},
        {"/../../a", "/a"},
        {"/a/../b/./c//d/..", "/b/c"},
        {"a//b/./c/../d/", "/a/b/d"},
        {"/a/...", "/a/..."},
        {"/a/..b/.c", "/a/..b/.c"},
        {"a\\b\\..\\c", "/a/c"},
        {"/x/.", "/x"},
        {"/a/b/../..", "/"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Tcl_DStringSetLength(*state, 0);
        assert_string_equal(Ns_NormalizePath(*state, cases[i][0]), cases[i][1]);
    }
}

static void
normalizing_leaves_alone_what_the_string_held(void **state)
{
    Ns_DStringAppend((Ns_DString *) *state, "keep/this");
    assert_string_equal(Ns_NormalizePath(*state, "../../a"), "keep/this/a");
}

static void
elements_are_joined_by_single_slashes(void **state)
{
    assert_string_equal(Ns_MakePath(*state, "a", "b", NULL), "/a/b");
    assert_string_equal(Ns_MakePath(*state, "/c//d/", "", "e", NULL),
                        "/a/b/c/d/e");
    assert_string_equal(Ns_MakePath(*state, NULL), "/a/b/c/d/e");
}

static void
hash_paths_are_cut_by_characters(void **state)
{
    static const struct {
        const char *string;
        int         levels;
        const char *expected;
    } cases[] = {
        {"foo", 2, "/f/o"},
        {"a.b/c", 3, "/a/b/c"},
        {"x", 3, "/x/_/_"},
        {"", 1, "/_"},
        {"foo", 0, ""},
        {"..\\", 1, "/_"},
        {"\xc3\xa4\xe2\x82\xac", 2, "/\xc3\xa4/\xe2\x82\xac"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Tcl_DStringSetLength(*state, 0);
        assert_string_equal(Ns_HashPath(*state, cases[i].string,
                                        cases[i].levels),
                            cases[i].expected);
    }
}

static void
close_on_exec_is_set_and_cleared(void **state)
{
    int fd = open("/dev/null", O_RDONLY);

    assert_int_equal(Ns_CloseOnExec(fd), NS_OK);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(Ns_NoCloseOnExec(fd), NS_OK);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    close(fd);
    assert_int_equal(Ns_CloseOnExec(fd), NS_ERROR);
}

static void
a_descriptor_moves_above_255_with_its_flag(void **state)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), old = fd, high;

    high = Ns_DupHigh(&fd);
    assert_int_equal(high, fd);
    assert_true(fd > 255);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(old, F_GETFD), -1);
    close(fd);

    /* Not open: nothing changes. */
    assert_int_equal(Ns_DupHigh(&fd), high);
    assert_int_equal(fd, high);
}

static void
a_temporary_file_comes_back_empty_and_has_no_name(void **state)
{
    int         first = Ns_GetTemp(), second;
    struct stat st;
    char        c;

    assert_true(first >= 0);
    assert_int_equal(write(first, "secret", 6), 6);
    assert_int_equal(fstat(first, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    Ns_ReleaseTemp(first);

    second = Ns_GetTemp();
    assert_int_equal(second, first);
    assert_int_equal(read(second, &c, 1), 0);
    Ns_ReleaseTemp(second);
}

/*
 * What a child wrote to the pipe; closes it.
 */
static const char *
ReadAll(int fd)
{
    static char text[4096];
    size_t      length = 0;
    ssize_t     n;

    while ((n = read(fd, text + length, sizeof(text) - 1 - length)) > 0) {
        length += (size_t) n;
    }
    text[length] = '\0';
    close(fd);
    return text;
}

static void
a_program_gets_arguments_directory_and_environment(void **state)
{
    static const char args[] = "sh\0-c\0echo $0 $1 $V; pwd\0zero\0one two\0";
    Ns_Set           *envPtr = Ns_SetCreate(NULL);
    int               fds[2], pid, exitCode = -1;

    Ns_SetPut(envPtr, "V", "value");
    Ns_SetPut(envPtr, "EMPTY", NULL);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = Ns_ExecProcess("/bin/sh", "/", -1, fds[1], args, envPtr);
    assert_true(pid > 0);
    close(fds[1]);
    assert_string_equal(ReadAll(fds[0]), "zero one two value\n/\n");
    assert_int_equal(Ns_WaitForProcess(pid, &exitCode), NS_OK);
    assert_int_equal(exitCode, 0);
    Ns_SetFree(envPtr);
}

static void
without_program_or_arguments_the_shell_runs_the_command(void **state)
{
    static const struct {
        const char *program, *args;
    } calls[] = {{NULL, "echo $0 hi; exit 3"}, {"echo $0 hi; exit 3", NULL}};
    int fds[2], pid, exitCode;

    for (int i = 0; i < Ns_NrElements(calls); i++) {
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        pid = Ns_ExecProcess(calls[i].program, NULL, -1, fds[1], calls[i].args,
                             NULL);
        close(fds[1]);
        assert_string_equal(ReadAll(fds[0]), "/bin/sh hi\n");
        assert_int_equal(Ns_WaitForProcess(pid, &exitCode), NS_OK);
        assert_int_equal(exitCode, 3);
    }
    pid = Ns_ExecProc("exit 4", NULL);
    assert_int_equal(Ns_WaitForProcess(pid, &exitCode), NS_OK);
    assert_int_equal(exitCode, 4);
}

static void
input_and_output_may_be_each_others_numbers(void **state)
{
    int in[2], out[2], savedIn = dup(0), savedOut = dup(1), pid;

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(write(in[1], "text", 4), 4);
    close(in[1]);
    fflush(stdout);
    dup2(in[0], 1);
    dup2(out[1], 0);
    close(in[0]);
    close(out[1]);
    pid = Ns_ExecArgv("/bin/cat", NULL, 1, 0, NULL, NULL);
    dup2(savedIn, 0);
    dup2(savedOut, 1);
    close(savedIn);
    close(savedOut);
    assert_true(pid > 0);
    assert_int_equal(Ns_WaitProcess(pid), NS_OK);
    assert_string_equal(ReadAll(out[0]), "text");
}

static void
what_cannot_be_run_is_reported(void **state)
{
    char *argv[] = {(char *) "x", NULL};

    assert_int_equal(Ns_ExecProc("/no/such/program", argv), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(Ns_ExecArgv("/bin/true", "/no/such/dir", 0, 1, argv, NULL),
                     -1);
    assert_int_equal(Ns_ExecArgv(NULL, NULL, 0, 1, NULL, NULL), -1);
    assert_int_equal(Ns_ExecArgv(NULL, NULL, 0, 1, &argv[1], NULL), -1);
    assert_int_equal(Ns_ExecArgv("/bin/true", NULL, 999, 1, argv, NULL), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(Ns_WaitProcess(getpid()), NS_ERROR);
}

static void
a_child_has_the_first_three_descriptors_alone(void **state)
{
    static const char command[] = "for n in 0 1 2 3 100; do "
                                  "[ -e /proc/$$/fd/$n ] && echo $n; done";
    int               fds[2], left[] = {3, 100}, saved = dup(3), pid;

    /* As a parent of the server may leave them, and libraries open them. */
    for (int i = 0; i < Ns_NrElements(left); i++) {
        assert_int_equal(dup2(2, left[i]), left[i]);
    }
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = Ns_ExecProcess(command, NULL, -1, fds[1], NULL, NULL);
    close(100);
    if (saved >= 0) {
        dup2(saved, 3);
        close(saved);
    } else {
        close(3);
    }
    close(fds[1]);
    assert_string_equal(ReadAll(fds[0]), "0\n1\n2\n");
    assert_true(pid > 0);
    (void) Ns_WaitProcess(pid);
}

static void
a_child_starts_with_no_signal_blocked_or_ignored(void **state)
{
    sigset_t set, old;
    int      pid;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &old);
    signal(SIGTERM, SIG_IGN);
    pid = Ns_ExecProcess(NULL, NULL, -1, -1, "kill -TERM $$; sleep 60", NULL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    /* Killed, not exited. */
    assert_int_equal(Ns_WaitForProcess(pid, NULL), NS_ERROR);
}

static void
variables_are_set_listed_copied_and_removed(void **state)
{
    char **env;
    bool   isThere = false;

    Tcl_FindExecutable(NULL);
    assert_false(NsEnvironGet(*state, "NS_TEST"));
    assert_int_equal(NsEnvironSet("NS_TEST", "a value"), NS_OK);
    assert_true(NsEnvironGet(*state, "NS_TEST"));
    assert_string_equal(Tcl_DStringValue((Ns_DString *) *state), "a value");

    Tcl_DStringSetLength(*state, 0);
    NsEnvironNames(*state);
    assert_non_null(strstr(Tcl_DStringValue((Ns_DString *) *state), "NS_TEST"));

    Tcl_DStringSetLength(*state, 0);
    for (env = Ns_CopyEnviron(*state); *env != NULL; env++) {
        isThere = isThere || STREQ(*env, "NS_TEST=a value");
    }
    assert_true(isThere);

    assert_int_equal(NsEnvironSet("NS_TEST", NULL), NS_OK);
    assert_false(NsEnvironGet(*state, "NS_TEST"));
    assert_int_equal(NsEnvironSet("A=B", "x"), NS_ERROR);
}

static void
users_and_groups_are_found_by_name_and_number(void **state)
{
    struct passwd *userPtr = getpwuid(0);

    assert_int_equal(Ns_GetUid(userPtr->pw_name), 0);
    assert_int_equal(Ns_GetUserGid(userPtr->pw_name), userPtr->pw_gid);
    assert_true(Ns_GetUserHome(*state, userPtr->pw_name));
    assert_string_equal(Tcl_DStringValue((Ns_DString *) *state),
                        userPtr->pw_dir);
    Tcl_DStringSetLength(*state, 0);
    assert_true(Ns_GetNameForUid(*state, 0));
    assert_string_equal(Tcl_DStringValue((Ns_DString *) *state),
                        userPtr->pw_name);
    Tcl_DStringSetLength(*state, 0);
    assert_true(Ns_GetNameForGid(*state, 0));
    assert_int_equal(Ns_GetGid(Tcl_DStringValue((Ns_DString *) *state)), 0);

    assert_int_equal(Ns_GetUid("no such user"), -1);
    assert_int_equal(Ns_GetGid("no such group"), -1);
    assert_int_equal(Ns_GetUserGid("no such user"), -1);
    assert_false(Ns_GetUserHome(*state, "no such user"));
    assert_false(Ns_GetNameForUid(*state, 1999999999));
    assert_false(Ns_GetNameForGid(*state, 1999999999));
}

static void
a_directory_is_made_with_those_above_it(void **state)
{
    char        place[] = "/tmp/nsd-path_XXXXXX";
    Ns_DString *dsPtr = *state;
    struct stat status;
    char        file[PATH_MAX];

    assert_non_null(ns_mkdtemp(place));
    Ns_DStringPrintf(dsPtr, "%s/a//b/c/", place);
    assert_int_equal(Ns_RequireDirectory(dsPtr->string), NS_OK);
    assert_int_equal(stat(dsPtr->string, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_int_equal(Ns_RequireDirectory(dsPtr->string), NS_OK);
    assert_int_equal(Ns_RequireDirectory("/"), NS_OK);

    snprintf(file, sizeof(file), "%s/file", place);
    close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(Ns_RequireDirectory(file), NS_ERROR);
    assert_int_equal(errno, ENOTDIR);
    snprintf(file, sizeof(file), "%s/file/x", place);
    assert_int_equal(Ns_RequireDirectory(file), NS_ERROR);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(Ns_RequireDirectory(""), NS_ERROR);
    assert_int_equal(errno, ENOENT);
    memset(file, 'x', sizeof(file) - 1);
    file[0] = '/';
    file[sizeof(file) - 1] = '\0';
    assert_int_equal(Ns_RequireDirectory(file), NS_ERROR);
    assert_int_equal(errno, ENAMETOOLONG);

    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"/a/b/c", "/a/b", "/a", "/file"};

        snprintf(file, sizeof(file), "%s%s", place, names[i]);
        assert_int_equal(remove(file), 0);
    }
    assert_int_equal(rmdir(place), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, Setup, Teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(paths_are_absolute_from_their_first_slash),
        TEST(normal_paths_have_no_dots_and_no_empty_segments),
        TEST(normalizing_leaves_alone_what_the_string_held),
        TEST(elements_are_joined_by_single_slashes),
        TEST(hash_paths_are_cut_by_characters),
        TEST(a_directory_is_made_with_those_above_it),
        TEST(close_on_exec_is_set_and_cleared),
        TEST(a_descriptor_moves_above_255_with_its_flag),
        TEST(a_temporary_file_comes_back_empty_and_has_no_name),
        TEST(a_program_gets_arguments_directory_and_environment),
        TEST(without_program_or_arguments_the_shell_runs_the_command),
        TEST(input_and_output_may_be_each_others_numbers),
        TEST(what_cannot_be_run_is_reported),
        TEST(a_child_has_the_first_three_descriptors_alone),
        TEST(a_child_starts_with_no_signal_blocked_or_ignored),
        TEST(variables_are_set_listed_copied_and_removed),
        TEST(users_and_groups_are_found_by_name_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
