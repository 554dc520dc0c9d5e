/* SPDX-License-Identifier: MPL-2.0
 * httpkept.h --
 *
 *      Connections to other servers that are kept open for the next request.
 *
 *      A connection is closed when its peer closes it or no request takes it in
 *      time.
 */

#ifndef NSD_NET_HTTPKEPT_H
#define NSD_NET_HTTPKEPT_H

#include <stdbool.h>

#include "base/clock.h"
#include "net/tlsclient.h"

typedef struct NsHttpConnection {
    NS_SOCKET    sock;
    NsTlsClient *tls; /* NULL: plain TCP. */
} NsHttpConnection;

/*
 * Call once, at the start of the room.
 */
void NsHttpKeptInit(void);

/*
 * Keep a connection, on which nothing is under way, for requests with the same
 * key.  The table owns it, and closes it if there is no room.  The peer is for
 * NsHttpKeptList.
 */
void NsHttpKeptPut(const NsHttpConnection *connectionPtr, const char *key,
                   const char *peer, NsStamp span, Ns_TaskQueue *queue);

/*
 * Take a connection.  False: there is none.  The peer may close it at any time.
 */
bool NsHttpKeptTake(const char *key, NsHttpConnection *connectionPtr);

/*
 * Append {slot N state waiting expire T peer P sock N} for each connection.
 */
void NsHttpKeptList(Ns_DString *dsPtr);

#endif
