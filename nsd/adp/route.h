/* SPDX-License-Identifier: MPL-2.0
 * route.h --
 *
 *      The pages that URLs led to.
 */

#ifndef NSD_ADP_ROUTE_H
#define NSD_ADP_ROUTE_H

#include "adp/page.h"
#include "request/conn.h"

/*
 * The page of a URL, parsed with these flags; see NsAdpHold.
 */
NsAdpHeld *NsAdpRouteHold(NsAdpInterp *adpPtr, const char *url, int flags,
                          NsLook look);

/*
 * The page answers a request: that is one of its route (request/routes.h),
 * named by the file, as it is below the page root if it is there.
 */
void NsAdpRouteNote(const NsAdpInterp *adpPtr, NsConn *connPtr,
                    NsAdpHeld *heldPtr);

/*
 * Forget a page that goes away.
 */
void NsAdpRouteForget(NsAdpInterp *adpPtr, const NsAdpHeld *heldPtr);

#endif
