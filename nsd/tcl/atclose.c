/*
 * atclose.c --
 *
 *      ns_atclose: scripts that run when the connection closes.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "tcl/atclose.h"
#include "tcl/commands.h"
#include "tcl/conncall.h"

typedef struct NsAtClose {
    struct NsAtClose *nextPtr;
    Tcl_Obj          *scriptPtr;
} NsAtClose;

static Tcl_ObjCmdProc AtCloseObjCmd;

static const NsTclCommand commands[] = {
    {"ns_atclose", AtCloseObjCmd, false},
    {NULL, NULL, false}
};


void
NsAtCloseCmdInit(void)
{
    NsTclAddCommands(commands);
}

/*
 * A script may register another one, which then runs as well.
 */
void
NsAtCloseRun(NsInterp *itPtr)
{
    NsAtClose *atClosePtr;

    while ((atClosePtr = itPtr->atClosePtr) != NULL) {
        Tcl_InterpState state = Tcl_SaveInterpState(itPtr->interp, TCL_OK);

        itPtr->atClosePtr = atClosePtr->nextPtr;
        if (Tcl_EvalObjEx(itPtr->interp, atClosePtr->scriptPtr,
                          TCL_EVAL_GLOBAL | TCL_EVAL_DIRECT) != TCL_OK) {
            (void) Ns_TclLogErrorInfo(itPtr->interp, "\n(context: at close)");
        }
        (void) Tcl_RestoreInterpState(itPtr->interp, state);
        Tcl_DecrRefCount(atClosePtr->scriptPtr);
        ns_free(atClosePtr);
    }
}

static int
AtCloseObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsInterp  *itPtr = clientData;
    NsAtClose *atClosePtr;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "script ?args?");
        return TCL_ERROR;
    }
    if (NsTclConn(itPtr) == NULL) {
        return TCL_ERROR;
    }
    atClosePtr = ns_malloc(sizeof(*atClosePtr));
    atClosePtr->scriptPtr = Tcl_ConcatObj(objc - 1, objv + 1);
    Tcl_IncrRefCount(atClosePtr->scriptPtr);
    atClosePtr->nextPtr = itPtr->atClosePtr;
    itPtr->atClosePtr = atClosePtr;
    return TCL_OK;
}
