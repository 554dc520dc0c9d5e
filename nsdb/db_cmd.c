/* SPDX-License-Identifier: MPL-2.0
 * db_cmd.c --
 *
 *      ns_db.
 */

#include "commands.h"

/*
 * A call of a subcommand.
 */
typedef struct Call {
    Tcl_Interp          *interp;
    int                  objc;
    Tcl_Obj *const      *objv;
    const struct Subcmd *subcmdPtr;
    Ns_DbHandle         *handle; /* NULL: it takes none. */
    const char          *sql;    /* NULL: it takes none. */
} Call;

typedef int DbCmdProc(const Call *callPtr);

static Tcl_ObjCmdProc DbObjCmd;

static DbCmdProc Single, BindRowCmd, BounceCmd, CancelCmd, ConnectedCmd,
    CurrentCmd, DbTypeCmd, CloseCmd, DmlCmd, DriverCmd, ExceptionCmd, ExecCmd,
    FlushCmd, GetHandleCmd, GetRowCmd, InfoCmd, FileCmd, MemberCmd,
    MinDurationCmd, PoolsCmd, ReleaseCmd, ResetCmd, RowCountCmd, SelectCmd,
    SessionCmd, SetExceptionCmd, SpExecCmd, SpGetParamsCmd, SpReturnCodeCmd,
    SpSetParamCmd, SpStartCmd, StatsCmd, VerboseCmd;

static int  Run(Call *callPtr);
static int  RunSql(Call *callPtr);
static int  Fail(const Call *callPtr);
static int  Done(const Call *callPtr, int status);
static int  Kind(const Call *callPtr, int kind);
static int  Row(const Call *callPtr, const Ns_Set *row);
static int  Text(const Call *callPtr, const char *text);
static bool HasAccess(Tcl_Interp *interp, const char *pool);
static int  GetHandles(Tcl_Interp *interp, const char *pool, int n,
                       const Ns_Time *wait);

#define HANDLE 0x1u /* The first argument is a handle. */
#define KEEP   0x2u /* Keep its exception. */
#define SQL    0x4u /* A handle and a statement. */
#define ANY    INT_MAX

/*
 * Sorted.  The number of words after the handle, minimum and maximum.
 */
static const struct Subcmd {
    const char *name;
    DbCmdProc  *proc;
    int         minArgs;
    int         maxArgs;
    unsigned    flags;
    const char *usage;
    size_t      offset; /* Of the member for MemberCmd. */
} commands[] = {
    {"0or1row", Single, 1, 1, HANDLE | SQL, "dbId sql", 0},
    {"1row", Single, 1, 1, HANDLE | SQL, "dbId sql", 0},
    {"bindrow", BindRowCmd, 0, ANY, HANDLE, "dbId", 0},
    {"bouncepool", BounceCmd, 1, 1, 0, "pool", 0},
    {"cancel", CancelCmd, 0, ANY, HANDLE, "dbId", 0},
    {"connected", ConnectedCmd, 0, ANY, HANDLE, "dbId", 0},
    {"currenthandles", CurrentCmd, 0, 0, 0, NULL, 0},
    {"datasource", MemberCmd, 0, ANY, HANDLE, "dbId",
     offsetof(Ns_DbHandle, datasource)},
    {"dbtype", DbTypeCmd, 0, ANY, HANDLE, "dbId", 0},
    {"disconnect", CloseCmd, 0, ANY, HANDLE, "dbId", 0},
    {"dml", DmlCmd, 1, 1, HANDLE | SQL, "dbId sql", 0},
    {"driver", DriverCmd, 0, ANY, HANDLE, "dbId", 0},
    {"exception", ExceptionCmd, 0, ANY, HANDLE | KEEP, "dbId", 0},
    {"exec", ExecCmd, 1, 1, HANDLE | SQL, "dbId sql", 0},
    {"flush", FlushCmd, 0, ANY, HANDLE, "dbId", 0},
    {"gethandle", GetHandleCmd, 0, ANY, 0,
     "?-timeout timeout? ?--? ?pool? ?nhandles?", 0},
    {"getrow", GetRowCmd, 1, 1, HANDLE, "dbId row", 0},
    {"info", InfoCmd, 0, ANY, HANDLE, "dbId", 0},
    {"interpretsqlfile", FileCmd, 1, 1, HANDLE, "dbId sqlfile", 0},
    {"logminduration", MinDurationCmd, 0, 2, 0, "?pool? ?minduration?", 0},
    {"password", MemberCmd, 0, ANY, HANDLE, "dbId",
     offsetof(Ns_DbHandle, password)},
    {"poolname", MemberCmd, 0, ANY, HANDLE, "dbId",
     offsetof(Ns_DbHandle, poolname)},
    {"pools", PoolsCmd, 0, 0, 0, NULL, 0},
    {"releasehandle", ReleaseCmd, 0, ANY, HANDLE, "dbId", 0},
    {"resethandle", ResetCmd, 0, ANY, HANDLE, "dbId", 0},
    {"rowcount", RowCountCmd, 0, ANY, HANDLE, "dbId", 0},
    {"select", SelectCmd, 1, 1, HANDLE | SQL, "dbId sql", 0},
    {"session_id", SessionCmd, 0, ANY, HANDLE, "dbId", 0},
    {"setexception", SetExceptionCmd, 2, 2, HANDLE | KEEP, "dbId code message",
     0},
    {"sp_exec", SpExecCmd, 0, ANY, HANDLE, "dbId", 0},
    {"sp_getparams", SpGetParamsCmd, 0, ANY, HANDLE, "dbId", 0},
    {"sp_returncode", SpReturnCodeCmd, 0, ANY, HANDLE, "dbId", 0},
    {"sp_setparam", SpSetParamCmd, 4, 4, HANDLE | KEEP,
     "dbId paramname type in|out value", 0},
    {"sp_start", SpStartCmd, 1, 1, HANDLE, "dbId procname", 0},
    {"stats", StatsCmd, 0, 0, 0, NULL, 0},
    {"user", MemberCmd, 0, ANY, HANDLE, "dbId", offsetof(Ns_DbHandle, user)},
    {"verbose", VerboseCmd, 0, 1, HANDLE | KEEP, "dbId ?bool?", 0},
    {NULL, NULL, 0, 0, 0, NULL, 0}};

