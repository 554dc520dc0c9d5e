/*
 * postgresqlsink.c --
 *
 *      Sinks that copy records into a table of a PostgreSQL database.
 *
 *      One write is one transaction: the rows, in pieces of batchsize, how far
 *      each lane has been read, and the number of the write.
 *
 *      A process that takes over the mapping asks the database for the
 *      positions, so no row is missing and none there twice.  The number tells
 *      the same about a connection that broke while it committed: the write is
 *      tried again with the same number, and the database has it already or
 *      not.  If the old transaction is still on its way there, the new one
 *      waits for it at the number's row.
 *
 *      The table is made when the connection is; nothing is connected before
 *      there are rows.
 */

#include "log/target/postgresql.h"

#ifdef HAVE_LIBPQ

#include "log/sink/sink_int.h"

#include "base/assert.h"
#include "log/target/row.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define NUMBER_LANE (-1)        /* The number's place among the positions. */
#define PIECE_BYTES (1 << 24)   /* Of text; one row may be longer. */

typedef struct Database {
    NsPq     pq;
    char    *table;             /* Names as SQL has them. */
    char    *positions;
    char    *sink;              /* Values likewise: the sink's name, */
    char    *server;            /* and which server this is. */
    uint64_t number;            /* Of the write under way; 0: ask. */
    bool     isInDoubt;         /* It may have been committed. */
    bool     isPruned;          /* Positions of other mappings are deleted. */
} Database;

/*
 * A piece of the buffer as COPY takes it.
 */
typedef struct Rows {
    Ns_DString text;
    int       *starts;          /* Of each row, and the end. */
    int        n;
} Rows;

static bool    OpenNothing(Ns_LogSink sink);
static ssize_t WriteRows(Ns_LogSink sink, const char *bytes, size_t length);
static bool    Connect(Ns_LogSink sink);
static char   *Quote(Database *dbPtr, char *quoted);
static char   *QuoteTable(Database *dbPtr, const char *schema,
                          const char *table);
static bool    MakeTables(Database *dbPtr);
static bool    MakeTable(Database *dbPtr, const char *table,
                         const char *columns);
static bool    HasTable(Database *dbPtr, const char *table, bool *isTherePtr);
static bool    AskNumber(Database *dbPtr, Ns_LogSink sink);
static bool    Transaction(Database *dbPtr, Ns_LogSink sink, const char *bytes,
                           size_t length);
static bool    Begin(Database *dbPtr, Ns_LogSink sink, bool *isThereAlreadyPtr);
static bool    CopyRows(Database *dbPtr, Ns_LogSink sink, const Rows *rowsPtr,
                        int from, int to);
static bool    IsRowsFault(const char *sqlState);
static const char *InitRows(Rows *rowsPtr, int most, const char *bytes,
                            const char *end);
static void    FreeRows(Rows *rowsPtr);
static void    AppendText(Ns_DString *dsPtr, NsRowText text, char end);
static bool    Prune(Database *dbPtr, Ns_LogSink sink);
static bool    Commit(Database *dbPtr);
static bool    Execute(Database *dbPtr, const char *sql);
static PGresult *Query(Database *dbPtr, const char *fmt, ...)
    NS_GNUC_PRINTF(2, 3);
static void    Disconnect(Database *dbPtr);
static void    CloseDatabase(Ns_LogSink sink);
static bool    Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);
static bool    Complain(Ns_LogSink sink);

const NsSinkType nsPostgresqlSinkType = {
    .name = "postgresql", .isDatabase = true, .isRemote = true,
    .openProc = OpenNothing,
    .writeProc = WriteRows, .closeProc = CloseDatabase,
    .formatProc = NsRowFormat, .settleProc = Settle
};


static bool
OpenNothing(Ns_LogSink sink)
{
    sink->target = ns_calloc(1u, sizeof(Database));
    return true;
}

/*
 * All rows or none.
 */
static ssize_t
WriteRows(Ns_LogSink sink, const char *bytes, size_t length)
{
    Database *dbPtr = sink->target;

    if ((dbPtr->pq.conn != NULL || Connect(sink))
            && (dbPtr->number != 0 || AskNumber(dbPtr, sink))
            && Transaction(dbPtr, sink, bytes, length)) {
        dbPtr->number++;
        dbPtr->isInDoubt = false;
        return (ssize_t) length;
    }
    (void) Complain(sink);
    return -1;
}

