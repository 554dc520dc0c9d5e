/* SPDX-License-Identifier: MPL-2.0
 * driver_cmd.c --
 *
 *      Drivers as scripts see them: ns_driver, ns_upload_stats, ns_sls.
 */

#include "net/driver_info.h"
#include "net/progress.h"
#include "nsconn.h"
#include "nsstring.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"

static Tcl_ObjCmdProc UploadStatsCmd, SlsCmd, DriverCmd, SlsArray, SlsGet,
    SlsSet, SlsUnset;

static Ns_Sock *SockOf(ClientData clientData);

static const NsTclCommand commands[] = {
    {"ns_upload_stats", UploadStatsCmd, 1, 1, "url", 0},
    {"ns_sls", SlsCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

enum { INFO, NAMES, STATS, THREADS };

static const NsTclCommand driverSubcmds[] = {
    {"info", DriverCmd, 0, NS_TCL_ANY, NULL, INFO},
    {"names", DriverCmd, 0, NS_TCL_ANY, NULL, NAMES},
    {"stats", DriverCmd, 0, NS_TCL_ANY, NULL, STATS},
    {"threads", DriverCmd, 0, NS_TCL_ANY, NULL, THREADS},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble driver = {
    "ns_driver", "option ?-server server?", "option", 0, driverSubcmds};

static const NsTclCommand slsSubcmds[] = {
    {"array", SlsArray, 0, NS_TCL_ANY, NULL, 0},
    {"get", SlsGet, 1, 2, "key ?default?", 0},
    {"set", SlsSet, 2, 2, "key value", 0},
    {"unset", SlsUnset, 1, 1, "key", 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble sls = {
    "ns_sls", "command", "command", NS_TCL_EXACT, slsSubcmds};

void
NsDriverCmdInit(void)
{
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&driver);
}

/*
 * ns_driver info|names|stats|threads ?-server server?
 */
static int
DriverCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    unsigned    what = NsTclRow(clientData)->flags;
    char       *server = NULL;
    Ns_ObjvSpec flags[] = {
        {"-server", Ns_ObjvString, &server, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_DString ds;

    if (Ns_ParseObjv(flags, NULL, interp, 2, objc, objv) != NS_OK
        || (server != NULL && NsServerArgFind(interp, server) == NULL)) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    switch (what) {
    case INFO:
        NsDriverInfo(&ds, server);
        break;
    case NAMES:
        NsDriverNames(&ds, server);
        break;
    case STATS:
        NsDriverStats(&ds, server);
        break;
    default:
        NsDriverThreads(&ds, server);
        break;
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_upload_stats url
 */
static int
UploadStatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    int64_t received, total;

    if (NsUploadStats(Tcl_GetString(objv[1]), &received, &total) == NS_OK) {
        Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

        Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewWideIntObj(received));
        Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewWideIntObj(total));
        Tcl_SetObjResult(interp, listPtr);
    }
    return TCL_OK;
}

/*
 * ns_sls array|get|set|unset ...: the command says first that there is no
 * connection.
 */
static int
SlsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;

    return itPtr->connPtr == NULL || itPtr->connPtr->sockPtr == NULL
        ? NsTclFail(interp, "No connection available.")
        : NsTclRunEnsemble(&sls, clientData, objc, objv);
}

static Ns_Sock *
SockOf(ClientData clientData)
{
    return NsSockPublic(((NsInterp *) clientData)->connPtr->sockPtr);
}

static int
SlsArray(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    (void) Ns_SlsAppendKeyed(&ds, SockOf(clientData));
    return NsTclReturnText(interp, &ds);
}

static int
SlsGet(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    const char *value = Ns_SlsGetKeyed(SockOf(clientData),
                                       Tcl_GetString(objv[2]));

    if (value == NULL && objc == 3) {
        return NsTclFail(interp, "key does not exist and no default given");
    }
    return NsTclReturn(interp,
                       value != NULL ? Tcl_NewStringObj(value, -1) : objv[3]);
}

static int
SlsSet(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Ns_SlsSetKeyed(SockOf(clientData), Tcl_GetString(objv[2]),
                   Tcl_GetString(objv[3]));
    return TCL_OK;
}

static int
SlsUnset(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_SlsUnsetKeyed(SockOf(clientData), Tcl_GetString(objv[2]));
    return TCL_OK;
}
