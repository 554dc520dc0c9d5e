/* SPDX-License-Identifier: MPL-2.0
 * interrupt.c --
 *
 *      Waits that another thread can end.
 */

#include "base/interrupt.h"

#include "base/assert.h"

#include <errno.h>

#define SLICE_MS 250

static _Thread_local NsInterrupt *ownPtr;

static void            Raise(NsInterrupt *interruptPtr, bool *flagPtr);
static struct timespec TimeOf(NsStamp stamp);

void
NsInterruptInit(NsInterrupt *interruptPtr, void (*callProc)(void *arg),
                void        *arg)
{
    pthread_condattr_t attr;

    *interruptPtr = (NsInterrupt){.callProc = callProc, .arg = arg};
    NsMust(pthread_mutex_init(&interruptPtr->lock, NULL));
    NsMust(pthread_condattr_init(&attr));
    NsMust(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
    NsMust(pthread_cond_init(&interruptPtr->wakeup, &attr));
    NsMust(pthread_condattr_destroy(&attr));
}

void
NsInterruptFree(NsInterrupt *interruptPtr)
{
    NsAssert(interruptPtr->condPtr == NULL);
    NsMust(pthread_cond_destroy(&interruptPtr->wakeup));
    NsMust(pthread_mutex_destroy(&interruptPtr->lock));
}

void
NsInterruptOwn(NsInterrupt *interruptPtr)
{
    ownPtr = interruptPtr;
}

void
NsInterruptSet(NsInterrupt *interruptPtr)
{
    Raise(interruptPtr, &interruptPtr->isSet);
}

void
NsInterruptCall(NsInterrupt *interruptPtr)
{
    Raise(interruptPtr, &interruptPtr->isCalled);
}

/*
 * The condition stays while the lock is held: the waiter takes that before it
 * goes on.
 */
static void
Raise(NsInterrupt *interruptPtr, bool *flagPtr)
{
    NsMust(pthread_mutex_lock(&interruptPtr->lock));
    *flagPtr = true;
    if (interruptPtr->condPtr != NULL) {
        NsMust(pthread_cond_broadcast(interruptPtr->condPtr));
    }
    NsMust(pthread_cond_broadcast(&interruptPtr->wakeup));
    NsMust(pthread_mutex_unlock(&interruptPtr->lock));
}

void
NsInterruptClear(NsInterrupt *interruptPtr)
{
    NsMust(pthread_mutex_lock(&interruptPtr->lock));
    interruptPtr->isSet = false;
    NsMust(pthread_mutex_unlock(&interruptPtr->lock));
}

bool
NsInterruptBeginWait(pthread_cond_t *condPtr)
{
    bool mayWait;

    if (ownPtr == NULL) {
        return true;
    }
    NsMust(pthread_mutex_lock(&ownPtr->lock));
    NsAssert(ownPtr->condPtr == NULL);
    mayWait = !ownPtr->isSet && !ownPtr->isCalled;
    if (mayWait) {
        ownPtr->condPtr = condPtr;
    }
    NsMust(pthread_mutex_unlock(&ownPtr->lock));
    return mayWait;
}

bool
NsInterruptEndWait(void)
{
    bool isSet;

    if (ownPtr == NULL) {
        return true;
    }
    NsMust(pthread_mutex_lock(&ownPtr->lock));
    ownPtr->condPtr = NULL;
    isSet = ownPtr->isSet;
    NsMust(pthread_mutex_unlock(&ownPtr->lock));
    return !isSet;
}

bool
NsInterruptIsCalled(void)
{
    bool isCalled = false;

    if (ownPtr != NULL) {
        NsMust(pthread_mutex_lock(&ownPtr->lock));
        isCalled = ownPtr->isCalled;
        NsMust(pthread_mutex_unlock(&ownPtr->lock));
    }
    return isCalled;
}

void
NsInterruptRunCall(void)
{
    NsAssert(ownPtr != NULL && ownPtr->condPtr == NULL);
    NsMust(pthread_mutex_lock(&ownPtr->lock));
    ownPtr->isCalled = false;
    NsMust(pthread_mutex_unlock(&ownPtr->lock));
    ownPtr->callProc(ownPtr->arg);
}

Ns_ReturnCode
NsSleepEndable(const Ns_Time *spanPtr)
{
    NsStamp         deadline;
    struct timespec until;
    int             status = 0;
    bool            isSet;

    if (__builtin_add_overflow(NsClockNow(), NsClockFromTime(spanPtr),
                               &deadline)) {
        deadline = INT64_MAX;
    }
    until = TimeOf(deadline);
    if (ownPtr == NULL) {
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)
               == EINTR) {
            /* Go on until then. */
        }
        return NS_OK;
    }
    NsMust(pthread_mutex_lock(&ownPtr->lock));
    while (!ownPtr->isSet && status == 0) {
        if (ownPtr->isCalled) {
            NsMust(pthread_mutex_unlock(&ownPtr->lock));
            NsInterruptRunCall();
            NsMust(pthread_mutex_lock(&ownPtr->lock));
            continue;
        }
        status = pthread_cond_timedwait(&ownPtr->wakeup, &ownPtr->lock, &until);
        NsAssert(status == 0 || status == ETIMEDOUT);
    }
    isSet = ownPtr->isSet;
    NsMust(pthread_mutex_unlock(&ownPtr->lock));
    return isSet ? NS_TIMEOUT : NS_OK;
}

/*
 * In slices: no condition wakes who waits for descriptors.
 */
int
NsPollEndable(struct pollfd *fds, nfds_t nFds, int ms)
{
    int n, slice;

    if (ownPtr == NULL) {
        return poll(fds, nFds, ms);
    }
    do {
        slice = ms < 0 ? SLICE_MS : MIN(ms, SLICE_MS);
        n = poll(fds, nFds, slice);
        ms -= ms < 0 ? 0 : slice;
        if (n == 0 && NsInterruptIsCalled()) {
            NsInterruptRunCall();
        }
    } while (n == 0 && ms != 0 && !NsInterruptIsSet());
    return n;
}

bool
NsInterruptIsSet(void)
{
    bool isSet = false;

    if (ownPtr != NULL) {
        NsMust(pthread_mutex_lock(&ownPtr->lock));
        isSet = ownPtr->isSet;
        NsMust(pthread_mutex_unlock(&ownPtr->lock));
    }
    return isSet;
}

static struct timespec
TimeOf(NsStamp stamp)
{
    NsStamp past = MAX(stamp, 0);

    return (struct timespec){
        .tv_sec = past / NS_STAMP_SECOND, .tv_nsec = past % NS_STAMP_SECOND};
}
