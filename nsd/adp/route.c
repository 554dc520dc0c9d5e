/* SPDX-License-Identifier: MPL-2.0
 * route.c --
 *
 *      The pages that URLs led to, as an interpreter remembers them.
 *
 *      An entry is good for one generation of the request room, like those of
 *      the driver threads' direct answers, and as long as its page is the one
 *      of its file.  A URL takes the place of another one of the same hash.
 */

#include "adp/route.h"
#include "nsthread.h"
#include "base/chars.h"
#include "request/publicfile.h"
#include "request/reqserver.h"
#include "request/routes.h"

#define N_ROUTES 64

typedef struct NsAdpRoute {
    NsAdpHeld *heldPtr; /* NULL: free. */
    char      *url;
    int        flags;
    unsigned   generation;
} NsAdpRoute;

static NsAdpHeld  *FindHeld(NsAdpInterp *adpPtr, const char *url, int flags,
                            NsLook look);
static NsAdpHeld  *Load(NsAdpInterp *adpPtr, const char *url, int flags,
                        NsLook look);
static void        Put(NsAdpInterp *adpPtr, const char *url, int flags,
                       unsigned generation, NsAdpHeld *heldPtr);
static NsAdpRoute *RouteOf(NsAdpInterp *adpPtr, const char *url);
static void        Clear(NsAdpRoute *routePtr);

NsAdpHeld *
NsAdpRouteHold(NsAdpInterp *adpPtr, const char *url, int flags, NsLook look)
{
    NsAdpHeld *heldPtr = FindHeld(adpPtr, url, flags, look);

    return heldPtr != NULL ? heldPtr : Load(adpPtr, url, flags, look);
}

static NsAdpHeld *
FindHeld(NsAdpInterp *adpPtr, const char *url, int flags, NsLook look)
{
    const NsAdpRoute *routePtr;

    if (adpPtr->routes == NULL) {
        return NULL;
    }
    routePtr = RouteOf(adpPtr, url);
    if (routePtr->heldPtr != NULL && routePtr->flags == flags
        && routePtr->generation == NsRequestGeneration()
        && STREQ(routePtr->url, url)
        && NsAdpHoldAgain(adpPtr, routePtr->heldPtr, look)) {
        return routePtr->heldPtr;
    }
    return NULL;
}

/*
 * The way is remembered if no script takes part in it.
 */
static NsAdpHeld *
Load(NsAdpInterp *adpPtr, const char *url, int flags, NsLook look)
{
    unsigned   generation = NsRequestGeneration();
    NsAdpHeld *heldPtr = NULL;
    Ns_DString path;
    bool       isDefault;

    Ns_DStringInit(&path);
    Tcl_SetErrno(0);
    if (NsPublicFile(&path, adpPtr->adpServerPtr->serverPtr, url, &isDefault)
        == NS_OK) {
        heldPtr = NsAdpHold(adpPtr, Ns_DStringValue(&path), flags, look);
    }
    Ns_DStringFree(&path);
    if (heldPtr != NULL && isDefault) {
        Put(adpPtr, url, flags, generation, heldPtr);
    }
    return heldPtr;
}

static void
Put(NsAdpInterp *adpPtr, const char *url, int flags, unsigned generation,
    NsAdpHeld *heldPtr)
{
    NsAdpRoute *routePtr;

    if (adpPtr->routes == NULL) {
        adpPtr->routes = ns_calloc(N_ROUTES, sizeof(NsAdpRoute));
    }
    routePtr = RouteOf(adpPtr, url);
    Clear(routePtr);
    *routePtr = (NsAdpRoute){.heldPtr = heldPtr,
                             .url = ns_strdup(url),
                             .flags = flags,
                             .generation = generation};
}

void
NsAdpRouteNote(const NsAdpInterp *adpPtr, NsConn *connPtr, NsAdpHeld *heldPtr)
{
    const NsServer *serverPtr = adpPtr->adpServerPtr->serverPtr;

    if (connPtr->documentStatus != 0) {
        return;
    }
    if (unlikely(heldPtr->routePtr == NULL)) {
        const char *file = Tcl_GetString(heldPtr->fileObj);
        const char *root = serverPtr->requestPtr->pageRoot;
        size_t      length = strlen(root);

        if (strncmp(file, root, length) == 0 && file[length] == '/') {
            file += length;
        }
        heldPtr->routePtr = NsRouteFind(serverPtr, file);
    }
    NsConnSetRoute(connPtr, heldPtr->routePtr);
}

void
NsAdpRouteForget(NsAdpInterp *adpPtr, const NsAdpHeld *heldPtr)
{
    for (int i = 0; adpPtr->routes != NULL && i < N_ROUTES; i++) {
        if (adpPtr->routes[i].heldPtr == heldPtr) {
            Clear(&adpPtr->routes[i]);
        }
    }
}

static NsAdpRoute *
RouteOf(NsAdpInterp *adpPtr, const char *url)
{
    return &adpPtr->routes[NsHash(url) % N_ROUTES];
}

static void
Clear(NsAdpRoute *routePtr)
{
    if (routePtr->heldPtr != NULL) {
        ns_free(routePtr->url);
        routePtr->heldPtr = NULL;
    }
}
