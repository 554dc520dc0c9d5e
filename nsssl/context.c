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
#include "alpn.h"
#include "keypair.h"
#include "staple.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#define DEFAULT_CIPHERS                                          \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:" \
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" \
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:" \
    "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384"

/*
 * SHA-384 makes a handshake about a fifth more expensive than SHA-256, and
 * AES-128 is what RFC 8446 asks all to have.
 */
#define DEFAULT_SUITES                               \
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:" \
    "TLS_CHACHA20_POLY1305_SHA256"

#define DEFAULT_GROUPS "X25519:prime256v1:secp384r1"

/*
 * A client uses a ticket once, and gets another with each connection.
 */
#define N_TICKETS 1

#define ALL_VERSIONS                                         \
    (SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2 \
     | SSL_OP_NO_TLSv1_3)

struct SslContext {
    /* Constant after creation. */
    SslContextSpec spec;        /* Owned copies. */
    char          *certificate; /* Absolute path. */
    char          *key;         /* Likewise; the same file by default. */
    const char    *ciphers;
    const char    *suites;
    const char    *groups;
    int            verifyMode; /* SSL_VERIFY_...; NONE: do not ask. */
    const char    *caFile;
    const char    *caPath;
    uint64_t       excluded;  /* SSL_OP_NO_... */
    SslStaple     *staplePtr; /* NULL: nothing is stapled. */

