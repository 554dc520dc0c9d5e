/* SPDX-License-Identifier: MPL-2.0
 * leftover.c --
 *
 *      The mappings of processes that were killed.
 *
 *      They do not pile up, no matter how often a process is killed while a
 *      sink's target is away: each start frees the memory of what has been
 *      written and collects several files into one.  A process that dies in
 *      between leaves both; the next one uses each mapping once.
 */

#include "log/sink/leftover.h"

#include "base/assert.h"
#include "base/lock.h"
#include "log/sink/spill.h"
#include "log/sink/spillhead.h"
#include "log/sink/spillmove.h"
#include "nslog.h"
#include "nsthread.h"

/*
 * Called for each sink that something is left for.  True: discard it.
 */
typedef bool LeftoverProc(const NsLeftover *leftoverPtr, void *arg);

typedef struct List {
    int         n;
    NsLeftover *leftovers;
} List;

typedef struct Forget {
    const char *sink;
    List        forgotten;
} Forget;

/*
 * Mappings that cannot be read.
 */
typedef struct Unreadable {
    int         n;
    char       *path; /* Of the first one, */
    const char *reason;
} Unreadable;

typedef enum {
    AT_START, /* Unreadable mappings are reported. */
    LATE,
    AGAIN /* Live processes are known already. */
} Moment;

static Ns_Mutex lock; /* Guards the use of files, and what follows. */

/* Mappings of live processes. */
static char **alivePaths;
static int    nAlive;

static int OpenAll(char **paths, int nPaths, Moment moment, NsRing ***ringsPtr);
static NsRing *Open(const char *path, Moment moment, Unreadable *unreadablePtr);
static void    TellAllUnreadable(Unreadable *unreadablePtr);
static int     DropNeedless(NsRing **rings, int n);
static bool    IsAgain(NsRing *const *rings, int n, int i);
static bool    AreInOneFile(NsRing *const *rings, int n);
static int     AddOrphans(const char *directory, NsRing ***ringsPtr, int n);
static bool    IsNamed(const char *path, NsRing *const *rings, int n);
static bool    NamesFile(const NsRing *ringPtr, const char *path);
static NsRing *OpenOrphan(const char *path);
static int     Collect(const NsRingKey *keyPtr, NsRing **rings, int n,
                       int nOrphans);
static LeftoverProc Append;
static LeftoverProc IsToForget;
static void         ForEach(LeftoverProc *proc, void *arg);
static void         TellUnreadable(const char *path, const char *problem,
                                   LeftoverProc *proc, void *arg);
static bool         ForEachIn(NsRing *ringPtr, LeftoverProc *proc, void *arg);
static void         MeasureStream(NsRing *ringPtr, uint32_t stream, int rank,
                                  NsLeftoverSize *sizePtr);

void
NsLeftoverInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LOG_LEFTOVERS, "ns:log", "leftovers");
}

void
NsLeftoverLock(void)
{
    Ns_MutexLock(&lock);
}

void
NsLeftoverUnlock(void)
{
    Ns_MutexUnlock(&lock);
}

void
NsLeftoverAssertLocked(void)
{
    NsAssertLocked(&lock);
}

int
NsLeftoverOpen(const NsRingKey *keyPtr, const char *spillDirectory,
               NsRing ***ringsPtr)
{
    NsRing **rings;
    char   **paths;
    int      nPaths, n, nOrphans = 0;

    NsRingSweep(keyPtr);
    nPaths = NsRingList(keyPtr, &paths);
    n = OpenAll(paths, nPaths, AT_START, &rings);
    NsSpillMove(rings, n);
    if (spillDirectory != NULL) {
        nOrphans = AddOrphans(spillDirectory, &rings, n);
    }
    if (nOrphans > 0 || !AreInOneFile(rings, n)) {
        n = Collect(keyPtr, rings, n, nOrphans);
    }
    for (int i = 0; i < n; i++) {
        NsRingPunch(rings[i]);
    }
    *ringsPtr = rings;
    return n;
}

int
NsLeftoverOpenLateLocked(NsRing ***ringsPtr)
{
    char **paths = alivePaths;
    int    nPaths = nAlive;

    NsAssertLocked(&lock);
    alivePaths = NULL;
    nAlive = 0;
    return OpenAll(paths, nPaths, LATE, ringsPtr);
}

