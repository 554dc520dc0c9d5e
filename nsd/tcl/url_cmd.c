/* SPDX-License-Identifier: MPL-2.0
 * url_cmd.c --
 *
 *      From URLs to files, directories of virtual hosts, limits:
 *      ns_register_url2file, ns_register_fasturl2file, ns_unregister_url2file,
 *      ns_url2file, ns_serverpath, ns_pagepath, ns_serverrootproc,
 *      ns_locationproc, ns_hashpath, ns_normalizepath, ns_limits_...,
 *      ns_fastpath_cache_stats.
 */

#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsrequest.h"
#include "nsstring.h"
#include "request/fastpath.h"
#include "request/limits.h"
#include "request/url2file.h"
#include "request/vhost.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/regargs.h"
#include "tcl/result.h"

/*
 * A Tcl callback names the procedure that will run it, of whatever type, for
 * messages alone.
 */
#define AsProc(proc)     ((void (*)(void))(proc))
#define AsCallback(proc) ((Ns_Callback *) AsProc(proc))

static Tcl_ObjCmdProc RegisterUrl2FileCmd, RegisterFastUrl2FileCmd,
    UnregisterUrl2FileCmd, Url2FileCmd, ServerPathCmd, PagePathCmd,
    ServerRootProcCmd, LocationProcCmd, HashPathCmd, NormalizePathCmd,
    LimitsSetCmd, LimitsGetCmd, LimitsListCmd, LimitsRegisterCmd,
    FastPathCacheStatsCmd;

static Ns_Url2FileProc     RunUrl2FileScript;
static Ns_ServerRootProc   RunServerRootScript;
static Ns_ConnLocationProc RunLocationScript;

typedef char *RootProc(Ns_DString *dsPtr, NsServer *serverPtr,
                       const char *host);

static int  PathCmd(NsInterp *itPtr, int objc, Tcl_Obj *const *objv,
                    RootProc *proc);
static void AppendPart(Ns_DString *dsPtr, const char *part);
static int  NewStartupCallback(Tcl_Interp *interp, Ns_Callback *proc, int objc,
                               Tcl_Obj *const  *objv,
                               Ns_TclCallback **callbackPtrPtr);
static NsLimits *FindLimits(Tcl_Interp *interp, const char *name);

static NsUnregisterProc UnregisterUrl2File;

