/* SPDX-License-Identifier: MPL-2.0
 * nsvdict_cmd.c --
 *
 *      nsv_dict: values of shared arrays that are dictionaries.
 *
 *      What changes a dictionary runs with the array locked; what only reads
 *      it works on a copy.  The subcommands do and return what those of Tcl's
 *      `dict` do.
 */

#include "ns.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/nsv.h"
#include "tcl/result.h"

/*
 * Work on dictObj, which the caller has for itself, with the words behind the
 * key.  The result is left in *resultPtr, without a reference count, or an
 * error message in the interpreter.
 */
typedef int DictProc(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs,
                     Tcl_Obj *const *args, Tcl_Obj **resultPtr);

static DictProc DictAppend, DictExists, DictGet, DictGetDef, DictIncr, DictKeys,
    DictLappend, DictSet, DictSize, DictUnset;

typedef struct Subcmd {
    const char *name;
    DictProc   *proc;
    const char *usage; /* Behind `array key`. */
    int         minArgs;
    int         maxArgs; /* -1: any number. */
    bool        isUpdate;
    bool        mayBeMissing; /* Array and key: an empty dictionary. */
} Subcmd;

static const Subcmd subcmds[] = {
    {"append", DictAppend, " dictkey ?value ...?", 1, -1, true, true},
    {"exists", DictExists, " dictkey ?dictkey ...?", 1, -1, false, true},
    {"get", DictGet, " ?dictkey ...?", 0, -1, false, false},
    {"getdef", DictGetDef, " dictkey ?dictkey ...? default", 2, -1, false,
     true},
    {"getwithdefault", DictGetDef, " dictkey ?dictkey ...? default", 2, -1,
     false, true},
    {"incr", DictIncr, " dictkey ?count?", 1, 2, true, true},
    {"keys", DictKeys, " ?pattern?", 0, 1, false, false},
    {"lappend", DictLappend, " dictkey ?value ...?", 1, -1, true, true},
    {"set", DictSet, " dictkey ?dictkey ...? value", 2, -1, true, true},
    {"size", DictSize, "", 0, 0, false, false},
    {"unset", DictUnset, " dictkey ?dictkey ...?", 1, -1, true, false},
    {NULL, NULL, NULL, 0, 0, false, false},
    {NULL, NULL, NULL, 0, 0, false, false}};

static Tcl_ObjCmdProc DictCmd;

static int Update(Tcl_Interp *interp, const Subcmd *subcmdPtr,
                  NsServer *serverPtr, int objc, Tcl_Obj *const *objv);
static int Read(Tcl_Interp *interp, const Subcmd *subcmdPtr,
                NsServer *serverPtr, int objc, Tcl_Obj *const *objv);
static int ReadVariable(Tcl_Interp *interp, NsServer *serverPtr, int objc,
                        Tcl_Obj *const *objv);
static int Missing(Tcl_Interp *interp, bool hasArray, Tcl_Obj *const *objv);
static Tcl_Obj *DictObj(NsvArray *arrayPtr, Tcl_Obj *keyObj);
static int      Find(Tcl_Interp *interp, Tcl_Obj *dictObj, int nKeys,
                     Tcl_Obj *const *keys, Tcl_Obj **valuePtr);
static int      NotKnown(Tcl_Interp *interp, Tcl_Obj *keyObj);
static int      OwnValue(Tcl_Interp *interp, Tcl_Obj *dictObj, Tcl_Obj *keyObj,
                         Tcl_Obj **valuePtr);

static const NsTclCommand commands[] = {
    {"nsv_dict", DictCmd, 1, NS_TCL_ANY, "subcommand array key ?arg ...?", 0},
    NS_TCL_END};

NS_TCL_FAMILY(NsvDict, commands)

/*
 * nsv_dict subcommand array key ?arg ...?
 */
