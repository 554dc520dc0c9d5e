/* SPDX-License-Identifier: MPL-2.0
 * connbody.h --
 *
 *      The body of a request.
 */

#ifndef NSD_REQUEST_CONNBODY_H
#define NSD_REQUEST_CONNBODY_H

#include "request/conn.h"

/*
 * Have a body that lies in a file at hand; once, before anything runs for the
 * request, so that whoever asks for the body has it, or does not run.
 * NS_ERROR, and a line in the log: it cannot be had; 503 is due.
 */
Ns_ReturnCode NsConnMapBody(NsConn *connPtr);

/*
 * The whole body; NULL when there is none or it is in a named file.  Null
 * terminated only when in memory from the start.
 */
const char *NsConnBody(NsConn *connPtr, size_t *lengthPtr);

/*
 * Parameter maxcontentmemory: what a script may have as one value.  0: no
 * limit.
 */
void    NsConnSetContentMax(int64_t bytes);
bool    NsConnContentFits(size_t bytes);
int64_t NsConnContentMax(void);

/*
 * Whether the body is a form by its type, as JSON is too.  The same for parsing
 * a form, be it in a named file; NULL also when a script has cut that.
 */
bool        NsConnIsForm(NsConn *connPtr);
bool        NsConnIsJson(NsConn *connPtr);
bool        NsConnIsMultipart(NsConn *connPtr);
const char *NsConnFormBody(NsConn *connPtr, size_t *lengthPtr);

#endif
