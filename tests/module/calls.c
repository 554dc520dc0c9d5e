/* SPDX-License-Identifier: MPL-2.0
 * calls.c --
 *
 *      A module whose command calls functions of the C API that need a server:
 *      what a request is, sockets and TLS, registration with constraints, and
 *      the configuration.
 */

#include "ns.h"

#include <openssl/ssl.h>

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

typedef int CallProc(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv);

static Ns_TclTraceProc AddCommands;
static Tcl_ObjCmdProc  CallsObjCmd;
static CallProc        ConnCall, SendErrnoCall, UnixCall, SendCall, TlsCall;
static CallProc        RegisterCall, RollCall, SockaddrCall, DeprecatedCall;
static CallProc        SharedCall, ReplyCall;
static Ns_ThreadProc   AcceptTls;
static Ns_OpProc       Answer;
static Ns_FilterProc   Mark;
static Ns_FreeProc     FreeText;

static const char *theServer;
static int         urlId;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    theServer = server;
    urlId = Ns_UrlSpecificAlloc();
    return Ns_TclRegisterTrace(server, AddCommands, NULL, NS_TCL_TRACE_CREATE);
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    Tcl_CreateObjCommand(interp, "calls", CallsObjCmd, arg, NULL);
    return TCL_OK;
}

/*
 * calls NAME ?arg ...?
 */
static int
CallsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const objv[])
{
    static const struct {
        const char *name;
        CallProc   *proc;
    } calls[] = {{"conn", ConnCall},         {"senderrno", SendErrnoCall},
                 {"unix", UnixCall},         {"send", SendCall},
                 {"tls", TlsCall},           {"register", RegisterCall},
                 {"roll", RollCall},         {"reply", ReplyCall},
                 {"sockaddr", SockaddrCall}, {"deprecated", DeprecatedCall},
                 {"shared", SharedCall},     {NULL, NULL}};
    int i;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "name ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], calls, sizeof(calls[0]),
                                  "name", 0, &i)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return calls[i].proc(interp, objc - 2, objv + 2);
}

static void
Append(Tcl_Interp *interp, const char *text)
{
    Tcl_AppendElement(interp, text == NULL ? "NULL" : text);
}

static void
AppendNumber(Tcl_Interp *interp, long long number)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", number);
    Tcl_AppendElement(interp, text);
}

/*
 * What the functions say about the request.
 */
static int
ConnCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const Ns_Conn *conn = Ns_TclGetConn(interp);
    Ns_DString     ds;

    Ns_DStringInit(&ds);
    Append(interp, Ns_ConnPeerAddr(conn));
    Append(interp, Ns_ConnForwardedPeerAddr(conn));
    Append(interp, Ns_ConnConfiguredPeerAddr(conn));
    Append(interp, Ns_ConnCurrentAddr(conn));
    AppendNumber(interp, Ns_ConnCurrentPort(conn));
    Append(interp, Ns_ConnTarget(conn, &ds));
    AppendNumber(interp, Ns_ConnIsClosed(conn));
    AppendNumber(interp, Ns_ConnServPtr(conn) == Ns_GetServer(theServer));
    Append(interp, Ns_ServerName(Ns_ConnServPtr(conn)));
    AppendNumber(interp, Ns_GetServer("nowhere") == NULL);
    Ns_DStringFree(&ds);
    return TCL_OK;
}

/*
 * Send to a client that goes: the errno before it, and after.
 */
static int
SendErrnoCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Ns_Conn *conn = Ns_TclGetConn(interp);
    Ns_Sock *sock = Ns_ConnSockPtr(conn);

    AppendNumber(interp, (long long) Ns_SockGetSendErrno(sock));
    while (Ns_ConnWriteData(conn, "x", 1, NS_CONN_STREAM) == NS_OK) {
        struct timespec pause = {0, 1000000};

        nanosleep(&pause, NULL);
    }
    Append(interp, Tcl_ErrnoMsg((int) Ns_SockGetSendErrno(sock)));
    Ns_SockSetSendErrno(sock, EPROTO);
    AppendNumber(interp, Ns_SockGetSendErrno(sock) == EPROTO);
    return TCL_OK;
}

