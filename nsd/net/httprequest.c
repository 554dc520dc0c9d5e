/* SPDX-License-Identifier: MPL-2.0
 * httprequest.c --
 *
 *      A request to another server: the target of its URL, and its head.
 */

#include "net/httprequest.h"

#include "base/assert.h"
#include "base/chars.h"
#include "nsthread.h"
#include "nsversion.h"

#define HTTP_PORT  80
#define HTTPS_PORT 443
#define AGENT      "NaviServer/" NS_PATCH_LEVEL

static const char *ParseAuthority(const char *text, const char *end,
                                  NsHttpTarget *targetPtr);
static bool        ParsePort(const char *text, const char *end, int *portPtr);
static bool        IsAuthorityText(const char *text, const char *end);
static bool        IsOfUrl(const char *url);
static bool        IsMade(const char *name);
static bool        IsField(const char *name, const char *value);
static bool        IsToken(const char *text);

const char *
NsHttpTargetParse(const char *url, NsHttpTarget *targetPtr)
{
    const char *authority, *path, *at;
    const char *problem;

    *targetPtr = (NsHttpTarget){.isSecure = false};
    if (strncasecmp(url, "http://", 7u) == 0) {
        authority = url + 7;
    } else if (strncasecmp(url, "https://", 8u) == 0) {
        authority = url + 8;
        targetPtr->isSecure = true;
    } else {
        return "invalid scheme";
    }
    if (!IsOfUrl(url)) {
        return "URL contains invalid character";
    }
    path = authority + strcspn(authority, "/?#");
    at = memrchr(authority, '@', (size_t) (path - authority));
    problem = ParseAuthority(at == NULL ? authority : at + 1, path, targetPtr);
    if (problem == NULL) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        Ns_DStringAppend(&ds, *path == '/' ? "" : "/");
        Ns_DStringNAppend(&ds, path, (int) strcspn(path, "#"));
        targetPtr->path = Ns_DStringExport(&ds);
    }
    return problem;
}

static const char *
ParseAuthority(const char *text, const char *end, NsHttpTarget *targetPtr)
{
    static const char problem[] = "invalid authority";
    const char       *hostEnd, *colon;
    bool              isBracketed = text < end && *text == '[';
    int               usualPort = targetPtr->isSecure ? HTTPS_PORT : HTTP_PORT;

    if (isBracketed) {
        hostEnd = memchr(text, ']', (size_t) (end - text));
        if (hostEnd == NULL || hostEnd == text + 1) {
            return problem;
        }
        colon = hostEnd + 1;
    } else {
        colon = memchr(text, ':', (size_t) (end - text));
        colon = hostEnd = colon == NULL ? end : colon;
    }
    if (hostEnd == text || !IsAuthorityText(text, hostEnd)) {
        return problem;
    }
    targetPtr->port = usualPort;
    if (colon != end
        && (*colon != ':' || !ParsePort(colon + 1, end, &targetPtr->port))) {
        return problem;
    }
    targetPtr->authority =
        ns_strncopy(text, (targetPtr->port == usualPort ? colon : end) - text);
    text += isBracketed ? 1 : 0;
    targetPtr->host = ns_strncopy(text, hostEnd - text);
    return NULL;
}

static bool
ParsePort(const char *text, const char *end, int *portPtr)
{
    int port = 0;

    for (; text < end && NsIsDigit(*text) && port <= 65535; text++) {
        port = port * 10 + (*text - '0');
    }
    *portPtr = port;
    return text == end && port >= 1 && port <= 65535;
}

static bool
IsAuthorityText(const char *text, const char *end)
{
    for (; text < end; text++) {
        if (strchr("\"<>\\^`{|}", *text) != NULL) {
            return false;
        }
    }
    return true;
}

/*
 * Reject anything that could end the request line.  Tcl encodes a null byte as
 * C0 80.
 */
static bool
IsOfUrl(const char *url)
{
    for (; *url != '\0'; url++) {
        unsigned char c = (unsigned char) *url;

        if (c <= ' ' || c == 0x7f || c == 0xc0) {
            return false;
        }
    }
    return true;
}

