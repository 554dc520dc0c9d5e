/* SPDX-License-Identifier: MPL-2.0
 * handler.c --
 *
 *      Requests for pages: settings of a server, registration, and how a page
 *      becomes a response.
 */

#include "adp/handler.h"
#include "nsconn.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsparam.h"
#include "nsprocess.h"
#include "nsrequest.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "adp/buffer.h"
#include "adp/interp.h"
#include "adp/page.h"
#include "adp/route.h"
#include "adp/run.h"
#include "base/episode.h"
#include "base/lock.h"
#include "http/mimetype.h"
#include "process/parameters.h"
#include "request/op.h"
#include "request/conn.h"
#include "request/fastpath.h"
#include "request/publicfile.h"
#include "request/notice.h"
#include "request/reqserver.h"
#include "request/url2file.h"
#include "tcl/result.h"

/*
 * Argument of a registered handler.
 */
typedef struct Page {
    char   *file; /* NULL: the one that the URL maps to. */
    Ns_Time ttl;
    int     flags; /* Switched on for the request. */
} Page;

/*
 * One request for a page.
 */
typedef struct Visit {
    Ns_Conn       *conn;
    const char    *file;   /* NULL: the one that the URL maps to. */
    const Ns_Time *ttlPtr; /* NULL: its output is not kept. */
    int            flags;
    NsLook         look; /* See NsConn. */
} Visit;

const Ns_ObjvTable nsAdpFlagNames[] = {
    {"autoabort", NS_ADP_AUTOABORT},  {"detailerror", NS_ADP_DETAIL},
    {"displayerror", NS_ADP_DISPLAY}, {"expire", NS_ADP_EXPIRE},
    {"cache", NS_ADP_CACHE},          {"safe", NS_ADP_SAFE},
    {"singlescript", NS_ADP_SINGLE},  {"stricterror", NS_ADP_STRICT},
    {"trace", NS_ADP_TRACE},          {"trimspace", NS_ADP_TRIM},
    {"stream", NS_ADP_STREAM},        {NULL, 0}};

#define ANY NS_PARAM_NO_LIMIT

static const NsParameter rows[] = {
    NS_LISTED("map", NS_PARAM_STRING, "",
              "URL pattern of templates; may be repeated."),
    NS_BOOL(NsAdpServer, isDisabled, "disabled", "false",
            "Ignore all map parameters."),
    NS_BOOL(NsAdpServer, runsTclPages, "enabletclpages", "false",
            "Run /*.tcl below the page root with the template engine."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_CACHE, "cache", "false",
            "Honour -cache of included templates."),
    NS_SIZE(NsAdpServer, cacheBytes, "cachesize", "5120000", 0, ANY,
            "Parsed pages of one interpreter."),
    NS_SIZE(NsAdpServer, bufferBytes, "bufsize", "1024000", 0, INT64_C(1) << 30,
            "Flush output beyond this."),
    NS_INT(NsAdpServer, traceBytes, "tracesize", "40", 0, ANY,
           "Excerpt that trace logs."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_STREAM, "stream", "false",
            "Send output as soon as it is produced."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_EXPIRE, "enableexpire", "false",
            "Replies expire at once."),
    NS_BOOL(NsAdpServer, isDebugEnabled, "enabledebug", "false",
            "Allow ?debug=."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_SAFE, "safeeval", "false",
            "Leave out scripts in pages made by scripts."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_SINGLE, "singlescript", "false",
            "Make one script of a page."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_TRACE, "trace", "false",
            "Log each block."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_DETAIL, "detailerror", "true",
            "Log errors with the request."),
    NS_INT(NsAdpServer, errorStatus, "errorstatus", "500", 200, 599,
           "Status of a page that fails; 200: as if it had not."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_STRICT, "stricterror", "false",
            "An error ends the page."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_DISPLAY, "displayerror", "false",
            "Show errors in the page."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_TRIM, "trimspace", "false",
            "Trim white space around the page."),
    NS_FLAG(NsAdpServer, flags, NS_ADP_AUTOABORT, "autoabort", "true",
            "A reply of a script ends the page."),
    NS_PATH(NsAdpServer, startPage, "startpage", "",
            "Page that is run instead of every requested page."),
    NS_PATH(NsAdpServer, errorPage, "errorpage", "",
            "Page run after an error."),
    NS_TEXT(NsAdpServer, debugInit, "debuginit", "ns_adp_debuginit",
            "Command that attaches a debugger."),
    NS_IGNORED("nocache", "Obsolete, ignored."),
    NS_PARAM_END};

