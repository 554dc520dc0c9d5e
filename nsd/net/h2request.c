/* SPDX-License-Identifier: MPL-2.0
 * h2request.c --
 *
 *      Requests of HTTP/2, as nghttp2 reports them.
 *
 *      nghttp2 has judged pseudo header fields, names, values and lengths (RFC
 *      9113, 8.3, 8.2 and 8.1.1) before it reports them, and has reset the
 *      stream if they are wrong.  What it lets through becomes a head of
 *      HTTP/1.1, and is judged with the limits and rules of that: there is one
 *      place that says what a request may look like.
 *
 *      A client that asks for a WebSocket (RFC 8441) makes no handshake: it is
 *      added, so that all to the right of net finds the request that HTTP/1.1
 *      has for it, a GET.
 *
 *      Trailers are judged, and forgotten.
 */

#include "net/h2request.h"
#include "net/driver_params.h"
#include "http/judge.h"
#include "net/body.h"
#include "net/budget.h"
#include "net/h2reply.h"
#include "net/h2tunnel.h"
#include "net/h2upload.h"
#include "net/handover.h"
#include "net/hostmap.h"
#include "net/progress.h"
#include "net/reader.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "base/assert.h"
#include "base/random.h"
#include "http/base64.h"

#define FIRST_TEXT_BYTES 2048

/*
 * What is discarded of a body behind the answer, at least, before the client is
 * told to stop.
 */
#define MAX_LATE_BYTES (1 << 20)

/* RFC 9113, 10.5.1, and 7541, 4.1. */
#define FIELD_EXTRA 32u

static NsH2Stream *Create(NsH2Session *sessionPtr, int32_t id);

static void TakePseudo(NsH2Stream *streamPtr, const char *name,
                       size_t nameBytes, const char *value, size_t length);
static void TakeField(NsH2Stream *streamPtr, const char *name, size_t nameBytes,
                      const char *value, size_t length);
static void KeepText(NsH2Stream *streamPtr, NsH2Text *textPtr,
                     const char *bytes, size_t length, const char *comma);
static void BeginText(NsH2Stream *streamPtr);
static void Put(NsH2Stream *streamPtr, const char *bytes, size_t length);
static void PutField(NsH2Stream *streamPtr, const char *name, size_t nameBytes,
                     const char *value, size_t length);
static char *Place(NsH2Stream *streamPtr, size_t length);
static void  PutText(NsH2Stream *streamPtr, const NsH2Text *textPtr);
static bool  Grow(NsH2Stream *streamPtr, size_t wanted);
static bool  IsText(const NsH2Text *textPtr, const char *text);
static void  PutHandshake(NsH2Stream *streamPtr);
static bool  Judge(NsH2Stream *streamPtr);
static void  SetVersion(NsH2Stream *streamPtr);
static bool  TakeData(NsH2Stream *streamPtr, const char *bytes, size_t length);
static void  AdvanceUpload(NsH2Stream *streamPtr);
static void  HandOver(NsH2Stream *streamPtr);
static void  Look(NsH2Session *sessionPtr, NsMessage *messagePtr);
static void  SendContinue(NsH2Stream *streamPtr);

/*
 * A field section begins: that of a request, or trailers.
 */
int
NsH2RequestBegin(nghttp2_session *enginePtr, const nghttp2_frame *framePtr,
                 void *arg)
{
    NsH2Session *sessionPtr = arg;

    sessionPtr->headStamp = NsClockNow();
    sessionPtr->headPtr = NULL;
    if (framePtr->headers.cat != NGHTTP2_HCAT_REQUEST) {
        return 0;
    }
    sessionPtr->nOpen++;
    sessionPtr->sockPtr->idleSince = 0;
    if (sessionPtr->nStreams >= 2 * NS_H2_MAX_STREAMS
        || sessionPtr->threadPtr->isDrained) {
        /* Those that were reset, and whose requests are still being served,
         * count as well. */
        return nghttp2_submit_rst_stream(enginePtr, NGHTTP2_FLAG_NONE,
                                         framePtr->hd.stream_id,
                                         NGHTTP2_REFUSED_STREAM);
    }
    sessionPtr->headPtr = Create(sessionPtr, framePtr->hd.stream_id);
    return nghttp2_session_set_stream_user_data(enginePtr,
                                                framePtr->hd.stream_id,
                                                sessionPtr->headPtr);
}

