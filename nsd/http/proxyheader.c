/* SPDX-License-Identifier: MPL-2.0
 * proxyheader.c --
 *
 *      The header of the PROXY protocol.
 */

#include "http/proxyheader.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"

#define V1_MAX_BYTES 107u /* With its line end. */
#define V2_HEAD      16u
#define V2_INET      12u /* Bytes of two addresses and ports. */
#define V2_INET6     36u
#define V2_UNIX      216u
#define TLV_CRC32C   0x03u
#define MAX_WORDS    6

static const char v1Start[] = "PROXY ";
static const char v2Start[] = "\r\n\r\n\0\r\nQUIT\n";

typedef struct Word {
    const char *start;
    size_t      length;
} Word;

static NsProxyStatus ParseLine(const char *bytes, size_t length,
                               NsProxyHeader *headerPtr);
static int  SplitWords(const char *line, size_t length, Word words[MAX_WORDS]);
static bool Is(const Word *wordPtr, const char *text);
static bool TakeAddress(const Word *wordPtr, int family, void *address);
static bool TakePort(const Word *wordPtr, unsigned short *portPtr);
static NsProxyStatus ParseBinary(const char *bytes, size_t length,
                                 NsProxyHeader *headerPtr);
static NsProxyStatus TakeBlock(const unsigned char *p, size_t blockBytes,
                               NsProxyHeader *headerPtr);
static const char   *CheckExtensions(const unsigned char *header, size_t at,
                                     size_t end);
static uint32_t      Crc(uint32_t crc, const unsigned char *bytes, size_t n);
static NsProxyStatus Invalid(NsProxyHeader *headerPtr, const char *reason);

NsProxyStatus
NsProxyParse(const char *bytes, size_t length, NsProxyHeader *headerPtr)
{
    size_t        nFirst = MIN(length, sizeof(v1Start) - 1u);
    size_t        nSecond = MIN(length, sizeof(v2Start) - 1u);
    NsProxyStatus status;

    *headerPtr = (NsProxyHeader){.family = AF_UNSPEC};
    if (memcmp(bytes, v1Start, nFirst) == 0) {
        status = ParseLine(bytes, length, headerPtr);
    } else if (memcmp(bytes, v2Start, nSecond) == 0) {
        status = length < V2_HEAD ? NS_PROXY_MORE
                                  : ParseBinary(bytes, length, headerPtr);
    } else {
        status = Invalid(headerPtr, "it does not begin with one");
    }
    NsAssert(status != NS_PROXY_DONE || headerPtr->bytes <= length);
    return status;
}

static NsProxyStatus
Invalid(NsProxyHeader *headerPtr, const char *reason)
{
    headerPtr->family = AF_UNSPEC;
    headerPtr->reason = reason;
    return NS_PROXY_INVALID;
}

/*
 * Version 1: a line.  What follows UNKNOWN has no meaning.
 */
static NsProxyStatus
ParseLine(const char *bytes, size_t length, NsProxyHeader *headerPtr)
{
    const char     *end = memchr(bytes, '\n', MIN(length, V1_MAX_BYTES));
    Word            words[MAX_WORDS];
    struct in6_addr own;
    unsigned short  ownPort;
    size_t          lineBytes;
    int             n, family;

    if (end == NULL) {
        return length < V1_MAX_BYTES
            ? NS_PROXY_MORE
            : Invalid(headerPtr, "its line is too long");
    }
    lineBytes = (size_t) (end - bytes);
    if (lineBytes == 0u || end[-1] != '\r') {
        return Invalid(headerPtr, "its line does not end with CR LF");
    }
    headerPtr->bytes = lineBytes + 1u;
    n = SplitWords(bytes, lineBytes - 1u, words);
    if (n > 1 && Is(&words[1], "UNKNOWN")) {
        return NS_PROXY_DONE;
    }
    if (n != MAX_WORDS) {
        return Invalid(headerPtr, "its line has not six words");
    }
    family = Is(&words[1], "TCP4") ? AF_INET
        : Is(&words[1], "TCP6")    ? AF_INET6
                                   : AF_UNSPEC;
    if (family == AF_UNSPEC) {
        return Invalid(headerPtr, "it is for an unknown protocol");
    }
    if (!TakeAddress(&words[2], family, &headerPtr->address)
        || !TakeAddress(&words[3], family, &own)
        || !TakePort(&words[4], &headerPtr->port)
        || !TakePort(&words[5], &ownPort)) {
        return Invalid(headerPtr, "its addresses or ports are not valid");
    }
    headerPtr->family = family;
    return NS_PROXY_DONE;
}

/*
 * Exactly one blank is between words.  The last word holds whatever follows.
 */
static int
SplitWords(const char *line, size_t length, Word words[MAX_WORDS])
{
    const char *end = line + length;
    int         n = 0;

    for (const char *p = line; n < MAX_WORDS; n++) {
        const char *blank = n == MAX_WORDS - 1
            ? NULL
            : memchr(p, ' ', (size_t) (end - p));

        words[n] = (Word){p, (size_t) ((blank == NULL ? end : blank) - p)};
        if (blank == NULL) {
            return n + 1;
        }
        p = blank + 1;
    }
    return n;
}

