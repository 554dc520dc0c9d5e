/*
 * route.h --
 *
 *      The pages that URLs led to.
 */

#ifndef NSD_ADP_ROUTE_H
#define NSD_ADP_ROUTE_H

#include "adp/page.h"

/*
 * The page that a URL led to with these flags, in use until NsAdpRelease; NULL
 * when it is not known, or no longer available.
 */
NsAdpHeld *NsAdpRouteHold(NsAdpInterp *adpPtr, const char *url, int flags,
                          NsStamp lookStamp);

/*
 * Remember a page for a URL.  generation: NsRequestGeneration before it was
 * found.
 */
void NsAdpRoutePut(NsAdpInterp *adpPtr, const char *url, int flags,
                   unsigned generation, NsAdpHeld *heldPtr);

/*
 * Forget a page that goes away.
 */
void NsAdpRouteForget(NsAdpInterp *adpPtr, const NsAdpHeld *heldPtr);

#endif