static NsH2Stream *
Create(NsH2Session *sessionPtr, int32_t id)
{
    const NsSock *connectionPtr = sessionPtr->sockPtr;
    NsDriver     *drvPtr = connectionPtr->drvPtr;
    NsH2Stream   *streamPtr = ns_malloc(sizeof(NsH2Stream));
    NsSock       *sockPtr = &streamPtr->sock;
    NsMessage    *messagePtr = NsMessageCreate();
    NsReader     *readerPtr;

    memset(streamPtr, 0, offsetof(NsH2Stream, headRoom));
    streamPtr->sessionPtr = sessionPtr;
    streamPtr->id = id;
    streamPtr->declared = -1;
    NsOutputStoreInit(&streamPtr->store, drvPtr->params.writerMemory);

    sockPtr->pub = connectionPtr->pub;
    sockPtr->pub.arg = NULL;
    sockPtr->drvPtr = drvPtr;
    sockPtr->homePtr = connectionPtr->homePtr;
    sockPtr->peerPort = connectionPtr->peerPort;
    memcpy(sockPtr->peer, connectionPtr->peer, sizeof(sockPtr->peer));
    sockPtr->isStream = true;
    sockPtr->mode = NS_SOCK_READING;
    atomic_init(&sockPtr->state, NS_SOCK_BUSY_EVENT);

    readerPtr = NsArenaZalloc(&messagePtr->arena, sizeof(NsReader));
    messagePtr->readerPtr = readerPtr;
    sockPtr->messagePtr = messagePtr;
    messagePtr->acceptStamp = sessionPtr->headStamp;
    Look(sessionPtr, messagePtr);
    readerPtr->size = FIRST_TEXT_BYTES;
    readerPtr->buffer = NsArenaAlloc(&messagePtr->arena, readerPtr->size + 1u);
    streamPtr->recvStamp = sessionPtr->headStamp;
    streamPtr->recvWindow = sessionPtr->headStamp;

    streamPtr->nextPtr = sessionPtr->firstPtr;
    if (sessionPtr->firstPtr != NULL) {
        sessionPtr->firstPtr->prevPtr = streamPtr;
    }
    sessionPtr->firstPtr = streamPtr;
    sessionPtr->nStreams++;
    return streamPtr;
}

/*
 * The first request of what one wait has reported knows when that was; for
 * those behind it, the reports of changed files are read once more.
 */
static void
Look(NsH2Session *sessionPtr, NsMessage *messagePtr)
{
    if (sessionPtr->isLookOld) {
        NsDriverThread *threadPtr = sessionPtr->threadPtr;

        sessionPtr->isLookOld = false;
        sessionPtr->look = (NsLook){.stamp = NsClockNow()};
        if (threadPtr->hearsOfFiles) {
            NsFileWatchTake();
            sessionPtr->look.isInformed = NsFileWatchIsQuiet();
        }
    }
    messagePtr->report = sessionPtr->look;
    if (sessionPtr->isLookFirst) {
        sessionPtr->isLookFirst = false;
        sessionPtr->isLookOld = true;
    }
}

int
NsH2RequestField(nghttp2_session *enginePtr, const nghttp2_frame *framePtr,
                 const uint8_t *name, size_t nameBytes, const uint8_t *value,
                 size_t length, uint8_t flags, void *arg)
{
    NsH2Stream *streamPtr = ((NsH2Session *) arg)->headPtr;

    if (streamPtr == NULL) {
        return 0;
    }
    NsAssert(streamPtr->id == framePtr->hd.stream_id);
    NsAssert(!streamPtr->isTaken && nameBytes > 0u);
    streamPtr->listBytes += nameBytes + length + FIELD_EXTRA;
    if (name[0] == ':') {
        TakePseudo(streamPtr, (const char *) name, nameBytes,
                   (const char *) value, length);
    } else if (streamPtr->listBytes > NS_H2_MAX_LIST) {
        streamPtr->isTooLarge = true;
    } else {
        TakeField(streamPtr, (const char *) name, nameBytes,
                  (const char *) value, length);
    }
    return 0;
}

static void
TakePseudo(NsH2Stream *streamPtr, const char *name, size_t nameBytes,
           const char *value, size_t length)
{
    NsH2Text *textPtr = nameBytes == 7u && memcmp(name, ":method", 7u) == 0
        ? &streamPtr->method
        : nameBytes == 5u && memcmp(name, ":path", 5u) == 0 ? &streamPtr->path
        : nameBytes == 10u && memcmp(name, ":authority", 10u) == 0
        ? &streamPtr->authority
        : nameBytes == 9u && memcmp(name, ":protocol", 9u) == 0
        ? &streamPtr->protocol
        : NULL;

    if (textPtr != NULL) {
        KeepText(streamPtr, textPtr, value, length, "");
    }
}

