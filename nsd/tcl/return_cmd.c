/* SPDX-License-Identifier: MPL-2.0
 * return_cmd.c --
 *
 *      Commands that answer a request: ns_return, its relatives for files and
 *      channels, notices, redirects.  Streams are in stream_cmd.c.
 */

#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"
#include "tcl/tclserver.h"

#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "request/reply.h"

/* The end of the year 9999: dates of HTTP have four digits for it. */
#define LAST_HTTP_TIME INT64_C(253402300799)

static Tcl_ObjCmdProc ReturnCmd, RespondCmd, ReturnFpCmd, ReturnOkCmd,
    SetExpiresCmd, UpdateHeaderCmd, StandardCmd, WithStatusCmd, WithWordCmd;

static bool HasWord(int objc, Tcl_Obj *const *objv, const char *word);
static int  ReturnObj(NsConn *connPtr, int status, Tcl_Obj *dataObj,
                      const char *type, bool isBinary);
static int ReturnText(NsConn *connPtr, int status, Tcl_Obj *textObj, int length,
                      const char *type);
static int ReturnChannel(NsInterp *interpPtr, NsConn *connPtr, int status,
                         const char *type, Tcl_Obj *channelObj, int length);

enum { BINARY = 8 }; /* Row of -binary. */
enum { UNAUTHORIZED, FORBIDDEN, NOT_FOUND, UNAVAILABLE, TOO_LARGE };
enum { NOTICE, A_FILE };
enum { BAD_REQUEST, REDIRECT, MOVED, INTERNAL };

static const NsTclCommand commands[] = {
    {"ns_return", ReturnCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_respond", RespondCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_returnfile", WithStatusCmd, 3, 3, "status type filename",
     NS_TCL_DATA(A_FILE)},
    {"ns_returnfp", ReturnFpCmd, 4, 4, "status type channel len", 0},
    {"ns_returnnotice", WithStatusCmd, 3, 3, "status title message",
     NS_TCL_DATA(NOTICE)},
    {"ns_returnadminnotice", WithStatusCmd, 3, 3, "status title message",
     NS_TCL_DATA(NOTICE)},
    {"ns_returnerror", WithStatusCmd, 2, 2, "status message",
     NS_TCL_DATA(NOTICE)},
    {"ns_returnbadrequest", WithWordCmd, 1, 1, "reason",
     NS_TCL_CONN | NS_TCL_DATA(BAD_REQUEST)},
    {"ns_returnunauthorized", StandardCmd, 0, NS_TCL_ANY, NULL,
     NS_TCL_CONN | NS_TCL_DATA(UNAUTHORIZED)},
    {"ns_returnforbidden", StandardCmd, 0, NS_TCL_ANY, NULL,
     NS_TCL_CONN | NS_TCL_DATA(FORBIDDEN)},
    {"ns_returnnotfound", StandardCmd, 0, NS_TCL_ANY, NULL,
     NS_TCL_CONN | NS_TCL_DATA(NOT_FOUND)},
    {"ns_returnunavailable", StandardCmd, 0, NS_TCL_ANY, NULL,
     NS_TCL_CONN | NS_TCL_DATA(UNAVAILABLE)},
    {"ns_returntoolarge", StandardCmd, 0, NS_TCL_ANY, NULL,
     NS_TCL_CONN | NS_TCL_DATA(TOO_LARGE)},
    {"ns_returnok", ReturnOkCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_returnredirect", WithWordCmd, 1, 1, "location",
     NS_TCL_CONN | NS_TCL_DATA(REDIRECT)},
    {"ns_returnmoved", WithWordCmd, 1, 1, "location",
     NS_TCL_CONN | NS_TCL_DATA(MOVED)},
    {"ns_internalredirect", WithWordCmd, 1, 1, "location",
     NS_TCL_CONN | NS_TCL_DATA(INTERNAL)},
    {"ns_setexpires", SetExpiresCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_updateheader", UpdateHeaderCmd, 2, 2, "key value", 0},
    NS_TCL_END};

NS_TCL_FAMILY(Return, commands)

static int
ReturnCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsConn     *connPtr;
    Tcl_Obj    *dataObj;
    const char *type;
    int         status, isBinary = 0, result = TCL_ERROR;
    Ns_ObjvSpec options[] = {{"-binary", Ns_ObjvBool, &isBinary, INT2PTR(1)},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"status", NsObjvStatus, &status, NULL},
                          {"type", Ns_ObjvString, &type, NULL},
                          {"data", Ns_ObjvObj, &dataObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || (connPtr = NsTclReplyConn(clientData, &result)) == NULL) {
        return result;
    }
    return NsTclReturnStatus(interp,
                             ReturnObj(connPtr, status, dataObj, type,
                                       isBinary));
}