static bool
Is(const Word *wordPtr, const char *text)
{
    return wordPtr->length == strlen(text)
        && memcmp(wordPtr->start, text, wordPtr->length) == 0;
}

static bool
TakeAddress(const Word *wordPtr, int family, void *address)
{
    char text[INET6_ADDRSTRLEN];

    if (wordPtr->length >= sizeof(text)
        || memchr(wordPtr->start, '\0', wordPtr->length) != NULL) {
        return false;
    }
    memcpy(text, wordPtr->start, wordPtr->length);
    text[wordPtr->length] = '\0';
    return inet_pton(family, text, address) == 1;
}

static bool
TakePort(const Word *wordPtr, unsigned short *portPtr)
{
    unsigned port = 0u;

    if (wordPtr->length == 0u || wordPtr->length > 5u
        || (*wordPtr->start == '0' && wordPtr->length > 1u)) {
        return false;
    }
    for (size_t i = 0; i < wordPtr->length; i++) {
        if (wordPtr->start[i] < '0' || wordPtr->start[i] > '9') {
            return false;
        }
        port = port * 10u + (unsigned) (wordPtr->start[i] - '0');
    }
    *portPtr = (unsigned short) port;
    return port <= 65535u;
}

/*
 * Version 2: 12 bytes that no other protocol begins with, version and command,
 * family and protocol, and the length of the rest.
 */
static NsProxyStatus
ParseBinary(const char *bytes, size_t length, NsProxyHeader *headerPtr)
{
    const unsigned char *p = (const unsigned char *) bytes;
    size_t               blockBytes = (size_t) p[14] << 8 | p[15];
    unsigned             command = p[12] & 0x0fu;

    if (p[12] >> 4 != 2u || command > 1u) {
        return Invalid(headerPtr, "its version or command is unknown");
    }
    if (p[13] >> 4 > 3u || (p[13] & 0x0fu) > 2u) {
        return Invalid(headerPtr, "it is for an unknown protocol");
    }
    if (V2_HEAD + blockBytes > NS_PROXY_MAX_BYTES) {
        return Invalid(headerPtr, "it is too long");
    }
    if (length < V2_HEAD + blockBytes) {
        return NS_PROXY_MORE;
    }
    headerPtr->bytes = V2_HEAD + blockBytes;
    /* Of a connection of the proxy's own, the rest has no meaning. */
    return command == 0u ? NS_PROXY_DONE : TakeBlock(p, blockBytes, headerPtr);
}

static NsProxyStatus
TakeBlock(const unsigned char *p, size_t blockBytes, NsProxyHeader *headerPtr)
{
    static const struct {
        int    family;
        size_t addressBytes;
        size_t allBytes;
    } families[] = {{AF_UNSPEC, 0u, 0u},
                    {AF_INET, 4u, V2_INET},
                    {AF_INET6, 16u, V2_INET6},
                    {AF_UNSPEC, 0u, V2_UNIX}};
    const unsigned char *block = p + V2_HEAD;
    unsigned             which = p[13] >> 4;
    size_t               addressBytes = families[which].addressBytes;
    const char          *problem;

    NsAssert(which < 4u);
    if (which == 0u) {
        return NS_PROXY_DONE; /* What the rest holds is not said. */
    }
    if (blockBytes < families[which].allBytes) {
        return Invalid(headerPtr, "it is shorter than its addresses");
    }
    problem = CheckExtensions(p, V2_HEAD + families[which].allBytes,
                              V2_HEAD + blockBytes);
    if (problem != NULL) {
        return Invalid(headerPtr, problem);
    }
    if (addressBytes > 0u && (p[13] & 0x0fu) != 0u) {
        headerPtr->family = families[which].family;
        memcpy(&headerPtr->address, block, addressBytes);
        headerPtr->port = (unsigned short) (block[2u * addressBytes] << 8
                                            | block[2u * addressBytes + 1u]);
    }
    return NS_PROXY_DONE;
}

/*
 * Type, length of two bytes, value: skipped, but for a checksum of the header,
 * taken with zeros in its own place.
 */
static const char *
CheckExtensions(const unsigned char *header, size_t at, size_t end)
{
    static const unsigned char zeros[4];

    while (at < end) {
        size_t n;

        if (end - at < 3u
            || (n = (size_t) header[at + 1u] << 8 | header[at + 2u])
                > end - at - 3u) {
            return "its extensions are cut off";
        }
        if (header[at] == TLV_CRC32C) {
            const unsigned char *value = header + at + 3u;
            uint32_t             crc = 0xffffffffu;

            if (n != sizeof(zeros)) {
                return "its checksum has a wrong length";
            }
            crc = Crc(crc, header, at + 3u);
            crc = Crc(crc, zeros, sizeof(zeros));
            crc = ~Crc(crc, value + n, end - (at + 3u + n));
            if (crc
                != ((uint32_t) value[0] << 24 | (uint32_t) value[1] << 16
                    | (uint32_t) value[2] << 8 | value[3])) {
                return "its checksum does not fit";
            }
        }
        at += 3u + n;
    }
    return NULL;
}

/*
 * CRC-32C (RFC 4960, appendix B), bit by bit: it is rare, and of some hundred
 * bytes.
 */
static uint32_t
Crc(uint32_t crc, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0x82f63b78u & (0u - (crc & 1u)));
        }
    }
    return crc;
}
