/* SPDX-License-Identifier: MPL-2.0
 * replytext.c --
 *
 *      Text of a reply.
 */

#include "request/replytext.h"

#include "nsconn.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "http/charset.h"
#include "http/negotiate.h"
#include "request/conn_int.h"

static Ns_Tls gzipTls; /* A stream for reuse by the thread. */

static void Take(NsReplyText *textPtr, Ns_DString *dsPtr);
static void Close(NsConn *connPtr);
static bool ShouldCompress(NsConn *connPtr, size_t bytes, int flags);
static Ns_CompressStream *TakeGzip(void);
static void               GiveGzip(Ns_CompressStream *gzipPtr);
static void               FreeGzip(void *arg);
static bool NeedsEncoding(Tcl_Encoding encoding, const struct iovec *bufs,
                          int nBufs);
static void Encode(Tcl_Encoding encoding, const struct iovec *bufs, int nBufs,
                   Ns_DString *dsPtr);

void
NsReplyTextInit(void)
{
    Ns_TlsAlloc(&gzipTls, FreeGzip);
}

void
NsReplyTextMake(NsReplyText *textPtr, NsConn *connPtr, struct iovec *bufs,
                int nBufs, int flags)
{
    size_t bytes = 0;
    bool   isLast = (flags & NS_CONN_STREAM) == 0;

    NsAssert(nBufs >= 0);
    textPtr->bufs = bufs;
    textPtr->nBufs = nBufs;
    textPtr->isEncoded = NeedsEncoding(connPtr->outputEncoding, bufs, nBufs);
    if (textPtr->isEncoded) {
        Ns_DStringInit(&textPtr->encoded);
        Encode(connPtr->outputEncoding, bufs, nBufs, &textPtr->encoded);
        Take(textPtr, &textPtr->encoded);
    }
    for (int i = 0; i < textPtr->nBufs; i++) {
        bytes += textPtr->bufs[i].iov_len;
    }
    textPtr->isZipped = ShouldCompress(connPtr, bytes, flags)
        && (bytes > 0 || isLast);
    if (textPtr->isZipped) {
        Ns_DStringInit(&textPtr->zipped);
        (void) Ns_CompressBufsGzip(connPtr->gzipPtr, textPtr->bufs,
                                   textPtr->nBufs, &textPtr->zipped,
                                   connPtr->compressLevel, isLast);
        Take(textPtr, &textPtr->zipped);
        if (isLast) {
            Close(connPtr);
        }
    }
}

void
NsReplyTextEnd(NsConn *connPtr, Ns_DString *dsPtr)
{
    (void) Ns_CompressBufsGzip(connPtr->gzipPtr, NULL, 0, dsPtr,
                               connPtr->compressLevel, 1);
    Close(connPtr);
}

/*
 * A stream that has not ended is not fit for reuse.
 */
void
NsReplyTextDrop(NsConn *connPtr)
{
    NsAssert(NsReplyTextIsOpen(connPtr));
    FreeGzip(connPtr->gzipPtr);
    connPtr->gzipPtr = NULL;
}

static void
Take(NsReplyText *textPtr, Ns_DString *dsPtr)
{
    textPtr->own.iov_base = Tcl_DStringValue(dsPtr);
    textPtr->own.iov_len = (size_t) Tcl_DStringLength(dsPtr);
    textPtr->bufs = &textPtr->own;
    textPtr->nBufs = 1;
}

static void
Close(NsConn *connPtr)
{
    NsAssert(NsReplyTextIsOpen(connPtr));
    GiveGzip(connPtr->gzipPtr);
    connPtr->gzipPtr = NULL;
}

/*
 * Whether this text is compressed: decided at the first output, which adds the
 * header fields.
 */
