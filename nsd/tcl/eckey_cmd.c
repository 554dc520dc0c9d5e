/* SPDX-License-Identifier: MPL-2.0
 * eckey_cmd.c --
 *
 *      Keys on elliptic curves: ns_crypto::eckey.
 */

#include "base/assert.h"
#include "base/writeall.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/cryptowords.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <fcntl.h>
#include <sys/stat.h>

#define MAX_NUMBER 72 /* Bytes of a number of the largest curve. */
#define MAX_POINT  (2 * MAX_NUMBER + 1)

typedef enum {
    FORMAT_RAW, /* 04, X, Y. */
    FORMAT_PEM,
    FORMAT_DER
} Format;

static const Ns_ObjvTable formats[] = {
    {"raw", FORMAT_RAW}, {"pem", FORMAT_PEM}, {"der", FORMAT_DER}, {NULL, 0}};

static Tcl_ObjCmdProc Generate, Pub, Priv, Import, SharedSecret, FromCoords;

static int       FindCurve(Tcl_Interp *interp, const char *name);
static EVP_PKEY *ReadPrivate(Tcl_Interp *interp, const NsCryptoWords *wordsPtr);
static int       CheckEc(Tcl_Interp *interp, EVP_PKEY **keyPtrPtr);
static EVP_PKEY *PublicFromPoint(const char *curve, const unsigned char *point,
                                 size_t length);
static int       ReturnPublic(Tcl_Interp *interp, const NsCryptoWords *wordsPtr,
                              EVP_PKEY *keyPtr);
static Tcl_Obj  *PointObj(EVP_PKEY *keyPtr, int form);
static Tcl_Obj  *PemObj(BIO *bioPtr);
static int ReturnOrWrite(Tcl_Interp *interp, const char *file, Tcl_Obj *obj);
static int Write(Tcl_Interp *interp, const char *file, const NsBytes *bytesPtr);

static const NsTclCommand subcmds[] = {
    {"fromcoords", FromCoords, 0, NS_TCL_ANY, NULL, 0},
    {"generate", Generate, 0, NS_TCL_ANY, NULL, 0},
    {"import", Import, 0, NS_TCL_ANY, NULL, 0},
    {"priv", Priv, 0, NS_TCL_ANY, NULL, 0},
    {"pub", Pub, 0, NS_TCL_ANY, NULL, 0},
    {"sharedsecret", SharedSecret, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_crypto::eckey", "subcommand ?arg ...?", "subcommand", NS_TCL_BASIC,
    subcmds};

NS_TCL_FAMILY_OF_ONE(EcKey, &ensemble)

/*
 * ns_crypto::eckey generate ?-name curve? ?-outfile f? ?-pem f?
 */
static int
Generate(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.curve = (char *) SN_X9_62_prime256v1};
    EVP_PKEY     *keyPtr;
    BIO          *bioPtr;
    int           result;
    Ns_ObjvSpec   opts[] = {{"-name", Ns_ObjvString, &words.curve, NULL},
                            {"-outfile", Ns_ObjvString, &words.outFile, NULL},
                            {"-pem", Ns_ObjvString, &words.outFile, NULL},
                            {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 2, objc, objv) != NS_OK
        || FindCurve(interp, words.curve) != TCL_OK) {
        return TCL_ERROR;
    }
    keyPtr = EVP_PKEY_Q_keygen(NULL, NULL, "EC", words.curve);
    if (keyPtr == NULL) {
        return NsCryptoFail(interp, "could not generate EC key");
    }
    bioPtr = BIO_new(BIO_s_secmem());
    NsAssert(bioPtr != NULL);
    PEM_write_bio_PrivateKey(bioPtr, keyPtr, NULL, NULL, 0, NULL, NULL);
    result = ReturnOrWrite(interp, words.outFile, PemObj(bioPtr));
    BIO_free(bioPtr);
    EVP_PKEY_free(keyPtr);
    return result;
}

