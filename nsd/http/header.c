/* SPDX-License-Identifier: MPL-2.0
 * header.c --
 *
 *      Header fields: parameters of values, fields on output, lines to sets.
 */

#include "http/header.h"

#include "nsset.h"

#include "base/chars.h"
#include "http/token.h"

/*
 * Compared all at once where the processor can.
 */
typedef unsigned char Bytes __attribute__((vector_size(8)));
typedef signed char   Signed __attribute__((vector_size(8)));

/*
 * Copy eight bytes.  All bits of the result are set if none is a control
 * character, or beyond ASCII: one more than these is a negative number, or none
 * that is greater than a blank.
 */
static inline uint64_t
CopyWord(char *to, const char *from)
{
    Bytes bytes;

    memcpy(&bytes, from, sizeof(bytes));
    memcpy(to, &bytes, sizeof(bytes));
    return (uint64_t) ((Signed) (bytes + 1) > ' ');
}

/*
 * The same, for names: no byte is other than a letter or a hyphen, as in most
 * names that there are.
 */
static inline uint64_t
CopyNameWord(char *to, const char *from)
{
    Bytes bytes, letters;

    memcpy(&bytes, from, sizeof(bytes));
    memcpy(to, &bytes, sizeof(bytes));
    /* From -128 on, so that the comparison of signed numbers is enough. */
    letters = (bytes | 0x20) + (unsigned char) (128 - 'a');
    return (uint64_t) (((Signed) letters < (signed char) (-128 + 26))
                       | (Signed) (bytes == '-'));
}

static bool        CopyChecked(char *to, const char *value, size_t length);
static bool        CopyName(char *to, const char *name, size_t length);
static const char *SkipParameter(const char *p);
static const char *EndOfQuoted(const char *p);
static void        FoldCase(char *name, Ns_HeaderCaseDisposition disposition);
static int         ContinueField(Ns_Set *setPtr, const char *text);
static int AppendField(Ns_Set *setPtr, const char *line, const char *prefix,
                       Ns_HeaderCaseDisposition disposition);

bool
NsFieldParameter(const char *value, const char *name, const char **startPtr,
                 size_t *lengthPtr)
{
    size_t      nameLength = strlen(name);
    const char *p;

    if (strchr(value, ';') == NULL) {
        return false; /* As most. */
    }
    p = SkipParameter(value);
    while (*p == ';') {
        const char *start;

        p = NsSkipSpace(p + 1);
        start = p;
        p = SkipParameter(p);
        if (strncasecmp(start, name, nameLength) != 0) {
            continue;
        }
        start = NsSkipSpace(start + nameLength);
        if (*start != '=') {
            continue;
        }
        start = NsSkipSpace(start + 1);
        if (*start == '"') {
            *startPtr = start + 1;
            *lengthPtr = (size_t) (EndOfQuoted(start) - start - 1);
            return true;
        }
        *startPtr = start;
        while (start < p && !NsIsSpace(*start)) {
            start++;
        }
        *lengthPtr = (size_t) (start - *startPtr);
        return true;
    }
    return false;
}

/*
 * Eight bytes at a time; the last eight overlap those before.
 */
bool
NsHeaderCopyValue(char *to, const char *value, size_t length)
{
    if (length >= sizeof(uint64_t)) {
        size_t   last = length - sizeof(uint64_t);
        uint64_t plain = CopyWord(to + last, value + last);

        for (size_t i = 0; i < last; i += sizeof(uint64_t)) {
            plain &= CopyWord(to + i, value + i);
        }
        if (likely(plain == UINT64_MAX)) {
            return true;
        }
    }
    return CopyChecked(to, value, length);
}

static bool
CopyChecked(char *to, const char *value, size_t length)
{
    bool isClean = true;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = UCHAR(value[i]);

        to[i] = (char) c;
        if (unlikely((c < ' ' && c != '\t') || c == 0x7F)) {
            to[i] = ' ';
            isClean = false;
        } else if (unlikely(c == 0x80 && i > 0
                            && UCHAR(value[i - 1]) == 0xC0)) {
            to[i - 1] = to[i] = ' ';
            isClean = false;
        }
    }
    return isClean;
}

/*
 * With a blank or a colon in it, others would take another field for it.  Eight
 * bytes at a time, like values.
 */
