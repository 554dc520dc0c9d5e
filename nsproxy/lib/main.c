/* SPDX-License-Identifier: MPL-2.0
 * main.c --
 *
 *      A worker: evaluates the scripts that it receives on standard input, and
 *      answers on standard output, until the input is closed.
 *
 *      Both are the same socket.  For scripts they are replaced by the null
 *      device and the server's standard error.
 */

#include "proxy_int.h"

#include <sys/syscall.h>

static Ns_ThreadProc WatchServer;

static void Become(char *pool);
static void EndWithServer(void);
static int  Serve(Tcl_Interp *interp, int sock);
static bool Answer(Tcl_Interp *interp, int sock, const Tcl_DString *requestPtr);
static void AppendText(Tcl_DString *answerPtr, Tcl_Obj *objPtr);

int
Ns_ProxyMain(int argc, char *const *argv, Tcl_AppInitProc *init)
{
    Tcl_Interp *interp;
    char       *pool;
    int         sock, null;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: %s pool id ?command?\n", argv[0]);
        return 1;
    }
    sock = fcntl(0, F_DUPFD_CLOEXEC, 3);
    null = open(DEVNULL, O_RDONLY | O_CLOEXEC);
    if (sock < 0 || null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0) {
        fprintf(stderr, "nsproxy: no descriptors: %s\n", strerror(errno));
        return 1;
    }
    close(null);
    pool = ns_strdup(argv[1]);
    Become(pool);
    ns_free(pool);

    Tcl_FindExecutable(argv[0]);
    Nsd_LibInit();
    EndWithServer();
    interp = Ns_TclCreateInterp();
    if (init != NULL && init(interp) != TCL_OK) {
        fprintf(stderr, "nsproxy: init: %s\n",
                Tcl_GetString(Tcl_GetObjResult(interp)));
        return 1;
    }
    return Serve(interp, sock);
}

/*
 * POOL:USER:GROUP
 */
static void
Become(char *pool)
{
    char *user = strchr(pool, ':'), *group = NULL;

    if (user != NULL) {
        *user++ = '\0';
        group = strchr(user, ':');
        if (group != NULL) {
            *group++ = '\0';
        }
    }
    if ((group != NULL && *group != '\0' && Ns_SetGroup(group) != 0)
        || (user != NULL && *user != '\0' && Ns_SetUser(user) != 0)) {
        fprintf(stderr, "nsproxy: cannot become user '%s', group '%s'\n", user,
                group != NULL ? group : "");
        exit(1);
    }
}

/*
 * A worker whose server has been killed would notice only after its script.
 * With an old kernel it does.
 */
static void
EndWithServer(void)
{
    int server = (int) syscall(SYS_pidfd_open, getppid(), 0);

    if (server >= 0) {
        Ns_ThreadCreate(WatchServer, (void *) (intptr_t) server, 0, NULL);
    }
}

static void
WatchServer(void *arg)
{
    Ns_ThreadSetName("-server-");
    (void) ProxyWait((int) (intptr_t) arg, POLLIN, -1);
    _exit(1);
}

static int
Serve(Tcl_Interp *interp, int sock)
{
    for (;;) {
        Tcl_DString request;
        bool        isFine = false;

        Tcl_DStringInit(&request);
        if (ProxyRecvFrame(sock, &request, -1) == PROXY_OK) {
            isFine = Answer(interp, sock, &request);
        }
        Tcl_DStringFree(&request);
        if (!isFine) {
            return 0;
        }
    }
}

/*
 * A request without a script is only acknowledged.
 */
static bool
Answer(Tcl_Interp *interp, int sock, const Tcl_DString *requestPtr)
{
    uint32_t    major, minor;
    int         at = 0, code = TCL_OK;
    Tcl_DString answer, script;
    Tcl_Obj    *optionsPtr, *resultPtr;
    bool        isSent;

    if (!ProxyGetNumber(requestPtr, &at, &major)
        || !ProxyGetNumber(requestPtr, &at, &minor) || major != PROXY_MAJOR
        || minor != PROXY_MINOR) {
        fprintf(stderr, "nsproxy: version mismatch\n");
        return false;
    }
    Tcl_ResetResult(interp);
    if (requestPtr->length > at) {
        (void) Tcl_ExternalToUtfDString(Ns_GetCharsetEncoding("utf-8"),
                                        requestPtr->string + at,
                                        requestPtr->length - at, &script);
        Tcl_AllowExceptions(interp);
        code = Tcl_EvalEx(interp, script.string, script.length,
                          TCL_EVAL_GLOBAL);
        Tcl_DStringFree(&script);
    }
    resultPtr = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(resultPtr);
    optionsPtr = code == TCL_OK ? Tcl_NewObj()
                                : Tcl_GetReturnOptions(interp, code);
    Tcl_IncrRefCount(optionsPtr);

    Tcl_DStringInit(&answer);
    ProxyPutNumber(&answer, (uint32_t) code);
    AppendText(&answer, optionsPtr);
    AppendText(&answer, resultPtr);
    Tcl_DecrRefCount(optionsPtr);
    Tcl_DecrRefCount(resultPtr);
    isSent = ProxySendFrame(sock, &answer, -1) == PROXY_OK;
    Tcl_DStringFree(&answer);
    return isSent;
}

static void
AppendText(Tcl_DString *answerPtr, Tcl_Obj *objPtr)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(objPtr, &length);
    Tcl_DString bytes;

    (void) Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), text,
                                    length, &bytes);
    ProxyPutNumber(answerPtr, (uint32_t) bytes.length);
    Tcl_DStringAppend(answerPtr, bytes.string, bytes.length);
    Tcl_DStringFree(&bytes);
}
