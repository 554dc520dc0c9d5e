/*
 * db_cmd.c --
 *
 *      ns_db.
 */

#include "commands.h"

typedef int DbCmdProc(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
                      Tcl_Obj *const *objv);

static Tcl_ObjCmdProc DbObjCmd;

static DbCmdProc ZeroOrOneRowCmd, OneRowCmd, BindRowCmd, BounceCmd, CancelCmd;
static DbCmdProc ConnectedCmd, CurrentCmd, DatasourceCmd, DbTypeCmd, CloseCmd;
static DbCmdProc DmlCmd, DriverCmd, ExceptionCmd, ExecCmd, FlushCmd;
static DbCmdProc GetHandleCmd, GetRowCmd, InfoCmd, FileCmd, MinDurationCmd;
static DbCmdProc PasswordCmd, PoolNameCmd, PoolsCmd, ReleaseCmd, ResetCmd;
static DbCmdProc RowCountCmd, SelectCmd, SessionCmd, SetExceptionCmd;
static DbCmdProc SpExecCmd, SpGetParamsCmd, SpReturnCodeCmd, SpSetParamCmd;
static DbCmdProc SpStartCmd, StatsCmd, UserCmd, VerboseCmd;

static int  Wrong(Tcl_Interp *interp, Tcl_Obj *const *objv, int n);
static int  Done(Tcl_Interp *interp, Ns_DbHandle *handle, int status,
                 Tcl_Obj *const *objv);
static int  Kind(Tcl_Interp *interp, Ns_DbHandle *handle, int kind,
                 Tcl_Obj *const *objv);
static int  Text(Tcl_Interp *interp, const char *text);
static bool HasAccess(Tcl_Interp *interp, const char *pool);
static int  GetHandles(Tcl_Interp *interp, const char *pool, int n,
                       const Ns_Time *wait);
static int  Single(Tcl_Interp *interp, Ns_DbHandle *handle, bool mayBeNone,
                   Tcl_Obj *const *objv);

#define HANDLE 0x1u /* The first argument is a handle. */
#define KEEP   0x2u /* Keep its exception. */
#define ANY    INT_MAX

/*
 * Sorted.  The number of words after the handle, minimum and maximum.
 */
static const struct {
    const char *name;
    DbCmdProc  *proc;
    int         minArgs;
    int         maxArgs;
    unsigned    flags;
    const char *usage;
} commands[] = {
    {"0or1row", ZeroOrOneRowCmd, 1, 1, HANDLE, "dbId sql"},
    {"1row", OneRowCmd, 1, 1, HANDLE, "dbId sql"},
    {"bindrow", BindRowCmd, 0, ANY, HANDLE, "dbId"},
    {"bouncepool", BounceCmd, 1, 1, 0, "pool"},
    {"cancel", CancelCmd, 0, ANY, HANDLE, "dbId"},
    {"connected", ConnectedCmd, 0, ANY, HANDLE, "dbId"},
    {"currenthandles", CurrentCmd, 0, 0, 0, NULL},
    {"datasource", DatasourceCmd, 0, ANY, HANDLE, "dbId"},
    {"dbtype", DbTypeCmd, 0, ANY, HANDLE, "dbId"},
    {"disconnect", CloseCmd, 0, ANY, HANDLE, "dbId"},
    {"dml", DmlCmd, 1, 1, HANDLE, "dbId sql"},
    {"driver", DriverCmd, 0, ANY, HANDLE, "dbId"},
    {"exception", ExceptionCmd, 0, ANY, HANDLE | KEEP, "dbId"},
    {"exec", ExecCmd, 1, 1, HANDLE, "dbId sql"},
    {"flush", FlushCmd, 0, ANY, HANDLE, "dbId"},
    {"gethandle", GetHandleCmd, 0, ANY, 0,
     "?-timeout timeout? ?--? ?pool? ?nhandles?"},
    {"getrow", GetRowCmd, 1, 1, HANDLE, "dbId row"},
    {"info", InfoCmd, 0, ANY, HANDLE, "dbId"},
    {"interpretsqlfile", FileCmd, 1, 1, HANDLE, "dbId sqlfile"},
    {"logminduration", MinDurationCmd, 0, 2, 0, "?pool? ?minduration?"},
    {"password", PasswordCmd, 0, ANY, HANDLE, "dbId"},
    {"poolname", PoolNameCmd, 0, ANY, HANDLE, "dbId"},
    {"pools", PoolsCmd, 0, 0, 0, NULL},
    {"releasehandle", ReleaseCmd, 0, ANY, HANDLE, "dbId"},
    {"resethandle", ResetCmd, 0, ANY, HANDLE, "dbId"},
    {"rowcount", RowCountCmd, 0, ANY, HANDLE, "dbId"},
    {"select", SelectCmd, 1, 1, HANDLE, "dbId sql"},
    {"session_id", SessionCmd, 0, ANY, HANDLE, "dbId"},
    {"setexception", SetExceptionCmd, 2, 2, HANDLE | KEEP, "dbId code message"},
    {"sp_exec", SpExecCmd, 0, ANY, HANDLE, "dbId"},
    {"sp_getparams", SpGetParamsCmd, 0, ANY, HANDLE, "dbId"},
    {"sp_returncode", SpReturnCodeCmd, 0, ANY, HANDLE, "dbId"},
    {"sp_setparam", SpSetParamCmd, 4, 4, HANDLE | KEEP,
     "dbId paramname type in|out value"},
    {"sp_start", SpStartCmd, 1, 1, HANDLE, "dbId procname"},
    {"stats", StatsCmd, 0, 0, 0, NULL},
    {"user", UserCmd, 0, ANY, HANDLE, "dbId"},
    {"verbose", VerboseCmd, 0, 1, HANDLE | KEEP, "dbId ?bool?"},
    {NULL, NULL, 0, 0, 0, NULL}};

