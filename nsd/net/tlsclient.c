/* SPDX-License-Identifier: MPL-2.0
 * tlsclient.c --
 *
 *      TLS over a non-blocking socket: the client's side.
 */

#include "net/tlsclient.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/listen.h"
#include "net/tlskept.h"
#include "net/tlsrejected.h"
#include "nsthread.h"

struct NsTlsClient {
    SSL        *ssl;
    int         when;   /* After NS_TLS_WAIT. */
    const char *reason; /* After NS_TLS_FAILED; constant text. */

    /* Constant. */
    char                 *host;
    bool                  isNameless;
    const NsTlsException *exceptions;
    int                   nExceptions;
    const char           *rejectedDir;
};

static SSL_CTX    *FindContext(const NsTlsClientSpec *specPtr,
                               Ns_DString            *errorPtr);
static bool        Start(NsTlsClient *tlsPtr, SSL *ssl, NS_SOCKET sock);
static int         Verify(int isValid, X509_STORE_CTX *storePtr);
static bool        IsAccepted(const NsTlsClient *tlsPtr, int error);
static unsigned    FlagOf(int error);
static bool        PeerOf(NS_SOCKET sock, NsIpAddress *addressPtr);
static NsTlsStatus StatusOf(NsTlsClient *tlsPtr, int result);

const char *
NsTlsLibraryVersion(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}

NsTlsClient *
NsTlsClientCreate(const NsTlsClientSpec *specPtr, Ns_DString *errorPtr)
{
    SSL_CTX     *ctx;
    SSL         *ssl;
    NsTlsClient *tlsPtr;

    ERR_clear_error();
    ctx = FindContext(specPtr, errorPtr);
    if (ctx == NULL) {
        return NULL;
    }
    ssl = SSL_new(ctx);
    SSL_CTX_free(ctx); /* The connection keeps it. */
    tlsPtr = ns_calloc(1u, sizeof(NsTlsClient));
    tlsPtr->host = ns_strdup(specPtr->host);
    tlsPtr->isNameless = specPtr->isNameless;
    tlsPtr->exceptions = specPtr->exceptions;
    tlsPtr->nExceptions = specPtr->nExceptions;
    tlsPtr->rejectedDir = specPtr->rejectedDir;
    if (ssl == NULL || !Start(tlsPtr, ssl, specPtr->sock)) {
        Ns_DStringVarAppend(errorPtr, NsTlsLibraryReason(), NULL);
        SSL_free(ssl);
        ns_free(tlsPtr->host);
        ns_free(tlsPtr);
        return NULL;
    }
    return tlsPtr;
}

static bool
Start(NsTlsClient *tlsPtr, SSL *ssl, NS_SOCKET sock)
{
    if (!NsTlsSetPeer(ssl, tlsPtr->host, tlsPtr->isNameless)
        || SSL_set_fd(ssl, sock) != 1) {
        return false;
    }
    (void) SSL_set_app_data(ssl, tlsPtr);
    SSL_set_connect_state(ssl);
    tlsPtr->ssl = ssl;
    tlsPtr->reason = NULL;
    return true;
}

void
NsTlsClientSetSock(NsTlsClient *tlsPtr, NS_SOCKET sock)
{
    (void) SSL_set_fd(tlsPtr->ssl, sock);
}

void
NsTlsClientRestart(NsTlsClient *tlsPtr, NS_SOCKET sock)
{
    SSL *ssl = SSL_new(SSL_get_SSL_CTX(tlsPtr->ssl));
    SSL *old = tlsPtr->ssl;

    /* Without memory, the handshake of the old one fails. */
    if (ssl != NULL && Start(tlsPtr, ssl, sock)) {
        SSL_free(old);
    } else {
        SSL_free(ssl);
    }
    ERR_clear_error();
}

static SSL_CTX *
FindContext(const NsTlsClientSpec *specPtr, Ns_DString *errorPtr)
{
    NsTlsSetting setting;
    SSL_CTX     *ctx;

    NsTlsSettingInit(&setting, specPtr);
    ctx = NsTlsKeptFind(&setting);
    if (ctx == NULL) {
        ctx = NsTlsClientContext(specPtr, errorPtr);
        if (ctx != NULL) {
            NsTlsKeptAdd(&setting, ctx);
        }
    }
    NsTlsSettingFree(&setting);
    return ctx;
}

SSL_CTX *
NsTlsClientContext(const NsTlsClientSpec *specPtr, Ns_DString *errorPtr)
{
    return NsTlsContextCreate(
        &(NsTlsContextSpec){
            .caFile = specPtr->caFile,
            .caPath = specPtr->caPath,
            .certificate = specPtr->certificate,
            .key = specPtr->key,
            .isInsecure = specPtr->isInsecure,
            .maxDepth = specPtr->maxDepth,
            .verifyProc = NsTlsSettingJudges(specPtr) ? Verify : NULL},
        errorPtr);
}

/*
 * Called by the library for each certificate of the chain, and for each thing
 * that is wrong with it.
 */
