/* SPDX-License-Identifier: MPL-2.0
 * accept.c --
 *
 *      New connections.
 *
 *      When a driver thread has as many sockets as `maxqueuesize` allows, it
 *      closes one for each client that waits, an idle one, or that of an old
 *      unfinished request; if there is neither, clients wait.  When the process
 *      has no descriptor left, it gives up a reserved one to accept and to
 *      refuse with 503, a few at a time, and closes idle ones, until
 *      descriptors are there again.
 */

#include "net/accept.h"
#include "net/driver_sock.h"
#include "net/makeroom.h"
#include "net/reader.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "nssocket.h"

#ifdef __linux__
#include "process/restart.h"

#include <linux/filter.h>
#endif

/*
 * Out of descriptors or of room: how often to look again; and how many to
 * refuse and how many idle connections to close then, for the lack of
 * descriptors.
 */
#define RETRY_NS     INT64_C(100000000)
#define MAX_REFUSALS 32
#define MAX_LEAVING  32

/*
 * At the stop: how long nobody may come before it is over, and at most; the
 * listeners that are watched for it.
 */
#define LAST_CALL_MS       5
#define LAST_CALL_MAX_NS   INT64_C(30000000)
#define MAX_LAST_LISTENERS 64

static void IgnoreNew(int listenFd);
static bool IsAnyComing(const NsDriverThread *threadPtr);
static bool AcceptOne(NsDriverThread *threadPtr, int listenFd);
static void NoteMany(NsDriverThread *threadPtr, int n);
static void Adopt(NsDriverThread *threadPtr, NsSock *sockPtr,
                  NS_DRIVER_ACCEPT_STATUS status);
static void Starve(NsDriverThread *threadPtr, int listenFd, int reason);
static void Refuse(NsDriverThread *threadPtr, int listenFd);
static bool HasReserve(NsDriverThread *threadPtr);
static void Listen(NsDriverThread *threadPtr);
static void Ignore(NsDriverThread *threadPtr, int n);
static void IgnoreAll(NsDriverThread *threadPtr);
static void RetryLater(NsDriverThread *threadPtr);
static void HandOver(NsDriverThread *threadPtr);
static void StopListening(NsDriverThread *threadPtr);
static bool HasRoom(NsDriverThread *threadPtr, int listenFd);
static bool IsFull(const NsDriverThread *threadPtr);
static bool IsAnyWaiting(int listenFd);

void
NsAcceptStart(NsDriverThread *threadPtr)
{
    (void) HasReserve(threadPtr);
    Listen(threadPtr);
}

void
NsAcceptBatch(NsDriverThread *threadPtr, NsListener *listenerPtr)
{
    const NsDriverParams *paramsPtr = &threadPtr->drvPtr->params;
    int                   n = 0;

    while (n < paramsPtr->acceptSize && HasRoom(threadPtr, listenerPtr->fd)
           && AcceptOne(threadPtr, listenerPtr->fd)) {
        n++;
    }
    if (paramsPtr->acceptLog > 0 && n >= paramsPtr->acceptLog) {
        NoteMany(threadPtr, n);
    }
}

/*
 * At most once per second.
 */
static void
NoteMany(NsDriverThread *threadPtr, int n)
{
    NsStamp now = NsClockNow();

    if (threadPtr->acceptLogStamp == 0
        || now - threadPtr->acceptLogStamp >= NS_STAMP_SECOND) {
        threadPtr->acceptLogStamp = now;
        Ns_Log(Notice, "%s: %d connections accepted in one turn",
               threadPtr->name, n);
    }
}

void
NsAcceptResume(NsDriverThread *threadPtr)
{
    if (!threadPtr->isListening && !threadPtr->hasStopped
        && !threadPtr->isStarved && !IsFull(threadPtr)) {
        Listen(threadPtr);
    }
}

