/* SPDX-License-Identifier: MPL-2.0
 * return.c --
 *
 *      Whole replies.
 */

#include "request/return.h"
#include "nsconn.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "http/range.h"
#include "request/conn_int.h"
#include "request/errorpage.h"
#include "request/reply.h"
#include "request/replyhead.h"

static NsRangeStatus FindRanges(NsConn *connPtr, int status,
                                const NsBody *bodyPtr, NsRange *ranges,
                                int *nPtr);
static int  SendWhole(NsConn *connPtr, const char *type, const NsBody *bodyPtr);
static int  SendRange(NsConn *connPtr, const char *type, const NsBody *bodyPtr,
                      const NsRange *rangePtr);
static int  SendRanges(NsConn *connPtr, const char *type, const NsBody *bodyPtr,
                       const NsRange *ranges, int n);
static int  SendNoRange(NsConn *connPtr, const NsBody *bodyPtr);
static void SetBodyHeaders(NsConn *connPtr, const char *type);
static NsPiece BodyPiece(const NsBody *bodyPtr, uint64_t offset,
                         uint64_t length);
static NsPiece TextPiece(const char *text, size_t length);
static void    ReleaseBody(const NsBody *bodyPtr);
static int     Finish(NsConn *connPtr, int result);
static void    StartStream(Ns_Conn *conn, int status, const char *type,
                           size_t length);

int
NsReturnBody(NsConn *connPtr, int status, const char *type,
             const NsBody *bodyPtr)
{
    NsRange ranges[NS_MAX_RANGES];
    int     n = 0;

    NsAssert(bodyPtr->fd >= 0 || bodyPtr->base != NULL || bodyPtr->length == 0);
    if (NsReplyIsClosed(connPtr)) {
        ReleaseBody(bodyPtr);
        return NS_ERROR;
    }
    Ns_ConnSetResponseStatus(&connPtr->pub, status);
    switch (FindRanges(connPtr, status, bodyPtr, ranges, &n)) {
    case NS_RANGE_UNSATISFIABLE:
        return SendNoRange(connPtr, bodyPtr);
    case NS_RANGE_SOME:
        NsAssert(n > 0 && n <= NS_MAX_RANGES);
        Ns_ConnSetResponseStatus(&connPtr->pub, 206);
        return n == 1 ? SendRange(connPtr, type, bodyPtr, ranges)
                      : SendRanges(connPtr, type, bodyPtr, ranges, n);
    case NS_RANGE_NONE:
        break;
    }
    return SendWhole(connPtr, type, bodyPtr);
}

int
Ns_ConnReturnData(Ns_Conn *conn, int status, const char *data, ssize_t length,
                  const char *type)
{
    NsBody body = {.fd = -1,
                   .base = data,
                   .length = length < 0 ? strlen(data) : (size_t) length};

    return NsReturnBody(NsConnOf(conn), status, type, &body);
}

int
Ns_ConnReturnCharData(Ns_Conn *conn, int status, const char *text,
                      ssize_t length, const char *type)
{
    if (NsReplyIsClosed(NsConnOf(conn))) {
        return NS_OK;
    }
    Ns_ConnSetResponseStatus(conn, status);
    if (type != NULL && (conn->flags & NS_CONN_SENTHDRS) == 0) {
        Ns_ConnSetEncodedTypeHeader(conn, type);
    }
    return Finish(NsConnOf(conn),
                  Ns_ConnWriteChars(conn, text,
                                    length < 0 ? strlen(text) : (size_t) length,
                                    0));
}

int
Ns_ConnReturnHtml(Ns_Conn *conn, int status, const char *html, ssize_t length)
{
    return Ns_ConnReturnCharData(conn, status, html, length, "text/html");
}

int
Ns_ConnReturnOpenFd(Ns_Conn *conn, int status, const char *type, int fd,
                    size_t length)
{
    StartStream(conn, status, type, length);
    return Finish(NsConnOf(conn),
                  Ns_ConnSendFd(conn, fd, (Tcl_WideInt) length));
}

