/* SPDX-License-Identifier: MPL-2.0
 * treewatch.c --
 *
 *      Directories with all below them.
 *
 *      A round goes through all directories.  Each is watched before its names
 *      are read: what comes later is reported, and leads to another round.
 */

#include "base/treewatch.h"

#include <dirent.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "nsthread.h"
#include "base/assert.h"
#include "base/filestate.h"
#include "base/filewatch.h"

#define REST_MS    50   /* Without a report: what was going on is done. */
#define MAX_RESTS  20   /* Something always is. */
#define BLIND_MS   1000 /* Between two rounds without the kernel's help. */
#define QUEUE_READ 4096

#define EVENTS                                                       \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY \
     | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

typedef struct File {
    NsFileState state;
    unsigned    round; /* In which it was seen last. */
} File;

/*
 * Constant, but for stopFd: owned by the thread that waits.
 */
struct NsTreeWatch {
    NsTreeWantProc *wantProc;
    int             queueFd; /* Of inotify. */
    int             stopFd;  /* Any thread writes to it. */
    Ns_DString      roots;   /* A list. */
    Tcl_HashTable   files;   /* Path -> File. */
    unsigned        round;
    int             blindness; /* An errno, found in the last round. */
};

/*
 * A round.
 */
typedef struct Look {
    NsTreeWatch  *treePtr;
    Tcl_HashTable seen;     /* Directories, by device and inode. */
    Ns_DString   *filesPtr; /* What has changed; NULL: is not asked. */
} Look;

static bool Rest(NsTreeWatch *treePtr);
static int  WaitForReport(NsTreeWatch *treePtr, int ms);
static void LookAround(NsTreeWatch *treePtr, const char *root,
                       Ns_DString *filesPtr);
static void LookAtRoot(Look *lookPtr, const char *root);
static void LookAt(Look *lookPtr, const char *path);
static bool IsSeen(Look *lookPtr, const struct stat *statusPtr);
static void Watch(NsTreeWatch *treePtr, const char *directory, uint32_t what);
static void NoteFile(Look *lookPtr, const char *path,
                     const struct stat *statusPtr);
static void DropGone(NsTreeWatch *treePtr, Ns_DString *filesPtr);

NsTreeWatch *
NsTreeWatchCreate(NsTreeWantProc *wantProc)
{
    NsTreeWatch *treePtr;
    int          queueFd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), stopFd;

    NsAssert(wantProc != NULL);
    if (queueFd < 0) {
        return NULL;
    }
    stopFd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stopFd < 0) {
        NsClose(queueFd);
        return NULL;
    }
    treePtr = ns_calloc(1, sizeof(*treePtr));
    treePtr->wantProc = wantProc;
    treePtr->queueFd = queueFd;
    treePtr->stopFd = stopFd;
    Ns_DStringInit(&treePtr->roots);
    Tcl_InitHashTable(&treePtr->files, TCL_STRING_KEYS);
    return treePtr;
}

void
NsTreeWatchDestroy(NsTreeWatch **treePtrPtr)
{
    NsTreeWatch *treePtr = *treePtrPtr;

    treePtr->round++;
    DropGone(treePtr, NULL);
    Tcl_DeleteHashTable(&treePtr->files);
    Ns_DStringFree(&treePtr->roots);
    NsClose(treePtr->queueFd);
    NsClose(treePtr->stopFd);
    ns_free(treePtr);
    *treePtrPtr = NULL;
}

void
NsTreeWatchAdd(NsTreeWatch *treePtr, const char *directory)
{
    NsAssert(*directory == '/');
    Tcl_DStringAppendElement(&treePtr->roots, directory);
    LookAround(treePtr, directory, NULL);
}

bool
NsTreeWatchWait(NsTreeWatch *treePtr, Ns_DString *filesPtr)
{
    int before = Tcl_DStringLength(filesPtr);

    do {
        int ms = treePtr->blindness != 0 ? BLIND_MS : -1;

        if (WaitForReport(treePtr, ms) < 0 || !Rest(treePtr)) {
            return false;
        }
        LookAround(treePtr, NULL, filesPtr);
    } while (Tcl_DStringLength(filesPtr) == before);
    return true;
}

void
NsTreeWatchStop(NsTreeWatch *treePtr)
{
    const uint64_t one = 1;
    ssize_t        n = write(treePtr->stopFd, &one, sizeof(one));

    /* It fails only when the wait has been ended very often. */
    NsAssert(n == (ssize_t) sizeof(one) || errno == EAGAIN);
}

int
NsTreeWatchBlindness(const NsTreeWatch *treePtr)
{
    return treePtr->blindness;
}

/*
 * An editor that saves, or a branch that is checked out, takes many steps.
 * False: it was stopped.
 */
static bool
Rest(NsTreeWatch *treePtr)
{
    int result = 1;

    for (int i = 0; i < MAX_RESTS && result > 0; i++) {
        result = WaitForReport(treePtr, REST_MS);
    }
    return result >= 0;
}

/*
 * -1: it was stopped.  0: nothing was reported in that time.
 */
static int
WaitForReport(NsTreeWatch *treePtr, int ms)
{
    struct pollfd fds[] = {{.fd = treePtr->stopFd, .events = POLLIN},
                           {.fd = treePtr->queueFd, .events = POLLIN}};
    char          events[QUEUE_READ];
    int           n;

    do {
        n = poll(fds, Ns_NrElements(fds), ms);
    } while (n < 0 && errno == EINTR);
    NsAssert(n >= 0);
    if (fds[0].revents != 0) {
        return -1;
    }
    /* Not what they say: that there are some. */
    while (read(treePtr->queueFd, events, sizeof(events)) > 0) {
        continue;
    }
    return n;
}