void
NsAcceptRetry(NsDriverThread *threadPtr)
{
    /* The first descriptor that is free is the reserve: a client that got it
     * might keep it, and no other would be answered. */
    if (!HasReserve(threadPtr)) {
        RetryLater(threadPtr);
        return;
    }
    threadPtr->isStarved = false;
    if (!threadPtr->isListening && !threadPtr->hasStopped) {
        Listen(threadPtr);
    }
}

void
NsAcceptStop(NsDriverThread *threadPtr)
{
    NsStamp end = NsClockNow() + LAST_CALL_MAX_NS;

    if (NsRestartIsWanted()) {
        HandOver(threadPtr);
        return;
    }
    /* Closing would reset what the kernel has accepted already. */
    for (int i = 0; i < threadPtr->nListeners; i++) {
        IgnoreNew(threadPtr->listeners[i].fd);
    }
    do {
        for (int i = 0; i < threadPtr->nListeners; i++) {
            while (!threadPtr->isStarved
                   && AcceptOne(threadPtr, threadPtr->listeners[i].fd)) {
                continue;
            }
        }
    } while (!threadPtr->isStarved && IsAnyComing(threadPtr)
             && NsClockNow() < end);
    StopListening(threadPtr);
    for (int i = 0; i < threadPtr->nListeners; i++) {
        if (!threadPtr->listeners[i].isShared) {
            close(threadPtr->listeners[i].fd);
        }
    }
}

/*
 * Who connects from now on waits for the process that comes.
 */
static void
HandOver(NsDriverThread *threadPtr)
{
    StopListening(threadPtr);
    for (int i = 0; i < threadPtr->nListeners; i++) {
        if (!threadPtr->listeners[i].isShared) {
            NsRestartKeep(threadPtr->listeners[i].fd);
        }
    }
}

static void
StopListening(NsDriverThread *threadPtr)
{
    IgnoreAll(threadPtr);
    threadPtr->hasStopped = true;
    if (threadPtr->reserveFd >= 0) {
        close(threadPtr->reserveFd);
        threadPtr->reserveFd = -1;
    }
}

/*
 * From now on the kernel drops the first packet of whoever wants to connect,
 * without an answer; who has begun to can still end that.  Who is dropped tries
 * again after a second, and then finds the next server that listens on the
 * port, or that nobody does.
 */
static void
IgnoreNew(int listenFd)
{
#ifdef __linux__
    /* Of the TCP header, RFC 9293, section 3.1: SYN and not ACK. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};
    struct sock_fprog program = {.len = Ns_NrElements(code), .filter = code};
    int               protocol = 0;
    socklen_t         length = sizeof(protocol);

    if (getsockopt(listenFd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0
        && protocol == IPPROTO_TCP) {
        /* Without it, one that comes just before the close is reset. */
        (void) setsockopt(listenFd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
                          sizeof(program));
    }
#endif
}

/*
 * Wait a moment for who has begun to connect.
 */
static bool
IsAnyComing(const NsDriverThread *threadPtr)
{
    struct pollfd pollers[MAX_LAST_LISTENERS];
    int           n = MIN(threadPtr->nListeners, MAX_LAST_LISTENERS);

    for (int i = 0; i < n; i++) {
        pollers[i] = (struct pollfd){
            .fd = threadPtr->listeners[i].fd, .events = POLLIN};
    }
    return poll(pollers, (nfds_t) n, LAST_CALL_MS) > 0;
}

/*
 * Accept one connection; false if there is none.
 */
