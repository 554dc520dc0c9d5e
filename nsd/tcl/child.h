/* SPDX-License-Identifier: MPL-2.0
 * child.h --
 *
 *      Interpreters that scripts make with `interp create`, and libraries in C.
 */

#ifndef NSD_TCL_CHILD_H
#define NSD_TCL_CHILD_H

#include "nstcl.h"

/*
 * Interpreters that this one creates, and those that they create, get its
 * `exit` in place of Tcl's own, which would end the process.  In a safe one it
 * is hidden, as Tcl's own is.
 */
void NsChildInheritExit(Tcl_Interp *interp);

/*
 * The effect of Tcl's own `exit` in interpreters that a library has made, in C:
 * in a thread of the library it ends this thread; in one of ours, which it
 * leaves no way out, it stops the server in the usual way.  In the main thread
 * it ends the process.
 */
void NsChildTakeExit(void);

#endif
