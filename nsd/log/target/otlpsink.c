/* SPDX-License-Identifier: MPL-2.0
 * otlpsink.c --
 *
 *      Sinks that send records to a collector of OpenTelemetry: OTLP over HTTP,
 *      in JSON (OTLP 1.x, section OTLP/HTTP).
 *
 *      The sink's buffer holds pieces: the length of a record as an object of
 *      JSON, and this.  A write takes as many as it can into one request.
 *
 *      What the answer says decides:
 *
 *          2xx                  the records are there, but those it rejects
 *          429, 502, 503, 504   try again, not before Retry-After
 *          401, 403, 404, 405, 407, 3xx: nothing gets through as the sink or
 *                               the server is set up; try again, too
 *          anything else        never again: with half of the records, until
 *                               the one is found that is refused
 *
 *      Of several collectors one is kept until it is one to try again; then
 *      another is asked at once, if there is one that is not to be left alone.
 */

#include "log/target/otlpsink.h"

#include "base/assert.h"
#include "http/urlparts.h"
#include "log/sink/flush.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinktarget.h"
#include "log/stream/json.h"
#include "log/stream/pairs.h"
#include "log/target/httppost.h"
#include "log/target/otlprecord.h"
#include "log/target/remotesink.h"
#include "log/target/targetcheck.h"
#include "nsconn.h"
#include "nsstring.h"
#include "nsthread.h"

#define GZIP_LEVEL 4
/* Between attempts while the server has trouble: at first, and at most. */
#define RETRY_NANOS     INT64_C(250000000)
#define MAX_RETRY_NANOS INT64_C(5000000000)
#define MAX_PIECES      10000 /* In a request. */
#define DEFAULT_TARGET  "/v1/logs"

enum {
    ENDPOINT_OPTION,
    HEADERS_OPTION,
    RESOURCE_OPTION,
    COMPRESSION_OPTION,
    TIMEOUT_OPTION,
    TLS_OPTIONS
};

typedef struct Collector {
    NsHttpPost post;
    char      *host;
    char      *port;
    char      *target;
    char      *fields;
    int        nFailures; /* In a row, */
    NsStamp    notBefore; /* and when to try again. */
} Collector;

/*
 * A sink's `own`.
 */
typedef struct Collectors {
    NsRemoteTurn  turn;
    Collector    *all;
    bool          isGzip;
    NsStamp       timeout;
    Ns_DString    json; /* The request under way, */
    Ns_DString    packed;
    NsOtlpScratch scratch;
    int           maxPieces; /* In the next request. */
} Collectors;

static int     CheckEndpoints(const char *text);
static bool    IsEndpoint(const char *text);
static int     CheckHeaders(const char *text);
static int     CheckPairs(const char *text);
static int     CheckCompression(const char *text);
static bool    SplitEndpoint(const char *text, NsUrlParts *partsPtr);
static char   *ShowEndpoints(const char *text);
static bool    OpenNothing(Ns_LogSink sink);
static void    SetCollectors(Ns_LogSink sink, Collectors *ownPtr);
static void    SetServer(Ns_LogSink sink, Collector *collectorPtr,
                         const char *endpoint, bool isGzip);
static char   *FieldsOf(Ns_LogSink sink, const Collector *collectorPtr,
                        bool isGzip);
static ssize_t WriteRecords(Ns_LogSink sink, const char *bytes, size_t length);
static size_t  Collect(Ns_LogSink sink, const char *bytes, size_t length,
                       int *nPtr);
static void    AppendResource(Ns_LogSink sink, Ns_DString *dsPtr);
static void    AppendText(Ns_DString *dsPtr, const char *key, const char *text,
                          bool isFirst);
static bool    Post(Ns_LogSink sink, NsHttpAnswer *answerPtr);
static ssize_t Judge(Ns_LogSink sink, const NsHttpAnswer *answerPtr,
                     size_t nBytes, int nPieces);
static bool    IsWorthRetrying(int status);
static ssize_t Accepted(Ns_LogSink sink, const NsHttpAnswer *answerPtr,
                        size_t nBytes, int nPieces);
static ssize_t Later(Ns_LogSink sink, int reason, NsStamp after);
static void    CloseCollectors(Ns_LogSink sink);
static void    FreeCollector(Collector *collectorPtr);
static size_t  FormatPiece(Ns_LogSink sink, Ns_LogStream stream,
                           const Ns_LogRecord *recordPtr, char *buffer,
                           size_t room);

