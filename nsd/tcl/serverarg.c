/* SPDX-License-Identifier: MPL-2.0
 * serverarg.c --
 *
 *      The option -server.
 */

#include "tcl/serverarg.h"

#include "nsthread.h"

NsServer *
NsServerArgFind(Tcl_Interp *interp, const char *name)
{
    NsServer *serverPtr = NsServerFind(name);

    if (serverPtr == NULL) {
        Ns_TclPrintfResult(interp, "invalid argument for -server: %s", name);
    }
    return serverPtr;
}

int
NsServerArgTake(NsServerArg *argPtr, NsInterp *itPtr, int objc,
                Tcl_Obj *const *objv)
{
    int  i;
    bool isOption = true;

    argPtr->serverPtr = itPtr->serverPtr;
    argPtr->objc = 0;
    argPtr->objv = ns_malloc(sizeof(Tcl_Obj *) * (size_t) objc);
    for (i = 0; i < objc; i++) {
        const char *word = Tcl_GetString(objv[i]);

        if (i > 0 && (*word != '-' || STREQ(word, "--"))) {
            isOption = false;
        }
        if (i == 0 || !isOption || !STREQ(word, "-server")) {
            argPtr->objv[argPtr->objc++] = objv[i];
            continue;
        }
        if (++i == objc) {
            Ns_TclPrintfResult(itPtr->interp, "missing argument for -server");
            break;
        }
        argPtr->serverPtr = NsServerArgFind(itPtr->interp,
                                            Tcl_GetString(objv[i]));
        if (argPtr->serverPtr == NULL) {
            break;
        }
    }
    if (i < objc || argPtr->serverPtr == NULL) {
        NsServerArgFree(argPtr);
        return TCL_ERROR;
    }
    return TCL_OK;
}

void
NsServerArgFree(NsServerArg *argPtr)
{
    ns_free(argPtr->objv);
}
