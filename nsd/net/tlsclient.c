/*
 * tlsclient.c --
 *
 *      TLS over a non-blocking socket: the client's side.
 */

#include "net/tlsclient.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "nsthread.h"

struct NsTlsClient {
    SSL        *ssl;
    int         when;   /* After NS_TLS_WAIT. */
    const char *reason; /* After NS_TLS_FAILED; constant text. */
};

static SSL_CTX    *CreateContext(const NsTlsClientSpec *specPtr,
                                 Ns_DString            *errorPtr);
static const char *SetAuthorities(SSL_CTX *ctx, const NsTlsClientSpec *specPtr);
static const char *SetCertificate(SSL_CTX *ctx, const char *file);
static pem_password_cb RefusePassword;
static bool            SetPeer(SSL *ssl, const NsTlsClientSpec *specPtr);
static NsTlsStatus     StatusOf(NsTlsClient *tlsPtr, int result);
static const char     *LibraryReason(void);

NsTlsClient *
NsTlsClientCreate(const NsTlsClientSpec *specPtr, Ns_DString *errorPtr)
{
    SSL_CTX     *ctx;
    SSL         *ssl;
    NsTlsClient *tlsPtr;

    ERR_clear_error();
    ctx = CreateContext(specPtr, errorPtr);
    if (ctx == NULL) {
        return NULL;
    }
    ssl = SSL_new(ctx);
    SSL_CTX_free(ctx); /* The connection keeps it. */
    if (ssl == NULL || !SetPeer(ssl, specPtr)
        || SSL_set_fd(ssl, specPtr->sock) != 1) {
        Ns_DStringVarAppend(errorPtr, LibraryReason(), NULL);
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_connect_state(ssl);
    tlsPtr = ns_calloc(1u, sizeof(NsTlsClient));
    tlsPtr->ssl = ssl;
    return tlsPtr;
}

static SSL_CTX *
CreateContext(const NsTlsClientSpec *specPtr, Ns_DString *errorPtr)
{
    SSL_CTX    *ctx = SSL_CTX_new(TLS_client_method());
    const char *badFile = NULL;

    if (ctx == NULL) {
        Ns_DStringVarAppend(errorPtr, LibraryReason(), NULL);
        return NULL;
    }
    (void) SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_ENABLE_PARTIAL_WRITE
                         | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (!specPtr->isInsecure) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
        badFile = SetAuthorities(ctx, specPtr);
    }
    if (badFile == NULL && specPtr->certificate != NULL) {
        badFile = SetCertificate(ctx, specPtr->certificate);
    }
    if (badFile != NULL) {
        Ns_DStringVarAppend(errorPtr, badFile, ": ", LibraryReason(), NULL);
        SSL_CTX_free(ctx);
        return NULL;
    }
    return ctx;
}

/*
 * NULL, or the file that cannot be used.  A directory is looked into when a
 * certificate is there to be verified, and not before.
 */
static const char *
SetAuthorities(SSL_CTX *ctx, const NsTlsClientSpec *specPtr)
{
    if (specPtr->caFile == NULL && specPtr->caPath == NULL) {
        (void) SSL_CTX_set_default_verify_paths(ctx);
        return NULL;
    }
    if (specPtr->caFile != NULL
        && SSL_CTX_load_verify_file(ctx, specPtr->caFile) != 1) {
        return specPtr->caFile;
    }
    if (specPtr->caPath != NULL
        && SSL_CTX_load_verify_dir(ctx, specPtr->caPath) != 1) {
        return specPtr->caPath;
    }
    return NULL;
}

static const char *
SetCertificate(SSL_CTX *ctx, const char *file)
{
    SSL_CTX_set_default_passwd_cb(ctx, RefusePassword);
    return SSL_CTX_use_certificate_chain_file(ctx, file) == 1
            && SSL_CTX_use_PrivateKey_file(ctx, file, SSL_FILETYPE_PEM) == 1
        ? NULL
        : file;
}

/*
 * The library would ask at the terminal, and wait.
 */
static int
RefusePassword(char *buffer, int size, int isForWriting, void *arg)
{
    return -1;
}

/*
 * Whom to ask for, and who must answer.  RFC 6066, section 3: an address is not
 * asked for.
 */
static bool
SetPeer(SSL *ssl, const NsTlsClientSpec *specPtr)
{
    unsigned char      address[sizeof(struct in6_addr)];
    X509_VERIFY_PARAM *paramPtr = SSL_get0_param(ssl);

    if (inet_pton(AF_INET, specPtr->host, address) == 1
        || inet_pton(AF_INET6, specPtr->host, address) == 1) {
        return X509_VERIFY_PARAM_set1_ip_asc(paramPtr, specPtr->host) == 1;
    }
    X509_VERIFY_PARAM_set_hostflags(paramPtr,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(paramPtr, specPtr->host, 0u) == 1
        && SSL_set_tlsext_host_name(ssl, specPtr->host) == 1;
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
    long verified;

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
        /* The finding of the verification says more than that it failed. */
        verified = SSL_get_verify_result(tlsPtr->ssl);
        tlsPtr->reason = SSL_get_verify_mode(tlsPtr->ssl) != SSL_VERIFY_NONE
                && verified != X509_V_OK
            ? X509_verify_cert_error_string(verified)
            : LibraryReason();
        return NS_TLS_FAILED;
    }
}

/*
 * Of the first error, which is the cause of the others.
 */
static const char *
LibraryReason(void)
{
    unsigned long code = ERR_peek_error();
    const char   *reason = ERR_SYSTEM_ERROR(code)
          ? Tcl_ErrnoMsg(ERR_GET_REASON(code))
          : ERR_reason_error_string(code);

    ERR_clear_error();
    return reason == NULL ? "unknown" : reason;
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
