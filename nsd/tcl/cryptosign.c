/* SPDX-License-Identifier: MPL-2.0
 * cryptosign.c --
 *
 *      Signatures by keys from PEM.
 */

#include "tcl/cryptosign.h"

#include "base/assert.h"
#include "nsthread.h"
#include "tcl/result.h"

#include <openssl/ec.h>

#define MAX_NUMBER 72 /* Bytes of r or s on the largest curve. */

static const EVP_MD *DigestForKey(const EVP_PKEY *keyPtr, const EVP_MD *mdPtr);
static int           ReturnRaw(Tcl_Interp *interp, const EVP_PKEY *keyPtr,
                               const unsigned char *der, size_t length, int form);

int
NsCryptoSign(Tcl_Interp *interp, const NsCryptoWords *wordsPtr, Tcl_Obj *pemObj,
             bool isRaw)
{
    EVP_MD        *mdPtr = NsCryptoDigest(interp, wordsPtr->digestObj);
    EVP_PKEY      *keyPtr = NULL;
    EVP_MD_CTX    *contextPtr = NULL;
    unsigned char *signature = NULL;
    size_t         length = 0;
    NsBytes        message;
    int            result = TCL_ERROR;

    NsBytesInit(&message, wordsPtr->messageObj, wordsPtr->isBinary);
    if (mdPtr == NULL
        || (keyPtr = NsCryptoPrivateKey(interp, pemObj, wordsPtr->passphrase))
            == NULL) {
        goto done;
    }
    contextPtr = EVP_MD_CTX_new();
    NsAssert(contextPtr != NULL);
    if (!EVP_DigestSignInit(contextPtr, NULL, DigestForKey(keyPtr, mdPtr), NULL,
                            keyPtr)
        || !EVP_DigestSign(contextPtr, NULL, &length, message.bytes,
                           message.length)) {
        NsCryptoFail(interp, "could not sign with this key and digest");
        goto done;
    }
    signature = ns_malloc(length);
    if (!EVP_DigestSign(contextPtr, signature, &length, message.bytes,
                        message.length)) {
        NsCryptoFail(interp, "could not sign with this key and digest");
    } else if (isRaw) {
        result = ReturnRaw(interp, keyPtr, signature, length, wordsPtr->form);
    } else {
        result = NsTclReturn(interp,
                             NsBytesObj(signature, length, wordsPtr->form));
    }

done:
    ns_free(signature);
    EVP_MD_CTX_free(contextPtr);
    EVP_PKEY_free(keyPtr);
    EVP_MD_free(mdPtr);
    NsBytesFree(&message);
    return result;
}

/*
 * Some types of keys have a built-in digest.
 */
static const EVP_MD *
DigestForKey(const EVP_PKEY *keyPtr, const EVP_MD *mdPtr)
{
    return EVP_PKEY_is_a(keyPtr, "ED25519") || EVP_PKEY_is_a(keyPtr, "ED448")
        ? NULL
        : mdPtr;
}

/*
 * RFC 7518, section 3.4.
 */
static int
ReturnRaw(Tcl_Interp *interp, const EVP_PKEY *keyPtr, const unsigned char *der,
          size_t length, int form)
{
    ECDSA_SIG    *pairPtr = EVP_PKEY_is_a(keyPtr, "EC")
           ? d2i_ECDSA_SIG(NULL, &der, (long) length)
           : NULL;
    unsigned char raw[2 * MAX_NUMBER];
    int           n = (EVP_PKEY_get_bits(keyPtr) + 7) / 8;

    if (pairPtr == NULL || (size_t) (2 * n) > sizeof(raw)) {
        ECDSA_SIG_free(pairPtr);
        return NsCryptoFail(interp, "the key of -pem is not an EC key");
    }
    BN_bn2binpad(ECDSA_SIG_get0_r(pairPtr), raw, n);
    BN_bn2binpad(ECDSA_SIG_get0_s(pairPtr), raw + n, n);
    ECDSA_SIG_free(pairPtr);
    return NsTclReturn(interp, NsBytesObj(raw, (size_t) (2 * n), form));
}

int
NsCryptoVerify(Tcl_Interp *interp, const NsCryptoWords *wordsPtr)
{
    EVP_MD     *mdPtr = NsCryptoDigest(interp, wordsPtr->digestObj);
    EVP_PKEY   *keyPtr = NULL;
    EVP_MD_CTX *contextPtr;
    NsBytes     message, signature;
    int         isGood = 0;

    if (mdPtr == NULL
        || NsCryptoNeed(interp, "-signature", wordsPtr->signatureObj) != TCL_OK
        || (keyPtr = NsCryptoPublicKey(interp, wordsPtr->verifyObj,
                                       wordsPtr->passphrase))
            == NULL) {
        EVP_MD_free(mdPtr);
        return TCL_ERROR;
    }
    NsBytesInit(&message, wordsPtr->messageObj, wordsPtr->isBinary);
    NsBytesInit(&signature, wordsPtr->signatureObj, true);
    contextPtr = EVP_MD_CTX_new();
    NsAssert(contextPtr != NULL);
    if (EVP_DigestVerifyInit(contextPtr, NULL, DigestForKey(keyPtr, mdPtr),
                             NULL, keyPtr)) {
        isGood = EVP_DigestVerify(contextPtr, signature.bytes, signature.length,
                                  message.bytes, message.length)
            == 1;
    }
    NsCryptoForget();
    EVP_MD_CTX_free(contextPtr);
    EVP_PKEY_free(keyPtr);
    EVP_MD_free(mdPtr);
    NsBytesFree(&message);
    NsBytesFree(&signature);
    return NsTclReturn(interp, Tcl_NewBooleanObj(isGood));
}
