/* SPDX-License-Identifier: MPL-2.0
 * remote.c --
 *
 *      Connections of sinks to programs on other machines.
 */

#include "log/target/remote.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/un.h>

#include "base/assert.h"
#include "nsstring.h"
#include "nsthread.h"

#define BREAK_MS     30000 /* After this time without an answer, it is gone. */
#define MAX_PAUSE_MS 50

struct NsRemote {
    int      fd;
    SSL     *ssl; /* NULL: in the clear. */
    bool     isBroken;
    uint64_t nAtRisk; /* Of TLS: bytes since the last confirmation. */
    char     reason[NS_REMOTE_REASON_BYTES];
};

static int     ConnectOne(const struct addrinfo *infoPtr, NsStamp until);
static bool    Await(int fd, short events, NsStamp until);
static bool    StartTls(NsRemote *remotePtr, const NsRemoteSpec *specPtr,
                        NsStamp until);
static bool    ShakeHands(NsRemote *remotePtr, NsStamp until);
static bool    MayGoOn(NsRemote *remotePtr, int result, NsStamp until);
static void    NoteBroken(NsRemote *remotePtr, int why);
static ssize_t ReceiveTls(NsRemote *remotePtr, char *buffer, size_t size,
                          NsStamp until);
static bool    AwaitSystem(NsRemote *remotePtr, NsStamp until);
static int     Unsent(const NsRemote *remotePtr);

NsRemote *
NsRemoteOpen(const NsRemoteSpec *specPtr, NsStamp *untilPtr,
             char reason[NS_REMOTE_REASON_BYTES])
{
    unsigned  limit = BREAK_MS;
    int       isOn = 1;
    NsRemote *remotePtr;
    int       fd = NsRemoteConnect(specPtr->host, specPtr->port, SOCK_STREAM,
                                   untilPtr, reason);

    if (fd < 0) {
        return NULL;
    }
    (void) setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
    /*
     * What is sent in two pieces would have the second one wait until the
     * peer's system acknowledges the first, which it delays.
     */
    (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &isOn, sizeof(isOn));
    remotePtr = ns_calloc(1u, sizeof(*remotePtr));
    remotePtr->fd = fd;
    if (specPtr->isTls && !StartTls(remotePtr, specPtr, *untilPtr)) {
        int why = errno;

        remotePtr->isBroken = true;
        snprintf(reason, NS_REMOTE_REASON_BYTES, "%s", remotePtr->reason);
        NsRemoteClose(&remotePtr);
        errno = why;
        return NULL;
    }
    return remotePtr;
}

void
NsRemoteClose(NsRemote **remotePtrPtr)
{
    NsRemote *remotePtr = *remotePtrPtr;

    *remotePtrPtr = NULL;
    if (remotePtr->ssl != NULL) {
        /* Say good-bye, if that can be done at once. */
        if (!remotePtr->isBroken && SSL_is_init_finished(remotePtr->ssl)) {
            (void) SSL_shutdown(remotePtr->ssl);
        }
        SSL_free(remotePtr->ssl);
        ERR_clear_error();
    }
    close(remotePtr->fd);
    ns_free(remotePtr);
}

int
NsRemoteConnect(const char *host, const char *port, int type, NsStamp *untilPtr,
                char reason[NS_REMOTE_REASON_BYTES])
{
    struct addrinfo  hints = {.ai_family = AF_UNSPEC, .ai_socktype = type};
    struct addrinfo *list;
    NsStamp          start = NsClockNow();
    int              fd = -1, why, status;

    NsAssert(type == SOCK_STREAM || type == SOCK_DGRAM);
    reason[0] = '\0';
    status = getaddrinfo(host, port, &hints, &list);
    *untilPtr += NsClockNow() - start;
    if (status != 0) {
        snprintf(reason, NS_REMOTE_REASON_BYTES, "%s", gai_strerror(status));
        errno = EHOSTUNREACH;
        return -1;
    }
    for (struct addrinfo *infoPtr = list; infoPtr != NULL && fd < 0;
         infoPtr = infoPtr->ai_next) {
        NsStamp left = *untilPtr - NsClockNow();

        fd = ConnectOne(infoPtr,
                        infoPtr->ai_next != NULL ? *untilPtr - left / 2
                                                 : *untilPtr);
    }
    why = errno;
    freeaddrinfo(list);
    errno = why;
    return fd;
}

