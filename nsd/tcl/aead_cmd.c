/*
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
#include "tcl/cryptokey.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include <openssl/crypto.h>

#define TAG_BYTES 16

/*
 * The words of a call, and what they mean.
 */
typedef struct Aead {
    int             isBinary;
    int             form; /* NsBytesForm. */
    Tcl_Obj        *cipherObj;
    Tcl_Obj        *keyObj, *ivObj, *aadObj, *tagObj, *inputObj;
    NsBytes         key, iv, aad, tag, input;
    EVP_CIPHER     *cipherPtr;
    EVP_CIPHER_CTX *contextPtr;
    unsigned char  *output;
    bool            isEncrypting;
} Aead;

static Tcl_ObjCmdProc EncryptString, DecryptString;

static int  Run(Tcl_Interp *interp, Aead *aeadPtr);
static int  Check(Tcl_Interp *interp, Aead *aeadPtr);
static bool IsAead(const EVP_CIPHER *cipherPtr);
static int  Start(Tcl_Interp *interp, const Aead *aeadPtr);
static bool Transform(const Aead *aeadPtr, int *lengthPtr);
static int ReturnEncrypted(Tcl_Interp *interp, const Aead *aeadPtr, int length);

static const NsTclCommand encryptSubcmds[] = {
    {"string", EncryptString, 0, NS_TCL_ANY, NULL, 0}, NS_TCL_END, NS_TCL_END};
static const NsTclCommand decryptSubcmds[] = {
    {"string", DecryptString, 0, NS_TCL_ANY, NULL, 0}, NS_TCL_END, NS_TCL_END};

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
 *     -iv s -key s ?--? input
 */
static int
EncryptString(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Aead        aead = {.isEncrypting = true};
    Ns_ObjvSpec opts[] = {
        {"-aad", Ns_ObjvObj, &aead.aadObj, NULL},
        NS_OBJV_BINARY(&aead.isBinary),
        {"-cipher", Ns_ObjvObj, &aead.cipherObj, NULL},
        NS_OBJV_ENCODING(&aead.form),
        {"-iv", Ns_ObjvObj, &aead.ivObj, NULL},
        {"-key", Ns_ObjvObj, &aead.keyObj, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"input", Ns_ObjvObj, &aead.inputObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    return Ns_ParseObjv(opts, args, interp, 2, objc, objv) == NS_OK
        ? Run(interp, &aead)
        : TCL_ERROR;
}

/*
 * ns_crypto::aead::decrypt string ?-aad s? ?-binary? ?-cipher c? ?-encoding e?
 *     -iv s -key s -tag s ?--? input
 */
static int
DecryptString(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Aead        aead = {.isEncrypting = false};
    Ns_ObjvSpec opts[] = {
        {"-aad", Ns_ObjvObj, &aead.aadObj, NULL},
        NS_OBJV_BINARY(&aead.isBinary),
        {"-cipher", Ns_ObjvObj, &aead.cipherObj, NULL},
        NS_OBJV_ENCODING(&aead.form),
        {"-iv", Ns_ObjvObj, &aead.ivObj, NULL},
        {"-key", Ns_ObjvObj, &aead.keyObj, NULL},
        {"-tag", Ns_ObjvObj, &aead.tagObj, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"input", Ns_ObjvObj, &aead.inputObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK
        || NsCryptoNeed(interp, "-tag", aead.tagObj) != TCL_OK) {
        return TCL_ERROR;
    }
    return Run(interp, &aead);
}

static int
Run(Tcl_Interp *interp, Aead *aeadPtr)
{
    int result = TCL_ERROR, length = 0;

    if (NsCryptoNeed(interp, "-key", aeadPtr->keyObj) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&aeadPtr->key, aeadPtr->keyObj, aeadPtr->isBinary);
    NsBytesInit(&aeadPtr->iv, aeadPtr->ivObj, aeadPtr->isBinary);
    NsBytesInit(&aeadPtr->aad, aeadPtr->aadObj, aeadPtr->isBinary);
    NsBytesInit(&aeadPtr->tag, aeadPtr->tagObj, true);
    NsBytesInit(&aeadPtr->input, aeadPtr->inputObj, aeadPtr->isBinary);
    aeadPtr->contextPtr = EVP_CIPHER_CTX_new();
    NsAssert(aeadPtr->contextPtr != NULL);
    aeadPtr->output = ns_malloc(aeadPtr->input.length + EVP_MAX_BLOCK_LENGTH);

    if (Check(interp, aeadPtr) == TCL_OK && Start(interp, aeadPtr) == TCL_OK) {
        if (!Transform(aeadPtr, &length)) {
            NsCryptoFail(interp,
                         aeadPtr->isEncrypting ? "could not encrypt"
                                               : "authentication failed");
        } else if (aeadPtr->isEncrypting) {
            result = ReturnEncrypted(interp, aeadPtr, length);
        } else {
            result = NsTclReturn(interp,
                                 NsBytesObj(aeadPtr->output, (size_t) length,
                                            aeadPtr->form));
        }
    }

    OPENSSL_cleanse(aeadPtr->output, aeadPtr->input.length);
    ns_free(aeadPtr->output);
    EVP_CIPHER_CTX_free(aeadPtr->contextPtr);
    EVP_CIPHER_free(aeadPtr->cipherPtr);
    NsBytesFree(&aeadPtr->key);
    NsBytesFree(&aeadPtr->iv);
    NsBytesFree(&aeadPtr->aad);
    NsBytesFree(&aeadPtr->tag);
    NsBytesFree(&aeadPtr->input);
    return result;
}

/*
 * Find the cipher, and compare the lengths: the library would read beyond a
 * short key.
 */
static int
Check(Tcl_Interp *interp, Aead *aeadPtr)
{
    const char *name = aeadPtr->cipherObj != NULL
        ? Tcl_GetString(aeadPtr->cipherObj)
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
                            aeadPtr->cipherObj != NULL
                                ? Tcl_GetString(aeadPtr->cipherObj)
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
    elements[1] = NsBytesObj(aeadPtr->output, (size_t) length, aeadPtr->form);
    elements[2] = Tcl_NewStringObj("tag", -1);
    elements[3] = NsBytesObj(tag, TAG_BYTES, aeadPtr->form);
    return NsTclReturn(interp, Tcl_NewListObj(4, elements));
}
