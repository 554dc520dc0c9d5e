/* SPDX-License-Identifier: MPL-2.0
 * objv.c --
 *
 *      Parsing of a command's words by tables.
 *
 *      The tables also give the usage message, so what a command accepts and
 *      what it says about itself cannot differ.
 */

#include "tcl/objv.h"

#include "nsset.h"
#include "nsstring.h"
#include "nstcl.h"
#include "nsthread.h"
#include "process/server.h"
#include "tcl/result.h"

static int ParseOptions(Ns_ObjvSpec *optSpecs, Tcl_Interp *interp, int *objcPtr,
                        Tcl_Obj *const **objvPtr);
static int ParseArgs(Ns_ObjvSpec *argSpecs, Tcl_Interp *interp, int *objcPtr,
                     Tcl_Obj *const *objv, bool *isUsagePtr);
static Ns_ObjvSpec *FindOption(Ns_ObjvSpec *optSpecs, Tcl_Obj *objPtr);
static int  WrongArgs(const Ns_ObjvSpec *optSpecs, const Ns_ObjvSpec *argSpecs,
                      Tcl_Interp *interp, int offset, Tcl_Obj *const *objv);
static void AppendOption(Ns_DString *dsPtr, const Ns_ObjvSpec *specPtr);
static int  FindKey(const Ns_ObjvTable *tablePtr, Tcl_Interp *interp,
                    Tcl_Obj *objPtr, const char *label, bool anyCase,
                    int *valuePtr);
static bool IsInRange(const Ns_ObjvSpec *specPtr, Tcl_Interp *interp,
                      Tcl_WideInt value);
static int  CallSubcmd(const Ns_SubCmdSpec *tablePtr, ClientData clientData,
                       Tcl_Interp *interp, int i, int objc,
                       Tcl_Obj *const *objv);
static const char *Label(const Ns_ObjvSpec *specPtr);

int
Ns_ParseObjv(Ns_ObjvSpec *optSpecs, Ns_ObjvSpec *argSpecs, Tcl_Interp *interp,
             int offset, int objc, Tcl_Obj *const *objv)
{
    Tcl_Obj *const *words = objv + offset;
    int             nWords = objc - offset;
    bool            isUsage = false;

    if (optSpecs != NULL && optSpecs->key != NULL
        && ParseOptions(optSpecs, interp, &nWords, &words) != TCL_OK) {
        return NS_ERROR;
    }
    if (argSpecs != NULL
        && ParseArgs(argSpecs, interp, &nWords, words, &isUsage) != TCL_OK) {
        return isUsage ? WrongArgs(optSpecs, argSpecs, interp, offset, objv)
                       : NS_ERROR;
    }
    if (nWords > 0) {
        return WrongArgs(optSpecs, argSpecs, interp, offset, objv);
    }
    return NS_OK;
}

/*
 * Take options until a word is none.
 */
