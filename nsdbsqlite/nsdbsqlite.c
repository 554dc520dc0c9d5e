/* SPDX-License-Identifier: MPL-2.0
 * nsdbsqlite.c --
 *
 *      Database driver for SQLite.
 *
 *      A connection keeps the prepared statements that were used last.  One of
 *      them may be running: its rows are fetched one at a time.
 *
 *      SQLite calls us back when another connection has the lock that it needs,
 *      and from time to time while a statement runs.  There a request says that
 *      it waits.  Since it must not when scripts run, each call of SQLite that
 *      may take long is followed by EndWait.  Waits for the disk are noted
 *      where they are (disk.h).
 */

#include "nsdb.h"

#include <sqlite3.h>

#include "disk.h"

NS_EXPORT int Ns_ModuleVersion = 1;

#define NAME "SQLite"

#define AT_ONCE_MS     2    /* A longer wait is worth the note of its stack. */
#define PROGRESS_STEPS 1000 /* Of SQLite's machine: some 20 microseconds. */
#define MAX_PAUSE_MS   50   /* Between two tries to get a lock. */

typedef struct Statement {
    char         *sql;
    sqlite3_stmt *stmt; /* NULL: the entry is free. */
    uint64_t      usedAt;
} Statement;

typedef struct Connection {
    sqlite3      *db;
    Statement    *kept; /* As many as the driver keeps. */
    uint64_t      nUses;
    sqlite3_stmt *running; /* NULL: none. */
    bool          isKept;  /* The running one is a kept one. */
    bool          hasRow;  /* Its next row is not fetched yet. */
    int           rowCount;

    /* During a call of SQLite. */
    int64_t     busySinceMs; /* Since when it waits for a lock. */
    int64_t     runsSinceMs; /* Since when a statement runs; 0: not known. */
    const char *waitsFor;    /* NULL: no wait is noted. */

    /* While a statement with variables runs. */
    Ns_DbValueProc *valueProc;
    void           *valueArg;
} Connection;

/*
 * One for each driver name; constant once started.
 */
typedef struct Config {
    int         nKept;
    int         busyMs;
    const char *journal;
    bool        hasForeignKeys;
    const char *vfs; /* NULL: SQLite's own. */
} Config;

/*
 * Identifies our handles by its address.
 */
static const char name[] = NAME;

/*
 * What a request waits for.
 */
static const char lock[] = "a lock";
static const char statement[] = "a statement";

static const char *Name(Ns_DbHandle *handle);
static int         ServerInit(const char *server, const char *module,
                              const char *driver);
static int         Open(Ns_DbHandle *handle);
static int         Close(Ns_DbHandle *handle);
static int         Exec(Ns_DbHandle *handle, const char *sql);
static Ns_Set     *BindRow(Ns_DbHandle *handle);
static int         GetRow(Ns_DbHandle *handle, Ns_Set *row);
static int         GetRowCount(Ns_DbHandle *handle);
static int         Flush(Ns_DbHandle *handle);
static int         Reset(Ns_DbHandle *handle);
static Tcl_Obj    *Version(Ns_DbHandle *handle);

static Ns_TclTraceProc   AddCommands;
static Tcl_ObjCmdProc    SqliteObjCmd;
static Tcl_ObjCmdProc    BindObjCmd;
static Ns_DbBindExecProc ExecWithValues;

static int     SetCallbacks(Ns_DbHandle *handle);
static int     AwaitLock(void *arg, int nTries);
static int     NoteProgress(void *arg);
static void    NoteWait(Ns_DbHandle *handle, const char *what);
static void    EndWait(Ns_DbHandle *handle);
static int64_t NowMs(void);

static int Pragma(Ns_DbHandle *handle, const char *key, const char *value);
static int Execute(Ns_DbHandle *handle, const char *sql);
static int Step(Ns_DbHandle *handle, sqlite3_stmt *stmt);
static int Run(Ns_DbHandle *handle, const char *sql, const char **tailPtr);
static sqlite3_stmt *Prepare(Ns_DbHandle *handle, const char *sql,
                             const char **tailPtr);
