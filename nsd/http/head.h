/* SPDX-License-Identifier: MPL-2.0
 * head.h --
 *
 *      Request line and header fields of one HTTP request, parsed in place.
 *
 *      Pointers go into the input buffer.  Field names and values are null
 *      terminated there; the request line is left as received, so its parts
 *      come with a length.
 */

#ifndef NSD_HTTP_HEAD_H
#define NSD_HTTP_HEAD_H

#include "nstypes.h"

typedef struct NsHttpField {
    char    *name;
    char    *value;
    uint32_t nameLength;
    uint32_t valueLength;
} NsHttpField;

/*
 * Fields that the server itself looks at; found while parsing.
 */
typedef enum {
    NS_FIELD_HOST,
    NS_FIELD_CONNECTION,
    NS_FIELD_CONTENT_LENGTH,
    NS_FIELD_CONTENT_TYPE,
    NS_FIELD_TRANSFER_ENCODING,
    NS_FIELD_EXPECT,
    NS_FIELD_AUTHORIZATION,
    NS_FIELD_ACCEPT_ENCODING,
    NS_FIELD_RANGE,
    NS_FIELD_IF_RANGE,
    NS_FIELD_IF_MATCH,
    NS_FIELD_IF_NONE_MATCH,
    NS_FIELD_IF_MODIFIED_SINCE,
    NS_FIELD_IF_UNMODIFIED_SINCE,
    NS_FIELD_COOKIE,
    NS_FIELD_REFERER,
    NS_FIELD_USER_AGENT,
    NS_FIELD_X_FORWARDED_FOR,
    NS_FIELD_TRACEPARENT,
    NS_FIELD_COUNT
} NsHttpKnownField;

#define NS_HTTP_USUAL_FIELDS 20 /* A browser sends 8 to 16. */
#define NS_HTTP_REASON_BYTES 160

/*
 * What a version means, however it was written.
 */
typedef enum {
    NS_HTTP_0_9, /* No version: a bare reply. */
    NS_HTTP_1_0,
    NS_HTTP_1_1, /* And above. */
    NS_HTTP_2
} NsHttpVersion;

/*
 * Not to be copied by assignment: fields may point to usualFields.
 */
typedef struct NsHttpHead {
    char         *line; /* Request line, null terminated. */
    uint32_t      lineLength;
    const char   *method; /* Inside line. */
    uint32_t      methodLength;
    const char   *target; /* Inside line: URL as sent, with query. */
    uint32_t      targetLength;
    double        sentVersion; /* 1.0, 1.1 ...  0.0 without one. */
    NsHttpVersion version;     /* Decided by that. */
    size_t        headBytes;   /* Of all lines; what follows in the buffer is
                                * body, or the next request. */

    int status;             /* 0, or with what the request is refused; then
                             * reason says why. */
    bool isFramingRepeated; /* Several Content-Length or
                             * Transfer-Encoding fields. */
    bool isHostRepeated;    /* Several Host fields. */
    bool isExpectRepeated;  /* Several Expect fields. */
    bool asksClose;         /* Connection names close, ... */
    bool asksKeepAlive;     /* ... or keep-alive. */

    NsHttpField *fields; /* In order of arrival. */
    int          nFields;
    int16_t      known[NS_FIELD_COUNT]; /* First of that name, or -1. */

    int64_t contentLength; /* Announced body bytes; -1: none. */
    bool    isChunked;

    NsHttpField usualFields[NS_HTTP_USUAL_FIELDS];
    char        reason[NS_HTTP_REASON_BYTES]; /* Unset without a status. */
} NsHttpHead;

/*
 * Value of a known field; NULL if absent.
 */
static inline const char *
NsHttpKnown(const NsHttpHead *headPtr, NsHttpKnownField field)
{
    int i = headPtr->known[field];

    return i < 0 ? NULL : headPtr->fields[i].value;
}

#endif
