/* SPDX-License-Identifier: MPL-2.0
 * child.c --
 *
 *      `interp` does what Tcl's own does, and then completes what came out of
 *      `interp create`.
 */

#include "tcl/child.h"

#include "base/thread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "process/shutdown.h"

static Tcl_ObjCmdProc InterpCmd;
static bool           IsCreate(Tcl_Obj *wordPtr);
static void           Complete(Tcl_Interp *interp);
static void           ReplaceExit(Tcl_Interp *child, Tcl_Interp *interp);
static Tcl_ExitProc   Exit;

void
NsChildInheritExit(Tcl_Interp *interp)
{
    Tcl_CmdInfo info;

    if (Tcl_GetCommandInfo(interp, "::interp", &info) && info.objProc != NULL
        && info.objProc != InterpCmd) {
        /* Tcl's own has no use for the client data. */
        info.objClientData = (void *) info.objProc;
        info.objProc = InterpCmd;
        (void) Tcl_SetCommandInfo(interp, "::interp", &info);
    }
}

static int
InterpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Tcl_ObjCmdProc *originalProc = (Tcl_ObjCmdProc *) clientData;
    int             result = originalProc(NULL, interp, objc, objv);

    if (result == TCL_OK && objc > 1 && IsCreate(objv[1])) {
        Complete(interp);
    }
    return result;
}

/*
 * Tcl takes abbreviations; those that could be something else it has refused.
 */
static bool
IsCreate(Tcl_Obj *wordPtr)
{
    int         length;
    const char *word = Tcl_GetStringFromObj(wordPtr, &length);

    return strncmp(word, "create", (size_t) length) == 0;
}

/*
 * The result is the path of the new interpreter.
 */
static void
Complete(Tcl_Interp *interp)
{
    Tcl_Obj    *pathPtr = Tcl_GetObjResult(interp);
    Tcl_Interp *child;

    Tcl_IncrRefCount(pathPtr);
    child = Tcl_GetSlave(interp, Tcl_GetString(pathPtr));
    if (child != NULL) {
        ReplaceExit(child, interp);
        NsChildInheritExit(child);
    }
    Tcl_SetObjResult(interp, pathPtr);
    Tcl_DecrRefCount(pathPtr);
}

/*
 * By an alias: command mode has an `exit` of its own.
 */
static void
ReplaceExit(Tcl_Interp *child, Tcl_Interp *interp)
{
    bool isSafe = Tcl_IsSafe(child);

    if (isSafe) {
        (void) Tcl_ExposeCommand(child, "exit", "exit");
    }
    (void) Tcl_CreateAlias(child, "exit", interp, "::exit", 0, NULL);
    if (isSafe) {
        (void) Tcl_HideCommand(child, "exit", "exit");
    }
}

void
NsChildTakeExit(void)
{
    Tcl_SetExitProc(Exit);
}

/*
 * May not return.  The caller's data is the status.
 */
static void
Exit(ClientData clientData)
{
    int status = PTR2INT(clientData);

    if (NsThreadOsId() == (int) getpid()) {
        Tcl_Finalize();
        exit(status);
    }
    if (!NsThreadIsOurs()) {
        Ns_Log(Error,
               "exit: called in a thread of a library: ends the thread, "
               "not the server; use ns_shutdown for that");
        Tcl_ExitThread(status);
    }
    Ns_Log(Error,
           "exit: called in an interpreter of a library, in thread '%s': "
           "the server stops",
           Ns_ThreadGetName());
    NsShutdownRequest(false);
    for (;;) {
        (void) pause();
    }
}
