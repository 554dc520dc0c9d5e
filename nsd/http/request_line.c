/* SPDX-License-Identifier: MPL-2.0
 * request_line.c --
 *
 *      From the request line to Ns_Request.
 *
 *      A request's parts come either all from an arena or all from the heap.
 *      Which, is noted in front of urlv, in one piece of memory with it:
 *
 *          arenaPtr | urlv[0] ... urlv[urlc - 1] NULL | text of the elements
 *
 *      so that Ns_SetRequestUrl, which modules call, knows where to allocate.
 *      url and query are one piece as well; query ends url's.
 */

#include "http/request_line.h"

#include "base/assert.h"
#include "base/chars.h"
#include "http/parse.h"
#include "http/urlpath.h"
#include "nsthread.h"

typedef struct {
    NsArena *arenaPtr; /* NULL: heap. */
    char    *urlv[];
} UrlElements;

static bool isListMade; /* Constant after start. */

static void           TakeTarget(NsArena *arenaPtr, Ns_Request *requestPtr,
                                 const char *target, size_t length);
static Ns_RequestType OddType(const char *method, const char *target,
                              size_t length);
static const char    *SchemeEnd(const char *target, const char *end);
static const char    *TakeAuthority(NsArena *arenaPtr, Ns_Request *requestPtr,
                                    const char *start, const char *end);
static unsigned short ParsePort(const char *text, const char *end);
static void  SetUrl(NsArena *arenaPtr, Ns_Request *requestPtr, const char *url,
                    size_t length);
static void  DecodeUrl(NsArena *arenaPtr, const char *url, size_t length,
                       NsUrlPath *pathPtr);
static void  SplitUrl(NsArena *arenaPtr, Ns_Request *requestPtr,
                      size_t pathLength);
static char *ListOf(NsArena *arenaPtr, Ns_Request *requestPtr);
static NsArena *ArenaOf(const Ns_Request *requestPtr);
static void    *Alloc(NsArena *arenaPtr, size_t bytes);
static char    *Dup(NsArena *arenaPtr, const char *text, size_t length);
static void     Release(NsArena *arenaPtr, void *memory);

void
NsRequestFromHead(NsArena *arenaPtr, const NsHttpHead *headPtr,
                  Ns_Request *requestPtr)
{
    NsAssert(arenaPtr != NULL);

    *requestPtr = (Ns_Request){
        .line = headPtr->line,
        .method = Dup(arenaPtr, headPtr->method, headPtr->methodLength),
        .version = headPtr->sentVersion};
    TakeTarget(arenaPtr, requestPtr, headPtr->target, headPtr->targetLength);
}

void
NsRequestMakeLists(void)
{
    isListMade = true;
}

int
Ns_ParseRequest(Ns_Request *requestPtr, const char *line)
{
    NsHttpHead head = {0};
    size_t     length;

    *requestPtr = (Ns_Request){0};
    line = NsSkipSpace(line);
    length = (size_t) (NsTrimEnd(line, line + strlen(line)) - line);
    requestPtr->line = Dup(NULL, line, length);
    if (!NsHttpSplitLine(&head, requestPtr->line, length)) {
        Ns_ResetRequest(requestPtr);
        return NS_ERROR;
    }
    requestPtr->method = Dup(NULL, head.method, head.methodLength);
    requestPtr->version = head.sentVersion;
    TakeTarget(NULL, requestPtr, head.target, head.targetLength);
    return NS_OK;
}

void
Ns_ResetRequest(Ns_Request *requestPtr)
{
    NsArena *arenaPtr = ArenaOf(requestPtr);

    Release(arenaPtr, requestPtr->line);
    Release(arenaPtr, requestPtr->method);
    Release(arenaPtr, requestPtr->protocol);
    Release(arenaPtr, requestPtr->host);
    Release(arenaPtr, requestPtr->url);
    Release(arenaPtr, requestPtr->later_urlv);
    if (requestPtr->urlv != NULL) {
        Release(arenaPtr,
                (char *) requestPtr->urlv - offsetof(UrlElements, urlv));
    }
    *requestPtr = (Ns_Request){0};
}

void
Ns_FreeRequest(Ns_Request *requestPtr)
{
    if (requestPtr != NULL) {
        Ns_ResetRequest(requestPtr);
        ns_free(requestPtr);
    }
}

