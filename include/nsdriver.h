/* SPDX-License-Identifier: MPL-2.0
 * nsdriver.h --
 *
 *      What a network driver module implements and calls.
 *
 *      A driver accepts connections and moves bytes; the server does everything
 *      else.  Its callbacks (Ns_DriverInitData) are called by one thread at a
 *      time for each socket, but by different threads: the driver thread reads,
 *      the thread that answers or a writer thread sends, and either closes.
 *
 *      None of them may wait: sockets are non-blocking, and the time limit they
 *      get is zero.  recvProc: bytes read; 0 = nothing there now; -1 = end of
 *      data or error.  sendProc, sendFileProc: bytes taken, 0 = none now; -1 =
 *      error, with errno EIO when what is to be sent cannot be read.
 *      detailsProc appends keys and values about the connection, as
 *      list elements.  setupProc: true while the client has begun, and not
 *      finished, what has to come before a request, as a handshake; it is asked
 *      when recvProc has returned 0.  NS_DRIVER_SETUP_WRITE: and recvProc is to
 *      be called when there is room to write, too.  protocolProc: what client
 *      and driver have agreed on (ALPN), as `h2`, or NULL; where it is there, a
 *      connection is one of HTTP/2 if it says so, and only then.
 *
 *      Without recvProc or sendProc, all is up to requestProc: a
 *      connection on which the server has to receive or send is closed.
 *
 *      A module that exports `int Ns_ModuleListenPort`, a default port, has its
 *      listenProc call Ns_SockListenEx with what it was given: the address and
 *      port of its section are bound before the server touches anything that
 *      another one may use.
 *
 *      Drivers that were written for other releases are registered side by
 *      side, whatever their version.
 *
 *      Options (Ns_DriverInitData.opts):
 *
 *      NS_DRIVER_ASYNC    the driver thread reads; always so
 *      NS_DRIVER_SSL      protocol https, default port 443
 *      NS_DRIVER_NOPARSE  the server does not interpret what is received: every
 *                         chunk is a request, its bytes are in
 *                         Ns_ConnSockContent
 *      NS_DRIVER_FULLIO   recvProc and the send procedures go on until they can
 *                         no more: a short result means that the socket is
 *                         empty, or full.  Saves a call per request.
 *      NS_DRIVER_LINGER   closeProc frees what belongs to the driver, ends the
 *                         protocol, and leaves the descriptor open: the server
 *                         shuts it down, reads what the client still sends, and
 *                         closes it.  Without this option closeProc closes.
 *      NS_DRIVER_UDP      datagrams: acceptProc may leave the listening socket
 *                         as that of the connection, recvProc fills in the
 *                         address (Ns_Sock.sa) of the sender
 *      NS_DRIVER_QUEUE_ONREAD  when there is something to read, a connection
 *                         thread gets the connection, and nothing is read
 *      NS_DRIVER_SNI      the driver knows hosts by their names; no effect
 */

#ifndef NSDRIVER_H
#define NSDRIVER_H

#include "nstypes.h"

typedef void Ns_DriverCloseProc(Ns_Sock *sock);
typedef void Ns_DriverDetailsProc(Ns_Sock *sock, Ns_DString *dsPtr);
typedef int  Ns_DriverSetupProc(const Ns_Sock *sock);
#define NS_DRIVER_SETUP_WRITE 2
typedef const char *Ns_DriverProtocolProc(const Ns_Sock *sock);
typedef int         Ns_DriverRequestProc(void *arg, Ns_Conn *conn);

/*
 * A driver as sources of 4.99.5 write it.
 */

typedef NS_SOCKET Ns_DriverListenProc_05(Ns_Driver *driver, const char *address,
                                         int port, int backlog);
typedef NS_DRIVER_ACCEPT_STATUS Ns_DriverAcceptProc_05(
    Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
    int *socklenPtr);
typedef ssize_t Ns_DriverRecvProc_05(Ns_Sock *sock, struct iovec *bufs,
                                     int nbufs, Ns_Time *timeoutPtr, int flags);
typedef ssize_t Ns_DriverSendProc_05(Ns_Sock *sock, struct iovec *bufs,
                                     int nbufs, Ns_Time *timeoutPtr, int flags);
typedef ssize_t Ns_DriverSendFileProc_05(Ns_Sock *sock, Ns_FileVec *bufs,
                                         int nbufs, Ns_Time *timeoutPtr,
                                         int flags);
typedef int     Ns_DriverKeepProc_05(Ns_Sock *sock);

