/*
 * sock.c --
 *
 *      A connection from the side of the thread that answers.
 */

#include "net/driver_int.h"
#include "net/output.h"
#include "nslog.h"
#include "nssocket.h"
#include "base/assert.h"
#include "base/lock.h"

#include <netinet/tcp.h>

static Ns_ReturnCode SendWaiting(NsSock *sockPtr, const NsPiece *pieces,
                                 int nPieces, size_t skip);
static ssize_t SendPieces(NsSock *sockPtr, const NsPiece *pieces, int nPieces,
                          size_t skip);
static size_t TotalBytes(const NsPiece *pieces, int nPieces);
static bool   MayWait(const NsSock *sockPtr);
static ssize_t SendFileRange(NsSock *sockPtr, const Ns_FileVec *vecPtr);

Ns_ReturnCode
NsSockSend(NsSock *sockPtr, const NsPiece *pieces, int nPieces)
{
    size_t  total = TotalBytes(pieces, nPieces);
    ssize_t n = 0;

    NsSockAssertHandedOver(sockPtr);
    NsAssert(nPieces >= 0 && !sockPtr->isTaken && !sockPtr->isShut);
    if (sockPtr->isBroken) {
        NsPiecesRelease(pieces, nPieces);
        return NS_ERROR;
    }
    if (sockPtr->jobPtr == NULL) {
        if (unlikely(sockPtr->heldPtr != NULL)) {
            NsHeldPrepare(sockPtr->heldPtr);
        }
        n = SendPieces(sockPtr, pieces, nPieces, 0u);
        NsAssert(n < 0 || (size_t) n <= total);
        if (n < 0) {
            sockPtr->isBroken = true;
        }
        if (n < 0 || (size_t) n == total) {
            NsPiecesRelease(pieces, nPieces);
            return n < 0 ? NS_ERROR : NS_OK;
        }
        NsHeldForget(sockPtr->heldPtr);
        if (sockPtr->drvPtr->settings.nWriters == 0 && MayWait(sockPtr)) {
            return SendWaiting(sockPtr, pieces, nPieces, (size_t) n);
        }
    }
    if (NsWriterAppend(sockPtr, pieces, nPieces, (size_t) n) != NS_OK) {
        sockPtr->isBroken = true;
        return NS_ERROR;
    }
    sockPtr->nBytes += (int64_t) total - n;
    return NS_OK;
}

Ns_ReturnCode
NsSockQueue(NsSock *sockPtr, const NsPiece *pieces, int nPieces)
{
    int64_t total = (int64_t) TotalBytes(pieces, nPieces);

    NsSockAssertHandedOver(sockPtr);
    if (sockPtr->drvPtr->settings.nWriters == 0) {
        return NS_ERROR;
    }
    if (sockPtr->isBroken) {
        NsPiecesRelease(pieces, nPieces);
    } else if (NsWriterAppend(sockPtr, pieces, nPieces, 0u) != NS_OK) {
        sockPtr->isBroken = true;
    } else {
        sockPtr->nBytes += total;
    }
    return NS_OK;
}

void
NsSockHold(NsSock *sockPtr, NsHeld *heldPtr, int64_t bytes)
{
    NsAssert(sockPtr->heldPtr == NULL && heldPtr != NULL);
    sockPtr->heldPtr = heldPtr;
    sockPtr->heldBytes = bytes;
}

NsDelivery *
NsSockFollow(NsSock *sockPtr)
{
    NsAssert(sockPtr->jobPtr != NULL);
    return NsWriterFollow(sockPtr);
}

void
NsSockFinish(NsSock *sockPtr, bool keep)
{
    NsSockAssertHandedOver(sockPtr);
    if (sockPtr->jobPtr != NULL) {
        NsWriterFinish(sockPtr, keep);
    } else {
        NsSockGiveBack(sockPtr, keep);
    }
}

int
NsSockTake(NsSock *sockPtr)
{
    int fd = -1;

    NsSockAssertHandedOver(sockPtr);
    NsAssertNoneLocked();
    if (sockPtr->jobPtr != NULL && NsWriterDrain(sockPtr) != NS_OK) {
        sockPtr->isBroken = true;
    }
    if (!sockPtr->isBroken) {
        /* A duplicate: the driver thread may be handling an event of ours. */
        fd = fcntl(sockPtr->pub.sock, F_DUPFD_CLOEXEC, 0);
    }
    if (fd >= 0) {
        Ns_SockSetBlocking(fd);
        sockPtr->isTaken = true;
    }
    sockPtr->isBroken = true;
    NsSockGiveBack(sockPtr, false);
    return fd;
}

