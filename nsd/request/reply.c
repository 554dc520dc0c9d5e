/* SPDX-License-Identifier: MPL-2.0
 * reply.c --
 *
 *      Sending a reply.
 *
 *      Whatever is sent passes the same stages.  Decide and AddHead have
 *      something to do once per reply; the others for each output.  Account
 *      follows when the handler is done, and no stage runs after it.
 *
 *      What goes out in one call is gathered: header, chunk head, body, chunk
 *      end, last chunk.  A small body is copied behind the header: the system
 *      takes one piece of memory for less than the copy costs.
 */

#include "request/reply.h"

#include "nslog.h"
#include "nsstring.h"
#include "base/assert.h"
#include "dispatch/pool_stats.h"
#include "net/output.h"
#include "request/conn_int.h"
#include "request/insert.h"
#include "request/replyhead.h"
#include "request/replytext.h"
#include "request/reqtrace.h"

#define JOIN_BYTES 4096 /* A larger body is not copied. */
#define MAX_EXTRA  4    /* Pieces before and behind a body. */
#define BEGUN      (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS)

/*
 * The output of one call.
 */
typedef struct Output {
    NsConn        *connPtr;
    const NsPiece *body;
    int            nBody;
    int            flags; /* NS_CONN_STREAM, NS_CONN_STREAM_CLOSE. */
    int64_t        bodyBytes;
    int64_t        length;      /* Of the whole body, or NS_LENGTH_UNKNOWN. */
    bool           isForWriter; /* Goes to a writer thread in any case. */
    Ns_ReturnCode  result;

    NsPiece *pieces; /* Gathered so far. */
    int      capacity;
    int      n;
    size_t   room; /* Behind the header. */
} Output;

typedef void StageProc(Output *outPtr);

static StageProc Decide;
static StageProc AddHead;
static StageProc AddBody;
static StageProc Announce;
static StageProc Send;

static StageProc *const stages[] = {Decide, AddHead, AddBody, Announce, Send};

static int           Take(NsConn *connPtr, Ns_Sock *takenPtr);
static void          Insert(Output *outPtr) __attribute__((cold, noinline));
static Ns_ReturnCode RunStages(Output *outPtr);
static NsPiece      *NextPiece(Output *outPtr);
static bool          IsOverrun(const NsConn *connPtr);
static void          CutBody(Output *outPtr);
static void          AddText(Output *outPtr, const char *text, size_t length);
static int64_t       SumBytes(const NsPiece *pieces, int nPieces);
static bool          IsBodyDue(const NsConn *connPtr);
static void          Finish(NsConn *connPtr, bool isCut);
static void          EndBody(NsConn *connPtr);
static void          Account(NsConn *connPtr);
static bool          IsBodyOpen(const NsConn *connPtr);
static void          NoteBytes(NsConn *connPtr);
static void          CheckReply(const NsConn *connPtr);

Ns_ReturnCode
NsReplySend(NsConn *connPtr, const NsPiece *pieces, int nPieces, int flags)
{
    int64_t bytes = SumBytes(pieces, nPieces);

    if (NsReplyIsClosed(connPtr)) {
        NsPiecesRelease(pieces, nPieces);
        return NS_ERROR;
    }
    connPtr->pub.flags |= flags & NS_CONN_STREAM;
    return RunStages(&(Output){
        .connPtr = connPtr,
        .body = pieces,
        .nBody = nPieces,
        .flags = flags,
        .bodyBytes = bytes,
        .length = (flags & NS_CONN_STREAM) != 0 ? NS_LENGTH_UNKNOWN : bytes});
}

Ns_ReturnCode
NsConnSubmit(NsConn *connPtr, NsPiece *pieces, int nPieces)
{
    int64_t bytes = SumBytes(pieces, nPieces);

    if (NsReplyIsClosed(connPtr) || connPtr->settingsPtr->nWriters == 0) {
        return NS_ERROR;
    }
    (void) RunStages(&(Output){
        .connPtr = connPtr,
        .body = pieces,
        .nBody = nPieces,
        .bodyBytes = bytes,
        .length = bytes,
        .isForWriter = true});
    NsReplyFinish(connPtr);
    return NS_OK;
}

int
NsConnTakeSocket(NsConn *connPtr)
{
    return Take(connPtr, NULL);
}