static const NsTclCommand commands[] = {
    {"ns_register_url2file", RegisterUrl2FileCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_register_fasturl2file", RegisterFastUrl2FileCmd, 0, NS_TCL_ANY, NULL,
     0},
    {"ns_unregister_url2file", UnregisterUrl2FileCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_url2file", Url2FileCmd, 1, 1, "url", 0},
    {"ns_serverpath", ServerPathCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_pagepath", PagePathCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_serverrootproc", ServerRootProcCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_locationproc", LocationProcCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_hashpath", HashPathCmd, 2, 2, "string levels", NS_TCL_BASIC},
    {"ns_normalizepath", NormalizePathCmd, 1, 1, "path", NS_TCL_BASIC},
    {"ns_limits_set", LimitsSetCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_limits_get", LimitsGetCmd, 1, 1, "limits", 0},
    {"ns_limits_list", LimitsListCmd, 0, 1, "?pattern?", 0},
    {"ns_limits_register", LimitsRegisterCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_fastpath_cache_stats", FastPathCacheStatsCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

void
NsUrlCmdInit(void)
{
    NsTclAddCommands(commands);
    Ns_RegisterProcInfo((void *) RunUrl2FileScript, "ns:tclurl2file",
                        Ns_TclCallbackArgProc);
}

static int
RegisterUrl2FileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                    Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {NS_REG_SCRIPT, NULL, NULL};
    const NsInterp        *itPtr = clientData;
    NsRegArgs              args;

    if (NsRegArgsParse(&args, &spec, interp, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_RegisterUrl2FileProc(itPtr->serverPtr->name, args.url, RunUrl2FileScript,
                            Ns_TclFreeCallback,
                            NsRegArgsCallback(&args, interp,
                                              AsProc(RunUrl2FileScript)),
                            args.flags);
    return TCL_OK;
}

static int
RegisterFastUrl2FileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                        Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {0, "?basepath", NULL};
    const NsInterp        *itPtr = clientData;
    NsRegArgs              args;

    if (NsRegArgsParse(&args, &spec, interp, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    NsRegisterFastUrl2File(itPtr->serverPtr->name, args.url, args.optional,
                           args.flags);
    return TCL_OK;
}

static int
UnregisterUrl2FileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                      Tcl_Obj *const *objv)
{
    return NsRegArgsUnregister(clientData, 0, objc, objv, UnregisterUrl2File);
}

static void
UnregisterUrl2File(NsServer *serverPtr, const NsRegArgs *argsPtr)
{
    Ns_UnRegisterUrl2FileProc(serverPtr->name, argsPtr->url, argsPtr->flags);
}

static int
Url2FileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    Ns_DString      ds;

    Ns_DStringInit(&ds);
    if (Ns_UrlToFile(&ds, itPtr->serverPtr->name, Tcl_GetString(objv[1]))
        != NS_OK) {
        Ns_DStringFree(&ds);
        return NsTclFail(interp, "url2file lookup failed");
    }
    return NsTclReturnText(interp, &ds);
}

static int
ServerPathCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return PathCmd(clientData, objc, objv, NsServerRoot);
}

static int
PagePathCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return PathCmd(clientData, objc, objv, NsPageRoot);
}

/*
 * The words after the options are parts of the path.
 */
static int
PathCmd(NsInterp *itPtr, int objc, Tcl_Obj *const *objv, RootProc *proc)
{
    NsServer   *serverPtr = itPtr->serverPtr;
    char       *host = NULL;
    int         i, nParts = 0;
    Ns_DString  ds;
    Ns_ObjvSpec opts[] = {{"-host", Ns_ObjvString, &host, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"?path", Ns_ObjvArgs, &nParts, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, itPtr->interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (serverPtr == NULL) {
        serverPtr = NsServerInitializing();
    }
    if (serverPtr == NULL || serverPtr->requestPtr == NULL) {
        return NsTclFail(itPtr->interp, "no server available");
    }
    Ns_DStringInit(&ds);
    (void) proc(&ds, serverPtr, host);
    for (i = objc - nParts; i < objc; i++) {
        AppendPart(&ds, Tcl_GetString(objv[i]));
    }
    return NsTclReturnText(itPtr->interp, &ds);
}

/*
 * Here a backslash separates like a slash.
 */
static void
AppendPart(Ns_DString *dsPtr, const char *part)
{
    Ns_DString ds;
    char      *next;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, part);
    for (next = Ns_DStringValue(&ds); *next != '\0'; next++) {
        if (*next == '\\') {
            *next = '/';
        }
    }
    (void) Ns_MakePath(dsPtr, Ns_DStringValue(&ds), NULL);
    Ns_DStringFree(&ds);
}

static int
ServerRootProcCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    Ns_TclCallback *callbackPtr;

    if (NewStartupCallback(interp, AsCallback(RunServerRootScript), objc, objv,
                           &callbackPtr)
        != TCL_OK) {
        return TCL_ERROR;
    }
    (void) Ns_SetServerRootProc(RunServerRootScript, callbackPtr);
    return TCL_OK;
}

static int
LocationProcCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    Ns_TclCallback *callbackPtr;

    if (NewStartupCallback(interp, AsCallback(RunLocationScript), objc, objv,
                           &callbackPtr)
        != TCL_OK) {
        return TCL_ERROR;
    }
    (void) Ns_SetConnLocationProc(RunLocationScript, callbackPtr);
    return TCL_OK;
}

static int
HashPathCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Ns_DString ds;
    int        levels;

    if (Tcl_GetIntFromObj(NULL, objv[2], &levels) != TCL_OK || levels <= 0) {
        /* The spelling is what scripts know. */
        return NsTclFail(interp,
                         "levels must be an interger greater than zero");
    }
    Ns_DStringInit(&ds);
    (void) Ns_HashPath(&ds, Tcl_GetString(objv[1]), levels);
    return NsTclReturnText(interp, &ds);
}

static int
NormalizePathCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    (void) Ns_NormalizePath(&ds, Tcl_GetString(objv[1]));
    return NsTclReturnText(interp, &ds);
}

static int
LimitsSetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsLimitsValues values = {-1, -1, -1, -1, false, false};
    int            isEnforced = -1;
    Tcl_WideInt    maxUpload = -1;
    Ns_Time       *timeoutPtr = NULL;
    char          *name;
    Ns_DString     ds;
    Ns_ObjvSpec    opts[] = {
           {"-maxrun", Ns_ObjvInt, &values.maxRun, NULL},
           {"-maxwait", Ns_ObjvInt, &values.maxWait, NULL},
           {"-maxupload", Ns_ObjvWideInt, &maxUpload, NULL},
           {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
           {"-enforce", Ns_ObjvBool, &isEnforced, NULL},
           {"--", Ns_ObjvBreak, NULL, NULL},
           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"limits", Ns_ObjvString, &name, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    values.maxUpload = maxUpload;
    values.setsEnforced = isEnforced >= 0;
    values.isEnforced = isEnforced > 0;
    if (timeoutPtr != NULL) {
        values.timeout = NsClockFromTime(timeoutPtr);
    }
    Ns_DStringInit(&ds);
    NsLimitsAppend(&ds, NsLimitsSet(name, &values));
    return NsTclReturnText(interp, &ds);
}

static int
LimitsGetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsLimits  *limitsPtr;
    Ns_DString ds;

    limitsPtr = FindLimits(interp, Tcl_GetString(objv[1]));
    if (limitsPtr == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsLimitsAppend(&ds, limitsPtr);
    return NsTclReturnText(interp, &ds);
}

static int
LimitsListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsLimitsNames(&ds, objc == 2 ? Tcl_GetString(objv[1]) : NULL);
    return NsTclReturnText(interp, &ds);
}

