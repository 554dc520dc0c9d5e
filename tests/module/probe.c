/* SPDX-License-Identifier: MPL-2.0
 * probe.c --
 *
 *      A module that uses the server as modules do, for tests of the C API: a
 *      handler, a filter, traces, storage that belongs to requests and to
 *      connections, a Tcl command, a severity, a log stream with a format of
 *      its own, and callbacks at the stages of the process's life.
 */

#include "ns.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

/*
 * What the module's stream takes.
 */
typedef struct Visit {
    int  number;
    char url[60];
} Visit;

typedef struct Probe {
    const char  *server; /* Constant after creation. */
    const char  *module;
    const char  *greeting;
    int          limit;
    Ns_LogStream stream;
    Ns_LogSink   sink;

    Ns_Mutex lock; /* Guards the rest. */
    int      nVisits;
    int      nTraces;
    int      nCleanups;
    int      nFreed; /* Of data of requests and connections. */

    Ns_Sema mayGo; /* For those that wait. */
} Probe;

static Ns_Cls         requestSlot;
static Ns_Sls         connectionSlot;
static Ns_LogSeverity severity;

static Probe *freedProbePtr; /* For cleanups, which see their data
                              * only. */

static Ns_OpProc               Greet;
static Ns_OpProc               Fail;
static Ns_RequestAuthorizeProc Authorize;
static Ns_FilterProc           Filter;
static Ns_TraceProc            Trace;
static Ns_TraceProc            Cleanup;
static Ns_TclTraceProc         AddCommands;
static Tcl_ObjCmdProc          ProbeObjCmd;
static Ns_LogFormatProc        FormatVisit;
static Ns_Callback             FreeString;
static Ns_Callback             FreeArg;
static Ns_Callback             AtStartup;
static Ns_Callback             AtExit;
static Ns_ShutdownProc         AtShutdown;
static void                    Count(Probe *probePtr, int *counterPtr);

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    Probe      *probePtr = ns_calloc(1u, sizeof(Probe));
    const char *path = Ns_ConfigGetPath(server, module, (char *) 0);
    Ns_DString  ds;

    probePtr->server = server;
    probePtr->module = module;
    probePtr->greeting = Ns_ConfigString(path, "greeting", "hello");
    probePtr->limit = Ns_ConfigIntRange(path, "limit", 10, 1, 100);
    Ns_MutexInit(&probePtr->lock);
    Ns_MutexSetName2(&probePtr->lock, "probe", server);
    Ns_SemaInit(&probePtr->mayGo, 0);
    freedProbePtr = probePtr;

    Ns_ClsAlloc(&requestSlot, FreeString);
    Ns_SlsAlloc(&connectionSlot, FreeString);
    severity = Ns_CreateLogSeverity("Probe");

    Ns_SetRequestAuthorizeProc(server, Authorize);
    Ns_RegisterFilter(server, "GET", "/probe*", Filter, NS_FILTER_PRE_AUTH,
                      probePtr);
    Ns_RegisterRequest(server, "GET", "/probe", Greet, FreeArg, probePtr, 0);
    Ns_RegisterRequest(server, "GET", "/probe/fail", Fail, NULL, probePtr,
                       NS_OP_NOINHERIT);
    Ns_RegisterServerTrace(server, Trace, probePtr);
    Ns_RegisterConnCleanup(server, Cleanup, probePtr);
    if (Ns_TclRegisterTrace(server, AddCommands, probePtr, NS_TCL_TRACE_CREATE)
        != NS_OK) {
        return NS_ERROR;
    }
    Ns_RegisterAtStartup(AtStartup, probePtr);
    Ns_RegisterAtShutdown(AtShutdown, probePtr);
    Ns_RegisterAtExit(AtExit, probePtr);

    Ns_DStringInit(&ds);
    probePtr->stream = Ns_LogStreamCreate("visits", FormatVisit, probePtr);
    probePtr->sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "visits",
        .stream = probePtr->stream,
        .file = Ns_HomePath(&ds, "logs", "visits.log", (char *) 0)});
    if (probePtr->sink == NULL) {
        Ns_Log(Error, "%s: cannot open %s: %s", module, Ns_DStringValue(&ds),
               strerror(errno));
    }
    Ns_DStringFree(&ds);
    return probePtr->sink == NULL ? NS_ERROR : NS_OK;
}

