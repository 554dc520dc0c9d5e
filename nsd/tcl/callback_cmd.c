/*
 * callback_cmd.c --
 *
 *      Scripts that run at the stages of the process's life: ns_atprestartup,
 *      ns_atstartup, ns_atsignal, ns_atshutdown, ns_atexit.
 */

#include "nsprocess.h"
#include "process/callbacks.h"
#include "tcl/command.h"
#include "tcl/commands.h"

static Tcl_ObjCmdProc AtPreStartupObjCmd, AtStartupObjCmd, AtSignalObjCmd,
    AtShutdownObjCmd, AtExitObjCmd;

static int AtObjCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                    NsCallbackStage stage);
static Ns_ShutdownProc RunShutdownScript;

static const NsTclCommand commands[] = {
    {"ns_atprestartup", AtPreStartupObjCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_atstartup", AtStartupObjCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_atsignal", AtSignalObjCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_atshutdown", AtShutdownObjCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_atexit", AtExitObjCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END
};

void
NsCallbackCmdInit(void)
{
    NsTclAddCommands(commands);
    Ns_RegisterProcInfo((void *) Ns_TclCallbackProc, "ns:tclcallback",
                        Ns_TclCallbackArgProc);
    Ns_RegisterProcInfo((void *) RunShutdownScript, "ns:tclshutdown",
                        Ns_TclCallbackArgProc);
}

static int
AtPreStartupObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                   Tcl_Obj *const *objv)
{
    return AtObjCmd(interp, objc, objv, NS_AT_PRESTARTUP);
}

static int
AtStartupObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    return AtObjCmd(interp, objc, objv, NS_AT_STARTUP);
}

static int
AtSignalObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    return AtObjCmd(interp, objc, objv, NS_AT_SIGNAL);
}

static int
AtShutdownObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    return AtObjCmd(interp, objc, objv, NS_AT_SHUTDOWN);
}

static int
AtExitObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return AtObjCmd(interp, objc, objv, NS_AT_EXIT);
}

/*
 * ns_at... script ?args?
 */
static int
AtObjCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
         NsCallbackStage stage)
{
    Ns_TclCallback *callbackPtr;
    Ns_ReturnCode   result;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "script ?args?");
        return TCL_ERROR;
    }
    callbackPtr = Ns_TclNewCallback(interp, Ns_TclCallbackProc, objv[1],
                                    objc - 2, objv + 2);
    result = stage == NS_AT_SHUTDOWN
             ? NsCallbackAddShutdown(RunShutdownScript, callbackPtr)
             : NsCallbackAdd(stage, Ns_TclCallbackProc, callbackPtr);
    if (result != NS_OK) {
        /* Too late: by definition without effect, and no error. */
        Ns_TclFreeCallback(callbackPtr);
    }
    return TCL_OK;
}

/*
 * Called twice; scripts know only one shutdown.
 */
static void
RunShutdownScript(Ns_Time *toPtr, void *arg)
{
    if (toPtr == NULL) {
        (void) Ns_TclEvalCallback(NULL, arg, NULL, NULL);
    }
}
