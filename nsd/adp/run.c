/* SPDX-License-Identifier: MPL-2.0
 * run.c --
 *
 *      Running pages and strings.
 *
 *      Each runs in a frame, which knows its arguments and where its output
 *      goes.  Kept output (of a page with a time to live) is ADP itself, and
 *      runs as a string.
 */

#include "adp/run.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsrequest.h"
#include "nsstring.h"
#include "nsthread.h"
#include "adp/buffer.h"
#include "adp/debug.h"
#include "adp/error.h"
#include "adp/page.h"
#include "adp/parse.h"
#include "adp/tag.h"
#include "base/chars.h"
#include "tcl/result.h"
#include "tcl/stack.h"

static int  ParseFlags(const NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr);
static int  RunHeld(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr,
                    NsAdpHeld *heldPtr);
static int  RunKept(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr,
                    NsAdpHeld *heldPtr, bool *hasRunPtr);
static int  Record(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr,
                   NsAdpHeld *heldPtr, Ns_DString *dsPtr);
static int  RunPage(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr,
                    NsAdpHeld *heldPtr);
static int  RunText(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr);
static int  RunFrame(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr,
                     NsAdpFrame *framePtr, const NsAdpCode *codePtr,
                     Tcl_Obj **scripts);
static int  RunBlocks(NsAdpInterp *adpPtr, NsAdpFrame *framePtr,
                      Tcl_Obj **scripts, int evalFlags);
static int  RunScript(NsAdpInterp *adpPtr, const NsAdpBlock *blockPtr,
                      const char *text, Tcl_Obj **scriptPtr, int evalFlags);
static int  Normalize(Tcl_Interp *interp, int code);
static void Trace(const NsAdpInterp *adpPtr, const NsAdpBlock *blockPtr,
                  const char *text);

int
NsAdpRun(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr)
{
    NsAdpHeld *heldPtr = sourcePtr->heldPtr;
    int        result;

    if (adpPtr->framePtr == NULL) {
        adpPtr->exception = NS_ADP_OK;
    }
    if (sourcePtr->file == NULL) {
        return RunText(adpPtr, sourcePtr);
    }
    if (heldPtr != NULL) {
        return RunHeld(adpPtr, sourcePtr, heldPtr);
    }
    heldPtr = NsAdpHold(adpPtr, sourcePtr->file, ParseFlags(adpPtr, sourcePtr),
                        (NsLook){0});
    if (heldPtr == NULL) {
        return TCL_ERROR;
    }
    result = RunHeld(adpPtr, sourcePtr, heldPtr);
    NsAdpRelease(adpPtr, heldPtr);
    return result;
}

void
NsAdpDir(const NsAdpInterp *adpPtr, Ns_DString *dsPtr)
{
    const NsAdpFrame *framePtr;

    for (framePtr = adpPtr->framePtr; framePtr != NULL;
         framePtr = framePtr->prevPtr) {
        if (framePtr->dir != NULL) {
            Ns_DStringAppend(dsPtr, framePtr->dir);
            return;
        }
        if (framePtr->file != NULL) {
            const char *slash = strrchr(framePtr->file, '/');

            if (slash != NULL) {
                Ns_DStringNAppend(dsPtr, framePtr->file,
                                  MAX(1, (int) (slash - framePtr->file)));
            }
            return;
        }
    }
}

const char *
NsAdpResolve(NsAdpInterp *adpPtr, const char *file, Ns_DString *dsPtr)
{
    Ns_DString path;

    Ns_DStringInit(&path);
    if (!Ns_PathIsAbsolute(file)) {
        NsAdpDir(adpPtr, &path);
        if (Ns_DStringLength(&path) == 0) {
            (void) Ns_PagePath(&path, adpPtr->adpServerPtr->serverPtr->name,
                               (char *) NULL);
        }
        Ns_DStringNAppend(&path, "/", 1);
    }
    Ns_DStringAppend(&path, file);
    (void) Ns_NormalizePath(dsPtr, Ns_DStringValue(&path));
    Ns_DStringFree(&path);
    return Ns_DStringValue(dsPtr);
}

static int
ParseFlags(const NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr)
{
    int flags = adpPtr->flags & (NS_ADP_SAFE | NS_ADP_SINGLE);

    if (sourcePtr->isTrusted) {
        flags &= ~NS_ADP_SAFE;
    }
    if (sourcePtr->file != NULL && sourcePtr->isTcl) {
        flags |= NS_ADP_TCL;
    }
    return flags;
}

static int
RunHeld(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr, NsAdpHeld *heldPtr)
{
    if (adpPtr->adpServerPtr->isDebugEnabled
        && NsAdpDebugFile(adpPtr, sourcePtr->file) != TCL_OK) {
        return TCL_ERROR;
    }
    if (sourcePtr->ttlPtr != NULL && (adpPtr->flags & NS_ADP_CACHE) != 0) {
        bool hasRun;
        int  result = RunKept(adpPtr, sourcePtr, heldPtr, &hasRun);

        if (hasRun) {
            return result;
        }
    }
    return RunPage(adpPtr, sourcePtr, heldPtr);
}

