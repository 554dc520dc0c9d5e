/* SPDX-License-Identifier: MPL-2.0
 * filecache.c --
 *
 *      Static files kept in memory.
 *
 *      A hash table under one lock.  Driver threads keep the files they answer
 *      with aside, with a reference, and use them without the lock; so age is
 *      not a list to be reordered but a flag, and room is made by a hand that
 *      goes round: who was used since its last visit gets a second chance.
 */

#include "request/filecache.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/chars.h"
#include "base/episode.h"
#include "base/lock.h"
#include "process/parameters.h"

#define MAX_OPEN 64 /* Files kept open. */
#define SECTION  "ns/fastpath"

typedef struct Counts {
    uint64_t nFlushed; /* Found changed. */
    uint64_t nMissed;
    uint64_t nPruned;
} Counts;

typedef struct Cache {
    bool    isOn;          /* Constant after NsFileCacheConfigure. */
    bool    isWatching;    /* Likewise. */
    int64_t maxBytes;      /* Likewise. */
    int64_t maxEntryBytes; /* Likewise. */

    Ns_Mutex lock; /* Guards the rest. */
    NsChains chains;
    NsFile  *handPtr; /* Next to be looked at; NULL: empty. */
    int64_t  bytes;
    Counts   counts;
} Cache;

static Cache cache;

static const NsParameter rows[] = {
    NS_BOOL(Cache, isOn, "cache", "false",
            "Keep small files in memory, for all servers."),
    NS_SIZE(Cache, maxBytes, "cachemaxsize", "10240000", 1024,
            NS_PARAM_NO_LIMIT, "Size of that cache."),
    NS_SIZE(Cache, maxEntryBytes, "cachemaxentry", "8192", 8, INT64_C(1) << 30,
            "Largest file in it."),
    NS_BOOL(
        Cache, isWatching, "watchfiles", "true",
        "Let the kernel report changes of static files and pages (inotify), "
        "instead of checking a file for each request."),
    NS_PARAM_END};

static atomic_int           nOpen; /* Files kept open. */
static atomic_uint_fast64_t nHits; /* Counted without the lock, relaxed. */

static NsFile *FindLocked(const char *path, uint32_t hash);
static void    CheckLocked(void);
static void    InsertLocked(NsFile *filePtr);
static void    RemoveLocked(NsFile *filePtr);
static NsFile *PruneLocked(void);
static void    UnrefAll(NsFile *droppedPtr);
static char   *ReadFile(const char *path, const struct stat *statusPtr);
static NsFile *CreateFileEntry(const char *path, const struct stat *statusPtr,
                               char *content);
static int     KeepOpen(const NsFile *filePtr);
static void    MakeFields(NsFile *filePtr);
static void    AppendContents(Ns_DString *dsPtr);

void
NsFileCacheInit(void)
{
    NsParametersRegister(SECTION, rows, sizeof(Cache));
}

void
NsFileCacheConfigure(void)
{
    static bool isDone;

    if (isDone) {
        return;
    }
    isDone = true;
    NsParametersFill(rows, SECTION, &cache);
    NsMutexSetup(&cache.lock, NS_RANK_FASTPATH, "ns:cache", "fastpath");
    NsChainsInit(&cache.chains);
    if (cache.isWatching && NsFileWatchInit() != NS_OK) {
        Ns_Log(
            Notice,
            "fastpath: the kernel cannot report changes of files: %s; each "
            "request checks its files: raise fs.inotify.max_user_instances, or "
            "set watchfiles to false",
            strerror(errno));
    }
}

void
NsFileCacheClear(void)
{
    NsFile *droppedPtr = NULL;

    if (!cache.isOn) {
        return;
    }
    Ns_MutexLock(&cache.lock);
    while (cache.handPtr != NULL) {
        NsFile *filePtr = cache.handPtr;

        RemoveLocked(filePtr);
        cache.counts.nFlushed++;
        filePtr->link.nextPtr = (NsChainLink *) droppedPtr;
        droppedPtr = filePtr;
    }
    Ns_MutexUnlock(&cache.lock);
    UnrefAll(droppedPtr);
}

off_t
NsFileCacheMaxEntry(void)
{
    return (off_t) cache.maxEntryBytes;
}

