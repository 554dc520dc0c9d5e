/* SPDX-License-Identifier: MPL-2.0
 * parameter_judge.c --
 *
 *      Values of parameters: read, clamped, stored.
 */

#include "process/parameter_judge.h"

#include "base/assert.h"
#include "base/clock.h"
#include "nsthread.h"
#include "process/units.h"

#define STAMP_MS (NS_STAMP_SECOND / 1000)

static void KeepDefaultWithin(const NsParameter *parameterPtr,
                              NsParameterLimits *limitsPtr);
static bool Read(const NsParameter *parameterPtr, const char *text,
                 int64_t *numberPtr);
static bool ReadInteger(const char *text, int64_t *numberPtr);
static bool ReadTime(const char *text, int64_t *numberPtr);
static bool ReadChoice(const char *words, const char *text, int64_t *numberPtr);
static NsParameterVerdict JudgeList(const NsParameter       *parameterPtr,
                                    const NsParameterLimits *limitsPtr,
                                    const char              *text);
static bool               AreFields(const char **words, int n);
static NsParameterVerdict Clamp(const NsParameter       *parameterPtr,
                                const NsParameterLimits *limitsPtr,
                                int64_t                 *numberPtr);
static void StoreNumber(const NsParameter *parameterPtr, int64_t number,
                        void *structPtr);
static void FormatLimit(char *buffer, size_t bytes, const char *name,
                        int64_t number);
static void FormatWords(const char *words, char *buffer, size_t bytes);

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

void
NsParameterLimitsOf(const NsParameter *parameterPtr, const void *valuesPtr,
                    NsParameterLimits *limitsPtr)
{
    *limitsPtr = (NsParameterLimits){
        .min = parameterPtr->min,
        .max = NsParameterMax(parameterPtr),
        .defaultText = parameterPtr->isDescribed
                || *parameterPtr->defaultText == '\0'
            ? NULL
            : parameterPtr->defaultText};
    if (parameterPtr->adjustProc != NULL) {
        parameterPtr->adjustProc(valuesPtr, limitsPtr);
        KeepDefaultWithin(parameterPtr, limitsPtr);
    }
}

static void
KeepDefaultWithin(const NsParameter *parameterPtr, NsParameterLimits *limitsPtr)
{
    int64_t number;

    if (limitsPtr->defaultText != NULL
        && NsParameterJudge(parameterPtr, limitsPtr, limitsPtr->defaultText,
                            &number)
            != NS_VALUE_OK) {
        NsAssert(parameterPtr->type != NS_PARAM_TIME);
        NsParameterDefault(limitsPtr, number);
    }
}

void
NsParameterDefault(NsParameterLimits *limitsPtr, int64_t number)
{
    snprintf(limitsPtr->buffer, sizeof(limitsPtr->buffer), "%" PRId64, number);
    limitsPtr->defaultText = limitsPtr->buffer;
}

NsParameterVerdict
NsParameterJudge(const NsParameter       *parameterPtr,
                 const NsParameterLimits *limitsPtr, const char *text,
                 int64_t *numberPtr)
{
    switch (parameterPtr->type) {
    case NS_PARAM_STRING:
    case NS_PARAM_PATH:
    case NS_PARAM_IGNORED:
        return NS_VALUE_OK;
    case NS_PARAM_LIST:
    case NS_PARAM_FIELDS:
    case NS_PARAM_NUMBERS:
        return JudgeList(parameterPtr, limitsPtr, text);
    case NS_PARAM_BOOL:
    case NS_PARAM_CHOICE:
        return Read(parameterPtr, text, numberPtr)
            ? NS_VALUE_OK
            : NS_VALUE_UNREADABLE;
    case NS_PARAM_INT:
    case NS_PARAM_SIZE:
    case NS_PARAM_TIME:
        break;
    }
    return Read(parameterPtr, text, numberPtr)
        ? Clamp(parameterPtr, limitsPtr, numberPtr)
        : NS_VALUE_UNREADABLE;
}

