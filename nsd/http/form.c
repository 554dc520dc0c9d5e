/* SPDX-License-Identifier: MPL-2.0
 * form.c --
 *
 *      URL-encoded forms.
 */

#include "http/form.h"

#include "nsconn.h"
#include "nsthread.h"

#include "base/chars.h"
#include "http/charset.h"
#include "http/url.h"

/*
 * Decodes one name or value; the result is good until the next call on dsPtr.
 * NULL: it cannot be decoded.
 */
typedef struct Decoder Decoder;
typedef const char    *DecodeProc(const Decoder *decoderPtr, Ns_DString *dsPtr,
                                  const char *text, size_t length);

struct Decoder {
    DecodeProc  *proc;
    Tcl_Encoding encoding; /* NULL: UTF-8. */
    Tcl_Encoding fallback;
};

static DecodeProc DecodeText, DecodeChecked, DecodeBytes;

static bool ParseFields(const char *text, size_t length,
                        const Decoder *decoderPtr, Ns_Set *setPtr);

void
NsFormParseQuery(const char *text, size_t length, Tcl_Encoding encoding,
                 Ns_Set *setPtr)
{
    const Decoder decoder = {.proc = DecodeText, .encoding = encoding};

    (void) ParseFields(text, length, &decoder, setPtr);
}

bool
NsFormParseQueryChecked(const char *text, size_t length, Tcl_Encoding encoding,
                        Tcl_Encoding fallback, Ns_Set *setPtr)
{
    const Decoder decoder = {DecodeChecked, encoding, fallback};

    return ParseFields(text, length, &decoder, setPtr);
}

int
Ns_QueryToSet(const char *query, Ns_Set *setPtr)
{
    const Decoder decoder = {.proc = DecodeBytes};

    (void) ParseFields(query, strlen(query), &decoder, setPtr);
    return NS_OK;
}

/*
 * Escapes of ASCII need no look, so most forms need no memory here.
 */
bool
NsFormIsUtf8(const char *text, size_t length)
{
    size_t i = 0;
    char  *bytes;
    bool   isUtf8;

    while (i < length
           && (text[i] == '%' ? i + 1 == length || text[i + 1] < '8'
                              : UCHAR(text[i]) < 0x80)) {
        i++;
    }
    if (i == length) {
        return true;
    }
    bytes = ns_malloc(length - i);
    length = NsUrlUnescape(bytes, text + i, length - i, NS_URL_QUERY);
    isUtf8 = NsUtf8ValidBytes(bytes, length) == length;
    ns_free(bytes);
    return isUtf8;
}

void
NsFormDecode(Ns_DString *dsPtr, const char *bytes, size_t length,
             Tcl_Encoding encoding)
{
    length = NsFittingBytes(dsPtr, length, 3);
    if (NsEncodingIsUtf8(encoding)) {
        int    oldLength = Ns_DStringLength(dsPtr);
        size_t n;

        Ns_DStringSetLength(dsPtr, oldLength + (int) (2 * length));
        n = NsUtf8FromBytes(Ns_DStringValue(dsPtr) + oldLength, bytes, length);
        Ns_DStringSetLength(dsPtr, oldLength + (int) n);
    } else {
        Tcl_DString text;

        Tcl_ExternalToUtfDString(encoding, bytes, (int) length, &text);
        Ns_DStringNAppend(dsPtr, Tcl_DStringValue(&text),
                          Tcl_DStringLength(&text));
        Tcl_DStringFree(&text);
    }
}

bool
NsFormIsServerKey(const char *name)
{
    static const char *const suffixes[] = {".tmpfile", ".content-type"};
    size_t                   length = strlen(name);

    for (int i = 0; i < Ns_NrElements(suffixes); i++) {
        size_t n = strlen(suffixes[i]);

        if (length >= n && NsIsSameNoCase(name + length - n, suffixes[i], n)) {
            return true;
        }
    }
    return false;
}

/*
 * False, with the fields before it in the set: one could not be decoded.
 */
static bool
ParseFields(const char *text, size_t length, const Decoder *decoderPtr,
            Ns_Set *setPtr)
{
    const char *end = text + length;
    Ns_DString  name, value;
    bool        isLast, isDecoded = true;

    Ns_DStringInit(&name);
    Ns_DStringInit(&value);
    do {
        const char *stop = memchr(text, '&', (size_t) (end - text));
        const char *equals, *key, *data = NULL;

        isLast = stop == NULL;
        stop = isLast ? end : stop;
        equals = memchr(text, '=', (size_t) (stop - text));
        key = decoderPtr->proc(decoderPtr, &name, text,
                               (size_t) ((equals == NULL ? stop : equals)
                                         - text));
        if (equals != NULL) {
            data = decoderPtr->proc(decoderPtr, &value, equals + 1,
                                    (size_t) (stop - equals - 1));
        }
        isDecoded = key != NULL && (equals == NULL || data != NULL);
        if (isDecoded && !NsFormIsServerKey(key)) {
            Ns_SetPut(setPtr, key, data);
        }
        text = stop + 1;
    } while (isDecoded && !isLast);
    Ns_DStringFree(&value);
    Ns_DStringFree(&name);
    return isDecoded;
}

static const char *
DecodeText(const Decoder *decoderPtr, Ns_DString *dsPtr, const char *text,
           size_t length)
{
    Ns_DStringSetLength(dsPtr, 0);
    NsUrlDecode(dsPtr, text, length, decoderPtr->encoding, NS_URL_QUERY);
    return Ns_DStringValue(dsPtr);
}

static const char *
DecodeChecked(const Decoder *decoderPtr, Ns_DString *dsPtr, const char *text,
              size_t length)
{
    Ns_DStringSetLength(dsPtr, 0);
    return NsUrlDecodeChecked(dsPtr, text, length, decoderPtr->encoding,
                              decoderPtr->fallback, NS_URL_QUERY)
        ? Ns_DStringValue(dsPtr)
        : NULL;
}

static const char *
DecodeBytes(const Decoder *decoderPtr, Ns_DString *dsPtr, const char *text,
            size_t length)
{
    size_t n;

    Ns_DStringSetLength(dsPtr, 0);
    length = NsFittingBytes(dsPtr, length, 1);
    Ns_DStringSetLength(dsPtr, (int) length);
    n = NsUrlUnescape(Ns_DStringValue(dsPtr), text, length, NS_URL_QUERY);
    Ns_DStringSetLength(dsPtr, (int) n);
    return Ns_DStringValue(dsPtr);
}
