/* SPDX-License-Identifier: MPL-2.0
 * reader.c --
 *
 *      Receiving a request: from the first byte to the hand-over.
 *
 *      Bytes that came along with the request before are parsed before more are
 *      asked for.  A socket that has no request in the making has no message.
 */

#include "net/reader.h"
#include "net/driver_params.h"
#include "net/body.h"
#include "net/budget.h"
#include "net/driver_sock.h"
#include "net/h2session.h"
#include "net/handover.h"
#include "net/hostmap.h"
#include "net/makeroom.h"
#include "net/progress.h"
#include "net/proxypeer.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "base/assert.h"

/*
 * Requests of one client that are served in a row before others get their turn.
 */
#define MAX_IN_A_ROW 16

/*
 * What is read at once of what nobody wants.
 */
#define DRAIN_BYTES 65536
_Static_assert(DRAIN_BYTES <= NS_SCRATCH_BYTES, "it is read into the scratch");

static NsReadStep FirstStep(NsDriverThread *threadPtr, NsSock *sockPtr);
static NsReadStep Receive(NsDriverThread *threadPtr, NsSock *sockPtr);
static void       WatchClosing(NsDriverThread *threadPtr, NsSock *sockPtr);
static bool       MakeHeadRoom(NsSock *sockPtr);
static ssize_t    ReceiveDatagram(NsSock *sockPtr, struct iovec *vecPtr);
static NsReadStep TakeRaw(NsMessage *messagePtr);
static NsReadStep ParseHead(NsDriverThread *threadPtr, NsSock *sockPtr);
static NsReadStep RefuseHead(NsDriverThread *threadPtr, NsSock *sockPtr);
static bool       HandOver(NsDriverThread *threadPtr, NsSock *sockPtr);
static bool       HasMoreToRead(const NsSock *sockPtr, bool isDrained);
static void       Drain(NsDriverThread *threadPtr, NsSock *sockPtr);
static void       Lose(NsDriverThread *threadPtr, NsSock *sockPtr);
static void       Await(NsDriverThread *threadPtr, NsSock *sockPtr);
static NsReader  *Begin(NsSock *sockPtr);
static void       KeepRest(NsSock *sockPtr, const NsReader *readerPtr);
static void       GrowBuffer(NsMessage *messagePtr, NsReader *readerPtr);
static bool       IsTooSlow(const NsDriver *drvPtr, NsReader *readerPtr);
static bool       IsOneTooMany(NsDriverThread *threadPtr, NsSock *sockPtr);
static void       CountError(NsDriverThread *threadPtr);

void
NsReadSock(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsReadStep step = FirstStep(threadPtr, sockPtr);
    int        nServed = 0;

    for (;;) {
        switch (step) {
        case NS_STEP_AGAIN:
            step = Receive(threadPtr, sockPtr);
            break;

        case NS_STEP_WAIT:
            Await(threadPtr, sockPtr);
            return;

        case NS_STEP_SPOOL:
            NsSockEnterSpooler(threadPtr, sockPtr);
            return;

        case NS_STEP_SESSION:
            NsReadComeBack(threadPtr, sockPtr, false);
            return;

        case NS_STEP_GONE:
            Lose(threadPtr, sockPtr);
            return;

        case NS_STEP_REQUEST: {
            bool isDrained = sockPtr->messagePtr->readerPtr->isDrained;

            if (!HandOver(threadPtr, sockPtr)) {
                return;
            }
            /* Answered already: the socket is ours again. */
            if (sockPtr->mode == NS_SOCK_CLOSING
                && !HasMoreToRead(sockPtr, isDrained)) {
                WatchClosing(threadPtr, sockPtr);
                return;
            }
            if (sockPtr->mode != NS_SOCK_READING
                || (HasMoreToRead(sockPtr, isDrained)
                    && ++nServed == MAX_IN_A_ROW)) {
                NsReadComeBack(threadPtr, sockPtr, nServed == MAX_IN_A_ROW);
                return;
            }
            step = sockPtr->messagePtr != NULL ? ParseHead(threadPtr, sockPtr)
                : HasMoreToRead(sockPtr, isDrained)
                ? NS_STEP_AGAIN
                : NS_STEP_WAIT;
            break;
        }
        }
    }
}

/*
 * There may be bytes that were read before.
 */
