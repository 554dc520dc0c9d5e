/*
 * nsv_cmd.c --
 *
 *      Commands on shared arrays: nsv_*, and the older ns_var, ns_share.
 */

#include "ns.h"
#include "tcl/commands.h"
#include "tcl/interp.h"
#include "tcl/nsv.h"

static Tcl_ObjCmdProc SetObjCmd;
static Tcl_ObjCmdProc GetObjCmd;
static Tcl_ObjCmdProc ExistsObjCmd;
static Tcl_ObjCmdProc IncrObjCmd;
static Tcl_ObjCmdProc AppendObjCmd;
static Tcl_ObjCmdProc LappendObjCmd;
static Tcl_ObjCmdProc UnsetObjCmd;
static Tcl_ObjCmdProc NamesObjCmd;
static Tcl_ObjCmdProc ArrayObjCmd;
static Tcl_ObjCmdProc BucketObjCmd;
static Tcl_ObjCmdProc VarObjCmd;
static Tcl_ObjCmdProc ShareObjCmd;

static int ArraySet(ClientData clientData, Tcl_Interp *interp, int objc,
                    Tcl_Obj *const *objv, bool isReset);
static int ArrayList(ClientData clientData, Tcl_Interp *interp, int objc,
                     Tcl_Obj *const *objv, bool withValues);
static NsvArray *LockArray(ClientData clientData, Tcl_Interp *interp,
                           Tcl_Obj *nameObj, bool mustExist);
static int NoSuchKey(Tcl_Interp *interp, Tcl_Obj *keyObj);
static Tcl_Obj *ValueObj(NsvArray *arrayPtr, Tcl_Obj *keyObj);
static int SetVariable(Tcl_Interp *interp, Tcl_Obj *nameObj, Tcl_Obj *valueObj);
static int SetDefaultOrReset(ClientData clientData, Tcl_Interp *interp,
                             bool isReset, Tcl_Obj *const *objv, int nArgs);

static const NsTclCommand commands[] = {
    {"nsv_set",     SetObjCmd, false},
    {"nsv_get",     GetObjCmd, false},
    {"nsv_exists",  ExistsObjCmd, false},
    {"nsv_incr",    IncrObjCmd, false},
    {"nsv_append",  AppendObjCmd, false},
    {"nsv_lappend", LappendObjCmd, false},
    {"nsv_unset",   UnsetObjCmd, false},
    {"nsv_names",   NamesObjCmd, false},
    {"nsv_array",   ArrayObjCmd, false},
    {"nsv_bucket",  BucketObjCmd, false},
    {"ns_var",      VarObjCmd, false},
    {"ns_share",    ShareObjCmd, false},
    {NULL, NULL, false}
};


void
NsNsvCmdInit(void)
{
    NsTclAddCommands(commands);
}

static NsServer *
ServerOf(ClientData clientData)
{
    return ((NsInterp *) clientData)->serverPtr;
}

/*
 * nsv_set array key ?value?
 *
 * Newer scripts put -default or -reset first.
 */
static int
SetObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsvArray   *arrayPtr;
    const char *value;
    int         length;

    if (objc > 3) {
        const char *option = Tcl_GetString(objv[1]);
        bool        isReset = STREQ(option, "-reset");

        if ((isReset && objc <= 5)
                || (STREQ(option, "-default") && objc == 5)) {
            return SetDefaultOrReset(clientData, interp, isReset, objv + 2,
                                     objc - 2);
        }
    }
    if (objc == 3) {
        return GetObjCmd(clientData, interp, objc, objv);
    }
    if (objc != 4) {
        Tcl_WrongNumArgs(interp, 1, objv, "array key ?value?");
        return TCL_ERROR;
    }
    value = Tcl_GetStringFromObj(objv[3], &length);
    arrayPtr = LockArray(clientData, interp, objv[1], false);
    NsvSet(arrayPtr, Tcl_GetString(objv[2]), value, (size_t) length);
    NsvUnlock(arrayPtr);
    Tcl_SetObjResult(interp, objv[3]);
    return TCL_OK;
}

/*
 * nsv_set -default array key value: set only what is missing; the value then
 * there.  nsv_set -reset array key ?value?: set, or unset; the value that was.
 */