static const Ns_LogSinkOption options[] = {
    [ENDPOINT_OPTION] = {.name = "endpoint",
                         .kind = NS_LOGSINK_TEXT,
                         .defaultText = "http://localhost:4318/v1/logs",
                         .checkProc = CheckEndpoints,
                         .range = "a list of URLs, http://HOST or "
                                  "https://HOST, with :PORT and /PATH if need "
                                  "be",
                         .sentence = "The collector's URL for logs, or "
                                     "several that are tried in turn; without "
                                     "a path, /v1/logs."},
    [HEADERS_OPTION] = {.name = "headers",
                        .kind = NS_LOGSINK_TEXT,
                        .defaultText = "",
                        .isSecret = true,
                        .checkProc = CheckHeaders,
                        .range = "a list of names and values",
                        .sentence = "Header fields of each request, such as "
                                    "Authorization: names and values."},
    [RESOURCE_OPTION] =
        {.name = "resource",
         .kind = NS_LOGSINK_TEXT,
         .defaultText = "service.name nsd",
         .checkProc = CheckPairs,
         .range = "a list of names and values",
         .sentence = "Attributes of this server as a resource, in addition to "
                     "host.name and process.pid."},
    [COMPRESSION_OPTION] = {.name = "compression",
                            .kind = NS_LOGSINK_TEXT,
                            .defaultText = "gzip",
                            .checkProc = CheckCompression,
                            .range = "gzip, or none",
                            .sentence = "Of the requests: gzip or none."},
    [TIMEOUT_OPTION] = {.name = "timeout",
                        .kind = NS_LOGSINK_TIME,
                        .defaultText = "4s",
                        .min = 1,
                        .max = 60,
                        .range = "a time from 1s to 60s",
                        .sentence = "How long one request may take."},
    NS_REMOTE_TLS_OPTIONS,
    {.name = NULL}};

const NsSinkType nsOtlpSinkType = {
    .name = "otlp",
    .options = options,
    .showProc = ShowEndpoints,
    .isRemote = true,
    .openProc = OpenNothing,
    .writeProc = WriteRecords,
    .closeProc = CloseCollectors,
    .formatProc = FormatPiece};

static int
CheckEndpoints(const char *text)
{
    return NsRemoteAreAddresses(text, IsEndpoint) ? NS_OK : NS_ERROR;
}

/*
 * One that is shown must be a word of a list as it is.
 */
static bool
IsEndpoint(const char *text)
{
    NsUrlParts parts;

    return text[strcspn(text, " \t\r\n\v\f\\")] == '\0'
        && SplitEndpoint(text, &parts);
}

static bool
SplitEndpoint(const char *text, NsUrlParts *partsPtr)
{
    const NsSpan *parts = partsPtr->parts;

    if (NsUrlSplit(text, true, partsPtr) != NULL
        || parts[NS_URL_HOST].length == 0
        || parts[NS_URL_USERINFO].start != NULL
        || parts[NS_URL_ANCHOR].start != NULL) {
        return false;
    }
    return (parts[NS_URL_PROTO].length == 4
            && strncasecmp(text, "http", 4) == 0)
        || (parts[NS_URL_PROTO].length == 5
            && strncasecmp(text, "https", 5) == 0);
}

/*
 * The query of a URL may have a key.
 */
static char *
ShowEndpoints(const char *text)
{
    const char **words;
    int          n;
    Ns_DString   ds;

    Ns_DStringInit(&ds);
    if (Tcl_SplitList(NULL, text, &n, &words) == TCL_OK) {
        for (int i = 0; i < n; i++) {
            Ns_DStringNAppend(&ds, " ", i > 0);
            Ns_DStringNAppend(&ds, words[i], (int) strcspn(words[i], "?"));
        }
        Tcl_Free((char *) words);
    }
    return Ns_DStringExport(&ds);
}

static int
CheckPairs(const char *text)
{
    int          n;
    const char **words = NsPairsSplit(text, &n);

    if (words == NULL) {
        return NS_ERROR;
    }
    Tcl_Free((char *) words);
    return NS_OK;
}

/*
 * Names are tokens, and no value ends its line.
 */
