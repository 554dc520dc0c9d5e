/* SPDX-License-Identifier: MPL-2.0
 * other_cmd.c --
 *
 *      ns_dberrorcode, ns_dberrormsg, ns_dbpooldescription
 *      (ns_pooldescription), ns_dbconfigpath.
 */

#include "commands.h"

static Tcl_ObjCmdProc ErrorCodeObjCmd;
static Tcl_ObjCmdProc ErrorMsgObjCmd;
static Tcl_ObjCmdProc DescriptionObjCmd;
static Tcl_ObjCmdProc ConfigPathObjCmd;

static int GetHandle(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                     Ns_DbHandle **handlePtrPtr);

void
DbAddOtherCommands(Tcl_Interp *interp)
{
    static const struct {
        const char     *name;
        Tcl_ObjCmdProc *proc;
    } others[] = {{"ns_dberrorcode", ErrorCodeObjCmd},
                  {"ns_dberrormsg", ErrorMsgObjCmd},
                  {"ns_dbpooldescription", DescriptionObjCmd},
                  {"ns_pooldescription", DescriptionObjCmd},
                  {"ns_dbconfigpath", ConfigPathObjCmd}};

    for (int i = 0; i < Ns_NrElements(others); i++) {
        (void) Tcl_CreateObjCommand(interp, others[i].name, others[i].proc,
                                    NULL, NULL);
    }
}

static int
ErrorCodeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    Ns_DbHandle *handle;

    if (GetHandle(interp, objc, objv, &handle) != TCL_OK) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(handle->cExceptionCode, -1));
    return TCL_OK;
}

static int
ErrorMsgObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Ns_DbHandle *handle;

    if (GetHandle(interp, objc, objv, &handle) != TCL_OK) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp,
                     Tcl_NewStringObj(handle->dsExceptionMsg.string, -1));
    return TCL_OK;
}

static int
GetHandle(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
          Ns_DbHandle **handlePtrPtr)
{
    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "dbId");
        return TCL_ERROR;
    }
    return Ns_TclDbGetHandle(interp, Tcl_GetString(objv[1]), handlePtrPtr);
}

static int
DescriptionObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    const char *text;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "poolname");
        return TCL_ERROR;
    }
    text = Ns_DbPoolDescription(Tcl_GetString(objv[1]));
    Tcl_SetObjResult(interp, Tcl_NewStringObj(text == NULL ? "" : text, -1));
    return TCL_OK;
}

static int
ConfigPathObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    if (objc != 1) {
        Tcl_WrongNumArgs(interp, 1, objv, NULL);
        return TCL_ERROR;
    }
    Ns_TclPrintfResult(interp, "ns/server/%s/db", DbInterpServer(interp));
    return TCL_OK;
}
