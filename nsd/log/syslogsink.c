/*
 * syslogsink.c --
 *
 *      Sinks that send messages of RFC 5424 to a syslog daemon: over a local
 *      socket, UDP (RFC 5426), or TCP with octet counting (RFC 6587).
 *
 *      The sink's buffer holds frames: the length of a message in decimal, a
 *      blank, the message.  That is what goes over TCP; datagrams carry the
 *      message alone, one per write.
 */

#include "log/sink_int.h"

#include <sys/un.h>

#include "log/severity.h"
#include "log/syslogaddress.h"
#include "log/systemlog.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define FACILITY_DAEMON   3
#define CONNECT_SECONDS   2
#define MIN_DATAGRAM      480   /* What every receiver must take. */
#define MAX_LENGTH_DIGITS 10

static bool    OpenSyslog(Ns_LogSink sink);
static bool    OpenUnix(Ns_LogSink sink, const char *path);
static bool    OpenInet(Ns_LogSink sink, const NsSyslogAddress *addressPtr);
static bool    ConnectInTime(int fd, const struct addrinfo *infoPtr);
static ssize_t WriteSyslog(Ns_LogSink sink, const char *bytes, size_t length);
static ssize_t SendDatagram(Ns_LogSink sink, const char *bytes, size_t length);
static void    CloseSyslog(Ns_LogSink sink);
static size_t  FormatMessage(Ns_LogSink sink, Ns_LogStream stream,
                             const Ns_LogRecord *recordPtr, char *buffer,
                             size_t room);
static void    PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr,
                       const char *thread);
static int     SyslogSeverity(int severity);
static size_t  FrameHead(const char *bytes, size_t length, size_t *messagePtr);
static void    BackToFrame(Ns_LogSink sink);

const NsSinkType nsSyslogSinkType = {
    .name = "syslog", .openProc = OpenSyslog, .writeProc = WriteSyslog,
    .closeProc = CloseSyslog, .formatProc = FormatMessage
};


static bool
OpenSyslog(Ns_LogSink sink)
{
    NsSyslogAddress address;

    if (!NsSyslogParseAddress(sink->file, &address)) {
        errno = EINVAL;
        return false;
    }
    sink->isDatagram = address.kind != NS_SYSLOG_TCP;
    return address.kind == NS_SYSLOG_UNIX
        ? OpenUnix(sink, address.path) : OpenInet(sink, &address);
}

static bool
OpenUnix(Ns_LogSink sink, const char *path)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return false;
    }
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
    if (connect(fd, (struct sockaddr *) &sa, sizeof(sa)) != 0) {
        int reason = errno;

        close(fd);
        errno = reason;
        return false;
    }
    sink->fd = fd;
    return true;
}

static bool
OpenInet(Ns_LogSink sink, const NsSyslogAddress *addressPtr)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = sink->isDatagram ? SOCK_DGRAM : SOCK_STREAM
    };
    struct addrinfo *list, *infoPtr;
    int reason = ECONNREFUSED;

    if (getaddrinfo(addressPtr->host, addressPtr->port, &hints, &list) != 0) {
        errno = EHOSTUNREACH;
        return false;
    }
    for (infoPtr = list; infoPtr != NULL && sink->fd < 0;
         infoPtr = infoPtr->ai_next) {
        int fd = socket(infoPtr->ai_family, infoPtr->ai_socktype | SOCK_CLOEXEC,
                        infoPtr->ai_protocol);

        if (fd >= 0 && ConnectInTime(fd, infoPtr)) {
            sink->fd = fd;
        } else {
            reason = errno;
            if (fd >= 0) {
                close(fd);
            }
        }
    }
    freeaddrinfo(list);
    errno = reason;
    return sink->fd >= 0;
}

