/* SPDX-License-Identifier: MPL-2.0
 * nslogsqlite.c --
 *
 *      Log sinks that insert records into a table of an SQLite database.
 *
 *      One write is one transaction: the rows, how far each lane has been read,
 *      and the number of the write.  A process that takes over the mapping asks
 *      the database for the positions, so no row is missing and none there
 *      twice.  The number says the same about a commit that failed: the rows
 *      may be in the file all the same, now or when the database is opened
 *      again.  The write is tried again with the same number, and the database
 *      has it already or not.
 */

#include "nslogsink.h"

#include <sqlite3.h>

#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define POSITIONS   "nsd_log_position"
#define BUSY_MS     1000
#define NUMBER_LANE (-1) /* The number's place among the positions. */
/* Nobody comes back for positions of an earlier version that are so old. */
#define OLD_NANOS (INT64_C(30) * 86400 * 1000000000)
/* Between two looks at the name. */
#define LOOK_NANOS INT64_C(1000000000)

enum { FILE_OPTION, TABLE_OPTION };

static const Ns_LogSinkOption options[] = {
    [FILE_OPTION] =
        {.name = "file",
         .kind = NS_LOGSINK_PATH,
         .range = "a path",
         .sentence = "The database; relative to home/logs if that exists, else "
                     "to home."},
    [TABLE_OPTION] = {.name = "table",
                      .kind = NS_LOGSINK_TEXT,
                      .defaultText = "log",
                      .max = 127,
                      .range = "a name",
                      .sentence = "The table; created if missing."},
    {.name = NULL}};

/*
 * A target's data.
 */
typedef struct Database {
    Ns_LogSinkTarget *targetPtr;
    const char       *file;
    sqlite3          *handle; /* NULL: the database is not open. */
    sqlite3_stmt     *insertRow;
    sqlite3_stmt     *setPosition;
    sqlite3_stmt     *getNumber;
    int64_t           number;    /* Of the write under way. */
    bool              isInDoubt; /* It may have been committed. */
    bool              isPruned;  /* Positions of other epochs are deleted. */
    struct stat       st;        /* Of the file when it was opened. */
    int64_t           lookDue;   /* Whether it still has its name. */
} Database;

static int  OpenSqlite(Ns_LogSinkTarget *targetPtr);
static bool Connect(Database *dbPtr);
static bool Prepare(Database *dbPtr);
static bool AddServer(Database *dbPtr);
static bool Execute(Database *dbPtr, const char *sql);
static bool PrepareOne(Database *dbPtr, sqlite3_stmt **statementPtr,
                       const char *fmt, const char *table);
static int  WriteRows(Ns_LogSinkTarget *targetPtr, Ns_LogSinkBatch *batchPtr);
static bool Transaction(Database *dbPtr, Ns_LogSinkBatch *batchPtr);
static bool LookForNumber(Database *dbPtr, uint64_t epoch, bool *isTherePtr);
static void LookAtName(Database *dbPtr, bool isAwaited);
static int64_t Clock(clockid_t id);
static int     Reason(const Database *dbPtr);
static bool    InsertRows(Database *dbPtr, Ns_LogSinkBatch *batchPtr);
static void    BindText(sqlite3_stmt *statement, int column, Ns_LogText text);
static bool    IsRowsFault(int code);
static bool    SetPositions(Database *dbPtr, const Ns_LogSinkBatch *batchPtr);
static bool    SetPosition(Database *dbPtr, uint64_t epoch, int64_t lane,
                           int64_t position);
static void    BindKey(const Database *dbPtr, sqlite3_stmt *statement,
                       uint64_t epoch, int64_t lane);
static bool    Prune(Database *dbPtr, const Ns_LogSinkBatch *batchPtr);
static bool    Step(sqlite3_stmt *statement);
static void    CloseSqlite(Ns_LogSinkTarget *targetPtr);
static void    Disconnect(Database *dbPtr);
static int     GetPositions(Ns_LogSinkTarget *targetPtr, uint64_t epoch,
                            Ns_LogSinkPositions *listPtr);

static const Ns_LogSinkType type = {
    .version = NS_LOGSINK_INTERFACE,
    .flags = NS_LOGSINK_FILE,
    .name = "sqlite",
    .options = options,
    .openProc = OpenSqlite,
    .writeProc = WriteRows,
    .positionsProc = GetPositions,
    .closeProc = CloseSqlite};

const Ns_LogSinkType *
Ns_LogSinkInit(const char **reasonPtr)
{
    return &type;
}

