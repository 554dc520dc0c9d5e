/* SPDX-License-Identifier: MPL-2.0
 * notifier.c --
 *
 *      The notifier of Tcl's event loop: `fileevent`, `vwait`, `after`,
 *      messages between threads.
 *
 *      Tcl's own notifier uses select(), which ends the process when it meets a
 *      descriptor from FD_SETSIZE (1024) on.  A server has more than that.
 *
 *      Each thread waits for itself.  It needs a descriptor of its own only
 *      while it waits for others, and makes it then; when there is none to be
 *      had, it looks for alerts every SLICE_MS.  A thread that waits for time
 *      or messages alone sleeps on a semaphore.
 *
 *      AWAKE -> ALERTED: there is news, do not sleep.  AWAKE -> ASLEEP or
 *      POLLING -> ALERTED: whoever makes this change wakes the thread, once,
 *      and the thread waits for that wakeup even if its time was up first; so
 *      none is left for the next sleep.
 */

#include "tcl/notifier.h"

#include "base/assert.h"
#include "base/clock.h"
#include "nstcl.h"
#include "nsthread.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#define SLICE_MS 20

/*
 * As Tcl's internal header has it.  In Tcl's library it is the only other user
 * of select(); ours is found first.
 */
NS_EXTERN int TclUnixWaitForFile(int fd, int mask, int timeoutMs);

typedef struct Handler {
    int           fd;
    int           mask;      /* TCL_READABLE ... */
    int           readyMask; /* Of the event that is queued; 0: none. */
    Tcl_FileProc *proc;
    ClientData    clientData;
} Handler;

typedef enum {
    AWAKE,
    ALERTED,
    ASLEEP,  /* On the semaphore. */
    POLLING, /* With wakeFd. */
    SLICING  /* Without: looks at its state itself. */
} State;

typedef struct Notifier {
    Handler       *handlers; /* These are owned by the thread. */
    struct pollfd *polls;    /* One per handler, one more for wakeFd. */
    int            nHandlers;
    int            nRoom;
    int            wakeFd; /* -1: not made yet. */

    atomic_int state; /* Any thread. */
    sem_t      wakeup;
} Notifier;

typedef struct FileEvent {
    Tcl_Event header;
    int       fd;
} FileEvent;

static _Thread_local Notifier *selfPtr;
static const Tcl_Time          zero;

static Tcl_SetTimerProc          SetTimer;
static Tcl_WaitForEventProc      WaitForEvent;
static Tcl_CreateFileHandlerProc CreateHandler;
static Tcl_DeleteFileHandlerProc DeleteHandler;
static Tcl_InitNotifierProc      Init;
static Tcl_FinalizeNotifierProc  Finalize;
static Tcl_AlertNotifierProc     Alert;
static Tcl_ServiceModeHookProc   SetServiceMode;
static Tcl_EventProc             ServeFile;

static void     AfterFork(void);
static Handler *Find(int fd);
static void     Sleep(const Tcl_Time *limitPtr);
static void     FillPolls(void);
static void     Poll(const Tcl_Time *limitPtr);
static bool     BeginSleep(State state);
static bool     EndSleep(void);
static int      PollOnce(const Tcl_Time *limitPtr, bool hasWake);
static void     PollInSlices(const Tcl_Time *limitPtr);
static void     QueueReady(void);
static short    EventsOf(int mask);
static int      MaskOf(int events);

void
NsNotifierInstall(const char *executable)
{
    static const Tcl_NotifierProcs none;
    static Tcl_NotifierProcs       procs = {
              .setTimerProc = SetTimer,
              .waitForEventProc = WaitForEvent,
              .createFileHandlerProc = CreateHandler,
              .deleteFileHandlerProc = DeleteHandler,
              .initNotifierProc = Init,
              .finalizeNotifierProc = Finalize,
              .alertNotifierProc = Alert,
              .serviceModeHookProc = SetServiceMode};

    Tcl_SetNotifier(&procs);
    Tcl_FindExecutable(executable);
    if (selfPtr == NULL) {
        /* This thread has Tcl's; the two cannot live together. */
        Tcl_NotifierProcs original = none;

        Tcl_SetNotifier(&original);
        return;
    }
    (void) pthread_atfork(NULL, NULL, AfterFork);
}

/*
 * The descriptor is the parent's as well: an alert of one would wake the other.
 */
static void
AfterFork(void)
{
    if (selfPtr != NULL && selfPtr->wakeFd >= 0) {
        close(selfPtr->wakeFd);
        selfPtr->wakeFd = -1;
    }
}

static ClientData
Init(void)
{
    Notifier *notifierPtr = ns_calloc(1, sizeof(Notifier));

    notifierPtr->wakeFd = -1;
    sem_init(&notifierPtr->wakeup, 0, 0);
    selfPtr = notifierPtr;
    return notifierPtr;
}

/*
 * Tcl ensures that nobody alerts it afterwards.
 */