/*
 * unix PATH: connect there, say the reason if that fails.
 */
static int
UnixCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char   *path = Tcl_GetString(objv[0]);
    NS_SOCKET     listening = NS_INVALID_SOCKET, sock;
    Ns_ReturnCode status = NS_TIMEOUT;

    if (objc > 1) {
        listening = Ns_SockListenUnix(path, 5, 0600);
    }
    sock = Ns_SockConnectUnix(path, 0, &status);
    Append(interp,
           sock == NS_INVALID_SOCKET ? Tcl_ErrnoMsg(errno) : "connected");
    AppendNumber(interp, status);
    if (sock != NS_INVALID_SOCKET) {
        close(sock);
        sock = Ns_SockConnectUnix(path, SOCK_STREAM, NULL);
        AppendNumber(interp, sock != NS_INVALID_SOCKET);
        close(sock);
    }
    if (listening != NS_INVALID_SOCKET) {
        close(listening);
    }
    return TCL_OK;
}

/*
 * Two pieces arrive as one; then the socket is full, and then nobody reads.
 */
static int
SendCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    static char   large[65536];
    struct iovec  pieces[] = {{(void *) "ab", 2}, {(void *) "cde", 3}};
    struct iovec  much = {large, sizeof(large)};
    NS_SOCKET     socks[2];
    unsigned long error = 99;
    char          text[6] = "";
    ssize_t       n;

    if (ns_sockpair(socks) != 0) {
        return TCL_ERROR;
    }
    AppendNumber(interp, Ns_SockSendBufsEx(socks[0], pieces, 2, 0, &error));
    AppendNumber(interp, (long long) error);
    AppendNumber(interp, ns_recv(socks[1], text, 5, 0));
    Append(interp, text);
    while ((n = Ns_SockSendBufsEx(socks[0], &much, 1, 0, &error)) > 0) {
        continue;
    }
    AppendNumber(interp, n);
    AppendNumber(interp, (long long) error);
    close(socks[1]);
    AppendNumber(interp, Ns_SockSendBufsEx(socks[0], pieces, 2, 0, &error));
    Append(interp, Tcl_ErrnoMsg((int) error));
    AppendNumber(interp, Ns_SockSendBufsEx(socks[0], pieces, 1, 0, NULL));
    close(socks[0]);
    return TCL_OK;
}

/*
 * The server's side of a connection over TLS.
 */
typedef struct TlsServer {
    NS_TLS_SSL_CTX *ctx;
    NS_SOCKET       sock;
    char            text[64]; /* What came. */
} TlsServer;

/*
 * tls ?-option value ...?: the client's status and message, and what the server
 * has got.
 */
