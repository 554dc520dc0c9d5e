/* SPDX-License-Identifier: MPL-2.0
 * h2answer.h --
 *
 *      The streams of HTTP/2 as those see them who answer: the calls of sock.h
 *      for a socket that is a stream.
 */

#ifndef NSD_NET_H2ANSWER_H
#define NSD_NET_H2ANSWER_H

#include "net/driver_int.h"

Ns_ReturnCode NsH2Send(NsSock *sockPtr, const NsPiece *pieces, int nPieces);

/*
 * A reply that is broken is reset, unless its length says that it is complete.
 */
void NsH2Finish(NsSock *sockPtr);

/*
 * What was sent is too much to be taken for delivered.
 */
bool NsH2IsQueued(const NsSock *sockPtr);

/*
 * The stream is reset, or its connection gone.
 */
bool NsH2IsGone(NsSock *sockPtr);

NsReceipt  *NsH2Follow(NsSock *sockPtr);
const char *NsH2Details(const NsSock *sockPtr);
void        NsH2SetRate(NsSock *sockPtr, int64_t bytesPerSecond);

/*
 * Take the stream away from its request, as NsSockTake does, if its client asks
 * for a tunnel and nothing was sent: a socket, whose other end is the driver
 * thread's (h2tunnel.h).  What is written there begins with the head of a reply
 * of HTTP/1.1; with status 101 the tunnel is open.
 *
 * -1: the client is gone, there is no descriptor, or the stream is no
 * connection that could be taken.  Then it ends, and the client is told to use
 * HTTP/1.1.
 */
int NsH2Take(NsSock *sockPtr);

#endif
