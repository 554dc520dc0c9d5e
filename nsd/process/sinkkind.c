/* SPDX-License-Identifier: MPL-2.0
 * sinkkind.c --
 *
 *      What the values of log sinks' parameters mean.
 */

#include "process/sinkkind.h"

#include "base/assert.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "log/stream/condition.h"
#include "log/stream/form.h"
#include "log/stream/kinds.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "log/stream/template.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/sinkmodule.h"
#include "process/units.h"

#define FORMATS "ns/logformats"

/*
 * Of the member itself, which is that of the kind.
 */
typedef bool SetProc(const NsSinkParameter *optionPtr, void *memberPtr,
                     const char *value);
typedef void AppendProc(Ns_DString *dsPtr, const void *memberPtr);
typedef int  IdProc(const char *name);

static SetProc SetType, SetText, SetList, SetIgnore, SetFields, SetMask,
    SetConditions, SetFormat, SetSeverity, SetNumber, SetHour, SetSize,
    SetNanos, SetBool, SetCompress, SetSync, SetOverflow, SetRate, SetMode,
    SetPeriod, SetMinFree, SetOwner;
static AppendProc AppendType, AppendText, AppendFormat, AppendSeverity,
    AppendNumber, AppendHour, AppendSize, AppendNanos, AppendBool,
    AppendCompress, AppendSync, AppendOverflow, AppendRate, AppendMode,
    AppendPeriod, AppendMinFree, AppendOwner;
static bool    IsForm(const NsFormSpec *specPtr);
static int64_t IdOf(const char *name, IdProc *proc, const char *what);

static const struct {
    SetProc    *setProc;
    AppendProc *appendProc;
} kindProcs[] = {
    [NS_SINKKIND_TYPE] = {SetType, AppendType},
    [NS_SINKKIND_TEXT] = {SetText, AppendText},
    [NS_SINKKIND_LIST] = {SetList, AppendText},
    [NS_SINKKIND_IGNORE] = {SetIgnore, AppendText},
    [NS_SINKKIND_FIELDS] = {SetFields, AppendText},
    [NS_SINKKIND_MASK] = {SetMask, AppendText},
    [NS_SINKKIND_CONDITIONS] = {SetConditions, AppendText},
    [NS_SINKKIND_FORMAT] = {SetFormat, AppendFormat},
    [NS_SINKKIND_SEVERITY] = {SetSeverity, AppendSeverity},
    [NS_SINKKIND_NUMBER] = {SetNumber, AppendNumber},
    [NS_SINKKIND_HOUR] = {SetHour, AppendHour},
    [NS_SINKKIND_SIZE] = {SetSize, AppendSize},
    [NS_SINKKIND_NANOS] = {SetNanos, AppendNanos},
    [NS_SINKKIND_BOOL] = {SetBool, AppendBool},
    [NS_SINKKIND_COMPRESS] = {SetCompress, AppendCompress},
    [NS_SINKKIND_SYNC] = {SetSync, AppendSync},
    [NS_SINKKIND_OVERFLOW] = {SetOverflow, AppendOverflow},
    [NS_SINKKIND_RATE] = {SetRate, AppendRate},
    [NS_SINKKIND_MODE] = {SetMode, AppendMode},
    [NS_SINKKIND_PERIOD] = {SetPeriod, AppendPeriod},
    [NS_SINKKIND_MINFREE] = {SetMinFree, AppendMinFree},
    [NS_SINKKIND_OWNER] = {SetOwner, AppendOwner}};

static const char *const overflows[] = {[NS_OVERFLOW_BLOCK] = "block",
                                        [NS_OVERFLOW_DROPNEWEST] = "dropnewest",
                                        [NS_OVERFLOW_SAMPLE] = "sample"};

/*
 * Of the thread, while it sets a value.
 */
static _Thread_local Ns_DString *problemPtr;

bool
NsSinkKindSet(const NsSinkParameter *optionPtr, NsSinkDraft *draftPtr,
              const char *value, Ns_DString *newProblemPtr)
{
    SetProc *setProc = kindProcs[optionPtr->kind].setProc;
    bool     isSet;

    NsAssert(problemPtr == NULL);
    problemPtr = newProblemPtr;
    isSet = setProc(optionPtr, (char *) draftPtr + optionPtr->offset, value);
    problemPtr = NULL;
    return isSet;
}

void
NsSinkKindAppend(Ns_DString *dsPtr, const NsSinkParameter *optionPtr,
                 const NsSinkDraft *draftPtr)
{
    AppendProc *appendProc = kindProcs[optionPtr->kind].appendProc;

    appendProc(dsPtr, (const char *) draftPtr + optionPtr->offset);
}

