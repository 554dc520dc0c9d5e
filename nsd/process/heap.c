/* SPDX-License-Identifier: MPL-2.0
 * heap.c --
 *
 *      A binary heap ordered by time.
 */

#include "process/heap.h"

#include "base/assert.h"
#include "nsthread.h"

static void Move(NsHeap *heapPtr, NsHeapEntry *entryPtr, int i);
static void Put(NsHeap *heapPtr, NsHeapEntry *entryPtr, int i);

void
NsHeapInsert(NsHeap *heapPtr, NsHeapEntry *entryPtr)
{
    NsAssert(!NsHeapContains(entryPtr));
    if (heapPtr->n == heapPtr->max) {
        heapPtr->max = heapPtr->max * 2 + 16;
        heapPtr->entries = ns_realloc(heapPtr->entries,
                                      (size_t) heapPtr->max
                                          * sizeof(NsHeapEntry *));
    }
    Move(heapPtr, entryPtr, heapPtr->n++);
}

void
NsHeapRemove(NsHeap *heapPtr, NsHeapEntry *entryPtr)
{
    int i = entryPtr->index;

    NsAssert(i >= 0 && i < heapPtr->n);
    entryPtr->index = -1;
    heapPtr->n--;
    if (i < heapPtr->n) {
        Move(heapPtr, heapPtr->entries[heapPtr->n], i);
    }
}

/*
 * Put an entry where it belongs, above or below the free place i.
 */
static void
Move(NsHeap *heapPtr, NsHeapEntry *entryPtr, int i)
{
    NsHeapEntry **entries = heapPtr->entries;

    while (i > 0 && entryPtr->due < entries[(i - 1) / 2]->due) {
        Put(heapPtr, entries[(i - 1) / 2], i);
        i = (i - 1) / 2;
    }
    for (;;) {
        int child = 2 * i + 1;

        if (child + 1 < heapPtr->n
            && entries[child + 1]->due < entries[child]->due) {
            child++;
        }
        if (child >= heapPtr->n || entries[child]->due >= entryPtr->due) {
            break;
        }
        Put(heapPtr, entries[child], i);
        i = child;
    }
    Put(heapPtr, entryPtr, i);
}

static void
Put(NsHeap *heapPtr, NsHeapEntry *entryPtr, int i)
{
    heapPtr->entries[i] = entryPtr;
    entryPtr->index = i;
}
