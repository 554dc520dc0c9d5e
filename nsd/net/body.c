/* SPDX-License-Identifier: MPL-2.0
 * body.c --
 *
 *      Where the bytes of a request body go.
 *
 *      A body that is larger than `maxinput` is not read: the request is handed
 *      over with its refusal at once, and what the client still sends is
 *      discarded after the reply.
 */

#include "net/body.h"
#include "http/judge.h"
#include "net/budget.h"
#include "net/progress.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "base/tempfile.h"
#include "base/writeall.h"
#include "nslog.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/episode.h"

static NsReadStep BeginKnown(NsDriverThread *threadPtr, NsSock *sockPtr);
static NsReadStep BeginChunks(NsSock *sockPtr);
static NsReadStep TakeChunks(NsSock *sockPtr, char *bytes, size_t length);
static NsReadStep Complete(NsSock *sockPtr);
static NsReadStep Refuse(NsSock *sockPtr, int status);
static bool       Store(NsSock *sockPtr, const char *bytes, size_t length);
static bool       GrowMemory(NsSock *sockPtr, size_t length);
static bool       OpenFile(NsSock *sockPtr, bool isNamed);
static void       LogShortage(const NsSock *sockPtr, int reason);
static bool       Reserve(NsMessage *messagePtr, int64_t bytes);
static void       SendContinue(NsSock *sockPtr);

NsReadStep
NsBodyBegin(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    size_t     headBytes = messagePtr->head.headBytes;

    if (messagePtr->refusal != 0
        && (messagePtr->head.isChunked || messagePtr->head.contentLength > 0)) {
        return Refuse(sockPtr, messagePtr->refusal);
    }
    if (messagePtr->head.isChunked) {
        return BeginChunks(sockPtr);
    }
    if (messagePtr->head.contentLength > 0) {
        return BeginKnown(threadPtr, sockPtr);
    }
    messagePtr->content = readerPtr->buffer + headBytes;
    readerPtr->rest = messagePtr->content;
    readerPtr->restBytes = readerPtr->used - headBytes;
    return NS_STEP_REQUEST;
}

struct iovec
NsBodyTarget(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    size_t missing = (size_t) readerPtr->bodyBytes - messagePtr->contentLength;
    struct iovec vec = {threadPtr->scratch, NS_SCRATCH_BYTES};

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(readerPtr->phase == NS_READ_CHUNKS
             || (int64_t) messagePtr->contentLength < readerPtr->bodyBytes);
    switch (readerPtr->phase) {
    case NS_READ_BUFFER:
        vec.iov_base = readerPtr->buffer + readerPtr->used;
        vec.iov_len = readerPtr->size - readerPtr->used;
        break;
    case NS_READ_MEMORY:
        vec.iov_base = messagePtr->content + messagePtr->contentLength;
        vec.iov_len = missing;
        break;
    case NS_READ_FILE:
        vec.iov_len = MIN(missing, NS_SCRATCH_BYTES);
        break;
    case NS_READ_CHUNKS:
    case NS_READ_HEAD:
        break;
    }
    return vec;
}

NsReadStep
NsBodyTake(NsDriverThread *threadPtr, NsSock *sockPtr, size_t nNew)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;

    switch (readerPtr->phase) {
    case NS_READ_BUFFER:
        readerPtr->used += nNew;
        NsAssert(readerPtr->used <= readerPtr->size);
        messagePtr->contentLength = readerPtr->used
            - messagePtr->head.headBytes;
        break;
    case NS_READ_MEMORY:
        messagePtr->contentLength += nNew;
        NsAssert((int64_t) messagePtr->contentLength <= readerPtr->bodyBytes);
        break;
    case NS_READ_FILE:
        if (!Store(sockPtr, threadPtr->scratch, nNew)) {
            return Refuse(sockPtr, 503);
        }
        break;
    case NS_READ_CHUNKS:
        return TakeChunks(sockPtr, threadPtr->scratch, nNew);
    case NS_READ_HEAD:
        NsAssert(0);
        break;
    }
    if (readerPtr->progressPtr != NULL) {
        NsProgressUpdate(readerPtr->progressPtr,
                         (int64_t) messagePtr->contentLength);
    }
    return (int64_t) messagePtr->contentLength >= readerPtr->bodyBytes
        ? Complete(sockPtr)
        : NS_STEP_AGAIN;
}

/*
 * A body of announced length.
 */
