/* SPDX-License-Identifier: MPL-2.0
 * httpwork.c --
 *
 *      The work on a request to another server.
 *
 *          connecting --> sending and receiving, for a tunnel
 *              |              |
 *              |              v
 *              +--------> handshake (of TLS) --> sending --> receiving --> done
 *                                                   ^            |
 *              a connection that was kept ----------+            |
 *                 ^                                              |
 *                 +---------- if it stays open ------------------+
 *
 *      Each stage may fail, and says why.  If a kept connection turns out to be
 *      closed before any byte of the reply has come, the request connects
 *      again.
 */

#include "net/httpwork.h"

#include "base/assert.h"
#include "net/httpclient_int.h"
#include "net/httpkept.h"
#include "nssocket.h"
#include "nsthread.h"

#define READ_BYTES     16384 /* A TLS record, RFC 8446, section 5.1. */
#define TURN           16    /* Reads or writes in a turn. */
#define FILE_BYTES     65536
#define WINDOW_BYTES   (1024 * 1024) /* TLS counts in int. */
#define CLOSED_BY_PEER "connection closed by peer"

static void GoOn(NsHttpClient *clientPtr);
static void Connect(NsHttpClient *clientPtr);
static void BeginStage(NsHttpClient *clientPtr, NsHttpStage stage);
static void Shake(NsHttpClient *clientPtr);
static void Send(NsHttpClient *clientPtr);
static bool FillWindow(NsHttpClient *clientPtr);
static bool FillFromFile(NsHttpClient *clientPtr);
static bool SendSome(NsHttpClient *clientPtr);
static void PeerTakesNoMore(NsHttpClient *clientPtr, int error);
static void Receive(NsHttpClient *clientPtr);
static bool ReceiveSome(NsHttpClient *clientPtr);
static void EndOfData(NsHttpClient *clientPtr, bool isSure, int error);
static bool Retry(NsHttpClient *clientPtr);
static void Take(NsHttpClient *clientPtr, char *data, size_t length);
static void TakeHead(NsHttpClient *clientPtr, const char *data, size_t length);
static void TakeOneHead(NsHttpClient *clientPtr, size_t headBytes);
static void TunnelIsOpen(NsHttpClient *clientPtr);
static void BeginBody(NsHttpClient *clientPtr);
static void TakeBodyPart(NsHttpClient *clientPtr, char *data, size_t length);
static void KeepPart(NsHttpClient *clientPtr, const char *data, size_t length);
static void ReplyIsWhole(NsHttpClient *clientPtr);
static bool UsesTls(const NsHttpClient *clientPtr);
static void WaitUntil(NsHttpClient *clientPtr, int when);
static void WaitNoLonger(NsHttpClient *clientPtr, int when, NsStamp limit);
static void TimedOut(NsHttpClient *clientPtr);
static void Fail(NsHttpClient *clientPtr, NsHttpClientOutcome outcome,
                 const char *format, ...) __attribute__((format(printf, 3, 4)));
static void FailBySystem(NsHttpClient *clientPtr, const char *what, int error);
static void End(NsHttpClient *clientPtr);
static void Finish(NsHttpClient *clientPtr);
static void Count(_Atomic uint64_t *counterPtr, size_t n);

void
NsHttpWork(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    NsHttpClient *clientPtr = arg;
    NsStamp       now = NsClockNow();

    NsAssert(sock == clientPtr->sock);
    clientPtr->running = task;
    if (why == NS_SOCK_DONE) {
        Finish(clientPtr);
    } else if (why == NS_SOCK_CANCEL) {
        Fail(clientPtr, NS_HTTP_FAILED, "http request cancelled");
    } else if (clientPtr->expires != 0 && clientPtr->expires <= now) {
        TimedOut(clientPtr);
    } else if (why == NS_SOCK_TIMEOUT
               && (clientPtr->stage != NS_HTTP_CONNECTING
                   || clientPtr->connectDue <= now)) {
        TimedOut(clientPtr);
    } else {
        GoOn(clientPtr);
    }
}

