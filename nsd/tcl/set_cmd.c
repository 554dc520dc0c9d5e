/*
 * set_cmd.c --
 *
 *      ns_set, ns_findset, ns_parseheader, ns_parsequery.
 */

#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/set.h"

#include "nsconn.h"
#include "nsset.h"
#include "nsthread.h"
#include "http/form.h"

typedef struct Call {
    NsInterp         *interpPtr;
    Tcl_Interp       *interp;
    const struct Sub *subPtr;
    Ns_Set           *setPtr; /* NULL for subcommands without one. */
    int               index;  /* Of a field, for subcommands with one. */
    int               objc;   /* Words behind the set id, or behind the */
    Tcl_Obj *const   *objv;   /* subcommand. */
} Call;

typedef int SubProc(Call *callPtr);

#define SET    0x01u /* The next word is a set's. */
#define INDEX  0x02u /* And the one behind that a field's. */
#define NOCASE 0x04u /* Keys are the same in any case. */

typedef struct Sub {
    const char *name;
    SubProc    *proc;
    unsigned    flags;
    int         minWords; /* Behind the set id; */
    int         maxWords; /* -1: any number. */
    const char *usage;
} Sub;

static Tcl_ObjCmdProc SetCmd, FindSetCmd, ParseHeaderCmd, ParseQueryCmd;

static SubProc SetArray, SetCleanup, SetCopy, SetCput, SetCreate, SetDelete,
    SetDelKey, SetFields, SetFind, SetFreeId, SetGet, SetIsNull, SetKey,
    SetList, SetMerge, SetMove, SetName, SetNothing, SetPrint, SetPut, SetSize,
    SetSplit, SetTruncate, SetUnique, SetUpdate, SetValue;

static int  TakeIndex(Call *callPtr);
static bool IgnoresCase(const Call *callPtr);
static int  Find(const Call *callPtr);
static int  ReturnInt(Call *callPtr, int value);
static int  ReturnString(Call *callPtr, const char *value);

static Tcl_Encoding EncodingOf(const char *charset);

/*
 * In the order of the error message.
 */
static const Sub subs[] = {
    {"array", SetArray, SET, 0, 0, "setId"},
    {"cleanup", SetCleanup, 0, 0, -1, NULL},
    {"copy", SetCopy, SET, 0, 0, "setId"},
    {"cput", SetCput, SET, 2, 2, "setId key value"},
    {"create", SetCreate, 0, 0, -1, NULL},
    {"delete", SetDelete, SET | INDEX, 1, 1, "setId index"},
    {"delkey", SetDelKey, SET, 1, 1, "setId key"},
    {"find", SetFind, SET, 1, 1, "setId key"},
    {"free", SetFreeId, SET, 0, 0, "setId"},
    {"get", SetGet, SET, 1, 2, "setId key ?dflt?"},
    {"icput", SetCput, SET | NOCASE, 2, 2, "setId key value"},
    {"idelete", SetNothing, SET, 0, -1, NULL},
    {"idelkey", SetDelKey, SET | NOCASE, 1, 1, "setId key"},
    {"ifind", SetFind, SET | NOCASE, 1, 1, "setId key"},
    {"iget", SetGet, SET | NOCASE, 1, 2, "setId key ?dflt?"},
    {"isnull", SetIsNull, SET | INDEX, 1, 1, "setId index"},
    {"iunique", SetUnique, SET | NOCASE, 1, 1, "setId key"},
    {"key", SetKey, SET | INDEX, 1, 1, "setId index"},
    {"list", SetList, 0, 0, -1, NULL},
    {"merge", SetMerge, SET, 1, 1, "setTo setFrom"},
    {"move", SetMove, SET, 1, 1, "setTo setFrom"},
    {"name", SetName, SET, 0, 0, "setId"},
    {"new", SetCreate, 0, 0, -1, NULL},
    {"print", SetPrint, SET, 0, 0, "setId"},
    {"purge", SetNothing, SET, 0, -1, NULL},
    {"put", SetPut, SET, 2, 2, "setId key value"},
    {"size", SetSize, SET, 0, 0, "setId"},
    {"split", SetSplit, SET, 0, 1, "setId ?splitChar"},
    {"truncate", SetTruncate, SET | INDEX, 1, 1, "setId index"},
    {"unique", SetUnique, SET, 1, 1, "setId key"},
    {"update", SetUpdate, SET, 2, 2, "setId key value"},
    {"value", SetValue, SET | INDEX, 1, 1, "setId index"},
    {NULL, NULL, 0, 0, 0, NULL},
    /* Of later releases. */
    {"iupdate", SetUpdate, SET | NOCASE, 2, 2, "setId key value"},
    {"keys", SetFields, SET, 0, 1, "setId ?pattern?"},
    {"values", SetFields, SET, 0, 1, "setId ?pattern?"},
    {NULL, NULL, 0, 0, 0, NULL}};

