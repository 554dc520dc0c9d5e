/* SPDX-License-Identifier: MPL-2.0
 * set.h --
 *
 *      Sets that scripts of an interpreter know by an id.
 */

#ifndef NSD_TCL_SET_H
#define NSD_TCL_SET_H

#include "tcl/interp.h"

/*
 * The table of ids of an interpreter: make it; forget all ids and free the sets
 * that the script owns; free it.
 */
void NsTclSetInit(NsInterp *interpPtr);
void NsTclSetCleanup(NsInterp *interpPtr);
void NsTclSetFree(NsInterp *interpPtr);

/*
 * The id of a set as an object.  Known: a server-owned set keeps the id that
 * it was given before in the same request.  Copy: of a server-owned set; it
 * belongs to the interpreter, and has an id as the set itself would have.
 */
Tcl_Obj *NsTclSetEnter(NsInterp *interpPtr, Ns_Set *setPtr, bool isOwned);
Tcl_Obj *NsTclSetEnterKnown(NsInterp *interpPtr, Ns_Set *setPtr);
Tcl_Obj *NsTclSetEnterCopy(NsInterp *interpPtr, Ns_Set *setPtr);

/*
 * The set with that id; NULL with `no such set` in the interpreter.
 */
Ns_Set *NsTclSetGet(NsInterp *interpPtr, Tcl_Obj *idObj);

/*
 * All ids in the order of their creation.
 */
Tcl_Obj *NsTclSetList(NsInterp *interpPtr);

/*
 * The sets with an id of which the script is the owner, or is not: how many,
 * the bytes of their names, keys and values, and these with all room for
 * fields.
 */
typedef struct NsTclSetStats {
    size_t nSets;
    size_t usedBytes;
    size_t allocatedBytes;
} NsTclSetStats;

NsTclSetStats NsTclSetGetStats(NsInterp *interpPtr, bool isOwned);

#endif
