/* SPDX-License-Identifier: MPL-2.0
 * callback_cmd.c --
 *
 *      Scripts that run at the stages of the process's life: ns_atprestartup,
 *      ns_atstartup, ns_atsignal, ns_atshutdown, ns_atexit.
 */

#include "nsprocess.h"
#include "process/callbacks.h"
#include "tcl/command.h"
#include "tcl/commands.h"

static Tcl_ObjCmdProc  AtCmd;
static Ns_ShutdownProc RunShutdownScript;

static const NsTclCommand commands[] = {
    {"ns_atprestartup", AtCmd, 1, NS_TCL_ANY, "script ?args?",
     NS_TCL_DATA(NS_AT_PRESTARTUP)},
    {"ns_atstartup", AtCmd, 1, NS_TCL_ANY, "script ?args?",
     NS_TCL_DATA(NS_AT_STARTUP)},
    {"ns_atsignal", AtCmd, 1, NS_TCL_ANY, "script ?args?",
     NS_TCL_DATA(NS_AT_SIGNAL)},
    {"ns_atshutdown", AtCmd, 1, NS_TCL_ANY, "script ?args?",
     NS_TCL_DATA(NS_AT_SHUTDOWN)},
    {"ns_atexit", AtCmd, 1, NS_TCL_ANY, "script ?args?",
     NS_TCL_DATA(NS_AT_EXIT)},
    NS_TCL_END};

void
NsCallbackCmdInit(void)
{
    NsTclAddCommands(commands);
    Ns_RegisterProcInfo((void *) Ns_TclCallbackProc, "ns:tclcallback",
                        Ns_TclCallbackArgProc);
    Ns_RegisterProcInfo((void *) RunShutdownScript, "ns:tclshutdown",
                        Ns_TclCallbackArgProc);
}

/*
 * ns_at... script ?args?
 */
static int
AtCmd(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsCallbackStage stage = (NsCallbackStage) NsTclData(clientData);
    Ns_TclCallback *callbackPtr;
    Ns_ReturnCode   result;

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
