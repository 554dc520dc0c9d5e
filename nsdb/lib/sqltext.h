/*
 * sqltext.h --
 *
 *      Statements as text: what is within quotes or a comment is no syntax.
 */

#ifndef NSDB_SQLTEXT_H
#define NSDB_SQLTEXT_H

#include "nsdb.h"

typedef enum {
    DB_SQL_STATEMENT,
    DB_SQL_END,         /* Nothing but blanks and comments is left. */
    DB_SQL_UNTERMINATED /* A statement without its semicolon. */
} DbSqlStatus;

/*
 * Append the next statement, without its semicolon and without lines that begin
 * with two dashes, and go behind it.
 */
DbSqlStatus DbSqlNext(const char **textPtr, Ns_DString *dsPtr);

/*
 * Behind what begins here and is a unit: '...', "...", E'...', $tag$...$tag$, a
 * comment, a word, or else one character.
 */
const char *DbSqlSkip(const char *text);

#endif
