/* SPDX-License-Identifier: MPL-2.0
 * serverarg.h --
 *
 *      The option -server.
 */

#ifndef NSD_TCL_SERVERARG_H
#define NSD_TCL_SERVERARG_H

#include "tcl/interp.h"

/*
 * The server of that name; NULL, with a message: there is none.
 */
NsServer *NsServerArgFind(Tcl_Interp *interp, const char *name);

/*
 * The option of commands that usually concern the interpreter's own server.  It
 * is accepted, but not part of their usage messages.
 */
typedef struct NsServerArg {
    NsServer *serverPtr; /* The one named, or the interpreter's. */
    int       objc;      /* The words without the option. */
    Tcl_Obj **objv;
} NsServerArg;

/*
 * Take `-server NAME` out of the options.  TCL_ERROR, nothing to free: the
 * value is missing, or there is no such server.
 */
int  NsServerArgTake(NsServerArg *argPtr, NsInterp *itPtr, int objc,
                     Tcl_Obj *const *objv);
void NsServerArgFree(NsServerArg *argPtr);

#endif
