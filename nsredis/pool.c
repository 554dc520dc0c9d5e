/* SPDX-License-Identifier: MPL-2.0
 * pool.c --
 *
 *      Links that several threads share, each at its time.
 *
 *      While Redis cannot be reached, one thread in a while tries it, and the
 *      others are told at once.
 */

#include <assert.h>

#include "redis.h"

static Link *TakeLocked(Pool *poolPtr, Link **oldPtrPtr);
static bool  MayOpenLocked(Pool *poolPtr, Ns_DString *errorPtr);
static Link *OpenOne(Pool *poolPtr, int64_t deadline, Ns_DString *errorPtr);
static bool  WaitLocked(Pool *poolPtr, int64_t deadline);
static void  CloseAll(Link *linkPtr);

static LinkPlace *
PlaceOf(Link *linkPtr)
{
    return (LinkPlace *) linkPtr;
}

void
PoolInit(Pool *poolPtr)
{
    Ns_MutexInit(&poolPtr->lock);
    Ns_MutexSetName2(&poolPtr->lock, "nsredis", poolPtr->name);
    Ns_CondInit(&poolPtr->freed);
}

Link *
PoolTake(Pool *poolPtr, int64_t deadline, Ns_DString *errorPtr)
{
    Link *linkPtr, *oldPtr = NULL;
    bool  mayOpen = false, hasWaited = false;
    char  what[200];

    Ns_MutexLock(&poolPtr->lock);
    for (;;) {
        linkPtr = TakeLocked(poolPtr, &oldPtr);
        if (linkPtr != NULL) {
            break;
        }
        if (poolPtr->nOpen < poolPtr->maxLinks) {
            mayOpen = MayOpenLocked(poolPtr, errorPtr);
            break;
        }
        if (!hasWaited) {
            poolPtr->nWaits++;
            hasWaited = true;
            Ns_MutexUnlock(&poolPtr->lock);
            snprintf(what, sizeof(what),
                     "nsredis: waits for a connection of pool %s",
                     poolPtr->name);
            Ns_TclWaitBegin(what);
            Ns_MutexLock(&poolPtr->lock);
            continue;
        }
        if (!WaitLocked(poolPtr, deadline)) {
            poolPtr->nTimeouts++;
            Ns_DStringPrintf(errorPtr,
                             "pool %s: no connection is free: all %d are in "
                             "use",
                             poolPtr->name, poolPtr->maxLinks);
            break;
        }
    }
    Ns_MutexUnlock(&poolPtr->lock);
    if (hasWaited) {
        Ns_TclWaitEnd();
    }
    CloseAll(oldPtr);
    return mayOpen ? OpenOne(poolPtr, deadline, errorPtr) : linkPtr;
}

/*
 * The link that was used last and still leads somewhere.  Those that do not,
 * and those that nobody has needed for long, are left to the caller.
 */
static Link *
TakeLocked(Pool *poolPtr, Link **oldPtrPtr)
{
    Link   *foundPtr = NULL, **linkPtrPtr = &poolPtr->firstIdlePtr;
    int64_t oldest = poolPtr->idleTimeout > 0
        ? Now() - poolPtr->idleTimeout
        : INT64_MIN;

    while (*linkPtrPtr != NULL) {
        Link *linkPtr = *linkPtrPtr;

        if (foundPtr != NULL && PlaceOf(linkPtr)->idleStamp >= oldest) {
            linkPtrPtr = &PlaceOf(linkPtr)->nextPtr;
            continue;
        }
        *linkPtrPtr = PlaceOf(linkPtr)->nextPtr;
        assert(poolPtr->nIdle > 0 && poolPtr->nIdle <= poolPtr->nOpen);
        poolPtr->nIdle--;
        if (foundPtr == NULL && PlaceOf(linkPtr)->idleStamp >= oldest
            && LinkIsIdle(linkPtr)) {
            foundPtr = linkPtr;
        } else {
            poolPtr->nOpen--;
            PlaceOf(linkPtr)->nextPtr = *oldPtrPtr;
            *oldPtrPtr = linkPtr;
        }
    }
    return foundPtr;
}

/*
 * Whoever comes first after the time tries; it is another's turn when this one
 * has failed.
 */
static bool
MayOpenLocked(Pool *poolPtr, Ns_DString *errorPtr)
{
    if (poolPtr->retryStamp != 0 && Now() < poolPtr->retryStamp) {
        Ns_DStringAppend(errorPtr, poolPtr->failure);
        return false;
    }
    if (poolPtr->retryStamp != 0) {
        poolPtr->retryStamp = Now() + poolPtr->timeout + poolPtr->retryTime;
    }
    poolPtr->nOpen++;
    return true;
}

