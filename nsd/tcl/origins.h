/* SPDX-License-Identifier: MPL-2.0
 * origins.h --
 *
 *      Where the procedures of a server's libraries are defined.
 *
 *      Tcl knows that of an interpreter that has sourced the file.  All others
 *      of the server have their procedures from the blueprint.
 */

#ifndef NSD_TCL_ORIGINS_H
#define NSD_TCL_ORIGINS_H

#include "nstcl.h"

/*
 * From now on, note the origin of each procedure that the interpreter, which
 * is one of a server, defines in a file.
 */
void NsOriginsNote(Tcl_Interp *interp);

/*
 * The file of a procedure (full name), appended, and the line in it that is
 * *linePtr of its body.  False, and nothing changed: not known, or the
 * interpreter has another procedure of that name.  The interpreter's result is
 * lost.
 */
bool NsOriginOf(Tcl_Interp *interp, const char *name, Ns_DString *filePtr,
                int *linePtr);

#endif
