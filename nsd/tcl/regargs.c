/* SPDX-License-Identifier: MPL-2.0
 * regargs.c --
 *
 *      Words of commands that register something for a method and a URL.
 */

#include "tcl/regargs.h"

#include "ns.h"
#include "base/assert.h"
#include "base/chars.h"
#include "request/urlspace.h"
#include "request/urltree.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"

#define MAX_ROWS 8

/*
 * A row for Ns_ParseObjv, if the command has it.
 */
typedef struct Choice {
    bool        isWanted;
    Ns_ObjvSpec spec;
} Choice;

static void Choose(const Choice *choices, Ns_ObjvSpec *specs);

int
NsRegArgsParse(NsRegArgs *argsPtr, const NsRegSpec *specPtr, Tcl_Interp *interp,
               int objc, Tcl_Obj *const *objv)
{
    unsigned what = specPtr->what;
    bool     hasMethod = (what & NS_REG_METHOD) != 0;
    bool     hasScript = (what & NS_REG_SCRIPT) != 0;
    bool     isPattern = (what & NS_REG_PATTERN) != 0;
    bool     mayRecurse = (what & NS_REG_RECURSE) != 0;
    int      noInherit = 0, recurse = 0, allConstraints = 0;
    char    *constraints = NULL;
    Choice   options[] = {
          {mayRecurse && hasMethod,
           {"-allconstraints", Ns_ObjvBool, &allConstraints,
            INT2PTR(NS_OP_ALLCONSTRAINTS)}},
          {(what & NS_REG_CONSTRAINTS) != 0,
           {"-constraints", Ns_ObjvString, &constraints, NULL}},
          {(what & NS_REG_FIRST) != 0,
           {"-first", Ns_ObjvBool, &argsPtr->isFirst, INT2PTR(true)}},
          {!isPattern,
           {"-noinherit", Ns_ObjvBool, &noInherit, INT2PTR(NS_OP_NOINHERIT)}},
          {mayRecurse,
           {"-recurse", Ns_ObjvBool, &recurse, INT2PTR(NS_OP_RECURSE)}},
          {true, {"--", Ns_ObjvBreak, NULL, NULL}},
          {true, {NULL, NULL, NULL, NULL}}};
    Choice words[] = {
        {specPtr->when != NULL,
         {"when", Ns_ObjvFlags, &argsPtr->when, specPtr->when}},
        {hasMethod, {"method", Ns_ObjvString, &argsPtr->method, NULL}},
        {true,
         {isPattern ? "urlPattern" : "url", Ns_ObjvString, &argsPtr->url,
          NULL}},
        {hasScript, {"script", Ns_ObjvObj, &argsPtr->scriptPtr, NULL}},
        {hasScript, {"?args", Ns_ObjvArgs, &argsPtr->nArgs, NULL}},
        {specPtr->optional != NULL,
         {(char *) specPtr->optional, Ns_ObjvString, &argsPtr->optional, NULL}},
        {true, {NULL, NULL, NULL, NULL}}};
    Ns_ObjvSpec chosenOptions[MAX_ROWS], chosenWords[MAX_ROWS];

    *argsPtr = (NsRegArgs){0};
    Choose(options, chosenOptions);
    Choose(words, chosenWords);
    if (Ns_ParseObjv(chosenOptions, chosenWords, interp, 1, objc, objv) != NS_OK
        || NsRegArgsCheck(interp, argsPtr->method, isPattern, constraints,
                          &argsPtr->constraintsPtr)
            != TCL_OK) {
        return TCL_ERROR;
    }
    if (!isPattern && !mayRecurse
        && NsRegArgsCheckUrl(interp, argsPtr->url) != TCL_OK) {
        NsConstraintsFree(&argsPtr->constraintsPtr);
        return TCL_ERROR;
    }
    argsPtr->flags = noInherit | recurse | allConstraints;
    argsPtr->args = objv + objc - argsPtr->nArgs;
    return TCL_OK;
}

/*
 * The wanted rows, of which the last ends both tables.
 */
static void
Choose(const Choice *choices, Ns_ObjvSpec *specs)
{
    int n = 0;

    for (; !choices->isWanted || choices->spec.key != NULL; choices++) {
        if (choices->isWanted) {
            specs[n++] = choices->spec;
        }
    }
    NsAssert(n < MAX_ROWS);
    specs[n] = choices->spec;
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

int
NsRegArgsCheckUrl(Tcl_Interp *interp, const char *url)
{
    return NsUrlIsPlain(url)
        ? TCL_OK
        : NsTclFail(interp, "invalid url \"%s\": must be a plain path", url);
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
    NsRegSpec   spec = {.what = what | NS_REG_RECURSE};
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