static sqlite3_stmt *FindKept(Ns_DbHandle *handle, const char *sql);
static bool Keep(Ns_DbHandle *handle, const char *sql, sqlite3_stmt *stmt);
static bool BindValues(Ns_DbHandle *handle, sqlite3_stmt *stmt);
static int  BindValue(sqlite3_stmt *stmt, int i, const char *value);
static int  Start(Ns_DbHandle *handle, sqlite3_stmt *stmt);
static void Stop(Ns_DbHandle *handle);
static int  Fail(Ns_DbHandle *handle);
static bool IsBlank(const char *sql);

static const Ns_DbProc procs[] = {
    {DbFn_Name, (ns_funcptr_t) Name},
    {DbFn_DbType, (ns_funcptr_t) Name},
    {DbFn_ServerInit, (ns_funcptr_t) ServerInit},
    {DbFn_OpenDb, (ns_funcptr_t) Open},
    {DbFn_CloseDb, (ns_funcptr_t) Close},
    {DbFn_Exec, (ns_funcptr_t) Exec},
    {DbFn_BindRow, (ns_funcptr_t) BindRow},
    {DbFn_GetRow, (ns_funcptr_t) GetRow},
    {DbFn_GetRowCount, (ns_funcptr_t) GetRowCount},
    {DbFn_Flush, (ns_funcptr_t) Flush},
    {DbFn_Cancel, (ns_funcptr_t) Flush},
    {DbFn_ResetHandle, (ns_funcptr_t) Reset},
    {DbFn_Version, (ns_funcptr_t) Version},
    {DbFn_End, NULL}};

int
Ns_DbDriverInit(const char *driver, const char *configSection)
{
    Config *configPtr = ns_calloc(1u, sizeof(*configPtr));
    Ns_Time busy;

    configPtr->nKept = Ns_ConfigIntRange(configSection, "cachedstatements", 32,
                                         0, 1000);
    Ns_ConfigTimeUnitRange(configSection, "busytimeout", "5s", 0, 0, 86400, 0,
                           &busy);
    configPtr->busyMs = (int) (busy.sec * 1000 + busy.usec / 1000);
    configPtr->journal = Ns_ConfigString(configSection, "journalmode", "wal");
    configPtr->hasForeignKeys =
        Ns_ConfigBool(configSection, "foreignkeys", NS_TRUE) != 0;
    configPtr->vfs = DiskVfs();
    return Ns_DbRegisterDriverData(driver, procs, configPtr);
}

static const char *
Name(Ns_DbHandle *handle)
{
    return name;
}

static int
ServerInit(const char *server, const char *module, const char *driver)
{
    return Ns_TclRegisterTrace(server, AddCommands, NULL, NS_TCL_TRACE_CREATE);
}

static Tcl_Obj *
Version(Ns_DbHandle *handle)
{
    Tcl_Obj *dictObj = Tcl_NewDictObj();

    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("serverversion", -1),
                   Tcl_NewStringObj(sqlite3_libversion(), -1));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("clientversion", -1),
                   Tcl_NewStringObj(SQLITE_VERSION, -1));
    return dictObj;
}

/* ---- Connections ---- */

/*
 * The connection needs none of SQLite's locks: it is used by one thread at a
 * time.
 */
static int
Open(Ns_DbHandle *handle)
{
    const Config *configPtr = Ns_DbDriverData(handle);
    Connection   *connPtr = ns_calloc(1u, sizeof(*connPtr));

    handle->connection = connPtr;
    connPtr->kept = ns_calloc((size_t) configPtr->nKept + 1,
                              sizeof(*connPtr->kept));
    if (sqlite3_open_v2(handle->datasource, &connPtr->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                            | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                        configPtr->vfs)
            == SQLITE_OK
        && SetCallbacks(handle) == SQLITE_OK
        && Pragma(handle, "foreign_keys",
                  configPtr->hasForeignKeys ? "on" : "off")
            == SQLITE_OK
        && Pragma(handle, "journal_mode", configPtr->journal) == SQLITE_OK) {
        return NS_OK;
    }
    Ns_Log(Error, "nsdbsqlite[%s]: cannot open '%s': %s", handle->poolname,
           handle->datasource,
           connPtr->db == NULL ? "no memory" : sqlite3_errmsg(connPtr->db));
    (void) Close(handle);
    return NS_ERROR;
}

