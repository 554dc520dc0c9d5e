/*
 * parameters.c --
 *
 *      Looking things up in the table of parameters.
 */

#include "process/parameters.h"

#include "nsthread.h"
#include "process/units.h"

static int SectionDistance(const char *pattern, const char *name);
static bool IsSimilar(int distance, const char *name);
static bool IsBadNumber(const NsParameter *parameterPtr, const char *value,
                        char *buffer, size_t bytes);
static bool IsBadList(const NsParameter *parameterPtr, const char *value,
                      char *buffer, size_t bytes);
static bool IsBadTime(const NsParameter *parameterPtr, const char *value,
                      char *buffer, size_t bytes);
static bool IsBadChoice(const NsParameter *parameterPtr, const char *value,
                        char *buffer, size_t bytes);
static bool IsOutOfRange(const NsParameter *parameterPtr, const char *value,
                         int64_t number, bool isAbove, char *buffer,
                         size_t bytes);
static void FormatRange(const NsParameter *parameterPtr, char *buffer,
                        size_t bytes);


const NsParameterSection *
NsParameterSectionFind(const char *canonical)
{
    const NsParameterSection *sectionPtr = NsParameterSections();

    for (; sectionPtr->pattern != NULL; sectionPtr++) {
        if (NsParameterMatches(sectionPtr->pattern, canonical)) {
            return sectionPtr;
        }
    }
    return NULL;
}

const NsParameter *
NsParameterFind(const NsParameterSection *sectionPtr, const char *key)
{
    const NsParameter *parameterPtr = sectionPtr->parameters;

    for (; parameterPtr->key != NULL; parameterPtr++) {
        if (STREQ(parameterPtr->key, "*") || STRIEQ(parameterPtr->key, key)) {
            return parameterPtr;
        }
    }
    return NULL;
}

int64_t
NsParameterMax(const NsParameter *parameterPtr)
{
    if (parameterPtr->max != NS_PARAM_NO_LIMIT) {
        return parameterPtr->max;
    }
    switch (parameterPtr->type) {
    case NS_PARAM_INT:
        return INT_MAX;
    case NS_PARAM_TIME:
        return INT64_C(1000) * INT_MAX;
    default:
        return INT64_MAX;
    }
}

const char *
NsParameterNearest(const NsParameterSection *sectionPtr, const char *key)
{
    const NsParameter *parameterPtr = sectionPtr->parameters;
    const char        *nearest = NULL;
    int                least = INT_MAX;

    for (; parameterPtr->key != NULL; parameterPtr++) {
        int distance = NsUnitsDistance(parameterPtr->key, key);

        if (distance < least) {
            least = distance;
            nearest = parameterPtr->key;
        }
    }
    return IsSimilar(least, key) ? nearest : NULL;
}

const char *
NsParameterNearestSection(const char *canonical)
{
    const NsParameterSection *sectionPtr = NsParameterSections();
    const char               *nearest = NULL;
    int                       least = INT_MAX;

    for (; sectionPtr->pattern != NULL; sectionPtr++) {
        int distance = SectionDistance(sectionPtr->pattern, canonical);

        if (distance < least) {
            least = distance;
            nearest = sectionPtr->shown;
        }
    }
    return nearest;
}

/*
 * Part by part, each of which must be similar; INT_MAX: not all are.
 */
static int
SectionDistance(const char *pattern, const char *name)
{
    int sum = 0;

    while (*pattern != '\0' && *name != '\0') {
        char   wanted[64], found[64];
        size_t nWanted = strcspn(pattern, "/"), nFound = strcspn(name, "/");

        snprintf(wanted, sizeof(wanted), "%.*s", (int) nWanted, pattern);
        snprintf(found, sizeof(found), "%.*s", (int) MIN(nFound, INT_MAX),
                 name);
        if (!STREQ(wanted, "*")) {
            int distance = NsUnitsDistance(wanted, found);

            if (!IsSimilar(distance, found)) {
                return INT_MAX;
            }
            sum += distance;
        }
        pattern += nWanted + (pattern[nWanted] == '/');
        name += nFound + (name[nFound] == '/');
    }
    return *pattern == '\0' && *name == '\0' ? sum : INT_MAX;
}

