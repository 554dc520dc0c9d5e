/* SPDX-License-Identifier: MPL-2.0
 * interp.c --
 *
 *      Handles of an interpreter: their names, and the sets of their rows.
 *
 *      Scripts know the row of a handle by a set id.  They may still use it
 *      when another thread has the handle.  So when the handle is released, the
 *      set stays behind and the handle gets a new one.
 */

#include "dbint.h"

#define KEY "nsdb"

/*
 * A row left behind by its handle.
 */
typedef struct Row {
    struct Row *nextPtr;
    Ns_Set     *setPtr;
    char        id[32];
} Row;

struct DbInterp {
    const char   *server;  /* Constant. */
    Tcl_Interp   *interp;  /* Constant. */
    Tcl_HashTable handles; /* By name. */
    Row          *rows;
};

static Tcl_InterpDeleteProc FreeInterp;

static DbInterp *Get(Tcl_Interp *interp);
static void      PutAll(DbInterp *interpPtr);

void
DbInterpInit(Tcl_Interp *interp, const char *server)
{
    DbInterp *interpPtr = ns_calloc(1u, sizeof(*interpPtr));

    interpPtr->server = server;
    interpPtr->interp = interp;
    Tcl_InitHashTable(&interpPtr->handles, TCL_STRING_KEYS);
    Tcl_SetAssocData(interp, KEY, FreeInterp, interpPtr);
}

static DbInterp *
Get(Tcl_Interp *interp)
{
    return Tcl_GetAssocData(interp, KEY, NULL);
}

const char *
DbInterpServer(Tcl_Interp *interp)
{
    const DbInterp *interpPtr = Get(interp);

    return interpPtr == NULL ? NULL : interpPtr->server;
}

/*
 * Called when Tcl deletes the interpreter, which frees its sets itself.
 */
static void
FreeInterp(ClientData clientData, Tcl_Interp *interp)
{
    DbInterp *interpPtr = clientData;

    PutAll(interpPtr);
    while (interpPtr->rows != NULL) {
        Row *rowPtr = interpPtr->rows;

        interpPtr->rows = rowPtr->nextPtr;
        Ns_SetFree(rowPtr->setPtr);
        ns_free(rowPtr);
    }
    Tcl_DeleteHashTable(&interpPtr->handles);
    ns_free(interpPtr);
}

static void
PutAll(DbInterp *interpPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr;

    while ((entryPtr = Tcl_FirstHashEntry(&interpPtr->handles, &search))
           != NULL) {
        DbHandle *handlePtr = Tcl_GetHashValue(entryPtr);

        Ns_DbPoolPutHandle(&handlePtr->public);
    }
}

int
DbInterpRelease(Tcl_Interp *interp, void *arg)
{
    DbInterp *interpPtr = Get(interp);

    if (interpPtr == NULL) {
        return TCL_OK;
    }
    if (interpPtr->handles.numEntries > 0) {
        PutAll(interpPtr);
    }
    while (interpPtr->rows != NULL) {
        Row    *rowPtr = interpPtr->rows;
        Ns_Set *setPtr;

        interpPtr->rows = rowPtr->nextPtr;
        if (Ns_TclGetSet2(interp, rowPtr->id, &setPtr) == TCL_OK
            && setPtr == rowPtr->setPtr) {
            (void) Ns_TclFreeSet(interp, rowPtr->id);
        }
        Tcl_ResetResult(interp);
        Ns_SetFree(rowPtr->setPtr);
        ns_free(rowPtr);
    }
    return TCL_OK;
}

const char *
DbInterpEnter(Tcl_Interp *interp, DbHandle *handlePtr)
{
    DbInterp      *interpPtr = Get(interp);
    Tcl_HashEntry *entryPtr;
    int            n = interpPtr->handles.numEntries, isNew;

    do {
        snprintf(handlePtr->name, sizeof(handlePtr->name), "nsdb%x", n++);
        entryPtr = Tcl_CreateHashEntry(&interpPtr->handles, handlePtr->name,
                                       &isNew);
    } while (!isNew);
    Tcl_SetHashValue(entryPtr, handlePtr);
    handlePtr->interpPtr = interpPtr;
    return handlePtr->name;
}

void
DbInterpForget(DbHandle *handlePtr)
{
    DbInterp      *interpPtr = handlePtr->interpPtr;
    Tcl_HashEntry *entryPtr;

    if (interpPtr == NULL) {
        return;
    }
    entryPtr = Tcl_FindHashEntry(&interpPtr->handles, handlePtr->name);
    if (entryPtr != NULL) {
        Tcl_DeleteHashEntry(entryPtr);
    }
    if (handlePtr->rowId[0] != '\0') {
        Row *rowPtr = ns_calloc(1u, sizeof(*rowPtr));

        rowPtr->setPtr = handlePtr->public.row;
        snprintf(rowPtr->id, sizeof(rowPtr->id), "%s", handlePtr->rowId);
        rowPtr->nextPtr = interpPtr->rows;
        interpPtr->rows = rowPtr;
        handlePtr->public.row = Ns_SetCreate(NULL);
        handlePtr->rowId[0] = '\0';
    }
    handlePtr->interpPtr = NULL;
}

