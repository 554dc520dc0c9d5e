/* SPDX-License-Identifier: MPL-2.0
 * ctl.c --
 *
 *      Requests of `nsd ctl` that a script answers: tcl/ctl/ctl.tcl.
 */

#include "tcl/ctl.h"

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
    Tcl_Interp *interp;
    NsServer   *serverPtr;
} State;

static NsControlProc    Answer;
static NsControlEndProc End;
static NsServer        *FindServer(const char *request, const State *statePtr,
                                   Ns_DString *replyPtr);
static Ns_ReturnCode    Enter(State *statePtr, NsServer *serverPtr,
                              Ns_DString *replyPtr);
static void             Leave(State *statePtr);

void
NsCtlInit(void)
{
    NsControlSetProc(Answer, End);
}

static Ns_ReturnCode
Answer(void **dataPtr, const char *request, uid_t uid, Ns_DString *replyPtr)
{
    State    *statePtr = *dataPtr;
    NsServer *serverPtr;
    Tcl_Obj  *words[3];
    int       code;

    if (statePtr == NULL) {
        *dataPtr = statePtr = ns_calloc(1, sizeof(*statePtr));
    }
    serverPtr = FindServer(request, statePtr, replyPtr);
    if (serverPtr == NULL || Enter(statePtr, serverPtr, replyPtr) != NS_OK) {
        return NS_ERROR;
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
    return code == TCL_OK ? NS_OK : NS_ERROR;
}

static void
End(void *state)
{
    Leave(state);
    ns_free(state);
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
    statePtr->interp = Ns_TclAllocateInterp(serverPtr->name);
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
    if (statePtr->interp != NULL) {
        Ns_TclDeAllocateInterp(statePtr->interp);
    }
    statePtr->interp = NULL;
    statePtr->serverPtr = NULL;
}
