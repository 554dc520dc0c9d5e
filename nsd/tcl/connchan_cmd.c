/* SPDX-License-Identifier: MPL-2.0
 * connchan_cmd.c --
 *
 *      ns_connchan: connections that scripts have taken over as channels.
 *
 *      An entry is removed when its channel is closed, no matter which thread
 *      has the channel then.
 */

#include "tcl/connchan_cmd.h"
#include "ns.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/random.h"
#include "http/urlparts.h"
#include "http/wsdeflate.h"
#include "net/connect.h"
#include "net/listen.h"
#include "request/conn.h"
#include "request/reply.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/connchan.h"
#include "tcl/httpsettings.h"
#include "tcl/set.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"

typedef struct ConnChan {
    /* Constant. */
    NsServer *serverPtr;
    char     *channel;
    char     *driver;
    char     *peer;
    char     *clientData;
    char     *thread;
    Ns_Time   start; /* When the request arrived. */

    struct ConnChan *nextPtr; /* Guarded by lock. */
    struct ConnChan *prevPtr;
} ConnChan;

/*
 * Options of connect and open.
 */
typedef struct ClientOptions {
    bool            isTls;
    int             isInsecure;
    Ns_Time        *timeoutPtr;
    char           *driver;
    char           *unixSocket;
    NsTlsClientSpec tls;
} ClientOptions;

/*
 * What open asks for.
 */
typedef struct Target {
    char      *method;
    char      *version;
    char      *url;
    NsUrlParts parts;
    int        port;
} Target;

#define TLS_OPTIONS(o)                                           \
    {"-cafile", Ns_ObjvString, &(o).tls.caFile, NULL},           \
        {"-capath", Ns_ObjvString, &(o).tls.caPath, NULL},       \
        {"-cert", Ns_ObjvString, &(o).tls.certificate, NULL},    \
        {"-driver", Ns_ObjvString, &(o).driver, NULL},           \
        {"-hostname", Ns_ObjvString, &(o).tls.host, NULL},       \
        {"-insecure", Ns_ObjvBool, &(o).isInsecure, INT2PTR(1)}, \
        {"-key", Ns_ObjvString, &(o).tls.key, NULL},             \
        {"-timeout", Ns_ObjvTime, &(o).timeoutPtr, NULL},        \
    {                                                            \
        "-unix_socket", Ns_ObjvString, &(o).unixSocket, NULL     \
    }

static Ns_Mutex  lock; /* Guards the list. */
static ConnChan *firstPtr;

static Tcl_ObjCmdProc CallbackCmd, CloseCmd, ConnectCmd, DebugCmd, DetachCmd,
    ExistsCmd, ListCmd, ListenCmd, OpenCmd, ReadCmd, StatusCmd, WebSocketCmd,
    WriteCmd, WsEncodeCmd;
static Tcl_CloseProc Forget;
static void          AppendEntry(Ns_DString *dsPtr, const ConnChan *entryPtr);

static NsChan *FindChan(NsInterp *itPtr, NsServer *serverPtr, Tcl_Obj *nameObj);
static int     TakeChan(NsInterp *itPtr, int objc, Tcl_Obj *const *objv,
                        NsChan **chanPtrPtr);
static int     ParseWhen(Tcl_Interp *interp, const char *text, int *whenPtr);
static int Connect(NsInterp *itPtr, ClientOptions *optionsPtr, const char *host,
                   int port, const char *driver, NsChan **chanPtrPtr);
static NS_SOCKET    ConnectSocket(Tcl_Interp          *interp,
                                  const ClientOptions *optionsPtr,
                                  const char *host, int port);
static NsTlsClient *StartTls(NsInterp *itPtr, ClientOptions *optionsPtr,
                             const char *host, NS_SOCKET sock);
static void         TellListening(Tcl_Interp *interp, const NsChan *chanPtr,
                                  const NsSockAddr *addrPtr, const char *address,
                                  NS_SOCKET sock);
static int          Open(NsInterp *itPtr, ClientOptions *clientPtr,
                         const Target *targetPtr, Ns_Set *headers);
static int          CheckTarget(Tcl_Interp *interp, Target *targetPtr,
                                ClientOptions *clientPtr);
static int          AppendRequest(Tcl_Interp *interp, Ns_DString *dsPtr,
                                  const Target *targetPtr, const char *hostname,
                                  Ns_Set *headers);
static int          SendFailed(Tcl_Interp *interp, const NsChan *chanPtr);
static int AppendFields(Tcl_Interp *interp, Ns_DString *dsPtr, Ns_Set *headers);
static void AppendTarget(Ns_DString *dsPtr, const char *method,
                         const char *version, const NsUrlParts *partsPtr);
static bool IsLine(const char *text);
static void AppendFrame(Ns_DString *framePtr, int opcode, bool isFinal,
                        bool isMasked, int windowBits, const char *bytes,
                        size_t length);

