/* SPDX-License-Identifier: MPL-2.0
 * objv.h --
 *
 *      Values of options, beyond those that modules may use (nstcl.h).
 */

#ifndef NSD_TCL_OBJV_H
#define NSD_TCL_OBJV_H

#include "nstcl.h"

/*
 * As Ns_ObjvIndex, but in any case, and an unknown word is a bad option: 'bad
 * option "x": must be ...'.
 */
Ns_ObjvProc NsObjvWord;

/*
 * The status of a reply that ends a request: an int from 200 to 599, or 101.
 * GetStatus takes one word.
 */
Ns_ObjvProc NsObjvStatus;
int         NsTclGetStatus(Tcl_Interp *interp, Tcl_Obj *obj, int *statusPtr);

/*
 * A time that is not negative; name is that of the argument.
 */
int NsTclGetSpan(Tcl_Interp *interp, Tcl_Obj *obj, const char *name,
                 Ns_Time *timePtr);

#endif