int
Ns_TclDbGetHandle(Tcl_Interp *interp, const char *id,
                  Ns_DbHandle **handlePtrPtr)
{
    DbInterp      *interpPtr = Get(interp);
    Tcl_HashEntry *entryPtr = interpPtr == NULL
        ? NULL
        : Tcl_FindHashEntry(&interpPtr->handles, id);

    if (entryPtr == NULL) {
        Ns_TclPrintfResult(interp, "invalid database id: \"%s\"", id);
        return TCL_ERROR;
    }
    *handlePtrPtr = Tcl_GetHashValue(entryPtr);
    return TCL_OK;
}

int
Ns_TclDbGetDriverHandle(Tcl_Interp *interp, const char *id,
                        const char *driverName, Ns_DbHandle **handlePtrPtr)
{
    if (Ns_TclDbGetHandle(interp, id, handlePtrPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (Ns_DbDriverName(*handlePtrPtr) != driverName
        || !(*handlePtrPtr)->connected) {
        Ns_TclPrintfResult(interp,
                           "handle \"%s\" is no open one of the driver %s", id,
                           driverName);
        return TCL_ERROR;
    }
    return TCL_OK;
}

Tcl_Obj *
DbInterpList(Tcl_Interp *interp)
{
    DbInterp      *interpPtr = Get(interp);
    Tcl_Obj       *dictObj = Tcl_NewDictObj();
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr = Tcl_FirstHashEntry(&interpPtr->handles, &search);

    for (; entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        const DbHandle *handlePtr = Tcl_GetHashValue(entryPtr);
        Tcl_Obj *poolObj = Tcl_NewStringObj(handlePtr->public.poolname, -1);
        Tcl_Obj *ofPoolObj = NULL;

        Tcl_IncrRefCount(poolObj);
        (void) Tcl_DictObjGet(NULL, dictObj, poolObj, &ofPoolObj);
        ofPoolObj = ofPoolObj == NULL ? Tcl_NewDictObj()
                                      : Tcl_DuplicateObj(ofPoolObj);
        Tcl_DictObjPut(NULL, ofPoolObj, Tcl_NewStringObj(handlePtr->name, -1),
                       Tcl_NewIntObj(handlePtr->isActive));
        Tcl_DictObjPut(NULL, dictObj, poolObj, ofPoolObj);
        Tcl_DecrRefCount(poolObj);
    }
    return dictObj;
}

int
DbInterpEnterRow(Tcl_Interp *interp, DbHandle *handlePtr)
{
    Ns_Set *setPtr = NULL;

    if (handlePtr->rowId[0] == '\0'
        || Ns_TclGetSet2(interp, handlePtr->rowId, &setPtr) != TCL_OK
        || setPtr != handlePtr->public.row) {
        Tcl_ResetResult(interp);
        if (Ns_TclEnterSet(interp, handlePtr->public.row, NS_TCL_SET_STATIC)
            != TCL_OK) {
            return TCL_ERROR;
        }
        snprintf(handlePtr->rowId, sizeof(handlePtr->rowId), "%s",
                 Tcl_GetStringResult(interp));
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(handlePtr->rowId, -1));
    return TCL_OK;
}

int
DbFail(Tcl_Interp *interp, Ns_DbHandle *handle, const char *command)
{
    Ns_DString ds;

    DbHandleOf(handle)->isActive = false;
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, "Database operation \"", command, "\" failed",
                        NULL);
    if (handle->cExceptionCode[0] != '\0') {
        Ns_DStringVarAppend(&ds, " (exception ", handle->cExceptionCode, NULL);
        if (handle->dsExceptionMsg.length > 0) {
            Ns_DStringVarAppend(&ds, ", \"", handle->dsExceptionMsg.string,
                                "\"", NULL);
        }
        Ns_DStringAppend(&ds, ")");
    }
    Tcl_DStringResult(interp, &ds);
    return TCL_ERROR;
}

/*
 * Tcl may encode characters outside ASCII in its own way.
 */
const char *
DbSqlText(Ns_DbHandle *handle, Tcl_Obj *objPtr, Ns_DString *dsPtr)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(objPtr, &length);
    const char *p = text;

    while (p < text + length && UCHAR(*p) < 0x80) {
        p++;
    }
    if (p == text + length) {
        return text;
    }
    Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), text, length,
                             dsPtr);
    if (memchr(dsPtr->string, '\0', (size_t) dsPtr->length) != NULL) {
        Ns_DbSetException(handle, "NSDB", "statement contains a NUL character");
        return NULL;
    }
    return dsPtr->string;
}
