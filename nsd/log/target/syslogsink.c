/* SPDX-License-Identifier: MPL-2.0
 * syslogsink.c --
 *
 *      Sinks that send messages of RFC 5424 to a syslog daemon: over a local
 *      socket, UDP (RFC 5426), TCP with octet counting (RFC 6587), or TLS with
 *      the same (RFC 5425).
 *
 *      The sink's buffer holds frames: the length of a message in decimal, a
 *      blank, the message.  That is what goes over TCP and TLS; datagrams carry
 *      the message alone, one per write.
 *
 *      Of several addresses one is kept until it fails; then the next is tried.
 *
 *      When a connection breaks, the next one gets the messages that the
 *      server's system had not acknowledged.  What it had received but not read
 *      when it died is lost, and cannot be known: so over TLS the next
 *      connection gets those of the last seconds once more.
 */

#include "base/assert.h"
#include "base/clock.h"
#include "log/sink/flush.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkbuffer.h"
#include "log/stream/severity.h"
#include "log/stream/system.h"
#include "log/target/remote.h"
#include "log/target/remotesink.h"
#include "log/target/syslogaddress.h"
#include "log/target/targetcheck.h"
#include "log/target/target.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define FACILITY_DAEMON 3
/* For a connection, for room, and for a confirmation. */
#define WAIT_SECONDS 2
#define WAIT_NANOS   (WAIT_SECONDS * NS_STAMP_SECOND)
/* What was sent last is kept, in two parts: the older one goes when the newer
 * one has grown so old or so long. */
#define KEEP_NANOS   (5 * NS_STAMP_SECOND)
#define KEEP_BYTES   524288
#define REFUSAL_MS   100
#define MIN_DATAGRAM 480 /* The length that every receiver must take. */
/* Longer frames make servers close the connection, or lose their place. */
#define MAX_MESSAGE       65000
#define MAX_LENGTH_DIGITS 10
#define MSGID_BYTES       32
#define BYTE_ORDER_MARK   "\xef\xbb\xbf"

enum { ADDRESS_OPTION, TLS_OPTIONS };

/*
 * A sink's `own`.  The descriptor of datagrams is the sink's `fd`.
 */
typedef struct Daemon {
    NsRemoteTurn     turn;
    NsSyslogAddress *addresses;
    NsRemote        *remotePtr; /* NULL: not connected. */

    /* Of TLS: frames that the daemon's program may not have read. */
    Ns_DString older;
    Ns_DString newer;
    NsStamp    newerSince;
    int        nResent; /* So much of them is sent, on this connection. */
} Daemon;

static int                    CheckAddresses(const char *text);
static bool                   IsAddress(const char *text);
static bool                   OpenNothing(Ns_LogSink sink);
static const NsSyslogAddress *Address(Ns_LogSink sink);
static bool                   IsStream(Ns_LogSink sink);
static bool                   IsConnected(Ns_LogSink sink);
static bool                   ConnectToOne(Ns_LogSink sink);
static void                   TakeNext(Ns_LogSink sink);
static bool                   Connect(Ns_LogSink sink, NsStamp *untilPtr);
static bool                   ConnectUdp(Ns_LogSink sink, NsStamp *untilPtr);
static bool                   ConnectStream(Ns_LogSink sink, NsStamp *untilPtr);
static ssize_t WriteSyslog(Ns_LogSink sink, const char *bytes, size_t length);
static bool    Resend(Ns_LogSink sink);
static ssize_t SendFrames(Ns_LogSink sink, const char *bytes, size_t length);
static ssize_t SendDatagram(Ns_LogSink sink, const char *bytes, size_t length);
static size_t  CharacterEnd(const char *bytes, size_t length);
static bool    IsRefused(Ns_LogSink sink);
static bool    ConfirmSyslog(Ns_LogSink sink);
static void    Keep(Ns_LogSink sink);
static void    Break(Ns_LogSink sink);
static void    Disconnect(Ns_LogSink sink);
static void    CloseSyslog(Ns_LogSink sink);
static size_t  FormatMessage(Ns_LogSink sink, Ns_LogStream stream,
                             const Ns_LogRecord *recordPtr, char *buffer,
                             size_t room);
static void    PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr,
                       Ns_LogSeverity severity, int pid, const char *thread);
static void    PutIds(NsLogOut *outPtr, const NsLogEntry *entryPtr);
static void PutParameter(NsLogOut *outPtr, const char *start, const char *id);
static const char *HostName(void);
static bool        IsAscii(const char *bytes, size_t length);
static size_t FrameHead(const char *bytes, size_t length, size_t *messagePtr);
static void   BackToFrame(Ns_LogSink sink);

