/* SPDX-License-Identifier: MPL-2.0
 * json.c --
 *
 *      JSON.
 *
 *      What may come next depends on the innermost container:
 *
 *          VALUE ----------> BEHIND --,--> VALUE (array), KEY (object)
 *          FIRST_VALUE or ]    |
 *          FIRST_KEY or }      +-- ] or } --> BEHIND of the container around
 *          KEY --> VALUE
 */

#include "http/json.h"

#include "base/assert.h"
#include "base/chars.h"
#include "http/url.h"

enum { VALUE, FIRST_VALUE, FIRST_KEY, KEY, BEHIND };

typedef struct Level {
    size_t nElements;
    bool   isObject;
} Level;

static NsJsonEvent ReadValue(NsJsonReader *readerPtr);
static NsJsonEvent ReadKey(NsJsonReader *readerPtr);
static NsJsonEvent ReadBehind(NsJsonReader *readerPtr);
static NsJsonEvent Open(NsJsonReader *readerPtr, bool isObject);
static NsJsonEvent Close(NsJsonReader *readerPtr);
static bool        CountElement(NsJsonReader *readerPtr);
static NsJsonEvent ReadNumber(NsJsonReader *readerPtr);
static NsJsonEvent ReadLiteral(NsJsonReader *readerPtr, const char *word,
                               NsJsonEvent event);
static bool        ReadString(NsJsonReader *readerPtr);
static bool        ReadEscape(NsJsonReader *readerPtr);
static bool        ReadUnicode(NsJsonReader *readerPtr);
static int         HexCode(const char *p, const char *end);
static const char *NumberEnd(const char *p, const char *end);
static const char *DigitsEnd(const char *p, const char *end);
static void        SkipSpace(NsJsonReader *readerPtr);
static NsJsonEvent Unexpected(NsJsonReader *readerPtr);
static NsJsonEvent Fail(NsJsonReader *readerPtr, const char *error);
static size_t      Depth(const NsJsonReader *readerPtr);
static Level      *Top(const NsJsonReader *readerPtr);

void
NsJsonInit(NsJsonReader *readerPtr, const char *text, size_t length,
           const NsJsonLimits *limitsPtr)
{
    memset(readerPtr, 0, sizeof(*readerPtr));
    readerPtr->text = readerPtr->p = text;
    readerPtr->end = text + length;
    readerPtr->limits = *limitsPtr;
    readerPtr->state = VALUE;
    Ns_DStringInit(&readerPtr->stack);
    Ns_DStringInit(&readerPtr->value);
}

void
NsJsonFree(NsJsonReader *readerPtr)
{
    Ns_DStringFree(&readerPtr->stack);
    Ns_DStringFree(&readerPtr->value);
}

NsJsonEvent
NsJsonNext(NsJsonReader *readerPtr)
{
    if (readerPtr->state == BEHIND && Depth(readerPtr) == 0) {
        return NS_JSON_DONE;
    }
    SkipSpace(readerPtr);
    if (readerPtr->p == readerPtr->end) {
        return Fail(readerPtr, "unexpected end of input");
    }
    switch (readerPtr->state) {
    case BEHIND:
        return ReadBehind(readerPtr);
    case FIRST_KEY:
        return *readerPtr->p == '}' ? Close(readerPtr) : ReadKey(readerPtr);
    case KEY:
        return ReadKey(readerPtr);
    case FIRST_VALUE:
        if (*readerPtr->p == ']') {
            return Close(readerPtr);
        }
        return CountElement(readerPtr) ? ReadValue(readerPtr) : NS_JSON_ERROR;
    default:
        return ReadValue(readerPtr);
    }
}

static NsJsonEvent
ReadValue(NsJsonReader *readerPtr)
{
    switch (*readerPtr->p) {
    case '{':
        return Open(readerPtr, true);
    case '[':
        return Open(readerPtr, false);
    case '"':
        readerPtr->state = BEHIND;
        return ReadString(readerPtr) ? NS_JSON_STRING : NS_JSON_ERROR;
    case 't':
        return ReadLiteral(readerPtr, "true", NS_JSON_BOOLEAN);
    case 'f':
        return ReadLiteral(readerPtr, "false", NS_JSON_BOOLEAN);
    case 'n':
        return ReadLiteral(readerPtr, "null", NS_JSON_NULL);
    default:
        return *readerPtr->p == '-' || NsIsDigit(*readerPtr->p)
            ? ReadNumber(readerPtr)
            : Unexpected(readerPtr);
    }
}