int
NsLeftoverOpenAgainLocked(NsRing ***ringsPtr)
{
    const NsRingKey *keyPtr = &nsRingKey;
    char           **paths;
    int              nPaths;

    NsAssertLocked(&lock);
    if (keyPtr->directory == NULL) {
        *ringsPtr = NULL;
        return 0;
    }
    nPaths = NsRingList(keyPtr, &paths);
    return OpenAll(paths, nPaths, AGAIN, ringsPtr);
}

/*
 * Frees the paths.
 */
static int
OpenAll(char **paths, int nPaths, Moment moment, NsRing ***ringsPtr)
{
    NsRing   **rings = NULL;
    Unreadable unreadable = {0};
    int        n = 0;

    for (int i = 0; i < nPaths; i++) {
        NsRing *ringPtr = access(paths[i], F_OK) == 0
            ? Open(paths[i], moment, &unreadable)
            : NULL;

        for (; ringPtr != NULL; ringPtr = ringPtr->siblingPtr) {
            NsRingCommitPrepared(ringPtr);
            rings = ns_realloc(rings, (size_t) (n + 1) * sizeof(*rings));
            rings[n++] = ringPtr;
        }
        ns_free(paths[i]);
    }
    ns_free(paths);
    if (moment == AT_START) {
        TellAllUnreadable(&unreadable);
    }
    ns_free(unreadable.path);
    *ringsPtr = rings;
    return DropNeedless(rings, n);
}

/*
 * NULL: nothing to open.  Files of live processes are remembered.
 */
static NsRing *
Open(const char *path, Moment moment, Unreadable *unreadablePtr)
{
    const char *reason;
    NsRing     *ringPtr = NsRingOpen(path, false, &reason);

    if (ringPtr == NULL && reason == nsRingEmpty) {
        unlink(path);
    } else if (ringPtr == NULL && reason == nsRingInUse) {
        if (moment != AGAIN) {
            alivePaths = ns_realloc(alivePaths,
                                    (size_t) (nAlive + 1)
                                        * sizeof(*alivePaths));
            alivePaths[nAlive++] = ns_strdup(path);
        }
    } else if (ringPtr == NULL && unreadablePtr->n++ == 0) {
        unreadablePtr->path = ns_strdup(path);
        unreadablePtr->reason = reason;
    }
    for (const NsRing *p = ringPtr; moment == AT_START && p != NULL;
         p = p->siblingPtr) {
        NsLeftoverTellDamage(p);
    }
    return ringPtr;
}

/*
 * One line, however many there are.
 */
static void
TellAllUnreadable(Unreadable *unreadablePtr)
{
    const char *path = unreadablePtr->path;

    if (unreadablePtr->n == 1) {
        Ns_Log(Warning,
               "log: cannot read what an earlier process left in '%s': %s; "
               "'nsd ctl log forget %s' deletes it",
               path, unreadablePtr->reason, path);
    } else if (unreadablePtr->n > 1) {
        int length = (int) (strrchr(path, '/') - path);

        Ns_Log(Warning,
               "log: cannot read what earlier processes left in '%s' and %d "
               "more files: %s; 'nsd --logs --list %.*s' lists them, 'nsd ctl "
               "log forget %.*s' deletes them",
               path, unreadablePtr->n - 1, unreadablePtr->reason, length, path,
               length, path);
    }
}

void
NsLeftoverTellDamage(const NsRing *ringPtr)
{
    if (ringPtr->nDamaged > 0) {
        Ns_Log(Error,
               "log: what process %d left in '%s' is damaged: %d of "
               "its parts are left out, and the rest is recovered",
               (int) ringPtr->headerPtr->pid, ringPtr->path, ringPtr->nDamaged);
    }
}

/*
 * Close and delete what is not needed.  A mapping that exists twice is also in
 * a collection, and has not been read since the collection was made.
 */
