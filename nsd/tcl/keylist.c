/* SPDX-License-Identifier: MPL-2.0
 * keylist.c --
 *
 *      Keyed lists: a list of pairs {key value} whose values may be keyed lists
 *      again, addressed by paths a.b.c.
 *
 *      Plain lists are what scripts see, so nothing else is kept.
 */

#include "tcl/keylist.h"

#include "nsstring.h"
#include "tcl/result.h"

static int   Pairs(Tcl_Interp *interp, Tcl_Obj *listPtr, int *nPtr,
                   Tcl_Obj ***pairsPtr);
static int   FindPair(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *key,
                      size_t length, int *indexPtr, Tcl_Obj **valuePtr);
static int   CheckKey(Tcl_Interp *interp, Tcl_Obj *keyPtr);
static bool  SplitPath(const char *path, size_t *lengthPtr,
                       const char **restPtr);
static char *DupResult(Tcl_Obj *objPtr);

int
NsKeyListGet(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *path,
             Tcl_Obj **valuePtr)
{
    const char *rest;
    size_t      length;
    int         index, result;
    bool        hasRest;

    do {
        hasRest = SplitPath(path, &length, &rest);
        result = FindPair(interp, listPtr, path, length, &index, &listPtr);
        if (result != TCL_OK) {
            return result;
        }
        if (index < 0) {
            return TCL_BREAK;
        }
        path = rest;
    } while (hasRest);
    *valuePtr = listPtr;
    return TCL_OK;
}

int
NsKeyListKeys(Tcl_Interp *interp, Tcl_Obj *listPtr, Tcl_Obj **keysPtr)
{
    Tcl_Obj **pairs, *keyPtr;
    int       n;

    if (Pairs(interp, listPtr, &n, &pairs) != TCL_OK) {
        return TCL_ERROR;
    }
    *keysPtr = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < n; i++) {
        (void) Tcl_ListObjIndex(NULL, pairs[i], 0, &keyPtr);
        Tcl_ListObjAppendElement(NULL, *keysPtr, keyPtr);
    }
    return TCL_OK;
}

