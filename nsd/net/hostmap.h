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
    bool        isVariant; /* Of what the configuration has. */
} NsHostEntry;

NsHostMap         *NsHostMapCreate(NsDriver *drvPtr, const char *defaultServer);
const NsHostEntry *NsHostMapFind(const NsHostMap *mapPtr, const char *host);
bool               NsHostMapKnows(const NsHostMap *mapPtr, const char *host);
/* The Host fields that lead to the server, as keys of the set. */
void NsHostMapAppend(Ns_Set *hostsPtr, const NsHostMap *mapPtr,
                     const NsServer *serverPtr);

#endif
