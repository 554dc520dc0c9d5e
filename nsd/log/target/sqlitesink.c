/*
 * sqlitesink.c --
 *
 *      Sinks that insert records into a table of an SQLite database.
 *
 *      One write is one transaction: the rows, how far each lane has been read,
 *      and the number of the write.  A process that takes over the mapping asks
 *      the database for the positions, so no row is missing and none there
 *      twice.  The number says the same about a commit that failed: the rows
 *      may be in the file all the same, now or when the database is opened
 *      again.  The write is tried again with the same number, and the database
 *      has it already or not.
 */

#include "log/sink/sink_int.h"

#include <sqlite3.h>

#include "log/target/openfiles.h"
#include "log/target/row.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define BUSY_MS 1000
#define NUMBER_LANE (-1)        /* The number's place among the positions. */
/* Nobody comes back for positions of an earlier version that are so old. */
#define OLD_NANOS (INT64_C(30) * 86400 * 1000000000)

typedef struct Database {
    sqlite3      *handle;       /* NULL: the database is not open. */
    sqlite3_stmt *insertRow;
    sqlite3_stmt *setPosition;
    sqlite3_stmt *getNumber;
    Ns_DString    server;       /* Whose positions are ours. */
    int64_t       number;       /* Of the write under way. */
    bool          isInDoubt;    /* It may have been committed. */
    bool          isPruned;     /* Positions of other mappings are deleted. */
    struct stat   file;         /* When it was opened. */
} Database;

/* Between two looks at the name. */
#define LOOK_NANOS INT64_C(1000000000)

static bool    OpenSqlite(Ns_LogSink sink);
static Database *GetDatabase(Ns_LogSink sink);
static bool    Connect(Database *dbPtr, Ns_LogSink sink);
static bool    Prepare(Database *dbPtr, Ns_LogSink sink);
static bool    AddServer(Database *dbPtr);
static bool    Execute(Database *dbPtr, const char *sql);
static bool    PrepareOne(Database *dbPtr, sqlite3_stmt **statementPtr,
                          const char *fmt, const char *table);
static ssize_t WriteRows(Ns_LogSink sink, const char *bytes, size_t length);
static bool    Transaction(Database *dbPtr, Ns_LogSink sink, const char *bytes,
                           size_t length);
static bool    LookForNumber(Database *dbPtr, Ns_LogSink sink, bool *isTherePtr);
static void    LookAtName(Ns_LogSink sink);
static int     Reason(const Database *dbPtr, Ns_LogSink sink);
static bool    InsertRows(Database *dbPtr, Ns_LogSink sink, const char *bytes,
                          size_t length);
static void    BindText(sqlite3_stmt *statement, int column, NsRowText text);
static bool    IsRowsFault(int code);
static bool    SetPositions(Database *dbPtr, Ns_LogSink sink);
static bool    SetPosition(Database *dbPtr, Ns_LogSink sink, int64_t lane,
                           int64_t position);
static void    BindKey(sqlite3_stmt *statement, Ns_LogSink sink, int64_t lane);
static bool    Prune(Database *dbPtr, Ns_LogSink sink);
static bool    Step(sqlite3_stmt *statement);
static void    CloseDatabase(Ns_LogSink sink);
static void    Disconnect(Database *dbPtr, Ns_LogSink sink);
static bool    Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

const NsSinkType nsSqliteSinkType = {
    .name = "sqlite", .isDatabase = true, .isRemote = true,
    .openProc = OpenSqlite,
    .writeProc = WriteRows, .closeProc = CloseDatabase,
    .formatProc = NsRowFormat, .settleProc = Settle
};


/*
 * That another process holds the database is no reason not to begin.
 */
static bool
OpenSqlite(Ns_LogSink sink)
{
    int reason;

    if (Connect(GetDatabase(sink), sink) || errno == EBUSY) {
        return true;
    }
    reason = errno;
    CloseDatabase(sink);
    errno = reason;
    return false;
}

