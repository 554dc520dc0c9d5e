/* SPDX-License-Identifier: MPL-2.0
 * op.c --
 *
 *      Handlers: which procedure answers a method and a URL.
 *
 *      A running handler keeps a reference, so that it outlives being replaced
 *      or unregistered in the meantime.
 */

#include "request/op.h"
#include "nsthread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsset.h"
#include "base/assert.h"
#include "base/lock.h"
#include "http/judge.h"
#include "request/conn_int.h"
#include "request/routes.h"
#include "request/urlspace.h"

typedef struct Op {
    atomic_int nRefs; /* The URL space's, and one per running call. */
    Ns_OpProc *proc;
    _Atomic(Ns_Callback *) freeProc; /* NULL: arg is not freed. */
    void                  *arg;
    int                    flags;
    _Atomic(NsRoute *)     routePtr; /* NULL: not asked for yet.  Found by any
                                      * thread, all find the same. */
    char route[];                    /* Its name. */
} Op;

/*
 * Handlers of absolute URLs: few, found by comparing.
 */
typedef struct NsProxyHandler {
    _Atomic(struct NsProxyHandler *) nextPtr;
    const char                      *method;
    const char                      *protocol;
    _Atomic(Op *)                    opPtr; /* NULL: unregistered. */
} NsProxyHandler;

static int opId; /* Constant after NsOpInit. */

static Op             *CreateOp(const NsOpSpec *specPtr);
static bool            RefOp(void *data, void *arg);
static void            UnrefOp(void *data);
static int             RunOp(NsConn *connPtr, Op *opPtr);
static NsRoute        *RouteOf(const NsServer *serverPtr, Op *opPtr);
static int             RunNone(NsConn *connPtr, const NsContext *contextPtr);
static void            AppendAllowed(Tcl_DString *dsPtr, NsConn *connPtr,
                                     const NsContext *contextPtr);
static NsUrlVisitProc  VisitMethod;
static NsUrlMethodProc AppendMethod;
static void            AppendOnce(const char *method, Tcl_DString *dsPtr);
static bool            HasMethod(NsServer *serverPtr, const char *method);
static NsProxyHandler *FindProxy(NsRequestServer *requestPtr,
                                 const char *method, const char *protocol);
static Op  *SetProxyOpLocked(NsRequestServer *requestPtr, const char *method,
                             const char *protocol, Op *opPtr);
static void AppendOp(const NsUrlEntry *entryPtr, void *arg);

void
NsOpInit(void)
{
    opId = Ns_UrlSpecificAlloc();
}

void
Ns_RegisterRequest(const char *server, const char *method, const char *url,
                   Ns_OpProc *proc, Ns_Callback *freeProc, void *arg, int flags)
{
    /*
     * The flag that keeps the old handler's argument speaks of that argument
     * alone; the old Op is dropped in any case.
     */
    if ((flags & NS_OP_NODELETE) != 0) {
        Ns_UnRegisterRequestEx(server, method, url, flags);
    }
    Ns_UrlSpecificSet(server, method, url, opId,
                      CreateOp(&(NsOpSpec){.method = method,
                                           .url = url,
                                           .proc = proc,
                                           .freeProc = freeProc,
                                           .arg = arg,
                                           .flags = flags}),
                      flags & ~NS_OP_NODELETE, UnrefOp);
}

void
NsOpRegister(NsServer *serverPtr, const NsOpSpec *specPtr)
{
    NsUrlSpaceSetFor(serverPtr, opId, specPtr->constraintsPtr, specPtr->method,
                     specPtr->url, CreateOp(specPtr), specPtr->flags, UnrefOp);
}

void
NsOpUnregister(NsServer *serverPtr, const char *method, const char *url,
               int flags)
{
    (void) NsUrlSpaceRemove(serverPtr, opId, method, url, flags);
}

void
Ns_UnRegisterRequest(const char *server, const char *method, const char *url,
                     int inherit)
{
    Ns_UnRegisterRequestEx(server, method, url, inherit ? 0 : NS_OP_NOINHERIT);
}

void
Ns_UnRegisterRequestEx(const char *server, const char *method, const char *url,
                       int flags)
{
    if ((flags & NS_OP_NODELETE) != 0) {
        NsServer *serverPtr = NsServerFind(server);
        Op       *opPtr = NULL;

        if (serverPtr != NULL) {
            opPtr = NsUrlSpaceFindExact(serverPtr, opId, method, url, flags,
                                        RefOp, NULL);
        }
        if (opPtr != NULL) {
            atomic_store(&opPtr->freeProc, NULL);
            UnrefOp(opPtr);
        }
    }
    Ns_UrlSpecificDestroy(server, method, url, opId, flags & ~NS_OP_NODELETE);
}

