/*
 * fileroll.c --
 *
 *      Which file a file sink writes to: rolling, reopening, and noticing that
 *      its name means another one.
 *
 *      A file is left only when what it was to get is there to the last line.
 *      If that cannot be written, a roll fails, or, once the file has another
 *      name, goes on as soon as it can (isReopenDue).  Where a file must be
 *      left all the same, a line of which it has the beginning is cut off or
 *      ended there, and written anew to the next one.
 */

#include "log/sink/sink_int.h"

#include "base/assert.h"
#include "base/calendar.h"
#include "log/sink/bound.h"
#include "log/target/compress.h"
#include "log/target/openfiles.h"
#include "nslog.h"
#include "nsthread.h"

/* Rolls that follow each other faster are not rolls by the hour. */
#define MIN_ROLL_SECONDS 60
/* Between two looks at the name. */
#define LOOK_NANOS       INT64_C(1000000000)

static size_t TornBytes(Ns_LogSink sink);
static void EndTornLine(Ns_LogSink sink, int fd, size_t nTorn);
static bool StandsAt(Ns_LogSink sink, int fd, off_t at, size_t length);
static Ns_ReturnCode RenameAndReopen(Ns_LogSink sink, Ns_LogRenameProc *rename,
                                     void *arg);
static bool IsRegular(Ns_LogSink sink);
static int  RenameBySettings(const char *file, void *arg);
static bool NoteReopen(Ns_LogSink sink);
static void LookAtName(Ns_LogSink sink, const struct stat *stPtr);
static void BeginAnew(Ns_LogSink sink, bool isDeleted);


bool
NsFileReopen(Ns_LogSink sink)
{
    int old = sink->fd;

    sink->fd = -1;
    if (!sink->typePtr->openProc(sink)) {
        int reason = errno;

        sink->fd = old;
        errno = reason;
        return false;
    }
    sink->isReopenDue = sink->isAstray = false;
    if (old >= 0) {
        NsFileLeave(sink, old);
    }
    NsAssert(TornBytes(sink) == 0);
    sink->retryAt = 0;
    return true;
}

void
NsFileLeave(Ns_LogSink sink, int fd)
{
    size_t nTorn = TornBytes(sink);

    if (fd >= 0 && nTorn > 0) {
        EndTornLine(sink, fd, nTorn);
    }
    sink->nWritten -= nTorn;
    if (fd >= 0 && !sink->isSynced
            && (sink->settings.sync != NS_SYNC_NONE
                || NsSinkWants(sink, NsStreamIndex(nsAuditStream)))
            && fdatasync(fd) != 0 && errno != EINVAL) {
        sink->leftReason = errno;
    }
    sink->isSynced = true;
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}

/*
 * How much of an unfinished line has been written.
 */
static size_t
TornBytes(Ns_LogSink sink)
{
    size_t n = sink->nWritten;

    if (n == sink->nBuffered) {
        return 0;
    }
    while (n > 0 && sink->buffer[n - 1] != '\n') {
        n--;
    }
    return sink->nWritten - n;
}

/*
 * If the file ends with what we have written of the line, that goes.  Else
 * others have written since, or, where child processes share the file, may any
 * moment: the line is ended.
 */
static void
EndTornLine(Ns_LogSink sink, int fd, size_t nTorn)
{
    struct stat st;

    if (sink->isStandardOutput && fd <= STDERR_FILENO) {
        return;                 /* It is the new file already. */
    }
    if (!sink->isStandardOutput && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
            && st.st_size >= (off_t) nTorn
            && StandsAt(sink, fd, st.st_size - (off_t) nTorn, nTorn)
            && ftruncate(fd, st.st_size - (off_t) nTorn) == 0) {
        return;
    }
    if (write(fd, "\n", 1) != 1) {
        Ns_Log(Warning, "log: sink '%s': the last line of the file before '%s' "
               "is incomplete, and is whole in the new one: '%s'",
               sink->name, sink->file, strerror(errno));
    }
}

int
NsFileOpenAgain(int fd, int flags)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}

