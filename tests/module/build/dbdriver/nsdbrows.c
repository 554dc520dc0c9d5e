/* SPDX-License-Identifier: MPL-2.0
 * nsdbrows.c --
 *
 *      A database driver without a database.  Its statements are:
 *
 *      rows N      N rows, of the columns `n` and `empty`
 *      dml         no rows
 *      dirty       as a transaction: the next reset fails, that after it works
 *      spoilt      no reset works any more
 *      lose        the connection is gone
 *      fail        an exception
 *      FAIL N      the Nth row from now cannot be read
 *
 *      A driver whose name begins with `old` has no procedure Exec.
 */

#include "nsdb.h"

NS_EXPORT int Ns_ModuleVersion = 1;

typedef struct Session {
    int  nLeft;   /* Rows; -1: no statement has any. */
    int  nToFail; /* Row that fails; 0: none. */
    int  nDirty;  /* Resets that will fail. */
    char procedure[20];
} Session;

static const char *dbName = "Rows";

static char *
Name(Ns_DbHandle *handle)
{
    return (char *) dbName;
}

static int
ServerInit(char *server, char *module, char *driver)
{
    Ns_Log(Notice, "nsdbrows: server %s module %s driver %s", server, module,
           driver);
    return NS_OK;
}

/*
 * Run a statement before it is done, as some do to set a date style.
 */
static int
Open(Ns_DbHandle *handle)
{
    Session *sessionPtr;

    if (handle->connection != NULL || handle->context != NULL
        || handle->statement != NULL || handle->fetchingRows) {
        return NS_ERROR;
    }
    if (strcmp(handle->datasource, "closed") == 0) {
        return NS_ERROR;
    }
    sessionPtr = ns_calloc(1, sizeof(*sessionPtr));
    sessionPtr->nLeft = -1;
    handle->connection = sessionPtr;
    return Ns_DbDML(handle, (char *) "dml");
}

static int
Close(Ns_DbHandle *handle)
{
    ns_free(handle->connection);
    handle->connection = NULL;
    return NS_OK;
}

static int
Exec(Ns_DbHandle *handle, char *sql)
{
    Session *sessionPtr = handle->connection;
    int      n;

    sessionPtr->nLeft = -1;
    if (sscanf(sql, "rows %d", &n) == 1) {
        sessionPtr->nLeft = n;
        return NS_ROWS;
    }
    if (strcmp(sql, "dml") == 0) {
        return NS_DML;
    }
    if (strcmp(sql, "dirty") == 0 || strcmp(sql, "spoilt") == 0) {
        sessionPtr->nDirty = *sql == 'd' ? 1 : 1000;
        return NS_DML;
    }
    if (sscanf(sql, "FAIL %d", &n) == 1) {
        sessionPtr->nToFail = n;
        return NS_DML;
    }
    if (strcmp(sql, "lose") == 0) {
        Close(handle);
        handle->connected = NS_FALSE;
    }
    /* As drivers of old do it. */
    sprintf(handle->cExceptionCode, "%d", 12345);
    Tcl_DStringFree(&handle->dsExceptionMsg);
    Tcl_DStringAppend(&handle->dsExceptionMsg, "it failed", -1);
    return NS_ERROR;
}

static Ns_Set *
BindRow(Ns_DbHandle *handle)
{
    const Session *sessionPtr = handle->connection;

    if (sessionPtr->nLeft < 0) {
        return NULL;
    }
    Ns_SetPut(handle->row, "n", NULL);
    Ns_SetPut(handle->row, "empty", NULL);
    return handle->row;
}

static int
Dml(Ns_DbHandle *handle, char *sql)
{
    return Exec(handle, sql) == NS_DML ? NS_OK : NS_ERROR;
}

static Ns_Set *
Select(Ns_DbHandle *handle, char *sql)
{
    return Exec(handle, sql) == NS_ROWS ? BindRow(handle) : NULL;
}

