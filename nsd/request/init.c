/* SPDX-License-Identifier: MPL-2.0
 * init.c --
 *
 *      Start of the request room, and its settings for each server.
 */

#include "request/init.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/lock.h"
#include "dispatch/connthread.h"
#include "http/charset.h"
#include "http/mimetype.h"
#include "net/handover.h"
#include "process/parameters.h"
#include "process/release.h"
#include "request/conn_int.h"
#include "request/connbody.h"
#include "request/describe.h"
#include "request/direct.h"
#include "request/errorpage.h"
#include "request/fastpath.h"
#include "request/filecache.h"
#include "request/limits.h"
#include "request/op.h"
#include "request/overrun.h"
#include "request/poolmap.h"
#include "request/proxies.h"
#include "request/replyhead.h"
#include "request/replytext.h"
#include "request/ready.h"
#include "request/requestid.h"
#include "request/routes.h"
#include "request/run.h"
#include "request/slowest.h"
#include "request/url2file.h"

#include <dirent.h>

#define GIB (INT64_C(1) << 30)

/*
 * Values that a server keeps in another form.
 */
typedef struct Raw {
    const char *realm;
    const char *urlCharset;
    const char *formFallback;
    const char *outputCharset;
} Raw;

typedef struct Shared {
    const char *serverHeader;
    const char *outputCharset;
    const char *urlCharset;
    const char *formFallback;
    int64_t     maxContent;
} Shared;

static Shared shared; /* Main thread. */

static NsParameterAdjustProc AdjustServerHeader, AdjustContentMemory;
static const NsParameter     sharedRows[] = {
        NS_TEXT(Shared, serverHeader, "serverheader", "nsd/RELEASE",
                "Field Server of replies; empty: none.", .isDescribed = true,
                .adjustProc = AdjustServerHeader),
        NS_TEXT(Shared, outputCharset, "outputcharset", "utf-8",
                "Charset of pages; ns_choosecharset falls back to it."),
        NS_TEXT(Shared, urlCharset, "urlcharset", "utf-8",
                "Charset of query strings and forms."),
        NS_TEXT(Shared, formFallback, "formfallbackcharset", "",
                "Charset of queries and forms that are not valid UTF-8; empty:"
                    " bodies are read as iso-8859-1, and queries refused."),
        NS_SIZE(Shared, maxContent, "maxcontentmemory", "256MB", 0,
                NS_PARAM_NO_LIMIT,
                "Largest body or file that ns_conn content, ns_getform, "
                    "ns_http and ns_fileread return as a value; 0 = no "
                    "limit. Defaults to maxbodymemory, if that is set.",
                .adjustProc = AdjustContentMemory),
        NS_PARAM_END};

static const NsParameter rawRows[] = {
    NS_TEXT(Raw, realm, "realm", "server name",
            "Realm of the default authorization.", .isDescribed = true),
    NS_TEXT(Raw, urlCharset, "urlcharset", "that of ns/parameters",
            "Charset of query strings and forms.", .isDescribed = true),
    NS_TEXT(Raw, outputCharset, "outputcharset", "that of ns/parameters",
            "Charset of pages.", .isDescribed = true),
    NS_TEXT(Raw, formFallback, "formfallbackcharset", "",
            "Charset of queries and forms that are not valid UTF-8; empty: that"
            " of ns/parameters."),
    NS_PARAM_END};

