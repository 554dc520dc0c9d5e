/* SPDX-License-Identifier: MPL-2.0
 * driver.c --
 *
 *      Drivers: loading them, and calling their procedures.
 *
 *      Every statement passes through here, even those of a driver's own
 *      commands, so statements are counted and logged in one place.
 */

#include "dbint.h"

#define DRIVERS "ns/db/drivers"

struct DbDriver {
    DbDriver    *nextPtr;
    const char  *name;
    const char  *section; /* The driver may keep the pointer. */
    bool         isRegistered;
    void        *data; /* The driver's own. */
    ns_funcptr_t procs[DbFn_End];
    Tcl_DString  servers; /* Those that it was told about, as a list. */
};

typedef const char *NameProc(Ns_DbHandle *handle);
typedef int         ServerProc(const char *server, const char *module,
                               const char *driver);
typedef int         HandleProc(Ns_DbHandle *handle);
typedef int         TextProc(Ns_DbHandle *handle, const char *text);
typedef Ns_Set     *RowProc(Ns_DbHandle *handle);
typedef Ns_Set     *SelectProc(Ns_DbHandle *handle, const char *sql);
typedef int         GetRowProc(Ns_DbHandle *handle, Ns_Set *row);
typedef Tcl_Obj    *VersionProc(Ns_DbHandle *handle);
typedef int         BufferProc(Ns_DbHandle *handle, char *buffer, int bytes);

Ns_LogSeverity Ns_LogSqlDebug;

static DbDriver *firstPtr; /* Main thread; constant once started. */

static ns_funcptr_t ProcOf(const DbHandle *handlePtr, Ns_DbProcId id);
static ns_funcptr_t OpenProcOf(Ns_DbHandle *handle, Ns_DbProcId id);
static int          CallHandle(Ns_DbHandle *handle, Ns_DbProcId id);
static Ns_Set      *CallRow(Ns_DbHandle *handle, Ns_DbProcId id);
static const char  *PasswordKey(const char *source);
static void         Account(DbHandle *handlePtr, const char *sql, int64_t start,
                            bool isOk);

/*
 * Procedures that no driver needs any more.
 */
static const struct {
    Ns_DbProcId id;
    const char *name;
} unsupported[] = {{DbFn_GetTableInfo, "DbFn_GetTableInfo"},
                   {DbFn_TableList, "DbFn_TableList"},
                   {DbFn_BestRowId, "DbFn_BestRowId"},
                   {DbFn_End, "DbFn_End"}};

DbDriver *
DbDriverGet(const char *name)
{
    DbDriver   *driverPtr = firstPtr;
    const char *file;
    Ns_DString  section;

    while (driverPtr != NULL && !STREQ(driverPtr->name, name)) {
        driverPtr = driverPtr->nextPtr;
    }
    if (driverPtr != NULL) {
        return driverPtr->isRegistered ? driverPtr : NULL;
    }
    file = Ns_ConfigGetValue(DRIVERS, name);
    if (file == NULL) {
        Ns_Log(Error, "dbdrv: no such driver '%s'", name);
        return NULL;
    }
    driverPtr = ns_calloc(1u, sizeof(*driverPtr));
    driverPtr->name = ns_strdup(name);
    Tcl_DStringInit(&driverPtr->servers);
    driverPtr->nextPtr = firstPtr;
    firstPtr = driverPtr;

    Ns_DStringInit(&section);
    Ns_DStringVarAppend(&section, "ns/db/driver/", name, NULL);
    driverPtr->section = Ns_DStringExport(&section);
    if (Ns_ModuleLoad(NULL, driverPtr->name, driverPtr->section, file,
                      "Ns_DbDriverInit")
        != NS_OK) {
        Ns_Log(Error, "dbdrv: failed to load driver '%s'", name);
        driverPtr->isRegistered = false;
    }
    return driverPtr->isRegistered ? driverPtr : NULL;
}

int
Ns_DbRegisterDriver(const char *driver, const Ns_DbProc *procs)
{
    return Ns_DbRegisterDriverData(driver, procs, NULL);
}

