/* SPDX-License-Identifier: MPL-2.0
 * watched.h --
 *
 *      The commands that may wait for others, and what they report of it.
 */

#ifndef NSD_TCL_WATCHED_H
#define NSD_TCL_WATCHED_H

#include <tcl.h>

/*
 * From now on, commands of a new interpreter that may wait for others report
 * it (stack.h).
 */
void NsWatchedAdd(Tcl_Interp *interp);

#endif