/*
 * Begin even if another process holds the database.
 */
static int
OpenSqlite(Ns_LogSinkTarget *targetPtr)
{
    Database *dbPtr = ns_calloc(1u, sizeof(*dbPtr));
    int       reason;

    dbPtr->targetPtr = targetPtr;
    dbPtr->file = targetPtr->values[FILE_OPTION].text;
    targetPtr->data = dbPtr;
    if (Connect(dbPtr) || errno == EBUSY) {
        return NS_OK;
    }
    reason = errno;
    CloseSqlite(targetPtr);
    errno = reason;
    return NS_ERROR;
}

static bool
Connect(Database *dbPtr)
{
    if (sqlite3_open_v2(dbPtr->file, &dbPtr->handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                            | SQLITE_OPEN_FULLMUTEX,
                        NULL)
            != SQLITE_OK
        || !Prepare(dbPtr)) {
        int reason = Reason(dbPtr);

        Disconnect(dbPtr);
        errno = reason;
        return false;
    }
    (void) stat(dbPtr->file, &dbPtr->st);
    return true;
}

static bool
Prepare(Database *dbPtr)
{
    const char *table = dbPtr->targetPtr->values[TABLE_OPTION].text;
    char       *create =
        sqlite3_mprintf("CREATE TABLE IF NOT EXISTS \"%w\""
                        " (time TEXT, stream TEXT, severity TEXT, record TEXT)",
                        table);
    bool isOk;

    (void) sqlite3_busy_timeout(dbPtr->handle, BUSY_MS);
    isOk = Execute(dbPtr, "PRAGMA journal_mode=WAL")
        && Execute(dbPtr, "PRAGMA synchronous=FULL") && Execute(dbPtr, create)
        && Execute(dbPtr,
                   "CREATE TABLE IF NOT EXISTS " POSITIONS
                   " (sink TEXT, epoch INTEGER, lane INTEGER,"
                   " position INTEGER, server TEXT,"
                   " PRIMARY KEY (sink, epoch, lane))")
        && AddServer(dbPtr);
    sqlite3_free(create);
    return isOk
        && PrepareOne(dbPtr, &dbPtr->insertRow,
                      "INSERT OR ABORT INTO \"%w\" VALUES (?, ?, ?, ?)", table)
        && PrepareOne(dbPtr, &dbPtr->setPosition,
                      "INSERT OR REPLACE INTO"
                      " \"%w\" (sink, epoch, lane, position, server)"
                      " VALUES (?, ?, ?, ?, ?)",
                      POSITIONS)
        && PrepareOne(dbPtr, &dbPtr->getNumber,
                      "SELECT position FROM \"%w\""
                      " WHERE sink = ? AND epoch = ? AND lane = ?",
                      POSITIONS);
}

/*
 * Tables of earlier versions did not say whose positions are there.  Another
 * server may be at it as well.
 */
static bool
AddServer(Database *dbPtr)
{
    return Execute(dbPtr, "SELECT server FROM " POSITIONS " LIMIT 0")
        || Execute(dbPtr, "ALTER TABLE " POSITIONS " ADD COLUMN server TEXT")
        || Execute(dbPtr, "SELECT server FROM " POSITIONS " LIMIT 0");
}

