/* SPDX-License-Identifier: MPL-2.0
 * nsdbpg.c --
 *
 *      Database driver for PostgreSQL.
 *
 *      If the server has closed a connection, it is reopened before the next
 *      statement.  The exception is a connection inside a transaction: the
 *      transaction is lost, and the script must not continue as if it were not.
 *      A statement during which the connection broke is not repeated, because
 *      it may have been executed.
 */

#include "nsdb.h"

#include <libpq-fe.h>

NS_EXPORT int Ns_ModuleVersion = 1;

#define NAME       "PostgreSQL"
#define AT_ONCE_MS 2 /* A longer wait is worth the note of its stack. */

typedef struct Connection {
    PGconn   *pg;
    PGresult *resultPtr; /* Of the last statement; NULL: none. */
    int       row;       /* The next row of it. */
    int       rowCount;
    bool      isInTransaction; /* According to the server. */
    bool      isListening;
    bool      isEnding;         /* The server has announced it. */
    int64_t   transactionStart; /* Microseconds. */
    char      status[32];       /* Command status of the last statement. */
} Connection;

/*
 * One for each driver name; constant once started.
 */
typedef struct Config {
    const char *dateStyle;
    char        connectSeconds[24];
} Config;

/*
 * Identifies our handles by its address.
 */
static const char name[] = NAME;

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
static Tcl_ObjCmdProc    PgObjCmd;
static Tcl_ObjCmdProc    BindObjCmd;
static Ns_DbBindExecProc ExecWithValues;

static void      TakeNotice(void *arg, const PGresult *resultPtr);
static PGconn   *Connect(const Ns_DbHandle *handle);
static void      BeginWait(const Ns_DbHandle *handle, const char *what);
static bool      Prepare(Ns_DbHandle *handle, const Config *configPtr);
static bool      IsAlive(Connection *connPtr);
static bool      Revive(Ns_DbHandle *handle);
static PGresult *Run(const Ns_DbHandle *handle, const char *sql);
static int       TakeResult(Ns_DbHandle *handle, PGresult *resultPtr);
static int       Fail(Ns_DbHandle *handle, const PGresult *resultPtr);
static void      Lose(Ns_DbHandle *handle);
static void      NoteTransaction(Ns_DbHandle *handle);
static void      Clear(Ns_DbHandle *handle);
static int64_t   Now(void);
static Tcl_Obj  *RowCount(Connection *connPtr, const Ns_Time *timePtr);
static Tcl_Obj  *BackendPid(Connection *connPtr, const Ns_Time *timePtr);
static Tcl_Obj  *Status(Connection *connPtr, const Ns_Time *timePtr);
static Tcl_Obj  *Notifications(Connection *connPtr, const Ns_Time *timePtr);
static void      TakeNotifications(Connection *connPtr, Tcl_Obj *listObj);

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
    Ns_Time timeout;

    if (!PQisthreadsafe()) {
        Ns_Log(Error, "nsdbpg: libpq was built without support for threads");
        return NS_ERROR;
    }
    configPtr->dateStyle = Ns_ConfigString(configSection, "datestyle", "");
    Ns_ConfigTimeUnitRange(configSection, "connecttimeout", "10s", 0, 0, 86400,
                           0, &timeout);
    snprintf(configPtr->connectSeconds, sizeof(configPtr->connectSeconds),
             "%ld", timeout.sec + (timeout.usec > 0));
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
    const Connection *connPtr = handle->connection;
    const char       *server = PQparameterStatus(connPtr->pg, "server_version");
    Tcl_Obj          *dictObj = Tcl_NewDictObj();
    char              client[24];

    snprintf(client, sizeof(client), "%d.%d", PQlibVersion() / 10000,
             PQlibVersion() % 10000);
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("serverversion", -1),
                   Tcl_NewStringObj(server == NULL ? "" : server, -1));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("clientversion", -1),
                   Tcl_NewStringObj(client, -1));
    return dictObj;
}

