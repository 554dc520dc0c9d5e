/* SPDX-License-Identifier: MPL-2.0
 * jsontriples.c --
 *
 *      JSON as triples of name, type and value.
 */

#include "tcl/jsontriples.h"

#include "nsstring.h"
#include "base/assert.h"
#include "http/json.h"
#include "tcl/command.h"
#include "tcl/result.h"

#define MAX_DEPTH 1000

/*
 * What a triple has besides its name.
 */
typedef struct Element {
    NsTripleType type;
    Tcl_Obj     *obj;
} Element;

static int  GetElement(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                       bool isType);
static int  SetElement(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv);
static bool TakeWhole(Tcl_Obj *obj, Element *elementPtr);
static int  ParsePath(Tcl_Interp *interp, Tcl_Obj *pathObj, Tcl_Obj *pointerObj,
                      Tcl_Obj **resultPtrPtr);
static int  Find(Tcl_Interp *interp, const Element *elementPtr,
                 Tcl_Obj *const *path, int nPath, Element *foundPtr);
static int  Replace(Tcl_Interp *interp, Element *elementPtr,
                    Tcl_Obj *const *path, int nPath, const Element *newPtr);
static int  GetTriples(Tcl_Interp *interp, const Element *elementPtr, int *nPtr,
                       Tcl_Obj ***objsPtr);
static int  IndexOf(const Element *elementPtr, int n, Tcl_Obj *const *objs,
                    Tcl_Obj *nameObj);
static int Add(Tcl_Interp *interp, Element *elementPtr, int n, Tcl_Obj *nameObj,
               const Element *newPtr);
static int NoElement(Tcl_Interp *interp, Tcl_Obj *nameObj);

/*
 * In the order of NsTripleType.
 */
static const char *const typeNames[] = {
    "auto", "string", "number", "boolean", "null", "object", "array", NULL};

static const Tcl_ObjType nullType = {"ns:jsonnull", NULL, NULL, NULL, NULL};

int
NsTripleTypeFind(Tcl_Interp *interp, Tcl_Obj *obj, NsTripleType *typePtr)
{
    int i;

    if (Tcl_GetIndexFromObj(interp, obj, typeNames, "type", TCL_EXACT, &i)
        != TCL_OK) {
        return TCL_ERROR;
    }
    *typePtr = (NsTripleType) i;
    return TCL_OK;
}

NsTripleType
NsTripleTypeOf(Tcl_Obj *obj, Tcl_Obj **valuePtrPtr)
{
    const char *text;
    int         length;
    Element     whole;

    *valuePtrPtr = obj;
    if (NsTripleIsNull(obj)) {
        return NS_TRIPLE_NULL;
    }
    text = Tcl_GetStringFromObj(obj, &length);
    if (STREQ(text, "true") || STREQ(text, "false")) {
        return NS_TRIPLE_BOOLEAN;
    }
    if (NsJsonIsNumber(text, (size_t) length)) {
        return NS_TRIPLE_NUMBER;
    }
    if (TakeWhole(obj, &whole)
        && (whole.type == NS_TRIPLE_OBJECT || whole.type == NS_TRIPLE_ARRAY)) {
        *valuePtrPtr = whole.obj;
        return whole.type;
    }
    return NS_TRIPLE_STRING;
}

/*
 * Whether it is what parse makes as triples of a whole document.
 */
static bool
TakeWhole(Tcl_Obj *obj, Element *elementPtr)
{
    Tcl_Obj **objs;
    int       n;

    if (Tcl_ListObjGetElements(NULL, obj, &n, &objs) != TCL_OK || n != 3
        || *Tcl_GetString(objs[0]) != '\0'
        || NsTripleTypeFind(NULL, objs[1], &elementPtr->type) != TCL_OK) {
        return false;
    }
    elementPtr->obj = objs[2];
    return true;
}

Tcl_Obj *
NsTripleNewNull(void)
{
    Tcl_Obj *obj = Tcl_NewObj();

    obj->typePtr = &nullType;
    return obj;
}

bool
NsTripleIsNull(const Tcl_Obj *obj)
{
    return obj->typePtr == &nullType;
}

int
NsTriplesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "getvalue", "gettype", "setvalue", NULL};
    int i;

    if (Tcl_GetIndexFromObj(interp, objv[2], names, "subcommand", TCL_EXACT, &i)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return i == 2 ? SetElement(interp, objc, objv)
                  : GetElement(interp, objc, objv, i == 1);
}

/*
 * ns_json triples getvalue|gettype -path path|-pointer pointer ?--? triples
 */
