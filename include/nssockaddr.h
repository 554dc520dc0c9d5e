/* SPDX-License-Identifier: MPL-2.0
 * nssockaddr.h --
 *
 *      Socket addresses of IPv4 and IPv6, and masks for them.
 *
 *      A `struct sockaddr *` to be filled points to memory for either family:
 *      a struct sockaddr_storage.  Pure functions; any thread.
 */

#ifndef NSSOCKADDR_H
#define NSSOCKADDR_H

#include "nstypes.h"

/*
 * Room for any address as text, with its null byte.
 */
#ifndef NS_IPADDR_SIZE
#define NS_IPADDR_SIZE INET6_ADDRSTRLEN
#endif

/*
 * The address as text, without port, in buffer, which is returned; NULL and
 * errno when it is of another family (EAFNOSUPPORT) or does not fit (ENOSPC).
 */
NS_EXTERN const char *ns_inet_ntop(const struct sockaddr *saPtr, char *buffer,
                                   size_t size);

/*
 * Set family and address from text; the port stays as it is.  1; or 0, and
 * nothing set, when the text is not a numeric address.
 */
NS_EXTERN int ns_inet_pton(struct sockaddr *saPtr, const char *text);

/*
 * The port in the order of the machine; 0 for another family, where Set does
 * nothing.
 */
NS_EXTERN unsigned short Ns_SockaddrGetPort(const struct sockaddr *saPtr);
NS_EXTERN void Ns_SockaddrSetPort(struct sockaddr *saPtr, unsigned short port);

/*
 * Bytes of the structure for its family; 0 for another family.
 */
NS_EXTERN socklen_t Ns_SockaddrGetSockLen(const struct sockaddr *saPtr);

/*
 * Whether both are the same address, whatever the ports; ::ffff:A.B.C.D is
 * A.B.C.D.
 */
NS_EXTERN bool Ns_SockaddrSameIP(const struct sockaddr *saPtr,
                                 const struct sockaddr *otherPtr);

/*
 * *maskedPtr: the address with the bits that the mask has; may be addrPtr.
 * False, and nothing stored: not of one family.
 */
NS_EXTERN bool Ns_SockaddrMask(const struct sockaddr *addrPtr,
                               const struct sockaddr *maskPtr,
                               struct sockaddr       *maskedPtr);

/*
 * Turn maskPtr, whose family is set, into a mask of this many leading bits.
 * False, and nothing stored: more than the family has.
 */
NS_EXTERN bool Ns_SockaddrMaskBits(struct sockaddr *maskPtr, unsigned nBits);

/*
 * ADDRESS, ADDRESS/BITS, or ADDRESS/MASK: the address, masked, and the mask.
 * *isSinglePtr (may be NULL): there was no mask, so all bits count.  NS_ERROR,
 * with a message in interp (may be NULL): the text is none of these.
 */
NS_EXTERN Ns_ReturnCode
Ns_SockaddrParseIPMask(Tcl_Interp *interp, const char *text,
                       struct sockaddr *addrPtr, struct sockaddr *maskPtr,
                       bool *isSinglePtr);

/*
 * Whether the address, masked, is maskedPtr.  An IPv4 address matches a mask of
 * IPv4, also when it is written as ::ffff:A.B.C.D; no other address does.
 */
NS_EXTERN bool Ns_SockaddrMaskedMatch(const struct sockaddr *addrPtr,
                                      const struct sockaddr *maskPtr,
                                      const struct sockaddr *maskedPtr);

/*
 * Whether the address can be reached from everywhere: it is not of this
 * machine, a private network, a link, a documentation or a group.
 */
NS_EXTERN bool Ns_SockaddrPublicIpAddress(const struct sockaddr *saPtr);

/*
 * Whether it belongs to a proxy in the parameter trustedproxies, which is
 * trusted to name clients.
 */
NS_EXTERN bool Ns_SockaddrTrustedReverseProxy(const struct sockaddr *saPtr);

#endif