static int
DropNeedless(NsRing **rings, int n)
{
    int nKept = 0;

    for (int i = 0; i < n; i++) {
        if (!NsRingIsNeeded(rings[i]) || IsAgain(rings, n, i)) {
            NsRingClose(&rings[i], true);
        }
    }
    for (int i = 0; i < n; i++) {
        if (rings[i] != NULL) {
            rings[nKept++] = rings[i];
        }
    }
    return nKept;
}

static bool
IsAgain(NsRing *const *rings, int n, int i)
{
    const NsRingHeader *headerPtr = rings[i]->headerPtr;

    for (int j = i + 1; j < n; j++) {
        /*
         * They are in one file if they are spill files of a process whose
         * mapping was lost.
         */
        if (rings[j]->headerPtr->epoch == headerPtr->epoch
            && rings[j]->headerPtr->pid == headerPtr->pid
            && !STREQ(rings[j]->path, rings[i]->path)) {
            return true;
        }
    }
    return false;
}

static bool
AreInOneFile(NsRing *const *rings, int n)
{
    for (int i = 1; i < n; i++) {
        if (!STREQ(rings[i]->path, rings[0]->path)) {
            return false;
        }
    }
    return true;
}

/*
 * Append them after the n mappings.  Returns their number.
 */
static int
AddOrphans(const char *directory, NsRing ***ringsPtr, int n)
{
    DIR           *dir = opendir(directory);
    struct dirent *entPtr;
    Ns_DString     path;
    int            nOrphans = 0;

    if (dir == NULL) {
        return 0;
    }
    Ns_DStringInit(&path);
    while ((entPtr = readdir(dir)) != NULL) {
        NsRing *ringPtr;

        if (strncmp(entPtr->d_name, "nsd-", 4) != 0) {
            continue;
        }
        Ns_DStringSetLength(&path, 0);
        Ns_DStringVarAppend(&path, directory, "/", entPtr->d_name,
                            (char *) NULL);
        if (!IsNamed(Ns_DStringValue(&path), *ringsPtr, n)
            && (ringPtr = OpenOrphan(Ns_DStringValue(&path))) != NULL) {
            *ringsPtr = ns_realloc(*ringsPtr,
                                   (size_t) (n + nOrphans + 1)
                                       * sizeof(**ringsPtr));
            (*ringsPtr)[n + nOrphans++] = ringPtr;
        }
    }
    closedir(dir);
    Ns_DStringFree(&path);
    return nOrphans;
}

/*
 * Some mapping names the file, possibly that of a live process.
 */
static bool
IsNamed(const char *path, NsRing *const *rings, int n)
{
    bool isNamed = false;

    for (int i = 0; i < n && !isNamed; i++) {
        isNamed = NamesFile(rings[i], path);
    }
    for (int i = 0; i < nAlive && !isNamed; i++) {
        const char *reason;
        NsRing     *ringPtr = NsRingOpen(alivePaths[i], true, &reason);

        while (ringPtr != NULL) {
            NsRing *nextPtr = ringPtr->siblingPtr;

            isNamed |= NamesFile(ringPtr, path);
            NsRingClose(&ringPtr, false);
            ringPtr = nextPtr;
        }
    }
    return isNamed;
}

static bool
NamesFile(const NsRing *ringPtr, const char *path)
{
    bool isNamed = false;

    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks && !isNamed; i++) {
        const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (NsRingSinkIsUsed(slotPtr) && atomic_load(&slotPtr->hasSpill) != 0) {
            char *other = NsSpillPath(ringPtr, slotPtr);

            isNamed = STREQ(path, other);
            ns_free(other);
        }
    }
    return isNamed;
}

/*
 * NULL: not an orphan.  What there is to report has been reported.
 */
static NsRing *
OpenOrphan(const char *path)
{
    const char *reason;
    NsRing     *ringPtr = NsSpillHeadOpen(path, &reason);
    NsRingSink *slotPtr;

    if (ringPtr == NULL) {
        if (reason != NULL) {
            Ns_Log(Warning,
                   "log: cannot read '%s', which an earlier process "
                   "left with records that were not written: %s",
                   path, reason);
        }
        return NULL;
    }
    slotPtr = NsRingSinkAt(ringPtr, 0);
    if (!NsRingIsNeeded(ringPtr)) {
        /* Its process was killed when all was written. */
        unlink(path);
        NsRingClose(&ringPtr, false);
        return NULL;
    }
    Ns_Log(Warning,
           "log[%s]: the log memory of process %d is gone, and so are records "
           "that were nowhere else; %" PRIu64 " records for this sink were on "
           "disk in '%s', and are written now",
           slotPtr->name, (int) ringPtr->headerPtr->pid, NsSpillCount(slotPtr),
           path);
    return ringPtr;
}