NsParameterVerdict
NsParameterStore(const NsParameter       *parameterPtr,
                 const NsParameterLimits *limitsPtr, const char *text,
                 void *structPtr)
{
    NsParameterVerdict verdict = NS_VALUE_OK;
    int64_t            number = 0;

    if (parameterPtr->type == NS_PARAM_LIST
        || parameterPtr->type == NS_PARAM_FIELDS) {
        verdict = text == NULL
            ? NS_VALUE_OK
            : NsParameterJudge(parameterPtr, limitsPtr, text, &number);
        text = verdict == NS_VALUE_OK ? text : NULL;
    }
    if (parameterPtr->member == NS_MEMBER_TEXT) {
        *(const char **) ((char *) structPtr + parameterPtr->offset) = text
                != NULL
            ? text
            : limitsPtr->defaultText;
        return verdict;
    }
    if (limitsPtr->defaultText != NULL) {
        (void) NsParameterJudge(parameterPtr, limitsPtr, limitsPtr->defaultText,
                                &number);
    }
    if (text != NULL) {
        verdict = NsParameterJudge(parameterPtr, limitsPtr, text, &number);
    }
    StoreNumber(parameterPtr, number, structPtr);
    return verdict;
}

/*
 * False: not of the type; *numberPtr is unchanged.
 */
static bool
Read(const NsParameter *parameterPtr, const char *text, int64_t *numberPtr)
{
    Tcl_WideInt wide;
    bool        isTrue;

    switch (parameterPtr->type) {
    case NS_PARAM_BOOL:
        if (!NsUnitsBool(text, &isTrue)) {
            return false;
        }
        *numberPtr = isTrue;
        return true;
    case NS_PARAM_SIZE:
        if (!NsUnitsSize(text, &wide)) {
            return false;
        }
        *numberPtr = wide;
        return true;
    case NS_PARAM_TIME:
        return ReadTime(text, numberPtr);
    case NS_PARAM_CHOICE:
        return ReadChoice(parameterPtr->choices, text, numberPtr);
    default:
        return ReadInteger(text, numberPtr);
    }
}

/*
 * A value with a fraction is a time, not a number to be rounded silently.
 */
static bool
ReadInteger(const char *text, int64_t *numberPtr)
{
    Tcl_WideInt wide;
    Ns_Time     time;

    if (!NsUnitsInteger(text, &wide)
        || (NsUnitsTime(text, &time) && time.usec != 0)) {
        return false;
    }
    *numberPtr = wide;
    return true;
}

static bool
ReadTime(const char *text, int64_t *numberPtr)
{
    Ns_Time time;

    if (!NsUnitsTime(text, &time)) {
        return false;
    }
    *numberPtr = NsClockFromTime(&time);
    return true;
}

static bool
ReadChoice(const char *words, const char *text, int64_t *numberPtr)
{
    size_t length = strlen(text);

    for (int64_t i = 0; *words != '\0'; i++) {
        size_t n = strcspn(words, " ");

        if (n == length && strncasecmp(words, text, n) == 0) {
            *numberPtr = i;
            return true;
        }
        words += n;
        words += strspn(words, " ");
    }
    return false;
}

static NsParameterVerdict
JudgeList(const NsParameter *parameterPtr, const NsParameterLimits *limitsPtr,
          const char *text)
{
    NsParameterVerdict verdict = NS_VALUE_OK;
    const char       **words;
    int                n;

    if (Tcl_SplitList(NULL, text, &n, &words) != TCL_OK) {
        return NS_VALUE_UNREADABLE;
    }
    if (parameterPtr->type == NS_PARAM_FIELDS && !AreFields(words, n)) {
        verdict = NS_VALUE_UNREADABLE;
    }
    for (int i = 0; i < n && verdict == NS_VALUE_OK
         && parameterPtr->type == NS_PARAM_NUMBERS;
         i++) {
        int64_t number;

        verdict = ReadInteger(words[i], &number)
            ? Clamp(parameterPtr, limitsPtr, &number)
            : NS_VALUE_UNREADABLE;
    }
    Tcl_Free((char *) words);
    return verdict;
}

/*
 * Names and values that can be sent as they are.
 */
static bool
AreFields(const char **words, int n)
{
    for (int i = 0; i < n; i++) {
        bool isName = i % 2 == 0;

        if (isName && *words[i] == '\0') {
            return false;
        }
        for (const char *next = words[i]; *next != '\0'; next++) {
            if ((UCHAR(*next) < ' ' && (isName || *next != '\t'))
                || *next == 0x7f
                || (isName && (*next == ' ' || *next == ':'))) {
                return false;
            }
        }
    }
    return n % 2 == 0;
}

