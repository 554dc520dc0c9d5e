/* SPDX-License-Identifier: MPL-2.0
 * request_line.h --
 *
 *      From the request line to Ns_Request.
 */

#ifndef NSD_HTTP_REQUEST_LINE_H
#define NSD_HTTP_REQUEST_LINE_H

#include "nsconn.h"
#include "base/arena.h"
#include "http/head.h"

/*
 * Fill an Ns_Request from a complete head.  All its parts live in the arena or
 * in the head's buffer; Ns_SetRequestUrl takes from the arena later, and
 * Ns_ResetRequest frees nothing.
 */
void NsRequestFromHead(NsArena *arenaPtr, const NsHttpHead *headPtr,
                       Ns_Request *requestPtr);

/*
 * From now on, requests have the elements of their URL as a Tcl list, too:
 * there is a module that knows only that.  While the server starts.
 */
void NsRequestMakeLists(void);

#endif