/*
 * Nobody but ann gets what is below /probe/private.
 */
static int
Authorize(char *server, char *method, char *url, char *user, char *pass,
          char *peer)
{
    if (strncmp(url, "/probe/private", strlen("/probe/private")) != 0) {
        return NS_OK;
    }
    if (user == NULL || *user == '\0') {
        return NS_UNAUTHORIZED;
    }
    return strcmp(user, "ann") == 0 ? NS_OK : NS_FORBIDDEN;
}

/*
 * Leave something with the request, for the handler to find.
 */
static int
Filter(void *arg, Ns_Conn *conn, int why)
{
    Ns_Set *query = Ns_ConnGetQuery(conn);

    if (why != NS_FILTER_PRE_AUTH) {
        return NS_ERROR;
    }
    if (query != NULL && Ns_SetGet(query, "forbidden") != NULL) {
        Ns_ConnReturnForbidden(conn);
        return NS_FILTER_RETURN;
    }
    Ns_ClsSet(&requestSlot, conn, ns_strdup("filtered"));
    Ns_ConnSetHeaders(conn, "X-Probe", "filter");
    return NS_OK;
}

static int
Greet(void *arg, Ns_Conn *conn)
{
    Probe       *probePtr = arg;
    Ns_Sock     *sock = Ns_ConnSockPtr(conn);
    const char  *last = Ns_SlsGet(&connectionSlot, sock);
    Visit        visit = {0};
    struct iovec piece = {&visit, sizeof(visit)};
    Ns_DString   ds;
    int          result;

    Count(probePtr, &probePtr->nVisits);
    Ns_MutexLock(&probePtr->lock);
    visit.number = probePtr->nVisits;
    Ns_MutexUnlock(&probePtr->lock);
    snprintf(visit.url, sizeof(visit.url), "%s", conn->request->url);
    if (Ns_LogStreamWanted(probePtr->stream)) {
        (void) Ns_LogStreamPut(probePtr->stream, Notice, &piece, 1);
    }
    Ns_Log(severity, "visit of %s", conn->request->url);

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s, %s, after %s\n", probePtr->greeting,
                     (char *) Ns_ClsGet(&requestSlot, conn),
                     last == NULL ? "nothing" : last);
    if (last != NULL) {
        ns_free((char *) last);
    }
    Ns_SlsSet(&connectionSlot, sock, ns_strdup(conn->request->url));
    result = Ns_ConnReturnCharData(conn, 200, Ns_DStringValue(&ds), -1,
                                   "text/plain");
    Ns_DStringFree(&ds);
    return result;
}

/*
 * Neither answers nor succeeds.
 */
static int
Fail(void *arg, Ns_Conn *conn)
{
    return NS_ERROR;
}

static void
Trace(void *arg, Ns_Conn *conn)
{
    Probe *probePtr = arg;

    if (strncmp(conn->request->url, "/probe", 6u) == 0) {
        Count(probePtr, &probePtr->nTraces);
    }
}

static void
Cleanup(void *arg, Ns_Conn *conn)
{
    Probe *probePtr = arg;

    if (strncmp(conn->request->url, "/probe", 6u) == 0) {
        Count(probePtr, &probePtr->nCleanups);
    }
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    Tcl_CreateObjCommand(interp, "probe", ProbeObjCmd, arg, NULL);
    return TCL_OK;
}

/*
 * probe counts; probe echo ?-upper? ?-times n? ?--? text; probe unregister;
 * probe nowhere: registers for a server that does not exist; probe eval script:
 * in an interpreter of its own; probe wait ?what?: until probe go, in a wait of
 * which the server knows by Ns_TclWaitBegin alone
 */
