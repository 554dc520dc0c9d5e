/* SPDX-License-Identifier: MPL-2.0
 * connection.c --
 *
 *      A connection to a PostgreSQL server that never keeps its caller waiting
 *      for long.
 *
 *      libpq is used without blocking.  Each wait for the server has a limit;
 *      a server that has not moved by then counts as gone.
 *
 *      Only to connect, libpq itself waits: it does not go on to the next of
 *      several hosts, or addresses of a host, when one is silent, unless the
 *      limit is its own.  So that is for each of them.
 */

#include "connection.h"

#include "nsstring.h"
#include "nsthread.h"

#define CONNECT_SECONDS "3"
/* Less than what a shutdown grants a sink. */
#define REPLY_MS 4000

static bool      Await(Pq *pqPtr, short events, int64_t untilMs);
static int64_t   Now(void);
static bool      Send(Pq *pqPtr, const char *sql);
static bool      Flush(Pq *pqPtr);
static PGresult *NextResult(Pq *pqPtr);
static PGresult *LastResult(Pq *pqPtr, PGresult *resultPtr);
static bool      IsGood(Pq *pqPtr, const PGresult *resultPtr);
static bool      Fail(Pq *pqPtr, int reason, const char *text);
static int       ReasonOf(const char *sqlState);
static void      IgnoreNotice(void *arg, const PGresult *resultPtr);

char *
PqDisplay(const char *connection)
{
    PQconninfoOption *options = PQconninfoParse(connection, NULL);
    Ns_DString        ds;

    if (options == NULL) {
        return NULL;
    }
    Ns_DStringInit(&ds);
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
        if (o->val != NULL) {
            /* The display character of what libpq holds for secret. */
            bool isSecret = o->dispchar[0] == '*';

            Ns_DStringPrintf(&ds, "%s%s=%s",
                             Ns_DStringLength(&ds) > 0 ? " " : "", o->keyword,
                             isSecret ? "***" : o->val);
        }
    }
    PQconninfoFree(options);
    return Ns_DStringExport(&ds);
}

bool
PqConnect(Pq *pqPtr, const char *connection)
{
    /* The connection string, in dbname, overrides what is before it. */
    static const char *const names[] = {
        "fallback_application_name", "connect_timeout", "dbname",
        "client_encoding", NULL};
    const char *const values[] = {
        "nsd", CONNECT_SECONDS, connection, "UTF8", NULL};

    pqPtr->reason = 0;
    pqPtr->conn = PQconnectdbParams(names, values, 1);
    if (pqPtr->conn == NULL) {
        return Fail(pqPtr, ENOMEM, "no memory");
    }
    if (PQstatus(pqPtr->conn) == CONNECTION_OK) {
        (void) PQsetNoticeReceiver(pqPtr->conn, IgnoreNotice, NULL);
        (void) PQsetnonblocking(pqPtr->conn, 1);
        return true;
    }
    (void) Fail(pqPtr, ECONNREFUSED, PQerrorMessage(pqPtr->conn));
    PqClose(pqPtr);
    return false;
}

void
PqClose(Pq *pqPtr)
{
    PQfinish(pqPtr->conn);
    pqPtr->conn = NULL;
}

PGresult *
PqQuery(Pq *pqPtr, const char *sql)
{
    return Send(pqPtr, sql) ? LastResult(pqPtr, NextResult(pqPtr)) : NULL;
}

bool
PqCopy(Pq *pqPtr, const char *sql, const char *bytes, size_t length)
{
    PGresult *resultPtr;
    bool      isOk;

    if (!Send(pqPtr, sql)) {
        return false;
    }
    while ((resultPtr = NextResult(pqPtr)) != NULL
           && PQresultStatus(resultPtr) == PGRES_COMMAND_OK) {
        PQclear(resultPtr);
    }
    if (resultPtr != NULL && PQresultStatus(resultPtr) == PGRES_COPY_IN) {
        PQclear(resultPtr);
        if (PQputCopyData(pqPtr->conn, bytes, (int) length) < 0
            || PQputCopyEnd(pqPtr->conn, NULL) < 0) {
            return Fail(pqPtr, ECONNRESET, PQerrorMessage(pqPtr->conn));
        }
        if (!Flush(pqPtr)) {
            return false;
        }
        resultPtr = NextResult(pqPtr);
    }
    resultPtr = LastResult(pqPtr, resultPtr);
    isOk = resultPtr != NULL;
    PQclear(resultPtr);
    return isOk;
}

