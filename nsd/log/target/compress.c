/* SPDX-License-Identifier: MPL-2.0
 * compress.c --
 *
 *      Backups of log files are compressed in the background.
 *
 *      One thread of low priority does this, file by file.  The result gets its
 *      name only when it is complete and on disk, and only then the backup is
 *      deleted.  A backup may be renamed meanwhile, so its inode identifies it.
 */

#include "log/target/compress.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <zlib.h>

#include "base/assert.h"
#include "base/directory.h"
#include "base/lock.h"
#include "base/thread.h"
#include "base/writeall.h"
#include "log/target/openfiles.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"

#define CHUNK_BYTES     65536
#define GZIP_WINDOW     (15 + 16) /* zlib's way to ask for gzip. */
#define MEMORY_LEVEL    8
#define LOWEST_PRIORITY 19
#define IO_IDLE         (3 << 13) /* Of ioprio_set(2). */
#define SUFFIX          ".gz"
#define REQUEST         SUFFIX "-" /* The inode follows. */
#define REQUEST_FLAGS   (O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC)

struct NsBacklog {
    NsBacklog *nextPtr; /* These four: guarded by queueLock. */
    bool       isQueued;
    bool       isInWork;
    bool       isReleased; /* Nobody queues it now. */

    Ns_Mutex lock;  /* Guards the rest, and renaming. */
    char    *file;  /* NULL: not known yet. */
    ino_t    inode; /* Of the log itself; 0: none. */

    bool isFailing; /* The thread's own. */
};

/*
 * A directory, and what the names of a log's backups begin with.
 */
typedef struct Place {
    Ns_DString path;  /* Up to the last slash, and a name. */
    int        nPath; /* Without the name. */
    char       tail[NAME_MAX + 1];
} Place;

typedef struct Names {
    char **names;
    int    n;
} Names;

static Ns_ThreadProc CompressThread;
static void          StartThreadIfNeeded(void);
static void          LowerPriority(void);
static bool          EndWork(NsBacklog *backlogPtr);
static void          Destroy(NsBacklog **backlogPtrPtr);
static void          WorkOff(NsBacklog *backlogPtr);
static bool          CompressOne(NsBacklog *backlogPtr, Place *placePtr,
                                 const char *request);
static int  OpenBackup(NsBacklog *backlogPtr, Place *placePtr, ino_t inode,
                       Ns_DString *pathPtr);
static bool FindLocked(NsBacklog *backlogPtr, Place *placePtr, ino_t inode,
                       Ns_DString *pathPtr);
static bool CompressInto(const char *request, int from, int64_t *bytesPtr);
static bool Deflate(z_stream *zPtr, int from, int to, int64_t *bytesPtr);
static bool TakeOver(NsBacklog *backlogPtr, Place *placePtr,
                     const char *request, ino_t inode, int64_t bytes);
static void RemoveDone(NsBacklog *backlogPtr, Place *placePtr);
static void EnterPlace(Place *placePtr, const char *file);
static const char *PathIn(Place *placePtr, const char *name);
static const char *RequestIn(Place *placePtr, uint64_t inode);
static void        Collect(Place *placePtr, bool isRequest, Names *namesPtr);
static void        FreeNames(Names *namesPtr);
static bool        HasSuffix(const char *name);

static Ns_Mutex    queueLock; /* Guards the queue and these two. */
static bool        isStarted;
static bool        hasThread;
static NsBacklog  *firstPtr;
static atomic_bool isStopping;

void
NsCompressInit(void)
{
    NsMutexSetup(&queueLock, NS_RANK_LOG_WAKE, "ns:log", "backups");
}

void
NsCompressStart(void)
{
    Ns_MutexLock(&queueLock);
    isStarted = true;
    Ns_MutexUnlock(&queueLock);
    StartThreadIfNeeded();
}

void
NsCompressStop(void)
{
    atomic_store(&isStopping, true);
}

NsBacklog *
NsBacklogCreate(void)
{
    NsBacklog *backlogPtr = ns_calloc(1u, sizeof(*backlogPtr));

    NsMutexSetup(&backlogPtr->lock, NS_RANK_LOG_BACKUPS, "ns:log", "backlog");
    return backlogPtr;
}

