/* SPDX-License-Identifier: MPL-2.0
 * fuzz_chunk.c --
 *
 *      The decoder of chunked bodies: pieces give the same as the whole, and
 *      the next request is left alone.
 */

#include "fuzz.h"

#include "http/chunk.h"

#define MAX_BYTES 1000

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    NsChunkDecoder whole, pieces;
    char          *wholeData = FuzzDup(data, length);
    char          *decoded = malloc(length + 1);
    size_t         wholeBytes, wholeConsumed, nDecoded = 0, at = 0;
    bool           isAtEnd = false;
    size_t         step = length == 0 ? 1 : 1 + data[length - 1] % 5;
    NsChunkStatus  wholeStatus, status = NS_CHUNK_MORE;

    NsChunkInit(&whole, MAX_BYTES);
    wholeStatus = NsChunkDecode(&whole, wholeData, length, &wholeBytes,
                                &wholeConsumed);
    FuzzAssert(wholeBytes <= wholeConsumed && wholeConsumed <= length);
    FuzzAssert(wholeBytes <= MAX_BYTES);
    FuzzAssert(memcmp(wholeData + wholeConsumed, data + wholeConsumed,
                      length - wholeConsumed)
               == 0);

    NsChunkInit(&pieces, MAX_BYTES);
    while (at < length && !isAtEnd) {
        size_t n = MIN(step, length - at), bytes, consumed;
        char  *piece = FuzzDup(data + at, n);

        status = NsChunkDecode(&pieces, piece, n, &bytes, &consumed);
        isAtEnd = consumed < n || status == NS_CHUNK_BAD;
        memcpy(decoded + nDecoded, piece, bytes);
        nDecoded += bytes;
        at += consumed;
        free(piece);
    }
    FuzzAssert(status == wholeStatus);
    if (status != NS_CHUNK_BAD) {
        FuzzAssert(at == wholeConsumed);
        FuzzAssert(pieces.bodyBytes == whole.bodyBytes);
    }
    if (whole.bodyBytes <= MAX_BYTES) {
        FuzzAssert(nDecoded == wholeBytes);
        FuzzAssert(memcmp(decoded, wholeData, wholeBytes) == 0);
    }
    free(decoded);
    free(wholeData);
    return 0;
}
