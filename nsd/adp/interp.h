/* SPDX-License-Identifier: MPL-2.0
 * interp.h --
 *
 *      The ADP state of an interpreter.
 */

#ifndef NSD_ADP_INTERP_H
#define NSD_ADP_INTERP_H

#include "adp/adp_int.h"

/*
 * The state of an interpreter, made at first use.  NULL without a server.
 */
NsAdpInterp *NsAdpGet(Tcl_Interp *interp);

/*
 * Back to the configured values: at the begin and the end of a request.
 */
void NsAdpReset(NsAdpInterp *adpPtr);

/*
 * Have the state of each interpreter of a server reset and freed in time.
 */
void NsAdpInterpServerInit(NsServer *serverPtr);

#endif