void
Ns_GetRequest(const char *server, const char *method, const char *url,
              Ns_OpProc **procPtr, Ns_Callback **freeProcPtr, void **argPtr,
              int *flagsPtr)
{
    NsServer *serverPtr = NsServerFind(server);
    Op       *opPtr = NULL;

    if (serverPtr != NULL) {
        opPtr = NsUrlSpaceFind(serverPtr, opId, method, url, RefOp, NULL);
    }
    *procPtr = NULL;
    *freeProcPtr = NULL;
    *argPtr = NULL;
    *flagsPtr = 0;
    if (opPtr != NULL) {
        *procPtr = opPtr->proc;
        *freeProcPtr = atomic_load(&opPtr->freeProc);
        *argPtr = opPtr->arg;
        *flagsPtr = opPtr->flags;
        UnrefOp(opPtr);
    }
}

int
NsOpRun(NsConn *connPtr)
{
    const char *method = NsConnRequest(connPtr)->method;
    NsContext   context = {.messagePtr = connPtr->messagePtr};
    Op         *opPtr;

    NsAssert(!connPtr->messagePtr->isMalformed);
    if (method == NULL || NsConnRequest(connPtr)->url == NULL) {
        return 404;
    }
    opPtr = NsUrlSpaceFindFor(connPtr->serverPtr, opId, &context, method,
                              NsConnRequest(connPtr)->url, NS_URL_ALSO_GET,
                              RefOp, NULL);
    return opPtr != NULL ? RunOp(connPtr, opPtr) : RunNone(connPtr, &context);
}

/*
 * The method has no handler for the URL: say which ones have (RFC 9110 15.5.6),
 * which is all that OPTIONS asks for.
 */
static int
RunNone(NsConn *connPtr, const NsContext *contextPtr)
{
    const char *method = NsConnRequest(connPtr)->method;
    Tcl_DString allowed;
    int         result;

    if (!NsHttpKnowsMethod(method) && !HasMethod(connPtr->serverPtr, method)) {
        return 501;
    }
    Tcl_DStringInit(&allowed);
    AppendAllowed(&allowed, connPtr, contextPtr);
    if (Tcl_DStringLength(&allowed) == 0) {
        result = 404;
    } else {
        AppendMethod("OPTIONS", &allowed);
        (void) Ns_SetIUpdate(connPtr->pub.outputheaders, "Allow",
                             Tcl_DStringValue(&allowed));
        result = STREQ(method, "OPTIONS") ? 204 : 405;
    }
    Tcl_DStringFree(&allowed);
    return result;
}

/*
 * The methods that the request's URL has handlers for; those of the whole
 * server if the target is an asterisk.
 */
static void
AppendAllowed(Tcl_DString *dsPtr, NsConn *connPtr, const NsContext *contextPtr)
{
    const Ns_Request *requestPtr = NsConnRequest(connPtr);

    if (requestPtr->requestType == NS_REQUEST_TYPE_ASTERISK) {
        NsUrlSpaceVisit(connPtr->serverPtr, opId, VisitMethod, dsPtr);
    } else {
        NsUrlSpaceMethods(connPtr->serverPtr, opId, contextPtr, requestPtr->url,
                          AppendMethod, dsPtr);
    }
}

static void
VisitMethod(const NsUrlEntry *entryPtr, void *arg)
{
    AppendMethod(entryPtr->method, arg);
}

/*
 * Add to a list as fields have them what is not in it yet.  What answers GET
 * answers HEAD.
 */
static void
AppendMethod(const char *method, void *arg)
{
    AppendOnce(method, arg);
    if (STREQ(method, "GET")) {
        AppendOnce("HEAD", arg);
    }
}

static void
AppendOnce(const char *method, Tcl_DString *dsPtr)
{
    const char *next = Tcl_DStringValue(dsPtr);
    size_t      length = strlen(method);

    while (*next != '\0') {
        size_t nextLength = strcspn(next, ",");

        if (nextLength == length && memcmp(next, method, length) == 0) {
            return;
        }
        next += nextLength + strspn(next + nextLength, ", ");
    }
    if (Tcl_DStringLength(dsPtr) > 0) {
        Tcl_DStringAppend(dsPtr, ", ", 2);
    }
    Tcl_DStringAppend(dsPtr, method, (int) length);
}

