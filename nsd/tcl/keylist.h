/* SPDX-License-Identifier: MPL-2.0
 * keylist.h --
 *
 *      Keyed lists as Tcl objects; modules use the functions of nstcl.h.
 */

#ifndef NSD_TCL_KEYLIST_H
#define NSD_TCL_KEYLIST_H

#include "nstcl.h"

/*
 * The value at a path, borrowed from the list.  TCL_BREAK: there is none.
 * TCL_ERROR: the list is not a keyed list; a message is left.
 */
int NsKeyListGet(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *path,
                 Tcl_Obj **valuePtr);

/*
 * A new object with the keys of a list.
 */
int NsKeyListKeys(Tcl_Interp *interp, Tcl_Obj *listPtr, Tcl_Obj **keysPtr);

/*
 * A new list with the value at a path set, or the path deleted together with
 * the sub-lists that become empty.  TCL_BREAK: no such key to delete.
 */
int NsKeyListSet(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *path,
                 Tcl_Obj *valuePtr, Tcl_Obj **newPtr);
int NsKeyListDelete(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *path,
                    Tcl_Obj **newPtr);

#endif
