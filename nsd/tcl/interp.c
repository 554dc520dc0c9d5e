/* SPDX-License-Identifier: MPL-2.0
 * interp.c --
 *
 *      Interpreters: how they are made, used, bound to a request, and ended.
 *
 *      A thread keeps its interpreters in a list, at most one per server.  What
 *      is nested in one use shares the interpreter; the traces of allocation
 *      run around the outermost use.
 */

#include "tcl/interp.h"

#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/lazy.h"
#include "base/lock.h"
#include "dispatch/pool_stats.h"
#include "tcl/blueprint.h"
#include "tcl/callback.h"
#include "tcl/child.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/failure.h"
#include "tcl/globals.h"
#include "tcl/set.h"
#include "tcl/stack.h"
#include "tcl/tclserver.h"
#include "tcl/trace.h"

/*
 * Tcl's own start script, and where it was found.
 */
static struct {
    char *library; /* Constant once script is there. */
    char *script;  /* Published last. */
} start;

static Ns_Tls tls;      /* A thread's first NsInterp. */
static Ns_Tls finalTls; /* Set: finish Tcl then. */
static Ns_Cs  initLock; /* Parameter tclinitlock. */

static NsInterpCommandsProc *commandsProc; /* Constant after the start. */

static Tcl_InterpDeleteProc FreeInterp;
static Ns_TlsCleanup        DeleteThreadInterps;
static Ns_TlsCleanup        FinishThread;

static Tcl_Interp *NewTclInterp(void);
static int         Initialize(Tcl_Interp *interp);
static int         KeepStart(Tcl_Interp *interp);
static NsInterp   *AddParts(Tcl_Interp *interp, NsServer *serverPtr);
static void        AddCommands(NsInterp *itPtr);
static NsInterp   *Allocate(NsServer *serverPtr);
static NsInterp   *ThreadInterp(NsServer *serverPtr);
static void        Unlist(NsInterp *itPtr);
static void        Delete(NsInterp *itPtr);
static void        BindToConn(NsInterp *itPtr, NsConn *connPtr);

void
NsInterpInit(void)
{
    Ns_TlsAlloc(&tls, DeleteThreadInterps);
    Ns_TlsAlloc(&finalTls, FinishThread);
    NsCsSetup(&initLock, NS_RANK_TCL_INIT, "nsd:tclinit", NULL);
}

/*
 * ------------------------------------------------------------- Basic ones
 */

Tcl_Interp *
NS_TclCreateInterp(void)
{
    return NewTclInterp();
}

Tcl_Interp *
Ns_TclCreateInterp(void)
{
    Tcl_Interp *interp = NewTclInterp();

    if (interp != NULL) {
        (void) Ns_TclInit(interp);
    }
    return interp;
}

int
Ns_TclInit(Tcl_Interp *interp)
{
    if (NsInterpOf(interp) == NULL) {
        AddCommands(AddParts(interp, NULL));
    }
    return TCL_OK;
}

void
Ns_TclDestroyInterp(Tcl_Interp *interp)
{
    NsInterp *itPtr = NsInterpOf(interp);

    if (itPtr == NULL || itPtr->serverPtr == NULL) {
        Tcl_DeleteInterp(interp);
    } else {
        Unlist(itPtr);
        Delete(itPtr);
    }
}

/*
 * NULL: it could not be completed.
 */
static Tcl_Interp *
NewTclInterp(void)
{
    Tcl_Interp *interp = Tcl_CreateInterp();

    Tcl_InitMemory(interp);
    if (Initialize(interp) != TCL_OK) {
        Ns_Log(Error, "tcl: cannot create an interpreter: %s",
               Tcl_GetStringResult(interp));
        Tcl_DeleteInterp(interp);
        interp = NULL;
    }
    return interp;
}

/*
 * Does what Tcl_Init does.  Only the first interpreter looks for Tcl's start
 * script and reads it: the others need no descriptor, which may be short when
 * a thread is wanted most.
 */
