/* SPDX-License-Identifier: MPL-2.0
 * listen.c --
 *
 *      Sockets that are bound to an address.
 *
 *      A port that was bound before the process changed its user is taken over;
 *      one that the process may not bind is asked of the helper that still may.
 */

#include "net/listen.h"
#include "base/assert.h"
#include "nsparam.h"
#include "nsdriver.h"
#include "nslog.h"
#include "nsthread.h"
#include "process/binder.h"
#include "process/parameters.h"
#include "process/prebind.h"

#define MAX_PORT 65535

static _Thread_local NsBindMode bindMode;

static Ns_ReturnCode Resolve(NsSockAddr *addrPtr, const char *host, int port);
static bool          ParseNumeric(NsSockAddr *addrPtr, const char *host);
static void          SetPort(NsSockAddr *addrPtr, int port);
static NS_SOCKET     TakePrebound(NsPrebindKind kind, const char *address,
                                  int port);
static const char   *BoundAddress(const char *address);
static NS_SOCKET     OrAskBinder(NS_SOCKET sock, int type, const char *address,
                                 int port, int options);
static NS_SOCKET     Listening(NS_SOCKET sock, int backlog);
static NS_SOCKET     BindInet(const NsSockAddr *addrPtr, int type);
static NS_SOCKET     BindIn(struct sockaddr_in *saPtr, int type);

typedef struct Settings {
    int backlog;
} Settings;

static const NsParameter rows[] = {
    NS_INT(Settings, backlog, "listenbacklog", "32", 0, NS_PARAM_NO_LIMIT,
           "Backlog of sockets on which scripts listen."),
    NS_PARAM_END};

void
NsListenInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Settings));
}

void
NsListenMode(NsBindMode mode)
{
    bindMode = mode;
}

int
NsSockAddrResolveAll(const char *host, int port, NsSockAddr **addrsPtr)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *listPtr = NULL;
    NsSockAddr       numeric;
    int              n = 0;

    *addrsPtr = NULL;
    if (port < 0 || port > MAX_PORT) {
        return 0;
    }
    if (ParseNumeric(&numeric, host)) {
        SetPort(&numeric, port);
        *addrsPtr = ns_malloc(sizeof(NsSockAddr));
        (*addrsPtr)[0] = numeric;
        return 1;
    }
    if (getaddrinfo(host, NULL, &hints, &listPtr) != 0) {
        return 0;
    }
    for (const struct addrinfo *p = listPtr; p != NULL; p = p->ai_next) {
        if (p->ai_family == AF_INET || p->ai_family == AF_INET6) {
            NsSockAddr *addrPtr;

            *addrsPtr = ns_realloc(*addrsPtr,
                                   (size_t) (n + 1) * sizeof(NsSockAddr));
            addrPtr = &(*addrsPtr)[n++];
            memset(addrPtr, 0, sizeof(NsSockAddr));
            memcpy(&addrPtr->u, p->ai_addr, p->ai_addrlen);
            addrPtr->length = p->ai_addrlen;
            SetPort(addrPtr, port);
        }
    }
    freeaddrinfo(listPtr);
    return n;
}

bool
NsSockAddrIsName(const char *host)
{
    NsSockAddr addr;

    return !ParseNumeric(&addr, host);
}

void
NsSockAddrText(const NsSockAddr *addrPtr, char *text, size_t size)
{
    if (getnameinfo(&addrPtr->u.any, addrPtr->length, text, (socklen_t) size,
                    NULL, 0, NI_NUMERICHOST)
        != 0) {
        snprintf(text, size, "unknown");
    }
}

/*
 * False: it is a name.
 */