/*
 * The draft has it already; see NsSinkDraftInit.
 */
static bool
SetType(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    const NsSinkType *typePtr = NsSinkTypeFind(value);

    if (typePtr != NULL && !typePtr->isHidden) {
        return true;
    }
    Ns_DStringAppend(problemPtr, NsSinkModuleProblem());
    return false;
}

static void
AppendType(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, (*(const NsSinkType *const *) memberPtr)->name);
}

static bool
SetText(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    char **textPtr = memberPtr;

    ns_free(*textPtr);
    *textPtr = *value == '\0' ? NULL : ns_strdup(value);
    return true;
}

static void
AppendText(Ns_DString *dsPtr, const void *memberPtr)
{
    const char *text = *(char *const *) memberPtr;

    if (text != NULL) {
        Ns_DStringAppend(dsPtr, text);
    }
}

static bool
SetList(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    const char **words;
    int          n;

    if (Tcl_SplitList(NULL, value, &n, &words) != TCL_OK) {
        return false;
    }
    Tcl_Free((char *) words);
    return SetText(optionPtr, memberPtr, value);
}

static bool
SetIgnore(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    NsKinds kinds;
    bool    isEmpty;

    if (!NsKindsInit(&kinds, value)) {
        return false;
    }
    isEmpty = kinds.n == 0;
    NsKindsFree(&kinds);
    return SetText(optionPtr, memberPtr, isEmpty ? "" : value);
}

/*
 * Of two members.  What stands under a name holds as it is now.
 */
static bool
SetFormat(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    NsSinkSettings *settingsPtr = memberPtr;
    int             format = NsStreamFormatByName(value);
    const char *template = NULL;

    if (format < 0) {
        const char *named = NsConfigPeek(FORMATS, value);
        NsTemplate *templatePtr;

        template = named != NULL ? named : value;
        if (named == NULL && strchr(value, '$') == NULL) {
            return false;
        }
        templatePtr = NsTemplateCreate(template, problemPtr);
        if (templatePtr == NULL) {
            return false;
        }
        NsTemplateDestroy(&templatePtr);
        format = NS_LOG_TEMPLATE;
    }
    ns_free(settingsPtr->template);
    settingsPtr->template = ns_strcopy(template);
    settingsPtr->format = format;
    return true;
}

static void
AppendFormat(Ns_DString *dsPtr, const void *memberPtr)
{
    const NsSinkSettings *settingsPtr = memberPtr;

    Ns_DStringAppend(dsPtr,
                     settingsPtr->format == NS_LOG_TEMPLATE
                         ? settingsPtr->template
                         : NsStreamFormatName(settingsPtr->format));
}

static bool
SetFields(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    return IsForm(&(NsFormSpec){.fields = value})
        && SetText(optionPtr, memberPtr, value);
}

static bool
SetMask(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    return IsForm(&(NsFormSpec){.mask = value})
        && SetText(optionPtr, memberPtr, value);
}

static bool
IsForm(const NsFormSpec *specPtr)
{
    NsForm *formPtr = NsFormCreate(specPtr, problemPtr);
    bool    isOk = formPtr != NULL;

    NsFormDestroy(&formPtr);
    return isOk;
}

static bool
SetConditions(const NsSinkParameter *optionPtr, void *memberPtr,
              const char *value)
{
    NsConditions *conditionsPtr = NsConditionsCreate(value, problemPtr);
    bool          isOk = conditionsPtr != NULL;

    NsConditionsDestroy(&conditionsPtr);
    return isOk && SetText(optionPtr, memberPtr, value);
}

/*
 * Of two members: so many, or so many in that time.
 */
static bool
SetRate(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    NsSinkSettings *settingsPtr = memberPtr;
    const char     *slash = strchr(value, '/');
    int64_t         nanos = NS_STAMP_SECOND;
    Tcl_WideInt     n = 0;
    Ns_DString      number;
    bool            isOk;

    Ns_DStringInit(&number);
    Ns_DStringNAppend(&number, value,
                      slash == NULL ? (int) strlen(value)
                                    : (int) (slash - value));
    isOk = *value == '\0'
        || (NsUnitsInteger(Ns_DStringValue(&number), &n) && n >= 1
            && n <= INT_MAX
            && (slash == NULL
                || (SetNanos(optionPtr, &nanos, slash + 1) && nanos > 0)));
    Ns_DStringFree(&number);
    if (isOk) {
        settingsPtr->maxRate = (int) n;
        settingsPtr->rateNanos = nanos;
    }
    return isOk;
}

