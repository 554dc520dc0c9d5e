/* SPDX-License-Identifier: MPL-2.0
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
#include "base/chars.h"
#include "base/set.h"
#include "http/form.h"

typedef struct Call {
    NsInterp         *interpPtr;
    Tcl_Interp       *interp;
    const struct Sub *subPtr;
    Ns_Set           *setPtr; /* NULL for subcommands without one. */
    int               index;  /* Of a field, for subcommands with one. */
    unsigned          options;
    int               objc; /* Words behind the set id, or behind the */
    Tcl_Obj *const   *objv; /* subcommand. */
} Call;

typedef int SubProc(Call *callPtr);

#define SET    0x01u /* The next word is a set's. */
#define INDEX  0x02u /* And the one behind that a field's. */
#define NOCASE 0x04u /* Keys are the same in any case; also an option. */
#define ALL    0x08u /* An option. */
#define CASED  0x10u /* Has the option -nocase. */
#define LISTED 0x20u /* Has the option -all. */

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
    SetDelKey, SetFind, SetFormat, SetFreeId, SetGet, SetIsNull, SetKey,
    SetKeys, SetList, SetMerge, SetMove, SetName, SetNothing, SetPrint, SetPut,
    SetSize, SetSplit, SetStats, SetTruncate, SetUnique, SetUpdate, SetValue,
    SetValues;

static bool TakeSet(Call *callPtr);
static bool TakeOption(Call *callPtr);
static int  WrongWords(const Call *callPtr);
static int  TakeIndex(Call *callPtr);
static bool IgnoresCase(const Call *callPtr);
static int  Find(const Call *callPtr);
static int  GetAll(Call *callPtr);
static int  ReturnFields(Call *callPtr, bool areKeys);
static int  ReturnInt(Call *callPtr, int value);
static int  ReturnString(Call *callPtr, const char *value);

static bool PutHeader(Ns_Set *setPtr, const char *line, const char *prefix,
                      Ns_HeaderCaseDisposition disposition);
static Tcl_Encoding EncodingOf(const char *charset);

/*
 * In the order of the error message.
 */
static const Sub subs[] = {
    {"array", SetArray, SET, 0, 0, "setId"},
    {"cleanup", SetCleanup, 0, 0, -1, NULL},
    {"copy", SetCopy, SET, 0, 0, "setId"},
    {"cput", SetCput, SET | CASED, 2, 2, "?-nocase? ?--? setId key value"},
    {"create", SetCreate, 0, 0, -1, NULL},
    {"delete", SetDelete, SET | INDEX, 1, 1, "setId index"},
    {"delkey", SetDelKey, SET | CASED, 1, 1, "?-nocase? ?--? setId key"},
    {"find", SetFind, SET | CASED, 1, 1, "?-nocase? ?--? setId key"},
    {"free", SetFreeId, SET, 0, 0, "setId"},
    {"get", SetGet, SET | CASED | LISTED, 1, 2,
     "?-all? ?-nocase? ?--? setId key ?dflt?"},
    {"icput", SetCput, SET | NOCASE, 2, 2, "setId key value"},
    {"idelete", SetNothing, SET, 0, -1, "setId ?args?"},
    {"idelkey", SetDelKey, SET | NOCASE, 1, 1, "setId key"},
    {"ifind", SetFind, SET | NOCASE, 1, 1, "setId key"},
    {"iget", SetGet, SET | NOCASE | LISTED, 1, 2,
     "?-all? ?--? setId key ?dflt?"},
    {"isnull", SetIsNull, SET | INDEX, 1, 1, "setId index"},
    {"iunique", SetUnique, SET | NOCASE, 1, 1, "setId key"},
    {"key", SetKey, SET | INDEX, 1, 1, "setId index"},
    {"list", SetList, 0, 0, -1, NULL},
    {"merge", SetMerge, SET | CASED, 1, 1, "?-nocase? ?--? setTo setFrom"},
    {"move", SetMove, SET, 1, 1, "setTo setFrom"},
    {"name", SetName, SET, 0, 0, "setId"},
    {"new", SetCreate, 0, 0, -1, NULL},
    {"print", SetPrint, SET, 0, 0, "setId"},
    {"purge", SetNothing, SET, 0, -1, "setId ?args?"},
    {"put", SetPut, SET, 2, 2, "setId key value"},
    {"size", SetSize, SET, 0, 2, "setId ?elements? ?bytes?"},
    {"split", SetSplit, SET, 0, 1, "setId ?splitChar"},
    {"truncate", SetTruncate, SET | INDEX, 1, 1, "setId index"},
    {"unique", SetUnique, SET | CASED, 1, 1, "?-nocase? ?--? setId key"},
    {"update", SetUpdate, SET | CASED, 2, 2, "?-nocase? ?--? setId key value"},
    {"value", SetValue, SET | INDEX, 1, 1, "setId index"},
    {NULL, NULL, 0, 0, 0, NULL},
    /* Of later releases: older scripts may abbreviate what is above. */
    {"format", SetFormat, 0, 0, -1, NULL},
    {"imerge", SetMerge, SET | NOCASE, 1, 1, "setTo setFrom"},
    {"iupdate", SetUpdate, SET | NOCASE, 2, 2, "setId key value"},
    {"keys", SetKeys, SET, 0, 1, "setId ?pattern?"},
    {"stats", SetStats, 0, 0, -1, NULL},
    {"values", SetValues, SET, 0, 1, "setId ?pattern?"},
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
    if ((subPtr->flags & SET) != 0 && !TakeSet(&call)) {
        return TCL_ERROR;
    }
    if ((subPtr->flags & INDEX) != 0 && TakeIndex(&call) != TCL_OK) {
        return TCL_ERROR;
    }
    return subPtr->proc(&call);
}

