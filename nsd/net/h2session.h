/* SPDX-License-Identifier: MPL-2.0
 * h2session.h --
 *
 *      A connection that speaks HTTP/2, in its driver thread.
 */

#ifndef NSD_NET_H2SESSION_H
#define NSD_NET_H2SESSION_H

#include "net/driver_int.h"

/*
 * Whether a connection that has brought a first line is one of HTTP/2: what
 * client and driver have agreed on counts (RFC 9113, 3.2), or else that the
 * line is the start of a client's preface (3.3 and 3.4).
 */
bool NsH2IsSpoken(const NsSock *sockPtr, const char *buffer, size_t used);

/*
 * From now on the connection is a session; it ends at once if it does not begin
 * with a preface.  The buffer holds what has arrived.
 */
void NsH2Begin(NsDriverThread *threadPtr, NsSock *sockPtr, const char *buffer,
               size_t used);

/*
 * Something has arrived, can be sent, or was answered.  False: the session is
 * over, and the socket's mode says how to end the connection.
 */
bool NsH2Serve(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The connection came out of the inbox: its threads have left news.
 */
void NsH2TakePost(NsSock *sockPtr);

/*
 * The same as NsH2Serve, when time is up.
 */
bool NsH2TimeUp(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The server stops: tell the client, and serve what it has sent by now.
 */
void NsH2Stop(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * All else has ended, also what has WebSockets say goodbye: those that still
 * are there end.
 */
void NsH2StopTunnels(NsSock *sockPtr);

/*
 * Whether more requests may come.  At the last deadline: nobody has the
 * session's streams; it is gone, and the connection may go.
 */
bool NsH2MayHandOver(const NsSock *sockPtr);
bool NsH2Abandon(NsSock *sockPtr);

/*
 * At the start.
 */
void NsH2Init(void);

#endif
