/* SPDX-License-Identifier: MPL-2.0
 * routes.h --
 *
 *      Figures of each route of a server: which part of a site is asked for,
 *      how often it fails, and how long it takes.
 *
 *      A route is the pattern of a handler with its method, or the file of a
 *      page.  The first maxroutes that are asked for have figures of their own,
 *      the others have some together.  Files that are sent as they are, and
 *      requests that no handler was run for, are a route each.
 *
 *      Counting takes no lock; a route is never freed.
 */

#ifndef NSD_REQUEST_ROUTES_H
#define NSD_REQUEST_ROUTES_H

#include "request/conn.h"

typedef struct NsRoute NsRoute;

/*
 * One request that has ended.
 */
typedef struct NsRouteRequest {
    int     status; /* 0: its connection was closed without an answer. */
    NsStamp runTime;
    int64_t bytesSent;
} NsRouteRequest;

void NsRoutesServerInit(NsServer *serverPtr);

/*
 * The route of that name, made at first use; the one of all others if there
 * are maxroutes.  Whoever asks often keeps it.
 */
NsRoute *NsRouteFind(const NsServer *serverPtr, const char *name);

/*
 * That of files which are sent as they are.
 */
NsRoute *NsRouteOfFiles(const NsServer *serverPtr);

/*
 * From now on, the request is one of this route; the document of an error is
 * not.
 */
static inline void
NsConnSetRoute(NsConn *connPtr, NsRoute *routePtr)
{
    if (likely(connPtr->documentStatus == 0)) {
        connPtr->routePtr = routePtr;
    }
}

/*
 * Count a request; routePtr NULL: no handler was run for it.  By any thread.
 */
void NsRouteCount(const NsServer *serverPtr, NsRoute *routePtr,
                  const NsRouteRequest *requestPtr);

/*
 * Append a dict of those that were asked for: for each a dict of requests, how
 * many of each class of status, bytes, and how long they ran.  Percentiles are
 * met to a factor of 1.5.
 */
void NsRoutesList(Ns_DString *dsPtr, const NsServer *serverPtr);

#endif
