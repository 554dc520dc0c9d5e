/*
 * filter.c --
 *
 *      What runs before and after the handler.
 *
 *      Entries are never freed, and a new one is linked in only when it is
 *      complete, by a release store; so a request that reads the lists meets
 *      either the list without it or the whole entry.
 */

#include "log/stream/unit.h"
#include "nsthread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "base/lock.h"
#include "request/access.h"
#include "request/conn_int.h"
#include "request/filter.h"

typedef struct NsFilter {
    _Atomic(struct NsFilter *) nextPtr;
    const char    *method;      /* Glob. */
    const char    *url;         /* Glob. */
    Ns_FilterProc *proc;
    void          *arg;
    int            when;        /* NS_FILTER_* */
} NsFilter;

/*
 * A server trace, an access procedure, or a cleanup.
 */
typedef struct NsTrace {
    _Atomic(struct NsTrace *) nextPtr;
    Ns_TraceProc  *proc;        /* NULL: an access procedure. */
    Ns_AccessProc *accessProc;
    void          *arg;
} NsTrace;

static bool IsMatch(const NsFilter *filterPtr, const char *method,
                    const char *url);
static NsTrace *AddTrace(const char *server, Ns_TraceProc *proc,
                         Ns_AccessProc *accessProc, void *arg);
static void AppendTraces(Ns_DString *dsPtr, const char *type,
                         const NsTrace *tracePtr);

void *
Ns_RegisterFilter(const char *server, const char *method, const char *url,
                  Ns_FilterProc *proc, int when, void *arg)
{
    NsRequestServer *requestPtr = NsRequestServerFind(server,
                                                      "Ns_RegisterFilter");
    NsFilter        *filterPtr;
    _Atomic(NsFilter *) *linkPtr;

    if (requestPtr == NULL) {
        return NULL;
    }
    filterPtr = ns_calloc(1, sizeof(NsFilter));
    filterPtr->method = ns_strdup(method);
    filterPtr->url = ns_strdup(url);
    filterPtr->proc = proc;
    filterPtr->arg = arg;
    filterPtr->when = when;

    Ns_MutexLock(&requestPtr->listLock);
    linkPtr = &requestPtr->filters;
    if ((when & NS_FILTER_FIRST) != 0) {
        atomic_store(&filterPtr->nextPtr, atomic_load(linkPtr));
    } else {
        while (atomic_load(linkPtr) != NULL) {
            linkPtr = &atomic_load(linkPtr)->nextPtr;
        }
    }
    atomic_store(linkPtr, filterPtr);
    Ns_MutexUnlock(&requestPtr->listLock);
    NsRequestChanged();
    return filterPtr;
}

void *
Ns_RegisterServerTrace(const char *server, Ns_TraceProc *proc, void *arg)
{
    return AddTrace(server, proc, NULL, arg);
}

void
Ns_RegisterAccessProc(const char *server, Ns_AccessProc *proc, void *arg)
{
    AddTrace(server, NULL, proc, arg);
}

void *
Ns_RegisterConnCleanup(const char *server, Ns_TraceProc *proc, void *arg)
{
    NsRequestServer *requestPtr;
    NsTrace         *tracePtr;

    requestPtr = NsRequestServerFind(server, "Ns_RegisterConnCleanup");
    if (requestPtr == NULL) {
        return NULL;
    }
    tracePtr = ns_calloc(1, sizeof(NsTrace));
    tracePtr->proc = proc;
    tracePtr->arg = arg;

    Ns_MutexLock(&requestPtr->listLock);
    atomic_store(&tracePtr->nextPtr, atomic_load(&requestPtr->cleanups));
    atomic_store(&requestPtr->cleanups, tracePtr);
    Ns_MutexUnlock(&requestPtr->listLock);
    NsRequestChanged();
    return tracePtr;
}

void *
Ns_RegisterCleanup(Ns_TraceProc *proc, void *arg)
{
    NsServer *serverPtr = NsServerInitializing();

    if (serverPtr == NULL) {
        Ns_Log(Error, "Ns_RegisterCleanup: no initializing server");
        return NULL;
    }
    return Ns_RegisterConnCleanup(serverPtr->name, proc, arg);
}

int
NsFiltersRun(NsConn *connPtr, int phase)
{
    NsRequestServer *requestPtr = connPtr->serverPtr->requestPtr;
    const NsFilter  *filterPtr;
    int              result = NS_OK;

    for (filterPtr = atomic_load_explicit(&requestPtr->filters,
                                          memory_order_acquire);
         filterPtr != NULL && result == NS_OK;
         filterPtr = atomic_load_explicit(&filterPtr->nextPtr,
                                          memory_order_acquire)) {
        if ((filterPtr->when & phase) != 0
                && IsMatch(filterPtr, connPtr->request.method,
                           connPtr->request.url)) {
            NsConnMayChangeFiles(connPtr);
            result = (*filterPtr->proc)(filterPtr->arg, &connPtr->pub, phase);
        }
    }
    return result == NS_FILTER_BREAK ? NS_OK : result;
}

bool
NsFiltersExist(NsServer *serverPtr)
{
    return atomic_load_explicit(&serverPtr->requestPtr->filters,
                                memory_order_relaxed) != NULL;
}

bool
NsFiltersMatch(NsServer *serverPtr, const char *method, const char *url)
{
    const NsFilter *filterPtr = atomic_load(&serverPtr->requestPtr->filters);

    while (filterPtr != NULL && !IsMatch(filterPtr, method, url)) {
        filterPtr = atomic_load(&filterPtr->nextPtr);
    }
    return filterPtr != NULL;
}

