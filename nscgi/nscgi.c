/* SPDX-License-Identifier: MPL-2.0
 * nscgi.c --
 *
 *      CGI/1.1 (RFC 3875): requests that are answered by programs.
 */

#include "nscgi.h"

#include <sys/syscall.h>

#define MAX_ARGUMENTS 255

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleCheck;

static void      ReadSettings(Cgi *cgiPtr, const char *section);
static Ns_Set   *NamedSection(const char *section, const char *key,
                              const char *prefix);
static void      AddMap(Cgi *cgiPtr, const char *text);
static Map      *CreateMap(Cgi *cgiPtr, const char *method, const char *url,
                           const char *path);
static bool      IsUsable(const char *path);
static bool      IsMethod(const char *method);
static void      FreeMap(void *arg);
static Ns_OpProc AnswerRequest;
static Ns_TclTraceProc AddCommands;
static Tcl_ObjCmdProc  RegisterCmd;
static int             Answer(Script *scriptPtr);
static bool            FindScript(Script *scriptPtr);
static bool            FindInDirectory(Script *scriptPtr, int nSegments);
static bool            IsBelow(const char *file, const char *directory);
static void            FindInterpreter(Script *scriptPtr);
static int             ReturnStatic(Script *scriptPtr);
static bool            Start(Script *scriptPtr);
static void            CloseAll(const int *fds, int n);
static void            Watch(Script *scriptPtr, int pid, int outFd, int errFd);
static int             OpenBody(Ns_Conn *conn);
static bool            WriteAll(int fd, const char *bytes, size_t length);
static char          **Arguments(const Script *scriptPtr, Ns_DString *dsPtr);
static void            AppendQuery(const char *query, Ns_DString *dsPtr);
static int             OpenPidFd(pid_t pid);

/*
 * For nsd -T.
 */
int
Ns_ModuleCheck(const char *server, const char *module)
{
    return Ns_ModuleIsForServer("nscgi", server, module) ? NS_OK : NS_ERROR;
}

int
Ns_ModuleInit(const char *server, const char *module)
{
    const char *section;
    Ns_Set     *settings;
    Cgi        *cgiPtr;

    if (!Ns_ModuleIsForServer("nscgi", server, module)) {
        return NS_ERROR;
    }
    cgiPtr = ns_calloc(1u, sizeof(*cgiPtr));
    cgiPtr->server = server;
    Ns_MutexInit(&cgiPtr->lock);
    Ns_MutexSetName2(&cgiPtr->lock, "nscgi", server);
    cgiPtr->debug = Ns_CreateLogSeverity("Debug(cgi)");
    if (ns_pipe(cgiPtr->wakeFds) != 0) {
        Ns_Log(Error, "nscgi[%s]: no pipe: %s", server, strerror(errno));
        return NS_ERROR;
    }
    (void) Ns_SockSetNonBlocking(cgiPtr->wakeFds[0]);
    (void) Ns_SockSetNonBlocking(cgiPtr->wakeFds[1]);

    section = Ns_ConfigGetPath(server, module, NULL);
    ReadSettings(cgiPtr, section);
    settings = Ns_ConfigGetSection(section);
    for (int i = 0; settings != NULL && i < Ns_SetSize(settings); i++) {
        if (STRIEQ(Ns_SetKey(settings, i), "map")
            && *Ns_SetValue(settings, i) != '\0') {
            AddMap(cgiPtr, Ns_SetValue(settings, i));
        }
    }
    (void) Ns_RegisterAtShutdown(CgiReaperStop, cgiPtr);
    return Ns_TclRegisterTrace(server, AddCommands, cgiPtr,
                               NS_TCL_TRACE_CREATE);
}

static void
ReadSettings(Cgi *cgiPtr, const char *section)
{
    Ns_Time timeout;

    cgiPtr->interps = NamedSection(section, "interps", "ns/interps/");
    cgiPtr->environment = NamedSection(section, "environment",
                                       "ns/environment/");
    cgiPtr->isServerEnvironment = Ns_ConfigBool(section, "systemenvironment",
                                                NS_FALSE);
    cgiPtr->isHostResolved = Ns_ConfigBool(section, "gethostbyaddr", NS_FALSE);
    cgiPtr->isStaticAllowed = Ns_ConfigBool(section, "allowstaticresources",
                                            NS_FALSE);
    cgiPtr->limit = Ns_ConfigIntRange(section, "limit", 0, 0, INT_MAX);
    cgiPtr->maxInput = Ns_ConfigMemUnitRange(section, "maxinput", "1MB", 0, 0,
                                             INT64_MAX);
    Ns_ConfigTimeUnitRange(section, "maxwait", "30s", 0, 0, LONG_MAX / 2, 0,
                           &cgiPtr->maxWait);
    Ns_ConfigTimeUnitRange(section, "timeout", "5m", 0, 0, LONG_MAX / 2000, 0,
                           &timeout);
    cgiPtr->timeoutMs = (int64_t) timeout.sec * 1000 + timeout.usec / 1000;
}