static int
DictCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsServer     *serverPtr = ((NsInterp *) clientData)->serverPtr;
    const Subcmd *subcmdPtr;

    subcmdPtr = NsTclFindRow(interp, objv[1], subcmds, sizeof(Subcmd),
                             "subcommand", false);
    if (subcmdPtr == NULL) {
        return TCL_ERROR;
    }
    if (subcmdPtr->proc == DictGet && objc > 2) {
        const char *option = Tcl_GetString(objv[2]);

        if (STREQ(option, "-varname")) {
            return ReadVariable(interp, serverPtr, objc, objv);
        }
        if (STREQ(option, "--")) {
            objc--;
            objv++;
        }
    }
    if (objc - 4 < subcmdPtr->minArgs
        || (subcmdPtr->maxArgs >= 0 && objc - 4 > subcmdPtr->maxArgs)) {
        return NsTclFailArgs(
            interp, "wrong # args: should be \"nsv_dict %s array key%s\"",
            subcmdPtr->name, subcmdPtr->usage);
    }
    return (subcmdPtr->isUpdate ? Update : Read)(interp, subcmdPtr, serverPtr,
                                                 objc, objv);
}

static int
Update(Tcl_Interp *interp, const Subcmd *subcmdPtr, NsServer *serverPtr,
       int objc, Tcl_Obj *const *objv)
{
    NsvArray   *arrayPtr = NsvLock(serverPtr, Tcl_GetString(objv[2]),
                                   !subcmdPtr->mayBeMissing);
    Tcl_Obj    *dictObj = NULL, *resultObj = NULL;
    const char *text;
    int         length, result;

    if (arrayPtr != NULL) {
        dictObj = DictObj(arrayPtr, objv[3]);
        if (dictObj == NULL && subcmdPtr->mayBeMissing) {
            dictObj = Tcl_NewDictObj();
        }
    }
    if (dictObj == NULL) {
        if (arrayPtr != NULL) {
            NsvUnlock(arrayPtr);
        }
        return Missing(interp, arrayPtr != NULL, objv);
    }
    Tcl_IncrRefCount(dictObj);
    result = subcmdPtr->proc(interp, dictObj, objc - 4, objv + 4, &resultObj);
    if (result == TCL_OK) {
        text = Tcl_GetStringFromObj(dictObj, &length);
        NsvSet(arrayPtr, Tcl_GetString(objv[3]), text, (size_t) length);
        Tcl_SetObjResult(interp, resultObj);
    }
    NsvUnlock(arrayPtr);
    Tcl_DecrRefCount(dictObj);
    return result;
}

static int
Read(Tcl_Interp *interp, const Subcmd *subcmdPtr, NsServer *serverPtr, int objc,
     Tcl_Obj *const *objv)
{
    NsvArray *arrayPtr = NsvLock(serverPtr, Tcl_GetString(objv[2]), true);
    Tcl_Obj  *dictObj = NULL, *resultObj = NULL;
    int       result;

    if (arrayPtr != NULL) {
        dictObj = DictObj(arrayPtr, objv[3]);
        NsvUnlock(arrayPtr);
    }
    if (dictObj == NULL) {
        if (!subcmdPtr->mayBeMissing) {
            return Missing(interp, arrayPtr != NULL, objv);
        }
        dictObj = Tcl_NewDictObj();
    }
    Tcl_IncrRefCount(dictObj);
    result = subcmdPtr->proc(interp, dictObj, objc - 4, objv + 4, &resultObj);
    if (result == TCL_OK) {
        Tcl_SetObjResult(interp, resultObj);
    }
    Tcl_DecrRefCount(dictObj);
    return result;
}

/*
 * nsv_dict get -varname variable ?--? array key ?dictkey ...?: 1 and the value
 * in the variable, or 0.
 */
