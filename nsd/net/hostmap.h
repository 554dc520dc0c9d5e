/* SPDX-License-Identifier: MPL-2.0
 * hostmap.h --
 *
 *      Host fields to servers and locations.
 */

#ifndef NSD_NET_HOSTMAP_H
#define NSD_NET_HOSTMAP_H

#include "net/driver_int.h"

typedef struct NsHostEntry {
    NsServer   *serverPtr;
    const char *location;
} NsHostEntry;

/*
 * Of a driver that all servers share: hosts that are not in the map lead to the
 * default server.
 */
NsHostMap *NsHostMapCreate(NsDriver *drvPtr, const char *defaultServer);

/*
 * Of a driver of one server: NULL if it has no section of hosts.
 */
NsHostMap *NsHostMapCreateOwn(NsDriver *drvPtr);

bool NsHostMapKnows(const NsHostMap *mapPtr, const char *host);

/*
 * Set the server of a message and the location: by its Host field if the driver
 * has a map.
 */
void NsHostMapChoose(const NsDriver *drvPtr, NsMessage *messagePtr);

/* The Host fields that lead to the server, as keys of the set. */
void NsHostMapAppend(Ns_Set *hostsPtr, const NsHostMap *mapPtr,
                     const NsServer *serverPtr);

#endif
