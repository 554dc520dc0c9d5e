/* SPDX-License-Identifier: MPL-2.0
 * development.c --
 *
 *      What follows the changes of a site that is developed.
 *
 *      A thread waits for changes below the libraries and the pages of all
 *      servers.  Each change gives all that is shown a new version.  A page has
 *      a script, with the version of the moment in its URL, that listens at the
 *      same URL for the present one; if they differ, it loads the page again.
 *      So a change that comes before the script listens, and a restart, are not
 *      missed.  tcl/development.tcl has the script and the list of those who
 *      listen, which are channels without a thread.
 */

#include "tcl/development.h"

#include <stdatomic.h>

#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsrequest.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "nstcl.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/treewatch.h"
#include "process/parameters.h"
#include "request/insert.h"
#include "tcl/damage.h"
#include "tcl/failure.h"
#include "tcl/tclserver.h"

#define RELOAD_URL    "/_reload"
#define VERSION_BYTES 48

typedef struct Settings {
    bool isLive;
} Settings;

static const NsParameter rows[] = {
    NS_BOOL(Settings, isLive, "livereload", "true",
            "With development: changed libraries and pages show at once."),
    NS_PARAM_END};

static Settings settings; /* Main thread; constant when threads run. */

/*
 * Of the thread that waits.
 */
static struct {
    NsTreeWatch *treePtr;  /* Constant once it runs. */
    Ns_Thread    thread;   /* Of the main thread, then of the stop. */
    long         start;    /* Tells one process from the next.  Constant. */
    atomic_int   nChanges; /* Written by the thread alone. */

    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  ended;
    bool     hasEnded;
} watch;

static Ns_Callback     Start;
static Ns_ThreadProc   Run;
static Ns_ShutdownProc Stop;
static Ns_FilterProc   AddScript;
static Ns_OpProc       Listen;
static NsTreeWantProc  IsWanted;

static void AddDirectories(NsServer *serverPtr);
static void TellServer(NsServer *serverPtr, const char *files);
static void AddLibraries(const NsServer *serverPtr, int nFiles,
                         const char *const *files, Ns_DString *dsPtr);
static bool IsBelow(const char *file, const char *directory);
static bool WantsPage(const Ns_Conn *conn);
static bool IsLocal(Tcl_Interp *interp);
static int  Evaluate(Tcl_Interp *interp, const char *const *words, int n);
static const char *GetVersion(char *text);

void
NsDevelopmentInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Settings));
    NsMutexSetup(&watch.lock, NS_RANK_TCL_MISC, "nsd:development", NULL);
    Ns_CondInit(&watch.ended);
}

void
NsDevelopmentServerInit(NsServer *serverPtr)
{
    if (!NsFailureIsShown()) {
        return;
    }
    NsDamageServerInit(serverPtr);
    NsParametersFill(rows, "ns/parameters", &settings);
    if (!settings.isLive) {
        return;
    }
    Ns_RegisterProcInfo((void *) AddScript, "ns:livereload", NULL);
    Ns_RegisterProcInfo((void *) Listen, "ns:livereload", NULL);
    (void) Ns_RegisterFilter(serverPtr->name, "GET", "/*", AddScript,
                             NS_FILTER_PRE_AUTH | NS_FILTER_FIRST, NULL);
    Ns_RegisterRequest(serverPtr->name, "GET", RELOAD_URL, Listen, NULL, NULL,
                       NS_OP_NOINHERIT);
    if (watch.start == 0) {
        watch.start = (long) time(NULL);
        (void) Ns_RegisterAtStartup(Start, NULL);
    }
}

static void
Start(void *arg)
{
    watch.treePtr = NsTreeWatchCreate(IsWanted);
    if (watch.treePtr == NULL) {
        Ns_Log(Warning,
               "tcl: neither libraries nor open pages are reloaded: %s; see "
               "fs.inotify.max_user_instances and the limit of open files",
               strerror(errno));
        return;
    }
    (void) Ns_RegisterAtShutdown(Stop, NULL);
    Ns_ThreadCreate(Run, NULL, 0, &watch.thread);
}

/*
 * Without a deadline: stop.
 */
