/*
 * interp.c --
 *
 *      Interpreters: how they are made, used, bound to a request, and ended.
 *
 *      A thread keeps its interpreters in a list, at most one per server.  What
 *      is nested in one use shares the interpreter; the traces of allocation
 *      run around the outermost use.
 */

#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/lazy.h"
#include "tcl/atclose.h"
#include "tcl/blueprint.h"
#include "tcl/child.h"
#include "tcl/tclserver.h"
#include "tcl/init.h"
#include "tcl/set.h"
#include "tcl/stack.h"
#include "tcl/trace.h"

#define ASSOC_KEY "ns:interp"
#define MAX_TABLES 64

/*
 * A one-shot call of Ns_TclRegisterDeferred.
 */
typedef struct NsDeferred {
    struct NsDeferred *nextPtr;
    Ns_TclDeferProc   *proc;
    void              *arg;
} NsDeferred;

/*
 * Tcl's own start script, and where it was found.
 */
static struct {
    char *library;              /* Constant once script is there. */
    char *script;               /* Published last. */
} start;

static const NsTclCommand *tables[MAX_TABLES];  /* Constant after NsTclInit. */
static int                 nTables;
static Ns_Tls              tls;                 /* A thread's first NsInterp. */
static Ns_Tls              finalTls;            /* Set: finish Tcl then. */
static Ns_Cs               initLock;            /* Parameter tclinitlock. */

/*
 * What the thread asked for last.  Nearly all threads have one interpreter.
 */
static _Thread_local NsInterp *latestPtr;

static Tcl_InterpDeleteProc FreeInterp;
static Ns_TlsCleanup        DeleteThreadInterps;
static Ns_TlsCleanup        FinishThread;

static Tcl_Interp *NewTclInterp(void);
static int Initialize(Tcl_Interp *interp);
static int KeepStart(Tcl_Interp *interp);
static NsInterp *AddParts(Tcl_Interp *interp, NsServer *serverPtr);
static void AddCommands(NsInterp *itPtr);
static NsInterp *Allocate(NsServer *serverPtr);
static NsInterp *ThreadInterp(NsServer *serverPtr);
static void Unlist(NsInterp *itPtr);
static void Delete(NsInterp *itPtr);
static void BindToConn(NsInterp *itPtr, NsConn *connPtr);
static const char *NameOf(const void *row);


void
NsInterpInit(void)
{
    Ns_TlsAlloc(&tls, DeleteThreadInterps);
    Ns_TlsAlloc(&finalTls, FinishThread);
    Ns_CsInit(&initLock);
}

void
NsTclAddCommands(const NsTclCommand *commands)
{
    if (nTables == MAX_TABLES) {
        Ns_Fatal("tcl: too many families of commands");
    }
    tables[nTables++] = commands;
}

NsInterp *
NsInterpOf(Tcl_Interp *interp)
{
    if (unlikely(latestPtr == NULL || latestPtr->interp != interp)) {
        NsInterp *itPtr = interp == NULL ? NULL
            : Tcl_GetAssocData(interp, ASSOC_KEY, NULL);

        if (itPtr == NULL) {
            return NULL;
        }
        latestPtr = itPtr;
    }
    return latestPtr;
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
        Ns_Log(Error, "tcl: %s", Tcl_GetStringResult(interp));
        Tcl_DeleteInterp(interp);
        interp = NULL;
    }
    return interp;
}

/*
 * What Tcl_Init does.  Only the first interpreter looks for Tcl's start script
 * and reads it: the others need no descriptor, which may be short when a thread
 * is wanted most.
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
 * Published with the script, the library is there when that is.
 */
static int
KeepStart(Tcl_Interp *interp)
{
    static const char read[] =
        "apply {{} {\n"
        "    set channel [open [file join $::tcl_library init.tcl]]\n"
        "    set script [read $channel]\n"
        "    close $channel\n"
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
    Tcl_SetAssocData(interp, ASSOC_KEY, FreeInterp, itPtr);
    return itPtr;
}