NsFile *
NsFileCacheFind(const char *path, const struct stat *statusPtr)
{
    NsFile  *filePtr, *droppedPtr = NULL;
    uint32_t hash;

    if (!cache.isOn) {
        return NULL;
    }
    hash = NsHash(path);
    Ns_MutexLock(&cache.lock);
    filePtr = FindLocked(path, hash);
    if (filePtr != NULL
        && (!NsFileStateIs(&filePtr->state, statusPtr)
            || NsFileWatchIsOver(filePtr->watchPtr))) {
        RemoveLocked(filePtr);
        cache.counts.nFlushed++;
        droppedPtr = filePtr;
        filePtr = NULL;
    }
    if (filePtr != NULL) {
        NsFileRef(filePtr);
    }
    Ns_MutexUnlock(&cache.lock);
    if (droppedPtr != NULL) {
        NsFileUnref(droppedPtr);
    }
    if (filePtr != NULL) {
        NsFileCountHit(filePtr);
    }
    return filePtr;
}

/*
 * Two threads may read the same file; the second one's is used once and
 * dropped.
 */
NsFile *
NsFileCacheLoad(const char *path, const struct stat *statusPtr,
                const Ns_Time *acceptedPtr)
{
    NsFile *filePtr = NsFileCacheFind(path, statusPtr), *droppedPtr = NULL;
    char   *content;

    if (filePtr != NULL || !cache.isOn) {
        return filePtr;
    }
    if (statusPtr->st_size > cache.maxEntryBytes
        || statusPtr->st_size > cache.maxBytes
        || !NsFileIsFit(statusPtr, acceptedPtr)) {
        return NULL;
    }
    content = ReadFile(path, statusPtr);
    if (content == NULL) {
        return NULL;
    }
    filePtr = CreateFileEntry(path, statusPtr, content);

    Ns_MutexLock(&cache.lock);
    cache.counts.nMissed++;
    /* It may have been cleared since the type was looked up. */
    if (FindLocked(path, filePtr->link.hash) == NULL
        && filePtr->type == Ns_GetMimeType(path)) {
        NsFileRef(filePtr);
        InsertLocked(filePtr);
        droppedPtr = PruneLocked();
    }
    Ns_MutexUnlock(&cache.lock);
    UnrefAll(droppedPtr);
    return filePtr;
}

/*
 * Files that have left the cache, without its lock.
 */
static void
UnrefAll(NsFile *droppedPtr)
{
    while (droppedPtr != NULL) {
        NsFile *nextPtr = (NsFile *) droppedPtr->link.nextPtr;

        NsFileUnref(droppedPtr);
        droppedPtr = nextPtr;
    }
}

bool
NsFileIsFit(const struct stat *statusPtr, const Ns_Time *nowPtr)
{
    return NsFileIsSettled(statusPtr, nowPtr)
        && statusPtr->st_mtime <= nowPtr->sec;
}

NsFile *
NsFileDescribe(const char *path, const struct stat *statusPtr)
{
    return CreateFileEntry(path, statusPtr, NULL);
}

NsFileWatch *
NsFileWatchOrTell(const char *path, const NsFileState *statePtr)
{
    static NsEpisode shortage;
    bool             isShort;
    NsFileWatch     *watchPtr = NsFileWatchCreate(path, statePtr, &isShort);

    if (isShort && NsEpisodeBegins(&shortage)) {
        Ns_Log(
            Notice,
            "fastpath: no watches left for %s: each request checks those of "
            "its files that are not watched: raise fs.inotify.max_user_watches",
            path);
    }
    return watchPtr;
}

void
NsFileTag(const NsFileState *statePtr, char buffer[NS_FILE_TAG_BYTES])
{
    snprintf(buffer, NS_FILE_TAG_BYTES, "\"%jx-%jx-%jx.%lx\"",
             (uintmax_t) statePtr->inode, (uintmax_t) statePtr->bytes,
             (uintmax_t) statePtr->changed.tv_sec,
             (unsigned long) statePtr->changed.tv_nsec);
}

void
NsFileRef(NsFile *filePtr)
{
    atomic_fetch_add_explicit(&filePtr->nRefs, 1, memory_order_relaxed);
}

void
NsFileUnref(void *arg)
{
    NsFile *filePtr = arg;

    NsAssert(filePtr->nRefs > 0);
    if (atomic_fetch_sub_explicit(&filePtr->nRefs, 1, memory_order_acq_rel)
        == 1) {
        NsFileWatchFree(filePtr->watchPtr);
        if (filePtr->fd >= 0) {
            NsClose(filePtr->fd);
            atomic_fetch_sub(&nOpen, 1);
        }
        ns_free((char *) filePtr->content);
        ns_free((char *) filePtr->fields);
        ns_free((char *) filePtr->path);
        ns_free(filePtr);
    }
}