    Ns_Mutex    lock; /* Guards: */
    SSL_CTX    *ctx;
    struct stat seen[2]; /* Certificate and key when they were read, ... */
    struct stat last[2]; /* ... and at the last look at them. */
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
static const char *Text(const SslContextSpec *specPtr, const char *key,
                        const char *defaultText);
static bool        ReadProtocols(SslContext *contextPtr, const char *list);
static void        Look(const SslContext *contextPtr, struct stat *states);
static bool        IsSame(const struct stat *a, const struct stat *b);
static SSL_CTX    *MakeCtx(const SslContext *contextPtr, bool isReload);
static bool        SetSuites(const SslContext *contextPtr, SSL_CTX *ctx);
static bool IsSet(const SslContext *contextPtr, int result, const char *what,
                  const char *value);
static int  VerifyMode(const char *mode, bool isRequired);
static int  AcceptAny(int isValid, X509_STORE_CTX *storePtr);
static SSL_verify_cb VerifyProc(const SslContext *contextPtr);
static bool          SetVerify(const SslContext *contextPtr, SSL_CTX *ctx);
static void          SetSessionId(const SslContext *contextPtr, SSL_CTX *ctx);

SslContext *
SslContextCreate(const SslContextSpec *specPtr)
{
    SslContext *contextPtr = ns_calloc(1u, sizeof(SslContext));
    const char *file = specPtr->file;
    const char *key = NULL;

    contextPtr->spec = *specPtr;
    contextPtr->spec.path = ns_strdup(specPtr->path);
    if (file == NULL) {
        file = Ns_ConfigGetValue(specPtr->path, "certificate");
        key = Ns_ConfigGetValue(specPtr->path, "key");
    }
    if (file == NULL) {
        Ns_Log(Error,
               "%s: certificate parameter must be specified in the"
               " configuration file under %s",
               specPtr->module, specPtr->path);
        return Discard(contextPtr);
    }
    contextPtr->certificate = SslFindFile(file);
    contextPtr->key = SslFindFile(key == NULL ? file : key);
    contextPtr->ciphers = Text(specPtr, "ciphers", DEFAULT_CIPHERS);
    contextPtr->suites = Text(specPtr, "ciphersuites", DEFAULT_SUITES);
    contextPtr->groups = Text(specPtr, "groups", DEFAULT_GROUPS);
    contextPtr->verifyMode =
        VerifyMode(Text(specPtr, "clientcertmode", "none"),
                   Ns_ConfigBool(specPtr->path, "verify", NS_FALSE) != 0);
    contextPtr->caFile = Text(specPtr, "clientcafile",
                              Text(specPtr, "cafile", NULL));
    contextPtr->caPath = Text(specPtr, "clientcapath",
                              Text(specPtr, "capath", NULL));
    if (!ReadProtocols(contextPtr, Text(specPtr, "protocols", NULL))) {
        return Discard(contextPtr);
    }
    if (Ns_ConfigBool(specPtr->driverPath, "ocspstapling", NS_FALSE)) {
        contextPtr->staplePtr = SslStapleCreate(specPtr->module,
                                                contextPtr->certificate);
    }
    Look(contextPtr, contextPtr->seen);
    memcpy(contextPtr->last, contextPtr->seen, sizeof(contextPtr->last));
    contextPtr->ctx = MakeCtx(contextPtr, false);
    if (contextPtr->ctx == NULL) {
        return Discard(contextPtr);
    }
    Ns_MutexSetName2(&contextPtr->lock, "nsssl:context", specPtr->module);
    return contextPtr;
}

/*
 * One that could not be completed.
 */
static SslContext *
Discard(SslContext *contextPtr)
{
    ns_free(contextPtr->key);
    ns_free(contextPtr->certificate);
    ns_free((char *) contextPtr->spec.path);
    ns_free(contextPtr);
    return NULL;
}

/*
 * A parameter of the section, or else of the driver's.
 */
static const char *
Text(const SslContextSpec *specPtr, const char *key, const char *defaultText)
{
    const char *value = Ns_ConfigGetValue(specPtr->path, key);

    if (value == NULL) {
        value = Ns_ConfigString(specPtr->driverPath, key, defaultText);
    }
    return value;
}

SSL *
SslContextNewConnection(SslContext *contextPtr)
{
    SSL_CTX *ctx = SslContextTake(contextPtr);
    SSL     *ssl = SSL_new(ctx);

    SSL_CTX_free(ctx);
    return ssl;
}

SSL_CTX *
SslContextTake(SslContext *contextPtr)
{
    SSL_CTX *ctx;

    Ns_MutexLock(&contextPtr->lock);
    ctx = contextPtr->ctx;
    SSL_CTX_up_ref(ctx);
    Ns_MutexUnlock(&contextPtr->lock);
    return ctx;
}

/*
 * What SSL_set_SSL_CTX does not take over.
 */
void
SslContextSwitch(SslContext *contextPtr, SSL *ssl)
{
    SSL_CTX *ctx = SslContextTake(contextPtr);

    (void) SSL_set_SSL_CTX(ssl, ctx);
    SSL_CTX_free(ctx);
    SSL_clear_options(ssl, ALL_VERSIONS & ~contextPtr->excluded);
    SSL_set_options(ssl, contextPtr->excluded);
    SSL_set_verify(ssl, contextPtr->verifyMode, VerifyProc(contextPtr));
}

bool
SslContextReload(SslContext *contextPtr)
{
    struct stat now[2];
    SSL_CTX    *newCtx;
    SSL_CTX    *oldCtx;

    Look(contextPtr, now);
    newCtx = MakeCtx(contextPtr, true);
    Ns_MutexLock(&contextPtr->lock);
    memcpy(contextPtr->seen, now, sizeof(now));
    memcpy(contextPtr->last, now, sizeof(now));
    oldCtx = contextPtr->ctx;
    if (newCtx != NULL) {
        contextPtr->ctx = newCtx;
    }
    Ns_MutexUnlock(&contextPtr->lock);
    if (newCtx == NULL) {
        return false;
    }
    SSL_CTX_free(oldCtx);
    Ns_Log(Notice, "%s: certificate %s reloaded", contextPtr->spec.module,
           contextPtr->certificate);
    return true;
}

void
SslContextStaple(SslContext *contextPtr)
{
    if (contextPtr->staplePtr != NULL) {
        SSL_CTX *ctx = SslContextTake(contextPtr);

        SslStapleRefresh(contextPtr->staplePtr, ctx);
        SSL_CTX_free(ctx);
    }
}

/*
 * A file that is being written is left alone until it is the same twice.
 */
bool
SslContextHasChanged(SslContext *contextPtr)
{
    struct stat now[2];
    bool        isNew, isQuiet;

    Look(contextPtr, now);
    Ns_MutexLock(&contextPtr->lock);
    isNew = !IsSame(now, contextPtr->seen);
    isQuiet = IsSame(now, contextPtr->last);
    memcpy(contextPtr->last, now, sizeof(now));
    Ns_MutexUnlock(&contextPtr->lock);
    return isNew && isQuiet;
}

/*
 * The two files as they are; one that is not there is all zero.
 */
static void
Look(const SslContext *contextPtr, struct stat *states)
{
    const char *const files[] = {contextPtr->certificate, contextPtr->key};

    for (int i = 0; i < 2; i++) {
        if (stat(files[i], &states[i]) != 0) {
            memset(&states[i], 0, sizeof(states[i]));
        }
    }
}

static bool
IsSame(const struct stat *a, const struct stat *b)
{
    for (int i = 0; i < 2; i++) {
        if (a[i].st_ino != b[i].st_ino || a[i].st_dev != b[i].st_dev
            || a[i].st_size != b[i].st_size
            || a[i].st_ctim.tv_sec != b[i].st_ctim.tv_sec
            || a[i].st_ctim.tv_nsec != b[i].st_ctim.tv_nsec) {
            return false;
        }
    }
    return true;
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
                Ns_Log(Notice, "%s: disabling %s", contextPtr->spec.module,
                       protocols[i].name + 1);
                isKnown = true;
            }
        }
        if (!isKnown) {
            Ns_Log(Warning, "%s: unknown protocol %.*s in %s",
                   contextPtr->spec.module, (int) n, p, contextPtr->spec.path);
        }
        p += n;
        p += *p != '\0';
    }
    if ((contextPtr->excluded & ALL_VERSIONS) == ALL_VERSIONS) {
        Ns_Log(Error, "%s: all protocols are excluded under %s",
               contextPtr->spec.module, contextPtr->spec.path);
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
    const SslContextSpec *specPtr = &contextPtr->spec;
    SSL_CTX              *ctx = SSL_CTX_new(TLS_server_method());
    SslKeyPair            pair = {.module = specPtr->module,
                                  .certificate = contextPtr->certificate,
                                  .key = contextPtr->key};

    if (ctx == NULL) {
        Ns_Log(Error, "%s: SSL init error: %s", specPtr->module,
               SslErrorReason());
        return NULL;
    }
    SSL_CTX_set_options(ctx,
                        contextPtr->excluded | SSL_OP_NO_COMPRESSION
                            | SSL_OP_CIPHER_SERVER_PREFERENCE
                            | SSL_OP_PRIORITIZE_CHACHA | SSL_OP_NO_RENEGOTIATION
                            | SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION
                            | SSL_OP_SINGLE_DH_USE | SSL_OP_SINGLE_ECDH_USE
                            | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_ENABLE_PARTIAL_WRITE
                         | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                         | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);
    SSL_CTX_set_num_tickets(ctx, N_TICKETS);
    SslTicketKeysUse(specPtr->keysPtr, ctx);
    SSL_CTX_set_client_hello_cb(ctx, specPtr->helloProc, specPtr->helloArg);
    if (SetSuites(contextPtr, ctx) && SslKeyPairLoad(&pair, ctx, isReload)
        && SetVerify(contextPtr, ctx)) {
        SetSessionId(contextPtr, ctx);
        if (contextPtr->staplePtr != NULL) {
            SslStapleUse(contextPtr->staplePtr, ctx);
        }
        SslKeyPairComplain(&pair, ctx);
        SslAlpnOffer(ctx,
                     Ns_ConfigBool(specPtr->driverPath, "http2", NS_TRUE) != 0);
        return ctx;
    }
    SSL_CTX_free(ctx);
    return NULL;
}

