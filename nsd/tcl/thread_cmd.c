/* SPDX-License-Identifier: MPL-2.0
 * thread_cmd.c --
 *
 *      ns_thread: threads that run a script.
 */

#include "ns.h"
#include "base/thread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static const char handleType[] = "ns:thread";

/*
 * The script of a thread; the thread's own once it runs.
 */
typedef struct ScriptThread {
    char *server;
    char *script;
    char *name; /* NULL: none given. */
    bool  isDetached;
} ScriptThread;

static Tcl_ObjCmdProc CreateCmd, BeginCmd, BeginDetachedCmd, WaitCmd, NameCmd,
    GetCmd, IdCmd, YieldCmd, StackInfoCmd;

static int  ParseScript(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                        const char **namePtr, const char **scriptPtr);
static int  StartThread(Tcl_Interp *interp, const char *server,
                        const char *script, const char *name,
                        Ns_Thread *threadPtr);
static void FreeScriptThread(ScriptThread *argPtr);
static Ns_ThreadProc RunScriptThread;
static Ns_ArgProc    DescribeScriptThread;
static void          SetHandleResult(Tcl_Interp *interp, Ns_Thread thread);

static const NsTclCommand subcmds[] = {
    {"begin", BeginCmd, 0, NS_TCL_ANY, NULL, 0},
    {"begindetached", BeginDetachedCmd, 0, NS_TCL_ANY, NULL, 0},
    {"create", CreateCmd, 0, NS_TCL_ANY, NULL, 0},
    {"wait", WaitCmd, 1, 1, "handle", 0},
    {"join", WaitCmd, 1, 1, "handle", 0},
    {"name", NameCmd, 0, 1, "?name?", 0},
    {"get", GetCmd, 0, 0, NULL, 0},
    {"getid", IdCmd, 0, 0, NULL, 0},
    {"id", IdCmd, 0, 0, NULL, 0},
    {"yield", YieldCmd, 0, 0, NULL, 0},
    {"stackinfo", StackInfoCmd, 0, 0, NULL, 0},
    NS_TCL_END,
    {"handle", GetCmd, 0, 0, NULL, 0},
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_thread", "cmd ?arg ...?", "cmd", 0, subcmds};

void
NsThreadCmdInit(void)
{
    NsTclAddEnsemble(&ensemble);
    Ns_RegisterProcInfo((void *) RunScriptThread, "ns:tclthread",
                        DescribeScriptThread);
}

int
Ns_TclThread(Tcl_Interp *interp, const char *script, Ns_Thread *threadPtr)
{
    return StartThread(interp, Ns_TclInterpServer(interp), script, NULL,
                       threadPtr)
            == TCL_OK
        ? NS_OK
        : NS_ERROR;
}

int
Ns_TclDetachedThread(Tcl_Interp *interp, const char *script)
{
    return Ns_TclThread(interp, script, NULL);
}

/*
 * ns_thread create ?-detached? ?-name name? ?--? script
 */
static int
CreateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsServer   *serverPtr = ((NsInterp *) clientData)->serverPtr;
    char       *name = NULL, *script;
    int         isDetached = 0;
    Ns_Thread   thread;
    Ns_ObjvSpec options[] = {
        {"-detached", Ns_ObjvBool, &isDetached, INT2PTR(1)},
        {"-name", Ns_ObjvString, &name, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"script", Ns_ObjvString, &script, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || StartThread(interp, serverPtr->name, script, name,
                       isDetached ? NULL : &thread)
            != TCL_OK) {
        return TCL_ERROR;
    }
    if (!isDetached) {
        SetHandleResult(interp, thread);
    }
    return TCL_OK;
}

/*
 * ns_thread begin script
 */
static int
BeginCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsServer   *serverPtr = ((NsInterp *) clientData)->serverPtr;
    const char *name, *script;
    Ns_Thread   thread;

    if (ParseScript(interp, objc, objv, &name, &script) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_LogDeprecated(objv, 2, "ns_thread create", NULL);
    if (StartThread(interp, serverPtr->name, script, name, &thread) != TCL_OK) {
        return TCL_ERROR;
    }
    SetHandleResult(interp, thread);
    return TCL_OK;
}

/*
 * ns_thread begindetached script
 */
static int
BeginDetachedCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    NsServer   *serverPtr = ((NsInterp *) clientData)->serverPtr;
    const char *name, *script;

    if (ParseScript(interp, objc, objv, &name, &script) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_LogDeprecated(objv, 2, "ns_thread create -detached", NULL);
    return StartThread(interp, serverPtr->name, script, name, NULL);
}

/*
 * script; newer scripts may put `-name NAME` first.
 */
static int
ParseScript(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
            const char **namePtr, const char **scriptPtr)
{
    *namePtr = NULL;
    if (objc == 5 && STREQ(Tcl_GetString(objv[2]), "-name")) {
        *namePtr = Tcl_GetString(objv[3]);
    } else if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "script");
        return TCL_ERROR;
    }
    *scriptPtr = Tcl_GetString(objv[objc - 1]);
    return TCL_OK;
}