/*
 * An empty value leaves the setting unchanged.
 */
static int
Pragma(Ns_DbHandle *handle, const char *key, const char *value)
{
    char *sql;
    int   code;

    if (*value == '\0') {
        return SQLITE_OK;
    }
    sql = sqlite3_mprintf("PRAGMA %s = %Q", key, value);
    code = Execute(handle, sql);
    sqlite3_free(sql);
    return code;
}

static int
Execute(Ns_DbHandle *handle, const char *sql)
{
    Connection *connPtr = handle->connection;
    int         code = sqlite3_exec(connPtr->db, sql, NULL, NULL, NULL);

    EndWait(handle);
    return code;
}

static int
Close(Ns_DbHandle *handle)
{
    const Config *configPtr = Ns_DbDriverData(handle);
    Connection   *connPtr = handle->connection;

    if (connPtr == NULL) {
        return NS_OK;
    }
    Stop(handle);
    for (int i = 0; i < configPtr->nKept; i++) {
        (void) sqlite3_finalize(connPtr->kept[i].stmt);
        ns_free(connPtr->kept[i].sql);
    }
    (void) sqlite3_close(connPtr->db);
    EndWait(handle);
    ns_free(connPtr->kept);
    ns_free(connPtr);
    handle->connection = NULL;
    return NS_OK;
}

static int
Reset(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    Stop(handle);
    if (!sqlite3_get_autocommit(connPtr->db)) {
        (void) Execute(handle, "ROLLBACK");
    }
    return sqlite3_get_autocommit(connPtr->db) ? NS_OK : NS_ERROR;
}

/* ---- Waits ---- */

static int
SetCallbacks(Ns_DbHandle *handle)
{
    Connection   *connPtr = handle->connection;
    const Config *configPtr = Ns_DbDriverData(handle);

    sqlite3_progress_handler(connPtr->db, PROGRESS_STEPS, NoteProgress, handle);
    return configPtr->busyMs == 0
        ? SQLITE_OK
        : sqlite3_busy_handler(connPtr->db, AwaitLock, handle);
}

/*
 * Another connection has the lock.  0: enough waited.
 */
static int
AwaitLock(void *arg, int nTries)
{
    Ns_DbHandle  *handle = arg;
    Connection   *connPtr = handle->connection;
    const Config *configPtr = Ns_DbDriverData(handle);
    int64_t       now = NowMs(), leftMs;

    if (nTries == 0) {
        connPtr->busySinceMs = now;
    }
    leftMs = connPtr->busySinceMs + configPtr->busyMs - now;
    if (leftMs <= 0) {
        return 0;
    }
    if (now - connPtr->busySinceMs >= AT_ONCE_MS) {
        NoteWait(handle, lock);
    }
    (void) sqlite3_sleep((int) MIN(leftMs, MIN(1 + nTries, MAX_PAUSE_MS)));
    return 1;
}

/*
 * A statement runs.  Short ones do not get here, or once.
 */
static int
NoteProgress(void *arg)
{
    Ns_DbHandle *handle = arg;
    Connection  *connPtr = handle->connection;

    if (connPtr->waitsFor != statement) {
        int64_t now = NowMs();

        if (connPtr->runsSinceMs == 0) {
            connPtr->runsSinceMs = now;
        } else if (now - connPtr->runsSinceMs >= AT_ONCE_MS) {
            NoteWait(handle, statement);
        }
    }
    return 0;
}

