/* SPDX-License-Identifier: MPL-2.0
 * chunk.c --
 *
 *      Incremental decoder for chunked bodies.
 *
 *      States, and the function that leaves each:
 *
 *          SIZE, SIZE_LF      hex digits of the size       TakeSizeByte
 *          EXTENSION, NAME, VALUE, TOKEN, QUOTED, ESCAPED, QUOTE
 *                             ;name=value behind it        TakeExtensionByte
 *          DATA               as many bytes as announced   TakeData
 *          DATA_CR, DATA_LF   line break after it          TakeFramingByte
 *          TRAILER, FIELD, FIELD_VALUE, FIELD_LF, END_LF
 *                             fields up to an empty line   TakeTrailerByte
 *          DONE, BAD
 *
 *      A line break is CR LF.  Lines that we throw away anyway are limited, so
 *      that they cannot keep a connection busy for ever.
 */

#include "http/chunk.h"

#include "base/assert.h"
#include "base/chars.h"
#include "http/token.h"

#define MAX_DIGITS          16
#define MAX_EXTENSION_BYTES 4096
#define MAX_TRAILER_BYTES   65536
#define MAX_CHUNK_BYTES     ((uint64_t) INT64_MAX)

enum {
    STATE_SIZE,
    STATE_SIZE_LF,
    STATE_EXTENSION, /* Behind a semicolon. */
    STATE_NAME,
    STATE_VALUE, /* Behind the equals sign. */
    STATE_TOKEN,
    STATE_QUOTED,
    STATE_ESCAPED,
    STATE_QUOTE, /* Behind the closing one. */
    STATE_DATA,
    STATE_DATA_CR,
    STATE_DATA_LF,
    STATE_TRAILER, /* At the start of a line. */
    STATE_FIELD,
    STATE_FIELD_VALUE,
    STATE_FIELD_LF,
    STATE_END_LF,
    STATE_DONE,
    STATE_BAD
};

static size_t TakeData(NsChunkDecoder *decoderPtr, const char *from,
                       size_t length, char *to, size_t *takenPtr);
static void   TakeFramingByte(NsChunkDecoder *decoderPtr, char c);
static void   TakeSizeByte(NsChunkDecoder *decoderPtr, char c);
static void   TakeExtensionByte(NsChunkDecoder *decoderPtr, char c);
static int    StateAfter(int state, char c);
static bool   IsVisible(char c);
static void   TakeTrailerByte(NsChunkDecoder *decoderPtr, char c);
static void   TakeFieldByte(NsChunkDecoder *decoderPtr, char c);
static bool   IsForbidden(const NsChunkDecoder *decoderPtr);
static void   Expect(NsChunkDecoder *decoderPtr, bool isThere, int state,
                     const char *reason);
static void   Refuse(NsChunkDecoder *decoderPtr, const char *reason);

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
        if (decoderPtr->hasBadByte) {
            NsAssert(from > data);
            decoderPtr->badByte = UCHAR(from[-1]);
        }
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
        Refuse(decoderPtr, "chunks: longer than 2^63-1");
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
    case STATE_SIZE:
    case STATE_SIZE_LF:
        TakeSizeByte(decoderPtr, c);
        break;
    case STATE_DATA_CR:
        Expect(decoderPtr, c == '\r', STATE_DATA_LF,
               "chunk: no CR LF behind it");
        break;
    case STATE_DATA_LF:
        Expect(decoderPtr, c == '\n', STATE_SIZE, "chunk: no LF behind it");
        decoderPtr->nDigits = 0u;
        break;
    case STATE_TRAILER:
    case STATE_FIELD:
    case STATE_FIELD_VALUE:
    case STATE_FIELD_LF:
    case STATE_END_LF:
        TakeTrailerByte(decoderPtr, c);
        break;
    default:
        TakeExtensionByte(decoderPtr, c);
        break;
    }
}

static void
TakeSizeByte(NsChunkDecoder *decoderPtr, char c)
{
    int digit = NsHexValue(c);

    if (decoderPtr->state == STATE_SIZE_LF) {
        Expect(decoderPtr, c == '\n',
               decoderPtr->left > 0u ? STATE_DATA : STATE_TRAILER,
               "chunk size: CR without LF");
    } else if (digit >= 0) {
        if (++decoderPtr->nDigits > MAX_DIGITS
            || decoderPtr->left > (MAX_CHUNK_BYTES - (uint64_t) digit) / 16u) {
            Refuse(decoderPtr,
                   "chunk size: more than 16 digits, or than 2^63-1");
            return;
        }
        decoderPtr->state = STATE_SIZE;
        decoderPtr->left = decoderPtr->left * 16u + (uint64_t) digit;
    } else {
        Expect(decoderPtr, decoderPtr->nDigits > 0u && (c == '\r' || c == ';'),
               c == ';' ? STATE_EXTENSION : STATE_SIZE_LF,
               "chunk size: not a hexadecimal number");
    }
}

