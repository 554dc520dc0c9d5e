/* SPDX-License-Identifier: MPL-2.0
 * reply.h --
 *
 *      The head of a reply to a request of ours, and what follows it (RFC 9112,
 *      sections 4 to 6).
 */

#ifndef NSD_HTTP_REPLY_H
#define NSD_HTTP_REPLY_H

#include "nsset.h"

#define NS_REPLY_MAX_HEAD   65536 /* Bytes. */
#define NS_REPLY_MAX_FIELDS 512

typedef enum {
    NS_REPLY_NO_BODY,
    NS_REPLY_LENGTH,  /* `length` bytes. */
    NS_REPLY_CHUNKED, /* Chunks. */
    NS_REPLY_TO_CLOSE /* Until the peer closes. */
} NsReplyFraming;

/*
 * The line and the phrase are in the text that was parsed, not null terminated.
 */
typedef struct NsReplyHead {
    int            status;
    const char    *line;
    size_t         lineBytes;
    const char    *phrase;
    size_t         phraseBytes;
    NsReplyFraming framing;
    uint64_t       length;
    bool           isPersistent; /* The connection stays open. */
    bool           isGzip;       /* The body is compressed so. */
} NsReplyHead;

/*
 * Whether text can be the begin of a reply.
 */
bool NsReplyMayBegin(const char *text, size_t length);

/*
 * The bytes of a head, with the empty line that ends it; 0: it is not complete.
 * Of an earlier call with less text, `scanned` is the length.
 */
size_t NsReplyHeadBytes(const char *text, size_t length, size_t scanned);

/*
 * Parse a complete head.  NULL, or what is wrong with it.  The fields are put
 * into the set, with names in lower case, folded lines joined.  hasBody false:
 * the request was one whose reply has none.
 */
const char *NsReplyParse(const char *text, size_t length, bool hasBody,
                         NsReplyHead *headPtr, Ns_Set *fields);

#endif
