/* SPDX-License-Identifier: MPL-2.0
 * globals.h --
 *
 *      The globals of an interpreter, which end with the request.
 */

#ifndef NSD_TCL_GLOBALS_H
#define NSD_TCL_GLOBALS_H

#include "tcl/interp.h"

/*
 * Unset the globals that a script has made, and empty errorInfo and errorCode.
 */
void NsGlobalsCleanup(NsInterp *itPtr);

/*
 * The interpreter is being deleted.
 */
void NsGlobalsFree(NsInterp *itPtr);

/*
 * The next entry of a table; before the first one, entryPtr is NULL and
 * *nextPtr 0.  Tcl_NextHashEntry does the same, but takes three times as long.
 */
static inline Tcl_HashEntry *
NsTclNextEntry(const Tcl_HashTable *tablePtr, Tcl_HashEntry *entryPtr,
               int *nextPtr)
{
    if (entryPtr != NULL) {
        entryPtr = entryPtr->nextPtr;
    }
    while (entryPtr == NULL && *nextPtr < tablePtr->numBuckets) {
        entryPtr = tablePtr->buckets[(*nextPtr)++];
    }
    return entryPtr;
}

#endif
