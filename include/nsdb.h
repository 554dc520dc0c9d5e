/* SPDX-License-Identifier: MPL-2.0
 * nsdb.h --
 *
 *      Pools of database connections, for scripts and for C, and what a driver
 *      for a kind of database provides.  Link with -lnsdb.
 *
 *      A handle belongs to the thread that got it until that thread puts it
 *      back.  A driver is called for one handle by one thread at a time, and
 *      for different handles concurrently.  No lock is held during a call.
 */

#ifndef NSDB_H
#define NSDB_H

#include "ns.h"

typedef enum {
    NSDB_ERROR = -1,
    NSDB_OK = 0,
    NS_DML = 1,      /* The statement returned no rows. */
    NS_ROWS = 2,     /* It returned rows. */
    NS_END_DATA = 4, /* There are no more rows. */
    NS_NO_DATA = 8
} NsDb_ReturnCode;

/*
 * The order of the members is that for which drivers of earlier versions were
 * built.  connection, context, statement and fetchingRows belong to the driver
 * and are zero at first.  Drivers fill row and write the exception.  They may
 * clear connected when the connection is lost; the handle is then reopened when
 * it is next got.
 */
typedef struct Ns_DbHandle {
    const char *driver; /* As configured. */
    const char *datasource;
    const char *user; /* May be NULL, and so may password. */
    const char *password;
    void       *connection;
    const char *poolname;
    bool        connected;
    bool        verbose; /* Errors show the statement. */
    Ns_Set     *row;
    char        cExceptionCode[6];
    Ns_DString  dsExceptionMsg; /* Always initialized. */
    void       *context;
    void       *statement;
    bool        fetchingRows;
} Ns_DbHandle;

/*
 * ------------------------------------------------------------------- Drivers
 */

typedef enum {
    DbFn_Name,         /* const char *(h): constant */
    DbFn_DbType,       /* const char *(h): constant */
    DbFn_ServerInit,   /* int (server, "db", driver): once for each server */
    DbFn_OpenDb,       /* int (h): NS_OK; logs the reason otherwise */
    DbFn_CloseDb,      /* int (h): only if open; any thread */
    DbFn_DML,          /* int (h, sql): for drivers without Exec */
    DbFn_Select,       /* Ns_Set *(h, sql): the same; names into the row */
    DbFn_GetRow,       /* int (h, set): NS_OK, NS_END_DATA, NS_ERROR */
    DbFn_Flush,        /* int (h): drop rows; harmless if there are none */
    DbFn_Cancel,       /* int (h): the same */
    DbFn_GetTableInfo, /* No longer called, nor are the next two. */
    DbFn_TableList,
    DbFn_BestRowId,
    DbFn_Exec,         /* int (h, sql): NS_DML, NS_ROWS, NS_ERROR */
    DbFn_BindRow,      /* Ns_Set *(h): names into the emptied row */
    DbFn_ResetHandle,  /* int (h): roll back, reset; on failure it is closed */
    DbFn_SpStart,      /* int (h, name) */
    DbFn_SpSetParam,   /* int (h, "name type in|out value") */
    DbFn_SpExec,       /* int (h): NS_DML, NS_ROWS, NS_ERROR */
    DbFn_SpReturnCode, /* int (h, buffer, bytes) */
    DbFn_SpGetParams,  /* Ns_Set *(h): into the emptied row */
    DbFn_GetRowCount,  /* int (h): rows of the last statement */
    DbFn_Version,      /* Tcl_Obj *(h): a dictionary of versions */
    DbFn_End
} Ns_DbProcId;

/*
 * A table of procedures ends with the first one that is NULL.
 */
typedef struct Ns_DbProc {
    Ns_DbProcId  id;
    ns_funcptr_t func;
} Ns_DbProc;

/*
 * Kept for sources that fill it in.
 */
typedef struct Ns_DbTableInfo {
    Ns_Set  *table;
    int      size;
    int      ncolumns;
    Ns_Set **columns;
} Ns_DbTableInfo;

/*
 * Exported by a driver as Ns_DbDriverInit.  Called once, in the main thread,
 * when the first server with a pool of the driver starts.  It registers the
 * driver's table.
 */
typedef int NsDb_DriverInitProc(const char *driver, const char *configSection);