/*
 * Run the kept output of a page, after making it if need be.  While recording
 * no thread waits for another one's recording: two could wait for each other.
 */
static int
RunKept(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr, NsAdpHeld *heldPtr,
        bool *hasRunPtr)
{
    Ns_DString    kept, dir;
    Ns_ReturnCode status;
    int           result = TCL_OK;

    Ns_DStringInit(&kept);
    status = NsAdpGetOutput(adpPtr->adpServerPtr, heldPtr->pagePtr,
                            adpPtr->nRecordings == 0, &kept);
    *hasRunPtr = (status != NS_TIMEOUT);
    if (status == NS_ERROR) {
        result = Record(adpPtr, sourcePtr, heldPtr, &kept);
    }
    if (result == TCL_OK && *hasRunPtr && adpPtr->exception == NS_ADP_OK) {
        NsAdpSource source = *sourcePtr;
        const char *slash = strrchr(sourcePtr->file, '/');

        Ns_DStringInit(&dir);
        Ns_DStringNAppend(&dir, sourcePtr->file,
                          slash == NULL ? -1 : (int) (slash - sourcePtr->file));
        source.file = NULL;
        source.dir = Ns_DStringValue(&dir);
        source.textObj = Tcl_NewStringObj(Ns_DStringValue(&kept),
                                          Ns_DStringLength(&kept));
        Tcl_IncrRefCount(source.textObj);
        result = RunText(adpPtr, &source);
        Tcl_DecrRefCount(source.textObj);
        Ns_DStringFree(&dir);
    } else if (Ns_DStringLength(&kept) > 0) {
        (void) NsAdpAppend(adpPtr, Ns_DStringValue(&kept),
                           Ns_DStringLength(&kept));
    }
    Ns_DStringFree(&kept);
    return result;
}

/*
 * Run a page with its output going to dsPtr, and keep that unless it failed.
 */
static int
Record(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr, NsAdpHeld *heldPtr,
       Ns_DString *dsPtr)
{
    NsAdpSource source = *sourcePtr;
    bool        wasSpoilt = adpPtr->isSpoilt, isGood;
    int         result;

    source.outputPtr = dsPtr;
    adpPtr->isSpoilt = false;
    adpPtr->nRecordings++;
    result = RunPage(adpPtr, &source, heldPtr);
    adpPtr->nRecordings--;
    isGood = result == TCL_OK && !adpPtr->isSpoilt
        && adpPtr->exception == NS_ADP_OK
        && (adpPtr->flags & NS_ADP_CACHE) != 0;
    NsAdpPutOutput(adpPtr->adpServerPtr, heldPtr->pagePtr,
                   isGood ? Ns_DStringValue(dsPtr) : NULL, sourcePtr->ttlPtr);
    adpPtr->isSpoilt = wasSpoilt || !isGood;
    return result;
}

static int
RunPage(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr, NsAdpHeld *heldPtr)
{
    NsAdpFrame frame = {.file = sourcePtr->file,
                        .bytes = NsAdpPageBytes(heldPtr->pagePtr),
                        .mtime = NsAdpPageTime(heldPtr->pagePtr)};

    return RunFrame(adpPtr, sourcePtr, &frame, NsAdpPageCode(heldPtr->pagePtr),
                    heldPtr->scripts);
}

static int
RunText(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr)
{
    NsAdpFrame frame = {.textObj = sourcePtr->textObj};
    NsAdpCode  code;
    Tcl_Obj  **scripts;
    int        result;

    NsAdpCodeInit(&code);
    NsAdpParseFor(adpPtr->adpServerPtr, &code,
                  Tcl_GetString(sourcePtr->textObj),
                  ParseFlags(adpPtr, sourcePtr));
    scripts = ns_calloc((size_t) code.nBlocks + 1, sizeof(Tcl_Obj *));
    result = RunFrame(adpPtr, sourcePtr, &frame, &code, scripts);
    for (int i = 0; i < code.nBlocks; i++) {
        if (scripts[i] != NULL) {
            Tcl_DecrRefCount(scripts[i]);
        }
    }
    ns_free(scripts);
    NsAdpCodeFree(&code);
    return result;
}