/*
 * TLS may have to read in order to write, and vice versa.  So the stage decides
 * what is done, not what the socket is ready for.
 */
static void
GoOn(NsHttpClient *clientPtr)
{
    switch (clientPtr->stage) {
    case NS_HTTP_CONNECTING:
        Connect(clientPtr);
        break;
    case NS_HTTP_HANDSHAKE:
        Shake(clientPtr);
        break;
    case NS_HTTP_SENDING:
        Send(clientPtr);
        break;
    case NS_HTTP_RECEIVING:
        Receive(clientPtr);
        break;
    case NS_HTTP_ENDED:
        break;
    }
}

static void
Connect(NsHttpClient *clientPtr)
{
    Ns_DString ds;
    NsStamp    again = 0;

    NsAssert(clientPtr->connectorPtr != NULL);
    switch (NsConnectorGoOn(clientPtr->connectorPtr, &again)) {
    case NS_CONNECT_WAIT:
        clientPtr->connectDue = NsConnectorLastStamp(clientPtr->connectorPtr)
            + clientPtr->connectSilence;
        if (again == 0 || again > clientPtr->connectDue) {
            again = clientPtr->connectDue;
        }
        WaitNoLonger(clientPtr, NS_SOCK_READ, again);
        break;
    case NS_CONNECT_DONE:
        (void) NsConnectorTake(clientPtr->connectorPtr);
        NsConnectorDestroy(&clientPtr->connectorPtr);
        NsHttpConnected(clientPtr);
        WaitUntil(clientPtr, NS_SOCK_WRITE);
        break;
    case NS_CONNECT_FAILED:
        Ns_DStringInit(&ds);
        clientPtr->errorNumber = errno;
        NsHttpAppendConnectError(clientPtr, errno, &ds);
        Fail(clientPtr, NS_HTTP_SYSTEM, "%s", Ns_DStringValue(&ds));
        Ns_DStringFree(&ds);
        break;
    }
}

void
NsHttpAppendConnectError(const NsHttpClient *clientPtr, int error,
                         Ns_DString *dsPtr)
{
    Ns_DStringPrintf(dsPtr, "can't connect to %s port %d: %s", clientPtr->host,
                     clientPtr->port,
                     error == 0 ? "could not resolve name"
                                : Tcl_ErrnoMsg(error));
}

void
NsHttpConnected(NsHttpClient *clientPtr)
{
    clientPtr->hasConnected = true;
    BeginStage(clientPtr,
               UsesTls(clientPtr) && !clientPtr->isKept ? NS_HTTP_HANDSHAKE
                                                        : NS_HTTP_SENDING);
}

static void
BeginStage(NsHttpClient *clientPtr, NsHttpStage stage)
{
    clientPtr->stage = stage;
    if (stage == NS_HTTP_SENDING) {
        const Ns_DString *dsPtr = clientPtr->isTunneling
            ? &clientPtr->tunnel
            : &clientPtr->request;

        clientPtr->window = dsPtr->string;
        clientPtr->windowBytes = (size_t) dsPtr->length;
        clientPtr->bodySent = 0u;
    }
}

static void
Shake(NsHttpClient *clientPtr)
{
    switch (NsTlsClientHandshake(clientPtr->tls)) {
    case NS_TLS_OK:
        BeginStage(clientPtr, NS_HTTP_SENDING);
        Send(clientPtr);
        break;
    case NS_TLS_WAIT:
        WaitUntil(clientPtr, NsTlsClientWhen(clientPtr->tls));
        break;
    default:
        Fail(clientPtr, NS_HTTP_FAILED, "ssl connect failed: %s",
             NsTlsClientReason(clientPtr->tls));
        break;
    }
}

static void
Send(NsHttpClient *clientPtr)
{
    bool hasProgress = true;

    NsAssert(clientPtr->bodySent <= clientPtr->laterBytes);
    WaitUntil(clientPtr, NS_SOCK_WRITE);
    for (int i = 0; i < TURN && hasProgress; i++) {
        hasProgress = FillWindow(clientPtr) && SendSome(clientPtr);
    }
}

