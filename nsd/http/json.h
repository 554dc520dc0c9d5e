/* SPDX-License-Identifier: MPL-2.0
 * json.h --
 *
 *      JSON read strictly (RFC 8259), one event after the other, and the
 *      writing of strings.
 *
 *      Nothing recurses, so how deep a text may nest is a matter of the limit.
 */

#ifndef NSD_HTTP_JSON_H
#define NSD_HTTP_JSON_H

#include "nsstring.h"

typedef enum {
    NS_JSON_DONE, /* The value is complete; more text may follow. */
    NS_JSON_ERROR,
    NS_JSON_KEY, /* Of an object; its value follows. */
    NS_JSON_OBJECT,
    NS_JSON_OBJECT_END,
    NS_JSON_ARRAY,
    NS_JSON_ARRAY_END,
    NS_JSON_STRING,
    NS_JSON_NUMBER,
    NS_JSON_BOOLEAN,
    NS_JSON_NULL
} NsJsonEvent;

/*
 * 0: no limit.
 */
typedef struct NsJsonLimits {
    size_t maxDepth;     /* Containers in each other. */
    size_t maxString;    /* Bytes of a key or string, decoded. */
    size_t maxContainer; /* Elements of one container. */
} NsJsonLimits;

typedef struct NsJsonReader {
    const char  *text;
    const char  *p; /* Not yet read. */
    const char  *end;
    NsJsonLimits limits;
    int          state;
    Ns_DString   stack; /* Of the containers at p: an NsJsonLevel each. */
    Ns_DString   value; /* The key, string, or literal of the last event,
                         * as a Tcl string. */
    char error[80];     /* What is wrong at p. */
} NsJsonReader;

/*
 * Read length bytes, which are to be UTF-8.
 */
void NsJsonInit(NsJsonReader *readerPtr, const char *text, size_t length,
                const NsJsonLimits *limitsPtr);
void NsJsonFree(NsJsonReader *readerPtr);

/*
 * After NS_JSON_DONE and NS_JSON_ERROR there is nothing more to ask for.
 */
NsJsonEvent NsJsonNext(NsJsonReader *readerPtr);

/*
 * Skip white space; whether that was all.
 */
bool NsJsonAtEnd(NsJsonReader *readerPtr);

/*
 * Whether a text is a number of JSON.
 */
bool NsJsonIsNumber(const char *text, size_t length);

/*
 * Append a Tcl string in quotes.
 */
void NsJsonQuote(Ns_DString *dsPtr, const char *text, size_t length);

/*
 * Append a key as it stands between the slashes of a path, and the reverse:
 * `~`, `/` and `.` are `~0`, `~1` and `~2`.
 */
void NsJsonKeyEncode(Ns_DString *dsPtr, const char *key, size_t length);
void NsJsonKeyDecode(Ns_DString *dsPtr, const char *key, size_t length);

#endif