static NsReadStep
BeginKnown(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    const NsDriverParams *paramsPtr = &sockPtr->drvPtr->params;
    NsMessage            *messagePtr = sockPtr->messagePtr;
    NsReader             *readerPtr = messagePtr->readerPtr;
    int64_t               total = messagePtr->head.contentLength;
    size_t                headBytes = messagePtr->head.headBytes;
    const char           *bytes = readerPtr->buffer + headBytes;
    size_t                nThere = readerPtr->used - headBytes;

    NsAssert(total > 0 && headBytes <= readerPtr->used);
    if (total > paramsPtr->maxInput) {
        return Refuse(sockPtr, 413);
    }
    readerPtr->bodyBytes = total;
    if ((int64_t) nThere < total) {
        if (nThere == 0u) {
            SendContinue(sockPtr);
        }
        readerPtr->progressPtr = NsProgressBegin(&messagePtr->head);
    }
    if ((size_t) total <= readerPtr->size - headBytes) {
        readerPtr->phase = NS_READ_BUFFER;
        messagePtr->content = readerPtr->buffer + headBytes;
        messagePtr->contentLength = nThere;
    } else if (total <= paramsPtr->readAhead && Reserve(messagePtr, total)) {
        readerPtr->phase = NS_READ_MEMORY;
        messagePtr->content = NsArenaAlloc(&messagePtr->arena,
                                           (size_t) total + 1u);
        memcpy(messagePtr->content, bytes, nThere);
        messagePtr->contentLength = nThere;
    } else {
        bool isNamed = paramsPtr->maxUpload > 0 && total > paramsPtr->maxUpload
            && total > paramsPtr->readAhead;

        readerPtr->phase = NS_READ_FILE;
        if (!OpenFile(sockPtr, isNamed) || !Store(sockPtr, bytes, nThere)) {
            return Refuse(sockPtr, 503);
        }
        if (threadPtr->nSpoolers > 0 && (int64_t) nThere < total) {
            return NS_STEP_SPOOL;
        }
    }
    return (int64_t) nThere >= total ? Complete(sockPtr) : NS_STEP_AGAIN;
}

static NsReadStep
BeginChunks(NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    size_t     headBytes = messagePtr->head.headBytes;

    NsAssert(headBytes <= readerPtr->used);
    readerPtr->phase = NS_READ_CHUNKS;
    NsChunkInit(&readerPtr->chunks,
                (uint64_t) sockPtr->drvPtr->params.maxInput);
    if (readerPtr->used == headBytes) {
        SendContinue(sockPtr);
        return NS_STEP_AGAIN;
    }
    return TakeChunks(sockPtr, readerPtr->buffer + headBytes,
                      readerPtr->used - headBytes);
}

static NsReadStep
TakeChunks(NsSock *sockPtr, char *bytes, size_t length)
{
    NsMessage    *messagePtr = sockPtr->messagePtr;
    NsReader     *readerPtr = messagePtr->readerPtr;
    const char   *entity = NsHttpKnown(&messagePtr->head,
                                       NS_FIELD_EXPECTED_ENTITY_LENGTH);
    size_t        nDecoded, nConsumed;
    NsChunkStatus status = NsChunkDecode(&readerPtr->chunks, bytes, length,
                                         &nDecoded, &nConsumed);
    Tcl_WideInt   expected;

    NsAssert(nDecoded <= length && nConsumed <= length);
    if (status == NS_CHUNK_TOO_LARGE) {
        return Refuse(sockPtr, 413);
    }
    if (status == NS_CHUNK_BAD) {
        return NS_STEP_BAD_CHUNK;
    }
    if (nDecoded > 0u && !Store(sockPtr, bytes, nDecoded)) {
        return Refuse(sockPtr, 503);
    }
    if (status == NS_CHUNK_DONE) {
        readerPtr->rest = bytes + nConsumed;
        readerPtr->restBytes = length - nConsumed;
        return Complete(sockPtr);
    }
    if (entity != NULL && Ns_StrToWideInt(entity, &expected) == NS_OK
        && (Tcl_WideInt) messagePtr->contentLength >= expected) {
        /* The end of the chunks may still come: nothing else can follow. */
        messagePtr->mustClose = true;
        return Complete(sockPtr);
    }
    return NS_STEP_AGAIN;
}

/*
 * The body is there in full.
 */
static NsReadStep
Complete(NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;

    if (readerPtr->phase == NS_READ_BUFFER) {
        size_t end = messagePtr->head.headBytes + (size_t) readerPtr->bodyBytes;

        NsAssert(end <= readerPtr->used);
        messagePtr->contentLength = (size_t) readerPtr->bodyBytes;
        readerPtr->rest = readerPtr->buffer + end;
        readerPtr->restBytes = readerPtr->used - end;
    } else if (readerPtr->phase == NS_READ_CHUNKS && messagePtr->content == NULL
               && messagePtr->contentFd < 0) {
        messagePtr->content = NsArenaZalloc(&messagePtr->arena, 1u);
    }
    return NS_STEP_REQUEST;
}