static int
GetRow(Ns_DbHandle *handle, Ns_Set *row)
{
    Session *sessionPtr = handle->connection;
    char     number[20];

    if (sessionPtr->nLeft < 0
        || (sessionPtr->nToFail > 0 && --sessionPtr->nToFail == 0)) {
        Ns_DbSetException(handle, "ROW", "no row");
        return NS_ERROR;
    }
    if (sessionPtr->nLeft == 0) {
        sessionPtr->nLeft = -1;
        return NS_END_DATA;
    }
    sprintf(number, "%d", sessionPtr->nLeft--);
    Ns_SetPutValue(row, 0, number);
    Ns_SetPutValue(row, 1, NULL);
    return NS_OK;
}

static int
Flush(Ns_DbHandle *handle)
{
    Session *sessionPtr = handle->connection;

    sessionPtr->nLeft = -1;
    return NS_OK;
}

static int
Reset(Ns_DbHandle *handle)
{
    Session *sessionPtr = handle->connection;

    return sessionPtr->nDirty > 0 && sessionPtr->nDirty-- > 0
        ? NS_ERROR
        : NS_OK;
}

static int
TableList(Ns_DbHandle *handle)
{
    return NS_ERROR;
}

static int
SpStart(Ns_DbHandle *handle, char *name)
{
    Session *sessionPtr = handle->connection;

    snprintf(sessionPtr->procedure, sizeof(sessionPtr->procedure), "%s", name);
    return NS_OK;
}

static int
SpSetParam(Ns_DbHandle *handle, char *parameter)
{
    Ns_Log(Notice, "nsdbrows: parameter %s", parameter);
    return NS_OK;
}

static int
SpExec(Ns_DbHandle *handle)
{
    return NS_DML;
}

static int
SpReturnCode(Ns_DbHandle *handle, char *buffer, int bytes)
{
    const Session *sessionPtr = handle->connection;

    snprintf(buffer, (size_t) bytes, "%s", sessionPtr->procedure);
    return NS_OK;
}

static Ns_Set *
SpGetParams(Ns_DbHandle *handle)
{
    Ns_SetPut(handle->row, "out", "1");
    return handle->row;
}

static Ns_DbProc procs[] = {
    {DbFn_Name, (ns_funcptr_t) Name},
    {DbFn_DbType, (ns_funcptr_t) Name},
    {DbFn_ServerInit, (ns_funcptr_t) ServerInit},
    {DbFn_OpenDb, (ns_funcptr_t) Open},
    {DbFn_CloseDb, (ns_funcptr_t) Close},
    {DbFn_GetRow, (ns_funcptr_t) GetRow},
    {DbFn_Flush, (ns_funcptr_t) Flush},
    {DbFn_Cancel, (ns_funcptr_t) Flush},
    {DbFn_ResetHandle, (ns_funcptr_t) Reset},
    {DbFn_SpStart, (ns_funcptr_t) SpStart},
    {DbFn_SpSetParam, (ns_funcptr_t) SpSetParam},
    {DbFn_SpExec, (ns_funcptr_t) SpExec},
    {DbFn_SpReturnCode, (ns_funcptr_t) SpReturnCode},
    {DbFn_SpGetParams, (ns_funcptr_t) SpGetParams},
    {DbFn_TableList, (ns_funcptr_t) TableList},
    {DbFn_Exec, (ns_funcptr_t) Exec},
    {DbFn_BindRow, (ns_funcptr_t) BindRow},
    {(Ns_DbProcId) 0, NULL}};

int
Ns_DbDriverInit(const char *driver, const char *configSection)
{
    if (strncmp(driver, "old", 3) == 0) {
        procs[15] = (Ns_DbProc){DbFn_DML, (ns_funcptr_t) Dml};
        procs[16] = (Ns_DbProc){DbFn_Select, (ns_funcptr_t) Select};
    }
    if (Ns_DbRegisterDriver("stranger", procs) == NS_OK
        || Ns_DbRegisterDriver(driver, procs) != NS_OK) {
        return NS_ERROR;
    }
    /* A second time is refused. */
    return Ns_DbRegisterDriver(driver, procs) == NS_OK ? NS_ERROR : NS_OK;
}