/*
 * Whether any URL of the server has a handler for a method.
 */
static bool
HasMethod(NsServer *serverPtr, const char *method)
{
    Tcl_DString methods;
    int         length;

    Tcl_DStringInit(&methods);
    NsUrlSpaceVisit(serverPtr, opId, VisitMethod, &methods);
    length = Tcl_DStringLength(&methods);
    AppendMethod(method, &methods);
    NsAssert(Tcl_DStringLength(&methods) >= length);
    length -= Tcl_DStringLength(&methods);
    Tcl_DStringFree(&methods);
    return length == 0;
}

void
Ns_RegisterProxyRequest(const char *server, const char *method,
                        const char *protocol, Ns_OpProc *proc,
                        Ns_Callback *freeProc, void *arg)
{
    NsRequestServer *requestPtr =
        NsRequestServerFind(server, "Ns_RegisterProxyRequest");
    Op *opPtr, *oldPtr;

    if (requestPtr == NULL) {
        if (freeProc != NULL) {
            freeProc(arg);
        }
        return;
    }
    opPtr = CreateOp(&(NsOpSpec){
        .method = method,
        .url = protocol,
        .proc = proc,
        .freeProc = freeProc,
        .arg = arg});
    Ns_MutexLock(&requestPtr->listLock);
    oldPtr = SetProxyOpLocked(requestPtr, method, protocol, opPtr);
    Ns_MutexUnlock(&requestPtr->listLock);
    if (oldPtr != NULL) {
        UnrefOp(oldPtr);
    }
}

void
Ns_UnRegisterProxyRequest(const char *server, const char *method,
                          const char *protocol)
{
    NsRequestServer *requestPtr =
        NsRequestServerFind(server, "Ns_UnRegisterProxyRequest");
    Op *oldPtr = NULL;

    if (requestPtr == NULL) {
        return;
    }
    Ns_MutexLock(&requestPtr->listLock);
    if (FindProxy(requestPtr, method, protocol) != NULL) {
        oldPtr = SetProxyOpLocked(requestPtr, method, protocol, NULL);
    }
    Ns_MutexUnlock(&requestPtr->listLock);
    if (oldPtr != NULL) {
        UnrefOp(oldPtr);
    }
}

int
NsOpRunProxy(NsConn *connPtr)
{
    NsRequestServer *requestPtr = connPtr->serverPtr->requestPtr;
    NsProxyHandler  *proxyPtr;
    Op              *opPtr = NULL;

    /*
     * The lock is for the reference: between finding and counting, the handler
     * could be replaced.
     */
    Ns_MutexLock(&requestPtr->listLock);
    proxyPtr = FindProxy(requestPtr, NsConnRequest(connPtr)->method,
                         NsConnRequest(connPtr)->protocol);
    if (proxyPtr != NULL) {
        opPtr = atomic_load(&proxyPtr->opPtr);
        if (opPtr != NULL) {
            (void) RefOp(opPtr, NULL);
        }
    }
    Ns_MutexUnlock(&requestPtr->listLock);
    return opPtr == NULL ? 404 : RunOp(connPtr, opPtr);
}

/*
 * An entry with constraints may come before the one that is found without.
 */
bool
NsOpIs(NsServer *serverPtr, const char *method, const char *url,
       Ns_OpProc *proc)
{
    NsContext any = {.isAny = true};
    Op       *opPtr = NsUrlSpaceFindFor(serverPtr, opId, NULL, method, url,
                                        NS_URL_ALSO_GET, RefOp, NULL);
    bool      isHandler;

    if (opPtr == NULL) {
        return false;
    }
    isHandler = opPtr->proc == proc
        && NsUrlSpaceFindFor(serverPtr, opId, &any, method, url,
                             NS_URL_ALSO_GET, NULL, NULL)
            == opPtr;
    UnrefOp(opPtr);
    return isHandler;
}

void
NsOpDescribe(Ns_DString *dsPtr, NsServer *serverPtr, const char *method,
             const char *url)
{
    Op *opPtr = NsUrlSpaceFind(serverPtr, opId, method, url, RefOp, NULL);

    if (opPtr != NULL) {
        Ns_GetProcInfo(dsPtr, (void *) opPtr->proc, opPtr->arg);
        UnrefOp(opPtr);
    }
}

