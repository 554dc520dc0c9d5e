/* SPDX-License-Identifier: MPL-2.0
 * objtype.c --
 *
 *      Types of Tcl objects: times, typed addresses, and pointers kept beside a
 *      string.
 */

#include "nstcl.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/units.h"

#include <ctype.h>

/*
 * How a Tcl_Obj holds them.  A time fits where two pointers do.
 */
#define TimeOf(objPtr)     ((Ns_Time *) (void *) &(objPtr)->internalRep)
#define TYPE_OF(objPtr)    ((objPtr)->internalRep.twoPtrValue.ptr1)
#define ADDRESS_OF(objPtr) ((objPtr)->internalRep.twoPtrValue.ptr2)

_Static_assert(sizeof(Ns_Time) <= sizeof(((Tcl_Obj *) NULL)->internalRep),
               "a time fits into an object");

static Tcl_UpdateStringProc UpdateTimeString;
static Tcl_SetFromAnyProc   SetTimeFromAny;
static Tcl_UpdateStringProc UpdateAddrString;

static int  BadAddress(Tcl_Interp *interp, const char *what, const char *text,
                       const char *end);
static bool HasFractionOrUnit(const char *text, Ns_Time *timePtr);
static bool StartsNumber(const char *text);
static int  BadTime(Tcl_Interp *interp, const char *text);
static int  ParsePart(Tcl_Interp *interp, const char *part, int length,
                      long *valuePtr);

static const Tcl_ObjType timeType = {
    "ns:time", NULL, NULL, UpdateTimeString, SetTimeFromAny};
static const Tcl_ObjType addrType = {
    "ns:addr", NULL, NULL, UpdateAddrString, Ns_TclSetFromAnyError};
static const Tcl_ObjType opaqueType = {
    "ns:opaque", NULL, NULL, NULL, Ns_TclSetFromAnyError};

Tcl_Obj *
Ns_TclNewTimeObj(Ns_Time *timePtr)
{
    Tcl_Obj *objPtr = Tcl_NewObj();

    Ns_TclSetTimeObj(objPtr, timePtr);
    return objPtr;
}

void
Ns_TclSetTimeObj(Tcl_Obj *objPtr, Ns_Time *timePtr)
{
    if (Tcl_IsShared(objPtr)) {
        Tcl_Panic("Ns_TclSetTimeObj called with shared object");
    }
    Ns_TclResetObjType(objPtr, (Tcl_ObjType *) &timeType);
    Tcl_InvalidateStringRep(objPtr);
    *TimeOf(objPtr) = *timePtr;
}

