/* SPDX-License-Identifier: MPL-2.0
 * logsetup.c --
 *
 *      Gives the log engine what the configuration says.
 */

#include "process/logsetup.h"

#include "base/assert.h"
#include "base/memory_free.h"
#include "log/init.h"
#include "log/sink/sink.h"
#include "log/stream/entry.h"
#include "log/stream/severity.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsparam.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/callbacks.h"
#include "process/config.h"
#include "process/info.h"
#include "process/parameter_judge.h"
#include "process/parameters.h"
#include "process/paths.h"
#include "process/setting.h"
#include "process/sinkoptions.h"
#include "process/sinksection.h"

#define SECTION "ns/parameters"
#define SINKS   "ns/logsinks"
#define SINK    "ns/logsink/"
#define SYSTEM  "system"

/* Sinks to be made while the server runs, and those of one stream. */
#define OTHER_LOGS    128
#define FEW_LOGS      128
#define OTHER_READERS 16

/* Log memory by default: as its parameter says. */
#define USUAL_MEMORY    (INT64_C(64) << 20)
#define SMALL_MEMORY    (INT64_C(8) << 20)
#define LEAST_MEMORY    (INT64_C(4) << 20)
#define SHARE_OF_MEMORY 16

/* How often to look after the log memory. */
#define WATCH_SECONDS 2

/*
 * Settings that the log engine gets in another form, or not at all.
 */
typedef struct Raw {
    const char *file;
    const char *newFile; /* NULL: not set. */
    bool        rolls;
    bool        rollsNew; /* The same under the newer name. */
    const char *spillDirectory;
} Raw;

static NsParameterAdjustProc AdjustRollsNew, AdjustMemory;

static const NsParameter rawRows[] = {
    NS_PATH(Raw, file, "serverlog", "nsd.log",
            "System log; relative to home/logs if that exists, else to home."),
    NS_PATH(Raw, newFile, "systemlog", "", "Newer name of serverlog."),
    NS_BOOL(Raw, rolls, "logroll", "true", "Roll the system log on SIGHUP."),
    NS_BOOL(Raw, rollsNew, "logrollonsignal", "value of logroll",
            "Newer name of logroll.", .isDescribed = true,
            .adjustProc = AdjustRollsNew),
    NS_PATH(Raw, spillDirectory, "logspilldir", "logs/spill",
            "Directory for records of log sinks that fall behind."),
    NS_PARAM_END};

static NsSettingProc     AccessSeverities;
static const NsParameter rows[] = {
    NS_BOOL(NsLogSettings, notice, "lognotice", "true",
            "Log entries of severity Notice.", .settingProc = AccessSeverities),
    NS_BOOL(NsLogSettings, debug, "logdebug", "false",
            "Log entries of severity Debug.", .settingProc = AccessSeverities),
    NS_BOOL(NsLogSettings, dev, "logdev", "false",
            "Log entries of severity Dev.", .settingProc = AccessSeverities),
    NS_INT(NsLogSettings, maxBackup, "logmaxbackup", "10", 0, 999,
           "Rolled system logs that are kept."),
    NS_TEXT(NsLogSettings, rollFormat, "logrollfmt", "",
            "Suffix (strftime) of rolled system logs; empty: numbers."),
    NS_BOOL(NsLogSettings, usec, "logusec", "false",
            "Microseconds in the time stamps."),
    NS_BOOL(NsLogSettings, showsTime, "logsec", "true",
            "The time in entries of the system log."),
    NS_BOOL(NsLogSettings, showsThread, "logthread", "true",
            "Process and thread in entries of the system log."),
    NS_BOOL(NsLogSettings, showsSpan, "logusecdiff", "false",
            "Add the seconds since the previous entry to the time."),
    NS_BOOL(NsLogSettings, isRelative, "logrelative", "false",
            "Seconds since the start in place of the date."),
    NS_BOOL(NsLogSettings, countsRepeats, "logdeduplicate", "false",
            "Log repeated entries once, with their number."),
    NS_BOOL(NsLogSettings, isExpanded, "logexpanded", "false",
            "Each message on a line of its own, followed by a blank line."),
    NS_INT(NsLogSettings, sanitize, "sanitizelogfiles", "2", 0, 3,
           "Control characters in messages: 0 raw, 1 all on one line, 2 "
           "readable, 3 as 2 with tabs as blanks."),
    NS_BOOL(NsLogSettings, hidesAddresses, "masklogaddr", "false",
            "Numeric addresses in the system log without their last part: 24 "
            "bits of IPv4, 64 of IPv6."),
    NS_BOOL(NsLogSettings, isAsync, "asynclogwriter", "false",
            "Log threads write the logs, so that no other thread waits for a "
            "disk."),
    NS_INT(NsLogSettings, maxLogs, "maxlogs", "0", 0, NS_RING_MAX_SINKS,
           "Limit of log streams, and of log sinks; 0 = those of the "
           "configuration and 128 more."),
    NS_SIZE(NsLogSettings, memoryBytes, "logmemory",
            "64MiB, 8MiB if no log thread writes, to 128 logs at most; a "
            "sixteenth of the memory of the machine or container, if that is "
            "less, but at least 4MiB",
            NS_LOG_MEMORY_MIN, NS_LOG_MEMORY_MAX,
            "Memory for log records that are not written yet.",
            .isDescribed = true, .adjustProc = AdjustMemory),
    NS_PATH(NsLogSettings, ringDirectory, "logringdir", "/dev/shm",
            "Directory of that memory; it should be a memory file system."),
    NS_PARAM_END};

