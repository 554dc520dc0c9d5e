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
#include "dispatch/pool_stats.h"
#include "log/init.h"
#include "log/print.h"
#include "net/driver.h"
#include "net/driver_listen.h"
#include "net/handover.h"
#include "net/init.h"
#include "net/sockcallback.h"
#include "nsparam.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nstcl.h"
#include "nsthread.h"
#include "process/giveback.h"
#include "process/background.h"
#include "process/banner.h"
#include "process/binder.h"
#include "process/callbacks.h"
#include "process/config.h"
#include "process/config_check.h"
#include "process/config_file.h"
#include "process/control.h"
#include "process/controlclient.h"
#include "process/crash.h"
#include "process/help.h"
#include "process/identity.h"
#include "process/info.h"
#include "process/init.h"
#include "process/logsetup.h"
#include "process/module.h"
#include "process/monitor.h"
#include "process/newsite.h"
#include "process/notify.h"
#include "process/options.h"
#include "process/parameter_judge.h"
#include "process/parameter_print.h"
#include "process/parameters.h"
#include "process/paths.h"
#include "process/pidfile.h"
#include "process/prebind.h"
#include "process/reaper.h"
#include "process/reload.h"
#include "process/restart.h"
#include "process/sched.h"
#include "process/server.h"
#include "process/shutdown.h"
#include "process/signals.h"
#include "process/sinkoptions.h"
#include "process/watchdog.h"
#include "request/init.h"
#include "tcl/blueprint.h"
#include "tcl/development.h"
#include "tcl/migration.h"
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

static Ns_LogFilter        NoteError;
static NsNotifyFiguresProc GetFigures;
static void Prepare(const NsOptions *optionsPtr, int argc, char **argv);
static int  RunQuick(const NsOptions *optionsPtr, int argc, char **argv);
static int  RunControl(const NsOptions *optionsPtr, int argc, char **argv);
static int  CheckConfig(const NsOptions *optionsPtr, int argc, char **argv);
static int  CheckMove(FILE *file, int n, char *const *directories);
static void GoToBackground(const NsOptions *optionsPtr);
static void FindConfigFile(const NsOptions *optionsPtr);
static void TakeIdentityAndConfig(const NsOptions *optionsPtr, int argc,
                                  char **argv);
static void EvalConfig(const NsOptions *optionsPtr, NsConfigText *textPtr,
                       int argc, char **argv);
static void GoHome(const NsOptions *optionsPtr);
static NsLogPlace PlaceOfLog(const NsOptions *optionsPtr);
static void       SetStackSize(void);
static void       InitServers(const NsOptions   *optionsPtr,
                              Ns_ServerInitProc *initProc);
static void       CreateServers(const char *only);
static void       InitServer(NsServer *serverPtr, Ns_ServerInitProc *initProc);
static void       LoadGlobalModules(void *arg);
static Ns_ReturnCode Start(void);
static int           WaitForEnd(NsStamp *timeoutPtr);
static int           GoOnDraining(void);
static bool          RanCallbacks(int number);
static bool          MayRestart(void);
static bool          Stop(NsStamp timeout, int status);
static bool          StopServers(const Ns_Time *deadlinePtr);
static void          DrainDrivers(const Ns_Time *deadlinePtr);
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
    if (isStarted && NsRestartIsNext()) {
        NsRestartExec();
        status = NS_STATUS_FAILED;
    }
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
    NsNotifySetFiguresProc(GetFigures);
}

static void
GetFigures(NsNotifyFigures *figuresPtr)
{
    NsPoolLoad load;

    NsPoolsGetLoad(&load);
    figuresPtr->nRunning = load.nRunning;
    figuresPtr->nWaiting = load.nWaiting;
    figuresPtr->nConnections = NsDriversConnections();
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

    NsRestartInherit();
    NsIdentityCheck(optionsPtr->user);
    FindConfigFile(optionsPtr);
    NsReaperRun();
    if (!NsRestartIsOne()) {
        GoToBackground(optionsPtr);
    }
    if (optionsPtr->root != NULL) {
        NsRestartForbid("with -r the program is out of reach");
    } else if (mode == NS_MODE_COMMAND) {
        NsRestartForbid("in command mode the script would run again");
    }
    NsSignalsBlock(optionsPtr->isDebugged);
    TakeIdentityAndConfig(optionsPtr, argc, argv);
    GoHome(optionsPtr);
    if (mode != NS_MODE_COMMAND) {
        NsPidfileCheck();
    }
    NsDriversReserve(optionsPtr->server);
    NsLogSetup(PlaceOfLog(optionsPtr));
    NsFatalSetStartProc(NsLogDrain);
    NsModulesRequire(optionsPtr->server);
    NsBannerLog();
    NsCrashReport();
    if (!NsRestartIsOne()) {
        NsWatchdogNote();
    }
    NsGiveBackStart();
    (void) NsConfigCheckLog();
    SetStackSize();
    NsSignalsBeginStart();
    NsNotifyStarting(NsRestartIsOne());
    NsShutdownGuardStart();
}

