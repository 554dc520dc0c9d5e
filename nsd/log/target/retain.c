/* SPDX-License-Identifier: MPL-2.0
 * retain.c --
 *
 *      How long the backups of a log are kept.
 *
 *      A backup that waits to be compressed counts for the total when it is.
 */

#include "log/target/retain.h"

#include <sys/statvfs.h>

#include "base/assert.h"
#include "base/clock.h"
#include "log/sink/bound.h"
#include "log/sink/sinktarget.h"
#include "log/target/backups.h"
#include "log/target/compress.h"
#include "log/target/rollname.h"
#include "nslog.h"

/* Between two looks at what others change, and after a failure. */
#define LOOK_SECONDS  60
#define RETRY_SECONDS 3600

/*
 * What is looked at, and what came of it.
 */
typedef struct Retention {
    Ns_LogSink            sink;
    const NsSinkSettings *settingsPtr;
    NsBackups             list;
    time_t                now;
    bool                  isWaiting; /* For a backup to be compressed. */
    bool                  hasFailed; /* One could not be deleted. */
} Retention;

static bool     HasLimits(const NsSinkSettings *settingsPtr);
static bool     Find(Retention *rPtr);
static void     DropOld(Retention *rPtr);
static void     DropBeyondTotal(Retention *rPtr);
static void     DropForRoom(Retention *rPtr);
static uint64_t Missing(const Retention *rPtr);
static bool     DropLast(Retention *rPtr);
static time_t   WhenDue(const Retention *rPtr);

void
NsRetainBackups(Ns_LogSink sink)
{
    Retention r = {
        .sink = sink, .settingsPtr = &sink->settings, .now = time(NULL)};

    NsAssertLocked(&sink->lock);
    sink->target->retainDue = 0;
    if (sink->target->file == NULL || !HasLimits(r.settingsPtr)) {
        return;
    }
    atomic_store(&sink->counts.busySince, NsLogClock());
    NsBoundLend(sink);
    if (sink->target->backlogPtr != NULL) {
        NsBacklogBegin(sink->target->backlogPtr);
    }
    if (Find(&r)) {
        DropOld(&r);
        DropBeyondTotal(&r);
        DropForRoom(&r);
    }
    sink->target->retainDue = WhenDue(&r);
    NsBackupsFree(&r.list);
    if (sink->target->backlogPtr != NULL) {
        NsBacklogLeave(sink->target->backlogPtr);
    }
    NsBoundTakeBack(sink);
    atomic_store(&sink->counts.busySince, 0);
}

static bool
HasLimits(const NsSinkSettings *settingsPtr)
{
    return settingsPtr->maxAge > 0 || settingsPtr->maxTotal > 0
        || settingsPtr->minFree > 0;
}

static bool
Find(Retention *rPtr)
{
    const char *file = rPtr->sink->target->file;
    regex_t     pattern;
    bool        isFound;

    if (!NsRollPattern(&pattern, rPtr->settingsPtr->rollFormat)) {
        return false;
    }
    isFound = NsBackupsFind(&rPtr->list, file, &pattern, NULL);
    regfree(&pattern);
    rPtr->hasFailed = !isFound;
    return isFound;
}

static void
DropOld(Retention *rPtr)
{
    int64_t oldest = (int64_t) rPtr->now * NS_STAMP_SECOND
        - rPtr->settingsPtr->maxAge;

    while (rPtr->settingsPtr->maxAge > 0 && rPtr->list.n > 0
           && rPtr->list.files[rPtr->list.n - 1].mtime < oldest
           && DropLast(rPtr)) {
        continue;
    }
}

/*
 * The newest backup stays, however large it is.
 */
static void
DropBeyondTotal(Retention *rPtr)
{
    uint64_t total = 0;
    int      nKept = 0;

    if (rPtr->settingsPtr->maxTotal == 0) {
        return;
    }
    for (; nKept < rPtr->list.n; nKept++) {
        const NsBackup *backupPtr = &rPtr->list.files[nKept];

        if (rPtr->settingsPtr->isCompressed
            && NsBacklogHas(rPtr->sink->target->file, backupPtr->inode)) {
            rPtr->isWaiting = true;
        } else {
            total += backupPtr->bytes;
        }
        if (nKept > 0 && total > rPtr->settingsPtr->maxTotal) {
            break;
        }
    }
    while (rPtr->list.n > nKept && DropLast(rPtr)) {
        continue;
    }
}

/*
 * A Warning whenever that deletes something, and one when it does not help.
 */
static void
DropForRoom(Retention *rPtr)
{
    NsSinkTarget *targetPtr = rPtr->sink->target;
    bool          wasShort = targetPtr->isShort;
    int           nDropped = 0;

    if (rPtr->settingsPtr->minFree == 0) {
        return;
    }
    targetPtr->isShort = Missing(rPtr) > 0;
    while (targetPtr->isShort && rPtr->list.n > 0 && DropLast(rPtr)) {
        nDropped++;
        targetPtr->isShort = Missing(rPtr) > 0;
    }
    if (nDropped > 0 || (targetPtr->isShort && !wasShort)) {
        Ns_Log(Warning,
               "log[%s]: less than minfree was left in the file system of "
               "'%s': %d of its backups were deleted%s",
               rPtr->sink->name, targetPtr->file, nDropped,
               targetPtr->isShort ? ", which is not enough; make room there"
                                  : "");
    } else if (wasShort && !targetPtr->isShort) {
        Ns_Log(Notice,
               "log[%s]: the file system of '%s' has as much free space as "
               "minfree asks for again",
               rPtr->sink->name, targetPtr->file);
    }
}

/*
 * The bytes that have to become free.
 */
static uint64_t
Missing(const Retention *rPtr)
{
    const NsSinkTarget *targetPtr = rPtr->sink->target;
    uint64_t            nFree, wanted = rPtr->settingsPtr->minFree;
    struct statvfs      st;

    if ((targetPtr->fd >= 0 ? fstatvfs(targetPtr->fd, &st)
                            : statvfs(targetPtr->file, &st))
        != 0) {
        return 0;
    }
    if (rPtr->settingsPtr->isMinFreePercent) {
        wanted = (uint64_t) st.f_blocks * st.f_frsize / 100 * wanted;
    }
    nFree = (uint64_t) st.f_bavail * st.f_frsize;
    return nFree < wanted ? wanted - nFree : 0;
}

/*
 * The oldest one that is left.  False: it cannot be deleted.
 */
static bool
DropLast(Retention *rPtr)
{
    NsBackups *listPtr = &rPtr->list;

    NsAssert(listPtr->n > 0);
    if (!NsBackupDelete(listPtr->files[listPtr->n - 1].path)) {
        rPtr->hasFailed = true;
        return false;
    }
    NsBackupsDropLast(listPtr);
    return true;
}

static time_t
WhenDue(const Retention *rPtr)
{
    const NsSinkSettings *settingsPtr = rPtr->settingsPtr;
    time_t                due = 0;

    if (rPtr->hasFailed) {
        return rPtr->now + RETRY_SECONDS;
    }
    if (settingsPtr->maxAge > 0 && rPtr->list.n > 0) {
        int64_t last = rPtr->list.files[rPtr->list.n - 1].mtime;

        due = (time_t) ((last + settingsPtr->maxAge) / NS_STAMP_SECOND + 1);
    }
    if (settingsPtr->minFree > 0 || rPtr->isWaiting) {
        time_t look = rPtr->now + LOOK_SECONDS;

        due = due == 0 ? look : MIN(due, look);
    }
    return due;
}