static bool
SetSuites(const SslContext *contextPtr, SSL_CTX *ctx)
{
    return IsSet(contextPtr, SSL_CTX_set_cipher_list(ctx, contextPtr->ciphers),
                 "ciphers", contextPtr->ciphers)
        && IsSet(contextPtr, SSL_CTX_set_ciphersuites(ctx, contextPtr->suites),
                 "ciphersuites", contextPtr->suites)
        && IsSet(contextPtr,
                 SSL_CTX_set1_groups_list(ctx, contextPtr->groups) == 1,
                 "groups", contextPtr->groups);
}

static bool
IsSet(const SslContext *contextPtr, int result, const char *what,
      const char *value)
{
    if (result != 1) {
        Ns_Log(Error, "%s: error loading %s: %s", contextPtr->spec.module, what,
               value);
        ERR_clear_error();
    }
    return result == 1;
}

/*
 * Sessions are resumed where the same is asked of clients, by any process that
 * has the same ticket keys.
 */
static void
SetSessionId(const SslContext *contextPtr, SSL_CTX *ctx)
{
    unsigned char id[EVP_MAX_MD_SIZE];
    unsigned      length = 0u;
    Ns_DString    ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s %d %s %s", contextPtr->spec.module,
                     contextPtr->verifyMode,
                     contextPtr->caFile == NULL ? "" : contextPtr->caFile,
                     contextPtr->caPath == NULL ? "" : contextPtr->caPath);
    (void) EVP_Digest(Ns_DStringValue(&ds), (size_t) Ns_DStringLength(&ds), id,
                      &length, EVP_sha256(), NULL);
    SSL_CTX_set_session_id_context(ctx, id,
                                   MIN(length, SSL_MAX_SID_CTX_LENGTH));
    Ns_DStringFree(&ds);
}

static bool
SetVerify(const SslContext *contextPtr, SSL_CTX *ctx)
{
    if (contextPtr->verifyMode == SSL_VERIFY_NONE) {
        return true;
    }
    SSL_CTX_set_verify(ctx, contextPtr->verifyMode, VerifyProc(contextPtr));
    SSL_CTX_set_default_verify_paths(ctx);
    if ((contextPtr->caFile != NULL || contextPtr->caPath != NULL)
        && SSL_CTX_load_verify_locations(ctx, contextPtr->caFile,
                                         contextPtr->caPath)
            != 1) {
        Ns_Log(Error, "%s: cannot load the CA certificates of clients: %s",
               contextPtr->spec.module, SslErrorReason());
        return false;
    }
    if (contextPtr->caFile != NULL) {
        SSL_CTX_set_client_CA_list(ctx,
                                   SSL_load_client_CA_file(contextPtr->caFile));
    }
    return true;
}

/*
 * One that is only asked for may have a bad certificate.
 */
static SSL_verify_cb
VerifyProc(const SslContext *contextPtr)
{
    return contextPtr->verifyMode == SSL_VERIFY_PEER ? AcceptAny : NULL;
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