typedef struct Ns_DriverInitData_05 {
    int                       version; /* NS_DRIVER_VERSION_2 or _OWN */
    NS_API_CONST char        *name;
    Ns_DriverListenProc_05   *listenProc;
    Ns_DriverAcceptProc_05   *acceptProc;
    Ns_DriverRecvProc_05     *recvProc;     /* Optional: requestProc reads. */
    Ns_DriverSendProc_05     *sendProc;     /* Optional: requestProc answers. */
    Ns_DriverSendFileProc_05 *sendFileProc; /* Optional. */
    Ns_DriverKeepProc_05     *keepProc;
    Ns_DriverRequestProc     *requestProc; /* Optional. */
    Ns_DriverCloseProc       *closeProc;
    int                       opts;
    void                     *arg;
    NS_API_CONST char        *path; /* Section; NULL: the module's. */
    /* Read with NS_DRIVER_VERSION_OWN only: other modules do not fill them. */
    Ns_DriverDetailsProc  *detailsProc;  /* Optional. */
    Ns_DriverSetupProc    *setupProc;    /* Optional. */
    Ns_DriverProtocolProc *protocolProc; /* Optional. */
} Ns_DriverInitData_05;

/*
 * The same as sources of 4.99.33 and of 5.x write it: from 5.0 on, sending
 * takes no time limit.
 */

typedef NS_SOCKET Ns_DriverListenProc_33(Ns_Driver *driver, const char *address,
                                         unsigned short port, int backlog,
                                         bool reusePort);
typedef NS_DRIVER_ACCEPT_STATUS Ns_DriverAcceptProc_33(
    Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
    socklen_t *socklenPtr);
typedef ssize_t Ns_DriverRecvProc_33(Ns_Sock *sock, struct iovec *bufs,
                                     int nbufs, Ns_Time *timeoutPtr,
                                     unsigned int flags);
typedef ssize_t Ns_DriverSendProc_33(Ns_Sock *sock, const struct iovec *bufs,
                                     int nbufs, const Ns_Time *timeoutPtr,
                                     unsigned int flags);
typedef ssize_t Ns_DriverSendFileProc_33(Ns_Sock *sock, Ns_FileVec *bufs,
                                         int nbufs, Ns_Time *timeoutPtr,
                                         unsigned int flags);
typedef ssize_t Ns_DriverSendProc_50(Ns_Sock *sock, const struct iovec *bufs,
                                     int nbufs, unsigned int flags);
typedef ssize_t Ns_DriverSendFileProc_50(Ns_Sock *sock, Ns_FileVec *bufs,
                                         int nbufs, unsigned int flags);
typedef bool    Ns_DriverKeepProc_33(Ns_Sock *sock);
typedef int     Ns_DriverClientInitProc(Tcl_Interp *interp, Ns_Sock *sock,
                                        void *arg);
/* A dict about the connection, for `ns_conn details`; NULL: nothing. */
typedef Tcl_Obj *Ns_DriverConnInfoProc(Ns_Sock *sock);

typedef struct Ns_DriverInitData_33 {
    const char             *name;
    Ns_DriverListenProc_33 *listenProc;
    Ns_DriverAcceptProc_33 *acceptProc;
    Ns_DriverRecvProc_33   *recvProc;
#if NS_API_LEVEL >= 50000
    Ns_DriverSendProc_50     *sendProc;
    Ns_DriverSendFileProc_50 *sendFileProc;
#else
    Ns_DriverSendProc_33     *sendProc;
    Ns_DriverSendFileProc_33 *sendFileProc;
#endif
    Ns_DriverKeepProc_33    *keepProc;
    Ns_DriverRequestProc    *requestProc;
    Ns_DriverCloseProc      *closeProc;
    Ns_DriverClientInitProc *clientInitProc; /* Not called. */
    int                      version;        /* NS_DRIVER_VERSION_2 to _6 */
    unsigned int             opts;
    void                    *arg;
    const char              *path;
    /* From version 4 on. */
    const char    *protocol;
    unsigned short defaultPort;
    /* From version 5 on. */
    Ns_DriverConnInfoProc *connInfoProc;
    const char            *libraryVersion;
    /* From version 6 on; not called. */
    ns_funcptr_t driverThreadProc;
    ns_funcptr_t headersEncodeProc;
    ns_funcptr_t clientcertInfoProc;
} Ns_DriverInitData_33;

#ifdef NS_MODULE_NOTES
NS_MODULE_NOTES(nsDriverNotes) = {
    NS_MODULE_NOTE(NS_NOTE_DRIVER_INIT, sizeof(Ns_DriverInitData_05)),
    NS_MODULE_NOTE(NS_NOTE_DRIVER_INIT_33, sizeof(Ns_DriverInitData_33))};
#endif

