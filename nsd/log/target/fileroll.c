/* SPDX-License-Identifier: MPL-2.0
 * fileroll.c --
 *
 *      Which file a file sink writes to: rolling, reopening, and noticing that
 *      its name means another one.
 *
 *      A sink leaves a file only when all lines meant for it have been written.
 *      If they cannot be written, a roll fails; if the file has been renamed
 *      already, the roll continues as soon as it can (isReopenDue).  One who
 *      asks for the file to be opened again, and has its name lead to another
 *      one, has no lines wait for the old one: what it has not, the new one
 *      gets.
 */

#include "log/target/fileroll.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/sink/bound.h"
#include "log/sink/deliver.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkfd.h"
#include "log/sink/sinkstate.h"
#include "log/sink/sinkwake.h"
#include "log/target/compress.h"
#include "log/target/filemode.h"
#include "log/target/openfiles.h"
#include "log/target/retain.h"
#include "nslog.h"
#include "nsthread.h"

/* Between two looks at the name. */
#define LOOK_NANOS NS_STAMP_SECOND

static void          Tend(Ns_LogSink sink);
static void          DoAsAsked(Ns_LogSink sink);
static bool          IsLeftBehind(Ns_LogSink sink);
static void          RollIfDue(Ns_LogSink sink, time_t now);
static void          Measure(Ns_LogSink sink);
static void          Look(Ns_LogSink sink);
static Ns_ReturnCode Roll(Ns_LogSink sink, Ns_LogRenameProc *rename, void *arg);
static void          Start(Ns_LogSink sink);
static void          FinishBackups(Ns_LogSink sink);
static void          LeaveBackups(Ns_LogSink sink);
static Ns_ReturnCode RenameAndReopen(Ns_LogSink sink, Ns_LogRenameProc *rename,
                                     void *arg);
static bool          IsRegular(Ns_LogSink sink);
static int           RenameBySettings(const char *file, void *arg);
static bool          NoteReopen(Ns_LogSink sink);
static void          LookAtName(Ns_LogSink sink, const struct stat *stPtr);
static void          BeginAnew(Ns_LogSink sink, bool isDeleted);

const NsSinkFileProcs nsFileProcs = {
    .tendProc = Tend,
    .lookProc = Look,
    .measureProc = Measure,
    .rollProc = Roll,
    .startProc = Start,
    .endProc = LeaveBackups};

static void
Tend(Ns_LogSink sink)
{
    time_t now = time(NULL);

    NsAssertLocked(&sink->lock);
    if (atomic_load(&sink->isRemoved)) {
        return;
    }
    DoAsAsked(sink);
    RollIfDue(sink, now);
    if (unlikely(sink->target->retainDue != 0
                 && now >= sink->target->retainDue)) {
        NsRetainBackups(sink);
    }
}

static void
DoAsAsked(Ns_LogSink sink)
{
    int asked;

    if (likely(atomic_load_explicit(&sink->target->asked, memory_order_relaxed)
               == NS_ASK_NOTHING)) {
        return;
    }
    asked = atomic_exchange(&sink->target->asked, NS_ASK_NOTHING);
    if (sink->target->file == NULL || sink->target->isClosed) {
        return;
    }
    /* The system log is rolled by who handles the signal. */
    if (asked == NS_ASK_SIGNAL && sink->settings.rollsOnSignal
        && !sink->isStandardOutput
        && (Roll(sink, NULL, NULL) == NS_OK || !IsLeftBehind(sink))) {
        return;
    }
    sink->target->isReopenDue = true;
    sink->failing->retryAt = 0;
    if (!NsDeliverFlush(sink)
        && (sink->failing->reason == EFBIG || IsLeftBehind(sink))) {
        NsSinkFdReopenIfDue(sink);
        (void) NsDeliverFlush(sink);
    }
}

/*
 * The file takes no lines, and its name leads to another one by now, or to one
 * that can be made.
 */