static void
Finalize(ClientData clientData)
{
    Notifier *notifierPtr = clientData;

    NsAssert(notifierPtr == selfPtr);
    selfPtr = NULL;
    if (notifierPtr->wakeFd >= 0) {
        close(notifierPtr->wakeFd);
    }
    sem_destroy(&notifierPtr->wakeup);
    ns_free(notifierPtr->handlers);
    ns_free(notifierPtr->polls);
    ns_free(notifierPtr);
}

/*
 * By any thread, and by signal handlers.
 */
static void
Alert(ClientData clientData)
{
    Notifier *notifierPtr = clientData;
    int       state = atomic_exchange(&notifierPtr->state, ALERTED);

    if (state == ASLEEP) {
        sem_post(&notifierPtr->wakeup);
    } else if (state == POLLING) {
        (void) eventfd_write(notifierPtr->wakeFd, 1);
    }
}

static void
CreateHandler(int fd, int mask, Tcl_FileProc *proc, ClientData clientData)
{
    Notifier *notifierPtr = selfPtr;
    Handler  *handlerPtr;

    NsAssert(notifierPtr != NULL && fd >= 0);
    handlerPtr = Find(fd);
    if (handlerPtr == NULL) {
        if (notifierPtr->nHandlers == notifierPtr->nRoom) {
            size_t n = (size_t) MAX(4, notifierPtr->nRoom * 2);

            notifierPtr->handlers = ns_realloc(notifierPtr->handlers,
                                               n * sizeof(Handler));
            notifierPtr->polls = ns_realloc(notifierPtr->polls,
                                            (n + 1) * sizeof(struct pollfd));
            notifierPtr->nRoom = (int) n;
        }
        handlerPtr = &notifierPtr->handlers[notifierPtr->nHandlers++];
        *handlerPtr = (Handler){.fd = fd};
    }
    handlerPtr->mask = mask;
    handlerPtr->proc = proc;
    handlerPtr->clientData = clientData;
}

static void
DeleteHandler(int fd)
{
    Handler *handlerPtr = Find(fd);

    if (handlerPtr != NULL) {
        *handlerPtr = selfPtr->handlers[--selfPtr->nHandlers];
    }
}

static Handler *
Find(int fd)
{
    for (int i = 0; selfPtr != NULL && i < selfPtr->nHandlers; i++) {
        if (selfPtr->handlers[i].fd == fd) {
            return &selfPtr->handlers[i];
        }
    }
    return NULL;
}

/*
 * Tcl reports the time of its next timer when it waits.
 */
static void
SetTimer(CONST86 Tcl_Time *timePtr)
{
}

static void
SetServiceMode(int mode)
{
}

/*
 * limitPtr NULL: without limit.
 */
static int
WaitForEvent(CONST86 Tcl_Time *limitPtr)
{
    bool mayWait = limitPtr == NULL || limitPtr->sec > 0 || limitPtr->usec > 0;

    NsAssert(selfPtr != NULL);
    if (!mayWait) {
        (void) EndSleep();
    }
    if (selfPtr->nHandlers > 0) {
        FillPolls();
        if (mayWait) {
            Poll(limitPtr);
        } else {
            (void) PollOnce(&zero, false);
        }
        QueueReady();
    } else if (mayWait) {
        Sleep(limitPtr);
    }
    return 0;
}

/*
 * False: an alert came before; it is dealt with now.
 */
static bool
BeginSleep(State state)
{
    int awake = AWAKE;

    if (!atomic_compare_exchange_strong(&selfPtr->state, &awake, state)) {
        NsAssert(awake == ALERTED);
        atomic_store(&selfPtr->state, AWAKE);
        return false;
    }
    return true;
}

/*
 * Whether an alert came meanwhile.
 */
static bool
EndSleep(void)
{
    return atomic_exchange(&selfPtr->state, AWAKE) == ALERTED;
}

static void
Sleep(const Tcl_Time *limitPtr)
{
    struct timespec until;
    bool            isWoken = false, isOver = false;

    if (!BeginSleep(ASLEEP)) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (limitPtr != NULL) {
        until.tv_sec += limitPtr->sec;
        until.tv_nsec += limitPtr->usec * 1000;
        if (until.tv_nsec >= NS_STAMP_SECOND) {
            until.tv_sec++;
            until.tv_nsec -= NS_STAMP_SECOND;
        }
    }
    while (!isWoken && !isOver) {
        int result = limitPtr == NULL
            ? sem_wait(&selfPtr->wakeup)
            : sem_clockwait(&selfPtr->wakeup, CLOCK_MONOTONIC, &until);

        isWoken = result == 0;
        isOver = !isWoken && errno == ETIMEDOUT;
        NsAssert(isWoken || isOver || errno == EINTR);
    }
    if (EndSleep() && !isWoken) {
        while (sem_wait(&selfPtr->wakeup) != 0) {
            NsAssert(errno == EINTR);
        }
    }
}

static void
FillPolls(void)
{
    for (int i = 0; i < selfPtr->nHandlers; i++) {
        selfPtr->polls[i] = (struct pollfd){
            .fd = selfPtr->handlers[i].fd,
            .events = EventsOf(selfPtr->handlers[i].mask)};
    }
}

