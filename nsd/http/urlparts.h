/* SPDX-License-Identifier: MPL-2.0
 * urlparts.h --
 *
 *      A URL taken apart into its components (RFC 3986).
 *
 *      Nothing is decoded or normalized.  The parts point into the text.
 */

#ifndef NSD_HTTP_URLPARTS_H
#define NSD_HTTP_URLPARTS_H

#include "nsstring.h"

/*
 * A piece of text; start is NULL for a part that the URL does not have.
 */
typedef struct NsSpan {
    const char *start;
    size_t      length;
} NsSpan;

typedef enum {
    NS_URL_PROTO,
    NS_URL_USERINFO,
    NS_URL_HOST, /* Of a numeric IPv6 address without the brackets. */
    NS_URL_PORT,
    NS_URL_DIRECTORIES, /* Between the first and the last slash. */
    NS_URL_TAIL,        /* Behind it. */
    NS_URL_QUERYTEXT,
    NS_URL_ANCHOR,
    NS_URL_NPARTS
} NsUrlPiece;

typedef struct NsUrlParts {
    NsSpan parts[NS_URL_NPARTS];
} NsUrlParts;

/*
 * What scripts call them: proto userinfo host port path tail query fragment.
 */
extern const char *const nsUrlPartNames[NS_URL_NPARTS + 1];

/*
 * NULL, or what is wrong.  Strict: every character must be one that RFC 3986
 * allows where it stands; otherwise only what would change the parts counts.
 */
const char *NsUrlSplit(const char *url, bool isStrict, NsUrlParts *partsPtr);

/*
 * `host`, `host:port`, `[address]`, `[address]:port`, as a Host field may have
 * it.  False for anything else.
 */
bool NsHostPortSplit(const char *text, NsSpan *hostPtr, NsSpan *portPtr);

/*
 * Append the URL that has these parts.  Empty ones add nothing, except the
 * directories and the tail of a path.
 */
void NsUrlJoin(Ns_DString *dsPtr, const NsUrlParts *partsPtr);

#endif
