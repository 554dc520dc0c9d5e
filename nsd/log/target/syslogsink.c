/* SPDX-License-Identifier: MPL-2.0
 * syslogsink.c --
 *
 *      Sinks that send messages of RFC 5424 to a syslog daemon: over a local
 *      socket, UDP (RFC 5426), or TCP with octet counting (RFC 6587).
 *
 *      The sink's buffer holds frames: the length of a message in decimal, a
 *      blank, the message.  That is what goes over TCP; datagrams carry the
 *      message alone, one per write.
 *
 *      Over TCP a message has arrived when the server's system has acknowledged
 *      its last byte.  When a connection breaks, the next one gets the messages
 *      that were not acknowledged.  What a server had received but not read
 * when it died is lost, and cannot be known.
 */

#include "base/assert.h"
#include "base/clock.h"
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/un.h>

#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkbuffer.h"
#include "log/stream/severity.h"
#include "log/stream/system.h"
#include "log/target/syslogaddress.h"
#include "log/target/targetcheck.h"
#include "log/target/target.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define FACILITY_DAEMON 3
#define WAIT_SECONDS                                                  \
    2                      /* For a connection, for room, and for the \
                            * server's system to acknowledge. */
#define BREAK_MS     30000 /* After this time without, it is gone. */
#define REFUSAL_MS   100
#define MIN_DATAGRAM 480 /* The length that every receiver must take. */
/* Longer frames make servers close the connection, or lose their place. */
#define MAX_MESSAGE       65000
#define MAX_LENGTH_DIGITS 10
#define MSGID_BYTES       32
#define BYTE_ORDER_MARK   "\xef\xbb\xbf"

static int     CheckAddress(const char *text);
static bool    OpenNothing(Ns_LogSink sink);
static bool    Connect(Ns_LogSink sink);
static bool    ConnectUnix(Ns_LogSink sink, const char *path);
static bool    ConnectInet(Ns_LogSink sink, const NsSyslogAddress *addressPtr);
static bool    ConnectInTime(int fd, const struct sockaddr *addressPtr,
                             socklen_t length);
static ssize_t WriteSyslog(Ns_LogSink sink, const char *bytes, size_t length);
static bool    IsClosedByServer(int fd);
static ssize_t SendDatagram(Ns_LogSink sink, const char *bytes, size_t length);
static size_t  CharacterEnd(const char *bytes, size_t length);
static bool    IsRefused(Ns_LogSink sink);
static bool    ConfirmSyslog(Ns_LogSink sink);
static void    Break(Ns_LogSink sink);
static void    CloseSyslog(Ns_LogSink sink);
static size_t  FormatMessage(Ns_LogSink sink, Ns_LogStream stream,
                             const Ns_LogRecord *recordPtr, char *buffer,
                             size_t room);
static void    PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr, int pid,
                       const char *thread);
static const char *HostName(void);
static int         SyslogSeverity(int severity);
static bool        IsAscii(const char *bytes, size_t length);
static size_t FrameHead(const char *bytes, size_t length, size_t *messagePtr);
static void   BackToFrame(Ns_LogSink sink);

static const Ns_LogSinkOption options[] = {
    {.name = "address",
     .kind = NS_LOGSINK_TEXT,
     .checkProc = CheckAddress,
     .range = "unix:PATH, udp:HOST:PORT, or tcp:HOST:PORT",
     .sentence = "The daemon: unix:PATH, udp:HOST:PORT, tcp:HOST:PORT."},
    {.name = NULL}};

const NsSinkType nsSyslogSinkType = {
    .name = "syslog",
    .options = options,
    .isRemote = true,
    .openProc = OpenNothing,
    .writeProc = WriteSyslog,
    .confirmProc = ConfirmSyslog,
    .closeProc = CloseSyslog,
    .formatProc = FormatMessage};

static int
CheckAddress(const char *text)
{
    NsSyslogAddress address;

    return NsSyslogParseAddress(text, &address) ? NS_OK : NS_ERROR;
}

/*
 * The server may come later: the first write connects.
 */
