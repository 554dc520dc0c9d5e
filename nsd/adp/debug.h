/* SPDX-License-Identifier: MPL-2.0
 * debug.h --
 *
 *      Attaching a debugger to a page.
 */

#ifndef NSD_ADP_DEBUG_H
#define NSD_ADP_DEBUG_H

#include "adp/adp_int.h"

/*
 * Attach a debugger, once per request (ns_adp_debug).
 */
int NsAdpDebug(NsAdpInterp *adpPtr, const char *host, const char *port,
               const char *procs);

/*
 * Attach one if the query asks for it for this file.  TCL_ERROR: the client got
 * a notice instead of the page.
 */
int NsAdpDebugFile(NsAdpInterp *adpPtr, const char *file);

#endif
