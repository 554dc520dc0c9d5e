/* SPDX-License-Identifier: MPL-2.0
 * staple.c --
 *
 *      What the authority says about a certificate, shown to clients in the
 *      handshake.
 */

#include "staple.h"
#include "context.h"

#include <openssl/err.h>
#include <openssl/http.h>
#include <openssl/ocsp.h>
#include <openssl/x509v3.h>

#define FETCH_SECONDS    3
#define MAX_BYTES        65536
#define SKEW_SECONDS     300
#define SECONDS_OF_DAY   86400
#define NO_LIMIT_SECONDS 3600 /* An answer that does not say how long. */

struct SslStaple {
    const char *module; /* Constant. */
    const char *file;   /* Constant. */

    Ns_Mutex       lock;  /* Guards the rest. */
    unsigned char *bytes; /* The answer, or NULL; ... */
    int            length;
    time_t         since, until;  /* ... from when, and how long it holds; */
    char          *serial;        /* ... and what certificate it is about. */
    time_t         complaintTime; /* Of the last Warning. */
    bool           isWithout;     /* The certificate names nobody to ask. */
};

/*
 * One question to an authority.
 */
typedef struct Question {
    X509        *x509;   /* About this, borrowed. */
    X509        *issuer; /* Borrowed. */
    char        *serial;
    char        *url;
    OCSP_CERTID *id;
} Question;

static int            Show(SSL *ssl, void *arg);
static bool           Ask(Question *questionPtr, SSL_CTX *ctx);
static void           Forget(Question *questionPtr);
static bool           IsTime(SslStaple *staplePtr, const Question *questionPtr);
static const char    *Fetch(const Question *questionPtr,
                            OCSP_RESPONSE **answerPtr);
static OCSP_RESPONSE *Transfer(const Question *questionPtr, BIO *request);
static const char    *Take(SslStaple *staplePtr, const Question *questionPtr,
                           OCSP_RESPONSE *answer);
static const char    *Judge(const Question *questionPtr, OCSP_BASICRESP *basic,
                            time_t *sincePtr, time_t *untilPtr);
static bool   IsSigned(const Question *questionPtr, OCSP_BASICRESP *basic);
static time_t Seconds(const ASN1_GENERALIZEDTIME *timePtr);
static char  *DiskFile(const Question *questionPtr);
static void   Save(SslStaple *staplePtr, const Question *questionPtr);
static void   Restore(SslStaple *staplePtr, const Question *questionPtr);
static void   Complain(SslStaple *staplePtr, const Question *questionPtr,
                       const char *reason);

SslStaple *
SslStapleCreate(const char *module, const char *file)
{
    SslStaple *staplePtr = ns_calloc(1u, sizeof(SslStaple));

    staplePtr->module = module;
    staplePtr->file = file;
    Ns_MutexSetName2(&staplePtr->lock, "nsssl:staple", module);
    return staplePtr;
}

void
SslStapleUse(SslStaple *staplePtr, SSL_CTX *ctx)
{
    SSL_CTX_set_tlsext_status_cb(ctx, Show);
    SSL_CTX_set_tlsext_status_arg(ctx, staplePtr);
}

/*
 * Called by the library for a client that asks for it.
 */
static int
Show(SSL *ssl, void *arg)
{
    SslStaple     *staplePtr = arg;
    unsigned char *copy = NULL;
    int            length = 0;

    Ns_MutexLock(&staplePtr->lock);
    if (staplePtr->bytes != NULL && time(NULL) < staplePtr->until) {
        length = staplePtr->length;
        copy = OPENSSL_memdup(staplePtr->bytes, (size_t) length);
    }
    Ns_MutexUnlock(&staplePtr->lock);
    if (copy == NULL) {
        return SSL_TLSEXT_ERR_NOACK;
    }
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, length);
    return SSL_TLSEXT_ERR_OK;
}

