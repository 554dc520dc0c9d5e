/* SPDX-License-Identifier: MPL-2.0
 * regargs.h --
 *
 *      Words of commands that register something for a method and a URL, or
 *      take it back.
 */

#ifndef NSD_TCL_REGARGS_H
#define NSD_TCL_REGARGS_H

#include "request/constraints.h"
#include "tcl/interp.h"

/*
 * The words of a command besides -noinherit, -- and url.
 */
#define NS_REG_METHOD      0x01u /* A method before the URL. */
#define NS_REG_SCRIPT      0x02u /* A script and its arguments behind it. */
#define NS_REG_RECURSE     0x04u /* -recurse, -allconstraints */
#define NS_REG_CONSTRAINTS 0x08u /* -constraints */
#define NS_REG_FIRST       0x10u /* -first */
#define NS_REG_PATTERN     0x20u /* Both are patterns; no -noinherit. */

typedef struct NsRegSpec {
    unsigned      what;
    const char   *optional; /* "?file": one word more, or not; or NULL. */
    Ns_ObjvTable *when;     /* Of a word before the method; NULL: none. */
} NsRegSpec;

typedef struct NsRegArgs {
    int flags; /* NS_OP_NOINHERIT, NS_OP_RECURSE,
                * NS_OP_ALLCONSTRAINTS */
    char           *method;
    char           *url;
    char           *optional; /* NULL: not given. */
    Tcl_Obj        *scriptPtr;
    int             nArgs; /* Words behind the script. */
    Tcl_Obj *const *args;
    NsConstraints  *constraintsPtr; /* The caller's; NULL: none. */
    int             isFirst;
    int             when;
} NsRegArgs;

/*
 * Whether the method can be one, and the constraints (NULL: none) are a list of
 * keys and values; mayBeGlob: the method may have wildcards.  TCL_ERROR with a
 * message, and nothing in *constraintsPtr.
 */
int NsRegArgsCheck(Tcl_Interp *interp, const char *method, bool mayBeGlob,
                   const char *constraints, NsConstraints **constraintsPtr);

/*
 * TCL_ERROR, with a message: no request ever has that URL.
 */
int NsRegArgsCheckUrl(Tcl_Interp *interp, const char *url);

int NsRegArgsParse(NsRegArgs *argsPtr, const NsRegSpec *specPtr,
                   Tcl_Interp *interp, int objc, Tcl_Obj *const *objv);

/*
 * A callback that runs the script by proc, of whatever type.
 */
Ns_TclCallback *NsRegArgsCallback(const NsRegArgs *argsPtr, Tcl_Interp *interp,
                                  void (*proc)(void));

/*
 * Commands that unregister: `?-server s?` may be among the options.
 */
typedef void NsUnregisterProc(NsServer *serverPtr, const NsRegArgs *argsPtr);
int          NsRegArgsUnregister(NsInterp *itPtr, unsigned what, int objc,
                                 Tcl_Obj *const *objv, NsUnregisterProc *proc);

#endif
