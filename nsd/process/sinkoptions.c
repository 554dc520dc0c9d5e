/* SPDX-License-Identifier: MPL-2.0
 * sinkoptions.c --
 *
 *      The parameters of log sinks as text.  Those that all sinks have are in
 *      the table here, the others in that of the sink's type.
 */

#include "process/sinkoptions.h"

#include "base/clock.h"
#include "log/stream/kinds.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/parameters.h"
#include "process/sinkmodule.h"
#include "process/units.h"

/*
 * A parameter.  The procedures of its kind read a value into its member of a
 * draft (false: it is none, or out of range) and write one.
 */
typedef struct Option Option;
typedef bool          SetProc(const Option *optionPtr, void *memberPtr,
                              const char *value);
typedef void          AppendProc(Ns_DString *dsPtr, const void *memberPtr);
typedef bool          CheckProc(const char *value);

struct Option {
    NsParameter row; /* For the check and the manual; the limits of
                      * numbers and sizes hold here, too. */
    SetProc    *setProc;
    AppendProc *appendProc;
    size_t      offset;    /* Of the member. */
    CheckProc  *checkProc; /* Of texts; NULL: any will do. */
    bool        isFixed;   /* Once the sink is made. */
    const char *range;     /* The values it may have, in words. */
};

static SetProc SetType, SetText, SetIgnore, SetFormat, SetMinSeverity,
    SetNumber, SetHour, SetSize, SetNanos, SetBool, SetCompress, SetSync,
    SetOverflow;
static AppendProc AppendType, AppendText, AppendFormat, AppendMinSeverity,
    AppendNumber, AppendHour, AppendSize, AppendNanos, AppendBool,
    AppendCompress, AppendSync, AppendOverflow;
static CheckProc IsList;

/*
 * Key, type, default, sentence; then the two procedures of a kind and the
 * member.
 */
#define ROW(key_, type_, text_, sentence_, ...) \
    .row = {.key = key_,                        \
            .type = NS_PARAM_##type_,           \
            .defaultText = text_,               \
            .sentence = sentence_,              \
            __VA_ARGS__}
#define AT(kind, member)                              \
    .setProc = Set##kind, .appendProc = Append##kind, \
    .offset = offsetof(NsSinkDraft, member)
#define FIXED .isFixed = true
#define ANY   NS_PARAM_NO_LIMIT
#define GIB   (INT64_C(1) << 30)

static const Option options[] = {
    {ROW("type", STRING, "file",
         "Where the records go: file, stdout, stderr, syslog, or TYPE of a "
         "module nslogTYPE.so, such as sqlite and postgresql."),
     AT(Type, typePtr), FIXED,
     .range = "file, stdout, stderr, syslog, or the type of a module"},
    {ROW("streams", LIST, "",
         "Streams that the sink takes: system, access, audit, operation, or a "
         "module's."),
     AT(Text, streams), FIXED, .checkProc = IsList, .range = "a list of names"},
    {ROW("format", CHOICE, "native", "Form of a record.",
         .choices = "native common combined json"),
     AT(Format, settings.format), .range = "native, common, combined, or json"},
    {ROW("minseverity", STRING, "all", "Lowest severity of system records."),
     AT(MinSeverity, settings.minSeverity), .range = "all, or a severity"},
    {ROW("ignore", LIST, "",
         "Kinds of events that are left out: of audit records, severities of "
         "system records, and what happened during requests."),
     .setProc = SetIgnore, .appendProc = AppendText,
     .offset = offsetof(NsSinkDraft, settings.ignore),
     .range = "a list of event kinds"},
    {ROW("slowthreshold", TIME, "0",
         "Of stream operation: only requests that took at least this long.",
         .max = ANY),
     AT(Nanos, settings.slowNanos), .range = "a time, 0 or more"},
    {ROW("sample", INT, "1", "Of stream operation: one request in this many.",
         .min = 1, .max = ANY),
     AT(Number, settings.sample), .range = "a number, 1 or more"},
    {ROW("onlyerrors", BOOL, "false",
         "Of stream operation: only requests with an error."),
     AT(Bool, settings.onlyErrors), .range = "a boolean"},
    {ROW("maxmemory", SIZE, "0",
         "How far the sink may fall behind in bytes of logmemory; 0 = half of "
         "that. Its oldest records go to disk then.",
         .max = ANY),
     AT(Size, settings.maxMemory), .range = "a size, 0 or more"},
    {ROW("maxspill", SIZE, "1GiB",
         "Limit of the sink's records in logspilldir; 0 = none.", .max = ANY),
     AT(Size, settings.maxSpill), .range = "a size, 0 or more"},
    {ROW("buffersize", SIZE, "64KiB",
         "Bytes collected before a write; 0 = each record by itself.",
         .max = GIB),
     AT(Size, settings.bufferBytes), .range = "a size from 0 to 1GiB"},
    {ROW("buffertime", TIME, "0.1s, databases 5s",
         "The oldest record waits no longer than this.", .max = ANY),
     AT(Nanos, settings.bufferNanos), .range = "a time, 0 or more"},
    {ROW("batchsize", INT, "50", "Rows of one insert into a database.",
         .min = 1, .max = 10000),
     AT(Number, settings.batchRows), .range = "1 to 10000"},
    {ROW("rotatesize", SIZE, "0", "Roll when the file is larger; 0 = never.",
         .max = ANY),
     AT(Size, settings.rotateBytes), .range = "a size, 0 or more"},
    {ROW("rollhour", INT, "", "Roll every day at this hour.", .max = 23),
     AT(Hour, settings.rollHour), .range = "0 to 23, or empty"},
    {ROW("rollfmt", STRING, "",
         "Suffix (strftime) of rolled files; empty: numbers."),
     AT(Text, settings.rollFormat), .range = "a format of strftime, or empty"},
    {ROW("maxbackup", INT, "10", "Rolled files that are kept.", .min = 1,
         .max = 999),
     AT(Number, settings.maxBackup), .range = "1 to 999"},
    {ROW("compress", CHOICE, "none",
         "Rolled files are compressed in the background.",
         .choices = "none gzip"),
     AT(Compress, settings.isCompressed), .range = "none, or gzip"},
    {ROW("sync", STRING, "none",
         "When the file is synced to disk: none, batch, or an interval."),
     AT(Sync, settings), .range = "none, batch, or a time"},
    {ROW("overflow", CHOICE, "dropnewest, audit block",
         "What happens to a record when the memory is full.",
         .choices = "block dropnewest sample"),
     AT(Overflow, overflow), .range = "block, dropnewest, or sample"},
    {ROW("required", BOOL, "false",
         "Without the sink the server does not start; else records wait until "
         "its target can be opened."),
     AT(Bool, settings.isRequired), FIXED, .range = "a boolean"}};

