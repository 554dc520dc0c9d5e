/* SPDX-License-Identifier: MPL-2.0
 * requestid.h --
 *
 *      The ids of a request that other programs know, too: parameter requestid,
 *      and the field traceparent (W3C Trace Context).
 *
 *      A request id is what one of trustedproxies says in the field that the
 *      parameter names; otherwise it is made of a number of the server, random
 *      since its start, and of the number of the request.
 */

#ifndef NSD_REQUEST_REQUESTID_H
#define NSD_REQUEST_REQUESTID_H

#include "log/stream/identity.h"
#include "request/conn.h"
#include "request/reqserver.h"

#define NS_REQUEST_ID_BYTES 65 /* With the null byte. */
#define NS_TRACE_ID_BYTES   33
#define NS_SPAN_ID_BYTES    17
#define NS_REQUEST_ID_NAME  128 /* Longest name of its field. */

typedef struct NsRequestIds {
    NsLogIdentity identity; /* First; points to the texts, or NULL. */
    char          id[NS_REQUEST_ID_BYTES];
    char          trace[NS_TRACE_ID_BYTES];
    char          span[NS_SPAN_ID_BYTES];
} NsRequestIds;

/*
 * Settings of a server; with them, requests have ids in logs and replies.
 */
void NsRequestIdServerInit(NsRequestServer *requestPtr);

/*
 * The ids of a request as logs and the reply have them.  False: it has none,
 * and nothing is filled in.
 */
static inline bool
NsRequestHasIds(const NsMessage *messagePtr)
{
    return messagePtr->serverPtr->requestPtr->requestIdField != NULL
        || messagePtr->head.known[NS_FIELD_TRACEPARENT] >= 0;
}
bool NsRequestIdsFill(NsRequestIds *idsPtr, const NsMessage *messagePtr,
                      uint64_t number);

/*
 * Likewise, kept with the connection; NULL: none.
 */
const NsLogIdentity *NsConnMakeIdentity(NsConn *connPtr);

static inline const NsLogIdentity *
NsConnIdentity(NsConn *connPtr)
{
    return likely(!NsRequestHasIds(connPtr->messagePtr))
        ? NULL
        : NsConnMakeIdentity(connPtr);
}

/*
 * The id, whether or not logs and the reply have it.
 */
void NsRequestIdText(char             buffer[NS_REQUEST_ID_BYTES],
                     const NsMessage *messagePtr, uint64_t number);

/*
 * The field traceparent; NULL: there is none, or it is not valid.
 */
const char *NsRequestTraceParent(const NsMessage *messagePtr);

#endif