static Ns_Set *
NamedSection(const char *section, const char *key, const char *prefix)
{
    const char *name = Ns_ConfigString(section, key, NULL);
    Ns_DString  ds;
    Ns_Set     *setPtr = NULL;

    if (name != NULL && *name != '\0') {
        Ns_DStringInit(&ds);
        Ns_DStringVarAppend(&ds, prefix, name, NULL);
        setPtr = Ns_ConfigGetSection(ds.string);
        if (setPtr == NULL) {
            Ns_Log(Warning, "nscgi: no such %s section: %s", key, ds.string);
        }
        Ns_DStringFree(&ds);
    }
    return setPtr;
}

/*
 * METHOD URL ?PATH?
 */
static void
AddMap(Cgi *cgiPtr, const char *text)
{
    const char **words;
    const char  *path;
    int          n;

    if (Tcl_SplitList(NULL, text, &n, &words) != TCL_OK) {
        n = 0;
        words = NULL;
    }
    path = n == 3 ? words[2] : NULL;
    if (n < 2 || n > 3) {
        Ns_Log(Error, "nscgi: invalid mapping: %s", text);
    } else if (!IsUsable(path)) {
        Ns_Log(Error, "nscgi: invalid directory: %s", path);
    } else {
        Ns_RegisterRequest(cgiPtr->server, words[0], words[1], AnswerRequest,
                           FreeMap, CreateMap(cgiPtr, words[0], words[1], path),
                           0);
    }
    if (words != NULL) {
        Tcl_Free((char *) words);
    }
}

/*
 * NULL is the page of the URL.
 */
static bool
IsUsable(const char *path)
{
    return path == NULL || (Ns_PathIsAbsolute(path) && access(path, R_OK) == 0);
}

static Map *
CreateMap(Cgi *cgiPtr, const char *method, const char *url, const char *path)
{
    const char *segment, *last = "";
    Map        *mapPtr = ns_calloc(1u, sizeof(*mapPtr));

    mapPtr->cgiPtr = cgiPtr;
    mapPtr->url = ns_strdup(url);
    mapPtr->path = path != NULL ? ns_strdup(path) : NULL;
    for (segment = mapPtr->url; *(segment += strspn(segment, "/")) != '\0';
         segment += strcspn(segment, "/")) {
        mapPtr->nSegments++;
        last = segment;
    }
    mapPtr->hasWildcard = last[strcspn(last, "*?/")] != '\0'
        && last[strcspn(last, "*?/")] != '/';
    Ns_Log(Notice, "nscgi: %s %s%s%s", method, url, path != NULL ? " -> " : "",
           path != NULL ? path : "");
    return mapPtr;
}

static void
FreeMap(void *arg)
{
    Map *mapPtr = arg;

    ns_free(mapPtr->url);
    ns_free(mapPtr->path);
    ns_free(mapPtr);
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    (void) Tcl_CreateObjCommand(interp, "ns_register_cgi", RegisterCmd, arg,
                                NULL);
    return TCL_OK;
}

/*
 * ns_register_cgi ?-constraints constraints? ?-noinherit? ?-path path? ?--?
 *     method url
 */