NS_EXTERN NsDb_DriverInitProc Ns_DbDriverInit;

/*
 * NS_ERROR, logged: no driver with that name is being loaded, or it is
 * registered already.
 */
NS_EXTERN int Ns_DbRegisterDriver(const char *driver, const Ns_DbProc *procs);

/*
 * New in this server: what a driver keeps for the name under which it was
 * registered, its settings for example, and finds again by a handle.
 */
NS_EXTERN int   Ns_DbRegisterDriverData(const char      *driver,
                                        const Ns_DbProc *procs, void *data);
NS_EXTERN void *Ns_DbDriverData(const Ns_DbHandle *handle);

/*
 * Call the driver's procedures.  NS_ERROR or NULL: not connected, no such
 * procedure, or it failed; in the last case the handle's exception may say why.
 * A statement is counted, and logged as the pool is configured.
 */
NS_EXTERN char   *Ns_DbDriverName(Ns_DbHandle *handle);
NS_EXTERN char   *Ns_DbDriverDbType(Ns_DbHandle *handle);
NS_EXTERN int     Ns_DbDML(Ns_DbHandle *handle, const char *sql);
NS_EXTERN Ns_Set *Ns_DbSelect(Ns_DbHandle *handle, const char *sql);
NS_EXTERN int     Ns_DbExec(Ns_DbHandle *handle, const char *sql);
NS_EXTERN Ns_Set *Ns_DbBindRow(Ns_DbHandle *handle);
NS_EXTERN int     Ns_DbGetRow(Ns_DbHandle *handle, Ns_Set *row);
NS_EXTERN int     Ns_DbGetRowCount(Ns_DbHandle *handle);
NS_EXTERN int     Ns_DbFlush(Ns_DbHandle *handle);
NS_EXTERN int     Ns_DbCancel(Ns_DbHandle *handle);
NS_EXTERN int     Ns_DbResetHandle(Ns_DbHandle *handle);
NS_EXTERN int     Ns_DbSpStart(Ns_DbHandle *handle, const char *name);
NS_EXTERN int     Ns_DbSpSetParam(Ns_DbHandle *handle, const char *name,
                                  const char *type, const char *direction,
                                  const char *value);
NS_EXTERN int     Ns_DbSpExec(Ns_DbHandle *handle);
NS_EXTERN int Ns_DbSpReturnCode(Ns_DbHandle *handle, char *buffer, int bytes);
NS_EXTERN Ns_Set  *Ns_DbSpGetParams(Ns_DbHandle *handle);
NS_EXTERN Tcl_Obj *Ns_DbDriverVersionInfo(Ns_DbHandle *handle);

/*
 * ---------------------------------------------------------------------- Pools
 */

/*
 * NULL: no such pool; none configured; no pools.  A list consists of
 * consecutive strings and ends with an empty one.  The strings live as long as
 * the process.
 */
NS_EXTERN const char *Ns_DbPoolDescription(const char *pool);
NS_EXTERN const char *Ns_DbPoolDefault(const char *server);
NS_EXTERN const char *Ns_DbPoolList(const char *server);
NS_EXTERN bool        Ns_DbPoolAllowable(const char *server, const char *pool);

/*
 * Get connected handles of a pool.  A thread that already has handles of the
 * pool gets no more: it must get all that it needs with one call.  Threads are
 * served in the order in which they ask.  wait is how long to wait: NULL is
 * without limit, zero or less is not at all.
 *
 * NS_TIMEOUT, NS_ERROR, NULL: none was got; the log says why.
 */
NS_EXTERN Ns_DbHandle *Ns_DbPoolGetHandle(const char *pool);
NS_EXTERN Ns_DbHandle *Ns_DbPoolTimedGetHandle(const char    *pool,
                                               const Ns_Time *wait);
NS_EXTERN int          Ns_DbPoolGetMultipleHandles(Ns_DbHandle **handles,
                                                   const char *pool, int n);
NS_EXTERN int          Ns_DbPoolTimedGetMultipleHandles(Ns_DbHandle **handles,
                                                        const char *pool, int n,
                                                        const Ns_Time *wait);

