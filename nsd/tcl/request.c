/*
 * request.c --
 *
 *      Tcl procs as request handlers.
 */

#include "tcl/request.h"
#include "nslog.h"
#include "request/fastpath.h"
#include "nsreturn.h"
#include "nstcl.h"
#include "tcl/result.h"

void
NsTclRequestInit(void)
{
    NsFastPathSetDirectoryProc(Ns_TclRequest);
}

int
Ns_TclRequest(Ns_Conn *conn, const char *name)
{
    Tcl_Interp *interp = Ns_GetConnInterp(conn);

    if (Tcl_EvalEx(interp, name, -1, TCL_EVAL_GLOBAL) == TCL_OK) {
        return NS_OK;
    }
    if (NsTclErrorIsBadRequest(interp)) {
        Ns_Log(Notice, "%s: %s", conn->request->line,
               Tcl_GetStringResult(interp));
        return Ns_ConnReturnBadRequest(conn, NULL);
    }
    if (NsTclErrorIs(interp, "NS_TIMEOUT")) {
        Ns_Log(Notice, "%s: %s", conn->request->line,
               Tcl_GetStringResult(interp));
        return Ns_ConnReturnUnavailable(conn);
    }
    (void) Ns_TclLogErrorRequest(interp, conn);
    return Ns_ConnReturnInternalError(conn);
}
