/* SPDX-License-Identifier: MPL-2.0
 * httpclient.c --
 *
 *      Requests to other HTTP servers: creating and ending them, and what is
 *      known about them.
 */

#include "net/httpclient.h"

#include "base/assert.h"
#include "net/connect.h"
#include "net/httpclient_int.h"
#include "net/httpkept.h"
#include "net/httprequest.h"
#include "net/httpwork.h"
#include "net/task.h"
#include "net/tlskept.h"
#include "nssocket.h"
#include "nsthread.h"

#define SMALL_BODY      16384u /* A body up to this size goes with the head. */
#define DEFAULT_SILENCE (5 * NS_STAMP_SECOND)

static bool CreateRequest(NsHttpClient           *clientPtr,
                          const NsHttpClientSpec *specPtr,
                          const NsHttpTarget *targetPtr, Ns_DString *errorPtr);
static void TakeSpec(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
                     const NsHttpTarget *targetPtr);
static void TakeBody(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr);
static void SetKey(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
                   const NsHttpTarget *targetPtr);
static bool Attach(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
                   Ns_DString *errorPtr);
static bool TakeKept(NsHttpClient *clientPtr);
static bool CreateTls(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
                      const NsHttpTarget *targetPtr, Ns_DString *errorPtr);
static void Free(NsHttpClient *clientPtr);

void
NsHttpClientInit(void)
{
    NsHttpThreadsInit();
    NsHttpKeptInit();
    NsTlsKeptInit();
}

NsHttpClient *
NsHttpClientCreate(const NsHttpClientSpec *specPtr, Ns_DString *errorPtr)
{
    NsHttpClient *clientPtr = ns_calloc(1u, sizeof(NsHttpClient));
    NsHttpTarget  target;
    const char   *problem;
    bool          isCreated;

    clientPtr->sock = NS_INVALID_SOCKET;
    clientPtr->start = clientPtr->end = NsClockNow();
    clientPtr->bodyFd = specPtr->bodyFd > 0 ? specPtr->bodyFd : -1;
    Ns_DStringInit(&clientPtr->tunnel);
    Ns_DStringInit(&clientPtr->request);
    Ns_DStringInit(&clientPtr->replyText);
    problem = NsHttpTargetParse(specPtr->url, &target);
    if (problem != NULL) {
        Ns_DStringVarAppend(errorPtr, "invalid URL \"", specPtr->url,
                            "\": ", problem, NULL);
        Free(clientPtr);
        return NULL;
    }
    isCreated = CreateRequest(clientPtr, specPtr, &target, errorPtr)
        && Attach(clientPtr, specPtr, errorPtr)
        && (!target.isSecure || clientPtr->tls != NULL
            || CreateTls(clientPtr, specPtr, &target, errorPtr));
    NsHttpTargetFree(&target);
    if (!isCreated) {
        NsHttpCloseConnection(clientPtr);
        Free(clientPtr);
        return NULL;
    }
    return clientPtr;
}

/*
 * Set up everything that needs no connection.
 */
static bool
CreateRequest(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
              const NsHttpTarget *targetPtr, Ns_DString *errorPtr)
{
    const char *badName = NULL;
    bool        isProxied = specPtr->proxyHost != NULL;
    bool isTunneled = isProxied && (targetPtr->isSecure || specPtr->isTunneled);

    clientPtr->url = ns_strdup(specPtr->url);
    clientPtr->method = Ns_StrToUpper(ns_strdup(specPtr->method == NULL
                                                    ? "GET"
                                                    : specPtr->method));
    if (!NsHttpMethodIsValid(clientPtr->method)) {
        Ns_DStringVarAppend(errorPtr, "invalid method \"", specPtr->method,
                            "\"", NULL);
        return false;
    }
    TakeSpec(clientPtr, specPtr, targetPtr);
    if (!NsHttpRequestFormat(&clientPtr->request,
                             &(NsHttpRequestSpec){
                                 .targetPtr = targetPtr,
                                 .method = clientPtr->method,
                                 .headers = specPtr->headers,
                                 .isToProxy = isProxied && !isTunneled,
                                 .keepsHost = specPtr->keepsHost,
                                 .lines = specPtr->lines,
                                 .isKept = clientPtr->keepAlive > 0,
                                 /*
                                  * RFC 9110, section 8.6: for methods that
                                  * expect a body, no body has length 0.
                                  */
                                 .hasBody = specPtr->bodyBytes > 0
                                     || STREQ(clientPtr->method, "POST")
                                     || STREQ(clientPtr->method, "PUT")
                                     || STREQ(clientPtr->method, "PATCH"),
                                 .bodyBytes = specPtr->bodyBytes},
                             &badName)) {
        Ns_DStringVarAppend(errorPtr, "invalid header field \"", badName, "\"",
                            NULL);
        return false;
    }
    clientPtr->requestBytes = (uint64_t) Ns_DStringLength(&clientPtr->request)
        + specPtr->bodyBytes;
    if (isTunneled) {
        clientPtr->isTunneling = true;
        NsHttpRequestFormatTunnel(&clientPtr->tunnel, targetPtr);
    }
    TakeBody(clientPtr, specPtr);
    SetKey(clientPtr, specPtr, targetPtr);
    return true;
}