static bool
IsLeftBehind(Ns_LogSink sink)
{
    struct stat old, now;

    return sink->failing->reason != 0
        && (sink->target->fd < 0 || fstat(sink->target->fd, &old) != 0
            || stat(sink->target->file, &now) != 0 || now.st_ino != old.st_ino
            || now.st_dev != old.st_dev);
}

/*
 * An empty file stays: its backup would take the place of one with lines.
 */
static void
RollIfDue(Ns_LogSink sink, time_t now)
{
    time_t due = sink->target->nextRoll;

    if (likely(due == 0 || now < due)) {
        return;
    }
    sink->target->nextRoll = NsSinkNextRoll(&sink->settings, now);
    NsAssert(sink->target->nextRoll > now);
    Measure(sink);
    if (sink->target->fileBytes > 0 || sink->buffer->nBuffered > 0) {
        (void) Roll(sink, NULL, NULL);
    }
}

static Ns_ReturnCode
Roll(Ns_LogSink sink, Ns_LogRenameProc *rename, void *arg)
{
    Ns_ReturnCode status;
    int           reason;

    NsAssertLocked(&sink->lock);
    if (sink->target->file == NULL) {
        return NS_OK;
    }
    if (!sink->target->isClosed) {
        sink->failing->retryAt = 0;
        if (!NsDeliverFlush(sink) && sink->failing->reason != EFBIG) {
            /* A line that the old file has the beginning of belongs there; but
             * a file that has reached its limit is just the one to roll. */
            return NS_ERROR;
        }
    }
    if (sink->settings.isCompressed) {
        FinishBackups(sink);
        NsAssert(sink->target->backlogPtr != NULL);
        NsBacklogBegin(sink->target->backlogPtr);
        NsBacklogAsk(sink->target->backlogPtr, sink->target->file,
                     sink->target->fd);
    }
    status = rename != NULL
        ? RenameAndReopen(sink, rename, arg)
        : RenameAndReopen(sink, RenameBySettings, &sink->settings);
    reason = errno;
    if (sink->settings.isCompressed) {
        NsBacklogEnd(sink->target->backlogPtr, sink->target->file,
                     sink->target->fd);
    }
    sink->target->isClosed = false;
    NsRetainBackups(sink);
    errno = reason;
    return status;
}

static Ns_ReturnCode
RenameAndReopen(Ns_LogSink sink, Ns_LogRenameProc *rename, void *arg)
{
    Ns_ReturnCode status = NS_OK;
    int           reason = 0;

    NsAssert(sink->target->file != NULL);
    if (!IsRegular(sink)) {
        /* A pipe or a device, /dev/null say, stays where it is. */
        sink->target->rotateAfter = 0;
    } else if (rename(sink->target->file, arg) != NS_OK) {
        status = NS_ERROR;
        reason = errno;
    } else {
        sink->target->rotateAfter = 0;
    }
    if (sink->failing->reason == 0 && !NoteReopen(sink)) {
        /* The file is left when the note is there to its end. */
        sink->target->isReopenDue = true;
        errno = reason != 0 ? reason : sink->failing->reason;
        return NS_ERROR;
    }
    if (!NsSinkFdReopen(sink)) {
        int cause = errno;

        Ns_Log(Error, "log: failed to re-open log file '%s': '%s'",
               sink->target->file, strerror(cause));
        if (status == NS_OK) {
            status = NS_ERROR;
            reason = cause;
        }
    }
    errno = reason;
    return status;
}

/*
 * True also for what is not there.
 */
static bool
IsRegular(Ns_LogSink sink)
{
    struct stat st;
    int         result = sink->target->fd >= 0
                ? fstat(sink->target->fd, &st)
                : stat(sink->target->file, &st);

    return result != 0 || S_ISREG(st.st_mode);
}

/*
 * Write the last line of the old system log.  False: not all of it is written.
 */
static bool
NoteReopen(Ns_LogSink sink)
{
    return !sink->isStandardOutput
        || (NsDeliverNote(sink, Notice, "log: re-opening log file '%s'",
                          sink->target->file)
            && NsDeliverFlush(sink));
}

