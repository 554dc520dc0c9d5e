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
#include "http/replyfields.h"
#include "net/h2head.h"
#include "net/h2info.h"
#include "net/h2news.h"
#include "net/h2reply.h"
#include "net/h2tunnel.h"
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

static void    Refuse(NsSock *sockPtr);
static bool    Append(NsH2Stream *streamPtr, NsOutput *outputPtr,
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
        skip = NsH2HeadTake(streamPtr, pieces, nPieces);
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

/*
 * There is a tunnel for a stream that asks for one, and has no answer yet.
 */
int
NsH2Take(NsSock *sockPtr)
{
    static NsEpisode shortage;
    NsH2Stream      *streamPtr = NsH2StreamOf(sockPtr);
    NsH2Tunnel      *tunnelPtr;
    int              fd = -1;

    NsAssert(sockPtr->isStream && !IsDriver(sockPtr));
    if (!streamPtr->isConnect || streamPtr->hasHead || streamPtr->headBytes > 0u
        || sockPtr->isBroken) {
        Refuse(sockPtr);
        return -1;
    }
    tunnelPtr = NsH2IsGone(sockPtr) ? NULL : NsH2TunnelCreate(streamPtr, &fd);
    if (tunnelPtr != NULL) {
        Ns_MutexLock(&sockPtr->homePtr->streamLock);
        streamPtr->newTunnelPtr = tunnelPtr;
        Ns_MutexUnlock(&sockPtr->homePtr->streamLock);
    } else if (!NsH2IsGone(sockPtr) && NsEpisodeBegins(&shortage)) {
        Ns_Log(Error,
               "%s: cannot open a WebSocket over HTTP/2: %s; raise the limit of"
               " open files",
               sockPtr->drvPtr->pub.module, strerror(errno));
    }
    NsH2Finish(sockPtr);
    return fd;
}

/*
 * The stream ends, and the client comes with HTTP/1.1.
 */
static void
Refuse(NsSock *sockPtr)
{
    NsH2Stream *streamPtr = NsH2StreamOf(sockPtr);

    Ns_MutexLock(&sockPtr->homePtr->streamLock);
    streamPtr->isRefusedNews = true;
    Ns_MutexUnlock(&sockPtr->homePtr->streamLock);
    sockPtr->isBroken = true;
    NsH2Finish(sockPtr);
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
            Ns_Log(
                Error,
                "%s: cannot queue output: %s; replies that clients do not take "
                "at once are cut off until it works again",
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
