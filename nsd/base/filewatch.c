/* SPDX-License-Identifier: MPL-2.0
 * filewatch.c --
 *
 *      Files whose changes the kernel reports.
 *
 *      The kernel watches inodes: the file's, and those of the directories and
 *      symbolic links on the way to it, since each of them could be replaced.
 *      Directories are watched for their own fate, not for what happens in
 *      them: something new can take a name only when the old is moved or
 *      deleted.  An inode that has reported is watched no longer: what depends
 *      on it is made anew.
 */

#include "base/filewatch.h"

#include <limits.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/lock.h"

#define MAX_STEPS  64 /* On the way to one file. */
#define MAX_LINKS  16
#define QUEUE_READ 4096

#define FATE    (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_DONT_FOLLOW)
#define CONTENT (IN_MODIFY | IN_CLOSE_WRITE)

/*
 * An inode that the kernel watches.
 */
typedef struct Inode {
    int         id;          /* The kernel's; constant. */
    bool        hasReported; /* No longer watched, nor in the table. */
    struct Use *firstPtr;    /* The files that depend on it; at least one. */
} Inode;

typedef struct Use {
    Inode       *inodePtr;
    NsFileWatch *watchPtr;
    struct Use  *nextPtr;
    struct Use  *prevPtr;
} Use;

struct NsFileWatch {
    atomic_bool hasChanged; /* Set under the lock, once; release. */
    int         nUses;      /* Constant once it is there. */
    Use         uses[];     /* Guarded by the lock. */
};

/*
 * An inode on the way to a file, and a name that led to it.
 */
typedef struct Step {
    char *path;
    dev_t device;
    ino_t number;
    bool  isFile;
} Step;

/*
 * A name on its way to its file.
 */
typedef struct Walk {
    char   path[PATH_MAX]; /* Absolute. */
    size_t at;             /* The component that comes next. */
    int    nLinks;
    dev_t  device; /* Of the file system that was found fit last. */
    int    nSteps;
    Step   steps[MAX_STEPS];
} Walk;

static int queueFd = -1; /* Constant after NsFileWatchInit. */

static atomic_int nTaking; /* Threads between a report's leaving the queue and
                            * its becoming known. */

static Ns_Mutex      lock;   /* Guards the rest, NS_RANK_FILE_WATCH. */
static Tcl_HashTable inodes; /* Kernel's id -> Inode. */

static NsFileWatch *WatchWay(const Walk *walkPtr, bool *isShortPtr);
static bool         IsSameWay(const Walk *walkPtr);
static bool         Follow(Walk *walkPtr);
static bool         Pass(Walk *walkPtr, const struct stat *statusPtr);
static bool         FollowLink(Walk *walkPtr, size_t end);
static bool         IsFit(Walk *walkPtr, const struct stat *statusPtr);
static Inode       *GetInodeLocked(int id);
static void         DropUnusedLocked(Inode *inodePtr);
static void         RetireLocked(Inode *inodePtr);
static void         BindLocked(NsFileWatch *watchPtr, Inode *inodePtr);
static void         NoteLocked(const struct inotify_event *eventPtr);
static void         NoteAllLocked(void);
static void         NoteInodeLocked(const Inode *inodePtr);

Ns_ReturnCode
NsFileWatchInit(void)
{
    NsAssert(queueFd < 0);
    NsMutexSetup(&lock, NS_RANK_FILE_WATCH, "ns:filewatch", NULL);
    Tcl_InitHashTable(&inodes, TCL_ONE_WORD_KEYS);
    queueFd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return queueFd >= 0 ? NS_OK : NS_ERROR;
}

int
NsFileWatchFd(void)
{
    return queueFd;
}

/*
 * The count goes up before anything leaves the queue, and down when it is
 * known: a thread that finds the queue empty and the count 0 knows it all.
 */