static const NsTclCommand subcmds[] = {
    {"callback", CallbackCmd, 0, NS_TCL_ANY, NULL, 0},
    {"close", CloseCmd, 0, NS_TCL_ANY, NULL, 0},
    {"connect", ConnectCmd, 0, NS_TCL_ANY, NULL, 0},
    {"debug", DebugCmd, 1, 2, "channel ?level?", 0},
    {"detach", DetachCmd, 0, 0, NULL, 0},
    {"exists", ExistsCmd, 1, 1, "channel", 0},
    {"list", ListCmd, 0, NS_TCL_ANY, NULL, 0},
    {"listen", ListenCmd, 0, NS_TCL_ANY, NULL, 0},
    {"open", OpenCmd, 0, NS_TCL_ANY, NULL, 0},
    {"read", ReadCmd, 0, NS_TCL_ANY, NULL, 0},
    {"status", StatusCmd, 0, NS_TCL_ANY, NULL, 0},
    {"websocket", WebSocketCmd, 0, NS_TCL_ANY, NULL, 0},
    {"write", WriteCmd, 0, NS_TCL_ANY, NULL, 0},
    {"wsencode", WsEncodeCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_connchan", "subcommand ?arg ...?", "subcommand", 0, subcmds};

void
NsConnChanCmdInit(void)
{
    NsChanInit();
    NsMutexSetup(&lock, NS_RANK_TCL_MISC, "ns:connchan", NULL);
    NsTclAddEnsemble(&ensemble);
}

void
NsConnChanEnter(NsConn *connPtr, Tcl_Channel channel)
{
    ConnChan *entryPtr = ns_calloc(1, sizeof(*entryPtr));

    entryPtr->serverPtr = connPtr->serverPtr;
    entryPtr->channel = ns_strdup(Tcl_GetChannelName(channel));
    entryPtr->driver = ns_strdup(connPtr->driverPtr->module);
    entryPtr->peer = ns_strdup(Ns_ConnPeer(&connPtr->pub));
    entryPtr->clientData = ns_strcopy(NsConnClientData(connPtr));
    entryPtr->thread = ns_strdup(Ns_ThreadGetName());
    entryPtr->start = NsClockWall(connPtr->work.queueStamp);

    Ns_MutexLock(&lock);
    entryPtr->nextPtr = firstPtr;
    if (firstPtr != NULL) {
        firstPtr->prevPtr = entryPtr;
    }
    firstPtr = entryPtr;
    Ns_MutexUnlock(&lock);
    Tcl_CreateCloseHandler(channel, Forget, entryPtr);
}

static void
Forget(ClientData clientData)
{
    ConnChan *entryPtr = clientData;

    Ns_MutexLock(&lock);
    if (entryPtr->prevPtr != NULL) {
        entryPtr->prevPtr->nextPtr = entryPtr->nextPtr;
    } else {
        firstPtr = entryPtr->nextPtr;
    }
    if (entryPtr->nextPtr != NULL) {
        entryPtr->nextPtr->prevPtr = entryPtr->prevPtr;
    }
    Ns_MutexUnlock(&lock);
    ns_free(entryPtr->channel);
    ns_free(entryPtr->driver);
    ns_free(entryPtr->peer);
    ns_free(entryPtr->clientData);
    ns_free(entryPtr->thread);
    ns_free(entryPtr);
}

/*
 * ns_connchan list ?-server server?: lists as NsChanList does, and also the
 * channels of `ns_conn channel`, whose traffic the server does not see.
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsServer   *serverPtr = NULL;
    char       *server = NULL;
    Ns_ObjvSpec options[] = {
        {"-server", Ns_ObjvString, &server, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_DString ds;

    if (Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK
        || (server != NULL
            && (serverPtr = NsServerArgFind(interp, server)) == NULL)) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    Ns_MutexLock(&lock);
    for (const ConnChan *entryPtr = firstPtr; entryPtr != NULL;
         entryPtr = entryPtr->nextPtr) {
        if (serverPtr == NULL || entryPtr->serverPtr == serverPtr) {
            AppendEntry(&ds, entryPtr);
        }
    }
    Ns_MutexUnlock(&lock);
    NsChanList(serverPtr, &ds);
    return NsTclReturnText(interp, &ds);
}

static void
AppendEntry(Ns_DString *dsPtr, const ConnChan *entryPtr)
{
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringAppendElement(dsPtr, entryPtr->channel);
    Ns_DStringAppendElement(dsPtr, entryPtr->thread);
    Ns_DStringPrintf(dsPtr, " %ld.%06ld", entryPtr->start.sec,
                     entryPtr->start.usec);
    Ns_DStringAppendElement(dsPtr, entryPtr->driver);
    Ns_DStringAppendElement(dsPtr, entryPtr->peer);
    Ns_DStringAppend(dsPtr, " 0 0");
    Ns_DStringAppendElement(dsPtr,
                            entryPtr->clientData != NULL ? entryPtr->clientData
                                                         : "");
    Ns_DStringAppend(dsPtr, " {} {}");
    Tcl_DStringEndSublist(dsPtr);
}

/* ---- Channels by name. ---- */

/*
 * ns_connchan detach: the channel takes the connection away from the request.
 */
static int
DetachCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsConn *connPtr = NsTclCurrentConn(clientData);
    NsChan *chanPtr;
    Ns_Sock taken = {.arg = NULL};
    int     fd;

    if (connPtr == NULL) {
        return TCL_ERROR;
    }
    if (NsConnSocketIsTaken(connPtr) || connPtr->sockPtr == NULL) {
        return NsTclFail(interp, "connection socket is detached");
    }
    fd = NsConnDetach(connPtr, connPtr->settingsPtr->isTls ? &taken : NULL);
    if (fd < 0) {
        return NsTclFail(interp, "connection already closed");
    }
    chanPtr = NsChanCreate(&(NsChanSpec){
        .serverPtr = connPtr->serverPtr,
        .driver = connPtr->driverPtr->module,
        .peer = Ns_ConnPeer(&connPtr->pub),
        .clientData = NsConnClientData(connPtr),
        .start = NsClockWall(connPtr->work.queueStamp),
        .ioPtr = NsChanIoCreate(fd, NULL, &taken),
        .isServer = true});
    Tcl_SetObjResult(interp, Tcl_NewStringObj(NsChanName(chanPtr), -1));
    NsChanUnref(&chanPtr);
    return TCL_OK;
}

/*
 * ns_connchan connect ?-tls? ?OPTION ...? ?--? host port
 */
static int
ConnectCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    char         *host;
    int           port, isTls = 0;
    ClientOptions client = {.timeoutPtr = &(Ns_Time){1, 0}};
    NsChan       *chanPtr;
    Ns_ObjvSpec   options[] = {TLS_OPTIONS(client),
                               {"-tls", Ns_ObjvBool, &isTls, INT2PTR(1)},
                               {"--", Ns_ObjvBreak, NULL, NULL},
                               {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec   args[] = {{"host", Ns_ObjvString, &host, NULL},
                            {"port", Ns_ObjvInt, &port, NULL},
                            {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    client.isTls = isTls != 0;
    if (Connect(clientData, &client, host, port, "connect", &chanPtr)
        != TCL_OK) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(NsChanName(chanPtr), -1));
    NsChanUnref(&chanPtr);
    return TCL_OK;
}

static int
Connect(NsInterp *itPtr, ClientOptions *optionsPtr, const char *host, int port,
        const char *driver, NsChan **chanPtrPtr)
{
    NS_SOCKET    sock = ConnectSocket(itPtr->interp, optionsPtr, host, port);
    NsTlsClient *tlsPtr = NULL;

    if (sock == NS_INVALID_SOCKET) {
        return TCL_ERROR;
    }
    if (optionsPtr->isTls
        && (tlsPtr = StartTls(itPtr, optionsPtr, host, sock)) == NULL) {
        NsClose(sock);
        return TCL_ERROR;
    }
    *chanPtrPtr = NsChanCreate(&(NsChanSpec){
        .serverPtr = itPtr->serverPtr,
        .driver = optionsPtr->driver != NULL ? optionsPtr->driver : driver,
        .peer = host,
        .start = NsClockWall(NsClockNow()),
        .ioPtr = NsChanIoCreate(sock, tlsPtr, NULL)});
    return TCL_OK;
}

static NS_SOCKET
ConnectSocket(Tcl_Interp *interp, const ClientOptions *optionsPtr,
              const char *host, int port)
{
    Ns_Time   timeout = *optionsPtr->timeoutPtr;
    NS_SOCKET sock;

    if (optionsPtr->unixSocket == NULL) {
        sock = Ns_SockTimedConnect(host, port, &timeout);
        if (sock == NS_INVALID_SOCKET) {
            (void) NsTclFail(interp, "can't connect to %s port %d: %s", host,
                             port,
                             errno == 0 ? "host not found"
                                        : Tcl_PosixError(interp));
        }
        return sock;
    }
    if (*optionsPtr->unixSocket != '/') {
        (void) NsTclFail(interp,
                         "Unix Domain Socket must start with a slash \"%s\"",
                         optionsPtr->unixSocket);
        return NS_INVALID_SOCKET;
    }
    sock = Ns_SockConnectUnix(optionsPtr->unixSocket,
                              SOCK_STREAM | SOCK_NONBLOCK, NULL);
    if (sock == NS_INVALID_SOCKET) {
        (void) NsTclFail(interp, "can't connect to %s: %s",
                         optionsPtr->unixSocket, Tcl_PosixError(interp));
    }
    return sock;
}

/*
 * The handshake, in the time that connecting may take.
 */
static NsTlsClient *
StartTls(NsInterp *itPtr, ClientOptions *optionsPtr, const char *host,
         NS_SOCKET sock)
{
    NsTlsClientSpec *specPtr = &optionsPtr->tls;
    NsStamp      limit = NsClockNow() + NsClockFromTime(optionsPtr->timeoutPtr);
    NsTlsStatus  status;
    NsTlsClient *tlsPtr;
    Ns_DString   reason;

    (void) Ns_SockSetNonBlocking(sock);
    NsHttpSettingsForTls(NsHttpSettingsGet(itPtr->serverPtr),
                         optionsPtr->isInsecure != 0 ? -1 : 0, specPtr);
    specPtr->sock = sock;
    if (specPtr->host == NULL || *specPtr->host == '\0') {
        specPtr->host = host;
    }
    Ns_DStringInit(&reason);
    tlsPtr = NsTlsClientCreate(specPtr, &reason);
    if (tlsPtr == NULL) {
        (void) NsTclFail(itPtr->interp, "ssl connect failed: %s",
                         Ns_DStringValue(&reason));
        Ns_DStringFree(&reason);
        return NULL;
    }
    Ns_DStringFree(&reason);
    while ((status = NsTlsClientHandshake(tlsPtr)) == NS_TLS_WAIT) {
        NsStamp now = NsClockNow();
        Ns_Time left = NsClockSpan(now, MAX(now, limit));

        if (Ns_SockTimedWait(sock, NsTlsClientWhen(tlsPtr), &left) != NS_OK) {
            NsTlsClientDestroy(&tlsPtr);
            (void) NsTclFail(itPtr->interp,
                             "timeout waiting for TLS handshake");
            Tcl_SetErrorCode(itPtr->interp, "NS_TIMEOUT", (char *) NULL);
            return NULL;
        }
    }
    if (status != NS_TLS_OK) {
        (void) NsTclFail(itPtr->interp, "ssl connect failed: %s",
                         status == NS_TLS_END ? "connection closed"
                                              : NsTlsClientReason(tlsPtr));
        NsTlsClientDestroy(&tlsPtr);
        return NULL;
    }
    return tlsPtr;
}

/*
 * ns_connchan listen ?-bind? ?-driver d? ?-server s? ?--? address port script:
 * the address is always bound.
 */
static int
ListenCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    NsServer   *serverPtr = itPtr->serverPtr;
    char       *address, *script, *driver = NULL, *server = NULL;
    int         port, isBound = 0;
    NS_SOCKET   sock;
    NsSockAddr  addr = {.length = sizeof(addr.u)};
    char        text[NI_MAXHOST];
    NsChan     *chanPtr;
    Ns_ObjvSpec options[] = {
        {"-bind", Ns_ObjvBool, &isBound, INT2PTR(1)},
        {"-driver", Ns_ObjvString, &driver, NULL},
        {"-server", Ns_ObjvString, &server, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"address", Ns_ObjvString, &address, NULL},
                          {"port", Ns_ObjvInt, &port, NULL},
                          {"script", Ns_ObjvString, &script, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (server != NULL
            && (serverPtr = NsServerArgFind(interp, server)) == NULL)) {
        return TCL_ERROR;
    }
    if (port < 0 || port > 65535) {
        return NsTclFail(interp, "invalid port %d", port);
    }
    sock = Ns_SockListenEx(address, port, SOMAXCONN);
    if (sock == NS_INVALID_SOCKET) {
        return NsTclFail(interp, "can't listen on %s port %d: %s", address,
                         port, Tcl_PosixError(interp));
    }
    (void) getsockname(sock, &addr.u.any, &addr.length);
    NsSockAddrText(&addr, text, sizeof(text));
    chanPtr = NsChanCreate(&(NsChanSpec){
        .serverPtr = serverPtr,
        .driver = driver != NULL ? driver : "listen",
        .peer = text,
        .start = NsClockWall(NsClockNow()),
        .ioPtr = NsChanIoCreate(sock, NULL, NULL),
        .isListening = true});
    if (NsChanSetCallback(chanPtr,
                          &(NsChanCallback){.script = script,
                                            .when = NS_SOCK_READ})
        != NS_OK) {
        NsChanClose(chanPtr);
        NsChanUnref(&chanPtr);
        return NsTclFail(interp, "could not register callback");
    }
    TellListening(interp, chanPtr, &addr, text, sock);
    NsChanUnref(&chanPtr);
    return TCL_OK;
}

static void
TellListening(Tcl_Interp *interp, const NsChan *chanPtr,
              const NsSockAddr *addrPtr, const char *address, NS_SOCKET sock)
{
    int port = ntohs(addrPtr->u.any.sa_family == AF_INET6
                         ? addrPtr->u.in6.sin6_port
                         : addrPtr->u.in.sin_port);

    Tcl_SetObjResult(interp,
                     Tcl_ObjPrintf("channel %s port %d sock %d address %s",
                                   NsChanName(chanPtr), port, (int) sock,
                                   address));
}

static int
DebugCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsInterp *itPtr = clientData;
    NsChan   *chanPtr = FindChan(itPtr, itPtr->serverPtr, objv[2]);
    int       level = -1;

    if (chanPtr == NULL) {
        return TCL_ERROR;
    }
    if (objc > 3 && Tcl_GetIntFromObj(interp, objv[3], &level) != TCL_OK) {
        NsChanUnref(&chanPtr);
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewIntObj(NsChanDebug(chanPtr, level)));
    NsChanUnref(&chanPtr);
    return TCL_OK;
}

/*
 * ns_connchan open ?-headers set? ?-method m? ?-version v? ?OPTION ...? ?--?
 * url
 */
static int
OpenCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsInterp     *itPtr = clientData;
    Tcl_Obj      *setObj = NULL;
    ClientOptions client = {.timeoutPtr = &(Ns_Time){1, 0}};
    Target        target = {.method = (char *) (uintptr_t) "GET",
                            .version = (char *) (uintptr_t) "1.0"};
    Ns_Set       *headers = NULL;
    Ns_ObjvSpec   options[] = {
          TLS_OPTIONS(client),
          {"-headers", Ns_ObjvObj, &setObj, NULL},
          {"-method", Ns_ObjvString, &target.method, NULL},
          {"-version", Ns_ObjvString, &target.version, NULL},
          {"--", Ns_ObjvBreak, NULL, NULL},
          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"url", Ns_ObjvString, &target.url, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (setObj != NULL && (headers = NsTclSetGet(itPtr, setObj)) == NULL)
        || CheckTarget(interp, &target, &client) != TCL_OK) {
        return TCL_ERROR;
    }
    return Open(itPtr, &client, &target, headers);
}

static int
Open(NsInterp *itPtr, ClientOptions *clientPtr, const Target *targetPtr,
     Ns_Set *headers)
{
    const NsSpan *hostPtr = &targetPtr->parts.parts[NS_URL_HOST];
    NsChan       *chanPtr;
    Ns_DString    host, request;
    int           result = TCL_ERROR;

    Ns_DStringInit(&host);
    Ns_DStringInit(&request);
    Ns_DStringNAppend(&host, hostPtr->start, (int) hostPtr->length);
    if (AppendRequest(itPtr->interp, &request, targetPtr, clientPtr->tls.host,
                      headers)
            == TCL_OK
        && Connect(itPtr, clientPtr, Ns_DStringValue(&host), targetPtr->port,
                   clientPtr->isTls ? "https" : "http", &chanPtr)
            == TCL_OK) {
        if (NsChanWrite(chanPtr, Ns_DStringValue(&request),
                        (size_t) Ns_DStringLength(&request))
            < 0) {
            (void) SendFailed(itPtr->interp, chanPtr);
            NsChanClose(chanPtr);
        } else {
            result = NsTclReturnString(itPtr->interp, NsChanName(chanPtr));
        }
        NsChanUnref(&chanPtr);
    }
    Ns_DStringFree(&request);
    Ns_DStringFree(&host);
    return result;
}

/*
 * Take the URL apart; refuse what would be more than a request line.
 */
static int
CheckTarget(Tcl_Interp *interp, Target *targetPtr, ClientOptions *clientPtr)
{
    const NsSpan *spans = targetPtr->parts.parts;
    const char   *url = targetPtr->url, *hostname = clientPtr->tls.host;

    if (NsUrlSplit(url, false, &targetPtr->parts) != NULL
        || spans[NS_URL_HOST].start == NULL || !IsLine(url)
        || strchr(url, ' ') != NULL) {
        return NsTclFail(interp, "invalid URL \"%s\"", url);
    }
    clientPtr->isTls = spans[NS_URL_PROTO].length == 5
        && strncasecmp(url, "https", 5) == 0;
    if (!clientPtr->isTls
        && (spans[NS_URL_PROTO].length != 4
            || strncasecmp(url, "http", 4) != 0)) {
        return NsTclFail(interp, "no driver for protocol '%.*s' found",
                         (int) spans[NS_URL_PROTO].length, url);
    }
    if (strpbrk(targetPtr->method, " \t\r\n") != NULL
        || *targetPtr->method == '\0') {
        return NsTclFail(interp, "bad method \"%s\"", targetPtr->method);
    }
    if (strspn(targetPtr->version, "0123456789.") != strlen(targetPtr->version)
        || (hostname != NULL && !IsLine(hostname))) {
        return NsTclFail(interp, "invalid HTTP version or host name");
    }
    targetPtr->port = clientPtr->isTls ? 443 : 80;
    if (spans[NS_URL_PORT].length > 0) {
        targetPtr->port = (int) strtol(spans[NS_URL_PORT].start, NULL, 10);
    }
    return TCL_OK;
}

static int
AppendRequest(Tcl_Interp *interp, Ns_DString *dsPtr, const Target *targetPtr,
              const char *hostname, Ns_Set *headers)
{
    const NsSpan *spans = targetPtr->parts.parts;

    AppendTarget(dsPtr, targetPtr->method, targetPtr->version,
                 &targetPtr->parts);
    if (headers == NULL || Ns_SetIFind(headers, "Host") < 0) {
        Ns_DStringAppend(dsPtr, "Host: ");
        if (hostname != NULL) {
            Ns_DStringAppend(dsPtr, hostname);
        } else {
            Ns_DStringNAppend(dsPtr, spans[NS_URL_HOST].start,
                              (int) spans[NS_URL_HOST].length);
        }
        if (hostname == NULL && spans[NS_URL_PORT].length > 0) {
            Ns_DStringPrintf(dsPtr, ":%d", targetPtr->port);
        }
        Ns_DStringAppend(dsPtr, "\r\n");
    }
    return AppendFields(interp, dsPtr, headers);
}

/*
 * Append the request line; a fragment is not sent.
 */
static void
AppendTarget(Ns_DString *dsPtr, const char *method, const char *version,
             const NsUrlParts *partsPtr)
{
    const NsSpan *anchorPtr = &partsPtr->parts[NS_URL_ANCHOR];
    const NsSpan *hostPtr = &partsPtr->parts[NS_URL_HOST];
    const char   *target = hostPtr->start + hostPtr->length;

    target += strcspn(target, "/?#");
    Ns_DStringVarAppend(dsPtr, method, " ", *target == '/' ? "" : "/",
                        (char *) NULL);
    Ns_DStringNAppend(dsPtr, target,
                      anchorPtr->start != NULL
                          ? (int) (anchorPtr->start - 1 - target)
                          : -1);
    Ns_DStringVarAppend(dsPtr, " HTTP/", version, "\r\n", (char *) NULL);
}

static int
AppendFields(Tcl_Interp *interp, Ns_DString *dsPtr, Ns_Set *headers)
{
    for (int i = 0; headers != NULL && i < Ns_SetSize(headers); i++) {
        const char *name = Ns_SetKey(headers, i);
        const char *value = Ns_SetValue(headers, i);

        if (name == NULL || *name == '\0' || strpbrk(name, " \t:\r\n") != NULL
            || (value != NULL && !IsLine(value))) {
            return NsTclFail(interp, "invalid header field \"%s\"",
                             name == NULL ? "" : name);
        }
        Ns_DStringVarAppend(dsPtr, name, ": ", value == NULL ? "" : value,
                            "\r\n", (char *) NULL);
    }
    Ns_DStringAppend(dsPtr, "\r\n");
    return TCL_OK;
}

static bool
IsLine(const char *text)
{
    return strpbrk(text, "\r\n") == NULL;
}

/*
 * ns_connchan write ?-buffered? channel data
 */
static int
WriteCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsInterp      *itPtr = clientData;
    Tcl_Obj       *nameObj, *dataObj;
    int            isBuffered = 0, length, result;
    unsigned char *bytes;
    Tcl_DString    text;
    NsChan        *chanPtr;
    int64_t        n;
    Ns_ObjvSpec    options[] = {
           {"-buffered", Ns_ObjvBool, &isBuffered, INT2PTR(true)},
           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"channel", Ns_ObjvObj, &nameObj, NULL},
                          {"data", Ns_ObjvObj, &dataObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (chanPtr = FindChan(itPtr, itPtr->serverPtr, nameObj)) == NULL) {
        return TCL_ERROR;
    }
    Tcl_DStringInit(&text);
    if (NsTclIsByteArray(dataObj)) {
        bytes = Tcl_GetByteArrayFromObj(dataObj, &length);
    } else {
        const char *string = Tcl_GetStringFromObj(dataObj, &length);

        bytes = (unsigned char *)
            Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), string,
                                     length, &text);
        length = Tcl_DStringLength(&text);
    }
    n = NsChanWrite(chanPtr, (char *) bytes, (size_t) length);
    Tcl_DStringFree(&text);
    result = n < 0 ? SendFailed(interp, chanPtr)
                   : NsTclReturn(interp, Tcl_NewWideIntObj(n));
    NsChanUnref(&chanPtr);
    return result;
}