void
NsBacklogRelease(NsBacklog **backlogPtrPtr)
{
    NsBacklog *backlogPtr = *backlogPtrPtr;
    bool       isIdle;

    *backlogPtrPtr = NULL;
    if (backlogPtr != NULL) {
        Ns_MutexLock(&queueLock);
        NsAssert(!backlogPtr->isReleased);
        backlogPtr->isReleased = true;
        isIdle = !backlogPtr->isQueued && !backlogPtr->isInWork;
        Ns_MutexUnlock(&queueLock);
        if (isIdle) {
            Destroy(&backlogPtr);
        }
    }
}

static void
Destroy(NsBacklog **backlogPtrPtr)
{
    NsBacklog *backlogPtr = *backlogPtrPtr;

    NsAssert(backlogPtr->isReleased);
    NsAssert(!backlogPtr->isQueued && !backlogPtr->isInWork);
    Ns_MutexDestroy(&backlogPtr->lock);
    ns_free(backlogPtr->file);
    ns_free(backlogPtr);
    *backlogPtrPtr = NULL;
}

void
NsBacklogBegin(NsBacklog *backlogPtr)
{
    Ns_MutexLock(&backlogPtr->lock);
}

void
NsBacklogLeave(NsBacklog *backlogPtr)
{
    NsAssertLocked(&backlogPtr->lock);
    Ns_MutexUnlock(&backlogPtr->lock);
}

void
NsBacklogAsk(NsBacklog *backlogPtr, const char *file, int fd)
{
    struct stat st;
    Place       place;
    int         request;

    NsAssertLocked(&backlogPtr->lock);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return;
    }
    EnterPlace(&place, file);
    request = open(RequestIn(&place, st.st_ino), REQUEST_FLAGS, 0600);
    if (request < 0) {
        Ns_Log(Error, "log: backups of '%s' cannot be compressed: '%s'", file,
               strerror(errno));
    } else {
        close(request);
    }
    Ns_DStringFree(&place.path);
}

bool
NsBacklogHas(const char *file, uint64_t inode)
{
    Place place;
    bool  isThere;

    EnterPlace(&place, file);
    isThere = access(RequestIn(&place, inode), F_OK) == 0;
    Ns_DStringFree(&place.path);
    return isThere;
}

void
NsBacklogEnd(NsBacklog *backlogPtr, const char *file, int fd)
{
    struct stat st;

    NsAssertLocked(&backlogPtr->lock);
    ns_free(backlogPtr->file);
    backlogPtr->file = ns_strdup(file);
    backlogPtr->inode = fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
    Ns_MutexUnlock(&backlogPtr->lock);

    Ns_MutexLock(&queueLock);
    NsAssert(!backlogPtr->isReleased);
    if (!backlogPtr->isQueued) {
        backlogPtr->isQueued = true;
        backlogPtr->nextPtr = firstPtr;
        firstPtr = backlogPtr;
    }
    Ns_MutexUnlock(&queueLock);
    StartThreadIfNeeded();
}

static void
StartThreadIfNeeded(void)
{
    bool isMine;

    Ns_MutexLock(&queueLock);
    isMine = isStarted && !hasThread && firstPtr != NULL;
    hasThread |= isMine;
    Ns_MutexUnlock(&queueLock);
    if (isMine) {
        Ns_RegisterProcInfo((void *) CompressThread, "ns:logcompress", NULL);
        if (NsThreadTry(CompressThread, NULL, 0, NULL) != 0) {
            /* The next roll will try again. */
            Ns_MutexLock(&queueLock);
            hasThread = false;
            Ns_MutexUnlock(&queueLock);
        }
    }
}

/*
 * The thread ends when there is nothing left to do.
 */