void
DbAddDbCommand(Tcl_Interp *interp)
{
    (void) Tcl_CreateObjCommand(interp, "ns_db", DbObjCmd, NULL, NULL);
}

static int
DbObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_DbHandle *handle = NULL;
    int          n, nWords;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], commands,
                                  sizeof(commands[0]), "option", 0, &n)
        != TCL_OK) {
        return TCL_ERROR;
    }
    nWords = objc - 2 - (commands[n].flags & HANDLE ? 1 : 0);
    if (nWords < commands[n].minArgs || nWords > commands[n].maxArgs) {
        return Wrong(interp, objv, n);
    }
    if (commands[n].flags & HANDLE) {
        if (Ns_TclDbGetHandle(interp, Tcl_GetString(objv[2]), &handle)
            != TCL_OK) {
            return TCL_ERROR;
        }
        if ((commands[n].flags & KEEP) == 0) {
            Ns_DbSetException(handle, "", "");
        }
    }
    return commands[n].proc(interp, handle, objc, objv);
}

static int
Wrong(Tcl_Interp *interp, Tcl_Obj *const *objv, int n)
{
    Tcl_WrongNumArgs(interp, 2, objv, commands[n].usage);
    return TCL_ERROR;
}

/* ---- Handles ---- */

static int
GetHandleCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
             Tcl_Obj *const *objv)
{
    Ns_Time    *timePtr = NULL;
    Tcl_Obj    *poolObj = NULL;
    const char *pool;
    int         nHandles = 1;
    Ns_ObjvSpec options[] = {{"-timeout", Ns_ObjvTime, &timePtr, NULL},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"?pool", Ns_ObjvObj, &poolObj, NULL},
                          {"?nhandles", Ns_ObjvInt, &nHandles, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (nHandles < 1) {
        Ns_TclPrintfResult(interp,
                           "expected integer in range [1,%d] for '?nhandles', "
                           "but got %d",
                           INT_MAX, nHandles);
        return TCL_ERROR;
    }
    pool = poolObj != NULL ? Tcl_GetString(poolObj)
                           : Ns_DbPoolDefault(DbInterpServer(interp));
    if (pool == NULL) {
        Ns_TclPrintfResult(interp, "no defaultpool configured");
        return TCL_ERROR;
    }
    if (!HasAccess(interp, pool)) {
        return TCL_ERROR;
    }
    /* A time of 0 means no limit. */
    if (timePtr != NULL && timePtr->sec == 0 && timePtr->usec == 0) {
        timePtr = NULL;
    }
    return GetHandles(interp, pool, nHandles, timePtr);
}

static int
GetHandles(Tcl_Interp *interp, const char *pool, int n, const Ns_Time *wait)
{
    Ns_DbHandle **handles = NULL;
    Ns_DString    reason;
    int           status;
    bool          isFew = n <= 1000000;

    Ns_DStringInit(&reason);
    /* A number that no pool can have is refused without allocating for it. */
    handles = ns_calloc(isFew ? (size_t) n : 1u, sizeof(*handles));
    status = isFew ? DbPoolGet(handles, pool, n, wait, &reason) : NS_ERROR;
    Tcl_ResetResult(interp);
    for (int i = 0; status == NS_OK && i < n; i++) {
        Tcl_AppendElement(interp,
                          DbInterpEnter(interp, DbHandleOf(handles[i])));
    }
    if (status == NS_ERROR) {
        Ns_TclPrintfResult(interp,
                           "could not allocate %d %s from pool \"%s\"%s%s", n,
                           n == 1 ? "handle" : "handles", pool,
                           reason.length > 0 ? ": " : "", reason.string);
    }
    Ns_DStringFree(&reason);
    ns_free(handles);
    return status == NS_ERROR ? TCL_ERROR : TCL_OK;
}

/*
 * False: the server may not use the pool; a message is in interp.
 */
static bool
HasAccess(Tcl_Interp *interp, const char *pool)
{
    bool hasAccess = Ns_DbPoolAllowable(DbInterpServer(interp), pool);

    if (!hasAccess) {
        Ns_TclPrintfResult(interp, "no access to pool: \"%s\"", pool);
    }
    return hasAccess;
}

static int
ReleaseCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
           Tcl_Obj *const *objv)
{
    Ns_DbPoolPutHandle(handle);
    return TCL_OK;
}

