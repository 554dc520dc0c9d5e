/* SPDX-License-Identifier: MPL-2.0
 * url.c --
 *
 *      Percent coding of text in any character set.
 */

#include "http/url.h"

#include "base/assert.h"
#include "base/chars.h"
#include "http/charset.h"

/*
 * Kinds of characters besides letters and digits; each part has those that stay
 * in it.
 */
#define MARK  0x01u
#define QUOTE 0x02u
#define DELIM 0x04u
#define SLASH 0x08u
#define ASK   0x10u

static const uint8_t kinds[128] = {
    ['-'] = MARK,   ['.'] = MARK,  ['_'] = MARK,  ['~'] = MARK,  ['!'] = QUOTE,
    ['\''] = QUOTE, ['('] = QUOTE, [')'] = QUOTE, ['*'] = QUOTE, ['$'] = DELIM,
    ['&'] = DELIM,  ['+'] = DELIM, [','] = DELIM, [':'] = DELIM, ['@'] = DELIM,
    ['/'] = SLASH,  [';'] = ASK,   ['='] = ASK,   ['?'] = ASK};

static const uint8_t plainKinds[] = {
    [NS_URL_QUERY] = MARK | QUOTE,
    [NS_URL_PATH] = MARK | QUOTE | DELIM,
    [NS_URL_FULLPATH] = MARK | QUOTE | DELIM | SLASH,
    [NS_URL_FRAGMENT] = MARK | QUOTE | DELIM | SLASH | ASK,
    [NS_URL_OAUTH1] = MARK};

static void   EncodeBytes(Ns_DString *dsPtr, const char *bytes, size_t length,
                          NsUrlPart part, bool isTclUtf8);
static bool   IsPlain(unsigned char c, NsUrlPart part);
static void   DecodeOther(Ns_DString *dsPtr, const char *text, size_t length,
                          Tcl_Encoding encoding, NsUrlPart part);
static void   AppendBadPlace(Ns_DString *dsPtr, const unsigned char *bytes,
                             size_t nValid, size_t length);
static size_t SequenceBytes(unsigned char first);
static Tcl_Encoding CharsetEncoding(const char *charset);

void
NsUrlEncode(Ns_DString *dsPtr, const char *text, size_t length,
            Tcl_Encoding encoding, NsUrlPart part)
{
    length = NsFittingBytes(dsPtr, length, 3);
    if (NsEncodingIsUtf8(encoding) && memchr(text, 0xED, length) == NULL) {
        EncodeBytes(dsPtr, text, length, part, true);
    } else {
        Tcl_DString bytes;

        /* ED may begin the half of a character beyond U+FFFF. */
        if (encoding == NULL) {
            encoding = Ns_GetCharsetEncoding("utf-8");
        }
        Tcl_UtfToExternalDString(encoding, text, (int) length, &bytes);
        EncodeBytes(dsPtr, Tcl_DStringValue(&bytes),
                    (size_t) Tcl_DStringLength(&bytes), part, false);
        Tcl_DStringFree(&bytes);
    }
}

void
NsUrlDecode(Ns_DString *dsPtr, const char *text, size_t length,
            Tcl_Encoding encoding, NsUrlPart part)
{
    int    oldLength = Ns_DStringLength(dsPtr);
    char  *to;
    size_t nBytes;

    length = NsFittingBytes(dsPtr, length, 3);
    if (!NsEncodingIsUtf8(encoding)) {
        DecodeOther(dsPtr, text, length, encoding, part);
        return;
    }
    /*
     * The bytes go to the end of the room, from where the conversion, which at
     * most doubles them, cannot overtake itself.
     */
    Ns_DStringSetLength(dsPtr, oldLength + (int) (2 * length));
    to = Ns_DStringValue(dsPtr) + oldLength;
    nBytes = NsUrlUnescape(to + length, text, length, part);
    nBytes = NsUtf8FromBytes(to, to + length, nBytes);
    Ns_DStringSetLength(dsPtr, oldLength + (int) nBytes);
}

