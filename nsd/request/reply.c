/*
 * reply.c --
 *
 *      Sending a reply.
 *
 *      What goes out in one call is gathered: header, chunk head, body, chunk
 *      end, last chunk.  A small body is copied behind the header: the system
 *      takes one piece of memory for less than the copy costs.
 */

#include "nsstring.h"
#include "base/assert.h"
#include "dispatch/pool_stats.h"
#include "request/conn_int.h"
#include "request/reply.h"
#include "request/replyhead.h"
#include "request/replytext.h"
#include "request/reqtrace.h"

#define JOIN_BYTES 4096         /* A larger body is not copied. */

/*
 * Pieces of one send.
 */
typedef struct Gather {
    NsPiece *pieces;
    int      capacity;
    int      n;
    size_t   room;              /* Behind the last piece. */
} Gather;

static void    AddPiece(Gather *gatherPtr, const NsPiece *piecePtr);
static void    AddText(Gather *gatherPtr, const char *text, size_t length);
static void    AddHead(Gather *gatherPtr, NsConn *connPtr, int64_t bodyBytes);
static void    AddBody(Gather *gatherPtr, NsConn *connPtr,
                       const NsPiece *pieces, int nPieces, int64_t bodyBytes);
static void    Release(const NsPiece *pieces, int nPieces);
static Gather  MakeRoom(NsConn *connPtr, NsPiece *stackPieces, int nPieces);
static int64_t SumBytes(const NsPiece *pieces, int nPieces);
static Ns_ReturnCode Transmit(NsConn *connPtr, const Gather *gatherPtr,
                              int64_t bodyBytes, int flags);
static void    Announce(NsConn *connPtr, const Gather *gatherPtr);
static void    NoteBytes(NsConn *connPtr);

Ns_ReturnCode
NsReplySend(NsConn *connPtr, const NsPiece *pieces, int nPieces, int flags)
{
    NsPiece  stackPieces[NS_REPLY_MAX_PIECES];
    Gather   gather = MakeRoom(connPtr, stackPieces, nPieces);
    int64_t  bodyBytes = SumBytes(pieces, nPieces);
    bool     isStream = (flags & NS_CONN_STREAM) != 0;

    if (NsReplyIsClosed(connPtr)) {
        Release(pieces, nPieces);
        return NS_ERROR;
    }
    if (isStream) {
        connPtr->pub.flags |= NS_CONN_STREAM;
    }
    if ((connPtr->pub.flags & (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS)) == 0) {
        AddHead(&gather, connPtr, isStream ? NS_LENGTH_UNKNOWN : bodyBytes);
    }
    if ((connPtr->pub.flags & NS_CONN_SKIPBODY) != 0) {
        Release(pieces, nPieces);
        bodyBytes = 0;
    } else {
        AddBody(&gather, connPtr, pieces, nPieces, bodyBytes);
        if ((flags & NS_CONN_STREAM_CLOSE) != 0
                && (connPtr->pub.flags & NS_CONN_CHUNK) != 0) {
            AddText(&gather, "0\r\n\r\n", 5);
            connPtr->pub.flags |= NS_CONN_SENT_LAST_CHUNK;
        }
    }
    return Transmit(connPtr, &gather, bodyBytes, flags);
}

/*
 * Room for a body, and what goes before it and behind it: on the caller's stack
 * if that is enough.
 */
static Gather
MakeRoom(NsConn *connPtr, NsPiece *stackPieces, int nPieces)
{
    Gather gather = {.pieces = stackPieces, .capacity = NS_REPLY_MAX_PIECES};

    NsAssert(nPieces >= 0);
    if (nPieces + 4 > NS_REPLY_MAX_PIECES) {
        gather.capacity = nPieces + 4;
        gather.pieces = NsArenaAlloc(NsConnArena(connPtr), sizeof(NsPiece)
                                     * (size_t) gather.capacity);
    }
    return gather;
}

