/* SPDX-License-Identifier: MPL-2.0
 * ipaddress.c --
 *
 *      Numeric addresses and ranges of them.
 */

#include "base/ipaddress.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define V4_BITS 96 /* Of the prefix before an IPv4 address. */

static const uint8_t v4Prefix[12] = {[10] = 0xff, [11] = 0xff};

/*
 * Networks that are not public (RFC 6890 and its successors).
 */
static const char *const specialRanges[] = {
    "0.0.0.0/8",      "10.0.0.0/8",    "100.64.0.0/10",   "127.0.0.0/8",
    "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",
    "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/3",    "::/128",        "::1/128",         "100::/64",
    "2001:db8::/32",  "fc00::/7",      "fe80::/10",       "ff00::/8"};

static bool IsV4(const NsIpAddress *addressPtr);

bool
NsIpParse(const char *text, NsIpAddress *addressPtr)
{
    uint8_t *bytes = addressPtr->bytes;

    if (inet_pton(AF_INET, text, bytes + sizeof(v4Prefix)) == 1) {
        memcpy(bytes, v4Prefix, sizeof(v4Prefix));
        return true;
    }
    return inet_pton(AF_INET6, text, bytes) == 1;
}

bool
NsIpRangeParse(const char *text, NsIpRange *rangePtr)
{
    const char *slash = strchr(text, '/');
    char        address[INET6_ADDRSTRLEN], *end;
    size_t      length = slash == NULL ? strlen(text) : (size_t) (slash - text);
    long        nBits;
    int         nSkipped;

    if (length >= sizeof(address)) {
        return false;
    }
    memcpy(address, text, length);
    address[length] = '\0';
    if (!NsIpParse(address, &rangePtr->address)) {
        return false;
    }
    rangePtr->nBits = 128;
    if (slash == NULL) {
        return true;
    }
    nSkipped = strchr(address, ':') == NULL ? V4_BITS : 0;
    nBits = strtol(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '\0' || slash[1] < '0' || slash[1] > '9'
        || nBits > 128 - nSkipped) {
        return false;
    }
    rangePtr->nBits = nSkipped + (int) nBits;
    return true;
}

bool
NsIpRangeHas(const NsIpRange *rangePtr, const NsIpAddress *addressPtr)
{
    const uint8_t *a = rangePtr->address.bytes, *b = addressPtr->bytes;
    size_t         nBytes = (size_t) rangePtr->nBits / 8;
    int            nRest = rangePtr->nBits % 8;

    /* Not even ::/0 has an IPv4 address. */
    return (rangePtr->nBits >= V4_BITS || !IsV4(addressPtr))
        && memcmp(a, b, nBytes) == 0
        && (nRest == 0 || (a[nBytes] ^ b[nBytes]) >> (8 - nRest) == 0);
}

bool
NsIpCutText(char *text, int nBits4, int nBits6)
{
    NsIpAddress address;
    bool        isV4;

    NsAssert(nBits4 >= 0 && nBits4 <= 32 && nBits6 >= 0 && nBits6 <= 128);
    if (!NsIpParse(text, &address)) {
        return false;
    }
    isV4 = IsV4(&address);
    for (int i = isV4 ? V4_BITS + nBits4 : nBits6; i < 128; i++) {
        address.bytes[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
    }
    (void) inet_ntop(isV4 ? AF_INET : AF_INET6,
                     address.bytes + (isV4 ? sizeof(v4Prefix) : 0), text,
                     INET6_ADDRSTRLEN);
    return true;
}

static bool
IsV4(const NsIpAddress *addressPtr)
{
    return memcmp(addressPtr->bytes, v4Prefix, sizeof(v4Prefix)) == 0;
}

bool
NsIpIsAny(const NsIpAddress *addressPtr)
{
    static const uint8_t zeros[sizeof(addressPtr->bytes)];
    size_t               nSkipped = IsV4(addressPtr) ? sizeof(v4Prefix) : 0;

    return memcmp(addressPtr->bytes + nSkipped, zeros, sizeof(zeros) - nSkipped)
        == 0;
}

bool
NsIpIsPublic(const NsIpAddress *addressPtr)
{
    for (size_t i = 0; i < sizeof(specialRanges) / sizeof(specialRanges[0]);
         i++) {
        NsIpRange range;

        if (NsIpRangeParse(specialRanges[i], &range)
            && NsIpRangeHas(&range, addressPtr)) {
            return false;
        }
    }
    return true;
}
