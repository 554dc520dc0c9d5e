/*
 * sinkoptions.c --
 *
 *      The parameters of log sinks as text.
 */

#include "process/sinkoptions.h"

#include "log/stream/kinds.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "log/target/postgresql.h"
#include "log/target/syslogaddress.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/units.h"

#define NANOS INT64_C(1000000000)

/*
 * A parameter.  The procedures of its kind read a value into its member of a
 * draft (false: it is none, or out of range) and write one.
 */
typedef struct Option Option;
typedef bool (SetProc) (const Option *optionPtr, void *memberPtr,
                        const char *value);
typedef void (AppendProc) (Ns_DString *dsPtr, const void *memberPtr);
typedef bool (CheckProc) (const char *value);

struct Option {
    const char *name;
    SetProc    *setProc;
    AppendProc *appendProc;
    size_t      offset;         /* Of the member. */
    int64_t     min;            /* Of numbers. */
    int64_t     max;            /* Of numbers and sizes. */
    CheckProc  *checkProc;      /* Of texts; NULL: any will do. */
    bool        isFixed;        /* Once the sink is made. */
    bool        isSecret;       /* Not to be seen in an error. */
    const char *range;          /* The values it may have, in words. */
};

static SetProc SetType, SetText, SetIgnore, SetFormat, SetMinSeverity,
    SetNumber, SetHour, SetSize, SetNanos, SetBool, SetCompress, SetSync,
    SetOverflow;
static AppendProc AppendType, AppendText, AppendFormat, AppendMinSeverity,
    AppendNumber, AppendHour, AppendSize, AppendNanos, AppendBool,
    AppendCompress, AppendSync, AppendOverflow;
static CheckProc IsList, IsAddress, IsConnection, IsTable;

/*
 * The two procedures of a kind, and the member.
 */
#define AT(kind, member) Set##kind, Append##kind, offsetof(NsSinkDraft, member)
#define FIXED .isFixed = true

static const Option options[] = {
    {"type", AT(Type, type), FIXED,
     .range = "file, stdout, stderr, syslog, sqlite, or postgresql"},
    {"streams", AT(Text, streams), FIXED, .checkProc = IsList,
     .range = "a list of names"},
    {"file", AT(Text, file), FIXED, .range = "a path"},
    {"address", AT(Text, address), FIXED, .checkProc = IsAddress,
     .range = "unix:PATH, udp:HOST:PORT, or tcp:HOST:PORT"},
    {"connection", AT(Text, connection), FIXED, .checkProc = IsConnection,
     .isSecret = true, .range = "a connection string of libpq"},
    {"table", AT(Text, table), FIXED, .checkProc = IsTable, .range = "a name"},
    {"format", AT(Format, settings.format),
     .range = "native, common, combined, or json"},
    {"minseverity", AT(MinSeverity, settings.minSeverity),
     .range = "all, or a severity"},
    {"ignore", SetIgnore, AppendText, offsetof(NsSinkDraft, settings.ignore),
     .range = "a list of event kinds"},
    {"slowthreshold", AT(Nanos, settings.slowNanos),
     .range = "a time, 0 or more"},
    {"sample", AT(Number, settings.sample), .min = 1, .max = INT_MAX,
     .range = "a number, 1 or more"},
    {"onlyerrors", AT(Bool, settings.onlyErrors), .range = "a boolean"},
    {"maxmemory", AT(Size, settings.maxMemory), .max = INT64_MAX,
     .range = "a size, 0 or more"},
    {"maxspill", AT(Size, settings.maxSpill), .max = INT64_MAX,
     .range = "a size, 0 or more"},
    {"buffersize", AT(Size, settings.bufferBytes), .max = INT64_C(1) << 30,
     .range = "a size from 0 to 1GiB"},
    {"buffertime", AT(Nanos, settings.bufferNanos),
     .range = "a time, 0 or more"},
    {"batchsize", AT(Number, settings.batchRows), .min = 1, .max = 10000,
     .range = "1 to 10000"},
    {"rotatesize", AT(Size, settings.rotateBytes), .max = INT64_MAX,
     .range = "a size, 0 or more"},
    {"rollhour", AT(Hour, settings.rollHour), .max = 23,
     .range = "0 to 23, or empty"},
    {"rollfmt", AT(Text, settings.rollFormat),
     .range = "a format of strftime, or empty"},
    {"maxbackup", AT(Number, settings.maxBackup), .min = 1, .max = 999,
     .range = "1 to 999"},
    {"compress", AT(Compress, settings.isCompressed), .range = "none, or gzip"},
    {"sync", AT(Sync, settings), .range = "none, batch, or a time"},
    {"overflow", AT(Overflow, overflow),
     .range = "block, dropnewest, or sample"},
    {"required", AT(Bool, settings.isRequired), FIXED, .range = "a boolean"}
};

