/*
 * wheel.h --
 *
 *      Time limits of many sockets, in constant time each.
 *
 *      Limits fall into slots of 32 ms, and a limit beyond the last slot into
 *      that; so an entry may come up early.  Whoever gets it compares with the
 *      real limit, and sets the entry again when that lies in the future.
 */

#ifndef NSD_NET_WHEEL_H
#define NSD_NET_WHEEL_H

#include "base/clock.h"

#define NS_WHEEL_SLOTS 1024
#define NS_WHEEL_SLOT  ((NsStamp) 32000000)    /* Nanoseconds of one slot. */

typedef struct NsWheelEntry {
    struct NsWheelEntry *nextPtr;       /* NULL: not in a wheel. */
    struct NsWheelEntry *prevPtr;
    NsStamp              due;           /* Start of its slot. */
} NsWheelEntry;

/*
 * Owned by one thread.
 */
typedef struct NsWheel {
    NsWheelEntry slots[NS_WHEEL_SLOTS]; /* Heads of circular lists. */
    uint64_t     used[NS_WHEEL_SLOTS / 64];     /* A bit per occupied slot. */
    int64_t      tick;                  /* Slots before it are empty. */
} NsWheel;

typedef void (NsWheelProc)(NsWheelEntry *entryPtr, void *arg);

void NsWheelInit(NsWheel *wheelPtr, NsStamp now);

/*
 * Put the entry where it is due, out of where it was.  Entries start as zeros.
 */
void NsWheelSet(NsWheel *wheelPtr, NsWheelEntry *entryPtr, NsStamp due);
void NsWheelCancel(NsWheel *wheelPtr, NsWheelEntry *entryPtr);

/*
 * Like NsWheelSet, but leaves an entry alone that comes up before that.
 */
static inline void
NsWheelSetBefore(NsWheel *wheelPtr, NsWheelEntry *entryPtr, NsStamp due)
{
    if (entryPtr->nextPtr == NULL || entryPtr->due > due) {
        NsWheelSet(wheelPtr, entryPtr, due);
    }
}

/*
 * When the next entry comes up; 0 if there is none.
 */
NsStamp NsWheelNext(const NsWheel *wheelPtr);

/*
 * Take out all entries that are due and hand each to proc, which may set or
 * cancel any entry.
 */
void NsWheelAdvance(NsWheel *wheelPtr, NsStamp now, NsWheelProc *proc,
                    void *arg);

#endif