int
Ns_DbRegisterDriverData(const char *driver, const Ns_DbProc *procs, void *data)
{
    DbDriver *driverPtr = firstPtr;

    while (driverPtr != NULL && !STREQ(driverPtr->name, driver)) {
        driverPtr = driverPtr->nextPtr;
    }
    if (driverPtr == NULL) {
        Ns_Log(Error, "dbdrv: no such driver '%s'", driver);
        return NS_ERROR;
    }
    if (driverPtr->isRegistered) {
        Ns_Log(Error, "dbdrv: a driver is already registered as '%s'", driver);
        return NS_ERROR;
    }
    for (; procs->func != NULL; procs++) {
        for (int i = 0; i < Ns_NrElements(unsupported); i++) {
            if (procs->id == unsupported[i].id) {
                Ns_Log(Warning, "dbdrv: unsupported function id '%s'",
                       unsupported[i].name);
            }
        }
        if ((int) procs->id >= 0 && procs->id < DbFn_End) {
            driverPtr->procs[procs->id] = procs->func;
        }
    }
    driverPtr->data = data;
    driverPtr->isRegistered = true;
    return NS_OK;
}

void *
Ns_DbDriverData(const Ns_DbHandle *handle)
{
    return DbHandleOf((Ns_DbHandle *) handle)->driverPtr->data;
}

void
DbDriverServer(DbDriver *driverPtr, const char *server)
{
    ServerProc  *proc = (ServerProc *) driverPtr->procs[DbFn_ServerInit];
    int          nServers;
    const char **servers;
    bool         isNew = true;

    if (Tcl_SplitList(NULL, driverPtr->servers.string, &nServers, &servers)
        == TCL_OK) {
        for (int i = 0; i < nServers; i++) {
            isNew = isNew && !STREQ(servers[i], server);
        }
        Tcl_Free((char *) servers);
    }
    if (!isNew) {
        return;
    }
    Tcl_DStringAppendElement(&driverPtr->servers, server);
    if (proc != NULL && proc(server, "db", driverPtr->name) != NS_OK) {
        Ns_Log(Warning, "dbdrv: init proc failed for driver '%s'",
               driverPtr->name);
    }
}

/*
 * A driver may run statements from within OpenDb, so the handle already counts
 * as connected during the call.
 */
bool
DbOpen(DbHandle *handlePtr)
{
    Ns_DbHandle *handle = &handlePtr->public;
    HandleProc  *proc = (HandleProc *) ProcOf(handlePtr, DbFn_OpenDb);
    Ns_DString   source;

    Ns_DStringInit(&source);
    DbAppendSource(&source, handle);
    Ns_Log(Notice, "dbdrv: opening database '%s'", source.string);
    handle->connected = true;
    if (proc == NULL || proc(handle) != NS_OK) {
        handle->connected = false;
        Ns_Log(Error, "dbdrv: failed to open database '%s'", source.string);
    }
    Ns_DStringFree(&source);
    return handle->connected;
}

void
DbClose(DbHandle *handlePtr)
{
    HandleProc *proc = (HandleProc *) ProcOf(handlePtr, DbFn_CloseDb);

    if (handlePtr->public.connected) {
        if (proc != NULL) {
            (void) proc(&handlePtr->public);
        }
        handlePtr->public.connected = false;
    }
    handlePtr->isActive = false;
}

/*
 * A driver may report that a rollback failed although it worked, so it is asked
 * twice.
 */
bool
DbReset(DbHandle *handlePtr)
{
    Ns_DbHandle *handle = &handlePtr->public;

    if (handle->connected) {
        (void) Ns_DbFlush(handle);
    }
    return handle->connected
        && (ProcOf(handlePtr, DbFn_ResetHandle) == NULL
            || Ns_DbResetHandle(handle) == NS_OK
            || (handle->connected && Ns_DbResetHandle(handle) == NS_OK));
}

char *
Ns_DbDriverName(Ns_DbHandle *handle)
{
    NameProc *proc = (NameProc *) ProcOf(DbHandleOf(handle), DbFn_Name);

    return proc == NULL ? NULL : (char *) proc(handle);
}

char *
Ns_DbDriverDbType(Ns_DbHandle *handle)
{
    NameProc *proc = (NameProc *) OpenProcOf(handle, DbFn_DbType);

    return proc == NULL ? NULL : (char *) proc(handle);
}

