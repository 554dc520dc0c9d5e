/* SPDX-License-Identifier: MPL-2.0
 * urlparts.c --
 *
 *      URLs taken apart and put together.
 */

#include "http/urlparts.h"
#include "nshttp.h"

#include "base/chars.h"
#include "base/ipaddress.h"
#include "http/location.h"

/*
 * Characters besides letters and digits (RFC 3986, section 2).
 */
#define UNRESERVED "-._~"
#define SUB_DELIMS "!$&'()*+,;="

static const char badScheme[] = "invalid scheme";
static const char badAuthority[] = "invalid authority";
static const char badCharacter[] = "query contains invalid character";

const char *const nsUrlPartNames[NS_URL_NPARTS + 1] = {
    "proto", "userinfo", "host", "port", "path", "tail", "query", "fragment"};

static const char *EndAt(char *url, const char *start, size_t length);
static bool        IsScheme(const char *text, size_t length);
static bool        SplitAuthority(NsSpan text, bool isStrict, NsSpan *parts);
static bool   SplitPort(const char *text, const char *end, NsSpan *portPtr);
static bool   IsAddress(NsSpan span);
static void   SplitPath(NsSpan path, bool isRooted, NsSpan *parts);
static bool   HasDelimiter(const char *text);
static bool   Has(NsSpan span, const char *others);
static NsSpan Span(const char *start, const char *end);
static void   Append(Ns_DString *dsPtr, const char *before, NsSpan span);

const char *
NsUrlSplit(const char *url, bool isStrict, NsUrlParts *partsPtr)
{
    NsSpan     *parts = partsPtr->parts, path;
    const char *p = url + strcspn(url, ":/?#");

    memset(partsPtr, 0, sizeof(*partsPtr));
    if (*p == ':') {
        if (!IsScheme(url, (size_t) (p - url))) {
            return badScheme;
        }
        parts[NS_URL_PROTO] = Span(url, p);
        url = p + 1;
    }
    if (url[0] == '/' && url[1] == '/') {
        p = url + 2 + strcspn(url + 2, "/?#");
        if (!SplitAuthority(Span(url + 2, p), isStrict, parts)) {
            return badAuthority;
        }
        url = p;
    }
    p = url + strcspn(url, "?#");
    path = Span(url, p);
    SplitPath(path, parts[NS_URL_HOST].start != NULL, parts);
    if (*p == '?') {
        url = p + 1;
        p = url + strcspn(url, "#");
        parts[NS_URL_QUERYTEXT] = Span(url, p);
    }
    if (*p == '#') {
        parts[NS_URL_ANCHOR] = Span(p + 1, p + strlen(p));
    }
    return isStrict
            && !(Has(path, UNRESERVED SUB_DELIMS ":@/")
                 && Has(parts[NS_URL_QUERYTEXT], UNRESERVED SUB_DELIMS ":@/?")
                 && Has(parts[NS_URL_ANCHOR], UNRESERVED SUB_DELIMS ":@/?"))
        ? badCharacter
        : NULL;
}

int
Ns_ParseUrl_33(char *url, bool strict, Ns_URL *urlPtr, const char **errorPtr)
{
    NsUrlParts  parts;
    const char *texts[NS_URL_NPARTS] = {NULL};
    const char *error = NsUrlSplit(url, strict, &parts);

    if (errorPtr != NULL) {
        *errorPtr = error;
    }
    for (int i = 0; error == NULL && i < NS_URL_NPARTS; i++) {
        const NsSpan *spanPtr = &parts.parts[i];

        if (spanPtr->start != NULL) {
            texts[i] = spanPtr->length == 0u
                ? ""
                : EndAt(url, spanPtr->start, spanPtr->length);
        }
    }
    *urlPtr = (Ns_URL){
        .protocol = texts[NS_URL_PROTO],
        .userinfo = texts[NS_URL_USERINFO],
        .host = texts[NS_URL_HOST],
        .port = texts[NS_URL_PORT],
        .path = texts[NS_URL_DIRECTORIES],
        .tail = texts[NS_URL_TAIL],
        .query = texts[NS_URL_QUERYTEXT],
        .fragment = texts[NS_URL_ANCHOR]};
    return error == NULL ? NS_OK : NS_ERROR;
}

