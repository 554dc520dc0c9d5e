/* SPDX-License-Identifier: MPL-2.0
 * context.c --
 *
 *      Certificates and rules of the TLS driver.
 *
 *      A context of the library is never changed once connections use it: a
 *      reload makes a new one and exchanges them.  Connections keep the one
 *      they were made with.
 */

#include "context.h"

#include <openssl/dh.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#define DEFAULT_CIPHERS                                          \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:" \
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" \
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:" \
    "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384"

struct SslContext {
    /* Constant after creation. */
    const char *module;
    const char *path;
    char       *certificate; /* Absolute path. */
    char       *key;         /* Likewise; the same file by default. */
    const char *ciphers;
    const char *suites;
    int         verifyMode; /* SSL_VERIFY_...; NONE: do not ask. */
    const char *caFile;
    const char *caPath;
    int         minVersion;
    int         maxVersion;
    uint64_t    excluded; /* SSL_OP_NO_... */

    Ns_Mutex lock; /* Guards: */
    SSL_CTX *ctx;
};

/*
 * What `protocols` can exclude.  SSL 2 and 3 are always off.
 */
static const struct {
    const char *name;
    int         version;
    uint64_t    option;
} protocols[] = {
    {"!SSLv2", 0, 0},
    {"!SSLv3", 0, 0},
    {"!TLSv1", TLS1_VERSION, SSL_OP_NO_TLSv1},
    {"!TLSv1.0", TLS1_VERSION, SSL_OP_NO_TLSv1},
    {"!TLSv1.1", TLS1_1_VERSION, SSL_OP_NO_TLSv1_1},
    {"!TLSv1.2", TLS1_2_VERSION, SSL_OP_NO_TLSv1_2},
    {"!TLSv1.3", TLS1_3_VERSION, SSL_OP_NO_TLSv1_3},
};

static SslContext *Discard(SslContext *contextPtr);
static bool        ReadProtocols(SslContext *contextPtr, const char *list);
static SSL_CTX    *MakeCtx(const SslContext *contextPtr, bool isReload);
static bool        SetCiphers(const SslContext *contextPtr, SSL_CTX *ctx);
static bool        SetCertificate(const SslContext *contextPtr, SSL_CTX *ctx,
                                  bool isReload);
static void        SetGroups(const SslContext *contextPtr, SSL_CTX *ctx);
static int         VerifyMode(const char *mode, bool isRequired);
static int         AcceptAny(int isValid, X509_STORE_CTX *storePtr);
static bool        SetVerify(const SslContext *contextPtr, SSL_CTX *ctx);
static int AskPassword(char *buffer, int size, int isForWriting, void *arg);

SslContext *
SslContextCreate(const char *module, const char *path)
{
    SslContext *contextPtr = ns_calloc(1u, sizeof(SslContext));
    const char *certificate = Ns_ConfigGetValue(path, "certificate");
    const char *key = Ns_ConfigGetValue(path, "key");
    const char *mode = Ns_ConfigString(path, "clientcertmode", "none");

    contextPtr->module = ns_strdup(module);
    contextPtr->path = ns_strdup(path);
    if (certificate == NULL) {
        Ns_Log(Error,
               "%s: certificate parameter must be specified in the"
               " configuration file under %s",
               module, path);
        return Discard(contextPtr);
    }
    contextPtr->certificate = SslFindFile(certificate);
    contextPtr->key = key == NULL ? contextPtr->certificate : SslFindFile(key);
    contextPtr->ciphers = Ns_ConfigString(path, "ciphers", DEFAULT_CIPHERS);
    contextPtr->suites = Ns_ConfigGetValue(path, "ciphersuites");
    contextPtr->verifyMode =
        VerifyMode(mode, Ns_ConfigBool(path, "verify", NS_FALSE) != 0);
    contextPtr->caFile = Ns_ConfigGetValue(path, "clientcafile");
    if (contextPtr->caFile == NULL) {
        contextPtr->caFile = Ns_ConfigGetValue(path, "cafile");
    }
    contextPtr->caPath = Ns_ConfigGetValue(path, "clientcapath");
    if (contextPtr->caPath == NULL) {
        contextPtr->caPath = Ns_ConfigGetValue(path, "capath");
    }
    if (!ReadProtocols(contextPtr, Ns_ConfigGetValue(path, "protocols"))) {
        return Discard(contextPtr);
    }
    contextPtr->ctx = MakeCtx(contextPtr, false);
    if (contextPtr->ctx == NULL) {
        return Discard(contextPtr);
    }
    Ns_MutexSetName2(&contextPtr->lock, "nsssl:context", module);
    return contextPtr;
}