bool
NsParameterIsBad(const NsParameter *parameterPtr, const char *value,
                 char *buffer, size_t bytes)
{
    bool isTrue;

    switch (parameterPtr->type) {
    case NS_PARAM_BOOL:
        if (NsUnitsBool(value, &isTrue)) {
            return false;
        }
        snprintf(buffer, bytes, "'%.60s' is no boolean", value);
        return true;
    case NS_PARAM_INT:
    case NS_PARAM_SIZE:
        return IsBadNumber(parameterPtr, value, buffer, bytes);
    case NS_PARAM_TIME:
        return IsBadTime(parameterPtr, value, buffer, bytes);
    case NS_PARAM_CHOICE:
        return IsBadChoice(parameterPtr, value, buffer, bytes);
    case NS_PARAM_LIST:
    case NS_PARAM_NUMBERS:
        return IsBadList(parameterPtr, value, buffer, bytes);
    default:
        return false;
    }
}

void
NsParametersPrint(FILE *file)
{
    static const char *const types[] = {
        [NS_PARAM_STRING] = "text", [NS_PARAM_BOOL] = "boolean",
        [NS_PARAM_INT] = "number", [NS_PARAM_NUMBERS] = "numbers",
        [NS_PARAM_SIZE] = "size",
        [NS_PARAM_TIME] = "time", [NS_PARAM_PATH] = "path",
        [NS_PARAM_LIST] = "list", [NS_PARAM_CHOICE] = "",
        [NS_PARAM_IGNORED] = "ignored"
    };
    const NsParameterSection *sectionPtr = NsParameterSections();

    fputs("# Parameters\n\n"
          "All parameters of the configuration file, as `nsd --parameters` "
          "prints them.\n\n"
          "A size is in bytes or has a unit: `kB`, `MB`, `GB`, which are "
          "powers of 1024, or `KiB`, `MiB`,\n`GiB`, which are the same. A time "
          "is in seconds, which may have a fraction, or has a unit:\n`us`, "
          "`ms`, `s`, `m`, `h`, `d`, `w`, `y` (365 days). A boolean is `true` or `false`, `yes`\nor `no`, `on` "
          "or `off`, `1` or `0`.\n", file);
    for (; sectionPtr->pattern != NULL; sectionPtr++) {
        const NsParameter *parameterPtr = sectionPtr->parameters;

        fprintf(file, "\n## %s\n\n%s\n", sectionPtr->shown,
                sectionPtr->sentence);
        if (STREQ(parameterPtr->key, "*")) {
            continue;
        }
        fputs("\n| Parameter | Default | Value | Meaning |\n"
              "|---|---|---|---|\n", file);
        for (; parameterPtr->key != NULL; parameterPtr++) {
            char range[128];

            FormatRange(parameterPtr, range, sizeof(range));
            fprintf(file, "| `%s` | %s | %s%s%s | %s |\n", parameterPtr->key,
                    parameterPtr->defaultText, types[parameterPtr->type],
                    *types[parameterPtr->type] != '\0' && *range != '\0'
                    ? ", " : "", range, parameterPtr->sentence);
        }
    }
}

/*
 * `*` stands for one part of the name, which may hold anything but a slash.
 */
bool
NsParameterMatches(const char *pattern, const char *name)
{
    while (*pattern != '\0' && *name != '\0') {
        if (*pattern == '*') {
            pattern++;
            while (*name != '\0' && *name != '/') {
                name++;
            }
        } else if (*pattern++ != *name++) {
            return false;
        }
    }
    return *pattern == '\0' && *name == '\0';
}

/*
 * A slip of the finger, not another word: about one edit in three characters.
 */
static bool
IsSimilar(int distance, const char *name)
{
    return distance <= 1 + (int) strlen(name) / 4;
}

