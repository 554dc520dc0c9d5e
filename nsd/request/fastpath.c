/* SPDX-License-Identifier: MPL-2.0
 * fastpath.c --
 *
 *      Static files.
 */

#include "request/fastpath.h"
#include "request/publicfile.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "nsfile.h"
#include "nsparam.h"
#include "nsprocess.h"
#include "nslog.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/episode.h"
#include "http/mimetype.h"
#include "http/url.h"
#include "process/parameters.h"
#include "process/paths.h"
#include "request/conn_int.h"
#include "request/filecache.h"
#include "request/notice.h"
#include "request/reply.h"
#include "request/replytext.h"
#include "request/return.h"
#include "request/routes.h"
#include "request/variants.h"

typedef struct Map {
    void  *base;
    size_t length;
} Map;

static NsDirectoryProc *directoryProc; /* Set once at start. */
static NsDirectoryProc *directoryAdp;  /* Likewise. */

/*
 * Directories of a server, as the configuration names them.
 */
typedef struct ServerPaths {
    const char *serverDir;
    const char *logDir;
} ServerPaths;

static const NsParameter pathRows[] = {
    NS_PATH(ServerPaths, serverDir, "serverdir", "home",
            "Server root; relative to home.", .isDescribed = true),
    NS_PATH(ServerPaths, logDir, "logdir", "that of ns/parameters",
            "Directory of its logs; relative to serverdir.",
            .isDescribed = true),
    NS_PARAM_END};

/*
 * Of all servers.
 */
typedef struct Shared {
    bool usesMmap;
} Shared;

static Shared shared; /* Constant after start. */

static NsParameterAdjustProc AdjustDirectoryProc;
static const NsParameter     sharedRows[] = {
        NS_BOOL(Shared, usesMmap, "mmap", "false",
                "Map other files instead of reading them."),
        NS_PARAM_END};

static const NsParameter rows[] = {
    NS_LISTED("serverdir", NS_PARAM_PATH, "", "Has moved to ns/server/S."),
    NS_PATH(NsRequestServer, pageDir, "pagedir", "pages",
            "Page root; relative to the server root."),
    NS_LIST(NsRequestServer, indexFileList, "directoryfile",
            "index.adp index.tcl index.html index.htm",
            "Index files, in this order."),
    NS_CHOICE(NsRequestServer, directoryListing, "directorylisting", "none",
              "none simple fancy",
              "How a directory without index file is shown."),
    NS_TEXT(NsRequestServer, directoryProc, "directoryproc", "_ns_dirlist",
            "Tcl procedure that shows it.", .adjustProc = AdjustDirectoryProc),
    NS_PATH(NsRequestServer, directoryAdp, "directoryadp", "",
            "ADP page that shows it instead."),
    NS_LISTED("hidedotfiles", NS_PARAM_BOOL, "true",
              "Listings leave out names that begin with a dot."),
    NS_BOOL(
        NsRequestServer, servesDotFiles, "servedotfiles", "false",
        "Files whose path has a name that begins with a dot are served, not "
        "only those below /.well-known/."),
    NS_LIST(
        NsRequestServer, denyFileList, "denyfiles", "",
        "Files with a name in their path that matches one of these patterns, "
        "such as *~ or *.bak, are neither served nor run as pages."),
    NS_CHOICE(NsRequestServer, followSymlinks, "followsymlinks", "yes",
              "yes no owner",
              "Symbolic links below the page root are followed; owner: those "
              "whose owner is that of what they lead to."),
    NS_PARAM_END};

/*
 * These return the result of the reply; or, above 0, the status whose page is
 * due instead.
 */
static int ReturnPath(Ns_Conn *conn, const char *path);
static int ReturnDirectory(Ns_Conn *conn, const char *path);
static int ReturnFile(Ns_Conn *conn, int status, const char *type,
                      const char *path, const struct stat *statusPtr);
static int ReturnVariant(Ns_Conn *conn, const char *type, const char *path,
                         const struct stat *statusPtr);
static int ReturnOneFile(Ns_Conn *conn, int status, const char *type,
                         const char *coding, const char *path,
                         const struct stat *statusPtr);
static int Answer(Ns_Conn *conn, int result);

