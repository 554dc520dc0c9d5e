/*
 * httpclient.c --
 *
 *      Requests to other HTTP servers, as socket tasks.
 *
 *          connecting --> handshake --> sending --> receiving --> done: the
 *              |          (of TLS)         |            |         peer has
 *              |              |            |            |         closed
 *              +--------------+------------+------------+-------> failed: says
 *                                                                 why
 */

#include "net/httpclient.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "nsconn.h"
#include "nsprocess.h"
#include "nssocket.h"
#include "nsstring.h"
#include "nsthread.h"
#include "nsversion.h"
#include "net/connect.h"
#include "net/tlsclient.h"

#define HTTP_PORT  80
#define HTTPS_PORT 443
#define READ_BYTES 16384 /* A record of TLS, RFC 8446, section 5.1. */

struct NsHttpClient {
    char    *url;      /* Constant. */
    Ns_Task *task;     /* Constant. */
    NsStamp  start;    /* Constant. */
    NsStamp  patience; /* Constant; 0: deadline is that of all. */
    bool     isQueued; /* Creator: the thread of requests has it. */
    bool     hasRun;   /* The creator: it has run here. */

    /* The thread that does the work; the creator when that is done. */
    enum { CONNECTING, HANDSHAKE, SENDING, RECEIVING } stage;
    NsConnector *connectorPtr; /* NULL when connected. */
    NsTlsClient *tls;          /* NULL: plain TCP. */
    Tcl_DString  request;
    int          nSent;
    NsStamp      deadline;
    Tcl_DString  reply;
    char        *error; /* NULL: none. */
    NsStamp      end;
};

/*
 * The parts of a URL, borrowed from it.
 */
typedef struct Target {
    bool        isSecure;
    char       *host;      /* Own. */
    const char *authority; /* HOST?:PORT? */
    int         authorityBytes;
    int         port;
    const char *path;
} Target;

static Ns_Mutex              queueLock;   /* Held to make the queue. */
static Ns_TaskQueue *_Atomic sharedQueue; /* NULL: not made yet. */
static atomic_int            nRunning; /* In the queue; relaxed, as the next. */
static atomic_long           nQueued;  /* So far. */

static Ns_TaskQueue *SharedQueue(void);
static bool          ParseUrl(const char *url, Target *targetPtr);
static bool          CreateTls(NsHttpClient *clientPtr, NS_SOCKET sock,
                               const NsHttpClientSpec *specPtr, const Target *targetPtr,
                               Ns_DString *errorPtr);
static void FormatRequest(Tcl_DString *dsPtr, const NsHttpClientSpec *specPtr,
                          const Target *targetPtr);
static void AppendField(Tcl_DString *dsPtr, const char *name,
                        const char *value);
static bool IsGenerated(const char *name);
static const char *FindField(const Ns_Set *headers, const char *name);
static Ns_TaskProc Work;
static void        GoOn(NsHttpClient *clientPtr, NS_SOCKET sock);
static void        Connect(NsHttpClient *clientPtr);
static void        Shake(NsHttpClient *clientPtr);
static void        SendSome(NsHttpClient *clientPtr, NS_SOCKET sock);
static void        SendThroughTls(NsHttpClient *clientPtr);
static void        CountSent(NsHttpClient *clientPtr, int nSent);
static void        ReceiveSome(NsHttpClient *clientPtr, NS_SOCKET sock);
static void        ReceiveThroughTls(NsHttpClient *clientPtr);
static bool        IsWhole(const NsHttpClient *clientPtr);
static void        WaitUntil(NsHttpClient *clientPtr, int when);
static void        WaitFor(NsHttpClient *clientPtr, int when, NsStamp limit);
static void        Fail(NsHttpClient *clientPtr, const char *error,
                        const char *reason);
static const char *EndOfHeader(const char *text, const char *end,
                               const char **bodyPtr);
static size_t      LineBytes(const char *text, const char *end);
static void PutFields(Ns_Set *headers, const char *text, const char *end);