/* ---- Connections ---- */

static int
Open(Ns_DbHandle *handle)
{
    Connection *connPtr = ns_calloc(1u, sizeof(*connPtr));

    handle->connection = connPtr;
    connPtr->pg = Connect(handle);
    if (PQstatus(connPtr->pg) == CONNECTION_OK
        && Prepare(handle, Ns_DbDriverData(handle))) {
        return NS_OK;
    }
    Ns_Log(Error, "nsdbpg[%s]: cannot connect: %s", handle->poolname,
           PQerrorMessage(connPtr->pg));
    (void) Close(handle);
    return NS_ERROR;
}

/*
 * HOST:PORT:DBNAME, any part of which may be empty, or a connection string for
 * libpq.
 */
static PGconn *
Connect(const Ns_DbHandle *handle)
{
    enum {
        TIMEOUT,
        APPLICATION,
        DATABASE,
        ENCODING,
        HOST,
        PORT,
        USER,
        PASSWORD
    };
    static const char *const keys[] = {
        "connect_timeout",
        "fallback_application_name",
        "dbname",
        "client_encoding",
        "host",
        "port",
        "user",
        "password",
        NULL};
    const Config *configPtr = Ns_DbDriverData(handle);
    const char   *values[Ns_NrElements(keys)] = {NULL};
    char         *copy = ns_strdup(handle->datasource);
    char         *port = strchr(copy, ':');
    char         *database = port == NULL ? NULL : strchr(port + 1, ':');
    bool          isPlain = database != NULL && strchr(copy, '=') == NULL
        && strstr(copy, "://") == NULL;
    PGconn *pg;

    BeginWait(handle, "a connection to the database");
    values[TIMEOUT] = configPtr->connectSeconds;
    values[APPLICATION] = "nsd";
    values[ENCODING] = "UTF8";
    values[DATABASE] = copy;
    values[USER] = handle->user;
    values[PASSWORD] = handle->password;
    if (isPlain) {
        *port = '\0';
        *database = '\0';
        values[HOST] = copy;
        values[PORT] = port + 1;
        values[DATABASE] = database + 1;
    }
    pg = PQconnectdbParams(keys, values, isPlain ? 0 : 1);
    ns_free(copy);
    Ns_TclWaitEnd();
    return pg;
}

/*
 * Ns_TclWaitEnd is due when it has come.
 */
static void
BeginWait(const Ns_DbHandle *handle, const char *what)
{
    char text[200];

    snprintf(text, sizeof(text), "nsdbpg: waits for %s of pool %s", what,
             handle->poolname);
    Ns_TclWaitBegin(text);
}

static bool
Prepare(Ns_DbHandle *handle, const Config *configPtr)
{
    Connection *connPtr = handle->connection;
    char       *style;
    Ns_DString  ds;
    bool        isOk = true;

    (void) PQsetNoticeReceiver(connPtr->pg, TakeNotice, handle);
    if (*configPtr->dateStyle == '\0') {
        return true;
    }
    style = PQescapeLiteral(connPtr->pg, configPtr->dateStyle,
                            strlen(configPtr->dateStyle));
    if (style == NULL) {
        return false;
    }
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, "set datestyle to ", style, NULL);
    PQfreemem(style);
    isOk = Ns_DbExec(handle, ds.string) == NS_DML;
    Ns_DStringFree(&ds);
    return isOk;
}

static int
Close(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    if (connPtr != NULL) {
        Clear(handle);
        PQfinish(connPtr->pg);
        ns_free(connPtr);
        handle->connection = NULL;
    }
    return NS_OK;
}

/*
 * A server says why it ends a connection before it does.
 */
