/* SPDX-License-Identifier: MPL-2.0
 * blueprint.c --
 *
 *      The state that all interpreters of a server share.
 *
 *      At the start the init file runs in the bootstrap interpreter: it loads
 *      modules and sources libraries, and at its end saves a script that gives
 *      any other interpreter the same procs, namespaces and packages.
 */

#include "tcl/blueprint.h"

#include "nsparam.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"
#include "process/parameters.h"
#include "process/paths.h"
#include "tcl/bare.h"
#include "tcl/cleanup.h"
#include "tcl/tclcache.h"
#include "tcl/failure.h"
#include "tcl/interp.h"
#include "tcl/origins.h"
#include "tcl/statetext.h"
#include "tcl/trace.h"
#include "tcl/httpsettings.h"

static Ns_TclTraceProc UpdateTrace;
static Ns_TclTraceProc CleanupTrace;

static int         Try(NsTclServer *tclPtr, const char *script, size_t length,
                       Ns_DString *errorPtr);
static Tcl_Obj    *TakeScript(NsTclServer *tclPtr, int *epochPtr);
static void        BeginUpdate(void);
static void        EndUpdate(void);
static void        AddOwnTraces(const char *server);
static const char *SharedLibrary(void);
static const char *HomePath(const char *path);
static const char *ShippedPath(const char *path);
static void        SplitHeaders(NsTclServer *tclPtr);

/*
 * Of all servers.
 */
typedef struct Shared {
    const char *library;
    bool        isInitLocked;
    bool        rejectsClosed;
    int         maxUpdates;
} Shared;

static const NsParameter sharedRows[] = {
    NS_PATH(Shared, library, "tcllibrary", "tcl",
            "Tcl library of all servers."),
    NS_BOOL(Shared, isInitLocked, "tclinitlock", "false",
            "Make interpreters one at a time."),
    NS_BOOL(Shared, rejectsClosed, "rejectalreadyclosedconn", "true",
            "A second reply to a request is an error; else, a Warning."),
    NS_INT(Shared, maxUpdates, "maxconcurrentupdates", "1000", 1, INT_MAX,
           "Interpreters that load the server's new state at the same time."),
    NS_PARAM_END};

static const NsParameter rows[] = {
    NS_PATH(NsTclServer, library, "library", "modules/tcl",
            "Tcl library of the server."),
    NS_PATH(NsTclServer, initFile, "initfile", "bin/init.tcl",
            "Script that boots the server."),
    NS_LIST(NsTclServer, errorLogHeaderList, "errorlogheaders", "",
            "Request header fields in the log entry of a script error."),
    NS_PATH(NsTclServer, errorPage, "errorpage", "",
            "Script that answers when a Tcl page fails."),
    NS_LISTED("initcmds", NS_PARAM_STRING, "",
              "Commands at the end of the server's start."),
    NS_IGNORED("lazyloader", "Interpreters have all procedures."),
    NS_IGNORED("nsvrwlocks",
               "How variables of nsv are locked is not a setting."),
    NS_PARAM_END};

static const NsParameter serverRows[] = {
    NS_LISTED("serverrootproc", NS_PARAM_STRING, "",
              "Procedure that answers as for ns_serverrootproc."),
    NS_PARAM_END};

/*
 * The interpreters that run the script now.
 */
static struct {
    Ns_Mutex lock;  /* Guards the rest. */
    Ns_Cond  ended; /* One has ended, or the limit has changed. */
    int      n;
    int      max;
} updates;

static _Thread_local int updateDepth;

void
NsBlueprintInit(void)
{
    NsMutexSetup(&updates.lock, NS_RANK_TCL_MISC, "nsd:updates", NULL);
    Ns_CondInit(&updates.ended);
    NsStateTextInit();
    NsBareInit();
    NsParametersRegister("ns/parameters", sharedRows, sizeof(Shared));
    NsParametersRegister("ns/server/*/tcl", rows, sizeof(NsTclServer));
    NsParametersRegister("ns/server/*", serverRows, 0);
}

