/* SPDX-License-Identifier: MPL-2.0
 * chanio.h --
 *
 *      How the bytes of a channel get through its socket: as they are, or by
 *      TLS, as a client or as the driver that accepted the connection.
 *
 *      Any thread may call; those of TLS take turns.
 */

#ifndef NSD_TCL_CHANIO_H
#define NSD_TCL_CHANIO_H

#include "net/sock.h"
#include "net/tlsclient.h"

typedef struct NsChanIo NsChanIo;

/*
 * For a socket, non-blocking from now on, which becomes its own, and so does
 * what else is given: TLS after its handshake (NULL: none), or what NsSockTake
 * has left (NULL: nothing).
 */
NsChanIo *NsChanIoCreate(NS_SOCKET sock, NsTlsClient *tlsPtr,
                         const Ns_Sock *takenPtr);
void      NsChanIoDestroy(NsChanIo **ioPtrPtr);

/*
 * Tell the peer that this is the end; threads that wait on the socket wake up,
 * and nothing is sent or received any more.
 */
void NsChanIoShut(NsChanIo *ioPtr);

NS_SOCKET NsChanIoSock(const NsChanIo *ioPtr);

/*
 * Send what the socket takes now; how many bytes.  -1: errno.
 */
int64_t NsChanIoSend(NsChanIo *ioPtr, const char *bytes, size_t length);

/*
 * Append what is there now, at most about a limit; how many bytes, 0 at the
 * end.  -1: errno, EAGAIN: nothing.  *isMorePtr: TLS may hold more, which the
 * socket does not tell.
 */
int NsChanIoReceive(NsChanIo *ioPtr, Ns_DString *dsPtr, size_t limit,
                    bool *isMorePtr);

#endif