/*
 * One that could not be completed.
 */
static SslContext *
Discard(SslContext *contextPtr)
{
    if (contextPtr->key != contextPtr->certificate) {
        ns_free(contextPtr->key);
    }
    ns_free(contextPtr->certificate);
    ns_free((char *) contextPtr->module);
    ns_free((char *) contextPtr->path);
    ns_free(contextPtr);
    return NULL;
}

SSL *
SslContextNewConnection(SslContext *contextPtr)
{
    SSL_CTX *ctx;
    SSL     *ssl;

    Ns_MutexLock(&contextPtr->lock);
    ctx = contextPtr->ctx;
    SSL_CTX_up_ref(ctx);
    Ns_MutexUnlock(&contextPtr->lock);
    ssl = SSL_new(ctx);
    SSL_CTX_free(ctx);
    return ssl;
}

void
SslContextReload(SslContext *contextPtr)
{
    SSL_CTX *newCtx = MakeCtx(contextPtr, true);
    SSL_CTX *oldCtx;

    if (newCtx == NULL) {
        return;
    }
    Ns_MutexLock(&contextPtr->lock);
    oldCtx = contextPtr->ctx;
    contextPtr->ctx = newCtx;
    Ns_MutexUnlock(&contextPtr->lock);
    SSL_CTX_free(oldCtx);
    Ns_Log(Notice, "%s: certificate %s reloaded", contextPtr->module,
           contextPtr->certificate);
}

const char *
SslContextFile(const SslContext *contextPtr)
{
    return contextPtr->certificate;
}

double
SslContextRemainingDays(SslContext *contextPtr)
{
    const X509 *x509;
    int         days = 0, seconds = 0;

    Ns_MutexLock(&contextPtr->lock);
    x509 = SSL_CTX_get0_certificate(contextPtr->ctx);
    if (x509 != NULL) {
        (void) ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(x509));
    }
    Ns_MutexUnlock(&contextPtr->lock);
    return days + seconds / 86400.0;
}

const char *
SslErrorReason(void)
{
    unsigned long first = ERR_peek_error(), last = ERR_peek_last_error();
    const char   *reason;

    /* The system's error comes first, then what failed because of it. */
    reason = first != 0 && ERR_SYSTEM_ERROR(first)
        ? strerror(ERR_GET_REASON(first))
        : ERR_reason_error_string(last);
    ERR_clear_error();
    return reason == NULL ? "unknown" : reason;
}

char *
SslFindFile(const char *file)
{
    Ns_DString ds;

    if (Ns_PathIsAbsolute(file)) {
        return ns_strdup(file);
    }
    Ns_DStringInit(&ds);
    Ns_HomePath(&ds, file, NULL);
    if (access(Ns_DStringValue(&ds), R_OK) != 0) {
        Ns_DString other;

        Ns_DStringInit(&other);
        Ns_HomePath(&other, "certificates", file, NULL);
        if (access(Ns_DStringValue(&other), R_OK) == 0) {
            Ns_DStringTrunc(&ds, 0);
            Ns_DStringAppend(&ds, Ns_DStringValue(&other));
        }
        Ns_DStringFree(&other);
    }
    return Ns_DStringExport(&ds);
}

