/*
 * info_cmd.c --
 *
 *      ns_info: facts about the process.
 *
 *      Each option is a procedure that appends the answer to a string.  Options
 *      that came later are found by their whole name only and are not listed in
 *      error messages, which scripts compare.
 */

#include "ns.h"
#include "base/memory.h"
#include "base/thread.h"
#include "http/mimetype.h"
#include "net/sockcallback.h"
#include "process/callbacks.h"
#include "process/info.h"
#include "process/paths.h"
#include "process/sched.h"
#include "request/filter.h"
#include "request/op.h"
#include "request/reqtrace.h"
#include "request/url2file.h"
#include "request/vhost.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

typedef void (InfoProc)(Ns_DString *dsPtr, NsServer *serverPtr);

static InfoProc Address, Allocator, Argv, Argv0, BinDir, BootTime, BuildDate,
    BuildInfo, Callbacks, ConfigFile, Home, Hostname, Ipv6, Locks, Log, LogDir,
    Major, MemInfo, MimeTypes, Minor, Name, Executable, PageDir, PatchLevel,
    Pid, Platform, Pools, Scheduled, ScheduleStats, Server, Servers,
    ShutdownPending, SockCallbacks, Ssl, Started, Tag, TclLib, Threads, Uptime,
    Version, Winnt;

typedef struct Option {
    const char *name;
    InfoProc   *proc;
    bool        needsServer;
    const char *alternative;    /* Deprecated; what to use instead. */
} Option;

static const Option options[] = {
    {"address",         Address, false, NULL},
    {"argv0",           Argv0, false, NULL},
    {"boottime",        BootTime, false, NULL},
    {"builddate",       BuildDate, false, NULL},
    {"callbacks",       Callbacks, false, NULL},
    {"config",          ConfigFile, false, NULL},
    {"home",            Home, false, NULL},
    {"hostname",        Hostname, false, NULL},
    {"locks",           Locks, false, NULL},
    {"log",             Log, false, NULL},
    {"major",           Major, false, NULL},
    {"minor",           Minor, false, NULL},
    {"mimetypes",       MimeTypes, false, NULL},
    {"name",            Name, false, NULL},
    {"nsd",             Executable, false, NULL},
    {"pagedir",         PageDir, true, "ns_server ?-server s? pagedir"},
    {"pageroot",        PageDir, true, "ns_server ?-server s? pagedir"},
    {"patchlevel",      PatchLevel, false, NULL},
    {"pid",             Pid, false, NULL},
    {"platform",        Platform, false, "$::tcl_platform(platform)"},
    {"pools",           Pools, false, NULL},
    {"scheduled",       Scheduled, false, NULL},
    {"server",          Server, true, NULL},
    {"servers",         Servers, false, NULL},
    {"sockcallbacks",   SockCallbacks, false, NULL},
    {"tag",             Tag, false, NULL},
    {"tcllib",          TclLib, true, "ns_server ?-server s? tcllib"},
    {"threads",         Threads, false, NULL},
    {"uptime",          Uptime, false, NULL},
    {"version",         Version, false, NULL},
    {"winnt",           Winnt, false, "$::tcl_platform(platform)"},
    {"filters",         NsFilterList, true, "ns_server ?-server s? filters"},
    {"traces",          NsReqTraceList, true, "ns_server ?-server s? traces"},
    {"requestprocs",    NsOpList, true, "ns_server ?-server s? requestprocs"},
    {"url2file",        NsUrl2FileList, true, "ns_server ?-server s? url2file"},
    {"shutdownpending", ShutdownPending, false, NULL},
    {"started",         Started, false, NULL},
    {NULL, NULL, false, NULL},
    /* Of later releases. */
    {"allocator", Allocator, false, NULL},
    {"argv",      Argv, false, NULL},
    {"bindir",    BinDir, false, NULL},
    {"buildinfo", BuildInfo, false, NULL},
    {"ipv6",      Ipv6, false, NULL},
    {"logdir",    LogDir, false, NULL},
    {"meminfo",   MemInfo, false, NULL},
    {"schedulestats", ScheduleStats, false, NULL},
    {"ssl",       Ssl, false, NULL},
    {NULL, NULL, false, NULL}
};

static Tcl_ObjCmdProc InfoObjCmd;

static const NsTclCommand commands[] = {
    {"ns_info", InfoObjCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    NS_TCL_END
};

NS_TCL_FAMILY(Info, commands)

/*
 * ns_info option
 */
static int
InfoObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsServer     *serverPtr = ((NsInterp *) clientData)->serverPtr;
    const Option *optionPtr;
    Ns_DString    ds;
    bool          isRelease = objc == 3
                      && STREQ(Tcl_GetString(objv[1]), "meminfo")
                      && STREQ(Tcl_GetString(objv[2]), "-release");

    if (objc != 2 && !isRelease) {
        Tcl_WrongNumArgs(interp, 1, objv, "option");
        return TCL_ERROR;
    }
    optionPtr = NsTclFindRow(interp, objv[1], options, sizeof(Option),
                             "option", false);
    if (optionPtr == NULL) {
        return TCL_ERROR;
    }
    if (optionPtr->needsServer && serverPtr == NULL) {
        return NsTclFail(interp, "no server");
    }
    if (isRelease) {
        NsMemoryRelease();
    }
    if (optionPtr->alternative != NULL) {
        Ns_LogDeprecated(objv, 2, optionPtr->alternative, NULL);
    }
    Ns_DStringInit(&ds);
    optionPtr->proc(&ds, serverPtr);
    return NsTclReturnText(interp, &ds);
}

