/* SPDX-License-Identifier: MPL-2.0
 * httpjob.c --
 *
 *      A request of ns_http: its scripts, and its result.
 *
 *      Scripts run where the work is done.  In a thread for requests that is an
 *      interpreter of the server, which is released after each of them.
 */

#include "tcl/httpjob.h"

#include <fcntl.h>

#include "base/assert.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nstcl.h"
#include "nsthread.h"
#include "request/connbody.h"
#include "tcl/httpoptions.h"
#include "tcl/httptype.h"
#include "tcl/result.h"

#define COPY_BYTES 65536
#define ARGUMENTS  "::_ns_http_arguments"

static void TakeOptions(NsHttpJob *jobPtr, const NsHttpOptions *optionsPtr);
static NsHttpClientHeadProc CallHeadScript;
static NsReplyDataProc      CallDataScript, WriteToChannel;
static NsHttpClientDoneProc CallDoneScript;

static const char *CallScript(NsHttpJob *jobPtr, const char *script,
                              Tcl_Obj *(*makeProc)(NsHttpJob  *jobPtr,
                                                   Tcl_Interp *interp,
                                                   const void *data),
                              const void *data, bool *isBreakPtr);
static int Eval(Tcl_Interp *interp, const char *script, Tcl_Obj *arguments);
static Tcl_Obj *HeadArguments(NsHttpJob *jobPtr, Tcl_Interp *interp,
                              const void *data);
static Tcl_Obj *DataArguments(NsHttpJob *jobPtr, Tcl_Interp *interp,
                              const void *data);
static void     PutText(Tcl_Obj *dictObj, const char *key, const char *value);
static void     Put(Tcl_Obj *dictObj, const char *key, Tcl_Obj *valueObj);
static Tcl_Obj *HeadersOf(const NsHttpJob *jobPtr, Tcl_Interp *interp);
static Tcl_Obj *MakeResult(NsHttpJob *jobPtr, Tcl_Interp *interp);
static int PutBody(NsHttpJob *jobPtr, Tcl_Interp *interp, Tcl_Obj *dictObj);
static Tcl_Obj *BodyInMemory(const NsHttpJob *jobPtr);
static int      CopyFileToChannel(NsHttpJob *jobPtr, Tcl_Interp *interp,
                                  const char *file);
static void     SetErrorCode(const NsHttpJob *jobPtr, Tcl_Interp *interp);
static void     DetachChannel(NsHttpJob *jobPtr, Tcl_Interp *interp);
static void     AttachChannel(NsHttpJob *jobPtr, Tcl_Interp *interp);

/*
 * For DataArguments.
 */
typedef struct Part {
    const char *data;
    size_t      length;
} Part;

NsHttpJob *
NsHttpJobCreate(NsInterp *itPtr, bool isQueued, int objc, Tcl_Obj *const *objv)
{
    Tcl_Interp   *interp = itPtr->interp;
    NsHttpJob    *jobPtr = ns_calloc(1u, sizeof(NsHttpJob));
    NsHttpOptions options;
    Ns_DString    error;

    Ns_DStringInit(&jobPtr->error);
    Ns_DStringInit(&error);
    jobPtr->serverPtr = itPtr->serverPtr;
    jobPtr->interp = isQueued ? NULL : interp;
    if (NsHttpOptionsParse(itPtr, isQueued, objc, objv, &options) == TCL_OK
        && (options.outputChannel == NULL
            || (Ns_TclGetOpenChannel(interp, options.outputChannel, 1, 1,
                                     &jobPtr->channel)
                    == TCL_OK
                && Tcl_SetChannelOption(interp, jobPtr->channel, "-translation",
                                        "binary")
                    == TCL_OK))) {
        TakeOptions(jobPtr, &options);
        options.spec.arg = options.spec.reply.arg = jobPtr;
        options.spec.headProc = jobPtr->headScript != NULL
            ? CallHeadScript
            : NULL;
        options.spec.reply.dataProc = jobPtr->dataScript != NULL
            ? CallDataScript
            : NULL;
        options.spec.reply.largeProc = jobPtr->channel != NULL && !isQueued
            ? WriteToChannel
            : NULL;
        jobPtr->client = NsHttpClientCreate(&options.spec, &error);
        if (jobPtr->client == NULL) {
            Tcl_DStringResult(interp, &error);
        } else if (jobPtr->doneScript != NULL && jobPtr->channel != NULL) {
            DetachChannel(jobPtr, interp);
        }
    } else if (options.spec.bodyFd > 0) {
        NsClose(options.spec.bodyFd);
    }
    if (options.bodyObj != NULL) {
        Tcl_DecrRefCount(options.bodyObj);
    }
    Ns_DStringFree(&error);
    if (jobPtr->client == NULL) {
        NsHttpJobDestroy(&jobPtr);
    }
    return jobPtr;
}

