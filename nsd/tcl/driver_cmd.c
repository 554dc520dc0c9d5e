/*
 * driver_cmd.c --
 *
 *      Drivers as scripts see them: ns_driver, ns_upload_stats, ns_sls.
 */

#include "net/driver.h"
#include "nsconn.h"
#include "nsstring.h"
#include "tcl/commands.h"
#include "tcl/interp.h"
#include "tcl/serverarg.h"

static Tcl_ObjCmdProc DriverObjCmd, UploadStatsObjCmd, SlsObjCmd;

static int SlsGet(Tcl_Interp *interp, Ns_Sock *sock, int objc,
                  Tcl_Obj *const *objv);

static const NsTclCommand commands[] = {
    {"ns_driver",       DriverObjCmd,      false},
    {"ns_upload_stats", UploadStatsObjCmd, false},
    {"ns_sls",          SlsObjCmd,         false},
    {NULL, NULL, false}
};

void
NsDriverCmdInit(void)
{
    NsTclAddCommands(commands);
}

/*
 * ns_driver info|names|stats|threads ?-server server?
 */
static int
DriverObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    static const char *const options[] = {
        "info", "names", "stats", "threads", NULL
    };
    enum { INFO, NAMES, STATS, THREADS } option;
    char       *server = NULL;
    Ns_ObjvSpec flags[] = {
        {"-server", Ns_ObjvString, &server, NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_DString  ds;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?-server server?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], options, "option", 0,
                            (int *) &option) != TCL_OK
            || Ns_ParseObjv(flags, NULL, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (server != NULL && NsServerArgFind(interp, server) == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    switch (option) {
    case INFO:
        NsDriverInfo(&ds, server);
        break;
    case NAMES:
        NsDriverNames(&ds);
        break;
    case STATS:
        NsDriverStats(&ds);
        break;
    case THREADS:
        NsDriverThreads(&ds);
        break;
    }
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * ns_upload_stats url
 */
static int
UploadStatsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    int64_t received, total;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "url");
        return TCL_ERROR;
    }
    if (NsUploadStats(Tcl_GetString(objv[1]), &received, &total) == NS_OK) {
        Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

        Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewWideIntObj(received));
        Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewWideIntObj(total));
        Tcl_SetObjResult(interp, listPtr);
    }
    return TCL_OK;
}

/*
 * ns_sls array|get|set|unset ...
 */
static int
SlsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    static const char *const names[] = {"array", "get", "set", "unset", NULL};
    enum { ARRAY, GET, SET, UNSET } name;
    NsInterp  *interpPtr = clientData;
    Ns_Sock   *sock;
    Ns_DString ds;

    if (interpPtr->connPtr == NULL || interpPtr->connPtr->sockPtr == NULL) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj("No connection available.", -1));
        return TCL_ERROR;
    }
    sock = NsSockPublic(interpPtr->connPtr->sockPtr);
    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "command");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], names, "command", TCL_EXACT,
                            (int *) &name) != TCL_OK) {
        Tcl_SetObjResult(interp, Tcl_ObjPrintf(
            "bad command \"%s\": must be array, get, set, or unset",
            Tcl_GetString(objv[1])));
        return TCL_ERROR;
    }
    switch (name) {
    case ARRAY:
        Ns_DStringInit(&ds);
        (void) Ns_SlsAppendKeyed(&ds, sock);
        Tcl_DStringResult(interp, &ds);
        break;
    case GET:
        return SlsGet(interp, sock, objc, objv);
    case SET:
        if (objc != 4) {
            Tcl_WrongNumArgs(interp, 2, objv, "key value");
            return TCL_ERROR;
        }
        Ns_SlsSetKeyed(sock, Tcl_GetString(objv[2]), Tcl_GetString(objv[3]));
        break;
    case UNSET:
        if (objc != 3) {
            Tcl_WrongNumArgs(interp, 2, objv, "key");
            return TCL_ERROR;
        }
        Ns_SlsUnsetKeyed(sock, Tcl_GetString(objv[2]));
        break;
    }
    return TCL_OK;
}

static int
SlsGet(Tcl_Interp *interp, Ns_Sock *sock, int objc, Tcl_Obj *const *objv)
{
    const char *value;

    if (objc < 3 || objc > 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "key ?default?");
        return TCL_ERROR;
    }
    value = Ns_SlsGetKeyed(sock, Tcl_GetString(objv[2]));
    if (value != NULL) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(value, -1));
    } else if (objc == 4) {
        Tcl_SetObjResult(interp, objv[3]);
    } else {
        Tcl_SetObjResult(interp,
            Tcl_NewStringObj("key does not exist and no default given", -1));
        return TCL_ERROR;
    }
    return TCL_OK;
}
