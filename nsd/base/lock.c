/* SPDX-License-Identifier: MPL-2.0
 * lock.c --
 *
 *      The list of all locks, and the order in which threads take them.
 */

#include "base/lock_int.h"
#include "base/fatal.h"
#include "nsstring.h"

/*
 * All locks, newest first.
 */
static pthread_mutex_t listLock = PTHREAD_MUTEX_INITIALIZER;
static NsLock         *firstPtr;
static unsigned        lastId;

_Thread_local NsHeldLocks nsHeldLocks;

static void AppendLock(Ns_DString *dsPtr, const NsLock *lockPtr);
static void AppendTicks(Ns_DString *dsPtr, const _Atomic NsTicks *ticksPtr);

void
NsLockInit(NsLock *lockPtr, const char *kind)
{
    NsMust(pthread_mutex_lock(&listLock));
    lockPtr->id = ++lastId;
    snprintf(lockPtr->name, sizeof(lockPtr->name), "%s%u", kind, lockPtr->id);
    NsMust(pthread_mutex_unlock(&listLock));
}

void
NsLockLink(NsLock *lockPtr)
{
    NsMust(pthread_mutex_lock(&listLock));
    lockPtr->nextPtr = firstPtr;
    if (firstPtr != NULL) {
        firstPtr->prevPtr = lockPtr;
    }
    firstPtr = lockPtr;
    NsMust(pthread_mutex_unlock(&listLock));
}

void
NsLockUnlink(NsLock *lockPtr)
{
    NsMust(pthread_mutex_lock(&listLock));
    if (lockPtr->nextPtr != NULL) {
        lockPtr->nextPtr->prevPtr = lockPtr->prevPtr;
    }
    if (lockPtr->prevPtr != NULL) {
        lockPtr->prevPtr->nextPtr = lockPtr->nextPtr;
    } else {
        NsAssert(firstPtr == lockPtr);
        firstPtr = lockPtr->nextPtr;
    }
    NsMust(pthread_mutex_unlock(&listLock));
}

void
NsLockSetName(NsLock *lockPtr, const char *prefix, const char *name)
{
    NsMust(pthread_mutex_lock(&listLock));
    snprintf(lockPtr->name, sizeof(lockPtr->name), "%s%s%s", prefix,
             name != NULL ? ":" : "", name != NULL ? name : "");
    NsMust(pthread_mutex_unlock(&listLock));
}

void
NsLockCheckOrder(const NsLock *lockPtr)
{
    if (NsLockIsMine(lockPtr)) {
        NsLockStop(lockPtr, "taken twice by the same thread");
    }
    for (int i = 0; i < nsHeldLocks.n; i++) {
        const NsLock *heldPtr = nsHeldLocks.locks[i];

        if (heldPtr == lockPtr) {
            NsLockStop(lockPtr, "taken twice by the same thread");
        }
        if (unlikely(heldPtr->rank >= lockPtr->rank)) {
            NsFatal("lock %s (rank %d): taken while holding %s (rank %d):"
                    " please report this",
                    lockPtr->name, (int) lockPtr->rank, heldPtr->name,
                    (int) heldPtr->rank);
        }
    }
}

void
NsLockForget(const NsLock *lockPtr)
{
    int i = nsHeldLocks.n - 1;

    while (i >= 0 && nsHeldLocks.locks[i] != lockPtr) {
        i--;
    }
    if (i < 0) {
        NsLockStop(lockPtr, "released by a thread that does not hold it");
    }
    memmove(&nsHeldLocks.locks[i], &nsHeldLocks.locks[i + 1],
            (size_t) (nsHeldLocks.n - i - 1) * sizeof(nsHeldLocks.locks[0]));
    nsHeldLocks.n--;
}

void
NsLockCountWait(NsLock *lockPtr, NsTicks before, NsTicks now)
{
    NsLockMeter *meterPtr = &lockPtr->meter;
    NsTicks      wait = NsTicksSpan(before, now);

    NsLockCount(&meterPtr->nBusy, 1);
    NsLockCount(&meterPtr->waited, wait);
    if (wait
        > atomic_load_explicit(&meterPtr->longestWait, memory_order_relaxed)) {
        atomic_store_explicit(&meterPtr->longestWait, wait,
                              memory_order_relaxed);
    }
}

void
NsLockStop(const NsLock *lockPtr, const char *what)
{
    NsFatal("lock %s: %s: please report this", lockPtr->name, what);
}

void
NsLocksAssertNone(const char *file, int line)
{
    if (unlikely(nsHeldLocks.n > 0)) {
        NsFatal("%s:%d: lock %s is held here: please report this", file, line,
                nsHeldLocks.locks[0]->name);
    }
}

void
Ns_MutexList(Ns_DString *dsPtr)
{
    NsMust(pthread_mutex_lock(&listLock));
    for (const NsLock *lockPtr = firstPtr; lockPtr != NULL;
         lockPtr = lockPtr->nextPtr) {
        AppendLock(dsPtr, lockPtr);
    }
    NsMust(pthread_mutex_unlock(&listLock));
}

static void
AppendLock(Ns_DString *dsPtr, const NsLock *lockPtr)
{
    const NsLockMeter *meterPtr = &lockPtr->meter;

    Tcl_DStringStartSublist(dsPtr);
    Tcl_DStringAppendElement(dsPtr, lockPtr->name);
    Tcl_DStringAppendElement(dsPtr, "");
    Ns_DStringPrintf(dsPtr, " %u %" PRIu64 " %" PRIu64, lockPtr->id,
                     atomic_load_explicit(&meterPtr->nLocks,
                                          memory_order_relaxed),
                     atomic_load_explicit(&meterPtr->nBusy,
                                          memory_order_relaxed));
    AppendTicks(dsPtr, &meterPtr->waited);
    AppendTicks(dsPtr, &meterPtr->longestWait);
    AppendTicks(dsPtr, &meterPtr->held);
    Tcl_DStringEndSublist(dsPtr);
}

static void
AppendTicks(Ns_DString *dsPtr, const _Atomic NsTicks *ticksPtr)
{
    NsTicks ticks = atomic_load_explicit(ticksPtr, memory_order_relaxed);
    Ns_Time span = NsClockSpan(0, NsTicksToStamp(ticks));

    Ns_DStringPrintf(dsPtr, " %ld.%06ld", span.sec, span.usec);
}