static Ns_Callback    HandleHangup;
static Ns_Callback    ReopenLogs;
static Ns_Callback    RollSystemLog;
static Ns_Callback    WatchMemory;
static void           TellMemory(int64_t bytes);
static int64_t        FullMemory(const NsLogSettings *settingsPtr);
static bool           HasManyLogs(void);
static int            MaxLogs(int maxLogs);
static int            CountAccessLogs(const char *server);
static int            CountOf(const char *section);
static int            CountThreads(void);
static int            CountThreadsOf(const char *server);
static int            MaxThreads(const char *section);
static char          *FindFile(const Raw *rawPtr);
static char          *FindSpillDirectory(const char *name);
static bool           IsWritable(const char *file);
static NsSinkMadeProc ConfigureMade;
static NsLogFatalProc PrintFatal;
static void           MakeSinks(void);
static void           MakeSink(const char *name);
static bool           FillDraft(NsSinkDraft *draftPtr, const char *name,
                                const char *section);
static void           Complain(const NsSinkDraft *draftPtr, const char *name,
                               const char *section, const char *reason,
                               const char *consequence);

/*
 * The rows as they were read; constant once started.
 */
static NsLogSettings started;
static bool          rollsSystemLog; /* logroll; constant likewise. */

void
NsLogSetupInit(void)
{
    NsParametersRegister(SECTION, rawRows, sizeof(Raw));
    NsParametersRegister(SECTION, rows, sizeof(NsLogSettings));
}

