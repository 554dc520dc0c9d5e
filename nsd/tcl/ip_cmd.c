/* SPDX-License-Identifier: MPL-2.0
 * ip_cmd.c --
 *
 *      Questions about numeric addresses: ns_ip, ns_subnetmatch.
 */

#include "ns.h"
#include "base/ipaddress.h"
#include "request/proxies.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc InAny, Match, Properties, Public, SubnetMatch, Trusted,
    Valid, Within;

static int  ReturnBool(Tcl_Interp *interp, bool value);
static int  IsIn(Tcl_Interp *interp, Tcl_Obj *addressObj, int nRanges,
                 Tcl_Obj *const *ranges);
static int  Parse(Tcl_Interp *interp, Tcl_Obj *obj, NsIpAddress *addressPtr);
static bool IsIpv6(const char *address);

static const NsTclCommand commands[] = {
    {"ns_subnetmatch", SubnetMatch, 2, 2, "cidr address", NS_TCL_BASIC},
    NS_TCL_END};

static const NsTclCommand subcmds[] = {
    {"inany", InAny, 1, 1, "address", 0},
    {"match", Match, 2, 2, "cidr address", 0},
    {"properties", Properties, 1, 1, "address", 0},
    {"public", Public, 1, 1, "address", 0},
    {"trusted", Trusted, 1, 1, "address", 0},
    {"valid", Valid, 0, NS_TCL_ANY, NULL, 0},
    {"within", Within, 2, NS_TCL_ANY, "address cidr ?cidr ...?", 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {"ns_ip", "subcommand address ?arg ...?",
                                       "subcommand", NS_TCL_BASIC, subcmds};

void
NsIpCmdInit(void)
{
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&ensemble);
}

/*
 * ns_ip inany address: whether it is that of all interfaces.
 */
static int
InAny(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsIpAddress address;

    return Parse(interp, objv[2], &address) == TCL_OK
        ? ReturnBool(interp, NsIpIsAny(&address))
        : TCL_ERROR;
}

/*
 * ns_ip match cidr address
 */
static int
Match(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return IsIn(interp, objv[3], 1, objv + 2);
}

/*
 * ns_subnetmatch cidr address
 */
static int
SubnetMatch(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return IsIn(interp, objv[2], 1, objv + 1);
}

/*
 * ns_ip within address cidr ?cidr ...?
 */
static int
Within(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    return IsIn(interp, objv[2], objc - 3, objv + 3);
}

/*
 * ns_ip properties address
 */
static int
Properties(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsIpAddress address;
    Tcl_Obj    *dictObj;
    const char *text = Tcl_GetString(objv[2]);

    if (Parse(interp, objv[2], &address) != TCL_OK) {
        return TCL_ERROR;
    }
    dictObj = Tcl_NewDictObj();
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("public", -1),
                   Tcl_NewBooleanObj(NsIpIsPublic(&address)));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("trusted", -1),
                   Tcl_NewBooleanObj(NsProxiesTrust(text)));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("inany", -1),
                   Tcl_NewBooleanObj(NsIpIsAny(&address)));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("type", -1),
                   Tcl_NewStringObj(IsIpv6(text) ? "IPv6" : "IPv4", -1));
    return NsTclReturn(interp, dictObj);
}

/*
 * ns_ip public address
 */
static int
Public(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsIpAddress address;

    return Parse(interp, objv[2], &address) == TCL_OK
        ? ReturnBool(interp, NsIpIsPublic(&address))
        : TCL_ERROR;
}

/*
 * ns_ip trusted address: whether it is that of a proxy that is believed.
 */
static int
Trusted(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsIpAddress address;

    return Parse(interp, objv[2], &address) == TCL_OK
        ? ReturnBool(interp, NsProxiesTrust(Tcl_GetString(objv[2])))
        : TCL_ERROR;
}

/*
 * ns_ip valid ?-type ipv4|ipv6? ?--? address
 */
static int
Valid(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    enum { V4, V6, EITHER };

    static Ns_ObjvTable types[] = {{"ipv4", V4}, {"ipv6", V6}, {NULL, 0}};
    NsIpAddress         address;
    char               *text;
    int                 type = EITHER;
    Ns_ObjvSpec         opts[] = {{"-type", Ns_ObjvIndex, &type, types},
                                  {"--", Ns_ObjvBreak, NULL, NULL},
                                  {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec         args[] = {{"address", Ns_ObjvString, &text, NULL},
                                  {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    return ReturnBool(interp,
                      NsIpParse(text, &address)
                          && (type == EITHER || IsIpv6(text) == (type == V6)));
}

static int
ReturnBool(Tcl_Interp *interp, bool value)
{
    return NsTclReturn(interp, Tcl_NewBooleanObj(value));
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
        const char *text = Tcl_GetString(ranges[i]);

        if (!NsIpRangeParse(text, &range)) {
            return NsTclFail(interp,
                             "'%s' is not a valid CIDR string for IPv4 or IPv6",
                             text);
        }
        result = result || NsIpRangeHas(&range, &address);
    }
    return ReturnBool(interp, result);
}

static int
Parse(Tcl_Interp *interp, Tcl_Obj *obj, NsIpAddress *addressPtr)
{
    if (!NsIpParse(Tcl_GetString(obj), addressPtr)) {
        return NsTclFail(interp, "'%s' is not a valid IPv4 or IPv6 address",
                         Tcl_GetString(obj));
    }
    return TCL_OK;
}

/*
 * By its spelling: ::ffff:1.2.3.4 is written as one of IPv6.
 */
static bool
IsIpv6(const char *address)
{
    return strchr(address, ':') != NULL;
}
