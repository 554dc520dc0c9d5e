/* SPDX-License-Identifier: MPL-2.0
 * fdsink.c --
 *
 *      NsAsyncWrite: a log thread writes bytes to a descriptor of the caller's.
 *
 *      A record, and a piece of the sink's buffer, is a head that names the
 *      descriptor and the bytes for it.  Writing takes one piece at a time.
 */

#include "log/target/target.h"

#include "base/assert.h"
#include "base/writeall.h"
#include "log/target/targetcheck.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkwake.h"
#include "nslog.h"
#include "nsthread.h"

typedef struct FdHead {
    int32_t  fd;
    uint32_t length;
} FdHead;

static Ns_Mutex     lock; /* Guards making the sink. */
static Ns_LogStream stream;
static Ns_LogSink   fdSink;

static bool    OpenNothing(Ns_LogSink sink);
static ssize_t WritePiece(Ns_LogSink sink, const char *bytes, size_t length);
static void    CloseNothing(Ns_LogSink sink);
static bool    IsReady(void);
static Ns_LogFormatProc FormatPiece;

const NsSinkType nsFdSinkType = {
    .name = "descriptor",
    .isHidden = true,
    .isPassing = true,
    .openProc = OpenNothing,
    .writeProc = WritePiece,
    .closeProc = CloseNothing};

int
NsAsyncWrite(int fd, const char *buffer, size_t nbyte)
{
    FdHead       head = {fd, (uint32_t) nbyte};
    struct iovec pieces[] = {{&head, sizeof(head)}, {(void *) buffer, nbyte}};

    if (!nsSinkIsAsync || nbyte > UINT32_MAX || !IsReady()) {
        (void) NsWriteAll(fd, buffer, nbyte);
        return NS_ERROR;
    }
    return Ns_LogStreamPut(stream, Notice, pieces, Ns_NrElements(pieces));
}

static bool
IsReady(void)
{
    static const char *const streams[] = {"descriptor"};
    static bool              isTried;
    bool                     isReady;

    Ns_MutexLock(&lock);
    if (!isTried) {
        isTried = true;
        stream = Ns_LogStreamCreate(streams[0], FormatPiece, NULL);
        fdSink = stream == NULL
            ? NULL
            : NsSinkCreate(&(NsSinkSpec){.name = "descriptor",
                                         .type = "descriptor",
                                         .streams = streams,
                                         .nStreams = 1,
                                         .settings = nsSinkDefaults});
    }
    isReady = fdSink != NULL && NsSinkIsServed(fdSink);
    Ns_MutexUnlock(&lock);
    return isReady;
}

static size_t
FormatPiece(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    if (recordPtr->length <= room) {
        memcpy(buffer, recordPtr->bytes, recordPtr->length);
    }
    return recordPtr->length;
}

static bool
OpenNothing(Ns_LogSink sink)
{
    return true;
}

/*
 * What cannot be written is dropped: there is nobody to report it to.
 */
static ssize_t
WritePiece(Ns_LogSink sink, const char *bytes, size_t length)
{
    FdHead head;

    NsTargetCheckWrite(sink, bytes, length);
    NsAssert(length >= sizeof(head));
    memcpy(&head, bytes, sizeof(head));
    NsAssert(head.length <= length - sizeof(head));
    if (!NsWriteAll(head.fd, bytes + sizeof(head), head.length)) {
        atomic_fetch_add(&sink->counts.nErrors, 1);
    }
    return (ssize_t) (sizeof(head) + head.length);
}

static void
CloseNothing(Ns_LogSink sink)
{
}
