/*
 * digest_cmd.c --
 *
 *      Encodings, digests and random numbers: ns_base64encode, ns_base64decode
 *      (ns_uuencode, ns_uudecode), ns_sha1, ns_md5, ns_crypt, ns_rand.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc EncodeCmd, DecodeCmd, Sha1Cmd, Md5Cmd, CryptCmd, RandCmd;

static const NsTclCommand commands[] = {
    {"ns_base64encode", EncodeCmd, 1, 1, "string", NS_TCL_BASIC},
    {"ns_uuencode", EncodeCmd, 1, 1, "string", NS_TCL_BASIC},
    {"ns_base64decode", DecodeCmd, 1, 1, "string", NS_TCL_BASIC},
    {"ns_uudecode", DecodeCmd, 1, 1, "string", NS_TCL_BASIC},
    {"ns_sha1", Sha1Cmd, 1, 1, "string", NS_TCL_BASIC},
    {"ns_md5", Md5Cmd, 1, 1, "string", NS_TCL_BASIC},
    {"ns_crypt", CryptCmd, 2, 2, "key salt", NS_TCL_BASIC},
    {"ns_rand", RandCmd, 0, 1, "?maximum?", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Digest, commands)

static int
EncodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    unsigned char *bytes;
    char          *text;
    int            nBytes;
    size_t         length, nGroups;

    bytes = Tcl_GetByteArrayFromObj(objv[1], &nBytes);
    nGroups = ((size_t) nBytes + 2) / 3;
    /* 15 groups of four characters to a line. */
    text = ns_malloc(nGroups * 4 + nGroups / 15 + 2);
    length = Ns_HtuuEncode(bytes, (size_t) nBytes, text);
    Tcl_SetObjResult(interp, Tcl_NewStringObj(text, (int) length));
    ns_free(text);
    return TCL_OK;
}

static int
DecodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const char    *text;
    unsigned char *bytes;
    int            length;
    size_t         nBytes, bufferBytes;

    text = Tcl_GetStringFromObj(objv[1], &length);
    bufferBytes = (size_t) length / 4 * 3 + 4;
    bytes = ns_malloc(bufferBytes);
    nBytes = Ns_HtuuDecode(text, bytes, bufferBytes);
    Tcl_SetObjResult(interp, Tcl_NewByteArrayObj(bytes, (int) nBytes));
    ns_free(bytes);
    return TCL_OK;
}

static int
Sha1Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    unsigned char digest[20];
    char          text[2 * sizeof(digest) + 1];
    const char   *string;
    Ns_CtxSHA1    context;
    int           length;

    string = Tcl_GetStringFromObj(objv[1], &length);
    Ns_CtxSHAInit(&context);
    Ns_CtxSHAUpdate(&context, (const unsigned char *) string,
                    (unsigned) length);
    Ns_CtxSHAFinal(&context, digest);
    Ns_CtxString(digest, text, (int) sizeof(digest));
    return NsTclReturnString(interp, text);
}

static int
Md5Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    unsigned char digest[16];
    char          text[2 * sizeof(digest) + 1];
    const char   *string;
    Ns_CtxMD5     context;
    int           length;

    string = Tcl_GetStringFromObj(objv[1], &length);
    Ns_CtxMD5Init(&context);
    Ns_CtxMD5Update(&context, (const unsigned char *) string,
                    (unsigned) length);
    Ns_CtxMD5Final(&context, digest);
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
