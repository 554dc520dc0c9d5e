/*
 * sqlitesink.c --
 *
 *      Sinks that insert records into a table of an SQLite database.
 *
 *      One write is one transaction: the rows, and how far each lane has been
 *      read. A process that takes over the mapping asks the database for these
 *      positions, so no row is missing and none there twice.
 */

#include "log/sink_int.h"

#include <sqlite3.h>

#include "log/json.h"
#include "log/severity.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define BUSY_MS       1000
#define DEFAULT_TABLE "log"

/*
 * A row in the sink's buffer; stream, severity and text follow.
 */
typedef struct RowHead {
    int64_t  time;
    uint32_t streamLength;
    uint32_t severityLength;
    uint32_t textLength;
    uint32_t pad;
} RowHead;

typedef struct Database {
    sqlite3      *handle;
    sqlite3_stmt *insertRow;
    sqlite3_stmt *setPosition;
    bool          isPruned;     /* Positions of other mappings are deleted. */
} Database;

static bool    OpenDatabase(Ns_LogSink sink);
static bool    Prepare(Database *dbPtr, Ns_LogSink sink);
static bool    Execute(Database *dbPtr, const char *sql);
static sqlite3_stmt *PrepareOne(Database *dbPtr, const char *fmt,
                                const char *table);
static ssize_t WriteRows(Ns_LogSink sink, const char *bytes, size_t length);
static bool    InsertRows(Database *dbPtr, const char *bytes, size_t length);
static bool    SetPositions(Database *dbPtr, Ns_LogSink sink);
static bool    Prune(Database *dbPtr, Ns_LogSink sink);
static bool    Step(sqlite3_stmt *statement);
static void    CloseDatabase(Ns_LogSink sink);
static size_t  FormatRow(Ns_LogSink sink, Ns_LogStream stream,
                         const Ns_LogRecord *recordPtr, char *buffer,
                         size_t room);
static void    Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

const NsSinkType nsSqliteSinkType = {
    .name = "sqlite", .openProc = OpenDatabase, .writeProc = WriteRows,
    .closeProc = CloseDatabase, .formatProc = FormatRow, .settleProc = Settle
};