bool
NsTracesExist(NsServer *serverPtr)
{
    const NsTrace *tracePtr = atomic_load(&serverPtr->requestPtr->traces);

    while (tracePtr != NULL && tracePtr->proc == NULL) {
        tracePtr = atomic_load(&tracePtr->nextPtr);
    }
    return tracePtr != NULL
        || atomic_load(&serverPtr->requestPtr->cleanups) != NULL;
}

void
NsTracesRun(NsConn *connPtr)
{
    NsRequestServer *requestPtr = connPtr->serverPtr->requestPtr;
    const NsTrace   *tracePtr;

    for (tracePtr = atomic_load(&requestPtr->traces); tracePtr != NULL;
         tracePtr = atomic_load(&tracePtr->nextPtr)) {
        if (tracePtr->proc != NULL) {
            (*tracePtr->proc)(tracePtr->arg, &connPtr->pub);
        } else {
            (*tracePtr->accessProc)(NsAccessGet(connPtr), tracePtr->arg);
        }
    }
}

void
NsCleanupsRun(NsConn *connPtr)
{
    const NsTrace *tracePtr;

    for (tracePtr = atomic_load(&connPtr->serverPtr->requestPtr->cleanups);
         tracePtr != NULL; tracePtr = atomic_load(&tracePtr->nextPtr)) {
        (*tracePtr->proc)(tracePtr->arg, &connPtr->pub);
    }
}

void
NsAccessRun(NsServer *serverPtr, const Ns_Access *accessPtr)
{
    const NsTrace *tracePtr;

    for (tracePtr = atomic_load_explicit(&serverPtr->requestPtr->traces,
                                         memory_order_acquire);
         tracePtr != NULL;
         tracePtr = atomic_load_explicit(&tracePtr->nextPtr,
                                         memory_order_acquire)) {
        if (tracePtr->proc == NULL) {
            (*tracePtr->accessProc)(accessPtr, tracePtr->arg);
        }
    }
    if (accessPtr->stage != NS_ACCESS_FORGOTTEN) {
        NsUnitEnd(accessPtr);
    }
}

int
NsShortcutFilterProc(void *arg, Ns_Conn *conn, int why)
{
    return NS_FILTER_BREAK;
}

void
NsFilterList(Ns_DString *dsPtr, NsServer *serverPtr)
{
    static const struct {
        int         phase;
        const char *name;
    } phases[] = {
        {NS_FILTER_PRE_AUTH, "preauth"},
        {NS_FILTER_POST_AUTH, "postauth"},
        {NS_FILTER_TRACE, "trace"},
        {NS_FILTER_VOID_TRACE, "trace"}
    };
    const NsFilter *filterPtr = atomic_load(&serverPtr->requestPtr->filters);
    Tcl_DString     when;
    int             i;

    for (; filterPtr != NULL; filterPtr = atomic_load(&filterPtr->nextPtr)) {
        Tcl_DStringInit(&when);
        for (i = 0; i < Ns_NrElements(phases); i++) {
            if ((filterPtr->when & phases[i].phase) != 0) {
                Tcl_DStringAppendElement(&when, phases[i].name);
            }
        }
        Tcl_DStringStartSublist(dsPtr);
        Tcl_DStringAppendElement(dsPtr, filterPtr->method);
        Tcl_DStringAppendElement(dsPtr, filterPtr->url);
        Tcl_DStringAppendElement(dsPtr, Tcl_DStringValue(&when));
        Ns_GetProcInfo(dsPtr, (void *) filterPtr->proc, filterPtr->arg);
        Tcl_DStringEndSublist(dsPtr);
        Tcl_DStringFree(&when);
    }
}

void
NsTraceList(Ns_DString *dsPtr, NsServer *serverPtr)
{
    AppendTraces(dsPtr, "trace", atomic_load(&serverPtr->requestPtr->traces));
    AppendTraces(dsPtr, "cleanup",
                 atomic_load(&serverPtr->requestPtr->cleanups));
}

static bool
IsMatch(const NsFilter *filterPtr, const char *method, const char *url)
{
    return Tcl_StringMatch(method, filterPtr->method)
        && Tcl_StringMatch(url, filterPtr->url);
}

static NsTrace *
AddTrace(const char *server, Ns_TraceProc *proc, Ns_AccessProc *accessProc,
         void *arg)
{
    NsRequestServer *requestPtr = NsRequestServerFind(server,
                                                      "Ns_RegisterServerTrace");
    NsTrace         *tracePtr;
    _Atomic(NsTrace *) *linkPtr;

    if (requestPtr == NULL) {
        return NULL;
    }
    tracePtr = ns_calloc(1, sizeof(NsTrace));
    tracePtr->proc = proc;
    tracePtr->accessProc = accessProc;
    tracePtr->arg = arg;

    Ns_MutexLock(&requestPtr->listLock);
    linkPtr = &requestPtr->traces;
    while (atomic_load(linkPtr) != NULL) {
        linkPtr = &atomic_load(linkPtr)->nextPtr;
    }
    atomic_store(linkPtr, tracePtr);
    Ns_MutexUnlock(&requestPtr->listLock);
    NsRequestChanged();
    return tracePtr;
}

static void
AppendTraces(Ns_DString *dsPtr, const char *type, const NsTrace *tracePtr)
{
    for (; tracePtr != NULL; tracePtr = atomic_load(&tracePtr->nextPtr)) {
        Tcl_DStringStartSublist(dsPtr);
        Tcl_DStringAppendElement(dsPtr, type);
        Ns_GetProcInfo(dsPtr, tracePtr->proc != NULL ? (void *) tracePtr->proc
                       : (void *) tracePtr->accessProc, tracePtr->arg);
        Tcl_DStringEndSublist(dsPtr);
    }
}