static const Ns_LogSinkOption options[] = {
    [ADDRESS_OPTION] = {.name = "address",
                        .kind = NS_LOGSINK_TEXT,
                        .checkProc = CheckAddresses,
                        .range = "a list of unix:PATH, udp:HOST:PORT, "
                                 "tcp:HOST:PORT, or tls:HOST:PORT",
                        .sentence = "The daemon, or several that are tried in "
                                    "turn: unix:PATH, udp:HOST:PORT, "
                                    "tcp:HOST:PORT, tls:HOST:PORT."},
    NS_REMOTE_TLS_OPTIONS,
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
CheckAddresses(const char *text)
{
    return NsRemoteAreAddresses(text, IsAddress) ? NS_OK : NS_ERROR;
}

static bool
IsAddress(const char *text)
{
    NsSyslogAddress address;

    return NsSyslogParseAddress(text, &address);
}

/*
 * The server may come later: the first write connects.
 */
static bool
OpenNothing(Ns_LogSink sink)
{
    Daemon *daemonPtr = sink->target->own;

    if (daemonPtr == NULL) {
        if (CheckAddresses(sink->target->file) != NS_OK) {
            errno = EINVAL;
            return false;
        }
        daemonPtr = ns_calloc(1u, sizeof(*daemonPtr));
        NsRemoteTurnInit(&daemonPtr->turn, sink->target->file);
        daemonPtr->addresses = ns_calloc((size_t) daemonPtr->turn.n,
                                         sizeof(*daemonPtr->addresses));
        for (int i = 0; i < daemonPtr->turn.n; i++) {
            (void) NsSyslogParseAddress(daemonPtr->turn.addresses[i],
                                        &daemonPtr->addresses[i]);
        }
        Ns_DStringInit(&daemonPtr->older);
        Ns_DStringInit(&daemonPtr->newer);
        sink->target->own = daemonPtr;
    }
    return true;
}

/*
 * The one in use.
 */
static const NsSyslogAddress *
Address(Ns_LogSink sink)
{
    const Daemon *daemonPtr = sink->target->own;

    return &daemonPtr->addresses[daemonPtr->turn.now];
}

static bool
IsStream(Ns_LogSink sink)
{
    NsSyslogKind kind = Address(sink)->kind;

    return kind == NS_SYSLOG_TCP || kind == NS_SYSLOG_TLS;
}

static bool
IsConnected(Ns_LogSink sink)
{
    const Daemon *daemonPtr = sink->target->own;

    NsAssert(sink->target->fd < 0 || daemonPtr->remotePtr == NULL);
    return sink->target->fd >= 0 || daemonPtr->remotePtr != NULL;
}

/*
 * To the daemon in use or, if it is not there, to the next one that is; each
 * gets a share of the time, to which the look-up of its name does not count.
 */
static bool
ConnectToOne(Ns_LogSink sink)
{
    Daemon *daemonPtr = sink->target->own;
    NsStamp end = NsClockNow() + WAIT_NANOS;

    for (int nLeft = daemonPtr->turn.n; nLeft > 0; nLeft--) {
        NsStamp now = NsClockNow();
        NsStamp share = now + (end - now) / nLeft, until = share;

        if (Connect(sink, &until)) {
            return true;
        }
        NsAssert(until >= share);
        end += until - share;
        TakeNext(sink);
    }
    return false;
}

static void
TakeNext(Ns_LogSink sink)
{
    NsRemoteTurn *turnPtr = &((Daemon *) sink->target->own)->turn;

    NsRemoteTurnTo(turnPtr, sink, (turnPtr->now + 1) % turnPtr->n);
}

static bool
Connect(Ns_LogSink sink, NsStamp *untilPtr)
{
    NsAssert(!IsConnected(sink));
    NsDeliverComplain(sink, "");
    switch (Address(sink)->kind) {
    case NS_SYSLOG_UNIX:
        sink->target->fd = NsRemoteConnectLocal(Address(sink)->path,
                                                WAIT_SECONDS);
        return sink->target->fd >= 0;
    case NS_SYSLOG_UDP:
        return ConnectUdp(sink, untilPtr);
    default:
        return ConnectStream(sink, untilPtr);
    }
}

static bool
ConnectUdp(Ns_LogSink sink, NsStamp *untilPtr)
{
    sink->target->fd = NsRemoteConnect(Address(sink)->host, Address(sink)->port,
                                       SOCK_DGRAM, untilPtr,
                                       sink->failing->complaint);
    if (sink->target->fd >= 0) {
        NsRemoteLimitSend(sink->target->fd, WAIT_SECONDS);
    }
    return sink->target->fd >= 0;
}

static bool
ConnectStream(Ns_LogSink sink, NsStamp *untilPtr)
{
    Daemon      *daemonPtr = sink->target->own;
    NsRemoteSpec spec = {.host = Address(sink)->host,
                         .port = Address(sink)->port,
                         .isTls = Address(sink)->kind == NS_SYSLOG_TLS};

    if (spec.isTls) {
        NsRemoteSetTls(&spec, sink->values + TLS_OPTIONS);
    }
    daemonPtr->remotePtr = NsRemoteOpen(&spec, untilPtr,
                                        sink->failing->complaint);
    return daemonPtr->remotePtr != NULL;
}

/*
 * The bytes are those of the sink's buffer from nWritten on.  A new connection
 * may begin before them.
 */
static ssize_t
WriteSyslog(Ns_LogSink sink, const char *bytes, size_t length)
{
    Daemon *daemonPtr;

    NsTargetCheckWrite(sink, bytes, length);
    if (!OpenNothing(sink)) {
        return -1;
    }
    daemonPtr = sink->target->own;
    if (daemonPtr->remotePtr != NULL
        && NsRemoteIsClosed(daemonPtr->remotePtr)) {
        errno = ECONNRESET;
        Break(sink);
    }
    if (!IsConnected(sink)) {
        if (!ConnectToOne(sink)) {
            return -1;
        }
        bytes = sink->buffer->bytes + sink->buffer->nWritten;
        length = sink->buffer->nBuffered - sink->buffer->nWritten;
    }
    if (daemonPtr->remotePtr != NULL && !Resend(sink)) {
        return -1;
    }
    return IsStream(sink) ? SendFrames(sink, bytes, length)
                          : SendDatagram(sink, bytes, length);
}

/*
 * False: errno.
 */
static bool
Resend(Ns_LogSink sink)
{
    Daemon *daemonPtr = sink->target->own;
    int     nOlder = daemonPtr->older.length;

    while (daemonPtr->nResent < nOlder + daemonPtr->newer.length) {
        bool              isOlder = daemonPtr->nResent < nOlder;
        const Ns_DString *dsPtr = isOlder
            ? &daemonPtr->older
            : &daemonPtr->newer;
        int               at = daemonPtr->nResent - (isOlder ? 0 : nOlder);
        ssize_t           n = SendFrames(sink, dsPtr->string + at,
                                         (size_t) (dsPtr->length - at));

        if (n < 0) {
            return false;
        }
        daemonPtr->nResent += (int) n;
    }
    return true;
}

static ssize_t
SendFrames(Ns_LogSink sink, const char *bytes, size_t length)
{
    Daemon *daemonPtr = sink->target->own;
    ssize_t n = NsRemoteSend(daemonPtr->remotePtr, bytes, length,
                             NsClockNow() + WAIT_NANOS);

    /* If it only does not read, keep the connection. */
    if (n < 0 && errno != ETIMEDOUT) {
        Break(sink);
    }
    return n;
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
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            /* The server does not read. */
            errno = ETIMEDOUT;
            return -1;
        }
        if (errno != EMSGSIZE || most <= MIN_DATAGRAM) {
            if (errno != EINTR) {
                Break(sink);
            }
            return -1;
        }
        most = CharacterEnd(bytes + head, MAX(most / 2, MIN_DATAGRAM));
    }
    if (IsRefused(sink)) {
        Break(sink);
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
 * A datagram has arrived, or nobody knows.
 */
static bool
ConfirmSyslog(Ns_LogSink sink)
{
    Daemon *daemonPtr = sink->target->own;

    NsTargetCheckWritten(sink);
    if (daemonPtr == NULL) {
        return true;
    }
    if (daemonPtr->remotePtr == NULL
        || NsRemoteConfirm(daemonPtr->remotePtr, NsClockNow() + WAIT_NANOS)) {
        if (Address(sink)->kind == NS_SYSLOG_TLS) {
            Keep(sink);
        }
        NsRemoteTurnWorks(&daemonPtr->turn, sink);
        return true;
    }
    if (errno != ETIMEDOUT) {
        Break(sink);
    }
    return false;
}

/*
 * All of the buffer has arrived, but may not have been read.
 */
static void
Keep(Ns_LogSink sink)
{
    Daemon *daemonPtr = sink->target->own;
    NsStamp now = NsClockNow();

    if (now - daemonPtr->newerSince > KEEP_NANOS
        || daemonPtr->newer.length > KEEP_BYTES) {
        Ns_DStringSetLength(&daemonPtr->older, 0);
        Ns_DStringNAppend(&daemonPtr->older, daemonPtr->newer.string,
                          daemonPtr->newer.length);
        Ns_DStringSetLength(&daemonPtr->newer, 0);
        daemonPtr->newerSince = now;
    }
    Ns_DStringNAppend(&daemonPtr->newer, sink->buffer->bytes,
                      (int) sink->buffer->nBuffered);
    daemonPtr->nResent = daemonPtr->older.length + daemonPtr->newer.length;
}

/*
 * The connection is gone, and with it what was not confirmed.  The next one,
 * to the next daemon, begins with the first message that was affected.  What
 * errno says stays.
 */
static void
Break(Ns_LogSink sink)
{
    Daemon *daemonPtr = sink->target->own;
    int     reason = errno;

    if (daemonPtr->remotePtr != NULL) {
        NsDeliverComplain(sink, NsRemoteReason(daemonPtr->remotePtr));
        sink->buffer->nWritten -= MIN(NsRemoteAtRisk(daemonPtr->remotePtr),
                                      sink->buffer->nWritten);
    }
    if (sink->buffer->nWritten > 0) {
        BackToFrame(sink);
    }
    Disconnect(sink);
    errno = reason;
    TakeNext(sink);
}

static void
Disconnect(Ns_LogSink sink)
{
    Daemon *daemonPtr = sink->target->own;

    daemonPtr->nResent = 0;
    if (daemonPtr->remotePtr != NULL) {
        NsRemoteClose(&daemonPtr->remotePtr);
    }
    if (sink->target->fd >= 0) {
        close(sink->target->fd);
        sink->target->fd = -1;
    }
    NsAssert(!IsConnected(sink));
}

static void
CloseSyslog(Ns_LogSink sink)
{
    if (sink->target->own != NULL) {
        Daemon *daemonPtr = sink->target->own;

        Disconnect(sink);
        Ns_DStringFree(&daemonPtr->older);
        Ns_DStringFree(&daemonPtr->newer);
        NsRemoteTurnFree(&daemonPtr->turn);
        ns_free(daemonPtr->addresses);
        ns_free(daemonPtr);
        sink->target->own = NULL;
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
    const size_t   markBytes = strlen(BYTE_ORDER_MARK);
    NsLogOut       out = {buffer, room, MAX_LENGTH_DIGITS + 1};
    NsLogEntry     entry;
    NsFields       fields;
    size_t         start, n, headBytes, textBytes;
    Ns_LogSeverity severity;
    bool           isEntry = NsSystemLogDecode(recordPtr, stream, &entry);

    if (room < out.length) {
        out.room = 0;
    }
    if (isEntry) {
        severity = (Ns_LogSeverity) recordPtr->severity;
    } else {
        (void) NsFieldsRead(NsStreamFields(stream), recordPtr, &fields);
        severity = NsFieldsSeverity(&fields);
    }
    PutHead(&out, recordPtr, severity, NsRemoteLoggerPid(sink),
            isEntry ? entry.threadName : NULL);
    PutIds(&out, isEntry ? &entry : NULL);
    headBytes = out.length - MAX_LENGTH_DIGITS - 1;
    out.length += markBytes;
    start = out.length;
    if (isEntry) {
        NsLogSanitize(&out, entry.message, entry.messageLength, 1);
    } else {
        n = NsFormLine(sink->form, stream, recordPtr, sink->buffer->isNote,
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
PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr,
        Ns_LogSeverity severity, int pid, const char *thread)
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
                 "<%d>1 %04d-%02d-%02dT%02d:%02d:%02d.%06dZ %s nsd %d %s ",
                 FACILITY_DAEMON * 8 + NsSeveritySyslog((int) severity),
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec,
                 (int) (recordPtr->time % NS_STAMP_SECOND / 1000), HostName(),
                 pid, id);
    NsAssert(n > 0 && (size_t) n < sizeof(head));
    NsLogPut(outPtr, head, (size_t) n);
}

/*
 * The structured data: ids of the entry's request.  The number is the one that
 * is free for all.
 */
static void
PutIds(NsLogOut *outPtr, const NsLogEntry *entryPtr)
{
    if (entryPtr == NULL
        || (entryPtr->requestId == NULL && entryPtr->traceId == NULL)) {
        NsLogPut(outPtr, "- ", 2);
        return;
    }
    NsLogPut(outPtr, "[request@32473", 14);
    PutParameter(outPtr, " request_id=\"", entryPtr->requestId);
    PutParameter(outPtr, " trace_id=\"", entryPtr->traceId);
    NsLogPut(outPtr, "] ", 2);
}

/*
 * A record of a dead process may be damaged: only what needs no escape is put.
 */
static void
PutParameter(NsLogOut *outPtr, const char *start, const char *id)
{
    if (id != NULL) {
        NsLogPut(outPtr, start, strlen(start));
        for (; *id != '\0'; id++) {
            if (*id > ' ' && *id <= '~' && strchr("\"\\]", *id) == NULL) {
                NsLogPut(outPtr, id, 1);
            }
        }
        NsLogPut(outPtr, "\"", 1);
    }
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