/*
 * Cookies may come in crumbs (RFC 9113, 8.2.3); Host is what :authority says,
 * if there is one (8.3.1).
 */
static void
TakeField(NsH2Stream *streamPtr, const char *name, size_t nameBytes,
          const char *value, size_t length)
{
    const NsH2Text *authorityPtr = &streamPtr->authority;

    if (!streamPtr->hasFields) {
        BeginText(streamPtr);
    }
    if (nameBytes == 6u && memcmp(name, "cookie", 6u) == 0) {
        KeepText(streamPtr, &streamPtr->cookie, value, length, "; ");
        return;
    }
    if (nameBytes == 4u && memcmp(name, "host", 4u) == 0
        && authorityPtr->bytes != NULL) {
        streamPtr->isBad |= length != authorityPtr->length
            || strncasecmp(value, authorityPtr->bytes, length) != 0;
        return;
    }
    if (streamPtr->isConnect
        && ((nameBytes == 17u && memcmp(name, "sec-websocket-key", 17u) == 0)
            || (nameBytes == 14u
                && memcmp(name, "content-length", 14u) == 0))) {
        return; /* Without a meaning there: RFC 8441, 5, and 9110, 9.3.6. */
    }
    PutField(streamPtr, name, nameBytes, value, length);
}

/*
 * Twice the room when there is none left: crumbs cost no more than their bytes.
 */
static void
KeepText(NsH2Stream *streamPtr, NsH2Text *textPtr, const char *bytes,
         size_t length, const char *comma)
{
    size_t extra = textPtr->bytes == NULL ? 0u : strlen(comma);
    size_t wanted = textPtr->length + extra + length;

    if (textPtr->bytes == NULL || wanted > textPtr->room) {
        size_t room = textPtr->bytes == NULL ? MAX(length, 16u) : wanted * 2u;
        char  *copy = NsArenaAlloc(&streamPtr->sock.messagePtr->arena, room);

        if (textPtr->length > 0u) {
            memcpy(copy, textPtr->bytes, textPtr->length);
        }
        textPtr->bytes = copy;
        textPtr->room = room;
    }
    NsAssert(wanted <= textPtr->room);
    memcpy(textPtr->bytes + textPtr->length, comma, extra);
    memcpy(textPtr->bytes + textPtr->length + extra, bytes, length);
    textPtr->length = wanted;
}

/*
 * All pseudo header fields come before the others.
 */
static void
BeginText(NsH2Stream *streamPtr)
{
    const NsH2Text *targetPtr = streamPtr->path.bytes != NULL
        ? &streamPtr->path
        : &streamPtr->authority; /* CONNECT */

    NsAssert(!streamPtr->hasFields);
    streamPtr->hasFields = true;
    streamPtr->isHead = IsText(&streamPtr->method, "HEAD");
    /* With another method nghttp2 refuses it, once it has the last field. */
    streamPtr->isConnect = streamPtr->protocol.bytes != NULL
        && IsText(&streamPtr->method, "CONNECT");
    if (streamPtr->isConnect) {
        Put(streamPtr, "GET", 3u);
    } else {
        PutText(streamPtr, &streamPtr->method);
    }
    Put(streamPtr, " ", 1u);
    PutText(streamPtr, targetPtr);
    Put(streamPtr, " HTTP/1.1\r\n", 11u);
    if (streamPtr->authority.bytes != NULL) {
        PutField(streamPtr, "host", 4u, streamPtr->authority.bytes,
                 streamPtr->authority.length);
    }
    if (streamPtr->isConnect) {
        PutHandshake(streamPtr);
    }
}

static bool
IsText(const NsH2Text *textPtr, const char *text)
{
    return textPtr->length == strlen(text)
        && memcmp(textPtr->bytes, text, textPtr->length) == 0;
}

/*
 * What HTTP/1.1 has and HTTP/2 has not.  The key is one that some backend may
 * get; nobody looks at the answer to it.
 */
static void
PutHandshake(NsH2Stream *streamPtr)
{
    unsigned char nonce[16];
    char          key[NsBase64EncodedBytes(sizeof(nonce))];

    NsRandomBytes(nonce, sizeof(nonce));
    PutField(streamPtr, "connection", 10u, "Upgrade", 7u);
    PutField(streamPtr, "upgrade", 7u, "websocket", 9u);
    PutField(streamPtr, "sec-websocket-key", 17u, key,
             NsBase64EncodeLine(NS_BASE64_PLAIN, nonce, sizeof(nonce), key));
}

