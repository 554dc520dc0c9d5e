/* SPDX-License-Identifier: MPL-2.0
 * h2reply.c --
 *
 *      Replies on their way to nghttp2: the head is submitted, and the body is
 *      asked for frame by frame, when the windows of the client and the socket
 *      let one through.  All of it in the driver thread.
 */

#include "net/h2reply.h"
#include "net/h2info.h"
#include "net/h2tunnel.h"
#include "net/h2upload.h"
#include "net/sockio.h"
#include "net/sls.h"
#include "net/sockstate.h"
#include "nsthread.h"
#include "base/assert.h"

static void    OpenTunnel(NsH2Stream *streamPtr);
static void    Submit(NsH2Stream *streamPtr);
static ssize_t Read(nghttp2_session *enginePtr, int32_t id, uint8_t *buffer,
                    size_t length, uint32_t *flagsPtr,
                    nghttp2_data_source *sourcePtr, void *arg);
static bool    IsComplete(const NsH2Stream *streamPtr);
static int64_t Available(const NsH2Stream *streamPtr);
static size_t  LimitRate(NsH2Stream *streamPtr, size_t length);
static void    CountRate(NsH2Stream *streamPtr, size_t length);
static bool    Copy(NsH2Stream *streamPtr, char *bytes, size_t length);
static bool    EndReceipt(NsH2Stream *streamPtr);
static bool    IsAborted(const NsH2Stream *streamPtr);
static void    Free(NsH2Stream *streamPtr);

void
NsH2ReplyAdvance(NsH2Stream *streamPtr)
{
    nghttp2_session *enginePtr = streamPtr->sessionPtr->enginePtr;

    if (streamPtr->isClosed) {
        NsOutputClear(&streamPtr->output);
    } else if (streamPtr->isRefused) {
        NsH2ReplyReset(streamPtr, NGHTTP2_HTTP_1_1_REQUIRED);
    } else if (streamPtr->tunnelPtr != NULL && !streamPtr->isSubmitted) {
        OpenTunnel(streamPtr);
    } else if (!streamPtr->isSubmitted && streamPtr->hasHeadNow) {
        Submit(streamPtr);
    } else if (!streamPtr->isSubmitted && streamPtr->isFinished) {
        /* Nothing was answered. */
        NsH2ReplyReset(streamPtr, NGHTTP2_INTERNAL_ERROR);
    } else if (streamPtr->isDeferred) {
        streamPtr->isDeferred = false;
        (void) nghttp2_session_resume_data(enginePtr, streamPtr->id);
    }
}

static void
OpenTunnel(NsH2Stream *streamPtr)
{
    switch (NsH2TunnelOpen(streamPtr)) {
    case NS_TUNNEL_WAITS:
        break;
    case NS_TUNNEL_OPENS:
        Submit(streamPtr);
        break;
    case NS_TUNNEL_FAILS:
        NsH2ReplyReset(streamPtr, NGHTTP2_INTERNAL_ERROR);
        break;
    }
}

static void
Submit(NsH2Stream *streamPtr)
{
    nghttp2_data_provider provider = {
        .source.ptr = streamPtr,
        .read_callback = streamPtr->tunnelPtr != NULL ? NsH2TunnelRead : Read};
    bool isWhole = streamPtr->hasNoBody
        || (streamPtr->declared == 0 && streamPtr->sock.receiptPtr == NULL);

    NsAssert(streamPtr->nFields > 0 && !streamPtr->isSubmitted);
    streamPtr->isSubmitted = true;
    if (isWhole) {
        NsOutputClear(&streamPtr->output);
    }
    if (nghttp2_submit_response(streamPtr->sessionPtr->enginePtr, streamPtr->id,
                                streamPtr->fields, (size_t) streamPtr->nFields,
                                isWhole ? NULL : &provider)
        != 0) {
        NsH2ReplyReset(streamPtr, NGHTTP2_INTERNAL_ERROR);
    }
}

void
NsH2ReplyBare(NsH2Stream *streamPtr, int status)
{
    char       text[3] = {(char) ('0' + status / 100),
                          (char) ('0' + status / 10 % 10),
                          (char) ('0' + status % 10)};
    nghttp2_nv pair = {.name = (uint8_t *) (uintptr_t) ":status",
                       .value = (uint8_t *) text,
                       .namelen = 7u,
                       .valuelen = 3u};

    NsAssert(status >= 200 && status <= 599 && !streamPtr->isHanded);
    (void) nghttp2_submit_response(streamPtr->sessionPtr->enginePtr,
                                   streamPtr->id, &pair, 1u, NULL);
    streamPtr->isSubmitted = true;
}

