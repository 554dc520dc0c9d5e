/* SPDX-License-Identifier: MPL-2.0
 * filter.c --
 *
 *      What runs before and after the handler.
 *
 *      Entries are never freed, and a new one is linked in only when it is
 *      complete, by a release store; so a request that reads the lists meets
 *      either the list without it or the whole entry.
 */

#include "request/filter.h"

#include "nsthread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "base/assert.h"
#include "base/lock.h"
#include "request/conn_int.h"

typedef struct NsFilter {
    _Atomic(struct NsFilter *) nextPtr;
    const char                *method; /* Glob. */
    const char                *url;    /* Glob. */
    Ns_FilterProc             *proc;
    void                      *arg;
    int                        when;           /* NS_FILTER_* */
    NsConstraints             *constraintsPtr; /* NULL: none. */
} NsFilter;

static bool IsMatch(const NsFilter *filterPtr, const NsFilter *firstPtr,
                    const char *method, const char *url, int phase);
static bool IsForHead(const NsFilter *filterPtr, const NsFilter *firstPtr,
                      int phase);
static bool Holds(const NsFilter *filterPtr, const NsConn *connPtr);

void *
Ns_RegisterFilter(const char *server, const char *method, const char *url,
                  Ns_FilterProc *proc, int when, void *arg)
{
    return NsFilterRegister(server, NULL, method, url, proc, when, arg);
}

void *
Ns_RegisterFilter_33(const char *server, const char *method, const char *url,
                     Ns_FilterProc *proc, Ns_FilterType when, void *arg,
                     bool first, ...)
{
    return NsFilterRegister(server, NULL, method, url, proc,
                            first ? when | NS_FILTER_FIRST : when, arg);
}

void *
NsFilterRegister(const char *server, NsConstraints *constraintsPtr,
                 const char *method, const char *url, Ns_FilterProc *proc,
                 int when, void *arg)
{
    NsRequestServer     *requestPtr = NsRequestServerFind(server,
                                                          "Ns_RegisterFilter");
    NsFilter            *filterPtr;
    _Atomic(NsFilter *) *linkPtr;

    if (requestPtr == NULL) {
        NsConstraintsFree(&constraintsPtr);
        return NULL;
    }
    filterPtr = ns_calloc(1, sizeof(NsFilter));
    filterPtr->method = ns_strdup(method);
    filterPtr->url = ns_strdup(url);
    filterPtr->proc = proc;
    filterPtr->arg = arg;
    filterPtr->when = when;
    filterPtr->constraintsPtr = constraintsPtr;

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

int
NsFiltersRun(NsConn *connPtr, int phase)
{
    NsRequestServer *requestPtr = connPtr->serverPtr->requestPtr;
    const NsFilter  *filterPtr, *firstPtr;
    int              result = NS_OK;

    NsAssert(NsConnRequest(connPtr)->method != NULL
             && NsConnRequest(connPtr)->url != NULL);
    firstPtr = atomic_load_explicit(&requestPtr->filters, memory_order_acquire);
    for (filterPtr = firstPtr; filterPtr != NULL && result == NS_OK;
         filterPtr =
             atomic_load_explicit(&filterPtr->nextPtr, memory_order_acquire)) {
        if ((filterPtr->when & phase) != 0
            && IsMatch(filterPtr, firstPtr, NsConnRequest(connPtr)->method,
                       NsConnRequest(connPtr)->url, phase)
            && (likely(filterPtr->constraintsPtr == NULL)
                || Holds(filterPtr, connPtr))) {
            NsConnMayChangeFiles(connPtr);
            result = filterPtr->proc(filterPtr->arg, &connPtr->pub, phase);
        }
    }
    return result == NS_FILTER_BREAK ? NS_OK : result;
}

bool
NsFiltersExist(NsServer *serverPtr)
{
    return atomic_load_explicit(&serverPtr->requestPtr->filters,
                                memory_order_relaxed)
        != NULL;
}

bool
NsFiltersMatch(NsServer *serverPtr, const char *method, const char *url)
{
    const NsFilter *firstPtr = atomic_load(&serverPtr->requestPtr->filters);
    const NsFilter *filterPtr = firstPtr;

    while (filterPtr != NULL
           && !IsMatch(filterPtr, firstPtr, method, url,
                       NS_FILTER_PRE_AUTH | NS_FILTER_POST_AUTH)) {
        filterPtr = atomic_load(&filterPtr->nextPtr);
    }
    return filterPtr != NULL;
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
    } phases[] = {{NS_FILTER_PRE_AUTH, "preauth"},
                  {NS_FILTER_POST_AUTH, "postauth"},
                  {NS_FILTER_TRACE, "trace"},
                  {NS_FILTER_VOID_TRACE, "trace"}};
    const NsFilter *filterPtr = atomic_load(&serverPtr->requestPtr->filters);
    Tcl_DString     when;

    for (; filterPtr != NULL; filterPtr = atomic_load(&filterPtr->nextPtr)) {
        Tcl_DStringInit(&when);
        for (int i = 0; i < Ns_NrElements(phases); i++) {
            if ((filterPtr->when & phases[i].phase) != 0) {
                Tcl_DStringAppendElement(&when, phases[i].name);
            }
        }
        Tcl_DStringStartSublist(dsPtr);
        Tcl_DStringAppendElement(dsPtr, filterPtr->method);
        Tcl_DStringAppendElement(dsPtr, filterPtr->url);
        Tcl_DStringAppendElement(dsPtr, Tcl_DStringValue(&when));
        if (filterPtr->constraintsPtr != NULL) {
            Tcl_DStringAppendElement(dsPtr,
                                     NsConstraintsText(filterPtr
                                                           ->constraintsPtr));
        }
        Ns_GetProcInfo(dsPtr, (void *) filterPtr->proc, filterPtr->arg);
        Tcl_DStringEndSublist(dsPtr);
        Tcl_DStringFree(&when);
    }
}

static bool
IsMatch(const NsFilter *filterPtr, const NsFilter *firstPtr, const char *method,
        const char *url, int phase)
{
    return (Tcl_StringMatch(method, filterPtr->method)
            || (*method == 'H' && STREQ(method, "HEAD")
                && IsForHead(filterPtr, firstPtr, phase)))
        && Tcl_StringMatch(url, filterPtr->url);
}

/*
 * What keeps somebody from getting a page keeps him from its head as well:
 * before the handler a filter for GET runs for HEAD, unless HEAD has one of its
 * own for the same URLs.
 */
static bool
IsForHead(const NsFilter *filterPtr, const NsFilter *firstPtr, int phase)
{
    const int auth = NS_FILTER_PRE_AUTH | NS_FILTER_POST_AUTH;

    NsAssert(firstPtr != NULL);
    if ((phase & filterPtr->when & auth) == 0
        || !STREQ(filterPtr->method, "GET")) {
        return false;
    }
    for (; firstPtr != NULL; firstPtr = atomic_load(&firstPtr->nextPtr)) {
        if ((firstPtr->when & filterPtr->when & auth) != 0
            && STREQ(firstPtr->url, filterPtr->url)
            && Tcl_StringMatch("HEAD", firstPtr->method)) {
            return false;
        }
    }
    return true;
}

static bool
Holds(const NsFilter *filterPtr, const NsConn *connPtr)
{
    return NsConstraintsHold(filterPtr->constraintsPtr,
                             &(NsContext){.messagePtr = connPtr->messagePtr});
}
