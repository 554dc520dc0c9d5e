/* SPDX-License-Identifier: MPL-2.0
 * judge.c --
 *
 *      The decisions about a request that its head alone allows.
 *
 *      A head is refused when others could read it in another way than we do:
 *      see another host, another end of the body, or a request where we see
 *      none (RFC 9112, sections 3, 6 and 11.2).
 */

#include "http/judge.h"

#include "base/assert.h"
#include "base/chars.h"
#include "http/location.h"
#include "http/refusal.h"
#include "http/token.h"
#include "http/url.h"

static bool   HasTarget(NsHttpHead *headPtr, NsArena *arenaPtr,
                        char **authorityPtr);
static bool   IsMethod(const NsHttpHead *headPtr, const char *method);
static bool   HasBackslash(const char *target, size_t length);
static bool   Climbs(const char *target, size_t length, NsArena *arenaPtr);
static size_t SchemeBytes(const char *target, size_t length);
static bool   RefuseTarget(NsHttpHead *headPtr, const char *what);
static bool   HasHost(NsHttpHead *headPtr);
static void   SetHost(NsHttpHead *headPtr, NsArena *arenaPtr, char *authority);
static bool   HasLength(NsHttpHead *headPtr);
static bool   TakeLengths(NsHttpHead *headPtr, const NsHttpField *fieldPtr);
static bool   HasCoding(NsHttpHead *headPtr);
static bool   MayHaveBody(NsHttpHead *headPtr);
static bool   HasExpectation(NsHttpHead *headPtr);
static bool   IsSameName(const NsHttpHead *headPtr, int i, int other);

int
NsHttpJudge(NsHttpHead *headPtr, NsArena *arenaPtr)
{
    char *authority = NULL;

    if (likely(HasTarget(headPtr, arenaPtr, &authority) && HasHost(headPtr)
               && HasLength(headPtr) && HasCoding(headPtr)
               && MayHaveBody(headPtr) && HasExpectation(headPtr))) {
        NsAssert(headPtr->status == 0);
        NsAssert(!headPtr->isChunked || headPtr->contentLength < 0);
        if (unlikely(authority != NULL)) {
            SetHost(headPtr, arenaPtr, authority);
        }
    }
    return headPtr->status;
}

/*
 * One of the forms of RFC 9112 3.2: a path, a whole URL, and what goes with one
 * method alone.
 */
static bool
HasTarget(NsHttpHead *headPtr, NsArena *arenaPtr, char **authorityPtr)
{
    const char *target = headPtr->target;
    size_t      length = headPtr->targetLength;
    size_t      nScheme, nAuthority;
    char       *authority;

    if (unlikely(IsMethod(headPtr, "CONNECT"))) {
        authority = NsArenaDup(arenaPtr, target, length);
        if (!NsAuthorityIsValid(authority) || authority[length - 1u] == ']'
            || strchr(authority, ':') == NULL) {
            return RefuseTarget(headPtr, "not host:port");
        }
        *authorityPtr = authority;
        return true;
    }
    if (likely(*target == '/')) {
        return likely(!HasBackslash(target, length))
            || !Climbs(target, length, arenaPtr)
            || RefuseTarget(headPtr, "climbs by backslashes");
    }
    if (length == 1u && *target == '*') {
        return IsMethod(headPtr, "OPTIONS")
            || RefuseTarget(headPtr, "only OPTIONS has an asterisk");
    }
    nScheme = SchemeBytes(target, length);
    if (nScheme == 0u) {
        return RefuseTarget(headPtr, "neither path nor scheme://host");
    }
    target += nScheme;
    length -= nScheme;
    for (nAuthority = 0u; nAuthority < length && target[nAuthority] != '/'
         && target[nAuthority] != '?';) {
        nAuthority++;
    }
    authority = NsArenaDup(arenaPtr, target, nAuthority);
    if (!NsAuthorityIsValid(authority)) {
        return RefuseTarget(headPtr, "no valid host[:port]");
    }
    *authorityPtr = authority;
    return true;
}

static bool
IsMethod(const NsHttpHead *headPtr, const char *method)
{
    return headPtr->methodLength == strlen(method)
        && memcmp(headPtr->method, method, headPtr->methodLength) == 0;
}

