/* SPDX-License-Identifier: MPL-2.0
 * http_cmd.c --
 *
 *      ns_http: requests to other HTTP servers.
 *
 *      Requests belong to the interpreter that began them, and end with its
 *      request at the latest; those with a done callback belong to nobody.
 */

#include "ns.h"
#include "base/set.h"
#include "base/tempfile.h"
#include "base/writeall.h"
#include "net/httpkept.h"
#include "process/units.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/httpjob.h"
#include "tcl/httpsettings.h"
#include "tcl/result.h"

/*
 * What wait does with a result besides, for scripts of earlier releases.
 */
typedef struct WaitOptions {
    Ns_Time *timeoutPtr;
    Ns_Set  *headers;
    Tcl_Obj *elapsedObj; /* Names of variables, or NULL. */
    Tcl_Obj *resultObj;
    Tcl_Obj *statusObj;
    Tcl_Obj *fileObj;
    char    *outputFile;
    char    *spoolText;
    int      isBinary;
    int      isDecompressed; /* As it always is. */
} WaitOptions;

static Tcl_ObjCmdProc CancelCmd, CleanupCmd, RunCmd, QueueCmd, WaitCmd, ListCmd,
    KeepalivesCmd, StatsCmd, TaskThreadsCmd;

static const NsTclCommand subcmds[] = {
    {"cancel", CancelCmd, 1, 1, "id", 0},
    {"cleanup", CleanupCmd, 0, 0, NULL, 0},
    {"keepalives", KeepalivesCmd, 0, 0, NULL, 0},
    {"list", ListCmd, 0, 1, "?id?", 0},
    {"queue", QueueCmd, 0, NS_TCL_ANY, NULL, 0},
    {"run", RunCmd, 0, NS_TCL_ANY, NULL, 0},
    {"stats", StatsCmd, 0, 1, "?id?", 0},
    {"taskthreads", TaskThreadsCmd, 0, 0, NULL, 0},
    {"wait", WaitCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_http", "option ?args ...?", "option", 0, subcmds};
/* The name that requests to https URLs had. */
static const NsTclEnsemble aliasEnsemble = {
    "ns_ssl", "option ?args ...?", "option", 0, subcmds};

static NsCleanupProc ForgetAll;

static int         Enter(NsInterp *itPtr, NsHttpJob *jobPtr);
static NsHttpJob **Find(NsInterp *itPtr, Tcl_Obj *idObj);
static void        Forget(NsHttpJob **jobPtrPtr);
static int         NoRequest(Tcl_Interp *interp, Tcl_Obj *idObj);
static int         Deliver(Tcl_Interp *interp, NsHttpJob *jobPtr,
                           const WaitOptions *optionsPtr);
static int         Spool(Tcl_Interp *interp, NsHttpJob *jobPtr,
                         const WaitOptions *optionsPtr);
static bool        TooLarge(const char *spoolText, size_t length);
static void        AddFields(Ns_Set *headers, const NsHttpJob *jobPtr);
static int      SetVar(Tcl_Interp *interp, Tcl_Obj *nameObj, Tcl_Obj *valueObj);
static Tcl_Obj *Stats(const NsHttpJob *jobPtr);
static void     PutNumber(Tcl_Obj *dictObj, const char *key, uint64_t value);

void
NsHttpCmdInit(void)
{
    NsHttpSettingsInit();
    NsTclAddEnsemble(&ensemble);
    NsTclAddEnsemble(&aliasEnsemble);
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

/*
 * ns_http queue ?option ...? url
 */
static int
QueueCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsHttpJob    *jobPtr = NsHttpJobCreate(clientData, true, objc, objv);
    bool          isOwn;
    Ns_ReturnCode result;

    if (jobPtr == NULL) {
        return TCL_ERROR;
    }
    /* Once started, it may be gone already. */
    isOwn = jobPtr->doneScript == NULL;
    result = isOwn ? NsHttpClientQueue(jobPtr->client) : NsHttpJobStart(jobPtr);
    if (result != NS_OK) {
        NsHttpJobDestroy(&jobPtr);
        return NsTclFail(interp, "http request cancelled");
    }
    return isOwn ? Enter(clientData, jobPtr) : TCL_OK;
}

/*
 * ns_http run ?option ...? url
 */
static int
RunCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsHttpJob *jobPtr = NsHttpJobCreate(clientData, false, objc, objv);
    int        result;

    if (jobPtr == NULL) {
        return TCL_ERROR;
    }
    NsHttpClientRun(jobPtr->client);
    result = NsHttpJobResult(jobPtr, interp);
    NsHttpJobDestroy(&jobPtr);
    return result;
}

/*
 * The result is the new request's id.
 */
static int
Enter(NsInterp *itPtr, NsHttpJob *jobPtr)
{
    NsHttpJob **endPtrPtr = &itPtr->httpPtr;

    while (*endPtrPtr != NULL) {
        jobPtr->id = (*endPtrPtr)->id + 1;
        endPtrPtr = &(*endPtrPtr)->nextPtr;
    }
    *endPtrPtr = jobPtr;
    Ns_TclPrintfResult(itPtr->interp, "http%d", jobPtr->id);
    return TCL_OK;
}

/*
 * NULL: no such request.
 */
static NsHttpJob **
Find(NsInterp *itPtr, Tcl_Obj *idObj)
{
    NsHttpJob **linkPtrPtr = &itPtr->httpPtr;
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
Forget(NsHttpJob **jobPtrPtr)
{
    NsHttpJob *jobPtr = *jobPtrPtr;

    *jobPtrPtr = jobPtr->nextPtr;
    NsHttpJobDestroy(&jobPtr);
}

static int
NoRequest(Tcl_Interp *interp, Tcl_Obj *idObj)
{
    return NsTclFail(interp, "no such request: %s", Tcl_GetString(idObj));
}

/*
 * ns_http wait ?-timeout timeout? id, and options of earlier releases.
 */
static int
WaitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsHttpJob **jobPtrPtr;
    WaitOptions options = {.timeoutPtr = NULL};
    Tcl_Obj    *idObj;
    int         result;
    void       *isSet = INT2PTR(1);
    Ns_ObjvSpec specs[] = {
        {"-timeout", Ns_ObjvTime, &options.timeoutPtr, NULL},
        {"-elapsed", Ns_ObjvObj, &options.elapsedObj, NULL},
        {"-result", Ns_ObjvObj, &options.resultObj, NULL},
        {"-status", Ns_ObjvObj, &options.statusObj, NULL},
        {"-headers", Ns_ObjvSet, &options.headers, NULL},
        {"-binary", Ns_ObjvBool, &options.isBinary, isSet},
        {"-decompress", Ns_ObjvBool, &options.isDecompressed, isSet},
        {"-file", Ns_ObjvObj, &options.fileObj, NULL},
        {"-outputfile", Ns_ObjvString, &options.outputFile, NULL},
        {"-spoolsize", Ns_ObjvString, &options.spoolText, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"id", Ns_ObjvObj, &idObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(specs, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    jobPtrPtr = Find(clientData, idObj);
    if (jobPtrPtr == NULL) {
        return NoRequest(interp, idObj);
    }
    if (NsHttpClientWait((*jobPtrPtr)->client, options.timeoutPtr) != NS_OK) {
        Forget(jobPtrPtr);
        Ns_TclPrintfResult(interp, "timeout waiting for task");
        Tcl_SetErrorCode(interp, "NS_TIMEOUT", NULL);
        return TCL_ERROR;
    }
    result = Deliver(interp, *jobPtrPtr, &options);
    Forget(jobPtrPtr);
    return result;
}

/*
 * The result, and what else is asked for; the time also of a failure.
 */
static int
Deliver(Tcl_Interp *interp, NsHttpJob *jobPtr, const WaitOptions *optionsPtr)
{
    Ns_Time                  elapsed = NsHttpClientElapsed(jobPtr->client);
    Tcl_Obj                 *resultObj, *keyObj, *valueObj;
    static const char *const keys[] = {"status", "body", "file"};
    Tcl_Obj *names[] = {optionsPtr->statusObj, optionsPtr->resultObj,
                        optionsPtr->fileObj};
    int      result;

    jobPtr->isBinary |= optionsPtr->isBinary != 0;
    if (SetVar(interp, optionsPtr->elapsedObj, Ns_TclNewTimeObj(&elapsed))
            != TCL_OK
        || NsHttpJobResult(jobPtr, interp) != TCL_OK
        || Spool(interp, jobPtr, optionsPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    AddFields(optionsPtr->headers, jobPtr);
    resultObj = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(resultObj);
    result = TCL_OK;
    for (int i = 0; i < Ns_NrElements(keys) && result == TCL_OK; i++) {
        keyObj = Tcl_NewStringObj(keys[i], -1);
        Tcl_IncrRefCount(keyObj);
        if (Tcl_DictObjGet(NULL, resultObj, keyObj, &valueObj) == TCL_OK
            && valueObj != NULL) {
            result = SetVar(interp, names[i], valueObj);
        }
        Tcl_DecrRefCount(keyObj);
    }
    if (result == TCL_OK) {
        Tcl_SetObjResult(interp, resultObj);
    }
    Tcl_DecrRefCount(resultObj);
    return result;
}

/*
 * A body in memory that is larger than wait says goes to a file now.
 */
static int
Spool(Tcl_Interp *interp, NsHttpJob *jobPtr, const WaitOptions *optionsPtr)
{
    size_t      length;
    const char *bytes = NsReplyBodyBytes(NsHttpClientBody(jobPtr->client),
                                         &length);
    Ns_DString  path;
    Tcl_Obj    *dictObj, *keyObj;
    int         fd;

    if (bytes == NULL || optionsPtr->spoolText == NULL
        || !TooLarge(optionsPtr->spoolText, length)) {
        return TCL_OK;
    }
    Ns_DStringInit(&path);
    if (optionsPtr->outputFile != NULL) {
        Ns_DStringAppend(&path, optionsPtr->outputFile);
        fd = open(optionsPtr->outputFile,
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    } else {
        fd = NsTempFileOpenNamed(NULL, &path);
    }
    if (fd < 0 || !NsWriteAll(fd, bytes, length)) {
        Ns_TclPrintfResult(interp, "cannot write %s: %s",
                           Ns_DStringValue(&path), Tcl_ErrnoMsg(errno));
        if (fd >= 0) {
            close(fd);
        }
        Ns_DStringFree(&path);
        return TCL_ERROR;
    }
    close(fd);
    dictObj = Tcl_DuplicateObj(Tcl_GetObjResult(interp));
    keyObj = Tcl_NewStringObj("body", -1);
    Tcl_IncrRefCount(keyObj);
    (void) Tcl_DictObjRemove(NULL, dictObj, keyObj);
    Tcl_DecrRefCount(keyObj);
    (void) Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("file", -1),
                          Tcl_NewStringObj(path.string, path.length));
    Tcl_SetObjResult(interp, dictObj);
    Ns_DStringFree(&path);
    return TCL_OK;
}

static bool
TooLarge(const char *spoolText, size_t length)
{
    Tcl_WideInt limit;

    return NsUnitsSize(spoolText, &limit) && limit >= 0
        && length > (size_t) limit;
}

/*
 * The set gets the fields, and the status line as its name.
 */
static void
AddFields(Ns_Set *headers, const NsHttpJob *jobPtr)
{
    const Ns_Set      *fields = NsHttpClientFields(jobPtr->client);
    const NsReplyHead *headPtr = NsHttpClientHead(jobPtr->client);

    if (headers == NULL || headPtr == NULL) {
        return;
    }
    for (int i = 0; i < (int) Ns_SetSize(fields); i++) {
        (void) Ns_SetPut(headers, Ns_SetKey(fields, i), Ns_SetValue(fields, i));
    }
    NsSetRename(headers, headPtr->line, (int) headPtr->lineBytes);
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
    NsHttpJob **jobPtrPtr;

    jobPtrPtr = Find(clientData, objv[2]);
    if (jobPtrPtr == NULL) {
        return NoRequest(interp, objv[2]);
    }
    Forget(jobPtrPtr);
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
 * ns_http list ?id?: id, URL and state of all, or of one if it is there.
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    NsHttpJob **onePtrPtr = objc > 2 ? Find(itPtr, objv[2]) : NULL;
    Tcl_Obj    *listObj = Tcl_NewListObj(0, NULL);

    for (const NsHttpJob *jobPtr = itPtr->httpPtr; jobPtr != NULL;
         jobPtr = jobPtr->nextPtr) {
        const char *state = "running";

        if (objc > 2 && (onePtrPtr == NULL || *onePtrPtr != jobPtr)) {
            continue;
        }
        if (NsHttpClientIsDone(jobPtr->client)) {
            state = NsHttpClientError(jobPtr->client) == NULL
                ? "done"
                : "error";
        }
        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_ObjPrintf("http%d", jobPtr->id));
        Tcl_ListObjAppendElement(
            NULL, listObj,
            Tcl_NewStringObj(NsHttpClientUrl(jobPtr->client), -1));
        Tcl_ListObjAppendElement(NULL, listObj, Tcl_NewStringObj(state, -1));
    }
    return NsTclReturn(interp, listObj);
}

/*
 * ns_http stats ?id?: a list with a dict for each; of one, the dict, empty if
 * it is not there.
 */
static int
StatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    NsHttpJob **onePtrPtr;
    Tcl_Obj    *listObj;

    if (objc > 2) {
        onePtrPtr = Find(itPtr, objv[2]);
        return onePtrPtr == NULL ? TCL_OK
                                 : NsTclReturn(interp, Stats(*onePtrPtr));
    }
    listObj = Tcl_NewListObj(0, NULL);
    for (const NsHttpJob *jobPtr = itPtr->httpPtr; jobPtr != NULL;
         jobPtr = jobPtr->nextPtr) {
        Tcl_ListObjAppendElement(NULL, listObj, Stats(jobPtr));
    }
    return NsTclReturn(interp, listObj);
}

static Tcl_Obj *
Stats(const NsHttpJob *jobPtr)
{
    Tcl_Obj          *dictObj = Tcl_NewDictObj();
    NsHttpClientStats stats;

    NsHttpClientGetStats(jobPtr->client, &stats);
    (void) Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("task", -1),
                          Tcl_ObjPrintf("http%d", jobPtr->id));
    (void) Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("url", -1),
                          Tcl_NewStringObj(NsHttpClientUrl(jobPtr->client),
                                           -1));
    PutNumber(dictObj, "requestlength", stats.requestBytes);
    PutNumber(dictObj, "replylength", stats.replyBytes);
    PutNumber(dictObj, "sent", stats.nSent);
    PutNumber(dictObj, "received", stats.nReceived);
    PutNumber(dictObj, "sendbodysize", stats.nBodySent);
    PutNumber(dictObj, "replybodysize", stats.nBodyReceived);
    PutNumber(dictObj, "replysize", stats.nBodyKept);
    return dictObj;
}

static void
PutNumber(Tcl_Obj *dictObj, const char *key, uint64_t value)
{
    (void) Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(key, -1),
                          Tcl_NewWideIntObj((Tcl_WideInt) value));
}

/*
 * ns_http keepalives: connections that are kept open for others.
 */
static int
KeepalivesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return NsTclReturnAppended(interp, NsHttpKeptList);
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