static void
Poll(const Tcl_Time *limitPtr)
{
    eventfd_t count;

    if (selfPtr->wakeFd < 0) {
        selfPtr->wakeFd = eventfd(0, EFD_CLOEXEC);
    }
    if (selfPtr->wakeFd < 0) {
        PollInSlices(limitPtr);
    } else if (!BeginSleep(POLLING)) {
        (void) PollOnce(&zero, false);
    } else {
        (void) PollOnce(limitPtr, true);
        if (EndSleep()) {
            while (eventfd_read(selfPtr->wakeFd, &count) != 0) {
                NsAssert(errno == EINTR);
            }
        }
    }
}

/*
 * No descriptor is left for alerts.
 */
static void
PollInSlices(const Tcl_Time *limitPtr)
{
    static const Tcl_Time slice = {0, SLICE_MS * 1000};
    NsStamp               start = NsClockNow(), span = INT64_MAX;
    bool                  isOver = false;

    if (limitPtr != NULL) {
        span = NsClockFromTime(&(Ns_Time){limitPtr->sec, limitPtr->usec});
    }
    if (!BeginSleep(SLICING)) {
        (void) PollOnce(&zero, false);
        return;
    }
    while (!isOver && PollOnce(&slice, false) == 0) {
        isOver = atomic_load(&selfPtr->state) == ALERTED
            || NsClockNow() - start >= span;
    }
    (void) EndSleep();
}

/*
 * The number that are ready; -1 when a signal came.
 */
static int
PollOnce(const Tcl_Time *limitPtr, bool hasWake)
{
    int             n = selfPtr->nHandlers, nReady;
    struct timespec limit;

    selfPtr->polls[n] = (struct pollfd){
        .fd = selfPtr->wakeFd, .events = POLLIN};
    if (limitPtr != NULL) {
        limit = (struct timespec){limitPtr->sec, limitPtr->usec * 1000};
    }
    nReady = ppoll(selfPtr->polls, (nfds_t) (hasWake ? n + 1 : n),
                   limitPtr == NULL ? NULL : &limit, NULL);
    if (nReady < 0) {
        /* Nothing is known about any of them. */
        for (int i = 0; i <= n; i++) {
            selfPtr->polls[i].revents = 0;
        }
    }
    return nReady;
}

/*
 * An event for each handler that has none on its way.
 */
static void
QueueReady(void)
{
    for (int i = 0; i < selfPtr->nHandlers; i++) {
        Handler *handlerPtr = &selfPtr->handlers[i];
        int      mask = MaskOf(selfPtr->polls[i].revents) & handlerPtr->mask;

        if (mask == 0) {
            continue;
        }
        if (handlerPtr->readyMask == 0) {
            FileEvent *eventPtr = (FileEvent *) ckalloc(sizeof(FileEvent));

            eventPtr->header.proc = ServeFile;
            eventPtr->fd = handlerPtr->fd;
            Tcl_QueueEvent(&eventPtr->header, TCL_QUEUE_TAIL);
        }
        handlerPtr->readyMask = mask;
    }
}

/*
 * The handler may be gone, or another one by now, or its mask have shrunk.
 */
static int
ServeFile(Tcl_Event *headerPtr, int flags)
{
    Handler *handlerPtr;
    int      mask;

    if ((flags & TCL_FILE_EVENTS) == 0) {
        return 0;
    }
    handlerPtr = Find(((FileEvent *) headerPtr)->fd);
    if (handlerPtr != NULL) {
        mask = handlerPtr->readyMask & handlerPtr->mask;
        handlerPtr->readyMask = 0;
        if (mask != 0) {
            handlerPtr->proc(handlerPtr->clientData, mask);
        }
    }
    return 1;
}

static short
EventsOf(int mask)
{
    return (short) (((mask & TCL_READABLE) != 0 ? POLLIN : 0)
                    | ((mask & TCL_WRITABLE) != 0 ? POLLOUT : 0)
                    | ((mask & TCL_EXCEPTION) != 0 ? POLLPRI : 0));
}

/*
 * As select() sees it: what failed or was closed can be read and written, to
 * learn of it.
 */
static int
MaskOf(int events)
{
    int mask = 0;

    if ((events & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0) {
        mask |= TCL_READABLE;
    }
    if ((events & (POLLOUT | POLLERR | POLLNVAL)) != 0) {
        mask |= TCL_WRITABLE;
    }
    if ((events & POLLPRI) != 0) {
        mask |= TCL_EXCEPTION;
    }
    return mask;
}

/*
 * Wait until the descriptor is ready for one of mask, or the time is up
 * (timeoutMs < 0: never); for which it is ready.
 */
int
TclUnixWaitForFile(int fd, int mask, int timeoutMs)
{
    NsStamp       start = NsClockNow();
    struct pollfd ready = {.fd = fd, .events = EventsOf(mask)};
    int           restMs = timeoutMs, n;

    while ((n = poll(&ready, 1, restMs)) < 0 && errno == EINTR) {
        if (timeoutMs > 0) {
            NsStamp spentMs = (NsClockNow() - start) / (NS_STAMP_SECOND / 1000);

            restMs = (int) MAX(0, timeoutMs - spentMs);
        }
    }
    return n > 0 ? MaskOf(ready.revents) & mask : 0;
}
