/* SPDX-License-Identifier: MPL-2.0
 * sinkoptions.c --
 *
 *      The parameters of log sinks as text.  Those that all sinks have are in
 *      the table here, the others in that of the sink's type.
 */

#include "process/sinkoptions.h"

#include "base/assert.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/parameters.h"
#include "process/sinkkind.h"
#include "process/sinkmodule.h"

/*
 * Key, type, default, sentence; then the kind of its values and the member.
 */
#define ROW(key_, type_, text_, sentence_, ...) \
    .row = {.key = key_,                        \
            .type = NS_PARAM_##type_,           \
            .defaultText = text_,               \
            .sentence = sentence_,              \
            __VA_ARGS__}
#define AT(kind_, member) \
    .kind = NS_SINKKIND_##kind_, .offset = offsetof(NsSinkDraft, member)
#define FIXED .isFixed = true
#define ANY   NS_PARAM_NO_LIMIT
#define GIB   (INT64_C(1) << 30)

static const NsSinkParameter options[] = {
    {ROW("type", STRING, "file",
         "Where the records go: file, stdout, stderr, syslog, journald, otlp, "
         "or TYPE of a module nslogTYPE.so, such as sqlite and postgresql."),
     AT(TYPE, typePtr), FIXED,
     .range = "file, stdout, stderr, syslog, journald, otlp, or the type of a "
              "module"},
    {ROW("streams", LIST, "",
         "Streams that the sink takes: system, access, audit, operation, or a "
         "module's."),
     AT(LIST, streams), FIXED, .range = "a list of names"},
    {ROW("format", STRING, "native",
         "Form of a record: native, common, combined, json, a name of "
         "ns/logformats, or a template with variables."),
     AT(FORMAT, settings),
     .range = "native, common, combined, json, a name of ns/logformats, or a "
              "template with variables"},
    {ROW("fields", LIST, "",
         "Names and values that are added to each record in JSON."),
     AT(FIELDS, settings.fields), .range = "a list of names and values"},
    {ROW("mask", LIST, "",
         "What is hidden from the sink: ipv4 BITS, ipv6 BITS, query remove, "
         "parameters LIST, headers LIST."),
     AT(MASK, settings.mask),
     .range = "a list of ipv4 0..32, ipv6 0..128, query remove, "
              "parameters NAMES, headers NAMES"},
    {ROW("if", LIST, "",
         "Conditions, all of which a record has to meet for the sink to take "
         "it."),
     AT(CONDITIONS, settings.conditions),
     .range = "a list of conditions {VARIABLE OPERATOR VALUE}"},
    {ROW("minseverity", STRING, "all", "Lowest severity of system records."),
     AT(SEVERITY, settings.minSeverity), .range = "all, or a severity"},
    {ROW("ignore", LIST, "",
         "Kinds of events that are left out: of audit records, severities of "
         "system records, and what happened during requests."),
     AT(IGNORE, settings.ignore), .range = "a list of event kinds"},
    {ROW("slowthreshold", TIME, "0",
         "Of stream operation: only requests that took at least this long.",
         .max = ANY),
     AT(NANOS, settings.slowNanos), .range = "a time, 0 or more"},
    {ROW("sample", INT, "1",
         "One record in this many; of errors and audit records, all.", .min = 1,
         .max = ANY),
     AT(NUMBER, settings.sample), .range = "a number, 1 or more"},
    {ROW("maxrate", STRING, "",
         "Records taken per second, or N/TIME; a line says how many were left "
         "out."),
     AT(RATE, settings), .range = "a number, 1 or more, N/TIME, or empty"},
    {ROW("onlyerrors", BOOL, "false",
         "Of stream operation: only requests with an error."),
     AT(BOOL, settings.onlyErrors), .range = "a boolean"},
    {ROW("maxmemory", SIZE, "0",
         "How far the sink may fall behind in bytes of logmemory; 0 = half of "
         "that. Its oldest records go to disk then.",
         .max = ANY),
     AT(SIZE, settings.maxMemory), .range = "a size, 0 or more"},
    {ROW("maxspill", SIZE, "1GiB",
         "Maximum size of the sink's records in logspilldir; 0 = nothing goes "
         "there.",
         .max = ANY),
     AT(SIZE, settings.maxSpill), .range = "a size, 0 or more"},
    {ROW("buffersize", SIZE, "64KiB, databases 1MiB",
         "Bytes collected before a write; 0 = each record separately.",
         .max = GIB),
     AT(SIZE, settings.bufferBytes), .range = "a size from 0 to 1GiB"},
    {ROW("buffertime", TIME, "0.1s, databases 5s, kafka 1s",
         "The oldest record waits no longer than this.", .max = ANY),
     AT(NANOS, settings.bufferNanos), .range = "a time, 0 or more"},
    {ROW("batchsize", INT, "50, kafka 10000",
         "Rows per database insert, or per Kafka transaction.", .min = 1,
         .max = 10000),
     AT(NUMBER, settings.batchRows), .range = "1 to 10000"},
    {ROW("rotatesize", SIZE, "0", "Roll when the file is larger; 0 = never.",
         .max = ANY),
     AT(SIZE, settings.rotateBytes), .range = "a size, 0 or more"},
    {ROW("rollevery", STRING, "",
         "Roll whenever this time of the calendar begins, such as 1h, 1d or "
         "1w."),
     AT(PERIOD, settings.rollSeconds),
     .range = "a time of at least 1m that divides a day, 1w, or empty"},
    {ROW("rollhour", INT, "",
         "Roll every day at this hour; with rollevery 1w, on Mondays.",
         .max = 23),
     AT(HOUR, settings.rollHour), .range = "0 to 23, or empty"},
    {ROW("rollonsignal", BOOL, "false", "Roll on SIGHUP."),
     AT(BOOL, settings.rollsOnSignal), .range = "a boolean"},
    {ROW("rollfmt", STRING, "",
         "Suffix (strftime) of rolled files; empty: numbers."),
     AT(TEXT, settings.rollFormat), .range = "a format of strftime, or empty"},
    {ROW("maxbackup", INT, "10", "Rolled files that are kept.", .min = 1,
         .max = 999),
     AT(NUMBER, settings.maxBackup), .range = "1 to 999"},
    {ROW("maxage", TIME, "0",
         "Rolled files whose last line is older are deleted; 0 = never.",
         .max = ANY),
     AT(NANOS, settings.maxAge), .range = "a time, 0 or more"},
    {ROW("maxtotal", SIZE, "0",
         "Limit for the total size of rolled files; 0 = none.", .max = ANY),
     AT(SIZE, settings.maxTotal), .range = "a size, 0 or more"},
    {ROW("minfree", STRING, "0",
         "The oldest rolled files are deleted when less of the file system is "
         "free: a size, or N%; 0 = never."),
     AT(MINFREE, settings), .range = "a size, or 0% to 99%"},
    {ROW("mode", STRING, "0644", "Permissions of the sink's files, octal."),
     AT(MODE, settings.mode), .range = "an octal number, 0200 to 0777"},
    {ROW("owner", STRING, "",
         "Owner of the sink's files: USER, USER:GROUP, or :GROUP."),
     AT(OWNER, settings), .range = "USER, USER:GROUP, :GROUP, or empty"},
    {ROW("compress", CHOICE, "none",
         "Rolled files are compressed in the background.",
         .choices = "none gzip"),
     AT(COMPRESS, settings.isCompressed), .range = "none, or gzip"},
    {ROW("sync", STRING, "none",
         "When the file is synced to disk: none, batch, or an interval."),
     AT(SYNC, settings), .range = "none, batch, or a time"},
    {ROW("overflow", CHOICE, "dropnewest, audit block",
         "What happens to a record when the memory is full.",
         .choices = "block dropnewest sample"),
     AT(OVERFLOW, overflow), .range = "block, dropnewest, or sample"},
    {ROW("required", BOOL, "false",
         "Without the sink the server does not start; else records wait until "
         "its target can be opened."),
     AT(BOOL, settings.isRequired), FIXED, .range = "a boolean"}};

