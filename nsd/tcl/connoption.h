/* SPDX-License-Identifier: MPL-2.0
 * connoption.h --
 *
 *      The options of ns_conn: conn_cmd.c has the table, and those about the
 *      client and the request line.
 */

#ifndef NSD_TCL_CONNOPTION_H
#define NSD_TCL_CONNOPTION_H

#include "tcl/interp.h"

typedef struct NsConnCall {
    NsInterp       *interpPtr;
    Tcl_Interp     *interp;
    NsConn         *connPtr;
    Ns_Conn        *conn;
    int             objc; /* Words behind the option. */
    Tcl_Obj *const *objv;
} NsConnCall;

typedef int NsConnOptionProc(NsConnCall *callPtr);

/*
 * Leave a result: TCL_OK.  NULL, where it may be, is empty; a set gets an id.
 */
int NsConnReturnInt(NsConnCall *callPtr, Tcl_WideInt value);
int NsConnReturnString(NsConnCall *callPtr, const char *value);
int NsConnReturnSet(NsConnCall *callPtr, Ns_Set *setPtr);
int NsConnReturnCharset(NsConnCall *callPtr, Tcl_Encoding encoding);

/*
 * The encoding that the next word names; NULL, with a message, if there is
 * none.
 */
Tcl_Encoding NsConnGetCharset(NsConnCall *callPtr);

/*
 * TCL_ERROR, with the usage message.
 */
int NsConnWrongArgs(NsConnCall *callPtr, const char *usage);

#endif