#define NCOMMON ((int) Ns_NrElements(options))
#define MISSING "logsink/?" /* The section of a type that is not there. */

static const char *const overflows[] = {[NS_OVERFLOW_BLOCK] = "block",
                                        [NS_OVERFLOW_DROPNEWEST] = "dropnewest",
                                        [NS_OVERFLOW_SAMPLE] = "sample"};

static int  FindOption(const NsSinkDraft *draftPtr, const char *name);
static int  CountOptions(const NsSinkDraft *draftPtr);
static void AppendNames(Ns_DString *dsPtr, const NsSinkDraft *draftPtr);
static Ns_ReturnCode SetCommon(NsSinkDraft *draftPtr, const Option *optionPtr,
                               const char *value, Ns_DString *errorPtr);
static Ns_ReturnCode SetOwn(NsSinkDraft *draftPtr, int i, const char *value,
                            Ns_DString *errorPtr);
static NsParameter  *RowsOf(const NsSinkType *typePtr);
static void SetRow(NsParameter *rowPtr, const Ns_LogSinkOption *optionPtr);

Ns_ReturnCode
NsSinkOptionSet(NsSinkDraft *draftPtr, const char *name, const char *value,
                Ns_DString *errorPtr)
{
    int i = FindOption(draftPtr, name);

    if (i < 0 && draftPtr->typePtr == NULL) {
        return NS_OK; /* It may be of the type that is not there. */
    }
    if (i < 0) {
        Ns_DStringPrintf(errorPtr,
                         "unknown parameter \"%s\": should be one "
                         "of:",
                         name);
        AppendNames(errorPtr, draftPtr);
        return NS_ERROR;
    }
    if (!draftPtr->isNew && NsSinkOptionIsFixed(draftPtr, name)) {
        Ns_DStringPrintf(errorPtr, "%s cannot be changed", name);
        return NS_ERROR;
    }
    return i < NCOMMON ? SetCommon(draftPtr, &options[i], value, errorPtr)
                       : SetOwn(draftPtr, i - NCOMMON, value, errorPtr);
}

static Ns_ReturnCode
SetCommon(NsSinkDraft *draftPtr, const Option *optionPtr, const char *value,
          Ns_DString *errorPtr)
{
    if (optionPtr->setProc(optionPtr, (char *) draftPtr + optionPtr->offset,
                           value)) {
        return NS_OK;
    }
    Ns_DStringPrintf(errorPtr, "invalid %s \"%s\": should be %s",
                     optionPtr->row.key, value, optionPtr->range);
    if (optionPtr->setProc == SetType) {
        Ns_DStringPrintf(errorPtr, ": %s", NsSinkModuleProblem());
    }
    return NS_ERROR;
}