static bool
OpenNothing(Ns_LogSink sink)
{
    NsSyslogAddress address;

    if (!NsSyslogParseAddress(sink->target->file, &address)) {
        errno = EINVAL;
        return false;
    }
    sink->target->isDatagram = address.kind != NS_SYSLOG_TCP;
    return true;
}

static bool
Connect(Ns_LogSink sink)
{
    NsSyslogAddress address;

    NsAssert(sink->target->fd < 0);
    (void) NsSyslogParseAddress(sink->target->file, &address);
    return address.kind == NS_SYSLOG_UNIX
        ? ConnectUnix(sink, address.path)
        : ConnectInet(sink, &address);
}

static bool
ConnectUnix(Ns_LogSink sink, const char *path)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int reason, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return false;
    }
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
    if (ConnectInTime(fd, (struct sockaddr *) &sa, sizeof(sa))) {
        sink->target->fd = fd;
        return true;
    }
    reason = errno;
    close(fd);
    errno = reason;
    return false;
}

static bool
ConnectInet(Ns_LogSink sink, const NsSyslogAddress *addressPtr)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = sink->target->isDatagram ? SOCK_DGRAM : SOCK_STREAM};
    struct addrinfo *list, *infoPtr;
    int              reason = ECONNREFUSED, status;

    status = getaddrinfo(addressPtr->host, addressPtr->port, &hints, &list);
    if (status != 0) {
        snprintf(sink->failing->complaint, sizeof(sink->failing->complaint),
                 "%s", gai_strerror(status));
        errno = EHOSTUNREACH;
        return false;
    }
    for (infoPtr = list; infoPtr != NULL && sink->target->fd < 0;
         infoPtr = infoPtr->ai_next) {
        int fd = socket(infoPtr->ai_family, infoPtr->ai_socktype | SOCK_CLOEXEC,
                        infoPtr->ai_protocol);

        if (fd >= 0
            && ConnectInTime(fd, infoPtr->ai_addr, infoPtr->ai_addrlen)) {
            sink->target->fd = fd;
        } else {
            reason = errno;
            if (fd >= 0) {
                close(fd);
            }
        }
    }
    freeaddrinfo(list);
    if (sink->target->fd >= 0 && !sink->target->isDatagram) {
        unsigned limit = BREAK_MS;

        (void) setsockopt(sink->target->fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
                          &limit, sizeof(limit));
    }
    errno = reason;
    return sink->target->fd >= 0;
}

static bool
ConnectInTime(int fd, const struct sockaddr *addressPtr, socklen_t length)
{
    struct timeval limit = {WAIT_SECONDS, 0};

    /* Linux applies it to connect as well. */
    (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd, addressPtr, length) == 0) {
        return true;
    }
    if (errno == EINPROGRESS) {
        errno = ETIMEDOUT;
    }
    return false;
}

/*
 * The bytes are those of the sink's buffer from nWritten on.  A new connection
 * may begin before them.
 */
static ssize_t
WriteSyslog(Ns_LogSink sink, const char *bytes, size_t length)
{
    ssize_t n;

    NsTargetCheckWrite(sink, bytes, length);
    if (sink->target->fd >= 0 && !sink->target->isDatagram
        && IsClosedByServer(sink->target->fd)) {
        Break(sink);
    }
    if (sink->target->fd < 0) {
        if (!Connect(sink)) {
            return -1;
        }
        bytes = sink->buffer->bytes + sink->buffer->nWritten;
        length = sink->buffer->nBuffered - sink->buffer->nWritten;
    }
    n = sink->target->isDatagram
        ? SendDatagram(sink, bytes, length)
        : send(sink->target->fd, bytes, length, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        /* The server does not read; keep the connection. */
        errno = ETIMEDOUT;
    } else if (n < 0 && errno != EINTR) {
        int reason = errno;

        Break(sink);
        errno = reason;
    }
    return n;
}

/*
 * The first write after the server has closed would seem to succeed.
 */
