/* SPDX-License-Identifier: MPL-2.0
 * background.c --
 *
 *      A server that leaves the terminal first reports there whether it has
 *      started.
 *
 *      Parent and child share a pipe.  The child writes the complaints of its
 *      start into it, and a null byte when it runs.  When the pipe ends without
 *      one, the start has failed.
 */

#include "process/background.h"

#include "log/stream/entry.h"
#include "nslog.h"
#include "nsthread.h"

#include <poll.h>
#include <sys/wait.h>

#define MAX_REPORT       16384
#define PROGRESS_SECONDS 3

static int reportFd = -1; /* Main thread; -1: nobody waits. */

static void           WaitForStart(pid_t pid, int fd) NS_GNUC_NORETURN;
static void           ShowProgress(int fd);
static Ns_LogFilter   ReportError;
static NsLogFatalProc ReportFatal;
static void Report(const char *severity, const char *message, size_t length);

void
NsBackgroundEnter(bool isHasty)
{
    int   ends[2], fd;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        Ns_Fatal("nsmain: pipe() failed: '%s'", strerror(errno));
    }
    pid = fork();
    if (pid < 0) {
        Ns_Fatal("nsmain: fork() failed: '%s'", strerror(errno));
    }
    if (pid > 0) {
        if (isHasty) {
            _exit(0);
        }
        close(ends[1]);
        WaitForStart(pid, ends[0]);
    }
    close(ends[0]);
    if (isHasty) {
        close(ends[1]);
    } else {
        reportFd = ends[1];
        Ns_AddLogFilter(ReportError, NULL, NULL);
        NsLogSetFatalProc(ReportFatal);
    }
    (void) setsid();
    fd = open(DEVNULL, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void) dup2(fd, STDIN_FILENO);
        close(fd);
    }
}

void
NsBackgroundReady(void)
{
    if (reportFd >= 0) {
        (void) !write(reportFd, "", 1);
        NsBackgroundLeave();
    }
}

void
NsBackgroundLeave(void)
{
    if (reportFd >= 0) {
        Ns_RemoveLogFilter(ReportError, NULL);
        NsLogSetFatalProc(NULL);
        close(reportFd);
        reportFd = -1;
    }
}

static void
WaitForStart(pid_t pid, int fd)
{
    char    report[MAX_REPORT];
    size_t  length = 0;
    ssize_t n;
    int     status = 0;

    ShowProgress(fd);
    while (length < sizeof(report)
           && ((n = read(fd, report + length, sizeof(report) - length)) > 0
               || (n < 0 && errno == EINTR))) {
        if (n > 0 && report[length + (size_t) n - 1] == '\0') {
            _exit(0);
        }
        length += n > 0 ? (size_t) n : 0;
    }
    close(fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        continue;
    }
    (void) !write(STDERR_FILENO, report, length);
    if (length == 0) {
        fprintf(stderr, "nsd: the server has not started\n");
    }
    _exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status)
                                                        : 1);
}

/*
 * Who looks on is told that something happens, until there is a report.
 */
static void
ShowProgress(int fd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};

    for (int i = 1;
         isatty(STDERR_FILENO) && poll(&pfd, 1, PROGRESS_SECONDS * 1000) == 0;
         i++) {
        fprintf(stderr, "nsd: still starting, for %d s\n",
                i * PROGRESS_SECONDS);
    }
}

static int
ReportError(void *arg, Ns_LogSeverity severity, Ns_Time *stampPtr,
            char *message, size_t length)
{
    if (severity == Error) {
        Report("Error", message, length);
    }
    return NS_OK;
}

static void
ReportFatal(const char *message, size_t length)
{
    Report("Fatal", message, length);
}

/*
 * One write per line: those of several threads do not mix.
 */
static void
Report(const char *severity, const char *message, size_t length)
{
    char line[1024];
    int  n = snprintf(line, sizeof(line), "%s: %.*s\n", severity,
                      (int) MIN(length, sizeof(line) - 32), message);

    (void) !write(reportFd, line, (size_t) n);
}
