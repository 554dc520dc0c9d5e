/* SPDX-License-Identifier: MPL-2.0
 * callback.h --
 *
 *      Scripts kept to be evaluated later, in any thread.
 */

#ifndef NSD_TCL_CALLBACK_H
#define NSD_TCL_CALLBACK_H

#include "nstcl.h"

/*
 * Evaluate the script with its stored arguments; with the given strings, which
 * end with NULL, before these.  The error stays in the interpreter, its trace
 * naming the callback.
 */
int NsCallbackEval(Tcl_Interp *interp, Ns_TclCallback *callbackPtr);
int NsCallbackEvalWith(Tcl_Interp *interp, Ns_TclCallback *callbackPtr,
                       va_list ap);

#endif