static int
SetDefaultOrReset(ClientData clientData, Tcl_Interp *interp, bool isReset,
                  Tcl_Obj *const *objv, int nArgs)
{
    Tcl_Obj    *oldObj;
    const char *key = Tcl_GetString(objv[1]), *value = NULL;
    NsvArray   *arrayPtr;
    int         length = 0;

    if (nArgs > 2) {
        value = Tcl_GetStringFromObj(objv[2], &length);
    }
    arrayPtr = LockArray(clientData, interp, objv[0], isReset && value == NULL);
    if (arrayPtr == NULL) {
        return TCL_ERROR;
    }
    oldObj = ValueObj(arrayPtr, objv[1]);
    if (value == NULL) {
        (void) NsvUnset(arrayPtr, key);
    } else if (isReset || oldObj == NULL) {
        NsvSet(arrayPtr, key, value, (size_t) length);
    }
    NsvUnlock(arrayPtr);

    if (oldObj != NULL) {
        Tcl_SetObjResult(interp, oldObj);
    } else if (!isReset) {
        Tcl_SetObjResult(interp, objv[2]);
    } else if (value == NULL) {
        return NoSuchKey(interp, objv[1]);
    }
    return TCL_OK;
}

/*
 * nsv_get array key ?varName?
 */
static int
GetObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsvArray *arrayPtr;
    Tcl_Obj  *valueObj;

    if (objc != 3 && objc != 4) {
        Tcl_WrongNumArgs(interp, 1, objv, "array key ?varName?");
        return TCL_ERROR;
    }
    arrayPtr = LockArray(clientData, interp, objv[1], true);
    if (arrayPtr == NULL) {
        return TCL_ERROR;
    }
    valueObj = ValueObj(arrayPtr, objv[2]);
    NsvUnlock(arrayPtr);

    if (objc == 4) {
        return SetVariable(interp, objv[3], valueObj);
    }
    if (valueObj == NULL) {
        return NoSuchKey(interp, objv[2]);
    }
    Tcl_SetObjResult(interp, valueObj);
    return TCL_OK;
}

/*
 * nsv_exists array key
 */
static int
ExistsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsvArray *arrayPtr;
    bool      exists = false;
    size_t    length;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "array key");
        return TCL_ERROR;
    }
    arrayPtr = NsvLock(ServerOf(clientData), Tcl_GetString(objv[1]), true);
    if (arrayPtr != NULL) {
        exists = NsvGet(arrayPtr, Tcl_GetString(objv[2]), &length) != NULL;
        NsvUnlock(arrayPtr);
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(exists));
    return TCL_OK;
}

/*
 * nsv_incr array key ?count?
 */
static int
IncrObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsvArray      *arrayPtr;
    Ns_ReturnCode  status;
    Tcl_WideInt    value;
    int            count = 1, nWords = objc - 3;
    Ns_ObjvSpec    countSpec = {.dest = &count};

    if (objc != 3 && objc != 4) {
        Tcl_WrongNumArgs(interp, 1, objv, "array key ?count?");
        return TCL_ERROR;
    }
    if (nWords > 0
            && Ns_ObjvInt(&countSpec, interp, &nWords, objv + 3) != TCL_OK) {
        return TCL_ERROR;
    }
    arrayPtr = LockArray(clientData, interp, objv[1], false);
    status = NsvIncr(arrayPtr, Tcl_GetString(objv[2]), count, &value);
    NsvUnlock(arrayPtr);

    if (status != NS_OK) {
        Tcl_SetObjResult(interp,
            Tcl_NewStringObj("array variable is not an integer", -1));
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewWideIntObj(value));
    return TCL_OK;
}

/*
 * nsv_append array key value ?value ...?
 */
static int
AppendObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsvArray *arrayPtr;
    Tcl_Obj  *resultObj;

    if (objc < 4) {
        Tcl_WrongNumArgs(interp, 1, objv, "array key value ?value ...?");
        return TCL_ERROR;
    }
    arrayPtr = LockArray(clientData, interp, objv[1], false);
    for (int i = 3; i < objc; i++) {
        int         length;
        const char *value = Tcl_GetStringFromObj(objv[i], &length);

        NsvAppend(arrayPtr, Tcl_GetString(objv[2]), value, (size_t) length);
    }
    resultObj = ValueObj(arrayPtr, objv[2]);
    NsvUnlock(arrayPtr);
    Tcl_SetObjResult(interp, resultObj);
    return TCL_OK;
}

/*
 * nsv_lappend array key value ?value ...?
 */
static int
LappendObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsvArray   *arrayPtr;
    Tcl_Obj    *resultObj;
    Ns_DString  ds;
    const char *key, *old;
    size_t      oldLength = 0;

    if (objc < 4) {
        Tcl_WrongNumArgs(interp, 1, objv, "array key value ?value ...?");
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    key = Tcl_GetString(objv[2]);
    arrayPtr = LockArray(clientData, interp, objv[1], false);
    old = NsvGet(arrayPtr, key, &oldLength);
    if (old != NULL) {
        Ns_DStringNAppend(&ds, old, (int) oldLength);
    }
    for (int i = 3; i < objc; i++) {
        Ns_DStringAppendElement(&ds, Tcl_GetString(objv[i]));
    }
    NsvAppend(arrayPtr, key, ds.string + oldLength,
              (size_t) ds.length - oldLength);
    resultObj = ValueObj(arrayPtr, objv[2]);
    NsvUnlock(arrayPtr);
    Ns_DStringFree(&ds);
    Tcl_SetObjResult(interp, resultObj);
    return TCL_OK;
}