void
NsTclServerInit(NsServer *serverPtr)
{
    NsTclServer *tclPtr = ns_calloc(1, sizeof(NsTclServer));
    Ns_DString   ds;
    const char  *section;
    Shared       shared;

    Ns_DStringInit(&ds);
    section = Ns_DStringVarAppend(&ds, serverPtr->path, "/tcl", NULL);
    tclPtr->serverPtr = serverPtr;
    NsParametersFill(sharedRows, "ns/parameters", &shared);
    NsBlueprintSetMaxUpdates(shared.maxUpdates);
    NsTclCacheConfigure();
    NsFailureConfigure();
    NsParametersFill(rows, section, tclPtr);
    tclPtr->library = HomePath(tclPtr->library);
    if (Ns_ConfigGetValue(section, "library") != NULL
        && access(tclPtr->library, R_OK | X_OK) != 0) {
        Ns_Log(Warning,
               "tcl[%s]: no procedures of its own: %s: %s; see library in "
               "section %s",
               serverPtr->name, tclPtr->library, strerror(errno), section);
    }
    tclPtr->initFile = ShippedPath(tclPtr->initFile);
    tclPtr->sharedLibrary = SharedLibrary();
    tclPtr->isInitLocked = shared.isInitLocked;
    tclPtr->rejectsClosed = shared.rejectsClosed;
    SplitHeaders(tclPtr);
    Ns_DStringInit(&tclPtr->modules);
    Tcl_InitHashTable(&tclPtr->runOnce, TCL_STRING_KEYS);
    NsMutexSetup(&tclPtr->lock, NS_RANK_TCL_BLUEPRINT, "nsd:blueprint",
                 serverPtr->name);
    Ns_DStringFree(&ds);

    serverPtr->tclPtr = tclPtr;
    AddOwnTraces(serverPtr->name);
    (void) NsHttpSettingsGet(serverPtr);
}

void
NsTclServerBoot(NsServer *serverPtr)
{
    NsTclServer *tclPtr = serverPtr->tclPtr;
    NsInterp    *itPtr = NsInterpCreate(serverPtr);
    Tcl_Interp  *interp;

    if (itPtr == NULL) {
        Ns_Fatal("tcl[%s]: cannot create the interpreter of the start",
                 serverPtr->name);
    }
    tclPtr->bootPtr = itPtr;
    interp = Ns_TclAllocateInterp(serverPtr->name);
    NsOriginsNote(interp);
    if (Tcl_EvalFile(interp, tclPtr->initFile) != TCL_OK) {
        (void) Ns_TclLogErrorInfo(interp, NULL);
        Ns_Fatal("tcl[%s]: init file '%s' failed", serverPtr->name,
                 tclPtr->initFile);
    }
    tclPtr->bootPtr = NULL;
    Ns_TclMarkForDelete(interp);
    Ns_TclDeAllocateInterp(interp);
}

/*
 * The Tcl library of all servers.
 */
static const char *
SharedLibrary(void)
{
    static const char *library = NULL;

    if (library == NULL) {
        Shared shared;

        NsParametersFill(sharedRows, "ns/parameters", &shared);
        library = ShippedPath(shared.library);
    }
    return library;
}

char *
Ns_TclLibrary(const char *server)
{
    NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);

    return serverPtr == NULL ? (char *) SharedLibrary()
                             : (char *) serverPtr->tclPtr->library;
}

int
Ns_TclInitModule(const char *server, const char *module)
{
    NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);

    if (serverPtr == NULL || serverPtr != NsServerInitializing()
        || serverPtr->tclPtr->bootPtr == NULL) {
        return NS_ERROR;
    }
    NsBlueprintAddModule(serverPtr->tclPtr, module);
    return NS_OK;
}

