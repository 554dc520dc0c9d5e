/* SPDX-License-Identifier: MPL-2.0
 * filecache.h --
 *
 *      Static files kept in memory, with what a reply needs of them.
 *
 *      One cache for all servers.  A file is valid as long as its state is
 *      unchanged; the caller looks after the request has come in.
 */

#ifndef NSD_REQUEST_FILECACHE_H
#define NSD_REQUEST_FILECACHE_H

#include <stdatomic.h>

#include "nstypes.h"
#include "base/chains.h"
#include "base/filewatch.h"
#include "http/date.h"

/*
 * The ETag of a file, with its quotes: good for one that is settled.
 */
#define NS_FILE_TAG_BYTES 80
void NsFileTag(const NsFileState *statePtr, char buffer[NS_FILE_TAG_BYTES]);

/*
 * Constant after creation but for the atomics; freed with the last reference.
 */
typedef struct NsFile {
    NsChainLink    link;     /* First; guarded by the cache's lock. */
    struct NsFile *newerPtr; /* Ring in the order of the hand that makes */
    struct NsFile *olderPtr; /* room; guarded likewise. */
    atomic_int     nRefs;
    atomic_bool    isRecent;  /* Used since the hand last passed; hint. */
    atomic_bool    isDropped; /* Left the cache. */

    const char  *path;
    NsFileState  state;
    const char  *type;     /* By extension; not freed. */
    const char  *content;  /* NULL: described only. */
    NsFileWatch *watchPtr; /* NULL: to be looked at. */
    int          fd;       /* Kept open; -1: to be opened. */
    const char  *fields;   /* Last-Modified ... Content-Length. */
    size_t       fieldsBytes;
    char         lastModified[NS_HTTP_DATE_LENGTH + 1];
    char         tag[NS_FILE_TAG_BYTES];
} NsFile;

/*
 * Once, before the configuration is read.
 */
void NsFileCacheInit(void);

/*
 * Read section ns/fastpath, when the configuration has been read; later calls
 * do nothing.
 */
void NsFileCacheConfigure(void);

/*
 * Empty it: content types have changed, which files have with them.  What is in
 * use stays valid.
 */
void NsFileCacheClear(void);

/*
 * The largest file that the cache takes.
 */
off_t NsFileCacheMaxEntry(void);

/*
 * The file as statusPtr describes it, with a reference for the caller: from the
 * cache, or, with Load, by reading it.  NULL: not cached, or not to be cached:
 * too large, not fit for it when the request was accepted, or unreadable.
 */
NsFile *NsFileCacheFind(const char *path, const struct stat *statusPtr);
NsFile *NsFileCacheLoad(const char *path, const struct stat *statusPtr,
                        const Ns_Time *acceptedPtr);

/*
 * Whether the reply that is due now may be sent again: the file is settled, and
 * its time is not in the future, of which Last-Modified must not tell (RFC 9110
 * 8.8.2.1).
 */
bool NsFileIsFit(const struct stat *statusPtr, const Ns_Time *nowPtr);

/*
 * A file outside the cache, which is fit for it but for its size, without its
 * content; with a reference.  It stays open if the kernel watches it and not
 * too many do.
 */
NsFile *NsFileDescribe(const char *path, const struct stat *statusPtr);

/*
 * As NsFileWatchCreate; a lack of watches is logged, once per episode.
 */
NsFileWatch *NsFileWatchOrTell(const char *path, const NsFileState *statePtr);

void NsFileRef(NsFile *filePtr);
void NsFileUnref(void *filePtr);

/*
 * Count a use of a file that was kept aside with a reference.
 */
void NsFileCountHit(NsFile *filePtr);

/*
 * See NsFastPathCacheStats.
 */
void NsFileCacheStats(Ns_DString *dsPtr, bool withContents, bool reset);

#endif
