/* SPDX-License-Identifier: MPL-2.0
 * nssocket.h --
 *
 *      Sockets, socket callbacks, socket tasks, event queues, name lookup.
 *
 *      New sockets are close-on-exec.  NS_INVALID_SOCKET is failure, with the
 *      reason in errno.  Times are spans; NULL is no limit.
 */

#ifndef NSSOCKET_H
#define NSSOCKET_H

#include "nstypes.h"

#define ns_sockclose    close
#define ns_sockioctl    ioctl
#define ns_sockerrno    errno
#define ns_send         send
#define ns_recv         recv
#define ns_sockstrerror strerror
#define ns_sockdup      dup
#define ns_socknbclose  close

/*
 * Listen for TCP connections on an address (NULL: any), IPv4 or IPv6.  A port
 * that was bound before the process changed its user is taken over, and the
 * helper for privileged ports is asked.
 */
NS_EXTERN NS_SOCKET Ns_SockListen(const char *address, int port);
NS_EXTERN NS_SOCKET Ns_SockListenEx(const char *address, int port, int backlog);

/*
 * The same for UDP.
 */
NS_EXTERN NS_SOCKET Ns_SockListenUdp(const char *address, int port);

/*
 * As later sources call them: shared with others that listen in this way, if
 * the last argument is true.  It may be left out.
 */
NS_EXTERN NS_SOCKET Ns_SockListenEx_33(const char *address, unsigned short port,
                                       int backlog, bool reusePort, ...);
NS_EXTERN NS_SOCKET Ns_SockListenUdp_33(const char    *address,
                                        unsigned short port, bool reusePort,
                                        ...);
#if NS_API_LEVEL >= 49933
#define Ns_SockListenEx(address, port, ...) \
    Ns_SockListenEx_33((address), (port), __VA_ARGS__, false)
#define Ns_SockListenUdp(address, ...) \
    Ns_SockListenUdp_33((address), __VA_ARGS__, false)
#endif

/*
 * The same for raw and Unix-domain sockets (backlog 0: datagrams).
 */
NS_EXTERN NS_SOCKET Ns_SockListenRaw(int protocol);
NS_EXTERN NS_SOCKET Ns_SockListenUnix(const char *path, int backlog, int mode);

/*
 * Bound, not listening; Ns_BindSock is an old name of Ns_SockBind.
 */
NS_EXTERN NS_SOCKET Ns_SockBind(struct sockaddr_in *saPtr);
NS_EXTERN NS_SOCKET Ns_BindSock(struct sockaddr_in *saPtr);
NS_EXTERN NS_SOCKET Ns_SockBindUdp(struct sockaddr_in *saPtr);
NS_EXTERN NS_SOCKET Ns_SockBindRaw(int protocol);
NS_EXTERN NS_SOCKET Ns_SockBindUnix(const char *path, int type, int mode);

/*
 * Ask the helper: type T (options: backlog), U, D (port: mode, options:
 * backlog), or R (port: protocol).
 */
NS_EXTERN NS_SOCKET Ns_SockBinderListen(int type, const char *address, int port,
                                        int options);

/*
 * Accept a connection, blocking mode; failures other than EAGAIN are logged.
 */
#if NS_API_LEVEL >= 49933
NS_EXTERN NS_SOCKET Ns_SockAccept(NS_SOCKET sock, struct sockaddr *saPtr,
                                  socklen_t *lengthPtr);
#else
NS_EXTERN NS_SOCKET Ns_SockAccept(NS_SOCKET sock, struct sockaddr *saPtr,
                                  int *lengthPtr);
#endif

/*
 * Connect, from a local address and port if given.  The addresses of a name are
 * tried one after the other, the next when one fails or is silent for 250 ms;
 * the first that answers wins.  errno 0: the host is not known.
 */
NS_EXTERN NS_SOCKET Ns_SockConnect(const char *host, int port);
NS_EXTERN NS_SOCKET Ns_SockConnect2(const char *host, int port,
                                    const char *localHost, int localPort);

/*
 * Connect to a Unix-domain socket, at once or not at all (errno); type is
 * SOCK_STREAM (also with 0) or another type, with SOCK_NONBLOCK if the socket
 * is to be so.  *statusPtr (may be NULL) is NS_OK, or NS_ERROR.
 */
