/* SPDX-License-Identifier: MPL-2.0
 * sqltext.c --
 *
 *      The text of statements.
 */

#include "sqltext.h"

static const char *SkipQuoted(const char *text, char quote, bool hasEscapes);
static const char *SkipComment(const char *text);
static const char *SkipDollar(const char *text);
static bool        IsWordChar(char c);
static bool        IsComment(const char *text);

/*
 * A word is skipped as a whole, so a `$` or `e` inside it starts nothing.
 */
const char *
DbSqlSkip(const char *text)
{
    if (*text == '\'' || *text == '"' || *text == '`') {
        return SkipQuoted(text, *text, false);
    }
    if ((*text == 'e' || *text == 'E') && text[1] == '\'') {
        return SkipQuoted(text + 1, '\'', true);
    }
    if (IsComment(text)) {
        return SkipComment(text);
    }
    if (*text == '$') {
        return SkipDollar(text);
    }
    if (IsWordChar(*text)) {
        while (IsWordChar(*text) || *text == '$') {
            text++;
        }
        return text;
    }
    return *text == '\0' ? text : text + 1;
}

static const char *
SkipQuoted(const char *text, char quote, bool hasEscapes)
{
    for (text++; *text != '\0'; text++) {
        if (hasEscapes && *text == '\\' && text[1] != '\0') {
            text++;
        } else if (*text == quote && text[1] == quote) {
            text++;
        } else if (*text == quote) {
            return text + 1;
        }
    }
    return text;
}

static bool
IsComment(const char *text)
{
    return (text[0] == '-' && text[1] == '-')
        || (text[0] == '/' && text[1] == '*');
}

/*
 * Comments of the second kind nest, as the SQL standard says.
 */
static const char *
SkipComment(const char *text)
{
    int depth = 0;

    if (*text == '-') {
        return text + strcspn(text, "\n");
    }
    while (*text != '\0') {
        if (text[0] == '/' && text[1] == '*') {
            depth++;
            text += 2;
        } else if (text[0] == '*' && text[1] == '/') {
            depth--;
            text += 2;
            if (depth == 0) {
                break;
            }
        } else {
            text++;
        }
    }
    return text;
}

/*
 * $$...$$ or $tag$...$tag$; any other dollar sign is an ordinary character.
 */
static const char *
SkipDollar(const char *text)
{
    const char *p = text + 1;
    size_t      length;

    while (IsWordChar(*p) && !(p == text + 1 && isdigit(UCHAR(*p)))) {
        p++;
    }
    if (*p != '$') {
        return text + 1;
    }
    length = (size_t) (p + 1 - text);
    for (p++; *p != '\0'; p++) {
        if (*p == '$' && strncmp(p, text, length) == 0) {
            return p + length;
        }
    }
    return p;
}

static bool
IsWordChar(char c)
{
    return isalnum(UCHAR(c)) || c == '_' || UCHAR(c) >= 0x80;
}

DbSqlStatus
DbSqlNext(const char **textPtr, Ns_DString *dsPtr)
{
    const char *text = *textPtr;
    bool        isEmpty = true, isLineStart = true;

    while (*text != '\0' && *text != ';') {
        const char *next = DbSqlSkip(text);

        if (isLineStart && text[0] == '-' && text[1] == '-') {
            text = *next == '\n' ? next + 1 : next;
            continue;
        }
        isLineStart = *text == '\n';
        isEmpty = isEmpty && (isspace(UCHAR(*text)) || IsComment(text));
        Ns_DStringNAppend(dsPtr, text, (int) (next - text));
        text = next;
    }
    if (*text == ';') {
        *textPtr = text + 1;
        if (isEmpty) {
            Ns_DStringTrunc(dsPtr, 0);
            return DbSqlNext(textPtr, dsPtr);
        }
        return DB_SQL_STATEMENT;
    }
    *textPtr = text;
    return isEmpty ? DB_SQL_END : DB_SQL_UNTERMINATED;
}

/*
 * Skips `::type`, `:=`, and array slices such as `[1:2]`.
 */
const char *
Ns_DbNextVariable(const char *sql, size_t *lengthPtr)
{
    while (*sql != '\0') {
        if (sql[0] == ':' && sql[1] == ':') {
            sql += 2;
        } else if (sql[0] == ':'
                   && (isalpha(UCHAR(sql[1])) || sql[1] == '_'
                       || UCHAR(sql[1]) >= 0x80)) {
            size_t length = 1;

            while (IsWordChar(sql[1 + length])) {
                length++;
            }
            *lengthPtr = length;
            return sql;
        } else {
            sql = DbSqlSkip(sql);
        }
    }
    return NULL;
}