void
NsLogSetup(NsLogPlace place)
{
    NsLogSettings settings = {.isDetached = place == NS_LOG_DETACHED,
                              .keepsOutput = place == NS_LOG_TO_FILE_ONLY,
                              .home = Ns_InfoHomePath(),
                              .configFile = Ns_InfoConfigFile()};
    Raw           raw;
    char         *file, *spill;
    /* Afterwards the default is there, too. */
    bool isMemorySet = Ns_ConfigGetValue(SECTION, "logmemory") != NULL;

    NsParametersFill(rows, SECTION, &settings);
    NsParametersFill(rawRows, SECTION, &raw);
    settings.notice = settings.notice && Ns_InfoConfigFile() != NULL;
    started = settings;
    settings.maxLogs = MaxLogs(settings.maxLogs);
    settings.nReaders = OTHER_READERS + CountOf(SINKS);
    settings.nThreads = CountThreads();
    settings.file = file = FindFile(&raw);
    settings.spillDirectory = spill = FindSpillDirectory(raw.spillDirectory);
    settings.stayOnStderr = place == NS_LOG_TO_STDERR || !IsWritable(file);
    NsInfoSetErrorLog(file);
    if (settings.keepsOutput) {
        NsLogSetFatalProc(PrintFatal);
    }
    NsLogConfigure(&settings);
    if (!isMemorySet) {
        TellMemory(settings.memoryBytes);
    }
    ConfigureMade(NsSinkFind(SYSTEM));
    NsSinkSetMadeProc(ConfigureMade);
    MakeSinks();
    Ns_RegisterProcInfo((void *) HandleHangup, "ns:logreopen", NULL);
    Ns_RegisterProcInfo((void *) ReopenLogs, "ns:logreopen", NULL);
    (void) Ns_RegisterAtSignal(HandleHangup, NULL);
    (void) NsCallbackAdd(NS_AT_REOPEN, ReopenLogs, NULL);
    if (!settings.stayOnStderr) {
        rollsSystemLog = raw.rollsNew;
        Ns_RegisterProcInfo((void *) RollSystemLog, "ns:logroll", NULL);
        (void) Ns_RegisterAtSignal(RollSystemLog, NULL);
    }
    Ns_RegisterProcInfo((void *) WatchMemory, "ns:logmemory", NULL);
    (void) Ns_ScheduleProc(WatchMemory, NULL, 0, WATCH_SECONDS);
    ns_free(file);
    ns_free(spill);
}

/*
 * Scripts may have changed them, too.
 */
static Ns_ReturnCode
AccessSeverities(const char *section, NsSettingAccess *accessPtr)
{
    NsLogSettings settings = started;
    Ns_ReturnCode result;

    NsAssert(STRIEQ(section, SECTION));
    settings.notice = Ns_LogSeverityEnabled(Notice);
    settings.debug = Ns_LogSeverityEnabled(Debug);
    settings.dev = Ns_LogSeverityEnabled(Dev);
    result = NsSettingAccessStruct(accessPtr, &settings);
    if (result == NS_OK && accessPtr->nChanges > 0 && !accessPtr->isTrial) {
        NsSeverityEnable(Notice, settings.notice);
        NsSeverityEnable(Debug, settings.debug);
        NsSeverityEnable(Dev, settings.dev);
    }
    return result;
}

static void
AdjustRollsNew(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const Raw *rawPtr = valuesPtr;

    limitsPtr->defaultText = rawPtr->rolls ? "true" : "false";
}

static void
HandleHangup(void *arg)
{
    NsSinkReopenAll(true);
}

static void
ReopenLogs(void *arg)
{
    NsSinkReopenAll(false);
}

/*
 * By logroll, or because the sink's own parameter says so.
 */
static void
RollSystemLog(void *arg)
{
    NsSinkSettings settings;

    NsSinkGetSettings(NsSinkFind(SYSTEM), &settings);
    if (rollsSystemLog || settings.rollsOnSignal) {
        (void) Ns_LogRoll();
    }
    NsSinkFreeSettings(&settings);
}

static void
WatchMemory(void *arg)
{
    NsSinkWatchRing();
    NsSinkTendAll();
}

static void
AdjustMemory(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    int64_t bytes = FullMemory(valuesPtr);

    if (!HasManyLogs()) {
        size_t share = MIN(NsMemoryLimit() / SHARE_OF_MEMORY, USUAL_MEMORY);

        bytes = MIN(bytes, MAX((int64_t) share, LEAST_MEMORY));
    }
    NsParameterDefault(limitsPtr, bytes);
}

/*
 * On a machine with little memory the default is less than elsewhere, so that
 * sinks fall behind sooner.
 */
static void
TellMemory(int64_t bytes)
{
    int64_t full = FullMemory(&started);

    NsAssert(bytes <= full);
    if (bytes < full) {
        Ns_Log(Notice,
               "log: logmemory is %" PRId64 " KiB, not %" PRId64
               " KiB: of the %zu MiB of the machine or its control group a "
               "sixteenth, but at least 4 MiB; set logmemory to have more",
               bytes >> 10, full >> 10, NsMemoryLimit() >> 20);
    }
}

/*
 * Where those who log write themselves, little waits; but each log that a
 * thread has written to keeps some of it.
 */
