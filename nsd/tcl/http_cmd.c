/*
 * http_cmd.c --
 *
 *      ns_http: requests to other HTTP servers.
 *
 *      Requests belong to the interpreter that began them, and end with its
 *      request at the latest.
 */

#include "ns.h"
#include "base/set.h"
#include "net/httpclient.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

#define DEFAULT_TIMEOUT 2 /* Seconds. */

typedef struct NsHttpRequest {
    struct NsHttpRequest *nextPtr; /* In the order of their begin. */
    int                   id;
    NsHttpClient         *client;
} Request;

static Tcl_ObjCmdProc CancelCmd, CleanupCmd, RunCmd, QueueCmd, WaitCmd, ListCmd,
    KeepalivesCmd, TaskThreadsCmd;

static const NsTclCommand subcmds[] = {
    {"cancel", CancelCmd, 1, 1, "id", 0},
    {"cleanup", CleanupCmd, 0, 0, NULL, 0},
    {"run", RunCmd, 0, NS_TCL_ANY, NULL, 0},
    {"queue", QueueCmd, 0, NS_TCL_ANY, NULL, 0},
    {"wait", WaitCmd, 0, NS_TCL_ANY, NULL, 0},
    {"list", ListCmd, 0, 0, NULL, 0},
    NS_TCL_END,
    /* Of later releases. */
    {"keepalives", KeepalivesCmd, 0, 0, NULL, 0},
    {"taskthreads", TaskThreadsCmd, 0, 0, NULL, 0},
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_http", "option ?args ...?", "option", 0, subcmds};

static NsCleanupProc ForgetAll;

static NsHttpClient *Begin(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv);
static int           Enter(NsInterp *itPtr, NsHttpClient *client);
static Request     **Find(NsInterp *itPtr, Tcl_Obj *idObj);
static void          Forget(Request **requestPtrPtr);
static int           NoRequest(Tcl_Interp *interp, Tcl_Obj *idObj);
static int SetVar(Tcl_Interp *interp, Tcl_Obj *nameObj, Tcl_Obj *valueObj);

void
NsHttpCmdInit(void)
{
    NsTclAddEnsemble(&ensemble);
    NsInterpAddCleanup(NS_CLEANUP_RELEASE, ForgetAll);
}

/*
 * Abort and forget all requests of the interpreter.
 */
static void
ForgetAll(NsInterp *itPtr)
{
    while (itPtr->httpPtr != NULL) {
        Forget(&itPtr->httpPtr);
    }
}

static int
QueueCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsHttpClient *client = Begin(interp, objc, objv);

    if (client == NULL) {
        return TCL_ERROR;
    }
    if (NsHttpClientQueue(client) != NS_OK) {
        NsHttpClientDestroy(&client);
        return NsTclFail(interp, "http failed: shutdown");
    }
    return Enter(clientData, client);
}

static int
RunCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsHttpClient *client = Begin(interp, objc, objv);

    if (client == NULL) {
        return TCL_ERROR;
    }
    NsHttpClientRun(client);
    return Enter(clientData, client);
}

/*
 * ns_http queue|run ?-timeout timeout? ?-method method? ?-body body?
 *     ?-headers headers? ?-hostname hostname? ?-cafile cafile?
 *     ?-capath capath? ?-cert cert? ?-insecure? ?-verify? url
 */