/*
 * With threadPtr NULL the thread is detached.
 */
static int
StartThread(Tcl_Interp *interp, const char *server, const char *script,
            const char *name, Ns_Thread *threadPtr)
{
    ScriptThread *argPtr = ns_malloc(sizeof(*argPtr));
    int           error;

    argPtr->server = ns_strcopy(server);
    argPtr->script = ns_strdup(script);
    argPtr->name = ns_strcopy(name);
    argPtr->isDetached = threadPtr == NULL;
    error = NsThreadTry(RunScriptThread, argPtr, 0, threadPtr);
    if (error != 0) {
        FreeScriptThread(argPtr);
        return NsTclFail(interp, "cannot start a thread: %s", strerror(error));
    }
    return TCL_OK;
}

static void
FreeScriptThread(ScriptThread *argPtr)
{
    ns_free(argPtr->server);
    ns_free(argPtr->script);
    ns_free(argPtr->name);
    ns_free(argPtr);
}

/*
 * The exit value of a joinable thread is its result or its error trace, for the
 * one who joins it to free.
 */
static void
RunScriptThread(void *arg)
{
    ScriptThread *argPtr = arg;
    Tcl_Interp   *interp;
    char         *result = NULL;

    Ns_WaitForStartup();
    if (argPtr->name != NULL) {
        Ns_ThreadSetName("%s", argPtr->name);
    }
    interp = Ns_TclAllocateInterp(argPtr->server);
    if (interp != NULL) {
        int         code = Tcl_EvalEx(interp, argPtr->script, -1, 0);
        const char *text = code == TCL_ERROR
            ? Ns_TclLogErrorInfo(interp, NULL)
            : Tcl_GetStringResult(interp);

        if (!argPtr->isDetached) {
            result = ns_strdup(text);
        }
        Ns_TclDeAllocateInterp(interp);
    } else if (!argPtr->isDetached) {
        result = ns_strdup("no interpreter for the thread");
    }

    NsThreadForgetArg();
    FreeScriptThread(argPtr);
    if (result != NULL) {
        Ns_ThreadExit(result);
    }
}

static void
DescribeScriptThread(Ns_DString *dsPtr, void *arg)
{
    const ScriptThread *argPtr = arg;

    if (argPtr == NULL) {
        Ns_DStringAppendElement(dsPtr, ""); /* Just ending. */
        return;
    }
    Ns_DStringAppendElement(dsPtr,
                            argPtr->server != NULL ? argPtr->server : "");
    if (argPtr->isDetached) {
        Ns_DStringAppendElement(dsPtr, "detached");
    }
    Ns_DStringAppendElement(dsPtr, argPtr->script);
}

/*
 * ns_thread wait handle, ns_thread join handle
 */
static int
WaitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    void         *address, *result = NULL;
    Ns_Thread     thread;
    Ns_ReturnCode status;

    if (Ns_TclGetAddrFromObj(interp, objv[2], handleType, &address) != TCL_OK) {
        return TCL_ERROR;
    }
    thread = address;
    Ns_TclWaitBegin(NULL);
    status = NsThreadJoin(&thread, &result);
    Ns_TclWaitEnd();
    if (status != NS_OK) {
        return NsTclFail(interp, "no such thread: %s", Tcl_GetString(objv[2]));
    }
    if (result != NULL) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(result, -1));
        ns_free(result);
    }
    return TCL_OK;
}

/*
 * ns_thread name ?newname?
 */
static int
NameCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    if (objc == 3) {
        Ns_ThreadSetName("%s", Tcl_GetString(objv[2]));
    }
    return NsTclReturnString(interp, Ns_ThreadGetName());
}

/*
 * ns_thread get, ns_thread handle
 */
static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Ns_Thread thread;

    Ns_ThreadSelf(&thread);
    SetHandleResult(interp, thread);
    return TCL_OK;
}

static void
SetHandleResult(Tcl_Interp *interp, Ns_Thread thread)
{
    Tcl_Obj *handleObj = Tcl_NewObj();

    Ns_TclSetAddrObj(handleObj, handleType, thread);
    Tcl_SetObjResult(interp, handleObj);
}

/*
 * ns_thread id, ns_thread getid
 */
static int
IdCmd(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Ns_TclPrintfResult(interp, "%" PRIxPTR, Ns_ThreadId());
    return TCL_OK;
}

/*
 * ns_thread yield
 */
static int
YieldCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_ThreadYield();
    return TCL_OK;
}

/*
 * ns_thread stackinfo
 */
static int
StackInfoCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    size_t bytes, usedBytes;

    NsThreadStack(&bytes, &usedBytes);
    Ns_TclPrintfResult(interp, "max %zu free %zu", bytes, bytes - usedBytes);
    return TCL_OK;
}