static bool
IsClosedByServer(int fd)
{
    char    byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return n == 0
        || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/*
 * A message that is too long for the path is cut (RFC 5424, 6.1).
 */
static ssize_t
SendDatagram(Ns_LogSink sink, const char *bytes, size_t length)
{
    size_t messageBytes, head = FrameHead(bytes, length, &messageBytes);
    size_t most = messageBytes;

    while (send(sink->target->fd, bytes + head, most, MSG_NOSIGNAL) < 0) {
        if (errno != EMSGSIZE || most <= MIN_DATAGRAM) {
            return -1;
        }
        most = CharacterEnd(bytes + head, MAX(most / 2, MIN_DATAGRAM));
    }
    if (IsRefused(sink)) {
        errno = ECONNREFUSED;
        return -1;
    }
    return (ssize_t) (head + messageBytes);
}

/*
 * The last place up to length where a character ends.
 */
static size_t
CharacterEnd(const char *bytes, size_t length)
{
    while (length > 0 && (bytes[length] & 0xc0) == 0x80) {
        length--;
    }
    return length;
}

/*
 * If nobody listens to UDP, the network reports it later, if at all: on the
 * same machine at once.  While it is known that nobody did, wait a little for
 * it, or each datagram would seem to end the episode.
 */
static bool
IsRefused(Ns_LogSink sink)
{
    bool isInEpisode = sink->failing->reason != 0
        && sink->buffer->nWritten == 0;
    struct pollfd pfd = {.fd = sink->target->fd};

    return poll(&pfd, 1, isInEpisode ? REFUSAL_MS : 0) > 0
        && (pfd.revents & POLLERR) != 0;
}

/*
 * Nothing reports that all has been acknowledged, so poll, with growing pauses.
 */
static bool
ConfirmSyslog(Ns_LogSink sink)
{
    int64_t until = NsLogClock() + WAIT_SECONDS * NS_STAMP_SECOND;
    int     pauseMs = 1, nLeft;

    NsTargetCheckWritten(sink);
    while (!sink->target->isDatagram && sink->target->fd >= 0
           && ioctl(sink->target->fd, SIOCOUTQ, &nLeft) == 0 && nLeft > 0) {
        struct pollfd pfd = {.fd = sink->target->fd};

        if (NsLogClock() >= until) {
            errno = ETIMEDOUT;
            return false;
        }
        if (poll(&pfd, 1, pauseMs) > 0) {
            Break(sink);
            errno = ECONNRESET;
            return false;
        }
        pauseMs = MIN(2 * pauseMs, 50);
    }
    return true;
}

/*
 * The connection is gone, and with it what the server's system had not
 * acknowledged.  The next one begins with the first message that was affected.
 */
static void
Break(Ns_LogSink sink)
{
    int nLeft = 0;

    if (!sink->target->isDatagram && sink->target->fd >= 0) {
        (void) ioctl(sink->target->fd, SIOCOUTQ, &nLeft);
        sink->buffer->nWritten -= MIN((size_t) MAX(nLeft, 0),
                                      sink->buffer->nWritten);
    }
    if (sink->buffer->nWritten > 0) {
        BackToFrame(sink);
    }
    CloseSyslog(sink);
}

static void
CloseSyslog(Ns_LogSink sink)
{
    if (sink->target->fd >= 0) {
        close(sink->target->fd);
        sink->target->fd = -1;
    }
}

/*
 * A frame.  The message is formatted behind space for the longest length and
 * for the byte order mark, with which text beyond ASCII begins (RFC 5424, 6.4).
 */
static size_t
FormatMessage(Ns_LogSink sink, Ns_LogStream stream,
              const Ns_LogRecord *recordPtr, char *buffer, size_t room)
{
    const size_t markBytes = strlen(BYTE_ORDER_MARK);
    NsLogOut     out = {buffer, room, MAX_LENGTH_DIGITS + 1};
    NsLogEntry   entry;
    size_t       start, n, headBytes, textBytes;
    int          pid = sink->reader->ringPtr != NULL
                 ? (int) sink->reader->ringPtr->headerPtr->pid
                 : getpid();
    bool         isEntry = NsSystemLogDecode(recordPtr, stream, &entry);

    if (room < out.length) {
        out.room = 0;
    }
    PutHead(&out, recordPtr, pid, isEntry ? entry.threadName : NULL);
    headBytes = out.length - MAX_LENGTH_DIGITS - 1;
    out.length += markBytes;
    start = out.length;
    if (isEntry) {
        NsLogSanitize(&out, entry.message, entry.messageLength, 1);
    } else {
        n = NsStreamFormat(stream, sink->settings.format, recordPtr,
                           buffer + MIN(start, room), room - MIN(start, room));
        if (n == 0) {
            return 0;
        }
        out.length += n - 1; /* Without the newline. */
    }
    if (out.length + 1 > room) {
        return out.length + 1;
    }

    textBytes = out.length - start;
    if (headBytes + markBytes + textBytes > MAX_MESSAGE) {
        textBytes = CharacterEnd(buffer + start,
                                 MAX_MESSAGE - headBytes - markBytes);
    }
    if (IsAscii(buffer + start, textBytes)) {
        start -= markBytes;
        memmove(buffer + start, buffer + start + markBytes, textBytes);
    } else {
        memcpy(buffer + start - markBytes, BYTE_ORDER_MARK, markBytes);
        textBytes += markBytes;
    }
    n = NsLogDigits(buffer, headBytes + textBytes, 1);
    buffer[n++] = ' ';
    NsAssert(n <= MAX_LENGTH_DIGITS + 1);
    memmove(buffer + n, buffer + MAX_LENGTH_DIGITS + 1, headBytes + textBytes);
    return n + headBytes + textBytes;
}

/*
 * <PRI>1 TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG
 */
static void
PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr, int pid,
        const char *thread)
{
    time_t    seconds = (time_t) (recordPtr->time / NS_STAMP_SECOND);
    struct tm tm;
    char      head[512], id[MSGID_BYTES + 1];
    int       n;

    snprintf(id, sizeof(id), "%s",
             thread == NULL || *thread == '\0' ? "-" : thread);
    for (char *p = id; *p != '\0'; p++) {
        if (*p <= ' ' || *p > '~') {
            *p = '_';
        }
    }
    gmtime_r(&seconds, &tm);
    n = snprintf(head, sizeof(head),
                 "<%d>1 %04d-%02d-%02dT%02d:%02d:%02d.%06dZ %s nsd %d %s - ",
                 FACILITY_DAEMON * 8 + SyslogSeverity(recordPtr->severity),
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec,
                 (int) (recordPtr->time % NS_STAMP_SECOND / 1000), HostName(),
                 pid, id);
    NsAssert(n > 0 && (size_t) n < sizeof(head));
    NsLogPut(outPtr, head, (size_t) n);
}

