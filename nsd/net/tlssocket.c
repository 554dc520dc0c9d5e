/* SPDX-License-Identifier: MPL-2.0
 * tlssocket.c --
 *
 *      TLS for sockets of a module's own: contexts and handshakes.
 */

#include "nstls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/assert.h"
#include "base/clock.h"
#include "net/tlsclient.h"
#include "nsthread.h"

#define HANDSHAKE_SECONDS 60

typedef struct Handshake {
    NS_SOCKET      sock;
    SSL           *ssl;
    const Ns_Time *timeoutPtr;
} Handshake;

static const char *OrNull(const char *text);
static int Fail(Tcl_Interp *interp, const char *what, const char *reason);
static const char   *SetServer(SSL_CTX *ctx, const char *ciphers,
                               const char *ciphersuites, const char *protocols);
static bool          ExcludeProtocols(SSL_CTX *ctx, const char *list);
static bool          SetStore(SSL *ssl, const char *caFile, const char *caPath);
static Ns_ReturnCode Shake(Tcl_Interp *interp, const Handshake *shakePtr,
                           NS_TLS_SSL **sslPtr);
static Ns_ReturnCode ShakeNow(const Handshake *shakePtr,
                              const char     **reasonPtr);

int
Ns_TLS_CtxClientCreate(Tcl_Interp *interp, const char *cert, const char *caFile,
                       const char *caPath, bool verify, NS_TLS_SSL_CTX **ctxPtr)
{
    Ns_DString ds;
    SSL_CTX   *ctx;

    ERR_clear_error();
    Ns_DStringInit(&ds);
    ctx = NsTlsClientContext(&(NsTlsClientSpec){.caFile = OrNull(caFile),
                                                .caPath = OrNull(caPath),
                                                .certificate = OrNull(cert),
                                                .isInsecure = !verify},
                             &ds);
    if (ctx == NULL) {
        (void) Fail(interp, "client context", Ns_DStringValue(&ds));
    } else {
        *ctxPtr = ctx;
    }
    Ns_DStringFree(&ds);
    return ctx == NULL ? TCL_ERROR : TCL_OK;
}

int
Ns_TLS_CtxServerCreate(Tcl_Interp *interp, const char *cert, const char *caFile,
                       const char *caPath, bool verify, const char *ciphers,
                       const char *ciphersuites, const char *protocols,
                       NS_TLS_SSL_CTX **ctxPtr)
{
    SSL_CTX    *ctx;
    const char *bad = NULL;

    if (OrNull(cert) == NULL) {
        return Fail(interp, "server context", "no certificate is given");
    }
    ERR_clear_error();
    ctx = SSL_CTX_new(TLS_server_method());
    if (ctx == NULL) {
        return Fail(interp, "server context", NsTlsLibraryReason());
    }
    bad = NsTlsSetCertificate(ctx, cert, cert);
    if (bad == NULL && verify) {
        SSL_CTX_set_verify(ctx,
                           SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                           NULL);
        bad = NsTlsSetAuthorities(ctx, OrNull(caFile), OrNull(caPath));
    }
    if (bad == NULL) {
        bad = SetServer(ctx, OrNull(ciphers), OrNull(ciphersuites),
                        OrNull(protocols));
    }
    if (bad != NULL) {
        SSL_CTX_free(ctx);
        return Fail(interp, bad, NsTlsLibraryReason());
    }
    *ctxPtr = ctx;
    return TCL_OK;
}

/*
 * NULL, or what cannot be used.
 */
