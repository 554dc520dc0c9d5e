/*
 * init.c --
 *
 *      Start of the request room, and its settings for each server.
 */

#include "nsparam.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/lock.h"
#include "http/charset.h"
#include "http/mimetype.h"
#include "net/driver.h"
#include "process/parameter_value.h"
#include "request/conn_int.h"
#include "request/direct.h"
#include "request/fastpath.h"
#include "request/init.h"
#include "request/limits.h"
#include "request/notice.h"
#include "request/op.h"
#include "request/poolmap.h"
#include "request/proxies.h"
#include "request/replyhead.h"
#include "request/ready.h"
#include "request/run.h"
#include "request/url2file.h"
#include "request/write.h"

#include <dirent.h>

static Ns_ReturnCode StartThread(NsServer *serverPtr);
static void StopThread(NsServer *serverPtr);
static Tcl_Encoding ConnEncoding(void);
static void ReadTypes(void);
static void ReadTable(const char *section,
                      void (*addProc)(const char *key, const char *value));
static void ReadSettings(NsRequestServer *requestPtr);
static void ReadEncodings(NsRequestServer *requestPtr);
static void ReadVhost(NsRequestServer *requestPtr);
static void NotePages(const NsRequestServer *requestPtr);
static void RegisterDefaults(NsServer *serverPtr);

void
NsRequestInit(void)
{
    static const NsPoolProcs procs = {
        .startProc = StartThread,
        .stopProc = StopThread,
        .runProc = NsConnRun,
        .refuseProc = NsConnRefuse,
        .describeProc = NsConnDescribe
    };

    NsOpInit();
    NsUrl2FileInit();
    NsPoolMapInit();
    NsLimitsInit();
    NsWriteInit();
    NsDirectInit();
    NsPoolSetProcs(&procs);
    NsDriverSetReadyProc(NsRequestReady);
    NsCharsetSetConnProc(ConnEncoding);
}

void
NsRequestServerInit(NsServer *serverPtr)
{
    NsRequestServer *requestPtr = ns_calloc(1, sizeof(NsRequestServer));

    requestPtr->serverPtr = serverPtr;
    serverPtr->requestPtr = requestPtr;
    NsProxiesInit();
    NsReplySetServer(Ns_ConfigString("ns/parameters", "serverheader",
                                     "nsd/" NSD_RELEASE));
    Ns_RWLockInit(&requestPtr->urlLock);
    NsMutexSetup(&requestPtr->listLock, NS_RANK_FILTERS, "nsd:filters",
                 serverPtr->name);
    ReadTypes();
    ReadSettings(requestPtr);
    ReadEncodings(requestPtr);
    NsFastPathServerInit(serverPtr);
    ReadVhost(requestPtr);
    NsNoticeServerInit(serverPtr);
    NsLimitsServerInit(serverPtr);
    NsPoolMapServerInit(serverPtr);
    RegisterDefaults(serverPtr);
}

NsRequestServer *
NsRequestServerFind(const char *server, const char *caller)
{
    NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);

    if (serverPtr == NULL || serverPtr->requestPtr == NULL) {
        Ns_Log(Error, "%s: no such server: %s", caller,
               server == NULL ? "" : server);
        return NULL;
    }
    return serverPtr->requestPtr;
}

static Ns_ReturnCode
StartThread(NsServer *serverPtr)
{
    return nsConnHooks.threadStartProc == NULL ? NS_OK
        : (*nsConnHooks.threadStartProc)(serverPtr);
}

static void
StopThread(NsServer *serverPtr)
{
    if (nsConnHooks.threadStopProc != NULL) {
        (*nsConnHooks.threadStopProc)(serverPtr);
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
        (*addProc)(Ns_SetKey(setPtr, i), Ns_SetValue(setPtr, i));
    }
}

static void
ReadSettings(NsRequestServer *requestPtr)
{
    const char  *path = requestPtr->serverPtr->path, *headerCase;
    NsParameters from = {"ns/server/*", path};

    requestPtr->realm = ns_strdup(Ns_ConfigString(path, "realm",
                                       requestPtr->serverPtr->name));
    requestPtr->redirectWithHost = NsParameterBool(from, "redirectwithhost");
    requestPtr->noticeDetail = NsParameterBool(from, "noticedetail");
    requestPtr->errorMinSize = (int) NsParameterSize(from, "errorminsize");
    requestPtr->checkModifiedSince = NsParameterBool(from,
                                                     "checkmodifiedsince");
    requestPtr->compressEnable = NsParameterBool(from, "compressenable");
    requestPtr->compressLevel = NsParameterInt(from, "compresslevel");
    requestPtr->compressMinSize = (int) NsParameterSize(from,
                                                        "compressminsize");
    requestPtr->isDriverFastPath = NsParameterBool(from, "driverfastpath");
    (void) NsParameterBool(from, "hackcontenttype");

    headerCase = Ns_ConfigString(path, "headercase", "preserve");
    requestPtr->headerCase = STRIEQ(headerCase, "tolower") ? ToLower
        : STRIEQ(headerCase, "toupper") ? ToUpper : Preserve;
}

static void
ReadEncodings(NsRequestServer *requestPtr)
{
    const char *path = requestPtr->serverPtr->path;
    const char *output = Ns_ConfigString(path, "outputcharset", "utf-8");
    const char *url = Ns_ConfigString(path, "urlcharset", "utf-8");

    requestPtr->outputEncoding = Ns_GetCharsetEncoding(output);
    if (requestPtr->outputEncoding == NULL) {
        Ns_Fatal("could not find encoding for default output charset \"%s\"",
                 output);
    }
    requestPtr->outputCharset
        = Ns_GetEncodingCharset(requestPtr->outputEncoding);
    requestPtr->urlEncoding = Ns_GetCharsetEncoding(url);
    if (requestPtr->urlEncoding == NULL) {
        Ns_Log(Warning, "no encoding found for charset \"%s\" from config",
               url);
    }
}

static void
ReadVhost(NsRequestServer *requestPtr)
{
    NsParameters from = {"ns/server/*/vhost", NULL};
    Ns_DString   ds;
    const char  *path;

    Ns_DStringInit(&ds);
    path = Ns_DStringVarAppend(&ds, requestPtr->serverPtr->path, "/vhost",
                               NULL);
    from.section = path;
    requestPtr->isVhostEnabled = NsParameterBool(from, "enabled");
    requestPtr->hostPrefix = Ns_ConfigString(path, "hostprefix", "");
    requestPtr->hostHashLevel = NsParameterInt(from, "hosthashlevel");
    requestPtr->stripWww = NsParameterBool(from, "stripwww");
    requestPtr->stripPort = NsParameterBool(from, "stripport");
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
 * Where there are no pages, every request for one is a bare 404.
 */
static void
NotePages(const NsRequestServer *requestPtr)
{
    DIR           *dirPtr = opendir(requestPtr->pageRoot);
    struct dirent *entryPtr;
    int            n = 0;

    if (dirPtr == NULL) {
        Ns_Log(Warning, "server[%s]: no pages: %s: %s; see pagedir in section "
               "%s/fastpath", requestPtr->serverPtr->name, requestPtr->pageRoot,
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
    int i;

    NsRegisterFastUrl2File(serverPtr->name, "/", NULL, 0);
    for (i = 0; i < Ns_NrElements(methods); i++) {
        Ns_RegisterRequest(serverPtr->name, methods[i], "/", Ns_FastPathProc,
                           NULL, NULL, 0);
    }
}