/*
 * The last bytes written of the buffer are those of the file.  The descriptor
 * is for writing only.
 */
static bool
StandsAt(Ns_LogSink sink, int fd, off_t at, size_t length)
{
    char *bytes;
    bool  isSame = false;
    int   in = NsFileOpenAgain(fd, O_RDONLY);

    if (in >= 0) {
        bytes = ns_malloc(length);
        isSame = pread(in, bytes, length, at) == (ssize_t) length
            && memcmp(bytes, sink->buffer + sink->nWritten - length, length)
               == 0;
        ns_free(bytes);
        close(in);
    }
    return isSame;
}

void
NsFileReopenIfAsked(Ns_LogSink sink)
{
    if (likely(!atomic_load_explicit(&sink->isReopenAsked,
                                     memory_order_relaxed))) {
        return;
    }
    atomic_store(&sink->isReopenAsked, false);
    if (sink->file == NULL || !sink->typePtr->isFile || sink->isClosed) {
        return;
    }
    sink->isReopenDue = true;
    if (NsDeliverFlush(sink) || sink->failure == EFBIG) {
        NsFileReopenIfDue(sink);
    }
}

void
NsFileReopenIfDue(Ns_LogSink sink)
{
    if (unlikely(sink->isReopenDue) && !NsFileReopen(sink)) {
        sink->isReopenDue = false;
        Ns_Log(Error, "log: failed to re-open log file '%s': '%s'; lines go "
               "into the old one", sink->file, strerror(errno));
    }
}

Ns_ReturnCode
NsFileRoll(Ns_LogSink sink, Ns_LogRenameProc *rename, void *arg)
{
    Ns_ReturnCode status;
    int           reason;

    if (sink->file == NULL || !sink->typePtr->isFile) {
        return NS_OK;
    }
    if (!sink->isClosed) {
        sink->retryAt = 0;
        if (!NsDeliverFlush(sink) && sink->failure != EFBIG) {
            /* A line whose beginning is in the old file belongs there; but a
             * file that may not grow is just the one to be rolled. */
            return NS_ERROR;
        }
    }
    if (sink->settings.isCompressed) {
        NsFileFinishBackups(sink);
        NsBacklogBegin(sink->backlogPtr);
        NsBacklogAsk(sink->backlogPtr, sink->file, sink->fd);
    }
    status = RenameAndReopen(sink, rename, arg);
    reason = errno;
    if (sink->settings.isCompressed) {
        NsBacklogEnd(sink->backlogPtr, sink->file, sink->fd);
    }
    sink->isClosed = false;
    errno = reason;
    return status;
}

