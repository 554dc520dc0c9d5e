/* SPDX-License-Identifier: MPL-2.0
 * nssock.c --
 *
 *      The driver for plain HTTP.
 */

#include "acme.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT int               Ns_ModuleListenPort = 80;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

static Ns_DriverListenProc   Listen;
static Ns_DriverAcceptProc   Accept;
static Ns_DriverRecvProc     Recv;
static Ns_DriverSendProc     Send;
static Ns_DriverSendFileProc SendFile;
static Ns_DriverKeepProc     Keep;
static Ns_DriverCloseProc    Close;
static Ns_DriverRequestProc  RefuseOthers;

static void TakePaths(const char *server, const char *module,
                      Ns_DriverInitData *initPtr);

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    Ns_DriverInitData init = {0};

    init.version = NS_DRIVER_VERSION_2;
    init.name = (char *) "nssock";
    init.listenProc = Listen;
    init.acceptProc = Accept;
    init.recvProc = Recv;
    init.sendProc = Send;
    init.sendFileProc = SendFile;
    init.keepProc = Keep;
    init.closeProc = Close;
    init.opts = NS_DRIVER_ASYNC | NS_DRIVER_FULLIO | NS_DRIVER_LINGER;
    AcmeInit(server, module);
    TakePaths(server, module, &init);
    return Ns_DriverInit(server, module, &init);
}

static NS_SOCKET
Listen(Ns_Driver *driver, const char *address, int port, int backlog)
{
    NS_SOCKET sock = Ns_SockListenEx(address, port, backlog);

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
    if (sock->sock == NS_INVALID_SOCKET) {
        return NS_DRIVER_ACCEPT_ERROR;
    }
    *socklenPtr = (int) length;
    return NS_DRIVER_ACCEPT;
}

static ssize_t
Recv(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
     int flags)
{
    return Ns_SockRecvBufs(sock->sock, bufs, nbufs, timeoutPtr, flags);
}

static ssize_t
Send(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
     int flags)
{
    return Ns_SockSendBufs(sock, bufs, nbufs, timeoutPtr, flags);
}

static ssize_t
SendFile(Ns_Sock *sock, Ns_FileVec *bufs, int nbufs, Ns_Time *timeoutPtr,
         int flags)
{
    return Ns_SockSendFileBufs(sock, bufs, nbufs, timeoutPtr, flags);
}

static int
Keep(Ns_Sock *sock)
{
    return NS_TRUE;
}

/*
 * Nothing of ours is to be released, and the server closes the socket itself,
 * because we said NS_DRIVER_LINGER.
 */
static void
Close(Ns_Sock *sock)
{
}

/*
 * With parameter `onlypaths`: requests for others are answered with 404.
 */
static void
TakePaths(const char *server, const char *module, Ns_DriverInitData *initPtr)
{
    const char  *section = Ns_ConfigGetPath(server, module, NULL);
    const char  *list = section == NULL
         ? NULL
         : Ns_ConfigGetValue(section, "onlypaths");
    const char **paths;
    int          n;

    if (list != NULL && Tcl_SplitList(NULL, list, &n, &paths) == TCL_OK
        && n > 0) {
        /* They live as long as the driver, and end with NULL. */
        initPtr->arg = paths;
        initPtr->requestProc = RefuseOthers;
    }
}

static int
RefuseOthers(void *arg, Ns_Conn *conn)
{
    const char *url = conn->request->url;

    for (const char **pathPtr = arg; url != NULL && *pathPtr != NULL;
         pathPtr++) {
        if (STREQ(url, *pathPtr)) {
            return NS_OK;
        }
    }
    (void) Ns_ConnReturnNotFound(conn);
    return NS_FILTER_RETURN;
}