/*
 * Ensure that there is something to send.  False: all is sent, or that failed.
 */
static bool
FillWindow(NsHttpClient *clientPtr)
{
    uint64_t left = clientPtr->laterBytes - clientPtr->bodySent;

    if (clientPtr->windowBytes > 0u) {
        return true;
    }
    if (left == 0u || clientPtr->isTunneling) {
        BeginStage(clientPtr, NS_HTTP_RECEIVING);
        WaitUntil(clientPtr, NS_SOCK_READ);
        return false;
    }
    if (clientPtr->body == NULL) {
        return FillFromFile(clientPtr);
    }
    clientPtr->window = clientPtr->body + clientPtr->bodySent;
    clientPtr->windowBytes = (size_t) MIN(left, WINDOW_BYTES);
    clientPtr->bodySent += clientPtr->windowBytes;
    return true;
}

static bool
FillFromFile(NsHttpClient *clientPtr)
{
    uint64_t left = clientPtr->laterBytes - clientPtr->bodySent;
    ssize_t  n;

    NsAssert(clientPtr->bodyFd >= 0);
    if (clientPtr->fileBuffer == NULL) {
        clientPtr->fileBuffer = ns_malloc(FILE_BYTES);
    }
    n = pread(clientPtr->bodyFd, clientPtr->fileBuffer,
              (size_t) MIN(left, FILE_BYTES),
              clientPtr->bodyOffset + (off_t) clientPtr->bodySent);
    if (n <= 0) {
        Fail(clientPtr, NS_HTTP_FAILED, "http send failed (%s)",
             n == 0 ? "the file has become shorter" : Tcl_ErrnoMsg(errno));
        return false;
    }
    clientPtr->window = clientPtr->fileBuffer;
    clientPtr->windowBytes = (size_t) n;
    clientPtr->bodySent += (uint64_t) n;
    return true;
}

/*
 * False: the socket takes no more for now.
 */
static bool
SendSome(NsHttpClient *clientPtr)
{
    int         n = 0;
    NsTlsStatus status = NS_TLS_OK;

    if (UsesTls(clientPtr)) {
        status = NsTlsClientSend(clientPtr->tls, clientPtr->window,
                                 (int) clientPtr->windowBytes, &n);
        if (status == NS_TLS_WAIT) {
            WaitUntil(clientPtr, NsTlsClientWhen(clientPtr->tls));
        }
    } else {
        n = (int) send(clientPtr->sock, clientPtr->window,
                       clientPtr->windowBytes, MSG_NOSIGNAL);
        status = n > 0 ? NS_TLS_OK
            : errno == EAGAIN || errno == EINTR
            ? NS_TLS_WAIT
            : NS_TLS_FAILED;
    }
    if (status == NS_TLS_FAILED || status == NS_TLS_END) {
        PeerTakesNoMore(clientPtr, UsesTls(clientPtr) ? EPIPE : errno);
    }
    if (status != NS_TLS_OK) {
        return false;
    }
    NsAssert(n > 0 && (size_t) n <= clientPtr->windowBytes);
    clientPtr->window += n;
    clientPtr->windowBytes -= (size_t) n;
    if (!clientPtr->isTunneling) {
        Count(&clientPtr->nSent, (size_t) n);
    }
    return true;
}

/*
 * The peer may have sent a reply that says why before it closed.
 */
static void
PeerTakesNoMore(NsHttpClient *clientPtr, int error)
{
    NsAssert(error != 0);
    clientPtr->sendError = error;
    BeginStage(clientPtr, NS_HTTP_RECEIVING);
    WaitUntil(clientPtr, NS_SOCK_READ);
}

static void
Receive(NsHttpClient *clientPtr)
{
    bool hasProgress = true;

    WaitUntil(clientPtr, NS_SOCK_READ);
    for (int i = 0;
         i < TURN && hasProgress && clientPtr->stage == NS_HTTP_RECEIVING;
         i++) {
        hasProgress = ReceiveSome(clientPtr);
    }
}

/*
 * False: no more for now.  The buffer holds a whole TLS record, so no data
 * remains unnoticed in the library.
 */
