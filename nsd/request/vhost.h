/* SPDX-License-Identifier: MPL-2.0
 * vhost.h --
 *
 *      Directories and locations that depend on the Host field.
 */

#ifndef NSD_REQUEST_VHOST_H
#define NSD_REQUEST_VHOST_H

#include "nsconn.h"
#include "nsfile.h"
#include "request/conn.h"

/*
 * Whether the directory of a page depends on more than the server.
 */
bool NsVhostIsEnabled(const NsServer *serverPtr);

/*
 * Append the server root, or the page root, for a host; host NULL: of the
 * current request, if any.
 */
char *NsServerRoot(Ns_DString *dsPtr, NsServer *serverPtr, const char *host);
char *NsPageRoot(Ns_DString *dsPtr, NsServer *serverPtr, const char *host);

#endif