static bool
Connect(Ns_LogSink sink)
{
    Database   *dbPtr = sink->target;
    const char *table = sink->table != NULL && *sink->table != '\0'
        ? sink->table : NS_ROW_TABLE;
    const char *dot = strchr(table, '.');
    char       *schema = NULL;
    Ns_DString  server;

    if (!NsPqConnect(&dbPtr->pq, sink->connection)) {
        return false;
    }
    if (dot != NULL) {
        schema = ns_strncopy(table, dot - table);
        table = dot + 1;
    }
    Ns_DStringInit(&server);
    NsRowAppendServer(&server);
    dbPtr->table = QuoteTable(dbPtr, schema, table);
    dbPtr->positions = QuoteTable(dbPtr, schema, NS_ROW_POSITIONS);
    dbPtr->sink = Quote(dbPtr, PQescapeLiteral(dbPtr->pq.conn, sink->name,
                                               strlen(sink->name)));
    dbPtr->server = Quote(dbPtr, PQescapeLiteral(
        dbPtr->pq.conn, Ns_DStringValue(&server),
        (size_t) Ns_DStringLength(&server)));
    Ns_DStringFree(&server);
    ns_free(schema);
    if (dbPtr->table != NULL && dbPtr->positions != NULL && dbPtr->sink != NULL
            && dbPtr->server != NULL && MakeTables(dbPtr)) {
        return true;
    }
    return false;
}

/*
 * Take over what libpq allocated; NULL: it could not.
 */
static char *
Quote(Database *dbPtr, char *quoted)
{
    char *copy = ns_strcopy(quoted);

    if (quoted == NULL) {
        dbPtr->pq.reason = EILSEQ;
        snprintf(dbPtr->pq.error, sizeof(dbPtr->pq.error), "%s",
                 "a name is not valid UTF-8");
    }
    PQfreemem(quoted);
    return copy;
}

static char *
QuoteTable(Database *dbPtr, const char *schema, const char *table)
{
    char *name = Quote(dbPtr, PQescapeIdentifier(dbPtr->pq.conn, table,
                                                 strlen(table)));
    char *prefix, *whole;

    if (schema == NULL || name == NULL) {
        return name;
    }
    prefix = Quote(dbPtr, PQescapeIdentifier(dbPtr->pq.conn, schema,
                                             strlen(schema)));
    whole = NULL;
    if (prefix != NULL) {
        whole = ns_malloc(strlen(prefix) + strlen(name) + 2);
        sprintf(whole, "%s.%s", prefix, name);
    }
    ns_free(prefix);
    ns_free(name);
    return whole;
}

static bool
MakeTables(Database *dbPtr)
{
    return MakeTable(dbPtr, dbPtr->table, "(\"time\" timestamptz NOT NULL,"
                     " stream text NOT NULL, severity text NOT NULL,"
                     " record text NOT NULL)")
        && MakeTable(dbPtr, dbPtr->positions, "(sink text, epoch bigint,"
                     " lane integer, position bigint NOT NULL, server text,"
                     " PRIMARY KEY (sink, epoch, lane))"
                     " WITH (fillfactor = 50)");
}

/*
 * Who may use a table need not have the right to make one, so look first; and
 * once more, for another sink may have made it between the two.
 */
static bool
MakeTable(Database *dbPtr, const char *table, const char *columns)
{
    bool      isThere;
    PGresult *resultPtr;
    NsPq      failed;

    if (!HasTable(dbPtr, table, &isThere) || isThere) {
        return isThere;
    }
    resultPtr = Query(dbPtr, "CREATE TABLE IF NOT EXISTS %s %s", table,
                      columns);
    if (resultPtr != NULL) {
        PQclear(resultPtr);
        return true;
    }
    failed = dbPtr->pq;
    if (HasTable(dbPtr, table, &isThere) && !isThere) {
        dbPtr->pq = failed;
    }
    return isThere;
}

/*
 * False: it cannot be told, and *isTherePtr is false, too.
 */