/*
 * Collect them into one file.  If that fails they stay where they are, and the
 * orphaned spill files, which come last, wait for another start.
 */
static int
Collect(const NsRingKey *keyPtr, NsRing **rings, int n, int nOrphans)
{
    const char *reason;
    char       *path = NsRingCollect(keyPtr, rings, n + nOrphans);
    NsRing     *ringPtr = NULL;
    int         nCollected = 0;

    if (path != NULL) {
        ringPtr = NsRingOpen(path, false, &reason);
    }
    if (ringPtr == NULL) {
        Ns_Log(
            Warning,
            "log: cannot merge the records that earlier processes left in "
            "'%s': '%s'; each keeps its own memory there until it is written",
            keyPtr->directory, path == NULL ? strerror(errno) : reason);
        ns_free(path);
        for (int i = 0; i < nOrphans; i++) {
            NsRingClose(&rings[n + i], false);
        }
        return n;
    }
    ns_free(path);
    for (int i = 0; i < n + nOrphans; i++) {
        /* A mapping that is open read-only stays. */
        NsRingClose(&rings[i], true);
    }
    for (; ringPtr != NULL; ringPtr = ringPtr->siblingPtr) {
        rings[nCollected++] = ringPtr;
    }
    return nCollected;
}

int
NsLeftovers(NsLeftover **leftoversPtr)
{
    List list = {0, NULL};

    ForEach(Append, &list);
    *leftoversPtr = list.leftovers;
    return list.n;
}

void
NsLeftoversFree(NsLeftover *leftovers, int n)
{
    for (int i = 0; i < n; i++) {
        ns_free(leftovers[i].file);
    }
    ns_free(leftovers);
}

int64_t
NsLeftoverForget(const char *sink)
{
    Forget      forget = {.sink = sink};
    const List *listPtr = &forget.forgotten;
    int64_t     nRecords = 0;

    ForEach(IsToForget, &forget);
    if (listPtr->n == 0) {
        return -1;
    }
    for (int i = 0; i < listPtr->n; i++) {
        const NsLeftover *leftoverPtr = &listPtr->leftovers[i];

        nRecords += (int64_t) leftoverPtr->nRecords;
        if (leftoverPtr->problem != NULL) {
            Ns_Log(Warning, "log: '%s', which cannot be read (%s), is deleted",
                   leftoverPtr->file, leftoverPtr->problem);
        } else {
            Ns_Log(Warning,
                   "log[%s]: %" PRIu64
                   " records that process %d left are discarded",
                   leftoverPtr->sink, leftoverPtr->nRecords, leftoverPtr->pid);
        }
    }
    NsLeftoversFree(listPtr->leftovers, listPtr->n);
    return nRecords;
}

static bool
Append(const NsLeftover *leftoverPtr, void *arg)
{
    List *listPtr = arg;

    listPtr->leftovers = ns_realloc(listPtr->leftovers,
                                    (size_t) (listPtr->n + 1)
                                        * sizeof(NsLeftover));
    listPtr->leftovers[listPtr->n] = *leftoverPtr;
    listPtr->leftovers[listPtr->n++].file = ns_strdup(leftoverPtr->file);
    return false;
}

static bool
IsToForget(const NsLeftover *leftoverPtr, void *arg)
{
    Forget *forgetPtr = arg;
    bool    isMeant = leftoverPtr->problem != NULL
           ? STREQ(leftoverPtr->file, forgetPtr->sink)
            || STREQ(nsRingKey.directory, forgetPtr->sink)
           : STREQ(leftoverPtr->sink, forgetPtr->sink);

    if (!isMeant) {
        return false;
    }
    (void) Append(leftoverPtr, &forgetPtr->forgotten);
    return true;
}