static int
Initialize(Tcl_Interp *interp)
{
    const char *script = NsLazyPeek(&start.script);

    if (script == NULL) {
        return Tcl_Init(interp) != TCL_OK ? TCL_ERROR : KeepStart(interp);
    }
    (void) Tcl_SetVar(interp, "tcl_library", start.library, TCL_GLOBAL_ONLY);
    (void) Tcl_UnsetVar(interp, "tclDefaultLibrary", TCL_GLOBAL_ONLY);
    return Tcl_EvalEx(interp, script, -1, TCL_EVAL_GLOBAL);
}

/*
 * With what the blueprint uses of what Tcl loads when it is first called: its
 * search for modules.  Where modules can be is the same for all interpreters,
 * and looking for it took most of the time of a new one; so the commands that
 * do are replaced by what they found.
 *
 * Published with the script, the library is there when that is.
 */
static int
KeepStart(Tcl_Interp *interp)
{
    static const char read[] =
        "apply {{} {\n"
        "    foreach file {init.tcl tm.tcl} {\n"
        "        set channel [open [file join $::tcl_library $file]]\n"
        "        append script [read $channel] \\n\n"
        "        close $channel\n"
        "    }\n"
        "    set paths [::tcl::tm::path list]\n"
        "    set looking {^if \\{!\\[interp issafe\\]\\}"
        " \\{ *::tcl::tm::(Defaults|roots [^\\n]*)\\}$}\n"
        "    if {[regsub -all -line -- $looking $script {} script] > 0} {\n"
        "        append script [list set ::tcl::tm::paths $paths] \\n\n"
        "    }\n"
        "    return $script\n"
        "}}";

    if (Tcl_EvalEx(interp, read, -1, TCL_EVAL_GLOBAL) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_MasterLock();
    if (start.library == NULL) {
        start.library = ns_strdup(Tcl_GetVar(interp, "tcl_library",
                                             TCL_GLOBAL_ONLY));
        NsLazySet(&start.script, ns_strdup(Tcl_GetStringResult(interp)));
    }
    Ns_MasterUnlock();
    Tcl_ResetResult(interp);
    return TCL_OK;
}

static NsInterp *
AddParts(Tcl_Interp *interp, NsServer *serverPtr)
{
    NsInterp *itPtr = ns_calloc(1, sizeof(NsInterp));

    itPtr->interp = interp;
    itPtr->serverPtr = serverPtr;
    NsTclSetInit(itPtr);
    NsCurrentBind(itPtr, FreeInterp);
    return itPtr;
}

static void
AddCommands(NsInterp *itPtr)
{
    NsTclCreateCommands(itPtr);
    if (itPtr->serverPtr != NULL) {
        NsChildInheritExit(itPtr->interp);
    }
}

/*
 * When Tcl deletes the interpreter.
 */
static void
FreeInterp(ClientData clientData, Tcl_Interp *interp)
{
    NsInterp *itPtr = clientData;

    NsCurrentForget(itPtr);
    NsTclSetFree(itPtr);
    NsGlobalsFree(itPtr);
    for (int i = 0; i < NS_SCRIPT_SLOTS; i++) {
        if (itPtr->scripts[i].scriptPtr != NULL) {
            Tcl_DecrRefCount(itPtr->scripts[i].scriptPtr);
        }
    }
    ns_free(itPtr);
}

/*
 * ------------------------------------------------------ Those of a server
 */

void
NsInterpSetCommandsProc(NsInterpCommandsProc *proc)
{
    NsAssert(proc != NULL && commandsProc == NULL);
    commandsProc = proc;
}

NsInterp *
NsInterpCreate(NsServer *serverPtr)
{
    NsInterp   *itPtr = NULL;
    Tcl_Interp *interp;
    bool        isLocked = serverPtr->tclPtr->isInitLocked;

    if (isLocked) {
        Ns_CsEnter(&initLock);
    }
    interp = NewTclInterp();
    Ns_TlsSet(&finalTls, &finalTls);
    if (interp != NULL) {
        itPtr = AddParts(interp, serverPtr);
        AddCommands(itPtr);
        commandsProc(itPtr->interp);
        itPtr->nextPtr = Ns_TlsGet(&tls);
        Ns_TlsSet(&tls, itPtr);
        NsTraceRun(itPtr, NS_TCL_TRACE_CREATE);
    }
    if (isLocked) {
        Ns_CsLeave(&initLock);
    }
    return itPtr;
}

Tcl_Interp *
Ns_TclAllocateInterp(const char *server)
{
    NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);
    NsInterp *itPtr;

    if (serverPtr == NULL || serverPtr->tclPtr == NULL) {
        return NULL;
    }
    itPtr = Allocate(serverPtr);
    return itPtr == NULL ? NULL : itPtr->interp;
}