void
NsHttpTargetFree(NsHttpTarget *targetPtr)
{
    ns_free(targetPtr->host);
    ns_free(targetPtr->authority);
    ns_free(targetPtr->path);
}

bool
NsHttpRequestFormat(Ns_DString *dsPtr, const NsHttpRequestSpec *specPtr,
                    const char **badNamePtr)
{
    const NsHttpTarget *targetPtr = specPtr->targetPtr;
    Ns_Set             *headers = (Ns_Set *) specPtr->headers;
    const char         *host = targetPtr->authority;
    int                 n = headers == NULL ? 0 : (int) Ns_SetSize(headers);

    NsAssert(*targetPtr->path == '/');
    Ns_DStringVarAppend(dsPtr, specPtr->method, " ", NULL);
    if (specPtr->isToProxy) {
        Ns_DStringVarAppend(dsPtr, "http://", host, NULL);
    }
    Ns_DStringVarAppend(dsPtr, targetPtr->path, " HTTP/1.1\r\n", NULL);
    for (int i = 0; i < n; i++) {
        const char *name = Ns_SetKey(headers, i);
        const char *value = Ns_SetValue(headers, i);

        if (name == NULL || value == NULL || !IsField(name, value)) {
            *badNamePtr = name == NULL ? "" : name;
            return false;
        }
        if (specPtr->keepsHost && STRIEQ(name, "Host")) {
            host = value;
        } else if (!IsMade(name)) {
            Ns_DStringVarAppend(dsPtr, name, ": ", value, "\r\n", NULL);
        }
    }
    if (n == 0 || Ns_SetIFind(headers, "User-Agent") < 0) {
        Ns_DStringAppend(dsPtr, "User-Agent: " AGENT "\r\n");
    }
    if (specPtr->lines != NULL) {
        Ns_DStringAppend(dsPtr, specPtr->lines);
    }
    Ns_DStringVarAppend(dsPtr, "Connection: ",
                        specPtr->isKept ? "keep-alive" : "close",
                        "\r\nHost: ", host, "\r\n", NULL);
    if (specPtr->hasBody) {
        Ns_DStringPrintf(dsPtr, "Content-Length: %" PRIu64 "\r\n",
                         specPtr->bodyBytes);
    }
    Ns_DStringAppend(dsPtr, "\r\n");
    return true;
}

void
NsHttpRequestFormatTunnel(Ns_DString *dsPtr, const NsHttpTarget *targetPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds,
                     strchr(targetPtr->host, ':') == NULL ? "%s:%d" : "[%s]:%d",
                     targetPtr->host, targetPtr->port);
    Ns_DStringVarAppend(dsPtr, "CONNECT ", ds.string, " HTTP/1.1\r\nHost: ",
                        ds.string, "\r\nUser-Agent: " AGENT "\r\n\r\n", NULL);
    Ns_DStringFree(&ds);
}

/*
 * Fields that belong to the connection or follow from the URL and the body;
 * callers cannot set them.
 */
static bool
IsMade(const char *name)
{
    static const char *const names[] = {
        "Host",       "Content-Length",
        "Connection", "Transfer-Encoding",
        "Trailer",    "TE",
        "Keep-Alive", "Proxy-Connection"};

    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (STRIEQ(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool
IsField(const char *name, const char *value)
{
    return IsToken(name) && strpbrk(value, "\r\n") == NULL
        && strstr(value, "\xc0\x80") == NULL;
}

/*
 * RFC 9110, section 5.6.2.
 */
static bool
IsToken(const char *text)
{
    const char *next = text;

    while (NsIsDigit(*next) || NsIsAlpha(*next)
           || (*next != '\0' && strchr("!#$%&'*+-.^_`|~", *next) != NULL)) {
        next++;
    }
    return *next == '\0' && next > text;
}

bool
NsHttpMethodIsValid(const char *method)
{
    return IsToken(method);
}

bool
NsHttpMethodIsIdempotent(const char *method)
{
    return STREQ(method, "GET") || STREQ(method, "HEAD") || STREQ(method, "PUT")
        || STREQ(method, "DELETE") || STREQ(method, "OPTIONS")
        || STREQ(method, "TRACE");
}