static int
ProbeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *CONST objv[])
{
    enum { COUNTS, REPEAT, UNREGISTER, NOWHERE, EVAL, WAIT, GO };
    static const char *const options[] = {
        "counts", "echo", "unregister", "nowhere", "eval", "wait", "go", NULL};
    Probe      *probePtr = clientData;
    char       *text;
    int         option, nTimes = 1, isUpper = NS_FALSE;
    Ns_DString  ds;
    Ns_ObjvSpec echoOptions[] = {
        {"-upper", Ns_ObjvBool, &isUpper, INT2PTR(NS_TRUE)},
        {"-times", Ns_ObjvInt, &nTimes, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec echoArgs[] = {
        {"text", Ns_ObjvString, &text, NULL}, {NULL, NULL, NULL, NULL}};

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], options, "option", 0, &option)
        != TCL_OK) {
        return TCL_ERROR;
    }
    switch (option) {
    case COUNTS:
        Ns_MutexLock(&probePtr->lock);
        Ns_TclPrintfResult(interp, "visits %d traces %d cleanups %d freed %d",
                           probePtr->nVisits, probePtr->nTraces,
                           probePtr->nCleanups, probePtr->nFreed);
        Ns_MutexUnlock(&probePtr->lock);
        break;
    case REPEAT:
        if (Ns_ParseObjv(echoOptions, echoArgs, interp, 2, objc, objv)
            != NS_OK) {
            return TCL_ERROR;
        }
        if (nTimes > probePtr->limit) {
            Ns_TclPrintfResult(interp, "at most %d times", probePtr->limit);
            return TCL_ERROR;
        }
        Ns_DStringInit(&ds);
        while (nTimes-- > 0) {
            Ns_DStringAppend(&ds, text);
        }
        Tcl_DStringResult(interp, &ds);
        if (isUpper) {
            Ns_StrToUpper(Tcl_GetString(Tcl_GetObjResult(interp)));
        }
        break;
    case UNREGISTER:
        Ns_UnRegisterRequest(probePtr->server, "GET", "/probe", NS_TRUE);
        break;
    case NOWHERE:
        Ns_RegisterRequest("nowhere", "GET", "/probe", Greet, FreeArg, probePtr,
                           0);
        Ns_RegisterProxyRequest("nowhere", "GET", "http", Greet, FreeArg,
                                probePtr);
        Ns_RegisterUrl2FileProc("nowhere", "/probe", Ns_FastUrl2FileProc,
                                FreeArg, probePtr, 0);
        break;
    case EVAL:
        if (objc > 2) {
            Tcl_Interp *own = Tcl_CreateInterp();

            option = Tcl_Eval(own, Tcl_GetString(objv[2]));
            Tcl_SetObjResult(interp, Tcl_GetObjResult(own));
            Tcl_DeleteInterp(own);
            return option;
        }
        break;
    case WAIT:
        Ns_TclWaitBegin(objc > 2 ? Tcl_GetString(objv[2]) : NULL);
        Ns_TclWaitBegin("a wait within it");
        Ns_SemaWait(&probePtr->mayGo);
        Ns_TclWaitEnd();
        Ns_TclWaitEnd();
        break;
    case GO:
        Ns_SemaPost(&probePtr->mayGo, 1);
        break;
    }
    return TCL_OK;
}

static size_t
FormatVisit(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    const Visit *visitPtr = recordPtr->bytes;

    return (size_t) snprintf(buffer, room, "%s: visit %d of %s\n",
                             recordPtr->stream, visitPtr->number,
                             visitPtr->url);
}

static void
FreeString(void *arg)
{
    ns_free(arg);
    Count(freedProbePtr, &freedProbePtr->nFreed);
}

static void
FreeArg(void *arg)
{
    Ns_Log(Notice, "probe: handler is gone");
}

static void
AtStartup(void *arg)
{
    Ns_Log(Notice, "probe: started");
}

static void
AtShutdown(Ns_Time *deadlinePtr, void *arg)
{
    Ns_Log(Notice, "probe: %s",
           deadlinePtr == NULL ? "shutdown begins" : "shutdown waits");
}

static void
AtExit(void *arg)
{
    Ns_Log(Notice, "probe: exit");
}

static void
Count(Probe *probePtr, int *counterPtr)
{
    Ns_MutexLock(&probePtr->lock);
    (*counterPtr)++;
    Ns_MutexUnlock(&probePtr->lock);
}
