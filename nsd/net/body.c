/* SPDX-License-Identifier: MPL-2.0
 * body.c --
 *
 *      Where the bytes of a request body go.
 *
 *      A body that is larger than `maxinput`, or than the limit of its URL, is
 *      not read: the request is handed over with its refusal at once, and what
 *      the client still sends is discarded after the reply.
 */

#include "net/body.h"
#include "http/judge.h"
#include "net/budget.h"
#include "net/handover.h"
#include "net/progress.h"
#include "net/spool.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "base/tempfile.h"
#include "nslog.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/episode.h"

static const char noRoom[] = "body: cannot be stored";

static NsReadStep BeginKnown(NsDriverThread *threadPtr, NsSock *sockPtr);
static NsReadStep BeginChunks(NsDriverThread *threadPtr, NsSock *sockPtr);
static NsReadStep TakeChunks(NsDriverThread *threadPtr, NsSock *sockPtr,
                             char *bytes, size_t length);
static NsReadStep KeepForFile(NsDriverThread *threadPtr, NsSock *sockPtr,
                              const char *bytes, size_t length, bool isWhole);
static NsReadStep RefuseChunks(NsSock               *sockPtr,
                               const NsChunkDecoder *decoderPtr);
static NsReadStep Complete(NsSock *sockPtr);
static void       Limit(NsSock *sockPtr);
static NsReadStep RefuseLarge(NsSock *sockPtr);
static NsReadStep Refuse(NsSock *sockPtr, int status, const char *reason);
static bool       Store(NsSock *sockPtr, const char *bytes, size_t length);
static bool       HasMemory(NsSock *sockPtr, size_t length);
static bool       GrowMemory(NsSock *sockPtr, size_t length);
static bool       MoveToFile(NsSock *sockPtr);
static bool       OpenFile(NsSock *sockPtr);
static bool       IsNamed(const NsSock *sockPtr);
static bool WriteFile(const NsSock *sockPtr, const char *bytes, size_t length,
                      size_t offset);
static void LogShortage(const NsSock *sockPtr, int reason);
static bool Reserve(NsMessage *messagePtr, int64_t bytes);
static void SendContinue(NsSock *sockPtr);

NsReadStep
NsBodyBegin(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    size_t     headBytes = messagePtr->head.headBytes;

    if (messagePtr->head.isChunked) {
        return BeginChunks(threadPtr, sockPtr);
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
        if (!NsBodyStore(sockPtr, threadPtr->scratch, nNew)) {
            return Refuse(sockPtr, 503, noRoom);
        }
        break;
    case NS_READ_CHUNKS:
        return TakeChunks(threadPtr, sockPtr, threadPtr->scratch, nNew);
    case NS_READ_HEAD:
        NsAssert(0);
        break;
    }
    NsBodyNoteProgress(messagePtr);
    return (int64_t) messagePtr->contentLength >= readerPtr->bodyBytes
        ? Complete(sockPtr)
        : NS_STEP_AGAIN;
}

NsReadStep
NsBodyRefuseMalformed(NsSock *sockPtr, int status, const char *reason)
{
    sockPtr->messagePtr->isMalformed = true;
    return Refuse(sockPtr, status, reason);
}

NsReadStep
NsBodyRefuse(NsSock *sockPtr, int status)
{
    NsAssert(status == 413 || status == 503);
    return status == 413 ? RefuseLarge(sockPtr)
                         : Refuse(sockPtr, status, noRoom);
}

NsReadStep
NsBodyBeginFrames(NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    int64_t    total = messagePtr->head.contentLength;

    NsAssert(readerPtr->phase == NS_READ_HEAD);
    Limit(sockPtr);
    if (total > readerPtr->maxBytes) {
        return RefuseLarge(sockPtr);
    }
    readerPtr->phase = NS_READ_CHUNKS;
    readerPtr->bodyBytes = total;
    readerPtr->progressPtr = NsProgressBegin(&messagePtr->head);
    return NS_STEP_AGAIN;
}

NsReadStep
NsBodyTakeFrame(NsSock *sockPtr, const char *bytes, size_t length)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    NsAssert(messagePtr->readerPtr->phase == NS_READ_CHUNKS);
    if ((int64_t) (messagePtr->contentLength + length)
        > messagePtr->readerPtr->maxBytes) {
        return RefuseLarge(sockPtr);
    }
    if (sockPtr->homePtr->nSpoolers > 0 && !HasMemory(sockPtr, length)) {
        return NS_STEP_SPOOL;
    }
    if (!Store(sockPtr, bytes, length)) {
        return Refuse(sockPtr, 503, noRoom);
    }
    NsBodyNoteProgress(messagePtr);
    return NS_STEP_AGAIN;
}

void
NsBodyNoteProgress(const NsMessage *messagePtr)
{
    if (messagePtr->readerPtr->progressPtr != NULL) {
        NsProgressUpdate(messagePtr->readerPtr->progressPtr,
                         (int64_t) messagePtr->contentLength);
    }
}

