/* SPDX-License-Identifier: MPL-2.0
 * server_cmd.c --
 *
 *      ns_server: the state of a virtual server and of its pools.
 *
 *      Each subcommand is a procedure in a table, which also says whether a
 *      pool may be given.  Subcommands that came later are found by their
 *      whole name only and are not listed in error messages, which scripts
 *      compare.
 */

#include "ns.h"
#include "dispatch/connthread.h"
#include "dispatch/pool.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_stats.h"
#include "net/driver_info.h"
#include "process/paths.h"
#include "process/setting.h"
#include "request/auth.h"
#include "request/filter.h"
#include "request/op.h"
#include "request/poolmap.h"
#include "request/reqserver.h"
#include "request/reqtrace.h"
#include "request/routes.h"
#include "request/slowest.h"
#include "request/url2file.h"
#include "request/urlspace.h"
#include "request/vhost.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"
#include "tcl/stack.h"

/*
 * The words of a call.
 */
typedef struct Call {
    NsServer       *serverPtr;
    NsPool         *poolPtr;
    bool            hasPool; /* -pool was given. */
    bool            hasBoth; /* Options -server and -pool, that is. */
    Tcl_Obj        *subcmdObj;
    unsigned        flags;    /* Options of the subcommand. */
    Tcl_Obj        *sinceObj; /* The argument of one; NULL: not given. */
    Tcl_Obj *const *args;     /* Words behind these. */
    int             nArgs;
} Call;

#define FLAG_CHECKFORPROXY 0x01u
#define FLAG_EXACT         0x02u
#define FLAG_NOINHERIT     0x04u
#define FLAG_EFFECTIVE     0x08u
#define FLAG_ALL           0x10u
#define FLAG_LATER         0x20u /* A setting that came later. */
#define FLAG_ERRORS        0x40u
#define FLAG_LONG          0x80u
#define FLAG_SINCE         0x100u /* Has an argument. */

static const struct {
    const char *name;
    unsigned    flag;
} flagNames[] = {
    {"-checkforproxy", FLAG_CHECKFORPROXY},
    {"-effective", FLAG_EFFECTIVE},
    {"-exact", FLAG_EXACT},
    {"-noinherit", FLAG_NOINHERIT},
    {"-all", FLAG_ALL},
    {"-errors", FLAG_ERRORS},
    {"-long", FLAG_LONG},
    {"-since", FLAG_SINCE}};

typedef int SubcmdProc(Tcl_Interp *interp, const Call *callPtr);

/*
 * Appends what it has of one pool.
 */
typedef void FiguresProc(Ns_DString *dsPtr, NsPool *poolPtr);

static SubcmdProc ListSubcmd, ConnectionsSubcmd, WaitingSubcmd, StatsSubcmd,
    ThreadsSubcmd, SettingSubcmd, KeepaliveSubcmd, DirectorySubcmd, TableSubcmd,
    PoolsSubcmd, MapSubcmd, MappedSubcmd, HostsSubcmd, RealmSubcmd,
    CharsetSubcmd, VhostSubcmd, HistogramSubcmd, StackSubcmd, StatusesSubcmd,
    RefusedSubcmd, CancelSubcmd, SlowestSubcmd, RoutesSubcmd, SizesSubcmd,
    CancelledSubcmd, AbortedSubcmd;

typedef struct Subcmd {
    const char *name;
    SubcmdProc *proc;
    bool        mayHavePool; /* Accepts -pool. */
    int         maxArgs;     /* 0: a word behind it is a pool's name. */
    unsigned    flags;       /* Options that it has. */
} Subcmd;