void
NsOpList(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsUrlSpaceVisit(serverPtr, opId, AppendOp, dsPtr);
}

static Op *
CreateOp(const NsOpSpec *specPtr)
{
    size_t routeBytes = strlen(specPtr->method) + strlen(specPtr->url) + 2;
    Op    *opPtr = ns_calloc(1, sizeof(Op) + routeBytes);

    atomic_init(&opPtr->nRefs, 1);
    opPtr->proc = specPtr->proc;
    atomic_init(&opPtr->freeProc, specPtr->freeProc);
    opPtr->arg = specPtr->arg;
    opPtr->flags = specPtr->flags;
    snprintf(opPtr->route, routeBytes, "%s %s", specPtr->method, specPtr->url);
    return opPtr;
}

/*
 * Accepts any handler, and counts a reference while the URL space cannot drop
 * its own.
 */
static bool
RefOp(void *data, void *arg)
{
    Op *opPtr = data;

    NsAssert(opPtr->nRefs > 0);
    atomic_fetch_add_explicit(&opPtr->nRefs, 1, memory_order_relaxed);
    return true;
}

static void
UnrefOp(void *data)
{
    Op          *opPtr = data;
    Ns_Callback *freeProc;

    NsAssert(opPtr->nRefs > 0);
    if (atomic_fetch_sub_explicit(&opPtr->nRefs, 1, memory_order_acq_rel)
        == 1) {
        freeProc = atomic_load(&opPtr->freeProc);
        if (freeProc != NULL) {
            freeProc(opPtr->arg);
        }
        ns_free(opPtr);
    }
}

/*
 * The handler may know a better name for the route: the file of a page.
 */
static int
RunOp(NsConn *connPtr, Op *opPtr)
{
    int result;

    connPtr->look = connPtr->messagePtr->report;
    NsConnMayChangeFiles(connPtr);
    NsConnSetRoute(connPtr, NULL);
    result = opPtr->proc(opPtr->arg, &connPtr->pub);
    if (connPtr->routePtr == NULL) {
        NsConnSetRoute(connPtr, RouteOf(connPtr->serverPtr, opPtr));
    }
    UnrefOp(opPtr);
    return result > 0 ? NS_ERROR : result;
}

static NsRoute *
RouteOf(const NsServer *serverPtr, Op *opPtr)
{
    NsRoute *routePtr = atomic_load_explicit(&opPtr->routePtr,
                                             memory_order_acquire);

    if (unlikely(routePtr == NULL)) {
        routePtr = NsRouteFind(serverPtr, opPtr->route);
        atomic_store_explicit(&opPtr->routePtr, routePtr, memory_order_release);
    }
    return routePtr;
}

static NsProxyHandler *
FindProxy(NsRequestServer *requestPtr, const char *method, const char *protocol)
{
    NsProxyHandler *proxyPtr = atomic_load(&requestPtr->proxies);

    while (proxyPtr != NULL
           && !(STREQ(proxyPtr->method, method)
                && STREQ(proxyPtr->protocol, protocol))) {
        proxyPtr = atomic_load(&proxyPtr->nextPtr);
    }
    return proxyPtr;
}

/*
 * The handler that was there before.
 */
static Op *
SetProxyOpLocked(NsRequestServer *requestPtr, const char *method,
                 const char *protocol, Op *opPtr)
{
    NsProxyHandler *proxyPtr = FindProxy(requestPtr, method, protocol);

    NsAssertLocked(&requestPtr->listLock);

    if (proxyPtr == NULL) {
        proxyPtr = ns_calloc(1, sizeof(NsProxyHandler));
        proxyPtr->method = ns_strdup(method);
        proxyPtr->protocol = ns_strdup(protocol);
        atomic_store(&proxyPtr->nextPtr, atomic_load(&requestPtr->proxies));
        atomic_store(&requestPtr->proxies, proxyPtr);
    }
    return atomic_exchange(&proxyPtr->opPtr, opPtr);
}

static void
AppendOp(const NsUrlEntry *entryPtr, void *arg)
{
    Ns_DString *dsPtr = arg;
    Op         *opPtr = entryPtr->data;

    NsUrlEntryStart(dsPtr, entryPtr);
    Ns_GetProcInfo(dsPtr, (void *) opPtr->proc, opPtr->arg);
    Tcl_DStringEndSublist(dsPtr);
}
