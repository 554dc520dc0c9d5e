/*
 * logsetup.c --
 *
 *      Gives the log engine what the configuration says.
 */

#include "process/logsetup.h"

#include <stdatomic.h>

#include "log/init.h"
#include "log/sink.h"
#include "nsconfig.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/info.h"
#include "process/parameter_value.h"
#include "process/sinkoptions.h"

#define SECTION "ns/parameters"

/* How often to look after the log memory. */
#define WATCH_SECONDS 2

static Ns_Callback ReopenLogs;
static Ns_Callback RollSystemLog;
static Ns_Callback WatchMemory;
static char *FindFile(void);
static bool IsWritable(const char *file);
static void MakeSinks(void);
static void MakeSink(const char *name);


void
NsLogSetup(bool stayOnStderr)
{
    NsParameters  from = {SECTION, SECTION};
    char         *file = FindFile();
    NsLogSettings settings = {
        .file = file,
        .stayOnStderr = stayOnStderr || !IsWritable(file),
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
 * The sinks of sections ns/logsinks and ns/logsink/NAME.  One that cannot be
 * made is logged and left out.
 */
static void
MakeSinks(void)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection("ns/logsinks");

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        MakeSink(Ns_SetKey(setPtr, i));
    }
}

static void
MakeSink(const char *name)
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
        status = NsSinkOptionSet(&draft, Ns_SetKey(setPtr, i),
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