static int
RunFrame(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr,
         NsAdpFrame *framePtr, const NsAdpCode *codePtr, Tcl_Obj **scripts)
{
    int result;

    framePtr->prevPtr = adpPtr->framePtr;
    framePtr->dir = sourcePtr->dir;
    framePtr->nArgs = sourcePtr->nArgs;
    framePtr->args = sourcePtr->args;
    framePtr->isInclude = sourcePtr->isInclude;
    framePtr->outputPtr = (sourcePtr->outputPtr != NULL)
        ? sourcePtr->outputPtr
        : NsAdpBuffer(adpPtr);
    adpPtr->framePtr = framePtr;
    adpPtr->depth++;
    framePtr->codePtr = codePtr;
    result = RunBlocks(adpPtr, framePtr, scripts,
                       sourcePtr->isGlobal ? TCL_EVAL_GLOBAL : 0);
    adpPtr->depth--;
    adpPtr->framePtr = framePtr->prevPtr;
    if (adpPtr->exception == NS_ADP_RETURN) {
        adpPtr->exception = NS_ADP_OK;
    }
    if (result == TCL_OK && adpPtr->reportedObj != NULL) {
        Tcl_DecrRefCount(adpPtr->reportedObj);
        adpPtr->reportedObj = NULL;
    }
    return result;
}

/*
 * The last block decides about the result.
 */
static int
RunBlocks(NsAdpInterp *adpPtr, NsAdpFrame *framePtr, Tcl_Obj **scripts,
          int evalFlags)
{
    Tcl_Interp      *interp = adpPtr->interpPtr->interp;
    const NsAdpCode *codePtr = framePtr->codePtr;
    int              result = TCL_OK, i;

    Tcl_ResetResult(interp);
    for (i = 0; i < codePtr->nBlocks && adpPtr->exception == NS_ADP_OK; i++) {
        const NsAdpBlock *blockPtr = &codePtr->blocks[i];
        const char *text = Ns_DStringValue(&codePtr->text) + blockPtr->offset;

        framePtr->blockPtr = blockPtr;
        if ((adpPtr->flags & NS_ADP_TRACE) != 0) {
            Trace(adpPtr, blockPtr, text);
        }
        if (result != TCL_OK) {
            Tcl_ResetResult(interp);
            adpPtr->hasFailed = true;
        }
        result = blockPtr->isScript
            ? RunScript(adpPtr, blockPtr, text, &scripts[i], evalFlags)
            : NsAdpAppend(adpPtr, text, blockPtr->length);
        if (result != TCL_OK && (adpPtr->flags & NS_ADP_STRICT) != 0) {
            break;
        }
    }
    return result;
}

/*
 * Evaluate a block.  An error that is raised for an exception is not one.
 */
static int
RunScript(NsAdpInterp *adpPtr, const NsAdpBlock *blockPtr, const char *text,
          Tcl_Obj **scriptPtr, int evalFlags)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    int         result;

    if (blockPtr->startsStream) {
        adpPtr->flags |= NS_ADP_STREAM;
    }
    if (*scriptPtr == NULL) {
        *scriptPtr = Tcl_NewStringObj(text, blockPtr->length);
        Tcl_IncrRefCount(*scriptPtr);
    }
    result = Normalize(interp, Tcl_EvalObjEx(interp, *scriptPtr, evalFlags));
    if (result == TCL_OK) {
        return TCL_OK;
    }
    if (NsStackIsCancelled(interp)
        || (adpPtr->exception == NS_ADP_OK
            && NsTclErrorIs(interp, "NS_TIMEOUT"))) {
        adpPtr->exception = NS_ADP_TIMEOUT;
    }
    if (adpPtr->exception == NS_ADP_TIMEOUT) {
        return TCL_ERROR;
    }
    if (adpPtr->exception != NS_ADP_OK) {
        return TCL_OK;
    }
    if (adpPtr->clientStatus == 0) {
        adpPtr->clientStatus = NsTclErrorStatus(interp);
    }
    NsAdpLogError(adpPtr,
                  NsAdpPageLine(adpPtr->framePtr->codePtr, blockPtr,
                                Tcl_GetErrorLine(interp)));
    return TCL_ERROR;
}

/*
 * A block may end by `return`; `break` and `continue` have nothing to act on.
 */
static int
Normalize(Tcl_Interp *interp, int code)
{
    switch (code) {
    case TCL_RETURN:
        return TCL_OK;
    case TCL_BREAK:
    case TCL_CONTINUE:
        Tcl_ResetResult(interp);
        return NsTclFail(interp, "invoked \"%s\" outside of a loop",
                         code == TCL_BREAK ? "break" : "continue");
    default:
        return code;
    }
}

/*
 * The block without white space around it, cut at a character.
 */
static void
Trace(const NsAdpInterp *adpPtr, const NsAdpBlock *blockPtr, const char *text)
{
    int length = blockPtr->length, limit = adpPtr->adpServerPtr->traceBytes;

    while (length > 0 && NsIsSpace(*text)) {
        text++;
        length--;
    }
    if (length > limit) {
        for (length = limit; length > 0 && (UCHAR(text[length]) & 0xC0) == 0x80;
             length--) {
            ;
        }
    }
    while (length > 0 && NsIsSpace(text[length - 1])) {
        length--;
    }
    Ns_Log(Notice, "adp[%d%c]: %.*s", adpPtr->depth,
           blockPtr->isScript ? 'S' : 'T', length, text);
}