static const NsTclCommand commands[] = {
    {"ns_set", SetCmd, 1, NS_TCL_ANY, "option ?arg ...?", NS_TCL_BASIC},
    {"ns_findset", FindSetCmd, 2, 2, "sets name", NS_TCL_BASIC},
    {"ns_parseheader", ParseHeaderCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_parsequery", ParseQueryCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Set, commands)

static int
SetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Call       call = {.interpPtr = clientData, .interp = interp};
    const Sub *subPtr;

    subPtr = NsTclFindRow(interp, objv[1], subs, sizeof(Sub), "option", false);
    if (subPtr == NULL) {
        return TCL_ERROR;
    }
    call.objc = objc - 2;
    call.objv = objv + 2;
    call.subPtr = subPtr;
    if ((subPtr->flags & SET) != 0) {
        if (objc < 3) {
            if (subPtr->proc == SetCopy || subPtr->proc == SetSplit) {
                Ns_TclPrintfResult(interp,
                                   "wrong # args: should be \"ns_set %s %s\"",
                                   subPtr->name, subPtr->usage);
            } else {
                Ns_TclPrintfResult(
                    interp,
                    "wrong # args: should be \"ns_set %s setId ?args?\"",
                    subPtr->name);
            }
            return TCL_ERROR;
        }
        call.setPtr = NsTclSetGet(call.interpPtr, objv[2]);
        if (call.setPtr == NULL) {
            return TCL_ERROR;
        }
        call.objc--;
        call.objv++;
        if (call.objc < subPtr->minWords
            || (subPtr->maxWords >= 0 && call.objc > subPtr->maxWords)) {
            return NsTclFail(interp, "wrong # args: should be \"ns_set %s %s\"",
                             subPtr->name, subPtr->usage);
        }
    }
    if ((subPtr->flags & INDEX) != 0 && TakeIndex(&call) != TCL_OK) {
        return TCL_ERROR;
    }
    return subPtr->proc(&call);
}

static int
TakeIndex(Call *callPtr)
{
    Tcl_Obj *obj = callPtr->objv[0];

    if (Tcl_GetIntFromObj(callPtr->interp, obj, &callPtr->index) != TCL_OK) {
        return TCL_ERROR;
    }
    if (callPtr->index < 0) {
        return NsTclFail(callPtr->interp, "invalid index \"%s\": must be >= 0",
                         Tcl_GetString(obj));
    }
    if (callPtr->index >= Ns_SetSize(callPtr->setPtr)) {
        return NsTclFail(callPtr->interp,
                         "invalid index \"%s\": beyond range of set fields",
                         Tcl_GetString(obj));
    }
    return TCL_OK;
}

static bool
IgnoresCase(const Call *callPtr)
{
    return (callPtr->subPtr->flags & NOCASE) != 0;
}

/* ---- Subcommands: whole sets. ---- */

static int
SetCreate(Call *callPtr)
{
    Ns_Set *setPtr = Ns_SetCreate(callPtr->objc > 0
                                      ? Tcl_GetString(callPtr->objv[0])
                                      : NULL);

    for (int i = 1; i < callPtr->objc; i += 2) {
        Ns_SetPut(setPtr, Tcl_GetString(callPtr->objv[i]),
                  i + 1 < callPtr->objc ? Tcl_GetString(callPtr->objv[i + 1])
                                        : NULL);
    }
    return NsTclReturn(callPtr->interp,
                       NsTclSetEnter(callPtr->interpPtr, setPtr, true));
}

static int
SetCopy(Call *callPtr)
{
    return NsTclReturn(callPtr->interp,
                       NsTclSetEnter(callPtr->interpPtr,
                                     Ns_SetCopy(callPtr->setPtr), true));
}

static int
SetSplit(Call *callPtr)
{
    const char *separator = (callPtr->objc > 0)
        ? Tcl_GetString(callPtr->objv[0])
        : ".";
    Ns_Set    **sets = Ns_SetSplit(callPtr->setPtr, *separator);
    Tcl_Obj    *listObj = Tcl_NewListObj(0, NULL);

    for (int i = 0; sets[i] != NULL; i++) {
        Tcl_ListObjAppendElement(NULL, listObj,
                                 NsTclSetEnter(callPtr->interpPtr, sets[i],
                                               true));
    }
    ns_free(sets);
    return NsTclReturn(callPtr->interp, listObj);
}

static int
SetFreeId(Call *callPtr)
{
    return Ns_TclFreeSet(callPtr->interp, Tcl_GetString(callPtr->objv[-1]));
}

static int
SetCleanup(Call *callPtr)
{
    NsTclSetCleanup(callPtr->interpPtr);
    return TCL_OK;
}

static int
SetList(Call *callPtr)
{
    return NsTclReturn(callPtr->interp, NsTclSetList(callPtr->interpPtr));
}

static int
SetNothing(Call *callPtr)
{
    return TCL_OK;
}

static int
SetArray(Call *callPtr)
{
    Tcl_Obj *listObj = Tcl_NewListObj(0, NULL);

    for (int i = 0; i < Ns_SetSize(callPtr->setPtr); i++) {
        const char *value = Ns_SetValue(callPtr->setPtr, i);

        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(Ns_SetKey(callPtr->setPtr, i),
                                                  -1));
        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(value != NULL ? value : "",
                                                  -1));
    }
    return NsTclReturn(callPtr->interp, listObj);
}

