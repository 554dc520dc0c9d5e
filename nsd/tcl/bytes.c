/* SPDX-License-Identifier: MPL-2.0
 * bytes.c --
 *
 *      Words as bytes, and bytes as results.
 */

#include "tcl/bytes.h"

#include "http/base64.h"
#include "http/url.h"
#include "nsthread.h"
#include "tcl/result.h"

#include <openssl/crypto.h>

const Ns_ObjvTable nsBytesForms[] = {
    {"hex", NS_BYTES_HEX},
    {"base64url", NS_BYTES_BASE64URL},
    {"base64", NS_BYTES_BASE64},
    {"binary", NS_BYTES_BINARY},
    {NULL, 0}};

static bool IsPlainUtf8(const unsigned char *bytes, size_t length);

/*
 * Most text is in Tcl's form what it is in UTF-8, and is not copied.
 */
void
NsBytesInit(NsBytes *bytesPtr, Tcl_Obj *obj, bool isBinary)
{
    int length = 0;

    Ns_DStringInit(&bytesPtr->text);
    bytesPtr->bytes = (const unsigned char *) "";
    if (obj != NULL && (isBinary || NsTclIsByteArray(obj))) {
        bytesPtr->bytes = Tcl_GetByteArrayFromObj(obj, &length);
    } else if (obj != NULL) {
        const char *text = Tcl_GetStringFromObj(obj, &length);

        if (!IsPlainUtf8((const unsigned char *) text, (size_t) length)) {
            text = Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"),
                                            text, length, &bytesPtr->text);
            length = Ns_DStringLength(&bytesPtr->text);
        }
        bytesPtr->bytes = (const unsigned char *) text;
    }
    bytesPtr->length = (size_t) length;
}

void
NsBytesFree(NsBytes *bytesPtr)
{
    OPENSSL_cleanse(Ns_DStringValue(&bytesPtr->text),
                    (size_t) Ns_DStringLength(&bytesPtr->text));
    Ns_DStringFree(&bytesPtr->text);
}

/*
 * Tcl writes a null byte as C0 80, and what needs four bytes as two surrogates
 * of three each, which begin with ED.
 */
static bool
IsPlainUtf8(const unsigned char *bytes, size_t length)
{
    return memchr(bytes, 0xC0, length) == NULL
        && memchr(bytes, 0xED, length) == NULL;
}

Tcl_Obj *
NsBytesObj(const unsigned char *bytes, size_t length, int form)
{
    static const char digits[] = "0123456789abcdef";
    Tcl_Obj          *obj;
    char             *text;
    size_t            n;

    if (form == NS_BYTES_BINARY) {
        return Tcl_NewByteArrayObj(bytes, (int) length);
    }
    text = ns_malloc(form == NS_BYTES_HEX ? 2 * length + 1
                                          : NsBase64EncodedBytes(length));
    if (form == NS_BYTES_HEX) {
        for (n = 0; n < 2 * length; n += 2) {
            text[n] = digits[bytes[n / 2] >> 4];
            text[n + 1] = digits[bytes[n / 2] & 0x0F];
        }
    } else {
        n = NsBase64EncodeLine(form == NS_BYTES_BASE64URL ? NS_BASE64_URL
                                                          : NS_BASE64_PLAIN,
                               bytes, length, text);
    }
    obj = Tcl_NewStringObj(text, (int) n);
    OPENSSL_cleanse(text, n);
    ns_free(text);
    return obj;
}

Tcl_Obj *
NsBytesTextObj(const unsigned char *bytes, size_t length)
{
    const char *p = (const char *) bytes, *end = p + length;
    Ns_DString  ds;
    Tcl_Obj    *obj;
    size_t      n;

    while (p < end && (n = NsUtf8Sequence(p, end)) > 0) {
        p += n;
    }
    if (p < end) {
        return Tcl_NewByteArrayObj(bytes, (int) length);
    }
    /* Tcl has forms of its own for null bytes and beyond U+FFFF. */
    Tcl_ExternalToUtfDString(Ns_GetCharsetEncoding("utf-8"),
                             (const char *) bytes, (int) length, &ds);
    obj = Tcl_NewStringObj(Ns_DStringValue(&ds), Ns_DStringLength(&ds));
    Ns_DStringFree(&ds);
    return obj;
}
