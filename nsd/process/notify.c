/* SPDX-License-Identifier: MPL-2.0
 * notify.c --
 *
 *      What a service manager is told.
 *
 *      Several threads may have something to tell once the server runs.  They
 *      take turns, so that messages arrive in the order of the states that they
 *      are about; no lock is held while one is sent.
 */

#include "process/notify.h"

#include "base/assert.h"
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

#define STATUS_SIZE 128

/*
 * Constant after the start.
 */
static struct {
    const char        *what;
    NsNotifyAliveProc *proc;
} lives[4];
static int                  nLives;
static NsNotifyFiguresProc *figuresProc;

static struct {
    /* Constant after NsNotifyStarting. */
    bool      isWanted; /* There is a manager. */
    NsStamp   interval; /* 0: nobody wants signs of life. */
    bool      isRestart;
    NsStamp   begin;  /* Of the start. */
    Ns_Thread thread; /* Main thread. */

    /* The thread's. */
    int  nMissed;             /* Signs of life that could not be given. */
    char status[STATUS_SIZE]; /* The last that came with a sign of life. */

    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  changed;
    bool     isReady;
    bool     isEnding;
    Ns_Cond  told;
    bool     isTelling; /* It is some thread's turn. */
    bool     isStopping;
    int      nReloads;        /* At work. */
    bool     isReloadPending; /* The manager waits for the end of one. */
} notify;

static void    Send(const char *text);
static void    BeginTurnLocked(void);
static void    EndTurn(void);
static void    SendStop(const char *state, const char *status, NsStamp time);
static void    FormatStatus(char *text, bool hasFigures);
static NsStamp Sum(NsStamp a, NsStamp b);
static NsStamp Interval(void);
static Ns_ThreadProc Run;
static NsStamp       Tell(bool isReady);
static void          TellLife(void);
static bool          IsAlive(void);

void
NsNotifyAddAliveProc(const char *what, NsNotifyAliveProc *proc)
{
    NsAssert(nLives < Ns_NrElements(lives));
    lives[nLives].what = what;
    lives[nLives++].proc = proc;
}

void
NsNotifySetFiguresProc(NsNotifyFiguresProc *proc)
{
    figuresProc = proc;
}

void
NsNotifyStarting(bool isRestart)
{
    if (getenv("NOTIFY_SOCKET") == NULL) {
        return;
    }
    NsMutexSetup(&notify.lock, NS_RANK_PROCESS_MISC, "ns:notify", NULL);
    notify.isWanted = true;
    notify.interval = Interval();
    notify.isRestart = isRestart;
    notify.begin = NsClockNow();
    Ns_RegisterProcInfo((void *) Run, "ns:notify", NULL);
    Ns_ThreadCreate(Run, NULL, 0, &notify.thread);
}

void
NsNotifyReady(void)
{
    char text[64 + STATUS_SIZE], status[STATUS_SIZE];

    if (!notify.isWanted) {
        return;
    }
    FormatStatus(status, false);
    snprintf(text, sizeof(text), "READY=1\nMAINPID=%d\nSTATUS=%s", Ns_InfoPid(),
             status);
    Ns_MutexLock(&notify.lock);
    BeginTurnLocked();
    Ns_MutexUnlock(&notify.lock);
    Send(text);
    Ns_MutexLock(&notify.lock);
    notify.isReady = true;
    Ns_CondSignal(&notify.changed);
    Ns_MutexUnlock(&notify.lock);
    EndTurn();
}

void
NsNotifyReloading(void)
{
    char text[96];
    bool mustTell;

    if (!notify.isWanted) {
        return;
    }
    Ns_MutexLock(&notify.lock);
    BeginTurnLocked();
    notify.nReloads++;
    mustTell = notify.isReady && !notify.isStopping;
    notify.isReloadPending |= mustTell;
    Ns_MutexUnlock(&notify.lock);
    if (mustTell) {
        /* The time tells the manager whether this follows its wish. */
        snprintf(text, sizeof(text),
                 "RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=reloading",
                 (long long) (NsClockNow() / 1000));
        Send(text);
    }
    EndTurn();
}

