/* SPDX-License-Identifier: MPL-2.0
 * certificate.c --
 *
 *      What a certificate says.
 */

#include "certificate.h"
#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#define PEM_BEGIN "-----BEGIN "

static void CallFor(const ASN1_STRING *stringPtr, SslCertificateNameProc *proc,
                    void *arg);
static void AppendName(Ns_DString *dsPtr, const char *key,
                       const X509_NAME *namePtr);
static void AppendTime(Ns_DString *dsPtr, const char *key,
                       const ASN1_TIME *timePtr);
static void AppendSerial(Ns_DString *dsPtr, X509 *x509);
static void AppendFingerprint(Ns_DString *dsPtr, const X509 *x509);
static void AppendPem(Ns_DString *dsPtr, X509 *x509);
static void AppendNames(Ns_DString *dsPtr, X509 *x509);
static void AppendAlternative(Ns_DString *dsPtr, const GENERAL_NAME *namePtr);
static void AppendBio(Ns_DString *dsPtr, const char *key, BIO *bio);

void
SslCertificateAppend(Ns_DString *dsPtr, X509 *x509)
{
    AppendName(dsPtr, "subject", X509_get_subject_name(x509));
    AppendName(dsPtr, "issuer", X509_get_issuer_name(x509));
    AppendSerial(dsPtr, x509);
    AppendTime(dsPtr, "notbefore", X509_get0_notBefore(x509));
    AppendTime(dsPtr, "notafter", X509_get0_notAfter(x509));
    AppendFingerprint(dsPtr, x509);
    AppendPem(dsPtr, x509);
    AppendNames(dsPtr, x509);
    ERR_clear_error();
}

X509 *
SslCertificateRead(const char *fileOrPem, bool *isOpenPtr)
{
    X509 *x509 = NULL;
    BIO  *bio;

    if (strstr(fileOrPem, PEM_BEGIN) != NULL) {
        bio = BIO_new_mem_buf(fileOrPem, -1);
    } else {
        char *path = SslFindFile(fileOrPem);

        bio = BIO_new_file(path, "r");
        ns_free(path);
    }
    *isOpenPtr = bio != NULL;
    if (bio != NULL) {
        x509 = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        BIO_free(bio);
    }
    ERR_clear_error();
    return x509;
}

void
SslCertificateNames(const X509 *x509, SslCertificateNameProc *proc, void *arg)
{
    const X509_NAME *subjectPtr = X509_get_subject_name(x509);
    GENERAL_NAMES   *names = X509_get_ext_d2i(x509, NID_subject_alt_name, NULL,
                                              NULL);
    int              nDns = 0;

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *namePtr = sk_GENERAL_NAME_value(names, i);

        if (namePtr->type == GEN_DNS) {
            CallFor(namePtr->d.dNSName, proc, arg);
            nDns++;
        }
    }
    GENERAL_NAMES_free(names);
    if (nDns == 0) {
        int i = X509_NAME_get_index_by_NID(subjectPtr, NID_commonName, -1);

        if (i >= 0) {
            CallFor(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subjectPtr,
                                                                 i)),
                    proc, arg);
        }
    }
    ERR_clear_error();
}

static void
CallFor(const ASN1_STRING *stringPtr, SslCertificateNameProc *proc, void *arg)
{
    proc((const char *) ASN1_STRING_get0_data(stringPtr),
         (size_t) ASN1_STRING_length(stringPtr), arg);
}

static void
AppendName(Ns_DString *dsPtr, const char *key, const X509_NAME *namePtr)
{
    BIO *bio = BIO_new(BIO_s_mem());

    (void) X509_NAME_print_ex(bio, namePtr, 0,
                              XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    AppendBio(dsPtr, key, bio);
}

/*
 * As `Nov 22 18:00:00 2026 GMT`, which the command clock understands.
 */
static void
AppendTime(Ns_DString *dsPtr, const char *key, const ASN1_TIME *timePtr)
{
    BIO *bio = BIO_new(BIO_s_mem());

    (void) ASN1_TIME_print(bio, timePtr);
    AppendBio(dsPtr, key, bio);
}

static void
AppendSerial(Ns_DString *dsPtr, X509 *x509)
{
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get_serialNumber(x509), NULL);
    char   *text = number == NULL ? NULL : BN_bn2hex(number);

    Ns_DStringAppendElement(dsPtr, "serial");
    Ns_DStringAppendElement(dsPtr, text == NULL ? "" : text);
    OPENSSL_free(text);
    BN_free(number);
}

