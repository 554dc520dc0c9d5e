/* SPDX-License-Identifier: MPL-2.0
 * nsssl.c --
 *
 *      The driver for HTTPS.
 *
 *      The library never touches the socket itself: it reads and writes through
 *      functions of ours, which do not wait, and which remember when a read has
 *      emptied the socket.  Reading and writing continue until the request is
 *      satisfied or the socket is empty or full, so that the server knows from
 *      a short result that there is nothing left to do.
 *
 *      A connection is used by one thread at a time, as with any driver.
 */

#include "certificate.h"
#include "context.h"

#include <openssl/err.h>

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT int               Ns_ModuleListenPort = 443;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleCheck;

#define RECORD_BYTES 16384

/*
 * One client; Ns_Sock.arg.
 */
typedef struct Connection {
    SSL      *ssl;
    NS_SOCKET sock;
    bool      isDrained;   /* The last read took all there was. */
    bool      hasReceived; /* Anything at all. */
    bool      hasFailed;   /* Send no close_notify. */
} Connection;

/*
 * One loaded instance of the driver; Ns_Driver.arg.
 */
typedef struct Instance {
    struct Instance *nextPtr;
    const char      *module;
    SslContext      *contextPtr;
} Instance;

/*
 * Set while the server starts.
 */
static BIO_METHOD *bioMethod;
static Instance   *firstInstancePtr;

static Ns_DriverListenProc  Listen;
static Ns_DriverAcceptProc  Accept;
static Ns_DriverRecvProc    Recv;
static Ns_DriverSendProc    Send;
static Ns_DriverKeepProc    Keep;
static Ns_DriverCloseProc   Close;
static Ns_DriverDetailsProc Details;
static Ns_DriverSetupProc   IsShakingHands;

static Instance       *CreateInstance(const char *server, const char *module);
static SslContext     *CreateContext(const char *server, const char *module);
static void            InitLibrary(void);
static Ns_Callback     ReloadAll;
static Ns_TclTraceProc AddCommands;
static Tcl_ObjCmdProc  CertCtlObjCmd;
static int  TellCertificate(Tcl_Interp *interp, const char *fileOrPem);
static void ListCertificates(Tcl_Interp *interp);
static bool MustRetry(Connection *connPtr, const Ns_Sock *sock, int result);
static void LogFailure(const Connection *connPtr, const Ns_Sock *sock);
static int  WriteSome(SSL *ssl, const struct iovec *bufs, int nbufs,
                      size_t skip);
static int  ReadSocket(BIO *bio, char *buffer, int length);
static int  WriteSocket(BIO *bio, const char *buffer, int length);
static long ControlSocket(BIO *bio, int command, long number, void *pointer);

/*
 * For nsd -T: the certificate and all that belongs to it, as a start finds it.
 */
NS_EXPORT int
Ns_ModuleCheck(const char *server, const char *module)
{
    return CreateInstance(server, module) == NULL ? NS_ERROR : NS_OK;
}

static Instance *
CreateInstance(const char *server, const char *module)
{
    SslContext *contextPtr = CreateContext(server, module);
    Instance   *instancePtr;

    if (contextPtr == NULL) {
        return NULL;
    }
    instancePtr = ns_calloc(1u, sizeof(Instance));
    instancePtr->module = module;
    instancePtr->contextPtr = contextPtr;
    instancePtr->nextPtr = firstInstancePtr;
    firstInstancePtr = instancePtr;
    return instancePtr;
}

