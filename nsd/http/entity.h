/* SPDX-License-Identifier: MPL-2.0
 * entity.h --
 *
 *      References to characters in HTML: `&lt;`, `&#60;`, `&#x3c;`.
 */

#ifndef NSD_HTTP_ENTITY_H
#define NSD_HTTP_ENTITY_H

#include "nsstring.h"

/*
 * Append the character of the reference that begins at text, an ampersand, and
 * ends before end.  The length of the reference; 0, and nothing appended, if
 * there is none: its name is not of HTML 4, or no semicolon ends it.  Control
 * characters, except those of white space, are left out.
 */
size_t NsEntityAppend(Ns_DString *dsPtr, const char *text, const char *end);

#endif
