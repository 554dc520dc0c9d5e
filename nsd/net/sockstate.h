/* SPDX-License-Identifier: MPL-2.0
 * sockstate.h --
 *
 *      The owner of a socket, and its state.
 */

#ifndef NSD_NET_SOCKSTATE_H
#define NSD_NET_SOCKSTATE_H

#include "net/readthread.h"
#include "base/assert.h"

struct NsProxyHeader;

/*
 * The one place where the state is stored: the driver thread takes its socket
 * back, or gives it away.  A spooler thread gives away what it has.
 */
static inline void
NsSockSetState(const NsDriverThread *threadPtr, NsSock *sockPtr,
               NsSockState state)
{
    int old = atomic_load_explicit(&sockPtr->state, memory_order_relaxed);

    NsCheck(threadPtr == NsReadThreadSelf());
    if (threadPtr->kindPtr->ownState == NS_SOCK_DRIVER) {
        NsAssert(sockPtr->homePtr == threadPtr);
        NsAssert((old == NS_SOCK_DRIVER) != (state == NS_SOCK_DRIVER));
    } else {
        NsAssert(old == NS_SOCK_BUSY_EVENT && state == NS_SOCK_BUSY_EVENT);
    }
    atomic_store_explicit(&sockPtr->state, (int) state, memory_order_release);
}

/*
 * The one place where it changes under the eyes of others: BUSY becomes DRIVER
 * by the thread that answers, BUSY_EVENT by the driver thread.  The state that
 * was there; NS_SOCK_BUSY: it has changed.
 */
static inline NsSockState
NsSockLeaveBusy(NsSock *sockPtr, NsSockState state)
{
    int old = NS_SOCK_BUSY;

    NsAssert(state != NS_SOCK_BUSY);
    NsCheck((NsReadThreadSelf() == sockPtr->homePtr)
            == (state == NS_SOCK_BUSY_EVENT));
    (void) atomic_compare_exchange_strong_explicit(&sockPtr->state, &old,
                                                   (int) state,
                                                   memory_order_acq_rel,
                                                   memory_order_acquire);
    return (NsSockState) old;
}

/*
 * The calling driver or spooler thread has the socket; it has been handed over
 * to a thread that answers.
 */
static inline void
NsSockAssertMine(const NsDriverThread *threadPtr, const NsSock *sockPtr)
{
    NsCheck(threadPtr == NsReadThreadSelf());
    NsAssert(sockPtr->state == (int) threadPtr->kindPtr->ownState);
    NsAssert(sockPtr->homePtr == threadPtr
             || sockPtr->state == NS_SOCK_BUSY_EVENT);
    NsAssert(sockPtr->messagePtr == NULL
             || (sockPtr->messagePtr->readerPtr != NULL
                 && sockPtr->messagePtr->sockPtr == NULL));
}

static inline void
NsSockAssertHandedOver(const NsSock *sockPtr)
{
    NsAssert(atomic_load_explicit(&sockPtr->state, memory_order_relaxed)
             != NS_SOCK_DRIVER);
}

/*
 * The calls below are for the thread that reads from the socket.
 *
 * The peer is the one whose address is in Ns_Sock.sa; an IPv4-mapped address
 * is one of IPv4, but for a driver that sends to it.
 */
void NsSockNotePeer(NsSock *sockPtr);

/*
 * A proxy has named the client.
 */
void NsSockSetPeer(NsSock *sockPtr, const struct NsProxyHeader *headerPtr);

/*
 * True when no byte of a request, or of a handshake, has arrived; when one has.
 */
bool NsSockIsIdle(const NsSock *sockPtr);
bool NsSockHasBegun(const NsSock *sockPtr);

/*
 * Since when a kept connection has been idle, which it is: the end of its last
 * reply.  Any thread that may read the deadline.
 */
NsStamp NsSockKeptSince(const NsSock *sockPtr);

/*
 * When the body that is arriving began to, with its head; 0: none is.
 */
NsStamp NsSockBodySince(const NsSock *sockPtr);

/*
 * True when there is something to read, whether or not the poller has reported
 * it.
 */
bool NsSockHasUnread(const NsSock *sockPtr);

/*
 * Forget a half-received request.
 */
void NsSockDropRequest(NsSock *sockPtr);

/*
 * Count the socket among those with a half-received request of its peer; the
 * peer's number of them.
 */
int  NsSockCountPartial(NsDriverThread *threadPtr, NsSock *sockPtr);
void NsSockForgetPartial(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The longest time after which a socket must be looked at again.
 */
NsStamp NsSockShortestWait(const NsDriver *drvPtr);

#endif
