/* SPDX-License-Identifier: MPL-2.0
 * aead_cmd.c --
 *
 *      Authenticated encryption: ns_crypto::aead::encrypt,
 *      ns_crypto::aead::decrypt.
 *
 *      Nothing that was decrypted leaves this file before its tag was found to
 *      be right.
 */

#include "base/assert.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/cryptowords.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include <openssl/crypto.h>

#define TAG_BYTES 16

enum { DECRYPT, ENCRYPT };

/*
 * The words of a call, and what they mean.
 */
typedef struct Aead {
    NsCryptoWords   words;
    NsBytes         key, iv, aad, tag, input;
    EVP_CIPHER     *cipherPtr;
    EVP_CIPHER_CTX *contextPtr;
    unsigned char  *output;
    bool            isEncrypting;
} Aead;

static Tcl_ObjCmdProc RunString;

static int  Check(Tcl_Interp *interp, Aead *aeadPtr);
static bool IsAead(const EVP_CIPHER *cipherPtr);
static int  Start(Tcl_Interp *interp, const Aead *aeadPtr);
static bool Transform(const Aead *aeadPtr, int *lengthPtr);
static int ReturnEncrypted(Tcl_Interp *interp, const Aead *aeadPtr, int length);

static const NsTclCommand encryptSubcmds[] = {
    {"string", RunString, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(ENCRYPT)},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclCommand decryptSubcmds[] = {
    {"string", RunString, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(DECRYPT)},
    NS_TCL_END,
    NS_TCL_END};

#define ENSEMBLE(name, rows)                                               \
    {                                                                      \
        (name), "subcommand ?arg ...?", "subcommand", NS_TCL_BASIC, (rows) \
    }

static const NsTclEnsemble encrypt = ENSEMBLE("ns_crypto::aead::encrypt",
                                              encryptSubcmds);
static const NsTclEnsemble decrypt = ENSEMBLE("ns_crypto::aead::decrypt",
                                              decryptSubcmds);

void
NsAeadCmdInit(void)
{
    NsTclAddEnsemble(&encrypt);
    NsTclAddEnsemble(&decrypt);
}

/*
 * ns_crypto::aead::encrypt string ?-aad s? ?-binary? ?-cipher c? ?-encoding e?
 *     ?-iv s? -key s ?--? input
 * ns_crypto::aead::decrypt string ?-aad s? ?-binary? ?-cipher c? ?-encoding e?
 *     ?-iv s? -key s -tag s ?--? input
 */
static int
RunString(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Aead aead = {.isEncrypting = NsTclData(clientData) == ENCRYPT};
    int  result = TCL_ERROR, length = 0;

    if (NsCryptoParse(&aead.words, interp, 2, objc, objv,
                      aead.isEncrypting
                          ? "-aad -binary -cipher -encoding -iv -key! --"
                          : "-aad -binary -cipher -encoding -iv -key! -tag! --",
                      "input")
        != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&aead.key, aead.words.keyObj, aead.words.isBinary);
    NsBytesInit(&aead.iv, aead.words.ivObj, aead.words.isBinary);
    NsBytesInit(&aead.aad, aead.words.aadObj, aead.words.isBinary);
    NsBytesInit(&aead.tag, aead.words.tagObj, true);
    NsBytesInit(&aead.input, aead.words.inputObj, aead.words.isBinary);
    aead.contextPtr = EVP_CIPHER_CTX_new();
    NsAssert(aead.contextPtr != NULL);
    aead.output = ns_malloc(aead.input.length + EVP_MAX_BLOCK_LENGTH);

    if (Check(interp, &aead) == TCL_OK && Start(interp, &aead) == TCL_OK) {
        if (!Transform(&aead, &length)) {
            NsCryptoFail(interp,
                         aead.isEncrypting ? "could not encrypt"
                                           : "authentication failed");
        } else if (aead.isEncrypting) {
            result = ReturnEncrypted(interp, &aead, length);
        } else {
            result = NsTclReturn(interp,
                                 NsBytesObj(aead.output, (size_t) length,
                                            aead.words.form));
        }
    }

    OPENSSL_cleanse(aead.output, aead.input.length);
    ns_free(aead.output);
    EVP_CIPHER_CTX_free(aead.contextPtr);
    EVP_CIPHER_free(aead.cipherPtr);
    NsBytesFree(&aead.key);
    NsBytesFree(&aead.iv);
    NsBytesFree(&aead.aad);
    NsBytesFree(&aead.tag);
    NsBytesFree(&aead.input);
    return result;
}

/*
 * Find the cipher, and compare the lengths: the library would read beyond a
 * short key.
 */
static int
Check(Tcl_Interp *interp, Aead *aeadPtr)
{
    const char *name = aeadPtr->words.cipherObj != NULL
        ? Tcl_GetString(aeadPtr->words.cipherObj)
        : "aes-128-gcm";
    int         keyBytes;

    aeadPtr->cipherPtr = EVP_CIPHER_fetch(NULL, name, NULL);
    if (aeadPtr->cipherPtr == NULL) {
        return NsCryptoFail(interp, "Unknown cipher \"%s\"", name);
    }
    if (!IsAead(aeadPtr->cipherPtr)) {
        return NsCryptoFail(interp, "cipher \"%s\" does not authenticate",
                            name);
    }
    keyBytes = EVP_CIPHER_get_key_length(aeadPtr->cipherPtr);
    if (aeadPtr->key.length != (size_t) keyBytes) {
        return NsCryptoFail(interp, "key is invalid (length for %s: %d bytes)",
                            name, keyBytes);
    }
    return TCL_OK;
}

/*
 * The combinations with HMAC that serve TLS, and key wrapping, have the flag as
 * well.
 */
static bool
IsAead(const EVP_CIPHER *cipherPtr)
{
    switch (EVP_CIPHER_get_mode(cipherPtr)) {
    case EVP_CIPH_GCM_MODE:
    case EVP_CIPH_CCM_MODE:
    case EVP_CIPH_OCB_MODE:
        return true;
    default:
        return EVP_CIPHER_is_a(cipherPtr, "ChaCha20-Poly1305") != 0;
    }
}

/*
 * Give the context its key, initialization vector, tag, lengths.
 */
static int
Start(Tcl_Interp *interp, const Aead *aeadPtr)
{
    EVP_CIPHER_CTX *contextPtr = aeadPtr->contextPtr;
    bool isCcm = EVP_CIPHER_get_mode(aeadPtr->cipherPtr) == EVP_CIPH_CCM_MODE;
    int  direction = aeadPtr->isEncrypting, length;
    bool isDone = EVP_CipherInit_ex(contextPtr, aeadPtr->cipherPtr, NULL, NULL,
                                    NULL, direction);

    NsAssert(isDone);
    if (aeadPtr->iv.length == 0 || aeadPtr->iv.length > INT_MAX
        || EVP_CIPHER_CTX_ctrl(contextPtr, EVP_CTRL_AEAD_SET_IVLEN,
                               (int) aeadPtr->iv.length, NULL)
            <= 0) {
        return NsCryptoFail(interp,
                            "initialization vector is invalid (default length "
                            "for %s: %d bytes)",
                            aeadPtr->words.cipherObj != NULL
                                ? Tcl_GetString(aeadPtr->words.cipherObj)
                                : "aes-128-gcm",
                            EVP_CIPHER_get_iv_length(aeadPtr->cipherPtr));
    }
    /* A shorter tag could be guessed. */
    if (!aeadPtr->isEncrypting && aeadPtr->tag.length != TAG_BYTES) {
        return NsCryptoFail(interp, "authentication failed");
    }
    if (!aeadPtr->isEncrypting || isCcm) {
        isDone = EVP_CIPHER_CTX_ctrl(contextPtr, EVP_CTRL_AEAD_SET_TAG,
                                     TAG_BYTES,
                                     aeadPtr->isEncrypting
                                         ? NULL
                                         : (void *) aeadPtr->tag.bytes)
            > 0;
    }
    isDone = isDone
        && EVP_CipherInit_ex(contextPtr, NULL, NULL, aeadPtr->key.bytes,
                             aeadPtr->iv.bytes, direction)
        && (!isCcm
            || EVP_CipherUpdate(contextPtr, NULL, &length, NULL,
                                (int) aeadPtr->input.length))
        && (aeadPtr->aad.length == 0
            || EVP_CipherUpdate(contextPtr, NULL, &length, aeadPtr->aad.bytes,
                                (int) aeadPtr->aad.length));
    return isDone ? TCL_OK : NsCryptoFail(interp, "could not start the cipher");
}

/*
 * CCM has compared the tag when it gives the data, the others at the end.
 */
static bool
Transform(const Aead *aeadPtr, int *lengthPtr)
{
    int  length = 0, rest = 0;
    bool isDone = EVP_CipherUpdate(aeadPtr->contextPtr, aeadPtr->output,
                                   &length, aeadPtr->input.bytes,
                                   (int) aeadPtr->input.length)
        > 0;

    if (isDone
        && (aeadPtr->isEncrypting
            || EVP_CIPHER_get_mode(aeadPtr->cipherPtr) != EVP_CIPH_CCM_MODE)) {
        isDone = EVP_CipherFinal_ex(aeadPtr->contextPtr,
                                    aeadPtr->output + length, &rest)
            > 0;
    }
    *lengthPtr = length + rest;
    return isDone;
}

/*
 * The dict `bytes B tag T`.
 */
static int
ReturnEncrypted(Tcl_Interp *interp, const Aead *aeadPtr, int length)
{
    unsigned char tag[TAG_BYTES];
    Tcl_Obj      *elements[4];

    if (EVP_CIPHER_CTX_ctrl(aeadPtr->contextPtr, EVP_CTRL_AEAD_GET_TAG,
                            TAG_BYTES, tag)
        <= 0) {
        return NsCryptoFail(interp, "could not encrypt");
    }
    elements[0] = Tcl_NewStringObj("bytes", -1);
    elements[1] = NsBytesObj(aeadPtr->output, (size_t) length,
                             aeadPtr->words.form);
    elements[2] = Tcl_NewStringObj("tag", -1);
    elements[3] = NsBytesObj(tag, TAG_BYTES, aeadPtr->words.form);
    return NsTclReturn(interp, Tcl_NewListObj(4, elements));
}
