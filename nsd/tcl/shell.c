/* SPDX-License-Identifier: MPL-2.0
 * shell.c --
 *
 *      Command mode: a Tcl shell in a running server.
 */

#include "tcl/shell.h"

#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nstcl.h"
#include "nsthread.h"
#include "process/shutdown.h"

#include <stdatomic.h>

/*
 * Written before the thread starts.
 */
static struct {
    NsServer    *serverPtr;
    int          argc;
    char *const *argv;
    Ns_Thread    thread; /* Main thread; NULL: none. */
} shell;

static atomic_bool isRunning;  /* Main thread sets, the shell clears. */
static atomic_int  exitStatus; /* The shell sets it. */
static bool        isExiting;  /* The shell's own: `exit` was called. */

static Ns_ThreadProc  RunShell;
static void           FlushOutput(void);
static void           SetArguments(Tcl_Interp *interp);
static bool           SourceScript(Tcl_Interp *interp, const char *file);
static void           ReadCommands(Tcl_Interp *interp);
static void           SourceStartFile(Tcl_Interp *interp);
static void           EvalCommand(Tcl_Interp *interp, Tcl_Obj *commandPtr,
                                  bool isInteractive);
static void           Prompt(const char *text, bool isInteractive);
static void           PrintError(Tcl_Interp *interp, bool withTrace);
static Tcl_ObjCmdProc ExitCmd;

void
NsShellStart(NsServer *serverPtr, int argc, char *const *argv)
{
    shell.serverPtr = serverPtr;
    shell.argc = argc;
    shell.argv = argv;
    atomic_store(&isRunning, true);
    Ns_RegisterProcInfo((void *) RunShell, "ns:tclshell", NULL);
    Ns_ThreadCreate(RunShell, NULL, 0, &shell.thread);
}

bool
NsShellEnd(void)
{
    if (atomic_load(&isRunning)) {
        /* It may wait for input without limit. */
        return false;
    }
    if (shell.thread != NULL) {
        Ns_ThreadJoin(&shell.thread, NULL);
        shell.thread = NULL;
    }
    return true;
}

int
NsShellStatus(void)
{
    return atomic_load(&exitStatus);
}

static void
RunShell(void *arg)
{
    Tcl_Interp *interp;

    Ns_ThreadSetName("-command-");
    (void) Ns_WaitForStartup();
    interp = Ns_TclAllocateInterp(shell.serverPtr->name);
    if (interp == NULL) {
        Ns_Log(Error, "nsmain: command mode: no interpreter for server '%s'",
               shell.serverPtr->name);
    } else {
        Tcl_CreateObjCommand(interp, "exit", ExitCmd, NULL, NULL);
        SetArguments(interp);
        if (shell.argc > 0) {
            if (!SourceScript(interp, shell.argv[0])) {
                atomic_store(&exitStatus, 1);
            }
        } else {
            ReadCommands(interp);
        }
        /* Its `exit` is no longer that of other interpreters. */
        Ns_TclMarkForDelete(interp);
        Ns_TclDeAllocateInterp(interp);
    }
    FlushOutput();
    atomic_store(&isRunning, false);
    NsShutdownRequest(false);
}

/*
 * Of this thread's channels.
 */
static void
FlushOutput(void)
{
    static const int types[] = {TCL_STDOUT, TCL_STDERR};

    for (int i = 0; i < Ns_NrElements(types); i++) {
        Tcl_Channel channel = Tcl_GetStdChannel(types[i]);

        if (channel != NULL) {
            (void) Tcl_Flush(channel);
        }
    }
}

static void
SetArguments(Tcl_Interp *interp)
{
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    for (int i = 1; i < shell.argc; i++) {
        Tcl_ListObjAppendElement(NULL, listPtr,
                                 Tcl_NewStringObj(shell.argv[i], -1));
    }
    Tcl_SetVar2Ex(interp, "argv", NULL, listPtr, TCL_GLOBAL_ONLY);
    Tcl_SetVar2Ex(interp, "argc", NULL,
                  Tcl_NewIntObj(shell.argc > 0 ? shell.argc - 1 : 0),
                  TCL_GLOBAL_ONLY);
    Tcl_SetVar2Ex(interp, "argv0", NULL,
                  Tcl_NewStringObj(shell.argc > 0 ? shell.argv[0]
                                                  : Ns_InfoNameOfExecutable(),
                                   -1),
                  TCL_GLOBAL_ONLY);
}

