/* SPDX-License-Identifier: MPL-2.0
 * nslogpostgresql.c --
 *
 *      Log sinks that copy records into a table of a PostgreSQL database.
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

#include "nslogsink.h"

#include "connection.h"
#include "nsstring.h"
#include "nsthread.h"

#define POSITIONS   "nsd_log_position"
#define NUMBER_LANE (-1)      /* The number's place among the positions. */
#define PIECE_BYTES (1 << 24) /* Of text; one row may be longer. */

enum { CONNECTION_OPTION, TABLE_OPTION };

static int CheckConnection(const char *text);

static const Ns_LogSinkOption options[] = {
    [CONNECTION_OPTION] = {.name = "connection",
                           .kind = NS_LOGSINK_TEXT,
                           .isSecret = true,
                           .checkProc = CheckConnection,
                           .range = "a connection string of libpq",
                           .sentence = "A connection string or URI of libpq."},
    [TABLE_OPTION] =
        {.name = "table",
         .kind = NS_LOGSINK_TEXT,
         .defaultText = "log",
         .max = 127,
         .range = "a name",
         .sentence = "The table, TABLE or SCHEMA.TABLE; created if missing."},
    {.name = NULL}};

/*
 * A target's data.
 */
typedef struct Database {
    Pq       pq;
    char    *table; /* Names as SQL has them. */
    char    *positions;
    char    *sink;      /* Values likewise: the sink's name, */
    char    *server;    /* and which server this is. */
    uint64_t number;    /* Of the write under way; 0: ask. */
    bool     isInDoubt; /* It may have been committed. */
    bool     isPruned;  /* Positions of other epochs are deleted. */
} Database;

/*
 * A piece of the buffer as COPY takes it.
 */
typedef struct Rows {
    Ns_DString text;
    int       *starts; /* Of each row, and the end. */
    int        n;
} Rows;

static int   OpenNothing(Ns_LogSinkTarget *targetPtr);
static int   WriteRows(Ns_LogSinkTarget *targetPtr, Ns_LogSinkBatch *batchPtr);
static bool  Connect(Database *dbPtr, const Ns_LogSinkTarget *targetPtr);
static char *Quote(Database *dbPtr, char *quoted);
static char *QuoteText(Database *dbPtr, const char *text);
static char *QuoteTable(Database *dbPtr, const char *schema, const char *table);
static bool  MakeTables(Database *dbPtr);
static bool  MakeTable(Database *dbPtr, const char *table, const char *columns);
static bool  HasTable(Database *dbPtr, const char *table, bool *isTherePtr);
static bool  AskNumber(Database *dbPtr, uint64_t epoch);
static bool  Transaction(Database *dbPtr, Ns_LogSinkBatch *batchPtr);
static bool  Begin(Database *dbPtr, const Ns_LogSinkBatch *batchPtr,
                   bool *isThereAlreadyPtr);
static bool  CopyRows(Database *dbPtr, Ns_LogSinkBatch *batchPtr,
                      const Rows *rowsPtr, int from, int to);
static bool  IsRowsFault(const char *sqlState);
static bool  InitRows(Rows *rowsPtr, Ns_LogSinkBatch *batchPtr);
static void  FreeRows(Rows *rowsPtr);
static void  AppendText(Ns_DString *dsPtr, Ns_LogText text, char end);
static bool  Prune(Database *dbPtr, const Ns_LogSinkBatch *batchPtr);
static bool  Commit(Database *dbPtr);
static bool  Execute(Database *dbPtr, const char *sql);
static PGresult *Query(Database *dbPtr, const char *fmt, ...)
    NS_GNUC_PRINTF(2, 3);
static void Disconnect(Database *dbPtr);
static void ClosePostgresql(Ns_LogSinkTarget *targetPtr);
static int  GetPositions(Ns_LogSinkTarget *targetPtr, uint64_t epoch,
                         Ns_LogSinkPositions *listPtr);
static int  Complain(Ns_LogSinkTarget *targetPtr);

static const Ns_LogSinkType type = {
    .version = NS_LOGSINK_INTERFACE,
    .name = "postgresql",
    .options = options,
    .showProc = PqDisplay,
    .openProc = OpenNothing,
    .writeProc = WriteRows,
    .positionsProc = GetPositions,
    .closeProc = ClosePostgresql};

const Ns_LogSinkType *
Ns_LogSinkInit(const char **reasonPtr)
{
    return &type;
}