static bool
OpenDatabase(Ns_LogSink sink)
{
    Database *dbPtr = ns_calloc(1u, sizeof(*dbPtr));

    sink->target = dbPtr;
    if (sqlite3_open_v2(sink->file, &dbPtr->handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                        | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK
            || !Prepare(dbPtr, sink)) {
        int reason = dbPtr->handle == NULL ? ENOMEM
            : sqlite3_system_errno(dbPtr->handle);

        CloseDatabase(sink);
        errno = reason != 0 ? reason : EIO;
        return false;
    }
    return true;
}

static bool
Prepare(Database *dbPtr, Ns_LogSink sink)
{
    const char *table = sink->table != NULL && *sink->table != '\0'
        ? sink->table : DEFAULT_TABLE;
    char       *create = sqlite3_mprintf(
        "CREATE TABLE IF NOT EXISTS \"%w\""
        " (time TEXT, stream TEXT, severity TEXT, record TEXT)", table);
    bool        isOk;

    (void) sqlite3_busy_timeout(dbPtr->handle, BUSY_MS);
    isOk = Execute(dbPtr, "PRAGMA journal_mode=WAL")
        && Execute(dbPtr, "PRAGMA synchronous=FULL")
        && Execute(dbPtr, create)
        && Execute(dbPtr, "CREATE TABLE IF NOT EXISTS nsd_log_position"
                   " (sink TEXT, epoch INTEGER, lane INTEGER,"
                   " position INTEGER, PRIMARY KEY (sink, epoch, lane))");
    sqlite3_free(create);
    if (isOk) {
        dbPtr->insertRow = PrepareOne(
            dbPtr, "INSERT INTO \"%w\" VALUES (?, ?, ?, ?)", table);
        dbPtr->setPosition = PrepareOne(
            dbPtr, "INSERT OR REPLACE INTO \"%w\" VALUES (?, ?, ?, ?)",
            "nsd_log_position");
        isOk = dbPtr->insertRow != NULL && dbPtr->setPosition != NULL;
    }
    return isOk;
}

static bool
Execute(Database *dbPtr, const char *sql)
{
    return sqlite3_exec(dbPtr->handle, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3_stmt *
PrepareOne(Database *dbPtr, const char *fmt, const char *table)
{
    sqlite3_stmt *statement = NULL;
    char         *sql = sqlite3_mprintf(fmt, table);

    if (sqlite3_prepare_v2(dbPtr->handle, sql, -1, &statement, NULL)
            != SQLITE_OK) {
        statement = NULL;
    }
    sqlite3_free(sql);
    return statement;
}

/*
 * All rows or none.
 */
static ssize_t
WriteRows(Ns_LogSink sink, const char *bytes, size_t length)
{
    Database *dbPtr;

    if (sink->target == NULL && !OpenDatabase(sink)) {
        return -1;
    }
    dbPtr = sink->target;
    if (Execute(dbPtr, "BEGIN IMMEDIATE")
            && InsertRows(dbPtr, bytes, length)
            && SetPositions(dbPtr, sink)
            && Prune(dbPtr, sink)
            && Execute(dbPtr, "COMMIT")) {
        return (ssize_t) length;
    }
    errno = sqlite3_errcode(dbPtr->handle) == SQLITE_FULL ? ENOSPC
        : sqlite3_errcode(dbPtr->handle) == SQLITE_BUSY ? EBUSY : EIO;
    (void) Execute(dbPtr, "ROLLBACK");
    return -1;
}

static bool
InsertRows(Database *dbPtr, const char *bytes, size_t length)
{
    const char *end = bytes + length;
    bool        isOk = true;

    while (isOk && bytes < end) {
        char     stamp[64];
        NsLogOut out = {stamp, sizeof(stamp), 0};
        RowHead  head;

        memcpy(&head, bytes, sizeof(head));
        bytes += sizeof(head);
        NsJsonTime(&out, head.time);
        /* Without its quotes. */
        (void) sqlite3_bind_text(dbPtr->insertRow, 1, stamp + 1,
                                 (int) out.length - 2, SQLITE_STATIC);
        (void) sqlite3_bind_text(dbPtr->insertRow, 2, bytes,
                                 (int) head.streamLength, SQLITE_STATIC);
        bytes += head.streamLength;
        (void) sqlite3_bind_text(dbPtr->insertRow, 3, bytes,
                                 (int) head.severityLength, SQLITE_STATIC);
        bytes += head.severityLength;
        (void) sqlite3_bind_text(dbPtr->insertRow, 4, bytes,
                                 (int) head.textLength, SQLITE_STATIC);
        bytes += head.textLength;
        isOk = Step(dbPtr->insertRow);
    }
    return isOk;
}

static bool
SetPositions(Database *dbPtr, Ns_LogSink sink)
{
    bool isOk = true;

    for (uint32_t i = 0; isOk && i < sink->nMoved; i++) {
        uint32_t lane = sink->moved[i];

        (void) sqlite3_bind_text(dbPtr->setPosition, 1, sink->name, -1,
                                 SQLITE_STATIC);
        (void) sqlite3_bind_int64(dbPtr->setPosition, 2, (sqlite3_int64)
                                  sink->ringPtr->headerPtr->epoch);
        (void) sqlite3_bind_int64(dbPtr->setPosition, 3, lane);
        (void) sqlite3_bind_int64(dbPtr->setPosition, 4, (sqlite3_int64)
                                  NsPlacePosition(&sink->places[lane]));
        isOk = Step(dbPtr->setPosition);
    }
    return isOk;
}

/*
 * Once the present mapping has positions, those of earlier ones are of no use.
 */
static bool
Prune(Database *dbPtr, Ns_LogSink sink)
{
    char *sql;
    bool  isOk;

    if (dbPtr->isPruned || sink->nMoved == 0
            || sink->ringPtr != NsSinkRing()) {
        return true;
    }
    sql = sqlite3_mprintf("DELETE FROM nsd_log_position WHERE sink = %Q "
                          "AND epoch <> %lld", sink->name,
                          (sqlite3_int64) sink->ringPtr->headerPtr->epoch);
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
        (void) sqlite3_finalize(dbPtr->insertRow);
        (void) sqlite3_finalize(dbPtr->setPosition);
        (void) sqlite3_close(dbPtr->handle);
        ns_free(dbPtr);
        sink->target = NULL;
    }
}

static size_t
FormatRow(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr,
          char *buffer, size_t room)
{
    const char *severity = Ns_LogSeverityName(
        (Ns_LogSeverity) recordPtr->severity);
    NsLogOut    out = {buffer, room, 0};
    RowHead     head = {
        .time = recordPtr->time,
        .streamLength = (uint32_t) strlen(recordPtr->stream),
        .severityLength = (uint32_t) strlen(severity)
    };
    size_t n, start;

    NsLogPut(&out, (const char *) &head, sizeof(head));
    NsLogPut(&out, recordPtr->stream, head.streamLength);
    NsLogPut(&out, severity, head.severityLength);
    start = MIN(out.length, room);
    NsStreamFormat(stream, sink->settings.format, recordPtr, buffer + start,
                   room - start, &n);
    if (n == 0) {
        return 0;
    }
    head.textLength = (uint32_t) (n - 1);       /* Without the newline. */
    if (out.length + n <= room) {
        memcpy(buffer, &head, sizeof(head));
        return out.length + n - 1;
    }
    return out.length + n;
}

/*
 * The database knows best how far a process got that was killed.
 */
static void
Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    Database     *dbPtr = sink->target;
    sqlite3_stmt *statement;
    char         *sql;

    if (dbPtr == NULL) {
        return;
    }
    sql = sqlite3_mprintf("SELECT lane, position FROM nsd_log_position "
                          "WHERE sink = %Q AND epoch = %lld", sink->name,
                          (sqlite3_int64) ringPtr->headerPtr->epoch);
    if (sqlite3_prepare_v2(dbPtr->handle, sql, -1, &statement, NULL)
            == SQLITE_OK) {
        while (sqlite3_step(statement) == SQLITE_ROW) {
            sqlite3_int64 lane = sqlite3_column_int64(statement, 0);
            uint64_t position = (uint64_t) sqlite3_column_int64(statement, 1);

            if (lane >= 0 && lane < ringPtr->headerPtr->maxLanes
                    && position > atomic_load(&slotPtr->cursors[lane].done)) {
                atomic_store(&slotPtr->cursors[lane].done, position);
            }
        }
    }
    (void) sqlite3_finalize(statement);
    sqlite3_free(sql);
}