static void
ForEach(LeftoverProc *proc, void *arg)
{
    char **paths;
    int    n;

    Ns_MutexLock(&lock);
    n = NsRingList(&nsRingKey, &paths);
    for (int i = 0; i < n; i++) {
        const char *reason;
        NsRing     *ringPtr = NsRingOpen(paths[i], false, &reason);

        if (ringPtr == NULL && reason != nsRingInUse) {
            TellUnreadable(paths[i], reason, proc, arg);
        }
        while (ringPtr != NULL) {
            NsRing *nextPtr = ringPtr->siblingPtr;

            NsRingClose(&ringPtr, ForEachIn(ringPtr, proc, arg));
            ringPtr = nextPtr;
        }
        ns_free(paths[i]);
    }
    ns_free(paths);
    Ns_MutexUnlock(&lock);
}

static void
TellUnreadable(const char *path, const char *problem, LeftoverProc *proc,
               void *arg)
{
    NsLeftover leftover = {.file = (char *) path, .problem = problem};

    if (proc(&leftover, arg)) {
        unlink(path);
    }
}

/*
 * True: nothing is left in the mapping.
 */
static bool
ForEachIn(NsRing *ringPtr, LeftoverProc *proc, void *arg)
{
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);
        NsLeftover  leftover = {
             .file = ringPtr->path, .pid = (int) ringPtr->headerPtr->pid};

        if (!NsRingSinkIsUsed(slotPtr)) {
            continue;
        }
        leftover.nRecords = NsLeftoverMeasure(ringPtr, slotPtr).nRecords;
        snprintf(leftover.sink, sizeof(leftover.sink), "%.*s", NS_RING_NAME - 1,
                 slotPtr->name);
        snprintf(leftover.type, sizeof(leftover.type), "%.*s",
                 (int) sizeof(slotPtr->type) - 1, slotPtr->type);
        if ((leftover.nRecords > 0 || NsRingMissing(slotPtr) > 0)
            && proc(&leftover, arg)) {
            NsSpillDeleteOf(ringPtr, slotPtr);
            NsRingSinkUnname(slotPtr);
        }
    }
    return !NsRingIsNeeded(ringPtr);
}

NsLeftoverSize
NsLeftoverMeasure(NsRing *ringPtr, const NsRingSink *slotPtr)
{
    uint32_t       nStreams = atomic_load(&ringPtr->headerPtr->nStreams);
    uint64_t       nOnDisk = NsSpillCount(slotPtr);
    NsLeftoverSize size = {.oldest = INT64_MAX};

    for (uint32_t i = 0; i < nStreams; i++) {
        int rank = NsRingRank(ringPtr, i, slotPtr);

        if (rank >= 0) {
            MeasureStream(ringPtr, i, rank, &size);
        }
    }
    if (nOnDisk > 0) {
        size.nRecords += nOnDisk;
        size.bytes += NsSpillBytesLeft(slotPtr);
        size.oldest = (int64_t) ringPtr->headerPtr->epoch;
    }
    if (size.nRecords == 0) {
        size.oldest = 0;
    }
    return size;
}

static void
MeasureStream(NsRing *ringPtr, uint32_t stream, int rank,
              NsLeftoverSize *sizePtr)
{
    for (uint32_t lane = NsRingNewestLane(ringPtr, stream);
         lane != NS_RING_NONE; lane = NsRingOlderLane(ringPtr, lane)) {
        NsPlace place = {.lane = lane};

        (void) NsLeftoverOpenPlace(ringPtr, NsRingCursorAt(ringPtr, lane, rank),
                                   &place);
        while (place.headPtr != NULL) {
            sizePtr->nRecords++;
            sizePtr->bytes += place.headPtr->total;
            sizePtr->oldest = MIN(sizePtr->oldest, place.headPtr->time);
            NsPlaceAdvance(ringPtr, &place);
        }
    }
}

bool
NsLeftoverOpenPlace(NsRing *ringPtr, const NsRingCursor *cursorPtr,
                    NsPlace *placePtr)
{
    return NsPlaceOpen(ringPtr, placePtr, atomic_load(&cursorPtr->done))
        && NsPlaceHead(ringPtr, placePtr) != NULL;
}