/*
 * The working directory is home.  False: it has failed.
 */
static bool
SourceScript(Tcl_Interp *interp, const char *file)
{
    bool isDone = Tcl_EvalFile(interp, file) == TCL_OK || isExiting;

    if (!isDone) {
        PrintError(interp, true);
    }
    return isDone;
}

static void
ReadCommands(Tcl_Interp *interp)
{
    Tcl_Channel input = Tcl_GetStdChannel(TCL_STDIN);
    bool        isInteractive = isatty(STDIN_FILENO) != 0;
    Tcl_Obj    *commandPtr = Tcl_NewObj();

    Tcl_IncrRefCount(commandPtr);
    if (isInteractive) {
        SourceStartFile(interp);
    }
    Prompt("% ", isInteractive);
    while (input != NULL && !isExiting && Tcl_GetsObj(input, commandPtr) >= 0) {
        Tcl_AppendToObj(commandPtr, "\n", 1);
        if (!Tcl_CommandComplete(Tcl_GetString(commandPtr))) {
            Prompt("> ", isInteractive);
            continue;
        }
        EvalCommand(interp, commandPtr, isInteractive);
        Tcl_DecrRefCount(commandPtr);
        commandPtr = Tcl_NewObj();
        Tcl_IncrRefCount(commandPtr);
        Prompt("% ", isInteractive && !isExiting);
    }
    Tcl_DecrRefCount(commandPtr);
}

static void
SourceStartFile(Tcl_Interp *interp)
{
    const char *home = getenv("HOME");
    Ns_DString  ds;

    if (home == NULL) {
        return;
    }
    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, home);
    Ns_DStringAppend(&ds, "/.nsdrc");
    if (access(Ns_DStringValue(&ds), R_OK) == 0) {
        (void) SourceScript(interp, Ns_DStringValue(&ds));
    }
    Ns_DStringFree(&ds);
}

static void
EvalCommand(Tcl_Interp *interp, Tcl_Obj *commandPtr, bool isInteractive)
{
    int code = Tcl_EvalObjEx(interp, commandPtr, TCL_EVAL_GLOBAL);

    if (isExiting) {
        return;
    }
    if (code != TCL_OK) {
        PrintError(interp, !isInteractive);
    } else if (isInteractive && *Tcl_GetStringResult(interp) != '\0') {
        Tcl_Channel output = Tcl_GetStdChannel(TCL_STDOUT);

        if (output != NULL) {
            Tcl_WriteObj(output, Tcl_GetObjResult(interp));
            Tcl_WriteChars(output, "\n", 1);
            Tcl_Flush(output);
        }
    }
}

static void
Prompt(const char *text, bool isInteractive)
{
    Tcl_Channel output = Tcl_GetStdChannel(TCL_STDOUT);

    if (isInteractive && output != NULL) {
        Tcl_WriteChars(output, text, -1);
        Tcl_Flush(output);
    }
}

static void
PrintError(Tcl_Interp *interp, bool withTrace)
{
    Tcl_Channel error = Tcl_GetStdChannel(TCL_STDERR);
    const char *text = NULL;

    if (error == NULL) {
        return;
    }
    if (withTrace) {
        text = Tcl_GetVar(interp, "errorInfo", TCL_GLOBAL_ONLY);
    }
    Tcl_WriteChars(error, text != NULL ? text : Tcl_GetStringResult(interp),
                   -1);
    Tcl_WriteChars(error, "\n", 1);
    Tcl_Flush(error);
}

/*
 * exit ?returnCode?: nothing more of the script is evaluated, and the server
 * stops in its usual way.
 */
static int
ExitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    int status = 0;

    if (objc > 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "?returnCode?");
        return TCL_ERROR;
    }
    if (objc == 2 && Tcl_GetIntFromObj(interp, objv[1], &status) != TCL_OK) {
        return TCL_ERROR;
    }
    atomic_store(&exitStatus, status);
    isExiting = true;
    (void) Tcl_CancelEval(interp, NULL, NULL, TCL_CANCEL_UNWIND);
    return TCL_OK;
}