void
DbAddDbCommand(Tcl_Interp *interp)
{
    (void) Tcl_CreateObjCommand(interp, "ns_db", DbObjCmd, NULL, NULL);
}

static int
DbObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Call call = {.interp = interp, .objc = objc, .objv = objv};
    int  n, nWords;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], commands,
                                  sizeof(commands[0]), "option", 0, &n)
        != TCL_OK) {
        return TCL_ERROR;
    }
    call.subcmdPtr = &commands[n];
    nWords = objc - 2 - (commands[n].flags & HANDLE ? 1 : 0);
    if (nWords < commands[n].minArgs || nWords > commands[n].maxArgs) {
        Tcl_WrongNumArgs(interp, 2, objv, commands[n].usage);
        return TCL_ERROR;
    }
    return Run(&call);
}

static int
Run(Call *callPtr)
{
    unsigned flags = callPtr->subcmdPtr->flags;

    if ((flags & HANDLE) != 0
        && Ns_TclDbGetHandle(callPtr->interp, Tcl_GetString(callPtr->objv[2]),
                             &callPtr->handle)
            != TCL_OK) {
        return TCL_ERROR;
    }
    if ((flags & (HANDLE | KEEP)) == HANDLE) {
        Ns_DbSetException(callPtr->handle, "", "");
    }
    return (flags & SQL) != 0 ? RunSql(callPtr)
                              : callPtr->subcmdPtr->proc(callPtr);
}

static int
RunSql(Call *callPtr)
{
    Ns_DString ds;
    int        result;

    Ns_DStringInit(&ds);
    callPtr->sql = DbSqlText(callPtr->handle, callPtr->objv[3], &ds);
    result = callPtr->sql == NULL ? Fail(callPtr)
                                  : callPtr->subcmdPtr->proc(callPtr);
    Ns_DStringFree(&ds);
    return result;
}

/*
 * The error is the exception of the handle.
 */
static int
Fail(const Call *callPtr)
{
    return DbFail(callPtr->interp, callPtr->handle,
                  Tcl_GetString(callPtr->objv[1]));
}

/* ---- Handles ---- */