/*
 * The process and its machine.
 */

static void
Address(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoAddress());
}

static void
Argv(Ns_DString *dsPtr, NsServer *serverPtr)
{
    for (int i = 1; i < NsInfoArgc(); i++) {
        Ns_DStringAppendElement(dsPtr, NsInfoArgv()[i]);
    }
}

static void
Argv0(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, NsInfoArgv()[0]);
}

static void
BootTime(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringPrintf(dsPtr, "%" PRId64, (int64_t) Ns_InfoBootTime());
}

static void
Hostname(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoHostname());
}

static void
Pid(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", Ns_InfoPid());
}

static void
Platform(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoPlatform());
}

static void
Winnt(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, "0");
}

static void
Uptime(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", Ns_InfoUptime());
}

static void
ShutdownPending(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", Ns_InfoShutdownPending() != 0);
}

static void
Started(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", Ns_InfoStarted() != 0);
}

/*
 * The program.
 */

static void
BuildDate(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoBuildDate());
}

static void
BuildInfo(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppendElement(dsPtr, "compiler");
#if defined(__clang__)
    Ns_DStringAppendElement(dsPtr, "clang " __clang_version__);
#elif defined(__GNUC__)
    Ns_DStringAppendElement(dsPtr, "gcc " __VERSION__);
#else
    Ns_DStringAppendElement(dsPtr, "unknown");
#endif
#ifdef NS_DEBUG
    Ns_DStringAppend(dsPtr, " assertions 1");
#else
    Ns_DStringAppend(dsPtr, " assertions 0");
#endif
    Ns_DStringAppend(dsPtr, " system_malloc 1 with_deprecated 1 tcl "
                     TCL_PATCH_LEVEL);
}

static void
Executable(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoNameOfExecutable());
}

static void
Ipv6(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, "1");
}

static void
Ssl(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, "1");
}

static void
Major(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", NS_MAJOR_VERSION);
}

static void
Minor(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringPrintf(dsPtr, "%d", NS_MINOR_VERSION);
}

static void
Name(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoServerName());
}

static void
PatchLevel(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, NS_PATCH_LEVEL);
}

static void
Tag(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoTag());
}

static void
Version(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, NS_VERSION);
}

/*
 * Files.
 */

static void
BinDir(Ns_DString *dsPtr, NsServer *serverPtr)
{
    const char *path = Ns_InfoNameOfExecutable();
    const char *slash = strrchr(path, '/');

    Ns_DStringNAppend(dsPtr, path, slash != NULL ? (int) (slash - path) : -1);
}

static void
ConfigFile(Ns_DString *dsPtr, NsServer *serverPtr)
{
    const char *file = Ns_InfoConfigFile();

    Ns_DStringAppend(dsPtr, file != NULL ? file : "");
}

static void
Home(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_InfoHomePath());
}

static void
Log(Ns_DString *dsPtr, NsServer *serverPtr)
{
    const char *file = Ns_InfoErrorLog();

    Ns_DStringAppend(dsPtr, file != NULL ? file : "");
}

static void
LogDir(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsPathsLog(dsPtr, NULL);
}

static void
MimeTypes(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsMimeTypesList(dsPtr);
}

/*
 * Servers.
 */

static void
Server(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, serverPtr->name);
}

static void
Servers(Ns_DString *dsPtr, NsServer *serverPtr)
{
    for (int i = 0; i < NsServerCount(); i++) {
        Ns_DStringAppendElement(dsPtr, NsServerAt(i)->name);
    }
}

static void
PageDir(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsPageRoot(dsPtr, serverPtr, NULL);
}

static void
TclLib(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_TclLibrary(serverPtr->name));
}

/*
 * The present state.
 */

static void
Callbacks(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsCallbacksList(dsPtr);
}

static void
Locks(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_MutexList(dsPtr);
}

/*
 * No allocator of its own whose figures could be shown: empty stats.
 */
static void
MemInfo(Ns_DString *dsPtr, NsServer *serverPtr)
{
    const char *preload = getenv("LD_PRELOAD");

    /* Statistics would take the place of those of the pools in monitors. */
    Ns_DStringAppendElement(dsPtr, "preload");
    Ns_DStringAppendElement(dsPtr, preload == NULL ? "" : preload);
    Ns_DStringAppendElement(dsPtr, "version");
    Ns_DStringAppendElement(dsPtr, NsMemoryVersion());
    Ns_DStringAppendElement(dsPtr, "stats");
    Ns_DStringAppendElement(dsPtr, "");
}

static void
Pools(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Tcl_GetMemoryInfo(dsPtr);
}

static void
Scheduled(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsSchedList(dsPtr);
}

static void
Allocator(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsMemoryStats stats;

    NsMemoryGetStats(&stats);
    Ns_DStringPrintf(dsPtr, "name %s allocated %zu heap %zu", stats.allocator,
                     stats.allocated, stats.heap);
}

static void
ScheduleStats(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsSchedStats stats;

    NsSchedGetStats(&stats);
    Ns_DStringPrintf(dsPtr, "procs %d running %d queued %d runs %" PRId64
                     " late %" PRId64 " delay %.6f", stats.nProcs,
                     stats.nRunning, stats.nQueued, stats.nRuns, stats.nLate,
                     (double) stats.delay / NS_STAMP_SECOND);
}

static void
SockCallbacks(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsSockCallbacksList(dsPtr);
}

static void
Threads(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_ThreadList(dsPtr, Ns_GetProcInfo);
}