static void WarnOfSource(const char *path);
static int  ReturnIndex(Ns_Conn *conn, const char *indexFile);
static void EncodePath(Ns_DString *dsPtr, const char *path);
static int  Judge(NsConn *connPtr, int status, const NsBody *bodyPtr);
static bool OpenBody(NsBody *bodyPtr, const char *path, struct stat *statusPtr);
static int  JudgeUnopened(const char *path);
static bool MapBody(NsBody *bodyPtr);
static void Unmap(void *arg);
static void CloseFd(void *arg);
static bool StatFile(const char *path, struct stat *statusPtr);
static void FindServerDirectory(NsServer *serverPtr, const char *section);
static void AppendBelow(Ns_DString *dsPtr, const char *base,
                        const char *directory);

void
NsFastPathInit(void)
{
    NsFileCacheInit();
    NsVariantsInit();
    Ns_RegisterProcInfo((void *) Ns_FastPathProc, "ns:fastget", NULL);
    NsParametersRegister("ns/fastpath", sharedRows, sizeof(Shared));
    NsParametersRegister("ns/server/*/fastpath", rows, sizeof(NsRequestServer));
    NsParametersRegister("ns/server/*", pathRows, sizeof(ServerPaths));
}

void
NsFastPathServerInit(NsServer *serverPtr)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    Ns_DString       ds;

    NsFileCacheConfigure();
    NsVariantsConfigure();
    NsParametersFill(sharedRows, "ns/fastpath", &shared);

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, serverPtr->path, "/fastpath", NULL);
    NsParametersFill(rows, Ns_DStringValue(&ds), requestPtr);
    FindServerDirectory(serverPtr, Ns_DStringValue(&ds));
    Ns_DStringTrunc(&ds, 0);
    if (Ns_PathIsAbsolute(requestPtr->pageDir)) {
        requestPtr->pageRoot = requestPtr->pageDir;
    } else {
        (void) Ns_MakePath(&ds, requestPtr->serverDir, requestPtr->pageDir,
                           NULL);
        requestPtr->pageRoot = ns_strdup(Ns_DStringValue(&ds));
    }
    (void) Tcl_SplitList(NULL, requestPtr->indexFileList,
                         &requestPtr->nIndexFiles, &requestPtr->indexFiles);
    if (requestPtr->denyFileList != NULL) {
        (void) Tcl_SplitList(NULL, requestPtr->denyFileList,
                             &requestPtr->nDenyFiles, &requestPtr->denyFiles);
    }
    Ns_DStringFree(&ds);
}

/*
 * section: where serverdir was in earlier releases.
 */
static void
FindServerDirectory(NsServer *serverPtr, const char *section)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    const char      *older = Ns_ConfigGetValue(section, "serverdir");
    ServerPaths      paths;
    Ns_DString       ds;

    NsParametersFill(pathRows, serverPtr->path, &paths);
    if (older != NULL && paths.serverDir == NULL) {
        Ns_Log(Deprecated, "config: serverdir in section %s: has moved to %s",
               section, serverPtr->path);
        paths.serverDir = older;
    }
    Ns_DStringInit(&ds);
    AppendBelow(&ds, NULL, paths.serverDir);
    requestPtr->serverDir = ns_strdup(Ns_DStringValue(&ds));
    if (paths.logDir != NULL && *paths.logDir != '\0') {
        Ns_DStringTrunc(&ds, 0);
        AppendBelow(&ds, requestPtr->serverDir, paths.logDir);
        (void) mkdir(Ns_DStringValue(&ds), 0755);
        NsPathsSetServerLog(serverPtr->name, Ns_DStringValue(&ds));
    }
    Ns_DStringFree(&ds);
}

/*
 * base NULL: home.
 */
static void
AppendBelow(Ns_DString *dsPtr, const char *base, const char *directory)
{
    if (directory != NULL && *directory == '\0') {
        directory = NULL;
    }
    if (directory != NULL && Ns_PathIsAbsolute(directory)) {
        Ns_DStringAppend(dsPtr, directory);
    } else if (base == NULL) {
        (void) Ns_HomePath(dsPtr, directory, NULL);
    } else {
        (void) Ns_MakePath(dsPtr, base, directory, NULL);
    }
}

static void
AdjustDirectoryProc(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsRequestServer *requestPtr = valuesPtr;

    if (requestPtr->directoryListing == 0) {
        /* Authors are told which file is missing. */
        limitsPtr->defaultText = Ns_ConfigBool("ns/parameters", "development",
                                               NS_FALSE)
            ? "_ns_noindex"
            : NULL;
    }
}

void
NsFastPathSetDirectoryProc(NsDirectoryProc *proc)
{
    directoryProc = proc;
}

void
NsFastPathSetDirectoryAdp(NsDirectoryProc *proc)
{
    directoryAdp = proc;
}