/*
 * A key and the colon behind it.
 */
static NsJsonEvent
ReadKey(NsJsonReader *readerPtr)
{
    if (*readerPtr->p != '"') {
        return Unexpected(readerPtr);
    }
    if (!CountElement(readerPtr) || !ReadString(readerPtr)) {
        return NS_JSON_ERROR;
    }
    SkipSpace(readerPtr);
    if (readerPtr->p == readerPtr->end) {
        return Fail(readerPtr, "unexpected end of input");
    }
    if (*readerPtr->p != ':') {
        return Fail(readerPtr, "expected ':'");
    }
    readerPtr->p++;
    readerPtr->state = VALUE;
    return NS_JSON_KEY;
}

/*
 * Behind an element of a container.
 */
static NsJsonEvent
ReadBehind(NsJsonReader *readerPtr)
{
    bool isObject = Top(readerPtr)->isObject;

    if (*readerPtr->p == (isObject ? '}' : ']')) {
        return Close(readerPtr);
    }
    if (*readerPtr->p != ',') {
        return Fail(readerPtr,
                    isObject ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    readerPtr->p++;
    readerPtr->state = isObject ? KEY : VALUE;
    return isObject || CountElement(readerPtr)
        ? NsJsonNext(readerPtr)
        : NS_JSON_ERROR;
}

static NsJsonEvent
Open(NsJsonReader *readerPtr, bool isObject)
{
    const Level level = {.isObject = isObject};
    size_t      maxDepth = readerPtr->limits.maxDepth;

    if (maxDepth > 0 && Depth(readerPtr) >= maxDepth) {
        return Fail(readerPtr, "max depth exceeded");
    }
    Ns_DStringNAppend(&readerPtr->stack, (const char *) &level, sizeof(level));
    readerPtr->p++;
    readerPtr->state = isObject ? FIRST_KEY : FIRST_VALUE;
    return isObject ? NS_JSON_OBJECT : NS_JSON_ARRAY;
}

static NsJsonEvent
Close(NsJsonReader *readerPtr)
{
    bool isObject = Top(readerPtr)->isObject;

    Ns_DStringSetLength(&readerPtr->stack,
                        Ns_DStringLength(&readerPtr->stack)
                            - (int) sizeof(Level));
    readerPtr->p++;
    readerPtr->state = BEHIND;
    return isObject ? NS_JSON_OBJECT_END : NS_JSON_ARRAY_END;
}

/*
 * One more in the innermost container.
 */
static bool
CountElement(NsJsonReader *readerPtr)
{
    size_t max = readerPtr->limits.maxContainer;

    if (++Top(readerPtr)->nElements > max && max > 0) {
        snprintf(readerPtr->error, sizeof(readerPtr->error),
                 "container too large (max %zu)", max);
        return false;
    }
    return true;
}

static NsJsonEvent
ReadNumber(NsJsonReader *readerPtr)
{
    const char *end = NumberEnd(readerPtr->p, readerPtr->end);

    if (end == NULL) {
        return Fail(readerPtr, "invalid number");
    }
    Ns_DStringSetLength(&readerPtr->value, 0);
    Ns_DStringNAppend(&readerPtr->value, readerPtr->p,
                      (int) (end - readerPtr->p));
    readerPtr->p = end;
    readerPtr->state = BEHIND;
    return NS_JSON_NUMBER;
}

static NsJsonEvent
ReadLiteral(NsJsonReader *readerPtr, const char *word, NsJsonEvent event)
{
    size_t      length = strlen(word);
    const char *end = readerPtr->p + length;

    if ((size_t) (readerPtr->end - readerPtr->p) < length
        || memcmp(readerPtr->p, word, length) != 0
        || (end < readerPtr->end && (NsIsAlpha(*end) || NsIsDigit(*end)))) {
        return Fail(readerPtr, "invalid literal");
    }
    Ns_DStringSetLength(&readerPtr->value, 0);
    Ns_DStringAppend(&readerPtr->value, word);
    readerPtr->p = end;
    readerPtr->state = BEHIND;
    return event;
}

/*
 * From quote to quote.
 */
static bool
ReadString(NsJsonReader *readerPtr)
{
    Ns_DString *dsPtr = &readerPtr->value;
    const char *start = readerPtr->p;
    size_t      max = readerPtr->limits.maxString;

    Ns_DStringSetLength(dsPtr, 0);
    for (readerPtr->p++; readerPtr->p < readerPtr->end;) {
        const char *p = readerPtr->p;
        size_t      n;

        if (*p == '"') {
            readerPtr->p++;
            if (max > 0 && (size_t) Ns_DStringLength(dsPtr) > max) {
                readerPtr->p = start;
                snprintf(readerPtr->error, sizeof(readerPtr->error),
                         "string too long (max %zu)", max);
                return false;
            }
            return true;
        }
        if (*p == '\\') {
            if (!ReadEscape(readerPtr)) {
                return false;
            }
            continue;
        }
        if (UCHAR(*p) < ' ') {
            Fail(readerPtr, "unescaped control character in string");
            return false;
        }
        n = NsUtf8Sequence(p, readerPtr->end);
        if (n == 0) {
            Fail(readerPtr, "invalid UTF-8 in string");
            return false;
        }
        if (n == 4) {
            NsUtf8Append(dsPtr,
                         (uint32_t) (UCHAR(p[0]) & 0x07) << 18
                             | (uint32_t) (UCHAR(p[1]) & 0x3F) << 12
                             | (uint32_t) (UCHAR(p[2]) & 0x3F) << 6
                             | (UCHAR(p[3]) & 0x3F));
        } else {
            Ns_DStringNAppend(dsPtr, p, (int) n);
        }
        readerPtr->p += n;
    }
    Fail(readerPtr, "unterminated string");
    return false;
}

static bool
ReadEscape(NsJsonReader *readerPtr)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char       *letter;

    if (readerPtr->end - readerPtr->p < 2) {
        readerPtr->p = readerPtr->end;
        Fail(readerPtr, "unterminated string");
        return false;
    }
    if (readerPtr->p[1] == 'u') {
        return ReadUnicode(readerPtr);
    }
    letter = readerPtr->p[1] == '\0' ? NULL : strchr(letters, readerPtr->p[1]);
    if (letter == NULL) {
        Fail(readerPtr, "invalid escape in string");
        return false;
    }
    Ns_DStringNAppend(&readerPtr->value, bytes + (letter - letters), 1);
    readerPtr->p += 2;
    return true;
}

/*
 * \uXXXX; two for a character beyond U+FFFF.
 */
static bool
ReadUnicode(NsJsonReader *readerPtr)
{
    const char *p = readerPtr->p, *end = readerPtr->end;
    int         code = HexCode(p, end);

    if (code < 0) {
        Fail(readerPtr, "invalid escape in string");
        return false;
    }
    p += 6;
    if (code >= 0xD800 && code <= 0xDFFF) {
        int low = code <= 0xDBFF ? HexCode(p, end) : -1;

        if (low < 0xDC00 || low > 0xDFFF) {
            Fail(readerPtr, "lone surrogate in string");
            return false;
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    NsUtf8Append(&readerPtr->value, (uint32_t) code);
    readerPtr->p = p;
    return true;
}

/*
 * Of \uXXXX; -1 for anything else.
 */
static int
HexCode(const char *p, const char *end)
{
    int code = 0;

    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }
    for (int i = 2; i < 6; i++) {
        int value = NsHexValue(p[i]);

        if (value < 0) {
            return -1;
        }
        code = code * 16 + value;
    }
    return code;
}

bool
NsJsonAtEnd(NsJsonReader *readerPtr)
{
    SkipSpace(readerPtr);
    return readerPtr->p == readerPtr->end;
}

bool
NsJsonIsNumber(const char *text, size_t length)
{
    return length > 0 && NumberEnd(text, text + length) == text + length;
}

/*
 * Behind a number; NULL if it is not one.
 */
static const char *
NumberEnd(const char *p, const char *end)
{
    p += *p == '-';
    if (p < end && *p == '0') {
        p++;
    } else {
        p = DigitsEnd(p, end);
    }
    if (p != NULL && p < end && *p == '.') {
        p = DigitsEnd(p + 1, end);
    }
    if (p != NULL && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        p = DigitsEnd(p, end);
    }
    /* As in 01, 1.2.3, 1x. */
    return p == NULL || p == end
            || (!NsIsAlpha(*p) && !NsIsDigit(*p) && *p != '.' && *p != '-'
                && *p != '+')
        ? p
        : NULL;
}

/*
 * NULL if there is no digit.
 */
static const char *
DigitsEnd(const char *p, const char *end)
{
    const char *start = p;

    while (p < end && NsIsDigit(*p)) {
        p++;
    }
    return p == start ? NULL : p;
}

void
NsJsonQuote(Ns_DString *dsPtr, const char *text, size_t length)
{
    static const char escapes[32] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    const char *end = text + length, *start = text;

    Ns_DStringNAppend(dsPtr, "\"", 1);
    for (; text < end; text++) {
        unsigned char c = UCHAR(*text);
        bool isNull = c == 0xC0 && end - text > 1 && UCHAR(text[1]) == 0x80;

        if (c >= ' ' && c != '"' && c != '\\' && !isNull) {
            continue;
        }
        Ns_DStringNAppend(dsPtr, start, (int) (text - start));
        if (isNull) {
            Ns_DStringAppend(dsPtr, "\\u0000");
            text++;
        } else if (c >= ' ' || escapes[c] != 0) {
            const char escape[2] = {'\\', c >= ' ' ? (char) c : escapes[c]};

            Ns_DStringNAppend(dsPtr, escape, 2);
        } else {
            Ns_DStringPrintf(dsPtr, "\\u%04x", c);
        }
        start = text + 1;
    }
    Ns_DStringNAppend(dsPtr, start, (int) (end - start));
    Ns_DStringNAppend(dsPtr, "\"", 1);
}

static const char keyChars[] = "~/.";

void
NsJsonKeyEncode(Ns_DString *dsPtr, const char *key, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *found = key[i] == '\0' ? NULL : strchr(keyChars, key[i]);

        if (found == NULL) {
            Ns_DStringNAppend(dsPtr, key + i, 1);
        } else {
            Ns_DStringPrintf(dsPtr, "~%d", (int) (found - keyChars));
        }
    }
}

void
NsJsonKeyDecode(Ns_DString *dsPtr, const char *key, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (key[i] == '~' && i + 1 < length && key[i + 1] >= '0'
            && key[i + 1] <= '2') {
            i++;
            Ns_DStringNAppend(dsPtr, &keyChars[key[i] - '0'], 1);
        } else {
            Ns_DStringNAppend(dsPtr, key + i, 1);
        }
    }
}

