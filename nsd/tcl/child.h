/*
 * child.h --
 *
 *      Interpreters that scripts make with `interp create`.
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

#endif