/*
 * Written as it is, or coded; or something else is coded.
 */
static bool
HasBackslash(const char *target, size_t length)
{
    return memchr(target, '%', length) != NULL
        || memchr(target, '\\', length) != NULL;
}

/*
 * Whether two dots stand beside a backslash: some systems would take it for a
 * slash.  Elsewhere it is a character like others.
 */
static bool
Climbs(const char *target, size_t length, NsArena *arenaPtr)
{
    const char *mark = memchr(target, '?', length);
    size_t      n = mark == NULL ? length : (size_t) (mark - target);
    char       *path = NsArenaAlloc(arenaPtr, n + 1u);
    bool        climbs = false;

    n = NsUrlUnescape(path, target, n, NS_URL_PATH);
    path[n] = '\0';
    /* The first byte is a slash. */
    for (size_t i = 1; i + 1 < n && !climbs; i++) {
        char before = path[i - 1], after = path[i + 2];

        climbs = path[i] == '.' && path[i + 1] == '.'
            && ((before == '\\' && (after == '/' || i + 2 == n))
                || (before == '/' && after == '\\')
                || (before == '\\' && after == '\\'));
    }
    return climbs;
}

/*
 * The length of `scheme://`; 0 if the target does not begin with it.
 */
static size_t
SchemeBytes(const char *target, size_t length)
{
    size_t n = 0u;

    while (n < length
           && (NsIsAlpha(target[n])
               || (n > 0u
                   && (NsIsDigit(target[n]) || target[n] == '+'
                       || target[n] == '-' || target[n] == '.')))) {
        n++;
    }
    return n > 0u && length - n >= 3u && memcmp(target + n, "://", 3u) == 0
        ? n + 3u
        : 0u;
}

static bool
RefuseTarget(NsHttpHead *headPtr, const char *what)
{
    NsHttpRefuse(headPtr, 400, "URL: %s: \"%.*s\"", what,
                 (int) MIN(headPtr->targetLength, 60u), headPtr->target);
    return false;
}

/*
 * HTTP/1.1 requires one Host field, no version allows two, or one that is
 * no host (RFC 9112 3.2).
 */
static bool
HasHost(NsHttpHead *headPtr)
{
    const char *host = NsHttpKnown(headPtr, NS_FIELD_HOST);

    if (unlikely(headPtr->isHostRepeated)) {
        NsHttpRefuse(headPtr, 400, "Host: more than one");
    } else if (unlikely(host == NULL)) {
        if (headPtr->version >= NS_HTTP_1_1) {
            NsHttpRefuse(headPtr, 400, "Host: missing");
        }
    } else if (unlikely(!NsAuthorityIsValid(host))) {
        NsHttpRefuse(headPtr, 400, "Host: not host[:port]: \"%.60s\"", host);
    }
    return headPtr->status == 0;
}

/*
 * The authority of the URL counts, whatever the Host field says (RFC 9112
 * 3.2.2).
 */
static void
SetHost(NsHttpHead *headPtr, NsArena *arenaPtr, char *authority)
{
    int          i = headPtr->known[NS_FIELD_HOST];
    NsHttpField *fields;

    if (i < 0) {
        i = headPtr->nFields;
        fields = NsArenaAlloc(arenaPtr,
                              sizeof(NsHttpField) * ((size_t) i + 1u));
        memcpy(fields, headPtr->fields, sizeof(NsHttpField) * (size_t) i);
        fields[i].name = NsArenaDup(arenaPtr, "Host", 4u);
        fields[i].nameLength = 4u;
        headPtr->fields = fields;
        headPtr->nFields++;
        headPtr->known[NS_FIELD_HOST] = (int16_t) i;
    }
    headPtr->fields[i].value = authority;
    headPtr->fields[i].valueLength = (uint32_t) strlen(authority);
}

/*
 * All that Content-Length says is one number.
 */
