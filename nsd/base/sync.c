/* SPDX-License-Identifier: MPL-2.0
 * sync.c --
 *
 *      Critical sections, semaphores, the master lock.
 */

#include "base/assert.h"
#include "base/interrupt.h"
#include "base/lazy.h"
#include "base/lock.h"

/*
 * A mutex that its holder may enter again.
 */
typedef struct Cs {
    Ns_Mutex mutex;
    int      depth; /* The holder's. */
} Cs;

/*
 * A semaphore may be destroyed by the thread that it let through, so a poster
 * must not touch it after unlocking.
 */
typedef struct Sema {
    pthread_mutex_t lock; /* Guards the rest. */
    pthread_cond_t  isPositive;
    int             count;
} Sema;

static Cs   *GetCs(Ns_Cs *csPtr);
static Cs   *CreateCs(void);
static void  DestroyCs(Cs *secPtr);
static Sema *GetSema(Ns_Sema *semaPtr);
static Sema *CreateSema(int count);
static void  DestroySema(Sema *semPtr);

static Ns_Cs master;

void
Ns_CsInit(Ns_Cs *csPtr)
{
    NsLazySet(csPtr, CreateCs());
}

void
Ns_CsDestroy(Ns_Cs *csPtr)
{
    Cs *secPtr = NsLazyPeek(csPtr);

    if (secPtr != NULL) {
        NsLazySet(csPtr, NULL);
        DestroyCs(secPtr);
    }
}

void
Ns_CsEnter(Ns_Cs *csPtr)
{
    Cs *secPtr = GetCs(csPtr);

    if (!NsMutexIsMine(&secPtr->mutex)) {
        Ns_MutexLock(&secPtr->mutex);
        NsAssert(secPtr->depth == 0);
    }
    secPtr->depth++;
}

Ns_ReturnCode
NsCsTry(Ns_Cs *csPtr)
{
    Cs *secPtr = GetCs(csPtr);

    if (!NsMutexIsMine(&secPtr->mutex)) {
        if (Ns_MutexTryLock(&secPtr->mutex) != NS_OK) {
            return NS_TIMEOUT;
        }
        NsAssert(secPtr->depth == 0);
    }
    secPtr->depth++;
    return NS_OK;
}

void
Ns_CsLeave(Ns_Cs *csPtr)
{
    Cs *secPtr = GetCs(csPtr);

    NsAssertLocked(&secPtr->mutex);
    NsAssert(secPtr->depth > 0);
    if (--secPtr->depth == 0) {
        Ns_MutexUnlock(&secPtr->mutex);
    }
}

void
NsCsSetup(Ns_Cs *csPtr, NsLockRank rank, const char *a, const char *b)
{
    NsMutexSetup(&GetCs(csPtr)->mutex, rank, a, b);
}

void
Ns_SemaInit(Ns_Sema *semaPtr, int count)
{
    NsLazySet(semaPtr, CreateSema(count));
}

void
Ns_SemaDestroy(Ns_Sema *semaPtr)
{
    Sema *semPtr = NsLazyPeek(semaPtr);

    if (semPtr != NULL) {
        NsLazySet(semaPtr, NULL);
        DestroySema(semPtr);
    }
}

void
Ns_SemaWait(Ns_Sema *semaPtr)
{
    Sema *semPtr = GetSema(semaPtr);

    NsAssertNoneLocked();
    NsMust(pthread_mutex_lock(&semPtr->lock));
    while (semPtr->count <= 0) {
        NsMust(pthread_cond_wait(&semPtr->isPositive, &semPtr->lock));
    }
    semPtr->count--;
    NsMust(pthread_mutex_unlock(&semPtr->lock));
}

/*
 * One that is there is taken, ended or not.
 */
Ns_ReturnCode
NsSemaWaitEndable(Ns_Sema *semaPtr)
{
    Sema *semPtr = GetSema(semaPtr);
    bool  hasOne, isEnded = false;

    NsAssertNoneLocked();
    NsMust(pthread_mutex_lock(&semPtr->lock));
    while (semPtr->count <= 0 && !isEnded) {
        if (NsInterruptBeginWait(&semPtr->isPositive)) {
            NsMust(pthread_cond_wait(&semPtr->isPositive, &semPtr->lock));
            isEnded = !NsInterruptEndWait();
        } else {
            isEnded = NsInterruptIsSet();
        }
        if (unlikely(NsInterruptIsCalled())) {
            NsMust(pthread_mutex_unlock(&semPtr->lock));
            NsInterruptRunCall();
            NsMust(pthread_mutex_lock(&semPtr->lock));
        }
    }
    hasOne = semPtr->count > 0;
    semPtr->count -= hasOne;
    NsMust(pthread_mutex_unlock(&semPtr->lock));
    return hasOne ? NS_OK : NS_TIMEOUT;
}

void
Ns_SemaPost(Ns_Sema *semaPtr, int count)
{
    Sema *semPtr = GetSema(semaPtr);

    NsMust(pthread_mutex_lock(&semPtr->lock));
    semPtr->count += count;
    if (count == 1) {
        NsMust(pthread_cond_signal(&semPtr->isPositive));
    } else {
        NsMust(pthread_cond_broadcast(&semPtr->isPositive));
    }
    NsMust(pthread_mutex_unlock(&semPtr->lock));
}

void
Ns_MasterLock(void)
{
    Ns_CsEnter(&master);
}

void
Ns_MasterUnlock(void)
{
    Ns_CsLeave(&master);
}

static Cs *
GetCs(Ns_Cs *csPtr)
{
    Cs *secPtr = NsLazyPeek(csPtr);

    if (unlikely(secPtr == NULL)) {
        Cs *newPtr = CreateCs();

        secPtr = NsLazyPublish(csPtr, newPtr);
        if (secPtr != newPtr) {
            DestroyCs(newPtr);
        }
    }
    return secPtr;
}

static Cs *
CreateCs(void)
{
    return ns_calloc(1, sizeof(Cs));
}

static void
DestroyCs(Cs *secPtr)
{
    NsAssert(secPtr->depth == 0);
    Ns_MutexDestroy(&secPtr->mutex);
    ns_free(secPtr);
}

static Sema *
GetSema(Ns_Sema *semaPtr)
{
    Sema *semPtr = NsLazyPeek(semaPtr);

    if (unlikely(semPtr == NULL)) {
        Sema *newPtr = CreateSema(0);

        semPtr = NsLazyPublish(semaPtr, newPtr);
        if (semPtr != newPtr) {
            DestroySema(newPtr);
        }
    }
    return semPtr;
}

static Sema *
CreateSema(int count)
{
    Sema *semPtr = ns_malloc(sizeof(*semPtr));

    NsMust(pthread_mutex_init(&semPtr->lock, NULL));
    NsMust(pthread_cond_init(&semPtr->isPositive, NULL));
    semPtr->count = count;
    return semPtr;
}

static void
DestroySema(Sema *semPtr)
{
    NsMust(pthread_cond_destroy(&semPtr->isPositive));
    NsMust(pthread_mutex_destroy(&semPtr->lock));
    ns_free(semPtr);
}