static bool
CopyName(char *to, const char *name, size_t length)
{
    bool isToken = length > 0;

    if (length >= sizeof(uint64_t)) {
        size_t   last = length - sizeof(uint64_t);
        uint64_t plain = CopyNameWord(to + last, name + last);

        for (size_t i = 0; i < last; i += sizeof(uint64_t)) {
            plain &= CopyNameWord(to + i, name + i);
        }
        if (likely(plain == UINT64_MAX)) {
            return true;
        }
    }

    for (size_t i = 0; i < length; i++) {
        to[i] = name[i];
        isToken &= NsIsTokenChar(name[i]);
    }
    return isToken;
}

char *
NsHeaderWrite(char *to, const char *name, size_t nameLength, const char *value,
              size_t valueLength, bool *isCleanPtr)
{
    if (unlikely(!CopyName(to, name, nameLength))) {
        *isCleanPtr = false;
        return to;
    }
    to += nameLength;
    *to++ = ':';
    *to++ = ' ';
    if (unlikely(!NsHeaderCopyValue(to, value, valueLength))) {
        *isCleanPtr = false;
    }
    to += valueLength;
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

int
Ns_ParseHeader(Ns_Set *setPtr, const char *line,
               Ns_HeaderCaseDisposition disposition)
{
    return Ns_ParseHeader_33(setPtr, line, NULL, disposition, NULL);
}

int
Ns_ParseHeader_33(Ns_Set *setPtr, const char *line, const char *prefix,
                  Ns_HeaderCaseDisposition disposition, size_t *indexPtr)
{
    int result = NsIsSpace(*line)
        ? ContinueField(setPtr, NsSkipSpace(line))
        : AppendField(setPtr, line, prefix == NULL ? "" : prefix, disposition);

    if (result == NS_OK && indexPtr != NULL) {
        *indexPtr = (size_t) Ns_SetLast(setPtr);
    }
    return result;
}

static int
AppendField(Ns_Set *setPtr, const char *line, const char *prefix,
            Ns_HeaderCaseDisposition disposition)
{
    const char *colon = strchr(line, ':');
    size_t      prefixLength = strlen(prefix);
    Ns_DString  name;

    if (colon == NULL) {
        return NS_ERROR;
    }
    Ns_DStringInit(&name);
    Ns_DStringNAppend(&name, prefix, (int) prefixLength);
    Ns_DStringNAppend(&name, line, (int) (colon - line));
    FoldCase(Ns_DStringValue(&name) + prefixLength, disposition);
    (void) Ns_SetPut(setPtr, Ns_DStringValue(&name), NsSkipSpace(colon + 1));
    Ns_DStringFree(&name);
    return NS_OK;
}

/*
 * To the semicolon that ends a parameter, or to the end.
 */
static const char *
SkipParameter(const char *p)
{
    while (*p != ';' && *p != '\0') {
        if (*p == '"') {
            p = EndOfQuoted(p);
            if (*p == '\0') {
                break;
            }
        }
        p++;
    }
    return p;
}

/*
 * From a double quote to its partner, or to the end.
 */
static const char *
EndOfQuoted(const char *p)
{
    p++;
    while (*p != '"' && *p != '\0') {
        p += *p == '\\' && p[1] != '\0' ? 2 : 1;
    }
    return p;
}

static void
FoldCase(char *name, Ns_HeaderCaseDisposition disposition)
{
    for (; disposition != Preserve && *name != '\0'; name++) {
        char lower = NsToLower(*name);

        if (disposition == ToLower) {
            *name = lower;
        } else if (lower >= 'a' && lower <= 'z') {
            *name = (char) (lower - ('a' - 'A'));
        }
    }
}

/*
 * Append to the value of the last field, with one blank between.
 */
static int
ContinueField(Ns_Set *setPtr, const char *text)
{
    int last = Ns_SetLast(setPtr);

    if (last < 0) {
        return NS_ERROR;
    }
    if (*text != '\0') {
        Ns_DString  joined;
        const char *old = Ns_SetValue(setPtr, last);

        Ns_DStringInit(&joined);
        Ns_DStringAppend(&joined, old == NULL ? "" : old);
        Ns_DStringNAppend(&joined, " ", 1);
        Ns_DStringAppend(&joined, text);
        Ns_SetPutValue(setPtr, last, Ns_DStringValue(&joined));
        Ns_DStringFree(&joined);
    }
    return NS_OK;
}