/*
 * What follows a part that is not empty belongs to none.
 */
static const char *
EndAt(char *url, const char *start, size_t length)
{
    char *part = url + (start - url);

    part[length] = '\0';
    return part;
}

static bool
IsScheme(const char *text, size_t length)
{
    if (!NsIsAlpha(*text)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!NsIsAlpha(text[i]) && !NsIsDigit(text[i]) && text[i] != '+'
            && text[i] != '-' && text[i] != '.') {
            return false;
        }
    }
    return true;
}

/*
 * `userinfo@host:port`.  With two @ readers disagree on what the host is.
 */
static bool
SplitAuthority(NsSpan text, bool isStrict, NsSpan *parts)
{
    const char *end = text.start + text.length;
    const char *host = text.start, *at, *stop;

    at = memchr(text.start, '@', text.length);
    if (at != NULL) {
        parts[NS_URL_USERINFO] = Span(text.start, at);
        host = at + 1;
        if (memchr(host, '@', (size_t) (end - host)) != NULL
            || (isStrict
                && !Has(parts[NS_URL_USERINFO], UNRESERVED SUB_DELIMS ":"))) {
            return false;
        }
    }
    if (host < end && *host == '[') {
        stop = memchr(host, ']', (size_t) (end - host));
        if (stop == NULL || !IsAddress(Span(host + 1, stop))) {
            return false;
        }
        parts[NS_URL_HOST] = Span(host + 1, stop);
        stop++;
    } else {
        stop = memchr(host, ':', (size_t) (end - host));
        stop = stop == NULL ? end : stop;
        parts[NS_URL_HOST] = Span(host, stop);
        if ((isStrict && !Has(parts[NS_URL_HOST], UNRESERVED SUB_DELIMS))
            || memchr(host, '[', (size_t) (stop - host)) != NULL
            || memchr(host, ']', (size_t) (stop - host)) != NULL
            || (stop == host && text.length > 0)) {
            return false;
        }
    }
    return stop == end || SplitPort(stop, end, &parts[NS_URL_PORT]);
}

/*
 * `:port` up to the end.
 */
static bool
SplitPort(const char *text, const char *end, NsSpan *portPtr)
{
    long value = 0;

    if (*text != ':' || text + 1 == end) {
        return false;
    }
    *portPtr = Span(text + 1, end);
    for (const char *p = text + 1; p < end; p++) {
        if (!NsIsDigit(*p)) {
            return false;
        }
        value = MIN(value * 10 + (*p - '0'), 65536);
    }
    return value <= 65535;
}

/*
 * An IPv6 address, also with a zone.
 */
static bool
IsAddress(NsSpan span)
{
    char        text[64];
    const char *zone = memchr(span.start, '%', span.length);
    size_t length = zone == NULL ? span.length : (size_t) (zone - span.start);
    NsIpAddress address;

    if (length >= sizeof(text) || memchr(span.start, ':', length) == NULL) {
        return false;
    }
    memcpy(text, span.start, length);
    text[length] = '\0';
    return NsIpParse(text, &address)
        && (zone == NULL
            || Has(Span(zone + 1, span.start + span.length), UNRESERVED));
}

/*
 * A path without a slash at its start is all tail.
 */
static void
SplitPath(NsSpan path, bool isRooted, NsSpan *parts)
{
    const char *end = path.start + path.length, *slash = end;

    if (path.length > 0 && *path.start == '/') {
        while (*--slash != '/') {
            /* To the last one. */
        }
        parts[NS_URL_DIRECTORIES] = Span(MIN(path.start + 1, slash), slash);
        parts[NS_URL_TAIL] = Span(slash + 1, end);
    } else if (isRooted) {
        parts[NS_URL_DIRECTORIES] = parts[NS_URL_TAIL] = Span(end, end);
    } else if (path.length > 0) {
        parts[NS_URL_TAIL] = path;
    }
}

bool
NsHostPortSplit(const char *text, NsSpan *hostPtr, NsSpan *portPtr)
{
    NsSpan parts[NS_URL_NPARTS] = {{NULL, 0}};

    if (!NsAuthorityIsValid(text)
        || !SplitAuthority((NsSpan){text, strlen(text)}, true, parts)) {
        return false;
    }
    *hostPtr = parts[NS_URL_HOST];
    *portPtr = parts[NS_URL_PORT];
    return true;
}

