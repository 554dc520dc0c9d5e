/* SPDX-License-Identifier: MPL-2.0
 * sqltext.h --
 *
 *      The text of statements: what is in quotes or in a comment is not syntax.
 */

#ifndef NSDB_SQLTEXT_H
#define NSDB_SQLTEXT_H

#include "nsdb.h"

typedef enum {
    DB_SQL_STATEMENT,
    DB_SQL_END,         /* Only blanks and comments are left. */
    DB_SQL_UNTERMINATED /* A statement without its semicolon. */
} DbSqlStatus;

/*
 * Append the next statement, without its semicolon and without lines that begin
 * with two dashes, and move past it.
 */
DbSqlStatus DbSqlNext(const char **textPtr, Ns_DString *dsPtr);

/*
 * Skip the unit that begins here: '...', "...", E'...', $tag$...$tag$, a
 * comment, a word, or else one character.
 */
const char *DbSqlSkip(const char *text);

#endif