NS_EXTERN NS_SOCKET Ns_SockConnectUnix(const char *path, int type,
                                       Ns_ReturnCode *statusPtr);

/*
 * Begin to connect; non-blocking.  Writable when connected or failed.  Of a
 * name with several addresses, all but the last are waited for, 250 ms each.
 */
NS_EXTERN NS_SOCKET Ns_SockAsyncConnect(const char *host, int port);
NS_EXTERN NS_SOCKET Ns_SockAsyncConnect2(const char *host, int port,
                                         const char *localHost, int localPort);

/*
 * Connect within a time; the socket is blocking.
 */
NS_EXTERN NS_SOCKET Ns_SockTimedConnect(const char *host, int port,
                                        const Ns_Time *timeoutPtr);
NS_EXTERN NS_SOCKET Ns_SockTimedConnect2(const char *host, int port,
                                         const char *localHost, int localPort,
                                         const Ns_Time *timeoutPtr);

/*
 * Wait for one of NS_SOCK_READ, WRITE, EXCEPTION: NS_OK, NS_TIMEOUT, NS_ERROR
 * and errno, also for a descriptor that is not open.  timeout is in seconds,
 * negative for no limit.
 */
NS_EXTERN int Ns_SockWait(NS_SOCKET sock, int what, int timeout);
NS_EXTERN int Ns_SockTimedWait(NS_SOCKET sock, int what,
                               const Ns_Time *timeoutPtr);

/*
 * One transfer, perhaps of a part; waits once if the socket is not ready.  The
 * bytes, or -1.
 *
 * With a limit of zero nothing waits, and the results are those of a driver's
 * callbacks: 0 for "not now", -1 also for the end of data.
 */
NS_EXTERN int     Ns_SockRecv(NS_SOCKET sock, void *buffer, size_t length,
                              const Ns_Time *timeoutPtr);
NS_EXTERN int     Ns_SockSend(NS_SOCKET sock, const void *buffer, size_t length,
                              const Ns_Time *timeoutPtr);
NS_EXTERN int     Ns_SockRecvBufs(NS_SOCKET sock, struct iovec *vecs, int nVecs,
                                  const Ns_Time *timeoutPtr, int flags);
NS_EXTERN ssize_t Ns_SockSendBufs(Ns_Sock *sock, const struct iovec *vecs,
                                  int nVecs, const Ns_Time *timeoutPtr,
                                  int flags);

/*
 * As later sources may call them: from 5.0 on, sending needs no time limit, and
 * then does not wait.
 */
NS_EXTERN ssize_t Ns_SockSendBufs_50(Ns_Sock *sock, const struct iovec *vecs,
                                     int nVecs, unsigned int flags);
#if NS_API_LEVEL >= 50000
#define Ns_SockSendBufs(sock, vecs, nVecs, ...)                   \
    NS_THIRD(__VA_ARGS__, Ns_SockSendBufs, Ns_SockSendBufs_50, 0) \
    ((sock), (vecs), (nVecs), __VA_ARGS__)
#endif
NS_EXTERN ssize_t Ns_SockRecvBufs_33(Ns_Sock *sock, struct iovec *vecs,
                                     int nVecs, const Ns_Time *timeoutPtr,
                                     unsigned int flags);
#if NS_API_LEVEL >= 49933 && !defined(__cplusplus)
#define Ns_SockRecvBufs(sock, vecs, nVecs, timeoutPtr, flags)          \
    _Generic((sock), Ns_Sock *                                         \
             : Ns_SockRecvBufs_33, default                             \
             : Ns_SockRecvBufs)((sock), (vecs), (nVecs), (timeoutPtr), \
                                (flags))
#endif

/*
 * Send without waiting: the bytes, which may be a part, 0 when the socket takes
 * none now, -1 when it has failed; *errnoPtr (may be NULL) is the reason then,
 * else 0.
 */
NS_EXTERN ssize_t Ns_SockSendBufsEx(NS_SOCKET sock, const struct iovec *vecs,
                                    int nVecs, unsigned int flags,
                                    unsigned long *errnoPtr);

/*
 * Why sending to a client has failed, of a socket that the server has given
 * out; 0: it has not.  A driver may set it where errno does not say it.
 */
