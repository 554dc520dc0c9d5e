/* SPDX-License-Identifier: MPL-2.0
 * inside.h --
 *
 *      The inside of Tcl's interpreters, for the few files that look there.
 *
 *      NS_KNOWS_TCL is defined where the tables of this version of Tcl are
 *      known.  Elsewhere, these files have a plain way.
 */

#ifndef NSD_TCL_INSIDE_H
#define NSD_TCL_INSIDE_H

#include "nstcl.h"

#if TCL_MAJOR_VERSION == 8 && TCL_MINOR_VERSION == 6 \
    && !defined(NS_PLAIN_GLOBALS)
#define NS_KNOWS_TCL
#include <tclInt.h>

/*
 * The variable of an entry of a table of variables.
 */
static inline Var *
NsTclVarOf(Tcl_HashEntry *entryPtr)
{
    return &((VarInHash *) (void *) ((char *) entryPtr
                                     - offsetof(VarInHash, entry)))
                ->var;
}

#endif

#endif
