/* SPDX-License-Identifier: MPL-2.0
 * frames.h --
 *
 *      The stack of an interpreter, as a list of frames.
 *
 *      A frame is a dict, as `info frame` reports it.  What Tcl does not know,
 *      because it has not read the file itself, is added: a frame of a page, or
 *      of a procedure of a library, has type `source`, the file, and the line
 *      in that.
 */

#ifndef NSD_TCL_FRAMES_H
#define NSD_TCL_FRAMES_H

#include "nstcl.h"

/*
 * Append the frames, innermost first; nothing if there are none.  In the
 * interpreter's thread; its result is kept.
 */
void NsFramesAppend(Ns_DString *dsPtr, Tcl_Interp *interp);

/*
 * Have proc locate the frames of pages.  They are in order, outermost first,
 * and the caller's to change.
 */
typedef void NsFramesPageProc(Tcl_Interp *interp, int nFrames,
                              Tcl_Obj **frames);
void         NsFramesSetPageProc(NsFramesPageProc *proc);

/*
 * What the frame says under that key; NULL: nothing.
 */
Tcl_Obj *NsFrameGet(Tcl_Obj *frameObj, const char *key);

/*
 * Say that, or, with NULL, nothing.
 */
void NsFramePut(Tcl_Obj *frameObj, const char *key, Tcl_Obj *valueObj);

/*
 * Its line, from 1; 0: not known.
 */
int NsFrameLine(Tcl_Obj *frameObj);

/*
 * The frame is that line of the file.
 */
void NsFrameLocate(Tcl_Obj *frameObj, const char *file, int line);

#endif
