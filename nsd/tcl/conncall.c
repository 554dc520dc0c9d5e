/*
 * conncall.c --
 *
 *      What commands that serve a request share.
 */

#include "tcl/conncall.h"

static NsConn *ConnOr(NsInterp *interpPtr, const char *message);

NsConn *
NsTclConn(NsInterp *interpPtr)
{
    return ConnOr(interpPtr, "no connection");
}

NsConn *
NsTclCurrentConn(NsInterp *interpPtr)
{
    return ConnOr(interpPtr, "no current connection");
}

static NsConn *
ConnOr(NsInterp *interpPtr, const char *message)
{
    if (interpPtr->connPtr == NULL) {
        Tcl_SetObjResult(interpPtr->interp, Tcl_NewStringObj(message, -1));
    }
    return interpPtr->connPtr;
}

int
NsTclReplyResult(Tcl_Interp *interp, int status)
{
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(status == NS_OK));
    return TCL_OK;
}

bool
NsTclIsByteArray(const Tcl_Obj *obj)
{
    static const Tcl_ObjType *_Atomic byteArrayTypePtr;
    const Tcl_ObjType *typePtr = byteArrayTypePtr;

    if (obj->typePtr == NULL || obj->bytes != NULL) {
        return false;
    }
    if (typePtr == NULL) {
        typePtr = Tcl_GetObjType("bytearray");
        byteArrayTypePtr = typePtr;
    }
    return obj->typePtr == typePtr;
}

int
NsTclGetChannel(Tcl_Interp *interp, Tcl_Obj *nameObj, int mode,
                Tcl_Channel *channelPtr)
{
    const char *name = Tcl_GetString(nameObj);
    int         openMode;

    *channelPtr = Tcl_GetChannel(interp, name, &openMode);
    if (*channelPtr == NULL) {
        Ns_TclPrintfResult(interp, "can not find channel named \"%s\"", name);
        return TCL_ERROR;
    }
    if ((openMode & mode) == 0) {
        Ns_TclPrintfResult(interp, mode == TCL_READABLE
                           ? "channel \"%s\" not open for reading"
                           : "channel \"%s\" wasn't opened for writing", name);
        return TCL_ERROR;
    }
    return TCL_OK;
}