static bool
AcceptOne(NsDriverThread *threadPtr, int listenFd)
{
    NsDriver               *drvPtr = threadPtr->drvPtr;
    NsSock                 *sockPtr = ns_calloc(1u, sizeof(NsSock));
    struct sockaddr_storage address;
    int                     length = (int) sizeof(address);
    bool                    isShared;
    NS_DRIVER_ACCEPT_STATUS status;

    sockPtr->pub.driver = &drvPtr->pub;
    sockPtr->pub.sock = NS_INVALID_SOCKET;
    sockPtr->drvPtr = drvPtr;
    sockPtr->homePtr = threadPtr;
    address.ss_family = AF_UNSPEC;
    errno = 0;
    status = drvPtr->procs.acceptProc(&sockPtr->pub, listenFd,
                                      (struct sockaddr *) &address, &length);
    if (status == NS_DRIVER_ACCEPT_ERROR) {
        int reason = errno;

        NsSockDropRequest(sockPtr);
        ns_free(sockPtr);
        if (reason == EMFILE || reason == ENFILE || reason == ENOBUFS
            || reason == ENOMEM) {
            Starve(threadPtr, listenFd, reason);
        }
        /* A client that left while it waited; the next may still be there. */
        return reason == ECONNABORTED || reason == EINTR || reason == EPROTO;
    }
    /* A datagram driver has no other socket: one at a time. */
    isShared = sockPtr->pub.sock == listenFd;
    sockPtr->isShared = isShared;
    if (address.ss_family == AF_INET || address.ss_family == AF_INET6) {
        memcpy(&sockPtr->pub.later_sa, &address, sizeof(sockPtr->pub.later_sa));
    }
    NsSockNotePeer(sockPtr);
    if (drvPtr->settings.proxyProtocol != 0 && !isShared
        && (drvPtr->procs.opts & (NS_DRIVER_NOPARSE | NS_DRIVER_QUEUE_ONREAD))
            == 0) {
        sockPtr->proxyState = NS_PROXY_AWAITED;
    }
    atomic_init(&sockPtr->state, NS_SOCK_DRIVER);
    Adopt(threadPtr, sockPtr, status);
    return !isShared;
}

static void
Adopt(NsDriverThread *threadPtr, NsSock *sockPtr,
      NS_DRIVER_ACCEPT_STATUS status)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    NsStamp   now = NsClockNow();
    NsStamp   limit = NsLoopIsStopping(&threadPtr->loop)
          ? NS_STOP_GRACE
          : drvPtr->params.recvWait;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->jobPtr == NULL);
    NsSocksAppend(threadPtr, sockPtr);
    (void) atomic_fetch_add_explicit(&threadPtr->nSockets, 1,
                                     memory_order_relaxed);
    sockPtr->acceptStamp = now;
    sockPtr->mode = NS_SOCK_READING;
    atomic_store_explicit(&sockPtr->deadline, now + limit,
                          memory_order_relaxed);
    NsWheelSet(&threadPtr->loop.wheel, &sockPtr->wheelEntry, now + limit);
    if (status == NS_DRIVER_ACCEPT_QUEUE) {
        NsReadQueueUnread(threadPtr, sockPtr);
    } else if (drvPtr->procs.setupProc == NULL
               && (status == NS_DRIVER_ACCEPT_DATA || drvPtr->params.deferAccept
                   || sockPtr->isShared)) {
        /* In each case data is there. */
        NsReadSock(threadPtr, sockPtr);
    } else {
        NsSockWatch(threadPtr, sockPtr);
    }
}

/*
 * The process is out of descriptors: stop accepting for a moment, and answer
 * those who wait.
 */
static void
Starve(NsDriverThread *threadPtr, int listenFd, int reason)
{
    NsLogOncePerSecond(&threadPtr->starveStamp,
                       "%s: cannot accept connections: %s",
                       threadPtr->drvPtr->pub.module, strerror(reason));
    threadPtr->isStarved = true;
    for (int i = 0; i < MAX_REFUSALS && threadPtr->reserveFd >= 0; i++) {
        Refuse(threadPtr, listenFd);
    }
    (void) HasReserve(threadPtr);
    /* Those who come later find the descriptors of these. */
    while (threadPtr->nLeaving < MAX_LEAVING
           && NsSocksMakeRoom(threadPtr) != NULL) {
        continue;
    }
    IgnoreAll(threadPtr);
    RetryLater(threadPtr);
}

/*
 * Whether there is a reserve, which is taken here alone: at the start, and when
 * it has been given up; another thread may have its descriptor by then.
 */
