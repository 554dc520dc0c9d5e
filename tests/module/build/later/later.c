/* SPDX-License-Identifier: MPL-2.0
 * later.c --
 *
 *      A module as one writes it for today's releases: a command, a handler, a
 *      filter, a trace, authorization, a log filter, a log sink, and a callback
 *      of a socket.  Command, URL, and log file have the module's name.
 */

#include "shared.h"

NS_EXPORT const int         Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

typedef struct Later {
    const char  *server;
    const char  *module;
    Ns_LogStream stream;
    Ns_Mutex     lock; /* Guards the rest. */
    int          nTraces;
    int          nLogged;
    int          nArrived;
} Later;

static Ns_OpProc               Answer;
static Ns_FilterProc           Filter;
static Ns_TraceProc            Trace;
static Ns_RequestAuthorizeProc Authorize;
static Ns_LogFilter            CountEntry;
static Ns_LogFormatProc        FormatVisit;
static Ns_SockProc             Arrived;
static Ns_TclTraceProc         AddCommands;
static Ns_ArgProc              AppendServer;
static Ns_ShutdownProc         Shutdown;
static TCL_OBJCMDPROC_T        LaterObjCmd;
static void                    Count(Later *laterPtr, int *counterPtr);

NS_EXPORT Ns_ReturnCode
Ns_ModuleInit(const char *server, const char *module)
{
    Later        *laterPtr = ns_calloc(1u, sizeof(Later));
    Ns_ReturnCode status;
    Tcl_DString   ds, url;

    laterPtr->server = server;
    laterPtr->module = module;
    Ns_MutexInit(&laterPtr->lock);
    Ns_MutexSetName2(&laterPtr->lock, module, server);
    Ns_RegisterProcInfo((ns_funcptr_t) AddCommands, "later:commands",
                        AppendServer);
    Tcl_DStringInit(&url);
    Ns_DStringPrintf(&url, "/%s", module);
    Ns_RegisterRequest(server, "GET", url.string, Answer, NULL, laterPtr, 0u);
    Tcl_DStringAppend(&url, "*", 1);
    Ns_SetRequestAuthorizeProc(server, Authorize);
    (void) Ns_RegisterFilter(server, "GET", url.string, Filter,
                             NS_FILTER_PRE_AUTH, laterPtr, true);
    (void) Ns_RegisterFilter(server, "GET", url.string, Filter,
                             NS_FILTER_POST_AUTH, laterPtr);
    (void) Ns_RegisterServerTrace(server, Trace, laterPtr);
    (void) Ns_RegisterAtShutdown(Shutdown, laterPtr);
    Ns_AddLogFilter(CountEntry, laterPtr, NULL);
    Tcl_DStringFree(&url);

    Tcl_DStringInit(&ds);
    laterPtr->stream = Ns_LogStreamCreate(module, FormatVisit, laterPtr);
    status = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
                 .name = module,
                 .stream = laterPtr->stream,
                 .file = Ns_HomePath(&ds, "logs", module, NS_SENTINEL)})
            == NULL
        ? NS_ERROR
        : Ns_TclRegisterTrace(server, AddCommands, laterPtr,
                              NS_TCL_TRACE_CREATE);
    Tcl_DStringFree(&ds);
    return status;
}

/*
 * Tell what is in the structures.
 */
static Ns_ReturnCode
Answer(const void *arg, Ns_Conn *conn)
{
    const Later  *laterPtr = arg;
    const char   *url = conn->request.url;
    struct iovec  piece = {(void *) url, strlen(url)};
    Ns_ReturnCode status;
    Tcl_DString   ds;
    size_t        nHost = 0u;

    for (size_t i = 0u; i < Ns_SetSize(conn->headers); i++) {
        nHost += STRIEQ(Ns_SetKey(conn->headers, i), "Host") ? 1u : 0u;
    }
    Tcl_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s %s ", conn->request.method, url);
    SharedDots(&ds, conn->request.urlv);
    Ns_DStringPrintf(&ds, " %d %d %d %.1f %d %" PRIuz " %s", conn->request.urlc,
                     (int) conn->request.urlv_len, (int) conn->request.url_len,
                     conn->request.version,
                     (conn->flags & NS_CONN_SKIPBODY) != 0u, nHost,
                     Ns_SetIGet(conn->outputheaders, "x-later"));
    (void) Ns_LogStreamPut(laterPtr->stream, Notice, &piece, 1);
    status = Ns_ConnReturnCharData(conn, 200, ds.string, ds.length,
                                   "text/plain");
    Tcl_DStringFree(&ds);
    return status;
}

static Ns_ReturnCode
Filter(const void *arg, Ns_Conn *conn, Ns_FilterType why)
{
    const Later *laterPtr = arg;

    if (strstr(conn->request.url, "/none") != NULL) {
        (void) Ns_ConnReturnForbidden(conn);
        return NS_FILTER_RETURN;
    }
    Ns_ConnPrintfHeaders(conn, why == NS_FILTER_PRE_AUTH ? "x-later" : "x-post",
                         "%s", laterPtr->server);
    return NS_OK;
}