static bool
ReceiveSome(NsHttpClient *clientPtr)
{
    char        buffer[READ_BYTES];
    int         n;
    NsTlsStatus status;
    int         error = 0;

    if (UsesTls(clientPtr)) {
        status = NsTlsClientReceive(clientPtr->tls, buffer,
                                    (int) sizeof(buffer), &n);
        if (status == NS_TLS_WAIT) {
            WaitUntil(clientPtr, NsTlsClientWhen(clientPtr->tls));
        }
    } else {
        n = (int) recv(clientPtr->sock, buffer, sizeof(buffer), 0);
        error = n < 0 ? errno : 0;
        status = n > 0 ? NS_TLS_OK
            : n == 0   ? NS_TLS_END
            : error == EAGAIN || error == EINTR
            ? NS_TLS_WAIT
            : NS_TLS_FAILED;
    }
    if (status == NS_TLS_OK) {
        Count(&clientPtr->nReceived, (size_t) n);
        Take(clientPtr, buffer, (size_t) n);
    } else if (status != NS_TLS_WAIT) {
        EndOfData(clientPtr, status == NS_TLS_END, error);
    }
    return status == NS_TLS_OK;
}

/*
 * isSure: the peer said so.  Anyone on the path can cut a connection (RFC 8446,
 * section 6.1).
 */
static void
EndOfData(NsHttpClient *clientPtr, bool isSure, int error)
{
    if (clientPtr->hasHead && clientPtr->head.framing == NS_REPLY_TO_CLOSE
        && isSure) {
        ReplyIsWhole(clientPtr);
    } else if (Retry(clientPtr)) {
        WaitUntil(clientPtr, NS_SOCK_WRITE);
    } else if (clientPtr->sendError != 0 && !clientPtr->hasHead) {
        FailBySystem(clientPtr, "http send failed", clientPtr->sendError);
    } else if (error != 0) {
        FailBySystem(clientPtr, "http read failed", error);
    } else if (UsesTls(clientPtr) && !isSure) {
        const char *reason = NsTlsClientReason(clientPtr->tls);

        Fail(clientPtr, NS_HTTP_FAILED, "http read failed (%s)",
             STREQ(reason, "connection closed") ? CLOSED_BY_PEER : reason);
    } else {
        Fail(clientPtr, NS_HTTP_FAILED,
             "http read failed (" CLOSED_BY_PEER ")");
    }
}

/*
 * Connect again if the peer closed a kept connection while the request was
 * being sent.
 */
static bool
Retry(NsHttpClient *clientPtr)
{
    if (!clientPtr->isKept || clientPtr->connectorPtr == NULL
        || atomic_load_explicit(&clientPtr->nReceived, memory_order_relaxed)
            > 0u) {
        return false;
    }
    clientPtr->isKept = false;
    clientPtr->sendError = 0;
    atomic_store_explicit(&clientPtr->nSent, 0u, memory_order_relaxed);
    clientPtr->isTunneling = clientPtr->tunnel.length > 0;
    /* The task is registered with this number. */
    NsConnectorReplace(clientPtr->connectorPtr, clientPtr->sock);
    if (clientPtr->tls != NULL) {
        NsTlsClientRestart(clientPtr->tls, clientPtr->sock);
    }
    BeginStage(clientPtr, NS_HTTP_CONNECTING);
    Connect(clientPtr);
    return true;
}

static void
Take(NsHttpClient *clientPtr, char *data, size_t length)
{
    if (clientPtr->hasHead) {
        TakeBodyPart(clientPtr, data, length);
    } else {
        TakeHead(clientPtr, data, length);
    }
}

/*
 * There may be several heads at once, and the start of the body behind the
 * last.
 */
