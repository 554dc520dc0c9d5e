/* SPDX-License-Identifier: MPL-2.0
 * nsmain.c --
 *
 *      Starts the rooms from left to right, and stops them from right to left.
 *
 *      All of it runs in the main thread, which then only waits for signals.
 */

#include "adp/handler.h"
#include "adp/init.h"
#include "base/fatal.h"
#include "base/thread.h"
#include "dispatch/connthread.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_life.h"
#include "log/init.h"
#include "log/print.h"
#include "net/driver.h"
#include "net/driver_listen.h"
#include "net/handover.h"
#include "net/init.h"
#include "nsparam.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nstcl.h"
#include "nsthread.h"
#include "process/background.h"
#include "process/banner.h"
#include "process/binder.h"
#include "process/callbacks.h"
#include "process/config.h"
#include "process/config_check.h"
#include "process/config_file.h"
#include "process/identity.h"
#include "process/info.h"
#include "process/init.h"
#include "process/logsetup.h"
#include "process/module.h"
#include "process/options.h"
#include "process/parameter_judge.h"
#include "process/parameter_print.h"
#include "process/parameters.h"
#include "process/paths.h"
#include "process/pidfile.h"
#include "process/prebind.h"
#include "process/sched.h"
#include "process/server.h"
#include "process/shutdown.h"
#include "process/signals.h"
#include "process/sinkoptions.h"
#include "process/watchdog.h"
#include "request/init.h"
#include "tcl/blueprint.h"
#include "tcl/child.h"
#include "tcl/init.h"
#include "tcl/notifier.h"
#include "tcl/shell.h"

/*
 * Of new threads.
 */
typedef struct Stack {
    int64_t processBytes; /* 0: the system's default. */
    int64_t bytes;        /* Newer; by default the same. */
} Stack;

static NsParameterAdjustProc AdjustStack;

static const NsParameter processRows[] = {
    NS_SIZE(Stack, processBytes, "stacksize", "0", 0, NS_PARAM_NO_LIMIT,
            "Used when ns/threads has no stacksize."),
    NS_PARAM_END};

static const NsParameter threadRows[] = {
    NS_SIZE(Stack, bytes, "stacksize", "0", 0, NS_PARAM_NO_LIMIT,
            "Stack of new threads; 0 = the system's default.",
            .adjustProc = AdjustStack),
    NS_PARAM_END};

/*
 * The last Error of a start; main thread.
 */
static char startError[512];

static Ns_LogFilter NoteError;
static void         Prepare(const NsOptions *optionsPtr, int argc, char **argv);
static int  RunQuick(const NsOptions *optionsPtr, int argc, char **argv);
static int  CheckConfig(const NsOptions *optionsPtr, int argc, char **argv);
static void GoToBackground(NsMode mode);
static void FindConfigFile(const NsOptions *optionsPtr);
static void TakeIdentityAndConfig(const NsOptions *optionsPtr, int argc,
                                  char **argv);
static void EvalConfig(const NsOptions *optionsPtr, NsConfigText *textPtr,
                       int argc, char **argv);
static void GoHome(const NsOptions *optionsPtr);
static void UseTree(void);
static void SetStackSize(void);
static void InitServers(const NsOptions   *optionsPtr,
                        Ns_ServerInitProc *initProc);
static void CreateServers(const char *only);
static void InitServer(NsServer *serverPtr, Ns_ServerInitProc *initProc);
static void LoadGlobalModules(void *arg);
static Ns_ReturnCode Start(void);
static int           WaitForEnd(NsStamp *timeoutPtr);
static bool          Stop(NsStamp timeout, int status);
static bool          StopServers(const Ns_Time *deadlinePtr);
static void          FlushOutput(void);