static NsHttpClient *
Begin(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsHttpClientSpec spec = {.timeout = {DEFAULT_TIMEOUT, 0}};
    NsHttpClient    *client;
    Ns_Time         *timeoutPtr = NULL;
    Ns_Set          *headers = NULL;
    Tcl_Obj         *bodyObj = NULL;
    char            *url, *method = NULL, *hostName = NULL;
    char            *caFile = NULL, *caPath = NULL, *certificate = NULL;
    Ns_DString       error;
    int              length = 0, isInsecure = 0, mustVerify = 0;
    Ns_ObjvSpec      options[] = {
             {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
             {"-method", Ns_ObjvString, &method, NULL},
             {"-body", Ns_ObjvObj, &bodyObj, NULL},
             {"-headers", Ns_ObjvSet, &headers, NULL},
             /* Of later releases; not named in the usage message. */
             {"", NULL, NULL, NULL},
             {"-hostname", Ns_ObjvString, &hostName, NULL},
             {"-cafile", Ns_ObjvString, &caFile, NULL},
             {"-capath", Ns_ObjvString, &caPath, NULL},
             {"-cert", Ns_ObjvString, &certificate, NULL},
             {"-insecure", Ns_ObjvBool, &isInsecure, INT2PTR(1)},
             {"-verify", Ns_ObjvBool, &mustVerify, INT2PTR(1)},
             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"url", Ns_ObjvString, &url, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return NULL;
    }
    spec.url = url;
    spec.method = method;
    spec.headers = headers;
    spec.hostName = hostName;
    spec.caFile = caFile;
    spec.caPath = caPath;
    spec.certificate = certificate;
    spec.isInsecure = isInsecure && !mustVerify;
    if (timeoutPtr != NULL) {
        spec.timeout = *timeoutPtr;
    }
    if (bodyObj != NULL) {
        spec.body = NsTclIsByteArray(bodyObj)
            ? (const char *) Tcl_GetByteArrayFromObj(bodyObj, &length)
            : Tcl_GetStringFromObj(bodyObj, &length);
        spec.bodyBytes = (size_t) length;
    }
    Ns_DStringInit(&error);
    client = NsHttpClientCreate(&spec, &error);
    if (client == NULL) {
        Tcl_DStringResult(interp, &error);
    }
    Ns_DStringFree(&error);
    return client;
}

/*
 * The result is the new request's id.
 */
static int
Enter(NsInterp *itPtr, NsHttpClient *client)
{
    Request **endPtrPtr = &itPtr->httpPtr;
    Request  *requestPtr = ns_calloc(1, sizeof(Request));

    while (*endPtrPtr != NULL) {
        requestPtr->id = (*endPtrPtr)->id + 1;
        endPtrPtr = &(*endPtrPtr)->nextPtr;
    }
    requestPtr->client = client;
    *endPtrPtr = requestPtr;
    Ns_TclPrintfResult(itPtr->interp, "http%d", requestPtr->id);
    return TCL_OK;
}

/*
 * NULL: no such request.
 */
static Request **
Find(NsInterp *itPtr, Tcl_Obj *idObj)
{
    Request   **linkPtrPtr = &itPtr->httpPtr;
    const char *text = Tcl_GetString(idObj);
    int         id;

    if (strncmp(text, "http", 4u) != 0
        || Tcl_GetInt(NULL, text + 4, &id) != TCL_OK) {
        return NULL;
    }
    while (*linkPtrPtr != NULL && (*linkPtrPtr)->id != id) {
        linkPtrPtr = &(*linkPtrPtr)->nextPtr;
    }
    return *linkPtrPtr == NULL ? NULL : linkPtrPtr;
}

static void
Forget(Request **requestPtrPtr)
{
    Request *requestPtr = *requestPtrPtr;

    *requestPtrPtr = requestPtr->nextPtr;
    NsHttpClientDestroy(&requestPtr->client);
    ns_free(requestPtr);
}

static int
NoRequest(Tcl_Interp *interp, Tcl_Obj *idObj)
{
    return NsTclFail(interp, "no such request: %s", Tcl_GetString(idObj));
}

/*
 * ns_http wait ?-timeout timeout? ?-elapsed elapsed? ?-result result?
 *     ?-status status? ?-headers headers? id
 */
static int
WaitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Request         **requestPtrPtr;
    NsHttpClient     *client;
    NsHttpClientReply reply;
    Ns_Time          *timeoutPtr = NULL, elapsed;
    Ns_Set           *headers = NULL;
    Tcl_Obj          *idObj, *bodyObj;
    Tcl_Obj          *elapsedObj = NULL, *resultObj = NULL, *statusObj = NULL;
    const char       *error;
    int               result = TCL_ERROR;
    Ns_ObjvSpec       options[] = {
              {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
              {"-elapsed", Ns_ObjvObj, &elapsedObj, NULL},
              {"-result", Ns_ObjvObj, &resultObj, NULL},
              {"-status", Ns_ObjvObj, &statusObj, NULL},
              {"-headers", Ns_ObjvSet, &headers, NULL},
              {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"id", Ns_ObjvObj, &idObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    requestPtrPtr = Find(clientData, idObj);
    if (requestPtrPtr == NULL) {
        return NoRequest(interp, idObj);
    }
    client = (*requestPtrPtr)->client;
    if (NsHttpClientWait(client, timeoutPtr) != NS_OK) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj("timeout waiting for task", -1));
        Forget(requestPtrPtr);
        return TCL_ERROR;
    }
    elapsed = NsHttpClientElapsed(client);
    error = NsHttpClientError(client);
    if (SetVar(interp, elapsedObj, Ns_TclNewTimeObj(&elapsed)) != TCL_OK) {
        error = NULL;
    } else if (error != NULL) {
        Ns_TclPrintfResult(interp, "http failed: %s", error);
    } else {
        NsHttpClientGetReply(client, &reply, headers);
        if (headers != NULL && reply.statusLine != NULL) {
            NsSetRename(headers, reply.statusLine, (int) reply.statusLineBytes);
        }
        bodyObj = Tcl_NewByteArrayObj((const unsigned char *) reply.body,
                                      (int) reply.bodyBytes);
        Tcl_IncrRefCount(bodyObj);
        if (SetVar(interp, statusObj, Tcl_NewIntObj(reply.status)) == TCL_OK
            && SetVar(interp, resultObj, bodyObj) == TCL_OK) {
            Tcl_SetObjResult(interp,
                             resultObj != NULL ? Tcl_NewIntObj(1) : bodyObj);
            result = TCL_OK;
        }
        Tcl_DecrRefCount(bodyObj);
    }
    Forget(requestPtrPtr);
    return result;
}

/*
 * nameObj NULL: the value is not wanted.
 */
static int
SetVar(Tcl_Interp *interp, Tcl_Obj *nameObj, Tcl_Obj *valueObj)
{
    int result = TCL_OK;

    Tcl_IncrRefCount(valueObj);
    if (nameObj != NULL
        && Tcl_ObjSetVar2(interp, nameObj, NULL, valueObj, TCL_LEAVE_ERR_MSG)
            == NULL) {
        result = TCL_ERROR;
    }
    Tcl_DecrRefCount(valueObj);
    return result;
}

/*
 * ns_http cancel id
 */
static int
CancelCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Request **requestPtrPtr;

    requestPtrPtr = Find(clientData, objv[2]);
    if (requestPtrPtr == NULL) {
        return NoRequest(interp, objv[2]);
    }
    Forget(requestPtrPtr);
    return TCL_OK;
}

/*
 * ns_http cleanup
 */
static int
CleanupCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    ForgetAll(clientData);
    return TCL_OK;
}

/*
 * ns_http list: `ID URL STATE ` of each.
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    Ns_DString      ds;

    Ns_DStringInit(&ds);
    for (const Request *requestPtr = itPtr->httpPtr; requestPtr != NULL;
         requestPtr = requestPtr->nextPtr) {
        Ns_DStringPrintf(&ds, "http%d %s %s ", requestPtr->id,
                         NsHttpClientUrl(requestPtr->client),
                         NsHttpClientIsDone(requestPtr->client) ? "done"
                                                                : "running");
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_http keepalives: connections that are kept open.  Each request asks the
 * peer to close, so there are none.
 */
static int
KeepalivesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return TCL_OK;
}

/*
 * ns_http taskthreads
 */
static int
TaskThreadsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    return NsTclReturnAppended(interp, NsHttpClientThreads);
}