static int
FindCurve(Tcl_Interp *interp, const char *name)
{
    int       nid = OBJ_sn2nid(name);
    EC_GROUP *groupPtr;

    groupPtr = EC_GROUP_new_by_curve_name(nid != NID_undef
                                              ? nid
                                              : EC_curve_nist2nid(name));
    EC_GROUP_free(groupPtr);
    return groupPtr != NULL
        ? TCL_OK
        : NsCryptoFail(interp, "Unknown curve name \"%s\"", name);
}

/*
 * ns_crypto::eckey pub ?-encoding e? ?-format raw|pem|der? ?-outfile f?
 *     ?-passphrase p? -pem pem
 */
static int
Pub(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.format = FORMAT_RAW, .formats = formats};
    EVP_PKEY     *keyPtr;
    int           result;

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-encoding -format -outfile -passphrase -pem!", "")
            != TCL_OK
        || (keyPtr = NsCryptoPublicKey(interp, words.pemObj, words.passphrase))
            == NULL
        || CheckEc(interp, &keyPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    result = ReturnPublic(interp, &words, keyPtr);
    EVP_PKEY_free(keyPtr);
    return result;
}

/*
 * ns_crypto::eckey priv ?-encoding e? ?-outfile f? ?-passphrase p? -pem pem
 *
 * The number, with as many bytes as the curve has.
 */
static int
Priv(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.form = NS_BYTES_HEX};
    EVP_PKEY     *keyPtr;
    BIGNUM       *numberPtr = NULL;
    unsigned char bytes[MAX_NUMBER];
    int           length, result;

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-encoding -outfile -passphrase -pem!", "")
            != TCL_OK
        || (keyPtr = ReadPrivate(interp, &words)) == NULL) {
        return TCL_ERROR;
    }
    length = (EVP_PKEY_get_bits(keyPtr) + 7) / 8;
    if (!EVP_PKEY_get_bn_param(keyPtr, OSSL_PKEY_PARAM_PRIV_KEY, &numberPtr)
        || BN_bn2binpad(numberPtr, bytes, MIN(length, MAX_NUMBER)) < 0) {
        result = NsCryptoFail(interp, "could not read the private key");
    } else {
        result = ReturnOrWrite(interp, words.outFile,
                               NsBytesObj(bytes, (size_t) length, words.form));
    }
    OPENSSL_cleanse(bytes, sizeof(bytes));
    BN_clear_free(numberPtr);
    EVP_PKEY_free(keyPtr);
    return result;
}

/*
 * The private key of -pem; NULL with a message.
 */
static EVP_PKEY *
ReadPrivate(Tcl_Interp *interp, const NsCryptoWords *wordsPtr)
{
    EVP_PKEY *keyPtr;

    keyPtr = NsCryptoPrivateKey(interp, wordsPtr->pemObj, wordsPtr->passphrase);
    return keyPtr != NULL && CheckEc(interp, &keyPtr) == TCL_OK ? keyPtr : NULL;
}

/*
 * TCL_ERROR with a message: it is of another kind, and freed.
 */
static int
CheckEc(Tcl_Interp *interp, EVP_PKEY **keyPtrPtr)
{
    if (EVP_PKEY_is_a(*keyPtrPtr, "EC")) {
        return TCL_OK;
    }
    EVP_PKEY_free(*keyPtrPtr);
    *keyPtrPtr = NULL;
    return NsCryptoFail(interp, "the key of -pem is not an EC key");
}

/*
 * ns_crypto::eckey import ?-binary? ?-encoding e? ?-name curve? -string s
 *
 * PEM, which other commands take; with -encoding the point.
 */
static int
Import(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.curve = (char *) SN_X9_62_prime256v1, .form = -1};
    EVP_PKEY     *keyPtr;
    NsBytes       point;
    int           result;

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-binary -encoding -name -string!", "")
            != TCL_OK
        || FindCurve(interp, words.curve) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&point, words.publicObj, words.isBinary);
    keyPtr = PublicFromPoint(words.curve, point.bytes, point.length);
    NsBytesFree(&point);
    if (keyPtr == NULL) {
        return NsCryptoFail(interp,
                            "could not import EC key: invalid encoding");
    }
    words.format = words.form < 0 ? FORMAT_PEM : FORMAT_RAW;
    result = ReturnPublic(interp, &words, keyPtr);
    EVP_PKEY_free(keyPtr);
    return result;
}

