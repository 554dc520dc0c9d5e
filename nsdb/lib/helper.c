/* SPDX-License-Identifier: MPL-2.0
 * helper.c --
 *
 *      Exceptions, single rows, quoting, and files of statements.
 */

#include "dbint.h"
#include "sqltext.h"

static char *ReadFile(const char *file);

void
Ns_DbSetException(Ns_DbHandle *handle, const char *code, const char *message)
{
    snprintf(handle->cExceptionCode, sizeof(handle->cExceptionCode), "%s",
             code);
    Ns_DStringTrunc(&handle->dsExceptionMsg, 0);
    Ns_DStringAppend(&handle->dsExceptionMsg, message);
}

void
Ns_DbQuoteValue(Ns_DString *dsPtr, const char *string)
{
    for (; *string != '\0'; string++) {
        Ns_DStringNAppend(dsPtr, *string == '\'' ? "''" : string,
                          *string == '\'' ? 2 : 1);
    }
}

Ns_Set *
Ns_Db0or1Row(Ns_DbHandle *handle, const char *sql, int *nRowsPtr)
{
    return DbOnlyRow(handle, Ns_DbSelect(handle, sql), nRowsPtr);
}

Ns_Set *
Ns_Db1Row(Ns_DbHandle *handle, const char *sql)
{
    int     nRows;
    Ns_Set *row = Ns_Db0or1Row(handle, sql, &nRows);

    if (row != NULL && nRows == 0) {
        Ns_DbSetException(handle, "NSINT", "Query did not return a row.");
        Ns_SetFree(row);
        row = NULL;
    }
    return row;
}

Ns_Set *
DbOnlyRow(Ns_DbHandle *handle, Ns_Set *row, int *nRowsPtr)
{
    Ns_Set *copy;
    int     status;

    *nRowsPtr = 0;
    if (row == NULL) {
        return NULL;
    }
    status = Ns_DbGetRow(handle, row);
    if (status != NS_OK && status != NS_END_DATA) {
        return NULL;
    }
    copy = Ns_SetCopy(row);
    if (status == NS_OK) {
        *nRowsPtr = 1;
        status = Ns_DbGetRow(handle, row);
    }
    if (status == NS_OK) {
        (void) Ns_DbFlush(handle);
        Ns_DbSetException(handle, "NSINT", "Query returned more than one row.");
    }
    if (status != NS_END_DATA) {
        Ns_SetFree(copy);
        copy = NULL;
    }
    return copy;
}

int
Ns_DbInterpretSqlFile(Ns_DbHandle *handle, const char *file)
{
    char       *text = ReadFile(file);
    const char *rest = text;
    Ns_DString  ds;
    DbSqlStatus found = DB_SQL_STATEMENT;
    int         result = NS_OK;

    if (text == NULL) {
        Ns_DbSetException(handle, "NSINT", "Could not read file");
        return NS_ERROR;
    }
    Ns_DStringInit(&ds);
    while (result == NS_OK && found == DB_SQL_STATEMENT) {
        Ns_DStringTrunc(&ds, 0);
        found = DbSqlNext(&rest, &ds);
        if (found == DB_SQL_STATEMENT) {
            result = Ns_DbExec(handle, ds.string);
            if (result == NS_ROWS) {
                result = Ns_DbFlush(handle) == NS_OK ? NS_OK : NS_ERROR;
            } else if (result == NS_DML) {
                result = NS_OK;
            }
        } else if (found == DB_SQL_UNTERMINATED) {
            Ns_DbSetException(handle, "NSINT",
                              "File ends with unterminated SQL");
            result = NS_ERROR;
        }
    }
    Ns_DStringFree(&ds);
    ns_free(text);
    return result == NS_OK ? NS_OK : NS_ERROR;
}

/*
 * The whole content of a file.  NULL: it cannot be read to its end.
 */
static char *
ReadFile(const char *file)
{
    FILE  *stream = fopen(file, "re");
    char  *text = NULL;
    size_t length = 0, n;

    if (stream == NULL) {
        return NULL;
    }
    do {
        text = ns_realloc(text, length + 65536 + 1);
        n = fread(text + length, 1u, 65536u, stream);
        length += n;
    } while (n > 0);
    if (ferror(stream)) {
        ns_free(text);
        text = NULL;
    } else {
        text[length] = '\0';
    }
    (void) fclose(stream);
    return text;
}
