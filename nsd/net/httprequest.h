/* SPDX-License-Identifier: MPL-2.0
 * httprequest.h --
 *
 *      A request to another server: the target of its URL, and its head.
 *
 *      Pure functions.
 */

#ifndef NSD_NET_HTTPREQUEST_H
#define NSD_NET_HTTPREQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsset.h"
#include "nsstring.h"

/*
 * The parts of a URL.
 */
typedef struct NsHttpTarget {
    bool  isSecure;
    char *host; /* An IPv6 address without its brackets. */
    int   port;
    char *authority; /* HOST?:PORT?, for the Host field: without the default
                      * port and without a user. */
    char *path;      /* With the query, without the fragment. */
} NsHttpTarget;

/*
 * Parse http?s?://?USER@?HOST?:PORT??/PATH?.  Returns NULL, or what is wrong
 * with it; then there is nothing to free.
 */
const char *NsHttpTargetParse(const char *url, NsHttpTarget *targetPtr);
void        NsHttpTargetFree(NsHttpTarget *targetPtr);

typedef struct NsHttpRequestSpec {
    const NsHttpTarget *targetPtr;
    const char         *method;    /* In upper case. */
    const Ns_Set       *headers;   /* NULL: none. */
    bool                isToProxy; /* The request line has the whole URL. */
    bool                keepsHost; /* Send the Host of the headers. */
    const char         *lines;     /* More fields, as sent; NULL: none. */
    bool                isKept;    /* The connection is to stay open. */
    bool                hasBody;
    uint64_t            bodyBytes;
} NsHttpRequestSpec;

/*
 * Append the head.  False: the field *badNamePtr could change the meaning of
 * the request.
 */
bool NsHttpRequestFormat(Ns_DString *dsPtr, const NsHttpRequestSpec *specPtr,
                         const char **badNamePtr);

/*
 * Append the head of a request that asks a proxy for a tunnel.
 */
void NsHttpRequestFormatTunnel(Ns_DString         *dsPtr,
                               const NsHttpTarget *targetPtr);

/*
 * Whether the text is a valid method; whether a request with that method may be
 * sent again when its outcome is unknown (RFC 9110, section 9.2.2).
 */
bool NsHttpMethodIsValid(const char *method);
bool NsHttpMethodIsIdempotent(const char *method);

#endif
