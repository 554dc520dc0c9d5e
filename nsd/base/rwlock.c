/* SPDX-License-Identifier: MPL-2.0
 * rwlock.c --
 *
 *      Read/write locks.
 *
 *      The time held is that of writers; readers are counted, and what they
 *      waited.
 */

#include "base/lock_int.h"
#include "base/fatal.h"
#include "base/lazy.h"

#include <errno.h>

typedef struct RWLock {
    NsLock           common;
    pthread_rwlock_t lock;
    atomic_int       nReaders; /* A reader counts up, then down. */
} RWLock;

static RWLock *GetRWLock(Ns_RWLock *rwPtr);
static RWLock *CreateRWLock(void);
static void    DestroyRWLock(RWLock *rwlPtr);
static void    NoteReader(RWLock *rwlPtr);
static void    NoteWriter(RWLock *rwlPtr, NsTicks now);
static NsTicks CountShared(RWLock *rwlPtr, NsTicks before);

void
Ns_RWLockInit(Ns_RWLock *rwPtr)
{
    RWLock *rwlPtr = CreateRWLock();

    NsLockLink(&rwlPtr->common);
    NsLazySet(rwPtr, rwlPtr);
}

void
Ns_RWLockDestroy(Ns_RWLock *rwPtr)
{
    RWLock *rwlPtr = NsLazyPeek(rwPtr);

    if (rwlPtr != NULL) {
        NsLazySet(rwPtr, NULL);
        NsLockUnlink(&rwlPtr->common);
        DestroyRWLock(rwlPtr);
    }
}

void
Ns_RWLockRdLock(Ns_RWLock *rwPtr)
{
    RWLock *rwlPtr = GetRWLock(rwPtr);

    NsLockBefore(&rwlPtr->common);
    if (unlikely(pthread_rwlock_tryrdlock(&rwlPtr->lock) != 0)) {
        NsTicks before = NsTicksNow();

        NsMust(pthread_rwlock_rdlock(&rwlPtr->lock));
        CountShared(rwlPtr, before);
    }
    NoteReader(rwlPtr);
}

void
Ns_RWLockWrLock(Ns_RWLock *rwPtr)
{
    RWLock *rwlPtr = GetRWLock(rwPtr);
    NsTicks now;

    NsLockBefore(&rwlPtr->common);
    if (likely(pthread_rwlock_trywrlock(&rwlPtr->lock) == 0)) {
        now = NsTicksNow();
    } else {
        NsTicks before = NsTicksNow();

        NsMust(pthread_rwlock_wrlock(&rwlPtr->lock));
        now = CountShared(rwlPtr, before);
    }
    NoteWriter(rwlPtr, now);
}

Ns_ReturnCode
NsRWLockTry(Ns_RWLock *rwPtr, bool isWrite)
{
    RWLock *rwlPtr = GetRWLock(rwPtr);
    int     error = isWrite ? pthread_rwlock_trywrlock(&rwlPtr->lock)
                            : pthread_rwlock_tryrdlock(&rwlPtr->lock);

    if (error != 0) {
        NsAssert(error == EBUSY || error == EAGAIN);
        return NS_TIMEOUT;
    }
    if (isWrite) {
        NoteWriter(rwlPtr, NsTicksNow());
    } else {
        NoteReader(rwlPtr);
    }
    return NS_OK;
}

static void
NoteReader(RWLock *rwlPtr)
{
    atomic_fetch_add_explicit(&rwlPtr->common.meter.nLocks, 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&rwlPtr->nReaders, 1, memory_order_relaxed);
    NsLockPush(&rwlPtr->common);
}

static void
NoteWriter(RWLock *rwlPtr, NsTicks now)
{
    NsAssert(atomic_load_explicit(&rwlPtr->nReaders, memory_order_relaxed)
             == 0);
    atomic_fetch_add_explicit(&rwlPtr->common.meter.nLocks, 1,
                              memory_order_relaxed);
    NsLockNoteHeld(&rwlPtr->common, now);
}

/*
 * Which of the two it was is known by the holder, which only a writer sets.
 */
void
Ns_RWLockUnlock(Ns_RWLock *rwPtr)
{
    RWLock *rwlPtr = GetRWLock(rwPtr);

    if (NsLockIsMine(&rwlPtr->common)) {
        NsLockNoteReleased(&rwlPtr->common);
    } else {
        NsLockPop(&rwlPtr->common);
        if (unlikely(atomic_fetch_sub_explicit(&rwlPtr->nReaders, 1,
                                               memory_order_relaxed)
                     <= 0)) {
            NsLockStop(&rwlPtr->common,
                       "released by a thread that does not hold it");
        }
    }
    NsMust(pthread_rwlock_unlock(&rwlPtr->lock));
}

void
NsRWLockSetup(Ns_RWLock *rwPtr, NsLockRank rank, const char *a, const char *b)
{
    RWLock *rwlPtr = GetRWLock(rwPtr);

    NsLockSetName(&rwlPtr->common, a, b);
    rwlPtr->common.rank = rank;
}

void
NsRWLockAssertWriter(Ns_RWLock *rwPtr, const char *file, int line)
{
    const RWLock *rwlPtr = GetRWLock(rwPtr);

    if (unlikely(!NsLockIsMine(&rwlPtr->common))) {
        NsFatal("%s:%d: lock %s is not held for writing by this thread:"
                " please report this",
                file, line, rwlPtr->common.name);
    }
}

static RWLock *
GetRWLock(Ns_RWLock *rwPtr)
{
    RWLock *rwlPtr = NsLazyPeek(rwPtr);

    if (unlikely(rwlPtr == NULL)) {
        RWLock *newPtr = CreateRWLock();

        rwlPtr = NsLazyPublish(rwPtr, newPtr);
        if (rwlPtr == newPtr) {
            NsLockLink(&newPtr->common);
        } else {
            DestroyRWLock(newPtr);
        }
    }
    return rwlPtr;
}

/*
 * Writers first: with the C library's default, a stream of readers starves
 * them.
 */
static RWLock *
CreateRWLock(void)
{
    RWLock              *rwlPtr = ns_calloc(1, sizeof(*rwlPtr));
    pthread_rwlockattr_t attr;

    NsMust(pthread_rwlockattr_init(&attr));
#ifdef __GLIBC__
    NsMust(pthread_rwlockattr_setkind_np(
        &attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
#endif
    NsMust(pthread_rwlock_init(&rwlPtr->lock, &attr));
    NsMust(pthread_rwlockattr_destroy(&attr));
    NsLockInit(&rwlPtr->common, "rw");
    return rwlPtr;
}

static void
DestroyRWLock(RWLock *rwlPtr)
{
    NsAssert(rwlPtr->nReaders == 0 && rwlPtr->common.holder.threadPtr == NULL);
    NsMust(pthread_rwlock_destroy(&rwlPtr->lock));
    ns_free(rwlPtr);
}

/*
 * Readers wait at the same time, so these counts need whole operations.  The
 * longest wait may miss one of two that end together.
 */
static NsTicks
CountShared(RWLock *rwlPtr, NsTicks before)
{
    NsLockMeter *meterPtr = &rwlPtr->common.meter;
    NsTicks      now = NsTicksNow(), wait = NsTicksSpan(before, now);

    atomic_fetch_add_explicit(&meterPtr->nBusy, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&meterPtr->waited, wait, memory_order_relaxed);
    if (wait
        > atomic_load_explicit(&meterPtr->longestWait, memory_order_relaxed)) {
        atomic_store_explicit(&meterPtr->longestWait, wait,
                              memory_order_relaxed);
    }
    return now;
}
