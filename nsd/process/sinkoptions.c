/*
 * sinkoptions.c --
 *
 *      The parameters of log sinks as text.
 */

#include "process/sinkoptions.h"

#include "log/init.h"
#include "log/kinds.h"
#include "log/postgresql.h"
#include "log/severity.h"
#include "log/stream.h"
#include "log/syslogaddress.h"
#include "nsconfig.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/units.h"

#define NANOS       INT64_C(1000000000)
#define DATABASE_SECONDS 5
#define MAX_BACKUP  999
#define MAX_BATCH   10000
#define CONNECTION  "connection"       /* Its value may be secret. */
#define MAX_BUFFER  (INT64_C(1) << 30)

typedef bool (SetProc) (NsSinkDraft *draftPtr, const char *value);
typedef void (GetProc) (Ns_DString *dsPtr, const NsSinkDraft *draftPtr);

static SetProc SetType, SetStreams, SetFile, SetAddress, SetConnection,
    SetTable, SetFormat, SetMinSeverity, SetIgnore, SetSlowThreshold,
    SetSample, SetOnlyErrors, SetMaxMemory, SetBufferSize, SetBufferTime,
    SetBatchSize, SetRotateSize, SetRollHour, SetRollFormat, SetMaxBackup,
    SetCompress, SetSync, SetOverflow;
static GetProc GetType, GetStreams, GetFile, GetAddress, GetConnection,
    GetTable, GetFormat, GetMinSeverity, GetIgnore, GetSlowThreshold,
    GetSample, GetOnlyErrors, GetMaxMemory, GetBufferSize, GetBufferTime,
    GetBatchSize, GetRotateSize, GetRollHour, GetRollFormat, GetMaxBackup,
    GetCompress, GetSync, GetOverflow;

static const struct {
    const char *name;
    SetProc    *setProc;
    GetProc    *getProc;
    bool        isFixed;        /* Once the sink is made. */
    const char *range;
} options[] = {
    {"type", SetType, GetType, true,
     "file, stdout, stderr, syslog, sqlite, or postgresql"},
    {"streams", SetStreams, GetStreams, true, "a list of names"},
    {"file", SetFile, GetFile, true, "a path"},
    {"address", SetAddress, GetAddress, true,
     "unix:PATH, udp:HOST:PORT, or tcp:HOST:PORT"},
    {CONNECTION, SetConnection, GetConnection, true,
     "a connection string of libpq"},
    {"table", SetTable, GetTable, true, "a name"},
    {"format", SetFormat, GetFormat, false,
     "native, common, combined, or json"},
    {"minseverity", SetMinSeverity, GetMinSeverity, false,
     "all, or a severity"},
    {"ignore", SetIgnore, GetIgnore, false, "a list of event kinds"},
    {"slowthreshold", SetSlowThreshold, GetSlowThreshold, false,
     "a time, 0 or more"},
    {"sample", SetSample, GetSample, false, "a number, 1 or more"},
    {"onlyerrors", SetOnlyErrors, GetOnlyErrors, false, "a boolean"},
    {"maxmemory", SetMaxMemory, GetMaxMemory, false, "a size, 0 or more"},
    {"buffersize", SetBufferSize, GetBufferSize, false,
     "a size from 0 to 1GiB"},
    {"buffertime", SetBufferTime, GetBufferTime, false, "a time, 0 or more"},
    {"batchsize", SetBatchSize, GetBatchSize, false, "1 to 10000"},
    {"rotatesize", SetRotateSize, GetRotateSize, false, "a size, 0 or more"},
    {"rollhour", SetRollHour, GetRollHour, false, "0 to 23, or empty"},
    {"rollfmt", SetRollFormat, GetRollFormat, false,
     "a format of strftime, or empty"},
    {"maxbackup", SetMaxBackup, GetMaxBackup, false, "1 to 999"},
    {"compress", SetCompress, GetCompress, false, "none, or gzip"},
    {"sync", SetSync, GetSync, false, "none, batch, or a time"},
    {"overflow", SetOverflow, GetOverflow, false,
     "block, dropnewest, or sample"}
};

static const char *const types[] = {
    "file", "stdout", "stderr", "syslog", "sqlite", "postgresql"
};
static const char *const overflows[] = {
    [NS_OVERFLOW_BLOCK] = "block", [NS_OVERFLOW_DROPNEWEST] = "dropnewest",
    [NS_OVERFLOW_SAMPLE] = "sample"
};

