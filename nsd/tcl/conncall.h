/*
 * conncall.h --
 *
 *      What commands that serve a request share.
 */

#ifndef NSD_TCL_CONNCALL_H
#define NSD_TCL_CONNCALL_H

#include "tcl/interp.h"

/*
 * The request of the interpreter; NULL with `no connection` (or the other
 * usual text) as the result.
 */
NsConn *NsTclConn(NsInterp *interpPtr);
NsConn *NsTclCurrentConn(NsInterp *interpPtr);

/*
 * Set the result to 1 for NS_OK, else 0.
 */
int NsTclReplyResult(Tcl_Interp *interp, int status);

/*
 * A byte array object without a string form: data that must not be encoded.
 */
bool NsTclIsByteArray(const Tcl_Obj *obj);

/*
 * A channel by name, open for reading or writing.  TCL_ERROR with a message.
 */
int NsTclGetChannel(Tcl_Interp *interp, Tcl_Obj *nameObj, int mode,
                    Tcl_Channel *channelPtr);

#endif