static int
GetHandleCmd(const Call *callPtr)
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

    if (Ns_ParseObjv(options, args, callPtr->interp, 2, callPtr->objc,
                     callPtr->objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    if (nHandles < 1) {
        Ns_TclPrintfResult(callPtr->interp,
                           "expected integer in range [1,%d] for '?nhandles', "
                           "but got %d",
                           INT_MAX, nHandles);
        return TCL_ERROR;
    }
    pool = poolObj != NULL ? Tcl_GetString(poolObj)
                           : Ns_DbPoolDefault(DbInterpServer(callPtr->interp));
    if (pool == NULL) {
        Ns_TclPrintfResult(callPtr->interp, "no defaultpool configured");
        return TCL_ERROR;
    }
    if (!HasAccess(callPtr->interp, pool)) {
        return TCL_ERROR;
    }
    /* A time of 0 means no limit. */
    if (timePtr != NULL && timePtr->sec == 0 && timePtr->usec == 0) {
        timePtr = NULL;
    }
    return GetHandles(callPtr->interp, pool, nHandles, timePtr);
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
ReleaseCmd(const Call *callPtr)
{
    Ns_DbPoolPutHandle(callPtr->handle);
    return TCL_OK;
}

static int
CloseCmd(const Call *callPtr)
{
    DbClose(DbHandleOf(callPtr->handle));
    DbPoolCount(DbHandleOf(callPtr->handle));
    return TCL_OK;
}

static int
ResetCmd(const Call *callPtr)
{
    if (Ns_DbResetHandle(callPtr->handle) != NS_OK) {
        return Fail(callPtr);
    }
    Tcl_SetObjResult(callPtr->interp, Tcl_NewIntObj(NS_OK));
    return TCL_OK;
}

static int
CurrentCmd(const Call *callPtr)
{
    Tcl_SetObjResult(callPtr->interp, DbInterpList(callPtr->interp));
    return TCL_OK;
}

/* ---- Pools ---- */

static int
PoolsCmd(const Call *callPtr)
{
    const char *pool = Ns_DbPoolList(DbInterpServer(callPtr->interp));

    for (; pool != NULL && *pool != '\0'; pool += strlen(pool) + 1) {
        Tcl_AppendElement(callPtr->interp, pool);
    }
    return TCL_OK;
}

static int
BounceCmd(const Call *callPtr)
{
    const char *pool = Tcl_GetString(callPtr->objv[2]);

    if (DbPoolFind(pool) == NULL) {
        Ns_TclPrintfResult(callPtr->interp, "could not bounce: %s", pool);
        return TCL_ERROR;
    }
    if (!HasAccess(callPtr->interp, pool)) {
        return TCL_ERROR;
    }
    (void) Ns_DbBouncePool(pool);
    return TCL_OK;
}

static int
MinDurationCmd(const Call *callPtr)
{
    const char *pool = callPtr->objc > 2
        ? Tcl_GetString(callPtr->objv[2])
        : NULL;
    Ns_Time     time, *timePtr;

    if (pool == NULL) {
        Tcl_SetObjResult(callPtr->interp,
                         Ns_DbListMinDurations(
                             callPtr->interp, DbInterpServer(callPtr->interp)));
        return TCL_OK;
    }
    if (Ns_DbGetMinDuration(callPtr->interp, pool, &timePtr) != TCL_OK
        || !HasAccess(callPtr->interp, pool)) {
        return TCL_ERROR;
    }
    if (callPtr->objc > 3) {
        if (Ns_TclGetTimeFromObj(callPtr->interp, callPtr->objv[3], &time)
            != TCL_OK) {
            return TCL_ERROR;
        }
        if (time.sec < 0 || time.usec < 0) {
            Ns_TclPrintfResult(callPtr->interp,
                               "expected a time that is not negative but got "
                               "\"%s\"",
                               Tcl_GetString(callPtr->objv[3]));
            return TCL_ERROR;
        }
        (void) Ns_DbSetMinDuration(callPtr->interp, pool, &time);
    }
    time.sec = (long) (DbPoolMinMicros(DbPoolFind(pool)) / 1000000);
    time.usec = (long) (DbPoolMinMicros(DbPoolFind(pool)) % 1000000);
    Tcl_SetObjResult(callPtr->interp, Ns_TclNewTimeObj(&time));
    return TCL_OK;
}

static int
StatsCmd(const Call *callPtr)
{
    return Ns_DbPoolStats(callPtr->interp);
}

/* ---- Statements and rows ---- */

static int
DmlCmd(const Call *callPtr)
{
    return Done(callPtr, Ns_DbDML(callPtr->handle, callPtr->sql));
}

static int
ExecCmd(const Call *callPtr)
{
    return Kind(callPtr, Ns_DbExec(callPtr->handle, callPtr->sql));
}

static int
SelectCmd(const Call *callPtr)
{
    return Row(callPtr, Ns_DbSelect(callPtr->handle, callPtr->sql));
}

/*
 * Finish a command whose result is the set of the handle.
 */
static int
Row(const Call *callPtr, const Ns_Set *row)
{
    return row == NULL
        ? Fail(callPtr)
        : DbInterpEnterRow(callPtr->interp, DbHandleOf(callPtr->handle));
}

static int
BindRowCmd(const Call *callPtr)
{
    return Row(callPtr, Ns_DbBindRow(callPtr->handle));
}

static int
GetRowCmd(const Call *callPtr)
{
    Ns_Set *row;
    int     status;

    if (Ns_TclGetSet2(callPtr->interp, Tcl_GetString(callPtr->objv[3]), &row)
        != TCL_OK) {
        return TCL_ERROR;
    }
    status = Ns_DbGetRow(callPtr->handle, row);
    if (status != NS_OK && status != NS_END_DATA) {
        return Fail(callPtr);
    }
    Tcl_SetObjResult(callPtr->interp, Tcl_NewBooleanObj(status == NS_OK));
    return TCL_OK;
}

/*
 * ns_db 1row, 0or1row
 */
static int
Single(const Call *callPtr)
{
    bool    mayBeNone = *callPtr->subcmdPtr->name == '0';
    int     nRows = 1;
    Ns_Set *row = mayBeNone
        ? Ns_Db0or1Row(callPtr->handle, callPtr->sql, &nRows)
        : Ns_Db1Row(callPtr->handle, callPtr->sql);

    if (row == NULL) {
        return Fail(callPtr);
    }
    if (nRows == 0) {
        Ns_SetFree(row);
        return TCL_OK;
    }
    return Ns_TclEnterSet(callPtr->interp, row, NS_TCL_SET_DYNAMIC);
}

static int
FlushCmd(const Call *callPtr)
{
    return Done(callPtr, Ns_DbFlush(callPtr->handle));
}

static int
CancelCmd(const Call *callPtr)
{
    return Done(callPtr, Ns_DbCancel(callPtr->handle));
}

static int
RowCountCmd(const Call *callPtr)
{
    Tcl_SetObjResult(callPtr->interp,
                     Tcl_NewIntObj(Ns_DbGetRowCount(callPtr->handle)));
    return TCL_OK;
}

static int
FileCmd(const Call *callPtr)
{
    return Done(callPtr,
                Ns_DbInterpretSqlFile(callPtr->handle,
                                      Tcl_GetString(callPtr->objv[3])));
}

/*
 * Finish a command that has no result.
 */
static int
Done(const Call *callPtr, int status)
{
    return status == NS_OK ? TCL_OK : Fail(callPtr);
}

static int
Kind(const Call *callPtr, int kind)
{
    if (kind != NS_DML && kind != NS_ROWS) {
        return Fail(callPtr);
    }
    return Text(callPtr, kind == NS_DML ? "NS_DML" : "NS_ROWS");
}

/* ---- What a handle is ---- */

static int
ConnectedCmd(const Call *callPtr)
{
    Tcl_SetObjResult(callPtr->interp,
                     Tcl_NewBooleanObj(callPtr->handle->connected));
    return TCL_OK;
}

static int
DbTypeCmd(const Call *callPtr)
{
    return Text(callPtr, Ns_DbDriverDbType(callPtr->handle));
}

static int
DriverCmd(const Call *callPtr)
{
    return Text(callPtr, Ns_DbDriverName(callPtr->handle));
}

static int
SessionCmd(const Call *callPtr)
{
    Ns_TclPrintfResult(callPtr->interp, "sid%" PRIu64,
                       DbHandleOf(callPtr->handle)->session);
    return TCL_OK;
}

static int
InfoCmd(const Call *callPtr)
{
    const char *type = Ns_DbDriverDbType(callPtr->handle);
    Tcl_Obj    *dictObj = Ns_DbDriverVersionInfo(callPtr->handle);

    if (dictObj == NULL) {
        dictObj = Tcl_NewDictObj();
    }
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("type", -1),
                   Tcl_NewStringObj(type == NULL ? "" : type, -1));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("pool", -1),
                   Tcl_NewStringObj(callPtr->handle->poolname, -1));
    Tcl_SetObjResult(callPtr->interp, dictObj);
    return TCL_OK;
}