static int
ReturnObj(NsConn *connPtr, int status, Tcl_Obj *dataObj, const char *type,
          bool isBinary)
{
    int length;

    if (isBinary || NsTclIsByteArray(dataObj)) {
        const unsigned char *bytes = Tcl_GetByteArrayFromObj(dataObj, &length);

        return Ns_ConnReturnData(&connPtr->pub, status, (const char *) bytes,
                                 length, type);
    } else {
        const char *text = Tcl_GetStringFromObj(dataObj, &length);

        return Ns_ConnReturnCharData(&connPtr->pub, status, text, length, type);
    }
}

/*
 * -binary has the bytes; with -data it is a switch, as in later releases.
 */
static int
RespondCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsInterp   *interpPtr = clientData;
    NsConn     *connPtr;
    int         status = 200, length = -1, result;
    const char *type = "*/*", *file = NULL;
    int         isBinary = 0;
    Tcl_Obj    *stringObj = NULL, *binaryObj = NULL, *fileIdObj = NULL;
    Tcl_Obj    *headersObj = NULL, *dataObj = NULL;
    Ns_Set     *headers = NULL;
    Ns_ObjvSpec options[] = {
        {"-status", NsObjvStatus, &status, NULL},
        {"-type", Ns_ObjvString, &type, NULL},
        {"-length", Ns_ObjvInt, &length, NULL},
        {"-headers", Ns_ObjvObj, &headersObj, NULL},
        {"-string", Ns_ObjvObj, &stringObj, NULL},
        {"-file", Ns_ObjvString, &file, NULL},
        {"-fileid", Ns_ObjvObj, &fileIdObj, NULL},
        {"-data", Ns_ObjvObj, &dataObj, NULL},
        {"-binary", Ns_ObjvObj, &binaryObj, NULL},
        {NULL, NULL, NULL, NULL}};

    if (HasWord(objc, objv, "-data")) {
        options[BINARY] = (Ns_ObjvSpec){
            "-binary", Ns_ObjvBool, &isBinary, INT2PTR(1)};
    }
    if (Ns_ParseObjv(options, NULL, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (fileIdObj != NULL && length < 0) {
        return NsTclFail(interp, "length required when -fileid is used");
    }
    if ((stringObj != NULL) + (file != NULL) + (fileIdObj != NULL)
            + (binaryObj != NULL) + (dataObj != NULL)
        != 1) {
        return NsTclFail(interp,
                         "must specify only one of -string, -file, "
                         "-data, -binary or -fileid");
    }
    if (headersObj != NULL
        && Ns_TclGetSet2(interp, Tcl_GetString(headersObj), &headers)
            != TCL_OK) {
        return NsTclFail(interp, "illegal ns_set id: \"%s\"",
                         Tcl_GetString(headersObj));
    }
    connPtr = NsTclReplyConn(interpPtr, &result);
    if (connPtr == NULL) {
        return result;
    }
    if (headers != NULL) {
        Ns_ConnReplaceHeaders(&connPtr->pub, headers);
    }
    if (fileIdObj != NULL) {
        return ReturnChannel(interpPtr, connPtr, status, type, fileIdObj,
                             length);
    }
    if (binaryObj != NULL) {
        result = ReturnObj(connPtr, status, binaryObj, type, true);
    } else if (dataObj != NULL) {
        result = ReturnObj(connPtr, status, dataObj, type, isBinary != 0);
    } else if (file != NULL) {
        result = Ns_ConnReturnFile(&connPtr->pub, status, type, file);
    } else {
        result = ReturnText(connPtr, status, stringObj, length, type);
    }
    return NsTclReturnStatus(interp, result);
}

static bool
HasWord(int objc, Tcl_Obj *const *objv, const char *word)
{
    for (int i = 1; i < objc; i++) {
        if (STREQ(Tcl_GetString(objv[i]), word)) {
            return true;
        }
    }
    return false;
}

/*
 * So many bytes of a text; negative: all.
 */
static int
ReturnText(NsConn *connPtr, int status, Tcl_Obj *textObj, int length,
           const char *type)
{
    int         bytes;
    const char *text = Tcl_GetStringFromObj(textObj, &bytes);

    return Ns_ConnReturnCharData(&connPtr->pub, status, text,
                                 length >= 0 ? MIN(length, bytes) : bytes,
                                 type);
}

static int
WithStatusCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    static int (*const procs[])(Ns_Conn * conn, int status, const char *first,
                                const char *second) = {
        [NOTICE] = Ns_ConnReturnNotice, [A_FILE] = Ns_ConnReturnFile};
    int         what = NsTclData(clientData), status;
    int         result = TCL_ERROR;
    const char *first = objc > 3 ? Tcl_GetString(objv[2]) : "Request Error";
    NsConn     *connPtr;

    if (NsTclGetStatus(interp, objv[1], &status) != TCL_OK
        || (connPtr = NsTclReplyConn(clientData, &result)) == NULL) {
        return result;
    }
    return NsTclReturnStatus(interp,
                             procs[what](&connPtr->pub, status, first,
                                         Tcl_GetString(objv[objc - 1])));
}

