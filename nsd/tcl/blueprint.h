/* SPDX-License-Identifier: MPL-2.0
 * blueprint.h --
 *
 *      The script that makes a new interpreter equal to the one that ran the
 *      server's start-up, and its epoch.
 */

#ifndef NSD_TCL_BLUEPRINT_H
#define NSD_TCL_BLUEPRINT_H

#include "tcl/interp.h"
#include "tcl/tclserver.h"

/*
 * Append to the list of modules, unless it is there.  While the server boots.
 */
void NsBlueprintAddModule(NsTclServer *tclPtr, const char *module);

/*
 * Bring the interpreter to the present epoch.  TCL_ERROR: the script failed;
 * the interpreter is not complete, and the next use tries again.
 */
int NsBlueprintApply(NsInterp *itPtr);

static inline bool
NsBlueprintIsApplied(const NsInterp *itPtr)
{
    return itPtr->isComplete
        && itPtr->epoch == atomic_load(&itPtr->serverPtr->tclPtr->epoch);
}

/*
 * Replace the script, and count the epoch up.  TCL_ERROR, with the reason
 * appended: it fails in a new interpreter, and nothing has changed.
 *
 * Circumstances, or NULL: the script does nothing but define, and this is what
 * an interpreter had before that.  Where these are the same, too, one trial of
 * the script counts for all servers.
 */
int NsBlueprintSave(NsTclServer *tclPtr, const char *script, size_t length,
                    const char *circumstances, Ns_DString *errorPtr);

/*
 * What the first bytes of the script were made from, for NsStateTextBySum.
 */
void NsBlueprintNote(NsTclServer *tclPtr, const char *sum, size_t nBytes);

/*
 * The script, as a new object.
 */
Tcl_Obj *NsBlueprintScript(NsTclServer *tclPtr);

/*
 * How many interpreters may run it at the same time.
 */
int  NsBlueprintMaxUpdates(void);
void NsBlueprintSetMaxUpdates(int max);

/*
 * Once, before the configuration is read.
 */
void NsBlueprintInit(void);

/*
 * Read section ns/server/S/tcl.
 */
void NsTclServerInit(NsServer *serverPtr);

/*
 * Run the init file in the bootstrap interpreter: load the modules, source the
 * libraries, and keep the state for all other interpreters.
 */
void NsTclServerBoot(NsServer *serverPtr);

#endif