/*
 * Options and the set, and whether the words behind it are as many as there
 * must be.
 */
static bool
TakeSet(Call *callPtr)
{
    const Sub *subPtr = callPtr->subPtr;

    while (TakeOption(callPtr)) {
        continue;
    }
    if (callPtr->objc < 1) {
        bool isUsage = subPtr->proc == SetCopy || subPtr->proc == SetSplit
            || *subPtr->usage == '?';

        (void) NsTclFailArgs(callPtr->interp,
                             "wrong # args: should be \"ns_set %s %s\"",
                             subPtr->name,
                             isUsage ? subPtr->usage : "setId ?args?");
        return false;
    }
    callPtr->setPtr = NsTclSetGet(callPtr->interpPtr, callPtr->objv[0]);
    if (callPtr->setPtr == NULL) {
        return false;
    }
    callPtr->objc--;
    callPtr->objv++;
    return (callPtr->objc >= subPtr->minWords
            && (subPtr->maxWords < 0 || callPtr->objc <= subPtr->maxWords))
        || WrongWords(callPtr) == TCL_OK;
}

/*
 * False: the next word is not an option of the subcommand.
 */
static bool
TakeOption(Call *callPtr)
{
    static const struct {
        const char *word;
        unsigned    needed, option;
    } options[] = {{"-nocase", CASED, NOCASE},
                   {"-all", LISTED, ALL},
                   {"--", CASED | LISTED, 0}};
    const char *word;

    if (callPtr->objc < 1) {
        return false;
    }
    word = Tcl_GetString(callPtr->objv[0]);
    for (int i = 0; i < Ns_NrElements(options); i++) {
        if (STREQ(word, options[i].word)
            && (callPtr->subPtr->flags & options[i].needed) != 0) {
            callPtr->options |= options[i].option;
            callPtr->objc--;
            callPtr->objv++;
            return options[i].option != 0;
        }
    }
    return false;
}

static int
WrongWords(const Call *callPtr)
{
    return NsTclFailArgs(callPtr->interp,
                         "wrong # args: should be \"ns_set %s %s\"",
                         callPtr->subPtr->name, callPtr->subPtr->usage);
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
    return ((callPtr->subPtr->flags | callPtr->options) & NOCASE) != 0;
}

/* ---- Subcommands: whole sets. ---- */

/*
 * ns_set create ?-nocase? ?name? ?key value ...?
 */