static int
GetElement(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, bool isType)
{
    Tcl_Obj    *pathObj = NULL, *pointerObj = NULL, *triplesObj, **path;
    Element     whole, found;
    int         nPath, result;
    Ns_ObjvSpec opts[] = {{"-path", Ns_ObjvObj, &pathObj, NULL},
                          {"-pointer", Ns_ObjvObj, &pointerObj, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"triples", Ns_ObjvObj, &triplesObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 3, objc, objv) != NS_OK
        || ParsePath(interp, pathObj, pointerObj, &pathObj) != TCL_OK) {
        return TCL_ERROR;
    }
    if (!TakeWhole(triplesObj, &whole)) {
        whole = (Element){NS_TRIPLE_OBJECT, triplesObj};
    }
    Tcl_ListObjGetElements(NULL, pathObj, &nPath, &path);
    result = Find(interp, &whole, path, nPath, &found);
    Tcl_DecrRefCount(pathObj);
    if (result != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp,
                       isType ? Tcl_NewStringObj(typeNames[found.type], -1)
                              : found.obj);
}

/*
 * ns_json triples setvalue -path path|-pointer pointer ?-type type? ?--?
 *     triples value
 */
static int
SetElement(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_Obj    *pathObj = NULL, *pointerObj = NULL, *typeObj = NULL;
    Tcl_Obj    *triplesObj, **path, *words[3];
    Element     whole, new = {.type = NS_TRIPLE_AUTO};
    bool        isWhole;
    int         nPath, result;
    Ns_ObjvSpec opts[] = {{"-path", Ns_ObjvObj, &pathObj, NULL},
                          {"-pointer", Ns_ObjvObj, &pointerObj, NULL},
                          {"-type", Ns_ObjvObj, &typeObj, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"triples", Ns_ObjvObj, &triplesObj, NULL},
                          {"value", Ns_ObjvObj, &new.obj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 3, objc, objv) != NS_OK
        || (typeObj != NULL
            && NsTripleTypeFind(interp, typeObj, &new.type) != TCL_OK)
        || ParsePath(interp, pathObj, pointerObj, &pathObj) != TCL_OK) {
        return TCL_ERROR;
    }
    if (new.type == NS_TRIPLE_AUTO) {
        new.type = NsTripleTypeOf(new.obj, &new.obj);
    }
    isWhole = TakeWhole(triplesObj, &whole);
    if (!isWhole) {
        whole = (Element){NS_TRIPLE_OBJECT, triplesObj};
    }
    Tcl_ListObjGetElements(NULL, pathObj, &nPath, &path);
    result = Replace(interp, &whole, path, nPath, &new);
    Tcl_DecrRefCount(pathObj);
    if (result != TCL_OK || !isWhole) {
        return result != TCL_OK ? TCL_ERROR : NsTclReturn(interp, whole.obj);
    }
    words[0] = Tcl_NewObj();
    words[1] = Tcl_NewStringObj(typeNames[whole.type], -1);
    words[2] = whole.obj;
    return NsTclReturn(interp, Tcl_NewListObj(3, words));
}

/*
 * The names on the way as a list, which is the caller's: from a list, or a
 * pointer as /a/0 (RFC 6901).
 */
static int
ParsePath(Tcl_Interp *interp, Tcl_Obj *pathObj, Tcl_Obj *pointerObj,
          Tcl_Obj **resultPtrPtr)
{
    const char *next;
    Tcl_Obj    *listObj;
    int         n;

    if ((pathObj == NULL) == (pointerObj == NULL)) {
        return NsTclFail(interp,
                         "ns_json triples: either -path or -pointer is needed");
    }
    if (pathObj != NULL) {
        if (Tcl_ListObjLength(interp, pathObj, &n) != TCL_OK) {
            return TCL_ERROR;
        }
        /* A copy: the object may be one of the triples' words as well. */
        listObj = Tcl_DuplicateObj(pathObj);
    } else {
        next = Tcl_GetString(pointerObj);
        if (*next != '/' && *next != '\0') {
            return NsTclFail(interp,
                             "ns_json triples: pointer does not begin with a"
                             " slash: \"%s\"",
                             next);
        }
        listObj = Tcl_NewListObj(0, NULL);
        while (*next == '/') {
            Tcl_Obj *nameObj = Tcl_NewObj();

            for (next++; *next != '/' && *next != '\0'; next++) {
                bool isCoded = *next == '~'
                    && (next[1] == '0' || next[1] == '1');

                if (isCoded) {
                    next++;
                }
                Tcl_AppendToObj(nameObj,
                                !isCoded ? next : (*next == '0' ? "~" : "/"),
                                1);
            }
            Tcl_ListObjAppendElement(NULL, listObj, nameObj);
        }
    }
    Tcl_IncrRefCount(listObj);
    *resultPtrPtr = listObj;
    return TCL_OK;
}

