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
 * Answer with the error document of a status, as for GET: a document has to be
 * there, not to take what the request brought.  False: there is none, or it
 * fails with that same status, or too many have been passed through; nothing
 * was sent.  Otherwise *resultPtr is the result of the document.
 */
bool NsReturnErrorPage(NsConn *connPtr, int status, int *resultPtr);

/*
 * Answer with the page of an error status: the error document, else the
 * built-in page, else none.  That of 500 is not sent inside a body that has
 * begun: such a body is ended, and the caller has logged why.
 */
int NsReturnStatusPage(NsConn *connPtr, int status);

/*
 * Whether a status has an error document.
 */
bool NsHasErrorPage(NsServer *serverPtr, int status);

#endif
