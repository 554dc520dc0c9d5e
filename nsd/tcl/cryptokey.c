/* SPDX-License-Identifier: MPL-2.0
 * cryptokey.c --
 *
 *      Digests by name, keys from PEM, failures.
 */

#include "tcl/cryptokey.h"

#include "base/assert.h"
#include "base/chars.h"
#include "tcl/result.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <fcntl.h>
#include <sys/stat.h>

#define MAX_DIGESTS 64
#define MAX_PEM     (1 << 20)

/*
 * Names of digests while they are collected.
 */
typedef struct DigestNames {
    const char *names[MAX_DIGESTS];
    int         nNames;
} DigestNames;

static void      AddDigest(EVP_MD *mdPtr, void *arg);
static void      TakeShorter(const char *name, void *arg);
static int       CompareNames(const void *a, const void *b);
static EVP_PKEY *FindKey(EVP_PKEY *(*proc)(BIO *bioPtr, EVP_PKEY **keyPtrPtr,
                                           pem_password_cb *passphraseProc,
                                           void            *arg),
                         const Ns_DString *pemPtr, const char *passphrase);
static int  ReadPem(Tcl_Interp *interp, Tcl_Obj *pemObj, Ns_DString *pemPtr);
static bool ReadFile(const char *file, Ns_DString *pemPtr);
static void FreePem(Ns_DString *pemPtr);
static int  GivePassphrase(char *buffer, int size, int isWriting, void *arg);

void
NsCryptoForget(void)
{
    ERR_clear_error();
}

int
NsCryptoFail(Tcl_Interp *interp, const char *format, ...)
{
    Ns_DString ds;
    va_list    ap;

    NsCryptoForget();
    Ns_DStringInit(&ds);
    va_start(ap, format);
    Ns_DStringVPrintf(&ds, format, ap);
    va_end(ap);
    Tcl_DStringResult(interp, &ds);
    return TCL_ERROR;
}

/*
 * ---------------------------------------------------------------- Digests
 */

EVP_MD *
NsCryptoDigest(Tcl_Interp *interp, Tcl_Obj *nameObj)
{
    const char *name = nameObj != NULL ? Tcl_GetString(nameObj) : "sha256";
    EVP_MD     *mdPtr = EVP_MD_fetch(NULL, name, NULL);
    Ns_DString  ds;

    if (mdPtr != NULL && EVP_MD_get_size(mdPtr) > 0) {
        return mdPtr;
    }
    EVP_MD_free(mdPtr);
    Ns_DStringInit(&ds);
    NsCryptoDigests(&ds, ", ");
    NsCryptoFail(interp, "Unknown value for digest \"%s\", valid: %s", name,
                 Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
    return NULL;
}

void
NsCryptoDigests(Ns_DString *dsPtr, const char *separator)
{
    DigestNames list = {.nNames = 0};
    int         start = Ns_DStringLength(dsPtr);

    EVP_MD_do_all_provided(NULL, AddDigest, &list);
    qsort(list.names, (size_t) list.nNames, sizeof(list.names[0]),
          CompareNames);
    for (int i = 0; i < list.nNames; i++) {
        Ns_DStringVarAppend(dsPtr, i > 0 ? separator : "", list.names[i], NULL);
    }
    for (char *p = Ns_DStringValue(dsPtr) + start; *p != '\0'; p++) {
        *p = NsToLower(*p);
    }
    NsCryptoForget();
}

/*
 * A digest has many names; the shortest is the one that people write.
 */
static void
AddDigest(EVP_MD *mdPtr, void *arg)
{
    DigestNames *listPtr = arg;
    const char  *shortest = NULL;

    if (EVP_MD_get_size(mdPtr) > 0 && listPtr->nNames < MAX_DIGESTS) {
        EVP_MD_names_do_all(mdPtr, TakeShorter, &shortest);
        NsAssert(shortest != NULL);
        listPtr->names[listPtr->nNames++] = shortest;
    }
}

static void
TakeShorter(const char *name, void *arg)
{
    const char **shortestPtr = arg;

    /* Not a number as 2.16.840. */
    if (!NsIsDigit(*name)
        && (*shortestPtr == NULL || strlen(name) < strlen(*shortestPtr))) {
        *shortestPtr = name;
    }
}

static int
CompareNames(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *) a, *(const char *const *) b);
}

/*
 * ------------------------------------------------------------------- Keys
 */

