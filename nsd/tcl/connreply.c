/* SPDX-License-Identifier: MPL-2.0
 * connreply.c --
 *
 *      The options of ns_conn that report or change the reply.
 */

#include "tcl/connreply.h"
#include "tcl/connchan_cmd.h"
#include "tcl/connoption.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include "nsstring.h"
#include "http/negotiate.h"
#include "request/reply.h"

int
NsConnOptionStatus(NsConnCall *callPtr)
{
    int old = Ns_ConnResponseStatus(callPtr->conn), status;

    if (callPtr->objc == 1) {
        if (NsTclGetStatus(callPtr->interp, callPtr->objv[0], &status)
            != TCL_OK) {
            return TCL_ERROR;
        }
        callPtr->connPtr->status = status;
    }
    return NsConnReturnInt(callPtr, old);
}

int
NsConnOptionKeepAlive(NsConnCall *callPtr)
{
    if (callPtr->objc == 1
        && Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[0],
                             &callPtr->connPtr->keep)
            != TCL_OK) {
        return TCL_ERROR;
    }
    return NsConnReturnInt(callPtr, callPtr->connPtr->keep);
}

int
NsConnOptionCompress(NsConnCall *callPtr)
{
    int level;

    if (callPtr->objc == 1) {
        if (Tcl_GetIntFromObj(NULL, callPtr->objv[0], &level) != TCL_OK
            && Tcl_GetBooleanFromObj(callPtr->interp, callPtr->objv[0], &level)
                != TCL_OK) {
            return TCL_ERROR;
        }
        Ns_ConnSetCompression(callPtr->conn, MAX(0, MIN(level, 9)));
    }
    return NsConnReturnInt(callPtr, Ns_ConnGetCompression(callPtr->conn));
}

int
NsConnOptionEncoding(NsConnCall *callPtr)
{
    Tcl_Encoding encoding;

    if (callPtr->objc == 1) {
        encoding = NsConnGetCharset(callPtr);
        if (encoding == NULL) {
            return TCL_ERROR;
        }
        Ns_ConnSetEncoding(callPtr->conn, encoding);
    }
    return NsConnReturnCharset(callPtr, Ns_ConnGetEncoding(callPtr->conn));
}

int
NsConnOptionUrlEncoding(NsConnCall *callPtr)
{
    Tcl_Encoding encoding;

    if (callPtr->objc == 1) {
        encoding = NsConnGetCharset(callPtr);
        if (encoding == NULL) {
            return TCL_ERROR;
        }
        if (encoding != Ns_ConnGetUrlEncoding(callPtr->conn)) {
            Ns_ConnSetUrlEncoding(callPtr->conn, encoding);
            Ns_ConnClearQuery(callPtr->conn);
        }
    }
    return NsConnReturnCharset(callPtr, Ns_ConnGetUrlEncoding(callPtr->conn));
}

int
NsConnOptionContentSentLength(NsConnCall *callPtr)
{
    Tcl_WideInt bytes;

    if (callPtr->objc == 0) {
        return NsConnReturnInt(callPtr, Ns_ConnContentSent(callPtr->conn));
    }
    if (Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[0], &bytes)
        != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_ConnSetContentSent(callPtr->conn, bytes);
    return TCL_OK;
}

int
NsConnOptionClientData(NsConnCall *callPtr)
{
    if (callPtr->objc == 1) {
        NsConnSetClientData(callPtr->connPtr, Tcl_GetString(callPtr->objv[0]));
    }
    return NsConnReturnString(callPtr, NsConnClientData(callPtr->connPtr));
}

int
NsConnOptionCloseNow(NsConnCall *callPtr)
{
    Ns_ConnClose(callPtr->conn);
    Tcl_ResetResult(callPtr->interp);
    return TCL_OK;
}

int
NsConnOptionFlags(NsConnCall *callPtr)
{
    return NsConnReturnInt(callPtr, callPtr->conn->flags);
}

int
NsConnOptionZipAccepted(NsConnCall *callPtr)
{
    return NsConnReturnInt(callPtr,
                           (callPtr->conn->flags & NS_CONN_ZIPACCEPTED) != 0);
}

/*
 * What the client takes and the server can make, the best first.
 */
