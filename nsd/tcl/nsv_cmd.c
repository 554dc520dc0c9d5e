/* SPDX-License-Identifier: MPL-2.0
 * nsv_cmd.c --
 *
 *      Commands on shared arrays: nsv_*, and the older ns_var, ns_share.
 */

#include "ns.h"
#include "tcl/broadcast.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/nsv.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc SetCmd, GetCmd, ExistsCmd, IncrCmd, AppendCmd, LappendCmd,
    UnsetCmd, InvalidateCmd, NamesCmd, BucketCmd, VarCmd, ShareCmd, ArraySet,
    ArrayList, ArrayCount, VarList;

static int       List(NsInterp *itPtr, Tcl_Obj *nameObj, const char *pattern,
                      bool withValues);
static NsvArray *LockArray(ClientData clientData, Tcl_Interp *interp,
                           Tcl_Obj *nameObj, bool mustExist);
static int       NoSuchKey(Tcl_Interp *interp, Tcl_Obj *keyObj);
static Tcl_Obj  *ValueObj(NsvArray *arrayPtr, Tcl_Obj *keyObj);
static int SetVariable(Tcl_Interp *interp, Tcl_Obj *nameObj, Tcl_Obj *valueObj);
static int SetDefaultOrReset(ClientData clientData, Tcl_Interp *interp,
                             bool isReset, Tcl_Obj *const *objv, int nArgs);

static const NsTclCommand commands[] = {
    {"nsv_set", SetCmd, 0, NS_TCL_ANY, NULL, 0},
    {"nsv_get", GetCmd, 2, 3, "array key ?varName?", 0},
    {"nsv_exists", ExistsCmd, 2, 2, "array key", 0},
    {"nsv_incr", IncrCmd, 2, 3, "array key ?count?", 0},
    {"nsv_append", AppendCmd, 3, NS_TCL_ANY, "array key value ?value ...?", 0},
    {"nsv_lappend", LappendCmd, 3, NS_TCL_ANY, "array key value ?value ...?",
     0},
    {"nsv_unset", UnsetCmd, 0, NS_TCL_ANY, NULL, 0},
    {"nsv_invalidate", InvalidateCmd, 1, 2, "array ?channel?", 0},
    {"nsv_names", NamesCmd, 0, 1, "?pattern?", 0},
    {"nsv_bucket", BucketCmd, 0, 1, "?bucket-number?", 0},
    {"ns_var", VarCmd, 1, NS_TCL_ANY, "cmd ?key? ?value?", 0},
    {"ns_share", ShareCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

/*
 * What nsv_array get lists besides keys; set removes first; size counts.
 */
#define WITH_VALUES 0x1u
#define RESET       0x2u
#define SIZE        0x4u

static const NsTclCommand arraySubcmds[] = {
    {"set", ArraySet, 2, 2, "array valueList", 0},
    {"reset", ArraySet, 2, 2, "array valueList", RESET},
    {"get", ArrayList, 1, 2, "array ?pattern?", WITH_VALUES},
    {"names", ArrayList, 1, 2, "array ?pattern?", 0},
    {"size", ArrayCount, 1, 1, "array", SIZE},
    {"exists", ArrayCount, 1, 1, "array", 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble arrays = {
    "nsv_array", "option ...", "option", 0, arraySubcmds};

void
NsNsvCmdInit(void)
{
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&arrays);
}

static NsServer *
ServerOf(ClientData clientData)
{
    return ((NsInterp *) clientData)->serverPtr;
}

/*
 * nsv_set ?-default? ?-reset? ?--? array key ?value?
 */
static int
SetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsvArray   *arrayPtr;
    const char *value;
    int         length;

    if (objc > 3) {
        const char *option = Tcl_GetString(objv[1]);
        bool        isReset = STREQ(option, "-reset");

        if (option[0] == '-' && (isReset || STREQ(option, "-default"))
            && STREQ(Tcl_GetString(objv[2]), "--")) {
            objc--;
            objv++;
        } else if (STREQ(option, "--")) {
            objc--;
            objv++;
            option = "";
        }

        if ((isReset && objc <= 5)
            || (STREQ(option, "-default") && objc == 5)) {
            return SetDefaultOrReset(clientData, interp, isReset, objv + 2,
                                     objc - 2);
        }
    }
    if (objc == 3) {
        return GetCmd(clientData, interp, objc, objv);
    }
    if (objc != 4) {
        return NsTclFailArgs(interp,
                             "wrong # args: should be \"nsv_set ?-default?"
                             " ?-reset? ?--? array key ?value?\"");
    }
    value = Tcl_GetStringFromObj(objv[3], &length);
    arrayPtr = LockArray(clientData, interp, objv[1], false);
    NsvSet(arrayPtr, Tcl_GetString(objv[2]), value, (size_t) length);
    NsvUnlock(arrayPtr);
    return NsTclReturn(interp, objv[3]);
}

/*
 * nsv_set -default array key value: set only what is missing; the value then
 * there.  nsv_set -reset array key ?value?: set, or unset; the value that was,
 * empty if there was none.
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
    arrayPtr = NsvLock(ServerOf(clientData), Tcl_GetString(objv[0]),
                       isReset && value == NULL);
    if (arrayPtr == NULL) {
        return TCL_OK;
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
    }
    return TCL_OK;
}

/*
 * nsv_get array key ?varName?
 */
static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsvArray *arrayPtr;
    Tcl_Obj  *valueObj;

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
    return NsTclReturn(interp, valueObj);
}

/*
 * nsv_exists array key
 */
static int
ExistsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsvArray *arrayPtr;
    bool      exists = false;
    size_t    length;

    arrayPtr = NsvLock(ServerOf(clientData), Tcl_GetString(objv[1]), true);
    if (arrayPtr != NULL) {
        exists = NsvGet(arrayPtr, Tcl_GetString(objv[2]), &length) != NULL;
        NsvUnlock(arrayPtr);
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(exists));
}