NsReadStep
NsBodyEndFrames(NsSock *sockPtr)
{
    return Complete(sockPtr);
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
    Limit(sockPtr);
    if (total > readerPtr->maxBytes) {
        return RefuseLarge(sockPtr);
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
        /* It is more than the buffer has room for: not all of it is there. */
        readerPtr->phase = NS_READ_FILE;
        return KeepForFile(threadPtr, sockPtr, bytes, nThere, false);
    }
    return (int64_t) nThere >= total ? Complete(sockPtr) : NS_STEP_AGAIN;
}

/*
 * Bytes of a body that goes to a file.  A spooler thread writes them, if there
 * is one, and what comes behind them.
 */
static NsReadStep
KeepForFile(NsDriverThread *threadPtr, NsSock *sockPtr, const char *bytes,
            size_t length, bool isWhole)
{
    NsReader *readerPtr = sockPtr->messagePtr->readerPtr;

    NsAssert(bytes != NULL && readerPtr->unstored == NULL);
    readerPtr->unstored = bytes;
    readerPtr->unstoredBytes = length;
    readerPtr->isWhole = isWhole;
    return threadPtr->nSpoolers > 0 ? NS_STEP_SPOOL : NsBodyGoOn(sockPtr);
}

NsReadStep
NsBodyGoOn(NsSock *sockPtr)
{
    NsMessage  *messagePtr = sockPtr->messagePtr;
    NsReader   *readerPtr = messagePtr->readerPtr;
    const char *bytes = readerPtr->unstored;

    NsAssert(bytes != NULL);
    readerPtr->unstored = NULL;
    if (!NsBodyStore(sockPtr, bytes, readerPtr->unstoredBytes)) {
        return Refuse(sockPtr, 503, noRoom);
    }
    NsBodyNoteProgress(messagePtr);
    return readerPtr->isWhole ? Complete(sockPtr) : NS_STEP_AGAIN;
}

static NsReadStep
BeginChunks(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    size_t     headBytes = messagePtr->head.headBytes;

    NsAssert(headBytes <= readerPtr->used);
    readerPtr->phase = NS_READ_CHUNKS;
    Limit(sockPtr);
    NsChunkInit(&readerPtr->chunks, (uint64_t) readerPtr->maxBytes);
    if (readerPtr->used == headBytes) {
        SendContinue(sockPtr);
        return NS_STEP_AGAIN;
    }
    return TakeChunks(threadPtr, sockPtr, readerPtr->buffer + headBytes,
                      readerPtr->used - headBytes);
}

static NsReadStep
TakeChunks(NsDriverThread *threadPtr, NsSock *sockPtr, char *bytes,
           size_t length)
{
    NsMessage    *messagePtr = sockPtr->messagePtr;
    NsReader     *readerPtr = messagePtr->readerPtr;
    size_t        nDecoded, nConsumed;
    NsChunkStatus status = NsChunkDecode(&readerPtr->chunks, bytes, length,
                                         &nDecoded, &nConsumed);
    bool          mustSpool;

    NsAssert(nDecoded <= length && nConsumed <= length);
    if (status == NS_CHUNK_TOO_LARGE) {
        return RefuseLarge(sockPtr);
    }
    if (status == NS_CHUNK_BAD) {
        return RefuseChunks(sockPtr, &readerPtr->chunks);
    }
    mustSpool = threadPtr->nSpoolers > 0 && nDecoded > 0u
        && !HasMemory(sockPtr, nDecoded);
    if (mustSpool && bytes == threadPtr->scratch) {
        bytes = NsArenaDup(&messagePtr->arena, bytes, length);
    }
    if (status == NS_CHUNK_DONE) {
        readerPtr->rest = bytes + nConsumed;
        readerPtr->restBytes = length - nConsumed;
    }
    if (mustSpool) {
        return KeepForFile(threadPtr, sockPtr, bytes, nDecoded,
                           status == NS_CHUNK_DONE);
    }
    if (nDecoded > 0u && !Store(sockPtr, bytes, nDecoded)) {
        return Refuse(sockPtr, 503, noRoom);
    }
    return status == NS_CHUNK_DONE ? Complete(sockPtr) : NS_STEP_AGAIN;
}

static NsReadStep
RefuseChunks(NsSock *sockPtr, const NsChunkDecoder *decoderPtr)
{
    char reason[100];

    if (!decoderPtr->hasBadByte) {
        return NsBodyRefuseMalformed(sockPtr, 400, decoderPtr->reason);
    }
    snprintf(reason, sizeof(reason), "%s: byte 0x%02x", decoderPtr->reason,
             decoderPtr->badByte);
    return NsBodyRefuseMalformed(sockPtr, 400, reason);
}

/*
 * The body is there in full.
 */
