/* SPDX-License-Identifier: MPL-2.0
 * watchdog.c --
 *
 *      Starts the server again when it fails.
 */

#include "process/watchdog.h"

#include "nslog.h"
#include "process/background.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <syslog.h>

#define FIRST_DELAY   1
#define LAST_DELAY    64
#define LONG_RUN      128 /* Seconds: as good as new. */
#define MAX_STARTS    256
#define CHECK_SECONDS 600

static volatile sig_atomic_t isTerminated;
static volatile sig_atomic_t serverPid;

/*
 * Shared with the server, which sets it; NULL: no watchdog, or no memory.
 */
static volatile bool *serverHasRunPtr;

/*
 * What a server that is started again reads in its environment: its process,
 * which tells it from programs that it starts, how often that was done, and
 * why.
 */
#define RESTARTS "NSD_WATCHDOG"

static char reason[64]; /* Why the last server has ended. */

static void  Advance(NsWatchdogDelay *nextPtr, const struct timespec *startPtr);
static pid_t StartServer(int nRestarts);
static int   CountRestarts(void);
static bool  HasRun(void);
static bool  IsFailure(pid_t pid, int status);
static void  TellServer(int nRestarts);
static int   WaitForServer(pid_t pid);
static void  Sleep(int seconds);
static void  OnTerminate(int number);
static void  PassOn(int number);
static void  OnAlarm(int number);
static void  SetHandlers(bool isWatchdog);