/*
 * nsv_incr array key ?count?
 */
static int
IncrCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsvArray     *arrayPtr;
    Ns_ReturnCode status;
    Tcl_WideInt   value;
    int           count = 1, nWords = objc - 3;
    Ns_ObjvSpec   countSpec = {.dest = &count};

    if (nWords > 0
        && Ns_ObjvInt(&countSpec, interp, &nWords, objv + 3) != TCL_OK) {
        return TCL_ERROR;
    }
    arrayPtr = LockArray(clientData, interp, objv[1], false);
    status = NsvIncr(arrayPtr, Tcl_GetString(objv[2]), count, &value);
    NsvUnlock(arrayPtr);

    if (status != NS_OK) {
        return NsTclFail(interp, "array variable is not an integer");
    }
    return NsTclReturn(interp, Tcl_NewWideIntObj(value));
}

/*
 * nsv_append array key value ?value ...?
 */
static int
AppendCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsvArray *arrayPtr;
    Tcl_Obj  *resultObj;

    arrayPtr = LockArray(clientData, interp, objv[1], false);
    for (int i = 3; i < objc; i++) {
        int         length;
        const char *value = Tcl_GetStringFromObj(objv[i], &length);

        NsvAppend(arrayPtr, Tcl_GetString(objv[2]), value, (size_t) length);
    }
    resultObj = ValueObj(arrayPtr, objv[2]);
    NsvUnlock(arrayPtr);
    return NsTclReturn(interp, resultObj);
}

/*
 * nsv_lappend array key value ?value ...?
 */
static int
LappendCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsvArray   *arrayPtr;
    Tcl_Obj    *resultObj;
    Ns_DString  ds;
    const char *key, *old;
    size_t      oldLength = 0;

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
    NsvAppend(arrayPtr, key, Ns_DStringValue(&ds) + oldLength,
              (size_t) Ns_DStringLength(&ds) - oldLength);
    resultObj = ValueObj(arrayPtr, objv[2]);
    NsvUnlock(arrayPtr);
    Ns_DStringFree(&ds);
    return NsTclReturn(interp, resultObj);
}

/*
 * nsv_unset ?-nocomplain? ?--? array ?key?
 */
static int
UnsetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    int             isNoComplain = 0;
    bool            wasSet = true;
    Tcl_Obj        *nameObj, *keyObj = NULL;
    NsvArray       *arrayPtr;
    const char     *channel, *key;
    NsBroadcastKeys keys = {.keys = &key};
    Ns_ObjvSpec     options[] = {
            {"-nocomplain", Ns_ObjvBool, &isNoComplain, INT2PTR(true)},
            {"--", Ns_ObjvBreak, NULL, NULL},
            {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"array", Ns_ObjvObj, &nameObj, NULL},
                          {"?key", Ns_ObjvObj, &keyObj, NULL},
                          {NULL, NULL, NULL, NULL}};

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
    channel = NsvChannel(arrayPtr);
    NsvUnlock(arrayPtr);
    if (keyObj != NULL) {
        key = Tcl_GetString(keyObj);
        keys.n = 1;
    }
    NsBroadcastTell(ServerOf(clientData), channel, NS_BROADCAST_ARRAY,
                    Tcl_GetString(nameObj), &keys);
    return wasSet || isNoComplain ? TCL_OK : NoSuchKey(interp, keyObj);
}

/*
 * nsv_invalidate array ?channel?: where removals are told to other machines.
 */
static int
InvalidateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsvArray   *arrayPtr;
    const char *channel = NULL;

    if (objc == 3) {
        channel = NsBroadcastJoin(ServerOf(clientData), NS_BROADCAST_ARRAY,
                                  Tcl_GetString(objv[1]),
                                  Tcl_GetString(objv[2]));
    }
    arrayPtr = LockArray(clientData, interp, objv[1], objc == 2);
    if (arrayPtr == NULL) {
        return TCL_ERROR;
    }
    if (objc == 3) {
        NsvSetChannel(arrayPtr, channel);
    }
    channel = NsvChannel(arrayPtr);
    NsvUnlock(arrayPtr);
    return NsTclReturn(interp,
                       Tcl_NewStringObj(channel != NULL ? channel : "", -1));
}