#define NCOMMON ((int) Ns_NrElements(options))
#define MISSING "logsink/?" /* The section of a type that is not there. */

static int  FindOption(const NsSinkDraft *draftPtr, const char *name);
static int  CountOptions(const NsSinkDraft *draftPtr);
static void AppendNames(Ns_DString *dsPtr, const NsSinkDraft *draftPtr);
static Ns_ReturnCode SetCommon(NsSinkDraft           *draftPtr,
                               const NsSinkParameter *optionPtr,
                               const char *value, Ns_DString *errorPtr);
static Ns_ReturnCode SetOwn(NsSinkDraft *draftPtr, int i, const char *value,
                            Ns_DString *errorPtr);
static const char   *RegisterType(const NsSinkType *typePtr);
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
SetCommon(NsSinkDraft *draftPtr, const NsSinkParameter *optionPtr,
          const char *value, Ns_DString *errorPtr)
{
    Ns_DString problem;
    bool       isSet;

    Ns_DStringInit(&problem);
    isSet = NsSinkKindSet(optionPtr, draftPtr, value, &problem);
    if (!isSet) {
        Ns_DStringPrintf(errorPtr, "invalid %s \"%s\": should be %s",
                         optionPtr->row.key, value, optionPtr->range);
        if (Ns_DStringLength(&problem) > 0) {
            Ns_DStringVarAppend(errorPtr, ": ", Ns_DStringValue(&problem),
                                (char *) NULL);
        }
    }
    Ns_DStringFree(&problem);
    return isSet ? NS_OK : NS_ERROR;
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

void
NsSinkOptionReset(NsSinkDraft *draftPtr, const char *name)
{
    int         i = FindOption(draftPtr, name);
    const char *text;
    Ns_DString  value, error;

    if (i < 0 || i >= NCOMMON || options[i].isFixed) {
        return;
    }
    /* What holds for files stands first in the words of a default. */
    text = options[i].row.defaultText;
    Ns_DStringInit(&value);
    Ns_DStringInit(&error);
    Ns_DStringNAppend(&value, text, (int) strcspn(text, ","));
    (void) SetCommon(draftPtr, &options[i], Ns_DStringValue(&value), &error);
    NsAssert(Ns_DStringLength(&error) == 0);
    Ns_DStringFree(&value);
    Ns_DStringFree(&error);
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
        NsSinkKindAppend(dsPtr, &options[i], draftPtr);
    } else if (draftPtr->values[i - NCOMMON].text != NULL) {
        Ns_DStringAppend(dsPtr, draftPtr->values[i - NCOMMON].text);
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
    static NsParameter rows[NCOMMON + 1], accessRows[NCOMMON + 1];
    int                nAccess = 0;

    for (int i = 0; i < NCOMMON; i++) {
        rows[i] = options[i].row;
        if (NsSinkOptionIsOfAccessLogs(options[i].row.key)) {
            accessRows[nAccess++] = options[i].row;
        }
    }
    NsParametersRegister("ns/logsink/*", rows, 0);
    NsParametersRegister("module/nslog", accessRows, 0);
}

/*
 * Others would say again what the log has names of its own for.
 */
bool
NsSinkOptionIsOfAccessLogs(const char *name)
{
    static const char *const names[] = {
        "format",   "fields",   "mask",      "if",       "sample",
        "maxrate",  "sync",     "maxmemory", "maxspill", "rotatesize",
        "compress", "overflow", "mode",      "owner",    "rollevery",
        "maxage",   "maxtotal", "minfree"};

    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (STRIEQ(name, names[i])) {
            return true;
        }
    }
    return false;
}

const char *
NsSinkOptionsSection(const char *section)
{
    const char       *name = NsConfigPeek(section, "type");
    const NsSinkType *typePtr = NsSinkTypeFind(name != NULL ? name : "file");

    return typePtr == NULL ? MISSING : RegisterType(typePtr);
}

static const char *
RegisterType(const NsSinkType *typePtr)
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
            (void) RegisterType(typePtr);
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
        [NS_LOGSINK_TIME] = NS_PARAM_TIME,
        [NS_LOGSINK_INPUT] = NS_PARAM_PATH};
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