static const Subcmd subcmds[] = {
    {"active", ListSubcmd, true, 0, FLAG_CHECKFORPROXY | FLAG_LONG},
    {"all", ListSubcmd, true, 0, FLAG_CHECKFORPROXY | FLAG_LONG},
    {"connections", ConnectionsSubcmd, true, 0, 0},
    {"filters", TableSubcmd, false, 0, 0},
    {"keepalive", KeepaliveSubcmd, true, 0, 0},
    {"maxthreads", SettingSubcmd, true, 1, 0},
    {"minthreads", SettingSubcmd, true, 1, 0},
    {"pagedir", DirectorySubcmd, false, 0, 0},
    {"pools", PoolsSubcmd, false, 0, 0},
    {"queued", ListSubcmd, true, 0, FLAG_CHECKFORPROXY | FLAG_LONG},
    {"requestprocs", TableSubcmd, false, 0, 0},
    {"serverdir", DirectorySubcmd, true, 0, FLAG_EFFECTIVE},
    {"stats", StatsSubcmd, true, 0, 0},
    {"tcllib", DirectorySubcmd, true, 0, 0},
    {"threads", ThreadsSubcmd, true, 0, 0},
    {"traces", TableSubcmd, true, 0, 0},
    {"url2file", TableSubcmd, false, 0, 0},
    {"waiting", WaitingSubcmd, true, 0, 0},
    {NULL, NULL, false, 0, 0},
    /* Of later releases. */
    {"aborted", AbortedSubcmd, true, 0, 0},
    {"authprocs", TableSubcmd, true, 0, 0},
    {"buckets", HistogramSubcmd, true, 0, 0},
    {"cancel", CancelSubcmd, false, 2, 0},
    {"cancelabandoned", SettingSubcmd, true, 1, FLAG_LATER},
    {"cancelled", CancelledSubcmd, true, 0, 0},
    {"charset", CharsetSubcmd, true, 1, 0},
    {"connectionratelimit", SettingSubcmd, true, 1, 0},
    {"connsperthread", SettingSubcmd, true, 1, FLAG_LATER},
    {"highwatermark", SettingSubcmd, true, 1, 0},
    {"histogram", HistogramSubcmd, true, 0, 0},
    {"hosts", HostsSubcmd, true, 0, 0},
    {"logdir", DirectorySubcmd, true, 0, 0},
    {"lowwatermark", SettingSubcmd, true, 1, 0},
    {"map", MapSubcmd, true, 1, FLAG_NOINHERIT},
    {"mapped", MappedSubcmd, true, 1, FLAG_ALL | FLAG_EXACT | FLAG_NOINHERIT},
    {"maxconnections", SettingSubcmd, true, 1, FLAG_LATER},
    {"maxrunperpeer", SettingSubcmd, true, 1, FLAG_LATER},
    {"maxruntime", SettingSubcmd, true, 1, FLAG_LATER},
    {"maxstuck", SettingSubcmd, true, 1, FLAG_LATER},
    {"maxwaitperpeer", SettingSubcmd, true, 1, FLAG_LATER},
    {"pageroot", DirectorySubcmd, false, 0, 0},
    {"poolratelimit", SettingSubcmd, true, 1, 0},
    {"queuepatience", SettingSubcmd, true, 1, FLAG_LATER},
    {"queuetimeout", SettingSubcmd, true, 1, FLAG_LATER},
    {"realm", RealmSubcmd, true, 1, 0},
    {"refused", RefusedSubcmd, true, 0, 0},
    {"rejectoverrun", SettingSubcmd, true, 1, FLAG_LATER},
    {"retryafter", SettingSubcmd, true, 1, FLAG_LATER},
    {"routes", RoutesSubcmd, false, 0, 0},
    {"sizes", SizesSubcmd, true, 0, 0},
    {"skipabandoned", SettingSubcmd, true, 1, FLAG_LATER},
    {"slowest", SlowestSubcmd, false, 0, FLAG_ERRORS | FLAG_SINCE},
    {"stack", StackSubcmd, true, 1, 0},
    {"statuses", StatusesSubcmd, true, 0, 0},
    {"threadtimeout", SettingSubcmd, true, 1, FLAG_LATER},
    {"unmap", MapSubcmd, true, 1, FLAG_NOINHERIT},
    {"vhostenabled", VhostSubcmd, true, 0, 0},
    {NULL, NULL, false, 0, 0}};

static Tcl_ObjCmdProc ServerCmd;

static int ParseCall(Tcl_Interp *interp, NsInterp *itPtr, int objc,
                     Tcl_Obj *const *objv, Call *callPtr);
