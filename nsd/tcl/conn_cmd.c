/*
 * conn_cmd.c --
 *
 *      ns_conn: what a script can ask of its request, and change.
 */

#include "tcl/commands.h"
#include "tcl/conncall.h"
#include "tcl/connchan.h"
#include "tcl/set.h"

#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/set.h"
#include "http/negotiate.h"

typedef struct Call {
    NsInterp       *interpPtr;
    Tcl_Interp     *interp;
    NsConn         *connPtr;
    Ns_Conn        *conn;
    int             objc;       /* Words behind the option. */
    Tcl_Obj *const *objv;
} Call;

typedef int (OptionProc) (Call *callPtr);

static Tcl_ObjCmdProc ConnObjCmd;

static OptionProc ConnAcceptedCompression, ConnAuth, ConnAuthPassword, ConnAuthUser, ConnChannel,
    ConnClientData, ConnCloseNow, ConnCompress, ConnContent, ConnContentFile,
    ConnContentLength, ConnContentSentLength, ConnCopy, ConnCurrentAddr,
    ConnCurrentPort, ConnDetails, ConnDriver, ConnEncoding, ConnFileHeaders,
    ConnFileLength, ConnFileOffset, ConnFiles, ConnFlags, ConnForm,
    ConnHeaderLength, ConnHeaders, ConnHost, ConnId, ConnIsConnected, ConnKeepAlive,
    ConnLocation, ConnMethod, ConnOutputHeaders, ConnPartialTimes,
    ConnPeerAddr, ConnPeerPort, ConnPool, ConnPort, ConnProtocol, ConnQuery,
    ConnRateLimit, ConnRequest, ConnServer, ConnSockNumber, ConnStart,
    ConnStatus, ConnTimeout, ConnUrl, ConnUrlc, ConnUrlEncoding, ConnUrlv,
    ConnVersion, ConnZipAccepted;

static int ReturnInt(Call *callPtr, Tcl_WideInt value);
static int ReturnString(Call *callPtr, const char *value);
static int ReturnSet(Call *callPtr, Ns_Set *setPtr);
static int ReturnCharset(Call *callPtr, Tcl_Encoding encoding);
static int GetOwnAddress(Call *callPtr, char *address, size_t size);
static Tcl_Encoding GetCharset(Call *callPtr);
static int GetSlice(Call *callPtr, size_t bodyBytes, size_t *offsetPtr,
                    size_t *lengthPtr);
static const NsConnFile *GetFile(Call *callPtr, const char *option);
static int WrongArgs(Call *callPtr, const char *usage);

typedef struct Option {
    const char *name;
    OptionProc *proc;
    const char *usage;          /* With at most one word behind the option;
                                 * NULL: procs look at the words themselves. */
} Option;

/*
 * In the order of the error message.
 */