static int
SetCreate(Call *callPtr)
{
    Tcl_Obj *const *objv = callPtr->objv;
    int             objc = callPtr->objc;
    bool    isNoCase = objc > 0 && STREQ(Tcl_GetString(objv[0]), "-nocase");
    Ns_Set *setPtr;

    objc -= isNoCase;
    objv += isNoCase;
    setPtr = Ns_SetCreate(objc > 0 ? Tcl_GetString(objv[0]) : NULL);
    if (isNoCase) {
        Ns_SetIgnoreCase(setPtr);
    }
    for (int i = 1; i < objc; i += 2) {
        Ns_SetPut(setPtr, Tcl_GetString(objv[i]),
                  i + 1 < objc ? Tcl_GetString(objv[i + 1]) : NULL);
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

/*
 * ns_set size setId ?elements? ?bytes?: room is made when it is needed.
 */
static int
SetSize(Call *callPtr)
{
    Tcl_WideInt room;

    for (int i = 0; i < callPtr->objc; i++) {
        if (Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[i], &room)
            != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return ReturnInt(callPtr, Ns_SetSize(callPtr->setPtr));
}

/*
 * ns_set stats
 */
static int
SetStats(Call *callPtr)
{
    static const char *const names[][3] = {
        {"nr_dynamic", "size_dynamic", "allocated_dynamic"},
        {"nr_static", "size_static", "allocated_static"}};
    Tcl_Obj *dictObj = Tcl_NewDictObj();

    for (int i = 0; i < Ns_NrElements(names); i++) {
        NsTclSetStats stats = NsTclSetGetStats(callPtr->interpPtr, i == 0);
        size_t numbers[] = {stats.nSets, stats.usedBytes, stats.allocatedBytes};

        for (int j = 0; j < Ns_NrElements(numbers); j++) {
            Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(names[i][j], -1),
                           Tcl_NewWideIntObj((Tcl_WideInt) numbers[j]));
        }
    }
    return NsTclReturn(callPtr->interp, dictObj);
}

/*
 * ns_set format ?-noname? ?-lead t? ?-separator t? ?--? setId
 */
static int
SetFormat(Call *callPtr)
{
    char       *lead = NULL, *separator = NULL;
    Ns_Set     *setPtr;
    Ns_DString  ds;
    Tcl_Obj    *idObj;
    int         isNameless = 0;
    Ns_ObjvSpec opts[] = {{"-noname", Ns_ObjvBool, &isNameless, INT2PTR(true)},
                          {"-lead", Ns_ObjvString, &lead, NULL},
                          {"-separator", Ns_ObjvString, &separator, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"setId", Ns_ObjvObj, &idObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, callPtr->interp, 2, callPtr->objc + 2,
                     callPtr->objv - 2)
        != NS_OK) {
        return TCL_ERROR;
    }
    setPtr = NsTclSetGet(callPtr->interpPtr, idObj);
    if (setPtr == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    Ns_SetFormat(&ds, setPtr, !isNameless, lead == NULL ? "  " : lead,
                 separator == NULL ? ": " : separator);
    return NsTclReturnText(callPtr->interp, &ds);
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
    if (IgnoresCase(callPtr)) {
        Ns_SetIMerge(callPtr->setPtr, fromPtr);
    } else {
        Ns_SetMerge(callPtr->setPtr, fromPtr);
    }
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
    const char *value;
    int         i;

    if ((callPtr->options & ALL) != 0) {
        return GetAll(callPtr);
    }
    i = Find(callPtr);
    value = i < 0 ? NULL : Ns_SetValue(callPtr->setPtr, i);
    if (value == NULL || *value == '\0') {
        if (callPtr->objc > 1) {
            Tcl_SetObjResult(callPtr->interp, callPtr->objv[1]);
        }
        return TCL_OK;
    }
    return ReturnString(callPtr, value);
}

/*
 * A list of the values of all fields with the key; the default if there are
 * none.
 */
static int
GetAll(Call *callPtr)
{
    const char *key = Tcl_GetString(callPtr->objv[0]), *value;
    Tcl_Obj    *listObj = Tcl_NewListObj(0, NULL);
    int         n = 0;

    for (int i = -1;
         (i = NsSetNext(callPtr->setPtr, i + 1, key, IgnoresCase(callPtr)))
         >= 0;
         n++) {
        value = Ns_SetValue(callPtr->setPtr, i);
        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(value == NULL ? "" : value,
                                                  -1));
    }
    Tcl_SetObjResult(callPtr->interp,
                     n == 0 && callPtr->objc > 1 ? callPtr->objv[1] : listObj);
    if (n == 0 && callPtr->objc > 1) {
        Tcl_DecrRefCount(listObj);
    }
    return TCL_OK;
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

/*
 * 1 if there was a field with the key.
 */
static int
SetDelKey(Call *callPtr)
{
    int i = Find(callPtr);

    Ns_SetDelete(callPtr->setPtr, i);
    return ReturnInt(callPtr, i >= 0);
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
    int i = Find(callPtr);

    if (i < 0) {
        return SetPut(callPtr);
    }
    Ns_SetPutValue(callPtr->setPtr, i, Tcl_GetString(callPtr->objv[1]));
    return ReturnInt(callPtr, i);
}

static int
SetKeys(Call *callPtr)
{
    return ReturnFields(callPtr, true);
}

static int
SetValues(Call *callPtr)
{
    return ReturnFields(callPtr, false);
}

/*
 * All keys, or all values; with a pattern those that match it.
 */
static int
ReturnFields(Call *callPtr, bool areKeys)
{
    const char *pattern = (callPtr->objc > 0)
        ? Tcl_GetString(callPtr->objv[0])
        : NULL;
    int         isNoCase = areKeys && NsSetIgnoresCase(callPtr->setPtr);
    Tcl_Obj    *listObj = Tcl_NewListObj(0, NULL);

    for (int i = 0; i < Ns_SetSize(callPtr->setPtr); i++) {
        const char *text = areKeys ? Ns_SetKey(callPtr->setPtr, i)
                                   : Ns_SetValue(callPtr->setPtr, i);

        text = text == NULL ? "" : text;
        if (pattern == NULL
            || Tcl_StringCaseMatch(text, pattern, isNoCase) != 0) {
            Tcl_ListObjAppendElement(NULL, listObj, Tcl_NewStringObj(text, -1));
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

/*
 * ns_parseheader ?-prefix prefix? set header ?tolower|toupper|preserve?
 */
static int
ParseHeaderCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Ns_HeaderCaseDisposition disposition = ToLower;
    Ns_Set                  *setPtr;
    const char              *prefix = NULL;
    char                    *line;

    if (objc > 2 && STREQ(Tcl_GetString(objv[1]), "-prefix")) {
        prefix = Tcl_GetString(objv[2]);
        objc -= 2;
        objv += 2;
    }
    if (objc != 3 && objc != 4) {
        return NsTclFailArgs(interp,
                             "wrong # of args: should be \"ns_parseheader "
                             "?-prefix prefix? set header "
                             "?tolower|toupper|preserve?\"");
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
    line = Tcl_GetString(objv[2]);
    if (!PutHeader(setPtr, line, prefix, disposition)) {
        return NsTclFail(interp, "invalid header: %s", line);
    }
    return NsTclReturn(interp, Tcl_NewIntObj(Ns_SetLast(setPtr)));
}

/*
 * A line that continues a field gets no prefix.
 */
static bool
PutHeader(Ns_Set *setPtr, const char *line, const char *prefix,
          Ns_HeaderCaseDisposition disposition)
{
    Ns_Set    *fieldPtr;
    Ns_DString name;
    bool       isParsed;

    if (prefix == NULL || NsIsSpace(*line)) {
        return Ns_ParseHeader(setPtr, line, disposition) == NS_OK;
    }
    fieldPtr = Ns_SetCreate(NULL);
    isParsed = Ns_ParseHeader(fieldPtr, line, disposition) == NS_OK;
    if (isParsed) {
        Ns_DStringInit(&name);
        Ns_DStringVarAppend(&name, prefix, Ns_SetKey(fieldPtr, 0),
                            (char *) NULL);
        Ns_SetPut(setPtr, Ns_DStringValue(&name), Ns_SetValue(fieldPtr, 0));
        Ns_DStringFree(&name);
    }
    Ns_SetFree(fieldPtr);
    return isParsed;
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
