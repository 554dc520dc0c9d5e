/* SPDX-License-Identifier: MPL-2.0
 * hello.c --
 *
 *      A module to begin with: one page, and one command.
 */

#include "ns.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

static Ns_OpProc       Hello;
static Ns_TclTraceProc AddCommands;
static Tcl_ObjCmdProc  HelloObjCmd;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    Ns_RegisterRequest(server, "GET", "/hello", Hello, NULL, NULL, 0);
    return Ns_TclRegisterTrace(server, AddCommands, NULL, NS_TCL_TRACE_CREATE);
}

static int
Hello(void *arg, Ns_Conn *conn)
{
    return Ns_ConnReturnCharData(conn, 200, "hello\n", -1, "text/plain");
}

/*
 * In each interpreter of the server.
 */
static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    Tcl_CreateObjCommand(interp, "hello", HelloObjCmd, NULL, NULL);
    return TCL_OK;
}

/*
 * hello name
 */
static int
HelloObjCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    char       *name;
    Ns_ObjvSpec args[] = {{"name", Ns_ObjvString, &name, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(NULL, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    Ns_TclPrintfResult(interp, "hello, %s", name);
    return TCL_OK;
}