static int FindPool(Tcl_Interp *interp, const char *name, Call *callPtr);
static int TakeFlags(Tcl_Interp *interp, Call *callPtr, unsigned known);
static int Usage(Tcl_Interp *interp, Tcl_Obj *cmdObj);
static int ReturnFigures(Tcl_Interp *interp, const Call *callPtr,
                         FiguresProc *proc);
static const char *Name(const Call *callPtr);
static int         BadMapSpec(Tcl_Interp *interp, const char *spec);
static const char *CharsetOf(Tcl_Encoding encoding);
static void        LogDeprecated(const Call *callPtr, const char *alternative);

static const NsTclCommand commands[] = {
    {"ns_server", ServerCmd, 0, NS_TCL_ANY, NULL, 0}, NS_TCL_END};

NS_TCL_FAMILY(Server, commands)

/*
 * ns_server ?-server server? ?-pool pool? ?--? subcmd ?arg?
 */
static int
ServerCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Call          call;
    const Subcmd *subcmdPtr;

    if (ParseCall(interp, clientData, objc, objv, &call) != TCL_OK) {
        return TCL_ERROR;
    }
    subcmdPtr = NsTclFindRow(interp, call.subcmdObj, subcmds, sizeof(Subcmd),
                             "subcmd", false);
    if (subcmdPtr == NULL) {
        return TCL_ERROR;
    }
    if (TakeFlags(interp, &call, subcmdPtr->flags) != TCL_OK) {
        return TCL_ERROR;
    }
    call.flags |= subcmdPtr->flags & FLAG_LATER;
    if (call.nArgs > MAX(subcmdPtr->maxArgs, 1)) {
        return Usage(interp, objv[0]);
    }
    if (subcmdPtr->maxArgs == 0 && call.nArgs == 1) {
        Ns_LogDeprecated(objv, 2, "ns_server ?-pool p? ...",
                         "Passing pool as second argument is deprected.");
        if (FindPool(interp, Tcl_GetString(call.args[0]), &call) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    if (call.hasPool && !subcmdPtr->mayHavePool) {
        return NsTclFail(interp,
                         "option -pool is not allowed for this subcommand");
    }
    /* The rest of the name, if it was abbreviated. */
    call.subcmdObj = Tcl_NewStringObj(subcmdPtr->name, -1);
    Tcl_IncrRefCount(call.subcmdObj);
    if (subcmdPtr->proc(interp, &call) != TCL_OK) {
        Tcl_DecrRefCount(call.subcmdObj);
        return TCL_ERROR;
    }
    Tcl_DecrRefCount(call.subcmdObj);
    return TCL_OK;
}

static int
ParseCall(Tcl_Interp *interp, NsInterp *itPtr, int objc, Tcl_Obj *const *objv,
          Call *callPtr)
{
    const char *pool = NULL;
    bool        hasServer = false;
    int         i = 1;

    *callPtr = (Call){.serverPtr = itPtr->serverPtr};
    for (; i < objc; i++) {
        const char *word = Tcl_GetString(objv[i]);
        bool        isServer = STREQ(word, "-server");

        if (!isServer && !STREQ(word, "-pool")) {
            i += STREQ(word, "--");
            break;
        }
        if (++i == objc) {
            return NsTclFail(interp, "missing argument for %s", word);
        }
        if (isServer) {
            hasServer = true;
            callPtr->serverPtr = NsServerArgFind(interp,
                                                 Tcl_GetString(objv[i]));
            if (callPtr->serverPtr == NULL) {
                return TCL_ERROR;
            }
        } else {
            pool = Tcl_GetString(objv[i]);
        }
    }
    if (i >= objc) {
        return Usage(interp, objv[0]);
    }
    callPtr->subcmdObj = objv[i];
    callPtr->args = objv + i + 1;
    callPtr->nArgs = objc - i - 1;
    if (pool == NULL) {
        callPtr->poolPtr = NsPoolFind(callPtr->serverPtr, "");
        return TCL_OK;
    }
    callPtr->hasBoth = hasServer;
    return FindPool(interp, pool, callPtr);
}

static int
FindPool(Tcl_Interp *interp, const char *name, Call *callPtr)
{
    callPtr->hasPool = true;
    callPtr->poolPtr = NsPoolFind(callPtr->serverPtr, name);
    if (callPtr->poolPtr == NULL) {
        return NsTclFail(interp, "no such pool %s for server %s", name,
                         callPtr->serverPtr->name);
    }
    return TCL_OK;
}

/*
 * The options that come first among the words behind the subcommand.
 */
static int
TakeFlags(Tcl_Interp *interp, Call *callPtr, unsigned known)
{
    int i = 0;

    while (callPtr->nArgs > 0 && i < Ns_NrElements(flagNames)) {
        if ((known & flagNames[i].flag) != 0
            && STREQ(Tcl_GetString(callPtr->args[0]), flagNames[i].name)) {
            callPtr->flags |= flagNames[i].flag;
            callPtr->args++;
            callPtr->nArgs--;
            if (flagNames[i].flag == FLAG_SINCE) {
                if (callPtr->nArgs == 0) {
                    return NsTclFail(interp, "missing argument for -since");
                }
                callPtr->sinceObj = *callPtr->args++;
                callPtr->nArgs--;
            }
            i = 0;
        } else {
            i++;
        }
    }
    return TCL_OK;
}

static int
Usage(Tcl_Interp *interp, Tcl_Obj *cmdObj)
{
    Tcl_WrongNumArgs(interp, 1, &cmdObj,
                     "?-server server? ?-pool pool? ?--? subcmd ?arg?");
    return TCL_ERROR;
}

static const char *
Name(const Call *callPtr)
{
    return Tcl_GetString(callPtr->subcmdObj);
}

static void
LogDeprecated(const Call *callPtr, const char *alternative)
{
    Tcl_Obj *words[2] = {Tcl_NewStringObj("ns_server", -1), callPtr->subcmdObj};

    Tcl_IncrRefCount(words[0]);
    Ns_LogDeprecated(words, 2, alternative, NULL);
    Tcl_DecrRefCount(words[0]);
}

/*
 * active, queued, all ?-checkforproxy? ?-long?
 */
static int
ListSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    unsigned   flags = STREQ(Name(callPtr), "queued") ? NS_POOL_LIST_WAITING
          : STREQ(Name(callPtr), "active")
          ? NS_POOL_LIST_RUNNING
          : NS_POOL_LIST_RUNNING | NS_POOL_LIST_WAITING;
    Ns_DString ds;

    if ((callPtr->flags & FLAG_CHECKFORPROXY) != 0) {
        flags |= NS_POOL_LIST_FORWARDED;
    }
    if ((callPtr->flags & FLAG_LONG) != 0) {
        flags |= NS_POOL_LIST_LONG;
    }
    Ns_DStringInit(&ds);
    NsPoolList(&ds, callPtr->poolPtr, flags);
    return NsTclReturnText(interp, &ds);
}