static void SetOverflowOf(const NsSinkDraft *draftPtr, Ns_LogSink sink);
static bool HasFormat(const NsSinkDraft *draftPtr, Ns_DString *errorPtr);
static int  FindOption(const char *name);
static void SetUpOne(const char *name);
static bool GetNumber(const char *value, Tcl_WideInt min, Tcl_WideInt max,
                      Tcl_WideInt *numberPtr);
static bool GetSize(const char *value, Tcl_WideInt max, Tcl_WideInt *sizePtr);
static bool GetNanos(const char *value, int64_t *nanosPtr);
static void AppendNanos(Ns_DString *dsPtr, int64_t nanos);


void
NsSinkDraftInit(NsSinkDraft *draftPtr, Ns_LogSink sink)
{
    Ns_DString streams;
    bool       isFile;

    memset(draftPtr, 0, sizeof(*draftPtr));
    draftPtr->overflow = -1;
    if (sink == NULL) {
        draftPtr->isNew = true;
        draftPtr->type = "file";
        draftPtr->streams = ns_strdup("");
        draftPtr->file = ns_strdup("");
        draftPtr->address = ns_strdup("");
        draftPtr->connection = ns_strdup("");
        draftPtr->table = ns_strdup("");
        draftPtr->settings = nsSinkDefaults;
        return;
    }
    draftPtr->type = NsSinkTypeName(sink);
    isFile = STREQ(draftPtr->type, "file") || STREQ(draftPtr->type, "sqlite");
    draftPtr->table = ns_strdup(NsSinkTable(sink));
    draftPtr->file = ns_strdup(isFile ? NsSinkFile(sink) : "");
    draftPtr->address = ns_strdup(STREQ(draftPtr->type, "syslog")
                                  ? NsSinkFile(sink) : "");
    /* As it may be shown. */
    draftPtr->connection = ns_strdup(STREQ(draftPtr->type, "postgresql")
                                     ? NsSinkFile(sink) : "");
    Ns_DStringInit(&streams);
    for (int i = 0; NsSinkPattern(sink, i) != NULL; i++) {
        Ns_DStringAppendElement(&streams, NsSinkPattern(sink, i));
    }
    draftPtr->streams = Ns_DStringExport(&streams);
    NsSinkGetSettings(sink, &draftPtr->settings);
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        if (NsSinkWants(sink, i)) {
            draftPtr->overflow = (int) NsStreamOverflow(NsStreamAt(i));
            break;
        }
    }
}

void
NsSinkDraftFree(NsSinkDraft *draftPtr)
{
    ns_free(draftPtr->streams);
    ns_free(draftPtr->file);
    ns_free(draftPtr->address);
    ns_free(draftPtr->connection);
    ns_free(draftPtr->table);
    NsSinkFreeSettings(&draftPtr->settings);
}

Ns_ReturnCode
NsSinkDraftSet(NsSinkDraft *draftPtr, const char *name, const char *value,
               Ns_DString *errorPtr)
{
    int i = FindOption(name);

    if (i < 0) {
        Ns_DStringPrintf(errorPtr, "unknown parameter \"%s\": should be one "
                         "of:", name);
        for (i = 0; i < Ns_NrElements(options); i++) {
            Ns_DStringPrintf(errorPtr, " %s", options[i].name);
        }
        return NS_ERROR;
    }
    if (options[i].isFixed && !draftPtr->isNew) {
        Ns_DStringPrintf(errorPtr, "%s cannot be changed", name);
        return NS_ERROR;
    }
    if (!options[i].setProc(draftPtr, value)) {
        Ns_DStringPrintf(errorPtr, "invalid %s \"%s\": should be %s", name,
                         STREQ(options[i].name, CONNECTION) ? "***" : value,
                         options[i].range);
        return NS_ERROR;
    }
    return NS_OK;
}

