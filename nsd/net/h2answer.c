/* SPDX-License-Identifier: MPL-2.0
 * h2answer.c --
 *
 *      The side of a stream on which its request is answered.
 *
 *      The head of a reply comes as the text of HTTP/1, whoever made it.  It is
 *      collected up to its end; all behind it is body.  The driver thread gets
 *      both, and wakes up for it if it sleeps.  When it answers itself, there
 *      is nobody to tell: what is ready goes to the client with all else that
 *      the frames at hand have led to.
 *
 *      The end of a reply that is complete by its length is no news: the
 *      session notes it when it comes round.
 */

#include "net/h2answer.h"
#include "http/reply.h"
#include "http/replyfields.h"
#include "net/h2head.h"
#include "net/h2info.h"
#include "net/h2news.h"
#include "net/h2reply.h"
#include "net/readthread.h"
#include "nslog.h"
#include "base/assert.h"
#include "base/episode.h"
#include "base/lock.h"

/*
 * What is taken for delivered once it is handed over, as with a socket's
 * buffer: beyond, log records wait until it has been sent.
 */
#define WHOLE_BYTES 16384

static size_t TakeHead(NsH2Stream *streamPtr, const NsPiece *pieces,
                       int nPieces);
static void   KeepHead(NsH2Stream *streamPtr, const char *bytes, size_t length);
static bool   Append(NsH2Stream *streamPtr, NsOutput *outputPtr,
                     const NsPiece *pieces, int nPieces, size_t skip);
static int64_t Appended(const NsH2Stream *streamPtr);
static bool    IsComplete(const NsH2Stream *streamPtr);
static void    Tell(NsH2Stream *streamPtr, NsOutput *addedPtr, bool isEnd,
                    bool mustHear);
static bool    IsDriver(const NsSock *sockPtr);

Ns_ReturnCode
NsH2Send(NsSock *sockPtr, const NsPiece *pieces, int nPieces)
{
    NsH2Stream *streamPtr = NsH2StreamOf(sockPtr);
    NsOutput    added = {0};
    int64_t     total = 0;
    size_t      skip = 0u;

    NsAssert(sockPtr->isStream && nPieces >= 0);
    if (sockPtr->isBroken
        || atomic_load_explicit(&streamPtr->isGone, memory_order_acquire)) {
        NsPiecesRelease(pieces, nPieces);
        sockPtr->isBroken = true;
        return NS_ERROR;
    }
    for (int i = 0; i < nPieces; i++) {
        total += (int64_t) pieces[i].length;
    }
    if (!streamPtr->hasHead) {
        skip = TakeHead(streamPtr, pieces, nPieces);
        if (streamPtr->hasHead && !NsH2HeadMake(streamPtr)) {
            NsPiecesRelease(pieces, nPieces);
            sockPtr->isBroken = true;
            return NS_ERROR;
        }
    }
    if (!Append(streamPtr, &added, pieces, nPieces, skip)) {
        sockPtr->isBroken = true;
        return NS_ERROR;
    }
    sockPtr->nBytes += total;
    if (sockPtr->receiptPtr == NULL && sockPtr->nBytes > WHOLE_BYTES) {
        sockPtr->receiptPtr = NsReceiptCreate();
        streamPtr->isQueued = true;
        NsH2InfoShow(streamPtr);
    }
    if (IsDriver(sockPtr)) {
        NsOutputMove(&streamPtr->output, &added);
    } else if (added.bytes > 0 || streamPtr->hasHead) {
        Tell(streamPtr, &added, false, true);
    }
    return NS_OK;
}

void
NsH2Finish(NsSock *sockPtr)
{
    NsH2Stream *streamPtr = NsH2StreamOf(sockPtr);
    NsOutput    none = {0};

    NsAssert(sockPtr->isStream);
    ns_free(sockPtr->clientData);
    sockPtr->clientData = NULL;
    if (IsDriver(sockPtr)) {
        streamPtr->hasHeadNow = streamPtr->hasHead;
        streamPtr->isFinished = true;
        streamPtr->isCut = sockPtr->isBroken;
        NsH2ReplyAdvance(streamPtr);
    } else {
        Tell(streamPtr, &none, true,
             sockPtr->isBroken || sockPtr->receiptPtr != NULL
                 || !IsComplete(streamPtr));
    }
}

bool
NsH2IsQueued(const NsSock *sockPtr)
{
    return ((const NsH2Stream *) (const void *) sockPtr)->isQueued;
}

bool
NsH2IsGone(NsSock *sockPtr)
{
    return atomic_load_explicit(&NsH2StreamOf(sockPtr)->isGone,
                                memory_order_acquire);
}

NsReceipt *
NsH2Follow(NsSock *sockPtr)
{
    NsAssert(sockPtr->isStream && sockPtr->receiptPtr != NULL);
    NsReceiptFollow(sockPtr->receiptPtr);
    return sockPtr->receiptPtr;
}

const char *
NsH2Details(const NsSock *sockPtr)
{
    return ((const NsH2Stream *) (const void *) sockPtr)->sessionPtr->details;
}

void
NsH2SetRate(NsSock *sockPtr, int64_t bytesPerSecond)
{
    atomic_store_explicit(&NsH2StreamOf(sockPtr)->rate.bytesPerSecond,
                          bytesPerSecond, memory_order_relaxed);
}

