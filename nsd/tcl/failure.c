/* SPDX-License-Identifier: MPL-2.0
 * failure.c --
 *
 *      Pages for authors: why a request failed.
 */

#include "tcl/failure.h"

#include "nslog.h"
#include "nsstring.h"
#include "base/assert.h"
#include "process/parameters.h"
#include "request/conn_int.h"
#include "request/notice.h"

typedef struct Settings {
    bool isDevelopment;
} Settings;

static const NsParameter rows[] = {
    NS_BOOL(Settings, isDevelopment, "development", "false",
            "Clients on this machine see why a page failed, with its source."),
    NS_PARAM_END};

static Settings settings; /* Main thread; constant when threads run. */

static NsFailureProc ReturnFailure;

void
NsFailureInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Settings));
}

void
NsFailureConfigure(void)
{
    bool wasDevelopment = settings.isDevelopment;

    NsParametersFill(rows, "ns/parameters", &settings);
    if (settings.isDevelopment && !wasDevelopment) {
        Ns_Log(Warning,
               "config: development is on: clients on this machine see errors"
               " with the source of their pages; turn it off where others can"
               " log in or a proxy runs");
        NsStatusPageSetFailureProc(ReturnFailure);
    }
}

bool
NsFailureIsShown(void)
{
    return settings.isDevelopment;
}

void
NsFailureNote(NsConn *connPtr, const char *trace)
{
    NsInterp *itPtr;

    if (connPtr->interp == NULL) {
        return;
    }
    itPtr = NsInterpOf(connPtr->interp);
    NsAssert(itPtr != NULL && itPtr->connPtr == connPtr);
    NsFailureForget(itPtr);
    itPtr->failureObj = Tcl_NewStringObj(trace, -1);
    Tcl_IncrRefCount(itPtr->failureObj);
}

bool
NsFailureIsNoted(const NsConn *connPtr, const char *trace)
{
    const NsInterp *itPtr = connPtr->interp == NULL
        ? NULL
        : NsInterpOf(connPtr->interp);
    const char     *noted;
    size_t          length;

    if (itPtr == NULL || itPtr->failureObj == NULL) {
        return false;
    }
    noted = Tcl_GetString(itPtr->failureObj);
    length = strlen(noted);
    return strncmp(noted, trace, length) == 0 && trace[length] != '\0';
}

void
NsFailureForget(NsInterp *itPtr)
{
    if (itPtr->failureObj != NULL) {
        Tcl_DecrRefCount(itPtr->failureObj);
        itPtr->failureObj = NULL;
    }
}

/*
 * The procedure decides whether the client may see it.  The interpreter is left
 * as it was: who asked may not be done with its error.
 */
static bool
ReturnFailure(NsConn *connPtr, int status)
{
    NsInterp       *itPtr;
    Tcl_InterpState state;
    Tcl_Obj        *words[3];
    int             isTold = 0;

    if (connPtr->interp == NULL) {
        return false;
    }
    itPtr = NsInterpOf(connPtr->interp);
    if (itPtr->failureObj == NULL) {
        return false;
    }
    state = Tcl_SaveInterpState(itPtr->interp, TCL_ERROR);
    words[0] = Tcl_NewStringObj("::_ns_failurepage", -1);
    words[1] = Tcl_NewIntObj(status);
    words[2] = itPtr->failureObj;
    for (int i = 0; i < Ns_NrElements(words); i++) {
        Tcl_IncrRefCount(words[i]);
    }
    if (Tcl_EvalObjv(itPtr->interp, Ns_NrElements(words), words,
                     TCL_EVAL_GLOBAL)
            != TCL_OK
        || Tcl_GetBooleanFromObj(itPtr->interp, Tcl_GetObjResult(itPtr->interp),
                                 &isTold)
            != TCL_OK) {
        Ns_Log(Error, "conn: the error page itself fails: %s",
               Tcl_GetStringResult(itPtr->interp));
    }
    for (int i = 0; i < Ns_NrElements(words); i++) {
        Tcl_DecrRefCount(words[i]);
    }
    (void) Tcl_RestoreInterpState(itPtr->interp, state);
    return isTold != 0;
}