static int64_t
FullMemory(const NsLogSettings *settingsPtr)
{
    return settingsPtr->isAsync || CountOf(SINKS) > 0 || HasManyLogs()
        ? USUAL_MEMORY
        : SMALL_MEMORY;
}

static bool
HasManyLogs(void)
{
    return MaxLogs(0) > OTHER_LOGS + FEW_LOGS;
}

/*
 * How many streams and sinks there can be: those of the configuration, and some
 * more.
 */
static int
MaxLogs(int maxLogs)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection("ns/servers");
    int           n;

    if (maxLogs > 0) {
        return maxLogs;
    }
    n = OTHER_LOGS + CountOf(SINKS) + CountAccessLogs(NULL);
    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        n += CountAccessLogs(Ns_SetKey(setPtr, i));
    }
    return n;
}

/*
 * Modules nslog of a server, or, NULL, of none.
 */
static int
CountAccessLogs(const char *server)
{
    const Ns_Set *setPtr =
        Ns_ConfigGetSection(Ns_ConfigGetPath(server, NULL, "modules", NULL));
    int n = 0;

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        const char *file = Ns_SetValue(setPtr, i), *tail = strrchr(file, '/');

        n += strncmp(tail != NULL ? tail + 1 : file, "nslog", 5) == 0;
    }
    return n;
}

static int
CountOf(const char *section)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);

    return setPtr == NULL ? 0 : (int) Ns_SetSize(setPtr);
}

/*
 * Connection threads, each of which may write to the system log and to the
 * access logs of its server.
 */
static int
CountThreads(void)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection("ns/servers");
    int64_t       n = 0;

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        const char *server = Ns_SetKey(setPtr, i);

        n += (int64_t) CountThreadsOf(server) * (1 + CountAccessLogs(server));
    }
    return (int) MIN(n, NS_RING_MAX_LANES);
}

static int
CountThreadsOf(const char *server)
{
    const char   *pools = Ns_ConfigGetPath(server, NULL, "pools", NULL);
    const Ns_Set *setPtr = Ns_ConfigGetSection(pools);
    int           n = MaxThreads(Ns_ConfigGetPath(server, NULL, NULL));

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        n += MaxThreads(Ns_ConfigGetPath(server, NULL, "pool",
                                         Ns_SetKey(setPtr, i), NULL));
    }
    return n;
}

static int
MaxThreads(const char *section)
{
    int n;

    if (section == NULL) {
        /* The configuration has nothing of it: the default holds. */
        section = "ns/server/*";
    }
    /* Whether it is well formed says who makes the pool. */
    if (Ns_StrToInt(NsParameterText(section, "maxthreads"), &n) != NS_OK) {
        n = 1;
    }
    return MIN(MAX(n, 1), NS_RING_MAX_LANES);
}

static char *
FindFile(const Raw *rawPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsPathsLog(&ds, rawPtr->newFile != NULL ? rawPtr->newFile : rawPtr->file);
    return Ns_DStringExport(&ds);
}

/*
 * Made when it is needed.
 */
static char *
FindSpillDirectory(const char *name)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    if (Ns_PathIsAbsolute(name)) {
        Ns_DStringAppend(&ds, name);
    } else {
        Ns_HomePath(&ds, name, NULL);
    }
    return Ns_DStringExport(&ds);
}

static bool
IsWritable(const char *file)
{
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0) {
        Ns_Log(Warning,
               "log: cannot write '%s': '%s'; entries go to standard "
               "error",
               file, strerror(errno));
        return false;
    }
    close(fd);
    return true;
}

/*
 * Why the process ends, for who has started it.
 */
static void
PrintFatal(const char *message, size_t length)
{
    dprintf(STDERR_FILENO, "Fatal: %.*s\n", (int) MIN(length, INT_MAX),
            message);
}

/*
 * Of a sink that is there without a place in ns/logsinks, what the section of
 * its log says.
 */