static SslContext *
CreateContext(const char *server, const char *module)
{
    char *path = Ns_ConfigGetPath(server, module, NULL);

    if (path == NULL) {
        Ns_Log(Error,
               "%s: certificate parameter must be specified in the"
               " configuration file under the module's section",
               module);
        return NULL;
    }
    return SslContextCreate(module, path);
}

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    Ns_DriverInitData init = {0};
    char             *path = Ns_ConfigGetPath(server, module, NULL);
    Instance         *instancePtr;

    InitLibrary();
    instancePtr = CreateInstance(server, module);
    if (instancePtr == NULL) {
        return NS_ERROR;
    }
    init.version = NS_DRIVER_VERSION_OWN;
    init.name = (char *) "nsssl";
    init.listenProc = Listen;
    init.acceptProc = Accept;
    init.recvProc = Recv;
    init.sendProc = Send;
    init.keepProc = Keep;
    init.closeProc = Close;
    init.detailsProc = Details;
    init.setupProc = IsShakingHands;
    init.opts = NS_DRIVER_ASYNC | NS_DRIVER_SSL | NS_DRIVER_FULLIO
        | NS_DRIVER_LINGER;
    init.arg = instancePtr;
    init.path = path;
    if (Ns_DriverInit(server, module, &init) != NS_OK) {
        return NS_ERROR;
    }
    if (Ns_TclRegisterTrace(server, AddCommands, NULL, NS_TCL_TRACE_CREATE)
        != NS_OK) {
        return NS_ERROR;
    }
    Ns_Log(Notice, "%s: version %s loaded", module, NS_PATCH_LEVEL);
    return NS_OK;
}

/*
 * Once, for all instances.
 */
static void
InitLibrary(void)
{
    if (bioMethod != NULL) {
        return;
    }
    bioMethod = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                             "nsssl socket");
    BIO_meth_set_read(bioMethod, ReadSocket);
    BIO_meth_set_write(bioMethod, WriteSocket);
    BIO_meth_set_ctrl(bioMethod, ControlSocket);
    Ns_Log(Notice, "nsssl: %s", OpenSSL_version(OPENSSL_VERSION));
    Ns_RegisterAtSignal(ReloadAll, NULL);
}

static void
ReloadAll(void *arg)
{
    for (Instance *instancePtr = firstInstancePtr; instancePtr != NULL;
         instancePtr = instancePtr->nextPtr) {
        SslContextReload(instancePtr->contextPtr);
    }
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    Tcl_CreateObjCommand(interp, "ns_certctl", CertCtlObjCmd, NULL, NULL);
    return NS_OK;
}

/*
 * ns_certctl info fileOrPem, list, reload
 */
static int
CertCtlObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    static const char *const options[] = {"info", "list", "reload", NULL};
    enum { INFO, LIST, RELOAD };
    int option;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "info|list|reload ?arg?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], options, "subcommand", 0, &option)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (objc != (option == INFO ? 3 : 2)) {
        Tcl_WrongNumArgs(interp, 2, objv, option == INFO ? "fileOrPem" : NULL);
        return TCL_ERROR;
    }
    if (option == INFO) {
        return TellCertificate(interp, Tcl_GetString(objv[2]));
    }
    if (option == LIST) {
        ListCertificates(interp);
    } else {
        ReloadAll(NULL);
    }
    return TCL_OK;
}

static int
TellCertificate(Tcl_Interp *interp, const char *fileOrPem)
{
    bool       isOpen;
    X509      *x509 = SslCertificateRead(fileOrPem, &isOpen);
    Ns_DString ds;

    if (!isOpen) {
        Ns_TclPrintfResult(interp, "could not open certificate file '%s'",
                           fileOrPem);
        return TCL_ERROR;
    }
    if (x509 == NULL) {
        /* What may be a key is not repeated. */
        Ns_TclPrintfResult(interp, "there is no certificate in it");
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    SslCertificateAppend(&ds, x509);
    Tcl_DStringResult(interp, &ds);
    X509_free(x509);
    return TCL_OK;
}

static void
ListCertificates(Tcl_Interp *interp)
{
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    for (Instance *instancePtr = firstInstancePtr; instancePtr != NULL;
         instancePtr = instancePtr->nextPtr) {
        SslContext *contextPtr = instancePtr->contextPtr;
        Tcl_Obj    *elements[] = {
               Tcl_NewStringObj(SslContextFile(contextPtr), -1),
               Tcl_NewStringObj("remaining_days", -1),
               Tcl_ObjPrintf("%.2f", SslContextRemainingDays(contextPtr))};

        Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewListObj(3, elements));
    }
    Tcl_SetObjResult(interp, listPtr);
}

static NS_SOCKET
Listen(Ns_Driver *driver, const char *address, int port, int backlog)
{
    NS_SOCKET sock = Ns_SockListenEx(address, port, backlog);

    if (sock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetNonBlocking(sock);
    }
    return sock;
}

