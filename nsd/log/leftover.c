/*
 * leftover.c --
 *
 *      The mappings of processes that were killed.
 *
 *      However often that happens while a sink's target is away, they do not
 *      pile up: each start gives back the memory of what has been written, and
 *      puts several files together into one.  A process that dies in between
 *      leaves both; the next takes each mapping once.
 */

#include "log/leftover.h"

#include "log/sink_int.h"
#include "log/systemlog.h"
#include "nslog.h"
#include "nsthread.h"

/*
 * Called for each sink that something is left for.  True: give it up.
 */
typedef bool (LeftoverProc) (const NsLeftover *leftoverPtr, void *arg);

typedef struct List {
    int         n;
    NsLeftover *leftovers;
} List;

typedef struct Forget {
    const char *sink;
    int64_t     nRecords;
} Forget;

/* Mappings of processes that overlap with this one. */
static char **alivePaths;
static int    nAlive;

static int  OpenAll(char **paths, int nPaths, NsRing ***ringsPtr);
static bool IsToOpen(const char *path, NsRing **ringPtrPtr);
static int  DropNeedless(NsRing **rings, int n);
static bool IsAgain(NsRing *const *rings, int n, int i);
static bool AreInOneFile(NsRing *const *rings, int n);
static int  Collect(const NsRingKey *keyPtr, NsRing **rings, int n);
static LeftoverProc Append;
static LeftoverProc IsToForget;
static void ForEach(LeftoverProc *proc, void *arg);
static bool ForEachIn(NsRing *ringPtr, LeftoverProc *proc, void *arg);
static void TellUnreadable(const char *path, const char *problem,
                           LeftoverProc *proc, void *arg);


int
NsLeftoverOpen(const NsRingKey *keyPtr, NsRing ***ringsPtr)
{
    NsRing **rings;
    char   **paths;
    int      nPaths, n;

    NsRingSweep(keyPtr);
    nPaths = NsRingList(keyPtr, &paths);
    n = OpenAll(paths, nPaths, &rings);
    if (!AreInOneFile(rings, n)) {
        n = Collect(keyPtr, rings, n);
    }
    for (int i = 0; i < n; i++) {
        NsRingPunch(rings[i]);
    }
    *ringsPtr = rings;
    return n;
}

int
NsLeftoverOpenLate(NsRing ***ringsPtr)
{
    char **paths = alivePaths;
    int    nPaths = nAlive;

    *ringsPtr = NULL;
    if (nPaths == 0) {
        return 0;
    }
    alivePaths = NULL;
    nAlive = 0;
    return OpenAll(paths, nPaths, ringsPtr);
}

/*
 * Those of processes that live are remembered.  Takes the paths.
 */
static int
OpenAll(char **paths, int nPaths, NsRing ***ringsPtr)
{
    NsRing **rings = NULL;
    int      n = 0;

    for (int i = 0; i < nPaths; i++) {
        NsRing *ringPtr;

        if (access(paths[i], F_OK) == 0 && IsToOpen(paths[i], &ringPtr)) {
            for (; ringPtr != NULL; ringPtr = ringPtr->siblingPtr) {
                NsRingCommitPrepared(ringPtr);
                rings = ns_realloc(rings, (size_t) (n + 1) * sizeof(*rings));
                rings[n++] = ringPtr;
            }
        }
        ns_free(paths[i]);
    }
    ns_free(paths);
    *ringsPtr = rings;
    return DropNeedless(rings, n);
}

/*
 * False: there is nothing to open, and what is to be said has been said.
 */
