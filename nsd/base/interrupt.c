/* SPDX-License-Identifier: MPL-2.0
 * interrupt.c --
 *
 *      Waits that another thread can end.
 */

#include "base/interrupt.h"

#include "base/assert.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLICE_MS 50 /* Between looks of a thread without a descriptor. */
#define FEW_FDS  15

static _Thread_local NsInterrupt *ownPtr;

static void            Raise(NsInterrupt *interruptPtr, bool *flagPtr);
static int             Poll(struct pollfd *fds, nfds_t nFds, NsStamp due);
static bool            BeginPoll(void);
static void            EndPoll(void);
static int             PollOnce(struct pollfd *fds, nfds_t nFds, int ms);
static struct timespec TimeOf(NsStamp stamp);

void
NsInterruptInit(NsInterrupt *interruptPtr, void (*callProc)(void *arg),
                void        *arg)
{
    pthread_condattr_t attr;

    *interruptPtr = (NsInterrupt){
        .callProc = callProc, .arg = arg, .wakeFd = -1};
    NsMust(pthread_mutex_init(&interruptPtr->lock, NULL));
    NsMust(pthread_condattr_init(&attr));
    NsMust(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
    NsMust(pthread_cond_init(&interruptPtr->wakeup, &attr));
    NsMust(pthread_condattr_destroy(&attr));
}

void
NsInterruptFree(NsInterrupt *interruptPtr)
{
    NsAssert(interruptPtr->condPtr == NULL && !interruptPtr->isPolling);
    if (interruptPtr->wakeFd >= 0) {
        NsClose(interruptPtr->wakeFd);
    }
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
 * goes on.  So does the descriptor, which the owner empties afterwards.
 */
static void
Raise(NsInterrupt *interruptPtr, bool *flagPtr)
{
    NsMust(pthread_mutex_lock(&interruptPtr->lock));
    *flagPtr = true;
    if (interruptPtr->condPtr != NULL) {
        NsMust(pthread_cond_broadcast(interruptPtr->condPtr));
    }
    if (interruptPtr->isPolling && !interruptPtr->isWoken) {
        NsAssert(interruptPtr->condPtr == NULL);
        interruptPtr->isWoken = true;
        NsMust(eventfd_write(interruptPtr->wakeFd, 1) == 0 ? 0 : errno);
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

int
NsPollEndable(struct pollfd *fds, nfds_t nFds, int ms)
{
    struct pollfd  few[FEW_FDS + 1];
    struct pollfd *allPtr = few;
    int            n;

    if (ownPtr == NULL || ms == 0) {
        return poll(fds, nFds, ms);
    }
    if (nFds > FEW_FDS) {
        allPtr = ns_malloc((nFds + 1) * sizeof(*allPtr));
    }
    memcpy(allPtr, fds, nFds * sizeof(*fds));
    n = Poll(allPtr, nFds,
             ms < 0 ? INT64_MAX : NsClockNow() + ms * (NS_STAMP_SECOND / 1000));
    memcpy(fds, allPtr, nFds * sizeof(*fds));
    if (allPtr != few) {
        ns_free(allPtr);
    }
    return n;
}

/*
 * With room for one more descriptor.  Whoever raises a flag before BeginPoll
 * makes that false, and whoever does it later makes the descriptor readable.
 */
static int
Poll(struct pollfd *fds, nfds_t nFds, NsStamp due)
{
    int n = 0;

    if (ownPtr->wakeFd < 0) {
        ownPtr->wakeFd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    while (n == 0) {
        NsStamp left = due - NsClockNow();
        int     ms = due == INT64_MAX ? -1
                : left <= 0           ? 0
                            : (int) MIN((left + 999999) / 1000000, INT_MAX);

        if (BeginPoll()) {
            n = PollOnce(fds, nFds, ms);
            EndPoll();
            if (ms == 0) {
                break;
            }
        } else if (NsInterruptIsSet()) {
            break;
        } else {
            NsInterruptRunCall();
        }
    }
    return n;
}

/*
 * False: there is something to do first.
 */
static bool
BeginPoll(void)
{
    bool mayPoll;

    NsMust(pthread_mutex_lock(&ownPtr->lock));
    NsAssert(ownPtr->condPtr == NULL && !ownPtr->isPolling);
    mayPoll = !ownPtr->isSet && !ownPtr->isCalled;
    ownPtr->isPolling = mayPoll && ownPtr->wakeFd >= 0;
    NsMust(pthread_mutex_unlock(&ownPtr->lock));
    return mayPoll;
}

static void
EndPoll(void)
{
    eventfd_t count;
    int       error = errno;

    NsMust(pthread_mutex_lock(&ownPtr->lock));
    ownPtr->isPolling = false;
    if (ownPtr->isWoken) {
        ownPtr->isWoken = false;
        NsMust(eventfd_read(ownPtr->wakeFd, &count) == 0 ? 0 : errno);
    }
    NsMust(pthread_mutex_unlock(&ownPtr->lock));
    errno = error; /* Of the poll. */
}

/*
 * Once; 0 also when a flag was raised.
 */
static int
PollOnce(struct pollfd *fds, nfds_t nFds, int ms)
{
    int n;

    if (ownPtr->wakeFd < 0) {
        return poll(fds, nFds, ms < 0 ? SLICE_MS : MIN(ms, SLICE_MS));
    }
    fds[nFds] = (struct pollfd){.fd = ownPtr->wakeFd, .events = POLLIN};
    n = poll(fds, nFds + 1, ms);
    if (n > 0 && fds[nFds].revents != 0) {
        n--;
    }
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
