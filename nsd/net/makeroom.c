/* SPDX-License-Identifier: MPL-2.0
 * makeroom.c --
 *
 *      Chooses the connection to close when there are as many as `maxqueuesize`
 *      allows and another client waits.
 *
 *      The sockets of a driver thread are in the order of their last requests,
 *      so those that have been idle longest come first.  Between them are some
 *      that are in use: a slow download, a body that arrives.  A search moves
 *      these to the end, where they belong, so that the next does not meet them
 *      again.  Unfinished heads have a list of their own.
 *
 *      An idle connection loses nothing.  If there is none, the oldest head
 *      that is still incomplete goes, or the oldest body that has taken longer
 *      than recvwait: who keeps many of those keeps others out.
 */

#include "net/makeroom.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "base/assert.h"

/*
 * Sockets that one search looks at, and idle ones among them that it compares.
 */
#define MAX_SEEN 256
#define MAX_IDLE 16

/*
 * How long the client may take to close, too; and how long a new one may be
 * silent before it counts as idle, or take for its head before it is slow.
 */
#define LEAVE_NS    INT64_C(100000000)
#define NEW_IDLE_NS NS_STAMP_SECOND
#define NEW_HEAD_NS NS_STAMP_SECOND

/*
 * The best candidates of a search; NULL: none.
 */
typedef struct Candidates {
    NsSock *idlePtr;
    NsStamp idleSince;
    NsSock *bodyPtr;
    NsStamp bodySince;
} Candidates;

static NsSockList *ListOf(NsDriverThread *threadPtr, const NsSock *sockPtr);
static void Search(NsDriverThread *threadPtr, NsStamp now, Candidates *bestPtr);
static NsStamp IdleSince(NsSock *sockPtr, NsStamp now);
static bool    IsLeavable(NsSock *sockPtr);
static void    Leave(NsDriverThread *threadPtr, NsSock *sockPtr,
                     NsEvictReason reason);
static void    LeaveSession(NsDriverThread *threadPtr, NsSock *sockPtr);

void
NsSocksAppend(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsSockList *listPtr = ListOf(threadPtr, sockPtr);

    NsAssert(sockPtr->homePtr == threadPtr);
    NsAssert((listPtr->firstPtr == NULL) == (listPtr->lastPtr == NULL));
    sockPtr->nextPtr = NULL;
    sockPtr->prevPtr = listPtr->lastPtr;
    if (listPtr->lastPtr != NULL) {
        listPtr->lastPtr->nextPtr = sockPtr;
    } else {
        listPtr->firstPtr = sockPtr;
    }
    listPtr->lastPtr = sockPtr;
}

/*
 * In whichever list the socket was, it has no unfinished head afterwards.
 */
void
NsSocksRemove(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsSockList *listPtr = ListOf(threadPtr, sockPtr);

    if (sockPtr->prevPtr != NULL) {
        sockPtr->prevPtr->nextPtr = sockPtr->nextPtr;
    } else {
        NsAssert(listPtr->firstPtr == sockPtr);
        listPtr->firstPtr = sockPtr->nextPtr;
    }
    if (sockPtr->nextPtr != NULL) {
        sockPtr->nextPtr->prevPtr = sockPtr->prevPtr;
    } else {
        NsAssert(listPtr->lastPtr == sockPtr);
        listPtr->lastPtr = sockPtr->prevPtr;
    }
    if (sockPtr->headStamp != 0) {
        /* Not if it is 0: a spooler thread may have the socket, and read. */
        sockPtr->headStamp = 0;
    }
}

/*
 * The head may have come along with a request that took long to serve: so its
 * time is that since the server waits for the rest.
 */
void
NsSocksBeginHead(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsAssert(sockPtr->homePtr == threadPtr);
    if (sockPtr->headStamp == 0) {
        NsSocksRemove(threadPtr, sockPtr);
        sockPtr->headStamp = NsClockNow();
        NsSocksAppend(threadPtr, sockPtr);
    }
}

const char *
NsSocksMakeRoom(NsDriverThread *threadPtr)
{
    NsStamp    now = NsClockNow();
    NsSock    *headPtr = threadPtr->heads.firstPtr;
    Candidates best = {0};

    Search(threadPtr, now, &best);
    if (best.idlePtr != NULL) {
        Leave(threadPtr, best.idlePtr, NS_EVICT_IDLE);
        return "idle ones are closed for new clients";
    }
    if (headPtr != NULL && headPtr->headStamp <= now - NEW_HEAD_NS) {
        Leave(threadPtr, headPtr, NS_EVICT_HEAD);
    } else if (best.bodyPtr != NULL) {
        Leave(threadPtr, best.bodyPtr, NS_EVICT_BODY);
    } else {
        return NULL;
    }
    return "unfinished requests are dropped for new clients";
}