static const NsParameter rows[] = {
    NS_BOOL(NsRequestServer, redirectWithHost, "redirectwithhost", "true",
            "Links to this server have the host that the client asked for; "
            "else, the driver's location."),
    NS_BOOL(NsRequestServer, relativeRedirects, "relativeredirects", "false",
            "A redirect to a path of this server is sent as a path, not as a "
            "whole URL."),
    NS_BOOL(NsRequestServer, noticeDetail, "noticedetail", "true",
            "Error pages end with the server's name and location."),
    NS_PATH(NsRequestServer, noticeAdp, "noticeadp", "returnnotice.adp",
            "ADP template, below conf of home, for error pages and notices; "
            "without it, the built-in ones are used."),
    NS_BOOL(NsRequestServer, isStealthy, "stealthmode", "false",
            "Neither the field Server nor error pages name the server."),
    NS_TEXT(NsRequestServer, requestIdField, "requestid", "",
            "Field with the id of the request, which replies and logs get; "
            "empty: none."),
    NS_LIST(
        NsRequestServer, maskParameters, "maskparameters",
        "password passwd secret token key code",
        "Query parameters, by part of their names, whose values the system log "
        "and the lists of requests hide."),
    NS_INT(NsRequestServer, maxRoutes, "maxroutes", "500", 0, 100000,
           "Handlers and pages with figures of their own in ns_server routes."),
    NS_SIZE(NsRequestServer, errorMinSize, "errorminsize", "514", 0, GIB,
            "Error pages are at least this long."),
    NS_CHOICE(NsRequestServer, headerCase, "headercase", "preserve",
              "preserve tolower toupper",
              "Letter case of request header names, as scripts see them."),
    NS_BOOL(NsRequestServer, checkModifiedSince, "checkmodifiedsince", "true",
            "Honour If-Modified-Since."),
    NS_BOOL(NsRequestServer, compressEnable, "compressenable", "false",
            "Compress pages."),
    NS_INT(NsRequestServer, compressLevel, "compresslevel", "4", 1, 9,
           "Compression level; a higher one takes longer."),
    NS_SIZE(NsRequestServer, compressMinSize, "compressminsize", "512", 0, GIB,
            "Smaller pages are not compressed."),
    NS_BOOL(NsRequestServer, isDriverFastPath, "driverfastpath", "true",
            "Driver threads answer requests for cached files themselves."),
    NS_FIELDS(NsRequestServer, extraHeaders, "extraheaders", "",
              "Header fields of every reply that does not have them itself."),
    NS_LISTED("enabletclpages", NS_PARAM_BOOL, "false",
              "Run /*.tcl below the page root."),
    NS_IGNORED("filterrwlocks", "Filters are read without a lock."),
    NS_IGNORED("compresspreinit", "Each thread makes its own at first use."),
    NS_IGNORED("hackcontenttype", "Types of texts always have a charset."),
    NS_LISTED("enablehttpproxy", NS_PARAM_BOOL, "false",
              "Be an HTTP proxy for GET and POST requests."),
    NS_LISTED("allowhttpproxy", NS_PARAM_LIST, "",
              "Patterns of client addresses that may use it."),
    NS_PARAM_END};

static const NsParameter vhostRows[] = {
    NS_BOOL(NsRequestServer, isVhostEnabled, "enabled", "false",
            "Derive the server root from the Host field."),
    NS_PATH(NsRequestServer, hostPrefix, "hostprefix", "",
            "Directory between serverdir and the hosts."),
    NS_INT(NsRequestServer, hostHashLevel, "hosthashlevel", "0", 0, 5,
           "Levels of hash directories."),
    NS_BOOL(NsRequestServer, stripWww, "stripwww", "true",
            "Remove a leading www."),
    NS_BOOL(NsRequestServer, stripPort, "stripport", "true",
            "Remove the port."),
    NS_PARAM_END};

static Ns_ReturnCode       StartThread(NsServer *serverPtr);
static void                StopThread(NsServer *serverPtr);
static void                Expire(NsWork *workPtr, NsStamp limit);
static void                Leave(NsWork *workPtr);
static Tcl_Encoding        ConnEncoding(void);
static void                UseShared(NsRequestServer *requestPtr);
static void                ReadTypes(void);
static NsSectionReloadProc ReloadTypes;
static void                ReadTable(const char *section,
                                     void (*addProc)(const char *key, const char *value));
static void                ReadSettings(NsRequestServer *requestPtr);
static void FindEncodings(NsRequestServer *requestPtr, const Raw *rawPtr);
static const char  *FindTemplate(const char *name);
static Tcl_Encoding FindFallback(const char *charset);
static void         ReadVhost(NsRequestServer *requestPtr);
static void         NotePages(const NsRequestServer *requestPtr);
static void         RegisterDefaults(NsServer *serverPtr);

void
NsRequestInit(void)
{
    static const NsPoolProcs procs = {
        .startProc = StartThread,
        .stopProc = StopThread,
        .runProc = NsConnRun,
        .refuseProc = NsConnRefuse,
        .describeProc = NsConnDescribe,
        .expireProc = Expire,
        .leaveProc = Leave,
        .overrunProc = NsRequestTellOverrun};

    NsParametersRegister("ns/parameters", sharedRows, sizeof(Shared));
    NsProxiesInit();
    NsParametersRegister("ns/server/*", rawRows, sizeof(Raw));
    NsParametersRegister("ns/server/*", rows, sizeof(NsRequestServer));
    NsParametersRegister("ns/server/*/vhost", vhostRows,
                         sizeof(NsRequestServer));
    NsFastPathInit();
    NsOpInit();
    NsUrl2FileInit();
    NsPoolMapInit();
    NsErrorPageInit();
    NsParameterSectionSetReload("ns/mimetypes", ReloadTypes);
    NsLimitsInit();
    NsReplyTextInit();
    NsDirectInit();
    NsPoolSetProcs(&procs);
    NsConnSetServeProc(NsConnServe);
    NsDriverSetReadyProc(NsRequestReady);
    NsCharsetSetConnProc(ConnEncoding);
}