void
Ns_SetRequestUrl(Ns_Request *requestPtr, const char *url)
{
    SetUrl(ArenaOf(requestPtr), requestPtr, url, strlen(url));
}

char *
Ns_SkipUrl(Ns_Request *requestPtr, int n)
{
    char *url = requestPtr->url;

    if (n > requestPtr->urlc) {
        return NULL;
    }
    /* The path is normalized: one slash before each element. */
    while (n > 0) {
        url++;
        url += strcspn(url, "/");
        n--;
    }
    return url;
}

/*
 * The URL of a request line.  One that does not begin with a slash may name a
 * scheme; with //host behind it, it may ask for a proxy.  CONNECT names but
 * host and port; a tunnel is for https, whatever else it may carry.
 */
static void
TakeTarget(NsArena *arenaPtr, Ns_Request *requestPtr, const char *target,
           size_t length)
{
    const char *end = target + length;
    const char *colon;

    if (likely(*target == '/')) {
        SetUrl(arenaPtr, requestPtr, target, length);
        return;
    }
    requestPtr->requestType = OddType(requestPtr->method, target, length);
    colon = SchemeEnd(target, end);
    if (requestPtr->requestType == NS_REQUEST_TYPE_CONNECT) {
        requestPtr->protocol = Dup(arenaPtr, "https", 5u);
        target = TakeAuthority(arenaPtr, requestPtr, target, end);
    } else if (colon != NULL) {
        requestPtr->protocol = Dup(arenaPtr, target, (size_t) (colon - target));
        target = colon + 1;
        if (end - target > 2 && target[0] == '/' && target[1] == '/'
            && target[2] != '/' && target[2] != '?') {
            target = TakeAuthority(arenaPtr, requestPtr, target + 2, end);
            requestPtr->isProxyRequest = true;
            requestPtr->requestType = NS_REQUEST_TYPE_PROXY;
        }
    }
    SetUrl(arenaPtr, requestPtr, target, (size_t) (end - target));
}

static Ns_RequestType
OddType(const char *method, const char *target, size_t length)
{
    if (STREQ(method, "CONNECT")) {
        return NS_REQUEST_TYPE_CONNECT;
    }
    return length == 1u && *target == '*'
        ? NS_REQUEST_TYPE_ASTERISK
        : NS_REQUEST_TYPE_PLAIN;
}

/*
 * The colon behind a scheme; NULL if there is none.
 */
static const char *
SchemeEnd(const char *target, const char *end)
{
    if (target == end || !NsIsAlpha(*target)) {
        return NULL;
    }
    for (; target < end; target++) {
        if (*target == ':') {
            return target;
        }
        if (!NsIsAlpha(*target) && !NsIsDigit(*target) && *target != '+'
            && *target != '-' && *target != '.') {
            return NULL;
        }
    }
    return NULL;
}

/*
 * host or host:port up to the path; the host may be an IPv6 address in
 * brackets.  Where the path begins.
 */
static const char *
TakeAuthority(NsArena *arenaPtr, Ns_Request *requestPtr, const char *start,
              const char *end)
{
    const char *path = start, *colon = NULL;
    bool        isBracketed = false;

    for (; path < end && *path != '/' && *path != '?'; path++) {
        if (*path == '[') {
            isBracketed = true;
        } else if (*path == ']') {
            isBracketed = false;
        } else if (*path == ':' && !isBracketed && colon == NULL) {
            colon = path;
        }
    }
    requestPtr->host = Dup(arenaPtr, start,
                           (size_t) ((colon == NULL ? path : colon) - start));
    if (colon != NULL) {
        requestPtr->port = ParsePort(colon + 1, path);
    }
    return path;
}

/*
 * 0 for anything but a port number.
 */
static unsigned short
ParsePort(const char *text, const char *end)
{
    unsigned port = 0;

    for (; text < end; text++) {
        if (!NsIsDigit(*text)) {
            return 0;
        }
        port = port * 10 + (unsigned) (*text - '0');
        if (port > 65535) {
            return 0;
        }
    }
    return (unsigned short) port;
}

