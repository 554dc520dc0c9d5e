/*
 * crypto_cmd.c --
 *
 *      Digests and message authentication codes: ns_crypto::md,
 *      ns_crypto::hmac, ns_md, ns_hmac, ns_sha2, ns_hmac_sha2.
 */

#include "base/assert.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/cryptokey.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/kdf.h>

#include <fcntl.h>

#define ASSOC_KEY  "nsd:crypto"
#define MAX_NUMBER 72 /* Bytes of r or s on the largest curve. */

/*
 * A digest that a script computes piece by piece.
 */
typedef struct Context {
    EVP_MD_CTX  *mdPtr;  /* One of the two */
    EVP_MAC_CTX *macPtr; /* is NULL. */
} Context;

/*
 * The contexts of an interpreter.
 */
typedef struct Contexts {
    Tcl_HashTable byName;
    int           nMade;
} Contexts;

typedef enum { KIND_MD, KIND_HMAC } Kind;

static const char *const kindNames[] = {"md", "hmac"};

/*
 * Arguments that the commands have in common.
 */
typedef struct Words {
    int      isBinary;
    int      form; /* NsBytesForm. */
    Tcl_Obj *digestObj;
    Tcl_Obj *keyObj;
    Tcl_Obj *messageObj;
    char    *passphrase;
    Tcl_Obj *signObj, *verifyObj, *signatureObj;
} Words;

static Tcl_ObjCmdProc MdString, MdNew, Add, Get, Free, MdHkdf, MdVapidSign,
    HmacString, HmacNew, DigestText, DigestFile, Sha2Cmd, HmacSha2Cmd;

static int Digest(Tcl_Interp *interp, const Words *wordsPtr);
static int Sign(Tcl_Interp *interp, const Words *wordsPtr, bool isRaw);
static int Verify(Tcl_Interp *interp, const Words *wordsPtr);
static const EVP_MD *DigestForKey(const EVP_PKEY *keyPtr, const EVP_MD *mdPtr);
static int           ReturnRaw(Tcl_Interp *interp, const EVP_PKEY *keyPtr,
                               const unsigned char *der, size_t length, int form);
static int           Hmac(Tcl_Interp *interp, const Words *wordsPtr);
static int           AddFile(Tcl_Interp *interp, const char *file,
                             const Context *contextPtr);
static EVP_MD_CTX   *NewMd(Tcl_Interp *interp, Tcl_Obj *digestObj);
static int           Sha2(Tcl_Interp *interp, bool isHmac, int objc,
                          Tcl_Obj *const *objv);
static EVP_MAC_CTX  *NewMac(Tcl_Interp *interp, const Words *wordsPtr);
static int           ReturnContext(NsInterp *itPtr, Kind kind, Context context);
static Contexts     *ContextsOf(NsInterp *itPtr);
static Tcl_HashEntry *FindContext(NsInterp *itPtr, Kind kind, Tcl_Obj *nameObj);
static void           FreeContexts(ClientData clientData, Tcl_Interp *interp);
static void           FreeContext(Context *contextPtr);
static void Update(const Context *contextPtr, const void *bytes, size_t length);
static int  ReturnDigest(Tcl_Interp *interp, const Context *contextPtr,
                         int form);

static const NsTclCommand mdSubcmds[] = {
    {"add", Add, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_MD)},
    {"free", Free, 1, 1, "ctx", NS_TCL_DATA(KIND_MD)},
    {"get", Get, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_MD)},
    {"hkdf", MdHkdf, 0, NS_TCL_ANY, NULL, 0},
    {"new", MdNew, 0, 1, "?digest?", 0},
    {"string", MdString, 0, NS_TCL_ANY, NULL, 0},
    {"vapidsign", MdVapidSign, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclCommand hmacSubcmds[] = {
    {"add", Add, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_HMAC)},
    {"free", Free, 1, 1, "ctx", NS_TCL_DATA(KIND_HMAC)},
    {"get", Get, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_HMAC)},
    {"new", HmacNew, 0, NS_TCL_ANY, NULL, 0},
    {"string", HmacString, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclCommand nsMdSubcmds[] = {
    {"file", DigestFile, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_MD)},
    {"string", DigestText, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_MD)},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclCommand nsHmacSubcmds[] = {
    {"file", DigestFile, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_HMAC)},
    {"string", DigestText, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(KIND_HMAC)},
    NS_TCL_END,
    NS_TCL_END};