static void
TakeHead(NsHttpClient *clientPtr, const char *data, size_t length)
{
    Ns_DString *textPtr = &clientPtr->replyText;
    size_t      headBytes;

    NsAssert(!clientPtr->hasHead);
    Ns_DStringNAppend(textPtr, data, (int) length);
    while (!clientPtr->hasHead && clientPtr->stage == NS_HTTP_RECEIVING) {
        if (!NsReplyMayBegin(textPtr->string, (size_t) textPtr->length)) {
            Fail(clientPtr, NS_HTTP_FAILED,
                 "http read failed (the reply is not HTTP)");
            return;
        }
        headBytes = NsReplyHeadBytes(textPtr->string, (size_t) textPtr->length,
                                     clientPtr->scanned);
        clientPtr->scanned = (size_t) textPtr->length;
        if (MAX(headBytes, headBytes == 0u ? clientPtr->scanned : 0u)
            > NS_REPLY_MAX_HEAD) {
            Fail(clientPtr, NS_HTTP_FAILED,
                 "http read failed (the reply's header is too large)");
            return;
        }
        if (headBytes == 0u) {
            return;
        }
        TakeOneHead(clientPtr, headBytes);
    }
}

static void
TakeOneHead(NsHttpClient *clientPtr, size_t headBytes)
{
    Ns_DString *textPtr = &clientPtr->replyText;
    size_t      restBytes = (size_t) textPtr->length - headBytes;
    const char *problem;

    NsAssert(headBytes <= (size_t) textPtr->length);
    Ns_SetTrunc(clientPtr->fields, 0);
    problem = NsReplyParse(textPtr->string, headBytes,
                           !STREQ(clientPtr->method, "HEAD"), &clientPtr->head,
                           clientPtr->fields);
    if (problem != NULL) {
        Ns_SetTrunc(clientPtr->fields, 0);
        Fail(clientPtr, NS_HTTP_FAILED, "http read failed (%s)", problem);
        return;
    }
    clientPtr->scanned = 0u;
    /* RFC 9110, section 15.2: an interim reply. */
    if (clientPtr->head.status / 100 == 1 && clientPtr->head.status != 101) {
        memmove(textPtr->string, textPtr->string + headBytes, restBytes);
        Ns_DStringSetLength(textPtr, (int) restBytes);
        return;
    }
    if (clientPtr->isTunneling) {
        TunnelIsOpen(clientPtr);
        return;
    }
    clientPtr->hasHead = true;
    BeginBody(clientPtr);
    if (restBytes > 0u && clientPtr->stage == NS_HTTP_RECEIVING) {
        TakeBodyPart(clientPtr, textPtr->string + headBytes, restBytes);
    } else if (restBytes > 0u) {
        clientPtr->hasTooMuch = true;
    }
}

/*
 * Or the proxy has refused it.
 */
static void
TunnelIsOpen(NsHttpClient *clientPtr)
{
    int status = clientPtr->head.status;

    Ns_DStringSetLength(&clientPtr->replyText, 0);
    if (status / 100 != 2) {
        Fail(clientPtr, NS_HTTP_FAILED,
             "can't open http tunnel, response status: %d", status);
        return;
    }
    atomic_store_explicit(&clientPtr->nReceived, 0u, memory_order_relaxed);
    clientPtr->isTunneling = false;
    NsHttpConnected(clientPtr);
    WaitUntil(clientPtr, NS_SOCK_WRITE);
}

static void
BeginBody(NsHttpClient *clientPtr)
{
    const NsReplyHead *headPtr = &clientPtr->head;
    const char        *error = NULL;

    NsAssert(clientPtr->hasHead && headPtr->status >= 100);
    if (headPtr->isGzip && headPtr->framing != NS_REPLY_NO_BODY) {
        NsReplyBodySetGzip(clientPtr->replyBody);
    }
    if (clientPtr->headProc != NULL) {
        error = clientPtr->headProc(clientPtr, clientPtr->headArg);
    }
    if (error != NULL) {
        Fail(clientPtr, NS_HTTP_FAILED, "%s", error);
        return;
    }
    NsChunkInit(&clientPtr->chunks, UINT64_MAX);
    if (headPtr->framing == NS_REPLY_LENGTH) {
        clientPtr->left = headPtr->length;
        atomic_store_explicit(&clientPtr->replyLength, headPtr->length,
                              memory_order_relaxed);
    }
    if (headPtr->framing == NS_REPLY_NO_BODY
        || (headPtr->framing == NS_REPLY_LENGTH && clientPtr->left == 0u)) {
        ReplyIsWhole(clientPtr);
    }
}