static NsReadStep
FirstStep(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    const NsMessage *messagePtr = sockPtr->messagePtr;

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->mode == NS_SOCK_READING);
    if (messagePtr != NULL && messagePtr->readerPtr->hasUnparsed) {
        return ParseHead(threadPtr, sockPtr);
    }
    if (messagePtr != NULL && messagePtr->readerPtr->unstored != NULL) {
        return NsBodyGoOn(sockPtr);
    }
    return NS_STEP_AGAIN;
}

static void
WatchClosing(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry,
                     atomic_load_explicit(&sockPtr->deadline,
                                          memory_order_relaxed));
    NsSockWatch(threadPtr, sockPtr);
}

void
NsReadComeBack(NsDriverThread *threadPtr, NsSock *sockPtr, bool mustYield)
{
    NsSockAssertMine(threadPtr, sockPtr);
    if (sockPtr->mode == NS_SOCK_DEAD) {
        NsSockDestroy(threadPtr, sockPtr);
    } else if (mustYield) {
        NsSockSetState(threadPtr, sockPtr, NS_SOCK_BUSY_EVENT);
        NsInboxPut(&threadPtr->loop.inbox, &sockPtr->inboxNode);
    } else if (sockPtr->mode == NS_SOCK_CLOSING) {
        Drain(threadPtr, sockPtr);
    } else if (sockPtr->mode == NS_SOCK_SESSION) {
        if (!NsH2Serve(threadPtr, sockPtr)) {
            NsReadComeBack(threadPtr, sockPtr, false);
        }
    } else {
        NsReadSock(threadPtr, sockPtr);
    }
}

void
NsReadQueueUnread(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsReader *readerPtr = Begin(sockPtr);

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(readerPtr->used == 0u);
    readerPtr->isDrained = true;
    (void) TakeRaw(sockPtr->messagePtr);
    if (HandOver(threadPtr, sockPtr)) {
        NsReadComeBack(threadPtr, sockPtr, false);
    }
}

int
Ns_DriverSetRequest(Ns_Sock *sock, const char *line)
{
    NsSock    *sockPtr = (NsSock *) sock;
    NsMessage *messagePtr;
    size_t     length = strlen(line);

    NsAssert((sockPtr->drvPtr->procs.opts
              & (NS_DRIVER_NOPARSE | NS_DRIVER_QUEUE_ONREAD))
             != 0);
    (void) Begin(sockPtr);
    messagePtr = sockPtr->messagePtr;
    messagePtr->head.line = NsArenaDup(&messagePtr->arena, line, length);
    if (!NsHttpSplitLine(&messagePtr->head, messagePtr->head.line, length)) {
        messagePtr->head.method = NULL;
        return NS_ERROR;
    }
    return NS_OK;
}

void
NsReadTimeUp(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    static const char reply[] = "HTTP/1.1 408 Request Timeout\r\n"
                                "Connection: close\r\n"
                                "Content-Length: 0\r\n\r\n";
    const NsDriver   *drvPtr = sockPtr->drvPtr;
    NsStamp           limit = drvPtr->params.headTimeout;

    NsSockAssertMine(threadPtr, sockPtr);
    if (sockPtr->headStamp != 0 && NsClockNow() - sockPtr->headStamp >= limit) {
        NsLogOncePerSecond(
            &threadPtr->slowStamp,
            "%s: dropped a request from %s: its head took longer than"
            " headtimeout (%.3g s)",
            drvPtr->pub.module, sockPtr->peer,
            (double) drvPtr->params.headTimeout / NS_STAMP_SECOND);
    }
    if (sockPtr->messagePtr != NULL) {
        Ns_FileVec vec;

        Ns_SetFileVec(&vec, 0, -1, reply, 0, sizeof(reply) - 1u);
        (void) NsSockSendNow(sockPtr, &vec, 1);
        NsDriverCountRefusal(threadPtr, 408);
        sockPtr->mode = NS_SOCK_CLOSING;
    }
    Lose(threadPtr, sockPtr);
}

/*
 * One read, and what it leads to.
 */