static int
Find(Tcl_Interp *interp, const Element *elementPtr, Tcl_Obj *const *path,
     int nPath, Element *foundPtr)
{
    *foundPtr = *elementPtr;
    for (int k = 0; k < nPath; k++) {
        Tcl_Obj **objs;
        int       n, i;

        if (GetTriples(interp, foundPtr, &n, &objs) != TCL_OK) {
            return TCL_ERROR;
        }
        i = IndexOf(foundPtr, n, objs, path[k]);
        if (i < 0) {
            return NoElement(interp, path[k]);
        }
        if (NsTripleTypeFind(interp, objs[i + 1], &foundPtr->type) != TCL_OK) {
            return TCL_ERROR;
        }
        foundPtr->obj = objs[i + 2];
    }
    return TCL_OK;
}

/*
 * Exchange the element at the end of the path, or add it to its container; the
 * containers on the way are copied.
 */
static int
Replace(Tcl_Interp *interp, Element *elementPtr, Tcl_Obj *const *path,
        int nPath, const Element *newPtr)
{
    Tcl_Obj **objs, *words[2];
    Element   child;
    int       n, i;

    if (nPath == 0) {
        *elementPtr = *newPtr;
        return TCL_OK;
    }
    if (nPath > MAX_DEPTH) {
        return NsTclFail(interp, "ns_json triples: max depth exceeded");
    }
    if (GetTriples(interp, elementPtr, &n, &objs) != TCL_OK) {
        return TCL_ERROR;
    }
    i = IndexOf(elementPtr, n, objs, path[0]);
    if (i < 0) {
        return nPath == 1 ? Add(interp, elementPtr, n, path[0], newPtr)
                          : NoElement(interp, path[0]);
    }
    child.obj = objs[i + 2];
    if (NsTripleTypeFind(interp, objs[i + 1], &child.type) != TCL_OK
        || Replace(interp, &child, path + 1, nPath - 1, newPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    words[0] = Tcl_NewStringObj(typeNames[child.type], -1);
    words[1] = child.obj;
    elementPtr->obj = Tcl_DuplicateObj(elementPtr->obj);
    Tcl_ListObjReplace(NULL, elementPtr->obj, i + 1, 2, 2, words);
    return TCL_OK;
}

/*
 * A new element of an object, or the next one of an array, also called `-`.
 */
static int
Add(Tcl_Interp *interp, Element *elementPtr, int n, Tcl_Obj *nameObj,
    const Element *newPtr)
{
    const char *name = Tcl_GetString(nameObj);
    char        next[TCL_INTEGER_SPACE];
    Tcl_Obj    *words[3] = {nameObj, NULL, newPtr->obj};

    NsAssert(n % 3 == 0);
    if (elementPtr->type == NS_TRIPLE_ARRAY) {
        snprintf(next, sizeof(next), "%d", n / 3);
        if (!STREQ(name, next) && !STREQ(name, "-")) {
            return NoElement(interp, nameObj);
        }
        words[0] = Tcl_NewStringObj(next, -1);
    } else if (elementPtr->type != NS_TRIPLE_OBJECT) {
        return NoElement(interp, nameObj);
    }
    words[1] = Tcl_NewStringObj(typeNames[newPtr->type], -1);
    elementPtr->obj = Tcl_DuplicateObj(elementPtr->obj);
    Tcl_ListObjReplace(NULL, elementPtr->obj, n, 0, 3, words);
    return TCL_OK;
}

/*
 * The words of an object's or array's elements; none of another value.
 */
static int
GetTriples(Tcl_Interp *interp, const Element *elementPtr, int *nPtr,
           Tcl_Obj ***objsPtr)
{
    *nPtr = 0;
    if (elementPtr->type != NS_TRIPLE_OBJECT
        && elementPtr->type != NS_TRIPLE_ARRAY) {
        return TCL_OK;
    }
    if (Tcl_ListObjGetElements(interp, elementPtr->obj, nPtr, objsPtr)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return *nPtr % 3 == 0
        ? TCL_OK
        : NsTclFail(interp,
                    "ns_json triples: triples length must be multiple of 3");
}

/*
 * Where the triple of a name begins, the last of several; -1: nowhere.
 */
static int
IndexOf(const Element *elementPtr, int n, Tcl_Obj *const *objs,
        Tcl_Obj *nameObj)
{
    const char *name = Tcl_GetString(nameObj);

    if (elementPtr->type == NS_TRIPLE_ARRAY) {
        char text[TCL_INTEGER_SPACE];
        int  position;

        if (Ns_StrToInt(name, &position) != NS_OK || position < 0
            || position >= n / 3) {
            return -1;
        }
        snprintf(text, sizeof(text), "%d", position);
        return STREQ(text, name) ? 3 * position : -1;
    }
    for (int i = n - 3; i >= 0; i -= 3) {
        if (STREQ(Tcl_GetString(objs[i]), name)) {
            return i;
        }
    }
    return -1;
}

static int
NoElement(Tcl_Interp *interp, Tcl_Obj *nameObj)
{
    return NsTclFail(interp, "no such element: %s", Tcl_GetString(nameObj));
}
