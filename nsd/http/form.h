/* SPDX-License-Identifier: MPL-2.0
 * form.h --
 *
 *      Forms: queries and URL-encoded bodies; multipart.h has the others.
 *
 *      The server adds the keys NAME.tmpfile and NAME.content-type for each
 *      uploaded file, and scripts trust them.  So no parser here takes a field
 *      of such a name from the client, in whatever case: it is dropped.
 */

#ifndef NSD_HTTP_FORM_H
#define NSD_HTTP_FORM_H

#include "nsset.h"
#include "nsstring.h"

/*
 * Append the fields of `a=b&c=d`, decoded, to a set.  A field without an equals
 * sign has a NULL value.  NULL as encoding means UTF-8.  A value that no Tcl
 * string can hold, hundreds of megabytes long, is cut.
 */
void NsFormParseQuery(const char *text, size_t length, Tcl_Encoding encoding,
                      Ns_Set *setPtr);

/*
 * The same, but what is to be UTF-8 and is not is read in the fallback encoding
 * instead.  False if there is none (NULL, or UTF-8 itself); the fields before
 * it are in the set.
 */
bool NsFormParseQueryChecked(const char *text, size_t length,
                             Tcl_Encoding encoding, Tcl_Encoding fallback,
                             Ns_Set *setPtr);

/*
 * Whether the fields, unescaped, are valid UTF-8.
 */
bool NsFormIsUtf8(const char *text, size_t length);

/*
 * Whether the server alone may add a field of this name.
 */
bool NsFormIsServerKey(const char *name);

/*
 * Append bytes of a part, read in the encoding.
 */
void NsFormDecode(Ns_DString *dsPtr, const char *bytes, size_t length,
                  Tcl_Encoding encoding);

#endif