static int
SendFailed(Tcl_Interp *interp, const NsChan *chanPtr)
{
    return NsTclFail(interp, "channel %s: send operation failed: %s",
                     NsChanName(chanPtr), Tcl_PosixError(interp));
}

/*
 * ns_connchan read ?-websocket? channel
 */
static int
ReadCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    Tcl_Obj    *nameObj, *resultObj = NULL;
    int         isWebSocket = 0, n = 0;
    NsChan     *chanPtr;
    Ns_DString  ds;
    Ns_ObjvSpec options[] = {
        {"-websocket", Ns_ObjvBool, &isWebSocket, INT2PTR(true)},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"channel", Ns_ObjvObj, &nameObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (chanPtr = FindChan(itPtr, itPtr->serverPtr, nameObj)) == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    if (isWebSocket) {
        resultObj = Tcl_NewDictObj();
        NsChanReadFrame(chanPtr, &ds, resultObj);
    } else {
        n = NsChanRead(chanPtr, &ds);
        if (n >= 0) {
            resultObj =
                Tcl_NewByteArrayObj((unsigned char *) Ns_DStringValue(&ds),
                                    Ns_DStringLength(&ds));
        }
    }
    Ns_DStringFree(&ds);
    n = resultObj != NULL
        ? NsTclReturn(interp, resultObj)
        : NsTclFail(interp, "channel %s: receive operation failed: %s",
                    NsChanName(chanPtr), Tcl_PosixError(interp));
    NsChanUnref(&chanPtr);
    return n;
}

