/* SPDX-License-Identifier: MPL-2.0
 * spooler.c --
 *
 *      Spooler threads: they receive large bodies for driver threads.
 *
 *      A socket comes through the inbox, in the state in which others must not
 *      touch it, and leaves with its request to those who answer; or it goes
 *      back to its driver thread to be closed.  Of a stream of HTTP/2 only the
 *      body comes, in parts.
 */

#include "net/spooler.h"
#include "net/driver_sock.h"
#include "net/h2upload.h"
#include "net/reader.h"
#include "net/readthread.h"
#include "net/sockstate.h"
#include "nsthread.h"
#include "base/assert.h"

static void Run(NsDriverThread *threadPtr);
static void HandleEvent(const NsPollEvent *eventPtr, void *arg);
static void TakeSock(NsInboxNode *nodePtr, void *arg);
static void TimeUp(NsWheelEntry *entryPtr, void *arg);
static void Leave(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp since);
static void Lose(NsDriverThread *threadPtr, NsSock *sockPtr);
static bool Await(NsDriverThread *threadPtr, NsSock *sockPtr);

static const NsReadKind kind = {
    .ownState = NS_SOCK_BUSY_EVENT,
    .loopProcs = {.eventProc = HandleEvent,
                  .nodeProc = TakeSock,
                  .timeProc = TimeUp},
    .runProc = Run,
    .leaveProc = Leave,
    .loseProc = Lose,
    .awaitProc = Await};

NsDriverThread *
NsSpoolerCreate(NsDriver *drvPtr, int index)
{
    return NsReadThreadCreate(drvPtr, index, &kind);
}

static void
Run(NsDriverThread *threadPtr)
{
    Ns_ThreadSetName("-spooler%d-", threadPtr->index);
    while (!NsLoopIsStopping(&threadPtr->loop)) {
        NsLoopTurn(&threadPtr->loop, 0);
    }
}

static void
HandleEvent(const NsPollEvent *eventPtr, void *arg)
{
    NsSock *sockPtr = eventPtr->data;

    if ((eventPtr->what & NS_POLL_HANGUP) != 0u) {
        sockPtr->sawHangup = true;
    }
    NsReadSock(arg, sockPtr);
}

static void
TakeSock(NsInboxNode *nodePtr, void *arg)
{
    NsSock *sockPtr = (NsSock *) ((char *) nodePtr
                                  - offsetof(NsSock, inboxNode));

    if (sockPtr->isStream) {
        NsH2UploadStore(sockPtr);
    } else {
        NsReadSock(arg, sockPtr);
    }
}

/*
 * The limit may have moved since it was set in the wheel.
 */
static void
TimeUp(NsWheelEntry *entryPtr, void *arg)
{
    NsDriverThread *threadPtr = arg;
    NsSock         *sockPtr = (NsSock *) ((char *) entryPtr
                                  - offsetof(NsSock, wheelEntry));
    NsStamp         deadline = atomic_load_explicit(&sockPtr->deadline,
                                                    memory_order_relaxed);

    NsSockAssertMine(threadPtr, sockPtr);
    if (NsClockNow() < deadline) {
        NsWheelSet(&threadPtr->loop.wheel, entryPtr, deadline);
    } else {
        sockPtr->mode = NS_SOCK_DEAD;
        Lose(threadPtr, sockPtr);
    }
}

static void
Leave(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp since)
{
    NsAssert(sockPtr->homePtr != threadPtr);
    NsSockAssertMine(threadPtr, sockPtr);
    if (sockPtr->isRegistered) {
        NsPollerRemove(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
        sockPtr->isRegistered = false;
    }
    NsWheelCancel(&threadPtr->loop.wheel, &sockPtr->wheelEntry);
}

static void
Lose(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    Leave(threadPtr, sockPtr, 0);
    NsInboxPut(&sockPtr->homePtr->loop.inbox, &sockPtr->inboxNode);
}

/*
 * Its peer is counted by the driver thread.
 */
static bool
Await(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    return true;
}
