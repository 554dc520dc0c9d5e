/* SPDX-License-Identifier: MPL-2.0
 * current.h --
 *
 *      From Tcl's interpreter to ours: its NsInterp, request and server.
 */

#ifndef NSD_TCL_CURRENT_H
#define NSD_TCL_CURRENT_H

#include "nstcl.h"

typedef struct NsInterp NsInterp;

/*
 * The NsInterp that the calling thread asked for last, or NULL.  Nearly all
 * threads have only one.
 */
extern _Thread_local NsInterp *nsCurrentPtr;

/*
 * The NsInterp of an interpreter; NULL if it is not one of ours.  interp.h has
 * the shortcut NsInterpOf.
 */
NsInterp *NsCurrentFind(Tcl_Interp *interp);

/*
 * Bind an NsInterp to its interpreter; freeProc runs when Tcl deletes that, and
 * calls Forget.
 */
void NsCurrentBind(NsInterp *itPtr, Tcl_InterpDeleteProc *freeProc);
void NsCurrentForget(const NsInterp *itPtr);

#endif