static NsParameterVerdict
Clamp(const NsParameter *parameterPtr, const NsParameterLimits *limitsPtr,
      int64_t *numberPtr)
{
    int64_t unit = parameterPtr->type == NS_PARAM_TIME ? STAMP_MS : 1;

    /* A lower limit above the upper one: the latter holds. */
    if (*numberPtr > limitsPtr->max * unit) {
        *numberPtr = limitsPtr->max * unit;
        return NS_VALUE_TOO_LARGE;
    }
    if (*numberPtr < limitsPtr->min * unit) {
        *numberPtr = MIN(limitsPtr->min, limitsPtr->max) * unit;
        return NS_VALUE_TOO_SMALL;
    }
    return NS_VALUE_OK;
}

static void
StoreNumber(const NsParameter *parameterPtr, int64_t number, void *structPtr)
{
    void *memberPtr = (char *) structPtr + parameterPtr->offset;

    switch (parameterPtr->member) {
    case NS_MEMBER_BOOL:
        *(bool *) memberPtr = number != 0;
        break;
    case NS_MEMBER_FLAG:
        if (number != 0) {
            *(int *) memberPtr |= parameterPtr->flag;
        } else {
            *(int *) memberPtr &= ~parameterPtr->flag;
        }
        break;
    case NS_MEMBER_INT:
        NsAssert(number >= INT_MIN && number <= INT_MAX);
        *(int *) memberPtr = (int) number;
        break;
    case NS_MEMBER_INT64:
        *(int64_t *) memberPtr = number;
        break;
    case NS_MEMBER_SIZE:
        NsAssert(number >= 0);
        *(size_t *) memberPtr = (size_t) number;
        break;
    case NS_MEMBER_TEXT:
    case NS_MEMBER_NONE:
        break;
    }
}

void
NsParameterRange(const NsParameter       *parameterPtr,
                 const NsParameterLimits *limitsPtr, char *buffer, size_t bytes)
{
    int64_t min = limitsPtr->min;
    char    least[64], most[64];

    *buffer = '\0';
    switch (parameterPtr->type) {
    case NS_PARAM_TIME:
        snprintf(buffer, bytes, "at least %" PRId64 "%s",
                 min % 1000 == 0 ? min / 1000 : min,
                 min % 1000 == 0 ? "" : "ms");
        break;
    case NS_PARAM_INT:
    case NS_PARAM_NUMBERS:
    case NS_PARAM_SIZE:
        FormatLimit(least, sizeof(least), limitsPtr->minName, min);
        FormatLimit(most, sizeof(most), limitsPtr->maxName, limitsPtr->max);
        if (parameterPtr->max == NS_PARAM_NO_LIMIT
            && limitsPtr->max == NsParameterMax(parameterPtr)) {
            snprintf(buffer, bytes, "at least %s", least);
        } else {
            snprintf(buffer, bytes, "%s to %s", least, most);
        }
        break;
    case NS_PARAM_CHOICE:
        FormatWords(parameterPtr->choices, buffer, bytes);
        break;
    default:
        break;
    }
}

static void
FormatLimit(char *buffer, size_t bytes, const char *name, int64_t number)
{
    snprintf(buffer, bytes, "%s%s%" PRId64, name == NULL ? "" : name,
             name == NULL ? "" : " = ", number);
}

static void
FormatWords(const char *words, char *buffer, size_t bytes)
{
    size_t length = 0;

    while (*words != '\0' && length + 8 < bytes) {
        int n = (int) strcspn(words, " ");

        length += (size_t) snprintf(buffer + length, bytes - length, "%s%.*s",
                                    length > 0 ? ", " : "", n, words);
        words += n;
        words += strspn(words, " ");
    }
}

const char *
NsParameterTypeName(NsParameterType type)
{
    static const char *const names[] = {
        [NS_PARAM_STRING] = "text",
        [NS_PARAM_BOOL] = "boolean",
        [NS_PARAM_INT] = "number",
        [NS_PARAM_NUMBERS] = "list of numbers",
        [NS_PARAM_SIZE] = "size",
        [NS_PARAM_TIME] = "time",
        [NS_PARAM_PATH] = "path",
        [NS_PARAM_LIST] = "list",
        [NS_PARAM_FIELDS] = "list of names and values",
        [NS_PARAM_CHOICE] = "word",
        [NS_PARAM_IGNORED] = "ignored"};

    return names[type];
}