static Link *
OpenOne(Pool *poolPtr, int64_t deadline, Ns_DString *errorPtr)
{
    Link *linkPtr = LinkOpen(&poolPtr->endpoint, deadline, errorPtr);
    bool  isNews;

    Ns_MutexLock(&poolPtr->lock);
    isNews = (poolPtr->retryStamp == 0) == (linkPtr == NULL);
    if (linkPtr != NULL) {
        poolPtr->retryStamp = 0;
        poolPtr->nConnects++;
    } else {
        poolPtr->nOpen--;
        poolPtr->nErrors++;
        poolPtr->retryStamp = Now() + poolPtr->retryTime;
        snprintf(poolPtr->failure, sizeof(poolPtr->failure), "%s",
                 errorPtr->string);
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Ns_CondBroadcast(&poolPtr->freed);
    if (isNews && linkPtr == NULL) {
        Ns_Log(Warning, "nsredis[%s]: Redis cannot be reached: %s",
               poolPtr->name, errorPtr->string);
    } else if (isNews) {
        Ns_Log(Notice, "nsredis[%s]: Redis can be reached again: %s",
               poolPtr->name, poolPtr->endpoint.name);
    }
    return linkPtr;
}

/*
 * The condition's clock may be set meanwhile; that of deadlines is not.
 */
static bool
WaitLocked(Pool *poolPtr, int64_t deadline)
{
    int64_t left = deadline - Now();
    Ns_Time until;

    if (left <= 0) {
        return false;
    }
    Ns_GetTime(&until);
    Ns_IncrTime(&until, (long) (left / SECOND), (long) (left % SECOND));
    poolPtr->nWaiting++;
    (void) Ns_CondTimedWait(&poolPtr->freed, &poolPtr->lock, &until);
    poolPtr->nWaiting--;
    return true;
}

void
PoolPut(Pool *poolPtr, Link *linkPtr, LinkResult result, int nCommands)
{
    Ns_MutexLock(&poolPtr->lock);
    assert(poolPtr->nIdle < poolPtr->nOpen);
    poolPtr->nCommands += (uint64_t) nCommands;
    poolPtr->nTimeouts += result == LINK_TIMEOUT;
    poolPtr->nErrors += result == LINK_FAILED;
    if (result == LINK_OK) {
        PlaceOf(linkPtr)->idleStamp = Now();
        PlaceOf(linkPtr)->nextPtr = poolPtr->firstIdlePtr;
        poolPtr->firstIdlePtr = linkPtr;
        poolPtr->nIdle++;
        linkPtr = NULL;
    } else {
        poolPtr->nOpen--;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Ns_CondSignal(&poolPtr->freed);
    if (linkPtr != NULL) {
        LinkClose(linkPtr);
    }
}

void
PoolStats(Pool *poolPtr, Ns_DString *dsPtr)
{
    Ns_MutexLock(&poolPtr->lock);
    Ns_DStringPrintf(dsPtr,
                     "commands %" PRIu64 " errors %" PRIu64 " timeouts %" PRIu64
                     " waits %" PRIu64 " connects %" PRIu64
                     " open %d idle %d waiting %d isaway %d",
                     poolPtr->nCommands, poolPtr->nErrors, poolPtr->nTimeouts,
                     poolPtr->nWaits, poolPtr->nConnects, poolPtr->nOpen,
                     poolPtr->nIdle, poolPtr->nWaiting,
                     poolPtr->retryStamp != 0);
    Ns_MutexUnlock(&poolPtr->lock);
}

void
PoolClose(Pool *poolPtr)
{
    Link *linkPtr;

    Ns_MutexLock(&poolPtr->lock);
    linkPtr = poolPtr->firstIdlePtr;
    poolPtr->firstIdlePtr = NULL;
    poolPtr->nOpen -= poolPtr->nIdle;
    poolPtr->nIdle = 0;
    Ns_MutexUnlock(&poolPtr->lock);
    CloseAll(linkPtr);
}

static void
CloseAll(Link *linkPtr)
{
    while (linkPtr != NULL) {
        Link *nextPtr = PlaceOf(linkPtr)->nextPtr;

        LinkClose(linkPtr);
        linkPtr = nextPtr;
    }
}