static void
NoteWait(Ns_DbHandle *handle, const char *what)
{
    Connection *connPtr = handle->connection;
    char        text[200];

    if (connPtr->waitsFor == what) {
        return;
    }
    if (connPtr->waitsFor != NULL) {
        Ns_TclWaitEnd();
    }
    snprintf(text, sizeof(text),
             "nsdbsqlite: waits for %s in the database of pool %s", what,
             handle->poolname);
    connPtr->waitsFor = what;
    Ns_TclWaitBegin(text);
}

/*
 * SQLite has returned.
 */
static void
EndWait(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    connPtr->runsSinceMs = 0;
    if (connPtr->waitsFor != NULL) {
        connPtr->waitsFor = NULL;
        Ns_TclWaitEnd();
    }
}

static int64_t
NowMs(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- Statements ---- */

/*
 * If a text has several statements, the result is the rows of the last one.
 */
static int
Exec(Ns_DbHandle *handle, const char *sql)
{
    Connection *connPtr = handle->connection;
    const char *tail = sql;
    int         kind = NS_DML;

    connPtr->rowCount = 0;
    do {
        Stop(handle);
        kind = Run(handle, tail, &tail);
    } while (kind != NS_ERROR && !IsBlank(tail));
    handle->fetchingRows = kind == NS_ROWS;
    return kind;
}

static int
Run(Ns_DbHandle *handle, const char *sql, const char **tailPtr)
{
    Connection   *connPtr = handle->connection;
    sqlite3_stmt *stmt = Prepare(handle, sql, tailPtr);

    if (connPtr->running == NULL) {
        /* It failed, or has only blanks and comments. */
        return stmt == NULL && sqlite3_errcode(connPtr->db) == SQLITE_OK
            ? NS_DML
            : Fail(handle);
    }
    if (!BindValues(handle, stmt)) {
        Stop(handle);
        return NS_ERROR;
    }
    return Start(handle, stmt);
}

/*
 * The statement then is the running one.
 */
static sqlite3_stmt *
Prepare(Ns_DbHandle *handle, const char *sql, const char **tailPtr)
{
    Connection   *connPtr = handle->connection;
    sqlite3_stmt *stmt = FindKept(handle, sql);

    connPtr->isKept = stmt != NULL;
    if (stmt != NULL) {
        *tailPtr = sql + strlen(sql);
    } else {
        int code = sqlite3_prepare_v3(connPtr->db, sql, -1,
                                      SQLITE_PREPARE_PERSISTENT, &stmt,
                                      tailPtr);

        EndWait(handle); /* It may have read the tables' definitions. */
        if (code == SQLITE_OK && stmt != NULL && IsBlank(*tailPtr)) {
            connPtr->isKept = Keep(handle, sql, stmt);
        }
    }
    connPtr->running = stmt;
    return stmt;
}

static sqlite3_stmt *
FindKept(Ns_DbHandle *handle, const char *sql)
{
    Connection *connPtr = handle->connection;
    int         nKept = ((const Config *) Ns_DbDriverData(handle))->nKept;

    for (int i = 0; i < nKept; i++) {
        Statement *keptPtr = &connPtr->kept[i];

        if (keptPtr->stmt != NULL && STREQ(keptPtr->sql, sql)) {
            keptPtr->usedAt = ++connPtr->nUses;
            return keptPtr->stmt;
        }
    }
    return NULL;
}

/*
 * Replace the statement that was not used for the longest time.
 */
static bool
Keep(Ns_DbHandle *handle, const char *sql, sqlite3_stmt *stmt)
{
    Connection *connPtr = handle->connection;
    Statement  *oldestPtr = connPtr->kept;
    int         nKept = ((const Config *) Ns_DbDriverData(handle))->nKept;

    for (int i = 1; i < nKept; i++) {
        if (connPtr->kept[i].usedAt < oldestPtr->usedAt) {
            oldestPtr = &connPtr->kept[i];
        }
    }
    if (nKept > 0) {
        (void) sqlite3_finalize(oldestPtr->stmt);
        ns_free(oldestPtr->sql);
        *oldestPtr = (Statement){
            .sql = ns_strdup(sql), .stmt = stmt, .usedAt = ++connPtr->nUses};
    }
    return nKept > 0;
}

static bool
BindValues(Ns_DbHandle *handle, sqlite3_stmt *stmt)
{
    Connection *connPtr = handle->connection;
    int         n = sqlite3_bind_parameter_count(stmt);

    for (int i = 1; i <= n; i++) {
        const char *variable = sqlite3_bind_parameter_name(stmt, i);
        const char *value;

        if (variable == NULL || connPtr->valueProc == NULL) {
            Ns_DbSetException(handle, "NSDB",
                              connPtr->valueProc == NULL
                                  ? "variables are for ns_sqlite_bind"
                                  : "a variable has no name");
            return false;
        }
        value = connPtr->valueProc(connPtr->valueArg, variable + 1,
                                   strlen(variable + 1));
        if (value == NULL) {
            return false;
        }
        if (BindValue(stmt, i, value) != SQLITE_OK) {
            (void) Fail(handle);
            return false;
        }
    }
    return true;
}

/*
 * SQLite never equates the text '10' with the number 10 where a column does not
 * say which one it is.  So a value that looks like a number, in the form in
 * which SQLite writes it, is bound as a number.  In a text column it becomes
 * the same text again.
 */
static int
BindValue(sqlite3_stmt *stmt, int i, const char *value)
{
    char      text[64], *end;
    long long number;
    double    real;

    if (*value == '\0') {
        return sqlite3_bind_null(stmt, i);
    }
    if ((*value == '-' || isdigit(UCHAR(*value))) && strlen(value) < 25) {
        errno = 0;
        number = strtoll(value, &end, 10);
        (void) snprintf(text, sizeof(text), "%lld", number);
        if (errno == 0 && STREQ(text, value)) {
            return sqlite3_bind_int64(stmt, i, number);
        }
        real = strtod(value, &end);
        (void) sqlite3_snprintf(sizeof(text), text, "%!.15g", real);
        if (*end == '\0' && STREQ(text, value)) {
            return sqlite3_bind_double(stmt, i, real);
        }
    }
    return sqlite3_bind_text(stmt, i, value, -1, SQLITE_TRANSIENT);
}

/*
 * Errors show up at the first step.
 */
static int
Start(Ns_DbHandle *handle, sqlite3_stmt *stmt)
{
    Connection *connPtr = handle->connection;
    int         code = Step(handle, stmt);

    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        (void) Fail(handle);
        Stop(handle);
        return NS_ERROR;
    }
    if (!sqlite3_stmt_readonly(stmt)) {
        connPtr->rowCount = sqlite3_changes(connPtr->db);
    }
    if (sqlite3_column_count(stmt) == 0) {
        Stop(handle);
        return NS_DML;
    }
    connPtr->hasRow = code == SQLITE_ROW;
    if (code == SQLITE_DONE) {
        /* Another step would start it again. */
        (void) sqlite3_reset(stmt);
    }
    return NS_ROWS;
}