static void
TakeOptions(NsHttpJob *jobPtr, const NsHttpOptions *optionsPtr)
{
    jobPtr->isBinary = optionsPtr->isBinary != 0;
    jobPtr->takesPartial = optionsPtr->takesPartial != 0;
    jobPtr->bodyChannel = ns_strdup(optionsPtr->bodyChannel);
    jobPtr->headScript = ns_strdup(optionsPtr->headScript);
    jobPtr->dataScript = ns_strdup(optionsPtr->dataScript);
    jobPtr->doneScript = ns_strdup(optionsPtr->doneScript);
}

void
NsHttpJobDestroy(NsHttpJob **jobPtrPtr)
{
    NsHttpJob *jobPtr = *jobPtrPtr;

    *jobPtrPtr = NULL;
    if (jobPtr->client != NULL) {
        NsHttpClientDestroy(&jobPtr->client);
    }
    if (jobPtr->isDetached) {
        Tcl_SpliceChannel(jobPtr->channel);
        (void) Tcl_UnregisterChannel(NULL, jobPtr->channel);
    }
    Ns_DStringFree(&jobPtr->error);
    ns_free(jobPtr->bodyChannel);
    ns_free(jobPtr->headScript);
    ns_free(jobPtr->dataScript);
    ns_free(jobPtr->doneScript);
    ns_free(jobPtr);
}

/*
 * In between a reference of no interpreter keeps it.
 */
static void
DetachChannel(NsHttpJob *jobPtr, Tcl_Interp *interp)
{
    Tcl_ClearChannelHandlers(jobPtr->channel);
    Tcl_RegisterChannel(NULL, jobPtr->channel);
    (void) Tcl_UnregisterChannel(interp, jobPtr->channel);
    Tcl_CutChannel(jobPtr->channel);
    jobPtr->isDetached = true;
}

static void
AttachChannel(NsHttpJob *jobPtr, Tcl_Interp *interp)
{
    Tcl_SpliceChannel(jobPtr->channel);
    Tcl_RegisterChannel(interp, jobPtr->channel);
    (void) Tcl_UnregisterChannel(NULL, jobPtr->channel);
    jobPtr->isDetached = false;
}

/*
 * Scripts.
 */

static const char *
CallHeadScript(NsHttpClient *clientPtr, void *arg)
{
    NsHttpJob *jobPtr = arg;
    bool       isBreak;

    return CallScript(jobPtr, jobPtr->headScript, HeadArguments, clientPtr,
                      &isBreak);
}

static const char *
CallDataScript(const char *data, size_t length, bool *isKeptPtr, void *arg)
{
    NsHttpJob  *jobPtr = arg;
    Part        part = {data, length};
    bool        isBreak = false;
    const char *error = CallScript(jobPtr, jobPtr->dataScript, DataArguments,
                                   &part, &isBreak);

    *isKeptPtr = !isBreak;
    return error;
}

/*
 * NULL, or the message of the error.
 */
