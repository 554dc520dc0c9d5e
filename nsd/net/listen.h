/* SPDX-License-Identifier: MPL-2.0
 * listen.h --
 *
 *      Listening sockets and addresses, inside the server; modules use
 *      nssocket.h.
 */

#ifndef NSD_NET_LISTEN_H
#define NSD_NET_LISTEN_H

#include "nssocket.h"
#include "process/prebind.h"

/*
 * Once, before the configuration is read.
 */
void NsListenInit(void);

/*
 * An address of either family.
 */
typedef struct NsSockAddr {
    union {
        struct sockaddr         any;
        struct sockaddr_in      in;
        struct sockaddr_in6     in6;
        struct sockaddr_storage storage;
    } u;
    socklen_t length;
} NsSockAddr;

/*
 * All addresses of a host, in the order in which to try them; their number.
 * *addrsPtr is the caller's, and NULL if there are none.
 */
int NsSockAddrResolveAll(const char *host, int port, NsSockAddr **addrsPtr);

/*
 * Whether the host is a name, that has to be resolved.
 */
bool NsSockAddrIsName(const char *host);

/*
 * The address without its port, as text.
 */
void NsSockAddrText(const NsSockAddr *addrPtr, char *text, size_t size);

/*
 * How TCP sockets that the calling thread listens on from now on share their
 * ports.
 */
void NsListenMode(NsBindMode mode);

/*
 * A bound TCP socket for which nobody asked yet, in that mode.  It listens when
 * Ns_SockListenEx is called for the same address and port, if it was given to
 * NsPrebindKeep.  NS_INVALID_SOCKET with errno.
 */
NS_SOCKET NsSockReserve(const char *address, int port, NsBindMode mode);

#endif