static int
CloseCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
         Tcl_Obj *const *objv)
{
    DbClose(DbHandleOf(handle));
    DbPoolCount(DbHandleOf(handle));
    return TCL_OK;
}

static int
ResetCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
         Tcl_Obj *const *objv)
{
    if (Ns_DbResetHandle(handle) != NS_OK) {
        return DbFail(interp, handle, Tcl_GetString(objv[1]));
    }
    Tcl_SetObjResult(interp, Tcl_NewIntObj(NS_OK));
    return TCL_OK;
}

static int
CurrentCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
           Tcl_Obj *const *objv)
{
    Tcl_SetObjResult(interp, DbInterpList(interp));
    return TCL_OK;
}

/* ---- Pools ---- */

static int
PoolsCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
         Tcl_Obj *const *objv)
{
    const char *pool = Ns_DbPoolList(DbInterpServer(interp));

    for (; pool != NULL && *pool != '\0'; pool += strlen(pool) + 1) {
        Tcl_AppendElement(interp, pool);
    }
    return TCL_OK;
}

static int
BounceCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    const char *pool = Tcl_GetString(objv[2]);

    if (DbPoolFind(pool) == NULL) {
        Ns_TclPrintfResult(interp, "could not bounce: %s", pool);
        return TCL_ERROR;
    }
    if (!HasAccess(interp, pool)) {
        return TCL_ERROR;
    }
    (void) Ns_DbBouncePool(pool);
    return TCL_OK;
}

static int
MinDurationCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
               Tcl_Obj *const *objv)
{
    const char *pool = objc > 2 ? Tcl_GetString(objv[2]) : NULL;
    Ns_Time     time, *timePtr;

    if (pool == NULL) {
        Tcl_SetObjResult(interp,
                         Ns_DbListMinDurations(interp, DbInterpServer(interp)));
        return TCL_OK;
    }
    if (Ns_DbGetMinDuration(interp, pool, &timePtr) != TCL_OK
        || !HasAccess(interp, pool)) {
        return TCL_ERROR;
    }
    if (objc > 3) {
        if (Ns_TclGetTimeFromObj(interp, objv[3], &time) != TCL_OK) {
            return TCL_ERROR;
        }
        if (time.sec < 0 || time.usec < 0) {
            Ns_TclPrintfResult(interp,
                               "expected a time that is not negative but got "
                               "\"%s\"",
                               Tcl_GetString(objv[3]));
            return TCL_ERROR;
        }
        (void) Ns_DbSetMinDuration(interp, pool, &time);
    }
    time.sec = (long) (DbPoolMinMicros(DbPoolFind(pool)) / 1000000);
    time.usec = (long) (DbPoolMinMicros(DbPoolFind(pool)) % 1000000);
    Tcl_SetObjResult(interp, Ns_TclNewTimeObj(&time));
    return TCL_OK;
}

static int
StatsCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
         Tcl_Obj *const *objv)
{
    return Ns_DbPoolStats(interp);
}

/* ---- Statements and rows ---- */

static int
DmlCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc, Tcl_Obj *const *objv)
{
    Ns_DString  ds;
    const char *sql;
    int         status;

    Ns_DStringInit(&ds);
    sql = DbSqlText(handle, objv[3], &ds);
    status = sql == NULL ? NS_ERROR : Ns_DbDML(handle, sql);
    Ns_DStringFree(&ds);
    return Done(interp, handle, status, objv);
}

