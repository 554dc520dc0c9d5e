/* SPDX-License-Identifier: MPL-2.0
 * httptype.h --
 *
 *      What the content type of a body says of it.
 */

#ifndef NSD_TCL_HTTPTYPE_H
#define NSD_TCL_HTTPTYPE_H

#include <stdbool.h>
#include <tcl.h>

/*
 * Whether a body of that type is text: text/..., JSON, XML, forms, or one with
 * a charset.
 */
bool NsHttpTypeIsText(const char *type);

/*
 * The encoding of its charset; NULL: it names none that is known.
 */
Tcl_Encoding NsHttpTypeEncoding(const char *type);

/*
 * A body of that type (NULL: not known) as a value: text, or a byte array, also
 * when it is not the text that it should be.
 */
Tcl_Obj *NsHttpTypeDecode(const char *type, const char *bytes, int length);

#endif
