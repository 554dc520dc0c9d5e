/* SPDX-License-Identifier: MPL-2.0
 * lock_int.h --
 *
 *      What mutexes and read/write locks have in common: name, rank, holder,
 *      and meter; and the ranked locks that a thread holds.
 */

#ifndef NSD_BASE_LOCK_INT_H
#define NSD_BASE_LOCK_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/ticks.h"

#define NS_LOCK_NAMESIZE 64

/*
 * Written by whoever holds the lock alone, read at any time by whoever lists
 * the locks.  The lock orders the writers; a reader wants each number whole,
 * not all of them from the same moment: relaxed order is enough.
 */
typedef struct NsLockMeter {
    _Atomic uint64_t nLocks;
    _Atomic uint64_t nBusy;
    _Atomic NsTicks  waited;
    _Atomic NsTicks  longestWait;
    _Atomic NsTicks  held;
} NsLockMeter;

typedef struct NsLock {
    NsLockHolder holder;    /* First, for NsMutexIsMine. */
    NsLockRank   rank;      /* Constant after setup. */
    unsigned     id;        /* Constant after creation. */
    NsTicks      heldSince; /* The holder's. */
    NsLockMeter  meter;

    char name[NS_LOCK_NAMESIZE + 1]; /* Guarded by the list's
                                      * lock. */
    struct NsLock *nextPtr;
    struct NsLock *prevPtr;
} NsLock;

#define NS_MAX_HELD 32

/*
 * The ranked locks that this thread holds, in the order it took them.
 */
typedef struct NsHeldLocks {
    int           n;
    const NsLock *locks[NS_MAX_HELD];
} NsHeldLocks;

extern _Thread_local NsHeldLocks nsHeldLocks
    __attribute__((visibility("hidden")));

/*
 * A new lock gets its id and is called by kind and id.  It is in the list from
 * Link to Unlink.
 */
void NsLockInit(NsLock *lockPtr, const char *kind);
void NsLockLink(NsLock *lockPtr);
void NsLockUnlink(NsLock *lockPtr);
void NsLockSetName(NsLock *lockPtr, const char *prefix, const char *name);

/*
 * Stop at a reversed order, and at a lock that the thread has.
 */
void NsLockCheckOrder(const NsLock *lockPtr);

/*
 * Take out a lock that is not the one taken last.
 */
void NsLockForget(const NsLock *lockPtr);

/*
 * The lock was busy from `before` to `now`.
 */
void NsLockCountWait(NsLock *lockPtr, NsTicks before, NsTicks now);

void NsLockStop(const NsLock *lockPtr, const char *what) NS_GNUC_NORETURN
    __attribute__((cold));

static inline bool
NsLockIsMine(const NsLock *lockPtr)
{
    return NsLockHolderIsMe(&lockPtr->holder);
}

/*
 * Only of what has one writer at a time.
 */
static inline void
NsLockCount(_Atomic uint64_t *counterPtr, uint64_t n)
{
    atomic_store_explicit(counterPtr,
                          atomic_load_explicit(counterPtr, memory_order_relaxed)
                              + n,
                          memory_order_relaxed);
}

/*
 * Before a lock is waited for.
 */
static inline void
NsLockBefore(const NsLock *lockPtr)
{
    if (unlikely(NsLockIsMine(lockPtr))
        || (nsHeldLocks.n > 0 && lockPtr->rank != NS_RANK_NONE)) {
        NsLockCheckOrder(lockPtr);
    }
}

/*
 * The calling thread has taken a ranked lock; it has released it.
 */
static inline void
NsLockPush(const NsLock *lockPtr)
{
    if (lockPtr->rank != NS_RANK_NONE) {
        if (unlikely(nsHeldLocks.n == NS_MAX_HELD)) {
            NsLockStop(lockPtr, "taken with too many others held");
        }
        nsHeldLocks.locks[nsHeldLocks.n++] = lockPtr;
    }
}

static inline void
NsLockPop(const NsLock *lockPtr)
{
    int n = nsHeldLocks.n;

    if (n > 0 && likely(nsHeldLocks.locks[n - 1] == lockPtr)) {
        nsHeldLocks.n = n - 1;
    } else if (lockPtr->rank != NS_RANK_NONE) {
        NsLockForget(lockPtr);
    }
}

/*
 * The calling thread holds the lock alone; and is about to let it go.
 */
static inline void
NsLockNoteHeld(NsLock *lockPtr, NsTicks now)
{
    atomic_store_explicit(&lockPtr->holder.threadPtr,
                          __builtin_thread_pointer(), memory_order_relaxed);
    lockPtr->heldSince = now;
    NsLockPush(lockPtr);
}

static inline void
NsLockNoteReleased(NsLock *lockPtr)
{
    if (unlikely(!NsLockIsMine(lockPtr))) {
        NsLockStop(lockPtr, "released by a thread that does not hold it");
    }
    atomic_store_explicit(&lockPtr->holder.threadPtr, NULL,
                          memory_order_relaxed);
    NsLockCount(&lockPtr->meter.held,
                NsTicksSpan(lockPtr->heldSince, NsTicksNow()));
    NsLockPop(lockPtr);
}

#endif