static int
ExecCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc, Tcl_Obj *const *objv)
{
    Ns_DString  ds;
    const char *sql;
    int         kind;

    Ns_DStringInit(&ds);
    sql = DbSqlText(handle, objv[3], &ds);
    kind = sql == NULL ? NS_ERROR : Ns_DbExec(handle, sql);
    Ns_DStringFree(&ds);
    return Kind(interp, handle, kind, objv);
}

static int
SelectCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    Ns_DString  ds;
    const char *sql;
    Ns_Set     *row;

    Ns_DStringInit(&ds);
    sql = DbSqlText(handle, objv[3], &ds);
    row = sql == NULL ? NULL : Ns_DbSelect(handle, sql);
    Ns_DStringFree(&ds);
    return row == NULL ? DbFail(interp, handle, Tcl_GetString(objv[1]))
                       : DbInterpEnterRow(interp, DbHandleOf(handle));
}

static int
BindRowCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
           Tcl_Obj *const *objv)
{
    return Ns_DbBindRow(handle) == NULL
        ? DbFail(interp, handle, Tcl_GetString(objv[1]))
        : DbInterpEnterRow(interp, DbHandleOf(handle));
}

static int
GetRowCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    Ns_Set *row;
    int     status;

    if (Ns_TclGetSet2(interp, Tcl_GetString(objv[3]), &row) != TCL_OK) {
        return TCL_ERROR;
    }
    status = Ns_DbGetRow(handle, row);
    if (status != NS_OK && status != NS_END_DATA) {
        return DbFail(interp, handle, Tcl_GetString(objv[1]));
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(status == NS_OK));
    return TCL_OK;
}

static int
ZeroOrOneRowCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
                Tcl_Obj *const *objv)
{
    return Single(interp, handle, true, objv);
}

static int
OneRowCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    return Single(interp, handle, false, objv);
}

static int
Single(Tcl_Interp *interp, Ns_DbHandle *handle, bool mayBeNone,
       Tcl_Obj *const *objv)
{
    Ns_DString  ds;
    const char *sql;
    Ns_Set     *row = NULL;
    int         nRows = 1;

    Ns_DStringInit(&ds);
    sql = DbSqlText(handle, objv[3], &ds);
    if (sql != NULL) {
        row = mayBeNone ? Ns_Db0or1Row(handle, sql, &nRows)
                        : Ns_Db1Row(handle, sql);
    }
    Ns_DStringFree(&ds);
    if (row == NULL) {
        return DbFail(interp, handle, Tcl_GetString(objv[1]));
    }
    if (nRows == 0) {
        Ns_SetFree(row);
        return TCL_OK;
    }
    return Ns_TclEnterSet(interp, row, NS_TCL_SET_DYNAMIC);
}

static int
FlushCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
         Tcl_Obj *const *objv)
{
    return Done(interp, handle, Ns_DbFlush(handle), objv);
}

static int
CancelCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    return Done(interp, handle, Ns_DbCancel(handle), objv);
}

static int
RowCountCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
            Tcl_Obj *const *objv)
{
    Tcl_SetObjResult(interp, Tcl_NewIntObj(Ns_DbGetRowCount(handle)));
    return TCL_OK;
}

static int
FileCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc, Tcl_Obj *const *objv)
{
    return Done(interp, handle,
                Ns_DbInterpretSqlFile(handle, Tcl_GetString(objv[3])), objv);
}

/*
 * Finish a command that has no result.
 */
static int
Done(Tcl_Interp *interp, Ns_DbHandle *handle, int status, Tcl_Obj *const *objv)
{
    return status == NS_OK ? TCL_OK
                           : DbFail(interp, handle, Tcl_GetString(objv[1]));
}

static int
Kind(Tcl_Interp *interp, Ns_DbHandle *handle, int kind, Tcl_Obj *const *objv)
{
    if (kind != NS_DML && kind != NS_ROWS) {
        return DbFail(interp, handle, Tcl_GetString(objv[1]));
    }
    return Text(interp, kind == NS_DML ? "NS_DML" : "NS_ROWS");
}

/* ---- What a handle is ---- */

static int
ConnectedCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
             Tcl_Obj *const *objv)
{
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(handle->connected));
    return TCL_OK;
}

static int
DatasourceCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
              Tcl_Obj *const *objv)
{
    return Text(interp, handle->datasource);
}

static int
DbTypeCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    return Text(interp, Ns_DbDriverDbType(handle));
}

static int
DriverCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    return Text(interp, Ns_DbDriverName(handle));
}

