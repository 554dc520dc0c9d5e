/* SPDX-License-Identifier: MPL-2.0
 * interp.c --
 *
 *      The ADP state of an interpreter: made at first use, back to the
 *      configured values for each request.
 */

#include "adp/interp.h"
#include "nsthread.h"
#include "adp/buffer.h"
#include "adp/page.h"

#define KEPT_OUTPUT_BYTES (256 * 1024) /* A larger buffer is not kept. */

static Ns_TclTraceProc CreateTrace;
static Ns_TclTraceProc DeallocateTrace;
static Ns_TclTraceProc DeleteTrace;
static NsAdpInterp    *Create(NsInterp *interpPtr);

NsAdpInterp *
NsAdpGet(Tcl_Interp *interp)
{
    NsInterp *interpPtr = NsInterpOf(interp);

    if (interpPtr == NULL || interpPtr->serverPtr == NULL
        || interpPtr->serverPtr->adpPtr == NULL) {
        return NULL;
    }
    if (interpPtr->adpPtr == NULL) {
        interpPtr->adpPtr = Create(interpPtr);
    }
    return interpPtr->adpPtr;
}

static NsAdpInterp *
Create(NsInterp *interpPtr)
{
    NsAdpInterp *adpPtr = ns_calloc(1, sizeof(*adpPtr));

    adpPtr->interpPtr = interpPtr;
    adpPtr->adpServerPtr = interpPtr->serverPtr->adpPtr;
    Ns_DStringInit(&adpPtr->output);
    Tcl_InitHashTable(&adpPtr->pages, TCL_STRING_KEYS);
    NsAdpReset(adpPtr);
    return adpPtr;
}

void
NsAdpReset(NsAdpInterp *adpPtr)
{
    const NsAdpServer *serverPtr = adpPtr->adpServerPtr;

    adpPtr->flags = serverPtr->flags;
    adpPtr->bufferBytes = serverPtr->bufferBytes;
    adpPtr->exception = NS_ADP_OK;
    NsAdpSetChannel(adpPtr, NULL);
    adpPtr->hasFlushed = false;
    adpPtr->isClosed = false;
    adpPtr->isErrorPage = false;
    adpPtr->hasFailed = false;
    adpPtr->clientStatus = 0;
    adpPtr->debugLevel = 0;
    Ns_DStringSetLength(&adpPtr->output, 0);
    if (adpPtr->output.spaceAvl > KEPT_OUTPUT_BYTES) {
        Ns_DStringFree(&adpPtr->output);
    }
    if (adpPtr->reportedObj != NULL) {
        Tcl_DecrRefCount(adpPtr->reportedObj);
        adpPtr->reportedObj = NULL;
    }
}

void
NsAdpInterpServerInit(NsServer *serverPtr)
{
    const char *server = serverPtr->name;

    (void) Ns_TclRegisterTrace(server, CreateTrace, NULL, NS_TCL_TRACE_CREATE);
    (void) Ns_TclRegisterTrace(server, DeallocateTrace, NULL,
                               NS_TCL_TRACE_DEALLOCATE);
    (void) Ns_TclRegisterTrace(server, DeleteTrace, NULL, NS_TCL_TRACE_DELETE);
}

/*
 * A procedure, so that an included page has variables of its own.
 */
static int
CreateTrace(Tcl_Interp *interp, void *arg)
{
    return Tcl_Eval(interp,
                    "proc ns_adp_include {args} {_ns_adp_include {*}$args}");
}

static int
DeallocateTrace(Tcl_Interp *interp, void *arg)
{
    NsInterp *interpPtr = NsInterpOf(interp);

    if (interpPtr != NULL && interpPtr->adpPtr != NULL) {
        NsAdpReset(interpPtr->adpPtr);
    }
    return TCL_OK;
}

static int
DeleteTrace(Tcl_Interp *interp, void *arg)
{
    NsInterp    *interpPtr = NsInterpOf(interp);
    NsAdpInterp *adpPtr = (interpPtr == NULL) ? NULL : interpPtr->adpPtr;

    if (adpPtr != NULL) {
        interpPtr->adpPtr = NULL;
        NsAdpReset(adpPtr);
        NsAdpPagesFree(adpPtr);
        Tcl_DeleteHashTable(&adpPtr->pages);
        ns_free(adpPtr->routes);
        Ns_DStringFree(&adpPtr->output);
        ns_free(adpPtr);
    }
    return TCL_OK;
}
