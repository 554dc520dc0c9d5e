/* SPDX-License-Identifier: MPL-2.0
 * register_cmd.c --
 *
 *      Registration of pages and tags: ns_register_adp, ns_register_tcl,
 *      ns_adp_registeradp, ns_adp_registerproc, ns_adp_registerscript, and the
 *      deprecated ns_adp_registertag, ns_register_adptag.
 */

#include "nslog.h"
#include "nsstring.h"
#include "adp/commands.h"
#include "adp/handler.h"
#include "adp/parse.h"
#include "adp/tag.h"
#include "tcl/regargs.h"

static Tcl_ObjCmdProc RegisterAdpCmd, RegisterTclCmd, AdpTagCmd, ProcTagCmd,
    ScriptTagCmd, OldAdpTagCmd, OldScriptTagCmd;

static int RegisterTag(const NsInterp *interpPtr, NsAdpTagKind kind, int objc,
                       Tcl_Obj *const *objv);

static const NsTclCommand commands[] = {
    {"ns_register_adp", RegisterAdpCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_register_tcl", RegisterTclCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_registeradp", AdpTagCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_registerproc", ProcTagCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_registerscript", ScriptTagCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_registertag", OldAdpTagCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_register_adptag", OldScriptTagCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

void
NsAdpRegisterCmdInit(void)
{
    NsTclAddCommands(commands);
}

static int
RegisterAdpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    const NsInterp *interpPtr = clientData;
    char           *method, *url, *file = NULL, *constraints = NULL;
    NsConstraints  *constraintsPtr;
    Ns_Time        *ttlPtr = NULL;
    int             noInherit = 0, flags = 0;
    Ns_ObjvSpec     opts[] = {
            {"-constraints", Ns_ObjvString, &constraints, NULL},
            {"-noinherit", Ns_ObjvBool, &noInherit, INT2PTR(NS_OP_NOINHERIT)},
            {"-expires", Ns_ObjvTime, &ttlPtr, NULL},
            {"-options", Ns_ObjvFlags, &flags, (void *) nsAdpFlagNames},
            {"--", Ns_ObjvBreak, NULL, NULL},
            {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"method", Ns_ObjvString, &method, NULL},
                          {"url", Ns_ObjvString, &url, NULL},
                          {"?file", Ns_ObjvString, &file, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK
        || NsRegArgsCheckUrl(interp, url) != TCL_OK
        || NsRegArgsCheck(interp, method, false, constraints, &constraintsPtr)
            != TCL_OK) {
        return TCL_ERROR;
    }
    NsAdpRegisterPage(interpPtr->serverPtr, constraintsPtr, method, url, file,
                      ttlPtr, flags, noInherit);
    return TCL_OK;
}

static int
RegisterTclCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {
        NS_REG_METHOD | NS_REG_CONSTRAINTS, "?file", NULL};
    const NsInterp *interpPtr = clientData;
    NsRegArgs       args;

    if (NsRegArgsParse(&args, &spec, interp, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    NsAdpRegisterPage(interpPtr->serverPtr, args.constraintsPtr, args.method,
                      args.url, args.optional, NULL, NS_ADP_TCL, args.flags);
    return TCL_OK;
}

static int
AdpTagCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    return RegisterTag(clientData, NS_ADP_TAG_ADP, objc, objv);
}

static int
ProcTagCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    return RegisterTag(clientData, NS_ADP_TAG_PROC, objc, objv);
}

static int
ScriptTagCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return RegisterTag(clientData, NS_ADP_TAG_SCRIPT, objc, objv);
}

static int
OldAdpTagCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Ns_LogDeprecated(objv, 1, "ns_adp_registeradp", NULL);
    return RegisterTag(clientData, NS_ADP_TAG_ADP, objc, objv);
}

static int
OldScriptTagCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    Ns_LogDeprecated(objv, 1, "ns_adp_registerscript", NULL);
    return RegisterTag(clientData, NS_ADP_TAG_SCRIPT, objc, objv);
}

static int
RegisterTag(const NsInterp *interpPtr, NsAdpTagKind kind, int objc,
            Tcl_Obj *const *objv)
{
    if (objc != 3 && objc != 4) {
        Tcl_WrongNumArgs(interpPtr->interp, 1, objv, "tag ?endtag? [adp|proc]");
        return TCL_ERROR;
    }
    NsAdpRegisterTag(interpPtr->serverPtr->adpPtr, kind, Tcl_GetString(objv[1]),
                     objc == 4 ? Tcl_GetString(objv[2]) : NULL,
                     Tcl_GetString(objv[objc - 1]));
    return TCL_OK;
}
