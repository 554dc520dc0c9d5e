/* SPDX-License-Identifier: MPL-2.0
 * replytext.h --
 *
 *      Text of a reply: from what Tcl keeps to the bytes that are sent.
 */

#ifndef NSD_REQUEST_REPLYTEXT_H
#define NSD_REQUEST_REPLYTEXT_H

#include "nsstring.h"
#include "request/conn.h"

typedef struct NsReplyText {
    struct iovec *bufs; /* The caller's, or &own. */
    int           nBufs;
    struct iovec  own;
    bool          isEncoded; /* The next is in use. */
    bool          isZipped;
    Ns_DString    encoded;
    Ns_DString    zipped;
} NsReplyText;

/*
 * Once, before any thread writes.
 */
void NsReplyTextInit(void);

/*
 * Encode a piece of text, and compress it if the reply is compressed, which its
 * first piece decides.  flags as those of Ns_ConnWriteVChars.
 */
void NsReplyTextMake(NsReplyText *textPtr, NsConn *connPtr, struct iovec *bufs,
                     int nBufs, int flags);

static inline void
NsReplyTextFree(NsReplyText *textPtr)
{
    if (textPtr->isEncoded) {
        Ns_DStringFree(&textPtr->encoded);
    }
    if (textPtr->isZipped) {
        Ns_DStringFree(&textPtr->zipped);
    }
}

/*
 * Whether a compressed text is open.  End it: the bytes still due, appended, or
 * dropped.
 */
#define NsReplyTextIsOpen(connPtr) ((connPtr)->coderPtr != NULL)
void NsReplyTextEnd(NsConn *connPtr, Ns_DString *dsPtr);
void NsReplyTextDrop(NsConn *connPtr);

/*
 * The reply depends on Accept-Encoding, besides what a script says that it
 * depends on.
 */
void NsReplyAddVary(NsConn *connPtr, const char *field);

#endif
