/* SPDX-License-Identifier: MPL-2.0
 * sinkfd.c --
 *
 *      The descriptor that a sink writes to: how it gets a new one and leaves
 *      the old one.
 *
 *      A file is left only when it has received its last line completely.  If
 *      it has to be left anyway, the beginning of an unfinished line is cut off
 *      or ended there, and the whole line goes to the next file.
 */

#include "log/sink/sinkfd.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkbuffer.h"
#include "nslog.h"
#include "nsthread.h"

static size_t TornBytes(Ns_LogSink sink);
static void   EndTornLine(Ns_LogSink sink, int fd, size_t nTorn);
static bool   StandsAt(Ns_LogSink sink, int fd, off_t at, size_t length);

bool
NsSinkFdReopen(Ns_LogSink sink)
{
    int old = sink->target->fd;

    sink->target->fd = -1;
    if (!sink->typePtr->openProc(sink)) {
        int reason = errno;

        sink->target->fd = old;
        errno = reason;
        return false;
    }
    sink->target->isReopenDue = sink->target->isAstray = false;
    if (old >= 0) {
        NsSinkFdLeave(sink, old);
    }
    NsAssert(TornBytes(sink) == 0);
    sink->failing->retryAt = 0;
    return true;
}

void
NsSinkFdReopenIfDue(Ns_LogSink sink)
{
    if (unlikely(sink->target->isReopenDue) && !NsSinkFdReopen(sink)) {
        sink->target->isReopenDue = false;
        Ns_Log(Error,
               "log[%s]: failed to re-open log file '%s': '%s'; lines go "
               "into the old one",
               sink->name, sink->target->file, strerror(errno));
    }
}

void
NsSinkFdLeave(Ns_LogSink sink, int fd)
{
    size_t nTorn = TornBytes(sink);

    if (fd >= 0 && nTorn > 0) {
        EndTornLine(sink, fd, nTorn);
    }
    sink->buffer->nWritten -= nTorn;
    if (fd >= 0 && !sink->target->isSynced
        && (sink->settings.sync != NS_SYNC_NONE
            || NsSinkWants(sink, NsStreamIndex(nsAuditStream)))
        && fdatasync(fd) != 0 && errno != EINVAL) {
        sink->target->leftReason = errno;
    }
    sink->target->isSynced = true;
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}

/*
 * How many bytes of an unfinished line have been written.
 */
static size_t
TornBytes(Ns_LogSink sink)
{
    size_t n = sink->buffer->nWritten;

    if (n == sink->buffer->nBuffered) {
        return 0;
    }
    while (n > 0 && sink->buffer->bytes[n - 1] != '\n') {
        n--;
    }
    return sink->buffer->nWritten - n;
}

/*
 * If the file ends with our part of the line, cut that off.  Otherwise others
 * have written since, or child processes share the file and may write at any
 * moment: then end the line.
 */
static void
EndTornLine(Ns_LogSink sink, int fd, size_t nTorn)
{
    struct stat st;

    if (sink->isStandardOutput && fd <= STDERR_FILENO) {
        return; /* The descriptor refers to the new file already. */
    }
    if (!sink->isStandardOutput && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
        && st.st_size >= (off_t) nTorn
        && StandsAt(sink, fd, st.st_size - (off_t) nTorn, nTorn)
        && ftruncate(fd, st.st_size - (off_t) nTorn) == 0) {
        return;
    }
    if (write(fd, "\n", 1) != 1) {
        Ns_Log(Warning,
               "log[%s]: the last line of the file before '%s' "
               "is incomplete, and is whole in the new one: '%s'",
               sink->name, sink->target->file, strerror(errno));
    }
}

/*
 * Whether the file has the last bytes that were written from the buffer.  The
 * descriptor itself is write-only.
 */
static bool
StandsAt(Ns_LogSink sink, int fd, off_t at, size_t length)
{
    char *bytes;
    bool  isSame = false;
    int   in = NsSinkFdOpenAgain(fd, O_RDONLY);

    if (in >= 0) {
        bytes = ns_malloc(length);
        isSame = pread(in, bytes, length, at) == (ssize_t) length
            && memcmp(bytes,
                      sink->buffer->bytes + sink->buffer->nWritten - length,
                      length)
                == 0;
        ns_free(bytes);
        close(in);
    }
    return isSame;
}

int
NsSinkFdOpenAgain(int fd, int flags)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}
