/* SPDX-License-Identifier: MPL-2.0
 * connection.h --
 *
 *      A connection to a PostgreSQL server that never keeps its caller waiting
 *      for long.  One thread at a time uses it.
 */

#ifndef NSLOGPOSTGRESQL_CONNECTION_H
#define NSLOGPOSTGRESQL_CONNECTION_H

#include "nstypes.h"

#include <libpq-fe.h>

/*
 * A connection string or URI without its secrets, on the heap, to be shown to
 * people.  NULL: libpq does not understand it.
 */
char *PqDisplay(const char *connection);

typedef struct Pq {
    PGconn *conn;
    char    error[256];  /* One line about what failed last, */
    char    sqlState[6]; /* "" if the server did not say so, */
    int     reason;      /* and an errno that fits. */
} Pq;

/*
 * Connect.  False: pqPtr says why, and there is nothing to close.
 */
bool PqConnect(Pq *pqPtr, const char *connection);
void PqClose(Pq *pqPtr);

/*
 * Run one or more statements; the result of the last, which the caller clears.
 * NULL: one failed, and pqPtr says why.
 */
PGresult *PqQuery(Pq *pqPtr, const char *sql);

/*
 * The same for statements of which one is COPY FROM STDIN, and its input.
 */
bool PqCopy(Pq *pqPtr, const char *sql, const char *bytes, size_t length);

#endif
