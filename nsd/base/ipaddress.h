/* SPDX-License-Identifier: MPL-2.0
 * ipaddress.h --
 *
 *      Numeric addresses of IPv4 and IPv6, and ranges of them.
 *
 *      An IPv4 address is kept as the IPv6 address ::ffff:A.B.C.D, so both
 *      spellings of it are the same address.
 */

#ifndef NSD_BASE_IPADDRESS_H
#define NSD_BASE_IPADDRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct NsIpAddress {
    uint8_t bytes[16];
} NsIpAddress;

typedef struct NsIpRange {
    NsIpAddress address;
    int         nBits; /* Leading bits that must agree, 0 .. 128. */
} NsIpRange;

/*
 * False if the text is not a numeric address.
 */
bool NsIpParse(const char *text, NsIpAddress *addressPtr);

/*
 * `ADDRESS/BITS`, or a single address.  False if the text is neither.
 */
bool NsIpRangeParse(const char *text, NsIpRange *rangePtr);

/*
 * Ranges and addresses of different families never match.
 */
bool NsIpRangeHas(const NsIpRange *rangePtr, const NsIpAddress *addressPtr);

/*
 * Leave the first bits of an address, the rest 0, in a buffer of at least
 * INET6_ADDRSTRLEN bytes.  An IPv4 address that stands in one of IPv6 becomes
 * the former.  False if the text is not a numeric address; then it stays.
 */
bool NsIpCutText(char *text, int nBits4, int nBits6);

/*
 * Whether it is 0.0.0.0 or ::, which stand for all addresses of a machine.
 */
bool NsIpIsAny(const NsIpAddress *addressPtr);

/*
 * Whether the address can be reached from everywhere: not of this machine, a
 * private network, a link, a documentation or a group.
 */
bool NsIpIsPublic(const NsIpAddress *addressPtr);

#endif
