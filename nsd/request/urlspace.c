/* SPDX-License-Identifier: MPL-2.0
 * urlspace.c --
 *
 *      What belongs to a method and a URL.
 */

#include "request/urlspace.h"
#include "nsthread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "base/assert.h"
#include "base/lock.h"
#include "request/reqserver.h"

static atomic_int  nIds;
static atomic_uint scriptIds; /* A bit for each. */

static NsUrlTree       *TreeLocked(NsRequestServer *requestPtr, int id);
static void             FreeDropped(NsUrlDropped *droppedPtr);
static NsRequestServer *FindServer(const char *server);

int
Ns_UrlSpecificAlloc(void)
{
    int id = atomic_fetch_add(&nIds, 1);

    if (id >= NS_URL_MAX_IDS) {
        Ns_Fatal("urlspace: more than %d independent URL spaces",
                 NS_URL_MAX_IDS);
    }
    return id;
}

void
Ns_UrlSpecificSet(const char *server, const char *method, const char *url,
                  int id, void *data, int flags, void (*freeProc)(void *))
{
    NsRequestServer *requestPtr = NsRequestServerFind(server,
                                                      "Ns_UrlSpecificSet");
    NsUrlDropped    *droppedPtr = NULL;

    if (requestPtr == NULL) {
        if (freeProc != NULL) {
            freeProc(data);
        }
        return;
    }
    Ns_RWLockWrLock(&requestPtr->urlLock);
    NsUrlTreePut(TreeLocked(requestPtr, id), method, url, data, flags, freeProc,
                 &droppedPtr);
    Ns_RWLockUnlock(&requestPtr->urlLock);
    NsRequestChanged();
    FreeDropped(droppedPtr);
}

void *
Ns_UrlSpecificGet(const char *server, const char *method, const char *url,
                  int id)
{
    NsRequestServer *requestPtr = FindServer(server);

    return requestPtr == NULL
        ? NULL
        : NsUrlSpaceFind(requestPtr->serverPtr, id, method, url, NULL, NULL);
}

void *
Ns_UrlSpecificGetFast(const char *server, const char *method, const char *url,
                      int id)
{
    NsRequestServer *requestPtr = FindServer(server);
    void            *data = NULL;

    if (requestPtr != NULL) {
        Ns_RWLockRdLock(&requestPtr->urlLock);
        if (requestPtr->trees[id] != NULL) {
            data = NsUrlTreeFind(requestPtr->trees[id], method, url, true, NULL,
                                 NULL);
        }
        Ns_RWLockUnlock(&requestPtr->urlLock);
    }
    return data;
}

void *
Ns_UrlSpecificGetExact(const char *server, const char *method, const char *url,
                       int id, int flags)
{
    NsRequestServer *requestPtr = FindServer(server);

    return requestPtr == NULL
        ? NULL
        : NsUrlSpaceFindExact(requestPtr->serverPtr, id, method, url, flags,
                              NULL, NULL);
}

void *
Ns_UrlSpecificDestroy(const char *server, const char *method, const char *url,
                      int id, int flags)
{
    NsRequestServer *requestPtr = FindServer(server);
    NsUrlDropped    *droppedPtr = NULL;
    void            *data;

    if (requestPtr == NULL) {
        return NULL;
    }
    Ns_RWLockWrLock(&requestPtr->urlLock);
    data = NsUrlTreeRemove(TreeLocked(requestPtr, id), method, url, flags,
                           &droppedPtr);
    Ns_RWLockUnlock(&requestPtr->urlLock);
    NsRequestChanged();
    FreeDropped(droppedPtr);
    return data;
}

typedef struct Walk {
    Ns_ArgProc *proc;
    Ns_DString *dsPtr;
} Walk;

static void
WalkEntry(const NsUrlEntry *entryPtr, void *arg)
{
    Walk *walkPtr = arg;

    NsUrlEntryStart(walkPtr->dsPtr, entryPtr);
    walkPtr->proc(walkPtr->dsPtr, entryPtr->data);
    Tcl_DStringEndSublist(walkPtr->dsPtr);
}