#define ENSEMBLE(name, rows)                                               \
    {                                                                      \
        (name), "subcommand ?arg ...?", "subcommand", NS_TCL_BASIC, (rows) \
    }

static const NsTclEnsemble ensembles[] = {
    ENSEMBLE("ns_crypto::md", mdSubcmds),
    ENSEMBLE("ns_crypto::hmac", hmacSubcmds), ENSEMBLE("ns_md", nsMdSubcmds),
    ENSEMBLE("ns_hmac", nsHmacSubcmds)};

static const Ns_ObjvTable sha2Lengths[] = {
    {"224", 224}, {"256", 256}, {"384", 384}, {"512", 512}, {NULL, 0}};

static const NsTclCommand commands[] = {
    {"ns_sha2", Sha2Cmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_hmac_sha2", HmacSha2Cmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    NS_TCL_END};

void
NsCryptoCmdInit(void)
{
    for (size_t i = 0; i < Ns_NrElements(ensembles); i++) {
        NsTclAddEnsemble(&ensembles[i]);
    }
    NsTclAddCommands(commands);
}

/*
 * ---------------------------------------------------------------- Digests
 */

/*
 * ns_crypto::md string ?-binary? ?-digest d? ?-encoding e? ?-passphrase p?
 *     ?-sign pem? ?-verify pem? ?-signature s? ?--? message
 */
static int
MdString(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Words       words = {.form = NS_BYTES_HEX};
    Ns_ObjvSpec opts[] = {
        NS_OBJV_BINARY(&words.isBinary),
        {"-digest", Ns_ObjvObj, &words.digestObj, NULL},
        NS_OBJV_ENCODING(&words.form),
        {"-passphrase", Ns_ObjvString, &words.passphrase, NULL},
        {"-sign", Ns_ObjvObj, &words.signObj, NULL},
        {"-signature", Ns_ObjvObj, &words.signatureObj, NULL},
        {"-verify", Ns_ObjvObj, &words.verifyObj, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"message", Ns_ObjvObj, &words.messageObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (words.signObj != NULL && words.verifyObj != NULL) {
        return NsTclFail(interp, "-sign and -verify exclude each other");
    }
    if (words.verifyObj == NULL && words.signatureObj != NULL) {
        return NsCryptoNeed(interp, "-verify", NULL);
    }
    if (words.signObj != NULL) {
        return Sign(interp, &words, false);
    }
    return words.verifyObj != NULL ? Verify(interp, &words)
                                   : Digest(interp, &words);
}

static int
Digest(Tcl_Interp *interp, const Words *wordsPtr)
{
    EVP_MD       *mdPtr = NsCryptoDigest(interp, wordsPtr->digestObj);
    NsBytes       message;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned      length = 0;
    int           isDone;

    if (mdPtr == NULL) {
        return TCL_ERROR;
    }
    NsBytesInit(&message, wordsPtr->messageObj, wordsPtr->isBinary);
    isDone = EVP_Digest(message.bytes, message.length, digest, &length, mdPtr,
                        NULL);
    NsBytesFree(&message);
    EVP_MD_free(mdPtr);
    return isDone
        ? NsTclReturn(interp, NsBytesObj(digest, length, wordsPtr->form))
        : NsCryptoFail(interp, "could not compute digest");
}

/*
 * Sign the message with the key of -sign. isRaw: return the two numbers of an
 * ECDSA signature side by side, as JWS requires.
 */
static int
Sign(Tcl_Interp *interp, const Words *wordsPtr, bool isRaw)
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
        || (keyPtr = NsCryptoPrivateKey(interp, wordsPtr->signObj,
                                        wordsPtr->passphrase))
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

/*
 * Returns 1 or 0; a malformed signature counts as wrong.
 */
static int
Verify(Tcl_Interp *interp, const Words *wordsPtr)
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

/*
 * ns_crypto::md vapidsign ?-binary? ?-digest d? ?-encoding e? ?-passphrase p?
 *     -pem pem ?--? message
 */
static int
MdVapidSign(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Words       words = {.form = NS_BYTES_HEX};
    Ns_ObjvSpec opts[] = {
        NS_OBJV_BINARY(&words.isBinary),
        {"-digest", Ns_ObjvObj, &words.digestObj, NULL},
        NS_OBJV_ENCODING(&words.form),
        {"-passphrase", Ns_ObjvString, &words.passphrase, NULL},
        {"-pem", Ns_ObjvObj, &words.signObj, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"message", Ns_ObjvObj, &words.messageObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK
        || NsCryptoNeed(interp, "-pem", words.signObj) != TCL_OK) {
        return TCL_ERROR;
    }
    return Sign(interp, &words, true);
}

/*
 * ns_crypto::md hkdf ?-binary? ?-digest d? -salt s -secret s -info s
 *     ?-encoding e? ?--? length
 *
 * RFC 5869.
 */
static int
MdHkdf(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Words          words = {.form = NS_BYTES_HEX};
    Tcl_Obj       *saltObj = NULL, *infoObj = NULL;
    NsBytes        salt, secret, info;
    EVP_MD        *mdPtr;
    EVP_KDF       *kdfPtr;
    EVP_KDF_CTX   *contextPtr;
    unsigned char *key;
    int            length, isDone;
    Ns_ObjvSpec    opts[] = {
           NS_OBJV_BINARY(&words.isBinary),
           {"-digest", Ns_ObjvObj, &words.digestObj, NULL},
           NS_OBJV_ENCODING(&words.form),
           {"-info", Ns_ObjvObj, &infoObj, NULL},
           {"-salt", Ns_ObjvObj, &saltObj, NULL},
           {"-secret", Ns_ObjvObj, &words.keyObj, NULL},
           {"--", Ns_ObjvBreak, NULL, NULL},
           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"length", Ns_ObjvInt, &length, NULL},
                          {NULL, NULL, NULL, NULL}};
    OSSL_PARAM  params[5];

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK
        || NsCryptoCheckRange(interp, "length", length, 1, NS_CRYPTO_MAX_BYTES)
            != TCL_OK
        || (mdPtr = NsCryptoDigest(interp, words.digestObj)) == NULL) {
        return TCL_ERROR;
    }
    NsBytesInit(&salt, saltObj, words.isBinary);
    NsBytesInit(&secret, words.keyObj, words.isBinary);
    NsBytesInit(&info, infoObj, words.isBinary);
    params[0] =
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *) EVP_MD_get0_name(mdPtr), 0);
    params[1] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT,
                                                  (void *) salt.bytes,
                                                  salt.length);
    params[2] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
                                                  (void *) secret.bytes,
                                                  secret.length);
    params[3] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO,
                                                  (void *) info.bytes,
                                                  info.length);
    params[4] = OSSL_PARAM_construct_end();
    key = ns_malloc((size_t) length);
    kdfPtr = EVP_KDF_fetch(NULL, "HKDF", NULL);
    contextPtr = kdfPtr != NULL ? EVP_KDF_CTX_new(kdfPtr) : NULL;
    isDone = contextPtr != NULL
        && EVP_KDF_derive(contextPtr, key, (size_t) length, params) == 1;
    if (isDone) {
        Tcl_SetObjResult(interp, NsBytesObj(key, (size_t) length, words.form));
    }
    OPENSSL_cleanse(key, (size_t) length);
    ns_free(key);
    EVP_KDF_CTX_free(contextPtr);
    EVP_KDF_free(kdfPtr);
    EVP_MD_free(mdPtr);
    NsBytesFree(&salt);
    NsBytesFree(&secret);
    NsBytesFree(&info);
    return isDone ? TCL_OK : NsCryptoFail(interp, "could not derive key");
}