void
NsFileWatchTake(void)
{
    _Alignas(struct inotify_event) char events[QUEUE_READ];
    ssize_t                             n;

    atomic_fetch_add(&nTaking, 1);
    Ns_MutexLock(&lock);
    while ((n = read(queueFd, events, sizeof(events))) > 0) {
        const struct inotify_event *eventPtr;

        for (ssize_t at = 0; at < n;
             at += (ssize_t) (sizeof(*eventPtr) + eventPtr->len)) {
            eventPtr = (const void *) (events + at);
            NoteLocked(eventPtr);
        }
    }
    Ns_MutexUnlock(&lock);
    atomic_fetch_sub(&nTaking, 1);
}

void
NsFileWatchTakeAll(void)
{
    atomic_fetch_add(&nTaking, 1);
    Ns_MutexLock(&lock);
    NoteAllLocked();
    Ns_MutexUnlock(&lock);
    atomic_fetch_sub(&nTaking, 1);
}

bool
NsFileWatchIsQuiet(void)
{
    return atomic_load(&nTaking) == 0;
}

bool
NsFileWatchKnows(NsLook look)
{
    int nBytes;

    if (look.stamp != 0 && look.isInformed) {
        return true;
    }
    if (queueFd < 0 || ioctl(queueFd, FIONREAD, &nBytes) != 0) {
        return false;
    }
    if (nBytes > 0) {
        NsFileWatchTake();
    }
    return NsFileWatchIsQuiet();
}

bool
NsFileWatchIsSame(const NsFileWatch *watchPtr)
{
    return watchPtr != NULL
        && !atomic_load_explicit(&watchPtr->hasChanged, memory_order_acquire);
}

/*
 * The way and the state are compared when all is watched: a later change is
 * reported.
 */
NsFileWatch *
NsFileWatchCreate(const char *path, const NsFileState *statePtr,
                  bool *isShortPtr)
{
    NsFileWatch *watchPtr = NULL;
    Walk         walk;

    *isShortPtr = false;
    if (queueFd < 0 || *path != '/' || strlen(path) >= sizeof(walk.path)) {
        return NULL;
    }
    walk.at = 1;
    walk.nLinks = 0;
    walk.device = 0;
    walk.nSteps = 0;
    strcpy(walk.path, path);
    if (Follow(&walk)) {
        watchPtr = WatchWay(&walk, isShortPtr);
    }
    if (watchPtr != NULL
        && !(IsSameWay(&walk) && NsFileStateIsCurrent(statePtr, path))) {
        NsFileWatchFree(watchPtr);
        watchPtr = NULL;
    }
    for (int i = 0; i < walk.nSteps; i++) {
        ns_free(walk.steps[i].path);
    }
    return watchPtr;
}

/*
 * Nothing here waits for a disk with the lock held: each name was looked up
 * just before.
 */
static NsFileWatch *
WatchWay(const Walk *walkPtr, bool *isShortPtr)
{
    NsFileWatch *watchPtr =
        ns_calloc(1u,
                  sizeof(*watchPtr) + (size_t) walkPtr->nSteps * sizeof(Use));
    int reason = 0;

    Ns_MutexLock(&lock);
    for (int i = 0; i < walkPtr->nSteps; i++) {
        const Step *stepPtr = &walkPtr->steps[i];
        uint32_t    what = stepPtr->isFile ? FATE | CONTENT : FATE;
        int         id = inotify_add_watch(queueFd, stepPtr->path, what);

        if (id < 0) {
            reason = errno;
            break;
        }
        BindLocked(watchPtr, GetInodeLocked(id));
    }
    Ns_MutexUnlock(&lock);
    if (watchPtr->nUses < walkPtr->nSteps) {
        NsFileWatchFree(watchPtr);
        watchPtr = NULL;
        *isShortPtr = reason == ENOSPC || reason == ENOMEM;
    }
    return watchPtr;
}

static bool
IsSameWay(const Walk *walkPtr)
{
    for (int i = 0; i < walkPtr->nSteps; i++) {
        const Step *stepPtr = &walkPtr->steps[i];
        struct stat status;

        if (lstat(stepPtr->path, &status) != 0
            || status.st_dev != stepPtr->device
            || status.st_ino != stepPtr->number) {
            return false;
        }
    }
    return true;
}

