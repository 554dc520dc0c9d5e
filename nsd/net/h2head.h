/* SPDX-License-Identifier: MPL-2.0
 * h2head.h --
 *
 *      The head of a reply, from the text of HTTP/1 to the fields of HTTP/2.
 */

#ifndef NSD_NET_H2HEAD_H
#define NSD_NET_H2HEAD_H

#include "net/h2_int.h"

/*
 * Add the bytes at the start of the pieces that are the head's to what the
 * stream has of it, which may be complete then (hasHead); how many bytes these
 * are.  In the thread that answers, as the next.
 */
size_t NsH2HeadTake(NsH2Stream *streamPtr, const NsPiece *pieces, int nPieces);

/*
 * Make the fields, and what else is known from them, of a stream's head that is
 * complete, or that has no bytes: then the status is 200.  False: it is no head
 * of a reply.
 *
 * To a client that asks for a tunnel, 101 becomes 200, and another success 501
 * without a body.
 */
bool NsH2HeadMake(NsH2Stream *streamPtr);

#endif
