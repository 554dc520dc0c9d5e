/* SPDX-License-Identifier: MPL-2.0
 * ctl.c --
 *
 *      Requests of `nsd ctl` that a script answers: tcl/ctl/ctl.tcl.
 */

#include "tcl/ctl.h"

#include "base/lock.h"
#include "nsstring.h"
#include "nstcl.h"
#include "nsthread.h"
#include "process/control.h"
#include "process/server.h"

#define LOAD                                                 \
    "if {[info commands ::nsd::ctl::Answer] eq {}} {"        \
    "    source [file join [ns_library shared] ctl ctl.tcl]" \
    "}"

/*
 * Of a session, and of its thread.
 */
typedef struct State {
    NsServer *serverPtr;

    Ns_Mutex lock;      /* The session's thread alone changes interp, with the
                         * lock; others read it so.  Guards the rest. */
    Tcl_Interp *interp; /* NULL: none. */
    bool        isCancelled;
} State;

static void         *Begin(void);
static int           Answer(void *state, const char *request, uid_t uid,
                            Ns_DString *replyPtr);
static bool          IsUsage(Tcl_Interp *interp);
static void          Cancel(void *state);
static void          End(void *state);
static NsServer     *FindServer(const char *request, const State *statePtr,
                                Ns_DString *replyPtr);
static Ns_ReturnCode Enter(State *statePtr, NsServer *serverPtr,
                           Ns_DString *replyPtr);
static void          Leave(State *statePtr);
static Tcl_Interp   *Exchange(State *statePtr, Tcl_Interp *interp);

static const NsControlProcs procs = {
    .beginProc = Begin,
    .runProc = Answer,
    .cancelProc = Cancel,
    .endProc = End};

void
NsCtlInit(void)
{
    NsControlSetProcs(&procs);
}

static void *
Begin(void)
{
    State *statePtr = ns_calloc(1, sizeof(*statePtr));

    NsMutexSetup(&statePtr->lock, NS_RANK_TCL_MISC, "ns:ctl", NULL);
    return statePtr;
}

static int
Answer(void *state, const char *request, uid_t uid, Ns_DString *replyPtr)
{
    State    *statePtr = state;
    NsServer *serverPtr;
    Tcl_Obj  *words[3];
    int       code;

    serverPtr = FindServer(request, statePtr, replyPtr);
    if (serverPtr == NULL || Enter(statePtr, serverPtr, replyPtr) != NS_OK) {
        return NS_CONTROL_REFUSED;
    }
    words[0] = Tcl_NewStringObj("::nsd::ctl::Answer", -1);
    words[1] = Tcl_NewWideIntObj((Tcl_WideInt) uid);
    words[2] = Tcl_NewStringObj(request, -1);
    for (int i = 0; i < Ns_NrElements(words); i++) {
        Tcl_IncrRefCount(words[i]);
    }
    code = Tcl_EvalObjv(statePtr->interp, Ns_NrElements(words), words,
                        TCL_EVAL_GLOBAL);
    for (int i = 0; i < Ns_NrElements(words); i++) {
        Tcl_DecrRefCount(words[i]);
    }
    Ns_DStringAppend(replyPtr, Tcl_GetStringResult(statePtr->interp));
    return code == TCL_OK ? NS_CONTROL_DONE
        : IsUsage(statePtr->interp)
        ? NS_CONTROL_USAGE
        : NS_CONTROL_REFUSED;
}

/*
 * The error is that of words that the command does not understand.
 */
static bool
IsUsage(Tcl_Interp *interp)
{
    const char *code = Tcl_GetVar(interp, "errorCode", TCL_GLOBAL_ONLY);

    return code != NULL && STREQ(code, "TCL WRONGARGS");
}

/*
 * It unwinds; no catch stops that.
 */
static void
Cancel(void *state)
{
    State *statePtr = state;

    Ns_MutexLock(&statePtr->lock);
    if (statePtr->interp != NULL) {
        statePtr->isCancelled = true;
        (void) Tcl_CancelEval(statePtr->interp, NULL, NULL, TCL_CANCEL_UNWIND);
    }
    Ns_MutexUnlock(&statePtr->lock);
}

static void
End(void *state)
{
    State *statePtr = state;

    Leave(statePtr);
    Ns_MutexDestroy(&statePtr->lock);
    ns_free(statePtr);
}

/*
 * The one that the request names, or that of the request before, or the first.
 */
static NsServer *
FindServer(const char *request, const State *statePtr, Ns_DString *replyPtr)
{
    NsServer    *serverPtr = statePtr->serverPtr != NULL
           ? statePtr->serverPtr
           : NsServerAt(0);
    const char **argv;
    int          argc;

    if (Tcl_SplitList(NULL, request, &argc, &argv) != TCL_OK) {
        return NULL;
    }
    for (int i = 0; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (STREQ(argv[i], "--server")) {
            serverPtr = NsServerFind(argv[++i]);
            if (serverPtr == NULL) {
                Ns_DStringPrintf(replyPtr, "no such server: %s", argv[i]);
            }
        }
    }
    Tcl_Free((char *) argv);
    return serverPtr;
}

static Ns_ReturnCode
Enter(State *statePtr, NsServer *serverPtr, Ns_DString *replyPtr)
{
    if (statePtr->serverPtr == serverPtr) {
        return NS_OK;
    }
    Leave(statePtr);
    (void) Exchange(statePtr, Ns_TclAllocateInterp(serverPtr->name));
    if (statePtr->interp == NULL) {
        Ns_DStringPrintf(replyPtr,
                         "server '%s' has no interpreter; its log says why",
                         serverPtr->name);
        return NS_ERROR;
    }
    statePtr->serverPtr = serverPtr;
    if (Tcl_EvalEx(statePtr->interp, LOAD, -1, TCL_EVAL_GLOBAL) != TCL_OK) {
        Ns_DStringAppend(replyPtr, Tcl_GetStringResult(statePtr->interp));
        Leave(statePtr);
        return NS_ERROR;
    }
    return NS_OK;
}

static void
Leave(State *statePtr)
{
    Tcl_Interp *interp = Exchange(statePtr, NULL);

    if (interp != NULL) {
        if (statePtr->isCancelled) {
            /* An order that came late ends this instead of a clean-up. */
            (void) Tcl_EvalEx(interp, "list", -1, TCL_EVAL_GLOBAL);
            Ns_TclMarkForDelete(interp);
            statePtr->isCancelled = false;
        }
        Ns_TclDeAllocateInterp(interp);
    }
    statePtr->serverPtr = NULL;
}

/*
 * The former one.
 */
static Tcl_Interp *
Exchange(State *statePtr, Tcl_Interp *interp)
{
    Tcl_Interp *old;

    Ns_MutexLock(&statePtr->lock);
    old = statePtr->interp;
    statePtr->interp = interp;
    Ns_MutexUnlock(&statePtr->lock);
    return old;
}
