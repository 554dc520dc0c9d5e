/* SPDX-License-Identifier: MPL-2.0
 * current.c --
 *
 *      From Tcl's interpreter to ours.
 */

#include "tcl/current.h"

#include "nsthread.h"
#include "tcl/interp.h"

#define ASSOC_KEY "ns:interp"

_Thread_local NsInterp *nsCurrentPtr;

NsInterp *
NsCurrentFind(Tcl_Interp *interp)
{
    NsInterp *itPtr = interp == NULL
        ? NULL
        : Tcl_GetAssocData(interp, ASSOC_KEY, NULL);

    if (itPtr != NULL) {
        nsCurrentPtr = itPtr;
    }
    return itPtr;
}

void
NsCurrentBind(NsInterp *itPtr, Tcl_InterpDeleteProc *freeProc)
{
    Tcl_SetAssocData(itPtr->interp, ASSOC_KEY, freeProc, itPtr);
}

void
NsCurrentForget(const NsInterp *itPtr)
{
    if (nsCurrentPtr == itPtr) {
        nsCurrentPtr = NULL;
    }
}

Ns_Conn *
Ns_TclGetConn(Tcl_Interp *interp)
{
    NsInterp *itPtr = NsInterpOf(interp);

    return itPtr == NULL || itPtr->connPtr == NULL
        ? NULL
        : &itPtr->connPtr->pub;
}

char *
Ns_TclInterpServer(Tcl_Interp *interp)
{
    NsInterp *itPtr = NsInterpOf(interp);

    return itPtr == NULL || itPtr->serverPtr == NULL
        ? NULL
        : (char *) itPtr->serverPtr->name;
}
