/* SPDX-License-Identifier: MPL-2.0
 * stack.h --
 *
 *      The position of a running request's script, asked from another thread;
 *      and its end, ordered by one.
 */

#ifndef NSD_TCL_STACK_H
#define NSD_TCL_STACK_H

#include "request/conn.h"

/*
 * The calling thread runs connPtr's scripts in interp; until NsStackLeave.
 */
void NsStackEnter(NsConn *connPtr, Tcl_Interp *interp);
void NsStackLeave(void);

/*
 * In between: the request has its reply.  An order to end that has not reached
 * its script is void: it was not meant for what follows.
 */
void NsStackSettle(Tcl_Interp *interp);

/*
 * Append a list of the frames of request `cnsN`, innermost first, each a dict
 * of level, type, line, cmd and whatever else `info frame` reports.  The
 * request answers itself, between two of its commands or from a wait that can
 * be called (interrupt.h), and goes on; or another thread tells what it has
 * noted before a wait.  If none of this is to be had for a second, there is a
 * single frame, of type `waiting`, when the request is in a watched command.
 * NS_ERROR: no such request runs Tcl; NS_TIMEOUT: it is in another command for
 * a second.
 */
Ns_ReturnCode NsStackOfRequest(NsServer *serverPtr, const char *id,
                               Ns_DString *dsPtr);

/*
 * End the script of request `cnsN`: it unwinds without a chance to catch that,
 * and waits of interrupt.h end.  The reply is 503 if none has begun, or is cut
 * off; traces and cleanup follow.  The interpreter is not used again.
 *
 * NS_OK: it unwinds.  NS_TIMEOUT: it is in one command for a second, and
 * unwinds when that is done.  NS_ERROR: no such request runs Tcl.
 */
Ns_ReturnCode NsStackCancel(NsServer *serverPtr, const char *id,
                            const char *reason);

/*
 * The same, without a wait, for a request that has run for longer than the
 * limit; its traces have as long again.  Called until it ends.
 */
void NsStackExpire(NsConn *connPtr, NsStamp limit);

/*
 * Have the thread of a request look whether its client has left, between two
 * commands or from a wait that can be called, and cancel it then.  Without a
 * wait.
 */
void NsStackLookAtClient(NsConn *connPtr);

/*
 * An error of a script of the interpreter: is it because the thread's request
 * was cancelled?  Then scripts can be run again, unless this is one.
 */
bool NsStackIsCancelled(Tcl_Interp *interp);

/*
 * A command that may wait, while it runs; on its thread's stack.
 */
typedef struct NsStackCall {
    struct NsStackRunner *runnerPtr;
    struct NsStackCall   *outerPtr; /* NULL: none. */
    int                   objc;     /* Words up to one of mere bytes. */
    Tcl_Obj *const       *objv;
} NsStackCall;

/*
 * The calling thread runs a command with these words, which are shown to one
 * who asks and has no other answer.  False, and no End is due: it runs no
 * request.
 */
bool NsStackBeginCall(NsStackCall *callPtr, int objc, Tcl_Obj *const *objv);
void NsStackEndCall(NsStackCall *callPtr);

#endif