static bool
HasReserve(NsDriverThread *threadPtr)
{
    if (threadPtr->reserveFd < 0) {
        threadPtr->reserveFd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    return threadPtr->reserveFd >= 0;
}

/*
 * Use the reserved descriptor for one connection that is turned away.
 */
static void
Refuse(NsDriverThread *threadPtr, int listenFd)
{
    static const char reply[] = "HTTP/1.1 503 Service Unavailable\r\n"
                                "Connection: close\r\n"
                                "Content-Length: 0\r\n\r\n";
    int               fd;

    close(threadPtr->reserveFd);
    threadPtr->reserveFd = -1;
    fd = accept4(listenFd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    atomic_fetch_add_explicit(&threadPtr->nRefused, 1, memory_order_relaxed);
    NsDriverCountRefusal(threadPtr, 503);
    if ((threadPtr->drvPtr->procs.opts & NS_DRIVER_SSL) == 0) {
        ssize_t n = send(fd, reply, sizeof(reply) - 1u, MSG_NOSIGNAL);

        /* Read what is there, lest closing resets the connection. */
        shutdown(fd, SHUT_WR);
        if (n > 0) {
            n = recv(fd, threadPtr->scratch, NS_SCRATCH_BYTES, 0);
        }
    }
    close(fd);
    (void) HasReserve(threadPtr);
}

/*
 * Watch the listeners.  If the system refuses to, try again in a moment: nobody
 * else would.
 */
static void
Listen(NsDriverThread *threadPtr)
{
    for (int i = 0; i < threadPtr->nListeners; i++) {
        NsListener *listenerPtr = &threadPtr->listeners[i];

        if (NsPollerAdd(threadPtr->loop.pollerPtr, listenerPtr->fd,
                        NS_POLL_READ, NsListenerMark(listenerPtr))
            != NS_OK) {
            NsLogOncePerSecond(&threadPtr->starveStamp,
                               "%s: cannot watch the listening socket: %s",
                               threadPtr->drvPtr->pub.module, strerror(errno));
            Ignore(threadPtr, i);
            threadPtr->isStarved = true;
            RetryLater(threadPtr);
            return;
        }
    }
    threadPtr->isListening = true;
}

/*
 * Watch the first so many of them no more.
 */
static void
Ignore(NsDriverThread *threadPtr, int n)
{
    for (int i = 0; i < n; i++) {
        NsPollerRemove(threadPtr->loop.pollerPtr, threadPtr->listeners[i].fd);
    }
    threadPtr->isListening = false;
}

static void
IgnoreAll(NsDriverThread *threadPtr)
{
    if (threadPtr->isListening) {
        Ignore(threadPtr, threadPtr->nListeners);
    }
}

static void
RetryLater(NsDriverThread *threadPtr)
{
    NsWheelSet(&threadPtr->loop.wheel, &threadPtr->retryEntry,
               NsClockNow() + RETRY_NS);
}

/*
 * True when one more may be accepted, if need be because another has to go.
 */
static bool
HasRoom(NsDriverThread *threadPtr, int listenFd)
{
    const NsDriver *drvPtr = threadPtr->drvPtr;
    const char     *closed;

    if (!IsFull(threadPtr)) {
        return true;
    }
    if (!IsAnyWaiting(listenFd)) {
        return false;
    }
    closed = NsSocksMakeRoom(threadPtr);
    NsLogOncePerSecond(
        &threadPtr->fullStamp,
        "%s: as many connections as maxqueuesize allows (%d): %s",
        drvPtr->pub.module, drvPtr->params.maxQueueSize,
        closed != NULL ? closed : "new clients wait");
    if (closed == NULL) {
        IgnoreAll(threadPtr);
        RetryLater(threadPtr);
    }
    return closed != NULL;
}

static bool
IsFull(const NsDriverThread *threadPtr)
{
    return threadPtr->nSockets - threadPtr->nLeaving
        >= NsDriverThreadLimit(threadPtr);
}

static bool
IsAnyWaiting(int listenFd)
{
    struct pollfd poller = {.fd = listenFd, .events = POLLIN};

    return poll(&poller, 1u, 0) > 0;
}
