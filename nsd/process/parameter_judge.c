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
static void        StoreNumber(const NsParameter *parameterPtr, int64_t number,
                               void *structPtr);
static void        StoreText(const NsParameter *parameterPtr, const char *text,
                             void *structPtr);
static int64_t     LoadNumber(const NsParameter *parameterPtr,
                              const void        *structPtr);
static const char *LoadText(const NsParameter *parameterPtr,
                            const void        *structPtr);
static void *MemberOf(const NsParameter *parameterPtr, const void *structPtr);
static void  AppendNumber(Ns_DString *dsPtr, const NsParameter *parameterPtr,
                          int64_t number);
static void  FormatTime(char *buffer, size_t bytes, int64_t ms);
static void  FormatLimit(char *buffer, size_t bytes, const char *name,
                         int64_t number);
static void  FormatWords(const char *words, char *buffer, size_t bytes);

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
        StoreText(parameterPtr, text != NULL ? text : limitsPtr->defaultText,
                  structPtr);
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
StoreText(const NsParameter *parameterPtr, const char *text, void *structPtr)
{
    const char **memberPtr = MemberOf(parameterPtr, structPtr);

    __atomic_store_n(memberPtr, text, __ATOMIC_RELEASE);
}

static void *
MemberOf(const NsParameter *parameterPtr, const void *structPtr)
{
    return (char *) structPtr + parameterPtr->offset;
}

/*
 * Others may be reading it: each store is one instruction.
 */
static void
StoreNumber(const NsParameter *parameterPtr, int64_t number, void *structPtr)
{
    void *memberPtr = MemberOf(parameterPtr, structPtr);
    int   flags;

    switch (parameterPtr->member) {
    case NS_MEMBER_BOOL:
        __atomic_store_n((bool *) memberPtr, number != 0, __ATOMIC_RELAXED);
        break;
    case NS_MEMBER_FLAG:
        flags = *(int *) memberPtr & ~parameterPtr->flag;
        flags |= number != 0 ? parameterPtr->flag : 0;
        __atomic_store_n((int *) memberPtr, flags, __ATOMIC_RELAXED);
        break;
    case NS_MEMBER_INT:
        NsAssert(number >= INT_MIN && number <= INT_MAX);
        __atomic_store_n((int *) memberPtr, (int) number, __ATOMIC_RELAXED);
        break;
    case NS_MEMBER_INT64:
        __atomic_store_n((int64_t *) memberPtr, number, __ATOMIC_RELAXED);
        break;
    case NS_MEMBER_SIZE:
        NsAssert(number >= 0);
        __atomic_store_n((size_t *) memberPtr, (size_t) number,
                         __ATOMIC_RELAXED);
        break;
    case NS_MEMBER_TEXT:
    case NS_MEMBER_NONE:
        break;
    }
}

static int64_t
LoadNumber(const NsParameter *parameterPtr, const void *structPtr)
{
    const void *memberPtr = MemberOf(parameterPtr, structPtr);

    switch (parameterPtr->member) {
    case NS_MEMBER_BOOL:
        return __atomic_load_n((const bool *) memberPtr, __ATOMIC_RELAXED);
    case NS_MEMBER_FLAG:
        return (__atomic_load_n((const int *) memberPtr, __ATOMIC_RELAXED)
                & parameterPtr->flag)
            != 0;
    case NS_MEMBER_INT:
        return __atomic_load_n((const int *) memberPtr, __ATOMIC_RELAXED);
    case NS_MEMBER_INT64:
        return __atomic_load_n((const int64_t *) memberPtr, __ATOMIC_RELAXED);
    case NS_MEMBER_SIZE:
        return (int64_t) __atomic_load_n((const size_t *) memberPtr,
                                         __ATOMIC_RELAXED);
    default:
        return 0;
    }
}

