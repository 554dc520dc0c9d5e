/* SPDX-License-Identifier: MPL-2.0
 * crypto_cmd.c --
 *
 *      Digests and message authentication codes: ns_crypto::md,
 *      ns_crypto::hmac, ns_md, ns_hmac, ns_sha2, ns_hmac_sha2.
 */

#include "base/assert.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/cryptocontext.h"
#include "tcl/cryptosign.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>

#include <fcntl.h>

#define HMAC_OF_MESSAGE 2 /* For String: its word is called so. */

static Tcl_ObjCmdProc MdString, MdNew, Add, Get, Free, MdHkdf, MdVapidSign,
    HmacNew, String, DigestFile, Sha2Cmd, HmacSha2Cmd;

static int Digest(Tcl_Interp *interp, NsCryptoKind kind,
                  const NsCryptoWords *wordsPtr);
static int DeriveHkdf(Tcl_Interp *interp, const NsCryptoWords *wordsPtr,
                      const EVP_MD *mdPtr, unsigned char *key);
static int AddFile(Tcl_Interp *interp, const char *file,
                   const NsCryptoContext *contextPtr);
static int Sha2(Tcl_Interp *interp, NsCryptoKind kind, int objc,
                Tcl_Obj *const *objv);

static const NsTclCommand mdSubcmds[] = {
    {"add", Add, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_MD)},
    {"free", Free, 1, 1, "ctx", NS_TCL_DATA(NS_CRYPTO_MD)},
    {"get", Get, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_MD)},
    {"hkdf", MdHkdf, 0, NS_TCL_ANY, NULL, 0},
    {"new", MdNew, 0, 1, "?digest?", 0},
    {"string", MdString, 0, NS_TCL_ANY, NULL, 0},
    {"vapidsign", MdVapidSign, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclCommand hmacSubcmds[] = {
    {"add", Add, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_HMAC)},
    {"free", Free, 1, 1, "ctx", NS_TCL_DATA(NS_CRYPTO_HMAC)},
    {"get", Get, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_HMAC)},
    {"new", HmacNew, 0, NS_TCL_ANY, NULL, 0},
    {"string", String, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(HMAC_OF_MESSAGE)},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclCommand nsMdSubcmds[] = {
    {"file", DigestFile, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_MD)},
    {"string", String, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_MD)},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclCommand nsHmacSubcmds[] = {
    {"file", DigestFile, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_HMAC)},
    {"string", String, 0, NS_TCL_ANY, NULL, NS_TCL_DATA(NS_CRYPTO_HMAC)},
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
 * ns_crypto::md string ?-binary? ?-digest d? ?-encoding e? ?-passphrase p?
 *     ?-sign pem? ?-signature s? ?-verify pem? ?--? message
 */
static int
MdString(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.form = NS_BYTES_HEX};

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-binary -digest -encoding -passphrase -sign -signature"
                      " -verify --",
                      "message")
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (words.signObj != NULL && words.verifyObj != NULL) {
        return NsTclFail(interp, "-sign and -verify exclude each other");
    }
    if (words.verifyObj == NULL && words.signatureObj != NULL) {
        return NsCryptoNeed(interp, "-verify", NULL);
    }
    if (words.signObj != NULL) {
        return NsCryptoSign(interp, &words, words.signObj, false);
    }
    return words.verifyObj != NULL ? NsCryptoVerify(interp, &words)
                                   : Digest(interp, NS_CRYPTO_MD, &words);
}

static int
Digest(Tcl_Interp *interp, NsCryptoKind kind, const NsCryptoWords *wordsPtr)
{
    NsCryptoContext context;
    NsBytes         message;
    int             result;

    if (NsCryptoContextInit(interp, &context, kind, wordsPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&message, wordsPtr->messageObj, wordsPtr->isBinary);
    NsCryptoUpdate(&context, message.bytes, message.length);
    NsBytesFree(&message);
    result = NsCryptoReturnDigest(interp, &context, wordsPtr->form);
    NsCryptoContextFree(&context);
    return result;
}

/*
 * ns_crypto::md vapidsign ?-binary? ?-digest d? ?-encoding e? ?-passphrase p?
 *     -pem pem ?--? message
 */
static int
MdVapidSign(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.form = NS_BYTES_HEX};

    return NsCryptoParse(&words, interp, 2, objc, objv,
                         "-binary -digest -encoding -passphrase -pem! --",
                         "message")
            == TCL_OK
        ? NsCryptoSign(interp, &words, words.pemObj, true)
        : TCL_ERROR;
}

