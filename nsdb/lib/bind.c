/* SPDX-License-Identifier: MPL-2.0
 * bind.c --
 *
 *      The command that runs a statement with bind variables, for drivers.
 */

#include "dbint.h"

/*
 * Where values come from.  The strings are valid as long as the source.
 */
typedef struct Source {
    Tcl_Interp  *interp;
    Ns_DbHandle *handle;
    Ns_Set      *setPtr; /* NULL: variables of the caller. */
    Tcl_DString  name;
    Tcl_DString  value;
} Source;

static Ns_DbValueProc ValueOf;

static void Refuse(const Source *sourcePtr, const char *why);
static int  Finish(Tcl_Interp *interp, Ns_DbHandle *handle, const char *command,
                   int kind);
static int  OneRow(Tcl_Interp *interp, Ns_DbHandle *handle, bool mayBeNone);
static int  AllRows(Tcl_Interp *interp, Ns_DbHandle *handle);
static void Explain(Tcl_Interp *interp, const Ns_DbHandle *handle,
                    const char *sql);

static const char *const words[] = {
    "dml", "exec", "select", "1row", "0or1row", "rows", NULL};

int
Ns_TclDbBindCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                Ns_DbBindExecProc *proc)
{
    Source       source = {.interp = interp};
    Ns_DbHandle *handle;
    Ns_DString   ds;
    const char  *sql;
    bool         hasSet = objc == 6 && STREQ(Tcl_GetString(objv[3]), "-bind");
    int          n, kind = NS_ERROR;

    if (objc != 4 && !hasSet) {
        Tcl_WrongNumArgs(interp, 1, objv,
                         "dml|exec|select|1row|0or1row|rows dbId ?-bind "
                         "setId? sql");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], words, "option", TCL_EXACT, &n)
            != TCL_OK
        || Ns_TclDbGetHandle(interp, Tcl_GetString(objv[2]), &handle) != TCL_OK
        || (hasSet
            && Ns_TclGetSet2(interp, Tcl_GetString(objv[4]), &source.setPtr)
                != TCL_OK)) {
        return TCL_ERROR;
    }
    source.handle = handle;
    Ns_DbSetException(handle, "", "");
    Tcl_DStringInit(&source.name);
    Tcl_DStringInit(&source.value);
    Ns_DStringInit(&ds);
    sql = DbSqlText(handle, objv[objc - 1], &ds);
    if (sql != NULL && handle->connected) {
        kind = proc(handle, sql, ValueOf, &source);
    }
    n = Finish(interp, handle, words[n], kind);
    if (n != TCL_OK && handle->cExceptionCode[0] != '\0') {
        Explain(interp, handle, Tcl_GetString(objv[objc - 1]));
    }
    Ns_DStringFree(&ds);
    Tcl_DStringFree(&source.name);
    Tcl_DStringFree(&source.value);
    return n;
}

static const char *
ValueOf(void *arg, const char *name, size_t length)
{
    Source     *sourcePtr = arg;
    const char *value;

    Tcl_DStringSetLength(&sourcePtr->name, 0);
    Tcl_DStringAppend(&sourcePtr->name, name, (int) length);
    if (sourcePtr->setPtr != NULL) {
        value = Ns_SetGet(sourcePtr->setPtr, sourcePtr->name.string);
    } else {
        value = Tcl_GetVar(sourcePtr->interp, sourcePtr->name.string, 0);
    }
    if (value == NULL) {
        Refuse(sourcePtr, "has no value");
        return NULL;
    }
    Tcl_DStringFree(&sourcePtr->value);
    Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), value, -1,
                             &sourcePtr->value);
    if ((int) strlen(sourcePtr->value.string) < sourcePtr->value.length) {
        Refuse(sourcePtr, "contains a NUL character");
        return NULL;
    }
    return sourcePtr->value.string;
}

