/*
 * driver_thread.c --
 *
 *      The loop of driver and spooler threads: events, sockets that come back,
 *      time limits, and the end.
 *
 *      Nothing here grows with the number of idle connections: the poller
 *      reports which have something to read, the wheel which have waited long
 *      enough.
 */

#include "net/driver_int.h"
#include "net/message_int.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "base/assert.h"

#include <sched.h>

/*
 * When the server stops: how long a request that is on its way on an idle
 * connection may take to arrive, and how long an idle client may take to close.
 */
#define STOP_GRACE_NS  INT64_C(30000000)
#define LOOK_NS        INT64_C(50000000)    /* Not more often. */
#define STOP_LINGER_NS INT64_C(40000000)

static _Thread_local NsDriverThread *selfPtr;

static void DriverThread(void *arg);
static Ns_ArgProc DescribeThread;
static void HandleEvent(const NsPollEvent *eventPtr, void *arg);
static void TakeBack(NsInboxNode *nodePtr, void *arg);
static void TimeUp(NsWheelEntry *entryPtr, void *arg);
static void EndLastMoment(NsDriverThread *threadPtr, NsSock *sockPtr,
                          NsStamp now);
static void DestroySock(NsDriverThread *threadPtr, NsSock *sockPtr);
static void Drain(NsDriverThread *threadPtr, NsSock *sockPtr);
static void GoOnStopping(NsDriverThread *threadPtr);
static void BeginStop(NsDriverThread *threadPtr);
static void Hurry(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp limit);
static bool MayHandOver(const NsDriverThread *threadPtr);
static bool HasEnded(NsDriverThread *threadPtr);
static void Abandon(NsDriverThread *threadPtr);

static const NsLoopProcs loopProcs = {
    .eventProc = HandleEvent, .nodeProc = TakeBack, .timeProc = TimeUp
};

NsDriverThread *
NsDriverThreadSelf(void)
{
    return selfPtr;
}

/*
 * Else each arrival would interrupt one of those who work on what has arrived
 * before, for the sake of one more request in the queue: two switches each.
 */
void
NsDriverYield(void)
{
    if (selfPtr != NULL) {
        selfPtr->mustYield = true;
    }
}

NsDriverThread *
NsDriverThreadCreate(NsDriver *drvPtr, int index, bool isSpooler)
{
    NsDriverThread *threadPtr = ns_calloc(1u, sizeof(NsDriverThread));
    Ns_DString      ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s:%d", drvPtr->pub.module, index);
    threadPtr->name = Ns_DStringExport(&ds);
    threadPtr->drvPtr = drvPtr;
    threadPtr->index = index;
    threadPtr->isSpooler = isSpooler;
    threadPtr->reserveFd = -1;
    if (NsLoopInit(&threadPtr->loop, NsDriverPollerKind(), &loopProcs,
                   threadPtr) != NS_OK) {
        Ns_Fatal("%s: cannot create a poller: %s", drvPtr->pub.module,
                 strerror(errno));
    }
    threadPtr->peersPtr = NsPeerTableCreate();
    threadPtr->scratch = ns_malloc(NS_SCRATCH_BYTES);
    return threadPtr;
}

void
NsDriverThreadStart(NsDriverThread *threadPtr)
{
    Ns_RegisterProcInfo((void *) DriverThread, "ns:driverthread",
                        DescribeThread);
    Ns_ThreadCreate(DriverThread, threadPtr, 0, &threadPtr->thread);
}

void
NsSockAdopt(NsDriverThread *threadPtr, NsSock *sockPtr,
            NS_DRIVER_ACCEPT_STATUS status)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    NsStamp   now = NsClockNow();
    NsStamp   limit = NsLoopIsStopping(&threadPtr->loop) ? STOP_GRACE_NS
        : drvPtr->params.recvWait;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->messagePtr == NULL && sockPtr->jobPtr == NULL);
    NsSocksAppend(threadPtr, sockPtr);
    threadPtr->nSockets++;
    sockPtr->acceptStamp = now;
    sockPtr->mode = NS_SOCK_READING;
    atomic_store_explicit(&sockPtr->deadline, now + limit,
                          memory_order_relaxed);
    NsWheelSet(&threadPtr->loop.wheel, &sockPtr->wheelEntry, now + limit);
    if (status == NS_DRIVER_ACCEPT_QUEUE) {
        NsReadQueueUnread(threadPtr, sockPtr);
    } else if (status == NS_DRIVER_ACCEPT_DATA
               || drvPtr->params.deferAccept) {
        /* In either case data is there. */
        NsReadSock(threadPtr, sockPtr);
    } else {
        NsSockWatch(threadPtr, sockPtr);
    }
}

