/* SPDX-License-Identifier: MPL-2.0
 * sockio.c --
 *
 *      What the owner of a socket does with it, whatever thread that is: send,
 *      and let go.
 */

#include "net/sockio.h"
#include "net/output.h"
#include "net/sockstate.h"
#include "base/assert.h"
#include "nssocket.h"

static ssize_t SendVecs(NsSock *sockPtr, const Ns_FileVec *vecs, int nVecs);
static ssize_t SendFileRange(NsSock *sockPtr, const Ns_FileVec *vecPtr);

void
NsSockGiveBack(NsSock *sockPtr, bool keep)
{
    NsDriver       *drvPtr = sockPtr->drvPtr;
    NsDriverThread *homePtr = sockPtr->homePtr;

    NsSockAssertHandedOver(sockPtr);
    NsAssert(sockPtr->jobPtr == NULL);
    if (sockPtr->receiptPtr != NULL) {
        (void) NsReceiptEnd(sockPtr->receiptPtr,
                            sockPtr->receiptBytes - sockPtr->nBytes);
        sockPtr->receiptPtr = NULL;
    }
    sockPtr->nBytes = 0;
    if (sockPtr->clientData != NULL) {
        ns_free(sockPtr->clientData);
        sockPtr->clientData = NULL;
    }
    keep = keep && !sockPtr->isBroken && !sockPtr->isShared
        && drvPtr->settings.keepWait > 0 && drvPtr->procs.keepProc != NULL
        && drvPtr->procs.keepProc(&sockPtr->pub);
    if (keep) {
        atomic_store_explicit(&sockPtr->deadline,
                              NsClockRecent() + drvPtr->settings.keepWait,
                              memory_order_relaxed);
    } else {
        NsSockBeginClose(sockPtr);
    }
    if (NsReadThreadSelf() == homePtr) {
        /* A direct answer: the caller of the ready procedure continues. */
        NsSockSetState(homePtr, sockPtr, NS_SOCK_DRIVER);
        return;
    }
    if (sockPtr->mode != NS_SOCK_DEAD
        && NsSockLeaveBusy(sockPtr, NS_SOCK_DRIVER) == NS_SOCK_BUSY) {
        return;
    }
    NsInboxPut(&homePtr->loop.inbox, &sockPtr->inboxNode);
}

/*
 * Closing a socket with unread bytes resets the connection, and the client may
 * lose our last bytes.  So only our side is shut, and what the client still
 * sends is read for a while.
 */
void
NsSockBeginClose(NsSock *sockPtr)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    NsStamp   now;

    if (sockPtr->isBroken || sockPtr->isShared || drvPtr->params.closeWait == 0
        || (drvPtr->procs.opts & NS_DRIVER_LINGER) == 0) {
        sockPtr->mode = NS_SOCK_DEAD;
        return;
    }
    NsAssert(!sockPtr->isShut);
    drvPtr->procs.closeProc(&sockPtr->pub);
    sockPtr->isShut = true;
    atomic_fetch_add_explicit(&sockPtr->homePtr->nClosing, 1,
                              memory_order_relaxed);
    if (shutdown(sockPtr->pub.sock, SHUT_WR) != 0) {
        sockPtr->mode = NS_SOCK_DEAD;
        return;
    }
    now = NsClockNow();
    sockPtr->acceptStamp = now;
    sockPtr->mode = NS_SOCK_CLOSING;
    atomic_store_explicit(&sockPtr->deadline, now + drvPtr->params.closeWait,
                          memory_order_relaxed);
}

ssize_t
NsSockSendNow(NsSock *sockPtr, const Ns_FileVec *vecs, int nVecs)
{
    ssize_t n = SendVecs(sockPtr, vecs, nVecs);

    if (unlikely(n < 0) && atomic_load(&sockPtr->sendErrno) == 0) {
        atomic_store(&sockPtr->sendErrno, (unsigned long) errno);
    }
    return n;
}

void
NsSockCountAbort(NsSock *sockPtr, NsAbortReason reason)
{
    NsReplyGroup *groupPtr = sockPtr->notes.groupPtr;

    NsAssert(reason >= 0 && reason < NS_ABORT_REASONS);
    if (!atomic_exchange_explicit(&sockPtr->isAborted, true,
                                  memory_order_relaxed)
        && groupPtr != NULL) {
        atomic_fetch_add_explicit(&groupPtr->nAborted[reason], 1,
                                  memory_order_relaxed);
    }
}

NsAbortReason
NsSockAbortReason(const NsSock *sockPtr)
{
    return atomic_load(&sockPtr->sendErrno) == EIO
        ? NS_ABORT_ERROR
        : NS_ABORT_CLIENT;
}

unsigned long
Ns_SockGetSendErrno(const Ns_Sock *sock)
{
    return atomic_load(&((const NsSock *) (const void *) sock)->sendErrno);
}

void
Ns_SockSetSendErrno(Ns_Sock *sock, unsigned long error)
{
    atomic_store(&((NsSock *) (void *) sock)->sendErrno, error);
}

static ssize_t
SendVecs(NsSock *sockPtr, const Ns_FileVec *vecs, int nVecs)
{
    const Ns_DriverInitData *procsPtr = &sockPtr->drvPtr->procs;
    Ns_Time                  noWait = {0, 0};
    struct iovec             iov[NS_OUTPUT_PIECES];
    int                      n = 0;

    NsAssert(nVecs >= 0 && nVecs <= NS_OUTPUT_PIECES);
    while (n < MIN(nVecs, NS_OUTPUT_PIECES) && vecs[n].fd < 0) {
        iov[n].iov_base = INT2PTR(vecs[n].offset);
        iov[n].iov_len = vecs[n].length;
        n++;
    }
    if (n == nVecs) {
        return procsPtr->sendProc(&sockPtr->pub, iov, n, &noWait, 0);
    }
    if (procsPtr->sendFileProc != NULL) {
        return procsPtr->sendFileProc(&sockPtr->pub, (Ns_FileVec *) vecs, nVecs,
                                      &noWait, 0);
    }
    if (n > 0) {
        return procsPtr->sendProc(&sockPtr->pub, iov, n, &noWait, 0);
    }
    return SendFileRange(sockPtr, &vecs[0]);
}

/*
 * The same for a part of a file, when the driver cannot send files.
 */
static ssize_t
SendFileRange(NsSock *sockPtr, const Ns_FileVec *vecPtr)
{
    char    buffer[65536];
    size_t  room = (size_t) MAX(sockPtr->drvPtr->params.writerBufSize, 16384);
    Ns_Time noWait = {0, 0};
    struct iovec iov = {buffer, 0u};
    ssize_t      n;

    NsAssert(vecPtr->fd >= 0 && vecPtr->length > 0u);
    room = MIN(MIN(room, sizeof(buffer)), vecPtr->length);
    /* All of it: a TLS layer wants no less than it was given before. */
    do {
        n = pread(vecPtr->fd, buffer + iov.iov_len, room - iov.iov_len,
                  vecPtr->offset + (off_t) iov.iov_len);
        iov.iov_len += n > 0 ? (size_t) n : 0u;
    } while ((n > 0 && iov.iov_len < room) || (n < 0 && errno == EINTR));
    if (n <= 0) {
        /* Shorter than announced: the reply cannot be completed. */
        errno = EIO;
        return -1;
    }
    return sockPtr->drvPtr->procs.sendProc(&sockPtr->pub, &iov, 1, &noWait, 0);
}