/*
 * Words `!NAME`; without any, TLS 1.0 and 1.1 are off.  An empty list leaves
 * the choice of versions to the library's own settings.
 */
static bool
ReadProtocols(SslContext *contextPtr, const char *list)
{
    const uint64_t old = SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1;
    const uint64_t all = old | SSL_OP_NO_TLSv1_2 | SSL_OP_NO_TLSv1_3;
    const char    *p = list == NULL ? "" : list;

    contextPtr->excluded = SSL_OP_NO_SSLv3
        | (list != NULL && *list == '\0' ? 0 : old);
    while (*p != '\0') {
        size_t n = strcspn(p, ":, \t\n");
        bool   isKnown = n == 0u;

        for (int i = 0; i < Ns_NrElements(protocols) && !isKnown; i++) {
            if (strlen(protocols[i].name) == n
                && strncasecmp(protocols[i].name, p, n) == 0) {
                contextPtr->excluded |= protocols[i].option;
                Ns_Log(Notice, "%s: disabling %s", contextPtr->module,
                       protocols[i].name + 1);
                isKnown = true;
            }
        }
        if (!isKnown) {
            Ns_Log(Warning, "%s: unknown protocol %.*s in %s",
                   contextPtr->module, (int) n, p, contextPtr->path);
        }
        p += n;
        p += *p != '\0';
    }
    if ((contextPtr->excluded & all) == all) {
        Ns_Log(Error, "%s: all protocols are excluded under %s",
               contextPtr->module, contextPtr->path);
        return false;
    }
    return true;
}

/*
 * A context of the library with everything set; NULL, and the reason logged.
 */
static SSL_CTX *
MakeCtx(const SslContext *contextPtr, bool isReload)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    if (ctx == NULL) {
        Ns_Log(Error, "%s: SSL init error: %s", contextPtr->module,
               SslErrorReason());
        return NULL;
    }
    SSL_CTX_set_options(ctx,
                        contextPtr->excluded | SSL_OP_NO_COMPRESSION
                            | SSL_OP_CIPHER_SERVER_PREFERENCE
                            | SSL_OP_NO_RENEGOTIATION
                            | SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION
                            | SSL_OP_SINGLE_DH_USE | SSL_OP_SINGLE_ECDH_USE
                            | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_ENABLE_PARTIAL_WRITE
                         | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                         | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);
    SSL_CTX_set_default_passwd_cb(ctx, AskPassword);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, (void *) contextPtr->module);
    if (SetCiphers(contextPtr, ctx) && SetCertificate(contextPtr, ctx, isReload)
        && SetVerify(contextPtr, ctx)) {
        SetGroups(contextPtr, ctx);
        return ctx;
    }
    SSL_CTX_free(ctx);
    return NULL;
}

static bool
SetCiphers(const SslContext *contextPtr, SSL_CTX *ctx)
{
    if (SSL_CTX_set_cipher_list(ctx, contextPtr->ciphers) != 1) {
        Ns_Log(Error, "%s: error loading ciphers: %s", contextPtr->module,
               contextPtr->ciphers);
        ERR_clear_error();
        return false;
    }
    if (contextPtr->suites != NULL
        && SSL_CTX_set_ciphersuites(ctx, contextPtr->suites) != 1) {
        Ns_Log(Error, "%s: error loading ciphersuites: %s", contextPtr->module,
               contextPtr->suites);
        ERR_clear_error();
        return false;
    }
    return true;
}