static void
Refuse(const Source *sourcePtr, const char *why)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, "variable '", sourcePtr->name.string, "' ", why,
                        NULL);
    Ns_DbSetException(sourcePtr->handle, "NSDB", ds.string);
    Ns_DStringFree(&ds);
}

static int
Finish(Tcl_Interp *interp, Ns_DbHandle *handle, const char *command, int kind)
{
    bool wantsRows = !STREQ(command, "dml") && !STREQ(command, "exec");
    int  result = TCL_ERROR;

    Tcl_ResetResult(interp);
    if (kind == NS_ROWS && STREQ(command, "dml")) {
        (void) Ns_DbFlush(handle);
        Ns_DbSetException(handle, "NSDB",
                          "Query was not a DML or DDL command.");
        kind = NS_ERROR;
    } else if (kind == NS_DML && wantsRows) {
        Ns_DbSetException(handle, "NSDB",
                          "Query was not a statement returning rows.");
        kind = NS_ERROR;
    }
    if (kind == NS_DML || kind == NS_ROWS) {
        if (STREQ(command, "exec")) {
            Ns_TclPrintfResult(interp, kind == NS_DML ? "NS_DML" : "NS_ROWS");
            result = TCL_OK;
        } else if (!wantsRows) {
            result = TCL_OK;
        } else if (Ns_DbBindRow(handle) == NULL) {
            result = TCL_ERROR;
        } else if (STREQ(command, "select")) {
            return DbInterpEnterRow(interp, DbHandleOf(handle));
        } else if (STREQ(command, "rows")) {
            result = AllRows(interp, handle);
        } else {
            result = OneRow(interp, handle, STREQ(command, "0or1row"));
        }
    }
    return result == TCL_OK ? TCL_OK : DbFail(interp, handle, command);
}

static int
OneRow(Tcl_Interp *interp, Ns_DbHandle *handle, bool mayBeNone)
{
    int     nRows;
    Ns_Set *row = DbOnlyRow(handle, handle->row, &nRows);

    if (row != NULL && nRows == 0) {
        Ns_SetFree(row);
        if (!mayBeNone) {
            Ns_DbSetException(handle, "NSINT", "Query did not return a row.");
        }
        return mayBeNone ? TCL_OK : TCL_ERROR;
    }
    return row == NULL ? TCL_ERROR
                       : Ns_TclEnterSet(interp, row, NS_TCL_SET_DYNAMIC);
}

/*
 * Return the rows as a list of dictionaries.
 */
static int
AllRows(Tcl_Interp *interp, Ns_DbHandle *handle)
{
    Tcl_Obj *listObj = Tcl_NewListObj(0, NULL);
    int      status;

    while ((status = Ns_DbGetRow(handle, handle->row)) == NS_OK) {
        Tcl_Obj *dictObj = Tcl_NewDictObj();

        for (int i = 0; i < (int) Ns_SetSize(handle->row); i++) {
            const char *value = Ns_SetValue(handle->row, i);
            Tcl_Obj *keyObj = Tcl_NewStringObj(Ns_SetKey(handle->row, i), -1);

            /* Columns with the same name must not free the key. */
            Tcl_IncrRefCount(keyObj);
            Tcl_DictObjPut(NULL, dictObj, keyObj,
                           Tcl_NewStringObj(value == NULL ? "" : value, -1));
            Tcl_DecrRefCount(keyObj);
        }
        Tcl_ListObjAppendElement(NULL, listObj, dictObj);
    }
    if (status != NS_END_DATA) {
        Tcl_DecrRefCount(listObj);
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, listObj);
    return TCL_OK;
}

static void
Explain(Tcl_Interp *interp, const Ns_DbHandle *handle, const char *sql)
{
    Tcl_AppendResult(interp, "\n\n", handle->dsExceptionMsg.string, NULL);
    if (handle->verbose) {
        Tcl_AppendResult(interp, "\n\nSQL: ", sql, NULL);
    }
}