bool
Ns_HttpParseHost2(char *text, bool isStrict, const char **hostPtr,
                  const char **portPtr, char **endPtr)
{
    NsSpan parts[NS_URL_NPARTS] = {{NULL, 0}};
    size_t length = strlen(text);
    NsSpan host;

    if (length == 0
        || (isStrict ? !NsHostPortSplit(text, &parts[NS_URL_HOST],
                                        &parts[NS_URL_PORT])
                     : HasDelimiter(text)
                    || !SplitAuthority((NsSpan){text, length}, false, parts))) {
        return false;
    }
    host = parts[NS_URL_HOST];
    *hostPtr = host.start;
    *portPtr = parts[NS_URL_PORT].start;
    *endPtr = text + length;
    text[host.start - text + (ptrdiff_t) host.length] = '\0';
    return true;
}

/*
 * Whether others might see the end of a host somewhere in the text, or somebody
 * before it.
 */
static bool
HasDelimiter(const char *text)
{
    for (; *text != '\0'; text++) {
        if (UCHAR(*text) <= ' ' || strchr("@/?#\\\177", *text) != NULL) {
            return true;
        }
    }
    return false;
}

void
NsUrlJoin(Ns_DString *dsPtr, const NsUrlParts *partsPtr)
{
    const NsSpan *parts = partsPtr->parts;
    NsSpan        host = parts[NS_URL_HOST];

    if (parts[NS_URL_PROTO].length > 0) {
        Append(dsPtr, "", parts[NS_URL_PROTO]);
        Ns_DStringNAppend(dsPtr, ":", 1);
    }
    if (host.start != NULL) {
        bool isAddress = memchr(host.start, ':', host.length) != NULL;

        Ns_DStringNAppend(dsPtr, "//", 2);
        if (parts[NS_URL_USERINFO].length > 0) {
            Append(dsPtr, "", parts[NS_URL_USERINFO]);
            Ns_DStringNAppend(dsPtr, "@", 1);
        }
        Append(dsPtr, isAddress ? "[" : "", host);
        Ns_DStringAppend(dsPtr, isAddress ? "]" : "");
        if (parts[NS_URL_PORT].length > 0) {
            Append(dsPtr, ":", parts[NS_URL_PORT]);
        }
    }
    if (parts[NS_URL_DIRECTORIES].start != NULL) {
        Append(dsPtr, "/", parts[NS_URL_DIRECTORIES]);
        if (parts[NS_URL_DIRECTORIES].length > 0) {
            Ns_DStringNAppend(dsPtr, "/", 1);
        }
    } else if (host.start != NULL && parts[NS_URL_TAIL].start != NULL) {
        Ns_DStringNAppend(dsPtr, "/", 1);
    }
    Append(dsPtr, "", parts[NS_URL_TAIL]);
    if (parts[NS_URL_QUERYTEXT].length > 0) {
        Append(dsPtr, "?", parts[NS_URL_QUERYTEXT]);
    }
    if (parts[NS_URL_ANCHOR].length > 0) {
        Append(dsPtr, "#", parts[NS_URL_ANCHOR]);
    }
}

/*
 * Whether there is nothing but letters, digits, whole escapes, and others.
 */
static bool
Has(NsSpan span, const char *others)
{
    for (size_t i = 0; i < span.length; i++) {
        char c = span.start[i];

        if (c == '%') {
            if (span.length - i < 3 || NsHexValue(span.start[i + 1]) < 0
                || NsHexValue(span.start[i + 2]) < 0) {
                return false;
            }
            i += 2;
        } else if (!NsIsAlpha(c) && !NsIsDigit(c)
                   && (c == '\0' || strchr(others, c) == NULL)) {
            return false;
        }
    }
    return true;
}

static NsSpan
Span(const char *start, const char *end)
{
    return (NsSpan){start, (size_t) (end - start)};
}

static void
Append(Ns_DString *dsPtr, const char *before, NsSpan span)
{
    if (span.start != NULL) {
        Ns_DStringAppend(dsPtr, before);
        Ns_DStringNAppend(dsPtr, span.start, (int) span.length);
    }
}