static void
TakeNotice(void *arg, const PGresult *resultPtr)
{
    const Ns_DbHandle *handle = arg;
    Connection        *connPtr = handle->connection;
    const char        *text = PQresultErrorMessage(resultPtr);
    const char        *severity = PQresultErrorField(resultPtr,
                                                     PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity != NULL
        && (STREQ(severity, "FATAL") || STREQ(severity, "PANIC"))) {
        connPtr->isEnding = true;
    }
    Ns_Log(Notice, "nsdbpg[%s]: %.*s", handle->poolname,
           (int) strcspn(text, "\n"), text);
}

/*
 * Detect, without a statement, that the connection was closed or broke.
 */
static bool
IsAlive(Connection *connPtr)
{
    struct pollfd poller = {.fd = PQsocket(connPtr->pg), .events = POLLIN};

    while (PQstatus(connPtr->pg) == CONNECTION_OK && !connPtr->isEnding
           && poll(&poller, 1, 0) > 0) {
        if (PQconsumeInput(connPtr->pg) == 0) {
            return false;
        }
        /* This parses the input. */
        (void) PQisBusy(connPtr->pg);
    }
    return PQstatus(connPtr->pg) == CONNECTION_OK && !connPtr->isEnding;
}

/*
 * Connect again.  This is a new session.
 */
static bool
Revive(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    Ns_Log(Notice, "nsdbpg[%s]: the connection was closed: connecting again",
           handle->poolname);
    PQfinish(connPtr->pg);
    connPtr->pg = Connect(handle);
    connPtr->isListening = false;
    connPtr->isEnding = false;
    if (PQstatus(connPtr->pg) == CONNECTION_OK) {
        return Prepare(handle, Ns_DbDriverData(handle));
    }
    Ns_DbSetException(handle, "08001", PQerrorMessage(connPtr->pg));
    return false;
}

static int
Reset(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    Clear(handle);
    if (PQtransactionStatus(connPtr->pg) != PQTRANS_IDLE) {
        PQclear(PQexec(connPtr->pg, "rollback"));
        connPtr->status[0] = '\0';
        NoteTransaction(handle);
    }
    if (connPtr->isListening) {
        PQclear(PQexec(connPtr->pg, "unlisten *"));
        connPtr->isListening = false;
    }
    return PQstatus(connPtr->pg) == CONNECTION_OK && !connPtr->isEnding
            && PQtransactionStatus(connPtr->pg) == PQTRANS_IDLE
        ? NS_OK
        : NS_ERROR;
}

/* ---- Statements ---- */

static int
Exec(Ns_DbHandle *handle, const char *sql)
{
    Connection *connPtr = handle->connection;

    Clear(handle);
    connPtr->rowCount = 0;
    if (!IsAlive(connPtr)) {
        if (connPtr->isInTransaction) {
            Ns_DbSetException(handle, "08006",
                              "the connection was lost within a transaction");
            Lose(handle);
            return NS_ERROR;
        }
        if (!Revive(handle)) {
            return NS_ERROR;
        }
    }
    return TakeResult(handle, Run(handle, sql));
}

/*
 * As PQexec, but a request whose answer does not come at once says that it
 * waits.
 */
static PGresult *
Run(const Ns_DbHandle *handle, const char *sql)
{
    PGconn       *pg = ((const Connection *) handle->connection)->pg;
    struct pollfd poller = {.events = POLLIN};
    PGresult     *resultPtr = NULL, *nextPtr;
    bool          isWaiting, isCopy = false;

    if (PQsendQuery(pg, sql) == 0) {
        return NULL;
    }
    poller.fd = PQsocket(pg);
    isWaiting = poll(&poller, 1, AT_ONCE_MS) == 0;
    if (isWaiting) {
        BeginWait(handle, "the database");
    } else {
        (void) PQconsumeInput(pg); /* The next call tells of a failure. */
    }
    while (!isCopy && (nextPtr = PQgetResult(pg)) != NULL) {
        ExecStatusType status = PQresultStatus(nextPtr);

        PQclear(resultPtr);
        resultPtr = nextPtr;
        isCopy = status == PGRES_COPY_IN || status == PGRES_COPY_OUT
            || status == PGRES_COPY_BOTH || PQstatus(pg) == CONNECTION_BAD;
    }
    if (isWaiting) {
        Ns_TclWaitEnd();
    }
    return resultPtr;
}