static void
PutText(NsH2Stream *streamPtr, const NsH2Text *textPtr)
{
    if (textPtr->length > 0u) {
        Put(streamPtr, textPtr->bytes, textPtr->length);
    }
}

static void
Put(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    char *place = Place(streamPtr, length);

    if (place != NULL) {
        memcpy(place, bytes, length);
    }
}

static void
PutField(NsH2Stream *streamPtr, const char *name, size_t nameBytes,
         const char *value, size_t length)
{
    char *place = Place(streamPtr, nameBytes + length + 4u);

    if (place != NULL) {
        memcpy(place, name, nameBytes);
        place += nameBytes;
        *place++ = ':';
        *place++ = ' ';
        memcpy(place, value, length);
        place += length;
        *place++ = '\r';
        *place = '\n';
    }
}

/*
 * For the next bytes of the head; NULL: it is too large.
 */
static char *
Place(NsH2Stream *streamPtr, size_t length)
{
    NsReader *readerPtr = streamPtr->sock.messagePtr->readerPtr;
    char     *place;

    if (streamPtr->isTooLarge
        || (readerPtr->used + length > readerPtr->size
            && !Grow(streamPtr, readerPtr->used + length))) {
        streamPtr->isTooLarge = true;
        return NULL;
    }
    place = readerPtr->buffer + readerPtr->used;
    readerPtr->used += length;
    return place;
}

/*
 * Beyond what a first read of HTTP/1 takes, it counts.
 */
static bool
Grow(NsH2Stream *streamPtr, size_t wanted)
{
    NsMessage *messagePtr = streamPtr->sock.messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    size_t     size = readerPtr->size;
    size_t     first = (size_t) streamPtr->sock.drvPtr->params.bufSize;
    char      *buffer;

    while (size < wanted) {
        size *= 2u;
    }
    if (size > 2u * NS_H2_MAX_LIST
        || (size > first && !NsBudgetTake(NS_BUDGET_HEADERS, (int64_t) size))) {
        return false;
    }
    if (size > first) {
        messagePtr->headBudgetBytes += (int64_t) size;
    }
    buffer = NsArenaAlloc(&messagePtr->arena, size + 1u);
    memcpy(buffer, readerPtr->buffer, readerPtr->used);
    readerPtr->buffer = buffer;
    readerPtr->size = size;
    return true;
}

/*
 * The field section is complete; isEnd: there is no body.
 */
void
NsH2RequestHead(NsH2Stream *streamPtr, bool isEnd)
{
    NsSock    *sockPtr = &streamPtr->sock;
    NsMessage *messagePtr = sockPtr->messagePtr;

    NsAssert(!streamPtr->isTaken && messagePtr != NULL);
    streamPtr->isTaken = true;
    streamPtr->isReceived = isEnd;
    if (!streamPtr->hasFields) {
        BeginText(streamPtr);
    }
    if (streamPtr->cookie.bytes != NULL) {
        PutField(streamPtr, "cookie", 6u, streamPtr->cookie.bytes,
                 streamPtr->cookie.length);
    }
    if (!Judge(streamPtr)) {
        HandOver(streamPtr);
        return;
    }
    if (!isEnd && !streamPtr->isConnect) {
        NsReadStep step = NsBodyBeginFrames(sockPtr);

        if (step == NS_STEP_REQUEST) {
            HandOver(streamPtr);
        } else if (NsHttpAsksContinue(&messagePtr->head)) {
            SendContinue(streamPtr);
        }
        return;
    }
    messagePtr->content = messagePtr->readerPtr->buffer
        + messagePtr->readerPtr->used;
    HandOver(streamPtr);
}

/*
 * As a head of HTTP/1.1, which it then is no longer.  False: refused.
 */