static bool
HasTable(Database *dbPtr, const char *table, bool *isTherePtr)
{
    char     *name = Quote(dbPtr, PQescapeLiteral(dbPtr->pq.conn, table,
                                                  strlen(table)));
    PGresult *resultPtr = name != NULL
        ? Query(dbPtr, "SELECT to_regclass(%s)", name) : NULL;
    bool      isOk = resultPtr != NULL;

    *isTherePtr = isOk && !PQgetisnull(resultPtr, 0, 0);
    PQclear(resultPtr);
    ns_free(name);
    return isOk;
}

/*
 * A sink of that name may have written before, in this process too.
 */
static bool
AskNumber(Database *dbPtr, Ns_LogSink sink)
{
    PGresult *resultPtr = Query(
        dbPtr, "SELECT coalesce(max(position), 0) FROM %s WHERE sink = %s"
        " AND epoch = %" PRIu64 " AND lane = %d", dbPtr->positions, dbPtr->sink,
        sink->ringPtr->headerPtr->epoch, NUMBER_LANE);

    if (resultPtr == NULL) {
        return false;
    }
    dbPtr->number = strtoull(PQgetvalue(resultPtr, 0, 0), NULL, 10) + 1;
    PQclear(resultPtr);
    return true;
}

static bool
Transaction(Database *dbPtr, Ns_LogSink sink, const char *bytes, size_t length)
{
    bool isOk, isThereAlready = false;
    const char *end = bytes + length;

    isOk = Begin(dbPtr, sink, &isThereAlready);
    if (isOk && isThereAlready) {
        return Execute(dbPtr, "ROLLBACK");
    }
    sink->nRefused = 0;
    while (isOk && bytes < end) {
        Rows rows;

        bytes = InitRows(&rows, sink->settings.batchRows, bytes, end);
        isOk = CopyRows(dbPtr, sink, &rows, 0, rows.n);
        FreeRows(&rows);
    }
    return isOk && Prune(dbPtr, sink) && Commit(dbPtr);
}

/*
 * Note the positions that hold with the rows, and the number.  It is there
 * already: an earlier attempt was committed after all.
 */
static bool
Begin(Database *dbPtr, Ns_LogSink sink, bool *isThereAlreadyPtr)
{
    uint64_t   epoch = sink->ringPtr->headerPtr->epoch;
    Ns_DString sql;
    PGresult  *resultPtr;
    bool       isOk;

    Ns_DStringInit(&sql);
    Ns_DStringAppend(&sql, "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; ");
    for (const NsSinkLane *lanePtr = sink->firstMoved; lanePtr != NULL;
         lanePtr = lanePtr->nextMovedPtr) {
        bool isFirst = lanePtr == sink->firstMoved;

        if (isFirst) {
            Ns_DStringPrintf(&sql, "INSERT INTO %s VALUES ", dbPtr->positions);
        }
        Ns_DStringPrintf(&sql, "%s(%s, %" PRIu64 ", %u, %" PRIu64 ", %s)",
                         isFirst ? "" : ", ", dbPtr->sink, epoch,
                         lanePtr->place.lane, NsSinkPosition(lanePtr),
                         dbPtr->server);
    }
    if (sink->firstMoved != NULL) {
        Ns_DStringAppend(&sql, " ON CONFLICT (sink, epoch, lane) DO UPDATE SET"
                         " position = excluded.position; ");
    }
    Ns_DStringPrintf(&sql, "INSERT INTO %s AS old VALUES (%s, %" PRIu64
                     ", %d, %" PRIu64 ", %s) ON CONFLICT (sink, epoch, lane)"
                     " DO UPDATE SET position = excluded.position"
                     " WHERE old.position < excluded.position",
                     dbPtr->positions, dbPtr->sink, epoch, NUMBER_LANE,
                     dbPtr->number, dbPtr->server);
    resultPtr = Query(dbPtr, "%s", Ns_DStringValue(&sql));
    Ns_DStringFree(&sql);
    isOk = resultPtr != NULL;
    if (isOk && STREQ(PQcmdTuples(resultPtr), "0")) {
        *isThereAlreadyPtr = true;
        if (!dbPtr->isInDoubt) {
            /* Another one wrote under our name: begin anew behind it. */
            dbPtr->number = 0;
            dbPtr->pq.reason = EAGAIN;
            snprintf(dbPtr->pq.error, sizeof(dbPtr->pq.error), "%s",
                     "another server writes as the same sink");
            isOk = false;
        }
    }
    PQclear(resultPtr);
    return isOk;
}

