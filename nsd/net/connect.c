/* SPDX-License-Identifier: MPL-2.0
 * connect.c --
 *
 *      Connecting to a host that may have several addresses.
 *
 *      The descriptor to wait for is an epoll instance that holds the sockets
 *      of all attempts.  When one of them is connected, it gets the number of
 *      that instance: whoever waits for a number need not learn of another.
 */

#include "net/connect.h"

#include "net/listen.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"

#include <sys/epoll.h>

typedef struct Attempt {
    NsSockAddr addr;
    NS_SOCKET  sock; /* NS_INVALID_SOCKET: not begun, or
                      * failed. */
} Attempt;

/*
 * Owned by one thread at a time.
 */
struct NsConnector {
    char       *host;        /* Constant. */
    int         port;        /* Constant. */
    NsSockAddr *locals;      /* Constant; to connect from. */
    int         nLocals;     /* 0: anywhere. */
    bool        isStaggered; /* Constant. */
    int         fd;          /* -1: taken. */
    int         nAddresses;  /* Constant. */
    int         nBegun;
    int         nPending;
    NsStamp     lastStamp; /* The last attempt began. */
    NS_SOCKET   connectedSock;
    int         error; /* Of the attempt that failed last. */
    Attempt     attempts[];
};

static bool ResolveLocal(NsConnector         *connectorPtr,
                         const NsConnectSpec *specPtr);
static void LookAtPending(NsConnector *connectorPtr);
static void Begin(NsConnector *connectorPtr, int index);
static bool BindTo(const NsConnector *connectorPtr, NS_SOCKET sock, int family);
static void NoteConnected(NsConnector *connectorPtr, Attempt *attemptPtr);
static void NoteFailed(NsConnector *connectorPtr, int index, int error);
static NS_SOCKET Rename(NsConnector *connectorPtr, NS_SOCKET sock);

NsConnector *
NsConnectorCreate(const NsConnectSpec *specPtr)
{
    NsSockAddr  *addrs;
    NsConnector *connectorPtr;
    int          n = NsSockAddrResolveAll(specPtr->host, specPtr->port, &addrs);

    if (n == 0) {
        errno = 0;
        return NULL;
    }
    connectorPtr =
        ns_calloc(1u, sizeof(NsConnector) + (size_t) n * sizeof(Attempt));
    for (int i = 0; i < n; i++) {
        connectorPtr->attempts[i].addr = addrs[i];
        connectorPtr->attempts[i].sock = NS_INVALID_SOCKET;
    }
    ns_free(addrs);
    connectorPtr->nAddresses = n;
    connectorPtr->connectedSock = NS_INVALID_SOCKET;
    connectorPtr->host = ns_strdup(specPtr->host);
    connectorPtr->port = specPtr->port;
    /* Two sockets cannot have one local port. */
    connectorPtr->isStaggered = specPtr->localPort == 0;
    connectorPtr->fd = -1;
    if (!ResolveLocal(connectorPtr, specPtr)) {
        NsConnectorDestroy(&connectorPtr);
        errno = 0;
        return NULL;
    }
    connectorPtr->fd = epoll_create1(EPOLL_CLOEXEC);
    if (connectorPtr->fd < 0) {
        int reason = errno;

        NsConnectorDestroy(&connectorPtr);
        errno = reason;
    }
    return connectorPtr;
}

static bool
ResolveLocal(NsConnector *connectorPtr, const NsConnectSpec *specPtr)
{
    if (specPtr->localHost == NULL && specPtr->localPort == 0) {
        return true;
    }
    connectorPtr->nLocals = NsSockAddrResolveAll(specPtr->localHost,
                                                 specPtr->localPort,
                                                 &connectorPtr->locals);
    return connectorPtr->nLocals > 0;
}

void
NsConnectorDestroy(NsConnector **connectorPtrPtr)
{
    NsConnector *connectorPtr = *connectorPtrPtr;

    *connectorPtrPtr = NULL;
    for (int i = 0; i < connectorPtr->nAddresses; i++) {
        if (connectorPtr->attempts[i].sock != NS_INVALID_SOCKET) {
            close(connectorPtr->attempts[i].sock);
        }
    }
    if (connectorPtr->connectedSock != NS_INVALID_SOCKET) {
        close(connectorPtr->connectedSock);
    }
    if (connectorPtr->fd >= 0) {
        close(connectorPtr->fd);
    }
    ns_free(connectorPtr->locals);
    ns_free(connectorPtr->host);
    ns_free(connectorPtr);
}

int
NsConnectorFd(const NsConnector *connectorPtr)
{
    return connectorPtr->fd;
}

NsStamp
NsConnectorLastStamp(const NsConnector *connectorPtr)
{
    return connectorPtr->lastStamp;
}

void
NsConnectorReplace(NsConnector *connectorPtr, int fd)
{
    int own = connectorPtr->fd;

    NsAssert(own >= 0 && own != fd && connectorPtr->nBegun == 0);
    connectorPtr->fd = fd;
    /* In one step: nobody else gets the number in between. */
    while (dup3(own, fd, O_CLOEXEC) < 0) {
        NsAssert(errno == EBUSY || errno == EINTR);
    }
    NsClose(own);
}

