/* SPDX-License-Identifier: MPL-2.0
 * location.c --
 *
 *      Taking URLs and host names apart.
 */

#include "http/location.h"

#include <arpa/inet.h>

#include "base/chars.h"

/*
 * The five parts of a URL reference (RFC 3986, section 3).  A part that is
 * absent is NULL; an empty one is not.
 */
typedef struct {
    const char *start;
    size_t      length;
} Part;

typedef struct {
    Part scheme, authority, path, query, fragment;
} Reference;

static Part   HostOf(const char *text);
static bool   IsPort(const char *text);
static bool   IsIPv6(const char *text, size_t length);
static bool   IsInName(char c);
static int    ParseHostPort(char *text, char **hostPtr, char **portPtr);
static void   SplitReference(const char *url, Reference *refPtr);
static void   LeaveOutUser(Part *authorityPtr);
static Part   TakePart(const char **textPtr, const char *stops);
static size_t SchemeLength(const char *url);
static void   AppendPart(Ns_DString *dsPtr, const char *before, Part part);
static void   AppendMergedPath(Ns_DString *dsPtr, const Reference *basePtr,
                               Part path);
static void   AppendWithoutDots(Ns_DString *dsPtr, const char *path,
                                size_t length);
static void   RemoveLastSegment(Ns_DString *dsPtr, int rootLength);

bool
NsAuthorityIsValid(const char *text)
{
    const char *end = text;

    if (*text == '[') {
        end += strcspn(text, "]");
        if (*end == '\0' || !IsIPv6(text + 1, (size_t) (end - text - 1))) {
            return false;
        }
        end++;
    } else {
        char before = '.';

        for (; IsInName(*end); before = *end++) {
            if (*end == '.' && before == '.') {
                return false;
            }
        }
        if (end == text || *text == '-') {
            return false;
        }
    }
    return *end == '\0' || (*end == ':' && IsPort(end + 1));
}

/*
 * Of each request: faster than what the library has for all cases.
 */
static bool
IsPort(const char *text)
{
    int port = 0, n = 0;

    for (; text[n] >= '0' && text[n] <= '9' && n < 5; n++) {
        port = port * 10 + (text[n] - '0');
    }
    return n > 0 && text[n] == '\0' && port <= 65535;
}

static bool
IsIPv6(const char *text, size_t length)
{
    char            address[INET6_ADDRSTRLEN];
    struct in6_addr bytes;

    if (length >= sizeof(address)) {
        return false;
    }
    memcpy(address, text, length);
    address[length] = '\0';
    return inet_pton(AF_INET6, address, &bytes) == 1;
}

static bool
IsInName(char c)
{
    return NsIsAlpha(c) || NsIsDigit(c) || c == '-' || c == '_' || c == '.';
}

bool
NsHostIsSame(const char *authority, const char *host)
{
    Part a = HostOf(authority), b = HostOf(host);

    return a.length == b.length && a.length > 0u
        && NsIsSameNoCase(a.start, b.start, a.length);
}

/*
 * Without port, brackets, and a dot at the end; an address of IPv6 may also
 * stand by itself.
 */
static Part
HostOf(const char *text)
{
    Part host = {text, strcspn(text, ":/")};

    if (*text == '[') {
        host = (Part){text + 1, strcspn(text + 1, "]")};
    } else if (text[host.length] == ':'
               && strchr(text + host.length + 1, ':') != NULL) {
        host.length = strlen(text);
    }
    if (host.length > 1u && host.start[host.length - 1u] == '.') {
        host.length--;
    }
    return host;
}

int
Ns_StrIsHost(const char *text)
{
    bool wasDot = false;

    for (; *text != '\0'; text++) {
        if (!NsIsAlpha(*text) && !NsIsDigit(*text)
            && strchr(":-_[].", *text) == NULL) {
            return NS_FALSE;
        }
        if (*text == '.' && wasDot) {
            return NS_FALSE;
        }
        wasDot = *text == '.';
    }
    return NS_TRUE;
}