void
NsWatchdogRun(void)
{
    NsWatchdogDelay next = {0, 0};
    int             nRestarts = 0;

    bool *hasRunPtr = mmap(NULL, sizeof(bool), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    serverHasRunPtr = hasRunPtr == MAP_FAILED ? NULL : hasRunPtr;
    openlog("nsd", LOG_CONS | LOG_NDELAY | LOG_PID, LOG_DAEMON);
    SetHandlers(true);
    while (!isTerminated) {
        struct timespec start;
        int             status;
        pid_t           pid;

        if (next.delay > 0) {
            syslog(LOG_WARNING,
                   "watchdog: waiting %d seconds before "
                   "restart %d",
                   next.delay, next.nStarts);
            Sleep(next.delay);
            if (isTerminated) {
                break;
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &start);
        pid = StartServer(nRestarts);
        if (pid == 0) {
            return;
        }
        if (pid < 0 && next.nStarts > 0) {
            /* Processes or memory may be had again later. */
            Advance(&next, &start);
            continue;
        }
        if (pid < 0) {
            exit(1);
        }
        serverPid = pid;
        NsBackgroundLeave();
        if (isTerminated) {
            kill(pid, SIGTERM); /* It came between loop and fork. */
        }
        syslog(LOG_NOTICE, "watchdog: started server %d", (int) pid);
        status = WaitForServer(pid);
        serverPid = 0;
        if (!IsFailure(pid, status)) {
            exit(0);
        }
        if (next.nStarts == 0 && !HasRun()) {
            syslog(LOG_ERR, "watchdog: the first start has failed: giving up");
            exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        nRestarts++;
        Advance(&next, &start);
    }
    syslog(LOG_NOTICE, "watchdog: exiting");
    exit(0);
}

/*
 * After a server that was started at that time; or not at all.
 */
static void
Advance(NsWatchdogDelay *nextPtr, const struct timespec *startPtr)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    NsWatchdogAdvance(nextPtr, (long) (end.tv_sec - startPtr->tv_sec));
    if (nextPtr->nStarts > MAX_STARTS) {
        syslog(LOG_ALERT, "watchdog: giving up after %d restarts", MAX_STARTS);
        exit(1);
    }
}

/*
 * 0: this is the server; -1: there is none.
 */
static pid_t
StartServer(int nRestarts)
{
    pid_t pid = fork();

    if (pid < 0) {
        syslog(LOG_ERR, "watchdog: fork() failed: '%s'", strerror(errno));
    }
    if (pid == 0) {
        SetHandlers(false);
        closelog();
        TellServer(nRestarts);
    }
    return pid;
}

/*
 * Say how the server ended.
 */
static bool
IsFailure(pid_t pid, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        syslog(LOG_NOTICE, "watchdog: server %d has ended", (int) pid);
        return false;
    }
    if (WIFEXITED(status)) {
        snprintf(reason, sizeof(reason), "server %d ended with status %d",
                 (int) pid, WEXITSTATUS(status));
    } else {
        snprintf(reason, sizeof(reason), "server %d was ended by signal %d",
                 (int) pid, WTERMSIG(status));
    }
    syslog(LOG_ERR, "watchdog: %s", reason);
    return true;
}

/*
 * In the server, before it does anything else.
 */
static void
TellServer(int nRestarts)
{
    char text[sizeof(reason) + 32];

    snprintf(text, sizeof(text), "%ld %d %s", (long) getpid(), nRestarts,
             reason);
    (void) setenv(RESTARTS, text, 1);
}

int
NsWatchdogCount(void)
{
    return CountRestarts();
}

void
NsWatchdogNote(void)
{
    int n = CountRestarts();

    if (n > 0) {
        const char *text = getenv(RESTARTS);

        text = strchr(text, ' ') + 1;
        Ns_Log(Warning, "nsmain: restarted by the watchdog, restart %d: %s", n,
               strchr(text, ' ') + 1);
    }
}

/*
 * 0: there is no watchdog, or this is the first server.
 */
static int
CountRestarts(void)
{
    const char *text = getenv(RESTARTS);
    long        pid;
    int         n;

    return text != NULL && sscanf(text, "%ld %d ", &pid, &n) == 2
            && pid == getpid()
        ? n
        : 0;
}

void
NsWatchdogReady(void)
{
    if (serverHasRunPtr != NULL) {
        *serverHasRunPtr = true;
    }
}

/*
 * If that cannot be known: yes.
 */
static bool
HasRun(void)
{
    return serverHasRunPtr == NULL || *serverHasRunPtr;
}

void
NsWatchdogAdvance(NsWatchdogDelay *delayPtr, long ranSeconds)
{
    if (ranSeconds > LONG_RUN) {
        delayPtr->delay = 0;
        delayPtr->nStarts = 0;
    }
    delayPtr->nStarts++;
    delayPtr->delay = delayPtr->delay == 0
        ? FIRST_DELAY
        : MIN(delayPtr->delay * 2, LAST_DELAY);
}

/*
 * The alarm is for a child whose end was never reported.
 */
static int
WaitForServer(pid_t pid)
{
    int status = 0;

    for (;;) {
        pid_t found;

        alarm(CHECK_SECONDS);
        found = waitpid(pid, &status, 0);
        alarm(0);
        if (found == pid) {
            return status;
        }
        if (errno != EINTR || (kill(pid, 0) != 0 && errno == ESRCH)) {
            syslog(LOG_ERR, "watchdog: server %d has vanished", (int) pid);
            return W_EXITCODE(1, 0);
        }
    }
}

/*
 * A signal ends it early.
 */
static void
Sleep(int seconds)
{
    struct timespec rest = {seconds, 0};

    while (!isTerminated && nanosleep(&rest, &rest) != 0 && errno == EINTR) {
        continue;
    }
}

static void
OnTerminate(int number)
{
    isTerminated = 1;
    if (serverPid != 0) {
        kill((pid_t) serverPid, number);
    }
}

/*
 * To the server that runs; one that is to come knows nothing of it.
 */
static void
PassOn(int number)
{
    if (serverPid != 0) {
        kill((pid_t) serverPid, number);
    }
}

static void
OnAlarm(int number)
{
}

/*
 * Signals that would end the watchdog go to the server, or mean nothing to
 * either.
 */
static void
SetHandlers(bool isWatchdog)
{
    static const struct {
        int number;
        void (*proc)(int number);
    } handlers[] = {
        {SIGTERM, OnTerminate}, {SIGALRM, OnAlarm},   {SIGHUP, PassOn},
        {SIGINT, PassOn},       {SIGQUIT, PassOn},    {SIGUSR1, PassOn},
        {SIGUSR2, PassOn},      {SIGPIPE, SIG_IGN},   {SIGIO, SIG_IGN},
        {SIGPWR, SIG_IGN},      {SIGVTALRM, SIG_IGN}, {SIGPROF, SIG_IGN}};

    for (int i = 0; i < Ns_NrElements(handlers); i++) {
        struct sigaction action = {
            .sa_handler = isWatchdog ? handlers[i].proc : SIG_DFL};

        sigaction(handlers[i].number, &action, NULL);
    }
}
