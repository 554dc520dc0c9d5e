/* SPDX-License-Identifier: MPL-2.0
 * atclose.c --
 *
 *      ns_atclose: scripts that run when the connection closes.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/commands.h"

typedef struct NsAtClose {
    struct NsAtClose *nextPtr;
    Tcl_Obj          *scriptPtr;
} NsAtClose;

static Tcl_ObjCmdProc AtCloseCmd;
static NsCleanupProc  RunAll;

static const NsTclCommand commands[] = {
    {"ns_atclose", AtCloseCmd, 1, NS_TCL_ANY, "script ?args?", NS_TCL_CONN},
    NS_TCL_END};

void
NsAtCloseCmdInit(void)
{
    NsTclAddCommands(commands);
    NsInterpAddCleanup(NS_CLEANUP_CLOSE, RunAll);
}

/*
 * Run and forget the scripts of the request, the latest first.  A script may
 * register another one, which then runs as well.
 */
static void
RunAll(NsInterp *itPtr)
{
    NsAtClose *atClosePtr;

    while ((atClosePtr = itPtr->atClosePtr) != NULL) {
        Tcl_InterpState state = Tcl_SaveInterpState(itPtr->interp, TCL_OK);

        itPtr->atClosePtr = atClosePtr->nextPtr;
        if (Tcl_EvalObjEx(itPtr->interp, atClosePtr->scriptPtr,
                          TCL_EVAL_GLOBAL | TCL_EVAL_DIRECT)
            != TCL_OK) {
            (void) Ns_TclLogErrorInfo(itPtr->interp, "\n(context: at close)");
        }
        (void) Tcl_RestoreInterpState(itPtr->interp, state);
        Tcl_DecrRefCount(atClosePtr->scriptPtr);
        ns_free(atClosePtr);
    }
}

static int
AtCloseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsInterp  *itPtr = clientData;
    NsAtClose *atClosePtr;

    atClosePtr = ns_malloc(sizeof(*atClosePtr));
    atClosePtr->scriptPtr = Tcl_ConcatObj(objc - 1, objv + 1);
    Tcl_IncrRefCount(atClosePtr->scriptPtr);
    atClosePtr->nextPtr = itPtr->atClosePtr;
    itPtr->atClosePtr = atClosePtr;
    return TCL_OK;
}