static bool
ParseNumeric(NsSockAddr *addrPtr, const char *host)
{
    memset(addrPtr, 0, sizeof(NsSockAddr));
    if (host == NULL || *host == '\0' || STREQ(host, "*")) {
        addrPtr->u.in.sin_family = AF_INET;
        addrPtr->u.in.sin_addr.s_addr = htonl(INADDR_ANY);
        addrPtr->length = sizeof(struct sockaddr_in);
    } else if (inet_pton(AF_INET, host, &addrPtr->u.in.sin_addr) == 1) {
        addrPtr->u.in.sin_family = AF_INET;
        addrPtr->length = sizeof(struct sockaddr_in);
    } else if (inet_pton(AF_INET6, host, &addrPtr->u.in6.sin6_addr) == 1) {
        addrPtr->u.in6.sin6_family = AF_INET6;
        addrPtr->length = sizeof(struct sockaddr_in6);
    } else {
        return false;
    }
    return true;
}

static void
SetPort(NsSockAddr *addrPtr, int port)
{
    if (addrPtr->u.any.sa_family == AF_INET6) {
        addrPtr->u.in6.sin6_port = htons((uint16_t) port);
    } else {
        addrPtr->u.in.sin_port = htons((uint16_t) port);
    }
}

int
Ns_GetSockAddr(struct sockaddr_in *saPtr, const char *host, int port)
{
    struct addrinfo  hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *listPtr = NULL;

    memset(saPtr, 0, sizeof(struct sockaddr_in));
    saPtr->sin_family = AF_INET;
    saPtr->sin_addr.s_addr = htonl(INADDR_ANY);
    if (port < 0 || port > MAX_PORT) {
        return NS_ERROR;
    }
    if (host != NULL && inet_pton(AF_INET, host, &saPtr->sin_addr) != 1) {
        if (getaddrinfo(host, NULL, &hints, &listPtr) != 0 || listPtr == NULL) {
            return NS_ERROR;
        }
        memcpy(saPtr, listPtr->ai_addr, sizeof(struct sockaddr_in));
        freeaddrinfo(listPtr);
    }
    saPtr->sin_port = htons((uint16_t) port);
    return NS_OK;
}

int
Ns_GetSockAddr_33(struct sockaddr *saPtr, const char *host, unsigned short port)
{
    NsSockAddr addr;

    memset(saPtr, 0, sizeof(struct NS_SOCKADDR_STORAGE));
    if (Resolve(&addr, host, port) != NS_OK) {
        return NS_ERROR;
    }
    NsAssert(addr.length <= sizeof(struct NS_SOCKADDR_STORAGE));
    memcpy(saPtr, &addr.u, addr.length);
    return NS_OK;
}

NS_SOCKET
Ns_SockListen(const char *address, int port)
{
    Settings settings;

    NsParametersFill(rows, "ns/parameters", &settings);
    return Ns_SockListenEx(address, port, settings.backlog);
}

NS_SOCKET
Ns_SockListenEx(const char *address, int port, int backlog)
{
    NsSockAddr addr;
    NS_SOCKET  sock;

    if (Resolve(&addr, address, port) != NS_OK) {
        errno = EADDRNOTAVAIL;
        return NS_INVALID_SOCKET;
    }
    sock = TakePrebound(NS_PREBIND_TCP, address, port);
    if (sock == NS_INVALID_SOCKET) {
        sock = BindInet(&addr, SOCK_STREAM);
    }
    return Listening(OrAskBinder(sock, 'T', address, port, backlog), backlog);
}

/*
 * Resolve a host, numeric or a name; NULL or "*" means any address.
 */
static Ns_ReturnCode
Resolve(NsSockAddr *addrPtr, const char *host, int port)
{
    NsSockAddr *addrs;

    memset(addrPtr, 0, sizeof(NsSockAddr));
    if (NsSockAddrResolveAll(host, port, &addrs) == 0) {
        return NS_ERROR;
    }
    *addrPtr = addrs[0];
    ns_free(addrs);
    return NS_OK;
}

