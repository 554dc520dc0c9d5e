/*
 * sync.c --
 *
 *      Read/write locks, critical sections, semaphores, the master lock.
 *
 *      None of them has a rank or is metered.
 */

#include "nsthread.h"
#include "base/lazy.h"

#include <pthread.h>

/*
 * A semaphore may be destroyed by the thread that it let through, so a poster
 * must not touch it after unlocking.
 */
typedef struct Sema {
    pthread_mutex_t lock;       /* Guards the rest. */
    pthread_cond_t  isPositive;
    int             count;
} Sema;

static pthread_rwlock_t *GetRWLock(Ns_RWLock *rwPtr);
static pthread_rwlock_t *CreateRWLock(void);
static void              DestroyRWLock(pthread_rwlock_t *lockPtr);
static pthread_mutex_t  *GetCs(Ns_Cs *csPtr);
static pthread_mutex_t  *CreateCs(void);
static void              DestroyCs(pthread_mutex_t *lockPtr);
static Sema             *GetSema(Ns_Sema *semaPtr);
static Sema             *CreateSema(int count);
static void              DestroySema(Sema *semPtr);

static Ns_Cs master;

void
Ns_RWLockInit(Ns_RWLock *rwPtr)
{
    NsLazySet(rwPtr, CreateRWLock());
}

void
Ns_RWLockDestroy(Ns_RWLock *rwPtr)
{
    pthread_rwlock_t *lockPtr = NsLazyPeek(rwPtr);

    if (lockPtr != NULL) {
        NsLazySet(rwPtr, NULL);
        DestroyRWLock(lockPtr);
    }
}

void
Ns_RWLockRdLock(Ns_RWLock *rwPtr)
{
    pthread_rwlock_rdlock(GetRWLock(rwPtr));
}

void
Ns_RWLockWrLock(Ns_RWLock *rwPtr)
{
    pthread_rwlock_wrlock(GetRWLock(rwPtr));
}

void
Ns_RWLockUnlock(Ns_RWLock *rwPtr)
{
    pthread_rwlock_unlock(GetRWLock(rwPtr));
}

void
Ns_CsInit(Ns_Cs *csPtr)
{
    NsLazySet(csPtr, CreateCs());
}

void
Ns_CsDestroy(Ns_Cs *csPtr)
{
    pthread_mutex_t *lockPtr = NsLazyPeek(csPtr);

    if (lockPtr != NULL) {
        NsLazySet(csPtr, NULL);
        DestroyCs(lockPtr);
    }
}

void
Ns_CsEnter(Ns_Cs *csPtr)
{
    pthread_mutex_lock(GetCs(csPtr));
}

void
Ns_CsLeave(Ns_Cs *csPtr)
{
    pthread_mutex_unlock(GetCs(csPtr));
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

    pthread_mutex_lock(&semPtr->lock);
    while (semPtr->count <= 0) {
        pthread_cond_wait(&semPtr->isPositive, &semPtr->lock);
    }
    semPtr->count--;
    pthread_mutex_unlock(&semPtr->lock);
}

void
Ns_SemaPost(Ns_Sema *semaPtr, int count)
{
    Sema *semPtr = GetSema(semaPtr);

    pthread_mutex_lock(&semPtr->lock);
    semPtr->count += count;
    if (count == 1) {
        pthread_cond_signal(&semPtr->isPositive);
    } else {
        pthread_cond_broadcast(&semPtr->isPositive);
    }
    pthread_mutex_unlock(&semPtr->lock);
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

static pthread_rwlock_t *
GetRWLock(Ns_RWLock *rwPtr)
{
    pthread_rwlock_t *lockPtr = NsLazyPeek(rwPtr);

    if (unlikely(lockPtr == NULL)) {
        pthread_rwlock_t *newPtr = CreateRWLock();

        lockPtr = NsLazyPublish(rwPtr, newPtr);
        if (lockPtr != newPtr) {
            DestroyRWLock(newPtr);
        }
    }
    return lockPtr;
}

/*
 * Writers first: with the C library's default, a stream of readers starves
 * them.
 */
static pthread_rwlock_t *
CreateRWLock(void)
{
    pthread_rwlock_t    *lockPtr = ns_malloc(sizeof(*lockPtr));
    pthread_rwlockattr_t attr;

    pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attr,
        PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(lockPtr, &attr);
    pthread_rwlockattr_destroy(&attr);
    return lockPtr;
}

static void
DestroyRWLock(pthread_rwlock_t *lockPtr)
{
    pthread_rwlock_destroy(lockPtr);
    ns_free(lockPtr);
}

static pthread_mutex_t *
GetCs(Ns_Cs *csPtr)
{
    pthread_mutex_t *lockPtr = NsLazyPeek(csPtr);

    if (unlikely(lockPtr == NULL)) {
        pthread_mutex_t *newPtr = CreateCs();

        lockPtr = NsLazyPublish(csPtr, newPtr);
        if (lockPtr != newPtr) {
            DestroyCs(newPtr);
        }
    }
    return lockPtr;
}

static pthread_mutex_t *
CreateCs(void)
{
    pthread_mutex_t    *lockPtr = ns_malloc(sizeof(*lockPtr));
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lockPtr, &attr);
    pthread_mutexattr_destroy(&attr);
    return lockPtr;
}

static void
DestroyCs(pthread_mutex_t *lockPtr)
{
    pthread_mutex_destroy(lockPtr);
    ns_free(lockPtr);
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

    pthread_mutex_init(&semPtr->lock, NULL);
    pthread_cond_init(&semPtr->isPositive, NULL);
    semPtr->count = count;
    return semPtr;
}

static void
DestroySema(Sema *semPtr)
{
    pthread_cond_destroy(&semPtr->isPositive);
    pthread_mutex_destroy(&semPtr->lock);
    ns_free(semPtr);
}
