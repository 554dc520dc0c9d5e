/* SPDX-License-Identifier: MPL-2.0
 * wsdeflate.c --
 *
 *      Messages of WebSocket, compressed.
 *
 *      A message is a flushed stream of deflate without the four bytes that
 *      such a flush ends with (RFC 7692, section 7.2).
 */

#include "http/wsdeflate.h"

#include <zlib.h>

#include "nsthread.h"
#include "base/assert.h"

#define PIECE_BYTES  16384
#define MEMORY_LEVEL 8

struct NsWsInflater {
    z_stream z;
    bool     isOpen;
    bool     keepsContext;
};

static const char tail[4] = {0, 0, '\xff', '\xff'};

static NsWsStatus Feed(z_stream *zPtr, const char *bytes, size_t length,
                       size_t limit, Ns_DString *dsPtr);
static void       End(NsWsInflater *inflaterPtr);

NsWsInflater *
NsWsInflaterCreate(bool keepsContext)
{
    NsWsInflater *inflaterPtr = ns_calloc(1, sizeof(NsWsInflater));

    inflaterPtr->keepsContext = keepsContext;
    return inflaterPtr;
}

void
NsWsInflaterDestroy(NsWsInflater **inflaterPtrPtr)
{
    End(*inflaterPtrPtr);
    ns_free(*inflaterPtrPtr);
    *inflaterPtrPtr = NULL;
}

static void
End(NsWsInflater *inflaterPtr)
{
    if (inflaterPtr->isOpen) {
        (void) inflateEnd(&inflaterPtr->z);
        inflaterPtr->isOpen = false;
    }
}

NsWsStatus
NsWsInflate(NsWsInflater *inflaterPtr, const char *bytes, size_t length,
            size_t maxLength, Ns_DString *dsPtr)
{
    size_t     limit = (size_t) Ns_DStringLength(dsPtr) + maxLength;
    NsWsStatus status;

    if (!inflaterPtr->isOpen) {
        inflaterPtr->z = (z_stream){0};
        if (inflateInit2(&inflaterPtr->z, -NS_WS_MAX_BITS) != Z_OK) {
            return NS_WS_BAD_DATA;
        }
        inflaterPtr->isOpen = true;
    }
    status = Feed(&inflaterPtr->z, bytes, length, limit, dsPtr);
    if (status == NS_WS_COMPLETE) {
        status = Feed(&inflaterPtr->z, tail, sizeof(tail), limit, dsPtr);
    }
    if (!inflaterPtr->keepsContext || status != NS_WS_COMPLETE) {
        End(inflaterPtr);
    }
    return status;
}

/*
 * A stream that says that it has ended may be followed by another one.
 */
static NsWsStatus
Feed(z_stream *zPtr, const char *bytes, size_t length, size_t limit,
     Ns_DString *dsPtr)
{
    char piece[PIECE_BYTES];
    int  status;

    zPtr->next_in = (Bytef *) bytes;
    zPtr->avail_in = (uInt) length;
    do {
        size_t n;

        zPtr->next_out = (Bytef *) piece;
        zPtr->avail_out = sizeof(piece);
        status = inflate(zPtr, Z_SYNC_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
            return NS_WS_BAD_DATA;
        }
        n = sizeof(piece) - zPtr->avail_out;
        if ((size_t) Ns_DStringLength(dsPtr) + n > limit) {
            return NS_WS_TOO_LONG;
        }
        Ns_DStringNAppend(dsPtr, piece, (int) n);
        if (status == Z_STREAM_END && inflateReset(zPtr) != Z_OK) {
            return NS_WS_BAD_DATA;
        }
    } while (status != Z_BUF_ERROR
             && (zPtr->avail_in > 0 || zPtr->avail_out == 0));
    return zPtr->avail_in == 0 ? NS_WS_COMPLETE : NS_WS_BAD_DATA;
}

bool
NsWsDeflate(const char *bytes, size_t length, int windowBits, Ns_DString *dsPtr)
{
    z_stream z = {0};
    int      start = Ns_DStringLength(dsPtr);
    uLong    room;
    bool     isDone;

    NsAssert(windowBits >= NS_WS_MIN_BITS && windowBits <= NS_WS_MAX_BITS);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -windowBits,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK) {
        return false;
    }
    /* What does not fit would not be shorter. */
    room = (uLong) length + sizeof(tail);
    Ns_DStringSetLength(dsPtr, start + (int) room);
    z.next_in = (Bytef *) bytes;
    z.avail_in = (uInt) length;
    z.next_out = (Bytef *) Ns_DStringValue(dsPtr) + start;
    z.avail_out = (uInt) room;
    isDone = deflate(&z, Z_SYNC_FLUSH) == Z_OK && z.avail_in == 0
        && z.avail_out > sizeof(tail);
    NsAssert(!isDone
             || memcmp(z.next_out - sizeof(tail), tail, sizeof(tail)) == 0);
    Ns_DStringSetLength(dsPtr,
                        isDone ? (int) (start + (int) z.total_out
                                        - (int) sizeof(tail))
                               : start);
    (void) deflateEnd(&z);
    return isDone;
}
