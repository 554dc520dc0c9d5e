/*
 * channel.c --
 *
 *      Tcl channels by name, for C.
 */

#include "nstcl.h"

int
Ns_TclGetOpenChannel(Tcl_Interp *interp, const char *chanId, int write,
                     int check, Tcl_Channel *chanPtr)
{
    int mode;

    *chanPtr = Tcl_GetChannel(interp, chanId, &mode);
    if (*chanPtr == NULL) {
        Ns_TclPrintfResult(interp, "can not find channel named \"%s\"",
                           chanId);
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
                             &handle) != TCL_OK) {
        Ns_TclPrintfResult(interp, "could not get handle for channel: %s",
                           chanId);
        return TCL_ERROR;
    }
    *fdPtr = PTR2INT(handle);
    return TCL_OK;
}