int
Ns_DbDML(Ns_DbHandle *handle, const char *sql)
{
    TextProc *proc;
    int       result;

    if (OpenProcOf(handle, DbFn_Exec) != NULL) {
        result = Ns_DbExec(handle, sql);
        if (result == NS_ROWS) {
            (void) Ns_DbFlush(handle);
            Ns_DbSetException(handle, "NSDB",
                              "Query was not a DML or DDL command.");
        }
        return result == NS_DML ? NS_OK : NS_ERROR;
    }
    proc = (TextProc *) OpenProcOf(handle, DbFn_DML);
    result = NS_ERROR;
    if (proc != NULL) {
        int64_t start = DbNow();

        result = proc(handle, sql);
        Account(DbHandleOf(handle), sql, start, result == NS_OK);
    }
    return result;
}

Ns_Set *
Ns_DbSelect(Ns_DbHandle *handle, const char *sql)
{
    DbHandle   *handlePtr = DbHandleOf(handle);
    SelectProc *proc;
    Ns_Set     *row = NULL;

    if (OpenProcOf(handle, DbFn_Exec) != NULL) {
        int result = Ns_DbExec(handle, sql);

        if (result == NS_ROWS) {
            return Ns_DbBindRow(handle);
        }
        if (result != NS_ERROR && handle->dsExceptionMsg.length == 0) {
            Ns_DbSetException(handle, "NSDB",
                              "Query was not a statement returning rows.");
        }
        return NULL;
    }
    proc = (SelectProc *) OpenProcOf(handle, DbFn_Select);
    if (proc != NULL) {
        int64_t start = DbNow();

        Ns_SetTrunc(handle->row, 0);
        row = proc(handle, sql);
        Account(handlePtr, sql, start, row != NULL);
        handlePtr->isActive = row != NULL;
    }
    return row;
}

int
Ns_DbExec(Ns_DbHandle *handle, const char *sql)
{
    TextProc *proc = (TextProc *) OpenProcOf(handle, DbFn_Exec);
    int       result = NS_ERROR;

    if (proc != NULL) {
        int64_t start = DbNow();

        result = proc(handle, sql);
        Account(DbHandleOf(handle), sql, start, result != NS_ERROR);
    }
    return result;
}

Ns_Set *
Ns_DbBindRow(Ns_DbHandle *handle)
{
    Ns_Set *row = CallRow(handle, DbFn_BindRow);

    DbHandleOf(handle)->isActive = row != NULL;
    return row;
}

int
Ns_DbGetRow(Ns_DbHandle *handle, Ns_Set *row)
{
    GetRowProc *proc = (GetRowProc *) OpenProcOf(handle, DbFn_GetRow);
    int         result = proc == NULL ? NS_ERROR : proc(handle, row);

    if (result != NS_OK) {
        DbHandleOf(handle)->isActive = false;
    }
    return result;
}

int
Ns_DbGetRowCount(Ns_DbHandle *handle)
{
    HandleProc *proc = (HandleProc *) OpenProcOf(handle, DbFn_GetRowCount);

    return proc == NULL ? -1 : proc(handle);
}

int
Ns_DbFlush(Ns_DbHandle *handle)
{
    DbHandleOf(handle)->isActive = false;
    return CallHandle(handle, DbFn_Flush);
}

int
Ns_DbCancel(Ns_DbHandle *handle)
{
    DbHandleOf(handle)->isActive = false;
    return CallHandle(handle, DbFn_Cancel);
}

int
Ns_DbResetHandle(Ns_DbHandle *handle)
{
    DbHandleOf(handle)->isActive = false;
    return CallHandle(handle, DbFn_ResetHandle);
}

int
Ns_DbSpStart(Ns_DbHandle *handle, const char *name)
{
    TextProc *proc = (TextProc *) OpenProcOf(handle, DbFn_SpStart);

    return proc == NULL ? NS_ERROR : proc(handle, name);
}

int
Ns_DbSpSetParam(Ns_DbHandle *handle, const char *name, const char *type,
                const char *direction, const char *value)
{
    TextProc  *proc = (TextProc *) OpenProcOf(handle, DbFn_SpSetParam);
    Ns_DString ds;
    int        result = NS_ERROR;

    if (proc != NULL) {
        Ns_DStringInit(&ds);
        Ns_DStringVarAppend(&ds, name, " ", type, " ", direction, " ", value,
                            NULL);
        result = proc(handle, ds.string);
        Ns_DStringFree(&ds);
    }
    return result;
}

int
Ns_DbSpExec(Ns_DbHandle *handle)
{
    return CallHandle(handle, DbFn_SpExec);
}