static int
CheckConnection(const char *text)
{
    char *display = PqDisplay(text);
    int   status = display != NULL ? NS_OK : NS_ERROR;

    ns_free(display);
    return status;
}

static int
OpenNothing(Ns_LogSinkTarget *targetPtr)
{
    targetPtr->data = ns_calloc(1u, sizeof(Database));
    return NS_OK;
}

/*
 * All rows or none.
 */
static int
WriteRows(Ns_LogSinkTarget *targetPtr, Ns_LogSinkBatch *batchPtr)
{
    Database *dbPtr = targetPtr->data;

    if ((dbPtr->pq.conn != NULL || Connect(dbPtr, targetPtr))
        && (dbPtr->number != 0 || AskNumber(dbPtr, batchPtr->epoch))
        && Transaction(dbPtr, batchPtr)) {
        dbPtr->number++;
        dbPtr->isInDoubt = false;
        return NS_OK;
    }
    return Complain(targetPtr);
}

static bool
Connect(Database *dbPtr, const Ns_LogSinkTarget *targetPtr)
{
    const char *table = targetPtr->values[TABLE_OPTION].text;
    const char *dot = strchr(table, '.');
    char       *schema = NULL;

    if (!PqConnect(&dbPtr->pq, targetPtr->values[CONNECTION_OPTION].text)) {
        return false;
    }
    if (dot != NULL) {
        schema = ns_strncopy(table, dot - table);
        table = dot + 1;
    }
    dbPtr->table = QuoteTable(dbPtr, schema, table);
    dbPtr->positions = QuoteTable(dbPtr, schema, POSITIONS);
    dbPtr->sink = QuoteText(dbPtr, targetPtr->sink);
    dbPtr->server = QuoteText(dbPtr, targetPtr->server);
    ns_free(schema);
    return dbPtr->table != NULL && dbPtr->positions != NULL
        && dbPtr->sink != NULL && dbPtr->server != NULL && MakeTables(dbPtr);
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
QuoteText(Database *dbPtr, const char *text)
{
    return Quote(dbPtr, PQescapeLiteral(dbPtr->pq.conn, text, strlen(text)));
}

static char *
QuoteTable(Database *dbPtr, const char *schema, const char *table)
{
    char *name =
        Quote(dbPtr, PQescapeIdentifier(dbPtr->pq.conn, table, strlen(table)));
    char *prefix, *whole;

    if (schema == NULL || name == NULL) {
        return name;
    }
    prefix = Quote(dbPtr,
                   PQescapeIdentifier(dbPtr->pq.conn, schema, strlen(schema)));
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
    return MakeTable(dbPtr, dbPtr->table,
                     "(\"time\" timestamptz NOT NULL,"
                     " stream text NOT NULL, severity text NOT NULL,"
                     " record text NOT NULL)")
        && MakeTable(dbPtr, dbPtr->positions,
                     "(sink text, epoch bigint,"
                     " lane integer, position bigint NOT NULL, server text,"
                     " PRIMARY KEY (sink, epoch, lane))"
                     " WITH (fillfactor = 50)");
}

/*
 * A user of a table need not have the right to make one, so look first; and
 * once more, for another sink may have made it between the two.
 */
static bool
MakeTable(Database *dbPtr, const char *table, const char *columns)
{
    bool      isThere;
    PGresult *resultPtr;
    Pq        failed;

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
 * False: it is not known, and *isTherePtr is false, too.
 */
static bool
HasTable(Database *dbPtr, const char *table, bool *isTherePtr)
{
    char     *name = QuoteText(dbPtr, table);
    PGresult *resultPtr = name != NULL
        ? Query(dbPtr, "SELECT to_regclass(%s)", name)
        : NULL;
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
AskNumber(Database *dbPtr, uint64_t epoch)
{
    PGresult *resultPtr =
        Query(dbPtr,
              "SELECT coalesce(max(position), 0) FROM %s WHERE sink = %s"
              " AND epoch = %" PRIu64 " AND lane = %d",
              dbPtr->positions, dbPtr->sink, epoch, NUMBER_LANE);

    if (resultPtr == NULL) {
        return false;
    }
    dbPtr->number = strtoull(PQgetvalue(resultPtr, 0, 0), NULL, 10) + 1;
    PQclear(resultPtr);
    return true;
}

static bool
Transaction(Database *dbPtr, Ns_LogSinkBatch *batchPtr)
{
    bool isThereAlready = false, isOk = Begin(dbPtr, batchPtr, &isThereAlready);
    Rows rows;

    if (isOk && isThereAlready) {
        return Execute(dbPtr, "ROLLBACK");
    }
    while (isOk && InitRows(&rows, batchPtr)) {
        isOk = CopyRows(dbPtr, batchPtr, &rows, 0, rows.n);
        FreeRows(&rows);
    }
    return isOk && Prune(dbPtr, batchPtr) && Commit(dbPtr);
}

/*
 * Note the positions that hold with the rows, and the number.  It is there
 * already: an earlier attempt was committed after all.
 */
static bool
Begin(Database *dbPtr, const Ns_LogSinkBatch *batchPtr, bool *isThereAlreadyPtr)
{
    uint64_t   epoch = batchPtr->epoch;
    Ns_DString sql;
    PGresult  *resultPtr;
    bool       isOk;

    Ns_DStringInit(&sql);
    Ns_DStringAppend(&sql, "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; ");
    for (int i = 0; i < batchPtr->nPositions; i++) {
        const Ns_LogPosition *p = &batchPtr->positions[i];

        if (i == 0) {
            Ns_DStringPrintf(&sql, "INSERT INTO %s VALUES ", dbPtr->positions);
        }
        Ns_DStringPrintf(&sql, "%s(%s, %" PRIu64 ", %u, %" PRIu64 ", %s)",
                         i == 0 ? "" : ", ", dbPtr->sink, epoch, p->lane,
                         p->position, dbPtr->server);
    }
    if (batchPtr->nPositions > 0) {
        Ns_DStringAppend(&sql,
                         " ON CONFLICT (sink, epoch, lane) DO UPDATE SET"
                         " position = excluded.position; ");
    }
    Ns_DStringPrintf(&sql,
                     "INSERT INTO %s AS old VALUES (%s, %" PRIu64
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
CopyRows(Database *dbPtr, Ns_LogSinkBatch *batchPtr, const Rows *rowsPtr,
         int from, int to)
{
    int        start = rowsPtr->starts[from];
    int        middle = from + (to - from) / 2;
    Ns_DString sql;
    bool       isOk;

    Ns_DStringInit(&sql);
    Ns_DStringPrintf(&sql,
                     "SAVEPOINT rows; COPY %s (\"time\", stream,"
                     " severity, record) FROM STDIN; RELEASE SAVEPOINT rows",
                     dbPtr->table);
    isOk = PqCopy(&dbPtr->pq, Ns_DStringValue(&sql),
                  Ns_DStringValue(&rowsPtr->text) + start,
                  (size_t) (rowsPtr->starts[to] - start));
    Ns_DStringFree(&sql);
    if (isOk || !IsRowsFault(dbPtr->pq.sqlState)) {
        return isOk;
    }
    if (to - from == 1) {
        Ns_LogSinkRefuse(batchPtr, dbPtr->pq.error);
    }
    return Execute(dbPtr,
                   "ROLLBACK TO SAVEPOINT rows;"
                   " RELEASE SAVEPOINT rows")
        && (to - from == 1
            || (CopyRows(dbPtr, batchPtr, rowsPtr, from, middle)
                && CopyRows(dbPtr, batchPtr, rowsPtr, middle, to)));
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
 * Take the next rows; false: there are none, and nothing to free.
 */
static bool
InitRows(Rows *rowsPtr, Ns_LogSinkBatch *batchPtr)
{
    Ns_DString *textPtr = &rowsPtr->text;
    Ns_LogRow   row;

    Ns_DStringInit(textPtr);
    rowsPtr->starts = ns_malloc(((size_t) batchPtr->insertRows + 1)
                                * sizeof(int));
    rowsPtr->starts[0] = 0;
    rowsPtr->n = 0;
    while (rowsPtr->n < batchPtr->insertRows
           && Ns_DStringLength(textPtr) < PIECE_BYTES
           && Ns_LogSinkNextRow(batchPtr, &row)) {
        Ns_DStringVarAppend(textPtr, row.time, "\t", (char *) NULL);
        AppendText(textPtr, row.stream, '\t');
        AppendText(textPtr, row.severity, '\t');
        AppendText(textPtr, row.record, '\n');
        rowsPtr->starts[++rowsPtr->n] = Ns_DStringLength(textPtr);
    }
    if (rowsPtr->n == 0) {
        FreeRows(rowsPtr);
    }
    return rowsPtr->n > 0;
}

static void
FreeRows(Rows *rowsPtr)
{
    Ns_DStringFree(&rowsPtr->text);
    ns_free(rowsPtr->starts);
}

/*
 * As text of COPY.  Null bytes, and bytes that are not UTF-8, which a text of
 * PostgreSQL cannot have, become \xHH there; clients may send such, and must
 * not get out of the log that way.
 */
static void
AppendText(Ns_DString *dsPtr, Ns_LogText text, char end)
{
    for (size_t i = 0; i < text.length;) {
        const char   *bytes = text.bytes + i;
        unsigned char c = (unsigned char) *bytes;
        size_t        n = 0;

        /* As far as nothing needs care. */
        while (i + n < text.length && (unsigned char) bytes[n] >= 0x20
               && (unsigned char) bytes[n] < 0x80 && bytes[n] != '\\') {
            n++;
        }
        if (n == 0 && c >= 0x80) {
            n = Ns_LogSinkUtf8Bytes(bytes, text.length - i);
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
 * Positions that nobody needs; but never another server's.
 */
static bool
Prune(Database *dbPtr, const Ns_LogSinkBatch *batchPtr)
{
    PGresult *resultPtr;

    if (dbPtr->isPruned || !batchPtr->mayForget) {
        return true;
    }
    resultPtr = Query(dbPtr,
                      "DELETE FROM %s WHERE sink = %s AND server = %s"
                      " AND epoch <> %" PRIu64,
                      dbPtr->positions, dbPtr->sink, dbPtr->server,
                      batchPtr->epoch);
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
    resultPtr = PqQuery(&dbPtr->pq, "COMMIT");
    isCommitted = resultPtr != NULL && STREQ(PQcmdStatus(resultPtr), "COMMIT");
    PQclear(resultPtr);
    return isCommitted;
}

static bool
Execute(Database *dbPtr, const char *sql)
{
    PGresult *resultPtr = PqQuery(&dbPtr->pq, sql);
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
    resultPtr = PqQuery(&dbPtr->pq, Ns_DStringValue(&sql));
    Ns_DStringFree(&sql);
    return resultPtr;
}

static void
Disconnect(Database *dbPtr)
{
    PqClose(&dbPtr->pq);
    ns_free(dbPtr->table);
    ns_free(dbPtr->positions);
    ns_free(dbPtr->sink);
    ns_free(dbPtr->server);
    dbPtr->table = dbPtr->positions = dbPtr->sink = dbPtr->server = NULL;
}

static void
ClosePostgresql(Ns_LogSinkTarget *targetPtr)
{
    Disconnect(targetPtr->data);
    ns_free(targetPtr->data);
    targetPtr->data = NULL;
}

/*
 * The database knows best how far a process got that was killed.
 */
static int
GetPositions(Ns_LogSinkTarget *targetPtr, uint64_t epoch,
             Ns_LogSinkPositions *listPtr)
{
    Database *dbPtr = targetPtr->data;
    PGresult *resultPtr = NULL;

    if (dbPtr->pq.conn != NULL || Connect(dbPtr, targetPtr)) {
        resultPtr = Query(dbPtr,
                          "SELECT lane, position FROM %s WHERE sink = %s"
                          " AND epoch = %" PRIu64,
                          dbPtr->positions, dbPtr->sink, epoch);
    }
    if (resultPtr == NULL) {
        return Complain(targetPtr);
    }
    for (int i = 0; i < PQntuples(resultPtr); i++) {
        Ns_LogSinkAddPosition(listPtr,
                              strtoll(PQgetvalue(resultPtr, i, 0), NULL, 10),
                              strtoll(PQgetvalue(resultPtr, i, 1), NULL, 10));
    }
    PQclear(resultPtr);
    return NS_OK;
}

/*
 * Something failed.  The connection is given up with whatever state it is in.
 */
static int
Complain(Ns_LogSinkTarget *targetPtr)
{
    Database *dbPtr = targetPtr->data;

    Disconnect(dbPtr);
    snprintf(targetPtr->error, sizeof(targetPtr->error), "%s", dbPtr->pq.error);
    errno = dbPtr->pq.reason != 0 ? dbPtr->pq.reason : EIO;
    return NS_ERROR;
}