static int
TakeResult(Ns_DbHandle *handle, PGresult *resultPtr)
{
    Connection    *connPtr = handle->connection;
    ExecStatusType status = PQresultStatus(resultPtr);
    int            kind = NS_DML;

    switch (status) {
    case PGRES_TUPLES_OK:
        connPtr->rowCount = PQntuples(resultPtr);
        connPtr->resultPtr = resultPtr;
        connPtr->row = 0;
        handle->fetchingRows = true;
        kind = NS_ROWS;
        break;
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
        connPtr->rowCount = atoi(PQcmdTuples(resultPtr));
        break;
    case PGRES_COPY_IN:
    case PGRES_COPY_OUT:
    case PGRES_COPY_BOTH:
        /*
         * The data would be read as the next statement; only a new connection
         * helps.
         */
        PQclear(resultPtr);
        Ns_DbSetException(handle, "0A000",
                          "COPY from and to the client is not supported");
        Lose(handle);
        return NS_ERROR;
    default:
        kind = Fail(handle, resultPtr);
    }
    snprintf(connPtr->status, sizeof(connPtr->status), "%s",
             resultPtr == NULL ? "" : PQcmdStatus(resultPtr));
    connPtr->isListening = connPtr->isListening
        || STREQ(connPtr->status, "LISTEN");
    if (kind != NS_ROWS) {
        PQclear(resultPtr);
    }
    if (PQstatus(connPtr->pg) == CONNECTION_OK) {
        NoteTransaction(handle);
    } else if (connPtr->isInTransaction) {
        Lose(handle);
    }
    return kind;
}

static int
Fail(Ns_DbHandle *handle, const PGresult *resultPtr)
{
    const Connection *connPtr = handle->connection;
    const char       *state = resultPtr == NULL
              ? NULL
              : PQresultErrorField(resultPtr, PG_DIAG_SQLSTATE);
    const char       *text = resultPtr == NULL
              ? PQerrorMessage(connPtr->pg)
              : PQresultErrorMessage(resultPtr);
    char             *copy = ns_strdup(text);

    Ns_DbSetException(handle, state == NULL ? "08006" : state,
                      Ns_StrTrim(copy));
    ns_free(copy);
    return NS_ERROR;
}

/*
 * The connection is gone.  The handle is unusable until it is next got.
 */
static void
Lose(Ns_DbHandle *handle)
{
    (void) Close(handle);
    handle->connected = false;
}

/*
 * Log a finished transaction like a statement.
 */
static void
NoteTransaction(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;
    bool        was = connPtr->isInTransaction;
    Ns_Time    *minPtr;
    int64_t     micros;

    connPtr->isInTransaction = PQtransactionStatus(connPtr->pg) != PQTRANS_IDLE;
    if (!was && connPtr->isInTransaction) {
        connPtr->transactionStart = Now();
    }
    if (!was || connPtr->isInTransaction
        || !Ns_LogSeverityEnabled(Ns_LogSqlDebug)
        || Ns_DbGetMinDuration(NULL, handle->poolname, &minPtr) != TCL_OK) {
        return;
    }
    micros = Now() - connPtr->transactionStart;
    if (micros >= (int64_t) minPtr->sec * 1000000 + minPtr->usec) {
        Ns_Log(Ns_LogSqlDebug,
               "pool %s duration %" PRId64 ".%06" PRId64
               " secs: transaction %s",
               handle->poolname, micros / 1000000, micros % 1000000,
               STREQ(connPtr->status, "COMMIT") ? "committed" : "aborted");
    }
}

