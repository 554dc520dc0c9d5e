/* SPDX-License-Identifier: MPL-2.0
 * journaldsink.c --
 *
 *      Sinks that hand records to journald by its native protocol.
 *
 *      A record is one datagram of fields: NAME=value and a newline, or, of a
 *      value that may have newlines, the name, a newline, the length in eight
 *      bytes, little-endian, the value, a newline.  One that does not fit into
 *      a datagram is put into a sealed file in memory, whose descriptor is sent
 *      in its place.
 *
 *      The sink's buffer holds pieces: the length of a record's fields, and
 *      these.
 *
 *      The system says how much of what was sent waits to be read; that becomes
 *      nothing, too, when a reader dies.  So when nothing waits any more, an
 *      empty datagram, which journald ignores, tells whether the reader is
 *      there still.  If not, the next one gets all of the buffer again.
 */

#include "log/target/journaldsink.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/writeall.h"
#include <endian.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/un.h>

#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkbuffer.h"
#include "log/stream/field.h"
#include "log/stream/json.h"
#include "log/stream/severity.h"
#include "log/stream/system.h"
#include "log/target/remotesink.h"
#include "log/target/targetcheck.h"
#include "nsstring.h"
#include "nsthread.h"

#define FACILITY_DAEMON 3
/* For room, and for the reader. */
#define WAIT_SECONDS 2
#define WAIT_NANOS   (WAIT_SECONDS * NS_STAMP_SECOND)
#define MAX_PAUSE_MS 50
/* Those that journald asks for. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

enum { SOCKET_OPTION, IDENTIFIER_OPTION };

static int     CheckSocket(const char *text);
static int     CheckIdentifier(const char *text);
static bool    OpenNothing(Ns_LogSink sink);
static bool    Connect(Ns_LogSink sink);
static ssize_t WriteJournal(Ns_LogSink sink, const char *bytes, size_t length);
static bool    SendFields(int fd, const char *bytes, size_t length);
static bool    SendFile(int fd, const char *bytes, size_t length);
static int     MakeFile(const char *bytes, size_t length);
static bool    ConfirmJournal(Ns_LogSink sink);
static bool    IsReaderThere(int fd);
static void    Break(Ns_LogSink sink);
static void    CloseJournal(Ns_LogSink sink);
static size_t  FormatFields(Ns_LogSink sink, Ns_LogStream stream,
                            const Ns_LogRecord *recordPtr, char *buffer,
                            size_t room);
static bool    PutMessage(Ns_LogSink sink, Ns_LogStream stream,
                          const Ns_LogRecord *recordPtr, NsLogOut *outPtr);
static void    PutHead(NsLogOut *outPtr, Ns_LogSink sink,
                       const NsFields *fieldsPtr);
static void    PutKnown(NsLogOut *outPtr, const NsFields *fieldsPtr);
static void    PutField(NsLogOut *outPtr, const char *name, const char *bytes,
                        size_t length);
static void    PutNumber(NsLogOut *outPtr, const char *name, int64_t number);

static const Ns_LogSinkOption options[] = {
    [SOCKET_OPTION] = {.name = "socket",
                       .kind = NS_LOGSINK_TEXT,
                       .defaultText = "/run/systemd/journal/socket",
                       .checkProc = CheckSocket,
                       .range = "an absolute path",
                       .sentence = "Where journald listens."},
    [IDENTIFIER_OPTION] = {.name = "identifier",
                           .kind = NS_LOGSINK_TEXT,
                           .defaultText = "nsd",
                           .checkProc = CheckIdentifier,
                           .range = "1 to 127 printable characters",
                           .sentence = "The field SYSLOG_IDENTIFIER, for "
                                       "journalctl -t."},
    {.name = NULL}};

const NsSinkType nsJournaldSinkType = {
    .name = "journald",
    .options = options,
    .isRemote = true,
    .openProc = OpenNothing,
    .writeProc = WriteJournal,
    .confirmProc = ConfirmJournal,
    .closeProc = CloseJournal,
    .formatProc = FormatFields};

static const struct {
    const char      *name;
    NsFieldTextIndex index;
} textFields[] = {
    {"NSD_SERVER", NS_FIELD_SERVER},
    {"NSD_THREAD", NS_FIELD_THREAD},
    {"NSD_DRIVER", NS_FIELD_DRIVER},
    {"NSD_PEER", NS_FIELD_PEER},
    {"NSD_USER", NS_FIELD_USER},
    {"NSD_REQUEST", NS_FIELD_REQUEST},
    {"NSD_REFERER", NS_FIELD_REFERER},
    {"NSD_AGENT", NS_FIELD_AGENT},
    {"NSD_KIND", NS_FIELD_KIND},
    {"NSD_REQUEST_ID", NS_FIELD_REQUEST_ID},
    {"NSD_TRACE_ID", NS_FIELD_TRACE_ID},
    {"NSD_SPAN_ID", NS_FIELD_SPAN_ID}};

static const struct {
    const char        *name;
    NsFieldNumberIndex index;
} numberFields[] = {{"NSD_STATUS", NS_FIELD_STATUS},
                    {"NSD_BYTES", NS_FIELD_BYTES},
                    {"NSD_DURATION_USEC", NS_FIELD_DURATION}};

static int
CheckSocket(const char *text)
{
    struct sockaddr_un sa;

    return *text == '/' && strlen(text) < sizeof(sa.sun_path)
        ? NS_OK
        : NS_ERROR;
}

static int
CheckIdentifier(const char *text)
{
    size_t n = 0;

    while (text[n] > ' ' && text[n] <= '~') {
        n++;
    }
    return n > 0 && n < 128 && text[n] == '\0' ? NS_OK : NS_ERROR;
}

/*
 * It may come later: the first write connects.
 */
