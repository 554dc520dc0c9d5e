/*
 * nssocket.h --
 *
 *      Sockets, socket callbacks, socket tasks, event queues.
 */

#ifndef NSSOCKET_H
#define NSSOCKET_H

#include "nstypes.h"


#define ns_sockclose            close
#define ns_sockioctl            ioctl
#define ns_sockerrno            errno
#define ns_sockstrerror         strerror

/*
 * TCP listener on address (NULL = any), port, backlog; uses pre-bound and
 * helper-bound ports.
 */
NS_EXTERN NS_SOCKET Ns_SockListen(const char *, int);
NS_EXTERN NS_SOCKET Ns_SockListenEx(const char *, int, int);

/*
 * UDP / raw / Unix-domain (backlog 0 = datagram, mode).
 */
NS_EXTERN NS_SOCKET Ns_SockListenUdp(const char *, int);
NS_EXTERN NS_SOCKET Ns_SockListenRaw(int);
NS_EXTERN NS_SOCKET Ns_SockListenUnix(const char *, int, int);

/*
 * Bound, not listening (second deprecated).
 */
NS_EXTERN NS_SOCKET Ns_SockBind(struct sockaddr_in *);
NS_EXTERN NS_SOCKET Ns_BindSock(struct sockaddr_in *);
NS_EXTERN NS_SOCKET Ns_SockBindUdp(struct sockaddr_in *);
NS_EXTERN NS_SOCKET Ns_SockBindRaw(int);
NS_EXTERN NS_SOCKET Ns_SockBindUnix(const char *, int, int);

/*
 * Ask the privileged helper: type T, U, D or R.
 */
NS_EXTERN NS_SOCKET Ns_SockBinderListen(int, const char *, int, int);

/*
 * Accept; logs failures other than EAGAIN.
 */
NS_EXTERN NS_SOCKET Ns_SockAccept(NS_SOCKET, struct sockaddr *, int *);

/*
 * Blocking connect (with local address/port).
 */
NS_EXTERN NS_SOCKET Ns_SockConnect(const char *, int);
NS_EXTERN NS_SOCKET Ns_SockConnect2(const char *, int, const char *, int);

/*
 * Non-blocking connect started.
 */
NS_EXTERN NS_SOCKET Ns_SockAsyncConnect(const char *, int);
NS_EXTERN NS_SOCKET Ns_SockAsyncConnect2(const char *, int, const char *, int);

/*
 * Connect within timeout.
 */
NS_EXTERN NS_SOCKET Ns_SockTimedConnect(const char *, int, Ns_Time *);
NS_EXTERN NS_SOCKET Ns_SockTimedConnect2(const char *, int, const char *, int, Ns_Time *);

/*
 * Wait for exactly one of READ, WRITE, EXCEPTION; NS_OK, NS_TIMEOUT,
 * NS_ERROR.
 */
NS_EXTERN int Ns_SockWait(NS_SOCKET, int, int);
NS_EXTERN int Ns_SockTimedWait(NS_SOCKET, int, Ns_Time *);

/*
 * One transfer with timeout; bytes or −1; may be partial.
 */
NS_EXTERN int Ns_SockRecv(NS_SOCKET, void *, size_t, Ns_Time *);
NS_EXTERN int Ns_SockSend(NS_SOCKET, void *, size_t, Ns_Time *);

/*
 * Vector versions; wait once if not ready.
 */
NS_EXTERN int Ns_SockRecvBufs(NS_SOCKET, struct iovec *, int, Ns_Time *, int);
NS_EXTERN ssize_t Ns_SockSendBufs(Ns_Sock *, struct iovec *, int, Ns_Time *, int);

/*
 * NS_OK/NS_ERROR.
 */
NS_EXTERN int Ns_SockSetNonBlocking(NS_SOCKET);
NS_EXTERN int Ns_SockSetBlocking(NS_SOCKET);

/*
 * Enable deferred accept on listener.
 */
NS_EXTERN void Ns_SockSetDeferAccept(NS_SOCKET, int);

/*
 * Close when writable, from callback thread.
 */
NS_EXTERN int Ns_SockCloseLater(NS_SOCKET);

/*
 * Fill sockaddr_in from host (NULL = any) and port.
 */
NS_EXTERN int Ns_GetSockAddr(struct sockaddr_in *, const char *, int);

/*
 * Is a listen callback bound to the port.
 */
NS_EXTERN int Ns_SockPortBound(int);

/*
 * Socket error number and text.
 */
