/* SPDX-License-Identifier: MPL-2.0
 * wsframe.c --
 *
 *      Frames of WebSocket.
 */

#include "http/wsframe.h"
#include "base/assert.h"

#define FINAL    0x80u
#define RESERVED 0x30u
#define DEFLATED ((unsigned) NS_WS_DEFLATED)
#define OPCODE   0x0Fu
#define MASKED   0x80u
#define LENGTH   0x7Fu

static bool IsHeadValid(const unsigned char *head, const NsWsRules *rulesPtr);
static void Unmask(char *bytes, size_t length, const unsigned char *mask);

NsWsStatus
NsWsParse(const char *bytes, size_t length, const NsWsRules *rulesPtr,
          NsWsFrame *framePtr)
{
    const unsigned char *p = (const unsigned char *) bytes;
    size_t               head = 2, nLength;
    uint64_t             payload;

    if (length < 2) {
        return NS_WS_INCOMPLETE;
    }
    *framePtr = (NsWsFrame){.opcode = (int) (p[0] & OPCODE),
                            .isFinal = (p[0] & FINAL) != 0u,
                            .isDeflated = (p[0] & DEFLATED) != 0u,
                            .isMasked = (p[1] & MASKED) != 0u};
    payload = p[1] & LENGTH;
    nLength = payload == 126u ? 2u : payload == 127u ? 8u : 0u;
    if (!IsHeadValid(p, rulesPtr)) {
        return NS_WS_INVALID;
    }
    if (length < head + nLength) {
        return NS_WS_INCOMPLETE;
    }
    if (nLength > 0u) {
        payload = 0u;
        for (size_t i = 0; i < nLength; i++) {
            payload = payload << 8 | p[head + i];
        }
        head += nLength;
    }
    if (payload > INT64_MAX) {
        return NS_WS_INVALID;
    }
    if (payload > rulesPtr->maxLength) {
        return NS_WS_TOO_LONG;
    }
    if (framePtr->isMasked) {
        if (length < head + sizeof(framePtr->mask)) {
            return NS_WS_INCOMPLETE;
        }
        memcpy(framePtr->mask, p + head, sizeof(framePtr->mask));
        head += sizeof(framePtr->mask);
    }
    framePtr->payload = bytes + head;
    framePtr->length = (size_t) payload;
    framePtr->frameBytes = head + (size_t) payload;
    return length < framePtr->frameBytes ? NS_WS_INCOMPLETE : NS_WS_COMPLETE;
}

/*
 * The first two bytes: what RFC 6455, section 5.2, and RFC 7692, section 6,
 * allow.
 */
static bool
IsHeadValid(const unsigned char *head, const NsWsRules *rulesPtr)
{
    int  opcode = (int) (head[0] & OPCODE);
    bool isControl = opcode >= NS_WS_CLOSE;

    if ((head[0] & RESERVED) != 0u
        || ((head[1] & MASKED) != 0u) != rulesPtr->isMasked
        || (opcode > NS_WS_BINARY && !isControl) || opcode > NS_WS_PONG) {
        return false;
    }
    if ((head[0] & DEFLATED) != 0u
        && (!rulesPtr->isDeflated || isControl || opcode == NS_WS_CONTINUE)) {
        return false;
    }
    return !isControl
        || ((head[0] & FINAL) != 0u && (head[1] & LENGTH) <= NS_WS_MAX_CONTROL);
}

/*
 * RFC 6455, section 7.4.2; 1012 to 1014 are registered.
 */
NsWsStatus
NsWsCheckClose(const char *payload, size_t length)
{
    const unsigned char *p = (const unsigned char *) payload;
    unsigned             code;

    if (length == 0) {
        return NS_WS_COMPLETE;
    }
    if (length == 1) {
        return NS_WS_INVALID;
    }
    code = (unsigned) p[0] << 8 | p[1];
    if (code < 1000u || code > 4999u || (code > 1014u && code < 3000u)
        || (code >= 1004u && code <= 1006u)) {
        return NS_WS_INVALID;
    }
    return Ns_Valid_UTF8(p + 2, length - 2, NULL)
        ? NS_WS_COMPLETE
        : NS_WS_BAD_TEXT;
}

int
NsWsCloseCode(NsWsStatus status)
{
    static const int codes[] = {[NS_WS_INVALID] = 1002,
                                [NS_WS_TOO_LONG] = 1009,
                                [NS_WS_BAD_TEXT] = 1007,
                                [NS_WS_BAD_DATA] = 1007};

    NsAssert(status >= NS_WS_INVALID && status <= NS_WS_BAD_DATA);
    return codes[status];
}

void
NsWsAppend(Ns_DString *dsPtr, int opcode, bool isFinal,
           const unsigned char *mask, const char *payload, size_t length)
{
    unsigned char head[14];
    size_t        n = 2, nLength = length <= 125 ? 0 : length <= 65535 ? 2 : 8;
    int           start;

    head[0] = (unsigned char) ((isFinal ? FINAL : 0u)
                               | ((unsigned) opcode & (OPCODE | DEFLATED)));
    head[1] = (unsigned char) (nLength == 0       ? length
                                   : nLength == 2 ? 126
                                                  : 127);
    for (size_t i = nLength; i > 0; i--) {
        head[n++] = (unsigned char) ((uint64_t) length >> (8 * (i - 1)));
    }
    if (mask != NULL) {
        head[1] |= MASKED;
        memcpy(head + n, mask, 4);
        n += 4;
    }
    Ns_DStringNAppend(dsPtr, (char *) head, (int) n);
    start = Ns_DStringLength(dsPtr);
    Ns_DStringNAppend(dsPtr, payload, (int) length);
    if (mask != NULL) {
        Unmask(Ns_DStringValue(dsPtr) + start, length, mask);
    }
}

void
NsWsAppendPayload(Ns_DString *dsPtr, const NsWsFrame *framePtr)
{
    int start = Ns_DStringLength(dsPtr);

    Ns_DStringNAppend(dsPtr, framePtr->payload, (int) framePtr->length);
    if (framePtr->isMasked) {
        Unmask(Ns_DStringValue(dsPtr) + start, framePtr->length,
               framePtr->mask);
    }
}

static void
Unmask(char *bytes, size_t length, const unsigned char *mask)
{
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (char) ((unsigned char) bytes[i] ^ mask[i % 4]);
    }
}
