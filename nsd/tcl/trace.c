/*
 * trace.c --
 *
 *      Traces of interpreters.
 */

#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"
#include "process/info.h"
#include "tcl/tclserver.h"
#include "tcl/trace.h"

#define FORWARD (NS_TCL_TRACE_CREATE | NS_TCL_TRACE_ALLOCATE \
                 | NS_TCL_TRACE_GETCONN)

/*
 * Constant once it can be seen in the list.
 */
struct NsTclTrace {
    _Atomic(struct NsTclTrace *) nextPtr;   /* Set when the next one comes. */
    struct NsTclTrace           *prevPtr;
    Ns_TclTraceProc             *proc;
    void                        *arg;
    int                          when;
};

static Ns_TclTraceProc RunScript;

static int  Register(const char *server, Ns_TclTraceProc *proc, void *arg,
                     int when);
static int  RegisterInitializing(Ns_TclTraceProc *proc, void *arg, int when);
static void RunNow(NsTclServer *tclPtr, const struct NsTclTrace *tracePtr);
static int  Run(NsInterp *itPtr, const struct NsTclTrace *tracePtr);


void
NsTraceInit(void)
{
    Ns_RegisterProcInfo((void *) RunScript, "ns:tcltrace",
                        Ns_TclCallbackArgProc);
}

int
Ns_TclRegisterTrace(const char *server, Ns_TclTraceProc *proc, void *arg,
                    int when)
{
    return Register(server, proc, arg, when);
}

int
Ns_TclInitInterps(const char *server, Ns_TclInterpInitProc *proc, void *arg)
{
    return Register(server, proc, arg, NS_TCL_TRACE_CREATE);
}

int
Ns_TclRegisterAtCreate(Ns_TclTraceProc *proc, void *arg)
{
    return RegisterInitializing(proc, arg, NS_TCL_TRACE_CREATE);
}

int
Ns_TclRegisterAtCleanup(Ns_TclTraceProc *proc, void *arg)
{
    return RegisterInitializing(proc, arg, NS_TCL_TRACE_DEALLOCATE);
}

int
Ns_TclRegisterAtDelete(Ns_TclTraceProc *proc, void *arg)
{
    return RegisterInitializing(proc, arg, NS_TCL_TRACE_DELETE);
}

int
NsTraceAddScript(NsInterp *itPtr, int when, Tcl_Obj *scriptPtr, int objc,
                 Tcl_Obj *const *objv)
{
    Ns_TclCallback *callbackPtr;

    callbackPtr = Ns_TclNewCallback(itPtr->interp,
                                    (Ns_Callback *) (void (*)(void)) RunScript,
                                    scriptPtr, objc, objv);
    if (Register(itPtr->serverPtr->name, RunScript, callbackPtr, when)
            != NS_OK) {
        Ns_TclFreeCallback(callbackPtr);
        return TCL_ERROR;
    }
    return TCL_OK;
}

void
NsTraceRun(NsInterp *itPtr, int when)
{
    NsTclServer       *tclPtr = itPtr->serverPtr->tclPtr;
    struct NsTclTrace *tracePtr;
    bool               isForward = (when & FORWARD) != 0;

    if ((atomic_load(&tclPtr->traceKinds) & when) == 0) {
        return;
    }
    tracePtr = isForward ? atomic_load(&tclPtr->firstTracePtr)
                         : atomic_load(&tclPtr->lastTracePtr);
    while (tracePtr != NULL) {
        if ((tracePtr->when & when) != 0) {
            (void) Run(itPtr, tracePtr);
        }
        tracePtr = isForward ? atomic_load(&tracePtr->nextPtr)
                             : tracePtr->prevPtr;
    }
}

void
NsTraceDescribe(Ns_DString *dsPtr, NsServer *serverPtr, int when)
{
    NsTclServer       *tclPtr = serverPtr->tclPtr;
    struct NsTclTrace *tracePtr;
    bool               isForward = (when & FORWARD) != 0;

    tracePtr = isForward ? atomic_load(&tclPtr->firstTracePtr)
                         : atomic_load(&tclPtr->lastTracePtr);
    while (tracePtr != NULL) {
        if ((tracePtr->when & when) != 0) {
            Tcl_DStringStartSublist(dsPtr);
            Ns_GetProcInfo(dsPtr, (void *) tracePtr->proc, tracePtr->arg);
            Tcl_DStringEndSublist(dsPtr);
        }
        tracePtr = isForward ? atomic_load(&tracePtr->nextPtr)
                             : tracePtr->prevPtr;
    }
}

static int
Register(const char *server, Ns_TclTraceProc *proc, void *arg, int when)
{
    NsServer          *serverPtr = server == NULL ? NULL : NsServerFind(server);
    NsTclServer       *tclPtr;
    struct NsTclTrace *tracePtr;

    if (serverPtr == NULL || serverPtr->tclPtr == NULL) {
        Ns_Log(Error, "Ns_TclRegisterTrace: no such server: %s",
               server == NULL ? "" : server);
        return NS_ERROR;
    }
    if (NsInfoLife() != NS_LIFE_STARTING) {
        Ns_Log(Error, "can not register Tcl trace, server already started");
        return NS_ERROR;
    }
    tclPtr = serverPtr->tclPtr;
    tracePtr = ns_calloc(1, sizeof(*tracePtr));
    tracePtr->proc = proc;
    tracePtr->arg = arg;
    tracePtr->when = when;

    Ns_MutexLock(&tclPtr->lock);
    tracePtr->prevPtr = atomic_load(&tclPtr->lastTracePtr);
    if (tracePtr->prevPtr == NULL) {
        atomic_store(&tclPtr->firstTracePtr, tracePtr);
    } else {
        atomic_store(&tracePtr->prevPtr->nextPtr, tracePtr);
    }
    atomic_store(&tclPtr->lastTracePtr, tracePtr);
    atomic_fetch_or(&tclPtr->traceKinds, when);
    Ns_MutexUnlock(&tclPtr->lock);
    RunNow(tclPtr, tracePtr);
    return NS_OK;
}

static int
RegisterInitializing(Ns_TclTraceProc *proc, void *arg, int when)
{
    NsServer *serverPtr = NsServerInitializing();

    return Register(serverPtr == NULL ? NULL : serverPtr->name, proc, arg,
                    when);
}

/*
 * The bootstrap interpreter is in use already.
 */
static void
RunNow(NsTclServer *tclPtr, const struct NsTclTrace *tracePtr)
{
    if (NsServerInitializing() == tclPtr->serverPtr
            && tclPtr->bootPtr != NULL
            && (tracePtr->when
                & (NS_TCL_TRACE_CREATE | NS_TCL_TRACE_ALLOCATE)) != 0) {
        (void) Run(tclPtr->bootPtr, tracePtr);
    }
}

static int
Run(NsInterp *itPtr, const struct NsTclTrace *tracePtr)
{
    int result = (*tracePtr->proc)(itPtr->interp, tracePtr->arg);

    if (result != TCL_OK) {
        (void) Ns_TclLogErrorInfo(itPtr->interp, "\n(context: interp trace)");
    }
    return result;
}

static int
RunScript(Tcl_Interp *interp, void *arg)
{
    return Ns_TclEvalCallback(interp, arg, NULL, (char *) NULL);
}