static const char *
CallScript(NsHttpJob *jobPtr, const char *script,
           Tcl_Obj *(*makeProc)(NsHttpJob *, Tcl_Interp *, const void *),
           const void *data, bool *isBreakPtr)
{
    Tcl_Interp *interp = jobPtr->interp != NULL
        ? jobPtr->interp
        : Ns_TclAllocateInterp(jobPtr->serverPtr->name);
    Tcl_Obj    *arguments;
    int         result;

    if (interp == NULL) {
        return "no interpreter for the callback";
    }
    arguments = Tcl_NewListObj(0, NULL);
    Tcl_ListObjAppendElement(NULL, arguments, makeProc(jobPtr, interp, data));
    result = Eval(interp, script, arguments);
    *isBreakPtr = result == TCL_BREAK;
    if (result == TCL_ERROR) {
        Ns_DStringSetLength(&jobPtr->error, 0);
        Ns_DStringAppend(&jobPtr->error, Tcl_GetStringResult(interp));
    }
    Tcl_ResetResult(interp);
    if (jobPtr->interp == NULL) {
        Ns_TclDeAllocateInterp(interp);
    }
    return result == TCL_ERROR ? Ns_DStringValue(&jobPtr->error) : NULL;
}

/*
 * Evaluate the script with further arguments, which stay what they are: bytes
 * do not become text on the way.
 */
static int
Eval(Tcl_Interp *interp, const char *script, Tcl_Obj *arguments)
{
    Ns_DString ds;
    int        result = TCL_ERROR;

    Tcl_IncrRefCount(arguments);
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, script, " {*}[set " ARGUMENTS "]", NULL);
    if (Tcl_SetVar2Ex(interp, ARGUMENTS, NULL, arguments, TCL_LEAVE_ERR_MSG)
        != NULL) {
        result = Tcl_EvalEx(interp, Ns_DStringValue(&ds), Ns_DStringLength(&ds),
                            TCL_EVAL_GLOBAL);
        (void) Tcl_UnsetVar2(interp, ARGUMENTS, NULL, 0);
    }
    Ns_DStringFree(&ds);
    Tcl_DecrRefCount(arguments);
    return result;
}

static Tcl_Obj *
HeadArguments(NsHttpJob *jobPtr, Tcl_Interp *interp, const void *data)
{
    const NsHttpClient *clientPtr = data;
    const NsReplyHead  *headPtr = NsHttpClientHead(clientPtr);
    Tcl_Obj            *dictObj = Tcl_NewDictObj();

    Put(dictObj, "status", Tcl_NewIntObj(headPtr->status));
    Put(dictObj, "phrase",
        Tcl_NewStringObj(headPtr->phrase, (int) headPtr->phraseBytes));
    Put(dictObj, "headers", HeadersOf(jobPtr, interp));
    if (jobPtr->channel != NULL && jobPtr->interp != NULL) {
        PutText(dictObj, "outputchan", Tcl_GetChannelName(jobPtr->channel));
    }
    return dictObj;
}

static Tcl_Obj *
DataArguments(NsHttpJob *jobPtr, Tcl_Interp *interp, const void *data)
{
    const Part *partPtr = data;
    Tcl_Obj    *dictObj = Tcl_NewDictObj();

    Put(dictObj, "headers", HeadersOf(jobPtr, interp));
    Put(dictObj, "data",
        Tcl_NewByteArrayObj((const unsigned char *) partPtr->data,
                            (int) partPtr->length));
    if (jobPtr->channel != NULL && jobPtr->interp != NULL) {
        PutText(dictObj, "outputchan", Tcl_GetChannelName(jobPtr->channel));
    }
    return dictObj;
}

static void
Put(Tcl_Obj *dictObj, const char *key, Tcl_Obj *valueObj)
{
    (void) Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(key, -1), valueObj);
}

static void
PutText(Tcl_Obj *dictObj, const char *key, const char *value)
{
    Put(dictObj, key, Tcl_NewStringObj(value, -1));
}

/*
 * The id of a set, which is the interpreter's.
 */
