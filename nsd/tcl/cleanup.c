/* SPDX-License-Identifier: MPL-2.0
 * cleanup.c --
 *
 *      What the end of a use, of a request, of an interpreter clears away.
 *
 *      Most requests leave nothing behind, so each step first looks whether
 *      there is anything to do.
 */

#include "tcl/cleanup.h"

#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "tcl/globals.h"
#include "tcl/set.h"

#define MAX_PROCS 8

/*
 * A one-shot call of Ns_TclRegisterDeferred.
 */
typedef struct NsDeferred {
    struct NsDeferred *nextPtr;
    Ns_TclDeferProc   *proc;
    void              *arg;
} NsDeferred;

/*
 * Constant once started; each list ends with NULL.
 */
static NsCleanupProc *procs[NS_CLEANUP_PHASES][MAX_PROCS + 1];

static void Run(NsInterp *itPtr, NsCleanupPhase phase);
static bool HasOpened(NsInterp *itPtr);

void
NsInterpAddCleanup(NsCleanupPhase phase, NsCleanupProc *proc)
{
    int i = 0;

    while (procs[phase][i] != NULL) {
        i++;
    }
    NsAssert(i < MAX_PROCS);
    procs[phase][i] = proc;
}

static void
Run(NsInterp *itPtr, NsCleanupPhase phase)
{
    for (int i = 0; procs[phase][i] != NULL; i++) {
        procs[phase][i](itPtr);
    }
}

void
NsInterpCleanupClose(NsInterp *itPtr)
{
    Run(itPtr, NS_CLEANUP_CLOSE);
}

void
NsInterpCleanupEnd(NsInterp *itPtr)
{
    NsAssert(itPtr->connPtr != NULL);
    Run(itPtr, NS_CLEANUP_END);
}

void
NsInterpCleanup(NsInterp *itPtr)
{
    Run(itPtr, NS_CLEANUP_RELEASE);
    NsInterpCleanupChannels(itPtr);
    NsGlobalsCleanup(itPtr);
    NsTclSetCleanup(itPtr);
    if (itPtr->deferredPtr != NULL) {
        NsInterpRunDeferred(itPtr);
        Tcl_ResetResult(itPtr->interp);
    }
}

void
NsInterpCleanupChannels(NsInterp *itPtr)
{
    Tcl_Obj *listPtr, **names;
    int      nNames;

    if (!HasOpened(itPtr)) {
        return;
    }
    Tcl_ResetResult(itPtr->interp);
    if (Tcl_GetChannelNames(itPtr->interp) != TCL_OK) {
        return;
    }
    listPtr = Tcl_GetObjResult(itPtr->interp);
    Tcl_IncrRefCount(listPtr);
    if (Tcl_ListObjGetElements(NULL, listPtr, &nNames, &names) != TCL_OK) {
        nNames = 0;
    }
    for (int i = 0; i < nNames; i++) {
        const char *name = Tcl_GetString(names[i]);
        Tcl_Channel channel;

        if (strncmp(name, "std", 3) != 0) {
            channel = Tcl_GetChannel(itPtr->interp, name, NULL);
            if (channel != NULL) {
                (void) Tcl_UnregisterChannel(itPtr->interp, channel);
            }
        }
    }
    Tcl_DecrRefCount(listPtr);
    Tcl_ResetResult(itPtr->interp);
}

/*
 * Whether the interpreter has channels besides the standard ones.  Tcl keeps
 * them in a table, which exists from the first use of any to the end of the
 * interpreter.
 */
static bool
HasOpened(NsInterp *itPtr)
{
    Tcl_HashTable *tablePtr = itPtr->channelsPtr;
    Tcl_HashEntry *entryPtr = NULL;
    int            next = 0;

    if (tablePtr == NULL) {
        tablePtr = Tcl_GetAssocData(itPtr->interp, "tclIO", NULL);
        itPtr->channelsPtr = tablePtr;
        if (tablePtr == NULL) {
            return false;
        }
    }
    while ((entryPtr = NsTclNextEntry(tablePtr, entryPtr, &next)) != NULL) {
        if (!Tcl_IsStandardChannel(Tcl_GetHashValue(entryPtr))) {
            return true;
        }
    }
    return false;
}

void
Ns_TclRegisterDeferred(Tcl_Interp *interp, Ns_TclDeferProc *proc, void *arg)
{
    NsInterp    *itPtr = NsInterpOf(interp);
    NsDeferred  *deferredPtr;
    NsDeferred **linkPtr;

    if (itPtr == NULL) {
        return;
    }
    deferredPtr = ns_malloc(sizeof(*deferredPtr));
    *deferredPtr = (NsDeferred){.proc = proc, .arg = arg};
    linkPtr = &itPtr->deferredPtr;
    while (*linkPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = deferredPtr;
}

void
NsInterpRunDeferred(NsInterp *itPtr)
{
    NsDeferred *deferredPtr;

    while ((deferredPtr = itPtr->deferredPtr) != NULL) {
        itPtr->deferredPtr = deferredPtr->nextPtr;
        deferredPtr->proc(itPtr->interp, deferredPtr->arg);
        ns_free(deferredPtr);
    }
}
