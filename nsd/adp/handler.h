/* SPDX-License-Identifier: MPL-2.0
 * handler.h --
 *
 *      Requests for pages, and the settings of a server.
 */

#ifndef NSD_ADP_HANDLER_H
#define NSD_ADP_HANDLER_H

#include "request/constraints.h"
#include "adp/adp_int.h"

void NsAdpHandlerInit(void);

/*
 * Read the adp section of a server and register its page handlers.
 */
void NsAdpServerInit(NsServer *serverPtr);

/*
 * The settable flags in the order of registration options, then a NULL key.
 */
extern const Ns_ObjvTable nsAdpFlagNames[];

/*
 * Register the page handler of a server for method and url.
 */
void NsAdpRegisterPage(NsServer *serverPtr, NsConstraints *constraintsPtr,
                       const char *method, const char *url, const char *file,
                       const Ns_Time *ttlPtr, int pageFlags, int opFlags);

/*
 * Answer the request for a page that NsAdpRouteHold has not found; the result
 * of the reply.
 */
int NsAdpAnswerUnread(const NsAdpInterp *adpPtr, Ns_Conn *conn);

#endif
