/* SPDX-License-Identifier: MPL-2.0
 * replyfields.h --
 *
 *      The head of a reply in the form of HTTP/1, taken apart for HTTP/2, which
 *      has no text.
 */

#ifndef NSD_HTTP_REPLYFIELDS_H
#define NSD_HTTP_REPLYFIELDS_H

#include "nstypes.h"

/*
 * Not null terminated.
 */
typedef struct NsReplyField {
    char  *name; /* In lower case. */
    size_t nameLength;
    char  *value;
    size_t valueLength;
} NsReplyField;

/*
 * Whether the text may be that of a head: "HTTP/" and more, or the start of it.
 */
bool NsReplyMayBeHead(const char *text, size_t length);

/*
 * Take a whole head apart, in place.  Fields of the connection (RFC
 * 9113, 8.2.2) and what is no field are left out.  The number of fields; -1
 * when there are more than the room, or no status.
 */
int NsReplyFieldsParse(char *text, size_t length, int *statusPtr,
                       NsReplyField *fields, int room);

/*
 * Of a whole number of bytes that a field has for a value; -1: none.
 */
int64_t NsReplyFieldBytes(const NsReplyField *fieldPtr);

#endif
