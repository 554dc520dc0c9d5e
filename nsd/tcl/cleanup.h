/* SPDX-License-Identifier: MPL-2.0
 * cleanup.h --
 *
 *      What the end of a use, of a request, of an interpreter clears away.
 */

#ifndef NSD_TCL_CLEANUP_H
#define NSD_TCL_CLEANUP_H

#include "tcl/interp.h"

/*
 * When: the reply is finished; no script of the request runs any more, and the
 * interpreter still knows it; the interpreter is released, before its channels
 * are closed and its globals are unset.
 */
typedef enum NsCleanupPhase {
    NS_CLEANUP_CLOSE,
    NS_CLEANUP_END,
    NS_CLEANUP_RELEASE
} NsCleanupPhase;

#define NS_CLEANUP_PHASES 3

typedef void NsCleanupProc(NsInterp *itPtr);

/*
 * Call proc in that phase, after those that were added before.  To be called
 * before the first interpreter is made.
 */
void NsInterpAddCleanup(NsCleanupPhase phase, NsCleanupProc *proc);

/*
 * The reply is finished.
 */
void NsInterpCleanupClose(NsInterp *itPtr);

/*
 * The request has ended.
 */
void NsInterpCleanupEnd(NsInterp *itPtr);

/*
 * The steps at the end of a use: release what the interpreter has taken, close
 * channels, unset globals, forget sets, run the one-shot calls of
 * Ns_TclRegisterDeferred.  Two of these steps alone.
 */
void NsInterpCleanup(NsInterp *itPtr);
void NsInterpCleanupChannels(NsInterp *itPtr);
void NsInterpRunDeferred(NsInterp *itPtr);

#endif