/*
 * NULL: a new one that could not be completed.
 */
static NsInterp *
Allocate(NsServer *serverPtr)
{
    NsInterp *itPtr = ThreadInterp(serverPtr);

    if (itPtr != NULL && itPtr->nUses++ == 0) {
        bool wasComplete = itPtr->isComplete;

        NsTraceRun(itPtr, NS_TCL_TRACE_ALLOCATE);
        if (!itPtr->isComplete && !wasComplete) {
            itPtr->nUses = 0;
            Ns_TclDestroyInterp(itPtr->interp);
            itPtr = NULL;
        }
    }
    return itPtr;
}

void
Ns_TclDeAllocateInterp(Tcl_Interp *interp)
{
    NsInterp *itPtr = NsInterpOf(interp);

    if (itPtr == NULL || itPtr->serverPtr == NULL) {
        Ns_TclDestroyInterp(interp);
        return;
    }
    NsAssert(itPtr->nUses > 0);
    if (itPtr->nUses > 1) {
        itPtr->nUses--;
        return;
    }
    NsTraceRun(itPtr, NS_TCL_TRACE_DEALLOCATE);
    itPtr->nUses = 0;
    if (itPtr->isDoomed) {
        Ns_TclDestroyInterp(interp);
    }
}

Ns_ReturnCode
NsInterpPrepare(NsServer *serverPtr)
{
    NsInterp     *itPtr = Allocate(serverPtr);
    Ns_ReturnCode result = NS_ERROR;

    if (itPtr != NULL) {
        result = itPtr->isComplete ? NS_OK : NS_ERROR;
        Ns_TclDeAllocateInterp(itPtr->interp);
    }
    return result;
}

Ns_ReturnCode
NsInterpCheck(NsServer *serverPtr)
{
    const NsInterp *itPtr = nsCurrentPtr;

    if (likely(itPtr != NULL && itPtr->serverPtr == serverPtr
               && NsBlueprintIsApplied(itPtr))) {
        return NS_OK;
    }
    return NsInterpPrepare(serverPtr);
}

void
Ns_TclMarkForDelete(Tcl_Interp *interp)
{
    NsInterp *itPtr = NsInterpOf(interp);

    if (itPtr != NULL) {
        itPtr->isDoomed = true;
    }
}

int
Ns_TclEval(Ns_DString *dsPtr, const char *server, const char *script)
{
    Tcl_Interp *interp = Ns_TclAllocateInterp(server);
    const char *result;
    int         status = NS_OK;

    if (interp == NULL) {
        return NS_ERROR;
    }
    if (Tcl_EvalEx(interp, script, -1, 0) == TCL_OK) {
        result = Tcl_GetStringResult(interp);
    } else {
        result = Ns_TclLogErrorInfo(interp, NULL);
        status = NS_ERROR;
    }
    if (dsPtr != NULL) {
        Ns_DStringAppend(dsPtr, result);
    }
    Ns_TclDeAllocateInterp(interp);
    return status;
}

int
Ns_TclEvalCallback(Tcl_Interp *interp, Ns_TclCallback *callbackPtr,
                   Ns_DString *resultPtr, ...)
{
    Tcl_Interp *ownInterp = NULL;
    va_list     ap, peek;
    int         result;

    if (interp == NULL) {
        interp = ownInterp = Ns_TclAllocateInterp(callbackPtr->server);
        if (interp == NULL) {
            return TCL_ERROR;
        }
    }
    va_start(ap, resultPtr);
    va_copy(peek, ap);
    result = va_arg(peek, const char *) == NULL
        ? NsCallbackEval(interp, callbackPtr)
        : NsCallbackEvalWith(interp, callbackPtr, ap);
    va_end(peek);
    va_end(ap);
    if (result == TCL_OK && resultPtr != NULL) {
        Ns_DStringAppend(resultPtr, Tcl_GetStringResult(interp));
    }
    if (ownInterp != NULL) {
        if (result != TCL_OK) {
            (void) Ns_TclLogErrorInfo(interp, NULL);
        }
        Ns_TclDeAllocateInterp(ownInterp);
    }
    return result;
}