static NsReadStep
Receive(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsDriver    *drvPtr = sockPtr->drvPtr;
    NsReader    *readerPtr;
    Ns_Time      noWait = {0, 0};
    struct iovec vec;
    NsReadStep   step;
    ssize_t      n;

    if (unlikely(sockPtr->proxyState != NS_PROXY_NONE)
        && (drvPtr->procs.opts & NS_DRIVER_SSL) != 0) {
        step = NsProxyPeek(threadPtr, sockPtr);
        if (step != NS_STEP_AGAIN) {
            return step;
        }
    }
    readerPtr = Begin(sockPtr);
    if ((drvPtr->procs.opts & NS_DRIVER_QUEUE_ONREAD) != 0) {
        readerPtr->isDrained = true;
        return TakeRaw(sockPtr->messagePtr);
    }
    if (readerPtr->phase == NS_READ_HEAD) {
        if (readerPtr->used == readerPtr->size && !MakeHeadRoom(sockPtr)) {
            return RefuseHead(threadPtr, sockPtr);
        }
        NsAssert(readerPtr->used < readerPtr->size);
        vec.iov_base = readerPtr->buffer + readerPtr->used;
        vec.iov_len = readerPtr->size - readerPtr->used;
    } else {
        vec = NsBodyTarget(threadPtr, sockPtr);
    }
    n = sockPtr->isShared
        ? ReceiveDatagram(sockPtr, &vec)
        : drvPtr->procs.recvProc(&sockPtr->pub, &vec, 1, &noWait, 0);
    if (n <= 0) {
        readerPtr->isDrained = true;
        if (n == 0 && readerPtr->nReads == 0 && readerPtr->used == 0u
            && sockPtr->messagePtr->head.method == NULL) {
            NsMessageRelease(&sockPtr->messagePtr);
        }
        return n == 0 ? NS_STEP_WAIT : NS_STEP_GONE;
    }
    NsAssert((size_t) n <= vec.iov_len);
    readerPtr->isDrained = (size_t) n < vec.iov_len && !sockPtr->sawHangup
        && (drvPtr->procs.opts & NS_DRIVER_FULLIO) != 0;
    readerPtr->windowBytes += n;
    if (readerPtr->nReads++ > 0 && IsTooSlow(drvPtr, readerPtr)) {
        Ns_Log(Notice, "%s: dropped a request from %s: slower than minrecvrate",
               drvPtr->pub.module, sockPtr->peer);
        return NS_STEP_GONE;
    }
    if (readerPtr->phase != NS_READ_HEAD) {
        step = NsBodyTake(threadPtr, sockPtr, (size_t) n);
    } else {
        readerPtr->used += (size_t) n;
        if (unlikely(sockPtr->proxyState != NS_PROXY_NONE)) {
            step = NsProxyTake(threadPtr, sockPtr);
            if (step != NS_STEP_AGAIN || sockPtr->proxyState != NS_PROXY_NONE
                || sockPtr->messagePtr == NULL) {
                return step;
            }
        }
        step = (drvPtr->procs.opts & NS_DRIVER_NOPARSE) != 0
            ? TakeRaw(sockPtr->messagePtr)
            : ParseHead(threadPtr, sockPtr);
    }
    return step == NS_STEP_AGAIN && readerPtr->isDrained ? NS_STEP_WAIT : step;
}

/*
 * False: there is no memory for more of the head.
 */
static bool
MakeHeadRoom(NsSock *sockPtr)
{
    NsReader *readerPtr = sockPtr->messagePtr->readerPtr;
    int64_t   more = (int64_t) readerPtr->size * 2;

    if (!NsBudgetTake(NS_BUDGET_HEADERS, more)) {
        NsHttpParserRefuse(&readerPtr->parser, 503,
                           "no memory for more of the head");
        return false;
    }
    sockPtr->messagePtr->headBudgetBytes += more;
    GrowBuffer(sockPtr->messagePtr, readerPtr);
    return true;
}

/*
 * There is one for a request, and nothing to wait for.  It tells who has sent
 * it.
 */
static ssize_t
ReceiveDatagram(NsSock *sockPtr, struct iovec *vecPtr)
{
    Ns_Time noWait = {0, 0};
    ssize_t n;

    if (sockPtr->messagePtr->readerPtr->nReads > 0) {
        return -1;
    }
    n = sockPtr->drvPtr->procs.recvProc(&sockPtr->pub, vecPtr, 1, &noWait, 0);
    NsSockNotePeer(sockPtr);
    return n == 0 ? -1 : n;
}