/*
 * ------------------------------------------------------------------- HMAC
 */

/*
 * ns_crypto::hmac string ?-binary? ?-digest d? ?-encoding e? ?--? key message
 */
static int
HmacString(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Words       words = {.form = NS_BYTES_HEX};
    Ns_ObjvSpec opts[] = {NS_OBJV_BINARY(&words.isBinary),
                          {"-digest", Ns_ObjvObj, &words.digestObj, NULL},
                          NS_OBJV_ENCODING(&words.form),
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"key", Ns_ObjvObj, &words.keyObj, NULL},
                          {"message", Ns_ObjvObj, &words.messageObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    return Ns_ParseObjv(opts, args, interp, 2, objc, objv) == NS_OK
        ? Hmac(interp, &words)
        : TCL_ERROR;
}

static int
Hmac(Tcl_Interp *interp, const Words *wordsPtr)
{
    Context context = {.macPtr = NewMac(interp, wordsPtr)};
    NsBytes message;
    int     result;

    if (context.macPtr == NULL) {
        return TCL_ERROR;
    }
    NsBytesInit(&message, wordsPtr->messageObj, wordsPtr->isBinary);
    Update(&context, message.bytes, message.length);
    NsBytesFree(&message);
    result = ReturnDigest(interp, &context, wordsPtr->form);
    EVP_MAC_CTX_free(context.macPtr);
    return result;
}

/*
 * NULL: a message is in interp.  A digest of variable length cannot be used.
 */
static EVP_MAC_CTX *
NewMac(Tcl_Interp *interp, const Words *wordsPtr)
{
    EVP_MD      *mdPtr = NsCryptoDigest(interp, wordsPtr->digestObj);
    EVP_MAC     *macPtr;
    EVP_MAC_CTX *contextPtr;
    OSSL_PARAM   params[2];
    NsBytes      key;

    if (mdPtr == NULL) {
        return NULL;
    }
    macPtr = EVP_MAC_fetch(NULL, "HMAC", NULL);
    contextPtr = macPtr != NULL ? EVP_MAC_CTX_new(macPtr) : NULL;
    EVP_MAC_free(macPtr);
    params[0] =
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
                                         (char *) EVP_MD_get0_name(mdPtr), 0);
    params[1] = OSSL_PARAM_construct_end();
    NsBytesInit(&key, wordsPtr->keyObj, wordsPtr->isBinary);
    if (contextPtr != NULL
        && !EVP_MAC_init(contextPtr, key.bytes, key.length, params)) {
        EVP_MAC_CTX_free(contextPtr);
        contextPtr = NULL;
    }
    NsBytesFree(&key);
    EVP_MD_free(mdPtr);
    if (contextPtr == NULL) {
        NsCryptoFail(interp, "could not compute an hmac with this digest");
    }
    return contextPtr;
}

