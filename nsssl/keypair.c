/* SPDX-License-Identifier: MPL-2.0
 * keypair.c --
 *
 *      A certificate with its chain and its private key, from files.
 */

#include "keypair.h"
#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#define MAX_FILE_BYTES (1u << 20)

static char       *ReadText(const char *file);
static void        FreeText(char *text);
static const char *UseChain(SSL_CTX *ctx, const char *text);
static bool        IsAbsent(void);
static const char *UseKey(const SslKeyPair *pairPtr, SSL_CTX *ctx,
                          const char *text);
static void        UseDh(SSL_CTX *ctx, const char *text);
static void        ComplainOfTime(const SslKeyPair *pairPtr, const X509 *x509);
static void        ComplainOfChain(const SslKeyPair *pairPtr, SSL_CTX *ctx,
                                   X509 *x509);
static bool        IsTrusted(X509 *x509);
static int AskPassword(char *buffer, int size, int isForWriting, void *arg);

bool
SslKeyPairLoad(const SslKeyPair *pairPtr, SSL_CTX *ctx, bool isReload)
{
    Ns_LogSeverity severity = isReload ? Warning : Error;
    const char    *what = isReload ? "reload" : "load";
    const char    *reason;
    char          *text;

    ERR_clear_error();
    text = ReadText(pairPtr->certificate);
    reason = text == NULL ? strerror(errno) : UseChain(ctx, text);
    if (reason != NULL) {
        Ns_Log(severity, "%s: certificate %s error: %s: %s", pairPtr->module,
               what, pairPtr->certificate, reason);
        FreeText(text);
        return false;
    }
    UseDh(ctx, text);
    if (!STREQ(pairPtr->key, pairPtr->certificate)) {
        FreeText(text);
        text = ReadText(pairPtr->key);
    }
    reason = text == NULL ? strerror(errno) : UseKey(pairPtr, ctx, text);
    if (reason != NULL) {
        Ns_Log(severity, "%s: private key %s error: %s: %s", pairPtr->module,
               what, pairPtr->key, reason);
    }
    FreeText(text);
    return reason == NULL;
}

/*
 * The content of a file; NULL: errno says why.
 */