void
NsFileCountHit(NsFile *filePtr)
{
    atomic_fetch_add_explicit(&nHits, 1, memory_order_relaxed);
    if (!atomic_load_explicit(&filePtr->isRecent, memory_order_relaxed)) {
        atomic_store_explicit(&filePtr->isRecent, true, memory_order_relaxed);
    }
}

void
NsFileCacheStats(Ns_DString *dsPtr, bool withContents, bool reset)
{
    uint64_t hits, asked;

    if (!cache.isOn) {
        return;
    }
    Ns_MutexLock(&cache.lock);
    hits = atomic_load(&nHits);
    asked = hits + cache.counts.nMissed;
    if (withContents) {
        AppendContents(dsPtr);
    } else {
        Ns_DStringPrintf(dsPtr,
                         "maxsize %" PRId64 " size %" PRId64
                         " entries %u flushed %" PRIu64 " hits %" PRIu64
                         " missed %" PRIu64 " hitrate %d expired 0"
                         " pruned %" PRIu64 " saved 0.000000",
                         cache.maxBytes, cache.bytes, cache.chains.nItems,
                         cache.counts.nFlushed, hits, cache.counts.nMissed,
                         asked == 0 ? 0 : (int) (hits * 100 / asked),
                         cache.counts.nPruned);
    }
    if (reset) {
        cache.counts = (Counts){0};
        atomic_store(&nHits, 0);
    }
    Ns_MutexUnlock(&cache.lock);
}

static NsFile *
FindLocked(const char *path, uint32_t hash)
{
    NsChainLink *linkPtr = *NsChainsHead(&cache.chains, hash);

    NsAssertLocked(&cache.lock);

    while (linkPtr != NULL
           && !(linkPtr->hash == hash
                && STREQ(((NsFile *) linkPtr)->path, path))) {
        linkPtr = linkPtr->nextPtr;
    }
    return (NsFile *) linkPtr;
}

/*
 * The files in the ring are those that are counted.
 */
static void
CheckLocked(void)
{
    NsAssertLocked(&cache.lock);
    NsAssert((cache.handPtr == NULL) == (cache.chains.nItems == 0));
    NsAssert(cache.bytes >= 0 && (cache.chains.nItems > 0 || cache.bytes == 0));
    if (cache.handPtr != NULL) {
        NsAssert(cache.handPtr->newerPtr->olderPtr == cache.handPtr
                 && cache.handPtr->olderPtr->newerPtr == cache.handPtr);
    }
}

/*
 * A new file is behind the hand: it is looked at last.
 */
static void
InsertLocked(NsFile *filePtr)
{
    NsAssertLocked(&cache.lock);
    NsAssert(!filePtr->isDropped && filePtr->content != NULL);

    NsChainsAdd(&cache.chains, &filePtr->link);
    if (cache.handPtr == NULL) {
        filePtr->newerPtr = filePtr->olderPtr = filePtr;
        cache.handPtr = filePtr;
    } else {
        filePtr->newerPtr = cache.handPtr;
        filePtr->olderPtr = cache.handPtr->olderPtr;
        filePtr->olderPtr->newerPtr = filePtr;
        cache.handPtr->olderPtr = filePtr;
    }
    cache.bytes += filePtr->state.bytes;
    CheckLocked();
}

static void
RemoveLocked(NsFile *filePtr)
{
    NsAssertLocked(&cache.lock);

    NsAssert(!filePtr->isDropped && cache.chains.nItems > 0);
    NsChainsRemove(&cache.chains, &filePtr->link);
    if (filePtr->newerPtr == filePtr) {
        cache.handPtr = NULL;
    } else {
        filePtr->newerPtr->olderPtr = filePtr->olderPtr;
        filePtr->olderPtr->newerPtr = filePtr->newerPtr;
        if (cache.handPtr == filePtr) {
            cache.handPtr = filePtr->newerPtr;
        }
    }
    NsAssert(cache.bytes >= filePtr->state.bytes);
    cache.bytes -= filePtr->state.bytes;
    CheckLocked();
    atomic_store_explicit(&filePtr->isDropped, true, memory_order_release);
}

/*
 * Make room, but never at the cost of the newest file.  The files that left the
 * cache, whose references are released without the lock.
 */
