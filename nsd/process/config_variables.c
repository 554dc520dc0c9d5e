/* SPDX-License-Identifier: MPL-2.0
 * config_variables.c --
 *
 *      ns_configure_variables.
 *
 *      Each key of the defaults becomes a variable of the caller: one that is
 *      there keeps its value, else the environment has it, else the default
 *      counts.
 */

#include "process/config_variables.h"

#include "nsfile.h"
#include "nslog.h"
#include "nsstring.h"

/*
 * The key that names a file of settings.
 */
#define SETUP_FILE "setupfile"

typedef struct Call {
    Tcl_Obj *directoryPtr; /* Of the setup file; NULL: the configuration's. */
    int      isSilent;
    Tcl_Obj *prefixPtr;
    Tcl_Obj *defaultsPtr;
} Call;

static int ParseCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                     Call *callPtr);
static int Configure(Tcl_Interp *interp, const Call *callPtr,
                     const char *configFile);
static int SetVariable(Tcl_Interp *interp, const Call *callPtr, Tcl_Obj *keyPtr,
                       Tcl_Obj *defaultPtr);
static int SourceSetup(Tcl_Interp *interp, const Call *callPtr, Tcl_Obj *keyPtr,
                       const char *configFile);

int
NsConfigVariablesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                     Tcl_Obj *const *objv)
{
    Call call;

    if (ParseCall(interp, objc, objv, &call) != TCL_OK
        || Configure(interp, &call, clientData) != TCL_OK) {
        return TCL_ERROR;
    }
    Tcl_ResetResult(interp);
    return TCL_OK;
}

static int
ParseCall(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, Call *callPtr)
{
    int i = 1;

    *callPtr = (Call){.isSilent = 0};
    while (i + 1 < objc && *Tcl_GetString(objv[i]) == '-') {
        const char *word = Tcl_GetString(objv[i]);

        if (STREQ(word, "-configRoot")) {
            callPtr->directoryPtr = objv[i + 1];
        } else if (STREQ(word, "-silent")) {
            if (Tcl_GetBooleanFromObj(interp, objv[i + 1], &callPtr->isSilent)
                != TCL_OK) {
                return TCL_ERROR;
            }
        } else {
            i += STREQ(word, "--");
            break;
        }
        i += 2;
    }
    if (objc - i != 2) {
        Tcl_WrongNumArgs(interp, 1, objv,
                         "?-configRoot directory? ?-silent true|false? ?--? "
                         "prefix defaults");
        return TCL_ERROR;
    }
    callPtr->prefixPtr = objv[i];
    callPtr->defaultsPtr = objv[i + 1];
    return TCL_OK;
}

/*
 * The setup file comes first: what it sets is not replaced.
 */
static int
Configure(Tcl_Interp *interp, const Call *callPtr, const char *configFile)
{
    Tcl_Obj       *setupPtr = Tcl_NewStringObj(SETUP_FILE, -1);
    Tcl_Obj       *keyPtr, *valuePtr = NULL;
    Tcl_DictSearch search;
    int            result, isDone = 1;

    Tcl_IncrRefCount(setupPtr);
    result = Tcl_DictObjGet(interp, callPtr->defaultsPtr, setupPtr, &valuePtr);
    if (result == TCL_OK && valuePtr != NULL) {
        result = SourceSetup(interp, callPtr, setupPtr, configFile);
    }
    if (result == TCL_OK) {
        result = Tcl_DictObjFirst(interp, callPtr->defaultsPtr, &search,
                                  &keyPtr, &valuePtr, &isDone);
    }
    if (result == TCL_OK) {
        while (!isDone && result == TCL_OK) {
            if (!STREQ(Tcl_GetString(keyPtr), SETUP_FILE)) {
                result = SetVariable(interp, callPtr, keyPtr, valuePtr);
            }
            Tcl_DictObjNext(&search, &keyPtr, &valuePtr, &isDone);
        }
        Tcl_DictObjDone(&search);
    }
    Tcl_DecrRefCount(setupPtr);
    return result;
}

static int
SetVariable(Tcl_Interp *interp, const Call *callPtr, Tcl_Obj *keyPtr,
            Tcl_Obj *defaultPtr)
{
    const char *key = Tcl_GetString(keyPtr);
    Tcl_Obj    *valuePtr = Tcl_GetVar2Ex(interp, key, NULL, 0);
    Tcl_Obj    *namePtr = Tcl_DuplicateObj(callPtr->prefixPtr);
    int         result = TCL_ERROR;

    Tcl_IncrRefCount(namePtr);
    Tcl_AppendObjToObj(namePtr, keyPtr);
    if (valuePtr == NULL) {
        valuePtr = Tcl_GetVar2Ex(interp, "env", Tcl_GetString(namePtr),
                                 TCL_GLOBAL_ONLY);
        if (valuePtr != NULL && !callPtr->isSilent) {
            Ns_Log(Notice, "config: variable %s: from %s of the environment",
                   key, Tcl_GetString(namePtr));
        }
    }
    if (valuePtr == NULL) {
        valuePtr = defaultPtr;
    }
    valuePtr = Tcl_SubstObj(interp, valuePtr, TCL_SUBST_ALL);
    if (valuePtr != NULL
        && Tcl_SetVar2Ex(interp, key, NULL, valuePtr, TCL_LEAVE_ERR_MSG)
            != NULL) {
        result = TCL_OK;
    }
    if (result != TCL_OK) {
        Tcl_AppendObjToErrorInfo(interp,
                                 Tcl_ObjPrintf("\n    (variable \"%s\")", key));
    }
    Tcl_DecrRefCount(namePtr);
    return result;
}

/*
 * A relative name is beside the configuration.
 */
static int
SourceSetup(Tcl_Interp *interp, const Call *callPtr, Tcl_Obj *keyPtr,
            const char *configFile)
{
    Tcl_Obj    *defaultPtr = NULL, *pathPtr;
    const char *file;
    Ns_DString  ds;
    int         result = TCL_OK;

    (void) Tcl_DictObjGet(NULL, callPtr->defaultsPtr, keyPtr, &defaultPtr);
    if (SetVariable(interp, callPtr, keyPtr, defaultPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    file = Tcl_GetVar2(interp, SETUP_FILE, NULL, 0);
    if (file == NULL || *file == '\0') {
        return TCL_OK;
    }
    Ns_DStringInit(&ds);
    if (!Ns_PathIsAbsolute(file)) {
        if (callPtr->directoryPtr != NULL) {
            Ns_DStringVarAppend(&ds, Tcl_GetString(callPtr->directoryPtr), "/",
                                NULL);
        } else if (strrchr(configFile, '/') != NULL) {
            Ns_DStringNAppend(&ds, configFile,
                              (int) (strrchr(configFile, '/') + 1
                                     - configFile));
        }
    }
    Ns_DStringAppend(&ds, file);
    pathPtr = Tcl_NewStringObj(Ns_DStringValue(&ds), -1);
    Tcl_IncrRefCount(pathPtr);
    if (!callPtr->isSilent) {
        Ns_Log(Notice, "config: settings from %s", Ns_DStringValue(&ds));
    }
    result = Tcl_FSEvalFile(interp, pathPtr);
    Tcl_DecrRefCount(pathPtr);
    Ns_DStringFree(&ds);
    return result;
}
