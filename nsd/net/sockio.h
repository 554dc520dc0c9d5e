/* SPDX-License-Identifier: MPL-2.0
 * sockio.h --
 *
 *      What the owner of a socket does with it: send, and let go.
 */

#ifndef NSD_NET_SOCKIO_H
#define NSD_NET_SOCKIO_H

#include "net/driver_int.h"

/*
 * Let go of a socket after a reply, whatever thread; it may not be touched
 * afterwards.
 */
void NsSockGiveBack(NsSock *sockPtr, bool keep);

/*
 * Shut our side; the driver thread then waits for the client to close.
 */
void NsSockBeginClose(NsSock *sockPtr);

/*
 * Send without waiting.  The number of bytes taken; -1 when the client is gone.
 */
ssize_t NsSockSendNow(NsSock *sockPtr, const Ns_FileVec *vecs, int nVecs);

/*
 * The reply breaks off.  It counts once, with the first reason given, whatever
 * threads notice: nothing else is sent on the socket afterwards.
 */
void NsSockCountAbort(NsSock *sockPtr, NsAbortReason reason);

/*
 * Who is to blame when sending failed: drivers have EIO when they cannot read
 * what they are to send.
 */
NsAbortReason NsSockAbortReason(const NsSock *sockPtr);

#endif
