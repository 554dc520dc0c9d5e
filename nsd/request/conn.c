/* SPDX-License-Identifier: MPL-2.0
 * conn.c --
 *
 *      One request: how it is made from a message, and its properties.
 */

#include "request/conn.h"

#include <sys/mman.h>

#include "nsdriver.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "nsthread.h"
#include "base/set.h"
#include "dispatch/pool_stats.h"
#include "http/auth.h"
#include "http/brotli.h"
#include "http/negotiate.h"
#include "http/request_line.h"
#include "request/proxies.h"
#include "request/conn_int.h"
#include "request/connprofile.h"

NsConnHooks nsConnHooks;

static _Thread_local NsConn *currentPtr;
static NsServeProc          *serveProc; /* Constant after start. */

static void     NotePeer(NsConn *connPtr);
static void     SetFlags(NsConn *connPtr);
static void     SetHeaders(NsConn *connPtr);
static Ns_Time *StampTime(NsConn *connPtr, int i, NsStamp stamp);
static time_t   HeaderTime(const NsConn *connPtr, const char *name);

NsConn *
NsConnCreate(NsMessage *messagePtr)
{
    NsArena         *arenaPtr = &messagePtr->arena;
    NsRequestServer *requestPtr = messagePtr->serverPtr->requestPtr;
#ifdef NS_CONN_PROFILE
    NsConn *connPtr = NsConnProfileAlloc();
#else
    NsConn *connPtr = NsArenaZalloc(arenaPtr, sizeof(NsConn));
#endif

    NsAssert(requestPtr != NULL && messagePtr->sockPtr != NULL);
    connPtr->messagePtr = messagePtr;
    connPtr->sockPtr = messagePtr->sockPtr;
    connPtr->serverPtr = messagePtr->serverPtr;
    connPtr->driverPtr = NsSockDriver(messagePtr->sockPtr);
    connPtr->settingsPtr = NsSockGetSettings(messagePtr->sockPtr);
    connPtr->work.acceptStamp = messagePtr->acceptStamp;
    connPtr->status = 200;
    connPtr->keep = -1;
    connPtr->responseLength = -1;
    if (requestPtr->compressEnable) {
        connPtr->compressLevel = requestPtr->compressLevel;
    }
    connPtr->outputEncoding = requestPtr->outputEncoding;
    connPtr->urlEncoding = requestPtr->urlEncoding;

    if (messagePtr->head.method != NULL) {
        NsRequestFromHead(arenaPtr, &messagePtr->head, NsConnRequest(connPtr));
    }
    NotePeer(connPtr);
    connPtr->pub.request = NsConnRequest(connPtr);
    connPtr->pub.contentLength = messagePtr->contentLength;
    SetHeaders(connPtr);
    SetFlags(connPtr);
    connPtr->firstMethod = NsConnRequest(connPtr)->method;
    connPtr->firstUrl = NsConnRequest(connPtr)->url;
#ifdef NS_CONN_PROFILE
    NsConnProfileBegin(connPtr);
#endif
    return connPtr;
}

void
NsConnCheck(const NsConn *connPtr)
{
    NsAssert(connPtr->messagePtr != NULL
             && connPtr->serverPtr == connPtr->messagePtr->serverPtr);
    NsAssert((connPtr->sockPtr == NULL)
             == (connPtr->replyState == NS_REPLY_ACCOUNTED));
    NsAssert(connPtr->nRead <= connPtr->messagePtr->contentLength);
    NsAssert(connPtr->compressLevel >= 0 && connPtr->compressLevel <= 9);
    NsAssert(connPtr->coderPtr == NULL || connPtr->sockPtr != NULL);
}

/*
 * Addresses from trusted proxies override the peer, as Ns_ConnSetPeer does.
 */
static void
NotePeer(NsConn *connPtr)
{
    NsMessage  *messagePtr = connPtr->messagePtr;
    const char *client = NsProxiesClient(messagePtr);

    if (client != messagePtr->peer) {
        NsConnGetRare(connPtr)->peer = client;
        NsConnGetRare(connPtr)->peerPort = messagePtr->peerPort;
    }
}

NsConn *
NsConnCurrent(void)
{
    return currentPtr;
}

void
NsConnSetCurrent(NsConn *connPtr)
{
    NsAssert(connPtr == NULL || currentPtr == NULL);
    currentPtr = connPtr;
}

void
NsConnSetHooks(const NsConnHooks *hooksPtr)
{
    nsConnHooks = *hooksPtr;
}

void
NsConnSetServeProc(NsServeProc *proc)
{
    NsAssert(serveProc == NULL || serveProc == proc);
    serveProc = proc;
}