static int
ReadVariable(Tcl_Interp *interp, NsServer *serverPtr, int objc,
             Tcl_Obj *const *objv)
{
    int       first = objc > 4 && STREQ(Tcl_GetString(objv[4]), "--") ? 5 : 4;
    NsvArray *arrayPtr;
    Tcl_Obj  *dictObj = NULL, *valueObj = NULL;
    int       result = TCL_OK;

    if (objc < first + 2) {
        return NsTclFailArgs(interp,
                             "wrong # args: should be \"nsv_dict get -varname"
                             " varname ?--? array key ?dictkey ...?\"");
    }
    arrayPtr = NsvLock(serverPtr, Tcl_GetString(objv[first]), true);
    if (arrayPtr != NULL) {
        dictObj = DictObj(arrayPtr, objv[first + 1]);
        NsvUnlock(arrayPtr);
    }
    if (dictObj != NULL) {
        Tcl_IncrRefCount(dictObj);
        result = Find(interp, dictObj, objc - first - 2, objv + first + 2,
                      &valueObj);
        if (result == TCL_OK && valueObj != NULL
            && Tcl_ObjSetVar2(interp, objv[3], NULL, valueObj,
                              TCL_LEAVE_ERR_MSG)
                == NULL) {
            result = TCL_ERROR;
        }
        if (result == TCL_OK) {
            Tcl_SetObjResult(interp, Tcl_NewBooleanObj(valueObj != NULL));
        }
        Tcl_DecrRefCount(dictObj);
        return result;
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(false));
}

static int
Missing(Tcl_Interp *interp, bool hasArray, Tcl_Obj *const *objv)
{
    const char *name = Tcl_GetString(objv[hasArray ? 3 : 2]);

    (void) NsTclFail(interp, hasArray ? "no such key: %s" : "no such array: %s",
                     name);
    Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "NSV", hasArray ? "KEY" : "ARRAY",
                     name, NULL);
    return TCL_ERROR;
}

/*
 * A new object with the key's value, or NULL.
 */
static Tcl_Obj *
DictObj(NsvArray *arrayPtr, Tcl_Obj *keyObj)
{
    size_t      length;
    const char *value = NsvGet(arrayPtr, Tcl_GetString(keyObj), &length);

    return value != NULL ? Tcl_NewStringObj(value, (int) length) : NULL;
}

/*
 * The subcommands.
 */

static int
DictAppend(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs,
           Tcl_Obj *const *args, Tcl_Obj **resultPtr)
{
    Tcl_Obj *valueObj;

    if (OwnValue(interp, dictObj, args[0], &valueObj) != TCL_OK) {
        return TCL_ERROR;
    }
    for (int i = 1; i < nArgs; i++) {
        Tcl_AppendObjToObj(valueObj, args[i]);
    }
    *resultPtr = dictObj;
    return Tcl_DictObjPut(interp, dictObj, args[0], valueObj);
}

static int
DictLappend(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs,
            Tcl_Obj *const *args, Tcl_Obj **resultPtr)
{
    Tcl_Obj *valueObj;
    int      result;

    if (OwnValue(interp, dictObj, args[0], &valueObj) != TCL_OK) {
        return TCL_ERROR;
    }
    Tcl_IncrRefCount(valueObj);
    result = Tcl_ListObjReplace(interp, valueObj, INT_MAX, 0, nArgs - 1,
                                args + 1);
    if (result == TCL_OK) {
        result = Tcl_DictObjPut(interp, dictObj, args[0], valueObj);
    }
    Tcl_DecrRefCount(valueObj);
    *resultPtr = dictObj;
    return result;
}

static int
DictIncr(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs, Tcl_Obj *const *args,
         Tcl_Obj **resultPtr)
{
    Tcl_Obj    *valueObj;
    Tcl_WideInt count = 1, value = 0;

    if (Tcl_DictObjGet(interp, dictObj, args[0], &valueObj) != TCL_OK
        || (valueObj != NULL
            && Tcl_GetWideIntFromObj(interp, valueObj, &value) != TCL_OK)
        || (nArgs > 1
            && Tcl_GetWideIntFromObj(interp, args[1], &count) != TCL_OK)) {
        return TCL_ERROR;
    }
    *resultPtr = dictObj;
    return Tcl_DictObjPut(interp, dictObj, args[0],
                          Tcl_NewWideIntObj((Tcl_WideInt) ((Tcl_WideUInt) value
                                                           + (Tcl_WideUInt)
                                                               count)));
}

static int
DictSet(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs, Tcl_Obj *const *args,
        Tcl_Obj **resultPtr)
{
    *resultPtr = dictObj;
    return Tcl_DictObjPutKeyList(interp, dictObj, nArgs - 1, args,
                                 args[nArgs - 1]);
}