static bool
IsToOpen(const char *path, NsRing **ringPtrPtr)
{
    const char *reason;

    *ringPtrPtr = NsRingOpen(path, false, &reason);
    if (*ringPtrPtr == NULL) {
        if (reason == nsRingEmpty) {
            unlink(path);
        } else if (reason == nsRingInUse) {
            alivePaths = ns_realloc(alivePaths, (size_t) (nAlive + 1)
                                    * sizeof(*alivePaths));
            alivePaths[nAlive++] = ns_strdup(path);
        } else {
            Ns_Log(Warning, "log: cannot read what an earlier process left in "
                   "'%s': %s; 'ns_logsink forget %s' deletes it", path, reason,
                   path);
        }
        return false;
    }
    for (const NsRing *p = *ringPtrPtr; p != NULL; p = p->siblingPtr) {
        if (p->nDamaged > 0) {
            Ns_Log(Error, "log: what process %d left in '%s' is damaged: %d of "
                   "its parts are left out, and the rest is recovered",
                   (int) p->headerPtr->pid, path, p->nDamaged);
        }
    }
    return true;
}

/*
 * What is there twice is in a collection, too, and has not been read since that
 * was made.
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
        if (rings[j]->headerPtr->epoch == headerPtr->epoch
                && rings[j]->headerPtr->pid == headerPtr->pid) {
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
 * Put them into one file.  Where that cannot be done they stay where they are.
 */
static int
Collect(const NsRingKey *keyPtr, NsRing **rings, int n)
{
    const char *reason;
    char       *path = NsRingCollect(keyPtr, rings, n);
    NsRing     *ringPtr = NULL;
    int         nCollected = 0;

    if (path != NULL) {
        ringPtr = NsRingOpen(path, false, &reason);
    }
    if (ringPtr == NULL) {
        Ns_Log(Warning, "log: cannot put together what earlier processes left "
               "in '%s': '%s'; each keeps its own memory there until it is "
               "written", keyPtr->directory,
               path == NULL ? strerror(errno) : reason);
        ns_free(path);
        return n;
    }
    ns_free(path);
    for (int i = 0; i < n; i++) {
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
    Forget forget = {sink, -1};

    ForEach(IsToForget, &forget);
    return forget.nRecords;
}

static bool
Append(const NsLeftover *leftoverPtr, void *arg)
{
    List *listPtr = arg;

    listPtr->leftovers = ns_realloc(listPtr->leftovers, (size_t)
                                    (listPtr->n + 1) * sizeof(NsLeftover));
    listPtr->leftovers[listPtr->n] = *leftoverPtr;
    listPtr->leftovers[listPtr->n++].file = ns_strdup(leftoverPtr->file);
    return false;
}

static bool
IsToForget(const NsLeftover *leftoverPtr, void *arg)
{
    Forget *forgetPtr = arg;

    if (leftoverPtr->problem != NULL) {
        if (!STREQ(leftoverPtr->file, forgetPtr->sink)) {
            return false;
        }
        forgetPtr->nRecords = 0;
        Ns_Log(Warning, "log: '%s', which cannot be read (%s), is deleted",
               leftoverPtr->file, leftoverPtr->problem);
        return true;
    }
    if (!STREQ(leftoverPtr->sink, forgetPtr->sink)) {
        return false;
    }
    forgetPtr->nRecords = MAX(forgetPtr->nRecords, 0)
        + (int64_t) leftoverPtr->nRecords;
    Ns_Log(Warning, "log: %" PRIu64 " records that process %d left for sink "
           "'%s' are given up", leftoverPtr->nRecords, leftoverPtr->pid,
           leftoverPtr->sink);
    return true;
}

static void
ForEach(LeftoverProc *proc, void *arg)
{
    char **paths;
    int    n = NsRingList(NsSystemLogRingKey(), &paths);

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
 * True: nothing is left in the mapping any more.
 */
static bool
ForEachIn(NsRing *ringPtr, LeftoverProc *proc, void *arg)
{
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);
        NsLeftover  leftover = {
            .file = ringPtr->path, .pid = (int) ringPtr->headerPtr->pid
        };

        if (!NsRingSinkIsUsed(slotPtr)) {
            continue;
        }
        leftover.nRecords = NsRecoverCountUnread(ringPtr, slotPtr);
        snprintf(leftover.sink, sizeof(leftover.sink), "%.*s",
                 NS_RING_NAME - 1, slotPtr->name);
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