static void
TakeBodyPart(NsHttpClient *clientPtr, char *data, size_t length)
{
    NsChunkStatus status;
    size_t        nDecoded = length, nConsumed = length;

    switch (clientPtr->head.framing) {
    case NS_REPLY_LENGTH:
        nDecoded = (size_t) MIN(length, clientPtr->left);
        clientPtr->hasTooMuch = nDecoded < length;
        clientPtr->left -= nDecoded;
        KeepPart(clientPtr, data, nDecoded);
        if (clientPtr->left == 0u) {
            ReplyIsWhole(clientPtr);
        }
        break;
    case NS_REPLY_CHUNKED:
        status = NsChunkDecode(&clientPtr->chunks, data, length, &nDecoded,
                               &nConsumed);
        clientPtr->hasTooMuch = nConsumed < length;
        KeepPart(clientPtr, data, nDecoded);
        if (status == NS_CHUNK_DONE) {
            ReplyIsWhole(clientPtr);
        } else if (status != NS_CHUNK_MORE) {
            Fail(clientPtr, NS_HTTP_FAILED, "http read failed (invalid chunk)");
        }
        break;
    default:
        KeepPart(clientPtr, data, length);
        break;
    }
}

static void
KeepPart(NsHttpClient *clientPtr, const char *data, size_t length)
{
    const char *error = NULL;

    NsAssert(length <= READ_BYTES || !clientPtr->isWhole);
    if (clientPtr->stage == NS_HTTP_RECEIVING && length > 0u) {
        Count(&clientPtr->nBodyReceived, length);
        error = NsReplyBodyPut(clientPtr->replyBody, data, length);
    }
    if (error != NULL) {
        Fail(clientPtr, NS_HTTP_FAILED, "%s", error);
    }
}

static void
ReplyIsWhole(NsHttpClient *clientPtr)
{
    const char *error = NULL;

    if (clientPtr->stage == NS_HTTP_ENDED) {
        return; /* The request has failed. */
    }
    error = NsReplyBodyEnd(clientPtr->replyBody);
    if (error != NULL) {
        Fail(clientPtr, NS_HTTP_FAILED, "http read failed (%s)", error);
        return;
    }
    clientPtr->isWhole = true;
    End(clientPtr);
}

static bool
UsesTls(const NsHttpClient *clientPtr)
{
    return clientPtr->tls != NULL && !clientPtr->isTunneling;
}

static void
WaitUntil(NsHttpClient *clientPtr, int when)
{
    NsStamp silence = clientPtr->stage == NS_HTTP_SENDING
        ? clientPtr->sendSilence
        : clientPtr->silence;

    if (clientPtr->stage != NS_HTTP_CONNECTING
        && clientPtr->stage != NS_HTTP_ENDED) {
        WaitNoLonger(clientPtr, when, NsClockNow() + silence);
    }
}

static void
WaitNoLonger(NsHttpClient *clientPtr, int when, NsStamp limit)
{
    Ns_Time left;

    if (clientPtr->expires != 0) {
        limit = MIN(limit, clientPtr->expires);
    }
    left = NsClockSpan(NsClockNow(), limit);
    Ns_TaskCallback(clientPtr->running, when, &left);
}

static void
TimedOut(NsHttpClient *clientPtr)
{
    NsStamp now = NsClockNow();
    Ns_Time span = NsClockSpan(clientPtr->start, now);
    bool    isExpired = clientPtr->expires != 0 && clientPtr->expires <= now;

    if (!isExpired && clientPtr->stage == NS_HTTP_HANDSHAKE) {
        Fail(clientPtr, NS_HTTP_TIMEOUT, "timeout waiting for TLS handshake");
    } else if (!isExpired && clientPtr->stage < NS_HTTP_RECEIVING) {
        Fail(clientPtr, NS_HTTP_TIMEOUT, "timeout waiting for writable socket");
    } else {
        Fail(clientPtr, NS_HTTP_TIMEOUT,
             "http request timeout after %ld.%06lds", (long) span.sec,
             (long) span.usec);
    }
}