/*
 * The driver wants no interpretation: what arrived is a request.
 */
static NsReadStep
TakeRaw(NsMessage *messagePtr)
{
    NsReader *readerPtr = messagePtr->readerPtr;

    NsAssert(readerPtr->used <= readerPtr->size);
    messagePtr->isRaw = true;
    messagePtr->content = readerPtr->buffer;
    messagePtr->contentLength = readerPtr->used;
    readerPtr->buffer[readerPtr->used] = '\0';
    return NS_STEP_REQUEST;
}

static NsReadStep
ParseHead(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsMessage    *messagePtr = sockPtr->messagePtr;
    NsReader     *readerPtr = messagePtr->readerPtr;
    NsParseStatus status;

    NsAssert(readerPtr->phase == NS_READ_HEAD);
    if (readerPtr->hasUnparsed) {
        /* It came along with a request whose time does not count. */
        readerPtr->hasUnparsed = false;
        readerPtr->windowStamp = NsClockNow();
    }
    status = NsHttpParse(&readerPtr->parser, readerPtr->buffer,
                         readerPtr->used);
    if (status == NS_PARSE_MORE) {
        return NS_STEP_AGAIN;
    }
    if (unlikely(sockPtr->acceptStamp != 0)
        && NsH2IsSpoken(sockPtr, readerPtr->buffer, readerPtr->used)) {
        NsH2Begin(threadPtr, sockPtr, readerPtr->buffer, readerPtr->used);
        return NS_STEP_SESSION;
    }
    if (unlikely(status != NS_PARSE_DONE)) {
        return RefuseHead(threadPtr, sockPtr);
    }
    NsAssert(messagePtr->head.headBytes <= readerPtr->used);
    return NsBodyBegin(threadPtr, sockPtr);
}

static NsReadStep
RefuseHead(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    const NsHttpHead *headPtr = &sockPtr->messagePtr->head;

    CountError(threadPtr);
    return NsBodyRefuseMalformed(sockPtr, headPtr->status, headPtr->reason);
}

/*
 * Give the complete request to those who answer it.  True when they have, and
 * this thread owns the socket again.
 *
 * When more may have to be read afterwards, the socket starts as BUSY_EVENT, so
 * that it comes back through the inbox.
 */
static bool
HandOver(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    bool       isHome = sockPtr->homePtr == threadPtr;
    bool       mustReturn, isDrained;

    NsAssert(!threadPtr->isDrained && sockPtr->jobPtr == NULL);
    if (readerPtr->progressPtr != NULL) {
        NsProgressEnd(&readerPtr->progressPtr);
    }
    atomic_fetch_add_explicit(&threadPtr->nReceived, 1, memory_order_relaxed);
    if (readerPtr->nReads > 1) {
        atomic_fetch_add_explicit(&threadPtr->nPartial, 1,
                                  memory_order_relaxed);
        messagePtr->report = (NsLook){0};
    }
    messagePtr->sockPtr = sockPtr;
    messagePtr->peerPort = sockPtr->peerPort;
    memcpy(messagePtr->peer, sockPtr->peer, sizeof(sockPtr->peer));
    NsHostMapChoose(sockPtr->drvPtr, messagePtr);
    sockPtr->serverPtr = messagePtr->serverPtr;
    sockPtr->acceptStamp = 0;
    sockPtr->report = (NsLook){0};
    sockPtr->messagePtr = NULL;
    if (readerPtr->restBytes > 0u) {
        KeepRest(sockPtr, readerPtr);
    }
    isDrained = readerPtr->isDrained;
    messagePtr->readerPtr = NULL;
    if (messagePtr->content != NULL) {
        /* Now that the rest is elsewhere: it may have begun here. */
        messagePtr->content[messagePtr->contentLength] = '\0';
    }

    threadPtr->kindPtr->leaveProc(threadPtr, sockPtr, messagePtr->acceptStamp);
    mustReturn = HasMoreToRead(sockPtr, isDrained) || !sockPtr->isRegistered
        || threadPtr->hasStopped
        || !NsPollerIsAutomatic(threadPtr->loop.pollerPtr);
    NsSockSetState(threadPtr, sockPtr,
                   mustReturn ? NS_SOCK_BUSY_EVENT : NS_SOCK_BUSY);
    NsHandOver(messagePtr);

    /* From here on the socket may already be in any state, but for a driver
     * thread not be gone: only driver threads destroy. */
    return isHome
        && atomic_load_explicit(&sockPtr->state, memory_order_acquire)
        == NS_SOCK_DRIVER;
}

