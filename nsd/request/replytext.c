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
#include "http/brotli.h"
#include "http/charset.h"
#include "http/negotiate.h"
#include "request/conn_int.h"

/*
 * What compresses one text at a time.
 */
typedef struct NsTextCoder {
    bool              isGzipReady;
    Ns_CompressStream gzip;      /* Serves one text after the other. */
    NsBrotli         *brotliPtr; /* Of the open text; NULL: it is gzip. */
} NsTextCoder;

static Ns_Tls coderTls; /* One for reuse by the thread. */

static void         Take(NsReplyText *textPtr, Ns_DString *dsPtr);
static void         Close(NsConn *connPtr);
static bool         ShouldCompress(NsConn *connPtr, size_t bytes, int flags);
static bool         IsBrotliBest(const NsConn *connPtr);
static NsTextCoder *OpenCoder(bool isBrotli, int level, size_t bytes);
static void         Compress(NsConn *connPtr, struct iovec *bufs, int nBufs,
                             Ns_DString *dsPtr, bool isLast);
static void         GiveCoder(NsTextCoder *coderPtr);
static void         FreeCoder(void *arg);
static bool NeedsEncoding(Tcl_Encoding encoding, const struct iovec *bufs,
                          int nBufs);
static void Encode(Tcl_Encoding encoding, const struct iovec *bufs, int nBufs,
                   Ns_DString *dsPtr);

void
NsReplyTextInit(void)
{
    Ns_TlsAlloc(&coderTls, FreeCoder);
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
        Compress(connPtr, textPtr->bufs, textPtr->nBufs, &textPtr->zipped,
                 isLast);
        Take(textPtr, &textPtr->zipped);
        if (isLast) {
            Close(connPtr);
        }
    }
}

void
NsReplyTextEnd(NsConn *connPtr, Ns_DString *dsPtr)
{
    Compress(connPtr, NULL, 0, dsPtr, true);
    Close(connPtr);
}

/*
 * A stream that has not ended is not fit for reuse.
 */
void
NsReplyTextDrop(NsConn *connPtr)
{
    NsAssert(NsReplyTextIsOpen(connPtr));
    FreeCoder(connPtr->coderPtr);
    connPtr->coderPtr = NULL;
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
    GiveCoder(connPtr->coderPtr);
    connPtr->coderPtr = NULL;
}

/*
 * Whether this text is compressed: decided at the first output, which adds the
 * header fields.  For HEAD as well, since the length is that of the result.
 */
static bool
ShouldCompress(NsConn *connPtr, size_t bytes, int flags)
{
    Ns_Conn *conn = &connPtr->pub;
    bool     isStream = (flags & NS_CONN_STREAM) != 0, isBrotli;

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
    if (!isStream
        && bytes < (size_t) NsConnRequestServer(connPtr)->compressMinSize) {
        return false;
    }
    NsReplyAddVary(connPtr, "Accept-Encoding");
    if ((conn->flags & (NS_CONN_ZIPACCEPTED | NS_CONN_BROTLIACCEPTED)) == 0) {
        return false;
    }
    isBrotli = IsBrotliBest(connPtr);
    connPtr->coderPtr = OpenCoder(isBrotli, connPtr->compressLevel,
                                  isStream ? 0 : bytes);
    if (connPtr->coderPtr == NULL) {
        return false;
    }
    Ns_ConnSetHeaders(conn, "Content-Encoding", isBrotli ? "br" : "gzip");
    return true;
}

static bool
IsBrotliBest(const NsConn *connPtr)
{
    const NsHttpHead *headPtr = &connPtr->messagePtr->head;
    int               flags = connPtr->pub.flags;

    return (flags & NS_CONN_BROTLIACCEPTED) != 0
        && ((flags & NS_CONN_ZIPACCEPTED) == 0
            || NsPrefersBrotli(NsHttpKnown(headPtr, NS_FIELD_ACCEPT_ENCODING)));
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
 * A gzip stream costs 260 KB, so a thread keeps one for its next reply.
 */
static NsTextCoder *
OpenCoder(bool isBrotli, int level, size_t bytes)
{
    NsTextCoder *coderPtr = Ns_TlsGet(&coderTls);

    if (coderPtr != NULL) {
        Ns_TlsSet(&coderTls, NULL);
    } else {
        coderPtr = ns_calloc(1, sizeof(*coderPtr));
    }
    NsAssert(coderPtr->brotliPtr == NULL);
    if (isBrotli) {
        coderPtr->brotliPtr = NsBrotliCreate(level, bytes);
    } else if (!coderPtr->isGzipReady) {
        coderPtr->isGzipReady = Ns_CompressInit(&coderPtr->gzip) == NS_OK;
        if (!coderPtr->isGzipReady) {
            FreeCoder(coderPtr);
            return NULL;
        }
    }
    return coderPtr;
}

static void
Compress(NsConn *connPtr, struct iovec *bufs, int nBufs, Ns_DString *dsPtr,
         bool isLast)
{
    NsTextCoder *coderPtr = connPtr->coderPtr;

    if (coderPtr->brotliPtr != NULL) {
        (void) NsBrotliAppend(coderPtr->brotliPtr, bufs, nBufs, dsPtr, isLast);
    } else {
        (void) Ns_CompressBufsGzip(&coderPtr->gzip, bufs, nBufs, dsPtr,
                                   connPtr->compressLevel, isLast);
    }
}

static void
GiveCoder(NsTextCoder *coderPtr)
{
    if (coderPtr->brotliPtr != NULL) {
        NsBrotliDestroy(&coderPtr->brotliPtr);
    }
    if (Ns_TlsGet(&coderTls) != NULL) {
        FreeCoder(coderPtr);
    } else {
        Ns_TlsSet(&coderTls, coderPtr);
    }
}

static void
FreeCoder(void *arg)
{
    NsTextCoder *coderPtr = arg;

    if (coderPtr->brotliPtr != NULL) {
        NsBrotliDestroy(&coderPtr->brotliPtr);
    }
    if (coderPtr->isGzipReady) {
        Ns_CompressFree(&coderPtr->gzip);
    }
    ns_free(coderPtr);
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
