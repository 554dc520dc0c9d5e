/*
 * dbint.h --
 *
 *      What the files of libnsdb share, and the module uses besides nsdb.h.
 */

#ifndef NSDB_DBINT_H
#define NSDB_DBINT_H

#include <stdatomic.h>

#include "nsdb.h"

typedef struct DbPool   DbPool;
typedef struct DbDriver DbDriver;
typedef struct DbInterp DbInterp;

/*
 * A handle as it is; drivers see its beginning.
 */
typedef struct DbHandle {
    Ns_DbHandle public; /* First. */

    /* Constant after creation. */
    DbPool   *poolPtr;
    DbDriver *driverPtr;

    /* The owner's; of a free handle, under the lock of the pool. */
    bool     isActive; /* Rows may be waiting. */
    uint64_t session;  /* Number of the connection. */
    unsigned generation;
    int64_t  openedAt; /* Microseconds, as DbNow. */
    int64_t  usedAt;
    int64_t  nStatements; /* Since it was got, and their time. */
    int64_t  sqlMicros;

    /* The owner's: how scripts know it. */
    DbInterp *interpPtr;
    char      name[24];
    char      rowId[32]; /* Set id of the row; empty if it has none. */

    /* Guarded by the lock of the pool. */
    struct DbHandle *nextFreePtr;
    const void      *owner;     /* A thread's token; NULL: it is free. */
    bool             isCounted; /* Among the connected ones. */
} DbHandle;

static inline DbHandle *
DbHandleOf(Ns_DbHandle *handle)
{
    return (DbHandle *) handle;
}

/*
 * A clock that nobody sets, in microseconds.
 */
int64_t DbNow(void);

/*
 * ------------------------------------------------------------------- driver.c
 */

/*
 * The driver of that name, loaded at first use.  NULL: there is none; logged.
 */
DbDriver *DbDriverGet(const char *name);

/*
 * Tell the driver of a server that uses it, the first time for each.
 */
void DbDriverServer(DbDriver *driverPtr, const char *server);

/*
 * Open and close the connection of a handle.
 */
bool DbOpen(DbHandle *handlePtr);
void DbClose(DbHandle *handlePtr);

/*
 * Append DRIVER:DATASOURCE for the log, without a password.
 */
void DbAppendSource(Ns_DString *dsPtr, const Ns_DbHandle *handle);

/*
 * Drop rows, roll back; false: the state of the connection is unknown.
 */
bool DbReset(DbHandle *handlePtr);

/*
 * --------------------------------------------------------------------- pool.c
 */

/*
 * Make all pools that are configured.  Main thread; the first call counts.
 */
void DbPoolsInit(void);

/*
 * The pool of that name; the one behind a pool in the order of the
 * configuration, the first one behind NULL.
 */
DbPool *DbPoolFind(const char *name);
DbPool *DbPoolNext(const DbPool *poolPtr);

const char *DbPoolName(const DbPool *poolPtr);
DbDriver   *DbPoolDriver(const DbPool *poolPtr);

/*
 * As Ns_DbPoolTimedGetMultipleHandles; the reason of a failure goes to
 * reasonPtr, which is initialized.
 */
int DbPoolGet(Ns_DbHandle **handles, const char *pool, int nHandles,
              const Ns_Time *wait, Ns_DString *reasonPtr);

/*
 * Take account of a handle whose connection has come or gone.
 */
void DbPoolCount(DbHandle *handlePtr);

/*
 * The shortest time of a statement that is logged, in microseconds; whether
 * failures are.
 */
int64_t DbPoolMinMicros(const DbPool *poolPtr);
bool    DbPoolLogsErrors(const DbPool *poolPtr);

/*
 * ------------------------------------------------------------------- dbtime.c
 */

/*
 * Append as S.UUUUUU.
 */
void DbAppendMicros(Ns_DString *dsPtr, int64_t micros);

/*
 * ------------------------------------------------------------------- server.c
 */

/*
 * Read which pools a server may use.  Main thread.
 */
void DbServerInit(const char *server);

/*
 * ------------------------------------------------------------------- interp.c
 */

/*
 * Give an interpreter a table of handles.
 */
void DbInterpInit(Tcl_Interp *interp, const char *server);

const char *DbInterpServer(Tcl_Interp *interp);

/*
 * Name a handle; the name lasts until the handle is put back.
 */
const char *DbInterpEnter(Tcl_Interp *interp, DbHandle *handlePtr);

/*
 * The name is gone, and the row, if the script knows it, stays with the
 * interpreter until its next clean-up.
 */
void DbInterpForget(DbHandle *handlePtr);

/*
 * Put all back; the end of a use.
 */
int DbInterpRelease(Tcl_Interp *interp, void *arg);

/*
 * The handles that have a name, as a dictionary.
 */
Tcl_Obj *DbInterpList(Tcl_Interp *interp);

/*
 * The id of the handle's own row as the result.
 */
int DbInterpEnterRow(Tcl_Interp *interp, DbHandle *handlePtr);

/*
 * The text of an error as the result: TCL_ERROR.
 */
int DbFail(Tcl_Interp *interp, Ns_DbHandle *handle, const char *command);

/*
 * The text of a statement, in UTF-8, borrowed or in dsPtr, which is
 * initialized. NULL, and an exception, for one with a NUL character.
 */
const char *DbSqlText(Ns_DbHandle *handle, Tcl_Obj *objPtr, Ns_DString *dsPtr);

/*
 * Results of a statement that has been run: 1row, 0or1row from the rows of the
 * handle, which are bound.
 */
Ns_Set *DbOnlyRow(Ns_DbHandle *handle, Ns_Set *row, int *nRowsPtr);

#endif
