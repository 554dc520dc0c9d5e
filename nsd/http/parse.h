/* SPDX-License-Identifier: MPL-2.0
 * parse.h --
 *
 *      Incremental parser for the request line and the header fields.
 *
 *      The caller collects the bytes of a connection in one buffer, which may
 *      grow and move between calls, and calls NsHttpParse after each arrival.
 *      No byte is looked at twice.  The parser changes the buffer in place: it
 *      puts null bytes behind names and values, and joins continuation lines.
 */

#ifndef NSD_HTTP_PARSE_H
#define NSD_HTTP_PARSE_H

#include "base/arena.h"
#include "http/head.h"

typedef enum {
    NS_PARSE_DONE,           /* The head is complete. */
    NS_PARSE_MORE,           /* Valid so far; feed more bytes. */
    NS_PARSE_BLANK_LINES,    /* More than two before the request line. */
    NS_PARSE_HEAD_TOO_LARGE, /* More than maxHeadBytes. */
    NS_PARSE_NO_URL,         /* Nothing behind the method. */
    NS_PARSE_BAD_FIELD,      /* No colon; continuation of nothing. */
    NS_PARSE_BAD_BYTE,       /* A null byte, or a CR that ends no line. */
    NS_PARSE_BAD_LENGTH,     /* Content-Length unusable, contradictory, or
                              * together with Transfer-Encoding, or that
                              * from HTTP/1.0. */
    NS_PARSE_BAD_CODING,     /* A Transfer-Encoding other than chunked. */
    NS_PARSE_TOO_MANY_FIELDS /* More than maxFields. */
} NsParseStatus;

typedef struct NsParseLimits {
    size_t maxLineBytes; /* Of one line before its LF; beyond it the head
                          * is flagged, not refused. */
    size_t maxHeadBytes; /* Of all lines; at most 1 GiB counts. */
    int    maxFields;    /* At most 32767 counts. */
} NsParseLimits;

/*
 * Owned by the thread that reads the connection.  To be treated as opaque.
 */
typedef struct NsHttpParser {
    NsHttpHead   *headPtr;
    NsArena      *arenaPtr;
    NsParseLimits limits;
    const char   *buffer; /* The buffer that the head's pointers point
                           * into. */
    size_t lineStart;     /* Offset of the current line. */
    size_t scanned;       /* Offset up to where no LF was found. */
    int    maxFields;     /* Room in the fields array. */
    int    nBlankLines;
    bool   hasLine; /* The request line is complete. */
} NsHttpParser;

/*
 * Prepare for a new head, which the parser clears.  Beyond the usual number of
 * fields, the array of them comes from the arena.  limitsPtr is copied.
 */
void NsHttpParserInit(NsHttpParser *parserPtr, NsHttpHead *headPtr,
                      NsArena *arenaPtr, const NsParseLimits *limitsPtr);

/*
 * Go on with a buffer that holds all bytes since the start of the head, length
 * in number; its address may differ from the last call's, its content not.
 *
 * After NS_PARSE_DONE the head points into this buffer.  After anything but
 * DONE and MORE the connection cannot be read on: send NsParseBareReply, close.
 */
NsParseStatus NsHttpParse(NsHttpParser *parserPtr, char *buffer, size_t length);

/*
 * Bytes of an unfinished request have arrived; blank lines do not count.
 */
bool NsHttpParserHasBegun(const NsHttpParser *parserPtr, size_t length);

/*
 * The whole reply to a head that was refused, and its length; "" when the
 * connection is to be closed without a word.  The reason is for an operator.
 */
const char *NsParseBareReply(NsParseStatus status, size_t *lengthPtr);
int         NsParseReplyStatus(NsParseStatus status);
const char *NsParseReason(NsParseStatus status);

/*
 * Split a trimmed request line: set line, method, target, version and their
 * lengths.  False when there is no URL.
 */
bool NsHttpSplitLine(NsHttpHead *headPtr, char *line, size_t length);

/*
 * The bytes of the head were moved from one address to another: correct the
 * pointers.
 */
void NsHttpHeadMove(NsHttpHead *headPtr, const char *from, char *to);

/*
 * Value of the first field of that name, any case; NULL if absent.
 */
const char *NsHttpFind(const NsHttpHead *headPtr, const char *name);

#endif
