/* SPDX-License-Identifier: MPL-2.0
 * charset.h --
 *
 *      From names of character sets to Tcl encodings and back.
 *
 *      A charset is what protocols call it (iso-8859-1), an encoding is Tcl's
 *      (iso8859-1).  Encodings once found stay loaded.  Tables may be extended
 *      at any time by any thread; usually the configuration does it.
 */

#ifndef NSD_HTTP_CHARSET_H
#define NSD_HTTP_CHARSET_H

#include "nsstring.h"
#include "http/names.h"

/*
 * Add or replace an alias (section ns/charsets).
 */
void NsCharsetAdd(const char *charset, const char *encodingName);

/*
 * The charset of files with an extension, dot included, in exactly this case
 * (section ns/encodings).
 */
void NsCharsetAddExtension(const char *extension, const char *charset);

/*
 * Asked by Ns_GetUrlEncoding for the encoding of the current connection.
 */
typedef Tcl_Encoding NsCharsetConnProc(void);
void                 NsCharsetSetConnProc(NsCharsetConnProc *proc);

/*
 * Every alias, in no order.
 */
void NsCharsetEach(NsNameProc *proc, void *arg);

/*
 * Whether an encoding is UTF-8; NULL is.
 */
bool NsEncodingIsUtf8(Tcl_Encoding encoding);

/*
 * Find the value of charset= in a content type, without quotes; false if there
 * is none.  *startPtr points into the type.
 */
bool NsTypeCharset(const char *type, const char **startPtr, size_t *lengthPtr);

#endif
