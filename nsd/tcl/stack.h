/* SPDX-License-Identifier: MPL-2.0
 * stack.h --
 *
 *      The position of a running request's script, asked from another thread.
 */

#ifndef NSD_TCL_STACK_H
#define NSD_TCL_STACK_H

#include "request/conn.h"

/*
 * From now on, commands of a new interpreter that may wait for others report
 * it.
 */
void NsStackWatch(Tcl_Interp *interp);

/*
 * The calling thread runs connPtr's scripts in interp; until NsStackLeave.
 */
void NsStackEnter(NsConn *connPtr, Tcl_Interp *interp);
void NsStackLeave(void);

/*
 * Append a list of the frames of request `cnsN`, innermost first, each a dict
 * of level, type, line, cmd and whatever else `info frame` reports.  The
 * request answers itself, between two of its commands, and runs on.  If it is
 * in one command for a second, there is a single frame, of type `waiting`,
 * when that is a watched command.  NS_ERROR: no such request runs Tcl;
 * NS_TIMEOUT: it is in another command for a second.
 */
Ns_ReturnCode NsStackOfRequest(NsServer *serverPtr, const char *id,
                               Ns_DString *dsPtr);

#endif