static int
RegisterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Cgi                    *cgiPtr = clientData;
    Ns_UrlSpaceContextSpec *specPtr = NULL;
    char                   *constraints = (char *) "", *path = NULL;
    char                   *method, *url;
    int                     flags = 0;
    Ns_ObjvSpec             options[] = {
                    {"-constraints", Ns_ObjvString, &constraints, NULL},
                    {"-noinherit", Ns_ObjvBool, &flags, INT2PTR(NS_OP_NOINHERIT)},
                    {"-path", Ns_ObjvString, &path, NULL},
                    {"--", Ns_ObjvBreak, NULL, NULL},
                    {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"method", Ns_ObjvString, &method, NULL},
                          {"url", Ns_ObjvString, &url, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (!IsMethod(method)) {
        Ns_TclPrintfResult(interp, "bad method \"%s\"", method);
        return TCL_ERROR;
    }
    if (*url != '/') {
        Ns_TclPrintfResult(interp, "invalid url \"%s\": must begin with /",
                           url);
        return TCL_ERROR;
    }
    if (!IsUsable(path)) {
        Ns_TclPrintfResult(interp, "invalid directory: %s", path);
        return TCL_ERROR;
    }
    if (Ns_UrlSpaceContextSpecParse(interp, constraints, &specPtr) != NS_OK) {
        return TCL_ERROR;
    }
    return Ns_RegisterRequest2(interp, cgiPtr->server, method, url,
                               AnswerRequest, FreeMap,
                               CreateMap(cgiPtr, method, url, path),
                               (unsigned) flags, specPtr)
            == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

/*
 * A token of RFC 9110.
 */
static bool
IsMethod(const char *method)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    const char       *p = method;

    while (isalnum((unsigned char) *p)
           || (*p != '\0' && strchr(marks, *p) != NULL)) {
        p++;
    }
    return p > method && *p == '\0';
}

static int
AnswerRequest(void *arg, Ns_Conn *conn)
{
    const Map *mapPtr = arg;
    Script     script = {
            .mapPtr = mapPtr, .cgiPtr = mapPtr->cgiPtr, .conn = conn, .outFd = -1};
    int status;

    Ns_DStringInit(&script.file);
    Ns_DStringInit(&script.name);
    Ns_DStringInit(&script.pathInfo);
    status = Answer(&script);
    Ns_DStringFree(&script.file);
    Ns_DStringFree(&script.name);
    Ns_DStringFree(&script.pathInfo);
    ns_free(script.interp);
    return status;
}

static int
Answer(Script *scriptPtr)
{
    Cgi     *cgiPtr = scriptPtr->cgiPtr;
    Ns_Conn *conn = scriptPtr->conn;

    if (cgiPtr->maxInput > 0
        && (uint64_t) Ns_ConnContentSize(conn) > (uint64_t) cgiPtr->maxInput) {
        return Ns_ConnReturnEntityTooLarge(conn);
    }
    if (!FindScript(scriptPtr)) {
        return Ns_ConnReturnNotFound(conn);
    }
    FindInterpreter(scriptPtr);
    if (scriptPtr->program == NULL
        && access(scriptPtr->file.string, X_OK) != 0) {
        return ReturnStatic(scriptPtr);
    }
    if (!CgiEnter(cgiPtr)) {
        Ns_Log(Warning,
               "nscgi[%s]: %d scripts are running, and none has ended within "
               "maxwait: raise the parameter limit",
               cgiPtr->server, cgiPtr->limit);
        return Ns_ConnReturnUnavailable(conn);
    }
    if (!Start(scriptPtr)) {
        CgiLeave(cgiPtr);
        return Ns_ConnReturnInternalError(conn);
    }
    return CgiRelay(scriptPtr);
}

/*
 * Find the file, its URL, and the rest of the URL.
 */
static bool
FindScript(Script *scriptPtr)
{
    const Map  *mapPtr = scriptPtr->mapPtr;
    const char *server = scriptPtr->cgiPtr->server;
    Ns_Request *requestPtr = scriptPtr->conn->request;
    Ns_DString  root, page;
    struct stat st;
    char        path[PATH_MAX];
    const char *rest;
    bool        isFound;

    Ns_DStringInit(&root);
    Ns_DStringInit(&page);
    (void) Ns_PagePath(&root, server, NULL);
    if (mapPtr->hasWildcard) {
        Ns_DStringAppend(&scriptPtr->name, requestPtr->url);
        isFound = Ns_UrlToFile(&scriptPtr->file, server, requestPtr->url)
            == NS_OK;
    } else {
        if (mapPtr->path != NULL) {
            Ns_DStringAppend(&scriptPtr->file, mapPtr->path);
            isFound = true;
        } else {
            isFound = Ns_UrlToFile(&scriptPtr->file, server, mapPtr->url)
                == NS_OK;
        }
        isFound = isFound && stat(scriptPtr->file.string, &st) == 0;
        Ns_DStringAppend(&scriptPtr->name, mapPtr->url);
        Ns_DStringTrunc(&scriptPtr->name,
                        (int) strlen(scriptPtr->name.string)
                            - (scriptPtr->name.length > 0
                               && scriptPtr->name
                                       .string[scriptPtr->name.length - 1]
                                   == '/'));
        if (isFound && S_ISDIR(st.st_mode)) {
            Ns_DStringTrunc(&root, 0);
            Ns_DStringAppend(&root, scriptPtr->file.string);
            isFound = FindInDirectory(scriptPtr, mapPtr->nSegments);
        } else if (isFound) {
            if (mapPtr->path != NULL) {
                Ns_DStringTrunc(&root, 0);
                Ns_DStringNAppend(&root, mapPtr->path,
                                  (int) (strrchr(mapPtr->path, '/')
                                         - mapPtr->path + 1));
            }
            rest = Ns_SkipUrl(requestPtr, mapPtr->nSegments);
            if (rest != NULL && *rest != '\0') {
                Ns_DStringVarAppend(&scriptPtr->pathInfo,
                                    *rest == '/' ? "" : "/", rest, NULL);
            }
        }
    }
    isFound = isFound && realpath(scriptPtr->file.string, path) != NULL
        && stat(path, &st) == 0 && S_ISREG(st.st_mode)
        && IsBelow(path, root.string) && access(path, R_OK) == 0;
    Ns_DStringFree(&root);
    Ns_DStringFree(&page);
    return isFound;
}

/*
 * The next segment names the script.
 */
static bool
FindInDirectory(Script *scriptPtr, int nSegments)
{
    const char *rest = Ns_SkipUrl(scriptPtr->conn->request, nSegments);
    size_t      length;

    rest = rest == NULL ? "" : rest + strspn(rest, "/");
    length = strcspn(rest, "/");
    if (length == 0) {
        return false;
    }
    Ns_DStringNAppend(&scriptPtr->file, "/", 1);
    Ns_DStringNAppend(&scriptPtr->file, rest, (int) length);
    Ns_DStringNAppend(&scriptPtr->name, "/", 1);
    Ns_DStringNAppend(&scriptPtr->name, rest, (int) length);
    Ns_DStringAppend(&scriptPtr->pathInfo, rest + length);
    return true;
}

static bool
IsBelow(const char *file, const char *directory)
{
    char   path[PATH_MAX];
    size_t length;

    if (realpath(directory, path) == NULL) {
        return false;
    }
    length = strlen(path);
    return length == 1
        || (strncmp(file, path, length) == 0 && file[length] == '/');
}

/*
 * By the last extension: PROGRAM or PROGRAM(SECTION).
 */
static void
FindInterpreter(Script *scriptPtr)
{
    const char *extension = strrchr(scriptPtr->file.string, '.');
    const char *value;
    char       *open, *close;

    if (extension == NULL || strchr(extension, '/') != NULL
        || scriptPtr->cgiPtr->interps == NULL) {
        return;
    }
    value = Ns_SetIGet(scriptPtr->cgiPtr->interps, extension);
    if (value == NULL) {
        return;
    }
    scriptPtr->interp = ns_strdup(value);
    open = strchr(scriptPtr->interp, '(');
    close = open == NULL ? NULL : strchr(open, ')');
    if (close != NULL) {
        *open = *close = '\0';
        scriptPtr->interpEnvironment = Ns_ConfigGetSection(open + 1);
        if (scriptPtr->interpEnvironment == NULL) {
            Ns_Log(Warning, "nscgi: no such environment section: %s", open + 1);
        }
    }
    scriptPtr->program = Ns_StrTrim(scriptPtr->interp);
}

static int
ReturnStatic(Script *scriptPtr)
{
    Ns_Conn    *conn = scriptPtr->conn;
    const char *method = conn->request->method;

    if (scriptPtr->cgiPtr->isStaticAllowed
        && (STREQ(method, "GET") || STREQ(method, "HEAD"))) {
        return Ns_ConnReturnFile(conn, 200, NULL, scriptPtr->file.string);
    }
    return Ns_ConnReturnNotFound(conn);
}

static bool
Start(Script *scriptPtr)
{
    const char *file = scriptPtr->file.string;
    int         outFds[2] = {-1, -1}, errFds[2] = {-1, -1};
    int         fdIn = OpenBody(scriptPtr->conn), pid = -1, reason = 0;
    Ns_DString  arguments, directory;

    Ns_DStringInit(&arguments);
    Ns_DStringInit(&directory);
    Ns_DStringNAppend(&directory, file, (int) (strrchr(file, '/') - file + 1));
    if (fdIn >= 0 && ns_pipe(outFds) == 0 && ns_pipe(errFds) == 0) {
        Ns_Set *env = CgiEnvironment(scriptPtr);

        pid = Ns_ExecSpawn(&(Ns_ExecSpec){
            .program = scriptPtr->program != NULL ? scriptPtr->program : file,
            .dir = directory.string,
            .fdIn = fdIn,
            .fdOut = outFds[1],
            .fdErr = errFds[1],
            .argv = Arguments(scriptPtr, &arguments),
            .envPtr = env,
            .isGroup = true});
        reason = errno;
        Ns_SetFree(env);
    } else {
        reason = errno;
    }
    CloseAll((const int[]){fdIn, outFds[1], errFds[1]}, 3);
    Ns_DStringFree(&arguments);
    Ns_DStringFree(&directory);
    if (pid <= 0) {
        Ns_Log(Error, "nscgi: cgi exec failed: %s: %s",
               scriptPtr->program != NULL ? scriptPtr->program : file,
               strerror(reason));
        CloseAll((const int[]){outFds[0], errFds[0]}, 2);
        return false;
    }
    Watch(scriptPtr, pid, outFds[0], errFds[0]);
    Ns_Log(scriptPtr->cgiPtr->debug, "nscgi: %s: started as pid %d", file, pid);
    return true;
}

/*
 * Those that are open: -1 is none.
 */
static void
CloseAll(const int *fds, int n)
{
    for (int i = 0; i < n; i++) {
        if (fds[i] >= 0) {
            ns_close(fds[i]);
        }
    }
}

static void
Watch(Script *scriptPtr, int pid, int outFd, int errFd)
{
    Process *processPtr = ns_calloc(1u, sizeof(*processPtr));

    (void) Ns_SockSetNonBlocking(outFd);
    (void) Ns_SockSetNonBlocking(errFd);
    processPtr->cgiPtr = scriptPtr->cgiPtr;
    processPtr->name = ns_strdup(scriptPtr->name.string);
    processPtr->pid = pid;
    processPtr->pidFd = OpenPidFd(pid);
    processPtr->errors.fd = errFd;
    CgiWatch(processPtr);
    scriptPtr->processPtr = processPtr;
    scriptPtr->outFd = outFd;
}

/*
 * The whole body, positioned at its start; the caller closes it.
 */
static int
OpenBody(Ns_Conn *conn)
{
    size_t length = Ns_ConnContentSize(conn);
    int    fd;
    char   path[64];

    if (length == 0) {
        return open(DEVNULL, O_RDONLY | O_CLOEXEC);
    }
    if (Ns_ConnContent(conn) == NULL) {
        /* Open it anew, so that the script can change the position. */
        snprintf(path, sizeof(path), "/proc/self/fd/%d",
                 Ns_ConnContentFd(conn));
        return open(path, O_RDONLY | O_CLOEXEC);
    }
    fd = open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        snprintf(path, sizeof(path), "%s/nscgi.XXXXXX", P_tmpdir);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) {
            (void) unlink(path);
        }
    }
    if (fd >= 0
        && (!WriteAll(fd, Ns_ConnContent(conn), length)
            || lseek(fd, 0, SEEK_SET) != 0)) {
        int reason = errno;

        ns_close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

static bool
WriteAll(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = ns_write(fd, bytes, length);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            bytes += n;
            length -= (size_t) n;
        }
    }
    return true;
}

