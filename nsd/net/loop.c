/* SPDX-License-Identifier: MPL-2.0
 * loop.c --
 *
 *      One turn of a thread that waits.
 */

#include "net/loop.h"
#include "base/assert.h"

#define MAX_EVENTS 256 /* Of one turn; the others come in the next. */
#define MS         INT64_C(1000000)

static int WaitMs(const NsLoop *loopPtr, NsStamp latest);

Ns_ReturnCode
NsLoopInit(NsLoop *loopPtr, NsPollerKind kind, const NsLoopProcs *procsPtr,
           void *arg)
{
    NsAssert(procsPtr->eventProc != NULL && procsPtr->nodeProc != NULL
             && procsPtr->timeProc != NULL);
    loopPtr->pollerPtr = NsPollerCreate(kind);
    if (loopPtr->pollerPtr == NULL) {
        return NS_ERROR;
    }
    loopPtr->procsPtr = procsPtr;
    loopPtr->arg = arg;
    loopPtr->stamp = NsClockNow();
    atomic_init(&loopPtr->isStopping, false);
    NsInboxInit(&loopPtr->inbox, loopPtr->pollerPtr);
    NsWheelInit(&loopPtr->wheel, loopPtr->stamp);
    return NS_OK;
}

void
NsLoopFree(NsLoop *loopPtr)
{
    NsAssert(NsInboxTake(&loopPtr->inbox) == NULL);
    NsPollerDestroy(&loopPtr->pollerPtr);
}

void
NsLoopTurn(NsLoop *loopPtr, NsStamp latest)
{
    const NsLoopProcs *procsPtr = loopPtr->procsPtr;
    NsPollEvent        events[MAX_EVENTS];
    int                n = NsInboxWait(&loopPtr->inbox, events, MAX_EVENTS,
                                       WaitMs(loopPtr, latest));

    NsAssert(n >= 0 && n <= MAX_EVENTS);
    loopPtr->stamp = NsClockNow();
    if (unlikely(atomic_load_explicit(&loopPtr->isAsked,
                                      memory_order_relaxed))) {
        atomic_store(&loopPtr->isAsked, false);
    }
    for (int i = 0; i < n; i++) {
        procsPtr->eventProc(&events[i], loopPtr->arg);
    }
    /* May end what events belong to, so not before all of them. */
    NsLoopTakeInbox(loopPtr);
    if (procsPtr->readyProc != NULL) {
        procsPtr->readyProc(loopPtr->arg);
    }
    NsWheelAdvance(&loopPtr->wheel, NsClockNow(), procsPtr->timeProc,
                   loopPtr->arg);
}

void
NsLoopTakeInbox(NsLoop *loopPtr)
{
    NsInboxNode *nodePtr = NsInboxTake(&loopPtr->inbox);

    while (nodePtr != NULL) {
        NsInboxNode *nextPtr = nodePtr->nextPtr;

        loopPtr->procsPtr->nodeProc(nodePtr, loopPtr->arg);
        nodePtr = nextPtr;
    }
}

void
NsLoopWake(NsLoop *loopPtr)
{
    NsPollerWake(loopPtr->pollerPtr);
}

void
NsLoopStop(NsLoop *loopPtr)
{
    atomic_store_explicit(&loopPtr->isStopping, true, memory_order_release);
    NsLoopWake(loopPtr);
}

bool
NsLoopAsk(NsLoop *loopPtr)
{
    bool hasTurned = !atomic_exchange(&loopPtr->isAsked, true);

    NsLoopWake(loopPtr);
    return hasTurned;
}

/*
 * Until the next time limit or `latest`, whichever comes first.
 */
static int
WaitMs(const NsLoop *loopPtr, NsStamp latest)
{
    NsStamp next = NsWheelNext(&loopPtr->wheel);
    NsStamp now;

    if (latest != 0 && (next == 0 || latest < next)) {
        next = latest;
    }
    if (next == 0) {
        return -1;
    }
    now = NsClockNow();
    return next <= now ? 0 : (int) MIN((next - now) / MS + 1, INT_MAX);
}