/*
 * ns_crypto::eckey fromcoords ?-binary? ?-encoding e? ?-format raw|pem|der?
 *     ?-name curve? ?-outfile f? -x x -y y
 */
static int
FromCoords(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.curve = (char *) SN_X9_62_prime256v1,
                           .format = FORMAT_PEM,
                           .formats = formats};
    EVP_PKEY     *keyPtr = NULL;
    NsBytes       x, y;
    unsigned char point[MAX_POINT] = {0x04};
    int           result;

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-binary -encoding -format -name -outfile -x! -y!", "")
            != TCL_OK
        || FindCurve(interp, words.curve) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&x, words.xObj, words.isBinary);
    NsBytesInit(&y, words.yObj, words.isBinary);
    if (x.length == y.length && x.length <= MAX_NUMBER) {
        memcpy(point + 1, x.bytes, x.length);
        memcpy(point + 1 + x.length, y.bytes, y.length);
        keyPtr = PublicFromPoint(words.curve, point, 1 + 2 * x.length);
    }
    NsBytesFree(&x);
    NsBytesFree(&y);
    if (keyPtr == NULL) {
        return NsCryptoFail(interp,
                            "could not import EC key: invalid encoding");
    }
    result = ReturnPublic(interp, &words, keyPtr);
    EVP_PKEY_free(keyPtr);
    return result;
}

/*
 * NULL: the bytes are not a point of the curve.
 */
static EVP_PKEY *
PublicFromPoint(const char *curve, const unsigned char *point, size_t length)
{
    EVP_PKEY_CTX *contextPtr = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    EVP_PKEY     *keyPtr = NULL;
    OSSL_PARAM    params[] = {
           OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
                                            (char *) curve, 0),
           OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY,
                                             (void *) point, length),
           OSSL_PARAM_construct_end()};

    NsAssert(contextPtr != NULL);
    if (EVP_PKEY_fromdata_init(contextPtr) <= 0
        || EVP_PKEY_fromdata(contextPtr, &keyPtr, EVP_PKEY_PUBLIC_KEY, params)
            <= 0) {
        keyPtr = NULL;
    }
    EVP_PKEY_CTX_free(contextPtr);
    NsCryptoForget();
    return keyPtr;
}

/*
 * ns_crypto::eckey sharedsecret ?-binary? ?-encoding e? ?-passphrase p?
 *     -pem pem ?--? pubkey
 */
static int
SharedSecret(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsCryptoWords words = {.form = NS_BYTES_HEX};
    EVP_PKEY     *keyPtr, *peerPtr = NULL;
    EVP_PKEY_CTX *contextPtr;
    NsBytes       point;
    unsigned char secret[MAX_NUMBER];
    char          curve[80];
    size_t        length = sizeof(secret);
    int           result;

    if (NsCryptoParse(&words, interp, 2, objc, objv,
                      "-binary -encoding -passphrase -pem! --", "pubkey")
            != TCL_OK
        || (keyPtr = ReadPrivate(interp, &words)) == NULL) {
        return TCL_ERROR;
    }
    NsBytesInit(&point, words.publicObj, words.isBinary);
    if (EVP_PKEY_get_group_name(keyPtr, curve, sizeof(curve), NULL)) {
        peerPtr = PublicFromPoint(curve, point.bytes, point.length);
    }
    NsBytesFree(&point);
    if (peerPtr == NULL) {
        EVP_PKEY_free(keyPtr);
        return NsCryptoFail(
            interp, "could not import EC peer public key: invalid encoding");
    }
    contextPtr = EVP_PKEY_CTX_new(keyPtr, NULL);
    NsAssert(contextPtr != NULL);
    if (EVP_PKEY_derive_init(contextPtr) <= 0
        || EVP_PKEY_derive_set_peer(contextPtr, peerPtr) <= 0
        || EVP_PKEY_derive(contextPtr, secret, &length) <= 0) {
        result = NsCryptoFail(interp, "could not derive key");
    } else {
        result = NsTclReturn(interp, NsBytesObj(secret, length, words.form));
    }
    OPENSSL_cleanse(secret, sizeof(secret));
    EVP_PKEY_CTX_free(contextPtr);
    EVP_PKEY_free(peerPtr);
    EVP_PKEY_free(keyPtr);
    return result;
}