static const Option options[] = {
    {"auth", ConnAuth, NULL}, {"authpassword", ConnAuthPassword, NULL},
    {"authuser", ConnAuthUser, NULL}, {"channel", ConnChannel, NULL},
    {"clientdata", ConnClientData, "clientdata ?value?"},
    {"close", ConnCloseNow, NULL},
    {"compress", ConnCompress, "compress ?level?"},
    {"content", ConnContent, NULL}, {"contentfile", ConnContentFile, NULL},
    {"contentlength", ConnContentLength, NULL},
    {"contentsentlength", ConnContentSentLength, "contentsentlength ?value?"},
    {"copy", ConnCopy, NULL}, {"driver", ConnDriver, NULL},
    {"encoding", ConnEncoding, "encoding ?charset?"},
    {"fileheaders", ConnFileHeaders, NULL},
    {"filelength", ConnFileLength, NULL}, {"fileoffset", ConnFileOffset, NULL},
    {"files", ConnFiles, NULL}, {"flags", ConnFlags, NULL},
    {"form", ConnForm, NULL}, {"headers", ConnHeaders, NULL},
    {"host", ConnHost, NULL}, {"id", ConnId, NULL},
    {"isconnected", ConnIsConnected, NULL},
    {"keepalive", ConnKeepAlive, "keepalive ?keepalive?"},
    {"location", ConnLocation, NULL}, {"method", ConnMethod, NULL},
    {"outputheaders", ConnOutputHeaders, NULL},
    {"peeraddr", ConnPeerAddr, NULL}, {"peerport", ConnPeerPort, NULL},
    {"pool", ConnPool, NULL}, {"port", ConnPort, NULL},
    {"protocol", ConnProtocol, NULL}, {"query", ConnQuery, NULL},
    {"request", ConnRequest, NULL}, {"server", ConnServer, NULL},
    {"sock", ConnSockNumber, NULL}, {"start", ConnStart, NULL},
    {"status", ConnStatus, "status ?status?"}, {"timeout", ConnTimeout, NULL},
    {"url", ConnUrl, NULL}, {"urlc", ConnUrlc, NULL},
    {"urlencoding", ConnUrlEncoding, "urlencoding ?charset?"},
    {"urlv", ConnUrlv, "urlv ?n?"}, {"version", ConnVersion, NULL},
    {"zipaccepted", ConnZipAccepted, NULL}, {NULL, NULL, NULL}
};

/*
 * Of later releases; not named in the error message.
 */
static const Option laterOptions[] = {
    {"acceptedcompression", ConnAcceptedCompression, NULL},
    {"currentaddr", ConnCurrentAddr, NULL},
    {"currentport", ConnCurrentPort, NULL}, {"details", ConnDetails, NULL},
    {"headerlength", ConnHeaderLength, NULL},
    {"partialtimes", ConnPartialTimes, NULL},
    {"ratelimit", ConnRateLimit, "ratelimit ?n?"}, {NULL, NULL, NULL}
};

void
NsConnCmdInit(void)
{
    static const NsTclCommand commands[] = {
        {"ns_conn", ConnObjCmd, false},
        {NULL, NULL, false}
    };

    NsTclAddCommands(commands);
}

static int
ConnObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsInterp     *interpPtr = clientData;
    Call          call = {.interpPtr = interpPtr, .interp = interp};
    const Option *optionPtr = NULL;
    int           i;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(NULL, objv[1], options, sizeof(Option), "option",
                                  0, &i) == TCL_OK) {
        optionPtr = &options[i];
    } else {
        for (i = 0; laterOptions[i].name != NULL && optionPtr == NULL; i++) {
            if (STREQ(laterOptions[i].name, Tcl_GetString(objv[1]))) {
                optionPtr = &laterOptions[i];
            }
        }
        if (optionPtr == NULL) {
            return Tcl_GetIndexFromObjStruct(interp, objv[1], options,
                                             sizeof(Option), "option", 0, &i);
        }
    }
    call.objc = objc - 2;
    call.objv = objv + 2;
    call.connPtr = interpPtr->connPtr;
    if (call.connPtr == NULL && optionPtr->proc != ConnIsConnected) {
        Ns_TclPrintfResult(interp, "no current connection");
        return TCL_ERROR;
    }
    call.conn = (call.connPtr != NULL) ? &call.connPtr->pub : NULL;
    if (optionPtr->usage != NULL && call.objc > 1) {
        return WrongArgs(&call, optionPtr->usage);
    }
    return optionPtr->proc(&call);
}

/* ---- Who asks, and how. ---- */

static int
ConnAuth(Call *callPtr)
{
    Ns_Set *setPtr = Ns_ConnAuth(callPtr->conn);

    if (setPtr == NULL) {
        setPtr = NsSetCreateInArena(NsConnArena(callPtr->connPtr), NULL, 4);
        callPtr->conn->auth = setPtr;
    }
    return ReturnSet(callPtr, setPtr);
}

