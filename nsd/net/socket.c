/* SPDX-License-Identifier: MPL-2.0
 * socket.c --
 *
 *      Connecting, waiting, and transfers with a time limit.
 */

#include "net/connect.h"
#include "net/listen.h"
#include "nslog.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/clock.h"

#include <netinet/tcp.h>
#include <sys/un.h>

#define FOREVER INT64_MAX

static NS_SOCKET Connect(const NsConnectSpec *specPtr, NsStamp end,
                         bool isAsync);
static NS_SOCKET Blocking(NS_SOCKET sock);
static ssize_t   SendBufs(NS_SOCKET sock, const struct iovec *vecs, int nVecs,
                          int flags);
static int       PollMs(const Ns_Time *timeoutPtr);

NS_SOCKET
Ns_SockConnect(const char *host, int port)
{
    return Ns_SockConnect2(host, port, NULL, 0);
}

NS_SOCKET
Ns_SockConnect2(const char *host, int port, const char *localHost,
                int localPort)
{
    return Blocking(Connect(&(NsConnectSpec){host, port, localHost, localPort},
                            FOREVER, false));
}

NS_SOCKET
Ns_SockConnectUnix(const char *path, int type, Ns_ReturnCode *statusPtr)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t             length = strlen(path);
    NS_SOCKET          sock = NS_INVALID_SOCKET;

    if (length >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
    } else {
        memcpy(address.sun_path, path, length + 1);
        sock = socket(AF_UNIX, (type == 0 ? SOCK_STREAM : type) | SOCK_CLOEXEC,
                      0);
    }
    if (sock != NS_INVALID_SOCKET
        && connect(sock, (struct sockaddr *) &address, sizeof(address)) != 0) {
        sock = NsCloseAfter(sock);
    }
    if (statusPtr != NULL) {
        *statusPtr = sock == NS_INVALID_SOCKET ? NS_ERROR : NS_OK;
    }
    return sock;
}

NS_SOCKET
Ns_SockAsyncConnect(const char *host, int port)
{
    return Ns_SockAsyncConnect2(host, port, NULL, 0);
}

/*
 * The owner of the socket cannot try another address: so all but the last are
 * waited for, a moment each.
 */
NS_SOCKET
Ns_SockAsyncConnect2(const char *host, int port, const char *localHost,
                     int localPort)
{
    return Connect(&(NsConnectSpec){host, port, localHost, localPort}, FOREVER,
                   true);
}

NS_SOCKET
Ns_SockTimedConnect(const char *host, int port, const Ns_Time *timeoutPtr)
{
    return Ns_SockTimedConnect2(host, port, NULL, 0, timeoutPtr);
}

NS_SOCKET
Ns_SockTimedConnect2(const char *host, int port, const char *localHost,
                     int localPort, const Ns_Time *timeoutPtr)
{
    NsStamp end = timeoutPtr == NULL
        ? FOREVER
        : NsClockNow() + NsClockFromTime(timeoutPtr);

    return Blocking(Connect(&(NsConnectSpec){host, port, localHost, localPort},
                            end, false));
}

int
Ns_SockWait(NS_SOCKET sock, int what, int timeout)
{
    Ns_Time limit = {timeout, 0};

    return Ns_SockTimedWait(sock, what, timeout < 0 ? NULL : &limit);
}

int
Ns_SockTimedWait(NS_SOCKET sock, int what, const Ns_Time *timeoutPtr)
{
    struct pollfd pollFd = {.fd = sock};
    NsStamp       end = 0;
    int           ms = PollMs(timeoutPtr);
    int           n;

    switch (what) {
    case NS_SOCK_READ:
        pollFd.events = POLLIN;
        break;
    case NS_SOCK_WRITE:
        pollFd.events = POLLOUT;
        break;
    case NS_SOCK_EXCEPTION:
        pollFd.events = POLLPRI;
        break;
    default:
        return NS_ERROR;
    }
    if (sock < 0) {
        /* Which poll() would leave out. */
        errno = EBADF;
        return NS_ERROR;
    }
    if (ms > 0) {
        end = NsClockNow() + (NsStamp) ms * 1000000;
    }
    while ((n = poll(&pollFd, 1u, ms)) < 0 && errno == EINTR) {
        if (end != 0) {
            NsStamp left = end - NsClockNow();

            ms = left <= 0 ? 0 : (int) (left / 1000000 + 1);
        }
    }
    if (n == 0) {
        return NS_TIMEOUT;
    }
    if (n > 0 && (pollFd.revents & POLLNVAL) != 0) {
        errno = EBADF;
        return NS_ERROR;
    }
    return n < 0 ? NS_ERROR : NS_OK;
}