void
SslStapleRefresh(SslStaple *staplePtr, SSL_CTX *ctx)
{
    Question       question;
    OCSP_RESPONSE *answer = NULL;
    const char    *reason;

    ERR_clear_error();
    if (!Ask(&question, ctx)) {
        if (!staplePtr->isWithout) {
            staplePtr->isWithout = true;
            Ns_Log(Notice,
                   "%s: certificate %s: nothing to staple, as it names no OCSP"
                   " responder or lacks the certificate of its issuer",
                   staplePtr->module, staplePtr->file);
        }
        Forget(&question);
        return;
    }
    staplePtr->isWithout = false;
    Restore(staplePtr, &question);
    if (IsTime(staplePtr, &question)) {
        ERR_clear_error();
        reason = Fetch(&question, &answer);
        if (reason == NULL) {
            reason = Take(staplePtr, &question, answer);
        }
        if (reason == NULL) {
            Save(staplePtr, &question);
        } else {
            Complain(staplePtr, &question, reason);
        }
        OCSP_RESPONSE_free(answer);
    }
    Forget(&question);
    ERR_clear_error();
}

/*
 * False: nobody can be asked.
 */
static bool
Ask(Question *questionPtr, SSL_CTX *ctx)
{
    STACK_OF(X509) *chain = NULL;
    STACK_OF(OPENSSL_STRING) * urls;
    BIGNUM *number;

    memset(questionPtr, 0, sizeof(*questionPtr));
    questionPtr->x509 = SSL_CTX_get0_certificate(ctx);
    (void) SSL_CTX_get0_chain_certs(ctx, &chain);
    questionPtr->issuer = sk_X509_num(chain) > 0
        ? sk_X509_value(chain, 0)
        : NULL;
    urls = X509_get1_ocsp(questionPtr->x509);
    if (sk_OPENSSL_STRING_num(urls) > 0) {
        questionPtr->url = ns_strdup(sk_OPENSSL_STRING_value(urls, 0));
    }
    X509_email_free(urls);
    if (questionPtr->issuer == NULL || questionPtr->url == NULL) {
        return false;
    }
    questionPtr->id = OCSP_cert_to_id(NULL, questionPtr->x509,
                                      questionPtr->issuer);
    number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(questionPtr->x509),
                                NULL);
    if (number != NULL) {
        char *text = BN_bn2hex(number);

        questionPtr->serial = ns_strdup(text == NULL ? "" : text);
        OPENSSL_free(text);
        BN_free(number);
    }
    return questionPtr->id != NULL && questionPtr->serial != NULL;
}

static void
Forget(Question *questionPtr)
{
    ns_free(questionPtr->serial);
    ns_free(questionPtr->url);
    OCSP_CERTID_free(questionPtr->id);
}

/*
 * There is no answer yet, it is about another certificate, or half of its time
 * is over.
 */
static bool
IsTime(SslStaple *staplePtr, const Question *questionPtr)
{
    bool isTime;

    Ns_MutexLock(&staplePtr->lock);
    isTime = staplePtr->bytes == NULL
        || !STREQ(staplePtr->serial, questionPtr->serial)
        || time(NULL) - staplePtr->since
            >= (staplePtr->until - staplePtr->since) / 2;
    Ns_MutexUnlock(&staplePtr->lock);
    return isTime;
}

/*
 * NULL and the answer, or what went wrong.
 */
static const char *
Fetch(const Question *questionPtr, OCSP_RESPONSE **answerPtr)
{
    OCSP_REQUEST *request = OCSP_REQUEST_new();
    OCSP_CERTID  *id = OCSP_CERTID_dup(questionPtr->id);
    BIO          *bio = BIO_new(BIO_s_mem());

    if (request != NULL && id != NULL && bio != NULL
        && OCSP_request_add0_id(request, id) != NULL) {
        id = NULL; /* The request's. */
        if (i2d_OCSP_REQUEST_bio(bio, request) == 1) {
            *answerPtr = Transfer(questionPtr, bio);
        }
    }
    OCSP_CERTID_free(id);
    OCSP_REQUEST_free(request);
    BIO_free(bio);
    return *answerPtr == NULL ? SslErrorReason() : NULL;
}

