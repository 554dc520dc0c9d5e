/* SPDX-License-Identifier: MPL-2.0
 * debug.c --
 *
 *      Attaching a debugger to an interpreter that runs pages.
 */

#include "adp/debug.h"
#include "nsconn.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "tcl/result.h"

static const char *QueryValue(Ns_Set *querySet, const char *key);

int
NsAdpDebug(NsAdpInterp *adpPtr, const char *host, const char *port,
           const char *procs)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    Ns_DString  script;
    int         result;

    if (adpPtr->debugLevel > 0) {
        return TCL_OK;
    }
    Ns_TclMarkForDelete(interp);
    Ns_DStringInit(&script);
    Ns_DStringAppend(&script, adpPtr->adpServerPtr->debugInit);
    Ns_DStringAppendElement(&script, procs != NULL ? procs : "");
    Ns_DStringAppendElement(&script, host != NULL ? host : "");
    Ns_DStringAppendElement(&script, port != NULL ? port : "");
    result = Tcl_EvalEx(interp, Ns_DStringValue(&script),
                        Ns_DStringLength(&script), TCL_EVAL_GLOBAL);
    Ns_DStringFree(&script);
    if (result != TCL_OK) {
        (void) Ns_TclLogError(interp);
        return NsTclFail(interp, "could not initialize debugger");
    }
    adpPtr->debugLevel = 1;
    return TCL_OK;
}

int
NsAdpDebugFile(NsAdpInterp *adpPtr, const char *file)
{
    Ns_Conn    *conn = (Ns_Conn *) adpPtr->interpPtr->connPtr;
    Ns_Set     *querySet;
    const char *pattern, *tail = strrchr(file, '/');

    if (conn == NULL || adpPtr->debugLevel > 0
        || !STREQ(conn->request->method, "GET")
        || conn->request->query == NULL) {
        return TCL_OK;
    }
    querySet = Ns_ConnGetQuery(conn);
    pattern = QueryValue(querySet, "debug");
    if (pattern == NULL
        || !Tcl_StringMatch(tail != NULL ? tail + 1 : file, pattern)) {
        return TCL_OK;
    }
    if (NsAdpDebug(adpPtr, QueryValue(querySet, "dhost"),
                   QueryValue(querySet, "dport"),
                   QueryValue(querySet, "dprocs"))
        == TCL_OK) {
        return TCL_OK;
    }
    (void) Ns_ConnReturnNotice(conn, 500, "Debug Init Failed",
                               Tcl_GetStringResult(adpPtr->interpPtr->interp));
    adpPtr->exception = NS_ADP_ABORT;
    return TCL_ERROR;
}

static const char *
QueryValue(Ns_Set *querySet, const char *key)
{
    return (querySet == NULL) ? NULL : Ns_SetGet(querySet, key);
}
