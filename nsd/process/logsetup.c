/*
 * logsetup.c --
 *
 *      Gives the log engine what the configuration says.
 */

#include "process/logsetup.h"

#include "log/init.h"
#include "nsconfig.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"
#include "process/info.h"
#include "process/sinkoptions.h"

#define SECTION "ns/parameters"

static Ns_Callback RollSystemLog;
static char *FindFile(void);
static bool IsWritable(const char *file);


void
NsLogSetup(bool stayOnStderr)
{
    char         *file = FindFile();
    NsLogSettings settings = {
        .file = file,
        .stayOnStderr = stayOnStderr || !IsWritable(file),
        .notice = Ns_ConfigBool(SECTION, "lognotice", NS_TRUE),
        .debug = Ns_ConfigBool(SECTION, "logdebug", NS_FALSE),
        .dev = Ns_ConfigBool(SECTION, "logdev", NS_FALSE),
        .usec = Ns_ConfigBool(SECTION, "logusec", NS_FALSE),
        .isExpanded = Ns_ConfigBool(SECTION, "logexpanded", NS_FALSE),
        .maxBackup = Ns_ConfigIntRange(SECTION, "logmaxbackup", 10, 0, 999),
        .rollFormat = Ns_ConfigString(SECTION, "logrollfmt", ""),
        .sanitize = Ns_ConfigIntRange(SECTION, "sanitizelogfiles", 2, 0, 2),
        .isAsync = Ns_ConfigBool(SECTION, "asynclogwriter", NS_FALSE),
        .memoryBytes = Ns_ConfigMemUnitRange(SECTION, "logmemory", "64MiB",
            NS_LOG_MEMORY_DEFAULT, NS_LOG_MEMORY_MIN, NS_LOG_MEMORY_MAX),
        .ringDirectory = Ns_ConfigString(SECTION, "logringdir", "/dev/shm"),
        .home = Ns_InfoHomePath(),
        .configFile = Ns_InfoConfigFile()
    };

    NsInfoSetErrorLog(file);
    NsLogConfigure(&settings);
    NsSinkOptionsSetup();
    if (!settings.stayOnStderr
            && Ns_ConfigBool(SECTION, "logrollonsignal",
                             Ns_ConfigBool(SECTION, "logroll", NS_TRUE))) {
        Ns_RegisterProcInfo((void *) RollSystemLog, "ns:logroll", NULL);
        (void) Ns_RegisterAtSignal(RollSystemLog, NULL);
    }
    ns_free(file);
}

static void
RollSystemLog(void *arg)
{
    (void) Ns_LogRoll();
}

/*
 * Relative names stand below home/logs, if there is such a directory, else
 * below home.
 */
static char *
FindFile(void)
{
    const char *name = Ns_ConfigString(SECTION, "systemlog",
        Ns_ConfigString(SECTION, "serverlog", "nsd.log"));
    Ns_DString  ds;
    char       *file;

    Tcl_DStringInit(&ds);
    if (Ns_PathIsAbsolute(name)) {
        Tcl_DStringAppend(&ds, name, -1);
    } else if (Ns_HomePathExists("logs", NULL)) {
        Ns_HomePath(&ds, "logs", name, NULL);
    } else {
        Ns_HomePath(&ds, name, NULL);
    }
    file = ns_strdup(ds.string);
    Tcl_DStringFree(&ds);
    return file;
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
