/* SPDX-License-Identifier: MPL-2.0
 * result.c --
 *
 *      What commands share.
 */

#include "tcl/result.h"

#include "nslog.h"
#include "nsstring.h"
#include "request/describe.h"
#include "request/reply.h"
#include "tcl/tclserver.h"

static NsConn *ConnOr(NsInterp *itPtr, const char *message);

/*
 * ---------------------------------------------------------------- Results
 */

int
NsTclReturn(Tcl_Interp *interp, Tcl_Obj *obj)
{
    Tcl_SetObjResult(interp, obj);
    return TCL_OK;
}

int
NsTclReturnString(Tcl_Interp *interp, const char *string)
{
    if (string != NULL) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(string, -1));
    }
    return TCL_OK;
}

int
NsTclReturnText(Tcl_Interp *interp, Ns_DString *dsPtr)
{
    Tcl_DStringResult(interp, dsPtr);
    return TCL_OK;
}

int
NsTclReturnAppended(Tcl_Interp *interp, void (*proc)(Ns_DString *dsPtr))
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    proc(&ds);
    return NsTclReturnText(interp, &ds);
}

int
NsTclReturnStatus(Tcl_Interp *interp, int status)
{
    return NsTclReturn(interp, Tcl_NewBooleanObj(status == NS_OK));
}

void
NsTclDictPut(Tcl_Obj *dictObj, Tcl_Obj *keyObj, Tcl_Obj *valueObj)
{
    Tcl_IncrRefCount(keyObj);
    Tcl_DictObjPut(NULL, dictObj, keyObj, valueObj);
    Tcl_DecrRefCount(keyObj);
}

void
Ns_TclPrintfResult(Tcl_Interp *interp, const char *fmt, ...)
{
    Ns_DString ds;
    va_list    ap;

    if (interp == NULL) {
        return;
    }
    Ns_DStringInit(&ds);
    va_start(ap, fmt);
    Ns_DStringVPrintf(&ds, fmt, ap);
    va_end(ap);
    Tcl_DStringResult(interp, &ds);
}

/*
 * ---------------------------------------------------------- Requests, data
 */

NsConn *
NsTclConn(NsInterp *itPtr)
{
    return ConnOr(itPtr, "no connection");
}

NsConn *
NsTclCurrentConn(NsInterp *itPtr)
{
    return ConnOr(itPtr, "no current connection");
}

static NsConn *
ConnOr(NsInterp *itPtr, const char *message)
{
    if (itPtr->connPtr == NULL) {
        Tcl_SetObjResult(itPtr->interp, Tcl_NewStringObj(message, -1));
    }
    return itPtr->connPtr;
}

bool
NsTclIsByteArray(const Tcl_Obj *obj)
{
    static const Tcl_ObjType *_Atomic byteArrayTypePtr;
    const Tcl_ObjType                *typePtr = byteArrayTypePtr;

    if (obj->typePtr == NULL || obj->bytes != NULL) {
        return false;
    }
    if (typePtr == NULL) {
        typePtr = Tcl_GetObjType("bytearray");
        byteArrayTypePtr = typePtr;
    }
    return obj->typePtr == typePtr;
}

/*
 * ---------------------------------------------------------------- Channels
 */

int
Ns_TclGetOpenChannel(Tcl_Interp *interp, const char *chanId, int write,
                     int check, Tcl_Channel *chanPtr)
{
    int mode;

    *chanPtr = Tcl_GetChannel(interp, chanId, &mode);
    if (*chanPtr == NULL) {
        Ns_TclPrintfResult(interp, "can not find channel named \"%s\"", chanId);
        return TCL_ERROR;
    }
    if (check && (mode & (write ? TCL_WRITABLE : TCL_READABLE)) == 0) {
        Ns_TclPrintfResult(interp, "channel \"%s\" not open for %s", chanId,
                           write ? "writing" : "reading");
        return TCL_ERROR;
    }
    return TCL_OK;
}

int
Ns_TclGetOpenFd(Tcl_Interp *interp, const char *chanId, int write, int *fdPtr)
{
    Tcl_Channel channel;
    ClientData  handle;

    if (Ns_TclGetOpenChannel(interp, chanId, write, 1, &channel) != TCL_OK) {
        return TCL_ERROR;
    }
    if (Tcl_GetChannelHandle(channel, write ? TCL_WRITABLE : TCL_READABLE,
                             &handle)
        != TCL_OK) {
        Ns_TclPrintfResult(interp, "could not get handle for channel: %s",
                           chanId);
        return TCL_ERROR;
    }
    *fdPtr = PTR2INT(handle);
    return TCL_OK;
}

int
NsTclGetChannel(Tcl_Interp *interp, Tcl_Obj *nameObj, int mode,
                Tcl_Channel *channelPtr)
{
    const char *name = Tcl_GetString(nameObj);

    if (mode == TCL_READABLE) {
        return Ns_TclGetOpenChannel(interp, name, 0, 1, channelPtr);
    }
    /* The commands of a request have words of their own for writing. */
    if (Ns_TclGetOpenChannel(interp, name, 1, 0, channelPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if ((Tcl_GetChannelMode(*channelPtr) & TCL_WRITABLE) == 0) {
        Ns_TclPrintfResult(interp, "channel \"%s\" wasn't opened for writing",
                           name);
        return TCL_ERROR;
    }
    return TCL_OK;
}

int
NsTclErrorStatus(Tcl_Interp *interp)
{
    if (NsTclErrorIs(interp, "NS_INVALID_UTF8")
        || NsTclErrorIs(interp, "NS_INVALID_JSON")) {
        return 400;
    }
    return NsTclErrorIs(interp, "NS_LIMIT body") ? 413 : 0;
}

void
NsTclLogAnswered(Tcl_Interp *interp, const Ns_Conn *conn)
{
    Ns_DString line;

    Ns_DStringInit(&line);
    NsConnAppendLine(&line, NsConnOf(conn), conn->request->line);
    Ns_Log(Notice, "%s: %s", Ns_DStringValue(&line),
           Tcl_GetStringResult(interp));
    Ns_DStringFree(&line);
}

bool
NsTclErrorIs(Tcl_Interp *interp, const char *code)
{
    const char *value = Tcl_GetVar(interp, "errorCode", TCL_GLOBAL_ONLY);
    size_t      length = strlen(code);

    return value != NULL && strncmp(value, code, length) == 0
        && (value[length] == '\0' || value[length] == ' ');
}

NsConn *
NsTclReplyConn(NsInterp *interpPtr, int *resultPtr)
{
    NsConn *connPtr = NsTclConn(interpPtr);

    *resultPtr = TCL_ERROR;
    if (connPtr == NULL || !NsReplyIsClosed(connPtr)) {
        return connPtr;
    }
    if (connPtr->serverPtr->tclPtr->rejectsClosed) {
        Tcl_SetResult(interpPtr->interp,
                      (char *) "connection socket is detached", TCL_STATIC);
    } else {
        Ns_Log(Warning,
               "conn[%s]: a second reply is ignored: the request has its"
               " reply already",
               NsConnRequest(connPtr)->url);
        *resultPtr = NsTclReturnStatus(interpPtr->interp, NS_ERROR);
    }
    return NULL;
}
