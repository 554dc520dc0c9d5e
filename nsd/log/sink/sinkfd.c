/*
 * sinkfd.c --
 *
 *      The descriptor that a sink writes to: a new one, and leaving the old
 *      one.
 *
 *      A file is left only when what it was to get is there to the last line.
 *      Where one must be left all the same, a line of which it has the
 *      beginning is cut off or ended there, and written anew to the next one.
 */

#include "log/sink/sinkfd.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "nslog.h"
#include "nsthread.h"

static size_t TornBytes(Ns_LogSink sink);
static void   EndTornLine(Ns_LogSink sink, int fd, size_t nTorn);
static bool   StandsAt(Ns_LogSink sink, int fd, off_t at, size_t length);

bool
NsSinkFdReopen(Ns_LogSink sink)
{
    int old = sink->target.fd;

    sink->target.fd = -1;
    if (!sink->typePtr->openProc(sink)) {
        int reason = errno;

        sink->target.fd = old;
        errno = reason;
        return false;
    }
    sink->target.isReopenDue = sink->target.isAstray = false;
    if (old >= 0) {
        NsSinkFdLeave(sink, old);
    }
    NsAssert(TornBytes(sink) == 0);
    sink->failing.retryAt = 0;
    return true;
}

void
NsSinkFdReopenIfDue(Ns_LogSink sink)
{
    if (unlikely(sink->target.isReopenDue) && !NsSinkFdReopen(sink)) {
        sink->target.isReopenDue = false;
        Ns_Log(Error,
               "log[%s]: failed to re-open log file '%s': '%s'; lines go "
               "into the old one",
               sink->name, sink->target.file, strerror(errno));
    }
}

void
NsSinkFdLeave(Ns_LogSink sink, int fd)
{
    size_t nTorn = TornBytes(sink);

    if (fd >= 0 && nTorn > 0) {
        EndTornLine(sink, fd, nTorn);
    }
    sink->buffer.nWritten -= nTorn;
    if (fd >= 0 && !sink->target.isSynced
        && (sink->settings.sync != NS_SYNC_NONE
            || NsSinkWants(sink, NsStreamIndex(nsAuditStream)))
        && fdatasync(fd) != 0 && errno != EINVAL) {
        sink->target.leftReason = errno;
    }
    sink->target.isSynced = true;
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
    size_t n = sink->buffer.nWritten;

    if (n == sink->buffer.nBuffered) {
        return 0;
    }
    while (n > 0 && sink->buffer.bytes[n - 1] != '\n') {
        n--;
    }
    return sink->buffer.nWritten - n;
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
        return; /* It is the new file already. */
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
               sink->name, sink->target.file, strerror(errno));
    }
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
    int   in = NsSinkFdOpenAgain(fd, O_RDONLY);

    if (in >= 0) {
        bytes = ns_malloc(length);
        isSame = pread(in, bytes, length, at) == (ssize_t) length
            && memcmp(bytes,
                      sink->buffer.bytes + sink->buffer.nWritten - length,
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