int
Ns_Main(int argc, char **argv, Ns_ServerInitProc *initProc)
{
    NsOptions   options;
    const char *error;
    int         status = NS_STATUS_FAILED;
    NsStamp     timeout;
    bool        isStarted, isClean;

    NsNotifierInstall(argv[0]);
    Nsd_LibInit();
    NsInfoInit(argc, argv);
    if (!NsOptionsParse(argc, argv, &options, &error)) {
        fprintf(stderr, "\nError: %s\n\n", error);
        NsOptionsUsage(stderr, argv[0]);
        return NS_STATUS_FAILED;
    }
    if (options.mode >= NS_MODE_VERSION) {
        return RunQuick(&options, argc, argv);
    }

    NsChildTakeExit();
    Prepare(&options, argc, argv);
    InitServers(&options, initProc);
    if (options.mode == NS_MODE_COMMAND) {
        /* The last server is the default one of the process. */
        NsShellStart(NsServerAt(NsServerCount() - 1), argc - options.optind,
                     argv + options.optind);
    }
    timeout = NsShutdownTimeout();
    Ns_AddLogFilter(NoteError, NULL, NULL);
    isStarted = Start() == NS_OK;
    Ns_RemoveLogFilter(NoteError, NULL);
    NsSignalsEndStart();
    if (isStarted) {
        status = WaitForEnd(&timeout);
    }
    if (status == 0) {
        status = NsShellStatus();
    }
    isClean = Stop(timeout, status);
    if (!isStarted) {
        /* Once more, where it is seen. */
        fprintf(stderr, "%s: not started: %s\n", argv[0], startError);
    }
    if (!isClean) {
        /* Threads still run: nothing may be torn down under them. */
        _exit(status);
    }
    return status;
}

/*
 * In the main thread, which starts everything.
 */
static int
NoteError(void *arg, Ns_LogSeverity severity, Ns_Time *stampPtr, char *message,
          size_t length)
{
    if (severity == Error && Ns_InfoPid() == gettid()) {
        snprintf(startError, sizeof(startError), "%.*s",
                 (int) MIN(length, INT_MAX), message);
    }
    return NS_OK;
}

void
Nsd_LibInit(void)
{
    static bool isDone = false;

    if (isDone) {
        return;
    }
    isDone = true;
    Nsthreads_LibInit();
    NsLogInit();
    NsProcessInit();
    NsParametersRegister("ns/parameters", processRows, sizeof(Stack));
    NsParametersRegister("ns/threads", threadRows, sizeof(Stack));
    NsNetInit();
    NsDispatchInit();
    NsRequestInit();
    NsTclInit();
    NsAdpInit();
}

int
Nsd_Init(Tcl_Interp *interp)
{
    Nsd_LibInit();
    if (Ns_TclInit(interp) != NS_OK) {
        return TCL_ERROR;
    }
    return Tcl_PkgProvide(interp, "Nsd", NS_VERSION);
}

/*
 * All that comes before the servers: identity, configuration, log.
 */
static void
Prepare(const NsOptions *optionsPtr, int argc, char **argv)
{
    NsMode mode = optionsPtr->mode;

    NsIdentityCheck(optionsPtr->user);
    FindConfigFile(optionsPtr);
    GoToBackground(mode);
    NsSignalsBlock(optionsPtr->isDebugged);
    TakeIdentityAndConfig(optionsPtr, argc, argv);
    GoHome(optionsPtr);
    if (mode != NS_MODE_COMMAND) {
        NsPidfileCheck();
    }
    NsDriversReserve(optionsPtr->server);
    NsLogSetup(mode == NS_MODE_FOREGROUND || mode == NS_MODE_COMMAND,
               mode == NS_MODE_BACKGROUND || mode == NS_MODE_WATCHDOG);
    NsFatalSetStartProc(NsLogDrain);
    NsBannerLog();
    (void) NsConfigCheckLog();
    SetStackSize();
    NsSignalsBeginStart();
    NsShutdownGuardStart();
}

/*
 * Modes that answer a question and end.
 */
