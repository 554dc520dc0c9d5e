/* SPDX-License-Identifier: MPL-2.0
 * laterdrivers.c --
 *
 *      Drivers as they are written for today's releases, by the start of the
 *      module's name: `stream` has HTTP over TCP, `datagram` has a protocol of
 *      its own over UDP, `line` leaves reading to the connection thread.
 */

#include "ns.h"

NS_EXPORT const int         Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

static Ns_DriverListenProc   Listen;
static Ns_DriverListenProc   ListenUdp;
static Ns_DriverAcceptProc   Accept;
static Ns_DriverAcceptProc   AcceptUdp;
static Ns_DriverRecvProc     Recv;
static Ns_DriverRecvProc     RecvUdp;
static Ns_DriverSendProc     Send;
static Ns_DriverSendProc     SendUdp;
static Ns_DriverSendFileProc SendFile;
static Ns_DriverKeepProc     Keep;
static Ns_DriverRequestProc  Echo;
static Ns_DriverRequestProc  ReadLine;
static Ns_DriverCloseProc    Close;
static Ns_DriverCloseProc    CloseUdp;
static Ns_DriverConnInfoProc ConnInfo;

NS_EXPORT Ns_ReturnCode
Ns_ModuleInit(const char *server, const char *module)
{
    Ns_DriverInitData init;

    memset(&init, 0x5a, sizeof(init));
    init.name = module;
    init.listenProc = Listen;
    init.acceptProc = Accept;
    init.recvProc = Recv;
    init.sendProc = Send;
    init.sendFileProc = module[0] == 's' ? SendFile : NULL;
    init.keepProc = Keep;
    init.requestProc = NULL;
    init.closeProc = Close;
    init.clientInitProc = NULL;
    init.arg = (void *) (uintptr_t) module;
    init.path = Ns_ConfigGetPath(server, module, NS_SENTINEL);
    init.opts = NS_DRIVER_ASYNC;
    init.protocol = "http";
    init.defaultPort = 8000;
    init.connInfoProc = ConnInfo;
    init.libraryVersion = "1.0";
#if NS_API_LEVEL >= 50000
    init.version = NS_DRIVER_VERSION_5;
#else
    init.version = NS_DRIVER_VERSION_4;
#endif
    if (module[0] == 'd') {
        init.protocol = "udp";
        init.listenProc = ListenUdp;
        init.acceptProc = AcceptUdp;
        init.recvProc = RecvUdp;
        init.sendProc = SendUdp;
        init.keepProc = NULL;
        init.requestProc = Echo;
        init.closeProc = CloseUdp;
        init.opts = NS_DRIVER_ASYNC | NS_DRIVER_NOPARSE | NS_DRIVER_UDP;
    } else if (module[0] == 'l') {
        init.protocol = "line";
        init.recvProc = NULL;
        init.requestProc = ReadLine;
        init.opts = NS_DRIVER_NOPARSE | NS_DRIVER_QUEUE_ONREAD;
    } else if (module[0] == 'o') {
        /* What version 2 does not have is not looked at. */
        init.version = NS_DRIVER_VERSION_2;
        memset(&init.protocol, 0x5a, sizeof(init.protocol));
    }
    return Ns_DriverInit(server, module, &init);
}

static NS_SOCKET
Listen(Ns_Driver *driver, const char *address, unsigned short port, int backlog,
       bool reuseport)
{
    NS_SOCKET sock = Ns_SockListenEx(address, port, backlog, reuseport);

    Ns_Log(Notice, "later: %s of %s %s " NS_TIME_FMT, driver->moduleName,
           driver->type, driver->protocol, driver->recvwait.sec,
           driver->recvwait.usec);
    if (sock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetNonBlocking(sock);
    }
    return sock;
}

static NS_SOCKET
ListenUdp(Ns_Driver *driver, const char *address, unsigned short port,
          int backlog, bool reuseport)
{
    NS_SOCKET sock = Ns_SockListenUdp(address, port, reuseport);

    if (sock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetNonBlocking(sock);
    }
    return sock;
}

static NS_DRIVER_ACCEPT_STATUS
Accept(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
       socklen_t *socklenPtr)
{
    sock->sock = Ns_SockAccept(listensock, sockaddrPtr, socklenPtr);
    if (sock->sock == NS_INVALID_SOCKET) {
        return NS_DRIVER_ACCEPT_ERROR;
    }
    (void) Ns_SockSetNonBlocking(sock->sock);
    return NS_DRIVER_ACCEPT;
}