/*
 * A round; or (root) only there, in which nothing is known to be gone.
 */
static void
LookAround(NsTreeWatch *treePtr, const char *root, Ns_DString *filesPtr)
{
    Look         look = {.treePtr = treePtr, .filesPtr = filesPtr};
    const char **roots;
    int          nRoots;

    Tcl_InitHashTable(&look.seen, TCL_STRING_KEYS);
    if (root != NULL) {
        LookAtRoot(&look, root);
    } else {
        treePtr->round++;
        treePtr->blindness = 0;
        (void) Tcl_SplitList(NULL, treePtr->roots.string, &nRoots, &roots);
        for (int i = 0; i < nRoots; i++) {
            LookAtRoot(&look, roots[i]);
        }
        Tcl_Free((char *) roots);
        DropGone(treePtr, filesPtr);
    }
    Tcl_DeleteHashTable(&look.seen);
}

/*
 * One that is not there may be made: what is there of its path is watched.
 */
static void
LookAtRoot(Look *lookPtr, const char *root)
{
    Ns_DString ds;
    char      *slash;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, root);
    while (access(ds.string, F_OK) != 0
           && (slash = strrchr(ds.string, '/')) != NULL && slash != ds.string) {
        *slash = '\0';
        Watch(lookPtr->treePtr, ds.string, IN_CREATE | IN_MOVED_TO);
    }
    Ns_DStringFree(&ds);
    LookAt(lookPtr, root);
}

/*
 * A name may lead to a directory that was seen before, by a link.
 */
static void
LookAt(Look *lookPtr, const char *path)
{
    struct stat    status;
    struct dirent *entryPtr;
    DIR           *dir;
    Ns_DString     below;

    if (stat(path, &status) != 0) {
        return;
    }
    if (!S_ISDIR(status.st_mode)) {
        if (S_ISREG(status.st_mode)
            && lookPtr->treePtr->wantProc(strrchr(path, '/') + 1)) {
            NoteFile(lookPtr, path, &status);
        }
        return;
    }
    if (IsSeen(lookPtr, &status)) {
        return;
    }
    Watch(lookPtr->treePtr, path, EVENTS);
    dir = opendir(path);
    if (dir == NULL) {
        return;
    }
    Ns_DStringInit(&below);
    while ((entryPtr = readdir(dir)) != NULL) {
        if (entryPtr->d_name[0] != '.'
            && !STREQ(entryPtr->d_name, "node_modules")) {
            Ns_DStringSetLength(&below, 0);
            Ns_DStringVarAppend(&below, path, "/", entryPtr->d_name,
                                (char *) NULL);
            LookAt(lookPtr, below.string);
        }
    }
    Ns_DStringFree(&below);
    (void) closedir(dir);
}

static bool
IsSeen(Look *lookPtr, const struct stat *statusPtr)
{
    char key[64];
    int  isNew;

    (void) snprintf(key, sizeof(key), "%" PRIu64 ":%" PRIu64,
                    (uint64_t) statusPtr->st_dev, (uint64_t) statusPtr->st_ino);
    (void) Tcl_CreateHashEntry(&lookPtr->seen, key, &isNew);
    return !isNew;
}

/*
 * Again in each round: a directory that has this name now may be another one.
 */
static void
Watch(NsTreeWatch *treePtr, const char *directory, uint32_t what)
{
    what |= IN_ONLYDIR | IN_MASK_ADD;
    if (inotify_add_watch(treePtr->queueFd, directory, what) < 0) {
        treePtr->blindness = errno == ENOENT ? treePtr->blindness : errno;
    } else if (!NsFileWatchIsFit(directory)) {
        treePtr->blindness = EXDEV;
    }
}

static void
NoteFile(Look *lookPtr, const char *path, const struct stat *statusPtr)
{
    NsTreeWatch   *treePtr = lookPtr->treePtr;
    Tcl_HashEntry *entryPtr;
    File          *filePtr;
    int            isNew;

    entryPtr = Tcl_CreateHashEntry(&treePtr->files, path, &isNew);
    if (isNew) {
        filePtr = ns_calloc(1, sizeof(*filePtr));
        Tcl_SetHashValue(entryPtr, filePtr);
    } else {
        filePtr = Tcl_GetHashValue(entryPtr);
    }
    filePtr->round = treePtr->round;
    if (isNew || !NsFileStateIs(&filePtr->state, statusPtr)) {
        NsFileStateSet(&filePtr->state, statusPtr);
        if (lookPtr->filesPtr != NULL) {
            Tcl_DStringAppendElement(lookPtr->filesPtr, path);
        }
    }
}

/*
 * Those that the round has not seen.
 */
static void
DropGone(NsTreeWatch *treePtr, Ns_DString *filesPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr = Tcl_FirstHashEntry(&treePtr->files, &search);

    while (entryPtr != NULL) {
        File *filePtr = Tcl_GetHashValue(entryPtr);

        if (filePtr->round != treePtr->round) {
            if (filesPtr != NULL) {
                Tcl_DStringAppendElement(filesPtr,
                                         Tcl_GetHashKey(&treePtr->files,
                                                        entryPtr));
            }
            ns_free(filePtr);
            Tcl_DeleteHashEntry(entryPtr);
        }
        entryPtr = Tcl_NextHashEntry(&search);
    }
}