/*
 * Put a handle back, from the thread that got it.  Remaining rows are dropped
 * and an open transaction is rolled back.  Handles that a thread still has when
 * it ends are put back then.
 */
NS_EXTERN void Ns_DbPoolPutHandle(Ns_DbHandle *handle);

/*
 * Close the pool's connections: free ones now, others when they are put back.
 * NS_ERROR: no such pool.
 */
NS_EXTERN int Ns_DbBouncePool(const char *pool);

/*
 * For `ns_db stats` and `ns_db logminduration`.  They set the result of interp,
 * which may be NULL except for Stats, and return TCL_OK or TCL_ERROR.  The
 * Ns_Time returned by Get is the pool's own and may change while it is read.
 */
NS_EXTERN int      Ns_DbPoolStats(Tcl_Interp *interp);
NS_EXTERN Tcl_Obj *Ns_DbListMinDurations(Tcl_Interp *interp,
                                         const char *server);
NS_EXTERN int      Ns_DbGetMinDuration(Tcl_Interp *interp, const char *pool,
                                       Ns_Time **timePtrPtr);
NS_EXTERN int      Ns_DbSetMinDuration(Tcl_Interp *interp, const char *pool,
                                       const Ns_Time *timePtr);

/*
 * Severity Debug(sql), with which statements are logged.
 */
NS_EXTERN Ns_LogSeverity Ns_LogSqlDebug;

/*
 * -------------------------------------------------------------------- Helpers
 */

/*
 * The handle with that name in the interpreter.  TCL_ERROR: there is none; see
 * the result.
 */
NS_EXTERN int Ns_TclDbGetHandle(Tcl_Interp *interp, const char *id,
                                Ns_DbHandle **handlePtrPtr);

/*
 * New in this server: the same for a driver's own commands, which work on
 * handles that are open, and whose name (DbFn_Name) is at that address.
 */
NS_EXTERN int Ns_TclDbGetDriverHandle(Tcl_Interp *interp, const char *id,
                                      const char   *driverName,
                                      Ns_DbHandle **handlePtrPtr);

/*
 * Append the string with its quotes doubled, but without enclosing quotes.
 */
NS_EXTERN void Ns_DbQuoteValue(Ns_DString *dsPtr, const char *string);

/*
 * The only row of a query, as a new set that the caller frees.  NULL: failed,
 * see the exception.  0or1Row reports how many rows there were; without a row,
 * the set has no values.
 */
NS_EXTERN Ns_Set *Ns_Db0or1Row(Ns_DbHandle *handle, const char *sql,
                               int *nRowsPtr);
NS_EXTERN Ns_Set *Ns_Db1Row(Ns_DbHandle *handle, const char *sql);

/*
 * Run the statements of a file, which end with semicolons, until one fails.
 */
NS_EXTERN int Ns_DbInterpretSqlFile(Ns_DbHandle *handle, const char *file);

/*
 * Only 5 bytes of the code are kept.
 */
NS_EXTERN void Ns_DbSetException(Ns_DbHandle *handle, const char *code,
                                 const char *message);

/*
 * ------------------------------------------- Statements with bind variables
 *
 * New in this server.  A driver implements a command for them by calling
 * Ns_TclDbBindCmd:
 *
 *      NAME dml|exec|select|1row|0or1row|rows dbId ?-bind setId? sql
 */

/*
 * The value of a variable, given length bytes of its name; valid until the next
 * call.  NULL, with an exception: there is none.
 */
typedef const char *Ns_DbValueProc(void *arg, const char *name, size_t length);

/*
 * Run a statement, through Ns_DbExec, with values for its variables, and return
 * the result of that.  An empty value is NULL in SQL.
 */
typedef int Ns_DbBindExecProc(Ns_DbHandle *handle, const char *sql,
                              Ns_DbValueProc *valueProc, void *arg);

NS_EXTERN int Ns_TclDbBindCmd(Tcl_Interp *interp, int objc,
                              Tcl_Obj *const *objv, Ns_DbBindExecProc *proc);

/*
 * Find the next variable `:name` at or after sql that is not in quotes or in a
 * comment.  Returns the position of its colon, and the length of its name.
 * NULL: none.
 */
NS_EXTERN const char *Ns_DbNextVariable(const char *sql, size_t *lengthPtr);

#endif