static NS_DRIVER_ACCEPT_STATUS
AcceptUdp(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
          socklen_t *socklenPtr)
{
    sock->sock = listensock;
    return Ns_DriverSetRequest(sock, "ECHO /datagram HTTP/1.0") == NS_OK
        ? NS_DRIVER_ACCEPT_DATA
        : NS_DRIVER_ACCEPT_ERROR;
}

static ssize_t
Recv(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
     unsigned int flags)
{
    return Ns_SockRecvBufs(sock, bufs, nbufs, timeoutPtr, flags);
}

static ssize_t
RecvUdp(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
        unsigned int flags)
{
    socklen_t size = sizeof(sock->sa);

    return recvfrom(sock->sock, bufs[0].iov_base, bufs[0].iov_len, 0,
                    (struct sockaddr *) &sock->sa, &size);
}

#if NS_API_LEVEL >= 50000
static ssize_t
Send(Ns_Sock *sock, const struct iovec *bufs, int nbufs, unsigned int flags)
#else
static ssize_t
Send(Ns_Sock *sock, const struct iovec *bufs, int nbufs,
     const Ns_Time *timeoutPtr, unsigned int flags)
#endif
{
#if NS_API_LEVEL >= 50000
    return Ns_SockSendBufs(sock, bufs, nbufs, flags);
#else
    return Ns_SockSendBufs(sock, bufs, nbufs, timeoutPtr, flags);
#endif
}

#if NS_API_LEVEL >= 50000
static ssize_t
SendFile(Ns_Sock *sock, Ns_FileVec *bufs, int nbufs, unsigned int flags)
{
    return Ns_SockSendFileBufs(sock, bufs, nbufs, flags);
}
#else
static ssize_t
SendFile(Ns_Sock *sock, Ns_FileVec *bufs, int nbufs, Ns_Time *timeoutPtr,
         unsigned int flags)
{
    return Ns_SockSendFileBufs(sock, bufs, nbufs, timeoutPtr, flags);
}
#endif

#if NS_API_LEVEL >= 50000
static ssize_t
SendUdp(Ns_Sock *sock, const struct iovec *bufs, int nbufs, unsigned int flags)
#else
static ssize_t
SendUdp(Ns_Sock *sock, const struct iovec *bufs, int nbufs,
        const Ns_Time *timeoutPtr, unsigned int flags)
#endif
{
    struct msghdr msg = {
        .msg_name = &sock->sa,
        .msg_namelen = sock->sa.ss_family == AF_INET
            ? sizeof(struct sockaddr_in)
            : sizeof(struct sockaddr_in6),
        .msg_iov = (struct iovec *) bufs,
        .msg_iovlen = (size_t) nbufs};

    return sendmsg(sock->sock, &msg, 0);
}

static bool
Keep(Ns_Sock *sock)
{
    return true;
}

/*
 * The datagram, and who sent it.
 */
static Ns_ReturnCode
Echo(void *arg, Ns_Conn *conn)
{
    const Tcl_DString *contentPtr = Ns_ConnSockContent(conn);
    Tcl_DString        ds;
    struct iovec       piece;

    Tcl_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s %s %s from %s: %.*s", (const char *) arg,
                     conn->request.method, conn->request.url, Ns_ConnPeer(conn),
                     contentPtr->length, contentPtr->string);
    piece.iov_base = ds.string;
    piece.iov_len = (size_t) ds.length;
    (void) Ns_ConnSend(conn, &piece, 1);
    Tcl_DStringFree(&ds);
    return NS_FILTER_RETURN;
}

/*
 * A line, which nobody has read yet.
 */
static Ns_ReturnCode
ReadLine(void *arg, Ns_Conn *conn)
{
    NS_SOCKET    sock = Ns_ConnSock(conn);
    Ns_Time      limit = {30, 0};
    char         line[100];
    struct iovec piece = {line, sizeof(line)};
    ssize_t      n;

    n = Ns_SockRecvBufs(sock, &piece, 1, &limit, 0u);
    if (n > 0) {
        (void) Ns_SockSend(sock, line, (size_t) n, &limit);
    }
    return NS_FILTER_RETURN;
}

static Tcl_Obj *
ConnInfo(Ns_Sock *sock)
{
    Tcl_Obj *dictPtr = Tcl_NewDictObj();

    Tcl_DictObjPut(NULL, dictPtr, Tcl_NewStringObj("driver", TCL_INDEX_NONE),
                   Tcl_NewStringObj(sock->driver->moduleName, TCL_INDEX_NONE));
    return dictPtr;
}

static void
Close(Ns_Sock *sock)
{
    (void) ns_sockclose(sock->sock);
    sock->sock = NS_INVALID_SOCKET;
}

static void
CloseUdp(Ns_Sock *sock)
{
    sock->sock = NS_INVALID_SOCKET;
}