static int
TlsCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    char     *cert = NULL, *ciphers = NULL, *suites = NULL, *protocols = NULL;
    char     *clientCert = NULL, *caFile = NULL, *sni = NULL, *contextCa = NULL;
    char     *serverCa = NULL;
    int       verify = 0, isSilent = 0, isOld = 0;
    NS_SOCKET socks[2];
    NS_TLS_SSL_CTX *ctx = NULL;
    NS_TLS_SSL     *ssl = NULL;
    TlsServer       server = {0};
    Ns_Thread       thread;
    Ns_Time         limit = {60, 0}, soon = {0, 50000};
    Ns_ReturnCode   status;
    Ns_ObjvSpec     options[] = {
            {"-cert", Ns_ObjvString, &cert, NULL},
            {"-ciphers", Ns_ObjvString, &ciphers, NULL},
            {"-suites", Ns_ObjvString, &suites, NULL},
            {"-protocols", Ns_ObjvString, &protocols, NULL},
            {"-clientcert", Ns_ObjvString, &clientCert, NULL},
            {"-serverca", Ns_ObjvString, &serverCa, NULL},
            {"-contextca", Ns_ObjvString, &contextCa, NULL},
            {"-cafile", Ns_ObjvString, &caFile, NULL},
            {"-sni", Ns_ObjvString, &sni, NULL},
            {"-verify", Ns_ObjvBool, &verify, INT2PTR(1)},
            {"-silent", Ns_ObjvBool, &isSilent, INT2PTR(1)},
            {"-old", Ns_ObjvBool, &isOld, INT2PTR(1)},
            {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, NULL, interp, 0, objc, objv) != NS_OK
        || Ns_TLS_CtxServerCreate(interp, cert, serverCa, NULL,
                                  serverCa != NULL, ciphers, suites, protocols,
                                  &server.ctx)
            != TCL_OK) {
        return TCL_ERROR;
    }
    if (Ns_TLS_CtxClientCreate(interp, clientCert, contextCa, "", verify, &ctx)
        != TCL_OK) {
        SSL_CTX_free(server.ctx);
        return TCL_ERROR;
    }
    (void) ns_sockpair(socks);
    server.sock = socks[1];
    if (!isSilent) {
        Ns_ThreadCreate(AcceptTls, &server, 0, &thread);
    }
    status = isOld
        ? Ns_TLS_SSLConnect(interp, socks[0], ctx, sni, &ssl)
        : Ns_TLS_SSLConnect_50(interp, socks[0], ctx, sni, caFile, NULL,
                               isSilent ? &soon : &limit, &ssl);
    if (status == NS_OK) {
        Ns_TclPrintfResult(interp, "%s", SSL_get_version(ssl));
        (void) SSL_write(ssl, "hello", 5);
        (void) SSL_shutdown(ssl);
        SSL_free(ssl);
    }
    AppendNumber(interp, (fcntl(socks[0], F_GETFL) & O_NONBLOCK) != 0);
    close(socks[0]);
    if (!isSilent) {
        Ns_ThreadJoin(&thread, NULL);
    }
    close(socks[1]);
    AppendNumber(interp, status);
    Append(interp, server.text);
    SSL_CTX_free(ctx);
    SSL_CTX_free(server.ctx);
    return TCL_OK;
}

static void
AcceptTls(void *arg)
{
    TlsServer  *serverPtr = arg;
    NS_TLS_SSL *ssl;

    if (Ns_TLS_SSLAccept(NULL, serverPtr->sock, serverPtr->ctx, &ssl)
        == TCL_OK) {
        (void) SSL_read(ssl, serverPtr->text, sizeof(serverPtr->text) - 1);
        SSL_free(ssl);
    }
}

/*
 * register KIND SERVER CONSTRAINTS TEXT
 */
static int
RegisterCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char *kind = Tcl_GetString(objv[0]), *server = Tcl_GetString(objv[1]);
    const char *list = Tcl_GetString(objv[2]);
    char       *text = ns_strdup(Tcl_GetString(objv[3]));
    Ns_UrlSpaceContextSpec *spec = NULL;
    Ns_ReturnCode           status;

    if (Ns_UrlSpaceContextSpecParse(interp, list, &spec) != NS_OK) {
        ns_free(text);
        return TCL_ERROR;
    }
    if (STREQ(kind, "request")) {
        status = Ns_RegisterRequest2(interp, server, "GET", "/registered",
                                     Answer, FreeText, text, 0, spec);
    } else if (STREQ(kind, "url")) {
        status = Ns_UrlSpecificSet2(interp, server, "GET", "/registered", urlId,
                                    text, 0, FreeText, spec);
    } else {
        status = Ns_RegisterFilter2(server, "GET", "/registered", Mark,
                                    NS_FILTER_PRE_AUTH, text,
                                    STREQ(kind, "first"), spec)
                == NULL
            ? NS_ERROR
            : NS_OK;
        if (status != NS_OK) {
            ns_free(text);
        }
    }
    return status == NS_OK ? TCL_OK : TCL_ERROR;
}

static int
Answer(void *arg, Ns_Conn *conn)
{
    const char *data = Ns_UrlSpecificGet(Ns_ConnServer(conn), "GET",
                                         "/registered", urlId);
    Ns_DString  ds;
    int         status;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s %s%s", (char *) arg, data == NULL ? "-" : data,
                     Ns_SetGet(Ns_ConnOutputHeaders(conn), "x-marks") == NULL
                         ? ""
                         : Ns_SetGet(Ns_ConnOutputHeaders(conn), "x-marks"));
    status = Ns_ConnReturnCharData(conn, 200, Ns_DStringValue(&ds), -1,
                                   "text/plain");
    Ns_DStringFree(&ds);
    return status;
}