/*
 * Interpreter, script, and the words of a query that is not a form.
 */
static char **
Arguments(const Script *scriptPtr, Ns_DString *dsPtr)
{
    const char *query = scriptPtr->conn->request->query;

    if (scriptPtr->program != NULL) {
        Ns_DStringAppendArg(dsPtr, scriptPtr->program);
    }
    Ns_DStringAppendArg(dsPtr, scriptPtr->file.string);
    if (query != NULL && strchr(query, '=') == NULL) {
        AppendQuery(query, dsPtr);
    }
    return Ns_DStringAppendArgv(dsPtr);
}

/*
 * All words or none: the program does not expect a word that looks like an
 * option or that would be truncated.
 */
static void
AppendQuery(const char *query, Ns_DString *dsPtr)
{
    int        before = Ns_DStringLength(dsPtr), n = 0;
    bool       isFine = true;
    Ns_DString coded, word;

    Ns_DStringInit(&coded);
    Ns_DStringInit(&word);
    while (isFine && *query != '\0') {
        size_t length = strcspn(query, "+");

        Ns_DStringTrunc(&coded, 0);
        Ns_DStringTrunc(&word, 0);
        Ns_DStringNAppend(&coded, query, (int) length);
        (void) Ns_UrlQueryDecode(&word, coded.string, NULL);
        isFine = ++n <= MAX_ARGUMENTS && *word.string != '-'
            && strstr(coded.string, "%00") == NULL
            && (int) strlen(word.string) == Ns_DStringLength(&word);
        Ns_DStringAppendArg(dsPtr, word.string);
        query += length + (query[length] == '+');
    }
    if (!isFine) {
        Ns_DStringTrunc(dsPtr, before);
    }
    Ns_DStringFree(&coded);
    Ns_DStringFree(&word);
}

/*
 * -1: the system does not support it, or has no descriptor.
 */
static int
OpenPidFd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int) syscall(SYS_pidfd_open, pid, 0);
#else
    return -1;
#endif
}