void
Ns_UrlSpecificWalk(int id, const char *server, Ns_ArgProc proc,
                   Ns_DString *dsPtr)
{
    NsRequestServer *requestPtr = FindServer(server);
    Walk             walk = {proc, dsPtr};

    if (requestPtr != NULL) {
        NsUrlSpaceVisit(requestPtr->serverPtr, id, WalkEntry, &walk);
    }
}

void *
NsUrlSpaceFind(NsServer *serverPtr, int id, const char *method, const char *url,
               NsUrlAcceptProc *acceptProc, void *arg)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    void            *data;

    if (atomic_load_explicit(&requestPtr->trees[id], memory_order_relaxed)
        == NULL) {
        return NULL;
    }
    Ns_RWLockRdLock(&requestPtr->urlLock);
    data = NsUrlTreeFind(requestPtr->trees[id], method, url, false, acceptProc,
                         arg);
    Ns_RWLockUnlock(&requestPtr->urlLock);
    return data;
}

void *
NsUrlSpaceFindFor(NsServer *serverPtr, int id, const NsContext *contextPtr,
                  const char *method, const char *url, int flags,
                  NsUrlAcceptProc *acceptProc, void *arg)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    void            *data;

    if (atomic_load_explicit(&requestPtr->trees[id], memory_order_relaxed)
        == NULL) {
        return NULL;
    }
    Ns_RWLockRdLock(&requestPtr->urlLock);
    data = NsUrlTreeFindFor(requestPtr->trees[id], contextPtr, method, url,
                            flags, acceptProc, arg);
    Ns_RWLockUnlock(&requestPtr->urlLock);
    return data;
}

void *
NsUrlSpaceFindExact(NsServer *serverPtr, int id, const char *method,
                    const char *url, int flags, NsUrlAcceptProc *acceptProc,
                    void *arg)
{
    return NsUrlSpaceFindExactFor(serverPtr, id, NULL, method, url, flags,
                                  acceptProc, arg);
}

void *
NsUrlSpaceFindExactFor(NsServer *serverPtr, int id, const NsContext *contextPtr,
                       const char *method, const char *url, int flags,
                       NsUrlAcceptProc *acceptProc, void *arg)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    void            *data = NULL;

    NsAssert(id >= 0 && id < NS_URL_MAX_IDS);
    Ns_RWLockRdLock(&requestPtr->urlLock);
    if (requestPtr->trees[id] != NULL) {
        data = NsUrlTreeGetFor(requestPtr->trees[id], contextPtr, method, url,
                               flags);
    }
    if (data != NULL && acceptProc != NULL && !acceptProc(data, arg)) {
        data = NULL;
    }
    Ns_RWLockUnlock(&requestPtr->urlLock);
    return data;
}

void
NsUrlSpaceSetFor(NsServer *serverPtr, int id, NsConstraints *constraintsPtr,
                 const char *method, const char *url, void *data, int flags,
                 void (*freeProc)(void *data))
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    NsUrlDropped    *droppedPtr = NULL;

    NsAssert(data != NULL);
    Ns_RWLockWrLock(&requestPtr->urlLock);
    NsUrlTreePutFor(TreeLocked(requestPtr, id), constraintsPtr, method, url,
                    data, flags, freeProc, &droppedPtr);
    Ns_RWLockUnlock(&requestPtr->urlLock);
    NsRequestChanged();
    FreeDropped(droppedPtr);
}

