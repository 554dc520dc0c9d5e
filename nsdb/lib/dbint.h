/* SPDX-License-Identifier: MPL-2.0
 * dbint.h --
 *
 *      What the files of libnsdb share, and what the module uses in addition to
 *      nsdb.h.
 */

#ifndef NSDB_DBINT_H
#define NSDB_DBINT_H

#include <stdatomic.h>

#include "nsdb.h"

typedef struct DbPool   DbPool;
typedef struct DbDriver DbDriver;
typedef struct DbInterp DbInterp;

/*
 * The complete handle; drivers see only its beginning.
 */
typedef struct DbHandle {
    Ns_DbHandle public; /* Must come first. */

    /* Constant after creation. */
    DbPool   *poolPtr;
    DbDriver *driverPtr;

    /*
     * Belongs to the owner; while the handle is free, guarded by the lock of
     * the pool.
     */
    bool     isActive; /* Rows may be waiting. */
    uint64_t session;  /* Number of the connection. */
    unsigned generation;
    int64_t  openedAt; /* Microseconds, from DbNow. */
    int64_t  usedAt;
    int64_t  nStatements; /* Since it was got; with their time. */
    int64_t  sqlMicros;

    /* Belongs to the owner: how scripts refer to the handle. */
    DbInterp *interpPtr;
    char      name[24];
    char      rowId[32]; /* Set id of the row; "": none. */

    /* Guarded by the lock of the pool. */
    struct DbHandle *nextFreePtr;
    const void      *owner;     /* A thread's token; NULL: free. */
    bool             isCounted; /* Counted as connected. */
} DbHandle;

static inline DbHandle *
DbHandleOf(Ns_DbHandle *handle)
{
    return (DbHandle *) handle;
}

/*
 * A monotonic clock, in microseconds.
 */
int64_t DbNow(void);

/*
 * ------------------------------------------------------------------- driver.c
 */

/*
 * The driver with that name, loaded at first use.  NULL: there is none; logged.
 */
DbDriver *DbDriverGet(const char *name);

/*
 * Tell the driver about a server that uses it, once for each server.
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
 * Drop rows and roll back.  False: the state of the connection is unknown.
 */
bool DbReset(DbHandle *handlePtr);

/*
 * --------------------------------------------------------------------- pool.c
 */

/*
 * Make all configured pools.  Main thread; only the first call has an effect.
 */
void DbPoolsInit(void);

/*
 * Find: the pool with that name.  Next: the one after a pool, in the order of
 * the configuration; after NULL, the first one.
 */
DbPool *DbPoolFind(const char *name);
DbPool *DbPoolNext(const DbPool *poolPtr);

const char *DbPoolName(const DbPool *poolPtr);
DbDriver   *DbPoolDriver(const DbPool *poolPtr);

/*
 * As Ns_DbPoolTimedGetMultipleHandles.  The reason for a failure is appended to
 * reasonPtr, which must be initialized.
 */
int DbPoolGet(Ns_DbHandle **handles, const char *pool, int nHandles,
              const Ns_Time *wait, Ns_DString *reasonPtr);

/*
 * Update the count when a handle's connection was opened or closed.
 */
void DbPoolCount(DbHandle *handlePtr);

/*
 * The minimum duration of statements that are logged, in microseconds; whether
 * failures are logged.
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
 * Give a handle a name, which is valid until the handle is put back.
 */
const char *DbInterpEnter(Tcl_Interp *interp, DbHandle *handlePtr);

/*
 * Remove the name.  A row that the script knows stays with the interpreter
 * until its next clean-up.
 */
void DbInterpForget(DbHandle *handlePtr);

/*
 * Put all handles back, at the end of a use of the interpreter.
 */
int DbInterpRelease(Tcl_Interp *interp, void *arg);

/*
 * The handles that have names, as a dictionary.
 */
Tcl_Obj *DbInterpList(Tcl_Interp *interp);

/*
 * Set the result to the id of the handle's own row.
 */
int DbInterpEnterRow(Tcl_Interp *interp, DbHandle *handlePtr);

/*
 * Set the result to the text of an error, and return TCL_ERROR.
 */
int DbFail(Tcl_Interp *interp, Ns_DbHandle *handle, const char *command);

/*
 * The text of a statement in UTF-8, borrowed or in dsPtr, which must be
 * initialized.  NULL, with an exception: the statement contains a NUL
 * character.
 */
const char *DbSqlText(Ns_DbHandle *handle, Tcl_Obj *objPtr, Ns_DString *dsPtr);

/*
 * For 1row and 0or1row: the only row of a statement that has been run and whose
 * row is bound.
 */
Ns_Set *DbOnlyRow(Ns_DbHandle *handle, Ns_Set *row, int *nRowsPtr);

#endif