/*
 * A Tcl string is not quite UTF-8: null bytes and characters beyond U+FFFF have
 * forms of their own.
 */
bool
NsUrlDecodeChecked(Ns_DString *dsPtr, const char *text, size_t length,
                   Tcl_Encoding encoding, Tcl_Encoding fallback, NsUrlPart part)
{
    Tcl_Encoding utf8;
    Tcl_DString  bytes;
    char        *start;
    size_t       nBytes;
    bool         isValid;

    length = NsFittingBytes(dsPtr, length, 3);
    if (!NsEncodingIsUtf8(encoding)) {
        DecodeOther(dsPtr, text, length, encoding, part);
        return true;
    }
    utf8 = Ns_GetCharsetEncoding("utf-8");
    start = Tcl_UtfToExternalDString(utf8, text, (int) length, &bytes);
    nBytes = NsUrlUnescape(start, start, (size_t) Tcl_DStringLength(&bytes),
                           part);
    isValid = NsUtf8ValidBytes(start, nBytes) == nBytes;
    if (isValid || !NsEncodingIsUtf8(fallback)) {
        Tcl_DString decoded;

        Tcl_ExternalToUtfDString(isValid ? utf8 : fallback, start, (int) nBytes,
                                 &decoded);
        Ns_DStringNAppend(dsPtr, Tcl_DStringValue(&decoded),
                          Tcl_DStringLength(&decoded));
        Tcl_DStringFree(&decoded);
        isValid = true;
    }
    Tcl_DStringFree(&bytes);
    return isValid;
}

void
NsUrlUpperEscapes(char *text, size_t length)
{
    for (size_t i = 0; i + 2 < length; i++) {
        if (text[i] == '%') {
            text[i + 1] = NsToUpper(text[i + 1]);
            text[i + 2] = NsToUpper(text[i + 2]);
            i += 2;
        }
    }
}

size_t
NsUrlUnescape(char *to, const char *from, size_t length, NsUrlPart part)
{
    const char *end = from + length;
    char       *start = to;

    while (from < end) {
        char c = *from++;

        if (c == '%' && end - from >= 2 && NsHexValue(from[0]) >= 0
            && NsHexValue(from[1]) >= 0) {
            c = (char) (NsHexValue(from[0]) * 16 + NsHexValue(from[1]));
            from += 2;
        } else if (c == '+' && part == NS_URL_QUERY) {
            c = ' ';
        }
        *to++ = c;
    }
    return (size_t) (to - start);
}

size_t
NsUtf8ValidBytes(const char *bytes, size_t length)
{
    const char *p = bytes, *end = bytes + length;

    while (p < end) {
        size_t n = NsUtf8Sequence(p, end);

        if (n == 0) {
            break;
        }
        p += n;
    }
    return (size_t) (p - bytes);
}

size_t
NsUtf8FromBytes(char *to, const char *from, size_t length)
{
    const char *end = from + length;
    char       *start = to;

    while (from < end) {
        unsigned char c = UCHAR(*from);
        size_t        n;

        if (likely(c > 0 && c < 0x80)) {
            *to++ = *from++;
        } else if ((n = NsUtf8Sequence(from, end)) > 1) {
            memmove(to, from, n);
            to += n;
            from += n;
        } else {
            /* For c == 0 this gives the C0 80 that Tcl wants. */
            *to++ = (char) (0xC0 | (c >> 6));
            *to++ = (char) (0x80 | (c & 0x3F));
            from++;
        }
    }
    return (size_t) (to - start);
}