static int
ConnAuthUser(Call *callPtr)
{
    return ReturnString(callPtr, Ns_ConnAuthUser(callPtr->conn));
}

static int
ConnAuthPassword(Call *callPtr)
{
    return ReturnString(callPtr, Ns_ConnAuthPasswd(callPtr->conn));
}

static int
ConnPeerAddr(Call *callPtr)
{
    static const char *const sources[] = {
        "configured", "direct", "forwarded", NULL
    };
    const char *forwarded;
    int         source = 0;

    if (callPtr->objc > 0) {
        if (callPtr->objc != 2 || !STREQ(Tcl_GetString(callPtr->objv[0]), "-source")) {
            return WrongArgs(callPtr, "peeraddr ?-source configured|direct|forwarded?");
        }
        if (Tcl_GetIndexFromObj(callPtr->interp, callPtr->objv[1], sources, "source",
                                TCL_EXACT, &source) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    if (source == 2) {
        forwarded = Ns_SetIGet(Ns_ConnHeaders(callPtr->conn), "X-Forwarded-For");
        return ReturnString(callPtr, forwarded);
    }
    return ReturnString(callPtr, Ns_ConnPeer(callPtr->conn));
}

static int
ConnPeerPort(Call *callPtr)
{
    return ReturnInt(callPtr, Ns_ConnPeerPort(callPtr->conn));
}

static int
ConnIsConnected(Call *callPtr)
{
    Tcl_SetObjResult(callPtr->interp, Tcl_NewBooleanObj(callPtr->connPtr != NULL));
    return TCL_OK;
}

static int
ConnId(Call *callPtr)
{
    return ReturnInt(callPtr, Ns_ConnId(callPtr->conn));
}

static int
ConnServer(Call *callPtr)
{
    return ReturnString(callPtr, Ns_ConnServer(callPtr->conn));
}

static int
ConnPool(Call *callPtr)
{
    return ReturnString(callPtr, callPtr->connPtr->work.poolPtr != NULL
                        ? NsPoolName(callPtr->connPtr->work.poolPtr) : "");
}

static int
ConnDriver(Call *callPtr)
{
    return ReturnString(callPtr, Ns_ConnDriverName(callPtr->conn));
}

static int
ConnSockNumber(Call *callPtr)
{
    return ReturnInt(callPtr, callPtr->connPtr->sockPtr != NULL
                     ? NsSockFd(callPtr->connPtr->sockPtr) : -1);
}

static int
ConnDetails(Call *callPtr)
{
    NsSock    *sockPtr = callPtr->connPtr->sockPtr;
    char       address[INET6_ADDRSTRLEN];
    int        port = GetOwnAddress(callPtr, address, sizeof(address));
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, "proxied 0 currentaddr");
    Ns_DStringAppendElement(&ds, address);
    Ns_DStringPrintf(&ds, " currentport %d", port);
    if (sockPtr != NULL) {
        NsSockDetails(sockPtr, &ds);
    }
    Tcl_DStringResult(callPtr->interp, &ds);
    return TCL_OK;
}

static int
ConnCurrentAddr(Call *callPtr)
{
    char address[INET6_ADDRSTRLEN];

    (void) GetOwnAddress(callPtr, address, sizeof(address));
    return ReturnString(callPtr, address);
}

static int
ConnCurrentPort(Call *callPtr)
{
    char address[INET6_ADDRSTRLEN];

    return ReturnInt(callPtr, GetOwnAddress(callPtr, address, sizeof(address)));
}

/*
 * The address and port at which the connection came in; "" and 0 when the
 * socket is gone.
 */
static int
GetOwnAddress(Call *callPtr, char *address, size_t size)
{
    struct sockaddr_storage space;
    struct sockaddr_in     *inPtr = (struct sockaddr_in *) (void *) &space;
    struct sockaddr_in6    *in6Ptr = (struct sockaddr_in6 *) (void *) &space;
    socklen_t               length = sizeof(space);

    *address = '\0';
    if (getsockname(Ns_ConnSock(callPtr->conn), (struct sockaddr *) &space,
                    &length) != 0) {
        return 0;
    }
    if (space.ss_family == AF_INET) {
        (void) inet_ntop(AF_INET, &inPtr->sin_addr, address, (socklen_t) size);
        return ntohs(inPtr->sin_port);
    }
    if (space.ss_family != AF_INET6) {
        return 0;
    }
    if (IN6_IS_ADDR_V4MAPPED(&in6Ptr->sin6_addr)) {
        (void) inet_ntop(AF_INET, in6Ptr->sin6_addr.s6_addr + 12, address,
                         (socklen_t) size);
    } else {
        (void) inet_ntop(AF_INET6, &in6Ptr->sin6_addr, address,
                         (socklen_t) size);
    }
    return ntohs(in6Ptr->sin6_port);
}

/* ---- The request line. ---- */

static int
ConnRequest(Call *callPtr)
{
    return ReturnString(callPtr, callPtr->conn->request->line);
}

static int
ConnMethod(Call *callPtr)
{
    return ReturnString(callPtr, callPtr->conn->request->method);
}

static int
ConnProtocol(Call *callPtr)
{
    return ReturnString(callPtr, callPtr->conn->request->protocol);
}

static int
ConnHost(Call *callPtr)
{
    return ReturnString(callPtr, callPtr->conn->request->host);
}

static int
ConnPort(Call *callPtr)
{
    return ReturnInt(callPtr, callPtr->conn->request->port);
}

static int
ConnUrl(Call *callPtr)
{
    return ReturnString(callPtr, callPtr->conn->request->url);
}

static int
ConnUrlc(Call *callPtr)
{
    return ReturnInt(callPtr, callPtr->conn->request->urlc);
}

static int
ConnUrlv(Call *callPtr)
{
    const Ns_Request *requestPtr = callPtr->conn->request;
    Tcl_Obj          *listObj;
    int               i;

    if (callPtr->objc == 1) {
        if (Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[0], &i) != TCL_OK) {
            return TCL_ERROR;
        }
        return ReturnString(callPtr, i >= 0 && i < requestPtr->urlc
                            ? requestPtr->urlv[i] : NULL);
    }
    listObj = Tcl_NewListObj(0, NULL);
    for (i = 0; i < requestPtr->urlc; i++) {
        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(requestPtr->urlv[i], -1));
    }
    Tcl_SetObjResult(callPtr->interp, listObj);
    return TCL_OK;
}