NsHttpClient *
NsHttpClientCreate(const NsHttpClientSpec *specPtr, Ns_DString *errorPtr)
{
    NsHttpClient *clientPtr;
    Target        target;
    NsConnector  *connectorPtr;
    NS_SOCKET     sock;

    if (!ParseUrl(specPtr->url, &target)) {
        Ns_DStringVarAppend(errorPtr, "invalid url: ", specPtr->url, NULL);
        return NULL;
    }
    connectorPtr = NsConnectorCreate(&(NsConnectSpec){
        .host = target.host, .port = target.port});
    if (connectorPtr == NULL) {
        Ns_DStringVarAppend(errorPtr, "connect to \"", specPtr->url,
                            "\" failed: ",
                            errno == 0 ? "unknown host" : Tcl_ErrnoMsg(errno),
                            NULL);
        ns_free(target.host);
        return NULL;
    }
    /* It will be that of the connection. */
    sock = NsConnectorFd(connectorPtr);
    clientPtr = ns_calloc(1u, sizeof(NsHttpClient));
    if (target.isSecure
        && !CreateTls(clientPtr, sock, specPtr, &target, errorPtr)) {
        NsConnectorDestroy(&connectorPtr);
        ns_free(target.host);
        ns_free(clientPtr);
        return NULL;
    }
    clientPtr->stage = CONNECTING;
    clientPtr->connectorPtr = connectorPtr;
    clientPtr->url = ns_strdup(specPtr->url);
    clientPtr->start = clientPtr->end = NsClockNow();
    clientPtr->deadline = clientPtr->start + NsClockFromTime(&specPtr->timeout);
    clientPtr->patience = specPtr->isForSilence
        ? NsClockFromTime(&specPtr->timeout)
        : 0;
    Tcl_DStringInit(&clientPtr->request);
    Tcl_DStringInit(&clientPtr->reply);
    FormatRequest(&clientPtr->request, specPtr, &target);
    clientPtr->task = Ns_TaskCreate(sock, Work, clientPtr);
    ns_free(target.host);
    return clientPtr;
}

static bool
ParseUrl(const char *url, Target *targetPtr)
{
    const char *colon;
    int         hostBytes;

    if (strpbrk(url, " \r\n") != NULL) {
        return false;
    }
    if (strncasecmp(url, "http://", 7u) == 0) {
        *targetPtr = (Target){.authority = url + 7, .port = HTTP_PORT};
    } else if (strncasecmp(url, "https://", 8u) == 0) {
        *targetPtr = (Target){
            .authority = url + 8, .port = HTTPS_PORT, .isSecure = true};
    } else {
        return false;
    }
    targetPtr->authorityBytes = (int) strcspn(targetPtr->authority, "/?#");
    targetPtr->path = targetPtr->authority + targetPtr->authorityBytes;

    colon = memchr(targetPtr->authority, ':',
                   (size_t) targetPtr->authorityBytes);
    if (*targetPtr->authority == '[') {
        colon = memchr(targetPtr->authority, ']',
                       (size_t) targetPtr->authorityBytes);
        colon = colon != NULL && colon[1] == ':' ? colon + 1 : NULL;
    }
    hostBytes = colon == NULL ? targetPtr->authorityBytes
                              : (int) (colon - targetPtr->authority);
    if (hostBytes == 0) {
        return false;
    }
    if (colon != NULL) {
        char *end;
        long  port = strtol(colon + 1, &end, 10);

        if (end != targetPtr->path || port < 1 || port > 65535) {
            return false;
        }
        targetPtr->port = (int) port;
    }
    /* An address in brackets is connected to without them. */
    if (*targetPtr->authority == '[' && hostBytes > 2) {
        targetPtr->host = ns_strncopy(targetPtr->authority + 1, hostBytes - 2);
    } else {
        targetPtr->host = ns_strncopy(targetPtr->authority, hostBytes);
    }
    return true;
}

static bool
CreateTls(NsHttpClient *clientPtr, NS_SOCKET sock,
          const NsHttpClientSpec *specPtr, const Target *targetPtr,
          Ns_DString *errorPtr)
{
    Ns_DString reason;

    Ns_DStringInit(&reason);
    clientPtr->tls = NsTlsClientCreate(
        &(NsTlsClientSpec){
            .sock = sock,
            /* To the library, an empty name would be any. */
            .host = specPtr->hostName != NULL && *specPtr->hostName != '\0'
                ? specPtr->hostName
                : targetPtr->host,
            .caFile = specPtr->caFile,
            .caPath = specPtr->caPath,
            .certificate = specPtr->certificate,
            .isInsecure = specPtr->isInsecure},
        &reason);
    if (clientPtr->tls == NULL) {
        Ns_DStringVarAppend(errorPtr, "ssl connect failed: ", reason.string,
                            NULL);
    }
    Ns_DStringFree(&reason);
    return clientPtr->tls != NULL;
}

