/* SPDX-License-Identifier: MPL-2.0
 * inbox.c --
 *
 *      A stack that many threads push to and one empties.
 */

#include "net/inbox.h"
#include "base/assert.h"

static void WakeSleeper(NsInbox *inboxPtr);

void
NsInboxInit(NsInbox *inboxPtr, NsPoller *pollerPtr)
{
    NsAssert(pollerPtr != NULL);
    inboxPtr->pollerPtr = pollerPtr;
    atomic_init(&inboxPtr->headPtr, NULL);
    atomic_init(&inboxPtr->isSleeping, false);
}

void
NsInboxPut(NsInbox *inboxPtr, NsInboxNode *nodePtr)
{
    NsInboxNode *headPtr = atomic_load_explicit(&inboxPtr->headPtr,
                                                memory_order_relaxed);

    /* A node that is there already would make a circle. */
    NsCheck(headPtr != nodePtr);
    do {
        nodePtr->nextPtr = headPtr;
    } while (!atomic_compare_exchange_weak(&inboxPtr->headPtr, &headPtr,
                                           nodePtr));
    WakeSleeper(inboxPtr);
}

NsInboxNode *
NsInboxTake(NsInbox *inboxPtr)
{
    NsInboxNode *nodePtr = NULL, *firstPtr = NULL;

    if (atomic_load_explicit(&inboxPtr->headPtr, memory_order_relaxed)
        != NULL) {
        nodePtr = atomic_exchange(&inboxPtr->headPtr, NULL);
    }
    while (nodePtr != NULL) {
        NsInboxNode *nextPtr = nodePtr->nextPtr;

        nodePtr->nextPtr = firstPtr;
        firstPtr = nodePtr;
        nodePtr = nextPtr;
    }
    return firstPtr;
}

int
NsInboxWait(NsInbox *inboxPtr, NsPollEvent *events, int maxEvents,
            int timeoutMs)
{
    int n;

    /*
     * Say that we sleep, then look: whoever puts a node after the look sees the
     * flag and wakes us.
     */
    atomic_store(&inboxPtr->isSleeping, true);
    if (atomic_load(&inboxPtr->headPtr) != NULL) {
        timeoutMs = 0;
    }
    n = NsPollerWait(inboxPtr->pollerPtr, events, maxEvents, timeoutMs);
    atomic_store_explicit(&inboxPtr->isSleeping, false, memory_order_relaxed);
    return n;
}

static void
WakeSleeper(NsInbox *inboxPtr)
{
    if (atomic_load(&inboxPtr->isSleeping)
        && atomic_exchange(&inboxPtr->isSleeping, false)) {
        NsPollerWake(inboxPtr->pollerPtr);
    }
}