static bool
ShouldCompress(NsConn *connPtr, size_t bytes, int flags)
{
    Ns_Conn *conn = &connPtr->pub;

    if (NsReplyTextIsOpen(connPtr)) {
        return true;
    }
    if (connPtr->compressLevel <= 0
        || (conn->flags
            & (NS_CONN_SENTHDRS | NS_CONN_SKIPHDRS | NS_CONN_CLOSED))
            != 0
        || connPtr->responseLength >= 0
        || Ns_SetIFind(conn->outputheaders, "Content-Encoding") >= 0) {
        return false;
    }
    if ((flags & NS_CONN_STREAM) == 0
        && bytes < (size_t) NsConnRequestServer(connPtr)->compressMinSize) {
        return false;
    }
    NsReplyAddVary(connPtr, "Accept-Encoding");
    if ((conn->flags & (NS_CONN_ZIPACCEPTED | NS_CONN_SKIPBODY))
        != NS_CONN_ZIPACCEPTED) {
        return false;
    }
    connPtr->gzipPtr = TakeGzip();
    if (connPtr->gzipPtr == NULL) {
        return false;
    }
    Ns_ConnSetHeaders(conn, "Content-Encoding", "gzip");
    return true;
}

void
NsReplyAddVary(NsConn *connPtr, const char *field)
{
    Ns_Set     *headers = connPtr->pub.outputheaders;
    const char *value = Ns_SetIGet(headers, "Vary");
    Ns_DString  ds;

    if (value == NULL || *value == '\0') {
        Ns_ConnSetHeaders(&connPtr->pub, "Vary", field);
    } else if (!NsListHas(value, field) && !NsListHas(value, "*")) {
        Ns_DStringInit(&ds);
        Ns_DStringVarAppend(&ds, value, ", ", field, NULL);
        Ns_SetIUpdate(headers, "Vary", Ns_DStringValue(&ds));
        Ns_DStringFree(&ds);
    }
}

/*
 * A stream costs 260 KB, so a thread keeps one for its next reply.
 */
static Ns_CompressStream *
TakeGzip(void)
{
    Ns_CompressStream *gzipPtr = Ns_TlsGet(&gzipTls);

    if (gzipPtr != NULL) {
        Ns_TlsSet(&gzipTls, NULL);
        return gzipPtr;
    }
    gzipPtr = ns_malloc(sizeof(Ns_CompressStream));
    if (Ns_CompressInit(gzipPtr) != NS_OK) {
        ns_free(gzipPtr);
        return NULL;
    }
    return gzipPtr;
}

static void
GiveGzip(Ns_CompressStream *gzipPtr)
{
    if (Ns_TlsGet(&gzipTls) != NULL) {
        FreeGzip(gzipPtr);
    } else {
        Ns_TlsSet(&gzipTls, gzipPtr);
    }
}

static void
FreeGzip(void *arg)
{
    Ns_CompressFree(arg);
    ns_free(arg);
}

/*
 * Text is UTF-8 as Tcl keeps it: sent as it is unless it holds a null character
 * (C0 80) or half a surrogate pair (ED ...).
 */
static bool
NeedsEncoding(Tcl_Encoding encoding, const struct iovec *bufs, int nBufs)
{
    if (encoding == NULL) {
        return false;
    }
    if (!NsEncodingIsUtf8(encoding)) {
        return true;
    }
    for (int i = 0; i < nBufs; i++) {
        if (memchr(bufs[i].iov_base, 0xC0, bufs[i].iov_len) != NULL
            || memchr(bufs[i].iov_base, 0xED, bufs[i].iov_len) != NULL) {
            return true;
        }
    }
    return false;
}

static void
Encode(Tcl_Encoding encoding, const struct iovec *bufs, int nBufs,
       Ns_DString *dsPtr)
{
    Tcl_DString piece;

    for (int i = 0; i < nBufs; i++) {
        (void) Tcl_UtfToExternalDString(encoding, bufs[i].iov_base,
                                        (int) bufs[i].iov_len, &piece);
        Tcl_DStringAppend(dsPtr, Tcl_DStringValue(&piece),
                          Tcl_DStringLength(&piece));
        Tcl_DStringFree(&piece);
    }
}