/*
 * nsv_unset ?-nocomplain? ?--? array ?key?
 */
static int
UnsetObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    int         isNoComplain = 0;
    bool        wasSet = true;
    Tcl_Obj    *nameObj, *keyObj = NULL;
    NsvArray   *arrayPtr;
    Ns_ObjvSpec options[] = {
        {"-nocomplain", Ns_ObjvBool,  &isNoComplain, INT2PTR(NS_TRUE)},
        {"--",          Ns_ObjvBreak, NULL,          NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"array", Ns_ObjvObj, &nameObj, NULL},
        {"?key",  Ns_ObjvObj, &keyObj,  NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    arrayPtr = LockArray(clientData, interp, nameObj, true);
    if (arrayPtr == NULL) {
        if (isNoComplain) {
            Tcl_ResetResult(interp);
            return TCL_OK;
        }
        return TCL_ERROR;
    }
    if (keyObj != NULL) {
        wasSet = NsvUnset(arrayPtr, Tcl_GetString(keyObj));
    } else {
        NsvClear(arrayPtr);
    }
    NsvUnlock(arrayPtr);
    return wasSet || isNoComplain ? TCL_OK : NoSuchKey(interp, keyObj);
}

/*
 * nsv_names ?pattern?
 */
static int
NamesObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Ns_DString ds;

    if (objc > 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "?pattern?");
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsvNames(ServerOf(clientData), objc > 1 ? Tcl_GetString(objv[1]) : NULL,
             &ds);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * nsv_array set|reset|get|names|size|exists array ...
 */
static int
ArrayObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static const char *const options[] = {
        "set", "reset", "get", "names", "size", "exists", NULL
    };
    enum {SET, RESET, GET, NAMES, SIZE, EXISTS} option;
    NsvArray *arrayPtr;
    int       index, number = 0;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ...");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], options, "option", 0, &index)
            != TCL_OK) {
        return TCL_ERROR;
    }
    option = index;
    switch (option) {
    case SET:
    case RESET:
        return ArraySet(clientData, interp, objc, objv, option == RESET);
    case GET:
    case NAMES:
        return ArrayList(clientData, interp, objc, objv, option == GET);
    case SIZE:
    case EXISTS:
        break;
    }
    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "array");
        return TCL_ERROR;
    }
    arrayPtr = NsvLock(ServerOf(clientData), Tcl_GetString(objv[2]), true);
    if (arrayPtr != NULL) {
        number = option == SIZE ? NsvSize(arrayPtr) : 1;
        NsvUnlock(arrayPtr);
    }
    Tcl_SetObjResult(interp, Tcl_NewIntObj(number));
    return TCL_OK;
}

static int
ArraySet(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv, bool isReset)
{
    NsvArray  *arrayPtr;
    Tcl_Obj  **words;
    int        nWords;

    if (objc != 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "array valueList");
        return TCL_ERROR;
    }
    if (Tcl_ListObjGetElements(interp, objv[3], &nWords, &words) != TCL_OK) {
        return TCL_ERROR;
    }
    if (nWords % 2 != 0) {
        Ns_TclPrintfResult(interp, "invalid list: %s", Tcl_GetString(objv[3]));
        return TCL_ERROR;
    }
    arrayPtr = LockArray(clientData, interp, objv[2], false);
    if (isReset) {
        NsvClear(arrayPtr);
    }
    for (int i = 0; i < nWords; i += 2) {
        int         length;
        const char *value = Tcl_GetStringFromObj(words[i + 1], &length);

        NsvSet(arrayPtr, Tcl_GetString(words[i]), value, (size_t) length);
    }
    NsvUnlock(arrayPtr);
    return TCL_OK;
}

static int
ArrayList(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv, bool withValues)
{
    NsvArray   *arrayPtr;
    const char *pattern;
    Ns_DString  ds;

    if (objc != 3 && objc != 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "array ?pattern?");
        return TCL_ERROR;
    }
    pattern = objc == 4 ? Tcl_GetString(objv[3]) : NULL;
    arrayPtr = NsvLock(ServerOf(clientData), Tcl_GetString(objv[2]), true);
    if (arrayPtr != NULL) {
        Ns_DStringInit(&ds);
        NsvList(arrayPtr, pattern, withValues, &ds);
        NsvUnlock(arrayPtr);
        Tcl_DStringResult(interp, &ds);
    }
    return TCL_OK;
}