static bool
HasLength(NsHttpHead *headPtr)
{
    int i = headPtr->known[NS_FIELD_CONTENT_LENGTH], first = i;

    if (i < 0) {
        return true;
    }
    do {
        if ((i == first || IsSameName(headPtr, i, first))
            && unlikely(!TakeLengths(headPtr, &headPtr->fields[i]))) {
            NsHttpRefuse(headPtr, 400,
                         "Content-Length: not one number: \"%.60s\"",
                         headPtr->fields[i].value);
            return false;
        }
        i++;
    } while (unlikely(headPtr->isFramingRepeated) && i < headPtr->nFields);
    return true;
}

/*
 * One number, or a list of the same (RFC 9110 8.6).
 */
static bool
TakeLengths(NsHttpHead *headPtr, const NsHttpField *fieldPtr)
{
    const char *p = fieldPtr->value;

    for (;; p++) {
        int64_t length = 0;

        if (!NsIsDigit(*p)) {
            return false;
        }
        for (; NsIsDigit(*p); p++) {
            if (length > (INT64_MAX - (*p - '0')) / 10) {
                return false;
            }
            length = length * 10 + (*p - '0');
        }
        if (headPtr->contentLength >= 0 && headPtr->contentLength != length) {
            return false;
        }
        headPtr->contentLength = length;
        if (likely(*p == '\0')) {
            return true;
        }
        while (NsIsBlank(*p)) {
            p++;
        }
        if (*p != ',') {
            return false;
        }
        while (NsIsBlank(p[1])) {
            p++;
        }
    }
}

/*
 * A coding that cannot be decoded is refused: a body that others see, and we do
 * not, might be read as the next request.  HTTP/1.0 does not know this field,
 * so its sender passes on what it did not understand (RFC 9112 6.1).
 */
static bool
HasCoding(NsHttpHead *headPtr)
{
    int         i = headPtr->known[NS_FIELD_TRANSFER_ENCODING], first = i;
    const char *coding;

    if (likely(i < 0)) {
        return true;
    }
    coding = headPtr->fields[i].value;
    headPtr->isChunked = STRIEQ(coding, "chunked");
    while (headPtr->isFramingRepeated && ++i < headPtr->nFields) {
        if (IsSameName(headPtr, i, first)) {
            headPtr->isChunked = false;
        }
    }
    if (headPtr->contentLength >= 0) {
        headPtr->contentLength = -1;
        NsHttpRefuse(headPtr, 400,
                     "Transfer-Encoding: together with Content-Length");
    } else if (headPtr->version < NS_HTTP_1_1) {
        NsHttpRefuse(headPtr, 400, "Transfer-Encoding: in HTTP/1.0");
    } else if (!headPtr->isChunked) {
        NsHttpRefuse(headPtr, 501,
                     "Transfer-Encoding: not chunked, and once: \"%.60s\"",
                     coding);
    }
    return headPtr->status == 0;
}

/*
 * CONNECT has no body (RFC 9110 9.3.6): proxies pass the head alone, and what
 * comes behind it is no longer HTTP to them.
 */
static bool
MayHaveBody(NsHttpHead *headPtr)
{
    if (unlikely((headPtr->contentLength > 0 || headPtr->isChunked)
                 && IsMethod(headPtr, "CONNECT"))) {
        NsHttpRefuse(headPtr, 400, "CONNECT: with a body");
    }
    return headPtr->status == 0;
}

/*
 * What the client expects, and the server cannot do, is refused (RFC 9110
 * 10.1.1).
 */
static bool
HasExpectation(NsHttpHead *headPtr)
{
    const char *expect = NsHttpKnown(headPtr, NS_FIELD_EXPECT);

    if (likely(expect == NULL) || headPtr->version < NS_HTTP_1_1
        || (*expect == '\0' && !headPtr->isExpectRepeated)) {
        return true;
    }
    if (headPtr->isExpectRepeated || !NsHttpAsksContinue(headPtr)) {
        NsHttpRefuse(headPtr, 417, "Expect: not 100-continue alone: \"%.60s\"",
                     expect);
    }
    return headPtr->status == 0;
}

static bool
IsSameName(const NsHttpHead *headPtr, int i, int other)
{
    const NsHttpField *aPtr = &headPtr->fields[i];
    const NsHttpField *bPtr = &headPtr->fields[other];

    return aPtr->nameLength == bPtr->nameLength
        && NsIsSameNoCase(aPtr->name, bPtr->name, aPtr->nameLength);
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
