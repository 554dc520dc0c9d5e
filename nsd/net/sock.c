/* SPDX-License-Identifier: MPL-2.0
 * sock.c --
 *
 *      A connection from the side of the thread that answers.
 */

#include "net/sock.h"
#include "net/h2answer.h"
#include "net/hostmap.h"
#include "net/output.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "net/writer.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nssockaddr.h"
#include "nssocket.h"
#include "base/assert.h"
#include "base/lock.h"
#include "http/location.h"

#include <netinet/tcp.h>

/*
 * Bodies of this size may be sent by the thread that answers, in one call.
 */
#define MAX_TRY_BYTES 2097152

static bool          IsRateLimited(const NsSock *sockPtr);
static Ns_ReturnCode SendWaiting(NsSock *sockPtr, const NsPiece *pieces,
                                 int nPieces, size_t skip);
static ssize_t SendPieces(NsSock *sockPtr, const NsPiece *pieces, int nPieces,
                          size_t skip);
static void    Break(NsSock *sockPtr, NsAbortReason reason);
static size_t  TotalBytes(const NsPiece *pieces, int nPieces);
static bool    MayWait(const NsSock *sockPtr);
static bool    IsLocalAddress(const NsSock *sockPtr, const char *authority);

Ns_ReturnCode
NsSockSend(NsSock *sockPtr, const NsPiece *pieces, int nPieces)
{
    size_t  total;
    ssize_t n = 0;

    if (unlikely(sockPtr->isStream)) {
        return NsH2Send(sockPtr, pieces, nPieces);
    }
    total = TotalBytes(pieces, nPieces);

    NsSockAssertHandedOver(sockPtr);
    NsAssert(nPieces >= 0 && !sockPtr->isTaken && !sockPtr->isShut);
    if (sockPtr->isBroken) {
        NsPiecesRelease(pieces, nPieces);
        return NS_ERROR;
    }
    if (sockPtr->jobPtr == NULL) {
        NsReceipt *receiptPtr = sockPtr->receiptPtr;

        if (unlikely(receiptPtr != NULL)) {
            /* Nobody else has it. */
            (void) NsReceiptBegin(receiptPtr);
        }
        n = SendPieces(sockPtr, pieces, nPieces, 0u);
        NsAssert(n < 0 || (size_t) n <= total);
        if (n < 0) {
            Break(sockPtr, NsSockAbortReason(sockPtr));
        }
        if (n < 0 || (size_t) n == total) {
            NsPiecesRelease(pieces, nPieces);
            return n < 0 ? NS_ERROR : NS_OK;
        }
        if (unlikely(receiptPtr != NULL)) {
            NsReceiptPause(receiptPtr);
        }
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

/*
 * The socket takes what fits into its buffer, and mostly that is all.  Longer
 * replies keep the calling thread from others for too long when the client is
 * fast, and so does encryption; what has a limit is sent in portions.
 */
bool
NsSockIsForWriter(const NsSock *sockPtr, int64_t bodyBytes)
{
    const NsSockSettings *settingsPtr = &sockPtr->drvPtr->settings;

    return settingsPtr->nWriters > 0 && bodyBytes >= settingsPtr->writerSize
        && (bodyBytes > MAX_TRY_BYTES || settingsPtr->isTls
            || IsRateLimited(sockPtr));
}

Ns_ReturnCode
NsSockQueue(NsSock *sockPtr, const NsPiece *pieces, int nPieces)
{
    int64_t total = (int64_t) TotalBytes(pieces, nPieces);

    NsSockAssertHandedOver(sockPtr);
    if (sockPtr->drvPtr->settings.nWriters == 0) {
        return NS_ERROR;
    }
    if (unlikely(sockPtr->isStream)) {
        return NsH2Send(sockPtr, pieces, nPieces);
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
NsSockHold(NsSock *sockPtr, NsReceipt *receiptPtr, int64_t bytes)
{
    NsAssert(sockPtr->receiptPtr == NULL);
    sockPtr->receiptPtr = receiptPtr;
    sockPtr->receiptBytes = bytes;
}

bool
NsSockIsGone(NsSock *sockPtr)
{
    return unlikely(sockPtr->isStream) && NsH2IsGone(sockPtr);
}

NsReceipt *
NsSockFollow(NsSock *sockPtr)
{
    if (unlikely(sockPtr->isStream)) {
        return NsH2Follow(sockPtr);
    }
    NsAssert(sockPtr->jobPtr != NULL);
    return NsWriterFollow(sockPtr);
}

void
NsSockFinish(NsSock *sockPtr, bool keep)
{
    NsSockAssertHandedOver(sockPtr);
    if (unlikely(sockPtr->isStream)) {
        NsH2Finish(sockPtr);
    } else if (sockPtr->jobPtr != NULL) {
        NsWriterFinish(sockPtr, keep);
    } else {
        NsSockGiveBack(sockPtr, keep);
    }
}

void
NsSockCut(NsSock *sockPtr)
{
    NsSockAssertHandedOver(sockPtr);
    NsSockCountAbort(sockPtr, NS_ABORT_ERROR);
    if (unlikely(sockPtr->isStream)) {
        sockPtr->isBroken = true;
    }
}

int
NsSockTake(NsSock *sockPtr, Ns_Sock *takenPtr)
{
    int fd = -1;

    NsSockAssertHandedOver(sockPtr);
    NsAssertNoneLocked();
    if (sockPtr->isStream) {
        if (takenPtr != NULL) {
            *takenPtr = sockPtr->pub;
            takenPtr->arg = NULL;
        }
        fd = NsH2Take(sockPtr);
        if (takenPtr != NULL) {
            takenPtr->sock = fd;
        }
        return fd;
    }
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
    if (takenPtr != NULL) {
        *takenPtr = sockPtr->pub;
        takenPtr->sock = fd;
        if (fd >= 0) {
            sockPtr->pub.arg = NULL;
        } else {
            takenPtr->arg = NULL;
        }
    }
    sockPtr->isBroken = true;
    NsSockGiveBack(sockPtr, false);
    return fd;
}

static const Ns_DriverInitData *
ProcsOf(const Ns_Sock *takenPtr)
{
    const NsDriver *drvPtr = (const NsDriver *) (void *) takenPtr->driver;

    NsAssert(takenPtr->arg != NULL);
    return &drvPtr->procs;
}

void
NsSockTakenClose(Ns_Sock *takenPtr)
{
    ProcsOf(takenPtr)->closeProc(takenPtr);
    takenPtr->arg = NULL;
}

/*
 * A driver returns 0 for "not now", and -1 for all else.
 */
int64_t
NsSockTakenSend(Ns_Sock *takenPtr, const char *bytes, size_t length)
{
    struct iovec iov = {(void *) (uintptr_t) bytes, length};
    Ns_Time      noWait = {0, 0};
    ssize_t      n = ProcsOf(takenPtr)->sendProc(takenPtr, &iov, 1, &noWait, 0);

    if (n <= 0) {
        errno = n == 0 ? EAGAIN : EPIPE;
        return -1;
    }
    return n;
}

int64_t
NsSockTakenReceive(Ns_Sock *takenPtr, char *buffer, size_t size)
{
    struct iovec iov = {buffer, size};
    Ns_Time      noWait = {0, 0};
    ssize_t      n = ProcsOf(takenPtr)->recvProc(takenPtr, &iov, 1, &noWait, 0);

    if (n == 0) {
        errno = EAGAIN;
        return -1;
    }
    return n < 0 ? 0 : n;
}

int64_t
NsSockBytes(const NsSock *sockPtr)
{
    return sockPtr->nBytes;
}

bool
NsSockIsQueued(const NsSock *sockPtr)
{
    return unlikely(sockPtr->isStream)
        ? NsH2IsQueued(sockPtr)
        : sockPtr->jobPtr != NULL;
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

atomic_int *
NsSockWaitingCount(NsSock *sockPtr)
{
    return &sockPtr->homePtr->nWaiting;
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

    if (sockPtr->isStream) {
        Tcl_DStringAppend(dsPtr, NsH2Details(sockPtr), -1);
    } else if (proc != NULL && sockPtr->jobPtr == NULL) {
        (*proc)(&sockPtr->pub, dsPtr);
    }
}

/*
 * Of TLS, what is left to read may be the farewell.
 */
bool
NsSockHasLeft(const NsSock *sockPtr, bool isOnlyReset)
{
    struct pollfd look = {.fd = sockPtr->pub.sock,
                          .events = POLLIN | POLLRDHUP};

    if (look.fd < 0 || sockPtr->isShared || sockPtr->isStream
        || poll(&look, 1, 0) <= 0) {
        return false;
    }
    if ((look.revents & (POLLERR | POLLHUP)) != 0) {
        return true;
    }
    return (look.revents & POLLRDHUP) != 0 && !isOnlyReset
        && (sockPtr->drvPtr->settings.isTls || !NsSockHasUnread(sockPtr));
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
        ? NS_OK
        : procsPtr->requestProc(procsPtr->arg, conn);
}

const NsSockSettings *
NsSockGetSettings(const NsSock *sockPtr)
{
    return &sockPtr->drvPtr->settings;
}

int64_t
NsSockMaxInput(const NsSock *sockPtr)
{
    return atomic_load_explicit(&sockPtr->drvPtr->params.maxInput,
                                memory_order_relaxed);
}

bool
NsSockIsHostKnown(const NsSockSettings *settingsPtr, const char *host)
{
    return settingsPtr->hostMapPtr == NULL
        || NsHostMapKnows(settingsPtr->hostMapPtr, host);
}

bool
NsSockIsForUs(const NsSock *sockPtr, const char *authority)
{
    const NsDriver *drvPtr = sockPtr->drvPtr;
    const char     *location = drvPtr->pub.location;

    if (authority == NULL || drvPtr->settings.hostMapPtr != NULL) {
        return authority != NULL
            && NsHostMapKnows(drvPtr->settings.hostMapPtr, authority);
    }
    for (int i = 0; i < drvPtr->nAddresses; i++) {
        if (NsHostIsSame(authority, drvPtr->addresses[i])) {
            return true;
        }
    }
    return NsHostIsSame(authority, strstr(location, "://") + 3)
        || NsHostIsSame(authority, drvPtr->pub.address)
        || NsHostIsSame(authority, Ns_InfoHostname())
        || NsHostIsSame(authority, "localhost")
        || IsLocalAddress(sockPtr, authority);
}

/*
 * The address that the client has connected to.
 */
static bool
IsLocalAddress(const NsSock *sockPtr, const char *authority)
{
    struct sockaddr_storage address;
    socklen_t               length = sizeof(address);
    char                    text[NS_IPADDR_SIZE];

    return getsockname(sockPtr->pub.sock, (struct sockaddr *) &address, &length)
        == 0
        && ns_inet_ntop((const struct sockaddr *) &address, text, sizeof(text))
        != NULL
        && NsHostIsSame(authority, text);
}

void
NsSockSetNotes(NsSock *sockPtr, const NsSockNotes *notesPtr)
{
    sockPtr->notes = *notesPtr;
    if (unlikely(sockPtr->isStream)) {
        NsH2SetRate(sockPtr, notesPtr->bytesPerSecond);
    }
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
    if (sockPtr->isStream) {
        NsH2SetRate(sockPtr, bytesPerSecond);
    } else if (sockPtr->jobPtr != NULL) {
        NsWriterSetRate(sockPtr->jobPtr, bytesPerSecond);
    }
}

void
NsSockSetClientData(NsSock *sockPtr, const char *clientData)
{
    ns_free(sockPtr->clientData);
    sockPtr->clientData = ns_strcopy(clientData);
}

static bool
IsRateLimited(const NsSock *sockPtr)
{
    const NsRate *sharedPtr = NsSockGroupRate(sockPtr);
    const NsRate *driverPtr = &sockPtr->drvPtr->rate;

    return sockPtr->notes.bytesPerSecond > 0
        || atomic_load_explicit(&driverPtr->bytesPerSecond,
                                memory_order_relaxed)
        > 0
        || (sharedPtr != NULL
            && atomic_load_explicit(&sharedPtr->bytesPerSecond,
                                    memory_order_relaxed)
                > 0);
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
        if (sent == 0
            || ((size_t) sent < asked
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
        ssize_t n;

        if (Ns_SockTimedWait(sockPtr->pub.sock, NS_SOCK_WRITE, &wait)
            != NS_OK) {
            Break(sockPtr, NS_ABORT_SENDWAIT);
            break;
        }
        n = SendPieces(sockPtr, pieces, nPieces, skip);
        if (n < 0) {
            Break(sockPtr, NsSockAbortReason(sockPtr));
        } else {
            skip += (size_t) n;
        }
    }
    NsPiecesRelease(pieces, nPieces);
    return sockPtr->isBroken ? NS_ERROR : NS_OK;
}

static void
Break(NsSock *sockPtr, NsAbortReason reason)
{
    sockPtr->isBroken = true;
    NsSockCountAbort(sockPtr, reason);
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
    return NsReadThreadSelf() == NULL;
}