/*
 * When rows are refused, halve them until the bad ones stand alone.
 */
static bool
CopyRows(Database *dbPtr, Ns_LogSink sink, const Rows *rowsPtr, int from,
         int to)
{
    int        start = rowsPtr->starts[from];
    int        middle = from + (to - from) / 2;
    Ns_DString sql;
    bool       isOk;

    Ns_DStringInit(&sql);
    Ns_DStringPrintf(&sql, "SAVEPOINT rows; COPY %s (\"time\", stream,"
                     " severity, record) FROM STDIN; RELEASE SAVEPOINT rows",
                     dbPtr->table);
    isOk = NsPqCopy(&dbPtr->pq, Ns_DStringValue(&sql),
                    Ns_DStringValue(&rowsPtr->text) + start,
                    (size_t) (rowsPtr->starts[to] - start));
    Ns_DStringFree(&sql);
    if (isOk || !IsRowsFault(dbPtr->pq.sqlState)) {
        return isOk;
    }
    if (to - from == 1) {
        NsDeliverRefused(sink, dbPtr->pq.error);
    }
    return Execute(dbPtr, "ROLLBACK TO SAVEPOINT rows;"
                   " RELEASE SAVEPOINT rows")
        && (to - from == 1
            || (CopyRows(dbPtr, sink, rowsPtr, from, middle)
                && CopyRows(dbPtr, sink, rowsPtr, middle, to)));
}

/*
 * Bad data, a constraint, a limit, a trigger's exception: no better next time.
 */