static int
Take(NsConn *connPtr, Ns_Sock *takenPtr)
{
    NsSock *sockPtr = connPtr->sockPtr;

    NsAssert(takenPtr == NULL || takenPtr->arg == NULL);
    if (sockPtr == NULL) {
        return -1;
    }
    if ((connPtr->pub.flags & (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS)) == 0
        && connPtr->responseLength < 0) {
        connPtr->keep = 0;
    }
    (void) RunStages(&(Output){
        .connPtr = connPtr, .length = NS_LENGTH_UNKNOWN});
    if (NsReplyTextIsOpen(connPtr)) {
        NsReplyTextDrop(connPtr);
    }
    NoteBytes(connPtr);
    connPtr->replyState = NS_REPLY_ACCOUNTED;
    connPtr->sockPtr = NULL;
    connPtr->pub.flags |= NS_CONN_CLOSED;
    NsConnGetRare(connPtr)->isSocketTaken = true;
    return NsSockTake(sockPtr, takenPtr);
}

int
NsConnDetach(NsConn *connPtr, Ns_Sock *takenPtr)
{
    NsConnGetRare(connPtr)->isDetached = true;
    connPtr->pub.flags |= NS_CONN_SKIPHDRS;
    return Take(connPtr, takenPtr);
}

bool
NsConnIsDetached(const NsConn *connPtr)
{
    return connPtr->rarePtr != NULL && connPtr->rarePtr->isDetached;
}

void
NsReplyFinish(NsConn *connPtr)
{
    Finish(connPtr, false);
}

void
NsReplyAbort(NsConn *connPtr)
{
    connPtr->keep = 0;
    Finish(connPtr, true);
}