static int
RunQuick(const NsOptions *optionsPtr, int argc, char **argv)
{
    switch (optionsPtr->mode) {
    case NS_MODE_VERSION:
        NsBannerPrint();
        return 0;
    case NS_MODE_CHECK:
        return CheckConfig(optionsPtr, argc, argv);
    case NS_MODE_PARAMETERS:
        NsSinkOptionsRegisterAll();
        NsParametersPrint(stdout);
        return 0;
    case NS_MODE_LOGS:
        return NsLogPrintMain(argc - optionsPtr->optind,
                              argv + optionsPtr->optind);
    default:
        NsOptionsUsage(stderr, argv[0]);
        return 0;
    }
}

static int
CheckConfig(const NsOptions *optionsPtr, int argc, char **argv)
{
    FindConfigFile(optionsPtr);
    if (Ns_InfoConfigFile() == NULL) {
        Ns_Fatal("nsmain: no configuration file: use '-t FILE'");
    }
    EvalConfig(optionsPtr, NsConfigRead(Ns_InfoConfigFile()), argc, argv);
    if (NsConfigCheckPrint(stdout) + NsConfigCheckReferences(stdout) > 0) {
        return NS_STATUS_FAILED;
    }
    puts("configuration ok");
    return 0;
}

static void
GoToBackground(NsMode mode)
{
    if (mode == NS_MODE_BACKGROUND || mode == NS_MODE_WATCHDOG) {
        NsBackgroundEnter();
    }
    if (mode == NS_MODE_WATCHDOG) {
        NsWatchdogRun();
    }
    NsInfoForked();
}

/*
 * Of -t, or one of the usual places.  Only command mode does without.
 */
static void
FindConfigFile(const NsOptions *optionsPtr)
{
    static const char *const usual[] = {"nsd.tcl", "conf/nsd.tcl"};
    Ns_DString               ds;

    if (optionsPtr->configFile != NULL) {
        NsInfoSetConfigFile(optionsPtr->configFile);
        return;
    }
    Tcl_DStringInit(&ds);
    for (int i = 0; i < Ns_NrElements(usual); i++) {
        Tcl_DStringSetLength(&ds, 0);
        Tcl_DStringAppend(&ds, NsInfoPrefix(), -1);
        Tcl_DStringAppend(&ds, "/", 1);
        Tcl_DStringAppend(&ds, usual[i], -1);
        if (access(ds.string, F_OK) == 0) {
            NsInfoSetConfigFile(ds.string);
            break;
        }
    }
    Tcl_DStringFree(&ds);
    if (Ns_InfoConfigFile() == NULL && optionsPtr->mode != NS_MODE_COMMAND) {
        Ns_Fatal("config: no configuration file: neither '%s/nsd.tcl' nor "
                 "'%s/conf/nsd.tcl' exists, use '-t FILE'",
                 NsInfoPrefix(), NsInfoPrefix());
    }
}

/*
 * Steps that need root's rights come first; the configuration, which is a
 * script, runs with the final identity.
 */
static void
TakeIdentityAndConfig(const NsOptions *optionsPtr, int argc, char **argv)
{
    static NsIdentity identity;
    NsConfigText     *textPtr = NULL;

    if (Ns_InfoConfigFile() != NULL) {
        textPtr = NsConfigRead(Ns_InfoConfigFile());
    }
    NsIdentityFind(&identity, optionsPtr->user, optionsPtr->group);
    if (optionsPtr->bind != NULL) {
        NsPrebindList(optionsPtr->bind);
    }
    if (optionsPtr->bindFile != NULL) {
        NsPrebindFile(optionsPtr->bindFile);
    }
    if (optionsPtr->root != NULL) {
        NsIdentityChroot(optionsPtr->root);
    }
    NsIdentityTakeGroup(&identity, optionsPtr->group);
    if (identity.hasUser && identity.uid != 0) {
        NsBinderStart();
    }
    NsIdentityTakeUser(&identity, optionsPtr->user);
    NsSignalsAllowCore();
    if (textPtr != NULL) {
        EvalConfig(optionsPtr, textPtr, argc, argv);
    }
}

/*
 * Frees the texts.
 */
