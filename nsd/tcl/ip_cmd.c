/*
 * ip_cmd.c --
 *
 *      ns_ip: questions about numeric addresses.
 */

#include "ns.h"
#include "base/ipaddress.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc InAny, Match, Public, Valid;

static int IsIn(Tcl_Interp *interp, Tcl_Obj *addressObj, int nRanges,
                Tcl_Obj *const *ranges);
static int Parse(Tcl_Interp *interp, Tcl_Obj *obj, NsIpAddress *addressPtr);

static const NsTclCommand subcmds[] = {
    {"inany", InAny, 2, NS_TCL_ANY, "address range ?range ...?", 0},
    {"match", Match, 2, 2, "range address", 0},
    {"public", Public, 1, 1, "address", 0},
    {"valid", Valid, 1, 1, "address", 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {"ns_ip", "subcommand address ?arg ...?",
                                       "subcommand", NS_TCL_BASIC, subcmds};

NS_TCL_FAMILY_OF_ONE(Ip, &ensemble)

/*
 * ns_ip valid address
 */
static int
Valid(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsIpAddress address;

    return NsTclReturn(interp,
                       Tcl_NewBooleanObj(NsIpParse(Tcl_GetString(objv[2]),
                                                   &address)));
}

/*
 * ns_ip public address
 */
static int
Public(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsIpAddress address;

    return Parse(interp, objv[2], &address) != TCL_OK
        ? TCL_ERROR
        : NsTclReturn(interp, Tcl_NewBooleanObj(NsIpIsPublic(&address)));
}

/*
 * ns_ip match range address
 */
static int
Match(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return IsIn(interp, objv[3], 1, objv + 2);
}

/*
 * ns_ip inany address range ?range ...?
 */
static int
InAny(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return IsIn(interp, objv[2], objc - 3, objv + 3);
}

static int
IsIn(Tcl_Interp *interp, Tcl_Obj *addressObj, int nRanges,
     Tcl_Obj *const *ranges)
{
    NsIpAddress address;
    NsIpRange   range;
    bool        result = false;

    if (Parse(interp, addressObj, &address) != TCL_OK) {
        return TCL_ERROR;
    }
    for (int i = 0; i < nRanges; i++) {
        if (!NsIpRangeParse(Tcl_GetString(ranges[i]), &range)) {
            return NsTclFail(interp, "invalid range of addresses: \"%s\"",
                             Tcl_GetString(ranges[i]));
        }
        result = result || NsIpRangeHas(&range, &address);
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(result));
}

static int
Parse(Tcl_Interp *interp, Tcl_Obj *obj, NsIpAddress *addressPtr)
{
    if (!NsIpParse(Tcl_GetString(obj), addressPtr)) {
        return NsTclFail(interp, "invalid address: \"%s\"", Tcl_GetString(obj));
    }
    return TCL_OK;
}
