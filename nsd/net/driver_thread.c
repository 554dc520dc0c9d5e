/* SPDX-License-Identifier: MPL-2.0
 * driver_thread.c --
 *
 *      The loop of driver threads: events, sockets that come back,
 *      time limits, and the end.
 *
 *      Nothing here grows with the number of idle connections: the poller
 *      reports which have something to read, the wheel which have waited long
 *      enough.
 */

#include "net/driver_thread.h"
#include "net/accept.h"
#include "net/driver_sock.h"
#include "net/h2session.h"
#include "net/h2tunnel.h"
#include "net/handover.h"
#include "net/makeroom.h"
#include "net/reader.h"
#include "net/readthread.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "nsprocess.h"
#include "base/assert.h"
#include "base/filewatch.h"
#include "process/restart.h"

#include <sched.h>

/*
 * When the server stops: how long an idle client may take to close.
 */
#define STOP_LINGER_NS INT64_C(40000000)

/*
 * Before the program is executed again: how long after its last reply a client
 * may send its next request.
 */
#define RESTART_GRACE_NS INT64_C(500000000)

/*
 * New connections of one turn: about a millisecond of handshakes.
 */
#define MAX_SET_UP 4

/*
 * The poller's data of what tells of changed files.
 */
static const int fileReports, mountReports;

static void    Run(NsDriverThread *threadPtr);
static void    HearOfFiles(NsDriverThread *threadPtr);
static void    Leave(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp since);
static void    Lose(NsDriverThread *threadPtr, NsSock *sockPtr);
static void    HandleEvent(const NsPollEvent *eventPtr, void *arg);
static void    TakeBack(NsInboxNode *nodePtr, void *arg);
static bool    IsSettingUp(const NsSock *sockPtr);
static void    PutOff(NsDriverThread *threadPtr, NsSock *sockPtr);
static void    TakePutOff(NsDriverThread *threadPtr, NsSock *sockPtr);
static void    PrepareDefer(NsDriverThread *threadPtr, const NsSock *sockPtr);
static void    EndDefer(void *arg);
static void    TimeUp(NsWheelEntry *entryPtr, void *arg);
static NsStamp StopLimit(const NsSock *sockPtr, NsStamp now);
static void    EndLastMoment(NsDriverThread *threadPtr, NsSock *sockPtr,
                             NsStamp now);
static void    GoOnStopping(NsDriverThread *threadPtr);
static void    StopTunnels(NsDriverThread *threadPtr);
static void    BeginStop(NsDriverThread *threadPtr);
static bool    MayHandOver(const NsDriverThread *threadPtr);
static bool    HasEnded(NsDriverThread *threadPtr);
static void    Abandon(NsDriverThread *threadPtr);

static const NsReadKind kind = {
    .ownState = NS_SOCK_DRIVER,
    .loopProcs = {.eventProc = HandleEvent,
                  .nodeProc = TakeBack,
                  .readyProc = EndDefer,
                  .timeProc = TimeUp},
    .runProc = Run,
    .leaveProc = Leave,
    .loseProc = Lose,
    .awaitProc = NsReadNoteProgress};

NsDriverThread *
NsDriverThreadCreate(NsDriver *drvPtr, int index)
{
    NsDriverThread *threadPtr = NsReadThreadCreate(drvPtr, index, &kind);

    threadPtr->nSpoolers = drvPtr->params.nSpoolers;
    return threadPtr;
}

static void
Run(NsDriverThread *threadPtr)
{
    Ns_ThreadSetName("-driver:%s-",
                     threadPtr->drvPtr->params.nDriverThreads > 1
                         ? threadPtr->name
                         : threadPtr->drvPtr->pub.module);
    HearOfFiles(threadPtr);
    NsAcceptStart(threadPtr);
    while (!HasEnded(threadPtr)) {
        if (threadPtr->mustYield) {
            threadPtr->mustYield = false;
            sched_yield();
        }
        threadPtr->nSetUp = 0;
        NsLoopTurn(&threadPtr->loop, atomic_load(&threadPtr->stopDeadline));
        NsAcceptResume(threadPtr);
        if (NsLoopIsStopping(&threadPtr->loop)) {
            GoOnStopping(threadPtr);
        }
    }
    Abandon(threadPtr);
    NsH2TunnelsFree(threadPtr);
    if (threadPtr->mountsFd >= 0) {
        close(threadPtr->mountsFd);
    }
}

/*
 * The order of arrival, on which requests rely, is epoll's.
 */
