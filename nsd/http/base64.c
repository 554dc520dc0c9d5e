/* SPDX-License-Identifier: MPL-2.0
 * base64.c --
 *
 *      Base64 as the commands and the Authorization field use it.
 */

#include "http/base64.h"

#include "base/chars.h"

#define LINE_CHARACTERS 60

#define LETTERS_AND_DIGITS \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
static const char *const alphabets[] = {
    [NS_BASE64_PLAIN] = LETTERS_AND_DIGITS "+/",
    [NS_BASE64_URL] = LETTERS_AND_DIGITS "-_"};

static int Value(NsBase64Kind kind, char c);

size_t
Ns_HtuuEncode(unsigned char *bytes, size_t nBytes, char *buffer)
{
    return Ns_Base64Encode(bytes, nBytes, buffer, LINE_CHARACTERS, 0);
}

size_t
Ns_Base64Encode(const unsigned char *bytes, size_t nBytes, char *out,
                size_t maxLine, int isUrl)
{
    NsBase64Kind kind = isUrl ? NS_BASE64_URL : NS_BASE64_PLAIN;
    size_t       lineBytes = maxLine == 0 ? nBytes : MAX(maxLine / 4, 1) * 3;
    char        *to = out;

    for (size_t i = 0; i < nBytes; i += lineBytes) {
        if (i > 0) {
            *to++ = '\n';
        }
        to += NsBase64EncodeLine(kind, bytes + i, MIN(nBytes - i, lineBytes),
                                 to);
    }
    *to = '\0';
    return (size_t) (to - out);
}

size_t
NsBase64EncodeLine(NsBase64Kind kind, const unsigned char *bytes, size_t nBytes,
                   char *to)
{
    const char *alphabet = alphabets[kind];
    const char *start = to;

    for (size_t i = 0; i < nBytes; i += 3) {
        size_t   n = MIN(nBytes - i, 3);
        uint32_t group = (uint32_t) bytes[i] << 16;

        group |= n > 1 ? (uint32_t) bytes[i + 1] << 8 : 0;
        group |= n > 2 ? (uint32_t) bytes[i + 2] : 0;
        *to++ = alphabet[group >> 18];
        *to++ = alphabet[(group >> 12) & 0x3F];
        if (n > 1) {
            *to++ = alphabet[(group >> 6) & 0x3F];
        }
        if (n > 2) {
            *to++ = alphabet[group & 0x3F];
        }
        for (; n < 3 && kind == NS_BASE64_PLAIN; n++) {
            *to++ = '=';
        }
    }
    return (size_t) (to - start);
}

size_t
Ns_HtuuDecode(const char *text, unsigned char *to, size_t bufferBytes)
{
    size_t        length = strlen(text);
    size_t        n;
    unsigned char small[4];
    size_t        written = 0;

    if (NsBase64DecodedBytes(length) <= bufferBytes) {
        n = NsBase64Decode(text, length, to);
        to[n] = '\0';
        return n;
    }
    /* Too little room for the worst case: four characters at a time. */
    for (size_t i = 0; i < length && written < bufferBytes;) {
        char   group[4];
        size_t nGroup = 0;

        while (i < length && nGroup < 4) {
            if (Value(NS_BASE64_PLAIN, text[i]) >= 0) {
                group[nGroup++] = text[i];
            }
            i++;
        }
        n = MIN(NsBase64Decode(group, nGroup, small), bufferBytes - written);
        memcpy(to + written, small, n);
        written += n;
    }
    if (written < bufferBytes) {
        to[written] = '\0';
    }
    return written;
}

size_t
NsBase64Decode(const char *text, size_t length, unsigned char *to)
{
    return NsBase64DecodeAs(NS_BASE64_PLAIN, text, length, to);
}

size_t
NsBase64DecodeAs(NsBase64Kind kind, const char *text, size_t length,
                 unsigned char *to)
{
    unsigned char *start = to;
    uint32_t       bits = 0;
    int            nBits = 0;

    for (size_t i = 0; i < length; i++) {
        int value = Value(kind, text[i]);

        if (value >= 0) {
            bits = (bits << 6) | (uint32_t) value;
            nBits += 6;
            if (nBits >= 8) {
                nBits -= 8;
                *to++ = (unsigned char) (bits >> nBits);
            }
        }
    }
    return (size_t) (to - start);
}

const char *
NsBase64FindStrange(NsBase64Kind kind, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (Value(kind, text[i]) < 0 && text[i] != '=' && !NsIsSpace(text[i])) {
            return text + i;
        }
    }
    return NULL;
}

/*
 * -1 for characters outside of the alphabet, = among them.
 */
static int
Value(NsBase64Kind kind, char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    } else if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    } else if (NsIsDigit(c)) {
        return c - '0' + 52;
    }
    return c == alphabets[kind][62] ? 62 : c == alphabets[kind][63] ? 63 : -1;
}