int
Ns_ParseUrl(char *url, char **protocolPtr, char **hostPtr, char **portPtr,
            char **pathPtr, char **tailPtr)
{
    size_t schemeLength = SchemeLength(url);
    char  *slash;

    *protocolPtr = *hostPtr = *portPtr = *pathPtr = *tailPtr = NULL;
    if (schemeLength > 0) {
        *protocolPtr = url;
        url[schemeLength] = '\0';
        url += schemeLength + 1;
    }
    if (url[0] == '/' && url[1] == '/') {
        char *host = url + 2;

        url = host + strcspn(host, "/?#");
        if (*url == '/') {
            *url++ = '\0';
        } else if (*url != '\0') {
            /* No path; make room for a null byte: host moves over "//". */
            memmove(host - 1, host, (size_t) (url - host));
            host--;
            url[-1] = '\0';
        }
        if (*host == '\0') {
            *hostPtr = host;
        } else if (ParseHostPort(host, hostPtr, portPtr) != NS_OK) {
            return NS_ERROR;
        }
    } else if (url[0] == '/') {
        url++;
    } else {
        *tailPtr = url;
        return NS_OK;
    }
    /* A slash in the query does not separate. */
    slash = url + strcspn(url, "?#");
    while (slash > url && *slash != '/') {
        slash--;
    }
    if (*slash == '/') {
        *slash = '\0';
        *pathPtr = url;
        *tailPtr = slash + 1;
    } else {
        *tailPtr = url;
        *pathPtr = url + strlen(url); /* Empty. */
    }
    return NS_OK;
}

/*
 * Split `host`, `host:port`, `[address]:port` in place.  *portPtr is NULL when
 * there is none; brackets are removed.  NS_ERROR: no such form.
 */
static int
ParseHostPort(char *text, char **hostPtr, char **portPtr)
{
    char *end;

    *portPtr = NULL;
    if (*text == '[') {
        *hostPtr = text + 1;
        end = strchr(text, ']');
        if (end == NULL || (end[1] != ':' && end[1] != '\0')) {
            return NS_ERROR;
        }
        *end++ = '\0';
    } else {
        *hostPtr = text;
        end = text + strcspn(text, ":");
    }
    if (*end == ':') {
        *end++ = '\0';
        if (end[strspn(end, "0123456789")] != '\0') {
            return NS_ERROR;
        }
        *portPtr = *end == '\0' ? NULL : end;
    }
    return **hostPtr == '\0' ? NS_ERROR : NS_OK;
}

int
Ns_AbsoluteUrl(Ns_DString *dsPtr, const char *url, const char *base)
{
    Reference ref, baseRef;

    SplitReference(base, &baseRef);
    SplitReference(url, &ref);
    if (baseRef.scheme.start == NULL || baseRef.authority.start == NULL) {
        return NS_ERROR;
    }
    if (ref.scheme.start != NULL) {
        Ns_DStringAppend(dsPtr, url);
        return NS_OK;
    }
    LeaveOutUser(&baseRef.authority);
    AppendPart(dsPtr, "", baseRef.scheme);
    Ns_DStringAppend(dsPtr, ":");
    if (ref.authority.start != NULL) {
        AppendPart(dsPtr, "//", ref.authority);
        AppendWithoutDots(dsPtr, ref.path.start, ref.path.length);
    } else {
        AppendPart(dsPtr, "//", baseRef.authority);
        AppendMergedPath(dsPtr, &baseRef, ref.path);
        if (ref.path.length == 0 && ref.query.start == NULL) {
            ref.query = baseRef.query;
        }
    }
    AppendPart(dsPtr, "?", ref.query);
    AppendPart(dsPtr, "#", ref.fragment);
    return NS_OK;
}

/*
 * A name and a password are for one URL, not for all that it mentions.
 */
static void
LeaveOutUser(Part *authorityPtr)
{
    const char *end = authorityPtr->start + authorityPtr->length;
    const char *host = end;

    while (host > authorityPtr->start && host[-1] != '@') {
        host--;
    }
    *authorityPtr = (Part){host, (size_t) (end - host)};
}