size_t
NsUtf8Sequence(const char *p, const char *end)
{
    unsigned char first = UCHAR(*p);
    unsigned char low = 0x80, high = 0xBF; /* Bounds of the second byte. */
    size_t        n;

    if (first < 0x80) {
        return 1;
    } else if (first >= 0xC2 && first <= 0xDF) {
        n = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        n = 3;
        low = first == 0xE0 ? 0xA0 : low;
        high = first == 0xED ? 0x9F : high;
    } else if (first >= 0xF0 && first <= 0xF4) {
        n = 4;
        low = first == 0xF0 ? 0x90 : low;
        high = first == 0xF4 ? 0x8F : high;
    } else {
        return 0;
    }
    if ((size_t) (end - p) < n || UCHAR(p[1]) < low || UCHAR(p[1]) > high) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        if ((UCHAR(p[i]) & 0xC0) != 0x80) {
            return 0;
        }
    }
    return n;
}

void
NsUtf8Append(Ns_DString *dsPtr, uint32_t code)
{
    NsAssert(code <= 0x10FFFF);
    if (code > 0xFFFF) {
        code -= 0x10000;
        NsUtf8Append(dsPtr, 0xD800 + (code >> 10));
        NsUtf8Append(dsPtr, 0xDC00 + (code & 0x3FF));
    } else if (code > 0x7FF) {
        const char bytes[3] = {
            (char) (0xE0 | code >> 12), (char) (0x80 | (code >> 6 & 0x3F)),
            (char) (0x80 | (code & 0x3F))};

        Ns_DStringNAppend(dsPtr, bytes, 3);
    } else if (code > 0x7F || code == 0) {
        const char bytes[2] = {
            (char) (0xC0 | code >> 6), (char) (0x80 | (code & 0x3F))};

        Ns_DStringNAppend(dsPtr, bytes, 2);
    } else {
        const char byte = (char) code;

        Ns_DStringNAppend(dsPtr, &byte, 1);
    }
}

/*
 * The public functions.
 */

bool
Ns_Valid_UTF8(const unsigned char *bytes, size_t nBytes, Ns_DString *dsPtr)
{
    size_t nValid = NsUtf8ValidBytes((const char *) bytes, nBytes);

    if (nValid < nBytes && dsPtr != NULL) {
        AppendBadPlace(dsPtr, bytes, nValid, nBytes);
    }
    return nValid == nBytes;
}

static void
AppendBadPlace(Ns_DString *dsPtr, const unsigned char *bytes, size_t nValid,
               size_t length)
{
    size_t end = MIN(nValid + SequenceBytes(bytes[nValid]), length);
    size_t nShown = NsFittingBytes(dsPtr, nValid, 2);
    int    start = Ns_DStringLength(dsPtr);

    Ns_DStringSetLength(dsPtr, start + (int) (2 * nShown));
    nShown = NsUtf8FromBytes(Ns_DStringValue(dsPtr) + start,
                             (const char *) bytes, nShown);
    Ns_DStringSetLength(dsPtr, start + (int) nShown);
    Ns_DStringNAppend(dsPtr, "|", 1);
    for (size_t i = nValid; i < end; i++) {
        Ns_DStringPrintf(dsPtr,
                         bytes[i] < 0x80 && bytes[i] > 0 ? "%c" : "\\x%02x",
                         bytes[i]);
    }
    Ns_DStringAppend(dsPtr, end < length ? "|..." : "|");
}

/*
 * How long a sequence with this first byte would be.
 */
static size_t
SequenceBytes(unsigned char first)
{
    return first >= 0xC2 && first <= 0xDF ? 2
        : first >= 0xE0 && first <= 0xEF  ? 3
        : first >= 0xF0 && first <= 0xF4
        ? 4
        : 1;
}

char *
Ns_UrlPathEncode(Ns_DString *dsPtr, const char *text, Tcl_Encoding encoding)
{
    NsUrlEncode(dsPtr, text, strlen(text), encoding, NS_URL_PATH);
    return Ns_DStringValue(dsPtr);
}

char *
Ns_UrlQueryEncode(Ns_DString *dsPtr, const char *text, Tcl_Encoding encoding)
{
    NsUrlEncode(dsPtr, text, strlen(text), encoding, NS_URL_QUERY);
    return Ns_DStringValue(dsPtr);
}