static NsLogPlace
PlaceOfLog(const NsOptions *optionsPtr)
{
    switch (optionsPtr->mode) {
    case NS_MODE_FOREGROUND:
        return NS_LOG_TO_STDERR;
    case NS_MODE_COMMAND:
        return optionsPtr->isQuiet && Ns_InfoConfigFile() != NULL
            ? NS_LOG_TO_FILE_ONLY
            : NS_LOG_TO_STDERR;
    case NS_MODE_INITTAB:
        return NS_LOG_TO_FILE;
    default:
        return NS_LOG_DETACHED;
    }
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
    case NS_MODE_DUMP:
        return CheckConfig(optionsPtr, argc, argv);
    case NS_MODE_PARAMETERS:
        NsSinkOptionsRegisterAll();
        NsParametersPrint(stdout);
        return 0;
    case NS_MODE_LOGS:
        return NsLogPrintMain(argc - optionsPtr->optind,
                              argv + optionsPtr->optind);
    case NS_MODE_NEW_SITE:
        return NsNewSite(argv[0], optionsPtr->site);
    case NS_MODE_CONTROL:
        return RunControl(optionsPtr, argc, argv);
    default:
        if (optionsPtr->topic != NULL) {
            return NsHelpPrint(stdout, optionsPtr->topic)
                ? 0
                : NS_STATUS_FAILED;
        }
        NsOptionsUsage(stderr, argv[0]);
        return 0;
    }
}

/*
 * The socket is that which a start with the same configuration file makes.
 */
static int
RunControl(const NsOptions *optionsPtr, int argc, char **argv)
{
    char       *path = NULL;
    const char *home;
    int         status, n = argc - optionsPtr->optind;

    if (optionsPtr->socket == NULL) {
        FindConfigFile(optionsPtr);
        EvalConfig(optionsPtr, NsConfigRead(Ns_InfoConfigFile()), argc, argv);
        home = NsPathsHomeSetting();
        if (*home == '\0') {
            Ns_Fatal("nsmain: missing: [ns/parameters]home");
        }
        NsInfoSetHome(home);
        NsPathsConfigure();
        path = NsControlPath();
        if (path == NULL) {
            Ns_Fatal("nsmain: [ns/parameters]controlsocket is empty: there is "
                     "no control socket");
        }
    }
    status = NsControlClient(path != NULL ? path : optionsPtr->socket,
                             optionsPtr, n, argv + optionsPtr->optind);
    ns_free(path);
    return status;
}

static int
CheckConfig(const NsOptions *optionsPtr, int argc, char **argv)
{
    bool  isDump = optionsPtr->mode == NS_MODE_DUMP;
    FILE *file = isDump ? stderr : stdout;
    int   nProblems, nErrors = 0;

    FindConfigFile(optionsPtr);
    if (Ns_InfoConfigFile() == NULL) {
        Ns_Fatal("nsmain: no configuration file: use '-t FILE'");
    }
    EvalConfig(optionsPtr, NsConfigRead(Ns_InfoConfigFile()), argc, argv);
    nProblems = NsConfigCheckPrint(file, &nErrors);
    nProblems += NsConfigCheckReferences(file, &nErrors);
    if (!isDump && nErrors == 0) {
        nProblems += NsConfigCheckShared(file);
    }
    if (optionsPtr->isFromNaviserver) {
        nProblems += CheckMove(file, argc - optionsPtr->optind,
                               argv + optionsPtr->optind);
    }
    /* A reload changes nothing at all rather than a part. */
    if (nErrors > 0 || (nProblems > 0 && (isDump || optionsPtr->isStrict))) {
        return NS_STATUS_FAILED;
    }
    if (isDump) {
        NsReloadPrint(stdout);
        return 0;
    }
    if (optionsPtr->mustBind) {
        NsDriversReserve(optionsPtr->server);
    }
    if (nProblems > 0) {
        printf("configuration ok, but for warnings: %d\n", nProblems);
    } else {
        puts("configuration ok");
    }
    return 0;
}

/*
 * Of a site that comes from NaviServer; the words are directories with more of
 * its scripts.  How much is missing.
 */
static int
CheckMove(FILE *file, int n, char *const *directories)
{
    Ns_DString report;
    int        nMissing;
    int        nIgnored = NsConfigCheckIgnored(file);

    Ns_DStringInit(&report);
    nMissing = NsMigrationReport(n, directories, &report);
    fprintf(file, "%s\nparameters without effect: %d\n", report.string,
            nIgnored);
    Ns_DStringFree(&report);
    return nMissing;
}