static bool
HasMoreToRead(const NsSock *sockPtr, bool isDrained)
{
    return !isDrained || sockPtr->sawHangup || sockPtr->messagePtr != NULL;
}

/*
 * Our side is shut: discard what the client still sends, until it closes too.
 */
static void
Drain(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsDriver *drvPtr = sockPtr->drvPtr;
    ssize_t   n = 1;

    NsAssert(sockPtr->mode == NS_SOCK_CLOSING);
    for (int i = 0; i < 16 && (n > 0 || errno == EINTR); i++) {
        n = recv(sockPtr->pub.sock, threadPtr->scratch, DRAIN_BYTES, 0);
    }
    if (n > 0) {
        /* Others first. */
        NsReadComeBack(threadPtr, sockPtr, true);
        return;
    }
    if (n == 0 || errno != EAGAIN) {
        NsSockDestroy(threadPtr, sockPtr);
        return;
    }
    if (sockPtr->isLong && !threadPtr->hasStopped) {
        /* A client that sends its large body to the end, before it reads our
         * refusal: silence counts, but within a limit. */
        NsStamp now = NsClockNow();
        NsStamp last = sockPtr->acceptStamp + drvPtr->params.recvWait;

        atomic_store_explicit(&sockPtr->deadline,
                              MIN(now + drvPtr->params.closeWait, last),
                              memory_order_relaxed);
    }
    NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry,
                     atomic_load_explicit(&sockPtr->deadline,
                                          memory_order_relaxed));
    NsSockWatch(threadPtr, sockPtr);
}

/*
 * The connection ends before a request is complete; or a bare reply was sent.
 */
static void
Lose(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsSockAssertMine(threadPtr, sockPtr);
    if (!NsSockIsIdle(sockPtr)) {
        CountError(threadPtr);
    }
    NsSockDropRequest(sockPtr);
    if (sockPtr->mode == NS_SOCK_CLOSING && !sockPtr->sawHangup) {
        NsSockBeginClose(sockPtr);
    } else {
        sockPtr->mode = NS_SOCK_DEAD;
    }
    threadPtr->kindPtr->loseProc(threadPtr, sockPtr);
}

/*
 * All is read; the poller reports what comes next.  A request in the making
 * may be silent for recvwait again, as long as its head is not overdue; an idle
 * connection has its limit already.
 */
static void
Await(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    const NsDriver *drvPtr = sockPtr->drvPtr;

    if (!threadPtr->kindPtr->awaitProc(threadPtr, sockPtr)) {
        Lose(threadPtr, sockPtr);
        return;
    }
    if (sockPtr->messagePtr != NULL || sockPtr->headStamp != 0) {
        NsStamp deadline = NsClockNow() + drvPtr->params.recvWait;

        if (sockPtr->headStamp != 0) {
            deadline = MIN(deadline,
                           sockPtr->headStamp + drvPtr->params.headTimeout);
        }
        atomic_store_explicit(&sockPtr->deadline, deadline,
                              memory_order_relaxed);
        NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry,
                         deadline);
    }
    NsSockWatch(threadPtr, sockPtr);
}

/*
 * The thing that the socket waits for may have changed: the rest of a head or
 * handshake, of a body, or a request.  False when its peer has too many
 * unfinished ones.
 */
bool
NsReadNoteProgress(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    const NsMessage *messagePtr = sockPtr->messagePtr;

    if (!NsSockHasBegun(sockPtr)) {
        if (sockPtr->headStamp != 0) {
            NsSockBecomeIdle(threadPtr, sockPtr);
        }
        return true;
    }
    if (messagePtr == NULL || messagePtr->readerPtr->phase == NS_READ_HEAD) {
        NsSocksBeginHead(threadPtr, sockPtr);
    } else if (sockPtr->headStamp != 0) {
        NsSocksTouch(threadPtr, sockPtr);
    }
    return !IsOneTooMany(threadPtr, sockPtr);
}

/*
 * The reader of the message that is arriving; a new one if there is none.
 */