static int
ConnQuery(Call *callPtr)
{
    return ReturnString(callPtr, callPtr->conn->request->query);
}

static int
ConnVersion(Call *callPtr)
{
    Tcl_SetObjResult(callPtr->interp,
                     Tcl_NewDoubleObj(callPtr->connPtr->messagePtr->head.version));
    return TCL_OK;
}

static int
ConnLocation(Call *callPtr)
{
    Tcl_DString ds;

    Tcl_DStringInit(&ds);
    Ns_ConnLocationAppend(callPtr->conn, &ds);
    Tcl_DStringResult(callPtr->interp, &ds);
    return TCL_OK;
}

/* ---- Headers and body. ---- */

static int
ConnHeaders(Call *callPtr)
{
    return ReturnSet(callPtr, Ns_ConnHeaders(callPtr->conn));
}

/*
 * Bytes of the request's head, as received.
 */
static int
ConnHeaderLength(Call *callPtr)
{
    return ReturnInt(callPtr, (Tcl_WideInt)
                     callPtr->connPtr->messagePtr->head.headBytes);
}

static int
ConnOutputHeaders(Call *callPtr)
{
    return ReturnSet(callPtr, Ns_ConnOutputHeaders(callPtr->conn));
}

static int
ConnForm(Call *callPtr)
{
    return ReturnSet(callPtr, Ns_ConnGetQuery(callPtr->conn));
}

