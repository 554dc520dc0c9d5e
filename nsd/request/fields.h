/* SPDX-License-Identifier: MPL-2.0
 * fields.h --
 *
 *      Fields of the response header; nsreturn.h has the rest of them.
 */

#ifndef NSD_REQUEST_FIELDS_H
#define NSD_REQUEST_FIELDS_H

#include "nsconn.h"
#include "http/cookie.h"

/*
 * Add a cookie to the reply; replaces: those that the reply already has and
 * that a browser would take for the same go.
 */
void NsConnAddCookie(Ns_Conn *conn, const NsCookie *cookiePtr, bool replaces);

#endif