NS_EXTERN int Ns_SockErrno(void);
NS_EXTERN int Ns_GetSockErrno(void);
NS_EXTERN void Ns_SetSockErrno(int);
NS_EXTERN void Ns_ClearSockErrno(void);
NS_EXTERN char *Ns_SockError(void);
NS_EXTERN char *Ns_SockStrError(int);

/*
 * iovec helpers: fill slot, consume bytes, total.
 */
NS_EXTERN size_t Ns_SetVec(struct iovec *, int, const void *, size_t);
NS_EXTERN int Ns_ResetVec(struct iovec *, int, size_t);
NS_EXTERN size_t Ns_SumVec(struct iovec *, int);

/*
 * Cached DNS; append result; NS_TRUE/NS_FALSE.
 */
NS_EXTERN int Ns_GetHostByAddr(Ns_DString *, const char *);
NS_EXTERN int Ns_GetAddrByHost(Ns_DString *, const char *);
NS_EXTERN int Ns_GetAllAddrByHost(Ns_DString *, const char *);

/*
 * socketpair, pipe, poll; −1 on error.
 */
NS_EXTERN int ns_sockpair(NS_SOCKET *);
NS_EXTERN int ns_pipe(int *);
NS_EXTERN int ns_poll(struct pollfd *, unsigned long int, int);

/*
 * Windows only; on Unix macros.
 */
NS_EXTERN char *NsWin32ErrMsg(int);
NS_EXTERN NS_SOCKET ns_sockdup(NS_SOCKET);
NS_EXTERN int ns_socknbclose(NS_SOCKET);

/*
 * Call proc from the socket thread on events `when` (second: seconds
 * without event → NS_SOCK_TIMEOUT). proc returns false to stop; it gets
 * exactly one condition per call. One callback per socket; a new one
 * replaces.
 */
NS_EXTERN int Ns_SockCallback(NS_SOCKET, Ns_SockProc *, void *, int);
NS_EXTERN int Ns_SockCallbackEx(NS_SOCKET, Ns_SockProc *, void *, int, int);

/*
 * Remove; proc (if given) is called with NS_SOCK_CANCEL.
 */
NS_EXTERN void Ns_SockCancelCallback(NS_SOCKET);
NS_EXTERN int Ns_SockCancelCallbackEx(NS_SOCKET, Ns_SockProc *, void *);

/*
 * Listen and call proc with each accepted socket.
 */
NS_EXTERN int Ns_SockListenCallback(const char *, int, Ns_SockProc *, void *);

/*
 * Thread running socket tasks; destroy cancels and joins.
 */
NS_EXTERN Ns_TaskQueue *Ns_CreateTaskQueue(const char *);
NS_EXTERN void Ns_DestroyTaskQueue(Ns_TaskQueue *);

/*
 * Task for socket, proc(task,sock,arg,why).
 */
NS_EXTERN Ns_Task *Ns_TaskCreate(NS_SOCKET, Ns_TaskProc *, void *);

/*
 * Hand to a queue; proc gets NS_SOCK_INIT first.
 */
NS_EXTERN int Ns_TaskEnqueue(Ns_Task *, Ns_TaskQueue *);

/*
 * Run in the calling thread until done.
 */
NS_EXTERN void Ns_TaskRun(Ns_Task *);

/*
 * From proc: next conditions and absolute timeout.
 */
NS_EXTERN void Ns_TaskCallback(Ns_Task *, int, Ns_Time *);

/*
 * From proc: finished.
 */
NS_EXTERN void Ns_TaskDone(Ns_Task *);

/*
 * Poll / wait (NULL = forever) for completion.
 */
NS_EXTERN int Ns_TaskCompleted(Ns_Task *);
NS_EXTERN int Ns_TaskWait(Ns_Task *, Ns_Time *);

/*
 * proc is called with NS_SOCK_CANCEL.
 */
NS_EXTERN int Ns_TaskCancel(Ns_Task *);

/*
 * Free; returns socket.
 */
NS_EXTERN NS_SOCKET Ns_TaskFree(Ns_Task *);

/*
 * Same idea, loop run by the caller: create(max), add, set conditions,
 * one iteration (true while events remain), wake, end.
 */
NS_EXTERN Ns_EventQueue *Ns_CreateEventQueue(int);
NS_EXTERN int Ns_EventEnqueue(Ns_EventQueue *, NS_SOCKET, Ns_EventProc *, void *);
NS_EXTERN void Ns_EventCallback(Ns_Event *, int, Ns_Time *);
NS_EXTERN int Ns_RunEventQueue(Ns_EventQueue *);
NS_EXTERN void Ns_TriggerEventQueue(Ns_EventQueue *);
NS_EXTERN void Ns_ExitEventQueue(Ns_EventQueue *);

#endif