static int64_t
Now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static Ns_Set *
BindRow(Ns_DbHandle *handle)
{
    const Connection *connPtr = handle->connection;

    if (connPtr->resultPtr == NULL) {
        return NULL;
    }
    for (int i = 0; i < PQnfields(connPtr->resultPtr); i++) {
        (void) Ns_SetPut(handle->row, PQfname(connPtr->resultPtr, i), NULL);
    }
    return handle->row;
}

static int
GetRow(Ns_DbHandle *handle, Ns_Set *row)
{
    Connection *connPtr = handle->connection;
    PGresult   *resultPtr = connPtr->resultPtr;

    if (resultPtr == NULL || PQnfields(resultPtr) != (int) Ns_SetSize(row)) {
        Ns_DbSetException(handle, "NSDB",
                          resultPtr == NULL
                              ? "no rows are waiting"
                              : "the set has another number of fields than the "
                                "rows");
        return NS_ERROR;
    }
    if (connPtr->row >= PQntuples(resultPtr)) {
        Clear(handle);
        return NS_END_DATA;
    }
    for (int i = 0; i < PQnfields(resultPtr); i++) {
        Ns_SetPutValue(row, i,
                       PQgetisnull(resultPtr, connPtr->row, i)
                           ? NULL
                           : PQgetvalue(resultPtr, connPtr->row, i));
    }
    connPtr->row++;
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
    Clear(handle);
    return NS_OK;
}

static void
Clear(Ns_DbHandle *handle)
{
    Connection *connPtr = handle->connection;

    PQclear(connPtr->resultPtr);
    connPtr->resultPtr = NULL;
    handle->fetchingRows = false;
}

/* ---- Commands ---- */

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    (void) Tcl_CreateObjCommand(interp, "ns_pg", PgObjCmd, NULL, NULL);
    (void) Tcl_CreateObjCommand(interp, "ns_pg_bind", BindObjCmd, NULL, NULL);
    return TCL_OK;
}

static int
PgObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    static const struct {
        const char *name;
        char *(*textProc)(const PGconn *pg);
        Tcl_Obj *(*objProc)(Connection *connPtr, const Ns_Time *timePtr);
    } words[] = {
        {"db", PQdb, NULL},
        {"error", PQerrorMessage, NULL},
        {"host", PQhost, NULL},
        {"ntuples", NULL, RowCount},
        {"notifications", NULL, Notifications},
        {"options", PQoptions, NULL},
        {"pid", NULL, BackendPid},
        {"port", PQport, NULL},
        {"status", NULL, Status},
        {NULL, NULL, NULL}};
    Ns_DbHandle *handle;
    const char  *text;
    Ns_Time      time = {0, 0};
    int          n;
    bool         hasTime;

    if (objc < 3 || objc > 4) {
        Tcl_WrongNumArgs(interp, 1, objv, "option dbId ?arg?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], words, sizeof(words[0]),
                                  "option", 0, &n)
            != TCL_OK
        || Ns_TclDbGetDriverHandle(interp, Tcl_GetString(objv[2]), name,
                                   &handle)
            != TCL_OK) {
        return TCL_ERROR;
    }
    hasTime = words[n].objProc == Notifications;
    if (objc > 3
        && (!hasTime
            || Ns_TclGetTimeFromObj(interp, objv[3], &time) != TCL_OK)) {
        Tcl_WrongNumArgs(interp, 2, objv, hasTime ? "dbId ?timeout?" : "dbId");
        return TCL_ERROR;
    }
    if (words[n].objProc != NULL) {
        Tcl_SetObjResult(interp, words[n].objProc(handle->connection, &time));
        return TCL_OK;
    }
    text = words[n].textProc(((Connection *) handle->connection)->pg);
    Tcl_SetObjResult(interp, Tcl_NewStringObj(text == NULL ? "" : text, -1));
    return TCL_OK;
}

