/* SPDX-License-Identifier: MPL-2.0
 * chunk.h --
 *
 *      Incremental decoder for chunked bodies (RFC 9112, section 7.1).
 *
 *      It works in place: the decoded bytes are moved together at the start of
 *      the buffer, framing and trailer vanish.
 */

#ifndef NSD_HTTP_CHUNK_H
#define NSD_HTTP_CHUNK_H

#include "nstypes.h"

typedef enum {
    NS_CHUNK_DONE,     /* Zero chunk and trailer are complete. */
    NS_CHUNK_MORE,     /* Valid so far; feed more bytes. */
    NS_CHUNK_BAD,      /* Not chunked coding, reason says why: 400. */
    NS_CHUNK_TOO_LARGE /* More than maxBytes: 413. */
} NsChunkStatus;

/*
 * To be treated as opaque except for bodyBytes.
 */
typedef struct NsChunkDecoder {
    uint64_t    bodyBytes; /* Decoded so far, all calls together. */
    uint64_t    maxBytes;
    uint64_t    left; /* Bytes missing of the current chunk. */
    uint32_t    extensionBytes;
    uint32_t    trailerBytes;
    uint8_t     state;
    uint8_t     nDigits;    /* Of the size at hand. */
    uint8_t     nName;      /* Bytes of the trailer field's name, ... */
    char        name[18];   /* ... the first of them in lower case. */
    bool        hasBadByte; /* The reason is one byte, ... */
    uint8_t     badByte;    /* ... this one. */
    const char *reason;     /* Set when the status is BAD. */
} NsChunkDecoder;

/*
 * Prepare for a body of at most maxBytes decoded bytes.
 */
void NsChunkInit(NsChunkDecoder *decoderPtr, uint64_t maxBytes);

/*
 * Decode length newly received bytes at data.  Then *decodedPtr decoded ones
 * are at data; *consumedPtr says how many of the received ones belong to this
 * body: all of them, except after NS_CHUNK_DONE, when the rest is the next
 * request.  The rest stays where it was, at data + *consumedPtr.
 *
 * Bytes beyond maxBytes are dropped.  After TOO_LARGE the status stays.
 */
NsChunkStatus NsChunkDecode(NsChunkDecoder *decoderPtr, char *data,
                            size_t length, size_t *decodedPtr,
                            size_t *consumedPtr);

#endif