NS_SOCKET
NsSockReserve(const char *address, int port, NsBindMode mode)
{
    NsSockAddr addr;
    NS_SOCKET  sock = TakePrebound(NS_PREBIND_TCP, address, port);

    if (sock == NS_INVALID_SOCKET) {
        if (Resolve(&addr, address, port) != NS_OK) {
            errno = EADDRNOTAVAIL;
            return NS_INVALID_SOCKET;
        }
        bindMode = mode;
        sock = OrAskBinder(BindInet(&addr, SOCK_STREAM), 'T', address, port, 0);
        bindMode = NS_BIND_USUAL;
    }
    return sock;
}

/*
 * Ask the helper for what this process may not do: bind a port below 1024, or
 * share one with a socket of root.  When nobody answers, errno is still the
 * reason to ask.
 */
static NS_SOCKET
OrAskBinder(NS_SOCKET sock, int type, const char *address, int port,
            int options)
{
    int reason = errno;

    if (sock == NS_INVALID_SOCKET
        && (reason == EACCES || reason == EPERM
            || (reason == EADDRINUSE && bindMode == NS_BIND_SHARED))) {
        sock = Ns_SockBinderListen(type, address, port, options);
        if (sock == NS_INVALID_SOCKET
            && (errno == ENOTCONN || errno == EPIPE)) {
            errno = reason;
        }
    }
    return sock;
}

/*
 * Listen on the socket, if there is one; close it if that fails.  One that
 * nobody was to share until now shares its port from here on as all do.
 */
static NS_SOCKET
Listening(NS_SOCKET sock, int backlog)
{
    int on = 1;

    if (sock == NS_INVALID_SOCKET) {
        return sock;
    }
    (void) setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bindMode == NS_BIND_SHARED) {
        (void) setsockopt(sock, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    }
    return listen(sock, backlog) == 0 ? sock : NsCloseAfter(sock);
}

NS_SOCKET
Ns_SockListenUdp(const char *address, int port)
{
    NsSockAddr addr;
    NS_SOCKET  sock;

    if (Resolve(&addr, address, port) != NS_OK) {
        return NS_INVALID_SOCKET;
    }
    sock = TakePrebound(NS_PREBIND_UDP, address, port);
    if (sock == NS_INVALID_SOCKET) {
        sock = BindInet(&addr, SOCK_DGRAM);
    }
    return OrAskBinder(sock, 'U', address, port, 0);
}

NS_SOCKET
Ns_SockListenEx_33(const char *address, unsigned short port, int backlog,
                   bool reusePort, ...)
{
    NsBindMode before = bindMode;
    NS_SOCKET  sock;

    if (reusePort) {
        bindMode = NS_BIND_SHARED;
    }
    sock = Ns_SockListenEx(address, port, backlog);
    bindMode = before;
    return sock;
}

NS_SOCKET
Ns_SockListenUdp_33(const char *address, unsigned short port, bool reusePort,
                    ...)
{
    NsBindMode before = bindMode;
    NS_SOCKET  sock;

    if (reusePort) {
        bindMode = NS_BIND_SHARED;
    }
    sock = Ns_SockListenUdp(address, port);
    bindMode = before;
    return sock;
}

NS_SOCKET
Ns_SockListenRaw(int protocol)
{
    NS_SOCKET sock = NsPrebindTake(NS_PREBIND_ICMP, NULL, protocol);

    if (sock == NS_INVALID_SOCKET) {
        sock = Ns_SockBindRaw(protocol);
    }
    return OrAskBinder(sock, 'R', NULL, protocol, 0);
}

NS_SOCKET
Ns_SockListenUnix(const char *path, int backlog, int mode)
{
    NS_SOCKET sock = NsPrebindTake(NS_PREBIND_UNIX, path, mode);

    if (sock == NS_INVALID_SOCKET) {
        sock = Ns_SockBindUnix(path, backlog > 0 ? SOCK_STREAM : SOCK_DGRAM,
                               mode);
    }
    sock = OrAskBinder(sock, 'D', path, mode, backlog);
    return backlog > 0 ? Listening(sock, backlog) : sock;
}

