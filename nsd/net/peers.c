/* SPDX-License-Identifier: MPL-2.0
 * peers.c --
 *
 *      How many half-received requests each peer has.  Owned by one thread.
 *
 *      An IPv6 network of 64 bits is one peer: whoever has one address of it
 *      has them all.
 */

#include "net/peers.h"
#include "nsthread.h"

struct NsPeerTable {
    Tcl_HashTable counts; /* Address or network -> number. */
};

NsPeerTable *
NsPeerTableCreate(void)
{
    NsPeerTable *tablePtr = ns_calloc(1u, sizeof(NsPeerTable));

    Tcl_InitHashTable(&tablePtr->counts, TCL_STRING_KEYS);
    return tablePtr;
}

int
NsPeerTableAdd(NsPeerTable *tablePtr, const char *peer)
{
    char           buffer[INET6_ADDRSTRLEN];
    int            isNew;
    Tcl_HashEntry *hPtr = Tcl_CreateHashEntry(&tablePtr->counts,
                                              NsPeerKey(peer, buffer), &isNew);
    int            n = isNew ? 1 : PTR2INT(Tcl_GetHashValue(hPtr)) + 1;

    Tcl_SetHashValue(hPtr, INT2PTR(n));
    return n;
}

void
NsPeerTableRemove(NsPeerTable *tablePtr, const char *peer)
{
    char           buffer[INET6_ADDRSTRLEN];
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&tablePtr->counts,
                                            NsPeerKey(peer, buffer));
    int            n;

    if (hPtr == NULL) {
        return;
    }
    n = PTR2INT(Tcl_GetHashValue(hPtr)) - 1;
    if (n == 0) {
        Tcl_DeleteHashEntry(hPtr);
    } else {
        Tcl_SetHashValue(hPtr, INT2PTR(n));
    }
}

const char *
NsPeerKey(const char *peer, char buffer[INET6_ADDRSTRLEN])
{
    struct in6_addr address;

    if (inet_pton(AF_INET6, peer, &address) != 1) {
        return peer;
    }
    memset(&address.s6_addr[8], 0, 8u);
    return inet_ntop(AF_INET6, &address, buffer, INET6_ADDRSTRLEN);
}