void
NsH2ReplyReset(NsH2Stream *streamPtr, uint32_t code)
{
    if (!streamPtr->isClosed) {
        (void) nghttp2_submit_rst_stream(streamPtr->sessionPtr->enginePtr,
                                         NGHTTP2_FLAG_NONE, streamPtr->id,
                                         code);
    }
}

/*
 * How much of the body fits into one frame.  The end is told with the last
 * bytes, once the log records are where they belong.
 */
static ssize_t
Read(nghttp2_session *enginePtr, int32_t id, uint8_t *buffer, size_t length,
     uint32_t *flagsPtr, nghttp2_data_source *sourcePtr, void *arg)
{
    NsH2Stream *streamPtr = sourcePtr->ptr;
    int64_t     available = Available(streamPtr);
    bool        isLast;

    NsAssert(streamPtr->isSubmitted && !streamPtr->isClosed);
    if (available > 0) {
        length = LimitRate(streamPtr, MIN(length, (size_t) available));
    }
    isLast = available <= (int64_t) length && IsComplete(streamPtr);
    if (isLast
        && (streamPtr->declared > streamPtr->sentBody + available
            || (streamPtr->isCut && streamPtr->declared < 0))) {
        /* Only a reset tells that the body is shorter than it should be. */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (length == 0u || (available == 0 && !isLast)
        || (isLast && !EndReceipt(streamPtr))) {
        streamPtr->isDeferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    *flagsPtr |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (isLast) {
        *flagsPtr |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t) MIN((int64_t) length, available);
}

/*
 * Nothing more will come.  With a receipt the thread that answers has to say
 * so: until then it is its own.
 */
static bool
IsComplete(const NsH2Stream *streamPtr)
{
    return streamPtr->isFinished
        || (streamPtr->sock.receiptPtr == NULL && streamPtr->declared >= 0
            && streamPtr->sentBody + streamPtr->output.bytes
                >= streamPtr->declared);
}

/*
 * What is there, but not beyond what the head says.
 */
static int64_t
Available(const NsH2Stream *streamPtr)
{
    int64_t bytes = streamPtr->output.bytes;

    return streamPtr->declared < 0
        ? bytes
        : MIN(bytes, streamPtr->declared - streamPtr->sentBody);
}

/*
 * As long as a limit forbids to send, the stream pauses.
 */
static size_t
LimitRate(NsH2Stream *streamPtr, size_t length)
{
    NsH2Session *sessionPtr = streamPtr->sessionPtr;
    NsRate      *all[] = {&streamPtr->rate, NsSockGroupRate(&streamPtr->sock),
                          &streamPtr->sock.drvPtr->rate};
    NsRate      *rates[NS_H2_STREAM_RATES];
    int          n = NsRatesInForce(all, NS_H2_STREAM_RATES, rates);
    NsStamp      now = n > 0 ? NsClockNow() : 0, until = now;

    for (int i = 0; i < n; i++) {
        until = MAX(until, NsRateWhen(rates[i], now));
        length = NsRatePortion(rates[i], length);
    }
    streamPtr->pauseStamp = until > now ? until : 0;
    if (until > now) {
        sessionPtr->pauseStamp = sessionPtr->pauseStamp == 0
            ? until
            : MIN(sessionPtr->pauseStamp, until);
        return 0u;
    }
    return length;
}

static void
CountRate(NsH2Stream *streamPtr, size_t length)
{
    NsRate *all[] = {&streamPtr->rate, NsSockGroupRate(&streamPtr->sock),
                     &streamPtr->sock.drvPtr->rate};
    NsRate *rates[NS_H2_STREAM_RATES];
    int     n = NsRatesInForce(all, NS_H2_STREAM_RATES, rates);

    for (int i = 0; i < n; i++) {
        NsRateCount(rates[i], length, NsClockNow());
    }
}

/*
 * The frame goes to where output is collected, if there is room.
 */
int
NsH2ReplySendData(nghttp2_session *enginePtr, nghttp2_frame *framePtr,
                  const uint8_t *frameHead, size_t length,
                  nghttp2_data_source *sourcePtr, void *arg)
{
    NsH2Stream *streamPtr = sourcePtr->ptr;
    NsH2Out    *outPtr = streamPtr->sessionPtr->outPtr;

    NsAssert(outPtr != NULL && framePtr->data.padlen == 0u);
    if (outPtr->room - outPtr->used < NS_H2_FRAME_HEAD + length) {
        return NGHTTP2_ERR_WOULDBLOCK;
    }
    memcpy(outPtr->bytes + outPtr->used, frameHead, NS_H2_FRAME_HEAD);
    if (!Copy(streamPtr, outPtr->bytes + outPtr->used + NS_H2_FRAME_HEAD,
              length)) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    outPtr->used += NS_H2_FRAME_HEAD + length;
    streamPtr->sentBody += (int64_t) length;
    streamPtr->sessionPtr->counts.nUseful++;
    if (length > 0u) {
        CountRate(streamPtr, length);
    }
    return 0;
}

/*
 * False: a file is shorter than announced.
 */
static bool
Copy(NsH2Stream *streamPtr, char *bytes, size_t length)
{
    while (length > 0u) {
        Ns_FileVec vec;
        size_t     n;

        (void) NsOutputPeek(&streamPtr->output, &vec, 1, length);
        n = vec.length;
        NsAssert(n > 0u && n <= length);
        if (vec.fd < 0) {
            memcpy(bytes, INT2PTR(vec.offset), n);
        } else {
            ssize_t got;

            do {
                got = pread(vec.fd, bytes, n, vec.offset);
            } while (got < 0 && errno == EINTR);
            if (got <= 0) {
                return false;
            }
            n = (size_t) got;
        }
        NsOutputConsume(&streamPtr->output, n);
        atomic_fetch_add_explicit(&streamPtr->consumed, (int64_t) n,
                                  memory_order_release);
        bytes += n;
        length -= n;
    }
    return true;
}

/*
 * Before the last bytes leave: whoever has the whole reply finds it in the log.
 */
static bool
EndReceipt(NsH2Stream *streamPtr)
{
    NsSock *sockPtr = &streamPtr->sock;

    if (sockPtr->receiptPtr == NULL) {
        return true;
    }
    NsAssert(streamPtr->isFinished);
    if (!NsReceiptEnd(sockPtr->receiptPtr,
                      streamPtr->isClosed
                          ? atomic_load_explicit(&streamPtr->appended,
                                                 memory_order_relaxed)
                              - atomic_load_explicit(&streamPtr->consumed,
                                                     memory_order_relaxed)
                          : 0)) {
        streamPtr->sessionPtr->mustRetry = true;
        return false;
    }
    sockPtr->receiptPtr = NULL;
    return true;
}

void
NsH2StreamRetire(NsH2Stream *streamPtr)
{
    NsAssert(streamPtr->isClosed);
    if (streamPtr->isStoring) {
        return;
    }
    if (!streamPtr->isHanded
        || (streamPtr->isFinished && EndReceipt(streamPtr))) {
        if (IsAborted(streamPtr)) {
            NsSockCountAbort(&streamPtr->sock, streamPtr->abortReason);
        }
        Free(streamPtr);
    }
}

/*
 * Whether a reply began, or should have, and has not been sent to the end.  A
 * tunnel has none; nor has a stream whose client is to come with HTTP/1.1.
 */
static bool
IsAborted(const NsH2Stream *streamPtr)
{
    return streamPtr->isHanded && !streamPtr->isSent && !streamPtr->isRefused
        && streamPtr->tunnelPtr == NULL
        && (streamPtr->hasHead || streamPtr->sock.isBroken);
}

static void
Free(NsH2Stream *streamPtr)
{
    NsH2Session *sessionPtr = streamPtr->sessionPtr;
    NsSock      *sockPtr = &streamPtr->sock;

    NsAssert(!streamPtr->isNews && sockPtr->receiptPtr == NULL);
    NsAssert(streamPtr->incoming.firstPtr == NULL && !streamPtr->isStoring);
    NsAssert(streamPtr->newTunnelPtr == NULL);
    if (streamPtr->prevPtr != NULL) {
        streamPtr->prevPtr->nextPtr = streamPtr->nextPtr;
    } else {
        NsAssert(sessionPtr->firstPtr == streamPtr);
        sessionPtr->firstPtr = streamPtr->nextPtr;
    }
    if (streamPtr->nextPtr != NULL) {
        streamPtr->nextPtr->prevPtr = streamPtr->prevPtr;
    }
    sessionPtr->nStreams--;
    if (sessionPtr->headPtr == streamPtr) {
        sessionPtr->headPtr = NULL;
    }
    NsH2InfoHide(streamPtr);
    if (streamPtr->isConnect) {
        NsH2TunnelEnd(streamPtr);
    }
    if (streamPtr->isUpload) {
        NsH2UploadDrop(streamPtr);
    }
    NsOutputClear(&streamPtr->output);
    NsOutputStoreFree(&streamPtr->store);
    if (sockPtr->messagePtr != NULL) {
        NsSockDropRequest(sockPtr);
    }
    NsSlsFree(sockPtr);
    ns_free(sockPtr->clientData);
    if (streamPtr->head != streamPtr->headRoom) {
        ns_free(streamPtr->head);
    }
    if (streamPtr->fields != streamPtr->fieldRoom) {
        ns_free(streamPtr->fields);
    }
    ns_free(streamPtr);
}