static int
SetSize(Call *callPtr)
{
    return ReturnInt(callPtr, Ns_SetSize(callPtr->setPtr));
}

static int
SetName(Call *callPtr)
{
    return ReturnString(callPtr, Ns_SetName(callPtr->setPtr));
}

static int
SetPrint(Call *callPtr)
{
    Ns_SetPrint(callPtr->setPtr);
    return TCL_OK;
}

static int
SetMerge(Call *callPtr)
{
    Ns_Set *fromPtr = NsTclSetGet(callPtr->interpPtr, callPtr->objv[0]);

    if (fromPtr == NULL) {
        return TCL_ERROR;
    }
    Ns_SetMerge(callPtr->setPtr, fromPtr);
    return NsTclReturn(callPtr->interp, callPtr->objv[-1]);
}

static int
SetMove(Call *callPtr)
{
    Ns_Set *fromPtr = NsTclSetGet(callPtr->interpPtr, callPtr->objv[0]);

    if (fromPtr == NULL) {
        return TCL_ERROR;
    }
    Ns_SetMove(callPtr->setPtr, fromPtr);
    return NsTclReturn(callPtr->interp, callPtr->objv[-1]);
}

/* ---- Subcommands: fields by key. ---- */

static int
SetGet(Call *callPtr)
{
    const char *key = Tcl_GetString(callPtr->objv[0]);
    const char *value = IgnoresCase(callPtr)
        ? Ns_SetIGet(callPtr->setPtr, key)
        : Ns_SetGet(callPtr->setPtr, key);

    if (value == NULL || *value == '\0') {
        if (callPtr->objc > 1) {
            Tcl_SetObjResult(callPtr->interp, callPtr->objv[1]);
        }
        return TCL_OK;
    }
    return ReturnString(callPtr, value);
}