static int
ConnectionsSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return NsTclReturn(interp,
                       Tcl_NewWideIntObj((Tcl_WideInt)
                                             NsPoolRequests(callPtr->poolPtr)));
}

static int
WaitingSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return NsTclReturn(interp, Tcl_NewIntObj(NsPoolWaiting(callPtr->poolPtr)));
}

/*
 * Callers that name both server and pool expect the longer form.
 */
static int
StatsSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsPoolStats(&ds, callPtr->poolPtr, callPtr->hasBoth);
    return NsTclReturnText(interp, &ds);
}

static int
ThreadsSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return ReturnFigures(interp, callPtr, NsPoolThreads);
}

static int
ReturnFigures(Tcl_Interp *interp, const Call *callPtr, FiguresProc *proc)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    proc(&ds, callPtr->poolPtr);
    return NsTclReturnText(interp, &ds);
}

/*
 * histogram, buckets: the distribution of the spans, of one pool or of the
 * server.
 */
static int
HistogramSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    NsPool    *poolPtr = callPtr->hasPool ? callPtr->poolPtr : NULL;
    Ns_DString ds;

    Ns_DStringInit(&ds);
    if (STREQ(Name(callPtr), "buckets")) {
        NsPoolBuckets(&ds, callPtr->serverPtr, poolPtr);
    } else {
        NsPoolHistogram(&ds, callPtr->serverPtr, poolPtr);
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * Requests that were not run, by reason.
 */
static int
RefusedSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return ReturnFigures(interp, callPtr, NsPoolRefused);
}

