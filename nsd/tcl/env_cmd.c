/* SPDX-License-Identifier: MPL-2.0
 * env_cmd.c --
 *
 *      ns_env (env): the environment of the process.
 */

#include "ns.h"
#include "base/environ.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc ExistsCmd, NamesCmd, LookCmd, SetCmd;

#define UNSET 1

static const NsTclCommand subcmds[] = {
    {"exists", ExistsCmd, 1, 1, "name", 0},
    {"names", NamesCmd, 0, 0, NULL, 0},
    {"get", LookCmd, 0, NS_TCL_ANY, NULL, 0},
    {"set", SetCmd, 2, 2, "name value", 0},
    {"unset", LookCmd, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(UNSET)},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_env", "command ?args ...?", "command", NS_TCL_BASIC, subcmds};

static const NsTclEnsemble alias = {
    "env", "command ?args ...?", "command", NS_TCL_BASIC, subcmds};

void
NsEnvCmdInit(void)
{
    NsTclAddEnsemble(&ensemble);
    NsTclAddEnsemble(&alias);
}

/*
 * ns_env exists name
 */
static int
ExistsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_DString ds;
    bool       exists;

    Ns_DStringInit(&ds);
    exists = NsEnvironGet(&ds, Tcl_GetString(objv[2]));
    Ns_DStringFree(&ds);
    return NsTclReturn(interp, Tcl_NewBooleanObj(exists));
}

/*
 * ns_env names
 */
static int
NamesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return NsTclReturnAppended(interp, NsEnvironNames);
}

/*
 * ns_env set name value
 */
static int
SetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    if (NsEnvironSet(Tcl_GetString(objv[2]), Tcl_GetString(objv[3])) != NS_OK) {
        return NsTclFail(interp, "could not set environment variable: \"%s\"",
                         Tcl_GetString(objv[2]));
    }
    return TCL_OK;
}

/*
 * ns_env get, unset ?-nocomplain? name: the value that it has, or had.
 */
static int
LookCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    bool       isUnset = NsTclData(clientData) == UNSET, isNoComplain, exists;
    Ns_DString ds;

    isNoComplain = objc == 4 && STREQ(Tcl_GetString(objv[2]), "-nocomplain");
    if (objc != 3 && !isNoComplain) {
        Tcl_WrongNumArgs(interp, 2, objv, "?-nocomplain? name");
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    exists = NsEnvironGet(&ds, Tcl_GetString(objv[objc - 1]));
    Tcl_DStringResult(interp, &ds);
    if (!exists && !isNoComplain) {
        return NsTclFail(interp, "no such environment variable: %s",
                         Tcl_GetString(objv[objc - 1]));
    }
    if (exists && isUnset) {
        (void) NsEnvironSet(Tcl_GetString(objv[objc - 1]), NULL);
    }
    return TCL_OK;
}