void
NsH2Refuse(NsSock *sockPtr)
{
    NsH2Stream *streamPtr = NsH2StreamOf(sockPtr);

    Ns_MutexLock(&sockPtr->homePtr->streamLock);
    streamPtr->isRefusedNews = true;
    Ns_MutexUnlock(&sockPtr->homePtr->streamLock);
    sockPtr->isBroken = true;
    NsH2Finish(sockPtr);
}

/*
 * The bytes at the start of the pieces that are the head's.
 */
static size_t
TakeHead(NsH2Stream *streamPtr, const NsPiece *pieces, int nPieces)
{
    size_t taken = 0u;

    for (int i = 0; i < nPieces && !streamPtr->hasHead; i++) {
        const char *bytes = pieces[i].base;
        size_t      length = pieces[i].length;
        size_t      before = streamPtr->headBytes, end;

        if (length == 0u) {
            continue;
        }
        if (pieces[i].fd >= 0
            || (before == 0u && !NsReplyMayBeHead(bytes, length))) {
            /* A reply without a head: all is body. */
            streamPtr->hasHead = true;
            return taken;
        }
        end = before == 0u ? NsH2HeadBytes(bytes, length) : 0u;
        KeepHead(streamPtr, bytes, end > 0u ? end : length);
        if (before > 0u) {
            end = NsReplyHeadBytes(streamPtr->head, streamPtr->headBytes,
                                   before);
            end -= MIN(end, before);
        }
        streamPtr->hasHead = end > 0u || streamPtr->headBytes > NS_H2_MAX_LIST;
        taken += end > 0u ? end : length;
        if (end > 0u) {
            streamPtr->headBytes = before + end;
        }
    }
    return taken;
}

static void
KeepHead(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    size_t wanted = streamPtr->headBytes + length;

    if (streamPtr->head == NULL) {
        streamPtr->head = streamPtr->headRoom;
        streamPtr->headSize = sizeof(streamPtr->headRoom);
    }
    if (wanted > streamPtr->headSize) {
        char *head = ns_malloc(wanted * 2u);

        memcpy(head, streamPtr->head, streamPtr->headBytes);
        if (streamPtr->head != streamPtr->headRoom) {
            ns_free(streamPtr->head);
        }
        streamPtr->head = head;
        streamPtr->headSize = wanted * 2u;
    }
    NsAssert(wanted <= streamPtr->headSize);
    memcpy(streamPtr->head + streamPtr->headBytes, bytes, length);
    streamPtr->headBytes = wanted;
}

/*
 * The driver thread sees by itself that the body is complete.
 */
static bool
IsComplete(const NsH2Stream *streamPtr)
{
    return streamPtr->hasHead
        && (streamPtr->hasNoBody
            || (streamPtr->declared >= 0
                && Appended(streamPtr) >= streamPtr->declared));
}

/*
 * The pieces without their first bytes.  When all that was stored before is
 * sent, the place is free again: a stream may live for days.
 */
static bool
Append(NsH2Stream *streamPtr, NsOutput *outputPtr, const NsPiece *pieces,
       int nPieces, size_t skip)
{
    static NsEpisode shortage;
    NsOutputStore   *storePtr = &streamPtr->store;
    int64_t          appended = Appended(streamPtr);

    if (appended > 0
        && atomic_load_explicit(&streamPtr->consumed, memory_order_acquire)
            == appended) {
        NsOutputStoreFree(storePtr);
        NsOutputStoreInit(storePtr, storePtr->maxMemoryBytes);
    }
    if (NsOutputAppend(outputPtr, storePtr, pieces, nPieces, skip) != NS_OK) {
        if (NsEpisodeBegins(&shortage)) {
            Ns_Log(Error,
                   "%s: cannot queue output: %s; replies that clients do"
                   " not take at once are cut until it works again",
                   streamPtr->sock.drvPtr->pub.module,
                   errno == EDQUOT ? "more than maxspool allows on disk"
                                   : strerror(errno));
        }
        return false;
    }
    atomic_store_explicit(&streamPtr->appended, appended + outputPtr->bytes,
                          memory_order_relaxed);
    return true;
}

static int64_t
Appended(const NsH2Stream *streamPtr)
{
    return atomic_load_explicit(&streamPtr->appended, memory_order_relaxed);
}

/*
 * From now on the head and what was added are the driver thread's; at the end
 * the stream as well.
 */
static void
Tell(NsH2Stream *streamPtr, NsOutput *addedPtr, bool isEnd, bool mustHear)
{
    NsDriverThread *homePtr = streamPtr->sock.homePtr;
    NsSock         *sockPtr;

    Ns_MutexLock(&homePtr->streamLock);
    NsAssert(!streamPtr->isFinishedNews);
    NsOutputMove(&streamPtr->incoming, addedPtr);
    streamPtr->hasHeadNews = streamPtr->hasHead;
    streamPtr->isFinishedNews = isEnd;
    streamPtr->isCutNews = isEnd && streamPtr->sock.isBroken;
    mustHear = NsH2NewsPutLocked(streamPtr, mustHear);
    sockPtr = streamPtr->sessionPtr->sockPtr;
    Ns_MutexUnlock(&homePtr->streamLock);
    if (mustHear) {
        NsInboxPut(&homePtr->loop.inbox, &sockPtr->inboxNode);
    }
}

static bool
IsDriver(const NsSock *sockPtr)
{
    return NsReadThreadSelf() == sockPtr->homePtr;
}
