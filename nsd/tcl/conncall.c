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