static void
FormatRequest(Tcl_DString *dsPtr, const NsHttpClientSpec *specPtr,
              const Target *targetPtr)
{
    const Ns_Set *headers = specPtr->headers;
    const char   *method = specPtr->method != NULL ? specPtr->method : "GET";
    int           pathBytes = (int) strcspn(targetPtr->path, "#");
    const char   *host = FindField(headers, "Host");
    const char   *length = FindField(headers, "Content-Length");

    Tcl_DStringAppend(dsPtr, method, -1);
    Ns_StrToUpper(dsPtr->string);
    Tcl_DStringAppend(dsPtr, *targetPtr->path == '/' ? " " : " /", -1);
    Tcl_DStringAppend(dsPtr, targetPtr->path, pathBytes);
    Tcl_DStringAppend(dsPtr, " HTTP/1.0\r\n", -1);
    for (int i = 0; headers != NULL && i < (int) Ns_SetSize(headers); i++) {
        const char *name = Ns_SetKey(headers, i);
        const char *value = Ns_SetValue(headers, i);

        if (name != NULL && !IsGenerated(name)) {
            AppendField(dsPtr, name, value != NULL ? value : "");
        }
    }
    if (FindField(headers, "User-Agent") == NULL) {
        AppendField(dsPtr, "User-Agent", "NaviServer/" NS_PATCH_LEVEL);
    }
    AppendField(dsPtr, "Connection", "close");
    if (host != NULL) {
        AppendField(dsPtr, "Host", host);
    } else {
        Ns_DStringPrintf(dsPtr, "Host: %.*s\r\n", targetPtr->authorityBytes,
                         targetPtr->authority);
    }
    if (length != NULL) {
        AppendField(dsPtr, "Content-Length", length);
    } else if (specPtr->bodyBytes > 0) {
        Ns_DStringPrintf(dsPtr, "Content-Length: %zu\r\n", specPtr->bodyBytes);
    }
    Tcl_DStringAppend(dsPtr, "\r\n", 2);
    Tcl_DStringAppend(dsPtr, specPtr->body, (int) specPtr->bodyBytes);
}

/*
 * Characters that would end the line become blanks.
 */
static void
AppendField(Tcl_DString *dsPtr, const char *name, const char *value)
{
    int start = dsPtr->length;

    Ns_DStringVarAppend(dsPtr, name, ": ", value, NULL);
    for (char *next = dsPtr->string + start;
         (next = strpbrk(next, "\r\n")) != NULL; next++) {
        *next = ' ';
    }
    Tcl_DStringAppend(dsPtr, "\r\n", 2);
}

/*
 * Fields that follow those of the caller, who may give their value.
 */
static bool
IsGenerated(const char *name)
{
    return STRIEQ(name, "Connection") || STRIEQ(name, "Host")
        || STRIEQ(name, "Content-Length");
}

static const char *
FindField(const Ns_Set *headers, const char *name)
{
    return headers == NULL ? NULL : Ns_SetIGet((Ns_Set *) headers, name);
}

void
NsHttpClientInit(void)
{
    NsMutexSetup(&queueLock, NS_RANK_HTTP_QUEUE, "nsd:httpqueue", NULL);
}

/*
 * Of all requests; NULL when it cannot be made.
 */
static Ns_TaskQueue *
SharedQueue(void)
{
    if (atomic_load(&sharedQueue) == NULL) {
        Ns_MutexLock(&queueLock);
        if (atomic_load(&sharedQueue) == NULL) {
            atomic_store(&sharedQueue, Ns_CreateTaskQueue("ns_http"));
        }
        Ns_MutexUnlock(&queueLock);
    }
    return atomic_load(&sharedQueue);
}

Ns_ReturnCode
NsHttpClientQueue(NsHttpClient *clientPtr)
{
    Ns_TaskQueue *queue = SharedQueue();

    if (queue == NULL) {
        return NS_ERROR;
    }
    clientPtr->isQueued = true;
    atomic_fetch_add_explicit(&nRunning, 1, memory_order_relaxed);
    if (Ns_TaskEnqueue(clientPtr->task, queue) != NS_OK) {
        atomic_fetch_sub_explicit(&nRunning, 1, memory_order_relaxed);
        clientPtr->isQueued = false;
        return NS_ERROR;
    }
    atomic_fetch_add_explicit(&nQueued, 1, memory_order_relaxed);
    return NS_OK;
}

