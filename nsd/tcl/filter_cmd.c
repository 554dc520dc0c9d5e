/* SPDX-License-Identifier: MPL-2.0
 * filter_cmd.c --
 *
 *      Handlers, filters and traces in Tcl: ns_register_proc,
 *      ns_register_proxy, ns_register_fastpath, ns_unregister_op,
 *      ns_register_filter, ns_register_trace, ns_shortcut_filter.
 */

#include "nsprocess.h"
#include "nslog.h"
#include "nsrequest.h"
#include "nsreturn.h"
#include "nsstring.h"
#include "nsthread.h"
#include "request/fastpath.h"
#include "request/filter.h"
#include "request/notice.h"
#include "request/op.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/regargs.h"
#include "tcl/result.h"
#include "tcl/stack.h"

/*
 * A Tcl callback names the procedure that will run it, of whatever type, for
 * messages alone.
 */
#define AsProc(proc)     ((void (*)(void))(proc))
#define AsCallback(proc) ((Ns_Callback *) AsProc(proc))

static Tcl_ObjCmdProc RegisterProcCmd, RegisterProxyCmd, RegisterFastPathCmd,
    UnregisterOpCmd, RegisterFilterCmd, RegisterTraceCmd, ShortcutFilterCmd;

static Ns_OpProc     RunRequestScript;
static Ns_FilterProc RunFilterScript;

static NsDirectoryProc ListDirectory;

static NsUnregisterProc UnregisterOp;

static int AddFilter(NsInterp *itPtr, const NsRegArgs *argsPtr,
                     Ns_FilterProc *proc, int when);
static int ScriptFailed(Tcl_Interp *interp, Ns_Conn *conn);
static int FilterResult(const Ns_TclCallback *callbackPtr, const char *result);

/*
 * What the commands for filters have in common.
 */
#define FILTER_WORDS (NS_REG_METHOD | NS_REG_PATTERN | NS_REG_CONSTRAINTS)