static const char *const overflows[] = {
    [NS_OVERFLOW_BLOCK] = "block", [NS_OVERFLOW_DROPNEWEST] = "dropnewest",
    [NS_OVERFLOW_SAMPLE] = "sample"
};

static const Option *FindOption(const char *name);


Ns_ReturnCode
NsSinkOptionSet(NsSinkDraft *draftPtr, const char *name, const char *value,
                Ns_DString *errorPtr)
{
    const Option *optionPtr = FindOption(name);

    if (optionPtr == NULL) {
        Ns_DStringPrintf(errorPtr, "unknown parameter \"%s\": should be one "
                         "of:", name);
        for (int i = 0; i < Ns_NrElements(options); i++) {
            Ns_DStringPrintf(errorPtr, " %s", options[i].name);
        }
        return NS_ERROR;
    }
    if (optionPtr->isFixed && !draftPtr->isNew) {
        Ns_DStringPrintf(errorPtr, "%s cannot be changed", name);
        return NS_ERROR;
    }
    if (!optionPtr->setProc(optionPtr, (char *) draftPtr + optionPtr->offset,
                            value)) {
        Ns_DStringPrintf(errorPtr, "invalid %s \"%s\": should be %s", name,
                         optionPtr->isSecret ? "***" : value,
                         optionPtr->range);
        return NS_ERROR;
    }
    return NS_OK;
}

const char *
NsSinkOptionName(int index)
{
    return index < Ns_NrElements(options) ? options[index].name : NULL;
}

void
NsSinkOptionAppend(Ns_DString *dsPtr, const NsSinkDraft *draftPtr, int index)
{
    options[index].appendProc(dsPtr, (const char *) draftPtr
                              + options[index].offset);
}

bool
NsSinkOptionIsFixed(const char *name)
{
    const Option *optionPtr = FindOption(name);

    return optionPtr != NULL && optionPtr->isFixed;
}

const char *
NsSinkOptionRange(const char *name)
{
    return FindOption(name)->range;
}

static const Option *
FindOption(const char *name)
{
    for (int i = 0; i < Ns_NrElements(options); i++) {
        if (STRIEQ(options[i].name, name)) {
            return &options[i];
        }
    }
    return NULL;
}

static bool
SetType(const Option *optionPtr, void *memberPtr, const char *value)
{
    const char **typePtr = memberPtr;
    const char  *type = NsSinkDraftType(value);

    if (type == NULL) {
        return false;
    }
    *typePtr = type;
    return true;
}

static void
AppendType(Ns_DString *dsPtr, const void *memberPtr)
{
    Ns_DStringAppend(dsPtr, *(const char *const *) memberPtr);
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
IsAddress(const char *value)
{
    NsSyslogAddress address;

    return NsSyslogParseAddress(value, &address);
}

static bool
IsConnection(const char *value)
{
    char *display = NsPqDisplay(value);

    ns_free(display);
    return display != NULL;
}

static bool
IsTable(const char *value)
{
    return strlen(value) < NS_RING_NAME;
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

    Ns_DStringAppend(dsPtr, severity < 0 ? "all"
                     : Ns_LogSeverityName((Ns_LogSeverity) severity));
}

static bool
SetNumber(const Option *optionPtr, void *memberPtr, const char *value)
{
    Tcl_WideInt n;

    if (!NsUnitsInteger(value, &n) || n < optionPtr->min
            || n > optionPtr->max) {
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

    if (!NsUnitsSize(value, &n) || n < 0 || n > optionPtr->max) {
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

    if (!NsUnitsTime(value, &time) || time.sec > INT64_MAX / NANOS - 1) {
        return false;
    }
    *(int64_t *) memberPtr = (int64_t) time.sec * NANOS
        + (int64_t) time.usec * 1000;
    return true;
}

static void
AppendNanos(Ns_DString *dsPtr, const void *memberPtr)
{
    int64_t nanos = *(const int64_t *) memberPtr;

    if (nanos % NANOS == 0) {
        Ns_DStringPrintf(dsPtr, "%" PRId64, nanos / NANOS);
    } else {
        Ns_DStringPrintf(dsPtr, "%" PRId64 ".%06d", nanos / NANOS,
                         (int) (nanos % NANOS / 1000));
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
        Ns_DStringAppend(dsPtr, settingsPtr->sync == NS_SYNC_BATCH
                         ? "batch" : "none");
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