/*
 * What the request has from the caller, and where it goes.
 */
static void
TakeSpec(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
         const NsHttpTarget *targetPtr)
{
    bool isProxied = specPtr->proxyHost != NULL;

    clientPtr->host = ns_strdup(isProxied ? specPtr->proxyHost
                                          : targetPtr->host);
    clientPtr->port = isProxied ? specPtr->proxyPort : targetPtr->port;
    clientPtr->silence = specPtr->silence > 0
        ? specPtr->silence
        : DEFAULT_SILENCE;
    clientPtr->connectSilence = specPtr->connectSilence > 0
        ? specPtr->connectSilence
        : clientPtr->silence;
    clientPtr->sendSilence = specPtr->sendSilence > 0
        ? specPtr->sendSilence
        : clientPtr->silence;
    clientPtr->expires = specPtr->expire > 0
        ? clientPtr->start + specPtr->expire
        : 0;
    clientPtr->keepAlive = specPtr->keepAlive;
    clientPtr->headProc = specPtr->headProc;
    clientPtr->endProc = specPtr->endProc;
    clientPtr->endArg = specPtr->endArg;
    clientPtr->headArg = specPtr->arg;
    clientPtr->bodyBytes = specPtr->bodyBytes;
    clientPtr->fields = Ns_SetCreate(NULL);
    clientPtr->replyBody = NsReplyBodyCreate(&specPtr->reply);
}

static void
TakeBody(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr)
{
    clientPtr->bodyOffset = specPtr->bodyOffset;
    if (specPtr->body != NULL && specPtr->bodyBytes <= SMALL_BODY) {
        Ns_DStringNAppend(&clientPtr->request, specPtr->body,
                          (int) specPtr->bodyBytes);
        return;
    }
    clientPtr->laterBytes = specPtr->bodyBytes;
    if (specPtr->body != NULL) {
        clientPtr->body = ns_malloc((size_t) specPtr->bodyBytes);
        memcpy(clientPtr->body, specPtr->body, (size_t) specPtr->bodyBytes);
    }
}

/*
 * A connection serves requests that have all of this in common.
 */
static void
SetKey(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
       const NsHttpTarget *targetPtr)
{
    const NsTlsClientSpec *tlsPtr = &specPtr->tls;
    const char            *texts[] = {
                   specPtr->proxyHost,
                   specPtr->unixSocket,
        targetPtr->isSecure ? tlsPtr->host : NULL,
        targetPtr->isSecure ? tlsPtr->caFile : NULL,
        targetPtr->isSecure ? tlsPtr->caPath : NULL,
        targetPtr->isSecure ? tlsPtr->certificate : NULL,
        targetPtr->isSecure ? tlsPtr->key : NULL,
    };
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s:%d", targetPtr->host, targetPtr->port);
    clientPtr->peer = ns_strdup(Ns_DStringValue(&ds));
    if (specPtr->keepAlive > 0) {
        Ns_DStringPrintf(&ds, " %d %d %d %d %d %d %p", targetPtr->isSecure,
                         specPtr->proxyPort, specPtr->isTunneled,
                         tlsPtr->isInsecure, tlsPtr->isNameless,
                         tlsPtr->maxDepth, (const void *) tlsPtr->exceptions);
        for (int i = 0; i < Ns_NrElements(texts); i++) {
            Tcl_DStringAppendElement(&ds, texts[i] == NULL ? "" : texts[i]);
        }
        clientPtr->key = ns_strdup(Ns_DStringValue(&ds));
    }
    Ns_DStringFree(&ds);
}

/*
 * Take a connection, or begin to connect.
 */
