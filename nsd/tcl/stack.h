/*
 * stack.h --
 *
 *      Where the script of a running request is, asked from another thread.
 */

#ifndef NSD_TCL_STACK_H
#define NSD_TCL_STACK_H

#include "request/conn.h"

/*
 * Commands of a new interpreter that may wait for others tell of it from now on.
 */
void NsStackWatch(Tcl_Interp *interp);

/*
 * The calling thread runs connPtr's scripts in interp; until NsStackLeave.
 */
void NsStackEnter(NsConn *connPtr, Tcl_Interp *interp);
void NsStackLeave(void);

/*
 * Append a list of the frames of request `cnsN`, innermost first, each a dict
 * of level, type, line, cmd and what else `info frame` tells.  The request
 * answers itself, between two of its commands, and runs on.  If it is in one
 * command for a second, there is a single frame, of type `waiting`, when that
 * is a watched command.  NS_ERROR: no such request runs Tcl; NS_TIMEOUT: it is
 * in another command for a second.
 */
Ns_ReturnCode NsStackOfRequest(NsServer *serverPtr, const char *id,
                               Ns_DString *dsPtr);

#endif
