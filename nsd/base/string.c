/* SPDX-License-Identifier: MPL-2.0
 * string.c --
 *
 *      Trimming, case, numbers and searching in plain strings.
 *
 *      White space, case and digits are those of ASCII, whatever the locale:
 *      bytes of UTF-8 characters are never touched.
 */

#include "nsstring.h"
#include "base/chars.h"

static bool ToWide(const char *string, intmax_t *valuePtr);

char *
Ns_StrTrim(char *string)
{
    return Ns_StrTrimLeft(Ns_StrTrimRight(string));
}

char *
Ns_StrTrimLeft(char *string)
{
    return string + (NsSkipSpace(string) - string);
}

char *
Ns_StrTrimRight(char *string)
{
    const char *end = NsTrimEnd(string, string + strlen(string));

    string[end - string] = '\0';
    return string;
}

char *
Ns_StrToLower(char *string)
{
    for (char *s = string; *s != '\0'; s++) {
        if (*s >= 'A' && *s <= 'Z') {
            *s = (char) (*s + ('a' - 'A'));
        }
    }
    return string;
}

char *
Ns_StrToUpper(char *string)
{
    for (char *s = string; *s != '\0'; s++) {
        if (*s >= 'a' && *s <= 'z') {
            *s = (char) (*s - ('a' - 'A'));
        }
    }
    return string;
}

int
Ns_StrToInt(const char *string, int *intPtr)
{
    intmax_t value;

    if (!ToWide(string, &value) || value < INT_MIN || value > INT_MAX) {
        return NS_ERROR;
    }
    *intPtr = (int) value;
    return NS_OK;
}

int
Ns_StrToWideInt(const char *string, Tcl_WideInt *widePtr)
{
    intmax_t value;

    if (!ToWide(string, &value)) {
        return NS_ERROR;
    }
    *widePtr = (Tcl_WideInt) value;
    return NS_OK;
}

const char *
Ns_Match(const char *a, const char *b)
{
    size_t length;

    if (a == NULL || b == NULL) {
        return NULL;
    }
    length = MIN(strlen(a), strlen(b));
    return strncasecmp(a, b, length) == 0 ? b : NULL;
}

const char *
Ns_NextWord(const char *line)
{
    while (*line != '\0' && !NsIsSpace(*line)) {
        line++;
    }
    return NsSkipSpace(line);
}

const char *
Ns_StrNStr(const char *string, const char *pattern)
{
    return strcasestr(string, pattern);
}

const char *
Ns_StrCaseFind(const char *string, const char *pattern)
{
    return strcasestr(string, pattern);
}

/*
 * The whole string as a number, blanks around it allowed.  A leading 0 does not
 * mean octal.
 */
static bool
ToWide(const char *string, intmax_t *valuePtr)
{
    const char *digits = NsSkipSpace(string);
    char       *end;
    int         base = 10;

    if (*digits == '-' || *digits == '+') {
        digits++;
    }
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        base = 16;
    }
    errno = 0;
    *valuePtr = strtoimax(string, &end, base);
    if (errno == ERANGE || end <= digits) {
        return false;
    }
    return *NsSkipSpace(end) == '\0';
}

/*
 * Names of one number: the first counts.
 */
const char *
Ns_ReturnCodeString(Ns_ReturnCode code)
{
    static const struct {
        int         code;
        const char *name;
    } names[] = {{NS_OK, "NS_OK"},
                 {NS_ERROR, "NS_ERROR"},
                 {NS_TIMEOUT, "NS_TIMEOUT"},
                 {NS_UNAUTHORIZED, "NS_UNAUTHORIZED"},
                 {NS_FORBIDDEN, "NS_FORBIDDEN"},
                 {NS_FILTER_BREAK, "NS_FILTER_BREAK"},
                 {NS_FILTER_RETURN, "NS_FILTER_RETURN"}};

    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (names[i].code == (int) code) {
            return names[i].name;
        }
    }
    return "unknown";
}

const char *
Ns_TclReturnCodeString(int code)
{
    static const char *const names[] = {
        "TCL_OK", "TCL_ERROR", "TCL_RETURN", "TCL_BREAK", "TCL_CONTINUE"};

    return code >= TCL_OK && code <= TCL_CONTINUE ? names[code] : "unknown";
}
