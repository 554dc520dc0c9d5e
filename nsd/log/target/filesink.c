/* SPDX-License-Identifier: MPL-2.0
 * filesink.c --
 *
 *      Sinks that write lines to a file, to standard output or standard error.
 *
 *      The system log is a file sink whose file is also standard output and
 *      standard error, so the output of child processes ends up there.
 */

#include "log/target/target.h"

#include "base/assert.h"
#include "base/directory.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkfd.h"
#include "log/target/filemode.h"
#include "log/target/fileroll.h"
#include "log/target/openfiles.h"
#include "log/target/targetcheck.h"
#include "nslog.h"
#include "nsthread.h"

static bool    OpenFile(Ns_LogSink sink);
static bool    OpenStdout(Ns_LogSink sink);
static bool    OpenStderr(Ns_LogSink sink);
static ssize_t WriteFd(Ns_LogSink sink, const char *bytes, size_t length);
static bool    SyncFile(Ns_LogSink sink);
static void    CloseFile(Ns_LogSink sink);
static bool WhereFile(Ns_LogSink sink, uint64_t *offsetPtr, uint64_t *inodePtr);

static const Ns_LogSinkOption fileOptions[] = {
    {.name = "file",
     .kind = NS_LOGSINK_PATH,
     .range = "a path",
     .sentence = "The file; relative to home/logs if that exists, else to "
                 "home."},
    {.name = NULL}};

const NsSinkType nsFileSinkType = {
    .name = "file",
    .options = fileOptions,
    .filePtr = &nsFileProcs,
    .outlivesSink = true,
    .openProc = OpenFile,
    .writeProc = WriteFd,
    .syncProc = SyncFile,
    .closeProc = CloseFile,
    .whereProc = WhereFile};
const NsSinkType nsStdoutSinkType = {
    .name = "stdout",
    .openProc = OpenStdout,
    .writeProc = WriteFd,
    .syncProc = SyncFile,
    .closeProc = CloseFile};
const NsSinkType nsStderrSinkType = {
    .name = "stderr",
    .openProc = OpenStderr,
    .writeProc = WriteFd,
    .syncProc = SyncFile,
    .closeProc = CloseFile};

static bool
OpenFile(Ns_LogSink sink)
{
    struct stat st;
    int         fd;

    NsAssert(sink->target->fd < 0);
    if (sink->target->file == NULL) {
        return OpenStderr(sink);
    }
    /* Otherwise open waits for somebody to read a FIFO; now writing does. */
    fd = open(sink->target->file,
              O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
              (mode_t) sink->settings.mode);
    if (fd < 0) {
        return errno == ENXIO && stat(sink->target->file, &st) == 0
            && S_ISFIFO(st.st_mode);
    }
    (void) fcntl(fd, F_SETFL, O_APPEND);
    if (sink->isStandardOutput && !nsSinkKeepsOutput) {
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
    sink->target->fd = fd;
    sink->target->fileBytes = 0;
    sink->target->fileInode = 0;
    sink->target->isNameSynced = false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        sink->target->fileBytes = (uint64_t) st.st_size;
        sink->target->fileInode = (uint64_t) st.st_ino;
        NsOpenFilesNote(sink, &st);
        NsFileModeApply(sink);
    }
    return true;
}

static bool
OpenStdout(Ns_LogSink sink)
{
    sink->target->fd = STDOUT_FILENO;
    return true;
}

static bool
OpenStderr(Ns_LogSink sink)
{
    sink->target->fd = STDERR_FILENO;
    return true;
}

static ssize_t
WriteFd(Ns_LogSink sink, const char *bytes, size_t length)
{
    NsTargetCheckWrite(sink, bytes, length);
    if (sink->target->fd < 0 && !sink->typePtr->openProc(sink)) {
        return -1;
    }
    if (sink->target->fd < 0) {
        errno = ENXIO; /* A FIFO that nobody reads. */
        return -1;
    }
    sink->target->isSynced = false;
    return write(sink->target->fd, bytes, length);
}

/*
 * Only what has a name is safe on disk.
 */
static bool
SyncFile(Ns_LogSink sink)
{
    struct stat st;

    NsAssertLocked(&sink->lock);
    if (sink->target->leftReason != 0) {
        errno = sink->target->leftReason;
        sink->target->leftReason = 0;
        return false;
    }
    if (sink->target->fd < 0) {
        return true; /* Nothing was written. */
    }
    if (fdatasync(sink->target->fd) != 0) {
        /* A pipe, a device, a terminal. */
        errno = errno == EINVAL || errno == EROFS ? ENOTSUP : errno;
        return false;
    }
    if (fstat(sink->target->fd, &st) == 0 && st.st_nlink == 0) {
        errno = ENOENT;
        return false;
    }
    if (!sink->target->isNameSynced && sink->target->file != NULL
        && !NsDirectorySync(sink->target->file)) {
        return false;
    }
    sink->target->isNameSynced = sink->target->isSynced = true;
    return true;
}

static void
CloseFile(Ns_LogSink sink)
{
    int fd = sink->target->fd;

    sink->target->fd = -1;
    NsOpenFilesNote(sink, NULL);
    NsSinkFdLeave(sink, fd);
}

/*
 * As far as we know without asking: if others write to the file, it may end a
 * little later.  Asking costs half as much as the write, because the write has
 * to store a new time whenever somebody has looked at the old one.
 */
static bool
WhereFile(Ns_LogSink sink, uint64_t *offsetPtr, uint64_t *inodePtr)
{
    NsAssertLocked(&sink->lock);
    *offsetPtr = sink->target->fileBytes;
    *inodePtr = sink->target->fileInode;
    return sink->target->fd >= 0 && sink->target->fileInode != 0;
}