int
NsKeyListSet(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *path,
             Tcl_Obj *valuePtr, Tcl_Obj **newPtr)
{
    Tcl_Obj    *oldPtr = NULL, *subPtr = valuePtr, *pair[2], *pairPtr;
    const char *rest;
    size_t      length;
    int         index;
    bool        hasRest = SplitPath(path, &length, &rest);

    if (FindPair(interp, listPtr, path, length, &index, &oldPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (hasRest) {
        Tcl_Obj *emptyPtr = index < 0 ? Tcl_NewObj() : oldPtr;
        int      result;

        Tcl_IncrRefCount(emptyPtr);
        result = NsKeyListSet(interp, emptyPtr, rest, valuePtr, &subPtr);
        Tcl_DecrRefCount(emptyPtr);
        if (result != TCL_OK) {
            return TCL_ERROR;
        }
    }
    pair[0] = Tcl_NewStringObj(path, (int) length);
    pair[1] = subPtr;
    pairPtr = Tcl_NewListObj(2, pair);
    *newPtr = Tcl_DuplicateObj(listPtr);
    if (index < 0) {
        Tcl_ListObjAppendElement(NULL, *newPtr, pairPtr);
    } else {
        (void) Tcl_ListObjReplace(NULL, *newPtr, index, 1, 1, &pairPtr);
    }
    return TCL_OK;
}

int
NsKeyListDelete(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *path,
                Tcl_Obj **newPtr)
{
    Tcl_Obj    *oldPtr, *subPtr, *pair[2], *pairPtr;
    const char *rest;
    size_t      length;
    int         index, result, nLeft;
    bool        hasRest = SplitPath(path, &length, &rest);

    result = FindPair(interp, listPtr, path, length, &index, &oldPtr);
    if (result != TCL_OK) {
        return result;
    }
    if (index < 0) {
        return TCL_BREAK;
    }
    if (!hasRest) {
        *newPtr = Tcl_DuplicateObj(listPtr);
        (void) Tcl_ListObjReplace(NULL, *newPtr, index, 1, 0, NULL);
        return TCL_OK;
    }
    result = NsKeyListDelete(interp, oldPtr, rest, &subPtr);
    if (result != TCL_OK) {
        return result;
    }
    *newPtr = Tcl_DuplicateObj(listPtr);
    (void) Tcl_ListObjLength(NULL, subPtr, &nLeft);
    if (nLeft == 0) {
        Tcl_IncrRefCount(subPtr);
        Tcl_DecrRefCount(subPtr);
        (void) Tcl_ListObjReplace(NULL, *newPtr, index, 1, 0, NULL);
    } else {
        pair[0] = Tcl_NewStringObj(path, (int) length);
        pair[1] = subPtr;
        pairPtr = Tcl_NewListObj(2, pair);
        (void) Tcl_ListObjReplace(NULL, *newPtr, index, 1, 1, &pairPtr);
    }
    return TCL_OK;
}

/*
 * The elements, each checked to be a pair with a proper key.
 */
static int
Pairs(Tcl_Interp *interp, Tcl_Obj *listPtr, int *nPtr, Tcl_Obj ***pairsPtr)
{
    Tcl_Obj **fields;
    int       nFields;

    if (Tcl_ListObjGetElements(interp, listPtr, nPtr, pairsPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    for (int i = 0; i < *nPtr; i++) {
        if (Tcl_ListObjGetElements(NULL, (*pairsPtr)[i], &nFields, &fields)
                != TCL_OK
            || nFields != 2) {
            return NsTclFail(interp,
                             "keyed list entry must be a two element "
                             "list, found \"%s\"",
                             Tcl_GetString((*pairsPtr)[i]));
        }
        if (CheckKey(interp, fields[0]) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

/*
 * *indexPtr -1: there is no such key.
 */
static int
FindPair(Tcl_Interp *interp, Tcl_Obj *listPtr, const char *key, size_t length,
         int *indexPtr, Tcl_Obj **valuePtr)
{
    Tcl_Obj **pairs, *keyPtr;
    int       n, keyLength;

    if (Pairs(interp, listPtr, &n, &pairs) != TCL_OK) {
        return TCL_ERROR;
    }
    if (length == 0) {
        return NsTclFail(interp, "keyed list key may not be an empty string");
    }
    *indexPtr = -1;
    for (int i = 0; i < n; i++) {
        const char *name;

        (void) Tcl_ListObjIndex(NULL, pairs[i], 0, &keyPtr);
        name = Tcl_GetStringFromObj(keyPtr, &keyLength);
        if ((size_t) keyLength == length && memcmp(name, key, length) == 0) {
            *indexPtr = i;
            (void) Tcl_ListObjIndex(NULL, pairs[i], 1, valuePtr);
            break;
        }
    }
    return TCL_OK;
}

/*
 * U+0000 is encoded in strings as two bytes, the first of which nothing else
 * uses.
 */
static int
CheckKey(Tcl_Interp *interp, Tcl_Obj *keyPtr)
{
    const char *key = Tcl_GetString(keyPtr);

    if (*key == '\0') {
        Ns_TclPrintfResult(interp, "keyed list key may not be an empty string");
    } else if (strchr(key, '\xC0') != NULL) {
        Ns_TclPrintfResult(interp, "keyed list key may not be a binary string");
    } else if (strchr(key, '.') != NULL) {
        Ns_TclPrintfResult(interp,
                           "keyed list key may not contain a \".\"; it "
                           "is used as a separator in key paths");
    } else {
        return TCL_OK;
    }
    return TCL_ERROR;
}

/*
 * The length of the first name; whether others follow.
 */
static bool
SplitPath(const char *path, size_t *lengthPtr, const char **restPtr)
{
    const char *dot = strchr(path, '.');

    *lengthPtr = dot == NULL ? strlen(path) : (size_t) (dot - path);
    *restPtr = dot == NULL ? path + *lengthPtr : dot + 1;
    return dot != NULL;
}

/*
 * ---------------------------------------------------------- Public functions
 */

int
Tcl_GetKeyedListField(Tcl_Interp *interp, const char *fieldName,
                      const char *keyedList, char **fieldValuePtr)
{
    Tcl_Obj *listPtr = Tcl_NewStringObj(keyedList, -1), *valuePtr;
    int      result;

    Tcl_IncrRefCount(listPtr);
    result = NsKeyListGet(interp, listPtr, fieldName, &valuePtr);
    if (fieldValuePtr != NULL) {
        *fieldValuePtr = result == TCL_OK ? DupResult(valuePtr) : NULL;
    }
    Tcl_DecrRefCount(listPtr);
    return result;
}

int
Tcl_GetKeyedListKeys(Tcl_Interp *interp, const char *subFieldName,
                     const char *keyedList, int *keysArgcPtr,
                     char ***keysArgvPtr)
{
    Tcl_Obj *listPtr = Tcl_NewStringObj(keyedList, -1), *subPtr = listPtr;
    Tcl_Obj *keysPtr;
    int      result = TCL_OK;

    Tcl_IncrRefCount(listPtr);
    if (subFieldName != NULL && *subFieldName != '\0') {
        result = NsKeyListGet(interp, listPtr, subFieldName, &subPtr);
    }
    if (result == TCL_OK) {
        result = NsKeyListKeys(interp, subPtr, &keysPtr);
    }
    if (result == TCL_OK) {
        Tcl_IncrRefCount(keysPtr);
        if (keysArgvPtr != NULL) {
            result = Tcl_SplitList(interp, Tcl_GetString(keysPtr), keysArgcPtr,
                                   (const char ***) (void *) keysArgvPtr);
        }
        Tcl_DecrRefCount(keysPtr);
    }
    Tcl_DecrRefCount(listPtr);
    return result;
}

char *
Tcl_SetKeyedListField(Tcl_Interp *interp, const char *fieldName,
                      const char *fieldValue, const char *keyedList)
{
    Tcl_Obj *listPtr = Tcl_NewStringObj(keyedList, -1), *newPtr;
    Tcl_Obj *valuePtr = Tcl_NewStringObj(fieldValue, -1);
    char    *text = NULL;

    Tcl_IncrRefCount(listPtr);
    Tcl_IncrRefCount(valuePtr);
    if (NsKeyListSet(interp, listPtr, fieldName, valuePtr, &newPtr) == TCL_OK) {
        Tcl_IncrRefCount(newPtr);
        text = DupResult(newPtr);
        Tcl_DecrRefCount(newPtr);
    }
    Tcl_DecrRefCount(valuePtr);
    Tcl_DecrRefCount(listPtr);
    return text;
}

char *
Tcl_DeleteKeyedListField(Tcl_Interp *interp, const char *fieldName,
                         const char *keyedList)
{
    Tcl_Obj *listPtr = Tcl_NewStringObj(keyedList, -1), *newPtr;
    char    *text = NULL;

    Tcl_IncrRefCount(listPtr);
    if (NsKeyListDelete(interp, listPtr, fieldName, &newPtr) == TCL_OK) {
        Tcl_IncrRefCount(newPtr);
        text = DupResult(newPtr);
        Tcl_DecrRefCount(newPtr);
    }
    Tcl_DecrRefCount(listPtr);
    return text;
}

static char *
DupResult(Tcl_Obj *objPtr)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(objPtr, &length);
    char       *copy = ckalloc((unsigned) length + 1);

    memcpy(copy, text, (size_t) length + 1);
    return copy;
}