int
NsConnOptionAcceptedCompression(NsConnCall *callPtr)
{
    const NsHttpHead *headPtr = &callPtr->connPtr->messagePtr->head;
    const char       *accepted = NsHttpKnown(headPtr, NS_FIELD_ACCEPT_ENCODING);
    int               flags = callPtr->conn->flags;
    Tcl_Obj          *listObj = Tcl_NewListObj(0, NULL), *brotliObj;

    if ((flags & NS_CONN_ZIPACCEPTED) != 0) {
        Tcl_ListObjAppendElement(NULL, listObj, Tcl_NewStringObj("gzip", -1));
    }
    if ((flags & NS_CONN_BROTLIACCEPTED) != 0) {
        brotliObj = Tcl_NewStringObj("brotli", -1);
        (void) Tcl_ListObjReplace(NULL, listObj,
                                  NsPrefersBrotli(accepted) ? 0 : 1, 0, 1,
                                  &brotliObj);
    }
    return NsTclReturn(callPtr->interp, listObj);
}

int
NsConnOptionStart(NsConnCall *callPtr)
{
    return NsTclReturn(callPtr->interp,
                       Ns_TclNewTimeObj(Ns_ConnStartTime(callPtr->conn)));
}

int
NsConnOptionTimeout(NsConnCall *callPtr)
{
    return NsTclReturn(callPtr->interp,
                       Ns_TclNewTimeObj(Ns_ConnTimeout(callPtr->conn)));
}

/*
 * timelimit ?time?: how long the request may run; 0 is without limit.
 */
int
NsConnOptionTimeLimit(NsConnCall *callPtr)
{
    NsWork *workPtr = &callPtr->connPtr->work;
    Ns_Time limit;

    if (callPtr->objc == 1) {
        if (Ns_TclGetTimeFromObj(callPtr->interp, callPtr->objv[0], &limit)
            != TCL_OK) {
            return TCL_ERROR;
        }
        if (limit.sec < 0 || limit.usec < 0) {
            return NsTclFail(callPtr->interp, "a time limit is at least 0");
        }
        NsWorkSetTimeLimit(workPtr, NsClockFromTime(&limit));
    }
    return NsTclReturn(callPtr->interp,
                       Tcl_NewDoubleObj((double) NsWorkTimeLimit(workPtr)
                                        / NS_STAMP_SECOND));
}

int
NsConnOptionPartialTimes(NsConnCall *callPtr)
{
    Ns_Time    accept, queue, filter, run;
    Ns_DString ds;

    Ns_ConnTimeSpans(callPtr->conn, &accept, &queue, &filter, &run);
    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds,
                     "accepttime %ld.%06ld queuetime %ld.%06ld "
                     "filtertime %ld.%06ld runtime %ld.%06ld",
                     accept.sec, accept.usec, queue.sec, queue.usec, filter.sec,
                     filter.usec, run.sec, run.usec);
    return NsTclReturnText(callPtr->interp, &ds);
}

/*
 * ratelimit ?n?: kB/s of this reply when a writer thread sends it; 0 is none.
 */
int
NsConnOptionRateLimit(NsConnCall *callPtr)
{
    NsSock *sockPtr = callPtr->connPtr->sockPtr;
    int     limit;

    if (sockPtr == NULL) {
        return NsConnReturnInt(callPtr, 0);
    }
    if (callPtr->objc == 1) {
        if (Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[0], &limit)
            != TCL_OK) {
            return TCL_ERROR;
        }
        NsSockSetBytesPerSecond(sockPtr, MAX(limit, 0) * (int64_t) 1024);
    }
    return NsConnReturnInt(callPtr, NsSockGetBytesPerSecond(sockPtr) / 1024);
}

/*
 * Hand the client's socket over as a Tcl channel, after the header if one was
 * prepared.
 */
int
NsConnOptionChannel(NsConnCall *callPtr)
{
    NsConn     *connPtr = callPtr->connPtr;
    Tcl_Channel channel;
    int         fd;

    if (NsConnSocketIsTaken(connPtr)) {
        return NsTclFail(callPtr->interp, "no socket for connection");
    }
    if ((callPtr->conn->flags & NS_CONN_CLOSED) != 0
        || connPtr->sockPtr == NULL) {
        return NsTclFail(callPtr->interp, "connection closed");
    }
    if ((callPtr->conn->flags & (NS_CONN_STREAM | NS_CONN_SENTHDRS)) == 0) {
        callPtr->conn->flags |= NS_CONN_SKIPHDRS;
    }
    fd = NsConnTakeSocket(connPtr);
    if (fd < 0) {
        return NsTclFail(callPtr->interp, "connection closed");
    }
    channel = Tcl_MakeTcpClientChannel(INT2PTR(fd));
    Tcl_SetChannelOption(NULL, channel, "-translation", "auto crlf");
    Tcl_SetChannelOption(NULL, channel, "-encoding", "utf-8");
    Tcl_SetChannelOption(NULL, channel, "-buffering", "full");
    Tcl_RegisterChannel(callPtr->interp, channel);
    NsConnChanEnter(connPtr, channel);
    return NsConnReturnString(callPtr, Tcl_GetChannelName(channel));
}