static void
AppendRate(Ns_DString *dsPtr, const void *memberPtr)
{
    const NsSinkSettings *settingsPtr = memberPtr;

    if (settingsPtr->maxRate > 0) {
        Ns_DStringPrintf(dsPtr, "%d", settingsPtr->maxRate);
    }
    if (settingsPtr->maxRate > 0 && settingsPtr->rateNanos != NS_STAMP_SECOND) {
        Ns_DStringAppend(dsPtr, "/");
        AppendNanos(dsPtr, &settingsPtr->rateNanos);
    }
}

static bool
SetSeverity(const NsSinkParameter *optionPtr, void *memberPtr,
            const char *value)
{
    int severity = STREQ(value, "all") ? -1 : NsSeverityFind(value);

    if (severity < 0 && !STREQ(value, "all")) {
        return false;
    }
    *(int *) memberPtr = severity;
    return true;
}

static void
AppendSeverity(Ns_DString *dsPtr, const void *memberPtr)
{
    int severity = *(const int *) memberPtr;

    Ns_DStringAppend(dsPtr,
                     severity < 0
                         ? "all"
                         : Ns_LogSeverityName((Ns_LogSeverity) severity));
}

static bool
SetNumber(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    Tcl_WideInt n;

    if (!NsUnitsInteger(value, &n) || n < optionPtr->row.min
        || n > optionPtr->row.max) {
        return false;
    }
    *(int *) memberPtr = (int) n;
    return true;
}

static void
AppendNumber(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", *(const int *) memberPtr);
}

/*
 * Empty is -1.
 */
static bool
SetHour(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    if (*value == '\0') {
        *(int *) memberPtr = -1;
        return true;
    }
    return SetNumber(optionPtr, memberPtr, value);
}

static void
AppendHour(Ns_DString *dsPtr, const void *memberPtr)
{
    if (*(const int *) memberPtr >= 0) {
        AppendNumber(dsPtr, memberPtr);
    }
}

static bool
SetSize(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    Tcl_WideInt n;

    if (!NsUnitsSize(value, &n) || n < 0 || n > optionPtr->row.max) {
        return false;
    }
    *(size_t *) memberPtr = (size_t) n;
    return true;
}

static void
AppendSize(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringPrintf(dsPtr, "%zu", *(const size_t *) memberPtr);
}

/*
 * Added to a time of today, it is still a time.
 */
static bool
SetNanos(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    Ns_Time time;

    if (!NsUnitsTime(value, &time)
        || time.sec > INT64_MAX / NS_STAMP_SECOND / 2) {
        return false;
    }
    *(int64_t *) memberPtr = (int64_t) time.sec * NS_STAMP_SECOND
        + (int64_t) time.usec * 1000;
    return true;
}

static void
AppendNanos(Ns_DString *dsPtr, const void *memberPtr)
{
    int64_t nanos = *(const int64_t *) memberPtr;

    if (nanos % NS_STAMP_SECOND == 0) {
        Ns_DStringPrintf(dsPtr, "%" PRId64, nanos / NS_STAMP_SECOND);
    } else {
        Ns_DStringPrintf(dsPtr, "%" PRId64 ".%06d", nanos / NS_STAMP_SECOND,
                         (int) (nanos % NS_STAMP_SECOND / 1000));
    }
}

static bool
SetBool(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    return NsUnitsBool(value, memberPtr);
}

static void
AppendBool(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, *(const bool *) memberPtr ? "1" : "0");
}

/*
 * The server itself has to be able to write.
 */
static bool
SetMode(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    char *end;
    long  mode = strtol(value, &end, 8);

    if (*value < '0' || *value > '7' || *end != '\0' || mode > 0777
        || (mode & 0200) == 0) {
        return false;
    }
    *(int *) memberPtr = (int) mode;
    return true;
}

static void
AppendMode(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringPrintf(dsPtr, "%04o", (unsigned) *(const int *) memberPtr);
}

/*
 * Empty is 0.
 */
static bool
SetPeriod(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    int64_t nanos = 0, seconds;

    if (*value != '\0' && !SetNanos(optionPtr, &nanos, value)) {
        return false;
    }
    seconds = nanos / NS_STAMP_SECOND;
    if (nanos % NS_STAMP_SECOND != 0
        || (seconds != 0 && seconds != 7 * NS_CALENDAR_DAY
            && (seconds < 60 || NS_CALENDAR_DAY % seconds != 0))) {
        return false;
    }
    *(int *) memberPtr = (int) seconds;
    return true;
}

static void
AppendPeriod(Ns_DString *dsPtr, const void *memberPtr)
{
    if (*(const int *) memberPtr > 0) {
        AppendNumber(dsPtr, memberPtr);
    }
}