NS_EXTERN unsigned long Ns_SockGetSendErrno(const Ns_Sock *sock);
NS_EXTERN void          Ns_SockSetSendErrno(Ns_Sock *sock, unsigned long error);

/*
 * Whether calls wait.  NS_ERROR: errno tells why.
 */
NS_EXTERN int Ns_SockSetNonBlocking(NS_SOCKET sock);
NS_EXTERN int Ns_SockSetBlocking(NS_SOCKET sock);

/*
 * Let the kernel report a connection only when data is there, or after seconds.
 */
NS_EXTERN void Ns_SockSetDeferAccept(NS_SOCKET sock, int seconds);

/*
 * Close when writable, in the thread for callbacks.
 */
NS_EXTERN int Ns_SockCloseLater(NS_SOCKET sock);

/*
 * The IPv4 address of a host (NULL: any) with a port.
 */
NS_EXTERN int Ns_GetSockAddr(struct sockaddr_in *saPtr, const char *host,
                             int port);

/*
 * Its IPv4 or IPv6 address, in a struct NS_SOCKADDR_STORAGE, for later sources.
 */
NS_EXTERN int Ns_GetSockAddr_33(struct sockaddr *saPtr, const char *host,
                                unsigned short port);
#if NS_API_LEVEL >= 49933
#define Ns_GetSockAddr Ns_GetSockAddr_33
#endif

/*
 * Is there a listen callback on the port.
 */
NS_EXTERN int Ns_SockPortBound(int port);

/*
 * The last error of the calling thread, and its text.
 */
NS_EXTERN int   Ns_SockErrno(void);
NS_EXTERN int   Ns_GetSockErrno(void);
NS_EXTERN void  Ns_SetSockErrno(int error);
NS_EXTERN void  Ns_ClearSockErrno(void);
NS_EXTERN char *Ns_SockError(void);
NS_EXTERN char *Ns_SockStrError(int error);

/*
 * Fill slot i, returns length; take sent bytes off the start, the index of the
 * first slot with something left; sum of all lengths.
 */
NS_EXTERN size_t Ns_SetVec(struct iovec *vecs, int i, const void *base,
                           size_t length);
NS_EXTERN int    Ns_ResetVec(struct iovec *vecs, int nVecs, size_t sent);
NS_EXTERN size_t Ns_SumVec(struct iovec *vecs, int nVecs);

/*
 * Append the name of an address; the first or (blank between them) all IPv4
 * addresses of a host.  NS_FALSE if there is none.
 */
NS_EXTERN int Ns_GetHostByAddr(Ns_DString *dsPtr, const char *address);
NS_EXTERN int Ns_GetAddrByHost(Ns_DString *dsPtr, const char *host);
NS_EXTERN int Ns_GetAllAddrByHost(Ns_DString *dsPtr, const char *host);

/*
 * socketpair, pipe, poll: -1 on error.
 */
NS_EXTERN int ns_sockpair(NS_SOCKET *socks);
NS_EXTERN int ns_pipe(int *fds);
NS_EXTERN int ns_poll(struct pollfd *fds, unsigned long int nFds,
                      int timeoutMs);

/*
 * Have the thread -socks- call proc when one of the conditions in `when` holds,
 * one condition per call; and, timeout seconds after the last event (0: no
 * limit), with NS_SOCK_TIMEOUT.  With NS_SOCK_EXIT in `when` it is also called
 * at the shutdown.  When proc returns false it is not called again, and the
 * socket is still the caller's.  A socket has one callback: a new one replaces
 * the old.  NS_ERROR: the server stops.
 */
NS_EXTERN int Ns_SockCallback(NS_SOCKET sock, Ns_SockProc *proc, void *arg,
                              int when);
NS_EXTERN int Ns_SockCallbackEx(NS_SOCKET sock, Ns_SockProc *proc, void *arg,
                                int when, int timeout);

/*
 * Remove the callback of a socket; then proc, if given, is called with
 * NS_SOCK_CANCEL in that thread.
 */
NS_EXTERN void Ns_SockCancelCallback(NS_SOCKET sock);
NS_EXTERN int  Ns_SockCancelCallbackEx(NS_SOCKET sock, Ns_SockProc *proc,
                                       void *arg);

