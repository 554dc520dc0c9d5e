/* SPDX-License-Identifier: MPL-2.0
 * fuzz_url.c --
 *
 *      URLs: a path is normalized whatever was sent, the fast and the careful
 *      way agree, what was coded decodes to the same, and the parts of a URL or
 *      of a field value lie inside it.
 */

#include "fuzz.h"

#include "nsconn.h"

#include "http/fieldvalue.h"
#include "http/url.h"
#include "http/urlpath.h"
#include "http/urlparts.h"

static void CheckPath(const uint8_t *data, size_t length);
static void CheckCoding(const uint8_t *data, size_t length, NsUrlPart part);
static void CheckParsing(const uint8_t *data, size_t length);
static void CheckSplit(const char *url);
static void CheckFieldValue(const char *text, bool isStrict);
static void CheckInside(NsSpan span, const char *text);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static bool isStarted = false;

    if (!isStarted) {
        Tcl_FindExecutable(NULL); /* For encodings. */
        isStarted = true;
    }
    CheckPath(data, length);
    for (NsUrlPart part = NS_URL_QUERY; part <= NS_URL_OAUTH1; part++) {
        CheckCoding(data, length, part);
    }
    CheckParsing(data, length);
    return 0;
}

static void
CheckPath(const uint8_t *data, size_t length)
{
    char     *url = FuzzDup(data, length);
    char     *room = malloc(NsUrlPathRoom(length));
    NsArena   arena;
    NsUrlPath fast, careful;

    NsArenaInit(&arena, 512);
    NsUrlDecodePath(&arena, url, length, &fast);
    NsUrlDecodePathInto(room, url, length, &careful);
    FuzzAssert(fast.pathLength == careful.pathLength);
    FuzzAssert(memcmp(fast.path, careful.path, fast.pathLength + 1) == 0);
    FuzzAssert(fast.queryLength == careful.queryLength);
    FuzzAssert((fast.query == NULL) == (careful.query == NULL));

    FuzzAssert(fast.path[0] == '/');
    FuzzAssert(strlen(fast.path) == fast.pathLength);
    FuzzAssert(strstr(fast.path, "//") == NULL);
    FuzzAssert(strstr(fast.path, "/./") == NULL);
    FuzzAssert(strstr(fast.path, "/../") == NULL);
    FuzzAssert(strchr(fast.path, '\\') == NULL);
    FuzzAssert(fast.pathLength < 3
               || strcmp(fast.path + fast.pathLength - 3, "/..") != 0);
    NsArenaFree(&arena);
    free(room);
    free(url);
}

static void
CheckCoding(const uint8_t *data, size_t length, NsUrlPart part)
{
    char      *bytes = FuzzDup(data, length);
    Ns_DString text, coded, again;

    Ns_DStringInit(&text);
    Ns_DStringInit(&coded);
    Ns_DStringInit(&again);
    NsUrlDecodeChecked(&text, bytes, length, NULL, NULL, part);
    Ns_DStringSetLength(&text, 0);
    NsUrlDecode(&text, bytes, length, NULL, part);
    NsUrlEncode(&coded, Ns_DStringValue(&text),
                (size_t) Ns_DStringLength(&text), NULL, part);
    NsUrlDecode(&again, Ns_DStringValue(&coded),
                (size_t) Ns_DStringLength(&coded), NULL, part);
    FuzzAssert(Ns_DStringLength(&again) == Ns_DStringLength(&text));
    FuzzAssert(memcmp(Ns_DStringValue(&again), Ns_DStringValue(&text),
                      (size_t) Ns_DStringLength(&text))
               == 0);
    Ns_DStringFree(&again);
    Ns_DStringFree(&coded);
    Ns_DStringFree(&text);
    free(bytes);
}

static void
CheckParsing(const uint8_t *data, size_t length)
{
    char      *url = FuzzString(data, length);
    char      *protocol, *host, *port, *path, *tail;
    Ns_DString absolute;
    Ns_Request request;

    Ns_DStringInit(&absolute);
    Ns_AbsoluteUrl(&absolute, url, "http://h/a/b/c?d#e");
    Ns_AbsoluteUrl(&absolute, "../x/./y", url);
    Ns_DStringFree(&absolute);

    if (Ns_ParseRequest(&request, url) == NS_OK) {
        for (int i = 0; i <= request.urlc; i++) {
            FuzzAssert(Ns_SkipUrl(&request, i) != NULL);
        }
        Ns_SetRequestUrl(&request, request.url);
        Ns_SetRequestUrl(&request, "/a/b?c");
        Ns_ResetRequest(&request);
    }
    CheckSplit(url);
    CheckFieldValue(url, false);
    CheckFieldValue(url, true);
    Ns_ParseUrl(url, &protocol, &host, &port, &path, &tail);
    free(url);
}

/*
 * What strict rules accept joins to the same text, but for what is empty.
 */
static void
CheckSplit(const char *url)
{
    NsUrlParts parts, again;
    NsSpan     host, port;
    Ns_DString joined;

    if (NsUrlSplit(url, true, &parts) == NULL) {
        Ns_DStringInit(&joined);
        NsUrlJoin(&joined, &parts);
        FuzzAssert(NsUrlSplit(Ns_DStringValue(&joined), true, &again) == NULL
                   || parts.parts[NS_URL_HOST].start == NULL);
        Ns_DStringFree(&joined);
    }
    if (NsUrlSplit(url, false, &parts) == NULL) {
        for (int i = 0; i < NS_URL_NPARTS; i++) {
            CheckInside(parts.parts[i], url);
        }
    }
    if (NsHostPortSplit(url, &host, &port)) {
        CheckInside(host, url);
        CheckInside(port, url);
        FuzzAssert(host.length > 0);
    }
}

static void
CheckFieldValue(const char *text, bool isStrict)
{
    NsFieldScan scan = {.p = text, .isStrict = isStrict};
    NsFieldPart part;

    while (NsFieldScanNext(&scan, &part)) {
        CheckInside(part.name, text);
        CheckInside(part.value, text);
        FuzzAssert(part.name.length > 0);
    }
    CheckInside((NsSpan){scan.p, strlen(scan.p)}, text);
}

static void
CheckInside(NsSpan span, const char *text)
{
    const char *end = text + strlen(text);

    FuzzAssert(span.start == NULL
               || (span.start >= text && span.start <= end
                   && span.length <= (size_t) (end - span.start)));
}