static int
ParseOptions(Ns_ObjvSpec *optSpecs, Tcl_Interp *interp, int *objcPtr,
             Tcl_Obj *const **objvPtr)
{
    while (*objcPtr > 0) {
        Ns_ObjvSpec *specPtr = FindOption(optSpecs, **objvPtr);
        int          nLeft, result;

        if (specPtr == NULL) {
            break;
        }
        nLeft = --*objcPtr;
        ++*objvPtr;
        result = specPtr->proc(specPtr, interp, objcPtr, *objvPtr);
        *objvPtr += nLeft - *objcPtr;
        if (result == TCL_BREAK) {
            break;
        }
        if (result != TCL_OK) {
            if (nLeft == 0 && interp != NULL) {
                Ns_TclPrintfResult(interp, "missing argument to %s",
                                   specPtr->key);
            }
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

/*
 * TCL_ERROR with *isUsagePtr set: too few words.
 */
static int
ParseArgs(Ns_ObjvSpec *argSpecs, Tcl_Interp *interp, int *objcPtr,
          Tcl_Obj *const *objv, bool *isUsagePtr)
{
    bool isOptional = false;

    for (Ns_ObjvSpec *specPtr = argSpecs; specPtr->key != NULL; specPtr++) {
        int nLeft = *objcPtr, result;

        isOptional |= specPtr->key[0] == '?';
        if (nLeft == 0) {
            *isUsagePtr = !isOptional;
            return isOptional ? TCL_OK : TCL_ERROR;
        }
        result = specPtr->proc(specPtr, interp, objcPtr, objv);
        if (result != TCL_OK) {
            *isUsagePtr = result == TCL_BREAK;
            return TCL_ERROR;
        }
        objv += nLeft - *objcPtr;
    }
    return TCL_OK;
}

/*
 * A byte array is not asked for its string, with which it would no longer be
 * known as data.
 */
static Ns_ObjvSpec *
FindOption(Ns_ObjvSpec *optSpecs, Tcl_Obj *objPtr)
{
    int         length;
    const char *word = NsTclIsByteArray(objPtr)
        ? (const char *) Tcl_GetByteArrayFromObj(objPtr, &length)
        : Tcl_GetStringFromObj(objPtr, &length);

    if (length == 0 || *word != '-') {
        return NULL;
    }
    for (Ns_ObjvSpec *specPtr = optSpecs; specPtr->key != NULL; specPtr++) {
        if (strlen(specPtr->key) == (size_t) length
            && memcmp(specPtr->key, word, (size_t) length) == 0) {
            return specPtr;
        }
    }
    return NULL;
}

/*
 * Leave the usage message; NS_ERROR.
 */
static int
WrongArgs(const Ns_ObjvSpec *optSpecs, const Ns_ObjvSpec *argSpecs,
          Tcl_Interp *interp, int offset, Tcl_Obj *const *objv)
{
    Ns_DString         ds;
    const Ns_ObjvSpec *specPtr;

    if (interp == NULL) {
        return NS_ERROR;
    }
    Ns_DStringInit(&ds);
    for (specPtr = optSpecs;
         specPtr != NULL && specPtr->key != NULL && *specPtr->key != '\0';
         specPtr++) {
        AppendOption(&ds, specPtr);
    }
    for (specPtr = argSpecs; specPtr != NULL && specPtr->key != NULL;
         specPtr++) {
        Ns_DStringVarAppend(&ds, specPtr->key,
                            specPtr->key[0] == '?' ? "? " : " ", NULL);
    }
    Ns_DStringSetLength(&ds, MAX(0, Ns_DStringLength(&ds) - 1));
    Tcl_WrongNumArgs(interp, offset, objv,
                     Ns_DStringLength(&ds) > 0 ? Ns_DStringValue(&ds) : NULL);
    Ns_DStringFree(&ds);
    return NS_ERROR;
}

/*
 * As `?-opt opt? `; of a few words, these: `?-opt this|that? `.
 */
static void
AppendOption(Ns_DString *dsPtr, const Ns_ObjvSpec *specPtr)
{
    bool isFlag = specPtr->proc == Ns_ObjvBreak
        || (specPtr->proc == Ns_ObjvBool && specPtr->arg != NULL);
    const char *separator = " ";

    Ns_DStringVarAppend(dsPtr, "?", specPtr->key, NULL);
    if (specPtr->proc == Ns_ObjvIndex || specPtr->proc == NsObjvWord) {
        for (const Ns_ObjvTable *wordPtr = specPtr->arg; wordPtr->key != NULL;
             wordPtr++) {
            Ns_DStringVarAppend(dsPtr, separator, wordPtr->key, NULL);
            separator = "|";
        }
    } else if (specPtr->proc == Ns_ObjvBool && !isFlag) {
        Ns_DStringAppend(dsPtr, " true|false");
    } else if (!isFlag) {
        Ns_DStringVarAppend(dsPtr, " ", specPtr->key + 1, NULL);
    }
    Ns_DStringAppend(dsPtr, "? ");
}

/*
 * Tcl_GetIntFromObj takes numbers of up to 32 bits without a sign as well, so
 * that some become negative.
 */
int
Ns_ObjvInt(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
           Tcl_Obj *const *objv)
{
    static char text[] = "integer value too large to represent";
    Tcl_WideInt wide;

    if (*objcPtr < 1
        || Tcl_GetIntFromObj(interp, objv[0], specPtr->dest) != TCL_OK
        || Tcl_GetWideIntFromObj(interp, objv[0], &wide) != TCL_OK) {
        return TCL_ERROR;
    }
    if (wide != *(int *) specPtr->dest) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(text, -1));
        Tcl_SetErrorCode(interp, "ARITH", "IOVERFLOW", text, NULL);
        return TCL_ERROR;
    }
    if (!IsInRange(specPtr, interp, wide)) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
NsObjvStatus(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
             Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || NsTclGetStatus(interp, objv[0], specPtr->dest) != TCL_OK) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
NsTclGetStatus(Tcl_Interp *interp, Tcl_Obj *obj, int *statusPtr)
{
    int status;

    if (Tcl_GetIntFromObj(interp, obj, &status) != TCL_OK) {
        return TCL_ERROR;
    }
    if (status < 100 || status > 599) {
        Ns_TclPrintfResult(interp,
                           "expected integer in range [100,599] for 'status',"
                           " but got %s",
                           Tcl_GetString(obj));
        return TCL_ERROR;
    }
    if (status < 200 && status != 101) {
        return NsTclFail(interp,
                         "status %d does not end a request: it is for replies "
                         "that come before the last one",
                         status);
    }
    *statusPtr = status;
    return TCL_OK;
}

int
NsTclGetSpan(Tcl_Interp *interp, Tcl_Obj *obj, const char *name,
             Ns_Time *timePtr)
{
    if (Ns_TclGetTimeFromObj(interp, obj, timePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_AdjTime(timePtr);
    if (timePtr->sec < 0) {
        return NsTclFail(interp,
                         "expected time value in range [0s, MAX],"
                         " for '%s', but got %s",
                         name, Tcl_GetString(obj));
    }
    return TCL_OK;
}

int
Ns_ObjvLong(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
            Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || Tcl_GetLongFromObj(interp, objv[0], specPtr->dest) != TCL_OK
        || !IsInRange(specPtr, interp, *(long *) specPtr->dest)) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvWideInt(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
               Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || Tcl_GetWideIntFromObj(interp, objv[0], specPtr->dest) != TCL_OK
        || !IsInRange(specPtr, interp, *(Tcl_WideInt *) specPtr->dest)) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

/*
 * A number has been stored by then; the caller fails all the same.
 */
static bool
IsInRange(const Ns_ObjvSpec *specPtr, Tcl_Interp *interp, Tcl_WideInt value)
{
    const Ns_ObjvValueRange *rangePtr = specPtr->arg;

    if (rangePtr == NULL
        || (value >= rangePtr->minValue && value <= rangePtr->maxValue)) {
        return true;
    }
    Ns_TclPrintfResult(interp,
                       "expected integer in range [%" TCL_LL_MODIFIER
                       "d,%" TCL_LL_MODIFIER "d] for '%s', but got "
                       "%" TCL_LL_MODIFIER "d",
                       rangePtr->minValue, rangePtr->maxValue, Label(specPtr),
                       value);
    return false;
}

int
Ns_ObjvMemUnit(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
               Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || Ns_TclGetMemUnitFromObj(interp, objv[0], specPtr->dest) != TCL_OK
        || !IsInRange(specPtr, interp, *(Tcl_WideInt *) specPtr->dest)) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvServer(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
              Tcl_Obj *const *objv)
{
    NsServer *serverPtr;

    if (*objcPtr < 1) {
        return TCL_ERROR;
    }
    serverPtr = NsServerFind(Tcl_GetString(objv[0]));
    if (serverPtr == NULL) {
        Ns_TclPrintfResult(interp, "no such server: %s",
                           Tcl_GetString(objv[0]));
        return TCL_ERROR;
    }
    *(NsServer **) specPtr->dest = serverPtr;
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvDouble(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
              Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || Tcl_GetDoubleFromObj(interp, objv[0], specPtr->dest) != TCL_OK) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvBool(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
            Tcl_Obj *const *objv)
{
    if (specPtr->arg != NULL) {
        *(int *) specPtr->dest = PTR2INT(specPtr->arg);
        return TCL_OK;
    }
    if (*objcPtr < 1
        || Tcl_GetBooleanFromObj(interp, objv[0], specPtr->dest) != TCL_OK) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvString(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
              Tcl_Obj *const *objv)
{
    if (*objcPtr < 1) {
        return TCL_ERROR;
    }
    *(char **) specPtr->dest = Tcl_GetStringFromObj(objv[0], specPtr->arg);
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvByteArray(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
                 Tcl_Obj *const *objv)
{
    if (*objcPtr < 1) {
        return TCL_ERROR;
    }
    *(unsigned char **) specPtr->dest = Tcl_GetByteArrayFromObj(objv[0],
                                                                specPtr->arg);
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvObj(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
           Tcl_Obj *const *objv)
{
    if (*objcPtr < 1) {
        return TCL_ERROR;
    }
    *(Tcl_Obj **) specPtr->dest = objv[0];
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvIndex(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
             Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || FindKey(specPtr->arg, interp, objv[0], Label(specPtr), false,
                   specPtr->dest)
            != TCL_OK) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
NsObjvWord(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
           Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || FindKey(specPtr->arg, interp, objv[0], "option", true, specPtr->dest)
            != TCL_OK) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvFlags(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
             Tcl_Obj *const *objv)
{
    Tcl_Obj **flagObjs;
    int       nFlags, flag, flags = 0;

    if (*objcPtr < 1
        || Tcl_ListObjGetElements(interp, objv[0], &nFlags, &flagObjs)
            != TCL_OK) {
        return TCL_ERROR;
    }
    if (nFlags == 0) {
        if (interp != NULL) {
            Tcl_SetObjResult(interp,
                             Tcl_NewStringObj("blank flag specification", -1));
        }
        return TCL_ERROR;
    }
    for (int i = 0; i < nFlags; i++) {
        if (FindKey(specPtr->arg, interp, flagObjs[i], "flag", false, &flag)
            != TCL_OK) {
            return TCL_ERROR;
        }
        flags |= flag;
    }
    *(int *) specPtr->dest |= flags;
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvTime(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
            Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || Ns_TclGetTimePtrFromObj(interp, objv[0], specPtr->dest) != TCL_OK
        || Ns_CheckTimeRange(interp, Label(specPtr), specPtr->arg,
                             *(Ns_Time **) specPtr->dest)
            != TCL_OK) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvSet(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
           Tcl_Obj *const *objv)
{
    if (*objcPtr < 1
        || Ns_TclGetSet2(interp, Tcl_GetString(objv[0]), specPtr->dest)
            != TCL_OK) {
        return TCL_ERROR;
    }
    --*objcPtr;
    return TCL_OK;
}

int
Ns_ObjvArgs(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
            Tcl_Obj *const *objv)
{
    *(int *) specPtr->dest = *objcPtr;
    *objcPtr = 0;
    return TCL_OK;
}

int
Ns_ObjvBreak(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
             Tcl_Obj *const *objv)
{
    return TCL_BREAK;
}

/*
 * The message for an unknown key is Tcl's own.
 */
static int
FindKey(const Ns_ObjvTable *tablePtr, Tcl_Interp *interp, Tcl_Obj *objPtr,
        const char *label, bool anyCase, int *valuePtr)
{
    const char *word = Tcl_GetString(objPtr);
    int         i;

    for (i = 0; tablePtr[i].key != NULL; i++) {
        if (anyCase ? strcasecmp(word, tablePtr[i].key) == 0
                    : STREQ(word, tablePtr[i].key)) {
            *valuePtr = tablePtr[i].value;
            return TCL_OK;
        }
    }
    return Tcl_GetIndexFromObjStruct(interp, objPtr, tablePtr,
                                     sizeof(Ns_ObjvTable), label, TCL_EXACT,
                                     &i);
}

static const char *
Label(const Ns_ObjvSpec *specPtr)
{
    return specPtr->key[0] == '?' ? specPtr->key + 1 : specPtr->key;
}

int
Ns_ParseOptions(const char *options[], Ns_OptionConverter *converters[],
                ClientData values[], Tcl_Interp *interp, int offset, int max,
                int *nextPtr, int objc, Tcl_Obj *const *objv)
{
    int end = max < 0 ? objc : MIN(objc, offset + max);
    int i, option;

    for (i = offset; i < end; i++) {
        const char *word = Tcl_GetString(objv[i]);

        if (max < 0 && *word != '-') {
            break;
        }
        if (STREQ(word, "--")) {
            i++;
            break;
        }
        if (Tcl_GetIndexFromObjStruct(max < 0 ? NULL : interp, objv[i], options,
                                      sizeof(char *), "option", 0, &option)
            != TCL_OK) {
            if (max < 0) {
                break;
            }
            return TCL_ERROR;
        }
        if (converters[option] == NULL) {
            values[option] = INT2PTR(1);
            continue;
        }
        if (i + 1 >= end) {
            return NsTclFail(interp, "missing argument to %s", options[option]);
        }
        if (converters[option](interp, objv[i], objv[i + 1], &values[option])
            != TCL_OK) {
            return TCL_ERROR;
        }
        i++;
    }
    *nextPtr = i;
    return TCL_OK;
}

int
Ns_OptionObj(Tcl_Interp *interp, Tcl_Obj *labelPtr, Tcl_Obj *objPtr,
             ClientData *clientData)
{
    *clientData = objPtr;
    return TCL_OK;
}

int
Ns_OptionString(Tcl_Interp *interp, Tcl_Obj *labelPtr, Tcl_Obj *objPtr,
                ClientData *clientData)
{
    *clientData = Tcl_GetString(objPtr);
    return TCL_OK;
}

int
Ns_OptionServer(Tcl_Interp *interp, Tcl_Obj *labelPtr, Tcl_Obj *objPtr,
                ClientData *clientData)
{
    NsServer *serverPtr = NsServerFind(Tcl_GetString(objPtr));

    if (serverPtr == NULL) {
        return NsTclFail(interp, "invalid argument for %s: %s",
                         Tcl_GetString(labelPtr), Tcl_GetString(objPtr));
    }
    *clientData = serverPtr;
    return TCL_OK;
}

const char *
Ns_ObjvTablePrint(Ns_DString *dsPtr, const Ns_ObjvTable *tablePtr)
{
    for (const char *mark = ""; tablePtr->key != NULL; tablePtr++, mark = "|") {
        Ns_DStringVarAppend(dsPtr, mark, tablePtr->key, NULL);
    }
    return Ns_DStringValue(dsPtr);
}

int
Ns_SubcmdObjv(const Ns_SubCmdSpec *tablePtr, ClientData clientData,
              Tcl_Interp *interp, TCL_SIZE_T objc, Tcl_Obj *const *objv)
{
    return CallSubcmd(tablePtr, clientData, interp, 1, objc, objv);
}

int
Ns_SubsubcmdObjv(const Ns_SubCmdSpec *tablePtr, ClientData clientData,
                 Tcl_Interp *interp, TCL_SIZE_T objc, Tcl_Obj *const *objv)
{
    return CallSubcmd(tablePtr, clientData, interp, 2, objc, objv);
}

static int
CallSubcmd(const Ns_SubCmdSpec *tablePtr, ClientData clientData,
           Tcl_Interp *interp, int i, int objc, Tcl_Obj *const *objv)
{
    int index;

    if (objc <= i) {
        Tcl_WrongNumArgs(interp, i, objv, "subcommand ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[i], tablePtr, sizeof(*tablePtr),
                                  "subcommand", TCL_EXACT, &index)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return tablePtr[index].proc(clientData, interp, objc, objv);
}
