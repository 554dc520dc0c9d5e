/* SPDX-License-Identifier: MPL-2.0
 * trace.h --
 *
 *      Traces: what a server runs when an interpreter is made, used, bound to a
 *      request, released, or deleted.
 *
 *      The list only grows, while the server starts, so running needs no lock.
 */

#ifndef NSD_TCL_TRACE_H
#define NSD_TCL_TRACE_H

#include "tcl/interp.h"

/*
 * Run the traces of one of NS_TCL_TRACE_*: create, allocate and getconn in the
 * order of registration, the others in reverse.  A trace that fails is logged
 * and does not stop the others.
 */
void NsTraceRun(NsInterp *itPtr, int when);

/*
 * Append a description of each trace of that kind, in the order of execution.
 */
void NsTraceDescribe(Ns_DString *dsPtr, NsServer *serverPtr, int when);

/*
 * Append which C procedures the traces of that kind are, in the order of
 * execution.  False: one of them is a script.
 */
bool NsTraceAppendProcs(Ns_DString *dsPtr, NsServer *serverPtr, int when);

/*
 * Register a script, a list of arguments following it.
 */
int NsTraceAddScript(NsInterp *itPtr, int when, Tcl_Obj *scriptPtr, int objc,
                     Tcl_Obj *const *objv);

/*
 * Once, before any trace is registered.
 */
void NsTraceInit(void);

#endif