static NsReader *
Begin(NsSock *sockPtr)
{
    const NsDriverParams *paramsPtr = &sockPtr->drvPtr->params;
    NsMessage            *messagePtr = sockPtr->messagePtr;
    NsReader             *readerPtr;
    NsParseLimits         limits;

    if (messagePtr != NULL) {
        return messagePtr->readerPtr;
    }
    limits = NsDriverParseLimits(paramsPtr);
    messagePtr = NsMessageCreate();
    sockPtr->messagePtr = messagePtr;
    readerPtr = NsArenaZalloc(&messagePtr->arena, sizeof(NsReader));
    messagePtr->readerPtr = readerPtr;
    readerPtr->size = (size_t) paramsPtr->bufSize;
    readerPtr->buffer = NsArenaAlloc(&messagePtr->arena, readerPtr->size + 1u);
    NsHttpParserInit(&readerPtr->parser, &messagePtr->head, &messagePtr->arena,
                     &limits);
    readerPtr->windowStamp = NsClockNow();
    /* Before the first wait the accept is the reason to read. */
    messagePtr->acceptStamp = sockPtr->isRegistered || sockPtr->acceptStamp == 0
        ? readerPtr->windowStamp
        : sockPtr->acceptStamp;
    messagePtr->report = sockPtr->report;
    sockPtr->report = (NsLook){0};
    return readerPtr;
}

/*
 * Bytes behind the request are the start of the next: they move to a message of
 * their own.
 */
static void
KeepRest(NsSock *sockPtr, const NsReader *readerPtr)
{
    NsReader *nextPtr = Begin(sockPtr);

    while (nextPtr->size < readerPtr->restBytes) {
        GrowBuffer(sockPtr->messagePtr, nextPtr);
    }
    NsAssert(nextPtr != readerPtr && nextPtr->used == 0u);
    memcpy(nextPtr->buffer, readerPtr->rest, readerPtr->restBytes);
    nextPtr->used = readerPtr->restBytes;
    nextPtr->hasUnparsed = true;
    nextPtr->isDrained = readerPtr->isDrained;
}

/*
 * Twice the size.  The old buffer stays in the arena until the end of the
 * request; together they take less than twice the final size.
 */
static void
GrowBuffer(NsMessage *messagePtr, NsReader *readerPtr)
{
    size_t size = readerPtr->size * 2u;
    char  *buffer = NsArenaAlloc(&messagePtr->arena, size + 1u);

    NsAssert(size > readerPtr->size && readerPtr->used <= readerPtr->size);
    memcpy(buffer, readerPtr->buffer, readerPtr->used);
    readerPtr->buffer = buffer;
    readerPtr->size = size;
}

/*
 * In each period of recvwait the client must have sent at least at the
 * minimum rate, but for the first seconds of it.
 */
static bool
IsTooSlow(const NsDriver *drvPtr, NsReader *readerPtr)
{
    NsStamp now, elapsed;
    int64_t wanted;

    if (drvPtr->params.minReceiveRate == 0) {
        return false;
    }
    now = NsClockNow();
    elapsed = now - readerPtr->windowStamp;
    if (elapsed < MIN(NS_RATE_GRACE, drvPtr->params.recvWait)) {
        return false;
    }
    wanted = NsRateBytes(drvPtr->params.minReceiveRate, elapsed);
    if (readerPtr->windowBytes < wanted) {
        return true;
    }
    if (elapsed >= drvPtr->params.recvWait) {
        readerPtr->windowStamp = now;
        readerPtr->windowBytes = 0;
    }
    return false;
}

/*
 * Count a request that did not come in one piece; true when its peer has more
 * of them than allowed.
 */
static bool
IsOneTooMany(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    int limit = sockPtr->drvPtr->params.maxPartialPerPeer;

    if (sockPtr->isPartial) {
        return false;
    }
    if (NsSockCountPartial(threadPtr, sockPtr) <= limit || limit == 0) {
        return false;
    }
    NsLogOncePerSecond(
        &threadPtr->partialStamp,
        "%s: %s has more than %d unfinished requests, dropping some",
        sockPtr->drvPtr->pub.module, sockPtr->peer, limit);
    return true;
}

static void
CountError(NsDriverThread *threadPtr)
{
    atomic_fetch_add_explicit(&threadPtr->nErrors, 1, memory_order_relaxed);
}
