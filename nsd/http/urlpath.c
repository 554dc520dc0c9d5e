/* SPDX-License-Identifier: MPL-2.0
 * urlpath.c --
 *
 *      From the URL of a request to its normalized path.
 *
 *      Escapes are decoded first and once, so that an escaped separator or dot
 *      counts like a plain one and nothing climbs above the root.  Almost all
 *      URLs have nothing to decode or normalize; a single look shows it, and
 *      they are copied as they are.
 */

#include "http/urlpath.h"

#include "base/assert.h"
#include "http/url.h"

static bool   IsPlainPath(const char *url, size_t length);
static size_t Normalize(char *to, const char *from, size_t length);

size_t
NsUrlPathRoom(size_t length)
{
    /* Unescaped bytes, then twice their number as UTF-8 (see NsUtf8FromBytes),
     * a leading and a trailing slash, a null byte. */
    return 3 * length + 3;
}

void
NsUrlDecodePath(NsArena *arenaPtr, const char *url, size_t length,
                NsUrlPath *pathPtr)
{
    const char *mark = memchr(url, '?', length);
    size_t      rawLength = mark == NULL ? length : (size_t) (mark - url);

    if (likely(IsPlainPath(url, rawLength))) {
        /* One copy for both, split by the null byte. */
        pathPtr->path = NsArenaDup(arenaPtr, url, length);
        pathPtr->pathLength = rawLength;
        pathPtr->path[rawLength] = '\0';
        pathPtr->query = mark == NULL ? NULL : pathPtr->path + rawLength + 1;
        pathPtr->queryLength = mark == NULL ? 0 : length - rawLength - 1;
    } else {
        char *room = NsArenaAlloc(arenaPtr, NsUrlPathRoom(rawLength));

        NsUrlDecodePathInto(room, url, length, pathPtr);
        if (pathPtr->query != NULL) {
            pathPtr->query = NsArenaDup(arenaPtr, pathPtr->query,
                                        pathPtr->queryLength);
        }
    }
}

void
NsUrlDecodePathInto(char *room, const char *url, size_t length,
                    NsUrlPath *pathPtr)
{
    const char *mark = memchr(url, '?', length);
    size_t      rawLength = mark == NULL ? length : (size_t) (mark - url);
    char       *bytes, *utf8;
    size_t      nBytes, n, nSlashes = 0;
    bool        endsInSlash;

    while (nSlashes < rawLength && url[nSlashes] == '/') {
        nSlashes++;
    }
    endsInSlash = nSlashes < rawLength && url[rawLength - 1] == '/';

    /*
     * room:  / utf8 . . . . . | bytes . .
     * Each step reads to the right of where it writes.
     */
    utf8 = room + 1;
    bytes = utf8 + rawLength;
    nBytes = NsUrlUnescape(bytes, url, rawLength, NS_URL_PATH);
    n = NsUtf8FromBytes(utf8, bytes, nBytes);
    n = Normalize(room, utf8, n);
    if (endsInSlash && n > 1) {
        room[n++] = '/';
    }
    room[n] = '\0';

    pathPtr->path = room;
    pathPtr->pathLength = n;
    pathPtr->query = mark == NULL ? NULL : (char *) mark + 1;
    pathPtr->queryLength = mark == NULL ? 0 : length - rawLength - 1;
}

/*
 * Whether the path is what decoding and normalizing would make of it.  May say
 * no too often, never yes.
 */
static bool
IsPlainPath(const char *url, size_t length)
{
    static const bool isSpecial[256] = {
        ['\0'] = true, ['%'] = true, [0x80 ... 0xFF] = true};

    if (length == 0 || url[0] != '/') {
        return false;
    }
    for (size_t i = 1; i < length; i++) {
        unsigned char c = UCHAR(url[i]);

        if (unlikely(isSpecial[c])
            || ((c == '/' || c == '.') && url[i - 1] == '/')) {
            return false;
        }
    }
    return true;
}

/*
 * Copy segment by segment, each after a slash; to starts at least one byte
 * before from.
 */
static size_t
Normalize(char *to, const char *from, size_t length)
{
    const char *end = from + length;
    size_t      n = 0;

    while (from < end) {
        const char *segment = from;
        size_t      segmentLength;

        while (from < end && *from != '/') {
            from++;
        }
        segmentLength = (size_t) (from - segment);
        from++;
        if (segmentLength == 0 || (segmentLength == 1 && segment[0] == '.')) {
            continue;
        }
        if (segmentLength == 2 && segment[0] == '.' && segment[1] == '.') {
            while (n > 0 && to[--n] != '/') {
                /* Back to the slash before the last segment. */
            }
            continue;
        }
        NsAssert(to + n < segment);
        to[n++] = '/';
        memmove(to + n, segment, segmentLength);
        n += segmentLength;
    }
    if (n == 0) {
        to[n++] = '/';
    }
    return n;
}