int
Ns_ConnRedirect(Ns_Conn *conn, const char *url)
{
    char *query = conn->request->query;

    Ns_SetRequestUrl(conn->request, url);
    if (conn->request->query == NULL) {
        conn->request->query = query;
    }
    NsAssert(serveProc != NULL);
    return serveProc(NsConnOf(conn));
}

NsConnRare *
NsConnGetRare(NsConn *connPtr)
{
    if (connPtr->rarePtr == NULL) {
        connPtr->rarePtr = NsArenaZalloc(NsConnArena(connPtr),
                                         sizeof(NsConnRare));
    }
    return connPtr->rarePtr;
}

void
NsConnFreeParts(NsConn *connPtr)
{
    NsConnRare *rarePtr = connPtr->rarePtr;

    if (rarePtr == NULL) {
        return;
    }
    if (rarePtr->bodyMap != NULL) {
        munmap(rarePtr->bodyMap, connPtr->messagePtr->contentLength);
    }
    if (rarePtr->hasSockContent) {
        Tcl_DStringFree(&rarePtr->sockContent);
    }
}

Ns_Conn *
Ns_GetConn(void)
{
    return currentPtr == NULL ? NULL : &currentPtr->pub;
}

int
Ns_ConnId(Ns_Conn *conn)
{
    return (int) NsConnOf(conn)->work.id;
}

char *
Ns_ConnServer(Ns_Conn *conn)
{
    return (char *) NsConnOf(conn)->serverPtr->name;
}

Ns_Set *
Ns_ConnHeaders(Ns_Conn *conn)
{
    return conn->headers;
}

Ns_Set *
Ns_ConnOutputHeaders(Ns_Conn *conn)
{
    return conn->outputheaders;
}

Ns_Set *
Ns_ConnAuth(Ns_Conn *conn)
{
    return conn->auth;
}

char *
Ns_ConnAuthUser(Ns_Conn *conn)
{
    return conn->auth == NULL ? NULL : Ns_SetIGet(conn->auth, "Username");
}

char *
Ns_ConnAuthPasswd(Ns_Conn *conn)
{
    return conn->auth == NULL ? NULL : Ns_SetIGet(conn->auth, "Password");
}

char *
Ns_ConnPeer(Ns_Conn *conn)
{
    NsConn *connPtr = NsConnOf(conn);

    if (connPtr->rarePtr != NULL && connPtr->rarePtr->peer != NULL) {
        return (char *) connPtr->rarePtr->peer;
    }
    return connPtr->messagePtr->peer;
}

int
Ns_ConnPeerPort(Ns_Conn *conn)
{
    NsConn *connPtr = NsConnOf(conn);

    if (connPtr->rarePtr != NULL && connPtr->rarePtr->peer != NULL) {
        return connPtr->rarePtr->peerPort;
    }
    return connPtr->messagePtr->peerPort;
}

char *
Ns_ConnSetPeer(Ns_Conn *conn, struct sockaddr_in *saPtr)
{
    NsConn     *connPtr = NsConnOf(conn);
    NsConnRare *rarePtr = NsConnGetRare(connPtr);
    char        text[NS_PEER_BYTES] = "";

    (void) inet_ntop(AF_INET, &saPtr->sin_addr, text, sizeof(text));
    rarePtr->peer = NsArenaDup(NsConnArena(connPtr), text, strlen(text));
    rarePtr->peerPort = ntohs(saPtr->sin_port);
    return (char *) rarePtr->peer;
}

char *
Ns_ConnHost(Ns_Conn *conn)
{
    return NsConnOf(conn)->driverPtr->address;
}

/*
 * The driver's location has the port unless it is the protocol's own.
 */
int
Ns_ConnPort(Ns_Conn *conn)
{
    const NsConn *connPtr = NsConnOf(conn);
    const char   *location = connPtr->driverPtr->location, *colon;

    colon = location == NULL ? NULL : strrchr(location, ':');
    if (colon != NULL && isdigit(UCHAR(colon[1]))
        && colon[1 + strspn(colon + 1, "0123456789")] == '\0') {
        return atoi(colon + 1);
    }
    return connPtr->settingsPtr->isTls ? 443 : 80;
}

char *
Ns_ConnDriverName(Ns_Conn *conn)
{
    return NsConnOf(conn)->driverPtr->name;
}

NS_SOCKET
Ns_ConnSock(Ns_Conn *conn)
{
    NsConn *connPtr = NsConnOf(conn);

    return connPtr->sockPtr == NULL
        ? NS_INVALID_SOCKET
        : NsSockFd(connPtr->sockPtr);
}

Ns_Sock *
Ns_ConnSockPtr(Ns_Conn *conn)
{
    NsConn *connPtr = NsConnOf(conn);

    return connPtr->sockPtr == NULL ? NULL : NsSockPublic(connPtr->sockPtr);
}

