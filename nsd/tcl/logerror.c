/* SPDX-License-Identifier: MPL-2.0
 * logerror.c --
 *
 *      Tcl errors in the system log.
 */

#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "tcl/failure.h"
#include "tcl/tclserver.h"

static const char *Log(Tcl_Interp *interp, Ns_Conn *conn, const char *extra);
static void        AppendRequest(Ns_DString *dsPtr, Ns_Conn *conn);

const char *
Ns_TclLogError(Tcl_Interp *interp)
{
    return Log(interp, Ns_TclGetConn(interp), NULL);
}

const char *
Ns_TclLogErrorInfo(Tcl_Interp *interp, const char *extra)
{
    return Log(interp, Ns_TclGetConn(interp), extra);
}

const char *
Ns_TclLogErrorRequest(Tcl_Interp *interp, Ns_Conn *conn)
{
    return Log(interp, conn, NULL);
}

static const char *
Log(Tcl_Interp *interp, Ns_Conn *conn, const char *extra)
{
    const char *errorInfo;
    Ns_DString  ds;

    if (extra != NULL) {
        Tcl_AddErrorInfo(interp, extra);
    }
    Ns_DStringInit(&ds);
    if (conn != NULL) {
        AppendRequest(&ds, conn);
    } else {
        Ns_DStringAppend(&ds, Tcl_GetStringResult(interp));
    }
    errorInfo = Tcl_GetVar(interp, "errorInfo", TCL_GLOBAL_ONLY);
    if (errorInfo == NULL) {
        errorInfo = "";
    }
    if (conn == NULL || !NsFailureIsNoted(NsConnOf(conn), errorInfo)) {
        Ns_Log(Error, "%s\n%s", Ns_DStringValue(&ds), errorInfo);
    }
    Ns_DStringFree(&ds);
    if (conn != NULL) {
        NsFailureNote(NsConnOf(conn), errorInfo);
    }
    return errorInfo;
}

static void
AppendRequest(Ns_DString *dsPtr, Ns_Conn *conn)
{
    const NsTclServer *tclPtr = NsConnOf(conn)->serverPtr->tclPtr;

    Ns_DStringVarAppend(dsPtr,
                        conn->request->method != NULL ? conn->request->method
                                                      : "?",
                        " ",
                        conn->request->url != NULL ? conn->request->url : "?",
                        ", PeerAddress: ", Ns_ConnPeer(conn), NULL);
    for (int i = 0; i < tclPtr->nErrorLogHeaders; i++) {
        const char *value = Ns_SetIGet(conn->headers,
                                       tclPtr->errorLogHeaders[i]);

        if (value != NULL) {
            Ns_DStringVarAppend(dsPtr, ", ", tclPtr->errorLogHeaders[i], ": ",
                                value, NULL);
        }
    }
}