/*
 * One of the type's own.
 */
static Ns_ReturnCode
SetOwn(NsSinkDraft *draftPtr, int i, const char *value, Ns_DString *errorPtr)
{
    const Ns_LogSinkOption *optionPtr = &draftPtr->typePtr->options[i];
    Ns_LogSinkValue new;

    if (!NsSinkValueInit(optionPtr, value, &new)) {
        Ns_DStringPrintf(errorPtr, "invalid %s \"%s\": should be %s",
                         optionPtr->name, optionPtr->isSecret ? "***" : value,
                         optionPtr->range);
        return NS_ERROR;
    }
    NsSinkValueFree(&draftPtr->values[i]);
    draftPtr->values[i] = new;
    return NS_OK;
}

const char *
NsSinkOptionName(const NsSinkDraft *draftPtr, int i)
{
    return i < NCOMMON ? options[i].row.key
        : i < CountOptions(draftPtr)
        ? draftPtr->typePtr->options[i - NCOMMON].name
        : NULL;
}

void
NsSinkOptionAppend(Ns_DString *dsPtr, const NsSinkDraft *draftPtr, int i)
{
    if (i < NCOMMON) {
        options[i].appendProc(dsPtr,
                              (const char *) draftPtr + options[i].offset);
    } else {
        AppendText(dsPtr, &draftPtr->values[i - NCOMMON].text);
    }
}

bool
NsSinkOptionIsFixed(const NsSinkDraft *draftPtr, const char *name)
{
    int i = FindOption(draftPtr, name);

    return i >= 0 && (i >= NCOMMON || options[i].isFixed);
}

static int
FindOption(const NsSinkDraft *draftPtr, const char *name)
{
    int i = CountOptions(draftPtr) - 1;

    while (i >= 0 && !STRIEQ(NsSinkOptionName(draftPtr, i), name)) {
        i--;
    }
    return i;
}

static int
CountOptions(const NsSinkDraft *draftPtr)
{
    return NCOMMON
        + (draftPtr->typePtr == NULL
               ? 0
               : NsSinkTypeCountOptions(draftPtr->typePtr));
}

static void
AppendNames(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    for (int i = 0; i < CountOptions(draftPtr); i++) {
        Ns_DStringPrintf(dsPtr, " %s", NsSinkOptionName(draftPtr, i));
    }
}

void
NsSinkOptionsInit(void)
{
    static NsParameter rows[NCOMMON + 1];

    for (int i = 0; i < NCOMMON; i++) {
        rows[i] = options[i].row;
    }
    NsParametersRegister("ns/logsink/*", rows, 0);
}

const char *
NsSinkOptionsSection(const char *section)
{
    const char       *name = NsConfigPeek(section, "type");
    const NsSinkType *typePtr = NsSinkTypeFind(name != NULL ? name : "file");

    return typePtr == NULL ? MISSING : NsSinkOptionsRegister(typePtr);
}

const char *
NsSinkOptionsRegister(const NsSinkType *typePtr)
{
    Ns_DString                pattern, shown, sentence;
    NsParameterSection       *sectionPtr;
    const NsParameterSection *oldPtr;

    Ns_DStringInit(&pattern);
    Ns_DStringVarAppend(&pattern, "logsink/", typePtr->name, (char *) NULL);
    oldPtr = NsParameterSectionFind(Ns_DStringValue(&pattern));
    if (oldPtr != NULL) {
        Ns_DStringFree(&pattern);
        return oldPtr->pattern;
    }
    Ns_DStringInit(&shown);
    Ns_DStringInit(&sentence);
    Ns_DStringPrintf(&shown, "ns/logsink/NAME of type %s", typePtr->name);
    Ns_DStringAppend(&sentence, "Parameters of this type alone.");
    sectionPtr = ns_calloc(1u, sizeof(*sectionPtr));
    *sectionPtr = (NsParameterSection){
        .pattern = Ns_DStringExport(&pattern),
        .shown = Ns_DStringExport(&shown),
        .sentence = Ns_DStringExport(&sentence),
        .basePattern = "ns/logsink/*"};
    NsParametersRegister(sectionPtr->pattern, RowsOf(typePtr), 0);
    NsParameterSectionAdd(sectionPtr);
    return sectionPtr->pattern;
}

