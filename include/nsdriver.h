/*
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
 *      error.  detailsProc appends keys and values about the connection, as
 *      list elements.  setupProc: true while the client has begun, and not
 *      finished, what has to come before a request, as a handshake; it is asked
 *      when recvProc has returned 0.
 *
 *      Without recvProc or sendProc, all is up to requestProc: a
 *      connection on which the server has to receive or send is closed.
 *
 *      A module that exports `int Ns_ModuleListenPort`, a default port, has its
 *      listenProc call Ns_SockListenEx with what it was given: the address and
 *      port of its section are bound before the server touches anything that
 *      another one may use.
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
 *      NS_DRIVER_LINGER   closeProc ends what the driver has of its own, says
 *                         goodbye, and leaves the descriptor open: the server
 *                         shuts it down, reads what the client still sends, and
 *                         closes it.  Without this option closeProc closes.
 */

#ifndef NSDRIVER_H
#define NSDRIVER_H

#include "nstypes.h"

/*
 * Register a driver instance of a server, or (NULL) of all servers, under the
 * name of its module, and read the parameters that all drivers share.  The
 * structure is copied.  NS_ERROR: the reason is logged.  While the server
 * starts; the sockets are opened when all modules are loaded.
 */
NS_EXTERN int Ns_DriverInit(const char *server, const char *module,
                            Ns_DriverInitData *init);

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
                                      int nVecs, Ns_Time *timeoutPtr,
                                      int flags);

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