int64_t
NsSockBytes(const NsSock *sockPtr)
{
    return sockPtr->nBytes;
}

bool
NsSockIsQueued(const NsSock *sockPtr)
{
    return sockPtr->jobPtr != NULL;
}

int
NsSockFd(const NsSock *sockPtr)
{
    return sockPtr->pub.sock;
}

Ns_Sock *
NsSockPublic(NsSock *sockPtr)
{
    return &sockPtr->pub;
}

Ns_Driver *
NsSockDriver(const NsSock *sockPtr)
{
    return &sockPtr->drvPtr->pub;
}

void
NsSockDetails(NsSock *sockPtr, Ns_DString *dsPtr)
{
    Ns_DriverDetailsProc *proc = sockPtr->drvPtr->procs.detailsProc;

    if (proc != NULL && sockPtr->jobPtr == NULL) {
        (*proc)(&sockPtr->pub, dsPtr);
    }
}

bool
NsSockHasRequestProc(const NsSock *sockPtr)
{
    return sockPtr->drvPtr->procs.requestProc != NULL;
}

Ns_ReturnCode
NsSockRequestProc(NsSock *sockPtr, Ns_Conn *conn)
{
    const Ns_DriverInitData *procsPtr = &sockPtr->drvPtr->procs;

    return procsPtr->requestProc == NULL
        ? NS_OK : procsPtr->requestProc(procsPtr->arg, conn);
}

const NsSockSettings *
NsSockGetSettings(const NsSock *sockPtr)
{
    return &sockPtr->drvPtr->settings;
}

void
NsSockSetNotes(NsSock *sockPtr, const NsSockNotes *notesPtr)
{
    sockPtr->notes = *notesPtr;
}

int64_t
NsSockGetBytesPerSecond(const NsSock *sockPtr)
{
    return sockPtr->notes.bytesPerSecond;
}

void
NsSockSetBytesPerSecond(NsSock *sockPtr, int64_t bytesPerSecond)
{
    sockPtr->notes.bytesPerSecond = bytesPerSecond;
    if (sockPtr->jobPtr != NULL) {
        NsWriterSetRate(sockPtr->jobPtr, bytesPerSecond);
    }
}

void
NsSockSetClientData(NsSock *sockPtr, const char *clientData)
{
    ns_free(sockPtr->clientData);
    sockPtr->clientData = ns_strcopy(clientData);
}

void
NsSockGiveBack(NsSock *sockPtr, bool keep)
{
    NsDriver       *drvPtr = sockPtr->drvPtr;
    NsDriverThread *homePtr = sockPtr->homePtr;

    NsSockAssertHandedOver(sockPtr);
    NsAssert(sockPtr->jobPtr == NULL);
    if (sockPtr->heldPtr != NULL) {
        NsHeldPut(sockPtr->heldPtr, sockPtr->heldBytes - sockPtr->nBytes);
        sockPtr->heldPtr = NULL;
    }
    sockPtr->nBytes = 0;
    if (sockPtr->clientData != NULL) {
        ns_free(sockPtr->clientData);
        sockPtr->clientData = NULL;
    }
    keep = keep && !sockPtr->isBroken && drvPtr->settings.keepWait > 0
        && drvPtr->procs.keepProc != NULL
        && drvPtr->procs.keepProc(&sockPtr->pub);
    if (keep) {
        atomic_store_explicit(&sockPtr->deadline, NsClockRecent()
            + drvPtr->settings.keepWait, memory_order_relaxed);
    } else {
        NsSockBeginClose(sockPtr);
    }
    if (NsDriverThreadSelf() == homePtr) {
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

    if (sockPtr->isBroken || drvPtr->params.closeWait == 0
            || (drvPtr->procs.opts & NS_DRIVER_LINGER) == 0) {
        sockPtr->mode = NS_SOCK_DEAD;
        return;
    }
    NsAssert(!sockPtr->isShut);
    drvPtr->procs.closeProc(&sockPtr->pub);
    sockPtr->isShut = true;
    if (shutdown(sockPtr->pub.sock, SHUT_WR) != 0) {
        sockPtr->mode = NS_SOCK_DEAD;
        return;
    }
    now = NsClockNow();
    sockPtr->acceptStamp = now;
    sockPtr->mode = NS_SOCK_CLOSING;
    atomic_store_explicit(&sockPtr->deadline,
                          now + drvPtr->params.closeWait,
                          memory_order_relaxed);
}

ssize_t
NsSockSendNow(NsSock *sockPtr, const Ns_FileVec *vecs, int nVecs)
{
    const Ns_DriverInitData *procsPtr = &sockPtr->drvPtr->procs;
    Ns_Time      noWait = {0, 0};
    struct iovec iov[NS_OUTPUT_PIECES];
    int          n = 0;

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
    char         buffer[65536];
    size_t       room = (size_t) MAX(sockPtr->drvPtr->params.writerBufSize,
                                     16384);
    Ns_Time      noWait = {0, 0};
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
        return -1;
    }
    return sockPtr->drvPtr->procs.sendProc(&sockPtr->pub, &iov, 1, &noWait, 0);
}

