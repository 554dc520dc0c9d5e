/*
 * filesink.c --
 *
 *      Sinks that write lines to a file, to standard output or standard error.
 *
 *      The system log is a file sink whose file is at the same time standard
 *      output and error, so that the output of child processes lands there.
 */

#include "log/sink_int.h"

#include "base/assert.h"
#include "base/calendar.h"
#include "log/compress.h"
#include "log/openfiles.h"
#include "nslog.h"
#include "nsthread.h"

/* Rolls that follow each other faster are no rolls by the hour. */
#define MIN_ROLL_SECONDS 60

static Ns_ReturnCode RenameAndReopen(Ns_LogSink sink, Ns_LogRenameProc *rename,
                                     void *arg);
static bool    IsRegular(Ns_LogSink sink);
static bool    OpenFile(Ns_LogSink sink);
static bool    OpenStdout(Ns_LogSink sink);
static bool    OpenStderr(Ns_LogSink sink);
static ssize_t WriteFd(Ns_LogSink sink, const char *bytes, size_t length);
static bool    SyncFile(Ns_LogSink sink);
static void    CloseFile(Ns_LogSink sink);
static bool    WhereFile(Ns_LogSink sink, uint64_t *offsetPtr,
                         uint64_t *inodePtr);
static int     RenameBySettings(const char *file, void *arg);
static void    NoteReopen(Ns_LogSink sink);

const NsSinkType nsFileSinkType = {
    .name = "file", .isFile = true, .openProc = OpenFile, .writeProc = WriteFd,
    .syncProc = SyncFile, .closeProc = CloseFile, .whereProc = WhereFile
};
const NsSinkType nsStdoutSinkType = {
    .name = "stdout", .openProc = OpenStdout, .writeProc = WriteFd,
    .closeProc = CloseFile
};
const NsSinkType nsStderrSinkType = {
    .name = "stderr", .openProc = OpenStderr, .writeProc = WriteFd,
    .closeProc = CloseFile
};


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
    if (old > STDERR_FILENO) {
        close(old);
    }
    /* A line of which the old file has the beginning is written anew. */
    while (sink->nWritten > 0 && sink->nWritten < sink->nBuffered
           && sink->buffer[sink->nWritten - 1] != '\n') {
        sink->nWritten--;
    }
    sink->retryAt = 0;
    return true;
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
        if (!NsDeliverFlush(sink)) {
            /* What the old file has the beginning of belongs there. */
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
    NoteReopen(sink);
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

void
NsFileRollIfDue(Ns_LogSink sink)
{
    time_t due = sink->nextRoll;

    if (due != 0 && time(NULL) >= due) {
        sink->nextRoll = NsFileNextRoll(sink->settings.rollHour);
        NsAssert(sink->nextRoll - due > MIN_ROLL_SECONDS);
        (void) NsFileRollBySettings(sink);
    }
}

time_t
NsFileNextRoll(int hour)
{
    return hour < 0 ? 0
        : NsCalendarNext(time(NULL), NS_CALENDAR_ANY_DAY, hour * 3600);
}

static bool
OpenFile(Ns_LogSink sink)
{
    struct stat st;
    int         fd;

    if (sink->file == NULL) {
        return OpenStderr(sink);
    }
    /* A FIFO that nobody reads makes open wait, else; writing waits then. */
    fd = open(sink->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY
              | O_NONBLOCK, 0644);
    if (fd < 0) {
        return errno == ENXIO && stat(sink->file, &st) == 0
            && S_ISFIFO(st.st_mode);
    }
    (void) fcntl(fd, F_SETFL, O_APPEND);
    if (sink->isStandardOutput) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    if (fd <= STDERR_FILENO) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

        if (!sink->isStandardOutput) {
            close(fd);
        }
        fd = high;
    }
    sink->fd = fd;
    sink->fileBytes = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        sink->fileBytes = (uint64_t) st.st_size;
        NsOpenFilesNote(sink, &st);
    }
    return true;
}

static bool
OpenStdout(Ns_LogSink sink)
{
    sink->fd = STDOUT_FILENO;
    return true;
}

static bool
OpenStderr(Ns_LogSink sink)
{
    sink->fd = STDERR_FILENO;
    return true;
}

static ssize_t
WriteFd(Ns_LogSink sink, const char *bytes, size_t length)
{
    if (sink->fd < 0 && !sink->typePtr->openProc(sink)) {
        return -1;
    }
    if (sink->fd < 0) {
        errno = ENXIO;          /* Open, but for a reader. */
        return -1;
    }
    return write(sink->fd, bytes, length);
}

static bool
SyncFile(Ns_LogSink sink)
{
    return fdatasync(sink->fd) == 0 || errno == EINVAL || errno == EROFS;
}

static void
CloseFile(Ns_LogSink sink)
{
    if (sink->fd > STDERR_FILENO) {
        close(sink->fd);
    }
    sink->fd = -1;
    NsOpenFilesNote(sink, NULL);
}

static bool
WhereFile(Ns_LogSink sink, uint64_t *offsetPtr, uint64_t *inodePtr)
{
    struct stat st;

    if (sink->fd < 0 || fstat(sink->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    *offsetPtr = (uint64_t) st.st_size;
    *inodePtr = (uint64_t) st.st_ino;
    return true;
}

static int
RenameBySettings(const char *file, void *arg)
{
    const NsSinkSettings *settingsPtr = arg;

    return Ns_RollFileByFormat(file, settingsPtr->rollFormat,
                               settingsPtr->maxBackup);
}

/*
 * The last line of the old system log.
 */
static void
NoteReopen(Ns_LogSink sink)
{
    if (sink->isStandardOutput) {
        (void) NsDeliverNote(sink, Notice, "log: re-opening log file '%s'",
                             sink->file);
        (void) NsDeliverFlush(sink);
    }
}