void
NsReplyFinish(NsConn *connPtr)
{
    NsSock *sockPtr = connPtr->sockPtr;
    bool    mayKeep;

    if (sockPtr == NULL) {
        return;
    }
    if (NsReplyTextIsOpen(connPtr)) {
        Ns_DString ds;
        NsPiece    piece = {.fd = -1};

        Ns_DStringInit(&ds);
        NsReplyTextEnd(connPtr, &ds);
        piece.base = Tcl_DStringValue(&ds);
        piece.length = (size_t) Tcl_DStringLength(&ds);
        (void) NsReplySend(connPtr, &piece, 1, NS_CONN_STREAM_CLOSE);
        Ns_DStringFree(&ds);
    }
    if ((connPtr->pub.flags & (NS_CONN_CHUNK | NS_CONN_SENT_LAST_CHUNK
                               | NS_CONN_SKIPBODY)) == NS_CONN_CHUNK) {
        (void) NsReplySend(connPtr, NULL, 0, NS_CONN_STREAM_CLOSE);
    }
    NsAssert(!NsReplyTextIsOpen(connPtr));
    NoteBytes(connPtr);
    if (!connPtr->isAnnounced && (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0) {
        NsReqTraceAnnounce(connPtr, NS_ACCESS_SENDING, 0);
    }
    if (NsSockIsQueued(sockPtr)) {
        connPtr->pub.flags |= NS_CONN_SENT_VIA_WRITER;
        NsConnGetRare(connPtr)->deliveryPtr = NsSockFollow(sockPtr);
        if (connPtr->work.poolPtr != NULL) {
            NsPoolCountSpool(connPtr->work.poolPtr);
        }
    }
    mayKeep = connPtr->keep > 0
        && (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0;
    connPtr->sockPtr = NULL;
    connPtr->pub.flags |= NS_CONN_CLOSED;
    NsSockFinish(sockPtr, mayKeep);
    if (nsConnHooks.closeProc != NULL) {
        (*nsConnHooks.closeProc)(connPtr);
    }
}

void
NsReplyAbort(NsConn *connPtr)
{
    connPtr->keep = 0;
    NsReplyFinish(connPtr);
}

int
NsConnTakeSocket(NsConn *connPtr)
{
    NsSock *sockPtr = connPtr->sockPtr;
    Gather  gather;
    NsPiece piece;

    if (sockPtr == NULL) {
        return -1;
    }
    if ((connPtr->pub.flags & (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS)) == 0) {
        if (connPtr->responseLength < 0) {
            connPtr->keep = 0;
        }
        gather = (Gather) {.pieces = &piece, .capacity = 1};
        AddHead(&gather, connPtr, NS_LENGTH_UNKNOWN);
        (void) Transmit(connPtr, &gather, 0, 0);
    }
    NoteBytes(connPtr);
    connPtr->sockPtr = NULL;
    connPtr->pub.flags |= NS_CONN_CLOSED;
    NsConnGetRare(connPtr)->isSocketTaken = true;
    return NsSockTake(sockPtr);
}

bool
NsConnSocketIsTaken(const NsConn *connPtr)
{
    return connPtr->rarePtr != NULL && connPtr->rarePtr->isSocketTaken;
}

Ns_ReturnCode
NsConnSubmit(NsConn *connPtr, NsPiece *pieces, int nPieces)
{
    NsPiece stackPieces[NS_REPLY_MAX_PIECES];
    Gather  gather = MakeRoom(connPtr, stackPieces, nPieces);
    int64_t bodyBytes = SumBytes(pieces, nPieces);

    if (NsReplyIsClosed(connPtr) || connPtr->settingsPtr->nWriters == 0) {
        return NS_ERROR;
    }
    if ((connPtr->pub.flags & (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS)) == 0) {
        AddHead(&gather, connPtr, bodyBytes);
    }
    if ((connPtr->pub.flags & NS_CONN_SKIPBODY) != 0) {
        Release(pieces, nPieces);
    } else {
        AddBody(&gather, connPtr, pieces, nPieces, bodyBytes);
    }
    Announce(connPtr, &gather);
    if (NsSockQueue(connPtr->sockPtr, gather.pieces, gather.n) != NS_OK) {
        connPtr->keep = 0;
    }
    NsReplyFinish(connPtr);
    return NS_OK;
}

static void
AddPiece(Gather *gatherPtr, const NsPiece *piecePtr)
{
    NsAssert(gatherPtr->n < gatherPtr->capacity);
    gatherPtr->pieces[gatherPtr->n++] = *piecePtr;
}

static void
AddText(Gather *gatherPtr, const char *text, size_t length)
{
    AddPiece(gatherPtr, &(NsPiece) {
        .fd = -1, .base = text, .length = length
    });
}

static void
AddHead(Gather *gatherPtr, NsConn *connPtr, int64_t bodyBytes)
{
    size_t      length;
    const char *text;

    NsAssert(gatherPtr->n == 0);
    NsReplyDecide(connPtr, bodyBytes);
    if (bodyBytes > 0 && bodyBytes <= JOIN_BYTES) {
        gatherPtr->room = (size_t) bodyBytes;
    }
    text = NsReplyRender(connPtr, gatherPtr->room, &length);
    AddText(gatherPtr, text, length);
    connPtr->pub.flags |= NS_CONN_SENTHDRS;
}

/*
 * The body's pieces, as a chunk when the reply is chunked.  Nothing to send
 * makes no chunk: an empty one would end the body.
 */
static void
AddBody(Gather *gatherPtr, NsConn *connPtr, const NsPiece *pieces, int nPieces,
        int64_t bodyBytes)
{
    bool  isChunk = (connPtr->pub.flags & NS_CONN_CHUNK) != 0 && bodyBytes > 0;
    char *text;
    int   i, n;

    if (gatherPtr->room > 0 && nPieces == 1 && pieces->fd < 0
            && pieces->releaseProc == NULL) {
        NsPiece *headPtr = &gatherPtr->pieces[0];

        NsAssert(!isChunk && gatherPtr->n == 1
                 && pieces->length <= gatherPtr->room);
        memcpy((char *) headPtr->base + headPtr->length, pieces->base,
               pieces->length);
        headPtr->length += pieces->length;
        return;
    }
    if (isChunk) {
        text = NsArenaAlloc(NsConnArena(connPtr), 24);
        n = snprintf(text, 24, "%" PRIx64 "\r\n", (uint64_t) bodyBytes);
        NsAssert(n > 0 && n < 24);
        AddText(gatherPtr, text, (size_t) n);
    }
    for (i = 0; i < nPieces; i++) {
        AddPiece(gatherPtr, &pieces[i]);
    }
    if (isChunk) {
        AddText(gatherPtr, "\r\n", 2);
    }
}

static void
Release(const NsPiece *pieces, int nPieces)
{
    int i;

    for (i = 0; i < nPieces; i++) {
        if (pieces[i].releaseProc != NULL) {
            (*pieces[i].releaseProc)(pieces[i].arg);
        }
    }
}

static int64_t
SumBytes(const NsPiece *pieces, int nPieces)
{
    int64_t sum = 0;
    int     i;

    for (i = 0; i < nPieces; i++) {
        sum += (int64_t) pieces[i].length;
    }
    return sum;
}

/*
 * Large replies go to a writer thread whole; others only if the client is too
 * slow.
 */
static Ns_ReturnCode
Transmit(NsConn *connPtr, const Gather *gatherPtr, int64_t bodyBytes, int flags)
{
    const NsSockSettings *settingsPtr = connPtr->settingsPtr;
    bool isStream = (flags & (NS_CONN_STREAM | NS_CONN_STREAM_CLOSE)) != 0;
    Ns_ReturnCode result;

    if (gatherPtr->n == 0) {
        return NS_OK;
    }
    if ((flags & NS_CONN_STREAM) == 0 || connPtr->responseLength >= 0) {
        Announce(connPtr, gatherPtr);
    }
    if (settingsPtr->nWriters > 0 && bodyBytes >= settingsPtr->writerSize
            && (!isStream || settingsPtr->writerStreaming)) {
        result = NsSockQueue(connPtr->sockPtr, gatherPtr->pieces, gatherPtr->n);
    } else {
        result = NsSockSend(connPtr->sockPtr, gatherPtr->pieces, gatherPtr->n);
    }
    if (result != NS_OK) {
        connPtr->isBroken = true;
        connPtr->keep = 0;
    }
    NoteBytes(connPtr);
    return result;
}

/*
 * A client that has the whole reply finds it in the log, even if the process
 * dies before the request ends.
 */
static void
Announce(NsConn *connPtr, const Gather *gatherPtr)
{
    NsReqTraceAnnounce(connPtr, NS_ACCESS_SENDING,
                     SumBytes(gatherPtr->pieces, gatherPtr->n));
}

static void
NoteBytes(NsConn *connPtr)
{
    atomic_store_explicit(&connPtr->bytesSent, NsSockBytes(connPtr->sockPtr),
                          memory_order_relaxed);
}
