/* SPDX-License-Identifier: MPL-2.0
 * cond.c --
 *
 *      Condition variables.
 *
 *      They wait by the monotonic clock: a deadline given as wall clock time is
 *      converted when the wait begins, so setting the clock meanwhile neither
 *      cuts waits short nor prolongs them.
 */

#include "base/assert.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/lazy.h"
#include "base/mutex.h"

#include <pthread.h>

static int             EndWait(Ns_Mutex *mutexPtr, bool isEnded, int status);
static pthread_cond_t *GetCond(Ns_Cond *condPtr);
static pthread_cond_t *CreateCond(void);
static void            DestroyCond(pthread_cond_t *cPtr);
static NsStamp         DeadlineFromTime(const Ns_Time *timePtr);

void
Ns_CondInit(Ns_Cond *condPtr)
{
    NsLazySet(condPtr, CreateCond());
}

void
Ns_CondDestroy(Ns_Cond *condPtr)
{
    pthread_cond_t *cPtr = NsLazyPeek(condPtr);

    if (cPtr != NULL) {
        NsLazySet(condPtr, NULL);
        DestroyCond(cPtr);
    }
}

void
Ns_CondSignal(Ns_Cond *condPtr)
{
    NsMust(pthread_cond_signal(GetCond(condPtr)));
}

void
Ns_CondBroadcast(Ns_Cond *condPtr)
{
    NsMust(pthread_cond_broadcast(GetCond(condPtr)));
}

void
Ns_CondWait(Ns_Cond *condPtr, Ns_Mutex *mutexPtr)
{
    pthread_cond_t *cPtr = GetCond(condPtr);

    NsMust(pthread_cond_wait(cPtr, NsMutexBeginWait(mutexPtr)));
    NsMutexEndWait(mutexPtr);
}

int
Ns_CondTimedWait(Ns_Cond *condPtr, Ns_Mutex *mutexPtr, Ns_Time *timePtr)
{
    if (timePtr == NULL) {
        Ns_CondWait(condPtr, mutexPtr);
        return NS_OK;
    }
    return NsCondWaitUntil(condPtr, mutexPtr, DeadlineFromTime(timePtr));
}

int
NsCondWaitUntil(Ns_Cond *condPtr, Ns_Mutex *mutexPtr, NsStamp deadline)
{
    pthread_cond_t *cPtr = GetCond(condPtr);
    struct timespec until = {
        .tv_sec = deadline > 0 ? deadline / NS_STAMP_SECOND : 0,
        .tv_nsec = deadline > 0 ? deadline % NS_STAMP_SECOND : 0};
    int status;

    status = pthread_cond_timedwait(cPtr, NsMutexBeginWait(mutexPtr), &until);
    NsAssert(status == 0 || status == ETIMEDOUT);
    NsMutexEndWait(mutexPtr);
    return status == ETIMEDOUT ? NS_TIMEOUT : NS_OK;
}

int
NsCondWaitEndable(Ns_Cond *condPtr, Ns_Mutex *mutexPtr, Ns_Time *timePtr)
{
    int status = NS_OK;

    if (NsInterruptBeginWait(GetCond(condPtr))) {
        status = Ns_CondTimedWait(condPtr, mutexPtr, timePtr);
        return EndWait(mutexPtr, !NsInterruptEndWait(), status);
    }
    return EndWait(mutexPtr, NsInterruptIsSet(), status);
}

int
NsCondWaitUntilEndable(Ns_Cond *condPtr, Ns_Mutex *mutexPtr, NsStamp deadline)
{
    int status = NS_OK;

    if (NsInterruptBeginWait(GetCond(condPtr))) {
        status = NsCondWaitUntil(condPtr, mutexPtr, deadline);
        return EndWait(mutexPtr, !NsInterruptEndWait(), status);
    }
    return EndWait(mutexPtr, NsInterruptIsSet(), status);
}

/*
 * The end of an endable wait, or what comes in its place: what it returns.
 */
static int
EndWait(Ns_Mutex *mutexPtr, bool isEnded, int status)
{
    NsAssertLocked(mutexPtr);
    if (unlikely(NsInterruptIsCalled())) {
        Ns_MutexUnlock(mutexPtr);
        NsInterruptRunCall();
        Ns_MutexLock(mutexPtr);
    }
    return isEnded ? NS_TIMEOUT : status;
}

static pthread_cond_t *
GetCond(Ns_Cond *condPtr)
{
    pthread_cond_t *cPtr = NsLazyPeek(condPtr);

    if (unlikely(cPtr == NULL)) {
        pthread_cond_t *newPtr = CreateCond();

        cPtr = NsLazyPublish(condPtr, newPtr);
        if (cPtr != newPtr) {
            DestroyCond(newPtr);
        }
    }
    return cPtr;
}

static pthread_cond_t *
CreateCond(void)
{
    pthread_cond_t    *cPtr = ns_malloc(sizeof(*cPtr));
    pthread_condattr_t attr;

    NsMust(pthread_condattr_init(&attr));
    NsMust(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
    NsMust(pthread_cond_init(cPtr, &attr));
    NsMust(pthread_condattr_destroy(&attr));
    return cPtr;
}

static void
DestroyCond(pthread_cond_t *cPtr)
{
    NsMust(pthread_cond_destroy(cPtr));
    ns_free(cPtr);
}

static NsStamp
DeadlineFromTime(const Ns_Time *timePtr)
{
    Ns_Time now, remaining;
    NsStamp deadline;

    Ns_GetTime(&now);
    remaining = *timePtr;
    if (__builtin_sub_overflow(remaining.sec, now.sec, &remaining.sec)) {
        remaining.sec = LONG_MIN; /* Only a hugely negative time. */
    }
    remaining.usec -= now.usec;
    Ns_AdjTime(&remaining);

    if (__builtin_add_overflow(NsClockNow(), NsClockFromTime(&remaining),
                               &deadline)) {
        deadline = remaining.sec < 0 ? 0 : INT64_MAX;
    }
    return deadline;
}