static int
Step(Ns_DbHandle *handle, sqlite3_stmt *stmt)
{
    int code = sqlite3_step(stmt);

    EndWait(handle);
    return code;
}

static Ns_Set *
BindRow(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    if (connPtr->running == NULL) {
        return NULL;
    }
    for (int i = 0; i < sqlite3_column_count(connPtr->running); i++) {
        (void) Ns_SetPut(handle->row, sqlite3_column_name(connPtr->running, i),
                         NULL);
    }
    return handle->row;
}

static int
GetRow(Ns_DbHandle *handle, Ns_Set *row)
{
    Connection   *connPtr = handle->connection;
    sqlite3_stmt *stmt = connPtr->running;
    int           n = stmt == NULL ? 0 : sqlite3_column_count(stmt), code;

    if (stmt == NULL || n != (int) Ns_SetSize(row)) {
        Ns_DbSetException(handle, "NSDB",
                          stmt == NULL ? "no rows are waiting"
                                       : "the set has another number of fields "
                                         "than the rows");
        return NS_ERROR;
    }
    if (!connPtr->hasRow) {
        Stop(handle);
        return NS_END_DATA;
    }
    for (int i = 0; i < n; i++) {
        Ns_SetPutValue(row, i, (const char *) sqlite3_column_text(stmt, i));
    }
    if (sqlite3_stmt_readonly(stmt)) {
        connPtr->rowCount++;
    }
    code = Step(handle, stmt);
    connPtr->hasRow = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        (void) Fail(handle);
        Stop(handle);
        return NS_ERROR;
    }
    return NS_OK;
}

