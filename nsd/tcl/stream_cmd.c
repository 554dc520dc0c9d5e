/* SPDX-License-Identifier: MPL-2.0
 * stream_cmd.c --
 *
 *      Commands that answer a request in pieces, and that copy its body.
 */

#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include "nsset.h"
#include "nsstring.h"

static Tcl_ObjCmdProc HeadersCmd, WriteCmd, StartContentCmd, WriteFpCmd,
    ConnSendFpCmd, ConnCpToFpCmd;

static int  WritePieces(NsConn *connPtr, int objc, Tcl_Obj *const *objv,
                        bool isText);
static int  WriteMixed(NsConn *connPtr, int objc, Tcl_Obj *const *objv);
static void SuppressHeaders(NsConn *connPtr);

#define MAX_PIECES 32

static const NsTclCommand commands[] = {
    {"ns_headers", HeadersCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_write", WriteCmd, 1, NS_TCL_ANY, "data ?data ...?", 0},
    {"ns_startcontent", StartContentCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_writefp", WriteFpCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_connsendfp", ConnSendFpCmd, 2, 2, "channel len", 0},
    {"ns_conncptofp", ConnCpToFpCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_writecontent", ConnCpToFpCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

NS_TCL_FAMILY(Stream, commands)

static int
HeadersCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsConn     *connPtr;
    const char *type = NULL;
    int         status, isBinary = 0, result = TCL_ERROR;
    Tcl_WideInt length = -1;
    Ns_ObjvSpec options[] = {{"-binary", Ns_ObjvBool, &isBinary, INT2PTR(1)},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"status", NsObjvStatus, &status, NULL},
                          {"?type", Ns_ObjvString, &type, NULL},
                          {"?length", Ns_ObjvWideInt, &length, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || (connPtr = NsTclReplyConn(clientData, &result)) == NULL) {
        return result;
    }
    Ns_ConnSetResponseStatus(&connPtr->pub, status);
    if (type != NULL && !isBinary) {
        Ns_ConnSetEncodedTypeHeader(&connPtr->pub, type);
    } else {
        if (type != NULL) {
            Ns_ConnSetTypeHeader(&connPtr->pub, type);
        }
        connPtr->pub.flags &= ~NS_CONN_WRITE_ENCODED;
    }
    if (length > -1) {
        Ns_ConnSetLengthHeader(&connPtr->pub, length);
    }
    connPtr->pub.flags |= NS_CONN_STREAM;
    return NsTclReturnStatus(interp, NS_OK);
}

static int
WriteCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsConn *connPtr;
    int     i, result;

    connPtr = NsTclReplyConn(clientData, &result);
    if (connPtr == NULL) {
        return result;
    }
    SuppressHeaders(connPtr);

    if ((connPtr->pub.flags & NS_CONN_WRITE_ENCODED) == 0) {
        result = WritePieces(connPtr, objc - 1, objv + 1, false);
    } else {
        for (i = 1; i < objc && !NsTclIsByteArray(objv[i]); i++) {
            ;
        }
        result = (i < objc) ? WriteMixed(connPtr, objc - 1, objv + 1)
                            : WritePieces(connPtr, objc - 1, objv + 1, true);
    }
    return NsTclReturnStatus(interp, result);
}

/*
 * A reply whose header was not prepared is all the script's.
 */
static void
SuppressHeaders(NsConn *connPtr)
{
    if ((connPtr->pub.flags & (NS_CONN_STREAM | NS_CONN_SENTHDRS)) == 0) {
        connPtr->pub.flags |= NS_CONN_SKIPHDRS;
    }
}

/*
 * In pieces of text, or of bytes.
 */
static int
WritePieces(NsConn *connPtr, int objc, Tcl_Obj *const *objv, bool isText)
{
    struct iovec pieces[MAX_PIECES];
    int          i, n, length, result = NS_OK;

    for (i = 0; i < objc && result == NS_OK; i += n) {
        for (n = 0; n < MAX_PIECES && i + n < objc; n++) {
            pieces[n].iov_base = isText
                ? (void *) Tcl_GetStringFromObj(objv[i + n], &length)
                : (void *) Tcl_GetByteArrayFromObj(objv[i + n], &length);
            pieces[n].iov_len = (size_t) length;
        }
        result = (isText ? Ns_ConnWriteVChars
                         : Ns_ConnWriteVData)(&connPtr->pub, pieces, n,
                                              NS_CONN_STREAM);
    }
    return result;
}

/*
 * From the first byte array on, arguments are bytes; those before it are UTF-8.
 */
static int
WriteMixed(NsConn *connPtr, int objc, Tcl_Obj *const *objv)
{
    Ns_DString ds;
    bool       isBinary = false;
    int        length, result;

    Ns_DStringInit(&ds);
    for (int i = 0; i < objc; i++) {
        const char *bytes;

        isBinary = isBinary || NsTclIsByteArray(objv[i]);
        bytes = isBinary
            ? (const char *) Tcl_GetByteArrayFromObj(objv[i], &length)
            : Tcl_GetStringFromObj(objv[i], &length);
        Ns_DStringNAppend(&ds, bytes, length);
    }
    result = Ns_ConnWriteData(&connPtr->pub, Ns_DStringValue(&ds),
                              (size_t) Ns_DStringLength(&ds), NS_CONN_STREAM);
    Ns_DStringFree(&ds);
    return result;
}

static int
StartContentCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    NsConn      *connPtr = NsTclConn(clientData);
    const char  *charset = NULL, *type = NULL;
    Tcl_Encoding encoding = NULL;
    Ns_ObjvSpec  options[] = {{"-charset", Ns_ObjvString, &charset, NULL},
                              {"-type", Ns_ObjvString, &type, NULL},
                              {"--", Ns_ObjvBreak, NULL, NULL},
                              {NULL, NULL, NULL, NULL}};

    if (connPtr == NULL
        || Ns_ParseObjv(options, NULL, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (charset != NULL && type != NULL) {
        return NsTclFail(interp,
                         "only one of -charset or -type may be specified");
    }
    if (charset != NULL) {
        encoding = Ns_GetCharsetEncoding(charset);
        if (encoding == NULL) {
            return NsTclFail(interp, "no encoding for charset: %s", charset);
        }
    } else if (type != NULL && Ns_StrCaseFind(type, "charset=") != NULL) {
        encoding = Ns_GetTypeEncoding(type);
    }
    if (encoding != NULL) {
        Ns_ConnSetEncoding(&connPtr->pub, encoding);
    }
    SuppressHeaders(connPtr);
    connPtr->pub.flags |= NS_CONN_WRITE_ENCODED;
    return TCL_OK;
}

static int
WriteFpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsConn     *connPtr;
    Tcl_Obj    *channelObj;
    Tcl_Channel channel;
    Tcl_WideInt bytes = -1;
    Ns_ObjvSpec args[] = {{"fileid", Ns_ObjvObj, &channelObj, NULL},
                          {"?nbytes", Ns_ObjvWideInt, &bytes, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(NULL, args, interp, 1, objc, objv) != NS_OK
        || (connPtr = NsTclConn(clientData)) == NULL
        || NsTclGetChannel(interp, channelObj, TCL_READABLE, &channel)
            != TCL_OK) {
        return TCL_ERROR;
    }
    connPtr->pub.flags |= NS_CONN_STREAM;
    if (Ns_ConnSendChannel(&connPtr->pub, channel, bytes) != NS_OK) {
        return NsTclFail(interp, "i/o failed");
    }
    return NsTclReturnStatus(interp, NS_OK);
}

static int
ConnSendFpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsConn     *connPtr;
    Tcl_Channel channel;
    Tcl_WideInt bytes;

    connPtr = NsTclConn(clientData);
    if (connPtr == NULL
        || NsTclGetChannel(interp, objv[1], TCL_READABLE, &channel) != TCL_OK
        || Tcl_GetWideIntFromObj(interp, objv[2], &bytes) != TCL_OK) {
        return TCL_ERROR;
    }
    SuppressHeaders(connPtr);
    if (Ns_ConnSendChannel(&connPtr->pub, channel, bytes) != NS_OK) {
        return NsTclFail(interp, "could not send %s bytes from channel %s",
                         Tcl_GetString(objv[2]), Tcl_GetString(objv[1]));
    }
    return TCL_OK;
}

static int
ConnCpToFpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsConn     *connPtr;
    Tcl_Obj    *channelObj;
    Tcl_Channel channel;
    int         bytes = -1;
    size_t      rest;
    Ns_ObjvSpec options[] = {{"-bytes", Ns_ObjvInt, &bytes, NULL},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"channel", Ns_ObjvObj, &channelObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || (connPtr = NsTclConn(clientData)) == NULL
        || NsTclGetChannel(interp, channelObj, TCL_WRITABLE, &channel)
            != TCL_OK) {
        return TCL_ERROR;
    }
    rest = Ns_ConnContentSize(&connPtr->pub) - connPtr->nRead;
    if (bytes >= 0 && (size_t) bytes < rest) {
        rest = (size_t) bytes;
    }
    if (rest > 0
        && Ns_ConnCopyToChannel(&connPtr->pub, rest, channel) != NS_OK) {
        return NsTclFail(interp, "could not copy content");
    }
    return TCL_OK;
}