static Tcl_Obj *
HeadersOf(const NsHttpJob *jobPtr, Tcl_Interp *interp)
{
    Ns_Set  *setPtr = Ns_SetCopy(NsHttpClientFields(jobPtr->client));
    Tcl_Obj *result = Tcl_GetObjResult(interp);
    Tcl_Obj *idObj;

    Tcl_IncrRefCount(result);
    (void) Ns_TclEnterSet(interp, setPtr, NS_TCL_SET_DYNAMIC);
    idObj = Tcl_DuplicateObj(Tcl_GetObjResult(interp));
    Tcl_SetObjResult(interp, result);
    Tcl_DecrRefCount(result);
    return idObj;
}

static const char *
WriteToChannel(const char *data, size_t length, bool *isKeptPtr, void *arg)
{
    NsHttpJob *jobPtr = arg;

    if (Tcl_Write(jobPtr->channel, data, (int) length) < 0) {
        Ns_DStringSetLength(&jobPtr->error, 0);
        Ns_DStringVarAppend(&jobPtr->error, "cannot write the body: ",
                            Tcl_ErrnoMsg(Tcl_GetErrno()), NULL);
        return Ns_DStringValue(&jobPtr->error);
    }
    return NULL;
}

Ns_ReturnCode
NsHttpJobStart(NsHttpJob *jobPtr)
{
    return NsHttpClientStart(jobPtr->client, CallDoneScript, jobPtr);
}

static void
CallDoneScript(NsHttpClient *clientPtr, void *arg)
{
    NsHttpJob  *jobPtr = arg;
    Tcl_Interp *interp = Ns_TclAllocateInterp(jobPtr->serverPtr->name);
    Tcl_Obj    *arguments;
    int         status;

    NsAssert(clientPtr == jobPtr->client);
    if (interp != NULL) {
        if (jobPtr->isDetached) {
            AttachChannel(jobPtr, interp);
        }
        status = NsHttpJobResult(jobPtr, interp);
        arguments = Tcl_NewListObj(0, NULL);
        Tcl_ListObjAppendElement(NULL, arguments,
                                 Tcl_NewIntObj(status == TCL_OK ? 0 : 1));
        Tcl_ListObjAppendElement(NULL, arguments, Tcl_GetObjResult(interp));
        if (Eval(interp, jobPtr->doneScript, arguments) == TCL_ERROR) {
            (void) Ns_TclLogErrorInfo(interp, "\n(context: http callback)");
        }
        Ns_TclDeAllocateInterp(interp);
    }
    NsHttpJobDestroy(&jobPtr);
}

/*
 * The result.
 */

int
NsHttpJobResult(NsHttpJob *jobPtr, Tcl_Interp *interp)
{
    const NsHttpClient *clientPtr = jobPtr->client;
    const char         *error = NsHttpClientError(clientPtr);
    Tcl_Obj            *resultObj;

    if (error != NULL
        && !(jobPtr->takesPartial && NsHttpClientHasConnected(clientPtr))) {
        Ns_TclPrintfResult(interp, "%s", error);
        SetErrorCode(jobPtr, interp);
        return TCL_ERROR;
    }
    resultObj = MakeResult(jobPtr, interp);
    Tcl_IncrRefCount(resultObj);
    if (PutBody(jobPtr, interp, resultObj) != TCL_OK) {
        Tcl_DecrRefCount(resultObj);
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, resultObj);
    Tcl_DecrRefCount(resultObj);
    return TCL_OK;
}

static void
SetErrorCode(const NsHttpJob *jobPtr, Tcl_Interp *interp)
{
    switch (NsHttpClientHow(jobPtr->client)) {
    case NS_HTTP_TIMEOUT:
        Tcl_SetErrorCode(interp, "NS_TIMEOUT", NULL);
        break;
    case NS_HTTP_SYSTEM:
        Tcl_SetErrno(NsHttpClientErrno(jobPtr->client));
        (void) Tcl_PosixError(interp);
        break;
    default:
        break;
    }
}