void
NsFastPathCacheStats(Ns_DString *dsPtr, bool withContents, bool reset)
{
    NsFileCacheStats(dsPtr, withContents, reset);
}

int
Ns_FastPathProc(void *arg, Ns_Conn *conn)
{
    NsConn    *connPtr = NsConnOf(conn);
    Ns_DString ds;
    int        result = 404;
    bool       isDefault;

    NsConnSetRoute(connPtr, NsRouteOfFiles(connPtr->serverPtr));
    Ns_DStringInit(&ds);
    if (NsPublicFile(&ds, connPtr->serverPtr, NsConnRequest(connPtr)->url,
                     &isDefault)
        == NS_OK) {
        result = ReturnPath(conn, Ns_DStringValue(&ds));
    }
    Ns_DStringFree(&ds);
    return Answer(conn, result);
}

int
Ns_ConnReturnFile(Ns_Conn *conn, int status, const char *type, const char *path)
{
    struct stat fileStatus;

    if (NsReplyIsClosed(NsConnOf(conn))) {
        return NS_ERROR;
    }
    if (!StatFile(path, &fileStatus)) {
        return Answer(conn, 404);
    }
    if (!S_ISREG(fileStatus.st_mode)) {
        Ns_Log(Warning, "fastpath: not a regular file: %s", path);
        return Answer(conn, 404);
    }
    return Answer(conn, ReturnFile(conn, status, type, path, &fileStatus));
}

int
Ns_FetchPage(Ns_DString *dsPtr, const char *url, const char *server)
{
    Ns_DString ds;
    char       buffer[4096];
    ssize_t    n = -1;
    int        fd = -1;

    Ns_DStringInit(&ds);
    if (Ns_UrlToFile(&ds, server, url) == NS_OK) {
        fd = open(Ns_DStringValue(&ds), O_RDONLY | O_CLOEXEC);
    }
    if (fd >= 0) {
        while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
            Ns_DStringNAppend(dsPtr, buffer, (int) n);
        }
        (void) close(fd);
    }
    Ns_DStringFree(&ds);
    return n == 0 ? NS_OK : NS_ERROR;
}

static int
Answer(Ns_Conn *conn, int result)
{
    return result <= 0 ? result : NsReturnStatusPage(NsConnOf(conn), result);
}

static int
ReturnPath(Ns_Conn *conn, const char *path)
{
    struct stat status;

    if (!StatFile(path, &status)) {
        return 404;
    }
    if (S_ISDIR(status.st_mode)) {
        return ReturnDirectory(conn, path);
    }
    if (!S_ISREG(status.st_mode)) {
        return 404;
    }
    if (NsMimeTypeIsSource(path)) {
        WarnOfSource(path);
        return 404;
    }
    return ReturnFile(conn, 200, NULL, path, &status);
}

static void
WarnOfSource(const char *path)
{
    static atomic_bool isDone;

    if (!atomic_exchange(&isDone, true)) {
        Ns_Log(Warning,
               "fastpath: %s is not sent: it is a script. To run"
               " such files, set enabletclpages, or map *.adp in"
               " ns/server/S/adp; to send the source of those in Tcl, set a"
               " type for .tcl in ns/mimetypes",
               path);
    }
}

/*
 * The first index file that exists; else a listing, where allowed.
 */
static int
ReturnDirectory(Ns_Conn *conn, const char *path)
{
    NsConn          *connPtr = NsConnOf(conn);
    NsRequestServer *requestPtr = NsConnRequestServer(connPtr);
    Ns_DString       ds;
    struct stat      status;
    int              length;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, path, "/", NULL);
    length = Ns_DStringLength(&ds);
    for (int i = 0; i < requestPtr->nIndexFiles; i++) {
        Ns_DStringTrunc(&ds, length);
        Ns_DStringAppend(&ds, requestPtr->indexFiles[i]);
        if (stat(Ns_DStringValue(&ds), &status) == 0
            && S_ISREG(status.st_mode)) {
            Ns_DStringFree(&ds);
            return ReturnIndex(conn, requestPtr->indexFiles[i]);
        }
    }
    Ns_DStringFree(&ds);
    if (requestPtr->directoryAdp != NULL && directoryAdp != NULL) {
        return directoryAdp(conn, requestPtr->directoryAdp);
    }
    if (requestPtr->directoryProc != NULL && directoryProc != NULL) {
        return directoryProc(conn, requestPtr->directoryProc);
    }
    return 404;
}

