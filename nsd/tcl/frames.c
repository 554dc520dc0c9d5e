/* SPDX-License-Identifier: MPL-2.0
 * frames.c --
 *
 *      The stack of an interpreter, as a list of frames.
 */

#include "tcl/frames.h"

#include "base/assert.h"
#include "nsstring.h"
#include "nsthread.h"
#include "tcl/origins.h"

#include <stdatomic.h>

/*
 * Set once, at the start.
 */
static NsFramesPageProc *pageProc;

static int      Count(Tcl_Interp *interp);
static Tcl_Obj *GetFrame(Tcl_Interp *interp, int number);
static void     LocateProc(Tcl_Interp *interp, Tcl_Obj *frameObj);
static void     AppendLevels(Ns_DString *dsPtr, Tcl_Interp *interp);

void
NsFramesSetPageProc(NsFramesPageProc *proc)
{
    pageProc = proc;
}

/*
 * The last frame is that of `info frame` itself.  A thread that was called
 * from a wait may be asked between the commands of this procedure: these are
 * not the script's.
 */
void
NsFramesAppend(Ns_DString *dsPtr, Tcl_Interp *interp)
{
    Tcl_InterpState state = Tcl_SaveInterpState(interp, TCL_OK);
    int             nAll = Count(interp), n = 0;
    Tcl_Obj       **frames = ns_calloc((size_t) nAll + 1, sizeof(Tcl_Obj *));

    for (int i = 1; i < nAll; i++) {
        frames[n] = GetFrame(interp, i);
        n += frames[n] != NULL;
    }
    if (pageProc != NULL) {
        pageProc(interp, n, frames);
    }
    for (int i = n - 1; i >= 0; i--) {
        LocateProc(interp, frames[i]);
        Ns_DStringAppendElement(dsPtr, Tcl_GetString(frames[i]));
        Tcl_DecrRefCount(frames[i]);
    }
    ns_free(frames);
    if (n == 0) {
        AppendLevels(dsPtr, interp);
    }
    (void) Tcl_RestoreInterpState(interp, state);
}

static int
Count(Tcl_Interp *interp)
{
    int n = 0;

    if (Tcl_Eval(interp, "::info frame") == TCL_OK) {
        (void) Tcl_GetIntFromObj(NULL, Tcl_GetObjResult(interp), &n);
    }
    return n;
}

/*
 * With a reference, and not shared; NULL: it is none of the script's.
 */
static Tcl_Obj *
GetFrame(Tcl_Interp *interp, int number)
{
    char     script[40];
    Tcl_Obj *frameObj;
    int      size;

    snprintf(script, sizeof(script), "::info frame %d", number);
    if (Tcl_Eval(interp, script) != TCL_OK
        || Tcl_DictObjSize(NULL, Tcl_GetObjResult(interp), &size) != TCL_OK) {
        return NULL;
    }
    frameObj = Tcl_DuplicateObj(Tcl_GetObjResult(interp));
    Tcl_IncrRefCount(frameObj);
    if (NsFrameGet(frameObj, "cmd") != NULL
        && strstr(Tcl_GetString(NsFrameGet(frameObj, "cmd")), "::info frame")
            != NULL) {
        Tcl_DecrRefCount(frameObj);
        frameObj = NULL;
    }
    return frameObj;
}

Tcl_Obj *
NsFrameGet(Tcl_Obj *frameObj, const char *key)
{
    Tcl_Obj *keyObj = Tcl_NewStringObj(key, -1), *valueObj = NULL;

    Tcl_IncrRefCount(keyObj);
    (void) Tcl_DictObjGet(NULL, frameObj, keyObj, &valueObj);
    Tcl_DecrRefCount(keyObj);
    return valueObj;
}

int
NsFrameLine(Tcl_Obj *frameObj)
{
    Tcl_Obj *lineObj = NsFrameGet(frameObj, "line");
    int      line = 0;

    if (lineObj == NULL || Tcl_GetIntFromObj(NULL, lineObj, &line) != TCL_OK) {
        return 0;
    }
    return MAX(line, 0);
}

void
NsFramePut(Tcl_Obj *frameObj, const char *key, Tcl_Obj *valueObj)
{
    Tcl_Obj *keyObj = Tcl_NewStringObj(key, -1);

    NsAssert(!Tcl_IsShared(frameObj));
    Tcl_IncrRefCount(keyObj);
    if (valueObj != NULL) {
        (void) Tcl_DictObjPut(NULL, frameObj, keyObj, valueObj);
    } else {
        (void) Tcl_DictObjRemove(NULL, frameObj, keyObj);
    }
    Tcl_DecrRefCount(keyObj);
}

void
NsFrameLocate(Tcl_Obj *frameObj, const char *file, int line)
{
    NsAssert(line > 0);
    NsFramePut(frameObj, "type", Tcl_NewStringObj("source", -1));
    NsFramePut(frameObj, "line", Tcl_NewIntObj(line));
    NsFramePut(frameObj, "file", Tcl_NewStringObj(file, -1));
}

/*
 * A procedure of a library, which Tcl knows from the blueprint only.
 */
static void
LocateProc(Tcl_Interp *interp, Tcl_Obj *frameObj)
{
    Tcl_Obj   *typeObj = NsFrameGet(frameObj, "type");
    Tcl_Obj   *procObj = NsFrameGet(frameObj, "proc");
    int        line = NsFrameLine(frameObj);
    Ns_DString file;

    if (typeObj == NULL || procObj == NULL || line == 0
        || !STREQ(Tcl_GetString(typeObj), "proc")) {
        return;
    }
    Ns_DStringInit(&file);
    if (NsOriginOf(interp, Tcl_GetString(procObj), &file, &line)) {
        NsFrameLocate(frameObj, Ns_DStringValue(&file), line);
    }
    Ns_DStringFree(&file);
}

/*
 * Procedures that C code has called, and that run compiled commands alone, are
 * not among the frames.
 */
static void
AppendLevels(Ns_DString *dsPtr, Tcl_Interp *interp)
{
    int level = 0;

    if (Tcl_Eval(interp, "::info level") == TCL_OK) {
        (void) Tcl_GetIntFromObj(NULL, Tcl_GetObjResult(interp), &level);
    }
    for (; level > 0; level--) {
        char script[100];

        snprintf(script, sizeof(script),
                 "::list type proc level %d cmd [::info level %d]", level,
                 level);
        if (Tcl_Eval(interp, script) == TCL_OK) {
            Ns_DStringAppendElement(dsPtr, Tcl_GetStringResult(interp));
        }
    }
}