static void
HearOfFiles(NsDriverThread *threadPtr)
{
    NsPoller *pollerPtr = threadPtr->loop.pollerPtr;

    threadPtr->mountsFd = -1;
    if (NsFileWatchFd() < 0 || !NsPollerIsAutomatic(pollerPtr)) {
        return;
    }
    threadPtr->mountsFd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    threadPtr->hearsOfFiles = threadPtr->mountsFd >= 0
        && NsPollerAdd(pollerPtr, threadPtr->mountsFd, NS_POLL_URGENT,
                       (void *) &mountReports)
            == NS_OK
        && NsPollerAdd(pollerPtr, NsFileWatchFd(), NS_POLL_READ,
                       (void *) &fileReports)
            == NS_OK;
}

static void
Leave(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp since)
{
    NsSockForgetPartial(threadPtr, sockPtr);
    NsSocksTouch(threadPtr, sockPtr);
    NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry,
                     since + NsSockShortestWait(sockPtr->drvPtr));
}

static void
Lose(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsSocksTouch(threadPtr, sockPtr);
    NsReadComeBack(threadPtr, sockPtr, false);
}

static void
GoOnStopping(NsDriverThread *threadPtr)
{
    if (!threadPtr->hasStopped) {
        BeginStop(threadPtr);
    }
    if (!threadPtr->isDrained && !MayHandOver(threadPtr)) {
        threadPtr->isDrained = true;
        NsHandOverNoteDrained();
    }
    if (!threadPtr->hasDeadline && atomic_load(&threadPtr->stopDeadline) != 0) {
        threadPtr->hasDeadline = true;
        StopTunnels(threadPtr);
    }
}

/*
 * All that remains is to send what there is.
 */
static void
StopTunnels(NsDriverThread *threadPtr)
{
    for (NsSock *sockPtr = threadPtr->others.firstPtr; sockPtr != NULL;
         sockPtr = sockPtr->nextPtr) {
        if (atomic_load_explicit(&sockPtr->state, memory_order_acquire)
                == NS_SOCK_DRIVER
            && sockPtr->mode == NS_SOCK_SESSION) {
            NsH2StopTunnels(sockPtr);
        }
    }
}

static void
HandleEvent(const NsPollEvent *eventPtr, void *arg)
{
    NsDriverThread *threadPtr = arg;
    NsSock         *sockPtr;
    int             state;

    if (NsListenerIsMarked(eventPtr->data)) {
        NsHandOverEndDefer(threadPtr);
        NsAcceptBatch(threadPtr, NsListenerUnmark(eventPtr->data));
        return;
    }
    if (eventPtr->data == &fileReports) {
        NsFileWatchTake();
        return;
    }
    if (eventPtr->data == &mountReports) {
        NsFileWatchTakeAll();
        return;
    }
    if (NsH2TunnelIsMarked(eventPtr->data)) {
        NsHandOverEndDefer(threadPtr);
        NsH2TunnelHappened(threadPtr, eventPtr->data, eventPtr->what);
        return;
    }
    sockPtr = eventPtr->data;
    state = atomic_load_explicit(&sockPtr->state, memory_order_acquire);
    if (state == NS_SOCK_BUSY) {
        state = NsSockLeaveBusy(sockPtr, NS_SOCK_BUSY_EVENT);
    }
    if (state != NS_SOCK_DRIVER && !sockPtr->isPutOff) {
        /* Comes back through the inbox, and is read then. */
        return;
    }
    if ((eventPtr->what & NS_POLL_HANGUP) != 0u) {
        sockPtr->sawHangup = true;
    }
    if (sockPtr->isPutOff) {
        return;
    }
    if (IsSettingUp(sockPtr)) {
        PutOff(threadPtr, sockPtr);
        return;
    }
    PrepareDefer(threadPtr, sockPtr);
    sockPtr->report = (NsLook){
        .stamp = threadPtr->loop.stamp,
        .isInformed = threadPtr->hearsOfFiles && NsFileWatchIsQuiet()};
    NsReadComeBack(threadPtr, sockPtr, false);
}

/*
 * A handshake costs as much as dozens of requests.  However many clients begin
 * one, those whose connections are established come first, in each turn: new
 * ones pass through the inbox, a few per turn, in the order in which they came.
 */
static bool
IsSettingUp(const NsSock *sockPtr)
{
    return sockPtr->acceptStamp != 0 && sockPtr->messagePtr == NULL
        && sockPtr->mode == NS_SOCK_READING
        && sockPtr->drvPtr->procs.setupProc != NULL;
}