int
Ns_TclGetTimeFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr, Ns_Time *timePtr)
{
    Ns_Time *valuePtr;

    if (Ns_TclGetTimePtrFromObj(interp, objPtr, &valuePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    *timePtr = *valuePtr;
    return TCL_OK;
}

int
Ns_TclGetTimePtrFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr,
                        Ns_Time **timePtrPtr)
{
    if (objPtr->typePtr != &timeType
        && SetTimeFromAny(interp, objPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    *timePtrPtr = TimeOf(objPtr);
    return TCL_OK;
}

int
Ns_GetTimeFromString(Tcl_Interp *interp, const char *string, Ns_Time *timePtr)
{
    Tcl_Obj *objPtr = Tcl_NewStringObj(string, -1);
    int      result;

    Tcl_IncrRefCount(objPtr);
    result = Ns_TclGetTimeFromObj(interp, objPtr, timePtr);
    Tcl_DecrRefCount(objPtr);
    return result;
}

int
Ns_CheckTimeRange(Tcl_Interp *interp, const char *name,
                  const Ns_ObjvTimeRange *rangePtr, const Ns_Time *timePtr)
{
    Ns_DString ds;

    if (rangePtr == NULL
        || (Ns_DiffTime((Ns_Time *) timePtr, (Ns_Time *) &rangePtr->min, NULL)
                >= 0
            && Ns_DiffTime((Ns_Time *) timePtr, (Ns_Time *) &rangePtr->max,
                           NULL)
                <= 0)) {
        return TCL_OK;
    }
    if (interp != NULL) {
        Ns_DStringInit(&ds);
        Ns_DStringAppend(&ds, "expected time value in range [");
        Ns_DStringAppendTime(&ds, &rangePtr->min);
        Ns_DStringAppend(&ds, ",");
        Ns_DStringAppendTime(&ds, &rangePtr->max);
        Ns_DStringVarAppend(&ds, "] for '", name, "', but got ", NULL);
        Ns_DStringAppendTime(&ds, timePtr);
        Tcl_DStringResult(interp, &ds);
    }
    return TCL_ERROR;
}

int
Ns_TclGetMemUnitFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr,
                        Tcl_WideInt *bytesPtr)
{
    const char *text = Tcl_GetString(objPtr), *unit;

    if (Ns_StrToMemUnit(text, bytesPtr) == NS_OK) {
        return TCL_OK;
    }
    unit = text + strspn(text, "+-0123456789.");
    unit += strspn(unit, " \t\n");
    if (*text == '-' && unit != text) {
        Ns_TclPrintfResult(interp, "invalid memory size '%s': it is negative",
                           text);
    } else if (unit != text && NsUnitsIsSizeUnit(unit)
               && strtod(text, NULL) >= 1e9) {
        Ns_TclPrintfResult(interp, "invalid memory size '%s': it is too large",
                           text);
    } else {
        Ns_TclPrintfResult(interp,
                           "invalid memory unit '%s'; valid units kB, MB, GB, "
                           "KiB, MiB, and GiB",
                           *unit == '\0' ? text : unit);
    }
    return TCL_ERROR;
}

/*
 * The microseconds are of the sign that makes them 0 to 999999.
 */
static void
UpdateTimeString(Tcl_Obj *objPtr)
{
    Ns_Time time = *TimeOf(objPtr);
    char    text[2 * TCL_INTEGER_SPACE + 2];
    int     n;

    Ns_AdjTime(&time);
    if (time.usec == 0) {
        n = snprintf(text, sizeof(text), "%ld", time.sec);
    } else {
        n = snprintf(text, sizeof(text), "%ld:%ld", time.sec, time.usec);
    }
    Ns_TclSetStringRep(objPtr, text, n);
}

static int
SetTimeFromAny(Tcl_Interp *interp, Tcl_Obj *objPtr)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(objPtr, &length);
    const char *colon = strchr(text, ':');
    Ns_Time     time = {0, 0};

    if (colon == NULL) {
        if (ParsePart(NULL, text, length, &time.sec) != TCL_OK
            && !HasFractionOrUnit(text, &time)) {
            return BadTime(interp, text);
        }
    } else {
        if (colon != text
            && ParsePart(interp, text, (int) (colon - text), &time.sec)
                != TCL_OK) {
            return TCL_ERROR;
        }
        if (ParsePart(interp, colon + 1, length - (int) (colon + 1 - text),
                      &time.usec)
            != TCL_OK) {
            return TCL_ERROR;
        }
    }
    Ns_AdjTime(&time);
    Ns_TclResetObjType(objPtr, (Tcl_ObjType *) &timeType);
    *TimeOf(objPtr) = time;
    return TCL_OK;
}

/*
 * As 0.5, 2m, -250ms.
 */
static bool
HasFractionOrUnit(const char *text, Ns_Time *timePtr)
{
    bool isNegative = *text == '-';

    text += isNegative;
    if (!StartsNumber(text) || !NsUnitsTime(text, timePtr)) {
        return false;
    }
    if (isNegative) {
        timePtr->sec = -timePtr->sec;
        timePtr->usec = -timePtr->usec;
    }
    return true;
}

static bool
StartsNumber(const char *text)
{
    return isdigit(UCHAR(*text)) || *text == '.';
}

/*
 * For a word that is not a number at all, the text that scripts have always
 * seen.
 */
static int
BadTime(Tcl_Interp *interp, const char *text)
{
    if (interp != NULL) {
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("expected %s but got \"%s\"",
                                       StartsNumber(text + (*text == '-'))
                                           ? "time value"
                                           : "integer",
                                       text));
        Tcl_SetErrorCode(interp, "TCL", "VALUE", "TIME", (char *) NULL);
    }
    return TCL_ERROR;
}

static int
ParsePart(Tcl_Interp *interp, const char *part, int length, long *valuePtr)
{
    Tcl_Obj *objPtr = Tcl_NewStringObj(part, length);
    int      result;

    Tcl_IncrRefCount(objPtr);
    result = Tcl_GetLongFromObj(interp, objPtr, valuePtr);
    Tcl_DecrRefCount(objPtr);
    return result;
}

void
Ns_TclSetAddrObj(Tcl_Obj *objPtr, const char *type, void *addr)
{
    if (Tcl_IsShared(objPtr)) {
        Tcl_Panic("Ns_TclSetAddrObj called with shared object");
    }
    Ns_TclSetTwoPtrValue(objPtr, (Tcl_ObjType *) &addrType, (void *) type,
                         addr);
    Tcl_InvalidateStringRep(objPtr);
}

