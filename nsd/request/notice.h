/*
 * notice.h --
 *
 *      Small pages of the server itself: errors, redirects.
 */

#ifndef NSD_REQUEST_NOTICE_H
#define NSD_REQUEST_NOTICE_H

#include "request/conn.h"

/*
 * Read section ns/server/S/redirects.
 */
void NsNoticeServerInit(NsServer *serverPtr);

/*
 * Answer with the error document of a status.  False: there is none, or too
 * many have been passed through; nothing was sent.  Otherwise *resultPtr is the
 * result of the document.
 */
bool NsReturnErrorPage(NsConn *connPtr, int status, int *resultPtr);

/*
 * Whether a status has an error document.
 */
bool NsHasErrorPage(NsServer *serverPtr, int status);

#endif
