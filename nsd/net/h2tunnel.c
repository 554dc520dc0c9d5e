/* SPDX-License-Identifier: MPL-2.0
 * h2tunnel.c --
 *
 *      Tunnels: bytes between the frames of a stream and a socket.
 *
 *      To the client: nghttp2 asks for a frame when the windows allow one, and
 *      it is read from the socket then.  Nothing is kept in between; what the
 *      client has no window for stays in the socket, whose other end is told
 *      that it is full.  From the client: what the socket does not take is
 *      kept, at most the window of the stream, which opens only for what the
 *      socket has taken.
 *
 *      The poller reports as long as a condition holds.  So our end is watched
 *      for reading unless there is something to read that the client has no
 *      window for, and for writing only while something is kept.  Once the
 *      other end is closed it is not watched any more: from then on reading
 *      gives data or the end, and never has to wait.
 *
 *      An event only puts the session into the inbox of its thread, since
 *      serving it might end what a later event of the same wait belongs to.
 *      For the same reason a tunnel that is over is freed when all events are
 *      handled.
 */

#include "net/h2tunnel.h"
#include "net/h2head.h"
#include "net/readthread.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "nssocket.h"
#include "base/assert.h"

#include <sys/socket.h>

#define HEAD_BYTES 4096

/*
 * What all tunnels of a connection may keep before its window stays shut, too:
 * until then other streams are not held by them.
 */
#define MAX_INWARD (4u << 20)

static void           Check(const NsH2Stream *streamPtr);
static NsH2TunnelStep ReadHead(NsH2Stream *streamPtr);
static ssize_t Receive(NsH2Tunnel *tunnelPtr, void *buffer, size_t length);
static size_t  SendNow(NsH2Stream *streamPtr, const char *bytes, size_t length);
static void    Keep(NsH2Stream *streamPtr, const char *bytes, size_t length);
static void    Drop(NsH2Stream *streamPtr, size_t length);
static void    GiveCredit(NsH2Session *sessionPtr);
static void    HangUp(NsH2Tunnel *tunnelPtr);
static bool    Watch(NsH2Tunnel *tunnelPtr, unsigned what);
static void    SetQuiet(NsH2Stream *streamPtr, bool isQuiet);

NsH2Tunnel *
NsH2TunnelCreate(NsH2Stream *streamPtr, int *fdPtr)
{
    NsH2Tunnel *tunnelPtr;
    int         fds[2];

    NsAssert(streamPtr->isConnect);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return NULL;
    }
    tunnelPtr = ns_calloc(1u, sizeof(NsH2Tunnel));
    NsAssert(((uintptr_t) tunnelPtr & 3u) == 0u);
    tunnelPtr->streamPtr = streamPtr;
    tunnelPtr->fd = fds[0];
    *fdPtr = fds[1];
    return tunnelPtr;
}

/*
 * What holds between any two calls.
 */
static void
Check(const NsH2Stream *streamPtr)
{
    const NsH2Session *sessionPtr = streamPtr->sessionPtr;
    const NsH2Tunnel  *tunnelPtr = streamPtr->tunnelPtr;

    NsCheck(NsReadThreadSelf() == sessionPtr->threadPtr);
    NsAssert(streamPtr->isConnect);
    NsAssert(streamPtr->inward.used <= NS_H2_WINDOW);
    NsAssert(streamPtr->inward.used <= sessionPtr->inwardBytes);
    NsAssert(sessionPtr->heldBytes <= sessionPtr->inwardBytes);
    NsAssert(sessionPtr->nQuiet >= 0
             && sessionPtr->nQuiet <= sessionPtr->nOpen);
    if (tunnelPtr != NULL) {
        NsAssert(tunnelPtr->streamPtr == streamPtr && tunnelPtr->fd >= 0);
        NsAssert(!tunnelPtr->isHungUp || !tunnelPtr->isAdded);
        NsAssert(!tunnelPtr->isHungUp
                 || (streamPtr->inward.used == 0u && !streamPtr->isQuiet));
        NsAssert(!tunnelPtr->isAdded || streamPtr->inward.used == 0u
                 || (tunnelPtr->watched & NS_POLL_WRITE) != 0u);
    }
}

