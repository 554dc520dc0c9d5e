/* SPDX-License-Identifier: MPL-2.0
 * peers.h --
 *
 *      How many half-received requests each peer has.
 */

#ifndef NSD_NET_PEERS_H
#define NSD_NET_PEERS_H

typedef struct NsPeerTable NsPeerTable;

NsPeerTable *NsPeerTableCreate(void);
int          NsPeerTableAdd(NsPeerTable *tablePtr, const char *peer);
void         NsPeerTableRemove(NsPeerTable *tablePtr, const char *peer);

#endif