static const NsTclCommand commands[] = {
    {"ns_register_proc", RegisterProcCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_register_proxy", RegisterProxyCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_register_fastpath", RegisterFastPathCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_unregister_op", UnregisterOpCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_register_filter", RegisterFilterCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_register_trace", RegisterTraceCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_shortcut_filter", ShortcutFilterCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

static Ns_ObjvTable filterPhases[] = {
    {"preauth", NS_FILTER_PRE_AUTH},
    {"postauth", NS_FILTER_POST_AUTH},
    {"trace", NS_FILTER_TRACE},
    {NULL, 0}};

void
NsFilterCmdInit(void)
{
    NsTclAddCommands(commands);
    Ns_RegisterProcInfo((void *) RunRequestScript, "ns:tclrequest",
                        Ns_TclCallbackArgProc);
    Ns_RegisterProcInfo((void *) RunFilterScript, "ns:tclfilter",
                        Ns_TclCallbackArgProc);
    Ns_RegisterProcInfo((void *) NsShortcutFilterProc, "ns:shortcutfilter",
                        NULL);
    NsFastPathSetDirectoryProc(ListDirectory);
}

static int
RegisterProcCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {
        NS_REG_METHOD | NS_REG_SCRIPT | NS_REG_CONSTRAINTS, NULL, NULL};
    const NsInterp *itPtr = clientData;
    NsRegArgs       args;

    if (NsRegArgsParse(&args, &spec, interp, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    NsOpRegister(itPtr->serverPtr,
                 &(NsOpSpec){.constraintsPtr = args.constraintsPtr,
                             .method = args.method,
                             .url = args.url,
                             .proc = RunRequestScript,
                             .freeProc = Ns_TclFreeCallback,
                             .arg = NsRegArgsCallback(&args, interp,
                                                      AsProc(RunRequestScript)),
                             .flags = args.flags});
    return TCL_OK;
}

static int
RegisterProxyCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    Ns_TclCallback *callbackPtr;
    Tcl_Obj        *scriptPtr;
    char           *method, *protocol;
    int             nArgs = 0;
    Ns_ObjvSpec     opts[] = {{"--", Ns_ObjvBreak, NULL, NULL},
                              {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec     args[] = {{"method", Ns_ObjvString, &method, NULL},
                              {"protocol", Ns_ObjvString, &protocol, NULL},
                              {"script", Ns_ObjvObj, &scriptPtr, NULL},
                              {"?args", Ns_ObjvArgs, &nArgs, NULL},
                              {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    callbackPtr = Ns_TclNewCallback(interp, AsCallback(RunRequestScript),
                                    scriptPtr, nArgs, objv + (objc - nArgs));
    Ns_RegisterProxyRequest(itPtr->serverPtr->name, method, protocol,
                            RunRequestScript, Ns_TclFreeCallback, callbackPtr);
    return TCL_OK;
}

static int
RegisterFastPathCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                    Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {
        NS_REG_METHOD | NS_REG_CONSTRAINTS, NULL, NULL};
    const NsInterp *itPtr = clientData;
    NsRegArgs       args;

    if (NsRegArgsParse(&args, &spec, interp, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    NsOpRegister(itPtr->serverPtr,
                 &(NsOpSpec){.constraintsPtr = args.constraintsPtr,
                             .method = args.method,
                             .url = args.url,
                             .proc = Ns_FastPathProc,
                             .flags = args.flags});
    return TCL_OK;
}

static int
UnregisterOpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    return NsRegArgsUnregister(clientData, NS_REG_METHOD, objc, objv,
                               UnregisterOp);
}

static void
UnregisterOp(NsServer *serverPtr, const NsRegArgs *argsPtr)
{
    NsOpUnregister(serverPtr, argsPtr->method, argsPtr->url, argsPtr->flags);
}

static int
RegisterFilterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {
        FILTER_WORDS | NS_REG_SCRIPT | NS_REG_FIRST, NULL, filterPhases};
    NsRegArgs args;

    if (NsRegArgsParse(&args, &spec, interp, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    return AddFilter(clientData, &args, RunFilterScript,
                     args.when | (args.isFirst ? NS_FILTER_FIRST : 0));
}

static int
AddFilter(NsInterp *itPtr, const NsRegArgs *argsPtr, Ns_FilterProc *proc,
          int when)
{
    void *callbackPtr = argsPtr->scriptPtr == NULL
        ? NULL
        : NsRegArgsCallback(argsPtr, itPtr->interp, AsProc(proc));

    (void) NsFilterRegister(itPtr->serverPtr->name, argsPtr->constraintsPtr,
                            argsPtr->method, argsPtr->url, proc, when,
                            callbackPtr);
    return TCL_OK;
}

static int
RegisterTraceCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {FILTER_WORDS | NS_REG_SCRIPT, NULL, NULL};
    NsRegArgs              args;

    return NsRegArgsParse(&args, &spec, interp, objc, objv) == TCL_OK
        ? AddFilter(clientData, &args, RunFilterScript, NS_FILTER_VOID_TRACE)
        : TCL_ERROR;
}

static int
ShortcutFilterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    static const NsRegSpec spec = {FILTER_WORDS, NULL, filterPhases};
    NsRegArgs              args;

    return NsRegArgsParse(&args, &spec, interp, objc, objv) == TCL_OK
        ? AddFilter(clientData, &args, NsShortcutFilterProc,
                    args.when | NS_FILTER_FIRST)
        : TCL_ERROR;
}

/*
 * The handler behind ns_register_proc and ns_register_proxy.
 */
static int
RunRequestScript(void *arg, Ns_Conn *conn)
{
    Tcl_Interp *interp = Ns_GetConnInterp(conn);

    int result = NS_OK;

    if (Ns_TclEvalCallback(interp, arg, NULL, (char *) NULL) != TCL_OK) {
        result = ScriptFailed(interp, conn);
    }
    return result == NS_FILTER_RETURN ? NS_OK : result;
}

static int
RunFilterScript(void *arg, Ns_Conn *conn, int why)
{
    Ns_TclCallback *callbackPtr = arg;
    Tcl_Interp     *interp = Ns_GetConnInterp(conn);
    const char     *when = NULL;
    Ns_DString      ds;
    int             result;

    for (int i = 0; filterPhases[i].key != NULL; i++) {
        if (filterPhases[i].value == why) {
            when = filterPhases[i].key;
        }
    }
    Ns_DStringInit(&ds);
    if (Ns_TclEvalCallback(interp, callbackPtr, &ds, when, (char *) NULL)
        != TCL_OK) {
        result = ScriptFailed(interp, conn);
    } else if (when == NULL) {
        result = NS_OK;
    } else {
        result = FilterResult(callbackPtr, Ns_DStringValue(&ds));
    }
    Ns_DStringFree(&ds);
    return result;
}

/*
 * Call the procedure that lists a directory; it finds the URL by itself.
 */
static int
ListDirectory(Ns_Conn *conn, const char *proc)
{
    Tcl_Interp *interp = Ns_GetConnInterp(conn);

    int result = NS_OK;

    if (Tcl_EvalEx(interp, proc, -1, TCL_EVAL_GLOBAL) != TCL_OK) {
        Tcl_AddErrorInfo(interp, "\n    while listing a directory");
        result = ScriptFailed(interp, conn);
    }
    return result == NS_FILTER_RETURN ? NS_OK : result;
}

/*
 * NS_TIMEOUT when the script was cancelled or waited in vain, NS_FILTER_RETURN,
 * and the reply is sent, when the error is the client's: these are not errors
 * of its own.  NS_ERROR, and the trace in the log, for all else.
 */
static int
ScriptFailed(Tcl_Interp *interp, Ns_Conn *conn)
{
    bool isTimeout = NsTclErrorIs(interp, "NS_TIMEOUT");
    int  status = NsTclErrorStatus(interp);

    if (NsStackIsCancelled(interp)) {
        return NS_TIMEOUT; /* The log knows. */
    }
    if (isTimeout || status != 0) {
        NsTclLogAnswered(interp, conn);
        if (!isTimeout) {
            (void) NsReturnStatusPage(NsConnOf(conn), status);
        }
        return isTimeout ? NS_TIMEOUT : NS_FILTER_RETURN;
    }
    (void) Ns_TclLogErrorRequest(interp, conn);
    return NS_ERROR;
}

static int
FilterResult(const Ns_TclCallback *callbackPtr, const char *result)
{
    if (STREQ(result, "filter_ok")) {
        return NS_OK;
    }
    if (STREQ(result, "filter_break")) {
        return NS_FILTER_BREAK;
    }
    if (STREQ(result, "filter_return")) {
        return NS_FILTER_RETURN;
    }
    Ns_Log(Error, "ns:tclfilter: %s return invalid result: %s",
           callbackPtr->script, result);
    return NS_ERROR;
}
