/* SPDX-License-Identifier: MPL-2.0
 * sockaddr.c --
 *
 *      Socket addresses of both families.
 */

#include "nssockaddr.h"
#include "base/assert.h"
#include "base/ipaddress.h"

#define V4_BYTES 4
#define V6_BYTES 16

static uint8_t *BytesOf(const struct sockaddr *saPtr, size_t *nBytesPtr);
static bool     IpOf(const struct sockaddr *saPtr, NsIpAddress *addressPtr);
static bool     ParseMask(const char *text, struct sockaddr *maskPtr);
static bool     IsV4(const NsIpAddress *addressPtr);

const char *
ns_inet_ntop(const struct sockaddr *saPtr, char *buffer, size_t size)
{
    size_t         nBytes;
    const uint8_t *bytes = BytesOf(saPtr, &nBytes);

    if (bytes == NULL) {
        errno = EAFNOSUPPORT;
        return NULL;
    }
    return inet_ntop(saPtr->sa_family, bytes, buffer,
                     (socklen_t) MIN(size, INT_MAX));
}

int
ns_inet_pton(struct sockaddr *saPtr, const char *text)
{
    uint8_t bytes[V6_BYTES];
    size_t  nBytes;
    int     family = strchr(text, ':') == NULL ? AF_INET : AF_INET6;

    if (inet_pton(family, text, bytes) != 1) {
        return 0;
    }
    saPtr->sa_family = (sa_family_t) family;
    memcpy(BytesOf(saPtr, &nBytes), bytes,
           family == AF_INET ? V4_BYTES : V6_BYTES);
    if (family == AF_INET6) {
        struct sockaddr_in6 *sa6Ptr = (struct sockaddr_in6 *) (void *) saPtr;

        sa6Ptr->sin6_flowinfo = 0;
        sa6Ptr->sin6_scope_id = 0;
    }
    return 1;
}

/*
 * The port is at the same place in both structures.
 */
_Static_assert(offsetof(struct sockaddr_in, sin_port)
                   == offsetof(struct sockaddr_in6, sin6_port),
               "the port's place depends on the family");

unsigned short
Ns_SockaddrGetPort(const struct sockaddr *saPtr)
{
    return Ns_SockaddrGetSockLen(saPtr) == 0
        ? 0
        : ntohs(((const struct sockaddr_in *) (const void *) saPtr)->sin_port);
}

void
Ns_SockaddrSetPort(struct sockaddr *saPtr, unsigned short port)
{
    if (Ns_SockaddrGetSockLen(saPtr) != 0) {
        ((struct sockaddr_in *) (void *) saPtr)->sin_port = htons(port);
    }
}

socklen_t
Ns_SockaddrGetSockLen(const struct sockaddr *saPtr)
{
    return saPtr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
        : saPtr->sa_family == AF_INET6
        ? sizeof(struct sockaddr_in6)
        : 0;
}

bool
Ns_SockaddrSameIP(const struct sockaddr *saPtr, const struct sockaddr *otherPtr)
{
    NsIpAddress address, other;

    return IpOf(saPtr, &address) && IpOf(otherPtr, &other)
        && memcmp(&address, &other, sizeof(address)) == 0;
}

bool
Ns_SockaddrMask(const struct sockaddr *addrPtr, const struct sockaddr *maskPtr,
                struct sockaddr *maskedPtr)
{
    size_t         nBytes;
    const uint8_t *mask = BytesOf(maskPtr, &nBytes);
    uint8_t       *bytes;

    if (mask == NULL || addrPtr->sa_family != maskPtr->sa_family) {
        return false;
    }
    if (maskedPtr != addrPtr) {
        memcpy(maskedPtr, addrPtr, Ns_SockaddrGetSockLen(addrPtr));
    }
    bytes = BytesOf(maskedPtr, &nBytes);
    for (size_t i = 0; i < nBytes; i++) {
        bytes[i] &= mask[i];
    }
    return true;
}

bool
Ns_SockaddrMaskBits(struct sockaddr *maskPtr, unsigned nBits)
{
    size_t   nBytes;
    uint8_t *bytes = BytesOf(maskPtr, &nBytes);

    if (bytes == NULL || nBits > nBytes * 8) {
        return false;
    }
    memset(bytes, 0, nBytes);
    memset(bytes, 0xff, nBits / 8);
    if (nBits % 8 != 0) {
        bytes[nBits / 8] = (uint8_t) (0xff << (8 - nBits % 8));
    }
    return true;
}

