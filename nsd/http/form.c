/*
 * form.c --
 *
 *      URL-encoded forms.
 */

#include "http/form.h"

#include "nsconn.h"

#include "base/chars.h"
#include "http/charset.h"
#include "http/url.h"

/*
 * Decodes one name or value; the result is good until the next call on dsPtr.
 */
typedef const char *DecodeProc(Ns_DString *dsPtr, const char *text,
                               size_t length, Tcl_Encoding encoding);

static DecodeProc DecodeText;
static DecodeProc DecodeBytes;
static void ParseFields(const char *text, size_t length, Tcl_Encoding encoding,
                        Ns_Set *setPtr, DecodeProc *decodeProc);

void
NsFormParseQuery(const char *text, size_t length, Tcl_Encoding encoding,
                 Ns_Set *setPtr)
{
    ParseFields(text, length, encoding, setPtr, DecodeText);
}

int
Ns_QueryToSet(const char *query, Ns_Set *setPtr)
{
    ParseFields(query, strlen(query), NULL, setPtr, DecodeBytes);
    return NS_OK;
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

static void
ParseFields(const char *text, size_t length, Tcl_Encoding encoding,
            Ns_Set *setPtr, DecodeProc *decodeProc)
{
    const char *end = text + length;
    Ns_DString  name, value;
    bool        isLast;

    Ns_DStringInit(&name);
    Ns_DStringInit(&value);
    do {
        const char *stop = memchr(text, '&', (size_t) (end - text));
        const char *equals, *key;

        isLast = stop == NULL;
        stop = isLast ? end : stop;
        equals = memchr(text, '=', (size_t) (stop - text));
        key = decodeProc(&name, text,
                         (size_t) ((equals == NULL ? stop : equals) - text),
                         encoding);
        if (!NsFormIsServerKey(key)) {
            Ns_SetPut(setPtr, key,
                      equals == NULL
                          ? NULL
                          : decodeProc(&value, equals + 1,
                                       (size_t) (stop - equals - 1), encoding));
        }
        text = stop + 1;
    } while (!isLast);
    Ns_DStringFree(&value);
    Ns_DStringFree(&name);
}

static const char *
DecodeText(Ns_DString *dsPtr, const char *text, size_t length,
           Tcl_Encoding encoding)
{
    Ns_DStringSetLength(dsPtr, 0);
    NsUrlDecode(dsPtr, text, length, encoding, NS_URL_QUERY);
    return Ns_DStringValue(dsPtr);
}

static const char *
DecodeBytes(Ns_DString *dsPtr, const char *text, size_t length,
            Tcl_Encoding encoding)
{
    size_t n;

    Ns_DStringSetLength(dsPtr, 0);
    length = NsFittingBytes(dsPtr, length, 1);
    Ns_DStringSetLength(dsPtr, (int) length);
    n = NsUrlUnescape(Ns_DStringValue(dsPtr), text, length, NS_URL_QUERY);
    Ns_DStringSetLength(dsPtr, (int) n);
    return Ns_DStringValue(dsPtr);
}