static void
Finish(NsConn *connPtr, bool isCut)
{
    NsSock *sockPtr = connPtr->sockPtr;
    bool    mayKeep;

    CheckReply(connPtr);
    if (sockPtr == NULL) {
        return;
    }
    if (IsBodyDue(connPtr) && !isCut) {
        EndBody(connPtr);
    }
    Account(connPtr);
    if (isCut && IsBodyOpen(connPtr)) {
        NsSockCut(sockPtr);
    }
    mayKeep = connPtr->keep > 0 && (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0;
    connPtr->sockPtr = NULL;
    connPtr->pub.flags |= NS_CONN_CLOSED;
    NsSockFinish(sockPtr, mayKeep);
    CheckReply(connPtr);
    if (nsConnHooks.closeProc != NULL) {
        nsConnHooks.closeProc(connPtr);
    }
}

bool
NsConnSocketIsTaken(const NsConn *connPtr)
{
    return connPtr->rarePtr != NULL && connPtr->rarePtr->isSocketTaken;
}

/*
 * The pieces are gathered on the stack if there is room.
 */
static Ns_ReturnCode
RunStages(Output *outPtr)
{
    NsPiece pieces[NS_REPLY_MAX_PIECES];

    NsAssert(outPtr->nBody >= 0);
    outPtr->pieces = pieces;
    outPtr->capacity = NS_REPLY_MAX_PIECES;
    if (outPtr->nBody + MAX_EXTRA > NS_REPLY_MAX_PIECES) {
        outPtr->capacity = outPtr->nBody + MAX_EXTRA;
        outPtr->pieces = NsArenaAlloc(NsConnArena(outPtr->connPtr),
                                      sizeof(NsPiece)
                                          * (size_t) outPtr->capacity);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Ns_NrElements(stages); i++) {
        stages[i](outPtr);
    }
    return outPtr->result;
}

static void
Decide(Output *outPtr)
{
    NsConn *connPtr = outPtr->connPtr;

    NsAssert(connPtr->replyState != NS_REPLY_ACCOUNTED);
    if ((connPtr->pub.flags & (BEGUN | NS_CONN_HAS_INSERT)) == 0) {
        NsReplyDecide(connPtr, outPtr->length);
    } else if ((connPtr->pub.flags & NS_CONN_HAS_INSERT) != 0) {
        Insert(outPtr);
    }
}

/*
 * The element of NsConnInsert, then what Decide does for others.  Not a part of
 * it: no reply in production comes here.
 */
static void
Insert(Output *outPtr)
{
    NsConn        *connPtr = outPtr->connPtr;
    NsInsertOutput output = {.pieces = outPtr->body,
                             .n = outPtr->nBody,
                             .bytes = outPtr->bodyBytes,
                             .isWhole = outPtr->length != NS_LENGTH_UNKNOWN};

    NsConnInsertInto(connPtr, &output);
    outPtr->body = output.pieces;
    outPtr->nBody = output.n;
    if (outPtr->length != NS_LENGTH_UNKNOWN) {
        outPtr->length += output.bytes - outPtr->bodyBytes;
    }
    outPtr->bodyBytes = output.bytes;
    if ((connPtr->pub.flags & BEGUN) == 0) {
        NsReplyDecide(connPtr, outPtr->length);
    }
}

static void
AddHead(Output *outPtr)
{
    NsConn     *connPtr = outPtr->connPtr;
    const char *text;
    size_t      length;

    NsAssert(outPtr->n == 0);
    if (connPtr->replyState != NS_REPLY_DECIDED) {
        return;
    }
    if (outPtr->length > 0 && outPtr->length <= JOIN_BYTES) {
        outPtr->room = (size_t) outPtr->length;
    }
    text = NsReplyRender(connPtr, outPtr->room, &length);
    AddText(outPtr, text, length);
}

/*
 * The body's pieces, as a chunk when the reply is chunked.  Nothing to send is
 * not a chunk: an empty one would end the body.
 */
static void
AddBody(Output *outPtr)
{
    NsConn        *connPtr = outPtr->connPtr;
    const NsPiece *body = outPtr->body;
    bool           isChunked = (connPtr->pub.flags & NS_CONN_CHUNK) != 0;
    char          *text;
    int            n;

    if ((connPtr->pub.flags & NS_CONN_SKIPBODY) != 0) {
        NsPiecesRelease(body, outPtr->nBody);
        outPtr->bodyBytes = 0;
        return;
    }
    connPtr->bodyBytes += outPtr->bodyBytes;
    if (unlikely(IsOverrun(connPtr))) {
        CutBody(outPtr);
        body = outPtr->body;
    }
    if (outPtr->room > 0 && outPtr->nBody == 1 && body->fd < 0
        && body->releaseProc == NULL) {
        NsPiece *headPtr = &outPtr->pieces[0];

        NsAssert(!isChunked && outPtr->n == 1 && body->length <= outPtr->room);
        memcpy((char *) headPtr->base + headPtr->length, body->base,
               body->length);
        headPtr->length += body->length;
        return;
    }
    if (isChunked && outPtr->bodyBytes > 0) {
        text = NsArenaAlloc(NsConnArena(connPtr), 24);
        n = snprintf(text, 24, "%" PRIx64 "\r\n", (uint64_t) outPtr->bodyBytes);
        NsAssert(n > 0 && n < 24);
        AddText(outPtr, text, (size_t) n);
    }
    for (int i = 0; i < outPtr->nBody; i++) {
        *NextPiece(outPtr) = body[i];
    }
    if (isChunked && outPtr->bodyBytes > 0) {
        AddText(outPtr, "\r\n", 2);
    }
    if (isChunked && (outPtr->flags & NS_CONN_STREAM_CLOSE) != 0) {
        AddText(outPtr, "0\r\n\r\n", 5);
        connPtr->pub.flags |= NS_CONN_SENT_LAST_CHUNK;
    }
}

/*
 * Whether there is more of the body than its length says.
 */
static bool
IsOverrun(const NsConn *connPtr)
{
    return connPtr->responseLength >= 0
        && connPtr->bodyBytes > connPtr->responseLength
        && (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0;
}

/*
 * The client would take the surplus for the start of the next reply.
 */
static void
CutBody(Output *outPtr)
{
    const NsConn *connPtr = outPtr->connPtr;
    int64_t       surplus = MIN(connPtr->bodyBytes - connPtr->responseLength,
                                outPtr->bodyBytes);
    NsPiece      *pieces = NsArenaAlloc(NsConnArena(outPtr->connPtr),
                                        sizeof(NsPiece) * (size_t) outPtr->nBody);

    NsAssert(surplus > 0 && (outPtr->flags & NS_CONN_CHUNK) == 0);
    memcpy(pieces, outPtr->body, sizeof(NsPiece) * (size_t) outPtr->nBody);
    outPtr->bodyBytes -= surplus;
    for (int i = outPtr->nBody - 1; surplus > 0; i--) {
        size_t cut = MIN((size_t) surplus, pieces[i].length);

        pieces[i].length -= cut;
        surplus -= (int64_t) cut;
    }
    outPtr->body = pieces;
}

static void
AddText(Output *outPtr, const char *text, size_t length)
{
    *NextPiece(outPtr) = (NsPiece){.fd = -1, .base = text, .length = length};
}

static NsPiece *
NextPiece(Output *outPtr)
{
    NsAssert(outPtr->n < outPtr->capacity);
    return &outPtr->pieces[outPtr->n++];
}

/*
 * A client that has the whole reply finds it in the log, even if the process
 * dies before the request ends.
 */
static void
Announce(Output *outPtr)
{
    NsConn *connPtr = outPtr->connPtr;

    if (outPtr->n > 0
        && ((outPtr->flags & NS_CONN_STREAM) == 0
            || connPtr->responseLength >= 0)) {
        NsReqTraceAnnounce(connPtr, NS_ACCESS_SENDING,
                           SumBytes(outPtr->pieces, outPtr->n));
    }
}

/*
 * The largest replies go to a writer thread whole; others only if the client is
 * too slow.
 */
static void
Send(Output *outPtr)
{
    NsConn               *connPtr = outPtr->connPtr;
    const NsSockSettings *settingsPtr = connPtr->settingsPtr;
    bool isStream = (outPtr->flags & (NS_CONN_STREAM | NS_CONN_STREAM_CLOSE))
        != 0;

    if (outPtr->n == 0) {
        return;
    }
    if (outPtr->isForWriter
        || (NsSockIsForWriter(connPtr->sockPtr, outPtr->bodyBytes)
            && (!isStream || settingsPtr->writerStreaming))) {
        outPtr->result = NsSockQueue(connPtr->sockPtr, outPtr->pieces,
                                     outPtr->n);
    } else {
        outPtr->result = NsSockSend(connPtr->sockPtr, outPtr->pieces,
                                    outPtr->n);
    }
    if (outPtr->result != NS_OK) {
        connPtr->isBroken = true;
        connPtr->keep = 0;
    }
    NoteBytes(connPtr);
}

/*
 * Whether the end of a compressed text, or the last chunk, is still to be sent.
 */
static bool
IsBodyDue(const NsConn *connPtr)
{
    return NsReplyTextIsOpen(connPtr)
        || (connPtr->pub.flags
            & (NS_CONN_CHUNK | NS_CONN_SENT_LAST_CHUNK | NS_CONN_SKIPBODY))
        == NS_CONN_CHUNK;
}

static void
EndBody(NsConn *connPtr)
{
    bool       isText = NsReplyTextIsOpen(connPtr);
    Ns_DString ds;
    NsPiece    piece = {.fd = -1};

    Ns_DStringInit(&ds);
    if (isText) {
        NsReplyTextEnd(connPtr, &ds);
    }
    piece.base = Tcl_DStringValue(&ds);
    piece.length = (size_t) Tcl_DStringLength(&ds);
    (void) NsReplySend(connPtr, &piece, isText, NS_CONN_STREAM_CLOSE);
    Ns_DStringFree(&ds);
}

/*
 * The bytes are counted, the logs know of the reply, and its log records follow
 * what a writer thread still sends.  After a body of another length than
 * announced, nobody knows where the next reply begins.
 */
static void
Account(NsConn *connPtr)
{
    NsAssert(connPtr->replyState != NS_REPLY_ACCOUNTED);
    NsAssert(!NsReplyTextIsOpen(connPtr));
    NoteBytes(connPtr);
    if (connPtr->responseLength >= 0
        && connPtr->bodyBytes != connPtr->responseLength
        && (connPtr->pub.flags & NS_CONN_SKIPBODY) == 0) {
        connPtr->keep = 0;
        if (connPtr->bodyBytes < connPtr->responseLength && !connPtr->isBroken
            && (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0) {
            NsSockCut(connPtr->sockPtr);
        }
        if (IsOverrun(connPtr)) {
            Ns_Log(Warning,
                   "conn[%s]: the body has %" PRId64
                   " bytes more than its Content-Length of %" PRId64
                   ": they are not sent",
                   NsConnRequest(connPtr)->url,
                   connPtr->bodyBytes - connPtr->responseLength,
                   connPtr->responseLength);
        }
    }
    if (!connPtr->isAnnounced && (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0) {
        NsReqTraceAnnounce(connPtr, NS_ACCESS_SENDING, 0);
    }
    if (NsSockIsQueued(connPtr->sockPtr)) {
        connPtr->pub.flags |= NS_CONN_SENT_VIA_WRITER;
        NsConnGetRare(connPtr)->receiptPtr = NsSockFollow(connPtr->sockPtr);
        if (connPtr->work.poolPtr != NULL) {
            NsPoolCountSpool(connPtr->work.poolPtr);
        }
    }
    connPtr->replyState = NS_REPLY_ACCOUNTED;
}

/*
 * Whether the client expects more than it got, and no length tells so.
 */
static bool
IsBodyOpen(const NsConn *connPtr)
{
    return connPtr->responseLength < 0 && !connPtr->isBroken
        && (connPtr->pub.flags
            & (NS_CONN_SENTHDRS | NS_CONN_SENT_LAST_CHUNK | NS_CONN_SKIPBODY))
        == NS_CONN_SENTHDRS;
}

static int64_t
SumBytes(const NsPiece *pieces, int nPieces)
{
    int64_t sum = 0;

    for (int i = 0; i < nPieces; i++) {
        sum += (int64_t) pieces[i].length;
    }
    return sum;
}

static void
NoteBytes(NsConn *connPtr)
{
    atomic_store_explicit(&connPtr->bytesSent, NsSockBytes(connPtr->sockPtr),
                          memory_order_relaxed);
}

/*
 * The socket is ours until the reply is accounted for.
 */
static void
CheckReply(const NsConn *connPtr)
{
    NsAssert((connPtr->sockPtr == NULL)
             == (connPtr->replyState == NS_REPLY_ACCOUNTED));
    NsAssert(connPtr->replyState != NS_REPLY_DECIDED);
}
