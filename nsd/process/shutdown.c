/*
 * shutdown.c --
 *
 *      How long a shutdown may take, and who asked for it.
 */

#include "process/shutdown.h"

#include "nsparam.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"
#include "base/clock.h"
#include "process/parameter_value.h"
#include "process/pidfile.h"

#include <stdatomic.h>

/*
 * What follows the phases - shutdown procedures that waited until the deadline,
 * exit callbacks, the end of the log - has a tenth of the time, at most a
 * second, the first of these half of it.  So has what follows the first phase,
 * of the phases' time.
 */
#define LAST_SHARE   10
#define LAST_MAX_NS  NS_STAMP_SECOND

static _Atomic NsStamp replacement; /* 0: none.  Last writer wins. */

/*
 * Constant when the guard runs.
 */
static struct {
    NsStamp end;
    int     status;
} guard;

static Ns_ThreadProc RunGuard;
static NsStamp LastShare(NsStamp span);

NsStamp
NsShutdownTimeout(void)
{
    NsParameters from = {"ns/parameters", "ns/parameters"};
    NsStamp      timeout = atomic_load(&replacement);

    return timeout > 0 ? timeout : NsParameterSpan(from, "shutdowntimeout");
}

NsStamp
NsShutdownSetTimeout(NsStamp timeout)
{
    if (timeout > 0) {
        atomic_store(&replacement, timeout);
    }
    return NsShutdownTimeout();
}

int
NsShutdownStatus(int number, NsStamp *timeoutPtr)
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
NsShutdownGuard(NsStamp timeout, int status, Ns_Time *deadlinePtr,
                Ns_Time *lastCallPtr)
{
    NsStamp now = NsClockNow(), span = timeout > 0 ? timeout : NS_STAMP_SECOND;
    NsStamp last = LastShare(span);
    Ns_Time phases = NsClockSpan(0, span - last);
    Ns_Time lastCall = NsClockSpan(0, span - last / 2);

    guard.end = now + span;
    guard.status = status;
    Ns_GetTime(deadlinePtr);
    *lastCallPtr = *deadlinePtr;
    if (timeout > 0) {
        Ns_IncrTime(deadlinePtr, phases.sec, phases.usec);
        Ns_IncrTime(lastCallPtr, lastCall.sec, lastCall.usec);
    }
    Ns_RegisterProcInfo((void *) RunGuard, "ns:shutdownguard", NULL);
    Ns_ThreadCreate(RunGuard, NULL, 0, NULL);
}

Ns_Time
NsShutdownShare(const Ns_Time *deadlinePtr)
{
    Ns_Time now, span, last, end = *deadlinePtr;

    Ns_GetTime(&now);
    if (Ns_DiffTime(&end, &now, &span) > 0) {
        last = NsClockSpan(0, LastShare(NsClockFromTime(&span)));
        (void) Ns_DiffTime(&end, &last, &end);
    }
    return end;
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

static NsStamp
LastShare(NsStamp span)
{
    return MIN(span / LAST_SHARE, LAST_MAX_NS);
}

static void
RunGuard(void *arg)
{
    NsStamp now;

    Ns_ThreadSetName("-guard-");
    while ((now = NsClockNow()) < guard.end) {
        Ns_Time rest = NsClockSpan(now, guard.end);
        struct timespec pause = {rest.sec, rest.usec * 1000};

        (void) nanosleep(&pause, NULL);
    }
    NsShutdownForce(guard.status);
}