char *
Ns_UrlPathDecode(Ns_DString *dsPtr, const char *text, Tcl_Encoding encoding)
{
    NsUrlDecode(dsPtr, text, strlen(text), encoding, NS_URL_PATH);
    return Ns_DStringValue(dsPtr);
}

char *
Ns_UrlQueryDecode(Ns_DString *dsPtr, const char *text, Tcl_Encoding encoding)
{
    NsUrlDecode(dsPtr, text, strlen(text), encoding, NS_URL_QUERY);
    return Ns_DStringValue(dsPtr);
}

char *
Ns_EncodeUrlWithEncoding(Ns_DString *dsPtr, const char *text,
                         Tcl_Encoding encoding)
{
    return Ns_UrlQueryEncode(dsPtr, text, encoding);
}

char *
Ns_DecodeUrlWithEncoding(Ns_DString *dsPtr, const char *text,
                         Tcl_Encoding encoding)
{
    return Ns_UrlQueryDecode(dsPtr, text, encoding);
}

char *
Ns_EncodeUrlCharset(Ns_DString *dsPtr, const char *text, const char *charset)
{
    return Ns_UrlQueryEncode(dsPtr, text, CharsetEncoding(charset));
}

char *
Ns_DecodeUrlCharset(Ns_DString *dsPtr, const char *text, const char *charset)
{
    return Ns_UrlQueryDecode(dsPtr, text, CharsetEncoding(charset));
}

/*
 * C0 80 is a null byte in Tcl's own UTF-8 only.
 */
static void
EncodeBytes(Ns_DString *dsPtr, const char *bytes, size_t length, NsUrlPart part,
            bool isTclUtf8)
{
    const char *digits = part == NS_URL_OAUTH1
        ? "0123456789ABCDEF"
        : "0123456789abcdef";
    int         oldLength = Ns_DStringLength(dsPtr);
    const char *end;
    char       *to;

    NsAssert((unsigned) part <= NS_URL_OAUTH1);
    length = NsFittingBytes(dsPtr, length, 3);
    end = bytes + length;
    Ns_DStringSetLength(dsPtr, oldLength + (int) (3 * length));
    to = Ns_DStringValue(dsPtr) + oldLength;
    while (bytes < end) {
        unsigned char c = UCHAR(*bytes++);

        if (isTclUtf8 && c == 0xC0 && bytes < end && UCHAR(*bytes) == 0x80) {
            c = '\0';
            bytes++;
        }
        if (IsPlain(c, part)) {
            *to++ = (char) c;
        } else if (c == ' ' && part == NS_URL_QUERY) {
            *to++ = '+';
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 0x0F];
        }
    }
    Ns_DStringSetLength(dsPtr, (int) (to - Ns_DStringValue(dsPtr)));
}

static bool
IsPlain(unsigned char c, NsUrlPart part)
{
    if (part == NS_URL_COOKIE) {
        return c > ' ' && c < 0x7F && strchr("\",;\\%", c) == NULL;
    }
    if (NsIsAlpha((char) c) || NsIsDigit((char) c)) {
        return true;
    }
    return c < 128 && (kinds[c] & plainKinds[part]) != 0;
}

static void
DecodeOther(Ns_DString *dsPtr, const char *text, size_t length,
            Tcl_Encoding encoding, NsUrlPart part)
{
    Tcl_DString bytes, utf8;
    size_t      nBytes;

    Tcl_DStringInit(&bytes);
    Tcl_DStringSetLength(&bytes, (int) length);
    nBytes = NsUrlUnescape(Tcl_DStringValue(&bytes), text, length, part);
    Tcl_ExternalToUtfDString(encoding, Tcl_DStringValue(&bytes), (int) nBytes,
                             &utf8);
    Ns_DStringNAppend(dsPtr, Tcl_DStringValue(&utf8), Tcl_DStringLength(&utf8));
    Tcl_DStringFree(&utf8);
    Tcl_DStringFree(&bytes);
}

static Tcl_Encoding
CharsetEncoding(const char *charset)
{
    return charset == NULL ? NULL : Ns_GetCharsetEncoding(charset);
}