static int
SetFind(Call *callPtr)
{
    return ReturnInt(callPtr, Find(callPtr));
}

static int
Find(const Call *callPtr)
{
    const char *key = Tcl_GetString(callPtr->objv[0]);

    return IgnoresCase(callPtr) ? Ns_SetIFind(callPtr->setPtr, key)
                                : Ns_SetFind(callPtr->setPtr, key);
}

static int
SetUnique(Call *callPtr)
{
    const char *key = Tcl_GetString(callPtr->objv[0]);

    return ReturnInt(callPtr,
                     IgnoresCase(callPtr) ? Ns_SetIUnique(callPtr->setPtr, key)
                                          : Ns_SetUnique(callPtr->setPtr, key));
}

static int
SetDelKey(Call *callPtr)
{
    const char *key = Tcl_GetString(callPtr->objv[0]);

    if (IgnoresCase(callPtr)) {
        Ns_SetIDeleteKey(callPtr->setPtr, key);
    } else {
        Ns_SetDeleteKey(callPtr->setPtr, key);
    }
    return TCL_OK;
}

static int
SetPut(Call *callPtr)
{
    return ReturnInt(callPtr,
                     Ns_SetPut(callPtr->setPtr, Tcl_GetString(callPtr->objv[0]),
                               Tcl_GetString(callPtr->objv[1])));
}

static int
SetCput(Call *callPtr)
{
    int i = Find(callPtr);

    return i >= 0 ? ReturnInt(callPtr, i) : SetPut(callPtr);
}

static int
SetUpdate(Call *callPtr)
{
    const char *key = Tcl_GetString(callPtr->objv[0]);
    const char *value = Tcl_GetString(callPtr->objv[1]);

    if (IgnoresCase(callPtr)) {
        Ns_SetIUpdate(callPtr->setPtr, key, value);
        return ReturnInt(callPtr, Find(callPtr));
    }
    Ns_SetUpdate(callPtr->setPtr, key, value);
    return ReturnInt(callPtr, Ns_SetLast(callPtr->setPtr));
}

/*
 * Keys or values of the fields whose key matches the pattern.
 */
static int
SetFields(Call *callPtr)
{
    const char *pattern = (callPtr->objc > 0)
        ? Tcl_GetString(callPtr->objv[0])
        : NULL;
    bool        areKeys = STREQ(callPtr->subPtr->name, "keys");
    Tcl_Obj    *listObj = Tcl_NewListObj(0, NULL);

    for (int i = 0; i < Ns_SetSize(callPtr->setPtr); i++) {
        const char *key = Ns_SetKey(callPtr->setPtr, i);
        const char *value = Ns_SetValue(callPtr->setPtr, i);

        if (pattern == NULL || Tcl_StringMatch(key, pattern)) {
            Tcl_ListObjAppendElement(NULL, listObj,
                                     Tcl_NewStringObj(areKeys ? key
                                                          : value != NULL
                                                          ? value
                                                          : "",
                                                      -1));
        }
    }
    return NsTclReturn(callPtr->interp, listObj);
}

/* ---- Subcommands: fields by index. ---- */

static int
SetKey(Call *callPtr)
{
    return ReturnString(callPtr, Ns_SetKey(callPtr->setPtr, callPtr->index));
}

static int
SetValue(Call *callPtr)
{
    return ReturnString(callPtr, Ns_SetValue(callPtr->setPtr, callPtr->index));
}

