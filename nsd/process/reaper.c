/* SPDX-License-Identifier: MPL-2.0
 * reaper.c --
 *
 *      The server as process number 1, as in a container.
 */

#include "process/reaper.h"

#include "nslog.h"

#include <signal.h>
#include <sys/wait.h>

static void PassOnAndCollect(pid_t           server,
                             const sigset_t *signalsPtr) NS_GNUC_NORETURN;
static void Collect(pid_t server);

void
NsReaperRun(void)
{
    sigset_t all, before;
    pid_t    pid;

    if (getpid() != 1) {
        return;
    }
    /* It may have been inherited as ignored: then nothing could be collected.
     */
    (void) signal(SIGCHLD, SIG_DFL);
    sigfillset(&all);
    (void) sigprocmask(SIG_BLOCK, &all, &before);
    pid = fork();
    if (pid < 0) {
        Ns_Fatal("nsmain: fork() failed: '%s'", strerror(errno));
    }
    if (pid > 0) {
        PassOnAndCollect(pid, &all);
    }
    (void) sigprocmask(SIG_SETMASK, &before, NULL);
}

static void
PassOnAndCollect(pid_t server, const sigset_t *signalsPtr)
{
    for (;;) {
        siginfo_t info;
        int       number = sigwaitinfo(signalsPtr, &info);

        if (number == SIGCHLD) {
            Collect(server);
        } else if (number > 0 && info.si_code != SI_KERNEL) {
            /* The terminal's signals go to the server as well. */
            (void) kill(server, number);
        }
    }
}

static void
Collect(pid_t server)
{
    pid_t pid;
    int   status;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == server) {
            _exit(WIFEXITED(status) ? WEXITSTATUS(status)
                                    : 128 + WTERMSIG(status));
        }
    }
}