static int
LimitsRegisterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    NsServer       *serverPtr = itPtr->serverPtr;
    NsLimits       *limitsPtr;
    char           *name, *method, *url, *server = NULL;
    int             noInherit = 0;
    Ns_ObjvSpec     opts[] = {
            {"-noinherit", Ns_ObjvBool, &noInherit, INT2PTR(NS_OP_NOINHERIT)},
            {"-server", Ns_ObjvString, &server, NULL},
            {"--", Ns_ObjvBreak, NULL, NULL},
            {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"limits", Ns_ObjvString, &name, NULL},
                          {"method", Ns_ObjvString, &method, NULL},
                          {"url", Ns_ObjvString, &url, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    limitsPtr = FindLimits(interp, name);
    if (limitsPtr == NULL) {
        return TCL_ERROR;
    }
    if (server != NULL) {
        serverPtr = NsServerFind(server);
    }
    if (serverPtr == NULL) {
        return NsTclFail(interp, "no such server: %s",
                         server == NULL ? "" : server);
    }
    NsLimitsRegister(serverPtr, limitsPtr, method, url, noInherit);
    return TCL_OK;
}

static int
FastPathCacheStatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                      Tcl_Obj *const *objv)
{
    int         withContents = 0, reset = 0;
    Ns_DString  ds;
    Ns_ObjvSpec opts[] = {
        {"-contents", Ns_ObjvBool, &withContents, INT2PTR(true)},
        {"-reset", Ns_ObjvBool, &reset, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsFastPathCacheStats(&ds, withContents != 0, reset != 0);
    return NsTclReturnText(interp, &ds);
}

static int
RunUrl2FileScript(Ns_DString *dsPtr, const char *url, void *arg)
{
    Ns_Conn    *conn = Ns_GetConn();
    Tcl_Interp *interp = conn == NULL ? NULL : Ns_GetConnInterp(conn);

    if (Ns_TclEvalCallback(interp, arg, dsPtr, url, (char *) NULL) == TCL_OK) {
        return NS_OK;
    }
    if (interp != NULL) {
        (void) Ns_TclLogErrorRequest(interp, conn);
    }
    return NS_ERROR;
}

static char *
RunServerRootScript(Ns_DString *dsPtr, const char *host, void *arg)
{
    Ns_Conn    *conn = Ns_GetConn();
    Tcl_Interp *interp = conn == NULL ? NULL : Ns_GetConnInterp(conn);

    if (Ns_TclEvalCallback(interp, arg, dsPtr, host, (char *) NULL) == TCL_OK) {
        return Ns_DStringValue(dsPtr);
    }
    if (interp != NULL) {
        (void) Ns_TclLogErrorRequest(interp, conn);
    }
    return NULL;
}

static char *
RunLocationScript(Ns_Conn *conn, Ns_DString *dsPtr, void *arg)
{
    Tcl_Interp *interp = Ns_GetConnInterp(conn);

    if (Ns_TclEvalCallback(interp, arg, dsPtr, (char *) NULL) == TCL_OK) {
        return Ns_DStringValue(dsPtr);
    }
    (void) Ns_TclLogErrorRequest(interp, conn);
    return NULL;
}

/*
 * `script ?args?`, while a server is being initialized.
 */
static int
NewStartupCallback(Tcl_Interp *interp, Ns_Callback *proc, int objc,
                   Tcl_Obj *const *objv, Ns_TclCallback **callbackPtrPtr)
{
    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "script ?args?");
        return TCL_ERROR;
    }
    if (NsServerInitializing() == NULL) {
        return NsTclFail(interp, "no initializing server");
    }
    *callbackPtrPtr = Ns_TclNewCallback(interp, proc, objv[1], objc - 2,
                                        objv + 2);
    return TCL_OK;
}

static NsLimits *
FindLimits(Tcl_Interp *interp, const char *name)
{
    NsLimits *limitsPtr = NsLimitsFind(name);

    if (limitsPtr == NULL) {
        Ns_TclPrintfResult(interp, "no such limits: %s", name);
    }
    return limitsPtr;
}
