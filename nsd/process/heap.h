/* SPDX-License-Identifier: MPL-2.0
 * heap.h --
 *
 *      What is due first: a binary heap of entries that are part of larger
 *      structures.
 *
 *      No lock: the owner of the heap has one.
 */

#ifndef NSD_PROCESS_HEAP_H
#define NSD_PROCESS_HEAP_H

#include "base/clock.h"

typedef struct NsHeapEntry {
    NsStamp due;   /* Set before it is inserted. */
    int     index; /* The heap's own; -1: in no heap. */
} NsHeapEntry;

typedef struct NsHeap {
    NsHeapEntry **entries;
    int           n;
    int           max;
} NsHeap;

/*
 * An entry in no heap.  A heap begins as zeros.
 */
static inline void
NsHeapEntryInit(NsHeapEntry *entryPtr)
{
    entryPtr->due = 0;
    entryPtr->index = -1;
}

static inline bool
NsHeapContains(const NsHeapEntry *entryPtr)
{
    return entryPtr->index >= 0;
}

/*
 * The entry that is due first; NULL if there is none.
 */
static inline NsHeapEntry *
NsHeapFirst(const NsHeap *heapPtr)
{
    return heapPtr->n == 0 ? NULL : heapPtr->entries[0];
}

void NsHeapInsert(NsHeap *heapPtr, NsHeapEntry *entryPtr);
void NsHeapRemove(NsHeap *heapPtr, NsHeapEntry *entryPtr);

#endif
