/* SPDX-License-Identifier: MPL-2.0
 * write.c --
 *
 *      Output of handlers: bytes, text, files, and the end of the reply.
 */

#include "nsconn.h"
#include "nsstring.h"
#include "base/assert.h"
#include "request/conn_int.h"
#include "request/reply.h"
#include "request/replyhead.h"
#include "request/replytext.h"
#include "request/reqtrace.h"

#define COPY_BYTES 65536 /* Read from channels and pipes at a time. */

typedef ssize_t ReadProc(void *source, char *buffer, size_t size);

static int Copy(NsConn *connPtr, ReadProc *proc, void *source, int64_t bytes);
static ssize_t ReadFd(void *source, char *buffer, size_t size);
static ssize_t ReadFp(void *source, char *buffer, size_t size);
static ssize_t ReadChannel(void *source, char *buffer, size_t size);

int
Ns_ConnWriteData(Ns_Conn *conn, const void *bytes, size_t length, int flags)
{
    struct iovec buf = {(void *) bytes, length};

    return Ns_ConnWriteVData(conn, &buf, 1, flags);
}

int
Ns_ConnWriteVData(Ns_Conn *conn, struct iovec *bufs, int nBufs, int flags)
{
    NsConn *connPtr = NsConnOf(conn);
    NsPiece stackPieces[16], *pieces = stackPieces;
    int     i, n = 0;

    if (nBufs > Ns_NrElements(stackPieces)) {
        pieces = NsArenaAlloc(NsConnArena(connPtr),
                              sizeof(NsPiece) * (size_t) nBufs);
    }
    NsAssert(nBufs >= 0);
    for (i = 0; i < nBufs; i++) {
        if (bufs[i].iov_len > 0) {
            pieces[n++] = (NsPiece){
                .fd = -1, .base = bufs[i].iov_base, .length = bufs[i].iov_len};
        }
    }
    NsAssert(n <= nBufs);
    return NsReplySend(connPtr, pieces, n, flags);
}

int
Ns_ConnWriteChars(Ns_Conn *conn, const char *text, size_t length, int flags)
{
    struct iovec buf = {(void *) text, length};

    return Ns_ConnWriteVChars(conn, &buf, 1, flags);
}

int
Ns_ConnWriteVChars(Ns_Conn *conn, struct iovec *bufs, int nBufs, int flags)
{
    NsReplyText text;
    int         result;

    NsReplyTextMake(&text, NsConnOf(conn), bufs, nBufs, flags);
    result = Ns_ConnWriteVData(conn, text.bufs, text.nBufs, flags);
    NsReplyTextFree(&text);
    return result;
}

ssize_t
Ns_ConnSend(Ns_Conn *conn, struct iovec *bufs, int nBufs)
{
    NsConn *connPtr = NsConnOf(conn);
    NsPiece pieces[NS_CONN_MAXBUFS];
    int64_t bytes = 0;
    ssize_t sent = 0;

    if (connPtr->sockPtr == NULL) {
        return -1;
    }
    for (int i = 0; i < nBufs; i++) {
        bytes += (int64_t) bufs[i].iov_len;
    }
    connPtr->bodyBytes += bytes;
    NsReqTraceAnnounce(connPtr, NS_ACCESS_SENDING, bytes);
    while (nBufs > 0) {
        int n = MIN(nBufs, NS_CONN_MAXBUFS);

        for (int i = 0; i < n; i++) {
            pieces[i] = (NsPiece){
                .fd = -1, .base = bufs[i].iov_base, .length = bufs[i].iov_len};
            sent += (ssize_t) bufs[i].iov_len;
        }
        if (NsSockSend(connPtr->sockPtr, pieces, n) != NS_OK) {
            connPtr->keep = 0;
            return -1;
        }
        bufs += n;
        nBufs -= n;
    }
    Ns_ConnSetContentSent(conn, NsSockBytes(connPtr->sockPtr));
    return sent;
}

int
Ns_ConnSendFd(Ns_Conn *conn, int fd, Tcl_WideInt bytes)
{
    struct stat status;
    off_t       offset = lseek(fd, 0, SEEK_CUR);

    if (offset >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        NsPiece piece = {.fd = fd, .offset = offset};
        int64_t rest = MAX(0, status.st_size - offset);

        piece.length = (size_t) (bytes < 0 ? rest : MIN(bytes, rest));
        if (NsReplySend(NsConnOf(conn), &piece, 1, 0) != NS_OK) {
            return NS_ERROR;
        }
        (void) lseek(fd, offset + (off_t) piece.length, SEEK_SET);
        return bytes > rest ? NS_ERROR : NS_OK;
    }
    return Copy(NsConnOf(conn), ReadFd, &fd, bytes);
}

int
Ns_ConnSendFp(Ns_Conn *conn, FILE *file, Tcl_WideInt bytes)
{
    return Copy(NsConnOf(conn), ReadFp, file, bytes);
}

int
Ns_ConnSendChannel(Ns_Conn *conn, Tcl_Channel channel, Tcl_WideInt bytes)
{
    return Copy(NsConnOf(conn), ReadChannel, channel, bytes);
}