/*
 * NULL becomes the empty string.
 */
static int
Text(const Call *callPtr, const char *text)
{
    Tcl_SetObjResult(callPtr->interp,
                     Tcl_NewStringObj(text == NULL ? "" : text, -1));
    return TCL_OK;
}

/*
 * ns_db datasource, password, poolname, user
 */
static int
MemberCmd(const Call *callPtr)
{
    const void *memberPtr = (const char *) callPtr->handle
        + callPtr->subcmdPtr->offset;

    return Text(callPtr, *(const char *const *) memberPtr);
}

/* ---- Exceptions ---- */

static int
ExceptionCmd(const Call *callPtr)
{
    Tcl_AppendElement(callPtr->interp, callPtr->handle->cExceptionCode);
    Tcl_AppendElement(callPtr->interp, callPtr->handle->dsExceptionMsg.string);
    return TCL_OK;
}

static int
SetExceptionCmd(const Call *callPtr)
{
    const char *code = Tcl_GetString(callPtr->objv[3]);

    if (strlen(code) > 5) {
        Ns_TclPrintfResult(callPtr->interp,
                           "code \"%s\" more than 5 characters", code);
        return TCL_ERROR;
    }
    Ns_DbSetException(callPtr->handle, code, Tcl_GetString(callPtr->objv[4]));
    return TCL_OK;
}