/*
 * Requests that were told to end, by cause.
 */
static int
CancelledSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return ReturnFigures(interp, callPtr, NsPoolCancelled);
}

/*
 * Replies that broke off, by reason.
 */
static int
AbortedSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return ReturnFigures(interp, callPtr, NsPoolAborted);
}

/*
 * Requests that have ended: the slowest, or those that failed.
 */
static int
SlowestSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;
    Ns_Time    since;

    if (callPtr->sinceObj != NULL
        && Ns_TclGetTimeFromObj(interp, callPtr->sinceObj, &since) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsSlowestList(&ds, callPtr->serverPtr, (callPtr->flags & FLAG_ERRORS) != 0,
                  callPtr->sinceObj == NULL ? NULL : &since);
    return NsTclReturnText(interp, &ds);
}

/*
 * Figures of each handler and page.
 */
static int
RoutesSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsRoutesList(&ds, callPtr->serverPtr);
    return NsTclReturnText(interp, &ds);
}

/*
 * The distribution of the sizes of bodies and replies.
 */
static int
SizesSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return ReturnFigures(interp, callPtr, NsPoolSizes);
}

/*
 * How often each status was the answer, of one pool or of the server.
 */
static int
StatusesSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsPoolStatuses(&ds, callPtr->serverPtr,
                   callPtr->hasPool ? callPtr->poolPtr : NULL);
    return NsTclReturnText(interp, &ds);
}

/*
 * The parameters of pools: NAME ?value?.  Scripts compare some of the errors.
 */
static int
SettingSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    const char   *section = NsPoolSection(callPtr->poolPtr);
    const char   *name = Name(callPtr);
    Ns_ReturnCode result = NS_OK;
    Ns_DString    ds;

    Ns_DStringInit(&ds);
    if (callPtr->nArgs == 1) {
        result = NsSettingSet(section, name, Tcl_GetString(callPtr->args[0]),
                              NS_SETTING_SCRIPT, &ds);
    }
    if (result != NS_OK) {
        const char *known = (callPtr->flags & FLAG_LATER) != 0 ? NULL
            : STREQ(name, "minthreads")
            ? "argument is not a integer in the valid range: "
            : "argument is not an integer in valid range: ";

        if (known != NULL) {
            Ns_DStringSetLength(&ds, 0);
            Ns_DStringVarAppend(&ds, known, Tcl_GetString(callPtr->args[0]),
                                (char *) NULL);
        }
        (void) NsTclReturnText(interp, &ds);
        return TCL_ERROR;
    }
    (void) NsSettingGet(section, name, &ds);
    return NsTclReturnText(interp, &ds);
}

static int
KeepaliveSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    LogDeprecated(callPtr, "ns_conn keepalive");
    return NsTclReturn(interp, Tcl_NewIntObj(0));
}

/*
 * pagedir (pageroot), serverdir, tcllib, logdir
 */
static int
DirectorySubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    NsServer   *serverPtr = callPtr->serverPtr;
    const char *name = Name(callPtr);
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    if ((callPtr->flags & FLAG_EFFECTIVE) != 0) {
        NsServerRoot(&ds, serverPtr, NULL);
    } else if (STREQ(name, "serverdir")) {
        Ns_DStringAppend(&ds, serverPtr->requestPtr->serverDir);
    } else if (STREQ(name, "tcllib")) {
        Ns_DStringAppend(&ds, Ns_TclLibrary(serverPtr->name));
    } else if (STREQ(name, "logdir")) {
        if (serverPtr->logDir != NULL) {
            Ns_DStringAppend(&ds, serverPtr->logDir);
        } else {
            NsPathsLog(&ds, NULL);
        }
    } else {
        if (STREQ(name, "pageroot")) {
            LogDeprecated(callPtr, "ns_server pagedir");
        }
        NsPageRoot(&ds, serverPtr, NULL);
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * authprocs, filters, requestprocs, traces, url2file
 */
static int
TableSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    static const struct {
        const char *name;
        void (*proc)(Ns_DString *dsPtr, NsServer *serverPtr);
    } tables[] = {{"authprocs", NsAuthList},
                  {"filters", NsFilterList},
                  {"requestprocs", NsOpList},
                  {"traces", NsReqTraceList},
                  {"url2file", NsUrl2FileList}};
    int        i = 0;
    Ns_DString ds;

    while (!STREQ(tables[i].name, Name(callPtr))) {
        i++;
    }
    Ns_DStringInit(&ds);
    tables[i].proc(&ds, callPtr->serverPtr);
    return NsTclReturnText(interp, &ds);
}

