/* SPDX-License-Identifier: MPL-2.0
 * perserver.c --
 *
 *      Data that a family of commands keeps per server.
 *
 *      Servers are few, so the items form a list.  It only grows, at its
 *      head, and an item is complete before it is linked: readers need no lock.
 */

#include "tcl/perserver.h"

#include "ns.h"
#include "base/lock.h"

typedef struct NsPerServerItem {
    struct NsPerServerItem *nextPtr;
    NsServer               *serverPtr;
    void                   *data;
} NsPerServerItem;

static Ns_Mutex lock; /* Serializes creation. */

static NsPerServerItem *Find(NsPerServer    *perServerPtr,
                             const NsServer *serverPtr);

void
NsPerServerInit(void)
{
    NsMutexSetup(&lock, NS_RANK_TCL_PERSERVER, "nsd:perserver", NULL);
}

void *
NsPerServerGet(NsPerServer *perServerPtr, NsServer *serverPtr,
               NsPerServerProc *createProc)
{
    NsPerServerItem *itemPtr = Find(perServerPtr, serverPtr);

    if (likely(itemPtr != NULL)) {
        return itemPtr->data;
    }
    Ns_MutexLock(&lock);
    itemPtr = Find(perServerPtr, serverPtr);
    if (itemPtr == NULL) {
        itemPtr = ns_malloc(sizeof(*itemPtr));
        itemPtr->serverPtr = serverPtr;
        itemPtr->data = createProc(serverPtr);
        itemPtr->nextPtr = atomic_load(&perServerPtr->firstPtr);
        atomic_store(&perServerPtr->firstPtr, itemPtr);
    }
    Ns_MutexUnlock(&lock);
    return itemPtr->data;
}

static NsPerServerItem *
Find(NsPerServer *perServerPtr, const NsServer *serverPtr)
{
    NsPerServerItem *itemPtr = atomic_load_explicit(&perServerPtr->firstPtr,
                                                    memory_order_acquire);

    while (itemPtr != NULL && itemPtr->serverPtr != serverPtr) {
        itemPtr = itemPtr->nextPtr;
    }
    return itemPtr;
}
