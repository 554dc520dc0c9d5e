/* SPDX-License-Identifier: MPL-2.0
 * mutex.c --
 *
 *      Mutexes that know their holder, and count how often and how long they
 *      are waited for and held.
 *
 *      Counters are written by the holder alone, so an uncontended pair of lock
 *      and unlock costs two readings of the tick counter and no atomic
 *      read-modify-write beyond the mutex itself.
 */

#include "base/mutex.h"
#include "base/lock_int.h"
#include "base/fatal.h"
#include "base/lazy.h"

typedef struct Mutex {
    NsLock          common; /* First, for NsMutexIsMine. */
    pthread_mutex_t lock;
} Mutex;

static Mutex      *GetMutex(Ns_Mutex *mutexPtr);
static Mutex      *CreateMutex(void);
static void        DestroyMutex(Mutex *mutPtr);
static void        LockBusy(Mutex *mutPtr) __attribute__((noinline));
static inline void Acquired(Mutex *mutPtr, NsTicks now);

void
Ns_MutexInit(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = CreateMutex();

    NsLockLink(&mutPtr->common);
    NsLazySet(mutexPtr, mutPtr);
}

void
Ns_MutexDestroy(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = NsLazyPeek(mutexPtr);

    if (mutPtr != NULL) {
        NsLazySet(mutexPtr, NULL);
        NsLockUnlink(&mutPtr->common);
        DestroyMutex(mutPtr);
    }
}

void
Ns_MutexLock(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    NsLockBefore(&mutPtr->common);
    if (likely(pthread_mutex_trylock(&mutPtr->lock) == 0)) {
        Acquired(mutPtr, NsTicksNow());
    } else {
        LockBusy(mutPtr);
    }
}

/*
 * Apart from Lock, which is the shorter for it.
 */
static void
LockBusy(Mutex *mutPtr)
{
    NsTicks before = NsTicksNow(), now;

    NsMust(pthread_mutex_lock(&mutPtr->lock));
    now = NsTicksNow();
    NsLockCountWait(&mutPtr->common, before, now);
    Acquired(mutPtr, now);
}

int
Ns_MutexTryLock(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);
    int    error = pthread_mutex_trylock(&mutPtr->lock);

    if (error != 0) {
        NsAssert(error == EBUSY);
        return NS_TIMEOUT;
    }
    Acquired(mutPtr, NsTicksNow());
    return NS_OK;
}

void
Ns_MutexUnlock(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    NsLockNoteReleased(&mutPtr->common);
    NsMust(pthread_mutex_unlock(&mutPtr->lock));
}

void
Ns_MutexSetName(Ns_Mutex *mutexPtr, const char *name)
{
    Ns_MutexSetName2(mutexPtr, name, NULL);
}

void
Ns_MutexSetName2(Ns_Mutex *mutexPtr, const char *prefix, const char *name)
{
    NsLockSetName(&GetMutex(mutexPtr)->common, prefix, name);
}

void
NsMutexSetup(Ns_Mutex *mutexPtr, NsLockRank rank, const char *a, const char *b)
{
    Ns_MutexSetName2(mutexPtr, a, b);
    GetMutex(mutexPtr)->common.rank = rank;
}

void
NsMutexNotHeld(const Ns_Mutex *mutexPtr, const char *file, int line)
{
    const Mutex *mutPtr = NsLazyPeek(mutexPtr);

    NsFatal("%s:%d: lock %s is not held by this thread: please report this",
            file, line, mutPtr != NULL ? mutPtr->common.name : "");
}

pthread_mutex_t *
NsMutexBeginWait(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    NsLockNoteReleased(&mutPtr->common);
    return &mutPtr->lock;
}

void
NsMutexEndWait(Ns_Mutex *mutexPtr)
{
    NsLockNoteHeld(&GetMutex(mutexPtr)->common, NsTicksNow());
}

static Mutex *
GetMutex(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = NsLazyPeek(mutexPtr);

    if (unlikely(mutPtr == NULL)) {
        Mutex *newPtr = CreateMutex();

        mutPtr = NsLazyPublish(mutexPtr, newPtr);
        if (mutPtr == newPtr) {
            NsLockLink(&newPtr->common);
        } else {
            DestroyMutex(newPtr);
        }
    }
    return mutPtr;
}

static Mutex *
CreateMutex(void)
{
    Mutex *mutPtr = ns_calloc(1, sizeof(Mutex));

    NsMust(pthread_mutex_init(&mutPtr->lock, NULL));
    NsLockInit(&mutPtr->common, "mu");
    return mutPtr;
}

static void
DestroyMutex(Mutex *mutPtr)
{
    NsAssert(mutPtr->common.holder.threadPtr == NULL);
    NsMust(pthread_mutex_destroy(&mutPtr->lock));
    ns_free(mutPtr);
}

static inline void
Acquired(Mutex *mutPtr, NsTicks now)
{
    NsLockCount(&mutPtr->common.meter.nLocks, 1);
    NsLockNoteHeld(&mutPtr->common, now);
}