/*
 * ns_connchan callback ?-receivetimeout t? ?-sendtimeout t? ?-timeout t?
 * channel script when
 */
static int
CallbackCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsInterp      *itPtr = clientData;
    Tcl_Obj       *nameObj;
    char          *script, *when;
    Ns_Time       *timeoutPtr = NULL, *receivePtr = NULL, *sendPtr = NULL;
    NsChan        *chanPtr;
    NsChanCallback callback = {0};
    Ns_ReturnCode  status;
    Ns_ObjvSpec    options[] = {
           {"-receivetimeout", Ns_ObjvTime, &receivePtr, NULL},
           {"-sendtimeout", Ns_ObjvTime, &sendPtr, NULL},
           {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"channel", Ns_ObjvObj, &nameObj, NULL},
                          {"script", Ns_ObjvString, &script, NULL},
                          {"when", Ns_ObjvString, &when, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (chanPtr = FindChan(itPtr, itPtr->serverPtr, nameObj)) == NULL) {
        return TCL_ERROR;
    }
    if (ParseWhen(interp, when, &callback.when) != TCL_OK) {
        NsChanUnref(&chanPtr);
        return TCL_ERROR;
    }
    callback.script = script;
    callback.timeout = timeoutPtr != NULL ? *timeoutPtr : (Ns_Time){0, 0};
    callback.receiveTimeout = receivePtr != NULL
        ? *receivePtr
        : (Ns_Time){0, 0};
    status = NsChanSetCallback(chanPtr, &callback);
    NsChanUnref(&chanPtr);
    return status == NS_OK ? TCL_OK
                           : NsTclFail(interp, "could not register callback");
}

