/* SPDX-License-Identifier: MPL-2.0
 * failure.h --
 *
 *      Pages for authors: why a request failed, while a site is developed.
 *
 *      The trace of a request's last error is kept until the request ends. With
 *      parameter development status 500 is then answered with it, if the client
 *      is on this machine (procedure _ns_failurepage).
 */

#ifndef NSD_TCL_FAILURE_H
#define NSD_TCL_FAILURE_H

#include "tcl/interp.h"

/*
 * Once; and by the main thread, before any request.
 */
void NsFailureInit(void);
void NsFailureConfigure(void);

/*
 * Whether development is on; constant after NsFailureConfigure.
 */
bool NsFailureIsShown(void);

/*
 * An error was logged for the request; the request ends.
 */
void NsFailureNote(NsConn *connPtr, const char *trace);

/*
 * Whether the trace is of the error that was logged last, which has passed
 * through more commands since: a page's error that leaves ns_adp_parse is that
 * of the script around it, too.
 */
bool NsFailureIsNoted(const NsConn *connPtr, const char *trace);
void NsFailureForget(NsInterp *itPtr);

#endif