static void
Stop(Ns_Time *deadlinePtr, void *arg)
{
    int status = NS_OK;

    if (deadlinePtr == NULL) {
        NsTreeWatchStop(watch.treePtr);
        return;
    }
    Ns_MutexLock(&watch.lock);
    while (!watch.hasEnded && status == NS_OK) {
        Ns_Time deadline = *deadlinePtr;

        status = Ns_CondTimedWait(&watch.ended, &watch.lock, &deadline);
    }
    Ns_MutexUnlock(&watch.lock);
    if (status == NS_OK) {
        Ns_ThreadJoin(&watch.thread, NULL);
        NsTreeWatchDestroy(&watch.treePtr);
    } else {
        Ns_Log(Warning, "shutdown: libraries are still being reloaded");
    }
}

static void
Run(void *arg)
{
    int        blindness = 0;
    Ns_DString files;

    Ns_ThreadSetName("-development-");
    for (int i = 0; i < NsServerCount(); i++) {
        AddDirectories(NsServerAt(i));
    }
    Ns_Log(Notice, "tcl: libraries and pages are watched");
    Ns_DStringInit(&files);
    do {
        if (NsTreeWatchBlindness(watch.treePtr) != blindness) {
            blindness = NsTreeWatchBlindness(watch.treePtr);
            Ns_Log(
                Notice,
                "tcl: libraries and pages are checked every second: the kernel "
                "does not report all changes: %s; see "
                "fs.inotify.max_user_watches",
                blindness == EXDEV ? "a file system is not of this machine"
                                   : strerror(blindness));
        }
        if (Ns_DStringLength(&files) > 0) {
            atomic_fetch_add(&watch.nChanges, 1);
            for (int i = 0; i < NsServerCount(); i++) {
                TellServer(NsServerAt(i), files.string);
            }
            Ns_DStringTrunc(&files, 0);
        }
    } while (NsTreeWatchWait(watch.treePtr, &files));
    Ns_DStringFree(&files);
    Ns_MutexLock(&watch.lock);
    watch.hasEnded = true;
    Ns_CondSignal(&watch.ended);
    Ns_MutexUnlock(&watch.lock);
}

static void
AddDirectories(NsServer *serverPtr)
{
    const NsTclServer *tclPtr = serverPtr->tclPtr;
    Ns_DString         pages;

    Ns_DStringInit(&pages);
    NsTreeWatchAdd(watch.treePtr, tclPtr->sharedLibrary);
    NsTreeWatchAdd(watch.treePtr, tclPtr->library);
    NsTreeWatchAdd(watch.treePtr,
                   Ns_PagePath(&pages, serverPtr->name, (char *) NULL));
    Ns_DStringFree(&pages);
}

/*
 * What pages are made of, and what they show.  Not what a page may write while
 * it is shown: it would be shown again for ever.
 */
