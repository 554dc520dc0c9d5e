/* SPDX-License-Identifier: MPL-2.0
 * gzip.c --
 *
 *      Bodies as gzip data, in one run or as a stream.
 */

#include <zlib.h>

#include "nsconn.h"
#include "nsstring.h"
#include "nsthread.h"

#define GZIP_WINDOW_BITS (15 + 16) /* + 16: gzip header and trailer. */
#define MEMORY_LEVEL     9
#define ROOM_BYTES       128 /* Header, trailer, flush marker. */

/*
 * The content of an Ns_CompressStream.  It stays there: zlib points back to it.
 */
typedef struct {
    z_stream stream;
    bool     isOpen;  /* A body has begun. */
    bool     isReady; /* deflateInit2 was called. */
} Stream;

_Static_assert(sizeof(Stream) <= sizeof(Ns_CompressStream),
               "Ns_CompressStream too small");

static voidpf ZAlloc(voidpf arg, uInt items, uInt size);
static void   ZFree(voidpf arg, voidpf address);
static int    Open(Stream *streamPtr, int level);
static int    Deflate(Stream *streamPtr, const void *base, size_t length,
                      Ns_DString *dsPtr, int flush);
static int    DeflateStep(z_stream *zPtr, Ns_DString *dsPtr, int flush);

int
Ns_CompressInit(Ns_CompressStream *compressPtr)
{
    Stream *streamPtr = (Stream *) compressPtr;

    memset(streamPtr, 0, sizeof(*streamPtr));
    streamPtr->stream.zalloc = ZAlloc;
    streamPtr->stream.zfree = ZFree;
    /* The level is set by the first call that compresses. */
    if (deflateInit2(&streamPtr->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                     GZIP_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK) {
        return NS_ERROR;
    }
    streamPtr->isReady = true;
    return NS_OK;
}

void
Ns_CompressFree(Ns_CompressStream *compressPtr)
{
    Stream *streamPtr = (Stream *) compressPtr;

    if (streamPtr->isReady) {
        deflateEnd(&streamPtr->stream);
        streamPtr->isReady = false;
    }
}

int
Ns_CompressBufsGzip(Ns_CompressStream *compressPtr, struct iovec *bufs,
                    int nBufs, Ns_DString *dsPtr, int level, int flush)
{
    Stream *streamPtr = (Stream *) compressPtr;
    int     status = NS_OK;

    if (!streamPtr->isReady) {
        return NS_ERROR;
    }
    if (!streamPtr->isOpen) {
        status = Open(streamPtr, level);
    }
    for (int i = 0; i < nBufs && status == NS_OK; i++) {
        status = Deflate(streamPtr, bufs[i].iov_base, bufs[i].iov_len, dsPtr,
                         Z_NO_FLUSH);
    }
    if (status == NS_OK) {
        status = Deflate(streamPtr, NULL, 0, dsPtr,
                         flush != 0 ? Z_FINISH : Z_SYNC_FLUSH);
    }
    if (flush != 0) {
        streamPtr->isOpen = false;
    }
    return status;
}

int
Ns_CompressGzip(const char *bytes, int nBytes, Ns_DString *dsPtr, int level)
{
    Ns_CompressStream stream;
    struct iovec      buf = {(void *) (uintptr_t) bytes, (size_t) nBytes};
    int               status = NS_ERROR;

    if (nBytes >= 0 && Ns_CompressInit(&stream) == NS_OK) {
        status = Ns_CompressBufsGzip(&stream, &buf, 1, dsPtr, level, 1);
        Ns_CompressFree(&stream);
    }
    return status;
}

static voidpf
ZAlloc(voidpf arg, uInt items, uInt size)
{
    return ns_calloc(items, size);
}

static void
ZFree(voidpf arg, voidpf address)
{
    ns_free(address);
}

/*
 * Begin a body.  The level is part of the gzip header, so it must be set before
 * the first byte; zlib writes nothing for a change of level then.
 */
static int
Open(Stream *streamPtr, int level)
{
    z_stream *zPtr = &streamPtr->stream;

    level = MAX(1, MIN(level, 9));
    if (deflateReset(zPtr) != Z_OK
        || deflateParams(zPtr, level, Z_DEFAULT_STRATEGY) != Z_OK) {
        return NS_ERROR;
    }
    streamPtr->isOpen = true;
    return NS_OK;
}

/*
 * zlib counts in 32 bits; longer pieces are fed in parts.
 */
static int
Deflate(Stream *streamPtr, const void *base, size_t length, Ns_DString *dsPtr,
        int flush)
{
    z_stream *zPtr = &streamPtr->stream;
    size_t    part;

    zPtr->next_in = (Bytef *) (uintptr_t) base;
    do {
        part = MIN(length, (size_t) 1 << 30);
        zPtr->avail_in = (uInt) part;
        length -= part;
        if (DeflateStep(zPtr, dsPtr, flush) != NS_OK) {
            return NS_ERROR;
        }
    } while (length > 0);
    return NS_OK;
}

/*
 * Until all input is taken and, when flushing, all output is there.
 */
static int
DeflateStep(z_stream *zPtr, Ns_DString *dsPtr, int flush)
{
    int status;

    if (flush == Z_NO_FLUSH && zPtr->avail_in == 0) {
        return NS_OK;
    }
    do {
        int    oldLength = Ns_DStringLength(dsPtr);
        size_t room = deflateBound(zPtr, zPtr->avail_in) + ROOM_BYTES;

        room = MIN(room, (size_t) 1 << 20);
        if ((int) room > INT_MAX / 2 - oldLength) {
            return NS_ERROR; /* The string is full. */
        }
        Ns_DStringSetLength(dsPtr, oldLength + (int) room);
        zPtr->next_out = (Bytef *) Ns_DStringValue(dsPtr) + oldLength;
        zPtr->avail_out = (uInt) room;
        status = deflate(zPtr, flush);
        Ns_DStringSetLength(dsPtr, oldLength + (int) (room - zPtr->avail_out));
        if (status == Z_STREAM_ERROR) {
            return NS_ERROR;
        }
    } while (zPtr->avail_out == 0
             || (flush == Z_FINISH && status != Z_STREAM_END));
    return NS_OK;
}
