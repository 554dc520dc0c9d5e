/* SPDX-License-Identifier: MPL-2.0
 * fatal.h --
 *
 *      The end of the process, for reasons base finds: out of memory, no
 *      thread can be started.
 *
 *      Base cannot log.  The log room registers how the last words reach the
 *      log; until then they go to standard error.
 */

#ifndef NSD_BASE_FATAL_H
#define NSD_BASE_FATAL_H

#include "nstypes.h"

/*
 * Write the message where the operator looks.  Must not allocate: memory may be
 * what is missing.  May end the process itself; when it returns, base aborts.
 */
typedef void NsFatalProc(const char *message);

void NsFatalSetProc(NsFatalProc *proc);

/*
 * The procedure to call before the process ends in the middle of things,
 * whoever ends it: Ns_Fatal, NsFatal, a panic of Tcl.  Set once; must not
 * allocate.
 */
typedef void NsFatalEndProc(void);
void         NsFatalSetEndProc(NsFatalEndProc *proc);
void         NsFatalEnd(void);

/*
 * As long as the process starts, such an end is a failed start: it clears up by
 * this procedure, and the status is 1.  NULL: the process has started.
 */
void NsFatalSetStartProc(NsFatalEndProc *proc);

/*
 * After the last words: do all of that, and abort unless the process starts.
 */
void NsFatalAbort(void) NS_GNUC_NORETURN;

void NsFatal(const char *format, ...) NS_GNUC_PRINTF(1, 2) NS_GNUC_NORETURN;

#endif
