/* SPDX-License-Identifier: MPL-2.0
 * driver_sock.c --
 *
 *      What a driver thread does with its sockets, but for reading.
 */

#include "net/driver_sock.h"
#include "net/makeroom.h"
#include "net/sls.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "base/assert.h"

static bool WantsWrite(const NsSock *sockPtr);

void
NsSockWatch(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    unsigned what = NS_POLL_READ | NS_POLL_EDGE;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->mode != NS_SOCK_DEAD);
    if (WantsWrite(sockPtr) || sockPtr->hasRest) {
        what |= NS_POLL_WRITE;
    }
    if (sockPtr->isRegistered) {
        if ((what & NS_POLL_WRITE) != 0u) {
            (void) NsPollerChange(threadPtr->loop.pollerPtr, sockPtr->pub.sock,
                                  what, sockPtr);
        }
        NsPollerResume(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
        return;
    }
    if (NsPollerAdd(threadPtr->loop.pollerPtr, sockPtr->pub.sock, what, sockPtr)
        == NS_OK) {
        sockPtr->isRegistered = true;
        return;
    }
    if (errno != EEXIST) {
        /* It exists when a datagram driver found nothing on its listener. */
        Ns_Log(Error, "%s: cannot watch a connection: %s",
               sockPtr->drvPtr->pub.module, strerror(errno));
    }
    sockPtr->mode = NS_SOCK_DEAD;
    threadPtr->kindPtr->loseProc(threadPtr, sockPtr);
}

/*
 * A TLS layer may have to write before it can read; it says so, or else it is
 * asked each time that there is room: that is after each reply, for nothing.
 */
static bool
WantsWrite(const NsSock *sockPtr)
{
    const Ns_DriverInitData *procsPtr = &sockPtr->drvPtr->procs;

    if ((procsPtr->opts & NS_DRIVER_SSL) == 0) {
        return false;
    }
    return procsPtr->setupProc == NULL
        || (sockPtr->acceptStamp != 0 && !sockPtr->isShut
            && procsPtr->setupProc(&sockPtr->pub) == NS_DRIVER_SETUP_WRITE);
}

void
NsSockBecomeIdle(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsStamp now = NsClockNow();

    NsSockAssertMine(threadPtr, sockPtr);
    NsSocksTouch(threadPtr, sockPtr);
    NsSockForgetPartial(threadPtr, sockPtr);
    /* Until now it was that of the handshake. */
    atomic_store_explicit(&sockPtr->deadline,
                          now + sockPtr->drvPtr->params.recvWait,
                          memory_order_relaxed);
    if (threadPtr->hasStopped) {
        /* A handshake is over: the request is on its way, and that may be
         * long. */
        NsSockHurry(threadPtr, sockPtr, now + NS_STAMP_SECOND);
    }
}

void
NsSockHurry(NsDriverThread *threadPtr, NsSock *sockPtr, NsStamp limit)
{
    bool isIdle = sockPtr->mode == NS_SOCK_READING
        ? NsSockIsIdle(sockPtr)
        : !sockPtr->isLong;

    NsAssert(threadPtr->hasStopped);
    NsSockAssertMine(threadPtr, sockPtr);
    if (isIdle) {
        atomic_store_explicit(&sockPtr->deadline, limit, memory_order_relaxed);
        NsWheelSet(&threadPtr->loop.wheel, &sockPtr->wheelEntry, limit);
    }
}

void
NsSockEnterSpooler(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    int       turn = threadPtr->nextSpooler++ % threadPtr->nSpoolers;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(turn < threadPtr->nSpoolers && sockPtr->messagePtr != NULL);
    atomic_fetch_add_explicit(&threadPtr->nSpooled, 1, memory_order_relaxed);
    (void) NsSockCountPartial(threadPtr, sockPtr);
    NsSocksTouch(threadPtr, sockPtr);
    if (sockPtr->isRegistered) {
        NsPollerRemove(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
        sockPtr->isRegistered = false;
    }
    NsWheelCancel(&threadPtr->loop.wheel, &sockPtr->wheelEntry);
    NsAssert(turn >= 0 && sockPtr->wheelEntry.nextPtr == NULL);
    NsSockSetState(threadPtr, sockPtr, NS_SOCK_BUSY_EVENT);
    NsInboxPut(&drvPtr->spoolers[turn]->loop.inbox, &sockPtr->inboxNode);
}

void
NsSockDestroy(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    bool      closesItself = (drvPtr->procs.opts & NS_DRIVER_LINGER) == 0;

    NsAssert(threadPtr->nSockets > 0);
    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->jobPtr == NULL && sockPtr->receiptPtr == NULL);
    NsWheelCancel(&threadPtr->loop.wheel, &sockPtr->wheelEntry);
    NsSockForgetPartial(threadPtr, sockPtr);
    NsSockDropRequest(sockPtr);
    NsSocksRemove(threadPtr, sockPtr);
    (void) atomic_fetch_sub_explicit(&threadPtr->nSockets, 1,
                                     memory_order_relaxed);
    threadPtr->nLeaving -= sockPtr->isLeaving;
    NsAssert(threadPtr->nLeaving >= 0
             && threadPtr->nLeaving <= threadPtr->nSockets);

    /*
     * epoll forgets a closed descriptor, unless it lives on elsewhere: with one
     * who took it, or with a child process until that runs its program.
     */
    if (sockPtr->isRegistered) {
        NsPollerRemove(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
    }
    if (!sockPtr->isShut) {
        drvPtr->procs.closeProc(&sockPtr->pub);
    } else {
        atomic_fetch_sub_explicit(&sockPtr->homePtr->nClosing, 1,
                                  memory_order_relaxed);
    }
    if (!closesItself && !sockPtr->isShared && sockPtr->pub.sock >= 0) {
        NsClose(sockPtr->pub.sock);
    }
    NsSlsFree(sockPtr);
    ns_free(sockPtr->clientData);
    ns_free(sockPtr);
}