static int
PasswordCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
            Tcl_Obj *const *objv)
{
    return Text(interp, handle->password);
}

static int
PoolNameCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
            Tcl_Obj *const *objv)
{
    return Text(interp, handle->poolname);
}

static int
UserCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc, Tcl_Obj *const *objv)
{
    return Text(interp, handle->user);
}

static int
SessionCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
           Tcl_Obj *const *objv)
{
    Ns_TclPrintfResult(interp, "sid%" PRIu64, DbHandleOf(handle)->session);
    return TCL_OK;
}

static int
InfoCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc, Tcl_Obj *const *objv)
{
    const char *type = Ns_DbDriverDbType(handle);
    Tcl_Obj    *dictObj = Ns_DbDriverVersionInfo(handle);

    if (dictObj == NULL) {
        dictObj = Tcl_NewDictObj();
    }
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("type", -1),
                   Tcl_NewStringObj(type == NULL ? "" : type, -1));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("pool", -1),
                   Tcl_NewStringObj(handle->poolname, -1));
    Tcl_SetObjResult(interp, dictObj);
    return TCL_OK;
}

/*
 * NULL becomes the empty string.
 */
static int
Text(Tcl_Interp *interp, const char *text)
{
    Tcl_SetObjResult(interp, Tcl_NewStringObj(text == NULL ? "" : text, -1));
    return TCL_OK;
}

/* ---- Exceptions ---- */

static int
ExceptionCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
             Tcl_Obj *const *objv)
{
    Tcl_AppendElement(interp, handle->cExceptionCode);
    Tcl_AppendElement(interp, handle->dsExceptionMsg.string);
    return TCL_OK;
}

static int
SetExceptionCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
                Tcl_Obj *const *objv)
{
    const char *code = Tcl_GetString(objv[3]);

    if (strlen(code) > 5) {
        Ns_TclPrintfResult(interp, "code \"%s\" more than 5 characters", code);
        return TCL_ERROR;
    }
    Ns_DbSetException(handle, code, Tcl_GetString(objv[4]));
    return TCL_OK;
}

/*
 * Deprecated: it changes the severity for the whole process.
 */
static int
VerboseCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
           Tcl_Obj *const *objv)
{
    int isVerbose;

    Ns_LogDeprecated(objv, 2, "ns_logctl debug(sql) ...", NULL);
    if (objc > 3) {
        if (Tcl_GetBooleanFromObj(interp, objv[3], &isVerbose) != TCL_OK) {
            return TCL_ERROR;
        }
        handle->verbose = isVerbose != 0;
        (void) Ns_LogSeveritySetEnabled(Ns_LogSqlDebug, isVerbose != 0);
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(handle->verbose));
    return TCL_OK;
}

/* ---- Stored procedures ---- */

static int
SpStartCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
           Tcl_Obj *const *objv)
{
    if (Ns_DbSpStart(handle, Tcl_GetString(objv[3])) != NS_OK) {
        return DbFail(interp, handle, Tcl_GetString(objv[1]));
    }
    return Text(interp, "0");
}

static int
SpSetParamCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
              Tcl_Obj *const *objv)
{
    const char *direction = Tcl_GetString(objv[5]);

    if (!STREQ(direction, "in") && !STREQ(direction, "out")) {
        Ns_TclPrintfResult(interp,
                           "direction of setparam must be \"in\" or \"out\"");
        return TCL_ERROR;
    }
    if (Ns_DbSpSetParam(handle, Tcl_GetString(objv[3]), Tcl_GetString(objv[4]),
                        direction, Tcl_GetString(objv[6]))
        != NS_OK) {
        return DbFail(interp, handle, Tcl_GetString(objv[1]));
    }
    return Text(interp, "1");
}

static int
SpExecCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
          Tcl_Obj *const *objv)
{
    return Kind(interp, handle, Ns_DbSpExec(handle), objv);
}

static int
SpReturnCodeCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
                Tcl_Obj *const *objv)
{
    char buffer[32] = "";

    if (Ns_DbSpReturnCode(handle, buffer, (int) sizeof(buffer)) != NS_OK) {
        return DbFail(interp, handle, Tcl_GetString(objv[1]));
    }
    return Text(interp, buffer);
}

static int
SpGetParamsCmd(Tcl_Interp *interp, Ns_DbHandle *handle, int objc,
               Tcl_Obj *const *objv)
{
    return Ns_DbSpGetParams(handle) == NULL
        ? DbFail(interp, handle, Tcl_GetString(objv[1]))
        : DbInterpEnterRow(interp, DbHandleOf(handle));
}