static void
CompressThread(void *arg)
{
    NsBacklog *backlogPtr;

    Ns_ThreadSetName("-logcompress-");
    LowerPriority();
    do {
        Ns_MutexLock(&queueLock);
        backlogPtr = firstPtr;
        NsAssert(hasThread);
        if (backlogPtr != NULL) {
            NsAssert(backlogPtr->isQueued && !backlogPtr->isInWork);
            firstPtr = backlogPtr->nextPtr;
            backlogPtr->isQueued = false;
            backlogPtr->isInWork = true;
        } else {
            hasThread = false;
        }
        Ns_MutexUnlock(&queueLock);
        if (backlogPtr != NULL) {
            WorkOff(backlogPtr);
            if (EndWork(backlogPtr)) {
                NsBacklog *releasedPtr = backlogPtr;

                Destroy(&releasedPtr);
            }
        }
    } while (backlogPtr != NULL);
}

/*
 * True: it has been released in the meantime, and nobody else has it.
 */
static bool
EndWork(NsBacklog *backlogPtr)
{
    bool isOver;

    Ns_MutexLock(&queueLock);
    NsAssert(backlogPtr->isInWork);
    backlogPtr->isInWork = false;
    isOver = backlogPtr->isReleased && !backlogPtr->isQueued;
    Ns_MutexUnlock(&queueLock);
    return isOver;
}

/*
 * Of the calling thread only.  If this is not permitted, it works as it is.
 */
static void
LowerPriority(void)
{
    id_t self = (id_t) syscall(SYS_gettid);

    (void) setpriority(PRIO_PROCESS, self, LOWEST_PRIORITY);
    (void) syscall(SYS_ioprio_set, 1, (int) self, IO_IDLE);
}

static void
WorkOff(NsBacklog *backlogPtr)
{
    Place place;
    Names requests = {NULL, 0};
    bool  isOk = true;

    Ns_MutexLock(&backlogPtr->lock);
    NsAssert(backlogPtr->file != NULL);
    EnterPlace(&place, backlogPtr->file);
    Ns_MutexUnlock(&backlogPtr->lock);

    RemoveDone(backlogPtr, &place);
    Collect(&place, true, &requests);
    for (int i = 0; i < requests.n && isOk && !atomic_load(&isStopping); i++) {
        isOk = CompressOne(backlogPtr, &place, requests.names[i]);
        if (!isOk && errno == EAGAIN) {
            isOk = true;
        } else if (!isOk && !atomic_load(&isStopping)
                   && !backlogPtr->isFailing) {
            Ns_Log(Error,
                   "log: backups of '%s' cannot be compressed: '%s'; they stay "
                   "uncompressed until the next roll",
                   PathIn(&place, place.tail), strerror(errno));
        }
    }
    backlogPtr->isFailing = !isOk;
    FreeNames(&requests);
    Ns_DStringFree(&place.path);
}

/*
 * False: it could not be done, errno says why, and nothing has changed.
 */
static bool
CompressOne(NsBacklog *backlogPtr, Place *placePtr, const char *request)
{
    ino_t      inode = (ino_t) strtoull(request + 1 + strlen(placePtr->tail)
                                            + strlen(REQUEST),
                                        NULL, 10);
    Ns_DString path;
    char      *requestPath = ns_strdup(PathIn(placePtr, request));
    int64_t    bytes = 0;
    bool       isOk = true;
    int        fd, reason;

    Ns_DStringInit(&path);
    fd = OpenBackup(backlogPtr, placePtr, inode, &path);
    if (fd >= 0) {
        isOk = CompressInto(requestPath, fd, &bytes)
            && TakeOver(backlogPtr, placePtr, requestPath, inode, bytes);
        (void) NsCloseAfter(fd);
    } else if (Ns_DStringLength(&path) == 0) {
        unlink(requestPath); /* The backup is gone. */
    } else if (errno != EBUSY) {
        isOk = false;
    }
    if (!isOk) {
        reason = errno;
        (void) truncate(requestPath, 0);
        errno = reason;
    }
    Ns_DStringFree(&path);
    ns_free(requestPath);
    return isOk;
}

/*
 * The backup of an inode, and its present path, empty if there is none.  EBUSY:
 * it is still written to, since no new log could be opened.
 */