static const char *
SetServer(SSL_CTX *ctx, const char *ciphers, const char *ciphersuites,
          const char *protocols)
{
    SSL_CTX_set_options(ctx,
                        SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
                            | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_ENABLE_PARTIAL_WRITE
                         | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ciphers != NULL && SSL_CTX_set_cipher_list(ctx, ciphers) != 1
        ? ciphers
        : ciphersuites != NULL
            && SSL_CTX_set_ciphersuites(ctx, ciphersuites) != 1
        ? ciphersuites
        : !ExcludeProtocols(ctx, protocols)
        ? protocols
        : NULL;
}

/*
 * False: a word is not a protocol.
 */
static bool
ExcludeProtocols(SSL_CTX *ctx, const char *list)
{
    static const struct {
        const char *name;
        uint64_t    option;
    } protocols[] = {{"!SSLv2", 0},
                     {"!SSLv3", 0},
                     {"!TLSv1", SSL_OP_NO_TLSv1},
                     {"!TLSv1.0", SSL_OP_NO_TLSv1},
                     {"!TLSv1.1", SSL_OP_NO_TLSv1_1},
                     {"!TLSv1.2", SSL_OP_NO_TLSv1_2},
                     {"!TLSv1.3", SSL_OP_NO_TLSv1_3}};

    if (list == NULL) {
        return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1;
    }
    while (*list != '\0') {
        size_t n = strcspn(list, ":, \t\n");
        bool   isKnown = n == 0;

        for (int i = 0; i < Ns_NrElements(protocols) && !isKnown; i++) {
            if (strlen(protocols[i].name) == n
                && strncasecmp(protocols[i].name, list, n) == 0) {
                (void) SSL_CTX_set_options(ctx, protocols[i].option);
                isKnown = true;
            }
        }
        if (!isKnown) {
            return false;
        }
        list += n;
        list += *list != '\0';
    }
    return SSL_CTX_set_min_proto_version(ctx, TLS1_VERSION) == 1;
}

int
Ns_TLS_SSLConnect(Tcl_Interp *interp, NS_SOCKET sock, NS_TLS_SSL_CTX *ctx,
                  const char *sni, NS_TLS_SSL **sslPtr)
{
    return Ns_TLS_SSLConnect_50(interp, sock, ctx, sni, NULL, NULL, NULL,
                                sslPtr)
            == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

Ns_ReturnCode
Ns_TLS_SSLConnect_50(Tcl_Interp *interp, NS_SOCKET sock, NS_TLS_SSL_CTX *ctx,
                     const char *sni, const char *caFile, const char *caPath,
                     const Ns_Time *timeoutPtr, NS_TLS_SSL **sslPtr)
{
    Handshake shake = {sock, NULL, timeoutPtr};

    ERR_clear_error();
    shake.ssl = SSL_new(ctx);
    if (shake.ssl == NULL
        || (OrNull(sni) != NULL && !NsTlsSetPeer(shake.ssl, sni, false))
        || !SetStore(shake.ssl, OrNull(caFile), OrNull(caPath))) {
        SSL_free(shake.ssl);
        (void) Fail(interp, "SSL_connect", NsTlsLibraryReason());
        return NS_ERROR;
    }
    SSL_set_connect_state(shake.ssl);
    return Shake(interp, &shake, sslPtr);
}

/*
 * Authorities of this connection alone.
 */
static bool
SetStore(SSL *ssl, const char *caFile, const char *caPath)
{
    X509_STORE *storePtr;
    bool        isSet;

    if (caFile == NULL && caPath == NULL) {
        return true;
    }
    storePtr = X509_STORE_new();
    isSet = storePtr != NULL
        && X509_STORE_load_locations(storePtr, caFile, caPath) == 1
        && SSL_set1_verify_cert_store(ssl, storePtr) == 1;
    X509_STORE_free(storePtr);
    return isSet;
}

int
Ns_TLS_SSLAccept(Tcl_Interp *interp, NS_SOCKET sock, NS_TLS_SSL_CTX *ctx,
                 NS_TLS_SSL **sslPtr)
{
    Handshake shake = {sock, NULL, NULL};

    ERR_clear_error();
    shake.ssl = SSL_new(ctx);
    if (shake.ssl == NULL) {
        return Fail(interp, "SSL_accept", NsTlsLibraryReason());
    }
    SSL_set_accept_state(shake.ssl);
    return Shake(interp, &shake, sslPtr) == NS_OK ? TCL_OK : TCL_ERROR;
}

/*
 * The socket does not block meanwhile, so that the time is kept.
 */
static Ns_ReturnCode
Shake(Tcl_Interp *interp, const Handshake *shakePtr, NS_TLS_SSL **sslPtr)
{
    int           flags = fcntl(shakePtr->sock, F_GETFL);
    const char   *reason = Tcl_ErrnoMsg(EBADF);
    Ns_ReturnCode status = NS_ERROR;
    SSL          *ssl = shakePtr->ssl;

    if (flags >= 0 && SSL_set_fd(ssl, shakePtr->sock) == 1) {
        (void) Ns_SockSetNonBlocking(shakePtr->sock);
        status = ShakeNow(shakePtr, &reason);
        if ((flags & O_NONBLOCK) == 0) {
            (void) Ns_SockSetBlocking(shakePtr->sock);
        }
    }
    if (status != NS_OK) {
        (void) Fail(interp, SSL_is_server(ssl) ? "SSL_accept" : "SSL_connect",
                    reason);
        SSL_free(ssl);
        return status;
    }
    *sslPtr = ssl;
    return NS_OK;
}

static Ns_ReturnCode
ShakeNow(const Handshake *shakePtr, const char **reasonPtr)
{
    const Ns_Time *timePtr = shakePtr->timeoutPtr;
    Ns_Time        limit = timePtr == NULL
               ? (Ns_Time){HANDSHAKE_SECONDS, 0}
               : *timePtr;
    NsStamp        end = NsClockNow() + NsClockFromTime(&limit);

    for (;;) {
        int           result, what;
        Ns_Time       left;
        Ns_ReturnCode status;

        ERR_clear_error();
        errno = 0;
        result = SSL_do_handshake(shakePtr->ssl);
        if (result == 1) {
            return NS_OK;
        }
        switch (SSL_get_error(shakePtr->ssl, result)) {
        case SSL_ERROR_WANT_READ:
            what = NS_SOCK_READ;
            break;
        case SSL_ERROR_WANT_WRITE:
            what = NS_SOCK_WRITE;
            break;
        case SSL_ERROR_SYSCALL:
            *reasonPtr = errno == 0 ? "connection closed" : Tcl_ErrnoMsg(errno);
            return NS_ERROR;
        default:
            *reasonPtr = NsTlsHandshakeReason(shakePtr->ssl);
            return NS_ERROR;
        }
        left = NsClockSpan(NsClockNow(), end);
        status = Ns_SockTimedWait(shakePtr->sock, what, &left);
        if (status != NS_OK) {
            *reasonPtr = status == NS_TIMEOUT ? "timeout" : Tcl_ErrnoMsg(errno);
            return status;
        }
    }
}

static const char *
OrNull(const char *text)
{
    return text == NULL || *text == '\0' ? NULL : text;
}

static int
Fail(Tcl_Interp *interp, const char *what, const char *reason)
{
    if (interp != NULL) {
        Tcl_SetObjResult(interp, Tcl_ObjPrintf("%s: %s", what, reason));
    }
    return TCL_ERROR;
}