/*
 * Append to the marks.
 */
static int
Mark(void *arg, Ns_Conn *conn, int why)
{
    Ns_Set     *headers = Ns_ConnOutputHeaders(conn);
    const char *marks = Ns_SetGet(headers, "x-marks");
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s %s", marks == NULL ? "" : marks, (char *) arg);
    Ns_SetUpdate(headers, "x-marks", Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
    return NS_OK;
}

static void
FreeText(void *data)
{
    Ns_Log(Notice, "calls: free %s", (char *) data);
    ns_free(data);
}

/*
 * roll FILE FORMAT WORDS: open and close append to a list; a word that is
 * missing in WORDS fails.
 */
typedef struct Roll {
    Tcl_Interp *interp;
    const char *words;
} Roll;

static Ns_ReturnCode
RollOpen(void *arg)
{
    Roll *rollPtr = arg;

    Append(rollPtr->interp, "open");
    return strstr(rollPtr->words, "open") != NULL ? NS_OK : NS_ERROR;
}

static Ns_ReturnCode
RollClose(void *arg)
{
    Roll *rollPtr = arg;

    Append(rollPtr->interp, "close");
    return strstr(rollPtr->words, "close") != NULL ? NS_OK : NS_ERROR;
}

static int
RollCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Roll        roll = {interp, Tcl_GetString(objv[2])};
    const char *format = Tcl_GetString(objv[1]);

    AppendNumber(interp,
                 Ns_RollFileCondFmt(RollOpen, RollClose, &roll,
                                    Tcl_GetString(objv[0]),
                                    *format == '\0' ? NULL : format, 3));
    return TCL_OK;
}

/*
 * reply STATUS: as a module may answer, with any status.
 */
static int
ReplyCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    int status;

    if (Tcl_GetIntFromObj(interp, objv[0], &status) != TCL_OK) {
        return TCL_ERROR;
    }
    AppendNumber(interp,
                 Ns_ConnReturnCharData(Ns_TclGetConn(interp), status, "x", 1,
                                       "text/plain"));
    return TCL_OK;
}

static int
SockaddrCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    struct sockaddr_storage storage = {.ss_family = AF_UNIX};
    struct sockaddr        *saPtr = (struct sockaddr *) &storage;

    Ns_LogSockaddr(Notice, "calls", saPtr);
    (void) ns_inet_pton(saPtr, Tcl_GetString(objv[0]));
    Ns_SockaddrSetPort(saPtr, 8080);
    Ns_LogSockaddr(Notice, "calls", saPtr);
    AppendNumber(interp, Ns_SockaddrTrustedReverseProxy(saPtr));
    return TCL_OK;
}

static int
DeprecatedCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Ns_LogDeprecatedParameter("ns/a", "old", "ns/b", "new", NULL);
    Ns_LogDeprecatedParameter("ns/a", "old", "ns/b", "new", "It is longer.");
    return TCL_OK;
}

/*
 * shared SET APPEND BYTES: an element set and appended to, wholly and with so
 * many bytes.
 */
static int
SharedCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char *value = Tcl_GetString(objv[0]);
    const char *more = Tcl_GetString(objv[1]);
    int         nBytes = atoi(Tcl_GetString(objv[2]));
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    (void) Ns_VarSet(theServer, "calls", "whole", value, (size_t) -1);
    (void) Ns_VarAppend(theServer, "calls", "whole", more, (size_t) -1);
    (void) Ns_VarSet(theServer, "calls", "part", value, (size_t) nBytes);
    (void) Ns_VarAppend(theServer, "calls", "part", more, (size_t) nBytes);
    (void) Ns_VarGet(theServer, "calls", "whole", &ds);
    Append(interp, Ns_DStringValue(&ds));
    Ns_DStringSetLength(&ds, 0);
    (void) Ns_VarGet(theServer, "calls", "part", &ds);
    Append(interp, Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
    return TCL_OK;
}
