/* SPDX-License-Identifier: MPL-2.0
 * wsframe.h --
 *
 *      Frames of WebSocket (RFC 6455, section 5), as pure functions.
 */

#ifndef NSD_HTTP_WSFRAME_H
#define NSD_HTTP_WSFRAME_H

#include "nsstring.h"

#define NS_WS_CONTINUE 0
#define NS_WS_TEXT     1
#define NS_WS_BINARY   2
#define NS_WS_CLOSE    8
#define NS_WS_PING     9
#define NS_WS_PONG     10

#define NS_WS_MAX_CONTROL 125 /* Bytes of the payload of the last three. */

typedef struct NsWsFrame {
    int           opcode;
    bool          isFinal;
    bool          isMasked;
    unsigned char mask[4];
    const char   *payload; /* Still masked. */
    size_t        length;
    size_t        frameBytes; /* With its header. */
} NsWsFrame;

typedef enum {
    NS_WS_COMPLETE,
    NS_WS_INCOMPLETE, /* Valid so far; more bytes are needed. */
    NS_WS_INVALID     /* Or its payload is longer than allowed. */
} NsWsStatus;

/*
 * The frame at the beginning of some bytes.  Its header is judged as soon as it
 * is there, so that a length beyond maxLength is not waited for.
 */
NsWsStatus NsWsParse(const char *bytes, size_t length, size_t maxLength,
                     NsWsFrame *framePtr);

/*
 * Append a frame, or the payload of one without its mask.  mask: four bytes, or
 * NULL for none.
 */
void NsWsAppend(Ns_DString *dsPtr, int opcode, bool isFinal,
                const unsigned char *mask, const char *payload, size_t length);
void NsWsAppendPayload(Ns_DString *dsPtr, const NsWsFrame *framePtr);

#endif
