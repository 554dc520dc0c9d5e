/* SPDX-License-Identifier: MPL-2.0
 * proxyheader.h --
 *
 *      The header of the PROXY protocol, versions 1 and 2: what a proxy sends
 *      ahead of everything else, to name the client.  A pure function.
 */

#ifndef NSD_HTTP_PROXYHEADER_H
#define NSD_HTTP_PROXYHEADER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Of the whole header.  Version 1 has 107 at most; extensions of version 2 take
 * some hundreds.
 */
#define NS_PROXY_MAX_BYTES 4096

typedef enum {
    NS_PROXY_DONE,
    NS_PROXY_MORE, /* Valid so far. */
    NS_PROXY_INVALID
} NsProxyStatus;

typedef struct NsProxyHeader {
    size_t bytes; /* Of the header; behind it comes what the client sent. */
    int family;   /* AF_INET or AF_INET6; AF_UNSPEC: the peer is the one that is
                   * connected. */
    struct in6_addr address; /* Of AF_INET the first four bytes. */
    unsigned short  port;
    const char     *reason; /* Why it is invalid. */
} NsProxyHeader;

NsProxyStatus NsProxyParse(const char *bytes, size_t length,
                           NsProxyHeader *headerPtr);

#endif