static const char *const methods[] = {"GET", "HEAD", "POST"};

static NsAdpServer *CreateServer(NsServer *serverPtr, const char *section);
static const char  *PageFile(const NsServer *serverPtr, const char *file);
static void        Map(NsServer *serverPtr, const char *pattern, int pageFlags);
static Ns_OpProc   RequestPage;
static Ns_Callback FreePage;
static Ns_ArgProc  DescribePage;
static NsDirectoryProc ListDirectory;
static int             Serve(const Visit *visitPtr);
static int             RunAndSend(NsAdpInterp *adpPtr, const Visit *visitPtr);
static bool MayChangeStatus(const NsAdpInterp *adpPtr, const Ns_Conn *conn);
static bool IsCutOff(const NsAdpInterp *adpPtr, const Visit *visitPtr);
static bool EndsAtError(const NsAdpInterp *adpPtr, const Visit *visitPtr);
static bool IsReply(const NsAdpInterp *adpPtr, const Visit *visitPtr);
static NsAdpHeld    *HoldPage(NsAdpInterp *adpPtr, const Visit *visitPtr,
                              Tcl_Obj **fileObjPtr, int *resultPtr);
static NsAdpHeld    *HoldFile(NsAdpInterp *adpPtr, const Visit *visitPtr,
                              int parseFlags);
static NsAdpHeld    *HoldStartPage(NsAdpInterp *adpPtr, const Visit *visitPtr,
                                   int parseFlags, Tcl_Obj **fileObjPtr,
                                   int *resultPtr);
static Ns_ReturnCode FindFile(const NsAdpInterp *adpPtr, const Visit *visitPtr,
                              Ns_DString *pathPtr);
static const char   *TypeOf(const char *file);

void
NsAdpHandlerInit(void)
{
    NsParametersRegister("ns/server/*/adp", rows, sizeof(NsAdpServer));
    Ns_RegisterProcInfo((void *) RequestPage, "ns:adppage", DescribePage);
    NsFastPathSetDirectoryAdp(ListDirectory);
}

void
NsAdpServerInit(NsServer *serverPtr)
{
    const char   *section = Ns_ConfigGetPath(serverPtr->name, NULL, "adp",
                                             (char *) NULL);
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);

    serverPtr->adpPtr = CreateServer(serverPtr, section);
    NsAdpInterpServerInit(serverPtr);
    if (!serverPtr->adpPtr->isDisabled) {
        for (int i = 0; setPtr != NULL && i < Ns_SetSize(setPtr); i++) {
            if (strcasecmp(Ns_SetKey(setPtr, i), "map") == 0) {
                Map(serverPtr, Ns_SetValue(setPtr, i), 0);
            }
        }
    }
    if (serverPtr->adpPtr->runsTclPages) {
        Map(serverPtr, "/*.tcl", NS_ADP_TCL);
    }
}

static NsAdpServer *
CreateServer(NsServer *serverPtr, const char *section)
{
    NsAdpServer *adpServerPtr = ns_calloc(1, sizeof(*adpServerPtr));

    adpServerPtr->serverPtr = serverPtr;
    NsParametersFill(rows, section, adpServerPtr);
    adpServerPtr->startPage = PageFile(serverPtr, adpServerPtr->startPage);
    adpServerPtr->errorPage = PageFile(serverPtr, adpServerPtr->errorPage);

    NsMutexSetup(&adpServerPtr->lock, NS_RANK_ADP_PAGES, "ns:adp:pages",
                 serverPtr->name);
    NsRWLockSetup(&adpServerPtr->tagLock, NS_RANK_ADP_TAGS, "ns:adp:tags",
                  serverPtr->name);
    Ns_CondInit(&adpServerPtr->cond);
    Tcl_InitHashTable(&adpServerPtr->pages, TCL_STRING_KEYS);
    Tcl_InitHashTable(&adpServerPtr->tags, TCL_STRING_KEYS);
    return adpServerPtr;
}