Ns_ReturnCode
NsSinkDraftCreate(const NsSinkDraft *draftPtr, const char *name,
                  Ns_DString *errorPtr)
{
    NsSinkSpec   spec = {.name = name, .type = draftPtr->type,
                         .table = draftPtr->table,
                         .settings = draftPtr->settings};
    Ns_DString   path;
    const char **streams;
    char        *display = NULL;
    bool         isFile, isDatabase;
    Ns_LogSink   sink;

    if (*name == '\0' || strlen(name) >= NS_RING_NAME
            || NsSinkFind(name) != NULL) {
        Ns_DStringPrintf(errorPtr, "invalid name \"%s\": should be new, and 1 "
                         "to %d bytes long", name, NS_RING_NAME - 1);
        return NS_ERROR;
    }
    if (!HasFormat(draftPtr, errorPtr)) {
        return NS_ERROR;
    }
    isFile = STREQ(draftPtr->type, "file") || STREQ(draftPtr->type, "sqlite");
    isDatabase = STREQ(draftPtr->type, "sqlite")
        || STREQ(draftPtr->type, "postgresql");

    if (!NsSinkHasType(draftPtr->type)) {
        Ns_DStringPrintf(errorPtr, "type \"%s\" is not there: this server was "
                         "built without libpq", draftPtr->type);
        return NS_ERROR;
    }
    if (isFile && *draftPtr->file == '\0') {
        Ns_DStringAppend(errorPtr, "missing file: should be a path");
        return NS_ERROR;
    }
    if (STREQ(draftPtr->type, "syslog") && *draftPtr->address == '\0') {
        Ns_DStringAppend(errorPtr, "missing address: should be unix:PATH, "
                         "udp:HOST:PORT, or tcp:HOST:PORT");
        return NS_ERROR;
    }
    if (STREQ(draftPtr->type, "postgresql") && *draftPtr->connection == '\0') {
        Ns_DStringAppend(errorPtr, "missing connection: should be a connection "
                         "string of libpq");
        return NS_ERROR;
    }
    (void) Tcl_SplitList(NULL, draftPtr->streams, &spec.nStreams, &streams);
    spec.streams = streams;
    Ns_DStringInit(&path);
    if (isFile) {
        if (Ns_PathIsAbsolute(draftPtr->file)) {
            Ns_DStringAppend(&path, draftPtr->file);
        } else if (Ns_HomePathExists("logs", NULL)) {
            Ns_HomePath(&path, "logs", draftPtr->file, NULL);
        } else {
            Ns_HomePath(&path, draftPtr->file, NULL);
        }
        spec.file = Ns_DStringValue(&path);
    } else if (STREQ(draftPtr->type, "syslog")) {
        spec.file = draftPtr->address;
    } else if (STREQ(draftPtr->type, "postgresql")) {
        spec.connection = draftPtr->connection;
        spec.file = display = NsPqDisplay(draftPtr->connection);
    }
    if (isDatabase && !draftPtr->hasBufferTime) {
        spec.settings.bufferNanos = DATABASE_SECONDS * NANOS;
    }
    NsLogUseMemory();
    sink = NsSinkCreate(&spec);
    if (sink == NULL) {
        Ns_DStringPrintf(errorPtr, "cannot open \"%s\": %s",
                         spec.file != NULL ? spec.file : spec.type,
                         NsSinkReason(errno));
    } else {
        SetOverflowOf(draftPtr, sink);
    }
    ns_free(display);
    Ns_DStringFree(&path);
    Tcl_Free((char *) streams);
    return sink != NULL ? NS_OK : NS_ERROR;
}

Ns_ReturnCode
NsSinkDraftApply(const NsSinkDraft *draftPtr, Ns_LogSink sink,
                 Ns_DString *errorPtr)
{
    if (!HasFormat(draftPtr, errorPtr)) {
        return NS_ERROR;
    }
    SetOverflowOf(draftPtr, sink);
    return NsSinkConfigure(sink, &draftPtr->settings);
}

/*
 * False: one of the streams has lines of its own, and none in this format.
 */
static bool
HasFormat(const NsSinkDraft *draftPtr, Ns_DString *errorPtr)
{
    int          format = draftPtr->settings.format, n;
    const char **patterns;
    Ns_LogStream stream, lacking = NULL;

    (void) Tcl_SplitList(NULL, draftPtr->streams, &n, &patterns);
    for (int i = 0; i < n; i++) {
        for (int j = 0; (stream = NsStreamAt(j)) != NULL; j++) {
            if (NsStreamMatches(stream, patterns[i])
                    && !NsStreamKnowsFormat(stream, format)) {
                lacking = stream;
            }
        }
    }
    Tcl_Free((char *) patterns);
    if (lacking != NULL) {
        Ns_DStringPrintf(errorPtr, "invalid format \"%s\": stream \"%s\" should "
                         "be native or json", NsStreamFormatName(format),
                         NsStreamName(lacking));
    }
    return lacking == NULL;
}