/*
 * Relative links of the page need the slash at the end of the URL: the client
 * is redirected if it is missing.
 */
static int
ReturnIndex(Ns_Conn *conn, const char *indexFile)
{
    const char *url = conn->request->url;
    Ns_DString  ds;
    int         result;

    Ns_DStringInit(&ds);
    if (url[strlen(url) - 1] != '/') {
        EncodePath(&ds, url);
        Ns_DStringAppend(&ds, "/");
        result = Ns_ConnReturnRedirect(conn, Ns_DStringValue(&ds));
    } else {
        EncodePath(&ds, url);
        EncodePath(&ds, indexFile);
        result = Ns_ConnRedirect(conn, Ns_DStringValue(&ds));
    }
    Ns_DStringFree(&ds);
    return result;
}

/*
 * Segment by segment: the slashes stay.
 */
static void
EncodePath(Ns_DString *dsPtr, const char *path)
{
    while (*path != '\0') {
        size_t length = strcspn(path, "/");

        NsUrlEncode(dsPtr, path, length, NULL, NS_URL_PATH);
        path += length;
        if (*path == '/') {
            Ns_DStringNAppend(dsPtr, "/", 1);
            path++;
        }
    }
}

static int
ReturnFile(Ns_Conn *conn, int status, const char *type, const char *path,
           const struct stat *statusPtr)
{
    if (type == NULL) {
        type = Ns_GetMimeType(path);
    }
    return nsVariantsAreOn && status == 200
            && (conn->flags & (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS)) == 0
            && Ns_SetIFind(conn->outputheaders, "Content-Encoding") < 0
        ? ReturnVariant(conn, type, path, statusPtr)
        : ReturnOneFile(conn, status, type, NULL, path, statusPtr);
}

/*
 * The file, or a compressed variant of it.  Each of them has its own tag.
 */
static int
ReturnVariant(Ns_Conn *conn, const char *type, const char *path,
              const struct stat *statusPtr)
{
    NsVariant variant;
    int       result;

    NsVariantFind(NsConnOf(conn), path, statusPtr, &variant);
    if (variant.coding != NULL
        && !NsPublicLink(NsConnOf(conn)->serverPtr,
                         Ns_DStringValue(&variant.path))) {
        variant.coding = NULL;
    }
    if (variant.exists) {
        NsReplyAddVary(NsConnOf(conn), "Accept-Encoding");
    }
    result = variant.coding == NULL
        ? ReturnOneFile(conn, 200, type, variant.exists ? "" : NULL, path,
                        statusPtr)
        : ReturnOneFile(conn, 200, type, variant.coding,
                        Ns_DStringValue(&variant.path), &variant.status);
    NsVariantFree(&variant);
    return result;
}

/*
 * The fields and the bytes of the file come from one look at it.  Of a file
 * with variants the coding is not NULL, "" for none: they may have one date, so
 * that it does not tell whether ranges are of the same bytes.
 */
static int
ReturnOneFile(Ns_Conn *conn, int status, const char *type, const char *coding,
              const char *path, const struct stat *statusPtr)
{
    NsConn     *connPtr = NsConnOf(conn);
    NsBody      body = {.fd = -1, .releaseProc = NsFileUnref};
    Ns_Time     accepted = NsClockWall(connPtr->work.acceptStamp);
    NsFile     *filePtr = NsFileCacheLoad(path, statusPtr, &accepted);
    struct stat opened = *statusPtr;
    char        tag[NS_FILE_TAG_BYTES] = "";
    int         refusal;

    if (filePtr != NULL) {
        body.base = filePtr->content;
        body.length = (size_t) filePtr->state.bytes;
        body.arg = filePtr;
        body.validators.etag = filePtr->tag;
    } else if (OpenBody(&body, path, &opened)) {
        if (NsFileIsSettled(&opened, &accepted)) {
            NsFileState state;

            NsFileStateSet(&state, &opened);
            NsFileTag(&state, tag);
            body.validators.etag = tag;
        }
    } else {
        return JudgeUnopened(path);
    }
    NsAssert(body.releaseProc != NULL && (body.fd >= 0 || body.base != NULL));
    body.validators.modified = opened.st_mtime;
    refusal = Judge(connPtr, status, &body);
    if (refusal != 0) {
        body.releaseProc(body.arg);
        return refusal;
    }
    if (coding != NULL) {
        body.validators.modified = 0;
        if (*coding != '\0') {
            Ns_ConnSetHeaders(conn, "Content-Encoding", coding);
        }
    }
    return NsReturnBody(connPtr, status, type, &body);
}