static const char *
HostName(void)
{
    static _Thread_local char host[256];

    if (host[0] == '\0') {
        if (gethostname(host, sizeof(host)) != 0) {
            strcpy(host, "-");
        }
        host[sizeof(host) - 1] = '\0';
    }
    return host;
}

static int
SyslogSeverity(int severity)
{
    switch (severity) {
    case Notice:
    case Deprecated:
        return 5;
    case Warning:
    case Security:
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

static bool
IsAscii(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (UCHAR(bytes[i]) >= 0x80) {
            return false;
        }
    }
    return true;
}

/*
 * Bytes of the length and its blank; the length itself.  The bytes begin with a
 * frame, which is complete.
 */
static size_t
FrameHead(const char *bytes, size_t length, size_t *messagePtr)
{
    size_t n = 0, messageBytes = 0;

    while (n < length && bytes[n] != ' ') {
        NsAssert(bytes[n] >= '0' && bytes[n] <= '9');
        messageBytes = messageBytes * 10 + (size_t) (bytes[n++] - '0');
    }
    NsAssert(n < length && messageBytes <= length - n - 1);
    *messagePtr = messageBytes;
    return n + 1;
}

/*
 * If a connection broke within a message, the next one gets all of it.
 */
static void
BackToFrame(Ns_LogSink sink)
{
    size_t start = 0;

    while (start < sink->buffer->nWritten) {
        size_t messageBytes;
        size_t head = FrameHead(sink->buffer->bytes + start,
                                sink->buffer->nBuffered - start, &messageBytes);

        if (start + head + messageBytes > sink->buffer->nWritten) {
            break;
        }
        start += head + messageBytes;
    }
    NsAssert(start <= sink->buffer->nWritten);
    sink->buffer->nWritten = start;
}