NsConnectStatus
NsConnectorGoOn(NsConnector *connectorPtr, NsStamp *againPtr)
{
    NsStamp now = NsClockNow();

    LookAtPending(connectorPtr);
    while (connectorPtr->connectedSock == NS_INVALID_SOCKET
           && connectorPtr->nBegun < connectorPtr->nAddresses
           && (connectorPtr->nPending == 0
               || (connectorPtr->isStaggered
                   && now - connectorPtr->lastStamp >= NS_CONNECT_DELAY))) {
        connectorPtr->lastStamp = now;
        Begin(connectorPtr, connectorPtr->nBegun++);
    }
    if (connectorPtr->connectedSock != NS_INVALID_SOCKET) {
        return NS_CONNECT_DONE;
    }
    if (connectorPtr->nPending == 0) {
        errno = connectorPtr->error;
        return NS_CONNECT_FAILED;
    }
    *againPtr = connectorPtr->isStaggered
            && connectorPtr->nBegun < connectorPtr->nAddresses
        ? connectorPtr->lastStamp + NS_CONNECT_DELAY
        : 0;
    return NS_CONNECT_WAIT;
}

static void
LookAtPending(NsConnector *connectorPtr)
{
    for (int i = 0; i < connectorPtr->nBegun
         && connectorPtr->connectedSock == NS_INVALID_SOCKET;
         i++) {
        Attempt      *attemptPtr = &connectorPtr->attempts[i];
        struct pollfd pollFd = {.fd = attemptPtr->sock, .events = POLLOUT};
        int           reason = 0;
        socklen_t     length = sizeof(reason);

        if (attemptPtr->sock == NS_INVALID_SOCKET
            || poll(&pollFd, 1u, 0) <= 0) {
            continue;
        }
        if (getsockopt(attemptPtr->sock, SOL_SOCKET, SO_ERROR, &reason, &length)
            != 0) {
            reason = errno;
        }
        connectorPtr->nPending--;
        if (reason == 0) {
            NoteConnected(connectorPtr, attemptPtr);
        } else {
            NoteFailed(connectorPtr, i, reason);
        }
    }
}

static void
Begin(NsConnector *connectorPtr, int index)
{
    Attempt           *attemptPtr = &connectorPtr->attempts[index];
    const NsSockAddr  *addrPtr = &attemptPtr->addr;
    struct epoll_event event = {.events = EPOLLOUT};

    attemptPtr->sock = socket(addrPtr->u.any.sa_family,
                              SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (attemptPtr->sock == NS_INVALID_SOCKET
        || !BindTo(connectorPtr, attemptPtr->sock, addrPtr->u.any.sa_family)) {
        NoteFailed(connectorPtr, index, errno);
    } else if (connect(attemptPtr->sock, &addrPtr->u.any, addrPtr->length)
               == 0) {
        NoteConnected(connectorPtr, attemptPtr);
    } else if (errno != EINPROGRESS
               || epoll_ctl(connectorPtr->fd, EPOLL_CTL_ADD, attemptPtr->sock,
                            &event)
                   != 0) {
        NoteFailed(connectorPtr, index, errno);
    } else {
        connectorPtr->nPending++;
    }
}

static bool
BindTo(const NsConnector *connectorPtr, NS_SOCKET sock, int family)
{
    if (connectorPtr->nLocals == 0) {
        return true;
    }
    for (int i = 0; i < connectorPtr->nLocals; i++) {
        const NsSockAddr *localPtr = &connectorPtr->locals[i];

        if (localPtr->u.any.sa_family == family) {
            return bind(sock, &localPtr->u.any, localPtr->length) == 0;
        }
    }
    errno = EAFNOSUPPORT;
    return false;
}

static void
NoteConnected(NsConnector *connectorPtr, Attempt *attemptPtr)
{
    connectorPtr->connectedSock = attemptPtr->sock;
    attemptPtr->sock = NS_INVALID_SOCKET;
}

static void
NoteFailed(NsConnector *connectorPtr, int index, int error)
{
    Attempt *attemptPtr = &connectorPtr->attempts[index];

    connectorPtr->error = error;
    if (attemptPtr->sock != NS_INVALID_SOCKET) {
        close(attemptPtr->sock);
        attemptPtr->sock = NS_INVALID_SOCKET;
    }
}

NS_SOCKET
NsConnectorTake(NsConnector *connectorPtr)
{
    NS_SOCKET sock = connectorPtr->connectedSock;

    NsAssert(sock != NS_INVALID_SOCKET);
    connectorPtr->connectedSock = NS_INVALID_SOCKET;
    return Rename(connectorPtr, sock);
}

NS_SOCKET
NsConnectorTakePending(NsConnector *connectorPtr)
{
    for (int i = connectorPtr->nBegun - 1; i >= 0; i--) {
        NS_SOCKET sock = connectorPtr->attempts[i].sock;

        if (sock != NS_INVALID_SOCKET) {
            connectorPtr->attempts[i].sock = NS_INVALID_SOCKET;
            connectorPtr->nPending--;
            return Rename(connectorPtr, sock);
        }
    }
    return NS_INVALID_SOCKET;
}

/*
 * In one step: nobody else gets the number in between.
 */
static NS_SOCKET
Rename(NsConnector *connectorPtr, NS_SOCKET sock)
{
    int fd = connectorPtr->fd;

    NsAssert(fd >= 0);
    while (dup3(sock, fd, O_CLOEXEC) < 0) {
        NsAssert(errno == EBUSY || errno == EINTR);
    }
    close(sock);
    connectorPtr->fd = -1;
    return fd;
}
