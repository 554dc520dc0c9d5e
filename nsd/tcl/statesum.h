/* SPDX-License-Identifier: MPL-2.0
 * statesum.h --
 *
 *      A sum over the state of an interpreter: two interpreters of a process
 *      with the same sum have the same commands and namespaces.
 *
 *      To compute it takes a tenth of what it takes to write the state down.
 */

#ifndef NSD_TCL_STATESUM_H
#define NSD_TCL_STATESUM_H

#include "nstcl.h"

/*
 * Append the sum: of all namespaces with what they have, and of the text.  Not
 * included are global variables, the namespaces whose full names match a
 * pattern of the list withoutObj, and what C code keeps for its commands.
 *
 * False, and nothing is appended: what is there cannot be told.  Reading a
 * variable may run a trace, or the tables of this version of Tcl are not known.
 */
bool NsStateSum(Tcl_Interp *interp, Tcl_Obj *withoutObj, const char *text,
                Ns_DString *sumPtr);

#endif