static int
ConnContent(Call *callPtr)
{
    const char *body;
    size_t      bodyBytes, offset = 0, length;

    if (callPtr->objc != 0 && callPtr->objc != 2) {
        return WrongArgs(callPtr, "content ?off len?");
    }
    if ((callPtr->conn->flags & NS_CONN_CLOSED) != 0) {
        Ns_TclPrintfResult(callPtr->interp,
                           "connection already closed, can't get content");
        return TCL_ERROR;
    }
    body = NsConnBody(callPtr->connPtr, &bodyBytes);
    if (body == NULL) {
        bodyBytes = 0;
    }
    length = bodyBytes;
    if (callPtr->objc == 2
            && GetSlice(callPtr, bodyBytes, &offset, &length) != TCL_OK) {
        return TCL_ERROR;
    }
    if (length > 0) {
        Tcl_SetObjResult(callPtr->interp,
            Tcl_NewByteArrayObj((const unsigned char *) body + offset,
                                (int) MIN(length, (size_t) INT_MAX)));
    }
    return TCL_OK;
}

static int
ConnCopy(Call *callPtr)
{
    Tcl_Channel channel;
    const char *body;
    size_t      bodyBytes, offset, length;

    if (callPtr->objc != 3) {
        return WrongArgs(callPtr, "copy off len chan");
    }
    if ((callPtr->conn->flags & NS_CONN_CLOSED) != 0) {
        Ns_TclPrintfResult(callPtr->interp,
                           "connection already closed, can't get content");
        return TCL_ERROR;
    }
    body = NsConnBody(callPtr->connPtr, &bodyBytes);
    if (body == NULL) {
        bodyBytes = 0;
    }
    if (GetSlice(callPtr, bodyBytes, &offset, &length) != TCL_OK
            || NsTclGetChannel(callPtr->interp, callPtr->objv[2], TCL_WRITABLE,
                               &channel) != TCL_OK) {
        return TCL_ERROR;
    }
    while (length > 0) {
        int n = Tcl_Write(channel, body + offset,
                          (int) MIN(length, (size_t) (1 << 30)));

        if (n <= 0) {
            Ns_TclPrintfResult(callPtr->interp, "could not write %s bytes to %s: %s",
                               Tcl_GetString(callPtr->objv[1]),
                               Tcl_GetString(callPtr->objv[2]),
                               Tcl_PosixError(callPtr->interp));
            return TCL_ERROR;
        }
        offset += (size_t) n;
        length -= (size_t) n;
    }
    return TCL_OK;
}

/*
 * The slice of the body that the first two words name.
 */
static int
GetSlice(Call *callPtr, size_t bodyBytes, size_t *offsetPtr, size_t *lengthPtr)
{
    Tcl_WideInt offset, length;

    if (Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[0], &offset) != TCL_OK
            || Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[1],
                                     &length) != TCL_OK) {
        return TCL_ERROR;
    }
    if (offset < 0 || (size_t) offset > bodyBytes) {
        Ns_TclPrintfResult(callPtr->interp, "invalid offset: %s",
                           Tcl_GetString(callPtr->objv[0]));
        return TCL_ERROR;
    }
    if (length < 0 || (size_t) length > bodyBytes - (size_t) offset) {
        Ns_TclPrintfResult(callPtr->interp, "invalid length: %s",
                           Tcl_GetString(callPtr->objv[1]));
        return TCL_ERROR;
    }
    *offsetPtr = (size_t) offset;
    *lengthPtr = (size_t) length;
    return TCL_OK;
}

static int
ConnContentFile(Call *callPtr)
{
    return ReturnString(callPtr, Ns_ConnContentFile(callPtr->conn));
}

