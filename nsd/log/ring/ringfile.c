/* SPDX-License-Identifier: MPL-2.0
 * ringfile.c --
 *
 *      Files of mappings: names, locks, and which of them are open here.
 */

#include "log/ring/ring_int.h"

#include "base/lock.h"
#include "nsthread.h"

/* Between key and time in a name: when it is complete, and before. */
#define NAMED   '.'
#define UNNAMED '+'

NsRingKey nsRingKey;

static Ns_Mutex    openLock; /* Guards what follows. */
static NsRingFile *firstOpen;

static int ListNames(const NsRingKey *keyPtr, char separator, char ***pathsPtr);
static void AppendPrefix(Ns_DString *dsPtr, const NsRingKey *keyPtr,
                         char separator);
static int  ByName(const void *left, const void *right);

void
NsRingFileInit(void)
{
    NsMutexSetup(&openLock, NS_RANK_LOG_MAPPINGS, "ns:log", "mappings");
}

int
NsRingList(const NsRingKey *keyPtr, char ***pathsPtr)
{
    return ListNames(keyPtr, NAMED, pathsPtr);
}

void
NsRingSweep(const NsRingKey *keyPtr)
{
    char **paths;
    int    n = ListNames(keyPtr, UNNAMED, &paths);

    for (int i = 0; i < n; i++) {
        int fd = NsRingFileIsOpen(paths[i])
            ? -1
            : open(paths[i], O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        if (fd >= 0) {
            if (NsRingFileLock(fd)) {
                unlink(paths[i]);
            }
            close(fd);
        }
        ns_free(paths[i]);
    }
    ns_free(paths);
}

static int
ListNames(const NsRingKey *keyPtr, char separator, char ***pathsPtr)
{
    DIR           *dir = opendir(keyPtr->directory);
    struct dirent *entPtr;
    Ns_DString     prefix, path;
    char         **paths = NULL;
    int            n = 0;

    *pathsPtr = NULL;
    if (dir == NULL) {
        return 0;
    }
    Ns_DStringInit(&prefix);
    Ns_DStringInit(&path);
    AppendPrefix(&prefix, keyPtr, separator);
    while ((entPtr = readdir(dir)) != NULL) {
        if (strncmp(entPtr->d_name, Ns_DStringValue(&prefix),
                    (size_t) Ns_DStringLength(&prefix))
            == 0) {
            Ns_DStringSetLength(&path, 0);
            Ns_DStringVarAppend(&path, keyPtr->directory, "/", entPtr->d_name,
                                (char *) NULL);
            paths = ns_realloc(paths, (size_t) (n + 1) * sizeof(*paths));
            paths[n++] = ns_strdup(Ns_DStringValue(&path));
        }
    }
    closedir(dir);
    Ns_DStringFree(&prefix);
    Ns_DStringFree(&path);
    if (n > 1) {
        qsort(paths, (size_t) n, sizeof(*paths), ByName);
    }
    *pathsPtr = paths;
    return n;
}

static void
AppendPrefix(Ns_DString *dsPtr, const NsRingKey *keyPtr, char separator)
{
    NsRingAppendServer(dsPtr, keyPtr);
    Ns_DStringNAppend(dsPtr, &separator, 1);
}

void
NsRingAppendServer(Ns_DString *dsPtr, const NsRingKey *keyPtr)
{
    uint64_t sum = NsRingSum(1, keyPtr->home, strlen(keyPtr->home));

    if (keyPtr->configFile != NULL) {
        sum = NsRingSum(sum, keyPtr->configFile, strlen(keyPtr->configFile));
    }
    Ns_DStringPrintf(dsPtr, "nsd-%016" PRIx64, sum);
}

static int
ByName(const void *left, const void *right)
{
    return strcmp(*(char *const *) left, *(char *const *) right);
}

int
NsRingFileCreate(const NsRingKey *keyPtr, size_t bytes, Ns_DString *pathPtr,
                 const char **reasonPtr)
{
    int fd = NsRingFileBegin(keyPtr, pathPtr), status;

    *reasonPtr = NULL;
    if (fd < 0) {
        *reasonPtr = strerror(errno);
        return -1;
    }
    /* A store into a page that cannot be had would be SIGBUS. */
    status = posix_fallocate(fd, 0, (off_t) bytes);
    if (status != 0) {
        unlink(Ns_DStringValue(pathPtr));
        close(fd);
        *reasonPtr = strerror(status);
        errno = status;
        return -1;
    }
    return fd;
}

/*
 * A file, locked, under a name that nobody looks for but NsRingSweep; that may
 * come before we have the lock.
 */
int
NsRingFileBegin(const NsRingKey *keyPtr, Ns_DString *pathPtr)
{
    struct stat st;
    int         fd;

    Ns_DStringSetLength(pathPtr, 0);
    Ns_DStringVarAppend(pathPtr, keyPtr->directory, "/", (char *) NULL);
    AppendPrefix(pathPtr, keyPtr, UNNAMED);
    Ns_DStringPrintf(pathPtr, "%020" PRId64 "-%d", NsLogClock(), getpid());
    for (;;) {
        fd = open(Ns_DStringValue(pathPtr),
                  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            return -1;
        }
        if (NsRingFileLock(fd) && fstat(fd, &st) == 0 && st.st_nlink > 0) {
            return fd;
        }
        close(fd);
    }
}

/*
 * Names carry the time, so they are never used twice and sort by age.
 */
bool
NsRingFileName(const NsRingKey *keyPtr, Ns_DString *pathPtr)
{
    Ns_DString prefix;
    char      *old = ns_strdup(Ns_DStringValue(pathPtr));
    bool       isOk;

    Ns_DStringInit(&prefix);
    AppendPrefix(&prefix, keyPtr, UNNAMED);
    /* The separator is the last character of the prefix. */
    Ns_DStringValue(pathPtr)[strlen(keyPtr->directory)
                             + (size_t) Ns_DStringLength(&prefix)] = NAMED;
    Ns_DStringFree(&prefix);
    isOk = rename(old, Ns_DStringValue(pathPtr)) == 0;
    if (!isOk) {
        int reason = errno;

        unlink(old);
        errno = reason;
    }
    ns_free(old);
    return isOk;
}

/*
 * A lock of this process, not shared with its children, so that a child that
 * lives on does not keep the next server from the mapping.  Such a lock does
 * not keep out the process itself, and is gone when the process closes any
 * descriptor of the file; so that must not be opened twice.
 */
bool
NsRingFileLock(int fd)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_SETLK, &range) == 0;
}

