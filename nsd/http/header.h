/* SPDX-License-Identifier: MPL-2.0
 * header.h --
 *
 *      Header fields: parameters of values, and fields on output.
 */

#ifndef NSD_HTTP_HEADER_H
#define NSD_HTTP_HEADER_H

#include "nsconn.h"
#include "nsstring.h"

/*
 * Find a parameter in the value of a header field: `; name=value`, blanks
 * allowed around both marks, the name in any case.  A quoted value comes
 * without its quotes, escapes inside still in place.
 */
bool NsFieldParameter(const char *value, const char *name,
                      const char **startPtr, size_t *lengthPtr);

/*
 * Copy a value into a response header.  Every value takes this way, so that
 * none can end its line: control characters but the tab become blanks, and so
 * do the two bytes of a Tcl string's NUL.  to has room for length bytes;
 * exactly as many are written, without a null byte.  False: something was
 * replaced.
 */
bool NsHeaderCopyValue(char *to, const char *value, size_t length);

/*
 * Write `name: value` CR LF to a buffer with room for both lengths and
 * NS_HEADER_EXTRA bytes.  Where the next field goes: to itself, if the name is
 * not a token.  *isCleanPtr is cleared when something was left out or replaced.
 */
#define NS_HEADER_EXTRA 4
char *NsHeaderWrite(char *to, const char *name, size_t nameLength,
                    const char *value, size_t valueLength, bool *isCleanPtr);

#endif