static int
ConnContentLength(Call *callPtr)
{
    return ReturnInt(callPtr, (Tcl_WideInt) Ns_ConnContentSize(callPtr->conn));
}

static int
ConnFiles(Call *callPtr)
{
    const NsConnFile *filePtr;
    Tcl_Obj          *listObj;

    if (callPtr->objc != 0) {
        return WrongArgs(callPtr, "files");
    }
    listObj = Tcl_NewListObj(0, NULL);
    for (filePtr = NsConnFiles(callPtr->connPtr); filePtr != NULL;
         filePtr = filePtr->nextPtr) {
        Tcl_ListObjAppendElement(NULL, listObj, Tcl_NewStringObj(filePtr->field, -1));
    }
    Tcl_SetObjResult(callPtr->interp, listObj);
    return TCL_OK;
}

static int
ConnFileOffset(Call *callPtr)
{
    const NsConnFile *filePtr = GetFile(callPtr, "fileoffset");

    return filePtr != NULL
        ? ReturnInt(callPtr, (Tcl_WideInt) filePtr->offset) : TCL_ERROR;
}

static int
ConnFileLength(Call *callPtr)
{
    const NsConnFile *filePtr = GetFile(callPtr, "filelength");

    return filePtr != NULL
        ? ReturnInt(callPtr, (Tcl_WideInt) filePtr->length) : TCL_ERROR;
}

static int
ConnFileHeaders(Call *callPtr)
{
    const NsConnFile *filePtr = GetFile(callPtr, "fileheaders");

    return filePtr != NULL ? ReturnSet(callPtr, filePtr->headers) : TCL_ERROR;
}

static const NsConnFile *
GetFile(Call *callPtr, const char *option)
{
    const NsConnFile *filePtr;

    if (callPtr->objc != 1) {
        (void) WrongArgs(callPtr, option);
        return NULL;
    }
    for (filePtr = NsConnFiles(callPtr->connPtr); filePtr != NULL;
         filePtr = filePtr->nextPtr) {
        if (STREQ(filePtr->field, Tcl_GetString(callPtr->objv[0]))) {
            return filePtr;
        }
    }
    Ns_TclPrintfResult(callPtr->interp, "no such file: %s",
                       Tcl_GetString(callPtr->objv[0]));
    return NULL;
}

/* ---- The reply. ---- */

static int
ConnStatus(Call *callPtr)
{
    int old = Ns_ConnResponseStatus(callPtr->conn), status;

    if (callPtr->objc == 1) {
        if (Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[0], &status) != TCL_OK) {
            return TCL_ERROR;
        }
        Ns_ConnSetResponseStatus(callPtr->conn, status);
    }
    return ReturnInt(callPtr, old);
}

static int
ConnKeepAlive(Call *callPtr)
{
    if (callPtr->objc == 1
            && Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[0],
                                 &callPtr->connPtr->keep) != TCL_OK) {
        return TCL_ERROR;
    }
    return ReturnInt(callPtr, callPtr->connPtr->keep);
}

static int
ConnCompress(Call *callPtr)
{
    int level;

    if (callPtr->objc == 1) {
        if (Tcl_GetIntFromObj(NULL, callPtr->objv[0], &level) != TCL_OK
                && Tcl_GetBooleanFromObj(callPtr->interp, callPtr->objv[0],
                                         &level) != TCL_OK) {
            return TCL_ERROR;
        }
        Ns_ConnSetCompression(callPtr->conn, MAX(0, MIN(level, 9)));
    }
    return ReturnInt(callPtr, Ns_ConnGetCompression(callPtr->conn));
}

static int
ConnEncoding(Call *callPtr)
{
    Tcl_Encoding encoding;

    if (callPtr->objc == 1) {
        encoding = GetCharset(callPtr);
        if (encoding == NULL) {
            return TCL_ERROR;
        }
        Ns_ConnSetEncoding(callPtr->conn, encoding);
    }
    return ReturnCharset(callPtr, Ns_ConnGetEncoding(callPtr->conn));
}