void
NsFileWatchFree(NsFileWatch *watchPtr)
{
    if (watchPtr == NULL) {
        return;
    }
    Ns_MutexLock(&lock);
    for (int i = 0; i < watchPtr->nUses; i++) {
        Use *usePtr = &watchPtr->uses[i];

        NsAssert(usePtr->watchPtr == watchPtr);
        if (usePtr->prevPtr != NULL) {
            usePtr->prevPtr->nextPtr = usePtr->nextPtr;
        } else {
            usePtr->inodePtr->firstPtr = usePtr->nextPtr;
        }
        if (usePtr->nextPtr != NULL) {
            usePtr->nextPtr->prevPtr = usePtr->prevPtr;
        }
        DropUnusedLocked(usePtr->inodePtr);
    }
    Ns_MutexUnlock(&lock);
    ns_free(watchPtr);
}

/*
 * Note every inode on the way.
 */
static bool
Follow(Walk *walkPtr)
{
    while (walkPtr->path[walkPtr->at] != '\0') {
        size_t end = walkPtr->at + strcspn(walkPtr->path + walkPtr->at, "/");
        char   stop = walkPtr->path[end];
        char   rest[PATH_MAX];
        struct stat status;

        if (end == walkPtr->at) {
            walkPtr->at++;
            continue;
        }
        strcpy(rest, walkPtr->path + end);
        walkPtr->path[end] = '\0';
        if (lstat(walkPtr->path, &status) != 0 || !Pass(walkPtr, &status)) {
            return false;
        }
        if (!S_ISLNK(status.st_mode)) {
            walkPtr->path[end] = stop;
            walkPtr->at = end;
        } else if (FollowLink(walkPtr, end)
                   && strlen(walkPtr->path) + strlen(rest) < PATH_MAX) {
            strcat(walkPtr->path, rest);
            walkPtr->at = 1;
        } else {
            return false;
        }
    }
    return walkPtr->nSteps > 0;
}

/*
 * Note the inode that path leads to; behind a link the way may begin again.
 */
static bool
Pass(Walk *walkPtr, const struct stat *statusPtr)
{
    for (int i = 0; i < walkPtr->nSteps; i++) {
        if (walkPtr->steps[i].device == statusPtr->st_dev
            && walkPtr->steps[i].number == statusPtr->st_ino) {
            return true;
        }
    }
    if (walkPtr->nSteps == MAX_STEPS || !IsFit(walkPtr, statusPtr)) {
        return false;
    }
    walkPtr->steps[walkPtr->nSteps++] = (Step){
        .path = ns_strdup(walkPtr->path),
        .device = statusPtr->st_dev,
        .number = statusPtr->st_ino,
        .isFile = S_ISREG(statusPtr->st_mode)};
    return true;
}

/*
 * Put the target in place of the link, whose name ends the path.
 */
static bool
FollowLink(Walk *walkPtr, size_t end)
{
    char    target[PATH_MAX];
    ssize_t n = readlink(walkPtr->path, target, sizeof(target) - 1u);
    size_t  start;

    if (n <= 0 || ++walkPtr->nLinks > MAX_LINKS) {
        return false;
    }
    target[n] = '\0';
    NsAssert(walkPtr->path[end] == '\0');
    start = *target == '/'
        ? 0u
        : (size_t) (strrchr(walkPtr->path, '/') - walkPtr->path) + 1u;
    if (start + (size_t) n >= sizeof(walkPtr->path)) {
        return false;
    }
    strcpy(walkPtr->path + start, target);
    return true;
}

/*
 * Asked once per file system on the way.
 */
static bool
IsFit(Walk *walkPtr, const struct stat *statusPtr)
{
    if (statusPtr->st_dev != walkPtr->device) {
        if (!NsFileWatchIsFit(walkPtr->path)) {
            return false;
        }
        walkPtr->device = statusPtr->st_dev;
    }
    return true;
}

