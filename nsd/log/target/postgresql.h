/*
 * postgresql.h --
 *
 *      A connection to a PostgreSQL server that never keeps its caller waiting
 *      for long.
 *
 *      Built with libpq only, except for NsPqDisplay.  One thread at a time
 *      uses a connection.
 */

#ifndef NSD_LOG_POSTGRESQL_H
#define NSD_LOG_POSTGRESQL_H

#include "base/config.h"
#include "nstypes.h"

/*
 * A connection string or URI without its secrets, on the heap, to be shown to
 * people.  NULL: libpq does not understand it.
 */
char *NsPqDisplay(const char *connection);

#ifdef HAVE_LIBPQ

#include <libpq-fe.h>

typedef struct NsPq {
    PGconn *conn;
    char    error[256];         /* One line about what failed last, */
    char    sqlState[6];        /* "" if the server did not say so, */
    int     reason;             /* and an errno that fits. */
} NsPq;

/*
 * Connect.  False: pqPtr says why, and there is nothing to close.
 */
bool NsPqConnect(NsPq *pqPtr, const char *connection);
void NsPqClose(NsPq *pqPtr);

/*
 * Run one or more statements; the result of the last, which the caller clears.
 * NULL: one failed, and pqPtr says why.
 */
PGresult *NsPqQuery(NsPq *pqPtr, const char *sql);

/*
 * The same for statements of which one is COPY FROM STDIN, and its input.
 */
bool NsPqCopy(NsPq *pqPtr, const char *sql, const char *bytes, size_t length);

#endif
#endif