static bool
Execute(Database *dbPtr, const char *sql)
{
    return sqlite3_exec(dbPtr->handle, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool
PrepareOne(Database *dbPtr, sqlite3_stmt **statementPtr, const char *fmt,
           const char *table)
{
    char *sql = sqlite3_mprintf(fmt, table);
    bool  isOk = sqlite3_prepare_v2(dbPtr->handle, sql, -1, statementPtr, NULL)
        == SQLITE_OK;

    sqlite3_free(sql);
    return isOk;
}

/*
 * All rows or none.
 */
static int
WriteRows(Ns_LogSinkTarget *targetPtr, Ns_LogSinkBatch *batchPtr)
{
    Database *dbPtr = targetPtr->data;
    int       reason;

    LookAtName(dbPtr, batchPtr->isAwaited);
    if (dbPtr->handle == NULL && !Connect(dbPtr)) {
        return NS_ERROR;
    }
    if (!dbPtr->isInDoubt) {
        dbPtr->number = MAX(dbPtr->number + 1, Clock(CLOCK_REALTIME));
    }
    if (Transaction(dbPtr, batchPtr)) {
        dbPtr->isInDoubt = false;
        return NS_OK;
    }
    reason = Reason(dbPtr);
    (void) Execute(dbPtr, "ROLLBACK");
    if (targetPtr->error[0] != '\0') {
        /* The table, or the whole database, is not what it was. */
        Disconnect(dbPtr);
    }
    errno = reason;
    return NS_ERROR;
}

static bool
Transaction(Database *dbPtr, Ns_LogSinkBatch *batchPtr)
{
    bool isThereAlready = false;

    if (!Execute(dbPtr, "BEGIN IMMEDIATE")
        || (dbPtr->isInDoubt
            && !LookForNumber(dbPtr, batchPtr->epoch, &isThereAlready))) {
        return false;
    }
    if (isThereAlready) {
        return Execute(dbPtr, "ROLLBACK");
    }
    if (!InsertRows(dbPtr, batchPtr) || !SetPositions(dbPtr, batchPtr)
        || !Prune(dbPtr, batchPtr)) {
        return false;
    }
    dbPtr->isInDoubt = true;
    return Execute(dbPtr, "COMMIT");
}

/*
 * Whether an earlier attempt was committed after all.  False: it is not known.
 */
static bool
LookForNumber(Database *dbPtr, uint64_t epoch, bool *isTherePtr)
{
    sqlite3_stmt *statement = dbPtr->getNumber;
    int           code;

    BindKey(dbPtr, statement, epoch, NUMBER_LANE);
    code = sqlite3_step(statement);
    *isTherePtr = code == SQLITE_ROW
        && sqlite3_column_int64(statement, 0) == dbPtr->number;
    (void) sqlite3_reset(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/*
 * Rows in a database that was deleted are lost.
 */
static void
LookAtName(Database *dbPtr, bool isAwaited)
{
    int64_t     now = Clock(CLOCK_MONOTONIC);
    struct stat st;

    if (dbPtr->handle == NULL || (now < dbPtr->lookDue && !isAwaited)) {
        return;
    }
    dbPtr->lookDue = now + LOOK_NANOS;
    if (stat(dbPtr->file, &st) != 0 || st.st_ino != dbPtr->st.st_ino
        || st.st_dev != dbPtr->st.st_dev) {
        Ns_Log(
            Error,
            "log[%s]: database '%s' was deleted, renamed or replaced: it is "
            "opened again; rows that were written before are missing from it",
            dbPtr->targetPtr->sink, dbPtr->file);
        Disconnect(dbPtr);
    }
}

static int64_t
Clock(clockid_t id)
{
    struct timespec now;

    (void) clock_gettime(id, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * As errno; what has none says so itself.
 */
static int
Reason(const Database *dbPtr)
{
    Ns_LogSinkTarget *targetPtr = dbPtr->targetPtr;
    int               reason = EIO;

    if (dbPtr->handle == NULL) {
        return ENOMEM;
    }
    switch (sqlite3_errcode(dbPtr->handle)) {
    case SQLITE_FULL:
        return ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return EBUSY;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        reason = sqlite3_system_errno(dbPtr->handle);
        break;
    default:
        snprintf(targetPtr->error, sizeof(targetPtr->error), "%s",
                 sqlite3_errmsg(dbPtr->handle));
    }
    return reason != 0 ? reason : EIO;
}

/*
 * A row that the table's constraints refuse is left out; unless a trigger has
 * undone the transaction with it.
 */
static bool
InsertRows(Database *dbPtr, Ns_LogSinkBatch *batchPtr)
{
    Ns_LogRow row;
    bool      isOk = true;

    while (isOk && Ns_LogSinkNextRow(batchPtr, &row)) {
        (void) sqlite3_bind_text(dbPtr->insertRow, 1, row.time, -1,
                                 SQLITE_STATIC);
        BindText(dbPtr->insertRow, 2, row.stream);
        BindText(dbPtr->insertRow, 3, row.severity);
        BindText(dbPtr->insertRow, 4, row.record);
        isOk = Step(dbPtr->insertRow);
        if (!isOk && IsRowsFault(sqlite3_errcode(dbPtr->handle))
            && !sqlite3_get_autocommit(dbPtr->handle)) {
            Ns_LogSinkRefuse(batchPtr, sqlite3_errmsg(dbPtr->handle));
            isOk = true;
        }
    }
    return isOk;
}

static void
BindText(sqlite3_stmt *statement, int column, Ns_LogText text)
{
    (void) sqlite3_bind_text(statement, column, text.bytes, (int) text.length,
                             SQLITE_STATIC);
}

static bool
IsRowsFault(int code)
{
    return code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH
        || code == SQLITE_TOOBIG;
}

static bool
SetPositions(Database *dbPtr, const Ns_LogSinkBatch *batchPtr)
{
    bool isOk = SetPosition(dbPtr, batchPtr->epoch, NUMBER_LANE, dbPtr->number);

    for (int i = 0; isOk && i < batchPtr->nPositions; i++) {
        const Ns_LogPosition *p = &batchPtr->positions[i];

        isOk = SetPosition(dbPtr, batchPtr->epoch, p->lane,
                           (int64_t) p->position);
    }
    return isOk;
}

static bool
SetPosition(Database *dbPtr, uint64_t epoch, int64_t lane, int64_t position)
{
    sqlite3_stmt *statement = dbPtr->setPosition;

    BindKey(dbPtr, statement, epoch, lane);
    (void) sqlite3_bind_int64(statement, 4, position);
    (void) sqlite3_bind_text(statement, 5, dbPtr->targetPtr->server, -1,
                             SQLITE_STATIC);
    return Step(statement);
}

/*
 * The columns that identify a position.
 */
static void
BindKey(const Database *dbPtr, sqlite3_stmt *statement, uint64_t epoch,
        int64_t lane)
{
    (void) sqlite3_bind_text(statement, 1, dbPtr->targetPtr->sink, -1,
                             SQLITE_STATIC);
    (void) sqlite3_bind_int64(statement, 2, (sqlite3_int64) epoch);
    (void) sqlite3_bind_int64(statement, 3, lane);
}

/*
 * Positions that nobody needs; but never another server's.
 */
static bool
Prune(Database *dbPtr, const Ns_LogSinkBatch *batchPtr)
{
    char *sql;
    bool  isOk;

    if (dbPtr->isPruned || !batchPtr->mayForget) {
        return true;
    }
    sql = sqlite3_mprintf("DELETE FROM " POSITIONS
                          " WHERE sink = %Q AND epoch <> %lld AND (server = %Q"
                          " OR (server IS NULL AND epoch < %lld))",
                          dbPtr->targetPtr->sink,
                          (sqlite3_int64) batchPtr->epoch,
                          dbPtr->targetPtr->server,
                          (sqlite3_int64) (Clock(CLOCK_REALTIME) - OLD_NANOS));
    isOk = dbPtr->isPruned = Execute(dbPtr, sql);
    sqlite3_free(sql);
    return isOk;
}

static bool
Step(sqlite3_stmt *statement)
{
    bool isOk = sqlite3_step(statement) == SQLITE_DONE;

    (void) sqlite3_reset(statement);
    return isOk;
}

static void
CloseSqlite(Ns_LogSinkTarget *targetPtr)
{
    Disconnect(targetPtr->data);
    ns_free(targetPtr->data);
    targetPtr->data = NULL;
}

static void
Disconnect(Database *dbPtr)
{
    (void) sqlite3_finalize(dbPtr->insertRow);
    (void) sqlite3_finalize(dbPtr->setPosition);
    (void) sqlite3_finalize(dbPtr->getNumber);
    (void) sqlite3_close(dbPtr->handle);
    dbPtr->insertRow = dbPtr->setPosition = dbPtr->getNumber = NULL;
    dbPtr->handle = NULL;
}

/*
 * The database knows best how far a process got that was killed.
 */
static int
GetPositions(Ns_LogSinkTarget *targetPtr, uint64_t epoch,
             Ns_LogSinkPositions *listPtr)
{
    Database     *dbPtr = targetPtr->data;
    sqlite3_stmt *statement = NULL;
    char         *sql;
    int           code;

    if (dbPtr->handle == NULL && !Connect(dbPtr)) {
        return NS_ERROR;
    }
    sql = sqlite3_mprintf("SELECT lane, position FROM " POSITIONS
                          " WHERE sink = %Q AND epoch = %lld",
                          targetPtr->sink, (sqlite3_int64) epoch);
    code = sqlite3_prepare_v2(dbPtr->handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            Ns_LogSinkAddPosition(listPtr, sqlite3_column_int64(statement, 0),
                                  sqlite3_column_int64(statement, 1));
        }
    }
    if (code != SQLITE_DONE) {
        errno = Reason(dbPtr);
    }
    (void) sqlite3_finalize(statement);
    sqlite3_free(sql);
    return code == SQLITE_DONE ? NS_OK : NS_ERROR;
}
