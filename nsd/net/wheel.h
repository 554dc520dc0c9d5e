/* SPDX-License-Identifier: MPL-2.0
 * wheel.h --
 *
 *      Time limits of many sockets, in constant time each.
 *
 *      Limits fall into slots of 32 ms.  An entry keeps its limit and is never
 *      handed out before it: one that lies beyond the last slot is put into
 *      that, and is moved when its slot is due.
 */

#ifndef NSD_NET_WHEEL_H
#define NSD_NET_WHEEL_H

#include "base/clock.h"

#define NS_WHEEL_SLOTS 1024
#define NS_WHEEL_SLOT  ((NsStamp) 32000000) /* Nanoseconds of one slot. */

typedef struct NsWheelEntry {
    struct NsWheelEntry *nextPtr; /* NULL: not in a wheel. */
    struct NsWheelEntry *prevPtr;
    NsStamp              due;  /* The time it was set to. */
    int64_t              tick; /* The wheel's: its slot. */
} NsWheelEntry;

/*
 * Owned by one thread.
 */
typedef struct NsWheel {
    NsWheelEntry slots[NS_WHEEL_SLOTS];     /* Heads of circular lists. */
    uint64_t     used[NS_WHEEL_SLOTS / 64]; /* A bit per occupied slot. */
    int64_t      tick;                      /* Slots before it are empty. */
} NsWheel;

typedef void NsWheelProc(NsWheelEntry *entryPtr, void *arg);

void NsWheelInit(NsWheel *wheelPtr, NsStamp now);

/*
 * The entry is due then, and no longer when it was.  Entries start as zeros.
 */
void NsWheelSet(NsWheel *wheelPtr, NsWheelEntry *entryPtr, NsStamp due);
void NsWheelCancel(NsWheel *wheelPtr, NsWheelEntry *entryPtr);

/*
 * Like NsWheelSet, but leaves an entry alone that is due before that.
 */
static inline void
NsWheelSetBefore(NsWheel *wheelPtr, NsWheelEntry *entryPtr, NsStamp due)
{
    if (entryPtr->nextPtr == NULL || entryPtr->due > due) {
        NsWheelSet(wheelPtr, entryPtr, due);
    }
}

/*
 * When to call NsWheelAdvance; 0 if there is no entry.
 */
NsStamp NsWheelNext(const NsWheel *wheelPtr);

/*
 * Take out all entries that are due and hand each to proc, which may set or
 * cancel any entry.
 */
void NsWheelAdvance(NsWheel *wheelPtr, NsStamp now, NsWheelProc *proc,
                    void *arg);

#endif