Ns_ReturnCode
Ns_SockaddrParseIPMask(Tcl_Interp *interp, const char *text,
                       struct sockaddr *addrPtr, struct sockaddr *maskPtr,
                       bool *isSinglePtr)
{
    struct sockaddr_storage addr = {0}, mask = {0};
    struct sockaddr        *foundPtr = (struct sockaddr *) &addr;
    struct sockaddr        *bitsPtr = (struct sockaddr *) &mask;
    const char             *slash = strchr(text, '/');
    char                    address[NS_IPADDR_SIZE];
    size_t length = slash == NULL ? strlen(text) : (size_t) (slash - text);
    bool   isValid = length < sizeof(address);

    if (isValid) {
        memcpy(address, text, length);
        address[length] = '\0';
        isValid = ns_inet_pton(foundPtr, address);
        bitsPtr->sa_family = foundPtr->sa_family;
    }
    if (!isValid || !ParseMask(slash == NULL ? NULL : slash + 1, bitsPtr)
        || !Ns_SockaddrMask(foundPtr, bitsPtr, foundPtr)) {
        if (interp != NULL) {
            Tcl_SetObjResult(interp,
                             Tcl_ObjPrintf("'%s' is neither an address nor a "
                                           "network (ADDRESS/BITS)",
                                           text));
        }
        return NS_ERROR;
    }
    memcpy(addrPtr, foundPtr, Ns_SockaddrGetSockLen(foundPtr));
    memcpy(maskPtr, bitsPtr, Ns_SockaddrGetSockLen(bitsPtr));
    if (isSinglePtr != NULL) {
        *isSinglePtr = slash == NULL;
    }
    return NS_OK;
}

/*
 * All bits (text NULL), a number of bits, or a mask of the same family.
 */
static bool
ParseMask(const char *text, struct sockaddr *maskPtr)
{
    int           family = maskPtr->sa_family;
    unsigned long nBits = family == AF_INET ? V4_BYTES * 8 : V6_BYTES * 8;
    char         *end;

    if (text != NULL) {
        if (*text < '0' || *text > '9') {
            return strchr(text, ':') != NULL && ns_inet_pton(maskPtr, text)
                && maskPtr->sa_family == family;
        }
        nBits = strtoul(text, &end, 10);
        if (*end != '\0') {
            return ns_inet_pton(maskPtr, text) && maskPtr->sa_family == family;
        }
    }
    return nBits <= V6_BYTES * 8
        && Ns_SockaddrMaskBits(maskPtr, (unsigned) nBits);
}

bool
Ns_SockaddrMaskedMatch(const struct sockaddr *addrPtr,
                       const struct sockaddr *maskPtr,
                       const struct sockaddr *maskedPtr)
{
    size_t         nBytes, nPrefix;
    const uint8_t *mask = BytesOf(maskPtr, &nBytes);
    NsIpAddress    address, masked;
    bool           wasV4;

    if (mask == NULL || !IpOf(addrPtr, &address) || !IpOf(maskedPtr, &masked)) {
        return false;
    }
    /* The prefix of an IPv4 address counts as well: not even ::/0 has one. */
    wasV4 = IsV4(&address);
    nPrefix = V6_BYTES - nBytes;
    for (size_t i = nPrefix; i < V6_BYTES; i++) {
        address.bytes[i] &= mask[i - nPrefix];
    }
    return IsV4(&address) == wasV4
        && memcmp(&address, &masked, sizeof(address)) == 0;
}

bool
Ns_SockaddrPublicIpAddress(const struct sockaddr *saPtr)
{
    NsIpAddress address;

    return IpOf(saPtr, &address) && NsIpIsPublic(&address);
}

/*
 * The bytes of the address; NULL and 0 for another family.
 */
static uint8_t *
BytesOf(const struct sockaddr *saPtr, size_t *nBytesPtr)
{
    *nBytesPtr = saPtr->sa_family == AF_INET ? V4_BYTES
        : saPtr->sa_family == AF_INET6
        ? V6_BYTES
        : 0;
    switch (*nBytesPtr) {
    case V4_BYTES:
        return (uint8_t *) &((struct sockaddr_in *) (void *) saPtr)->sin_addr;
    case V6_BYTES:
        return ((struct sockaddr_in6 *) (void *) saPtr)->sin6_addr.s6_addr;
    default:
        return NULL;
    }
}

static bool
IpOf(const struct sockaddr *saPtr, NsIpAddress *addressPtr)
{
    char text[NS_IPADDR_SIZE];

    return ns_inet_ntop(saPtr, text, sizeof(text)) != NULL
        && NsIpParse(text, addressPtr);
}

static bool
IsV4(const NsIpAddress *addressPtr)
{
    struct in6_addr address;

    memcpy(&address, addressPtr->bytes, sizeof(address));
    return IN6_IS_ADDR_V4MAPPED(&address);
}
