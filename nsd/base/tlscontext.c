/* SPDX-License-Identifier: MPL-2.0
 * tlscontext.c --
 *
 *      Contexts of TLS clients.
 */

#include "base/tlscontext.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/assert.h"

static void            KeepLibrary(void) __attribute__((constructor));
static pem_password_cb RefusePassword;

/*
 * At exit OpenSSL would free its data under threads that nobody waits for, and
 * leak what belongs to those that end after that.
 */
static void
KeepLibrary(void)
{
    (void) OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

SSL_CTX *
NsTlsContextCreate(const NsTlsContextSpec *specPtr, Ns_DString *errorPtr)
{
    SSL_CTX    *ctx = SSL_CTX_new(TLS_client_method());
    const char *badFile = NULL;

    if (ctx == NULL) {
        Ns_DStringVarAppend(errorPtr, NsTlsLibraryReason(), NULL);
        return NULL;
    }
    (void) SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_ENABLE_PARTIAL_WRITE
                         | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (!specPtr->isInsecure) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, specPtr->verifyProc);
        if (specPtr->maxDepth > 0) {
            SSL_CTX_set_verify_depth(ctx, specPtr->maxDepth);
        }
        badFile = NsTlsSetAuthorities(ctx, specPtr->caFile, specPtr->caPath);
    }
    if (badFile == NULL && specPtr->certificate != NULL) {
        badFile = NsTlsSetCertificate(ctx, specPtr->certificate,
                                      specPtr->key != NULL
                                          ? specPtr->key
                                          : specPtr->certificate);
    }
    if (badFile != NULL) {
        Ns_DStringVarAppend(errorPtr, badFile, ": ", NsTlsLibraryReason(),
                            NULL);
        SSL_CTX_free(ctx);
        return NULL;
    }
    return ctx;
}

/*
 * NULL, or the file that cannot be used.  A directory is looked into when a
 * certificate is there to be verified, and not before.
 */
const char *
NsTlsSetAuthorities(SSL_CTX *ctx, const char *caFile, const char *caPath)
{
    NsAssert(caFile == NULL || *caFile != '\0');
    NsAssert(caPath == NULL || *caPath != '\0');
    if (caFile == NULL && caPath == NULL) {
        (void) SSL_CTX_set_default_verify_paths(ctx);
        return NULL;
    }
    if (caFile != NULL && SSL_CTX_load_verify_file(ctx, caFile) != 1) {
        return caFile;
    }
    if (caPath != NULL && SSL_CTX_load_verify_dir(ctx, caPath) != 1) {
        return caPath;
    }
    return NULL;
}

const char *
NsTlsSetCertificate(SSL_CTX *ctx, const char *file, const char *keyFile)
{
    NsAssert(*file != '\0' && *keyFile != '\0');
    SSL_CTX_set_default_passwd_cb(ctx, RefusePassword);
    if (SSL_CTX_use_certificate_chain_file(ctx, file) != 1) {
        return file;
    }
    return SSL_CTX_use_PrivateKey_file(ctx, keyFile, SSL_FILETYPE_PEM) == 1
        ? NULL
        : keyFile;
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
bool
NsTlsSetPeer(SSL *ssl, const char *host, bool isNameless)
{
    unsigned char      address[sizeof(struct in6_addr)];
    X509_VERIFY_PARAM *paramPtr = SSL_get0_param(ssl);

    if (inet_pton(AF_INET, host, address) == 1
        || inet_pton(AF_INET6, host, address) == 1) {
        return X509_VERIFY_PARAM_set1_ip_asc(paramPtr, host) == 1;
    }
    X509_VERIFY_PARAM_set_hostflags(paramPtr,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(paramPtr, host, 0u) == 1
        && (isNameless || SSL_set_tlsext_host_name(ssl, host) == 1);
}

/*
 * The finding of the verification says more than that it failed.
 */
const char *
NsTlsHandshakeReason(const SSL *ssl)
{
    long verified = SSL_get_verify_result(ssl);

    if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE || verified == X509_V_OK) {
        return NsTlsLibraryReason();
    }
    ERR_clear_error();
    return X509_verify_cert_error_string(verified);
}

/*
 * Of the first error, which is the cause of the others.
 */
const char *
NsTlsLibraryReason(void)
{
    unsigned long code = ERR_peek_error();
    const char   *reason = ERR_SYSTEM_ERROR(code)
          ? Tcl_ErrnoMsg(ERR_GET_REASON(code))
          : ERR_reason_error_string(code);

    ERR_clear_error();
    return reason == NULL ? "unknown" : reason;
}
