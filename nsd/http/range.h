/* SPDX-License-Identifier: MPL-2.0
 * range.h --
 *
 *      Byte ranges of a body: RFC 9110, section 14.
 */

#ifndef NSD_HTTP_RANGE_H
#define NSD_HTTP_RANGE_H

#include "nstypes.h"

#define NS_MAX_RANGES 16 /* Of one request; more: send all. */

typedef enum {
    NS_RANGE_NONE,         /* Send all: 200. */
    NS_RANGE_SOME,         /* 206. */
    NS_RANGE_UNSATISFIABLE /* 416. */
} NsRangeStatus;

typedef struct NsRange {
    uint64_t first;
    uint64_t last; /* Inclusive. */
} NsRange;

/*
 * Read a Range field for a body of length bytes.  With NS_RANGE_SOME, ranges
 * holds *nPtr (>= 1) ranges inside the body, neighbours merged; those that
 * begin behind it are left out.  Ranges that overlap are an attack, or useless:
 * NS_RANGE_NONE, as for text that is not a list of ranges.
 */
NsRangeStatus NsRangeParse(const char *value, uint64_t length,
                           NsRange ranges[NS_MAX_RANGES], int *nPtr);

/*
 * Content-Range: `bytes a-b/N`, for a NULL range the one of 416 replies.  The
 * length of the text.
 */
#define NS_CONTENT_RANGE_BYTES 80
size_t NsRangeContentRange(char *buffer, const NsRange *rangePtr,
                           uint64_t length);

/*
 * Replies with several ranges.  A part's head comes before its data and after
 * the data of the part before it; it is as long as the function returns, which
 * writes nothing when buffer is NULL.  The tail ends the body.
 */
#define NS_RANGE_BOUNDARY "NaviServerNaviServerNaviServer"
#define NS_RANGE_TYPE     "multipart/byteranges; boundary=" NS_RANGE_BOUNDARY
#define NS_RANGE_PART_END "\r\n"
#define NS_RANGE_TAIL     "--" NS_RANGE_BOUNDARY "--\r\n"

size_t NsRangePartHead(char *buffer, size_t bufferBytes, const char *type,
                       const NsRange *rangePtr, uint64_t length);

#endif
