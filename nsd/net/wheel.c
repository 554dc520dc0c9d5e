/* SPDX-License-Identifier: MPL-2.0
 * wheel.c --
 *
 *      A ring of slots, and a bit map that finds the next occupied one.
 */

#include "net/wheel.h"
#include "base/assert.h"

#define TICK NS_WHEEL_SLOT

static void          Place(NsWheel *wheelPtr, NsWheelEntry *entryPtr);
static NsWheelEntry *SlotOf(NsWheel *wheelPtr, int64_t tick);
static bool          IsSound(const NsWheel *wheelPtr);
static bool          IsSlotSound(const NsWheel *wheelPtr, int slot);
static void          Unlink(NsWheel *wheelPtr, NsWheelEntry *entryPtr);

void
NsWheelInit(NsWheel *wheelPtr, NsStamp now)
{
    for (int i = 0; i < NS_WHEEL_SLOTS; i++) {
        wheelPtr->slots[i].nextPtr = &wheelPtr->slots[i];
        wheelPtr->slots[i].prevPtr = &wheelPtr->slots[i];
    }
    memset(wheelPtr->used, 0, sizeof(wheelPtr->used));
    wheelPtr->tick = now / TICK;
}

void
NsWheelSet(NsWheel *wheelPtr, NsWheelEntry *entryPtr, NsStamp due)
{
    if (entryPtr->nextPtr != NULL) {
        Unlink(wheelPtr, entryPtr);
    }
    NsAssert(due > 0);
    entryPtr->due = due;
    Place(wheelPtr, entryPtr);
}

void
NsWheelCancel(NsWheel *wheelPtr, NsWheelEntry *entryPtr)
{
    if (entryPtr->nextPtr != NULL) {
        Unlink(wheelPtr, entryPtr);
    }
}

NsStamp
NsWheelNext(const NsWheel *wheelPtr)
{
    unsigned start = (unsigned) (wheelPtr->tick % NS_WHEEL_SLOTS);

    /* One word more than there are: the first is looked at in two parts. */
    for (unsigned i = 0u; i <= NS_WHEEL_SLOTS / 64u; i++) {
        unsigned word = (start / 64u + i) % (NS_WHEEL_SLOTS / 64u);
        uint64_t bits = wheelPtr->used[word];

        if (i == 0u) {
            bits &= ~UINT64_C(0) << (start % 64u);
        }
        if (bits != 0u) {
            unsigned slot = word * 64u + (unsigned) __builtin_ctzll(bits);
            unsigned ahead = (slot - start) % NS_WHEEL_SLOTS;

            return (wheelPtr->tick + ahead) * TICK;
        }
    }
    return 0;
}

void
NsWheelAdvance(NsWheel *wheelPtr, NsStamp now, NsWheelProc *proc, void *arg)
{
    int64_t last = now / TICK;

    /* After a long sleep every slot is visited once, not every tick. */
    if (last - wheelPtr->tick >= NS_WHEEL_SLOTS) {
        wheelPtr->tick = last - NS_WHEEL_SLOTS + 1;
    }
    if (wheelPtr->tick <= last) {
        NsCheck(IsSound(wheelPtr));
    }
    while (wheelPtr->tick <= last) {
        NsWheelEntry *slotPtr = SlotOf(wheelPtr, wheelPtr->tick);

        /* An entry that proc sets now falls into a later slot. */
        wheelPtr->tick++;
        while (slotPtr->nextPtr != slotPtr) {
            NsWheelEntry *entryPtr = slotPtr->nextPtr;

            NsAssert(entryPtr->prevPtr == slotPtr
                     && entryPtr->tick < wheelPtr->tick);
            Unlink(wheelPtr, entryPtr);
            if (entryPtr->due > now) {
                Place(wheelPtr, entryPtr);
            } else {
                proc(entryPtr, arg);
            }
        }
    }
}

/*
 * The slot counts from the tick of the last Advance, which may be long ago: the
 * last slot may lie in the past.
 */
static void
Place(NsWheel *wheelPtr, NsWheelEntry *entryPtr)
{
    int64_t       tick = entryPtr->due / TICK + 1; /* Not before due. */
    NsWheelEntry *slotPtr;
    unsigned      slot;

    NsAssert(entryPtr->nextPtr == NULL);
    if (tick < wheelPtr->tick) {
        tick = wheelPtr->tick;
    } else if (tick > wheelPtr->tick + NS_WHEEL_SLOTS - 2) {
        /* Not the last slot: Advance may be emptying that one now. */
        tick = wheelPtr->tick + NS_WHEEL_SLOTS - 2;
    }
    NsAssert(tick >= wheelPtr->tick
             && tick < wheelPtr->tick + NS_WHEEL_SLOTS - 1);
    slot = (unsigned) (tick % NS_WHEEL_SLOTS);
    slotPtr = &wheelPtr->slots[slot];
    entryPtr->tick = tick;
    entryPtr->nextPtr = slotPtr;
    entryPtr->prevPtr = slotPtr->prevPtr;
    slotPtr->prevPtr->nextPtr = entryPtr;
    slotPtr->prevPtr = entryPtr;
    wheelPtr->used[slot / 64u] |= UINT64_C(1) << (slot % 64u);
}

static NsWheelEntry *
SlotOf(NsWheel *wheelPtr, int64_t tick)
{
    return &wheelPtr->slots[tick % NS_WHEEL_SLOTS];
}

static void
Unlink(NsWheel *wheelPtr, NsWheelEntry *entryPtr)
{
    NsWheelEntry *slotPtr = SlotOf(wheelPtr, entryPtr->tick);

    NsAssert(entryPtr->prevPtr->nextPtr == entryPtr
             && entryPtr->nextPtr->prevPtr == entryPtr);
    entryPtr->prevPtr->nextPtr = entryPtr->nextPtr;
    entryPtr->nextPtr->prevPtr = entryPtr->prevPtr;
    entryPtr->nextPtr = NULL;
    if (slotPtr->nextPtr == slotPtr) {
        size_t slot = (size_t) (slotPtr - wheelPtr->slots);

        wheelPtr->used[slot / 64u] &= ~(UINT64_C(1) << (slot % 64u));
    }
}

/*
 * A bit for each slot with entries and for no other; every entry in the slot of
 * its tick, linked both ways.
 */
static bool
IsSound(const NsWheel *wheelPtr)
{
    for (int slot = 0; slot < NS_WHEEL_SLOTS; slot++) {
        if (!IsSlotSound(wheelPtr, slot)) {
            return false;
        }
    }
    return true;
}

static bool
IsSlotSound(const NsWheel *wheelPtr, int slot)
{
    const NsWheelEntry *slotPtr = &wheelPtr->slots[slot];
    bool isUsed = (wheelPtr->used[slot / 64] >> (slot % 64) & 1u) != 0u;

    for (const NsWheelEntry *entryPtr = slotPtr->nextPtr; entryPtr != slotPtr;
         entryPtr = entryPtr->nextPtr) {
        if (entryPtr == NULL || entryPtr->nextPtr == NULL
            || entryPtr->nextPtr->prevPtr != entryPtr
            || entryPtr->tick % NS_WHEEL_SLOTS != slot) {
            return false;
        }
    }
    return isUsed == (slotPtr->nextPtr != slotPtr);
}