void
NsHttpClientRun(NsHttpClient *clientPtr)
{
    Ns_TaskRun(clientPtr->task);
    clientPtr->hasRun = true;
}

bool
NsHttpClientIsDone(NsHttpClient *clientPtr)
{
    return clientPtr->hasRun || Ns_TaskCompleted(clientPtr->task);
}

Ns_ReturnCode
NsHttpClientWait(NsHttpClient *clientPtr, Ns_Time *timeoutPtr)
{
    return clientPtr->hasRun ? NS_OK : Ns_TaskWait(clientPtr->task, timeoutPtr);
}

void
NsHttpClientDestroy(NsHttpClient **clientPtrPtr)
{
    NsHttpClient *clientPtr = *clientPtrPtr;
    NS_SOCKET     sock;

    *clientPtrPtr = NULL;
    if (clientPtr->isQueued && !NsHttpClientIsDone(clientPtr)) {
        /* An error means that the queue stops, and cancels by itself. */
        (void) Ns_TaskCancel(clientPtr->task);
        (void) Ns_TaskWait(clientPtr->task, NULL);
    }
    if (clientPtr->tls != NULL) {
        NsTlsClientDestroy(&clientPtr->tls);
    }
    sock = Ns_TaskFree(clientPtr->task);
    if (clientPtr->connectorPtr != NULL) {
        NsConnectorDestroy(&clientPtr->connectorPtr);
    } else {
        ns_sockclose(sock);
    }
    Tcl_DStringFree(&clientPtr->request);
    Tcl_DStringFree(&clientPtr->reply);
    ns_free(clientPtr->error);
    ns_free(clientPtr->url);
    ns_free(clientPtr);
}

static void
Work(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    NsHttpClient *clientPtr = arg;
    NsStamp       now = NsClockNow();

    if ((why == NS_SOCK_READ || why == NS_SOCK_WRITE)
        && clientPtr->deadline <= now) {
        why = NS_SOCK_TIMEOUT;
    } else if (why == NS_SOCK_TIMEOUT && clientPtr->stage == CONNECTING
               && clientPtr->deadline > now) {
        /* Time for the next address. */
        why = NS_SOCK_READ;
    } else if (clientPtr->patience > 0) {
        clientPtr->deadline = now + clientPtr->patience;
    }
    switch (why) {
    case NS_SOCK_INIT:
    case NS_SOCK_WRITE:
    case NS_SOCK_READ:
        GoOn(clientPtr, sock);
        break;
    case NS_SOCK_TIMEOUT:
        Fail(clientPtr, "timeout", NULL);
        break;
    case NS_SOCK_CANCEL:
        Fail(clientPtr, Ns_InfoShutdownPending() ? "shutdown" : "cancelled",
             NULL);
        break;
    case NS_SOCK_DONE:
        clientPtr->end = now;
        if (clientPtr->isQueued) {
            atomic_fetch_sub_explicit(&nRunning, 1, memory_order_relaxed);
        }
        break;
    }
}

/*
 * TLS may have to read in order to write, and the other way round: what is done
 * depends on the stage, not on what the socket is ready for.
 */
static void
GoOn(NsHttpClient *clientPtr, NS_SOCKET sock)
{
    bool isSecure = clientPtr->tls != NULL;

    if (clientPtr->stage == CONNECTING) {
        Connect(clientPtr);
    } else if (clientPtr->stage == HANDSHAKE) {
        Shake(clientPtr);
    } else if (clientPtr->stage == SENDING && isSecure) {
        SendThroughTls(clientPtr);
    } else if (clientPtr->stage == SENDING) {
        SendSome(clientPtr, sock);
    } else if (isSecure) {
        ReceiveThroughTls(clientPtr);
    } else {
        ReceiveSome(clientPtr, sock);
    }
}

static void
Connect(NsHttpClient *clientPtr)
{
    Ns_DString ds;
    NsStamp    again = 0;

    switch (NsConnectorGoOn(clientPtr->connectorPtr, &again)) {
    case NS_CONNECT_WAIT:
        WaitFor(clientPtr, NS_SOCK_READ,
                again == 0 ? clientPtr->deadline
                           : MIN(again, clientPtr->deadline));
        break;
    case NS_CONNECT_DONE:
        (void) NsConnectorTake(clientPtr->connectorPtr);
        NsConnectorDestroy(&clientPtr->connectorPtr);
        clientPtr->stage = clientPtr->tls != NULL ? HANDSHAKE : SENDING;
        WaitUntil(clientPtr, NS_SOCK_WRITE);
        break;
    case NS_CONNECT_FAILED:
        Ns_DStringInit(&ds);
        NsConnectorAppendError(clientPtr->connectorPtr, &ds);
        Fail(clientPtr, Ns_DStringValue(&ds), NULL);
        Ns_DStringFree(&ds);
        break;
    }
}