/*
 * Absolute, or NULL.
 */
static const char *
PageFile(const NsServer *serverPtr, const char *file)
{
    Ns_DString ds;

    if (file == NULL || *file == '\0') {
        return NULL;
    }
    Ns_DStringInit(&ds);
    if (Ns_PathIsAbsolute(file)) {
        Ns_NormalizePath(&ds, file);
    } else {
        Ns_PagePath(&ds, serverPtr->name, file, (char *) NULL);
    }
    return Ns_DStringExport(&ds);
}

static void
Map(NsServer *serverPtr, const char *pattern, int pageFlags)
{
    for (int i = 0; i < Ns_NrElements(methods); i++) {
        NsAdpRegisterPage(serverPtr, NULL, methods[i], pattern, NULL, NULL,
                          pageFlags, 0);
    }
    Ns_Log(Notice, "adp[%s]: mapped {GET HEAD POST} %s", serverPtr->name,
           pattern);
}

void
NsAdpRegisterPage(NsServer *serverPtr, NsConstraints *constraintsPtr,
                  const char *method, const char *url, const char *file,
                  const Ns_Time *ttlPtr, int pageFlags, int opFlags)
{
    Page *pagePtr = ns_calloc(1, sizeof(*pagePtr));

    pagePtr->file = (file != NULL) ? ns_strdup(file) : NULL;
    if (ttlPtr != NULL) {
        pagePtr->ttl = *ttlPtr;
    }
    pagePtr->flags = pageFlags;
    NsOpRegister(serverPtr,
                 &(NsOpSpec){.constraintsPtr = constraintsPtr,
                             .method = method,
                             .url = url,
                             .proc = RequestPage,
                             .freeProc = FreePage,
                             .arg = pagePtr,
                             .flags = opFlags});
}

static void
FreePage(void *arg)
{
    Page *pagePtr = arg;

    ns_free(pagePtr->file);
    ns_free(pagePtr);
}

/*
 * SEC:USEC FILE {FLAGS}
 */
static void
DescribePage(Ns_DString *dsPtr, void *arg)
{
    const Page *pagePtr = arg;

    Ns_DStringPrintf(dsPtr, " %ld:%ld", pagePtr->ttl.sec, pagePtr->ttl.usec);
    Ns_DStringAppendElement(dsPtr, pagePtr->file != NULL ? pagePtr->file : "");
    Tcl_DStringStartSublist(dsPtr);
    if ((pagePtr->flags & NS_ADP_TCL) != 0) {
        Ns_DStringAppendElement(dsPtr, "tcl");
    }
    for (int i = 0; nsAdpFlagNames[i].key != NULL; i++) {
        if ((pagePtr->flags & nsAdpFlagNames[i].value) != 0) {
            Ns_DStringAppendElement(dsPtr, nsAdpFlagNames[i].key);
        }
    }
    Tcl_DStringEndSublist(dsPtr);
}

static int
RequestPage(void *arg, Ns_Conn *conn)
{
    const Page *pagePtr = arg;

    return Serve(&(Visit){
        .conn = conn,
        .file = pagePtr->file,
        .ttlPtr = pagePtr->ttl.sec > 0 || pagePtr->ttl.usec > 0 ? &pagePtr->ttl
                                                                : NULL,
        .flags = pagePtr->flags,
        .look = NsConnOf(conn)->look});
}

int
Ns_AdpRequest(Ns_Conn *conn, const char *file)
{
    return Serve(&(Visit){.conn = conn, .file = file});
}