static void
TakeExtensionByte(NsChunkDecoder *decoderPtr, char c)
{
    int next = StateAfter(decoderPtr->state, c);

    if (++decoderPtr->extensionBytes > MAX_EXTENSION_BYTES) {
        Refuse(decoderPtr, "chunk extensions: more than 4096 bytes");
    } else {
        Expect(decoderPtr, next != STATE_BAD, next,
               "chunk extension: not ;name or ;name=value");
    }
}

/*
 * The grammar of extensions (RFC 9112 7.1.1), without blanks.
 */
static int
StateAfter(int state, char c)
{
    bool mayEnd = state == STATE_NAME || state == STATE_TOKEN
        || state == STATE_QUOTE;

    if (mayEnd && c == '\r') {
        return STATE_SIZE_LF;
    }
    if (mayEnd && c == ';') {
        return STATE_EXTENSION;
    }
    switch (state) {
    case STATE_EXTENSION:
    case STATE_NAME:
        return NsIsTokenChar(c) ? STATE_NAME
            : state == STATE_NAME && c == '='
            ? STATE_VALUE
            : STATE_BAD;
    case STATE_VALUE:
        return c == '"'        ? STATE_QUOTED
            : NsIsTokenChar(c) ? STATE_TOKEN
                               : STATE_BAD;
    case STATE_TOKEN:
        return NsIsTokenChar(c) ? STATE_TOKEN : STATE_BAD;
    case STATE_QUOTED:
        return !IsVisible(c) ? STATE_BAD
            : c == '"'       ? STATE_QUOTE
            : c == '\\'      ? STATE_ESCAPED
                             : STATE_QUOTED;
    case STATE_ESCAPED:
        return IsVisible(c) ? STATE_QUOTED : STATE_BAD;
    default:
        return STATE_BAD;
    }
}

static bool
IsVisible(char c)
{
    return (unsigned char) c >= ' ' && c != '\x7f';
}

/*
 * Fields as in the head; we have no use for them.
 */
static void
TakeTrailerByte(NsChunkDecoder *decoderPtr, char c)
{
    if (++decoderPtr->trailerBytes > MAX_TRAILER_BYTES) {
        Refuse(decoderPtr, "trailer: more than 65536 bytes");
        return;
    }
    switch (decoderPtr->state) {
    case STATE_TRAILER:
        if (c == '\r') {
            decoderPtr->state = STATE_END_LF;
            break;
        }
        decoderPtr->nName = 0u;
        decoderPtr->state = STATE_FIELD;
        TakeFieldByte(decoderPtr, c);
        break;
    case STATE_FIELD:
        TakeFieldByte(decoderPtr, c);
        break;
    case STATE_FIELD_VALUE:
        Expect(decoderPtr, c == '\r' || c == '\t' || IsVisible(c),
               c == '\r' ? STATE_FIELD_LF : STATE_FIELD_VALUE,
               "trailer: control byte in a value");
        break;
    case STATE_FIELD_LF:
        Expect(decoderPtr, c == '\n', STATE_TRAILER, "trailer: CR without LF");
        break;
    default:
        Expect(decoderPtr, c == '\n', STATE_DONE, "trailer: CR without LF");
        break;
    }
}

static void
TakeFieldByte(NsChunkDecoder *decoderPtr, char c)
{
    if (NsIsTokenChar(c)) {
        if (decoderPtr->nName < sizeof(decoderPtr->name)) {
            decoderPtr->name[decoderPtr->nName++] = NsToLower(c);
        }
    } else if (c == ':' && IsForbidden(decoderPtr)) {
        Refuse(decoderPtr,
               "trailer: Host, Content-Length, or Transfer-Encoding");
    } else {
        Expect(decoderPtr, c == ':' && decoderPtr->nName > 0u,
               STATE_FIELD_VALUE, "trailer: field name is not a token");
    }
}

/*
 * Fields that say whose request it is, and where it ends, come too late
 * (RFC 9110 6.5.1).
 */
static bool
IsForbidden(const NsChunkDecoder *decoderPtr)
{
    static const char *const names[] = {
        "host", "content-length", "transfer-encoding"};

    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (strlen(names[i]) == decoderPtr->nName
            && memcmp(names[i], decoderPtr->name, decoderPtr->nName) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Go on in that state if the byte is what has to be there.
 */
static void
Expect(NsChunkDecoder *decoderPtr, bool isThere, int state, const char *reason)
{
    NsAssert(decoderPtr->state < STATE_DONE);
    decoderPtr->state = (uint8_t) state;
    if (!isThere) {
        Refuse(decoderPtr, reason);
        decoderPtr->hasBadByte = true;
    }
}

static void
Refuse(NsChunkDecoder *decoderPtr, const char *reason)
{
    decoderPtr->state = STATE_BAD;
    decoderPtr->reason = reason;
}