static int
CheckHeaders(const char *text)
{
    int          n;
    const char **words = NsPairsSplit(text, &n);
    bool         isOk = words != NULL;

    if (isOk) {
        for (int i = 0; i < n; i += 2) {
            const char *name = words[i], *value = words[i + 1];

            isOk = isOk && *name != '\0'
                && name[strspn(name,
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789-_.")]
                    == '\0';
            for (; *value != '\0'; value++) {
                isOk = isOk
                    && (*value == '\t'
                        || (UCHAR(*value) >= ' ' && *value != '\x7f'));
            }
        }
        Tcl_Free((char *) words);
    }
    return isOk ? NS_OK : NS_ERROR;
}

static int
CheckCompression(const char *text)
{
    return STREQ(text, "gzip") || STREQ(text, "none") ? NS_OK : NS_ERROR;
}

/*
 * The server may come later: the first write connects.
 */
static bool
OpenNothing(Ns_LogSink sink)
{
    if (sink->target->own == NULL) {
        Collectors *ownPtr = ns_calloc(1u, sizeof(*ownPtr));

        NsAssert(sink->values != NULL);
        Ns_DStringInit(&ownPtr->json);
        Ns_DStringInit(&ownPtr->packed);
        ownPtr->isGzip = STREQ(sink->values[COMPRESSION_OPTION].text, "gzip");
        ownPtr->timeout = sink->values[TIMEOUT_OPTION].number;
        ownPtr->maxPieces = MAX_PIECES;
        SetCollectors(sink, ownPtr);
        sink->target->own = ownPtr;
    }
    return true;
}

static void
SetCollectors(Ns_LogSink sink, Collectors *ownPtr)
{
    const char **endpoints;
    int          n, status;

    NsRemoteTurnInit(&ownPtr->turn, sink->target->file);
    status = Tcl_SplitList(NULL, sink->values[ENDPOINT_OPTION].text, &n,
                           &endpoints);
    NsAssert(status == TCL_OK && n == ownPtr->turn.n);
    ownPtr->all = ns_calloc((size_t) n, sizeof(*ownPtr->all));
    for (int i = 0; i < n; i++) {
        SetServer(sink, &ownPtr->all[i], endpoints[i], ownPtr->isGzip);
    }
    Tcl_Free((char *) endpoints);
}

static void
SetServer(Ns_LogSink sink, Collector *collectorPtr, const char *endpoint,
          bool isGzip)
{
    NsUrlParts    url;
    bool          isOk = SplitEndpoint(endpoint, &url);
    bool          isTls = url.parts[NS_URL_PROTO].length == strlen("https");
    const NsSpan *hostPtr = &url.parts[NS_URL_HOST];
    const NsSpan *portPtr = &url.parts[NS_URL_PORT];
    const char   *rest;

    NsAssert(isOk);
    collectorPtr->host = ns_strncopy(hostPtr->start, (ssize_t) hostPtr->length);
    collectorPtr->port = portPtr->length > 0
        ? ns_strncopy(portPtr->start, (ssize_t) portPtr->length)
        : ns_strdup(isTls ? "443" : "80");
    rest = strchr(strstr(endpoint, "//") + 2, '/');
    collectorPtr->target =
        ns_strdup(rest != NULL && rest[1] != '\0' ? rest : DEFAULT_TARGET);
    collectorPtr->fields = FieldsOf(sink, collectorPtr, isGzip);
    collectorPtr->post = (NsHttpPost){
        .server = {.host = collectorPtr->host,
                   .port = collectorPtr->port,
                   .isTls = isTls},
        .target = collectorPtr->target,
        .fields = collectorPtr->fields};
    NsRemoteSetTls(&collectorPtr->post.server, sink->values + TLS_OPTIONS);
}

static char *
FieldsOf(Ns_LogSink sink, const Collector *collectorPtr, bool isGzip)
{
    bool         isV6 = strchr(collectorPtr->host, ':') != NULL;
    const char **words;
    int          n;
    Ns_DString   ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "Host: %s%s%s:%s\r\n", isV6 ? "[" : "",
                     collectorPtr->host, isV6 ? "]" : "", collectorPtr->port);
    Ns_DStringAppend(&ds,
                     "User-Agent: nsd\r\nContent-Type: application/json\r\n");
    if (isGzip) {
        Ns_DStringAppend(&ds, "Content-Encoding: gzip\r\n");
    }
    if (Tcl_SplitList(NULL, sink->values[HEADERS_OPTION].text, &n, &words)
        == TCL_OK) {
        for (int i = 0; i + 1 < n; i += 2) {
            Ns_DStringVarAppend(&ds, words[i], ": ", words[i + 1], "\r\n",
                                (char *) NULL);
        }
        Tcl_Free((char *) words);
    }
    return Ns_DStringExport(&ds);
}

/*
 * As many pieces as the server takes at a time.
 */
static ssize_t
WriteRecords(Ns_LogSink sink, const char *bytes, size_t length)
{
    Collectors  *ownPtr;
    NsHttpAnswer answer;
    size_t       nBytes;
    ssize_t      nWritten;
    int          nPieces;

    NsTargetCheckWrite(sink, bytes, length);
    (void) OpenNothing(sink);
    ownPtr = sink->target->own;
    nBytes = Collect(sink, bytes, length, &nPieces);
    Ns_DStringInit(&answer.body);
    if (Post(sink, &answer)) {
        nWritten = Judge(sink, &answer, nBytes, nPieces);
    } else {
        int reason = errno;

        NsDeliverComplain(sink, ownPtr->all[ownPtr->turn.now].post.reason);
        nWritten = Later(sink, reason, -1);
    }
    Ns_DStringFree(&answer.body);
    return nWritten;
}

/*
 * Make the request of the first pieces; how many bytes they have.
 */
static size_t
Collect(Ns_LogSink sink, const char *bytes, size_t length, int *nPtr)
{
    Collectors *ownPtr = sink->target->own;
    Ns_DString *dsPtr = &ownPtr->json;
    size_t      at = 0;
    int         n = 0;

    Ns_DStringSetLength(dsPtr, 0);
    Ns_DStringAppend(dsPtr, "{\"resourceLogs\":[{\"resource\":");
    AppendResource(sink, dsPtr);
    Ns_DStringAppend(dsPtr,
                     ",\"scopeLogs\":[{\"scope\":{\"name\":\"nsd\"},"
                     "\"logRecords\":[");
    while (at < length && n < ownPtr->maxPieces) {
        size_t      nRecord;
        const char *record = NsPieceRecord(bytes + at, length - at, &nRecord);

        if (n++ > 0) {
            Ns_DStringNAppend(dsPtr, ",", 1);
        }
        Ns_DStringNAppend(dsPtr, record, (int) nRecord);
        at += NS_PIECE_HEAD + nRecord;
    }
    Ns_DStringAppend(dsPtr, "]}]}]}");
    *nPtr = n;
    return at;
}

static void
AppendResource(Ns_LogSink sink, Ns_DString *dsPtr)
{
    char         host[256] = "";
    const char **words;
    int          n;

    (void) gethostname(host, sizeof(host) - 1);
    Ns_DStringAppend(dsPtr, "{\"attributes\":[");
    AppendText(dsPtr, "host.name", host, true);
    Ns_DStringPrintf(dsPtr,
                     ",{\"key\":\"process.pid\",\"value\":{\"intValue\":"
                     "\"%d\"}}",
                     NsRemoteLoggerPid(sink));
    if (Tcl_SplitList(NULL, sink->values[RESOURCE_OPTION].text, &n, &words)
        == TCL_OK) {
        for (int i = 0; i + 1 < n; i += 2) {
            AppendText(dsPtr, words[i], words[i + 1], false);
        }
        Tcl_Free((char *) words);
    }
    Ns_DStringAppend(dsPtr, "]}");
}

static void
AppendText(Ns_DString *dsPtr, const char *key, const char *text, bool isFirst)
{
    NsLogOut out = {NULL, 0, 0};
    int      length = dsPtr->length;

    NsOtlpPutText(&out, key, text, strlen(text), isFirst);
    Ns_DStringSetLength(dsPtr, length + (int) out.length);
    out = (NsLogOut){dsPtr->string + length, out.length, 0};
    NsOtlpPutText(&out, key, text, strlen(text), isFirst);
    NsAssert(out.length == out.room);
}

static bool
Post(Ns_LogSink sink, NsHttpAnswer *answerPtr)
{
    Collectors       *ownPtr = sink->target->own;
    const Ns_DString *bodyPtr = &ownPtr->json;

    if (ownPtr->isGzip) {
        Ns_DStringSetLength(&ownPtr->packed, 0);
        if (Ns_CompressGzip(bodyPtr->string, bodyPtr->length, &ownPtr->packed,
                            GZIP_LEVEL)
            != NS_OK) {
            errno = ENOMEM;
            return false;
        }
        bodyPtr = &ownPtr->packed;
    }
    return NsHttpPostSend(&ownPtr->all[ownPtr->turn.now].post, bodyPtr->string,
                          (size_t) bodyPtr->length,
                          NsClockNow() + ownPtr->timeout, answerPtr);
}

/*
 * What becomes of the pieces: how many bytes are done with; -1: none, and errno
 * is EINTR if it is to be tried at once.
 */
static ssize_t
Judge(Ns_LogSink sink, const NsHttpAnswer *answerPtr, size_t nBytes,
      int nPieces)
{
    Collectors *ownPtr = sink->target->own;
    int         status = answerPtr->status;
    char        message[160], reason[sizeof(sink->failing->complaint)];

    NsAssert(nPieces > 0);
    if (status / 100 == 2) {
        return Accepted(sink, answerPtr, nBytes, nPieces);
    }
    NsOtlpMessage(answerPtr->body.string, (size_t) answerPtr->body.length,
                  message, sizeof(message));
    snprintf(reason, sizeof(reason), "the server answers with status %d%s%s",
             status, message[0] != '\0' ? ": " : "", message);
    if (IsWorthRetrying(status)) {
        NsDeliverComplain(sink, reason);
        return Later(sink, EBUSY, answerPtr->retryAfter);
    }
    if (nPieces > 1) {
        ownPtr->maxPieces = nPieces / 2;
        errno = EINTR;
        return -1;
    }
    NsDeliverRefused(sink, reason);
    return (ssize_t) nBytes;
}

static bool
IsWorthRetrying(int status)
{
    switch (status) {
    case 401:
    case 403:
    case 404:
    case 405:
    case 407:
    case 429:
    case 502:
    case 503:
    case 504:
        return true;
    default:
        return status < 400;
    }
}

static ssize_t
Accepted(Ns_LogSink sink, const NsHttpAnswer *answerPtr, size_t nBytes,
         int nPieces)
{
    Collectors       *ownPtr = sink->target->own;
    char              reason[sizeof(sink->refusals->text)];
    const Ns_DString *bodyPtr = &answerPtr->body;
    uint64_t          nRejected;

    nRejected = NsOtlpRejected(bodyPtr->string, (size_t) bodyPtr->length,
                               reason, sizeof(reason));
    for (uint64_t i = 0; i < MIN(nRejected, (uint64_t) nPieces); i++) {
        NsDeliverRefused(sink, reason);
    }
    ownPtr->all[ownPtr->turn.now].nFailures = 0;
    NsRemoteTurnWorks(&ownPtr->turn, sink);
    ownPtr->maxPieces = MIN(2 * ownPtr->maxPieces, MAX_PIECES);
    return (ssize_t) nBytes;
}

/*
 * Let some time pass before the collector in use is asked again: its own (-1:
 * it does not say), or ours, which grows, and is not the same for all that wait
 * for it.  If there is another one that may be asked now, errno is EINTR;
 * otherwise the reason, and the first that may be is next.
 */
static ssize_t
Later(Ns_LogSink sink, int reason, NsStamp after)
{
    Collectors *ownPtr = sink->target->own;
    int         now = ownPtr->turn.now, next = now;
    Collector  *collectorPtr = &ownPtr->all[now];
    NsStamp     time = NsClockNow();
    NsStamp     own = MIN(RETRY_NANOS << MIN(collectorPtr->nFailures, 16),
                          MAX_RETRY_NANOS);

    own += time % (own / 2);
    collectorPtr->nFailures++;
    collectorPtr->notBefore = time + MAX(own, after);
    for (int i = 1; i < ownPtr->turn.n; i++) {
        int other = (now + i) % ownPtr->turn.n;

        if (MAX(ownPtr->all[other].notBefore, time)
            < MAX(ownPtr->all[next].notBefore, time)) {
            next = other;
        }
    }
    errno = reason;
    if (next != now) {
        NsHttpPostDisconnect(&collectorPtr->post);
        NsRemoteTurnTo(&ownPtr->turn, sink, next);
    }
    sink->failing->askedNanos = MAX(ownPtr->all[next].notBefore - time, 0);
    errno = sink->failing->askedNanos == 0 ? EINTR : reason;
    return -1;
}

static void
CloseCollectors(Ns_LogSink sink)
{
    Collectors *ownPtr = sink->target->own;

    if (ownPtr != NULL) {
        for (int i = 0; i < ownPtr->turn.n; i++) {
            FreeCollector(&ownPtr->all[i]);
        }
        NsRemoteTurnFree(&ownPtr->turn);
        Ns_DStringFree(&ownPtr->json);
        Ns_DStringFree(&ownPtr->packed);
        ns_free(ownPtr->scratch.line);
        ns_free(ownPtr->all);
        ns_free(ownPtr);
        sink->target->own = NULL;
    }
}

static void
FreeCollector(Collector *collectorPtr)
{
    NsHttpPostDisconnect(&collectorPtr->post);
    ns_free(collectorPtr->host);
    ns_free(collectorPtr->port);
    ns_free(collectorPtr->target);
    ns_free(collectorPtr->fields);
}

/*
 * A piece.
 */
static size_t
FormatPiece(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr,
            char *buffer, size_t room)
{
    Collectors *ownPtr = sink->target->own;
    NsLogOut    out = {buffer, room, NS_PIECE_HEAD};

    return ownPtr != NULL
            && NsOtlpPutRecord(sink, stream, recordPtr, &ownPtr->scratch, &out)
        ? NsPieceEnd(&out)
        : 0;
}