NsH2TunnelStep
NsH2TunnelOpen(NsH2Stream *streamPtr)
{
    NsH2Tunnel    *tunnelPtr = streamPtr->tunnelPtr;
    NsH2TunnelStep step;

    NsAssert(!streamPtr->isSubmitted && !streamPtr->isClosed);
    NsAssert(!streamPtr->isQuiet);
    if (!tunnelPtr->isAdded && !tunnelPtr->isHungUp) {
        if (!Watch(tunnelPtr, NS_POLL_READ)) {
            HangUp(tunnelPtr);
            return NS_TUNNEL_FAILS;
        }
        NsH2TunnelFlush(streamPtr);
    }
    step = ReadHead(streamPtr);
    if (step == NS_TUNNEL_FAILS && !tunnelPtr->isHungUp) {
        HangUp(tunnelPtr);
    }
    SetQuiet(streamPtr, step == NS_TUNNEL_OPENS && !tunnelPtr->isHungUp);
    Check(streamPtr);
    return step;
}

static NsH2TunnelStep
ReadHead(NsH2Stream *streamPtr)
{
    NsH2Tunnel *tunnelPtr = streamPtr->tunnelPtr;
    NsH2Out    *outPtr = &tunnelPtr->outward;
    char        bytes[HEAD_BYTES];
    ssize_t     n = 0;
    size_t      used = 0u;

    if (streamPtr->hasHead) {
        return NS_TUNNEL_FAILS; /* It was bad. */
    }
    while (!streamPtr->hasHead) {
        NsPiece piece = {.fd = -1, .base = bytes};

        n = Receive(tunnelPtr, bytes, sizeof(bytes));
        if (n < 0) {
            return NS_TUNNEL_WAITS;
        }
        if (n == 0) {
            return NS_TUNNEL_FAILS;
        }
        piece.length = (size_t) n;
        used = NsH2HeadTake(streamPtr, &piece, 1);
    }
    if (streamPtr->headBytes == 0u || streamPtr->headBytes > NS_H2_MAX_LIST
        || !NsH2HeadMake(streamPtr)) {
        Ns_Log(
            Warning,
            "%s: a WebSocket over HTTP/2 from %s is not opened: the reply does "
            "not begin with an answer to the handshake",
            streamPtr->sock.drvPtr->pub.module, streamPtr->sock.peer);
        return NS_TUNNEL_FAILS;
    }
    NsAssert(used <= (size_t) n && outPtr->bytes == NULL);
    outPtr->used = outPtr->room = (size_t) n - used;
    if (outPtr->room > 0u) {
        outPtr->bytes = ns_malloc(outPtr->room);
        memcpy(outPtr->bytes, bytes + used, outPtr->room);
    }
    return NS_TUNNEL_OPENS;
}

/*
 * 0: the end; -1: nothing now, and we shall hear of it when there is.
 */