static bool
SetCertificate(const SslContext *contextPtr, SSL_CTX *ctx, bool isReload)
{
    Ns_LogSeverity severity = isReload ? Warning : Error;
    const char    *what = isReload ? "reload" : "load";

    if (SSL_CTX_use_certificate_chain_file(ctx, contextPtr->certificate) != 1) {
        Ns_Log(severity, "%s: certificate %s error: %s: %s", contextPtr->module,
               what, contextPtr->certificate, SslErrorReason());
        return false;
    }
    if (SSL_CTX_use_PrivateKey_file(ctx, contextPtr->key, SSL_FILETYPE_PEM) != 1
        || SSL_CTX_check_private_key(ctx) != 1) {
        Ns_Log(severity, "%s: private key %s error: %s: %s", contextPtr->module,
               what, contextPtr->key, SslErrorReason());
        return false;
    }
    return true;
}

/*
 * DH parameters of the certificate file, else those that fit the key.
 */
static void
SetGroups(const SslContext *contextPtr, SSL_CTX *ctx)
{
    BIO      *bio = BIO_new_file(contextPtr->certificate, "r");
    EVP_PKEY *params = bio == NULL ? NULL : PEM_read_bio_Parameters(bio, NULL);

    if (params == NULL || !EVP_PKEY_is_a(params, "DH")
        || EVP_PKEY_get_bits(params) < 2048
        || SSL_CTX_set0_tmp_dh_pkey(ctx, params) != 1) {
        EVP_PKEY_free(params);
        SSL_CTX_set_dh_auto(ctx, 1);
    }
    BIO_free(bio);
    ERR_clear_error();
}

static bool
SetVerify(const SslContext *contextPtr, SSL_CTX *ctx)
{
    static unsigned char id[16]; /* One per process. */
    static bool          hasId;

    if (!hasId) {
        hasId = true;
        snprintf((char *) id, sizeof(id), "nsd%d", (int) getpid());
    }
    SSL_CTX_set_session_id_context(ctx, id, sizeof(id));
    if (contextPtr->verifyMode == SSL_VERIFY_NONE) {
        return true;
    }
    SSL_CTX_set_verify(ctx, contextPtr->verifyMode,
                       (contextPtr->verifyMode
                        & SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
                               != 0
                           ? NULL
                           : AcceptAny);
    SSL_CTX_set_default_verify_paths(ctx);
    if ((contextPtr->caFile != NULL || contextPtr->caPath != NULL)
        && SSL_CTX_load_verify_locations(ctx, contextPtr->caFile,
                                         contextPtr->caPath)
            != 1) {
        Ns_Log(Error, "%s: cannot load the CA certificates of clients: %s",
               contextPtr->module, SslErrorReason());
        return false;
    }
    if (contextPtr->caFile != NULL) {
        SSL_CTX_set_client_CA_list(ctx,
                                   SSL_load_client_CA_file(contextPtr->caFile));
    }
    return true;
}

static int
VerifyMode(const char *mode, bool isRequired)
{
    if (isRequired || STRIEQ(mode, "require")) {
        return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    }
    return STRIEQ(mode, "request") ? SSL_VERIFY_PEER : SSL_VERIFY_NONE;
}

/*
 * A certificate that is only asked for ends no handshake: scripts see what is
 * wrong with it, because the result of the verification stays.
 */
static int
AcceptAny(int isValid, X509_STORE_CTX *storePtr)
{
    return 1;
}

/*
 * The pass phrase of a private key: from the environment, or from a terminal.
 * Without either the load fails; a server in the background never waits for it.
 */
static int
AskPassword(char *buffer, int size, int isForWriting, void *arg)
{
    const char *password = getenv("TLS_KEY_PASS");

    if (password != NULL) {
        snprintf(buffer, (size_t) size, "%s", password);
    } else if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        printf("Enter SSL password:");
        fflush(stdout);
        if (fgets(buffer, size, stdin) == NULL) {
            return -1;
        }
        buffer[strcspn(buffer, "\r\n")] = '\0';
    } else {
        Ns_Log(Error,
               "%s: the private key needs a pass phrase: set the"
               " environment variable TLS_KEY_PASS",
               (const char *) arg);
        return -1;
    }
    return (int) strlen(buffer);
}