/*
 * Listen, and call proc with each accepted socket, which is proc's then; at
 * the end with NS_SOCK_EXIT.  NS_ERROR: cannot listen, or there is one already.
 */
NS_EXTERN int Ns_SockListenCallback(const char *address, int port,
                                    Ns_SockProc *proc, void *arg);

/*
 * The same for later sources, whose procedures return a bool.
 */
NS_EXTERN int Ns_SockCallback_33(NS_SOCKET sock, Ns_SockProc_33 *proc,
                                 void *arg, unsigned int when);
NS_EXTERN int Ns_SockCallbackEx_33(NS_SOCKET sock, Ns_SockProc_33 *proc,
                                   void *arg, unsigned int when,
                                   const Ns_Time *timeoutPtr, ...);
NS_EXTERN int Ns_SockCancelCallbackEx_33(NS_SOCKET sock, Ns_SockProc_33 *proc,
                                         void *arg, ...);
NS_EXTERN int Ns_SockListenCallback_33(const char *address, unsigned short port,
                                       Ns_SockProc_33 *proc, void *arg, ...);
#if NS_API_LEVEL >= 49933
#define Ns_SockCallback         Ns_SockCallback_33
#define Ns_SockCallbackEx       Ns_SockCallbackEx_33
#define Ns_SockCancelCallbackEx Ns_SockCancelCallbackEx_33
#define Ns_SockListenCallback   Ns_SockListenCallback_33
#endif

/*
 * A thread that runs socket tasks; NULL when no thread or descriptor is
 * available.  Destroy cancels those that are left.
 */
NS_EXTERN Ns_TaskQueue *Ns_CreateTaskQueue(const char *name);
NS_EXTERN void          Ns_DestroyTaskQueue(Ns_TaskQueue *queue);

/*
 * A task calls proc with NS_SOCK_INIT first, then as Ns_TaskCallback said, at
 * last with NS_SOCK_DONE.  Enqueue: in the queue's thread; NS_ERROR when that
 * stops.  Run: in the calling thread, until done.
 */
NS_EXTERN Ns_Task *Ns_TaskCreate(NS_SOCKET sock, Ns_TaskProc *proc, void *arg);
NS_EXTERN int      Ns_TaskEnqueue(Ns_Task *task, Ns_TaskQueue *queue);
NS_EXTERN void     Ns_TaskRun(Ns_Task *task);

/*
 * Only from proc: wait for conditions until an absolute time; the task is done.
 */
NS_EXTERN void Ns_TaskCallback(Ns_Task *task, int when, Ns_Time *timeoutPtr);
NS_EXTERN void Ns_TaskDone(Ns_Task *task);

/*
 * Is it completed; wait for that, NS_OK or NS_TIMEOUT.
 */
NS_EXTERN int Ns_TaskCompleted(Ns_Task *task);
NS_EXTERN int Ns_TaskWait(Ns_Task *task, Ns_Time *timeoutPtr);

/*
 * Have proc called with NS_SOCK_CANCEL; then the task is done.
 */
NS_EXTERN int Ns_TaskCancel(Ns_Task *task);

/*
 * Free a task that is completed or was never enqueued; its socket.
 */
NS_EXTERN NS_SOCKET Ns_TaskFree(Ns_Task *task);

/*
 * The same idea with a loop run by the caller.  Enqueue, from any thread:
 * NS_ERROR when there are maxEvents.  Callback, only from proc: the next call;
 * without one the event is over.  Run: one round, true while events remain.
 * Trigger, from any thread: end the wait.  Exit: proc gets NS_SOCK_EXIT, and
 * the queue is freed.
 */
NS_EXTERN Ns_EventQueue *Ns_CreateEventQueue(int maxEvents);
NS_EXTERN int            Ns_EventEnqueue(Ns_EventQueue *queue, NS_SOCKET sock,
                                         Ns_EventProc *proc, void *arg);
NS_EXTERN void Ns_EventCallback(Ns_Event *event, int when, Ns_Time *timeoutPtr);
NS_EXTERN int  Ns_RunEventQueue(Ns_EventQueue *queue);
NS_EXTERN void Ns_TriggerEventQueue(Ns_EventQueue *queue);
NS_EXTERN void Ns_ExitEventQueue(Ns_EventQueue *queue);

#endif
