/*
 * makeroom.c --
 *
 *      Which connection goes when there are as many as `maxqueuesize` allows
 *      and another client waits.
 *
 *      The sockets of a driver thread are in the order of their last requests,
 *      so those that have been idle longest come first.  Between them stand
 *      some that are in use: a slow download, a request that has begun to
 *      arrive.  A search moves these to the end, where they belong, so that the
 *      next does not meet them again.
 */

#include "net/driver_int.h"

/*
 * Sockets that one search looks at, and idle ones among them that it compares.
 */
#define MAX_SEEN 256
#define MAX_IDLE 16

/*
 * How long the client may take to close, too, and how long a new one may be
 * silent before it counts as idle.
 */
#define LEAVE_NS    INT64_C(100000000)
#define NEW_IDLE_NS NS_STAMP_SECOND

static NsSock *FindLongestIdle(NsDriverThread *threadPtr);
static NsStamp IdleSince(NsSock *sockPtr, NsStamp now);
static void    Leave(NsDriverThread *threadPtr, NsSock *sockPtr);

void
NsSocksAppend(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    sockPtr->nextPtr = NULL;
    sockPtr->prevPtr = threadPtr->lastPtr;
    if (threadPtr->lastPtr != NULL) {
        threadPtr->lastPtr->nextPtr = sockPtr;
    } else {
        threadPtr->firstPtr = sockPtr;
    }
    threadPtr->lastPtr = sockPtr;
}

void
NsSocksRemove(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    if (sockPtr->prevPtr != NULL) {
        sockPtr->prevPtr->nextPtr = sockPtr->nextPtr;
    } else {
        threadPtr->firstPtr = sockPtr->nextPtr;
    }
    if (sockPtr->nextPtr != NULL) {
        sockPtr->nextPtr->prevPtr = sockPtr->prevPtr;
    } else {
        threadPtr->lastPtr = sockPtr->prevPtr;
    }
}

bool
NsSocksMakeRoom(NsDriverThread *threadPtr)
{
    NsSock *sockPtr = FindLongestIdle(threadPtr);

    if (sockPtr == NULL) {
        return false;
    }
    Leave(threadPtr, sockPtr);
    return true;
}

static NsSock *
FindLongestIdle(NsDriverThread *threadPtr)
{
    NsStamp now = NsClockNow(), bestSince = 0;
    NsSock *bestPtr = NULL, *nextPtr = threadPtr->firstPtr;
    int     nSeen = 0, nIdle = 0;

    while (nextPtr != NULL && nSeen++ < MAX_SEEN && nIdle < MAX_IDLE) {
        NsSock *sockPtr = nextPtr;
        NsStamp since = IdleSince(sockPtr, now);

        nextPtr = sockPtr->nextPtr;
        if (since == 0) {
            NsSocksTouch(threadPtr, sockPtr);
            continue;
        }
        nIdle++;
        if (bestPtr == NULL || since < bestSince) {
            bestPtr = sockPtr;
            bestSince = since;
        }
    }
    return bestPtr;
}

/*
 * When the socket's last reply ended, or it was accepted; 0: it is in use.
 */
static NsStamp
IdleSince(NsSock *sockPtr, NsStamp now)
{
    NsStamp since;

    if (sockPtr->isLeaving
            || atomic_load_explicit(&sockPtr->state, memory_order_acquire)
            != NS_SOCK_DRIVER
            || sockPtr->mode != NS_SOCK_READING || !NsReaderIsIdle(sockPtr)) {
        return 0;
    }
    if (sockPtr->acceptStamp != 0) {
        since = now - sockPtr->acceptStamp < NEW_IDLE_NS
            ? 0 : sockPtr->acceptStamp;
    } else {
        since = atomic_load_explicit(&sockPtr->deadline, memory_order_relaxed)
            - sockPtr->drvPtr->settings.keepwait * NS_STAMP_SECOND;
    }
    return NsReaderHasUnread(sockPtr) ? 0 : since;
}

/*
 * Say goodbye.  An event of the socket may still be on the list at hand, so the
 * rest happens when it comes out of the inbox.
 */
static void
Leave(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsReaderDrop(sockPtr);
    NsSockBeginClose(sockPtr);
    atomic_store_explicit(&sockPtr->deadline, NsClockNow() + LEAVE_NS,
                          memory_order_relaxed);
    sockPtr->isLeaving = true;
    threadPtr->nLeaving++;
    atomic_store_explicit(&sockPtr->state, NS_SOCK_BUSY_EVENT,
                          memory_order_relaxed);
    NsInboxPut(&threadPtr->inbox, &sockPtr->inboxNode);
}