static NS_DRIVER_ACCEPT_STATUS
Accept(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
       int *socklenPtr)
{
    Instance   *instancePtr = sock->driver->arg;
    socklen_t   length = (socklen_t) *socklenPtr;
    Connection *connPtr;
    BIO        *bio;

    sock->sock = accept4(listensock, sockaddrPtr, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (sock->sock == NS_INVALID_SOCKET) {
        return NS_DRIVER_ACCEPT_ERROR;
    }
    *socklenPtr = (int) length;
    connPtr = ns_calloc(1u, sizeof(Connection));
    connPtr->sock = sock->sock;
    connPtr->ssl = SslContextNewConnection(instancePtr->contextPtr);
    bio = BIO_new(bioMethod);
    if (connPtr->ssl == NULL || bio == NULL) {
        SSL_free(connPtr->ssl);
        BIO_free(bio);
        ns_free(connPtr);
        close(sock->sock);
        sock->sock = NS_INVALID_SOCKET;
        errno = ENOMEM;
        return NS_DRIVER_ACCEPT_ERROR;
    }
    BIO_set_data(bio, connPtr);
    BIO_set_init(bio, 1);
    SSL_set_bio(connPtr->ssl, bio, bio);
    SSL_set_accept_state(connPtr->ssl);
    sock->arg = connPtr;
    return NS_DRIVER_ACCEPT_DATA;
}

/*
 * Read until the buffer is full or the socket is empty.  The handshake happens
 * on the way.
 */
static ssize_t
Recv(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
     int flags)
{
    Connection *connPtr = sock->arg;
    char       *buffer = bufs[0].iov_base;
    size_t      size = bufs[0].iov_len;
    size_t      total = 0u;

    connPtr->sock = sock->sock; /* Another one once it was taken over. */
    ERR_clear_error();
    while (total < size) {
        int n = SSL_read(connPtr->ssl, buffer + total,
                         (int) MIN(size - total, INT_MAX));

        if (n > 0) {
            total += (size_t) n;
            if (connPtr->isDrained && !SSL_has_pending(connPtr->ssl)) {
                break;
            }
        } else if (MustRetry(connPtr, sock, n)) {
            break;
        } else {
            return total > 0u ? (ssize_t) total : -1;
        }
    }
    return (ssize_t) total;
}

/*
 * Write until all is taken or the socket is full.
 */
static ssize_t
Send(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
     int flags)
{
    Connection *connPtr = sock->arg;
    size_t      wanted = Ns_SumVec(bufs, nbufs);
    size_t      total = 0u;

    connPtr->sock = sock->sock;
    ERR_clear_error();
    while (total < wanted) {
        int n = WriteSome(connPtr->ssl, bufs, nbufs, total);

        if (n > 0) {
            total += (size_t) n;
        } else if (MustRetry(connPtr, sock, n)) {
            break;
        } else {
            return -1;
        }
    }
    return (ssize_t) total;
}

/*
 * One record.  Small pieces are joined, so that a header and a short body share
 * it.  When the socket was full, the next call begins with the same bytes, and
 * at least as many, as the library wants it.
 */
static int
WriteSome(SSL *ssl, const struct iovec *bufs, int nbufs, size_t skip)
{
    char   record[RECORD_BYTES];
    size_t length = 0u;
    int    i = 0;

    while (skip >= bufs[i].iov_len) {
        skip -= bufs[i].iov_len;
        i++;
    }
    if (i == nbufs - 1 || bufs[i].iov_len - skip >= RECORD_BYTES) {
        return SSL_write(ssl, (char *) bufs[i].iov_base + skip,
                         (int) MIN(bufs[i].iov_len - skip, RECORD_BYTES));
    }
    while (i < nbufs && length < RECORD_BYTES) {
        size_t n = MIN(bufs[i].iov_len - skip, RECORD_BYTES - length);

        memcpy(record + length, (char *) bufs[i].iov_base + skip, n);
        length += n;
        skip = 0u;
        i++;
    }
    return SSL_write(ssl, record, (int) length);
}

/*
 * Tell "not now" from the end.  Only a failure is worth a line in the log: not
 * that a client left.
 */
static bool
MustRetry(Connection *connPtr, const Ns_Sock *sock, int result)
{
    switch (SSL_get_error(connPtr->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return true;

    case SSL_ERROR_ZERO_RETURN:
        return false;

    case SSL_ERROR_SSL:
        connPtr->hasFailed = true;
        LogFailure(connPtr, sock);
        return false;

    default:
        connPtr->hasFailed = true;
        Ns_Log(Debug, "%s: connection broken", sock->driver->module);
        ERR_clear_error();
        return false;
    }
}

static void
LogFailure(const Connection *connPtr, const Ns_Sock *sock)
{
    struct sockaddr_storage address;
    socklen_t               length = sizeof(address);
    char                    peer[NI_MAXHOST] = "unknown";
    const char             *module = sock->driver->module;
    unsigned long           code = ERR_peek_last_error();

    if (getpeername(connPtr->sock, (struct sockaddr *) &address, &length)
        == 0) {
        (void) getnameinfo((struct sockaddr *) &address, length, peer,
                           sizeof(peer), NULL, 0, NI_NUMERICHOST);
    }
    if (ERR_GET_REASON(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        Ns_Log(Error, "%s: no client certificate provided by %s", module, peer);
    } else if (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        Ns_Log(Error, "%s: client certificate not valid by %s", module, peer);
    } else {
        Ns_Log(Notice, "%s: connection with %s failed: %s", module, peer,
               SslErrorReason());
    }
    ERR_clear_error();
}

static int
Keep(Ns_Sock *sock)
{
    const Connection *connPtr = sock->arg;

    return !connPtr->hasFailed && SSL_get_shutdown(connPtr->ssl) == 0;
}

/*
 * Send close_notify if the peer is still there; the server closes the socket.
 */
static void
Close(Ns_Sock *sock)
{
    Connection *connPtr = sock->arg;

    if (connPtr == NULL) {
        return;
    }
    connPtr->sock = sock->sock;
    ERR_clear_error();
    if (!connPtr->hasFailed && SSL_is_init_finished(connPtr->ssl)) {
        (void) SSL_shutdown(connPtr->ssl);
    }
    SSL_free(connPtr->ssl);
    ERR_clear_error();
    ns_free(connPtr);
    sock->arg = NULL;
}

/*
 * What was agreed on, and the certificate of the client.
 */
static void
Details(Ns_Sock *sock, Ns_DString *dsPtr)
{
    const Connection *connPtr = sock->arg;
    SSL              *ssl = connPtr->ssl;
    const char       *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    X509             *x509 = SSL_get0_peer_certificate(ssl);
    bool              hasCertificate = x509 != NULL;
    long              result = SSL_get_verify_result(ssl);

    Ns_DStringVarAppend(dsPtr, " sslversion ", SSL_get_version(ssl), " cipher ",
                        SSL_get_cipher_name(ssl), " servername", NULL);
    Ns_DStringAppendElement(dsPtr, name != NULL ? name : "");
    Ns_DStringPrintf(dsPtr, " clientcert {present %d verified %d verifyresult",
                     hasCertificate, hasCertificate && result == X509_V_OK);
    Ns_DStringAppendElement(dsPtr,
                            !hasCertificate
                                ? "absent"
                                : X509_verify_cert_error_string(result));
    if (hasCertificate) {
        SslCertificateAppend(dsPtr, x509);
    }
    Ns_DStringAppend(dsPtr, "}");
}

static int
IsShakingHands(const Ns_Sock *sock)
{
    const Connection *connPtr = sock->arg;

    return connPtr->hasReceived && !SSL_is_init_finished(connPtr->ssl);
}

/*
 * The library's way to the socket.
 */
static int
ReadSocket(BIO *bio, char *buffer, int length)
{
    Connection *connPtr = BIO_get_data(bio);
    ssize_t     n;

    BIO_clear_retry_flags(bio);
    do {
        n = recv(connPtr->sock, buffer, (size_t) length, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    connPtr->isDrained = n < length;
    connPtr->hasReceived |= n > 0;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        BIO_set_retry_read(bio);
    }
    return (int) n;
}

static int
WriteSocket(BIO *bio, const char *buffer, int length)
{
    Connection *connPtr = BIO_get_data(bio);
    ssize_t     n;

    BIO_clear_retry_flags(bio);
    do {
        n = send(connPtr->sock, buffer, (size_t) length,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        BIO_set_retry_write(bio);
    }
    return (int) n;
}

static long
ControlSocket(BIO *bio, int command, long number, void *pointer)
{
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}