static int
PoolsSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsPoolNames(&ds, callPtr->serverPtr);
    return NsTclReturnText(interp, &ds);
}

/*
 * map ?-noinherit? ?mapspec?, unmap ?-noinherit? mapspec
 */
static int
MapSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    bool          isMap = STREQ(Name(callPtr), "map");
    bool          inherits = (callPtr->flags & FLAG_NOINHERIT) == 0;
    const char   *spec;
    Ns_ReturnCode status;
    Ns_DString    ds;

    if (callPtr->nArgs == 0 && !isMap) {
        Tcl_WrongNumArgs(interp, 1, &callPtr->subcmdObj,
                         "?-noinherit? mapspec");
        return TCL_ERROR;
    }
    if (callPtr->nArgs == 0) {
        Ns_DStringInit(&ds);
        NsPoolMapList(&ds, callPtr->serverPtr, callPtr->poolPtr);
        return NsTclReturnText(interp, &ds);
    }
    spec = Tcl_GetString(callPtr->args[0]);
    if (!isMap) {
        status = NsPoolMapRemove(callPtr->serverPtr, callPtr->poolPtr, spec,
                                 inherits);
        Tcl_SetObjResult(interp, Tcl_NewBooleanObj(status == NS_OK));
    } else if (NsPoolMapAdd(callPtr->serverPtr, callPtr->poolPtr, spec,
                            inherits)
               != NS_OK) {
        return BadMapSpec(interp, spec);
    }
    return TCL_OK;
}

static int
BadMapSpec(Tcl_Interp *interp, const char *spec)
{
    return NsTclFail(interp,
                     "invalid mapspec '%s'; must be 2- or 3-element list "
                     "containing HTTP method, plain URL path, and optionally "
                     "a filtercontext",
                     spec);
}

/*
 * mapped ?-all? ?-exact? ?-noinherit? {METHOD URL}: the pool that serves it, or
 * with an option, to which the mapping of just that URL leads.
 */
static int
MappedSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    NsServer   *serverPtr = callPtr->serverPtr;
    const char *method, *url;
    Tcl_Obj   **words;
    int         nWords;
    NsPool     *poolPtr;
    Ns_DString  ds;

    if (callPtr->nArgs != 1) {
        Tcl_WrongNumArgs(interp, 1, &callPtr->subcmdObj,
                         "?-all? ?-exact? ?-noinherit? mapspec");
        return TCL_ERROR;
    }
    if (Tcl_ListObjGetElements(interp, callPtr->args[0], &nWords, &words)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (nWords != 2 || !NsUrlIsPlain(Tcl_GetString(words[1]))) {
        return BadMapSpec(interp, Tcl_GetString(callPtr->args[0]));
    }
    method = Tcl_GetString(words[0]);
    url = Tcl_GetString(words[1]);
    poolPtr = (callPtr->flags & (FLAG_EXACT | FLAG_NOINHERIT)) == 0
        ? NsPoolMapFind(serverPtr, method, url, NULL)
        : NsPoolMapFindExact(serverPtr, method, url,
                             (callPtr->flags & FLAG_NOINHERIT) == 0);
    if (poolPtr == NULL) {
        return TCL_OK;
    }
    if ((callPtr->flags & FLAG_ALL) != 0) {
        Ns_DStringInit(&ds);
        Ns_DStringAppendElement(&ds, "pool");
        Ns_DStringAppendElement(&ds, NsPoolName(poolPtr));
        Ns_DStringAppendElement(&ds, "handler");
        Tcl_DStringStartSublist(&ds);
        NsOpDescribe(&ds, serverPtr, method, url);
        Tcl_DStringEndSublist(&ds);
        return NsTclReturnText(interp, &ds);
    }
    return NsTclReturn(interp, Tcl_NewStringObj(NsPoolName(poolPtr), -1));
}

