/* SPDX-License-Identifier: MPL-2.0
 * reqtrace.c --
 *
 *      The procedures that are told about a request.
 *
 *      Entries are linked like those of filter.c.
 */

#include "request/reqtrace.h"

#include "nsthread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "log/init.h"
#include "log/stream/unit.h"
#include "request/access.h"
#include "request/conn_int.h"

/*
 * A server trace, an access procedure, or a cleanup.
 */
typedef struct NsTrace {
    _Atomic(struct NsTrace *) nextPtr;
    Ns_TraceProc             *proc; /* NULL: an access procedure. */
    Ns_AccessProc            *accessProc;
    void                     *arg;
} NsTrace;

static NsTrace *AddTrace(const char *server, Ns_TraceProc *proc,
                         Ns_AccessProc *accessProc, void *arg);
static void     AppendTraces(Ns_DString *dsPtr, const char *type,
                             const NsTrace *tracePtr);

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
    NsServer *serverPtr = NsServerRegistering("Ns_RegisterCleanup");

    if (serverPtr == NULL) {
        return NULL;
    }
    return Ns_RegisterConnCleanup(serverPtr->name, proc, arg);
}

bool
NsReqTraceExists(NsServer *serverPtr)
{
    const NsTrace *tracePtr = atomic_load(&serverPtr->requestPtr->traces);

    while (tracePtr != NULL && tracePtr->proc == NULL) {
        tracePtr = atomic_load(&tracePtr->nextPtr);
    }
    return tracePtr != NULL
        || atomic_load(&serverPtr->requestPtr->cleanups) != NULL;
}

void
NsReqTraceRun(NsConn *connPtr)
{
    NsRequestServer *requestPtr = connPtr->serverPtr->requestPtr;
    const NsTrace   *tracePtr;

    for (tracePtr = atomic_load(&requestPtr->traces); tracePtr != NULL;
         tracePtr = atomic_load(&tracePtr->nextPtr)) {
        if (tracePtr->proc != NULL) {
            tracePtr->proc(tracePtr->arg, &connPtr->pub);
        } else {
            tracePtr->accessProc(NsAccessGet(connPtr), tracePtr->arg);
        }
    }
}

void
NsReqTraceCleanups(NsConn *connPtr)
{
    const NsTrace *tracePtr;

    for (tracePtr = atomic_load(&connPtr->serverPtr->requestPtr->cleanups);
         tracePtr != NULL; tracePtr = atomic_load(&tracePtr->nextPtr)) {
        tracePtr->proc(tracePtr->arg, &connPtr->pub);
    }
}

void
NsReqTraceAccess(NsServer *serverPtr, const Ns_Access *accessPtr)
{
    const NsTrace *tracePtr;

    for (tracePtr = atomic_load_explicit(&serverPtr->requestPtr->traces,
                                         memory_order_acquire);
         tracePtr != NULL;
         tracePtr =
             atomic_load_explicit(&tracePtr->nextPtr, memory_order_acquire)) {
        if (tracePtr->proc == NULL) {
            tracePtr->accessProc(accessPtr, tracePtr->arg);
        }
    }
    if (accessPtr->stage != NS_ACCESS_FORGOTTEN) {
        NsUnitEnd(accessPtr);
    }
}

void
NsReqTraceAnnounce(NsConn *connPtr, Ns_AccessStage stage, int64_t bytes)
{
    if (NsUnitIsWanted()
        || (NsLogIsAsync()
            && atomic_load_explicit(&connPtr->serverPtr->requestPtr->traces,
                                    memory_order_acquire)
                != NULL)) {
        Ns_Access *accessPtr = NsAccessGet(connPtr);

        accessPtr->stage = stage;
        accessPtr->bytesSent += bytes;
        NsReqTraceAccess(connPtr->serverPtr, accessPtr);
        connPtr->isAnnounced = stage == NS_ACCESS_SENDING;
        if (connPtr->isAnnounced && !accessPtr->isAnnounced) {
            NsAccessNoteAnnounced(connPtr);
        }
    }
}

void
NsReqTraceList(Ns_DString *dsPtr, NsServer *serverPtr)
{
    AppendTraces(dsPtr, "trace", atomic_load(&serverPtr->requestPtr->traces));
    AppendTraces(dsPtr, "cleanup",
                 atomic_load(&serverPtr->requestPtr->cleanups));
}

static NsTrace *
AddTrace(const char *server, Ns_TraceProc *proc, Ns_AccessProc *accessProc,
         void *arg)
{
    NsRequestServer    *requestPtr = NsRequestServerFind(server,
                                                         "Ns_RegisterServerTrace");
    NsTrace            *tracePtr;
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
        Ns_GetProcInfo(dsPtr,
                       tracePtr->proc != NULL ? (void *) tracePtr->proc
                                              : (void *) tracePtr->accessProc,
                       tracePtr->arg);
        Tcl_DStringEndSublist(dsPtr);
    }
}
