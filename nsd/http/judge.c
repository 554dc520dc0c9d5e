/* SPDX-License-Identifier: MPL-2.0
 * judge.c --
 *
 *      The decisions about a request that its head alone allows.
 */

#include "http/judge.h"

#include "http/location.h"

static bool AsksUnknown(const NsHttpHead *headPtr);

int
NsHttpJudge(const NsHttpHead *headPtr)
{
    const char *host = NsHttpKnown(headPtr, NS_FIELD_HOST);

    if (headPtr->isFieldTooLong) {
        return 431;
    }
    if (headPtr->isLineTooLong) {
        return 414;
    }
    /*
     * HTTP/1.1 requires one Host field, no version allows two, or one that is
     * no host (RFC 9112 3.2).
     */
    if (headPtr->isHostRepeated
        || (host == NULL ? headPtr->version >= NS_HTTP_1_1
                         : !NsAuthorityIsValid(host))) {
        return 400;
    }
    return AsksUnknown(headPtr) ? 417 : 0;
}

/*
 * Whether the client expects what the server cannot do (RFC 9110 10.1.1).
 */
static bool
AsksUnknown(const NsHttpHead *headPtr)
{
    const char *expect = NsHttpKnown(headPtr, NS_FIELD_EXPECT);

    return expect != NULL && *expect != '\0' && headPtr->version >= NS_HTTP_1_1
        && !NsHttpAsksContinue(headPtr);
}

bool
NsHttpAsksKeep(const NsHttpHead *headPtr)
{
    return !headPtr->asksClose
        && (headPtr->version >= NS_HTTP_1_1
            || (headPtr->version == NS_HTTP_1_0 && headPtr->asksKeepAlive));
}

bool
NsHttpAsksContinue(const NsHttpHead *headPtr)
{
    const char *expect = NsHttpKnown(headPtr, NS_FIELD_EXPECT);

    return expect != NULL && headPtr->version >= NS_HTTP_1_1
        && STRIEQ(expect, "100-continue");
}

bool
NsHttpKnowsMethod(const char *method)
{
    /* RFC 9110, 5789 and 4918. */
    static const char *const methods[] = {
        "GET",   "HEAD",   "POST",     "PUT",      "DELETE", "CONNECT",
        "TRACE", "PATCH",  "OPTIONS",  "MKCOL",    "COPY",   "MOVE",
        "LOCK",  "UNLOCK", "PROPFIND", "PROPPATCH"};

    for (int i = 0; i < Ns_NrElements(methods); i++) {
        if (STREQ(method, methods[i])) {
            return true;
        }
    }
    return false;
}
