/*
 * fuzz_url.c --
 *
 *      URLs: a path is normalized whatever was sent, the fast and the careful
 *      way agree, and what was coded decodes to the same.
 */

#include "fuzz.h"

#include "nsconn.h"

#include "http/url.h"
#include "http/urlpath.h"

static void CheckPath(const uint8_t *data, size_t length);
static void CheckCoding(const uint8_t *data, size_t length, NsUrlPart part);
static void CheckParsing(const uint8_t *data, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    CheckPath(data, length);
    CheckCoding(data, length, NS_URL_PATH);
    CheckCoding(data, length, NS_URL_QUERY);
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
    Ns_ParseUrl(url, &protocol, &host, &port, &path, &tail);
    free(url);
}
