/*
 * nsdriver.h --
 *
 *      What a network driver module implements and calls.
 */

#ifndef NSDRIVER_H
#define NSDRIVER_H

#include "nstypes.h"


/*
 * Register a driver instance for server (NULL = global) and module name;
 * reads the common driver parameters; NS_OK/NS_ERROR. The socket is
 * opened when drivers start.
 */
NS_EXTERN int Ns_DriverInit(const char *, const char *, Ns_DriverInitData *);

/*
 * Name given in the init structure.
 */
NS_EXTERN char *Ns_ConnDriverName(Ns_Conn *);

/*
 * Socket descriptor.
 */
NS_EXTERN NS_SOCKET Ns_ConnSock(Ns_Conn *);

/*
 * Driver's Ns_Sock (also holds `arg`).
 */
NS_EXTERN Ns_Sock *Ns_ConnSockPtr(Ns_Conn *);

/*
 * Raw input buffer: for drivers that do not let the core parse.
 */
NS_EXTERN Ns_DString *Ns_ConnSockContent(Ns_Conn *);

/*
 * Fill slot i with file or (fd −1) memory range; returns length.
 */
NS_EXTERN size_t Ns_SetFileVec(Ns_FileVec *, int, int, const void *, off_t, size_t);

/*
 * Mark `sent` bytes as done; index of first unfinished slot.
 */
NS_EXTERN int Ns_ResetFileVec(Ns_FileVec *, int, size_t);

/*
 * Send file vector to a non-blocking socket; bytes or −1.
 */
NS_EXTERN ssize_t Ns_SockSendFileBufs(Ns_Sock *, const Ns_FileVec *, int, Ns_Time *, int);

/*
 * Turn TCP_CORK on/off for a socket, tracking nesting; 1 if changed.
 */
NS_EXTERN int Ns_SockCork(Ns_Sock *, int);

/*
 * Queue bytes to the log writer thread; NS_ERROR = written directly.
 */
NS_EXTERN int NsAsyncWrite(int, const char *, size_t);

/*
 * Drain and stop / restart asynchronous log writing.
 */
NS_EXTERN void NsAsyncWriterQueueDisable(int);
NS_EXTERN void NsAsyncWriterQueueEnable(void);

/*
 * Start/stop the privileged-port helper process (core use).
 */
NS_EXTERN void NsForkBinder(void);
NS_EXTERN void NsStopBinder(void);

#endif