static int
DictUnset(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs, Tcl_Obj *const *args,
          Tcl_Obj **resultPtr)
{
    *resultPtr = dictObj;
    return Tcl_DictObjRemoveKeyList(interp, dictObj, nArgs, args);
}

static int
DictGet(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs, Tcl_Obj *const *args,
        Tcl_Obj **resultPtr)
{
    if (Find(interp, dictObj, nArgs, args, resultPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    return *resultPtr != NULL ? TCL_OK : NotKnown(interp, args[nArgs - 1]);
}

static int
DictGetDef(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs,
           Tcl_Obj *const *args, Tcl_Obj **resultPtr)
{
    if (Find(interp, dictObj, nArgs - 1, args, resultPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (*resultPtr == NULL) {
        *resultPtr = args[nArgs - 1];
    }
    return TCL_OK;
}

static int
DictExists(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs,
           Tcl_Obj *const *args, Tcl_Obj **resultPtr)
{
    Tcl_Obj *valueObj = NULL;
    bool     exists = Find(NULL, dictObj, nArgs, args, &valueObj) == TCL_OK
        && valueObj != NULL;

    *resultPtr = Tcl_NewBooleanObj(exists);
    return TCL_OK;
}

static int
DictKeys(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs, Tcl_Obj *const *args,
         Tcl_Obj **resultPtr)
{
    const char    *pattern = nArgs > 0 ? Tcl_GetString(args[0]) : "*";
    Tcl_DictSearch search;
    Tcl_Obj       *keyObj;
    int            isDone;

    if (Tcl_DictObjFirst(interp, dictObj, &search, &keyObj, NULL, &isDone)
        != TCL_OK) {
        return TCL_ERROR;
    }
    *resultPtr = Tcl_NewListObj(0, NULL);
    while (!isDone) {
        if (Tcl_StringMatch(Tcl_GetString(keyObj), pattern)) {
            Tcl_ListObjAppendElement(NULL, *resultPtr, keyObj);
        }
        Tcl_DictObjNext(&search, &keyObj, NULL, &isDone);
    }
    Tcl_DictObjDone(&search);
    return TCL_OK;
}

static int
DictSize(Tcl_Interp *interp, Tcl_Obj *dictObj, int nArgs, Tcl_Obj *const *args,
         Tcl_Obj **resultPtr)
{
    int size;

    if (Tcl_DictObjSize(interp, dictObj, &size) != TCL_OK) {
        return TCL_ERROR;
    }
    *resultPtr = Tcl_NewIntObj(size);
    return TCL_OK;
}

/*
 * The value at the end of a path of keys; NULL if there is none.
 */
static int
Find(Tcl_Interp *interp, Tcl_Obj *dictObj, int nKeys, Tcl_Obj *const *keys,
     Tcl_Obj **valuePtr)
{
    int size;

    *valuePtr = dictObj;
    for (int i = 0; i < nKeys && *valuePtr != NULL; i++) {
        if (Tcl_DictObjGet(interp, *valuePtr, keys[i], valuePtr) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return nKeys == 0 ? Tcl_DictObjSize(interp, dictObj, &size) : TCL_OK;
}

static int
NotKnown(Tcl_Interp *interp, Tcl_Obj *keyObj)
{
    const char *key = Tcl_GetString(keyObj);

    (void) NsTclFail(interp, "key \"%s\" not known in dictionary", key);
    Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "DICT", key, NULL);
    return TCL_ERROR;
}

/*
 * A value to be changed: a copy of the one that is there, or an empty one.
 */
static int
OwnValue(Tcl_Interp *interp, Tcl_Obj *dictObj, Tcl_Obj *keyObj,
         Tcl_Obj **valuePtr)
{
    if (Tcl_DictObjGet(interp, dictObj, keyObj, valuePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    *valuePtr = *valuePtr == NULL ? Tcl_NewObj() : Tcl_DuplicateObj(*valuePtr);
    return TCL_OK;
}
