/* SPDX-License-Identifier: MPL-2.0
 * error.c --
 *
 *      Reports of script errors: in the log, in the page, by the error page.
 */

#include "adp/error.h"
#include "nsconn.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "adp/buffer.h"
#include "adp/run.h"
#include "request/describe.h"

#define EXCERPT_BYTES 150 /* Of the text of a string page. */

static bool     WasReported(NsAdpInterp *adpPtr);
static Tcl_Obj *StackTrace(Tcl_Interp *interp);
static void     Locate(const NsAdpInterp *adpPtr, int line, Ns_DString *dsPtr);
static void     NameFrame(const NsAdpFrame *framePtr, Ns_DString *dsPtr);
static void     Detail(Ns_Conn *conn, Ns_DString *dsPtr);
static void     Display(NsAdpInterp *adpPtr, const char *text);
static void     RunErrorPage(NsAdpInterp *adpPtr, const char *text);

void
NsAdpLogError(NsAdpInterp *adpPtr, int line)
{
    Tcl_Interp     *interp = adpPtr->interpPtr->interp;
    Ns_Conn        *conn = (Ns_Conn *) adpPtr->interpPtr->connPtr;
    Ns_DString      where, text;
    Tcl_InterpState state;

    adpPtr->isSpoilt = true;
    if (WasReported(adpPtr)) {
        return;
    }
    Ns_DStringInit(&where);
    Locate(adpPtr, line, &where);
    if (conn != NULL && (adpPtr->flags & NS_ADP_DETAIL) != 0) {
        Detail(conn, &where);
    }
    Ns_DStringInit(&text);
    Ns_DStringAppend(&text, Tcl_GetString(adpPtr->reportedObj));
    Ns_DStringNAppend(&text, Ns_DStringValue(&where), Ns_DStringLength(&where));
    (void) Ns_TclLogErrorInfo(interp, Ns_DStringValue(&where));

    /* The next steps run scripts, or may fail themselves. */
    state = Tcl_SaveInterpState(interp, TCL_ERROR);
    if ((adpPtr->flags & NS_ADP_DISPLAY) != 0) {
        Display(adpPtr, Ns_DStringValue(&text));
    }
    if (adpPtr->adpServerPtr->errorPage != NULL && !adpPtr->isErrorPage) {
        RunErrorPage(adpPtr, Ns_DStringValue(&text));
    }
    (void) Tcl_RestoreInterpState(interp, state);
    Ns_DStringFree(&text);
    Ns_DStringFree(&where);
}

/*
 * An error that passes from frame to frame keeps the start of its trace.
 */
static bool
WasReported(NsAdpInterp *adpPtr)
{
    Tcl_Obj *traceObj = StackTrace(adpPtr->interpPtr->interp);
    bool     isSame = false;

    if (adpPtr->reportedObj != NULL) {
        const char *before = Tcl_GetString(adpPtr->reportedObj);

        isSame = adpPtr->depth < adpPtr->reportedDepth
            && strncmp(before, Tcl_GetString(traceObj), strlen(before)) == 0;
        Tcl_DecrRefCount(adpPtr->reportedObj);
    }
    adpPtr->reportedObj = traceObj;
    adpPtr->reportedDepth = adpPtr->depth;
    return isSame;
}

/*
 * With a reference for the caller.
 */
static Tcl_Obj *
StackTrace(Tcl_Interp *interp)
{
    Tcl_Obj *optionsObj = Tcl_GetReturnOptions(interp, TCL_ERROR);
    Tcl_Obj *keyObj = Tcl_NewStringObj("-errorinfo", -1), *traceObj = NULL;

    Tcl_IncrRefCount(optionsObj);
    Tcl_IncrRefCount(keyObj);
    (void) Tcl_DictObjGet(NULL, optionsObj, keyObj, &traceObj);
    traceObj = Tcl_DuplicateObj(traceObj != NULL ? traceObj
                                                 : Tcl_GetObjResult(interp));
    Tcl_IncrRefCount(traceObj);
    Tcl_DecrRefCount(keyObj);
    Tcl_DecrRefCount(optionsObj);
    return traceObj;
}

static void
Locate(const NsAdpInterp *adpPtr, int line, Ns_DString *dsPtr)
{
    const NsAdpFrame *framePtr = adpPtr->framePtr;

    Ns_DStringPrintf(dsPtr, "\n    at line %d of ", line);
    NameFrame(framePtr, dsPtr);
    for (framePtr = framePtr->prevPtr; framePtr != NULL;
         framePtr = framePtr->prevPtr) {
        Ns_DStringAppend(dsPtr, "\n    included from ");
        NameFrame(framePtr, dsPtr);
    }
}

static void
NameFrame(const NsAdpFrame *framePtr, Ns_DString *dsPtr)
{
    const char *text;
    int         length, cut;

    if (framePtr->file != NULL) {
        Ns_DStringVarAppend(dsPtr, "adp file \"", framePtr->file, "\"",
                            (char *) NULL);
        return;
    }
    text = Tcl_GetStringFromObj(framePtr->textObj, &length);
    cut = MIN(length, EXCERPT_BYTES);
    while (cut > 0 && (UCHAR(text[cut]) & 0xC0) == 0x80) {
        cut--;
    }
    Ns_DStringAppend(dsPtr, "adp script:\n\"");
    Ns_DStringNAppend(dsPtr, text, cut);
    Ns_DStringAppend(dsPtr, cut < length ? "...\"" : "\"");
}

static void
Detail(Ns_Conn *conn, Ns_DString *dsPtr)
{
    const Ns_Set *headers = Ns_ConnHeaders(conn);

    Ns_DStringPrintf(dsPtr, "\n    while processing connection #%d:\n        ",
                     Ns_ConnId(conn));
    NsConnAppendLine(dsPtr, NsConnOf(conn), conn->request->line);
    for (int i = 0; i < Ns_SetSize(headers); i++) {
        Ns_DStringVarAppend(dsPtr, "\n        ", Ns_SetKey(headers, i), ": ",
                            (char *) NULL);
        NsConnAppendField(dsPtr, NsConnOf(conn), Ns_SetKey(headers, i),
                          Ns_SetValue(headers, i));
    }
}

static void
Display(NsAdpInterp *adpPtr, const char *text)
{
    Ns_DString html;

    Ns_DStringInit(&html);
    Ns_DStringAppend(&html, "<br><pre>\n");
    Ns_QuoteHtml(&html, text);
    Ns_DStringAppend(&html, "\n<br></pre>\n");
    (void) NsAdpAppend(adpPtr, Ns_DStringValue(&html), Ns_DStringLength(&html));
    Ns_DStringFree(&html);
}

static void
RunErrorPage(NsAdpInterp *adpPtr, const char *text)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    const char *file = adpPtr->adpServerPtr->errorPage;
    Tcl_Obj    *args[2];

    args[0] = Tcl_NewStringObj(file, -1);
    args[1] = Tcl_NewStringObj(text, -1);
    Tcl_IncrRefCount(args[0]);
    Tcl_IncrRefCount(args[1]);
    adpPtr->isErrorPage = true;
    if (NsAdpRun(adpPtr,
                 &(NsAdpSource){
                     .file = file, .nArgs = 2, .args = args, .isInclude = true})
            != TCL_OK
        && adpPtr->exception == NS_ADP_OK) {
        Ns_Log(Error, "adp: error page '%s': %s", file,
               Tcl_GetStringResult(interp));
    }
    adpPtr->isErrorPage = false;
    Tcl_DecrRefCount(args[1]);
    Tcl_DecrRefCount(args[0]);
}