static void
SetUrl(NsArena *arenaPtr, Ns_Request *requestPtr, const char *url,
       size_t length)
{
    char     *oldUrl = requestPtr->url;
    char    **oldUrlv = requestPtr->urlv;
    char     *oldList = requestPtr->later_urlv;
    NsUrlPath path;

    DecodeUrl(arenaPtr, url, length, &path);
    requestPtr->url = path.path;
    requestPtr->query = path.query;
    requestPtr->url_len = (int) path.pathLength;
    SplitUrl(arenaPtr, requestPtr, path.pathLength);
    requestPtr->later_urlv = NULL;
    if (isListMade || arenaPtr == NULL) {
        requestPtr->later_urlv = ListOf(arenaPtr, requestPtr);
    }

    /* Only now: url may be a part of the old one. */
    Release(arenaPtr, oldUrl);
    Release(arenaPtr, oldList);
    if (oldUrlv != NULL) {
        Release(arenaPtr, (char *) oldUrlv - offsetof(UrlElements, urlv));
    }
}

/*
 * Decode into the arena, or into one piece of the heap.
 */
static void
DecodeUrl(NsArena *arenaPtr, const char *url, size_t length, NsUrlPath *pathPtr)
{
    char  *room;
    size_t pathRoom;

    if (arenaPtr != NULL) {
        NsUrlDecodePath(arenaPtr, url, length, pathPtr);
        return;
    }
    pathRoom = NsUrlPathRoom(length);
    room = ns_malloc(pathRoom + length + 1);
    NsUrlDecodePathInto(room, url, length, pathPtr);
    if (pathPtr->query != NULL) {
        memcpy(room + pathRoom, pathPtr->query, pathPtr->queryLength);
        room[pathRoom + pathPtr->queryLength] = '\0';
        pathPtr->query = room + pathRoom;
    }
}

/*
 * Split the path at its slashes; "/" has one empty element.
 */
static void
SplitUrl(NsArena *arenaPtr, Ns_Request *requestPtr, size_t pathLength)
{
    const char  *url = requestPtr->url;
    size_t       n = 0;
    UrlElements *elementsPtr;
    char        *text;

    for (size_t i = 0; i < pathLength; i++) {
        n += url[i] == '/' && (i + 1 < pathLength || pathLength == 1);
    }
    elementsPtr = Alloc(arenaPtr,
                        sizeof(*elementsPtr) + (n + 1) * sizeof(char *)
                            + pathLength + 1);
    text = (char *) &elementsPtr->urlv[n + 1];
    memcpy(text, url, pathLength + 1);

    elementsPtr->arenaPtr = arenaPtr;
    for (size_t i = 0; i < n; i++) {
        *text++ = '\0'; /* The slash. */
        elementsPtr->urlv[i] = text;
        text += strcspn(text, "/");
    }
    *text = '\0'; /* A trailing slash. */
    elementsPtr->urlv[n] = NULL;
    requestPtr->urlc = (int) n;
    requestPtr->urlv = elementsPtr->urlv;
}

static char *
ListOf(NsArena *arenaPtr, Ns_Request *requestPtr)
{
    size_t room = 1u;
    int    flags;
    char  *list, *p;

    for (int i = 0; i < requestPtr->urlc; i++) {
        room += (size_t) Tcl_ScanElement(requestPtr->urlv[i], &flags) + 1u;
    }
    list = p = Alloc(arenaPtr, room);
    for (int i = 0; i < requestPtr->urlc; i++) {
        if (i > 0) {
            *p++ = ' ';
        }
        (void) Tcl_ScanElement(requestPtr->urlv[i], &flags);
        p += Tcl_ConvertElement(requestPtr->urlv[i], p, flags);
    }
    *p = '\0';
    NsAssert((size_t) (p - list) < room);
    requestPtr->urlv_len = (int) (p - list);
    return list;
}

static NsArena *
ArenaOf(const Ns_Request *requestPtr)
{
    const UrlElements *elementsPtr;

    if (requestPtr->urlv == NULL) {
        return NULL;
    }
    elementsPtr = (const void *) ((const char *) requestPtr->urlv
                                  - offsetof(UrlElements, urlv));
    return elementsPtr->arenaPtr;
}

static void *
Alloc(NsArena *arenaPtr, size_t bytes)
{
    return arenaPtr == NULL ? ns_malloc(bytes) : NsArenaAlloc(arenaPtr, bytes);
}

static char *
Dup(NsArena *arenaPtr, const char *text, size_t length)
{
    char *copy = Alloc(arenaPtr, length + 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void
Release(NsArena *arenaPtr, void *memory)
{
    if (arenaPtr == NULL) {
        ns_free(memory);
    }
}