int
Ns_DbSpReturnCode(Ns_DbHandle *handle, char *buffer, int bytes)
{
    BufferProc *proc = (BufferProc *) OpenProcOf(handle, DbFn_SpReturnCode);

    return proc == NULL ? NS_ERROR : proc(handle, buffer, bytes);
}

Ns_Set *
Ns_DbSpGetParams(Ns_DbHandle *handle)
{
    return CallRow(handle, DbFn_SpGetParams);
}

Tcl_Obj *
Ns_DbDriverVersionInfo(Ns_DbHandle *handle)
{
    VersionProc *proc = (VersionProc *) OpenProcOf(handle, DbFn_Version);

    return proc == NULL ? NULL : proc(handle);
}

static ns_funcptr_t
ProcOf(const DbHandle *handlePtr, Ns_DbProcId id)
{
    return handlePtr->driverPtr->procs[id];
}

/*
 * The procedure, if the handle is connected.
 */
static ns_funcptr_t
OpenProcOf(Ns_DbHandle *handle, Ns_DbProcId id)
{
    return handle->connected ? ProcOf(DbHandleOf(handle), id) : NULL;
}

static int
CallHandle(Ns_DbHandle *handle, Ns_DbProcId id)
{
    HandleProc *proc = (HandleProc *) OpenProcOf(handle, id);

    return proc == NULL ? NS_ERROR : proc(handle);
}

static Ns_Set *
CallRow(Ns_DbHandle *handle, Ns_DbProcId id)
{
    RowProc *proc = (RowProc *) OpenProcOf(handle, id);

    if (proc == NULL) {
        return NULL;
    }
    Ns_SetTrunc(handle->row, 0);
    return proc(handle);
}

/*
 * Count and log a statement that was run.
 */
static void
Account(DbHandle *handlePtr, const char *sql, int64_t start, bool isOk)
{
    Ns_DbHandle *handle = &handlePtr->public;
    int64_t      micros = DbNow() - start;
    Ns_DString   ds;

    handlePtr->nStatements++;
    if (isOk) {
        handlePtr->sqlMicros += micros;
    }
    Ns_DStringInit(&ds);
    if (handle->dsExceptionMsg.length > 0) {
        if (DbPoolLogsErrors(handlePtr->poolPtr)) {
            DbAppendSource(&ds, handle);
            Ns_Log(Error, "dbinit: source %s msg '%s' SQL:\n%s",
                   ds.string + strlen(handle->driver) + 1,
                   handle->dsExceptionMsg.string, sql);
        }
    } else if (Ns_LogSeverityEnabled(Ns_LogSqlDebug)
               && micros >= DbPoolMinMicros(handlePtr->poolPtr)) {
        DbAppendMicros(&ds, micros);
        Ns_Log(Ns_LogSqlDebug, "pool %s duration %s secs: '%s'",
               handle->poolname, ds.string, sql);
    }
    Ns_DStringFree(&ds);
}

/*
 * A password may follow `password=`, or be between `:` and `@` in a URL, or
 * both.
 */
void
DbAppendSource(Ns_DString *dsPtr, const Ns_DbHandle *handle)
{
    const char *source = handle->datasource;
    const char *key = PasswordKey(source);
    const char *end = key != NULL ? key : source + strlen(source);
    const char *url = strstr(source, "://");
    const char *at = url == NULL ? NULL : strrchr(url, '@');
    const char *colon = at == NULL ? NULL : strchr(url + 3, ':');

    Ns_DStringVarAppend(dsPtr, handle->driver, ":", NULL);
    if (colon != NULL && colon < at && colon < end) {
        Ns_DStringNAppend(dsPtr, source, (int) (colon - source));
        Ns_DStringAppend(dsPtr, ":***");
        source = MIN(at, end);
    }
    Ns_DStringNAppend(dsPtr, source, (int) (end - source));
    if (key != NULL) {
        Ns_DStringAppend(dsPtr, "password=***");
    }
}

/*
 * The first word that is, or ends with, `password` and has a value.
 */
static const char *
PasswordKey(const char *source)
{
    static const char word[] = "password";

    while ((source = strcasestr(source, word)) != NULL) {
        const char *next = source + strlen(word);

        if (next[strspn(next, " \t\n\r")] == '=') {
            return source;
        }
        source = next;
    }
    return NULL;
}