static NsReadStep
Complete(NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;

    if (messagePtr->contentFile != NULL
        && (int64_t) messagePtr->contentLength
            <= sockPtr->drvPtr->params.maxUpload) {
        NsMessageDropName(messagePtr);
    }
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
 * Before anything of the body is taken, or asked for: how long it may be.
 */
static void
Limit(NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;
    NsReader  *readerPtr = messagePtr->readerPtr;
    int64_t    limit = NsHandOverBodyLimit(sockPtr->drvPtr, messagePtr);

    readerPtr->maxBytes = sockPtr->drvPtr->params.maxInput;
    readerPtr->isUrlLimit = limit < readerPtr->maxBytes;
    if (readerPtr->isUrlLimit) {
        readerPtr->maxBytes = limit;
    }
    NsAssert(readerPtr->maxBytes > 0);
}

static NsReadStep
RefuseLarge(NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    if (!messagePtr->readerPtr->isUrlLimit) {
        return Refuse(sockPtr, 413, "body: larger than maxinput");
    }
    messagePtr->bodyLimit = messagePtr->readerPtr->maxBytes;
    return Refuse(sockPtr, 413, "body: larger than the maxupload of its URL");
}

/*
 * The body cannot be taken.  The rest of it is discarded after the reply.
 */
static NsReadStep
Refuse(NsSock *sockPtr, int status, const char *reason)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    NsAssert(status >= 400 && messagePtr->head.method != NULL);
    Ns_Log(Notice, "%s: refused a request from %s with status %d: %s",
           sockPtr->drvPtr->pub.module, sockPtr->peer, status, reason);
    NsMessageDropFile(messagePtr);
    messagePtr->content = NsArenaZalloc(&messagePtr->arena, 1u);
    messagePtr->contentLength = 0u;
    messagePtr->refusal = status;
    messagePtr->mustClose = true;
    NsDriverCountRefusal(sockPtr->homePtr, status);
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

    if (!HasMemory(sockPtr, length)) {
        return NsBodyStore(sockPtr, bytes, length);
    }
    memcpy(messagePtr->content + messagePtr->contentLength, bytes, length);
    messagePtr->contentLength += length;
    messagePtr->content[messagePtr->contentLength] = '\0';
    return true;
}

bool
NsBodyStore(NsSock *sockPtr, const char *bytes, size_t length)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    if ((messagePtr->contentFd < 0 && !MoveToFile(sockPtr))
        || !WriteFile(sockPtr, bytes, length, messagePtr->contentLength)) {
        return false;
    }
    messagePtr->contentLength += length;
    return true;
}

/*
 * True when there is room in memory for so many bytes more: the body begins
 * there unless it is known to be too long.
 */
static bool
HasMemory(NsSock *sockPtr, size_t length)
{
    const NsMessage *messagePtr = sockPtr->messagePtr;

    return messagePtr->contentFd < 0
        && messagePtr->head.contentLength <= sockPtr->drvPtr->params.readAhead
        && GrowMemory(sockPtr, length);
}

/*
 * From memory, if there is anything of it.
 */
static bool
MoveToFile(NsSock *sockPtr)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    if (!OpenFile(sockPtr)
        || (messagePtr->contentLength > 0u
            && !WriteFile(sockPtr, messagePtr->content,
                          messagePtr->contentLength, 0))) {
        return false;
    }
    messagePtr->content = NULL;
    return true;
}

static bool
WriteFile(const NsSock *sockPtr, const char *bytes, size_t length,
          size_t offset)
{
    NsMessage *messagePtr = sockPtr->messagePtr;

    if (!NsSpoolWrite(NS_SPOOL_BODIES, messagePtr->contentFd, bytes, length,
                      (off_t) offset)) {
        LogShortage(sockPtr, errno);
        return false;
    }
    messagePtr->spoolBytes += (int64_t) length;
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
OpenFile(NsSock *sockPtr)
{
    NsMessage  *messagePtr = sockPtr->messagePtr;
    const char *directory = sockPtr->drvPtr->settings.uploadPath;

    if (IsNamed(sockPtr)) {
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
        messagePtr->contentFd = NsSpoolOpen(directory);
    }
    if (messagePtr->contentFd < 0) {
        LogShortage(sockPtr, errno);
    }
    return messagePtr->contentFd >= 0;
}

/*
 * One whose length is not known yet may become long enough to have a name.
 */
static bool
IsNamed(const NsSock *sockPtr)
{
    const NsDriverParams *paramsPtr = &sockPtr->drvPtr->params;
    int64_t               total = sockPtr->messagePtr->head.contentLength;

    return paramsPtr->maxUpload > 0
        && (total < 0
            || (total > paramsPtr->maxUpload && total > paramsPtr->readAhead));
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
               drvPtr->pub.module,
               NsSpoolDirectory(drvPtr->settings.uploadPath),
               NsSpoolReason(NS_SPOOL_BODIES, reason));
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