/*
 * ---------------------------------------------------------------- Contexts
 */

/*
 * ns_crypto::md new ?digest?
 */
static int
MdNew(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Context context = {.mdPtr = NewMd(interp, objc == 3 ? objv[2] : NULL)};

    if (context.mdPtr == NULL) {
        return TCL_ERROR;
    }
    return ReturnContext(clientData, KIND_MD, context);
}

/*
 * NULL: there is no such digest; a message is in interp.
 */
static EVP_MD_CTX *
NewMd(Tcl_Interp *interp, Tcl_Obj *digestObj)
{
    EVP_MD     *mdPtr = NsCryptoDigest(interp, digestObj);
    EVP_MD_CTX *contextPtr;
    int         isDone;

    if (mdPtr == NULL) {
        return NULL;
    }
    contextPtr = EVP_MD_CTX_new();
    isDone = contextPtr != NULL && EVP_DigestInit_ex(contextPtr, mdPtr, NULL);
    NsAssert(isDone);
    EVP_MD_free(mdPtr);
    return contextPtr;
}

/*
 * ns_crypto::hmac new ?-binary? ?--? digest key
 */
static int
HmacNew(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Words       words = {.isBinary = 0};
    Context     context = {.mdPtr = NULL};
    Ns_ObjvSpec opts[] = {NS_OBJV_BINARY(&words.isBinary),
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"digest", Ns_ObjvObj, &words.digestObj, NULL},
                          {"key", Ns_ObjvObj, &words.keyObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK
        || (context.macPtr = NewMac(interp, &words)) == NULL) {
        return TCL_ERROR;
    }
    return ReturnContext(clientData, KIND_HMAC, context);
}

/*
 * ns_crypto::md|hmac add ?-binary? ?--? ctx message
 */