static OCSP_RESPONSE *
Transfer(const Question *questionPtr, BIO *request)
{
    char          *host = NULL, *port = NULL, *path = NULL;
    int            isTls = 0;
    OCSP_RESPONSE *answer = NULL;
    BIO           *reply;

    if (OSSL_HTTP_parse_url(questionPtr->url, &isTls, NULL, &host, &port, NULL,
                            &path, NULL, NULL)
            != 1
        || isTls) {
        OPENSSL_free(host);
        OPENSSL_free(port);
        OPENSSL_free(path);
        return NULL;
    }
    reply = OSSL_HTTP_transfer(NULL, host, port, path, 0, NULL, NULL, NULL,
                               NULL, NULL, NULL, 0, NULL,
                               "application/ocsp-request", request,
                               "application/ocsp-response", 1, MAX_BYTES,
                               FETCH_SECONDS, 0);
    if (reply != NULL) {
        answer = d2i_OCSP_RESPONSE_bio(reply, NULL);
        BIO_free(reply);
    }
    OPENSSL_free(host);
    OPENSSL_free(port);
    OPENSSL_free(path);
    return answer;
}

/*
 * NULL, or why this answer is not good.
 */
static const char *
Take(SslStaple *staplePtr, const Question *questionPtr, OCSP_RESPONSE *answer)
{
    int             status = OCSP_response_status(answer);
    OCSP_BASICRESP *basic;
    const char     *reason;
    time_t          since = 0, until = 0;
    unsigned char  *bytes = NULL;
    int             length;

    if (status != OCSP_RESPONSE_STATUS_SUCCESSFUL) {
        return OCSP_response_status_str(status);
    }
    basic = OCSP_response_get1_basic(answer);
    if (basic == NULL) {
        return SslErrorReason();
    }
    reason = Judge(questionPtr, basic, &since, &until);
    OCSP_BASICRESP_free(basic);
    length = reason == NULL ? i2d_OCSP_RESPONSE(answer, &bytes) : 0;
    if (length <= 0) {
        return reason == NULL ? SslErrorReason() : reason;
    }
    Ns_MutexLock(&staplePtr->lock);
    OPENSSL_free(staplePtr->bytes);
    ns_free(staplePtr->serial);
    staplePtr->bytes = bytes;
    staplePtr->length = length;
    staplePtr->since = since;
    staplePtr->until = until;
    staplePtr->serial = ns_strdup(questionPtr->serial);
    Ns_MutexUnlock(&staplePtr->lock);
    return NULL;
}

static const char *
Judge(const Question *questionPtr, OCSP_BASICRESP *basic, time_t *sincePtr,
      time_t *untilPtr)
{
    ASN1_GENERALIZEDTIME *thisPtr = NULL, *nextPtr = NULL;
    int                   status;

    if (!IsSigned(questionPtr, basic)) {
        return "its signature is not valid";
    }
    if (OCSP_resp_find_status(basic, questionPtr->id, &status, NULL, NULL,
                              &thisPtr, &nextPtr)
        != 1) {
        return "it is about another certificate";
    }
    if (OCSP_check_validity(thisPtr, nextPtr, SKEW_SECONDS, -1) != 1) {
        return "it has expired, or is not valid yet";
    }
    if (status == V_OCSP_CERTSTATUS_UNKNOWN) {
        return "the authority does not know the certificate";
    }
    *sincePtr = Seconds(thisPtr);
    *untilPtr = nextPtr == NULL ? time(NULL) + NO_LIMIT_SECONDS
                                : Seconds(nextPtr);
    return status == V_OCSP_CERTSTATUS_REVOKED
        ? "the certificate is revoked"
        : NULL;
}

/*
 * By the issuer, or by somebody whom it has made a certificate for that.
 */