static int
ConnUrlEncoding(Call *callPtr)
{
    Tcl_Encoding encoding;

    if (callPtr->objc == 1) {
        encoding = GetCharset(callPtr);
        if (encoding == NULL) {
            return TCL_ERROR;
        }
        if (encoding != Ns_ConnGetUrlEncoding(callPtr->conn)) {
            Ns_ConnSetUrlEncoding(callPtr->conn, encoding);
            Ns_ConnClearQuery(callPtr->conn);
        }
    }
    return ReturnCharset(callPtr, Ns_ConnGetUrlEncoding(callPtr->conn));
}

static int
ConnContentSentLength(Call *callPtr)
{
    Tcl_WideInt bytes;

    if (callPtr->objc == 0) {
        return ReturnInt(callPtr, Ns_ConnContentSent(callPtr->conn));
    }
    if (Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[0], &bytes) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_ConnSetContentSent(callPtr->conn, bytes);
    return TCL_OK;
}

static int
ConnClientData(Call *callPtr)
{
    if (callPtr->objc == 1) {
        NsConnSetClientData(callPtr->connPtr, Tcl_GetString(callPtr->objv[0]));
    }
    return ReturnString(callPtr, NsConnClientData(callPtr->connPtr));
}

static int
ConnCloseNow(Call *callPtr)
{
    Ns_ConnClose(callPtr->conn);
    Tcl_ResetResult(callPtr->interp);
    return TCL_OK;
}

static int
ConnFlags(Call *callPtr)
{
    return ReturnInt(callPtr, callPtr->conn->flags);
}

static int
ConnZipAccepted(Call *callPtr)
{
    return ReturnInt(callPtr, (callPtr->conn->flags & NS_CONN_ZIPACCEPTED) != 0);
}

/*
 * A list of those named here that the client takes.
 */
static int
ConnAcceptedCompression(Call *callPtr)
{
    const NsHttpHead *headPtr = &callPtr->connPtr->messagePtr->head;
    Tcl_Obj          *listObj = Tcl_NewListObj(0, NULL);

    if (NsAcceptsCoding(NsHttpKnown(headPtr, NS_FIELD_ACCEPT_ENCODING), "br")) {
        Tcl_ListObjAppendElement(NULL, listObj, Tcl_NewStringObj("brotli", -1));
    }
    if ((callPtr->conn->flags & NS_CONN_ZIPACCEPTED) != 0) {
        Tcl_ListObjAppendElement(NULL, listObj, Tcl_NewStringObj("gzip", -1));
    }
    Tcl_SetObjResult(callPtr->interp, listObj);
    return TCL_OK;
}

static int
ConnStart(Call *callPtr)
{
    Tcl_SetObjResult(callPtr->interp,
                     Ns_TclNewTimeObj(Ns_ConnStartTime(callPtr->conn)));
    return TCL_OK;
}

static int
ConnTimeout(Call *callPtr)
{
    Tcl_SetObjResult(callPtr->interp,
                     Ns_TclNewTimeObj(Ns_ConnTimeout(callPtr->conn)));
    return TCL_OK;
}

static int
ConnPartialTimes(Call *callPtr)
{
    Ns_Time     accept, queue, filter, run;
    Tcl_DString ds;

    Ns_ConnTimeSpans(callPtr->conn, &accept, &queue, &filter, &run);
    Tcl_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "accepttime %ld.%06ld queuetime %ld.%06ld "
                     "filtertime %ld.%06ld runtime %ld.%06ld",
                     accept.sec, accept.usec, queue.sec, queue.usec,
                     filter.sec, filter.usec, run.sec, run.usec);
    Tcl_DStringResult(callPtr->interp, &ds);
    return TCL_OK;
}

/*
 * ratelimit ?n?: kB/s of this reply when a writer thread sends it; 0 is none.
 */