static void
ConfigureMade(Ns_LogSink sink)
{
    Ns_DString    section, error;
    const Ns_Set *setPtr;
    NsSinkDraft   draft;

    Ns_DStringInit(&section);
    Ns_DStringInit(&error);
    NsSinkSectionOf(&section, NsSinkName(sink));
    setPtr = Ns_ConfigGetSection(section.string);
    if (setPtr == NULL) {
        Ns_DStringFree(&section);
        return;
    }
    NsSinkDraftInitFrom(&draft, sink);
    for (int i = 0; i < (int) Ns_SetSize(setPtr); i++) {
        const char *key = Ns_SetKey(setPtr, i);

        if (NsSinkHasParameter(NsSinkName(sink), setPtr, key)
            && NsSinkOptionSet(&draft, key, Ns_SetValue(setPtr, i), &error)
                != NS_OK) {
            Complain(&draft, NsSinkName(sink), section.string, error.string,
                     "this value is not used");
            Ns_DStringSetLength(&error, 0);
        }
    }
    if (NsSinkDraftApply(&draft, sink, &error) != NS_OK) {
        Complain(&draft, NsSinkName(sink), section.string, error.string,
                 "the section is not used");
    }
    NsSinkDraftFree(&draft);
    Ns_DStringFree(&section);
    Ns_DStringFree(&error);
}

/*
 * The sinks of sections ns/logsinks and ns/logsink/NAME.
 */
static void
MakeSinks(void)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection(SINKS);

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        MakeSink(Ns_SetKey(setPtr, i));
    }
}

/*
 * A target that cannot be opened is waited for, and a bad value is not used.  A
 * sink is left out only if its kind is unclear.
 */
static void
MakeSink(const char *name)
{
    Ns_DString  section, error;
    NsSinkDraft draft;
    bool        isMade;

    Ns_DStringInit(&section);
    Ns_DStringInit(&error);
    Ns_DStringVarAppend(&section, SINK, name, (char *) NULL);
    NsSinkDraftInit(&draft, NsConfigPeek(Ns_DStringValue(&section), "type"));
    isMade = FillDraft(&draft, name, Ns_DStringValue(&section))
        && NsSinkDraftCreate(&draft, name, &error) == NS_OK;
    if (Ns_DStringLength(&error) > 0) {
        Complain(&draft, name, Ns_DStringValue(&section),
                 Ns_DStringValue(&error),
                 isMade ? "records wait until that works" : "it is left out");
    }
    NsSinkDraftFree(&draft);
    Ns_DStringFree(&section);
    Ns_DStringFree(&error);
}

/*
 * False: a value is bad without which there can be no sink.
 */
static bool
FillDraft(NsSinkDraft *draftPtr, const char *name, const char *section)
{
    Ns_Set     *setPtr = Ns_ConfigGetSection(section);
    int         n = setPtr == NULL ? 0 : (int) Ns_SetSize(setPtr);
    bool        isUsable = true;
    const char *required = setPtr == NULL
        ? NULL
        : Ns_SetIGet(setPtr, "required");
    Ns_DString  error;

    Ns_DStringInit(&error);
    if (required != NULL) {
        /* First: it says what to do about the others. */
        (void) NsSinkOptionSet(draftPtr, "required", required, &error);
        Ns_DStringSetLength(&error, 0);
    }
    for (int i = 0; i < n; i++) {
        const char *key = Ns_SetKey(setPtr, i);

        if (NsSinkOptionSet(draftPtr, key, Ns_SetValue(setPtr, i), &error)
            != NS_OK) {
            bool isFixed = NsSinkOptionIsFixed(draftPtr, key);

            Complain(draftPtr, name, section, Ns_DStringValue(&error),
                     isFixed ? "it is left out" : "this value is not used");
            isUsable &= !isFixed;
            Ns_DStringSetLength(&error, 0);
        }
    }
    draftPtr->mayWait = !draftPtr->settings.isRequired;
    Ns_DStringFree(&error);
    return isUsable;
}

static void
Complain(const NsSinkDraft *draftPtr, const char *name, const char *section,
         const char *reason, const char *consequence)
{
    if (draftPtr->settings.isRequired) {
        Ns_Fatal("log[%s]: the sink is required: section %s: %s", name, section,
                 reason);
    }
    Ns_Log(Error, "log[%s]: section %s: %s; %s", name, section, reason,
           consequence);
}