static bool
Judge(NsH2Stream *streamPtr)
{
    NsSock       *sockPtr = &streamPtr->sock;
    NsMessage    *messagePtr = sockPtr->messagePtr;
    NsReader     *readerPtr = messagePtr->readerPtr;
    NsHttpParser *parserPtr = &readerPtr->parser;
    NsHttpHead   *headPtr = &messagePtr->head;
    NsParseLimits limits;
    NsParseStatus status;

    Put(streamPtr, "\r\n", 2u);
    limits = NsDriverParseLimits(&sockPtr->drvPtr->params);
    NsHttpParserInit(parserPtr, headPtr, &messagePtr->arena, &limits);
    status = NsHttpParse(parserPtr, readerPtr->buffer, readerPtr->used);
    if (streamPtr->isTooLarge) {
        status = NS_PARSE_REFUSED;
        NsHttpParserRefuse(parserPtr, 431, "fields: too large");
    } else if (status == NS_PARSE_MORE) {
        status = NS_PARSE_REFUSED;
        NsHttpParserRefuse(parserPtr, 400, "fields: no end");
    } else if (status == NS_PARSE_DONE && streamPtr->isBad) {
        status = NS_PARSE_REFUSED;
        NsHttpParserRefuse(parserPtr, 400, "Host: is not what :authority is");
    } else if (status == NS_PARSE_DONE && streamPtr->isConnect
               && !IsText(&streamPtr->protocol, "websocket")) {
        status = NS_PARSE_REFUSED;
        NsHttpParserRefuse(parserPtr, 501, ":protocol: is not websocket");
    }
    SetVersion(streamPtr);
    if (status == NS_PARSE_DONE) {
        return true;
    }
    atomic_fetch_add_explicit(&sockPtr->homePtr->nErrors, 1,
                              memory_order_relaxed);
    (void) NsBodyRefuseMalformed(sockPtr, headPtr->status, headPtr->reason);
    return false;
}

/*
 * Also in the request line, which is what logs have.
 */
static void
SetVersion(NsH2Stream *streamPtr)
{
    NsMessage  *messagePtr = streamPtr->sock.messagePtr;
    NsHttpHead *headPtr = &messagePtr->head;
    char       *line = NsArenaDup(&messagePtr->arena, headPtr->line,
                                  headPtr->lineLength);

    if (headPtr->lineLength > 3u
        && strcmp(line + headPtr->lineLength - 3u, "1.1") == 0) {
        line[headPtr->lineLength - 3u] = '2';
        line[headPtr->lineLength - 1u] = '0';
    }
    if (headPtr->method == headPtr->line) {
        /* Else it was malformed, and they are not in it. */
        headPtr->method = line;
        headPtr->target = line + (headPtr->target - headPtr->line);
    }
    headPtr->line = line;
    headPtr->version = NS_HTTP_2;
    headPtr->sentVersion = 2.0;
}

int
NsH2RequestData(nghttp2_session *enginePtr, uint8_t flags, int32_t id,
                const uint8_t *bytes, size_t length, void *arg)
{
    NsH2Session *sessionPtr = arg;
    NsH2Stream *streamPtr = nghttp2_session_get_stream_user_data(enginePtr, id);

    if (length > 0u) {
        sessionPtr->counts.nUseful++;
    }
    if (streamPtr == NULL || !streamPtr->isTaken || length == 0u
        || !TakeData(streamPtr, (const char *) bytes, length)) {
        (void) nghttp2_session_consume(enginePtr, id, length);
    }
    return 0;
}

/*
 * True: the client's windows are not opened yet.  They wait for the disk, or
 * are a tunnel's.
 */
static bool
TakeData(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    streamPtr->recvBytes += (int64_t) length;
    if (streamPtr->isConnect) {
        NsH2TunnelTake(streamPtr, bytes, length);
        return true;
    }
    if (streamPtr->isHanded || streamPtr->isSubmitted
        || streamPtr->refusal != 0) {
        /* Refused, or answered already.  A client that is told so at once may
         * not have read its answer (RFC 9113, 8.1). */
        streamPtr->lateBytes += (int64_t) length;
        if (streamPtr->isSent && streamPtr->lateBytes > MAX_LATE_BYTES) {
            NsH2ReplyReset(streamPtr, NGHTTP2_NO_ERROR);
        }
        return false;
    }
    if (!streamPtr->isUpload) {
        NsReadStep step = NsBodyTakeFrame(&streamPtr->sock, bytes, length);

        if (step == NS_STEP_REQUEST) {
            HandOver(streamPtr);
        }
        if (step != NS_STEP_SPOOL) {
            return false;
        }
        NsH2UploadBegin(streamPtr);
    }
    if (streamPtr->recvBytes
        > streamPtr->sock.messagePtr->readerPtr->maxBytes) {
        streamPtr->refusal = 413;
        AdvanceUpload(streamPtr);
        return false;
    }
    NsH2UploadKeep(streamPtr, bytes, length);
    return true;
}

