/* SPDX-License-Identifier: MPL-2.0
 * migration.c --
 *
 *      What the scripts of a site find here: tcl/migration/report.tcl.
 */

#include "tcl/migration.h"

#include "nslog.h"
#include "nstcl.h"
#include "base/assert.h"
#include "tcl/command.h"

static bool Ask(Tcl_Interp *interp, const char *library, const char *words,
                int *nMissingPtr, Ns_DString *dsPtr);

int
NsMigrationReport(int nDirectories, char *const *directories, Ns_DString *dsPtr)
{
    Tcl_Interp *interp = Ns_TclCreateInterp();
    Ns_DString  words;
    int         nMissing = 0;

    NsAssert(nDirectories >= 0);
    if (interp == NULL) {
        Ns_Fatal("tcl: no interpreter for the report");
    }
    Ns_DStringInit(&words);
    for (int i = 0; i < nDirectories; i++) {
        Tcl_DStringAppendElement(&words, directories[i]);
    }
    if (!Ask(interp, Ns_TclLibrary(NULL), words.string, &nMissing, dsPtr)) {
        Ns_Fatal("tcl: the report cannot be created: %s",
                 Tcl_GetStringResult(interp));
    }
    Ns_DStringFree(&words);
    Ns_TclDestroyInterp(interp);
    return nMissing;
}

/*
 * False: the result says why not.
 */
static bool
Ask(Tcl_Interp *interp, const char *library, const char *words,
    int *nMissingPtr, Ns_DString *dsPtr)
{
    Ns_DString commands, script;
    Tcl_Obj  **parts;
    int        n;
    bool       isDone;

    Ns_DStringInit(&commands);
    Ns_DStringInit(&script);
    NsTclListCommands(&commands);
    Ns_DStringVarAppend(&script, library, "/migration/report.tcl",
                        (char *) NULL);
    isDone = Tcl_EvalFile(interp, script.string) == TCL_OK;
    Ns_DStringTrunc(&script, 0);
    Tcl_DStringAppendElement(&script, "::nsd::migration::Report");
    Tcl_DStringAppendElement(&script, commands.string);
    Tcl_DStringAppendElement(&script, library);
    Tcl_DStringAppendElement(&script, words);
    isDone = isDone
        && Tcl_EvalEx(interp, script.string, -1, TCL_EVAL_GLOBAL) == TCL_OK
        && Tcl_ListObjGetElements(interp, Tcl_GetObjResult(interp), &n, &parts)
            == TCL_OK
        && n == 2 && Tcl_GetIntFromObj(interp, parts[0], nMissingPtr) == TCL_OK;
    if (isDone) {
        Ns_DStringAppend(dsPtr, Tcl_GetString(parts[1]));
    }
    Ns_DStringFree(&commands);
    Ns_DStringFree(&script);
    return isDone;
}