/*
 * A file that is open gets what the settings say by now.
 */
static void
Start(Ns_LogSink sink)
{
    NsFileModeApply(sink);
    FinishBackups(sink);
    sink->target->retainDue = time(NULL);
    if (NsSinkIsServed(sink)) {
        NsSinkKick(sink);
    }
}

static void
FinishBackups(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    if (!sink->settings.isCompressed || sink->target->file == NULL
        || sink->target->backlogPtr != NULL) {
        return;
    }
    sink->target->backlogPtr = NsBacklogCreate();
    NsBacklogBegin(sink->target->backlogPtr);
    NsBacklogEnd(sink->target->backlogPtr, sink->target->file,
                 sink->target->fd);
}

static void
LeaveBackups(Ns_LogSink sink)
{
    NsBacklogRelease(&sink->target->backlogPtr);
}

static int
RenameBySettings(const char *file, void *arg)
{
    const NsSinkSettings *settingsPtr = arg;

    return Ns_RollFileByFormat(file, settingsPtr->rollFormat,
                               settingsPtr->maxBackup);
}

static void
Measure(Ns_LogSink sink)
{
    struct stat st;

    NsAssertLocked(&sink->lock);
    if (sink->target->fd >= 0 && fstat(sink->target->fd, &st) == 0
        && S_ISREG(st.st_mode)) {
        sink->target->fileBytes = (uint64_t) st.st_size;
    }
}

static void
Look(Ns_LogSink sink)
{
    struct stat st;

    NsAssertLocked(&sink->lock);
    if (sink->target->file == NULL || sink->target->fd < 0
        || !NsSinkIsDue(sink->target->lookDue, LOOK_NANOS)) {
        return;
    }
    atomic_store(&sink->counts.busySince, NsLogClock());
    NsBoundLend(sink);
    if (fstat(sink->target->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        sink->target->fileBytes = (uint64_t) st.st_size;
        LookAtName(sink, &st);
    }
    NsBoundTakeBack(sink);
    atomic_store(&sink->counts.busySince, 0);
    sink->target->lookDue = NsLogClock() + LOOK_NANOS;
}

/*
 * A program that renames a file often creates another one, or asks for it,
 * right after that: so only the second look counts.  Lines in a file without a
 * name are lost at once.
 */
static void
LookAtName(Ns_LogSink sink, const struct stat *stPtr)
{
    struct stat st;
    bool        isThere = stat(sink->target->file, &st) == 0;

    NsAssert(sink->target->fd >= 0 && S_ISREG(stPtr->st_mode));
    if (stPtr->st_nlink == 0) {
        BeginAnew(sink, true);
    } else if (isThere && st.st_ino == stPtr->st_ino
               && st.st_dev == stPtr->st_dev) {
        sink->target->isAstray = false;
    } else if (isThere && NsOpenFilesHave(&st)) {
        /* Another sink of this process has rolled it. */
        (void) NsSinkFdReopen(sink);
    } else if (!sink->target->isAstray) {
        sink->target->isAstray = true;
    } else {
        BeginAnew(sink, false);
    }
}

/*
 * A file that was renamed gets lines until a new one can be opened.  One that
 * was deleted gets none: the lines wait.
 */
static void
BeginAnew(Ns_LogSink sink, bool isDeleted)
{
    bool isOpen = NsSinkFdReopen(sink);

    if (isDeleted) {
        Ns_Log(Error,
               "log[%s]: log file '%s' was deleted: lines written to it since "
               "then are lost; %s",
               sink->name, sink->target->file,
               isOpen ? "it is made again"
                      : "lines wait until it can be made again");
    } else if (isOpen) {
        Ns_Log(Error,
               "log[%s]: log file '%s' was renamed or replaced: it is "
               "opened again; a program that does that should send SIGHUP "
               "right after it",
               sink->name, sink->target->file);
    }
    if (isDeleted && !isOpen) {
        sink->typePtr->closeProc(sink);
    }
}
