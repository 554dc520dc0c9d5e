/* SPDX-License-Identifier: MPL-2.0
 * hold_thread.c --
 *
 *      hold_thread TID: stop this thread of another process, say so, and hold
 *      it until we are killed: then the kernel lets it go.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    pid_t thread = argc == 2 ? (pid_t) atoi(argv[1]) : 0;
    int   status;

    if (thread <= 0) {
        return 2;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0
        || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0
        || waitpid(thread, &status, __WALL) != thread) {
        perror("hold_thread");
        return 1;
    }
    puts("held");
    fflush(stdout);
    return pause();
}