static bool
ConnectInTime(int fd, const struct addrinfo *infoPtr)
{
    struct timeval limit = {CONNECT_SECONDS, 0};

    /* Linux applies it to connect, too. */
    (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    return connect(fd, infoPtr->ai_addr, infoPtr->ai_addrlen) == 0;
}

static ssize_t
WriteSyslog(Ns_LogSink sink, const char *bytes, size_t length)
{
    ssize_t n;

    if (sink->fd < 0) {
        if (!OpenSyslog(sink)) {
            return -1;
        }
        if (sink->nWritten > 0) {
            size_t before = sink->nWritten;

            BackToFrame(sink);
            bytes -= before - sink->nWritten;
            length += before - sink->nWritten;
        }
    }
    n = sink->isDatagram ? SendDatagram(sink, bytes, length)
        : send(sink->fd, bytes, length, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) {
        int reason = errno;

        CloseSyslog(sink);
        errno = reason;
    }
    return n;
}

/*
 * A message that the way does not take in full is cut, as RFC 5424, 6.1 has it.
 */
static ssize_t
SendDatagram(Ns_LogSink sink, const char *bytes, size_t length)
{
    size_t messageBytes, head = FrameHead(bytes, length, &messageBytes);
    size_t most = messageBytes;

    while (send(sink->fd, bytes + head, most, MSG_NOSIGNAL) < 0) {
        if (errno != EMSGSIZE || most <= MIN_DATAGRAM) {
            return -1;
        }
        most = MAX(most / 2, MIN_DATAGRAM);
    }
    return (ssize_t) (head + messageBytes);
}

static void
CloseSyslog(Ns_LogSink sink)
{
    if (sink->fd >= 0) {
        close(sink->fd);
        sink->fd = -1;
    }
}

/*
 * A frame.  The line is made behind room for the longest length, and moved.
 */
static size_t
FormatMessage(Ns_LogSink sink, Ns_LogStream stream,
              const Ns_LogRecord *recordPtr, char *buffer, size_t room)
{
    NsLogOut   out = {buffer, room, MAX_LENGTH_DIGITS + 1};
    NsLogEntry entry;
    size_t     n, start, messageBytes;
    char       digits[24];

    if (room < out.length) {
        out = (NsLogOut){NULL, 0, out.length};
    }
    if (NsSystemLogDecode(recordPtr, stream, &entry)) {
        PutHead(&out, recordPtr, entry.threadName);
        NsLogSanitize(&out, entry.message, entry.messageLength, 1);
    } else {
        PutHead(&out, recordPtr, NULL);
        start = MIN(out.length, out.room);
        NsStreamFormat(stream, sink->settings.format, recordPtr,
                       out.buffer == NULL ? NULL : out.buffer + start,
                       out.room - start, &n);
        if (n == 0) {
            return 0;
        }
        out.length += n - 1;    /* Without the newline. */
    }
    if (out.length + 1 > room) {
        return out.length + 1;
    }
    messageBytes = out.length - MAX_LENGTH_DIGITS - 1;
    n = NsLogDigits(digits, messageBytes, 1);
    digits[n++] = ' ';
    memmove(buffer + n, buffer + MAX_LENGTH_DIGITS + 1, messageBytes);
    memcpy(buffer, digits, n);
    return n + messageBytes;
}

/*
 * <PRI>1 TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG
 */
static void
PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr, const char *thread)
{
    static _Thread_local char host[256];
    time_t    seconds = (time_t) (recordPtr->time / 1000000000);
    struct tm tm;
    char      head[512];
    int       n;

    if (host[0] == '\0') {
        if (gethostname(host, sizeof(host)) != 0) {
            strcpy(host, "-");
        }
        host[sizeof(host) - 1] = '\0';
    }
    gmtime_r(&seconds, &tm);
    n = snprintf(head, sizeof(head),
                 "<%d>1 %04d-%02d-%02dT%02d:%02d:%02d.%06dZ %s nsd %d %.32s - ",
                 FACILITY_DAEMON * 8 + SyslogSeverity(recordPtr->severity),
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec,
                 (int) (recordPtr->time % 1000000000 / 1000), host, getpid(),
                 thread == NULL || *thread == '\0' ? "-" : thread);
    NsLogPut(outPtr, head, (size_t) n);
}

static int
SyslogSeverity(int severity)
{
    switch (severity) {
    case Notice:
        return 5;
    case Warning:
        return 4;
    case Error:
    case Bug:
        return 3;
    case Fatal:
        return 2;
    default:
        return 7;
    }
}

/*
 * Bytes of the length and its blank; the length itself.
 */
static size_t
FrameHead(const char *bytes, size_t length, size_t *messagePtr)
{
    size_t n = 0, messageBytes = 0;

    while (n < length && bytes[n] != ' ') {
        messageBytes = messageBytes * 10 + (size_t) (bytes[n++] - '0');
    }
    *messagePtr = messageBytes;
    return n + 1;
}

/*
 * The connection broke inside a message: the new one gets all of it.
 */
static void
BackToFrame(Ns_LogSink sink)
{
    size_t start = 0;

    for (;;) {
        size_t messageBytes;
        size_t head = FrameHead(sink->buffer + start, sink->nBuffered - start,
                                &messageBytes);

        if (start + head + messageBytes > sink->nWritten) {
            break;
        }
        start += head + messageBytes;
    }
    sink->nWritten = start;
}