static void
SetOverflowOf(const NsSinkDraft *draftPtr, Ns_LogSink sink)
{
    Ns_LogStream stream;

    for (int i = 0; draftPtr->overflow >= 0
             && (stream = NsStreamAt(i)) != NULL; i++) {
        if (NsSinkWants(sink, i)) {
            NsStreamSetOverflow(stream, (NsOverflow) draftPtr->overflow);
        }
    }
}

const char *
NsSinkOptionName(int index)
{
    return index < Ns_NrElements(options) ? options[index].name : NULL;
}

void
NsSinkOptionAppend(Ns_DString *dsPtr, const NsSinkDraft *draftPtr, int index)
{
    options[index].getProc(dsPtr, draftPtr);
}

void
NsSinkOptionsSetup(void)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection("ns/logsinks");

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        SetUpOne(Ns_SetKey(setPtr, i));
    }
}

static void
SetUpOne(const char *name)
{
    Ns_DString    section, error;
    const Ns_Set *setPtr;
    NsSinkDraft   draft;
    Ns_ReturnCode status = NS_OK;

    Ns_DStringInit(&section);
    Ns_DStringInit(&error);
    Ns_DStringVarAppend(&section, "ns/logsink/", name, (char *) NULL);
    setPtr = Ns_ConfigGetSection(Ns_DStringValue(&section));
    NsSinkDraftInit(&draft, NULL);
    for (int i = 0; setPtr != NULL && status == NS_OK
             && i < (int) Ns_SetSize(setPtr); i++) {
        status = NsSinkDraftSet(&draft, Ns_SetKey(setPtr, i),
                                Ns_SetValue(setPtr, i), &error);
    }
    if (status == NS_OK) {
        status = NsSinkDraftCreate(&draft, name, &error);
    }
    if (status != NS_OK) {
        Ns_Log(Error, "log: sink '%s' is left out: section %s: %s", name,
               Ns_DStringValue(&section), Ns_DStringValue(&error));
    }
    NsSinkDraftFree(&draft);
    Ns_DStringFree(&section);
    Ns_DStringFree(&error);
}

static int
FindOption(const char *name)
{
    for (int i = 0; i < Ns_NrElements(options); i++) {
        if (STRIEQ(options[i].name, name)) {
            return i;
        }
    }
    return -1;
}

static bool
SetType(NsSinkDraft *draftPtr, const char *value)
{
    for (int i = 0; i < Ns_NrElements(types); i++) {
        if (STREQ(value, types[i])) {
            draftPtr->type = types[i];
            return true;
        }
    }
    return false;
}

static bool
SetStreams(NsSinkDraft *draftPtr, const char *value)
{
    const char **words;
    int          n;

    if (Tcl_SplitList(NULL, value, &n, &words) != TCL_OK) {
        return false;
    }
    Tcl_Free((char *) words);
    ns_free(draftPtr->streams);
    draftPtr->streams = ns_strdup(value);
    return true;
}

static bool
SetFile(NsSinkDraft *draftPtr, const char *value)
{
    ns_free(draftPtr->file);
    draftPtr->file = ns_strdup(value);
    return true;
}

static bool
SetAddress(NsSinkDraft *draftPtr, const char *value)
{
    NsSyslogAddress address;

    if (!NsSyslogParseAddress(value, &address)) {
        return false;
    }
    ns_free(draftPtr->address);
    draftPtr->address = ns_strdup(value);
    return true;
}

static bool
SetConnection(NsSinkDraft *draftPtr, const char *value)
{
    char *display = NsPqDisplay(value);

    if (display == NULL) {
        return false;
    }
    ns_free(display);
    ns_free(draftPtr->connection);
    draftPtr->connection = ns_strdup(value);
    return true;
}

static bool
SetTable(NsSinkDraft *draftPtr, const char *value)
{
    if (strlen(value) >= NS_RING_NAME) {
        return false;
    }
    ns_free(draftPtr->table);
    draftPtr->table = ns_strdup(value);
    return true;
}

