/* SPDX-License-Identifier: MPL-2.0
 * names.c --
 *
 *      A table from short names to texts or pointers.
 *
 *      An entry is complete before the release that makes it the first of its
 *      bucket, and never changes afterwards.
 */

#include "http/names.h"

#include "nsthread.h"

#include "base/chars.h"

static size_t Hash(const char *name, size_t length);
static bool   IsHidden(NsNameEntry *firstPtr, const NsNameEntry *entryPtr);

void
NsNamePut(NsNameTable *tablePtr, const char *name, size_t length,
          const void *value)
{
    _Atomic(NsNameEntry *) *bucketPtr = &tablePtr->buckets[Hash(name, length)];
    NsNameEntry *entryPtr = ns_malloc(sizeof(*entryPtr) + length + 1);
    char        *copy = (char *) (entryPtr + 1);

    for (size_t i = 0; i < length; i++) {
        copy[i] = tablePtr->isExact ? name[i] : NsToLower(name[i]);
    }
    copy[length] = '\0';
    entryPtr->name = copy;
    entryPtr->length = length;
    entryPtr->value = value;
    entryPtr->nextPtr = atomic_load_explicit(bucketPtr, memory_order_acquire);
    while (!atomic_compare_exchange_weak_explicit(bucketPtr, &entryPtr->nextPtr,
                                                  entryPtr,
                                                  memory_order_release,
                                                  memory_order_acquire)) {
        /* Someone else was first; nextPtr is his entry now. */
    }
}

const void *
NsNameGet(const NsNameTable *tablePtr, const char *name, size_t length)
{
    const NsNameEntry *entryPtr;

    entryPtr = atomic_load_explicit(&tablePtr->buckets[Hash(name, length)],
                                    memory_order_acquire);
    for (; entryPtr != NULL; entryPtr = entryPtr->nextPtr) {
        if (entryPtr->length == length
            && (tablePtr->isExact
                    ? memcmp(entryPtr->name, name, length) == 0
                    : NsIsSameNoCase(entryPtr->name, name, length))) {
            return entryPtr->value;
        }
    }
    return NULL;
}

void
NsNameEach(const NsNameTable *tablePtr, NsNameProc *proc, void *arg)
{
    for (int i = 0; i < NS_NAME_BUCKETS; i++) {
        NsNameEntry *firstPtr, *entryPtr;

        firstPtr = atomic_load_explicit(&tablePtr->buckets[i],
                                        memory_order_acquire);
        for (entryPtr = firstPtr; entryPtr != NULL;
             entryPtr = entryPtr->nextPtr) {
            if (!IsHidden(firstPtr, entryPtr)) {
                proc(entryPtr->name, entryPtr->value, arg);
            }
        }
    }
}

/*
 * Over the lower-case name, for exact tables too.
 */
static size_t
Hash(const char *name, size_t length)
{
    uint32_t hash = NS_HASH_START;

    for (size_t i = 0; i < length; i++) {
        hash = NsHashAdd(hash, NsToLower(name[i]));
    }
    return (hash ^ (hash >> 16)) % NS_NAME_BUCKETS;
}

static bool
IsHidden(NsNameEntry *firstPtr, const NsNameEntry *entryPtr)
{
    for (; firstPtr != entryPtr; firstPtr = firstPtr->nextPtr) {
        if (strcmp(firstPtr->name, entryPtr->name) == 0) {
            return true;
        }
    }
    return false;
}
