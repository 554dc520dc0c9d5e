/* SPDX-License-Identifier: MPL-2.0
 * child.h --
 *
 *      What a process leaves that ends.
 */

#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

/*
 * Run proc in a child and wait for its end; its status as of waitpid.
 */
static int
InChild(void (*proc)(void))
{
    int   status;
    pid_t pid = fork();

    if (pid == 0) {
        proc();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

#endif