static void
Shake(NsHttpClient *clientPtr)
{
    switch (NsTlsClientHandshake(clientPtr->tls)) {
    case NS_TLS_OK:
        clientPtr->stage = SENDING;
        WaitUntil(clientPtr, NS_SOCK_WRITE);
        break;
    case NS_TLS_WAIT:
        WaitUntil(clientPtr, NsTlsClientWhen(clientPtr->tls));
        break;
    default:
        Fail(clientPtr,
             "ssl connect failed: ", NsTlsClientReason(clientPtr->tls));
        break;
    }
}

static void
SendSome(NsHttpClient *clientPtr, NS_SOCKET sock)
{
    const Tcl_DString *requestPtr = &clientPtr->request;
    ssize_t            n;

    n = send(sock, requestPtr->string + clientPtr->nSent,
             (size_t) (requestPtr->length - clientPtr->nSent), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        Fail(clientPtr, "send failed", NULL);
    } else if (n > 0) {
        CountSent(clientPtr, (int) n);
    }
}

static void
SendThroughTls(NsHttpClient *clientPtr)
{
    const Tcl_DString *requestPtr = &clientPtr->request;
    int                n;

    switch (NsTlsClientSend(clientPtr->tls,
                            requestPtr->string + clientPtr->nSent,
                            requestPtr->length - clientPtr->nSent, &n)) {
    case NS_TLS_OK:
        WaitUntil(clientPtr, NS_SOCK_WRITE);
        CountSent(clientPtr, n);
        break;
    case NS_TLS_WAIT:
        WaitUntil(clientPtr, NsTlsClientWhen(clientPtr->tls));
        break;
    default:
        Fail(clientPtr, "ssl failed: ", NsTlsClientReason(clientPtr->tls));
        break;
    }
}

static void
CountSent(NsHttpClient *clientPtr, int nSent)
{
    clientPtr->nSent += nSent;
    if (clientPtr->nSent == clientPtr->request.length) {
        clientPtr->stage = RECEIVING;
        WaitUntil(clientPtr, NS_SOCK_READ);
    }
}

static void
ReceiveSome(NsHttpClient *clientPtr, NS_SOCKET sock)
{
    char    buffer[READ_BYTES];
    ssize_t n = recv(sock, buffer, sizeof(buffer), 0);

    if (n > 0) {
        Tcl_DStringAppend(&clientPtr->reply, buffer, (int) n);
    } else if (n == 0) {
        Ns_TaskDone(clientPtr->task);
    } else if (errno != EAGAIN && errno != EINTR) {
        Fail(clientPtr, "recv failed", NULL);
    }
}

/*
 * The buffer takes a whole record, so nothing stays behind in the library where
 * poll() does not see it.
 */
static void
ReceiveThroughTls(NsHttpClient *clientPtr)
{
    char        buffer[READ_BYTES];
    int         n;
    NsTlsStatus status = NsTlsClientReceive(clientPtr->tls, buffer,
                                            (int) sizeof(buffer), &n);

    if (status == NS_TLS_OK) {
        Tcl_DStringAppend(&clientPtr->reply, buffer, n);
        WaitUntil(clientPtr, NS_SOCK_READ);
    } else if (status == NS_TLS_WAIT) {
        WaitUntil(clientPtr, NsTlsClientWhen(clientPtr->tls));
    } else if (status == NS_TLS_END || IsWhole(clientPtr)) {
        Ns_TaskDone(clientPtr->task);
    } else {
        Fail(clientPtr, "ssl failed: ", NsTlsClientReason(clientPtr->tls));
    }
}

/*
 * Anybody on the way can cut a connection: without a close_notify from the
 * peer, only the length that it sent shows that this was all (RFC 8446, section
 * 6.1).
 */
static bool
IsWhole(const NsHttpClient *clientPtr)
{
    NsHttpClientReply reply;
    Ns_Set           *headers = Ns_SetCreate(NULL);
    const char       *length;
    bool              hasNoBody, isWhole;

    NsHttpClientGetReply(clientPtr, &reply, headers);
    length = Ns_SetGet(headers, "content-length");
    /* RFC 9112, section 6.3: whatever the header says. */
    hasNoBody = reply.status == 204 || reply.status == 304
        || (reply.status != 0
            && strncmp(clientPtr->request.string, "HEAD ", 5u) == 0);
    isWhole = hasNoBody
        || (length != NULL && strtoull(length, NULL, 10) == reply.bodyBytes);
    Ns_SetFree(headers);
    return isWhole;
}