/*
 * Of two members.
 */
static bool
SetMinFree(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    NsSinkSettings *settingsPtr = memberPtr;
    char           *end;
    unsigned long   percent = strtoul(value, &end, 10);
    bool            isPercent = strchr(value, '%') != NULL;
    Tcl_WideInt     bytes;

    if (isPercent
        && (!isdigit(UCHAR(*value)) || !STREQ(end, "%") || percent > 99)) {
        return false;
    }
    if (!isPercent && (!NsUnitsSize(value, &bytes) || bytes < 0)) {
        return false;
    }
    settingsPtr->minFree = isPercent ? percent : (size_t) bytes;
    settingsPtr->isMinFreePercent = isPercent;
    return true;
}

static void
AppendMinFree(Ns_DString *dsPtr, const void *memberPtr)
{
    const NsSinkSettings *settingsPtr = memberPtr;

    AppendSize(dsPtr, &settingsPtr->minFree);
    Ns_DStringAppend(dsPtr, settingsPtr->isMinFreePercent ? "%" : "");
}

/*
 * Of three members: the ids of what is not given are -1.
 */
static bool
SetOwner(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    NsSinkSettings *settingsPtr = memberPtr;
    const char     *colon = strchr(value, ':');
    Ns_DString      user;
    int64_t         uid, gid;

    Ns_DStringInit(&user);
    Ns_DStringNAppend(&user, value,
                      colon == NULL ? (int) strlen(value)
                                    : (int) (colon - value));
    uid = IdOf(Ns_DStringValue(&user), Ns_GetUid, "user");
    gid = IdOf(colon == NULL ? "" : colon + 1, Ns_GetGid, "group");
    Ns_DStringFree(&user);
    if (uid < -1 || gid < -1 || (colon != NULL && gid == -1)) {
        return false;
    }
    settingsPtr->ownerUid = (uid_t) uid;
    settingsPtr->ownerGid = (gid_t) gid;
    return SetText(optionPtr, &settingsPtr->owner, value);
}

static void
AppendOwner(Ns_DString *dsPtr, const void *memberPtr)
{
    AppendText(dsPtr, &((const NsSinkSettings *) memberPtr)->owner);
}

/*
 * By name or number.  -1: it is empty; -2: there is none.
 */
static int64_t
IdOf(const char *name, IdProc *proc, const char *what)
{
    Tcl_WideInt id = -1;

    if (*name == '\0') {
        return -1;
    }
    if (NsUnitsInteger(name, &id) && id >= 0 && id < UINT32_MAX) {
        return id;
    }
    id = proc(name);
    if (id < 0) {
        Ns_DStringPrintf(problemPtr, "there is no %s \"%s\"", what, name);
        return -2;
    }
    return id;
}

static bool
SetCompress(const NsSinkParameter *optionPtr, void *memberPtr,
            const char *value)
{
    bool isGzip = STREQ(value, "gzip");

    *(bool *) memberPtr = isGzip;
    return isGzip || STREQ(value, "none");
}

static void
AppendCompress(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, *(const bool *) memberPtr ? "gzip" : "none");
}

/*
 * Of two members: the settings are given.
 */
static bool
SetSync(const NsSinkParameter *optionPtr, void *memberPtr, const char *value)
{
    NsSinkSettings *settingsPtr = memberPtr;

    if (STREQ(value, "none")) {
        settingsPtr->sync = NS_SYNC_NONE;
    } else if (STREQ(value, "batch")) {
        settingsPtr->sync = NS_SYNC_BATCH;
    } else if (SetNanos(optionPtr, &settingsPtr->syncNanos, value)) {
        settingsPtr->sync = NS_SYNC_TIME;
    } else {
        return false;
    }
    return true;
}

static void
AppendSync(Ns_DString *dsPtr, const void *memberPtr)
{
    const NsSinkSettings *settingsPtr = memberPtr;

    if (settingsPtr->sync == NS_SYNC_TIME) {
        AppendNanos(dsPtr, &settingsPtr->syncNanos);
    } else {
        Ns_DStringAppend(dsPtr,
                         settingsPtr->sync == NS_SYNC_BATCH ? "batch" : "none");
    }
}

static bool
SetOverflow(const NsSinkParameter *optionPtr, void *memberPtr,
            const char *value)
{
    for (int i = 0; i < Ns_NrElements(overflows); i++) {
        if (STREQ(value, overflows[i])) {
            *(int *) memberPtr = i;
            return true;
        }
    }
    return false;
}

static void
AppendOverflow(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, overflows[MAX(*(const int *) memberPtr, 0)]);
}