static int
OpenBackup(NsBacklog *backlogPtr, Place *placePtr, ino_t inode,
           Ns_DString *pathPtr)
{
    int fd = -1;

    Ns_MutexLock(&backlogPtr->lock);
    if (backlogPtr->inode == inode) {
        Ns_DStringAppend(pathPtr, backlogPtr->file);
        errno = EBUSY;
    } else if (FindLocked(backlogPtr, placePtr, inode, pathPtr)) {
        fd = open(Ns_DStringValue(pathPtr), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    }
    Ns_MutexUnlock(&backlogPtr->lock);
    return fd;
}

static bool
FindLocked(NsBacklog *backlogPtr, Place *placePtr, ino_t inode,
           Ns_DString *pathPtr)
{
    struct stat st;
    Names       names = {NULL, 0};
    bool        isFound = false;

    NsAssertLocked(&backlogPtr->lock);
    Collect(placePtr, false, &names);
    for (int i = 0; i < names.n && !isFound; i++) {
        const char *path = PathIn(placePtr, names.names[i]);

        isFound = !HasSuffix(path) && lstat(path, &st) == 0
            && S_ISREG(st.st_mode) && st.st_ino == inode;
        if (isFound) {
            Ns_DStringAppend(pathPtr, path);
        }
    }
    FreeNames(&names);
    return isFound;
}

/*
 * The whole file, with permissions, owner and time of the original, on disk.
 */
static bool
CompressInto(const char *request, int from, int64_t *bytesPtr)
{
    z_stream    z;
    struct stat st;
    int         to, reason;
    bool        isOk = false;

    to = open(request, O_WRONLY | O_TRUNC | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
              0600);
    if (to < 0) {
        return false;
    }
    memset(&z, 0, sizeof(z));
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK) {
        errno = ENOMEM;
    } else {
        isOk = Deflate(&z, from, to, bytesPtr) && fstat(from, &st) == 0
            && fchown(to, st.st_uid, st.st_gid) == 0
            && fchmod(to, st.st_mode & 07777) == 0
            && futimens(to, (struct timespec[]){st.st_mtim, st.st_mtim}) == 0
            && fsync(to) == 0;
        reason = errno;
        (void) deflateEnd(&z);
        errno = reason;
    }
    if (close(to) != 0) {
        isOk = false;
    }
    return isOk;
}

static bool
Deflate(z_stream *zPtr, int from, int to, int64_t *bytesPtr)
{
    unsigned char *in = ns_malloc(2 * CHUNK_BYTES), *out = in + CHUNK_BYTES;
    ssize_t        n;
    int            reason, result;
    bool           isOk = true;

    do {
        n = read(from, in, CHUNK_BYTES);
        if (n < 0 || atomic_load(&isStopping)) {
            errno = n < 0 ? errno : ECANCELED;
            isOk = false;
            break;
        }
        *bytesPtr += n;
        zPtr->next_in = in;
        zPtr->avail_in = (uInt) n;
        do {
            zPtr->next_out = out;
            zPtr->avail_out = CHUNK_BYTES;
            result = deflate(zPtr, n == 0 ? Z_FINISH : Z_NO_FLUSH);
            NsAssert(result != Z_STREAM_ERROR);
            isOk = NsWriteAll(to, out, CHUNK_BYTES - zPtr->avail_out);
        } while (isOk && zPtr->avail_out == 0);
        NsAssert(!isOk || zPtr->avail_in == 0);
    } while (isOk && n > 0);
    reason = errno;
    ns_free(in);
    errno = reason;
    return isOk;
}

/*
 * Give the result the name that the backup has by now, and remove the backup
 * once that is on disk.  A backup that has gone takes its result with it; one
 * that has grown (EAGAIN) waits for the next roll.
 */
static bool
TakeOver(NsBacklog *backlogPtr, Place *placePtr, const char *request,
         ino_t inode, int64_t bytes)
{
    Ns_DString  path;
    struct stat st;
    bool        isOk, isRenamed = false;
    int         reason;

    Ns_DStringInit(&path);
    Ns_MutexLock(&backlogPtr->lock);
    if (!FindLocked(backlogPtr, placePtr, inode, &path)) {
        isOk = unlink(request) == 0;
    } else if (lstat(Ns_DStringValue(&path), &st) != 0 || st.st_size != bytes) {
        errno = EAGAIN;
        isOk = false;
    } else {
        Ns_DStringAppend(&path, SUFFIX);
        isOk = isRenamed = rename(request, Ns_DStringValue(&path)) == 0;
    }
    reason = errno;
    Ns_MutexUnlock(&backlogPtr->lock);
    Ns_DStringFree(&path);
    errno = reason;
    if (isRenamed) {
        isOk = NsDirectorySync(PathIn(placePtr, ".")) || errno == EINVAL;
        if (isOk) {
            RemoveDone(backlogPtr, placePtr);
        }
    }
    return isOk;
}

