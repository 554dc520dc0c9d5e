/* SPDX-License-Identifier: MPL-2.0
 * driver_sock.h --
 *
 *      The work of a driver thread with its sockets, except reading.
 */

#ifndef NSD_NET_DRIVER_SOCK_H
#define NSD_NET_DRIVER_SOCK_H

#include "net/driver_int.h"

/*
 * When the server stops: how long a request that is on its way on an idle
 * connection may take to arrive.
 */
#define NS_STOP_GRACE INT64_C(30000000) /* Nanoseconds. */

/*
 * Report the next arrival; for spooler threads as well.
 */
void NsSockWatch(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * A handshake is over, and no request has begun.
 */
void NsSockBecomeIdle(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The server stops: a connection without a request has that time at most; and
 * so has one that is closing, unless its client may still send a body before it
 * reads.
 */
void NsSockHurry(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp limit);

/*
 * Hand the socket to a spooler thread.
 */
void NsSockEnterSpooler(NsDriverThread *threadPtr, NsSock *sockPtr);

void NsSockDestroy(NsDriverThread *threadPtr, NsSock *sockPtr);

#endif