int
Ns_AdpRequestEx(Ns_Conn *conn, const char *file, Ns_Time *ttlPtr)
{
    return Serve(&(Visit){.conn = conn, .file = file, .ttlPtr = ttlPtr});
}

static int
ListDirectory(Ns_Conn *conn, const char *file)
{
    return Serve(&(Visit){.conn = conn, .file = file});
}

/*
 * A page may answer by way of another page (an error document): that one starts
 * afresh, and what this one has buffered is void.
 */
static int
Serve(const Visit *visitPtr)
{
    Tcl_Interp  *interp = Ns_GetConnInterp(visitPtr->conn);
    NsAdpInterp *adpPtr = (interp == NULL) ? NULL : NsAdpGet(interp);
    NsAdpFrame  *framePtr;
    int          depth, nRecordings, result;

    if (adpPtr == NULL) {
        return NS_ERROR;
    }
    framePtr = adpPtr->framePtr;
    depth = adpPtr->depth;
    nRecordings = adpPtr->nRecordings;
    adpPtr->framePtr = NULL;
    adpPtr->depth = 0;
    adpPtr->nRecordings = 0;
    NsAdpReset(adpPtr);
    adpPtr->flags |= visitPtr->flags & ~NS_ADP_TCL;
    result = RunAndSend(adpPtr, visitPtr);
    NsAdpReset(adpPtr);
    adpPtr->nRecordings = nRecordings;
    adpPtr->depth = depth;
    adpPtr->framePtr = framePtr;
    return result;
}

static int
RunAndSend(NsAdpInterp *adpPtr, const Visit *visitPtr)
{
    NsAdpHeld *heldPtr;
    Tcl_Obj   *args[2];
    int        result;

    heldPtr = HoldPage(adpPtr, visitPtr, &args[1], &result);
    if (heldPtr == NULL) {
        return result;
    }
    NsAdpRouteNote(adpPtr, NsConnOf(visitPtr->conn), heldPtr);
    args[0] = heldPtr->fileObj;
    Tcl_IncrRefCount(args[1]);
    Ns_ConnSetEncodedTypeHeader(visitPtr->conn, TypeOf(Tcl_GetString(args[1])));
    result = NsAdpRun(adpPtr,
                      &(NsAdpSource){
                          .file = Tcl_GetString(args[0]),
                          .heldPtr = heldPtr,
                          .isTcl = (visitPtr->flags & NS_ADP_TCL) != 0,
                          .isGlobal = true,
                          .ttlPtr = visitPtr->ttlPtr,
                          .nArgs = 2,
                          .args = args});
    Tcl_DecrRefCount(args[1]);
    NsAdpRelease(adpPtr, heldPtr);

    if (adpPtr->exception == NS_ADP_TIMEOUT) {
        return NS_TIMEOUT;
    }
    if (adpPtr->exception == NS_ADP_ABORT) {
        return NS_OK;
    }
    if ((result != TCL_OK || adpPtr->hasFailed)
        && MayChangeStatus(adpPtr, visitPtr->conn)) {
        int status = adpPtr->clientStatus != 0
            ? adpPtr->clientStatus
            : adpPtr->adpServerPtr->errorStatus;

        if (NsStatusPageTellFailure(NsConnOf(visitPtr->conn), status)) {
            return NS_OK;
        }
        if (!IsReply(adpPtr, visitPtr)) {
            return NsReturnStatusPage(NsConnOf(visitPtr->conn), status);
        }
        Ns_ConnSetResponseStatus(visitPtr->conn, status);
    }
    if ((result != TCL_OK || adpPtr->hasFailed) && IsCutOff(adpPtr, visitPtr)) {
        (void) NsAdpFlush(adpPtr, false);
        return NsReturnStatusPage(NsConnOf(visitPtr->conn), 500);
    }
    (void) NsAdpFlush(adpPtr, true);
    return NS_OK;
}

/*
 * Whether the reply of a page that has failed lacks its end, after its status
 * was sent: it is cut off, so that its client notices.
 */
