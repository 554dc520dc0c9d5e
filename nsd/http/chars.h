/*
 * chars.h --
 *
 *      Character classes of the protocol, independent of the locale.
 */

#ifndef NSD_HTTP_CHARS_H
#define NSD_HTTP_CHARS_H

#include "nstypes.h"

static inline bool
NsIsSpace(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool
NsIsDigit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool
NsIsAlpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char
NsToLower(char c)
{
    return (c >= 'A' && c <= 'Z') ? (char) (c + ('a' - 'A')) : c;
}

/*
 * Value of a hexadecimal digit; -1 for anything else.
 */
static inline int
NsHexValue(char c)
{
    if (NsIsDigit(c)) {
        return c - '0';
    }
    c = NsToLower(c);
    return (c >= 'a' && c <= 'f') ? c - 'a' + 10 : -1;
}

/*
 * Whether length bytes are the same but for the case of ASCII letters.
 */
static inline bool
NsIsSameNoCase(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (a[i] != b[i] && NsToLower(a[i]) != NsToLower(b[i])) {
            return false;
        }
    }
    return true;
}

#endif