/*
 * ns_crypto::md hkdf ?-binary? ?-digest d? ?-encoding e? -info s -salt s
 *     -secret s ?--? length
 *
 * RFC 5869.
 */
static int
MdHkdf(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsCryptoWords  words = {.form = NS_BYTES_HEX};
    EVP_MD        *mdPtr;
    unsigned char *key;
    int            result;

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-binary -digest -encoding -info -salt -secret --",
                      "length")
            != TCL_OK
        || NsCryptoCheckRange(interp, "length", words.length, 1,
                              NS_CRYPTO_MAX_BYTES)
            != TCL_OK
        || (mdPtr = NsCryptoDigest(interp, words.digestObj)) == NULL) {
        return TCL_ERROR;
    }
    key = ns_malloc((size_t) words.length);
    result = DeriveHkdf(interp, &words, mdPtr, key);
    OPENSSL_cleanse(key, (size_t) words.length);
    ns_free(key);
    EVP_MD_free(mdPtr);
    return result;
}

/*
 * Return the key.
 */
static int
DeriveHkdf(Tcl_Interp *interp, const NsCryptoWords *wordsPtr,
           const EVP_MD *mdPtr, unsigned char *key)
{
    EVP_KDF     *kdfPtr = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *contextPtr = kdfPtr != NULL ? EVP_KDF_CTX_new(kdfPtr) : NULL;
    size_t       length = (size_t) wordsPtr->length;
    NsBytes      salt, secret, info;
    OSSL_PARAM   params[5];
    bool         isDone;

    NsBytesInit(&salt, wordsPtr->saltObj, wordsPtr->isBinary);
    NsBytesInit(&secret, wordsPtr->secretObj, wordsPtr->isBinary);
    NsBytesInit(&info, wordsPtr->infoObj, wordsPtr->isBinary);
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
    isDone = contextPtr != NULL
        && EVP_KDF_derive(contextPtr, key, length, params) == 1;
    EVP_KDF_CTX_free(contextPtr);
    EVP_KDF_free(kdfPtr);
    NsBytesFree(&salt);
    NsBytesFree(&secret);
    NsBytesFree(&info);
    return isDone ? NsTclReturn(interp, NsBytesObj(key, length, wordsPtr->form))
                  : NsCryptoFail(interp, "could not derive key");
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
    NsCryptoWords   words = {.digestObj = objc == 3 ? objv[2] : NULL};
    NsCryptoContext context;

    return NsCryptoContextInit(interp, &context, NS_CRYPTO_MD, &words) == TCL_OK
        ? NsCryptoContextReturn(clientData, NS_CRYPTO_MD, context)
        : TCL_ERROR;
}

/*
 * ns_crypto::hmac new ?-binary? ?--? digest key
 */
static int
HmacNew(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsCryptoWords   words = {.isBinary = 0};
    NsCryptoContext context;

    return NsCryptoParse(&words, interp, 2, objc, objv, "-binary --",
                         "digest key")
                == TCL_OK
            && NsCryptoContextInit(interp, &context, NS_CRYPTO_HMAC, &words)
                == TCL_OK
        ? NsCryptoContextReturn(clientData, NS_CRYPTO_HMAC, context)
        : TCL_ERROR;
}

/*
 * ns_crypto::md|hmac add ?-binary? ?--? ctx message
 */
static int
Add(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsCryptoKind         kind = (NsCryptoKind) NsTclData(clientData);
    NsCryptoWords        words = {.isBinary = 0};
    const Tcl_HashEntry *entryPtr;
    NsBytes              message;

    if (NsCryptoParse(&words, interp, 2, objc, objv, "-binary --",
                      "ctx message")
            != TCL_OK
        || (entryPtr = NsCryptoContextFind(clientData, kind, words.contextObj))
            == NULL) {
        return TCL_ERROR;
    }
    NsBytesInit(&message, words.messageObj, words.isBinary);
    NsCryptoUpdate(Tcl_GetHashValue(entryPtr), message.bytes, message.length);
    NsBytesFree(&message);
    return TCL_OK;
}

/*
 * ns_crypto::md|hmac get ?-encoding e? ctx
 */