static bool
Send(Pq *pqPtr, const char *sql)
{
    pqPtr->reason = 0;
    return PQsendQuery(pqPtr->conn, sql)
        ? Flush(pqPtr)
        : Fail(pqPtr, ECONNRESET, PQerrorMessage(pqPtr->conn));
}

/*
 * Wait until the socket is ready; not longer than that.
 */
static bool
Await(Pq *pqPtr, short events, int64_t untilMs)
{
    for (;;) {
        struct pollfd poller = {.fd = PQsocket(pqPtr->conn), .events = events};
        int           n = poll(&poller, 1, (int) MAX(untilMs - Now(), 0) + 1);

        if (n > 0) {
            return true;
        }
        if (n == 0) {
            return Fail(pqPtr, ETIMEDOUT, "the server does not answer");
        }
        if (errno != EINTR) {
            return Fail(pqPtr, errno, strerror(errno));
        }
    }
}

static int64_t
Now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * A server that has its hands full with what it wants to say takes nothing, so
 * that has to be read as well.
 */
static bool
Flush(Pq *pqPtr)
{
    int n;

    while ((n = PQflush(pqPtr->conn)) == 1) {
        if (!Await(pqPtr, POLLIN | POLLOUT, Now() + REPLY_MS)) {
            return false;
        }
        if (!PQconsumeInput(pqPtr->conn)) {
            n = -1;
            break;
        }
    }
    return n == 0 || Fail(pqPtr, ECONNRESET, PQerrorMessage(pqPtr->conn));
}

/*
 * NULL: there is none left, or the wait was too long.
 */
static PGresult *
NextResult(Pq *pqPtr)
{
    while (PQisBusy(pqPtr->conn)) {
        if (!Await(pqPtr, POLLIN, Now() + REPLY_MS)) {
            return NULL;
        }
        if (!PQconsumeInput(pqPtr->conn)) {
            (void) Fail(pqPtr, ECONNRESET, PQerrorMessage(pqPtr->conn));
            return NULL;
        }
    }
    return PQgetResult(pqPtr->conn);
}

/*
 * Read up to the end of what was asked, beginning with this result.  The last
 * one, if all are good.
 */
static PGresult *
LastResult(Pq *pqPtr, PGresult *resultPtr)
{
    PGresult *lastPtr = NULL;

    for (; resultPtr != NULL; resultPtr = NextResult(pqPtr)) {
        (void) IsGood(pqPtr, resultPtr);
        PQclear(lastPtr);
        lastPtr = resultPtr;
    }
    if (pqPtr->reason != 0) {
        PQclear(lastPtr);
        lastPtr = NULL;
    }
    return lastPtr;
}

static bool
IsGood(Pq *pqPtr, const PGresult *resultPtr)
{
    ExecStatusType status = PQresultStatus(resultPtr);
    const char    *sqlState, *text;

    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
        return true;
    }
    sqlState = PQresultErrorField(resultPtr, PG_DIAG_SQLSTATE);
    text = PQresultErrorField(resultPtr, PG_DIAG_MESSAGE_PRIMARY);
    if (sqlState == NULL) {
        return Fail(pqPtr, ECONNRESET, PQresultErrorMessage(resultPtr));
    }
    if (pqPtr->reason == 0) {
        (void) Fail(pqPtr, ReasonOf(sqlState), text != NULL ? text : "failed");
        snprintf(pqPtr->sqlState, sizeof(pqPtr->sqlState), "%s", sqlState);
    }
    return false;
}

/*
 * The first failure is the reason; of its text the first line.
 */
static bool
Fail(Pq *pqPtr, int reason, const char *text)
{
    if (pqPtr->reason != 0) {
        return false;
    }
    snprintf(pqPtr->error, sizeof(pqPtr->error), "%.*s",
             (int) strcspn(text, "\n"), text);
    pqPtr->sqlState[0] = '\0';
    pqPtr->reason = reason;
    return false;
}

static int
ReasonOf(const char *sqlState)
{
    if (STREQ(sqlState, "53100")) {
        return ENOSPC;
    }
    return strncmp(sqlState, "42501", 5) == 0 ? EACCES : EIO;
}

static void
IgnoreNotice(void *arg, const PGresult *resultPtr)
{
}
