/* SPDX-License-Identifier: MPL-2.0
 * httptype.c --
 *
 *      What the content type of a body says of it.
 */

#include "tcl/httptype.h"

#include "http/charset.h"
#include "http/url.h"
#include "nsstring.h"

static bool EndsWith(const char *text, size_t length, const char *end);
static bool IsUtf8(const char *bytes, int length);

bool
NsHttpTypeIsText(const char *type)
{
    size_t      length = strcspn(type, "; \t");
    const char *start;
    size_t      n;

    return strncasecmp(type, "text/", 5u) == 0
        || EndsWith(type, length, "/json") || EndsWith(type, length, "+json")
        || EndsWith(type, length, "/xml") || EndsWith(type, length, "+xml")
        || EndsWith(type, length, "/x-www-form-urlencoded")
        || EndsWith(type, length, "/javascript")
        || NsTypeCharset(type, &start, &n);
}

static bool
EndsWith(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length >= n && strncasecmp(text + length - n, end, n) == 0;
}

Tcl_Encoding
NsHttpTypeEncoding(const char *type)
{
    const char *start;
    size_t      length;

    return NsTypeCharset(type, &start, &length)
        ? Ns_GetCharsetEncodingEx(start, (int) length)
        : NULL;
}

Tcl_Obj *
NsHttpTypeDecode(const char *type, const char *bytes, int length)
{
    bool         isText = type != NULL && NsHttpTypeIsText(type);
    Tcl_Encoding encoding = isText ? NsHttpTypeEncoding(type) : NULL;
    const char  *start;
    size_t       n;
    Tcl_DString  ds;
    Tcl_Obj     *result;

    if (isText && encoding == NULL) {
        /* A charset that nobody knows is not UTF-8. */
        isText = !NsTypeCharset(type, &start, &n);
        encoding = Ns_GetEncoding("utf-8");
    }
    if (!isText || (NsEncodingIsUtf8(encoding) && !IsUtf8(bytes, length))) {
        return Tcl_NewByteArrayObj((const unsigned char *) bytes, length);
    }
    (void) Tcl_ExternalToUtfDString(encoding, bytes, length, &ds);
    result = Tcl_NewStringObj(Tcl_DStringValue(&ds), Tcl_DStringLength(&ds));
    Tcl_DStringFree(&ds);
    return result;
}

static bool
IsUtf8(const char *bytes, int length)
{
    const char *end = bytes + length;

    while (bytes < end) {
        size_t n = NsUtf8Sequence(bytes, end);

        if (n == 0u) {
            return false;
        }
        bytes += n;
    }
    return true;
}