/*
 * Send as much as the client takes, and count it; the number of bytes behind
 * skip, or -1.
 */
static ssize_t
SendPieces(NsSock *sockPtr, const NsPiece *pieces, int nPieces, size_t skip)
{
    Ns_FileVec vecs[NS_OUTPUT_PIECES];
    ssize_t    total = 0;
    int        first = 0;

    for (;;) {
        size_t  asked = 0u;
        int     n = 0;
        ssize_t sent;

        while (first < nPieces && skip >= pieces[first].length) {
            skip -= pieces[first].length;
            first++;
        }
        for (int i = first; i < nPieces && n < NS_OUTPUT_PIECES; i++) {
            const NsPiece *piecePtr = &pieces[i];
            size_t         done = i == first ? skip : 0u;
            size_t         length = piecePtr->length - done;

            if (length == 0u) {
                continue;
            }
            if (piecePtr->fd >= 0) {
                Ns_SetFileVec(vecs, n, piecePtr->fd, NULL,
                              piecePtr->offset + (off_t) done, length);
            } else {
                Ns_SetFileVec(vecs, n, -1, (const char *) piecePtr->base + done,
                              0, length);
            }
            asked += length;
            n++;
        }
        if (n == 0) {
            return total;
        }
        sent = NsSockSendNow(sockPtr, vecs, n);
        if (sent < 0) {
            return -1;
        }
        NsAssert((size_t) sent <= asked);
        total += sent;
        sockPtr->nBytes += sent;
        skip += (size_t) sent;
        if (sent == 0 || ((size_t) sent < asked
                && (sockPtr->drvPtr->procs.opts & NS_DRIVER_FULLIO) != 0)) {
            return total;
        }
    }
}

/*
 * Without writer threads, as in 4.99.5: the thread waits for the client, each
 * time at most sendwait.
 */
static Ns_ReturnCode
SendWaiting(NsSock *sockPtr, const NsPiece *pieces, int nPieces, size_t skip)
{
    size_t total = TotalBytes(pieces, nPieces);

    NsAssertNoneLocked();
    while (!sockPtr->isBroken && skip < total) {
        Ns_Time wait = NsClockSpan(0, sockPtr->drvPtr->params.sendWait);
        ssize_t n = -1;

        if (Ns_SockTimedWait(sockPtr->pub.sock, NS_SOCK_WRITE, &wait)
                == NS_OK) {
            n = SendPieces(sockPtr, pieces, nPieces, skip);
        }
        if (n < 0) {
            sockPtr->isBroken = true;
        } else {
            skip += (size_t) n;
        }
    }
    NsPiecesRelease(pieces, nPieces);
    return sockPtr->isBroken ? NS_ERROR : NS_OK;
}

static size_t
TotalBytes(const NsPiece *pieces, int nPieces)
{
    size_t total = 0u;

    for (int i = 0; i < nPieces; i++) {
        total += pieces[i].length;
    }
    return total;
}

/*
 * A driver or spooler thread never waits for a client.
 */
static bool
MayWait(const NsSock *sockPtr)
{
    return NsDriverThreadSelf() == NULL;
}
