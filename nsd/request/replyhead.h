/* SPDX-License-Identifier: MPL-2.0
 * replyhead.h --
 *
 *      The header of a reply: what is decided when it is built, and its bytes.
 */

#ifndef NSD_REQUEST_REPLYHEAD_H
#define NSD_REQUEST_REPLYHEAD_H

#include "request/conn.h"

/*
 * Body length of a reply that is streamed.
 */
#define NS_LENGTH_UNKNOWN (-1)

/*
 * Decide length, chunking and keep-alive, and add their fields to the output
 * headers: once per reply, before the header is rendered.
 */
void NsReplyDecide(NsConn *connPtr, int64_t bodyBytes);

/*
 * Status line and fields, in the arena, with the given room behind them.  The
 * header counts as sent from now on.
 */
char *NsReplyRender(NsConn *connPtr, size_t room, size_t *lengthPtr);

/*
 * The value of the field Server of all replies, empty for none.  To be set
 * before the first reply.
 */
void NsReplySetServer(const char *text);

/*
 * Whether the connection may be kept after a reply with a body of that length.
 */
bool NsReplyMayKeep(const NsSockSettings *settingsPtr,
                    const NsHttpHead *headPtr, int64_t bodyBytes);

/*
 * Write the start of a header, up to and including the Date field, which takes
 * at most NS_REPLY_START_BYTES.  Where it ends.
 */
#define NS_REPLY_START_BYTES 192
char *NsReplyStart(char *text, const NsHttpHead *headPtr, bool isStealthy,
                   int status);

#endif
