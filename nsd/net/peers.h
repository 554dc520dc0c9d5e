/* SPDX-License-Identifier: MPL-2.0
 * peers.h --
 *
 *      How many half-received requests each peer has.
 */

#ifndef NSD_NET_PEERS_H
#define NSD_NET_PEERS_H

#include <netinet/in.h>

typedef struct NsPeerTable NsPeerTable;

NsPeerTable *NsPeerTableCreate(void);
int          NsPeerTableAdd(NsPeerTable *tablePtr, const char *peer);
void         NsPeerTableRemove(NsPeerTable *tablePtr, const char *peer);

/*
 * Who the peer is: its address, or the network of 64 bits that an IPv6 address
 * belongs to, in the buffer.
 */
const char *NsPeerKey(const char *peer, char buffer[INET6_ADDRSTRLEN]);

#endif