void
Ns_TclCallbackProc(void *arg)
{
    (void) Ns_TclEvalCallback(NULL, arg, NULL, (char *) NULL);
}

/*
 * The thread's interpreter for the server, made when there is none.
 */
static NsInterp *
ThreadInterp(NsServer *serverPtr)
{
    NsInterp *itPtr;

    for (itPtr = Ns_TlsGet(&tls); itPtr != NULL; itPtr = itPtr->nextPtr) {
        if (itPtr->serverPtr == serverPtr) {
            return itPtr;
        }
    }
    return NsInterpCreate(serverPtr);
}

static void
Unlist(NsInterp *itPtr)
{
    NsInterp *firstPtr = Ns_TlsGet(&tls);

    if (firstPtr == itPtr) {
        Ns_TlsSet(&tls, itPtr->nextPtr);
        return;
    }
    for (; firstPtr != NULL; firstPtr = firstPtr->nextPtr) {
        if (firstPtr->nextPtr == itPtr) {
            firstPtr->nextPtr = itPtr->nextPtr;
            return;
        }
    }
}

static void
Delete(NsInterp *itPtr)
{
    NsTraceRun(itPtr, NS_TCL_TRACE_DELETE);
    NsInterpRunDeferred(itPtr);
    Tcl_DeleteInterp(itPtr->interp);
}

/*
 * The thread ends.  A delete trace may need the thread's list.
 */
static void
DeleteThreadInterps(void *arg)
{
    NsInterp *itPtr = arg, *nextPtr;

    while (itPtr != NULL) {
        nextPtr = itPtr->nextPtr;
        Delete(itPtr);
        itPtr = nextPtr;
    }
}

/*
 * Else the 280 KB stay that Tcl keeps for a thread that has had an interpreter.
 * Not in the first round of cleaning up: in that, others may need Tcl.
 */
static void
FinishThread(void *arg)
{
    if (arg == &finalTls) {
        Ns_TlsSet(&finalTls, &tls);
        return;
    }
    Tcl_FinalizeThread();
}

/*
 * --------------------------------------------------------------- Requests
 */

Tcl_Interp *
Ns_GetConnInterp(Ns_Conn *conn)
{
    NsConn *connPtr = NsConnOf(conn);

    if (connPtr->interp == NULL) {
        NsInterp *itPtr = Allocate(connPtr->serverPtr);

        connPtr->interp = itPtr->interp;
        BindToConn(itPtr, connPtr);
    }
    return connPtr->interp;
}

void
Ns_FreeConnInterp(Ns_Conn *conn)
{
    /* The end of the request does it. */
}

void
NsInterpConnClosed(NsConn *connPtr)
{
    if (connPtr->interp != NULL) {
        NsStackSettle(connPtr->interp);
        NsInterpCleanupClose(NsInterpOf(connPtr->interp));
    }
}

void
NsInterpConnEnded(NsConn *connPtr)
{
    NsInterp *itPtr;

    if (connPtr->interp == NULL) {
        return;
    }
    itPtr = NsInterpOf(connPtr->interp);
    NsInterpCleanupClose(itPtr);
    NsTraceRun(itPtr, NS_TCL_TRACE_FREECONN);
    NsInterpCleanupEnd(itPtr);
    NsStackLeave();
    NsFailureForget(itPtr);
    itPtr->connPtr = NULL;
    connPtr->interp = NULL;
    if (NsPoolWaiting(connPtr->work.poolPtr) == 0) {
        NsTraceRun(itPtr, NS_TCL_TRACE_IDLE);
    }
    Ns_TclDeAllocateInterp(itPtr->interp);
}

static void
BindToConn(NsInterp *itPtr, NsConn *connPtr)
{
    itPtr->connPtr = connPtr;
    NsStackEnter(connPtr, itPtr->interp);
    NsTraceRun(itPtr, NS_TCL_TRACE_GETCONN);
}