/*
 * nsv_bucket ?bucket-number?
 */
static int
BucketObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsServer   *serverPtr = ServerOf(clientData);
    Ns_DString  ds;
    int         first = 0, end = NsvBuckets(serverPtr);

    if (objc > 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "?bucket-number?");
        return TCL_ERROR;
    }
    if (objc == 2) {
        if (Tcl_GetIntFromObj(NULL, objv[1], &first) != TCL_OK
                || first < 0 || first >= end) {
            Tcl_SetObjResult(interp,
                Tcl_NewStringObj("bucket number is not a valid integer", -1));
            return TCL_ERROR;
        }
        end = first + 1;
    }
    Ns_DStringInit(&ds);
    for (int i = first; i < end; i++) {
        NsvListBucket(serverPtr, i, &ds);
    }
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * ns_var exists|get|set|unset|list ?key? ?value?: the array ns:var.
 */
static int
VarObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    static const struct {
        const char     *name;
        const char     *args;
        int             nArgs;
        Tcl_ObjCmdProc *proc;
    } options[] = {
        {"exists", "key",       1, ExistsObjCmd},
        {"get",    "key",       1, GetObjCmd},
        {"set",    "key value", 2, SetObjCmd},
        {"unset",  "key",       1, UnsetObjCmd},
        {"list",   NULL,        0, NULL}
    };
    Tcl_Obj *words[4], *callObj;
    int      i, result;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "cmd ?key? ?value?");
        return TCL_ERROR;
    }
    for (i = 0; i < Ns_NrElements(options); i++) {
        if (STREQ(options[i].name, Tcl_GetString(objv[1]))) {
            break;
        }
    }
    if (i == Ns_NrElements(options)) {
        Ns_TclPrintfResult(interp, "unknown command \"%s\", should be"
                           " exists, list, get, set, or unset",
                           Tcl_GetString(objv[1]));
        return TCL_ERROR;
    }
    if (objc - 2 != options[i].nArgs) {
        Tcl_WrongNumArgs(interp, 2, objv, options[i].args);
        return TCL_ERROR;
    }
    callObj = Tcl_NewListObj(objc, objv);
    Tcl_IncrRefCount(callObj);
    Ns_Log(Warning, "%s is deprecated. Use 'nsv_*' instead!",
           Tcl_GetString(callObj));
    Tcl_DecrRefCount(callObj);

    words[0] = objv[0];
    words[1] = Tcl_NewStringObj("ns:var", -1);
    Tcl_IncrRefCount(words[1]);
    for (int j = 2; j < objc; j++) {
        words[j] = objv[j];
    }
    if (options[i].proc == NULL) {
        Tcl_Obj *listWords[3] = {objv[0], objv[1], words[1]};

        result = ArrayList(clientData, interp, 3, listWords, false);
    } else {
        result = options[i].proc(clientData, interp, objc, words);
    }
    Tcl_DecrRefCount(words[1]);
    return result;
}

/*
 * ns_share ?args?: variables were once shared this way.
 */
static int
ShareObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Ns_Log(Warning, "ns_share is not supported: use nsv_* instead");
    return TCL_OK;
}

/*
 * NULL: there is no such array, and the interpreter has the message.
 */
static NsvArray *
LockArray(ClientData clientData, Tcl_Interp *interp, Tcl_Obj *nameObj,
          bool mustExist)
{
    const char *name = Tcl_GetString(nameObj);
    NsvArray   *arrayPtr = NsvLock(ServerOf(clientData), name, mustExist);

    if (arrayPtr == NULL) {
        Ns_TclPrintfResult(interp, "no such array: %s", name);
    }
    return arrayPtr;
}

static int
NoSuchKey(Tcl_Interp *interp, Tcl_Obj *keyObj)
{
    Ns_TclPrintfResult(interp, "no such key: %s", Tcl_GetString(keyObj));
    return TCL_ERROR;
}

/*
 * A new object with the key's value, or NULL.
 */
static Tcl_Obj *
ValueObj(NsvArray *arrayPtr, Tcl_Obj *keyObj)
{
    size_t      length;
    const char *value = NsvGet(arrayPtr, Tcl_GetString(keyObj), &length);

    return value != NULL ? Tcl_NewStringObj(value, (int) length) : NULL;
}

/*
 * Set the variable unless valueObj is NULL; the result says which.
 */
static int
SetVariable(Tcl_Interp *interp, Tcl_Obj *nameObj, Tcl_Obj *valueObj)
{
    if (valueObj != NULL
            && Tcl_ObjSetVar2(interp, nameObj, NULL, valueObj,
                              TCL_LEAVE_ERR_MSG) == NULL) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(valueObj != NULL));
    return TCL_OK;
}