static int
Add(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Kind                 kind = (Kind) NsTclData(clientData);
    int                  isBinary = 0;
    Tcl_Obj             *nameObj, *messageObj;
    const Tcl_HashEntry *entryPtr;
    NsBytes              message;
    Ns_ObjvSpec          opts[] = {NS_OBJV_BINARY(&isBinary),
                                   {"--", Ns_ObjvBreak, NULL, NULL},
                                   {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec          args[] = {{"ctx", Ns_ObjvObj, &nameObj, NULL},
                                   {"message", Ns_ObjvObj, &messageObj, NULL},
                                   {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK
        || (entryPtr = FindContext(clientData, kind, nameObj)) == NULL) {
        return TCL_ERROR;
    }
    NsBytesInit(&message, messageObj, isBinary);
    Update(Tcl_GetHashValue(entryPtr), message.bytes, message.length);
    NsBytesFree(&message);
    return TCL_OK;
}

/*
 * ns_crypto::md|hmac get ?-encoding e? ctx
 */
static int
Get(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Kind                 kind = (Kind) NsTclData(clientData);
    int                  form = NS_BYTES_HEX;
    Tcl_Obj             *nameObj;
    const Tcl_HashEntry *entryPtr;
    Ns_ObjvSpec opts[] = {NS_OBJV_ENCODING(&form), {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"ctx", Ns_ObjvObj, &nameObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK
        || (entryPtr = FindContext(clientData, kind, nameObj)) == NULL) {
        return TCL_ERROR;
    }
    return ReturnDigest(interp, Tcl_GetHashValue(entryPtr), form);
}

/*
 * ns_crypto::md|hmac free ctx
 */
static int
Free(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_HashEntry *entryPtr =
        FindContext(clientData, (Kind) NsTclData(clientData), objv[2]);

    if (entryPtr == NULL) {
        return TCL_ERROR;
    }
    FreeContext(Tcl_GetHashValue(entryPtr));
    Tcl_DeleteHashEntry(entryPtr);
    return TCL_OK;
}

/*
 * Use a name that no context of the interpreter had before, so that a stale
 * name never refers to another context.
 */
static int
ReturnContext(NsInterp *itPtr, Kind kind, Context context)
{
    Contexts      *contextsPtr = ContextsOf(itPtr);
    Context       *contextPtr = ns_malloc(sizeof(*contextPtr));
    Tcl_HashEntry *entryPtr;
    Ns_DString     name;
    int            isNew;

    *contextPtr = context;
    Ns_DStringInit(&name);
    Ns_DStringPrintf(&name, "%s%d", kindNames[kind], contextsPtr->nMade++);
    entryPtr = Tcl_CreateHashEntry(&contextsPtr->byName, Ns_DStringValue(&name),
                                   &isNew);
    NsAssert(isNew);
    Tcl_SetHashValue(entryPtr, contextPtr);
    return NsTclReturnText(itPtr->interp, &name);
}

static Contexts *
ContextsOf(NsInterp *itPtr)
{
    Contexts *contextsPtr = Tcl_GetAssocData(itPtr->interp, ASSOC_KEY, NULL);

    if (contextsPtr == NULL) {
        contextsPtr = ns_calloc(1, sizeof(*contextsPtr));
        Tcl_InitHashTable(&contextsPtr->byName, TCL_STRING_KEYS);
        Tcl_SetAssocData(itPtr->interp, ASSOC_KEY, FreeContexts, contextsPtr);
    }
    return contextsPtr;
}

static Tcl_HashEntry *
FindContext(NsInterp *itPtr, Kind kind, Tcl_Obj *nameObj)
{
    const char    *name = Tcl_GetString(nameObj);
    Tcl_HashEntry *entryPtr =
        strncmp(name, kindNames[kind], strlen(kindNames[kind])) == 0
        ? Tcl_FindHashEntry(&ContextsOf(itPtr)->byName, name)
        : NULL;

    if (entryPtr == NULL) {
        NsCryptoFail(itPtr->interp, "no such %s context: %s", kindNames[kind],
                     name);
    }
    return entryPtr;
}

static void
FreeContexts(ClientData clientData, Tcl_Interp *interp)
{
    Contexts      *contextsPtr = clientData;
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    for (entryPtr = Tcl_FirstHashEntry(&contextsPtr->byName, &search);
         entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        FreeContext(Tcl_GetHashValue(entryPtr));
    }
    Tcl_DeleteHashTable(&contextsPtr->byName);
    ns_free(contextsPtr);
}

static void
FreeContext(Context *contextPtr)
{
    EVP_MD_CTX_free(contextPtr->mdPtr);
    EVP_MAC_CTX_free(contextPtr->macPtr);
    ns_free(contextPtr);
}

static void
Update(const Context *contextPtr, const void *bytes, size_t length)
{
    int isDone = contextPtr->mdPtr != NULL
        ? EVP_DigestUpdate(contextPtr->mdPtr, bytes, length)
        : EVP_MAC_update(contextPtr->macPtr, bytes, length);

    NsAssert(isDone);
}

/*
 * Finish a copy, so that more can be added afterwards.
 */
static int
ReturnDigest(Tcl_Interp *interp, const Context *contextPtr, int form)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned      mdLength = 0;
    size_t        length = 0;
    int           isDone;

    if (contextPtr->mdPtr != NULL) {
        EVP_MD_CTX *copyPtr = EVP_MD_CTX_new();

        isDone = copyPtr != NULL && EVP_MD_CTX_copy(copyPtr, contextPtr->mdPtr)
            && EVP_DigestFinal_ex(copyPtr, digest, &mdLength);
        length = mdLength;
        EVP_MD_CTX_free(copyPtr);
    } else {
        EVP_MAC_CTX *copyPtr = EVP_MAC_CTX_dup(contextPtr->macPtr);

        isDone = copyPtr != NULL
            && EVP_MAC_final(copyPtr, digest, &length, sizeof(digest));
        EVP_MAC_CTX_free(copyPtr);
    }
    return isDone ? NsTclReturn(interp, NsBytesObj(digest, length, form))
                  : NsCryptoFail(interp, "could not compute digest");
}

/*
 * ----------------------------------------------------------- Shorter forms
 */

/*
 * ns_md string ?-binary? ?-digest d? ?-encoding e? ?--? string
 * ns_hmac string ?-binary? ?-digest d? ?-encoding e? ?--? key string
 */
static int
DigestText(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    bool        isHmac = NsTclData(clientData) == KIND_HMAC;
    Words       words = {.form = NS_BYTES_HEX};
    Ns_ObjvSpec opts[] = {NS_OBJV_BINARY(&words.isBinary),
                          {"-digest", Ns_ObjvObj, &words.digestObj, NULL},
                          NS_OBJV_ENCODING(&words.form),
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"key", Ns_ObjvObj, &words.keyObj, NULL},
                          {"string", Ns_ObjvObj, &words.messageObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, isHmac ? args : args + 1, interp, 2, objc, objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    return isHmac ? Hmac(interp, &words) : Digest(interp, &words);
}

/*
 * ns_md file ?-binary? ?-digest d? ?-encoding e? ?--? file
 * ns_hmac file ?-binary? ?-digest d? ?-encoding e? ?--? key file
 */
static int
DigestFile(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    bool        isHmac = NsTclData(clientData) == KIND_HMAC;
    Words       words = {.form = NS_BYTES_HEX};
    Context     context = {.mdPtr = NULL};
    int         result = TCL_ERROR;
    Ns_ObjvSpec opts[] = {NS_OBJV_BINARY(&words.isBinary),
                          {"-digest", Ns_ObjvObj, &words.digestObj, NULL},
                          NS_OBJV_ENCODING(&words.form),
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"key", Ns_ObjvObj, &words.keyObj, NULL},
                          {"file", Ns_ObjvObj, &words.messageObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, isHmac ? args : args + 1, interp, 2, objc, objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    if (isHmac) {
        context.macPtr = NewMac(interp, &words);
    } else {
        context.mdPtr = NewMd(interp, words.digestObj);
    }
    if ((context.mdPtr != NULL || context.macPtr != NULL)
        && AddFile(interp, Tcl_GetString(words.messageObj), &context)
            == TCL_OK) {
        result = ReturnDigest(interp, &context, words.form);
    }
    EVP_MD_CTX_free(context.mdPtr);
    EVP_MAC_CTX_free(context.macPtr);
    return result;
}

static int
AddFile(Tcl_Interp *interp, const char *file, const Context *contextPtr)
{
    int     fd = open(file, O_RDONLY | O_CLOEXEC);
    char    buffer[16384];
    ssize_t n = -1;

    while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0) {
        Update(contextPtr, buffer, (size_t) n);
    }
    if (n < 0) {
        Ns_TclPrintfResult(interp, "couldn't read file \"%s\": %s", file,
                           Tcl_PosixError(interp));
    }
    if (fd >= 0) {
        NsClose(fd);
    }
    return n == 0 ? TCL_OK : TCL_ERROR;
}

/*
 * ns_sha2 ?-length n? ?--? string
 */
static int
Sha2Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return Sha2(interp, false, objc, objv);
}

/*
 * ns_hmac_sha2 ?-length n? ?--? key string
 */
static int
HmacSha2Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return Sha2(interp, true, objc, objv);
}

static int
Sha2(Tcl_Interp *interp, bool isHmac, int objc, Tcl_Obj *const *objv)
{
    int         length = 256, result;
    Words       words = {.form = NS_BYTES_HEX};
    Ns_ObjvSpec opts[] = {
        {"-length", NsObjvWord, &length, (void *) sha2Lengths},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"key", Ns_ObjvObj, &words.keyObj, NULL},
                          {"string", Ns_ObjvObj, &words.messageObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, isHmac ? args : args + 1, interp, 1, objc, objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    words.digestObj = Tcl_ObjPrintf("sha%d", length);
    Tcl_IncrRefCount(words.digestObj);
    result = isHmac ? Hmac(interp, &words) : Digest(interp, &words);
    Tcl_DecrRefCount(words.digestObj);
    return result;
}
