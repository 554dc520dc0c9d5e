/* SPDX-License-Identifier: MPL-2.0
 * urlspace_cmd.c --
 *
 *      ns_urlspace: data of scripts that belong to URLs.
 */

#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "request/constraints.h"
#include "request/reqserver.h"
#include "request/urlspace.h"
#include "request/urltree.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/regargs.h"
#include "tcl/result.h"
#include "tcl/set.h"

/*
 * What the subcommands take.
 */
typedef struct Call {
    NsServer *serverPtr;
    int       id; /* -1: not given. */
    char     *key;
    char     *url;
    int       flags;
} Call;

static Tcl_ObjCmdProc GetCmd, ListCmd, NewCmd, SetCmd, UnsetCmd;

static int             TakeId(Tcl_Interp *interp, Call *callPtr);
static int             NoId(Tcl_Interp *interp);
static NsUrlAcceptProc CopyData;
static NsUrlVisitProc  AppendEntry;

static const NsTclCommand subcmds[] = {
    {"get", GetCmd, 0, NS_TCL_ANY, NULL, 0},
    {"list", ListCmd, 0, NS_TCL_ANY, NULL, 0},
    {"new", NewCmd, 0, 0, NULL, 0},
    {"set", SetCmd, 0, NS_TCL_ANY, NULL, 0},
    {"unset", UnsetCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_urlspace", "subcommand ?arg ...?", "subcommand", 0, subcmds};

NS_TCL_FAMILY_OF_ONE(UrlSpace, &ensemble)

#define CALL_OF(clientData)                                            \
    {                                                                  \
        .serverPtr = ((NsInterp *) (clientData))->serverPtr, .id = -1, \
        .key = (char *) (uintptr_t) "."                                \
    }

/*
 * ns_urlspace set ?-constraints list? ?-id id? ?-key key? ?-noinherit? url data
 */
static int
SetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Call           call = CALL_OF(clientData);
    char          *constraints = NULL, *filter = NULL, *data;
    NsConstraints *constraintsPtr;
    Ns_ObjvSpec    options[] = {
           {"-constraints", Ns_ObjvString, &constraints, NULL},
           {"-contextfilter", Ns_ObjvString, &filter, NULL},
           {"-id", Ns_ObjvInt, &call.id, NULL},
           {"-key", Ns_ObjvString, &call.key, NULL},
           {"-noinherit", Ns_ObjvBool, &call.flags, INT2PTR(NS_OP_NOINHERIT)},
           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"url", Ns_ObjvString, &call.url, NULL},
                          {"data", Ns_ObjvString, &data, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || TakeId(interp, &call) != TCL_OK
        || NsRegArgsCheck(interp, NULL, false,
                          constraints != NULL ? constraints : filter,
                          &constraintsPtr)
            != TCL_OK) {
        return TCL_ERROR;
    }
    NsUrlSpaceSetFor(call.serverPtr, call.id, constraintsPtr, call.key,
                     call.url, ns_strdup(data), call.flags, ns_free);
    return TCL_OK;
}

/*
 * ns_urlspace get ?-context set? ?-exact? ?-id id? ?-key key? ?-noinherit? url
 */
static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    Call        call = CALL_OF(clientData);
    Tcl_Obj    *contextObj = NULL;
    int         isExact = 0;
    NsContext   context = {0};
    Ns_DString  ds;
    Ns_ObjvSpec options[] = {
        {"-context", Ns_ObjvObj, &contextObj, NULL},
        {"-exact", Ns_ObjvBool, &isExact, INT2PTR(true)},
        {"-id", Ns_ObjvInt, &call.id, NULL},
        {"-key", Ns_ObjvString, &call.key, NULL},
        {"-noinherit", Ns_ObjvBool, &call.flags, INT2PTR(NS_OP_NOINHERIT)},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"url", Ns_ObjvString, &call.url, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || TakeId(interp, &call) != TCL_OK) {
        return TCL_ERROR;
    }
    if (contextObj != NULL) {
        context.setPtr = NsTclSetGet(itPtr, contextObj);
        if (context.setPtr == NULL) {
            return TCL_ERROR;
        }
    } else if (itPtr->connPtr != NULL) {
        context.messagePtr = itPtr->connPtr->messagePtr;
    }
    Ns_DStringInit(&ds);
    if (isExact) {
        (void) NsUrlSpaceFindExactFor(call.serverPtr, call.id, &context,
                                      call.key, call.url, call.flags, CopyData,
                                      &ds);
    } else {
        (void) NsUrlSpaceFindFor(call.serverPtr, call.id, &context, call.key,
                                 call.url, call.flags, CopyData, &ds);
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * Another thread may free the data when the lock is released.
 */
static bool
CopyData(void *data, void *arg)
{
    Ns_DStringAppend((Ns_DString *) arg, data);
    return true;
}

/*
 * ns_urlspace unset ?-allconstraints? ?-allfilters? ?-id id? ?-key key?
 * ?-noinherit? ?-recurse? url
 */
static int
UnsetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Call        call = CALL_OF(clientData);
    int         allConstraints = 0, allFilters = 0, recurse = 0;
    bool        isFound;
    Ns_ObjvSpec options[] = {
        {"-allconstraints", Ns_ObjvBool, &allConstraints,
         INT2PTR(NS_OP_ALLCONSTRAINTS)},
        {"-allfilters", Ns_ObjvBool, &allFilters, INT2PTR(NS_OP_ALLFILTERS)},
        {"-id", Ns_ObjvInt, &call.id, NULL},
        {"-key", Ns_ObjvString, &call.key, NULL},
        {"-noinherit", Ns_ObjvBool, &call.flags, INT2PTR(NS_OP_NOINHERIT)},
        {"-recurse", Ns_ObjvBool, &recurse, INT2PTR(NS_OP_RECURSE)},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"url", Ns_ObjvString, &call.url, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || TakeId(interp, &call) != TCL_OK) {
        return TCL_ERROR;
    }
    isFound = NsUrlSpaceRemove(call.serverPtr, call.id, call.key, call.url,
                               call.flags | allConstraints | allFilters
                                   | recurse);
    return recurse != 0 ? TCL_OK
                        : NsTclReturn(interp, Tcl_NewBooleanObj(isFound));
}

/*
 * ns_urlspace list ?-id id?
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Call        call = CALL_OF(clientData);
    Ns_DString  ds;
    Ns_ObjvSpec options[] = {
        {"-id", Ns_ObjvInt, &call.id, NULL}, {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK
        || TakeId(interp, &call) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsUrlSpaceVisit(call.serverPtr, call.id, AppendEntry, &ds);
    return NsTclReturnText(interp, &ds);
}

static void
AppendEntry(const NsUrlEntry *entryPtr, void *arg)
{
    NsUrlEntryStart(arg, entryPtr);
    Tcl_DStringAppendElement(arg, entryPtr->data);
    Tcl_DStringEndSublist(arg);
}

/*
 * ns_urlspace new
 */
static int
NewCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    int id = NsUrlSpaceNewId();

    return id < 0 ? NoId(interp) : NsTclReturn(interp, Tcl_NewIntObj(id));
}

/*
 * Without -id the one of the server, made when it is first needed.
 */
static int
TakeId(Tcl_Interp *interp, Call *callPtr)
{
    atomic_int *idPtr = &callPtr->serverPtr->requestPtr->scriptUrlId;
    int         known = atomic_load(idPtr);

    if (callPtr->id >= 0) {
        return NsUrlSpaceIsOfScripts(callPtr->id)
            ? TCL_OK
            : NsTclFail(interp,
                        "no such urlspace: %d; 'ns_urlspace new' makes one",
                        callPtr->id);
    }
    if (known == 0) {
        int id = NsUrlSpaceNewId();

        if (id < 0) {
            return NoId(interp);
        }
        /* Another thread may have been faster; then an id is left unused. */
        if (atomic_compare_exchange_strong(idPtr, &known, id + 1)) {
            known = id + 1;
        }
    }
    callPtr->id = known - 1;
    return TCL_OK;
}

static int
NoId(Tcl_Interp *interp)
{
    return NsTclFail(interp, "maximum number of urlspaces (%d) reached",
                     NS_URL_SCRIPT_IDS);
}