static bool
Attach(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
       Ns_DString *errorPtr)
{
    if (specPtr->unixSocket == NULL) {
        clientPtr->connectorPtr = NsConnectorCreate(&(NsConnectSpec){
            .host = clientPtr->host, .port = clientPtr->port});
        if (clientPtr->connectorPtr == NULL) {
            NsHttpAppendConnectError(clientPtr, errno, errorPtr);
            return false;
        }
    }
    if (TakeKept(clientPtr)) {
        return true;
    }
    if (clientPtr->connectorPtr != NULL) {
        clientPtr->stage = NS_HTTP_CONNECTING;
        /* The connection will have this descriptor. */
        clientPtr->sock = NsConnectorFd(clientPtr->connectorPtr);
        return true;
    }
    clientPtr->sock = Ns_SockConnectUnix(specPtr->unixSocket,
                                         SOCK_STREAM | SOCK_NONBLOCK, NULL);
    if (clientPtr->sock == NS_INVALID_SOCKET) {
        Ns_DStringVarAppend(errorPtr, "can't connect to ", specPtr->unixSocket,
                            ": ", Tcl_ErrnoMsg(errno), NULL);
        return false;
    }
    NsHttpConnected(clientPtr);
    return true;
}

/*
 * A request that must not be sent twice takes no kept connection, because the
 * server may be about to close that.
 */
static bool
TakeKept(NsHttpClient *clientPtr)
{
    NsHttpConnection connection;

    if (clientPtr->key == NULL || !NsHttpMethodIsIdempotent(clientPtr->method)
        || !NsHttpKeptTake(clientPtr->key, &connection)) {
        return false;
    }
    clientPtr->sock = connection.sock;
    clientPtr->tls = connection.tls;
    clientPtr->isKept = true;
    clientPtr->isTunneling = false;
    NsHttpConnected(clientPtr);
    return true;
}

static bool
CreateTls(NsHttpClient *clientPtr, const NsHttpClientSpec *specPtr,
          const NsHttpTarget *targetPtr, Ns_DString *errorPtr)
{
    NsTlsClientSpec spec = specPtr->tls;
    Ns_DString      reason;

    Ns_DStringInit(&reason);
    spec.sock = clientPtr->sock;
    /* The library would take an empty name for any. */
    if (spec.host == NULL || *spec.host == '\0') {
        spec.host = targetPtr->host;
    }
    clientPtr->tls = NsTlsClientCreate(&spec, &reason);
    if (clientPtr->tls == NULL) {
        Ns_DStringVarAppend(errorPtr, "ssl connect failed: ", reason.string,
                            NULL);
    }
    Ns_DStringFree(&reason);
    if (clientPtr->tls != NULL && clientPtr->hasConnected) {
        NsHttpConnected(clientPtr);
    }
    return clientPtr->tls != NULL;
}

Ns_ReturnCode
NsHttpClientQueue(NsHttpClient *clientPtr)
{
    clientPtr->threadPtr = NsHttpThreadNext();
    if (clientPtr->threadPtr == NULL) {
        return NS_ERROR;
    }
    clientPtr->task = Ns_TaskCreate(clientPtr->sock, NsHttpWork, clientPtr);
    NsHttpThreadCount(clientPtr->threadPtr, 1);
    if (Ns_TaskEnqueue(clientPtr->task, NsHttpThreadQueue(clientPtr->threadPtr))
        != NS_OK) {
        NsHttpThreadCount(clientPtr->threadPtr, -1);
        (void) Ns_TaskFree(clientPtr->task);
        clientPtr->task = NULL;
        clientPtr->threadPtr = NULL;
        return NS_ERROR;
    }
    return NS_OK;
}

Ns_ReturnCode
NsHttpClientStart(NsHttpClient *clientPtr, NsHttpClientDoneProc *doneProc,
                  void *arg)
{
    NsHttpThread *threadPtr = NsHttpThreadNext();

    NsAssert(clientPtr->task == NULL && doneProc != NULL);
    if (threadPtr == NULL) {
        return NS_ERROR;
    }
    clientPtr->threadPtr = threadPtr;
    clientPtr->doneProc = doneProc;
    clientPtr->doneArg = arg;
    NsHttpThreadCount(threadPtr, 1);
    if (NsTaskStart(clientPtr->sock, NsHttpWork, clientPtr,
                    NsHttpThreadQueue(threadPtr))
        == NULL) {
        NsHttpThreadCount(threadPtr, -1);
        clientPtr->threadPtr = NULL;
        clientPtr->doneProc = NULL;
        return NS_ERROR;
    }
    return NS_OK;
}

void
NsHttpClientRun(NsHttpClient *clientPtr)
{
    NsAssert(clientPtr->task == NULL);
    clientPtr->task = Ns_TaskCreate(clientPtr->sock, NsHttpWork, clientPtr);
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
    return clientPtr->hasRun ? NS_OK
                             : NsTaskWaitEndable(clientPtr->task, timeoutPtr);
}

