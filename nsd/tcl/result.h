/* SPDX-License-Identifier: MPL-2.0
 * result.h --
 *
 *      What commands share: results and errors, the request being served, and
 *      arguments that are channels.
 */

#ifndef NSD_TCL_RESULT_H
#define NSD_TCL_RESULT_H

#include "tcl/interp.h"

/*
 * Set the result, return TCL_OK.  The string may be NULL: the result is left as
 * it is.  Text: the string is freed.
 */
int NsTclReturn(Tcl_Interp *interp, Tcl_Obj *obj);
int NsTclReturnString(Tcl_Interp *interp, const char *string);
int NsTclReturnText(Tcl_Interp *interp, Ns_DString *dsPtr);

/*
 * Set the result to what proc appends, return TCL_OK.
 */
int NsTclReturnAppended(Tcl_Interp *interp, void (*proc)(Ns_DString *dsPtr));

/*
 * Set the result to 1 for NS_OK, else to 0, return TCL_OK.
 */
int NsTclReturnStatus(Tcl_Interp *interp, int status);

/*
 * Put an entry, also under a key that is there already: Tcl_DictObjPut would
 * leave a new object for it without an owner then.
 */
void NsTclDictPut(Tcl_Obj *dictObj, Tcl_Obj *keyObj, Tcl_Obj *valueObj);

/*
 * Set the message, return TCL_ERROR.
 */
#define NsTclFail(interp, ...) \
    (Ns_TclPrintfResult(interp, __VA_ARGS__), TCL_ERROR)

/*
 * The same, with the error code of a command that has too many or too few
 * arguments.
 */
#define NsTclFailArgs(interp, ...)            \
    (Ns_TclPrintfResult(interp, __VA_ARGS__), \
     Tcl_SetErrorCode(interp, "TCL", "WRONGARGS", (char *) NULL), TCL_ERROR)

/*
 * The same, for an argument that is not of a kind such as "INTEGER".
 */
#define NsTclFailValue(interp, noun, ...)     \
    (Ns_TclPrintfResult(interp, __VA_ARGS__), \
     Tcl_SetErrorCode(interp, "TCL", "VALUE", noun, (char *) NULL), TCL_ERROR)

/*
 * Whether the code of the last error begins with this word.
 */
bool NsTclErrorIs(Tcl_Interp *interp, const char *code);

/*
 * What an error that is the client's answers, by its code: 400 if it sent what
 * cannot be read, 413 if it is more than maxcontentmemory; 0: it is not.
 */
int NsTclErrorStatus(Tcl_Interp *interp);

/*
 * Log the last error of a script as one that the client gets a reply for: a
 * Notice with the request.
 */
void NsTclLogAnswered(Tcl_Interp *interp, const Ns_Conn *conn);

/*
 * The request of the interpreter; NULL with `no connection` (or the other
 * usual text) as the result.
 */
NsConn *NsTclConn(NsInterp *itPtr);
NsConn *NsTclCurrentConn(NsInterp *itPtr);

/*
 * The same, to be answered; NULL, with what the command is to return, also if
 * it has its reply already.
 */
NsConn *NsTclReplyConn(NsInterp *itPtr, int *resultPtr);

/*
 * Whether the object is a byte array without a string form: data that must not
 * be encoded.
 */
bool NsTclIsByteArray(const Tcl_Obj *obj);

/*
 * A channel by name, open for reading or writing.  TCL_ERROR with a message.
 */
int NsTclGetChannel(Tcl_Interp *interp, Tcl_Obj *nameObj, int mode,
                    Tcl_Channel *channelPtr);

#endif