static void
EvalConfig(const NsOptions *optionsPtr, NsConfigText *textPtr, int argc,
           char **argv)
{
    if (NsConfigEval(textPtr, argc, argv, optionsPtr->optind) != NS_OK) {
        Ns_Fatal("config error");
    }
    NsConfigTextFree(textPtr);
}

static void
GoHome(const NsOptions *optionsPtr)
{
    const char *home = NsPathsHomeSetting();
    char        path[PATH_MAX];

    if (Ns_InfoConfigFile() == NULL && getenv("NAVISERVER") != NULL) {
        home = getenv("NAVISERVER");
    }
    if (*home == '\0') {
        Ns_Fatal("nsmain: missing: [ns/parameters]home");
    }
    if (chdir(home) != 0) {
        Ns_Fatal("nsmain: chdir(%s) failed: '%s'", home, strerror(errno));
    }
    if (!Ns_PathIsAbsolute(home) && getcwd(path, sizeof(path)) != NULL) {
        home = path;
    }
    NsInfoSetHome(home);
    NsPathsConfigure();
    NsPathsMakeLogs();
    if (Ns_InfoConfigFile() == NULL) {
        UseTree();
    }
}

/*
 * Without a configuration file, where the server was built but not installed:
 * its scripts are beside it.
 */
static void
UseTree(void)
{
    Ns_DString init, library;

    Tcl_DStringInit(&init);
    Tcl_DStringInit(&library);
    Ns_DStringVarAppend(&init, NsInfoPrefix(), "/init.tcl", NULL);
    Ns_DStringVarAppend(&library, NsInfoPrefix(), "/../tcl", NULL);
    if (access(init.string, R_OK) == 0 && access(library.string, R_OK) == 0) {
        (void) NsConfigSet("ns/server/default/tcl", "initfile", init.string);
        (void) NsConfigSet("ns/parameters", "tcllibrary", library.string);
    }
    Tcl_DStringFree(&init);
    Tcl_DStringFree(&library);
}

static void
SetStackSize(void)
{
    Stack stack;

    NsParametersFill(processRows, "ns/parameters", &stack);
    NsParametersFill(threadRows, "ns/threads", &stack);
    (void) Ns_ThreadStackSize((long) stack.bytes);
}

static void
AdjustStack(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const Stack *stackPtr = valuesPtr;

    NsParameterDefault(limitsPtr, stackPtr->processBytes);
}

static void
InitServers(const NsOptions *optionsPtr, Ns_ServerInitProc *initProc)
{
    CreateServers(optionsPtr->server);
    Ns_RegisterProcInfo((void *) LoadGlobalModules, "ns:loadmodules", NULL);
    (void) NsCallbackAdd(NS_AT_PRESTARTUP, LoadGlobalModules, NULL);
    for (int i = 0; i < NsServerCount(); i++) {
        InitServer(NsServerAt(i), initProc);
    }
    NsCallbacksRun(NS_AT_PRESTARTUP);
    NsConfigFreeze();
    NsConfigCheckUnread();
}

/*
 * All of ns/servers, or only the one that -s names.
 */
static void
CreateServers(const char *only)
{
    Ns_Set *servers = Ns_ConfigCreateSection("ns/servers");

    if (Ns_SetSize(servers) == 0) {
        (void) NsConfigSet("ns/servers", "default", "Default NaviServer");
    }
    for (int i = 0; i < Ns_SetSize(servers); i++) {
        const char *name = Ns_SetKey(servers, i);

        if (NsServerFind(name) == NULL && (only == NULL || STREQ(only, name))) {
            (void) NsServerCreate(name);
        }
    }
    if (NsServerCount() == 0) {
        Ns_Fatal("nsmain: no such server '%s'", only);
    }
}

static void
InitServer(NsServer *serverPtr, Ns_ServerInitProc *initProc)
{
    NsServerSetInitializing(serverPtr);
    NsPoolsInit(serverPtr);
    NsRequestServerInit(serverPtr);
    NsTclServerInit(serverPtr);
    NsAdpServerInit(serverPtr);
    if (initProc != NULL && initProc(serverPtr->name) != NS_OK) {
        Ns_Fatal("nsmain: server '%s' could not be initialized",
                 serverPtr->name);
    }
    NsTclServerBoot(serverPtr);
    NsServerSetInitializing(NULL);
}

