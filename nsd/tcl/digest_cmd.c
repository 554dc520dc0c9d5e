/* SPDX-License-Identifier: MPL-2.0
 * digest_cmd.c --
 *
 *      Encodings, digests and random numbers: ns_base64encode, ns_base64decode
 *      (ns_uuencode, ns_uudecode), ns_base64urlencode, ns_base64urldecode,
 *      ns_sha1, ns_md5, ns_crypt, ns_rand.
 */

#include "http/base64.h"
#include "nsstring.h"
#include "nsthread.h"
#include "tcl/bytes.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc EncodeCmd, EncodeUrlCmd, DecodeCmd, Sha1Cmd, Md5Cmd,
    CryptCmd, RandCmd;

static int ParseString(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                       int *isBinaryPtr, int *isStrictPtr, Tcl_Obj **objPtr);

#define ENCODE_USAGE "?-binary? ?--? string"
#define DECODE_USAGE "?-binary? ?-strict? ?--? string"

static const NsTclCommand commands[] = {
    {"ns_base64encode", EncodeCmd, 1, 3, ENCODE_USAGE, NS_TCL_BASIC},
    {"ns_uuencode", EncodeCmd, 1, 3, ENCODE_USAGE, NS_TCL_BASIC},
    {"ns_base64urlencode", EncodeUrlCmd, 1, 3, ENCODE_USAGE, NS_TCL_BASIC},
    {"ns_base64decode", DecodeCmd, 1, 4, DECODE_USAGE,
     NS_TCL_BASIC | NS_TCL_DATA(NS_BASE64_PLAIN)},
    {"ns_uudecode", DecodeCmd, 1, 4, DECODE_USAGE,
     NS_TCL_BASIC | NS_TCL_DATA(NS_BASE64_PLAIN)},
    {"ns_base64urldecode", DecodeCmd, 1, 4, DECODE_USAGE,
     NS_TCL_BASIC | NS_TCL_DATA(NS_BASE64_URL)},
    {"ns_sha1", Sha1Cmd, 1, 3, ENCODE_USAGE, NS_TCL_BASIC},
    {"ns_md5", Md5Cmd, 1, 3, ENCODE_USAGE, NS_TCL_BASIC},
    {"ns_crypt", CryptCmd, 2, 2, "key salt", NS_TCL_BASIC},
    {"ns_rand", RandCmd, 0, 1, "?maximum?", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Digest, commands)

/*
 * ns_base64encode ?-binary? ?--? string
 */
static int
EncodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Tcl_Obj *obj;
    NsBytes  bytes;
    char    *text;
    int      isBinary = 0;
    size_t   length;

    if (ParseString(interp, objc, objv, &isBinary, NULL, &obj) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&bytes, obj, isBinary);
    text = ns_malloc(NsBase64EncodedBytes(bytes.length));
    length = Ns_HtuuEncode((unsigned char *) bytes.bytes, bytes.length, text);
    NsBytesFree(&bytes);
    Tcl_SetObjResult(interp, Tcl_NewStringObj(text, (int) length));
    ns_free(text);
    return TCL_OK;
}

/*
 * ns_base64urlencode ?-binary? ?--? string
 */
static int
EncodeUrlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Tcl_Obj *obj;
    NsBytes  bytes;
    int      isBinary = 0;

    if (ParseString(interp, objc, objv, &isBinary, NULL, &obj) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&bytes, obj, isBinary);
    Tcl_SetObjResult(interp,
                     NsBytesObj(bytes.bytes, bytes.length, NS_BYTES_BASE64URL));
    NsBytesFree(&bytes);
    return TCL_OK;
}

/*
 * ns_base64decode ?-binary? ?-strict? ?--? string
 * ns_base64urldecode ?-binary? ?-strict? ?--? string
 */
