/* SPDX-License-Identifier: MPL-2.0
 * h2upload.c --
 *
 *      Bodies of HTTP/2 on their way to disk.
 *
 *      A stream is with one spooler thread at a time, which has its message
 *      then.  It comes back as news of the session, as replies do.
 */

#include "net/h2upload.h"
#include "net/body.h"
#include "net/h2news.h"
#include "net/readthread.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/lock.h"

#define FIRST_ROOM 65536u

static void Pass(NsH2Stream *streamPtr);

void
NsH2UploadBegin(NsH2Stream *streamPtr)
{
    NsAssert(!streamPtr->isUpload && streamPtr->sock.homePtr->nSpoolers > 0);
    streamPtr->isUpload = true;
    atomic_fetch_add_explicit(&streamPtr->sock.homePtr->nSpooled, 1,
                              memory_order_relaxed);
}

void
NsH2UploadKeep(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    NsH2Out *outPtr = &streamPtr->unstored;

    NsAssert(streamPtr->isUpload && !streamPtr->isHanded);
    if (outPtr->used + length > outPtr->room) {
        outPtr->room = MAX(outPtr->room * 2u, FIRST_ROOM);
        outPtr->room = MAX(outPtr->room, outPtr->used + length);
        outPtr->bytes = ns_realloc(outPtr->bytes, outPtr->room);
    }
    memcpy(outPtr->bytes + outPtr->used, bytes, length);
    outPtr->used += length;
    streamPtr->sessionPtr->mustStore = true;
}

void
NsH2UploadsPass(NsH2Session *sessionPtr)
{
    if (!sessionPtr->mustStore) {
        return;
    }
    sessionPtr->mustStore = false;
    for (NsH2Stream *streamPtr = sessionPtr->firstPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        if (streamPtr->unstored.used > 0u && !streamPtr->isStoring
            && !streamPtr->isClosed) {
            Pass(streamPtr);
        }
    }
}

static void
Pass(NsH2Stream *streamPtr)
{
    NsDriverThread *threadPtr = streamPtr->sock.homePtr;
    NsDriver       *drvPtr = threadPtr->drvPtr;
    int             turn = threadPtr->nextSpooler++ % threadPtr->nSpoolers;
    NsH2Out         empty = streamPtr->storing;

    NsCheck(NsReadThreadSelf() == threadPtr);
    NsAssert(!streamPtr->isHanded && empty.used == 0u && turn >= 0);
    streamPtr->storing = streamPtr->unstored;
    streamPtr->unstored = empty;
    streamPtr->isStoring = true;
    NsInboxPut(&drvPtr->spoolers[turn]->loop.inbox, &streamPtr->sock.inboxNode);
}

void
NsH2UploadStore(NsSock *sockPtr)
{
    NsH2Stream     *streamPtr = NsH2StreamOf(sockPtr);
    NsDriverThread *homePtr = sockPtr->homePtr;
    bool            mustPost;

    NsAssert(sockPtr->isStream && NsReadThreadSelf() != homePtr);
    streamPtr->hasFailed = !NsBodyStore(sockPtr, streamPtr->storing.bytes,
                                        streamPtr->storing.used);
    Ns_MutexLock(&homePtr->streamLock);
    streamPtr->isStoredNews = true;
    mustPost = NsH2NewsPutLocked(streamPtr, true);
    sockPtr = streamPtr->sessionPtr->sockPtr;
    Ns_MutexUnlock(&homePtr->streamLock);
    if (mustPost) {
        NsInboxPut(&homePtr->loop.inbox, &sockPtr->inboxNode);
    }
}

void
NsH2UploadTakeBack(NsH2Stream *streamPtr)
{
    NsAssert(streamPtr->isStoring);
    streamPtr->isStoring = false;
    (void) nghttp2_session_consume(streamPtr->sessionPtr->enginePtr,
                                   streamPtr->id, streamPtr->storing.used);
    streamPtr->storing.used = 0u;
}

/*
 * The connection has a window for all streams, which opens again.
 */
void
NsH2UploadDrop(NsH2Stream *streamPtr)
{
    NsH2Session *sessionPtr = streamPtr->sessionPtr;

    NsAssert(!streamPtr->isStoring && streamPtr->storing.used == 0u);
    if (streamPtr->unstored.used > 0u) {
        (void) nghttp2_session_consume(sessionPtr->enginePtr, streamPtr->id,
                                       streamPtr->unstored.used);
        sessionPtr->mustTurn = true;
    }
    ns_free(streamPtr->storing.bytes);
    ns_free(streamPtr->unstored.bytes);
    streamPtr->storing = streamPtr->unstored = (NsH2Out){0};
}