EVP_PKEY *
NsCryptoPrivateKey(Tcl_Interp *interp, Tcl_Obj *pemObj, const char *passphrase)
{
    Ns_DString pem;
    EVP_PKEY  *keyPtr;

    if (ReadPem(interp, pemObj, &pem) != TCL_OK) {
        return NULL;
    }
    keyPtr = FindKey(PEM_read_bio_PrivateKey, &pem, passphrase);
    FreePem(&pem);
    if (keyPtr == NULL) {
        NsCryptoFail(interp, "could not read a private key from pem");
    }
    return keyPtr;
}

EVP_PKEY *
NsCryptoPublicKey(Tcl_Interp *interp, Tcl_Obj *pemObj, const char *passphrase)
{
    Ns_DString pem;
    EVP_PKEY  *keyPtr;

    if (ReadPem(interp, pemObj, &pem) != TCL_OK) {
        return NULL;
    }
    keyPtr = FindKey(PEM_read_bio_PUBKEY, &pem, NULL);
    if (keyPtr == NULL) {
        keyPtr = FindKey(PEM_read_bio_PrivateKey, &pem, passphrase);
    }
    FreePem(&pem);
    if (keyPtr == NULL) {
        NsCryptoFail(interp, "could not read a public key from pem");
    }
    NsCryptoForget();
    return keyPtr;
}

static EVP_PKEY *
FindKey(EVP_PKEY *(*proc)(BIO *bioPtr, EVP_PKEY **keyPtrPtr,
                          pem_password_cb *passphraseProc, void *arg),
        const Ns_DString *pemPtr, const char *passphrase)
{
    BIO      *bioPtr = BIO_new_mem_buf(pemPtr->string, pemPtr->length);
    EVP_PKEY *keyPtr;

    NsAssert(bioPtr != NULL);
    keyPtr = proc(bioPtr, NULL, GivePassphrase, (void *) passphrase);
    BIO_free(bioPtr);
    return keyPtr;
}

/*
 * The text, for FreePem; TCL_ERROR with a message, and nothing to free.
 */
static int
ReadPem(Tcl_Interp *interp, Tcl_Obj *pemObj, Ns_DString *pemPtr)
{
    int         length;
    const char *pem = Tcl_GetStringFromObj(pemObj, &length);

    Ns_DStringInit(pemPtr);
    if (strstr(pem, "-----BEGIN ") != NULL) {
        Ns_DStringNAppend(pemPtr, pem, length);
        return TCL_OK;
    }
    if (ReadFile(pem, pemPtr)) {
        return TCL_OK;
    }
    FreePem(pemPtr);
    return NsCryptoFail(interp, "could not open pem file '%s' for reading",
                        pem);
}

/*
 * A file of another kind, which could keep the thread waiting or have no end,
 * is none.
 */
static bool
ReadFile(const char *file, Ns_DString *pemPtr)
{
    int         fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    ssize_t     n = -1;

    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < MAX_PEM) {
        Ns_DStringSetLength(pemPtr, (int) st.st_size);
        n = pread(fd, Ns_DStringValue(pemPtr), (size_t) st.st_size, 0);
        Ns_DStringSetLength(pemPtr, MAX((int) n, 0));
    }
    NsClose(fd);
    return n >= 0;
}

static void
FreePem(Ns_DString *pemPtr)
{
    OPENSSL_cleanse(Ns_DStringValue(pemPtr), (size_t) Ns_DStringLength(pemPtr));
    Ns_DStringFree(pemPtr);
}

/*
 * Never ask at the terminal.
 */
static int
GivePassphrase(char *buffer, int size, int isWriting, void *arg)
{
    const char *passphrase = arg != NULL ? arg : "";
    size_t      length = MIN(strlen(passphrase), (size_t) size);

    memcpy(buffer, passphrase, length);
    return (int) length;
}

/*
 * --------------------------------------------------------------- Arguments
 */

int
NsCryptoNeed(Tcl_Interp *interp, const char *option, const Tcl_Obj *obj)
{
    return obj != NULL ? TCL_OK : NsTclFail(interp, "no %s specified", option);
}

int
NsCryptoCheckRange(Tcl_Interp *interp, const char *name, Tcl_WideInt value,
                   Tcl_WideInt min, Tcl_WideInt max)
{
    NsAssert(min <= max);
    if (value >= min && value <= max) {
        return TCL_OK;
    }
    return NsTclFail(interp,
                     "expected integer in range [%lld, %lld], for '%s', but "
                     "got %lld",
                     (long long) min, (long long) max, name, (long long) value);
}