static Tcl_Obj *
MakeResult(NsHttpJob *jobPtr, Tcl_Interp *interp)
{
    const NsHttpClient *clientPtr = jobPtr->client;
    const NsReplyHead  *headPtr = NsHttpClientHead(clientPtr);
    const char         *error = NsHttpClientError(clientPtr);
    const char         *tlsVersion = NsHttpClientTlsVersion(clientPtr);
    Ns_Time             elapsed = NsHttpClientElapsed(clientPtr);
    Tcl_Obj            *dictObj = Tcl_NewDictObj();
    Tcl_Obj            *tlsObj;

    Put(dictObj, "status",
        Tcl_NewIntObj(headPtr == NULL ? 0 : headPtr->status));
    Put(dictObj, "time", Ns_TclNewTimeObj(&elapsed));
    Put(dictObj, "headers", HeadersOf(jobPtr, interp));
    if (error != NULL) {
        PutText(dictObj, "error", error);
    }
    if (tlsVersion != NULL) {
        tlsObj = Tcl_NewDictObj();
        PutText(tlsObj, "sslversion", tlsVersion);
        PutText(tlsObj, "cipher", NsHttpClientTlsCipher(clientPtr));
        Put(dictObj, "https", tlsObj);
    }
    if (jobPtr->bodyChannel != NULL) {
        PutText(dictObj, "body_chan", jobPtr->bodyChannel);
    }
    if (jobPtr->channel != NULL) {
        PutText(dictObj, "outputchan", Tcl_GetChannelName(jobPtr->channel));
    }
    return dictObj;
}

/*
 * The body, its file, or nothing: then it is in the channel.
 */
static int
PutBody(NsHttpJob *jobPtr, Tcl_Interp *interp, Tcl_Obj *dictObj)
{
    NsReplyBody *bodyPtr = NsHttpClientBody(jobPtr->client);
    const char  *file = NsReplyBodyFile(bodyPtr);
    size_t       length;

    if (file != NULL && jobPtr->channel != NULL) {
        return CopyFileToChannel(jobPtr, interp, file);
    }
    if (file != NULL) {
        NsReplyBodyTakeFile(bodyPtr);
        PutText(dictObj, "file", file);
    } else if (NsReplyBodyBytes(bodyPtr, &length) != NULL) {
        if (!NsConnContentFits(length)) {
            Ns_TclPrintfResult(interp,
                               "http: the body of the reply has %" PRIuz
                               " bytes, more than maxcontentmemory allows "
                               "(%" PRId64 "): use -outputfile or -spoolsize",
                               length, NsConnContentMax());
            Tcl_SetErrorCode(interp, "NS_LIMIT", (char *) NULL);
            return TCL_ERROR;
        }
        Put(dictObj, "body", BodyInMemory(jobPtr));
    }
    return TCL_OK;
}

/*
 * As a value: text, or bytes.
 */
static Tcl_Obj *
BodyInMemory(const NsHttpJob *jobPtr)
{
    size_t      length;
    const char *bytes = NsReplyBodyBytes(NsHttpClientBody(jobPtr->client),
                                         &length);
    const char *type = Ns_SetGet(NsHttpClientFields(jobPtr->client),
                                 "content-type");

    NsAssert(bytes != NULL && length <= INT_MAX);
    return NsHttpTypeDecode(jobPtr->isBinary ? NULL : type, bytes,
                            (int) length);
}

/*
 * What a thread for requests has received for a channel of this interpreter.
 */
static int
CopyFileToChannel(NsHttpJob *jobPtr, Tcl_Interp *interp, const char *file)
{
    char    buffer[COPY_BYTES];
    ssize_t n = -1;
    int     fd = open(file, O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0
           && Tcl_Write(jobPtr->channel, buffer, (int) n) == (int) n) {
    }
    if (fd >= 0) {
        NsClose(fd);
    }
    return n == 0
        ? TCL_OK
        : NsTclFail(interp, "cannot write the body: %s",
                    Tcl_ErrnoMsg(fd < 0 || n < 0 ? errno : Tcl_GetErrno()));
}