static bool
SetFormat(NsSinkDraft *draftPtr, const char *value)
{
    int format = NsStreamFormatByName(value);

    if (format < 0) {
        return false;
    }
    draftPtr->settings.format = format;
    return true;
}

static bool
SetMinSeverity(NsSinkDraft *draftPtr, const char *value)
{
    int severity = STREQ(value, "all") ? -1 : NsSeverityFind(value);

    if (severity < 0 && !STREQ(value, "all")) {
        return false;
    }
    draftPtr->settings.minSeverity = severity;
    return true;
}

static bool
SetIgnore(NsSinkDraft *draftPtr, const char *value)
{
    NsKinds kinds;

    if (!NsKindsInit(&kinds, value)) {
        return false;
    }
    ns_free(draftPtr->settings.ignore);
    draftPtr->settings.ignore = kinds.n == 0 ? NULL : ns_strdup(value);
    NsKindsFree(&kinds);
    return true;
}

static bool
SetSlowThreshold(NsSinkDraft *draftPtr, const char *value)
{
    return GetNanos(value, &draftPtr->settings.slowNanos);
}

static bool
SetSample(NsSinkDraft *draftPtr, const char *value)
{
    Tcl_WideInt n;

    if (!GetNumber(value, 1, INT_MAX, &n)) {
        return false;
    }
    draftPtr->settings.sample = (int) n;
    return true;
}

static bool
SetOnlyErrors(NsSinkDraft *draftPtr, const char *value)
{
    return NsUnitsBool(value, &draftPtr->settings.onlyErrors);
}

static bool
SetMaxMemory(NsSinkDraft *draftPtr, const char *value)
{
    Tcl_WideInt n;

    if (!GetSize(value, INT64_MAX, &n)) {
        return false;
    }
    draftPtr->settings.maxMemory = (size_t) n;
    return true;
}

static bool
SetBufferSize(NsSinkDraft *draftPtr, const char *value)
{
    Tcl_WideInt n;

    if (!GetSize(value, MAX_BUFFER, &n)) {
        return false;
    }
    draftPtr->settings.bufferBytes = (size_t) n;
    return true;
}

static bool
SetBufferTime(NsSinkDraft *draftPtr, const char *value)
{
    draftPtr->hasBufferTime = true;
    return GetNanos(value, &draftPtr->settings.bufferNanos);
}

static bool
SetBatchSize(NsSinkDraft *draftPtr, const char *value)
{
    Tcl_WideInt n;

    if (!GetNumber(value, 1, MAX_BATCH, &n)) {
        return false;
    }
    draftPtr->settings.batchRows = (int) n;
    return true;
}

static bool
SetRotateSize(NsSinkDraft *draftPtr, const char *value)
{
    Tcl_WideInt n;

    if (!GetSize(value, INT64_MAX, &n)) {
        return false;
    }
    draftPtr->settings.rotateBytes = n;
    return true;
}

static bool
SetRollHour(NsSinkDraft *draftPtr, const char *value)
{
    Tcl_WideInt n = -1;

    if (*value != '\0' && !GetNumber(value, 0, 23, &n)) {
        return false;
    }
    draftPtr->settings.rollHour = (int) n;
    return true;
}

static bool
SetRollFormat(NsSinkDraft *draftPtr, const char *value)
{
    ns_free(draftPtr->settings.rollFormat);
    draftPtr->settings.rollFormat = *value == '\0' ? NULL : ns_strdup(value);
    return true;
}

static bool
SetMaxBackup(NsSinkDraft *draftPtr, const char *value)
{
    Tcl_WideInt n;

    if (!GetNumber(value, 1, MAX_BACKUP, &n)) {
        return false;
    }
    draftPtr->settings.maxBackup = (int) n;
    return true;
}

static bool
SetCompress(NsSinkDraft *draftPtr, const char *value)
{
    draftPtr->settings.isCompressed = STREQ(value, "gzip");
    return draftPtr->settings.isCompressed || STREQ(value, "none");
}

static bool
SetSync(NsSinkDraft *draftPtr, const char *value)
{
    if (STREQ(value, "none")) {
        draftPtr->settings.sync = NS_SYNC_NONE;
    } else if (STREQ(value, "batch")) {
        draftPtr->settings.sync = NS_SYNC_BATCH;
    } else if (GetNanos(value, &draftPtr->settings.syncNanos)) {
        draftPtr->settings.sync = NS_SYNC_TIME;
    } else {
        return false;
    }
    return true;
}