static void
PutOff(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    sockPtr->isPutOff = true;
    NsSockSetState(threadPtr, sockPtr, NS_SOCK_BUSY_EVENT);
    NsInboxPut(&threadPtr->loop.inbox, &sockPtr->inboxNode);
}

static void
TakePutOff(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    if (threadPtr->nSetUp == MAX_SET_UP) {
        /* In the next turn, which does not wait. */
        NsInboxPut(&threadPtr->loop.inbox, &sockPtr->inboxNode);
        return;
    }
    threadPtr->nSetUp++;
    sockPtr->isPutOff = false;
    NsSockSetState(threadPtr, sockPtr, NS_SOCK_DRIVER);
    PrepareDefer(threadPtr, sockPtr);
    NsReadComeBack(threadPtr, sockPtr, false);
}

/*
 * What a connection that was idle brings is soon read.  A handshake, or a body
 * on its way to disk, may take longer than others should have to wait.
 */
static void
PrepareDefer(NsDriverThread *threadPtr, const NsSock *sockPtr)
{
    if (sockPtr->acceptStamp == 0 && sockPtr->messagePtr == NULL) {
        NsHandOverBeginDefer(threadPtr);
    } else {
        NsHandOverEndDefer(threadPtr);
    }
}

/*
 * All events are handled.
 */
static void
EndDefer(void *arg)
{
    NsHandOverEndDefer(arg);
    NsH2TunnelsFree(arg);
}

static void
TakeBack(NsInboxNode *nodePtr, void *arg)
{
    NsDriverThread *threadPtr = arg;
    NsSock         *sockPtr = (NsSock *) ((char *) nodePtr
                                  - offsetof(NsSock, inboxNode));

    if (sockPtr->isPutOff) {
        TakePutOff(threadPtr, sockPtr);
        return;
    }
    NsHandOverEndDefer(threadPtr);
    if (sockPtr->mode == NS_SOCK_SESSION) {
        NsH2TakePost(sockPtr);
        NsReadComeBack(threadPtr, sockPtr, false);
        return;
    }
    NsSockSetState(threadPtr, sockPtr, NS_SOCK_DRIVER);
    NsSockForgetPartial(threadPtr, sockPtr);
    NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry,
                     atomic_load_explicit(&sockPtr->deadline,
                                          memory_order_relaxed));
    if (threadPtr->hasStopped && sockPtr->mode == NS_SOCK_READING) {
        NsSockHurry(threadPtr, sockPtr, StopLimit(sockPtr, NsClockNow()));
    }
    NsReadComeBack(threadPtr, sockPtr, false);
}

/*
 * The socket's limit may have moved since it was set in the wheel: other owners
 * of the socket move it, and cannot reach the wheel.
 */
static void
TimeUp(NsWheelEntry *entryPtr, void *arg)
{
    NsDriverThread *threadPtr = arg;
    NsSock         *sockPtr;
    NsStamp         now = NsClockNow();
    NsStamp         deadline;

    if (entryPtr == &threadPtr->retryEntry) {
        NsAcceptRetry(threadPtr);
        return;
    }
    sockPtr = (NsSock *) ((char *) entryPtr - offsetof(NsSock, wheelEntry));
    if (atomic_load_explicit(&sockPtr->state, memory_order_acquire)
        != NS_SOCK_DRIVER) {
        NsWheelSet(&threadPtr->loop.wheel, entryPtr,
                   now + NsSockShortestWait(sockPtr->drvPtr));
        return;
    }
    deadline = atomic_load_explicit(&sockPtr->deadline, memory_order_relaxed);
    if (now < deadline) {
        NsWheelSet(&threadPtr->loop.wheel, entryPtr, deadline);
        return;
    }
    NsSockAssertMine(threadPtr, sockPtr);
    if (sockPtr->mode == NS_SOCK_SESSION) {
        if (!NsH2TimeUp(threadPtr, sockPtr)) {
            NsReadComeBack(threadPtr, sockPtr, false);
        }
    } else if (threadPtr->hasStopped && sockPtr->mode == NS_SOCK_READING
               && NsSockIsIdle(sockPtr)) {
        EndLastMoment(threadPtr, sockPtr, now);
    } else if (sockPtr->mode == NS_SOCK_READING && !NsSockIsIdle(sockPtr)) {
        NsReadTimeUp(threadPtr, sockPtr);
    } else {
        NsSockDestroy(threadPtr, sockPtr);
    }
}

/*
 * A request that came in time is served even if this thread was busy then.
 */