pid_t
NsRingHolder(const char *path)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int   fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    pid_t holder = 0;

    if (fd >= 0) {
        if (fcntl(fd, F_GETLK, &range) == 0 && range.l_type != F_UNLCK) {
            holder = range.l_pid;
        }
        close(fd);
    }
    return holder;
}

bool
NsRingFileIsOpen(const char *path)
{
    const NsRingFile *filePtr;

    Ns_MutexLock(&openLock);
    for (filePtr = firstOpen; filePtr != NULL; filePtr = filePtr->nextPtr) {
        if (STREQ(filePtr->path, path)) {
            break;
        }
    }
    Ns_MutexUnlock(&openLock);
    return filePtr != NULL;
}

/*
 * The caller is its first user.
 */
NsRingFile *
NsRingFileAdd(int fd, const char *path)
{
    NsRingFile *filePtr = ns_calloc(1u, sizeof(*filePtr));

    filePtr->fd = fd;
    filePtr->path = ns_strdup(path);
    filePtr->nUsers = 1;
    Ns_MutexLock(&openLock);
    filePtr->nextPtr = firstOpen;
    firstOpen = filePtr;
    Ns_MutexUnlock(&openLock);
    return filePtr;
}

/*
 * Others may still look at the old path, which is not freed.
 */
void
NsRingFileReplace(NsRingFile *filePtr, int fd, char *path)
{
    int old;

    Ns_MutexLock(&openLock);
    old = filePtr->fd;
    filePtr->fd = fd;
    filePtr->path = path;
    Ns_MutexUnlock(&openLock);
    close(old);
}

void
NsRingFileUse(NsRingFile *filePtr)
{
    Ns_MutexLock(&openLock);
    filePtr->nUsers++;
    Ns_MutexUnlock(&openLock);
}

void
NsRingFileRelease(NsRingFile *filePtr, bool isDone)
{
    NsRingFile **linkPtr = &firstOpen;

    Ns_MutexLock(&openLock);
    filePtr->isKept |= !isDone;
    if (--filePtr->nUsers == 0) {
        while (*linkPtr != filePtr) {
            linkPtr = &(*linkPtr)->nextPtr;
        }
        *linkPtr = filePtr->nextPtr;
        if (!filePtr->isKept) {
            unlink(filePtr->path);
        }
        close(filePtr->fd);
        ns_free(filePtr->path);
        ns_free(filePtr);
    }
    Ns_MutexUnlock(&openLock);
}