static void
GoToBackground(const NsOptions *optionsPtr)
{
    if (optionsPtr->mode == NS_MODE_BACKGROUND
        || optionsPtr->mode == NS_MODE_WATCHDOG) {
        NsBackgroundEnter(optionsPtr->isHasty);
    }
    if (optionsPtr->mode == NS_MODE_WATCHDOG) {
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
    /* Those are taken over after a restart. */
    if (optionsPtr->bind != NULL && !NsRestartIsOne()) {
        NsPrebindList(optionsPtr->bind);
    }
    if (optionsPtr->bindFile != NULL && !NsRestartIsOne()) {
        NsPrebindFile(optionsPtr->bindFile);
    }
    if (optionsPtr->root != NULL) {
        NsIdentityChroot(optionsPtr->root);
    }
    NsIdentityTakeGroup(&identity, optionsPtr->group);
    if (identity.hasUser && identity.uid != 0 && geteuid() == 0) {
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
    if (optionsPtr->isDevelopment) {
        (void) NsConfigSet("ns/parameters", "development", "true");
    }
    NsMonitorConfigure(optionsPtr->server);
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
    NsDevelopmentServerInit(serverPtr);
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
    NsControlStart();
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
    NsNotifyReady();
    NsRestartNote();
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

        if (RanCallbacks(number)) {
            continue;
        }
        if (number != SIGUSR2) {
            if (number == SIGTERM && GoOnDraining() == SIGQUIT) {
                number = SIGQUIT;
            }
            return NsShutdownStatus(number, timeoutPtr);
        }
        if (NsRestartIsWanted() || MayRestart()) {
            return NsShutdownStatus(SIGTERM, timeoutPtr);
        }
    }
}

/*
 * Load balancers have time to look elsewhere.  Another signal that ends the
 * server ends it: which; or 0.
 */
static int
GoOnDraining(void)
{
    NsStamp wait = NsShutdownDrainWait(), end;
    int     number = 0;

    if (wait == 0) {
        return 0;
    }
    Ns_Log(Notice, "nsmain: draining for %.1f s",
           (double) wait / NS_STAMP_SECOND);
    NsInfoSetDraining(true);
    NsNotifyDraining(wait, NsShutdownTimeout());
    if (__builtin_add_overflow(NsClockNow(), wait, &end)) {
        end = INT64_MAX;
    }
    do {
        number = NsSignalsWaitFor(MAX(end - NsClockNow(), 0));
    } while (RanCallbacks(number) || number == SIGUSR2);
    return number;
}

/*
 * False: the signal is not for callbacks.
 */
static bool
RanCallbacks(int number)
{
    if (number == SIGHUP) {
        NsCallbacksSignal(NS_AT_SIGNAL);
    } else if (number == SIGUSR1) {
        NsCallbacksSignal(NS_AT_REOPEN);
    }
    return number == SIGHUP || number == SIGUSR1;
}

/*
 * What the program would not start with is no reason to stop.
 */
static bool
MayRestart(void)
{
    Ns_DString reason;

    bool mayRestart;

    Ns_DStringInit(&reason);
    mayRestart = NsRestartCheck(&reason) == NS_OK;
    if (mayRestart) {
        NsRestartWant();
    } else {
        Ns_Log(Error, "nsmain: not restarted: %s", Ns_DStringValue(&reason));
    }
    Ns_DStringFree(&reason);
    return mayRestart;
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
    NsNotifyStopping(timeout, NsRestartIsWanted());
    NsPidfileYield();

    isClean = StopServers(&deadline);
    NsWritersStop(&deadline);
    NsSockCallbacksStop(&deadline);
    NsDriversWait(&deadline);

    NsSchedStop();
    NsCallbacksStartShutdown(&deadline);
    isClean &= NsSchedWait(&deadline) == NS_OK;
    isClean &= NsCallbacksWaitSignals(&deadline) == NS_OK;
    isClean &= NsCallbacksWaitShutdown(&lastCall) == NS_OK;

    isClean &= NsShellEnd();
    isClean &= NsControlStop(&deadline, &lastCall) == NS_OK;

    NsCallbacksRun(NS_AT_EXIT);
    FlushOutput();
    NsNotifyEnd();
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
    DrainDrivers(&drainDeadline);
    for (int i = 0; i < NsServerCount(); i++) {
        NsPoolsStop(NsServerAt(i));
    }
    for (int i = 0; i < NsServerCount(); i++) {
        isClean &= NsPoolsWait(NsServerAt(i), deadlinePtr) == NS_OK;
    }
    return isClean;
}

/*
 * Say after a second, two, four, ... what the stop waits for.
 */
static void
DrainDrivers(const Ns_Time *deadlinePtr)
{
    Ns_Time deadline = *deadlinePtr, next, rest;
    long    seconds = 1;

    Ns_GetTime(&next);
    Ns_IncrTime(&next, seconds, 0);
    while (Ns_DiffTime(&deadline, &next, &rest) > 0) {
        if (NsDriversDrain(&next) == NS_OK) {
            return;
        }
        for (int i = 0; i < NsServerCount(); i++) {
            NsPoolsTellRunning(NsServerAt(i));
        }
        Ns_IncrTime(&next, seconds, 0);
        seconds *= 2;
    }
    (void) NsDriversDrain(deadlinePtr);
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
