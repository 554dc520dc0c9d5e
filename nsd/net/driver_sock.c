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

void
NsSockWatch(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    unsigned what = NS_POLL_READ | NS_POLL_EDGE;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->mode != NS_SOCK_DEAD);
    if (sockPtr->isRegistered) {
        NsPollerResume(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
        return;
    }
    if ((sockPtr->drvPtr->procs.opts & NS_DRIVER_SSL) != 0) {
        /* A TLS layer may have to write before it can read. */
        what |= NS_POLL_WRITE;
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
        NsSockHurry(threadPtr, sockPtr, now + NS_STOP_GRACE);
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
    threadPtr->nSockets--;
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
