/* SPDX-License-Identifier: MPL-2.0
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
#include "base/lock.h"
#include "log/init.h"
#include "log/stream/system.h"
#include "process/parameters.h"
#include "process/pidfile.h"
#include "process/setting.h"

#include <stdatomic.h>

/*
 * What follows the phases - shutdown procedures that waited until the deadline,
 * exit callbacks, the end of the log - has a tenth of the time, at most a
 * second, the first of these half of it.  So has what follows the first phase,
 * of the phases' time.
 */
#define LAST_SHARE  10
#define LAST_MAX_NS NS_STAMP_SECOND

typedef struct Settings {
    _Atomic NsStamp timeout;
    _Atomic NsStamp drainWait;
} Settings;

static NsSettingProc Access;

static const NsParameter rows[] = {
    NS_TIME(Settings, timeout, "shutdowntimeout", "20", 0, NS_PARAM_NO_LIMIT,
            "A shutdown takes at most this long.", .settingProc = Access),
    NS_TIME(Settings, drainWait, "drainwait", "0", 0, NS_PARAM_NO_LIMIT,
            "After SIGTERM the server keeps serving for this long, but reports "
            "that it is not ready; then the shutdown begins.",
            .settingProc = Access),
    NS_PARAM_END};

static Settings settings;

static _Atomic NsStamp replacement; /* 0: none.  Last writer wins. */

/*
 * Its thread is there from the start: when the server stops, there may be none
 * to be had.
 */
static struct {
    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  armed;
    NsStamp  end; /* 0: not armed. */
    int      status;
} guard;

static volatile sig_atomic_t forcedStatus;

static Ns_ThreadProc RunGuard;
static void          OnWritingTooLong(int number);
static NsStamp       LastShare(NsStamp span);

void
NsShutdownInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Settings));
}

void
NsShutdownGuardStart(void)
{
    NsParametersFill(rows, "ns/parameters", &settings);
    NsMutexSetup(&guard.lock, NS_RANK_PROCESS_MISC, "ns:guard", NULL);
    Ns_RegisterProcInfo((void *) RunGuard, "ns:shutdownguard", NULL);
    Ns_ThreadCreate(RunGuard, NULL, 0, NULL);
}

static Ns_ReturnCode
Access(const char *section, NsSettingAccess *accessPtr)
{
    return NsSettingAccessStruct(accessPtr, &settings);
}

NsStamp
NsShutdownTimeout(void)
{
    NsStamp timeout = atomic_load(&replacement);

    return timeout > 0 ? timeout : atomic_load(&settings.timeout);
}

NsStamp
NsShutdownDrainWait(void)
{
    return atomic_load(&settings.drainWait);
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

    Ns_MutexLock(&guard.lock);
    NsLogNoteStop();
    guard.end = now + span;
    guard.status = status;
    Ns_CondSignal(&guard.armed);
    Ns_MutexUnlock(&guard.lock);
    Ns_GetTime(deadlinePtr);
    *lastCallPtr = *deadlinePtr;
    if (timeout > 0) {
        Ns_IncrTime(deadlinePtr, phases.sec, phases.usec);
        Ns_IncrTime(lastCallPtr, lastCall.sec, lastCall.usec);
    }
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

/*
 * The log, or the disk that it is on, may be what hangs: nobody waits for it,
 * and the write itself has a second.
 */
void
NsShutdownForce(int status)
{
    struct sigaction action = {.sa_handler = OnWritingTooLong};
    sigset_t         alarms;

    forcedStatus = status;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    ns_sigmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(1);
    NsPidfileRemove();
    NsLogWriteNow(Warning, "nsmain: timeout, the process ends at once");
    _exit(status);
}

static void
OnWritingTooLong(int number)
{
    _exit(forcedStatus);
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
    int status;

    Ns_ThreadSetName("-guard-");
    NsLogNeverWait();
    Ns_MutexLock(&guard.lock);
    while (guard.end == 0) {
        Ns_CondWait(&guard.armed, &guard.lock);
    }
    while (NsClockNow() < guard.end) {
        (void) NsCondWaitUntil(&guard.armed, &guard.lock, guard.end);
    }
    status = guard.status;
    Ns_MutexUnlock(&guard.lock);
    NsShutdownForce(status);
}