static ssize_t
Receive(NsH2Tunnel *tunnelPtr, void *buffer, size_t length)
{
    ssize_t n;

    NsAssert(length > 0u);
    do {
        n = recv(tunnelPtr->fd, buffer, length, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n >= 0) {
        return n;
    }
    if (errno != EAGAIN) {
        /* It was closed before it had read all: there is no more to come. */
        return 0;
    }
    /* Nobody would tell of more if it cannot be watched. */
    return !tunnelPtr->isHungUp
            && Watch(tunnelPtr, tunnelPtr->watched | NS_POLL_READ)
        ? -1
        : 0;
}

void
NsH2TunnelTake(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    NsH2Session *sessionPtr = streamPtr->sessionPtr;
    NsH2Tunnel  *tunnelPtr = streamPtr->tunnelPtr;
    bool         isWanted = tunnelPtr != NULL
                ? !tunnelPtr->isHungUp
                : !streamPtr->isSubmitted;
    size_t       taken = isWanted ? 0u : length;

    Check(streamPtr);
    NsAssert(!streamPtr->isReceived && !streamPtr->isClosed);
    if (tunnelPtr != NULL && isWanted && streamPtr->inward.used == 0u) {
        taken = SendNow(streamPtr, bytes, length);
    }
    if (length - taken > NS_H2_WINDOW - streamPtr->inward.used) {
        /* Beyond the window: nghttp2 has seen it, and resets the stream. */
        taken = length;
    }
    sessionPtr->heldBytes += length - taken;
    if (taken > 0u) {
        (void) nghttp2_session_consume(sessionPtr->enginePtr, streamPtr->id,
                                       taken);
    }
    if (taken < length) {
        Keep(streamPtr, bytes + taken, length - taken);
        if (tunnelPtr != NULL && tunnelPtr->isAdded
            && !Watch(tunnelPtr, tunnelPtr->watched | NS_POLL_WRITE)) {
            HangUp(tunnelPtr);
        }
    }
    GiveCredit(sessionPtr);
    Check(streamPtr);
}

/*
 * How much was taken; all, if the other end wants nothing any more.
 */
static size_t
SendNow(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    size_t nSent = 0u;

    while (nSent < length) {
        ssize_t n = send(streamPtr->tunnelPtr->fd, bytes + nSent,
                         length - nSent, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n >= 0) {
            nSent += (size_t) n;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            return length;
        }
    }
    return nSent;
}

static void
Keep(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    NsH2Out *outPtr = &streamPtr->inward;

    if (outPtr->used + length > outPtr->room) {
        outPtr->room = MAX(outPtr->room * 2u, outPtr->used + length);
        outPtr->bytes = ns_realloc(outPtr->bytes, outPtr->room);
    }
    memcpy(outPtr->bytes + outPtr->used, bytes, length);
    outPtr->used += length;
    streamPtr->sessionPtr->inwardBytes += length;
}

/*
 * The first bytes that are kept are taken, or not wanted.
 */
static void
Drop(NsH2Stream *streamPtr, size_t length)
{
    NsH2Session *sessionPtr = streamPtr->sessionPtr;
    NsH2Out     *outPtr = &streamPtr->inward;

    NsAssert(length <= outPtr->used && length <= sessionPtr->inwardBytes);
    if (length == 0u) {
        return;
    }
    outPtr->used -= length;
    sessionPtr->inwardBytes -= length;
    if (outPtr->used > 0u) {
        memmove(outPtr->bytes, outPtr->bytes + length, outPtr->used);
    } else {
        ns_free(outPtr->bytes);
        *outPtr = (NsH2Out){0};
    }
    (void) nghttp2_session_consume_stream(sessionPtr->enginePtr, streamPtr->id,
                                          length);
    GiveCredit(sessionPtr);
}

/*
 * The connection's window is opened for all but what is kept beyond the bound.
 */
static void
GiveCredit(NsH2Session *sessionPtr)
{
    size_t mayHold = sessionPtr->inwardBytes > MAX_INWARD
        ? sessionPtr->inwardBytes - MAX_INWARD
        : 0u;

    if (sessionPtr->heldBytes > mayHold) {
        (void) nghttp2_session_consume_connection(sessionPtr->enginePtr,
                                                  sessionPtr->heldBytes
                                                      - mayHold);
        sessionPtr->heldBytes = mayHold;
    }
}

void
NsH2TunnelFlush(NsH2Stream *streamPtr)
{
    NsH2Tunnel *tunnelPtr = streamPtr->tunnelPtr;
    NsH2Out    *outPtr = &streamPtr->inward;

    if (tunnelPtr == NULL || tunnelPtr->isHungUp || streamPtr->isClosed) {
        return;
    }
    NsAssert(tunnelPtr->isAdded);
    if (outPtr->used > 0u) {
        Drop(streamPtr, SendNow(streamPtr, outPtr->bytes, outPtr->used));
    }
    if (!Watch(tunnelPtr,
               (tunnelPtr->watched & NS_POLL_READ)
                   | (outPtr->used > 0u ? NS_POLL_WRITE : 0u))) {
        HangUp(tunnelPtr);
    } else if (outPtr->used == 0u && streamPtr->isReceived
               && !tunnelPtr->isShut) {
        tunnelPtr->isShut = true;
        (void) shutdown(tunnelPtr->fd, SHUT_WR);
    }
    Check(streamPtr);
}

ssize_t
NsH2TunnelRead(nghttp2_session *enginePtr, int32_t id, uint8_t *buffer,
               size_t length, uint32_t *flagsPtr,
               nghttp2_data_source *sourcePtr, void *arg)
{
    NsH2Stream *streamPtr = sourcePtr->ptr;
    NsH2Tunnel *tunnelPtr = streamPtr->tunnelPtr;
    NsH2Out    *outPtr = &tunnelPtr->outward;
    ssize_t     n;

    NsAssert(streamPtr->isSubmitted && !streamPtr->isClosed);
    if (unlikely(outPtr->used > 0u)) {
        n = (ssize_t) MIN(outPtr->used, length);
        memcpy(buffer, outPtr->bytes + outPtr->room - outPtr->used, (size_t) n);
        outPtr->used -= (size_t) n;
        if (outPtr->used == 0u) {
            ns_free(outPtr->bytes);
            *outPtr = (NsH2Out){0};
        }
    } else {
        n = Receive(tunnelPtr, buffer, length);
    }
    Check(streamPtr);
    if (n < 0) {
        streamPtr->isDeferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    streamPtr->sentBody += n;
    if (n > 0) {
        streamPtr->sessionPtr->counts.nUseful++;
    } else if (streamPtr->sentBody < streamPtr->declared) {
        /* As with pages, a reset tells that it is shorter than it should be. */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    } else {
        *flagsPtr |= NGHTTP2_DATA_FLAG_EOF;
    }
    return n;
}

/*
 * The poller tells of it, as if the other end were closed.
 */
void
NsH2TunnelStop(NsH2Stream *streamPtr)
{
    NsH2Tunnel *tunnelPtr = streamPtr->tunnelPtr;

    if (tunnelPtr != NULL && !tunnelPtr->isHungUp) {
        Check(streamPtr);
        (void) shutdown(tunnelPtr->fd, SHUT_RDWR);
    }
}

void
NsH2TunnelNoteClose(NsH2Stream *streamPtr)
{
    SetQuiet(streamPtr, false);
}

void
NsH2TunnelEnd(NsH2Stream *streamPtr)
{
    NsDriverThread *threadPtr = streamPtr->sessionPtr->threadPtr;
    NsH2Tunnel     *tunnelPtr = streamPtr->tunnelPtr;

    NsAssert(streamPtr->isClosed && !streamPtr->isQuiet);
    Drop(streamPtr, streamPtr->inward.used);
    if (tunnelPtr == NULL) {
        return;
    }
    Check(streamPtr);
    if (tunnelPtr->isAdded) {
        NsPollerRemove(threadPtr->loop.pollerPtr, tunnelPtr->fd);
        tunnelPtr->isAdded = false;
    }
    NsClose(tunnelPtr->fd);
    ns_free(tunnelPtr->outward.bytes);
    tunnelPtr->fd = -1;
    tunnelPtr->streamPtr = NULL;
    tunnelPtr->nextPtr = threadPtr->firstOverPtr;
    threadPtr->firstOverPtr = tunnelPtr;
    streamPtr->tunnelPtr = NULL;
}

void
NsH2TunnelHappened(NsDriverThread *threadPtr, void *data, unsigned what)
{
    NsH2Tunnel *tunnelPtr = (NsH2Tunnel *) ((uintptr_t) data & ~(uintptr_t) 2u);
    NsH2Stream *streamPtr = tunnelPtr->streamPtr;
    NsH2Session *sessionPtr;

    NsAssert(NsH2TunnelIsMarked(data));
    if (streamPtr == NULL || !tunnelPtr->isAdded) {
        return;
    }
    Check(streamPtr);
    sessionPtr = streamPtr->sessionPtr;
    NsAssert(sessionPtr->threadPtr == threadPtr);
    if ((what & NS_POLL_HANGUP) != 0u) {
        HangUp(tunnelPtr);
    } else if ((what & NS_POLL_READ) != 0u && streamPtr->isSubmitted
               && !streamPtr->isDeferred) {
        /* The client has no window for it, or a frame is on its way. */
        (void) Watch(tunnelPtr, tunnelPtr->watched & ~NS_POLL_READ);
        if ((what & NS_POLL_WRITE) == 0u) {
            return;
        }
    }
    tunnelPtr->mustPump = true;
    sessionPtr->mustPump = true;
    if (!atomic_exchange(&sessionPtr->isPosted, true)) {
        NsInboxPut(&threadPtr->loop.inbox, &sessionPtr->sockPtr->inboxNode);
    }
}

/*
 * The other end takes nothing any more, or is not to be watched any longer.
 */
static void
HangUp(NsH2Tunnel *tunnelPtr)
{
    NsH2Stream *streamPtr = tunnelPtr->streamPtr;

    NsAssert(!tunnelPtr->isHungUp);
    if (tunnelPtr->isAdded) {
        NsPollerRemove(streamPtr->sessionPtr->threadPtr->loop.pollerPtr,
                       tunnelPtr->fd);
        tunnelPtr->isAdded = false;
    }
    tunnelPtr->isHungUp = true;
    SetQuiet(streamPtr, false);
    Drop(streamPtr, streamPtr->inward.used);
}

/*
 * False: the poller does not take it.
 */
static bool
Watch(NsH2Tunnel *tunnelPtr, unsigned what)
{
    NsH2Stream     *streamPtr = tunnelPtr->streamPtr;
    NsDriverThread *threadPtr = streamPtr->sessionPtr->threadPtr;
    void           *data = (char *) tunnelPtr + 2;
    Ns_ReturnCode   status;

    NsAssert(!tunnelPtr->isHungUp);
    if (tunnelPtr->isAdded && what == tunnelPtr->watched) {
        return true;
    }
    status = tunnelPtr->isAdded
        ? NsPollerChange(threadPtr->loop.pollerPtr, tunnelPtr->fd, what, data)
        : NsPollerAdd(threadPtr->loop.pollerPtr, tunnelPtr->fd, what, data);
    if (status != NS_OK) {
        Ns_Log(Error, "%s: cannot watch a WebSocket over HTTP/2: %s",
               streamPtr->sock.drvPtr->pub.module, strerror(errno));
        return false;
    }
    tunnelPtr->isAdded = true;
    tunnelPtr->watched = what;
    return true;
}

/*
 * Whether the stream is one that the session does not have to look after.
 */
static void
SetQuiet(NsH2Stream *streamPtr, bool isQuiet)
{
    if (streamPtr->isQuiet != isQuiet) {
        streamPtr->isQuiet = isQuiet;
        streamPtr->sessionPtr->nQuiet += isQuiet ? 1 : -1;
    }
}

void
NsH2TunnelsFree(NsDriverThread *threadPtr)
{
    while (threadPtr->firstOverPtr != NULL) {
        NsH2Tunnel *tunnelPtr = threadPtr->firstOverPtr;

        NsAssert(tunnelPtr->streamPtr == NULL && tunnelPtr->fd < 0);
        threadPtr->firstOverPtr = tunnelPtr->nextPtr;
        ns_free(tunnelPtr);
    }
}
