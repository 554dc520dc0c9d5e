/*
 * regargs.c --
 *
 *      Words of commands that register something for a method and a URL.
 */

#include "tcl/regargs.h"

#include "ns.h"
#include "base/chars.h"
#include "request/urltree.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"

#define MAX_OPTIONS 4
#define MAX_WORDS   5

static void Add(Ns_ObjvSpec *specs, int *nPtr, const Ns_ObjvSpec *specPtr);

int
NsRegArgsParse(NsRegArgs *argsPtr, const NsRegSpec *specPtr, Tcl_Interp *interp,
               int objc, Tcl_Obj *const *objv)
{
    unsigned    what = specPtr->what;
    int         noInherit = 0, recurse = 0, nOptions = 0, nWords = 0;
    int         allConstraints = 0;
    char       *constraints = NULL;
    Ns_ObjvSpec options[MAX_OPTIONS + 1] = {{0}}, words[MAX_WORDS + 1] = {{0}};

    *argsPtr = (NsRegArgs){0};
    if ((what & NS_REG_RECURSE) != 0 && (what & NS_REG_METHOD) != 0) {
        Add(options, &nOptions,
            &(Ns_ObjvSpec){"-allconstraints", Ns_ObjvBool, &allConstraints,
                           INT2PTR(NS_OP_ALLCONSTRAINTS)});
    }
    if ((what & NS_REG_CONSTRAINTS) != 0) {
        Add(options, &nOptions,
            &(Ns_ObjvSpec){"-constraints", Ns_ObjvString, &constraints, NULL});
    }
    Add(options, &nOptions,
        &(Ns_ObjvSpec){"-noinherit", Ns_ObjvBool, &noInherit,
                       INT2PTR(NS_OP_NOINHERIT)});
    if ((what & NS_REG_RECURSE) != 0) {
        Add(options, &nOptions,
            &(Ns_ObjvSpec){"-recurse", Ns_ObjvBool, &recurse,
                           INT2PTR(NS_OP_RECURSE)});
    }
    Add(options, &nOptions, &(Ns_ObjvSpec){"--", Ns_ObjvBreak, NULL, NULL});

    if ((what & NS_REG_METHOD) != 0) {
        Add(words, &nWords,
            &(Ns_ObjvSpec){"method", Ns_ObjvString, &argsPtr->method, NULL});
    }
    Add(words, &nWords,
        &(Ns_ObjvSpec){"url", Ns_ObjvString, &argsPtr->url, NULL});
    if ((what & NS_REG_SCRIPT) != 0) {
        Add(words, &nWords,
            &(Ns_ObjvSpec){"script", Ns_ObjvObj, &argsPtr->scriptPtr, NULL});
        Add(words, &nWords,
            &(Ns_ObjvSpec){"?args", Ns_ObjvArgs, &argsPtr->nArgs, NULL});
    }
    if (specPtr->optional != NULL) {
        Add(words, &nWords,
            &(Ns_ObjvSpec){(char *) specPtr->optional, Ns_ObjvString,
                           &argsPtr->optional, NULL});
    }
    if (Ns_ParseObjv(options, words, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (NsRegArgsCheck(interp, argsPtr->method, false, constraints,
                       &argsPtr->constraintsPtr)
        != TCL_OK) {
        return TCL_ERROR;
    }
    argsPtr->flags = noInherit | recurse | allConstraints;
    argsPtr->args = objv + objc - argsPtr->nArgs;
    return TCL_OK;
}

int
NsRegArgsCheck(Tcl_Interp *interp, const char *method, bool mayBeGlob,
               const char *constraints, NsConstraints **constraintsPtr)
{
    static const char tokenMarks[] = "!#$%&'*+-.^_`|~";

    *constraintsPtr = NULL;
    for (const char *p = method; p != NULL && *p != '\0'; p++) {
        if ((*p == '-' && p == method)
            || (!NsIsAlpha(*p) && !NsIsDigit(*p)
                && strchr(tokenMarks, *p) == NULL
                && !(mayBeGlob && strchr("?[]\\", *p) != NULL))) {
            return NsTclFail(interp, "bad method \"%s\"", method);
        }
    }
    if (constraints != NULL
        && NsConstraintsParse(constraints, constraintsPtr) != NS_OK) {
        return NsTclFail(interp,
                         "invalid context constraints '%s': must be a "
                         "key/value list",
                         constraints);
    }
    return TCL_OK;
}

static void
Add(Ns_ObjvSpec *specs, int *nPtr, const Ns_ObjvSpec *specPtr)
{
    specs[(*nPtr)++] = *specPtr;
}

Ns_TclCallback *
NsRegArgsCallback(const NsRegArgs *argsPtr, Tcl_Interp *interp,
                  void (*proc)(void))
{
    return Ns_TclNewCallback(interp, (Ns_Callback *) proc, argsPtr->scriptPtr,
                             argsPtr->nArgs, argsPtr->args);
}

int
NsRegArgsUnregister(NsInterp *itPtr, unsigned what, int objc,
                    Tcl_Obj *const *objv, NsUnregisterProc *proc)
{
    NsRegSpec   spec = {what | NS_REG_RECURSE, NULL};
    NsServerArg serverArg;
    NsRegArgs   args;
    int         result;

    if (NsServerArgTake(&serverArg, itPtr, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    result = NsRegArgsParse(&args, &spec, itPtr->interp, serverArg.objc,
                            serverArg.objv);
    if (result == TCL_OK) {
        proc(serverArg.serverPtr, &args);
    }
    NsServerArgFree(&serverArg);
    return result;
}