/*
 * nsv_names ?pattern?
 */
static int
NamesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsvNames(ServerOf(clientData), objc > 1 ? Tcl_GetString(objv[1]) : NULL,
             &ds);
    return NsTclReturnText(interp, &ds);
}

/*
 * nsv_array size|exists array
 */
static int
ArrayCount(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    bool      isSize = (NsTclRow(clientData)->flags & SIZE) != 0;
    NsvArray *arrayPtr = NsvLock(ServerOf(clientData), Tcl_GetString(objv[2]),
                                 true);
    int       number = 0;

    if (arrayPtr != NULL) {
        number = isSize ? NsvSize(arrayPtr) : 1;
        NsvUnlock(arrayPtr);
    }
    return NsTclReturn(interp, Tcl_NewIntObj(number));
}

/*
 * nsv_array set|reset array valueList
 */
static int
ArraySet(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    bool      isReset = (NsTclRow(clientData)->flags & RESET) != 0;
    NsvArray *arrayPtr;
    Tcl_Obj **words;
    int       nWords;

    if (Tcl_ListObjGetElements(interp, objv[3], &nWords, &words) != TCL_OK) {
        return TCL_ERROR;
    }
    if (nWords % 2 != 0) {
        return NsTclFail(interp, "invalid list: %s", Tcl_GetString(objv[3]));
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

/*
 * nsv_array get|names array ?pattern?
 */
static int
ArrayList(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const char *pattern = objc == 4 ? Tcl_GetString(objv[3]) : NULL;

    return List(clientData, objv[2], pattern,
                (NsTclRow(clientData)->flags & WITH_VALUES) != 0);
}

/*
 * A missing one is empty.
 */
static int
List(NsInterp *itPtr, Tcl_Obj *nameObj, const char *pattern, bool withValues)
{
    NsvArray  *arrayPtr = NsvLock(itPtr->serverPtr, Tcl_GetString(nameObj),
                                  true);
    Ns_DString ds;

    if (arrayPtr != NULL) {
        Ns_DStringInit(&ds);
        NsvList(arrayPtr, pattern, withValues, &ds);
        NsvUnlock(arrayPtr);
        Tcl_DStringResult(itPtr->interp, &ds);
    }
    return TCL_OK;
}

/*
 * nsv_bucket ?bucket-number?
 */
static int
BucketCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsServer  *serverPtr = ServerOf(clientData);
    Ns_DString ds;
    int        first = 0, end = NsvBuckets(serverPtr);

    if (objc == 2) {
        if (Tcl_GetIntFromObj(NULL, objv[1], &first) != TCL_OK || first < 0
            || first >= end) {
            return NsTclFail(interp, "bucket number is not a valid integer");
        }
        end = first + 1;
    }
    Ns_DStringInit(&ds);
    for (int i = first; i < end; i++) {
        NsvListBucket(serverPtr, i, &ds);
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_var exists|get|set|unset|list ?key? ?value?: the array ns:var.
 */
static int
VarCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    static const NsTclCommand rows[] = {
        {"exists", ExistsCmd, 1, 1, "key", 0},
        {"get", GetCmd, 1, 1, "key", 0},
        {"set", SetCmd, 2, 2, "key value", 0},
        {"unset", UnsetCmd, 1, 1, "key", 0},
        {"list", VarList, 0, 0, NULL, 0},
        NS_TCL_END,
        NS_TCL_END};
    const NsTclCommand *rowPtr = NsTclFindRow(NULL, objv[1], rows,
                                              sizeof(rows[0]), "command", true);
    Tcl_Obj            *words[4], *callObj;
    int                 result;

    if (rowPtr == NULL) {
        (void) NsTclFail(interp,
                         "unknown command \"%s\", should be"
                         " exists, list, get, set, or unset",
                         Tcl_GetString(objv[1]));
        Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "INDEX", "command",
                         Tcl_GetString(objv[1]), (char *) NULL);
        return TCL_ERROR;
    }
    if (!NsTclCheckArgs(interp, 2, objc, objv, rowPtr->minArgs, rowPtr->maxArgs,
                        rowPtr->usage)) {
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
    result = rowPtr->proc(clientData, interp, objc, words);
    Tcl_DecrRefCount(words[1]);
    return result;
}

static int
VarList(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return List(clientData, objv[1], NULL, false);
}

/*
 * ns_share ?args?: variables were once shared this way.
 */
static int
ShareCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_Log(Warning, "nsv: ns_share is not supported: use nsv_* instead");
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
        Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "NSV", "ARRAY", name, NULL);
    }
    return arrayPtr;
}

static int
NoSuchKey(Tcl_Interp *interp, Tcl_Obj *keyObj)
{
    const char *key = Tcl_GetString(keyObj);

    (void) NsTclFail(interp, "no such key: %s", key);
    Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "NSV", "KEY", key, NULL);
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
        && Tcl_ObjSetVar2(interp, nameObj, NULL, valueObj, TCL_LEAVE_ERR_MSG)
            == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(valueObj != NULL));
}