static Ns_ReturnCode
RenameAndReopen(Ns_LogSink sink, Ns_LogRenameProc *rename, void *arg)
{
    Ns_ReturnCode status = NS_OK;
    int           reason = 0;

    if (!IsRegular(sink)) {
        /* A pipe or a device, /dev/null say, stays where it is. */
        sink->rotateAfter = 0;
    } else if (rename(sink->file, arg) != NS_OK) {
        status = NS_ERROR;
        reason = errno;
    } else {
        sink->rotateAfter = 0;
    }
    if (sink->failure == 0 && !NoteReopen(sink)) {
        /* The file is left when the note is there to its end. */
        sink->isReopenDue = true;
        errno = reason != 0 ? reason : sink->failure;
        return NS_ERROR;
    }
    if (!NsFileReopen(sink)) {
        int cause = errno;

        Ns_Log(Error, "log: failed to re-open log file '%s': '%s'", sink->file,
               strerror(cause));
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
    int         result = sink->fd >= 0 ? fstat(sink->fd, &st)
        : stat(sink->file, &st);

    return result != 0 || S_ISREG(st.st_mode);
}

/*
 * The last line of the old system log.  False: not all of it is written.
 */
static bool
NoteReopen(Ns_LogSink sink)
{
    return !sink->isStandardOutput
        || (NsDeliverNote(sink, Notice, "log: re-opening log file '%s'",
                          sink->file)
            && NsDeliverFlush(sink));
}

void
NsFileFinishBackups(Ns_LogSink sink)
{
    if (!sink->settings.isCompressed || !sink->typePtr->isFile
            || sink->file == NULL || sink->backlogPtr != NULL) {
        return;
    }
    sink->backlogPtr = NsBacklogCreate();
    NsBacklogBegin(sink->backlogPtr);
    NsBacklogEnd(sink->backlogPtr, sink->file, sink->fd);
}

Ns_ReturnCode
NsFileRollBySettings(Ns_LogSink sink)
{
    return NsFileRoll(sink, RenameBySettings, &sink->settings);
}

static int
RenameBySettings(const char *file, void *arg)
{
    const NsSinkSettings *settingsPtr = arg;

    return Ns_RollFileByFormat(file, settingsPtr->rollFormat,
                               settingsPtr->maxBackup);
}

void
NsFileRollIfDue(Ns_LogSink sink)
{
    time_t due = sink->nextRoll, now = time(NULL);

    if (due != 0 && now >= due) {
        sink->nextRoll = NsFileNextRoll(sink->settings.rollHour, now);
        NsAssert(sink->nextRoll - due > MIN_ROLL_SECONDS);
        (void) NsFileRollBySettings(sink);
    }
}

time_t
NsFileNextRoll(int hour, time_t now)
{
    return hour < 0 ? 0
        : NsCalendarNext(now, NS_CALENDAR_ANY_DAY, hour * 3600);
}

void
NsFileMeasure(Ns_LogSink sink)
{
    struct stat st;

    if (sink->fd >= 0 && fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        sink->fileBytes = (uint64_t) st.st_size;
    }
}

void
NsFileLook(Ns_LogSink sink)
{
    struct stat st;

    if (sink->file == NULL || !sink->typePtr->isFile || sink->fd < 0
            || !NsSinkIsDue(sink->lookDue, LOOK_NANOS)) {
        return;
    }
    atomic_store(&sink->busySince, NsLogClock());
    NsBoundLend(sink);
    if (fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        sink->fileBytes = (uint64_t) st.st_size;
        LookAtName(sink, &st);
    }
    NsBoundTakeBack(sink);
    atomic_store(&sink->busySince, 0);
    sink->lookDue = NsLogClock() + LOOK_NANOS;
}

/*
 * A program that renames a file often makes another, or asks for one, right
 * after that: only the second look counts.  Lines in a file without a name are
 * lost at once.
 */
static void
LookAtName(Ns_LogSink sink, const struct stat *stPtr)
{
    struct stat st;
    bool        isThere = stat(sink->file, &st) == 0;

    if (stPtr->st_nlink == 0) {
        BeginAnew(sink, true);
    } else if (isThere && st.st_ino == stPtr->st_ino
               && st.st_dev == stPtr->st_dev) {
        sink->isAstray = false;
    } else if (isThere && NsOpenFilesHave(&st)) {
        /* Another sink of this process has rolled it. */
        (void) NsFileReopen(sink);
    } else if (!sink->isAstray) {
        sink->isAstray = true;
    } else {
        BeginAnew(sink, false);
    }
}

/*
 * A file that was renamed takes lines until there can be a new one; one that
 * was deleted takes none, and they wait.
 */
static void
BeginAnew(Ns_LogSink sink, bool isDeleted)
{
    bool isOpen = NsFileReopen(sink);

    if (isDeleted) {
        Ns_Log(Error, "log: sink '%s': log file '%s' was deleted: what was "
               "written to it since then is lost; %s", sink->name, sink->file,
               isOpen ? "it is made again"
               : "lines wait until it can be made again");
    } else if (isOpen) {
        Ns_Log(Error, "log: sink '%s': log file '%s' was renamed or replaced: it "
               "is opened again; a program that does that should send SIGHUP "
               "right after it", sink->name, sink->file);
    }
    if (isDeleted && !isOpen) {
        sink->typePtr->closeProc(sink);
    }
}
