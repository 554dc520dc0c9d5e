/*
 * peers.c --
 *
 *      How many half-received requests each peer has.  Owned by one thread.
 */

#include "net/driver_int.h"

struct NsPeerTable {
    Tcl_HashTable counts;       /* Address -> number. */
};

NsPeerTable *
NsPeerTableCreate(void)
{
    NsPeerTable *tablePtr = ns_calloc(1u, sizeof(NsPeerTable));

    Tcl_InitHashTable(&tablePtr->counts, TCL_STRING_KEYS);
    return tablePtr;
}

void
NsPeerTableDestroy(NsPeerTable **tablePtrPtr)
{
    Tcl_DeleteHashTable(&(*tablePtrPtr)->counts);
    ns_free(*tablePtrPtr);
    *tablePtrPtr = NULL;
}

int
NsPeerTableAdd(NsPeerTable *tablePtr, const char *peer)
{
    int            isNew;
    Tcl_HashEntry *hPtr = Tcl_CreateHashEntry(&tablePtr->counts, peer, &isNew);
    int            n = isNew ? 1 : PTR2INT(Tcl_GetHashValue(hPtr)) + 1;

    Tcl_SetHashValue(hPtr, INT2PTR(n));
    return n;
}

void
NsPeerTableRemove(NsPeerTable *tablePtr, const char *peer)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&tablePtr->counts, peer);
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
