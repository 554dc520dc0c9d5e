/* SPDX-License-Identifier: MPL-2.0
 * h2info.c --
 *
 *      What streams of HTTP/2 have for their clients, for those who ask.
 */

#include "net/h2info.h"
#include "net/writer_info.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"

static void AppendLocked(NsH2Stream *streamPtr, Ns_DString *dsPtr, bool isLong);

void
NsH2InfoShow(NsH2Stream *streamPtr)
{
    const NsSock   *sockPtr = &streamPtr->sock;
    NsDriverThread *threadPtr = sockPtr->homePtr;

    NsAssert(!streamPtr->isShown);
    streamPtr->shown.pool = sockPtr->notes.pool;
    streamPtr->shown.queueStamp = sockPtr->notes.queueStamp;
    streamPtr->shown.startStamp = NsClockNow();
    streamPtr->shown.clientData = ns_strcopy(sockPtr->clientData);

    Ns_MutexLock(&threadPtr->streamLock);
    streamPtr->isShown = true;
    streamPtr->nextShownPtr = threadPtr->firstShownPtr;
    if (streamPtr->nextShownPtr != NULL) {
        streamPtr->nextShownPtr->prevShownPtr = streamPtr;
    }
    threadPtr->firstShownPtr = streamPtr;
    Ns_MutexUnlock(&threadPtr->streamLock);
}

void
NsH2InfoHide(NsH2Stream *streamPtr)
{
    NsDriverThread *threadPtr = streamPtr->sock.homePtr;

    if (!streamPtr->isShown) {
        return;
    }
    Ns_MutexLock(&threadPtr->streamLock);
    if (streamPtr->prevShownPtr != NULL) {
        streamPtr->prevShownPtr->nextShownPtr = streamPtr->nextShownPtr;
    } else {
        NsAssert(threadPtr->firstShownPtr == streamPtr);
        threadPtr->firstShownPtr = streamPtr->nextShownPtr;
    }
    if (streamPtr->nextShownPtr != NULL) {
        streamPtr->nextShownPtr->prevShownPtr = streamPtr->prevShownPtr;
    }
    streamPtr->isShown = false;
    Ns_MutexUnlock(&threadPtr->streamLock);
    ns_free(streamPtr->shown.clientData);
}

void
NsH2InfoAppend(NsDriverThread *threadPtr, Ns_DString *dsPtr, const char *server,
               bool isLong)
{
    Ns_MutexLock(&threadPtr->streamLock);
    for (NsH2Stream *streamPtr = threadPtr->firstShownPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextShownPtr) {
        const NsServer *serverPtr = streamPtr->sock.serverPtr;

        if (server == NULL
            || (serverPtr != NULL && STREQ(serverPtr->name, server))) {
            AppendLocked(streamPtr, dsPtr, isLong);
        }
    }
    Ns_MutexUnlock(&threadPtr->streamLock);
}

static void
AppendLocked(NsH2Stream *streamPtr, Ns_DString *dsPtr, bool isLong)
{
    NsSock *sockPtr = &streamPtr->sock;
    NsRate *rates[] = {&streamPtr->rate, NsSockGroupRate(sockPtr),
                       &sockPtr->drvPtr->rate};
    /* In this order: what is consumed was appended before. */
    int64_t consumed = atomic_load_explicit(&streamPtr->consumed,
                                            memory_order_acquire);
    int64_t appended = atomic_load_explicit(&streamPtr->appended,
                                            memory_order_relaxed);

    NsAssertLocked(&sockPtr->homePtr->streamLock);
    NsAssert(appended >= consumed);
    if (appended > consumed) {
        NsWriterEntry entry = {
            .queueStamp = streamPtr->shown.queueStamp,
            .startStamp = streamPtr->shown.startStamp,
            .thread = sockPtr->homePtr->name,
            .driver = sockPtr->drvPtr->procs.name,
            .pool = streamPtr->shown.pool,
            .peer = sockPtr->peer,
            .fd = streamPtr->sessionPtr->sockPtr->pub.sock,
            .remaining = appended - consumed,
            .sent = consumed,
            .rates = rates,
            .nRates = Ns_NrElements(rates),
            .clientData = streamPtr->shown.clientData};

        NsWriterAppendEntry(dsPtr, &entry, isLong);
    }
}