static void
WaitUntil(NsHttpClient *clientPtr, int when)
{
    WaitFor(clientPtr, when, clientPtr->deadline);
}

static void
WaitFor(NsHttpClient *clientPtr, int when, NsStamp limit)
{
    Ns_Time left = NsClockSpan(NsClockNow(), limit);

    Ns_TaskCallback(clientPtr->task, when, &left);
}

/*
 * reason NULL: error says it all.
 */
static void
Fail(NsHttpClient *clientPtr, const char *error, const char *reason)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, error, reason, NULL);
    clientPtr->error = Ns_DStringExport(&ds);
    Ns_TaskDone(clientPtr->task);
}

const char *
NsHttpClientUrl(const NsHttpClient *clientPtr)
{
    return clientPtr->url;
}

const char *
NsHttpClientError(const NsHttpClient *clientPtr)
{
    return clientPtr->error;
}

Ns_Time
NsHttpClientElapsed(const NsHttpClient *clientPtr)
{
    return NsClockSpan(clientPtr->start, clientPtr->end);
}

/*
 * Replies of the kind "wait for the next one" are not looked at (RFC 9110,
 * section 15.2).
 */
void
NsHttpClientGetReply(const NsHttpClient *clientPtr, NsHttpClientReply *replyPtr,
                     Ns_Set *headers)
{
    const char *text = clientPtr->reply.string;
    const char *end = text + clientPtr->reply.length;
    const char *body, *headerEnd;

    do {
        body = text;
        headerEnd = EndOfHeader(text, end, &body);
        *replyPtr = (NsHttpClientReply){
            .body = body, .bodyBytes = (size_t) (end - body)};
        if (headerEnd > text) {
            replyPtr->statusLine = text;
            replyPtr->statusLineBytes = LineBytes(text, headerEnd);
            (void) sscanf(text, "HTTP/%*d.%*d %d", &replyPtr->status);
        }
        text = body;
    } while (replyPtr->status / 100 == 1 && replyPtr->status != 101);
    if (headers != NULL && replyPtr->statusLine != NULL) {
        const char *lineEnd =
            memchr(replyPtr->statusLine, '\n',
                   (size_t) (headerEnd - replyPtr->statusLine));

        PutFields(headers, lineEnd + 1, headerEnd);
    }
}

/*
 * The end of the header, at the first empty line; text itself without one.
 */
static const char *
EndOfHeader(const char *text, const char *end, const char **bodyPtr)
{
    for (const char *next = text;
         (next = memchr(next, '\n', (size_t) (end - next))) != NULL; next++) {
        const char *after = next + 1;

        if (after < end && *after == '\r') {
            after++;
        }
        if (after < end && *after == '\n') {
            *bodyPtr = after + 1;
            return next + 1;
        }
    }
    return text;
}

/*
 * Of the first line, without its end.
 */
static size_t
LineBytes(const char *text, const char *end)
{
    const char *newline = memchr(text, '\n', (size_t) (end - text));

    end = newline == NULL ? end : newline;
    return (size_t) (end - text) - (end > text && end[-1] == '\r' ? 1u : 0u);
}

static void
PutFields(Ns_Set *headers, const char *text, const char *end)
{
    Ns_DString line;

    Ns_DStringInit(&line);
    while (text < end) {
        Ns_DStringSetLength(&line, 0);
        Ns_DStringNAppend(&line, text, (int) LineBytes(text, end));
        (void) Ns_ParseHeader(headers, Ns_DStringValue(&line), ToLower);
        text = (const char *) memchr(text, '\n', (size_t) (end - text)) + 1;
    }
    Ns_DStringFree(&line);
}

void
NsHttpClientThreads(Ns_DString *dsPtr)
{
    if (atomic_load_explicit(&nQueued, memory_order_relaxed) > 0) {
        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringPrintf(dsPtr, "name ns_http running %d requests %ld",
                         atomic_load_explicit(&nRunning, memory_order_relaxed),
                         atomic_load_explicit(&nQueued, memory_order_relaxed));
        Tcl_DStringEndSublist(dsPtr);
    }
}
