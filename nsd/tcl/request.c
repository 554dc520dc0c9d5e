/*
 * request.c --
 *
 *      Tcl procs as request handlers.
 */

#include "tcl/request.h"
#include "nslog.h"
#include "request/fastpath.h"
#include "nstcl.h"

void
NsTclRequestInit(void)
{
    NsFastPathSetDirectoryProc(Ns_TclRequest);
}

int
Ns_TclRequest(Ns_Conn *conn, const char *name)
{
    Tcl_Interp *interp = Ns_GetConnInterp(conn);
    const char *code;

    if (Tcl_EvalEx(interp, name, -1, TCL_EVAL_GLOBAL) == TCL_OK) {
        return NS_OK;
    }
    code = Tcl_GetVar(interp, "errorCode", TCL_GLOBAL_ONLY);
    if (code != NULL && strncmp(code, "NS_TIMEOUT", 10) == 0) {
        Ns_Log(Notice, "%s: %s", conn->request->line,
               Tcl_GetStringResult(interp));
        return Ns_ConnReturnUnavailable(conn);
    }
    (void) Ns_TclLogErrorRequest(interp, conn);
    return Ns_ConnReturnInternalError(conn);
}
