/* SPDX-License-Identifier: MPL-2.0
 * parse.h --
 *
 *      Incremental parser for the request line and the header fields.
 *
 *      The caller collects the bytes of a connection in one buffer, which may
 *      grow and move between calls, and calls NsHttpParse after each arrival.
 *      The parser changes the buffer in place: it puts null bytes behind names
 *      and values.
 */

#ifndef NSD_HTTP_PARSE_H
#define NSD_HTTP_PARSE_H

#include "base/arena.h"
#include "http/head.h"

typedef enum {
    NS_PARSE_DONE,   /* The head is complete, and nothing is wrong with it. */
    NS_PARSE_MORE,   /* Valid so far; feed more bytes. */
    NS_PARSE_REFUSED /* headPtr->status and reason say why. */
} NsParseStatus;

typedef struct NsParseLimits {
    size_t maxLineBytes; /* Of one line before its LF. */
    size_t maxHeadBytes; /* Of all lines; at most 1 GiB counts. */
    int    maxFields;    /* At most 32767 counts. */
    bool   isLfStrict;   /* Lines end with CR LF. */
    bool   allowsHttp09; /* GET without a version is a request. */
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
 * After NS_PARSE_DONE the head points into this buffer.  After REFUSED the
 * connection cannot be read on.  The head is then good for a reply and for
 * logs: a request line that is malformed asks for BAD /, in HTTP/1.1.
 */
NsParseStatus NsHttpParse(NsHttpParser *parserPtr, char *buffer, size_t length);

/*
 * The caller cannot go on: as if Parse had refused the head for that reason.
 */
void NsHttpParserRefuse(NsHttpParser *parserPtr, int status,
                        const char *reason);

/*
 * Bytes of an unfinished request have arrived; blank lines do not count.
 */
bool NsHttpParserHasBegun(const NsHttpParser *parserPtr, size_t length);

/*
 * Split a request line: set line, method, target, version and their lengths.
 * False when it is malformed: then status and reason are set.
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
