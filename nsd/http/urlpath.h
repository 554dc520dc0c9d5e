/* SPDX-License-Identifier: MPL-2.0
 * urlpath.h --
 *
 *      The path of a request: decoded and normalized.
 */

#ifndef NSD_HTTP_URLPATH_H
#define NSD_HTTP_URLPATH_H

#include "base/arena.h"

typedef struct NsUrlPath {
    char  *path; /* Decoded and normalized; begins with /. */
    size_t pathLength;
    char  *query; /* As sent; NULL without question mark. */
    size_t queryLength;
} NsUrlPath;

/*
 * Split a URL of length bytes at its first question mark, decode and normalize
 * the path, so that it stays below "/".  Both parts go to the arena, null
 * terminated.
 */
void NsUrlDecodePath(NsArena *arenaPtr, const char *url, size_t length,
                     NsUrlPath *pathPtr);

/*
 * Room that the path of a URL of length bytes needs at most, for the variant
 * that writes to the caller's memory; and this variant.  The query stays where
 * it is.
 */
size_t NsUrlPathRoom(size_t length);
void   NsUrlDecodePathInto(char *room, const char *url, size_t length,
                           NsUrlPath *pathPtr);

#endif