static int
ConnRateLimit(Call *callPtr)
{
    NsSock *sockPtr = callPtr->connPtr->sockPtr;
    int     limit;

    if (sockPtr == NULL) {
        return ReturnInt(callPtr, 0);
    }
    if (callPtr->objc == 1) {
        if (Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[0], &limit)
                != TCL_OK) {
            return TCL_ERROR;
        }
        NsSockSetBytesPerSecond(sockPtr, MAX(limit, 0) * (int64_t) 1024);
    }
    return ReturnInt(callPtr, NsSockGetBytesPerSecond(sockPtr) / 1024);
}

/*
 * Hand the client's socket over as a Tcl channel, after the header if one was
 * prepared.
 */
static int
ConnChannel(Call *callPtr)
{
    NsConn     *connPtr = callPtr->connPtr;
    Tcl_Channel channel;
    int         fd;

    if (NsConnSocketIsTaken(connPtr)) {
        Ns_TclPrintfResult(callPtr->interp, "no socket for connection");
        return TCL_ERROR;
    }
    if ((callPtr->conn->flags & NS_CONN_CLOSED) != 0
            || connPtr->sockPtr == NULL) {
        Ns_TclPrintfResult(callPtr->interp, "connection closed");
        return TCL_ERROR;
    }
    if ((callPtr->conn->flags & (NS_CONN_STREAM | NS_CONN_SENTHDRS)) == 0) {
        callPtr->conn->flags |= NS_CONN_SKIPHDRS;
    }
    fd = NsConnTakeSocket(connPtr);
    if (fd < 0) {
        Ns_TclPrintfResult(callPtr->interp, "connection closed");
        return TCL_ERROR;
    }
    channel = Tcl_MakeTcpClientChannel(INT2PTR(fd));
    Tcl_SetChannelOption(NULL, channel, "-translation", "auto crlf");
    Tcl_SetChannelOption(NULL, channel, "-encoding", "utf-8");
    Tcl_SetChannelOption(NULL, channel, "-buffering", "full");
    Tcl_RegisterChannel(callPtr->interp, channel);
    NsConnChanEnter(connPtr, channel);
    return ReturnString(callPtr, Tcl_GetChannelName(channel));
}

/* ---- Results. ---- */

static int
ReturnInt(Call *callPtr, Tcl_WideInt value)
{
    Tcl_SetObjResult(callPtr->interp, Tcl_NewWideIntObj(value));
    return TCL_OK;
}

static int
ReturnString(Call *callPtr, const char *value)
{
    if (value != NULL) {
        Tcl_SetObjResult(callPtr->interp, Tcl_NewStringObj(value, -1));
    }
    return TCL_OK;
}

static int
ReturnSet(Call *callPtr, Ns_Set *setPtr)
{
    if (setPtr != NULL) {
        Tcl_SetObjResult(callPtr->interp,
                         NsTclSetEnterKnown(callPtr->interpPtr, setPtr));
    }
    return TCL_OK;
}

/*
 * The encoding that the next word names; NULL, with a message, if there is none.
 */
static Tcl_Encoding
GetCharset(Call *callPtr)
{
    const char  *name = Tcl_GetString(callPtr->objv[0]);
    Tcl_Encoding encoding = Ns_GetCharsetEncoding(name);

    if (encoding == NULL) {
        Ns_TclPrintfResult(callPtr->interp, "no such encoding: %s", name);
    }
    return encoding;
}

static int
ReturnCharset(Call *callPtr, Tcl_Encoding encoding)
{
    return ReturnString(callPtr, encoding != NULL
                        ? Ns_GetEncodingCharset(encoding) : "utf-8");
}

static int
WrongArgs(Call *callPtr, const char *usage)
{
    Ns_TclPrintfResult(callPtr->interp, "wrong # args: should be \"ns_conn %s\"",
                       usage);
    return TCL_ERROR;
}