void
NsHttpClientDestroy(NsHttpClient **clientPtrPtr)
{
    NsHttpClient *clientPtr = *clientPtrPtr;

    if (clientPtr->task != NULL) {
        if (!NsHttpClientIsDone(clientPtr)) {
            (void) Ns_TaskCancel(clientPtr->task);
            (void) Ns_TaskWait(clientPtr->task, NULL);
        }
        (void) Ns_TaskFree(clientPtr->task);
    } else if (clientPtr->stage != NS_HTTP_ENDED) {
        NsHttpCloseConnection(clientPtr);
    }
    /* Callbacks of a task that is being cancelled may look there. */
    *clientPtrPtr = NULL;
    Free(clientPtr);
}

static void
Free(NsHttpClient *clientPtr)
{
    NsAssert(clientPtr->sock == NS_INVALID_SOCKET && clientPtr->tls == NULL);
    if (clientPtr->replyBody != NULL) {
        NsReplyBodyDestroy(&clientPtr->replyBody);
    }
    if (clientPtr->fields != NULL) {
        Ns_SetFree(clientPtr->fields);
    }
    if (clientPtr->bodyFd >= 0) {
        NsClose(clientPtr->bodyFd);
    }
    Ns_DStringFree(&clientPtr->tunnel);
    Ns_DStringFree(&clientPtr->request);
    Ns_DStringFree(&clientPtr->replyText);
    ns_free(clientPtr->body);
    ns_free(clientPtr->fileBuffer);
    ns_free(clientPtr->error);
    ns_free(clientPtr->key);
    ns_free(clientPtr->peer);
    ns_free(clientPtr->host);
    ns_free(clientPtr->method);
    ns_free(clientPtr->url);
    ns_free(clientPtr);
}

const char *
NsHttpClientMethod(const NsHttpClient *clientPtr)
{
    return clientPtr->method;
}

bool
NsHttpClientIsReused(const NsHttpClient *clientPtr)
{
    return clientPtr->isKept;
}

const char *
NsHttpClientUrl(const NsHttpClient *clientPtr)
{
    return clientPtr->url;
}

void
NsHttpClientGetStats(const NsHttpClient *clientPtr, NsHttpClientStats *statsPtr)
{
    uint64_t nSent = atomic_load_explicit(&clientPtr->nSent,
                                          memory_order_relaxed);
    uint64_t headBytes = clientPtr->requestBytes - clientPtr->bodyBytes;

    *statsPtr = (NsHttpClientStats){
        .requestBytes = clientPtr->requestBytes,
        .bodyBytes = clientPtr->bodyBytes,
        .nSent = nSent,
        .nBodySent = nSent > headBytes ? nSent - headBytes : 0u,
        .replyBytes = atomic_load_explicit(&clientPtr->replyLength,
                                           memory_order_relaxed),
        .nReceived = atomic_load_explicit(&clientPtr->nReceived,
                                          memory_order_relaxed),
        .nBodyReceived = atomic_load_explicit(&clientPtr->nBodyReceived,
                                              memory_order_relaxed),
        .nBodyKept = NsReplyBodyLength(clientPtr->replyBody)};
}

NsHttpClientOutcome
NsHttpClientHow(const NsHttpClient *clientPtr)
{
    return clientPtr->outcome;
}

const char *
NsHttpClientError(const NsHttpClient *clientPtr)
{
    return clientPtr->error;
}

int
NsHttpClientErrno(const NsHttpClient *clientPtr)
{
    return clientPtr->errorNumber;
}

Ns_Time
NsHttpClientElapsed(const NsHttpClient *clientPtr)
{
    return NsClockSpan(clientPtr->start, clientPtr->end);
}

const NsReplyHead *
NsHttpClientHead(const NsHttpClient *clientPtr)
{
    return clientPtr->hasHead ? &clientPtr->head : NULL;
}

Ns_Set *
NsHttpClientFields(const NsHttpClient *clientPtr)
{
    return clientPtr->fields;
}

NsReplyBody *
NsHttpClientBody(const NsHttpClient *clientPtr)
{
    return clientPtr->replyBody;
}

const char *
NsHttpClientTlsVersion(const NsHttpClient *clientPtr)
{
    return clientPtr->tlsVersion;
}

const char *
NsHttpClientTlsCipher(const NsHttpClient *clientPtr)
{
    return clientPtr->tlsCipher;
}

bool
NsHttpClientHasConnected(const NsHttpClient *clientPtr)
{
    return clientPtr->hasConnected;
}

void
NsHttpClientThreads(Ns_DString *dsPtr)
{
    NsHttpThreadsList(dsPtr);
}