Ns_DString *
Ns_ConnSockContent(Ns_Conn *conn)
{
    NsConn     *connPtr = NsConnOf(conn);
    NsConnRare *rarePtr = NsConnGetRare(connPtr);

    if (!rarePtr->hasSockContent) {
        Tcl_DStringInit(&rarePtr->sockContent);
        rarePtr->hasSockContent = true;
        if (connPtr->messagePtr->content != NULL) {
            Tcl_DStringAppend(&rarePtr->sockContent,
                              connPtr->messagePtr->content,
                              (int) connPtr->messagePtr->contentLength);
        }
    }
    return &rarePtr->sockContent;
}

Ns_Time *
Ns_ConnStartTime(Ns_Conn *conn)
{
    return StampTime(NsConnOf(conn), 0, NsConnOf(conn)->work.queueStamp);
}

Ns_Time *
Ns_ConnQueueTime(Ns_Conn *conn)
{
    return StampTime(NsConnOf(conn), 0, NsConnOf(conn)->work.queueStamp);
}

Ns_Time *
Ns_ConnAcceptTime(Ns_Conn *conn)
{
    return StampTime(NsConnOf(conn), 1, NsConnOf(conn)->work.acceptStamp);
}

Ns_Time *
Ns_ConnDequeueTime(Ns_Conn *conn)
{
    return StampTime(NsConnOf(conn), 2, NsConnOf(conn)->work.dequeueStamp);
}

Ns_Time *
Ns_ConnFilterTime(Ns_Conn *conn)
{
    return StampTime(NsConnOf(conn), 3, NsConnOf(conn)->work.filterStamp);
}

void
Ns_ConnTimeSpans(Ns_Conn *conn, Ns_Time *acceptPtr, Ns_Time *queuePtr,
                 Ns_Time *filterPtr, Ns_Time *runPtr)
{
    const NsWork *workPtr = &NsConnOf(conn)->work;
    NsStamp end = workPtr->endStamp != 0 ? workPtr->endStamp : NsClockNow();

    *acceptPtr = NsClockSpan(workPtr->acceptStamp, workPtr->queueStamp);
    *queuePtr = NsClockSpan(workPtr->queueStamp, workPtr->dequeueStamp);
    *filterPtr = NsClockSpan(workPtr->dequeueStamp, workPtr->filterStamp);
    *runPtr = NsClockSpan(workPtr->filterStamp, end);
}

void
Ns_ConnTimeStats(Ns_Conn *conn)
{
    NsWork *workPtr = &NsConnOf(conn)->work;

    if (workPtr->endStamp == 0) {
        workPtr->endStamp = NsClockNow();
        NsPoolCountSpans(workPtr);
    }
}

Ns_Time *
Ns_ConnTimeout(Ns_Conn *conn)
{
    return &NsConnGetRare(NsConnOf(conn))->timeout;
}

void
Ns_ConnSetEncoding(Ns_Conn *conn, Tcl_Encoding encoding)
{
    NsConnOf(conn)->outputEncoding = encoding;
}

Tcl_Encoding
Ns_ConnGetEncoding(Ns_Conn *conn)
{
    return NsConnOf(conn)->outputEncoding;
}

void
Ns_ConnSetUrlEncoding(Ns_Conn *conn, Tcl_Encoding encoding)
{
    NsConnOf(conn)->urlEncoding = encoding;
}

Tcl_Encoding
Ns_ConnGetUrlEncoding(Ns_Conn *conn)
{
    return NsConnOf(conn)->urlEncoding;
}

void
Ns_ConnSetCompression(Ns_Conn *conn, int level)
{
    NsConnOf(conn)->compressLevel = MAX(0, MIN(level, 9));
}

int
Ns_ConnGetCompression(Ns_Conn *conn)
{
    return NsConnOf(conn)->compressLevel;
}

int
Ns_ConnModifiedSince(Ns_Conn *conn, time_t since)
{
    NsConn *connPtr = NsConnOf(conn);
    time_t  limit;

    if (!NsConnRequestServer(connPtr)->checkModifiedSince) {
        return NS_TRUE;
    }
    limit = HeaderTime(connPtr, "If-Modified-Since");
    return limit == 0 || limit < since;
}

int
Ns_ConnUnmodifiedSince(Ns_Conn *conn, time_t since)
{
    time_t limit = HeaderTime(NsConnOf(conn), "If-Unmodified-Since");

    return limit == 0 || limit >= since;
}

int
Ns_ConnResponseStatus(Ns_Conn *conn)
{
    return NsConnOf(conn)->status;
}

void
Ns_ConnSetResponseStatus(Ns_Conn *conn, int status)
{
    if (status != 200) {
        NsConnOf(conn)->status = status;
    }
}