/*
 * ---------------------------------------------------------------- Results
 */

static int
ReturnPublic(Tcl_Interp *interp, const NsCryptoWords *wordsPtr,
             EVP_PKEY *keyPtr)
{
    unsigned char *der = NULL;
    Tcl_Obj       *obj = NULL;
    BIO           *bioPtr;
    int            length;

    switch (wordsPtr->format) {
    case FORMAT_PEM:
        bioPtr = BIO_new(BIO_s_mem());
        NsAssert(bioPtr != NULL);
        PEM_write_bio_PUBKEY(bioPtr, keyPtr);
        obj = PemObj(bioPtr);
        BIO_free(bioPtr);
        break;
    case FORMAT_DER:
        length = i2d_PUBKEY(keyPtr, &der);
        if (length > 0) {
            obj = NsBytesObj(der, (size_t) length, wordsPtr->form);
        }
        OPENSSL_free(der);
        break;
    default:
        obj = PointObj(keyPtr, wordsPtr->form);
    }
    return obj != NULL ? ReturnOrWrite(interp, wordsPtr->outFile, obj)
                       : NsCryptoFail(interp, "could not write the public key");
}

/*
 * 04 and the two numbers; NULL: the key has none.
 */
static Tcl_Obj *
PointObj(EVP_PKEY *keyPtr, int form)
{
    unsigned char point[MAX_POINT] = {0x04};
    BIGNUM       *xPtr = NULL, *yPtr = NULL;
    int           n = (EVP_PKEY_get_bits(keyPtr) + 7) / 8;
    Tcl_Obj      *obj = NULL;

    if (n <= MAX_NUMBER
        && EVP_PKEY_get_bn_param(keyPtr, OSSL_PKEY_PARAM_EC_PUB_X, &xPtr)
        && EVP_PKEY_get_bn_param(keyPtr, OSSL_PKEY_PARAM_EC_PUB_Y, &yPtr)
        && BN_bn2binpad(xPtr, point + 1, n) == n
        && BN_bn2binpad(yPtr, point + 1 + n, n) == n) {
        obj = NsBytesObj(point, (size_t) (1 + 2 * n), form);
    }
    BN_free(xPtr);
    BN_free(yPtr);
    return obj;
}

static Tcl_Obj *
PemObj(BIO *bioPtr)
{
    char *text;
    long  length = BIO_get_mem_data(bioPtr, &text);

    return Tcl_NewStringObj(text, (int) length);
}

/*
 * With a file the result is empty.
 */
static int
ReturnOrWrite(Tcl_Interp *interp, const char *file, Tcl_Obj *obj)
{
    NsBytes bytes;
    int     result;

    if (file == NULL) {
        return NsTclReturn(interp, obj);
    }
    Tcl_IncrRefCount(obj);
    NsBytesInit(&bytes, obj, false);
    result = Write(interp, file, &bytes);
    NsBytesFree(&bytes);
    Tcl_DecrRefCount(obj);
    return result;
}

/*
 * Readable for the owner alone, also where the file is there already.
 */
static int
Write(Tcl_Interp *interp, const char *file, const NsBytes *bytesPtr)
{
    int  fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool isDone = fd >= 0 && fchmod(fd, 0600) == 0 && ftruncate(fd, 0) == 0
        && NsWriteAll(fd, bytesPtr->bytes, bytesPtr->length);

    if (!isDone) {
        Ns_TclPrintfResult(interp, "could not write file \"%s\": %s", file,
                           Tcl_PosixError(interp));
    }
    if (fd >= 0) {
        NsClose(fd);
    }
    return isDone ? TCL_OK : TCL_ERROR;
}