static int
ReturnFpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsConn *connPtr;
    int     status, length, result = TCL_ERROR;

    if (NsTclGetStatus(interp, objv[1], &status) != TCL_OK
        || Tcl_GetIntFromObj(interp, objv[4], &length) != TCL_OK
        || (connPtr = NsTclReplyConn(clientData, &result)) == NULL) {
        return result;
    }
    return ReturnChannel(clientData, connPtr, status, Tcl_GetString(objv[2]),
                         objv[3], length);
}

static int
ReturnChannel(NsInterp *interpPtr, NsConn *connPtr, int status,
              const char *type, Tcl_Obj *channelObj, int length)
{
    Tcl_Channel channel;

    if (NsTclGetChannel(interpPtr->interp, channelObj, TCL_READABLE, &channel)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturnStatus(interpPtr->interp,
                             Ns_ConnReturnOpenChannel(&connPtr->pub, status,
                                                      type, channel,
                                                      (size_t) MAX(length, 0)));
}

/*
 * Replies without arguments; words behind the name are ignored.
 */
static int
StandardCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static int (*const procs[])(Ns_Conn * conn) = {
        [UNAUTHORIZED] = Ns_ConnReturnUnauthorized,
        [FORBIDDEN] = Ns_ConnReturnForbidden,
        [NOT_FOUND] = Ns_ConnReturnNotFound,
        [UNAVAILABLE] = Ns_ConnReturnUnavailable,
        [TOO_LARGE] = Ns_ConnReturnEntityTooLarge};

    NsConn *connPtr;
    int     result;

    connPtr = NsTclReplyConn(NsInterpOf(interp), &result);
    return connPtr == NULL
        ? result
        : NsTclReturnStatus(interp,
                            procs[NsTclData(clientData)](&connPtr->pub));
}

static int
ReturnOkCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    int     result;
    NsConn *connPtr = NsTclReplyConn(clientData, &result);

    if (connPtr == NULL) {
        return result;
    }
    return NsTclReturnStatus(interp,
                             Ns_ConnReturnCharData(&connPtr->pub, 200, "", 0,
                                                   "text/plain"));
}

/*
 * Replies with one argument.
 */
static int
WithWordCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static int (*const procs[])(Ns_Conn * conn, const char *word) = {
        [BAD_REQUEST] = Ns_ConnReturnBadRequest,
        [REDIRECT] = Ns_ConnReturnRedirect,
        [MOVED] = Ns_ConnReturnMoved,
        [INTERNAL] = Ns_ConnRedirect};
    NsConn *connPtr;
    int     result;

    connPtr = NsTclReplyConn(NsInterpOf(interp), &result);
    return connPtr == NULL
        ? result
        : NsTclReturnStatus(interp,
                            procs[NsTclData(clientData)](
                                &connPtr->pub, Tcl_GetString(objv[1])));
}

static int
SetExpiresCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    static const char *const directives[] = {
        "public",       "private",         "no-cache",         "no-store",
        "no-transform", "must-revalidate", "proxy-revalidate", NULL};
    NsConn    *connPtr;
    int        directive = -1;
    Ns_Time    span;
    time_t     when;
    Ns_DString ds;

    if ((objc != 2 && objc != 4)
        || (objc == 4
            && (!STREQ(Tcl_GetString(objv[1]), "-cache-control")
                || Tcl_GetIndexFromObj(NULL, objv[2], directives, "", TCL_EXACT,
                                       &directive)
                    != TCL_OK))) {
        Ns_TclPrintfResult(
            interp,
            "usage: ns_setexpires ?-cache-control "
            "public|private|no-cache|no-store|no-transform|must-revalidate|"
            "proxy-revalidate? secs");
        return TCL_ERROR;
    }
    if (Ns_TclGetTimeFromObj(interp, objv[objc - 1], &span) != TCL_OK
        || (connPtr = NsTclCurrentConn(clientData)) == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    if (directive >= 0) {
        Ns_DStringPrintf(&ds, "max-age=%ld, %s", span.sec,
                         directives[directive]);
        Ns_ConnUpdateHeaders(&connPtr->pub, "Cache-Control",
                             Ns_DStringValue(&ds));
        Ns_DStringSetLength(&ds, 0);
    }
    when = time(NULL);
    when += MAX(-when, MIN(span.sec, LAST_HTTP_TIME - when));
    Ns_HttpTime(&ds, &when);
    Ns_ConnUpdateHeaders(&connPtr->pub, "Expires", Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
    return TCL_OK;
}

static int
UpdateHeaderCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    NsConn *connPtr;

    connPtr = NsTclCurrentConn(clientData);
    if (connPtr == NULL) {
        return TCL_ERROR;
    }
    Ns_SetUpdate(Ns_ConnOutputHeaders(&connPtr->pub), Tcl_GetString(objv[1]),
                 Tcl_GetString(objv[2]));
    return TCL_OK;
}