static Tcl_Obj *
RowCount(Connection *connPtr, const Ns_Time *timePtr)
{
    return Tcl_NewIntObj(connPtr->rowCount);
}

static Tcl_Obj *
BackendPid(Connection *connPtr, const Ns_Time *timePtr)
{
    return Tcl_NewIntObj(PQbackendPID(connPtr->pg));
}

static Tcl_Obj *
Status(Connection *connPtr, const Ns_Time *timePtr)
{
    return Tcl_NewStringObj(PQstatus(connPtr->pg) == CONNECTION_OK ? "ok"
                                                                   : "bad",
                            -1);
}

/*
 * The notifications received so far, after waiting for at most one.
 */
static Tcl_Obj *
Notifications(Connection *connPtr, const Ns_Time *timePtr)
{
    Tcl_Obj *listObj = Tcl_NewListObj(0, NULL);
    int64_t  until = Now() + (int64_t) timePtr->sec * 1000000 + timePtr->usec;
    int      n, rest;

    do {
        struct pollfd poller = {.fd = PQsocket(connPtr->pg), .events = POLLIN};

        if (PQconsumeInput(connPtr->pg) == 0) {
            break;
        }
        TakeNotifications(connPtr, listObj);
        (void) Tcl_ListObjLength(NULL, listObj, &n);
        rest = (int) MIN((until - Now() + 999) / 1000, INT_MAX);
        if (n == 0 && rest > 0) {
            (void) poll(&poller, 1, rest);
        }
    } while (n == 0 && rest > 0);
    return listObj;
}

static void
TakeNotifications(Connection *connPtr, Tcl_Obj *listObj)
{
    PGnotify *notifyPtr;

    while ((notifyPtr = PQnotifies(connPtr->pg)) != NULL) {
        Tcl_Obj *words[3] = {Tcl_NewStringObj(notifyPtr->relname, -1),
                             Tcl_NewStringObj(notifyPtr->extra, -1),
                             Tcl_NewIntObj(notifyPtr->be_pid)};

        Tcl_ListObjAppendElement(NULL, listObj, Tcl_NewListObj(3, words));
        PQfreemem(notifyPtr);
    }
}

static int
BindObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    return Ns_TclDbBindCmd(interp, objc, objv, ExecWithValues);
}

/*
 * Values are put into the text as literals, so they may be wherever a literal
 * may be, as in `interval :age`.
 */
static int
ExecWithValues(Ns_DbHandle *handle, const char *sql, Ns_DbValueProc *valueProc,
               void *arg)
{
    const Connection *connPtr = handle->connection;
    const char       *variable;
    Ns_DString        ds;
    size_t            length;
    int               kind = NS_DML;

    if (Ns_DbDriverName(handle) != name) {
        Ns_DbSetException(handle, "NSDB", "not a handle of the driver " NAME);
        return NS_ERROR;
    }
    Ns_DStringInit(&ds);
    while (kind != NS_ERROR
           && (variable = Ns_DbNextVariable(sql, &length)) != NULL) {
        const char *value = valueProc(arg, variable + 1, length);
        char       *literal = NULL;

        Ns_DStringNAppend(&ds, sql, (int) (variable - sql));
        if (value == NULL) {
            kind = NS_ERROR;
        } else if (*value == '\0') {
            Ns_DStringAppend(&ds, "NULL");
        } else if ((literal = PQescapeLiteral(connPtr->pg, value,
                                              strlen(value)))
                   == NULL) {
            Ns_DbSetException(handle, "22021", PQerrorMessage(connPtr->pg));
            kind = NS_ERROR;
        } else {
            Ns_DStringAppend(&ds, literal);
            PQfreemem(literal);
        }
        sql = variable + 1 + length;
    }
    Ns_DStringAppend(&ds, sql);
    if (kind != NS_ERROR) {
        kind = Ns_DbExec(handle, ds.string);
    }
    Ns_DStringFree(&ds);
    return kind;
}
