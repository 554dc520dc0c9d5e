/* SPDX-License-Identifier: MPL-2.0
 * notify.c --
 *
 *      What a service manager is told.
 */

#include "process/notify.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/info.h"

#include <sys/socket.h>
#include <sys/un.h>

/* Signs of life within the time after which the manager gives a server up. */
#define SIGNS 3
/* How often it is asked for more time for a start, how much, how long. */
#define START_SECONDS     5
#define EXTRA_SECONDS     20
#define MAX_START_SECONDS 900

static NsNotifyAliveProc *aliveProc; /* Constant after the start. */

static struct {
    NsStamp   interval; /* 0: nobody wants signs of life. */
    bool      isRestart;
    NsStamp   begin;  /* Of the start. */
    Ns_Thread thread; /* Main thread. */

    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  changed;
    bool     isReady;
    bool     isEnding;
} notify;

static void    Send(const char *text);
static void    SendStop(const char *state, const char *status, NsStamp time);
static NsStamp Sum(NsStamp a, NsStamp b);
static NsStamp Interval(void);
static Ns_ThreadProc Run;
static NsStamp       Tell(bool isReady);
static bool          IsAlive(void);

void
NsNotifySetAliveProc(NsNotifyAliveProc *proc)
{
    aliveProc = proc;
}

void
NsNotifyStarting(bool isRestart)
{
    if (getenv("NOTIFY_SOCKET") == NULL) {
        return;
    }
    NsMutexSetup(&notify.lock, NS_RANK_PROCESS_MISC, "ns:notify", NULL);
    notify.interval = Interval();
    notify.isRestart = isRestart;
    notify.begin = NsClockNow();
    Ns_RegisterProcInfo((void *) Run, "ns:notify", NULL);
    Ns_ThreadCreate(Run, NULL, 0, &notify.thread);
}

void
NsNotifyReady(void)
{
    char text[64];

    snprintf(text, sizeof(text), "READY=1\nMAINPID=%d\nSTATUS=running",
             Ns_InfoPid());
    Send(text);
    if (notify.thread != NULL) {
        Ns_MutexLock(&notify.lock);
        notify.isReady = true;
        Ns_CondSignal(&notify.changed);
        Ns_MutexUnlock(&notify.lock);
    }
}

void
NsNotifyDraining(NsStamp wait, NsStamp timeout)
{
    SendStop("STOPPING=1", "draining", Sum(wait, timeout));
}

void
NsNotifyStopping(NsStamp timeout, bool isRestart)
{
    char reloading[64];

    if (isRestart) {
        snprintf(reloading, sizeof(reloading),
                 "RELOADING=1\nMONOTONIC_USEC=%lld",
                 (long long) (NsClockNow() / 1000));
        SendStop(reloading, "restarting",
                 Sum(timeout, EXTRA_SECONDS * NS_STAMP_SECOND));
    } else {
        SendStop("STOPPING=1", "stopping", timeout);
    }
}

void
NsNotifyEnd(void)
{
    if (notify.thread != NULL) {
        Ns_MutexLock(&notify.lock);
        notify.isEnding = true;
        Ns_CondSignal(&notify.changed);
        Ns_MutexUnlock(&notify.lock);
        Ns_ThreadJoin(&notify.thread, NULL);
        notify.thread = NULL;
    }
}

static void
SendStop(const char *state, const char *status, NsStamp time)
{
    char text[160];

    snprintf(text, sizeof(text), "%s\nEXTEND_TIMEOUT_USEC=%lld\nSTATUS=%s",
             state, (long long) (MAX(time, NS_STAMP_SECOND) / 1000), status);
    Send(text);
}

static NsStamp
Sum(NsStamp a, NsStamp b)
{
    NsStamp sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/*
 * A datagram.  A name that begins with @ is not in the file system.
 */
static void
Send(const char *text)
{
    const char        *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t             length = path == NULL ? 0 : strlen(path);
    socklen_t          size;
    int                fd;

    if (length < 2 || length >= sizeof(address.sun_path)) {
        return;
    }
    memcpy(address.sun_path, path, length);
    if (*path == '@') {
        *address.sun_path = '\0';
    }
    size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0
        || sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
                  (struct sockaddr *) &address, size)
            < 0) {
        Ns_Log(Warning, "nsmain: the service manager at %s is not told: %s",
               path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
}

static NsStamp
Interval(void)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    Tcl_WideInt value;

    if (usec == NULL || Ns_StrToWideInt(usec, &value) != NS_OK || value <= 0
        || (pid != NULL && atol(pid) != Ns_InfoPid())) {
        return 0;
    }
    return (NsStamp) value * 1000 / SIGNS;
}

/*
 * Until there is nothing to tell, or the end.
 */
static void
Run(void *arg)
{
    NsStamp next = NsClockNow(), pause;
    bool    isReady = false, isEnding = false;

    Ns_ThreadSetName("-notify-");
    while (!isEnding && (pause = Tell(isReady)) > 0) {
        next += pause;
        Ns_MutexLock(&notify.lock);
        while (!notify.isEnding && notify.isReady == isReady
               && NsClockNow() < next) {
            (void) NsCondWaitUntil(&notify.changed, &notify.lock, next);
        }
        if (notify.isReady != isReady) {
            isReady = notify.isReady;
            next = NsClockNow();
        }
        isEnding = notify.isEnding;
        Ns_MutexUnlock(&notify.lock);
    }
}

/*
 * How long it is to the next time; 0: there is none.
 */
static NsStamp
Tell(bool isReady)
{
    static const NsStamp start = START_SECONDS * NS_STAMP_SECOND;
    char                 text[80];

    if (isReady) {
        if (notify.interval > 0 && IsAlive()) {
            Send("WATCHDOG=1");
        }
        return notify.interval;
    }
    if (NsClockNow() - notify.begin < MAX_START_SECONDS * NS_STAMP_SECOND) {
        snprintf(text, sizeof(text),
                 "%sEXTEND_TIMEOUT_USEC=%d\nSTATUS=starting",
                 notify.isRestart && notify.interval > 0 ? "WATCHDOG=1\n" : "",
                 EXTRA_SECONDS * 1000000);
        Send(text);
    }
    return notify.isRestart && notify.interval > 0
        ? MIN(start, notify.interval)
        : start;
}

/*
 * A stop has a limit of its own.
 */
static bool
IsAlive(void)
{
    return aliveProc == NULL || NsInfoLife() == NS_LIFE_STOPPING || aliveProc();
}