/*
 * hosts: the Host fields to which the server answers at drivers that it shares
 * with others.
 */
static int
HostsSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsDriverHosts(&ds, callPtr->serverPtr);
    return NsTclReturnText(interp, &ds);
}

/*
 * realm ?new?: what it was before.
 */
static int
RealmSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsAuthAppendRealm(&ds, callPtr->serverPtr);
    if (callPtr->nArgs == 1) {
        NsAuthSetRealm(callPtr->serverPtr, Tcl_GetString(callPtr->args[0]));
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * charset ?output|url|formfallback?
 */
static int
CharsetSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    const struct NsRequestServer *requestPtr = callPtr->serverPtr->requestPtr;
    const struct Row {
        const char  *name;
        Tcl_Encoding encoding;
    } rows[] = {{"output", requestPtr->outputEncoding},
                {"url", requestPtr->urlEncoding},
                {"formfallback", requestPtr->formFallback},
                {NULL, NULL},
                {NULL, NULL}};
    const struct Row *onlyPtr = NULL;
    Tcl_Obj          *dictObj;

    if (callPtr->nArgs == 1) {
        onlyPtr = NsTclFindRow(interp, callPtr->args[0], rows, sizeof(rows[0]),
                               "option", true);
        return onlyPtr == NULL
            ? TCL_ERROR
            : NsTclReturnString(interp, CharsetOf(onlyPtr->encoding));
    }
    dictObj = Tcl_NewDictObj();
    for (const struct Row *rowPtr = rows; rowPtr->name != NULL; rowPtr++) {
        NsTclDictPut(dictObj, Tcl_NewStringObj(rowPtr->name, -1),
                     Tcl_NewStringObj(CharsetOf(rowPtr->encoding), -1));
    }
    return NsTclReturn(interp, dictObj);
}

static const char *
CharsetOf(Tcl_Encoding encoding)
{
    return encoding == NULL ? "" : Tcl_GetEncodingName(encoding);
}

static int
VhostSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    return NsTclReturn(interp,
                       Tcl_NewBooleanObj(callPtr->serverPtr->requestPtr
                                             ->isVhostEnabled));
}

/*
 * stack ID: the Tcl stack of a running request.
 */
static int
StackSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    Ns_DString ds;

    if (callPtr->nArgs != 1) {
        Tcl_WrongNumArgs(interp, 1, &callPtr->subcmdObj, "id");
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    switch (NsStackOfRequest(callPtr->serverPtr,
                             Tcl_GetString(callPtr->args[0]), &ds)) {
    case NS_OK:
        return NsTclReturnText(interp, &ds);
    case NS_TIMEOUT:
        Tcl_SetObjResult(
            interp,
            Tcl_NewStringObj(
                "the request is in one command and does not answer", -1));
        break;
    default:
        Ns_TclPrintfResult(interp, "no such running request: %s",
                           Tcl_GetString(callPtr->args[0]));
        break;
    }
    Ns_DStringFree(&ds);
    return TCL_ERROR;
}

/*
 * cancel ID ?REASON?: end a running request.
 */
static int
CancelSubcmd(Tcl_Interp *interp, const Call *callPtr)
{
    const char *id, *reason = "";

    if (callPtr->nArgs < 1) {
        Tcl_WrongNumArgs(interp, 1, &callPtr->subcmdObj, "id ?reason?");
        return TCL_ERROR;
    }
    id = Tcl_GetString(callPtr->args[0]);
    if (callPtr->nArgs == 2) {
        reason = Tcl_GetString(callPtr->args[1]);
    }
    switch (NsStackCancel(callPtr->serverPtr, id,
                          *reason != '\0' ? reason : "ns_server cancel")) {
    case NS_OK:
        return NsTclReturn(interp, Tcl_NewBooleanObj(true));
    case NS_TIMEOUT:
        return NsTclReturn(interp, Tcl_NewBooleanObj(false));
    default:
        return NsTclFail(interp, "no such running request: %s", id);
    }
}