static bool
IsSigned(const Question *questionPtr, OCSP_BASICRESP *basic)
{
    X509_STORE *storePtr = X509_STORE_new();
    STACK_OF(X509) *certificates = sk_X509_new_null();
    bool isSigned = false;

    if (storePtr != NULL && certificates != NULL
        && X509_STORE_add_cert(storePtr, questionPtr->issuer) == 1
        && sk_X509_push(certificates, questionPtr->issuer) > 0) {
        X509_STORE_set_flags(storePtr, X509_V_FLAG_PARTIAL_CHAIN);
        isSigned = OCSP_basic_verify(basic, certificates, storePtr, 0) == 1;
    }
    sk_X509_free(certificates);
    X509_STORE_free(storePtr);
    return isSigned;
}

static time_t
Seconds(const ASN1_GENERALIZEDTIME *timePtr)
{
    struct tm parts;

    memset(&parts, 0, sizeof(parts));
    return ASN1_TIME_to_tm(timePtr, &parts) == 1 ? timegm(&parts) : 0;
}

/*
 * To be freed.
 */
static char *
DiskFile(const Question *questionPtr)
{
    Ns_DString name, path;

    Ns_DStringInit(&name);
    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&name, questionPtr->serial, ".der", NULL);
    Ns_LogPath(&path, NULL, Ns_DStringValue(&name));
    Ns_DStringFree(&name);
    return Ns_DStringExport(&path);
}

/*
 * For the next start.  Without the file that one has to ask again.
 */
static void
Save(SslStaple *staplePtr, const Question *questionPtr)
{
    char          *file = DiskFile(questionPtr);
    Ns_DString     temporary;
    BIO           *bio;
    unsigned char *bytes;
    int            length;

    /* Handshakes do not wait for the disk. */
    Ns_MutexLock(&staplePtr->lock);
    length = staplePtr->length;
    bytes = OPENSSL_memdup(staplePtr->bytes, (size_t) length);
    Ns_MutexUnlock(&staplePtr->lock);
    Ns_DStringInit(&temporary);
    Ns_DStringVarAppend(&temporary, file, ".new", NULL);
    bio = bytes == NULL ? NULL
                        : BIO_new_file(Ns_DStringValue(&temporary), "wb");
    if (bio != NULL) {
        bool isWritten = BIO_write(bio, bytes, length) == length
            && BIO_flush(bio) == 1;

        BIO_free(bio);
        if (!isWritten || rename(Ns_DStringValue(&temporary), file) != 0) {
            (void) unlink(Ns_DStringValue(&temporary));
        }
    }
    OPENSSL_free(bytes);
    Ns_DStringFree(&temporary);
    ns_free(file);
}

/*
 * What an earlier process has saved, if it is still good.
 */
static void
Restore(SslStaple *staplePtr, const Question *questionPtr)
{
    char *file;
    BIO  *bio;
    bool  isHere;

    Ns_MutexLock(&staplePtr->lock);
    isHere = staplePtr->bytes != NULL
        && STREQ(staplePtr->serial, questionPtr->serial);
    Ns_MutexUnlock(&staplePtr->lock);
    if (isHere) {
        return;
    }
    file = DiskFile(questionPtr);
    bio = BIO_new_file(file, "rb");
    if (bio != NULL) {
        OCSP_RESPONSE *answer = d2i_OCSP_RESPONSE_bio(bio, NULL);

        if (answer != NULL) {
            (void) Take(staplePtr, questionPtr, answer);
        }
        OCSP_RESPONSE_free(answer);
        BIO_free(bio);
    }
    ns_free(file);
}

/*
 * Once a day: the next attempt is soon.
 */
static void
Complain(SslStaple *staplePtr, const Question *questionPtr, const char *reason)
{
    time_t now = time(NULL);
    bool   mayComplain;

    Ns_MutexLock(&staplePtr->lock);
    mayComplain = staplePtr->complaintTime == 0
        || now - staplePtr->complaintTime >= SECONDS_OF_DAY;
    if (mayComplain) {
        staplePtr->complaintTime = now;
    }
    Ns_MutexUnlock(&staplePtr->lock);
    if (mayComplain) {
        Ns_Log(
            Warning,
            "%s: certificate %s: no OCSP response from %s: %s; trying again, "
            "without further messages for a day",
            staplePtr->module, staplePtr->file, questionPtr->url, reason);
    }
}