int
Ns_ConnReturnOpenFile(Ns_Conn *conn, int status, const char *type, FILE *file,
                      size_t length)
{
    StartStream(conn, status, type, length);
    return Finish(NsConnOf(conn),
                  Ns_ConnSendFp(conn, file, (Tcl_WideInt) length));
}

int
Ns_ConnReturnOpenChannel(Ns_Conn *conn, int status, const char *type,
                         Tcl_Channel channel, size_t length)
{
    StartStream(conn, status, type, length);
    return Finish(NsConnOf(conn),
                  Ns_ConnSendChannel(conn, channel, (Tcl_WideInt) length));
}

int
Ns_ConnReturnStatus(Ns_Conn *conn, int status)
{
    int result;

    if (NsErrorPageReturn(NsConnOf(conn), status, &result)) {
        return result;
    }
    if (NsReplyIsClosed(NsConnOf(conn))) {
        return NS_OK;
    }
    Ns_ConnSetResponseStatus(conn, status);
    return Finish(NsConnOf(conn), Ns_ConnWriteData(conn, "", 0, 0));
}

int
Ns_ConnReturnOk(Ns_Conn *conn)
{
    return Ns_ConnReturnStatus(conn, 200);
}

int
Ns_ConnReturnNoResponse(Ns_Conn *conn)
{
    return Ns_ConnReturnStatus(conn, 204);
}

int
Ns_ConnReturnNotModified(Ns_Conn *conn)
{
    return Ns_ConnReturnStatus(conn, 304);
}

void
Ns_ConnConstructHeaders(Ns_Conn *conn, Ns_DString *dsPtr)
{
    (void) Ns_CompleteHeaders(conn, NsConnOf(conn)->responseLength, 0, dsPtr);
}

void
Ns_ConnQueueHeaders(Ns_Conn *conn, int status)
{
    Ns_ConnSetResponseStatus(conn, status);
}

Tcl_WideInt
Ns_ConnFlushHeaders(Ns_Conn *conn, int status)
{
    Ns_ConnSetResponseStatus(conn, status);
    (void) Ns_ConnWriteData(conn, "", 0, NS_CONN_STREAM);
    return Ns_ConnContentSent(conn);
}

int
Ns_ConnResetReturn(Ns_Conn *conn)
{
    return NS_OK;
}

/*
 * Only a reply to GET that would be a plain 200 can be given in parts (RFC 9110
 * 14.2).
 */
static NsRangeStatus
FindRanges(NsConn *connPtr, int status, const NsBody *bodyPtr, NsRange *ranges,
           int *nPtr)
{
    Ns_Set     *headers = connPtr->pub.headers;
    const char *range = Ns_SetIGet(headers, "Range");

    if (range == NULL || status != 200 || connPtr->status != 200
        || NsConnRequest(connPtr)->method == NULL
        || !STREQ(NsConnRequest(connPtr)->method, "GET")
        || (connPtr->pub.flags & (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS)) != 0
        || !NsJudgeIfRange(Ns_SetIGet(headers, "If-Range"),
                           &bodyPtr->validators)) {
        return NS_RANGE_NONE;
    }
    return NsRangeParse(range, bodyPtr->length, ranges, nPtr);
}

static int
SendWhole(NsConn *connPtr, const char *type, const NsBody *bodyPtr)
{
    NsPiece piece = BodyPiece(bodyPtr, 0, bodyPtr->length);

    SetBodyHeaders(connPtr, type);
    piece.releaseProc = bodyPtr->releaseProc;
    piece.arg = bodyPtr->arg;
    return Finish(connPtr, NsReplySend(connPtr, &piece, 1, 0));
}

static int
SendRange(NsConn *connPtr, const char *type, const NsBody *bodyPtr,
          const NsRange *rangePtr)
{
    NsPiece piece = BodyPiece(bodyPtr, rangePtr->first,
                              rangePtr->last - rangePtr->first + 1);
    char    text[NS_CONTENT_RANGE_BYTES];

    SetBodyHeaders(connPtr, type);
    (void) NsRangeContentRange(text, rangePtr, bodyPtr->length);
    Ns_ConnSetHeaders(&connPtr->pub, "Content-Range", text);
    piece.releaseProc = bodyPtr->releaseProc;
    piece.arg = bodyPtr->arg;
    return Finish(connPtr, NsReplySend(connPtr, &piece, 1, 0));
}