/*
 * What comes next for a body that goes to disk, once no spooler thread has
 * anything of it.
 */
static void
AdvanceUpload(NsH2Stream *streamPtr)
{
    NsAssert(streamPtr->isUpload && !streamPtr->isHanded);
    if (streamPtr->isStoring) {
        return;
    }
    if (streamPtr->refusal != 0) {
        NsH2UploadDrop(streamPtr);
        (void) NsBodyRefuse(&streamPtr->sock, streamPtr->refusal);
        HandOver(streamPtr);
    } else if (streamPtr->unstored.used > 0u) {
        streamPtr->sessionPtr->mustStore = true;
    } else if (streamPtr->isReceived) {
        NsH2UploadDrop(streamPtr);
        (void) NsBodyEndFrames(&streamPtr->sock);
        HandOver(streamPtr);
    }
}

void
NsH2RequestStored(NsH2Stream *streamPtr)
{
    NsH2Session *sessionPtr = streamPtr->sessionPtr;

    NsH2UploadTakeBack(streamPtr);
    if (streamPtr->isClosed || sessionPtr->isBroken || sessionPtr->isOver) {
        sessionPtr->mustRetire = true;
        return;
    }
    if (streamPtr->hasFailed && streamPtr->refusal == 0) {
        streamPtr->refusal = 503;
    }
    NsBodyNoteProgress(streamPtr->sock.messagePtr);
    AdvanceUpload(streamPtr);
}

/*
 * The client has sent all of it.
 */
void
NsH2RequestEnd(NsH2Stream *streamPtr)
{
    streamPtr->isReceived = true;
    if (streamPtr->isConnect) {
        NsH2TunnelFlush(streamPtr);
        return;
    }
    if (!streamPtr->isTaken || streamPtr->isHanded || streamPtr->isSubmitted) {
        return;
    }
    if (streamPtr->isUpload) {
        AdvanceUpload(streamPtr);
    } else {
        (void) NsBodyEndFrames(&streamPtr->sock);
        HandOver(streamPtr);
    }
}

static void
HandOver(NsH2Stream *streamPtr)
{
    NsSock         *sockPtr = &streamPtr->sock;
    NsMessage      *messagePtr = sockPtr->messagePtr;
    NsReader       *readerPtr = messagePtr->readerPtr;
    NsDriverThread *threadPtr = streamPtr->sessionPtr->threadPtr;

    NsAssert(!streamPtr->isHanded && !threadPtr->isDrained);
    NsAssert(!streamPtr->isStoring);
    if (readerPtr->progressPtr != NULL) {
        NsProgressEnd(&readerPtr->progressPtr);
    }
    atomic_fetch_add_explicit(&threadPtr->nReceived, 1, memory_order_relaxed);
    messagePtr->sockPtr = sockPtr;
    messagePtr->peerPort = sockPtr->peerPort;
    memcpy(messagePtr->peer, sockPtr->peer, sizeof(sockPtr->peer));
    NsHostMapChoose(sockPtr->drvPtr, messagePtr);
    sockPtr->serverPtr = messagePtr->serverPtr;
    sockPtr->messagePtr = NULL;
    messagePtr->readerPtr = NULL;
    if (messagePtr->content != NULL) {
        messagePtr->content[messagePtr->contentLength] = '\0';
    }
    streamPtr->isHanded = true;
    NsHandOver(messagePtr);
}

void
NsH2RequestTimeUp(NsH2Stream *streamPtr)
{
    NsAssert(!streamPtr->isHanded && !streamPtr->isStoring);
    atomic_fetch_add_explicit(&streamPtr->sock.homePtr->nErrors, 1,
                              memory_order_relaxed);
    if (streamPtr->isTaken) {
        NsDriverCountRefusal(streamPtr->sock.homePtr, 408);
        NsH2ReplyBare(streamPtr, 408);
    } else {
        NsH2ReplyReset(streamPtr, NGHTTP2_CANCEL);
    }
}

static void
SendContinue(NsH2Stream *streamPtr)
{
    nghttp2_nv pair = {.name = (uint8_t *) (uintptr_t) ":status",
                       .value = (uint8_t *) (uintptr_t) "100",
                       .namelen = 7u,
                       .valuelen = 3u};

    (void) nghttp2_submit_headers(streamPtr->sessionPtr->enginePtr,
                                  NGHTTP2_FLAG_NONE, streamPtr->id, NULL, &pair,
                                  1u, NULL);
}
