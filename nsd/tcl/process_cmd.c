/* SPDX-License-Identifier: MPL-2.0
 * process_cmd.c --
 *
 *      Commands about the process: ns_shutdown, ns_moduleload, ns_kill,
 *      ns_setuser, ns_setgroup, ns_rlimit.
 */

#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"
#include "process/module.h"
#include "process/shutdown.h"
#include "process/units.h"
#include "request/describe.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

#include <sys/resource.h>

static Tcl_ObjCmdProc ExitCmd, ShutdownCmd, ModuleLoadCmd, KillCmd, SetUserCmd,
    SetGroupCmd, LimitCmd;

static int GetLimit(Tcl_Interp *interp, Tcl_Obj *valueObj, rlim_t *limitPtr);
static Tcl_Obj *LimitObj(rlim_t limit);

static const NsTclCommand commands[] = {
    {"exit", ExitCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_shutdown", ShutdownCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_moduleload", ModuleLoadCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_kill", KillCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_setuser", SetUserCmd, 1, 1, "user", 0},
    {"ns_setgroup", SetGroupCmd, 1, 1, "group", 0},
    {"ns_rlimit", LimitCmd, 1, 2, "subcmd ?value?", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Process, commands)

/*
 * exit ?returnCode?: Tcl's own would end the process on the spot, with all
 * other requests.
 */
static int
ExitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;

    if (itPtr->connPtr != NULL) {
        Ns_DString request;

        Ns_DStringInit(&request);
        NsConnAppendLine(&request, itPtr->connPtr,
                         itPtr->connPtr->pub.request->line);
        Ns_Log(Error,
               "exit: called in the script of '%s': ends the script, "
               "not the server; use ns_shutdown for that",
               Ns_DStringValue(&request));
        Ns_DStringFree(&request);
    } else {
        Ns_Log(Error,
               "exit: called in a script of thread '%s': ends the "
               "script, not the server; use ns_shutdown for that",
               Ns_ThreadGetName());
    }
    Tcl_SetErrorCode(interp, "NS_EXIT", objc > 1 ? Tcl_GetString(objv[1]) : "0",
                     NULL);
    return NsTclFail(interp, "exit ends the script, not the server");
}

/*
 * ns_shutdown ?-restart? ?--? ?timeout?
 */
static int
ShutdownCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    int         isRestart = 0;
    NsStamp     inForce;
    Ns_Time    *timeoutPtr = NULL;
    Ns_ObjvSpec options[] = {
        {"-restart", Ns_ObjvBool, &isRestart, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"?timeout", Ns_ObjvTime, &timeoutPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    inForce = NsShutdownSetTimeout(timeoutPtr == NULL
                                       ? 0
                                       : NsClockFromTime(timeoutPtr));
    Ns_TclPrintfResult(interp, "%.15g", (double) inForce / NS_STAMP_SECOND);
    NsShutdownRequest(isRestart != 0);
    return TCL_OK;
}

/*
 * ns_moduleload ?-global? ?-init init? ?--? module file
 */
static int
ModuleLoadCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    int         isGlobal = 0;
    char       *module, *file, *init = (char *) "Ns_ModuleInit";
    Ns_ObjvSpec options[] = {{"-global", Ns_ObjvBool, &isGlobal, INT2PTR(true)},
                             {"-init", Ns_ObjvString, &init, NULL},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"module", Ns_ObjvString, &module, NULL},
                          {"file", Ns_ObjvString, &file, NULL},
                          {NULL, NULL, NULL, NULL}};
    const char *server;

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (Ns_InfoStarted()) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj("server already started", -1));
        return TCL_ERROR;
    }
    server = isGlobal || itPtr->serverPtr == NULL
        ? NULL
        : itPtr->serverPtr->name;
    if (Ns_ModuleLoad(interp, server, module, file, init) != NS_OK) {
        return NsTclFail(interp, "could not load module \"%s\" from \"%s\"",
                         module, file);
    }
    return TCL_OK;
}

/*
 * ns_kill ?-nocomplain? pid signal
 */
static int
KillCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    int         isNoComplain = 0, pid, number;
    Ns_ObjvSpec options[] = {
        {"-nocomplain", Ns_ObjvBool, &isNoComplain, INT2PTR(true)},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"pid", Ns_ObjvInt, &pid, NULL},
                          {"signal", Ns_ObjvInt, &number, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (kill(pid, number) != 0 && !isNoComplain) {
        return NsTclFail(interp, "kill (\"%d,%d\") failed: %s", pid, number,
                         Tcl_PosixError(interp));
    }
    return TCL_OK;
}

/*
 * ns_setuser user
 */
static int
SetUserCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    return NsTclReturn(interp,
                       Tcl_NewIntObj(Ns_SetUser(Tcl_GetString(objv[1]))));
}

/*
 * ns_setgroup group
 */
static int
SetGroupCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return NsTclReturn(interp,
                       Tcl_NewIntObj(Ns_SetGroup(Tcl_GetString(objv[1]))));
}

/*
 * ns_rlimit coresize|datasize|files|filesize|vmsize ?value?
 */
static int
LimitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "coresize", "datasize", "files", "filesize", "vmsize", NULL};
    static const int resources[] = {
        RLIMIT_CORE, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS};
    struct rlimit limit;
    Tcl_Obj      *listPtr;
    int           which;

    if (Tcl_GetIndexFromObj(interp, objv[1], names, "subcommand", 0, &which)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (getrlimit((__rlimit_resource_t) resources[which], &limit) != 0) {
        return NsTclFail(interp, "getrlimit failed: %s",
                         Tcl_PosixError(interp));
    }
    if (objc == 3) {
        if (GetLimit(interp, objv[2], &limit.rlim_cur) != TCL_OK) {
            return TCL_ERROR;
        }
        if (setrlimit((__rlimit_resource_t) resources[which], &limit) != 0) {
            return NsTclFail(interp, "setrlimit failed: %s",
                             Tcl_PosixError(interp));
        }
    }
    listPtr = Tcl_NewListObj(0, NULL);
    Tcl_ListObjAppendElement(NULL, listPtr, LimitObj(limit.rlim_cur));
    Tcl_ListObjAppendElement(NULL, listPtr, LimitObj(limit.rlim_max));
    return NsTclReturn(interp, listPtr);
}

/*
 * A number, a size with a unit, or `unlimited`.
 */
static int
GetLimit(Tcl_Interp *interp, Tcl_Obj *valueObj, rlim_t *limitPtr)
{
    const char *text = Tcl_GetString(valueObj);
    Tcl_WideInt bytes;

    if (STREQ(text, "unlimited")) {
        *limitPtr = RLIM_INFINITY;
        return TCL_OK;
    }
    if (!NsUnitsSize(text, &bytes) || bytes < 0) {
        return NsTclFail(interp,
                         "expected integer, memory size or unlimited but got"
                         " \"%s\"",
                         text);
    }
    *limitPtr = (rlim_t) bytes;
    return TCL_OK;
}

static Tcl_Obj *
LimitObj(rlim_t limit)
{
    return limit == RLIM_INFINITY ? Tcl_NewStringObj("unlimited", -1)
                                  : Tcl_NewWideIntObj((Tcl_WideInt) limit);
}
