/* SPDX-License-Identifier: MPL-2.0
 * chunk.c --
 *
 *      Incremental decoder for chunked bodies.
 *
 *      States, and the function that leaves each:
 *
 *          SIZE       hex digits of the size      TakeSizeByte
 *          EXTENSION  ;name=value, to the LF      TakeSizeByte
 *          DATA       as many bytes as announced  TakeData
 *          DATA_CR, DATA_LF  line break after it  TakeFramingByte
 *          TRAILER    lines up to an empty one    TakeFramingByte
 *          DONE
 *
 *      A line break is CR LF or LF alone.  Lines that we throw away anyway are
 *      limited, so that they cannot keep a connection busy for ever.
 */

#include "http/chunk.h"

#include "base/chars.h"

#define MAX_LINE_BYTES    4096
#define MAX_TRAILER_BYTES 65536
#define MAX_CHUNK_BYTES   ((uint64_t) INT64_MAX)

enum {
    STATE_SIZE,
    STATE_SIZE_BLANK, /* Blanks between size and ; or line break. */
    STATE_EXTENSION,
    STATE_SIZE_LF,
    STATE_DATA,
    STATE_DATA_CR,
    STATE_DATA_LF,
    STATE_TRAILER,
    STATE_DONE,
    STATE_BAD
};

static size_t TakeData(NsChunkDecoder *decoderPtr, const char *from,
                       size_t length, char *to, size_t *takenPtr);
static void   TakeFramingByte(NsChunkDecoder *decoderPtr, char c);
static void   TakeSizeByte(NsChunkDecoder *decoderPtr, char c);
static void   EndSizeLine(NsChunkDecoder *decoderPtr);
static void   TakeTrailerByte(NsChunkDecoder *decoderPtr, char c);

void
NsChunkInit(NsChunkDecoder *decoderPtr, uint64_t maxBytes)
{
    *decoderPtr = (NsChunkDecoder){.maxBytes = maxBytes};
}

NsChunkStatus
NsChunkDecode(NsChunkDecoder *decoderPtr, char *data, size_t length,
              size_t *decodedPtr, size_t *consumedPtr)
{
    const char *from = data, *end = data + length;
    char       *to = data;

    while (from < end && decoderPtr->state < STATE_DONE) {
        if (decoderPtr->state == STATE_DATA) {
            size_t taken;

            to += TakeData(decoderPtr, from, (size_t) (end - from), to, &taken);
            from += taken;
        } else {
            TakeFramingByte(decoderPtr, *from);
            from++;
        }
    }
    *decodedPtr = (size_t) (to - data);
    *consumedPtr = (size_t) (from - data);

    if (decoderPtr->state == STATE_BAD) {
        return NS_CHUNK_BAD;
    }
    if (decoderPtr->bodyBytes > decoderPtr->maxBytes) {
        return NS_CHUNK_TOO_LARGE;
    }
    return decoderPtr->state == STATE_DONE ? NS_CHUNK_DONE : NS_CHUNK_MORE;
}

/*
 * Move what is there of the current chunk; bytes beyond the limit are counted
 * and dropped.  How many were kept.
 */
static size_t
TakeData(NsChunkDecoder *decoderPtr, const char *from, size_t length, char *to,
         size_t *takenPtr)
{
    uint64_t taken = MIN((uint64_t) length, decoderPtr->left);
    size_t   kept = 0;

    if (taken > MAX_CHUNK_BYTES - decoderPtr->bodyBytes) {
        decoderPtr->state = STATE_BAD;
        *takenPtr = 0;
        return 0;
    }
    decoderPtr->bodyBytes += taken;
    if (decoderPtr->bodyBytes <= decoderPtr->maxBytes) {
        kept = (size_t) taken;
        memmove(to, from, kept);
    }
    decoderPtr->left -= taken;
    if (decoderPtr->left == 0) {
        decoderPtr->state = STATE_DATA_CR;
    }
    *takenPtr = (size_t) taken;
    return kept;
}

static void
TakeFramingByte(NsChunkDecoder *decoderPtr, char c)
{
    switch (decoderPtr->state) {
    case STATE_DATA_CR:
        if (c == '\r') {
            decoderPtr->state = STATE_DATA_LF;
            break;
        }
        /* Fall through. */
    case STATE_DATA_LF:
        decoderPtr->state = c == '\n' ? STATE_SIZE : STATE_BAD;
        decoderPtr->lineBytes = 0;
        decoderPtr->hasDigit = false;
        break;
    case STATE_TRAILER:
        TakeTrailerByte(decoderPtr, c);
        break;
    default:
        TakeSizeByte(decoderPtr, c);
        break;
    }
}

static void
TakeSizeByte(NsChunkDecoder *decoderPtr, char c)
{
    int digit = decoderPtr->state == STATE_SIZE ? NsHexValue(c) : -1;

    if (++decoderPtr->lineBytes > MAX_LINE_BYTES
        || (decoderPtr->state == STATE_SIZE_LF && c != '\n')) {
        decoderPtr->state = STATE_BAD;
    } else if (digit >= 0) {
        decoderPtr->hasDigit = true;
        if (decoderPtr->left > (MAX_CHUNK_BYTES - (uint64_t) digit) / 16) {
            decoderPtr->state = STATE_BAD;
        } else {
            decoderPtr->left = decoderPtr->left * 16 + (uint64_t) digit;
        }
    } else if (!decoderPtr->hasDigit) {
        decoderPtr->state = STATE_BAD;
    } else if (c == '\n') {
        EndSizeLine(decoderPtr);
    } else if (decoderPtr->state == STATE_EXTENSION) {
        /* Dropped, a CR included. */
    } else if (c == '\r') {
        decoderPtr->state = STATE_SIZE_LF;
    } else if (c == ';') {
        decoderPtr->state = STATE_EXTENSION;
    } else if (c == ' ' || c == '\t') {
        decoderPtr->state = STATE_SIZE_BLANK;
    } else {
        decoderPtr->state = STATE_BAD;
    }
}

static void
EndSizeLine(NsChunkDecoder *decoderPtr)
{
    decoderPtr->state = decoderPtr->left > 0 ? STATE_DATA : STATE_TRAILER;
    decoderPtr->lineBytes = 0;
}

/*
 * lineBytes counts the line without its CR, so that 0 means an empty line.
 */
static void
TakeTrailerByte(NsChunkDecoder *decoderPtr, char c)
{
    if (++decoderPtr->trailerBytes > MAX_TRAILER_BYTES) {
        decoderPtr->state = STATE_BAD;
    } else if (c == '\n') {
        if (decoderPtr->lineBytes == 0) {
            decoderPtr->state = STATE_DONE;
        }
        decoderPtr->lineBytes = 0;
    } else if (c != '\r') {
        decoderPtr->lineBytes++;
    }
}