/*
 * Also for a sink that was made though it could not be opened.
 */
static Database *
GetDatabase(Ns_LogSink sink)
{
    if (sink->target == NULL) {
        Database *dbPtr = ns_calloc(1u, sizeof(*dbPtr));

        Ns_DStringInit(&dbPtr->server);
        NsRowAppendServer(&dbPtr->server);
        sink->target = dbPtr;
    }
    return sink->target;
}

static bool
Connect(Database *dbPtr, Ns_LogSink sink)
{
    if (sqlite3_open_v2(sink->file, &dbPtr->handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                        | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK
            || !Prepare(dbPtr, sink)) {
        int reason = Reason(dbPtr, sink);

        Disconnect(dbPtr, sink);
        errno = reason;
        return false;
    }
    if (stat(sink->file, &dbPtr->file) == 0) {
        NsOpenFilesNote(sink, &dbPtr->file);
    }
    return true;
}

static bool
Prepare(Database *dbPtr, Ns_LogSink sink)
{
    const char *table = sink->table != NULL && *sink->table != '\0'
        ? sink->table : NS_ROW_TABLE;
    char       *create = sqlite3_mprintf(
        "CREATE TABLE IF NOT EXISTS \"%w\""
        " (time TEXT, stream TEXT, severity TEXT, record TEXT)", table);
    bool        isOk;

    (void) sqlite3_busy_timeout(dbPtr->handle, BUSY_MS);
    isOk = Execute(dbPtr, "PRAGMA journal_mode=WAL")
        && Execute(dbPtr, "PRAGMA synchronous=FULL")
        && Execute(dbPtr, create)
        && Execute(dbPtr, "CREATE TABLE IF NOT EXISTS " NS_ROW_POSITIONS
                   " (sink TEXT, epoch INTEGER, lane INTEGER,"
                   " position INTEGER, server TEXT,"
                   " PRIMARY KEY (sink, epoch, lane))")
        && AddServer(dbPtr);
    sqlite3_free(create);
    return isOk
        && PrepareOne(dbPtr, &dbPtr->insertRow,
                      "INSERT OR ABORT INTO \"%w\" VALUES (?, ?, ?, ?)", table)
        && PrepareOne(dbPtr, &dbPtr->setPosition, "INSERT OR REPLACE INTO"
                      " \"%w\" (sink, epoch, lane, position, server)"
                      " VALUES (?, ?, ?, ?, ?)", NS_ROW_POSITIONS)
        && PrepareOne(dbPtr, &dbPtr->getNumber, "SELECT position FROM \"%w\""
                      " WHERE sink = ? AND epoch = ? AND lane = ?",
                      NS_ROW_POSITIONS);
}

/*
 * Tables of earlier versions did not say whose positions are there.  Another
 * server may be at it as well.
 */
static bool
AddServer(Database *dbPtr)
{
    return Execute(dbPtr, "SELECT server FROM " NS_ROW_POSITIONS " LIMIT 0")
        || Execute(dbPtr, "ALTER TABLE " NS_ROW_POSITIONS
                   " ADD COLUMN server TEXT")
        || Execute(dbPtr, "SELECT server FROM " NS_ROW_POSITIONS " LIMIT 0");
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
static ssize_t
WriteRows(Ns_LogSink sink, const char *bytes, size_t length)
{
    Database *dbPtr = GetDatabase(sink);
    int       reason;

    LookAtName(sink);
    if (dbPtr->handle == NULL && !Connect(dbPtr, sink)) {
        return -1;
    }
    if (!dbPtr->isInDoubt) {
        dbPtr->number = MAX(dbPtr->number + 1, NsLogClock());
    }
    if (Transaction(dbPtr, sink, bytes, length)) {
        dbPtr->isInDoubt = false;
        return (ssize_t) length;
    }
    reason = Reason(dbPtr, sink);
    (void) Execute(dbPtr, "ROLLBACK");
    if (sink->complaint[0] != '\0') {
        /* The table, or the whole database, is not what it was. */
        Disconnect(dbPtr, sink);
    }
    errno = reason;
    return -1;
}

static bool
Transaction(Database *dbPtr, Ns_LogSink sink, const char *bytes, size_t length)
{
    bool isThereAlready = false;

    if (!Execute(dbPtr, "BEGIN IMMEDIATE")
            || (dbPtr->isInDoubt
                && !LookForNumber(dbPtr, sink, &isThereAlready))) {
        return false;
    }
    if (isThereAlready) {
        return Execute(dbPtr, "ROLLBACK");
    }
    if (!InsertRows(dbPtr, sink, bytes, length) || !SetPositions(dbPtr, sink)
            || !Prune(dbPtr, sink)) {
        return false;
    }
    dbPtr->isInDoubt = true;
    return Execute(dbPtr, "COMMIT");
}

/*
 * Whether an earlier attempt was committed after all.  False: it cannot be
 * told.
 */
static bool
LookForNumber(Database *dbPtr, Ns_LogSink sink, bool *isTherePtr)
{
    sqlite3_stmt *statement = dbPtr->getNumber;
    int           code;

    BindKey(statement, sink, NUMBER_LANE);
    code = sqlite3_step(statement);
    *isTherePtr = code == SQLITE_ROW
        && sqlite3_column_int64(statement, 0) == dbPtr->number;
    (void) sqlite3_reset(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/*
 * What goes into a database that was deleted is lost.
 */
static void
LookAtName(Ns_LogSink sink)
{
    Database   *dbPtr = sink->target;
    struct stat st;

    if (dbPtr->handle == NULL || !NsSinkIsDue(sink->lookDue, LOOK_NANOS)) {
        return;
    }
    sink->lookDue = NsLogClock() + LOOK_NANOS;
    if (stat(sink->file, &st) != 0 || st.st_ino != dbPtr->file.st_ino
            || st.st_dev != dbPtr->file.st_dev) {
        Ns_Log(Error, "log: sink '%s': database '%s' was deleted, renamed or "
               "replaced: it is opened anew; rows are missing from it that were "
               "written before", sink->name, sink->file);
        Disconnect(dbPtr, sink);
    }
}

/*
 * As errno; what has none says so itself.
 */
static int
Reason(const Database *dbPtr, Ns_LogSink sink)
{
    int reason = EIO;

    sink->complaint[0] = '\0';
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
        snprintf(sink->complaint, sizeof(sink->complaint), "%s",
                 sqlite3_errmsg(dbPtr->handle));
    }
    return reason != 0 ? reason : EIO;
}

/*
 * A row that the table's constraints refuse is left out; unless a trigger has
 * undone the transaction with it.
 */
static bool
InsertRows(Database *dbPtr, Ns_LogSink sink, const char *bytes, size_t length)
{
    const char *end = bytes + length;
    bool        isOk = true;

    sink->nRefused = 0;
    while (isOk && bytes < end) {
        NsRow row;

        bytes += NsRowParse(bytes, &row);
        (void) sqlite3_bind_text(dbPtr->insertRow, 1, row.time, -1,
                                 SQLITE_STATIC);
        BindText(dbPtr->insertRow, 2, row.stream);
        BindText(dbPtr->insertRow, 3, row.severity);
        BindText(dbPtr->insertRow, 4, row.record);
        isOk = Step(dbPtr->insertRow);
        if (!isOk && IsRowsFault(sqlite3_errcode(dbPtr->handle))
                && !sqlite3_get_autocommit(dbPtr->handle)) {
            NsDeliverRefused(sink, sqlite3_errmsg(dbPtr->handle));
            isOk = true;
        }
    }
    return isOk;
}

static void
BindText(sqlite3_stmt *statement, int column, NsRowText text)
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
SetPositions(Database *dbPtr, Ns_LogSink sink)
{
    bool isOk = SetPosition(dbPtr, sink, NUMBER_LANE, dbPtr->number);

    for (const NsSinkLane *lanePtr = sink->firstMoved;
         isOk && lanePtr != NULL; lanePtr = lanePtr->nextMovedPtr) {
        isOk = SetPosition(dbPtr, sink, lanePtr->place.lane,
                           (int64_t) NsSinkPosition(lanePtr));
    }
    return isOk;
}

static bool
SetPosition(Database *dbPtr, Ns_LogSink sink, int64_t lane, int64_t position)
{
    sqlite3_stmt *statement = dbPtr->setPosition;

    BindKey(statement, sink, lane);
    (void) sqlite3_bind_int64(statement, 4, position);
    (void) sqlite3_bind_text(statement, 5, Ns_DStringValue(&dbPtr->server), -1,
                             SQLITE_STATIC);
    return Step(statement);
}

/*
 * The columns that identify a position.
 */
static void
BindKey(sqlite3_stmt *statement, Ns_LogSink sink, int64_t lane)
{
    (void) sqlite3_bind_text(statement, 1, sink->name, -1, SQLITE_STATIC);
    (void) sqlite3_bind_int64(statement, 2, (sqlite3_int64)
                              sink->ringPtr->headerPtr->epoch);
    (void) sqlite3_bind_int64(statement, 3, lane);
}

/*
 * Once the present mapping has positions, and nothing is left of earlier ones,
 * theirs are of no use.
 */
static bool
Prune(Database *dbPtr, Ns_LogSink sink)
{
    char *sql;
    bool  isOk;

    if (dbPtr->isPruned || sink->firstMoved == NULL || sink->claims != NULL
            || sink->ringPtr != NsSinkRing()) {
        return true;
    }
    sql = sqlite3_mprintf("DELETE FROM " NS_ROW_POSITIONS
                          " WHERE sink = %Q AND epoch <> %lld AND (server = %Q"
                          " OR (server IS NULL AND epoch < %lld))", sink->name,
                          (sqlite3_int64) sink->ringPtr->headerPtr->epoch,
                          Ns_DStringValue(&dbPtr->server),
                          (sqlite3_int64) (NsLogClock() - OLD_NANOS));
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
CloseDatabase(Ns_LogSink sink)
{
    Database *dbPtr = sink->target;

    if (dbPtr != NULL) {
        Disconnect(dbPtr, sink);
        Ns_DStringFree(&dbPtr->server);
        ns_free(dbPtr);
        sink->target = NULL;
    }
}

static void
Disconnect(Database *dbPtr, Ns_LogSink sink)
{
    (void) sqlite3_finalize(dbPtr->insertRow);
    (void) sqlite3_finalize(dbPtr->setPosition);
    (void) sqlite3_finalize(dbPtr->getNumber);
    (void) sqlite3_close(dbPtr->handle);
    dbPtr->insertRow = dbPtr->setPosition = dbPtr->getNumber = NULL;
    dbPtr->handle = NULL;
    NsOpenFilesNote(sink, NULL);
}

/*
 * The database knows best how far a process got that was killed.
 */
static bool
Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    Database     *dbPtr = GetDatabase(sink);
    sqlite3_stmt *statement = NULL;
    char         *sql;
    int           code;

    if (dbPtr->handle == NULL && !Connect(dbPtr, sink)) {
        return false;
    }
    sql = sqlite3_mprintf("SELECT lane, position FROM " NS_ROW_POSITIONS
                          " WHERE sink = %Q AND epoch = %lld", sink->name,
                          (sqlite3_int64) ringPtr->headerPtr->epoch);
    code = sqlite3_prepare_v2(dbPtr->handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            NsSettleCursor(ringPtr, slotPtr, sqlite3_column_int64(statement, 0),
                           sqlite3_column_int64(statement, 1));
        }
    }
    if (code != SQLITE_DONE) {
        errno = Reason(dbPtr, sink);
    }
    (void) sqlite3_finalize(statement);
    sqlite3_free(sql);
    return code == SQLITE_DONE;
}