static bool
IsCutOff(const NsAdpInterp *adpPtr, const Visit *visitPtr)
{
    return adpPtr->adpServerPtr->errorStatus != 200 && adpPtr->channel == NULL
        && !adpPtr->isClosed && EndsAtError(adpPtr, visitPtr)
        && (visitPtr->conn->flags & (NS_CONN_SENTHDRS | NS_CONN_CLOSED))
        == NS_CONN_SENTHDRS;
}

/*
 * Whether the status can still report the failure of a page.
 */
static bool
MayChangeStatus(const NsAdpInterp *adpPtr, const Ns_Conn *conn)
{
    return adpPtr->adpServerPtr->errorStatus != 200 && adpPtr->channel == NULL
        && !adpPtr->isClosed
        && (conn->flags & (NS_CONN_SENTHDRS | NS_CONN_CLOSED)) == 0;
}

/*
 * Whether the output of a page that has failed is fit to be the reply: it
 * reports the error, or the page continued after it.
 */
static bool
IsReply(const NsAdpInterp *adpPtr, const Visit *visitPtr)
{
    bool isTold = adpPtr->adpServerPtr->errorPage != NULL
        || (adpPtr->flags & NS_ADP_DISPLAY) != 0;

    return Ns_DStringLength(&adpPtr->output) > 0
        && (isTold || !EndsAtError(adpPtr, visitPtr));
}

static bool
EndsAtError(const NsAdpInterp *adpPtr, const Visit *visitPtr)
{
    return (visitPtr->flags & NS_ADP_TCL) != 0
        || (adpPtr->flags & NS_ADP_STRICT) != 0;
}

/*
 * The page to run, and the name of the requested file; or NULL after answering
 * otherwise.
 */
static NsAdpHeld *
HoldPage(NsAdpInterp *adpPtr, const Visit *visitPtr, Tcl_Obj **fileObjPtr,
         int *resultPtr)
{
    bool isTcl = (visitPtr->flags & NS_ADP_TCL) != 0;
    int  parseFlags = (adpPtr->flags & (NS_ADP_SAFE | NS_ADP_SINGLE))
        | (isTcl ? NS_ADP_TCL : 0);
    NsAdpHeld *heldPtr;

    if (adpPtr->adpServerPtr->startPage != NULL && !isTcl) {
        return HoldStartPage(adpPtr, visitPtr, parseFlags, fileObjPtr,
                             resultPtr);
    }
    heldPtr = visitPtr->file == NULL
        ? NsAdpRouteHold(adpPtr, visitPtr->conn->request->url, parseFlags,
                         visitPtr->look)
        : HoldFile(adpPtr, visitPtr, parseFlags);
    if (heldPtr == NULL) {
        *resultPtr = NsAdpAnswerUnread(adpPtr, visitPtr->conn);
        return NULL;
    }
    *fileObjPtr = heldPtr->fileObj;
    return heldPtr;
}

/*
 * The page cannot be read; the interpreter says why.  What may be there must
 * not be called missing: that may be remembered.
 */
int
NsAdpAnswerUnread(const NsAdpInterp *adpPtr, Ns_Conn *conn)
{
    static NsEpisode shortage;
    const char      *message = Tcl_GetStringResult(adpPtr->interpPtr->interp);
    int              reason = Tcl_GetErrno();

    if (reason == ENOENT || reason == ENOTDIR || reason == 0) {
        return Ns_ConnReturnNotFound(conn);
    }
    if (reason != EMFILE && reason != ENFILE && reason != ENOMEM) {
        Ns_Log(Error, "adp: %s", message);
        return Ns_ConnReturnNotFound(conn);
    }
    if (NsEpisodeBegins(&shortage)) {
        Ns_Log(Error,
               "adp: %s; requests for pages get 503 until there are some"
               " again: raise the limit (ulimit -n, LimitNOFILE), or lower"
               " maxqueuesize",
               message);
    }
    return Ns_ConnReturnUnavailable(conn);
}