int
Ns_SockRecv(NS_SOCKET sock, void *buffer, size_t length,
            const Ns_Time *timeoutPtr)
{
    struct iovec vec = {buffer, length};

    return Ns_SockRecvBufs(sock, &vec, 1, timeoutPtr, 0);
}

int
Ns_SockSend(NS_SOCKET sock, const void *buffer, size_t length,
            const Ns_Time *timeoutPtr)
{
    ssize_t n = send(sock, buffer, length, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
        && Ns_SockTimedWait(sock, NS_SOCK_WRITE, timeoutPtr) == NS_OK) {
        n = send(sock, buffer, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return (int) n;
}

/*
 * A limit of zero means: do not wait, and distinguish "nothing there" (0) from
 * "end of data" (-1), as the drivers need it.  With a limit, the end of data is
 * 0, as recvmsg has it.
 */
int
Ns_SockRecvBufs(NS_SOCKET sock, struct iovec *vecs, int nVecs,
                const Ns_Time *timeoutPtr, int flags)
{
    bool mustWait = timeoutPtr == NULL || timeoutPtr->sec != 0
        || timeoutPtr->usec != 0;
    struct msghdr msg = {.msg_iov = vecs, .msg_iovlen = (size_t) nVecs};
    ssize_t       n;

    do {
        n = nVecs == 1 ? recv(sock, vecs[0].iov_base, vecs[0].iov_len,
                              flags | MSG_DONTWAIT)
                       : recvmsg(sock, &msg, flags | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        if (!mustWait) {
            return 0;
        }
        if (Ns_SockTimedWait(sock, NS_SOCK_READ, timeoutPtr) == NS_OK) {
            n = recvmsg(sock, &msg, flags | MSG_DONTWAIT);
        }
    } else if (n == 0 && !mustWait) {
        return -1;
    }
    return (int) MIN(n, INT_MAX);
}

ssize_t
Ns_SockRecvBufs_33(Ns_Sock *sock, struct iovec *vecs, int nVecs,
                   const Ns_Time *timeoutPtr, unsigned int flags)
{
    return Ns_SockRecvBufs(sock->sock, vecs, nVecs, timeoutPtr, (int) flags);
}

ssize_t
Ns_SockSendBufs(Ns_Sock *sock, const struct iovec *vecs, int nVecs,
                const Ns_Time *timeoutPtr, int flags)
{
    bool mustWait = timeoutPtr == NULL || timeoutPtr->sec != 0
        || timeoutPtr->usec != 0;
    ssize_t n;

    do {
        n = SendBufs(sock->sock, vecs, nVecs, flags);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        if (!mustWait) {
            return 0;
        }
        if (Ns_SockTimedWait(sock->sock, NS_SOCK_WRITE, timeoutPtr) == NS_OK) {
            n = SendBufs(sock->sock, vecs, nVecs, flags);
        }
    }
    return n;
}

ssize_t
Ns_SockSendBufsEx(NS_SOCKET sock, const struct iovec *vecs, int nVecs,
                  unsigned int flags, unsigned long *errnoPtr)
{
    unsigned long error = 0;
    ssize_t       n;

    do {
        n = SendBufs(sock, (struct iovec *) vecs, nVecs, (int) flags);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        n = 0;
    } else if (n < 0) {
        error = (unsigned long) errno;
    }
    if (errnoPtr != NULL) {
        *errnoPtr = error;
    }
    return n;
}

ssize_t
Ns_SockSendBufs_50(Ns_Sock *sock, const struct iovec *vecs, int nVecs,
                   unsigned int flags)
{
    Ns_Time noWait = {0, 0};

    return Ns_SockSendBufs(sock, vecs, nVecs, &noWait, (int) flags);
}

int
Ns_SockSetNonBlocking(NS_SOCKET sock)
{
    int on = 1;

    return ioctl(sock, FIONBIO, &on) == 0 ? NS_OK : NS_ERROR;
}

int
Ns_SockSetBlocking(NS_SOCKET sock)
{
    int on = 0;

    return ioctl(sock, FIONBIO, &on) == 0 ? NS_OK : NS_ERROR;
}

void
Ns_SockSetDeferAccept(NS_SOCKET sock, int seconds)
{
#ifdef TCP_FASTOPEN
    int queueLength = 5;

    if (setsockopt(sock, IPPROTO_TCP, TCP_FASTOPEN, &queueLength,
                   sizeof(queueLength))
        != 0) {
        Ns_Log(Error, "driver: deferaccept: cannot set TCP_FASTOPEN: %s",
               strerror(errno));
    } else {
        Ns_Log(Notice, "driver: deferaccept: TCP_FASTOPEN set");
    }
#endif
#ifdef TCP_DEFER_ACCEPT
    if (setsockopt(sock, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds,
                   sizeof(seconds))
        != 0) {
        Ns_Log(Error, "driver: deferaccept: cannot set TCP_DEFER_ACCEPT: %s",
               strerror(errno));
    } else {
        Ns_Log(Notice, "driver: deferaccept: TCP_DEFER_ACCEPT set");
    }
#endif
}

int
Ns_SockErrno(void)
{
    return errno;
}

int
Ns_GetSockErrno(void)
{
    return errno;
}

void
Ns_SetSockErrno(int error)
{
    errno = error;
}

void
Ns_ClearSockErrno(void)
{
    errno = 0;
}

char *
Ns_SockError(void)
{
    return strerror(errno);
}

char *
Ns_SockStrError(int error)
{
    return strerror(error);
}

int
ns_sockpair(NS_SOCKET *socks)
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks);
}

int
ns_pipe(int *fds)
{
    return pipe2(fds, O_CLOEXEC);
}

int
ns_poll(struct pollfd *fds, unsigned long int nFds, int timeoutMs)
{
    return poll(fds, (nfds_t) nFds, timeoutMs);
}

/*
 * Until end (FOREVER: however long it takes); then errno is ETIMEDOUT.  With
 * isAsync only until the last address is being tried.
 */
static NS_SOCKET
Connect(const NsConnectSpec *specPtr, NsStamp end, bool isAsync)
{
    NsConnector    *connectorPtr = NsConnectorCreate(specPtr);
    NsConnectStatus status = NS_CONNECT_WAIT;
    NS_SOCKET       sock = NS_INVALID_SOCKET;
    int             reason = ETIMEDOUT;
    NsStamp         again = 0, now;

    if (connectorPtr == NULL) {
        return NS_INVALID_SOCKET;
    }
    while ((status = NsConnectorGoOn(connectorPtr, &again)) == NS_CONNECT_WAIT
           && (again != 0 || !isAsync) && (now = NsClockNow()) < end) {
        struct pollfd pollFd = {
            .fd = NsConnectorFd(connectorPtr), .events = POLLIN};
        NsStamp until = again != 0 ? MIN(again, end) : end;

        (void) poll(&pollFd, 1u,
                    until == FOREVER
                        ? -1
                        : (int) MIN((until - now) / 1000000 + 1, INT_MAX));
    }
    if (status == NS_CONNECT_DONE) {
        sock = NsConnectorTake(connectorPtr);
    } else if (status == NS_CONNECT_FAILED) {
        reason = errno;
    } else if (isAsync) {
        sock = NsConnectorTakePending(connectorPtr);
    }
    NsConnectorDestroy(&connectorPtr);
    errno = reason;
    return sock;
}

static NS_SOCKET
Blocking(NS_SOCKET sock)
{
    if (sock != NS_INVALID_SOCKET && Ns_SockSetBlocking(sock) != NS_OK) {
        return NsCloseAfter(sock);
    }
    return sock;
}

/*
 * A single buffer costs the kernel less without a list of them.
 */
static ssize_t
SendBufs(NS_SOCKET sock, const struct iovec *vecs, int nVecs, int flags)
{
    struct msghdr msg = {.msg_iov = (struct iovec *) vecs,
                         .msg_iovlen = (size_t) nVecs};

    flags |= MSG_NOSIGNAL | MSG_DONTWAIT;
    return nVecs == 1 ? send(sock, vecs->iov_base, vecs->iov_len, flags)
                      : sendmsg(sock, &msg, flags);
}

static int
PollMs(const Ns_Time *timeoutPtr)
{
    if (timeoutPtr == NULL) {
        return -1;
    }
    if (timeoutPtr->sec >= INT_MAX / 1000 - 1) {
        return INT_MAX;
    }
    return (int) (timeoutPtr->sec * 1000 + (timeoutPtr->usec + 999) / 1000);
}
