/* SPDX-License-Identifier: MPL-2.0
 * rollname.c --
 *
 *      The names that rolled files get by a format of strftime.
 */

#include "log/target/rollname.h"

#include "base/assert.h"
#include "nsstring.h"

#define NUMBER "[0-9]{3}" /* Of a backup. */

/*
 * The results of the conversions of strftime, in the C locale.
 */
static const struct {
    const char *letters;
    const char *pattern; /* Of each one's text; NULL: */
    const char *format;  /* it means these. */
} conversions[] = {
    {"CdgHImMSUVWy", "[0-9]{2}", NULL},
    {"ekl", "[ 0-9]{2}", NULL},
    {"j", "[0-9]{3}", NULL},
    {"GsuwY", "[0-9]+", NULL},
    {"aAbBhpP", "[[:alpha:]]+", NULL},
    {"z", "[-+][0-9]{4}", NULL},
    {"Z", "[-+[:alnum:]]+", NULL},
    {"%", "%", NULL},
    {"n", "\n", NULL},
    {"t", "\t", NULL},
    {"c", NULL, "%a %b %e %H:%M:%S %Y"},
    {"Dx", NULL, "%m/%d/%y"},
    {"F", NULL, "%Y-%m-%d"},
    {"r", NULL, "%I:%M:%S %p"},
    {"R", NULL, "%H:%M"},
    {"TX", NULL, "%H:%M:%S"}};

static void        AppendFormat(Ns_DString *dsPtr, const char *format);
static const char *AppendConversion(Ns_DString *dsPtr, const char *percent);
static void        AppendLiteral(Ns_DString *dsPtr, char c);

size_t
NsRollSuffix(char *buffer, size_t room, const char *format,
             const struct tm *tmPtr)
{
    size_t n;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    n = strftime(buffer, room, format, tmPtr);
#pragma GCC diagnostic pop
    NsAssert(n < room);
    for (size_t i = 0; i < n; i++) {
        if (buffer[i] == '/') {
            buffer[i] = '-'; /* The backup stays beside its file. */
        }
    }
    return n;
}

bool
NsRollPattern(regex_t *patternPtr, const char *format)
{
    Ns_DString ds;
    bool       isOk;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, "^");
    if (format == NULL) {
        Ns_DStringAppend(&ds, NUMBER);
    } else {
        AppendFormat(&ds, format);
        Ns_DStringAppend(&ds, "(\\." NUMBER ")?");
    }
    Ns_DStringAppend(&ds, "(\\.gz)?$");
    isOk = regcomp(patternPtr, Ns_DStringValue(&ds), REG_EXTENDED | REG_NOSUB)
        == 0;
    Ns_DStringFree(&ds);
    return isOk;
}

static void
AppendFormat(Ns_DString *dsPtr, const char *format)
{
    while (*format != '\0') {
        if (*format == '%') {
            format = AppendConversion(dsPtr, format);
        } else {
            AppendLiteral(dsPtr, *format == '/' ? '-' : *format);
            format++;
        }
    }
}

/*
 * The rest of the format.  With flags or a width, as in %-d, a number may have
 * any length.  Other text means itself.
 */
static const char *
AppendConversion(Ns_DString *dsPtr, const char *percent)
{
    size_t      nFlags = strspn(percent + 1, "_-0^#+123456789");
    const char *letter = percent + 1 + nFlags;

    if (letter[0] != '\0' && letter[1] != '\0'
        && ((letter[0] == 'E' && strchr("cCxXyY", letter[1]) != NULL)
            || (letter[0] == 'O'
                && strchr("deHImMSuUVwWy", letter[1]) != NULL))) {
        letter++; /* As the locale likes it. */
    }
    for (int i = 0; *letter != '\0' && i < Ns_NrElements(conversions); i++) {
        const char *pattern = conversions[i].pattern;

        if (strchr(conversions[i].letters, *letter) == NULL) {
            continue;
        }
        if (pattern == NULL) {
            AppendFormat(dsPtr, conversions[i].format);
        } else if (nFlags > 0 && strstr(pattern, "0-9") != NULL) {
            Ns_DStringAppend(dsPtr, "[-+ 0-9]+");
        } else {
            Ns_DStringAppend(dsPtr, pattern);
        }
        return letter + 1;
    }
    AppendLiteral(dsPtr, *percent);
    return percent + 1;
}

static void
AppendLiteral(Ns_DString *dsPtr, char c)
{
    if (strchr("\\^$.[]|()*+?{}", c) != NULL) {
        Ns_DStringNAppend(dsPtr, "\\", 1);
    }
    Ns_DStringNAppend(dsPtr, &c, 1);
}