/*
 * Fewer characters than in text elsewhere (RFC 8259, section 2).
 */
static void
SkipSpace(NsJsonReader *readerPtr)
{
    while (readerPtr->p < readerPtr->end
           && (*readerPtr->p == ' ' || *readerPtr->p == '\t'
               || *readerPtr->p == '\n' || *readerPtr->p == '\r')) {
        readerPtr->p++;
    }
}

static NsJsonEvent
Unexpected(NsJsonReader *readerPtr)
{
    unsigned char c = UCHAR(*readerPtr->p);

    snprintf(readerPtr->error, sizeof(readerPtr->error),
             c > ' ' && c < 0x7F ? "unexpected character '%c'"
                                 : "unexpected character '\\x%02x'",
             c);
    return NS_JSON_ERROR;
}

static NsJsonEvent
Fail(NsJsonReader *readerPtr, const char *error)
{
    NsAssert(strlen(error) < sizeof(readerPtr->error));
    snprintf(readerPtr->error, sizeof(readerPtr->error), "%s", error);
    return NS_JSON_ERROR;
}

static size_t
Depth(const NsJsonReader *readerPtr)
{
    return (size_t) Ns_DStringLength(&readerPtr->stack) / sizeof(Level);
}

static Level *
Top(const NsJsonReader *readerPtr)
{
    NsAssert(Depth(readerPtr) > 0);
    return (Level *) (void *) Ns_DStringValue(&readerPtr->stack)
        + (Depth(readerPtr) - 1);
}