static int
DecodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsBase64Kind   kind = (NsBase64Kind) NsTclData(clientData);
    Tcl_Obj       *obj;
    const char    *text, *strange;
    unsigned char *bytes;
    int            isBinary = 0, isStrict = 0, length;
    size_t         nBytes;

    if (ParseString(interp, objc, objv, &isBinary, &isStrict, &obj) != TCL_OK) {
        return TCL_ERROR;
    }
    text = Tcl_GetStringFromObj(obj, &length);
    strange = isStrict ? NsBase64FindStrange(kind, text, (size_t) length)
                       : NULL;
    if (strange != NULL) {
        int position = Tcl_NumUtfChars(text, (int) (strange - text));

        return NsTclFail(interp, "invalid character '%.*s' at position %d",
                         (int) (Tcl_UtfNext(strange) - strange), strange,
                         position);
    }
    bytes = ns_malloc(NsBase64DecodedBytes((size_t) length));
    nBytes = NsBase64DecodeAs(kind, text, (size_t) length, bytes);
    Tcl_SetObjResult(interp,
                     isBinary ? Tcl_NewByteArrayObj(bytes, (int) nBytes)
                              : NsBytesTextObj(bytes, nBytes));
    ns_free(bytes);
    return TCL_OK;
}

/*
 * The words of these commands.  A single one is the string, whatever it looks
 * like: it may come from a client.
 */
static int
ParseString(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
            int *isBinaryPtr, int *isStrictPtr, Tcl_Obj **objPtr)
{
    Ns_ObjvSpec decodeOpts[] = {
        NS_OBJV_BINARY(isBinaryPtr),
        {"-strict", Ns_ObjvBool, isStrictPtr, INT2PTR(1)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec encodeOpts[] = {NS_OBJV_BINARY(isBinaryPtr),
                                {"--", Ns_ObjvBreak, NULL, NULL},
                                {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"string", Ns_ObjvObj, objPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (objc == 2) {
        *objPtr = objv[1];
        return TCL_OK;
    }
    return Ns_ParseObjv(isStrictPtr != NULL ? decodeOpts : encodeOpts, args,
                        interp, 1, objc, objv)
            == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

/*
 * ns_sha1 ?-binary? ?--? string
 */
static int
Sha1Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    unsigned char digest[20];
    char          text[2 * sizeof(digest) + 1];
    Tcl_Obj      *obj;
    NsBytes       bytes;
    Ns_CtxSHA1    context;
    int           isBinary = 0;

    if (ParseString(interp, objc, objv, &isBinary, NULL, &obj) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&bytes, obj, isBinary);
    Ns_CtxSHAInit(&context);
    Ns_CtxSHAUpdate(&context, bytes.bytes, (unsigned) bytes.length);
    Ns_CtxSHAFinal(&context, digest);
    NsBytesFree(&bytes);
    Ns_CtxString(digest, text, (int) sizeof(digest));
    return NsTclReturnString(interp, text);
}

/*
 * ns_md5 ?-binary? ?--? string
 */
static int
Md5Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    unsigned char digest[16];
    char          text[2 * sizeof(digest) + 1];
    Tcl_Obj      *obj;
    NsBytes       bytes;
    Ns_CtxMD5     context;
    int           isBinary = 0;

    if (ParseString(interp, objc, objv, &isBinary, NULL, &obj) != TCL_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&bytes, obj, isBinary);
    Ns_CtxMD5Init(&context);
    Ns_CtxMD5Update(&context, bytes.bytes, (unsigned) bytes.length);
    Ns_CtxMD5Final(&context, digest);
    NsBytesFree(&bytes);
    Ns_CtxString(digest, text, (int) sizeof(digest));
    return NsTclReturnString(interp, text);
}

static int
CryptCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    char buffer[NS_ENCRYPT_BUFSIZE];

    return NsTclReturn(interp,
                       Tcl_NewStringObj(Ns_Encrypt(Tcl_GetString(objv[1]),
                                                   Tcl_GetString(objv[2]),
                                                   buffer),
                                        -1));
}

static int
RandCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    int max;

    if (objc == 1) {
        return NsTclReturn(interp, Tcl_NewDoubleObj(Ns_DRand()));
    }
    if (Tcl_GetIntFromObj(interp, objv[1], &max) != TCL_OK) {
        return TCL_ERROR;
    }
    if (max <= 0) {
        return NsTclFail(interp, "invalid max \"%s\": must be > 0",
                         Tcl_GetString(objv[1]));
    }
    return NsTclReturn(interp, Tcl_NewIntObj((int) (Ns_DRand() * max)));
}