static int
ConnectOne(const struct addrinfo *infoPtr, NsStamp until)
{
    int type = infoPtr->ai_socktype | SOCK_CLOEXEC
        | (infoPtr->ai_socktype == SOCK_STREAM ? SOCK_NONBLOCK : 0);
    int       fd = socket(infoPtr->ai_family, type, infoPtr->ai_protocol);
    int       why;
    socklen_t length = sizeof(why);

    if (fd < 0 || connect(fd, infoPtr->ai_addr, infoPtr->ai_addrlen) == 0) {
        return fd;
    }
    why = errno;
    if (why == EINPROGRESS) {
        why = !Await(fd, POLLOUT, until) ? errno
            : getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &length) != 0
            ? errno
            : why;
    }
    if (why != 0) {
        close(fd);
        fd = -1;
    }
    errno = why;
    return fd;
}

int
NsRemoteConnectLocal(const char *path, int waitSeconds)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int                fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -1;
    }
    NsAssert(strlen(path) < sizeof(sa.sun_path));
    strcpy(sa.sun_path, path);
    NsRemoteLimitSend(fd, waitSeconds);
    return connect(fd, (struct sockaddr *) &sa, sizeof(sa)) == 0
        ? fd
        : NsCloseAfter(fd);
}

void
NsRemoteLimitSend(int fd, int waitSeconds)
{
    struct timeval limit = {waitSeconds, 0};

    (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static bool
Await(int fd, short events, NsStamp until)
{
    struct pollfd pfd = {.fd = fd, .events = events};
    int           n;

    do {
        NsStamp left = until - NsClockNow();

        if (left <= 0) {
            errno = ETIMEDOUT;
            return false;
        }
        n = poll(&pfd, 1, (int) MIN(left / 1000000 + 1, INT_MAX));
    } while (n == 0 || (n < 0 && errno == EINTR));
    return n > 0;
}

static bool
StartTls(NsRemote *remotePtr, const NsRemoteSpec *specPtr, NsStamp until)
{
    const char *name = specPtr->name != NULL ? specPtr->name : specPtr->host;
    Ns_DString  problem;
    SSL_CTX    *ctx;

    ERR_clear_error();
    Ns_DStringInit(&problem);
    ctx = NsTlsContextCreate(&specPtr->tls, &problem);
    if (ctx == NULL) {
        snprintf(remotePtr->reason, sizeof(remotePtr->reason), "%s",
                 Ns_DStringValue(&problem));
        Ns_DStringFree(&problem);
        errno = EINVAL;
        return false;
    }
    Ns_DStringFree(&problem);
    remotePtr->ssl = SSL_new(ctx);
    SSL_CTX_free(ctx); /* The connection keeps it. */
    if (remotePtr->ssl == NULL || !NsTlsSetPeer(remotePtr->ssl, name, false)
        || SSL_set_fd(remotePtr->ssl, remotePtr->fd) != 1) {
        snprintf(remotePtr->reason, sizeof(remotePtr->reason), "%s",
                 NsTlsLibraryReason());
        errno = ENOMEM;
        return false;
    }
    SSL_set_connect_state(remotePtr->ssl);
    return ShakeHands(remotePtr, until);
}

static bool
ShakeHands(NsRemote *remotePtr, NsStamp until)
{
    int n;

    do {
        ERR_clear_error();
        n = SSL_do_handshake(remotePtr->ssl);
    } while (n != 1 && MayGoOn(remotePtr, n, until));
    return n == 1;
}

/*
 * Whether the call of the library is to be made again, now that it can.
 */
static bool
MayGoOn(NsRemote *remotePtr, int result, NsStamp until)
{
    int why = errno;

    NsAssert(result <= 0 && !remotePtr->isBroken);
    switch (SSL_get_error(remotePtr->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return Await(remotePtr->fd, POLLIN, until);
    case SSL_ERROR_WANT_WRITE:
        return Await(remotePtr->fd, POLLOUT, until);
    case SSL_ERROR_ZERO_RETURN:
        why = ECONNRESET;
        break;
    case SSL_ERROR_SYSCALL:
        why = why == 0 ? ECONNRESET : why;
        break;
    default:
        if (ERR_GET_REASON(ERR_peek_error())
            == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
            why = ECONNRESET;
        } else {
            why = EPROTO;
            snprintf(remotePtr->reason, sizeof(remotePtr->reason), "TLS: %s",
                     NsTlsHandshakeReason(remotePtr->ssl));
        }
        break;
    }
    NoteBroken(remotePtr, why);
    return false;
}

/*
 * What the system says of a peer that is silent is not the end of a limit.
 */
static void
NoteBroken(NsRemote *remotePtr, int why)
{
    remotePtr->isBroken = true;
    errno = why == ETIMEDOUT ? ECONNABORTED : why;
}

ssize_t
NsRemoteSend(NsRemote *remotePtr, const char *bytes, size_t length,
             NsStamp until)
{
    int n;

    NsAssert(length > 0 && !remotePtr->isBroken);
    if (remotePtr->ssl != NULL) {
        do {
            ERR_clear_error();
            n = SSL_write(remotePtr->ssl, bytes, (int) MIN(length, INT_MAX));
        } while (n <= 0 && MayGoOn(remotePtr, n, until));
        remotePtr->nAtRisk += (uint64_t) MAX(n, 0);
        return n > 0 ? n : -1;
    }
    for (;;) {
        ssize_t nSent = send(remotePtr->fd, bytes, length, MSG_NOSIGNAL);

        if (nSent >= 0) {
            return nSent;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!Await(remotePtr->fd, POLLOUT, until)) {
                return -1;
            }
        } else if (errno != EINTR) {
            NoteBroken(remotePtr, errno);
            return -1;
        }
    }
}

ssize_t
NsRemoteReceive(NsRemote *remotePtr, char *buffer, size_t size, NsStamp until)
{
    NsAssert(size > 0 && size <= INT_MAX && !remotePtr->isBroken);
    if (remotePtr->ssl != NULL) {
        return ReceiveTls(remotePtr, buffer, size, until);
    }
    for (;;) {
        ssize_t n = recv(remotePtr->fd, buffer, size, 0);

        if (n >= 0) {
            return n;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!Await(remotePtr->fd, POLLIN, until)) {
                return -1;
            }
        } else if (errno != EINTR) {
            NoteBroken(remotePtr, errno);
            return -1;
        }
    }
}

static ssize_t
ReceiveTls(NsRemote *remotePtr, char *buffer, size_t size, NsStamp until)
{
    for (;;) {
        int n;

        ERR_clear_error();
        n = SSL_read(remotePtr->ssl, buffer, (int) size);
        if (n > 0) {
            return n;
        }
        if (SSL_get_error(remotePtr->ssl, n) == SSL_ERROR_ZERO_RETURN) {
            return 0;
        }
        if (!MayGoOn(remotePtr, n, until)) {
            return -1;
        }
    }
}

bool
NsRemoteIsClosed(NsRemote *remotePtr)
{
    char    byte;
    ssize_t n;

    if (remotePtr->isBroken) {
        return true;
    }
    if (remotePtr->ssl != NULL) {
        int why;

        ERR_clear_error();
        n = SSL_peek(remotePtr->ssl, &byte, 1);
        why = n > 0 ? SSL_ERROR_NONE : SSL_get_error(remotePtr->ssl, (int) n);
        ERR_clear_error();
        remotePtr->isBroken = why != SSL_ERROR_NONE
            && why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE;
        return remotePtr->isBroken;
    }
    n = recv(remotePtr->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0
        || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool
NsRemoteConfirm(NsRemote *remotePtr, NsStamp until)
{
    NsAssert(!remotePtr->isBroken);
    if (!AwaitSystem(remotePtr, until)) {
        return false;
    }
    remotePtr->nAtRisk = 0;
    return true;
}

/*
 * Nothing reports that all has been acknowledged, so poll, with growing pauses.
 */
static bool
AwaitSystem(NsRemote *remotePtr, NsStamp until)
{
    int pauseMs = 1;

    while (Unsent(remotePtr) > 0) {
        struct pollfd pfd = {.fd = remotePtr->fd};

        if (NsClockNow() >= until) {
            errno = ETIMEDOUT;
            return false;
        }
        if (poll(&pfd, 1, pauseMs) > 0) {
            NoteBroken(remotePtr, ECONNRESET);
            return false;
        }
        pauseMs = MIN(2 * pauseMs, MAX_PAUSE_MS);
    }
    return true;
}

/*
 * Bytes that the peer's system has not acknowledged.
 */
static int
Unsent(const NsRemote *remotePtr)
{
    int n = 0;

    return ioctl(remotePtr->fd, SIOCOUTQ, &n) == 0 ? MAX(n, 0) : 0;
}

size_t
NsRemoteAtRisk(const NsRemote *remotePtr)
{
    return remotePtr->ssl != NULL ? (size_t) remotePtr->nAtRisk
                                  : (size_t) Unsent(remotePtr);
}

const char *
NsRemoteReason(const NsRemote *remotePtr)
{
    return remotePtr->reason;
}
