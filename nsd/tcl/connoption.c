/* SPDX-License-Identifier: MPL-2.0
 * connoption.c --
 *
 *      What the options of ns_conn share: their results and messages.
 */

#include "tcl/connoption.h"

#include "nsstring.h"
#include "tcl/result.h"
#include "tcl/set.h"

int
NsConnReturnInt(NsConnCall *callPtr, Tcl_WideInt value)
{
    return NsTclReturn(callPtr->interp, Tcl_NewWideIntObj(value));
}

int
NsConnReturnString(NsConnCall *callPtr, const char *value)
{
    if (value != NULL) {
        Tcl_SetObjResult(callPtr->interp, Tcl_NewStringObj(value, -1));
    }
    return TCL_OK;
}

int
NsConnReturnSet(NsConnCall *callPtr, Ns_Set *setPtr)
{
    if (setPtr != NULL) {
        Tcl_SetObjResult(callPtr->interp,
                         NsTclSetEnterKnown(callPtr->interpPtr, setPtr));
    }
    return TCL_OK;
}

Tcl_Encoding
NsConnGetCharset(NsConnCall *callPtr)
{
    const char  *name = Tcl_GetString(callPtr->objv[0]);
    Tcl_Encoding encoding = Ns_GetCharsetEncoding(name);

    if (encoding == NULL) {
        Ns_TclPrintfResult(callPtr->interp, "no such encoding: %s", name);
    }
    return encoding;
}

int
NsConnReturnCharset(NsConnCall *callPtr, Tcl_Encoding encoding)
{
    return NsConnReturnString(callPtr,
                              encoding != NULL ? Ns_GetEncodingCharset(encoding)
                                               : "utf-8");
}

int
NsConnWrongArgs(NsConnCall *callPtr, const char *usage)
{
    return NsTclFailArgs(callPtr->interp,
                         "wrong # args: should be \"ns_conn %s\"", usage);
}
