/*
 * httpkept.h --
 *
 *      Connections to other servers that are kept open for the next request.
 *
 *      One that its peer closes, or that nobody takes in time, goes away.
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
 * Once, at the start of the room.
 */
void NsHttpKeptInit(void);

/*
 * Keep a connection, on which nothing is under way, for requests with the same
 * key.  It is the table's, which closes it if there is no room; the peer is
 * shown by NsHttpKeptList.
 */
void NsHttpKeptPut(const NsHttpConnection *connectionPtr, const char *key,
                   const char *peer, NsStamp span, Ns_TaskQueue *queue);

/*
 * Take one; false: there is none.  The peer may close it at any time.
 */
bool NsHttpKeptTake(const char *key, NsHttpConnection *connectionPtr);

/*
 * Append {slot N state waiting expire T peer P sock N} for each.
 */
void NsHttpKeptList(Ns_DString *dsPtr);

#endif