void
NsSinkOptionsRegisterAll(void)
{
    const NsSinkType *typePtr;

    NsSinkModuleLoadAll();
    for (int i = 0; (typePtr = NsSinkTypeAt(i)) != NULL; i++) {
        if (typePtr->options != NULL && !typePtr->isHidden) {
            (void) NsSinkOptionsRegister(typePtr);
        }
    }
}

/*
 * As long as the process lives.
 */
static NsParameter *
RowsOf(const NsSinkType *typePtr)
{
    int          n = NsSinkTypeCountOptions(typePtr);
    NsParameter *rows = ns_calloc((size_t) n + 1, sizeof(*rows));

    for (int i = 0; i < n; i++) {
        SetRow(&rows[i], &typePtr->options[i]);
    }
    return rows;
}

static void
SetRow(NsParameter *rowPtr, const Ns_LogSinkOption *optionPtr)
{
    static const NsParameterType types[] = {
        [NS_LOGSINK_TEXT] = NS_PARAM_STRING,
        [NS_LOGSINK_PATH] = NS_PARAM_PATH,
        [NS_LOGSINK_BOOL] = NS_PARAM_BOOL,
        [NS_LOGSINK_INTEGER] = NS_PARAM_INT,
        [NS_LOGSINK_SIZE] = NS_PARAM_SIZE,
        [NS_LOGSINK_TIME] = NS_PARAM_TIME};
    int64_t unit = optionPtr->kind == NS_LOGSINK_TIME ? 1000 : 1;

    *rowPtr = (NsParameter){
        .key = optionPtr->name,
        .type = types[optionPtr->kind],
        .defaultText = optionPtr->defaultText != NULL ? optionPtr->defaultText
                                                      : "",
        .min = optionPtr->max == 0 ? 0 : optionPtr->min * unit,
        .max = optionPtr->max == 0 ? NS_PARAM_NO_LIMIT : optionPtr->max * unit,
        .sentence = optionPtr->sentence};
}

/*
 * The draft has it already; see NsSinkDraftInit.
 */
static bool
SetType(const Option *optionPtr, void *memberPtr, const char *value)
{
    const NsSinkType *typePtr = NsSinkTypeFind(value);

    return typePtr != NULL && !typePtr->isHidden;
}

static void
AppendType(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, (*(const NsSinkType *const *) memberPtr)->name);
}

static bool
SetText(const Option *optionPtr, void *memberPtr, const char *value)
{
    char **textPtr = memberPtr;

    if (optionPtr->checkProc != NULL && !optionPtr->checkProc(value)) {
        return false;
    }
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
IsList(const char *value)
{
    const char **words;
    int          n;

    if (Tcl_SplitList(NULL, value, &n, &words) != TCL_OK) {
        return false;
    }
    Tcl_Free((char *) words);
    return true;
}

static bool
SetIgnore(const Option *optionPtr, void *memberPtr, const char *value)
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

static bool
SetFormat(const Option *optionPtr, void *memberPtr, const char *value)
{
    int format = NsStreamFormatByName(value);

    if (format < 0) {
        return false;
    }
    *(int *) memberPtr = format;
    return true;
}

static void
AppendFormat(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, NsStreamFormatName(*(const int *) memberPtr));
}

static bool
SetMinSeverity(const Option *optionPtr, void *memberPtr, const char *value)
{
    int severity = STREQ(value, "all") ? -1 : NsSeverityFind(value);

    if (severity < 0 && !STREQ(value, "all")) {
        return false;
    }
    *(int *) memberPtr = severity;
    return true;
}

static void
AppendMinSeverity(Ns_DString *dsPtr, const void *memberPtr)
{
    int severity = *(const int *) memberPtr;

    Ns_DStringAppend(dsPtr,
                     severity < 0
                         ? "all"
                         : Ns_LogSeverityName((Ns_LogSeverity) severity));
}

static bool
SetNumber(const Option *optionPtr, void *memberPtr, const char *value)
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
SetHour(const Option *optionPtr, void *memberPtr, const char *value)
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
SetSize(const Option *optionPtr, void *memberPtr, const char *value)
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

static bool
SetNanos(const Option *optionPtr, void *memberPtr, const char *value)
{
    Ns_Time time;

    if (!NsUnitsTime(value, &time)
        || time.sec > INT64_MAX / NS_STAMP_SECOND - 1) {
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
SetBool(const Option *optionPtr, void *memberPtr, const char *value)
{
    return NsUnitsBool(value, memberPtr);
}

static void
AppendBool(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, *(const bool *) memberPtr ? "1" : "0");
}

static bool
SetCompress(const Option *optionPtr, void *memberPtr, const char *value)
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
SetSync(const Option *optionPtr, void *memberPtr, const char *value)
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
SetOverflow(const Option *optionPtr, void *memberPtr, const char *value)
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