static NsAdpHeld *
HoldFile(NsAdpInterp *adpPtr, const Visit *visitPtr, int parseFlags)
{
    NsAdpHeld *heldPtr = NULL;
    Ns_DString path;

    Ns_DStringInit(&path);
    Tcl_SetErrno(0);
    if (FindFile(adpPtr, visitPtr, &path) == NS_OK) {
        heldPtr = NsAdpHold(adpPtr, Ns_DStringValue(&path), parseFlags,
                            visitPtr->look);
    }
    Ns_DStringFree(&path);
    return heldPtr;
}

static NsAdpHeld *
HoldStartPage(NsAdpInterp *adpPtr, const Visit *visitPtr, int parseFlags,
              Tcl_Obj **fileObjPtr, int *resultPtr)
{
    NsAdpHeld  *heldPtr;
    Ns_DString  path;
    struct stat st;

    Ns_DStringInit(&path);
    if (FindFile(adpPtr, visitPtr, &path) != NS_OK
        || stat(Ns_DStringValue(&path), &st) != 0 || !S_ISREG(st.st_mode)) {
        *resultPtr = Ns_ConnReturnNotFound(visitPtr->conn);
        Ns_DStringFree(&path);
        return NULL;
    }
    heldPtr = NsAdpHold(adpPtr, adpPtr->adpServerPtr->startPage, parseFlags,
                        visitPtr->look);
    if (heldPtr == NULL) {
        Ns_Log(Error, "adp: start page: %s",
               Tcl_GetStringResult(adpPtr->interpPtr->interp));
        *resultPtr = Ns_ConnReturnInternalError(visitPtr->conn);
    } else {
        *fileObjPtr = Tcl_NewStringObj(Ns_DStringValue(&path),
                                       Ns_DStringLength(&path));
    }
    Ns_DStringFree(&path);
    return heldPtr;
}

/*
 * The requested file.
 */
static Ns_ReturnCode
FindFile(const NsAdpInterp *adpPtr, const Visit *visitPtr, Ns_DString *pathPtr)
{
    const char *server = adpPtr->adpServerPtr->serverPtr->name;

    if (visitPtr->file == NULL) {
        bool isDefault;

        return NsPublicFile(pathPtr, adpPtr->adpServerPtr->serverPtr,
                            visitPtr->conn->request->url, &isDefault);
    }
    if (Ns_PathIsAbsolute(visitPtr->file)) {
        Ns_NormalizePath(pathPtr, visitPtr->file);
    } else {
        Ns_PagePath(pathPtr, server, visitPtr->file, (char *) NULL);
    }
    return NS_OK;
}

static const char *
TypeOf(const char *file)
{
    return NsMimeTypeIsKnown(file) ? Ns_GetMimeType(file) : "text/html";
}

int
Ns_AdpAppend(Tcl_Interp *interp, const char *text, int length)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);

    if (adpPtr == NULL || adpPtr->framePtr == NULL) {
        return NsTclFail(interp, "no active adp");
    }
    return NsAdpAppend(adpPtr, text, length);
}

int
Ns_AdpGetOutput(Tcl_Interp *interp, Ns_DString **dsPtrPtr, int *doStreamPtr,
                size_t *bufferBytesPtr)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);

    if (adpPtr == NULL || adpPtr->framePtr == NULL) {
        return NsTclFail(interp, "no active adp");
    }
    if (dsPtrPtr != NULL) {
        *dsPtrPtr = NsAdpBuffer(adpPtr);
    }
    if (doStreamPtr != NULL) {
        *doStreamPtr = (adpPtr->flags & NS_ADP_STREAM) != 0;
    }
    if (bufferBytesPtr != NULL) {
        *bufferBytesPtr = adpPtr->bufferBytes;
    }
    return TCL_OK;
}

int
Ns_AdpFlush(Tcl_Interp *interp, int doStream)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);

    if (adpPtr == NULL) {
        return NsTclFail(interp, "no adp output context");
    }
    return NsAdpFlush(adpPtr, !doStream);
}