NS_SOCKET
Ns_SockBind(struct sockaddr_in *saPtr)
{
    return BindIn(saPtr, SOCK_STREAM);
}

NS_SOCKET
Ns_BindSock(struct sockaddr_in *saPtr)
{
    return Ns_SockBind(saPtr);
}

NS_SOCKET
Ns_SockBindUdp(struct sockaddr_in *saPtr)
{
    return BindIn(saPtr, SOCK_DGRAM);
}

NS_SOCKET
Ns_SockBindRaw(int protocol)
{
    return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, protocol);
}

NS_SOCKET
Ns_SockBindUnix(const char *path, int type, int mode)
{
    return NsBindUnix(path, type > 0 ? type : SOCK_STREAM, mode);
}

NS_SOCKET
Ns_SockAccept(NS_SOCKET listenSock, struct sockaddr *saPtr, int *lengthPtr)
{
    socklen_t length = lengthPtr == NULL ? 0u : (socklen_t) *lengthPtr;
    NS_SOCKET sock = accept4(listenSock, saPtr,
                             lengthPtr == NULL ? NULL : &length, SOCK_CLOEXEC);

    if (sock == NS_INVALID_SOCKET && errno != EAGAIN) {
        int reason = errno;

        Ns_Log(Notice, "listen: cannot accept a connection: %s",
               strerror(reason));
        errno = reason;
    }
    if (lengthPtr != NULL) {
        *lengthPtr = (int) length;
    }
    return sock;
}

NS_SOCKET
Ns_SockBinderListen(int type, const char *address, int port, int options)
{
    NsPrebindSpec spec = {.port = port, .mode = bindMode};
    NS_SOCKET     sock;

    switch (type) {
    case 'T':
        spec.kind = NS_PREBIND_TCP;
        break;
    case 'U':
        spec.kind = NS_PREBIND_UDP;
        break;
    case 'D':
        spec.kind = NS_PREBIND_UNIX;
        break;
    case 'R':
        spec.kind = NS_PREBIND_ICMP;
        break;
    default:
        errno = EINVAL;
        return NS_INVALID_SOCKET;
    }
    snprintf(spec.address, sizeof(spec.address), "%s", BoundAddress(address));
    sock = NsBinderBind(&spec);
    if (sock != NS_INVALID_SOCKET && options > 0 && (type == 'T' || type == 'D')
        && listen(sock, options) != 0) {
        return NsCloseAfter(sock);
    }
    return sock;
}

void
NsForkBinder(void)
{
    NsBinderStart();
}

void
NsStopBinder(void)
{
    NsBinderStop();
}

static NS_SOCKET
TakePrebound(NsPrebindKind kind, const char *address, int port)
{
    NS_SOCKET  sock = NsPrebindTake(kind, BoundAddress(address), port);
    NsSockAddr addr;
    char       text[NI_MAXHOST];

    if (sock == NS_INVALID_SOCKET && NsSockAddrIsName(address)
        && Resolve(&addr, address, port) == NS_OK) {
        /* One that was taken over is known by its number. */
        NsSockAddrText(&addr, text, sizeof(text));
        sock = NsPrebindTake(kind, text, port);
    }
    return sock;
}

static const char *
BoundAddress(const char *address)
{
    bool isAny = address == NULL || *address == '\0' || STREQ(address, "*");

    return isAny ? "0.0.0.0" : address;
}

static NS_SOCKET
BindInet(const NsSockAddr *addrPtr, int type)
{
    return NsBindAddress(&addrPtr->u.any, addrPtr->length, type, bindMode);
}

static NS_SOCKET
BindIn(struct sockaddr_in *saPtr, int type)
{
    NsSockAddr addr;

    memset(&addr, 0, sizeof(addr));
    addr.u.in = *saPtr;
    addr.length = sizeof(struct sockaddr_in);
    return BindInet(&addr, type);
}
