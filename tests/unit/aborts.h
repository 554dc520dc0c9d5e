/* SPDX-License-Identifier: MPL-2.0
 * aborts.h --
 *
 *      For tests of what ends the process.
 */

#ifndef TESTS_UNIT_ABORTS_H
#define TESTS_UNIT_ABORTS_H

#include <fcntl.h>
#include <stdbool.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * True if proc ends its process by SIGABRT.
 */
static bool
Aborts(void (*proc)(void))
{
    pid_t pid = fork();
    int   status;

    if (pid == 0) {
        const struct rlimit none = {0, 0};
        int                 quiet = open("/dev/null", O_WRONLY);

        setrlimit(RLIMIT_CORE, &none);
        dup2(quiet, 2);
        signal(SIGABRT, SIG_DFL);
        proc();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

#endif