static const char *
LoadText(const NsParameter *parameterPtr, const void *structPtr)
{
    const char *const *memberPtr = MemberOf(parameterPtr, structPtr);

    return __atomic_load_n(memberPtr, __ATOMIC_ACQUIRE);
}

void
NsParameterCopyMember(const NsParameter *parameterPtr, const void *fromPtr,
                      void *toPtr)
{
    if (parameterPtr->member == NS_MEMBER_TEXT) {
        StoreText(parameterPtr, LoadText(parameterPtr, fromPtr), toPtr);
    } else {
        StoreNumber(parameterPtr, LoadNumber(parameterPtr, fromPtr), toPtr);
    }
}

void
NsParameterAppendMember(Ns_DString *dsPtr, const NsParameter *parameterPtr,
                        const void *structPtr)
{
    const char *text;

    if (parameterPtr->member == NS_MEMBER_TEXT) {
        text = LoadText(parameterPtr, structPtr);
        Tcl_DStringAppend(dsPtr, text == NULL ? "" : text, -1);
    } else {
        AppendNumber(dsPtr, parameterPtr, LoadNumber(parameterPtr, structPtr));
    }
}

/*
 * What cannot be read counts as the default, as NsParameterStore has it.
 */
void
NsParameterAppendText(Ns_DString *dsPtr, const NsParameter *parameterPtr,
                      const NsParameterLimits *limitsPtr, const char *text)
{
    int64_t number = 0;

    if (text != NULL
        && NsParameterJudge(parameterPtr, limitsPtr, text, &number)
            == NS_VALUE_UNREADABLE) {
        text = NULL;
    }
    if (text == NULL) {
        text = limitsPtr->defaultText == NULL ? "" : limitsPtr->defaultText;
    }
    switch (parameterPtr->type) {
    case NS_PARAM_BOOL:
    case NS_PARAM_INT:
    case NS_PARAM_SIZE:
    case NS_PARAM_TIME:
    case NS_PARAM_CHOICE:
        if (*text != '\0'
            && NsParameterJudge(parameterPtr, limitsPtr, text, &number)
                != NS_VALUE_UNREADABLE) {
            AppendNumber(dsPtr, parameterPtr, number);
        }
        break;
    default:
        Tcl_DStringAppend(dsPtr, text, -1);
        break;
    }
}

static void
AppendNumber(Ns_DString *dsPtr, const NsParameter *parameterPtr, int64_t number)
{
    char        buffer[64];
    const char *words = parameterPtr->choices;

    switch (parameterPtr->type) {
    case NS_PARAM_BOOL:
        Tcl_DStringAppend(dsPtr, number != 0 ? "true" : "false", -1);
        return;
    case NS_PARAM_CHOICE:
        while (number-- > 0) {
            words += strcspn(words, " ");
            words += strspn(words, " ");
        }
        Tcl_DStringAppend(dsPtr, words, (int) strcspn(words, " "));
        return;
    case NS_PARAM_TIME:
        snprintf(buffer, sizeof(buffer), "%.10gs",
                 (double) number / NS_STAMP_SECOND);
        break;
    default:
        snprintf(buffer, sizeof(buffer), "%" PRId64, number);
        break;
    }
    Tcl_DStringAppend(dsPtr, buffer, -1);
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
    case NS_PARAM_INT:
    case NS_PARAM_NUMBERS:
    case NS_PARAM_SIZE:
        if (parameterPtr->type == NS_PARAM_TIME) {
            FormatTime(least, sizeof(least), min);
            FormatTime(most, sizeof(most), limitsPtr->max);
        } else {
            FormatLimit(least, sizeof(least), limitsPtr->minName, min);
            FormatLimit(most, sizeof(most), limitsPtr->maxName, limitsPtr->max);
        }
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
FormatTime(char *buffer, size_t bytes, int64_t ms)
{
    snprintf(buffer, bytes, "%" PRId64 "%s", ms % 1000 == 0 ? ms / 1000 : ms,
             ms % 1000 == 0 ? "" : "ms");
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
