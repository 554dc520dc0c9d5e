/* SPDX-License-Identifier: MPL-2.0
 * keyderive_cmd.c --
 *
 *      Random bytes, keys from passwords, one-time passwords:
 *      ns_crypto::randombytes, ns_crypto::uuid, ns_uuid,
 *      ns_crypto::pbkdf2_hmac, ns_crypto::scrypt, ns_crypto::argon2, ns_hotp,
 *      ns_totp.
 */

#include "base/assert.h"
#include "base/config.h"
#include "base/memory_free.h"
#include "base/random.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/cryptokey.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>

#ifdef HAVE_ARGON2
#include <argon2.h>
#endif

#define SCRYPT_BYTES 64

/*
 * What the derivations have in common.
 */
typedef struct Words {
    int      isBinary;
    int      form; /* NsBytesForm. */
    Tcl_Obj *saltObj, *secretObj;
} Words;

typedef enum { ARGON2_OF_D, ARGON2_OF_I, ARGON2_OF_ID } Argon2Variant;

typedef struct Argon2 {
    NsBytes ad, password, salt, secret;
    int     nIterations, nLanes, memoryKb;
    int     variant; /* Argon2Variant. */
} Argon2;

static Tcl_ObjCmdProc RandomBytes, Uuid, Pbkdf2, Scrypt, Argon2Cmd, Hotp, Totp;

static int  ReturnKey(Tcl_Interp *interp, bool isDone, unsigned char *key,
                      size_t length, int form);
static bool DeriveArgon2(const Argon2 *argon2Ptr, unsigned char *key,
                         size_t length);
static bool HasArgon2(void);
static int  ReturnOtp(Tcl_Interp *interp, Tcl_Obj *digestObj, int nDigits,
                      Tcl_Obj *keyObj, Tcl_WideInt counter);
static bool HasKdf(const char *name);

static const Ns_ObjvTable uuidVersions[] = {{"v4", 4}, {"v7", 7}, {NULL, 0}};
static const Ns_ObjvTable argon2Variants[] = {
    {"Argon2d", ARGON2_OF_D},
    {"Argon2i", ARGON2_OF_I},
    {"Argon2id", ARGON2_OF_ID},
    {NULL, 0}};

#define ANY_WORDS(name, proc)                             \
    {                                                     \
        (name), (proc), 0, NS_TCL_ANY, NULL, NS_TCL_BASIC \
    }

static const NsTclCommand commands[] = {
    ANY_WORDS("ns_crypto::randombytes", RandomBytes),
    ANY_WORDS("ns_crypto::uuid", Uuid),
    {"ns_uuid", Uuid, 0, 0, NULL, NS_TCL_BASIC},
    ANY_WORDS("ns_hotp", Hotp),
    ANY_WORDS("ns_totp", Totp),
    NS_TCL_END};

/*
 * What the library of this process may lack, or refuse by its policy.
 */
static const NsTclCommand pbkdf2Command[] = {
    ANY_WORDS("ns_crypto::pbkdf2_hmac", Pbkdf2), NS_TCL_END};
static const NsTclCommand scryptCommand[] = {
    ANY_WORDS("ns_crypto::scrypt", Scrypt), NS_TCL_END};
static const NsTclCommand argon2Command[] = {
    ANY_WORDS("ns_crypto::argon2", Argon2Cmd), NS_TCL_END};

/*
 * A script takes a command that exists for one that works, and keeps passwords
 * with it.
 */
void
NsKeyDeriveCmdInit(void)
{
    NsTclAddCommands(commands);
    if (HasKdf("PBKDF2")) {
        NsTclAddCommands(pbkdf2Command);
    }
    if (HasKdf("SCRYPT")) {
        NsTclAddCommands(scryptCommand);
    }
    if (HasArgon2()) {
        NsTclAddCommands(argon2Command);
    }
    NsCryptoForget();
}

static bool
HasKdf(const char *name)
{
    EVP_KDF *kdfPtr = EVP_KDF_fetch(NULL, name, NULL);

    EVP_KDF_free(kdfPtr);
    return kdfPtr != NULL;
}

/*
 * ----------------------------------------------------------- Random bytes
 */

/*
 * ns_crypto::randombytes ?-encoding e? n
 */