static char *
ReadText(const char *file)
{
    int         fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat status;
    size_t      size, total = 0u;
    ssize_t     n = 1;
    char       *text;

    if (fd < 0 || fstat(fd, &status) != 0) {
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    size = (size_t) MIN(status.st_size, MAX_FILE_BYTES);
    text = ns_malloc(size + 1u);
    while (n > 0 && total < size) {
        n = read(fd, text + total, size - total);
        total += n > 0 ? (size_t) n : 0u;
    }
    text[total] = '\0';
    if (n < 0) {
        FreeText(text);
        text = NULL;
    }
    close(fd);
    return text;
}

/*
 * It may be a private key.
 */
static void
FreeText(char *text)
{
    if (text != NULL) {
        OPENSSL_cleanse(text, strlen(text));
        ns_free(text);
    }
}

/*
 * NULL, or what is wrong.
 */
static const char *
UseChain(SSL_CTX *ctx, const char *text)
{
    BIO        *bio = BIO_new_mem_buf(text, -1);
    X509       *x509 = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL);
    const char *reason = NULL;

    if (x509 == NULL || SSL_CTX_use_certificate(ctx, x509) != 1) {
        reason = IsAbsent() ? "there is no certificate in it"
                            : SslErrorReason();
    }
    X509_free(x509);
    while (reason == NULL
           && (x509 = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        if (SSL_CTX_add0_chain_cert(ctx, x509) != 1) {
            X509_free(x509);
            reason = SslErrorReason();
        }
    }
    if (reason == NULL && !IsAbsent()) {
        reason = SslErrorReason();
    }
    BIO_free(bio);
    ERR_clear_error();
    return reason;
}

/*
 * Whether the last thing looked for was not there.
 */
static bool
IsAbsent(void)
{
    unsigned long code = ERR_peek_last_error();

    return ERR_GET_LIB(code) == ERR_LIB_PEM
        && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

static const char *
UseKey(const SslKeyPair *pairPtr, SSL_CTX *ctx, const char *text)
{
    BIO        *bio = BIO_new_mem_buf(text, -1);
    EVP_PKEY   *key = PEM_read_bio_PrivateKey(bio, NULL, AskPassword,
                                              (void *) pairPtr->module);
    const char *reason = NULL;

    if (key == NULL) {
        reason = strstr(text, "PRIVATE KEY-----") == NULL
            ? "there is no private key in it"
            : SslErrorReason();
    } else if (X509_check_private_key(SSL_CTX_get0_certificate(ctx), key)
               != 1) {
        reason = "it does not belong to the certificate";
    } else if (SSL_CTX_use_PrivateKey(ctx, key) != 1) {
        reason = SslErrorReason();
    }
    EVP_PKEY_free(key);
    BIO_free(bio);
    ERR_clear_error();
    return reason;
}

/*
 * DH parameters of the certificate file, else those that fit the key.  Looking
 * for them with the library's decoders takes longer than all the rest.
 */
static void
UseDh(SSL_CTX *ctx, const char *text)
{
    EVP_PKEY *params = NULL;

    if (strstr(text, "BEGIN DH PARAMETERS") != NULL) {
        BIO *bio = BIO_new_mem_buf(text, -1);

        params = PEM_read_bio_Parameters(bio, NULL);
        BIO_free(bio);
    }
    if (params == NULL || !EVP_PKEY_is_a(params, "DH")
        || EVP_PKEY_get_bits(params) < 2048
        || SSL_CTX_set0_tmp_dh_pkey(ctx, params) != 1) {
        EVP_PKEY_free(params);
        SSL_CTX_set_dh_auto(ctx, 1);
    }
    ERR_clear_error();
}

void
SslKeyPairComplain(const SslKeyPair *pairPtr, SSL_CTX *ctx)
{
    X509       *x509 = SSL_CTX_get0_certificate(ctx);
    struct stat status;

    ComplainOfTime(pairPtr, x509);
    ComplainOfChain(pairPtr, ctx, x509);
    if (stat(pairPtr->key, &status) == 0 && (status.st_mode & S_IROTH) != 0) {
        Ns_Log(Warning,
               "%s: private key %s: all users of the machine can read it; use"
               " chmod o-r",
               pairPtr->module, pairPtr->key);
    }
    ERR_clear_error();
}

static void
ComplainOfTime(const SslKeyPair *pairPtr, const X509 *x509)
{
    const ASN1_TIME *after = X509_get0_notAfter(x509);
    const ASN1_TIME *before = X509_get0_notBefore(x509);
    bool             hasExpired = X509_cmp_current_time(after) < 0;
    char             text[64] = "";
    BIO             *bio;

    if (!hasExpired && X509_cmp_current_time(before) < 0) {
        return;
    }
    bio = BIO_new(BIO_s_mem());
    if (bio != NULL) {
        (void) ASN1_TIME_print(bio, hasExpired ? after : before);
        (void) BIO_read(bio, text, sizeof(text) - 1);
        BIO_free(bio);
    }
    Ns_Log(Warning, "%s: certificate %s: %s %s; clients refuse it",
           pairPtr->module, pairPtr->certificate,
           hasExpired ? "it expired at" : "it is not valid before", text);
}

/*
 * One that is not signed by itself needs that of its issuer, unless clients
 * have that.
 */
static void
ComplainOfChain(const SslKeyPair *pairPtr, SSL_CTX *ctx, X509 *x509)
{
    STACK_OF(X509) *chain = NULL;
    char issuer[256] = "";

    (void) SSL_CTX_get0_chain_certs(ctx, &chain);
    if (sk_X509_num(chain) > 0 || X509_self_signed(x509, 0) == 1
        || IsTrusted(x509)) {
        return;
    }
    (void) X509_NAME_oneline(X509_get_issuer_name(x509), issuer,
                             sizeof(issuer));
    Ns_Log(
        Warning,
        "%s: certificate %s: the file lacks the certificate of its issuer %s; "
        "append it, or clients may refuse the connection",
        pairPtr->module, pairPtr->certificate, issuer);
}

/*
 * By the authorities of this machine, whatever the time.
 */
static bool
IsTrusted(X509 *x509)
{
    X509_STORE     *storePtr = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    bool            isTrusted = false;

    if (storePtr != NULL && ctx != NULL
        && X509_STORE_set_default_paths(storePtr) == 1
        && X509_STORE_CTX_init(ctx, storePtr, x509, NULL) == 1) {
        X509_STORE_CTX_set_flags(ctx, X509_V_FLAG_NO_CHECK_TIME);
        isTrusted = X509_verify_cert(ctx) == 1;
    }
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(storePtr);
    return isTrusted;
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