void
NsNotifyReloaded(void)
{
    char text[16 + STATUS_SIZE], status[STATUS_SIZE];
    bool mustTell;

    if (!notify.isWanted) {
        return;
    }
    FormatStatus(status, notify.interval > 0);
    Ns_MutexLock(&notify.lock);
    BeginTurnLocked();
    NsAssert(notify.nReloads > 0);
    notify.nReloads--;
    mustTell = notify.nReloads == 0 && notify.isReloadPending
        && !notify.isStopping;
    if (mustTell) {
        notify.isReloadPending = false;
    }
    Ns_MutexUnlock(&notify.lock);
    if (mustTell) {
        snprintf(text, sizeof(text), "READY=1\nSTATUS=%s", status);
        Send(text);
    }
    EndTurn();
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

/*
 * From here on it is our turn to tell, without the lock, until EndTurn.
 */
static void
BeginTurnLocked(void)
{
    NsAssertLocked(&notify.lock);
    while (notify.isTelling) {
        Ns_CondWait(&notify.told, &notify.lock);
    }
    notify.isTelling = true;
}

static void
EndTurn(void)
{
    Ns_MutexLock(&notify.lock);
    NsAssert(notify.isTelling);
    notify.isTelling = false;
    Ns_CondSignal(&notify.told);
    Ns_MutexUnlock(&notify.lock);
}

static void
SendStop(const char *state, const char *status, NsStamp time)
{
    char text[160];

    if (!notify.isWanted) {
        return;
    }
    snprintf(text, sizeof(text), "%s\nEXTEND_TIMEOUT_USEC=%lld\nSTATUS=%s",
             state, (long long) (MAX(time, NS_STAMP_SECOND) / 1000), status);
    Ns_MutexLock(&notify.lock);
    BeginTurnLocked();
    notify.isStopping = true;
    Ns_MutexUnlock(&notify.lock);
    Send(text);
    EndTurn();
}

/*
 * Figures only where they are brought up to date.
 */
static void
FormatStatus(char *text, bool hasFigures)
{
    NsNotifyFigures figures = {0, 0, 0};
    time_t          begin = Ns_InfoBootTime();
    char            since[32];
    struct tm       parts;

    (void) localtime_r(&begin, &parts);
    (void) strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S", &parts);
    if (hasFigures && figuresProc != NULL) {
        figuresProc(&figures);
        snprintf(text, STATUS_SIZE,
                 "running since %s; requests running: %d, waiting: %d; "
                 "connections: %d",
                 since, figures.nRunning, figures.nWaiting,
                 figures.nConnections);
    } else {
        snprintf(text, STATUS_SIZE, "running since %s", since);
    }
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
        Ns_Log(Warning, "nsmain: cannot notify the service manager at %s: %s",
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
        if (notify.interval > 0) {
            TellLife();
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
 * A sign of life, with the status if that has changed.
 */
static void
TellLife(void)
{
    char text[32 + STATUS_SIZE], status[STATUS_SIZE];
    bool hasStatus;

    if (!IsAlive()) {
        return;
    }
    FormatStatus(status, true);
    Ns_MutexLock(&notify.lock);
    BeginTurnLocked();
    hasStatus = !notify.isStopping && notify.nReloads == 0
        && !STREQ(status, notify.status);
    Ns_MutexUnlock(&notify.lock);
    if (hasStatus) {
        snprintf(notify.status, sizeof(notify.status), "%s", status);
        snprintf(text, sizeof(text), "WATCHDOG=1\nSTATUS=%s", status);
    } else {
        snprintf(text, sizeof(text), "WATCHDOG=1");
    }
    Send(text);
    EndTurn();
}

/*
 * A stop has a limit of its own.  All are asked, also behind one that hangs.
 */
static bool
IsAlive(void)
{
    const char *hanging = NULL;

    if (NsInfoLife() == NS_LIFE_STOPPING) {
        return true;
    }
    for (int i = 0; i < nLives; i++) {
        if (!lives[i].proc()) {
            hanging = lives[i].what;
        }
    }
    notify.nMissed = hanging == NULL ? 0 : notify.nMissed + 1;
    if (notify.nMissed == SIGNS - 1) {
        Ns_Log(
            Error,
            "nsmain: no sign of life for the service manager: no response from "
            "%s",
            hanging);
    }
    return hanging == NULL;
}
