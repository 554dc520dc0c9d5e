/* SPDX-License-Identifier: MPL-2.0
 * reply.h --
 *
 *      Sending a reply.
 *
 *      The first output sends the header before it.  No call waits for the
 *      client.
 */

#ifndef NSD_REQUEST_REPLY_H
#define NSD_REQUEST_REPLY_H

#include "request/conn.h"

#define NS_REPLY_MAX_PIECES (2 * 16 + 4)

/*
 * Send a piece of the body, or with flags 0 all of it; NS_CONN_STREAM: more
 * will follow, NS_CONN_STREAM_CLOSE: this is the last.  Borrowed pieces are
 * released in any case.  NS_ERROR: the client is gone, or the reply already
 * finished.
 */
Ns_ReturnCode NsReplySend(NsConn *connPtr, const NsPiece *pieces, int nPieces,
                          int flags);

/*
 * End the reply: last chunk, keep or close, at-close scripts.  Harmless when
 * repeated.
 */
void NsReplyFinish(NsConn *connPtr);

/*
 * A fatal error after the header was sent: the connection is closed, and a
 * body in chunks does not get its end, so that the client notices.
 */
void NsReplyAbort(NsConn *connPtr);

static inline bool
NsReplyIsClosed(const NsConn *connPtr)
{
    return connPtr->sockPtr == NULL;
}

/*
 * Hand the socket over to the caller, blocking: output queued before is sent
 * first.  The descriptor, or -1; the server does no more with the socket.
 */
int NsConnTakeSocket(NsConn *connPtr);
/* Likewise; the reply is not ours.  takenPtr as that of NsSockTake. */
int  NsConnDetach(NsConn *connPtr, Ns_Sock *takenPtr);
bool NsConnIsDetached(const NsConn *connPtr);
bool NsConnSocketIsTaken(const NsConn *connPtr);

/*
 * Send the pieces through a writer thread, with the response header before them
 * unless already sent.  NS_ERROR when the driver has no writer threads: nothing
 * has happened then, and the pieces are still the caller's.
 */
Ns_ReturnCode NsConnSubmit(NsConn *connPtr, NsPiece *pieces, int nPieces);

#endif
