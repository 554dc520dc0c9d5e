/* SPDX-License-Identifier: MPL-2.0
 * perserver.c --
 *
 *      Data that a family of commands keeps per server.
 *
 *      All servers are there before the first of them uses a command.  So the
 *      data is in an array, which is made once; each item is complete before it
 *      is entered: readers need no lock.
 */

#include "tcl/perserver.h"

#include "ns.h"
#include "base/assert.h"
#include "base/lock.h"

static Ns_Mutex lock; /* Serializes creation. */

static void *Find(NsPerServer *perServerPtr, const NsServer *serverPtr);

void
NsPerServerInit(void)
{
    NsMutexSetup(&lock, NS_RANK_TCL_PERSERVER, "nsd:perserver", NULL);
}

void *
NsPerServerGet(NsPerServer *perServerPtr, NsServer *serverPtr,
               NsPerServerProc *createProc)
{
    void *data = Find(perServerPtr, serverPtr);

    if (likely(data != NULL)) {
        return data;
    }
    Ns_MutexLock(&lock);
    if (atomic_load(&perServerPtr->data) == NULL) {
        atomic_store(&perServerPtr->data,
                     ns_calloc((size_t) NsServerCount(), sizeof(void *)));
    }
    data = Find(perServerPtr, serverPtr);
    if (data == NULL) {
        data = createProc(serverPtr);
        NsAssert(data != NULL && serverPtr->number < NsServerCount());
        atomic_store(&atomic_load(&perServerPtr->data)[serverPtr->number],
                     data);
    }
    Ns_MutexUnlock(&lock);
    return data;
}

/*
 * NULL: none yet.
 */
static void *
Find(NsPerServer *perServerPtr, const NsServer *serverPtr)
{
    void *_Atomic *dataPtr = atomic_load_explicit(&perServerPtr->data,
                                                  memory_order_acquire);

    return dataPtr == NULL
        ? NULL
        : atomic_load_explicit(&dataPtr[serverPtr->number],
                               memory_order_acquire);
}