Tcl_WideInt
Ns_ConnContentSent(Ns_Conn *conn)
{
    return atomic_load_explicit(&NsConnOf(conn)->bytesSent,
                                memory_order_relaxed);
}

void
Ns_ConnSetContentSent(Ns_Conn *conn, Tcl_WideInt bytes)
{
    atomic_store_explicit(&NsConnOf(conn)->bytesSent, bytes,
                          memory_order_relaxed);
}

Tcl_WideInt
Ns_ConnResponseLength(Ns_Conn *conn)
{
    return NsConnOf(conn)->responseLength;
}

const char *
NsConnClientData(const NsConn *connPtr)
{
    return connPtr->rarePtr == NULL ? NULL : connPtr->rarePtr->clientData;
}

void
NsConnSetClientData(NsConn *connPtr, const char *clientData)
{
    NsConnGetRare(connPtr)->clientData =
        NsArenaDup(NsConnArena(connPtr), clientData, strlen(clientData));
    if (connPtr->sockPtr != NULL) {
        NsSockSetClientData(connPtr->sockPtr, clientData);
    }
}

/*
 * Borrow names and values from the message.
 */
static void
SetHeaders(NsConn *connPtr)
{
    NsHttpHead              *headPtr = &connPtr->messagePtr->head;
    NsArena                 *arenaPtr = NsConnArena(connPtr);
    Ns_HeaderCaseDisposition headerCase =
        NsConnRequestServer(connPtr)->headerCase;
    const char *authorization;

    connPtr->pub.headers = NsSetCreateInArena(arenaPtr, NULL, headPtr->nFields);
    Ns_SetIgnoreCase(connPtr->pub.headers);
    connPtr->pub.outputheaders = NsSetCreateInArena(arenaPtr, NULL, 8);
    Ns_SetIgnoreCase(connPtr->pub.outputheaders);
    for (int i = 0; i < headPtr->nFields; i++) {
        NsHttpField *fieldPtr = &headPtr->fields[i];

        if (headerCase == ToLower) {
            (void) Ns_StrToLower(fieldPtr->name);
        } else if (headerCase == ToUpper) {
            (void) Ns_StrToUpper(fieldPtr->name);
        }
        (void) NsSetPutBorrowed(connPtr->pub.headers, fieldPtr->name,
                                fieldPtr->value);
    }
    authorization = NsHttpKnown(headPtr, NS_FIELD_AUTHORIZATION);
    if (authorization != NULL) {
        connPtr->pub.auth = NsSetCreateInArena(arenaPtr, NULL, 4);
        NsAuthParse(authorization, connPtr->pub.auth);
    }
}

static void
SetFlags(NsConn *connPtr)
{
    const NsMessage *messagePtr = connPtr->messagePtr;
    Ns_Request      *requestPtr = NsConnRequest(connPtr);
    const char      *acceptEncoding;

    if (requestPtr->method == NULL) {
        return; /* A driver whose input is not parsed. */
    }
    if (messagePtr->head.version < NS_HTTP_1_0) {
        connPtr->pub.flags |= NS_CONN_SKIPHDRS;
    }
    if (STREQ(requestPtr->method, "HEAD")) {
        connPtr->pub.flags |= NS_CONN_SKIPBODY;
    }
    if (messagePtr->refusal == 413) {
        connPtr->pub.flags |= NS_CONN_ENTITYTOOLARGE;
    } else if (messagePtr->refusal == 414) {
        connPtr->pub.flags |= NS_CONN_REQUESTURITOOLONG;
    } else if (messagePtr->refusal == 431) {
        connPtr->pub.flags |= NS_CONN_LINETOOLONG;
    }
    acceptEncoding = NsHttpKnown(&messagePtr->head, NS_FIELD_ACCEPT_ENCODING);
    if (NsAcceptsGzip(acceptEncoding)) {
        connPtr->pub.flags |= NS_CONN_ZIPACCEPTED;
    }
    if (NsBrotliIsBuiltIn() && NsAcceptsBrotli(acceptEncoding)) {
        connPtr->pub.flags |= NS_CONN_BROTLIACCEPTED;
    }
}

static Ns_Time *
StampTime(NsConn *connPtr, int i, NsStamp stamp)
{
    Ns_Time *timePtr = &NsConnGetRare(connPtr)->times[i];

    *timePtr = NsClockWall(stamp);
    return timePtr;
}

/*
 * The date in a request header; 0 without one, or if it is none.
 */
static time_t
HeaderTime(const NsConn *connPtr, const char *name)
{
    const char *value = Ns_SetIGet(connPtr->pub.headers, name);

    return value == NULL ? 0 : Ns_ParseHttpTime(value);
}
