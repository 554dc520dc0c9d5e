/* SPDX-License-Identifier: MPL-2.0
 * where.c --
 *
 *      Which frames of a stack are those of pages.
 *
 *      To Tcl, a block of a page is a script that C code evaluates.  Nothing is
 *      noted for each block but which one runs; when the thread is asked, the
 *      frames are compared with the texts of the blocks.
 */

#include "adp/where.h"

#include "base/assert.h"
#include "adp/interp.h"
#include "adp/page.h"
#include "adp/parse.h"
#include "tcl/frames.h"

static NsFramesPageProc Locate;

static int  LocateBlock(const NsAdpFrame *adpFramePtr, int from, int nFrames,
                        Tcl_Obj **frames);
static bool IsFrameOf(const NsAdpFrame *adpFramePtr, Tcl_Obj *frameObj);
static const char *LineStart(const char *text, const char *end, int line);
static void        LocateTclPage(NsAdpInterp *adpPtr, Tcl_Obj *frameObj,
                                 Tcl_Obj *callObj);

void
NsAdpWhereInit(void)
{
    NsFramesSetPageProc(Locate);
}

/*
 * Pages are nested as their frames are.
 */
static void
Locate(Tcl_Interp *interp, int nFrames, Tcl_Obj **frames)
{
    NsInterp          *itPtr = NsInterpOf(interp);
    NsAdpInterp       *adpPtr = itPtr == NULL ? NULL : itPtr->adpPtr;
    const NsAdpFrame **chain, *adpFramePtr;
    int                next = 0;

    if (adpPtr == NULL) {
        return;
    }
    chain = ns_calloc((size_t) adpPtr->depth + 1, sizeof(*chain));
    adpFramePtr = adpPtr->framePtr;
    for (int i = adpPtr->depth - 1; i >= 0; i--) {
        chain[i] = adpFramePtr;
        adpFramePtr = adpFramePtr->prevPtr;
    }
    NsAssert(adpFramePtr == NULL);
    for (int i = 0; i < adpPtr->depth; i++) {
        next = LocateBlock(chain[i], next, nFrames, frames);
    }
    ns_free(chain);
    for (int i = 0; i < nFrames; i++) {
        LocateTclPage(adpPtr, frames[i], i == 0 ? NULL : frames[i - 1]);
    }
}

/*
 * Behind the frame that is the page's, from which the next page is to be
 * looked for; as it was if there is none.
 */
static int
LocateBlock(const NsAdpFrame *adpFramePtr, int from, int nFrames,
            Tcl_Obj **frames)
{
    for (int i = from; i < nFrames; i++) {
        if (IsFrameOf(adpFramePtr, frames[i])) {
            /* It only borrows the variables of a procedure. */
            NsFramePut(frames[i], "proc", NULL);
            if (adpFramePtr->file != NULL) {
                NsFrameLocate(frames[i], adpFramePtr->file,
                              NsAdpPageLine(adpFramePtr->codePtr,
                                            adpFramePtr->blockPtr,
                                            NsFrameLine(frames[i])));
            }
            return i + 1;
        }
    }
    return from;
}

/*
 * Whether the command is that of this line of the block that runs.
 */
static bool
IsFrameOf(const NsAdpFrame *adpFramePtr, Tcl_Obj *frameObj)
{
    const NsAdpBlock *blockPtr = adpFramePtr->blockPtr;
    Tcl_Obj          *typeObj = NsFrameGet(frameObj, "type");
    Tcl_Obj          *commandObj = NsFrameGet(frameObj, "cmd");
    int               line = NsFrameLine(frameObj), length;
    const char       *command, *at, *end;

    if (blockPtr == NULL || typeObj == NULL || commandObj == NULL || line == 0
        || !STREQ(Tcl_GetString(typeObj), "eval")) {
        return false;
    }
    command = Tcl_GetStringFromObj(commandObj, &length);
    at = Ns_DStringValue(&adpFramePtr->codePtr->text) + blockPtr->offset;
    end = at + blockPtr->length;
    for (at = LineStart(at, end, line); end - at >= length && *at != '\n';
         at++) {
        if (memcmp(at, command, (size_t) length) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * The end if there is no such line.
 */
static const char *
LineStart(const char *text, const char *end, int line)
{
    for (; line > 1 && text < end; text++) {
        line -= *text == '\n';
    }
    return text;
}

/*
 * A page that is a Tcl script is a lambda, and has the lines of its file.  In
 * its frame, and in the one that calls it, Tcl has its whole text.
 */
static void
LocateTclPage(NsAdpInterp *adpPtr, Tcl_Obj *frameObj, Tcl_Obj *callObj)
{
    Tcl_Obj *lambdaObj = NsFrameGet(frameObj, "lambda");
    Tcl_Obj *fileObj = lambdaObj == NULL
        ? NULL
        : NsAdpFileOfLambda(adpPtr, lambdaObj);
    int      line = NsFrameLine(frameObj);

    if (fileObj == NULL || line == 0) {
        return;
    }
    NsFrameLocate(frameObj, Tcl_GetString(fileObj), line);
    NsFramePut(frameObj, "lambda", NULL);
    if (callObj != NULL) {
        NsFramePut(callObj, "cmd", Tcl_NewStringObj("ns_sourceproc", -1));
    }
}
