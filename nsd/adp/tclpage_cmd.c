/* SPDX-License-Identifier: MPL-2.0
 * tclpage_cmd.c --
 *
 *      Simple Tcl pages: ns_sourceproc.
 *
 *      A file below the page root is the body of a procedure without a name.
 *      Files are found, read and kept as those of other pages are.
 */

#include "adp/commands.h"
#include "adp/handler.h"
#include "adp/interp.h"
#include "adp/page.h"
#include "adp/route.h"
#include "base/assert.h"
#include "tcl/result.h"
#include "tcl/tclserver.h"

#define PARSE_FLAGS (NS_ADP_TCL | NS_ADP_PROC)

static Tcl_ObjCmdProc SourceProcCmd;

static int  RunPage(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);
static void MakeCall(NsAdpHeld *heldPtr);
static int  ShowError(NsInterp *itPtr);

static const NsTclCommand commands[] = {
    {"ns_sourceproc", SourceProcCmd, 0, NS_TCL_ANY, NULL, NS_TCL_CONN},
    NS_TCL_END};

void
NsAdpTclPageCmdInit(void)
{
    NsTclAddCommands(commands);
}

/*
 * Answer the request with the page of its URL.  Arguments, as handlers get
 * them, are not used.
 */
static int
SourceProcCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsInterp    *itPtr = clientData;
    NsConn      *connPtr = itPtr->connPtr;
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    NsAdpHeld   *heldPtr = NsAdpRouteHold(adpPtr, connPtr->pub.request->url,
                                          PARSE_FLAGS, connPtr->look);
    int          result;

    if (heldPtr == NULL) {
        (void) NsAdpAnswerUnread(adpPtr, &connPtr->pub);
        Tcl_ResetResult(interp);
        return TCL_OK;
    }
    NsAdpRouteNote(adpPtr, connPtr, heldPtr);
    result = RunPage(adpPtr, heldPtr);
    NsAdpRelease(adpPtr, heldPtr);
    if (result != TCL_ERROR) {
        return result;
    }
    if (NsTclErrorIs(interp, "NS_TCL_ABORT")) {
        Tcl_ResetResult(interp);
        return TCL_OK;
    }
    return itPtr->serverPtr->tclPtr->errorPage == NULL
        ? TCL_ERROR
        : ShowError(itPtr);
}

static int
RunPage(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    int         result;

    if (heldPtr->scripts[0] == NULL) {
        MakeCall(heldPtr);
    }
    result = Tcl_EvalObjEx(interp, heldPtr->scripts[0], 0);
    if (result == TCL_ERROR) {
        Tcl_AppendObjToErrorInfo(interp,
                                 Tcl_ObjPrintf("\n    (page \"%s\")",
                                               Tcl_GetString(heldPtr
                                                                 ->fileObj)));
    }
    return result;
}

/*
 * The call keeps its compiled form.
 */
static void
MakeCall(NsAdpHeld *heldPtr)
{
    const NsAdpCode  *codePtr = NsAdpPageCode(heldPtr->pagePtr);
    const NsAdpBlock *blockPtr = codePtr->blocks;
    const char       *text = Ns_DStringValue(&codePtr->text) + blockPtr->offset;
    Tcl_Obj          *lambda[2], *call[2];

    NsAssert(codePtr->nBlocks == 1 && blockPtr->isScript);
    lambda[0] = Tcl_NewObj();
    lambda[1] = Tcl_NewStringObj(text, blockPtr->length);
    call[0] = Tcl_NewStringObj("::apply", -1);
    call[1] = Tcl_NewListObj(2, lambda);
    heldPtr->scripts[0] = Tcl_NewListObj(2, call);
    Tcl_IncrRefCount(heldPtr->scripts[0]);
}

/*
 * The script of the error page sees the message in errmsg.
 */
static int
ShowError(NsInterp *itPtr)
{
    Tcl_Interp *interp = itPtr->interp;
    Tcl_Obj    *call[3];
    int         result;

    call[0] = Tcl_NewStringObj("::_ns_showerror", -1);
    call[1] = Tcl_NewStringObj(itPtr->serverPtr->tclPtr->errorPage, -1);
    call[2] = Tcl_GetObjResult(interp);
    for (int i = 0; i < 3; i++) {
        Tcl_IncrRefCount(call[i]);
    }
    result = Tcl_EvalObjv(interp, 3, call, 0);
    for (int i = 0; i < 3; i++) {
        Tcl_DecrRefCount(call[i]);
    }
    return result;
}