static int
SetIsNull(Call *callPtr)
{
    return ReturnInt(callPtr,
                     Ns_SetValue(callPtr->setPtr, callPtr->index) == NULL);
}

static int
SetDelete(Call *callPtr)
{
    Ns_SetDelete(callPtr->setPtr, callPtr->index);
    return TCL_OK;
}

static int
SetTruncate(Call *callPtr)
{
    Ns_SetTrunc(callPtr->setPtr, callPtr->index);
    return TCL_OK;
}

static int
ReturnInt(Call *callPtr, int value)
{
    return NsTclReturn(callPtr->interp, Tcl_NewIntObj(value));
}

static int
ReturnString(Call *callPtr, const char *value)
{
    if (value != NULL) {
        Tcl_SetObjResult(callPtr->interp, Tcl_NewStringObj(value, -1));
    }
    return TCL_OK;
}

/* ---- Other commands. ---- */

static int
FindSetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsInterp *interpPtr = clientData;
    Tcl_Obj **ids;
    int       n;

    if (Tcl_ListObjGetElements(interp, objv[1], &n, &ids) != TCL_OK) {
        return TCL_ERROR;
    }
    for (int i = 0; i < n; i++) {
        Ns_Set *setPtr = NsTclSetGet(interpPtr, ids[i]);

        if (setPtr == NULL) {
            return TCL_ERROR;
        }
        if (Ns_SetName(setPtr) != NULL
            && STREQ(Ns_SetName(setPtr), Tcl_GetString(objv[2]))) {
            return NsTclReturn(interp, ids[i]);
        }
    }
    return TCL_OK;
}

static int
ParseHeaderCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Ns_HeaderCaseDisposition disposition = ToLower;
    Ns_Set                  *setPtr;

    if (objc != 3 && objc != 4) {
        Ns_TclPrintfResult(
            interp,
            "wrong # of args: should be "
            "\"ns_parseheader set header ?tolower|toupper|preserve?\"");
        return TCL_ERROR;
    }
    setPtr = NsTclSetGet(clientData, objv[1]);
    if (setPtr == NULL) {
        return TCL_ERROR;
    }
    if (objc == 4) {
        const char *name = Tcl_GetString(objv[3]);

        if (STREQ(name, "toupper")) {
            disposition = ToUpper;
        } else if (STREQ(name, "preserve")) {
            disposition = Preserve;
        } else if (!STREQ(name, "tolower")) {
            return NsTclFail(interp,
                             "unknown case disposition \"%s\":  "
                             "should be toupper, tolower, or preserve",
                             name);
        }
    }
    if (Ns_ParseHeader(setPtr, Tcl_GetString(objv[2]), disposition) != NS_OK) {
        return NsTclFail(interp, "invalid header:  %s", Tcl_GetString(objv[2]));
    }
    return TCL_OK;
}

static int
ParseQueryCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Ns_Set     *setPtr;
    char       *query, *charset = NULL, *fallback = NULL;
    int         length;
    Ns_ObjvSpec opts[] = {{"-charset", Ns_ObjvString, &charset, NULL},
                          {"-fallbackcharset", Ns_ObjvString, &fallback, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"query", Ns_ObjvString, &query, &length},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    setPtr = Ns_SetCreate(NULL);
    if (!NsFormParseQueryChecked(query, (size_t) length, EncodingOf(charset),
                                 EncodingOf(fallback), setPtr)) {
        Ns_SetFree(setPtr);
        Ns_TclPrintfResult(interp, "could not parse query: \"%s\"", query);
        Tcl_SetErrorCode(interp, "NS_INVALID_UTF8", NULL);
        return TCL_ERROR;
    }
    return NsTclReturn(interp, NsTclSetEnter(clientData, setPtr, true));
}

/*
 * NULL for NULL and for a charset that does not exist.
 */
static Tcl_Encoding
EncodingOf(const char *charset)
{
    return charset == NULL ? NULL : Ns_GetCharsetEncoding(charset);
}
