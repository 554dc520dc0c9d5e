/*
 * httprequest.h --
 *
 *      A request to another server: whom its URL leads to, and its head.
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
 * What a URL says.
 */
typedef struct NsHttpTarget {
    bool  isSecure;
    char *host; /* An address in brackets without them. */
    int   port;
    char *authority; /* HOST?:PORT?, for Host: without the port that is
                      * usual, without a user. */
    char *path;      /* With the query, without the fragment. */
} NsHttpTarget;

/*
 * http?s?://?USER@?HOST?:PORT??/PATH?.  NULL, or what is wrong with it; then
 * there is nothing to free.
 */
const char *NsHttpTargetParse(const char *url, NsHttpTarget *targetPtr);
void        NsHttpTargetFree(NsHttpTarget *targetPtr);

typedef struct NsHttpRequestSpec {
    const NsHttpTarget *targetPtr;
    const char         *method;    /* In capitals. */
    const Ns_Set       *headers;   /* NULL: none. */
    bool                isToProxy; /* The request line has the whole URL. */
    bool                keepsHost; /* The Host of the headers is sent. */
    bool                isKept;    /* The connection is to stay open. */
    bool                hasBody;
    uint64_t            bodyBytes;
} NsHttpRequestSpec;

/*
 * Append the head.  False: a field could change the meaning of the request;
 * *badNamePtr is its name.
 */
bool NsHttpRequestFormat(Ns_DString *dsPtr, const NsHttpRequestSpec *specPtr,
                         const char **badNamePtr);

/*
 * Append the head of a request to a proxy for a tunnel.
 */
void NsHttpRequestFormatTunnel(Ns_DString         *dsPtr,
                               const NsHttpTarget *targetPtr);

/*
 * Whether the text is a method; whether a request with that method can be sent
 * again when nobody knows what became of it (RFC 9110, section 9.2.2).
 */
bool NsHttpMethodIsValid(const char *method);
bool NsHttpMethodIsIdempotent(const char *method);

#endif