static bool
SetOverflow(NsSinkDraft *draftPtr, const char *value)
{
    for (int i = 0; i < Ns_NrElements(overflows); i++) {
        if (STREQ(value, overflows[i])) {
            draftPtr->overflow = i;
            return true;
        }
    }
    return false;
}

static void
GetType(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->type);
}

static void
GetStreams(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->streams);
}

static void
GetFile(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->file);
}

static void
GetAddress(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->address);
}

static void
GetConnection(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->connection);
}

static void
GetTable(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->table);
}

static void
GetFormat(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, NsStreamFormatName(draftPtr->settings.format));
}

static void
GetMinSeverity(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    int severity = draftPtr->settings.minSeverity;

    Ns_DStringAppend(dsPtr, severity < 0 ? "all"
                     : Ns_LogSeverityName((Ns_LogSeverity) severity));
}

static void
GetIgnore(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    if (draftPtr->settings.ignore != NULL) {
        Ns_DStringAppend(dsPtr, draftPtr->settings.ignore);
    }
}

static void
GetSlowThreshold(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    AppendNanos(dsPtr, draftPtr->settings.slowNanos);
}

static void
GetSample(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", draftPtr->settings.sample);
}

static void
GetOnlyErrors(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->settings.onlyErrors ? "1" : "0");
}

static void
GetMaxMemory(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringPrintf(dsPtr, "%zu", draftPtr->settings.maxMemory);
}

static void
GetBufferSize(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringPrintf(dsPtr, "%zu", draftPtr->settings.bufferBytes);
}

static void
GetBufferTime(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    AppendNanos(dsPtr, draftPtr->settings.bufferNanos);
}

static void
GetBatchSize(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", draftPtr->settings.batchRows);
}

static void
GetRotateSize(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringPrintf(dsPtr, "%" PRId64, draftPtr->settings.rotateBytes);
}

static void
GetRollHour(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    if (draftPtr->settings.rollHour >= 0) {
        Ns_DStringPrintf(dsPtr, "%d", draftPtr->settings.rollHour);
    }
}

static void
GetRollFormat(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    if (draftPtr->settings.rollFormat != NULL) {
        Ns_DStringAppend(dsPtr, draftPtr->settings.rollFormat);
    }
}

static void
GetMaxBackup(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", draftPtr->settings.maxBackup);
}

static void
GetCompress(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, draftPtr->settings.isCompressed ? "gzip" : "none");
}

static void
GetSync(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    if (draftPtr->settings.sync == NS_SYNC_TIME) {
        AppendNanos(dsPtr, draftPtr->settings.syncNanos);
    } else {
        Ns_DStringAppend(dsPtr, draftPtr->settings.sync == NS_SYNC_BATCH
                         ? "batch" : "none");
    }
}

static void
GetOverflow(Ns_DString *dsPtr, const NsSinkDraft *draftPtr)
{
    Ns_DStringAppend(dsPtr, overflows[MAX(draftPtr->overflow, 0)]);
}

static bool
GetNumber(const char *value, Tcl_WideInt min, Tcl_WideInt max,
          Tcl_WideInt *numberPtr)
{
    return NsUnitsInteger(value, numberPtr) && *numberPtr >= min
        && *numberPtr <= max;
}

static bool
GetSize(const char *value, Tcl_WideInt max, Tcl_WideInt *sizePtr)
{
    return NsUnitsSize(value, sizePtr) && *sizePtr >= 0 && *sizePtr <= max;
}

static bool
GetNanos(const char *value, int64_t *nanosPtr)
{
    Ns_Time time;

    if (!NsUnitsTime(value, &time) || time.sec > INT64_MAX / NANOS - 1) {
        return false;
    }
    *nanosPtr = (int64_t) time.sec * NANOS + (int64_t) time.usec * 1000;
    return true;
}

static void
AppendNanos(Ns_DString *dsPtr, int64_t nanos)
{
    if (nanos % NANOS == 0) {
        Ns_DStringPrintf(dsPtr, "%" PRId64, nanos / NANOS);
    } else {
        Ns_DStringPrintf(dsPtr, "%" PRId64 ".%06d", nanos / NANOS,
                         (int) (nanos % NANOS / 1000));
    }
}
