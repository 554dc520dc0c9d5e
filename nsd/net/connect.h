/* SPDX-License-Identifier: MPL-2.0
 * connect.h --
 *
 *      Connecting to a host that may have several addresses.
 *
 *      They are tried in the resolver's order (RFC 6724, section 6), the next
 *      one as soon as another has failed, or when none has answered for 250 ms;
 *      the first that answers wins (RFC 8305, section 5).
 */

#ifndef NSD_NET_CONNECT_H
#define NSD_NET_CONNECT_H

#include <stdbool.h>

#include "nssocket.h"
#include "base/clock.h"

#define NS_CONNECT_DELAY INT64_C(250000000) /* Nanoseconds. */

typedef struct NsConnector NsConnector;

typedef struct NsConnectSpec {
    const char *host;
    int         port;
    const char *localHost; /* To connect from; NULL: any. */
    int         localPort; /* 0: any.  Else one is tried after the
                            * other. */
} NsConnectSpec;

/*
 * Resolve the host, and begin with the first GoOn.  NULL: errno says why, 0
 * that the host is not known.
 */
NsConnector *NsConnectorCreate(const NsConnectSpec *specPtr);
void         NsConnectorDestroy(NsConnector **connectorPtrPtr);

/*
 * Do what can be done without waiting.  WAIT: continue when the descriptor is
 * readable, and no later than *againPtr (0: all addresses are being tried).
 * FAILED: errno is that of the address that failed last.
 */
typedef enum {
    NS_CONNECT_WAIT,
    NS_CONNECT_DONE,
    NS_CONNECT_FAILED
} NsConnectStatus;

NsConnectStatus NsConnectorGoOn(NsConnector *connectorPtr, NsStamp *againPtr);
int             NsConnectorFd(const NsConnector *connectorPtr);

/*
 * When the last address was begun with.
 */
NsStamp NsConnectorLastStamp(const NsConnector *connectorPtr);

/*
 * Before the first GoOn: give the descriptor the number of another, which is
 * closed.
 */
void NsConnectorReplace(NsConnector *connectorPtr, int fd);

/*
 * When it is done: the socket, non-blocking, is the caller's.  Its number is
 * that of NsConnectorFd, which is invalid afterwards.
 */
NS_SOCKET NsConnectorTake(NsConnector *connectorPtr);

/*
 * When it is not: the socket of the address that was tried last and has not
 * answered yet, likewise; NS_INVALID_SOCKET if there is none.
 */
NS_SOCKET NsConnectorTakePending(NsConnector *connectorPtr);

#endif