int
Ns_ConnSendFileVec(Ns_Conn *conn, Ns_FileVec *vectors, int n)
{
    NsConn  *connPtr = NsConnOf(conn);
    NsPiece *pieces = NsArenaZalloc(NsConnArena(connPtr),
                                    sizeof(NsPiece) * (size_t) MAX(1, n));

    for (int i = 0; i < n; i++) {
        pieces[i].fd = vectors[i].fd;
        pieces[i].length = vectors[i].length;
        if (vectors[i].fd < 0) {
            pieces[i].base = INT2PTR(vectors[i].offset);
        } else {
            pieces[i].offset = vectors[i].offset;
        }
    }
    return NsReplySend(connPtr, pieces, n, 0);
}

int
Ns_ConnSendDString(Ns_Conn *conn, Ns_DString *dsPtr)
{
    return Ns_ConnWriteData(conn, Ns_DStringValue(dsPtr),
                            (size_t) Ns_DStringLength(dsPtr), NS_CONN_STREAM);
}

int
Ns_ConnPuts(Ns_Conn *conn, const char *text)
{
    return Ns_ConnWriteData(conn, text, strlen(text), NS_CONN_STREAM);
}

int
Ns_ConnClose(Ns_Conn *conn)
{
    NsReplyFinish(NsConnOf(conn));
    return NS_OK;
}

int
Ns_CompleteHeaders(Ns_Conn *conn, Tcl_WideInt bodyBytes, int flags,
                   Ns_DString *dsPtr)
{
    NsConn *connPtr = NsConnOf(conn);
    size_t  length;
    char   *text;

    if ((conn->flags & NS_CONN_SKIPHDRS) != 0) {
        return 0;
    }
    if ((flags & NS_CONN_STREAM) != 0) {
        conn->flags |= NS_CONN_STREAM;
        bodyBytes = NS_LENGTH_UNKNOWN;
    }
    if (connPtr->replyState == NS_REPLY_OPEN) {
        NsReplyDecide(connPtr, bodyBytes);
    }
    text = NsReplyRender(connPtr, 0, &length);
    NsAssert(length <= INT_MAX);
    connPtr->bodyBytes -= (int64_t) length; /* The caller sends them. */
    Ns_DStringNAppend(dsPtr, text, (int) length);
    return 1;
}

int
Ns_ConnInit(Ns_Conn *conn)
{
    return NS_OK;
}

int
Ns_ConnWrite(Ns_Conn *conn, const void *bytes, size_t length)
{
    struct iovec buf = {(void *) bytes, length};

    return (int) Ns_ConnSend(conn, &buf, 1);
}

int
Ns_WriteConn(Ns_Conn *conn, const char *bytes, size_t length)
{
    return Ns_ConnWriteData(conn, bytes, length, NS_CONN_STREAM);
}

int
Ns_WriteCharConn(Ns_Conn *conn, const char *text, size_t length)
{
    return Ns_ConnWriteChars(conn, text, length, NS_CONN_STREAM);
}

/*
 * Send what proc reads: bytes in number, or (-1) until the end.  Several writes
 * make one reply, so its header has the whole length or none.
 */
static int
Copy(NsConn *connPtr, ReadProc *proc, void *source, int64_t bytes)
{
    char   *buffer;
    int64_t left = bytes;
    int     result = NS_OK;

    if (bytes >= 0 && connPtr->responseLength < 0
        && (connPtr->pub.flags & NS_CONN_SENTHDRS) == 0) {
        connPtr->responseLength = bytes;
    }
    buffer = ns_malloc(COPY_BYTES);
    while (left != 0 && result == NS_OK) {
        size_t  size = left < 0 ? COPY_BYTES : (size_t) MIN(left, COPY_BYTES);
        ssize_t n = proc(source, buffer, size);

        NsAssert(n <= (ssize_t) size);
        if (n <= 0) {
            result = n < 0 || bytes >= 0 ? NS_ERROR : NS_OK;
            break;
        }
        result = Ns_ConnWriteData(&connPtr->pub, buffer, (size_t) n,
                                  NS_CONN_STREAM);
        left -= bytes < 0 ? 0 : n;
    }
    if (bytes == 0) {
        result = Ns_ConnWriteData(&connPtr->pub, "", 0, NS_CONN_STREAM);
    }
    if (result != NS_OK) {
        /* The body is shorter than announced: only a close shows that to the
         * client. */
        connPtr->keep = 0;
    }
    ns_free(buffer);
    return result;
}

static ssize_t
ReadFd(void *source, char *buffer, size_t size)
{
    ssize_t n;

    do {
        n = read(*(int *) source, buffer, size);
    } while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t
ReadFp(void *source, char *buffer, size_t size)
{
    size_t n = fread(buffer, 1, size, source);

    return n == 0 && ferror((FILE *) source) ? -1 : (ssize_t) n;
}

static ssize_t
ReadChannel(void *source, char *buffer, size_t size)
{
    return Tcl_Read(source, buffer, (int) size);
}
