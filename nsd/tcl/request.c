/* SPDX-License-Identifier: MPL-2.0
 * request.c --
 *
 *      Tcl procs as request handlers.
 */

#include "tcl/request.h"
#include "nslog.h"
#include "request/fastpath.h"
#include "request/notice.h"
#include "nsreturn.h"
#include "nstcl.h"
#include "request/variants.h"
#include "tcl/result.h"
#include "tcl/stack.h"

static NsVariantMakeProc MakeVariant;

void
NsTclRequestInit(void)
{
    NsFastPathSetDirectoryProc(Ns_TclRequest);
    NsVariantsSetMakeProc(MakeVariant);
}

/*
 * A failure is the administrator's to hear of, not the client's.
 */
static Ns_ReturnCode
MakeVariant(Ns_Conn *conn, const char *command, const char *source,
            const char *target)
{
    Tcl_Interp   *interp = Ns_GetConnInterp(conn);
    Ns_ReturnCode status = NS_ERROR;
    Ns_DString    script;
    int           result;

    Ns_DStringInit(&script);
    Ns_DStringAppendElement(&script, command);
    Ns_DStringAppendElement(&script, source);
    Ns_DStringAppendElement(&script, target);
    result = Tcl_EvalEx(interp, Ns_DStringValue(&script), -1, TCL_EVAL_GLOBAL);
    Ns_DStringFree(&script);
    if (result == TCL_OK) {
        status = NS_OK;
    } else if (NsTclErrorIs(interp, "NS_BUSY")) {
        status = NS_TIMEOUT;
    } else {
        Ns_Log(Error,
               "fastpath: %s was not created: %s; trying again in a minute",
               target, Tcl_GetStringResult(interp));
    }
    Tcl_ResetResult(interp);
    return status;
}

int
Ns_TclRequest(Ns_Conn *conn, const char *name)
{
    Tcl_Interp *interp = Ns_GetConnInterp(conn);

    if (Tcl_EvalEx(interp, name, -1, TCL_EVAL_GLOBAL) == TCL_OK) {
        return NS_OK;
    }
    if (NsStackIsCancelled(interp)) {
        return NS_TIMEOUT; /* The log knows. */
    }
    if (NsTclErrorStatus(interp) != 0) {
        int status = NsTclErrorStatus(interp);

        NsTclLogAnswered(interp, conn);
        return NsReturnStatusPage(NsConnOf(conn), status);
    }
    if (NsTclErrorIs(interp, "NS_TIMEOUT")) {
        NsTclLogAnswered(interp, conn);
        return Ns_ConnReturnUnavailable(conn);
    }
    (void) Ns_TclLogErrorRequest(interp, conn);
    return Ns_ConnReturnInternalError(conn);
}