static void
EndLastMoment(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp now)
{
    if (NsSockHasUnread(sockPtr)) {
        NsSockHurry(threadPtr, sockPtr, now + NS_STOP_GRACE);
    } else {
        NsSockDropRequest(sockPtr);
        NsSockBeginClose(sockPtr);
        atomic_store_explicit(&sockPtr->deadline, now + STOP_LINGER_NS,
                              memory_order_relaxed);
    }
    NsReadComeBack(threadPtr, sockPtr, false);
}

/*
 * The server stops: no new connections; idle ones get a last moment, in which a
 * request that is on its way is still served.
 */
static void
BeginStop(NsDriverThread *threadPtr)
{
    NsStamp now = NsClockNow();

    NsAcceptStop(threadPtr);
    Ns_Log(Notice, "[driver:%s]: stopping", threadPtr->drvPtr->pub.module);
    /* Unfinished heads have their time. */
    for (NsSock *sockPtr = threadPtr->others.firstPtr; sockPtr != NULL;
         sockPtr = sockPtr->nextPtr) {
        /* One that is busy is to come through the inbox: its thread may have
         * told the client to keep the connection. */
        if (NsSockLeaveBusy(sockPtr, NS_SOCK_BUSY_EVENT) == NS_SOCK_DRIVER) {
            if (sockPtr->mode == NS_SOCK_SESSION) {
                NsH2Stop(threadPtr, sockPtr);
            } else {
                NsSockHurry(threadPtr, sockPtr, StopLimit(sockPtr, now));
            }
        }
    }
}

/*
 * Until when an idle connection may bring a request.  If the program is about
 * to be executed again, clients that are at work should not see it: one that
 * has just had a reply gets longer for its next request, whose reply then tells
 * it to connect anew.
 */
static NsStamp
StopLimit(const NsSock *sockPtr, NsStamp now)
{
    NsStamp limit = now + NS_STOP_GRACE;

    if (sockPtr->mode == NS_SOCK_READING && sockPtr->acceptStamp == 0
        && NsSockIsIdle(sockPtr) && NsRestartIsWanted()) {
        NsStamp end = NsSockKeptSince(sockPtr) + RESTART_GRACE_NS;

        if (end > limit && end <= now + RESTART_GRACE_NS) {
            limit = end;
        }
    }
    return limit;
}

/*
 * A connection that is not closing may bring a request, also one that another
 * thread has, which may have told the client to keep it.
 */
static bool
MayHandOver(const NsDriverThread *threadPtr)
{
    if (threadPtr->heads.firstPtr != NULL) {
        return true;
    }
    for (const NsSock *sockPtr = threadPtr->others.firstPtr; sockPtr != NULL;
         sockPtr = sockPtr->nextPtr) {
        if (atomic_load_explicit(&sockPtr->state, memory_order_acquire)
                != NS_SOCK_DRIVER
            || sockPtr->mode == NS_SOCK_READING
            || (sockPtr->mode == NS_SOCK_SESSION && NsH2MayHandOver(sockPtr))) {
            return true;
        }
    }
    return false;
}

static bool
HasEnded(NsDriverThread *threadPtr)
{
    NsStamp deadline;

    if (!threadPtr->hasStopped) {
        return false;
    }
    if (threadPtr->nSockets == 0) {
        return true;
    }
    deadline = atomic_load(&threadPtr->stopDeadline);
    return deadline != 0 && NsClockNow() >= deadline;
}

/*
 * Close what is left at the deadline, except what another thread holds, which
 * is named by that.
 */
static void
Abandon(NsDriverThread *threadPtr)
{
    NsSock *sockPtr;
    int     nUnfinished = 0;

    NsAssert(threadPtr->hasStopped);
    while (threadPtr->heads.firstPtr != NULL) {
        NsSocksTouch(threadPtr, threadPtr->heads.firstPtr);
    }
    sockPtr = threadPtr->others.firstPtr;
    while (sockPtr != NULL) {
        NsSock *nextPtr = sockPtr->nextPtr;

        if (atomic_load_explicit(&sockPtr->state, memory_order_acquire)
                == NS_SOCK_DRIVER
            && (sockPtr->mode != NS_SOCK_SESSION || NsH2Abandon(sockPtr))) {
            nUnfinished += sockPtr->mode == NS_SOCK_READING
                && !NsSockIsIdle(sockPtr);
            NsSockDestroy(threadPtr, sockPtr);
        }
        sockPtr = nextPtr;
    }
    if (nUnfinished > 0) {
        Ns_Log(Warning,
               "%s: timeout: dropped %d requests that had not"
               " arrived completely",
               threadPtr->drvPtr->pub.module, nUnfinished);
    }
}