static int
RandomBytes(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    int            n, form = NS_BYTES_HEX;
    unsigned char *bytes;
    Ns_ObjvSpec    opts[] = {NS_OBJV_ENCODING(&form), {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec    args[] = {{"n", Ns_ObjvInt, &n, NULL},
                             {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK
        || NsCryptoCheckRange(interp, "n", n, 1, NS_CRYPTO_MAX_BYTES)
            != TCL_OK) {
        return TCL_ERROR;
    }
    bytes = ns_malloc((size_t) n);
    NsRandomBytes(bytes, (size_t) n);
    return ReturnKey(interp, true, bytes, (size_t) n, form);
}

/*
 * ns_crypto::uuid ?-version v4|v7?
 * ns_uuid
 *
 * RFC 9562.  Those of version 7 begin with the time in milliseconds.
 */
static int
Uuid(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    int           version = 4;
    unsigned char bytes[16];
    char          text[37], *to = text;
    Ns_ObjvSpec   opts[] = {
          {"-version", NsObjvWord, &version, (void *) uuidVersions},
          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    NsRandomBytes(bytes, sizeof(bytes));
    if (version == 7) {
        Ns_Time  now;
        uint64_t ms;

        Ns_GetTime(&now);
        ms = (uint64_t) now.sec * 1000 + (uint64_t) now.usec / 1000;
        for (int i = 0; i < 6; i++) {
            bytes[i] = (unsigned char) (ms >> (40 - 8 * i));
        }
    }
    bytes[6] = (unsigned char) ((bytes[6] & 0x0F) | (version << 4));
    bytes[8] = (unsigned char) ((bytes[8] & 0x3F) | 0x80);
    for (int i = 0; i < 16; i++) {
        to += snprintf(to, 4, "%s%02x",
                       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       bytes[i]);
    }
    return NsTclReturnString(interp, text);
}

/*
 * ----------------------------------------------------- Keys from passwords
 */

/*
 * ns_crypto::pbkdf2_hmac ?-binary? ?-digest d? ?-dklen n? ?-iterations n?
 *     -salt s -secret s ?-encoding e?
 */
static int
Pbkdf2(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Words          words = {.form = NS_BYTES_HEX};
    Tcl_Obj       *digestObj = NULL;
    int            keyBytes = 0, nIterations = 4096;
    EVP_MD        *mdPtr;
    NsBytes        salt, secret;
    unsigned char *key;
    bool           isDone;
    Ns_ObjvSpec    opts[] = {
           NS_OBJV_BINARY(&words.isBinary),
           {"-digest", Ns_ObjvObj, &digestObj, NULL},
           {"-dklen", Ns_ObjvInt, &keyBytes, NULL},
           NS_OBJV_ENCODING(&words.form),
           {"-iterations", Ns_ObjvInt, &nIterations, NULL},
           {"-salt", Ns_ObjvObj, &words.saltObj, NULL},
           {"-secret", Ns_ObjvObj, &words.secretObj, NULL},
           {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 1, objc, objv) != NS_OK
        || NsCryptoNeed(interp, "-salt", words.saltObj) != TCL_OK
        || NsCryptoNeed(interp, "-secret", words.secretObj) != TCL_OK
        || NsCryptoCheckRange(interp, "-iterations", nIterations, 1, INT_MAX)
            != TCL_OK
        || (mdPtr = NsCryptoDigest(interp, digestObj)) == NULL) {
        return TCL_ERROR;
    }
    if (keyBytes == 0) {
        keyBytes = EVP_MD_get_size(mdPtr);
    }
    if (NsCryptoCheckRange(interp, "-dklen", keyBytes, 1, NS_CRYPTO_MAX_BYTES)
        != TCL_OK) {
        EVP_MD_free(mdPtr);
        return TCL_ERROR;
    }
    NsBytesInit(&salt, words.saltObj, words.isBinary);
    NsBytesInit(&secret, words.secretObj, words.isBinary);
    key = ns_malloc((size_t) keyBytes);
    isDone = PKCS5_PBKDF2_HMAC((const char *) secret.bytes, (int) secret.length,
                               salt.bytes, (int) salt.length, nIterations,
                               mdPtr, keyBytes, key);
    EVP_MD_free(mdPtr);
    NsBytesFree(&salt);
    NsBytesFree(&secret);
    return ReturnKey(interp, isDone, key, (size_t) keyBytes, words.form);
}

/*
 * ns_crypto::scrypt ?-binary? -salt s -secret s ?-n N? ?-p P? ?-r R?
 *     ?-encoding e?
 *
 * RFC 7914.
 */
static int
Scrypt(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Words          words = {.form = NS_BYTES_HEX};
    Tcl_WideInt    n = 1024;
    int            p = 16, r = 8;
    NsBytes        salt, secret;
    unsigned char *key;
    bool           isDone;
    Ns_ObjvSpec    opts[] = {
           NS_OBJV_BINARY(&words.isBinary),
           NS_OBJV_ENCODING(&words.form),
           {"-n", Ns_ObjvWideInt, &n, NULL},
           {"-p", Ns_ObjvInt, &p, NULL},
           {"-r", Ns_ObjvInt, &r, NULL},
           {"-salt", Ns_ObjvObj, &words.saltObj, NULL},
           {"-secret", Ns_ObjvObj, &words.secretObj, NULL},
           {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 1, objc, objv) != NS_OK
        || NsCryptoNeed(interp, "-salt", words.saltObj) != TCL_OK
        || NsCryptoNeed(interp, "-secret", words.secretObj) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&salt, words.saltObj, words.isBinary);
    NsBytesInit(&secret, words.secretObj, words.isBinary);
    key = ns_malloc(SCRYPT_BYTES);
    isDone = n > 1 && p > 0 && r > 0
        && EVP_PBE_scrypt((const char *) secret.bytes, secret.length,
                          salt.bytes, salt.length, (uint64_t) n, (uint64_t) r,
                          (uint64_t) p, NsMemoryAvailable(), key, SCRYPT_BYTES)
            == 1;
    NsBytesFree(&salt);
    NsBytesFree(&secret);
    return ReturnKey(interp, isDone, key, SCRYPT_BYTES, words.form);
}

/*
 * Overwrite and free the key; its bytes are the result, if it was derived.
 */
static int
ReturnKey(Tcl_Interp *interp, bool isDone, unsigned char *key, size_t length,
          int form)
{
    if (isDone) {
        Tcl_SetObjResult(interp, NsBytesObj(key, length, form));
    } else {
        NsCryptoFail(interp, "could not derive key");
    }
    OPENSSL_cleanse(key, length);
    ns_free(key);
    return isDone ? TCL_OK : TCL_ERROR;
}

/*
 * ---------------------------------------------------------------- Argon2
 */

/*
 * ns_crypto::argon2 ?-ad s? ?-binary? ?-encoding e? ?-iter n? ?-lanes n?
 *     ?-memcost kb? ?-outlen n? ?-password s? -salt s ?-secret s? ?-threads n?
 *     ?-variant Argon2d|Argon2i|Argon2id?
 *
 * RFC 9106.  The number of threads does not change the result, and this thread
 * does all the work: when one cannot be created, libargon2 frees the memory
 * that its others still write to.
 */
static int
Argon2Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Words          words = {.form = NS_BYTES_HEX};
    Argon2         argon2 = {.nIterations = 3,
                             .nLanes = 1,
                             .memoryKb = 1024,
                             .variant = ARGON2_OF_ID};
    Tcl_Obj       *adObj = NULL, *passwordObj = NULL;
    int            keyBytes = 64, nThreads = 1;
    unsigned char *key;
    bool           isDone;
    Ns_ObjvSpec    opts[] = {
           {"-ad", Ns_ObjvObj, &adObj, NULL},
           NS_OBJV_BINARY(&words.isBinary),
           NS_OBJV_ENCODING(&words.form),
           {"-iter", Ns_ObjvInt, &argon2.nIterations, NULL},
           {"-lanes", Ns_ObjvInt, &argon2.nLanes, NULL},
           {"-memcost", Ns_ObjvInt, &argon2.memoryKb, NULL},
           {"-outlen", Ns_ObjvInt, &keyBytes, NULL},
           {"-password", Ns_ObjvObj, &passwordObj, NULL},
           {"-salt", Ns_ObjvObj, &words.saltObj, NULL},
           {"-secret", Ns_ObjvObj, &words.secretObj, NULL},
           {"-threads", Ns_ObjvInt, &nThreads, NULL},
           {"-variant", NsObjvWord, &argon2.variant, (void *) argon2Variants},
           {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 1, objc, objv) != NS_OK
        || NsCryptoNeed(interp, "-salt", words.saltObj) != TCL_OK
        || NsCryptoCheckRange(interp, "-iter", argon2.nIterations, 1, INT_MAX)
            != TCL_OK
        || NsCryptoCheckRange(interp, "-lanes", argon2.nLanes, 1, 0xFFFFFF)
            != TCL_OK
        || NsCryptoCheckRange(interp, "-memcost", argon2.memoryKb, 1, INT_MAX)
            != TCL_OK
        || NsCryptoCheckRange(interp, "-threads", nThreads, 1, 0xFFFFFF)
            != TCL_OK
        || NsCryptoCheckRange(interp, "-outlen", keyBytes, 4,
                              NS_CRYPTO_MAX_BYTES)
            != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&argon2.ad, adObj, words.isBinary);
    NsBytesInit(&argon2.password, passwordObj, words.isBinary);
    NsBytesInit(&argon2.salt, words.saltObj, words.isBinary);
    NsBytesInit(&argon2.secret, words.secretObj, words.isBinary);
    key = ns_malloc((size_t) keyBytes);
    isDone = (size_t) argon2.memoryKb < NsMemoryAvailable() / 1024
        && DeriveArgon2(&argon2, key, (size_t) keyBytes);
    NsBytesFree(&argon2.ad);
    NsBytesFree(&argon2.password);
    NsBytesFree(&argon2.salt);
    NsBytesFree(&argon2.secret);
    return ReturnKey(interp, isDone, key, (size_t) keyBytes, words.form);
}

#ifdef HAVE_ARGON2

static bool
HasArgon2(void)
{
    return true;
}

static bool
DeriveArgon2(const Argon2 *argon2Ptr, unsigned char *key, size_t length)
{
    static const argon2_type types[] = {[ARGON2_OF_D] = Argon2_d,
                                        [ARGON2_OF_I] = Argon2_i,
                                        [ARGON2_OF_ID] = Argon2_id};
    argon2_context           context = {
                  .out = key,
                  .outlen = (uint32_t) length,
                  .pwd = (uint8_t *) argon2Ptr->password.bytes,
                  .pwdlen = (uint32_t) argon2Ptr->password.length,
                  .salt = (uint8_t *) argon2Ptr->salt.bytes,
                  .saltlen = (uint32_t) argon2Ptr->salt.length,
                  .secret = (uint8_t *) argon2Ptr->secret.bytes,
                  .secretlen = (uint32_t) argon2Ptr->secret.length,
                  .ad = (uint8_t *) argon2Ptr->ad.bytes,
                  .adlen = (uint32_t) argon2Ptr->ad.length,
                  .t_cost = (uint32_t) argon2Ptr->nIterations,
                  .m_cost = (uint32_t) argon2Ptr->memoryKb,
                  .lanes = (uint32_t) argon2Ptr->nLanes,
                  .threads = 1u,
                  .version = ARGON2_VERSION_13};

    return argon2_ctx(&context, types[argon2Ptr->variant]) == ARGON2_OK;
}

#else

static const char *const argon2Names[] = {[ARGON2_OF_D] = "ARGON2D",
                                          [ARGON2_OF_I] = "ARGON2I",
                                          [ARGON2_OF_ID] = "ARGON2ID"};

/*
 * OpenSSL has it from version 3.2 on.
 */
static bool
HasArgon2(void)
{
    return HasKdf(argon2Names[ARGON2_OF_ID]);
}

static bool
DeriveArgon2(const Argon2 *argon2Ptr, unsigned char *key, size_t length)
{
    uint32_t     nIterations = (uint32_t) argon2Ptr->nIterations;
    uint32_t     nLanes = (uint32_t) argon2Ptr->nLanes;
    uint32_t     memoryKb = (uint32_t) argon2Ptr->memoryKb;
    EVP_KDF     *kdfPtr = EVP_KDF_fetch(NULL, argon2Names[argon2Ptr->variant],
                                        NULL);
    EVP_KDF_CTX *contextPtr = kdfPtr != NULL ? EVP_KDF_CTX_new(kdfPtr) : NULL;
    OSSL_PARAM   params[] = {
          OSSL_PARAM_construct_octet_string("pass",
                                            (void *) argon2Ptr->password.bytes,
                                            argon2Ptr->password.length),
          OSSL_PARAM_construct_octet_string("salt",
                                            (void *) argon2Ptr->salt.bytes,
                                            argon2Ptr->salt.length),
          OSSL_PARAM_construct_octet_string("secret",
                                            (void *) argon2Ptr->secret.bytes,
                                            argon2Ptr->secret.length),
          OSSL_PARAM_construct_octet_string("ad", (void *) argon2Ptr->ad.bytes,
                                            argon2Ptr->ad.length),
          OSSL_PARAM_construct_uint32("iter", &nIterations),
          OSSL_PARAM_construct_uint32("lanes", &nLanes),
          OSSL_PARAM_construct_uint32("memcost", &memoryKb),
          OSSL_PARAM_construct_end()};
    bool isDone = contextPtr != NULL
        && EVP_KDF_derive(contextPtr, key, length, params) == 1;

    EVP_KDF_CTX_free(contextPtr);
    EVP_KDF_free(kdfPtr);
    return isDone;
}

#endif

/*
 * ----------------------------------------------------- One-time passwords
 */

/*
 * ns_hotp ?-digest d? ?-digits n? -key k counter
 *
 * RFC 4226.
 */
static int
Hotp(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_Obj    *digestObj = NULL, *keyObj = NULL;
    int         nDigits = 8;
    Tcl_WideInt counter;
    Ns_ObjvSpec opts[] = {{"-digest", Ns_ObjvObj, &digestObj, NULL},
                          {"-digits", Ns_ObjvInt, &nDigits, NULL},
                          {"-key", Ns_ObjvObj, &keyObj, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"counter", Ns_ObjvWideInt, &counter, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    return ReturnOtp(interp, digestObj, nDigits, keyObj, counter);
}

/*
 * ns_totp ?-digest d? ?-digits n? ?-interval s? -key k ?-time t?
 *
 * RFC 6238.
 */
static int
Totp(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_Obj         *digestObj = NULL, *keyObj = NULL;
    int              nDigits = 8;
    Ns_Time         *intervalPtr = &(Ns_Time){30, 0};
    Ns_ObjvTimeRange wholeSeconds = {{1, 0}, {INT_MAX, 0}};
    Tcl_WideInt      when = time(NULL);
    Ns_ObjvSpec      opts[] = {
             {"-digest", Ns_ObjvObj, &digestObj, NULL},
             {"-digits", Ns_ObjvInt, &nDigits, NULL},
             {"-interval", Ns_ObjvTime, &intervalPtr, &wholeSeconds},
             {"-key", Ns_ObjvObj, &keyObj, NULL},
             {"-time", Ns_ObjvWideInt, &when, NULL},
             {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (intervalPtr->usec != 0) {
        return NsTclFail(interp, "-interval must be whole seconds");
    }
    return ReturnOtp(interp, digestObj, nDigits, keyObj,
                     when / intervalPtr->sec);
}

static int
ReturnOtp(Tcl_Interp *interp, Tcl_Obj *digestObj, int nDigits, Tcl_Obj *keyObj,
          Tcl_WideInt counter)
{
    unsigned char message[8], hmac[EVP_MAX_MD_SIZE];
    unsigned      length = 0, offset;
    uint32_t      number, modulus = 1;
    EVP_MD       *mdPtr;
    NsBytes       key;

    if (NsCryptoNeed(interp, "-key", keyObj) != TCL_OK
        || NsCryptoCheckRange(interp, "-digits", nDigits, 1, 9) != TCL_OK
        || NsCryptoCheckRange(interp, "counter", counter, 0, INT64_MAX)
            != TCL_OK
        || (mdPtr = NsCryptoDigest(interp, digestObj)) == NULL) {
        return TCL_ERROR;
    }
    for (int i = 0; i < 8; i++) {
        message[i] = (unsigned char) ((uint64_t) counter >> (56 - 8 * i));
    }
    NsBytesInit(&key, keyObj, false);
    if (HMAC(mdPtr, key.bytes, (int) key.length, message, sizeof(message), hmac,
             &length)
            == NULL
        || length < 20) {
        length = 0;
    }
    NsBytesFree(&key);
    EVP_MD_free(mdPtr);
    if (length == 0) {
        return NsCryptoFail(interp,
                            "could not compute an hmac with this digest");
    }
    offset = hmac[length - 1] & 0x0F;
    number = ((uint32_t) (hmac[offset] & 0x7F) << 24)
        | ((uint32_t) hmac[offset + 1] << 16)
        | ((uint32_t) hmac[offset + 2] << 8) | hmac[offset + 3];
    for (int i = 0; i < nDigits; i++) {
        modulus *= 10;
    }
    return NsTclReturn(interp,
                       Tcl_ObjPrintf("%0*u", nDigits, number % modulus));
}
