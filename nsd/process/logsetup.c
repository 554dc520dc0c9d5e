/*
 * logsetup.c --
 *
 *      Gives the log engine what the configuration says.
 */

#include "process/logsetup.h"

#include <stdatomic.h>

#include "log/init.h"
#include "log/sink.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsparam.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/info.h"
#include "process/parameter_value.h"
#include "process/sinkoptions.h"

#define SECTION "ns/parameters"
#define SINKS   "ns/logsinks"
#define SINK    "ns/logsink/"

/* How often to look after the log memory. */
#define WATCH_SECONDS 2

static Ns_Callback ReopenLogs;
static Ns_Callback RollSystemLog;
static Ns_Callback WatchMemory;
static char *FindFile(void);
static char *FindSpillDirectory(void);
static bool IsWritable(const char *file);
static void MakeSinks(void);
static void MakeSink(const char *name);
static bool FillDraft(NsSinkDraft *draftPtr, const char *name,
                      const char *section);
static void Complain(const NsSinkDraft *draftPtr, const char *name,
                     const char *section, const char *reason,
                     const char *consequence);


void
NsLogSetup(bool stayOnStderr, bool isDetached)
{
    NsParameters  from = {SECTION, SECTION};
    char         *file = FindFile(), *spill = FindSpillDirectory();
    NsLogSettings settings = {
        .file = file,
        .stayOnStderr = stayOnStderr || !IsWritable(file),
        .isDetached = isDetached,
        .notice = NsParameterBool(from, "lognotice"),
        .debug = NsParameterBool(from, "logdebug"),
        .dev = NsParameterBool(from, "logdev"),
        .usec = NsParameterBool(from, "logusec"),
        .isExpanded = NsParameterBool(from, "logexpanded"),
        .maxBackup = NsParameterInt(from, "logmaxbackup"),
        .rollFormat = Ns_ConfigString(SECTION, "logrollfmt", ""),
        .sanitize = NsParameterInt(from, "sanitizelogfiles"),
        .isAsync = NsParameterBool(from, "asynclogwriter"),
        .memoryBytes = NsParameterSize(from, "logmemory"),
        .ringDirectory = Ns_ConfigString(SECTION, "logringdir", "/dev/shm"),
        .spillDirectory = spill,
        .home = Ns_InfoHomePath(),
        .configFile = Ns_InfoConfigFile()
    };

    NsInfoSetErrorLog(file);
    NsLogConfigure(&settings);
    MakeSinks();
    Ns_RegisterProcInfo((void *) ReopenLogs, "ns:logreopen", NULL);
    (void) Ns_RegisterAtSignal(ReopenLogs, NULL);
    if (!settings.stayOnStderr
            && Ns_ConfigBool(SECTION, "logrollonsignal",
                             Ns_ConfigBool(SECTION, "logroll", NS_TRUE))) {
        Ns_RegisterProcInfo((void *) RollSystemLog, "ns:logroll", NULL);
        (void) Ns_RegisterAtSignal(RollSystemLog, NULL);
    }
    if (settings.isAsync) {
        NsLogSetupMemory();
    }
    ns_free(file);
    ns_free(spill);
}

void
NsLogSetupMemory(void)
{
    static atomic_bool isWatched;

    NsLogUseMemory();
    if (!atomic_exchange(&isWatched, true)) {
        Ns_RegisterProcInfo((void *) WatchMemory, "ns:logmemory", NULL);
        (void) Ns_ScheduleProc(WatchMemory, NULL, 0, WATCH_SECONDS);
    }
}

static void
ReopenLogs(void *arg)
{
    NsSinkReopenAll();
}

static void
RollSystemLog(void *arg)
{
    (void) Ns_LogRoll();
}

static void
WatchMemory(void *arg)
{
    NsSinkWatchRing();
}

static char *
FindFile(void)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsInfoLogPath(&ds, Ns_ConfigString(SECTION, "systemlog",
        Ns_ConfigString(SECTION, "serverlog", "nsd.log")));
    return Ns_DStringExport(&ds);
}

/*
 * Made when it is needed.
 */
static char *
FindSpillDirectory(void)
{
    const char *name = Ns_ConfigString(SECTION, "logspilldir", "logs/spill");
    Ns_DString  ds;

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
        Ns_Log(Warning, "log: cannot write '%s': '%s'; entries go to standard "
               "error", file, strerror(errno));
        return false;
    }
    close(fd);
    return true;
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
 * sink is left out only if it cannot be told what it is to be.
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
    NsSinkDraftInit(&draft, NULL);
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
    Ns_Set       *setPtr = Ns_ConfigGetSection(section);
    int           n = setPtr == NULL ? 0 : (int) Ns_SetSize(setPtr);
    bool          isUsable = true;
    const char   *required = setPtr == NULL ? NULL
        : Ns_SetIGet(setPtr, "required");
    Ns_DString    error;

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
            bool isFixed = NsSinkOptionIsFixed(key);

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
        Ns_Fatal("log: sink '%s' is required: section %s: %s", name, section,
                 reason);
    }
    Ns_Log(Error, "log: sink '%s': section %s: %s; %s", name, section, reason,
           consequence);
}