void
NsSockWatch(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    unsigned what = NS_POLL_READ | NS_POLL_EDGE;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->mode != NS_SOCK_DEAD);
    if (sockPtr->isRegistered) {
        NsPollerResume(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
        return;
    }
    if ((sockPtr->drvPtr->procs.opts & NS_DRIVER_SSL) != 0) {
        /* A TLS layer may have to write before it can read. */
        what |= NS_POLL_WRITE;
    }
    if (NsPollerAdd(threadPtr->loop.pollerPtr, sockPtr->pub.sock, what, sockPtr)
            == NS_OK) {
        sockPtr->isRegistered = true;
        return;
    }
    if (errno != EEXIST) {
        /* It exists when a datagram driver found nothing on its listener. */
        Ns_Log(Error, "%s: cannot watch a connection: %s",
               sockPtr->drvPtr->pub.module, strerror(errno));
    }
    sockPtr->mode = NS_SOCK_DEAD;
    if (threadPtr->isSpooler) {
        NsSockLeaveSpooler(threadPtr, sockPtr);
        NsInboxPut(&sockPtr->homePtr->loop.inbox, &sockPtr->inboxNode);
    } else {
        DestroySock(threadPtr, sockPtr);
    }
}

void
NsSockComeBack(NsDriverThread *threadPtr, NsSock *sockPtr, bool mustYield)
{
    NsSockAssertMine(threadPtr, sockPtr);
    if (sockPtr->mode == NS_SOCK_DEAD) {
        DestroySock(threadPtr, sockPtr);
    } else if (mustYield) {
        NsSockSetState(threadPtr, sockPtr, NS_SOCK_BUSY_EVENT);
        NsInboxPut(&threadPtr->loop.inbox, &sockPtr->inboxNode);
    } else if (sockPtr->mode == NS_SOCK_CLOSING) {
        Drain(threadPtr, sockPtr);
    } else {
        NsReadSock(threadPtr, sockPtr);
    }
}

static void
DestroySock(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    bool      closesItself = (drvPtr->procs.opts & NS_DRIVER_LINGER) == 0;

    NsAssert(!threadPtr->isSpooler && threadPtr->nSockets > 0);
    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->jobPtr == NULL && sockPtr->heldPtr == NULL);
    NsWheelCancel(&threadPtr->loop.wheel, &sockPtr->wheelEntry);
    NsSockForgetPartial(threadPtr, sockPtr);
    NsReaderDrop(sockPtr);
    NsSocksRemove(threadPtr, sockPtr);
    threadPtr->nSockets--;
    threadPtr->nLeaving -= sockPtr->isLeaving;
    NsAssert(threadPtr->nLeaving >= 0
             && threadPtr->nLeaving <= threadPtr->nSockets);

    /* epoll forgets a closed descriptor, unless it lives on elsewhere. */
    if (sockPtr->isRegistered && (closesItself || sockPtr->isTaken
            || !NsPollerIsAutomatic(threadPtr->loop.pollerPtr))) {
        NsPollerRemove(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
    }
    if (!sockPtr->isShut) {
        drvPtr->procs.closeProc(&sockPtr->pub);
    }
    if (!closesItself && sockPtr->pub.sock >= 0) {
        NsClose(sockPtr->pub.sock);
    }
    NsSlsFree(sockPtr);
    ns_free(sockPtr->clientData);
    ns_free(sockPtr);
    NsAcceptResume(threadPtr);
}