static int
GetRowCount(Ns_DbHandle *handle)
{
    const Connection *connPtr = handle->connection;

    return connPtr->rowCount;
}

static int
Flush(Ns_DbHandle *handle)
{
    Stop(handle);
    return NS_OK;
}

/*
 * Afterwards no statement runs and its locks are released.
 */
static void
Stop(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    if (connPtr->running != NULL) {
        (void) sqlite3_reset(connPtr->running); /* It may write what it has. */
        EndWait(handle);
        (void) sqlite3_clear_bindings(connPtr->running);
        if (!connPtr->isKept) {
            (void) sqlite3_finalize(connPtr->running);
        }
    }
    connPtr->running = NULL;
    connPtr->hasRow = false;
    handle->fetchingRows = false;
}

static int
Fail(Ns_DbHandle *handle)
{
    const Connection *connPtr = handle->connection;
    char              code[16];

    (void) snprintf(code, sizeof(code), "%d",
                    sqlite3_extended_errcode(connPtr->db));
    Ns_DbSetException(handle, code, sqlite3_errmsg(connPtr->db));
    return NS_ERROR;
}

/*
 * Whether only comments are left after a statement.
 */
static bool
IsBlank(const char *sql)
{
    for (;;) {
        sql += strspn(sql, " \t\r\n;");
        if (sql[0] == '-' && sql[1] == '-') {
            sql += strcspn(sql, "\n");
        } else if (sql[0] == '/' && sql[1] == '*') {
            const char *end = strstr(sql + 2, "*/");

            sql = end == NULL ? sql + strlen(sql) : end + 2;
        } else {
            return *sql == '\0';
        }
    }
}

/* ---- Commands ---- */

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    (void) Tcl_CreateObjCommand(interp, "ns_sqlite", SqliteObjCmd, NULL, NULL);
    (void) Tcl_CreateObjCommand(interp, "ns_sqlite_bind", BindObjCmd, NULL,
                                NULL);
    return TCL_OK;
}

static int
SqliteObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    static const char *const words[] = {"lastrowid", "totalchanges", NULL};
    enum { LASTROWID, TOTALCHANGES };
    Ns_DbHandle      *handle;
    const Connection *connPtr;
    int               n;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "lastrowid|totalchanges dbId");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], words, "option", 0, &n) != TCL_OK
        || Ns_TclDbGetDriverHandle(interp, Tcl_GetString(objv[2]), name,
                                   &handle)
            != TCL_OK) {
        return TCL_ERROR;
    }
    connPtr = handle->connection;
    Tcl_SetObjResult(interp,
                     Tcl_NewWideIntObj(
                         n == LASTROWID ? sqlite3_last_insert_rowid(connPtr->db)
                                        : sqlite3_total_changes(connPtr->db)));
    return TCL_OK;
}

static int
BindObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    return Ns_TclDbBindCmd(interp, objc, objv, ExecWithValues);
}

static int
ExecWithValues(Ns_DbHandle *handle, const char *sql, Ns_DbValueProc *valueProc,
               void *arg)
{
    Connection *connPtr = handle->connection;
    int         kind;

    if (Ns_DbDriverName(handle) != name) {
        Ns_DbSetException(handle, "NSDB", "not a handle of the driver " NAME);
        return NS_ERROR;
    }
    connPtr->valueProc = valueProc;
    connPtr->valueArg = arg;
    kind = Ns_DbExec(handle, sql);
    connPtr->valueProc = NULL;
    connPtr->valueArg = NULL;
    return kind;
}