static NsSockList *
ListOf(NsDriverThread *threadPtr, const NsSock *sockPtr)
{
    return sockPtr->headStamp != 0 ? &threadPtr->heads : &threadPtr->others;
}

static void
Search(NsDriverThread *threadPtr, NsStamp now, Candidates *bestPtr)
{
    NsStamp slow = now - threadPtr->drvPtr->params.recvWait;
    NsSock *nextPtr = threadPtr->others.firstPtr;
    int     nSeen = 0, nIdle = 0;

    while (nextPtr != NULL && nSeen++ < MAX_SEEN && nIdle < MAX_IDLE) {
        NsSock *sockPtr = nextPtr;
        NsStamp since;

        nextPtr = sockPtr->nextPtr;
        since = IdleSince(sockPtr, now);
        if (since != 0) {
            nIdle++;
            if (bestPtr->idlePtr == NULL || since < bestPtr->idleSince) {
                bestPtr->idlePtr = sockPtr;
                bestPtr->idleSince = since;
            }
            continue;
        }
        NsSocksTouch(threadPtr, sockPtr);
        since = IsLeavable(sockPtr) ? NsSockBodySince(sockPtr) : 0;
        if (since != 0 && since <= slow
            && (bestPtr->bodyPtr == NULL || since < bestPtr->bodySince)) {
            bestPtr->bodyPtr = sockPtr;
            bestPtr->bodySince = since;
        }
    }
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
            != NS_SOCK_DRIVER) {
        return 0;
    }
    if (sockPtr->mode == NS_SOCK_SESSION) {
        return sockPtr->idleSince == 0 || now - sockPtr->idleSince < NEW_IDLE_NS
                || NsSockHasUnread(sockPtr)
            ? 0
            : sockPtr->idleSince;
    }
    if (sockPtr->mode != NS_SOCK_READING || !NsSockIsIdle(sockPtr)) {
        return 0;
    }
    if (sockPtr->acceptStamp != 0) {
        since = now - sockPtr->acceptStamp < NEW_IDLE_NS
            ? 0
            : sockPtr->acceptStamp;
    } else {
        since = NsSockKeptSince(sockPtr);
    }
    return NsSockHasUnread(sockPtr) ? 0 : since;
}

/*
 * This thread has it, and reads from it.
 */
static bool
IsLeavable(NsSock *sockPtr)
{
    return !sockPtr->isLeaving
        && atomic_load_explicit(&sockPtr->state, memory_order_acquire)
        == NS_SOCK_DRIVER
        && sockPtr->mode == NS_SOCK_READING;
}

/*
 * Close gracefully.  An event of the socket may still be on the list at hand,
 * so the rest happens when it comes out of the inbox.
 */
static void
Leave(NsDriverThread *threadPtr, NsSock *sockPtr, NsEvictReason reason)
{
    NsAssert(reason < NS_EVICT_REASONS);
    atomic_fetch_add_explicit(&threadPtr->evictions[reason], 1,
                              memory_order_relaxed);
    if (sockPtr->mode == NS_SOCK_SESSION) {
        LeaveSession(threadPtr, sockPtr);
        return;
    }
    NsAssert(IsLeavable(sockPtr));
    NsSocksTouch(threadPtr, sockPtr);
    NsSockDropRequest(sockPtr);
    NsSockBeginClose(sockPtr);
    atomic_store_explicit(&sockPtr->deadline, NsClockNow() + LEAVE_NS,
                          memory_order_relaxed);
    sockPtr->isLeaving = true;
    threadPtr->nLeaving++;
    NsAssert(threadPtr->nLeaving <= threadPtr->nSockets);
    NsSockSetState(threadPtr, sockPtr, NS_SOCK_BUSY_EVENT);
    NsInboxPut(&threadPtr->loop.inbox, &sockPtr->inboxNode);
}

/*
 * Its time is up now: it says goodbye itself.
 */
static void
LeaveSession(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsStamp now = NsClockNow();

    NsAssert(!sockPtr->isLeaving && sockPtr->idleSince != 0);
    NsSocksTouch(threadPtr, sockPtr);
    sockPtr->isLeaving = true;
    threadPtr->nLeaving++;
    atomic_store_explicit(&sockPtr->deadline, now, memory_order_relaxed);
    NsWheelSet(&threadPtr->loop.wheel, &sockPtr->wheelEntry, now);
}
