/* SPDX-License-Identifier: MPL-2.0
 * noticepage.c --
 *
 *      Error pages and notices by a template of the site's.
 */

#include "tcl/noticepage.h"

#include "nslog.h"
#include "nsstring.h"
#include "nstcl.h"
#include "base/assert.h"
#include "request/conn_int.h"
#include "request/notice.h"
#include "tcl/interp.h"

static NsTemplateProc Fill;
static bool Evaluate(Tcl_Interp *interp, const char *const *texts, int n);

void
NsNoticePageInit(void)
{
    NsNoticeSetTemplateProc(Fill);
}

/*
 * A template that fails, and one that asks for such a page itself, are not
 * asked again.  The interpreter is left as it was: who wanted the page may not
 * be done with its result.
 */
static bool
Fill(NsConn *connPtr, const char *file, const char *title, const char *notice,
     const char *detail, Ns_DString *dsPtr)
{
    const char *const texts[] = {
        "::_ns_noticepage", file, title, notice != NULL ? notice : "", detail};
    Tcl_Interp     *interp = Ns_GetConnInterp(&connPtr->pub);
    NsInterp       *itPtr = NsInterpOf(interp);
    Tcl_InterpState state;
    bool            isFilled;

    NsAssert(itPtr != NULL && itPtr->connPtr == connPtr);
    if (itPtr->isInTemplate) {
        return false;
    }
    itPtr->isInTemplate = true;
    state = Tcl_SaveInterpState(interp, TCL_OK);
    isFilled = Evaluate(interp, texts, Ns_NrElements(texts));
    if (isFilled) {
        Ns_DStringAppend(dsPtr, Tcl_GetStringResult(interp));
    } else {
        Ns_Log(Error, "redirects[%s]: the template %s (noticeadp) fails: %s",
               connPtr->serverPtr->name, file, Tcl_GetStringResult(interp));
    }
    (void) Tcl_RestoreInterpState(interp, state);
    itPtr->isInTemplate = false;
    return isFilled;
}

static bool
Evaluate(Tcl_Interp *interp, const char *const *texts, int n)
{
    Tcl_Obj *words[8];
    int      result;

    NsAssert(n <= Ns_NrElements(words));
    for (int i = 0; i < n; i++) {
        words[i] = Tcl_NewStringObj(texts[i], -1);
        Tcl_IncrRefCount(words[i]);
    }
    result = Tcl_EvalObjv(interp, n, words, TCL_EVAL_GLOBAL);
    for (int i = 0; i < n; i++) {
        Tcl_DecrRefCount(words[i]);
    }
    return result == TCL_OK;
}