void
NsBlueprintAddModule(NsTclServer *tclPtr, const char *module)
{
    const char **names;
    int          nNames;
    bool         isKnown = false;

    (void) Tcl_SplitList(NULL, tclPtr->modules.string, &nNames, &names);
    for (int i = 0; i < nNames; i++) {
        isKnown |= STREQ(names[i], module);
    }
    Tcl_Free((char *) names);
    if (!isKnown) {
        Ns_DStringAppendElement(&tclPtr->modules, module);
    }
}

int
NsBlueprintApply(NsInterp *itPtr)
{
    NsTclServer *tclPtr = itPtr->serverPtr->tclPtr;
    Tcl_Obj     *scriptPtr;
    int          epoch, result;

    if (likely(NsBlueprintIsApplied(itPtr))) {
        return TCL_OK;
    }
    scriptPtr = TakeScript(tclPtr, &epoch);
    Tcl_IncrRefCount(scriptPtr);
    BeginUpdate();
    result = Tcl_EvalObjEx(itPtr->interp, scriptPtr,
                           TCL_EVAL_GLOBAL | TCL_EVAL_DIRECT);
    EndUpdate();
    Tcl_DecrRefCount(scriptPtr);
    itPtr->isComplete = result == TCL_OK;
    if (itPtr->isComplete) {
        itPtr->epoch = epoch;
    }
    return result;
}

/*
 * The script, as a new object, and its epoch.
 */
static Tcl_Obj *
TakeScript(NsTclServer *tclPtr, int *epochPtr)
{
    NsStateText *textPtr;
    Tcl_Obj     *scriptPtr;

    Ns_MutexLock(&tclPtr->lock);
    *epochPtr = atomic_load(&tclPtr->epoch);
    textPtr = tclPtr->textPtr == NULL ? NULL : NsStateTextRef(tclPtr->textPtr);
    Ns_MutexUnlock(&tclPtr->lock);
    if (textPtr == NULL) {
        return Tcl_NewObj();
    }
    scriptPtr = NsStateTextObj(textPtr);
    NsStateTextUnref(textPtr);
    return scriptPtr;
}

/*
 * An update that begins inside another one of the thread has its turn already.
 */
static void
BeginUpdate(void)
{
    if (updateDepth++ > 0) {
        return;
    }
    Ns_MutexLock(&updates.lock);
    while (updates.n >= updates.max) {
        Ns_CondWait(&updates.ended, &updates.lock);
    }
    updates.n++;
    Ns_MutexUnlock(&updates.lock);
}

static void
EndUpdate(void)
{
    if (--updateDepth > 0) {
        return;
    }
    Ns_MutexLock(&updates.lock);
    NsAssert(updates.n > 0);
    updates.n--;
    Ns_CondBroadcast(&updates.ended);
    Ns_MutexUnlock(&updates.lock);
}

int
NsBlueprintMaxUpdates(void)
{
    int max;

    Ns_MutexLock(&updates.lock);
    max = updates.max;
    Ns_MutexUnlock(&updates.lock);
    return max;
}

void
NsBlueprintSetMaxUpdates(int max)
{
    Ns_MutexLock(&updates.lock);
    updates.max = max;
    Ns_CondBroadcast(&updates.ended);
    Ns_MutexUnlock(&updates.lock);
}

int
NsBlueprintSave(NsTclServer *tclPtr, const char *script, size_t length,
                const char *circumstances, Ns_DString *errorPtr)
{
    NsStateText *textPtr = NULL, *oldPtr;
    Ns_DString   all;

    Ns_DStringInit(&all);
    if (circumstances != NULL
        && NsTraceAppendProcs(&all, tclPtr->serverPtr, NS_TCL_TRACE_CREATE)) {
        Ns_DStringAppendElement(&all, circumstances);
        circumstances = Ns_DStringValue(&all);
        textPtr = NsStateTextFind(script, length, circumstances);
    } else {
        circumstances = NULL;
    }
    if (textPtr == NULL && Try(tclPtr, script, length, errorPtr) == TCL_OK) {
        textPtr = NsStateTextCreate(script, length, circumstances);
    }
    Ns_DStringFree(&all);
    if (textPtr == NULL) {
        return TCL_ERROR;
    }
    Ns_MutexLock(&tclPtr->lock);
    oldPtr = tclPtr->textPtr;
    tclPtr->textPtr = textPtr;
    atomic_fetch_add(&tclPtr->epoch, 1);
    Ns_MutexUnlock(&tclPtr->lock);
    if (oldPtr != NULL) {
        NsStateTextUnref(oldPtr);
    }
    return TCL_OK;
}

