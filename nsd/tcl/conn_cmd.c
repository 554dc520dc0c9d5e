/* SPDX-License-Identifier: MPL-2.0
 * conn_cmd.c --
 *
 *      ns_conn: what a script can ask of its request, and change.
 */

#include "dispatch/pool_config.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/conncontent.h"
#include "tcl/connoption.h"
#include "tcl/connreply.h"
#include "tcl/connrequest.h"
#include "tcl/result.h"

#include <limits.h>

#include "nsstring.h"
#include "base/set.h"
#include "request/proxies.h"
#include "request/reply.h"

static Tcl_ObjCmdProc ConnCmd;

static NsConnOptionProc ConnAuth, ConnIsConnected, ConnLocation, ConnPeerAddr,
    ConnPool, ConnSockNumber, ConnUrlc, ConnUrlv, ConnVersion;

/*
 * A name, and who answers; else a text of the request line.
 */
typedef struct Option {
    const char       *name;
    NsConnOptionProc *proc;
    const char       *usage; /* With one word behind the option, or none;
                              * NULL: none. */
    bool readsWords;         /* The proc looks at them itself. */
    char *(*textProc)(Ns_Conn *conn);
    int (*numberProc)(Ns_Conn *conn);
    Ns_Set *(*setProc)(Ns_Conn *conn);
    size_t offset; /* In Ns_Request. */
} Option;

static int MaxWords(const Option *optionPtr);
static int Answer(const Option *optionPtr, NsConnCall *callPtr);

/*
 * In the order of the error message.
 */
static const Option options[] = {
    {"acceptedcompression", .proc = NsConnOptionAcceptedCompression},
    {"auth", .proc = ConnAuth},
    {"authpassword", .textProc = Ns_ConnAuthPasswd},
    {"authuser", .textProc = Ns_ConnAuthUser},
    {"channel", .proc = NsConnOptionChannel},
    {"clientcert", .proc = NsConnOptionClientCert},
    {"clientdata", .proc = NsConnOptionClientData,
     .usage = "clientdata ?value?"},
    {"close", .proc = NsConnOptionCloseNow},
    {"compress", .proc = NsConnOptionCompress, .usage = "compress ?level?"},
    {"content", .proc = NsConnOptionContent, .readsWords = true},
    {"contentfile", .textProc = Ns_ConnContentFile},
    {"contentlength", .proc = NsConnOptionContentLength},
    {"contentsentlength", .proc = NsConnOptionContentSentLength,
     .usage = "contentsentlength ?value?"},
    {"contenttype", .proc = NsConnOptionContentType},
    {"copy", .proc = NsConnOptionCopy, .readsWords = true},
    {"currentaddr", .proc = NsConnOptionCurrentAddr},
    {"currentport", .proc = NsConnOptionCurrentPort},
    {"details", .proc = NsConnOptionDetails},
    {"driver", .textProc = Ns_ConnDriverName},
    {"encoding", .proc = NsConnOptionEncoding, .usage = "encoding ?charset?"},
    {"fileheaders", .proc = NsConnOptionFileHeaders, .readsWords = true},
    {"filelength", .proc = NsConnOptionFileLength, .readsWords = true},
    {"fileoffset", .proc = NsConnOptionFileOffset, .readsWords = true},
    {"files", .proc = NsConnOptionFiles, .readsWords = true},
    {"flags", .proc = NsConnOptionFlags},
    {"form", .proc = NsConnOptionForm, .readsWords = true},
    {"fragment", .proc = NsConnOptionFragment},
    {"headerlength", .proc = NsConnOptionHeaderLength},
    {"headers", .setProc = Ns_ConnHeaders},
    {"host", .proc = NsConnOptionHost, .usage = "host ?default?"},
    {"id", .numberProc = Ns_ConnId},
    {"isconnected", .proc = ConnIsConnected},
    {"keepalive", .proc = NsConnOptionKeepAlive,
     .usage = "keepalive ?keepalive?"},
    {"location", .proc = ConnLocation},
    {"method", .offset = offsetof(Ns_Request, method)},
    {"outputheaders", .setProc = Ns_ConnOutputHeaders},
    {"partialtimes", .proc = NsConnOptionPartialTimes},
    {"peeraddr", .proc = ConnPeerAddr, .readsWords = true},
    {"peerport", .numberProc = Ns_ConnPeerPort},
    {"pool", .proc = ConnPool},
    {"port", .proc = NsConnOptionPort},
    {"privacy", .proc = NsConnOptionPrivacy},
    {"protocol", .proc = NsConnOptionProtocol},
    {"query", .offset = offsetof(Ns_Request, query)},
    {"ratelimit", .proc = NsConnOptionRateLimit, .usage = "ratelimit ?n?"},
    {"request", .offset = offsetof(Ns_Request, line)},
    {"requestid", .proc = NsConnOptionRequestId},
    {"server", .textProc = Ns_ConnServer},
    {"sock", .proc = ConnSockNumber},
    {"start", .proc = NsConnOptionStart},
    {"status", .proc = NsConnOptionStatus, .usage = "status ?status?"},
    {"target", .proc = NsConnOptionTarget},
    {"timelimit", .proc = NsConnOptionTimeLimit, .usage = "timelimit ?time?"},
    {"timeout", .proc = NsConnOptionTimeout},
    {"traceparent", .proc = NsConnOptionTraceParent},
    {"url", .offset = offsetof(Ns_Request, url)},
    {"urlc", .proc = ConnUrlc},
    {"urldict", .proc = NsConnOptionUrlDict},
    {"urlencoding", .proc = NsConnOptionUrlEncoding,
     .usage = "urlencoding ?charset?"},
    {"urlv", .proc = ConnUrlv, .usage = "urlv ?n?"},
    {"version", .proc = ConnVersion},
    {"zipaccepted", .proc = NsConnOptionZipAccepted},
    {.name = NULL},
    {.name = NULL}};

