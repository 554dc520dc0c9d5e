/*
 * error.c --
 *
 *      Reports of script errors: in the log, in the page, by the error page.
 */

#include "nsconn.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "adp/adp.h"

#define EXCERPT_BYTES 150       /* Of the text of a string page. */

static bool WasReported(NsAdpInterp *adpPtr);
static Tcl_Obj *StackTrace(Tcl_Interp *interp);
static void Locate(const NsAdpInterp *adpPtr, int line, Tcl_DString *dsPtr);
static void NameFrame(const NsAdpFrame *framePtr, Tcl_DString *dsPtr);
static void Detail(Ns_Conn *conn, Tcl_DString *dsPtr);
static void Display(NsAdpInterp *adpPtr, const char *text);
static void RunErrorPage(NsAdpInterp *adpPtr, const char *text);

void
NsAdpLogError(NsAdpInterp *adpPtr, int line)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    Ns_Conn    *conn = (Ns_Conn *) adpPtr->interpPtr->connPtr;
    Tcl_DString where, text;
    Tcl_InterpState state;

    adpPtr->isSpoilt = true;
    if (WasReported(adpPtr)) {
        return;
    }
    Tcl_DStringInit(&where);
    Locate(adpPtr, line, &where);
    if (conn != NULL && (adpPtr->flags & NS_ADP_DETAIL) != 0) {
        Detail(conn, &where);
    }
    Tcl_DStringInit(&text);
    Tcl_DStringAppend(&text, Tcl_GetString(adpPtr->reportedObj), -1);
    Tcl_DStringAppend(&text, Tcl_DStringValue(&where),
                      Tcl_DStringLength(&where));
    (void) Ns_TclLogErrorInfo(interp, Tcl_DStringValue(&where));

    /* What follows runs scripts, or may fail itself. */
    state = Tcl_SaveInterpState(interp, TCL_ERROR);
    if ((adpPtr->flags & NS_ADP_DISPLAY) != 0) {
        Display(adpPtr, Tcl_DStringValue(&text));
    }
    if (adpPtr->adpServerPtr->errorPage != NULL && !adpPtr->isErrorPage) {
        RunErrorPage(adpPtr, Tcl_DStringValue(&text));
    }
    (void) Tcl_RestoreInterpState(interp, state);
    Tcl_DStringFree(&text);
    Tcl_DStringFree(&where);
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
Locate(const NsAdpInterp *adpPtr, int line, Tcl_DString *dsPtr)
{
    const NsAdpFrame *framePtr = adpPtr->framePtr;

    Ns_DStringPrintf(dsPtr, "\n    at line %d of ", line);
    NameFrame(framePtr, dsPtr);
    for (framePtr = framePtr->prevPtr; framePtr != NULL;
         framePtr = framePtr->prevPtr) {
        Tcl_DStringAppend(dsPtr, "\n    included from ", -1);
        NameFrame(framePtr, dsPtr);
    }
}

static void
NameFrame(const NsAdpFrame *framePtr, Tcl_DString *dsPtr)
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
    Tcl_DStringAppend(dsPtr, "adp script:\n\"", -1);
    Tcl_DStringAppend(dsPtr, text, cut);
    Tcl_DStringAppend(dsPtr, cut < length ? "...\"" : "\"", -1);
}

static void
Detail(Ns_Conn *conn, Tcl_DString *dsPtr)
{
    const Ns_Set *headers = Ns_ConnHeaders(conn);
    int           i;

    Ns_DStringPrintf(dsPtr,
                     "\n    while processing connection #%d:\n        %s",
                     Ns_ConnId(conn),
                     conn->request->line != NULL ? conn->request->line : "");
    for (i = 0; i < Ns_SetSize(headers); i++) {
        Ns_DStringVarAppend(dsPtr, "\n        ", Ns_SetKey(headers, i), ": ",
                            Ns_SetValue(headers, i), (char *) NULL);
    }
}

static void
Display(NsAdpInterp *adpPtr, const char *text)
{
    Tcl_DString html;

    Tcl_DStringInit(&html);
    Tcl_DStringAppend(&html, "<br><pre>\n", -1);
    Ns_QuoteHtml(&html, text);
    Tcl_DStringAppend(&html, "\n<br></pre>\n", -1);
    (void) NsAdpAppend(adpPtr, Tcl_DStringValue(&html),
                       Tcl_DStringLength(&html));
    Tcl_DStringFree(&html);
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
    if (NsAdpRun(adpPtr, &(NsAdpSource) {
            .file = file, .nArgs = 2, .args = args, .isInclude = true
        }) != TCL_OK && adpPtr->exception == NS_ADP_OK) {
        Ns_Log(Error, "adp: error page '%s': %s", file,
               Tcl_GetStringResult(interp));
    }
    adpPtr->isErrorPage = false;
    Tcl_DecrRefCount(args[1]);
    Tcl_DecrRefCount(args[0]);
}