static void
LoadGlobalModules(void *arg)
{
    NsModulesLoad(NULL, NULL);
}

/*
 * NS_ERROR: a driver cannot listen; it has said why.
 */
static Ns_ReturnCode
Start(void)
{
    for (int i = 0; i < NsServerCount(); i++) {
        NsPoolsStart(NsServerAt(i));
    }
    NsLogStart();
    if (NsDriversStart() != NS_OK) {
        return NS_ERROR;
    }
    NsPidfileWrite();
    NsCallbacksRun(NS_AT_READY);
    Ns_Log(Notice, "nsmain: %s running", NS_BANNER_NAME);
    NsBannerLogSecurity();
    NsInfoSetLife(NS_LIFE_RUNNING);
    NsThreadsBePatient();
    NsFatalSetStartProc(NULL);
    NsSchedStart();
    NsCallbacksRun(NS_AT_STARTUP);
    NsPrebindClose();
    NsBinderStop();
    NsWatchdogReady();
    NsBackgroundReady();
    return NS_OK;
}

/*
 * Serve signals until one ends the server; the exit status.
 */
static int
WaitForEnd(NsStamp *timeoutPtr)
{
    for (;;) {
        int number = NsSignalsWait();

        switch (number) {
        case SIGHUP:
        case SIGUSR1:
            NsCallbacksSignal();
            break;
        case SIGUSR2:
            Ns_Log(Warning, "nsmain: SIGUSR2 has no meaning here: ignored");
            break;
        default:
            return NsShutdownStatus(number, timeoutPtr);
        }
    }
}

/*
 * All phases share one deadline, and a guard enforces it.  False: something
 * still runs after it.
 */
static bool
Stop(NsStamp timeout, int status)
{
    Ns_Time deadline, lastCall;
    bool    isClean;

    NsShutdownGuard(timeout, status, &deadline, &lastCall);
    Ns_Log(Notice, "nsmain: %s stopping", NS_BANNER_NAME);
    NsInfoSetLife(NS_LIFE_STOPPING);
    NsPidfileYield();

    isClean = StopServers(&deadline);
    NsWritersStop(&deadline);
    NsDriversWait(&deadline);

    NsSchedStop();
    NsCallbacksStartShutdown(&deadline);
    isClean &= NsSchedWait(&deadline) == NS_OK;
    isClean &= NsCallbacksWaitSignals(&deadline) == NS_OK;
    isClean &= NsCallbacksWaitShutdown(&lastCall) == NS_OK;

    isClean &= NsShellEnd();

    NsCallbacksRun(NS_AT_EXIT);
    FlushOutput();
    NsPidfileRemove();
    /* Not earlier: who logs after it writes, and may wait for a disk. */
    NsLogStop();
    Ns_Log(Notice, "nsmain: %s exiting", NS_BANNER_NAME);
    NsLogFinish();
    return isClean;
}

/*
 * The pools stay open as long as a driver has something for them.
 */
static bool
StopServers(const Ns_Time *deadlinePtr)
{
    Ns_Time drainDeadline = NsShutdownShare(deadlinePtr);
    bool    isClean = true;

    NsDriversStop();
    (void) NsDriversDrain(&drainDeadline);
    for (int i = 0; i < NsServerCount(); i++) {
        NsPoolsStop(NsServerAt(i));
    }
    for (int i = 0; i < NsServerCount(); i++) {
        isClean &= NsPoolsWait(NsServerAt(i), deadlinePtr) == NS_OK;
    }
    return isClean;
}

/*
 * Output of scripts in this thread: nothing else flushes it.
 */
static void
FlushOutput(void)
{
    Tcl_Channel channel = Tcl_GetStdChannel(TCL_STDOUT);

    if (channel != NULL) {
        (void) Tcl_Flush(channel);
    }
}