static int
ParseWhen(Tcl_Interp *interp, const char *text, int *whenPtr)
{
    if (*text == '\0' || strspn(text, "rwex") != strlen(text)) {
        return NsTclFail(interp,
                         "invalid when specification \"%s\": should be "
                         "one/more of r, w, e, or x",
                         text);
    }
    *whenPtr = (strchr(text, 'r') != NULL ? NS_SOCK_READ : 0)
        | (strchr(text, 'w') != NULL ? NS_SOCK_WRITE : 0)
        | (strchr(text, 'e') != NULL ? NS_SOCK_EXCEPTION : 0)
        | (strchr(text, 'x') != NULL ? NS_SOCK_EXIT : 0);
    return TCL_OK;
}

/*
 * ns_connchan close ?-server s? channel
 */
static int
CloseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsChan *chanPtr;

    if (TakeChan(clientData, objc, objv, &chanPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    NsChanClose(chanPtr);
    NsChanUnref(&chanPtr);
    return TCL_OK;
}

/*
 * ns_connchan status ?-server s? channel
 */
static int
StatusCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsChan  *chanPtr;
    Tcl_Obj *dictObj;

    if (TakeChan(clientData, objc, objv, &chanPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    dictObj = Tcl_NewDictObj();
    NsChanStatus(chanPtr, dictObj);
    NsChanUnref(&chanPtr);
    return NsTclReturn(interp, dictObj);
}

static int
ExistsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsInterp *itPtr = clientData;
    NsChan   *chanPtr = NsChanRef(itPtr->serverPtr, Tcl_GetString(objv[2]));
    bool      exists = chanPtr != NULL;

    if (exists) {
        NsChanUnref(&chanPtr);
    }
    return NsTclReturn(interp, Tcl_NewIntObj(exists));
}

/*
 * Parse the words `?-server s? channel`.
 */
static int
TakeChan(NsInterp *itPtr, int objc, Tcl_Obj *const *objv, NsChan **chanPtrPtr)
{
    NsServer   *serverPtr = itPtr->serverPtr;
    char       *server = NULL;
    Tcl_Obj    *nameObj;
    Ns_ObjvSpec options[] = {
        {"-server", Ns_ObjvString, &server, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"channel", Ns_ObjvObj, &nameObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, itPtr->interp, 2, objc, objv) != NS_OK
        || (server != NULL
            && (serverPtr = NsServerArgFind(itPtr->interp, server)) == NULL)) {
        return TCL_ERROR;
    }
    *chanPtrPtr = FindChan(itPtr, serverPtr, nameObj);
    return *chanPtrPtr != NULL ? TCL_OK : TCL_ERROR;
}

static NsChan *
FindChan(NsInterp *itPtr, NsServer *serverPtr, Tcl_Obj *nameObj)
{
    const char *name = Tcl_GetString(nameObj);
    NsChan     *chanPtr = NsChanRef(serverPtr, name);

    if (chanPtr == NULL) {
        Ns_TclPrintfResult(itPtr->interp, "channel \"%s\" does not exist",
                           name);
    }
    return chanPtr;
}

/*
 * ns_connchan websocket ?-answer bytes? ?-context? ?-deflate?
 * ?-maxmessage size? ?-maxunsent size? channel
 */
static int
WebSocketCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsInterp   *itPtr = clientData;
    Tcl_Obj    *nameObj;
    char       *answer = NULL;
    int         isDeflated = 0, keepsContext = 0;
    Tcl_WideInt maxMessage = 1 << 20, maxUnsent = 1 << 20;
    NsChan     *chanPtr;
    bool        isNew;
    Ns_ObjvSpec options[] = {
        {"-answer", Ns_ObjvString, &answer, NULL},
        {"-context", Ns_ObjvBool, &keepsContext, INT2PTR(true)},
        {"-deflate", Ns_ObjvBool, &isDeflated, INT2PTR(true)},
        {"-maxmessage", Ns_ObjvMemUnit, &maxMessage, NULL},
        {"-maxunsent", Ns_ObjvMemUnit, &maxUnsent, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"channel", Ns_ObjvObj, &nameObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (chanPtr = FindChan(itPtr, itPtr->serverPtr, nameObj)) == NULL) {
        return TCL_ERROR;
    }
    isNew = NsChanSetWebSocket(chanPtr,
                               &(NsChanWebSocket){
                                   .answer = answer,
                                   .maxMessage = (size_t) maxMessage,
                                   .maxUnsent = (size_t) maxUnsent,
                                   .isDeflated = isDeflated != 0,
                                   .keepsContext = keepsContext != 0});
    NsChanUnref(&chanPtr);
    return isNew ? TCL_OK
                 : NsTclFail(interp, "channel \"%s\" is a WebSocket already",
                             Tcl_GetString(nameObj));
}

/*
 * ns_connchan wsencode ?-binary? ?-deflate bits? ?-fin 0|1? ?-mask?
 * ?-opcode o? ?--? data
 */
static int
WsEncodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static Ns_ObjvTable opcodes[] = {
        {"continue", NS_WS_CONTINUE},
        {"text", NS_WS_TEXT},
        {"binary", NS_WS_BINARY},
        {"close", NS_WS_CLOSE},
        {"ping", NS_WS_PING},
        {"pong", NS_WS_PONG},
        {NULL, 0}};
    static Ns_ObjvTable      bits[] = {{"0", 0}, {"1", 1}, {NULL, 0}};
    static Ns_ObjvValueRange windows = {NS_WS_MIN_BITS, NS_WS_MAX_BITS};
    int                      isBinary = 0, isFinal = 1, isMasked = 0, length;
    int                      opcode = NS_WS_TEXT, windowBits = 0;
    Tcl_Obj                 *dataObj;
    const char              *bytes;
    Tcl_DString              text, frame;
    Ns_ObjvSpec              options[] = {
                     {"-binary", Ns_ObjvBool, &isBinary, INT2PTR(true)},
                     {"-deflate", Ns_ObjvInt, &windowBits, &windows},
                     {"-fin", Ns_ObjvIndex, &isFinal, bits},
                     {"-mask", Ns_ObjvBool, &isMasked, INT2PTR(true)},
                     {"-opcode", Ns_ObjvIndex, &opcode, opcodes},
                     {"--", Ns_ObjvBreak, NULL, NULL},
                     {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"data", Ns_ObjvObj, &dataObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    Tcl_DStringInit(&text);
    Tcl_DStringInit(&frame);
    if (isBinary || NsTclIsByteArray(dataObj)) {
        bytes = (char *) Tcl_GetByteArrayFromObj(dataObj, &length);
    } else {
        bytes = Tcl_GetStringFromObj(dataObj, &length);
        bytes = Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), bytes,
                                         length, &text);
        length = Tcl_DStringLength(&text);
    }
    if (opcode >= NS_WS_CLOSE && (length > NS_WS_MAX_CONTROL || !isFinal)) {
        Tcl_DStringFree(&text);
        return NsTclFail(interp,
                         "a control frame is final and has at most %d bytes",
                         NS_WS_MAX_CONTROL);
    }
    AppendFrame(&frame, opcode, isFinal != 0, isMasked != 0, windowBits, bytes,
                (size_t) length);
    Tcl_SetObjResult(interp,
                     Tcl_NewByteArrayObj((unsigned char *)
                                             Tcl_DStringValue(&frame),
                                         Tcl_DStringLength(&frame)));
    Tcl_DStringFree(&frame);
    Tcl_DStringFree(&text);
    return TCL_OK;
}

/*
 * windowBits > 0: compress a message if that makes it shorter.
 */
static void
AppendFrame(Ns_DString *framePtr, int opcode, bool isFinal, bool isMasked,
            int windowBits, const char *bytes, size_t length)
{
    Ns_DString    deflated;
    unsigned char mask[4];

    Ns_DStringInit(&deflated);
    if (windowBits > 0 && isFinal
        && (opcode == NS_WS_TEXT || opcode == NS_WS_BINARY)
        && NsWsDeflate(bytes, length, windowBits, &deflated)) {
        opcode |= NS_WS_DEFLATED;
        bytes = Ns_DStringValue(&deflated);
        length = (size_t) Ns_DStringLength(&deflated);
    }
    NsRandomBytes(mask, sizeof(mask));
    NsWsAppend(framePtr, opcode, isFinal, isMasked ? mask : NULL, bytes,
               length);
    Ns_DStringFree(&deflated);
}