const char *
Ns_RelativeUrl(const char *url, const char *location)
{
    size_t length = location == NULL ? 0 : strlen(location);

    if (length > 0 && strncasecmp(url, location, length) == 0
        && (url[length] == '/' || url[length] == '\0' || url[length] == '?')) {
        url += length;
    }
    while (url[0] == '/' && url[1] == '/') {
        url++;
    }
    return url;
}

static void
SplitReference(const char *url, Reference *refPtr)
{
    size_t schemeLength = SchemeLength(url);

    memset(refPtr, 0, sizeof(*refPtr));
    if (schemeLength > 0) {
        refPtr->scheme = (Part){url, schemeLength};
        url += schemeLength + 1;
    }
    if (url[0] == '/' && url[1] == '/') {
        url += 2;
        refPtr->authority = TakePart(&url, "/?#");
    }
    refPtr->path = TakePart(&url, "?#");
    if (*url == '?') {
        url++;
        refPtr->query = TakePart(&url, "#");
    }
    if (*url == '#') {
        url++;
        refPtr->fragment = TakePart(&url, "");
    }
}

static Part
TakePart(const char **textPtr, const char *stops)
{
    Part part = {*textPtr, strcspn(*textPtr, stops)};

    *textPtr += part.length;
    return part;
}

/*
 * 0 if the URL does not begin with `scheme:`.
 */
static size_t
SchemeLength(const char *url)
{
    const char *p = url;

    if (!NsIsAlpha(*p)) {
        return 0;
    }
    while (NsIsAlpha(*p) || NsIsDigit(*p) || *p == '+' || *p == '-'
           || *p == '.') {
        p++;
    }
    return *p == ':' ? (size_t) (p - url) : 0;
}

static void
AppendPart(Ns_DString *dsPtr, const char *before, Part part)
{
    if (part.start != NULL) {
        Ns_DStringAppend(dsPtr, before);
        Ns_DStringNAppend(dsPtr, part.start, (int) part.length);
    }
}

/*
 * The path of a reference without authority; RFC 3986, section 5.2.
 */
static void
AppendMergedPath(Ns_DString *dsPtr, const Reference *basePtr, Part path)
{
    Ns_DString merged;
    Part       basePath = basePtr->path;

    if (path.length == 0) {
        AppendPart(dsPtr, "", basePath);
        return;
    }
    if (*path.start == '/') {
        AppendWithoutDots(dsPtr, path.start, path.length);
        return;
    }
    while (basePath.length > 0 && basePath.start[basePath.length - 1] != '/') {
        basePath.length--;
    }
    Ns_DStringInit(&merged);
    AppendPart(&merged, "", basePath);
    if (basePath.length == 0) {
        Ns_DStringAppend(&merged, "/");
    }
    AppendPart(&merged, "", path);
    AppendWithoutDots(dsPtr, Ns_DStringValue(&merged),
                      (size_t) Ns_DStringLength(&merged));
    Ns_DStringFree(&merged);
}

/*
 * Append an absolute path with . and .. resolved.
 */
static void
AppendWithoutDots(Ns_DString *dsPtr, const char *path, size_t length)
{
    const char *end = path + length;
    int         rootLength = Ns_DStringLength(dsPtr);

    while (path < end) {
        const char *segment = path; /* With its leading slash. */
        size_t      segmentLength;
        bool        isDots;

        for (path++; path < end && *path != '/'; path++) {
            /* To the next slash. */
        }
        segmentLength = (size_t) (path - segment);
        isDots = (segmentLength == 2 && memcmp(segment, "/.", 2) == 0)
            || (segmentLength == 3 && memcmp(segment, "/..", 3) == 0);
        if (!isDots) {
            Ns_DStringNAppend(dsPtr, segment, (int) segmentLength);
            continue;
        }
        if (segmentLength == 3) {
            RemoveLastSegment(dsPtr, rootLength);
        }
        if (path == end) {
            Ns_DStringNAppend(dsPtr, "/", 1);
        }
    }
}

static void
RemoveLastSegment(Ns_DString *dsPtr, int rootLength)
{
    int length = Ns_DStringLength(dsPtr);

    while (length > rootLength && Ns_DStringValue(dsPtr)[--length] != '/') {
        /* Back to the slash before it. */
    }
    Ns_DStringSetLength(dsPtr, length);
}