static bool
IsBadNumber(const NsParameter *parameterPtr, const char *value, char *buffer,
            size_t bytes)
{
    bool        isSize = parameterPtr->type == NS_PARAM_SIZE;
    Tcl_WideInt number;

    if (isSize ? !NsUnitsSize(value, &number)
               : !NsUnitsInteger(value, &number)) {
        snprintf(buffer, bytes, "'%.60s' is no %s", value,
                 isSize ? "size" : "number");
        return true;
    }
    return IsOutOfRange(parameterPtr, value, number, false, buffer, bytes);
}

static bool
IsBadList(const NsParameter *parameterPtr, const char *value, char *buffer,
          size_t bytes)
{
    const char **words;
    int          n;
    bool         isBad = false;

    if (Tcl_SplitList(NULL, value, &n, &words) != TCL_OK) {
        snprintf(buffer, bytes, "'%.60s' is no list", value);
        return true;
    }
    for (int i = 0; i < n && !isBad
            && parameterPtr->type == NS_PARAM_NUMBERS; i++) {
        isBad = IsBadNumber(parameterPtr, words[i], buffer, bytes);
    }
    Tcl_Free((char *) words);
    return isBad;
}

static bool
IsBadTime(const NsParameter *parameterPtr, const char *value, char *buffer,
          size_t bytes)
{
    Ns_Time     time;
    Tcl_WideInt number;

    if (NsUnitsTime(value, &time)) {
        return IsOutOfRange(parameterPtr, value,
                            time.sec * INT64_C(1000) + time.usec / 1000,
                            time.usec % 1000 != 0, buffer, bytes);
    }
    if (NsUnitsInteger(value, &number)) {   /* A negative one. */
        return IsOutOfRange(parameterPtr, value, number, false, buffer, bytes);
    }
    snprintf(buffer, bytes, "'%.60s' is no time", value);
    return true;
}

static bool
IsBadChoice(const NsParameter *parameterPtr, const char *value, char *buffer,
            size_t bytes)
{
    const char *word = parameterPtr->choices;

    while (*word != '\0') {
        size_t length = strcspn(word, " ");

        if (strlen(value) == length && strncasecmp(word, value, length) == 0) {
            return false;
        }
        word += length;
        word += strspn(word, " ");
    }
    snprintf(buffer, bytes, "'%.60s' is none of: %s", value,
             parameterPtr->choices);
    return true;
}

/*
 * isAbove: the true value is a fraction above number.
 */
static bool
IsOutOfRange(const NsParameter *parameterPtr, const char *value, int64_t number,
             bool isAbove, char *buffer, size_t bytes)
{
    char range[128];

    if (number >= parameterPtr->min
            && (number < NsParameterMax(parameterPtr)
                || (number == NsParameterMax(parameterPtr) && !isAbove))) {
        return false;
    }
    FormatRange(parameterPtr, range, sizeof(range));
    snprintf(buffer, bytes, "%.60s is out of range (%s)", value, range);
    return true;
}

static void
FormatRange(const NsParameter *parameterPtr, char *buffer, size_t bytes)
{
    *buffer = '\0';
    switch (parameterPtr->type) {
    case NS_PARAM_TIME:
        snprintf(buffer, bytes, parameterPtr->min % 1000 == 0
                 ? "at least %" PRId64 : "at least %" PRId64 "ms",
                 parameterPtr->min % 1000 == 0 ? parameterPtr->min / 1000
                 : parameterPtr->min);
        break;
    case NS_PARAM_INT:
    case NS_PARAM_NUMBERS:
    case NS_PARAM_SIZE:
        if (parameterPtr->max == NS_PARAM_NO_LIMIT) {
            snprintf(buffer, bytes, "at least %" PRId64, parameterPtr->min);
        } else {
            snprintf(buffer, bytes, "%" PRId64 " to %" PRId64,
                     parameterPtr->min, parameterPtr->max);
        }
        break;
    case NS_PARAM_CHOICE: {
        const char *word = parameterPtr->choices;
        size_t      length = 0;

        while (*word != '\0' && length + 8 < bytes) {
            int n = (int) strcspn(word, " ");

            length += (size_t) snprintf(buffer + length, bytes - length,
                                        "%s%.*s", length > 0 ? ", " : "", n,
                                        word);
            word += n;
            word += strspn(word, " ");
        }
        break;
    }
    default:
        break;
    }
}