bool
NsUrlSpaceRemove(NsServer *serverPtr, int id, const char *method,
                 const char *url, int flags)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    NsUrlDropped    *droppedPtr = NULL;
    bool             isFound = false;

    Ns_RWLockWrLock(&requestPtr->urlLock);
    if ((flags & NS_OP_RECURSE) != 0) {
        (void) NsUrlTreeRemove(TreeLocked(requestPtr, id), method, url, flags,
                               &droppedPtr);
    } else {
        isFound = NsUrlTreeRemoveAll(TreeLocked(requestPtr, id), method, url,
                                     flags, &droppedPtr);
    }
    Ns_RWLockUnlock(&requestPtr->urlLock);
    NsRequestChanged();
    FreeDropped(droppedPtr);
    return isFound;
}

bool
NsUrlIsPlain(const char *url)
{
    const char *query = strchr(url, '?');

    return strchr(url, '#') == NULL
        && (query == NULL || strpbrk(query, "=&") == NULL);
}

int
NsUrlSpaceNewId(void)
{
    int id = atomic_load(&nIds);

    do {
        if (id >= NS_URL_SCRIPT_IDS) {
            return -1;
        }
    } while (!atomic_compare_exchange_weak(&nIds, &id, id + 1));
    atomic_fetch_or(&scriptIds, 1u << id);
    return id;
}

bool
NsUrlSpaceIsOfScripts(int id)
{
    return id >= 0 && id < NS_URL_SCRIPT_IDS
        && (atomic_load(&scriptIds) & (1u << id)) != 0u;
}

void
NsUrlSpaceMethods(NsServer *serverPtr, int id, const NsContext *contextPtr,
                  const char *url, NsUrlMethodProc *proc, void *arg)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;

    NsAssert(id >= 0 && id < NS_URL_MAX_IDS);
    Ns_RWLockRdLock(&requestPtr->urlLock);
    if (requestPtr->trees[id] != NULL) {
        NsUrlTreeMethods(requestPtr->trees[id], contextPtr, url, proc, arg);
    }
    Ns_RWLockUnlock(&requestPtr->urlLock);
}

void
NsUrlSpaceVisit(NsServer *serverPtr, int id, NsUrlVisitProc *proc, void *arg)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;

    NsAssert(id >= 0 && id < NS_URL_MAX_IDS);
    Ns_RWLockRdLock(&requestPtr->urlLock);
    if (requestPtr->trees[id] != NULL) {
        NsUrlTreeVisit(requestPtr->trees[id], proc, arg);
    }
    Ns_RWLockUnlock(&requestPtr->urlLock);
}

void
NsUrlEntryStart(Ns_DString *dsPtr, const NsUrlEntry *entryPtr)
{
    Tcl_DStringStartSublist(dsPtr);
    Tcl_DStringAppendElement(dsPtr, entryPtr->method);
    Tcl_DStringAppendElement(dsPtr, entryPtr->directory);
    Tcl_DStringAppendElement(dsPtr, entryPtr->filter);
    Tcl_DStringAppendElement(dsPtr,
                             entryPtr->inherits ? "inherit" : "noinherit");
    if (entryPtr->constraints != NULL) {
        Tcl_DStringAppendElement(dsPtr, entryPtr->constraints);
    }
}

static NsUrlTree *
TreeLocked(NsRequestServer *requestPtr, int id)
{
    NsAssertWriteLocked(&requestPtr->urlLock);
    NsAssert(id >= 0 && id < NS_URL_MAX_IDS);

    if (requestPtr->trees[id] == NULL) {
        requestPtr->trees[id] = NsUrlTreeCreate();
    }
    return requestPtr->trees[id];
}

/*
 * A server that does not exist has no entries.
 */
static NsRequestServer *
FindServer(const char *server)
{
    NsServer *serverPtr = NsServerFind(server);

    return serverPtr == NULL ? NULL : serverPtr->requestPtr;
}

static void
FreeDropped(NsUrlDropped *droppedPtr)
{
    while (droppedPtr != NULL) {
        NsUrlDropped *nextPtr = droppedPtr->nextPtr;

        NsAssert(droppedPtr->data != NULL);
        droppedPtr->freeProc(droppedPtr->data);
        ns_free(droppedPtr);
        droppedPtr = nextPtr;
    }
}
