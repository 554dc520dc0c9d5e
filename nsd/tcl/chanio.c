/* SPDX-License-Identifier: MPL-2.0
 * chanio.c --
 *
 *      How the bytes of a channel get through its socket.
 */

#include "tcl/chanio.h"

#include "base/assert.h"
#include "base/lock.h"
#include "nsstring.h"
#include "nsthread.h"

#define READ_BYTES 65536

struct NsChanIo {
    NS_SOCKET sock; /* Constant. */

    /* TLS is used by one thread at a time; no call of it waits. */
    Ns_Mutex     lock;
    NsTlsClient *tlsPtr; /* Guarded by the lock; NULL: none, or shut. */
    Ns_Sock      taken;  /* Likewise; arg. */
    bool         isTls;  /* Constant: one of them. */
};

static int64_t SendPart(NsChanIo *ioPtr, const char *bytes, size_t length);
static int64_t ReceivePart(NsChanIo *ioPtr, char *buffer, size_t size);
static int64_t ResultOf(NsTlsStatus status, int n);

NsChanIo *
NsChanIoCreate(NS_SOCKET sock, NsTlsClient *tlsPtr, const Ns_Sock *takenPtr)
{
    NsChanIo *ioPtr = ns_calloc(1u, sizeof(*ioPtr));

    NsAssert(sock >= 0 && (tlsPtr == NULL || takenPtr == NULL));
    (void) Ns_SockSetNonBlocking(sock);
    ioPtr->sock = sock;
    ioPtr->tlsPtr = tlsPtr;
    if (takenPtr != NULL && takenPtr->arg != NULL) {
        NsAssert(takenPtr->sock == sock);
        ioPtr->taken = *takenPtr;
    }
    ioPtr->isTls = tlsPtr != NULL || ioPtr->taken.arg != NULL;
    NsMutexSetup(&ioPtr->lock, NS_RANK_TCL_MISC, "ns:connchan:io", NULL);
    return ioPtr;
}

void
NsChanIoDestroy(NsChanIo **ioPtrPtr)
{
    NsChanIo *ioPtr = *ioPtrPtr;

    *ioPtrPtr = NULL;
    NsChanIoShut(ioPtr);
    NsClose(ioPtr->sock);
    Ns_MutexDestroy(&ioPtr->lock);
    ns_free(ioPtr);
}

void
NsChanIoShut(NsChanIo *ioPtr)
{
    Ns_MutexLock(&ioPtr->lock);
    if (ioPtr->tlsPtr != NULL) {
        NsTlsClientDestroy(&ioPtr->tlsPtr);
    }
    if (ioPtr->taken.arg != NULL) {
        NsSockTakenClose(&ioPtr->taken);
    }
    Ns_MutexUnlock(&ioPtr->lock);
    (void) shutdown(ioPtr->sock, SHUT_RDWR);
}

NS_SOCKET
NsChanIoSock(const NsChanIo *ioPtr)
{
    return ioPtr->sock;
}

int64_t
NsChanIoSend(NsChanIo *ioPtr, const char *bytes, size_t length)
{
    size_t nSent = 0;

    while (nSent < length) {
        int64_t n = SendPart(ioPtr, bytes + nSent,
                             MIN(length - nSent, (size_t) INT_MAX));

        if (n > 0) {
            nSent += (size_t) n;
        } else if (n == 0 || errno == EAGAIN) {
            break;
        } else {
            return -1;
        }
    }
    return (int64_t) nSent;
}

static int64_t
SendPart(NsChanIo *ioPtr, const char *bytes, size_t length)
{
    ssize_t n;

    if (ioPtr->isTls) {
        int64_t result;
        int     nSent = 0;

        Ns_MutexLock(&ioPtr->lock);
        if (ioPtr->taken.arg != NULL) {
            result = NsSockTakenSend(&ioPtr->taken, bytes, length);
        } else if (ioPtr->tlsPtr == NULL) {
            errno = EPIPE;
            result = -1;
        } else {
            NsTlsStatus status = NsTlsClientSend(ioPtr->tlsPtr, bytes,
                                                 (int) length, &nSent);

            result = status == NS_TLS_END ? -1 : ResultOf(status, nSent);
        }
        Ns_MutexUnlock(&ioPtr->lock);
        return result;
    }
    do {
        n = send(ioPtr->sock, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n;
}

int
NsChanIoReceive(NsChanIo *ioPtr, Ns_DString *dsPtr, size_t limit,
                bool *isMorePtr)
{
    char    buffer[READ_BYTES];
    int64_t n;
    size_t  total = 0;

    do {
        n = ReceivePart(ioPtr, buffer, sizeof(buffer));
        if (n > 0) {
            Ns_DStringNAppend(dsPtr, buffer, (int) n);
            total += (size_t) n;
        }
    } while (total < limit && n > 0 && (ioPtr->isTls || n == READ_BYTES));
    *isMorePtr = ioPtr->isTls && n > 0;
    return total > 0 ? (int) total : (int) n;
}

static int64_t
ReceivePart(NsChanIo *ioPtr, char *buffer, size_t size)
{
    ssize_t n;

    if (ioPtr->isTls) {
        int64_t result;
        int     nRead = 0;

        Ns_MutexLock(&ioPtr->lock);
        if (ioPtr->taken.arg != NULL) {
            result = NsSockTakenReceive(&ioPtr->taken, buffer, size);
        } else if (ioPtr->tlsPtr == NULL) {
            result = 0;
        } else {
            NsTlsStatus status = NsTlsClientReceive(ioPtr->tlsPtr, buffer,
                                                    (int) size, &nRead);

            result = ResultOf(status, nRead);
        }
        Ns_MutexUnlock(&ioPtr->lock);
        return result;
    }
    do {
        n = recv(ioPtr->sock, buffer, size, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n;
}

static int64_t
ResultOf(NsTlsStatus status, int n)
{
    switch (status) {
    case NS_TLS_OK:
        return n;
    case NS_TLS_WAIT:
        errno = EAGAIN;
        return -1;
    case NS_TLS_END:
        return 0;
    default:
        errno = ECONNRESET;
        return -1;
    }
}
