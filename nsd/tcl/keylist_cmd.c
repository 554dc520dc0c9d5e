/* SPDX-License-Identifier: MPL-2.0
 * keylist_cmd.c --
 *
 *      Keyed lists in variables: keylset, keylget, keyldel, keylkeys.
 */

#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/keylist.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc SetCmd, GetCmd, DeleteCmd, KeysCmd;

static Tcl_Obj *GetVar(Tcl_Interp *interp, Tcl_Obj *namePtr);
static int      WrongArgs(Tcl_Interp *interp, const char *usage);

static const NsTclCommand commands[] = {
    {"keylset", SetCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"keylget", GetCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"keyldel", DeleteCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"keylkeys", KeysCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(KeyList, commands)

static int
SetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr, *newPtr;

    if (objc < 4 || objc % 2 != 0) {
        return WrongArgs(interp, "keylset listvar key value ?key value...?");
    }
    listPtr = Tcl_ObjGetVar2(interp, objv[1], NULL, 0);
    if (listPtr == NULL) {
        listPtr = Tcl_NewObj();
    }
    Tcl_IncrRefCount(listPtr);
    for (int i = 2; i < objc; i += 2) {
        if (NsKeyListSet(interp, listPtr, Tcl_GetString(objv[i]), objv[i + 1],
                         &newPtr)
            != TCL_OK) {
            Tcl_DecrRefCount(listPtr);
            return TCL_ERROR;
        }
        Tcl_IncrRefCount(newPtr);
        Tcl_DecrRefCount(listPtr);
        listPtr = newPtr;
    }
    newPtr = Tcl_ObjSetVar2(interp, objv[1], NULL, listPtr, TCL_LEAVE_ERR_MSG);
    Tcl_DecrRefCount(listPtr);
    if (newPtr == NULL) {
        return TCL_ERROR;
    }
    Tcl_ResetResult(interp);
    return TCL_OK;
}

static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr, *valuePtr;
    int      result;

    if (objc < 2 || objc > 4) {
        return WrongArgs(interp, "keylget listvar ?key? ?retvar | {}?");
    }
    if (objc == 2) {
        return KeysCmd(clientData, interp, objc, objv);
    }
    listPtr = GetVar(interp, objv[1]);
    if (listPtr == NULL) {
        return TCL_ERROR;
    }
    result = NsKeyListGet(interp, listPtr, Tcl_GetString(objv[2]), &valuePtr);
    if (result == TCL_ERROR) {
        return TCL_ERROR;
    }
    if (objc == 3) {
        if (result == TCL_BREAK) {
            return NsTclFail(interp, "key \"%s\" not found in keyed list",
                             Tcl_GetString(objv[2]));
        }
        return NsTclReturn(interp, valuePtr);
    }
    if (result == TCL_OK && *Tcl_GetString(objv[3]) != '\0'
        && Tcl_ObjSetVar2(interp, objv[3], NULL, valuePtr, TCL_LEAVE_ERR_MSG)
            == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(result == TCL_OK));
}

static int
DeleteCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr, *newPtr;
    int      result;

    if (objc < 3) {
        return WrongArgs(interp, "keyldel listvar key ?key ...?");
    }
    for (int i = 2; i < objc; i++) {
        listPtr = GetVar(interp, objv[1]);
        if (listPtr == NULL) {
            return TCL_ERROR;
        }
        result = NsKeyListDelete(interp, listPtr, Tcl_GetString(objv[i]),
                                 &newPtr);
        if (result == TCL_BREAK) {
            Ns_TclPrintfResult(interp, "key not found: \"%s\"",
                               Tcl_GetString(objv[i]));
        }
        if (result != TCL_OK
            || Tcl_ObjSetVar2(interp, objv[1], NULL, newPtr, TCL_LEAVE_ERR_MSG)
                == NULL) {
            return TCL_ERROR;
        }
    }
    Tcl_ResetResult(interp);
    return TCL_OK;
}

static int
KeysCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr, *keysPtr;
    int      result = TCL_OK;

    if (objc != 2 && objc != 3) {
        return WrongArgs(interp, "keylkeys listvar ?key?");
    }
    listPtr = GetVar(interp, objv[1]);
    if (listPtr == NULL) {
        return TCL_ERROR;
    }
    if (objc == 3) {
        result = NsKeyListGet(interp, listPtr, Tcl_GetString(objv[2]),
                              &listPtr);
    }
    if (result == TCL_BREAK) {
        Ns_TclPrintfResult(interp, "key not found: \"%s\"",
                           Tcl_GetString(objv[2]));
    }
    if (result != TCL_OK
        || NsKeyListKeys(interp, listPtr, &keysPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, keysPtr);
}

static Tcl_Obj *
GetVar(Tcl_Interp *interp, Tcl_Obj *namePtr)
{
    Tcl_Obj *listPtr = Tcl_ObjGetVar2(interp, namePtr, NULL, 0);

    if (listPtr == NULL) {
        Ns_TclPrintfResult(interp, "can't read \"%s\": no such variable",
                           Tcl_GetString(namePtr));
    }
    return listPtr;
}

static int
WrongArgs(Tcl_Interp *interp, const char *usage)
{
    return NsTclFailArgs(interp, "wrong # args: %s", usage);
}