static bool
IsWanted(const char *name)
{
    static const char *const ends[] = {
        ".adp", ".tcl",  ".html", ".htm", ".css", ".js",   ".mjs",  ".svg",
        ".png", ".jpeg", ".jpg",  ".gif", ".ico", ".avif", ".webp", ".woff2"};
    const char *end = strrchr(name, '.');

    for (int i = 0; end != NULL && i < Ns_NrElements(ends); i++) {
        if (strcasecmp(end, ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void
TellServer(NsServer *serverPtr, const char *files)
{
    char         version[VERSION_BYTES];
    const char  *words[] = {"::_ns_devchanged", NULL, GetVersion(version)};
    const char **paths;
    int          nPaths;
    Ns_DString   libraries;
    Tcl_Interp  *interp = Ns_TclAllocateInterp(serverPtr->name);

    if (interp == NULL) {
        return; /* The log says why. */
    }
    Ns_DStringInit(&libraries);
    (void) Tcl_SplitList(NULL, files, &nPaths, &paths);
    AddLibraries(serverPtr, nPaths, paths, &libraries);
    Tcl_Free((char *) paths);
    words[1] = libraries.string;
    if (Evaluate(interp, words, Ns_NrElements(words)) != TCL_OK) {
        (void) Ns_TclLogErrorInfo(interp, "\n(context: live reload)");
    }
    Ns_DStringFree(&libraries);
    Ns_TclDeAllocateInterp(interp);
}

static void
AddLibraries(const NsServer *serverPtr, int nFiles, const char *const *files,
             Ns_DString *dsPtr)
{
    const NsTclServer *tclPtr = serverPtr->tclPtr;

    for (int i = 0; i < nFiles; i++) {
        const char *end = strrchr(files[i], '.');

        NsAssert(end != NULL);
        if (STREQ(end, ".tcl")
            && (IsBelow(files[i], tclPtr->library)
                || IsBelow(files[i], tclPtr->sharedLibrary))) {
            Tcl_DStringAppendElement(dsPtr, files[i]);
        }
    }
}

static bool
IsBelow(const char *file, const char *directory)
{
    size_t length = strlen(directory);

    return strncmp(file, directory, length) == 0 && file[length] == '/';
}

/*
 * A browser of this machine that wants to show a page gets the script.
 */
static int
AddScript(void *arg, Ns_Conn *conn, int why)
{
    Tcl_Interp *interp;

    if (WantsPage(conn) && (interp = Ns_GetConnInterp(conn)) != NULL
        && IsLocal(interp)) {
        char       version[VERSION_BYTES];
        Ns_DString script;

        Ns_DStringInit(&script);
        Ns_DStringPrintf(&script, "<script src=\"%s?%s\" defer></script>\n",
                         RELOAD_URL, GetVersion(version));
        NsConnInsert(NsConnOf(conn), script.string);
        Ns_DStringFree(&script);
    }
    return NS_OK;
}

/*
 * Not a script that fetches something, of which it makes part of a page.
 */
static bool
WantsPage(const Ns_Conn *conn)
{
    static const char *const shown[] = {"document", "iframe", "frame"};
    const char *purpose = Ns_SetIGet(conn->headers, "Sec-Fetch-Dest");
    const char *accepted = Ns_SetIGet(conn->headers, "Accept");

    if (purpose == NULL) {
        return accepted != NULL && strstr(accepted, "text/html") != NULL;
    }
    for (int i = 0; i < Ns_NrElements(shown); i++) {
        if (STREQ(purpose, shown[i])) {
            return true;
        }
    }
    return false;
}

static bool
IsLocal(Tcl_Interp *interp)
{
    const char *word = "::_ns_islocal";
    int         isLocal = 0;

    if (Evaluate(interp, &word, 1) != TCL_OK
        || Tcl_GetBooleanFromObj(NULL, Tcl_GetObjResult(interp), &isLocal)
            != TCL_OK) {
        (void) Ns_TclLogErrorInfo(interp, "\n(context: live reload)");
    }
    Tcl_ResetResult(interp);
    return isLocal != 0;
}

/*
 * The script, or what it listens to.
 */
static int
Listen(void *arg, Ns_Conn *conn)
{
    char        version[VERSION_BYTES];
    const char *words[] = {"::_ns_devlisten", GetVersion(version)};
    Tcl_Interp *interp = Ns_GetConnInterp(conn);

    if (interp == NULL
        || Evaluate(interp, words, Ns_NrElements(words)) != TCL_OK) {
        if (interp != NULL) {
            (void) Ns_TclLogErrorInfo(interp, "\n(context: live reload)");
        }
        return Ns_ConnReturnInternalError(conn);
    }
    return NS_OK;
}

static int
Evaluate(Tcl_Interp *interp, const char *const *words, int n)
{
    Tcl_Obj *objs[4] = {NULL};
    int      result;

    NsAssert(n > 0 && n <= Ns_NrElements(objs));
    for (int i = 0; i < n; i++) {
        objs[i] = Tcl_NewStringObj(words[i], -1);
        Tcl_IncrRefCount(objs[i]);
    }
    result = Tcl_EvalObjv(interp, n, objs, TCL_EVAL_GLOBAL);
    for (int i = 0; i < n; i++) {
        Tcl_DecrRefCount(objs[i]);
    }
    return result;
}

/*
 * text has room for VERSION_BYTES.
 */
static const char *
GetVersion(char *text)
{
    (void) snprintf(text, VERSION_BYTES, "%lx.%d.%d", watch.start,
                    (int) getpid(), atomic_load(&watch.nChanges));
    return text;
}