static void
AddCommands(NsInterp *itPtr)
{
    for (int i = 0; i < nTables; i++) {
        for (const NsTclCommand *cmdPtr = tables[i]; cmdPtr->name != NULL;
             cmdPtr++) {
            if (cmdPtr->isBasic || itPtr->serverPtr != NULL) {
                Tcl_CreateObjCommand(itPtr->interp, cmdPtr->name, cmdPtr->proc,
                                     itPtr, NULL);
            }
        }
    }
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

    if (latestPtr == itPtr) {
        latestPtr = NULL;
    }
    NsTclSetFree(itPtr);
    NsInterpCleanupFree(itPtr);
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
        NsStackWatch(itPtr->interp);
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
    if (likely(latestPtr != NULL && latestPtr->serverPtr == serverPtr
               && NsBlueprintIsApplied(latestPtr))) {
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

char *
Ns_TclInterpServer(Tcl_Interp *interp)
{
    NsInterp *itPtr = NsInterpOf(interp);

    return itPtr == NULL || itPtr->serverPtr == NULL
        ? NULL : (char *) itPtr->serverPtr->name;
}

char *
Ns_TclLibrary(const char *server)
{
    NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);

    return serverPtr == NULL ? (char *) NsTclSharedLibrary()
        : (char *) serverPtr->tclPtr->library;
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

Ns_Conn *
Ns_TclGetConn(Tcl_Interp *interp)
{
    NsInterp *itPtr = NsInterpOf(interp);

    return itPtr == NULL || itPtr->connPtr == NULL ? NULL
        : &itPtr->connPtr->pub;
}

void
NsInterpConnClosed(NsConn *connPtr)
{
    if (connPtr->interp != NULL) {
        NsAtCloseRun(NsInterpOf(connPtr->interp));
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
    NsAtCloseRun(itPtr);
    NsTraceRun(itPtr, NS_TCL_TRACE_FREECONN);
    NsStackLeave();
    itPtr->connPtr = NULL;
    connPtr->interp = NULL;
    Ns_TclDeAllocateInterp(itPtr->interp);
}

static void
BindToConn(NsInterp *itPtr, NsConn *connPtr)
{
    itPtr->connPtr = connPtr;
    NsStackEnter(connPtr, itPtr->interp);
    NsTraceRun(itPtr, NS_TCL_TRACE_GETCONN);
}

/*
 * --------------------------------------------------------- Deferred calls
 */

void
Ns_TclRegisterDeferred(Tcl_Interp *interp, Ns_TclDeferProc *proc, void *arg)
{
    NsInterp    *itPtr = NsInterpOf(interp);
    NsDeferred  *deferredPtr;
    NsDeferred **linkPtr;

    if (itPtr == NULL) {
        return;
    }
    deferredPtr = ns_malloc(sizeof(*deferredPtr));
    *deferredPtr = (NsDeferred) {.proc = proc, .arg = arg};
    linkPtr = &itPtr->deferredPtr;
    while (*linkPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = deferredPtr;
}

void
NsInterpRunDeferred(NsInterp *itPtr)
{
    NsDeferred *deferredPtr;

    while ((deferredPtr = itPtr->deferredPtr) != NULL) {
        itPtr->deferredPtr = deferredPtr->nextPtr;
        (*deferredPtr->proc)(itPtr->interp, deferredPtr->arg);
        ns_free(deferredPtr);
    }
}

/*
 * ---------------------------------------------------------------- Results
 */

void
Ns_TclPrintfResult(Tcl_Interp *interp, const char *fmt, ...)
{
    Ns_DString ds;
    va_list    ap;

    if (interp == NULL) {
        return;
    }
    Ns_DStringInit(&ds);
    va_start(ap, fmt);
    Ns_DStringVPrintf(&ds, fmt, ap);
    va_end(ap);
    Tcl_DStringResult(interp, &ds);
}

/*
 * Whole names first: Tcl keeps in the word which row it was.
 */
const void *
NsTclFindRow(Tcl_Interp *interp, Tcl_Obj *wordObj, const void *table,
             size_t rowBytes, const char *noun)
{
    const char *row = table;
    int         i;

    if (Tcl_GetIndexFromObjStruct(NULL, wordObj, table, (int) rowBytes, noun,
                                  TCL_EXACT, &i) == TCL_OK) {
        return row + (size_t) i * rowBytes;
    }
    while (NameOf(row) != NULL) {
        row += rowBytes;
    }
    for (row += rowBytes; NameOf(row) != NULL; row += rowBytes) {
        if (STREQ(NameOf(row), Tcl_GetString(wordObj))) {
            return row;
        }
    }
    return Tcl_GetIndexFromObjStruct(interp, wordObj, table, (int) rowBytes,
                                     noun, 0, &i) == TCL_OK
        ? (const char *) table + (size_t) i * rowBytes : NULL;
}

static const char *
NameOf(const void *row)
{
    return *(const char *const *) row;
}

bool
NsTclNoMoreWords(Tcl_Interp *interp, int nNames, int objc, Tcl_Obj *const *objv)
{
    if (objc != nNames) {
        Tcl_WrongNumArgs(interp, nNames, objv, NULL);
    }
    return objc == nNames;
}

int
NsTclAppendedResult(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                    void (*proc)(Ns_DString *dsPtr))
{
    Ns_DString ds;

    if (!NsTclNoMoreWords(interp, 2, objc, objv)) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    (*proc)(&ds);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}
