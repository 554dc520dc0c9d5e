/*
 * shutdown.c --
 *
 *      How long a shutdown may take, and who asked for it.
 */

#include "process/shutdown.h"

#include "nsconfig.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"
#include "process/pidfile.h"

#include <stdatomic.h>

/*
 * What follows the deadline - exit callbacks, the end of the log - gets this
 * long.
 */
#define GRACE_SECONDS 1

static atomic_int replacement;      /* Seconds; 0: none.  Last writer wins. */

/*
 * Constant when the guard runs.
 */
static struct {
    Ns_Time deadline;
    int     status;
} guard;

static Ns_ThreadProc RunGuard;


int
NsShutdownTimeout(void)
{
    int seconds = atomic_load(&replacement);

    return seconds > 0 ? seconds
        : Ns_ConfigIntRange("ns/parameters", "shutdowntimeout", 20, 0, INT_MAX);
}

int
NsShutdownSetTimeout(int seconds)
{
    if (seconds > 0) {
        atomic_store(&replacement, seconds);
    }
    return NsShutdownTimeout();
}

int
NsShutdownStatus(int number, int *timeoutPtr)
{
    *timeoutPtr = number == SIGQUIT ? 0 : NsShutdownTimeout();
    switch (number) {
    case SIGINT:
        return 2;
    case SIGQUIT:
        return 3;
    default:
        return 0;
    }
}

void
NsShutdownGuard(const Ns_Time *deadlinePtr, int status)
{
    guard.deadline = *deadlinePtr;
    Ns_IncrTime(&guard.deadline, GRACE_SECONDS, 0);
    guard.status = status;
    Ns_RegisterProcInfo((void *) RunGuard, "ns:shutdownguard", NULL);
    Ns_ThreadCreate(RunGuard, NULL, 0, NULL);
}

void
NsShutdownForce(int status)
{
    Ns_Log(Warning, "nsmain: timeout, the process ends at once");
    NsPidfileRemove();
    _exit(status);
}

void
NsShutdownRequest(bool restart)
{
    int number = restart ? SIGINT : SIGTERM;

    if (kill(Ns_InfoPid(), number) != 0) {
        Ns_Log(Error, "shutdown: kill(%d, %d) failed: '%s'", Ns_InfoPid(),
               number, strerror(errno));
    }
}

void
Ns_StopServer(const char *server)
{
    Ns_Log(Warning, "immediate shutdown of server %s requested",
           server == NULL ? "" : server);
    NsShutdownRequest(false);
}

static void
RunGuard(void *arg)
{
    Ns_Time now, rest;

    Ns_ThreadSetName("-guard-");
    Ns_GetTime(&now);
    while (Ns_DiffTime(&guard.deadline, &now, &rest) > 0) {
        struct timespec pause = {rest.sec, rest.usec * 1000};

        (void) nanosleep(&pause, NULL);
        Ns_GetTime(&now);
    }
    NsShutdownForce(guard.status);
}
