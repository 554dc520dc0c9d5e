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

#define NS_WS_DEFLATED 0x40 /* Bit in an opcode to write: RFC 7692. */

#define NS_WS_MAX_CONTROL 125 /* Bytes of the payload of the last three. */

/*
 * What the other side may send.
 */
typedef struct NsWsRules {
    size_t maxLength;
    bool   isMasked;   /* Clients mask their frames, servers do not. */
    bool   isDeflated; /* The first frame of a message may say so. */
} NsWsRules;

typedef struct NsWsFrame {
    int           opcode;
    bool          isFinal;
    bool          isDeflated; /* The message that it begins is. */
    bool          isMasked;
    unsigned char mask[4];
    const char   *payload; /* Still masked. */
    size_t        length;
    size_t        frameBytes; /* With its header. */
} NsWsFrame;

typedef enum {
    NS_WS_COMPLETE,
    NS_WS_INCOMPLETE, /* Valid so far; more bytes are needed. */
    NS_WS_INVALID,
    NS_WS_TOO_LONG,
    NS_WS_BAD_TEXT, /* Text is not UTF-8. */
    NS_WS_BAD_DATA  /* What was compressed is not valid. */
} NsWsStatus;

/*
 * The frame at the beginning of some bytes.  Its header is judged as soon as it
 * is there, so that a length beyond the limit is not waited for.
 */
NsWsStatus NsWsParse(const char *bytes, size_t length,
                     const NsWsRules *rulesPtr, NsWsFrame *framePtr);

/*
 * The payload of a close frame: nothing, or a code that may be sent and a
 * reason in UTF-8.
 */
NsWsStatus NsWsCheckClose(const char *payload, size_t length);

/*
 * The code of a close frame that ends a connection for that status.
 */
int NsWsCloseCode(NsWsStatus status);

/*
 * Append a frame, or the payload of one without its mask.  mask: four bytes, or
 * NULL for none.
 */
void NsWsAppend(Ns_DString *dsPtr, int opcode, bool isFinal,
                const unsigned char *mask, const char *payload, size_t length);
void NsWsAppendPayload(Ns_DString *dsPtr, const NsWsFrame *framePtr);

#endif
