/* SPDX-License-Identifier: MPL-2.0
 * errorpage.h --
 *
 *      Pages of the site's own for error statuses.
 */

#ifndef NSD_REQUEST_ERRORPAGE_H
#define NSD_REQUEST_ERRORPAGE_H

#include "request/conn.h"

void NsErrorPageInit(void);

/*
 * Read section ns/server/S/redirects.
 */
void NsErrorPageServerInit(NsServer *serverPtr);

/*
 * Answer with the error document of a status, as for GET: a document has to be
 * there, not to take what the request brought.  False: there is none, or it
 * fails with that same status, or too many have been passed through; nothing
 * was sent.  Otherwise *resultPtr is the result of the document.
 */
bool NsErrorPageReturn(NsConn *connPtr, int status, int *resultPtr);

/*
 * Whether a status has an error document.
 */
bool NsErrorPageExists(NsServer *serverPtr, int status);

#endif
