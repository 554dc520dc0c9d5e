/* SPDX-License-Identifier: MPL-2.0
 * fuzz_wsframe.c --
 *
 *      Frames of WebSocket: pieces are judged as the whole is, and what was
 *      written is read as the same.
 */

#include "fuzz.h"

#include "http/wsframe.h"

#define MAX_BYTES 500u

static NsWsRules rules = {.maxLength = MAX_BYTES};

static void CheckPieces(const char *bytes, size_t length, NsWsStatus whole);
static void CheckAgain(const NsWsFrame *framePtr);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char      *bytes = FuzzDup(data, length);
    NsWsFrame  frame;
    NsWsStatus status;

    rules.isMasked = length > 1u && (data[1] & 0x80u) != 0u;
    rules.isDeflated = length > 2u && (data[length - 1u] & 1u) != 0u;
    status = NsWsParse(bytes, length, &rules, &frame);

    if (status == NS_WS_COMPLETE) {
        FuzzAssert(frame.frameBytes <= length && frame.length <= MAX_BYTES);
        FuzzAssert(frame.payload + frame.length == bytes + frame.frameBytes);
        FuzzAssert(frame.opcode < NS_WS_CLOSE
                   || (frame.isFinal && frame.length <= NS_WS_MAX_CONTROL));
        CheckAgain(&frame);
    }
    CheckPieces(bytes, length, status);
    free(bytes);
    return 0;
}

/*
 * The status of a beginning is that of the whole, or more is needed.
 */
static void
CheckPieces(const char *bytes, size_t length, NsWsStatus whole)
{
    NsWsStatus status = NS_WS_INCOMPLETE;

    for (size_t n = 0u; n <= length && status == NS_WS_INCOMPLETE; n++) {
        char     *piece = FuzzDup((const uint8_t *) bytes, n);
        NsWsFrame frame;

        status = NsWsParse(piece, n, &rules, &frame);
        free(piece);
    }
    FuzzAssert(status == whole);
}

static void
CheckAgain(const NsWsFrame *framePtr)
{
    Ns_DString payload, again, written;
    NsWsFrame  frame;

    Ns_DStringInit(&payload);
    Ns_DStringInit(&again);
    Ns_DStringInit(&written);
    NsWsAppendPayload(&payload, framePtr);
    FuzzAssert((size_t) Ns_DStringLength(&payload) == framePtr->length);
    NsWsAppend(&written,
               framePtr->opcode | (framePtr->isDeflated ? NS_WS_DEFLATED : 0),
               framePtr->isFinal, framePtr->isMasked ? framePtr->mask : NULL,
               Ns_DStringValue(&payload), framePtr->length);
    FuzzAssert(NsWsParse(Ns_DStringValue(&written),
                         (size_t) Ns_DStringLength(&written), &rules, &frame)
               == NS_WS_COMPLETE);
    FuzzAssert(frame.opcode == framePtr->opcode
               && frame.isFinal == framePtr->isFinal
               && frame.isMasked == framePtr->isMasked
               && frame.isDeflated == framePtr->isDeflated
               && frame.length == framePtr->length);
    NsWsAppendPayload(&again, &frame);
    FuzzAssert(memcmp(Ns_DStringValue(&again), Ns_DStringValue(&payload),
                      framePtr->length)
               == 0);
    Ns_DStringFree(&written);
    Ns_DStringFree(&again);
    Ns_DStringFree(&payload);
}