void
NsRequestServerInit(NsServer *serverPtr)
{
    NsRequestServer *requestPtr = ns_calloc(1, sizeof(NsRequestServer));

    requestPtr->serverPtr = serverPtr;
    serverPtr->requestPtr = requestPtr;
    UseShared(requestPtr);
    NsRWLockSetup(&requestPtr->urlLock, NS_RANK_URLSPACE, "nsd:urlspace",
                  serverPtr->name);
    NsMutexSetup(&requestPtr->listLock, NS_RANK_FILTERS, "nsd:filters",
                 serverPtr->name);
    ReadTypes();
    ReadSettings(requestPtr);
    NsFastPathServerInit(serverPtr);
    ReadVhost(requestPtr);
    NsErrorPageServerInit(serverPtr);
    NsSlowestServerInit(serverPtr);
    NsRoutesServerInit(serverPtr);
    NsLimitsServerInit(serverPtr);
    NsPoolMapServerInit(serverPtr);
    RegisterDefaults(serverPtr);
}

static Ns_ReturnCode
StartThread(NsServer *serverPtr)
{
    return nsConnHooks.threadStartProc == NULL
        ? NS_OK
        : nsConnHooks.threadStartProc(serverPtr);
}

static void
Expire(NsWork *workPtr, NsStamp limit)
{
    if (nsConnHooks.expireProc != NULL) {
        nsConnHooks.expireProc(NsConnOfWork(workPtr), limit);
    }
}

static void
Leave(NsWork *workPtr)
{
    if (nsConnHooks.leaveProc != NULL) {
        nsConnHooks.leaveProc(NsConnOfWork(workPtr));
    }
}

static void
StopThread(NsServer *serverPtr)
{
    if (nsConnHooks.threadStopProc != NULL) {
        nsConnHooks.threadStopProc(serverPtr);
    }
}

static Tcl_Encoding
ConnEncoding(void)
{
    NsConn *connPtr = NsConnCurrent();

    return connPtr == NULL ? NULL : connPtr->urlEncoding;
}

/*
 * Content types and charsets, which all servers share: with the first one.
 */
static void
ReadTypes(void)
{
    static bool isDone;

    if (!isDone) {
        isDone = true;
        ReadTable("ns/mimetypes", NsMimeTypeAdd);
        ReadTable("ns/charsets", NsCharsetAdd);
        ReadTable("ns/encodings", NsCharsetAddExtension);
    }
}

static void
ReadTable(const char *section, void (*addProc)(const char *, const char *))
{
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);

    for (int i = 0; setPtr != NULL && i < Ns_SetSize(setPtr); i++) {
        addProc(Ns_SetKey(setPtr, i), Ns_SetValue(setPtr, i));
    }
}

/*
 * Content types alone: charsets are part of what scripts and pages have in
 * memory.
 */
static Ns_ReturnCode
ReloadTypes(const char *section, const Ns_Set *oldPtr, bool isTrial,
            Ns_DString *problemPtr)
{
    Ns_Set *setPtr = Ns_ConfigGetSection(section);

    if (isTrial) {
        return NS_OK;
    }
    for (int i = 0; oldPtr != NULL && i < (int) Ns_SetSize(oldPtr); i++) {
        const char *extension = Ns_SetKey(oldPtr, i);

        if (setPtr == NULL || Ns_SetIFind(setPtr, extension) < 0) {
            NsMimeTypeForget(extension);
        }
    }
    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        const char *extension = Ns_SetKey(setPtr, i);
        const char *oldType = oldPtr == NULL
            ? NULL
            : Ns_SetIGet((Ns_Set *) oldPtr, extension);

        /* What was added stays in memory: only what differs is. */
        if (oldType == NULL || !STREQ(oldType, Ns_SetValue(setPtr, i))) {
            NsMimeTypeAdd(extension, Ns_SetValue(setPtr, i));
        }
    }
    /* What is found out from now on has the new types. */
    NsRequestChanged();
    NsFileCacheClear();
    return NS_OK;
}

static void
AdjustServerHeader(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    static char text[40];

    snprintf(text, sizeof(text), "nsd/%s", NsReleaseVersion());
    limitsPtr->defaultText = text;
}

static void
AdjustContentMemory(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const char *text = Ns_ConfigGetValue("ns/parameters", "maxbodymemory");

    if (text != NULL) {
        limitsPtr->defaultText = text;
    }
}

static void
UseShared(NsRequestServer *requestPtr)
{
    NsParametersFill(sharedRows, "ns/parameters", &shared);
    NsProxiesConfigure();
    NsReplySetServer(shared.serverHeader);
    NsConnSetContentMax(shared.maxContent);
    requestPtr->formFallback = FindFallback(shared.formFallback);
}