/*
 * Delete backups whose result is there: both have the same time.
 */
static void
RemoveDone(NsBacklog *backlogPtr, Place *placePtr)
{
    struct stat plain, zipped;
    Names       names = {NULL, 0};

    Ns_MutexLock(&backlogPtr->lock);
    Collect(placePtr, false, &names);
    for (int i = 0; i < names.n; i++) {
        const char *path = PathIn(placePtr, names.names[i]);
        size_t      n = strlen(path) - strlen(SUFFIX);

        if (HasSuffix(path) && lstat(path, &zipped) == 0) {
            char *original = ns_strncopy(path, (ssize_t) n);

            if (lstat(original, &plain) == 0 && S_ISREG(plain.st_mode)
                && !NsOpenFilesHave(&plain)
                && plain.st_mtim.tv_sec == zipped.st_mtim.tv_sec
                && plain.st_mtim.tv_nsec == zipped.st_mtim.tv_nsec) {
                unlink(original);
            }
            ns_free(original);
        }
    }
    FreeNames(&names);
    Ns_MutexUnlock(&backlogPtr->lock);
}

static void
EnterPlace(Place *placePtr, const char *file)
{
    const char *slash = strrchr(file, '/');

    Ns_DStringInit(&placePtr->path);
    if (slash != NULL) {
        Ns_DStringNAppend(&placePtr->path, file, (int) (slash - file) + 1);
    }
    placePtr->nPath = Ns_DStringLength(&placePtr->path);
    snprintf(placePtr->tail, sizeof(placePtr->tail), "%s",
             slash != NULL ? slash + 1 : file);
}

/*
 * Valid until the next call.
 */
static const char *
PathIn(Place *placePtr, const char *name)
{
    Ns_DStringSetLength(&placePtr->path, placePtr->nPath);
    Ns_DStringAppend(&placePtr->path, name);
    return Ns_DStringValue(&placePtr->path);
}

/*
 * Likewise, the request for the backup of an inode.
 */
static const char *
RequestIn(Place *placePtr, uint64_t inode)
{
    Ns_DStringSetLength(&placePtr->path, placePtr->nPath);
    Ns_DStringPrintf(&placePtr->path, ".%s" REQUEST "%" PRIu64, placePtr->tail,
                     inode);
    return Ns_DStringValue(&placePtr->path);
}

/*
 * The names of the log's requests, or of what may be its backups.
 */
static void
Collect(Place *placePtr, bool isRequest, Names *namesPtr)
{
    DIR           *dir = opendir(PathIn(placePtr, "."));
    struct dirent *entPtr;
    size_t         nTail = strlen(placePtr->tail);

    while (dir != NULL && (entPtr = readdir(dir)) != NULL) {
        const char *name = entPtr->d_name + (isRequest ? 1 : 0);

        if ((!isRequest || entPtr->d_name[0] == '.')
            && strncmp(name, placePtr->tail, nTail) == 0
            && (isRequest ? strncmp(name + nTail, REQUEST, strlen(REQUEST)) == 0
                          : name[nTail] == '.')) {
            namesPtr->names = ns_realloc(namesPtr->names,
                                         (size_t) (namesPtr->n + 1)
                                             * sizeof(namesPtr->names[0]));
            namesPtr->names[namesPtr->n++] = ns_strdup(entPtr->d_name);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

static void
FreeNames(Names *namesPtr)
{
    for (int i = 0; i < namesPtr->n; i++) {
        ns_free(namesPtr->names[i]);
    }
    ns_free(namesPtr->names);
}

static bool
HasSuffix(const char *name)
{
    size_t n = strlen(name);

    return n > strlen(SUFFIX) && STREQ(name + n - strlen(SUFFIX), SUFFIX);
}
