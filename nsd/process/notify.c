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

static NsNotifyAliveProc *aliveProc; /* Constant after the start. */

static struct {
    NsStamp   interval; /* 0: nobody wants signs of life. */
    Ns_Thread thread;   /* Main thread. */

    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  changed;
    bool     isEnding;
} watchdog;

static void          Send(const char *text);
static NsStamp       Interval(void);
static Ns_ThreadProc Run;
static bool          IsAlive(void);

void
NsNotifySetAliveProc(NsNotifyAliveProc *proc)
{
    aliveProc = proc;
}

void
NsNotifyReady(void)
{
    char text[64];

    snprintf(text, sizeof(text), "READY=1\nMAINPID=%d\nSTATUS=running",
             Ns_InfoPid());
    Send(text);
    NsMutexSetup(&watchdog.lock, NS_RANK_PROCESS_MISC, "ns:notify", NULL);
    watchdog.interval = Interval();
    if (watchdog.interval > 0) {
        Ns_RegisterProcInfo((void *) Run, "ns:notify", NULL);
        Ns_ThreadCreate(Run, NULL, 0, &watchdog.thread);
    }
}

void
NsNotifyStopping(NsStamp timeout, bool isRestart)
{
    char text[160];

    if (isRestart) {
        snprintf(text, sizeof(text),
                 "RELOADING=1\nMONOTONIC_USEC=%lld\n"
                 "STATUS=restarting",
                 (long long) (NsClockNow() / 1000));
    } else {
        snprintf(text, sizeof(text),
                 "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld\nSTATUS=stopping",
                 (long long) (MAX(timeout, NS_STAMP_SECOND) / 1000));
    }
    Send(text);
}

void
NsNotifyEnd(void)
{
    if (watchdog.thread != NULL) {
        Ns_MutexLock(&watchdog.lock);
        watchdog.isEnding = true;
        Ns_CondSignal(&watchdog.changed);
        Ns_MutexUnlock(&watchdog.lock);
        Ns_ThreadJoin(&watchdog.thread, NULL);
        watchdog.thread = NULL;
    }
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

static void
Run(void *arg)
{
    NsStamp next = NsClockNow();
    bool    isEnding = false;

    Ns_ThreadSetName("-notify-");
    while (!isEnding) {
        if (IsAlive()) {
            Send("WATCHDOG=1");
        }
        next += watchdog.interval;
        Ns_MutexLock(&watchdog.lock);
        while (!watchdog.isEnding && NsClockNow() < next) {
            (void) NsCondWaitUntil(&watchdog.changed, &watchdog.lock, next);
        }
        isEnding = watchdog.isEnding;
        Ns_MutexUnlock(&watchdog.lock);
    }
}

/*
 * A stop has a limit of its own.
 */
static bool
IsAlive(void)
{
    return aliveProc == NULL || NsInfoLife() == NS_LIFE_STOPPING || aliveProc();
}
