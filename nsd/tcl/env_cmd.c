/*
 * env_cmd.c --
 *
 *      ns_env (env): the environment of the process.
 */

#include "ns.h"
#include "base/environ.h"
#include "tcl/commands.h"
#include "tcl/interp.h"

static Tcl_ObjCmdProc EnvObjCmd;

typedef int (SubcmdProc)(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv);

static SubcmdProc ExistsSubcmd;
static SubcmdProc NamesSubcmd;
static SubcmdProc GetSubcmd;
static SubcmdProc SetSubcmd;
static SubcmdProc UnsetSubcmd;

static int Look(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                bool isUnset);

static const NsTclCommand commands[] = {
    {"ns_env", EnvObjCmd, true},
    {"env",    EnvObjCmd, true},
    {NULL, NULL, false}
};


void
NsEnvCmdInit(void)
{
    NsTclAddCommands(commands);
}

/*
 * ns_env command ?args ...?
 */
static int
EnvObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    static const struct {
        const char *name;
        SubcmdProc *proc;
    } subcmds[] = {
        {"exists", ExistsSubcmd},
        {"names",  NamesSubcmd},
        {"get",    GetSubcmd},
        {"set",    SetSubcmd},
        {"unset",  UnsetSubcmd},
        {NULL, NULL}
    };
    int index;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "command ?args ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], subcmds, sizeof(subcmds[0]),
                                  "command", 0, &index) != TCL_OK) {
        return TCL_ERROR;
    }
    return subcmds[index].proc(interp, objc, objv);
}

/*
 * ns_env exists name
 */
static int
ExistsSubcmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Ns_DString ds;
    bool       exists;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "name");
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    exists = NsEnvironGet(&ds, Tcl_GetString(objv[2]));
    Ns_DStringFree(&ds);
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(exists));
    return TCL_OK;
}

/*
 * ns_env names
 */
static int
NamesSubcmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return NsTclAppendedResult(interp, objc, objv, NsEnvironNames);
}

/*
 * ns_env set name value
 */
static int
SetSubcmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    if (objc != 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "name value");
        return TCL_ERROR;
    }
    if (NsEnvironSet(Tcl_GetString(objv[2]), Tcl_GetString(objv[3])) != NS_OK) {
        Ns_TclPrintfResult(interp, "could not set environment variable: \"%s\"",
                           Tcl_GetString(objv[2]));
        return TCL_ERROR;
    }
    return TCL_OK;
}

/*
 * ns_env get ?-nocomplain? name
 */
static int
GetSubcmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return Look(interp, objc, objv, false);
}

/*
 * ns_env unset ?-nocomplain? name: the value that it had.
 */
static int
UnsetSubcmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return Look(interp, objc, objv, true);
}

static int
Look(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, bool isUnset)
{
    bool       isNoComplain, exists;
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
        Tcl_SetObjResult(interp, Tcl_NewStringObj(
            "no such environment variable", -1));
        return TCL_ERROR;
    }
    if (exists && isUnset) {
        (void) NsEnvironSet(Tcl_GetString(objv[objc - 1]), NULL);
    }
    return TCL_OK;
}
