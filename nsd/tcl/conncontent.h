/* SPDX-License-Identifier: MPL-2.0
 * conncontent.h --
 *
 *      The options of ns_conn about what the client sent.
 */

#ifndef NSD_TCL_CONNCONTENT_H
#define NSD_TCL_CONNCONTENT_H

#include "tcl/connoption.h"

extern NsConnOptionProc NsConnOptionHeaderLength, NsConnOptionContent,
    NsConnOptionCopy, NsConnOptionContentLength, NsConnOptionFiles,
    NsConnOptionFileOffset, NsConnOptionFileLength, NsConnOptionFileHeaders,
    NsConnOptionForm;

/*
 * The form of the request; NULL with a message and the code NS_INVALID_UTF8: it
 * is not in any charset that the server or the caller (fallback, or NULL)
 * allows.
 */
Ns_Set *NsConnOptionGetForm(NsInterp *interpPtr, Tcl_Encoding fallback);

/*
 * Bytes of the body for a script: as text where they are that, else, or when
 * isBinary, as they are.
 */
Tcl_Obj *NsConnBodyObj(NsConn *connPtr, const char *bytes, size_t length,
                       bool isBinary);

/*
 * Append bytes of the body as text, read in the charset of the Content-Type, or
 * else that of URLs.  False: they are of a type that is not text, or not text
 * in that charset.
 */
bool NsConnBodyText(NsConn *connPtr, const char *bytes, size_t length,
                    Ns_DString *dsPtr);

#endif
