/* SPDX-License-Identifier: MPL-2.0
 * trace.c --
 *
 *      Traces of interpreters.
 */

#include "tcl/trace.h"

#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/lock.h"
#include "process/info.h"
#include "tcl/callback.h"
#include "tcl/tclserver.h"

#define FORWARD \
    (NS_TCL_TRACE_CREATE | NS_TCL_TRACE_ALLOCATE | NS_TCL_TRACE_GETCONN)

/*
 * One of a kind, in the order of execution.  Constant once it can be seen in
 * the list.
 */
struct NsTclTrace {
    _Atomic(struct NsTclTrace *) nextPtr; /* But for this. */
    Ns_TclTraceProc             *proc;
    void                        *arg;
};

static Ns_TclTraceProc RunScript;

static int  Register(const char *server, Ns_TclTraceProc *proc, void *arg,
                     int when);
static void RegisterAt(NsTclServer *tclPtr, Ns_TclTraceProc *proc, void *arg,
                       int when);
static int  RegisterInitializing(Ns_TclTraceProc *proc, void *arg, int when);
static void AddLocked(NsTclServer *tclPtr, int when, Ns_TclTraceProc *proc,
                      void *arg);
static _Atomic(struct NsTclTrace *) *ListOf(NsTclServer *tclPtr, int when);
static void RunNow(NsTclServer *tclPtr, const struct NsTclTrace *tracePtr,
                   int when);
static int  Run(NsInterp *itPtr, const struct NsTclTrace *tracePtr);

void
NsTraceInit(void)
{
    Ns_RegisterProcInfo((void *) RunScript, "ns:tcltrace",
                        Ns_TclCallbackArgProc);
}

int
Ns_TclRegisterTrace(const char *server, Ns_TclTraceProc *proc, const void *arg,
                    int when)
{
    return Register(server, proc, (void *) arg, when);
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
    const struct NsTclTrace *tracePtr;

    for (tracePtr = atomic_load(ListOf(itPtr->serverPtr->tclPtr, when));
         tracePtr != NULL; tracePtr = atomic_load(&tracePtr->nextPtr)) {
        (void) Run(itPtr, tracePtr);
    }
}

void
NsTraceDescribe(Ns_DString *dsPtr, NsServer *serverPtr, int when)
{
    const struct NsTclTrace *tracePtr;

    for (tracePtr = atomic_load(ListOf(serverPtr->tclPtr, when));
         tracePtr != NULL; tracePtr = atomic_load(&tracePtr->nextPtr)) {
        Tcl_DStringStartSublist(dsPtr);
        Ns_GetProcInfo(dsPtr, (void *) tracePtr->proc, tracePtr->arg);
        Tcl_DStringEndSublist(dsPtr);
    }
}

bool
NsTraceAppendProcs(Ns_DString *dsPtr, NsServer *serverPtr, int when)
{
    const struct NsTclTrace *tracePtr;

    for (tracePtr = atomic_load(ListOf(serverPtr->tclPtr, when));
         tracePtr != NULL; tracePtr = atomic_load(&tracePtr->nextPtr)) {
        if (tracePtr->proc == RunScript) {
            return false;
        }
        Ns_DStringPrintf(dsPtr, "%p ", (void *) tracePtr->proc);
    }
    return true;
}

static int
Register(const char *server, Ns_TclTraceProc *proc, void *arg, int when)
{
    NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);

    if (server != NULL && (serverPtr == NULL || serverPtr->tclPtr == NULL)) {
        Ns_Log(Error, "server: Ns_TclRegisterTrace: no such server: %s",
               server);
        return NS_ERROR;
    }
    if (NsInfoLife() != NS_LIFE_STARTING) {
        Ns_Log(Error,
               "server: Ns_TclRegisterTrace: the server has already started");
        return NS_ERROR;
    }
    for (int i = 0; server == NULL && i < NsServerCount(); i++) {
        if (NsServerAt(i)->tclPtr != NULL) {
            RegisterAt(NsServerAt(i)->tclPtr, proc, arg, when);
        }
    }
    if (serverPtr != NULL) {
        RegisterAt(serverPtr->tclPtr, proc, arg, when);
    }
    return NS_OK;
}

static void
RegisterAt(NsTclServer *tclPtr, Ns_TclTraceProc *proc, void *arg, int when)
{
    Ns_MutexLock(&tclPtr->lock);
    for (int kind = 0; kind < NS_TCL_TRACE_KINDS; kind++) {
        if ((when & 1 << kind) != 0) {
            AddLocked(tclPtr, 1 << kind, proc, arg);
        }
    }
    Ns_MutexUnlock(&tclPtr->lock);
    RunNow(tclPtr, &(struct NsTclTrace){.proc = proc, .arg = arg}, when);
}

static void
AddLocked(NsTclServer *tclPtr, int when, Ns_TclTraceProc *proc, void *arg)
{
    struct NsTclTrace            *tracePtr = ns_calloc(1, sizeof(*tracePtr));
    _Atomic(struct NsTclTrace *) *linkPtr = ListOf(tclPtr, when);

    NsAssertLocked(&tclPtr->lock);

    while ((when & FORWARD) != 0 && atomic_load(linkPtr) != NULL) {
        linkPtr = &atomic_load(linkPtr)->nextPtr;
    }
    tracePtr->proc = proc;
    tracePtr->arg = arg;
    atomic_store(&tracePtr->nextPtr, atomic_load(linkPtr));
    atomic_store(linkPtr, tracePtr);
}

/*
 * The list of a kind, which is a single bit.
 */
static _Atomic(struct NsTclTrace *) *
ListOf(NsTclServer *tclPtr, int when)
{
    return &tclPtr->traces[__builtin_ctz((unsigned) when)];
}

static int
RegisterInitializing(Ns_TclTraceProc *proc, void *arg, int when)
{
    NsServer *serverPtr = NsServerRegistering("Ns_TclRegisterTrace");

    if (serverPtr == NULL) {
        return NS_ERROR;
    }
    return Register(serverPtr->name, proc, arg, when);
}

/*
 * The bootstrap interpreter is in use already.
 */
static void
RunNow(NsTclServer *tclPtr, const struct NsTclTrace *tracePtr, int when)
{
    if (NsServerInitializing() == tclPtr->serverPtr && tclPtr->bootPtr != NULL
        && (when & (NS_TCL_TRACE_CREATE | NS_TCL_TRACE_ALLOCATE)) != 0) {
        (void) Run(tclPtr->bootPtr, tracePtr);
    }
}

static int
Run(NsInterp *itPtr, const struct NsTclTrace *tracePtr)
{
    int result = tracePtr->proc(itPtr->interp, tracePtr->arg);

    if (result != TCL_OK) {
        (void) Ns_TclLogErrorInfo(itPtr->interp, "\n(context: interp trace)");
    }
    return result;
}

static int
RunScript(Tcl_Interp *interp, void *arg)
{
    return NsCallbackEval(interp, arg);
}