/*
 * In a string the type is given as its address, which a process knows but not
 * its next run.
 */
int
Ns_TclGetAddrFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr, const char *type,
                     void **addrPtrPtr)
{
    void       *foundType, *addr;
    const char *text;
    int         n = 0;

    if (objPtr->typePtr != &addrType) {
        text = Tcl_GetString(objPtr);
        if (sscanf(text, "t%20p-a%20p-%n", &foundType, &addr, &n) != 2 || n == 0
            || addr == NULL) {
            return BadAddress(interp, "invalid address \"", text, "\"");
        }
        if (foundType != type || strcmp(text + n, type) != 0) {
            return BadAddress(interp, "incorrect type: ", text, "");
        }
        Ns_TclSetTwoPtrValue(objPtr, (Tcl_ObjType *) &addrType, foundType,
                             addr);
    }
    if (TYPE_OF(objPtr) != type) {
        return BadAddress(interp, "incorrect type: ", Tcl_GetString(objPtr),
                          "");
    }
    *addrPtrPtr = ADDRESS_OF(objPtr);
    return TCL_OK;
}

/*
 * interp may be NULL.
 */
static int
BadAddress(Tcl_Interp *interp, const char *what, const char *text,
           const char *end)
{
    if (interp != NULL) {
        Tcl_ResetResult(interp);
        Tcl_AppendResult(interp, what, text, end, NULL);
    }
    return TCL_ERROR;
}

static void
UpdateAddrString(Tcl_Obj *objPtr)
{
    const char *type = TYPE_OF(objPtr);
    char        text[128];
    int         n = snprintf(text, sizeof(text), "t%p-a%p-%s", TYPE_OF(objPtr),
                             ADDRESS_OF(objPtr), type);

    Ns_TclSetStringRep(objPtr, text, MIN(n, (int) sizeof(text) - 1));
}

void
Ns_TclSetOpaqueObj(Tcl_Obj *objPtr, const char *type, void *addr)
{
    /* The string must exist: it cannot be made from the pointer. */
    (void) Tcl_GetString(objPtr);
    Ns_TclSetTwoPtrValue(objPtr, (Tcl_ObjType *) &opaqueType, (void *) type,
                         addr);
}

int
Ns_TclGetOpaqueFromObj(Tcl_Obj *objPtr, const char *type, void **addrPtrPtr)
{
    if (objPtr->typePtr == &opaqueType && TYPE_OF(objPtr) == type) {
        *addrPtrPtr = ADDRESS_OF(objPtr);
        return TCL_OK;
    }
    return Ns_TclGetAddrFromObj(NULL, objPtr, type, addrPtrPtr);
}

void
Ns_TclSetTwoPtrValue(Tcl_Obj *objPtr, Tcl_ObjType *typePtr, void *ptr1,
                     void *ptr2)
{
    Ns_TclResetObjType(objPtr, typePtr);
    objPtr->internalRep.twoPtrValue.ptr1 = ptr1;
    objPtr->internalRep.twoPtrValue.ptr2 = ptr2;
}

void
Ns_TclSetOtherValuePtr(Tcl_Obj *objPtr, Tcl_ObjType *typePtr, void *value)
{
    Ns_TclResetObjType(objPtr, typePtr);
    objPtr->internalRep.otherValuePtr = value;
}

void
Ns_TclResetObjType(Tcl_Obj *objPtr, Tcl_ObjType *typePtr)
{
    const Tcl_ObjType *oldPtr = objPtr->typePtr;

    if (oldPtr != NULL && oldPtr->freeIntRepProc != NULL) {
        oldPtr->freeIntRepProc(objPtr);
    }
    objPtr->typePtr = typePtr;
}

void
Ns_TclSetStringRep(Tcl_Obj *objPtr, const char *bytes, int length)
{
    if (length < 0) {
        length = (int) strlen(bytes);
    }
    objPtr->bytes = ckalloc((unsigned) length + 1);
    memcpy(objPtr->bytes, bytes, (size_t) length);
    objPtr->bytes[length] = '\0';
    objPtr->length = length;
}

int
Ns_TclSetFromAnyError(Tcl_Interp *interp, Tcl_Obj *objPtr)
{
    if (interp != NULL) {
        Tcl_SetObjResult(
            interp,
            Tcl_NewStringObj(
                "can't convert value to requested type except via prescribed API",
                -1));
    }
    return TCL_ERROR;
}
