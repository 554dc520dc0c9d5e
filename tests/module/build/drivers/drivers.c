/* SPDX-License-Identifier: MPL-2.0
 * drivers.c --
 *
 *      Drivers as modules have them, by the module's name: `greeter` does all
 *      in its requestProc; `plain` moves bytes, and fills in field by field
 *      what version 2 has; `udp` answers datagrams.
 */

#include "ns.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

static Ns_DriverListenProc  Listen;
static Ns_DriverAcceptProc  Accept;
static Ns_DriverAcceptProc  AcceptQueue;
static Ns_DriverRecvProc    Recv;
static Ns_DriverSendProc    Send;
static Ns_DriverListenProc  ListenUdp;
static Ns_DriverAcceptProc  AcceptUdp;
static Ns_DriverRecvProc    RecvUdp;
static Ns_DriverSendProc    SendUdp;
static Ns_DriverRequestProc Echo;
static Ns_DriverCloseProc   CloseUdp;
static Ns_DriverKeepProc    Keep;
static Ns_DriverRequestProc Greet;
static Ns_DriverCloseProc   Close;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    bool              isGreeter = STREQ(module, "greeter");
    Ns_DriverInitData init;

    memset(&init, 0x5a, sizeof(init));
    init.version = NS_DRIVER_VERSION_2;
    init.name = (char *) module;
    init.listenProc = Listen;
    init.acceptProc = isGreeter ? AcceptQueue : Accept;
    init.recvProc = isGreeter ? NULL : Recv;
    init.sendProc = isGreeter ? NULL : Send;
    init.sendFileProc = NULL;
    init.keepProc = Keep;
    init.requestProc = isGreeter ? Greet : NULL;
    init.closeProc = Close;
    init.opts = isGreeter ? NS_DRIVER_NOPARSE : NS_DRIVER_ASYNC;
    init.arg = NULL;
    init.path = NULL;
    if (STREQ(module, "udp")) {
        init.listenProc = ListenUdp;
        init.acceptProc = AcceptUdp;
        init.recvProc = RecvUdp;
        init.sendProc = SendUdp;
        init.requestProc = Echo;
        init.closeProc = CloseUdp;
        init.opts = NS_DRIVER_ASYNC | NS_DRIVER_NOPARSE;
    }
    return Ns_DriverInit(server, module, &init);
}

static NS_SOCKET
ListenUdp(Ns_Driver *driver, const char *address, int port, int backlog)
{
    NS_SOCKET sock = Ns_SockListenUdp((char *) address, port);

    if (sock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetNonBlocking(sock);
    }
    return sock;
}

static NS_DRIVER_ACCEPT_STATUS
AcceptUdp(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
          int *socklenPtr)
{
    sock->sock = listensock;
    return NS_DRIVER_ACCEPT_DATA;
}

static ssize_t
RecvUdp(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
        int flags)
{
    socklen_t size = sizeof(sock->sa);

    return recvfrom(sock->sock, bufs[0].iov_base, bufs[0].iov_len, 0,
                    (struct sockaddr *) &sock->sa, &size);
}

static ssize_t
SendUdp(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
        int flags)
{
    return sendto(sock->sock, bufs[0].iov_base, bufs[0].iov_len, 0,
                  (struct sockaddr *) &sock->sa, sizeof(sock->sa));
}

/*
 * The datagram, and who sent it.
 */
static int
Echo(void *arg, Ns_Conn *conn)
{
    Ns_DString   ds;
    struct iovec piece;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "from %s: %s", Ns_ConnPeer(conn),
                     Ns_DStringValue(Ns_ConnSockContent(conn)));
    piece.iov_base = ds.string;
    piece.iov_len = (size_t) ds.length;
    (void) Ns_ConnSend(conn, &piece, 1);
    Ns_DStringFree(&ds);
    return NS_FILTER_RETURN;
}

static void
CloseUdp(Ns_Sock *sock)
{
    sock->sock = NS_INVALID_SOCKET;
}

static NS_SOCKET
Listen(Ns_Driver *driver, const char *address, int port, int backlog)
{
    NS_SOCKET sock = Ns_SockListenEx((char *) address, port, backlog);

    if (sock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetNonBlocking(sock);
    }
    return sock;
}

static NS_DRIVER_ACCEPT_STATUS
Accept(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
       int *socklenPtr)
{
    socklen_t length = (socklen_t) *socklenPtr;

    sock->sock = accept4(listensock, sockaddrPtr, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
    *socklenPtr = (int) length;
    return sock->sock < 0 ? NS_DRIVER_ACCEPT_ERROR : NS_DRIVER_ACCEPT;
}

static NS_DRIVER_ACCEPT_STATUS
AcceptQueue(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
            int *socklenPtr)
{
    return Accept(sock, listensock, sockaddrPtr, socklenPtr) == NS_DRIVER_ACCEPT
        ? NS_DRIVER_ACCEPT_QUEUE
        : NS_DRIVER_ACCEPT_ERROR;
}

static ssize_t
Recv(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
     int flags)
{
    ssize_t n = readv(sock->sock, bufs, nbufs);

    return n > 0 ? n : n < 0 && errno == EAGAIN ? 0 : -1;
}

static ssize_t
Send(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
     int flags)
{
    ssize_t n = writev(sock->sock, bufs, nbufs);

    return n >= 0 ? n : errno == EAGAIN ? 0 : -1;
}

static int
Keep(Ns_Sock *sock)
{
    return NS_FALSE;
}

/*
 * Greet, and repeat a line.  What is done then is up to the server, if the line
 * is `server`: it has nothing to answer with.
 */
static int
Greet(void *arg, Ns_Conn *conn)
{
    NS_SOCKET sock = Ns_ConnSock(conn);
    Ns_Time   limit = {30, 0};
    char      line[100];
    ssize_t   n;

    if (Ns_SockSend(sock, (char *) "hello\n", 6u, &limit) != 6) {
        return NS_FILTER_RETURN;
    }
    n = Ns_SockRecv(sock, line, sizeof(line), &limit);
    if (n > 0) {
        (void) Ns_SockSend(sock, line, (size_t) n, &limit);
    }
    return n >= 6 && strncmp(line, "server", 6u) == 0
        ? NS_OK
        : NS_FILTER_RETURN;
}

static void
Close(Ns_Sock *sock)
{
    (void) close(sock->sock);
    sock->sock = NS_INVALID_SOCKET;
}