static void
Trace(void *arg, Ns_Conn *conn)
{
    Later *laterPtr = arg;

    /* What is not parsed has none. */
    if (conn->request.url != NULL
        && strncmp(conn->request.url + 1, laterPtr->module,
                   strlen(laterPtr->module))
            == 0) {
        Count(laterPtr, &laterPtr->nTraces);
    }
}

static Ns_ReturnCode
Authorize(const char *server, const char *method, const char *url,
          const char *user, const char *pass, const char *peer)
{
    Ns_ReturnCode status = NS_OK;

    if (strstr(url, "/private") != NULL) {
        status = user == NULL || *user == '\0' ? NS_UNAUTHORIZED : NS_FORBIDDEN;
    }
    /* All results are different. */
    switch (status) {
    case NS_OK:
    case NS_ERROR:
    case NS_TIMEOUT:
    case NS_FILTER_BREAK:
    case NS_FILTER_RETURN:
        break;
    case NS_UNAUTHORIZED:
    case NS_FORBIDDEN:
        Ns_Log(Security, "later: %s %s of %s for %s from %s", method, url,
               server, pass == NULL ? "nobody" : "somebody", peer);
        break;
    default:
        return NS_ERROR;
    }
    return status;
}

static Ns_ReturnCode
CountEntry(const void *arg, Ns_LogSeverity severity, const Ns_Time *stamp,
           const char *msg, size_t len)
{
    Later *laterPtr = (Later *) (uintptr_t) arg;

    if (severity == Security && stamp->sec > 0 && len > 5u
        && strncmp(msg, "later", 5u) == 0) {
        Count(laterPtr, &laterPtr->nLogged);
    }
    return NS_OK;
}

static size_t
FormatVisit(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    const Later *laterPtr = arg;

    return (size_t) snprintf(buffer, room, "%s: %.*s\n", laterPtr->server,
                             (int) recordPtr->length,
                             (const char *) recordPtr->bytes);
}

static bool
Arrived(NS_SOCKET sock, void *arg, unsigned int why)
{
    Later *laterPtr = arg;
    char   bytes[1];

    if (why == (unsigned int) NS_SOCK_READ && ns_read(sock, bytes, 1u) == 1) {
        Count(laterPtr, &laterPtr->nArrived);
        return true;
    }
    (void) ns_sockclose(sock);
    return false;
}

static void
AppendServer(Tcl_DString *dsPtr, const void *arg)
{
    Tcl_DStringAppendElement(dsPtr, ((const Later *) arg)->server);
}

static void
Shutdown(const Ns_Time *toPtr, void *arg)
{
    const Later *laterPtr = arg;

    if (toPtr != NULL) {
        Ns_Log(Notice, "later: %s ends", laterPtr->module);
    }
}

static Ns_ReturnCode
AddCommands(Tcl_Interp *interp, const void *arg)
{
    (void) TCL_CREATEOBJCOMMAND(interp, ((const Later *) arg)->module,
                                LaterObjCmd, (ClientData) (uintptr_t) arg,
                                NULL);
    return NS_OK;
}

/*
 * `later ?-times times? ?--? what`: header, arrive, or counts.
 */
static int
LaterObjCmd(ClientData clientData, Tcl_Interp *interp, TCL_SIZE_T objc,
            Tcl_Obj *const objv[])
{
    Later      *laterPtr = clientData;
    const char *what;
    int         times = 1;
    Ns_ObjvSpec opts[] = {{"-times", Ns_ObjvInt, &times, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"what", Ns_ObjvString, &what, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (STREQ(what, "header")) {
        Ns_Set *set = Ns_SetCreate("fields");
        size_t  index = 99u;

#if NS_API_LEVEL >= 50000
        (void) Ns_ParseHeader(set, "A: b", "x-", &index);
        (void) Ns_ParseHeader(set, "Other: c", NULL, &index);
#else
        (void) Ns_ParseHeader(set, "A: b", "x-", ToLower, &index);
        (void) Ns_ParseHeader(set, "Other: c", NULL, Preserve, &index);
#endif
        Ns_TclPrintfResult(interp, "%s %s %" PRIuz " %" PRIuz,
                           Ns_SetKey(set, 0), Ns_SetValue(set, 1), index,
                           Ns_SetSize(set));
        Ns_SetFree(set);
    } else if (STREQ(what, "arrive")) {
        NS_SOCKET socks[2];

        if (ns_sockpair(socks) != 0
            || Ns_SockCallback(socks[0], Arrived, laterPtr,
                               (unsigned int) NS_SOCK_READ)
                != NS_OK) {
            return TCL_ERROR;
        }
        for (int i = 0; i < times; i++) {
            (void) ns_write(socks[1], "x", 1u);
        }
        (void) ns_sockclose(socks[1]);
    } else {
        Ns_MutexLock(&laterPtr->lock);
        Ns_TclPrintfResult(interp, "traces %d logged %d arrived %d",
                           laterPtr->nTraces, laterPtr->nLogged,
                           laterPtr->nArrived);
        Ns_MutexUnlock(&laterPtr->lock);
    }
    return TCL_OK;
}

static void
Count(Later *laterPtr, int *counterPtr)
{
    Ns_MutexLock(&laterPtr->lock);
    (*counterPtr)++;
    Ns_MutexUnlock(&laterPtr->lock);
}
