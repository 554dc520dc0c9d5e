/* SPDX-License-Identifier: MPL-2.0
 * forwarded.h --
 *
 *      Clients as proxies name them.
 *
 *      Anybody can send the fields about forwarding, so they count only as far
 *      as a trusted proxy has written them: from the right, where the nearest
 *      proxy appends, up to the first address that is not a proxy's.
 */

#ifndef NSD_HTTP_FORWARDED_H
#define NSD_HTTP_FORWARDED_H

#include "base/ipaddress.h"
#include "http/head.h"

#define NS_FORWARDED_BYTES 48 /* Any address as text. */

typedef struct NsProxies {
    const NsIpRange *ranges;
    int              n;
    bool skipsNonPublic; /* A client has a public address; what others wrote
                          * in a list is believed. */
    const struct NsProxies *formerPtr; /* What these have replaced. */
} NsProxies;

/*
 * Whether a peer is one of them.
 */
bool NsProxiesHave(const NsProxies *proxiesPtr, const char *peer);

/*
 * The client: peer itself unless that is a trusted proxy, and X-Forwarded-For,
 * or else Forwarded (RFC 7239), has an address at the place that counts; then
 * that address, in buffer.  If all addresses are proxies', the leftmost counts.
 */
const char *NsForwardedPeer(const NsHttpHead *headPtr, const char *peer,
                            const NsProxies *proxiesPtr,
                            char             buffer[NS_FORWARDED_BYTES]);

/*
 * The element of X-Forwarded-For that is no address where one is needed; NULL:
 * there is none.  `unknown` and nothing are not reported.
 */
const char *NsForwardedJunk(const NsHttpHead *headPtr, const char *peer,
                            const NsProxies *proxiesPtr, size_t *lengthPtr);

/*
 * The value of a parameter of Forwarded, such as `proto`, in buffer, if one
 * proxy alone has written one.  Of several, it is not defined which one counts.
 */
bool NsForwardedParameter(const NsHttpHead *headPtr, const char *name,
                          char *buffer, size_t size);

#endif
