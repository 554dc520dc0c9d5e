/* SPDX-License-Identifier: MPL-2.0
 * units.c --
 *
 *      How numbers, sizes, durations and truth are written in a configuration.
 */

#include "process/units.h"

#include "base/chars.h"
#include "nsstring.h"

#include <math.h>

typedef struct Unit {
    const char *name;
    double      factor; /* To bytes, or to seconds. */
} Unit;

#define KIB 1024.0

/*
 * Of 1024 with and without the i, as configurations of today mean it.
 */
static const Unit sizeUnits[] = {
    {"B", 1},
    {"kB", KIB},
    {"MB", KIB *KIB},
    {"GB", KIB *KIB *KIB},
    {"TB", KIB *KIB *KIB *KIB},
    {"KiB", KIB},
    {"MiB", KIB *KIB},
    {"GiB", KIB *KIB *KIB},
    {"TiB", KIB *KIB *KIB *KIB},
    {NULL, 0}};

static const Unit timeUnits[] = {
    {"us", 1e-6}, {"\u00b5s", 1e-6}, {"ms", 1e-3},  {"s", 1},        {"m", 60},
    {"h", 3600},  {"d", 86400},      {"w", 604800}, {"y", 31536000}, {NULL, 0}};

#define NAME_BYTES 64

static bool WholeNumber(const char *text, Tcl_WideInt *valuePtr);
static bool WithUnit(const char *text, const Unit *units, double *valuePtr);

bool
NsUnitsBool(const char *text, bool *valuePtr)
{
    static const struct {
        const char *word;
        bool        value;
    } words[] = {{"1", true},    {"y", true},  {"yes", true},
                 {"on", true},   {"t", true},  {"true", true},
                 {"0", false},   {"n", false}, {"no", false},
                 {"off", false}, {"f", false}, {"false", false}};
    Tcl_WideInt number;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i].word) == 0) {
            *valuePtr = words[i].value;
            return true;
        }
    }
    if (!WholeNumber(text, &number)) {
        return false;
    }
    *valuePtr = (number != 0);
    return true;
}

bool
NsUnitsInteger(const char *text, Tcl_WideInt *valuePtr)
{
    double value;

    if (WholeNumber(text, valuePtr)) {
        return true;
    }
    if (!WithUnit(text, sizeUnits, &value)
        && !WithUnit(text, timeUnits, &value)) {
        return false;
    }
    value = ceil(value);
    if (fabs(value) >= 9.2e18) {
        return false;
    }
    *valuePtr = (Tcl_WideInt) value;
    return true;
}

bool
NsUnitsSize(const char *text, Tcl_WideInt *valuePtr)
{
    double value;

    if (WholeNumber(text, valuePtr)) {
        return true;
    }
    if (!WithUnit(text, sizeUnits, &value) || fabs(value) >= 9.2e18) {
        return false;
    }
    *valuePtr = (Tcl_WideInt) value;
    return true;
}

bool
NsUnitsIsSizeUnit(const char *text)
{
    static const char *const names[] = {
        "", "B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB"};

    text = NsSkipSpace(text);
    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (STREQ(text, names[i])) {
            return true;
        }
    }
    return false;
}

Ns_ReturnCode
Ns_StrToMemUnit(const char *string, Tcl_WideInt *bytesPtr)
{
    Tcl_WideInt bytes;

    if (!NsUnitsIsSizeUnit(string + strspn(string, "+-0123456789."))
        || !NsUnitsSize(string, &bytes) || bytes < 0) {
        return NS_ERROR;
    }
    *bytesPtr = bytes;
    return NS_OK;
}

bool
NsUnitsTime(const char *text, Ns_Time *timePtr)
{
    double value;
    char  *end;

    text = NsSkipSpace(text);
    value = strtod(text, &end);
    if (end == text || !isfinite(value)) {
        return false;
    }
    if (*end == ':') {
        long usec = strtol(end + 1, &end, 10);

        if (*NsSkipSpace(end) != '\0' || usec < 0 || usec > 999999
            || value != floor(value)) {
            return false;
        }
        value += (double) usec / 1e6;
    } else if (*NsSkipSpace(end) != '\0'
               && !WithUnit(text, timeUnits, &value)) {
        return false;
    }
    if (value < 0 || value > 1e15) {
        return false;
    }
    timePtr->sec = (long) value;
    timePtr->usec = lround((value - (double) timePtr->sec) * 1e6);
    if (timePtr->usec >= 1000000) {
        timePtr->sec++;
        timePtr->usec -= 1000000;
    }
    return true;
}

/*
 * Optimal string alignment: one row per character of a, of which the last
 * three are kept.
 */
int
NsUnitsDistance(const char *a, const char *b)
{
    int    rows[3][NAME_BYTES];
    size_t aLength = strlen(a), bLength = strlen(b);

    if (aLength >= NAME_BYTES || bLength >= NAME_BYTES) {
        return NAME_BYTES;
    }
    for (size_t j = 0; j <= bLength; j++) {
        rows[0][j] = (int) j;
    }
    for (size_t i = 1; i <= aLength; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3];
        int *twoAbove = rows[(i + 1) % 3];

        row[0] = (int) i;
        for (size_t j = 1; j <= bLength; j++) {
            int x = tolower(UCHAR(a[i - 1])), y = tolower(UCHAR(b[j - 1]));
            int best = above[j - 1] + (x != y);

            best = MIN(best, above[j] + 1);
            best = MIN(best, row[j - 1] + 1);
            if (i > 1 && j > 1 && x == tolower(UCHAR(b[j - 2]))
                && tolower(UCHAR(a[i - 2])) == y) {
                best = MIN(best, twoAbove[j - 2] + 1);
            }
            row[j] = best;
        }
    }
    return rows[aLength % 3][bLength];
}

/*
 * No octal: 010 is ten, as people mean it.
 */
static bool
WholeNumber(const char *text, Tcl_WideInt *valuePtr)
{
    const char *digits = NsSkipSpace(text);
    char       *end;
    long long   value;
    int         base = 10;

    text = digits;
    if (*digits == '-' || *digits == '+') {
        digits++;
    }
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        base = 16;
    }
    if (!isxdigit(UCHAR(*digits))) {
        return false;
    }
    errno = 0;
    value = strtoll(text, &end, base);
    if (errno != 0 || end == text || *NsSkipSpace(end) != '\0') {
        return false;
    }
    *valuePtr = value;
    return true;
}

static bool
WithUnit(const char *text, const Unit *units, double *valuePtr)
{
    const char *start = NsSkipSpace(text);
    char       *end;
    double      value = strtod(start, &end);
    const char *name;
    size_t      length;

    if (end == start || !isfinite(value)) {
        return false;
    }
    name = NsSkipSpace(end);
    for (length = 0; isalpha(UCHAR(name[length])) || UCHAR(name[length]) > 127;
         length++) {
        continue;
    }
    if (length == 0 || *NsSkipSpace(name + length) != '\0') {
        return false;
    }
    for (; units->name != NULL; units++) {
        if (strlen(units->name) == length
            && strncasecmp(units->name, name, length) == 0) {
            *valuePtr = value * units->factor;
            return true;
        }
    }
    return false;
}