bool
NsFileWatchIsFit(const char *path)
{
    static const unsigned long fit[] = {
        0xEF53,      /* ext2 to ext4 */
        0x58465342,  /* xfs */
        0x9123683E,  /* btrfs */
        0x01021994,  /* tmpfs */
        0x858458F6,  /* ramfs */
        0x2FC12FC1,  /* zfs */
        0xF2F52010,  /* f2fs */
        0x794C7630,  /* overlayfs */
        0x73717368,  /* squashfs */
        0xE0F5E1E2,  /* erofs */
        0xCA451A4E}; /* bcachefs */
    struct statfs system;

    if (statfs(path, &system) != 0) {
        return false;
    }
    for (int i = 0; i < Ns_NrElements(fit); i++) {
        if ((unsigned long) system.f_type == fit[i]) {
            return true;
        }
    }
    return false;
}

static Inode *
GetInodeLocked(int id)
{
    Tcl_HashEntry *entryPtr;
    Inode         *inodePtr;
    int            isNew;

    NsAssertLocked(&lock);
    entryPtr = Tcl_CreateHashEntry(&inodes, INT2PTR(id), &isNew);
    if (isNew) {
        inodePtr = ns_calloc(1u, sizeof(*inodePtr));
        inodePtr->id = id;
        Tcl_SetHashValue(entryPtr, inodePtr);
    } else {
        inodePtr = Tcl_GetHashValue(entryPtr);
    }
    return inodePtr;
}

static void
DropUnusedLocked(Inode *inodePtr)
{
    NsAssertLocked(&lock);
    if (inodePtr->firstPtr == NULL) {
        if (!inodePtr->hasReported) {
            RetireLocked(inodePtr);
        }
        ns_free(inodePtr);
    }
}

/*
 * End the watch, after which the kernel gives the inode another id.
 */
static void
RetireLocked(Inode *inodePtr)
{
    NsAssertLocked(&lock);
    NsAssert(!inodePtr->hasReported);
    Tcl_DeleteHashEntry(Tcl_FindHashEntry(&inodes, INT2PTR(inodePtr->id)));
    /* Fails if the inode is gone: the kernel ended the watch itself. */
    (void) inotify_rm_watch(queueFd, inodePtr->id);
    inodePtr->hasReported = true;
}

static void
BindLocked(NsFileWatch *watchPtr, Inode *inodePtr)
{
    Use *usePtr = &watchPtr->uses[watchPtr->nUses++];

    NsAssertLocked(&lock);
    NsAssert(!inodePtr->hasReported);
    *usePtr = (Use){.inodePtr = inodePtr,
                    .watchPtr = watchPtr,
                    .nextPtr = inodePtr->firstPtr};
    if (usePtr->nextPtr != NULL) {
        usePtr->nextPtr->prevPtr = usePtr;
    }
    inodePtr->firstPtr = usePtr;
}

/*
 * A directory's report with a name is about a file in it.  An inode that is not
 * in the table has reported before.
 */
static void
NoteLocked(const struct inotify_event *eventPtr)
{
    Tcl_HashEntry *entryPtr;

    NsAssertLocked(&lock);
    if ((eventPtr->mask & IN_Q_OVERFLOW) != 0u) {
        NoteAllLocked();
        return;
    }
    entryPtr = Tcl_FindHashEntry(&inodes, INT2PTR(eventPtr->wd));
    if (entryPtr != NULL && eventPtr->len == 0u) {
        Inode *inodePtr = Tcl_GetHashValue(entryPtr);

        NoteInodeLocked(inodePtr);
        RetireLocked(inodePtr);
    }
}

static void
NoteAllLocked(void)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr = Tcl_FirstHashEntry(&inodes, &search);

    NsAssertLocked(&lock);
    while (entryPtr != NULL) {
        NoteInodeLocked(Tcl_GetHashValue(entryPtr));
        entryPtr = Tcl_NextHashEntry(&search);
    }
}

static void
NoteInodeLocked(const Inode *inodePtr)
{
    NsAssertLocked(&lock);
    for (const Use *usePtr = inodePtr->firstPtr; usePtr != NULL;
         usePtr = usePtr->nextPtr) {
        NsAssert(usePtr->inodePtr == inodePtr);
        atomic_store_explicit(&usePtr->watchPtr->hasChanged, true,
                              memory_order_release);
    }
}
