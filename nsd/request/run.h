/* SPDX-License-Identifier: MPL-2.0
 * run.h --
 *
 *      What happens to a request in its connection thread.
 */

#ifndef NSD_REQUEST_RUN_H
#define NSD_REQUEST_RUN_H

#include "request/conn.h"

/*
 * Serve a request, from filters to clean-up; its memory is gone afterwards.
 */
void NsConnRun(NsWork *workPtr);

/*
 * Authorize the request and run its handler, or answer why not.  NS_ERROR: what
 * should have answered has failed.
 */
int NsConnServe(NsConn *connPtr);

#endif