static void
FailBySystem(NsHttpClient *clientPtr, const char *what, int error)
{
    clientPtr->errorNumber = error;
    Fail(clientPtr, NS_HTTP_SYSTEM, "%s (%s)", what, Tcl_ErrnoMsg(error));
}

/*
 * Only the first failure is kept.
 */
static void
Fail(NsHttpClient *clientPtr, NsHttpClientOutcome outcome, const char *format,
     ...)
{
    Ns_DString ds;
    va_list    ap;

    if (clientPtr->stage == NS_HTTP_ENDED) {
        return;
    }
    Ns_DStringInit(&ds);
    va_start(ap, format);
    Ns_DStringVPrintf(&ds, format, ap);
    va_end(ap);
    clientPtr->error = Ns_DStringExport(&ds);
    clientPtr->outcome = outcome;
    End(clientPtr);
}

static void
End(NsHttpClient *clientPtr)
{
    NsAssert(clientPtr->stage != NS_HTTP_ENDED);
    clientPtr->stage = NS_HTTP_ENDED;
    Ns_TaskDone(clientPtr->running);
}

/*
 * The last call of the task.  A request made with Start then belongs to its
 * owner.
 */
static void
Finish(NsHttpClient *clientPtr)
{
    NsHttpThread *threadPtr = clientPtr->keepAlive > 0
            && clientPtr->threadPtr == NULL
        ? NsHttpThreadNext()
        : clientPtr->threadPtr;

    NsAssert(clientPtr->stage == NS_HTTP_ENDED);
    NsAssert(clientPtr->isWhole == (clientPtr->error == NULL));
    clientPtr->end = NsClockNow();
    if (clientPtr->threadPtr != NULL) {
        NsHttpThreadCount(clientPtr->threadPtr, -1);
    }
    if (UsesTls(clientPtr) && clientPtr->hasHead) {
        clientPtr->tlsVersion = NsTlsClientVersion(clientPtr->tls);
        clientPtr->tlsCipher = NsTlsClientCipher(clientPtr->tls);
    }
    if (clientPtr->isWhole && clientPtr->keepAlive > 0 && threadPtr != NULL
        && clientPtr->sendError == 0 && clientPtr->head.isPersistent
        && !clientPtr->hasTooMuch) {
        NsHttpKeptPut(&(NsHttpConnection){.sock = clientPtr->sock,
                                          .tls = clientPtr->tls},
                      clientPtr->key, clientPtr->peer, clientPtr->keepAlive,
                      NsHttpThreadQueue(threadPtr));
        clientPtr->sock = NS_INVALID_SOCKET;
        clientPtr->tls = NULL;
    }
    NsHttpCloseConnection(clientPtr);
    if (clientPtr->endProc != NULL) {
        clientPtr->endProc(clientPtr, clientPtr->endArg);
    }
    if (clientPtr->doneProc != NULL) {
        clientPtr->doneProc(clientPtr, clientPtr->doneArg);
    }
}

void
NsHttpCloseConnection(NsHttpClient *clientPtr)
{
    if (clientPtr->tls != NULL) {
        NsTlsClientDestroy(&clientPtr->tls);
    }
    if (clientPtr->connectorPtr != NULL) {
        /* The connector may own our descriptor. */
        if (NsConnectorFd(clientPtr->connectorPtr) == clientPtr->sock) {
            clientPtr->sock = NS_INVALID_SOCKET;
        }
        NsConnectorDestroy(&clientPtr->connectorPtr);
    }
    if (clientPtr->sock != NS_INVALID_SOCKET) {
        ns_sockclose(clientPtr->sock);
        clientPtr->sock = NS_INVALID_SOCKET;
    }
}

static void
Count(_Atomic uint64_t *counterPtr, size_t n)
{
    atomic_fetch_add_explicit(counterPtr, n, memory_order_relaxed);
}