static void
AppendFingerprint(Ns_DString *dsPtr, const X509 *x509)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned      length = 0;

    Ns_DStringAppend(dsPtr, " fingerprint ");
    (void) X509_digest(x509, EVP_sha256(), digest, &length);
    for (unsigned i = 0; i < length; i++) {
        Ns_DStringPrintf(dsPtr, "%s%02X", i > 0 ? ":" : "", digest[i]);
    }
}

static void
AppendPem(Ns_DString *dsPtr, X509 *x509)
{
    BIO *bio = BIO_new(BIO_s_mem());

    (void) PEM_write_bio_X509(bio, x509);
    AppendBio(dsPtr, "pem", bio);
}

static void
AppendNames(Ns_DString *dsPtr, X509 *x509)
{
    static const struct {
        int         type;
        const char *key;
    } kinds[] = {{GEN_DNS, "dns"},
                 {GEN_EMAIL, "email"},
                 {GEN_URI, "uri"},
                 {GEN_IPADD, "ip"}};
    GENERAL_NAMES *names = X509_get_ext_d2i(x509, NID_subject_alt_name, NULL,
                                            NULL);

    Ns_DStringAppendElement(dsPtr, "san");
    Tcl_DStringStartSublist(dsPtr);
    for (int i = 0; i < Ns_NrElements(kinds) && names != NULL; i++) {
        bool isFirst = true;

        for (int j = 0; j < sk_GENERAL_NAME_num(names); j++) {
            const GENERAL_NAME *namePtr = sk_GENERAL_NAME_value(names, j);

            if (namePtr->type != kinds[i].type) {
                continue;
            }
            if (isFirst) {
                Ns_DStringAppendElement(dsPtr, kinds[i].key);
                Tcl_DStringStartSublist(dsPtr);
                isFirst = false;
            }
            AppendAlternative(dsPtr, namePtr);
        }
        if (!isFirst) {
            Tcl_DStringEndSublist(dsPtr);
        }
    }
    Tcl_DStringEndSublist(dsPtr);
    GENERAL_NAMES_free(names);
}

static void
AppendAlternative(Ns_DString *dsPtr, const GENERAL_NAME *namePtr)
{
    const ASN1_STRING   *stringPtr = namePtr->d.ia5;
    const unsigned char *bytes = ASN1_STRING_get0_data(stringPtr);
    int                  length = ASN1_STRING_length(stringPtr);
    char                 address[INET6_ADDRSTRLEN] = "";
    Ns_DString           text;

    if (namePtr->type == GEN_IPADD) {
        (void) inet_ntop(length == 4 ? AF_INET : AF_INET6, bytes, address,
                         length == 4 || length == 16 ? sizeof(address) : 0);
        Ns_DStringAppendElement(dsPtr, address);
        return;
    }
    Ns_DStringInit(&text);
    Ns_DStringNAppend(&text, (const char *) bytes, length);
    Ns_DStringAppendElement(dsPtr, Ns_DStringValue(&text));
    Ns_DStringFree(&text);
}

/*
 * The value is what was printed; the BIO is freed.
 */
static void
AppendBio(Ns_DString *dsPtr, const char *key, BIO *bio)
{
    Ns_DString text;
    char      *data = NULL;
    long       length = bio == NULL ? 0 : BIO_get_mem_data(bio, &data);

    Ns_DStringInit(&text);
    Ns_DStringNAppend(&text, data, (int) length);
    Ns_DStringAppendElement(dsPtr, key);
    Ns_DStringAppendElement(dsPtr, Ns_DStringValue(&text));
    Ns_DStringFree(&text);
    BIO_free(bio);
}