static void
ReadSettings(NsRequestServer *requestPtr)
{
    const NsServer *serverPtr = requestPtr->serverPtr;
    Raw             raw;

    NsParametersFill(rows, serverPtr->path, requestPtr);
    NsParametersFill(rawRows, serverPtr->path, &raw);
    requestPtr->noticeDetail &= !requestPtr->isStealthy;
    NsRequestIdServerInit(requestPtr);
    if (requestPtr->maskParameters != NULL) {
        (void) Tcl_SplitList(NULL, requestPtr->maskParameters,
                             &requestPtr->nMasked, &requestPtr->masked);
    }
    requestPtr->noticeAdp = FindTemplate(requestPtr->noticeAdp);
    requestPtr->realm = ns_strdup(raw.realm != NULL ? raw.realm
                                                    : serverPtr->name);
    FindEncodings(requestPtr, &raw);
}

/*
 * The whole path, which stays; NULL: there is no such file.
 */
static const char *
FindTemplate(const char *name)
{
    Ns_DString  path;
    const char *result = NULL;

    if (name == NULL || *name == '\0') {
        return NULL;
    }
    Ns_DStringInit(&path);
    if (*name != '/') {
        Ns_DStringVarAppend(&path, Ns_InfoHomePath(), "/conf/", NULL);
    }
    Ns_DStringAppend(&path, name);
    if (access(Ns_DStringValue(&path), R_OK) == 0) {
        result = ns_strdup(Ns_DStringValue(&path));
    }
    Ns_DStringFree(&path);
    return result;
}

static void
FindEncodings(NsRequestServer *requestPtr, const Raw *rawPtr)
{
    const char *output = rawPtr->outputCharset != NULL
        ? rawPtr->outputCharset
        : shared.outputCharset;
    const char *url = rawPtr->urlCharset != NULL
        ? rawPtr->urlCharset
        : shared.urlCharset;

    requestPtr->outputEncoding = Ns_GetCharsetEncoding(output);
    if (requestPtr->outputEncoding == NULL) {
        Ns_Fatal("could not find encoding for default output charset \"%s\"",
                 output);
    }
    requestPtr->outputCharset =
        Ns_GetEncodingCharset(requestPtr->outputEncoding);
    requestPtr->urlEncoding = Ns_GetCharsetEncoding(url);
    if (requestPtr->urlEncoding == NULL) {
        Ns_Log(Warning, "no encoding found for charset \"%s\" from config",
               url);
    }
    if (FindFallback(rawPtr->formFallback) != NULL) {
        requestPtr->formFallback = FindFallback(rawPtr->formFallback);
    }
}

static Tcl_Encoding
FindFallback(const char *charset)
{
    Tcl_Encoding encoding = NULL;

    if (charset != NULL && *charset != '\0') {
        encoding = Ns_GetCharsetEncoding(charset);
        if (encoding == NULL) {
            Ns_Log(Error, "config: formfallbackcharset: no such charset: %s",
                   charset);
        }
    }
    return encoding;
}

static void
ReadVhost(NsRequestServer *requestPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, requestPtr->serverPtr->path, "/vhost", NULL);
    NsParametersFill(vhostRows, Ns_DStringValue(&ds), requestPtr);
    if (requestPtr->isVhostEnabled && Ns_PathIsAbsolute(requestPtr->pageDir)) {
        Ns_Log(Error, "vhost[%s]: disabled, pagedir not relative: %s",
               requestPtr->serverPtr->name, requestPtr->pageDir);
        requestPtr->isVhostEnabled = false;
    }
    if (!requestPtr->isVhostEnabled) {
        NotePages(requestPtr);
    }
    Ns_DStringFree(&ds);
}

/*
 * Without pages every request for one is a bare 404.
 */
static void
NotePages(const NsRequestServer *requestPtr)
{
    DIR           *dirPtr = opendir(requestPtr->pageRoot);
    struct dirent *entryPtr;
    int            n = 0;

    if (dirPtr == NULL) {
        Ns_Log(Warning,
               "server[%s]: no pages: %s: %s; see pagedir in section "
               "%s/fastpath",
               requestPtr->serverPtr->name, requestPtr->pageRoot,
               strerror(errno), requestPtr->serverPtr->path);
        return;
    }
    while (n == 0 && (entryPtr = readdir(dirPtr)) != NULL) {
        n += !STREQ(entryPtr->d_name, ".") && !STREQ(entryPtr->d_name, "..");
    }
    closedir(dirPtr);
    if (n == 0) {
        Ns_Log(Notice, "server[%s]: no pages yet: %s is empty",
               requestPtr->serverPtr->name, requestPtr->pageRoot);
    }
}

static void
RegisterDefaults(NsServer *serverPtr)
{
    static const char *const methods[] = {"GET", "HEAD", "POST"};

    NsRegisterFastUrl2File(serverPtr->name, "/", NULL, 0);
    for (int i = 0; i < Ns_NrElements(methods); i++) {
        Ns_RegisterRequest(serverPtr->name, methods[i], "/", Ns_FastPathProc,
                           NULL, NULL, 0);
    }
}
