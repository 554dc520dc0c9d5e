/* SPDX-License-Identifier: MPL-2.0
 * notice.h --
 *
 *      Small pages of the server itself: errors, redirects.
 */

#ifndef NSD_REQUEST_NOTICE_H
#define NSD_REQUEST_NOTICE_H

#include "request/conn.h"

/*
 * Answer with the page of an error status: the error document, else the
 * built-in page, else none.  That of 500 is not sent inside a body that has
 * begun: such a body is ended, and the caller has logged why.
 */
int NsReturnStatusPage(NsConn *connPtr, int status);

#endif