static const NsTclCommand commands[] = {
    {"ns_conn", ConnCmd, 1, NS_TCL_ANY, "option", 0}, NS_TCL_END};

NS_TCL_FAMILY(Conn, commands)

static int
ConnCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsInterp     *interpPtr = clientData;
    NsConnCall    call = {.interpPtr = interpPtr, .interp = interp};
    const Option *optionPtr;

    optionPtr = NsTclFindRow(interp, objv[1], options, sizeof(Option), "option",
                             false);
    if (optionPtr == NULL) {
        return TCL_ERROR;
    }
    call.objc = objc - 2;
    call.objv = objv + 2;
    call.connPtr = interpPtr->connPtr;
    if (call.connPtr == NULL && optionPtr->proc != ConnIsConnected) {
        return NsTclFail(interp, "no current connection");
    }
    call.conn = (call.connPtr != NULL) ? &call.connPtr->pub : NULL;
    if (call.objc > MaxWords(optionPtr)) {
        return NsConnWrongArgs(&call,
                               optionPtr->usage != NULL ? optionPtr->usage
                                                        : optionPtr->name);
    }
    return Answer(optionPtr, &call);
}

static int
MaxWords(const Option *optionPtr)
{
    return optionPtr->readsWords ? INT_MAX : optionPtr->usage != NULL;
}

static int
Answer(const Option *optionPtr, NsConnCall *callPtr)
{
    Ns_Conn *conn = callPtr->conn;

    if (optionPtr->proc != NULL) {
        return optionPtr->proc(callPtr);
    }
    if (optionPtr->setProc != NULL) {
        return NsConnReturnSet(callPtr, optionPtr->setProc(conn));
    }
    if (optionPtr->numberProc != NULL) {
        return NsConnReturnInt(callPtr, optionPtr->numberProc(conn));
    }
    return NsConnReturnString(callPtr,
                              optionPtr->textProc != NULL
                                  ? optionPtr->textProc(conn)
                                  : *(char **) ((char *) conn->request
                                                + optionPtr->offset));
}

/* ---- Who asks, and how. ---- */

static int
ConnAuth(NsConnCall *callPtr)
{
    Ns_Set *setPtr = Ns_ConnAuth(callPtr->conn);

    if (setPtr == NULL) {
        setPtr = NsSetCreateInArena(NsConnArena(callPtr->connPtr), NULL, 4);
        callPtr->conn->auth = setPtr;
    }
    return NsConnReturnSet(callPtr, setPtr);
}

static int
ConnPeerAddr(NsConnCall *callPtr)
{
    static const char *const sources[] = {
        "configured", "direct", "forwarded", NULL};
    const char *address = Ns_ConnPeer(callPtr->conn);
    int         source = 0;

    if (callPtr->objc > 0) {
        if (callPtr->objc != 2
            || !STREQ(Tcl_GetString(callPtr->objv[0]), "-source")) {
            return NsConnWrongArgs(
                callPtr, "peeraddr ?-source configured|direct|forwarded?");
        }
        if (Tcl_GetIndexFromObj(callPtr->interp, callPtr->objv[1], sources,
                                "source", TCL_EXACT, &source)
            != TCL_OK) {
            return TCL_ERROR;
        }
    }
    if (source == 1) {
        address = Ns_ConnPeerAddr(callPtr->conn);
    } else if (source == 2) {
        address = Ns_ConnForwardedPeerAddr(callPtr->conn);
    }
    return NsConnReturnString(callPtr, address);
}

static int
ConnIsConnected(NsConnCall *callPtr)
{
    return NsTclReturn(callPtr->interp,
                       Tcl_NewBooleanObj(callPtr->connPtr != NULL
                                         && !NsConnIsDetached(callPtr
                                                                  ->connPtr)));
}

static int
ConnPool(NsConnCall *callPtr)
{
    return NsConnReturnString(callPtr,
                              callPtr->connPtr->work.poolPtr != NULL
                                  ? NsPoolName(callPtr->connPtr->work.poolPtr)
                                  : "");
}

static int
ConnSockNumber(NsConnCall *callPtr)
{
    return NsConnReturnInt(callPtr,
                           callPtr->connPtr->sockPtr != NULL
                               ? NsSockFd(callPtr->connPtr->sockPtr)
                               : -1);
}

/* ---- The request line. ---- */

static int
ConnUrlc(NsConnCall *callPtr)
{
    return NsConnReturnInt(callPtr, callPtr->conn->request->urlc);
}

static int
ConnUrlv(NsConnCall *callPtr)
{
    const Ns_Request *requestPtr = callPtr->conn->request;
    Tcl_Obj          *listObj;
    int               i;

    if (callPtr->objc == 1) {
        if (Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[0], &i)
            != TCL_OK) {
            return TCL_ERROR;
        }
        return NsConnReturnString(callPtr,
                                  i >= 0 && i < requestPtr->urlc
                                      ? requestPtr->urlv[i]
                                      : NULL);
    }
    listObj = Tcl_NewListObj(0, NULL);
    for (i = 0; i < requestPtr->urlc; i++) {
        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(requestPtr->urlv[i], -1));
    }
    return NsTclReturn(callPtr->interp, listObj);
}

static int
ConnVersion(NsConnCall *callPtr)
{
    const NsHttpHead *headPtr = &callPtr->connPtr->messagePtr->head;

    return NsTclReturn(callPtr->interp, Tcl_NewDoubleObj(headPtr->sentVersion));
}

static int
ConnLocation(NsConnCall *callPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_ConnLocationAppend(callPtr->conn, &ds);
    return NsTclReturnText(callPtr->interp, &ds);
}