/*
 * The body cannot be taken, or nobody wants it.  The rest of it is discarded
 * after the reply.
 */
static NsReadStep
Refuse(NsSock *sockPtr, int status)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    NsAssert(status >= 400);
    NsMessageDropFile(messagePtr);
    messagePtr->content = NsArenaZalloc(&messagePtr->arena, 1u);
    messagePtr->contentLength = 0u;
    messagePtr->refusal = status;
    messagePtr->mustClose = true;
    messagePtr->readerPtr->isDrained = false;
    sockPtr->isLong = true;
    return NS_STEP_REQUEST;
}

/*
 * Append to the body: in memory, until it is too large for that; then in a
 * file.  False when neither is possible; errno says why.
 */
static bool
Store(NsSock *sockPtr, const char *bytes, size_t length)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    if (messagePtr->contentFd < 0) {
        if (GrowMemory(sockPtr, length)) {
            memcpy(messagePtr->content + messagePtr->contentLength, bytes,
                   length);
            messagePtr->contentLength += length;
            messagePtr->content[messagePtr->contentLength] = '\0';
            return true;
        }
        if (!OpenFile(sockPtr, false)) {
            return false;
        }
        if (messagePtr->contentLength > 0u
            && !NsWriteAllAt(messagePtr->contentFd, messagePtr->content,
                             messagePtr->contentLength, 0)) {
            LogShortage(sockPtr, errno);
            return false;
        }
        messagePtr->content = NULL;
    }
    if (!NsWriteAllAt(messagePtr->contentFd, bytes, length,
                      (off_t) messagePtr->contentLength)) {
        LogShortage(sockPtr, errno);
        return false;
    }
    messagePtr->contentLength += length;
    return true;
}

/*
 * Make room in memory for length more bytes and a null byte; false if the body
 * should not stay there.
 */
static bool
GrowMemory(NsSock *sockPtr, size_t length)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    size_t     wanted = messagePtr->contentLength + length;
    size_t     room = MAX(readerPtr->bodyRoom, 4096u);
    char      *content;

    if ((int64_t) wanted > sockPtr->drvPtr->params.readAhead) {
        return false;
    }
    if (wanted < readerPtr->bodyRoom) {
        return true;
    }
    while (room <= wanted) {
        room *= 2u;
    }
    if (!Reserve(messagePtr, (int64_t) room)) {
        return false;
    }
    content = NsArenaAlloc(&messagePtr->arena, room);
    if (messagePtr->contentLength > 0u) {
        memcpy(content, messagePtr->content, messagePtr->contentLength);
    }
    NsAssert(room > wanted);
    messagePtr->content = content;
    readerPtr->bodyRoom = room;
    return true;
}

static bool
OpenFile(NsSock *sockPtr, bool isNamed)
{
    NsMessage  *messagePtr = sockPtr->messagePtr;
    const char *directory = sockPtr->drvPtr->settings.uploadPath;

    if (isNamed) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        messagePtr->contentFd = NsTempFileOpenNamed(directory, &ds);
        if (messagePtr->contentFd >= 0) {
            messagePtr->contentFile =
                NsArenaDup(&messagePtr->arena, Ns_DStringValue(&ds),
                           (size_t) Ns_DStringLength(&ds));
        }
        Ns_DStringFree(&ds);
    } else {
        messagePtr->contentFd = NsTempFileOpen(directory);
    }
    if (messagePtr->contentFd < 0) {
        LogShortage(sockPtr, errno);
    }
    return messagePtr->contentFd >= 0;
}

static void
LogShortage(const NsSock *sockPtr, int reason)
{
    static NsEpisode shortage;
    const NsDriver  *drvPtr = sockPtr->drvPtr;

    if (NsEpisodeBegins(&shortage)) {
        Ns_Log(Error,
               "%s: cannot store the body of a request in %s: %s; such"
               " requests are refused until it works again",
               drvPtr->pub.module, drvPtr->settings.uploadPath,
               strerror(reason));
    }
}

static bool
Reserve(NsMessage *messagePtr, int64_t bytes)
{
    if (!NsBudgetTake(NS_BUDGET_BODIES, bytes)) {
        return false;
    }
    messagePtr->budgetBytes += bytes;
    return true;
}

/*
 * A client that waits for leave to send its body gets it.
 */
static void
SendContinue(NsSock *sockPtr)
{
    static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const NsHttpHead *headPtr = &sockPtr->messagePtr->head;

    NsAssert(sockPtr->messagePtr->refusal == 0);
    if (NsHttpAsksContinue(headPtr)) {
        Ns_FileVec vec;

        Ns_SetFileVec(&vec, 0, -1, line, 0, sizeof(line) - 1u);
        (void) NsSockSendNow(sockPtr, &vec, 1);
    }
}
