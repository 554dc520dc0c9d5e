/* SPDX-License-Identifier: MPL-2.0
 * sinktype.c --
 *
 *      The types of sinks.
 */

#include "log/sink/sinktype.h"

#include "log/sink/sinktable.h"
#include "nsthread.h"

#define MAX_TYPES 64

/*
 * Written with nsSinksLock held; a type is never removed.
 */
static _Atomic(const NsSinkType *) types[MAX_TYPES];

static NsSinkTypeLoadProc *loadProc; /* Constant after the start. */

static const NsSinkType *FindLoaded(const char *name);

const NsSinkType *
NsSinkTypeFind(const char *name)
{
    const NsSinkType *typePtr = FindLoaded(name);

    if (typePtr == NULL && loadProc != NULL) {
        loadProc(name);
        typePtr = FindLoaded(name);
    }
    return typePtr;
}

static const NsSinkType *
FindLoaded(const char *name)
{
    const NsSinkType *typePtr;

    for (int i = 0; (typePtr = NsSinkTypeAt(i)) != NULL; i++) {
        if (STREQ(typePtr->name, name)) {
            return typePtr;
        }
    }
    return NULL;
}

const NsSinkType *
NsSinkTypeAt(int index)
{
    return index < MAX_TYPES
        ? atomic_load_explicit(&types[index], memory_order_acquire)
        : NULL;
}

bool
NsSinkTypeAdd(const NsSinkType *typePtr)
{
    bool isAdded = false;

    Ns_MutexLock(&nsSinksLock);
    if (FindLoaded(typePtr->name) == NULL) {
        for (int i = 0; i < MAX_TYPES && !isAdded; i++) {
            if (NsSinkTypeAt(i) == NULL) {
                atomic_store_explicit(&types[i], typePtr, memory_order_release);
                isAdded = true;
            }
        }
    }
    Ns_MutexUnlock(&nsSinksLock);
    return isAdded;
}

void
NsSinkTypeSetLoadProc(NsSinkTypeLoadProc *proc)
{
    loadProc = proc;
}

int
NsSinkTypeCountOptions(const NsSinkType *typePtr)
{
    int n = 0;

    while (typePtr->options != NULL && typePtr->options[n].name != NULL) {
        n++;
    }
    return n;
}