static bool
OpenNothing(Ns_LogSink sink)
{
    return true;
}

static bool
Connect(Ns_LogSink sink)
{
    NsAssert(sink->target->fd < 0);
    sink->target->fd = NsRemoteConnectLocal(sink->target->file, WAIT_SECONDS);
    return sink->target->fd >= 0;
}

/*
 * One piece.  The bytes are those of the buffer from nWritten on.
 */
static ssize_t
WriteJournal(Ns_LogSink sink, const char *bytes, size_t length)
{
    const char *record;
    size_t      n;

    NsTargetCheckWrite(sink, bytes, length);
    if (sink->target->fd < 0 && !Connect(sink)) {
        return -1;
    }
    record = NsPieceRecord(bytes, length, &n);
    if (SendFields(sink->target->fd, record, n)) {
        return (ssize_t) (NS_PIECE_HEAD + n);
    }
    switch (errno) {
    case EAGAIN:
        /* The reader does not read. */
        errno = ETIMEDOUT;
        break;
    case ECONNREFUSED:
    case ECONNRESET:
    case ENOTCONN:
    case EPIPE:
        Break(sink);
        break;
    }
    return -1;
}

static bool
SendFields(int fd, const char *bytes, size_t length)
{
    ssize_t n;

    do {
        n = send(fd, bytes, length, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n >= 0
        || ((errno == EMSGSIZE || errno == ENOBUFS)
            && SendFile(fd, bytes, length));
}

static bool
SendFile(int fd, const char *bytes, size_t length)
{
    union {
        struct cmsghdr head;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct msghdr message = {
        .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
    int     file = MakeFile(bytes, length), reason;
    ssize_t n;

    if (file < 0) {
        return false;
    }
    control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
                                    .cmsg_level = SOL_SOCKET,
                                    .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
    do {
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    reason = errno;
    close(file);
    errno = reason;
    return n >= 0;
}

/*
 * -1: errno says why not.
 */
static int
MakeFile(const char *bytes, size_t length)
{
    int reason, file = memfd_create("nsd-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (file < 0
        || (NsWriteAll(file, bytes, length)
            && fcntl(file, F_ADD_SEALS, SEALS) == 0)) {
        return file;
    }
    reason = errno;
    close(file);
    errno = reason;
    return -1;
}

/*
 * Nothing reports that all has been read, so poll, with growing pauses.
 */
static bool
ConfirmJournal(Ns_LogSink sink)
{
    NsStamp until = NsClockNow() + WAIT_NANOS;
    int     pauseMs = 1, fd = sink->target->fd, nLeft = 0;

    NsTargetCheckWritten(sink);
    while (ioctl(fd, SIOCOUTQ, &nLeft) == 0 && nLeft > 0) {
        if (NsClockNow() >= until) {
            errno = ETIMEDOUT;
            return false;
        }
        (void) poll(NULL, 0, pauseMs);
        pauseMs = MIN(2 * pauseMs, MAX_PAUSE_MS);
    }
    if (fd < 0 || IsReaderThere(fd)) {
        return true;
    }
    Break(sink);
    return false;
}

static bool
IsReaderThere(int fd)
{
    return send(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL) == 0 || errno == EAGAIN
        || errno == ENOBUFS || errno == EINTR;
}

/*
 * The reader is gone.  What errno says stays.
 */
static void
Break(Ns_LogSink sink)
{
    int reason = errno;

    sink->buffer->nWritten = 0;
    CloseJournal(sink);
    errno = reason;
}

static void
CloseJournal(Ns_LogSink sink)
{
    if (sink->target->fd >= 0) {
        close(sink->target->fd);
        sink->target->fd = -1;
    }
}

/*
 * A piece.
 */
static size_t
FormatFields(Ns_LogSink sink, Ns_LogStream stream,
             const Ns_LogRecord *recordPtr, char *buffer, size_t room)
{
    NsLogOut     out = {buffer, room, NS_PIECE_HEAD};
    Ns_LogRecord masked;
    NsFields     fields;
    bool         isRead;

    if (!PutMessage(sink, stream, recordPtr, &out)) {
        return 0;
    }
    /* The line above has its own copy that is masked. */
    masked = NsFormRecord(sink->form, stream, recordPtr);
    isRead = NsFieldsRead(NsStreamFields(stream), &masked, &fields);
    PutHead(&out, sink, &fields);
    if (isRead) {
        PutKnown(&out, &fields);
    }
    return NsPieceEnd(&out);
}

/*
 * An entry of the system log as it was written, unless the sink has a format;
 * of others the line.  False: the record makes none.
 */
static bool
PutMessage(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr,
           NsLogOut *outPtr)
{
    const char name[] = "MESSAGE\n";
    uint64_t   length;
    NsLogEntry entry;
    size_t     at = outPtr->length + strlen(name), start = at + sizeof(length);

    if (sink->settings.format == NS_LOG_NATIVE
        && NsSystemLogDecode(recordPtr, stream, &entry)) {
        length = entry.messageLength;
        outPtr->length = start;
        NsLogPut(outPtr, entry.message, entry.messageLength);
    } else {
        size_t from = MIN(start, outPtr->room);

        length = NsFormLine(sink->form, stream, recordPtr, sink->buffer->isNote,
                            outPtr->buffer + from, outPtr->room - from);
        if (length == 0) {
            return false;
        }
        length--; /* The newline. */
        outPtr->length = start + length;
    }
    if (start <= outPtr->room) {
        uint64_t little = htole64(length);

        memcpy(outPtr->buffer + at - strlen(name), name, strlen(name));
        memcpy(outPtr->buffer + at, &little, sizeof(little));
    }
    NsLogPut(outPtr, "\n", 1);
    return true;
}

/*
 * What each record has.
 */
static void
PutHead(NsLogOut *outPtr, Ns_LogSink sink, const NsFields *fieldsPtr)
{
    const Ns_LogRecord *recordPtr = fieldsPtr->recordPtr;
    Ns_LogSeverity      severity = NsFieldsSeverity(fieldsPtr);
    const char         *name = Ns_LogSeverityName(severity);
    const char         *identifier = sink->values[IDENTIFIER_OPTION].text;
    char                stamp[96];
    NsLogOut            time = {stamp, sizeof(stamp), 0};

    NsJsonTime(&time, recordPtr->time);
    NsAssert(time.length > 2 && time.length <= sizeof(stamp));
    PutNumber(outPtr, "PRIORITY", NsSeveritySyslog((int) severity));
    PutNumber(outPtr, "SYSLOG_FACILITY", FACILITY_DAEMON);
    PutField(outPtr, "SYSLOG_IDENTIFIER", identifier, strlen(identifier));
    PutNumber(outPtr, "SYSLOG_PID", NsRemoteLoggerPid(sink));
    PutField(outPtr, "NSD_STREAM", recordPtr->stream,
             strlen(recordPtr->stream));
    PutField(outPtr, "NSD_SEVERITY", name, strlen(name));
    PutField(outPtr, "NSD_TIME", stamp + 1, time.length - 2); /* No quotes. */
}

static void
PutKnown(NsLogOut *outPtr, const NsFields *fieldsPtr)
{
    for (int i = 0; i < Ns_NrElements(textFields); i++) {
        const NsFieldText *textPtr = &fieldsPtr->texts[textFields[i].index];

        if (textPtr->length > 0) {
            PutField(outPtr, textFields[i].name, textPtr->bytes,
                     textPtr->length);
        }
    }
    for (int i = 0; i < Ns_NrElements(numberFields); i++) {
        if (NsFieldHas(fieldsPtr, numberFields[i].index)) {
            PutNumber(outPtr, numberFields[i].name,
                      fieldsPtr->numbers[numberFields[i].index]);
        }
    }
}

static void
PutField(NsLogOut *outPtr, const char *name, const char *bytes, size_t length)
{
    NsAssert(*name >= 'A' && *name <= 'Z');
    NsLogPut(outPtr, name, strlen(name));
    if (length > 0 && memchr(bytes, '\n', length) != NULL) {
        uint64_t little = htole64(length);

        NsLogPut(outPtr, "\n", 1);
        NsLogPut(outPtr, (const char *) &little, sizeof(little));
    } else {
        NsLogPut(outPtr, "=", 1);
    }
    NsLogPut(outPtr, bytes, length);
    NsLogPut(outPtr, "\n", 1);
}

static void
PutNumber(NsLogOut *outPtr, const char *name, int64_t number)
{
    char text[24];
    int  n = snprintf(text, sizeof(text), "%" PRId64, number);

    PutField(outPtr, name, text, (size_t) n);
}