void
NsSockBecomeIdle(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsStamp now = NsClockNow();

    NsSockAssertMine(threadPtr, sockPtr);
    NsSocksTouch(threadPtr, sockPtr);
    NsSockForgetPartial(threadPtr, sockPtr);
    /* Until now it was that of the handshake. */
    atomic_store_explicit(&sockPtr->deadline, now
        + sockPtr->drvPtr->params.recvWait, memory_order_relaxed);
    if (threadPtr->hasStopped) {
        Hurry(threadPtr, sockPtr, now + STOP_GRACE_NS);
    }
}

void
NsSockEnterSpooler(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    int       turn = threadPtr->nextSpooler++ % drvPtr->params.nSpoolers;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(!threadPtr->isSpooler && sockPtr->messagePtr != NULL);
    atomic_fetch_add_explicit(&threadPtr->nSpooled, 1, memory_order_relaxed);
    (void) NsSockCountPartial(threadPtr, sockPtr);
    NsSocksTouch(threadPtr, sockPtr);
    if (sockPtr->isRegistered) {
        NsPollerRemove(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
        sockPtr->isRegistered = false;
    }
    NsWheelCancel(&threadPtr->loop.wheel, &sockPtr->wheelEntry);
    NsAssert(turn >= 0 && sockPtr->wheelEntry.nextPtr == NULL);
    NsSockSetState(threadPtr, sockPtr, NS_SOCK_BUSY_EVENT);
    NsInboxPut(&drvPtr->spoolers[turn]->loop.inbox, &sockPtr->inboxNode);
}

void
NsSockLeaveSpooler(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsAssert(threadPtr->isSpooler);
    NsSockAssertMine(threadPtr, sockPtr);
    if (sockPtr->isRegistered) {
        NsPollerRemove(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
        sockPtr->isRegistered = false;
    }
    NsWheelCancel(&threadPtr->loop.wheel, &sockPtr->wheelEntry);
}

int
NsSockCountPartial(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsAssert(threadPtr->peersPtr != NULL);
    if (sockPtr->isPartial) {
        return 0;
    }
    sockPtr->isPartial = true;
    return NsPeerTableAdd(threadPtr->peersPtr, sockPtr->peer);
}

void
NsSockForgetPartial(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    if (sockPtr->isPartial) {
        sockPtr->isPartial = false;
        NsPeerTableRemove(threadPtr->peersPtr, sockPtr->peer);
    }
}

NsStamp
NsSockShortestWait(const NsDriver *drvPtr)
{
    NsStamp keep = drvPtr->settings.keepWait, end = drvPtr->params.closeWait;

    if (keep == 0 && end == 0) {
        return NS_STAMP_SECOND;
    }
    keep = keep == 0 ? end : keep;
    end = end == 0 ? keep : end;
    return MAX(MIN(keep, end), LOOK_NS);
}

void
NsLogOncePerSecond(NsStamp *lastPtr, const char *format, ...)
{
    NsStamp now = NsClockNow();
    va_list args;

    if (*lastPtr != 0 && now - *lastPtr < NS_STAMP_SECOND) {
        return;
    }
    *lastPtr = now;
    va_start(args, format);
    Ns_VALog(Warning, format, &args);
    va_end(args);
}

static void
DriverThread(void *arg)
{
    NsDriverThread *threadPtr = arg;

    selfPtr = threadPtr;
    if (threadPtr->isSpooler) {
        Ns_ThreadSetName("-spooler%d-", threadPtr->index);
    } else if (threadPtr->drvPtr->params.nDriverThreads > 1) {
        Ns_ThreadSetName("-driver:%s-", threadPtr->name);
    } else {
        Ns_ThreadSetName("-driver:%s-", threadPtr->drvPtr->pub.module);
    }
    NsAssert(threadPtr->nSockets == 0 && threadPtr->scratch != NULL);
    NsMessageThreadBegin();
    if (!threadPtr->isSpooler) {
        NsAcceptStart(threadPtr);
    }
    while (!HasEnded(threadPtr)) {
        if (threadPtr->mustYield) {
            threadPtr->mustYield = false;
            sched_yield();
        }
        NsLoopTurn(&threadPtr->loop, atomic_load(&threadPtr->stopDeadline));
        if (NsLoopIsStopping(&threadPtr->loop)) {
            GoOnStopping(threadPtr);
        }
    }
    Abandon(threadPtr);
    NsMessageThreadEnd();
}

static void
GoOnStopping(NsDriverThread *threadPtr)
{
    if (!threadPtr->hasStopped) {
        BeginStop(threadPtr);
    }
    if (!threadPtr->isDrained && !threadPtr->isSpooler
            && !MayHandOver(threadPtr)) {
        threadPtr->isDrained = true;
        NsDriverNoteDrained();
    }
}

static void
HandleEvent(const NsPollEvent *eventPtr, void *arg)
{
    NsDriverThread *threadPtr = arg;
    NsSock         *sockPtr;
    int             state;

    if (NsListenerIsMarked(eventPtr->data)) {
        NsAcceptBatch(threadPtr, NsListenerUnmark(eventPtr->data));
        return;
    }
    sockPtr = eventPtr->data;
    if (!threadPtr->isSpooler) {
        state = atomic_load_explicit(&sockPtr->state, memory_order_acquire);
        if (state == NS_SOCK_BUSY) {
            state = NsSockLeaveBusy(sockPtr, NS_SOCK_BUSY_EVENT);
        }
        if (state != NS_SOCK_DRIVER) {
            /* Comes back through the inbox, and is read then. */
            return;
        }
    }
    if ((eventPtr->what & NS_POLL_HANGUP) != 0u) {
        sockPtr->sawHangup = true;
    }
    sockPtr->reportStamp = threadPtr->loop.stamp;
    NsSockComeBack(threadPtr, sockPtr, false);
}

static void
TakeBack(NsInboxNode *nodePtr, void *arg)
{
    NsDriverThread *threadPtr = arg;
    NsSock         *sockPtr = (NsSock *) ((char *) nodePtr
                                          - offsetof(NsSock, inboxNode));

    if (!threadPtr->isSpooler) {
        NsSockSetState(threadPtr, sockPtr, NS_SOCK_DRIVER);
        NsSockForgetPartial(threadPtr, sockPtr);
        NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry,
            atomic_load_explicit(&sockPtr->deadline, memory_order_relaxed));
        if (threadPtr->hasStopped && sockPtr->mode == NS_SOCK_READING) {
            Hurry(threadPtr, sockPtr, NsClockNow() + STOP_GRACE_NS);
        }
    }
    NsSockComeBack(threadPtr, sockPtr, false);
}

/*
 * The socket's limit may have moved since it was set in the wheel: other owners
 * of the socket move it, and cannot reach the wheel.
 */
static void
TimeUp(NsWheelEntry *entryPtr, void *arg)
{
    NsDriverThread *threadPtr = arg;
    NsSock  *sockPtr;
    NsStamp  now = NsClockNow();
    NsStamp  deadline;

    if (entryPtr == &threadPtr->retryEntry) {
        NsAcceptRetry(threadPtr);
        return;
    }
    sockPtr = (NsSock *) ((char *) entryPtr - offsetof(NsSock, wheelEntry));
    if (!threadPtr->isSpooler
            && atomic_load_explicit(&sockPtr->state, memory_order_acquire)
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
    if (threadPtr->isSpooler) {
        NsSockLeaveSpooler(threadPtr, sockPtr);
        sockPtr->mode = NS_SOCK_DEAD;
        NsInboxPut(&sockPtr->homePtr->loop.inbox, &sockPtr->inboxNode);
    } else if (threadPtr->hasStopped && sockPtr->mode == NS_SOCK_READING
               && NsReaderIsIdle(sockPtr)) {
        EndLastMoment(threadPtr, sockPtr, now);
    } else if (sockPtr->mode == NS_SOCK_READING && !NsReaderIsIdle(sockPtr)) {
        NsReadTimeUp(threadPtr, sockPtr);
    } else {
        DestroySock(threadPtr, sockPtr);
    }
}

/*
 * A request that came in time is served even if this thread was busy then.
 */
static void
EndLastMoment(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp now)
{
    if (NsReaderHasUnread(sockPtr)) {
        Hurry(threadPtr, sockPtr, now + STOP_GRACE_NS);
    } else {
        NsReaderDrop(sockPtr);
        NsSockBeginClose(sockPtr);
        atomic_store_explicit(&sockPtr->deadline, now + STOP_LINGER_NS,
                              memory_order_relaxed);
    }
    NsSockComeBack(threadPtr, sockPtr, false);
}

/*
 * Our side is shut: discard what the client still sends, until it closes too.
 */
static void
Drain(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    ssize_t   n = 1;

    NsAssert(sockPtr->mode == NS_SOCK_CLOSING);
    for (int i = 0; i < 16 && (n > 0 || errno == EINTR); i++) {
        n = recv(sockPtr->pub.sock, threadPtr->scratch, NS_SCRATCH_BYTES, 0);
    }
    if (n > 0) {
        /* Others first. */
        NsSockComeBack(threadPtr, sockPtr, true);
        return;
    }
    if (n == 0 || errno != EAGAIN) {
        DestroySock(threadPtr, sockPtr);
        return;
    }
    if (sockPtr->isLong && !threadPtr->hasStopped) {
        /* A client that sends its large body to the end, before it reads our
         * refusal: silence counts, but within a limit. */
        NsStamp now = NsClockNow();
        NsStamp last = sockPtr->acceptStamp + drvPtr->params.recvWait;

        atomic_store_explicit(&sockPtr->deadline,
            MIN(now + drvPtr->params.closeWait, last),
            memory_order_relaxed);
    }
    NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry,
        atomic_load_explicit(&sockPtr->deadline, memory_order_relaxed));
    NsSockWatch(threadPtr, sockPtr);
}

/*
 * The server stops: no new connections; idle ones get a last moment, in which a
 * request that is on its way is still served.
 */
static void
BeginStop(NsDriverThread *threadPtr)
{
    NsStamp limit = NsClockNow() + STOP_GRACE_NS;

    if (threadPtr->isSpooler) {
        threadPtr->hasStopped = true;
        return;
    }
    Ns_Log(Notice, "[driver:%s]: stopping", threadPtr->drvPtr->pub.module);
    NsAcceptStop(threadPtr);
    /* Unfinished heads have their time. */
    for (NsSock *sockPtr = threadPtr->others.firstPtr; sockPtr != NULL;
         sockPtr = sockPtr->nextPtr) {
        /* One that is busy is to come through the inbox: its thread may have
         * told the client to keep the connection. */
        if (NsSockLeaveBusy(sockPtr, NS_SOCK_BUSY_EVENT) == NS_SOCK_DRIVER) {
            Hurry(threadPtr, sockPtr, limit);
        }
    }
}

/*
 * A connection without a request has that time at most, and so has one that is
 * closing, unless its client may still send a body before it reads.
 */
static void
Hurry(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp limit)
{
    bool isIdle = sockPtr->mode == NS_SOCK_READING ? NsReaderIsIdle(sockPtr)
                                                   : !sockPtr->isLong;

    NsAssert(threadPtr->hasStopped);
    NsSockAssertMine(threadPtr, sockPtr);
    if (isIdle) {
        atomic_store_explicit(&sockPtr->deadline, limit, memory_order_relaxed);
        NsWheelSet(&threadPtr->loop.wheel, &sockPtr->wheelEntry, limit);
    }
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
                != NS_SOCK_DRIVER || sockPtr->mode == NS_SOCK_READING) {
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
    if (!threadPtr->isSpooler && threadPtr->nSockets == 0) {
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
                == NS_SOCK_DRIVER) {
            nUnfinished += sockPtr->mode == NS_SOCK_READING
                && !NsReaderIsIdle(sockPtr);
            DestroySock(threadPtr, sockPtr);
        }
        sockPtr = nextPtr;
    }
    if (nUnfinished > 0) {
        Ns_Log(Warning, "[driver:%s]: timeout, dropped %d requests that had"
               " not arrived completely", threadPtr->drvPtr->pub.module,
               nUnfinished);
    }
}

/*
 * The argument of DriverThread, for lists of threads.
 */
static void
DescribeThread(Ns_DString *dsPtr, void *arg)
{
    Tcl_DStringAppendElement(dsPtr, ((NsDriverThread *) arg)->name);
}