/*
 * Several pieces of one body: they are sent as the caller's, which costs a
 * copy, or a descriptor, only if the client is slow; the body is released
 * afterwards.
 */
static int
SendRanges(NsConn *connPtr, const char *type, const NsBody *bodyPtr,
           const NsRange *ranges, int n)
{
    NsPiece *pieces;
    size_t   bytes;
    char    *text;
    int      i, nPieces = 0, result;

    pieces = NsArenaAlloc(NsConnArena(connPtr),
                          sizeof(NsPiece) * (3 * (size_t) n + 1));
    if (type == NULL) {
        type = "*/*";
    }
    for (i = 0; i < n; i++) {
        bytes = NsRangePartHead(NULL, 0, type, &ranges[i], bodyPtr->length) + 1;
        text = NsArenaAlloc(NsConnArena(connPtr), bytes);
        bytes = NsRangePartHead(text, bytes, type, &ranges[i], bodyPtr->length);
        pieces[nPieces++] = TextPiece(text, bytes);
        pieces[nPieces++] = BodyPiece(bodyPtr, ranges[i].first,
                                      ranges[i].last - ranges[i].first + 1);
        pieces[nPieces++] = TextPiece(NS_RANGE_PART_END,
                                      sizeof(NS_RANGE_PART_END) - 1);
    }
    pieces[nPieces++] = TextPiece(NS_RANGE_TAIL, sizeof(NS_RANGE_TAIL) - 1);
    NsAssert(nPieces == 3 * n + 1);
    SetBodyHeaders(connPtr, NS_RANGE_TYPE);
    result = NsReplySend(connPtr, pieces, nPieces, 0);
    ReleaseBody(bodyPtr);
    return Finish(connPtr, result);
}

static int
SendNoRange(NsConn *connPtr, const NsBody *bodyPtr)
{
    char text[NS_CONTENT_RANGE_BYTES];

    ReleaseBody(bodyPtr);
    Ns_SetIDeleteKey(connPtr->pub.outputheaders, "Content-Encoding");
    (void) NsRangeContentRange(text, NULL, bodyPtr->length);
    Ns_ConnSetHeaders(&connPtr->pub, "Content-Range", text);
    return Ns_ConnReturnStatus(&connPtr->pub, 416);
}

static void
SetBodyHeaders(NsConn *connPtr, const char *type)
{
    if ((connPtr->pub.flags & NS_CONN_SENTHDRS) != 0) {
        return;
    }
    if (type != NULL) {
        Ns_ConnSetTypeHeader(&connPtr->pub, type);
    }
    Ns_ConnCondSetHeaders(&connPtr->pub, "Accept-Ranges", "bytes");
}

static NsPiece
BodyPiece(const NsBody *bodyPtr, uint64_t offset, uint64_t length)
{
    NsPiece piece = {.fd = bodyPtr->fd, .length = (size_t) length};

    NsAssert(length <= bodyPtr->length && offset <= bodyPtr->length - length);
    if (bodyPtr->fd < 0) {
        piece.base = (const char *) bodyPtr->base + offset;
    } else {
        piece.offset = (off_t) offset;
    }
    return piece;
}

static NsPiece
TextPiece(const char *text, size_t length)
{
    return (NsPiece){.fd = -1, .base = text, .length = length};
}

static void
ReleaseBody(const NsBody *bodyPtr)
{
    if (bodyPtr->releaseProc != NULL) {
        bodyPtr->releaseProc(bodyPtr->arg);
    }
}

static int
Finish(NsConn *connPtr, int result)
{
    NsReplyFinish(connPtr);
    return result;
}

static void
StartStream(Ns_Conn *conn, int status, const char *type, size_t length)
{
    Ns_ConnSetResponseStatus(conn, status);
    if ((conn->flags & NS_CONN_SENTHDRS) == 0) {
        if (type != NULL) {
            Ns_ConnSetTypeHeader(conn, type);
        }
        NsConnOf(conn)->responseLength = (int64_t) length;
    }
}