/*
 * Add the fields that name the version of the file.  0, or the status to be
 * answered instead of a plain 200.
 */
static int
Judge(NsConn *connPtr, int status, const NsBody *bodyPtr)
{
    Ns_Conn     *conn = &connPtr->pub;
    Ns_Set      *headers = conn->headers;
    const char  *method = NsConnRequest(connPtr)->method;
    NsValidators validators = bodyPtr->validators;
    NsConditions conditions = {0};

    if ((conn->flags & NS_CONN_SENTHDRS) != 0) {
        return 0;
    }
    Ns_ConnSetLastModifiedHeader(conn, &validators.modified);
    if (validators.modified > NsClockWall(connPtr->work.acceptStamp).sec) {
        /* Another time was told. */
        validators.modified = 0;
    }
    if (status != 200 || connPtr->status != 200) {
        return 0;
    }
    if (validators.etag != NULL) {
        Ns_ConnCondSetHeaders(conn, "ETag", validators.etag);
    }
    conditions.ifMatch = Ns_SetIGet(headers, "If-Match");
    conditions.ifNoneMatch = Ns_SetIGet(headers, "If-None-Match");
    conditions.ifUnmodifiedSince = Ns_SetIGet(headers, "If-Unmodified-Since");
    if (NsConnRequestServer(connPtr)->checkModifiedSince) {
        conditions.ifModifiedSince = Ns_SetIGet(headers, "If-Modified-Since");
    }
    return NsJudgeConditions(&conditions, &validators,
                             method != NULL
                                 && (STREQ(method, "GET")
                                     || STREQ(method, "HEAD")));
}

/*
 * An open file as the body, and what it is; false with errno.
 */
static bool
OpenBody(NsBody *bodyPtr, const char *path, struct stat *statusPtr)
{
    bodyPtr->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (bodyPtr->fd < 0) {
        return false;
    }
    if (fstat(bodyPtr->fd, statusPtr) != 0) {
        bodyPtr->fd = NsCloseAfter(bodyPtr->fd);
        return false;
    }
    bodyPtr->length = (size_t) statusPtr->st_size;
    bodyPtr->releaseProc = CloseFd;
    bodyPtr->arg = INT2PTR(bodyPtr->fd);
    if (shared.usesMmap && bodyPtr->length > 0) {
        (void) MapBody(bodyPtr);
    }
    return true;
}

/*
 * An existing file must not be called missing: clients may remember that.
 */
static int
JudgeUnopened(const char *path)
{
    static NsEpisode shortage;
    int              reason = errno;

    if (reason != EMFILE && reason != ENFILE && reason != ENOMEM) {
        Ns_Log(Error, "fastpath: failed to open '%s': %s", path,
               strerror(reason));
        return 404;
    }
    if (NsEpisodeBegins(&shortage)) {
        Ns_Log(Error,
               "fastpath: failed to open '%s': %s; requests for"
               " files get 503 until there are some again: raise the limit"
               " (ulimit -n, LimitNOFILE), or lower maxqueuesize",
               path, strerror(reason));
    }
    return 503;
}

/*
 * Send a mapping instead of the file.
 */
static bool
MapBody(NsBody *bodyPtr)
{
    void *base = mmap(NULL, bodyPtr->length, PROT_READ, MAP_SHARED, bodyPtr->fd,
                      0);
    Map  *mapPtr;

    if (base == MAP_FAILED) {
        return false;
    }
    NsClose(bodyPtr->fd);
    mapPtr = ns_malloc(sizeof(Map));
    mapPtr->base = base;
    mapPtr->length = bodyPtr->length;
    bodyPtr->fd = -1;
    bodyPtr->base = base;
    bodyPtr->releaseProc = Unmap;
    bodyPtr->arg = mapPtr;
    return true;
}

static void
Unmap(void *arg)
{
    Map *mapPtr = arg;

    (void) munmap(mapPtr->base, mapPtr->length);
    ns_free(mapPtr);
}

static void
CloseFd(void *arg)
{
    (void) close(PTR2INT(arg));
}

/*
 * False, and a line in the log unless the file just is not there, when its
 * status cannot be had.
 */
static bool
StatFile(const char *path, struct stat *statusPtr)
{
    if (stat(path, statusPtr) == 0) {
        return true;
    }
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES
        && errno != ENAMETOOLONG) {
        Ns_Log(Error, "fastpath: stat of '%s' failed: %s", path,
               strerror(errno));
    }
    return false;
}