static bool
IsRowsFault(const char *sqlState)
{
    static const char *const classes[] = {"22", "23", "44", "54", "P0"};

    for (int i = 0; i < Ns_NrElements(classes); i++) {
        if (strncmp(sqlState, classes[i], 2) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Take rows off the beginning; what is left.
 */
static const char *
InitRows(Rows *rowsPtr, int most, const char *bytes, const char *end)
{
    Ns_DString *textPtr = &rowsPtr->text;

    Ns_DStringInit(textPtr);
    rowsPtr->starts = ns_malloc(((size_t) most + 1) * sizeof(int));
    rowsPtr->starts[0] = 0;
    for (rowsPtr->n = 0; bytes < end && rowsPtr->n < most
             && Ns_DStringLength(textPtr) < PIECE_BYTES; ) {
        NsRow row;

        bytes += NsRowParse(bytes, &row);
        Ns_DStringVarAppend(textPtr, row.time, "\t", (char *) NULL);
        AppendText(textPtr, row.stream, '\t');
        AppendText(textPtr, row.severity, '\t');
        AppendText(textPtr, row.record, '\n');
        rowsPtr->starts[++rowsPtr->n] = Ns_DStringLength(textPtr);
    }
    return bytes;
}

static void
FreeRows(Rows *rowsPtr)
{
    Ns_DStringFree(&rowsPtr->text);
    ns_free(rowsPtr->starts);
}

/*
 * As text of COPY.  Null bytes, and bytes that are no UTF-8, which a text of
 * PostgreSQL cannot have, become \xHH there; clients may send such, and must
 * not get out of the log that way.
 */
static void
AppendText(Ns_DString *dsPtr, NsRowText text, char end)
{
    for (size_t i = 0; i < text.length; ) {
        const char   *bytes = text.bytes + i;
        unsigned char c = (unsigned char) *bytes;
        size_t        n = 0;

        /* As far as nothing needs care. */
        while (i + n < text.length && (unsigned char) bytes[n] >= 0x20
               && (unsigned char) bytes[n] < 0x80 && bytes[n] != '\\') {
            n++;
        }
        if (n == 0 && c >= 0x80) {
            n = NsLogUtf8Length(bytes, text.length - i);
        }
        if (n > 0) {
            Ns_DStringNAppend(dsPtr, bytes, (int) n);
            i += n;
            continue;
        }
        if (c == '\\') {
            Ns_DStringNAppend(dsPtr, "\\\\", 2);
        } else if (c == 0 || c >= 0x80) {
            Ns_DStringPrintf(dsPtr, "\\\\x%02x", c);
        } else {
            Ns_DStringPrintf(dsPtr, "\\x%02x", c);
        }
        i++;
    }
    Ns_DStringNAppend(dsPtr, &end, 1);
}

/*
 * Once the present mapping has positions, and nothing is left of earlier ones,
 * theirs are of no use.
 */
static bool
Prune(Database *dbPtr, Ns_LogSink sink)
{
    PGresult *resultPtr;

    if (dbPtr->isPruned || sink->claims != NULL
            || sink->ringPtr != NsSinkRing()) {
        return true;
    }
    resultPtr = Query(dbPtr, "DELETE FROM %s WHERE sink = %s AND server = %s"
                      " AND epoch <> %" PRIu64, dbPtr->positions, dbPtr->sink,
                      dbPtr->server, sink->ringPtr->headerPtr->epoch);
    dbPtr->isPruned = resultPtr != NULL;
    PQclear(resultPtr);
    return dbPtr->isPruned;
}

static bool
Commit(Database *dbPtr)
{
    PGresult *resultPtr;
    bool      isCommitted;

    dbPtr->isInDoubt = true;
    resultPtr = NsPqQuery(&dbPtr->pq, "COMMIT");
    isCommitted = resultPtr != NULL
        && STREQ(PQcmdStatus(resultPtr), "COMMIT");
    PQclear(resultPtr);
    return isCommitted;
}

static bool
Execute(Database *dbPtr, const char *sql)
{
    PGresult *resultPtr = NsPqQuery(&dbPtr->pq, sql);
    bool      isOk = resultPtr != NULL;

    PQclear(resultPtr);
    return isOk;
}

static PGresult *
Query(Database *dbPtr, const char *fmt, ...)
{
    Ns_DString sql;
    PGresult  *resultPtr;
    va_list    ap;

    Ns_DStringInit(&sql);
    va_start(ap, fmt);
    Ns_DStringVPrintf(&sql, fmt, ap);
    va_end(ap);
    resultPtr = NsPqQuery(&dbPtr->pq, Ns_DStringValue(&sql));
    Ns_DStringFree(&sql);
    return resultPtr;
}

static void
Disconnect(Database *dbPtr)
{
    NsPqClose(&dbPtr->pq);
    ns_free(dbPtr->table);
    ns_free(dbPtr->positions);
    ns_free(dbPtr->sink);
    ns_free(dbPtr->server);
    dbPtr->table = dbPtr->positions = dbPtr->sink = dbPtr->server = NULL;
}

static void
CloseDatabase(Ns_LogSink sink)
{
    Disconnect(sink->target);
    ns_free(sink->target);
    sink->target = NULL;
}

/*
 * The database knows best how far a process got that was killed.
 */
static bool
Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    Database *dbPtr = sink->target;
    PGresult *resultPtr;

    if (dbPtr->pq.conn == NULL && !Connect(sink)) {
        return Complain(sink);
    }
    resultPtr = Query(dbPtr, "SELECT lane, position FROM %s WHERE sink = %s"
                      " AND epoch = %" PRIu64, dbPtr->positions, dbPtr->sink,
                      ringPtr->headerPtr->epoch);
    if (resultPtr == NULL) {
        return Complain(sink);
    }
    for (int i = 0; i < PQntuples(resultPtr); i++) {
        NsSettleCursor(ringPtr, slotPtr,
                       strtoll(PQgetvalue(resultPtr, i, 0), NULL, 10),
                       strtoll(PQgetvalue(resultPtr, i, 1), NULL, 10));
    }
    PQclear(resultPtr);
    return true;
}

/*
 * Something failed.  The connection is given up with whatever state it is in.
 */
static bool
Complain(Ns_LogSink sink)
{
    Database *dbPtr = sink->target;

    Disconnect(dbPtr);
    memcpy(sink->complaint, dbPtr->pq.error, sizeof(sink->complaint));
    errno = dbPtr->pq.reason != 0 ? dbPtr->pq.reason : EIO;
    return false;
}

#endif
