/* SPDX-License-Identifier: MPL-2.0
 * makeroom.h --
 *
 *      A driver thread's sockets in the order of their last requests, and of
 *      unfinished heads; and which of them go for new ones.
 */

#ifndef NSD_NET_MAKEROOM_H
#define NSD_NET_MAKEROOM_H

#include "net/driver_int.h"

void NsSocksAppend(NsDriverThread *threadPtr, NsSock *sockPtr);
void NsSocksRemove(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * A head, or a handshake, has begun, now unless that was known.  Touch ends it.
 */
void NsSocksBeginHead(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The socket has a request, or no unfinished head any longer: it is the last
 * now.
 */
static inline void
NsSocksTouch(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    if (sockPtr->nextPtr != NULL || sockPtr->headStamp != 0) {
        NsSocksRemove(threadPtr, sockPtr);
        NsSocksAppend(threadPtr, sockPtr);
    }
}

/*
 * Close a connection for a new one: the one that has been idle longest, or else
 * that of the oldest unfinished request.  Which kind was closed, in words; NULL
 * if there is none.
 */
const char *NsSocksMakeRoom(NsDriverThread *threadPtr);

#endif