static NsFile *
PruneLocked(void)
{
    NsFile *droppedPtr = NULL, *newestPtr = cache.handPtr->olderPtr;

    NsAssertLocked(&cache.lock);
    NsAssert(newestPtr != NULL);

    while (cache.bytes > cache.maxBytes && cache.chains.nItems > 1) {
        NsFile *filePtr = cache.handPtr;

        if (filePtr == newestPtr
            || atomic_exchange_explicit(&filePtr->isRecent, false,
                                        memory_order_relaxed)) {
            cache.handPtr = filePtr->newerPtr;
        } else {
            RemoveLocked(filePtr);
            cache.counts.nPruned++;
            filePtr->link.nextPtr = (NsChainLink *) droppedPtr;
            droppedPtr = filePtr;
        }
    }
    return droppedPtr;
}

/*
 * The content, if the file still is what statusPtr says, before and after.
 */
static char *
ReadFile(const char *path, const struct stat *statusPtr)
{
    size_t      bytes = (size_t) statusPtr->st_size, done = 0;
    NsFileState before;
    struct stat after;
    char       *content;
    int         fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return NULL;
    }
    content = ns_malloc(bytes + 1);
    while (done < bytes) {
        ssize_t n = read(fd, content + done, bytes - done);

        if (n == 0 || (n < 0 && errno != EINTR)) {
            break;
        }
        done += n > 0 ? (size_t) n : 0;
    }
    NsAssert(done <= bytes);
    NsFileStateSet(&before, statusPtr);
    if (done < bytes || fstat(fd, &after) != 0
        || !NsFileStateIs(&before, &after)) {
        ns_free(content);
        content = NULL;
    }
    NsClose(fd);
    return content;
}

static NsFile *
CreateFileEntry(const char *path, const struct stat *statusPtr, char *content)
{
    NsFile *filePtr = ns_calloc(1, sizeof(NsFile));

    atomic_init(&filePtr->nRefs, 1);
    filePtr->path = ns_strdup(path);
    filePtr->link.hash = NsHash(path);
    NsFileStateSet(&filePtr->state, statusPtr);
    filePtr->type = Ns_GetMimeType(path);
    filePtr->content = content;
    filePtr->watchPtr = NsFileWatchOrTell(path, &filePtr->state);
    filePtr->fd = content == NULL && filePtr->watchPtr != NULL
        ? KeepOpen(filePtr)
        : -1;
    MakeFields(filePtr);
    return filePtr;
}

/*
 * The descriptor, or -1.
 */
static int
KeepOpen(const NsFile *filePtr)
{
    struct stat status;
    int         fd = -1;

    if (atomic_fetch_add(&nOpen, 1) < MAX_OPEN) {
        fd = open(filePtr->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0
            && (fstat(fd, &status) != 0
                || !NsFileStateIs(&filePtr->state, &status))) {
            NsClose(fd);
            fd = -1;
        }
    }
    if (fd < 0) {
        atomic_fetch_sub(&nOpen, 1);
    }
    return fd;
}

static void
MakeFields(NsFile *filePtr)
{
    Ns_DString ds;

    NsHttpDate(filePtr->lastModified, filePtr->state.modified.tv_sec);
    NsFileTag(&filePtr->state, filePtr->tag);
    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds,
                     "Last-Modified: %s\r\n"
                     "ETag: %s\r\n"
                     "Content-Type: %s\r\n"
                     "Accept-Ranges: bytes\r\n"
                     "Content-Length: %" PRId64 "\r\n",
                     filePtr->lastModified, filePtr->tag, filePtr->type,
                     (int64_t) filePtr->state.bytes);
    filePtr->fieldsBytes = (size_t) Ns_DStringLength(&ds);
    filePtr->fields = Ns_DStringExport(&ds);
}

/*
 * One element: sizes and expiry times in turn.
 */
static void
AppendContents(Ns_DString *dsPtr)
{
    NsFile *filePtr = cache.handPtr;

    NsAssertLocked(&cache.lock);

    Tcl_DStringStartSublist(dsPtr);
    while (filePtr != NULL) {
        char text[24];

        snprintf(text, sizeof(text), "%" PRId64,
                 (int64_t) filePtr->state.bytes);
        Tcl_DStringAppendElement(dsPtr, text);
        Tcl_DStringAppendElement(dsPtr, "0");
        filePtr = filePtr->newerPtr == cache.handPtr ? NULL : filePtr->newerPtr;
    }
    Tcl_DStringEndSublist(dsPtr);
}