void
NsBlueprintNote(NsTclServer *tclPtr, const char *sum, size_t nBytes)
{
    NsStateText *textPtr;

    Ns_MutexLock(&tclPtr->lock);
    textPtr = NsStateTextRef(tclPtr->textPtr);
    Ns_MutexUnlock(&tclPtr->lock);
    NsStateTextNote(textPtr, sum, nBytes);
    NsStateTextUnref(textPtr);
}

/*
 * A script that fails would leave the server without a thread that can serve.
 */
static int
Try(NsTclServer *tclPtr, const char *script, size_t length,
    Ns_DString *errorPtr)
{
    NsInterp *itPtr = NsInterpCreate(tclPtr->serverPtr);
    int       result;

    if (itPtr == NULL) {
        Ns_DStringAppend(errorPtr, "no interpreter to try the script in");
        return TCL_ERROR;
    }
    itPtr->nUses = 1;
    itPtr->isDoomed = true;
    result = Tcl_EvalEx(itPtr->interp, script, (int) length, TCL_EVAL_GLOBAL);
    if (result != TCL_OK) {
        Ns_DStringAppend(errorPtr, Tcl_GetStringResult(itPtr->interp));
        (void) Ns_TclLogErrorInfo(itPtr->interp,
                                  "\n(context: script of new interpreters)");
    }
    Ns_TclDestroyInterp(itPtr->interp);
    return result;
}

Tcl_Obj *
NsBlueprintScript(NsTclServer *tclPtr)
{
    int epoch;

    return TakeScript(tclPtr, &epoch);
}

/*
 * These do what ns_init and ns_cleanup do, so listings name the commands.
 */
static void
AddOwnTraces(const char *server)
{
    static char update[] = "ns_init", cleanup[] = "ns_cleanup";

    Ns_RegisterProcInfo((void *) UpdateTrace, "ns:tcltrace", Ns_StringArgProc);
    Ns_RegisterProcInfo((void *) CleanupTrace, "ns:tcltrace", Ns_StringArgProc);
    (void) Ns_TclRegisterTrace(server, UpdateTrace, update,
                               NS_TCL_TRACE_ALLOCATE);
    (void) Ns_TclRegisterTrace(server, CleanupTrace, cleanup,
                               NS_TCL_TRACE_DEALLOCATE);
}

/*
 * The first allocate trace, and, the order being reversed, the last of those
 * that run when an interpreter is released.
 */
static int
UpdateTrace(Tcl_Interp *interp, void *arg)
{
    return NsBlueprintApply(NsInterpOf(interp));
}

static int
CleanupTrace(Tcl_Interp *interp, void *arg)
{
    NsInterpCleanup(NsInterpOf(interp));
    return TCL_OK;
}

/*
 * A path, relative ones below the home directory; never freed.
 */
static const char *
HomePath(const char *path)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    if (Ns_PathIsAbsolute(path)) {
        (void) Ns_NormalizePath(&ds, path);
    } else {
        (void) Ns_HomePath(&ds, path, NULL);
    }
    return Ns_DStringExport(&ds);
}

static const char *
ShippedPath(const char *path)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsPathsShipped(&ds, path);
    return Ns_DStringExport(&ds);
}

static void
SplitHeaders(NsTclServer *tclPtr)
{
    if (tclPtr->errorLogHeaderList != NULL) {
        (void) Tcl_SplitList(NULL, tclPtr->errorLogHeaderList,
                             &tclPtr->nErrorLogHeaders,
                             &tclPtr->errorLogHeaders);
    }
}
