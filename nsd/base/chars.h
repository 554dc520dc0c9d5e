/* SPDX-License-Identifier: MPL-2.0
 * chars.h --
 *
 *      Classes of characters, independent of the locale: bytes of UTF-8
 *      characters are in none.
 */

#ifndef NSD_BASE_CHARS_H
#define NSD_BASE_CHARS_H

#include "nstypes.h"

static inline bool
NsIsSpace(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * The first character that is not white space: of a string, or of the bytes up
 * to end, which is returned if there is none.
 */
static inline const char *
NsSkipSpace(const char *text)
{
    while (NsIsSpace(*text)) {
        text++;
    }
    return text;
}

static inline const char *
NsSkipSpaceTo(const char *text, const char *end)
{
    while (text < end && NsIsSpace(*text)) {
        text++;
    }
    return text;
}

/*
 * The end of a text without the white space behind it.
 */
static inline const char *
NsTrimEnd(const char *text, const char *end)
{
    while (end > text && NsIsSpace(end[-1])) {
        end--;
    }
    return end;
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

static inline char
NsToUpper(char c)
{
    return (c >= 'a' && c <= 'z') ? (char) (c - ('a' - 'A')) : c;
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

/*
 * FNV-1a: start with NS_HASH_START, or another odd number for another hash.
 */
#define NS_HASH_START 2166136261u

static inline uint32_t
NsHashAdd(uint32_t hash, char c)
{
    return (hash ^ (unsigned char) c) * 16777619u;
}

static inline uint32_t
NsHash(const char *string)
{
    uint32_t hash = NS_HASH_START;

    for (; *string != '\0'; string++) {
        hash = NsHashAdd(hash, *string);
    }
    return hash;
}

#endif