/*
 * Deprecated: it changes the severity for the whole process.
 */
static int
VerboseCmd(const Call *callPtr)
{
    int isVerbose;

    Ns_LogDeprecated(callPtr->objv, 2, "ns_logctl debug(sql) ...", NULL);
    if (callPtr->objc > 3) {
        if (Tcl_GetBooleanFromObj(callPtr->interp, callPtr->objv[3], &isVerbose)
            != TCL_OK) {
            return TCL_ERROR;
        }
        callPtr->handle->verbose = isVerbose != 0;
        (void) Ns_LogSeveritySetEnabled(Ns_LogSqlDebug, isVerbose != 0);
    }
    Tcl_SetObjResult(callPtr->interp,
                     Tcl_NewBooleanObj(callPtr->handle->verbose));
    return TCL_OK;
}

/* ---- Stored procedures ---- */

static int
SpStartCmd(const Call *callPtr)
{
    if (Ns_DbSpStart(callPtr->handle, Tcl_GetString(callPtr->objv[3]))
        != NS_OK) {
        return Fail(callPtr);
    }
    return Text(callPtr, "0");
}

static int
SpSetParamCmd(const Call *callPtr)
{
    const char *direction = Tcl_GetString(callPtr->objv[5]);

    if (!STREQ(direction, "in") && !STREQ(direction, "out")) {
        Ns_TclPrintfResult(callPtr->interp,
                           "direction of setparam must be \"in\" or \"out\"");
        return TCL_ERROR;
    }
    if (Ns_DbSpSetParam(callPtr->handle, Tcl_GetString(callPtr->objv[3]),
                        Tcl_GetString(callPtr->objv[4]), direction,
                        Tcl_GetString(callPtr->objv[6]))
        != NS_OK) {
        return Fail(callPtr);
    }
    return Text(callPtr, "1");
}

static int
SpExecCmd(const Call *callPtr)
{
    return Kind(callPtr, Ns_DbSpExec(callPtr->handle));
}

static int
SpReturnCodeCmd(const Call *callPtr)
{
    char buffer[32] = "";

    if (Ns_DbSpReturnCode(callPtr->handle, buffer, (int) sizeof(buffer))
        != NS_OK) {
        return Fail(callPtr);
    }
    return Text(callPtr, buffer);
}

static int
SpGetParamsCmd(const Call *callPtr)
{
    return Row(callPtr, Ns_DbSpGetParams(callPtr->handle));
}
