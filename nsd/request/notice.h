/* SPDX-License-Identifier: MPL-2.0
 * notice.h --
 *
 *      Small pages of the server itself: errors, redirects.
 */

#ifndef NSD_REQUEST_NOTICE_H
#define NSD_REQUEST_NOTICE_H

#include "request/conn.h"

/*
 * Answer a failed request in place of the error document and the built-in page,
 * unless a reply has begun.  False: it did not.
 */
typedef bool(NsFailureProc)(NsConn *connPtr, int status);

/*
 * Main thread, before any request.
 */
void NsStatusPageSetFailureProc(NsFailureProc *proc);

/*
 * Whether such a procedure answered.
 */
bool NsStatusPageTellFailure(NsConn *connPtr, int status);

/*
 * Append the page that a template (noticeadp) makes of a title, a text of HTML
 * or NULL, and the line about the server, which may be empty.  False: it makes
 * none; nothing was appended.
 */
typedef bool(NsTemplateProc)(NsConn *connPtr, const char *file,
                             const char *title, const char *notice,
                             const char *detail, Ns_DString *dsPtr);

/*
 * Main thread, before any request.
 */
void NsNoticeSetTemplateProc(NsTemplateProc *proc);

/*
 * Answer with the page of an error status: the error document, else the
 * built-in page, else none.  That of 500 is not sent inside a body that has
 * begun: such a body is cut off, and the caller has logged why.
 */
int NsReturnStatusPage(NsConn *connPtr, int status);

#endif
