/*
 * ip_cmd.c --
 *
 *      ns_ip: questions about numeric addresses.
 */

#include "ns.h"
#include "base/ipaddress.h"
#include "tcl/commands.h"
#include "tcl/interp.h"

static Tcl_ObjCmdProc IpObjCmd;
static int Parse(Tcl_Interp *interp, Tcl_Obj *obj, NsIpAddress *addressPtr);

static const NsTclCommand commands[] = {
    {"ns_ip", IpObjCmd, true},
    {NULL, NULL, false}
};


void
NsIpCmdInit(void)
{
    NsTclAddCommands(commands);
}

/*
 * ns_ip public address, ns_ip valid address, ns_ip match range address,
 * ns_ip inany address range ?range ...?
 */
static int
IpObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    static const struct {
        const char *name;
        const char *args;
        int         minWords;
        int         maxWords;
    } subcmds[] = {
        {"inany",  "address range ?range ...?", 4, INT_MAX},
        {"match",  "range address",             4, 4},
        {"public", "address",                   3, 3},
        {"valid",  "address",                   3, 3},
        {NULL, NULL, 0, 0}
    };
    enum {INANY, MATCH, PUBLIC, VALID};
    NsIpAddress address;
    NsIpRange   range;
    bool        result;
    int         subcmd, first, last;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "subcommand address ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], subcmds, sizeof(subcmds[0]),
                                  "subcommand", 0, &subcmd) != TCL_OK) {
        return TCL_ERROR;
    }
    if (objc < subcmds[subcmd].minWords || objc > subcmds[subcmd].maxWords) {
        Tcl_WrongNumArgs(interp, 2, objv, subcmds[subcmd].args);
        return TCL_ERROR;
    }
    if (subcmd == VALID) {
        result = NsIpParse(Tcl_GetString(objv[2]), &address);
        Tcl_SetObjResult(interp, Tcl_NewBooleanObj(result));
        return TCL_OK;
    }
    if (Parse(interp, objv[subcmd == MATCH ? 3 : 2], &address) != TCL_OK) {
        return TCL_ERROR;
    }
    result = subcmd == PUBLIC && NsIpIsPublic(&address);
    first = subcmd == MATCH ? 2 : 3;
    last = subcmd == MATCH ? 2 : objc - 1;
    for (int i = first; i <= last; i++) {
        if (!NsIpRangeParse(Tcl_GetString(objv[i]), &range)) {
            Ns_TclPrintfResult(interp, "invalid range of addresses: \"%s\"",
                               Tcl_GetString(objv[i]));
            return TCL_ERROR;
        }
        result = result || NsIpRangeHas(&range, &address);
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(result));
    return TCL_OK;
}

static int
Parse(Tcl_Interp *interp, Tcl_Obj *obj, NsIpAddress *addressPtr)
{
    if (!NsIpParse(Tcl_GetString(obj), addressPtr)) {
        Ns_TclPrintfResult(interp, "invalid address: \"%s\"",
                           Tcl_GetString(obj));
        return TCL_ERROR;
    }
    return TCL_OK;
}