#if NS_API_LEVEL >= 49933
typedef Ns_DriverListenProc_33 Ns_DriverListenProc;
typedef Ns_DriverAcceptProc_33 Ns_DriverAcceptProc;
typedef Ns_DriverRecvProc_33   Ns_DriverRecvProc;
typedef Ns_DriverKeepProc_33   Ns_DriverKeepProc;
typedef Ns_DriverInitData_33   Ns_DriverInitData;
#if NS_API_LEVEL >= 50000
typedef Ns_DriverSendProc_50     Ns_DriverSendProc;
typedef Ns_DriverSendFileProc_50 Ns_DriverSendFileProc;
#else
typedef Ns_DriverSendProc_33     Ns_DriverSendProc;
typedef Ns_DriverSendFileProc_33 Ns_DriverSendFileProc;
#endif
#else
typedef Ns_DriverListenProc_05 Ns_DriverListenProc;
typedef Ns_DriverAcceptProc_05 Ns_DriverAcceptProc;
typedef Ns_DriverRecvProc_05 Ns_DriverRecvProc;
typedef Ns_DriverSendProc_05 Ns_DriverSendProc;
typedef Ns_DriverSendFileProc_05 Ns_DriverSendFileProc;
typedef Ns_DriverKeepProc_05 Ns_DriverKeepProc;
typedef Ns_DriverInitData_05 Ns_DriverInitData;
#endif

/*
 * Register a driver instance of a server, or (NULL) of all servers, under the
 * name of its module, and read the parameters that all drivers share.  The
 * structure is copied.  NS_ERROR: the reason is logged.  While the server
 * starts; the sockets are opened when all modules are loaded.
 */
NS_EXTERN int Ns_DriverInit(const char *server, const char *module,
                            const Ns_DriverInitData_05 *init);
NS_EXTERN int Ns_DriverInit_33(const char *server, const char *module,
                               const Ns_DriverInitData_33 *init, int apiLevel);
#if NS_API_LEVEL >= 49933
#define Ns_DriverInit(server, module, init) \
    Ns_DriverInit_33((server), (module), (init), NS_API_LEVEL)
#endif

/*
 * While a driver accepts or receives: the request line of what is not parsed
 * (NS_DRIVER_NOPARSE), so that filters, authorization and handlers are found by
 * its method and URL.  NS_ERROR: it is not one.
 */
NS_EXTERN int Ns_DriverSetRequest(Ns_Sock *sock, const char *line);

/*
 * The name that the driver gave itself; the descriptor; the driver's own part
 * of the connection, until its reply is finished.
 */
NS_EXTERN char     *Ns_ConnDriverName(Ns_Conn *conn);
NS_EXTERN NS_SOCKET Ns_ConnSock(Ns_Conn *conn);
NS_EXTERN Ns_Sock  *Ns_ConnSockPtr(Ns_Conn *conn);

/*
 * The bytes received, for drivers with NS_DRIVER_NOPARSE.
 */
NS_EXTERN Ns_DString *Ns_ConnSockContent(Ns_Conn *conn);

/*
 * Fill slot i of vecs with a part of a file or (fd -1) of memory that begins at
 * base + offset; returns length.
 */
NS_EXTERN size_t Ns_SetFileVec(Ns_FileVec *vecs, int i, int fd,
                               const void *base, off_t offset, size_t length);

/*
 * The first sent bytes are done: the index of the first slot with something
 * left, nVecs if there is none.
 */
NS_EXTERN int Ns_ResetFileVec(Ns_FileVec *vecs, int nVecs, size_t sent);

/*
 * Send memory and files over a plain, non-blocking socket, in as few packets as
 * possible; the number of bytes taken, or -1.
 */
NS_EXTERN ssize_t Ns_SockSendFileBufs(Ns_Sock *sock, const Ns_FileVec *vecs,
                                      int nVecs, const Ns_Time *timeoutPtr,
                                      int flags);

/*
 * From 5.0 on, sources need no time limit; it does not wait then.
 */
NS_EXTERN ssize_t Ns_SockSendFileBufs_50(Ns_Sock *sock, const Ns_FileVec *vecs,
                                         int nVecs, unsigned int flags);
#if NS_API_LEVEL >= 50000
#define Ns_SockSendFileBufs(sock, vecs, nVecs, ...)                       \
    NS_THIRD(__VA_ARGS__, Ns_SockSendFileBufs, Ns_SockSendFileBufs_50, 0) \
    ((sock), (vecs), (nVecs), __VA_ARGS__)
#endif

/*
 * Hold back incomplete packets (cork true) or send them.  Calls nest; 1 when
 * this one has changed something.
 */
NS_EXTERN int Ns_SockCork(Ns_Sock *sock, int cork);

/*
 * Start and stop the helper process that binds privileged ports.  The server
 * does so itself.
 */
NS_EXTERN void NsForkBinder(void);
NS_EXTERN void NsStopBinder(void);

#endif