static int
Get(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsCryptoKind         kind = (NsCryptoKind) NsTclData(clientData);
    NsCryptoWords        words = {.form = NS_BYTES_HEX};
    const Tcl_HashEntry *entryPtr;

    if (NsCryptoParse(&words, interp, 2, objc, objv, "-encoding", "ctx")
            != TCL_OK
        || (entryPtr = NsCryptoContextFind(clientData, kind, words.contextObj))
            == NULL) {
        return TCL_ERROR;
    }
    return NsCryptoReturnDigest(interp, Tcl_GetHashValue(entryPtr), words.form);
}

/*
 * ns_crypto::md|hmac free ctx
 */
static int
Free(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_HashEntry *entryPtr =
        NsCryptoContextFind(clientData, (NsCryptoKind) NsTclData(clientData),
                            objv[2]);

    if (entryPtr == NULL) {
        return TCL_ERROR;
    }
    NsCryptoContextFree(Tcl_GetHashValue(entryPtr));
    ns_free(Tcl_GetHashValue(entryPtr));
    Tcl_DeleteHashEntry(entryPtr);
    return TCL_OK;
}

/*
 * -------------------------------------------------------- Texts and files
 */

/*
 * ns_md string ?-binary? ?-digest d? ?-encoding e? ?--? string
 * ns_hmac string ?-binary? ?-digest d? ?-encoding e? ?--? key string
 * ns_crypto::hmac string ?-binary? ?-digest d? ?-encoding e? ?--? key message
 */
static int
String(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    static const char *const args[] = {"string", "key string", "key message"};
    int                      data = NsTclData(clientData);
    NsCryptoWords            words = {.form = NS_BYTES_HEX};

    return NsCryptoParse(&words, interp, 2, objc, objv,
                         "-binary -digest -encoding --", args[data])
            == TCL_OK
        ? Digest(interp, data == NS_CRYPTO_MD ? NS_CRYPTO_MD : NS_CRYPTO_HMAC,
                 &words)
        : TCL_ERROR;
}

/*
 * ns_md file ?-binary? ?-digest d? ?-encoding e? ?--? file
 * ns_hmac file ?-binary? ?-digest d? ?-encoding e? ?--? key file
 */
static int
DigestFile(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsCryptoKind    kind = (NsCryptoKind) NsTclData(clientData);
    NsCryptoWords   words = {.form = NS_BYTES_HEX};
    NsCryptoContext context;
    int             result;

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-binary -digest -encoding --",
                      kind == NS_CRYPTO_HMAC ? "key file" : "file")
            != TCL_OK
        || NsCryptoContextInit(interp, &context, kind, &words) != TCL_OK) {
        return TCL_ERROR;
    }
    result = AddFile(interp, Tcl_GetString(words.messageObj), &context);
    if (result == TCL_OK) {
        result = NsCryptoReturnDigest(interp, &context, words.form);
    }
    NsCryptoContextFree(&context);
    return result;
}

static int
AddFile(Tcl_Interp *interp, const char *file, const NsCryptoContext *contextPtr)
{
    int     fd = open(file, O_RDONLY | O_CLOEXEC);
    char    buffer[16384];
    ssize_t n = -1;

    while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0) {
        NsCryptoUpdate(contextPtr, buffer, (size_t) n);
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
    return Sha2(interp, NS_CRYPTO_MD, objc, objv);
}

/*
 * ns_hmac_sha2 ?-length n? ?--? key string
 */
static int
HmacSha2Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return Sha2(interp, NS_CRYPTO_HMAC, objc, objv);
}

static int
Sha2(Tcl_Interp *interp, NsCryptoKind kind, int objc, Tcl_Obj *const *objv)
{
    int           length = 256, result;
    NsCryptoWords words = {.form = NS_BYTES_HEX};
    Ns_ObjvSpec   opts[] = {
          {"-length", NsObjvWord, &length, (void *) sha2Lengths},
          {"--", Ns_ObjvBreak, NULL, NULL},
          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"key", Ns_ObjvObj, &words.keyObj, NULL},
                          {"string", Ns_ObjvObj, &words.messageObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, kind == NS_CRYPTO_HMAC ? args : args + 1, interp, 1,
                     objc, objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    words.digestObj = Tcl_ObjPrintf("sha%d", length);
    Tcl_IncrRefCount(words.digestObj);
    result = Digest(interp, kind, &words);
    Tcl_DecrRefCount(words.digestObj);
    return result;
}