static int
Verify(int isValid, X509_STORE_CTX *storePtr)
{
    const SSL *ssl =
        X509_STORE_CTX_get_ex_data(storePtr,
                                   SSL_get_ex_data_X509_STORE_CTX_idx());
    const NsTlsClient *tlsPtr = SSL_get_app_data(ssl);
    int                error = X509_STORE_CTX_get_error(storePtr);

    if (isValid) {
        return 1;
    }
    if (IsAccepted(tlsPtr, error)) {
        X509_STORE_CTX_set_error(storePtr, X509_V_OK);
        return 1;
    }
    if (tlsPtr->rejectedDir != NULL) {
        NsTlsRejectedKeep(tlsPtr->rejectedDir, tlsPtr->host,
                          X509_STORE_CTX_get0_cert(storePtr),
                          X509_verify_cert_error_string(error));
    }
    return 0;
}

static bool
IsAccepted(const NsTlsClient *tlsPtr, int error)
{
    NsIpAddress peer;

    if (!PeerOf(SSL_get_fd(tlsPtr->ssl), &peer)) {
        return false;
    }
    for (int i = 0; i < tlsPtr->nExceptions; i++) {
        const NsTlsException *exceptionPtr = &tlsPtr->exceptions[i];

        if ((exceptionPtr->accepted & (FlagOf(error) | NS_TLS_WHATEVER)) != 0u
            && NsIpRangeHas(&exceptionPtr->peers, &peer)) {
            return true;
        }
    }
    return false;
}

static unsigned
FlagOf(int error)
{
    switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return NS_TLS_EXPIRED;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED:
        return NS_TLS_UNTRUSTED;
    case X509_V_ERR_CERT_CHAIN_TOO_LONG:
        return NS_TLS_CHAIN;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return NS_TLS_SELF_SIGNED;
    default:
        return 0u;
    }
}

static bool
PeerOf(NS_SOCKET sock, NsIpAddress *addressPtr)
{
    NsSockAddr addr = {.length = sizeof(addr.u)};
    char       text[NI_MAXHOST];

    if (getpeername(sock, &addr.u.any, &addr.length) != 0) {
        return false;
    }
    NsSockAddrText(&addr, text, sizeof(text));
    return NsIpParse(text, addressPtr);
}

void
NsTlsClientDestroy(NsTlsClient **tlsPtrPtr)
{
    NsTlsClient *tlsPtr = *tlsPtrPtr;

    *tlsPtrPtr = NULL;
    /* Send close_notify, if that can be done at once. */
    if (SSL_is_init_finished(tlsPtr->ssl) && tlsPtr->reason == NULL) {
        (void) SSL_shutdown(tlsPtr->ssl);
    }
    SSL_free(tlsPtr->ssl);
    ERR_clear_error();
    ns_free(tlsPtr->host);
    ns_free(tlsPtr);
}

NsTlsStatus
NsTlsClientHandshake(NsTlsClient *tlsPtr)
{
    ERR_clear_error();
    return StatusOf(tlsPtr, SSL_do_handshake(tlsPtr->ssl));
}

NsTlsStatus
NsTlsClientSend(NsTlsClient *tlsPtr, const char *data, int length,
                int *nSentPtr)
{
    int n;

    ERR_clear_error();
    n = SSL_write(tlsPtr->ssl, data, length);
    *nSentPtr = MAX(n, 0);
    return StatusOf(tlsPtr, n);
}

NsTlsStatus
NsTlsClientReceive(NsTlsClient *tlsPtr, char *buffer, int size, int *nReadPtr)
{
    int n;

    ERR_clear_error();
    n = SSL_read(tlsPtr->ssl, buffer, size);
    *nReadPtr = MAX(n, 0);
    return StatusOf(tlsPtr, n);
}

static NsTlsStatus
StatusOf(NsTlsClient *tlsPtr, int result)
{
    switch (SSL_get_error(tlsPtr->ssl, result)) {
    case SSL_ERROR_NONE:
        return NS_TLS_OK;
    case SSL_ERROR_WANT_READ:
        tlsPtr->when = NS_SOCK_READ;
        return NS_TLS_WAIT;
    case SSL_ERROR_WANT_WRITE:
        tlsPtr->when = NS_SOCK_WRITE;
        return NS_TLS_WAIT;
    case SSL_ERROR_ZERO_RETURN:
        return NS_TLS_END;
    case SSL_ERROR_SYSCALL:
        tlsPtr->reason = errno == 0 ? "connection closed" : Tcl_ErrnoMsg(errno);
        return NS_TLS_FAILED;
    default:
        if (ERR_GET_REASON(ERR_peek_error())
            == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
            ERR_clear_error();
            tlsPtr->reason = "connection closed";
            return NS_TLS_FAILED;
        }
        tlsPtr->reason = NsTlsHandshakeReason(tlsPtr->ssl);
        return NS_TLS_FAILED;
    }
}

int
NsTlsClientWhen(const NsTlsClient *tlsPtr)
{
    return tlsPtr->when;
}

const char *
NsTlsClientReason(const NsTlsClient *tlsPtr)
{
    return tlsPtr->reason;
}

const char *
NsTlsClientVersion(const NsTlsClient *tlsPtr)
{
    return SSL_get_version(tlsPtr->ssl);
}

const char *
NsTlsClientCipher(const NsTlsClient *tlsPtr)
{
    return SSL_get_cipher_name(tlsPtr->ssl);
}
